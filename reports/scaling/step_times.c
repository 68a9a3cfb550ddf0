/* SPDX-License-Identifier: Apache-2.0 */
/* How long a step takes at each point, and how sure that is.  A point with one run is judged by its
 * steps; one with several by these runs, since steps of one run have much in common. */
#include <math.h>

#include "reports/scaling/study.h"

static const double level = 0.95;

double mean_of_runs(const struct tm_scaling_point *point, const char *path)
{
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < point->side.runs; i++) {
        const struct tm_value *value = tm_path(point->side.run[i].summary, path);

        if (tm_has(value)) {
            sum += tm_double(value);
            known++;
        }
    }
    return known ? sum / (double)known : NAN;
}

/* Half the width of the interval of a mean, from values that spread by chance. */
static double half_of_mean(struct tm_moments of, size_t count)
{
    return tm_student_quantile(1 - (1 - level) / 2, (double)count - 1) * of.stddev /
           sqrt((double)count);
}

static void take_interval_of_runs(struct point_facts *facts)
{
    const struct tm_moments between = tm_sample_moments(facts->run_medians);
    const double half = half_of_mean(between, facts->run_medians.count);

    facts->stddev_ps = between.stddev;
    facts->cv_pct = between.cv_pct;
    facts->step = (struct scaling_interval){ facts->step_ps - half, facts->step_ps + half, NULL };
}

/* The interval of the change from a sample of one value, the median itself, is that of the median.
 */
static void take_interval_of_steps(struct scaling_study *s, struct point_facts *facts)
{
    const struct tm_moments all = tm_sample_moments(facts->steps);
    const struct tm_sample median = { &facts->step_ps, 1 };

    facts->stddev_ps = all.stddev;
    facts->cv_pct = all.cv_pct;
    if (facts->steps.count < SCALING_STEPS_LEAST)
        return;
    const double share = tm_independent_share(tm_pooled_lag1(facts->steps, facts->steps));
    const struct tm_interval change =
        tm_change_interval(median, facts->steps, TM_MIDDLE_MEDIAN, share, level, s->scratch);

    if (isfinite(change.low) && isfinite(change.high))
        facts->step = (struct scaling_interval){ facts->step_ps * (1 + change.low / 100),
                                                 facts->step_ps * (1 + change.high / 100), NULL };
}

void take_step_times(struct scaling_study *s)
{
    for (size_t i = 0; i < s->points; i++) {
        const struct tm_scaling_point *point = &s->point[i];
        struct point_facts *facts = &s->facts[i];

        facts->devices = point->devices;
        facts->step_ps = tm_sample_moments(facts->run_medians).mean;
        facts->mean_ps = mean_of_runs(point, "steps.mean_ps");
        facts->stddev_ps = facts->cv_pct = NAN;
        facts->step =
            (struct scaling_interval){ NAN, NAN, "an interval needs 6 steps, or several runs" };
        if (facts->run_medians.count > 1)
            take_interval_of_runs(facts);
        else if (facts->run_medians.count == 1 && facts->step_ps > 0)
            take_interval_of_steps(s, facts);
    }
}

/* --- against the first point --- */

/* Of the ratio of two means, by the spreads of their logarithms (Welch). */
static struct scaling_interval ratio_of_runs(const struct point_facts *first,
                                             const struct point_facts *other)
{
    const struct tm_moments a = tm_sample_moments(first->run_medians),
                            b = tm_sample_moments(other->run_medians);
    const double na = (double)first->run_medians.count, nb = (double)other->run_medians.count;
    const double va = a.cv_pct * a.cv_pct / 1e4 / na, vb = b.cv_pct * b.cv_pct / 1e4 / nb;
    const double freedom = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));
    const double half =
        va + vb > 0 ? tm_student_quantile(1 - (1 - level) / 2, freedom) * sqrt(va + vb) : 0;

    return (struct scaling_interval){ other->time_gain * exp(-half), other->time_gain * exp(half),
                                      NULL };
}

static struct scaling_interval interval_of_gain(struct scaling_study *s,
                                                const struct point_facts *other)
{
    const struct point_facts *first = &s->facts[0];
    const size_t na = first->run_medians.count, nb = other->run_medians.count;

    if (other == first)
        return (struct scaling_interval){ NAN, NAN, "the others are compared with this point" };
    if (na > 1 && nb > 1)
        return ratio_of_runs(first, other);
    if (na != 1 || nb != 1)
        return (struct scaling_interval){
            NAN, NAN, "one of the two points has several runs, the other has one"
        };
    if (first->steps.count < SCALING_STEPS_LEAST || other->steps.count < SCALING_STEPS_LEAST)
        return (struct scaling_interval){ NAN, NAN, "an interval needs 6 steps at both points" };
    const double share = tm_independent_share(tm_pooled_lag1(first->steps, other->steps));
    const struct tm_interval change =
        tm_change_interval(other->steps, first->steps, TM_MIDDLE_MEDIAN, share, level, s->scratch);

    return (struct scaling_interval){ 1 + change.low / 100, 1 + change.high / 100,
                                      isfinite(change.low) ? NULL : "a step can have no length" };
}

void work_out_speedups(struct scaling_study *s)
{
    const struct point_facts *first = &s->facts[0];

    for (size_t i = 0; i < s->points; i++) {
        struct point_facts *facts = &s->facts[i];
        /* of weak scaling, each step does as many times the work */
        const double work = s->mode == SCALING_WEAK ? facts->ideal : 1;

        facts->time_gain =
            first->step_ps > 0 && facts->step_ps > 0 ? first->step_ps / facts->step_ps : NAN;
        facts->speedup = facts->time_gain * work;
        facts->speedup_interval = interval_of_gain(s, facts);
        facts->speedup_interval.low *= work;
        facts->speedup_interval.high *= work;
        facts->efficiency_pct = 100 * facts->speedup / facts->ideal;
        /* A part would take its share of the first point's step, made as short as the step would
         * ideally be. */
        for (int p = 0; p < SCALING_PARTS; p++)
            facts->lost_pct[p] =
                first->has_parts && facts->has_parts
                    ? 100 * facts->part_ps[p] / facts->total_ps -
                          facts->efficiency_pct * first->part_ps[p] / first->total_ps
                    : NAN;
    }
}
