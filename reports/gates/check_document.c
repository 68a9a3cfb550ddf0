/* SPDX-License-Identifier: Apache-2.0 */
/* The document of a check: schemas/CHECK.md; and the result of one, or of a night, as JUnit XML. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pipeline/doc/doc.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/run.h"
#include "pipeline/store/bounded_sum.h"
#include "pipeline/strings.h"
#include "reports/compare/compare.h"
#include "reports/format/format.h"
#include "reports/gates/gates.h"
#include "reports/statistics/statistics.h"

static const char *const status_name[TM_GATE_STATUSES] = { "passed", "failed", "unknown", "skipped" };

/* A figure as a number and as readable text. */
static void add_figure(struct tm_value *to, const char *key, const char *text_key, double value, const char *unit,
                       bool is_per_step)
{
    char text[TM_FORMAT_BYTES], per_step[TM_FORMAT_BYTES + 16] = "";

    tm_add_double(to, key, value); /* null if it is not known */
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
    char headline[TM_FIGURE_TITLE_BYTES];

    tm_add_string(row, "figure", r->is_total ? gate->figure : r->path);
    tm_add_known(row, "place", is_known && strcmp(r->figure.place, r->path) != 0 ? r->figure.place : NULL, NULL);
    tm_add_known(row, "title", gate->title ? gate->title : tm_figure_title(j->input->summary, r->path, headline), NULL);
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

/* What makes the comparison unreliable. */
static void add_notes(struct tm_value *list, const struct tm_judging *j)
{
    for (size_t i = 0; j->baseline && i < j->baseline->runs; i++) {
        const char *model = model_of(j->input->summary), *other = model_of(j->baseline->run[i].summary);
        char text[TM_WHY_BYTES];

        if (!*model || !*other || strcmp(model, other) == 0)
            continue;
        (void)snprintf(text, sizeof(text), "The baseline ran on %.120s, this run on %.120s.", other, model);
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

/* The first row of a status, by its readable name. */
static const char *first_name(const struct tm_value *rows, enum tm_gate_status status)
{
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (strcmp(tm_text(tm_get(row, "status")), status_name[status]) == 0)
            return tm_text(tm_has(tm_get(row, "title")) ? tm_get(row, "title") : tm_get(row, "figure"));
    }
    return "";
}

static void add_verdict(struct tm_value *to, const struct tm_judging *j, const struct tm_value *rows)
{
    const size_t *const count = j->count, all = tm_length(rows);
    const enum tm_gate_status worst = count[TM_GATE_FAILED] > 0    ? TM_GATE_FAILED
                                      : count[TM_GATE_UNKNOWN] > 0 ? TM_GATE_UNKNOWN
                                                                   : TM_GATE_PASSED;
    char text[TM_WHY_BYTES], others[40] = "";

    if (count[worst] > 1)
        (void)snprintf(others, sizeof(others), " and %zu more", count[worst] - 1);
    if (all == 0) /* a run of a batch */
        (void)snprintf(text, sizeof(text), "No gate applies to this job.");
    else if (worst == TM_GATE_PASSED && count[TM_GATE_SKIPPED] == 0)
        (void)snprintf(text, sizeof(text), all == 1 ? "The gate passed." : "All %zu gates passed.", all);
    else if (worst == TM_GATE_PASSED)
        (void)snprintf(text, sizeof(text), "%zu of %zu gates passed, the others were skipped.", count[TM_GATE_PASSED],
                       all);
    else
        (void)snprintf(text, sizeof(text), "%zu of %zu gates %s: %.200s%s.", count[worst], all,
                       worst == TM_GATE_FAILED ? "failed" : "could not be evaluated", first_name(rows, worst), others);
    tm_add_string(to, "text", text);
    tm_add_string(to, "severity", worst == TM_GATE_FAILED ? "critical" : worst == TM_GATE_UNKNOWN ? "warning" : "info");
}

void tm_check_end(struct tm_value *root, const struct tm_judging *j)
{
    struct tm_value *const counts = tm_add_object(root, "counts");

    for (int i = 0; i < TM_GATE_STATUSES; i++)
        tm_add_uint(counts, status_name[i], j->count[i]);
    add_verdict(tm_add_object(root, "verdict"), j, tm_get(root, "gates"));
}

/* A gate file for the current state of a run: the usual figures, each limit with some tolerance, in readable units. 
 * The tolerance of times is the larger one of a share and of the observed step variation; the note of each gate has the
 * measured value. */

static const double TIME_ROOM_PCT = 10, MEMORY_ROOM_PCT = 5, SHARE_ROOM_POINTS = 5, OTHER_ROOM_PCT = 10;

static const double CHANGE_LEAST_PCT = 5, NOISE_TIMES = 3;

static const double PS_PER_MS = 1e9, MIB = 1048576;

struct init {
    const struct tm_value *summary;
    struct tm_value *list;
    double noise_pct; /* of the step time; 0 = not known */
};

enum { LIMIT_BYTES = 48, NOTE_BYTES = 256 };

/* Rounded away from the figure in the third digit, so that the tolerance is kept. */
static double round_out(double value, bool is_upper)
{
    if (value == 0)
        return 0;
    const double digits = 2 - floor(log10(fabs(value)));
    const double step = pow(10, fabs(digits)); /* an integer, so that 117 steps are exactly 11.7 */
    const double steps = digits > 0 ? value * step : value / step;
    const double round = is_upper ? ceil(steps - 1e-9) : floor(steps + 1e-9);

    return digits > 0 ? round / step : round * step;
}

static const char *limit_text(char *to, double value, const char *unit, bool is_upper)
{
    const double round = round_out(value, is_upper);

    if (strcmp(unit, "ps") == 0)
        (void)snprintf(to, LIMIT_BYTES, "%.12gms", round / PS_PER_MS);
    else if (strcmp(unit, "bytes") == 0)
        (void)snprintf(to, LIMIT_BYTES, "%.0fMiB", ceil(value / MIB));
    else
        (void)snprintf(to, LIMIT_BYTES, "%.12g%s", round, strcmp(unit, "count") == 0 ? "" : unit);
    return to;
}

static struct tm_value *add_gate(struct init *init, const char *path, const char *note)
{
    struct tm_value *const gate = tm_add_object(init->list, NULL);

    tm_add_string(gate, "figure", path);
    tm_add_string(gate, "note", note);
    return gate;
}

static bool find(const struct init *init, struct tm_figure *figure, const char *path)
{
    tm_figure_find(figure, init->summary, path, TM_FIGURE_MOST);
    return figure->state == TM_FIGURE_KNOWN && isfinite(figure->value);
}

static double median_of(double *value, size_t count)
{
    tm_sample_sort(value, count);
    return tm_sample_quantile((struct tm_sample){ value, count }, 0.5);
}

/* A multiple of the variation of the median of such a run, in percent.  It uses the median of
 * the distances from the median, because a single interrupted step says nothing about
 * the others. */
static double noise_of(double *value, size_t count)
{
    const double median = median_of(value, count), to_normal = 1.4826 * 1.2533; /* MAD to sigma; that of a median */

    for (size_t i = 0; i < count; i++)
        value[i] = fabs(value[i] - median);
    return median > 0 ? 100 * NOISE_TIMES * to_normal * median_of(value, count) / sqrt((double)count) / median : 0;
}

static void measure_noise(struct init *init, struct tm_run *run)
{
    const struct tm_value *samples = tm_path(init->summary, "steps.samples_ps");
    const size_t count = tm_length(samples), bytes = count * sizeof(double);
    double *const value = count < 2 ? NULL : tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);

    if (!value)
        return;
    for (size_t i = 0; i < count; i++)
        value[i] = tm_double(tm_at(samples, i));
    init->noise_pct = noise_of(value, count);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, value, bytes);
}

static void add_step_time(struct init *init)
{
    const struct tm_run_figure *of = &tm_figure_table[0];
    struct tm_figure figure;
    char value[TM_FORMAT_BYTES], limit[LIMIT_BYTES], note[NOTE_BYTES];

    if (!find(init, &figure, of->path) || !(figure.value > 0) ||
        strcmp(tm_text(tm_path(init->summary, "steps.source")), "session") == 0)
        return;
    (void)tm_format_time(value, tm_whole(figure.value));
    (void)snprintf(note, sizeof(note), "Its value here was %s. It differs between devices: omit this gate there.",
                   value);
    struct tm_value *gate = add_gate(init, of->path, note);

    tm_add_string(gate, "max",
                  limit_text(limit, figure.value * (1 + fmax(TIME_ROOM_PCT, init->noise_pct) / 100), "ps", true));
    for (size_t i = 0; (of = tm_run_figure(i)); i++) {
        if (of->gate != TM_GATE_NO_INCREASE || !find(init, &figure, of->path))
            continue;
        gate = add_gate(init, of->path, of->gate_note);
        tm_add_double(gate, "max_increase_pct", round_out(fmax(CHANGE_LEAST_PCT, init->noise_pct), true));
        tm_add_double(gate, "min_effect_pct", 1);
        tm_add_bool(gate, "required", false);
    }
}

/* Key figures that indicate a change of the program rather than of its size. */
static void add_kpi(struct init *init, const struct tm_value *kpi)
{
    const char *id = tm_text(tm_get(kpi, "id")), *unit = tm_text(tm_get(kpi, "unit"));
    const double value = tm_double(tm_get(kpi, "value"));
    const struct tm_run_figure *figure = tm_run_figure_of_kpi(id);
    const bool is_share = strcmp(unit, "%") == 0;
    const bool is_upper = tm_double(tm_get(kpi, "good")) <= tm_double(tm_get(kpi, "bad"));
    const double room = is_share ? SHARE_ROOM_POINTS : fabs(value) * OTHER_ROOM_PCT / 100;
    char path[96], shown[TM_FORMAT_BYTES], note[NOTE_BYTES], limit[LIMIT_BYTES];

    if (!figure || figure->gate != TM_GATE_BAND || !tm_has(tm_get(kpi, "value")) || !tm_has(tm_get(kpi, "good")))
        return;
    (void)snprintf(path, sizeof(path), "kpis[%.40s].value", id);
    (void)snprintf(note, sizeof(note), "%.100s: the value was %s.", tm_text(tm_get(kpi, "title")),
                   tm_format_unit(shown, value, unit));
    const double bound = is_upper ? value + room : fmax(value - room, 0);

    if (is_upper || bound > 0)
        tm_add_string(add_gate(init, path, note), is_upper ? "max" : "min", limit_text(limit, bound, unit, is_upper));
}

/* No more than now; for a size, with some tolerance. */
static void add_at_most(struct init *init, const struct tm_run_figure *of)
{
    const bool is_size = of->kind == TM_DOC_BYTES;
    struct tm_figure figure;
    char value[TM_FORMAT_BYTES], note[NOTE_BYTES], limit[LIMIT_BYTES];

    if (!find(init, &figure, of->path) || (is_size && !(figure.value > 0)))
        return;
    if (is_size)
        (void)snprintf(note, sizeof(note), "%s: the value was %s.", of->gate_note,
                       tm_format_bytes(value, figure.value));
    struct tm_value *const gate = add_gate(init, of->path, is_size ? note : of->gate_note);

    tm_add_string(gate, "title", of->gate_title);
    if (is_size)
        tm_add_string(gate, "max", limit_text(limit, figure.value * (1 + MEMORY_ROOM_PCT / 100), "bytes", true));
    else
        tm_add_double(gate, "max", figure.value);
}

static void add_gates(struct init *init)
{
    const struct tm_value *kpis = tm_get(init->summary, "kpis");
    const struct tm_run_figure *figure;

    add_step_time(init);
    for (size_t i = 0; i < tm_length(kpis); i++)
        add_kpi(init, tm_at(kpis, i));
    for (size_t i = 0; (figure = tm_run_figure(i)); i++)
        if (figure->gate == TM_GATE_AT_MOST)
            add_at_most(init, figure);
}

static tm_status print(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    if (fflush(to) != 0)
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write the gate file");
    return tm_doc_print(doc, run, fileno(to));
}

tm_status tm_gates_init(struct tm_run *run, const struct tm_value *summary, FILE *to)
{
    struct tm_doc *const doc = tm_doc_new(run);

    if (!doc)
        return TM_ERR_LIMIT;
    struct tm_value *const root = tm_doc_root(doc);

    tm_add_string(root, "schema", "tracemill.gates");
    tm_add_int(root, "schema_version", 1);
    tm_add_string(root, "note",
                  "Created from an existing run: change the limits to your requirements. See "
                  "docs/gates.md");
    struct init init = { .summary = summary, .list = tm_add_array(root, "gates") };

    measure_noise(&init, run);
    add_gates(&init);
    if (tm_length(init.list) == 0)
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "the run has no figure that a gate can check");
    if (!tm_failed(run))
        (void)print(run, doc, to);
    tm_doc_free(doc);
    return run->error.status;
}

/* --- JUnit XML ---
 * As Jenkins and GitLab read it: one suite, a case for each
 * gate.  A failed gate is a failure, one that cannot be assessed an error, a skipped one is skipped.
 * Source: the schema of Jenkins' xUnit plugin, junit-10.xsd. */

/* Shared by the files of one check and of a night.  Texts are any bytes. */

static void put_counts(FILE *to, const struct tm_value *root)
{
    const struct tm_value *counts = tm_get(root, "counts");

    (void)fprintf(to, " tests=\"%zu\" failures=\"%" PRId64 "\" errors=\"%" PRId64 "\"",
                  tm_length(tm_get(root, "gates")), tm_int(tm_get(counts, "failed")),
                  tm_int(tm_get(counts, "unknown")));
}

static void junit_attribute(FILE *to, const char *name, const char *text);
static void junit_property(FILE *to, const char *name, const char *value);
static void junit_cases(FILE *to, const struct tm_value *rows, const char *classname);
static tm_status junit_end(struct tm_run *run, FILE *to);

tm_status tm_junit_write(struct tm_run *run, const struct tm_doc *result, FILE *to)
{
    const struct tm_value *const root = tm_doc_root(result);

    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", to);
    put_counts(to, root);
    (void)fputs(" time=\"0\">\n  <testsuite", to);
    junit_attribute(to, "name", "tracemill check");
    put_counts(to, root);
    (void)fprintf(to, " skipped=\"%" PRId64 "\" time=\"0\">\n    <properties>\n",
                  tm_int(tm_path(root, "counts.skipped")));
    junit_property(to, "input", tm_text(tm_path(root, "input.path")));
    junit_property(to, "run", tm_text(tm_path(root, "input.run")));
    (void)fputs("    </properties>\n", to);
    junit_cases(to, tm_get(root, "gates"), "tracemill.check");
    (void)fputs("  </testsuite>\n", to);
    return junit_end(run, to);
}

/* ` NAME="TEXT"` */
static void junit_attribute(FILE *to, const char *name, const char *text)
{
    (void)fprintf(to, " %s=\"", name);
    tm_format_xml(to, text);
    (void)fputc('"', to);
}

static void junit_property(FILE *to, const char *name, const char *value)
{
    (void)fprintf(to, "      <property name=\"%s\"", name);
    junit_attribute(to, "value", value);
    (void)fputs("/>\n", to);
}

static const char *text_of(const struct tm_value *row, const char *key)
{
    return tm_text(tm_get(row, key));
}

static bool is_one_before(const struct tm_value *rows, size_t at)
{
    const struct tm_value *row = tm_at(rows, at);

    for (size_t i = 0; i < at; i++) {
        const struct tm_value *other = tm_at(rows, i);

        if (strcmp(text_of(row, "figure"), text_of(other, "figure")) == 0 &&
            strcmp(text_of(row, "rule"), text_of(other, "rule")) == 0 &&
            strcmp(text_of(row, "limit_text"), text_of(other, "limit_text")) == 0)
            return true;
    }
    return false;
}

/* "steps.median_ps max 150ms": unique, because a server would merge equal names. */
static void put_name(FILE *to, const struct tm_value *rows, size_t at)
{
    const struct tm_value *row = tm_at(rows, at);

    (void)fputs(" name=\"", to);
    tm_format_xml(to, text_of(row, "figure"));
    (void)fputc(' ', to);
    tm_format_xml(to, text_of(row, "rule"));
    (void)fputc(' ', to);
    tm_format_xml(to, text_of(row, "limit_text"));
    if (is_one_before(rows, at))
        (void)fprintf(to, " (%zu)", at + 1);
    (void)fputc('"', to);
}

/* The figure in one line. */
static void put_facts(FILE *to, const struct tm_value *row)
{
    static const struct {
        const char *before, *key;
    } facts[] = {
        { "it is ", "value_text" }, { ", in the baseline ", "baseline_text" }, { ", at ", "place" }, { ": ", "why" }
    };
    const bool is_known = tm_has(tm_get(row, "value"));

    if (tm_has(tm_get(row, "title"))) {
        tm_format_xml(to, text_of(row, "title"));
        (void)fputs(": ", to);
    }
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (!tm_has(tm_get(row, facts[i].key)))
            continue;
        (void)fputs(is_known ? facts[i].before : "", to);
        tm_format_xml(to, text_of(row, facts[i].key));
    }
    if (is_known && tm_has(tm_get(row, "change_pct"))) {
        char pct[TM_FORMAT_BYTES];

        (void)fprintf(to, " (%s%s%%)", tm_double(tm_get(row, "change_pct")) > 0 ? "+" : "",
                      tm_format_number(pct, tm_double(tm_get(row, "change_pct"))));
    }
}

const char *tm_gate_rule_words(const struct tm_value *result)
{
    static const char *const rules[][2] = {
        { "max", "at most " },
        { "min", "at least " },
        { "equals", "" },
        { "max_increase", "an increase of at most " },
        { "max_decrease", "a decrease of at most " },
        { "max_increase_pct", "an increase in percent of at most " },
        { "max_decrease_pct", "a decrease in percent of at most " },
    };

    return tm_format_word(TM_PAIRS(rules), text_of(result, "rule"), "");
}

/* "; the limit is at most 1 ms" */
static void put_limit(FILE *to, const struct tm_value *row)
{
    (void)fprintf(to, "; the limit is %s", tm_gate_rule_words(row));
    tm_format_xml(to, text_of(row, "limit_text"));
}

static void put_outcome(FILE *to, const struct tm_value *row, const char *element, const char *type)
{
    (void)fprintf(to, "      <%s message=\"", element);
    put_facts(to, row);
    put_limit(to, row);
    if (!type) {
        (void)fputs("\"/>\n", to);
        return;
    }
    (void)fprintf(to, "\" type=\"%s\">", type);
    tm_format_xml(to, text_of(row, "note"));
    (void)fprintf(to, "</%s>\n", element);
}

static void put_case(FILE *to, const struct tm_value *rows, size_t at, const char *classname)
{
    const struct tm_value *row = tm_at(rows, at);
    const char *status = text_of(row, "status");

    (void)fputs("    <testcase", to);
    put_name(to, rows, at);
    junit_attribute(to, "classname", classname);
    (void)fputs(" time=\"0\">\n", to);
    if (strcmp(status, "failed") == 0)
        put_outcome(to, row, "failure", "gate");
    else if (strcmp(status, "unknown") == 0)
        put_outcome(to, row, "error", "unknown");
    else if (strcmp(status, "skipped") == 0)
        put_outcome(to, row, "skipped", NULL);
    (void)fputs("      <system-out>", to);
    put_facts(to, row);
    (void)fputs("</system-out>\n    </testcase>\n", to);
}

/* A case for each row of CHECK.md, with unique names. */
static void junit_cases(FILE *to, const struct tm_value *rows, const char *classname)
{
    for (size_t i = 0; i < tm_length(rows); i++)
        put_case(to, rows, i, classname);
}

/* errors: TM_ERR_OUTPUT */
static tm_status junit_end(struct tm_run *run, FILE *to)
{
    (void)fputs("</testsuites>\n", to);
    if (fflush(to) != 0 || ferror(to))
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the JUnit file");
    return TM_OK;
}

/* The names of suites and cases are the same from night to night, so that a server can show how long a case has been
 * failing.  The time of a suite is that of the run, not when the file was written. */

enum { NAME_BYTES = 320 };

struct counts {
    uint64_t tests, failures, errors, skipped;
};

static bool is(const struct tm_value *from, const char *key, const char *word)
{
    return strcmp(text_of(from, key), word) == 0;
}

/* Problem of the report's case: NULL = the report exists and was read. */
static const char *error_of(const struct tm_value *row)
{
    if (is(row, "verdict", "no report"))
        return text_of(row, "status");
    return is(row, "verdict", "unknown") && tm_length(tm_get(row, "gates")) == 0 ? "unread" : NULL;
}

static void count(struct counts *c, const struct tm_value *row)
{
    const struct tm_value *const gates = tm_get(row, "gates");

    c->tests += 1 + tm_length(gates);
    c->errors += error_of(row) != NULL;
    for (size_t i = 0; i < tm_length(gates); i++) {
        const struct tm_value *const gate = tm_at(gates, i);

        c->failures += is(gate, "status", "failed");
        c->errors += is(gate, "status", "unknown");
        c->skipped += is(gate, "status", "skipped");
    }
}

static void put_nightly_counts(FILE *to, const struct counts *c)
{
    (void)fprintf(to, " tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"%" PRIu64 "\"", c->tests, c->failures,
                  c->errors);
}

static void put_time(FILE *to, int64_t when_ns)
{
    const time_t seconds = (time_t)(when_ns / 1000000000);
    char text[32];
    struct tm parts;

    if (when_ns > 0 && gmtime_r(&seconds, &parts) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts))
        junit_attribute(to, "timestamp", text);
}

static void put_properties(FILE *to, const struct tm_value *row)
{
    static const char *const key[] = { "id", "night", "revision", "label", "status", "report" };
    const struct tm_value *const baseline = tm_get(row, "baseline");

    (void)fputs("    <properties>\n", to);
    for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
        if (*text_of(row, key[i]))
            junit_property(to, key[i], text_of(row, key[i]));
    }
    for (size_t i = 0; i < tm_length(baseline); i++)
        junit_property(to, "baseline", tm_text(tm_at(baseline, i)));
    (void)fputs("    </properties>\n", to);
}

static void put_report(FILE *to, const struct tm_value *row, const char *name)
{
    const char *const error = error_of(row);

    (void)fputs("    <testcase name=\"report\"", to);
    junit_attribute(to, "classname", name);
    (void)fputs(" time=\"0\"", to);
    if (!error) {
        (void)fputs("/>\n", to);
        return;
    }
    (void)fputs(">\n      <error", to);
    junit_attribute(to, "message", *text_of(row, "message") ? text_of(row, "message") : text_of(row, "text"));
    junit_attribute(to, "type", error);
    (void)fputs("/>\n    </testcase>\n", to);
}

/* in: night  the last one: runs of other nights have the night in their names, so that those of this one do not
 * change */
static void put_suite(FILE *to, const struct tm_value *row, const char *night, size_t number)
{
    const struct tm_value *const notes = tm_get(row, "notes");
    const bool is_other = !is(row, "night", night);
    struct counts c = { 0 };
    char name[NAME_BYTES];
    int used = snprintf(name, sizeof(name), "%.255s%s%.10s", text_of(row, "job"), is_other ? " of " : "",
                        is_other ? text_of(row, "night") : "");

    if (number > 1)
        (void)snprintf(name + used, sizeof(name) - (size_t)used, " #%zu", number);
    count(&c, row);
    (void)fputs("  <testsuite", to);
    junit_attribute(to, "name", name);
    put_nightly_counts(to, &c);
    (void)fprintf(to, " skipped=\"%" PRIu64 "\"", c.skipped);
    put_time(to, tm_int(tm_get(row, "when_ns")));
    (void)fputs(" time=\"0\">\n", to);
    put_properties(to, row);
    put_report(to, row, name);
    junit_cases(to, tm_get(row, "gates"), name);
    if (tm_length(notes)) {
        (void)fputs("    <system-out>", to);
        for (size_t i = 0; i < tm_length(notes); i++) {
            (void)fputs(i ? "\n" : "", to);
            tm_format_xml(to, tm_text(tm_at(notes, i)));
        }
        (void)fputs("</system-out>\n", to);
    }
    (void)fputs("  </testsuite>\n", to);
}

/* The folder of its report; its id if it has none. */
static void put_run(FILE *to, const char *id, const char *report)
{
    const char *const end = strrchr(report, '/');
    char place[TM_RUN_PLACE_BYTES];

    (void)snprintf(place, sizeof(place), "%.*s", end ? (int)(end - report) : 0, report);
    tm_format_xml(to, *place ? place : id);
}

/* Was it open, and then given up? */
static bool is_dropped(const struct tm_value *row)
{
    return is(row, "state", "dismissed") || is(row, "state", "withdrawn") || is(row, "state", "ended");
}

/* A case for each regression: one that is open has failed; one that is to be confirmed, acknowledged, dismissed,
 * withdrawn or ended is skipped.  Its name stays the same while it is in the ledger. */
static void put_regression(FILE *to, const struct tm_value *row, const char *element)
{
    const char *const why = is(row, "state", "unconfirmed") ? "to be confirmed by further runs, no alarm yet"
                            : is(row, "state", "dismissed") ? "the figure usually varies by as much"
                            : tm_has(tm_get(row, "reason")) ? text_of(row, "reason")
                                                            : text_of(row, "cause");
    const char *const state = is_dropped(row) ? text_of(row, "state") : "";
    char text[1200];

    (void)snprintf(text, sizeof(text), "%.60s %.20s", text_of(row, "figure"), text_of(row, "regression"));
    (void)fputs("    <testcase", to);
    junit_attribute(to, "name", text);
    junit_attribute(to, "classname", text_of(row, "job"));
    (void)fprintf(to, " time=\"0\">\n      <%s", element);
    (void)snprintf(text, sizeof(text), "%.100s %.60s -> %.60s%s%.60s since %.10s%s%.60s%s%.20s%s%.600s",
                   text_of(row, "title"), text_of(row, "before_text"), text_of(row, "after_text"),
                   tm_has(tm_get(row, "change_text")) ? ", " : "", text_of(row, "change_text"), text_of(row, "since"),
                   tm_has(tm_get(row, "revision")) ? ", revision " : "", text_of(row, "revision"), *state ? ", " : "",
                   state, *why ? ": " : "", why);
    junit_attribute(to, "message", text);
    if (strcmp(element, "failure") == 0)
        junit_attribute(to, "type", "regression");
    (void)fputs("/>\n      <system-out>", to);
    tm_format_xml(to, "first run: ");
    put_run(to, text_of(row, "id"), text_of(row, "report"));
    if (tm_has(tm_get(row, "good_id"))) {
        tm_format_xml(to, "; last good run: ");
        put_run(to, text_of(row, "good_id"), text_of(row, "good_report"));
    }
    if (tm_has(tm_get(row, "cause"))) {
        tm_format_xml(to, "; cause: ");
        tm_format_xml(to, text_of(row, "cause"));
    }
    (void)fputs("</system-out>\n    </testcase>\n", to);
}

static void put_dropped(FILE *to, const struct tm_value *closed)
{
    for (size_t i = 0; i < tm_length(closed); i++)
        if (is_dropped(tm_at(closed, i)))
            put_regression(to, tm_at(closed, i), "skipped");
}

/* Regressions that are open and no alarms, and those that no run ended. */
static size_t skipped_of(const struct tm_value *night)
{
    const struct tm_value *const closed = tm_get(night, "closed");
    size_t count = tm_length(tm_get(night, "unconfirmed")) + tm_length(tm_get(night, "acknowledged"));

    for (size_t i = 0; i < tm_length(closed); i++)
        count += is_dropped(tm_at(closed, i));
    return count;
}

static void put_regressions(FILE *to, const struct tm_value *night)
{
    static const char *const skipped[] = { "unconfirmed", "acknowledged" };
    const struct tm_value *const open = tm_get(night, "regressions");
    const size_t passed_over = skipped_of(night);

    if (tm_length(open) + passed_over == 0)
        return;
    (void)fprintf(to,
                  "  <testsuite name=\"regressions\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" "
                  "time=\"0\">\n",
                  tm_length(open) + passed_over, tm_length(open), passed_over);
    for (size_t i = 0; i < tm_length(open); i++)
        put_regression(to, tm_at(open, i), "failure");
    for (size_t k = 0; k < sizeof(skipped) / sizeof(skipped[0]); k++)
        for (size_t i = 0; i < tm_length(tm_get(night, skipped[k])); i++)
            put_regression(to, tm_at(tm_get(night, skipped[k]), i), "skipped");
    put_dropped(to, tm_get(night, "closed"));
    (void)fputs("  </testsuite>\n", to);
}

tm_status tm_nightly_junit_write(struct tm_run *run, const struct tm_value *gates, const struct tm_value *night,
                                 FILE *to)
{
    const struct tm_value *const rows = tm_get(gates, "runs");
    struct counts all = { 0 };
    size_t number = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        count(&all, tm_at(rows, i));
    all.tests += tm_length(tm_get(night, "regressions")) + skipped_of(night);
    all.skipped += skipped_of(night);
    all.failures += tm_length(tm_get(night, "regressions"));
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", to);
    junit_attribute(to, "name", text_of(gates, "night"));
    put_nightly_counts(to, &all);
    (void)fputs(" time=\"0\">\n", to);
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *const row = tm_at(rows, i);

        number = i && is(tm_at(rows, i - 1), "job", text_of(row, "job")) &&
                         is(tm_at(rows, i - 1), "night", text_of(row, "night"))
                     ? number + 1
                     : 1;
        put_suite(to, row, text_of(gates, "night"), number);
    }
    put_regressions(to, night);
    return junit_end(run, to);
}
