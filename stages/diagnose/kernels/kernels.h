/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KERNELS_H
#define TM_KERNELS_H

#include "pipeline/stage.h"

/* The kernels (on a TPU its ops, on CPU-only runs the CPU ops) of the chosen steps, grouped by name
 * and launch configuration, by name, and by category.  Writes the section kernels.  source:
 * docs/metrics.md, "Kernels" */
extern const struct tm_stage_type tm_kernels_stage;

#endif
