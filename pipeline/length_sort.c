/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are dealt out by bytes of their 128-bit key.  First by the highest byte that differs, into buckets; then each
 * bucket, which mostly fits into a cache near the processor, by all bytes that differ in it, from the lowest on.  Each
 * dealing keeps the order of the one before. */
#include "pipeline/length_sort.h"

#include <string.h>

enum { KEY_BYTES = 16, VALUES = 256, FEW_ROWS = 48 };

/* The bits in which the keys of some rows differ. */
struct difference {
    uint64_t group, value;
};

static struct difference find_difference(const struct tm_length *rows, size_t count)
{
    struct difference all = { 0, 0 };

    for (size_t i = 1; i < count; i++) {
        all.group |= rows[i].group ^ rows[0].group;
        all.value |= rows[i].value ^ rows[0].value;
    }
    return all;
}

/* Byte `which` of a key, 0 being the lowest of the value. */
static inline uint8_t byte_of(uint64_t group, uint64_t value, unsigned which)
{
    return (uint8_t)((which < 8 ? value : group) >> which % 8 * 8);
}

static inline bool goes_behind(const struct tm_length *a, const struct tm_length *b)
{
    return a->group != b->group ? a->group > b->group : a->value > b->value;
}

static void sort_few(struct tm_length *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct tm_length moved = rows[i];
        size_t at = i;

        for (; at > 0 && goes_behind(&rows[at - 1], &moved); at--)
            rows[at] = rows[at - 1];
        rows[at] = moved;
    }
}

/* Deal the rows out by one byte of their keys.  ends: of the part of each value of the byte. */
static void deal(const struct tm_length *from, struct tm_length *to, size_t count, unsigned which, size_t *ends)
{
    const size_t word = which < 8 ? offsetof(struct tm_length, value) : offsetof(struct tm_length, group);
    const uint8_t *bytes = (const uint8_t *)from + word;
    const unsigned shift = which % 8 * 8;
    size_t before = 0;

    memset(ends, 0, VALUES * sizeof(*ends));
    for (size_t i = 0; i < count; i++) {
        uint64_t key;

        memcpy(&key, bytes + i * sizeof(*from), sizeof(key));
        ends[key >> shift & 0xff]++;
    }
    for (size_t i = 0; i < VALUES; i++) {
        const size_t own = ends[i];

        ends[i] = before;
        before += own;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t key;

        memcpy(&key, bytes + i * sizeof(*from), sizeof(key));
        to[ends[key >> shift & 0xff]++] = from[i];
    }
}

/* Sort the rows of `from` into `to`; both are written to. */
static void sort_bucket(struct tm_length *from, struct tm_length *to, size_t count)
{
    const struct difference all = count > FEW_ROWS ? find_difference(from, count) : (struct difference){ 0, 0 };
    struct tm_length *at = from, *other = to;
    size_t ends[VALUES];

    for (unsigned which = 0; which < KEY_BYTES; which++) {
        if (!byte_of(all.group, all.value, which))
            continue;
        deal(at, other, count, which, ends);
        struct tm_length *const dealt = other;

        other = at;
        at = dealt;
    }
    if (at != to)
        memcpy(to, at, count * sizeof(*to));
    if (count <= FEW_ROWS)
        sort_few(to, count);
}

static size_t fold_equal(struct tm_length *rows, size_t count)
{
    size_t last = 0;

    for (size_t i = 1; i < count; i++) {
        if (rows[i].value == rows[last].value && rows[i].group == rows[last].group)
            rows[last].count += rows[i].count;
        else
            rows[++last] = rows[i];
    }
    return count ? last + 1 : 0;
}

size_t tm_lengths_sort(struct tm_length *rows, struct tm_length *scratch, size_t count)
{
    const struct difference all = find_difference(rows, count);
    unsigned which = KEY_BYTES;
    size_t ends[VALUES], begin = 0;

    while (which > 0 && !byte_of(all.group, all.value, which - 1))
        which--;
    if (which == 0)
        return fold_equal(rows, count);
    deal(rows, scratch, count, which - 1, ends);
    for (size_t i = 0; i < VALUES; i++) {
        sort_bucket(scratch + begin, rows + begin, ends[i] - begin);
        begin = ends[i];
    }
    return fold_equal(rows, count);
}
