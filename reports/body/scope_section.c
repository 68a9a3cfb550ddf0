/* SPDX-License-Identifier: Apache-2.0 */
/* The section on where in the program device time comes from: framework scopes, layers, host annotations. */
#include <stdio.h>

#include "reports/body/cells.h"
#include "reports/body/sections.h"
#include "reports/format/format.h"
#include "reports/format/tree_cut.h"

enum { SCOPE_ROWS = 30, LAYER_ROWS = 24, ANNOTATION_ROWS = 16, NAME_BYTES = 256, INDENTED_MOST = 12 };

/* A name, indented by its depth in the tree. */
static void add_tree_name(struct tm_body *body, const struct tm_value *row)
{
    const int64_t depth = tm_int(tm_get(row, "depth"));
    const int indented = depth < 0 ? 0 : depth < INDENTED_MOST ? (int)depth : INDENTED_MOST;
    char name[NAME_BYTES];

    tm_sheet_visible(name, sizeof(name), tm_text(tm_get(row, "name")));
    tm_sheet_prose(body->sheet, "%*s%s", 2 * indented, "", name);
}

static void say_more(struct tm_body *body, size_t shown, const struct tm_value *rows, const struct tm_value *rest)
{
    char more[TM_FORMAT_BYTES];
    const int64_t left = (int64_t)(tm_length(rows) - shown);

    if (left)
        tm_say(body, TM_TONE_QUIET, "Those that take most; %s more in summary.json.", tm_format_count(more, left));
    if (tm_int(tm_get(rest, "rows")) > 0)
        tm_say(body, TM_TONE_QUIET, "%s more were left out of the summary (--rows).",
               tm_format_count(more, tm_int(tm_get(rest, "rows"))));
}

/* Of a training step, whose passes are told apart. */
static bool has_passes(const struct tm_value *scopes)
{
    return tm_int(tm_path(scopes, "passes.backward")) > 0 || tm_int(tm_path(scopes, "passes.forward")) > 0;
}

static void say_facts(struct tm_body *body, const struct tm_value *scopes)
{
    tm_facts(body);
    tm_fact_time(body, "Time in scopes", tm_get(scopes, "self_ps"));
    tm_fact_time(body, "Without a scope", tm_path(scopes, "unscoped.self_ps"));
    if (has_passes(scopes)) {
        tm_fact_time(body, "Forward", tm_path(scopes, "passes.forward"));
        tm_fact_time(body, "Backward", tm_path(scopes, "passes.backward"));
        tm_fact_time(body, "Neither", tm_path(scopes, "passes.other"));
    }
    if (tm_int(tm_path(scopes, "recomputed.self_ps")) > 0)
        tm_fact_time(body, "Computed again (part of backward)", tm_path(scopes, "recomputed.self_ps"));
    tm_body_end_table(body);
}

static void say_tree(struct tm_body *body, const struct tm_value *scopes)
{
    const struct tm_value *rows = tm_get(scopes, "rows");
    struct tm_tree_cut cut;
    size_t shown = 0;

    body->form->subheading(body->to, "Scopes");
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Scope", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Pass", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "Count", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Total", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Share", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Itself", TM_COLUMN_NUMBER);
    tm_tree_cut_find(&cut, rows, "total_ps", SCOPE_ROWS);
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (!tm_tree_cut_shows(&cut, row) || !tm_sheet_row(body->sheet))
            continue;
        shown++;
        add_tree_name(body, row);
        tm_cell_text(body, tm_get(row, "pass"));
        tm_cell_count(body, tm_get(row, "count"));
        tm_cell_time(body, tm_get(row, "total_ps"));
        tm_cell_pct(body, tm_get(row, "share_pct"));
        tm_cell_time(body, tm_get(row, "self_ps"));
    }
    if (!has_passes(scopes))
        tm_sheet_drop(body->sheet, 1);
    tm_body_end_table(body);
    say_more(body, shown, rows, tm_get(scopes, "rest"));
}

static void say_layers(struct tm_body *body, const struct tm_value *scopes)
{
    const struct tm_value *rows = tm_get(scopes, "layers");
    const size_t n = tm_length(rows);

    if (n == 0)
        return;
    body->form->subheading(body->to, "Layers");
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Layer", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Count", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Forward", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Backward", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Neither", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Total", TM_COLUMN_NUMBER);
    for (size_t i = 0; i < n && i < LAYER_ROWS && tm_sheet_row(body->sheet); i++) {
        const struct tm_value *row = tm_at(rows, i);

        tm_cell_text(body, tm_get(row, "path"));
        tm_cell_count(body, tm_get(row, "count"));
        tm_cell_time(body, tm_get(row, "forward_ps"));
        tm_cell_time(body, tm_get(row, "backward_ps"));
        tm_cell_time(body, tm_get(row, "other_ps"));
        tm_cell_time(body, tm_get(row, "total_ps"));
    }
    tm_body_end_table(body);
    if (n > LAYER_ROWS)
        tm_say(body, TM_TONE_QUIET, "%zu more in summary.json.", n - LAYER_ROWS);
}

static void say_annotations(struct tm_body *body, const struct tm_value *scopes)
{
    const struct tm_value *rows = tm_get(scopes, "annotations");
    struct tm_tree_cut cut;
    size_t shown = 0;

    body->form->subheading(body->to, "Annotations on host threads");
    if (tm_say_missing(body, rows, "Annotations"))
        return;
    tm_body_table(body, true);
    tm_sheet_column(body->sheet, "Annotation", TM_COLUMN_NAME);
    tm_sheet_column(body->sheet, "Count", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Host", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Itself", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Launched", TM_COLUMN_NUMBER);
    tm_sheet_column(body->sheet, "Device", TM_COLUMN_NUMBER);
    tm_tree_cut_find(&cut, rows, "host_ps", ANNOTATION_ROWS);
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (!tm_tree_cut_shows(&cut, row) || !tm_sheet_row(body->sheet))
            continue;
        shown++;
        add_tree_name(body, row);
        tm_cell_count(body, tm_get(row, "count"));
        tm_cell_time(body, tm_get(row, "host_ps"));
        tm_cell_time(body, tm_get(row, "host_self_ps"));
        tm_cell_count(body, tm_get(row, "activities"));
        tm_cell_time(body, tm_get(row, "device_ps"));
    }
    tm_body_end_table(body);
    say_more(body, shown, rows, tm_get(scopes, "annotations_rest"));
}

void tm_section_scopes(struct tm_body *body)
{
    const struct tm_value *scopes = tm_of(body, "scopes");

    if (tm_say_missing(body, scopes, "Scopes"))
        return;
    if (!tm_say_missing(body, tm_get(scopes, "rows"), "Scopes")) {
        say_facts(body, scopes);
        say_tree(body, scopes);
        say_layers(body, scopes);
    }
    say_annotations(body, scopes);
}
