/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HASH_H
#define TM_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/error.h"

/* The slot of a key in an open table. The seed keeps an input from choosing keys that
 * collide; results never depend on it, because tables give out their rows in the order of the keys or
 * by lookup. */
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

/* Both halves of a product, which depends on every bit of both factors. */
static inline uint64_t tm_hash_fold(uint64_t a, uint64_t b)
{
    const unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t tm_hash_load(const uint8_t *at, size_t bytes)
{
    uint64_t word = 0;

    memcpy(&word, at, bytes);
    return word;
}

/* For a string, within this process: used where one is hashed for every event.  64 bits of quality, not for output.
 * Because the seed is unknown, an input cannot contain strings chosen to collide. */
static inline uint64_t tm_hash_text(const void *text, size_t length, uint64_t seed)
{
    /* Both factors of a product have their own secret: else strings that swap their halves have the same product. */
    const uint64_t first = UINT64_C(0xa0761d6478bd642f) * (seed | 1), second = UINT64_C(0xe7037ed1a0b428db) ^ seed;
    const uint8_t *at = text; /* an empty one may be NULL: nothing is added to it */
    uint64_t hash = first, a, b;
    size_t left = length;

    for (; left > 16; left -= 16, at += 16)
        hash = tm_hash_fold(tm_hash_load(at, 8) ^ second, tm_hash_load(at + 8, 8) ^ hash);
    if (length >= 16) {
        a = tm_hash_load(at + left - 16, 8);
        b = tm_hash_load(at + left - 8, 8);
    } else if (length >= 8) {
        a = tm_hash_load(at, 8);
        b = tm_hash_load(at + length - 8, 8);
    } else if (length >= 4) {
        a = tm_hash_load(at, 4);
        b = tm_hash_load(at + length - 4, 4);
    } else {
        a = length > 0 ? (uint64_t)at[0] << 16 | (uint64_t)at[length / 2] << 8 | at[length - 1] : 0;
        b = 0;
    }
    return tm_hash_fold(second ^ length, tm_hash_fold(a ^ second, b ^ hash));
}

/* A hash of two numbers.  The first product is by a constant: with a factor derived from the seed, consecutive numbers
 * form a few clusters for one seed in thirty. */
static inline uint64_t tm_hash_pair(uint64_t a, uint64_t b, uint64_t seed)
{
    const uint64_t first = tm_hash_fold(a ^ seed, UINT64_C(0xa0761d6478bd642f));

    return tm_hash_fold(first ^ b ^ (seed >> 32 | seed << 32), UINT64_C(0xe7037ed1a0b428db));
}

/* Open-addressing tables.  Their owners keep the slots, in any form, a power of two of them, and never fill them; the
 * search is shared: from the home slot of a key to a slot with the key or an empty one.  It is compiled into each
 * caller, with the caller's comparison. */
typedef bool tm_probe_ends(const void *slot, const void *key);

/* in:     home   a hash of the key; its lowest bits count
 *         count  of slots, each of slot_bytes
 *         ends   whether a slot is empty or the key's
 * out:    the slot of the key, or the empty one where it belongs */
TM_INLINE void *tm_probe(void *slots, size_t count, size_t slot_bytes, uint64_t home, const void *key,
                         tm_probe_ends *ends)
{
    for (;; home++) {
        char *const slot = (char *)slots + (home & (count - 1)) * slot_bytes;

        if (ends(slot, key))
            return slot;
    }
}

#endif
