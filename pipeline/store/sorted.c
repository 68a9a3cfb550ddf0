/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/sorted.h"

#include <string.h>

size_t tm_sorted_keep(void *rows, size_t count, size_t most, size_t row_bytes, const void *row, tm_order *order)
{
    char *at = (char *)rows + count * row_bytes;

    while (at > (char *)rows && order(row, at - row_bytes) < 0)
        at -= row_bytes;
    if (at == (char *)rows + most * row_bytes)
        return count;
    count += count < most;
    memmove(at + row_bytes, at, (size_t)((char *)rows + (count - 1) * row_bytes - at));
    memcpy(at, row, row_bytes);
    return count;
}

void tm_heap_add(void *rows, size_t count, size_t row_bytes, const void *row, tm_order *order)
{
    char *const first = rows;
    size_t at = count;

    for (size_t above; at && order(row, first + (above = (at - 1) / 2) * row_bytes) > 0; at = above)
        memcpy(first + at * row_bytes, first + above * row_bytes, row_bytes);
    memcpy(first + at * row_bytes, row, row_bytes);
}

void tm_heap_replace(void *rows, size_t count, size_t row_bytes, const void *row, tm_order *order)
{
    char *const first = rows;
    size_t at = 0;

    for (size_t below; (below = 2 * at + 1) < count; at = below) {
        below += below + 1 < count && order(first + (below + 1) * row_bytes, first + below * row_bytes) > 0;
        if (order(first + below * row_bytes, row) <= 0)
            break;
        memcpy(first + at * row_bytes, first + below * row_bytes, row_bytes);
    }
    memcpy(first + at * row_bytes, row, row_bytes);
}
