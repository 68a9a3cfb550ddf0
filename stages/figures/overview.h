/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OVERVIEW_H
#define TM_OVERVIEW_H

#include "pipeline/stage.h"

/* Where and how the trace was made, and how much of it the figures rest on.  Writes the sections environment,
 * coverage (but for the warnings) and unused. */
extern const struct tm_stage_type tm_overview_stage;

/* Whether an event of the ordered stream is in a figure. */
bool tm_overview_is_used(const struct tm_event *event);

#endif
