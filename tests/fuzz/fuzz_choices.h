/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FUZZ_CHOICES_H
#define TM_FUZZ_CHOICES_H

#include <string.h>

#include <xxhash.h>

#include "tests/support/mutate_dice.h"

/* What the fuzzer chooses beside the bytes of a file: the last bytes of the input, behind a mark that is no UTF-8.
 * An input without them is a file as it is, so that seeds are plain files; its hash chooses then. */

enum { FUZZ_MARK_BYTES = 2, FUZZ_CHOICE_BYTES = 6, FUZZ_TAIL_BYTES = FUZZ_MARK_BYTES + FUZZ_CHOICE_BYTES };

struct fuzz_choices {
    uint8_t bytes[FUZZ_CHOICE_BYTES];
    bool are_given;
};

static const uint8_t fuzz_mark[FUZZ_MARK_BYTES] = { 0xf7, 0xf8 };

/* out: *size  without the choices */
static inline struct fuzz_choices fuzz_choices_take(const uint8_t *data, size_t *size)
{
    struct fuzz_choices choices = { .are_given = false };
    const uint64_t hash = *size ? XXH3_64bits(data, *size) : 0;

    if (*size >= FUZZ_TAIL_BYTES && memcmp(data + *size - FUZZ_TAIL_BYTES, fuzz_mark, FUZZ_MARK_BYTES) == 0) {
        memcpy(choices.bytes, data + *size - FUZZ_CHOICE_BYTES, FUZZ_CHOICE_BYTES);
        choices.are_given = true;
        *size -= FUZZ_TAIL_BYTES;
    } else {
        memcpy(choices.bytes, &hash, FUZZ_CHOICE_BYTES);
    }
    return choices;
}

/* out: how many bytes there are at `end` then */
static inline size_t fuzz_choices_put(uint8_t *end, const struct fuzz_choices *choices)
{
    memcpy(end, fuzz_mark, FUZZ_MARK_BYTES);
    memcpy(end + FUZZ_MARK_BYTES, choices->bytes, FUZZ_CHOICE_BYTES);
    return FUZZ_TAIL_BYTES;
}

/* A length of one read. */
static inline size_t fuzz_step(uint8_t byte)
{
    static const size_t steps[] = { SIZE_MAX, 1, 2, 3, 7, 61, 511, 512, 513, 4096, 32768, 65536 };

    return steps[byte % (sizeof(steps) / sizeof(steps[0]))];
}

#endif
