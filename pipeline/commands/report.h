/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_REPORT_H
#define TM_REPORT_H

#include "pipeline/doc/doc.h"
#include "pipeline/options.h"

/* Takes the summary once all files of the report have their names. */
struct tm_report_taker {
    tm_status (*take)(void *to, const struct tm_value *summary);
    void *to;
};

/* Analyze the inputs and write the report into a folder: what `report` does, and a worker of a batch.
 * in:     options  output  the folder; NULL = NAME.report in the working folder
 *         taker    NULL = nobody
 * errors: TM_PARTIAL  written, of an input that is damaged or cut short; as of tm_analyze; TM_ERR_OUTPUT; of the taker */
tm_status tm_report_make(struct tm_run *run, const struct tm_options *options,
                         const struct tm_report_taker *taker) TM_MUST_USE;

#endif
