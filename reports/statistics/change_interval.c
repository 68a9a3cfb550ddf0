/* SPDX-License-Identifier: Apache-2.0 */
/* Percentile bootstrap (Efron 1979): both samples are drawn anew with replacement, and the
 * quantiles of the changes of their medians are the interval.  The generator is SplitMix64 (Steele,
 * Lea and Flood 2014) from a fixed seed. */
#include "reports/statistics/tests.h"

#include <math.h>
#include <stdint.h>

static uint64_t next_number(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void draw_anew(struct tm_sample from, double *to, uint64_t *state)
{
    for (size_t i = 0; i < from.count; i++)
        to[i] = from.value[(next_number(state) >> 32) * from.count >> 32];
}

static void swap(double *a, double *b)
{
    const double kept = *a;

    *a = *b;
    *b = kept;
}

/* Cut [first, last] in two, no value of the first part larger than one of the second (Hoare 1961).
 * out: the last place of the first part; there is a second one */
static size_t divide(double *value, size_t first, size_t last)
{
    const double pivot = value[first + (last - first) / 2];
    size_t up = first, down = last;

    for (;;) {
        while (value[up] < pivot)
            up++;
        while (value[down] > pivot)
            down--;
        if (up >= down)
            return down;
        swap(&value[up++], &value[down--]);
    }
}

/* Put the value there that belongs there in order; none before it is larger.  in: no NaN */
static double select_place(double *value, size_t count, size_t place)
{
    size_t first = 0, last = count - 1;

    while (first < last) {
        const size_t middle = divide(value, first, last);

        if (place <= middle)
            last = middle;
        else
            first = middle + 1;
    }
    return value[place];
}

static double median(double *value, size_t count)
{
    const double upper = select_place(value, count, count / 2);
    double lower = value[0];

    if (count % 2 == 1)
        return upper;
    for (size_t i = 1; i < count / 2; i++)
        lower = value[i] > lower ? value[i] : lower;
    return lower + (upper - lower) / 2;
}

static bool has_nan(struct tm_sample sample)
{
    for (size_t i = 0; i < sample.count; i++) {
        if (isnan(sample.value[i]))
            return true;
    }
    return false;
}

struct tm_interval tm_median_change_interval(struct tm_sample a, struct tm_sample b, double level,
                                             double *scratch)
{
    const struct tm_interval unknown = { NAN, NAN };
    double *const change = scratch, *const drawn_a = change + TM_RESAMPLES,
                  *const drawn_b = drawn_a + a.count;
    uint64_t state = 1;

    if (a.count == 0 || b.count == 0 || !(level > 0 && level < 1) || has_nan(a) || has_nan(b))
        return unknown;
    for (int i = 0; i < TM_RESAMPLES; i++) {
        draw_anew(a, drawn_a, &state);
        draw_anew(b, drawn_b, &state);
        const double before = median(drawn_a, a.count);

        if (!(before > 0))
            return unknown; /* no percentage of it */
        change[i] = 100 * (median(drawn_b, b.count) / before - 1);
    }
    tm_sample_sort(change, TM_RESAMPLES);
    const struct tm_sample changes = { change, TM_RESAMPLES };

    return (struct tm_interval){ tm_sample_quantile(changes, (1 - level) / 2),
                                 tm_sample_quantile(changes, (1 + level) / 2) };
}
