/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SCOPES_H
#define TM_SCOPES_H

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"

/* Device time by framework scope and pass, and host annotations with the device time that they launched.  Writes the
 * section scopes.
 * source: docs/metrics.md, "Scopes" */
extern const struct tm_stage_type tm_scopes_stage;

#endif
