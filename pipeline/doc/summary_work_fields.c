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
    { "category", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Category", .help = "The kind of work, told by the name of "
      "the kernel or of its operation." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "min_ps", TM_DOC_TIME, .title = "Min" },
    { "max_ps", TM_DOC_TIME, .title = "Max" },
    { "mean_ps", TM_DOC_TIME, .title = "Mean" },
    { "stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "n - 1; null of one." },
    { "p50_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Median" },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "p95", .help = "95 % of the launches are no "
      "longer than this." },
    { "share_pct", TM_DOC_SHARE, .title = "Share", .help = "Of the time of all kernels." },
    { "occupancy_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Occupancy", .help = "Warps that can be at work on a "
      "multiprocessor, of those that it can hold." },
    { "grid", TM_DOC_WORD | TM_DOC_OR_NULL | TM_DOC_OWN, .title = "Grid", .help = "Blocks of a launch: \"132,1,1\"." },
    { "block", TM_DOC_WORD | TM_DOC_OR_NULL | TM_DOC_OWN, .title = "Block", .help = "Threads of a block: "
      "\"256,1,1\"." },
    { "registers", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Registers", .help = "Registers of a thread." },
    { "shared_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Shared memory", .help = "Shared memory of a block." },
    { "device_count", TM_DOC_COUNT, .title = "Devices" },
    { "precision", TM_DOC_WORD | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Precision",
      .help = "Type of the numbers, as the program's HLO or the kernel's name tells." },
    { "tensor_core", TM_DOC_BOOL | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "On matrix units" },
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
    { "variants", TM_DOC_COUNT, .title = "Variants", .help = "Launches of a kernel with one grid, block, number of "
      "registers, shared memory and op." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { "min_ps", TM_DOC_TIME, .title = "Min" },
    { "max_ps", TM_DOC_TIME, .title = "Max" },
    { "mean_ps", TM_DOC_TIME, .title = "Mean" },
    { "stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "n - 1; null of one." },
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
    { "rest", TM_DOC_OBJECT, .help = "What a capped table does not list.", .fields = tm_doc_rest },
    { "compute_count", TM_DOC_COUNT | TM_DOC_SUM, .help = "Kernels that compute: no collectives, copies and memsets." },
    { "compute_ps", TM_DOC_TIME | TM_DOC_SUM, .help = "Their time." },
    { "weighted_mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean duration, weighted by time",
      .help = "Weighted: each kernel counts by its own time." },
    { "compute_mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean duration", .help = "Of kernels that compute: "
      "collectives, copies and memsets apart." },
    { "mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "Of all." },
    { "by_category", TM_DOC_OBJECT | TM_DOC_LIST, .title = "By category", .fields = kernels_by_category },
    { "by_name", TM_DOC_OBJECT | TM_DOC_LIST, .title = "By name", .fields = kernels_by_name },
    { "distinct_names", TM_DOC_COUNT, .title = "Distinct kernels" },
    { "by_name_rest", TM_DOC_OBJECT, .help = "What a capped table does not list.", .fields = tm_doc_rest },
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
    { "collectives", TM_DOC_OBJECT, .help = "They are in no other figure of this section.", .fields = kernel_sum },
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
    { "begin_ps", TM_DOC_MOMENT, .title = "Begin" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Length" },
    { "kernels", TM_DOC_COUNT, .title = "Kernels", .least = 2 },
    { "kernel_ps", TM_DOC_TIME, .title = "Work" },
    { "gap_ps", TM_DOC_TIME, .title = "Pauses" },
    { "at_stake_ps", TM_DOC_TIME, .title = "Potential savings" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step" },
    { "names", TM_DOC_NAME | TM_DOC_LIST | TM_DOC_OF_NULLS, .title = "First kernels", .most = 5 },
    { .key = NULL },
};

static const struct tm_doc_field fusion_runs[] = {
    { "gap_below_ps", TM_DOC_TIME, .title = "Gaps shorter than" },
    { "launch_ps", TM_DOC_TIME, .title = "Cost of a launch" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "kernels", TM_DOC_COUNT | TM_DOC_SUM, .title = "Kernels" },
    { "kernel_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Work" },
    { "gap_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Pauses in runs of small kernels" },
    { "at_stake_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Potential savings", .help = "Pauses of the runs and 5 "
      "\xc2\xb5s for each launch but the first, at most the length of the run." },
    { "longest", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Longest ones", .fields = fusion_runs_longest, .most = 20, .whole = "count" },
    { .key = NULL },
};

static const struct tm_doc_field fusion_eager_chains[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "kernels", TM_DOC_COUNT | TM_DOC_SUM, .title = "Kernels" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "saved_ps", TM_DOC_TIME | TM_DOC_SUM, .help = "What chains take beyond the longest kernel of each." },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share" },
    { .key = NULL },
};

static const struct tm_doc_field fusion_repeated[] = {
    { "name", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Kernel" },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Op" },
    { "per_step", TM_DOC_NUMBER, .title = "Per step", .help = "How often it comes in each step of a device in which it "
      "comes more than 10 times." },
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
    { "rest", TM_DOC_OBJECT, .help = "What a capped table does not list.", .fields = tm_doc_rest },
    { .key = NULL },
};

static const struct tm_doc_field fusion_matrix[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time of matrix products" },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Their share" },
    { "f32", TM_DOC_OBJECT, .help = "Products and convolutions of 32-bit floats that do not run on the device's matrix "
      "units.", .fields = fusion_table },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_fusion[] = {
    { "kernels", TM_DOC_OBJECT, .help = "Kernels without collectives, copies and memsets.", .fields = kernel_sum },
    { "per_step", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Kernels per step and device",
      .help = "Mean over analyzed steps and devices." },
    { "small", TM_DOC_OBJECT, .help = "Kernels so short that their launches and the pauses between them weigh.",
      .fields = fusion_small },
    { "tiny", TM_DOC_OBJECT, .help = "As small, with a lower limit.", .fields = fusion_tiny },
    { "runs", TM_DOC_OBJECT, .help = "Two or more kernels under 100 \xc2\xb5s in a row on one stream, less than 10 "
      "\xc2\xb5s apart.", .fields = fusion_runs },
    { "eager_chains", TM_DOC_OBJECT, .help = "Two to eight kernels of PyTorch's eager mode in a row on one stream that "
      "do pointwise work, copy or reduce.", .fields = fusion_eager_chains },
    { "repeated", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL, .help = "By total.", .fields = fusion_repeated,
      .most = 50 },
    { "repeated_total", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Kernels under 100 \xc2\xb5s that come more than 10 "
      "times in a step of a device.", .fields = kernel_sum },
    { "attention_unfused", TM_DOC_OBJECT, .help = "A softmax between two batched products on one stream, as in "
      "attention that is not fused.", .fields = fusion_table },
    { "layout_copies", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Kernels that only copy or transpose and belong to no "
      "operation of the program.", .fields = fusion_table },
    { "matrix", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Products and convolutions on devices with matrix units, on "
      "the units or beside them.", .fields = fusion_matrix },
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
    { "block_size", TM_DOC_TIME, .title = "Size of blocks" },
    { "grid", TM_DOC_TIME, .title = "Small grid" },
    { "none", TM_DOC_TIME, .title = "Nothing" },
    { "unknown", TM_DOC_TIME, .title = "Not known" },
    { .key = NULL },
};

static const struct tm_doc_field occupancy_rows[] = {
    { "name", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Kernel" },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Op" },
    { "category", TM_DOC_WORD, .title = "Category" },
    { "variants", TM_DOC_COUNT, .title = "Variants", .help = "Launches with other grids, blocks or ops; grid, limit "
      "and waves are those of the variant with the most time." },
    { "occupancy_pct", TM_DOC_PERCENT, .title = "Occupancy" },
    { "limiter", TM_DOC_TERM, .title = "Limited by", .help = "What keeps more blocks from running at once, by the "
      "rules of CUDA's occupancy calculator; not known where they do not give the recorded occupancy.",
      .words = "registers|shared_memory|block_size|grid|none|unknown" },
    { "grid", TM_DOC_WORD | TM_DOC_OR_NULL | TM_DOC_OWN, .title = "Grid" },
    { "block", TM_DOC_WORD | TM_DOC_OR_NULL | TM_DOC_OWN, .title = "Block" },
    { "registers", TM_DOC_COUNT, .title = "Registers" },
    { "shared_bytes", TM_DOC_BYTES, .title = "Shared memory" },
    { "waves", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Waves", .help = "Blocks of the grid over those that run at "
      "once." },
    { "tail_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Lost" },
    { "lost_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Lost time", .help = "The last wave leaves a part "
      "of the device empty: its time x (1 - waves / waves rounded up)." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Total" },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { .key = NULL },
};

static const struct tm_doc_field occupancy_tail[] = {
    { "known_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Known" },
    { "lost_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Lost to last waves of blocks" },
    { "below_one_wave_ps", TM_DOC_TIME | TM_DOC_SUM, .help = "Part of lost_ps." },
    { "idle_multiprocessors_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Multiprocessors without a block",
      .help = "Of grids with fewer blocks than multiprocessors: time x the share of multiprocessors without one." },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .help = "By lost_ps.", .fields = occupancy_rows, .most = 20 },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_occupancy[] = {
    { "mean_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Mean, weighted by time", .help = "Warps that can be at "
      "work on a multiprocessor, of those that it can hold, by the time of the kernels that tell it." },
    { "known_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Kernel time it is known of", .help = "Class kernel only." },
    { "unknown_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Kernel time it is not known of", .help = "Class kernel only." },
    { "with_collectives", TM_DOC_OBJECT, .title = "With collectives", .fields = occupancy_with_collectives },
    { "histogram", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Histogram", .fields = occupancy_histogram, .most = 10 },
    { "limiters", TM_DOC_OBJECT | TM_DOC_SUM, .help = "Kernel time by what limits the occupancy.",
      .fields = occupancy_limiters },
    { "low", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN,
      .help = "A kernel with all its grids and ops; op, grid, limiter and waves of "
      "the variant with the most time.", .fields = occupancy_rows, .most = 100 },
    { "tail", TM_DOC_OBJECT, .help = "Last waves of blocks that do not fill a device.", .fields = occupancy_tail },
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
    { "exposed_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed", .help = "Time in which a device "
      "only copies: neither a kernel nor a collective runs." },
    { "mean_bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Mean rate", .help = "Bytes over the time in which any "
      "copy of this direction is in flight on a device, of copies whose size is known: copies that overlap share the "
      "link." },
    { "max_bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Best rate", .help = "The best rate is that of a stretch "
      "in which copies are in flight without a break." },
    { "unknown_bytes_count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Of unknown size", .help = "Copies of which the "
      "profile tells no bytes; they are in no rate." },
    { "outside", TM_DOC_OBJECT, .help = "Copies that are not in the analyzed steps, and what they take of the window.",
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
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Copies of pageable host memory" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Their time" },
    { "share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share of copy time" },
    { .key = NULL },
};

static const struct tm_doc_field transfers_largest[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "direction", TM_DOC_DIRECTION, .title = "Direction" },
    { "bytes", TM_DOC_BYTES | TM_DOC_ADDS, .title = "Bytes" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Begin" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_ADDS, .title = "Length" },
    { .key = NULL },
};

static const struct tm_doc_field transfers_repeated[] = {
    { "direction", TM_DOC_DIRECTION, .title = "Direction" },
    { "bytes", TM_DOC_BYTES, .title = "Size of each" },
    { "per_step", TM_DOC_NUMBER, .title = "Per step", .help = "Copies of exactly this size in each step of a device." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time" },
    { .key = NULL },
};

static const struct tm_doc_field transfers_ping_pong[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Copies to the host and back" },
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
    { "by_pair", TM_DOC_OBJECT | TM_DOC_LIST, .title = "By pair of devices", .fields = transfers_by_pair },
    { "sizes", TM_DOC_OBJECT | TM_DOC_LIST, .title = "By size", .fields = transfers_sizes, .most = 64 },
    { "pageable", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Copies from or to ordinary memory of the host: the driver "
      "moves it in pieces.", .fields = transfers_pageable },
    { "largest", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Largest ones", .fields = transfers_largest, .most = 20 },
    { "repeated", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Repeated", .fields = transfers_repeated },
    { "ping_pong", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "A copy to the host followed by one of the same size to the "
      "device.", .fields = transfers_ping_pong },
    { "tpu_host", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Between a TPU and its host.", .fields = transfers_tpu_host,
      .most = 2 },
    { .key = NULL },
};

static const struct tm_doc_field ops_families[] = {
    { "family", TM_DOC_NAME, .title = "Family", .help = "Name without numbers." },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Framework path", .help = "\"*\" for layer numbers." },
    { "longest", TM_DOC_NAME, .title = "Longest operation", .help = "The member with the most self time." },
    { "category", TM_DOC_WORD, .title = "Category" },
    { "source", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Source" },
    { "precision", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Type" },
    { "members", TM_DOC_COUNT, .title = "Operations" },
    { "counts_as_one", TM_DOC_BOOL, .title = "Counts as one" },
    { "device_count", TM_DOC_COUNT, .title = "Devices" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Events" },
    { "executions", TM_DOC_COUNT | TM_DOC_SUM, .title = "Runs" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Self time" },
    { "self_stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "Of events, n - 1; null of one." },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "mean_ps", TM_DOC_TIME, .title = "Mean" },
    { "min_ps", TM_DOC_TIME, .title = "Shortest" },
    { "max_ps", TM_DOC_TIME, .title = "Longest" },
    { "share_pct", TM_DOC_SHARE, .title = "Share" },
    { "flops", TM_DOC_FLOPS | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Of all executions." },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Of all executions." },
    { "flop_rate", TM_DOC_FLOP_RATE | TM_DOC_OR_NULL, .title = "Computing" },
    { "bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Memory" },
    { "intensity", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "FLOP per byte" },
    { "bound", TM_DOC_TERM, .title = "Bound by", .words = "compute|memory|latency|none|unknown" },
    { "roof", TM_DOC_WORD | TM_DOC_OR_NULL, .help = "The nearer one.", .words = "compute|memory" },
    { "roof_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Of its roof", .help = "Of that; may pass 100." },
    { "first", TM_DOC_OBJECT, .help = "The first event of a member.", .fields = tm_doc_place },
    { "cumulative_pct", TM_DOC_SHARE, .title = "Cumulative" },
    { .key = NULL },
};

static const struct tm_doc_field ops_families_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "members", TM_DOC_COUNT, .title = "Members" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Itself" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { .key = NULL },
};

static const struct tm_doc_field ops_rows[] = {
    { "name", TM_DOC_NAME, .title = "Operation" },
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Program" },
    { "opcode", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Opcode" },
    { "category", TM_DOC_WORD, .title = "Category" },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Framework path", .help = "The scopes of the program that the "
      "operation was traced in." },
    { "source", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Source", .help = "The line of code that it comes from." },
    { "precision", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Type", .help = "Type of the products in the program's HLO, "
      "else of the result, else what the kernel's name tells." },
    { "device_count", TM_DOC_COUNT, .title = "Devices" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Events", .help = "An execution may be several events, as a GPU "
      "operation may need several kernels." },
    { "executions", TM_DOC_COUNT | TM_DOC_SUM, .title = "Runs", .help = "Executions of the operation." },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Self time", .help = "Time of an operation without the operations "
      "that lie in it (loops and calls of TPUs and CPUs)." },
    { "self_stddev_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .help = "Of events, n - 1; null of one." },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Whole time", .help = "Sum of the lengths, with what lies in "
      "them." },
    { "mean_ps", TM_DOC_TIME, .title = "Mean" },
    { "min_ps", TM_DOC_TIME, .title = "Shortest" },
    { "max_ps", TM_DOC_TIME, .title = "Longest" },
    { "self_share_pct", TM_DOC_SHARE, .title = "Share", .help = "Of the self time of all operations." },
    { "family", TM_DOC_COUNT | TM_DOC_OR_NULL, .help = "Its place in families." },
    { "flops", TM_DOC_FLOPS | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Of all executions." },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .help = "Of all executions." },
    { "flop_rate", TM_DOC_FLOP_RATE | TM_DOC_OR_NULL, .title = "Computing" },
    { "bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Memory" },
    { "intensity", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "FLOP per byte", .help = "Cost of the operation, as the "
      "profile or the HLO tells it, per byte and per second of self time." },
    { "bound", TM_DOC_TERM, .title = "Bound by", .help = "What the operation comes nearer to, the peak of computing or "
      "of the memory.", .words = "compute|memory|latency|none|unknown" },
    { "roof", TM_DOC_WORD | TM_DOC_OR_NULL, .help = "The nearer one.", .words = "compute|memory" },
    { "roof_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Of its roof", .help = "How near it comes; over 100 % "
      "where the cost counts too much or a cache helps." },
    { "first", TM_DOC_OBJECT, .help = "Begin and device of its first event in the analyzed steps: where to look in a "
      "trace viewer.", .fields = tm_doc_place },
    { "lost_ps", TM_DOC_TIME | TM_DOC_OPTIONAL | TM_DOC_SUM, .title = "Above its roof",
      .help = "Time that the operation takes above what its cost needs at the peak." },
    { "cumulative_pct", TM_DOC_SHARE | TM_DOC_OPTIONAL, .title = "Cumulative", .help = "Share of this one and of all "
      "that are longer." },
    { .key = NULL },
};

static const struct tm_doc_field ops_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Itself" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_ops[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "distinct", TM_DOC_COUNT, .title = "Operations" },
    { "distinct_families", TM_DOC_COUNT, .title = "Families of operations", .help = "Families that count as one." },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total time" },
    { "top_share_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share of the longest one" },
    { "rows_for_80_pct", TM_DOC_COUNT, .title = "Operations covering 80 %", .help = "How many operations make up 80 %; "
      "a family with more operations than steps counts as one." },
    { "basis", TM_DOC_WORD, .title = "Basis", .words = "hlo_op|kernel" },
    { "families", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Operations that are alike, 500 at most.",
      .fields = ops_families },
    { "families_rest", TM_DOC_OBJECT, .title = "Rest of the families", .fields = ops_families_rest },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Rows", .fields = ops_rows },
    { "rest", TM_DOC_OBJECT, .title = "Rest", .fields = ops_rest },
    { .key = NULL },
};

static const struct tm_doc_field scopes_unscoped[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Itself" },
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
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Itself", .help = "Time of those in no scope inside it." },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total", .help = "Time of all operations in the scope." },
    { "share_pct", TM_DOC_SHARE, .title = "Share", .help = "Of all, unscoped too." },
    { .key = NULL },
};

static const struct tm_doc_field scopes_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Itself" },
    { .key = NULL },
};

static const struct tm_doc_field scopes_layers[] = {
    { "layer", TM_DOC_NAME, .help = "\"layer_0\"." },
    { "path", TM_DOC_PATH, .title = "Layer", .help = "Scopes that differ only in a number, two or more; of families "
      "inside each other the outer one." },
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
    { "host_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Host", .help = "Time on the host from begin to end." },
    { "host_self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Itself" },
    { "device_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Their device time",
      .help = "Their time, whenever they ran." },
    { "activities", TM_DOC_COUNT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Launched", .help = "Activities whose launch "
      "began inside, on the same thread." },
    { .key = NULL },
};

static const struct tm_doc_field scopes_annotations_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "host_self_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Itself" },
    { "device_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Their device time" },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_scopes[] = {
    { "self_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Device time in scopes",
      .help = "Time of operations whose framework path names a scope." },
    { "unscoped", TM_DOC_OBJECT, .title = "Without a scope", .help = "Operations that were added by the compiler, or "
      "whose framework path is not told.", .fields = scopes_unscoped },
    { "passes", TM_DOC_OBJECT | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Passes", .help = "Backward is what was "
      "transposed for gradients, forward what was differentiated; neither: optimizer, metrics, programs without "
      "gradients.", .fields = scopes_passes },
    { "recomputed", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Forward values that jax.checkpoint computes a second "
      "time.", .fields = scopes_unscoped },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL | TM_DOC_MAIN, .help = "A tree per pass in order: a node, then its "
      "children by total.", .fields = scopes_rows },
    { "rest", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Rest", .fields = scopes_rest },
    { "layers", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL, .help = "Families by time, layers by number.",
      .fields = scopes_layers },
    { "layers_rest", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Rest of the layers", .fields = scopes_layers_rest },
    { "annotations", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL, .help = "A tree in order, by host time.",
      .fields = scopes_annotations },
    { "annotations_rest", TM_DOC_OBJECT | TM_DOC_OR_NULL, .title = "Rest of the annotations",
      .fields = scopes_annotations_rest },
    { .key = NULL },
};

static const struct tm_doc_field collectives_total[] = {
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Collectives" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time in them" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Data" },
    { "unknown_bytes_count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Of unknown size", .help = "Collectives of which the "
      "profile tells no bytes; they are in no bandwidth." },
    { "exposed_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Exposed time" },
    { "exposed_wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed, waiting for late devices" },
    { "exposed_move_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Exposed, moving data" },
    { "exposed_unmatched_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Exposed, without a counterpart",
      .help = "The three parts add up to exposed_ps, here and wherever they stand." },
    { "overlap_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Overlapped with compute" },
    { .key = NULL },
};

static const struct tm_doc_field collectives_outside[] = {
    { "exposed_ps", TM_DOC_TIME, .title = "Exposed" },
    { "exposed_wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Waiting" },
    { "exposed_move_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Moving" },
    { "exposed_unmatched_ps", TM_DOC_TIME, .title = "No counterpart" },
    { .key = NULL },
};

static const struct tm_doc_field collectives_rows[] = {
    { "kind", TM_DOC_WORD, .title = "Kind", .words = "all-reduce|all-gather|reduce-scatter|all-to-all|broadcast|"
      "send-recv|permute|other" },
    { "message_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Message", .help = "The most that one device sends or "
      "receives in one." },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Time" },
    { "mean_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Mean" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Bytes", .help = "The message times the count." },
    { "group_size", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Devices" },
    { "reach", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Reach", .help = "Whether the devices of a group are in one "
      "node, or in several.", .words = "node|nodes" },
    { "data_type", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Type" },
    { "exposed_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Exposed", .help = "Time in which the same device computes "
      "nothing." },
    { "exposed_wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Waiting",
      .help = "Exposed time before the last device starts the collective." },
    { "exposed_move_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Moving", .help = "Exposed time from then "
      "on." },
    { "exposed_unmatched_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "No counterpart", .help = "Exposed time of "
      "collectives that no other device in the profile has: waiting or moving, nobody knows." },
    { "overlap_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Overlap", .help = "The share of the time in which it "
      "computes." },
    { "algorithm_bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Algorithm bandwidth",
      .help = "Bytes over the time in which data move." },
    { "bus_bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Bus bandwidth", .help = "What the links carry, "
      "comparable between kinds and sizes (as NCCL's tests define it)." },
    { "bandwidth_over", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Bandwidth over", .help = "moving: from the last "
      "device's start on; flight: as a TPU records it; duration: no counterpart is known, and the time holds what the "
      "devices wait.", .words = "moving|flight|duration" },
    { .key = NULL },
};

static const struct tm_doc_field collectives_rest[] = {
    { "rows", TM_DOC_COUNT, .title = "Rows" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Count" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Total" },
    { "exposed_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Exposed" },
    { "exposed_wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Waiting" },
    { "exposed_move_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Moving" },
    { "exposed_unmatched_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "No counterpart" },
    { .key = NULL },
};

static const struct tm_doc_field collectives_skew_clock[] = {
    { "hosts", TM_DOC_COUNT, .title = "Hosts" },
    { "aligned", TM_DOC_BOOL | TM_DOC_OR_NULL, .title = "Clocks agree" },
    { "checked", TM_DOC_COUNT, .title = "Checked" },
    { "overlapping_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Overlapping" },
    { "offsets_ps", TM_DOC_TIME | TM_DOC_LIST | TM_DOC_OR_NULL, .help = "By host: its time 0 in the time of the host "
      "whose profile began first; null where the clocks do not agree." },
    { .key = NULL },
};

static const struct tm_doc_field collectives_skew_members[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Matched" },
    { "last_count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Came last", .help = "Collectives that began on this device "
      "last." },
    { "late_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Late" },
    { "late_max_ps", TM_DOC_TIME, .title = "Late at most" },
    { "wait_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Waits for others", .help = "Start of the last device minus its "
      "own." },
    { "caused_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Causes waiting", .help = "Its part of what the others wait: "
      "while some wait, those that have not come yet cause it, in equal parts." },
    { "caused_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Share", .help = "Of wait_ps of all." },
    { "alone_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "If it alone were in time", .help = "What the others would have "
      "waited less had it alone come with the last but one." },
    { "collective_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "In collectives", .help = "Of all." },
    { .key = NULL },
};

static const struct tm_doc_field collectives_skew_worst[] = {
    { "kind", TM_DOC_WORD, .title = "Kind", .words = "all-reduce|all-gather|reduce-scatter|all-to-all|broadcast|"
      "permute|other" },
    { "name", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Collective" },
    { "group", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Group" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step" },
    { "ordinal", TM_DOC_COUNT, .title = "Number in the step", .help = "Which collective of its group in that step, "
      "counted from 1.", .least = 1 },
    { "skew_ps", TM_DOC_TIME, .title = "Late by" },
    { "last", TM_DOC_DEVICE, .title = "Last" },
    { "begin_ps", TM_DOC_MOMENT, .title = "Start of the last", .help = "Its own; each in its host's time." },
    { "first", TM_DOC_DEVICE, .title = "First" },
    { "first_begin_ps", TM_DOC_MOMENT, .title = "Start of the first", .help = "Its own; each in its host's time." },
    { .key = NULL },
};

static const struct tm_doc_field collectives_skew[] = {
    { "communicators", TM_DOC_COUNT, .title = "Communicators" },
    { "matched", TM_DOC_COUNT | TM_DOC_SUM, .title = "Matched collectives", .help = "Collectives of a group of devices "
      "with the same recorded number belong together; where none is recorded, the n-th in a step belongs with the n-th "
      "of the others." },
    { "unmatched", TM_DOC_COUNT | TM_DOC_SUM, .title = "Without a counterpart",
      .help = "Of one device, without a counterpart." },
    { "incomplete", TM_DOC_COUNT | TM_DOC_SUM, .title = "With members not in the profile",
      .help = "Matched collectives of groups with more devices than the profile has of them: the last one may be "
      "another." },
    { "checked", TM_DOC_COUNT | TM_DOC_SUM, .help = "Matched ones in which all devices have to be at once." },
    { "overlapping_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .help = "Of these." },
    { "late_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM,
      .help = "Sum over the matched: last begin minus earliest." },
    { "wait_ps", TM_DOC_TIME | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Waiting of all devices",
      .help = "What all devices together waited for the last one." },
    { "p50_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Last after first, median", .help = "Start of the last device "
      "minus start of the first; of one device, of its own." },
    { "p95_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Last after first, 95th percentile" },
    { "max_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Last after first, at most" },
    { "clock", TM_DOC_OBJECT, .help = "As above, of collectives of several hosts.", .fields = collectives_skew_clock },
    { "straggler", TM_DOC_DEVICE | TM_DOC_OR_NULL, .title = "Mostly late", .help = "The device that is late twice as "
      "much as the others or more, and last more often than in turn." },
    { "members", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Members", .fields = collectives_skew_members },
    { "worst", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Latest ones", .fields = collectives_skew_worst, .most = 20 },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_collectives[] = {
    { "total", TM_DOC_OBJECT, .help = "Of all analyzed steps.", .fields = collectives_total },
    { "outside", TM_DOC_OBJECT, .help = "Of collectives of steps that are not analyzed, in the window.",
      .fields = collectives_outside },
    { "rows", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_MAIN, .title = "Rows", .fields = collectives_rows },
    { "rest", TM_DOC_OBJECT, .help = "exposed_ps of the rows, the rest and outside adds up to the devices' "
      "exposed_collective_ps.", .fields = collectives_rest },
    { "skew", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Who comes late; or null with why.", .fields = collectives_skew },
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
    { "quarters_bytes", TM_DOC_BYTES | TM_DOC_LIST, .help = "Their bytes by the quarter of the host's allocation "
      "events in which they were taken.", .least = 4, .most = 4 },
    { "largest_bytes", TM_DOC_BYTES, .title = "Largest" },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Its op" },
    { "shape", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Its shape" },
    { .key = NULL },
};

static const struct tm_doc_field allocator_spikes[] = {
    { "begin_ps", TM_DOC_MOMENT, .title = "Begin" },
    { "rise_bytes", TM_DOC_BYTES, .title = "Rise" },
    { .key = NULL },
};

static const struct tm_doc_field memory_allocators[] = {
    { "name", TM_DOC_NAME, .title = "Allocator" },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "capacity_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Capacity" },
    { "peak_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Peak", .help = "Most bytes in use inside the profile." },
    { "peak_at_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "Peak at" },
    { "lifetime_peak_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Lifetime peak", .help = "The most since the "
      "program began, as the allocator tells it." },
    { "fragmentation_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Fragmentation", .help = "Share of the free memory "
      "that lies outside of the largest free block." },
    { "peak_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Of capacity", .help = "Its share of what the allocator may "
      "hand out." },
    { "allocations", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Allocations" },
    { "deallocations", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Frees", .help = "Buffers given back." },
    { "allocated_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Allocated in all", .help = "Bytes of all allocations "
      "together." },
    { "small_allocations", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Small allocations",
      .help = "How many of them were small: below the limit in the summary." },
    { "allocations_per_s", TM_DOC_NUMBER | TM_DOC_OR_NULL | TM_DOC_NOT_NEGATIVE, .title = "Allocations a second",
      .help = "Per second of the time between the allocator's first and last event." },
    { "allocated_bytes_per_s", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Allocated a second" },
    { "timeline", TM_DOC_POINT | TM_DOC_LIST, .title = "Curve", .most = 1000 },
    { "holders", TM_DOC_OBJECT | TM_DOC_LIST, .help = "What holds most at the peak.", .fields = allocator_holders,
      .most = 20 },
    { "kept", TM_DOC_OBJECT | TM_DOC_OR_NULL, .help = "Buffers that were allocated inside the profile and not freed in "
      "it.", .fields = allocator_kept },
    { "spikes", TM_DOC_OBJECT | TM_DOC_LIST, .help = "The largest.", .fields = allocator_spikes, .most = 20 },
    { "spike_count", TM_DOC_COUNT, .title = "Spikes" },
    { .key = NULL },
};

static const struct tm_doc_field held[] = {
    { "kind", TM_DOC_TERM | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Kind" },
    { "device", TM_DOC_DEVICE | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Device" },
    { "function", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Function", .help = "The innermost frame of "
      "the user's own code that allocated it." },
    { "source", TM_DOC_NAME | TM_DOC_OR_NULL | TM_DOC_OPTIONAL, .title = "Source",
      .help = "\"file:line\" of a site, the file of a function." },
    { "stack", TM_DOC_NAME | TM_DOC_LIST | TM_DOC_OPTIONAL, .help = "The frames that led there.", .most = 8 },
    { "count", TM_DOC_COUNT | TM_DOC_FRACTION, .title = "Count" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Bytes", .help = "Of rows: null where no size is known." },
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
    { "total_count", TM_DOC_COUNT | TM_DOC_FRACTION, .title = "Buffers and programs", .help = "What was held when the "
      "device memory profile was taken: data buffers and compiled programs (executable)." },
    { "total_bytes", TM_DOC_BYTES, .title = "Held in all", .help = "Of the known sizes." },
    { "kinds", TM_DOC_OBJECT | TM_DOC_LIST, .help = "With kind.", .fields = held },
    { "devices", TM_DOC_OBJECT | TM_DOC_LIST, .help = "With device.", .fields = held },
    { "sites", TM_DOC_OBJECT | TM_DOC_LIST, .help = "With kind, function, source and stack.", .fields = held },
    { "functions", TM_DOC_OBJECT | TM_DOC_LIST, .help = "With function and source.", .fields = held },
    { "rest", TM_DOC_OBJECT, .title = "Rest", .fields = device_profiles_rest },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_memory[] = {
    { "small_below_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .help = "Null with why where there are only device memory "
      "profiles." },
    { "allocators", TM_DOC_OBJECT | TM_DOC_LIST | TM_DOC_OR_NULL | TM_DOC_MAIN,
      .help = "Null with why where there are only device "
      "memory profiles.", .fields = memory_allocators },
    { "device_profiles", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Of *.prof.", .fields = device_profiles },
    { .key = NULL },
};

static const struct tm_doc_field roofline_devices[] = {
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "model", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Model" },
    { "peak_flops", TM_DOC_FLOP_RATE | TM_DOC_OR_NULL, .title = "Peak of computing", .help = "Dense, without sparsity, "
      "of the type in which most products compute, at the highest clock." },
    { "peak_precision", TM_DOC_TERM | TM_DOC_OR_NULL, .title = "Type" },
    { "peak_bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Peak of memory" },
    { "peak_source", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Source of the computing peak" },
    { "bandwidth_source", TM_DOC_PROSE | TM_DOC_OR_NULL, .title = "Source of the memory's peak" },
    { "flops", TM_DOC_FLOPS | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "FLOPs" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Bytes" },
    { "busy_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Busy" },
    { "flop_rate", TM_DOC_FLOP_RATE | TM_DOC_OR_NULL, .title = "Computing" },
    { "bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Memory" },
    { "flops_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Of the computing peak" },
    { "memory_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Of the memory's peak" },
    { .key = NULL },
};

static const struct tm_doc_field roofline_bound_ps[] = {
    { "compute", TM_DOC_TIME, .title = "Computing" },
    { "memory", TM_DOC_TIME, .title = "Memory" },
    { "latency", TM_DOC_TIME, .title = "Latency" },
    { "none", TM_DOC_TIME, .title = "Nothing" },
    { "unknown", TM_DOC_TIME, .title = "Not known" },
    { .key = NULL },
};

static const struct tm_doc_field roofline_precisions[] = {
    { "precision", TM_DOC_WORD, .title = "Type" },
    { "count", TM_DOC_COUNT | TM_DOC_SUM, .title = "Events" },
    { "total_ps", TM_DOC_TIME | TM_DOC_SUM | TM_DOC_ADDS, .title = "Time" },
    { "share_pct", TM_DOC_SHARE, .title = "Share", .help = "Of the computing time." },
    { "matrix_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Matrix products", .help = "Time in products and convolutions." },
    { "tensor_core_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "On matrix units", .help = "Time that is known to run on "
      "matrix units." },
    { .key = NULL },
};

const struct tm_doc_field tm_doc_roofline[] = {
    { "source", TM_DOC_WORD | TM_DOC_OR_NULL, .help = "Null with why: no cost is known.", .words = "stats|hlo|both" },
    { "devices", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Devices", .fields = roofline_devices },
    { "flops", TM_DOC_FLOPS | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "FLOPs" },
    { "bytes", TM_DOC_BYTES | TM_DOC_OR_NULL | TM_DOC_SUM, .title = "Bytes" },
    { "busy_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Busy" },
    { "flop_rate", TM_DOC_FLOP_RATE | TM_DOC_OR_NULL, .title = "Computing" },
    { "bandwidth", TM_DOC_RATE | TM_DOC_OR_NULL, .title = "Memory" },
    { "flops_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Of the computing peak", .help = "Operations per second "
      "of busy time over the same; either may pass 100 %." },
    { "memory_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Of the memory's peak", .help = "Bytes per second of "
      "busy time over the peaks of the devices." },
    { "mfu_pct", TM_DOC_PERCENT | TM_DOC_OR_NULL, .title = "Model FLOP utilization", .help = "Operations over what the "
      "devices could have done in their whole span, idle time with it." },
    { "compute_ps", TM_DOC_TIME | TM_DOC_SUM, .title = "Compute" },
    { "known_ps", TM_DOC_TIME | TM_DOC_SUM, .help = "Of compute time: bytes known." },
    { "known_pct", TM_DOC_SHARE, .title = "Bytes known of computing time", .help = "Share of the time of operations "
      "that compute whose bytes the profile or the HLO tells." },
    { "flops_known_ps", TM_DOC_TIME | TM_DOC_SUM, .help = "Of compute time: FLOPs known." },
    { "flops_known_pct", TM_DOC_SHARE, .title = "FLOPs known of computing time", .help = "The same of floating-point "
      "operations." },
    { "bound", TM_DOC_TERM, .title = "Bound by", .help = "Time by what operations come nearer to, the peak of "
      "computing or that of the memory; nothing: collectives, waits, copies. Not known: cost or peak.",
      .words = "compute|memory|latency|none|unknown" },
    { "bound_ps", TM_DOC_OBJECT | TM_DOC_SUM, .help = "Compute time by what bounds it.", .fields = roofline_bound_ps },
    { "precisions", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Types", .fields = roofline_precisions },
    { "far", TM_DOC_OBJECT | TM_DOC_LIST, .help = "Ops of 1 % of the compute time or more under half of their roof.",
      .fields = ops_rows },
    { .key = NULL },
};

/* clang-format on */
