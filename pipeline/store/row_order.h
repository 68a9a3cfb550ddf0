/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ROW_ORDER_H
#define TM_ROW_ORDER_H

#include <stdint.h>

/* Which of two rows goes first: <0, 0, >0. */
typedef int tm_row_order(const void *a, const void *b);

/* A number that never falls from a row to one behind it in the order: rows are compared only where it is equal. */
typedef uint64_t tm_row_prefix(const void *row);

/* A prefix of rows that are in the order of a signed number. */
static inline uint64_t tm_prefix_of(int64_t number)
{
    return (uint64_t)number ^ (uint64_t)1 << 63;
}

#endif
