/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OPS_H
#define TM_OPS_H

#include "pipeline/stage.h"

/* Operations of the program by self time, and how near they come to what the device can do.  Writes the sections ops
 * and roofline.
 * source: docs/metrics.md, "Operations" and "Roofline" */
extern const struct tm_stage_type tm_ops_stage;

#endif
