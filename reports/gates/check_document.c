/* SPDX-License-Identifier: Apache-2.0 */
/* The document of a check: schemas/CHECK.md. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/version.h"
#include "reports/format/format.h"
#include "reports/gates/judging.h"
#include "reports/compare/run_facts.h"
#include "reports/gates/same_run.h"

static const char *const status_name[TM_GATE_STATUSES] = { "passed", "failed", "unknown",
                                                           "skipped" };

/* A figure and how people read it. */
static void add_figure(struct tm_value *to, const char *key, const char *text_key, double value,
                       const char *unit, bool is_per_step)
{
    char text[TM_FORMAT_BYTES], per_step[TM_FORMAT_BYTES + 16] = "";

    tm_add_double(to, key, value); /* null where it is not known */
    if (!isnan(value))
        (void)snprintf(per_step, sizeof(per_step), "%s%s", tm_format_unit(text, value, unit),
                       is_per_step ? " per step" : "");
    tm_add_known(to, text_key, per_step, NULL);
}

void tm_check_add(struct tm_value *rows, const struct tm_judging *j, const struct tm_gate_result *r)
{
    const struct tm_gate *const gate = r->gate;
    struct tm_value *const row = tm_add_object(rows, NULL);
    const bool is_known = r->figure.state == TM_FIGURE_KNOWN;

    tm_add_string(row, "figure", r->is_total ? gate->figure : r->path);
    tm_add_known(row, "place",
                     is_known && strcmp(r->figure.place, r->path) != 0 ? r->figure.place : NULL, NULL);
    tm_add_known(row, "title",
                     gate->title ? gate->title : tm_figure_title(j->input->summary, r->path), NULL);
    tm_add_string(row, "unit", r->figure.unit);
    tm_add_string(row, "rule", tm_rule_name[gate->rule]);
    tm_add_double(row, "limit", r->limit);
    tm_add_string(row, "limit_text", gate->limit_text);
    tm_add_bool(row, "fails_at_limit", gate->fails_at_limit);
    add_figure(row, "value", "value_text", is_known ? r->figure.value : NAN, r->figure.unit, r->steps > 0);
    add_figure(row, "baseline", "baseline_text", r->baseline, r->figure.unit, r->steps > 0);
    tm_add_bool(row, "per_step", r->steps > 0);
    tm_add_double(row, "change_pct", r->change_pct);
    tm_add_double(row, "p", tm_rule_is_relative(gate->rule) ? r->noise.p : NAN);
    tm_add_double(row, "noise_pct", r->noise.noise_pct);
    tm_add_bool(row, "required", gate->required);
    tm_add_string(row, "status", status_name[r->status]);
    tm_add_known(row, "why", r->why, NULL);
    tm_add_known(row, "note", gate->note, NULL);
}

static void add_run(struct tm_value *to, const struct tm_compared_run *of)
{
    char fingerprint[TM_RUN_FINGERPRINT_BYTES];

    tm_add_string(to, "run", tm_text(tm_path(of->summary, "input.run")));
    tm_add_string(to, "path", of->path);
    (void)tm_fingerprint(of->summary, fingerprint);
    tm_add_known(to, "fingerprint", fingerprint, NULL);
    tm_add_bool(to, "partial", tm_is(tm_path(of->summary, "input.partial")));
}

static void add_baseline(struct tm_value *root, const struct tm_comparison_side *side)
{
    if (!side) {
        tm_add_null(root, "baseline", NULL);
        return;
    }
    struct tm_value *const baseline = tm_add_object(root, "baseline");

    tm_add_string(baseline, "label", side->label);
    struct tm_value *const list = tm_add_array(baseline, "runs");

    for (size_t i = 0; i < side->runs; i++)
        add_run(tm_add_object(list, NULL), &side->run[i]);
}

static const char *model_of(const struct tm_value *summary)
{
    return tm_text(tm_path(summary, "environment.devices[0].model"));
}

/* What makes the comparison a doubtful one. */
static void add_notes(struct tm_value *list, const struct tm_judging *j)
{
    for (size_t i = 0; j->baseline && i < j->baseline->runs; i++) {
        const char *model = model_of(j->input->summary),
                   *other = model_of(j->baseline->run[i].summary);
        char text[TM_WHY_BYTES];

        if (!*model || !*other || strcmp(model, other) == 0)
            continue;
        (void)snprintf(text, sizeof(text), "The baseline ran on %.120s, this run on %.120s.", other,
                       model);
        tm_add_string(list, NULL, text);
        return;
    }
}

void tm_check_begin(struct tm_value *root, const struct tm_judging *j)
{
    struct tm_value *tool, *report;

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
    tm_add_known(root, "gate_file", j->gates->path, NULL);
    add_baseline(root, j->baseline);
    add_notes(tm_add_array(root, "notes"), j);
}

/* The first row of a status, as people would name it. */
static const char *first_name(const struct tm_value *rows, enum tm_gate_status status)
{
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (strcmp(tm_text(tm_get(row, "status")), status_name[status]) == 0)
            return tm_text(tm_has(tm_get(row, "title")) ? tm_get(row, "title")
                                                        : tm_get(row, "figure"));
    }
    return "";
}

static void add_verdict(struct tm_value *to, const struct tm_judging *j,
                        const struct tm_value *rows)
{
    const size_t *const count = j->count, all = tm_length(rows);
    const enum tm_gate_status worst = count[TM_GATE_FAILED] > 0    ? TM_GATE_FAILED
                                      : count[TM_GATE_UNKNOWN] > 0 ? TM_GATE_UNKNOWN
                                                                   : TM_GATE_PASSED;
    char text[TM_WHY_BYTES];

    if (all == 0) /* a run of a batch */
        (void)snprintf(text, sizeof(text), "No gate is for this job.");
    else if (worst == TM_GATE_PASSED && count[TM_GATE_SKIPPED] == 0)
        (void)snprintf(text, sizeof(text), all == 1 ? "The gate passed." : "All %zu gates passed.",
                       all);
    else if (worst == TM_GATE_PASSED)
        (void)snprintf(text, sizeof(text), "%zu of %zu gates passed, the others were skipped.",
                       count[TM_GATE_PASSED], all);
    else
        (void)snprintf(text, sizeof(text), "%zu of %zu gates %s: %.200s%s.", count[worst], all,
                       worst == TM_GATE_FAILED ? "failed" : "cannot be judged",
                       first_name(rows, worst), count[worst] > 1 ? " and others" : "");
    tm_add_string(to, "text", text);
    tm_add_string(to, "severity",
                  worst == TM_GATE_FAILED    ? "critical"
                  : worst == TM_GATE_UNKNOWN ? "warning"
                                             : "info");
}

void tm_check_end(struct tm_value *root, const struct tm_judging *j)
{
    struct tm_value *const counts = tm_add_object(root, "counts");

    for (int i = 0; i < TM_GATE_STATUSES; i++)
        tm_add_uint(counts, status_name[i], j->count[i]);
    add_verdict(tm_add_object(root, "verdict"), j, tm_get(root, "gates"));
}
