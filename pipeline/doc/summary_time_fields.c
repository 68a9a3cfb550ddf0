/* SPDX-License-Identifier: Apache-2.0 */
/* The summary, where the time goes: window, steps, devices, gaps, balance, programs, the host, compilations. */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

const struct tm_doc_field tm_doc_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_place[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Duration" },
    { .key = NULL },
};

static const struct tm_doc_field window_hosts[] = {
    { "host", TM_DOC_HOST, .title = "Host" },
    { "devices", TM_DOC_COUNT, .help = "Hosts with a window." },
    { "begin_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "Start" },
    { "end_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "End" },
    { "span_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Span" },
    { "steps_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Sum of the step times in it." },
    { .key = NULL },
};

static const struct tm_doc_field window_job[] = {
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "end_ps", TM_DOC_MOMENT, .title = "End" },
    { "span_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Span" },
    { "steps_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Steps" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_window[] = {
    { "mode", TM_DOC_WORD, .title = "Mode", .words = "steps|all|session" },
    { "hosts", TM_DOC_OBJECT | TM_DOC_LIST, .help = "One row per group of devices that are active at the same time.",
      .fields = window_hosts },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Sum of the windows of all devices." },
    { "job", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "The analyzed steps of all hosts, in the time of the host whose "
      "profile started first; null for one host, or if the clocks do not agree.", .fields = window_job },
    { .key = NULL },
};

static const struct tm_doc_field steps_skipped[] = {
    { "number", TM_DOC_INTEGER, .title = "Step" },
    { "reason", TM_DOC_PROSE, .title = "Reason for exclusion" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { .key = NULL },
};

static const struct tm_doc_field by_direction[] = {
    { "h2d", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Host to device" },
    { "d2h", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Device to host" },
    { "p2p", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Device to device" },
    { "d2d", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Within a device" },
    { "other", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Other" },
    { .key = NULL },
};

static const struct tm_doc_field steps_parts[] = {
    { "compute_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Compute" },
    { "exposed_collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed collectives" },
    { "exposed_copy_ps", TM_DOC_OBJECT | TM_DOC_SUM, .title = "Exposed copies", .fields = by_direction },
    { "idle_ps", TM_DOC_TIME | TM_DOC_MAP | TM_DOC_OF_NULLS | TM_DOC_SUM, .title = "Idle", .words = TM_DOC_CAUSES },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Total" },
    { .key = NULL },
};

static const struct tm_doc_field steps_list[] = {
    { "number", TM_DOC_INTEGER, .title = "Step" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "begin_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "Start" },
    { "host_span_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Host span", .help = "Duration of the step's marker on "
      "the host." },
    { "device", TM_DOC_DEVICE | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Device",
      .help = "The busiest device, to which the parts refer." },
    { "device_span_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Device span", .help = "From the first start to the "
      "last end of the step's activities on the device." },
    { "period_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_ADDS, .title = "Step time" },
    { "end_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "End", .help = "Last end of the step's activities on the "
      "device; else of its marker on the host." },
    { "busy_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Busy", .help = "Time of the step in which the device works; "
      "on a TPU including the waits of the core." },
    { "compute_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Compute", .help = "Time of the step in which the device "
      "computes." },
    { "exposed_collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Exposed collectives",
      .help = "Time of the step in which only a collective runs." },
    { "exposed_copy_ps", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Exposed copies", .fields = by_direction },
    { "idle_ps", TM_DOC_TIME | TM_DOC_MAP | TM_DOC_OR_NULL | TM_DOC_OF_NULLS, .title = "Idle", .words = TM_DOC_CAUSES },
    { "launches", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Launches",
      .help = "Host calls that start work." },
    { "compile", TM_DOC_BOOL, .title = "Compiles", .help = "Whether a compile started while the step ran." },
    { "warmup", TM_DOC_BOOL, .title = "Warm-up" },
    { "complete", TM_DOC_BOOL, .title = "Complete" },
    { "chosen", TM_DOC_BOOL, .title = "Analyzed" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_steps[] = {
    { "source", TM_DOC_WORD, .title = "Step source", .help = "What defines the boundaries of the steps.",
      .words = "host|group|tpu|module|session" },
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Module" },
    { "count", TM_DOC_COUNT, .title = "Steps in the profile" },
    { "chosen", TM_DOC_COUNT, .title = "Analyzed", .help = "Complete steps that are not warm-up, or those selected "
      "by --steps." },
    { "warmup", TM_DOC_COUNT, .title = "Excluded as warm-up", .help = "Leading steps that compile or take more than "
      "twice the median of the others." },
    { "incomplete", TM_DOC_COUNT, .title = "Excluded as incomplete", .help = "Steps that the profile "
      "contains only partly." },
    { "skipped", TM_DOC_OBJECT | TM_DOC_LIST, .help = "The first of them.", .fields = steps_skipped, .most = 100 },
    { "basis", TM_DOC_WORD, .help = "How step time is measured: from end to end, or by the step's marker on the host.",
      .words = "period|host_span" },
    { "samples", TM_DOC_COUNT, .title = "Samples" },
    { "mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean" },
    { "median_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Median", .help = "Over the step times of the analyzed "
      "steps. A step time runs from the latest end of the previous step on any device to the latest end of this one; "
      "without device activity, it is the duration of the step on the host. Percentiles are nearest ranks." },
    { "p90_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "90th percentile" },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "95th percentile" },
    { "stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_FRACTION, .title = "Standard deviation" },
    { "min_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Min" },
    { "max_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Max" },
    { "lag1", TM_DOC_NUMBER | TM_DOC_OR_NULL, .help = "Lag-1 autocorrelation: how much a step time depends on the "
      "previous one.", .least = -1, .most = 1 },
    { "effective_samples", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_FRACTION, .help = "Number of independent samples "
      "that the steps are equivalent to." },
    { "samples_ps", TM_DOC_TIME | TM_DOC_LIST, .help = "The step times.", .most = 4096 },
    { "parts", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Sum over all analyzed steps and devices.",
      .fields = steps_parts },
    { "list", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN,
      .help = "The first 1000 and the 1000 slowest, one row per group of devices; the parts are those of the busiest "
        "device.", .fields = steps_list, .most = 2000 },
    { .key = NULL },
};

static const struct tm_doc_field work[] = {
    { "count", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Total" },
    { .key = NULL },
};

static const struct tm_doc_field devices_tpu_waits[] = {
    { "copy", TM_DOC_OBJECT, .title = "Copies", .fields = work },
    { "collective", TM_DOC_OBJECT, .title = "Collectives", .fields = work },
    { "host", TM_DOC_OBJECT, .title = "Host", .fields = work },
    { .key = NULL },
};

static const struct tm_doc_field devices_tpu_starts[] = {
    { "copy", TM_DOC_OBJECT, .title = "Copies", .fields = work },
    { "collective", TM_DOC_OBJECT, .title = "Collectives", .fields = work },
    { .key = NULL },
};

static const struct tm_doc_field moved[] = {
    { "count", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Count" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Copied" },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Total" },
    { .key = NULL },
};

static const struct tm_doc_field devices_tpu_in_flight[] = {
    { "copy", TM_DOC_OBJECT, .title = "Copies", .fields = moved },
    { "collective", TM_DOC_OBJECT, .title = "Collectives", .fields = moved },
    { .key = NULL },
};

static const struct tm_doc_field devices_tpu[] = {
    { "waits", TM_DOC_OBJECT, .help = "By what the core waits for.", .fields = devices_tpu_waits },
    { "starts", TM_DOC_OBJECT, .help = "What the core starts.", .fields = devices_tpu_starts },
    { "in_flight", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "In flight", .fields = devices_tpu_in_flight },
    { .key = NULL },
};

static const struct tm_doc_field devices_utilization[] = {
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "end_ps", TM_DOC_MOMENT, .title = "End" },
    { "bin_ps", TM_DOC_TIME, .title = "Interval length", .least = 1 },
    { "busy_ps", TM_DOC_TIME | TM_DOC_LIST, .help = "Busy time of each interval.", .most = 240 },
    { .key = NULL },
};

static const struct tm_doc_field gap_causes[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Gaps" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time" },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Share", .help = "As a share of the "
      "idle time in gaps." },
    { "main_ps", TM_DOC_TIME | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "From the main thread only",
      .help = "Part of the time: another thread launches and recorded too few events in these gaps, so the main "
        "thread's activity is shown instead." },
    { .key = NULL },
};

static const struct tm_doc_field stretch[] = {
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Duration" },
    { .key = NULL },
};

static const struct tm_doc_field devices_gaps[] = {
    { "count", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Gaps" },
    { "count_min", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Long gaps", .help = "Gaps of at least the "
      "listed duration (--gap-min)." },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Total" },
    { "by_cause", TM_DOC_OBJECT | TM_DOC_MAP, .title = "By cause", .words = TM_DOC_CAUSES, .fields = gap_causes },
    { "longest", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN,
      .help = "The longest gaps.", .fields = stretch, .most = 20, .whole = "count|total_ps" },
    { .key = NULL },
};

static const struct tm_doc_field devices_kernels[] = {
    { "count", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Kernels" },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Total" },
    { "min_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Min" },
    { "max_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Max" },
    { .key = NULL },
};

static const struct tm_doc_field devices_aliases[] = {
    { "computation", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Computation" },
    { "exposed_comm", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Exposed communication" },
    { "exposed_memcpy", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Exposed copies" },
    { "busy", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Busy" },
    { "idle", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Idle" },
    { .key = NULL },
};

static const struct tm_doc_field devices_steps[] = {
    { "activities", TM_DOC_COUNT | TM_DOC_LIST | TM_DOC_OF_NULLS, .title = "Activities", .most = 1000 },
    { "first_ps", TM_DOC_MOMENT | TM_DOC_LIST | TM_DOC_OF_NULLS, .title = "First", .most = 1000 },
    { "last_ps", TM_DOC_MOMENT | TM_DOC_LIST | TM_DOC_OF_NULLS, .title = "Last", .most = 1000 },
    { "period_ps", TM_DOC_TIME | TM_DOC_LIST | TM_DOC_OF_NULLS, .help = "Its own time range.", .most = 1000 },
    { "device_span_ps", TM_DOC_TIME | TM_DOC_LIST | TM_DOC_OF_NULLS, .title = "Device span", .most = 1000 },
    { "busy_ps", TM_DOC_TIME | TM_DOC_LIST | TM_DOC_OF_NULLS, .title = "Busy", .most = 1000 },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_devices[] = {
    { "id", TM_DOC_DEVICE | TM_DOC_FILLED, .title = "Device", .help = "\"vm/gpu:0\"." },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "name", TM_DOC_NAME, .title = "Name" },
    { "kind", TM_DOC_WORD, .title = "Kind", .words = "gpu|tpu|cpu" },
    { "model", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Model" },
    { "window_begin_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "Start of the window" },
    { "window_end_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "End of the window" },
    { "first_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "First activity" },
    { "last_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "Last activity" },
    { "span_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Span", .help = "The device's window: from the "
      "start of the first to the end of the last analyzed step." },
    { "busy_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM | TM_DOC_ADDS, .title = "Busy", .help = "Time in which at "
      "least one activity runs; on a TPU including the waits of the core." },
    { "idle_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Idle", .help = "Time in the window in which no "
      "activity runs." },
    { "lead_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Idle before first activity", .help = "Idle time at the "
      "start of the window." },
    { "trail_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Idle after last activity", .help = "Idle time at the end "
      "of the window." },
    { "compute_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Compute", .help = "Time in which a kernel "
      "or an operation runs that is neither a collective nor a copy; memsets count." },
    { "collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "In collectives" },
    { "exposed_collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed collectives",
      .help = "Time in which a collective runs and nothing computes on that device." },
    { "copy_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "In copies" },
    { "exposed_copy_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed copies",
      .help = "Time in which a copy runs, but neither a kernel nor a collective." },
    { "exposed_by_direction_ps", TM_DOC_OBJECT | TM_DOC_SUM, .title = "Exposed copies by direction",
      .fields = by_direction },
    { "wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Waits", .help = "Time in which the core of a "
      "TPU waits for asynchronous work; part of the busy time." },
    { "wait_copy_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "For copies" },
    { "wait_collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "For collectives" },
    { "wait_host_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "For the host" },
    { "in_flight_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "In flight", .help = "Time in which copies "
      "or collectives run alongside the core of a TPU." },
    { "hidden_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Hidden", .help = "Part of that time in which "
      "the core computes." },
    { "tpu", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "What the core of a TPU waits for and starts, and what is in "
      "flight; null on other devices.", .fields = devices_tpu },
    { "utilization_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Utilization", .help = "Busy time divided by the "
      "window; on a TPU, the waits of the core do not count as busy." },
    { "utilization", TM_DOC_OBJECT, .help = "The recorded time of the host's devices, divided at multiples of "
      "bin_ps: the first interval starts at begin_ps, the last ends at end_ps. With more than 273 devices there are "
      "fewer intervals: 65536 in total.", .fields = devices_utilization },
    { "activities", TM_DOC_COUNT | TM_DOC_SUM, .title = "Activities", .help = "What runs on a device: kernels or "
      "operations, collectives, copies, memsets, and CUDA graphs that the profile records as one event each." },
    { "gaps", TM_DOC_OBJECT, .title = "Gaps", .fields = devices_gaps },
    { "kernels", TM_DOC_OBJECT, .title = "Kernels", .fields = devices_kernels },
    { "collectives", TM_DOC_OBJECT, .title = "Collectives", .fields = work },
    { "copies", TM_DOC_OBJECT, .title = "Copies", .fields = moved },
    { "memsets", TM_DOC_OBJECT, .title = "Memsets", .fields = moved },
    { "graphs", TM_DOC_OBJECT, .title = "Graphs", .fields = work },
    { "reliability", TM_DOC_TERM, .title = "Recorded as", .help = "Single kernels: the profile contains every kernel. "
      "Whole graphs: a graph is one event, so pauses inside it are not visible.", .words = "full|graph" },
    { "aliases", TM_DOC_OBJECT | TM_DOC_SUM, .help = "The same values under the names that other tools use.",
      .fields = devices_aliases },
    { "steps", TM_DOC_OBJECT, .help = "The first 1000 steps, fewer with many devices: 16384 in total; null if a step "
      "has no activity.", .fields = devices_steps },
    { "exposed_wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "Waiting",
      .help = "Part of exposed_collective_ps: waiting for late devices. The three parts add up to it." },
    { "exposed_move_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "Moving",
      .help = "Part of exposed_collective_ps: after all devices have arrived." },
    { "exposed_unmatched_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "Unmatched",
      .help = "Part of exposed_collective_ps: without a known counterpart." },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_unused[] = {
    { "host", TM_DOC_HOST, .title = "Host" },
    { "name", TM_DOC_NAME, .title = "Device without activity" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_total[] = {
    { "devices", TM_DOC_COUNT, .title = "Devices" },
    { "window_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Windows" },
    { "busy_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Busy" },
    { "idle_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Idle" },
    { "compute_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Compute" },
    { "collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "In collectives" },
    { "exposed_collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed collectives" },
    { "copy_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "In copies" },
    { "exposed_copy_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed copies" },
    { "exposed_by_direction_ps", TM_DOC_OBJECT | TM_DOC_SUM, .title = "Exposed copies by direction",
      .fields = by_direction },
    { "utilization_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Utilization" },
    { "worst_device", TM_DOC_DEVICE | TM_DOC_OR_NULL, .title = "Device with the lowest utilization" },
    { "worst_utilization_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Its utilization" },
    { "exposed_wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "Waiting" },
    { "exposed_move_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "Moving" },
    { "exposed_unmatched_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "Unmatched" },
    { .key = NULL },
};

static const struct tm_doc_field gaps_pauses[] = {
    { "below_ps", TM_DOC_TIME, .title = "Shorter than" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Pauses between launched work", .help = "Gaps under 10 \xc2\xb5s "
      "in which the next activity had already been launched; longer ones are device stalls." },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time in pauses" },
    { .key = NULL },
};

static const struct tm_doc_field gaps_short[] = {
    { "from_ps", TM_DOC_TIME, .title = "From" },
    { "below_ps", TM_DOC_TIME, .title = "Shorter than" },
    { "by_cause", TM_DOC_OBJECT | TM_DOC_MAP, .title = "By cause", .words = TM_DOC_CAUSES, .fields = gap_causes },
    { .key = NULL },
};

static const struct tm_doc_field gaps_histogram[] = {
    { "from_ps", TM_DOC_TIME, .title = "From" },
    { "to_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "To" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Gaps" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time" },
    { .key = NULL },
};

static const struct tm_doc_field gaps_longest_calls[] = {
    { "count", TM_DOC_COUNT, .title = "Count" },
    { "long_count", TM_DOC_COUNT, .help = "Calls of 1 ms or more." },
    { "usual_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Typical calls",
      .help = "Average duration of events with this "
      "name elsewhere in the profile, among those under 1 ms." },
    { .key = NULL },
};

static const struct tm_doc_field gaps_longest[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Duration" },
    { "before", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Before", .help = "The activity that ends where the gap "
      "starts." },
    { "after", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "After", .help = "The activity that starts where the gap ends." },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step" },
    { "cause", TM_DOC_CAUSE, .title = "Cause", .help = "What the launching host thread did during the largest part "
      "of the gap." },
    { "host_event", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Host event", .help = "The host event that indicates the "
      "cause." },
    { "host_thread", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Thread", .help = "The thread of that event: the "
      "launching thread, or the main thread instead.", .words = "launching|main" },
    { "launch", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "The call that launched the activity after the gap, and its "
      "duration.",
      .fields = stretch },
    { "calls", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Events with that name.", .fields = gaps_longest_calls },
    { "parts", TM_DOC_TIME | TM_DOC_MAP, .help = "The gap by cause.", .words = TM_DOC_CAUSES },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_gaps[] = {
    { "count", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Gaps", .help = "Maximal intervals without an "
      "activity on a device. The sums include all of them, the lists only those of a minimum duration." },
    { "count_min", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Gaps of gap_min_ps or more." },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Idle time in gaps" },
    { "gap_min_ps", TM_DOC_TIME, .title = "Minimum listed duration" },
    { "by_cause", TM_DOC_OBJECT | TM_DOC_MAP, .title = "By cause", .words = TM_DOC_CAUSES, .fields = gap_causes },
    { "pauses", TM_DOC_OBJECT, .help = "device_wait in gaps shorter than that.", .fields = gaps_pauses },
    { "short", TM_DOC_OBJECT, .help = "Gaps in this range of durations.", .fields = gaps_short },
    { "histogram", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Histogram", .fields = gaps_histogram, .most = 64 },
    { "longest", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Longest gaps",
      .fields = gaps_longest, .most = 50, .whole = "count|total_ps" },
    { .key = NULL },
};

static const struct tm_doc_field critical_path_kinds[] = {
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time" },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { "steps", TM_DOC_COUNT | TM_DOC_SUM, .title = "Steps bound", .help = "Steps in which it is the largest part of "
      "the path." },
    { .key = NULL },
};

static const struct tm_doc_field critical_path_rows[] = {
    { "number", TM_DOC_INTEGER, .title = "Step" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "total_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Length", .help = "Of the step on the devices of the host; the "
      "parts below add up to it." },
    { "bound_by", TM_DOC_CAUSE | TM_DOC_OWN, .title = "Bound by", .help = "The largest part.", .words = TM_DOC_PATH_KINDS },
    { "compute_ps", TM_DOC_TIME, .title = "Compute" },
    { "collective_ps", TM_DOC_TIME, .title = "Collectives", .help = "From the moment the last device on the same host "
      "starts it." },
    { "copy_ps", TM_DOC_TIME, .title = "Copies" },
    { "device_wait_ps", TM_DOC_TIME, .title = "Device stall" },
    { "launch_ps", TM_DOC_TIME, .title = "Launch overhead" },
    { "compile_ps", TM_DOC_TIME, .title = "Compilation" },
    { "input_ps", TM_DOC_TIME, .title = "Input pipeline" },
    { "sync_ps", TM_DOC_TIME, .title = "Host sync" },
    { "gc_ps", TM_DOC_TIME, .title = "Garbage collection" },
    { "profiler_ps", TM_DOC_TIME, .title = "Profiler" },
    { "host_ps", TM_DOC_TIME, .title = "Host code" },
    { "unrecorded_ps", TM_DOC_TIME, .title = "Not recorded" },
    { "activities", TM_DOC_COUNT, .title = "Activities", .help = "Device activities that start in the step." },
    { "on_path", TM_DOC_COUNT, .title = "On the path", .help = "Of these, those on the path." },
    { "switches", TM_DOC_COUNT, .title = "Device changes", .help = "How often the path moves from one device to "
      "another: at a collective, or at a wait of the host." },
    { .key = NULL },
};

static const struct tm_doc_field critical_path_contributors[] = {
    { "kind", TM_DOC_CAUSE | TM_DOC_OWN, .title = "Kind", .words = TM_DOC_PATH_KINDS },
    { "name", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Name", .help = "An activity, or what the host did; for a "
      "launch or a device wait of 10 us or more, the activity that started after it." },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Op" },
    { "source", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Source" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time" },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { .key = NULL },
};

static const struct tm_doc_field critical_path_devices[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time on the path", .help = "Of its activities." },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { .key = NULL },
};

static const struct tm_doc_field critical_path_replay_rows[] = {
    { "without", TM_DOC_CAUSE | TM_DOC_OWN, .title = "Without", .help = "What is left out: all of a kind; stragglers: the last device "
      "starts each collective together with the one before it; imbalance: no device computes longer than the mean; "
      "compute_half, compute_quarter: that part of the compute.",
      .words = TM_DOC_REPLAYS },
    { "path_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "On the path", .help = "Its time on the critical "
      "paths of all analyzed steps, which savings of the host cannot exceed." },
    { "replayed_path_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "The same for the replayed steps." },
    { "saved_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Saved", .help = "Of the length of all analyzed steps, at the share "
      "of the replayed ones; for a kind of the host, in proportion to its time on the path, and at most that." },
    { "saved_pct", TM_DOC_SHARE, .title = "Shorter by", .help = "As a share of the length of the replayed steps." },
    { .key = NULL },
};

static const struct tm_doc_field critical_path_replay[] = {
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Replays", .fields = critical_path_replay_rows },
    { "steps", TM_DOC_COUNT, .title = "Replayed steps", .help = "Steps at equal distances: on each host at least one, "
      "and as many as have 4,096 activities together." },
    { "activities", TM_DOC_COUNT, .title = "Activities" },
    { "total_ps", TM_DOC_TIME, .title = "Length of the replayed steps" },
    { "error_ps", TM_DOC_TIME, .help = "How much shorter the steps are in a replay that leaves nothing out." },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_critical_path[] = {
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Steps", .help = "The analyzed steps of each host, "
      "in their order.", .fields = critical_path_rows },
    { "rest", TM_DOC_OBJECT, .title = "Remaining steps", .fields = tm_doc_rest },
    { "steps", TM_DOC_COUNT | TM_DOC_SUM, .title = "Steps" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Length of the paths", .help = "The sum of the lengths of the "
      "steps; all kinds add up to it." },
    { "by_kind", TM_DOC_OBJECT | TM_DOC_MAP, .title = "By kind", .help = "What the paths consist of.",
      .words = TM_DOC_PATH_KINDS, .fields = critical_path_kinds },
    { "contributors", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Contributors", .help = "Call sites, and work of the "
      "host, by their time on the paths.", .fields = critical_path_contributors },
    { "contributors_rest", TM_DOC_OBJECT, .title = "Remaining contributors", .fields = tm_doc_rest },
    { "devices", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Devices", .fields = critical_path_devices },
    { "replay", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "How long the steps would take without a part of their work: "
      "their dependencies, followed again.", .fields = critical_path_replay },
    { .key = NULL },
};

static const struct tm_doc_field programs_pauses_longest[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Duration" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step" },
    { "before", TM_DOC_NAME, .title = "Before" },
    { "after", TM_DOC_NAME, .title = "After" },
    { .key = NULL },
};

static const struct tm_doc_field programs_pauses[] = {
    { "below_ps", TM_DOC_TIME, .title = "Shorter than" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Pauses between programs" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time in pauses" },
    { "longest", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Longest pauses",
      .fields = programs_pauses_longest, .most = 10, .whole = "count|total_ps" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_programs[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Executions", .help = "Executions of compiled programs in the "
      "analyzed steps." },
    { "per_step", TM_DOC_NUMBER, .title = "Programs per step and device", .help = "Per device, too." },
    { "operations", TM_DOC_COUNT | TM_DOC_SUM, .title = "Operations" },
    { "operation_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Operation time" },
    { "pauses", TM_DOC_OBJECT, .help = "Intervals under 100 \xc2\xb5s between the operations of one program and "
      "those of the next in which the device is idle.", .fields = programs_pauses },
    { .key = NULL },
};

static const struct tm_doc_field host_launches[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Launches", .help = "Calls that start activities; a graph or a "
      "TPU program counts once." },
    { "per_step", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Launches per step" },
    { "unknown_count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Activities without a known launch",
      .help = "Device activities that the profile does not link to a host call." },
    { .key = NULL },
};

static const struct tm_doc_field host_launch_delay[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "p50_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Launch latency, median", .help = "From the start of the "
      "launch call to the start of the first activity that it launches." },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Launch latency, p95" },
    { "max_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Launch latency, max" },
    { "negative", TM_DOC_COUNT | TM_DOC_SUM, .title = "Started before their launch (clock skew)" },
    { .key = NULL },
};

static const struct tm_doc_field host_queue_empty[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Idle with an empty launch queue" },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Idle with an empty launch queue, share of window" },
    { "longest", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Longest intervals",
      .fields = tm_doc_place, .most = 10, .whole = "count|total_ps" },
    { .key = NULL },
};

static const struct tm_doc_field host_windows[] = {
    { "host", TM_DOC_HOST, .title = "Host" },
    { "basis", TM_DOC_WORD, .title = "Basis", .words = "steps|devices|all" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "end_ps", TM_DOC_MOMENT, .title = "End" },
    { .key = NULL },
};

static const struct tm_doc_field host_sync_rows[] = {
    { "name", TM_DOC_NAME, .title = "Wait" },
    { "caller", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "In function", .help = "The innermost enclosing Python "
      "function." },
    { "annotation", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "In annotation", .help = "The innermost enclosing "
      "annotation." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "longest_begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "longest_ps", TM_DOC_TIME, .title = "Longest" },
    { .key = NULL },
};

static const struct tm_doc_field host_sync[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Host sync calls" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time in host sync" },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Rows", .fields = host_sync_rows },
    { "rest", TM_DOC_OBJECT, .title = "Remaining rows", .fields = tm_doc_rest },
    { .key = NULL },
};

static const struct tm_doc_field host_calls[] = {
    { "name", TM_DOC_NAME, .title = "Name" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self", .help = "Time outside nested events." },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total", .help = "Sum of the durations." },
    { .key = NULL },
};

static const struct tm_doc_field host_calls_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self" },
    { .key = NULL },
};

static const struct tm_doc_field host_threads[] = {
    { "host", TM_DOC_HOST, .title = "Host" },
    { "name", TM_DOC_NAME, .title = "Thread" },
    { "events", TM_DOC_COUNT | TM_DOC_SUM, .title = "Events" },
    { "busy_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Busy", .help = "Union of the thread's events." },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share", .help = "Share of the time on the basis used." },
    { "first_ps", TM_DOC_MOMENT, .title = "First event" },
    { "last_ps", TM_DOC_MOMENT, .title = "Last event" },
    { "ops", TM_DOC_COUNT, .title = "Ops", .help = "Operations that ran on this thread (where the CPU is the device)." },
    { "op_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "In ops" },
    { "is_main", TM_DOC_BOOL, .title = "Main", .help = "Whether it is the program's main thread." },
    { .key = NULL },
};

static const struct tm_doc_field host_threads_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "events", TM_DOC_COUNT | TM_DOC_SUM, .title = "Events" },
    { "busy_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Busy" },
    { .key = NULL },
};

static const struct tm_doc_field host_eager[] = {
    { "programs_per_step", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Programs or launches per step and device" },
    { "single_op_programs_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "With a single operation" },
    { "launch_gap_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Pauses right before those" },
    { "small_kernel_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Their short operations",
      .help = "Operations under 100 \xc2\xb5s." },
    { "host_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Host calls that start programs" },
    { .key = NULL },
};

static const struct tm_doc_field host_tracers[] = {
    { "tracer", TM_DOC_TERM, .title = "Tracer", .words = "python|host|driver_calls|device", .help = "python: Python "
      "function calls. host: spans of the runtime and annotations. driver_calls: calls of the GPU's driver. device: "
      "activities of the devices." },
    { "events", TM_DOC_COUNT | TM_DOC_SUM, .title = "Events", .help = "Recorded while the analyzed steps ran." },
    { "main_events", TM_DOC_COUNT | TM_DOC_SUM, .title = "On the main thread" },
    { "event_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Cost of one", .help = "As measured with JAX 0.10.2." },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "All threads", .help = "Events times cost." },
    { "main_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Main thread" },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share", .help = "Of the main thread's time." },
    { "option", TM_DOC_WORD, .title = "To record less", .help = "Member of jax.profiler.ProfileOptions, "
      "or of its advanced_configuration." },
    { .key = NULL },
};

static const struct tm_doc_field host_profiling[] = {
    { "tracers", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Cost of profiling by tracer",
      .fields = host_tracers },
    { "window_ps", TM_DOC_TIME, .title = "Analyzed host time", .help = "Of all hosts." },
    { "recorded_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Recorded by the profiler", .help = "Time that the profiler "
      "recorded of its own work (overhead events), on all threads." },
    { "main_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Estimated cost of profiling", .help = "Estimated "
      "time that the tracers took on the main threads: events times the cost of one." },
    { "share_pct", TM_DOC_SHARE, .title = "Cost of profiling", .help = "Of the main threads' time." },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_host[] = {
    { "overhead_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Idle time attributed to the host",
      .help = "Idle time of devices due to launch, input, sync, host code, compilation and garbage collection." },
    { "overhead_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Host overhead",
      .help = "Idle time attributed to the host, as a share of the window." },
    { "launches", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Launches", .fields = host_launches },
    { "launch_delay", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "From the start of a call to the start of the activity "
      "that it launched.", .fields = host_launch_delay },
    { "queue_empty", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "The device is idle, and no launched work is queued.",
      .fields = host_queue_empty },
    { "windows", TM_DOC_OBJECT | TM_DOC_LIST, .help = "What counts as the host's own time below.",
      .fields = host_windows },
    { "sync", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Calls that wait for a device or a result; nested waits count "
      "once.", .fields = host_sync },
    { "python", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Python functions", .fields = host_calls },
    { "python_rest", TM_DOC_OBJECT, .title = "Remaining functions", .fields = host_calls_rest },
    { "annotations", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Annotations", .fields = host_calls },
    { "annotations_rest", TM_DOC_OBJECT, .title = "Remaining annotations", .fields = host_calls_rest },
    { "threads", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Threads", .fields = host_threads },
    { "threads_rest", TM_DOC_OBJECT, .title = "Remaining threads", .fields = host_threads_rest },
    { "profiling", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "What profiling itself costs.", .fields = host_profiling },
    { "eager", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Small programs and launches.", .fields = host_eager },
    { .key = NULL },
};

static const struct tm_doc_field compile_recompiled[] = {
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Module" },
    { "count", TM_DOC_COUNT, .title = "Count" },
    { .key = NULL },
};

static const struct tm_doc_field compile_events[] = {
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Module" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Duration" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step", .help = "The step in which it started; empty outside "
      "of steps." },
    { "shapes", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Shapes" },
    { .key = NULL },
};

static const struct tm_doc_field compile_programs[] = {
    { "module", TM_DOC_NAME, .title = "Module" },
    { "program_id", TM_DOC_INTEGER, .title = "Program", .help = "Id of the program: the same module compiled for "
      "other shapes is another program." },
    { "shapes", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Shapes", .help = "Types and shapes of the program's "
      "arguments, from the HLO in the profile." },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_compile[] = {
    { "count", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Compiles", .help = "Over the whole session, including "
      "warm-up; nested compiles are not counted again." },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Time" },
    { "longest_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Longest" },
    { "inside_steps", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "During analyzed steps",
      .help = "Compiles that start in an analyzed step.", .fields = work },
    { "source", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Counted by", .help = "The events that count as "
      "a compile: backend_compile is JAX's own event, client the runtime's call, xla the compiler itself.",
      .words = "backend_compile|client|xla" },
    { "recompiled", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Compiled repeatedly", .fields = compile_recompiled },
    { "events", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN,
      .help = "The longest compiles, in time order.", .fields = compile_events,
      .most = 500 },
    { "programs", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Modules with several programs in the HLO, in the order of "
      "their creation.", .fields = compile_programs },
    { .key = NULL },
};

static const struct tm_doc_field balance_busy[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "busy_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Busy" },
    { "compute_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Compute" },
    { "exposed_collective_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Exposed collectives",
      .help = "Time in which only a collective runs: a device that arrives early waits there for the others." },
    { "kernels", TM_DOC_COUNT | TM_DOC_SUM, .title = "Kernels" },
    { .key = NULL },
};

static const struct tm_doc_field balance_steps[] = {
    { "count", TM_DOC_COUNT, .title = "Count" },
    { "spread_median_pct", TM_DOC_PERCENT, .title = "Per step, median" },
    { "spread_max_pct", TM_DOC_PERCENT, .title = "Per step, max" },
    { "worst_step", TM_DOC_INTEGER, .title = "Most uneven step", .help = "The step with the largest difference "
      "between the devices' compute times." },
    { .key = NULL },
};

static const struct tm_doc_field balance_ops[] = {
    { "name", TM_DOC_NAME, .title = "Operation" },
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Module" },
    { "devices", TM_DOC_COUNT, .title = "Devices" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "min_ps", TM_DOC_TIME, .title = "Min" },
    { "max_ps", TM_DOC_TIME, .title = "Max" },
    { "mean_ps", TM_DOC_TIME, .title = "Mean" },
    { "spread_pct", TM_DOC_PERCENT, .title = "Spread" },
    { "slowest", TM_DOC_DEVICE, .title = "Slowest", .help = "For an operation, the device with the most time in it." },
    { "kind", TM_DOC_TERM, .title = "Runs on", .help = "All evenly: on all devices, equally often. All unevenly: on "
      "all devices, not equally often. Some: not on all devices.", .words = "all|uneven|some" },
    { "equal", TM_DOC_BOOL, .title = "Even operations" },
    { "excess_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Excess", .help = "Time that all devices "
      "together would save if the slowest were as fast as the mean." },
    { .key = NULL },
};

static const struct tm_doc_field balance_op_kinds[] = {
    { "all", TM_DOC_COUNT, .title = "All evenly" },
    { "uneven", TM_DOC_COUNT, .title = "All unevenly" },
    { "some", TM_DOC_COUNT, .title = "Some" },
    { "single", TM_DOC_COUNT, .title = "One" },
    { .key = NULL },
};

static const struct tm_doc_field balance_same_work_devices[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time" },
    { .key = NULL },
};

static const struct tm_doc_field balance_same_work[] = {
    { "ops", TM_DOC_COUNT, .help = "Operations of the kind all." },
    { "devices", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Devices", .fields = balance_same_work_devices },
    { "spread_pct", TM_DOC_PERCENT, .title = "Difference in the same work" },
    { "slowest", TM_DOC_DEVICE, .title = "Slowest at the same work" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_balance[] = {
    { "busy", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Busy", .fields = balance_busy },
    { "devices", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Devices" },
    { "imbalance_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Imbalance of compute",
      .help = "100 x (max / mean - 1) of the devices' compute times; a spread is the same for one step or operation." },
    { "slowest", TM_DOC_DEVICE | TM_DOC_OR_NULL, .title = "Slowest device", .help = "The device with the most "
      "compute time." },
    { "steps", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Steps", .fields = balance_steps },
    { "ops", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL, .help = "Sorted by excess.",
      .fields = balance_ops, .most = 50 },
    { "op_kinds", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Operations of each kind, and those of a single device.",
      .fields = balance_op_kinds },
    { "same_work", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Same work", .fields = balance_same_work },
    { .key = NULL },
};

static const struct tm_doc_field sharding_programs[] = {
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Program" },
    { "devices", TM_DOC_COUNT, .title = "Devices", .help = "That the program runs on." },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Device time", .help = "Of its operations and collectives." },
    { "repeated_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Repeated", .help = "Time in operations whose result another "
      "device computes as well: of copies on n devices, (n - 1) / n." },
    { "parameters", TM_DOC_COUNT, .title = "Parameters" },
    { "repeated_parameters", TM_DOC_COUNT, .title = "Replicated parameters", .help = "Those of which each device holds "
      "a whole copy." },
    { "repeated_bytes", TM_DOC_BYTES, .title = "Replicated", .help = "Size of these on each device." },
    { "split_bytes", TM_DOC_BYTES, .title = "Split", .help = "Size of the other parameters on each device." },
    { .key = NULL },
};

static const struct tm_doc_field sharding_ops[] = {
    { "name", TM_DOC_NAME, .title = "Operation" },
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Module" },
    { "opcode", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Opcode" },
    { "op", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Framework path" },
    { "source", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Source" },
    { "sharding", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Sharding", .help = "In the HLO. XLA writes it after "
      "partitioning, and few operations still have one." },
    { "devices", TM_DOC_COUNT, .title = "Devices", .help = "That the program runs on." },
    { "copies", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Copies", .help = "Devices that compute the same, by what the "
      "operation depends on: 1 if each computes its own part, all devices if the operation is replicated." },
    { "executions", TM_DOC_COUNT | TM_DOC_SUM, .title = "Executions" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self time" },
    { "share_pct", TM_DOC_SHARE, .title = "Share", .help = "Of the time of all operations of these programs, "
      "collectives excluded." },
    { "repeated_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Repeated", .help = "Self time x (copies - 1) / copies." },
    { .key = NULL },
};

static const struct tm_doc_field sharding_ops_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "executions", TM_DOC_COUNT | TM_DOC_SUM, .title = "Executions" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self time" },
    { "repeated_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Repeated" },
    { .key = NULL },
};

static const struct tm_doc_field sharding_moves[] = {
    { "name", TM_DOC_NAME, .title = "Collective" },
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Module" },
    { "opcode", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Opcode" },
    { "op", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "For operation", .help = "Framework path: of a collective that the "
      "partitioner added, that of the operation that needs it." },
    { "source", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Source" },
    { "origin", TM_DOC_TERM, .title = "Origin", .words = "requested|sums|reshards", .help = "requested: the program "
      "calls it (psum, all_gather). sums: the partitioner added it to sum what devices computed in parts. reshards: the "
      "partitioner added it to bring a value from one sharding to another." },
    { "executions", TM_DOC_COUNT | TM_DOC_SUM, .title = "Executions" },
    { "message_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Message" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Bytes", .help = "Message size times executions." },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time" },
    { .key = NULL },
};

static const struct tm_doc_field sharding_moves_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "executions", TM_DOC_COUNT | TM_DOC_SUM, .title = "Executions" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time" },
    { "bytes", TM_DOC_BYTES | TM_DOC_SUM, .title = "Bytes" },
    { .key = NULL },
};

static const struct tm_doc_field sharding_origin[] = {
    { "executions", TM_DOC_COUNT | TM_DOC_SUM, .title = "Executions" },
    { "bytes", TM_DOC_BYTES | TM_DOC_SUM, .title = "Bytes" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time" },
    { .key = NULL },
};

static const struct tm_doc_field sharding_origins[] = {
    { "requested", TM_DOC_OBJECT, .help = "Collectives that the program calls.", .fields = sharding_origin },
    { "sums", TM_DOC_OBJECT, .help = "All-reduces and reduce-scatters that the partitioner added.",
      .fields = sharding_origin },
    { "reshards", TM_DOC_OBJECT, .help = "Collectives that the partitioner added to change the sharding of a value.",
      .fields = sharding_origin },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_sharding[] = {
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time of operations", .help = "Of programs that run on several "
      "devices, collectives excluded." },
    { "known_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Analyzed", .help = "Of these, the ones whose dependencies could be "
      "followed." },
    { "repeated_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Repeated time", .help = "Time in operations whose result "
      "another device computes as well: of copies on n devices, (n - 1) / n. A lower bound." },
    { "repeated_pct", TM_DOC_SHARE, .title = "Repeated", .help = "Share of the time of operations." },
    { "by_origin", TM_DOC_OBJECT, .title = "Collectives by origin", .fields = sharding_origins },
    { "programs", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Programs on several devices", .help = "Programs on several "
      "devices, those with most time first.", .fields = sharding_programs, .most = 500 },
    { "ops", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Operations", .help = "Operations by repeated time.",
      .fields = sharding_ops },
    { "ops_rest", TM_DOC_OBJECT, .title = "Remaining rows", .fields = sharding_ops_rest },
    { "moves", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Collectives", .help = "Collectives by origin and time.",
      .fields = sharding_moves, .most = 500 },
    { "moves_rest", TM_DOC_OBJECT, .title = "Remaining rows", .fields = sharding_moves_rest },
    { .key = NULL },
};

static const struct tm_doc_field fallback_rows[] = {
    { "name", TM_DOC_NAME, .title = "Function", .help = "The function or, if not known, the kind." },
    { "kind", TM_DOC_WORD | TM_DOC_OPTIONAL, .title = "Kind", .words = "callback|pure_callback|io_callback|"
      "debug_callback|debug_print|custom_call" },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Op" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Start", .help = "Of the longest call." },
    { "longest_ps", TM_DOC_TIME, .title = "Longest" },
    { .key = NULL },
};

static const struct tm_doc_field fallback_calls[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Rows", .fields = fallback_rows },
    { "rest", TM_DOC_OBJECT, .title = "Remaining rows", .fields = tm_doc_rest },
    { .key = NULL },
};

static const struct tm_doc_field fallback_round_trips_longest[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Duration" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_ADDS, .title = "Bytes" },
    { "host_event", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Host event" },
    { .key = NULL },
};

static const struct tm_doc_field fallback_round_trips[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Host round trips" },
    { "host_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Idle time in round trips" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Bytes" },
    { "longest", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Longest round trips",
      .fields = fallback_round_trips_longest,
      .most = 20, .whole = "count" },
    { .key = NULL },
};

static const struct tm_doc_field fallback_place[] = {
    { "name", TM_DOC_NAME, .title = "Operation", .help = "Its name or, of a callback, the function." },
    { "op", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Framework path" },
    { "ran_on", TM_DOC_WORD, .title = "Ran on", .words = "device|host|both", .help = "device: it waits for the host or "
      "exchanges data with it. host: the program was compiled for the device, the operation ran on the host." },
    { "cause", TM_DOC_WORD, .title = "Cause", .words = "callback|cpu_op|host_op", .help = "callback: it calls Python. "
      "cpu_op: it was compiled for the host. host_op: the HLO has a transfer to or from the host." },
    { "device_count", TM_DOC_COUNT | TM_DOC_SUM, .title = "On device" },
    { "device_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Device time" },
    { "host_count", TM_DOC_COUNT | TM_DOC_SUM, .title = "On host" },
    { "host_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Host time" },
    { .key = NULL },
};

static const struct tm_doc_field fallback_place_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "device_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Device time" },
    { "host_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Host time" },
    { .key = NULL },
};

static const struct tm_doc_field fallback_placement[] = {
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Rows", .help = "Those with most host time first.",
      .fields = fallback_place },
    { "rest", TM_DOC_OBJECT, .title = "Remaining rows", .fields = fallback_place_rest },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_fallback[] = {
    { "callbacks", TM_DOC_OBJECT, .help = "Calls from compiled programs back to Python: pure_callback, io_callback, "
      "jax.debug.print and similar.", .fields = fallback_calls },
    { "cpu_ops", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Operations of compiled programs that ran on the CPU "
      "although GPUs or TPUs are present.", .fields = fallback_calls },
    { "host_ops", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Operations that exchange data with the host according to "
      "the HLO.",
      .fields = fallback_calls },
    { "round_trips", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Device gaps between a copy to the host and a copy back "
      "that was launched during the gap.", .fields = fallback_round_trips },
    { "placement", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Operations of compiled programs that the host took part in, "
      "by where they ran: all others ran on the devices alone.", .fields = fallback_placement },
    { .key = NULL },
};

/* clang-format on */
