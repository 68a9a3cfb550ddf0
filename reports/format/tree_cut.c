/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the smallest of the largest figures by insertion into a short list. */
#include "reports/format/tree_cut.h"

#include <string.h>

void tm_tree_cut_find(struct tm_tree_cut *cut, const struct tm_value *rows, const char *key, size_t most)
{
    int64_t largest[TM_TREE_ROWS_MOST];
    size_t count = 0;

    most = most < TM_TREE_ROWS_MOST ? most : TM_TREE_ROWS_MOST;
    for (size_t i = 0; i < tm_length(rows); i++) {
        const int64_t value = tm_int(tm_get(tm_at(rows, i), key));
        size_t at = count;

        while (at > 0 && largest[at - 1] < value)
            at--;
        if (at == most)
            continue;
        count += count < most;
        memmove(&largest[at + 1], &largest[at], (count - 1 - at) * sizeof(largest[0]));
        largest[at] = value;
    }
    *cut = (struct tm_tree_cut){ .key = key, .least = count ? largest[count - 1] : 0 };
    for (size_t i = 0; i < count; i++)
        cut->equal += largest[i] == cut->least;
}

bool tm_tree_cut_shows(struct tm_tree_cut *cut, const struct tm_value *row)
{
    const int64_t value = tm_int(tm_get(row, cut->key));

    if (value == cut->least && cut->equal) {
        cut->equal--;
        return true;
    }
    return value > cut->least;
}
