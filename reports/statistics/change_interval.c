/* SPDX-License-Identifier: Apache-2.0 */
/* Percentile bootstrap (Efron 1979): both samples are drawn anew with replacement, and the
 * quantiles of the changes of their medians are the interval.  The generator starts from a fixed seed. */
#include "reports/statistics/tests.h"

#include <math.h>

#include "reports/statistics/draw.h"

static void draw_anew(struct tm_sample from, double *to, uint64_t *state)
{
    for (size_t i = 0; i < from.count; i++)
        to[i] = from.value[tm_draw_below(state, from.count)];
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
        const double before = tm_sample_select_median(drawn_a, a.count);

        if (!(before > 0))
            return unknown; /* no percentage of it */
        change[i] = 100 * (tm_sample_select_median(drawn_b, b.count) / before - 1);
    }
    tm_sample_sort(change, TM_RESAMPLES);
    const struct tm_sample changes = { change, TM_RESAMPLES };

    return (struct tm_interval){ tm_sample_quantile(changes, (1 - level) / 2),
                                 tm_sample_quantile(changes, (1 + level) / 2) };
}
