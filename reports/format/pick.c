/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/format/pick.h"

#include <stdlib.h>
#include <string.h>

size_t tm_pick_largest(const struct tm_value *list, const char *key, const char *only, size_t most, size_t *pick)
{
    int64_t largest[TM_PICK_MOST];
    size_t n = 0;

    most = most < TM_PICK_MOST ? most : TM_PICK_MOST;
    for (size_t i = 0; i < tm_length(list); i++) {
        const int64_t figure = tm_int(tm_get(tm_at(list, i), key));
        size_t at = n;

        if (only && !tm_is(tm_get(tm_at(list, i), only)))
            continue;
        while (at > 0 && largest[at - 1] < figure)
            at--;
        if (at == most)
            continue;
        n = n < most ? n + 1 : n;
        memmove(pick + at + 1, pick + at, (n - at - 1) * sizeof(pick[0]));
        memmove(largest + at + 1, largest + at, (n - at - 1) * sizeof(largest[0]));
        pick[at] = i;
        largest[at] = figure;
    }
    return n;
}

static int by_place(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

void tm_pick_in_order(size_t *pick, size_t count)
{
    qsort(pick, count, sizeof(pick[0]), by_place);
}
