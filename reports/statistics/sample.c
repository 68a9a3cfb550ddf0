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

double tm_sample_select_median(double *value, size_t count)
{
    const double upper = select_place(value, count, count / 2);
    double lower = value[0];

    if (count % 2 == 1)
        return upper;
    for (size_t i = 1; i < count / 2; i++)
        lower = value[i] > lower ? value[i] : lower;
    return lower + (upper - lower) / 2;
}
