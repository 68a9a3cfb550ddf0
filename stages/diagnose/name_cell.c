/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the trace in tables of the summary. */
#include "stages/diagnose/name_cell.h"

#include "stages/diagnose/row_text.h"

tm_status tm_add_name(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id)
{
    const char *text;
    size_t length, room = 0;
    const tm_status st = tm_names_text(names, id, TM_ROW_TEXT_CUT + 1, &text, &length);

    if (st == TM_OK)
        tm_add_row_text(to, key, text, length, &room);
    return st;
}

tm_status tm_add_known_name(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id, const char *why)
{
    if (id)
        return tm_add_name(to, key, names, id);
    tm_add_null(to, key, why);
    return TM_OK;
}

tm_status tm_add_name_cut(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id, size_t most,
                          const char *why)
{
    const char *text;
    size_t length;
    tm_status st;

    if (!id) {
        tm_add_null(to, key, why);
        return TM_OK;
    }
    st = tm_names_text(names, id, most, &text, &length);
    if (st == TM_OK)
        tm_add_text(to, key, text, length);
    return st;
}
