/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of a comparison and of a check. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/doc/run_figures.h"
#include "reports/content/content.h"
#include "reports/content/emit.h"
#include "reports/format/format.h"

/* --- columns of a table that has one for each side of a comparison (schemas/COMPARISON.md), or one for each but the
 * base --- */

enum { SIDE_TITLE_BYTES = 128, SIDE_KEY_BYTES = 64, LABEL_CHARS = 24 };

struct side_columns {
    struct tm_column column[TM_TABLE_COLUMNS_MOST];
    char title[TM_TABLE_COLUMNS_MOST][SIDE_TITLE_BYTES];
    char key[TM_TABLE_COLUMNS_MOST][SIDE_KEY_BYTES];
    size_t columns;
};

static size_t side_count(const struct tm_value *comparison)
{
    return tm_length(tm_get(comparison, "sides"));
}

/* The label of a side as it is shown, cut in its middle.  out: SIDE_TITLE_BYTES, returned */
static const char *side_label(const struct tm_value *comparison, size_t side, char *out)
{
    const char *label = tm_text(tm_get(tm_at(tm_get(comparison, "sides"), side), "label"));
    char shown[256];

    (void)tm_format_visible(shown, sizeof(shown), label, strlen(label));
    (void)tm_format_middle(out, SIDE_TITLE_BYTES, shown, LABEL_CHARS);
    return out;
}

static void add_column(struct side_columns *to, const char *title, const char *key, unsigned shape)
{
    const size_t at = to->columns;

    if (at == TM_TABLE_COLUMNS_MOST)
        return;
    (void)snprintf(to->title[at], SIDE_TITLE_BYTES, "%s", title);
    (void)snprintf(to->key[at], SIDE_KEY_BYTES, "%s", key);
    to->column[at] = (struct tm_column){ to->title[at], to->key[at], shape };
    to->columns++;
}

/* "LABEL" or "LABEL, what" for each side: the elements of the list `key` of a row. in: what  "" = only the label */
static void add_sides(struct side_columns *to, const struct tm_value *comparison, const char *what, const char *key,
                      unsigned shape)
{
    for (size_t i = 0; i < side_count(comparison); i++) {
        char label[SIDE_TITLE_BYTES], title[2 * SIDE_TITLE_BYTES], path[SIDE_KEY_BYTES];

        (void)snprintf(title, sizeof(title), "%s%s%.60s", side_label(comparison, i, label), *what ? ", " : "", what);
        (void)snprintf(path, sizeof(path), "%.30s[%zu]", key, i);
        add_column(to, title, path, shape);
    }
}

/* "title" if there is one new side, else "LABEL, title", for each of them.
 * in:     key  of an element of `changes` */
static void add_changes(struct side_columns *to, const struct tm_value *comparison, const char *title, const char *key,
                        unsigned shape)
{
    const size_t sides = side_count(comparison);

    for (size_t i = 1; i < sides; i++) {
        char label[SIDE_TITLE_BYTES], whole[2 * SIDE_TITLE_BYTES], path[SIDE_KEY_BYTES];

        (void)snprintf(whole, sizeof(whole), "%s, %c%.60s", side_label(comparison, i, label),
                       tolower((unsigned char)*title), title + 1);
        (void)snprintf(path, sizeof(path), "changes[%zu].%.30s", i - 1, key);
        add_column(to, sides == 2 ? title : whole, path, shape);
    }
}

/* --- a check ---
 * Its gates: those that failed first, then those that could not be assessed, then the rest. */

static void emit_of_status(const struct tm_content *content, const char *where, const char *id, const char *caption)
{
    tm_emit_table(
        content, &(struct tm_table){ .id = id,
                                     .caption = caption,
                                     .shows = "title, figure, place wide, value_text, rule, limit_text, baseline_text, "
                                              "change_pct change, noise_pct wide, p wide, why, note",
                                     .list = "gates",
                                     .where = where,
                                     .paper_rows = 100 });
}

static void emit_gates(const struct tm_content *content)
{
    const struct tm_value *notes = tm_of(content, "notes");

    tm_emit_facts(content, "gate-counts", "counts",
                  "failed count = Failed, unknown count = Unknown, skipped count = Skipped, passed count = Passed");
    for (size_t i = 0; i < tm_length(notes); i++)
        tm_emit(content, TM_TONE_PLAIN, "%s", tm_text(tm_at(notes, i)));
    emit_of_status(content, "status=failed", "gates-failed", "Failed");
    emit_of_status(content, "status=unknown", "gates-unknown", "Unknown");
    emit_of_status(content, "status=skipped", "gates-skipped", "Skipped");
    emit_of_status(content, "status=passed", "gates-passed", "Passed");
}

static const char *no_gates(const struct tm_value *check)
{
    return tm_if_none(check, "gates", "the gate file contains no gates");
}

static const struct tm_section gates_section = {
    .id = "gates", .title = "Gates", .key = "gates", .say = emit_gates, .nothing = no_gates
};

static const struct tm_section *const check_sections[] = {
    &gates_section,
    &tm_missing_checked_section,
    &tm_definitions_section,
};

static void add_baseline(struct tm_front_page *front, const struct tm_value *baseline)
{
    const size_t runs = tm_length(tm_get(baseline, "runs"));
    const char *label = tm_text(tm_get(baseline, "label"));

    if (tm_has(baseline))
        tm_front_say_fact(front, "Baseline", "%.300s, %zu run%s", *label ? label : "given", runs,
                          tm_format_plural(runs));
}

static void make_check_front(struct tm_front_page *front, const struct tm_value *check)
{
    const struct tm_value *input = tm_get(check, "input"), *counts = tm_get(check, "counts"),
                          *file = tm_get(check, "gate_file");
    const char *run = tm_text(tm_get(input, "run"));
    char title[TM_FRONT_TITLE_BYTES];

    (void)snprintf(title, sizeof(title), "Check of %.200s", *run ? run : "a run");
    tm_front_begin(front, check, title);
    (void)snprintf(front->subtitle, sizeof(front->subtitle), "%zu gate%s", tm_length(tm_get(check, "gates")),
                   tm_format_plural(tm_length(tm_get(check, "gates"))));
    tm_front_say_fact(front, "Result", "%lld failed, %lld unknown, %lld skipped, %lld passed",
                      (long long)tm_int(tm_get(counts, "failed")), (long long)tm_int(tm_get(counts, "unknown")),
                      (long long)tm_int(tm_get(counts, "skipped")), (long long)tm_int(tm_get(counts, "passed")));
    add_baseline(front, tm_get(check, "baseline"));
    if (tm_has(file))
        tm_front_say_fact(front, "Gate file", "%.400s", tm_text(file));
    if (tm_has(tm_get(input, "path")))
        tm_front_say_fact(front, "Input", "%.400s", tm_text(tm_get(input, "path")));
}

const struct tm_document tm_check_document = {
    .schema = "tracemill.check",
    .fields = &tm_check_schema,
    .what = "check",
    .kicker = "CHECK RESULT",
    .made_by = "tracemill check",
    .file = "check",
    .findings_title = "Findings",
    .stake_of = "device time",
    .data = "check.json",
    .sections = check_sections,
    .section_count = sizeof(check_sections) / sizeof(check_sections[0]),
    .make_front = make_check_front,
};

/* For a side whose step time has changed. */
static bool has_changed(const struct tm_content *content)
{
    const struct tm_value *tests = tm_of(content, "tests");

    for (size_t i = 0; i < tm_length(tests); i++)
        if (tm_is(tm_get(tm_at(tests, i), "changed")))
            return true;
    return false;
}

static void emit_causes(const struct tm_content *content)
{
    tm_emit_findings(content,
                     has_changed(content) ? "The step time changed, but no single cause is larger than noise."
                                          : "No change is larger than noise.",
                     tm_length(tm_of(content, "sides")) > 2
                         ? "For each side the largest first, by their effect on the time per step and device."
                         : "The largest first, by their effect on the time per step and device.");
}

static const struct tm_section causes_section = {
    .id = "findings", .title = "Causes of the change", .key = "findings", .say = emit_causes
};

/* The step times of the sides, and whether they differ. */

enum { MIDDLE_BYTES = 320 };

/* "mean 12.3 ms to 18.7 ms (+51.8 %, 95 % interval +3.1 % to +90.2 %), permutation test, p = 0.01" */
static void tell_middle(const struct tm_content *content, const struct tm_value *test, size_t side, const char *name,
                        char out[MIDDLE_BYTES])
{
    static const char *const methods[][2] = { { "permutation", "permutation test" },
                                              { "mann_whitney", "Mann-Whitney test" },
                                              { "welch_effective", "t-test on effective samples" },
                                              { "rank_effective", "rank test on effective samples" },
                                              { "welch", "Welch's t-test between runs" } };
    const struct tm_value *sides = tm_of(content, "sides"), *of = tm_get(test, name);
    const struct tm_value *figures[] = { tm_get(of, "change_pct"), tm_get(of, "low_pct"), tm_get(of, "high_pct") };
    const char *method = tm_format_word(TM_PAIRS(methods), tm_text(tm_get(of, "method")), "");
    const char *key = strcmp(name, "mean") == 0 ? "mean_ps" : "median_ps";
    char text[3][TM_FORMAT_BYTES] = { "", "", "" }, shown[TM_FORMAT_BYTES], from[TM_FORMAT_BYTES], to[TM_FORMAT_BYTES],
         p[48] = "";

    for (size_t i = 0; i < 3; i++)
        if (tm_has(figures[i])) {
            struct tm_cell cell = tm_cell_of_value(TM_DOC_PERCENT, figures[i]);

            cell.is_change = true;
            (void)snprintf(text[i], sizeof(text[i]), "%s", tm_cell_shown(&cell, content->summary, shown));
        }
    if (tm_has(tm_get(of, "p")))
        (void)snprintf(p, sizeof(p), ", p = %.2g", tm_double(tm_get(of, "p")));
    tm_format_time(from, tm_int(tm_get(tm_at(sides, 0), key)));
    tm_format_time(to, tm_int(tm_get(tm_at(sides, side), key)));
    (void)snprintf(out, MIDDLE_BYTES, "%s %s to %s (%s%s%s%s%s)%s%s%s", name, from, to, text[0],
                   *text[1] ? ", 95% interval " : "", text[1], *text[1] ? " to " : "", text[2], *p ? ", " : "",
                   *p ? method : "", p);
}

/* "B: mean ...; median ... Regression between these two runs." */
static void emit_test(const struct tm_content *content, const struct tm_value *test, size_t side)
{
    static const char *const verdicts[][2] = { { "regression", "Regression" },
                                               { "improvement", "Improvement" },
                                               { "no_change", "No significant change" },
                                               { "inconclusive", "Inconclusive" } };
    const struct tm_value *sides = tm_of(content, "sides"), *worth = tm_get(test, "effective_samples");
    const struct tm_value *compiling = tm_get(test, "compiling_steps"), *reason = tm_get(test, "reason");
    char label[SIDE_TITLE_BYTES], mean[MIDDLE_BYTES], median[MIDDLE_BYTES];
    const char *verdict = tm_format_word(TM_PAIRS(verdicts), tm_text(tm_get(test, "verdict")), "");

    if (!tm_has(tm_path(test, "mean.change_pct")))
        return;
    tell_middle(content, test, side, "mean", mean);
    tell_middle(content, test, side, "median", median);
    tm_emit(content, TM_TONE_PLAIN, "%s: %s; %s. %s%s%s.", side_label(content->summary, side, label), mean, median,
            verdict, tm_has(reason) ? ": " : "", tm_has(reason) ? tm_text(reason) : "");
    if (tm_has(tm_at(worth, 0)) && tm_double(tm_at(worth, 0)) < tm_double(tm_get(tm_at(sides, 0), "samples")))
        tm_emit(content, TM_TONE_QUIET,
                "Consecutive steps are correlated (lag-1 autocorrelation %.2f): the tests count %.1f and %.1f "
                "independent steps.",
                tm_double(tm_get(test, "lag1")), tm_double(tm_at(worth, 0)), tm_double(tm_at(worth, 1)));
    if (tm_is(tm_get(test, "recorded")))
        tm_emit(content, TM_TONE_QUIET,
                "Compiles are recorded in %.0f steps, before %.0f. Their effect on the mean is not tested: they are "
                "events, not noise.",
                tm_double(tm_at(compiling, 1)), tm_double(tm_at(compiling, 0)));
    if (tm_is(tm_get(test, "within_run_spread")))
        tm_emit(content, TM_TONE_QUIET, "The change is within the run-to-run variation of %.1f%%.",
                tm_double(tm_get(test, "run_spread_pct")));
}

/* The steps of both runs and their place in compare.pftrace. */
static void emit_timeline(const struct tm_content *content)
{
    tm_emit(content, TM_TONE_QUIET,
            "%s has both runs on one timeline: each step starts in both at the same time. Start is the time there; "
            "'tracemill open' of this folder links each step to its place.",
            tm_text(tm_of(content, "timeline.file")));
    tm_emit_table(content,
                  &(struct tm_table){ .id = "timeline-steps",
                                      .caption = "Steps side by side",
                                      .shows = "base_step, new_step wide, base_ps, new_ps, change_ps change, pct "
                                               "change, trace_ps, span_ps wide",
                                      .list = "timeline.steps",
                                      .paper_rows = 24 });
}

static void emit_change(const struct tm_content *content)
{
    const struct tm_value *tests = tm_of(content, "tests");

    for (size_t i = 0; i < tm_length(tests); i++)
        emit_test(content, tm_at(tests, i), i + 1);
    tm_emit_charts(content, TM_CHART_SIDES);
    tm_emit_table(content,
                  &(struct tm_table){
                      .id = "sides",
                      .caption = "Step times",
                      .shows = "label, samples, mean_ps, median_ps, p95_ps, min_ps wide, max_ps wide, stddev_ps wide, "
                               "cv_pct, between_runs_cv_pct given, measured_ps given",
                      .list = "sides",
                      .paper_rows = 16 });
    if (tm_has(tm_of(content, "geomean.ratios[0]"))) {
        struct side_columns ratios = { .columns = 0 };

        add_sides(&ratios, content->summary, "geometric mean", "ratios", TM_DOC_NUMBER);
        tm_emit_columns(content, "geomean", ratios.column, ratios.columns, "geomean");
        tm_emit(content, TM_TONE_QUIET,
                "Geometric mean of the ratios to the base, over the mean step time and its parts: below 1 is faster.");
    }
    if (tm_has(tm_of(content, "timeline")))
        emit_timeline(content);
}

static const struct tm_section change_section = {
    .id = "change", .title = "Step times", .key = "tests", .say = emit_change
};

/* The devices of the sides side by side. */

static void emit_devices(const struct tm_content *content)
{
    const struct tm_value *devices = tm_of(content, "devices");
    struct side_columns columns = { .columns = 0 }, balance = { .columns = 0 };

    add_column(&columns, "Device", "name", TM_DOC_NAME);
    add_sides(&columns, content->summary, "busy", "values", TM_DOC_TIME);
    add_changes(&columns, content->summary, "Change", "change_ps", TM_DOC_TIME | TM_CHANGE);
    add_changes(&columns, content->summary, "Change %", "pct", TM_DOC_PERCENT | TM_CHANGE);
    add_changes(&columns, content->summary, "p", "p", TM_DOC_NUMBER | TM_WIDE);
    add_changes(&columns, content->summary, "Significant", "significant", TM_DOC_WORD);
    add_sides(&columns, content->summary, "compute per step", "compute", TM_DOC_TIME | TM_WIDE);
    tm_emit_table(content, &(struct tm_table){ .id = "devices",
                                               .caption = "Busy time per step",
                                               .column = columns.column,
                                               .columns = columns.columns,
                                               .rows = tm_get(devices, "rows") });
    add_sides(&balance, content->summary, "imbalance", "imbalance_pct", TM_DOC_PERCENT);
    tm_emit_columns(content, "compared-balance", balance.column, balance.columns, "devices");
}

static const struct tm_section compared_devices_section = {
    .id = "devices", .title = "Devices", .key = "devices", .say = emit_devices
};

/* The figures of the sides side by side. */

enum { FIGURES_MOST = 96 };

/* Whether the cells of a column have the kind of the figure of their row. */
static bool is_value(const struct tm_column *column)
{
    return strncmp(column->key, "values[", 7) == 0 || strstr(column->key, "].change");
}

static void fill_row(struct tm_cell *cell, const struct side_columns *columns, const struct tm_value *figure)
{
    for (size_t c = 0; c < columns->columns; c++) {
        const struct tm_column *column = &columns->column[c];
        const enum tm_doc_kind kind =
            is_value(column) ? tm_figure_unit(tm_text(tm_get(figure, "kind"))) : tm_column_kind(column);

        cell[c] = tm_cell_of_value(kind, tm_path(figure, column->key));
        cell[c].is_change = column->shape & TM_CHANGE;
    }
}

static void emit_figures(const struct tm_content *content)
{
    const struct tm_value *figures = tm_of(content, "figures");
    struct side_columns columns = { .columns = 0 };
    const size_t rows = tm_length(figures) < FIGURES_MOST ? tm_length(figures) : FIGURES_MOST;
    struct tm_cell *cell;
    size_t bytes;

    add_column(&columns, "Figure", "title", TM_DOC_WORD);
    add_sides(&columns, content->summary, "", "values", TM_DOC_NUMBER);
    add_changes(&columns, content->summary, "Change", "change", TM_DOC_NUMBER | TM_CHANGE | TM_WIDE);
    add_changes(&columns, content->summary, "Change %", "pct", TM_DOC_PERCENT | TM_CHANGE);
    add_changes(&columns, content->summary, "Assessment", "judgement", TM_DOC_TERM);
    add_column(&columns, "Path in the summary", "id", TM_DOC_NAME | TM_WIDE);
    bytes = (rows + 1) * columns.columns * sizeof(*cell);
    cell = tm_content_take(content, bytes);
    for (size_t i = 0; cell && i < rows; i++)
        fill_row(&cell[i * columns.columns], &columns, tm_at(figures, i));
    tm_emit_table(content, &(struct tm_table){ .id = "figures",
                                               .caption = "Figures",
                                               .column = columns.column,
                                               .columns = columns.columns,
                                               .cells = cell,
                                               .cell_rows = cell ? rows : 0,
                                               .paper_rows = FIGURES_MOST });
    tm_content_give(content, cell, bytes);
}

static const struct tm_section compared_figures_section = {
    .id = "figures", .title = "Figures", .key = "figures", .say = emit_figures
};

/* Changes of operations, kernels, scopes ...: a section for each table of the comparison. */

struct rows {
    const char *key;       /* of the table in the comparison, and id of the section */
    const char *name;      /* title of the first column */
    const char *group;     /* of the second one; NULL = none */
    enum tm_doc_kind kind; /* of the names */
};

static void add_columns(struct side_columns *columns, const struct rows *rows, const struct tm_content *content)
{
    const struct tm_value *comparison = content->summary;
    const struct tm_value *first = tm_at(tm_get(tm_get(comparison, rows->key), "rows"), 0);
    const bool has_bytes = tm_has(tm_get(first, "bytes"));

    add_column(columns, rows->name, "name", (unsigned)rows->kind);
    if (rows->group)
        add_column(columns, rows->group, "group", TM_DOC_WORD | TM_WIDE);
    if (tm_get(first, "op"))
        add_column(columns, "Framework path", "op", TM_DOC_NAME | TM_WIDE);
    add_sides(columns, comparison, "", "values", TM_DOC_TIME | TM_SUMS);
    add_changes(columns, comparison, "Change", "change_ps", TM_DOC_TIME | TM_CHANGE | TM_SUMS);
    add_changes(columns, comparison, "Change %", "pct", TM_DOC_PERCENT | TM_CHANGE);
    add_changes(columns, comparison, "Became", "status", TM_DOC_TERM);
    add_sides(columns, comparison, "count", "counts", TM_DOC_NUMBER | TM_WIDE);
    if (has_bytes)
        add_sides(columns, comparison, "bytes per step", "bytes", TM_DOC_BYTES | TM_WIDE);
    add_changes(columns, comparison, "Due to count", "from_count_ps", TM_DOC_TIME | TM_CHANGE | TM_WIDE);
    add_changes(columns, comparison, "Due to duration", "from_length_ps", TM_DOC_TIME | TM_CHANGE | TM_WIDE);
    add_changes(columns, comparison, "p", "p", TM_DOC_NUMBER | TM_WIDE);
}

enum { PICKED_MOST = 64 };

/* In a short table, such as the causes of idle time: rows that any side has.
 * out: pick  PICKED_MOST; returns their number */
static size_t pick_rows(size_t *pick, const struct tm_value *rows, size_t sides)
{
    size_t picks = 0;

    for (size_t r = 0; r < tm_length(rows); r++) {
        bool any = false;

        for (size_t side = 0; side < sides; side++)
            any |= tm_double(tm_at(tm_get(tm_at(rows, r), "values"), side)) > 0;
        if (any && picks < PICKED_MOST)
            pick[picks++] = r;
    }
    return picks;
}

static void emit_rows(const struct tm_content *content, const struct rows *rows)
{
    const struct tm_value *table = tm_of(content, rows->key);
    const bool is_session = strcmp(tm_text(tm_get(table, "per")), "session") == 0;
    const bool is_picked = tm_length(tm_get(table, "rows")) <= PICKED_MOST;
    struct side_columns columns = { .columns = 0 };
    size_t pick[PICKED_MOST];
    char caption[TM_FINDING_BYTES];
    const size_t picks = is_picked ? pick_rows(pick, tm_get(table, "rows"), side_count(content->summary)) : 0;

    (void)snprintf(caption, sizeof(caption), "Time %s by %c%s, largest change first",
                   is_session ? "in the session" : "per step and device", rows->name[0] | 0x20, rows->name + 1);
    add_columns(&columns, rows, content);
    tm_emit_table(content, &(struct tm_table){ .id = rows->key,
                                               .caption = caption,
                                               .column = columns.column,
                                               .columns = columns.columns,
                                               .rows = tm_get(table, "rows"),
                                               .pick = is_picked ? pick : NULL,
                                               .picks = picks,
                                               .is_only_picked = is_picked,
                                               .rest = tm_get(table, "rest"),
                                               .total = tm_get(table, "total"),
                                               .total_title = "all" });
}

/* One section for each table. */
#define ROWS_SECTION(variable, table, heading, name, group, kind)                                                      \
    static void say_##variable(const struct tm_content *content)                                                       \
    {                                                                                                                  \
        emit_rows(content, &(const struct rows){ table, name, group, kind });                                          \
    }                                                                                                                  \
    static const char *none_of_##variable(const struct tm_value *comparison)                                           \
    {                                                                                                                  \
        return tm_if_none(comparison, table ".rows", "no side has any");                                               \
    }                                                                                                                  \
    static const struct tm_section compared_##variable##_section = {                                                   \
        .id = (table), .title = (heading), .key = (table), .say = say_##variable, .nothing = none_of_##variable        \
    };

ROWS_SECTION(ops, "ops", "Operations", "Operation", "Category", TM_DOC_NAME)

ROWS_SECTION(kernels, "kernels", "Kernels", "Kernel", "Category", TM_DOC_NAME)

ROWS_SECTION(scopes, "scopes", "Scopes", "Scope", "Pass", TM_DOC_NAME)

ROWS_SECTION(collectives, "collectives", "Collectives", "Collective", "Group", TM_DOC_NAME)

ROWS_SECTION(transfers, "transfers", "Transfers", "Direction", NULL, TM_DOC_DIRECTION)

ROWS_SECTION(gaps, "gaps", "Idle time", "Cause", NULL, TM_DOC_CAUSE)

ROWS_SECTION(compile, "compile", "Compilations", "Module", "Group", TM_DOC_NAME)

/* What was compared: the runs of each side, with caveats. */

static void emit_side(const struct tm_content *content, size_t number)
{
    char id[32], list[32], caption[SIDE_TITLE_BYTES + 16], label[SIDE_TITLE_BYTES];

    (void)snprintf(id, sizeof(id), "runs-%zu", number);
    (void)snprintf(list, sizeof(list), "sides[%zu].runs", number);
    (void)snprintf(caption, sizeof(caption), "%s: %s", number ? "New" : "Base",
                   side_label(content->summary, number, label));
    tm_emit_runs(content, id, caption, list);
}

/* "Same program: yes (jit_train_step). Same device model: no (A100 against H100)." */
static void emit_comparability(const struct tm_content *content)
{
    static const struct {
        const char *key, *words;
    } answers[] = { { "program", "program" },
                    { "device_model", "device model" },
                    { "device_count", "device count" },
                    { "steps", "number of analyzed steps" },
                    { "versions", "versions" } };
    const struct tm_value *all = tm_of(content, "comparability");

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        const struct tm_value *answer = tm_get(all, answers[i].key), *values = tm_get(answer, "values");
        const char *same = tm_text(tm_get(answer, "same"));
        char text[512] = "";
        bool is_known = false;
        size_t used = 0;

        for (size_t k = 0; k < tm_length(values) && used < sizeof(text); k++) {
            const struct tm_value *value = tm_at(values, k);
            char number[32] = "not recorded";

            is_known = is_known || tm_has(value);
            if (k > 0 && strcmp(same, "yes") == 0)
                break;
            if (tm_has(value) && tm_type_of(value) != TM_STRING)
                (void)snprintf(number, sizeof(number), "%.0f", tm_double(value));
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", k ? " vs. " : "",
                                     tm_type_of(value) == TM_STRING ? tm_text(value) : number);
        }
        if (strcmp(same, "not_recorded") == 0)
            tm_emit(content, TM_TONE_QUIET, "Same %s: not recorded%s%s%s.", answers[i].words, is_known ? " (" : "",
                    is_known ? text : "", is_known ? ")" : "");
        else if (*same)
            tm_emit(content, TM_TONE_QUIET, "Same %s: %s (%s).", answers[i].words, same, text);
    }
}

static void emit_runs(const struct tm_content *content)
{
    const struct tm_value *notes = tm_of(content, "notes");

    for (size_t i = 0; i < tm_length(notes); i++)
        tm_emit(content, TM_TONE_PLAIN, "%s", tm_text(tm_get(tm_at(notes, i), "text")));
    emit_comparability(content);
    for (size_t i = 0; i < side_count(content->summary); i++)
        emit_side(content, i);
}

static const struct tm_section compared_runs_section = {
    .id = "runs", .title = "Comparability", .key = "sides", .say = emit_runs
};

/* How the time of a step changes from old to new: parts that add up. */

static void emit_waterfall(const struct tm_content *content, const struct tm_value *waterfall, size_t side)
{
    char id[32], caption[SIDE_TITLE_BYTES + 64], label[SIDE_TITLE_BYTES];

    (void)snprintf(id, sizeof(id), "waterfall-%zu", side);
    (void)snprintf(caption, sizeof(caption), "Step breakdown: %s", side_label(content->summary, side, label));
    tm_emit_table(
        content,
        &(struct tm_table){ .id = id,
                            .caption = caption,
                            .shows = "title, base_ps, new_ps, change_ps change, share_pct change, p wide, significant",
                            .list = "waterfalls[*].parts",
                            .rows = tm_get(waterfall, "parts"),
                            .where = "base_ps|new_ps",
                            .total = waterfall,
                            .total_title = "whole step",
                            .paper_rows = 24 });
}

static void emit_waterfalls(const struct tm_content *content)
{
    const struct tm_value *waterfalls = tm_of(content, "waterfalls");

    tm_emit(
        content, TM_TONE_QUIET,
        "Mean time per step and device. Each moment belongs to exactly one part, so the changes of the parts add up "
        "to the change of the step.");
    tm_emit_charts(content, TM_CHART_WATERFALL);
    for (size_t i = 0; i < tm_length(waterfalls); i++)
        emit_waterfall(content, tm_at(waterfalls, i), i + 1);
}

static const struct tm_section waterfall_section = {
    .id = "waterfall", .title = "From base to new", .key = "waterfalls", .say = emit_waterfalls
};

/* The comparison of runs. */

enum { SIDES_TOLD = 4 };

/* clang-format off */
static const struct tm_section *const comparison_sections[] = {
    &causes_section,           &change_section,               &waterfall_section,
    &compared_figures_section, &compared_ops_section,         &compared_kernels_section,
    &compared_scopes_section,  &compared_collectives_section, &compared_transfers_section,
    &compared_gaps_section,    &compared_compile_section,     &compared_devices_section,
    &compared_runs_section,    &tm_missing_compared_section,  &tm_definitions_section,
};

/* clang-format on */

/* "run_7: 12 steps on 2 devices, mean 12.4 ms, median 12.3 ms" */
static void tell_side(char *out, const struct tm_value *comparison, size_t at)
{
    const struct tm_value *side = tm_at(tm_get(comparison, "sides"), at), *runs = tm_get(side, "runs"),
                          *first = tm_at(runs, 0), *chosen = tm_path(first, "steps.chosen"),
                          *model = tm_get(side, "device_model"), *devices = tm_get(side, "devices"),
                          *mean = tm_get(side, "mean_ps"), *median = tm_get(side, "median_ps");
    char label[SIDE_TITLE_BYTES], time[TM_FORMAT_BYTES];
    size_t used;

    (void)snprintf(out, TM_FRONT_BYTES, "%s", side_label(comparison, at, label));
    used = strlen(out);
    if (tm_length(runs) > 1)
        (void)snprintf(out + used, TM_FRONT_BYTES - used, ", %zu runs", tm_length(runs));
    else if (tm_has(chosen))
        (void)snprintf(out + used, TM_FRONT_BYTES - used, ", %lld step%s", (long long)tm_int(chosen),
                       tm_format_plural(tm_int(chosen)));
    used = strlen(out);
    if (tm_has(mean))
        (void)snprintf(out + used, TM_FRONT_BYTES - used, ", mean %s", tm_format_time(time, tm_int(mean)));
    used = strlen(out);
    if (tm_has(median))
        (void)snprintf(out + used, TM_FRONT_BYTES - used, ", median %s", tm_format_time(time, tm_int(median)));
    used = strlen(out);
    if (tm_int(devices) > 0 && tm_has(model))
        (void)snprintf(out + used, TM_FRONT_BYTES - used, ", %lld × %.80s", (long long)tm_int(devices), tm_text(model));
    else if (tm_int(devices) > 0)
        (void)snprintf(out + used, TM_FRONT_BYTES - used, ", %lld device%s", (long long)tm_int(devices),
                       tm_format_plural(tm_int(devices)));
}

static void make_comparison_front(struct tm_front_page *front, const struct tm_value *comparison)
{
    char base[SIDE_TITLE_BYTES], new[SIDE_TITLE_BYTES], title[TM_FRONT_TITLE_BYTES];
    const struct tm_value *notes = tm_get(comparison, "notes");
    const size_t sides = side_count(comparison);

    side_label(comparison, 0, base);
    if (sides == 2)
        (void)snprintf(title, sizeof(title), "%.110s vs. %.110s", side_label(comparison, 1, new), base);
    else
        (void)snprintf(title, sizeof(title), "%zu runs vs. %.110s", sides > 0 ? sides - 1 : 0, base);
    tm_front_begin(front, comparison, title);
    (void)snprintf(front->subtitle, sizeof(front->subtitle), "Comparison of %zu %s", sides,
                   tm_length(tm_path(comparison, "sides[0].runs")) > 1 ? "groups of runs" : "runs");
    for (size_t i = 0; i < sides && i < SIDES_TOLD; i++)
        tell_side(tm_front_add_fact(front, i ? "New" : "Base"), comparison, i);
    for (size_t i = 0; i < tm_length(notes); i++)
        if (strcmp(tm_text(tm_get(tm_at(notes, i), "id")), "run_to_run") == 0)
            tm_front_say_fact(front, "Note", "%.480s", tm_text(tm_get(tm_at(notes, i), "text")));
}

#define COMPARISON(chart)                                                                                              \
    {                                                                                                                  \
        .schema = "tracemill.comparison", .fields = &tm_comparison_schema, .what = "comparison",                       \
        .kicker = "RUN COMPARISON", .made_by = "tracemill compare", .file = "compare", .findings_title = "Top causes", \
        .stake_of = "a step", .data = "compare.json", .sections = comparison_sections,                                 \
        .section_count = sizeof(comparison_sections) / sizeof(comparison_sections[0]),                                 \
        .make_front = make_comparison_front, .first_chart = { chart }, .first_charts = 1,                              \
    }

const struct tm_document tm_comparison_document = COMPARISON(TM_CHART_WATERFALL);

/* For three or more sides: the steps of all of them come first, not a waterfall for each. */
const struct tm_document tm_comparison_of_many_document = COMPARISON(TM_CHART_SIDES);
