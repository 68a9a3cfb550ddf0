/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of verbs that read several runs: operands, summaries, a document, its files. */
#include "pipeline/engine/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/engine/outputs.h"
#include "reports/compare/compare.h"
#include "reports/gates/gates.h"
#include "reports/history/history.h"
#include "reports/statistics/statistics.h"

static const uint32_t formats =
    TM_FORMAT_HTML | TM_FORMAT_PDF | TM_FORMAT_JSON | TM_FORMAT_TEXT | TM_FORMAT_MARKDOWN | TM_FORMAT_CSV;

static void check_formats(struct tm_run *run, const struct tm_options *options, const char *act)
{
    if (!(options->formats & ~formats))
        return;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                  "cannot %s with this --format: %spftrace, partial and collapsed are for single runs", act,
                  options->formats & TM_FORMAT_PERFETTO ? "perfetto, " : "");
    tm_hint(&run->error, "use html, pdf, json, text, markdown, csv");
}

tm_status tm_study_open(struct tm_study *study, struct tm_run *run, const struct tm_options *options, const char *act,
                        const struct tm_document *document, size_t room)
{
    *study = (struct tm_study){ .run = run, .options = options, .act = act };
    check_formats(run, options, act);
    tm_refuse_redaction(run, options, act);
    tm_check_folder(run, options->output ? options->output : ".");
    if (options->output)
        tm_guard_document(run, options->output, document, options->formats);
    if (room > TM_RUNS_MOST)
        (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "cannot %s more than %d runs at once", act, TM_RUNS_MOST);
    if (tm_failed(run))
        return run->error.status;
    study->room = room;
    study->operand = tm_take(&run->budget, TM_ACCOUNT_MODEL, (room + 1) * sizeof(*study->operand), &run->error);
    study->runs = tm_take(&run->budget, TM_ACCOUNT_MODEL, (room + 1) * sizeof(*study->runs), &run->error);
    return run->error.status;
}

void tm_study_add(struct tm_study *study, const struct tm_run_operand *operand, int64_t measured_ps)
{
    study->operand[study->count] = *operand;
    study->runs[study->count++].measured_ps = measured_ps;
}

/* One file under two names.  Folders may hold several runs. */
static bool is_one_file(const char *a, const char *b)
{
    struct stat of_a, of_b;

    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && S_ISREG(of_a.st_mode) && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

tm_status tm_study_check(struct tm_study *study)
{
    struct tm_run *run = study->run;

    tm_run_operands_check(run, study->operand, study->count);
    for (size_t i = 1; i < study->count && !study->options->force; i++) {
        for (size_t k = 0; k < i && !tm_failed(run); k++) {
            if (!is_one_file(study->operand[i].path, study->operand[k].path))
                continue;
            (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot %s: '%s' is given twice", study->act,
                          study->operand[i].path);
            tm_hint(&run->error, "pass another run, or continue with --force");
        }
    }
    return run->error.status;
}

tm_status tm_study_load(struct tm_study *study)
{
    if (tm_summaries_load(&study->summaries, study->run, study->options, study->operand, study->count, study->act))
        return study->run->error.status;
    for (size_t i = 0; i < study->count; i++) {
        const struct tm_loaded_run *loaded = &study->summaries.run[i];

        study->runs[i].summary = tm_doc_root(loaded->doc);
        study->runs[i].path = loaded->path;
        study->runs[i].is_summary = loaded->is_summary;
    }
    return TM_OK;
}

void tm_study_forget(struct tm_study *study)
{
    tm_summaries_free(&study->summaries);
}

void tm_study_close(struct tm_study *study)
{
    struct tm_budget *budget = study->run ? &study->run->budget : NULL;

    if (!budget)
        return;
    tm_summaries_free(&study->summaries);
    if (study->operand)
        tm_give(budget, TM_ACCOUNT_MODEL, study->operand, (study->room + 1) * sizeof(*study->operand));
    if (study->runs)
        tm_give(budget, TM_ACCOUNT_MODEL, study->runs, (study->room + 1) * sizeof(*study->runs));
    *study = (struct tm_study){ .run = NULL };
}

struct tm_compare_options tm_study_options(const struct tm_options *options)
{
    return (struct tm_compare_options){
        .title = options->title, .note = options->note, .rows = options->rows, .is_forced = options->force
    };
}

/* NAME of the folder: what the document calls its runs, as one word. */
static void name_folder(char out[TM_PLACE_BYTES], const struct tm_value *root, const char *ending)
{
    const char *const name = tm_text(tm_path(root, "input.run"));
    char words[TM_LABEL_BYTES];
    size_t used = 0;

    for (; used < sizeof(words) && name[used]; used++)
        words[used] = name[used] == ' ' ? '-' : name[used];
    tm_place_name(out, words, used, ending);
}

void tm_study_folder(const struct tm_study *study, const struct tm_doc *doc, const char *ending,
                     char folder[TM_PLACE_BYTES])
{
    if (study->options->output)
        (void)snprintf(folder, TM_PLACE_BYTES, "%s", study->options->output);
    else
        name_folder(folder, tm_doc_root(doc), ending);
}

tm_status tm_study_deliver(const struct tm_study *study, struct tm_doc *doc, const char *ending)
{
    const struct tm_value *const root = tm_doc_root(doc);
    const struct tm_document_result result = { .doc = doc, .paper = study->options->paper };
    char folder[TM_PLACE_BYTES];

    tm_study_folder(study, doc, ending, folder);
    tm_document_deliver(study->run, &result, folder, study->options);
    if (tm_failed(study->run) || !tm_is(tm_path(root, "input.partial")))
        return study->run->error.status;
    (void)fputs("tracemill: warning: a run is partial: its figures cover only what could be read\n", stderr);
    return TM_PARTIAL;
}

/* --- groups --- */

/* How many bytes two labels start with alike, in whole parts of a path, without the slash. */
static size_t common_parts(const char *a, const char *b)
{
    size_t common = 0;

    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            common = i;
    return common;
}

void tm_group_label(char label[TM_LABEL_BYTES], const struct tm_loaded_run *run, size_t runs)
{
    const struct tm_loaded_run *named = NULL;
    size_t common = strlen(run[0].label);

    for (size_t i = 0; i < runs; i++) {
        const size_t alike = i ? common_parts(run[0].label, run[i].label) : common;

        named = named || !run[i].is_labelled ? named : &run[i];
        common = alike < common ? alike : common;
    }
    if (named || runs == 1)
        (void)snprintf(label, TM_LABEL_BYTES, "%s", named ? named->label : run[0].label);
    else if (common > 0)
        (void)snprintf(label, TM_LABEL_BYTES, "%.*s", (int)common, run[0].label);
    else
        (void)snprintf(label, TM_LABEL_BYTES, "%.200s and %zu more", run[0].label, runs - 1);
}

/* Run-to-run spread of figures, of each by its own values.  From a history: each run of the job against the one before
 * on the same devices, so that a level that changed once counts once; two runs differ by less than the spread in 99 of
 * 100 cases (t s, s^2 = mean of the squared differences). */

enum { DIFFERENCES_LEAST = 3, JOB_BYTES = TM_LABEL_BYTES };

/* For one figure, from run to run. */
struct differences {
    double last, squares;
    size_t count;
};

struct gathering {
    const struct tm_loaded_run *loaded;
    size_t count;
    char job[JOB_BYTES], other_job[JOB_BYTES],
        own_job[JOB_BYTES]; /* the first, one that differs, that of a run compared */
    const char *wanted;
    char model[JOB_BYTES];
    int64_t devices;
    struct differences figure[TM_FIGURES_MOST];
    size_t runs;
};

/* Is it one of the runs that are compared?  A batch keeps the summary of a run under its id. */
static bool is_compared(const struct gathering *g, const struct tm_history_run *row)
{
    char part[TM_RUN_ID_BYTES + 2];

    (void)snprintf(part, sizeof(part), "/%s", row->id);
    for (size_t i = 0; i < g->count; i++)
        if (strstr(g->loaded[i].path, part) || (*row->path && strcmp(g->loaded[i].path, row->path) == 0))
            return true;
    return false;
}

static tm_status look_at_job(void *to, const struct tm_history_run *row)
{
    struct gathering *g = to;

    if (!*g->job)
        (void)snprintf(g->job, sizeof(g->job), "%s", row->keys.job);
    else if (strcmp(g->job, row->keys.job) != 0)
        (void)snprintf(g->other_job, sizeof(g->other_job), "%s", row->keys.job);
    if (is_compared(g, row))
        (void)snprintf(g->own_job, sizeof(g->own_job), "%s", row->keys.job);
    return TM_OK;
}

/* Figures with other definitions are not comparable. */
static bool has_figures(const struct tm_history_run *row)
{
    bool has = false;

    for (size_t i = 0; i < tm_figure_count; i++)
        has = has || isfinite(row->figure[i]);
    return has && tm_history_is_current(row);
}

static void add_value(struct differences *of, double value, bool is_alike)
{
    if (!is_alike)
        of->last = 0;
    if (!(value > 0))
        return; /* unknown, or no share of it can be computed */
    if (of->last > 0) {
        const double change = 100 * (value / of->last - 1);

        of->squares += change * change;
        of->count++;
    }
    of->last = value;
}

static tm_status add_run(void *to, const struct tm_history_run *row)
{
    struct gathering *g = to;
    const bool is_alike = g->runs > 0 && strcmp(g->model, row->model) == 0 && g->devices == row->devices;

    if (!has_figures(row) || is_compared(g, row) || strcmp(row->gates, "failed") == 0)
        return TM_OK;
    for (size_t i = 0; i < tm_figure_count; i++)
        add_value(&g->figure[i], row->figure[i], is_alike);
    (void)snprintf(g->model, sizeof(g->model), "%s", row->model);
    g->devices = row->devices;
    g->runs++;
    return TM_OK;
}

static void choose_job(struct gathering *g, struct tm_run *run, const char *path, const struct tm_run_operand *operand)
{
    if (operand->label_length > 0 && operand->label_length < sizeof(g->own_job)) {
        memcpy(g->own_job, operand->label, operand->label_length);
        g->own_job[operand->label_length] = '\0';
    } else if (!*g->own_job && *g->other_job) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                      "cannot use '%s' for --history: it has several jobs, and contains none of the runs", path);
        tm_hint(&run->error, "specify the job: --history JOB=%s", path);
    } else if (!*g->own_job) {
        memcpy(g->own_job, g->job, sizeof(g->own_job));
    }
    g->wanted = g->own_job;
}

static void find_in_history(struct tm_run_spread *spread, struct tm_run *run, const char *text, struct gathering *g)
{
    struct tm_history *history = NULL;
    char until[11];
    struct tm_run_operand operand;

    tm_run_operand_read(&operand, text);
    tm_history_until(until);
    if (!tm_history_open(&history, run, operand.path))
        tm_history_visit(history, &(struct tm_history_query){ .order = TM_HISTORY_BY_JOB, .until = until }, look_at_job,
                         g);
    if (!tm_failed(run))
        choose_job(g, run, operand.path, &operand);
    if (!tm_failed(run))
        tm_history_visit(history,
                         &(struct tm_history_query){ .order = TM_HISTORY_BY_JOB, .job = g->wanted, .until = until },
                         add_run, g);
    tm_history_close(history);
    if (tm_failed(run))
        return;
    for (size_t i = 0; i < tm_figure_count; i++) {
        const double count = (double)g->figure[i].count;

        if (g->figure[i].count >= DIFFERENCES_LEAST && !tm_figure_is_of_parts(&tm_figure_table[i]))
            spread->figure[spread->count++] =
                (struct tm_spread){ tm_figure_table[i].path,
                                    tm_student_quantile(0.995, count) * sqrt(g->figure[i].squares / count) };
    }
    if (spread->count == 0)
        (void)fprintf(stderr,
                      "tracemill: warning: the history has %zu comparable runs of '%s'; the run-to-run spread needs "
                      "at least %d\n",
                      g->runs, g->wanted, DIFFERENCES_LEAST + 1);
    (void)snprintf(spread->from, sizeof(spread->from), "%zu runs of '%.200s' in the history, 99%% of their differences",
                   g->runs, g->wanted);
}

static void read_pct(struct tm_run_spread *spread, struct tm_run *run, const char *text)
{
    struct tm_wrong wrong = { "it is not a percentage", NULL };
    struct tm_gate_limit limit;

    if (tm_gate_limit_read(text, &limit, &wrong) && (limit.kind == TM_IN_PERCENT || limit.kind == TM_IN_BARE) &&
        limit.number >= 0 && limit.number <= 1000) {
        spread->figure[spread->count++] = (struct tm_spread){ "steps.mean_ps", limit.number };
        spread->figure[spread->count++] = (struct tm_spread){ "steps.median_ps", limit.number };
        (void)snprintf(spread->from, sizeof(spread->from), "--run-spread");
        return;
    }
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%s' for --run-spread: it is not a percentage", text);
    tm_hint(&run->error, "write it as 3 or 3%%");
}

tm_status tm_run_spread_find(struct tm_run_spread *spread, struct tm_run *run, const struct tm_options *options,
                             const struct tm_loaded_run *loaded, size_t count)
{
    struct gathering *g;

    *spread = (struct tm_run_spread){ .count = 0 };
    if (options->run_spread) {
        read_pct(spread, run, options->run_spread);
    } else if (options->history && (g = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*g), &run->error))) {
        g->loaded = loaded;
        g->count = count;
        find_in_history(spread, run, options->history, g);
        tm_give(&run->budget, TM_ACCOUNT_MODEL, g, sizeof(*g));
    }
    return run->error.status;
}
