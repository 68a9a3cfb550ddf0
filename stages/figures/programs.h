/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PROGRAMS_H
#define TM_PROGRAMS_H

#include "pipeline/stage.h"

/* Compiled programs as they are executed: how many a step has, and the pauses between them on a device.  Many small
 * ones in a step are work outside of jit.  source: docs/metrics.md, "Programs" */
extern const struct tm_stage_type tm_programs_stage;

#endif
