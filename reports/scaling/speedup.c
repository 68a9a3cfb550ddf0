/* SPDX-License-Identifier: Apache-2.0 */
/* A scaling study from start to end: schemas/SCALING.md, docs/scaling.md.  Its memory
 * is one block: the facts of the points, the samples of all runs, the buffer for resampling. */
#include "reports/scaling/speedup.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "reports/compare/compare.h"

/* Can these runs be a scaling study?  Checked before anything is computed. */

#define MARKS "jax.profiler.StepTraceAnnotation, or step() of torch.profiler.profile"

static void check_run(struct tm_run *run, const struct tm_compared_run *one)
{
    if (tm_scaling_devices(one->summary) == 0) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot use '%s': no device computes in it", one->path);
        tm_hint(&run->error, "use profiles with device activity");
    }
    if (!tm_has(tm_path(one->summary, "steps.median_ps"))) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot use '%s': none of its steps has a duration", one->path);
        tm_hint(&run->error, "mark the steps (" MARKS "), or select others with --steps");
    }
}

/* The run of that number, point after point. */
static const struct tm_compared_run *run_at(const struct tm_scaling_point *point, size_t number)
{
    for (; number >= point->side.runs; point++)
        number -= point->side.runs;
    return &point->side.run[number];
}

/* Without marked steps the session represents one, as in comparisons; but a session cannot be compared with a step. */
static void check_steps(struct tm_run *run, const struct tm_compared_run *a, const struct tm_compared_run *b)
{
    if (tm_has_steps(a->summary) == tm_has_steps(b->summary))
        return;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot compare '%s' with '%s': only one of them has steps", a->path,
                  b->path);
    tm_hint(&run->error, "mark the steps in all runs (" MARKS "), or in none");
}

static void check_pair(struct tm_run *run, const struct tm_compared_run *a, const struct tm_compared_run *b)
{
    char x[TM_RUN_FINGERPRINT_BYTES], y[TM_RUN_FINGERPRINT_BYTES];

    if (!tm_fingerprint(a->summary, x) || !tm_fingerprint(b->summary, y) || strcmp(x, y) != 0)
        return;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%s' and '%s': they are the same run", a->path, b->path);
    tm_hint(&run->error, "pass each run once");
}

tm_status tm_scaling_check(struct tm_run *run, const struct tm_scaling_point *point, size_t points)
{
    size_t runs = 0;

    for (size_t i = 0; i < points; i++)
        runs += point[i].side.runs;
    for (size_t i = 0; i < runs && !tm_failed(run); i++) {
        check_run(run, run_at(point, i));
        check_steps(run, run_at(point, 0), run_at(point, i));
        for (size_t k = 0; k < i && !tm_failed(run); k++)
            check_pair(run, run_at(point, k), run_at(point, i));
    }
    if (points < 2) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot measure scaling: all runs have %u device%s",
                      points ? point->devices : 0, points && point->devices == 1 ? "" : "s");
        tm_hint(&run->error, "use runs on different numbers of devices; N=PATH gives the number if a profile does "
                             "not contain all of them");
    }
    return run->error.status;
}

/* The step time at each point, and its uncertainty.  A point with one run is assessed by its
 * steps; one with several by these runs, since steps of one run are correlated. */

static const double level = 0.95;

/* A mean over the runs of a point of a figure of their summaries, by its path; runs without it are
 * left out. */
static double mean_of_runs(const struct tm_scaling_point *point, const char *path)
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

/* Half the width of the interval of a mean, from the spread of its values. */
static double half_of_mean(struct tm_moments of, size_t count)
{
    return tm_student_quantile(1 - (1 - level) / 2, (double)count - 1) * of.stddev / sqrt((double)count);
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

static void scaling_take_step_times(struct scaling_study *s)
{
    for (size_t i = 0; i < s->points; i++) {
        const struct tm_scaling_point *point = &s->point[i];
        struct point_facts *facts = &s->facts[i];

        facts->devices = point->devices;
        facts->step_ps = tm_sample_moments(facts->run_medians).mean;
        facts->mean_ps = mean_of_runs(point, "steps.mean_ps");
        facts->stddev_ps = facts->cv_pct = NAN;
        facts->step = (struct scaling_interval){ NAN, NAN, "an interval needs 6 steps, or several runs" };
        if (facts->run_medians.count > 1)
            take_interval_of_runs(facts);
        else if (facts->run_medians.count == 1 && facts->step_ps > 0)
            take_interval_of_steps(s, facts);
    }
}

/* --- against the first point --- */

/* The interval of the ratio of two means, by the spreads of their logarithms (Welch). */
static struct scaling_interval ratio_of_runs(const struct point_facts *first, const struct point_facts *other)
{
    const struct tm_moments a = tm_sample_moments(first->run_medians), b = tm_sample_moments(other->run_medians);
    const double na = (double)first->run_medians.count, nb = (double)other->run_medians.count;
    const double va = a.cv_pct * a.cv_pct / 1e4 / na, vb = b.cv_pct * b.cv_pct / 1e4 / nb;
    const double freedom = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));
    const double half = va + vb > 0 ? tm_student_quantile(1 - (1 - level) / 2, freedom) * sqrt(va + vb) : 0;

    return (struct scaling_interval){ other->time_gain * exp(-half), other->time_gain * exp(half), NULL };
}

static struct scaling_interval interval_of_gain(struct scaling_study *s, const struct point_facts *other)
{
    const struct point_facts *first = &s->facts[0];
    const size_t na = first->run_medians.count, nb = other->run_medians.count;

    if (other == first)
        return (struct scaling_interval){ NAN, NAN, "the others are compared with this point" };
    if (na > 1 && nb > 1)
        return ratio_of_runs(first, other);
    if (na != 1 || nb != 1)
        return (struct scaling_interval){ NAN, NAN, "one of the two points has several runs, the other has one" };
    if (first->steps.count < SCALING_STEPS_LEAST || other->steps.count < SCALING_STEPS_LEAST)
        return (struct scaling_interval){ NAN, NAN, "an interval needs 6 steps at both points" };
    const double share = tm_independent_share(tm_pooled_lag1(first->steps, other->steps));
    const struct tm_interval change =
        tm_change_interval(other->steps, first->steps, TM_MIDDLE_MEDIAN, share, level, s->scratch);

    return (struct scaling_interval){ 1 + change.low / 100, 1 + change.high / 100,
                                      isfinite(change.low) ? NULL : "a step can have no duration" };
}

static void work_out_speedups(struct scaling_study *s)
{
    const struct point_facts *first = &s->facts[0];

    for (size_t i = 0; i < s->points; i++) {
        struct point_facts *facts = &s->facts[i];
        /* of weak scaling, each step does as many times the work */
        const double work = s->mode == SCALING_WEAK ? facts->ideal : 1;

        facts->time_gain = first->step_ps > 0 && facts->step_ps > 0 ? first->step_ps / facts->step_ps : NAN;
        facts->speedup = facts->time_gain * work;
        facts->speedup_interval = interval_of_gain(s, facts);
        facts->speedup_interval.low *= work;
        facts->speedup_interval.high *= work;
        facts->efficiency_pct = 100 * facts->speedup / facts->ideal;
        /* A part would take its share of the first point's step, scaled to the ideal
         * step. */
        for (int p = 0; p < SCALING_PARTS; p++)
            facts->lost_pct[p] = first->has_parts && facts->has_parts
                                     ? 100 * facts->part_ps[p] / facts->total_ps -
                                           facts->efficiency_pct * first->part_ps[p] / first->total_ps
                                     : NAN;
    }
}

/* The parts of a step at each point, the amount of compute, and from it whether the problem grew
 * with the devices. */

static enum scaling_part part_of(enum tm_part part)
{
    if (part == TM_PART_COMPUTE)
        return SCALING_COMPUTE;
    if (part == TM_PART_COLLECTIVES)
        return SCALING_COMMUNICATION;
    return part < TM_PART_IDLE_DEVICE_WAIT ? SCALING_COPIES : SCALING_IDLE;
}

/* A figure of a summary that is a sum over its devices and analyzed steps, of a step of one device;
 * mean over the runs. */
static double mean_per_device_step(const struct tm_scaling_point *point, const char *path)
{
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < point->side.runs; i++) {
        const struct tm_value *summary = point->side.run[i].summary, *value = tm_path(summary, path);

        if (tm_has(value)) {
            sum += tm_double(value) / tm_device_steps(summary);
            known++;
        }
    }
    return known ? sum / (double)known : NAN;
}

static void take_parts_of_point(const struct tm_scaling_point *point, struct point_facts *facts)
{
    double sum[TM_PARTS] = { 0 }, part[TM_PARTS], total;
    size_t known = 0;

    for (size_t i = 0; i < point->side.runs; i++) {
        if (!tm_step_parts(point->side.run[i].summary, part, &total))
            continue;
        known++;
        for (int p = 0; p < TM_PARTS; p++)
            sum[p] += part[p];
    }
    for (int p = 0; p < TM_PARTS; p++) {
        facts->detail_ps[p] = known ? round(sum[p] / (double)known) : NAN;
        facts->part_ps[part_of((enum tm_part)p)] += facts->detail_ps[p];
        facts->total_ps += facts->detail_ps[p];
    }
    facts->has_parts = known && facts->total_ps > 0;
}

/* Times reported by an external benchmark. */
static double mean_measured(const struct tm_scaling_point *point)
{
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < point->side.runs; i++)
        if (point->side.run[i].measured_ps >= 0) {
            sum += (double)point->side.run[i].measured_ps;
            known++;
        }
    return known ? sum / (double)known : NAN;
}

static void take_parts(struct scaling_study *s)
{
    for (size_t i = 0; i < s->points; i++) {
        const struct tm_scaling_point *point = &s->point[i];
        struct point_facts *facts = &s->facts[i];

        take_parts_of_point(point, facts);
        facts->work_ps = facts->has_parts ? facts->part_ps[SCALING_COMPUTE] * facts->devices : NAN;
        facts->ideal = s->facts[0].devices > 0 ? facts->devices / s->facts[0].devices : NAN;
        facts->collective_ps = mean_per_device_step(point, "total.collective_ps");
        facts->collective_bytes = mean_per_device_step(point, "collectives.total.bytes");
        facts->overlap_pct = mean_of_runs(point, "collectives.total.overlap_pct");
        facts->imbalance_pct = mean_of_runs(point, "balance.imbalance_pct");
        facts->spread_pct = mean_of_runs(point, "balance.steps.spread_median_pct");
        facts->measured_ps = mean_measured(point);
    }
}

/* The one that is further away from 0. */
static double larger_change(double a, double b)
{
    return fabs(b) > fabs(a) || isnan(b) ? b : a;
}

static void transfers_mode(struct scaling_study *s)
{
    const struct point_facts *first = &s->facts[0];

    s->total_change_pct = s->device_change_pct = s->points > 1 ? 0 : NAN;
    for (size_t i = 1; i < s->points; i++) {
        const double total = 100 * (s->facts[i].work_ps / first->work_ps - 1);
        const double device = 100 * (s->facts[i].work_ps / first->work_ps / s->facts[i].ideal - 1);

        s->total_change_pct = larger_change(s->total_change_pct, isfinite(total) ? total : NAN);
        s->device_change_pct = larger_change(s->device_change_pct, isfinite(device) ? device : NAN);
    }
    s->mode = fabs(s->total_change_pct) <= SCALING_SAME_PCT    ? SCALING_STRONG
              : fabs(s->device_change_pct) <= SCALING_SAME_PCT ? SCALING_WEAK
                                                               : SCALING_UNCLEAR;
}

/* The share of a program that does not become faster with more devices, by the law of its kind of
 * scaling. */

enum { FIT_POINTS_LEAST = 4 };

static void fit_serial_share(struct scaling_study *s)
{
    double devices[TM_SCALING_POINTS_MOST], step_ps[TM_SCALING_POINTS_MOST];
    const bool is_weak = s->mode == SCALING_WEAK;

    s->no_fit = s->points < FIT_POINTS_LEAST ? "a fit needs four points"
                : s->mode == SCALING_UNCLEAR ? "the compute time follows neither strong nor weak scaling: no law can "
                                               "be fitted"
                                             : NULL;
    if (s->no_fit)
        return;
    for (size_t i = 0; i < s->points; i++) {
        devices[i] = s->facts[i].devices;
        step_ps[i] = s->facts[i].step_ps;
    }
    s->has_fit = tm_fit_serial(devices, step_ps, s->points, is_weak, &s->fit) && s->fit.t1 > 0;
    if (!s->has_fit)
        s->no_fit = "the step times of the points cannot be fitted";
}

/* The most that any number of devices can gain over the first point. */
static double speedup_limit(const struct scaling_study *s)
{
    const double serial_ps = s->fit.t1 * s->fit.serial_pct / 100;

    return s->mode == SCALING_WEAK || serial_ps <= 0 ? INFINITY : s->facts[0].step_ps / serial_ps;
}

static void add_fit(struct scaling_study *s)
{
    struct tm_value *to, *next;

    if (!s->has_fit) {
        tm_add_null(s->root, "fit", s->no_fit);
        return;
    }
    to = tm_add_object(s->root, "fit");
    tm_add_string(to, "model", s->mode == SCALING_WEAK ? "gustafson" : "amdahl");
    tm_add_double(to, "serial_pct", s->fit.serial_pct);
    tm_add_double(to, "low_pct", s->fit.low_pct);
    tm_add_double(to, "high_pct", s->fit.high_pct);
    tm_add_double(to, "residual_pct", s->fit.residual_pct);
    tm_add_figure(to, "speedup_limit", speedup_limit(s),
                  s->mode == SCALING_WEAK ? "the work grows with the devices" : "no serial fraction was found");
    next = tm_add_array(to, "next");
    for (int i = 1; i <= SCALING_NEXT; i++) {
        const double devices = tm_last_point(s)->devices * (1 << i);
        struct tm_value *at = tm_add_object(next, NULL);

        tm_add_int(at, "devices", (int64_t)devices);
        tm_add_ps(at, "step_ps", tm_fitted_ps(s, devices), NULL);
        tm_add_double(at, "speedup", tm_fitted_speedup(s, devices));
        tm_add_double(at, "efficiency_pct", 100 * tm_fitted_speedup(s, devices) * s->facts[0].devices / devices);
    }
}

/* The points as the document has them. */

static const char no_length[] = "no step has a duration", no_parts[] = "the parts of the steps are unknown",
                  few_steps[] = "too few steps have a duration";

/* Values shared by all runs of the point. */
static void add_same_text(struct tm_value *to, const char *key, const struct tm_value *runs)
{
    const char *text = tm_text(tm_get(tm_at(runs, 0), key));

    for (size_t i = 1; i < tm_length(runs); i++)
        if (strcmp(text, tm_text(tm_get(tm_at(runs, i), key))) != 0)
            text = "";
    if (*text)
        tm_add_string(to, key, text);
    else
        tm_add_null(to, key, "not recorded, or not the same in all runs");
}

static void add_same_count(struct tm_value *to, const char *key, const struct tm_value *runs)
{
    const int64_t count = tm_int(tm_get(tm_at(runs, 0), key));

    for (size_t i = 1; i < tm_length(runs); i++)
        if (tm_int(tm_get(tm_at(runs, i), key)) != count) {
            tm_add_null(to, key, "not the same in all runs");
            return;
        }
    tm_add_int(to, key, count);
}

static void add_runs(struct tm_value *to, const struct tm_scaling_point *point)
{
    struct tm_value *runs = tm_add_array(to, "runs");

    for (size_t i = 0; i < point->side.runs; i++)
        tm_add_compared_run(runs, &point->side.run[i]);
    tm_add_uint(to, "devices", point->devices);
    add_same_count(to, "hosts", runs);
    add_same_text(to, "platform", runs);
    add_same_text(to, "device_model", runs);
}

static void add_times(struct tm_value *to, const struct point_facts *facts)
{
    tm_add_ps(to, "measured_ps", facts->measured_ps, "no benchmark result was given");
    tm_add_uint(to, "samples", facts->steps.count);
    tm_add_ps(to, "step_ps", facts->step_ps, no_length);
    tm_add_ps(to, "mean_ps", facts->mean_ps, no_length);
    tm_add_ps(to, "stddev_ps", facts->stddev_ps, few_steps);
    tm_add_figure(to, "cv_pct", facts->cv_pct, few_steps);
    tm_add_ps(to, "low_ps", facts->step.low, facts->step.why);
    tm_add_ps(to, "high_ps", facts->step.high, facts->step.why);
}

static void add_speedup(struct tm_value *to, const struct scaling_study *s, const struct point_facts *facts)
{
    const struct scaling_interval *interval = &facts->speedup_interval;
    const double measured_gain = s->facts[0].measured_ps / facts->measured_ps;
    const char *no_measure = "no benchmark result was given for this point or the first one";

    tm_add_figure(to, "speedup", facts->speedup, no_length);
    tm_add_figure(to, "speedup_low", interval->low, interval->why);
    tm_add_figure(to, "speedup_high", interval->high, interval->why);
    tm_add_figure(to, "measured_speedup", s->mode == SCALING_WEAK ? measured_gain * facts->ideal : measured_gain,
                  no_measure);
    tm_add_figure(to, "ideal_speedup", facts->ideal, "the number of devices is unknown");
    tm_add_figure(to, "efficiency_pct", facts->efficiency_pct, no_length);
    tm_add_figure(to, "efficiency_low_pct", 100 * interval->low / facts->ideal, interval->why);
    tm_add_figure(to, "efficiency_high_pct", 100 * interval->high / facts->ideal, interval->why);
    tm_add_figure(to, "weak_efficiency_pct", 100 * facts->time_gain, no_length);
    tm_add_ps(to, "fitted_ps", s->has_fit ? tm_fitted_ps(s, facts->devices) : NAN, s->no_fit);
    tm_add_figure(to, "fitted_speedup", s->has_fit ? tm_fitted_speedup(s, facts->devices) : NAN, s->no_fit);
    tm_add_figure(to, "fitted_efficiency_pct",
                  s->has_fit ? 100 * tm_fitted_speedup(s, facts->devices) / facts->ideal : NAN, s->no_fit);
}

static const struct {
    const char *part, *growth, *lost;
} keys[SCALING_PARTS] = {
    [SCALING_COMMUNICATION] = { "exposed_collective_ps", "exposed_collective_pct", "communication_pct" },
    [SCALING_IDLE] = { "idle_ps", "idle_pct", "idle_pct" },
    [SCALING_COMPUTE] = { "compute_ps", "compute_pct", "compute_pct" },
    [SCALING_COPIES] = { "exposed_copy_ps", "exposed_copy_pct", "copies_pct" },
};

static double share_pct(const struct point_facts *facts, int part)
{
    return 100 * facts->part_ps[part] / facts->total_ps;
}

static void add_parts(struct tm_value *to, const struct scaling_study *s, const struct point_facts *facts)
{
    static const enum scaling_part order[SCALING_PARTS] = { SCALING_COMPUTE, SCALING_COMMUNICATION, SCALING_COPIES,
                                                            SCALING_IDLE };
    const struct point_facts *first = &s->facts[0];
    struct tm_value *list = tm_add_object(to, "parts"), *shares = tm_add_object(to, "shares"),
                    *growth = tm_add_object(to, "growth"), *lost = tm_add_object(to, "lost");

    for (int i = 0; i < SCALING_PARTS; i++) {
        const int p = order[i];
        const double share = facts->has_parts ? share_pct(facts, p) : NAN;

        tm_add_ps(list, keys[p].part, facts->part_ps[p], no_parts);
        tm_add_figure(shares, keys[p].growth, share, no_parts);
        tm_add_figure(growth, keys[p].growth, first->has_parts ? share - share_pct(first, p) : NAN, no_parts);
        tm_add_figure(lost, keys[p].lost, facts->lost_pct[p], no_parts);
    }
    tm_add_ps(list, "total_ps", facts->total_ps, no_parts);
}

/* The same with directions and causes, as a step of the summary has them. */
static void add_details(struct tm_value *to, const struct point_facts *facts)
{
    struct tm_value *details = tm_add_object(to, "details"), *copies, *idle;

    tm_add_ps(details, "compute_ps", facts->detail_ps[TM_PART_COMPUTE], no_parts);
    tm_add_ps(details, "exposed_collective_ps", facts->detail_ps[TM_PART_COLLECTIVES], no_parts);
    copies = tm_add_object(details, "exposed_copy_ps");
    for (int p = TM_PART_COPY_H2D; p < TM_PART_IDLE_DEVICE_WAIT; p++)
        tm_add_ps(copies, strrchr(tm_part_kind[p].path, '.') + 1, facts->detail_ps[p], no_parts);
    idle = tm_add_object(details, "idle_ps");
    for (int p = TM_PART_IDLE_DEVICE_WAIT; p < TM_PARTS; p++)
        tm_add_ps(idle, strrchr(tm_part_kind[p].path, '.') + 1, facts->detail_ps[p], no_parts);
}

static void add_rest(struct tm_value *to, const struct point_facts *facts)
{
    tm_add_ps(to, "collective_ps", facts->collective_ps, "no device time is known");
    tm_add_figure(to, "overlap_pct", facts->overlap_pct, "there are no collectives");
    tm_add_ps(to, "collective_bytes", facts->collective_bytes,
              "the profile does not record the data of its "
              "collectives");
    tm_add_figure(to, "imbalance_pct", facts->imbalance_pct, "one device has no balance");
    tm_add_figure(to, "spread_pct", facts->spread_pct, "one device has no balance");
    tm_add_ps(to, "work_ps", facts->work_ps, no_parts);
}

static void add_points(struct scaling_study *s)
{
    struct tm_value *points = tm_add_array(s->root, "points");

    for (size_t i = 0; i < s->points; i++) {
        const struct tm_scaling_point *point = &s->point[i];
        const struct point_facts *facts = &s->facts[i];
        struct tm_value *to = tm_add_object(points, NULL);

        tm_add_text(to, "label", point->side.label, strlen(point->side.label));
        add_runs(to, point);
        add_times(to, facts);
        add_speedup(to, s, facts);
        add_parts(to, s, facts);
        add_details(to, facts);
        add_rest(to, facts);
    }
}

static_assert(sizeof(struct point_facts) % _Alignof(double) == 0, "numbers follow the facts in one block");

static size_t count_samples(const struct tm_scaling_point *point)
{
    size_t count = 0;

    for (size_t i = 0; i < point->side.runs; i++)
        count += tm_step_samples_most(point->side.run[i].summary);
    return count;
}

/* One sample for each step number, as in comparisons.
 * in: room  out: the end of the numbers that it took */
static double *take_samples(struct tm_compare_blocks *memory, const struct tm_scaling_point *point,
                            struct point_facts *facts, double *room)
{
    double *const medians = room + count_samples(point);

    facts->steps = (struct tm_sample){ room, 0 };
    facts->run_medians = (struct tm_sample){ medians, 0 };
    for (size_t i = 0; i < point->side.runs; i++) {
        const struct tm_value *summary = point->side.run[i].summary, *median = tm_path(summary, "steps.median_ps");
        const struct tm_sample samples = tm_step_samples(memory, summary);

        for (size_t k = 0; k < samples.count; k++)
            room[facts->steps.count++] = samples.value[k];
        if (tm_has(median))
            medians[facts->run_medians.count++] = tm_double(median);
    }
    return medians + point->side.runs;
}

/* Is it true for any run? */
static bool is_any(const struct scaling_study *s, const char *path)
{
    for (size_t i = 0; i < s->points; i++)
        for (size_t r = 0; r < s->point[i].side.runs; r++)
            if (tm_is(tm_path(s->point[i].side.run[r].summary, path)))
                return true;
    return false;
}

static void add_head(struct scaling_study *s)
{
    char name[2 * DEVICES_TEXT], last[DEVICES_TEXT];
    struct tm_value *to;

    tm_add_study_head(s->root, "tracemill.scaling", s->options, is_any(s, "report.redacted"));
    to = tm_add_object(s->root, "input");
    tm_add_bool(to, "partial", is_any(s, "input.partial"));
    (void)snprintf(name, sizeof(name), "%.0f to %s", s->facts[0].devices,
                   tm_devices_text(last, tm_last_point(s)->devices));
    tm_add_string(to, "run", name);
}

static void add_mode(struct scaling_study *s)
{
    static const char *const modes[] = {
        [SCALING_STRONG] = "strong", [SCALING_WEAK] = "weak", [SCALING_UNCLEAR] = "unclear"
    };
    struct tm_value *work, *limits;

    tm_add_string(s->root, "mode", modes[s->mode]);
    work = tm_add_object(s->root, "work");
    tm_add_figure(work, "total_change_pct", s->total_change_pct, "the compute time of a point is unknown");
    tm_add_figure(work, "device_change_pct", s->device_change_pct, "the compute time of a point is unknown");
    tm_add_int(work, "same_within_pct", SCALING_SAME_PCT);
    limits = tm_add_object(s->root, "limits");
    tm_add_int(limits, "good_pct", SCALING_GOOD_PCT);
    tm_add_int(limits, "bad_pct", SCALING_BAD_PCT);
}

static void fill(struct scaling_study *s)
{
    scaling_take_step_times(s);
    take_parts(s);
    transfers_mode(s);
    work_out_speedups(s);
    fit_serial_share(s);
    add_head(s);
    add_mode(s);
    add_points(s);
    add_fit(s);
    tm_add_scaling_notes(s);
    tm_add_scaling_findings(s);
    tm_add_scaling_verdict(s);
}

tm_status tm_scaling(struct tm_run *run, struct tm_doc *out, const struct tm_scaling_point *point, size_t points,
                     const struct tm_compare_options *options)
{
    struct scaling_study s = {
        .run = run, .point = point, .points = points, .options = options, .root = tm_doc_root(out)
    };
    struct tm_compare_blocks memory = { .run = run };
    size_t numbers = 0, samples = 0, bytes;
    double *room;

    assert(points > 0 && points <= TM_SCALING_POINTS_MOST);
    for (size_t i = 0; i < points; i++) {
        samples += count_samples(&point[i]);
        numbers += count_samples(&point[i]) + point[i].side.runs;
    }
    numbers += samples + 1 + TM_RESAMPLES; /* 1: a median alone is resampled beside all steps of its point */
    bytes = points * sizeof(*s.facts) + numbers * sizeof(double);
    s.facts = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    if (!s.facts)
        return run->error.status;
    room = (double *)(void *)(s.facts + points);
    for (size_t i = 0; i < points; i++)
        room = take_samples(&memory, &point[i], &s.facts[i], room);
    s.scratch = room;
    if (!tm_failed(run))
        fill(&s);
    tm_room_free(&memory);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, s.facts, bytes);
    return tm_doc_status(out);
}
