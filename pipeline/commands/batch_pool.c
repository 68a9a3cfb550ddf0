/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of a batch in a pool of processes: what their ends mean, the results of those that failed, the progress line. */
#include "pipeline/commands/batch_pool.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pipeline/batch/fingerprint.h"
#include "pipeline/batch/workers.h"

/* --- options --- */

/* A partial holds what was read, not what is said of it: what only reports depend on is as if it was not given. */
static struct tm_options options_of_parts(const struct tm_options *options)
{
    struct tm_options parts = *options;

    parts.formats = TM_FORMAT_PARTIAL;
    parts.thresholds = parts.note = NULL;
    parts.paper = TM_PAPER_A4;
    parts.rows = 0;
    return parts;
}

tm_status tm_batch_pool_options(struct tm_batch_pool *pool)
{
    const struct tm_options parts = options_of_parts(pool->options);
    tm_status st = tm_options_fingerprint(pool->run, pool->options, pool->report_options);

    return st == TM_OK ? tm_options_fingerprint(pool->run, &parts, pool->part_options) : st;
}

const char *tm_batch_pool_options_of(const struct tm_batch_pool *pool, const struct tm_batch_file *part)
{
    return part ? pool->part_options : pool->report_options;
}

/* --- progress --- */

static int64_t now_ns(void)
{
    struct timespec now = { .tv_sec = 0 };

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void show_progress(void *of)
{
    const struct tm_batch_pool *pool = of;
    const double share = pool->weight ? (double)pool->weight_done / (double)pool->weight : 1;
    const double seconds = (double)(now_ns() - pool->begin_ns) * 1e-9;

    if (!pool->run->progress.shown)
        return;
    (void)fprintf(stderr, "\r\033[K%zu of %zu %s  %.0f%%", pool->ended, pool->count, pool->what, 100 * share);
    if (pool->failures)
        (void)fprintf(stderr, "  %zu failed", pool->failures);
    if (share > 0 && share < 1) {
        const unsigned long long left = (unsigned long long)(seconds * (1 - share) / share);

        (void)fprintf(stderr, "  %llu:%02llu:%02llu left", left / 3600, left / 60 % 60, left % 60);
    }
    (void)fflush(stderr);
}

/* --- failures --- */

/* What a process says of its failure: the line that main would print. */
static void read_said(const char *said, char message[TM_RESULT_MESSAGE_BYTES], char hint[TM_RESULT_MESSAGE_BYTES])
{
    static const char program[] = "tracemill: ", warning[] = "tracemill: warning: ", advice[] = "hint: ";

    message[0] = hint[0] = '\0';
    while (*said) {
        const size_t length = strcspn(said, "\n");
        char *to = NULL;
        size_t skip = 0;

        if (strncmp(said, advice, sizeof(advice) - 1) == 0) {
            to = hint;
            skip = sizeof(advice) - 1;
        } else if (strncmp(said, program, sizeof(program) - 1) == 0 &&
                   strncmp(said, warning, sizeof(warning) - 1) != 0) {
            to = message;
            skip = sizeof(program) - 1;
        }
        if (to && !to[0])
            tm_clean_text(to, TM_RESULT_MESSAGE_BYTES, said + skip, length - skip);
        said += length + (said[length] == '\n');
    }
}

tm_status tm_batch_pool_fail(struct tm_batch_pool *pool, const struct tm_batch_task *task, enum tm_result_status status,
                             int exit_status, const char *message, const char *hint)
{
    const struct tm_result_about about = { .batch_run = task->batch_run, .file = task->part,
                                           .fingerprint = task->fingerprint,
                                           .options = tm_batch_pool_options_of(pool, task->part), .status = status,
                                           .exit_status = exit_status, .message = message, .hint = hint };
    char names[TM_BATCH_OUTPUTS_MOST][64], folder[TM_OUT_PATH_BYTES];
    const char *list[TM_BATCH_OUTPUTS_MOST];
    const size_t count = tm_batch_outputs(UINT32_MAX, names, list);
    struct tm_doc *doc = NULL;
    tm_status st = tm_out_item_folder(pool->run, pool->out, task->batch_run, task->part, folder);

    pool->failures++;
    if (!pool->first_failure[0])
        (void)snprintf(pool->first_failure, sizeof(pool->first_failure), "'%.128s': %.800s", task->batch_run->id, message);
    if (st == TM_OK)
        st = tm_result_remove(pool->run, folder, list, count);
    if (st == TM_OK) {
        doc = tm_doc_new(pool->run);
        st = doc ? TM_OK : pool->run->error.status;
    }
    if (st == TM_OK) {
        tm_result_fill(doc, &about);
        st = tm_result_write(pool->run, folder, doc);
    }
    tm_doc_free(doc);
    if (status == TM_RESULT_REFUSED)
        pool->counts->refused++;
    else
        pool->counts->failed++;
    return st;
}

static bool has_changed(const struct tm_batch_pool *pool, const struct tm_batch_task *task)
{
    const struct tm_batch_file *file = task->part ? task->part : &task->batch_run->file[0];
    char path[TM_OUT_PATH_BYTES];

    if (pool->joins)
        return false;
    return tm_input_path(pool->run, task->batch_run, file, path) != TM_OK ||
           !tm_batch_is_as_scanned(pool->run, path, file);
}

static tm_status fail_exit(struct tm_batch_pool *pool, const struct tm_batch_task *task, const struct tm_outcome *outcome)
{
    const bool is_unreadable = outcome->number == TM_BATCH_UNREADABLE;
    const int number = is_unreadable ? TM_ERR_INPUT : outcome->number;
    char message[TM_RESULT_MESSAGE_BYTES], hint[TM_RESULT_MESSAGE_BYTES];
    enum tm_result_status status = TM_RESULT_FAILED;

    if (number == TM_BATCH_CHANGED || (number == TM_ERR_INPUT && has_changed(pool, task)))
        return tm_batch_pool_fail(pool, task, status, TM_ERR_INPUT, "the input has changed, or is gone, since it was scanned",
                                  "scan again");
    read_said(outcome->said, message, hint);
    if (!message[0])
        (void)snprintf(message, sizeof(message), "it ended with status %d", number);
    if (number == TM_ERR_INPUT && !is_unreadable && !pool->joins)
        status = TM_RESULT_REFUSED;
    return tm_batch_pool_fail(pool, task, status, number, message, hint);
}

static tm_status fail_signal(struct tm_batch_pool *pool, const struct tm_batch_task *task,
                             const struct tm_outcome *outcome)
{
    char message[TM_RESULT_MESSAGE_BYTES];

    (void)snprintf(message, sizeof(message), "it was ended by signal %d, %s", outcome->number, strsignal(outcome->number));
    return tm_batch_pool_fail(pool, task, TM_RESULT_FAILED, 128 + outcome->number, message,
                              outcome->number == SIGKILL ? "the system may have been out of memory: lower --jobs, or raise "
                                                           "what the job may have"
                                                         : "");
}

static tm_status fail_time(struct tm_batch_pool *pool, const struct tm_batch_task *task)
{
    char message[TM_RESULT_MESSAGE_BYTES];

    (void)snprintf(message, sizeof(message), "it took longer than %.12g seconds",
                   (double)pool->options->item_time_ps * 1e-12);
    return tm_batch_pool_fail(pool, task, TM_RESULT_FAILED, 128 + SIGTERM, message,
                              "raise --item-timeout, or give it more of the machine with --jobs");
}

/* --- the pool --- */

static int begin_task(void *of, size_t index)
{
    const struct tm_batch_pool *pool = of;

    return tm_batch_pool_task(pool, &pool->tasks[index]);
}

static tm_status end_task(void *of, size_t index, const struct tm_outcome *outcome)
{
    struct tm_batch_pool *pool = of;
    const struct tm_batch_task *task = &pool->tasks[index];
    tm_status st = TM_OK;

    pool->ended++;
    pool->weight_done += task->weight;
    pool->counts->worked++;
    pool->counts->troubled += outcome->kind != TM_OUTCOME_EXIT || outcome->number != TM_OK;
    if (outcome->kind == TM_OUTCOME_TIME)
        st = fail_time(pool, task);
    else if (outcome->kind == TM_OUTCOME_SIGNAL)
        st = fail_signal(pool, task, outcome);
    else if (outcome->number == TM_OK)
        pool->counts->done++;
    else if (outcome->number == TM_PARTIAL)
        pool->counts->partial++;
    else
        st = fail_exit(pool, task, outcome);
    return st;
}

tm_status tm_batch_pool_work(struct tm_batch_pool *pool)
{
    const struct tm_options *o = pool->options;
    struct tm_work work = { .of = pool, .count = pool->count, .memory_bytes = o->memory_bytes,
                            .time_ps = o->item_time_ps, .work = begin_task, .ended = end_task, .tick = show_progress };
    tm_status st;

    if (!pool->count)
        return TM_OK;
    for (size_t i = 0; i < pool->count; i++)
        pool->weight += pool->tasks[i].weight;
    pool->begin_ns = now_ns();
    st = tm_jobs_choose(pool->run, o->jobs, o->memory_bytes, o->force, &work.jobs);
    if (st == TM_OK)
        st = tm_work_all(pool->run, &work);
    tm_progress_end(&pool->run->progress);
    if (pool->failures)
        (void)fprintf(stderr, "tracemill: warning: %zu of %zu %s failed; %s\n", pool->failures, pool->count, pool->what,
                      pool->first_failure);
    return st;
}
