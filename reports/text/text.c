/* SPDX-License-Identifier: Apache-2.0 */
/* report.txt: what reports/body says, in columns of a terminal.  Texts of a trace enter at one
 * place (`clean`), where control and bidi characters become escapes.  A character that is not ASCII
 * counts as its widest form where its width is not certain, so that a line may be shorter than it
 * could be but never longer. */
#include "reports/text/text.h"

#include <errno.h>
#include <string.h>

#include "reports/body/body.h"
#include "reports/format/format.h"

enum {
    GAP = 2,            /* columns between two columns of a table */
    LABEL = 12,         /* columns of the label of an item */
    PROSE_BYTES = 8192, /* a paragraph, cleaned */
    CELL_BYTES = 2048,  /* a cell, cleaned */
    CELL_LINES = 6,     /* lines of one wrapped cell */
    LEAST_CUT = 5,      /* columns that a cut in the middle makes sense in */
    KERNEL_ROWS = 20,
    FINDING_ROWS = 30,
    FIRST_WIDE = 0x1100, /* code points from here on may take two columns */
    FIRST_NARROW = 0x2010,
    LAST_NARROW = 0x22ff, /* punctuation, arrows, mathematics: one column */
};

/* What stands above, which says whether a blank line is due. */
enum block { BLOCK_NONE, BLOCK_PARAGRAPH, BLOCK_ITEM, BLOCK_SHEET };

struct text {
    FILE *to;
    enum block last;
    struct tm_sheet sheet;
    char cell[TM_SHEET_COLUMNS][CELL_BYTES]; /* of the row that is printed, cleaned */
};

static void clean(char *out, size_t out_bytes, const char *text)
{
    tm_sheet_visible(out, out_bytes, text);
}

/* Length in bytes of the character at `at`, which is valid UTF-8, and its columns. */
static size_t character(const char *at, int *columns)
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

static int width_of(const char *text)
{
    int width = 0;

    while (*text) {
        int columns;

        text += character(text, &columns);
        width += columns;
    }
    return width;
}

/* Bytes of the longest beginning of `text` that takes at most `width` columns. */
static size_t head_bytes(const char *text, int width)
{
    size_t used = 0;

    while (text[used]) {
        int columns;
        const size_t n = character(text + used, &columns);

        if (columns > width)
            break;
        width -= columns;
        used += n;
    }
    return used;
}

/* Bytes of the next line of a text that is to be wrapped; at a space where there is one.  A line
 * takes one character at least. */
static size_t line_bytes(const char *text, int width)
{
    const size_t most = head_bytes(text, width);
    size_t n = most;
    int columns;

    if (!text[most])
        return most;
    while (n > 0 && text[n] != ' ')
        n--;
    if (n > 0)
        return n;
    return most > 0 ? most : character(text, &columns);
}

static void put_spaces(struct text *t, int n)
{
    if (n > 0)
        (void)fprintf(t->to, "%*s", n, "");
}

static void put_repeated(struct text *t, char c, int n)
{
    for (int i = 0; i < n; i++)
        (void)fputc(c, t->to);
}

/* The bytes without the spaces at their end. */
static size_t trimmed(const char *text, size_t n)
{
    while (n > 0 && text[n - 1] == ' ')
        n--;
    return n;
}

/* Print a clean text from the column `indent` on, where the cursor is. */
static void put_wrapped(struct text *t, const char *text, int indent)
{
    while (*text) {
        const size_t n = line_bytes(text, TM_TEXT_COLUMNS - indent);

        (void)fwrite(text, 1, trimmed(text, n), t->to);
        (void)fputc('\n', t->to);
        text += n;
        while (*text == ' ')
            text++;
        if (*text)
            put_spaces(t, indent);
    }
}

static void put_underlined(struct text *t, const char *text, char line)
{
    char title[CELL_BYTES];
    size_t n;

    clean(title, sizeof(title), text);
    n = head_bytes(title, TM_TEXT_COLUMNS);
    title[n] = 0;
    (void)fprintf(t->to, "%s\n", title);
    put_repeated(t, line, width_of(title));
    (void)fputc('\n', t->to);
}

/* Begin a block.  Notes in a quiet tone belong to what stands above them. */
static void begin_block(struct text *t, enum block block, bool belongs)
{
    if (t->last != BLOCK_NONE && (t->last != block || block == BLOCK_SHEET) && !belongs)
        (void)fputc('\n', t->to);
    t->last = block;
}

static void put_heading(void *to, const char *text)
{
    struct text *t = to;

    (void)fputc('\n', t->to);
    put_underlined(t, text, '-');
    t->last = BLOCK_NONE;
}

static void put_subheading(void *to, const char *text)
{
    struct text *t = to;
    char title[CELL_BYTES];

    clean(title, sizeof(title), text);
    title[head_bytes(title, TM_TEXT_COLUMNS - 1)] = 0;
    (void)fprintf(t->to, "\n%s:\n", title);
    t->last = BLOCK_NONE;
}

static void put_paragraph(void *to, enum tm_tone tone, const char *text)
{
    struct text *t = to;
    char prose[PROSE_BYTES];

    begin_block(t, BLOCK_PARAGRAPH, tone == TM_TONE_QUIET);
    clean(prose, sizeof(prose), text);
    put_wrapped(t, prose, 0);
}

static void put_item(void *to, const char *label, const char *text)
{
    struct text *t = to;
    const int width = width_of(label);
    const int indent = GAP + (width < LABEL ? LABEL : width) + 1;
    char prose[PROSE_BYTES];

    begin_block(t, BLOCK_ITEM, t->last == BLOCK_PARAGRAPH);
    clean(prose, sizeof(prose), text);
    (void)fprintf(t->to, "%*s%s", GAP, "", label);
    if (trimmed(prose, strlen(prose)) > 0) {
        put_spaces(t, indent - GAP - width);
        put_wrapped(t, prose, indent);
    } else {
        (void)fputc('\n', t->to);
    }
}

static void measure(struct text *t, const struct tm_sheet *sheet, int *widths)
{
    double natural[TM_SHEET_COLUMNS], actual[TM_SHEET_COLUMNS];

    for (int c = 0; c < sheet->columns; c++) {
        natural[c] = sheet->headed ? width_of(sheet->title[c]) : 0;
        for (int r = 0; r < sheet->rows; r++) {
            int width;

            clean(t->cell[c], CELL_BYTES, sheet->text[r][c]);
            width = width_of(t->cell[c]);
            natural[c] = width > natural[c] ? width : natural[c];
        }
    }
    tm_sheet_widths(sheet, natural, TM_TEXT_COLUMNS, GAP, actual);
    for (int c = 0; c < sheet->columns; c++)
        widths[c] = (int)actual[c];
}

/* Cut a clean text in the middle so that it takes at most `width` columns. */
static void cut_middle(char *text, int width)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    const int whole = width_of(text), after = width - 1 - width / 2;
    size_t head, tail;
    int left = whole, columns;

    if (whole <= width)
        return;
    head = head_bytes(text, width / 2);
    for (tail = 0; left > after && text[tail]; left -= columns)
        tail += character(text + tail, &columns);
    if (tail < head + sizeof(ellipsis) - 1) /* the sign takes three bytes, and may replace two */
        head = head_bytes(text, width / 2 - 1);
    if (width < LEAST_CUT || tail < head + sizeof(ellipsis) - 1) {
        text[head_bytes(text, width)] = 0;
        return;
    }
    memcpy(text + head, ellipsis, sizeof(ellipsis) - 1);
    memmove(text + head + sizeof(ellipsis) - 1, text + tail, strlen(text + tail) + 1);
}

/* A line of a table that is being printed: spaces are held back until something follows them. */
struct line {
    struct text *t;
    int held;
};

static void put_piece(struct line *line, const char *text, size_t bytes, int width, bool right)
{
    const size_t n = trimmed(text, bytes);
    int used = 0, columns;

    for (size_t i = 0; i < n; used += columns)
        i += character(text + i, &columns);
    if (n > 0) {
        put_spaces(line->t, line->held + (right ? width - used : 0));
        (void)fwrite(text, 1, n, line->t->to);
        line->held = right ? 0 : width - used;
    } else {
        line->held += width;
    }
    line->held += GAP;
}

/* Print one line of a row and move on in its cells.  out: is anything left? */
static bool put_row_line(struct text *t, const struct tm_sheet *sheet, const int *widths,
                         const char **rest)
{
    struct line line = { .t = t };
    bool more = false;

    for (int c = 0; c < sheet->columns; c++) {
        const bool wraps = sheet->kind[c] == TM_COLUMN_PROSE;
        const size_t n = wraps ? line_bytes(rest[c], widths[c]) : strlen(rest[c]);

        put_piece(&line, rest[c], n, widths[c], sheet->kind[c] == TM_COLUMN_NUMBER);
        rest[c] += n;
        while (*rest[c] == ' ')
            rest[c]++;
        more = more || *rest[c];
    }
    (void)fputc('\n', t->to);
    return more;
}

static void put_row(struct text *t, const struct tm_sheet *sheet, const int *widths,
                    const char *const *cells)
{
    const char *rest[TM_SHEET_COLUMNS];
    bool more = true;

    for (int c = 0; c < sheet->columns; c++) {
        clean(t->cell[c], CELL_BYTES, cells[c]);
        if (sheet->kind[c] == TM_COLUMN_PROSE)
            cut_middle(t->cell[c], widths[c] * (CELL_LINES - 1));
        else
            cut_middle(t->cell[c], widths[c]);
        rest[c] = t->cell[c];
    }
    for (int i = 0; more && i < CELL_LINES; i++)
        more = put_row_line(t, sheet, widths, rest);
}

static void put_rule(struct text *t, const struct tm_sheet *sheet, const int *widths)
{
    int whole = GAP * (sheet->columns - 1);

    for (int c = 0; c < sheet->columns; c++)
        whole += widths[c];
    put_repeated(t, '-', whole);
    (void)fputc('\n', t->to);
}

static void put_sheet(void *to, const struct tm_sheet *sheet)
{
    struct text *t = to;
    int widths[TM_SHEET_COLUMNS];

    begin_block(t, BLOCK_SHEET, false);
    measure(t, sheet, widths);
    if (sheet->headed) {
        put_row(t, sheet, widths, sheet->title);
        put_rule(t, sheet, widths);
    }
    for (int r = 0; r < sheet->rows; r++) {
        if (sheet->summed[r])
            put_rule(t, sheet, widths);
        put_row(t, sheet, widths, sheet->text[r]);
    }
}

static const struct tm_form text_form = {
    .heading = put_heading,
    .subheading = put_subheading,
    .paragraph = put_paragraph,
    .item = put_item,
    .sheet = put_sheet,
};

static void put_title(struct text *t, const struct tm_value *summary)
{
    char title[TM_BODY_TITLE_BYTES];

    tm_body_title(title, summary);
    put_underlined(t, title, '=');
}

static void put_maker(struct text *t, const char *version)
{
    char maker[CELL_BYTES];

    clean(maker, sizeof(maker), version);
    maker[trimmed(maker, head_bytes(maker, TM_TEXT_COLUMNS / 2))] = 0;
    (void)fprintf(t->to, "\ntracemill%s%s\n", *maker ? " " : "", maker);
}

static void put_report(struct text *t, struct tm_body *body)
{
    put_title(t, body->summary);
    if (tm_body_is_partial(body))
        (void)fprintf(t->to, "\n*** %s ***\n", tm_body_partial_text);
    (void)fputc('\n', t->to);
    t->last = BLOCK_NONE;
    tm_body_facts(body);
    put_heading(t, "Verdict");
    tm_body_verdict(body);
    put_heading(t, "Key figures");
    tm_body_kpis(body);
    tm_body_sections(body);
    put_maker(t, tm_text(tm_path(body->summary, "tool.version")));
}

tm_status tm_text_write(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    struct text *t = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*t), &run->error);
    struct tm_body body = {
        .summary = tm_doc_root(doc),
        .form = &text_form,
        .to = t,
        .kernel_rows = KERNEL_ROWS,
        .finding_rows = FINDING_ROWS,
    };
    tm_status st = TM_OK;

    if (!t)
        return TM_ERR_LIMIT;
    t->to = to;
    body.sheet = &t->sheet;
    put_report(t, &body);
    if (fflush(to) != 0 || ferror(to))
        st = tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write the text report: %s",
                     strerror(errno));
    tm_give(&run->budget, TM_ACCOUNT_MODEL, t, sizeof(*t));
    return st;
}
