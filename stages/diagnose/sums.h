/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SUMS_H
#define TM_SUMS_H

#include <stdint.h>

#include "pipeline/bounded_sum.h"

/* A set of devices, each a bit by its number modulo 64: how many ran something, as long as they are at most 64. */
static inline uint64_t tm_device_bit(uint32_t number)
{
    return UINT64_C(1) << number % 64;
}

/* The same devices where their numbers are larger by so many. */
static inline uint64_t tm_move_device_bits(uint64_t devices, uint32_t by)
{
    const unsigned shift = by % 64;

    return shift ? devices << shift | devices >> (64 - shift) : devices;
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

#endif
