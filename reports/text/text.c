/* SPDX-License-Identifier: Apache-2.0 */
/* report.txt: the sections of reports/content in terminal columns. */
#include "reports/media.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "reports/content/content.h"
#include "reports/format/format.h"

/* Blocks of plain text.  Texts of a trace, any bytes, enter here, and invisible characters are escaped.  No line is
 * wider than TM_TEXT_COLUMNS or ends in a space. */
enum { TM_TEXT_CELL_BYTES = 2048 };

/* The previous block, which determines whether a blank line is needed. */
enum tm_text_block { TM_TEXT_NOTHING, TM_TEXT_PARAGRAPH, TM_TEXT_ITEM, TM_TEXT_SHEET };

struct tm_textw {
    FILE *to;
    enum tm_text_block last;
    char cell[TM_SHEET_COLUMNS][TM_TEXT_CELL_BYTES]; /* of the row that is printed, clean */
};

/* Texts in columns of a terminal.  All texts are valid UTF-8 without invisible characters.  A character that is
 * not ASCII counts as its widest form where its width is not certain, so that a line may be shorter than it could be
 * but never longer. */

enum {
    LEAST_CUT = 5,       /* minimum columns for a cut in the middle */
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

/* Bytes of the longest prefix of `text` that takes at most `width` columns. */
static size_t text_head(const char *text, int width)
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

/* Bytes of the next line of a text to be wrapped, at a space if there is one.  A line takes at least one
 * character. */
static size_t text_line(const char *text, int width)
{
    const size_t most = text_head(text, width);
    size_t n = most;
    int columns;

    if (!text[most])
        return most;
    while (n > 0 && (text[n] != ' ' || tm_format_is_unit_blank(text, n)))
        n--;
    if (n > 0)
        return n;
    return most > 0 ? most : text_character(text, &columns);
}

/* The bytes without the spaces at their end. */
static size_t text_trimmed(const char *text, size_t n)
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
    head = text_head(text, width / 2);
    for (tail = 0; left > after && text[tail]; left -= columns)
        tail += text_character(text + tail, &columns);
    if (tail < head + sizeof(ellipsis) - 1) /* the sign takes three bytes, and may replace two */
        head = text_head(text, width / 2 - 1);
    if (width < LEAST_CUT || tail < head + sizeof(ellipsis) - 1) {
        text[text_head(text, width)] = 0;
        return;
    }
    memcpy(text + head, ellipsis, sizeof(ellipsis) - 1);
    memmove(text + head + sizeof(ellipsis) - 1, text + tail, strlen(text + tail) + 1);
}

enum {
    GAP = 2,             /* columns between two columns of a table */
    LABEL = 14,          /* columns of the label of an item */
    INDENT = 2,          /* columns of indentation per tree level */
    PROSE_BYTES = 16384, /* a paragraph, clean */
    CELL_LINES = 6,      /* lines of one wrapped cell */
    LEAST_NAME = 28,     /* columns of a truncated name that is still informative */
};

static const double LEAST_SHARE = 0.8; /* of a name: fewer mean that it is cut too far */

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

void tm_text_put_wrapped(FILE *to, const char *text, int indent)
{
    while (*text) {
        const size_t n = text_line(text, TM_TEXT_COLUMNS - indent);

        (void)fwrite(text, 1, text_trimmed(text, n), to);
        (void)fputc('\n', to);
        text += n;
        while (*text == ' ')
            text++;
        if (*text)
            (void)fprintf(to, "%*s", indent, "");
    }
}

static void put_wrapped(struct tm_textw *w, const char *text, int indent)
{
    tm_text_put_wrapped(w->to, text, indent);
}

static void put_underlined(struct tm_textw *w, const char *text, char line)
{
    char title[TM_TEXT_CELL_BYTES];
    size_t n;

    tm_format_text(title, sizeof(title), text);
    n = text_head(title, TM_TEXT_COLUMNS);
    title[n] = 0;
    (void)fprintf(w->to, "%s\n", title);
    put_repeated(w, line, text_width(title));
    (void)fputc('\n', w->to);
}

/* Start a block, after a blank line if it is of another kind than the previous one and does not belong to it. */
static void begin_block(struct tm_textw *w, enum tm_text_block block, bool belongs)
{
    if (w->last != TM_TEXT_NOTHING && (w->last != block || block == TM_TEXT_SHEET) && !belongs)
        (void)fputc('\n', w->to);
    w->last = block;
}

/* the first line of a file */
static void textw_title(struct tm_textw *w, const char *text)
{
    put_underlined(w, text, '=');
}

static void textw_heading(struct tm_textw *w, const char *text)
{
    (void)fputc('\n', w->to);
    put_underlined(w, text, '-');
    w->last = TM_TEXT_NOTHING;
}

static void textw_subheading(struct tm_textw *w, const char *text)
{
    char title[TM_TEXT_CELL_BYTES];

    tm_format_text(title, sizeof(title), text);
    title[text_head(title, TM_TEXT_COLUMNS - 1)] = 0;
    (void)fprintf(w->to, "%s%s:\n", w->last == TM_TEXT_NOTHING ? "" : "\n", title);
    w->last = TM_TEXT_NOTHING;
}

/* in: belongs  to the previous block: no blank line between them */
static void textw_paragraph(struct tm_textw *w, const char *text, bool belongs)
{
    char prose[PROSE_BYTES];

    begin_block(w, TM_TEXT_PARAGRAPH, belongs);
    tm_format_text(prose, sizeof(prose), text);
    put_wrapped(w, prose, 0);
}

/* "  cause          The thread that ...": the text hangs. */
static void textw_item(struct tm_textw *w, const char *label, const char *text)
{
    const int width = text_width(label);
    const int indent = GAP + (width < LABEL ? LABEL : width) + 1;
    char prose[PROSE_BYTES];

    begin_block(w, TM_TEXT_ITEM, w->last == TM_TEXT_PARAGRAPH);
    tm_format_text(prose, sizeof(prose), text);
    (void)fprintf(w->to, "%*s%s", GAP, "", label);
    if (text_trimmed(prose, strlen(prose)) > 0) {
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

/* Make a cell printable, with its indent.  in: row  -1 = the title */
static void fill_cell(struct tm_textw *w, const struct tm_sheet *sheet, int row, int column)
{
    const int indent = indent_of(sheet, row, column);
    char *cell = w->cell[column];

    memset(cell, ' ', (size_t)indent);
    tm_format_text(cell + indent, TM_TEXT_CELL_BYTES - (size_t)indent,
                   row < 0 ? sheet->title[column] : sheet->text[row][column]);
}

/* Columns of the longest word of a title. */
static int title_word_width(const char *title)
{
    int width = 0, widest = 0, columns;

    for (const char *at = title; *at;) {
        const bool is_space = *at == ' ';

        at += text_character(at, &columns);
        width = is_space ? 0 : width + columns;
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* Titles wrap at spaces only.  in: row  -1 = the titles */
static bool is_wrapped(const struct tm_sheet *sheet, int row, int column, int width)
{
    return row < 0 ? title_word_width(sheet->title[column]) <= width : sheet->kind[column] == TM_COLUMN_PROSE;
}

static void cut_cell(struct tm_textw *w, const struct tm_sheet *sheet, int row, int column, int width)
{
    const int most = is_wrapped(sheet, row, column, width) ? width * (CELL_LINES - 1) : width;
    int indent = indent_of(sheet, row, column);

    indent = indent < most / 2 ? indent : 0;
    text_cut(w->cell[column] + indent, most - indent);
}

/* The preferred widths of columns: at least as wide as before. */
static void measure_sheet(struct tm_textw *w, const struct tm_sheet *sheet, bool has_whole_titles, double *natural)
{
    for (int c = 0; c < sheet->columns; c++) {
        const int whole = has_whole_titles ? text_width(sheet->title[c]) : title_word_width(sheet->title[c]);
        const int title = sheet->headed ? whole : 0;

        natural[c] = title > natural[c] ? title : natural[c];
        for (int r = 0; r < sheet->rows; r++) {
            int width;

            fill_cell(w, sheet, r, c);
            width = text_width(w->cell[c]);
            natural[c] = width > natural[c] ? width : natural[c];
        }
    }
}

/* Their widths in a line of this many columns. */
static void share_line(const struct tm_sheet *sheet, const double *natural, int columns, int *widths)
{
    double actual[TM_SHEET_COLUMNS];

    tm_sheet_widths(sheet, natural, columns, GAP, actual);
    for (int c = 0; c < sheet->columns; c++)
        widths[c] = (int)actual[c];
}

/* A figure, or a word, that is cut is wrong. */
static bool has_cut_figure(const struct tm_sheet *sheet, const double *natural, const int *widths)
{
    for (int c = 0; c < sheet->columns; c++)
        if (sheet->kind[c] <= TM_COLUMN_NUMBER && widths[c] < (int)natural[c])
            return true;
    return false;
}

/* If there is too little room, titles are as narrow as their longest words. */
static void measure(struct tm_textw *w, const struct tm_sheet *sheet, int *widths, double *natural)
{
    bool has_whole_titles = true, is_cut;

    do {
        for (int c = 0; c < sheet->columns; c++)
            natural[c] = 0;
        measure_sheet(w, sheet, has_whole_titles, natural);
        share_line(sheet, natural, TM_TEXT_COLUMNS, widths);
        is_cut = has_whole_titles && has_cut_figure(sheet, natural, widths);
        has_whole_titles = false;
    } while (is_cut);
}

/* A name of the table is truncated so far that it is hardly informative. */
static bool has_narrow_name(const struct tm_sheet *sheet, const double *natural, const int *widths)
{
    for (int c = 0; c < sheet->columns; c++)
        if (sheet->kind[c] == TM_COLUMN_NAME && widths[c] < LEAST_NAME && widths[c] < natural[c] * LEAST_SHARE)
            return true;
    return false;
}

static bool textw_is_narrow(struct tm_textw *w, const struct tm_sheet *sheet)
{
    double natural[TM_SHEET_COLUMNS];
    int widths[TM_SHEET_COLUMNS];

    measure(w, sheet, widths, natural);
    return has_narrow_name(sheet, natural, widths);
}

/* A line of a table that is being printed: spaces are held back until something follows them. */
struct line {
    struct tm_textw *w;
    int held;
};

static void put_piece(struct line *line, const char *text, size_t bytes, int width, bool right)
{
    const size_t n = text_trimmed(text, bytes);
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

/* Print one line of a row and move on in its cells.  in: row  -1 = the titles  out: is anything left? */
static bool put_row_line(struct tm_textw *w, const struct tm_sheet *sheet, const int *widths, int row,
                         const char **rest)
{
    struct line line = { .w = w };
    bool more = false;

    for (int c = 0; c < sheet->columns; c++) {
        const size_t n = is_wrapped(sheet, row, c, widths[c]) ? text_line(rest[c], widths[c]) : strlen(rest[c]);

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
        more = put_row_line(w, sheet, widths, row, rest);
}

static void put_rule(struct tm_textw *w, const struct tm_sheet *sheet, const int *widths)
{
    int whole = GAP * (sheet->columns - 1);

    for (int c = 0; c < sheet->columns; c++)
        whole += widths[c];
    put_repeated(w, '-', whole);
    (void)fputc('\n', w->to);
}

static void textw_sheet(struct tm_textw *w, const struct tm_sheet *sheet)
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

enum {
    TOP_FINDINGS = 5,
    PLACES_MOST = 3,
    TITLE_BYTES = 256,
    TOP_STAKE_BYTES = 64,
    LEAST_COLUMNS = 4, /* of a table, regardless of its names */
};

struct text {
    struct tm_textw w;
    struct tm_run *run;
    const struct tm_value *summary;
    struct tm_front_page front;
    struct tm_sheet sheet;
    struct tm_layout layout;
    bool is_told[TM_MARKS_SHOWN]; /* marks of headings: each is reported below the first section with it */
};

/* --- content of sections --- */

static void begin_section(void *to, const struct tm_section *section)
{
    struct text *t = to;
    char title[TITLE_BYTES], sign[TM_SIGN_BYTES] = "";

    if (section->key)
        (void)tm_sign_of_section(sign, t->summary, section->key);
    (void)snprintf(title, sizeof(title), "%s%s", section->title, sign);
    textw_heading(&t->w, title);
}

static void put_mark(struct text *t, size_t at)
{
    char text[TM_FRONT_BYTES];

    (void)snprintf(text, sizeof(text), "[%c] %s", tm_mark_letter(at),
                   tm_text(tm_get(tm_at(tm_path(t->summary, "coverage.marks"), at), "text")));
    textw_paragraph(&t->w, text, true);
}

/* The meaning of the letters in the heading of a section, where they first occur. */
static void end_section(void *to, const struct tm_section *section)
{
    struct text *t = to;
    const struct tm_value *marks = tm_path(t->summary, "coverage.marks");

    for (size_t i = 0; section->key && i < tm_length(marks) && i < TM_MARKS_SHOWN; i++) {
        if (t->is_told[i] || !tm_mark_is_of_section(tm_at(marks, i), section->key))
            continue;
        put_mark(t, i);
        t->is_told[i] = true;
    }
}

static void put_subheading(void *to, const char *text)
{
    textw_subheading(&((struct text *)to)->w, text);
}

static void put_paragraph(void *to, enum tm_tone tone, const char *text)
{
    textw_paragraph(&((struct text *)to)->w, text, tone == TM_TONE_QUIET);
}

static void put_facts(void *to, const struct tm_table *facts)
{
    struct text *t = to;

    tm_sheet_fill_facts(&t->sheet, facts, t->summary);
    textw_sheet(&t->w, &t->sheet);
}

/* The last column that is not the first one with names. */
static int least_column(const struct tm_sheet *sheet)
{
    int name = 0;

    while (name < sheet->columns && sheet->kind[name] != TM_COLUMN_NAME)
        name++;
    return name == sheet->columns - 1 ? name - 1 : sheet->columns - 1;
}

/* Remove the last columns from a table whose names would be cut too far.  out: their titles, TM_NOTE_BYTES */
static void make_room(struct text *t, char *left_out)
{
    char later[TM_NOTE_BYTES];

    left_out[0] = 0;
    while (t->sheet.columns > LEAST_COLUMNS && textw_is_narrow(&t->w, &t->sheet)) {
        const int column = least_column(&t->sheet);

        memcpy(later, left_out, sizeof(later));
        (void)snprintf(left_out, TM_NOTE_BYTES, "%.64s%s%.900s", t->sheet.title[column], *later ? ", " : "", later);
        tm_sheet_drop(&t->sheet, column);
    }
}

/* --- one table of any length --- */

struct sheets {
    struct tm_textw w;
    struct tm_sheet sheet;
    const struct tm_sheet_source *source;
    double natural[TM_SHEET_COLUMNS];
    int widths[TM_SHEET_COLUMNS];
    int dropped[TM_SHEET_COLUMNS]; /* columns, one after the other */
    int drops;
};

static size_t fill_sheet(struct sheets *s, size_t from)
{
    const size_t rows = s->source->fill(s->source->of, &s->sheet, from);

    for (int i = 0; i < s->drops; i++)
        tm_sheet_drop(&s->sheet, s->dropped[i]);
    return rows;
}

static void drop_columns(struct sheets *s, int columns, char *left_out)
{
    char later[TM_NOTE_BYTES];

    while (s->sheet.columns > LEAST_COLUMNS &&
           (has_narrow_name(&s->sheet, s->natural, s->widths) || has_cut_figure(&s->sheet, s->natural, s->widths))) {
        const int column = least_column(&s->sheet);

        memcpy(later, left_out, sizeof(later));
        (void)snprintf(left_out, TM_NOTE_BYTES, "%.64s%s%.900s", s->sheet.title[column], *later ? ", " : "", later);
        memmove(&s->natural[column], &s->natural[column + 1],
                (size_t)(s->sheet.columns - column - 1) * sizeof(s->natural[0]));
        tm_sheet_drop(&s->sheet, column);
        s->dropped[s->drops++] = column;
        share_line(&s->sheet, s->natural, columns, s->widths);
    }
}

/* As wide as figures and words, and as names that are still informative. */
static int least_line(const struct sheets *s)
{
    double whole = 0;

    for (int c = 0; c < s->sheet.columns; c++) {
        const bool is_elastic = s->sheet.kind[c] > TM_COLUMN_NUMBER;

        whole += GAP + (is_elastic && s->natural[c] > LEAST_NAME ? LEAST_NAME : s->natural[c]);
    }
    return (int)whole;
}

static void print_sheets(struct sheets *s, int columns, bool keeps_all, char *left_out)
{
    size_t rows, from = 0;

    do {
        rows = fill_sheet(s, from);
        measure_sheet(&s->w, &s->sheet, true, s->natural);
        from += rows;
    } while (rows > 0);
    if (keeps_all && least_line(s) > columns)
        columns = least_line(s);
    share_line(&s->sheet, s->natural, columns, s->widths);
    if (!keeps_all)
        drop_columns(s, columns, left_out);
    put_row(&s->w, &s->sheet, s->widths, -1);
    put_rule(&s->w, &s->sheet, s->widths);
    for (from = 0; (rows = fill_sheet(s, from)) > 0; from += rows)
        for (int r = 0; r < s->sheet.rows; r++)
            put_row(&s->w, &s->sheet, s->widths, r);
}

tm_status tm_text_put_sheets(struct tm_run *run, const struct tm_sheet_source *source, int columns, bool keeps_all,
                             char *left_out, FILE *to)
{
    struct sheets *s = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*s), &run->error);

    left_out[0] = 0;
    if (!s)
        return TM_ERR_LIMIT;
    s->w.to = to;
    s->source = source;
    print_sheets(s, columns, keeps_all, left_out);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, s, sizeof(*s));
    return TM_OK;
}

static void put_table(void *to, const struct tm_table *table)
{
    static const struct tm_room room = { .is_paper = true, .rows = TM_SHEET_ROOM };
    struct text *t = to;
    char note[TM_NOTE_BYTES], left_out[TM_NOTE_BYTES], line[TM_NOTE_BYTES + 32];

    textw_subheading(&t->w, table->caption);
    tm_sheet_fill(&t->sheet, &t->layout, table, t->summary, &room);
    make_room(t, left_out);
    textw_sheet(&t->w, &t->sheet);
    (void)snprintf(line, sizeof(line), "Omitted for width: %s", left_out);
    if (*left_out)
        textw_paragraph(&t->w, line, true);
    for (size_t i = 0; tm_layout_note(&t->layout, i, note); i++)
        textw_paragraph(&t->w, note, true);
}

/* --- findings --- */

static void put_list(struct text *t, const char *label, const struct tm_value *list)
{
    for (size_t i = 0; i < tm_length(list) && i < TM_FINDING_LINES; i++)
        textw_item(&t->w, label, tm_text(tm_at(list, i)));
}

static void put_finding(void *to, const struct tm_value *finding, size_t number)
{
    struct text *t = to;
    const struct tm_value *where = tm_get(finding, "where");
    const char *cause = tm_text(tm_get(finding, "cause"));
    char text[TM_FINDING_BYTES];
    struct tm_place place;

    if (t->w.last == TM_TEXT_PARAGRAPH) /* findings are separated */
        t->w.last = TM_TEXT_ITEM;
    (void)snprintf(text, sizeof(text), "%zu. [%s] %s", number, tm_text(tm_get(finding, "severity")),
                   tm_text(tm_get(finding, "title")));
    textw_paragraph(&t->w, text, false);
    if (*tm_finding_stake(text, finding))
        textw_item(&t->w, "impact", text);
    if (*cause)
        textw_item(&t->w, "cause", cause);
    put_list(t, "recommendation", tm_get(finding, "fix"));
    put_list(t, "evidence", tm_get(finding, "evidence"));
    for (size_t i = 0; i < tm_length(where) && i < PLACES_MOST; i++) {
        tm_place_make(&place, t->summary, tm_at(where, i));
        textw_item(&t->w, "where to look", place.text);
    }
    if (tm_finding_link(finding))
        textw_item(&t->w, "report", tm_finding_link(finding));
}

static const struct tm_medium text_medium = {
    .room = { .is_paper = true, .rows = TM_SHEET_ROOM },
    .section = begin_section,
    .end_section = end_section,
    .subheading = put_subheading,
    .paragraph = put_paragraph,
    .facts = put_facts,
    .table = put_table,
    .finding = put_finding,
};

/* --- the top --- */

static void put_titles(struct text *t)
{
    textw_title(&t->w, t->front.title);
    textw_paragraph(&t->w, t->front.subtitle, true);
    if (t->front.is_partial) {
        (void)fputs("\n*** PARTIAL ***\n", t->w.to);
        textw_paragraph(&t->w, t->front.partial, true);
    }
    if (*t->front.note) {
        (void)fputc('\n', t->w.to);
        textw_paragraph(&t->w, t->front.note, true);
    }
}

static void put_front_facts(struct text *t)
{
    tm_sheet_start(&t->sheet, false);
    tm_sheet_column(&t->sheet, "", TM_COLUMN_WORD);
    tm_sheet_column(&t->sheet, "", TM_COLUMN_PROSE);
    for (size_t i = 0; i < t->front.facts && tm_sheet_row(&t->sheet); i++) {
        tm_sheet_text(&t->sheet, t->front.fact[i].title);
        tm_sheet_text(&t->sheet, t->front.fact[i].text);
    }
    if (t->front.facts > 0)
        textw_sheet(&t->w, &t->sheet);
}

static void put_verdict(struct text *t)
{
    textw_heading(&t->w, "Verdict");
    textw_paragraph(&t->w, *t->front.verdict ? t->front.verdict : "None: the summary has no verdict.", false);
}

static void add_kpi(struct text *t, size_t index)
{
    char sign[TM_SIGN_BYTES];
    struct tm_key_figure kpi;

    tm_kpi_at(&kpi, t->summary, index);
    if (!tm_sheet_row(&t->sheet))
        return;
    tm_sheet_prose(&t->sheet, "%s%s", kpi.title, tm_sign_of_kpi(sign, t->summary, kpi.kpi));
    (void)snprintf(tm_sheet_room(&t->sheet), TM_SHEET_CELL_BYTES, "%s", kpi.has_value ? kpi.value : "not recorded");
    tm_sheet_text(&t->sheet, strcmp(kpi.band, "unknown") == 0 ? "" : kpi.band);
    (void)snprintf(tm_sheet_room(&t->sheet), TM_SHEET_CELL_BYTES, "%s", kpi.good);
    (void)snprintf(tm_sheet_room(&t->sheet), TM_SHEET_CELL_BYTES, "%s", kpi.bad);
    if (kpi.finding)
        (void)snprintf(tm_sheet_room(&t->sheet), TM_SHEET_CELL_BYTES, "finding %zu", kpi.finding);
    else
        tm_sheet_text(&t->sheet, kpi.why);
}

static void put_kpis(struct text *t)
{
    static const struct {
        const char *title;
        enum tm_column_kind kind;
    } columns[] = {
        { "Figure", TM_COLUMN_WORD }, { "Value", TM_COLUMN_NUMBER },    { "Band", TM_COLUMN_WORD },
        { "Good", TM_COLUMN_NUMBER }, { "Critical", TM_COLUMN_NUMBER }, { "Remark", TM_COLUMN_PROSE },
    };
    const size_t count = tm_kpi_count(t->summary);

    if (count == 0)
        return;
    textw_heading(&t->w, "Key figures");
    tm_sheet_start(&t->sheet, true);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        tm_sheet_column(&t->sheet, columns[i].title, columns[i].kind);
    for (size_t i = 0; i < count; i++)
        add_kpi(t, i);
    textw_sheet(&t->w, &t->sheet);
}

/* "1.51 s, 80.6 %". */
static void make_top_stake(char out[TOP_STAKE_BYTES], const struct tm_value *finding)
{
    char time[TM_FORMAT_BYTES], part[TM_FORMAT_BYTES] = "";

    if (*tm_finding_time(time, finding))
        (void)tm_finding_part(part, finding);
    (void)snprintf(out, TOP_STAKE_BYTES, "%s%s%.*s", time, *part ? ", " : "", (int)strcspn(part, "%") + (*part != 0),
                   part);
}

static void put_top_findings(struct text *t)
{
    const struct tm_value *findings = tm_get(t->summary, "findings");
    const bool is_of_changes =
        tm_get(tm_at(findings, 0), "change_ps") || *tm_text(tm_get(tm_at(findings, 0), "stake_of"));
    size_t pick[TOP_FINDINGS], count = tm_front_findings(t->summary, TOP_FINDINGS, pick);

    if (count == 0)
        return;
    textw_heading(&t->w, tm_document_of(t->summary)->findings_title);
    tm_sheet_start(&t->sheet, true);
    tm_sheet_column(&t->sheet, "", TM_COLUMN_NUMBER);
    tm_sheet_column(&t->sheet, "", TM_COLUMN_WORD);
    tm_sheet_column(&t->sheet, "Finding", TM_COLUMN_PROSE);
    tm_sheet_column(&t->sheet, is_of_changes ? "Change" : "Potential savings", TM_COLUMN_WORD);
    for (size_t i = 0; i < count && tm_sheet_row(&t->sheet); i++) {
        const struct tm_value *finding = tm_at(findings, pick[i]);

        tm_sheet_prose(&t->sheet, "%zu", pick[i] + 1);
        tm_sheet_text(&t->sheet, tm_text(tm_get(finding, "severity")));
        tm_sheet_text(&t->sheet, tm_text(tm_get(finding, "title")));
        make_top_stake(tm_sheet_room(&t->sheet), finding);
    }
    textw_sheet(&t->w, &t->sheet);
}

static void put_maker(struct text *t)
{
    char maker[TITLE_BYTES];

    tm_format_text(maker, sizeof(maker), tm_text(tm_path(t->summary, "tool.version")));
    maker[text_trimmed(maker, text_head(maker, TM_TEXT_COLUMNS / 2))] = 0;
    (void)fprintf(t->w.to, "\ntracemill%s%s\n", *maker ? " " : "", maker);
}

static void put_report(struct text *t)
{
    put_titles(t);
    (void)fputc('\n', t->w.to);
    t->w.last = TM_TEXT_NOTHING;
    put_front_facts(t);
    put_verdict(t);
    put_kpis(t);
    put_top_findings(t);
    tm_content_say(&(struct tm_content){ .summary = t->summary, .medium = &text_medium, .to = t, .run = t->run });
    put_maker(t);
}

tm_status tm_text_write(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    struct text *t = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*t), &run->error);

    if (!t)
        return TM_ERR_LIMIT;
    t->w.to = to;
    t->run = run;
    t->summary = tm_doc_root(doc);
    tm_front_make(&t->front, t->summary);
    put_report(t);
    if (fflush(to) != 0 || ferror(to))
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the text report");
    tm_give(&run->budget, TM_ACCOUNT_MODEL, t, sizeof(*t));
    return run->error.status;
}
