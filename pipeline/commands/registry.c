/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of stages. */
#include "pipeline/commands/registry.h"

#include "stages/diagnose/collectives/balance.h"
#include "stages/diagnose/collectives/collectives.h"
#include "stages/diagnose/compile/compile.h"
#include "stages/diagnose/host/fallback.h"
#include "stages/diagnose/host/host.h"
#include "stages/diagnose/kernels/fusion.h"
#include "stages/diagnose/kernels/kernels.h"
#include "stages/diagnose/kernels/occupancy.h"
#include "stages/diagnose/kernels/programs.h"
#include "stages/diagnose/memory/memory.h"
#include "stages/diagnose/ops/ops.h"
#include "stages/diagnose/run/overview.h"
#include "stages/diagnose/scopes/scopes.h"
#include "stages/diagnose/time/device_time.h"
#include "stages/diagnose/transfers/transfers.h"

/* clang-format off */
const struct tm_stage_type *const tm_registry[] = {
    &tm_overview_stage,
    &tm_device_time_stage,
    &tm_kernels_stage,
    &tm_transfers_stage,
    &tm_collectives_stage,
    &tm_compile_stage,
    &tm_memory_stage,
    &tm_host_stage,
    &tm_fallback_stage,
    &tm_ops_stage,
    &tm_fusion_stage,
    &tm_occupancy_stage,
    &tm_programs_stage,
    &tm_balance_stage,
    &tm_scopes_stage,
};
/* clang-format on */
const size_t tm_registry_count = sizeof(tm_registry) / sizeof(tm_registry[0]);
