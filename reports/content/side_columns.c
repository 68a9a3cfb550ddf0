/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/side_columns.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_CHARS = 24 };

size_t tm_side_count(const struct tm_value *comparison)
{
    return tm_length(tm_get(comparison, "sides"));
}

const char *tm_side_label(const struct tm_value *comparison, size_t side, char *out)
{
    const char *label = tm_text(tm_get(tm_at(tm_get(comparison, "sides"), side), "label"));
    char shown[256];

    (void)tm_format_visible(shown, sizeof(shown), label, strlen(label));
    (void)tm_format_middle(out, TM_SIDE_TITLE_BYTES, shown, LABEL_CHARS);
    return out;
}

void tm_side_columns_add(struct tm_side_columns *to, const char *title, const char *key, unsigned shape)
{
    const size_t at = to->columns;

    if (at == TM_TABLE_COLUMNS_MOST)
        return;
    (void)snprintf(to->title[at], TM_SIDE_TITLE_BYTES, "%s", title);
    (void)snprintf(to->key[at], TM_SIDE_KEY_BYTES, "%s", key);
    to->column[at] = (struct tm_column){ to->title[at], to->key[at], shape };
    to->columns++;
}

void tm_side_columns_add_sides(struct tm_side_columns *to, const struct tm_value *comparison, const char *what,
                               const char *key, unsigned shape)
{
    for (size_t i = 0; i < tm_side_count(comparison); i++) {
        char label[TM_SIDE_TITLE_BYTES], title[2 * TM_SIDE_TITLE_BYTES], path[TM_SIDE_KEY_BYTES];

        (void)snprintf(title, sizeof(title), "%s%s%.60s", tm_side_label(comparison, i, label), *what ? ", " : "", what);
        (void)snprintf(path, sizeof(path), "%.30s[%zu]", key, i);
        tm_side_columns_add(to, title, path, shape);
    }
}

void tm_side_columns_add_changes(struct tm_side_columns *to, const struct tm_value *comparison, const char *title,
                                 const char *key, unsigned shape)
{
    const size_t sides = tm_side_count(comparison);

    for (size_t i = 1; i < sides; i++) {
        char label[TM_SIDE_TITLE_BYTES], whole[2 * TM_SIDE_TITLE_BYTES], path[TM_SIDE_KEY_BYTES];

        (void)snprintf(whole, sizeof(whole), "%s, %c%.60s", tm_side_label(comparison, i, label),
                       tolower((unsigned char)*title), title + 1);
        (void)snprintf(path, sizeof(path), "changes[%zu].%.30s", i - 1, key);
        tm_side_columns_add(to, sides == 2 ? title : whole, path, shape);
    }
}
