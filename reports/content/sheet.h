/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SHEET_H
#define TM_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/attributes.h"
#include "reports/content/tone.h"

/* A small table of texts, filled from the left and from the top, that a report puts on its medium.
 * Fixed size: whoever has more rows than fit says in a note how many were left out. */
enum {
    TM_SHEET_COLUMNS = 16,
    TM_SHEET_ROWS = 160,
    TM_SHEET_CELL_BYTES = 64,
    TM_SHEET_PROSE_BYTES = 16384
};

enum tm_column_kind {
    TM_COLUMN_WORD,   /* left, as wide as its widest cell */
    TM_COLUMN_NUMBER, /* right, as wide as its widest cell */
    TM_COLUMN_NAME,   /* left, shares what is left over; cut in the middle */
    TM_COLUMN_PROSE,  /* left, shares what is left over; wrapped */
};

struct tm_sheet {
    int columns, rows;
    int next;    /* column of the next cell of the last row */
    bool headed; /* column titles are printed */
    const char *title[TM_SHEET_COLUMNS];
    enum tm_column_kind kind[TM_SHEET_COLUMNS];
    uint8_t indent[TM_SHEET_ROWS]; /* of the first cell: levels of a tree */
    bool summed[TM_SHEET_ROWS]; /* a rule stands above this row: it sums up */
    uint8_t tone[TM_SHEET_ROWS][TM_SHEET_COLUMNS];
    const char *text[TM_SHEET_ROWS][TM_SHEET_COLUMNS];
    char own[TM_SHEET_ROWS][TM_SHEET_COLUMNS][TM_SHEET_CELL_BYTES];
    size_t prose_used;
    char prose[TM_SHEET_PROSE_BYTES]; /* longer texts that belong to no summary */
};

void tm_sheet_start(struct tm_sheet *sheet, bool headed);
void tm_sheet_column(struct tm_sheet *sheet, const char *title, enum tm_column_kind kind);

/* Begin the next row.  out: false when the sheet is full; cells then must not be added */
bool tm_sheet_row(struct tm_sheet *sheet);

/* Add a cell.  owns: the text is borrowed until the sheet is started again */
void tm_sheet_text(struct tm_sheet *sheet, const char *text);

/* Add a cell and give its own room of TM_SHEET_CELL_BYTES to write into. */
char *tm_sheet_room(struct tm_sheet *sheet);

/* Add a cell with a longer text of its own; it is cut when the sheet's room for such texts is used
 * up. */
void tm_sheet_prose(struct tm_sheet *sheet, const char *format, ...) TM_PRINTF(2, 3);

/* Set the tone of the cell added last. */
void tm_sheet_tone(struct tm_sheet *sheet, enum tm_tone tone);

/* Take a column out. */
void tm_sheet_drop(struct tm_sheet *sheet, int column);

/* Share `width` among the columns.
 * in:     natural  width of the widest cell of each column, its title included
 *         gap      between two columns, in the same unit
 * out:     actual  widths that fit; elastic columns give way first, then the widest others */
void tm_sheet_widths(const struct tm_sheet *sheet, const double *natural, double width, double gap,
                     double *actual);

#endif
