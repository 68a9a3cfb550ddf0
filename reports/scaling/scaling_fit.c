/* SPDX-License-Identifier: Apache-2.0 */
/* The share of a program that does not become faster with more devices, by the law of its kind of
 * scaling. */
#include <math.h>

#include "reports/compare/run_facts.h"
#include "reports/scaling/study.h"

enum { FIT_POINTS_LEAST = 4 };

void fit_serial_share(struct scaling_study *s)
{
    double devices[TM_SCALING_POINTS_MOST], step_ps[TM_SCALING_POINTS_MOST];
    const bool is_weak = s->mode == SCALING_WEAK;

    s->no_fit = s->points < FIT_POINTS_LEAST ? "a fit needs four points"
                : s->mode == SCALING_UNCLEAR
                    ? "the compute time follows neither strong nor weak scaling: no law fits"
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

double fitted_ps(const struct scaling_study *s, double devices)
{
    return tm_serial_time(&s->fit, devices, s->mode == SCALING_WEAK);
}

double fitted_speedup(const struct scaling_study *s, double devices)
{
    const double work = s->mode == SCALING_WEAK ? devices / s->facts[0].devices : 1;

    return work * s->facts[0].step_ps / fitted_ps(s, devices);
}

/* The most that any number of devices can gain over the first point. */
static double speedup_limit(const struct scaling_study *s)
{
    const double serial_ps = s->fit.t1 * s->fit.serial_pct / 100;

    return s->mode == SCALING_WEAK || serial_ps <= 0 ? INFINITY : s->facts[0].step_ps / serial_ps;
}

void add_fit(struct scaling_study *s)
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
                  s->mode == SCALING_WEAK ? "the work grows with the devices"
                                          : "no serial share was found");
    next = tm_add_array(to, "next");
    for (int i = 1; i <= SCALING_NEXT; i++) {
        const double devices = last_point(s)->devices * (1 << i);
        struct tm_value *at = tm_add_object(next, NULL);

        tm_add_int(at, "devices", (int64_t)devices);
        tm_add_ps(at, "step_ps", fitted_ps(s, devices), NULL);
        tm_add_double(at, "speedup", fitted_speedup(s, devices));
        tm_add_double(at, "efficiency_pct",
                      100 * fitted_speedup(s, devices) * s->facts[0].devices / devices);
    }
}
