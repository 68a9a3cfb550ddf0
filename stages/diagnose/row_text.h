/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ROW_TEXT_H
#define TM_ROW_TEXT_H

#include "pipeline/doc.h"

/* Texts of the rows of a table: long ones are given whole while there is room for them, else cut.  The room depends on
 * the number of rows alone, so that the summary does not depend on the memory. */
enum { TM_ROW_TEXT_CUT = 256, TM_ROW_TEXT_ROOM = 512 /* for each row */ };

/* The longest beginning of at most `most` bytes that does not cut a character in two. */
size_t tm_whole_characters(const char *text, size_t length, size_t most);

/* Add a text; what is cut ends between two characters, and in "...".
 * in: *room  bytes left for texts longer than TM_ROW_TEXT_CUT; becomes less */
void tm_add_row_text(struct tm_value *to, const char *key, const char *text, size_t length, size_t *room);

#endif
