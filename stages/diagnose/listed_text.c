/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/diagnose/listed_text.h"

#include "stages/diagnose/row_text.h"

enum { WHOLE_BYTES = 8192, ROOM_ROWS_MOST = 1 << 20 };

struct tm_listed_texts tm_listed_texts(struct tm_names *names, uint64_t rows)
{
    return (struct tm_listed_texts){ names, (rows < ROOM_ROWS_MOST ? rows : ROOM_ROWS_MOST) * TM_ROW_TEXT_ROOM };
}

tm_status tm_listed_text_add(struct tm_listed_texts *texts, struct tm_value *to, const char *key, tm_strid id)
{
    const char *text;
    size_t length, no_room = 0;
    const tm_status st = tm_names_text(texts->names, id, WHOLE_BYTES + 1, &text, &length);

    if (st == TM_OK)
        tm_add_row_text(to, key, text, length, length <= WHOLE_BYTES ? &texts->room_bytes : &no_room);
    return st;
}

tm_status tm_listed_text_or(struct tm_listed_texts *texts, struct tm_value *to, const char *key, tm_strid id,
                            const char *why)
{
    if (id)
        return tm_listed_text_add(texts, to, key, id);
    tm_add_null(to, key, why);
    return TM_OK;
}
