/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MUTATE_DICE_H
#define TM_MUTATE_DICE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What the mutators of the fuzz targets share: dice that the seed decides alone, and room for bytes that are made.
 * The mutators themselves are not watched by the fuzzer, which would take their comparisons for the program's. */

#ifdef __clang__
#define MUTATE_UNWATCHED_BEGIN                                                                                         \
    _Pragma("clang attribute push(__attribute__((no_sanitize(\"coverage\"))), apply_to = function)")
#define MUTATE_UNWATCHED_END _Pragma("clang attribute pop")
#else
#define MUTATE_UNWATCHED_BEGIN
#define MUTATE_UNWATCHED_END
#endif

MUTATE_UNWATCHED_BEGIN

enum { MUTATE_MOST = 64 << 10 /* bytes of an input; what is longer is not looked into */ };

/* Changes bytes without knowing what they are, as LLVMFuzzerMutate does: at most `most` come out. */
typedef size_t mutate_bytes_fn(uint8_t *data, size_t size, size_t most);

struct mutate_dice {
    uint64_t state;
};

static inline uint64_t mutate_bits(struct mutate_dice *dice)
{
    uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 ... below - 1; 0 where there is no choice */
static inline size_t mutate_below(struct mutate_dice *dice, size_t below)
{
    return below ? (size_t)(mutate_bits(dice) % below) : 0;
}

/* Often 1, seldom many. */
static inline size_t mutate_few(struct mutate_dice *dice, size_t most)
{
    const size_t n = mutate_below(dice, 8) ? 1 + mutate_below(dice, 3) : 1 + mutate_below(dice, most);

    return n < most ? n : most;
}

MUTATE_UNWATCHED_END

#endif
