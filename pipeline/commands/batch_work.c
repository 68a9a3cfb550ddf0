/* SPDX-License-Identifier: Apache-2.0 */
/* Working the items of a share: those that are not done, each by a process of its own. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/batch/fingerprint.h"
#include "pipeline/commands/batch_pool.h"
#include "pipeline/commands/out_place.h"
#include "reports/findings/thresholds.h"

/* --- before --- */

static tm_status check_formats(struct tm_run *run, const struct tm_options *options)
{
    if (options->redact) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot work a batch with --redact: its history holds the names");
        tm_hint(&run->error, "make the reports that are for others with 'tracemill report --redact'");
        return TM_ERR_USAGE;
    }
    if (!(options->formats & (TM_FORMAT_PERFETTO | TM_FORMAT_PFTRACE)))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%s' for --format: a batch writes no traces",
                  options->formats & TM_FORMAT_PERFETTO ? "perfetto" : "pftrace");
    tm_hint(&run->error, "'tracemill convert' writes the trace of a run");
    return TM_ERR_USAGE;
}

tm_status tm_batch_check(struct tm_run *run, const struct tm_options *options, const char *out)
{
    struct tm_thresholds thresholds;
    tm_status st = check_formats(run, options);

    if (st == TM_OK && !out) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot work a batch without a folder for it");
        tm_hint(&run->error, "name it with -o OUT");
        st = TM_ERR_USAGE;
    }
    if (st == TM_OK && options->thresholds) { /* once, and not by each worker */
        st = tm_thresholds_init(&thresholds, &run->error);
        if (st == TM_OK)
            st = tm_thresholds_read(&thresholds, options->thresholds, &run->error);
    }
    return st == TM_OK ? tm_check_folder(run, out) : st;
}

/* Whether a manifest is one that `batch submit` made for its tasks: it names what was missing only.  Both paths are as its
 * scripts have them. */
static bool is_handed_out(const char *out, const char *path)
{
    const size_t length = strlen(out);

    return path && strncmp(path, out, length) == 0 && strncmp(path + length, "/slurm/", 7) == 0;
}

/* --- which items --- */

struct tm_batch_task tm_batch_task_of(const struct tm_batch_item *item)
{
    struct tm_batch_task task = { .batch_run = item->run, .part = item->run->files > 1 ? item->file : NULL,
                                  .weight = item->weight };

    if (task.part)
        memcpy(task.fingerprint, item->file->fingerprint, sizeof(task.fingerprint));
    else
        tm_run_fingerprint(item->run, task.fingerprint);
    return task;
}

tm_status tm_batch_task_look(const struct tm_batch_pool *pool, const struct tm_batch_task *task,
                             enum tm_result_status *status)
{
    char folder[TM_OUT_PATH_BYTES];
    tm_status st = tm_out_item_folder(pool->run, pool->out, task->batch_run, task->part, folder);

    if (st == TM_OK)
        *status = tm_result_look(pool->run, folder, task->fingerprint, tm_batch_pool_options_of(pool, task->part), NULL);
    if (st == TM_OK && *status == TM_RESULT_MISSING)
        st = tm_batch_pruned(pool, task->batch_run, status);
    return st;
}

tm_status tm_batch_pruned(const struct tm_batch_pool *pool, const struct tm_batch_run *batch_run,
                          enum tm_result_status *status)
{
    char folder[TM_OUT_PATH_BYTES], fingerprint[TM_FINGERPRINT_BYTES];
    const tm_status st = tm_out_item_folder(pool->run, pool->out, batch_run, NULL, folder);

    if (st != TM_OK)
        return st;
    tm_run_fingerprint(batch_run, fingerprint);
    *status = tm_result_pruned(pool->run, folder, fingerprint);
    return TM_OK;
}

void tm_batch_count_standing(struct tm_batch_counts *counts, enum tm_result_status status)
{
    counts->done += status == TM_RESULT_DONE;
    counts->partial += status == TM_RESULT_PARTIAL;
    counts->refused += status == TM_RESULT_REFUSED;
}

/* The items that are not done, in their order. */
static tm_status choose_tasks(struct tm_batch_pool *pool, const struct tm_batch_item *items, size_t count,
                              struct tm_batch_task *tasks)
{
    for (size_t i = 0; i < count; i++) {
        const struct tm_batch_task task = tm_batch_task_of(&items[i]);
        enum tm_result_status status;
        const tm_status st = tm_batch_task_look(pool, &task, &status);

        if (st != TM_OK)
            return st;
        if (tm_result_stands(status, pool->options->retry))
            tm_batch_count_standing(pool->counts, status);
        else
            tasks[pool->count++] = task;
    }
    pool->counts->runs += count;
    return TM_OK;
}

static void print_tasks(const struct tm_batch_pool *pool)
{
    for (size_t i = 0; pool->tasks && i < pool->count; i++) {
        const struct tm_batch_task *task = &pool->tasks[i];
        const struct tm_batch_file *file = task->part ? task->part : &task->batch_run->file[0];

        (void)printf("%s%s%s\t%llu bytes\n", task->batch_run->id, task->part ? " " : "", task->part ? file->id : "",
                     (unsigned long long)file->bytes);
    }
}

/* --- the work --- */

/* What keeps others out of what this process works. */
struct locks {
    int folder;
    struct tm_share_lock share;
};

static tm_status take_locks(const struct tm_batch_pool *pool, struct tm_shard shard, struct locks *locks)
{
    const bool is_shared = shard.count > 1;
    tm_status st = tm_make_folder(pool->run, pool->out);

    if (st == TM_OK)
        st = tm_out_lock(pool->run, pool->out, is_shared, &locks->folder);
    return st == TM_OK && is_shared ? tm_out_lock_share(pool->run, pool->out, shard, &locks->share) : st;
}

static void give_locks(struct locks *locks)
{
    tm_out_unlock_share(&locks->share);
    if (locks->folder >= 0)
        (void)close(locks->folder);
}

static tm_status work_tasks(struct tm_batch_pool *pool, const struct tm_manifest *manifest)
{
    tm_status st = TM_OK;

    if (!is_handed_out(pool->out, pool->options->manifest))
        st = tm_manifest_save(manifest, pool->out, TM_MANIFEST_FILE, NULL);
    return st == TM_OK ? tm_batch_pool_work(pool) : st;
}

tm_status tm_batch_work(struct tm_run *run, const struct tm_options *options, const struct tm_manifest *manifest,
                        const char *out, struct tm_shard shard, struct tm_batch_counts *counts)
{
    struct tm_batch_pool pool = { .run = run, .options = options, .out = out, .what = "traces", .counts = counts };
    struct locks locks = { .folder = -1, .share = { .fd = -1 } };
    struct tm_batch_item *items = NULL;
    size_t count = 0;
    tm_status st = tm_batch_pool_options(&pool);

    /* Shares are of all items, done or not: each process sees others of them done. */
    if (st == TM_OK)
        st = tm_batch_items(manifest, shard.index, shard.count, NULL, NULL, &items, &count);
    /* What is done is known once nobody else works this share. */
    if (st == TM_OK && !options->dry_run)
        st = take_locks(&pool, shard, &locks);
    if (st != TM_OK) {
        give_locks(&locks);
        tm_batch_items_free(run, items, count);
        return st;
    }

    const size_t bytes = (count + 1) * sizeof(struct tm_batch_task);
    struct tm_batch_task *tasks = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);

    st = tasks ? choose_tasks(&pool, items, count, tasks) : run->error.status;
    pool.tasks = tasks;
    if (st == TM_OK && options->dry_run)
        print_tasks(&pool);
    else if (st == TM_OK)
        st = work_tasks(&pool, manifest);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, tasks, tasks ? bytes : 0);
    tm_batch_items_free(run, items, count);
    give_locks(&locks);
    return st;
}
