/* SPDX-License-Identifier: Apache-2.0 */
/* Mean and spread in two passes, quantiles by interpolation, the geometric mean. */
#include "reports/statistics/sample.h"

#include <math.h>
#include <stdlib.h>

struct tm_moments tm_sample_moments(struct tm_sample sample)
{
    struct tm_moments of = { NAN, NAN, NAN };
    double sum = 0, squares = 0;

    if (sample.count == 0)
        return of;
    for (size_t i = 0; i < sample.count; i++)
        sum += sample.value[i];
    of.mean = sum / (double)sample.count;
    if (sample.count == 1)
        return of;
    for (size_t i = 0; i < sample.count; i++) {
        const double off = sample.value[i] - of.mean;

        squares += off * off;
    }
    of.stddev = sqrt(squares / (double)(sample.count - 1));
    of.cv_pct = of.mean == 0 ? NAN : 100 * of.stddev / of.mean;
    return of;
}

double tm_sample_quantile(struct tm_sample sorted, double p)
{
    if (sorted.count == 0 || !(p >= 0 && p <= 1))
        return NAN;
    const double place = p * (double)(sorted.count - 1), whole = floor(place);
    const size_t at = (size_t)whole;

    if (place == whole)
        return sorted.value[at];
    return sorted.value[at] + (place - whole) * (sorted.value[at + 1] - sorted.value[at]);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    if (isnan(x) || isnan(y))
        return !!isnan(x) - !!isnan(y);
    return (x > y) - (x < y);
}

void tm_sample_sort(double *value, size_t count)
{
    if (count > 1)
        qsort(value, count, sizeof(*value), ascending);
}

double tm_sample_geomean(struct tm_sample sample)
{
    double sum = 0;

    for (size_t i = 0; i < sample.count; i++) {
        if (!(sample.value[i] > 0))
            return NAN;
        sum += log(sample.value[i]);
    }
    return sample.count == 0 ? NAN : exp(sum / (double)sample.count);
}
