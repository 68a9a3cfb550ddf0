/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SPEEDUP_H
#define TM_SPEEDUP_H

#include "reports/compare/compare.h"

/* The same program on different numbers of devices: speed-up, efficiency, and what grows.  docs/scaling.md,
 * schemas/SCALING.md. */
struct tm_scaling_point {
    struct tm_comparison_side side; /* the runs with that many devices */
    uint32_t devices;               /* from the profile, or as the user said */
};

enum { TM_SCALING_POINTS_MOST = 64 };

/* Devices that computed in the run. */
uint32_t tm_scaling_devices(const struct tm_value *summary);

/* Refused: fewer than two different numbers of devices, a run twice, a run without steps or devices.
 * in: point  ordered by devices, each number once */
tm_status tm_scaling_check(struct tm_run *run, const struct tm_scaling_point *point, size_t points) TM_MUST_USE;

tm_status tm_scaling(struct tm_run *run, struct tm_doc *out, const struct tm_scaling_point *point, size_t points,
                     const struct tm_compare_options *options) TM_MUST_USE;

#endif
