/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SKEW_H
#define TM_SKEW_H

#include "pipeline/stage.h"

/* Who comes late to collectives, and who waits.  Adds collectives.skew to the section of the stage collectives, after
 * which it has to stand.  source: docs/metrics.md, "Late arrivals" */
extern const struct tm_stage_type tm_skew_stage;

#endif
