/* SPDX-License-Identifier: Apache-2.0 */
/* Tables on pages: widths from the widest cells, names cut in the middle, prose wrapped, numbers to
 * the right. A judgement is a word with a coloured mark before it, so that it can be read without
 * colours. */
#include "reports/pdf/pdf_table.h"

#include <string.h>

enum { CELL_LINES = 4 };

static const double size = 7.8, line_height = 10.2, gap = 9, padding = 2.5, mark = 5.4,
                    mark_room = 8.5;

/* The titles of the columns are in bold, and so is a row that sums up. */
static enum tm_pdf_face face_of(const struct tm_sheet *sheet, int row)
{
    return row < 0 || sheet->summed[row] ? TM_PDF_BOLD : TM_PDF_REGULAR;
}

enum tm_role tm_pdf_role_of_tone(enum tm_tone tone)
{
    switch (tone) {
    case TM_TONE_GOOD:
        return TM_ROLE_GOOD;
    case TM_TONE_WARNING:
        return TM_ROLE_WARNING;
    case TM_TONE_BAD:
        return TM_ROLE_BAD;
    case TM_TONE_INFO:
    case TM_TONE_UNKNOWN:
        return TM_ROLE_UNKNOWN;
    case TM_TONE_QUIET:
        return TM_ROLE_QUIET;
    default:
        return TM_ROLE_TEXT;
    }
}

static bool has_mark(enum tm_tone tone)
{
    return tone != TM_TONE_PLAIN && tone != TM_TONE_QUIET;
}

/* The text of a cell; row -1 holds the titles. */
static const char *text_of(const struct tm_sheet *sheet, int row, int column)
{
    return row < 0 ? sheet->title[column] : sheet->text[row][column];
}

static enum tm_tone tone_of(const struct tm_sheet *sheet, int row, int column)
{
    return row < 0 ? TM_TONE_PLAIN : (enum tm_tone)sheet->tone[row][column];
}

static double cell_width(struct tm_pdf *pdf, const struct tm_sheet *sheet, int row, int column)
{
    char *cell = pdf->cell[column];

    tm_pdf_encode(pdf, cell, TM_PDF_CELL_BYTES, text_of(sheet, row, column));
    return tm_pdf_width(pdf, face_of(sheet, row), size, cell, strlen(cell)) +
           (has_mark(tone_of(sheet, row, column)) ? mark_room : 0);
}

static void measure(struct tm_pdf *pdf, const struct tm_sheet *sheet, double *widths)
{
    double natural[TM_SHEET_COLUMNS];

    for (int c = 0; c < sheet->columns; c++) {
        natural[c] = 0;
        for (int r = sheet->headed ? -1 : 0; r < sheet->rows; r++) {
            const double width = cell_width(pdf, sheet, r, c);

            natural[c] = width > natural[c] ? width : natural[c];
        }
        natural[c] += 0.1; /* sums of widths are not exact: a text fits its own width */
    }
    tm_sheet_widths(sheet, natural, tm_pdf_right - tm_pdf_left, gap, widths);
}

/* Make the cells of a row ready: encoded and cut.  out: lines of its tallest cell */
static int prepare(struct tm_pdf *pdf, const struct tm_sheet *sheet, int row, const double *widths)
{
    const enum tm_pdf_face face = face_of(sheet, row);
    int lines = 1;

    for (int c = 0; c < sheet->columns; c++) {
        const double room = widths[c] - (has_mark(tone_of(sheet, row, c)) ? mark_room : 0);
        const bool wraps = sheet->kind[c] == TM_COLUMN_PROSE && row >= 0;
        const char *rest = pdf->cell[c];
        int n = 0;

        tm_pdf_encode(pdf, pdf->cell[c], TM_PDF_CELL_BYTES, text_of(sheet, row, c));
        tm_pdf_cut_middle(pdf, face, size, pdf->cell[c], wraps ? room * (CELL_LINES - 1) : room);
        if (!wraps)
            continue;
        for (; *rest && n < CELL_LINES; n++) {
            rest += tm_pdf_line_bytes(pdf, face, size, rest, room);
            rest += strspn(rest, " ");
        }
        lines = n > lines ? n : lines;
    }
    return lines;
}

static void draw_cell(struct tm_pdf *pdf, const struct tm_sheet *sheet, int row, int column,
                      double x, double width)
{
    const enum tm_pdf_face face = face_of(sheet, row);
    const enum tm_tone tone = tone_of(sheet, row, column);
    const enum tm_role role = has_mark(tone) ? TM_ROLE_TEXT : tm_pdf_role_of_tone(tone);
    const char *rest = pdf->cell[column];
    double y = pdf->y + padding + size * 0.82;

    if (has_mark(tone)) {
        tm_pdf_rect(pdf, tm_pdf_role_of_tone(tone), x, y - mark, mark, mark);
        x += mark_room;
        width -= mark_room;
    }
    for (int line = 0; *rest && line < CELL_LINES; line++, y += line_height) {
        const bool wraps = sheet->kind[column] == TM_COLUMN_PROSE && row >= 0;
        const size_t n = wraps ? tm_pdf_line_bytes(pdf, face, size, rest, width) : strlen(rest);
        const double indent = sheet->kind[column] == TM_COLUMN_NUMBER
                                  ? width - tm_pdf_width(pdf, face, size, rest, n)
                                  : 0;

        tm_pdf_text_at(pdf, face, size, role, x + indent, y, rest, n);
        rest += n;
        rest += strspn(rest, " ");
    }
}

static void draw_row(struct tm_pdf *pdf, const struct tm_sheet *sheet, int row,
                     const double *widths)
{
    const int lines = prepare(pdf, sheet, row, widths);
    double right = tm_pdf_left - gap, x = tm_pdf_left;

    for (int c = 0; c < sheet->columns; c++)
        right += widths[c] + gap;
    if (row >= 0 && sheet->summed[row])
        tm_pdf_rule(pdf, TM_ROLE_QUIET, 0.6, pdf->y, right);
    for (int c = 0; c < sheet->columns; c++) {
        draw_cell(pdf, sheet, row, c, x, widths[c]);
        x += widths[c] + gap;
    }
    pdf->y += 2 * padding + line_height * lines - (line_height - size);
    if (sheet->headed)
        tm_pdf_rule(pdf, row < 0 ? TM_ROLE_QUIET : TM_ROLE_GRID, row < 0 ? 0.6 : 0.3, pdf->y,
                    right);
}

/* Height that a row will take, so that it is not cut by the end of the page. */
static double row_height(struct tm_pdf *pdf, const struct tm_sheet *sheet, int row,
                         const double *widths)
{
    return 2 * padding + line_height * prepare(pdf, sheet, row, widths);
}

void tm_pdf_table(struct tm_pdf *pdf, const struct tm_sheet *sheet)
{
    double widths[TM_SHEET_COLUMNS];

    measure(pdf, sheet, widths);
    /* Titles never stand alone at the end of a page. */
    tm_pdf_reserve(pdf, (sheet->headed ? 2 : 1) * (2 * padding + line_height) + line_height);
    if (sheet->headed)
        draw_row(pdf, sheet, -1, widths);
    for (int r = 0; r < sheet->rows && pdf->status == TM_OK && !pdf->is_full; r++) {
        if (tm_pdf_left_on_page(pdf) < row_height(pdf, sheet, r, widths)) {
            tm_pdf_new_page(pdf);
            if (sheet->headed)
                draw_row(pdf, sheet, -1, widths);
        }
        draw_row(pdf, sheet, r, widths);
    }
    pdf->y += line_height * 0.6;
}
