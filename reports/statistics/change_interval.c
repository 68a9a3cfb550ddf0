/* SPDX-License-Identifier: Apache-2.0 */
/* Percentile bootstrap (Efron 1979): both samples are drawn anew with replacement, and the
 * quantiles of the changes of their medians or means are the interval.  The generator starts from a
 * fixed seed.  Of values that are not independent as many are drawn as they are worth (m out of n). */
#include "reports/statistics/tests.h"

#include <math.h>

#include "reports/statistics/draw.h"

static void draw_anew(struct tm_sample from, double *to, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from.value[tm_draw_below(state, from.count)];
}

static size_t drawn_of(struct tm_sample from, double share)
{
    const double count = floor(share * (double)from.count);

    return count >= (double)from.count ? from.count : count < 1 ? 1 : (size_t)count;
}

static double middle_of(double *value, size_t count, enum tm_middle middle)
{
    return middle == TM_MIDDLE_MEAN ? tm_sample_moments((struct tm_sample){ value, count }).mean
                                    : tm_sample_select_median(value, count);
}

static bool has_nan(struct tm_sample sample)
{
    for (size_t i = 0; i < sample.count; i++) {
        if (isnan(sample.value[i]))
            return true;
    }
    return false;
}

struct tm_interval tm_change_interval(struct tm_sample a, struct tm_sample b, enum tm_middle middle,
                                      double share, double level, double *scratch)
{
    const struct tm_interval unknown = { NAN, NAN };
    double *const change = scratch, *const drawn_a = change + TM_RESAMPLES,
                  *const drawn_b = drawn_a + a.count;
    const size_t count_a = drawn_of(a, share), count_b = drawn_of(b, share);
    uint64_t state = 1;

    if (a.count == 0 || b.count == 0 || !(level > 0 && level < 1) || has_nan(a) || has_nan(b))
        return unknown;
    for (int i = 0; i < TM_RESAMPLES; i++) {
        draw_anew(a, drawn_a, count_a, &state);
        draw_anew(b, drawn_b, count_b, &state);
        const double before = middle_of(drawn_a, count_a, middle);

        if (!(before > 0))
            return unknown; /* no percentage of it */
        change[i] = 100 * (middle_of(drawn_b, count_b, middle) / before - 1);
    }
    tm_sample_sort(change, TM_RESAMPLES);
    const struct tm_sample changes = { change, TM_RESAMPLES };

    return (struct tm_interval){ tm_sample_quantile(changes, (1 - level) / 2),
                                 tm_sample_quantile(changes, (1 + level) / 2) };
}

struct tm_interval tm_median_change_interval(struct tm_sample a, struct tm_sample b, double level,
                                             double *scratch)
{
    return tm_change_interval(a, b, TM_MIDDLE_MEDIAN, 1, level, scratch);
}
