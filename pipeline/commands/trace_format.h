/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TRACE_FORMAT_H
#define TM_TRACE_FORMAT_H

#include "stages/output/trace_writer.h"

/* A format that traces are written in, by the ending of a file's name. */
struct tm_trace_format {
    const char *ending;
    const struct tm_trace_writer_type *type;
    bool is_gzip;
    bool shows_derived; /* has a place for what was worked out */
};

/* NULL = the name has none of the endings, or nothing before it. */
const struct tm_trace_format *tm_trace_format_of(const char *name);

#endif
