/* SPDX-License-Identifier: Apache-2.0 */
/* The section on scopes: where in the program device time comes from.  Trees are tables whose names are indented. */
#include <stdio.h>

#include "reports/format/format.h"
#include "reports/format/tree_cut.h"
#include "reports/html/html_page.h"

enum { SCOPE_ROWS = 120, ANNOTATION_ROWS = 60, INDENTED_MOST = 12, CLASS_BYTES = 16 };

/* A tree of the summary: a name that is indented, and other columns. */
struct tree {
    const char *caption, *name, *key; /* key: of what most is shown of */
    const struct tm_html_column *column;
    int columns;
    size_t most;
    const struct tm_value *rows, *rest;
};

static bool is_number(enum tm_cell cell)
{
    return cell >= TM_CELL_TIME;
}

static void write_head(struct tm_page *page, const struct tree *tree)
{
    struct tm_htmlw *w = &page->w;

    tm_htmlw_element(w, "caption", NULL, tree->caption);
    tm_htmlw_open(w, "thead");
    tm_htmlw_open(w, "tr");
    tm_htmlw_class(w, "th", "name");
    tm_htmlw_attr(w, "scope", "col");
    tm_htmlw_text(w, tree->name);
    tm_htmlw_close(w);
    for (int i = 0; i < tree->columns; i++) {
        tm_htmlw_class(w, "th", is_number(tree->column[i].cell) ? "n" : "word");
        tm_htmlw_attr(w, "scope", "col");
        tm_page_label(page, tree->column[i].title);
        tm_htmlw_close(w);
    }
    tm_htmlw_close(w);
    tm_htmlw_close_line(w);
}

static void write_row(struct tm_page *page, const struct tree *tree, const struct tm_value *row)
{
    const int64_t depth = tm_int(tm_get(row, "depth"));
    struct tm_htmlw *w = &page->w;
    char class_name[CLASS_BYTES];

    (void)snprintf(class_name, sizeof(class_name), "tree d%d",
                   depth < 0 ? 0 : depth < INDENTED_MOST ? (int)depth : INDENTED_MOST);
    tm_htmlw_open(w, "tr");
    tm_htmlw_class(w, "th", class_name);
    tm_htmlw_attr(w, "scope", "row");
    tm_page_name(page, tm_text(tm_get(row, "name")));
    tm_htmlw_close(w);
    for (int i = 0; i < tree->columns; i++)
        tm_page_cell(page, tree->column[i].cell, tm_get(row, tree->column[i].key), false);
    tm_htmlw_close_line(w);
}

static void write_tree(struct tm_page *page, const struct tree *tree)
{
    const int64_t unlisted = tm_int(tm_get(tree->rest, "rows"));
    struct tm_htmlw *w = &page->w;
    char more[TM_FORMAT_BYTES];
    struct tm_tree_cut cut;
    size_t shown;

    tm_tree_cut_find(&cut, tree->rows, tree->key, tree->most);
    shown = tm_length(tree->rows) < tree->most ? tm_length(tree->rows) : tree->most;
    tm_page_open_table(page, tree->caption, shown);
    tm_htmlw_open(w, "table");
    write_head(page, tree);
    tm_htmlw_open(w, "tbody");
    for (size_t i = 0; i < tm_length(tree->rows); i++)
        if (tm_tree_cut_shows(&cut, tm_at(tree->rows, i)))
            write_row(page, tree, tm_at(tree->rows, i));
    tm_htmlw_close(w);
    tm_htmlw_close(w);
    tm_page_close_table(page, shown);
    if (tm_length(tree->rows) > shown)
        tm_page_note(page, "Those that take most; %s more in summary.json.",
                     tm_format_count(more, (int64_t)(tm_length(tree->rows) - shown)));
    if (unlisted > 0)
        tm_page_note(page, "%s more were left out of the summary (--rows).", tm_format_count(more, unlisted));
}

/* Of a training step, whose passes are told apart. */
static bool has_passes(const struct tm_value *scopes)
{
    return tm_int(tm_path(scopes, "passes.backward")) > 0 || tm_int(tm_path(scopes, "passes.forward")) > 0;
}

static void write_facts(struct tm_page *page, const struct tm_value *scopes)
{
    tm_page_facts(page);
    tm_page_fact_value(page, "Device time in scopes", TM_CELL_TIME, tm_get(scopes, "self_ps"));
    tm_page_fact_value(page, "Without a scope", TM_CELL_TIME, tm_path(scopes, "unscoped.self_ps"));
    if (has_passes(scopes)) {
        tm_page_fact_value(page, "Forward", TM_CELL_TIME, tm_path(scopes, "passes.forward"));
        tm_page_fact_value(page, "Backward", TM_CELL_TIME, tm_path(scopes, "passes.backward"));
        tm_page_fact_value(page, "Neither", TM_CELL_TIME, tm_path(scopes, "passes.other"));
    }
    if (tm_int(tm_path(scopes, "recomputed.self_ps")) > 0)
        tm_page_fact_value(page, "Computed again (part of backward)", TM_CELL_TIME,
                           tm_path(scopes, "recomputed.self_ps"));
    tm_page_end_facts(page);
}

static void write_scope_tree(struct tm_page *page, const struct tm_value *scopes)
{
    static const struct tm_html_column columns[] = {
        { "Pass", "pass", TM_CELL_WORD },      { "Count", "count", TM_CELL_COUNT },
        { "Total", "total_ps", TM_CELL_TIME }, { "Share", "share_pct", TM_CELL_PCT },
        { "Itself", "self_ps", TM_CELL_TIME },
    };
    static const struct tm_html_column layers[] = {
        { "Layer", "path", TM_CELL_NAME },            { "Count", "count", TM_CELL_COUNT },
        { "Forward", "forward_ps", TM_CELL_TIME },    { "Backward", "backward_ps", TM_CELL_TIME },
        { "Neither", "other_ps", TM_CELL_TIME },      { "Total", "total_ps", TM_CELL_TIME },
    };

    write_facts(page, scopes);
    tm_page_charts(page, TM_CHART_SCOPES);
    write_tree(page, &(struct tree){ .caption = "Device time by scope: a scope, then what is in it",
                                     .name = "Scope",
                                     .key = "total_ps",
                                     .column = columns + !has_passes(scopes),
                                     .columns = (int)(sizeof(columns) / sizeof(columns[0])) - !has_passes(scopes),
                                     .most = SCOPE_ROWS,
                                     .rows = tm_get(scopes, "rows"),
                                     .rest = tm_get(scopes, "rest") });
    tm_page_table(page, &(struct tm_html_table){ .caption = "Layers: numbered scopes that are alike",
                                                 TM_TABLE_COLUMNS(layers),
                                                 .rows = tm_get(scopes, "layers"),
                                                 .rest = tm_get(scopes, "layers_rest"),
                                                 .sortable = true });
}

void tm_html_scopes(struct tm_page *page)
{
    static const struct tm_html_column columns[] = {
        { "Count", "count", TM_CELL_COUNT },           { "Host", "host_ps", TM_CELL_TIME },
        { "Itself", "host_self_ps", TM_CELL_TIME },    { "Launched", "activities", TM_CELL_COUNT },
        { "Their device time", "device_ps", TM_CELL_TIME },
    };
    const struct tm_value *scopes = tm_get(page->summary, "scopes"), *rows = tm_get(scopes, "annotations");
    const char *why;

    if (tm_has(tm_get(scopes, "rows")))
        write_scope_tree(page, scopes);
    else
        tm_page_note(page, "Scopes: not recorded (%s).", tm_why(tm_get(scopes, "rows")));
    if (!tm_has(rows)) {
        tm_page_note(page, "Annotations on host threads: none (%s).", tm_why(rows));
        return;
    }
    tm_page_subheading(page, "Annotations on host threads");
    write_tree(page, &(struct tree){ .caption = "An annotation, then what is in it, on all threads",
                                     .name = "Annotation",
                                     .key = "host_ps",
                                     TM_TABLE_COLUMNS(columns),
                                     .most = ANNOTATION_ROWS,
                                     .rows = rows,
                                     .rest = tm_get(scopes, "annotations_rest") });
    why = tm_why(tm_get(tm_at(rows, 0), "device_ps"));
    if (*why)
        tm_page_note(page, "Their device time: not recorded (%s).", why);
}
