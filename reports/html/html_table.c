/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the page.  A long one shows its first rows and a checkbox for the others, which the style sheet handles
 * without a script. */
#include "reports/html/html_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/chart.h"

/* SVG back end of the chart model: one element per mark, in the order of the marks.  Source:
 * SVG 1.1, chapters 9 (shapes) and 10 (text), as embedded in HTML. */

static const char dashes[] = "5 3";

static void put_class_if_any(struct tm_htmlw *w, const char *class_name)
{
    if (*class_name)
        tm_htmlw_attr(w, "class", class_name);
}

/* Most marks have no class: the style sheet gives lines, dots and texts these roles, lines their usual thickness, and
 * texts their small size. */
static bool has_usual_role(const struct tm_mark *mark)
{
    return (mark->kind == TM_MARK_LINE && mark->role == TM_ROLE_GRID) ||
           (mark->kind == TM_MARK_DOT && mark->role == TM_ROLE_SERIES) ||
           (mark->kind == TM_MARK_TEXT && mark->role == TM_ROLE_QUIET);
}

static void put_class(struct tm_htmlw *w, char prefix, const struct tm_mark *mark)
{
    char name[32];

    if (has_usual_role(mark))
        return;
    (void)snprintf(name, sizeof(name), "%c-%s", prefix, tm_palette[mark->role].name);
    tm_htmlw_attr(w, "class", name);
}

static void put_rect(struct tm_htmlw *w, const struct tm_mark *mark)
{
    tm_htmlw_open(w, "rect");
    put_class(w, 'f', mark);
    tm_htmlw_attr_number(w, "x", mark->x);
    tm_htmlw_attr_number(w, "y", mark->y);
    tm_htmlw_attr_number(w, "width", mark->width);
    tm_htmlw_attr_number(w, "height", mark->height);
    tm_htmlw_leaf(w);
}

static void put_line(struct tm_htmlw *w, const struct tm_mark *mark)
{
    tm_htmlw_open(w, "line");
    put_class(w, 's', mark);
    tm_htmlw_attr_number(w, "x1", mark->x);
    tm_htmlw_attr_number(w, "y1", mark->y);
    tm_htmlw_attr_number(w, "x2", mark->x + mark->width);
    tm_htmlw_attr_number(w, "y2", mark->y + mark->height);
    if (mark->thickness != tm_chart_thin)
        tm_htmlw_attr_number(w, "stroke-width", mark->thickness);
    if (mark->dashed)
        tm_htmlw_attr(w, "stroke-dasharray", dashes);
    tm_htmlw_leaf(w);
}

static void put_path(struct tm_htmlw *w, const struct tm_chart *chart, const struct tm_mark *mark)
{
    const bool filled = mark->kind == TM_MARK_POLYGON;

    tm_htmlw_open(w, filled ? "polygon" : "polyline");
    put_class(w, filled ? 'f' : 's', mark);
    if (!filled)
        tm_htmlw_attr_number(w, "stroke-width", mark->thickness);
    if (mark->dashed)
        tm_htmlw_attr(w, "stroke-dasharray", dashes);
    tm_htmlw_begin_points(w, "points");
    for (uint32_t i = 0; i < mark->point_count; i++) {
        const struct tm_point *p = &chart->point[mark->point_first + i];

        tm_htmlw_point(w, p->x, p->y);
    }
    tm_htmlw_end_points(w);
    tm_htmlw_leaf(w);
}

static void put_dot(struct tm_htmlw *w, const struct tm_mark *mark)
{
    tm_htmlw_open(w, "circle");
    put_class(w, 'f', mark);
    tm_htmlw_attr_number(w, "cx", mark->x);
    tm_htmlw_attr_number(w, "cy", mark->y);
    tm_htmlw_attr_number(w, "r", mark->width);
    tm_htmlw_leaf(w);
}

static void put_string(struct tm_htmlw *w, const struct tm_chart *chart, const struct tm_mark *mark)
{
    static const char *const size_class[TM_TEXT_SIZES] = { "", "t-normal", "t-strong" };
    static const char *const anchor[] = { NULL, "middle", "end" };
    const char *const size = size_class[mark->size];
    char name[48] = "";

    if (!has_usual_role(mark))
        (void)snprintf(name, sizeof(name), "%s%sf-%s", size, *size ? " " : "", tm_palette[mark->role].name);
    tm_htmlw_open(w, "text");
    put_class_if_any(w, *name ? name : size);
    tm_htmlw_attr_number(w, "x", mark->x);
    tm_htmlw_attr_number(w, "y", mark->y);
    if (anchor[mark->anchor])
        tm_htmlw_attr(w, "text-anchor", anchor[mark->anchor]);
    tm_htmlw_text(w, tm_chart_text(chart, mark->text));
    tm_htmlw_close(w);
}

static void open_group(struct tm_htmlw *w, const struct tm_chart *chart, const struct tm_mark *mark)
{
    const char *text = tm_chart_text(chart, mark->text);

    tm_htmlw_open(w, "g");
    if (text[0])
        tm_htmlw_element(w, "title", NULL, text);
}

static void put_mark(struct tm_htmlw *w, const struct tm_chart *chart, const struct tm_mark *mark)
{
    switch ((enum tm_mark_kind)mark->kind) {
    case TM_MARK_RECT:
        put_rect(w, mark);
        break;
    case TM_MARK_LINE:
        put_line(w, mark);
        break;
    case TM_MARK_POLYLINE:
    case TM_MARK_POLYGON:
        put_path(w, chart, mark);
        break;
    case TM_MARK_DOT:
        put_dot(w, mark);
        break;
    case TM_MARK_TEXT:
        put_string(w, chart, mark);
        break;
    case TM_MARK_OPEN:
        open_group(w, chart, mark);
        break;
    case TM_MARK_CLOSE:
        tm_htmlw_close(w);
        break;
    }
}

void tm_svg_write(struct tm_htmlw *w, const struct tm_chart *chart, const char *class_name)
{
    tm_htmlw_open_with(w, "svg", "class", class_name, "role", "img", "aria-label", chart->title, NULL);
    if (chart->columns > 0) {
        tm_htmlw_attr_int(w, "data-columns", chart->columns);
        tm_htmlw_attr_number(w, "data-left", chart->columns_left);
    }
    tm_htmlw_begin_points(w, "viewBox");
    tm_htmlw_point(w, 0, 0);
    tm_htmlw_point(w, chart->width, chart->height);
    tm_htmlw_end_points(w);
    for (size_t i = 0; i < chart->marks; i++)
        put_mark(w, chart, &chart->mark[i]);
    tm_htmlw_close_line(w);
}

enum { FOLDED_LEAST = 25, SORTED_LEAST = 3, FEW_COLUMNS = 6, CLASS_BYTES = 48, LABEL_BYTES = 64 };

static const char none[] = "–";

struct writer {
    struct tm_page *page;
    struct tm_htmlw *w;
    const struct tm_table *table;
    struct tm_layout layout;
};

static enum tm_doc_kind kind_of(const struct writer *out, size_t shown)
{
    return tm_column_kind(&out->table->column[out->layout.column[shown]]);
}

static bool is_name(enum tm_doc_kind kind)
{
    return kind == TM_DOC_NAME || kind == TM_DOC_DEVICE || kind == TM_DOC_HOST;
}

/* "" = the style of any cell */
static const char *class_of(enum tm_doc_kind kind)
{
    return tm_doc_is_number(kind) ? "n"
           : kind == TM_DOC_NAME  ? "name"
           : is_name(kind)        ? "id"
           : kind == TM_DOC_PROSE ? "prose"
                                  : "";
}

/* --- cells --- */

static void put_shown(struct writer *out, const struct tm_cell *cell, size_t chars)
{
    char text[TM_FORMAT_BYTES];

    if (tm_cell_is_empty(cell))
        tm_htmlw_text(out->w, none);
    else if (is_name(cell->kind))
        tm_page_name(out->page, tm_cell_shown(cell, out->page->summary, text), chars);
    else if (tm_doc_is_number(cell->kind))
        tm_htmlw_text(out->w, tm_cell_shown(cell, out->page->summary, text));
    else
        tm_page_text(out->page, tm_cell_shown(cell, out->page->summary, text));
}

enum { CURVE_STEP = 3, CURVE_HEIGHT = 14, CURVE_MARGIN = 2, CURVE_POINTS = 64, CURVE_BYTES = CURVE_POINTS * 12 };

/* From the left, relative to the point before; points on a straight line are left out: "M2 15l3 1 6 0". */
static void put_curve_path(struct tm_htmlw *w, const int *y, size_t count)
{
    char text[CURVE_BYTES];
    size_t used = (size_t)snprintf(text, sizeof(text), "M%d %dl", CURVE_MARGIN, y[0]), steps;

    for (size_t i = 1; i < count; i += steps) {
        const int rise = y[i] - y[i - 1];

        for (steps = 1; i + steps < count && y[i + steps] - y[i + steps - 1] == rise; steps++)
            ;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d%s%d", i > 1 ? " " : "",
                                 (int)steps * CURVE_STEP, rise < 0 ? "" : " ", (int)steps * rise);
    }
    tm_htmlw_open_with(w, "path", "d", text, NULL);
    tm_htmlw_leaf(w);
}

/* The dot at the end of every curve, once on a page; the style sheet puts it there.  Source: SVG 1.1, 11.6. */
static void put_curve_end(struct tm_page *page)
{
    if (page->has_curve_end)
        return;
    page->has_curve_end = true;
    tm_htmlw_open_with(&page->w, "svg", "class", "unseen", "aria-hidden", "true", NULL);
    tm_htmlw_open_with(&page->w, "marker", "id", "curve-end", "markerUnits", "userSpaceOnUse", NULL);
    tm_htmlw_open(&page->w, "circle"); /* around the end of the path: its center is the marker's origin */
    tm_htmlw_attr_int(&page->w, "r", CURVE_MARGIN);
    tm_htmlw_leaf(&page->w);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

/* The last times of a list, oldest first, as a line with a dot at its end.  A screen reader says the last one and the
 * range. */
static void put_curve(struct writer *out, const struct tm_value *list)
{
    const double least_share = 0.1; /* of the largest value, for the full height: noise stays flat */
    const size_t length = tm_length(list), count = length < CURVE_POINTS ? length : CURVE_POINTS;
    const double last = tm_double(tm_at(list, length - 1));
    double low = last, high = last;
    char text[3][TM_FORMAT_BYTES], label[4 * TM_FORMAT_BYTES];
    int y[CURVE_POINTS];

    for (size_t i = length - count; i < length; i++) {
        low = fmin(low, tm_double(tm_at(list, i)));
        high = fmax(high, tm_double(tm_at(list, i)));
    }
    const double range = fmax(high - low, least_share * high), scale = range > 0 ? CURVE_HEIGHT / range : 0;

    for (size_t i = 0; i < count; i++)
        y[i] = CURVE_MARGIN + CURVE_HEIGHT - (int)lround((tm_double(tm_at(list, length - count + i)) - low) * scale);
    (void)snprintf(label, sizeof(label), "%s; %zu runs, %s to %s", tm_format_time(text[0], (int64_t)last), count,
                   tm_format_time(text[1], (int64_t)low), tm_format_time(text[2], (int64_t)high));
    tm_htmlw_open_with(out->w, "svg", "role", "img", "aria-label", label, NULL);
    tm_htmlw_begin_points(out->w, "viewBox");
    tm_htmlw_point(out->w, 0, 0);
    tm_htmlw_point(out->w, (double)(count - 1) * CURVE_STEP + 2 * CURVE_MARGIN, CURVE_HEIGHT + 2 * CURVE_MARGIN);
    tm_htmlw_end_points(out->w);
    put_curve_path(out->w, y, count);
    tm_htmlw_close(out->w);
}

/* A name that links to another file; if it was cut, in full beside it. */
static void put_linked(struct writer *out, const struct tm_cell *cell, const char *path, size_t chars)
{
    char text[TM_FORMAT_BYTES];

    tm_htmlw_open_with(out->w, "a", "href", path, NULL);
    tm_page_cut_name(out->page, tm_cell_shown(cell, out->page->summary, text), chars);
    tm_htmlw_close(out->w);
}

/* The first column has more room for names, most of all if there are few others. */
static size_t name_chars(const struct writer *out, size_t shown)
{
    return shown > 0 ? TM_NAME_NARROW : out->layout.columns <= FEW_COLUMNS ? TM_NAME_WIDE : TM_NAME_CHARS;
}

/* in: has_exact  data-v marks the cell as a number, and says what the class would */
static void put_cell_class(struct writer *out, const struct tm_cell *cell, bool has_exact, size_t row, size_t shown)
{
    const char *const kind = has_exact ? "" : class_of(cell->kind);
    const bool is_tree = shown == 0 && (out->table->depth || out->table->depths), is_empty = tm_cell_is_empty(cell);
    char class_name[CLASS_BYTES];

    if (is_tree)
        (void)snprintf(class_name, sizeof(class_name), "tree d%d", tm_table_depth(out->table, row));
    else if (*kind && is_empty)
        (void)snprintf(class_name, sizeof(class_name), "%s none", kind);
    put_class_if_any(out->w, is_tree || (*kind && is_empty) ? class_name : is_empty ? "none" : kind);
}

static void put_cell(struct writer *out, size_t row, size_t shown)
{
    const struct tm_cell cell = tm_table_cell(out->table, row, out->layout.column[shown]);
    const bool is_number = tm_doc_is_number(cell.kind), is_header = shown == 0 && !is_number,
               has_exact = is_number && !tm_cell_is_empty(&cell);
    const char *link = tm_table_link(out->table, row, out->layout.column[shown]);
    char exact[TM_FORMAT_BYTES];

    tm_htmlw_open(out->w, is_header ? "th" : "td");
    if (is_header)
        tm_htmlw_attr(out->w, "scope", "row");
    put_cell_class(out, &cell, has_exact, row, shown);
    if (has_exact)
        tm_htmlw_attr(out->w, "data-v", tm_cell_exact(&cell, exact));
    if (cell.kind == TM_DOC_CURVE && tm_length(cell.value) > 1)
        put_curve(out, cell.value);
    else if (link && is_name(cell.kind) && !tm_cell_is_empty(&cell))
        put_linked(out, &cell, link, name_chars(out, shown));
    else
        put_shown(out, &cell, name_chars(out, shown));
    tm_htmlw_close(out->w);
}

static void put_head(struct writer *out)
{
    tm_htmlw_open(out->w, "thead");
    tm_htmlw_open(out->w, "tr");
    for (size_t i = 0; i < out->layout.columns; i++) {
        tm_htmlw_open_with(out->w, "th", "scope", "col", NULL);
        if (tm_doc_is_number(kind_of(out, i)))
            tm_htmlw_attr(out->w, "class", "n");
        if (*tm_doc_unit(kind_of(out, i)))
            tm_htmlw_attr(out->w, "data-unit", tm_doc_unit(kind_of(out, i)));
        if (out->table->column[out->layout.column[i]].shape & TM_CHOICE)
            tm_htmlw_attr(out->w, "data-choice", "");
        tm_page_label(out->page, out->table->column[out->layout.column[i]].title);
        tm_htmlw_close(out->w);
    }
    tm_htmlw_close(out->w);
    tm_htmlw_close_line(out->w);
}

static void put_body(struct writer *out)
{
    tm_htmlw_open(out->w, "tbody");
    for (size_t r = 0; r < out->layout.rows; r++) {
        tm_htmlw_open(out->w, "tr");
        if (out->table->anchor && out->table->anchors)
            tm_page_id_of(out->page, out->table->anchor, out->table->anchors[r]);
        else if (out->table->anchor)
            tm_page_id(out->page, out->table->anchor, (int)r);
        for (size_t i = 0; i < out->layout.columns; i++)
            put_cell(out, r, i);
        tm_htmlw_close_line(out->w);
    }
    tm_htmlw_close_line(out->w);
}

/* --- sums --- */

typedef struct tm_cell sum_fn(const struct tm_layout *layout, size_t column);

static void put_sums(struct writer *out, const char *class_name, const char *title, sum_fn *sum)
{
    char text[TM_FORMAT_BYTES];

    tm_htmlw_class(out->w, "tr", class_name);
    tm_htmlw_open_with(out->w, "th", "scope", "row", NULL);
    tm_htmlw_text(out->w, title);
    tm_htmlw_close(out->w);
    for (size_t i = 1; i < out->layout.columns; i++) {
        const struct tm_cell cell = sum(&out->layout, out->layout.column[i]);

        tm_htmlw_open(out->w, "td");
        put_class_if_any(out->w, class_of(cell.kind));
        tm_htmlw_text(out->w, tm_cell_shown(&cell, out->page->summary, text));
        tm_htmlw_close(out->w);
    }
    tm_htmlw_close_line(out->w);
}

static void put_foot(struct writer *out)
{
    const bool has_rest = tm_layout_has_sums(&out->layout);
    char title[TM_FORMAT_BYTES];

    if (!has_rest && !out->table->total)
        return;
    tm_htmlw_open(out->w, "tfoot");
    if (has_rest)
        put_sums(out, "rest", tm_layout_rest_title(&out->layout, title), tm_layout_rest);
    if (out->table->total)
        put_sums(out, "total", out->table->total_title, tm_layout_total);
    tm_htmlw_close(out->w);
}

/* --- notes --- */

static void put_same(struct writer *out, const char *title, const char *value)
{
    tm_htmlw_class(out->w, "p", "note");
    tm_page_label(out->page, title);
    tm_htmlw_text(out->w, " in all rows: ");
    tm_page_text(out->page, value);
    tm_htmlw_close_line(out->w);
}

/* Columns with a single value, reasons for empty cells, columns without values. */
static void put_notes(struct writer *out)
{
    struct tm_missing missing = { .count = 0 }, empty = { .count = 0 };
    char text[TM_FORMAT_BYTES];

    for (size_t i = 0; i < out->layout.notes; i++) {
        const char *title = out->layout.note[i].title, *told = out->layout.note[i].text;

        if (out->layout.note[i].is_same)
            put_same(out, title, told);
        else if (!out->layout.note[i].is_shown)
            tm_missing_add(&missing, title, told);
        else if (strcmp(told, "not recorded") != 0)
            tm_missing_add(&empty, title, told);
    }
    tm_page_missing(out->page, "Cells with –", &empty);
    tm_page_missing(out->page, "Not recorded", &missing);
    if (out->layout.rows_left_out > 0 && !tm_layout_has_sums(&out->layout))
        tm_htmlw_element(out->w, "p", "note", tm_layout_rest_title(&out->layout, text));
}

static void put_unfold(struct writer *out)
{
    char text[TM_FORMAT_BYTES];

    tm_htmlw_class(out->w, "p", "unfold");
    tm_htmlw_open(out->w, "label");
    tm_htmlw_open_with(out->w, "input", "type", "checkbox", "autocomplete", "off", NULL);
    tm_htmlw_leaf(out->w);
    tm_htmlw_printf(out->w, " Show all %s rows", tm_format_count(text, (int64_t)out->layout.rows));
    tm_htmlw_close(out->w);
    tm_htmlw_close_line(out->w);
}

/* --- the table --- */

/* Around a table: a box that scrolls sideways and can be reached with the keyboard.  in: label  id of its title */
static void page_open_scroll(struct tm_page *page, const char *class_name, const char *label_id)
{
    tm_htmlw_open_with(&page->w, "div", "class", class_name, "role", "region", "aria-labelledby", label_id, NULL);
    tm_htmlw_attr_int(&page->w, "tabindex", 0);
}

static void put_grid(struct writer *out, const char *label_id, bool is_folded)
{
    page_open_scroll(out->page, is_folded ? "scroll tall" : "scroll", label_id);
    tm_htmlw_open_with(out->w, "table", "aria-labelledby", label_id, NULL);
    if (out->layout.rows >= SORTED_LEAST && !out->table->depth && !out->table->depths)
        tm_htmlw_attr(out->w, "data-sortable", "");
    if (is_folded)
        tm_htmlw_attr(out->w, "data-filter", "");
    put_head(out);
    put_body(out);
    put_foot(out);
    tm_htmlw_close(out->w);
    tm_htmlw_close_line(out->w);
}

void tm_page_table(void *to, const struct tm_table *table)
{
    struct tm_page *page = to;
    struct writer out = { .page = page, .w = &page->w, .table = table };
    const struct tm_room room = { .rows = table->page_rows ? table->page_rows : TM_HTML_ROWS_MOST,
                                  .has_links = true,
                                  .has_curves = true };
    char id[LABEL_BYTES], label_id[LABEL_BYTES];
    bool is_folded;

    tm_table_lay_out(&out.layout, table, page->summary, &room);
    is_folded = out.layout.rows >= FOLDED_LEAST;
    (void)snprintf(label_id, sizeof(label_id), "caption-%.40s", table->id);
    tm_htmlw_class(out.w, "figure", is_folded ? "table folded" : "table");
    (void)snprintf(id, sizeof(id), "table-%.40s", table->id);
    tm_htmlw_attr(out.w, "id", id);
    tm_htmlw_open_with(out.w, "figcaption", "id", label_id, NULL);
    tm_page_text(page, table->caption);
    tm_htmlw_close_line(out.w);
    for (size_t i = 0; i < out.layout.columns; i++)
        if (kind_of(&out, i) == TM_DOC_CURVE)
            put_curve_end(page);
    put_grid(&out, label_id, is_folded);
    if (is_folded)
        put_unfold(&out);
    put_notes(&out);
    tm_htmlw_close_line(out.w);
}

/* Charts of the page: the drawing, its caption, and its figures as a foldable table. */

enum { ID_BYTES = 48 };

static void put_duplicate_head(struct tm_page *page, const struct tm_chart_table *table)
{
    tm_htmlw_open(&page->w, "thead");
    tm_htmlw_open(&page->w, "tr");
    for (int c = 0; c < table->columns; c++) {
        tm_htmlw_open_with(&page->w, "th", "scope", "col", NULL);
        if (table->is_number[c])
            tm_htmlw_attr(&page->w, "class", "n");
        tm_htmlw_text(&page->w, table->title[c]);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_duplicate_row(struct tm_page *page, const struct tm_chart *chart, size_t row)
{
    const struct tm_chart_table *table = &chart->table;

    tm_htmlw_open(&page->w, "tr");
    for (int c = 0; c < table->columns; c++) {
        tm_htmlw_open(&page->w, c == 0 ? "th" : "td");
        if (c == 0)
            tm_htmlw_attr(&page->w, "scope", "row");
        if (table->is_number[c])
            tm_htmlw_attr(&page->w, "class", "n");
        tm_page_name(page, tm_chart_text(chart, table->cell[row * (size_t)table->columns + (size_t)c]), TM_NAME_CHARS);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

static void put_caption(struct tm_page *page)
{
    tm_htmlw_open(&page->w, page->chart.is_short ? "p" : "figcaption");
    tm_page_text(page, page->chart.caption);
    tm_htmlw_close_line(&page->w);
}

/* On the first screen, the caption is in the fold, too. */
static void put_duplicate(struct tm_page *page, const char *title_id)
{
    const struct tm_chart *chart = &page->chart;

    tm_htmlw_class(&page->w, "details", "twin");
    tm_htmlw_element(&page->w, "summary", NULL, chart->is_short ? "Chart data and notes" : "Chart data");
    if (chart->is_short)
        put_caption(page);
    page_open_scroll(page, "scroll", title_id);
    tm_htmlw_open_with(&page->w, "table", "aria-labelledby", title_id, NULL);
    put_duplicate_head(page, &chart->table);
    tm_htmlw_open(&page->w, "tbody");
    for (size_t r = 0; r < tm_chart_rows(chart); r++)
        put_duplicate_row(page, chart, r);
    for (int i = 0; i < 3; i++) /* tbody, table, region */
        tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

/* Widths in points, and the class of each: the style sheet shows the one that the page has room for.  Drawings
 * with many marks, and those of charts that have many together, come in two widths, the second for all but phones. */
struct drawing {
    double width;
    const char *class_name;
};
static const struct drawing phone = { 300, "w360" }, tablet = { 520, "w720" }, desktop = { 800, "w1100" },
                            both = { 640, "w720" };

enum { MANY_MARKS = 400 /* of a drawing */, MANY_TOGETHER = 4000 /* of all charts of a kind, if they are alike */ };

static void draw(struct tm_page *page, enum tm_chart_kind kind, size_t index, const struct drawing *drawing)
{
    page->chart.width = drawing->width;
    tm_charts_draw(&page->chart, kind, index, page->summary);
}

/* The last one drawn is the widest: its title, its caption and its figures are those of the chart. */
static void draw_for_each_width(struct tm_page *page, enum tm_chart_kind kind, size_t index, const char *title_id)
{
    size_t marks;
    bool is_large;

    draw(page, kind, index, &phone);
    marks = page->chart.marks + page->chart.points;
    is_large = marks > MANY_MARKS || marks * tm_charts_count(kind, page->summary) > MANY_TOGETHER;
    tm_htmlw_open_with(&page->w, "h3", "id", title_id, NULL);
    tm_htmlw_text(&page->w, page->chart.title);
    tm_htmlw_close_line(&page->w);
    tm_htmlw_class(&page->w, "div", "chart");
    tm_svg_write(&page->w, &page->chart, phone.class_name);
    draw(page, kind, index, is_large ? &both : &tablet);
    tm_svg_write(&page->w, &page->chart, tablet.class_name);
    if (!is_large) {
        draw(page, kind, index, &desktop);
        tm_svg_write(&page->w, &page->chart, desktop.class_name);
    }
    tm_htmlw_close_line(&page->w);
}

static void put_chart(struct tm_page *page, enum tm_chart_kind kind, size_t index)
{
    char id[ID_BYTES], title_id[ID_BYTES];

    (void)snprintf(id, sizeof(id), "chart-%d-%zu", (int)kind, index);
    (void)snprintf(title_id, sizeof(title_id), "chart-%d-%zu-title", (int)kind, index);
    tm_htmlw_open_with(&page->w, "figure", "class", "drawing", "id", id, NULL);
    draw_for_each_width(page, kind, index, title_id);
    if (!page->chart.is_short)
        put_caption(page);
    put_duplicate(page, title_id);
    tm_htmlw_close_line(&page->w);
}

static void put_reference(struct tm_page *page, enum tm_chart_kind kind)
{
    char word[ID_BYTES];

    (void)snprintf(word, sizeof(word), "chart-%d", (int)kind);
    tm_htmlw_class(&page->w, "p", "note");
    tm_htmlw_text(&page->w, "See also ");
    tm_page_open_link(page, word, 0);
    tm_htmlw_text(&page->w, "the chart at the top of the page");
    tm_htmlw_close(&page->w);
    tm_htmlw_text(&page->w, ".");
    tm_htmlw_close_line(&page->w);
}

void tm_page_charts(void *to, enum tm_chart_kind kind)
{
    struct tm_page *page = to;
    const size_t count = tm_charts_count(kind, page->summary);

    if (page->is_drawn[kind]) {
        put_reference(page, kind);
        return;
    }
    for (size_t i = 0; i < count; i++)
        put_chart(page, kind, i);
    page->is_drawn[kind] = count > 0;
}
