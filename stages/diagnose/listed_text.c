/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/diagnose/listed_text.h"

#include <string.h>

enum { WHOLE_BYTES = 8192, CUT_BYTES = 256, ROOM_PER_ROW = 512, ROOM_ROWS_MOST = 1 << 20 };

struct tm_listed_texts tm_listed_texts(struct tm_names *names, uint64_t rows)
{
    return (struct tm_listed_texts){ names, (rows < ROOM_ROWS_MOST ? rows : ROOM_ROWS_MOST) * ROOM_PER_ROW };
}

tm_status tm_listed_text_add(struct tm_listed_texts *texts, struct tm_value *to, const char *key, tm_strid id)
{
    char cut[CUT_BYTES + 3];
    const char *text;
    size_t length, n = CUT_BYTES;
    const tm_status st = tm_names_text(texts->names, id, WHOLE_BYTES + 1, &text, &length);

    if (st != TM_OK)
        return st;
    if (length <= CUT_BYTES || (length <= WHOLE_BYTES && length <= texts->room_bytes)) {
        texts->room_bytes -= length <= CUT_BYTES ? 0 : length;
        tm_add_text(to, key, text, length);
        return TM_OK;
    }
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    memcpy(cut, text, n);
    memcpy(cut + n, "...", 3);
    tm_add_text(to, key, cut, n + 3);
    return TM_OK;
}

tm_status tm_listed_text_or(struct tm_listed_texts *texts, struct tm_value *to, const char *key, tm_strid id,
                            const char *why)
{
    if (id)
        return tm_listed_text_add(texts, to, key, id);
    tm_add_null(to, key, why);
    return TM_OK;
}
