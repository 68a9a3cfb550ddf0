/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NIGHT_GATES_H
#define TM_NIGHT_GATES_H

#include "pipeline/commands/batch_parts.h"
#include "pipeline/commands/night_baseline.h"
#include "pipeline/commands/summaries.h"
#include "reports/gates/gates.h"

/* What the gates of a night (batch_gates.c) and those of one of its runs (night_gates_run.c) share. */

enum night_verdict { RUN_PASSED, RUN_FAILED, RUN_UNKNOWN, RUN_NOT_JUDGED, RUN_WITHOUT_REPORT, VERDICTS };
enum { NIGHT_GATE_STATUSES = 4 };

/* While the history is gone through. */
struct gated_night {
    struct tm_run *run;
    const char *out;        /* the folder */
    const struct tm_judged_night *judged;
    struct tm_gates *gates; /* NULL = only the reports are looked at */
    struct tm_baseline_choice choice;
    struct tm_summaries fixed; /* of paths */
    struct tm_job_past *past;
    char job[TM_KEY_BYTES]; /* that is gone through */
    struct tm_value *rows;  /* "runs" of the result */
    uint64_t verdicts[VERDICTS], gate_statuses[NIGHT_GATE_STATUSES], new_jobs;
    tm_status failed; /* what ended it */
};

extern const char *const night_verdict_word[VERDICTS];
extern const char *const night_gate_status[NIGHT_GATE_STATUSES]; /* as in a check */

/* Put a run that is judged into the result, judged where it has a report and there are gates. */
tm_status night_gates_take(struct gated_night *n, const struct tm_history_run *row);

#endif
