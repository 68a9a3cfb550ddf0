/* SPDX-License-Identifier: Apache-2.0 */
/* What a step is made of at each point, how much is computed, and by that whether the problem grew
 * with the devices. */
#include <math.h>

#include "reports/compare/run_facts.h"
#include "reports/findings/ask.h"
#include "reports/scaling/study.h"

static enum scaling_part part_of(enum tm_part part)
{
    if (part == TM_PART_COMPUTE)
        return SCALING_COMPUTE;
    if (part == TM_PART_COLLECTIVES)
        return SCALING_COMMUNICATION;
    return part < TM_PART_IDLE_DEVICE_WAIT ? SCALING_COPIES : SCALING_IDLE;
}

/* A figure of a summary that is a sum over its devices and chosen steps, of a step of one device;
 * mean over the runs. */
static double mean_per_device_step(const struct tm_scaling_point *point, const char *path)
{
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < point->side.runs; i++) {
        const struct tm_value *summary = point->side.run[i].summary,
                              *value = tm_path(summary, path);

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

/* What an external benchmark told. */
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

void take_parts(struct scaling_study *s)
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

/* The one that is further away from nothing. */
static double larger_change(double a, double b)
{
    return fabs(b) > fabs(a) || isnan(b) ? b : a;
}

void tell_mode(struct scaling_study *s)
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

const char *scaling_part_title(enum scaling_part part)
{
    static const char *const titles[SCALING_PARTS] = {
        [SCALING_COMMUNICATION] = "exposed collectives",
        [SCALING_IDLE] = "idle time",
        [SCALING_COMPUTE] = "computing",
        [SCALING_COPIES] = "exposed copies",
    };

    return titles[part];
}

const struct point_facts *last_point(const struct scaling_study *s)
{
    return &s->facts[s->points - 1];
}

enum scaling_part largest_loss(const struct scaling_study *s)
{
    enum scaling_part found = SCALING_PARTS;
    double most = 0;

    for (int p = 0; p < SCALING_PARTS; p++)
        if (last_point(s)->lost_pct[p] > most) {
            most = last_point(s)->lost_pct[p];
            found = (enum scaling_part)p;
        }
    return found;
}
