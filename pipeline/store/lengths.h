/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LENGTHS_H
#define TM_LENGTHS_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline/store/groups.h"

/* How often each number occurred, by group: the source of exact quantiles.  Most numbers differ, so they are only
 * appended, 8 bytes each, and sorted and counted when the memory is full and at the end.  This covers numbers of 40
 * bits, a second of picoseconds, and up to 65,536 groups; everything beyond that is counted in a table. */
struct tm_lengths;

struct tm_length {
    uint64_t group, value;
    uint64_t count;
};

/* errors: NULL, with the error in run->error */
struct tm_lengths *tm_lengths_new(struct tm_run *run, enum tm_account account, size_t memory_bytes) TM_MUST_USE;
void tm_lengths_free(struct tm_lengths *lengths);

/* A place caches what is known about a group, for callers that keep one.  0 = nothing yet.
 * A place may be lost at any time; then the group is looked up again. */
typedef uint64_t tm_length_place;
#define TM_LENGTH_NOWHERE UINT64_MAX /* no place of any group */

/* Failures are remembered in run->error, and what follows one does nothing: check tm_failed once, at the end. */
/* in: count  at least 1 */
void tm_lengths_add(struct tm_lengths *lengths, uint64_t group, uint64_t value, uint64_t count);
/* One number of a group with its place. */
void tm_lengths_add_at(struct tm_lengths *lengths, tm_length_place *place, uint64_t group, uint64_t value);
/* No more numbers.  Once finished, finishing again starts with the first one again. */
void tm_lengths_finish(struct tm_lengths *lengths);
/* The same for those who only ask for ranks, which takes half as long: the words of a span are in no order, and
 * tm_lengths_next may not be called. */
void tm_lengths_finish_spans(struct tm_lengths *lengths);

/* The next in the order (group, value), each once; valid until the next call; NULL at the end, and after a failure. */
const struct tm_length *tm_lengths_next(struct tm_lengths *lengths);

/* Lengths of one group, in order, and before those of the next span; the same value may occur several times. */
struct tm_length_span {
    uint64_t group;
    uint64_t *words; /* tm_length_word; NULL = there is one, which does not fit in a word: */
    size_t count;
    struct tm_length one;
};

/* In place of tm_lengths_next: as many of a group as are in memory.  out: false at the end, and after a failure */
bool tm_lengths_next_span(struct tm_lengths *lengths, struct tm_length_span *span);

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

static inline uint64_t tm_length_word_value(uint64_t word)
{
    return tm_length_word_key(word) & ((UINT64_C(1) << TM_LENGTH_VALUE_BITS) - 1);
}

static inline uint64_t tm_length_word_count(uint64_t word)
{
    return (word & ((UINT64_C(1) << TM_LENGTH_COUNT_BITS) - 1)) + 1;
}

static inline uint64_t tm_length_span_value(const struct tm_length_span *span, size_t at)
{
    return span->words ? tm_length_word_value(span->words[at]) : span->one.value;
}

static inline uint64_t tm_length_span_count(const struct tm_length_span *span, size_t at)
{
    return span->words ? tm_length_word_count(span->words[at]) : span->one.count;
}

/* How many lengths there are, with those that are the same. */
static inline uint64_t tm_length_span_total(const struct tm_length_span *span)
{
    uint64_t total = span->words ? 0 : span->one.count;

    for (size_t i = 0; span->words && i < span->count; i++)
        total += tm_length_word_count(span->words[i]);
    return total;
}

/* The value of a word at a rank, from 0 on and below their total, in their order by value.  Linear; the words may have
 * another order then. */
uint64_t tm_length_word_at_rank(uint64_t *words, size_t count, uint64_t rank);

static inline uint64_t tm_length_span_at_rank(struct tm_length_span *span, uint64_t rank)
{
    return span->words ? tm_length_word_at_rank(span->words, span->count, rank) : span->one.value;
}

/* Sort words by their keys and combine those of the same key into one, or more if the count overflows.  Linear for any
 * numbers.
 * in:     scratch  room for scratch_count words: any number, best as many as fit in a cache near the processor
 * out:    number of words left, at the front of `words` */
size_t tm_lengths_sort(uint64_t *words, size_t count, uint64_t *scratch, size_t scratch_count);

#endif
