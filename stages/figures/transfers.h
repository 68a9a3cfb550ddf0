/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TRANSFERS_H
#define TM_TRANSFERS_H

#include "pipeline/stage.h"

/* Copies from, to, between and inside devices: how many, how large, how fast, how much of them
 * nothing hides. Writes the section transfers.  source: docs/metrics.md, "Transfers" */
extern const struct tm_stage_type tm_transfers_stage;

#endif
