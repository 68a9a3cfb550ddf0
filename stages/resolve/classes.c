/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/resolve/classes.h"

#include <string.h>

#include "pipeline/trace.h"
#include "stages/resolve/name_text.h"

/* The class table: which planes and lines there are, and the class of an event from the traits of its name, its
 * flags and its line.  The rows stand in the order of METRICS section 1; the first that holds decides. */

enum { DIGITS_MOST = 18 }; /* of an ordinal: fits in int64 */

static const uint64_t derived_first = 0xdeadbeef, derived_last = 0xdeadbeef + 0xffff;

/* "N" up to the end. */
static bool read_ordinal(struct tm_text text, int64_t *ordinal)
{
    int64_t value = 0;

    if (!text.length || text.length > DIGITS_MOST)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        value = value * 10 + (text.at[i] - '0');
    }
    *ordinal = value;
    return true;
}

static bool is_device(struct tm_text plane, enum tm_device_kind *kind, int64_t *ordinal)
{
    static const struct {
        const char *prefix;
        enum tm_device_kind kind;
    } kinds[] = { { "/device:GPU:", TM_DEVICE_GPU }, { "/device:TPU:", TM_DEVICE_TPU } };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (tm_text_begins(plane, kinds[i].prefix) &&
            read_ordinal(tm_text_from(plane, strlen(kinds[i].prefix)), ordinal)) {
            *kind = kinds[i].kind;
            return true;
        }
    }
    return false;
}

enum tm_side tm_side_of_plane(const char *name, size_t length, enum tm_device_kind *kind, int64_t *ordinal)
{
    const struct tm_text plane = { name, length };

    if (is_device(plane, kind, ordinal))
        return TM_SIDE_DEVICE;
    if (!tm_text_begins(plane, "/host:") || tm_text_begins(plane, "/host:__") || tm_text_is(plane, "/host:metadata") ||
        tm_text_is(plane, "/host:tfstreamz"))
        return TM_SIDE_OTHER;
    return TM_SIDE_HOST;
}

enum tm_accelerator tm_accelerator_of_plane(const char *name, size_t length)
{
    const struct tm_text plane = { name, length };
    enum tm_device_kind kind;
    int64_t ordinal;

    if (!tm_text_begins(plane, "/device:") || is_device(plane, &kind, &ordinal) ||
        tm_text_begins(plane, "/device:CUSTOM:") || tm_text_begins(plane, "/device:TPU:"))
        return TM_ACCELERATOR_NONE;
    if (tm_text_begins(plane, "/device:MTIA:"))
        return TM_ACCELERATOR_MTIA;
    return tm_text_begins(plane, "/device:NPU:") ? TM_ACCELERATOR_ASCEND : TM_ACCELERATOR_OTHER;
}

/* source: trace_view.json of torch_npu and msprof: processes "Ascend Hardware", "Communication" ("HCCL" before),
 * "Overlap Analysis", counters, all labeled "NPU"; the host's are "Python" and "CANN", labeled "CPU".
 * aiu-trace-analyzer: "AIU Device0"; the profiler of PyTorch for the AIU gives events the categories of GPUs. */
enum tm_accelerator tm_accelerator_of_process(const char *name, size_t length, const char *labels, size_t labels_length,
                                              bool beside_ascend)
{
    const struct tm_text process = { name, length }, label = { labels, labels_length };

    if (tm_text_is(process, "Ascend Hardware") || tm_text_begins(process, "Ascend Hardware ("))
        return TM_ACCELERATOR_ASCEND;
    if (beside_ascend &&
        (tm_text_is(label, "NPU") || tm_text_begins(label, "NPU ") || tm_text_begins(process, "HCCL") ||
         tm_text_begins(process, "Communication") || tm_text_begins(process, "Overlap Analysis")))
        return TM_ACCELERATOR_ASCEND;
    return tm_text_begins(process, "AIU Device") ? TM_ACCELERATOR_AIU : TM_ACCELERATOR_NONE;
}

bool tm_is_gpu_process(const char *name, size_t length, int64_t *ordinal)
{
    const struct tm_text process = { name, length };

    return tm_text_begins(process, "GPU") && read_ordinal(tm_text_from(process, 3), ordinal);
}

/* Names of lines that a viewer derives from the others. */
static bool is_derived_name(struct tm_text line)
{
    return tm_text_is(line, "Steps") || tm_text_begins(line, "XLA Modules") || tm_text_begins(line, "XLA Ops") ||
           tm_text_begins(line, "Framework ") || tm_text_begins(line, "TensorFlow Ops") ||
           tm_text_begins(line, "TensorFlow Name Scope") || tm_text_begins(line, "Launch Stats") ||
           tm_text_begins(line, "Source code");
}

static enum tm_line host_line(struct tm_text line)
{
    if (tm_text_begins(line, "switchto") || (line.length && (memmem(line.at, line.length, "codegen", 7) ||
                                                             memmem(line.at, line.length, "CompilerThreadPool", 18))))
        return TM_LINE_COMPILER;
    return is_derived_name(line) ? TM_LINE_DERIVED : TM_LINE_HOST;
}

static enum tm_line tpu_line(struct tm_text line)
{
    if (tm_text_is(line, "XLA Ops"))
        return TM_LINE_TPU_OPS;
    if (tm_text_is(line, "Async XLA Ops"))
        return TM_LINE_TPU_ASYNC;
    if (tm_text_is(line, "XLA Modules"))
        return TM_LINE_TPU_MODULES;
    if (tm_text_is(line, "Steps"))
        return TM_LINE_TPU_STEPS;
    return is_derived_name(line) ? TM_LINE_DERIVED : TM_LINE_OTHER;
}

static enum tm_line gpu_line(struct tm_text line, int64_t id)
{
    if (((uint64_t)id >= derived_first && (uint64_t)id <= derived_last) || is_derived_name(line))
        return TM_LINE_DERIVED;
    if (tm_text_begins(line, "CUPTI overhead"))
        return TM_LINE_OVERHEAD;
    return tm_text_begins(line, "Stream #") ? TM_LINE_STREAM : TM_LINE_OTHER;
}

enum tm_line tm_line_of(enum tm_side side, enum tm_device_kind kind, const char *name, size_t length, int64_t id)
{
    const struct tm_text line = { name, length };

    if (side == TM_SIDE_HOST)
        return host_line(line);
    if (side != TM_SIDE_DEVICE)
        return TM_LINE_OTHER;
    return kind == TM_DEVICE_TPU ? tpu_line(line) : gpu_line(line, id);
}

enum { ANY_DETAILS = TM_FLAG_KERNEL_DETAILS | TM_FLAG_COPY_DETAILS | TM_FLAG_MEMSET_DETAILS };

/* A graph as a whole; its nodes, where they are recorded, are kernels and copies. */
static bool is_graph(const struct tm_class_question *q)
{
    if (q->flags & ANY_DETAILS)
        return false;
    return (q->traits & TM_TRAIT_GRAPH_NAME) ||
           ((q->flags & (TM_FLAG_GRAPH_EXEC | TM_FLAG_GRAPH_NODE)) == TM_FLAG_GRAPH_EXEC &&
            !(q->traits & (TM_TRAIT_COPY_NAME | TM_TRAIT_MEMSET_NAME)));
}

static enum tm_class classify_gpu(const struct tm_class_question *q)
{
    const uint32_t no_work = TM_TRAIT_DRIVER_CALL | TM_TRAIT_BOOKKEEPING | TM_TRAIT_PROFILER;
    const bool copy = (q->flags & TM_FLAG_COPY_DETAILS) || (q->traits & TM_TRAIT_COPY_NAME);
    const bool memset = (q->flags & TM_FLAG_MEMSET_DETAILS) || (q->traits & TM_TRAIT_MEMSET_NAME);
    const bool kernel = (q->flags & TM_FLAG_KERNEL_DETAILS) ||
                        (q->line == TM_LINE_STREAM && !copy && !memset && !(q->traits & no_work));
    const enum tm_direction direction = tm_direction_of(q->traits);
    const bool to_host = copy && (direction == TM_H2D || direction == TM_D2H);

    if (is_graph(q))
        return TM_CLASS_GRAPH;
    if ((kernel || copy || memset) && (q->hlo_traits & TM_TRAIT_COLLECTIVE_TOKEN) && !to_host)
        return TM_CLASS_COLLECTIVE;
    if (kernel && !copy && !memset && (q->traits & (TM_TRAIT_COLLECTIVE_NAME | TM_TRAIT_COLLECTIVE_TOKEN)))
        return TM_CLASS_COLLECTIVE;
    if (copy)
        return TM_CLASS_COPY;
    if (memset)
        return TM_CLASS_MEMSET;
    if (kernel)
        return TM_CLASS_KERNEL;
    return q->line == TM_LINE_OVERHEAD || (q->traits & TM_TRAIT_PROFILER) ? TM_CLASS_PROFILER : TM_CLASS_DEVICE_OTHER;
}

/* On a device the category tells all but collectives.  Waits are drawn on streams, but are the host's. */
static enum tm_class classify_given_on_device(const struct tm_class_question *q)
{
    if (q->given == TM_CLASS_KERNEL && q->traits & (TM_TRAIT_COLLECTIVE_NAME | TM_TRAIT_COLLECTIVE_TOKEN))
        return TM_CLASS_COLLECTIVE;
    if (q->given == TM_CLASS_RUNTIME && q->traits & TM_TRAIT_SYNC)
        return TM_CLASS_SYNC;
    return (enum tm_class)q->given;
}

static enum tm_class classify_device(const struct tm_class_question *q)
{
    if (q->given)
        return classify_given_on_device(q);
    switch (q->line) {
    case TM_LINE_DERIVED:
    case TM_LINE_TPU_STEPS:
        return TM_CLASS_DERIVED;
    case TM_LINE_TPU_OPS:
        return q->tpu_collective ? TM_CLASS_COLLECTIVE : TM_CLASS_TPU_OP;
    case TM_LINE_TPU_ASYNC:
        return TM_CLASS_TPU_ASYNC;
    case TM_LINE_TPU_MODULES:
        return TM_CLASS_MODULE;
    default:
        return classify_gpu(q);
    }
}

static bool is_launch(const struct tm_class_question *q)
{
    return (q->traits & TM_TRAIT_LAUNCH) ||
           ((q->flags & TM_FLAG_CORRELATION) && (q->device_has_correlation || (q->flags & ANY_DETAILS)));
}

static bool is_cpu_op(const struct tm_class_question *q)
{
    return (q->flags & (TM_FLAG_HLO_OP | TM_FLAG_CORRELATION)) == TM_FLAG_HLO_OP && !(q->traits & TM_TRAIT_END_MARKER);
}

/* What no row of the table knows by name. */
static enum tm_class classify_unknown(const struct tm_class_question *q)
{
    if (q->line_is_user)
        return q->kind == TM_INSTANT ? TM_CLASS_INSTANT : TM_CLASS_ANNOTATION;
    return q->traits & TM_TRAIT_FRAMEWORK_OP ? TM_CLASS_FRAMEWORK_OP : TM_CLASS_RUNTIME;
}

/* What is a counter, a flow and the like is so whatever its name. */
static bool is_shape(enum tm_class given)
{
    return given == TM_CLASS_COUNTER || given == TM_CLASS_FLOW || given == TM_CLASS_ASYNC;
}

static enum tm_class classify_given_on_host(const struct tm_class_question *q)
{
    const enum tm_class given = (enum tm_class)q->given;
    const bool is_call = given == TM_CLASS_RUNTIME;

    if (is_shape(given) || given == TM_CLASS_DERIVED || given == TM_CLASS_ALLOC || given == TM_CLASS_FREE)
        return given;
    if ((q->flags & TM_FLAG_STEP) || (q->traits & TM_TRAIT_STEP_NAME))
        return TM_CLASS_STEP_MARKER;
    if (q->traits & TM_TRAIT_SYNC && (is_call || given == TM_CLASS_PYTHON))
        return TM_CLASS_SYNC;
    if (is_call && is_launch(q))
        return TM_CLASS_LAUNCH;
    if (q->traits & TM_TRAIT_GC)
        return TM_CLASS_GC;
    if (q->traits & TM_TRAIT_INPUT && given != TM_CLASS_PROFILER)
        return TM_CLASS_INPUT;
    return given;
}

static enum tm_class classify_host(const struct tm_class_question *q)
{
    const uint32_t traits = q->traits;
    const uint32_t compile = TM_TRAIT_COMPILE_WHOLE | TM_TRAIT_COMPILE_CLIENT | TM_TRAIT_COMPILE_XLA;
    const uint32_t execute = TM_TRAIT_EXECUTE_THUNKS | TM_TRAIT_EXECUTE;
    const uint32_t runtime =
        TM_TRAIT_RUNTIME | TM_TRAIT_PJIT | TM_TRAIT_DRIVER_CALL | TM_TRAIT_COLLECTIVE_TOKEN | TM_TRAIT_TPU_TRANSFER;

    if (q->line == TM_LINE_DERIVED)
        return TM_CLASS_DERIVED;
    if (q->given)
        return classify_given_on_host(q);
    if ((q->flags & TM_FLAG_STEP) || (traits & TM_TRAIT_STEP_NAME))
        return TM_CLASS_STEP_MARKER;
    if (traits & (TM_TRAIT_ALLOC | TM_TRAIT_FREE))
        return traits & TM_TRAIT_ALLOC ? TM_CLASS_ALLOC : TM_CLASS_FREE;
    if (traits & TM_TRAIT_SYNC)
        return TM_CLASS_SYNC;
    if (is_launch(q))
        return TM_CLASS_LAUNCH;
    if (is_cpu_op(q))
        return (q->hlo_traits & TM_TRAIT_COLLECTIVE_TOKEN) && !q->host_has_device ? TM_CLASS_COLLECTIVE
                                                                                  : TM_CLASS_CPU_OP;
    if (traits & compile)
        return TM_CLASS_COMPILE;
    if (traits & TM_TRAIT_GC)
        return TM_CLASS_GC;
    if (traits & TM_TRAIT_PROFILER)
        return TM_CLASS_PROFILER;
    if ((traits & TM_TRAIT_INPUT) && q->line != TM_LINE_COMPILER)
        return TM_CLASS_INPUT;
    if (traits & TM_TRAIT_PYTHON)
        return TM_CLASS_PYTHON;
    if (traits & execute)
        return TM_CLASS_MODULE;
    if ((traits & runtime) || q->line == TM_LINE_COMPILER || q->inside_runtime)
        return TM_CLASS_RUNTIME;
    return classify_unknown(q);
}

enum tm_class tm_classify(const struct tm_class_question *question)
{
    if (question->side == TM_SIDE_DEVICE)
        return classify_device(question);
    if (question->side == TM_SIDE_HOST)
        return classify_host(question);
    return question->given ? (enum tm_class)question->given : TM_CLASS_OTHER;
}

enum tm_level tm_level_of(enum tm_class class, enum tm_direction direction, const struct tm_config *config)
{
    static const enum tm_level of_direction[TM_DIRECTION_COUNT] = {
        [TM_H2D] = TM_LEVEL_H2D,
        [TM_D2H] = TM_LEVEL_D2H,
        [TM_P2P] = TM_LEVEL_P2P,
        [TM_D2D] = TM_LEVEL_D2D,
        [TM_OTHER_DIRECTION] = TM_LEVEL_OTHER_COPY,
    };

    switch (class) {
    case TM_CLASS_KERNEL:
    case TM_CLASS_MEMSET:
    case TM_CLASS_GRAPH:
    case TM_CLASS_CPU_OP:
        return TM_LEVEL_COMPUTE;
    case TM_CLASS_COLLECTIVE:
        return TM_LEVEL_COLLECTIVE;
    case TM_CLASS_COPY:
        return direction < TM_DIRECTION_COUNT ? of_direction[direction] : TM_LEVEL_OTHER_COPY;
    case TM_CLASS_TPU_OP:
        return config ? (enum tm_level)config->level : TM_LEVEL_COMPUTE;
    default:
        return TM_LEVEL_NONE;
    }
}

/* source: kineto's ActivityType.h names today's categories; those with a capital are of files before 2022 */

#define ROW(name, class, side)                                                                                         \
    {                                                                                                                  \
        name, sizeof(name) - 1,                                                                                        \
        {                                                                                                              \
            TM_CLASS_##class, TM_SIDE_##side, TM_ACCELERATOR_NONE                                                      \
        }                                                                                                              \
    }
#define UNKNOWN_DEVICE(name, accelerator)                                                                              \
    {                                                                                                                  \
        name, sizeof(name) - 1,                                                                                        \
        {                                                                                                              \
            TM_CLASS_DEVICE_OTHER, TM_SIDE_DEVICE, TM_ACCELERATOR_##accelerator                                        \
        }                                                                                                              \
    }

/* The most frequent ones come first. */
static const struct row {
    const char *name;
    size_t length;
    struct tm_category category;
} rows[] = {
    ROW("cpu_op", FRAMEWORK_OP, HOST),
    ROW("kernel", KERNEL, DEVICE),
    ROW("cuda_runtime", RUNTIME, HOST),
    ROW("python_function", PYTHON, HOST),
    ROW("cpu_instant_event", INSTANT, HOST),
    ROW("gpu_memcpy", COPY, DEVICE),
    ROW("gpu_memset", MEMSET, DEVICE),
    ROW("user_annotation", ANNOTATION, HOST),
    ROW("cuda_driver", RUNTIME, HOST),
    ROW("gpu_user_annotation", DERIVED, DEVICE), /* host annotations again, where their kernels ran */
    ROW("cuda_sync", RUNTIME, HOST),             /* drawn on the stream that is waited for; a wait by its name */
    ROW("overhead", PROFILER, HOST),
    ROW("Operator", FRAMEWORK_OP, HOST),
    ROW("Kernel", KERNEL, DEVICE),
    ROW("Runtime", RUNTIME, HOST),
    ROW("Memcpy", COPY, DEVICE),
    ROW("Memset", MEMSET, DEVICE),
    ROW("Trace", OTHER, OTHER), /* the recording as a whole */
    ROW("external_correlation", OTHER, OTHER),
    ROW("cuda_event", DEVICE_OTHER, DEVICE),
    ROW("cuda_profiler_range", DERIVED, DEVICE),
    ROW("xpu_scope_profiler", DERIVED, DEVICE),
    ROW("xpu_runtime", RUNTIME, HOST),
    ROW("xpu_driver", RUNTIME, HOST),
    ROW("xpu_sync", RUNTIME, HOST),
    ROW("hpu_runtime", RUNTIME, HOST),
    ROW("mtia_runtime", RUNTIME, HOST),
    ROW("glow_runtime", RUNTIME, HOST),
    ROW("privateuse1_runtime", RUNTIME, HOST),
    ROW("privateuse1_driver", RUNTIME, HOST),
    UNKNOWN_DEVICE("mtia_ccp_events", MTIA),
    UNKNOWN_DEVICE("mtia_insight", MTIA),
    UNKNOWN_DEVICE("mtia_counters", MTIA),
    UNKNOWN_DEVICE("hpu_op", GAUDI),
    UNKNOWN_DEVICE("collective_comm", OTHER),
};

bool tm_category_of(const char *cat, size_t length, struct tm_category *out)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].length == length && !memcmp(rows[i].name, cat, length)) {
            *out = rows[i].category;
            return true;
        }
    }
    return false;
}
