/* SPDX-License-Identifier: Apache-2.0 */
/* A table of texts of fixed size, filled by sheet.c and drawn by the text, PDF and Markdown reports.
 * Cells either borrow a text of the summary or use their own buffer, so that no cell allocates. */
#include "reports/content/content.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/error.h"

enum { LEAST_SHARE_PCT = 6 /* of the width, that every elastic column keeps */ };

void tm_sheet_start(struct tm_sheet *sheet, bool headed)
{
    sheet->columns = 0;
    sheet->rows = 0;
    sheet->next = 0;
    sheet->headed = headed;
    sheet->prose_used = 0;
}

void tm_sheet_column(struct tm_sheet *sheet, const char *title, enum tm_column_kind kind)
{
    assert(sheet->columns < TM_SHEET_COLUMNS && sheet->rows == 0);
    sheet->title[sheet->columns] = title;
    sheet->kind[sheet->columns] = kind;
    sheet->columns++;
}

bool tm_sheet_row(struct tm_sheet *sheet)
{
    if (sheet->rows == TM_SHEET_ROWS)
        return false;
    sheet->summed[sheet->rows] = false;
    sheet->indent[sheet->rows] = 0;
    for (int i = 0; i < sheet->columns; i++) {
        sheet->tone[sheet->rows][i] = TM_TONE_PLAIN;
        sheet->text[sheet->rows][i] = "";
    }
    sheet->rows++;
    sheet->next = 0;
    return true;
}

void tm_sheet_text(struct tm_sheet *sheet, const char *text)
{
    assert(sheet->rows > 0 && sheet->next < sheet->columns);
    sheet->text[sheet->rows - 1][sheet->next++] = text;
}

char *tm_sheet_room(struct tm_sheet *sheet)
{
    char *room;

    assert(sheet->rows > 0 && sheet->next < sheet->columns);
    room = sheet->own[sheet->rows - 1][sheet->next];
    room[0] = 0;
    tm_sheet_text(sheet, room);
    return room;
}

void tm_sheet_prose(struct tm_sheet *sheet, const char *format, ...)
{
    char *at = sheet->prose + sheet->prose_used;
    const size_t room = sizeof(sheet->prose) - sheet->prose_used;
    va_list list;
    int n;

    if (room < 2) {
        tm_sheet_text(sheet, "...");
        return;
    }
    va_start(list, format);
    n = vsnprintf(at, room, format, list);
    va_end(list);
    if (n < 0)
        at[0] = 0;
    else
        sheet->prose_used += (size_t)n < room ? (size_t)n + 1 : room;
    tm_sheet_text(sheet, at);
}

/* Set the tone of the cell added last. */
static void sheet_tone(struct tm_sheet *sheet, enum tm_tone tone)
{
    assert(sheet->rows > 0 && sheet->next > 0);
    sheet->tone[sheet->rows - 1][sheet->next - 1] = (uint8_t)tone;
}

void tm_sheet_drop(struct tm_sheet *sheet, int column)
{
    sheet->columns--;
    for (int c = column; c < sheet->columns; c++) {
        sheet->title[c] = sheet->title[c + 1];
        sheet->kind[c] = sheet->kind[c + 1];
        for (int r = 0; r < sheet->rows; r++) {
            sheet->text[r][c] = sheet->text[r][c + 1];
            sheet->tone[r][c] = sheet->tone[r][c + 1];
        }
    }
}

static bool is_elastic(const struct tm_sheet *sheet, int column)
{
    return sheet->kind[column] == TM_COLUMN_NAME || sheet->kind[column] == TM_COLUMN_PROSE;
}

/* Give the columns of one kind equal parts of `left`; unused space is given to the others, so the widest ones
 * shrink first. */
static void share_out(const struct tm_sheet *sheet, bool elastic, const double *natural, double left, double *actual)
{
    bool settled[TM_SHEET_COLUMNS] = { false };
    bool changed = true;

    while (changed) {
        double rest = left;
        int open = 0;

        changed = false;
        for (int i = 0; i < sheet->columns; i++) {
            if (is_elastic(sheet, i) == elastic && settled[i])
                rest -= actual[i];
            else if (is_elastic(sheet, i) == elastic)
                open++;
        }
        for (int i = 0; i < sheet->columns; i++) {
            if (is_elastic(sheet, i) != elastic || settled[i])
                continue;
            actual[i] = rest / open;
            if (natural[i] <= actual[i]) {
                actual[i] = natural[i];
                settled[i] = changed = true;
            }
        }
    }
}

void tm_sheet_widths(const struct tm_sheet *sheet, const double *natural, double width, double gap, double *actual)
{
    const double room = width - gap * (sheet->columns - 1);
    double least = 0, fixed = 0;

    for (int i = 0; i < sheet->columns; i++) {
        const double share = room * LEAST_SHARE_PCT / 100;

        if (is_elastic(sheet, i))
            least += natural[i] < share ? natural[i] : share;
    }
    share_out(sheet, false, natural, room - least, actual);
    for (int i = 0; i < sheet->columns; i++)
        fixed += is_elastic(sheet, i) ? 0 : actual[i];
    share_out(sheet, true, natural, room - fixed, actual);
}

static enum tm_column_kind kind_of(enum tm_doc_kind kind)
{
    if (tm_doc_is_number(kind))
        return TM_COLUMN_NUMBER;
    return kind == TM_DOC_NAME ? TM_COLUMN_NAME : kind == TM_DOC_PROSE ? TM_COLUMN_PROSE : TM_COLUMN_WORD;
}

/* Figures have the room of their cell; texts are borrowed. */
static void add_cell(struct tm_sheet *sheet, const struct tm_cell *cell, const struct tm_value *summary)
{
    char figure[TM_FORMAT_BYTES];
    const char *text = tm_cell_shown(cell, summary, figure);

    if (text == figure)
        (void)snprintf(tm_sheet_room(sheet), TM_SHEET_CELL_BYTES, "%s", figure);
    else
        tm_sheet_text(sheet, text);
}

static void add_columns(struct tm_sheet *sheet, const struct tm_layout *layout)
{
    const struct tm_table *table = layout->table;

    tm_sheet_start(sheet, true);
    for (size_t i = 0; i < layout->columns; i++) {
        const struct tm_column *column = &table->column[layout->column[i]];

        tm_sheet_column(sheet, column->title, kind_of(tm_column_kind(column)));
    }
}

static void add_rows(struct tm_sheet *sheet, const struct tm_layout *layout)
{
    const struct tm_table *table = layout->table;

    for (size_t r = 0; r < layout->rows && tm_sheet_row(sheet); r++) {
        sheet->indent[sheet->rows - 1] = (uint8_t)tm_table_depth(table, r);
        for (size_t i = 0; i < layout->columns; i++) {
            const struct tm_cell cell = tm_table_cell(table, r, layout->column[i]);

            add_cell(sheet, &cell, layout->summary);
        }
    }
}

typedef struct tm_cell summing_cell(const struct tm_layout *layout, size_t column);

static void add_sum(struct tm_sheet *sheet, const struct tm_layout *layout, const char *title, summing_cell *cell_at)
{
    if (!tm_sheet_row(sheet))
        return;
    (void)snprintf(tm_sheet_room(sheet), TM_SHEET_CELL_BYTES, "%s", title);
    sheet_tone(sheet, cell_at == tm_layout_rest ? TM_TONE_QUIET : TM_TONE_PLAIN);
    for (size_t i = 1; i < layout->columns; i++) {
        const struct tm_cell cell = cell_at(layout, layout->column[i]);

        add_cell(sheet, &cell, layout->summary);
    }
}

void tm_sheet_fill(struct tm_sheet *sheet, struct tm_layout *layout, const struct tm_table *table,
                   const struct tm_value *summary, const struct tm_room *room)
{
    const struct tm_room fits = { .is_paper = room->is_paper,
                                  .rows = room->rows < TM_SHEET_ROOM ? room->rows : TM_SHEET_ROOM };
    char title[TM_FORMAT_BYTES];

    tm_table_lay_out(layout, table, summary, &fits);
    layout->columns = layout->columns < TM_SHEET_COLUMNS ? layout->columns : TM_SHEET_COLUMNS;
    add_columns(sheet, layout);
    add_rows(sheet, layout);
    if (tm_layout_has_sums(layout))
        add_sum(sheet, layout, tm_layout_rest_title(layout, title), tm_layout_rest);
    if (!table->total || !table->total_title)
        return;
    add_sum(sheet, layout, table->total_title, tm_layout_total);
    sheet->summed[sheet->rows - 1] = true;
}

void tm_sheet_fill_facts(struct tm_sheet *sheet, const struct tm_table *facts, const struct tm_value *summary)
{
    tm_sheet_start(sheet, false);
    tm_sheet_column(sheet, "", TM_COLUMN_WORD);
    tm_sheet_column(sheet, "", TM_COLUMN_PROSE);
    for (size_t c = 0; c < facts->columns && tm_sheet_row(sheet); c++) {
        const struct tm_cell cell = tm_table_cell(facts, 0, c);
        const char *why = cell.from == TM_FROM_VALUE ? tm_why(cell.value) : "";

        tm_sheet_text(sheet, facts->column[c].title);
        if (!tm_cell_is_empty(&cell)) {
            add_cell(sheet, &cell, summary);
            continue;
        }
        tm_sheet_prose(sheet, "not recorded%s%.500s%s", *why ? " (" : "", why, *why ? ")" : "");
        sheet_tone(sheet, TM_TONE_QUIET);
    }
}

/* --- notes --- */

/* Two columns have the same note. */
static bool are_alike(const struct tm_layout *layout, size_t a, size_t b)
{
    return layout->note[a].is_same == layout->note[b].is_same && layout->note[a].is_shown == layout->note[b].is_shown &&
           strcmp(layout->note[a].text, layout->note[b].text) == 0;
}

static bool is_first_of_its_like(const struct tm_layout *layout, size_t note)
{
    for (size_t i = 0; i < note; i++)
        if (are_alike(layout, i, note))
            return false;
    return true;
}

/* "Mean rate, Best rate: not recorded (the profile does not have it)." */
static void write_note(const struct tm_layout *layout, size_t note, char *out)
{
    const char *where = layout->note[note].is_shown ? ", if empty" : "";
    size_t length = 0;

    for (size_t i = note; i < layout->notes && length < TM_NOTE_BYTES; i++)
        if (are_alike(layout, i, note))
            length += (size_t)snprintf(out + length, TM_NOTE_BYTES - length, "%s%s", i == note ? "" : ", ",
                                       layout->note[i].title);
    if (length >= TM_NOTE_BYTES)
        return;
    if (layout->note[note].is_same)
        (void)snprintf(out + length, TM_NOTE_BYTES - length, ", the same in all rows: %s", layout->note[note].text);
    else if (strcmp(layout->note[note].text, "not recorded") == 0)
        (void)snprintf(out + length, TM_NOTE_BYTES - length, "%s: not recorded.", where);
    else
        (void)snprintf(out + length, TM_NOTE_BYTES - length, "%s: not recorded (%s).", where, layout->note[note].text);
}

bool tm_layout_note(const struct tm_layout *layout, size_t at, char *out)
{
    char further[TM_FORMAT_BYTES];
    size_t sentences = 0;

    for (size_t i = 0; i < layout->notes; i++) {
        if (!is_first_of_its_like(layout, i) || sentences++ != at)
            continue;
        write_note(layout, i, out);
        return true;
    }
    if (at > sentences || layout->rows_left_out <= 0 || tm_layout_has_sums(layout))
        return false;
    (void)snprintf(out, TM_NOTE_BYTES, "%s not listed here.", tm_layout_rest_title(layout, further));
    return true;
}
