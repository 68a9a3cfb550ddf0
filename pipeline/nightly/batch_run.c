/* SPDX-License-Identifier: Apache-2.0 */
/* A share of a manifest, and the last words about it. */
#include "pipeline/nightly/batch.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/result.h"
#include "reports/findings/summary_query.h"
#include "reports/findings/thresholds.h"
#include "stages/input/bytes/archive.h"

/* What a worker does: the exit status of the process.  TM_BATCH_CHANGED: the input is not what was scanned;
 * TM_BATCH_UNREADABLE: the system could not read it, whatever is in it, as when storage fails. */
enum { TM_BATCH_CHANGED = 64, TM_BATCH_UNREADABLE };

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

/* Report the state of the items of a batch: a line on a terminal, a document with --json.
 * errors: TM_PARTIAL if one is not done, or of a damaged input; TM_ERR_OUTPUT */
static tm_status batch_close(struct tm_run *run, const struct tm_options *options, const struct tm_batch_counts *counts)
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

/* What a process of a batch does: one report, or one partial, and its result.  It has its own run: ledger, tallies,
 * error.  The inputs are examined before and after, so that a result matches its fingerprint. */

static const char *batch_pool_options_of(const struct tm_batch_pool *pool, const struct tm_batch_file *part);
static bool has_changed(const struct tm_batch_pool *pool, const struct tm_batch_task *task);

struct task {
    const struct tm_batch_pool *pool;
    const struct tm_batch_task *task;
    struct tm_run *run;
    struct tm_options options;
    struct tm_input_choice choice;
    struct tm_batch_parts parts; /* of a join */
    char folder[TM_OUT_PATH_BYTES], run_path[TM_OUT_PATH_BYTES], path[TM_OUT_PATH_BYTES];
    char *operand;
    bool has_changed;
};

size_t tm_batch_outputs(uint32_t formats, char names[TM_BATCH_OUTPUTS_MOST][64],
                        const char *list[TM_BATCH_OUTPUTS_MOST])
{
    size_t count = 0;

    while (count < TM_BATCH_OUTPUTS_MOST &&
           (list[count] = tm_document_file(names[count], NULL, formats, count)) != NULL)
        count++;
    return count;
}

/* --- inputs --- */

/* The file that is the task's only input. */
static const struct tm_batch_file *file_of(const struct task *t)
{
    return t->task->part ? t->task->part : &t->task->batch_run->file[0];
}

/* Whether a file matches the manifest; one that could not be read then may not be readable now. */
static bool batch_is_as_scanned(struct tm_run *run, const char *path, const struct tm_batch_file *file)
{
    const struct tm_error before = run->error;
    char fingerprint[TM_FINGERPRINT_BYTES];
    uint64_t bytes;
    int64_t mtime_ns;

    if (tm_file_fingerprint(run, path, &bytes, &mtime_ns, fingerprint))
        fingerprint[0] = '\0';
    run->error = before;
    return strcmp(fingerprint, file->fingerprint) == 0;
}

static tm_status check_input(struct task *t)
{
    if (tm_failed(t->run) || t->pool->joins || batch_is_as_scanned(t->run, t->path, file_of(t)))
        return t->run->error.status;
    t->has_changed = true;
    return tm_fail(&t->run->error, TM_ERR_INPUT, -1, "'%s' has changed since it was scanned", t->path);
}

/* A link that points outside ROOT, from the manifest or created since. */
static void check_place(struct task *t)
{
    const char *const root = t->task->batch_run->root;
    char real[PATH_MAX]; /* another machine may have links on the way to the root */
    bool leads_out;

    t->run->links_root = root;
    if (t->run->follow_links || !realpath(root, real) || tm_leads_out(real, t->path, &leads_out) != 0 || !leads_out)
        return; /* opening it reports what cannot be followed */
    (void)tm_fail(&t->run->error, TM_ERR_INPUT, -1, "'%s' points outside '%s'", t->path, root);
    tm_hint(&t->run->error, "--follow-links follows links to any location");
}

static void prepare_file(struct task *t)
{
    const struct tm_batch_run *r = t->task->batch_run;
    const struct tm_batch_file place = { .path = r->path };

    if (tm_input_path(t->run, r, &place, t->run_path) || tm_input_path(t->run, r, file_of(t), t->path))
        return;
    t->operand = file_of(t)->member ? t->path : t->run_path; /* the folder of a member is not a path */
    t->choice = (struct tm_input_choice){ .path = t->path, .member = file_of(t)->member, .run_name = r->name };
    t->options.inputs = &t->operand;
    t->options.input_count = 1;
    check_place(t);
    (void)check_input(t);
}

static void prepare_join(struct task *t)
{
    tm_batch_parts_find(&t->parts, t->run, t->pool->out, t->task->batch_run);
    t->choice = (struct tm_input_choice){ .missing = t->parts.missing, .missing_count = t->parts.missing_count };
    t->options.inputs = t->parts.paths;
    t->options.input_count = t->parts.path_count;
}

static void prepare(struct task *t)
{
    const struct tm_options *o = t->pool->options;

    t->options = *o;
    t->options.output = t->folder;
    t->options.formats = t->task->part ? TM_FORMAT_PARTIAL : o->formats | TM_FORMAT_JSON;
    t->options.choice = &t->choice;
    t->options.jobs = 1; /* the pool has as many as the machine is for */
    t->options.thresholds = t->task->part ? NULL : o->thresholds;
    t->options.title = t->options.run_name = t->options.redact_map = NULL;
    t->options.latest = t->options.json = t->options.stats = t->options.redact = false;
    if (t->pool->joins)
        prepare_join(t);
    else
        prepare_file(t);
}

/* --- its result --- */

/* The first file with a problem, or the losses: what a partial report is partial of. */
static void tell_partial(const struct task *t, const struct tm_value *summary, char text[TM_RESULT_MESSAGE_BYTES])
{
    const struct tm_value *files = tm_path(summary, "input.files");
    const uint64_t losses = tm_tally_losses(&t->run->tallies, t->run->tally_use);

    for (size_t i = 0; i < tm_length(files); i++) {
        const char *problem = tm_text(tm_path(tm_at(files, i), "problems[0]"));

        if (!tm_is(tm_get(tm_at(files, i), "partial")))
            continue;
        (void)snprintf(text, TM_RESULT_MESSAGE_BYTES, "'%.400s': %.500s", tm_text(tm_get(tm_at(files, i), "path")),
                       problem[0] ? problem : "it is damaged");
        return;
    }
    (void)snprintf(text, TM_RESULT_MESSAGE_BYTES, "the figures do not cover all of the input: %llu losses",
                   (unsigned long long)losses);
}

static void write_result(struct task *t, const struct tm_value *summary)
{
    const bool is_partial = tm_is(tm_path(summary, "input.partial")) || !tm_query_checks_hold(summary) ||
                            tm_tally_losses(&t->run->tallies, t->run->tally_use) > 0;
    struct tm_result_about about = { .batch_run = t->task->batch_run,
                                     .file = t->task->part,
                                     .fingerprint = t->task->fingerprint,
                                     .options = batch_pool_options_of(t->pool, t->task->part),
                                     .status = is_partial ? TM_RESULT_PARTIAL : TM_RESULT_DONE,
                                     .exit_status = is_partial ? TM_PARTIAL : TM_OK };
    char names[TM_BATCH_OUTPUTS_MOST][64], message[TM_RESULT_MESSAGE_BYTES] = "";
    const char *made[TM_BATCH_OUTPUTS_MOST];
    const size_t count = tm_batch_outputs(t->options.formats, names, made);
    struct tm_doc *doc = tm_doc_new(t->run);

    if (!doc)
        return;
    if (is_partial)
        tell_partial(t, summary, message);
    about.message = message;
    tm_result_fill(doc, &about);
    if (!t->task->part)
        tm_result_figures(tm_doc_root(doc), summary);
    tm_result_list(doc, t->folder, made, count);
    tm_result_write(t->run, t->folder, doc);
    tm_doc_free(doc);
}

/* All files have their names. */
static tm_status take_summary(void *to, const struct tm_value *summary)
{
    struct task *t = to;

    if (!check_input(t))
        write_result(t, summary);
    return t->run->error.status;
}

/* --- the work --- */

static tm_status work(struct task *t)
{
    const struct tm_report_taker taker = { take_summary, t };
    char names[TM_BATCH_OUTPUTS_MOST][64];
    const char *list[TM_BATCH_OUTPUTS_MOST];
    const size_t count = tm_batch_outputs(UINT32_MAX, names, list);

    if (tm_out_item_folder(t->run, t->pool->out, t->task->batch_run, t->task->part, t->folder) ||
        tm_result_remove(t->run, t->folder, list, count))
        return t->run->error.status;
    prepare(t);
    return tm_failed(t->run) ? t->run->error.status : tm_report_make(t->run, &t->options, &taker);
}

static int batch_pool_task(const struct tm_batch_pool *pool, const struct tm_batch_task *task)
{
    static struct tm_run run;
    static struct task t;
    tm_status st;

    run = (struct tm_run){ .spill_dir = pool->run->spill_dir,
                           .limit_times = pool->options->limit_times,
                           .strict = pool->options->strict,
                           .quiet = true,
                           .follow_links = pool->options->follow_links };
    tm_budget_init(&run.budget, pool->options->memory_bytes);
    tm_budget_add_spare(&run.budget);
    run.progress = (struct tm_progress){ .phase = "" };
    t = (struct task){ .pool = pool, .task = task, .run = &run };
    st = work(&t);
    tm_batch_parts_free(&t.parts);
    tm_archive_end(&run);
    if (!tm_failed(&run))
        return tm_tally_losses(&run.tallies, run.tally_use) > 0 ? TM_PARTIAL : (int)st;
    tm_error_print(&run.error, stderr);
    if (t.has_changed)
        return TM_BATCH_CHANGED;
    return st == TM_ERR_INPUT && run.error.problem ? TM_BATCH_UNREADABLE : (int)st;
}

/* Tasks of a batch in a pool of processes: what their ends mean, the results of those that failed, the progress
 * line. */

/* --- options --- */

/* A partial has the data that was read, not its presentation: options that only affect reports are ignored. */
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

    tm_options_fingerprint(pool->run, pool->options, pool->report_options);
    return tm_options_fingerprint(pool->run, &parts, pool->part_options);
}

static const char *batch_pool_options_of(const struct tm_batch_pool *pool, const struct tm_batch_file *part)
{
    return part ? pool->part_options : pool->report_options;
}

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
    const struct tm_result_about about = { .batch_run = task->batch_run,
                                           .file = task->part,
                                           .fingerprint = task->fingerprint,
                                           .options = batch_pool_options_of(pool, task->part),
                                           .status = status,
                                           .exit_status = exit_status,
                                           .message = message,
                                           .hint = hint };
    char names[TM_BATCH_OUTPUTS_MOST][64], folder[TM_OUT_PATH_BYTES];
    const char *list[TM_BATCH_OUTPUTS_MOST];
    const size_t count = tm_batch_outputs(UINT32_MAX, names, list);
    struct tm_doc *doc = NULL;

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

static bool has_changed(const struct tm_batch_pool *pool, const struct tm_batch_task *task)
{
    const struct tm_batch_file *file = task->part ? task->part : &task->batch_run->file[0];
    char path[TM_OUT_PATH_BYTES];

    if (pool->joins)
        return false;
    return tm_input_path(pool->run, task->batch_run, file, path) || !batch_is_as_scanned(pool->run, path, file);
}

static tm_status fail_exit(struct tm_batch_pool *pool, const struct tm_batch_task *task,
                           const struct tm_outcome *outcome)
{
    const bool is_unreadable = outcome->number == TM_BATCH_UNREADABLE;
    const int number = is_unreadable ? TM_ERR_INPUT : outcome->number;
    char message[TM_RESULT_MESSAGE_BYTES], hint[TM_RESULT_MESSAGE_BYTES];
    enum tm_result_status status = TM_RESULT_FAILED;

    if (number == TM_BATCH_CHANGED || (number == TM_ERR_INPUT && has_changed(pool, task)))
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

/* --- the pool --- */

static int begin_task(void *of, size_t index)
{
    const struct tm_batch_pool *pool = of;

    return batch_pool_task(pool, &pool->tasks[index]);
}

static tm_status end_task(void *of, size_t index, const struct tm_outcome *outcome)
{
    struct tm_batch_pool *pool = of;
    const struct tm_batch_task *task = &pool->tasks[index];

    pool->ended++;
    pool->weight_done += task->weight;
    pool->counts->worked++;
    pool->counts->troubled += outcome->kind != TM_OUTCOME_EXIT || outcome->number != 0;
    if (outcome->kind == TM_OUTCOME_TIME)
        return fail_time(pool, task);
    if (outcome->kind == TM_OUTCOME_SIGNAL)
        return fail_signal(pool, task, outcome);
    if (outcome->number != 0 && outcome->number != TM_PARTIAL)
        return fail_exit(pool, task, outcome);
    pool->counts->done += outcome->number == 0;
    pool->counts->partial += outcome->number == TM_PARTIAL;
    return TM_OK;
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
    if (!tm_jobs_choose(pool->run, o->jobs, o->memory_bytes, o->force, &work.jobs))
        tm_work_all(pool->run, &work);
    tm_progress_end(&pool->run->progress);
    if (pool->failures)
        (void)fprintf(stderr, "tracemill: warning: %zu of %zu %s failed; %s\n", pool->failures, pool->count, pool->what,
                      pool->first_failure);
    return pool->run->error.status;
}

/* Working the items of a share: those that are not done, each by its own process. */

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

    return path && strncmp(path, out, length) == 0 && strncmp(path + length, "/slurm/", 7) == 0;
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
    *status = tm_result_look(pool->run, folder, task->fingerprint, batch_pool_options_of(pool, task->part), NULL);
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

/* What keeps others out of what this process works. */
struct locks {
    int folder;
    struct tm_share_lock share;
};

static void take_locks(const struct tm_batch_pool *pool, struct tm_shard shard, struct locks *locks)
{
    const bool is_shared = shard.count > 1;

    if (!tm_make_folder(pool->run, pool->out) && !tm_out_lock(pool->run, pool->out, is_shared, &locks->folder) &&
        is_shared)
        tm_out_lock_share(pool->run, pool->out, shard, &locks->share);
}

static void give_locks(struct locks *locks)
{
    tm_out_unlock_share(&locks->share);
    if (locks->folder >= 0)
        (void)close(locks->folder);
}

static void work_tasks(struct tm_batch_pool *pool, const struct tm_manifest *manifest)
{
    if (!is_handed_out(pool->out, pool->options->manifest))
        tm_manifest_save(manifest, pool->out, TM_MANIFEST_FILE, NULL);
    if (!tm_failed(pool->run))
        tm_batch_pool_work(pool);
}

tm_status tm_batch_work(struct tm_run *run, const struct tm_options *options, const struct tm_manifest *manifest,
                        const char *out, struct tm_shard shard, struct tm_batch_counts *counts)
{
    struct tm_batch_pool pool = { .run = run, .options = options, .out = out, .what = "traces", .counts = counts };
    struct locks locks = { .folder = -1, .share = { .fd = -1 } };
    struct tm_batch_item *items = NULL;
    struct tm_batch_task *tasks = NULL;
    size_t count = 0, bytes;

    /* Shares are of all items, done or not: each process sees others of them done. */
    if (!tm_batch_pool_options(&pool))
        tm_batch_items(manifest, shard.index, shard.count, NULL, NULL, &items, &count);
    /* The finished items are known after all other processes have left this share. */
    if (!tm_failed(run) && !options->dry_run)
        take_locks(&pool, shard, &locks);
    bytes = (count + 1) * sizeof(struct tm_batch_task);
    if (!tm_failed(run))
        pool.tasks = tasks = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    if (tasks)
        choose_tasks(&pool, items, count, tasks);
    if (!tm_failed(run) && options->dry_run)
        print_tasks(&pool);
    else if (!tm_failed(run))
        work_tasks(&pool, manifest);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, tasks, tasks ? bytes : 0);
    tm_batch_items_free(run, items, count);
    give_locks(&locks);
    return run->error.status;
}

static tm_status run_manifest(struct tm_run *run, const struct tm_options *options, const struct tm_manifest *manifest)
{
    struct tm_batch_counts counts = { .runs = 0 };
    struct tm_shard shard;

    if (tm_shard_choose(run, options->shard, &shard) ||
        tm_batch_work(run, options, manifest, options->output, shard, &counts))
        return run->error.status;
    return batch_close(run, options, &counts);
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

/* --- parts of a run --- */

static char *keep_text(struct tm_batch_parts *parts, const char *text)
{
    return tm_take_text(&parts->run->budget, TM_ACCOUNT_MODEL, text, &parts->run->error);
}

static void add_path(struct tm_batch_parts *parts, const char *folder)
{
    char name[TM_DOCUMENT_FILE_BYTES], path[TM_OUT_PATH_BYTES];

    if (tm_out_path(parts->run, folder, tm_document_file(name, NULL, TM_FORMAT_PARTIAL, 0), path))
        return;
    parts->paths[parts->path_count] = keep_text(parts, path);
    if (parts->paths[parts->path_count])
        parts->path_count++;
}

/* Why it is missing, to follow its path: "it is empty (0 bytes)" if the message starts with that. */
static void tell_problem(const char *path, const char *message, char problem[TM_RESULT_MESSAGE_BYTES])
{
    const size_t length = strlen(path);

    if (message[0] == '\'' && strncmp(message + 1, path, length) == 0 && strncmp(message + 1 + length, "' is ", 5) == 0)
        (void)snprintf(problem, TM_RESULT_MESSAGE_BYTES, "it is %.900s", message + length + 6);
    else
        (void)snprintf(problem, TM_RESULT_MESSAGE_BYTES, "it is missing: %.900s",
                       message[0] ? message : "it was not processed");
}

static void add_missing(struct tm_batch_parts *parts, const struct tm_batch_run *batch_run,
                        const struct tm_batch_file *file, enum tm_result_status status, const char *message)
{
    char path[TM_OUT_PATH_BYTES], problem[TM_RESULT_MESSAGE_BYTES];

    if (tm_input_path(parts->run, batch_run, file, path))
        return;
    tell_problem(path, message, problem);
    if (!parts->missing_count)
        (void)snprintf(parts->message, sizeof(parts->message), "'%.128s': %.800s", file->host, problem);
    parts->missing[parts->missing_count++] = (struct tm_missing_input){ .path = keep_text(parts, path),
                                                                        .bytes = file->bytes,
                                                                        .problem = keep_text(parts, problem) };
    if (parts->missing_count == 1 || status > parts->worst)
        parts->worst = status;
}

static bool find_part(struct tm_batch_parts *parts, const char *out, const struct tm_batch_run *batch_run,
                      const struct tm_batch_file *file)
{
    char folder[TM_OUT_PATH_BYTES], message[TM_RESULT_MESSAGE_BYTES];
    enum tm_result_status status;

    if (tm_out_item_folder(parts->run, out, batch_run, file, folder))
        return false;
    /* Reading them reports, with the remedy, if they were made with other options. */
    status = tm_result_look(parts->run, folder, file->fingerprint, NULL, message);
    if (status != TM_RESULT_DONE && status != TM_RESULT_PARTIAL) {
        add_missing(parts, batch_run, file, status, message);
        return false;
    }
    add_path(parts, folder);
    return true;
}

tm_status tm_batch_parts_find(struct tm_batch_parts *parts, struct tm_run *run, const char *out,
                              const struct tm_batch_run *batch_run)
{
    const size_t count = batch_run->files;
    struct tm_batch_run standing = *batch_run;

    *parts = (struct tm_batch_parts){ .run = run, .files = count };
    parts->paths = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*parts->paths), &run->error);
    parts->missing = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*parts->missing), &run->error);
    standing.file = parts->paths && parts->missing
                        ? tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*standing.file), &run->error)
                        : NULL;
    if (!standing.file)
        return run->error.status;
    standing.files = 0;
    for (size_t i = 0; i < count && !tm_failed(run); i++)
        if (find_part(parts, out, batch_run, &batch_run->file[i]))
            standing.file[standing.files++] = batch_run->file[i];
    tm_run_fingerprint(&standing, parts->fingerprint);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, standing.file, count * sizeof(*standing.file));
    return run->error.status;
}

void tm_batch_parts_free(struct tm_batch_parts *parts)
{
    struct tm_run *run = parts->run;

    if (!run)
        return;
    for (size_t i = 0; i < parts->path_count; i++)
        tm_give_text(&run->budget, TM_ACCOUNT_MODEL, parts->paths[i]);
    for (size_t i = 0; i < parts->missing_count; i++) {
        tm_give_text(&run->budget, TM_ACCOUNT_MODEL, parts->missing[i].path);
        tm_give_text(&run->budget, TM_ACCOUNT_MODEL, parts->missing[i].problem);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, parts->paths, parts->paths ? parts->files * sizeof(*parts->paths) : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, parts->missing,
            parts->missing ? parts->files * sizeof(*parts->missing) : 0);
    *parts = (struct tm_batch_parts){ .run = NULL };
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
