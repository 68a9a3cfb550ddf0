/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BATCH_RUN_H
#define TM_BATCH_RUN_H

#include "pipeline/nightly/batch_parts.h"
#include "pipeline/nightly/out_folder.h"
#include "pipeline/nightly/result.h"

/* Tasks of a batch, each worked by a process of its own: a report or a partial into the folder of an item, and its
 * result. */
struct tm_batch_task {
    const struct tm_batch_run *batch_run;
    const struct tm_batch_file *part; /* of a run of several, whose partial is made; NULL = the report of the run */
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
    bool joins; /* the inputs are partials in OUT */
    /* private */
    uint64_t weight, weight_done;
    size_t ended;
    int64_t begin_ns;
    char first_failure[TM_RESULT_MESSAGE_BYTES];
    size_t failures;
};

/* The fingerprints of the options, of reports and of partials: what changes a report only leaves partials as they are. */
tm_status tm_batch_pool_options(struct tm_batch_pool *pool) TM_MUST_USE;

/* Work all tasks.  How each ended goes into the counts.
 * errors: TM_ERR_OUTPUT where OUT does not take results; TM_ERR_LIMIT, TM_ERR_USAGE of jobs */
tm_status tm_batch_pool_work(struct tm_batch_pool *pool) TM_MUST_USE;

/* Write the result of a task that failed, in place of all that is in its folder. */
tm_status tm_batch_pool_fail(struct tm_batch_pool *pool, const struct tm_batch_task *task, enum tm_result_status status,
                             int exit_status, const char *message, const char *hint) TM_MUST_USE;

/* How a run stood before its report was pruned; TM_RESULT_MISSING where it was not, or has changed since. */
tm_status tm_batch_pruned(const struct tm_batch_pool *pool, const struct tm_batch_run *batch_run,
                          enum tm_result_status *status) TM_MUST_USE;

/* --- of an item --- */

/* Its work, and how that stands: tm_result_stands tells whether it is to be done. */
struct tm_batch_task tm_batch_task_of(const struct tm_batch_item *item);
tm_status tm_batch_task_look(const struct tm_batch_pool *pool, const struct tm_batch_task *task,
                             enum tm_result_status *status) TM_MUST_USE;

/* One whose result stands. */
void tm_batch_count_standing(struct tm_batch_counts *counts, enum tm_result_status status);

/* Its folder's files of any format: for tm_result_remove. */
enum { TM_BATCH_OUTPUTS_MOST = 16 };

size_t tm_batch_outputs(uint32_t formats, char names[TM_BATCH_OUTPUTS_MOST][64],
                        const char *list[TM_BATCH_OUTPUTS_MOST]);

/* The inputs of a join: partials in OUT that stand, in the order of the manifest, and files whose partials do not.
 * owns: the caller; tm_batch_parts_free */
struct tm_batch_parts {
    struct tm_run *run;
    char **paths; /* of partials */
    size_t path_count;
    struct tm_missing_input *missing;
    size_t missing_count;
    size_t files;                           /* of the run */
    enum tm_result_status worst;            /* of the missing: refused, failed, or MISSING: one was not worked yet */
    char message[TM_RESULT_MESSAGE_BYTES];  /* of the first one that is missing */
    char fingerprint[TM_FINGERPRINT_BYTES]; /* of those that stand */
};

tm_status tm_batch_parts_find(struct tm_batch_parts *parts, struct tm_run *run, const char *out,
                              const struct tm_batch_run *batch_run) TM_MUST_USE;
void tm_batch_parts_free(struct tm_batch_parts *parts);

#endif
