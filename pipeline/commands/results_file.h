/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RESULTS_FILE_H
#define TM_RESULTS_FILE_H

#include "pipeline/commands/summaries.h"

/* The results of an external benchmark:
 *     {"NAME": {"execution_time": SECONDS or {"mean": SECONDS, ...}, "tensorboard_trace": PATH,
 * ...}, ...} Each trace that is named is a run, labelled by its NAME.  A PATH is taken from the
 * folder of the file, and where nothing is there, from the working folder.  Members of other kinds
 * are left alone. */
struct tm_result {
    struct tm_run_operand operand;
    int64_t measured_ps; /* -1 = none, or no time that makes sense */
};

struct tm_results {
    struct tm_result *result; /* in the order of the file */
    size_t count;
    struct tm_run *run; /* private, as what follows */
    struct tm_doc *doc;
    size_t room;
};

/* owns:   the caller; tm_results_free, also after a failure; the operands live as long
 * errors: TM_ERR_INPUT  it cannot be read, or names no trace; TM_ERR_USAGE  a trace that is named
 * is not there */
tm_status tm_results_read(struct tm_results *results, struct tm_run *run,
                          const char *path) TM_MUST_USE;
void tm_results_free(struct tm_results *results); /* tolerates a zeroed one */

#endif
