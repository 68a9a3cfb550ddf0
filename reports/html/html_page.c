/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces that every section of the page is built of.  Nothing is computed here: values of the
 * summary get a form. A value that is null becomes a dash whose reason is said once, below its
 * table. */
#include "reports/html/html_page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "reports/format/format.h"
#include "reports/format/shown_names.h"
#include "reports/content/terms.h"

/* Names: up to so many characters as they are; the full text up to FULL_BYTES. */
enum { CUT_CHARS = 48, NARROW_CHARS = 32, SAME_LEAST = 2, UNFOLDED_ROWS = 20, FACT_CHARS = 200, FULL_BYTES = 2048 };

static const char none[] = "–";

const char *tm_page_value(enum tm_cell cell, const struct tm_value *v, char *out)
{
    if (!tm_has(v))
        return "";
    switch (cell) {
    case TM_CELL_WORD:
    case TM_CELL_NAME:
    case TM_CELL_DEVICE:
    case TM_CELL_HOST:
    case TM_CELL_CAUSE:
    case TM_CELL_PROSE:
        if (tm_type_of(v) == TM_STRING)
            return tm_text(v);
        if (tm_type_of(v) == TM_BOOL)
            return tm_is(v) ? "yes" : "no";
        if (tm_type_of(v) == TM_INT) { /* a number that is a name: no separators */
            (void)snprintf(out, TM_FORMAT_BYTES, "%" PRId64, tm_int(v));
            return out;
        }
        return tm_format_number(out, tm_double(v));
    case TM_CELL_TIME:
        return tm_format_time(out, tm_int(v));
    case TM_CELL_MOMENT:
        return tm_format_moment(out, tm_int(v));
    case TM_CELL_COUNT:
        return tm_format_count(out, tm_int(v));
    case TM_CELL_BYTES:
        return tm_format_bytes(out, tm_double(v));
    case TM_CELL_RATE:
        return tm_format_rate(out, tm_double(v));
    case TM_CELL_FLOP_RATE:
        return tm_format_flop_rate(out, tm_double(v));
    case TM_CELL_PCT:
        return tm_format_pct(out, tm_double(v));
    case TM_CELL_NUMBER:
        return tm_format_number(out, tm_double(v));
    }
    return "";
}

/* The same; names of hosts, devices and causes as people read them. */
static const char *shown_value(struct tm_page *page, enum tm_cell cell, const struct tm_value *v, char *out)
{
    if (cell == TM_CELL_DEVICE && tm_has(v))
        return tm_shown_device(page->summary, tm_text(v));
    if (cell == TM_CELL_HOST && tm_has(v))
        return tm_shown_host(page->summary, tm_text(v));
    if (cell == TM_CELL_CAUSE && tm_has(v))
        return tm_cause_title(tm_text(v));
    return tm_page_value(cell, v, out);
}

static bool is_name(enum tm_cell cell)
{
    return cell == TM_CELL_NAME || cell == TM_CELL_DEVICE || cell == TM_CELL_HOST;
}

static bool is_number(enum tm_cell cell)
{
    return cell >= TM_CELL_TIME;
}

static const char *class_of(enum tm_cell cell)
{
    return is_number(cell)         ? "n"
           : cell == TM_CELL_NAME  ? "name"
           : is_name(cell)         ? "id"
           : cell == TM_CELL_PROSE ? "prose"
                                   : "word";
}

/* Cut a text at most `most` bytes into it, between characters.  out: true when something was left
 * out */
static bool take_front(char *out, size_t most, const char *text)
{
    size_t n = strlen(text);
    const bool cut = n > most;

    if (cut)
        for (n = most; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
            ;
    memcpy(out, text, n);
    out[n] = 0;
    return cut;
}

/* Length of a text with its entities; the longest has six characters. */
static size_t written_bytes(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += strchr("&<>\"'", *text) ? 6 : 1;
    return n;
}

static void put_name(struct tm_page *page, const char *name, size_t chars)
{
    char full[FULL_BYTES + 1], seen[FULL_BYTES + 1], cut[FACT_CHARS * 4 + 1];
    const bool more = take_front(full, FULL_BYTES, name);
    size_t bytes;

    (void)tm_format_visible(seen, sizeof(seen), full, strlen(full));
    bytes = written_bytes(seen);
    if (!tm_format_middle(cut, sizeof(cut), seen, chars) || bytes > page->full_bytes_left) {
        tm_htmlw_text(&page->w, cut);
        return;
    }
    page->full_bytes_left -= bytes;
    tm_htmlw_open(&page->w, "details");
    tm_htmlw_element(&page->w, "summary", NULL, cut);
    tm_htmlw_class(&page->w, "span", "full");
    tm_htmlw_text(&page->w, seen);
    if (more)
        tm_htmlw_printf(&page->w, " … (%zu bytes in all)", strlen(name));
    tm_htmlw_close(&page->w);
    tm_htmlw_close(&page->w);
}

void tm_page_name(struct tm_page *page, const char *name)
{
    put_name(page, name, CUT_CHARS);
}

void tm_page_text(struct tm_page *page, const char *text)
{
    char front[FULL_BYTES + 1];
    const bool more = take_front(front, FULL_BYTES, text);

    tm_htmlw_text(&page->w, front);
    if (more)
        tm_htmlw_text(&page->w, " …");
}

static void open_cell(struct tm_page *page, enum tm_cell cell, const struct tm_value *v,
                      bool is_header)
{
    char class_name[16];

    tm_htmlw_open(&page->w, is_header ? "th" : "td");
    if (is_header)
        tm_htmlw_attr(&page->w, "scope", "row");
    (void)snprintf(class_name, sizeof(class_name), "%s%s", class_of(cell),
                   tm_has(v) ? "" : " none");
    tm_htmlw_attr(&page->w, "class", class_name);
}

/* Sort keys of numbers: exact, without their unit. */
static void put_key(struct tm_page *page, enum tm_cell cell, const struct tm_value *v)
{
    char text[TM_FORMAT_BYTES];

    if (!is_number(cell) || !tm_has(v))
        return;
    if (tm_type_of(v) == TM_INT) {
        tm_htmlw_attr_int(&page->w, "data-v", tm_int(v));
        return;
    }
    (void)snprintf(text, sizeof(text), "%.6g", tm_double(v));
    tm_htmlw_attr(&page->w, "data-v", text);
}

static void put_value(struct tm_page *page, enum tm_cell cell, const struct tm_value *v,
                      size_t name_chars)
{
    char text[TM_FORMAT_BYTES];

    if (!tm_has(v) || (tm_type_of(v) == TM_STRING && tm_text(v)[0] == 0))
        tm_htmlw_text(&page->w, none);
    else if (is_name(cell))
        put_name(page, shown_value(page, cell, v, text), name_chars);
    else
        tm_page_text(page, shown_value(page, cell, v, text));
}

void tm_page_cell(struct tm_page *page, enum tm_cell cell, const struct tm_value *v, bool is_header)
{
    open_cell(page, cell, v, is_header);
    put_value(page, cell, v, CUT_CHARS);
    tm_htmlw_close(&page->w);
}

/* --- definitions --- */

/* The definition as what a pointer over the element shows. */
static void put_tip(struct tm_page *page, const char *label)
{
    const int term = page->section ? tm_term_find(page->section, label) : -1;

    if (term >= 0)
        tm_htmlw_attr(&page->w, "title", tm_terms[term].text);
}

void tm_page_label(struct tm_page *page, const char *label)
{
    const int term = page->section ? tm_term_find(page->section, label) : -1;
    char href[32];

    if (term < 0) {
        tm_htmlw_text(&page->w, label);
        return;
    }
    (void)snprintf(href, sizeof(href), "#term-%d", term);
    tm_htmlw_open(&page->w, "a");
    tm_htmlw_attr(&page->w, "href", href);
    tm_htmlw_text(&page->w, label);
    tm_htmlw_close(&page->w);
}

/* --- tables --- */

struct shown {
    bool column[TM_HTML_COLUMNS]; /* some row has a value */
    bool silent[TM_HTML_COLUMNS]; /* left out without a word */
    bool same[TM_HTML_COLUMNS];   /* one value, told below the table */
    size_t rows;
};

/* Programs, devices and sentences that are the same in all rows tell nothing: they are named below the table. */
static bool is_same_in_all(const struct tm_html_table *table, int column)
{
    const char *first = tm_text(tm_path(tm_at(table->rows, 0), table->column[column].key));
    const enum tm_cell cell = table->column[column].cell;
    const bool may_fold =
        cell == TM_CELL_DEVICE || cell == TM_CELL_PROSE || strcmp(table->column[column].key, "module") == 0;

    if (column == 0 || !may_fold || tm_length(table->rows) < SAME_LEAST || !*first)
        return false;
    for (size_t r = 1; r < tm_length(table->rows); r++)
        if (strcmp(tm_text(tm_path(tm_at(table->rows, r), table->column[column].key)), first) != 0)
            return false;
    return true;
}

static void look_at(const struct tm_page *page, const struct tm_html_table *table, struct shown *shown)
{
    const bool has_hosts = tm_length(tm_path(page->summary, "input.hosts")) > 1;
    const size_t most = table->most ? table->most : TM_HTML_ROWS_MOST;

    shown->rows = tm_length(table->rows) < most ? tm_length(table->rows) : most;
    for (int c = 0; c < table->columns; c++) {
        shown->column[c] = c == 0;
        shown->silent[c] = c > 0 && table->column[c].cell == TM_CELL_HOST && !has_hosts;
        shown->same[c] = is_same_in_all(table, c);
        if (shown->silent[c] || shown->same[c])
            continue;
        for (size_t r = 0; r < shown->rows && !shown->column[c]; r++) {
            const struct tm_value *v = tm_path(tm_at(table->rows, r), table->column[c].key);

            shown->column[c] = tm_has(v) && !(tm_type_of(v) == TM_STRING && tm_text(v)[0] == 0);
        }
    }
}

static void put_head(struct tm_page *page, const struct tm_html_table *table,
                     const struct shown *shown)
{
    tm_htmlw_open(&page->w, "thead");
    tm_htmlw_open(&page->w, "tr");
    for (int c = 0; c < table->columns; c++) {
        if (!shown->column[c])
            continue;
        tm_htmlw_open(&page->w, "th");
        tm_htmlw_attr(&page->w, "scope", "col");
        if (is_number(table->column[c].cell))
            tm_htmlw_attr(&page->w, "class", "n");
        put_tip(page, table->column[c].title);
        tm_page_label(page, table->column[c].title);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_row(struct tm_page *page, const struct tm_html_table *table,
                    const struct shown *shown, const struct tm_value *row)
{
    tm_htmlw_open(&page->w, "tr");
    for (int c = 0; c < table->columns; c++) {
        const enum tm_cell cell = table->column[c].cell;
        const struct tm_value *v = tm_path(row, table->column[c].key);

        if (!shown->column[c])
            continue;
        open_cell(page, cell, v, c == 0 && !is_number(cell));
        if (table->sortable)
            put_key(page, cell, v);
        put_value(page, cell, v, c == 0 ? CUT_CHARS : NARROW_CHARS);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

/* Rows that are not shown, of the list and of the summary's own rest, as one row. */
static void put_rest(struct tm_page *page, const struct tm_html_table *table,
                     const struct shown *shown)
{
    int64_t rows = tm_int(tm_get(table->rest, "rows")),
            count = tm_int(tm_get(table->rest, "count"));
    int64_t total = tm_int(tm_get(table->rest, "total_ps"));
    char text[TM_FORMAT_BYTES];

    for (size_t r = shown->rows; r < tm_length(table->rows); r++) {
        rows++;
        count += tm_int(tm_get(tm_at(table->rows, r), "count"));
        total += tm_int(tm_get(tm_at(table->rows, r), "total_ps"));
    }
    if (rows == 0)
        return;
    tm_htmlw_open(&page->w, "tfoot");
    tm_htmlw_open(&page->w, "tr");
    for (int c = 0; c < table->columns; c++) {
        if (!shown->column[c])
            continue;
        tm_htmlw_open(&page->w, c == 0 ? "th" : "td");
        if (c == 0)
            tm_htmlw_attr(&page->w, "scope", "row");
        if (is_number(table->column[c].cell))
            tm_htmlw_attr(&page->w, "class", "n");
        if (c == 0)
            tm_htmlw_printf(&page->w, "%s further %s", tm_format_count(text, rows),
                            rows == 1 ? "row" : "rows");
        else if (strcmp(table->column[c].key, "count") == 0)
            tm_htmlw_text(&page->w, tm_format_count(text, count));
        else if (strcmp(table->column[c].key, "total_ps") == 0)
            tm_htmlw_text(&page->w, tm_format_time(text, total));
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

/* Name what has no value at all, and why. */
static void put_left_out(struct tm_page *page, const struct tm_html_table *table,
                         const struct shown *shown)
{
    bool first = true;

    for (int c = 0; c < table->columns; c++) {
        const char *why = tm_why(tm_path(tm_at(table->rows, 0), table->column[c].key));

        if (shown->column[c] || shown->silent[c] || shown->same[c])
            continue;
        if (strcmp(why, "not recorded") == 0)
            why = "";
        if (first) {
            tm_htmlw_class(&page->w, "p", "note");
            tm_htmlw_text(&page->w, "Not recorded: ");
        }
        tm_htmlw_printf(&page->w, "%s%s%s%s%s", first ? "" : "; ", table->column[c].title,
                        why[0] ? " (" : "", why, why[0] ? ")" : "");
        first = false;
    }
    if (!first) {
        tm_htmlw_text(&page->w, ".");
        tm_htmlw_close_line(&page->w);
    }
}

/* Columns that were left out since all their rows say the same. */
static void put_same(struct tm_page *page, const struct tm_html_table *table, const struct shown *shown)
{
    char text[TM_FORMAT_BYTES];

    for (int c = 0; c < table->columns; c++) {
        const struct tm_value *v = tm_path(tm_at(table->rows, 0), table->column[c].key);

        if (!shown->same[c])
            continue;
        tm_htmlw_class(&page->w, "p", "note");
        tm_htmlw_printf(&page->w, "%s in all rows: ", table->column[c].title);
        tm_page_text(page, shown_value(page, table->column[c].cell, v, text));
        tm_htmlw_close_line(&page->w);
    }
}

/* The rest of a long table is shown on demand: the style sheet hides it while the box is not checked, so that it
 * needs no script and its rows can still be sorted. */
static void put_unfold(struct tm_page *page, size_t rows)
{
    char text[TM_FORMAT_BYTES];

    tm_htmlw_class(&page->w, "p", "unfold");
    tm_htmlw_open(&page->w, "label");
    tm_htmlw_open(&page->w, "input");
    tm_htmlw_attr(&page->w, "type", "checkbox");
    tm_htmlw_attr(&page->w, "autocomplete", "off");
    tm_htmlw_leaf(&page->w);
    tm_htmlw_printf(&page->w, " Show all %s rows", tm_format_count(text, (int64_t)rows));
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void open_scroll(struct tm_page *page, const char *label, bool tall)
{
    tm_htmlw_class(&page->w, "div", tall ? "scroll tall" : "scroll");
    tm_htmlw_attr(&page->w, "role", "region");
    tm_htmlw_attr(&page->w, "aria-label", label);
    tm_htmlw_attr_int(&page->w, "tabindex", 0);
}

void tm_page_open_table(struct tm_page *page, const char *caption, size_t rows)
{
    tm_htmlw_class(&page->w, "div", rows > UNFOLDED_ROWS ? "table folded" : "table");
    open_scroll(page, caption, rows > UNFOLDED_ROWS);
}

void tm_page_close_table(struct tm_page *page, size_t rows)
{
    tm_htmlw_close_line(&page->w);
    if (rows > UNFOLDED_ROWS)
        put_unfold(page, rows);
    tm_htmlw_close_line(&page->w);
}

void tm_page_table(struct tm_page *page, const struct tm_html_table *table)
{
    struct shown shown;

    if (tm_length(table->rows) == 0)
        return;
    look_at(page, table, &shown);
    tm_page_open_table(page, table->caption, shown.rows);
    tm_htmlw_open(&page->w, "table");
    if (table->sortable)
        tm_htmlw_attr(&page->w, "class", table->filterable ? "sortable filterable" : "sortable");
    tm_htmlw_element(&page->w, "caption", NULL, table->caption);
    put_head(page, table, &shown);
    tm_htmlw_open(&page->w, "tbody");
    for (size_t r = 0; r < shown.rows; r++)
        put_row(page, table, &shown, tm_at(table->rows, r));
    tm_htmlw_close_line(&page->w);
    put_rest(page, table, &shown);
    tm_htmlw_close(&page->w);
    tm_page_close_table(page, shown.rows);
    put_same(page, table, &shown);
    put_left_out(page, table, &shown);
}

/* --- charts --- */

static void put_twin(struct tm_page *page, const struct tm_chart *chart)
{
    const struct tm_chart_table *table = &chart->table;

    tm_htmlw_class(&page->w, "details", "twin");
    tm_htmlw_element(&page->w, "summary", NULL, "The figures of this chart");
    open_scroll(page, chart->title, false);
    tm_htmlw_open(&page->w, "table");
    tm_htmlw_open(&page->w, "thead");
    tm_htmlw_open(&page->w, "tr");
    for (int c = 0; c < table->columns; c++) {
        tm_htmlw_open(&page->w, "th");
        tm_htmlw_attr(&page->w, "scope", "col");
        if (table->is_number[c])
            tm_htmlw_attr(&page->w, "class", "n");
        tm_htmlw_text(&page->w, table->title[c]);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
    tm_htmlw_open(&page->w, "tbody");
    for (size_t i = 0; i < tm_chart_rows(chart) * (size_t)table->columns; i++) {
        const int c = (int)(i % (size_t)table->columns);

        if (c == 0)
            tm_htmlw_open(&page->w, "tr");
        tm_htmlw_element(&page->w, "td", table->is_number[c] ? "n" : NULL,
                         tm_chart_text(chart, table->cell[i]));
        if (c == table->columns - 1)
            tm_htmlw_close_line(&page->w);
    }
    for (int i = 0; i < 4; i++) /* tbody, table, region, details */
        tm_htmlw_close(&page->w);
    tm_htmlw_verbatim(&page->w, "\n", 1);
}

size_t tm_page_charts(struct tm_page *page, enum tm_chart_kind kind)
{
    const size_t count = tm_charts_count(kind, page->summary);

    for (size_t i = 0; i < count; i++) {
        tm_charts_draw(&page->chart, kind, i, page->summary);
        tm_htmlw_open(&page->w, "figure");
        tm_htmlw_element(&page->w, "h3", NULL, page->chart.title);
        tm_htmlw_class(&page->w, "div", "chart");
        tm_htmlw_attr(&page->w, "role", "region");
        tm_htmlw_attr(&page->w, "aria-label", page->chart.title);
        tm_htmlw_attr_int(&page->w, "tabindex", 0);
        tm_svg_write(&page->w, &page->chart);
        tm_htmlw_close_line(&page->w);
        tm_htmlw_element(&page->w, "figcaption", NULL, page->chart.caption);
        tm_htmlw_close_line(&page->w);
        put_twin(page, &page->chart);
    }
    return count;
}

/* --- small pieces --- */

void tm_page_facts(struct tm_page *page)
{
    tm_htmlw_class(&page->w, "dl", "facts");
}

void tm_page_fact(struct tm_page *page, const char *label, const char *text)
{
    tm_htmlw_open(&page->w, "div");
    tm_htmlw_open(&page->w, "dt");
    tm_page_label(page, label);
    tm_htmlw_close(&page->w);
    tm_htmlw_open(&page->w, "dd");
    put_name(page, text, FACT_CHARS);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

void tm_page_not_recorded(struct tm_page *page, const char *why)
{
    /* "not worked out by this version" says it all */
    if (strncmp(why, "not ", 4) != 0)
        tm_htmlw_printf(&page->w, "not recorded%s", why[0] ? ": " : "");
    tm_htmlw_text(&page->w, why);
}

void tm_page_fact_value(struct tm_page *page, const char *label, enum tm_cell cell,
                        const struct tm_value *v)
{
    char text[TM_FORMAT_BYTES];

    if (tm_has(v)) {
        tm_page_fact(page, label, shown_value(page, cell, v, text));
        return;
    }
    tm_htmlw_open(&page->w, "div");
    tm_htmlw_open(&page->w, "dt");
    tm_page_label(page, label);
    tm_htmlw_close(&page->w);
    tm_htmlw_class(&page->w, "dd", "none");
    tm_page_not_recorded(page, tm_why(v));
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

void tm_page_end_facts(struct tm_page *page)
{
    tm_htmlw_close_line(&page->w);
}

void tm_page_subheading(struct tm_page *page, const char *title)
{
    tm_htmlw_element(&page->w, "h3", NULL, title);
}

void tm_page_note(struct tm_page *page, const char *format, ...)
{
    char text[2048];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    tm_htmlw_element(&page->w, "p", "note", text);
}

void tm_page_band(struct tm_page *page, const char *band)
{
    static const struct {
        const char *band, *shown;
    } bands[] = {
        { "good", "● good" },
        { "warning", "▲ warning" },
        { "bad", "■ bad" },
        { "info", "○ info" },
    };
    const char *shown = "○ not judged";
    char class_name[32] = "band unknown";

    for (size_t i = 0; i < sizeof(bands) / sizeof(bands[0]); i++)
        if (strcmp(bands[i].band, band) == 0) {
            shown = bands[i].shown;
            (void)snprintf(class_name, sizeof(class_name), "band %s", bands[i].band);
        }
    tm_htmlw_element(&page->w, "span", class_name, shown);
}

/* --- marks --- */

char *tm_page_mark_id(char *out, size_t at)
{
    (void)snprintf(out, TM_MARK_ID_BYTES, "mark-%zu", at);
    return out;
}

static void put_mark(struct tm_page *page, const struct tm_value *mark, size_t at)
{
    char href[TM_MARK_ID_BYTES + 1] = "#";

    (void)tm_page_mark_id(href + 1, at);
    tm_htmlw_open(&page->w, "sup");
    tm_htmlw_open(&page->w, "a");
    tm_htmlw_attr(&page->w, "href", href);
    tm_htmlw_attr(&page->w, "title", tm_text(tm_get(mark, "text")));
    tm_htmlw_printf(&page->w, "[%c]", tm_mark_letter(at));
    tm_htmlw_close(&page->w);
    tm_htmlw_close(&page->w);
}

void tm_page_section_marks(struct tm_page *page, const char *section)
{
    const struct tm_value *marks = tm_path(page->summary, "coverage.marks");

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++)
        if (tm_mark_is_of_section(tm_at(marks, i), section))
            put_mark(page, tm_at(marks, i), i);
}

void tm_page_kpi_marks(struct tm_page *page, const struct tm_value *kpi)
{
    const struct tm_value *marks = tm_path(page->summary, "coverage.marks");

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++)
        if (tm_mark_is_of_kpi(tm_at(marks, i), kpi))
            put_mark(page, tm_at(marks, i), i);
}
