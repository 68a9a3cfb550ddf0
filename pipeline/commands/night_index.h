/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NIGHT_INDEX_H
#define TM_NIGHT_INDEX_H

#include "pipeline/options.h"
#include "reports/history/history.h"

/* OUT/index.html and the other files of the last night, in the formats of the options; those formats that are of single
 * runs are left out.  Then what tm_document_deliver says of it.
 * in:     gates  as tm_night_gates filled it; NULL = none were asked for
 * errors: TM_ERR_OUTPUT, TM_ERR_LIMIT */
tm_status tm_night_index_write(struct tm_run *run, const struct tm_options *options, const char *out,
                               struct tm_history *history, const struct tm_judged_night *judged,
                               const struct tm_value *gates) TM_MUST_USE;

#endif
