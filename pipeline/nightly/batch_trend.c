/* SPDX-License-Identifier: Apache-2.0 */
/* `batch trend`: the time of an operation or a scope of a job, run by run, from the history. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/nightly/result.h"
#include "pipeline/numbers.h"
#include "pipeline/run.h"
#include "reports/content/content.h"
#include "reports/format/format.h"
#include "reports/history/history.h"
#include "reports/history/op_times.h"
#include "reports/media.h"
#include "reports/statistics/statistics.h"

/* A name, without one that the user gave: of the newest run that has times. */
struct followed {
    enum tm_op_kind kind;
    uint32_t name;
    double ns;                        /* of the newest run */
    double of_runs[TM_OP_TIMES_RUNS]; /* of all runs that have it, the newest one last */
    size_t runs;
};

struct trend {
    struct tm_run *run;
    const struct tm_options *options;
    struct tm_history *history;
    const char *job, *name; /* name: NULL = all of the newest run */
    uint32_t number;        /* of the name; 0 = no run has it */
    bool is_there;          /* the job */
    struct tm_value *list;  /* rows */
    struct tm_op_times times;
    struct followed *followed;
    size_t count;
};

/* --- one name, run by run --- */

static void add_point(const struct trend *t, const struct tm_history_run *row, enum tm_op_kind kind, uint64_t ns)
{
    struct tm_value *const to = tm_add_object(t->list, NULL);

    tm_add_string(to, "kind", tm_op_kind_words[kind]);
    tm_add_text(to, "name", t->name, strlen(t->name));
    tm_add_string(to, "night", row->keys.night);
    tm_add_int(to, "when_ns", row->keys.when_ns);
    tm_add_string(to, "id", row->id);
    tm_add_known(to, "revision", row->keys.revision, "it is unknown");
    tm_add_uint(to, "time_ps", ns * 1000);
}

static tm_status take_run(void *to, const struct tm_history_run *row)
{
    struct trend *const t = to;

    t->is_there = true;
    if (!tm_history_is_current(row) || tm_op_times_read(t->history, t->job, row->id, &t->times))
        return t->run->error.status;
    for (int kind = 0; kind < TM_OP_KINDS; kind++)
        for (size_t i = 0; i < t->times.count[kind]; i++)
            if (t->times.time[kind][i].name == t->number)
                add_point(t, row, (enum tm_op_kind)kind, t->times.time[kind][i].ns);
    return t->run->error.status;
}

/* --- all names of the newest run --- */

static tm_status keep_run(void *to, const struct tm_history_run *row)
{
    struct trend *const t = to;

    t->is_there = true;
    if (!tm_history_is_current(row) || tm_op_times_read(t->history, t->job, row->id, &t->times))
        return t->run->error.status;
    for (int kind = 0; kind < TM_OP_KINDS; kind++)
        for (size_t i = 0; i < t->times.count[kind]; i++) {
            const struct tm_op_time *const time = &t->times.time[kind][i];

            for (size_t k = 0; k < t->count; k++)
                if (t->followed[k].kind == (enum tm_op_kind)kind && t->followed[k].name == time->name &&
                    t->followed[k].runs < TM_OP_TIMES_RUNS)
                    t->followed[k].of_runs[t->followed[k].runs++] = (double)time->ns;
        }
    return TM_OK;
}

/* The names of the newest run that has times, the last one of the pass, are followed. */
static tm_status choose_names(void *to, const struct tm_history_run *row)
{
    struct trend *const t = to;

    if (!tm_history_is_current(row) || tm_op_times_read(t->history, t->job, row->id, &t->times))
        return t->run->error.status;
    if (t->times.count[TM_OP_KIND_OP] + t->times.count[TM_OP_KIND_SCOPE] == 0)
        return TM_OK;
    t->count = 0;
    for (int kind = 0; kind < TM_OP_KINDS; kind++)
        for (size_t i = 0; i < t->times.count[kind]; i++)
            t->followed[t->count++] = (struct followed){ .kind = (enum tm_op_kind)kind,
                                                         .name = t->times.time[kind][i].name,
                                                         .ns = (double)t->times.time[kind][i].ns };
    return TM_OK;
}

static int by_kind_and_time(const void *a, const void *b)
{
    const struct followed *const x = a, *const y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : (x->name < y->name ? -1 : x->name > y->name);
}

/* Of the runs before the newest one; NaN = there are none. */
static double median_before(const struct followed *of)
{
    double sorted[TM_OP_TIMES_RUNS];

    if (of->runs < 2)
        return NAN;
    memcpy(sorted, of->of_runs, (of->runs - 1) * sizeof(sorted[0]));
    return tm_sample_select_median(sorted, of->runs - 1);
}

static void add_followed(const struct trend *t, const struct followed *of, const char *name)
{
    static const char none[] = "no earlier run has it";
    const double before = median_before(of), change = before > 0 ? 100 * (of->ns / before - 1) : NAN;
    struct tm_value *const to = tm_add_object(t->list, NULL);

    tm_add_string(to, "kind", tm_op_kind_words[of->kind]);
    tm_add_string(to, "name", name);
    tm_add_uint(to, "runs", of->runs);
    tm_nightly_add_number(to, "time_ps", of->ns * 1000, "");
    tm_nightly_add_number(to, "before_ps", before * 1000, none);
    tm_nightly_add_number(to, "change_pct", change, none);
}

static void list_names(struct trend *t)
{
    const struct tm_history_query query = { .order = TM_HISTORY_BY_JOB, .job = t->job };
    const size_t bytes = sizeof(*t->followed) * TM_OP_KINDS * TM_OP_TIMES_MOST;

    t->followed = tm_take(&t->run->budget, TM_ACCOUNT_MODEL, bytes, &t->run->error);
    if (!t->followed)
        return;
    if (!tm_history_visit(t->history, &query, choose_names, t))
        tm_history_visit(t->history, &query, keep_run, t);
    if (t->count > 1)
        qsort(t->followed, t->count, sizeof(*t->followed), by_kind_and_time);
    for (size_t i = 0; i < t->count && !tm_failed(t->run); i++) {
        char name[TM_RESULT_OP_BYTES];

        if (!tm_op_times_name(t->history, t->job, t->followed[i].name, name))
            add_followed(t, &t->followed[i], name);
    }
    tm_give(&t->run->budget, TM_ACCOUNT_MODEL, t->followed, bytes);
}

/* --- the verb --- */

static const struct tm_column points[] = {
    { "Kind", "kind", TM_DOC_WORD },
    { "Name", "name", TM_DOC_NAME },
    { "Night", "night", TM_DOC_WORD },
    { "When", "when_ns", TM_DOC_DATE },
    { "Run", "id", TM_DOC_NAME },
    { "Revision", "revision", TM_DOC_NAME },
    { "Time per step", "time_ps", TM_DOC_TIME },
};

static const struct tm_column names[] = {
    { "Kind", "kind", TM_DOC_WORD },        { "Name", "name", TM_DOC_NAME },
    { "Runs", "runs", TM_DOC_COUNT },       { "Time per step", "time_ps", TM_DOC_TIME },
    { "Before", "before_ps", TM_DOC_TIME }, { "Change", "change_pct", TM_DOC_PERCENT },
};

static void print_csv(const struct trend *t)
{
    const struct tm_table of_points = { .id = "trend", TM_COLUMNS(points), .rows = t->list },
                          of_names = { .id = "trend", TM_COLUMNS(names), .rows = t->list };

    tm_csv_put_table(t->run, t->name ? &of_points : &of_names, stdout);
}

static void print_lines(const struct trend *t)
{
    if (!t->run->quiet)
        (void)puts(t->name ? "NIGHT       KIND    TIME/STEP  REVISION" : "KIND    TIME/STEP     CHANGE  RUNS  NAME");
    for (size_t i = 0; i < tm_length(t->list); i++) {
        const struct tm_value *const row = tm_at(t->list, i), *const change = tm_get(row, "change_pct");
        const char *const last = tm_text(tm_get(row, t->name ? "revision" : "name"));
        char time[TM_FORMAT_BYTES], text[TM_FORMAT_BYTES] = "-";

        (void)tm_format_time(time, tm_int(tm_get(row, "time_ps")));
        if (tm_has(change))
            (void)tm_format_change(text, tm_double(change), false);
        if (t->name)
            (void)printf("%s  %-5s  %10s  ", tm_text(tm_get(row, "night")), tm_text(tm_get(row, "kind")), time);
        else
            (void)printf("%-5s  %10s  %9s  %4" PRId64 "  ", tm_text(tm_get(row, "kind")), time, text,
                         tm_int(tm_get(row, "runs")));
        tm_print_clean(stdout, *last ? last : "-");
        (void)fputc('\n', stdout);
    }
}

static void refuse(const struct trend *t)
{
    struct tm_error *const error = &t->run->error;

    if (!t->is_there) {
        (void)tm_fail(error, TM_ERR_USAGE, -1, "the history has no job '%.200s'", t->job);
        tm_hint(error, "'tracemill show %s jobs' lists those of the last night", t->options->inputs[0]);
    } else if (t->name) {
        (void)tm_fail(error, TM_ERR_USAGE, -1,
                      "no run of '%.100s' has '%.200s' among its longest operations and scopes", t->job, t->name);
        tm_hint(error, "omit the name to list those of the newest run");
    } else {
        (void)tm_fail(error, TM_ERR_USAGE, -1, "the history has no times of operations of '%.200s'", t->job);
        tm_hint(error, "its runs have no marked steps, or an older version processed them");
    }
}

static void find_rows(struct trend *t)
{
    const struct tm_history_query query = { .order = TM_HISTORY_BY_JOB, .job = t->job };

    if (!t->name)
        list_names(t);
    else if (!tm_op_times_number(t->history, t->job, t->name, &t->number))
        tm_history_visit(t->history, &query, take_run, t);
    if (!tm_failed(t->run) && tm_length(t->list) == 0)
        refuse(t);
}

static tm_status run_batch_trend(struct tm_run *run, const struct tm_options *options)
{
    struct trend *const t = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*t), &run->error);
    struct tm_doc *const doc = t ? tm_doc_new(run) : NULL;
    char path[TM_OUT_PATH_BYTES];

    if (!doc)
        goto out;
    *t = (struct trend){ .run = run,
                         .options = options,
                         .job = options->inputs[1],
                         .name = options->input_count > 2 ? options->inputs[2] : NULL };
    if (options->json && options->as_csv)
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot combine --json and --csv");
    tm_add_string(tm_doc_root(doc), "schema", "tracemill.trend");
    tm_add_int(tm_doc_root(doc), "schema_version", 1);
    tm_add_text(tm_doc_root(doc), "job", t->job, strlen(t->job));
    t->list = tm_add_array(tm_doc_root(doc), "rows");
    if (!tm_failed(run) && !tm_out_path(run, options->inputs[0], TM_HISTORY_FILE, path) &&
        !tm_history_open(&t->history, run, path))
        find_rows(t);
    tm_history_close(t->history);
    if (tm_failed(run))
        goto out;
    if (options->json)
        tm_print_document(run, doc);
    else if (options->as_csv)
        print_csv(t);
    else
        print_lines(t);
out:
    tm_doc_free(doc);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, t, t ? sizeof(*t) : 0);
    return tm_finish_stdout(run, run->error.status);
}

/* clang-format off */
const struct tm_verb tm_batch_trend_verb = {
    .name = "batch trend",
    .summary = "print the time of an operation or a scope of a job, night by night",
    .usage = "OUT JOB [NAME] [OPTION...]",
    .description =
        "Prints a line for each run of the job in history.db: the time of the operation, or of all operations in the scope, per step and device. Without NAME, it lists the operations and scopes of the newest run, each with its change from the median of the runs before. The history has the 50 longest operations and scopes of each of the last 400 runs of a job, also after the reports were pruned.",
    .examples =
        "tracemill batch trend perf llama/7b    the longest operations and scopes\n"
        "tracemill batch trend perf llama/7b fusion.12 --csv > fusion.csv    one of them, run by run\n",
    .bit = TM_FOR_BATCH_TREND,
    .flags = TM_VERB_PRINTS,
    .least = 2,
    .most = 3,
    .run = run_batch_trend,
};
/* clang-format on */
