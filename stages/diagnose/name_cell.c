/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the trace in tables of the summary. */
#include "stages/diagnose/name_cell.h"

#include <string.h>

tm_status tm_add_name(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id)
{
    char cut[TM_NAME_CELL_BYTES + 3];
    const char *text;
    size_t length, n = TM_NAME_CELL_BYTES;
    const tm_status st = tm_names_text(names, id, TM_NAME_CELL_BYTES + 1, &text, &length);

    if (st != TM_OK)
        return st;
    if (length <= TM_NAME_CELL_BYTES) {
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

tm_status tm_add_known_name(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id, const char *why)
{
    if (id)
        return tm_add_name(to, key, names, id);
    tm_add_null(to, key, why);
    return TM_OK;
}
