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
    { "begin_ps", TM_DOC_MOMENT, .title = "Begin" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Length" },
    { .key = NULL },
};

static const struct tm_doc_field window_hosts[] = {
    { "host", TM_DOC_HOST, .title = "Host" },
    { "devices", TM_DOC_COUNT, .help = "With a window." },
    { "begin_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "Begin" },
    { "end_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "End" },
    { "span_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Span" },
    { "steps_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Sum of the step times in it." },
    { .key = NULL },
};

static const struct tm_doc_field window_job[] = {
    { "begin_ps", TM_DOC_MOMENT, .title = "Begin" },
    { "end_ps", TM_DOC_MOMENT, .title = "End" },
    { "span_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Span" },
    { "steps_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Steps" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_window[] = {
    { "mode", TM_DOC_WORD, .title = "Mode", .words = "steps|all|session" },
    { "hosts", TM_DOC_OBJECT | TM_DOC_LIST, .help = "A row for each group of devices that are active at the same "
      "time.", .fields = window_hosts },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Sum over devices of their windows." },
    { "job", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "The analyzed steps of all hosts, in the time of the host whose "
      "profile began first; null of one host, or where clocks do not agree.", .fields = window_job },
    { .key = NULL },
};

static const struct tm_doc_field steps_skipped[] = {
    { "number", TM_DOC_INTEGER, .title = "Step" },
    { "reason", TM_DOC_PROSE, .title = "Left out because" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { .key = NULL },
};

static const struct tm_doc_field by_direction[] = {
    { "h2d", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Host to device" },
    { "d2h", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Device to host" },
    { "p2p", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Device to device" },
    { "d2d", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Inside a device" },
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
    { "begin_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "Begin" },
    { "host_span_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Host span", .help = "Length of the step's marker on the "
      "host." },
    { "device", TM_DOC_DEVICE | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Device",
      .help = "The busiest one, which the parts are of." },
    { "device_span_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Device span", .help = "From the first begin to the "
      "last end of the step's activities on the device." },
    { "period_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_ADDS, .title = "Step time" },
    { "end_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .help = "Of the step time." },
    { "busy_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Busy", .help = "Time of the step in which the device works, "
      "on a TPU with the waits of the core." },
    { "compute_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Compute", .help = "Time of the step in which the device "
      "computes." },
    { "exposed_collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Exposed collectives",
      .help = "Time of the step in which only a collective runs." },
    { "exposed_copy_ps", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Exposed copies", .fields = by_direction },
    { "idle_ps", TM_DOC_TIME | TM_DOC_MAP | TM_DOC_OR_NULL | TM_DOC_OF_NULLS, .title = "Idle", .words = TM_DOC_CAUSES },
    { "launches", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Launches",
      .help = "Calls that start work." },
    { "compile", TM_DOC_BOOL, .title = "Compiles", .help = "Whether something was compiled while the step ran." },
    { "warmup", TM_DOC_BOOL, .title = "Warm-up" },
    { "complete", TM_DOC_BOOL, .title = "Complete" },
    { "chosen", TM_DOC_BOOL, .title = "Analyzed" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_steps[] = {
    { "source", TM_DOC_WORD, .title = "Steps are", .help = "What the borders of the steps were taken from.",
      .words = "host|group|tpu|module|session" },
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Module" },
    { "count", TM_DOC_COUNT, .title = "Steps in the profile" },
    { "chosen", TM_DOC_COUNT, .title = "Analyzed", .help = "Complete steps that are not warm-up, or those that --steps "
      "names." },
    { "warmup", TM_DOC_COUNT, .title = "Left out as warm-up", .help = "Leading steps that compile or take more than "
      "twice the median of the others." },
    { "incomplete", TM_DOC_COUNT, .title = "Left out as incomplete", .help = "Steps that the profile does not have "
      "whole." },
    { "skipped", TM_DOC_OBJECT | TM_DOC_LIST, .help = "The first of them.", .fields = steps_skipped, .most = 100 },
    { "basis", TM_DOC_WORD, .help = "What a step time is: from end to end, or the step's marker on the host.",
      .words = "period|host_span" },
    { "samples", TM_DOC_COUNT, .title = "Samples" },
    { "mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean" },
    { "median_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Median", .help = "Of the step times of the analyzed steps: "
      "from the latest end of the previous step on any device to that of this one. Without device activity, of the "
      "duration of the step on the host. Percentiles are nearest ranks." },
    { "p90_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "90th percentile" },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "95th percentile" },
    { "stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_FRACTION, .title = "Standard deviation" },
    { "min_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Shortest" },
    { "max_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Longest" },
    { "lag1", TM_DOC_NUMBER | TM_DOC_OR_NULL, .help = "How far a step's length follows from the one before: "
      "autocorrelation.", .least = -1, .most = 1 },
    { "effective_samples", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_FRACTION, .help = "How many independent ones they "
      "are worth." },
    { "samples_ps", TM_DOC_TIME | TM_DOC_LIST, .help = "The step times.", .most = 4096 },
    { "parts", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Of all analyzed steps and devices: adds up.",
      .fields = steps_parts },
    { "list", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN,
      .help = "The first 1000 and the 1000 slowest, one for each group of "
      "devices; the parts are those of the busiest device.", .fields = steps_list, .most = 2000 },
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
    { "waits", TM_DOC_OBJECT, .help = "By what it waits for.", .fields = devices_tpu_waits },
    { "starts", TM_DOC_OBJECT, .help = "What it starts.", .fields = devices_tpu_starts },
    { "in_flight", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "In flight", .fields = devices_tpu_in_flight },
    { .key = NULL },
};

static const struct tm_doc_field devices_utilization[] = {
    { "begin_ps", TM_DOC_MOMENT, .title = "Begin" },
    { "end_ps", TM_DOC_MOMENT, .title = "End" },
    { "bin_ps", TM_DOC_TIME, .title = "Length of a stretch", .least = 1 },
    { "busy_ps", TM_DOC_TIME | TM_DOC_LIST, .help = "Busy time of each stretch.", .most = 240 },
    { .key = NULL },
};

static const struct tm_doc_field gap_causes[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Gaps" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time" },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Share", .help = "Of the idle time in "
      "gaps." },
    { "main_ps", TM_DOC_TIME | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "Only the main thread",
      .help = "Of the time: another thread launches, recorded too little in these gaps, and what the main thread did "
      "is told instead." },
    { .key = NULL },
};

static const struct tm_doc_field stretch[] = {
    { "begin_ps", TM_DOC_MOMENT, .title = "Begin" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Length" },
    { .key = NULL },
};

static const struct tm_doc_field devices_gaps[] = {
    { "count", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Gaps" },
    { "count_min", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Long gaps", .help = "Gaps of the least length "
      "that is listed (--gap-min)." },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Total" },
    { "by_cause", TM_DOC_OBJECT | TM_DOC_MAP, .title = "By cause", .words = TM_DOC_CAUSES, .fields = gap_causes },
    { "longest", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN,
      .help = "The longest ones.", .fields = stretch, .most = 20, .whole = "count|total_ps" },
    { .key = NULL },
};

static const struct tm_doc_field devices_kernels[] = {
    { "count", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Kernels" },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Total" },
    { "min_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Shortest" },
    { "max_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Longest" },
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
    { "period_ps", TM_DOC_TIME | TM_DOC_LIST | TM_DOC_OF_NULLS, .help = "Its own.", .most = 1000 },
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
    { "window_begin_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "Begin of the window" },
    { "window_end_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "End of the window" },
    { "first_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "First" },
    { "last_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "Last" },
    { "span_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Span", .help = "The device's window: from the "
      "start of the first to the end of the last analyzed step." },
    { "busy_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM | TM_DOC_ADDS, .title = "Busy", .help = "Time in which at least one "
      "activity runs; on a TPU with the waits of the core." },
    { "idle_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Idle", .help = "The time in the window in which "
      "no activity runs." },
    { "lead_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Idle before first activity", .help = "Idle time at the start "
      "of the window." },
    { "trail_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Idle after last activity", .help = "Idle time at the end of "
      "the window." },
    { "compute_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Compute", .help = "Time in which a kernel or "
      "an operation runs that is no collective or copy; memsets count." },
    { "collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "In collectives" },
    { "exposed_collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed collectives",
      .help = "Time in which a collective runs and nothing computes on that device." },
    { "copy_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "In copies" },
    { "exposed_copy_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed copies",
      .help = "Time in which a copy runs, and neither a kernel nor a collective." },
    { "exposed_by_direction_ps", TM_DOC_OBJECT | TM_DOC_SUM, .title = "Exposed copies by direction",
      .fields = by_direction },
    { "wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Waits", .help = "Time in which the core of a TPU "
      "waits for what runs beside it; it lies in the busy time." },
    { "wait_copy_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "For copies" },
    { "wait_collective_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "For collectives" },
    { "wait_host_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "For the host" },
    { "in_flight_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "In flight", .help = "Time in which copies "
      "or collectives run beside the core of a TPU." },
    { "hidden_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Hidden", .help = "How much of that time the "
      "core computed meanwhile." },
    { "tpu", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "What the core of a TPU waits for and starts, and what is in "
      "flight; null of others.", .fields = devices_tpu },
    { "utilization_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Utilization", .help = "Busy time divided by the "
      "window; on a TPU the waits of the core do not count." },
    { "utilization", TM_DOC_OBJECT, .help = "All recorded time of the host's devices cut at the multiples of bin_ps: "
      "the first stretch begins at begin_ps, the last ends at end_ps. Of more than 273 devices fewer stretches: 65536 "
      "in all.", .fields = devices_utilization },
    { "activities", TM_DOC_COUNT | TM_DOC_SUM, .title = "Activities", .help = "What runs on a device: kernels or "
      "operations, collectives, copies, memsets, and CUDA graphs that the profile has as one event each." },
    { "gaps", TM_DOC_OBJECT, .title = "Gaps", .fields = devices_gaps },
    { "kernels", TM_DOC_OBJECT, .title = "Kernels", .fields = devices_kernels },
    { "collectives", TM_DOC_OBJECT, .title = "Collectives", .fields = work },
    { "copies", TM_DOC_OBJECT, .title = "Copies", .fields = moved },
    { "memsets", TM_DOC_OBJECT, .title = "Memsets", .fields = moved },
    { "graphs", TM_DOC_OBJECT, .title = "Graphs", .fields = work },
    { "reliability", TM_DOC_TERM, .title = "Seen as", .help = "Single kernels: all of them are in the profile. Whole "
      "graphs: a graph is one event, so that pauses inside are not seen.", .words = "full|graph" },
    { "aliases", TM_DOC_OBJECT | TM_DOC_SUM, .help = "The same by the names of other tools.",
      .fields = devices_aliases },
    { "steps", TM_DOC_OBJECT, .help = "The first 1000 steps, of many devices fewer: 16384 in all; null where a step "
      "has no activity.", .fields = devices_steps },
    { "exposed_wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "Waiting",
      .help = "Of exposed_collective_ps: waiting for late devices. The three parts add up to it." },
    { "exposed_move_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "Moving",
      .help = "Of exposed_collective_ps: all have come." },
    { "exposed_unmatched_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "No counterpart",
      .help = "Of exposed_collective_ps: without a counterpart." },
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
    { "exposed_unmatched_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "No counterpart" },
    { .key = NULL },
};

static const struct tm_doc_field gaps_pauses[] = {
    { "below_ps", TM_DOC_TIME, .title = "Shorter than" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Pauses between launched work", .help = "Gaps under 10 \xc2\xb5s in "
      "which the next piece of work had been launched already; longer ones are waits." },
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
    { "long_count", TM_DOC_COUNT, .help = "Those of 1 ms or more." },
    { "usual_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Such calls", .help = "How long events of this name take on "
      "average elsewhere in the profile, those under 1 ms." },
    { .key = NULL },
};

static const struct tm_doc_field gaps_longest[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Begin" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Length" },
    { "before", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Before", .help = "The activity that ends at the gap." },
    { "after", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "After", .help = "The activity that begins behind it." },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step" },
    { "cause", TM_DOC_CAUSE, .title = "Cause", .help = "What the launching thread of the host did during the largest "
      "part of the gap." },
    { "host_event", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "On the host", .help = "The event of the host that tells "
      "it." },
    { "host_thread", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Thread", .help = "Whose event it is: that of the "
      "launching thread, or of the main thread in its place.", .words = "launching|main" },
    { "launch", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "The call that launched what ends the gap, and its length.",
      .fields = stretch },
    { "calls", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Events of that name.", .fields = gaps_longest_calls },
    { "parts", TM_DOC_TIME | TM_DOC_MAP, .help = "The gap by cause.", .words = TM_DOC_CAUSES },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_gaps[] = {
    { "count", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Gaps", .help = "Maximal stretches without an "
      "activity on a device. The sums hold all of them, the lists those of a least length." },
    { "count_min", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Those of gap_min_ps or more." },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Idle time in gaps" },
    { "gap_min_ps", TM_DOC_TIME, .title = "Least length that is listed" },
    { "by_cause", TM_DOC_OBJECT | TM_DOC_MAP, .title = "By cause", .words = TM_DOC_CAUSES, .fields = gap_causes },
    { "pauses", TM_DOC_OBJECT, .help = "device_wait in gaps shorter than that.", .fields = gaps_pauses },
    { "short", TM_DOC_OBJECT, .help = "Gaps from there on up to there.", .fields = gaps_short },
    { "histogram", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Histogram", .fields = gaps_histogram, .most = 64 },
    { "longest", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Longest ones",
      .fields = gaps_longest, .most = 50, .whole = "count|total_ps" },
    { .key = NULL },
};

static const struct tm_doc_field programs_pauses_longest[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Begin" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Length" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step" },
    { "before", TM_DOC_NAME, .title = "Before" },
    { "after", TM_DOC_NAME, .title = "After" },
    { .key = NULL },
};

static const struct tm_doc_field programs_pauses[] = {
    { "below_ps", TM_DOC_TIME, .title = "Shorter than" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Pauses between programs" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Their time" },
    { "longest", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Longest ones",
      .fields = programs_pauses_longest, .most = 10, .whole = "count|total_ps" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_programs[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Executions", .help = "Executions of compiled programs in the "
      "analyzed steps." },
    { "per_step", TM_DOC_NUMBER, .title = "Programs per step and device", .help = "And device." },
    { "operations", TM_DOC_COUNT | TM_DOC_SUM, .title = "Operations" },
    { "operation_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time of operations" },
    { "pauses", TM_DOC_OBJECT, .help = "Stretches under 100 \xc2\xb5s between the operations of one program and those "
      "of the next in which the device is idle.", .fields = programs_pauses },
    { .key = NULL },
};

static const struct tm_doc_field host_launches[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Launches", .help = "Calls that started activities: a graph or a "
      "TPU program is one." },
    { "per_step", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Launches per step" },
    { "unknown_count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Activities without a known launch",
      .help = "What ran on a device without a call on the host that the profile links to it." },
    { .key = NULL },
};

static const struct tm_doc_field host_launch_delay[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "p50_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Launch to begin, median", .help = "From the begin of the call "
      "to the begin of the first activity that it started." },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Launch to begin, 95th percentile" },
    { "max_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Launch to begin, longest" },
    { "negative", TM_DOC_COUNT | TM_DOC_SUM, .title = "Begun before their launch (clock skew)" },
    { .key = NULL },
};

static const struct tm_doc_field host_queue_empty[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Idle with nothing launched" },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Idle with nothing launched, of the window" },
    { "longest", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Longest ones",
      .fields = tm_doc_place, .most = 10, .whole = "count|total_ps" },
    { .key = NULL },
};

static const struct tm_doc_field host_windows[] = {
    { "host", TM_DOC_HOST, .title = "Host" },
    { "basis", TM_DOC_WORD, .title = "Basis", .words = "steps|devices|all" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Begin" },
    { "end_ps", TM_DOC_MOMENT, .title = "End" },
    { .key = NULL },
};

static const struct tm_doc_field host_sync_rows[] = {
    { "name", TM_DOC_NAME, .title = "Wait" },
    { "caller", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "In function", .help = "The innermost Python function around." },
    { "annotation", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "In annotation", .help = "The innermost annotation "
      "around." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "longest_begin_ps", TM_DOC_MOMENT, .title = "At" },
    { "longest_ps", TM_DOC_TIME, .title = "Longest" },
    { .key = NULL },
};

static const struct tm_doc_field host_sync[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Waits for the device" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time in waits" },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Rows", .fields = host_sync_rows },
    { "rest", TM_DOC_OBJECT, .title = "Rest", .fields = tm_doc_rest },
    { .key = NULL },
};

static const struct tm_doc_field host_calls[] = {
    { "name", TM_DOC_NAME, .title = "Name" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self", .help = "Time without what lies inside." },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total", .help = "The sum of the lengths." },
    { .key = NULL },
};

static const struct tm_doc_field host_calls_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Itself" },
    { .key = NULL },
};

static const struct tm_doc_field host_threads[] = {
    { "host", TM_DOC_HOST, .title = "Host" },
    { "name", TM_DOC_NAME, .title = "Thread" },
    { "events", TM_DOC_COUNT | TM_DOC_SUM, .title = "Events" },
    { "busy_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Busy", .help = "Union of the thread's spans." },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share", .help = "Its share of the time that counts." },
    { "first_ps", TM_DOC_MOMENT, .title = "First" },
    { "last_ps", TM_DOC_MOMENT, .title = "Last" },
    { "ops", TM_DOC_COUNT, .title = "Ops", .help = "Operations that ran on this thread, as they do where the CPU is "
      "the device." },
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
    { "single_op_programs_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Of them with a single operation" },
    { "launch_gap_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Pauses right before those" },
    { "small_kernel_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Their operations under 100 \xc2\xb5s" },
    { "host_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Calls of the host that start programs" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_host[] = {
    { "overhead_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Idle time attributed to the host",
      .help = "Idle time of devices by launch, input, sync, host code, compilation and garbage collection." },
    { "overhead_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Host overhead",
      .help = "Idle time attributed to the host, as a share of the window." },
    { "launches", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Launches", .fields = host_launches },
    { "launch_delay", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "From the begin of a call to the begin of what it "
      "launched.", .fields = host_launch_delay },
    { "queue_empty", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "A device is idle, and nothing that was launched waits "
      "for it.", .fields = host_queue_empty },
    { "windows", TM_DOC_OBJECT | TM_DOC_LIST, .help = "What of a host's own time counts below.",
      .fields = host_windows },
    { "sync", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Calls that wait for a device or a result; a wait inside a wait "
      "counts once.", .fields = host_sync },
    { "python", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Python functions", .fields = host_calls },
    { "python_rest", TM_DOC_OBJECT, .title = "Rest of the functions", .fields = host_calls_rest },
    { "annotations", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Annotations", .fields = host_calls },
    { "annotations_rest", TM_DOC_OBJECT, .title = "Rest of the annotations", .fields = host_calls_rest },
    { "threads", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Threads", .fields = host_threads },
    { "threads_rest", TM_DOC_OBJECT, .title = "Rest of the threads", .fields = host_threads_rest },
    { "eager", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Programs and launches that are small.", .fields = host_eager },
    { .key = NULL },
};

static const struct tm_doc_field compile_recompiled[] = {
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Module" },
    { "count", TM_DOC_COUNT, .title = "Times" },
    { .key = NULL },
};

static const struct tm_doc_field compile_events[] = {
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Module" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Begin" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Length" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step", .help = "The step in which it began; empty outside of "
      "the steps." },
    { "shapes", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Shapes" },
    { .key = NULL },
};

static const struct tm_doc_field compile_programs[] = {
    { "module", TM_DOC_NAME, .title = "Module" },
    { "program_id", TM_DOC_INTEGER, .title = "Program", .help = "The id of a program: one module compiled for other "
      "shapes is another program." },
    { "shapes", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Shapes", .help = "Types and shapes of the program's arguments, "
      "as the HLO in the profile has them." },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_compile[] = {
    { "count", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Compiles", .help = "Over the whole session, warm-up included; "
      "what lies inside another compile is not counted again." },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Time" },
    { "longest_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Longest" },
    { "inside_steps", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Inside analyzed steps",
      .help = "Compiles that begin in an analyzed step.", .fields = work },
    { "source", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Counted by the events of", .help = "What a compile is counted "
      "by: backend_compile is JAX's own mark, client the call of the runtime, xla the compiler itself.",
      .words = "backend_compile|client|xla" },
    { "recompiled", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Compiled several times", .fields = compile_recompiled },
    { "events", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN,
      .help = "The longest, in order of time.", .fields = compile_events,
      .most = 500 },
    { "programs", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Of modules with several programs in the HLO, in the order in "
      "which they were made.", .fields = compile_programs },
    { .key = NULL },
};

static const struct tm_doc_field balance_busy[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "busy_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Busy" },
    { "compute_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Compute" },
    { "exposed_collective_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Exposed collectives",
      .help = "Time in which only a collective runs: a device that comes early waits there for the others." },
    { "kernels", TM_DOC_COUNT | TM_DOC_SUM, .title = "Kernels" },
    { .key = NULL },
};

static const struct tm_doc_field balance_steps[] = {
    { "count", TM_DOC_COUNT, .title = "Count" },
    { "spread_median_pct", TM_DOC_PERCENT, .title = "By step, median" },
    { "spread_max_pct", TM_DOC_PERCENT, .title = "By step, at most" },
    { "worst_step", TM_DOC_INTEGER, .title = "Most uneven step", .help = "The step in which the devices' compute times "
      "lie furthest apart." },
    { .key = NULL },
};

static const struct tm_doc_field balance_ops[] = {
    { "name", TM_DOC_NAME, .title = "Operation" },
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Module" },
    { "devices", TM_DOC_COUNT, .title = "Devices" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "min_ps", TM_DOC_TIME, .title = "Least" },
    { "max_ps", TM_DOC_TIME, .title = "Most" },
    { "mean_ps", TM_DOC_TIME, .title = "Mean" },
    { "spread_pct", TM_DOC_PERCENT, .title = "Spread" },
    { "slowest", TM_DOC_DEVICE, .title = "Slowest", .help = "Of an operation, the device with the most time in it." },
    { "kind", TM_DOC_TERM, .title = "Run by", .help = "All alike: by all devices, equally often. All unevenly: by all, "
      "not equally often. Some: not by all.", .words = "all|uneven|some" },
    { "equal", TM_DOC_BOOL, .title = "Same in all" },
    { "excess_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Excess", .help = "What all devices together would need less if "
      "the slowest were as fast as the mean." },
    { .key = NULL },
};

static const struct tm_doc_field balance_op_kinds[] = {
    { "all", TM_DOC_COUNT, .title = "All alike" },
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
    { "ops", TM_DOC_COUNT, .help = "Of the kind all." },
    { "devices", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Devices", .fields = balance_same_work_devices },
    { "spread_pct", TM_DOC_PERCENT, .title = "Same work differs by" },
    { "slowest", TM_DOC_DEVICE, .title = "Slowest at the same work" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_balance[] = {
    { "busy", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Busy", .fields = balance_busy },
    { "devices", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Devices" },
    { "imbalance_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Imbalance of compute",
      .help = "100 x (most / mean - 1) of the compute time of the devices; a spread is that of a step, or of "
      "an operation." },
    { "slowest", TM_DOC_DEVICE | TM_DOC_OR_NULL, .title = "Slowest device", .help = "The device with the most compute "
      "time." },
    { "steps", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Steps", .fields = balance_steps },
    { "ops", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL, .help = "By excess.", .fields = balance_ops, .most = 50 },
    { "op_kinds", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Operations of each kind, and those of a single device.",
      .fields = balance_op_kinds },
    { "same_work", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Same work", .fields = balance_same_work },
    { .key = NULL },
};

static const struct tm_doc_field fallback_rows[] = {
    { "name", TM_DOC_NAME, .title = "Function", .help = "The function, else the kind." },
    { "kind", TM_DOC_WORD | TM_DOC_OPTIONAL, .title = "Kind", .words = "callback|pure_callback|io_callback|"
      "debug_callback|debug_print|custom_call" },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Op" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "begin_ps", TM_DOC_MOMENT, .title = "At", .help = "Of the longest one." },
    { "longest_ps", TM_DOC_TIME, .title = "Longest" },
    { .key = NULL },
};

static const struct tm_doc_field fallback_calls[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Rows", .fields = fallback_rows },
    { "rest", TM_DOC_OBJECT, .title = "Rest", .fields = tm_doc_rest },
    { .key = NULL },
};

static const struct tm_doc_field fallback_round_trips_longest[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Begin" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Length" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_ADDS, .title = "Bytes" },
    { "host_event", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "On the host" },
    { .key = NULL },
};

static const struct tm_doc_field fallback_round_trips[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Round trips over the host" },
    { "host_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Idle time in round trips" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Bytes" },
    { "longest", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Longest ones",
      .fields = fallback_round_trips_longest,
      .most = 20, .whole = "count" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_fallback[] = {
    { "callbacks", TM_DOC_OBJECT, .help = "Calls of compiled programs back to Python: pure_callback, io_callback, "
      "jax.debug.print and the like.", .fields = fallback_calls },
    { "cpu_ops", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Operations of compiled programs that ran on the CPU beside "
      "GPUs or TPUs.", .fields = fallback_calls },
    { "host_ops", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Operations that by the HLO exchange data with the host.",
      .fields = fallback_calls },
    { "round_trips", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Gaps of a device between a copy to the host and a copy "
      "from it that was launched meanwhile.", .fields = fallback_round_trips },
    { .key = NULL },
};

/* clang-format on */
