/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_REGISTRY_H
#define TM_REGISTRY_H

#include "pipeline/stage.h"

/* The stages at the end of the pipeline, in the order in which they take events and report.  A new diagnostic is a
 * file in stages/diagnose/ and a row here. */
extern const struct tm_stage_type *const tm_registry[];
extern const size_t tm_registry_count;

#endif
