/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OCCUPANCY_H
#define TM_OCCUPANCY_H

#include "pipeline/stage.h"

/* How full the kernels of the chosen steps keep the multiprocessors of their GPU, what limits it, and what their last
 * waves leave empty.  METRICS.md section 7. */
extern const struct tm_stage_type tm_occupancy_stage;

#endif
