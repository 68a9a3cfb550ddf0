/* SPDX-License-Identifier: Apache-2.0 */
/* Words are dealt out by bytes of their keys.  First by the highest byte that differs, into
 * buckets, where they lie; then each bucket, which mostly fits into a cache near the processor, by
 * all bytes that differ in it, from the lowest on, to the scratch words and back.  Each of these
 * dealings keeps the order of the one before. */
#include "pipeline/length_sort.h"

#include <string.h>

enum {
    FIRST_BYTE = TM_LENGTH_COUNT_BITS / 8, /* of a key; those below count */
    WORD_BYTES = 8,
    VALUES = 256,
    FEW_WORDS = 48
};

/* The bits in which some words differ. */
static uint64_t find_difference(const uint64_t *words, size_t count)
{
    uint64_t all = 0;

    for (size_t i = 1; i < count; i++)
        all |= words[i] ^ words[0];
    return all;
}

/* Byte `which` of a word, 0 being the lowest. */
static inline uint8_t byte_of(uint64_t word, unsigned which)
{
    return (uint8_t)(word >> which * 8);
}

static void sort_few(uint64_t *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const uint64_t moved = words[i];
        size_t at = i;

        for (; at > 0 && words[at - 1] > moved; at--)
            words[at] = words[at - 1];
        words[at] = moved;
    }
}

/* out: begins, ends  of the part of each value of a byte of the keys, VALUES of them */
static void find_parts(const uint64_t *words, size_t count, unsigned which, size_t *begins,
                       size_t *ends)
{
    size_t before = 0;

    memset(ends, 0, VALUES * sizeof(*ends));
    for (size_t i = 0; i < count; i++)
        ends[byte_of(words[i], which)]++;
    for (size_t i = 0; i < VALUES; i++) {
        begins[i] = before;
        before += ends[i];
        ends[i] = before;
    }
}

/* Deal the words out by one byte of their keys. */
static void deal(const uint64_t *from, uint64_t *to, size_t count, unsigned which)
{
    size_t places[VALUES], ends[VALUES];

    find_parts(from, count, which, places, ends);
    for (size_t i = 0; i < count; i++)
        to[places[byte_of(from[i], which)]++] = from[i];
}

/* The same where they lie.  Each step puts one word where it belongs and takes what lay there in
 * exchange, which is left for the next round, so that steps do not wait for each other.  A round
 * places at least half of what is left. out: ends  of the parts */
static void deal_in_place(uint64_t *words, size_t count, unsigned which, size_t *ends)
{
    size_t places[VALUES], left = count;

    find_parts(words, count, which, places, ends);
    while (left) {
        for (unsigned part = 0; part < VALUES; part++) {
            const size_t begin = places[part], end = ends[part];

            for (size_t i = begin; i < end; i++) {
                uint64_t *const place = &words[places[byte_of(words[i], which)]++];
                const uint64_t word = words[i];

                words[i] = *place;
                *place = word;
            }
            left -= end - begin;
        }
    }
}

/* Sort words of which as many fit into the scratch words. */
static void sort_bucket(uint64_t *words, uint64_t *scratch, size_t count)
{
    uint64_t *at = words, *other = scratch;

    if (count <= FEW_WORDS) {
        sort_few(words, count);
        return;
    }
    const uint64_t all = find_difference(words, count);

    for (unsigned which = FIRST_BYTE; which < WORD_BYTES; which++) {
        if (!byte_of(all, which))
            continue;
        deal(at, other, count, which);
        uint64_t *const dealt = other;

        other = at;
        at = dealt;
    }
    if (at != words)
        memcpy(words, at, count * sizeof(*words));
}

/* Deal the words out by the highest byte that differs, and sort the parts.  Parts that do not fit
 * into the scratch words are dealt out in the same way by a lower byte: at the most WORD_BYTES
 * calls lie one inside the other. */
static void sort_parts(uint64_t *words, size_t count, uint64_t *scratch, size_t scratch_count)
{
    const uint64_t all = find_difference(words, count);
    unsigned which = WORD_BYTES;
    size_t ends[VALUES], begin = 0;

    while (which > FIRST_BYTE && !byte_of(all, which - 1))
        which--;
    if (which == FIRST_BYTE)
        return;
    deal_in_place(words, count, which - 1, ends);
    for (size_t i = 0; i < VALUES; i++) {
        const size_t own = ends[i] - begin;

        if (own > FEW_WORDS && own > scratch_count)
            sort_parts(words + begin, own, scratch, scratch_count);
        else
            sort_bucket(words + begin, scratch, own);
        begin = ends[i];
    }
}

/* What is written never passes what is read: a word that is full stands for one word at least. */
static size_t fold_equal(uint64_t *words, size_t count)
{
    const uint64_t full = tm_length_word_count(UINT64_MAX);
    size_t left = 0;

    for (size_t i = 0; i < count;) {
        const uint64_t key = tm_length_word_key(words[i]);
        uint64_t seen = 0;

        if (i + 1 == count || tm_length_word_key(words[i + 1]) != key) {
            words[left++] = words[i++];
            continue;
        }
        for (; i < count && tm_length_word_key(words[i]) == key; i++)
            seen += tm_length_word_count(words[i]);
        for (; seen > full; seen -= full)
            words[left++] = key << TM_LENGTH_COUNT_BITS | (full - 1);
        words[left++] = key << TM_LENGTH_COUNT_BITS | (seen - 1);
    }
    return left;
}

size_t tm_lengths_sort(uint64_t *words, size_t count, uint64_t *scratch, size_t scratch_count)
{
    sort_parts(words, count, scratch, scratch_count);
    return fold_equal(words, count);
}
