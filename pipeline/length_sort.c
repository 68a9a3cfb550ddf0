/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are dealt out by bytes of their 128-bit key.  First by the highest byte that differs, into buckets, where they
 * lie; then each bucket, which mostly fits into a cache near the processor, by all bytes that differ in it, from the
 * lowest on, to the scratch rows and back.  Each of these dealings keeps the order of the one before. */
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

static inline uint8_t byte_of_row(const struct tm_length *row, unsigned which)
{
    return byte_of(row->group, row->value, which);
}

/* out: begins, ends  of the part of each value of a byte of the keys, VALUES of them */
static void find_parts(const struct tm_length *rows, size_t count, unsigned which, size_t *begins, size_t *ends)
{
    size_t before = 0;

    memset(ends, 0, VALUES * sizeof(*ends));
    for (size_t i = 0; i < count; i++)
        ends[byte_of_row(&rows[i], which)]++;
    for (size_t i = 0; i < VALUES; i++) {
        begins[i] = before;
        before += ends[i];
        ends[i] = before;
    }
}

/* Deal the rows out by one byte of their keys. */
static void deal(const struct tm_length *from, struct tm_length *to, size_t count, unsigned which)
{
    size_t places[VALUES], ends[VALUES];

    find_parts(from, count, which, places, ends);
    for (size_t i = 0; i < count; i++)
        to[places[byte_of_row(&from[i], which)]++] = from[i];
}

/* The same where they lie.  Each step puts one row where it belongs and takes what lay there in exchange, which is left
 * for the next round, so that steps do not wait for each other.  A round places at least half of what is left.
 * out: ends  of the parts */
static void deal_in_place(struct tm_length *rows, size_t count, unsigned which, size_t *ends)
{
    size_t places[VALUES], left = count;

    find_parts(rows, count, which, places, ends);
    while (left) {
        for (unsigned part = 0; part < VALUES; part++) {
            const size_t begin = places[part], end = ends[part];

            for (size_t i = begin; i < end; i++) {
                struct tm_length *const place = &rows[places[byte_of_row(&rows[i], which)]++];
                const struct tm_length row = rows[i];

                rows[i] = *place;
                *place = row;
            }
            left -= end - begin;
        }
    }
}

/* Sort rows of which as many fit into the scratch rows. */
static void sort_bucket(struct tm_length *rows, struct tm_length *scratch, size_t count)
{
    struct tm_length *at = rows, *other = scratch;

    if (count <= FEW_ROWS) {
        sort_few(rows, count);
        return;
    }
    const struct difference all = find_difference(rows, count);

    for (unsigned which = 0; which < KEY_BYTES; which++) {
        if (!byte_of(all.group, all.value, which))
            continue;
        deal(at, other, count, which);
        struct tm_length *const dealt = other;

        other = at;
        at = dealt;
    }
    if (at != rows)
        memcpy(rows, at, count * sizeof(*rows));
}

/* Deal the rows out by the highest byte that differs, and sort the parts.  Parts that do not fit into the scratch rows
 * are dealt out in the same way by a lower byte: at the most KEY_BYTES calls lie one inside the other. */
static void sort_parts(struct tm_length *rows, size_t count, struct tm_length *scratch, size_t scratch_count)
{
    const struct difference all = find_difference(rows, count);
    unsigned which = KEY_BYTES;
    size_t ends[VALUES], begin = 0;

    while (which > 0 && !byte_of(all.group, all.value, which - 1))
        which--;
    if (which == 0)
        return;
    deal_in_place(rows, count, which - 1, ends);
    for (size_t i = 0; i < VALUES; i++) {
        const size_t own = ends[i] - begin;

        if (own > FEW_ROWS && own > scratch_count)
            sort_parts(rows + begin, own, scratch, scratch_count);
        else
            sort_bucket(rows + begin, scratch, own);
        begin = ends[i];
    }
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

size_t tm_lengths_sort(struct tm_length *rows, size_t count, struct tm_length *scratch, size_t scratch_count)
{
    sort_parts(rows, count, scratch, scratch_count);
    return fold_equal(rows, count);
}
