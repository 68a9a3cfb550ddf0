/* SPDX-License-Identifier: Apache-2.0 */
/* The points as the document has them. */
#include <math.h>
#include <string.h>

#include "reports/compare/run_facts.h"
#include "reports/findings/ask.h"
#include "reports/scaling/study.h"

static const char no_length[] = "no step has a length",
                  no_parts[] = "the parts of the steps are not known",
                  few_steps[] = "too few steps have a length";

/* What is the same in all runs of the point. */
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

static void add_speedup(struct tm_value *to, const struct scaling_study *s,
                        const struct point_facts *facts)
{
    const struct scaling_interval *interval = &facts->speedup_interval;
    const double measured_gain = s->facts[0].measured_ps / facts->measured_ps;
    const char *no_measure = "no benchmark result was given for this point or the first one";

    tm_add_figure(to, "speedup", facts->speedup, no_length);
    tm_add_figure(to, "speedup_low", interval->low, interval->why);
    tm_add_figure(to, "speedup_high", interval->high, interval->why);
    tm_add_figure(to, "measured_speedup",
                  s->mode == SCALING_WEAK ? measured_gain * facts->ideal : measured_gain,
                  no_measure);
    tm_add_figure(to, "ideal_speedup", facts->ideal, "the number of devices is not known");
    tm_add_figure(to, "efficiency_pct", facts->efficiency_pct, no_length);
    tm_add_figure(to, "efficiency_low_pct", 100 * interval->low / facts->ideal, interval->why);
    tm_add_figure(to, "efficiency_high_pct", 100 * interval->high / facts->ideal, interval->why);
    tm_add_figure(to, "weak_efficiency_pct", 100 * facts->time_gain, no_length);
    tm_add_ps(to, "fitted_ps", s->has_fit ? fitted_ps(s, facts->devices) : NAN, s->no_fit);
    tm_add_figure(to, "fitted_speedup", s->has_fit ? fitted_speedup(s, facts->devices) : NAN,
                  s->no_fit);
    tm_add_figure(to, "fitted_efficiency_pct",
                  s->has_fit ? 100 * fitted_speedup(s, facts->devices) / facts->ideal : NAN,
                  s->no_fit);
}

static const struct {
    const char *part, *growth, *lost;
} keys[SCALING_PARTS] = {
    [SCALING_COMMUNICATION] = { "exposed_collective_ps", "exposed_collective_pct",
                                "communication_pct" },
    [SCALING_IDLE] = { "idle_ps", "idle_pct", "idle_pct" },
    [SCALING_COMPUTE] = { "compute_ps", "compute_pct", "compute_pct" },
    [SCALING_COPIES] = { "exposed_copy_ps", "exposed_copy_pct", "copies_pct" },
};

static double share_pct(const struct point_facts *facts, int part)
{
    return 100 * facts->part_ps[part] / facts->total_ps;
}

static void add_parts(struct tm_value *to, const struct scaling_study *s,
                      const struct point_facts *facts)
{
    static const enum scaling_part order[SCALING_PARTS] = { SCALING_COMPUTE, SCALING_COMMUNICATION,
                                                            SCALING_COPIES, SCALING_IDLE };
    const struct point_facts *first = &s->facts[0];
    struct tm_value *list = tm_add_object(to, "parts"), *shares = tm_add_object(to, "shares"),
                    *growth = tm_add_object(to, "growth"), *lost = tm_add_object(to, "lost");

    for (int i = 0; i < SCALING_PARTS; i++) {
        const int p = order[i];
        const double share = facts->has_parts ? share_pct(facts, p) : NAN;

        tm_add_ps(list, keys[p].part, facts->part_ps[p], no_parts);
        tm_add_figure(shares, keys[p].growth, share, no_parts);
        tm_add_figure(growth, keys[p].growth, first->has_parts ? share - share_pct(first, p) : NAN,
                      no_parts);
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
              "the profile does not tell what its collectives move");
    tm_add_figure(to, "imbalance_pct", facts->imbalance_pct, "one device has no balance");
    tm_add_figure(to, "spread_pct", facts->spread_pct, "one device has no balance");
    tm_add_ps(to, "work_ps", facts->work_ps, no_parts);
}

void add_points(struct scaling_study *s)
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
