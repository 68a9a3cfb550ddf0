/* SPDX-License-Identifier: Apache-2.0 */
/* The PDF back end of the chart model: marks in their order, from the top left corner of the
 * drawing. */
#include "reports/pdf/pdf_chart.h"

#include <math.h>
#include <string.h>

#include "reports/pdf/pdf_text.h"

static const double title_room = 17, above_caption = 3, below = 8, least_scale = 0.2;
/* The face of the pages is wider than the one that the makers think of. */
static const double text_scale = 0.9;
/* Labels of axes may stick out a little: the makers measure texts by an estimate. */
static const double overhang = 16;
static const double heading_room = 60; /* of the section above it */

enum { FAR_OFF = 10000 }; /* points */

struct frame {
    struct tm_pdf *pdf;
    const struct tm_chart *chart;
    double x, y;  /* of the drawing on the page */
    double scale; /* points of the page per point of the drawing */
};

static HPDF_REAL page_x(const struct frame *f, double x)
{
    return (HPDF_REAL)(f->x + x * f->scale);
}

static HPDF_REAL page_y(const struct frame *f, double y)
{
    return (HPDF_REAL)(f->pdf->page_height - f->y - y * f->scale);
}

static void set_pen(const struct frame *f, const struct tm_mark *mark)
{
    static const HPDF_UINT16 dashes[] = { 3, 2 };
    const double thickness = mark->thickness > 0 ? mark->thickness : 1;

    tm_pdf_stroke(f->pdf, mark->role, thickness * f->scale);
    TM_PDF_CALL(f->pdf, HPDF_Page_SetDash(f->pdf->page, mark->dashed ? dashes : NULL, mark->dashed ? 2 : 0, 0));
}

static void draw_line(const struct frame *f, const struct tm_mark *mark)
{
    HPDF_Page page = f->pdf->page;

    set_pen(f, mark);
    TM_PDF_CALL(f->pdf, HPDF_Page_MoveTo(page, page_x(f, mark->x), page_y(f, mark->y)));
    TM_PDF_CALL(f->pdf, HPDF_Page_LineTo(page, page_x(f, mark->x + mark->width), page_y(f, mark->y + mark->height)));
    TM_PDF_CALL(f->pdf, HPDF_Page_Stroke(page));
}

static void draw_path(const struct frame *f, const struct tm_mark *mark)
{
    const struct tm_point *point = f->chart->point + mark->point_first;
    HPDF_Page page = f->pdf->page;

    if (mark->point_count < 2)
        return;
    if (mark->kind == TM_MARK_POLYGON)
        tm_pdf_fill(f->pdf, mark->role);
    else
        set_pen(f, mark);
    TM_PDF_CALL(f->pdf, HPDF_Page_MoveTo(page, page_x(f, point[0].x), page_y(f, point[0].y)));
    for (uint32_t i = 1; i < mark->point_count; i++)
        TM_PDF_CALL(f->pdf, HPDF_Page_LineTo(page, page_x(f, point[i].x), page_y(f, point[i].y)));
    if (mark->kind == TM_MARK_POLYGON)
        TM_PDF_CALL(f->pdf, HPDF_Page_Fill(page));
    else
        TM_PDF_CALL(f->pdf, HPDF_Page_Stroke(page));
}

static void draw_dot(const struct frame *f, const struct tm_mark *mark)
{
    if (mark->width <= 0)
        return;
    tm_pdf_fill(f->pdf, mark->role);
    TM_PDF_CALL(f->pdf, HPDF_Page_Circle(f->pdf->page, page_x(f, mark->x), page_y(f, mark->y),
                                        (HPDF_REAL)(mark->width * f->scale)));
    TM_PDF_CALL(f->pdf, HPDF_Page_Fill(f->pdf->page));
}

/* Points of the drawing that a text may take before it leaves it. */
static double text_room(const struct frame *f, const struct tm_mark *mark)
{
    const double before = mark->x, after = f->chart->width - mark->x;

    if (mark->anchor == TM_ANCHOR_START)
        return after;
    return mark->anchor == TM_ANCHOR_END ? before : 2 * fmin(before, after);
}

static void draw_text(const struct frame *f, const struct tm_mark *mark)
{
    const struct tm_pdf_style style = { .face = mark->size == TM_TEXT_STRONG ? TM_PDF_BOLD : TM_PDF_REGULAR,
                                        .size = tm_text_points[mark->size] * text_scale * f->scale,
                                        .role = mark->role };
    char *text = f->pdf->text;
    double x = f->x + mark->x * f->scale, width;

    tm_pdf_encode(f->pdf, text, TM_PDF_CELL_BYTES, tm_chart_text(f->chart, mark->text));
    tm_pdf_fit(f->pdf, &style, text, (text_room(f, mark) + overhang) * f->scale, 1);
    width = tm_pdf_width(f->pdf, &style, text, strlen(text));
    if (mark->anchor != TM_ANCHOR_START)
        x -= mark->anchor == TM_ANCHOR_END ? width : width / 2;
    tm_pdf_text_at(f->pdf, &style, x, f->y + mark->y * f->scale, text);
}

static void draw_mark(const struct frame *f, const struct tm_mark *mark)
{
    switch ((enum tm_mark_kind)mark->kind) {
    case TM_MARK_RECT:
        tm_pdf_rect(f->pdf, mark->role,
                    &(struct tm_pdf_box){ f->x + mark->x * f->scale, f->y + mark->y * f->scale,
                                          mark->width * f->scale, mark->height * f->scale });
        break;
    case TM_MARK_LINE:
        draw_line(f, mark);
        break;
    case TM_MARK_POLYLINE:
    case TM_MARK_POLYGON:
        draw_path(f, mark);
        break;
    case TM_MARK_DOT:
        draw_dot(f, mark);
        break;
    case TM_MARK_TEXT:
        draw_text(f, mark);
        break;
    case TM_MARK_OPEN: /* groups are for pointers, which paper does not have */
    case TM_MARK_CLOSE:
        break;
    }
}

/* libharu writes coordinates past 32767 as garbage, so a mark that is far off every page is not
 * drawn. */
static bool is_near(double x)
{
    return isfinite(x) && fabs(x) < FAR_OFF;
}

static bool is_drawable(const struct tm_chart *chart, const struct tm_mark *mark)
{
    if (!is_near(mark->x) || !is_near(mark->y) || !is_near(mark->width) || !is_near(mark->height))
        return false;
    for (uint32_t i = 0; i < mark->point_count; i++)
        if (!is_near(chart->point[mark->point_first + i].x) ||
            !is_near(chart->point[mark->point_first + i].y))
            return false;
    return true;
}

/* Points of the title and the caption. */
static double around_height(struct tm_pdf *pdf, const struct tm_chart *chart)
{
    int lines;

    tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), chart->caption);
    lines = tm_pdf_lines(pdf, &tm_pdf_quiet, pdf->text, tm_pdf_column(pdf));
    return title_room + above_caption + lines * tm_pdf_leading(&tm_pdf_quiet) + below;
}

/* What is wider than the column or taller than a page is made smaller. */
static double scale_of(struct tm_pdf *pdf, const struct tm_chart *chart)
{
    const double room = pdf->bottom - pdf->top - heading_room - around_height(pdf, chart);
    const double scale = fmin(1, tm_pdf_column(pdf) / chart->width);

    return chart->height * scale > room ? fmax(room / chart->height, least_scale) : scale;
}

double tm_pdf_chart_height(struct tm_pdf *pdf, const struct tm_chart *chart)
{
    return around_height(pdf, chart) + chart->height * scale_of(pdf, chart);
}

void tm_pdf_chart(struct tm_pdf *pdf, const struct tm_chart *chart)
{
    struct frame f = { .pdf = pdf, .chart = chart, .x = pdf->left, .scale = scale_of(pdf, chart) };

    tm_pdf_encode(pdf, pdf->text, TM_PDF_CELL_BYTES, chart->title);
    tm_pdf_fit(pdf, &tm_pdf_strong, pdf->text, tm_pdf_column(pdf), 1);
    tm_pdf_text_at(pdf, &tm_pdf_strong, pdf->left, pdf->y + tm_pdf_strong.size, pdf->text);
    f.y = pdf->y + title_room;
    for (size_t i = 0; i < chart->marks && tm_pdf_is_drawing(pdf); i++)
        if (is_drawable(chart, &chart->mark[i]))
            draw_mark(&f, &chart->mark[i]);
    if (tm_pdf_is_drawing(pdf))
        TM_PDF_CALL(pdf, HPDF_Page_SetDash(pdf->page, NULL, 0, 0));
    pdf->y = f.y + chart->height * f.scale + above_caption;
    tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), chart->caption);
    tm_pdf_wrapped(pdf, &tm_pdf_quiet, 0, pdf->text);
    pdf->y += below;
}
