/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FALLBACK_H
#define TM_FALLBACK_H

#include "pipeline/stage.h"

/* What ran on the host although a device was there: calls back to Python, operations of the program, trips of data to
 * the host and back.  Writes the section fallback.
 * source: docs/metrics.md, "CPU fallback" */
extern const struct tm_stage_type tm_fallback_stage;

#endif
