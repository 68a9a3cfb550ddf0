/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of stages. */
#include "pipeline/commands/registry.h"

#include "stages/diagnose/device_time.h"

const struct tm_stage_type *const tm_registry[] = {
    &tm_device_time_stage,
};
const size_t tm_registry_count = sizeof(tm_registry) / sizeof(tm_registry[0]);
