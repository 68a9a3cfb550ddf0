/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the summary as cells and facts.  "Not recorded" is an answer and 0 is not, so a null
 * never turns into a number here, and its reason is printed with the table that needed it. */
#include "reports/body/cells.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reports/format/format.h"
#include "reports/format/shown_names.h"

enum { SAID_BYTES = 1024 };

/* The text of a cell without a value; told by its address, since a name may be "-". */
static const char empty_cell[] = "-";

const struct tm_value *tm_old_of(const struct tm_body *body, const char *path)
{
    return tm_path(body->summary, path);
}

void tm_old_say(struct tm_body *body, enum tm_tone tone, const char *format, ...)
{
    char text[SAID_BYTES];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    body->form->paragraph(body->to, tone, text);
}

void tm_say_item(struct tm_body *body, const char *label, const char *format, ...)
{
    char text[SAID_BYTES];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    body->form->item(body->to, label, text);
}

bool tm_old_say_missing(struct tm_body *body, const struct tm_value *section, const char *what)
{
    const char *why = tm_why(section);

    if (tm_has(section))
        return false;
    tm_old_say(body, TM_TONE_QUIET, "%s: not recorded%s%s%s", what, *why ? " (" : "", why,
           *why ? ")" : "");
    return true;
}

void tm_body_table(struct tm_body *body, bool headed)
{
    tm_sheet_start(body->sheet, headed);
    body->reasons = 0;
}

/* The first reason that was noted for a column, "" for none. */
static const char *reason_of(const struct tm_body *body, const char *title)
{
    for (int i = 0; i < body->reasons; i++)
        if (strcmp(body->reason[i].title, title) == 0)
            return body->reason[i].why;
    return "";
}

/* Nothing but cells without a value, and blanks such as those of a row that sums up. */
static bool is_empty_column(const struct tm_sheet *sheet, int column)
{
    bool any = false;

    for (int r = 0; r < sheet->rows; r++) {
        const char *text = sheet->text[r][column];

        if (text != empty_cell && *text)
            return false;
        any = any || text == empty_cell;
    }
    return any;
}

/* Blank in all rows: none has what the column is for. */
static bool is_blank_column(const struct tm_sheet *sheet, int column)
{
    for (int r = 0; r < sheet->rows; r++)
        if (*sheet->text[r][column])
            return false;
    return true;
}

/* Take the columns out that no row has a value for; one sentence under the table names them. */
static void drop_empty_columns(struct tm_body *body, char *said)
{
    struct tm_sheet *sheet = body->sheet;

    for (int c = 1; c < sheet->columns;) {
        const char *why = reason_of(body, sheet->title[c]);
        const size_t used = strlen(said);

        if (is_blank_column(sheet, c)) {
            tm_sheet_drop(sheet, c);
            continue;
        }
        if (!is_empty_column(sheet, c)) {
            c++;
            continue;
        }
        (void)snprintf(said + used, SAID_BYTES - used, "%s%s%s%s%s", used ? ", " : "",
                       sheet->title[c], *why ? " (" : "", why, *why ? ")" : "");
        for (int i = 0; i < body->reasons; i++)
            if (strcmp(body->reason[i].title, sheet->title[c]) == 0)
                body->reason[i].why = "";
        tm_sheet_drop(sheet, c);
    }
}

void tm_body_end_table(struct tm_body *body)
{
    char dropped[SAID_BYTES] = "";
    bool is_explained = false;

    if (body->sheet->rows == 0)
        return;
    if (body->sheet->headed)
        drop_empty_columns(body, dropped);
    body->form->sheet(body->to, body->sheet);
    if (*dropped)
        tm_old_say(body, TM_TONE_QUIET, "Not recorded: %s", dropped);
    for (int i = 0; i < body->reasons; i++) {
        if (!*body->reason[i].why)
            continue;
        tm_old_say(body, TM_TONE_QUIET, "\"-\": %s not recorded (%s)", body->reason[i].title,
               body->reason[i].why);
        is_explained = true;
    }
    if (!is_explained && tm_sheet_has(body->sheet, empty_cell))
        body->form->paragraph(body->to, TM_TONE_QUIET, "\"-\": not recorded");
}

void tm_body_columns(struct tm_body *body, const struct tm_body_column *columns, size_t count)
{
    tm_body_table(body, true);
    for (size_t i = 0; i < count; i++)
        tm_sheet_column(body->sheet, columns[i].title, columns[i].kind);
}

bool tm_body_row(struct tm_body *body, const struct tm_body_column *columns, size_t count, const struct tm_value *row)
{
    if (!tm_sheet_row(body->sheet))
        return false;
    for (size_t i = 0; i < count; i++)
        columns[i].cell(body, columns[i].key ? tm_path(row, columns[i].key) : row);
    return true;
}

void tm_body_rows(struct tm_body *body, const struct tm_body_column *columns, size_t count,
                  const struct tm_value *rows, size_t most)
{
    bool has_room = true;

    tm_body_columns(body, columns, count);
    for (size_t i = 0; i < tm_length(rows) && i < most && has_room; i++)
        has_room = tm_body_row(body, columns, count, tm_at(rows, i));
    tm_body_end_table(body);
}

/* Keep the reason of an empty cell of the column that comes next, once per column. */
static void note_reason(struct tm_body *body, const char *why)
{
    const char *title = body->sheet->title[body->sheet->next];

    for (int i = 0; i < body->reasons; i++)
        if (strcmp(body->reason[i].title, title) == 0 && strcmp(body->reason[i].why, why) == 0)
            return;
    if (body->reasons == TM_BODY_REASONS)
        return;
    body->reason[body->reasons].title = title;
    body->reason[body->reasons].why = why;
    body->reasons++;
}

static bool is_number(const struct tm_value *value)
{
    return tm_type_of(value) == TM_INT || tm_type_of(value) == TM_DOUBLE;
}

/* Write the cell of a value that is not there, or is no number where the cell is for a figure.
 * out: false when it is there */
static bool add_empty(struct tm_body *body, const struct tm_value *value, bool is_figure)
{
    const char *why = tm_why(value);

    if (is_figure ? is_number(value) : tm_has(value))
        return false;
    if (*why && strcmp(why, "not recorded") != 0 && body->sheet->headed)
        note_reason(body, why);
    tm_sheet_text(body->sheet, empty_cell);
    tm_sheet_tone(body->sheet, TM_TONE_QUIET);
    return true;
}

void tm_cell_time(struct tm_body *body, const struct tm_value *ps)
{
    if (!add_empty(body, ps, true))
        tm_format_time(tm_sheet_room(body->sheet), tm_int(ps));
}

void tm_cell_time_sum(struct tm_body *body, const struct tm_value *parts)
{
    int64_t sum = 0;

    if (tm_type_of(parts) != TM_OBJECT) {
        tm_cell_time(body, parts);
        return;
    }
    for (size_t i = 0; i < tm_length(parts); i++)
        if (__builtin_add_overflow(sum, tm_int(tm_value_at(parts, i)), &sum))
            sum = INT64_MAX;
    tm_format_time(tm_sheet_room(body->sheet), sum);
}

void tm_cell_moment(struct tm_body *body, const struct tm_value *ps)
{
    if (!add_empty(body, ps, true))
        tm_format_moment(tm_sheet_room(body->sheet), tm_int(ps));
}

void tm_cell_count(struct tm_body *body, const struct tm_value *count)
{
    if (!add_empty(body, count, true))
        tm_format_count(tm_sheet_room(body->sheet), tm_int(count));
}

void tm_cell_bytes(struct tm_body *body, const struct tm_value *bytes)
{
    if (!add_empty(body, bytes, true))
        tm_format_bytes(tm_sheet_room(body->sheet), tm_double(bytes));
}

void tm_cell_rate(struct tm_body *body, const struct tm_value *bytes_per_s)
{
    if (!add_empty(body, bytes_per_s, true))
        tm_format_rate(tm_sheet_room(body->sheet), tm_double(bytes_per_s));
}

void tm_cell_flop_rate(struct tm_body *body, const struct tm_value *flop_per_s)
{
    if (!add_empty(body, flop_per_s, true))
        tm_format_flop_rate(tm_sheet_room(body->sheet), tm_double(flop_per_s));
}

void tm_cell_pct(struct tm_body *body, const struct tm_value *pct)
{
    if (!add_empty(body, pct, true))
        tm_format_pct(tm_sheet_room(body->sheet), tm_double(pct));
}

void tm_cell_figure(struct tm_body *body, const struct tm_value *value, const char *unit)
{
    if (!add_empty(body, value, true))
        tm_format_unit(tm_sheet_room(body->sheet), tm_double(value), unit);
}

void tm_cell_share(struct tm_body *body, const struct tm_value *part, const struct tm_value *whole)
{
    const double total = tm_double(whole);

    if (tm_has(part) && total > 0)
        tm_format_pct(tm_sheet_room(body->sheet), 100 * tm_double(part) / total);
    else
        tm_sheet_text(body->sheet, "");
}

void tm_cell_time_or_blank(struct tm_body *body, const struct tm_value *ps)
{
    if (tm_has(ps))
        tm_cell_time(body, ps);
    else
        tm_sheet_text(body->sheet, "");
}

void tm_cell_pct_or_blank(struct tm_body *body, const struct tm_value *pct)
{
    if (tm_has(pct))
        tm_cell_pct(body, pct);
    else
        tm_sheet_text(body->sheet, "");
}

void tm_cell_text_or_blank(struct tm_body *body, const struct tm_value *text)
{
    if (tm_has(text))
        tm_cell_text(body, text);
    else
        tm_sheet_text(body->sheet, "");
}

void tm_cell_text(struct tm_body *body, const struct tm_value *text)
{
    if (add_empty(body, text, false))
        return;
    switch (tm_type_of(text)) {
    case TM_STRING:
        tm_sheet_text(body->sheet, tm_text(text));
        break;
    case TM_BOOL:
        tm_sheet_text(body->sheet, tm_is(text) ? "yes" : "no");
        break;
    case TM_INT:
        (void)snprintf(tm_sheet_room(body->sheet), TM_SHEET_CELL_BYTES, "%lld", (long long)tm_int(text));
        break;
    case TM_DOUBLE:
        tm_format_number(tm_sheet_room(body->sheet), tm_double(text));
        break;
    default:
        tm_sheet_text(body->sheet, "");
    }
}

void tm_cell_device(struct tm_body *body, const struct tm_value *id)
{
    if (!add_empty(body, id, false))
        tm_sheet_text(body->sheet, tm_shown_device(body->summary, tm_text(id)));
}

void tm_cell_host(struct tm_body *body, const struct tm_value *host)
{
    if (!add_empty(body, host, false))
        tm_sheet_text(body->sheet, tm_shown_host(body->summary, tm_text(host)));
}

bool tm_body_has_hosts(const struct tm_body *body)
{
    return tm_length(tm_old_of(body, "input.hosts")) > 1;
}

void tm_facts(struct tm_body *body)
{
    tm_body_table(body, false);
    tm_sheet_column(body->sheet, "", TM_COLUMN_WORD);
    tm_sheet_column(body->sheet, "", TM_COLUMN_PROSE);
}

/* There is always room for a row: a table of facts that is full is printed and starts anew. */
void tm_fact_begin(struct tm_body *body, const char *label)
{
    if (!tm_sheet_row(body->sheet)) {
        tm_body_end_table(body);
        tm_facts(body);
        (void)tm_sheet_row(body->sheet);
    }
    tm_sheet_text(body->sheet, label);
    tm_sheet_tone(body->sheet, TM_TONE_QUIET);
}

bool tm_fact_has(struct tm_body *body, const char *label, const struct tm_value *value)
{
    const char *why = tm_why(value);

    if (tm_has(value))
        return true;
    tm_fact_begin(body, label);
    tm_sheet_prose(body->sheet, "not recorded%s%s%s", *why ? " (" : "", why, *why ? ")" : "");
    return false;
}

void tm_fact_time(struct tm_body *body, const char *label, const struct tm_value *ps)
{
    if (!tm_fact_has(body, label, ps))
        return;
    tm_fact_begin(body, label);
    tm_cell_time(body, ps);
}

void tm_fact_count(struct tm_body *body, const char *label, const struct tm_value *count)
{
    if (!tm_fact_has(body, label, count))
        return;
    tm_fact_begin(body, label);
    tm_cell_count(body, count);
}

void tm_fact_pct(struct tm_body *body, const char *label, const struct tm_value *pct)
{
    if (!tm_fact_has(body, label, pct))
        return;
    tm_fact_begin(body, label);
    tm_cell_pct(body, pct);
}

void tm_fact_text(struct tm_body *body, const char *label, const struct tm_value *text)
{
    if (!tm_fact_has(body, label, text))
        return;
    tm_fact_begin(body, label);
    tm_cell_text(body, text);
}
