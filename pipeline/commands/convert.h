/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CONVERT_H
#define TM_CONVERT_H

#include "pipeline/commands/conversion.h"
#include "pipeline/commands/written.h"

/* A format, by the ending of a file's name. */
struct tm_trace_format {
    const char *ending;
    const struct tm_trace_writer_type *type;
    bool is_gzip;
    bool shows_derived; /* has a place for what was worked out */
};

/* NULL = the name has none of the endings. */
const struct tm_trace_format *tm_trace_format_of(const char *name);

/* Write all hosts of a run into one file.
 * in:     c       prepared
 * out:    *file   not committed; the caller frees it, also after a failure
 *         written without its bytes, which are known when it is committed
 * errors: of the input, of the output, limits */
tm_status tm_convert_into(struct tm_conversion *c, const struct tm_trace_format *format, const char *folder,
                          const char *name, struct tm_out_file **file, struct tm_written *written) TM_MUST_USE;

#endif
