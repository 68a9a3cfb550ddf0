/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BOUNDED_SUM_H
#define TM_BOUNDED_SUM_H

#include <stdint.h>

/* Sums and integer parts that saturate at the end of the range instead of overflowing, because a malicious input may
 * have any durations and sizes.  The sum of nonnegative parts does not depend on their order. */

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

/* A 128-bit sum, for products of two numbers. */
struct tm_wide {
    uint64_t high, low;
};

static inline unsigned __int128 tm_wide_value(struct tm_wide wide)
{
    return (unsigned __int128)wide.high << 64 | wide.low;
}

static inline struct tm_wide tm_sum_wide(struct tm_wide wide, unsigned __int128 more)
{
    unsigned __int128 sum;

    if (__builtin_add_overflow(tm_wide_value(wide), more, &sum))
        sum = ~(unsigned __int128)0;
    return (struct tm_wide){ (uint64_t)(sum >> 64), (uint64_t)sum };
}

/* How much lengths differ, from sums that are exact whatever the order of their parts: how many, their sum and the sum
 * of their squares. */

/* in: length_ps  not negative */
static inline struct tm_wide tm_sum_squares(struct tm_wide squares, int64_t length_ps)
{
    return tm_sum_wide(squares, (unsigned __int128)(uint64_t)length_ps * (uint64_t)length_ps);
}

/* A number without its fraction; NaN is at the lower end. */
static inline int64_t tm_whole(double value)
{
    if (!(value >= -0x1p63))
        return INT64_MIN;
    return value < 0x1p63 ? (int64_t)value : INT64_MAX;
}

#endif
