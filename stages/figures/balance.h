/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BALANCE_H
#define TM_BALANCE_H

#include "pipeline/stage.h"

/* What several devices do alike, and what they do not: compute by step, and the same ops on each device.  Adds to the
 * section balance of the stage device-time, after which it has to stand.  source: docs/metrics.md, "Balance" */
extern const struct tm_stage_type tm_balance_stage;

#endif
