/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/pick.h"

#include <string.h>

size_t tm_pick_largest(const struct tm_value *list, const char *key, const char *only, size_t most, size_t *pick)
{
    size_t n = 0;

    for (size_t i = 0; i < tm_length(list); i++) {
        const int64_t figure = tm_int(tm_get(tm_at(list, i), key));
        size_t at = n;

        if (only && !tm_is(tm_get(tm_at(list, i), only)))
            continue;
        while (at > 0 && tm_int(tm_get(tm_at(list, pick[at - 1]), key)) < figure)
            at--;
        if (at == most)
            continue;
        n = n < most ? n + 1 : n;
        memmove(pick + at + 1, pick + at, (n - at - 1) * sizeof(pick[0]));
        pick[at] = i;
    }
    return n;
}
