/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COLLECTIVES_H
#define TM_COLLECTIVES_H

#include <stddef.h>

#include "pipeline/stage.h"

/* Collectives by what they do and how much they move.  Writes the section collectives.
 * source: docs/metrics.md, "Collectives" */
extern const struct tm_stage_type tm_collectives_stage;

#endif
