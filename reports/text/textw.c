/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/text/textw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "reports/content/sheet.h"
#include "reports/format/format.h"
#include "reports/text/text.h"

enum {
    LEAST_CUT = 5,       /* columns that a cut in the middle makes sense in */
    FIRST_WIDE = 0x1100, /* code points from here on may take two columns */
    FIRST_NARROW = 0x2010,
    LAST_NARROW = 0x22ff, /* punctuation, arrows, mathematics: one column */
};

/* Length in bytes of the character at `at`, and its columns. */
static size_t text_character(const char *at, int *columns)
{
    const unsigned char *c = (const unsigned char *)at;
    uint32_t code = c[0];
    size_t n = 1;

    if (c[0] >= 0xf0 && c[1] && c[2] && c[3]) {
        code = FIRST_WIDE;
        n = 4;
    } else if (c[0] >= 0xe0 && c[0] < 0xf0 && c[1] && c[2]) {
        code = (uint32_t)(c[0] & 15) << 12 | (uint32_t)(c[1] & 63) << 6 | (c[2] & 63);
        n = 3;
    } else if (c[0] >= 0xc0 && c[0] < 0xe0 && c[1]) {
        code = (uint32_t)(c[0] & 31) << 6 | (c[1] & 63);
        n = 2;
    }
    *columns = code < FIRST_WIDE || (code >= FIRST_NARROW && code <= LAST_NARROW) ? 1 : 2;
    return n;
}

static int text_width(const char *text)
{
    int width = 0;

    while (*text) {
        int columns;

        text += text_character(text, &columns);
        width += columns;
    }
    return width;
}

size_t tm_text_head(const char *text, int width)
{
    size_t used = 0;

    while (text[used]) {
        int columns;
        const size_t n = text_character(text + used, &columns);

        if (columns > width)
            break;
        width -= columns;
        used += n;
    }
    return used;
}

/* Bytes of the next line of a text that is to be wrapped; at a space where there is one.  A line takes one character
 * at least. */
static size_t text_line(const char *text, int width)
{
    const size_t most = tm_text_head(text, width);
    size_t n = most;
    int columns;

    if (!text[most])
        return most;
    while (n > 0 && text[n] != ' ')
        n--;
    if (n > 0)
        return n;
    return most > 0 ? most : text_character(text, &columns);
}

size_t tm_text_trimmed(const char *text, size_t n)
{
    while (n > 0 && text[n - 1] == ' ')
        n--;
    return n;
}

/* Cut a text in the middle so that it takes at most `width` columns. */
static void text_cut(char *text, int width)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    const int whole = text_width(text), after = width - 1 - width / 2;
    size_t head, tail;
    int left = whole, columns;

    if (whole <= width)
        return;
    head = tm_text_head(text, width / 2);
    for (tail = 0; left > after && text[tail]; left -= columns)
        tail += text_character(text + tail, &columns);
    if (tail < head + sizeof(ellipsis) - 1) /* the sign takes three bytes, and may replace two */
        head = tm_text_head(text, width / 2 - 1);
    if (width < LEAST_CUT || tail < head + sizeof(ellipsis) - 1) {
        text[tm_text_head(text, width)] = 0;
        return;
    }
    memcpy(text + head, ellipsis, sizeof(ellipsis) - 1);
    memmove(text + head + sizeof(ellipsis) - 1, text + tail, strlen(text + tail) + 1);
}

enum {
    GAP = 2,             /* columns between two columns of a table */
    LABEL = 12,          /* columns of the label of an item */
    INDENT = 2,          /* columns of a step down in a tree */
    PROSE_BYTES = 16384, /* a paragraph, clean */
    CELL_LINES = 6,      /* lines of one wrapped cell */
    LEAST_NAME = 28,     /* columns of a name that is cut and still tells something */
};

static const double LEAST_SHARE = 0.8; /* of a name: less is cut far */

static void put_spaces(struct tm_textw *w, int n)
{
    if (n > 0)
        (void)fprintf(w->to, "%*s", n, "");
}

static void put_repeated(struct tm_textw *w, char c, int n)
{
    for (int i = 0; i < n; i++)
        (void)fputc(c, w->to);
}

/* Print a clean text from the column `indent` on, where the cursor is. */
static void put_wrapped(struct tm_textw *w, const char *text, int indent)
{
    while (*text) {
        const size_t n = text_line(text, TM_TEXT_COLUMNS - indent);

        (void)fwrite(text, 1, tm_text_trimmed(text, n), w->to);
        (void)fputc('\n', w->to);
        text += n;
        while (*text == ' ')
            text++;
        if (*text)
            put_spaces(w, indent);
    }
}

static void put_underlined(struct tm_textw *w, const char *text, char line)
{
    char title[TM_TEXT_CELL_BYTES];
    size_t n;

    tm_format_text(title, sizeof(title), text);
    n = tm_text_head(title, TM_TEXT_COLUMNS);
    title[n] = 0;
    (void)fprintf(w->to, "%s\n", title);
    put_repeated(w, line, text_width(title));
    (void)fputc('\n', w->to);
}

/* Begin a block, after a blank line where it is of another kind than what stands above and does not belong to it. */
static void begin_block(struct tm_textw *w, enum tm_text_block block, bool belongs)
{
    if (w->last != TM_TEXT_NOTHING && (w->last != block || block == TM_TEXT_SHEET) && !belongs)
        (void)fputc('\n', w->to);
    w->last = block;
}

void tm_textw_title(struct tm_textw *w, const char *text)
{
    put_underlined(w, text, '=');
}

void tm_textw_heading(struct tm_textw *w, const char *text)
{
    (void)fputc('\n', w->to);
    put_underlined(w, text, '-');
    w->last = TM_TEXT_NOTHING;
}

void tm_textw_subheading(struct tm_textw *w, const char *text)
{
    char title[TM_TEXT_CELL_BYTES];

    tm_format_text(title, sizeof(title), text);
    title[tm_text_head(title, TM_TEXT_COLUMNS - 1)] = 0;
    (void)fprintf(w->to, "%s%s:\n", w->last == TM_TEXT_NOTHING ? "" : "\n", title);
    w->last = TM_TEXT_NOTHING;
}

void tm_textw_paragraph(struct tm_textw *w, const char *text, bool belongs)
{
    char prose[PROSE_BYTES];

    begin_block(w, TM_TEXT_PARAGRAPH, belongs);
    tm_format_text(prose, sizeof(prose), text);
    put_wrapped(w, prose, 0);
}

void tm_textw_item(struct tm_textw *w, const char *label, const char *text)
{
    const int width = text_width(label);
    const int indent = GAP + (width < LABEL ? LABEL : width) + 1;
    char prose[PROSE_BYTES];

    begin_block(w, TM_TEXT_ITEM, w->last == TM_TEXT_PARAGRAPH);
    tm_format_text(prose, sizeof(prose), text);
    (void)fprintf(w->to, "%*s%s", GAP, "", label);
    if (tm_text_trimmed(prose, strlen(prose)) > 0) {
        put_spaces(w, indent - GAP - width);
        put_wrapped(w, prose, indent);
    } else {
        (void)fputc('\n', w->to);
    }
}

/* --- tables --- */

/* Columns before a cell of a tree's first column. */
static int indent_of(const struct tm_sheet *sheet, int row, int column)
{
    return column == 0 && row >= 0 ? INDENT * sheet->indent[row] : 0;
}

/* Make a cell clean, with its indent.  in: row  -1 = the title */
static void fill_cell(struct tm_textw *w, const struct tm_sheet *sheet, int row, int column)
{
    const int indent = indent_of(sheet, row, column);
    char *cell = w->cell[column];

    memset(cell, ' ', (size_t)indent);
    tm_format_text(cell + indent, TM_TEXT_CELL_BYTES - (size_t)indent,
                   row < 0 ? sheet->title[column] : sheet->text[row][column]);
}

static void cut_cell(struct tm_textw *w, const struct tm_sheet *sheet, int row, int column, int width)
{
    const int most = sheet->kind[column] == TM_COLUMN_PROSE ? width * (CELL_LINES - 1) : width;
    int indent = indent_of(sheet, row, column);

    indent = indent < most / 2 ? indent : 0;
    text_cut(w->cell[column] + indent, most - indent);
}

/* How wide columns are, and how wide they would like to be. */
static void measure(struct tm_textw *w, const struct tm_sheet *sheet, int *widths, double *natural)
{
    double actual[TM_SHEET_COLUMNS];

    for (int c = 0; c < sheet->columns; c++) {
        natural[c] = sheet->headed ? text_width(sheet->title[c]) : 0;
        for (int r = 0; r < sheet->rows; r++) {
            int width;

            fill_cell(w, sheet, r, c);
            width = text_width(w->cell[c]);
            natural[c] = width > natural[c] ? width : natural[c];
        }
    }
    tm_sheet_widths(sheet, natural, TM_TEXT_COLUMNS, GAP, actual);
    for (int c = 0; c < sheet->columns; c++)
        widths[c] = (int)actual[c];
}

bool tm_textw_is_narrow(struct tm_textw *w, const struct tm_sheet *sheet)
{
    double natural[TM_SHEET_COLUMNS];
    int widths[TM_SHEET_COLUMNS];
    bool is_narrow = false;

    measure(w, sheet, widths, natural);
    for (int c = 0; c < sheet->columns; c++)
        is_narrow |= sheet->kind[c] == TM_COLUMN_NAME && widths[c] < LEAST_NAME && widths[c] < natural[c] * LEAST_SHARE;
    return is_narrow;
}

/* A line of a table that is being printed: spaces are held back until something follows them. */
struct line {
    struct tm_textw *w;
    int held;
};

static void put_piece(struct line *line, const char *text, size_t bytes, int width, bool right)
{
    const size_t n = tm_text_trimmed(text, bytes);
    int used = 0, columns;

    for (size_t i = 0; i < n; used += columns)
        i += text_character(text + i, &columns);
    if (n > 0) {
        put_spaces(line->w, line->held + (right ? width - used : 0));
        (void)fwrite(text, 1, n, line->w->to);
        line->held = right ? 0 : width - used;
    } else {
        line->held += width;
    }
    line->held += GAP;
}

/* Print one line of a row and move on in its cells.  out: is anything left? */
static bool put_row_line(struct tm_textw *w, const struct tm_sheet *sheet, const int *widths, const char **rest)
{
    struct line line = { .w = w };
    bool more = false;

    for (int c = 0; c < sheet->columns; c++) {
        const bool wraps = sheet->kind[c] == TM_COLUMN_PROSE;
        const size_t n = wraps ? text_line(rest[c], widths[c]) : strlen(rest[c]);

        put_piece(&line, rest[c], n, widths[c], sheet->kind[c] == TM_COLUMN_NUMBER);
        rest[c] += n;
        while (*rest[c] == ' ')
            rest[c]++;
        more = more || *rest[c];
    }
    (void)fputc('\n', w->to);
    return more;
}

/* in: row  -1 = the titles */
static void put_row(struct tm_textw *w, const struct tm_sheet *sheet, const int *widths, int row)
{
    const char *rest[TM_SHEET_COLUMNS];
    bool more = true;

    for (int c = 0; c < sheet->columns; c++) {
        fill_cell(w, sheet, row, c);
        cut_cell(w, sheet, row, c, widths[c]);
        rest[c] = w->cell[c];
    }
    for (int i = 0; more && i < CELL_LINES; i++)
        more = put_row_line(w, sheet, widths, rest);
}

static void put_rule(struct tm_textw *w, const struct tm_sheet *sheet, const int *widths)
{
    int whole = GAP * (sheet->columns - 1);

    for (int c = 0; c < sheet->columns; c++)
        whole += widths[c];
    put_repeated(w, '-', whole);
    (void)fputc('\n', w->to);
}

void tm_textw_sheet(struct tm_textw *w, const struct tm_sheet *sheet)
{
    double natural[TM_SHEET_COLUMNS];
    int widths[TM_SHEET_COLUMNS];

    begin_block(w, TM_TEXT_SHEET, false);
    measure(w, sheet, widths, natural);
    if (sheet->headed) {
        put_row(w, sheet, widths, -1);
        put_rule(w, sheet, widths);
    }
    for (int r = 0; r < sheet->rows; r++) {
        if (sheet->summed[r])
            put_rule(w, sheet, widths);
        put_row(w, sheet, widths, r);
    }
}
