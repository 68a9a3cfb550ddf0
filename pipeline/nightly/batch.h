/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BATCH_H
#define TM_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/nightly/manifest.h"
#include "pipeline/workers.h"
#include "pipeline/nightly/result.h"
#include "pipeline/run.h"
#include "reports/history/history.h"

/* The earlier runs of its job that a run of the last night is compared with: docs/gates.md, "Of a night".  It keeps
 * only the last `most` runs of each grade for each kind of machine of a job. */

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

/* Whether a --baseline names runs of the history, and is not a path: "last-good", "median:7", "night:2026-11-01". */
bool tm_baseline_is_word(const char *text);

/* in:     baseline  of --baseline: nothing, one word, or paths
 * errors: TM_ERR_USAGE */
tm_status tm_baseline_choice_read(struct tm_run *run, const struct tm_texts *baseline,
                                  struct tm_baseline_choice *choice);

/* --- the past of one job at a time --- */

struct tm_past_run {
    char id[TM_RUN_ID_BYTES], summary[TM_RUN_PLACE_BYTES + 16];
    char night[11], revision[TM_KEY_BYTES], label[TM_KEY_BYTES];
    int64_t when_ns;
};

struct tm_job_past;

struct tm_job_past *tm_job_past_new(struct tm_run *run, const struct tm_baseline_choice *choice) TM_MUST_USE;
void tm_job_past_free(struct tm_job_past *past); /* tolerates NULL */
/* Another job starts: its runs in the ledger that regressed are no baseline, unless they are named by night or label.
 * errors: of the history */
tm_status tm_job_past_start(struct tm_job_past *past, struct tm_history *history, const char *job);

/* The next run of the job, in time order.
 * in:     gates  their result: "passed", "failed", "unknown", "" = never assessed
 * errors: TM_ERR_LIMIT */
tm_status tm_job_past_add(struct tm_job_past *past, const struct tm_history_run *row, const char *gates);

/* All runs that a future one of the job may be compared with, on any device, and the runs with which its open
 * regressions started. */
void tm_job_past_visit(const struct tm_job_past *past, void (*take)(void *of, const struct tm_past_run *run), void *of);

/* The steps of a batch, used by the verbs `batch ...`.  `out` is the folder of the batch. */

struct tm_batch_counts {
    uint64_t runs;                                    /* for which results are expected */
    uint64_t done, partial, refused, failed, missing; /* their state */
    uint64_t worked;                                  /* items that were not done before */
    uint64_t troubled;                                /* of these: not done, or partial */
    uint64_t night_troubled; /* of merging: of the runs that are assessed, partial and refused ones */
    uint64_t ahead;          /* of merging: runs with future dates, and not assessed */
    char ahead_id[TM_RUN_ID_BYTES], ahead_night[11]; /* one of them */
};

/* Find the runs below options->inputs (tm_manifest_scan), and report on stderr what was skipped.
 * in:     known  an earlier manifest of them, or where one would be; NULL = none
 * owns:   the caller; tm_manifest_free, also after a failure */
tm_status tm_batch_find(struct tm_run *run, const struct tm_options *options, const char *known,
                        struct tm_manifest *manifest);

/* Before any work: options that do not fit a batch (--redact, a trace as a format), the folder.
 * errors: TM_ERR_USAGE, TM_ERR_OUTPUT */
tm_status tm_batch_check(struct tm_run *run, const struct tm_options *options, const char *out);

/* Which items of a manifest a process works on. */
struct tm_batch_share {
    struct tm_shard shard;
    const char *item; /* of --item; NULL = all of the share */
    bool
        is_of_items; /* the manifest is one line of another, or the process one of many: OUT has the manifest already */
    int64_t lease_ps; /* others may take them, too: leases expire after this time; 0 = no other process works on them */
};

/* Process the items of a share that are not done: reports, and partials of runs of several hosts.  The manifest is
 * kept in OUT.  A failed item is a result; what fails the batch is OUT itself.
 * errors: TM_ERR_OUTPUT, TM_ERR_LIMIT; TM_ERR_USAGE  there is no such item */
tm_status tm_batch_work(struct tm_run *run, const struct tm_options *options, const struct tm_manifest *manifest,
                        const char *out, const struct tm_batch_share *share, struct tm_batch_counts *counts);

/* What is wrong with the options of a merge is reported before any work: the gate file, --baseline, files beside OUT.
 * errors: TM_ERR_USAGE */
tm_status tm_batch_merge_check(struct tm_run *run, const struct tm_options *options, const char *out);

/* Merge: join, history, gates, index, files that options name.
 * errors: TM_GATE, TM_PARTIAL where items failed or are missing or a gate is unknown, TM_ERR_OUTPUT, TM_ERR_LIMIT */
tm_status tm_batch_merge(struct tm_run *run, const struct tm_options *options, const char *out);

/* Apply the gates of --gate to the assessed runs, each against the runs that --baseline names (docs/gates.md, "Of a
 * night").  Without --gate it only reports the state of the reports.
 * in:     result   of a document with room for about a kilobyte for each run and each of its gates (tm_doc_set_most)
 * out:    result   gets "night", "gate_file", "baseline": text, "notes": [text], "runs": [{"id", "job", "night",
 *         "when_ns", "revision", "label", "step", "status", "message", "report", "notes": [text], "baseline": [id],
 *         "gates": [as of CHECK.md], "verdict": "passed|failed|unknown|not assessed|no report", "text": of the first
 *         gate that failed}], in the order of job and time, "counts": {"runs", "passed", "failed", "unknown",
 *         "not_judged", "no_report", "gates": {"passed", "failed", "unknown", "skipped"}}, "verdict": {"text",
 *         "severity"}; the result of the gates is also set in the history
 *         verdict  TM_OK, TM_GATE, or TM_PARTIAL if one is unknown
 * errors: TM_ERR_USAGE  the file or an expression */
tm_status tm_nightly_gates(struct tm_run *run, const struct tm_options *options, const char *out,
                           struct tm_history *history, const struct tm_judged_night *judged, struct tm_value *result,
                           tm_status *verdict);

/* The decisions in OUT/decisions.jsonl, in the order in which they were made.
 * owns:   the caller; tm_decisions_free, also after a failure
 * errors: TM_ERR_INPUT with the line */
tm_status tm_decisions_read(struct tm_run *run, const char *out, struct tm_decision **first);
void tm_decisions_free(struct tm_run *run, struct tm_decision *first);

/* Compare the first run of each open regression without a cause with the last good one, and put the first causes into
 * the ledger of a renewed history.  Runs without summaries are skipped. */
void tm_batch_find_causes(struct tm_run *run, const char *out, struct tm_history *history);

/* Tasks of a batch, each processed in a separate process: a report or a partial into the folder of an item, and its
 * result. */
struct tm_batch_task {
    const struct tm_batch_run *batch_run;
    const struct tm_batch_file *part; /* the host of a multi-host run whose partial is made; NULL = the report of the
                                       * run */
    uint64_t weight;
    char fingerprint[TM_FINGERPRINT_BYTES]; /* of its inputs */
};

struct tm_batch_pool {
    struct tm_run *run;
    const struct tm_options *options;
    const char *out;
    const char *what; /* "traces", for the progress line */
    char report_options[TM_FINGERPRINT_BYTES],
        part_options[TM_FINGERPRINT_BYTES]; /* tm_batch_pool_options fills them */
    const struct tm_batch_task *tasks;
    size_t count;
    struct tm_batch_counts *counts;
    bool joins;       /* the inputs are partials in OUT */
    unsigned jobs;    /* of each task that joins: more than 1 where there are fewer tasks than the machine is for */
    int64_t lease_ps; /* as of tm_batch_share */
    /* private */
    struct tm_lease *leases; /* that this process may hold at once */
    size_t lease_count;
    struct tm_batch_watch *watches; /* of each task; NULL without leases */
    uint64_t weight, weight_done;
    size_t ended;
    uint64_t begin_ns;
    char first_failure[TM_RESULT_MESSAGE_BYTES];
    size_t failures;
};

/* What the process of an item does.  returned: its exit status; the error is on stderr */
enum {
    TM_BATCH_CHANGED = 64 /* the input is not what was scanned */,
    TM_BATCH_UNREADABLE /* the system could not read it, whatever is in it, as when storage fails */
};

int tm_batch_item_work(const struct tm_batch_pool *pool, const struct tm_batch_task *task);
bool tm_batch_item_has_changed(const struct tm_batch_pool *pool, const struct tm_batch_task *task);
const char *tm_batch_options_of(const struct tm_batch_pool *pool, const struct tm_batch_file *part);

/* Report the state of the items of a batch: a line on a terminal, a document with --json.
 * errors: TM_PARTIAL if one is not done, or of a damaged input; TM_ERR_OUTPUT */
tm_status tm_batch_close(struct tm_run *run, const struct tm_options *options, const struct tm_batch_counts *counts);

/* The fingerprints of the options, of reports and of partials: what changes a report only leaves partials as they
 * are. */
tm_status tm_batch_pool_options(struct tm_batch_pool *pool);

/* Process all tasks, and count their results.
 * errors: TM_ERR_OUTPUT if OUT does not take results; TM_ERR_LIMIT, TM_ERR_USAGE of jobs */
tm_status tm_batch_pool_work(struct tm_batch_pool *pool);

/* Write the result of a task that failed, replacing everything in its folder. */
tm_status tm_batch_pool_fail(struct tm_batch_pool *pool, const struct tm_batch_task *task, enum tm_result_status status,
                             int exit_status, const char *message, const char *hint);

/* The status of a run before its report was pruned; TM_RESULT_MISSING if it was not, or has changed since. */
enum tm_result_status tm_batch_pruned(const struct tm_batch_pool *pool, const struct tm_batch_run *batch_run);

/* --- of an item --- */

/* Its work, and its state: tm_result_stands says whether it has to be done. */
struct tm_batch_task tm_batch_task_of(const struct tm_batch_item *item);
tm_status tm_batch_task_look(const struct tm_batch_pool *pool, const struct tm_batch_task *task,
                             enum tm_result_status *status);

/* One whose result is valid. */
void tm_batch_count_standing(struct tm_batch_counts *counts, enum tm_result_status status);

/* Its folder's files of any format: for tm_result_remove. */
enum { TM_BATCH_OUTPUTS_MOST = 16 };

size_t tm_batch_outputs(uint32_t formats, char names[TM_BATCH_OUTPUTS_MOST][64],
                        const char *list[TM_BATCH_OUTPUTS_MOST]);

/* The inputs of a join: valid partials in OUT, in the order of the manifest, and the files without a valid partial.
 * owns:   the caller; tm_batch_parts_free */
struct tm_batch_parts {
    struct tm_run *run;
    char **paths; /* of partials */
    size_t path_count;
    struct tm_missing_input *missing;
    size_t missing_count;
    size_t files;                           /* of the run */
    enum tm_result_status worst;            /* of the missing: refused, failed, or MISSING: one is not processed yet */
    char message[TM_RESULT_MESSAGE_BYTES];  /* of the first one that is missing */
    char fingerprint[TM_FINGERPRINT_BYTES]; /* of the valid ones */
};

tm_status tm_batch_parts_find(struct tm_batch_parts *parts, struct tm_run *run, const char *out,
                              const struct tm_batch_run *batch_run);
void tm_batch_parts_free(struct tm_batch_parts *parts);

#endif
