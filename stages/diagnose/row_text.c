/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/diagnose/row_text.h"

#include <string.h>

size_t tm_whole_characters(const char *text, size_t length, size_t most)
{
    if (length <= most)
        return length;
    while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

void tm_add_row_text(struct tm_value *to, const char *key, const char *text, size_t length, size_t *room)
{
    char cut[TM_ROW_TEXT_CUT + 3];
    size_t n;

    if (length <= TM_ROW_TEXT_CUT || length <= *room) {
        *room -= length <= TM_ROW_TEXT_CUT ? 0 : length;
        tm_add_text(to, key, text, length);
        return;
    }
    n = tm_whole_characters(text, length, TM_ROW_TEXT_CUT);
    memcpy(cut, text, n);
    memcpy(cut + n, "...", 3);
    tm_add_text(to, key, cut, n + 3);
}
