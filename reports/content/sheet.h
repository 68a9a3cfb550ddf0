/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SHEET_H
#define TM_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/attributes.h"
#include "reports/content/cell.h"
#include "reports/content/table.h"

/* A small table of texts, filled from the left and from the top, that a report puts on its medium.
 * Fixed size: whoever has more rows than fit says in a note how many were left out. */
enum { TM_SHEET_COLUMNS = 16, TM_SHEET_ROWS = 160, TM_SHEET_CELL_BYTES = 64, TM_SHEET_PROSE_BYTES = 16384 };

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
    bool summed[TM_SHEET_ROWS];    /* a rule stands above this row: it sums up */
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

/* Take a column out. */
void tm_sheet_drop(struct tm_sheet *sheet, int column);

/* Share `width` among the columns.
 * in:     natural  width of the widest cell of each column, its title included
 *         gap      between two columns, in the same unit
 * out:     actual  widths that fit; elastic columns give way first, then the widest others */
void tm_sheet_widths(const struct tm_sheet *sheet, const double *natural, double width, double gap, double *actual);

/* Tables of the content as sheets of texts, for media that are no pages with scripts: PDF and text. */

/* Most rows that may be asked for: a sheet keeps two for what sums up. */
enum { TM_SHEET_ROOM = TM_SHEET_ROWS - 2, TM_NOTE_BYTES = 1024 };

/* Lay a table out and fill a sheet with it: titles, rows, the row of what is not listed, the total.  Rows of trees have
 * their indent.
 * in:     room    at most TM_SHEET_ROOM rows
 * out:    layout  for the notes below the table: tm_layout_note
 * owns:   texts are borrowed of the table and of the summary */
void tm_sheet_fill(struct tm_sheet *sheet, struct tm_layout *layout, const struct tm_table *table,
                   const struct tm_value *summary, const struct tm_room *room);

/* Fill a sheet of two columns without titles with facts: their titles and values; what is null tells why. */
void tm_sheet_fill_facts(struct tm_sheet *sheet, const struct tm_table *facts, const struct tm_value *summary);

/* The sentences below a table, by their place: values that are the same in all rows, reasons of empty cells, how many
 * rows are not listed where no row sums them up.
 * out:    TM_NOTE_BYTES, any bytes; false = there is none at this place */
bool tm_layout_note(const struct tm_layout *layout, size_t at, char *out);

#endif
