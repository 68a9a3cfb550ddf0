/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DRAW_H
#define TM_DRAW_H

#include <stddef.h>
#include <stdint.h>

/* Numbers drawn at random, the same from the same seed on every machine: SplitMix64 (Steele, Lea and Flood 2014). */
static inline uint64_t tm_draw(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* in: count  below 2^32 */
static inline size_t tm_draw_below(uint64_t *state, size_t count)
{
    return (size_t)((tm_draw(state) >> 32) * count >> 32);
}

#endif
