/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the history, and how each is found in the summary of a run (schemas/SUMMARY.md).  A figure that the summary
 * does not have is null, never 0. */
#include "reports/history/history.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare/compare.h"
#include "reports/findings/query.h"

#define BIT(part) (UINT32_C(1) << (part))
#define COPIES                                                                                                         \
    (BIT(TM_PART_COPY_H2D) | BIT(TM_PART_COPY_D2H) | BIT(TM_PART_COPY_P2P) | BIT(TM_PART_COPY_D2D) |                   \
     BIT(TM_PART_COPY_OTHER))
#define IDLE ((BIT(TM_PARTS) - 1) & ~(BIT(TM_PART_COMPUTE) | BIT(TM_PART_COLLECTIVES) | COPIES))
#define PS_PER_MS 1e9
#define PS_PER_S 1e12
#define LOWER TM_BETTER_LOWER
#define HIGHER TM_BETTER_HIGHER
#define NEITHER TM_BETTER_NEITHER
#define PARTS "steps.parts"

/* clang-format off */
const struct tm_history_figure tm_figure_table[] = {
    { "step_time_ps", "step time", "steps.median_ps", "ps", LOWER, 2, true, true, 0, 0 },
    { "step_p95_ps", "95th percentile of the step time", "steps.p95_ps", "ps", LOWER, 5, false, true, 0, 0 },
    { "device_utilization_pct", "device utilization", "kpis[device_utilization].value", "%", HIGHER, 1, true, false, 0, 0 },
    { "mfu_pct", "model FLOP utilization", "roofline.mfu_pct", "%", HIGHER, 1, true, false, 0, 0 },
    /* of a step on a device */
    { "compute_ps", "compute time of a step", PARTS, "ps", LOWER, 2, true, true, BIT(TM_PART_COMPUTE), 0 },
    { "exposed_collective_ps", "exposed collectives of a step", PARTS, "ps", LOWER, 5, true, true, BIT(TM_PART_COLLECTIVES), 0 },
    { "exposed_copy_ps", "exposed copies of a step", PARTS, "ps", LOWER, 5, false, true, COPIES, 0 },
    { "idle_ps", "idle time of a step", PARTS, "ps", LOWER, 5, true, true, IDLE, 0 },
    { "idle_launch_ps", "idle for launches", PARTS, "ps", LOWER, 10, false, true, BIT(TM_PART_IDLE_LAUNCH), 0 },
    { "idle_input_ps", "idle for input", PARTS, "ps", LOWER, 10, false, true, BIT(TM_PART_IDLE_INPUT), 0 },
    { "idle_sync_ps", "idle while the host waits for results", PARTS, "ps", LOWER, 10, false, true, BIT(TM_PART_IDLE_SYNC), 0 },
    { "idle_compile_ps", "idle for compiling", PARTS, "ps", LOWER, 10, false, true, BIT(TM_PART_IDLE_COMPILE), 0 },
    { "idle_host_ps", "idle for other host code", PARTS, "ps", LOWER, 10, false, true, BIT(TM_PART_IDLE_HOST), 0 },
    { "idle_device_wait_ps", "waits on the device", PARTS, "ps", LOWER, 10, false, true, BIT(TM_PART_IDLE_DEVICE_WAIT), 0 },
    /* the other key figures */
    { "host_overhead_pct", "host overhead", "kpis[host_overhead].value", "%", LOWER, 1, false, false, 0, 0 },
    { "exposed_collective_pct", "exposed collectives, share", "kpis[exposed_collective].value", "%", LOWER, 1, false, false, 0, 0 },
    { "transfer_share_pct", "exposed copies, share", "kpis[transfer_share].value", "%", LOWER, 1, false, false, 0, 0 },
    { "imbalance_pct", "imbalance of devices", "kpis[imbalance].value", "%", LOWER, 1, false, false, 0, 0 },
    { "memory_bandwidth_pct", "memory bandwidth, share of the peak", "kpis[memory_bandwidth].value", "%", HIGHER, 1, false, false, 0, 0 },
    { "occupancy_pct", "occupancy", "kpis[occupancy].value", "%", HIGHER, 1, false, false, 0, 0 },
    { "kernel_duration_ps", "kernel duration", "kpis[kernel_duration].value", "ps", HIGHER, 5, false, false, 0, PS_PER_MS },
    { "small_kernel_share_pct", "time in small kernels", "kpis[small_kernel_share].value", "%", LOWER, 2, false, false, 0, 0 },
    { "top_op_share_pct", "share of the longest operation", "kpis[top_op_share].value", "%", LOWER, 2, false, false, 0, 0 },
    { "compile_time_ps", "compile time of the session", "kpis[compile_time].value", "ps", LOWER, 10, true, false, 0, PS_PER_S },
    { "unexpected_compiles", "compiles inside steps", "kpis[unexpected_compiles].value", "", LOWER, 1, false, false, 0, 0 },
    { "peak_memory_pct", "peak memory, share of the capacity", "kpis[peak_memory].value", "%", LOWER, 1, false, false, 0, 0 },
    /* counts and sizes */
    { "peak_memory_bytes", "peak memory", "memory.allocators[*].peak_bytes", "bytes", LOWER, 1, true, false, 0, 0 },
    { "collective_overlap_pct", "overlap of collectives", "collectives.total.overlap_pct", "%", HIGHER, 2, false, false, 0, 0 },
    { "kernels_per_step", "kernels of a step", "fusion.per_step", "", LOWER, 1, false, true, 0, 0 },
    { "launches_per_step", "launches of a step", "host.launches.per_step", "", LOWER, 1, false, true, 0, 0 },
    { "steps", "analyzed steps", "steps.chosen", "", NEITHER, 1, false, true, 0, 0 },
    { "events_read", "events read", "coverage.events_read", "", NEITHER, 5, false, false, 0, 0 },
    { "mean_step_time_ps", "mean step time", "steps.mean_ps", "ps", LOWER, 2, false, true, 0, 0 },
};
/* clang-format on */
const size_t tm_figure_count = sizeof(tm_figure_table) / sizeof(tm_figure_table[0]);
static_assert(sizeof(tm_figure_table) / sizeof(tm_figure_table[0]) <= TM_FIGURES_MOST, "a row has room for them");

const struct tm_history_figure *tm_figure_by_id(const char *id, size_t *index)
{
    for (size_t i = 0; i < tm_figure_count; i++) {
        if (strcmp(tm_figure_table[i].id, id) == 0) {
            if (index)
                *index = i;
            return &tm_figure_table[i];
        }
    }
    return NULL;
}

/* --- from a summary --- */

static double number(const struct tm_value *v)
{
    return tm_type_of(v) == TM_INT || tm_type_of(v) == TM_DOUBLE ? tm_double(v) : NAN;
}

/* The figure at a path with at most one "[*]". */
static double at_path(const struct tm_value *summary, const char *path)
{
    const char *const each = strstr(path, "[*]");
    char head[128];
    double most = NAN;

    if (!each)
        return number(tm_path(summary, path));
    assert((size_t)(each - path) < sizeof(head));
    (void)snprintf(head, sizeof(head), "%.*s", (int)(each - path), path);

    const struct tm_value *const list = tm_path(summary, head);

    for (size_t i = 0; i < tm_length(list); i++) {
        const double value = number(tm_path(tm_at(list, i), each + 3));

        if (isnan(most) || value > most)
            most = value;
    }
    return most;
}

static double value_of(const struct tm_value *summary, const struct tm_history_figure *figure)
{
    double part[TM_PARTS], total, sum = 0;

    if (figure->is_of_steps && !tm_has_steps(summary))
        return NAN;
    if (!figure->parts) {
        const double value = at_path(summary, figure->path) * (figure->scale > 0 ? figure->scale : 1);

        return strcmp(figure->unit, "ps") == 0 ? round(value) : value;
    }
    if (!tm_step_parts(summary, part, &total))
        return NAN;
    for (int i = 0; i < TM_PARTS; i++)
        sum += figure->parts >> i & 1 ? part[i] : 0;
    return round(sum);
}

static void add_count(struct tm_value *to, const char *key, const struct tm_value *count)
{
    if (tm_has(count))
        tm_add_int(to, key, tm_int(count));
    else
        tm_add_null(to, key, NULL);
}

void tm_history_facts(struct tm_value *to, const struct tm_value *summary)
{
    const struct tm_value *const hosts = tm_path(summary, "input.hosts");
    struct tm_value *part = tm_add_object(to, "figures");

    for (size_t i = 0; i < tm_figure_count; i++)
        tm_add_double(part, tm_figure_table[i].id, value_of(summary, &tm_figure_table[i]));
    part = tm_add_object(to, "facts");
    tm_add_known(part, "run", tm_text(tm_path(summary, "input.run")), NULL);
    tm_add_uint(part, "hosts", tm_length(hosts));
    add_count(part, "devices", tm_path(summary, "total.devices"));
    tm_add_known(part, "platform", tm_text(tm_path(summary, "environment.platform")), NULL);
    tm_add_known(part, "model", tm_device_model(summary), NULL);
    tm_add_bool(part, "partial", tm_is(tm_path(summary, "input.partial")));
    part = tm_add_object(to, "verdict");
    tm_add_known(part, "text", tm_text(tm_path(summary, "verdict.text")), NULL);
    tm_add_known(part, "severity", tm_text(tm_path(summary, "verdict.severity")), NULL);
    tm_add_known(part, "finding", tm_text(tm_path(summary, "findings[0].title")), NULL);
}
