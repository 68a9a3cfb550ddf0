/* SPDX-License-Identifier: Apache-2.0 */
/* Letters for what the losses of an input touch. */
#include "reports/format/mark_signs.h"

#include <string.h>

static bool has_text(const struct tm_value *list, const char *text)
{
    for (size_t i = 0; i < tm_length(list); i++)
        if (strcmp(tm_text(tm_at(list, i)), text) == 0)
            return true;
    return false;
}

bool tm_mark_is_of_section(const struct tm_value *mark, const char *section)
{
    return section && has_text(tm_get(mark, "sections"), section);
}

bool tm_mark_is_of_kpi(const struct tm_value *mark, const struct tm_value *kpi)
{
    return has_text(tm_get(kpi, "marks"), tm_text(tm_get(mark, "id")));
}

char tm_mark_letter(size_t at)
{
    return (char)('a' + (at < TM_MARKS_SHOWN ? at : TM_MARKS_SHOWN - 1));
}

/* The letters between brackets. */
static char *put_letters(char *out, const bool touches[TM_MARKS_SHOWN])
{
    size_t used = 0;

    for (size_t i = 0; i < TM_MARKS_SHOWN; i++) {
        if (!touches[i])
            continue;
        if (!used) {
            memcpy(out, " [", 2);
            used = 2;
        }
        out[used++] = tm_mark_letter(i);
    }
    if (used)
        out[used++] = ']';
    out[used] = '\0';
    return out;
}

char *tm_sign_of_section(char *out, const struct tm_value *summary, const char *section)
{
    const struct tm_value *marks = tm_path(summary, "coverage.marks");
    bool touches[TM_MARKS_SHOWN] = { false };

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++)
        touches[i] = tm_mark_is_of_section(tm_at(marks, i), section);
    return put_letters(out, touches);
}

char *tm_sign_of_kpi(char *out, const struct tm_value *summary, const struct tm_value *kpi)
{
    const struct tm_value *marks = tm_path(summary, "coverage.marks");
    bool touches[TM_MARKS_SHOWN] = { false };

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++)
        touches[i] = tm_mark_is_of_kpi(tm_at(marks, i), kpi);
    return put_letters(out, touches);
}
