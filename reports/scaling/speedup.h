/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SPEEDUP_H
#define TM_SPEEDUP_H

#include "reports/compare/compare.h"
#include "reports/statistics/statistics.h"

/* The same program on different numbers of devices: speedup, efficiency, and growing costs.  docs/scaling.md,
 * schemas/SCALING.md. */
struct tm_scaling_point {
    struct tm_comparison_side side; /* the runs with that many devices */
    uint32_t devices;               /* from the profile, or given by the user */
};

enum { TM_SCALING_POINTS_MOST = 64 };

/* Devices that computed in the run. */
uint32_t tm_scaling_devices(const struct tm_value *summary);

/* Refused: fewer than two different numbers of devices, a run twice, a run without steps or devices.
 * in: point  ordered by devices, each number once */
tm_status tm_scaling_check(struct tm_run *run, const struct tm_scaling_point *point, size_t points);

tm_status tm_scaling(struct tm_run *run, struct tm_doc *out, const struct tm_scaling_point *point, size_t points,
                     const struct tm_compare_options *options);

/* Shared state of a scaling study.  Created by tm_scaling, filled in sequence: times, parts, mode, speedup, fit; then
 * it is written.  Unknown values are NaN. */

/* The parts of a step, as the losses are reported. */
enum scaling_part {
    SCALING_COMMUNICATION, /* exposed collectives */
    SCALING_IDLE,
    SCALING_COMPUTE,
    SCALING_COPIES, /* exposed ones */
    SCALING_PARTS
};

enum scaling_mode {
    SCALING_STRONG, /* the compute time of all devices together is constant */
    SCALING_WEAK,   /* that of each device is constant */
    SCALING_UNCLEAR,
};

enum {
    SCALING_STEPS_LEAST = 6, /* for an interval by resampling */
    SCALING_SAME_PCT = 20,   /* a larger change of the compute time counts as different */
    SCALING_GOOD_PCT = 80,   /* efficiency */
    SCALING_BAD_PCT = 50,
    SCALING_NEXT = 2, /* predictions: for twice and four times the largest number of devices */
};

/* 95%. */
struct scaling_interval {
    double low, high;
    const char *why; /* it is unknown; NULL = it is */
};

struct point_facts {
    double devices;
    struct tm_sample steps;       /* of all runs, run after run, in ps */
    struct tm_sample run_medians; /* of the runs with steps */
    double step_ps;               /* the median; of several runs the mean of their medians */
    double mean_ps, stddev_ps /* of several runs between them */, cv_pct;
    struct scaling_interval step;
    bool has_parts;
    double detail_ps[TM_PARTS]; /* per step and device: whole picoseconds, so that they add up */
    double part_ps[SCALING_PARTS], total_ps;
    double work_ps; /* computing per step of all devices together */
    double collective_ps, overlap_pct, collective_bytes, imbalance_pct, spread_pct, measured_ps;
    double ideal;     /* devices, as a multiple of the first point's */
    double time_gain; /* step of the first point / step of this one */
    double speedup;   /* of weak scaling and where it is unclear: see docs/scaling.md */
    struct scaling_interval speedup_interval;
    double efficiency_pct;
    double lost_pct[SCALING_PARTS]; /* of the efficiency; they add up to 100 - efficiency_pct */
};

struct scaling_study {
    struct tm_run *run;
    const struct tm_scaling_point *point;
    size_t points;
    const struct tm_compare_options *options;
    struct tm_value *root;
    struct point_facts *facts; /* one for each point */
    double *scratch;           /* for the interval of any two points */
    enum scaling_mode mode;
    double total_change_pct, device_change_pct; /* of the computing: the largest against the first point */
    bool has_fit;
    struct tm_serial_fit fit;
    const char *no_fit; /* why there is none */
};

/* --- the document --- */

void tm_add_scaling_notes(struct scaling_study *s);
void tm_add_scaling_findings(struct scaling_study *s);
void tm_add_scaling_verdict(struct scaling_study *s);

/* --- fields that they need --- */

/* The last point, by which the study is assessed. */
const struct point_facts *tm_last_point(const struct scaling_study *s);
/* "1 device", "8 devices" */
enum { DEVICES_TEXT = 32 };
char *tm_devices_text(char out[DEVICES_TEXT], double devices);
/* The step time on this many devices, by the fit. */
double tm_fitted_ps(const struct scaling_study *s, double devices);
double tm_fitted_speedup(const struct scaling_study *s, double devices);

#endif
