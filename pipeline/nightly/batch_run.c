/* SPDX-License-Identifier: Apache-2.0 */
/* Processes the items of a manifest, or of a share of it, in a pool of processes. */
#include "pipeline/nightly/batch.h"
#include "pipeline/nightly/batch_mirror.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/files.h"
#include "pipeline/nightly/leases.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/result.h"
#include "pipeline/strings.h"
#include "reports/findings/thresholds.h"

static const struct {
    const char *key;
    size_t at;
} shown[] = {
    { "done", offsetof(struct tm_batch_counts, done) },       { "partial", offsetof(struct tm_batch_counts, partial) },
    { "refused", offsetof(struct tm_batch_counts, refused) }, { "failed", offsetof(struct tm_batch_counts, failed) },
    { "missing", offsetof(struct tm_batch_counts, missing) },
};

enum { SHOWN = sizeof(shown) / sizeof(shown[0]) };

static uint64_t count_at(const struct tm_batch_counts *counts, size_t at)
{
    return *(const uint64_t *)(const void *)((const char *)counts + at);
}

static void print_counts(struct tm_run *run, const struct tm_options *options, const struct tm_batch_counts *counts)
{
    struct tm_doc *doc = tm_doc_new(run);
    struct tm_value *root;

    if (!doc)
        return;
    root = tm_doc_root(doc);
    tm_add_string(root, "schema", "tracemill.batch");
    tm_add_int(root, "schema_version", 1);
    tm_add_string(root, "out", options->output);
    tm_add_uint(root, "items", counts->runs);
    tm_add_uint(root, "worked", counts->worked);
    for (size_t i = 0; i < SHOWN; i++)
        tm_add_uint(root, shown[i].key, count_at(counts, shown[i].at));
    if (!tm_failed(run))
        tm_print_document(run, doc);
    tm_doc_free(doc);
}

static void emit_counts(const struct tm_options *options, const struct tm_batch_counts *counts)
{
    const char *separator = ": ";

    (void)printf("%llu of %llu items processed", (unsigned long long)counts->worked, (unsigned long long)counts->runs);
    for (size_t i = 0; i < SHOWN; i++) {
        const uint64_t count = count_at(counts, shown[i].at);

        if (!count)
            continue;
        (void)printf("%s%llu %s", separator, (unsigned long long)count, shown[i].key);
        separator = ", ";
    }
    (void)fputs("; in ", stdout);
    tm_print_clean(stdout, options->output);
    (void)putchar('\n');
}

tm_status tm_batch_close(struct tm_run *run, const struct tm_options *options, const struct tm_batch_counts *counts)
{
    if (options->dry_run)
        return run->error.status;
    if (options->json)
        print_counts(run, options, counts);
    else if (!options->quiet)
        emit_counts(options, counts);
    if (tm_failed(run))
        return run->error.status;
    return counts->partial || counts->refused || counts->failed || counts->missing ? TM_PARTIAL : TM_OK;
}

/* Tasks of a batch in a pool of processes: what their ends mean, the results of those that failed, the progress
 * line. */

/* --- progress --- */

static void show_progress(void *of)
{
    const struct tm_batch_pool *pool = of;
    const double share = pool->weight ? (double)pool->weight_done / (double)pool->weight : 1;
    const double seconds = (double)(tm_clock_ns() - pool->begin_ns) * 1e-9;

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

/* The message of a process that failed: the line that main would print. */
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
    const struct tm_result_about about = { .batch_run = task->batch_run,
                                           .file = task->part,
                                           .fingerprint = task->fingerprint,
                                           .options = tm_batch_options_of(pool, task->part),
                                           .status = status,
                                           .exit_status = exit_status,
                                           .message = message,
                                           .hint = hint };
    char names[TM_BATCH_OUTPUTS_MOST][64], folder[TM_OUT_PATH_BYTES];
    const char *list[TM_BATCH_OUTPUTS_MOST];
    const size_t count = tm_batch_outputs(UINT32_MAX, names, list);
    struct tm_doc *doc = NULL;

    enum tm_result_status standing = TM_RESULT_MISSING;

    if (!pool->joins && !tm_batch_task_look(pool, task, &standing) &&
        (standing == TM_RESULT_DONE || standing == TM_RESULT_PARTIAL)) { /* by a process that did the same */
        tm_batch_count_standing(pool->counts, standing);
        return pool->run->error.status;
    }
    pool->failures++;
    if (!pool->first_failure[0])
        (void)snprintf(pool->first_failure, sizeof(pool->first_failure), "'%.128s': %.800s", task->batch_run->id,
                       message);
    if (!tm_out_item_folder(pool->run, pool->out, task->batch_run, task->part, folder) &&
        !tm_result_remove(pool->run, folder, list, count))
        doc = tm_doc_new(pool->run);
    if (doc) {
        tm_result_fill(doc, &about);
        tm_result_write(pool->run, folder, doc);
    }
    tm_doc_free(doc);
    if (status == TM_RESULT_REFUSED)
        pool->counts->refused++;
    else
        pool->counts->failed++;
    return pool->run->error.status;
}

static tm_status fail_exit(struct tm_batch_pool *pool, const struct tm_batch_task *task,
                           const struct tm_outcome *outcome)
{
    const bool is_unreadable = outcome->number == TM_BATCH_UNREADABLE;
    const int number = is_unreadable ? TM_ERR_INPUT : outcome->number;
    char message[TM_RESULT_MESSAGE_BYTES], hint[TM_RESULT_MESSAGE_BYTES];
    enum tm_result_status status = TM_RESULT_FAILED;

    if (number == TM_BATCH_CHANGED || (number == TM_ERR_INPUT && tm_batch_item_has_changed(pool, task)))
        return tm_batch_pool_fail(pool, task, status, TM_ERR_INPUT, "the input was changed or removed after the scan",
                                  "scan again");
    read_said(outcome->said, message, hint);
    if (!message[0])
        (void)snprintf(message, sizeof(message), "it exited with status %d", number);
    if (number == TM_ERR_INPUT && !is_unreadable && !pool->joins)
        status = TM_RESULT_REFUSED;
    return tm_batch_pool_fail(pool, task, status, number, message, hint);
}

static tm_status fail_signal(struct tm_batch_pool *pool, const struct tm_batch_task *task,
                             const struct tm_outcome *outcome)
{
    char message[TM_RESULT_MESSAGE_BYTES];

    (void)snprintf(message, sizeof(message), "it was terminated by signal %d, %s", outcome->number,
                   strsignal(outcome->number));
    return tm_batch_pool_fail(pool, task, TM_RESULT_FAILED, 128 + outcome->number, message,
                              outcome->number == SIGKILL
                                  ? "the system may have run out of memory: lower --jobs, or raise the job's memory "
                                    "limit"
                                  : "");
}

static tm_status fail_time(struct tm_batch_pool *pool, const struct tm_batch_task *task)
{
    char message[TM_RESULT_MESSAGE_BYTES];

    (void)snprintf(message, sizeof(message), "it took longer than %.12g seconds",
                   (double)pool->options->item_time_ps * 1e-12);
    return tm_batch_pool_fail(pool, task, TM_RESULT_FAILED, 128 + SIGTERM, message,
                              "raise --item-timeout, or lower --jobs");
}

/* --- leases ---
 *
 * With --lease, any number of processes on any number of machines take the items of one manifest.  Each goes through
 * the same list, takes a lease of the next item that has no valid result, and works on it.  Then it waits for the items
 * that others hold, and takes over those whose leases expire, so a process that ends normally leaves nothing undone. */

struct tm_batch_watch {
    uint64_t mark, since_ns; /* of the lease that somebody else holds, and since when it is this one */
    struct tm_lease *lease;  /* of this process; NULL = none */
    bool is_ended, is_others;
};

enum { PAUSE_LEAST_MS = 20, PAUSE_MOST_MS = 2000 };

/* An item that failed is tried again by the next batch, and not by each worker of this one. */
static bool has_failed_already(const struct tm_batch_pool *pool, const struct tm_batch_task *task)
{
    char folder[TM_OUT_PATH_BYTES], path[TM_OUT_PATH_BYTES];
    struct stat result, manifest;

    if (pool->options->retry || !pool->options->manifest || stat(pool->options->manifest, &manifest) != 0 ||
        tm_out_item_folder(pool->run, pool->out, task->batch_run, task->part, folder) ||
        tm_out_path(pool->run, folder, TM_RESULT_FILE, path) || stat(path, &result) != 0)
        return false;
    return tm_file_time_ns(&result) > tm_file_time_ns(&manifest);
}

/* Whether nothing is to be done about it: it is counted. */
static bool has_ended(struct tm_batch_pool *pool, size_t index)
{
    const struct tm_batch_task *const task = &pool->tasks[index];
    struct tm_batch_watch *const watch = &pool->watches[index];
    enum tm_result_status status;

    if (watch->is_ended || tm_batch_task_look(pool, task, &status))
        return true;
    if (!tm_result_stands(status, pool->options->retry) &&
        !(status == TM_RESULT_FAILED && has_failed_already(pool, task)))
        return false;
    watch->is_ended = true;
    pool->ended++;
    pool->weight_done += task->weight;
    tm_batch_count_standing(pool->counts, status);
    pool->counts->failed += status == TM_RESULT_FAILED;
    pool->counts->troubled += status != TM_RESULT_DONE;
    return true;
}

static struct tm_lease *free_lease(const struct tm_batch_pool *pool)
{
    for (size_t i = 0; i < pool->lease_count; i++)
        if (!pool->leases[i].owner[0])
            return &pool->leases[i];
    return NULL;
}

static bool take_item(void *of, size_t index)
{
    struct tm_batch_pool *const pool = of;
    const struct tm_batch_task *const task = &pool->tasks[index];
    struct tm_batch_watch *const watch = &pool->watches[index];
    struct tm_lease *const lease = free_lease(pool);
    bool is_taken;

    if (!lease || has_ended(pool, index) ||
        tm_lease_take(pool->run, pool->out, task->batch_run, task->part, lease, &is_taken))
        return false;
    watch->is_others = !is_taken;
    if (!is_taken)
        return false;
    if (has_ended(pool, index)) { /* before the lease was free */
        tm_lease_give(lease);
        return false;
    }
    watch->lease = lease;
    return true;
}

static void give_item(struct tm_batch_pool *pool, size_t index)
{
    if (!pool->watches)
        return;
    pool->watches[index].is_ended = true;
    tm_lease_give(pool->watches[index].lease);
}

/* out: whether the item is free */
static bool watch_item(struct tm_batch_pool *pool, size_t index)
{
    const struct tm_batch_task *const task = &pool->tasks[index];
    struct tm_batch_watch *const watch = &pool->watches[index];
    const uint64_t mark = tm_lease_mark(pool->run, pool->out, task->batch_run, task->part);

    if (mark && mark != watch->mark) {
        watch->mark = mark;
        watch->since_ns = tm_clock_ns();
    } else if (mark && (int64_t)((tm_clock_ns() - watch->since_ns) * 1000) >= pool->lease_ps) {
        tm_lease_break(pool->run, pool->out, task->batch_run, task->part, mark);
        return true;
    }
    return !mark;
}

/* Wait for the items of others, looking more and more rarely.  out: some of them are free now */
static bool wait_for_others(struct tm_batch_pool *pool)
{
    const int64_t most_ms = pool->lease_ps / 1000000000 / 10;
    int64_t pause_ms = PAUSE_LEAST_MS;

    for (;;) {
        size_t waiting = 0, free_count = 0;

        for (size_t i = 0; i < pool->count && !tm_failed(pool->run); i++) {
            if (!pool->watches[i].is_others || has_ended(pool, i))
                continue;
            waiting++;
            free_count += watch_item(pool, i);
        }
        if (tm_failed(pool->run) || free_count || !waiting)
            return free_count > 0 && !tm_failed(pool->run);
        show_progress(pool);
        (void)nanosleep(&(struct timespec){ .tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000 }, NULL);
        if (pause_ms < most_ms && pause_ms < PAUSE_MOST_MS)
            pause_ms += pause_ms / 2;
    }
}

static void tick(void *of)
{
    const struct tm_batch_pool *const pool = of;

    for (size_t i = 0; i < pool->lease_count; i++)
        tm_lease_renew(&pool->leases[i], pool->lease_ps);
    show_progress(of);
}

/* --- the pool --- */

static int begin_task(void *of, size_t index)
{
    const struct tm_batch_pool *pool = of;

    return tm_batch_item_work(pool, &pool->tasks[index]);
}

static tm_status end_task(void *of, size_t index, const struct tm_outcome *outcome)
{
    struct tm_batch_pool *pool = of;
    const struct tm_batch_task *task = &pool->tasks[index];

    pool->ended++;
    pool->weight_done += task->weight;
    pool->counts->worked++;
    pool->counts->troubled += outcome->kind != TM_OUTCOME_EXIT || outcome->number != 0;
    if (outcome->kind == TM_OUTCOME_TIME) {
        (void)fail_time(pool, task);
    } else if (outcome->kind == TM_OUTCOME_SIGNAL) {
        (void)fail_signal(pool, task, outcome);
    } else if (outcome->number != 0 && outcome->number != TM_PARTIAL) {
        (void)fail_exit(pool, task, outcome);
    } else {
        pool->counts->done += outcome->number == 0;
        pool->counts->partial += outcome->number == TM_PARTIAL;
    }
    give_item(pool, index);
    return pool->run->error.status;
}

/* Room for the leases of this process. */
static tm_status start_leases(struct tm_batch_pool *pool, unsigned jobs)
{
    struct tm_budget *const budget = &pool->run->budget;

    pool->lease_count = jobs;
    pool->leases = tm_take(budget, TM_ACCOUNT_MODEL, jobs * sizeof(*pool->leases), &pool->run->error);
    if (pool->leases)
        pool->watches = tm_take(budget, TM_ACCOUNT_MODEL, pool->count * sizeof(*pool->watches), &pool->run->error);
    return pool->run->error.status;
}

static void end_leases(struct tm_batch_pool *pool)
{
    struct tm_budget *const budget = &pool->run->budget;

    if (!pool->leases)
        return;
    if (pool->watches && !tm_leases_end(pool->out)) {
        for (size_t i = 0; i < pool->count; i++)
            if (pool->watches[i].is_ended)
                tm_lease_drop(pool->run, pool->out, pool->tasks[i].batch_run, pool->tasks[i].part);
        (void)tm_leases_end(pool->out);
    }
    if (pool->watches)
        tm_give(budget, TM_ACCOUNT_MODEL, pool->watches, pool->count * sizeof(*pool->watches));
    tm_give(budget, TM_ACCOUNT_MODEL, pool->leases, pool->lease_count * sizeof(*pool->leases));
    pool->leases = NULL;
    pool->watches = NULL;
}

static void work_leased(struct tm_batch_pool *pool, struct tm_work *work)
{
    work->wants = take_item;
    work->tick = tick;
    if (!start_leases(pool, work->jobs)) {
        do
            tm_work_all(pool->run, work);
        while (!tm_failed(pool->run) && wait_for_others(pool));
    }
    end_leases(pool);
}

tm_status tm_batch_pool_work(struct tm_batch_pool *pool)
{
    const struct tm_options *o = pool->options;
    struct tm_work work = { .of = pool,
                            .count = pool->count,
                            .memory_bytes = o->memory_bytes,
                            .time_ps = o->item_time_ps,
                            .work = begin_task,
                            .ended = end_task,
                            .tick = show_progress };

    if (!pool->count)
        return TM_OK;
    for (size_t i = 0; i < pool->count; i++)
        pool->weight += pool->tasks[i].weight;
    pool->begin_ns = tm_clock_ns();
    if (!tm_jobs_choose(pool->run, o->jobs, o->memory_bytes, o->force, &work.jobs)) {
        pool->jobs = pool->count < work.jobs ? work.jobs / (unsigned)pool->count : 1;
        if (pool->lease_ps)
            work_leased(pool, &work);
        else
            tm_work_all(pool->run, &work);
    }
    tm_progress_end(&pool->run->progress);
    if (pool->failures)
        (void)fprintf(stderr, "tracemill: warning: %zu of %zu %s failed; %s\n", pool->failures, pool->count, pool->what,
                      pool->first_failure);
    return pool->run->error.status;
}

/* Processing the items of a share: those that are not done, each in its own process. */

/* --- before --- */

static void check_formats(struct tm_run *run, const struct tm_options *options)
{
    if (options->redact) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                      "cannot process a batch with --redact: its history contains the "
                      "names");
        tm_hint(&run->error, "create reports for others with 'tracemill report --redact'");
    }
    if (options->formats & (TM_FORMAT_PERFETTO | TM_FORMAT_PFTRACE)) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%s' for --format: a batch writes no traces",
                      options->formats & TM_FORMAT_PERFETTO ? "perfetto" : "pftrace");
        tm_hint(&run->error, "'tracemill convert' writes the trace of a run");
    }
}

tm_status tm_batch_check(struct tm_run *run, const struct tm_options *options, const char *out)
{
    struct tm_thresholds thresholds;

    check_formats(run, options);
    if (!out) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot process a batch without an output folder");
        tm_hint(&run->error, "set it with -o OUT");
    } else {
        tm_mirror_check(run, options, out);
    }
    if (options->thresholds && !tm_failed(run) && !tm_thresholds_init(&thresholds, &run->error))
        tm_thresholds_read(&thresholds, options->thresholds, &run->error); /* once, and not by each worker */
    return tm_failed(run) ? run->error.status : tm_check_folder(run, out);
}

/* Whether a manifest is one that `batch submit` made for its tasks: it names what was missing only.  Both paths are as
 * its scripts have them. */
static bool is_handed_out(const char *out, const char *path)
{
    const size_t length = strlen(out);

    return path && strncmp(path, out, length) == 0 &&
           (strncmp(path + length, "/slurm/", 7) == 0 || strncmp(path + length, "/kubernetes/", 12) == 0);
}

/* --- which items --- */

struct tm_batch_task tm_batch_task_of(const struct tm_batch_item *item)
{
    struct tm_batch_task task = { .batch_run = item->run,
                                  .part = item->run->files > 1 ? item->file : NULL,
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

    *status = TM_RESULT_MISSING;
    if (tm_out_item_folder(pool->run, pool->out, task->batch_run, task->part, folder))
        return pool->run->error.status;
    *status = tm_result_look(pool->run, folder, task->fingerprint, tm_batch_options_of(pool, task->part), NULL);
    if (*status == TM_RESULT_MISSING)
        *status = tm_batch_pruned(pool, task->batch_run);
    return pool->run->error.status;
}

enum tm_result_status tm_batch_pruned(const struct tm_batch_pool *pool, const struct tm_batch_run *batch_run)
{
    char folder[TM_OUT_PATH_BYTES], fingerprint[TM_FINGERPRINT_BYTES];

    if (tm_out_item_folder(pool->run, pool->out, batch_run, NULL, folder))
        return TM_RESULT_MISSING;
    tm_run_fingerprint(batch_run, fingerprint);
    return tm_result_pruned(pool->run, folder, fingerprint);
}

void tm_batch_count_standing(struct tm_batch_counts *counts, enum tm_result_status status)
{
    counts->done += status == TM_RESULT_DONE;
    counts->partial += status == TM_RESULT_PARTIAL;
    counts->refused += status == TM_RESULT_REFUSED;
}

/* The items that are not done, in their order. */
static void choose_tasks(struct tm_batch_pool *pool, const struct tm_batch_item *items, size_t count,
                         struct tm_batch_task *tasks)
{
    for (size_t i = 0; i < count; i++) {
        const struct tm_batch_task task = tm_batch_task_of(&items[i]);
        enum tm_result_status status;

        if (tm_batch_task_look(pool, &task, &status))
            return;
        if (tm_result_stands(status, pool->options->retry))
            tm_batch_count_standing(pool->counts, status);
        else
            tasks[pool->count++] = task;
    }
    pool->counts->runs += count;
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

/* What keeps others from working on the share of this process. */
struct locks {
    int folder;
    struct tm_share_lock share;
};

static void take_locks(const struct tm_batch_pool *pool, struct tm_shard shard, struct locks *locks)
{
    const bool is_share = shard.count > 1;

    if (!tm_make_folder(pool->run, pool->out) &&
        !tm_out_lock(pool->run, pool->out, is_share || pool->lease_ps ? TM_LOCK_SHARE : TM_LOCK_ALONE,
                     &locks->folder) &&
        is_share)
        tm_out_lock_share(pool->run, pool->out, shard, &locks->share);
}

static void give_locks(struct locks *locks)
{
    tm_out_unlock_share(&locks->share);
    if (locks->folder >= 0)
        (void)close(locks->folder);
}

static void work_tasks(struct tm_batch_pool *pool, const struct tm_manifest *manifest, bool is_of_items)
{
    if (!is_of_items && !is_handed_out(pool->out, pool->options->manifest))
        tm_manifest_save(manifest, pool->out, TM_MANIFEST_FILE, NULL);
    if (!tm_failed(pool->run))
        tm_batch_pool_work(pool);
}

/* tm_want_item: the items that --item names: by their index among all of the manifest, by run, or by run and host. */
struct named_item {
    const char *name;
    uint64_t index, wanted; /* wanted: UINT64_MAX = the name is not a number */
};

static bool is_named(void *of, const struct tm_batch_item *item)
{
    struct named_item *const named = of;
    const char *const id = item->run->id;
    const size_t length = strlen(id);

    if (named->wanted != UINT64_MAX)
        return named->index++ == named->wanted;
    return strncmp(named->name, id, length) == 0 &&
           (!named->name[length] ||
            (strchr("/ ", named->name[length]) && strcmp(named->name + length + 1, item->file->id) == 0));
}

/* Ids end with sixteen digits of a hash. */
static struct named_item read_name(const char *name)
{
    struct named_item named = { .name = name, .wanted = UINT64_MAX };
    const char *at = name;
    uint64_t number;

    if (name && strlen(name) < 16 && tm_take_digits(&at, &number) && !*at)
        named.wanted = number;
    return named;
}

tm_status tm_batch_work(struct tm_run *run, const struct tm_options *options, const struct tm_manifest *manifest,
                        const char *out, const struct tm_batch_share *share, struct tm_batch_counts *counts)
{
    struct tm_batch_pool pool = {
        .run = run, .options = options, .out = out, .what = "traces", .counts = counts, .lease_ps = share->lease_ps
    };
    struct named_item named = read_name(share->item);
    struct locks locks = { .folder = -1, .share = { .fd = -1 } };
    struct tm_batch_item *items = NULL;
    struct tm_batch_task *tasks = NULL;
    size_t count = 0, bytes;

    /* Shares are of all items, done or not: each process sees others of them done. */
    if (!tm_batch_pool_options(&pool))
        tm_batch_items(manifest, share->shard.index, share->shard.count, share->item ? is_named : NULL, &named, &items,
                       &count);
    if (!tm_failed(run) && share->item && !count) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "there is no item '%s' in '%s'", share->item, options->manifest);
        tm_hint(&run->error, "an item is a number below %zu, ID, or ID/HOST", manifest->files);
    }
    /* The finished items are known after all other processes have left this share. */
    if (!tm_failed(run) && !options->dry_run)
        take_locks(&pool, share->shard, &locks);
    bytes = (count + 1) * sizeof(struct tm_batch_task);
    if (!tm_failed(run))
        pool.tasks = tasks = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    if (tasks)
        choose_tasks(&pool, items, count, tasks);
    if (!tm_failed(run) && options->dry_run)
        print_tasks(&pool);
    else if (!tm_failed(run))
        work_tasks(&pool, manifest, share->is_of_items);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, tasks, tasks ? bytes : 0);
    tm_batch_items_free(run, items, count);
    give_locks(&locks);
    return run->error.status;
}

static tm_status run_manifest(struct tm_run *run, const struct tm_options *options, const struct tm_manifest *manifest)
{
    struct tm_batch_share share = { .shard = { .count = 1 }, .lease_ps = options->lease_ps };
    struct tm_batch_counts counts = { .runs = 0 };

    if (options->lease_ps && options->shard.count) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use both --shard and --lease");
        tm_hint(&run->error, "with --lease, a worker takes remaining items; with --shard, its share of all items");
    } else if (!options->lease_ps) {
        (void)tm_shard_choose(run, options->shard, &share.shard);
    }
    if (tm_failed(run) || tm_batch_work(run, options, manifest, options->output, &share, &counts))
        return run->error.status;
    return tm_batch_close(run, options, &counts);
}

static tm_status run_batch_run(struct tm_run *run, const struct tm_options *options)
{
    struct tm_manifest manifest = { .run = NULL };
    tm_status st;

    tm_batch_check(run, options, options->output);
    if (!options->manifest) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot process a batch without a manifest");
        tm_hint(&run->error, "'tracemill batch scan ROOT -o FILE' writes one, for --manifest FILE");
    }
    if (!tm_failed(run))
        tm_manifest_read(&manifest, run, options->manifest);
    st = tm_failed(run) ? run->error.status : run_manifest(run, options, &manifest);
    tm_manifest_free(&manifest);
    return st;
}

/* clang-format off */
const struct tm_verb tm_batch_run_verb = {
    .name = "batch run",
    .summary = "process the traces of a manifest, or a share of them",
    .usage = "--manifest FILE -o OUT [--shard I/N] [--jobs N] [OPTION...]",
    .description =
        "Writes a report for each run of the manifest, or a partial for each host of a multi-host run, with one "
        "process per trace, the largest first. Finished items are skipped.",
    .examples =
        "tracemill batch run --manifest manifest.jsonl -o perf --jobs 8    on one machine\n"
        "tracemill batch run --manifest manifest.jsonl -o perf --shard 3/16    a share of sixteen\n",
    .bit = TM_FOR_BATCH_RUN,
    .flags = TM_VERB_SPILLS,
    .run = run_batch_run,
};
/* clang-format on */

/* --- items that an engine hands out --- */

/* The time after which an item of a killed process is taken over. */
#define ITEM_LEASE_PS INT64_C(60000000000000)

static tm_status work_items(struct tm_run *run, const struct tm_options *options, const struct tm_manifest *manifest)
{
    const struct tm_batch_share share = { .shard = { .count = 1 },
                                          .item = options->item,
                                          .is_of_items = true,
                                          .lease_ps = options->lease_ps ? options->lease_ps : ITEM_LEASE_PS };
    struct tm_batch_counts counts = { .runs = 0 };

    if (tm_batch_work(run, options, manifest, options->output, &share, &counts))
        return run->error.status;
    return tm_batch_close(run, options, &counts);
}

static tm_status run_batch_item(struct tm_run *run, const struct tm_options *options)
{
    struct tm_manifest manifest = { .run = NULL };
    tm_status st;

    tm_batch_check(run, options, options->output);
    if (!tm_failed(run) && !options->manifest != !options->item) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "--manifest and --item are used together");
        tm_hint(&run->error, "without them, lines of a manifest are read from stdin");
    }
    if (!tm_failed(run) && options->manifest)
        tm_manifest_read(&manifest, run, options->manifest);
    else if (!tm_failed(run))
        tm_manifest_read_lines(&manifest, run);
    st = tm_failed(run) ? run->error.status : work_items(run, options, &manifest);
    tm_manifest_free(&manifest);
    return st;
}

/* clang-format off */
const struct tm_verb tm_batch_item_verb = {
    .name = "batch item",
    .summary = "process one line of a manifest, for workflow engines",
    .usage = "-o OUT [--manifest FILE --item ITEM] [OPTION...]",
    .description =
        "Reads a line of a manifest from stdin, or takes an item of FILE, and writes its result into OUT: the report of a "
        "run, or the partials of its hosts. A valid result is kept. Processing the same item several times, also at the "
        "same time, gives the same result; the exit status is 4 if it is not done. 'batch merge' follows, after the "
        "manifest was written to OUT/manifest.jsonl.",
    .examples =
        "tail -n +2 perf/manifest.jsonl | parallel --pipe -N1 tracemill batch item -o perf    each line in a task\n"
        "tracemill batch item --manifest perf/manifest.jsonl --item 17 -o perf    the eighteenth trace\n",
    .bit = TM_FOR_BATCH_ITEM,
    .flags = TM_VERB_SPILLS,
    .run = run_batch_item,
};
/* clang-format on */
