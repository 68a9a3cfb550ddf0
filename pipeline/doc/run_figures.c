/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a run (schemas/SUMMARY.md has where they are). */
#include "pipeline/doc/run_figures.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

const struct tm_part_kind tm_part_kind[TM_PARTS] = {
    [TM_PART_COMPUTE] = { "compute", "Compute", "compute_ps" },
    [TM_PART_COLLECTIVES] = { "collectives", "Exposed collectives", "exposed_collective_ps" },
    [TM_PART_COPY_H2D] = { "copy_h2d", "Exposed host-to-device copies", "exposed_copy_ps.h2d" },
    [TM_PART_COPY_D2H] = { "copy_d2h", "Exposed device-to-host copies", "exposed_copy_ps.d2h" },
    [TM_PART_COPY_P2P] = { "copy_p2p", "Exposed device-to-device copies", "exposed_copy_ps.p2p" },
    [TM_PART_COPY_D2D] = { "copy_d2d", "Exposed copies within a device", "exposed_copy_ps.d2d" },
    [TM_PART_COPY_OTHER] = { "copy_other", "Other exposed copies", "exposed_copy_ps.other" },
    [TM_PART_IDLE_DEVICE_WAIT] = { "idle_device_wait", "Idle: device stall", "idle_ps.device_wait" },
    [TM_PART_IDLE_LAUNCH] = { "idle_launch", "Idle: launch overhead", "idle_ps.launch" },
    [TM_PART_IDLE_COMPILE] = { "idle_compile", "Idle: compilation", "idle_ps.compile" },
    [TM_PART_IDLE_INPUT] = { "idle_input", "Idle: input pipeline", "idle_ps.input" },
    [TM_PART_IDLE_SYNC] = { "idle_sync", "Idle: host sync", "idle_ps.sync" },
    [TM_PART_IDLE_GC] = { "idle_gc", "Idle: garbage collection", "idle_ps.gc" },
    [TM_PART_IDLE_PROFILER] = { "idle_profiler", "Idle: profiler overhead", "idle_ps.profiler" },
    [TM_PART_IDLE_HOST] = { "idle_host", "Idle: host code", "idle_ps.host" },
    [TM_PART_IDLE_UNRECORDED] = { "idle_unrecorded", "Idle: not recorded", "idle_ps.unrecorded" },
};

const char *tm_idle_title(const char *cause)
{
    static const char in_path[] = "idle_ps.", in_title[] = "Idle: ";

    for (int part = TM_PART_IDLE_DEVICE_WAIT; part < TM_PARTS; part++)
        if (strcmp(tm_part_kind[part].path + sizeof(in_path) - 1, cause) == 0)
            return tm_part_kind[part].title + sizeof(in_title) - 1;
    return cause;
}

#define BIT(part) (UINT32_C(1) << (part))
#define COPIES                                                                                                         \
    (BIT(TM_PART_COPY_H2D) | BIT(TM_PART_COPY_D2H) | BIT(TM_PART_COPY_P2P) | BIT(TM_PART_COPY_D2D) |                   \
     BIT(TM_PART_COPY_OTHER))
#define BUSY (BIT(TM_PART_COMPUTE) | BIT(TM_PART_COLLECTIVES) | COPIES)
#define IDLE ((BIT(TM_PARTS) - 1) & ~BUSY)
#define HOST_CAUSES                                                                                                    \
    (BIT(TM_PART_IDLE_LAUNCH) | BIT(TM_PART_IDLE_INPUT) | BIT(TM_PART_IDLE_SYNC) | BIT(TM_PART_IDLE_HOST) |            \
     BIT(TM_PART_IDLE_COMPILE) | BIT(TM_PART_IDLE_GC))
#define PS_PER_MS 1e9
#define PS_PER_S 1e12

#define TIME TM_DOC_TIME
#define PCT TM_DOC_PERCENT
#define COUNT TM_DOC_COUNT
#define BYTES TM_DOC_BYTES
#define LOWER TM_BETTER_LOWER
#define HIGHER TM_BETTER_HIGHER
#define NEITHER TM_BETTER_NEITHER
#define KPI(id) "kpis[" id "].value"
#define OF(step_parts) .steps = TM_FIGURE_OF_PARTS, .parts = (step_parts)
#define SHARE(step_parts) .steps = TM_FIGURE_OF_SHARE, .parts = (step_parts)
#define KEPT(column, least) .id = (column), .least_change = (least)

/* clang-format off */

/* Add new ones at the end, and raises TM_HISTORY_VERSION (reports/history/history.c). */
const struct tm_run_figure tm_figure_table[] = {
    { "steps.median_ps", "median step time", TIME, LOWER, "step_time", TM_FIGURE_OF_STEP,
      KEPT("step_time_ps", 2), .has_trend = true, .is_of_steps = true, .place = 10, .title = "Median step time",
      .short_name = "step_time", .gate = TM_GATE_NO_INCREASE, .gate_note = "Relative to a baseline, and only if the "
        "steps of both runs show that the change is not noise. Skipped without a baseline." },
    { "steps.p95_ps", "p95 step time", TIME, LOWER,
      KEPT("step_p95_ps", 5), .is_of_steps = true, .place = 30, .title = "p95 step time" },
    { KPI("device_utilization"), "device utilization", PCT, HIGHER, "device_utilization", SHARE(BUSY),
      KEPT("device_utilization_pct", 1), .has_trend = true, .place = 120, .short_name = "utilization",
      .gate = TM_GATE_BAND },
    { "roofline.mfu_pct", "model FLOP utilization", PCT, HIGHER, "model_flop_utilization",
      KEPT("mfu_pct", 1), .has_trend = true, .place = 340, .gate = TM_GATE_BAND },

    /* Per step and device. */
    { "total.compute_ps", "compute time per step", TIME, LOWER, OF(BIT(TM_PART_COMPUTE)),
      KEPT("compute_ps", 2), .has_trend = true, .is_of_steps = true, .place = 60, .title = "Compute",
      .is_per_step = true },
    { "total.exposed_collective_ps", "exposed collectives per step", TIME, LOWER, OF(BIT(TM_PART_COLLECTIVES)),
      KEPT("exposed_collective_ps", 5), .has_trend = true, .is_of_steps = true, .place = 80,
      .title = "Exposed collectives", .is_per_step = true },
    { "total.exposed_copy_ps", "exposed copies per step", TIME, LOWER, OF(COPIES),
      KEPT("exposed_copy_ps", 5), .is_of_steps = true, .place = 100, .title = "Exposed copies", .is_per_step = true },
    { "total.idle_ps", "idle time per step", TIME, LOWER, OF(IDLE),
      KEPT("idle_ps", 5), .has_trend = true, .is_of_steps = true, .place = 110, .title = "Idle", .is_per_step = true },
    { "steps.parts.idle_ps.launch", "idle: launch overhead", TIME, LOWER, OF(BIT(TM_PART_IDLE_LAUNCH)),
      KEPT("idle_launch_ps", 10), .is_of_steps = true },
    { "steps.parts.idle_ps.input", "idle: input pipeline", TIME, LOWER, OF(BIT(TM_PART_IDLE_INPUT)),
      KEPT("idle_input_ps", 10), .is_of_steps = true },
    { "steps.parts.idle_ps.sync", "idle: host sync", TIME, LOWER, OF(BIT(TM_PART_IDLE_SYNC)),
      KEPT("idle_sync_ps", 10), .is_of_steps = true },
    { "steps.parts.idle_ps.compile", "idle: compilation", TIME, LOWER, OF(BIT(TM_PART_IDLE_COMPILE)),
      KEPT("idle_compile_ps", 10), .is_of_steps = true },
    { "steps.parts.idle_ps.host", "idle: host code", TIME, LOWER, OF(BIT(TM_PART_IDLE_HOST)),
      KEPT("idle_host_ps", 10), .is_of_steps = true },
    { "steps.parts.idle_ps.device_wait", "idle: device stall", TIME, LOWER, OF(BIT(TM_PART_IDLE_DEVICE_WAIT)),
      KEPT("idle_device_wait_ps", 10), .is_of_steps = true },

    /* The other key figures. */
    { KPI("host_overhead"), "host overhead", PCT, LOWER, "host_overhead", SHARE(HOST_CAUSES),
      KEPT("host_overhead_pct", 1), .place = 130, .gate = TM_GATE_BAND },
    { KPI("exposed_collective"), "exposed collectives, share", PCT, LOWER, "exposed_collective",
      SHARE(BIT(TM_PART_COLLECTIVES)), KEPT("exposed_collective_pct", 1), .place = 140, .gate = TM_GATE_BAND },
    { KPI("transfer_share"), "exposed copies, share", PCT, LOWER, "transfer_share", SHARE(COPIES),
      KEPT("transfer_share_pct", 1), .place = 150, .gate = TM_GATE_BAND },
    { KPI("imbalance"), "device imbalance", PCT, LOWER, "imbalance",
      KEPT("imbalance_pct", 1), .place = 170, .gate = TM_GATE_BAND },
    { KPI("memory_bandwidth"), "memory bandwidth, % of peak", PCT, HIGHER, "memory_bandwidth",
      KEPT("memory_bandwidth_pct", 1), .place = 370, .gate = TM_GATE_BAND },
    { KPI("occupancy"), "occupancy", PCT, HIGHER, "occupancy",
      KEPT("occupancy_pct", 1), .place = 220, .gate = TM_GATE_BAND },
    { KPI("kernel_duration"), "kernel duration", TIME, HIGHER, "kernel_duration",
      KEPT("kernel_duration_ps", 5), .scale = PS_PER_MS },
    { KPI("small_kernel_share"), "small kernels, share of kernel time", PCT, LOWER, "small_kernel_share",
      KEPT("small_kernel_share_pct", 2), .place = 210, .gate = TM_GATE_BAND },
    { KPI("top_op_share"), "share of the top operation", PCT, LOWER, "top_op_share",
      KEPT("top_op_share_pct", 2) },
    { KPI("compile_time"), "compile time of the session", TIME, LOWER, "compile_time",
      KEPT("compile_time_ps", 10), .has_trend = true, .scale = PS_PER_S },
    { KPI("unexpected_compiles"), "compiles during steps", COUNT, LOWER, "unexpected_compiles",
      KEPT("unexpected_compiles", 1) },
    { KPI("peak_memory"), "peak memory, % of capacity", PCT, LOWER, "peak_memory",
      KEPT("peak_memory_pct", 1), .place = 420 },

    /* Counts and sizes. */
    { "memory.allocators[*].peak_bytes", "peak memory", BYTES, LOWER,
      KEPT("peak_memory_bytes", 1), .has_trend = true, .gate = TM_GATE_AT_MOST,
      .gate_title = "Peak memory of an allocator", .gate_note = "Maximum over the allocators" },
    { "collectives.total.overlap_pct", "collective overlap", PCT, HIGHER,
      KEPT("collective_overlap_pct", 2), .place = 160 },
    { "fusion.per_step", "kernels per step", COUNT, LOWER, KEPT("kernels_per_step", 1), .is_of_steps = true },
    { "host.launches.per_step", "launches per step", COUNT, LOWER,
      KEPT("launches_per_step", 1), .is_of_steps = true, .place = 240, .title = "Launches" },
    { "steps.chosen", "analyzed steps", COUNT, NEITHER, KEPT("steps", 1), .is_of_steps = true, .place = 450 },
    { "coverage.events_read", "events read", COUNT, NEITHER, KEPT("events_read", 5) },
    { "steps.mean_ps", "mean step time", TIME, LOWER, .steps = TM_FIGURE_OF_MEAN_STEP,
      KEPT("mean_step_time_ps", 2), .is_of_steps = true, .place = 20, .title = "Mean step time",
      .short_name = "mean_step_time", .gate = TM_GATE_NO_INCREASE, .gate_note = "Measures throughput: a few long "
        "steps change it, but not the median. Skipped without a baseline." },
};

static const struct tm_run_figure other_figures[] = {
    { "steps.max_ps", "max step time", TIME, LOWER, .place = 40 },
    { "steps.stddev_ps", "step time standard deviation", TIME, LOWER, .place = 50 },
    { "total.collective_ps", "collectives", TIME, LOWER, .place = 70, .is_per_step = true },
    { "total.copy_ps", "copies", TIME, LOWER, .place = 90, .is_per_step = true },
    { "kernels.count", "kernels", COUNT, LOWER, .place = 180, .is_per_step = true },
    { "kernels.mean_ps", "kernel duration, mean", TIME, NEITHER, .place = 190 },
    { "kernels.weighted_mean_ps", "kernel duration, time-weighted mean", TIME, NEITHER, .place = 200 },
    { "programs.per_step", "programs", COUNT, LOWER, .place = 230 },
    { "host.launch_delay.p50_ps", "launch latency, median", TIME, NEITHER, .place = 250 },
    { "host.sync.total_ps", "host sync time", TIME, NEITHER, .place = 260, .is_per_step = true },
    { "gaps.count", "idle gaps", COUNT, LOWER, .place = 270, .is_per_step = true },
    { "collectives.total.count", "collectives, count", COUNT, NEITHER, .place = 280, .is_per_step = true },
    { "collectives.total.bytes", "collectives, data", BYTES, LOWER, .place = 290, .is_per_step = true },
    { "fallback.callbacks.count", "host callbacks", COUNT, LOWER, .place = 300, .is_per_step = true },
    { "fallback.round_trips.count", "host round trips", COUNT, LOWER, .place = 310, .is_per_step = true },
    { "roofline.flops", "floating-point operations", TM_DOC_FLOPS, NEITHER, .place = 320, .is_per_step = true },
    { "roofline.flop_rate", "FLOP rate", TM_DOC_FLOP_RATE, HIGHER, .place = 330 },
    { "roofline.bytes", "memory traffic", BYTES, NEITHER, .place = 350, .is_per_step = true },
    { "roofline.bandwidth", "memory bandwidth", TM_DOC_RATE, HIGHER, .place = 360 },
    { "compile.count", "compiles in the session", COUNT, LOWER, .place = 380 },
    { "compile.total_ps", "compile time of the session", TIME, LOWER, .place = 390 },
    { "compile.inside_steps.count", "compiles during steps", COUNT, LOWER, .place = 400, .gate = TM_GATE_AT_MOST,
      .gate_title = "Compiles during steps",
      .gate_note = "With constant shapes, nothing compiles during steps." },
    { "compile.inside_steps.total_ps", "compile time during steps", TIME, LOWER, .place = 410 },
    { "memory.allocators[0].peak_bytes", "peak memory of the first allocator", BYTES, LOWER, .place = 430 },
    { "total.devices", "devices", COUNT, NEITHER, .place = 440 },
};

/* clang-format on */
const size_t tm_figure_count = sizeof(tm_figure_table) / sizeof(tm_figure_table[0]);
static_assert(sizeof(tm_figure_table) / sizeof(tm_figure_table[0]) <= TM_FIGURES_MOST, "a row has room for them");
static_assert((sizeof(tm_figure_table) + sizeof(other_figures)) / sizeof(other_figures[0]) <= TM_RUN_FIGURES_MOST,
              "who gathers them has room for them");

const struct tm_run_figure *tm_run_figure(size_t number)
{
    if (number < tm_figure_count)
        return &tm_figure_table[number];
    number -= tm_figure_count;
    return number < sizeof(other_figures) / sizeof(other_figures[0]) ? &other_figures[number] : NULL;
}

const struct tm_run_figure *tm_run_figure_of_id(const char *id)
{
    for (size_t i = 0; i < tm_figure_count; i++)
        if (strcmp(tm_figure_table[i].id, id) == 0)
            return &tm_figure_table[i];
    return NULL;
}

const struct tm_run_figure *tm_run_figure_of_kpi(const char *id)
{
    const struct tm_run_figure *figure;

    for (size_t i = 0; (figure = tm_run_figure(i)); i++)
        if (figure->kpi && strcmp(figure->kpi, id) == 0)
            return figure;
    return NULL;
}

/* "kpis[ID].value" */
static bool is_value_of(const char *path, const char *kpi)
{
    const size_t length = strlen(kpi), head = sizeof("kpis[") - 1;

    return strncmp(path, "kpis[", head) == 0 && strncmp(path + head, kpi, length) == 0 &&
           strcmp(path + head + length, "].value") == 0;
}

const struct tm_run_figure *tm_run_figure_at(const char *path)
{
    const struct tm_run_figure *figure;

    for (size_t i = 0; (figure = tm_run_figure(i)); i++)
        if (strcmp(figure->path, path) == 0 || (figure->kpi && is_value_of(path, figure->kpi)))
            return figure;
    return NULL;
}

char *tm_figure_headline(char out[TM_FIGURE_TITLE_BYTES], const struct tm_run_figure *figure)
{
    if (figure->title)
        (void)snprintf(out, TM_FIGURE_TITLE_BYTES, "%s", figure->title);
    else
        (void)snprintf(out, TM_FIGURE_TITLE_BYTES, "%c%s", toupper((unsigned char)figure->name[0]), figure->name + 1);
    return out;
}

static const char *const unit_word[TM_DOC_KIND_COUNT] = {
    [TM_DOC_TIME] = "time", [TM_DOC_PERCENT] = "pct",         [TM_DOC_COUNT] = "count",  [TM_DOC_BYTES] = "bytes",
    [TM_DOC_RATE] = "rate", [TM_DOC_FLOP_RATE] = "flop_rate", [TM_DOC_NUMBER] = "number"
};

const char *tm_figure_unit_word(enum tm_doc_kind kind)
{
    return unit_word[kind] ? unit_word[kind] : unit_word[TM_DOC_NUMBER];
}

enum tm_doc_kind tm_figure_unit(const char *word)
{
    for (int kind = 0; kind < TM_DOC_KIND_COUNT; kind++)
        if (unit_word[kind] && strcmp(unit_word[kind], word) == 0)
            return (enum tm_doc_kind)kind;
    return TM_DOC_NUMBER;
}
