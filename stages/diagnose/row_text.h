/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ROW_TEXT_H
#define TM_ROW_TEXT_H

#include "pipeline/doc.h"

/* Texts of the rows of a table: long ones are given whole while there is room for them, else cut.  The room depends on
 * the number of rows alone, so that the summary does not depend on the memory. */
enum { TM_ROW_TEXT_CUT = 256, TM_ROW_TEXT_ROOM = 512 /* for each row */ };

/* in: *room  bytes left for texts longer than TM_ROW_TEXT_CUT; becomes less */
static inline void tm_add_row_text(struct tm_value *to, const char *key, const char *text, size_t length, size_t *room)
{
    char cut[TM_ROW_TEXT_CUT + 3];
    size_t n = TM_ROW_TEXT_CUT;

    if (length <= TM_ROW_TEXT_CUT || length <= *room) {
        *room -= length <= TM_ROW_TEXT_CUT ? 0 : length;
        tm_add_text(to, key, text, length);
        return;
    }
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    for (size_t i = 0; i < n; i++)
        cut[i] = text[i];
    cut[n] = cut[n + 1] = cut[n + 2] = '.';
    tm_add_text(to, key, cut, n + 3);
}

#endif
