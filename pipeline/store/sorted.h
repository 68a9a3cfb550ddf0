/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SORTED_H
#define TM_SORTED_H

#include <stddef.h>

/* Arrays of rows that are in order, and heaps.  An order is as of qsort and bsearch: below, at or above 0 where the first
 * goes before, with or behind the second. */
typedef int tm_order(const void *a, const void *b);

/* The place of the first row that does not go before the key, which is the first argument of the order; count = none. */
static inline size_t tm_sorted_place(const void *key, const void *rows, size_t count, size_t row_bytes, tm_order *order)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (order(key, (const char *)rows + middle * row_bytes) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Put a row into its place among the first `most` ones, behind those that go with it.
 * in:     rows   `count` in order, and room for `most`
 * out:    how many there are now */
size_t tm_sorted_keep(void *rows, size_t count, size_t most, size_t row_bytes, const void *row, tm_order *order);

/* A heap: its first row is the last one by the order.  Add one row; or put one, which is not in it, in place of the first. */
void tm_heap_add(void *rows, size_t count, size_t row_bytes, const void *row, tm_order *order);
void tm_heap_replace(void *rows, size_t count, size_t row_bytes, const void *row, tm_order *order);

#endif
