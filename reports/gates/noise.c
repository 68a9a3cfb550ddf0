/* SPDX-License-Identifier: Apache-2.0 */
/* The guard against false alarms.  Steps: Mann-Whitney, and the bootstrap interval of the change of
 * the median for how large a change had to be.  Runs: the prediction interval of one more run, mean
 * +- t s sqrt(1 + 1/n). */
#include "reports/gates/noise.h"

#include <math.h>
#include <string.h>

#include "reports/statistics/sample.h"
#include "reports/statistics/tests.h"

const double tm_noise_level = 0.01;

static size_t count_steps(const struct tm_value *summary)
{
    return tm_length(tm_path(summary, "steps.samples_ps"));
}

static size_t put_steps(double *to, const struct tm_value *summary)
{
    const struct tm_value *samples = tm_path(summary, "steps.samples_ps");
    const size_t count = tm_length(samples);

    for (size_t i = 0; i < count; i++)
        to[i] = tm_double(tm_at(samples, i));
    return count;
}

static const char *refusal(const struct tm_value *input, const struct tm_side *baseline)
{
    const char *basis = tm_text(tm_path(input, "steps.basis"));

    for (size_t i = 0; i < baseline->runs; i++) {
        const char *other = tm_text(tm_path(baseline->run[i].summary, "steps.basis"));

        if (*basis && *other && strcmp(basis, other) != 0)
            return "the steps are measured in two ways: as the time from one to the next, and as "
                   "the host's spans";
    }
    return NULL;
}

/* in: to  room for all steps, and what the interval wants */
static struct tm_noise test_samples(struct tm_sample before, struct tm_sample now, double *scratch)
{
    const struct tm_interval change =
        tm_median_change_interval(before, now, 1 - tm_noise_level, scratch);

    return (struct tm_noise){ tm_rank_test(before, now), (change.high - change.low) / 2 };
}

tm_status tm_step_test(struct tm_run *run, struct tm_step_test *test, const struct tm_value *input,
                       const struct tm_side *baseline)
{
    *test = (struct tm_step_test){ .noise = { NAN, NAN }, .steps = count_steps(input) };
    for (size_t i = 0; i < baseline->runs; i++)
        test->base_steps += count_steps(baseline->run[i].summary);
    test->refused = refusal(input, baseline);
    if (test->refused || test->steps < TM_NOISE_SAMPLES_LEAST ||
        test->base_steps < TM_NOISE_SAMPLES_LEAST)
        return TM_OK;
    const size_t bytes = (2 * (test->steps + test->base_steps) + TM_RESAMPLES) * sizeof(double);
    double *const room = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    size_t used = 0;

    if (!room)
        return TM_ERR_LIMIT;
    for (size_t i = 0; i < baseline->runs; i++)
        used += put_steps(room + used, baseline->run[i].summary);
    used += put_steps(room + used, input);
    test->noise =
        test_samples((struct tm_sample){ room, test->base_steps },
                     (struct tm_sample){ room + test->base_steps, test->steps }, room + used);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, room, bytes);
    return TM_OK;
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
