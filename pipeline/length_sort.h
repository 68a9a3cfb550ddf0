/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LENGTH_SORT_H
#define TM_LENGTH_SORT_H

#include <stddef.h>
#include <stdint.h>

/* A length in a word: from the highest bit on the number of its group, the length, and how often it
 * was seen, less one. */
enum { TM_LENGTH_GROUP_BITS = 16, TM_LENGTH_VALUE_BITS = 40, TM_LENGTH_COUNT_BITS = 8 };

static inline uint64_t tm_length_word(uint32_t group, uint64_t value, uint64_t count)
{
    return ((uint64_t)group << TM_LENGTH_VALUE_BITS | value) << TM_LENGTH_COUNT_BITS | (count - 1);
}

/* Group and length: what words are sorted by. */
static inline uint64_t tm_length_word_key(uint64_t word)
{
    return word >> TM_LENGTH_COUNT_BITS;
}

static inline uint64_t tm_length_word_count(uint64_t word)
{
    return (word & ((UINT64_C(1) << TM_LENGTH_COUNT_BITS) - 1)) + 1;
}

/* Sort words by their keys and fold those of the same key into one, or more where it was seen more
 * often than one can tell.  Linear: whatever the numbers are. in:     scratch  room for
 * scratch_count words: any number, a cache near the processor full of them is best out:    how many
 * are left, at the front of `words` */
size_t tm_lengths_sort(uint64_t *words, size_t count, uint64_t *scratch, size_t scratch_count);

#endif
