/* SPDX-License-Identifier: Apache-2.0 */
/* Busy time over time.  See busy_bins.h. */
#include "stages/diagnose/time/busy_bins.h"

/* Number of the bin of a moment, counted from the one at 0: rounds down, below 0 too. */
static int64_t number_of(int64_t at_ps, int64_t bin_ps)
{
    return at_ps / bin_ps - (at_ps % bin_ps < 0);
}

static uint64_t count_of(int64_t begin_ps, int64_t end_ps, int64_t bin_ps)
{
    return end_ps > begin_ps
               ? (uint64_t)number_of(end_ps - 1, bin_ps) - (uint64_t)number_of(begin_ps, bin_ps) + 1
               : 0;
}

/* By how much a round width grows to the next one that it divides: 1 to 2, 2 to 10, 5 to 10. */
static int growth_of(int64_t bin_ps)
{
    while (bin_ps % 10 == 0)
        bin_ps /= 10;
    return bin_ps == 2 ? 5 : 2;
}

/* The round width after this one: 1, 2, 5, 10. */
static int64_t wider(int64_t bin_ps)
{
    int64_t first = bin_ps;

    while (first % 10 == 0)
        first /= 10;
    return first == 2 ? bin_ps / 2 * 5 : bin_ps * 2;
}

void tm_busy_bins_init(struct tm_busy_bins *bins, int64_t begin_ps, int64_t end_ps)
{
    *bins = (struct tm_busy_bins){ .begin_ps = begin_ps, .end_ps = end_ps, .bin_ps = 1 };
    while (count_of(begin_ps, end_ps, bins->bin_ps) > TM_BUSY_BINS_MOST)
        bins->bin_ps = wider(bins->bin_ps);
    bins->count = (uint32_t)count_of(begin_ps, end_ps, bins->bin_ps);
}

static void find_bin(struct tm_busy_bins *bins, int64_t at_ps)
{
    const int64_t number = number_of(at_ps, bins->bin_ps);

    bins->last = (uint32_t)(number - number_of(bins->begin_ps, bins->bin_ps));
    /* The multiples below the first moment that can be told, and above the last one, are not told either. */
    if (__builtin_mul_overflow(number, bins->bin_ps, &bins->last_begin_ps))
        bins->last_begin_ps = INT64_MIN;
    if (__builtin_mul_overflow(number + 1, bins->bin_ps, &bins->last_end_ps))
        bins->last_end_ps = INT64_MAX;
}

void tm_busy_bins_add(struct tm_busy_bins *bins, int64_t begin_ps, int64_t end_ps, int sign)
{
    begin_ps = begin_ps > bins->begin_ps ? begin_ps : bins->begin_ps;
    end_ps = end_ps < bins->end_ps ? end_ps : bins->end_ps;
    while (begin_ps < end_ps) {
        int64_t part_ps;

        if (begin_ps < bins->last_begin_ps || begin_ps >= bins->last_end_ps)
            find_bin(bins, begin_ps);
        part_ps = (end_ps < bins->last_end_ps ? end_ps : bins->last_end_ps) - begin_ps;
        bins->busy_ps[bins->last] += sign < 0 ? -part_ps : part_ps;
        begin_ps += part_ps;
    }
}

void tm_busy_bins_merge(struct tm_busy_bins *bins, uint32_t most)
{
    bins->last_begin_ps = bins->last_end_ps = 0;
    while (bins->count > most && bins->count > 3 && bins->bin_ps <= INT64_MAX / 5) {
        const int factor = growth_of(bins->bin_ps);
        const int64_t first = number_of(bins->begin_ps, bins->bin_ps);
        const int64_t wide_first = number_of(first, factor);

        for (uint32_t i = 0; i < bins->count; i++) {
            const int64_t part_ps = bins->busy_ps[i];

            bins->busy_ps[i] = 0;
            bins->busy_ps[number_of(first + i, factor) - wide_first] += part_ps;
        }
        bins->bin_ps *= factor;
        bins->count = (uint32_t)count_of(bins->begin_ps, bins->end_ps, bins->bin_ps);
    }
}
