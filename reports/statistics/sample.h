/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SAMPLE_H
#define TM_SAMPLE_H

#include <stddef.h>

/* Figures of a sample of numbers, in any order.  None of them changes it. */
struct tm_sample {
    const double *value;
    size_t count;
};

/* Any of them may be NaN where the sample is too small: a mean wants one value, a spread two. */
struct tm_moments {
    double mean, stddev /* with n - 1 */, cv_pct /* stddev / mean */;
};
struct tm_moments tm_sample_moments(struct tm_sample sample);

/* The p-quantile, 0 to 1, by linear interpolation between order statistics (type 7 of Hyndman and
 * Fan 1996, as in R and numpy).  in: sorted  ascending */
double tm_sample_quantile(struct tm_sample sorted, double p);
void tm_sample_sort(double *value, size_t count); /* ascending; NaN last */

/* The median, of values that may be put in another order: in time by their number.
 * in: count  1 or more; no NaN */
double tm_sample_select_median(double *value, size_t count);

/* exp(mean(log x)); NaN where a value is not positive, or there is none. */
double tm_sample_geomean(struct tm_sample sample);

#endif
