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
        tm_old_say(body, TM_TONE_QUIET, "Those that take most; %s more in summary.json.", tm_format_count(more, left));
    if (tm_int(tm_get(rest, "rows")) > 0)
        tm_old_say(body, TM_TONE_QUIET, "%s more were left out of the summary (--rows).",
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

/* A table of the rows of a tree that have most of a figure.  out: how many there are */
static size_t say_cut_tree(struct tm_body *body, const struct tm_body_column *columns, size_t count,
                           const struct tm_value *rows, struct tm_tree_cut *cut)
{
    size_t shown = 0;

    tm_body_columns(body, columns, count);
    for (size_t i = 0; i < tm_length(rows); i++)
        if (tm_tree_cut_shows(cut, tm_at(rows, i)) && tm_body_row(body, columns, count, tm_at(rows, i)))
            shown++;
    return shown;
}

static void say_tree(struct tm_body *body, const struct tm_value *scopes)
{
    static const struct tm_body_column columns[] = {
        { "Scope", NULL, TM_COLUMN_NAME, add_tree_name },
        { "Pass", "pass", TM_COLUMN_WORD, tm_cell_text },
        { "Count", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Total", "total_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Share", "share_pct", TM_COLUMN_NUMBER, tm_cell_pct },
        { "Itself", "self_ps", TM_COLUMN_NUMBER, tm_cell_time },
    };
    const struct tm_value *rows = tm_get(scopes, "rows");
    struct tm_tree_cut cut;
    size_t shown;

    body->form->subheading(body->to, "Scopes");
    tm_tree_cut_find(&cut, rows, "total_ps", SCOPE_ROWS);
    shown = say_cut_tree(body, TM_COLUMNS(columns), rows, &cut);
    if (!has_passes(scopes))
        tm_sheet_drop(body->sheet, 1);
    tm_body_end_table(body);
    say_more(body, shown, rows, tm_get(scopes, "rest"));
}

static void say_layers(struct tm_body *body, const struct tm_value *scopes)
{
    static const struct tm_body_column columns[] = {
        { "Layer", "path", TM_COLUMN_NAME, tm_cell_text },
        { "Count", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Forward", "forward_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Backward", "backward_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Neither", "other_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Total", "total_ps", TM_COLUMN_NUMBER, tm_cell_time },
    };
    const struct tm_value *rows = tm_get(scopes, "layers");
    const size_t n = tm_length(rows);

    if (n == 0)
        return;
    body->form->subheading(body->to, "Layers");
    tm_body_rows(body, TM_COLUMNS(columns), rows, LAYER_ROWS);
    if (n > LAYER_ROWS)
        tm_old_say(body, TM_TONE_QUIET, "%zu more in summary.json.", n - LAYER_ROWS);
}

static void say_annotations(struct tm_body *body, const struct tm_value *scopes)
{
    static const struct tm_body_column columns[] = {
        { "Annotation", NULL, TM_COLUMN_NAME, add_tree_name },
        { "Count", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Host", "host_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Itself", "host_self_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Launched", "activities", TM_COLUMN_NUMBER, tm_cell_count },
        { "Device", "device_ps", TM_COLUMN_NUMBER, tm_cell_time },
    };
    const struct tm_value *rows = tm_get(scopes, "annotations");
    struct tm_tree_cut cut;
    size_t shown;

    body->form->subheading(body->to, "Annotations on host threads");
    if (tm_old_say_missing(body, rows, "Annotations"))
        return;
    tm_tree_cut_find(&cut, rows, "host_ps", ANNOTATION_ROWS);
    shown = say_cut_tree(body, TM_COLUMNS(columns), rows, &cut);
    tm_body_end_table(body);
    say_more(body, shown, rows, tm_get(scopes, "annotations_rest"));
}

void tm_section_scopes(struct tm_body *body)
{
    const struct tm_value *scopes = tm_old_of(body, "scopes");

    if (tm_old_say_missing(body, scopes, "Scopes"))
        return;
    if (!tm_old_say_missing(body, tm_get(scopes, "rows"), "Scopes")) {
        say_facts(body, scopes);
        say_tree(body, scopes);
        say_layers(body, scopes);
    }
    say_annotations(body, scopes);
}
