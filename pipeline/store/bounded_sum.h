/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BOUNDED_SUM_H
#define TM_BOUNDED_SUM_H

#include <stdint.h>

/* Sums and whole parts that stay at the end of the range instead of passing it: a hostile input may hold any lengths and
 * sizes.  Of parts that are not negative the sum does not depend on their order. */

static inline uint64_t tm_sum_counts(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline int64_t tm_sum_times(int64_t a, int64_t b)
{
    int64_t sum;

    return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

/* A number without its fraction; what is no number is at the lower end. */
static inline int64_t tm_whole(double value)
{
    if (!(value >= -0x1p63))
        return INT64_MIN;
    return value < 0x1p63 ? (int64_t)value : INT64_MAX;
}

#endif
