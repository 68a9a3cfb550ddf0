/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_REPORT_FILES_H
#define TM_REPORT_FILES_H

#include "pipeline/commands/analysis.h"
#include "pipeline/commands/conversion.h"

/* What there is to write. */
struct tm_report_result {
    struct tm_doc *doc;
    struct tm_partial_writer *partial; /* NULL = not wanted */
    struct tm_conversion *conversion;  /* NULL = the trace is not wanted */
    enum tm_paper paper;
};

/* Write each format into the folder, which is made where it is not there; older files of their names are replaced once
 * all are written.
 * With a redactor the map of names is written too, before any of them has its name.
 * in:     options  formats, and where the map goes */
tm_status tm_report_write(struct tm_run *run, const struct tm_report_result *result, const char *folder,
                          const struct tm_options *options) TM_MUST_USE;

/* The name of the index-th file that these formats, bits of enum tm_format, make; NULL = there are fewer. */
const char *tm_report_file(uint32_t formats, size_t index);

#endif
