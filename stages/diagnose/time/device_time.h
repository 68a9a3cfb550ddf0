/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DEVICE_TIME_H
#define TM_DEVICE_TIME_H

#include "pipeline/stage.h"

/* Where the devices' time went: busy by kind, idle by cause, gaps, steps.  Writes the sections window, steps,
 * devices, unused, total, gaps, host and balance.  source: docs/metrics.md */
extern const struct tm_stage_type tm_device_time_stage;

#endif
