/* SPDX-License-Identifier: Apache-2.0 */
/* Holds a run to its gates and writes the document of schemas/CHECK.md.  Each gate: find the
 * figure, bring the limit into its unit, find it in the baselines, judge, write.  What a gate
 * cannot be judged by is told beside it. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "pipeline/version.h"
#include "reports/format/format.h"
#include "reports/gates/figure.h"
#include "reports/gates/gate.h"
#include "reports/gates/noise.h"
#include "reports/gates/same_run.h"
#include "reports/statistics/sample.h"

enum { WHY_BYTES = 400 };

/* A change of the step time that is smaller is none: as in comparisons (docs/gates.md). */
static const double STEP_EFFECT_PCT = 1;

enum status { PASSED, FAILED, UNKNOWN, SKIPPED, STATUSES };
static const char *const status_name[STATUSES] = { "passed", "failed", "unknown", "skipped" };

struct judging {
    struct tm_run *run;
    const struct tm_gates *gates;
    const struct tm_compared_run *input;
    const struct tm_side *baseline; /* NULL = none */
    struct tm_step_test steps;
    bool steps_are_tested;
    size_t count[STATUSES];
    double base[TM_SIDE_RUNS_MOST];
};

struct result {
    const struct tm_gate *gate;
    const char *path;
    struct tm_figure figure;
    double limit;      /* in the figure's unit, or in percent */
    double baseline;   /* NaN = none */
    double change_pct; /* NaN = none, or the baseline is 0 */
    struct tm_noise noise;
    size_t base_count;
    enum status status;
    char why[WHY_BYTES]; /* "" = nothing to say */
};

static void say(struct result *r, const char *format, ...) TM_PRINTF(2, 3);

static void say(struct result *r, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(r->why, sizeof(r->why), format, arguments);
    va_end(arguments);
}

static void not_known(struct result *r)
{
    r->status = r->gate->required ? UNKNOWN : SKIPPED;
}

/* --- the figure --- */

static double distance(double value, double limit)
{
    return fabs(value - limit);
}

/* Of "[*]" the figure that the rule is strictest with. */
static void find(struct tm_figure *figure, const struct tm_value *from, const char *path,
                 const struct tm_gate *gate)
{
    struct tm_figure other;

    tm_figure_find(figure, from, path,
                   tm_rule_is_upper(gate->rule) ? TM_FIGURE_MOST : TM_FIGURE_LEAST);
    if (gate->rule != TM_RULE_EQUALS || figure->state != TM_FIGURE_KNOWN)
        return;
    struct tm_wrong wrong;
    double limit;

    tm_figure_find(&other, from, path, TM_FIGURE_MOST);
    if (tm_gate_limit_in_unit(gate->limit, figure->unit, &limit, &wrong) &&
        distance(other.value, limit) > distance(figure->value, limit))
        *figure = other;
}

static tm_status refuse_path(struct judging *j, const struct result *r)
{
    char names[TM_ERROR_TEXT - 32];
    const tm_status st =
        tm_gate_refuse(j->run, j->gates, r->gate, "there is no figure '%.200s'", r->path);

    tm_figure_suggest(j->input->summary, r->path, names, sizeof(names));
    if (*names)
        tm_hint(&j->run->error, "did you mean %s?", names);
    else
        tm_hint(&j->run->error, "figures are paths in summary.json, as steps.median_ps");
    return st;
}

static tm_status refuse_type(struct judging *j, const struct result *r)
{
    static const char *const what[] = {
        [TM_STRING] = "a text", [TM_ARRAY] = "a list", [TM_OBJECT] = "an object"
    };
    char names[TM_ERROR_TEXT - 32];
    const tm_status st = tm_gate_refuse(j->run, j->gates, r->gate, "'%.200s' is %s, no figure",
                                        r->path, what[r->figure.type]);

    tm_figure_suggest(j->input->summary, r->path, names, sizeof(names));
    if (*names)
        tm_hint(&j->run->error, "did you mean %s?", names);
    return st;
}

static tm_status take_figure(struct judging *j, struct result *r)
{
    find(&r->figure, j->input->summary, r->path, r->gate);
    switch (r->figure.state) {
    case TM_FIGURE_KNOWN:
        return TM_OK;
    case TM_FIGURE_NULL:
        not_known(r);
        say(r, "%.300s", *r->figure.why ? r->figure.why : "the profile does not tell it");
        return TM_OK;
    case TM_FIGURE_OTHER:
        return refuse_type(j, r);
    case TM_FIGURE_NO_ELEMENT:
        if (r->gate->required)
            return refuse_path(j, r);
        not_known(r);
        say(r, "the run has no such row");
        return TM_OK;
    default:
        return refuse_path(j, r);
    }
}

static tm_status take_limit(struct judging *j, struct result *r)
{
    const struct tm_gate *const gate = r->gate;
    const bool is_pct =
        gate->rule == TM_RULE_MAX_INCREASE_PCT || gate->rule == TM_RULE_MAX_DECREASE_PCT;
    struct tm_wrong wrong;

    r->limit = gate->limit.number;
    if (is_pct || (r->figure.state != TM_FIGURE_KNOWN && r->figure.state != TM_FIGURE_NULL) ||
        tm_gate_limit_in_unit(gate->limit, r->figure.unit, &r->limit, &wrong))
        return TM_OK;
    const tm_status st =
        tm_gate_refuse(j->run, j->gates, gate, "the limit '%.60s' cannot be used: %s",
                       gate->limit_text, wrong.reason);

    if (tm_rule_is_relative(gate->rule) && gate->limit.kind == TM_IN_PERCENT)
        tm_hint(&j->run->error, "a change in percent is %s_pct", tm_rule_name[gate->rule]);
    else if (wrong.hint)
        tm_hint(&j->run->error, "%s", wrong.hint);
    return st;
}

/* --- the baselines --- */

static void take_baseline(struct judging *j, struct result *r)
{
    struct tm_figure figure;
    struct tm_sample sample = { j->base, 0 };
    double sorted[TM_SIDE_RUNS_MOST];

    for (size_t i = 0; j->baseline && i < j->baseline->runs && i < TM_SIDE_RUNS_MOST; i++) {
        find(&figure, j->baseline->run[i].summary, r->path, r->gate);
        if (figure.state == TM_FIGURE_KNOWN)
            j->base[sample.count++] = figure.value;
        else if (sample.count == 0 && !*r->why)
            say(r, "the baseline does not have it%s%.200s", *figure.why ? ": " : "", figure.why);
    }
    r->base_count = sample.count;
    r->noise = tm_spread_test(r->figure.value, sample.value, sample.count);
    if (sample.count == 0)
        return;
    r->why[0] = '\0';
    memcpy(sorted, j->base, sample.count * sizeof(sorted[0]));
    tm_sample_sort(sorted, sample.count);
    r->baseline = tm_sample_quantile((struct tm_sample){ sorted, sample.count }, 0.5);
    if (r->baseline != 0)
        r->change_pct = 100 * (r->figure.value - r->baseline) / fabs(r->baseline);
}

static bool is_step_time(const char *path)
{
    return strcmp(path, "steps.median_ps") == 0 || strcmp(path, "steps.mean_ps") == 0 ||
           strcmp(path, "kpis[step_time].value") == 0;
}

static tm_status test_steps(struct judging *j, struct result *r)
{
    if (!j->steps_are_tested) {
        const tm_status st = tm_step_test(j->run, &j->steps, j->input->summary, j->baseline);

        if (st != TM_OK)
            return st;
        j->steps_are_tested = true;
    }
    if (j->steps.refused) {
        not_known(r);
        say(r, "%s", j->steps.refused);
    } else if (j->steps.steps < TM_NOISE_SAMPLES_LEAST ||
               j->steps.base_steps < TM_NOISE_SAMPLES_LEAST) {
        say(r,
            "%zu and %zu steps are too few for a test, which wants %d each: the limit holds as it "
            "is",
            j->steps.base_steps, j->steps.steps, TM_NOISE_SAMPLES_LEAST);
    }
    r->noise = tm_stricter(r->noise, j->steps.noise);
    return TM_OK;
}

/* --- the judgement --- */

static bool is_past(const struct tm_gate *gate, double value, double limit)
{
    return value > limit || (gate->fails_at_limit && value == limit);
}

static void judge_absolute(struct result *r)
{
    const struct tm_gate *const gate = r->gate;
    const double value = r->figure.value;
    bool fails;

    if (gate->rule == TM_RULE_EQUALS)
        fails = distance(value, r->limit) > 1e-12 * fmax(fabs(value), fabs(r->limit));
    else
        fails = gate->rule == TM_RULE_MAX ? is_past(gate, value, r->limit)
                                          : is_past(gate, -value, -r->limit);
    r->status = fails ? FAILED : PASSED;
}

static double min_effect(const struct result *r)
{
    if (r->gate->min_effect_pct >= 0)
        return r->gate->min_effect_pct;
    return is_step_time(r->path) ? STEP_EFFECT_PCT : 0;
}

/* How far it went the wrong way: in percent, or in the figure's unit.  From 0 it is any distance in
 * percent. */
static double way(const struct result *r)
{
    const double sign = tm_rule_is_upper(r->gate->rule) ? 1 : -1,
                 change = sign * (r->figure.value - r->baseline);

    if (r->gate->rule == TM_RULE_MAX_INCREASE || r->gate->rule == TM_RULE_MAX_DECREASE)
        return change;
    if (!isnan(r->change_pct))
        return sign * r->change_pct;
    return change == 0 ? 0 : change * INFINITY;
}

/* A limit below 0 demands a change: noise is no excuse for its lack. */
static void judge_relative(struct result *r)
{
    char pct[TM_FORMAT_BYTES], p[TM_FORMAT_BYTES];
    const double effect = min_effect(r);

    r->status = is_past(r->gate, way(r), r->limit) ? FAILED : PASSED;
    if (r->status == PASSED || r->limit < 0)
        return;
    if (fabs(r->change_pct) < effect) {
        r->status = PASSED;
        say(r, "a change below %s does not count", tm_format_pct(pct, effect));
    } else if (r->noise.p >= tm_noise_level) {
        r->status = PASSED;
        say(r, "the change is not told from noise: p = %s", tm_format_number(p, r->noise.p));
    }
}

static tm_status judge_change(struct judging *j, struct result *r)
{
    if (!j->baseline) {
        not_known(r);
        say(r, "there is no baseline");
        return TM_OK;
    }
    if (r->base_count == 0) {
        not_known(r);
        return TM_OK;
    }
    r->status = PASSED;
    if (is_step_time(r->path)) {
        const tm_status st = test_steps(j, r);

        if (st != TM_OK || r->status != PASSED)
            return st;
    }
    judge_relative(r);
    return TM_OK;
}

static bool is_partial(const struct tm_value *summary)
{
    return tm_is(tm_path(summary, "input.partial"));
}

/* Is what the gate looks at whole? */
static bool is_whole(const struct judging *j, struct result *r)
{
    const bool is_relative = tm_rule_is_relative(r->gate->rule);
    bool base_is_partial = false;

    for (size_t i = 0; is_relative && j->baseline && i < j->baseline->runs; i++)
        base_is_partial |= is_partial(j->baseline->run[i].summary);
    if (r->gate->allow_partial || (!is_partial(j->input->summary) && !base_is_partial))
        return true;
    not_known(r);
    say(r, "%s is partial", is_partial(j->input->summary) ? "the input" : "the baseline");
    return false;
}

static tm_status judge_gate(struct judging *j, struct result *r)
{
    tm_status st = take_figure(j, r);

    if (st == TM_OK)
        st = take_limit(j, r);
    if (st != TM_OK || r->figure.state != TM_FIGURE_KNOWN)
        return st;
    take_baseline(j, r);
    if (!is_whole(j, r))
        return TM_OK;
    if (tm_rule_is_relative(r->gate->rule))
        return judge_change(j, r);
    r->why[0] = '\0'; /* what the baseline lacks is of no account */
    judge_absolute(r);
    return TM_OK;
}

/* --- the document --- */

static void add_text_or_null(struct tm_value *to, const char *key, const char *text)
{
    if (text && *text)
        tm_add_string(to, key, text);
    else
        tm_add_null(to, key, NULL);
}

/* A figure and how people read it. */
static void add_figure(struct tm_value *to, const char *key, const char *text_key, double value,
                       const char *unit)
{
    char text[TM_FORMAT_BYTES];

    tm_add_double(to, key, value); /* null where it is not known */
    add_text_or_null(to, text_key, isnan(value) ? NULL : tm_format_unit(text, value, unit));
}

static void add_result(struct tm_value *list, const struct judging *j, const struct result *r)
{
    const struct tm_gate *const gate = r->gate;
    struct tm_value *const row = tm_add_object(list, NULL);
    const bool is_known = r->figure.state == TM_FIGURE_KNOWN;

    tm_add_string(row, "figure", r->path);
    add_text_or_null(row, "place",
                     is_known && strcmp(r->figure.place, r->path) != 0 ? r->figure.place : NULL);
    add_text_or_null(row, "title",
                     gate->title ? gate->title : tm_figure_title(j->input->summary, r->path));
    tm_add_string(row, "unit", r->figure.unit);
    tm_add_string(row, "rule", tm_rule_name[gate->rule]);
    tm_add_double(row, "limit", r->limit);
    tm_add_string(row, "limit_text", gate->limit_text);
    tm_add_bool(row, "fails_at_limit", gate->fails_at_limit);
    add_figure(row, "value", "value_text", is_known ? r->figure.value : NAN, r->figure.unit);
    add_figure(row, "baseline", "baseline_text", r->baseline, r->figure.unit);
    tm_add_double(row, "change_pct", r->change_pct);
    tm_add_double(row, "p", tm_rule_is_relative(gate->rule) ? r->noise.p : NAN);
    tm_add_double(row, "noise_pct", r->noise.noise_pct);
    tm_add_bool(row, "required", gate->required);
    tm_add_string(row, "status", status_name[r->status]);
    add_text_or_null(row, "why", r->why);
    add_text_or_null(row, "note", gate->note);
}

static tm_status judge_all(struct judging *j, struct tm_value *list)
{
    for (size_t i = 0; i < j->gates->count; i++) {
        char path[TM_FIGURE_PATH];
        struct result r = {
            .gate = &j->gates->gate[i], .baseline = NAN, .change_pct = NAN, .noise = { NAN, NAN }
        };

        r.path = tm_figure_path(j->input->summary, r.gate->figure, path);
        const tm_status st = judge_gate(j, &r);

        if (st != TM_OK)
            return st;
        j->count[r.status]++;
        add_result(list, j, &r);
    }
    return TM_OK;
}

static void add_run(struct tm_value *to, const struct tm_compared_run *of)
{
    char fingerprint[TM_FINGERPRINT_BYTES];

    tm_add_string(to, "run", tm_text(tm_path(of->summary, "input.run")));
    tm_add_string(to, "path", of->path);
    add_text_or_null(to, "fingerprint", tm_fingerprint(fingerprint, of->summary));
    tm_add_bool(to, "partial", is_partial(of->summary));
}

static void add_heads(struct tm_value *root, const struct judging *j)
{
    struct tm_value *tool, *report, *baseline, *list;

    tm_add_string(root, "schema", "tracemill.check");
    tm_add_int(root, "schema_version", 1);
    tool = tm_add_object(root, "tool");
    tm_add_string(tool, "name", "tracemill");
    tm_add_string(tool, "version", TM_VERSION);
    report = tm_add_object(root, "report");
    tm_add_null(report, "title", NULL);
    tm_add_null(report, "note", NULL);
    tm_add_bool(report, "redacted", tm_is(tm_path(j->input->summary, "report.redacted")));
    add_run(tm_add_object(root, "input"), j->input);
    add_text_or_null(root, "gate_file", j->gates->path);
    if (!j->baseline) {
        tm_add_null(root, "baseline", NULL);
        return;
    }
    baseline = tm_add_object(root, "baseline");
    tm_add_string(baseline, "label", j->baseline->label);
    list = tm_add_array(baseline, "runs");
    for (size_t i = 0; i < j->baseline->runs; i++)
        add_run(tm_add_object(list, NULL), &j->baseline->run[i]);
}

static const char *model_of(const struct tm_value *summary)
{
    return tm_text(tm_path(summary, "environment.devices[0].model"));
}

/* What makes the comparison a doubtful one. */
static void add_notes(struct tm_value *list, const struct judging *j)
{
    for (size_t i = 0; j->baseline && i < j->baseline->runs; i++) {
        const char *model = model_of(j->input->summary),
                   *other = model_of(j->baseline->run[i].summary);
        char text[WHY_BYTES];

        if (!*model || !*other || strcmp(model, other) == 0)
            continue;
        (void)snprintf(text, sizeof(text), "The baseline ran on %.120s, this run on %.120s.", other,
                       model);
        tm_add_string(list, NULL, text);
        return;
    }
}

/* The first row of a status, as people would name it. */
static const char *first_name(const struct tm_value *rows, enum status status)
{
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (strcmp(tm_text(tm_get(row, "status")), status_name[status]) == 0)
            return tm_text(tm_has(tm_get(row, "title")) ? tm_get(row, "title")
                                                        : tm_get(row, "figure"));
    }
    return "";
}

static void add_verdict(struct tm_value *to, const struct judging *j, const struct tm_value *rows)
{
    const size_t *const count = j->count, all = j->gates->count;
    const enum status worst = count[FAILED] > 0 ? FAILED : count[UNKNOWN] > 0 ? UNKNOWN : PASSED;
    char text[WHY_BYTES];

    if (worst == PASSED && count[SKIPPED] == 0)
        (void)snprintf(text, sizeof(text), all == 1 ? "The gate passed." : "All %zu gates passed.",
                       all);
    else if (worst == PASSED)
        (void)snprintf(text, sizeof(text), "%zu of %zu gates passed, the others were skipped.",
                       count[PASSED], all);
    else
        (void)snprintf(text, sizeof(text), "%zu of %zu gates %s: %.200s%s.", count[worst], all,
                       worst == FAILED ? "failed" : "cannot be judged", first_name(rows, worst),
                       count[worst] > 1 ? " and others" : "");
    tm_add_string(to, "text", text);
    tm_add_string(to, "severity", worst == FAILED ? "bad" : worst == UNKNOWN ? "warning" : "info");
}

tm_status tm_gates_judge(struct tm_run *run, struct tm_doc *out, const struct tm_gates *gates,
                         const struct tm_compared_run *input, const struct tm_side *baseline,
                         size_t *failed)
{
    struct judging j = { .run = run, .gates = gates, .input = input, .baseline = baseline };
    struct tm_value *const root = tm_doc_root(out);
    tm_status st = tm_refuse_same_run(run, input, baseline);

    if (st != TM_OK)
        return st;
    add_heads(root, &j);
    add_notes(tm_add_array(root, "notes"), &j);
    struct tm_value *const rows = tm_add_array(root, "gates");

    if ((st = judge_all(&j, rows)) != TM_OK)
        return st;
    struct tm_value *const counts = tm_add_object(root, "counts");

    for (int i = 0; i < STATUSES; i++)
        tm_add_uint(counts, status_name[i], j.count[i]);
    add_verdict(tm_add_object(root, "verdict"), &j, rows);
    *failed = j.count[FAILED];
    return tm_doc_status(out);
}
