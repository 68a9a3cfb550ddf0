/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NOISE_H
#define TM_NOISE_H

#include "reports/compare/compare.h"

/* Is a change more than noise?  Of the step time by the steps of both sides (ranks, permutations), of any
 * figure by the spread of three baselines or more: the value against their t interval for one more
 * run (docs/gates.md). */
enum { TM_NOISE_SAMPLES_LEAST = 6, TM_NOISE_BASELINES_LEAST = 3 };
extern const double tm_noise_level; /* p below it is a change */

struct tm_noise {
    double p;         /* the larger one of both tests; NaN = none was made */
    double noise_pct; /* a smaller change is within noise; NaN = not known */
};

/* The steps of the input and of all baselines, tested once for all gates: the median and the mean, as in comparisons
 * (statistics/change_test.c).  One value for each step number, not for each host.
 * in:     input, baseline  summaries
 * out:    steps, base_steps  how many there are; effective  how many independent ones the fewer of them are worth
 * errors: TM_ERR_LIMIT when memory ends */
struct tm_step_test {
    struct tm_noise median, mean;
    size_t steps, base_steps;
    double effective;
    const char *refused; /* why they cannot be compared at all; NULL = they can */
};
tm_status tm_step_test(struct tm_run *run, struct tm_step_test *test, const struct tm_value *input,
                       const struct tm_comparison_side *baseline) TM_MUST_USE;

/* The value against those of the baselines.  in: base  in any order */
struct tm_noise tm_spread_test(double value, const double *base, size_t count);

/* The test that the change has to pass. */
struct tm_noise tm_stricter(struct tm_noise a, struct tm_noise b);

#endif
