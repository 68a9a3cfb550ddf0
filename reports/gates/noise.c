/* SPDX-License-Identifier: Apache-2.0 */
/* The guard against false alarms.  Steps: the tests of comparisons, and the bootstrap interval of the change of the
 * median or the mean for how large a change had to be.  Runs: the prediction interval of one more run, mean +- t s
 * sqrt(1 + 1/n). */
#include "reports/gates/noise.h"

#include <math.h>

#include "reports/compare/step_samples.h"
#include "reports/statistics/sample.h"
#include "reports/statistics/tests.h"

const double tm_noise_level = 0.01;

static const char *refusal(const struct tm_value *input, const struct tm_comparison_side *baseline)
{
    for (size_t i = 0; i < baseline->runs; i++)
        if (!tm_are_steps_alike(input, baseline->run[i].summary))
            return TM_STEPS_NOT_ALIKE;
    return NULL;
}

/* The samples of all baselines, one run after the other. */
static tm_status join_steps(struct tm_compare_blocks *room, const struct tm_comparison_side *baseline, struct tm_sample *all)
{
    size_t most = 0;
    double *value;

    for (size_t i = 0; i < baseline->runs; i++)
        most += tm_step_samples_most(baseline->run[i].summary);
    value = tm_room_take(room, most + 1, sizeof(*value));
    if (!value)
        return TM_ERR_LIMIT;
    *all = (struct tm_sample){ value, 0 };
    for (size_t i = 0; i < baseline->runs; i++) {
        struct tm_sample of;
        const tm_status st = tm_step_samples(room, baseline->run[i].summary, &of);

        if (st != TM_OK)
            return st;
        for (size_t k = 0; k < of.count; k++)
            value[all->count++] = of.value[k];
    }
    return TM_OK;
}

static struct tm_noise noise_of(double p, struct tm_interval change)
{
    return (struct tm_noise){ p, (change.high - change.low) / 2 };
}

/* Compilations in steps are events, and what they add to the mean is no noise. */
static tm_status count_compiling(struct tm_compare_blocks *room, struct tm_step_test *test, const struct tm_value *input,
                                 const struct tm_comparison_side *baseline)
{
    struct tm_compiling_steps now, before;
    tm_status st = tm_count_compiling_steps(room, input, &now);

    for (size_t i = 0; i < baseline->runs && st == TM_OK; i++) {
        st = tm_count_compiling_steps(room, baseline->run[i].summary, &before);
        if (st != TM_OK || !tm_have_compiling_changed(&before, &now, TM_COMPILING_LEAST_PCT))
            return st;
    }
    test->mean.p = 0;
    return st;
}

static tm_status test_steps(struct tm_compare_blocks *room, struct tm_step_test *test, const struct tm_value *input,
                            const struct tm_comparison_side *baseline)
{
    struct tm_sample now, before, quiet_now, quiet_before;
    struct tm_change_test found;
    double *scratch;
    tm_status st = tm_step_samples(room, input, &now);

    if (st == TM_OK)
        st = join_steps(room, baseline, &before);
    if (st == TM_OK)
        st = tm_quiet_samples(room, input, &quiet_now);
    if (st == TM_OK) /* of one run: from one to the next there is a jump */
        st = tm_quiet_samples(room, baseline->run[0].summary, &quiet_before);
    if (st != TM_OK)
        return st;
    test->steps = now.count;
    test->base_steps = before.count;
    if (test->refused || now.count < TM_NOISE_SAMPLES_LEAST || before.count < TM_NOISE_SAMPLES_LEAST)
        return TM_OK;
    scratch = tm_room_take(room, now.count + before.count + TM_RESAMPLES, sizeof(*scratch));
    if (!scratch)
        return TM_ERR_LIMIT;
    found = tm_change_test(before, now, tm_pooled_lag1(quiet_before, quiet_now), tm_noise_level);
    test->effective = fmin(found.effective_a, found.effective_b);
    if (!found.is_enough) { /* what is not sure all the same is not tested */
        found.p_median = found.p_median < found.level ? found.p_median : NAN;
        found.p_mean = found.p_mean < found.level ? found.p_mean : NAN;
    }
    test->median = noise_of(found.p_median, tm_change_interval(before, now, TM_MIDDLE_MEDIAN, found.share,
                                                               1 - tm_noise_level, scratch));
    test->mean = noise_of(found.p_mean, tm_change_interval(before, now, TM_MIDDLE_MEAN, found.share,
                                                           1 - tm_noise_level, scratch));
    return count_compiling(room, test, input, baseline);
}

tm_status tm_step_test(struct tm_run *run, struct tm_step_test *test, const struct tm_value *input,
                       const struct tm_comparison_side *baseline)
{
    struct tm_compare_blocks room = { .run = run };
    tm_status st;

    *test = (struct tm_step_test){ .median = { NAN, NAN }, .mean = { NAN, NAN }, .refused = refusal(input, baseline) };
    st = test_steps(&room, test, input, baseline);
    tm_room_free(&room);
    return st;
}

struct tm_noise tm_spread_test(double value, const double *base, size_t count)
{
    if (count < TM_NOISE_BASELINES_LEAST)
        return (struct tm_noise){ NAN, NAN };
    const struct tm_moments of = tm_sample_moments((struct tm_sample){ base, count });
    const double freedom = (double)count - 1, spread = of.stddev * sqrt(1 + 1 / (double)count);
    const double off = fabs(value - of.mean);

    return (struct tm_noise){
        spread > 0 ? tm_student_two_sided(off / spread, freedom)
        : off > 0  ? 0
                   : 1,
        of.mean == 0
            ? NAN
            : 100 * spread * tm_student_quantile(1 - tm_noise_level / 2, freedom) / fabs(of.mean)
    };
}

struct tm_noise tm_stricter(struct tm_noise a, struct tm_noise b)
{
    return (struct tm_noise){ fmax(a.p, b.p),
                              fmax(a.noise_pct, b.noise_pct) }; /* of a NaN the other one */
}
