/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/compare/figure_table.h"

#include "reports/compare/run_facts.h"

#define BIT(part) (UINT32_C(1) << (part))
#define COPIES                                                                                     \
    (BIT(TM_PART_COPY_H2D) | BIT(TM_PART_COPY_D2H) | BIT(TM_PART_COPY_P2P) |                       \
     BIT(TM_PART_COPY_D2D) | BIT(TM_PART_COPY_OTHER))
#define BUSY (BIT(TM_PART_COMPUTE) | BIT(TM_PART_COLLECTIVES) | COPIES)
#define ALL (BIT(TM_PARTS) - 1)
#define HOST_CAUSES                                                                                \
    (BIT(TM_PART_IDLE_LAUNCH) | BIT(TM_PART_IDLE_INPUT) | BIT(TM_PART_IDLE_SYNC) |                 \
     BIT(TM_PART_IDLE_HOST) | BIT(TM_PART_IDLE_COMPILE) | BIT(TM_PART_IDLE_GC))

/* clang-format off */
const struct tm_compared_figure tm_compared_figures[] = {
    { "steps.median_ps", "Step, median", "time", "less", false, FIGURE_OF_STEP, 0 },
    { "steps.mean_ps", "Step, mean", "time", "less", false, FIGURE_OF_MEAN_STEP, 0 },
    { "steps.p95_ps", "Step, 95th percentile", "time", "less", false, FIGURE_OF_RUN, 0 },
    { "steps.max_ps", "Longest step", "time", "less", false, FIGURE_OF_RUN, 0 },
    { "steps.stddev_ps", "Deviation of steps", "time", "less", false, FIGURE_OF_RUN, 0 },
    { "total.compute_ps", "Compute", "time", "less", true, FIGURE_OF_PARTS, BIT(TM_PART_COMPUTE) },
    { "total.collective_ps", "Collectives", "time", "less", true, FIGURE_OF_RUN, 0 },
    { "total.exposed_collective_ps", "Exposed collectives", "time", "less", true, FIGURE_OF_PARTS, BIT(TM_PART_COLLECTIVES) },
    { "total.copy_ps", "Copies", "time", "less", true, FIGURE_OF_RUN, 0 },
    { "total.exposed_copy_ps", "Exposed copies", "time", "less", true, FIGURE_OF_PARTS, COPIES },
    { "total.idle_ps", "Idle", "time", "less", true, FIGURE_OF_PARTS, ALL & ~BUSY },
    { "kpis[device_utilization].value", "Device utilization", "pct", "more", false, FIGURE_OF_SHARE, BUSY },
    { "kpis[host_overhead].value", "Host overhead", "pct", "less", false, FIGURE_OF_SHARE, HOST_CAUSES },
    { "kpis[exposed_collective].value", "Exposed collectives, share", "pct", "less", false, FIGURE_OF_SHARE, BIT(TM_PART_COLLECTIVES) },
    { "kpis[transfer_share].value", "Exposed copies, share", "pct", "less", false, FIGURE_OF_SHARE, COPIES },
    { "collectives.total.overlap_pct", "Overlap of collectives", "pct", "more", false, FIGURE_OF_RUN, 0 },
    { "kpis[imbalance].value", "Imbalance of devices", "pct", "less", false, FIGURE_OF_RUN, 0 },
    { "kernels.count", "Kernels", "count", "less", true, FIGURE_OF_RUN, 0 },
    { "kernels.mean_ps", "Kernel, mean", "time", "neither", false, FIGURE_OF_RUN, 0 },
    { "kernels.weighted_mean_ps", "Kernel, weighted mean", "time", "neither", false, FIGURE_OF_RUN, 0 },
    { "kpis[small_kernel_share].value", "Time in small kernels", "pct", "less", false, FIGURE_OF_RUN, 0 },
    { "kpis[occupancy].value", "Occupancy", "pct", "more", false, FIGURE_OF_RUN, 0 },
    { "programs.per_step", "Programs", "count", "less", false, FIGURE_OF_RUN, 0 },
    { "host.launches.per_step", "Launches", "count", "less", false, FIGURE_OF_RUN, 0 },
    { "host.launch_delay.p50_ps", "Launch to begin, median", "time", "neither", false, FIGURE_OF_RUN, 0 },
    { "host.sync.total_ps", "Host waits for results", "time", "neither", true, FIGURE_OF_RUN, 0 },
    { "gaps.count", "Idle gaps", "count", "less", true, FIGURE_OF_RUN, 0 },
    { "collectives.total.count", "Collectives, number", "count", "neither", true, FIGURE_OF_RUN, 0 },
    { "collectives.total.bytes", "Collectives, data", "bytes", "less", true, FIGURE_OF_RUN, 0 },
    { "fallback.callbacks.count", "Calls back to the host", "count", "less", true, FIGURE_OF_RUN, 0 },
    { "fallback.round_trips.count", "Round trips to the host", "count", "less", true, FIGURE_OF_RUN, 0 },
    { "roofline.flops", "Floating-point operations", "number", "neither", true, FIGURE_OF_RUN, 0 },
    { "roofline.flop_rate", "FLOP rate", "number", "more", false, FIGURE_OF_RUN, 0 },
    { "roofline.mfu_pct", "Model FLOP utilization", "pct", "more", false, FIGURE_OF_RUN, 0 },
    { "roofline.bytes", "Memory traffic", "bytes", "neither", true, FIGURE_OF_RUN, 0 },
    { "roofline.bandwidth", "Memory bandwidth", "rate", "more", false, FIGURE_OF_RUN, 0 },
    { "kpis[memory_bandwidth].value", "Memory bandwidth, share of the peak", "pct", "more", false, FIGURE_OF_RUN, 0 },
    { "compile.count", "Compilations in the session", "count", "less", false, FIGURE_OF_RUN, 0 },
    { "compile.total_ps", "Compiling in the session", "time", "less", false, FIGURE_OF_RUN, 0 },
    { "compile.inside_steps.count", "Compilations inside steps", "count", "less", false, FIGURE_OF_RUN, 0 },
    { "compile.inside_steps.total_ps", "Compiling inside steps", "time", "less", false, FIGURE_OF_RUN, 0 },
    { "kpis[peak_memory].value", "Peak memory, share of the capacity", "pct", "less", false, FIGURE_OF_RUN, 0 },
    { "memory.allocators[0].peak_bytes", "Peak memory of the first allocator", "bytes", "less", false, FIGURE_OF_RUN, 0 },
    { "total.devices", "Devices", "count", "neither", false, FIGURE_OF_RUN, 0 },
    { "steps.chosen", "Analyzed steps", "count", "neither", false, FIGURE_OF_RUN, 0 },
};
/* clang-format on */
const size_t tm_compared_figure_count =
    sizeof(tm_compared_figures) / sizeof(tm_compared_figures[0]);
