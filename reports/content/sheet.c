/* SPDX-License-Identifier: Apache-2.0 */
/* A table of texts of fixed size, filled by fill_sheet.c and drawn by the text, PDF and Markdown reports.
 * Cells either borrow a text of the summary or use their own room, so that no cell allocates. */
#include "reports/content/sheet.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

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

void tm_sheet_tone(struct tm_sheet *sheet, enum tm_tone tone)
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

/* Give the columns of one sort equal parts of `left`; what one of them does not need goes to the
 * others, so that the widest ones give way. */
static void share_out(const struct tm_sheet *sheet, bool elastic, const double *natural,
                      double left, double *actual)
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

void tm_sheet_widths(const struct tm_sheet *sheet, const double *natural, double width, double gap,
                     double *actual)
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
