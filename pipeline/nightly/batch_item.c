/* SPDX-License-Identifier: Apache-2.0 */
/* One item of a batch: what its process does. */
#include "pipeline/nightly/batch.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/commands/commands.h"
#include "pipeline/doc/doc.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/result.h"
#include "pipeline/remote.h"
#include "pipeline/run.h"
#include "reports/compare/compare.h"
#include "reports/findings/summary_query.h"

/* What a process of a batch does: one report, or one partial, and its result.  It has its own run: ledger, tallies,
 * error.  The inputs are examined before and after, so that a result matches its fingerprint. */

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

    if (tm_remote_is(path))
        return true; /* another version is seen by the next scan */
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
    /* the folder of a member is not a path, and one in a bucket would be listed */
    t->operand = file_of(t)->member || tm_remote_is(t->path) ? t->path : t->run_path;
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
    t->options.jobs = t->pool->joins ? t->pool->jobs : 1; /* the pool has as many as the machine is for */
    t->options.thresholds = t->task->part ? NULL : o->thresholds;
    t->options.title = t->options.run_name = t->options.redact_map = NULL;
    t->options.latest = t->options.json = t->options.stats = t->options.redact = false;
    if (t->pool->joins)
        prepare_join(t);
    else
        prepare_file(t);
}

/* --- its longest operations and scopes --- */

/* What the history keeps of them, so that the time of one of them can be followed over nights. */

struct timed {
    const char *name; /* in the summary */
    double ps;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct timed *)a)->name, ((const struct timed *)b)->name);
}

static int by_time(const void *a, const void *b)
{
    const struct timed *const x = a, *const y = b;

    return x->ps != y->ps ? (x->ps > y->ps ? -1 : 1) : strcmp(x->name, y->name);
}

/* Rows of the same name become one: an operation of several programs, a scope in several passes. */
static size_t join(struct timed *row, size_t count)
{
    size_t joined = 0;

    if (count > 1)
        qsort(row, count, sizeof(*row), by_name);
    for (size_t i = 0; i < count; i++) {
        if (joined > 0 && strcmp(row[joined - 1].name, row[i].name) == 0)
            row[joined - 1].ps += row[i].ps;
        else
            row[joined++] = row[i];
    }
    if (joined > 1)
        qsort(row, joined, sizeof(*row), by_time);
    return joined;
}

static void add_longest(struct tm_value *to, const struct timed *row, size_t count, double device_steps)
{
    for (size_t i = 0; i < count && i < TM_RESULT_OPS_MOST; i++) {
        const double ps = round(row[i].ps / device_steps);
        char name[TM_RESULT_OP_BYTES];
        struct tm_value *one;

        if (ps < 1)
            break;
        tm_clean_text(name, sizeof(name), row[i].name, strlen(row[i].name));
        if (!*name)
            continue;
        one = tm_add_object(to, NULL);
        tm_add_string(one, "name", name);
        tm_add_double(one, "time_ps", ps);
    }
}

/* in: list  path of the rows in the summary;  name, time  of a row */
static void add_list(struct tm_run *run, struct tm_value *to, const struct tm_value *rows, const char *name,
                     const char *time, double device_steps)
{
    const size_t bytes = (tm_length(rows) + 1) * sizeof(struct timed);
    struct timed *const row = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    size_t count = 0;

    if (!row)
        return;
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct timed one = { tm_text(tm_get(tm_at(rows, i), name)), tm_double(tm_get(tm_at(rows, i), time)) };

        if (*one.name && one.ps > 0)
            row[count++] = one;
    }
    add_longest(to, row, join(row, count), device_steps);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, row, bytes);
}

/* Fill "ops" and "scopes": [{"name", "time_ps"}], the TM_RESULT_OPS_MOST longest ones, in picoseconds per step and
 * device; none if no steps are marked.  Operations count by their self time, scopes by that of all operations in them;
 * those of the same name add up. */
static void add_ops(struct tm_run *run, struct tm_value *to, const struct tm_value *summary)
{
    const double device_steps = tm_has_steps(summary) ? tm_device_steps(summary) : 0;
    struct tm_value *const ops = tm_add_array(to, "ops"), *const scopes = tm_add_array(to, "scopes");

    if (!(device_steps > 0))
        return;
    add_list(run, ops, tm_path(summary, "ops.rows"), "name", "self_ps", device_steps);
    add_list(run, scopes, tm_path(summary, "scopes.rows"), "path", "total_ps", device_steps);
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
                                     .options = tm_batch_options_of(t->pool, t->task->part),
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
    if (!t->task->part) {
        tm_result_figures(tm_doc_root(doc), summary);
        add_ops(t->run, tm_doc_root(doc), summary);
    }
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

    if (tm_out_item_folder(t->run, t->pool->out, t->task->batch_run, t->task->part, t->folder))
        return t->run->error.status;
    /* Another process may have done the same meanwhile: a valid result is not removed. */
    if (!t->pool->joins) {
        const enum tm_result_status status =
            tm_result_look(t->run, t->folder, t->task->fingerprint, tm_batch_options_of(t->pool, t->task->part), NULL);

        if (status == TM_RESULT_DONE || status == TM_RESULT_PARTIAL)
            return status == TM_RESULT_DONE ? TM_OK : TM_PARTIAL;
    }
    if (tm_result_remove(t->run, t->folder, list, count))
        return t->run->error.status;
    prepare(t);
    return tm_failed(t->run) ? t->run->error.status : tm_report_make(t->run, &t->options, &taker);
}

int tm_batch_item_work(const struct tm_batch_pool *pool, const struct tm_batch_task *task)
{
    static struct tm_run run;
    static struct task t;
    tm_status st;

    run = (struct tm_run){ .spill_dir = pool->run->spill_dir,
                           .limit_times = pool->options->limit_times,
                           .strict = pool->options->strict,
                           .quiet = true,
                           .follow_links = pool->options->follow_links,
                           .helpers = pool->options->helpers };
    tm_budget_init(&run.budget, pool->options->memory_bytes);
    tm_budget_add_spare(&run.budget);
    run.progress = (struct tm_progress){ .phase = "" };
    t = (struct task){ .pool = pool, .task = task, .run = &run };
    st = work(&t);
    tm_batch_parts_free(&t.parts);
    tm_close_left_open(&run);
    if (!tm_failed(&run))
        return tm_tally_losses(&run.tallies, run.tally_use) > 0 ? TM_PARTIAL : (int)st;
    tm_error_print(&run.error, stderr);
    if (t.has_changed)
        return TM_BATCH_CHANGED;
    return st == TM_ERR_INPUT && run.error.problem ? TM_BATCH_UNREADABLE : (int)st;
}

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

const char *tm_batch_options_of(const struct tm_batch_pool *pool, const struct tm_batch_file *part)
{
    return part ? pool->part_options : pool->report_options;
}

bool tm_batch_item_has_changed(const struct tm_batch_pool *pool, const struct tm_batch_task *task)
{
    const struct tm_batch_file *file = task->part ? task->part : &task->batch_run->file[0];
    char path[TM_OUT_PATH_BYTES];

    if (pool->joins)
        return false;
    return tm_input_path(pool->run, task->batch_run, file, path) || !batch_is_as_scanned(pool->run, path, file);
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
