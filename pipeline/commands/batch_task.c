/* SPDX-License-Identifier: Apache-2.0 */
/* What a process of a batch does: one report, or one partial, and its result.  It has a run of its own: ledger, tallies,
 * error.  The inputs are looked at before and after, so that a result is of what its fingerprint says. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/batch/fingerprint.h"
#include "pipeline/commands/batch_pool.h"
#include "pipeline/commands/document_files.h"
#include "pipeline/commands/inputs.h"
#include "pipeline/commands/report_job.h"
#include "reports/findings/ask.h"
#include "stages/input/bytes/archive.h"

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

size_t tm_batch_outputs(uint32_t formats, char names[TM_BATCH_OUTPUTS_MOST][64], const char *list[TM_BATCH_OUTPUTS_MOST])
{
    size_t count = 0;

    while (count < TM_BATCH_OUTPUTS_MOST && (list[count] = tm_document_file(names[count], NULL, formats, count)) != NULL)
        count++;
    return count;
}

/* --- inputs --- */

/* The file that is the task's only input. */
static const struct tm_batch_file *file_of(const struct task *t)
{
    return t->task->part ? t->task->part : &t->task->batch_run->file[0];
}

bool tm_batch_is_as_scanned(struct tm_run *run, const char *path, const struct tm_batch_file *file)
{
    const struct tm_error before = run->error;
    char fingerprint[TM_FINGERPRINT_BYTES];
    uint64_t bytes;
    int64_t mtime_ns;

    if (tm_file_fingerprint(run, path, &bytes, &mtime_ns, fingerprint) != TM_OK)
        fingerprint[0] = '\0';
    run->error = before;
    return strcmp(fingerprint, file->fingerprint) == 0;
}

static tm_status check_input(struct task *t)
{
    if (t->pool->joins || tm_batch_is_as_scanned(t->run, t->path, file_of(t)))
        return TM_OK;
    t->has_changed = true;
    return tm_fail(&t->run->error, TM_ERR_INPUT, -1, "'%s' has changed since it was scanned", t->path);
}

/* A link that leads out of ROOT, whoever put it into the manifest, or there since. */
static tm_status check_place(struct task *t)
{
    const char *const root = t->task->batch_run->root;
    char real[PATH_MAX]; /* another machine may have links on the way to the root */
    bool leads_out;

    t->run->links_root = root;
    if (t->run->follow_links || !realpath(root, real) || tm_leads_out(real, t->path, &leads_out) != 0 || !leads_out)
        return TM_OK; /* what cannot be followed is told by who opens it */
    (void)tm_fail(&t->run->error, TM_ERR_INPUT, -1, "'%s' leads out of '%s'", t->path, root);
    tm_hint(&t->run->error, "--follow-links follows links wherever they lead");
    return TM_ERR_INPUT;
}

static tm_status prepare_file(struct task *t)
{
    const struct tm_batch_run *r = t->task->batch_run;
    const struct tm_batch_file place = { .path = r->path };
    tm_status st = tm_input_path(t->run, r, &place, t->run_path);

    if (st == TM_OK)
        st = tm_input_path(t->run, r, file_of(t), t->path);
    t->operand = file_of(t)->member ? t->path : t->run_path; /* the folder of a member is no path */
    t->choice = (struct tm_input_choice){ .path = t->path, .member = file_of(t)->member, .run_name = r->name };
    t->options.inputs = &t->operand;
    t->options.input_count = 1;
    if (st == TM_OK)
        st = check_place(t);
    return st == TM_OK ? check_input(t) : st;
}

static tm_status prepare_join(struct task *t)
{
    const tm_status st = tm_batch_parts_find(&t->parts, t->run, t->pool->out, t->task->batch_run);

    t->choice = (struct tm_input_choice){ .missing = t->parts.missing, .missing_count = t->parts.missing_count };
    t->options.inputs = t->parts.paths;
    t->options.input_count = t->parts.path_count;
    return st;
}

static tm_status prepare(struct task *t)
{
    const struct tm_options *o = t->pool->options;

    t->options = *o;
    t->options.output = t->folder;
    t->options.formats = t->task->part ? TM_FORMAT_PARTIAL : o->formats | TM_FORMAT_JSON;
    t->options.choice = &t->choice;
    t->options.thresholds = t->task->part ? NULL : o->thresholds;
    t->options.title = t->options.run_name = t->options.redact_map = NULL;
    t->options.latest = t->options.json = t->options.stats = t->options.redact = false;
    return t->pool->joins ? prepare_join(t) : prepare_file(t);
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
    (void)snprintf(text, TM_RESULT_MESSAGE_BYTES, "not all of the input is in the figures: %llu losses",
                   (unsigned long long)losses);
}

static tm_status write_result(struct task *t, const struct tm_value *summary)
{
    const bool is_partial = tm_is(tm_path(summary, "input.partial")) || !tm_ask_checks_hold(summary) ||
                            tm_tally_losses(&t->run->tallies, t->run->tally_use) > 0;
    struct tm_result_about about = { .batch_run = t->task->batch_run, .file = t->task->part,
                                     .fingerprint = t->task->fingerprint,
                                     .options = tm_batch_pool_options_of(t->pool, t->task->part),
                                     .status = is_partial ? TM_RESULT_PARTIAL : TM_RESULT_DONE,
                                     .exit_status = is_partial ? TM_PARTIAL : TM_OK };
    char names[TM_BATCH_OUTPUTS_MOST][64], message[TM_RESULT_MESSAGE_BYTES] = "";
    const char *made[TM_BATCH_OUTPUTS_MOST];
    const size_t count = tm_batch_outputs(t->options.formats, names, made);
    struct tm_doc *doc = tm_doc_new(t->run);
    tm_status st;

    if (!doc)
        return t->run->error.status;
    if (is_partial)
        tell_partial(t, summary, message);
    about.message = message;
    tm_result_fill(doc, &about);
    if (!t->task->part)
        tm_history_facts(tm_doc_root(doc), summary);
    st = tm_result_list(doc, t->folder, made, count);
    if (st == TM_OK)
        st = tm_result_write(t->run, t->folder, doc);
    tm_doc_free(doc);
    return st;
}

/* All files have their names. */
static tm_status take_summary(void *to, const struct tm_value *summary)
{
    struct task *t = to;
    const tm_status st = check_input(t);

    return st == TM_OK ? write_result(t, summary) : st;
}

/* --- the work --- */

static tm_status work(struct task *t)
{
    const struct tm_report_taker taker = { take_summary, t };
    char names[TM_BATCH_OUTPUTS_MOST][64];
    const char *list[TM_BATCH_OUTPUTS_MOST];
    const size_t count = tm_batch_outputs(UINT32_MAX, names, list);
    tm_status st = tm_out_item_folder(t->run, t->pool->out, t->task->batch_run, t->task->part, t->folder);

    if (st == TM_OK)
        st = tm_result_remove(t->run, t->folder, list, count);
    if (st == TM_OK)
        st = prepare(t);
    return st == TM_OK ? tm_report_make(t->run, &t->options, &taker) : st;
}

int tm_batch_pool_task(const struct tm_batch_pool *pool, const struct tm_batch_task *task)
{
    static struct tm_run run;
    static struct task t;
    tm_status st;

    run = (struct tm_run){ .spill_dir = pool->run->spill_dir, .limit_times = pool->options->limit_times,
                            .strict = pool->options->strict, .quiet = true,
                            .follow_links = pool->options->follow_links };
    tm_budget_init(&run.budget, pool->options->memory_bytes);
    run.progress = (struct tm_progress){ .phase = "" };
    t = (struct task){ .pool = pool, .task = task, .run = &run };
    st = work(&t);
    tm_batch_parts_free(&t.parts);
    tm_archive_end(&run);
    if (st == TM_OK || st == TM_PARTIAL)
        return tm_tally_losses(&run.tallies, run.tally_use) > 0 ? TM_PARTIAL : (int)st;
    tm_error_print(&run.error, stderr);
    if (t.has_changed)
        return TM_BATCH_CHANGED;
    return st == TM_ERR_INPUT && run.error.problem ? TM_BATCH_UNREADABLE : (int)st;
}
