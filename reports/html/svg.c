/* SPDX-License-Identifier: Apache-2.0 */
/* SVG back end of the chart model: one element per mark, in the order of the marks.  Source:
 * SVG 1.1, chapters 9 (shapes) and 10 (text), as embedded in HTML. */
#include "reports/html/svg.h"

#include <stdio.h>

static const char dashes[] = "5 3";

static void put_class(struct tm_htmlw *w, char prefix, const struct tm_mark *mark)
{
    char name[32];

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
    static const char *const size_class[TM_TEXT_SIZES] = { "t-small", "t-normal", "t-strong" };
    static const char *const anchor[] = { NULL, "middle", "end" };
    char name[48];

    (void)snprintf(name, sizeof(name), "%s f-%s", size_class[mark->size], tm_palette[mark->role].name);
    tm_htmlw_class(w, "text", name);
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

void tm_svg_write(struct tm_htmlw *w, const struct tm_chart *chart)
{
    tm_htmlw_open(w, "svg");
    tm_htmlw_attr(w, "role", "img");
    tm_htmlw_attr(w, "aria-label", chart->title);
    if (chart->is_end_first)
        tm_htmlw_attr(w, "direction", "ltr"); /* in a box whose text goes the other way, html_table.c */
    tm_htmlw_begin_points(w, "viewBox");
    tm_htmlw_point(w, 0, 0);
    tm_htmlw_point(w, chart->width, chart->height);
    tm_htmlw_end_points(w);
    for (size_t i = 0; i < chart->marks; i++)
        put_mark(w, chart, &chart->mark[i]);
    tm_htmlw_close_line(w);
}
