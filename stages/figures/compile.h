/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COMPILE_H
#define TM_COMPILE_H

#include "pipeline/stage.h"

/* Compilations: how many, how long, of what, inside which steps.  Writes the section compile.
 * source: docs/metrics.md, "Compilation" */
extern const struct tm_stage_type tm_compile_stage;

#endif
