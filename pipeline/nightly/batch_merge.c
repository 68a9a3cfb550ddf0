/* SPDX-License-Identifier: Apache-2.0 */
/* `batch merge`: from the results in OUT to the history, the gates of its runs and the index page.  Each file that it
 * writes appears completely or not at all, the history first; ended at any moment, it is run again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/files.h"
#include "pipeline/nightly/batch.h"
#include "pipeline/nightly/batch_mirror.h"
#include "pipeline/nightly/leases.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/result.h"
#include "pipeline/options.h"
#include "pipeline/run.h"
#include "reports/content/content.h"
#include "reports/format/format.h"
#include "reports/gates/gates.h"
#include "reports/history/history.h"
#include "reports/history/op_times.h"
#include "reports/media.h"

/* `batch export`: the history as JSON Lines, to stdout or into a file that appears completely or not at all. */

static void write_file(struct tm_run *run, struct tm_history *history, const char *path)
{
    struct tm_atomic_file file = { .stream = NULL };
    struct tm_file_place place;

    if (tm_find_place(run, path, &place) || tm_make_folder(run, place.folder) ||
        tm_atomic_open(&file, run, place.folder, place.name))
        return;
    tm_history_export(history, file.stream);
    tm_atomic_commit(&file);
    tm_atomic_abort(&file);
}

/* What a batch keeps in its folder: nothing else may be written there. */
static tm_status guard_batch(struct tm_run *run, const char *out)
{
    static const uint32_t of_pages =
        TM_FORMAT_HTML | TM_FORMAT_PDF | TM_FORMAT_JSON | TM_FORMAT_TEXT | TM_FORMAT_MARKDOWN | TM_FORMAT_CSV;
    static const struct {
        const char *name, *what;
        bool is_tree;
    } kept[] = {
        { TM_HISTORY_FILE, "the history of the batch", false },
        { TM_MANIFEST_FILE, "the manifest of the batch", false },
        { "runs", "among the runs of the batch", true },
        { "slurm", "among the scripts of the batch", true },
    };
    char path[TM_OUT_PATH_BYTES];

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        if (tm_out_path(run, out, kept[i].name, path))
            break;
        if (kept[i].is_tree)
            tm_guard_tree(run, path, kept[i].what);
        else
            tm_guard_output(run, path, kept[i].what);
    }
    return tm_guard_document(run, out, &tm_nightly_document, of_pages);
}

static tm_status run_batch_export(struct tm_run *run, const struct tm_options *options)
{
    struct tm_history *history = NULL;
    char path[TM_OUT_PATH_BYTES];

    tm_out_path(run, options->inputs[0], TM_HISTORY_FILE, path);
    if (options->output) {
        guard_batch(run, options->inputs[0]);
        tm_guard_output(run, options->output, "the file of -o");
    }
    if (tm_failed(run) || tm_history_open(&history, run, path))
        return run->error.status;
    if (options->output)
        write_file(run, history, options->output);
    else
        tm_finish_stdout(run, tm_history_export(history, stdout));
    tm_history_close(history);
    return run->error.status;
}

static const uint32_t of_documents =
    TM_FORMAT_HTML | TM_FORMAT_PDF | TM_FORMAT_JSON | TM_FORMAT_TEXT | TM_FORMAT_MARKDOWN | TM_FORMAT_CSV;

/* What a reader opens first of a run's report; NULL = its folder. */
static const char *report_file(uint32_t formats)
{
    return formats & TM_FORMAT_HTML   ? "report.html"
           : formats & TM_FORMAT_PDF  ? "report.pdf"
           : formats & TM_FORMAT_TEXT ? "report.txt"
                                      : NULL;
}

/* OUT/index.html and the other files of the last night, in the formats of the options; formats of single runs are
 * skipped.  Then what tm_document_deliver says of it.
 * in:     gates  as tm_nightly_gates filled it; NULL = none were requested
 *         to     an empty document, which becomes that of the night
 * errors: TM_ERR_OUTPUT, TM_ERR_LIMIT */
static void night_index_write(struct tm_run *run, const struct tm_options *options, const char *out,
                              struct tm_history *history, const struct tm_judged_night *judged,
                              const struct tm_value *gates, struct tm_doc *to)
{
    const struct tm_nightly_options night = { .title = options->title,
                                              .note = options->note,
                                              .rows = options->rows,
                                              .report = report_file(options->formats),
                                              .judged = judged,
                                              .gates = gates };
    struct tm_document_result result = { .doc = to, .paper = options->paper };
    struct tm_options written = *options;

    written.formats &= of_documents;
    if (to && !tm_nightly_fill(run, to, history, &night))
        tm_document_deliver(run, &result, out, &written);
}

/* From the partials of hosts to the report of their run.  Hosts that failed are reported as missing. */

/* --- which runs --- */

/* None of its hosts can be reported. */
static void fail_run(struct tm_batch_pool *pool, const struct tm_batch_task *task, const struct tm_batch_parts *parts)
{
    char message[TM_RESULT_MESSAGE_BYTES];

    (void)snprintf(message, sizeof(message), "none of its hosts could be read; %.900s", parts->message);
    tm_batch_pool_fail(pool, task, parts->worst, parts->worst == TM_RESULT_REFUSED ? TM_ERR_INPUT : TM_ERR_LIMIT,
                       message, "");
}

/* A run whose parts are all present, or will not be.  Its report is made again if the valid parts differ from those in
 * its report, and each time if one failed, because the next failure may have another reason. */
static void choose_run(struct tm_batch_pool *pool, const struct tm_batch_run *batch_run, struct tm_batch_task *tasks)
{
    struct tm_batch_task task = { .batch_run = batch_run, .weight = batch_run->files };
    struct tm_batch_parts parts = { .run = NULL };
    char folder[TM_OUT_PATH_BYTES];
    enum tm_result_status status = tm_batch_pruned(pool, batch_run);

    if (status != TM_RESULT_MISSING) {
        pool->counts->runs++;
        tm_batch_count_standing(pool->counts, status);
        return;
    }
    tm_batch_parts_find(&parts, pool->run, pool->out, batch_run);
    tm_out_item_folder(pool->run, pool->out, batch_run, NULL, folder);
    if (!tm_failed(pool->run)) {
        memcpy(task.fingerprint, parts.fingerprint, sizeof(task.fingerprint));
        status = tm_result_look(pool->run, folder, task.fingerprint, pool->report_options, NULL);
        pool->counts->runs++;
        if (parts.missing_count && parts.worst == TM_RESULT_MISSING)
            pool->counts->missing++;
        else if (!parts.path_count)
            fail_run(pool, &task, &parts);
        else if (tm_result_stands(status, false) && (!parts.missing_count || parts.worst == TM_RESULT_REFUSED))
            tm_batch_count_standing(pool->counts, status);
        else
            tasks[pool->count++] = task;
    }
    tm_batch_parts_free(&parts);
}

/* Likewise, make the reports of multi-host runs whose partials are all valid.  A run with failed hosts gets a partial
 * report of the others that names the missing ones. */
static void batch_join(struct tm_run *run, const struct tm_options *options, const struct tm_manifest *manifest,
                       const char *out, struct tm_batch_counts *counts)
{
    struct tm_batch_pool pool = {
        .run = run, .options = options, .out = out, .what = "runs of several hosts", .counts = counts, .joins = true
    };
    const size_t bytes = (manifest->count + 1) * sizeof(struct tm_batch_task);
    struct tm_batch_task *tasks = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);

    if (!tasks)
        return;
    tm_batch_pool_options(&pool);
    for (size_t i = 0; i < manifest->count && !tm_failed(run); i++)
        if (manifest->runs[i].files > 1)
            choose_run(&pool, &manifest->runs[i], tasks);
    pool.tasks = tasks;
    if (!tm_failed(run))
        tm_batch_pool_work(&pool);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, tasks, bytes);
}

/* From the result of a run to its row in the history.  Only one of them is in memory at a time. */

/* A path of a row has the id twice at most. */
struct row {
    struct tm_history_run of;
    char report[TM_RUN_PLACE_BYTES], summary[TM_RUN_PLACE_BYTES + 16];
};

static int64_t count_of(const struct tm_value *facts, const char *key)
{
    const struct tm_value *const count = tm_get(facts, key);

    return tm_type_of(count) == TM_INT ? tm_int(count) : -1;
}

static bool has_file(const struct tm_value *files, const char *name)
{
    for (size_t i = 0; i < tm_length(files); i++)
        if (strcmp(tm_text(tm_get(tm_at(files, i), "name")), name) == 0)
            return true;
    return false;
}

/* The files of a run that has a report. */
static void set_places(struct row *row, const char *out, const struct tm_value *result)
{
    char place[TM_RUN_PLACE_BYTES];

    (void)tm_out_run_place(out, row->of.id, place);
    if (!tm_is(tm_get(result, "pruned")))
        (void)snprintf(row->report, sizeof(row->report), "%s", place);
    if (has_file(tm_get(result, "files"), "summary.json"))
        (void)snprintf(row->summary, sizeof(row->summary), "%s/summary.json", place);
}

static void set_figures(struct tm_history_run *row, const struct tm_value *figures)
{
    for (size_t i = 0; i < tm_figure_count; i++)
        row->figure[i] = tm_double_or_nan(tm_get(figures, tm_figure_table[i].id));
}

/* in: result  {} if there is none */
static void fill(struct row *row, const char *out, const struct tm_value *result, enum tm_result_status status)
{
    const struct tm_value *const facts = tm_get(result, "facts"), *const verdict = tm_get(result, "verdict");

    row->of.status = tm_result_status_words[status];
    row->of.message = status == TM_RESULT_DONE ? "" : tm_text(tm_get(result, "message"));
    row->of.platform = tm_text(tm_get(facts, "platform"));
    row->of.model = tm_text(tm_get(facts, "model"));
    row->of.hosts = count_of(facts, "hosts");
    row->of.devices = count_of(facts, "devices");
    for (size_t i = 0; i < TM_ENV_KEYS; i++)
        row->of.environment[i] = tm_text(tm_get(facts, tm_environment_facts[i].key));
    row->of.verdict = tm_text(tm_get(verdict, "text"));
    row->of.severity = tm_text(tm_get(verdict, "severity"));
    row->of.finding = tm_text(tm_get(verdict, "finding"));
    row->of.options = tm_text(tm_get(result, "options"));
    row->of.version = tm_text(tm_path(result, "tool.version"));
    row->of.definitions = result ? tm_result_definitions(result) : TM_SUMMARY_VERSION;
    set_figures(&row->of, tm_get(result, "figures"));
    if (status == TM_RESULT_DONE || status == TM_RESULT_PARTIAL)
        set_places(row, out, result);
}

/* in: fingerprint of the current run */
static bool is_of_now(struct tm_run *run, const struct tm_batch_run *batch_run, const char *out,
                      const struct tm_value *result, const char *fingerprint)
{
    const char *const made_of = tm_text(tm_get(result, "fingerprint"));
    struct tm_batch_parts parts = { .run = NULL };
    bool is = strcmp(made_of, fingerprint) == 0;

    if (!is && batch_run->files > 1) { /* or of those hosts that could be read */
        tm_batch_parts_find(&parts, run, out, batch_run);
        is = !tm_failed(run) && strcmp(made_of, parts.fingerprint) == 0;
        tm_batch_parts_free(&parts);
    }
    return is && strcmp(tm_text(tm_get(result, "id")), batch_run->id) == 0;
}

static void count(struct tm_batch_counts *counts, enum tm_result_status status)
{
    uint64_t *const of[] = { [TM_RESULT_DONE] = &counts->done,
                             [TM_RESULT_PARTIAL] = &counts->partial,
                             [TM_RESULT_REFUSED] = &counts->refused,
                             [TM_RESULT_FAILED] = &counts->failed,
                             [TM_RESULT_MISSING] = &counts->missing };

    counts->runs++;
    ++*of[status];
}

/* Its longest operations and scopes are taken once, while the result has them. */
static void put_row(struct tm_history *history, const struct tm_history_run *row, const struct tm_value *result,
                    bool are_current)
{
    const struct tm_value *const lists[] = {
        [TM_OP_KIND_OP] = tm_get(result, "ops"), [TM_OP_KIND_SCOPE] = tm_get(result, "scopes")
    };

    if (!are_current)
        tm_op_times_drop(history, row->id);
    if (!tm_history_put(history, row) && !are_current)
        tm_op_times_put(history, row, lists);
}

/* in:  is_whole  read its operations and scopes, too
 * out: false: they are needed, and nothing was done */
static bool take_result(struct tm_run *run, const struct tm_batch_run *batch_run, const char *out,
                        struct tm_history *history, struct tm_batch_counts *counts, bool is_whole)
{
    struct tm_doc *const doc = tm_doc_new(run), *const texts = doc ? tm_doc_new(run) : NULL;
    char folder[TM_OUT_PATH_BYTES], fingerprint[TM_FINGERPRINT_BYTES];
    struct row row = { .of = { .id = batch_run->id, .gates = "", .gates_text = "", .page = "" } };
    const struct tm_value *result = NULL;
    enum tm_result_status status = TM_RESULT_MISSING;
    bool are_current = false;

    if (!texts || tm_out_item_folder(run, out, batch_run, NULL, folder))
        goto out;
    tm_run_fingerprint(batch_run, fingerprint);
    if ((is_whole ? tm_result_read : tm_result_read_head)(doc, tm_doc_root(doc), folder) &&
        is_of_now(run, batch_run, out, tm_doc_root(doc), fingerprint)) {
        result = tm_doc_root(doc);
        status = tm_result_status_of(tm_text(tm_get(result, "status")));
    }
    /* names of files may be any bytes */
    tm_add_text(tm_doc_root(texts), "name", batch_run->name, strlen(batch_run->name));
    tm_add_text(tm_doc_root(texts), "path", batch_run->path, strlen(batch_run->path));
    row.of.name = tm_text(tm_get(tm_doc_root(texts), "name"));
    row.of.path = tm_text(tm_get(tm_doc_root(texts), "path"));
    row.of.fingerprint = result ? tm_text(tm_get(result, "fingerprint")) : fingerprint;
    row.of.report = row.report;
    row.of.summary = row.summary;
    tm_batch_keys_copy(&row.of.keys, &batch_run->keys);
    fill(&row, out, result, status);
    are_current = tm_op_times_are_current(history, &row.of);
    if (!is_whole && !are_current)
        goto out;
    /* Results of an older program stay in the history as its own until they are made again; pruned runs never are. */
    count(counts,
          row.of.definitions == TM_SUMMARY_VERSION || tm_is(tm_get(result, "pruned")) ? status : TM_RESULT_MISSING);
    put_row(history, &row.of, result, are_current);
out:
    tm_doc_free(texts);
    tm_doc_free(doc);
    return is_whole || are_current;
}

/* The history has the operations and scopes of most runs, so they are not read again. */
static void take(struct tm_run *run, const struct tm_batch_run *batch_run, const char *out, struct tm_history *history,
                 struct tm_batch_counts *counts)
{
    const bool are_known = tm_op_times_are_known(history, batch_run->keys.job, batch_run->id);

    if (!are_known || !take_result(run, batch_run, out, history, counts, false))
        (void)take_result(run, batch_run, out, history, counts, true);
}

static void note_ahead(struct tm_batch_counts *counts, const struct tm_batch_run *batch_run)
{
    if (counts->ahead++)
        return;
    (void)snprintf(counts->ahead_id, sizeof(counts->ahead_id), "%s", batch_run->id);
    (void)snprintf(counts->ahead_night, sizeof(counts->ahead_night), "%s", batch_run->keys.night);
}

/* Put a row for each run of the manifest into the history, of the result that is in OUT.  One that is missing, or is
 * of an input that has changed since, makes a row with the status "missing".
 * in:     until  later nights are in the future
 * out:    counts  runs, their state, and those with future dates
 * errors: of tm_history_put; TM_ERR_LIMIT */
static void batch_rows(struct tm_run *run, const struct tm_manifest *manifest, const char *out, const char *until,
                       struct tm_history *history, struct tm_batch_counts *counts)
{
    for (size_t i = 0; i < manifest->count && !tm_failed(run); i++) {
        if (strcmp(manifest->runs[i].keys.night, until) > 0)
            note_ahead(counts, &manifest->runs[i]);
        take(run, &manifest->runs[i], out, history, counts);
    }
}

struct merge {
    struct tm_run *run;
    const struct tm_options *options;
    const char *out;
    struct tm_manifest manifest;
    struct tm_history *history;
    struct tm_judged_night judged;
    struct tm_batch_counts counts;
    struct tm_doc *gates; /* output of tm_nightly_gates; NULL = none */
    struct tm_doc *night; /* the page */
    tm_status verdict;    /* of the gates */
};

/* --- files that options name --- */

static tm_status write_junit(const void *of, FILE *to)
{
    const struct merge *m = of;

    return tm_nightly_junit_write(m->run, tm_doc_root(m->gates), tm_doc_root(m->night), to);
}

static tm_status write_markdown(const void *of, FILE *to)
{
    const struct merge *m = of;

    return tm_nightly_markdown_write(m->run, tm_doc_root(m->gates), tm_doc_root(m->night), m->options->title, to);
}

static tm_status write_metrics(const void *of, FILE *to)
{
    const struct merge *m = of;

    return tm_openmetrics_write(m->run, m->history, &m->judged, tm_doc_root(m->night), to);
}

enum {
    FILES = 3,
    GATES_PCT = 40, /* of the limit: about a kilobyte for each gate of each run of a night */
    GATES_TOLD = 10,
};

static void list_files(struct tm_side_file files[FILES], const struct tm_options *options)
{
    files[0] = (struct tm_side_file){ options->junit, "the file of --junit", write_junit };
    files[1] = (struct tm_side_file){ options->markdown, "the file of --markdown", write_markdown };
    files[2] = (struct tm_side_file){ options->openmetrics, "the file of --openmetrics", write_metrics };
}

static void write_files(const struct merge *m)
{
    struct tm_side_file files[FILES];

    list_files(files, m->options);
    tm_side_files_write(m->run, files, FILES, m);
}

/* OUT/confirm.txt: a line for each job to run again before a regression of it is an alarm. */
static void write_confirm(const struct merge *m)
{
    const struct tm_value *const rows = tm_get(tm_doc_root(m->night), "unconfirmed");
    struct tm_atomic_file file = { .stream = NULL };
    const char *last = "";

    if (tm_atomic_open(&file, m->run, m->out, TM_CONFIRM_FILE))
        return;
    for (size_t i = 0; i < tm_length(rows); i++) {
        const char *const job = tm_text(tm_get(tm_at(rows, i), "job"));

        if (strcmp(job, last) != 0)
            (void)fprintf(file.stream, "%s\n", job);
        last = job;
    }
    tm_atomic_commit(&file);
    tm_atomic_abort(&file);
}

/* What belongs to the page, under fixed names beside it. */
static void write_beside(const struct merge *m, const char *name,
                         tm_status (*write)(struct tm_run *run, const struct tm_value *night, FILE *to))
{
    struct tm_atomic_file file = { .stream = NULL };

    if (tm_atomic_open(&file, m->run, m->out, name))
        return;
    if (!write(m->run, tm_doc_root(m->night), file.stream))
        tm_atomic_commit(&file);
    tm_atomic_abort(&file);
}

static void write_page_parts(const struct merge *m)
{
    write_beside(m, "feed.atom", tm_night_feed_write);
    write_beside(m, "status.svg", tm_night_badge_write);
}

/* --- the parts --- */

static bool wants_gates(const struct tm_options *options)
{
    return options->gate || options->junit || options->markdown;
}

tm_status tm_batch_merge_check(struct tm_run *run, const struct tm_options *options, const char *out)
{
    struct tm_baseline_choice choice;
    struct tm_side_file files[FILES];
    struct tm_gates *gates = NULL;

    if (tm_failed(run))
        return run->error.status;
    if (options->gate)
        tm_gates_read(run, &gates, options->gate);
    tm_gates_free(gates);
    tm_baseline_choice_read(run, &options->baseline, &choice);
    list_files(files, options);
    if (!tm_failed(run))
        guard_batch(run, out);
    return tm_side_files_check(run, files, FILES);
}

static tm_status count_troubled(void *to, const struct tm_history_run *row)
{
    struct merge *const m = to;
    const enum tm_result_status status = tm_result_status_of(row->status);

    m->counts.night_troubled +=
        tm_history_is_judged(&m->judged, row) && (status == TM_RESULT_PARTIAL || status == TM_RESULT_REFUSED);
    return TM_OK;
}

/* The runs that this merge covers: those of the last night, and others that were added or changed. */
static void choose_judged(struct merge *m)
{
    const struct tm_history_query query = { .order = TM_HISTORY_BY_JOB, .judged = &m->judged };

    if (!tm_history_settle(m->history, &m->judged) && m->judged.last[0])
        tm_history_visit(m->history, &query, count_troubled, m);
}

/* Which regressions are open. */
static void update_ledger(struct merge *m)
{
    struct tm_decision *decisions = NULL;

    if (!tm_failed(m->run) && !tm_decisions_read(m->run, m->out, &decisions))
        tm_ledger_update(m->run, m->history, &m->judged, decisions);
    tm_decisions_free(m->run, decisions);
    tm_batch_find_causes(m->run, m->out, m->history);
}

/* Files of this merge must not be written among the inputs of the runs. */
static void guard_traces(const struct merge *m)
{
    char path[TM_OUT_PATH_BYTES];

    for (size_t i = 0; i < m->manifest.count; i++) {
        const struct tm_batch_run *const r = &m->manifest.runs[i];

        for (size_t k = 0; k < r->files; k++) {
            if (!tm_guard_may_meet(m->run, r->file[k].bytes))
                continue;
            if (tm_input_path(m->run, r, &r->file[k], path) || tm_guard_input(m->run, path, NULL))
                return;
        }
    }
}

/* The results, as rows: from here on the manifest is not needed. */
static void take_results(struct merge *m)
{
    struct tm_run *const run = m->run;
    char path[TM_OUT_PATH_BYTES];

    if (!tm_out_path(run, m->out, TM_MANIFEST_FILE, path))
        tm_manifest_read(&m->manifest, run, path);
    guard_traces(m);
    if (!tm_failed(run))
        batch_join(run, m->options, &m->manifest, m->out, &m->counts);
    m->counts = (struct tm_batch_counts){ .worked = m->counts.worked };
    tm_progress_phase(&run->progress, "merging", 0);
    if (!tm_failed(run) && !tm_out_path(run, m->out, TM_HISTORY_FILE, path) &&
        !tm_history_renew(&m->history, run, path)) {
        batch_rows(run, &m->manifest, m->out, m->judged.until, m->history, &m->counts);
        choose_judged(m);
        update_ledger(m);
    }
    tm_manifest_free(&m->manifest);
}

static void judge(struct merge *m)
{
    if (!wants_gates(m->options))
        return;
    m->gates = tm_doc_new(m->run);
    if (!m->gates)
        return;
    tm_doc_set_most(m->gates, m->run->budget.limit_bytes / 100 * GATES_PCT);
    tm_nightly_gates(m->run, m->options, m->out, m->history, &m->judged, tm_doc_root(m->gates), &m->verdict);
}

/* --- the end --- */

static size_t print_gates_of(const struct tm_value *row, size_t room)
{
    const struct tm_value *const gates = tm_get(row, "gates");
    const char *const job = tm_text(tm_get(row, "job"));
    size_t count = 0;

    for (size_t i = 0; i < tm_length(gates); i++) {
        if (!tm_gate_is_noteworthy(tm_at(gates, i)))
            continue;
        if (count < room)
            tm_print_gate(tm_at(gates, i), job);
        count++;
    }
    if (!tm_length(gates) && strcmp(tm_text(tm_get(row, "verdict")), "unknown") == 0 && count++ < room) {
        (void)fputs("tracemill: the gates of ", stderr);
        tm_print_clean(stderr, job);
        (void)fputs(" cannot be evaluated: ", stderr);
        tm_print_clean(stderr, tm_text(tm_get(row, "text")));
        (void)fputc('\n', stderr);
    }
    return count;
}

/* The first ones that did not pass. */
static void print_gates(const struct tm_value *night)
{
    const struct tm_value *const rows = tm_get(night, "runs");
    size_t count = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        count += print_gates_of(tm_at(rows, i), count < GATES_TOLD ? GATES_TOLD - count : 0);
    if (count > GATES_TOLD)
        (void)fprintf(stderr, "tracemill: %zu more gates did not pass\n", count - GATES_TOLD);
}

static void tell(char *to, size_t bytes, size_t *used, uint64_t number, const char *what)
{
    if (number && *used < bytes)
        *used += (size_t)snprintf(to + *used, bytes - *used, "%s%" PRIu64 " %s", *used ? ", " : "", number, what);
}

static uint64_t regressions_open(const struct merge *m)
{
    return m->night ? (uint64_t)tm_int(tm_path(tm_doc_root(m->night), "counts.regressions_open")) : 0;
}

static bool fails_on_regression(const struct merge *m)
{
    return m->options->fail_on_regression == TM_YES && regressions_open(m) > 0;
}

/* Permanent damage is reported by the status in the night that it came; what failed, until it is done. */
static tm_status final_status(const struct merge *m)
{
    const struct tm_batch_counts *const c = &m->counts;

    if (m->verdict == TM_GATE || fails_on_regression(m))
        return TM_GATE;
    return m->verdict != TM_OK || c->night_troubled + c->ahead + c->failed + c->missing ? TM_PARTIAL : TM_OK;
}

static void warn_of_dates(const struct merge *m)
{
    const struct tm_batch_counts *const c = &m->counts;

    if (c->ahead)
        (void)fprintf(stderr,
                      "tracemill: warning: %" PRIu64
                      " run%s dated more than a day ahead of this machine's clock, such as '%s' of "
                      "%s: not assessed\n",
                      c->ahead, c->ahead == 1 ? " is" : "s are", c->ahead_id, c->ahead_night);
}

/* Those that were withdrawn or ended, without a run that closed them: the status may be another one without them. */
static void print_left(const struct merge *m)
{
    const struct tm_value *const rows = tm_get(tm_doc_root(m->night), "closed");
    size_t told = 0;

    for (size_t i = 0; i < tm_length(rows) && told < GATES_TOLD; i++) {
        const struct tm_value *const row = tm_at(rows, i);

        const char *const state = tm_text(tm_get(row, "state"));

        if (strcmp(state, "withdrawn") != 0 && strcmp(state, "ended") != 0)
            continue;
        told++;
        (void)fprintf(stderr, "tracemill: %s: ", state);
        tm_print_clean(stderr, tm_text(tm_get(row, "job")));
        (void)fprintf(stderr, ": %s since %s (%s): ", tm_text(tm_get(row, "title")), tm_text(tm_get(row, "since")),
                      tm_text(tm_get(row, "regression")));
        tm_print_clean(stderr, tm_text(tm_get(row, "reason")));
        (void)fputc('\n', stderr);
    }
}

/* The first ones that are open, new ones before others. */
static void print_regressions(const struct merge *m)
{
    const struct tm_value *const rows = tm_get(tm_doc_root(m->night), "regressions");
    const uint64_t open = regressions_open(m);

    for (size_t i = 0; i < tm_length(rows) && i < GATES_TOLD; i++) {
        const struct tm_value *const row = tm_at(rows, i);

        (void)fputs("tracemill: regression: ", stderr);
        tm_print_clean(stderr, tm_text(tm_get(row, "job")));
        (void)fprintf(stderr, ": %s %s -> %s since %s (%s%s)\n", tm_text(tm_get(row, "title")),
                      tm_text(tm_get(row, "before_text")), tm_text(tm_get(row, "after_text")),
                      tm_text(tm_get(row, "since")), tm_text(tm_get(row, "regression")),
                      strcmp(tm_text(tm_get(row, "state")), "opened") == 0 ? ", new" : "");
    }
    if (open > GATES_TOLD)
        (void)fprintf(stderr, "tracemill: %" PRIu64 " more regressions are open\n", open - GATES_TOLD);
}

static void warn(const struct merge *m)
{
    const struct tm_batch_counts *const c = &m->counts;
    const uint64_t without = c->refused + c->failed + c->missing;
    char text[256] = "";
    size_t used = 0;

    if (without + c->partial == 0 || (m->run->quiet && final_status(m) == TM_OK)) /* no status without its reason */
        return;
    tell(text, sizeof(text), &used, c->refused, "cannot be read");
    tell(text, sizeof(text), &used, c->failed, "failed");
    tell(text, sizeof(text), &used, c->missing, "not processed yet");
    tell(text, sizeof(text), &used, c->partial, "with damaged input");
    (void)fprintf(stderr, "tracemill: warning: of %" PRIu64 " run%s %s\n", c->runs, tm_format_plural(c->runs), text);
}

static tm_status close_merge(const struct merge *m)
{
    if (tm_failed(m->run))
        return m->run->error.status;
    if (m->gates)
        print_gates(tm_doc_root(m->gates));
    print_regressions(m);
    print_left(m);
    warn_of_dates(m);
    warn(m);
    return final_status(m);
}

tm_status tm_batch_merge(struct tm_run *run, const struct tm_options *options, const char *out)
{
    struct merge *const m = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*m), &run->error);
    int lock = -1;
    tm_status st;

    if (!m)
        return run->error.status;
    *m = (struct merge){ .run = run, .options = options, .out = out };
    tm_history_until(m->judged.until);
    m->judged.series_by = options->series_by;
    m->judged.confirm = options->confirm;
    if (!tm_batch_merge_check(run, options, out) && !tm_out_lock(run, out, TM_LOCK_AFTER_OTHERS, &lock))
        take_results(m);
    if (!tm_failed(run))
        judge(m);
    m->night = tm_doc_new(run);
    if (!tm_failed(run) && !tm_history_commit(m->history))
        night_index_write(run, options, out, m->history, &m->judged, m->gates ? tm_doc_root(m->gates) : NULL, m->night);
    if (!tm_failed(run))
        write_files(m);
    if (!tm_failed(run) && options->formats & TM_FORMAT_HTML)
        write_page_parts(m);
    if (!tm_failed(run) && options->confirm > 1)
        write_confirm(m);
    tm_progress_end(&run->progress);
    st = close_merge(m);
    tm_doc_free(m->night);
    tm_doc_free(m->gates);
    tm_history_close(m->history);
    if (lock >= 0)
        (void)close(lock);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, m, sizeof(*m));
    return st;
}

static tm_status run_batch_merge(struct tm_run *run, const struct tm_options *options)
{
    const char *const out = options->inputs[0];
    tm_status st;

    tm_mirror_check(run, options, out);
    if (tm_mirror_fetch(run, options, out))
        return run->error.status;
    st = tm_batch_merge(run, options, out);
    return tm_mirror_put(run, options, out) ? run->error.status : st;
}

/* clang-format off */
const struct tm_verb tm_batch_merge_verb = {
    .name = "batch merge",
    .summary = "merge the results of a batch: index page, history, gates",
    .usage = "OUT [OPTION...]",
    .description =
        "Merges the hosts of runs, adds the results to the history, checks the last night, and runs of other nights "
        "added with it, against the gates, and writes index.html, index.json and history.db. The same results always "
        "produce the same files. Runs dated more than a day ahead are reported but not assessed.",
    .examples =
        "tracemill batch merge perf    after all shares are done\n"
        "tracemill batch merge perf --gate gates.json --baseline last-good --junit night.xml    with gates\n",
    .bit = TM_FOR_BATCH_MERGE,
    .flags = TM_VERB_SPILLS,
    .least = 1,
    .most = 1,
    .run = run_batch_merge,
};
/* clang-format on */

/* clang-format off */
const struct tm_verb tm_batch_export_verb = {
    .name = "batch export",
    .summary = "print the history of a batch as JSON Lines",
    .usage = "OUT [-o FILE] [OPTION...]",
    .description = "Prints one line of JSON per run, sorted by job and time. history.db has the same data for SQL.",
    .examples =
        "tracemill batch export perf > history.jsonl    everything\n",
    .bit = TM_FOR_BATCH_EXPORT,
    .least = 1,
    .most = 1,
    .run = run_batch_export,
};
/* clang-format on */
