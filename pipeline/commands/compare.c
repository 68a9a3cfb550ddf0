/* SPDX-License-Identifier: Apache-2.0 */
/* `compare`: sides, each a run or a group of runs, against the first of them. */
#include <stdio.h>
#include <string.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/engine/study.h"
#include "reports/content/content.h"
#include "reports/gates/gates.h"

struct group {
    size_t first, runs; /* of the study */
    char label[TM_LABEL_BYTES];
};

struct comparison {
    struct tm_run *run;
    const struct tm_options *options;
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

static tm_status refuse_sides(struct comparison *c, const char *reason)
{
    (void)tm_fail(&c->run->error, TM_ERR_USAGE, -1, "cannot run 'compare': %s", reason);
    tm_hint(&c->run->error, "usage: tracemill compare %s, or A... -- B...", tm_verb_by_name("compare")->usage);
    return TM_ERR_USAGE;
}

static tm_status begin_side(struct comparison *c)
{
    if (c->sides == TM_SIDES_MOST)
        return tm_fail(&c->run->error, TM_ERR_LIMIT, -1, "cannot compare more than %d sides", TM_SIDES_MOST);
    c->group[c->sides++] = (struct group){ .first = c->study.count };
    return TM_OK;
}

static tm_status add_run(struct comparison *c, const struct tm_run_operand *operand, int64_t measured_ps)
{
    struct group *group = &c->group[c->sides - 1];

    if (group->runs == TM_SIDE_RUNS_MOST)
        return tm_fail(&c->run->error, TM_ERR_LIMIT, -1, "cannot compare more than %d runs of one side",
                       TM_SIDE_RUNS_MOST);
    group->runs++;
    tm_study_add(&c->study, operand, measured_ps);
    return TM_OK;
}

/* Each operand is a side; or those between two "--" are one. */
static tm_status read_operands(struct comparison *c)
{
    char *const *const input = c->options->inputs;
    const size_t count = c->options->input_count;
    bool has_groups = false;
    tm_status st = TM_OK;

    for (size_t i = 0; i < count; i++)
        has_groups |= strcmp(input[i], "--") == 0;
    if (has_groups)
        st = begin_side(c);
    for (size_t i = 0; i < count && st == TM_OK; i++) {
        const bool is_border = strcmp(input[i], "--") == 0;
        struct tm_run_operand operand;

        if (is_border || !has_groups)
            st = begin_side(c);
        if (is_border || st != TM_OK)
            continue;
        tm_run_operand_read(&operand, input[i]);
        st = add_run(c, &operand, -1);
    }
    for (size_t i = 0; i < c->sides && st == TM_OK; i++)
        if (!c->group[i].runs)
            st = refuse_sides(c, "no run stands on one side of '--'");
    return st;
}

static tm_status read_results(struct comparison *c)
{
    tm_status st = TM_OK;

    for (size_t i = 0; i < c->results.count && st == TM_OK; i++) {
        st = begin_side(c);
        if (st == TM_OK)
            st = add_run(c, &c->results.result[i].operand, c->results.result[i].measured_ps);
    }
    return st;
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
static tm_status judge_run(struct comparison *c, const struct tm_gate_comparison *comparison, size_t number,
                           size_t *failed, size_t *unknown)
{
    struct tm_doc *doc = tm_doc_new(c->run);
    const struct tm_value *gates;
    size_t n = 0;
    tm_status st;

    if (!doc)
        return c->run->error.status;
    st = tm_gates_judge_compared(c->run, doc, c->gates, &c->study.runs[number], &c->side[0], comparison, &n);
    gates = tm_get(tm_doc_root(doc), "gates");
    for (size_t i = 0; i < tm_length(gates) && st == TM_OK; i++)
        tm_print_gate(tm_at(gates, i), c->study.summaries.run[number].label);
    *failed += n;
    *unknown += (size_t)tm_int(tm_path(tm_doc_root(doc), "counts.unknown"));
    tm_doc_free(doc);
    return st;
}

/* Every run but the base's.  Groups show what their runs differ by: what else is known of it does not count there. */
static tm_status judge(struct comparison *c, const struct tm_value *tests, tm_status *verdict)
{
    size_t failed = 0, unknown = 0;
    tm_status st = TM_OK;

    for (size_t side = 1; side < c->sides && c->gates; side++) {
        const struct tm_value *test = tm_at(tests, side - 1);
        const bool is_of_runs = strcmp(tm_text(tm_get(test, "basis")), "runs") == 0;
        const struct tm_gate_comparison comparison = { .test = test,
                                                       .spread = c->spread.figure,
                                                       .spreads = is_of_runs ? 0 : c->spread.count,
                                                       .spread_from = c->spread.from };

        for (size_t i = 0; i < c->group[side].runs && st == TM_OK; i++)
            st = judge_run(c, &comparison, c->group[side].first + i, &failed, &unknown);
    }
    *verdict = failed ? TM_GATE : unknown ? TM_PARTIAL : TM_OK;
    return st;
}

/* "regression" is the verdict itself; all else are gates. */
static tm_status read_gates(struct comparison *c)
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
    return count ? tm_gates_parse(c->run, &c->gates, gate, count) : TM_OK;
}

static bool has_regressed(const struct tm_doc *doc)
{
    return strcmp(tm_text(tm_path(tm_doc_root(doc), "verdict.verdict")), "regression") == 0;
}

/* --- the verb --- */

static tm_status prepare(struct comparison *c)
{
    const struct tm_options *options = c->options;
    tm_status st = options->results ? tm_results_read(&c->results, c->run, options->results) : TM_OK;

    if (st == TM_OK)
        st = tm_study_open(&c->study, c->run, options, "compare", &tm_comparison_document,
                           options->input_count + c->results.count);
    if (st == TM_OK)
        st = read_gates(c);
    if (st == TM_OK)
        st = read_operands(c);
    if (st == TM_OK)
        st = read_results(c);
    if (st == TM_OK && c->sides < 2)
        st = refuse_sides(c, c->sides ? "a NEW is missing: there is nothing to compare with"
                                      : "the BASE and a NEW are missing");
    return st == TM_OK ? tm_study_check(&c->study) : st;
}

static tm_status write_document(struct comparison *c, struct tm_doc *doc)
{
    struct tm_compare_options choice = tm_study_options(c->options);
    tm_status verdict = TM_OK, st;

    choice.spread = c->spread.figure;
    choice.spreads = c->spread.count;
    choice.run_spread_from = c->spread.from;
    st = tm_compare(c->run, doc, c->side, c->sides, &choice);
    if (st == TM_OK)
        st = tm_doc_status(doc);
    if (st == TM_OK)
        st = judge(c, tm_get(tm_doc_root(doc), "tests"), &verdict);
    if (st == TM_OK && c->fails_on_regression && has_regressed(doc)) {
        (void)fputs("tracemill: gate failed: the verdict is regression\n", stderr);
        verdict = TM_GATE;
    }
    tm_study_forget(&c->study);
    if (st == TM_OK)
        st = tm_study_deliver(&c->study, doc, ".compare");
    return (st == TM_OK || st == TM_PARTIAL) && verdict != TM_OK ? verdict : st;
}

static tm_status work(struct comparison *c)
{
    struct tm_doc *doc;
    tm_status st = prepare(c);

    if (st == TM_OK)
        st = tm_study_load(&c->study);
    if (st != TM_OK)
        return st;
    make_sides(c);
    st = tm_run_spread_find(&c->spread, c->run, c->options, c->study.summaries.run, c->study.count);
    if (st == TM_OK && !c->options->force)
        st = tm_compare_check(c->run, c->side, c->sides);
    doc = st == TM_OK ? tm_doc_new(c->run) : NULL;
    if (doc)
        st = write_document(c, doc);
    else if (st == TM_OK)
        st = c->run->error.status;
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
    c->options = options;
    st = work(c);
    tm_study_close(&c->study);
    tm_gates_free(c->gates);
    tm_results_free(&c->results);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, c, sizeof(*c));
    return st;
}

/* clang-format off */
const struct tm_verb tm_compare_verb = {
    .name = "compare",
    .summary = "compare runs: what changed, by how much, and whether it is more than noise",
    .usage = "BASE NEW... [-o DIR] [OPTION...]",
    .description =
        "Reads a run per INPUT, or its summary.json, or the folder of its report, and writes compare.html,"
        " compare.pdf, compare.txt and compare.json: step times with a test, a waterfall from the old step time to the"
        " new one, and the kernels, ops, scopes, collectives, gaps and compilations that account for it. --format also"
        " gives compare.md (markdown) and the folder csv. The first run is the base; LABEL=PATH names one.\n"
        "With '--' between them, groups of runs of the same thing are compared: A... -- B... [-- C...]; then the spread"
        " between runs is what a change has to stand out from. Of two single runs it is not known; take it from --history or"
        " --run-spread. --fail-on ends with status 1 where a gate fails.",
    .examples =
        "tracemill compare before.xplane.pb after.xplane.pb    two profiles\n"
        "tracemill compare autodiff=logs/a vjp=logs/b -o out    two methods, by name\n"
        "tracemill compare nightly/1 nightly/2 nightly/3 -- today/1 today/2 today/3    groups of runs\n"
        "tracemill compare main.report pr.report --fail-on 'step_time>+5%' --fail-on regression    for CI\n"
        "tracemill compare main.report pr.report --history night/history.db    beyond what runs differ by\n",
    .bit = TM_FOR_COMPARE,
    .flags = TM_VERB_SPILLS | TM_VERB_GROUPS,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_compare,
};
/* clang-format on */
