/* SPDX-License-Identifier: Apache-2.0 */
/* The summary, what the devices work on: kernels, operations, scopes, copies, collectives, memory, costs. */
#include "pipeline/doc/doc_fields.h"

/* clang-format off */

static const struct tm_doc_field kernels_rows[] = {
    { "name", TM_DOC_NAME, .title = "Kernel" },
    { "class", TM_DOC_TERM, .title = "Class", .help = "Kernel, collective, copy or memset.",
      .words = "kernel|collective|copy|memset|graph|tpu_op|cpu_op" },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Op", .help = "The path of scopes in the program." },
    { "hlo_op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "HLO op", .help = "The instruction of the compiled program." },
    { "category", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Category", .help = "Type of work, derived from the name of "
      "the kernel or of its operation." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "min_ps", TM_DOC_TIME, .title = "Min" },
    { "max_ps", TM_DOC_TIME, .title = "Max" },
    { "mean_ps", TM_DOC_TIME, .title = "Mean" },
    { "stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "n - 1; null for a single launch." },
    { "p50_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Median" },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "p95", .help = "95% of the launches take no "
      "longer than this." },
    { "share_pct", TM_DOC_SHARE, .title = "Share", .help = "Share of the time of all kernels." },
    { "occupancy_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Occupancy", .help = "Warps that can be active on an "
      "SM, relative to the most that it supports." },
    { "grid", TM_DOC_WORD | TM_DOC_OR_NULL | TM_DOC_OWN, .title = "Grid", .help = "Blocks per launch: \"132,1,1\"." },
    { "block", TM_DOC_WORD | TM_DOC_OR_NULL | TM_DOC_OWN, .title = "Block", .help = "Threads per block: \"256,1,1\"." },
    { "registers", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Registers", .help = "Registers per thread." },
    { "shared_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Shared memory", .help = "Shared memory per block." },
    { "device_count", TM_DOC_COUNT, .title = "Devices" },
    { "precision", TM_DOC_WORD | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Precision",
      .help = "Number type, from the program's HLO or the kernel's name." },
    { "tensor_core", TM_DOC_BOOL | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Uses Tensor Cores" },
    { .key = NULL },
};

static const struct tm_doc_field kernels_by_category[] = {
    { "category", TM_DOC_WORD, .title = "Category" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Total" },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { .key = NULL },
};

static const struct tm_doc_field kernels_by_name[] = {
    { "name", TM_DOC_NAME, .title = "Kernel" },
    { "category", TM_DOC_WORD, .title = "Category" },
    { "variants", TM_DOC_COUNT, .title = "Variants", .help = "Launches of a kernel with the same grid, block, "
      "registers, shared memory and op." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { "min_ps", TM_DOC_TIME, .title = "Min" },
    { "max_ps", TM_DOC_TIME, .title = "Max" },
    { "mean_ps", TM_DOC_TIME, .title = "Mean" },
    { "stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "n - 1; null for a single launch." },
    { "p50_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Median" },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "p95" },
    { "device_count", TM_DOC_COUNT, .title = "Devices" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_kernels[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Kernel launches" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Kernel time" },
    { "distinct", TM_DOC_COUNT, .title = "Variants" },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Rows", .fields = kernels_rows },
    { "rest", TM_DOC_OBJECT, .help = "Rows beyond the limit of the table.", .fields = tm_doc_rest },
    { "compute_count", TM_DOC_COUNT | TM_DOC_SUM, .help = "Kernels that compute: not collectives, copies or memsets." },
    { "compute_ps", TM_DOC_TIME | TM_DOC_SUM, .help = "Time in those kernels." },
    { "weighted_mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean duration, time-weighted",
      .help = "Time-weighted: each kernel's weight is its duration." },
    { "compute_mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean duration", .help = "Over kernels that compute: "
      "collectives, copies and memsets are excluded." },
    { "mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "Over all kernels." },
    { "by_category", TM_DOC_OBJECT | TM_DOC_LIST, .title = "By category", .fields = kernels_by_category },
    { "by_name", TM_DOC_OBJECT | TM_DOC_LIST, .title = "By name", .fields = kernels_by_name },
    { "distinct_names", TM_DOC_COUNT, .title = "Distinct kernels" },
    { "by_name_rest", TM_DOC_OBJECT, .help = "Rows beyond the limit of the table.", .fields = tm_doc_rest },
    { .key = NULL },
};

static const struct tm_doc_field kernel_sum[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { .key = NULL },
};

static const struct tm_doc_field fusion_small[] = {
    { "below_ps", TM_DOC_TIME, .title = "Shorter than" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share" },
    { "collectives", TM_DOC_OBJECT, .help = "These kernels are in no other figure of this section.",
      .fields = kernel_sum },
    { .key = NULL },
};

static const struct tm_doc_field fusion_tiny[] = {
    { "below_ps", TM_DOC_TIME, .title = "Shorter than" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share" },
    { .key = NULL },
};

static const struct tm_doc_field fusion_runs_longest[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "track", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Stream" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Duration" },
    { "kernels", TM_DOC_COUNT, .title = "Kernels", .least = 2 },
    { "kernel_ps", TM_DOC_TIME, .title = "Work" },
    { "gap_ps", TM_DOC_TIME, .title = "Pauses" },
    { "at_stake_ps", TM_DOC_TIME, .title = "Potential savings" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step" },
    { "names", TM_DOC_NAME | TM_DOC_LIST | TM_DOC_OF_NULLS, .title = "First kernels", .most = 5 },
    { .key = NULL },
};

static const struct tm_doc_field fusion_runs[] = {
    { "gap_below_ps", TM_DOC_TIME, .title = "Gaps below" },
    { "launch_ps", TM_DOC_TIME, .title = "Launch cost" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "kernels", TM_DOC_COUNT | TM_DOC_SUM, .title = "Kernels" },
    { "kernel_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Work" },
    { "gap_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Pauses within sequences" },
    { "at_stake_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Potential savings", .help = "Pauses in the sequences plus 5 "
      "\xc2\xb5s for each launch but the first, limited to the duration of the sequence." },
    { "longest", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Longest sequences",
      .fields = fusion_runs_longest, .most = 20, .whole = "count" },
    { .key = NULL },
};

static const struct tm_doc_field fusion_eager_chains[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "kernels", TM_DOC_COUNT | TM_DOC_SUM, .title = "Kernels" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "saved_ps", TM_DOC_TIME | TM_DOC_SUM, .help = "Time that chains take beyond the longest kernel of each." },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share" },
    { .key = NULL },
};

static const struct tm_doc_field fusion_repeated[] = {
    { "name", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Kernel" },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Op" },
    { "per_step", TM_DOC_NUMBER, .title = "Per step", .help = "Launches per step on a device, over the steps in "
      "which it is launched more than 10 times." },
    { "steps", TM_DOC_COUNT, .title = "Steps" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Total" },
    { "mean_ps", TM_DOC_TIME, .title = "Mean" },
    { .key = NULL },
};

static const struct tm_doc_field fusion_table_rows[] = {
    { "name", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Kernel" },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Op" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { .key = NULL },
};

static const struct tm_doc_field fusion_table[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Share" },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Rows", .fields = fusion_table_rows, .most = 20 },
    { "rest", TM_DOC_OBJECT, .help = "Rows beyond the limit of the table.", .fields = tm_doc_rest },
    { .key = NULL },
};

static const struct tm_doc_field fusion_matrix[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time in matmuls" },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share of matmuls" },
    { "f32", TM_DOC_OBJECT, .help = "32-bit float matmuls and convolutions that do not use the device's Tensor Cores.",
      .fields = fusion_table },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_fusion[] = {
    { "kernels", TM_DOC_OBJECT, .help = "Kernels other than collectives, copies and memsets.", .fields = kernel_sum },
    { "per_step", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Kernels per step and device",
      .help = "Mean over analyzed steps and devices." },
    { "small", TM_DOC_OBJECT, .help = "Kernels so short that their launches and the pauses between them matter.",
      .fields = fusion_small },
    { "tiny", TM_DOC_OBJECT, .help = "Likewise, with a lower limit.", .fields = fusion_tiny },
    { "runs", TM_DOC_OBJECT, .help = "Two or more consecutive kernels under 100 \xc2\xb5s on one stream, less than "
      "10 \xc2\xb5s apart.", .fields = fusion_runs },
    { "eager_chains", TM_DOC_OBJECT, .help = "Two to eight consecutive kernels on one stream in PyTorch's eager mode "
      "that do pointwise work, copy or reduce.", .fields = fusion_eager_chains },
    { "repeated", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL, .help = "Sorted by total time.",
      .fields = fusion_repeated,
      .most = 50 },
    { "repeated_total", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Kernels under 100 \xc2\xb5s that run more than 10 "
      "times in a step on a device.", .fields = kernel_sum },
    { "attention_unfused", TM_DOC_OBJECT, .help = "A softmax between two batched matmuls on one stream, as in "
      "unfused attention.", .fields = fusion_table },
    { "layout_copies", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Kernels that only copy or transpose and belong to no "
      "operation of the program.", .fields = fusion_table },
    { "matrix", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Matmuls and convolutions on devices with Tensor Cores, with "
      "and without them.", .fields = fusion_matrix },
    { .key = NULL },
};

static const struct tm_doc_field occupancy_with_collectives[] = {
    { "mean_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Mean" },
    { "known_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Known" },
    { .key = NULL },
};

static const struct tm_doc_field occupancy_histogram[] = {
    { "from_pct", TM_DOC_SHARE, .title = "From" },
    { "to_pct", TM_DOC_SHARE, .title = "To" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Kernels" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Total" },
    { .key = NULL },
};

static const struct tm_doc_field occupancy_limiters[] = {
    { "registers", TM_DOC_TIME, .title = "Registers" },
    { "shared_memory", TM_DOC_TIME, .title = "Shared memory" },
    { "block_size", TM_DOC_TIME, .title = "Block size" },
    { "grid", TM_DOC_TIME, .title = "Grid size" },
    { "none", TM_DOC_TIME, .title = "No limiter" },
    { "unknown", TM_DOC_TIME, .title = "Unknown" },
    { .key = NULL },
};

static const struct tm_doc_field occupancy_rows[] = {
    { "name", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Kernel" },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Op" },
    { "category", TM_DOC_WORD, .title = "Category" },
    { "variants", TM_DOC_COUNT, .title = "Variants", .help = "Launches with other grids, blocks or ops; grid, "
      "limiter and waves are those of the variant with the most time." },
    { "occupancy_pct", TM_DOC_PERCENT, .title = "Occupancy" },
    { "limiter", TM_DOC_TERM, .title = "Limited by", .help = "What prevents more blocks from running at once, by the "
      "rules of CUDA's occupancy calculator; unknown if these rules do not reproduce the recorded occupancy.",
      .words = "registers|shared_memory|block_size|grid|none|unknown" },
    { "grid", TM_DOC_WORD | TM_DOC_OR_NULL | TM_DOC_OWN, .title = "Grid" },
    { "block", TM_DOC_WORD | TM_DOC_OR_NULL | TM_DOC_OWN, .title = "Block" },
    { "registers", TM_DOC_COUNT, .title = "Registers" },
    { "shared_bytes", TM_DOC_BYTES, .title = "Shared memory" },
    { "waves", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Waves", .help = "Blocks in the grid divided by the blocks "
      "that run at once." },
    { "tail_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Lost" },
    { "lost_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Lost time", .help = "The last wave leaves a "
      "part of the device idle: its time x (1 - waves / waves rounded up)." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Total" },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { .key = NULL },
};

static const struct tm_doc_field occupancy_tail[] = {
    { "known_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Known" },
    { "lost_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Lost to the tail effect" },
    { "below_one_wave_ps", TM_DOC_TIME | TM_DOC_SUM, .help = "Part of lost_ps." },
    { "idle_multiprocessors_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "SMs without a block",
      .help = "For grids with fewer blocks than SMs: time x the share of SMs without a block." },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .help = "Sorted by lost_ps.",
      .fields = occupancy_rows, .most = 20 },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_occupancy[] = {
    { "mean_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Time-weighted mean", .help = "Warps that can be "
      "active on an SM, relative to the most that it supports, weighted by kernel time, for the kernels with a "
      "recorded occupancy." },
    { "known_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Kernel time with known occupancy",
      .help = "Class kernel only." },
    { "unknown_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Kernel time with unknown occupancy",
      .help = "Class kernel only." },
    { "with_collectives", TM_DOC_OBJECT, .title = "Including collectives", .fields = occupancy_with_collectives },
    { "histogram", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Histogram", .fields = occupancy_histogram, .most = 10 },
    { "limiters", TM_DOC_OBJECT | TM_DOC_SUM, .help = "Kernel time by what limits occupancy.",
      .fields = occupancy_limiters },
    { "low", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN,
      .help = "A kernel with all its grids and ops; op, grid, limiter and waves are those of the variant with the "
        "most time.", .fields = occupancy_rows, .most = 100 },
    { "tail", TM_DOC_OBJECT, .help = "Last waves of blocks that do not fill the device.", .fields = occupancy_tail },
    { .key = NULL },
};

static const struct tm_doc_field transfers_by_direction_outside[] = {
    { "count", TM_DOC_COUNT, .title = "Outside steps" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Bytes outside" },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Time outside" },
    { "exposed_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Exposed outside" },
    { .key = NULL },
};

static const struct tm_doc_field transfers_by_direction[] = {
    { "direction", TM_DOC_DIRECTION, .title = "Direction" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM | TM_DOC_ADDS, .title = "Bytes" },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time" },
    { "exposed_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed", .help = "Time in which the device "
      "only copies: neither a kernel nor a collective runs." },
    { "mean_bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Mean bandwidth",
      .help = "Bytes divided by the time in "
      "which at least one copy of this direction is in flight on a device, for copies of known size: overlapping "
      "copies share the link." },
    { "max_bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Peak bandwidth", .help = "Highest bandwidth over an "
      "uninterrupted interval with copies in flight." },
    { "unknown_bytes_count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Unknown size", .help = "Copies whose bytes the "
      "profile does not record; they are in no bandwidth." },
    { "outside", TM_DOC_OBJECT, .help = "Copies outside the analyzed steps, and their share of the window.",
      .fields = transfers_by_direction_outside },
    { .key = NULL },
};

static const struct tm_doc_field transfers_by_pair[] = {
    { "from", TM_DOC_DEVICE, .title = "From" },
    { "to", TM_DOC_DEVICE, .title = "To" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM | TM_DOC_ADDS, .title = "Bytes" },
    { "total_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time" },
    { .key = NULL },
};

static const struct tm_doc_field transfers_sizes[] = {
    { "from_bytes", TM_DOC_BYTES, .title = "From size" },
    { "to_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "To size" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "bytes", TM_DOC_BYTES | TM_DOC_SUM | TM_DOC_ADDS, .title = "Bytes" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time" },
    { .key = NULL },
};

static const struct tm_doc_field transfers_pageable[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Copies from or to pageable host memory" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time in pageable copies" },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share of copy time" },
    { .key = NULL },
};

static const struct tm_doc_field transfers_largest[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "direction", TM_DOC_DIRECTION, .title = "Direction" },
    { "bytes", TM_DOC_BYTES | TM_DOC_ADDS, .title = "Bytes" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Duration" },
    { .key = NULL },
};

static const struct tm_doc_field transfers_repeated[] = {
    { "direction", TM_DOC_DIRECTION, .title = "Direction" },
    { "bytes", TM_DOC_BYTES, .title = "Size of each" },
    { "per_step", TM_DOC_NUMBER, .title = "Per step", .help = "Copies of exactly this size per step and device." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time" },
    { .key = NULL },
};

static const struct tm_doc_field transfers_ping_pong[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Round trips through the host" },
    { .key = NULL },
};

static const struct tm_doc_field transfers_tpu_host[] = {
    { "direction", TM_DOC_DIRECTION, .title = "Direction", .words = "h2d|d2h" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Bytes" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_transfers[] = {
    { "by_direction", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "By direction",
      .fields = transfers_by_direction,
      .most = 5 },
    { "by_pair", TM_DOC_OBJECT | TM_DOC_LIST, .title = "By device pair", .fields = transfers_by_pair },
    { "sizes", TM_DOC_OBJECT | TM_DOC_LIST, .title = "By size", .fields = transfers_sizes, .most = 64 },
    { "pageable", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Copies from or to pageable host memory: the driver stages "
      "them piece by piece.", .fields = transfers_pageable },
    { "largest", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Largest copies", .fields = transfers_largest, .most = 20 },
    { "repeated", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Repeated copies", .fields = transfers_repeated },
    { "ping_pong", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "A copy to the host followed by a copy of the same size "
      "to the device.", .fields = transfers_ping_pong },
    { "tpu_host", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Between a TPU and its host.", .fields = transfers_tpu_host,
      .most = 2 },
    { .key = NULL },
};

static const struct tm_doc_field ops_families[] = {
    { "family", TM_DOC_NAME, .title = "Op family", .help = "Name without numbers." },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Framework path", .help = "\"*\" in place of layer numbers." },
    { "longest", TM_DOC_NAME, .title = "Longest operation", .help = "The member with the most self time." },
    { "category", TM_DOC_WORD, .title = "Category" },
    { "source", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Source" },
    { "precision", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Type" },
    { "members", TM_DOC_COUNT, .title = "Operations" },
    { "counts_as_one", TM_DOC_BOOL, .title = "Counts as one operation" },
    { "device_count", TM_DOC_COUNT, .title = "Devices" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Events" },
    { "executions", TM_DOC_COUNT | TM_DOC_SUM, .title = "Executions" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self time" },
    { "self_stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "Of the events, n - 1; null for a single event." },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "mean_ps", TM_DOC_TIME, .title = "Mean" },
    { "min_ps", TM_DOC_TIME, .title = "Min" },
    { "max_ps", TM_DOC_TIME, .title = "Max" },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { "flops", TM_DOC_FLOPS | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Per second, over all executions." },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Per second, over all executions." },
    { "flop_rate", TM_DOC_FLOP_RATE | TM_DOC_OR_NULL, .title = "FLOP/s" },
    { "bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Bytes/s" },
    { "intensity", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Arithmetic intensity" },
    { "bound", TM_DOC_TERM, .title = "Bound by", .words = "compute|memory|latency|none|unknown" },
    { "roof", TM_DOC_WORD | TM_DOC_OR_NULL, .help = "The limit that is closer.", .words = "compute|memory" },
    { "roof_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "% of roofline", .help = "As a share of that limit; can "
      "exceed 100%." },
    { "first", TM_DOC_OBJECT, .help = "The first event of a member.", .fields = tm_doc_place },
    { "cumulative_pct", TM_DOC_SHARE, .title = "Cumulative" },
    { .key = NULL },
};

static const struct tm_doc_field ops_families_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "members", TM_DOC_COUNT, .title = "Members" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { .key = NULL },
};

static const struct tm_doc_field ops_rows[] = {
    { "name", TM_DOC_NAME, .title = "Operation" },
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Program" },
    { "opcode", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Opcode" },
    { "category", TM_DOC_WORD, .title = "Category" },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Framework path", .help = "The program's scopes in which the "
      "operation was traced." },
    { "custom_derivative", TM_DOC_WORD | TM_DOC_OPTIONAL, .title = "Derivative rule", .words = "custom_jvp|custom_vjp",
      .help = "It belongs to a function with its own derivative rule." },
    { "pass", TM_DOC_TERM | TM_DOC_OPTIONAL, .title = "Pass", .words = "forward|backward|other", .help = "Of an "
      "operation with a derivative rule." },
    { "source", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Source", .help = "The source line that it comes from." },
    { "precision", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Type", .help = "Type of the matmuls in the program's HLO, "
      "or else of the result, or else as given by the kernel's name." },
    { "device_count", TM_DOC_COUNT, .title = "Devices" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Events", .help = "One execution can be several events, because a "
      "GPU operation may need several kernels." },
    { "executions", TM_DOC_COUNT | TM_DOC_SUM, .title = "Executions", .help = "Executions of the operation." },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Self time", .help = "Time of an operation without "
      "nested operations (in loops and calls on TPUs and CPUs)." },
    { "self_stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "Of the events, n - 1; null for a single event." },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Inclusive time", .help = "Sum of the durations, including nested "
      "operations." },
    { "mean_ps", TM_DOC_TIME, .title = "Mean" },
    { "min_ps", TM_DOC_TIME, .title = "Min" },
    { "max_ps", TM_DOC_TIME, .title = "Max" },
    { "self_share_pct", TM_DOC_SHARE, .title = "Share", .help = "Share of the self time of all operations." },
    { "family", TM_DOC_COUNT | TM_DOC_OR_NULL, .help = "Index in families." },
    { "flops", TM_DOC_FLOPS | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Per second, over all executions." },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Per second, over all executions." },
    { "flop_rate", TM_DOC_FLOP_RATE | TM_DOC_OR_NULL, .title = "FLOP/s" },
    { "bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Bytes/s" },
    { "intensity", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Arithmetic intensity",
      .help = "Cost of the operation, from "
      "the profile or the HLO, per byte and per second of self time." },
    { "bound", TM_DOC_TERM, .title = "Bound by", .help = "The limit that the operation is closer to: peak compute or "
      "peak memory bandwidth.", .words = "compute|memory|latency|none|unknown" },
    { "roof", TM_DOC_WORD | TM_DOC_OR_NULL, .help = "The limit that is closer.", .words = "compute|memory" },
    { "roof_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "% of roofline", .help = "Achieved share of the roofline; "
      "over 100% if the cost is overestimated or a cache helps." },
    { "first", TM_DOC_OBJECT, .help = "Start and device of its first event in the analyzed steps: where to look in a "
      "trace viewer.", .fields = tm_doc_place },
    { "lost_ps", TM_DOC_TIME | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "Above roofline",
      .help = "Time of the operation beyond what its cost needs at peak." },
    { "cumulative_pct", TM_DOC_SHARE | TM_DOC_OPTIONAL, .title = "Cumulative", .help = "Share of this operation and "
      "all larger ones." },
    { .key = NULL },
};

static const struct tm_doc_field ops_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_ops[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "distinct", TM_DOC_COUNT, .title = "Operations" },
    { "distinct_families", TM_DOC_COUNT, .title = "Op families", .help = "Op families that count as one "
      "operation." },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total time" },
    { "top_share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share of the top operation" },
    { "rows_for_80_pct", TM_DOC_COUNT, .title = "Operations covering 80%", .help = "Number of operations that "
      "account for 80% of the time; an op family with more operations than steps counts as one." },
    { "basis", TM_DOC_WORD, .title = "Basis", .words = "hlo_op|kernel" },
    { "families", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Groups of similar operations, at most 500.",
      .fields = ops_families },
    { "families_rest", TM_DOC_OBJECT, .title = "Remaining families", .fields = ops_families_rest },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Rows", .fields = ops_rows },
    { "rest", TM_DOC_OBJECT, .title = "Rest", .fields = ops_rest },
    { .key = NULL },
};

static const struct tm_doc_field scopes_unscoped[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self" },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { .key = NULL },
};

static const struct tm_doc_field scopes_passes[] = {
    { "forward", TM_DOC_TIME, .title = "Forward" },
    { "backward", TM_DOC_TIME, .title = "Backward" },
    { "other", TM_DOC_TIME, .title = "Neither" },
    { .key = NULL },
};

static const struct tm_doc_field scopes_rows[] = {
    { "path", TM_DOC_PATH, .title = "Path" },
    { "name", TM_DOC_NAME, .title = "Scope" },
    { "depth", TM_DOC_COUNT, .help = "0 = root." },
    { "pass", TM_DOC_TERM, .title = "Pass", .words = "forward|backward|other" },
    { "custom_derivative", TM_DOC_WORD | TM_DOC_OPTIONAL, .title = "Derivative rule", .words = "custom_jvp|custom_vjp",
      .help = "Operations directly in this scope belong to a function with its own derivative rule." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self", .help = "Time of the operations directly in this "
      "scope, outside nested scopes." },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total", .help = "Time of all operations in the scope." },
    { "share_pct", TM_DOC_SHARE, .title = "Share", .help = "Share of all operations, including those without a scope." },
    { .key = NULL },
};

static const struct tm_doc_field scopes_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self" },
    { .key = NULL },
};

static const struct tm_doc_field scopes_layers[] = {
    { "layer", TM_DOC_NAME, .help = "\"layer_0\"." },
    { "path", TM_DOC_PATH, .title = "Layer", .help = "Scopes that differ only in a number, two or more; of nested "
      "families, the outer one." },
    { "family", TM_DOC_NAME, .help = "Path without the number." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "forward_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Forward" },
    { "backward_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Backward" },
    { "other_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Neither" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { .key = NULL },
};

static const struct tm_doc_field scopes_layers_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { .key = NULL },
};

static const struct tm_doc_field scopes_annotations[] = {
    { "path", TM_DOC_PATH, .title = "Path" },
    { "name", TM_DOC_NAME, .title = "Annotation" },
    { "depth", TM_DOC_COUNT, .title = "Depth" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "host_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Host", .help = "Time on the host from start to end." },
    { "host_self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self" },
    { "device_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Device time launched",
      .help = "Time of those activities, whenever they ran." },
    { "activities", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Launched", .help = "Activities whose "
      "launch started inside, on the same thread." },
    { .key = NULL },
};

static const struct tm_doc_field scopes_annotations_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "host_self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self" },
    { "device_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Device time launched" },
    { .key = NULL },
};

static const struct tm_doc_field scopes_customs[] = {
    { "kind", TM_DOC_WORD, .title = "Derivative rule", .words = "custom_jvp|custom_vjp" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "forward_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Forward" },
    { "backward_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Backward" },
    { "other_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Other" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_scopes[] = {
    { "self_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Device time in scopes",
      .help = "Time of operations whose framework path contains a scope." },
    { "unscoped", TM_DOC_OBJECT, .title = "Without a scope", .help = "Operations added by the compiler, or without a "
      "recorded framework path.", .fields = scopes_unscoped },
    { "passes", TM_DOC_OBJECT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Passes", .help = "Backward is what was "
      "transposed for gradients, forward what was differentiated; neither is the rest: optimizer, metrics, programs "
      "without gradients.", .fields = scopes_passes },
    { "recomputed", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Forward values that jax.checkpoint recomputes.",
      .fields = scopes_unscoped },
    { "custom_derivatives", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL, .title = "Custom derivatives", .help = "Time "
      "in functions with their own derivative rule (jax.custom_jvp, jax.custom_vjp), by pass.",
      .fields = scopes_customs },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL | TM_DOC_MAIN, .help = "One tree per pass: a node, then "
      "its children by total time.", .fields = scopes_rows },
    { "rest", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Rest", .fields = scopes_rest },
    { "layers", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL, .help = "Families by time, layers by number.",
      .fields = scopes_layers },
    { "layers_rest", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Remaining layers", .fields = scopes_layers_rest },
    { "annotations", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL, .help = "A tree, by host time.",
      .fields = scopes_annotations },
    { "annotations_rest", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Remaining annotations",
      .fields = scopes_annotations_rest },
    { .key = NULL },
};

static const struct tm_doc_field collectives_total[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Collectives" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Collective time" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Data" },
    { "unknown_bytes_count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Unknown size", .help = "Collectives whose bytes "
      "the profile does not record; they are in no bandwidth." },
    { "exposed_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Exposed time" },
    { "exposed_wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed, waiting for late devices" },
    { "exposed_move_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed, moving data" },
    { "exposed_unmatched_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Exposed, unmatched",
      .help = "The three parts add up to exposed_ps, here and everywhere else." },
    { "overlap_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Overlapped with compute" },
    { .key = NULL },
};

static const struct tm_doc_field collectives_outside[] = {
    { "exposed_ps", TM_DOC_TIME, .title = "Exposed" },
    { "exposed_wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Waiting" },
    { "exposed_move_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Moving" },
    { "exposed_unmatched_ps", TM_DOC_TIME, .title = "Unmatched" },
    { .key = NULL },
};

static const struct tm_doc_field collectives_rows[] = {
    { "kind", TM_DOC_WORD, .title = "Kind", .words = "all-reduce|all-gather|reduce-scatter|all-to-all|broadcast|"
      "send-recv|permute|other" },
    { "message_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Message", .help = "The most that one device sends or "
      "receives in one collective." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time" },
    { "mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Bytes", .help = "Message size times count." },
    { "group_size", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Devices" },
    { "reach", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Scope", .help = "Whether the devices of a group are in one "
      "node or in several.", .words = "node|nodes" },
    { "data_type", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Type" },
    { "exposed_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Exposed", .help = "Time in which the same device does not "
      "compute." },
    { "exposed_wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Waiting",
      .help = "Exposed time before the last device starts the collective." },
    { "exposed_move_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Moving", .help = "Exposed time after "
      "the last device has started it." },
    { "exposed_unmatched_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Unmatched", .help = "Exposed time of "
      "collectives without a counterpart on another device in the profile: waiting and moving cannot be separated." },
    { "overlap_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Overlap", .help = "Share of the time in which the "
      "device computes." },
    { "algorithm_bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Algorithm bandwidth",
      .help = "Bytes divided by the time in which data moves." },
    { "bus_bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Bus bandwidth", .help = "Bandwidth on the links, "
      "comparable between kinds and sizes (as defined by nccl-tests)." },
    { "bandwidth_over", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Bandwidth over", .help = "moving: from the start of "
      "the last device; flight: as recorded by a TPU; duration: no counterpart is known, so the time includes "
      "waiting.", .words = "moving|flight|duration" },
    { .key = NULL },
};

static const struct tm_doc_field collectives_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "exposed_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Exposed" },
    { "exposed_wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Waiting" },
    { "exposed_move_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Moving" },
    { "exposed_unmatched_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Unmatched" },
    { .key = NULL },
};

static const struct tm_doc_field collectives_skew_clock_list[] = {
    { "host", TM_DOC_HOST, .title = "Host" },
    { "method", TM_DOC_WORD, .title = "Clock from", .help = "reference: the other hosts are aligned with it; "
      "collectives: a robust line through the ends of matched collectives; confirmed: the recorded start of the "
      "profile, which these ends confirm; recorded: the recorded start, which no collective checks.",
      .words = "reference|collectives|confirmed|recorded" },
    { "offset_ps", TM_DOC_CHANGE, .title = "Offset", .help = "Its time 0 in the time of the reference." },
    { "drift_ppm", TM_DOC_NUMBER, .title = "Drift in ppm", .help = "Microseconds by which the reference "
      "advances more per second of the host." },
    { "uncertainty_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Uncertainty", .help = "95% of the matched ends that are used "
      "are this close to the line, with two standard errors of the line." },
    { "points", TM_DOC_COUNT, .title = "Matched ends", .help = "Collectives whose end on the host and on "
      "another one was compared." },
    { "difference_ps", TM_DOC_CHANGE | TM_DOC_OR_NULL, .title = "Off from recorded", .help = "What the ends say of the "
      "host's clock, minus what the profiles recorded, in the middle of the run." },
    { .key = NULL },
};

static const struct tm_doc_field collectives_skew_clock[] = {
    { "hosts", TM_DOC_COUNT, .title = "Hosts" },
    { "aligned", TM_DOC_BOOL | TM_DOC_OR_NULL, .title = "Clocks agree" },
    { "checked", TM_DOC_COUNT, .title = "Checked" },
    { "overlapping_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Overlapping" },
    { "offsets_ps", TM_DOC_CHANGE | TM_DOC_LIST | TM_DOC_OR_NULL, .help = "By host: its time 0 in the time of the "
      "reference; null if the clocks do not agree." },
    { "list", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN | TM_DOC_OR_NULL, .title = "Clocks of the hosts",
      .fields = collectives_skew_clock_list, .help = "A row for each host; null if the clocks do not agree." },
    { .key = NULL },
};

static const struct tm_doc_field collectives_skew_members[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Matched" },
    { "last_count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Arrived last", .help = "Collectives that started on this "
      "device last." },
    { "late_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Lateness" },
    { "late_max_ps", TM_DOC_TIME, .title = "Max lateness" },
    { "wait_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Waits for others", .help = "Start of the last device minus its "
      "own start." },
    { "caused_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Waiting caused", .help = "Its part of the others' waiting: "
      "while some devices wait, those that have not arrived share the cause equally." },
    { "caused_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share", .help = "Share of wait_ps over all devices." },
    { "alone_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Savings if on time", .help = "Waiting that the others "
      "would save if this device alone arrived with the second-latest one." },
    { "collective_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "In collectives", .help = "Of all collectives." },
    { .key = NULL },
};

static const struct tm_doc_field collectives_skew_worst[] = {
    { "kind", TM_DOC_WORD, .title = "Kind", .words = "all-reduce|all-gather|reduce-scatter|all-to-all|broadcast|"
      "permute|other" },
    { "name", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Collective" },
    { "group", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Group" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step" },
    { "ordinal", TM_DOC_COUNT, .title = "Index in the step", .help = "Position among its group's collectives in "
      "that step, starting at 1.", .least = 1 },
    { "skew_ps", TM_DOC_TIME, .title = "Late by" },
    { "last", TM_DOC_DEVICE, .title = "Last" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Start of the last", .help = "Its own start; each in its host's time." },
    { "first", TM_DOC_DEVICE, .title = "First" },
    { "first_begin_ps", TM_DOC_MOMENT, .title = "Start of the first", .help = "Its own start; each in its host's "
      "time." },
    { .key = NULL },
};

static const struct tm_doc_field collectives_skew_path_devices[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time on the path", .help = "Its time between "
      "collectives while the path is on it: its own work, and that of its host." },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { .key = NULL },
};

static const struct tm_doc_field collectives_skew_path[] = {
    { "total_ps", TM_DOC_TIME, .title = "Length of the path", .help = "From the first arrival to the end of the last "
      "collective; move_ps and the time of the devices add up to it." },
    { "move_ps", TM_DOC_TIME, .title = "In collectives", .help = "On the path, from the arrival of the last device "
      "on." },
    { "collectives", TM_DOC_COUNT, .title = "Replayed collectives", .help = "Matched collectives in which all devices "
      "must be at the same time." },
    { "on_path", TM_DOC_COUNT, .title = "On the path" },
    { "switches", TM_DOC_COUNT, .title = "Device changes", .help = "How often the path moves to a device that arrived "
      "later." },
    { "host_switches", TM_DOC_COUNT, .title = "Host changes", .help = "Of these, to a device of another host." },
    { "stragglers_saved_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Saved without stragglers", .help = "Device time, if "
      "the last device of each collective arrived together with the one before it." },
    { "imbalance_saved_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Saved with equal work", .help = "Device time, if no "
      "device took longer between collectives than the mean of all devices." },
    { "devices", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Devices on the path across hosts",
      .fields = collectives_skew_path_devices },
    { .key = NULL },
};

static const struct tm_doc_field collectives_skew[] = {
    { "communicators", TM_DOC_COUNT, .title = "Communicators" },
    { "matched", TM_DOC_COUNT | TM_DOC_SUM, .title = "Matched collectives", .help = "Collectives of a group of "
      "devices with the same recorded number match; if no number is recorded, the n-th one in a step matches the "
      "n-th of the others." },
    { "unmatched", TM_DOC_COUNT | TM_DOC_SUM, .title = "Unmatched collectives",
      .help = "Collectives of one device without a counterpart." },
    { "incomplete", TM_DOC_COUNT | TM_DOC_SUM, .title = "With members not in the profile",
      .help = "Matched collectives of groups with more devices than the profile contains: the last device may be one "
        "that is missing." },
    { "checked", TM_DOC_COUNT | TM_DOC_SUM, .help = "Matched collectives in which all devices must be at the same "
      "time." },
    { "overlapping_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .help = "Of these." },
    { "late_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM,
      .help = "Sum over the matched collectives: latest start minus earliest start." },
    { "wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Waiting time of all devices",
      .help = "Time that all devices together waited for the last one." },
    { "p50_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Arrival skew, median", .help = "Start of the last device "
      "minus start of the first; for one device, minus its own start." },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Arrival skew, p95" },
    { "max_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Arrival skew, max" },
    { "clock", TM_DOC_OBJECT, .help = "As above, for collectives across several hosts.",
      .fields = collectives_skew_clock },
    { "straggler", TM_DOC_DEVICE | TM_DOC_OR_NULL, .title = "Most often late",
      .help = "The device that is late at least "
      "twice as much as the others, and last more often than by chance." },
    { "members", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Members", .fields = collectives_skew_members },
    { "worst", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Latest ones", .fields = collectives_skew_worst, .most = 20 },
    { "critical_path", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "The path through the collectives of several hosts, and "
      "replays without what delays them; null for one host.", .fields = collectives_skew_path },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_collectives[] = {
    { "total", TM_DOC_OBJECT, .help = "Over all analyzed steps.", .fields = collectives_total },
    { "outside", TM_DOC_OBJECT, .help = "Collectives in the window outside the analyzed steps.",
      .fields = collectives_outside },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Rows", .fields = collectives_rows },
    { "rest", TM_DOC_OBJECT, .help = "exposed_ps of the rows, the remaining rows and outside adds up to the devices' "
      "exposed_collective_ps.", .fields = collectives_rest },
    { "skew", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Stragglers; or null with why.", .fields = collectives_skew },
    { .key = NULL },
};

static const struct tm_doc_field allocator_holders[] = {
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Op" },
    { "shape", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Shape" },
    { "bytes", TM_DOC_BYTES, .title = "Bytes" },
    { "address", TM_DOC_WORD | TM_DOC_OR_NULL | TM_DOC_OWN, .title = "Address", .pattern = "^0x[0-9a-f]+$" },
    { .key = NULL },
};

static const struct tm_doc_field allocator_kept[] = {
    { "count", TM_DOC_COUNT, .title = "Buffers" },
    { "quarters_bytes", TM_DOC_BYTES | TM_DOC_LIST, .help = "Their bytes, by the quarter of the host's allocation "
      "events in which they were allocated.", .least = 4, .most = 4 },
    { "largest_bytes", TM_DOC_BYTES, .title = "Largest" },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Its op" },
    { "shape", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Its shape" },
    { .key = NULL },
};

static const struct tm_doc_field allocator_spikes[] = {
    { "begin_ps", TM_DOC_MOMENT, .title = "Start" },
    { "rise_bytes", TM_DOC_BYTES, .title = "Rise" },
    { .key = NULL },
};

static const struct tm_doc_field memory_allocators[] = {
    { "name", TM_DOC_NAME, .title = "Allocator" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "capacity_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Capacity" },
    { "peak_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Peak", .help = "Most bytes in use during the profile." },
    { "peak_at_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "Peak at" },
    { "lifetime_peak_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Lifetime peak", .help = "Maximum since the "
      "program started, as reported by the allocator." },
    { "fragmentation_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Fragmentation", .help = "Share of the free "
      "memory outside the largest free block." },
    { "peak_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share of capacity", .help = "Peak as a share of what the "
      "allocator can hand out." },
    { "allocations", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Allocations" },
    { "deallocations", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Frees", .help = "Freed buffers." },
    { "allocated_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Allocated in total", .help = "Bytes of all "
      "allocations together." },
    { "small_allocations", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Small allocations",
      .help = "Number of small allocations: below the limit in the summary." },
    { "allocations_per_s", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Allocations per second",
      .help = "Per second between the allocator's first and last event." },
    { "allocated_bytes_per_s", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Allocated per second" },
    { "timeline", TM_DOC_POINT | TM_DOC_LIST, .title = "Timeline", .most = 1000 },
    { "holders", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Largest buffers at the peak.", .fields = allocator_holders,
      .most = 20 },
    { "kept", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Buffers allocated but not freed during the profile.",
      .fields = allocator_kept },
    { "spikes", TM_DOC_OBJECT | TM_DOC_LIST, .help = "The largest buffers.", .fields = allocator_spikes, .most = 20 },
    { "spike_count", TM_DOC_COUNT, .title = "Spikes" },
    { .key = NULL },
};

static const struct tm_doc_field held[] = {
    { "kind", TM_DOC_TERM | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Kind" },
    { "device", TM_DOC_DEVICE | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Device" },
    { "function", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Function", .help = "The innermost frame "
      "of user code that allocated it." },
    { "source", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Source",
      .help = "\"file:line\" for a site, the file for a function." },
    { "stack", TM_DOC_NAME | TM_DOC_LIST | TM_DOC_OPTIONAL, .help = "The call stack.", .most = 8 },
    { "count", TM_DOC_COUNT | TM_DOC_FRACTION, .title = "Count" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Bytes", .help = "In rows: null if no size is known." },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share" },
    { .key = NULL },
};

static const struct tm_doc_field held_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "count", TM_DOC_COUNT | TM_DOC_FRACTION, .title = "Count" },
    { "bytes", TM_DOC_BYTES, .title = "Bytes" },
    { .key = NULL },
};

static const struct tm_doc_field device_profiles_rest[] = {
    { "kinds", TM_DOC_OBJECT, .title = "Kinds", .fields = held_rest },
    { "devices", TM_DOC_OBJECT, .title = "Devices", .fields = held_rest },
    { "sites", TM_DOC_OBJECT, .title = "Sites", .fields = held_rest },
    { "functions", TM_DOC_OBJECT, .title = "Functions", .fields = held_rest },
    { .key = NULL },
};

static const struct tm_doc_field device_profiles[] = {
    { "file", TM_DOC_PATH, .title = "File" },
    { "total_count", TM_DOC_COUNT | TM_DOC_FRACTION, .title = "Buffers and programs", .help = "Live data when the "
      "device memory profile was recorded: data buffers and compiled programs (executable)." },
    { "total_bytes", TM_DOC_BYTES, .title = "Held in total", .help = "Sum of the known sizes." },
    { "kinds", TM_DOC_OBJECT | TM_DOC_LIST, .help = "By kind.", .fields = held },
    { "devices", TM_DOC_OBJECT | TM_DOC_LIST, .help = "By device.", .fields = held },
    { "sites", TM_DOC_OBJECT | TM_DOC_LIST, .help = "By kind, function, source and stack.", .fields = held },
    { "functions", TM_DOC_OBJECT | TM_DOC_LIST, .help = "By function and source.", .fields = held },
    { "rest", TM_DOC_OBJECT, .title = "Rest", .fields = device_profiles_rest },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_memory[] = {
    { "small_below_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .help = "Null with why if there are only device memory "
      "profiles." },
    { "allocators", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL | TM_DOC_MAIN,
      .help = "Null with why if there are only device memory profiles.", .fields = memory_allocators },
    { "device_profiles", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Of *.prof.", .fields = device_profiles },
    { .key = NULL },
};

static const struct tm_doc_field roofline_devices[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "model", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Model" },
    { "peak_flops", TM_DOC_FLOP_RATE | TM_DOC_OR_NULL, .title = "Peak compute", .help = "Dense (without "
      "sparsity), for the type in which most matmuls compute, at the highest clock." },
    { "peak_precision", TM_DOC_TERM | TM_DOC_OR_NULL, .title = "Type" },
    { "peak_bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Peak memory bandwidth" },
    { "peak_source", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Source of peak compute" },
    { "bandwidth_source", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Source of peak memory bandwidth" },
    { "flops", TM_DOC_FLOPS | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "FLOPs" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Bytes" },
    { "busy_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Busy" },
    { "flop_rate", TM_DOC_FLOP_RATE | TM_DOC_OR_NULL, .title = "Achieved FLOP/s" },
    { "bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Achieved bandwidth" },
    { "flops_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "% of peak compute" },
    { "memory_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "% of peak bandwidth" },
    { .key = NULL },
};

static const struct tm_doc_field roofline_bound_ps[] = {
    { "compute", TM_DOC_TIME, .title = "Compute" },
    { "memory", TM_DOC_TIME, .title = "Memory" },
    { "latency", TM_DOC_TIME, .title = "Latency" },
    { "none", TM_DOC_TIME, .title = "Not bound" },
    { "unknown", TM_DOC_TIME, .title = "Unknown" },
    { .key = NULL },
};

static const struct tm_doc_field roofline_precisions[] = {
    { "precision", TM_DOC_WORD, .title = "Type" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Events" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time" },
    { "share_pct", TM_DOC_SHARE, .title = "Share", .help = "Share of the compute time." },
    { "matrix_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Matmuls", .help = "Time in matmuls and convolutions." },
    { "tensor_core_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Tensor Cores or MXU", .help = "Time that is known to use "
      "Tensor Cores (GPU) or the MXU (TPU)." },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_roofline[] = {
    { "source", TM_DOC_WORD | TM_DOC_OR_NULL, .help = "Null with why: no cost is known.", .words = "stats|hlo|both" },
    { "devices", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Devices", .fields = roofline_devices },
    { "flops", TM_DOC_FLOPS | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "FLOPs" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Bytes" },
    { "busy_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Busy" },
    { "flop_rate", TM_DOC_FLOP_RATE | TM_DOC_OR_NULL, .title = "Achieved FLOP/s" },
    { "bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Achieved bandwidth" },
    { "flops_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "% of peak compute", .help = "FLOP per second of "
      "busy time, relative to peak compute; this and the bandwidth can exceed 100%." },
    { "memory_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "% of peak bandwidth", .help = "Bytes per second of "
      "busy time, relative to the peak bandwidth of the devices." },
    { "mfu_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Model FLOP utilization", .help = "FLOP relative to what "
      "the devices could compute during the whole window, including idle time." },
    { "compute_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Compute" },
    { "known_ps", TM_DOC_TIME | TM_DOC_SUM, .help = "Compute time with known bytes." },
    { "known_pct", TM_DOC_SHARE, .title = "Compute time with known bytes", .help = "Share of the time of compute "
      "operations whose bytes are in the profile or in the HLO." },
    { "flops_known_ps", TM_DOC_TIME | TM_DOC_SUM, .help = "Compute time with known FLOP." },
    { "flops_known_pct", TM_DOC_SHARE, .title = "Compute time with known FLOP", .help = "Likewise for "
      "floating-point operations." },
    { "bound", TM_DOC_TERM, .title = "Bound by", .help = "Time by the limit that operations are closer to: peak "
      "compute or peak memory bandwidth. Not bound: collectives, waits, copies. Unknown: no cost or no peak.",
      .words = "compute|memory|latency|none|unknown" },
    { "bound_ps", TM_DOC_OBJECT | TM_DOC_SUM, .help = "Compute time by what limits it.", .fields = roofline_bound_ps },
    { "precisions", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Types", .fields = roofline_precisions },
    { "far", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Operations with 1% of the compute time or more that reach less "
      "than half of their roofline.",
      .fields = ops_rows },
    { .key = NULL },
};

/* clang-format on */
