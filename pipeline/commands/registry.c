/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of stages. */
#include "pipeline/commands/registry.h"

#include "stages/diagnose/collectives.h"
#include "stages/diagnose/compile.h"
#include "stages/diagnose/device_time.h"
#include "stages/diagnose/kernels.h"
#include "stages/diagnose/memory.h"
#include "stages/diagnose/overview.h"
#include "stages/diagnose/scopes.h"
#include "stages/diagnose/transfers.h"

const struct tm_stage_type *const tm_registry[] = {
    &tm_overview_stage,    &tm_device_time_stage, &tm_kernels_stage, &tm_transfers_stage,
    &tm_collectives_stage, &tm_compile_stage,     &tm_memory_stage,
    &tm_scopes_stage,
};
const size_t tm_registry_count = sizeof(tm_registry) / sizeof(tm_registry[0]);
