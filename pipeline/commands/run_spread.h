/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RUN_SPREAD_H
#define TM_RUN_SPREAD_H

#include "pipeline/commands/study.h"
#include "reports/history/figures.h"

/* By how much do two runs of one program differ?  As --run-spread says it of the step time, or from the history of a
 * batch (--history), of each figure that it keeps. */
struct tm_run_spread {
    struct tm_spread figure[TM_FIGURES_MOST];
    size_t count;                    /* 0 = nothing is known */
    char from[TM_LABEL_BYTES + 128]; /* where it was taken from, for people */
};

/* in:     base, other  runs of the comparison, loaded: which job of the history they belong to
 * errors: TM_ERR_USAGE  no percentage, or the history has several jobs and none is named; TM_ERR_INPUT  it cannot be
 * read */
tm_status tm_run_spread_find(struct tm_run_spread *spread, struct tm_run *run, const struct tm_options *options,
                             const struct tm_loaded_run *loaded, size_t count) TM_MUST_USE;

#endif
