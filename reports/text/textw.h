/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEXTW_H
#define TM_TEXTW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "reports/content/sheet.h"

/* Blocks of plain text.  Texts of a trace enter here, any bytes, and what is not seen becomes visible.  No line is
 * wider than TM_TEXT_COLUMNS, none ends in a space. */
enum { TM_TEXT_CELL_BYTES = 2048 };

/* What stands above, which says whether a blank line is due. */
enum tm_text_block { TM_TEXT_NOTHING, TM_TEXT_PARAGRAPH, TM_TEXT_ITEM, TM_TEXT_SHEET };

struct tm_textw {
    FILE *to;
    enum tm_text_block last;
    char cell[TM_SHEET_COLUMNS][TM_TEXT_CELL_BYTES]; /* of the row that is printed, clean */
};

void tm_textw_title(struct tm_textw *w, const char *text); /* the first line of a file */
void tm_textw_heading(struct tm_textw *w, const char *text);
void tm_textw_subheading(struct tm_textw *w, const char *text);

/* in: belongs  to what stands above: no blank line between them */
void tm_textw_paragraph(struct tm_textw *w, const char *text, bool belongs);

/* "  fix          Load ahead ...", the text hangs. */
void tm_textw_item(struct tm_textw *w, const char *label, const char *text);

/* A name of the table is cut so far that it tells little. */
bool tm_textw_is_narrow(struct tm_textw *w, const struct tm_sheet *sheet);

void tm_textw_sheet(struct tm_textw *w, const struct tm_sheet *sheet);

/* Texts in columns of a terminal.  All texts are valid UTF-8 without characters that are not seen.  A character that is
 * not ASCII counts as its widest form where its width is not certain, so that a line may be shorter than it could be
 * but never longer. */

/* Bytes of the longest beginning of `text` that takes at most `width` columns. */
size_t tm_text_head(const char *text, int width);

/* The bytes without the spaces at their end. */
size_t tm_text_trimmed(const char *text, size_t bytes);

#endif
