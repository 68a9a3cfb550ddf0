/* SPDX-License-Identifier: Apache-2.0 */
/* The names of classes and directions as they stand in summary.json and in the reports. */
#include "pipeline/record.h"

/* clang-format off */
const char *const tm_class_name[TM_CLASS_COUNT] = {
    [TM_CLASS_UNRESOLVED] = "unresolved",
    [TM_CLASS_KERNEL] = "kernel",
    [TM_CLASS_COLLECTIVE] = "collective",
    [TM_CLASS_COPY] = "copy",
    [TM_CLASS_MEMSET] = "memset",
    [TM_CLASS_GRAPH] = "graph",
    [TM_CLASS_TPU_OP] = "tpu_op",
    [TM_CLASS_TPU_ASYNC] = "tpu_async",
    [TM_CLASS_CPU_OP] = "cpu_op",
    [TM_CLASS_DERIVED] = "derived",
    [TM_CLASS_DEVICE_OTHER] = "device_other",
    [TM_CLASS_STEP_MARKER] = "step_marker",
    [TM_CLASS_ALLOC] = "alloc",
    [TM_CLASS_FREE] = "free",
    [TM_CLASS_SYNC] = "sync",
    [TM_CLASS_LAUNCH] = "launch",
    [TM_CLASS_COMPILE] = "compile",
    [TM_CLASS_INPUT] = "input",
    [TM_CLASS_GC] = "gc",
    [TM_CLASS_PROFILER] = "profiler",
    [TM_CLASS_PYTHON] = "python",
    [TM_CLASS_RUNTIME] = "runtime",
    [TM_CLASS_ANNOTATION] = "annotation",
    [TM_CLASS_FRAMEWORK_OP] = "framework_op",
    [TM_CLASS_MODULE] = "module",
    [TM_CLASS_COUNTER] = "counter",
    [TM_CLASS_INSTANT] = "instant",
    [TM_CLASS_FLOW] = "flow",
    [TM_CLASS_ASYNC] = "async",
    [TM_CLASS_OTHER] = "other",
};
/* clang-format on */

/* clang-format off */
const char *const tm_precision_name[TM_PRECISION_COUNT] = {
    [TM_PRECISION_UNKNOWN] = "unknown", [TM_F64] = "f64",   [TM_F32] = "f32", [TM_TF32] = "tf32", [TM_BF16] = "bf16",
    [TM_F16] = "f16",                   [TM_F8] = "fp8",    [TM_INT8] = "s8", [TM_INT4] = "s4",
    [TM_OTHER_PRECISION] = "other",
};

const char *const tm_direction_name[TM_DIRECTION_COUNT] = {
    [TM_H2D] = "h2d",
    [TM_D2H] = "d2h",
    [TM_P2P] = "p2p",
    [TM_D2D] = "d2d",
    [TM_OTHER_DIRECTION] = "other",
};
/* clang-format on */
