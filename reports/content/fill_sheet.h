/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FILL_SHEET_H
#define TM_FILL_SHEET_H

#include "reports/content/sheet.h"
#include "reports/content/table.h"

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
