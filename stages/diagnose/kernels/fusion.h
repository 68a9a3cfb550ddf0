/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FUSION_H
#define TM_FUSION_H

#include "pipeline/stage.h"

/* What the kernels of the GPUs tell of fusion: how many are small, runs of small ones on a stream, ops that come back
 * many times in a step, attention in pieces, and copies for the sake of a layout.  METRICS.md section 6. */
extern const struct tm_stage_type tm_fusion_stage;

#endif
