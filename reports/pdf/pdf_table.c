/* SPDX-License-Identifier: Apache-2.0 */
/* Tables on pages: widths from the widest cells, names in the face for code and on two lines at most, prose wrapped,
 * numbers right-aligned.  Column titles are wrapped if their figures are narrower. */
#include "reports/pdf/pdf_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/chart.h"

/* The PDF back end of the chart model: marks in their order, from the top left corner of the
 * drawing. */

static const double title_room = 17, above_caption = 3, below = 6, least_scale = 0.2;

/* The face of the pages is wider than the one that the makers assume. */
static const double text_scale = 0.9;

/* Axis labels may protrude slightly, because the makers estimate text widths. */
static const double overhang = 16;

static const double heading_room = 60; /* of the section above it */

enum { FAR_OFF = 10000 }; /* points */

struct frame {
    struct tm_pdf *pdf;
    const struct tm_chart *chart;
    double x, y;  /* of the drawing on the page */
    double scale; /* points of the page per point of the drawing */
};

static double page_x(const struct frame *f, double x)
{
    return f->x + x * f->scale;
}

static double page_y(const struct frame *f, double y)
{
    return f->y + y * f->scale;
}

static void set_pen(const struct frame *f, const struct tm_mark *mark)
{
    const double thickness = mark->thickness > 0 ? mark->thickness : 1;

    tm_pdf_stroke(f->pdf, mark->role, thickness * f->scale);
    if (mark->dashed)
        tm_pdf_dash(f->pdf, "[3 2]");
}

static void stroke(const struct frame *f, const struct tm_mark *mark)
{
    tm_pdf_end_path(f->pdf, false);
    if (mark->dashed)
        tm_pdf_dash(f->pdf, "[]");
}

static void draw_line(const struct frame *f, const struct tm_mark *mark)
{
    set_pen(f, mark);
    tm_pdf_move_to(f->pdf, page_x(f, mark->x), page_y(f, mark->y));
    tm_pdf_line_to(f->pdf, page_x(f, mark->x + mark->width), page_y(f, mark->y + mark->height));
    stroke(f, mark);
}

static void draw_path(const struct frame *f, const struct tm_mark *mark)
{
    const struct tm_point *point = f->chart->point + mark->point_first;
    const bool is_filled = mark->kind == TM_MARK_POLYGON;

    if (mark->point_count < 2)
        return;
    if (is_filled)
        tm_pdf_fill(f->pdf, mark->role);
    else
        set_pen(f, mark);
    tm_pdf_move_to(f->pdf, page_x(f, point[0].x), page_y(f, point[0].y));
    for (uint32_t i = 1; i < mark->point_count; i++)
        tm_pdf_line_to(f->pdf, page_x(f, point[i].x), page_y(f, point[i].y));
    if (is_filled)
        tm_pdf_end_path(f->pdf, true);
    else
        stroke(f, mark);
}

static void draw_dot(const struct frame *f, const struct tm_mark *mark)
{
    if (mark->width > 0)
        tm_pdf_disc(f->pdf, mark->role, page_x(f, mark->x), page_y(f, mark->y), mark->width * f->scale);
}

/* Points that a text may take before it leaves the drawing. */
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
                    &(struct tm_pdf_box){ f->x + mark->x * f->scale, f->y + mark->y * f->scale, mark->width * f->scale,
                                          mark->height * f->scale });
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
    case TM_MARK_OPEN: /* groups are for tooltips, which paper does not have */
    case TM_MARK_CLOSE:
        break;
    }
}

/* Readers may not support coordinates beyond 32767, so a mark far outside of every page is not drawn. */
static bool is_near(double x)
{
    return isfinite(x) && fabs(x) < FAR_OFF;
}

static bool is_drawable(const struct tm_chart *chart, const struct tm_mark *mark)
{
    if (!is_near(mark->x) || !is_near(mark->y) || !is_near(mark->width) || !is_near(mark->height))
        return false;
    for (uint32_t i = 0; i < mark->point_count; i++)
        if (!is_near(chart->point[mark->point_first + i].x) || !is_near(chart->point[mark->point_first + i].y))
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

/* Charts wider than the column or taller than a page are scaled down. */
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
    char words[TM_CHART_TITLE + TM_CHART_CAPTION + 4];

    (void)snprintf(words, sizeof(words), "%s. %s", chart->title, chart->caption);
    tm_pdf_encode_outside(pdf, pdf->text, TM_PDF_CELL_BYTES, words);
    tm_pdf_begin_tag(pdf, TM_PDF_TAG_FIGURE, pdf->text);

    tm_pdf_encode(pdf, pdf->text, TM_PDF_CELL_BYTES, chart->title);
    tm_pdf_fit(pdf, &tm_pdf_strong, pdf->text, tm_pdf_column(pdf), 1);
    tm_pdf_text_at(pdf, &tm_pdf_strong, pdf->left, pdf->y + tm_pdf_strong.size, pdf->text);
    f.y = pdf->y + title_room;
    for (size_t i = 0; i < chart->marks && tm_pdf_is_drawing(pdf); i++)
        if (is_drawable(chart, &chart->mark[i]))
            draw_mark(&f, &chart->mark[i]);
    pdf->y = f.y + chart->height * f.scale + above_caption;
    tm_pdf_begin_tag(pdf, TM_PDF_TAG_TEXT, NULL);
    tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), chart->caption);
    tm_pdf_wrapped(pdf, &tm_pdf_quiet, 0, pdf->text);
    pdf->y += below;
}

enum { NAME_LINES = 2, PROSE_LINES = 8, TITLE_LINES = 3, FIRST_ROWS = 3, HALVED_LEAST = 6 /* rows */ };

static const double gap = 10, padding = 1, indent_step = 8, indent_most = 0.4, caption_room = 14, below_table = 5,
                    short_share = 0.15, least_title = 42, prose_over_mean = 1.3, cell_size = 7.6, half_gap = 24,
                    inexact = 0.01; /* for rounding of sums */

static struct tm_pdf_style style_of(const struct tm_sheet *sheet, int row, int column)
{
    struct tm_pdf_style style = tm_pdf_body;

    style.size = cell_size;
    if (row < 0) {
        style.face = TM_PDF_BOLD;
        style.size = 7;
        style.role = TM_ROLE_QUIET;
    } else if (sheet->summed[row]) {
        style.face = TM_PDF_BOLD;
    } else if (sheet->kind[column] == TM_COLUMN_NAME && sheet->tone[row][column] != TM_TONE_QUIET) {
        style.face = TM_PDF_MONO;
        style.size = 6.9;
    }
    if (row >= 0)
        style.role = tm_pdf_role_of_tone((enum tm_tone)sheet->tone[row][column]);
    return style;
}

/* The text of a cell, made safe; row -1 holds the titles. */
static char *load(struct tm_pdf *pdf, const struct tm_sheet *sheet, int row, int column)
{
    char *cell = pdf->cell[column];
    const char *text = row < 0 ? sheet->title[column] : sheet->text[row][column];

    if (sheet->kind[column] == TM_COLUMN_PROSE && row >= 0)
        tm_pdf_encode_prose(pdf, cell, TM_PDF_CELL_BYTES, text);
    else
        tm_pdf_encode(pdf, cell, TM_PDF_CELL_BYTES, text);
    return cell;
}

static double indent_of(const struct tm_sheet *sheet, int row, int column, double width)
{
    const double indent = row >= 0 && column == 0 ? sheet->indent[row] * indent_step : 0;

    return fmin(indent, width * indent_most);
}

static int lines_most(const struct tm_sheet *sheet, int row, int column)
{
    if (row < 0)
        return TITLE_LINES;
    if (sheet->kind[column] == TM_COLUMN_PROSE)
        return PROSE_LINES;
    return sheet->kind[column] == TM_COLUMN_NAME ? NAME_LINES : 1;
}

/* --- measured --- */

static double cell_width(struct tm_pdf *pdf, const struct tm_sheet *sheet, int row, int column)
{
    const struct tm_pdf_style style = style_of(sheet, row, column);
    const char *cell = load(pdf, sheet, row, column);

    return tm_pdf_width(pdf, &style, cell, strlen(cell)) + indent_of(sheet, row, column, INFINITY);
}

/* Width of the longest word. */
static double word_width(const struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text)
{
    double widest = 0;

    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        const size_t bytes = strcspn(text, " ");
        const double width = tm_pdf_width(pdf, style, text, bytes);

        widest = width > widest ? width : widest;
        text += bytes;
    }
    return widest;
}

/* A title is as wide as its longest word, or as its text if it is short. */
static double title_width(struct tm_pdf *pdf, const struct tm_sheet *sheet, int column)
{
    const struct tm_pdf_style style = style_of(sheet, -1, column);
    const char *cell = load(pdf, sheet, -1, column);
    const double all = tm_pdf_width(pdf, &style, cell, strlen(cell));

    return fmin(all, fmax(word_width(pdf, &style, cell), least_title));
}

/* Width of the widest cell of a column.  out: mean  of its cells */
static double natural_width(struct tm_pdf *pdf, const struct tm_sheet *sheet, int column, double *mean)
{
    const double title = sheet->headed ? title_width(pdf, sheet, column) : 0;
    double widest = title, sum = 0;

    for (int r = 0; r < sheet->rows; r++) {
        const double width = cell_width(pdf, sheet, r, column);

        widest = fmax(widest, width);
        sum += width;
    }
    *mean = fmax(title, sheet->rows > 0 ? sum / sheet->rows : 0);
    return widest;
}

/* In a table that is too wide, a few long cells of prose are wrapped in favor of the columns that follow. */
static void measure(struct tm_pdf *pdf, struct tm_pdf_grid *grid)
{
    const struct tm_sheet *sheet = grid->sheet;
    double natural[TM_SHEET_COLUMNS], mean[TM_SHEET_COLUMNS], total = -gap;

    for (int c = 0; c < sheet->columns; c++) {
        natural[c] = natural_width(pdf, sheet, c, &mean[c]);
        total += natural[c] + gap;
    }
    for (int c = 0; c + 1 < sheet->columns && total > tm_pdf_column(pdf); c++)
        if (sheet->kind[c] == TM_COLUMN_PROSE)
            natural[c] = fmin(natural[c], prose_over_mean * mean[c]);
    tm_sheet_widths(sheet, natural, tm_pdf_column(pdf), gap, grid->widths);
}

static double room_of(const struct tm_pdf_grid *grid, int row, int column)
{
    return grid->widths[column] - indent_of(grid->sheet, row, column, grid->widths[column]);
}

/* Prepare the cells of a row: safe and cut. */
static void prepare(struct tm_pdf *pdf, const struct tm_pdf_grid *grid, int row)
{
    const struct tm_sheet *sheet = grid->sheet;

    for (int c = 0; c < sheet->columns; c++) {
        const struct tm_pdf_style style = style_of(sheet, row, c);

        tm_pdf_fit(pdf, &style, load(pdf, sheet, row, c), room_of(grid, row, c), lines_most(sheet, row, c));
    }
}

static double row_height(struct tm_pdf *pdf, const struct tm_pdf_grid *grid, int row)
{
    double tallest = 0;

    prepare(pdf, grid, row);
    for (int c = 0; c < grid->sheet->columns; c++) {
        const struct tm_pdf_style style = style_of(grid->sheet, row, c);
        const int lines = tm_pdf_lines(pdf, &style, pdf->cell[c], room_of(grid, row, c));

        tallest = fmax(tallest, lines * tm_pdf_leading(&style));
    }
    return tallest + 2 * padding;
}

static double width_of(const struct tm_pdf_grid *grid)
{
    double width = -gap;

    for (int c = 0; c < grid->sheet->columns; c++)
        width += grid->widths[c] + gap;
    return width;
}

/* Height of the rows on the left, so that those on the right are no more. */
static double half_of(const struct tm_pdf_grid *grid, int row)
{
    double rest = 0, left = 0;

    for (int r = row; r < grid->sheet->rows; r++)
        rest += grid->heights[r + 1];
    for (int r = row; r < grid->sheet->rows && left < rest / 2; r++)
        left += grid->heights[r + 1];
    return left;
}

void tm_pdf_grid_make(struct tm_pdf *pdf, struct tm_pdf_grid *grid, const struct tm_sheet *sheet, const char *caption)
{
    *grid = (struct tm_pdf_grid){ .sheet = sheet, .caption = caption };
    measure(pdf, grid);
    for (int r = sheet->headed ? -1 : 0; r < sheet->rows; r++)
        grid->heights[r + 1] = row_height(pdf, grid, r);
    for (int r = -1; r < sheet->rows; r++)
        grid->total += grid->heights[r + 1];
    grid->is_halved =
        sheet->rows >= HALVED_LEAST && sheet->headed && 2 * width_of(grid) + half_gap <= tm_pdf_column(pdf);
    if (grid->is_halved)
        grid->total = grid->heights[0] + half_of(grid, 0);
    grid->total += *caption ? caption_room : 0;
}

double tm_pdf_grid_least(const struct tm_pdf *pdf, const struct tm_pdf_grid *grid)
{
    double least = (*grid->caption ? caption_room : 0) + grid->heights[0];

    if (grid->total <= (pdf->bottom - pdf->top) * short_share)
        return grid->total;
    for (int r = 0; r < grid->sheet->rows && r < FIRST_ROWS; r++)
        least += grid->heights[r + 1];
    return least;
}

/* --- drawn --- */

static void draw_cell(struct tm_pdf *pdf, const struct tm_pdf_grid *grid, int row, int column, double x)
{
    const struct tm_sheet *sheet = grid->sheet;
    const struct tm_pdf_style style = style_of(sheet, row, column);
    const double indent = indent_of(sheet, row, column, grid->widths[column]);
    const double onto_line = row < 0 ? 0 : cell_size - style.size; /* faces of several sizes are on one line */
    const struct tm_pdf_box box = { x + indent, pdf->y + padding + onto_line, grid->widths[column] - indent, 0 };
    const char *cell = pdf->cell[column];

    if (sheet->kind[column] != TM_COLUMN_NUMBER)
        (void)tm_pdf_text_in(pdf, &style, &box, cell);
    else if (row >= 0)
        tm_pdf_text_right(pdf, &style, box.x + box.width, box.y + style.size, cell);
    else
        tm_pdf_text_in_right(pdf, &style, &box, cell);
}

static void draw_row(struct tm_pdf *pdf, const struct tm_pdf_grid *grid, int row)
{
    const struct tm_sheet *sheet = grid->sheet;
    const double right = pdf->left + width_of(grid);
    double x = pdf->left;

    prepare(pdf, grid, row);
    if (row >= 0 && sheet->summed[row])
        tm_pdf_rule(pdf, TM_ROLE_QUIET, 0.6, pdf->y, right);
    for (int c = 0; c < sheet->columns; c++) {
        draw_cell(pdf, grid, row, c, x);
        x += grid->widths[c] + gap;
    }
    pdf->y += grid->heights[row + 1];
    if (sheet->headed)
        tm_pdf_rule(pdf, row < 0 ? TM_ROLE_QUIET : TM_ROLE_GRID, row < 0 ? 0.6 : 0.4, pdf->y, right);
}

static void draw_caption(struct tm_pdf *pdf, const struct tm_pdf_grid *grid)
{
    if (!*grid->caption)
        return;
    tm_pdf_encode(pdf, pdf->text, TM_PDF_CELL_BYTES, grid->caption);
    tm_pdf_fit(pdf, &tm_pdf_strong, pdf->text, tm_pdf_column(pdf), 1);
    tm_pdf_text_at(pdf, &tm_pdf_strong, pdf->left, pdf->y + tm_pdf_strong.size, pdf->text);
    pdf->y += caption_room;
}

/* Whether a row may start at the pen.  Sums are not alone on a page. */
static bool fits(const struct tm_pdf_grid *grid, int row, double room)
{
    const struct tm_sheet *sheet = grid->sheet;
    const bool takes_next = row + 2 == sheet->rows && sheet->summed[row + 1];

    return grid->heights[row + 1] + (takes_next ? grid->heights[row + 2] : 0) <= room + inexact;
}

/* Titles and rows from one on, down from the pen.  in: most  height of the rows.  out: the first row that is left */
static int draw_rows(struct tm_pdf *pdf, const struct tm_pdf_grid *grid, int row, double most)
{
    if (grid->sheet->headed)
        draw_row(pdf, grid, -1);
    for (const double top = pdf->y; row < grid->sheet->rows && fits(grid, row, top + most - pdf->y); row++)
        draw_row(pdf, grid, row);
    return row;
}

/* A narrow table: its second half is drawn beside the first one.  out: the first row that is left */
static int draw_halves(struct tm_pdf *pdf, const struct tm_pdf_grid *grid, int row, double most)
{
    const double top = pdf->y, beside = (tm_pdf_column(pdf) + half_gap) / 2;
    double bottom;

    row = draw_rows(pdf, grid, row, fmin(most, half_of(grid, row)));
    bottom = pdf->y;
    if (row == grid->sheet->rows)
        return row;
    pdf->y = top;
    pdf->left += beside;
    row = draw_rows(pdf, grid, row, most);
    pdf->left -= beside;
    pdf->y = fmax(pdf->y, bottom);
    return row;
}

void tm_pdf_grid_draw(struct tm_pdf *pdf, const struct tm_pdf_grid *grid)
{
    draw_caption(pdf, grid);
    for (int row = 0; tm_pdf_is_drawing(pdf);) {
        const double room = tm_pdf_left_on_page(pdf) - grid->heights[0];

        row = grid->is_halved ? draw_halves(pdf, grid, row, room) : draw_rows(pdf, grid, row, room);
        if (row == grid->sheet->rows)
            break;
        tm_pdf_new_page(pdf);
    }
    pdf->y += below_table;
}
