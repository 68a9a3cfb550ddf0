/* SPDX-License-Identifier: Apache-2.0 */
/* The noise of a figure, from many series: a short one says little about its own.  In a series with the correlation r of
 * neighbors (AR(1)), squares of the differences of neighbors have the mean 2 s (1 - r), and of every other value
 * 2 s (1 - r^2), so their ratio is 1 + r.  Differences depend on no level, and a step changes few of them: the largest
 * one is left out.
 *
 * How much series differ is their spread less that of the estimates, by moments; for variances as in Smyth (2004),
 * "Linear models and empirical Bayes methods for assessing differential expression". */
#include <math.h>
#include <string.h>

#include "reports/statistics/statistics.h"

static const double clip = 3.5, to_deviation = 1.4826, alike_most = 0.95, freedom_most = 30 /* values */,
                    differ_least = 0.05 /* of correlations: a standard deviation */,
                    ratio_error = 1.42 /* of a ratio, times the square root of the number of values */,
                    freedom_share = 0.75 /* degrees of freedom of a mean square, per value */,
                    largest_share = 5 /* of the squares is in the largest difference, times the number of values */,
                    outlier = 9 /* squared standard errors */;

/* The place of the largest difference of neighbors. */
static size_t largest_of(const double *value, size_t count)
{
    size_t at = 0;

    for (size_t i = 1; i + 1 < count; i++)
        if (fabs(value[i + 1] - value[i]) > fabs(value[at + 1] - value[at]))
            at = i;
    return at;
}

/* The mean square of the differences of values that are some places apart, without those across the largest difference
 * of neighbors, which may be a step. */
static double mean_square(const double *value, size_t count, size_t apart, size_t largest)
{
    double off[TM_NOISE_VALUES], size[TM_NOISE_VALUES], squares = 0, most;
    size_t there = 0;

    for (size_t i = 0; i + apart < count; i++)
        if (largest < i || largest >= i + apart)
            off[there++] = fabs(value[i + apart] - value[i]);
    memcpy(size, off, there * sizeof(*off));
    most = clip * to_deviation * tm_sample_select_median(size, there);
    for (size_t i = 0; i < there; i++)
        squares += fmin(off[i], most) * fmin(off[i], most);
    return squares / (double)there * (1 + largest_share / (double)count);
}

bool tm_series_noise_of(struct tm_sample series, struct tm_least_change least, struct tm_series_noise *noise)
{
    const size_t count = series.count < TM_NOISE_VALUES ? series.count : TM_NOISE_VALUES;
    const double *const value = series.value + series.count - count;
    double room[TM_NOISE_VALUES], unit;
    size_t largest;

    if (count < TM_NOISE_LEAST)
        return false;
    memcpy(room, value, count * sizeof(*value));
    largest = largest_of(value, count);
    unit = fmax(least.share * fabs(tm_sample_select_median(room, count)), least.amount);
    *noise = (struct tm_series_noise){ mean_square(value, count, 1, largest) / (unit * unit),
                                       mean_square(value, count, 2, largest) / (unit * unit), count };
    return isfinite(noise->near) && isfinite(noise->far) && noise->near > 0 && noise->far > 0;
}

/* The correlation that most series share: a ratio of sums, in which each series has the same weight per value. */
static double shared_ratio(const struct tm_series_noise *noise, size_t count)
{
    double near = 0, far = 0;

    for (size_t i = 0; i < count; i++) {
        const double weight = (double)noise[i].count / (noise[i].near + noise[i].far);

        near += weight * noise[i].near;
        far += weight * noise[i].far;
    }
    return far / near - 1;
}

/* The variance of correlations among series. */
static double differ_of(const struct tm_series_noise *noise, size_t count, double ratio)
{
    double sum = 0, weights = 0;

    for (size_t i = 0; i < count; i++) {
        const double n = (double)noise[i].count, one = ratio_error * (1 + ratio / 2), error = one * one / n;
        const double off = noise[i].far / noise[i].near - 1 - ratio;

        sum += n * (fmin(off * off, outlier * error) - error);
        weights += n;
    }
    return fmax(sum / weights, differ_least * differ_least);
}

struct tm_shared_noise tm_shared_noise_of(const struct tm_series_noise *noise, size_t count, double *scratch)
{
    struct tm_shared_noise prior = { .freedom = 0 };
    double ratio, middle, spread, expected = 0;

    if (count < TM_NOISE_SERIES)
        return prior;
    ratio = shared_ratio(noise, count);
    prior.alike = fmax(0, fmin(alike_most, ratio));
    prior.alike_variance = differ_of(noise, count, ratio);
    for (size_t i = 0; i < count; i++) {
        scratch[i] = log(noise[i].near);
        expected += 2 / (freedom_share * (double)noise[i].count * (double)count); /* variance of such a logarithm */
    }
    middle = tm_sample_select_median(scratch, count);
    for (size_t i = 0; i < count; i++)
        scratch[i] = fabs(log(noise[i].near) - middle);
    spread = to_deviation * tm_sample_select_median(scratch, count);
    prior.variance = exp(middle) * (1 + prior.alike) / 2;
    prior.freedom = fmin(freedom_most, 1 + 2 / fmax(spread * spread - expected, 1 / freedom_most));
    return prior;
}
