/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BATCH_ROWS_H
#define TM_BATCH_ROWS_H

#include "pipeline/commands/batch_parts.h"

/* Put a row for each run of the manifest into the history, of the result that stands in OUT.  One that is not there, or is
 * of an input that has changed since, makes a row with the status "missing".
 * in:     until  later nights are dated ahead
 * out:    counts  runs, how they stand, and those that are dated ahead
 * errors: of tm_history_put; TM_ERR_LIMIT */
tm_status tm_batch_rows(struct tm_run *run, const struct tm_manifest *manifest, const char *out, const char *until,
                        struct tm_history *history, struct tm_batch_counts *counts) TM_MUST_USE;

#endif
