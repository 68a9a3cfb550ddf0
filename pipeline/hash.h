/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HASH_H
#define TM_HASH_H

#include <stdint.h>
#include <unistd.h>

/* Where a key goes in an open table.  The seed keeps an input from choosing keys that meet in one
 * place; results never depend on it, because tables give out their rows in the order of the keys or
 * by look-up. */
static inline uint64_t tm_hash_seed(const void *fallback)
{
    uint64_t seed;

    if (getentropy(&seed, sizeof(seed)) != 0)
        seed = (uint64_t)(uintptr_t)fallback;
    return seed;
}

/* A bijection on 64 bits in which each bit of the input reaches all bits of the result. */
static inline uint64_t tm_hash_mix(uint64_t key, uint64_t seed)
{
    uint64_t h = (key ^ seed) * UINT64_C(0xd6e8feb86659fd93);

    h = (h ^ h >> 32 ^ seed >> 7) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

#endif
