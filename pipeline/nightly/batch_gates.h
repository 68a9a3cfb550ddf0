/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BATCH_GATES_H
#define TM_BATCH_GATES_H

#include "pipeline/nightly/manifest.h"
#include "reports/history/history.h"

/* Which earlier runs of its job a run of the last night is held against: docs/gates.md, "Of a night".  It holds no more
 * than the last `most` runs of each grade for each kind of machine that one job had. */

enum { TM_BASELINE_RUNS_MOST = 64, TM_BASELINE_RUNS = 7 /* if nothing is named */ };

enum tm_baseline_kind {
    TM_BASELINE_LAST,  /* the last `most` good ones: "last-good" is 1, "median:N" is N */
    TM_BASELINE_NIGHT, /* "night:2026-11-01": those of that night */
    TM_BASELINE_LABEL, /* "label:v1.2": those with that label */
    TM_BASELINE_PATHS, /* summaries, reports or profiles, the same for every job */
};

struct tm_baseline_choice {
    enum tm_baseline_kind kind;
    size_t most;
    const char *text;             /* of a night or a label; of `baseline` */
    char told[TM_KEY_BYTES + 16]; /* as it would be typed; "" of paths */
};

/* Whether a --baseline names runs of the history, and is no path: "last-good", "median:7", "night:2026-11-01". */
bool tm_baseline_is_word(const char *text);

/* in:     baseline  of --baseline: nothing, one word, or paths
 * errors: TM_ERR_USAGE */
tm_status tm_baseline_choice_read(struct tm_run *run, const struct tm_texts *baseline,
                                  struct tm_baseline_choice *choice) TM_MUST_USE;

/* --- the past of one job at a time --- */

struct tm_past_run {
    char id[TM_RUN_ID_BYTES], summary[TM_RUN_ID_BYTES + 32];
    char night[11], revision[TM_KEY_BYTES], label[TM_KEY_BYTES];
    int64_t when_ns;
};

struct tm_job_past;

struct tm_job_past *tm_job_past_new(struct tm_run *run, const struct tm_baseline_choice *choice) TM_MUST_USE;
void tm_job_past_free(struct tm_job_past *past);   /* tolerates NULL */
void tm_job_past_forget(struct tm_job_past *past); /* another job begins */

/* The next run of the job, in the order of time.
 * in:     gates  what they say of it: "passed", "failed", "unknown", "" = never judged
 * errors: TM_ERR_LIMIT */
tm_status tm_job_past_add(struct tm_job_past *past, const struct tm_history_run *row, const char *gates) TM_MUST_USE;

/* All runs that a coming one of the job may be held against, whatever it runs on. */
void tm_job_past_visit(const struct tm_job_past *past, void (*take)(void *of, const struct tm_past_run *run), void *of);

#endif
