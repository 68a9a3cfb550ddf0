/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HOST_H
#define TM_HOST_H

#include "pipeline/stage.h"

/* What the hosts did: launches and their delays, waits, functions, threads.  Adds to the section host, which
 * device_time has begun.
 * source: docs/metrics.md, "Host" */
extern const struct tm_stage_type tm_host_stage;

#endif
