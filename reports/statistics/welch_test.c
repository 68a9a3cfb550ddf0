/* SPDX-License-Identifier: Apache-2.0 */
/* Welch (1947): the difference of two means over its standard error, with the degrees of freedom of
 * Satterthwaite. */
#include "reports/statistics/tests.h"

#include <math.h>

double tm_welch_test(struct tm_summed a, struct tm_summed b)
{
    if (!(a.count >= 2) || !(b.count >= 2) || !(a.stddev >= 0) || !(b.stddev >= 0))
        return NAN;
    const double a_part = a.stddev * a.stddev / a.count, b_part = b.stddev * b.stddev / b.count;
    const double both = a_part + b_part, difference = a.mean - b.mean;

    if (isnan(difference) || isinf(both))
        return NAN;
    if (both == 0)
        return difference == 0 ? 1 : 0;
    /* By shares: the squares of small variances would vanish. */
    const double a_share = a_part / both, b_share = b_part / both;

    return tm_student_two_sided(difference / sqrt(both), 1 / (a_share * a_share / (a.count - 1) +
                                                              b_share * b_share / (b.count - 1)));
}

static struct tm_summed summed(struct tm_sample sample)
{
    const struct tm_moments moments = tm_sample_moments(sample);

    return (struct tm_summed){ moments.mean, moments.stddev, (double)sample.count };
}

double tm_welch_sample_test(struct tm_sample a, struct tm_sample b)
{
    return tm_welch_test(summed(a), summed(b));
}
