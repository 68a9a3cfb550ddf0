/* SPDX-License-Identifier: Apache-2.0 */
/* `compare`: sides, each a run or a group of runs, against the first of them. */
#include <stdio.h>
#include <string.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/conversion.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/engine/study.h"
#include "pipeline/strings.h"
#include "reports/content/content.h"
#include "reports/gates/gates.h"

struct group {
    size_t first, runs; /* of the study */
    char label[TM_LABEL_BYTES];
};

#define TRACE "compare.pftrace"

struct comparison {
    struct tm_run *run;
    const struct tm_options *options; /* `of_documents`, as far as this verb is concerned */
    struct tm_options of_documents;   /* without the trace */
    bool wants_trace, is_trace_alone;
    struct tm_file_place place;         /* of the trace; its folder is that of the documents unless it is alone */
    struct tm_compared_trace *compared; /* NULL = there is none */
    struct tm_results results;
    struct tm_gates *gates; /* NULL = none */
    struct tm_run_spread spread;
    bool fails_on_regression; /* --fail-on regression */
    struct tm_study study;
    struct group group[TM_SIDES_MOST];
    struct tm_comparison_side side[TM_SIDES_MOST];
    size_t sides;
};

/* --- sides --- */

static const char usage[] = "BASE NEW... [-o DIR] [OPTION...]";

static void refuse_sides(struct comparison *c, const char *reason)
{
    (void)tm_fail(&c->run->error, TM_ERR_USAGE, -1, "cannot run 'compare': %s", reason);
    tm_hint(&c->run->error, "usage: tracemill compare %s, or A... -- B...", usage);
}

static void begin_side(struct comparison *c)
{
    if (c->sides == TM_SIDES_MOST)
        (void)tm_fail(&c->run->error, TM_ERR_LIMIT, -1, "cannot compare more than %d sides", TM_SIDES_MOST);
    else
        c->group[c->sides++] = (struct group){ .first = c->study.count };
}

static void add_run(struct comparison *c, const struct tm_run_operand *operand, int64_t measured_ps)
{
    struct group *group = &c->group[c->sides - 1];

    if (group->runs == TM_SIDE_RUNS_MOST) {
        (void)tm_fail(&c->run->error, TM_ERR_LIMIT, -1, "cannot compare more than %d runs of one side",
                      TM_SIDE_RUNS_MOST);
        return;
    }
    group->runs++;
    tm_study_add(&c->study, operand, measured_ps);
}

/* Each operand is a side; or those between two "--" are one. */
static void read_operands(struct comparison *c)
{
    char *const *const input = c->options->inputs;
    const size_t count = c->options->input_count;
    bool has_groups = false;

    for (size_t i = 0; i < count; i++)
        has_groups |= strcmp(input[i], "--") == 0;
    if (has_groups)
        begin_side(c);
    for (size_t i = 0; i < count && !tm_failed(c->run); i++) {
        const bool is_border = strcmp(input[i], "--") == 0;
        struct tm_run_operand operand;

        if (is_border || !has_groups)
            begin_side(c);
        if (is_border || tm_failed(c->run))
            continue;
        tm_run_operand_read(&operand, input[i]);
        add_run(c, &operand, -1);
    }
    for (size_t i = 0; i < c->sides; i++)
        if (!c->group[i].runs)
            refuse_sides(c, "there is no run on one side of '--'");
}

static void add_results(struct comparison *c)
{
    for (size_t i = 0; i < c->results.count; i++) {
        begin_side(c);
        if (tm_failed(c->run))
            return;
        add_run(c, &c->results.result[i].operand, tm_result_ps(&c->results.result[i], c->options->time_unit));
    }
}

/* Whether all times of the benchmark are step times of their profiles in that unit: within a factor of two. */
static bool is_unit_of_steps(const struct comparison *c, enum tm_time_unit unit)
{
    const size_t first = c->study.count - c->results.count;
    size_t judged = 0;

    for (size_t i = 0; i < c->results.count; i++) {
        const struct tm_value *const summary = tm_doc_root(c->study.summaries.run[first + i].doc);
        const double step = tm_double(tm_path(summary, "steps.median_ps"));
        const double time = (double)tm_result_ps(&c->results.result[i], unit);

        if (time <= 0 || step <= 0)
            continue;
        if (time > 2 * step || 2 * time < step)
            return false;
        judged++;
    }
    return judged > 0;
}

/* A benchmark that writes milliseconds does not record that: seconds are expected, and the profiles know better. */
static void judge_unit(struct comparison *c)
{
    static const char *const words[] = { "", "seconds", "milliseconds", "microseconds", "nanoseconds" };
    static const char *const names[] = { "", "s", "ms", "us", "ns" };
    const size_t first = c->study.count - c->results.count;

    if (c->options->time_unit != TM_UNIT_AUTO || !c->results.count || is_unit_of_steps(c, TM_UNIT_S))
        return;
    for (enum tm_time_unit unit = TM_UNIT_MS; unit <= TM_UNIT_NS; unit++) {
        if (!is_unit_of_steps(c, unit))
            continue;
        for (size_t i = 0; i < c->results.count; i++)
            c->study.runs[first + i].measured_ps = tm_result_ps(&c->results.result[i], unit);
        if (!c->run->quiet)
            (void)fprintf(stderr,
                          "tracemill: times in '%s' are taken as %s: so they are the step times of the profiles\n"
                          "hint: --time-unit %s says the same, --time-unit s takes them as seconds\n",
                          c->options->results, words[unit], names[unit]);
        return;
    }
}

static const char *label_of_group(const void *of, size_t i)
{
    return ((const struct group *)of)[i].label;
}

static void make_sides(struct comparison *c)
{
    for (size_t i = 0; i < c->sides; i++) {
        struct group *group = &c->group[i];

        tm_group_label(group->label, &c->study.summaries.run[group->first], group->runs);
        tm_make_label_distinct(group->label, label_of_group, c->group, i);
        c->side[i] = (struct tm_comparison_side){ .label = group->label,
                                                  .run = &c->study.runs[group->first],
                                                  .runs = group->runs };
    }
}

/* --- gates --- */

/* One run against the base, by the verdict on its side.  out: failed, unknown  gates are added */
static void judge_run(struct comparison *c, const struct tm_gate_comparison *comparison, size_t number, size_t *failed,
                      size_t *unknown)
{
    struct tm_doc *doc = tm_doc_new(c->run);
    const struct tm_value *gates;
    size_t n = 0;

    if (!doc)
        return;
    tm_gates_judge_compared(c->run, doc, c->gates, &c->study.runs[number], &c->side[0], comparison, &n);
    gates = tm_get(tm_doc_root(doc), "gates");
    for (size_t i = 0; i < tm_length(gates) && !tm_failed(c->run); i++)
        tm_print_gate(tm_at(gates, i), c->study.summaries.run[number].label);
    *failed += n;
    *unknown += (size_t)tm_int(tm_path(tm_doc_root(doc), "counts.unknown"));
    tm_doc_free(doc);
}

/* Every run except those of the base.  Groups show their own run-to-run variation, so other sources of it are ignored
 * there. */
static tm_status judge(struct comparison *c, const struct tm_value *tests)
{
    size_t failed = 0, unknown = 0;

    for (size_t side = 1; side < c->sides && c->gates; side++) {
        const struct tm_value *test = tm_at(tests, side - 1);
        const bool is_of_runs = strcmp(tm_text(tm_get(test, "basis")), "runs") == 0;
        const struct tm_gate_comparison comparison = { .test = test,
                                                       .spread = c->spread.figure,
                                                       .spreads = is_of_runs ? 0 : c->spread.count,
                                                       .spread_from = c->spread.from };

        for (size_t i = 0; i < c->group[side].runs && !tm_failed(c->run); i++)
            judge_run(c, &comparison, c->group[side].first + i, &failed, &unknown);
    }
    return failed ? TM_GATE : unknown ? TM_PARTIAL : TM_OK;
}

/* "regression" is the verdict itself; all else are gates. */
static void read_gates(struct comparison *c)
{
    const struct tm_texts *from = &c->options->fail_on;
    const char *gate[TM_TEXTS_MOST];
    size_t count = 0;

    for (size_t i = 0; i < from->count; i++) {
        if (strcmp(from->text[i], "regression") == 0)
            c->fails_on_regression = true;
        else
            gate[count++] = from->text[i];
    }
    if (count)
        tm_gates_parse(c->run, &c->gates, gate, count);
}

static bool has_regressed(const struct tm_doc *doc)
{
    return strcmp(tm_text(tm_path(tm_doc_root(doc), "verdict.verdict")), "regression") == 0;
}

/* --- both runs as one trace --- */

/* -o x.pftrace is the trace alone. */
static void choose_trace(struct comparison *c, const struct tm_options *options)
{
    const bool is_file = options->output && tm_has_ending(options->output, ".pftrace");

    c->of_documents = *options;
    c->options = &c->of_documents;
    c->wants_trace = is_file || options->formats & TM_FORMAT_PERFETTO;
    c->of_documents.formats = is_file ? 0 : options->formats & ~(uint32_t)TM_FORMAT_PERFETTO;
    c->is_trace_alone = is_file;
    c->place.name = TRACE;
    if (is_file) {
        c->of_documents.output = NULL;
        if (!tm_find_place(c->run, options->output, &c->place))
            tm_guard_output(c->run, options->output, "the trace");
    }
}

static void check_trace(struct comparison *c)
{
    if (!c->wants_trace || tm_failed(c->run))
        return;
    if (c->sides == 2 && c->group[0].runs == 1 && c->group[1].runs == 1)
        return;
    (void)tm_fail(&c->run->error, TM_ERR_USAGE, -1, "cannot write more than two runs as one trace");
    tm_hint(&c->run->error, "pass BASE and NEW, or omit perfetto");
}

/* While the summaries are there. */
static void plan_trace(struct comparison *c, struct tm_doc *doc)
{
    struct tm_compared_input input[2];

    if (!c->wants_trace || tm_failed(c->run))
        return;
    for (size_t i = 0; i < 2; i++) {
        const struct tm_loaded_run *const run = &c->study.summaries.run[c->group[i].first];

        input[i] = (struct tm_compared_input){ run->path, c->group[i].label, tm_doc_root(run->doc) };
        if (!run->is_summary)
            continue;
        (void)tm_fail(&c->run->error, TM_ERR_USAGE, -1, "cannot write '%s' as a trace: it is a summary, without events",
                      run->path);
        tm_hint(&c->run->error, "pass the profile that it was created from, or omit perfetto");
        return;
    }
    c->compared = tm_compared_trace_plan(c->run, input);
    if (c->compared)
        tm_compared_trace_describe(c->compared, c->place.name, tm_doc_root(doc));
}

/* in: folder  of the documents */
static void write_trace(struct comparison *c, const char *folder)
{
    struct tm_file_place *const place = &c->place;
    struct tm_out_file *file = NULL;
    struct tm_written written;

    if (!c->compared || tm_failed(c->run))
        return;
    if (!c->is_trace_alone)
        (void)snprintf(place->folder, sizeof(place->folder), "%s", folder);
    tm_make_folder(c->run, place->folder);
    tm_check_zstd(c->run, c->options, tm_trace_format_of(place->name), place->name);
    tm_compared_trace_write(c->compared, c->options, place->folder, place->name, &file, &written);
    if (!tm_failed(c->run))
        tm_out_file_commit(file, &written.bytes);
    tm_out_file_free(file);
    tm_progress_end(&c->run->progress);
    if (!tm_failed(c->run) && !c->options->quiet && !c->options->json)
        tm_written_print(&written, c->is_trace_alone && !place->has_folder ? NULL : place->folder, stdout);
}

/* --- the verb --- */

static void prepare(struct comparison *c)
{
    const struct tm_options *options = c->options;

    if (options->results)
        tm_results_read(&c->results, c->run, options->results);
    if (tm_failed(c->run) || tm_study_open(&c->study, c->run, options, "compare", &tm_comparison_document,
                                           options->input_count + c->results.count))
        return;
    read_gates(c);
    read_operands(c);
    add_results(c);
    if (c->sides < 2)
        refuse_sides(c, c->sides ? "NEW is missing: there is nothing to compare with" : "BASE and NEW are missing");
    check_trace(c);
    if (!tm_failed(c->run))
        tm_study_check(&c->study);
}

static tm_status write_document(struct comparison *c, struct tm_doc *doc)
{
    struct tm_compare_options choice = tm_study_options(c->options);
    char folder[TM_PLACE_BYTES];
    tm_status verdict = TM_OK, st = TM_OK;

    choice.spread = c->spread.figure;
    choice.spreads = c->spread.count;
    choice.run_spread_from = c->spread.from;
    tm_compare(c->run, doc, c->side, c->sides, &choice);
    if (!tm_failed(c->run))
        verdict = judge(c, tm_get(tm_doc_root(doc), "tests"));
    if (!tm_failed(c->run) && c->fails_on_regression && has_regressed(doc)) {
        (void)fputs("tracemill: gate failed: the verdict is regression\n", stderr);
        verdict = TM_GATE;
    }
    plan_trace(c, doc);
    tm_study_forget(&c->study);
    if (tm_failed(c->run))
        return c->run->error.status;
    tm_study_folder(&c->study, doc, ".compare", folder);
    if (c->options->formats)
        st = tm_study_deliver(&c->study, doc, ".compare");
    else if (c->options->json)
        st = tm_print_document(c->run, doc);
    write_trace(c, folder);
    return tm_failed(c->run) || !verdict ? st : verdict;
}

static tm_status work(struct comparison *c)
{
    struct tm_run *run = c->run;
    struct tm_doc *doc;
    tm_status st;

    prepare(c);
    if (tm_failed(run) || tm_study_load(&c->study))
        return run->error.status;
    judge_unit(c);
    make_sides(c);
    tm_run_spread_find(&c->spread, run, c->options, c->study.summaries.run, c->study.count);
    if (!c->options->force)
        tm_compare_check(run, c->side, c->sides);
    doc = tm_failed(run) ? NULL : tm_doc_new(run);
    if (!doc)
        return run->error.status;
    st = write_document(c, doc);
    tm_doc_free(doc);
    return st;
}

static tm_status run_compare(struct tm_run *run, const struct tm_options *options)
{
    struct comparison *c = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*c), &run->error);
    tm_status st;

    if (!c)
        return run->error.status;
    c->run = run;
    choose_trace(c, options);
    st = work(c);
    tm_compared_trace_free(c->compared);
    tm_study_close(&c->study);
    tm_gates_free(c->gates);
    tm_results_free(&c->results);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, c, sizeof(*c));
    return st;
}

/* clang-format off */
const struct tm_verb tm_compare_verb = {
    .name = "compare",
    .summary = "compare runs: what changed, by how much, and whether it exceeds the noise",
    .usage = usage,
    .description =
        "Reads one run per argument (a profile, a summary.json, or the folder of a report) and writes compare.html, compare.pdf, compare.txt and compare.json: step times with a significance test, a waterfall from the base step time to the new one, and the kernels, ops, scopes, collectives, gaps and compiles that account for the change. --format also supports compare.md (markdown), the folder csv, and compare.pftrace (perfetto): both runs on one timeline in which each step starts in both at the same time, with a row of differences; -o FILE.pftrace writes it alone. The first run is the base; LABEL=PATH names a run.\n"
        "'--' separates groups of runs of the same program: A... -- B... [-- C...]. A change must then exceed the spread between runs. For two single runs, this spread is unknown; use --history or --run-spread. With --fail-on, the exit status is 1 if a gate fails.",
    .examples =
        "tracemill compare before.xplane.pb after.xplane.pb    two profiles\n"
        "tracemill compare before.xplane.pb after.xplane.pb -o both.pftrace    both on one timeline, for Perfetto\n"
        "tracemill compare autodiff=logs/a vjp=logs/b -o out    two methods, with labels\n"
        "tracemill compare nightly/1 nightly/2 nightly/3 -- today/1 today/2 today/3    groups of runs\n"
        "tracemill compare main.report pr.report --fail-on 'step_time>+5%' --fail-on regression    for CI\n"
        "tracemill compare main.report pr.report --history night/history.db    with the run-to-run variation of a batch\n",
    .bit = TM_FOR_COMPARE,
    .flags = TM_VERB_SPILLS | TM_VERB_GROUPS,
    .most = SIZE_MAX,
    .run = run_compare,
};
/* clang-format on */
