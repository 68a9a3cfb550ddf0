/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/resolve/classes.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pipeline/record.h"
#include "pipeline/trace.h"

/* The class table: planes and lines, and the class of an event from the traits of its name, its flags, and its line.
 * The rows are in the order of METRICS section 1; the first match determines the class. */

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

struct tm_process_class tm_class_of_process(const char *name, size_t length, enum tm_accelerator accelerator)
{
    struct tm_process_class process = { .side = TM_SIDE_HOST,
                                        .is_plane = length && (name[0] == '/' || name[0] == '#') };
    enum tm_device_kind kind = TM_DEVICE_GPU;

    if (process.is_plane) {
        process.side = (uint8_t)tm_side_of_plane(name, length, &kind, &process.ordinal);
        accelerator = tm_accelerator_of_plane(name, length);
    }
    process.is_gpu = tm_is_gpu_process(name, length, &process.ordinal);
    if (process.is_gpu)
        process.side = TM_SIDE_DEVICE;
    if (accelerator)
        process.side = TM_SIDE_OTHER;
    process.device_kind = (uint8_t)kind;
    process.accelerator = (uint8_t)accelerator;
    return process;
}

void tm_classify_thread(const struct tm_process_class *process, bool has_planes, const char *name, size_t length,
                        struct tm_track *track)
{
    track->side = has_planes && !process->is_plane ? TM_SIDE_OTHER : process->side;
    track->accelerator = process->accelerator;
    track->line = (uint8_t)tm_line_of((enum tm_side)track->side, (enum tm_device_kind)process->device_kind, name,
                                      length, track->id);
    if (process->is_gpu && track->side == TM_SIDE_DEVICE)
        track->line = TM_LINE_STREAM;
}

enum { ANY_DETAILS = TM_FLAG_KERNEL_DETAILS | TM_FLAG_COPY_DETAILS | TM_FLAG_MEMSET_DETAILS };

/* A graph as a whole; its nodes, if they are recorded, are kernels and copies. */
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

/* On a device the category determines all but collectives.  Waits are drawn on streams, but are the host's. */
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

/* The class of an event that no row of the table matches by name. */
static enum tm_class classify_unknown(const struct tm_class_question *q)
{
    if (q->line_is_user)
        return q->kind == TM_INSTANT ? TM_CLASS_INSTANT : TM_CLASS_ANNOTATION;
    return q->traits & TM_TRAIT_FRAMEWORK_OP ? TM_CLASS_FRAMEWORK_OP : TM_CLASS_RUNTIME;
}

/* Counters, flows etc. are classified regardless of their names. */
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

/* source: kineto's ActivityType.h names today's categories; those with a capital letter are from files before 2022 */

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

/* The composite strings of device events: "key:value" tokens between blanks, in any order.
 * NVIDIA: "regs:R static_shared:B dynamic_shared:B grid:x,y,z block:x,y,z occ_pct:P", earlier "regs:R shm:B
 * grid:... block:..."; AMD: " grid:... block:... private_mem:B group_mem:B occ_pct:P".  Old files have fields of
 * a wrong union in them: a number past its field means that the figure was not recorded. */

static struct tm_text take_token(struct tm_text *rest)
{
    struct tm_text token;
    size_t begin = 0, end;

    while (begin < rest->length && (rest->at[begin] == ' ' || rest->at[begin] == '\n'))
        begin++;
    for (end = begin; end < rest->length && rest->at[end] != ' ' && rest->at[end] != '\n'; end++)
        ;
    token = (struct tm_text){ rest->at + begin, end - begin };
    *rest = tm_text_from(*rest, end);
    return token;
}

/* Splits at the first colon; false if there is none. */
static bool split(struct tm_text token, struct tm_text *key, struct tm_text *value)
{
    const char *colon = token.length ? memchr(token.at, ':', token.length) : NULL;

    if (!colon)
        return false;
    *key = (struct tm_text){ token.at, (size_t)(colon - token.at) };
    *value = tm_text_from(token, key->length + 1);
    return true;
}

/* Digits at the text's start; false without any or past `most`. */
static bool take_number(struct tm_text *text, uint64_t most, uint64_t *number)
{
    uint64_t value = 0;
    size_t n = 0;

    for (; n < text->length && text->at[n] >= '0' && text->at[n] <= '9'; n++) {
        const unsigned digit = (unsigned)(text->at[n] - '0');

        if (value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *text = tm_text_from(*text, n);
    *number = value;
    return n > 0;
}

static bool whole_number(struct tm_text text, uint64_t most, uint64_t *number)
{
    return take_number(&text, most, number) && !text.length;
}

/* "x,y,z"; all or nothing. */
static void read_shape(struct tm_text text, uint32_t shape[3])
{
    uint64_t size[3];

    for (int i = 0; i < 3; i++) {
        if (!take_number(&text, UINT32_MAX, &size[i]))
            return;
        if (i < 2 && (!text.length || *text.at != ','))
            return;
        text = tm_text_from(text, 1);
    }
    for (int i = 0; i < 3; i++)
        shape[i] = (uint32_t)size[i];
}

/* Files that were written again by another program hold a number per line. */
static struct tm_text without_blanks(struct tm_text text)
{
    while (text.length && (*text.at == ' ' || *text.at == '\n' || *text.at == '\t' || *text.at == '\r'))
        text = tm_text_from(text, 1);
    return text;
}

void tm_parse_shape(const char *text, size_t length, uint32_t shape[3])
{
    struct tm_text rest = without_blanks((struct tm_text){ text, length });
    uint64_t size[3];

    for (int i = 0; i < 3; i++) {
        if (!tm_text_begins(rest, i ? "," : "["))
            return;
        rest = without_blanks(tm_text_from(rest, 1));
        if (!take_number(&rest, UINT32_MAX, &size[i]))
            return;
        rest = without_blanks(rest);
    }
    if (!tm_text_begins(rest, "]"))
        return;
    for (int i = 0; i < 3; i++)
        shape[i] = (uint32_t)size[i];
}

/* "66.6667" percent in thousandths, to the nearest; 0 (not recorded) if it is not a percentage. */
static uint32_t read_percent(struct tm_text text)
{
    uint64_t parts, unit = 1000; /* ten-thousandths */

    if (!take_number(&text, 100, &parts))
        return 0;
    parts *= 10000;
    if (text.length > 1 && *text.at == '.') {
        text = tm_text_from(text, 1);
        for (; text.length && *text.at >= '0' && *text.at <= '9'; unit /= 10) {
            parts += unit * (unsigned)(*text.at - '0');
            text = tm_text_from(text, 1);
        }
    }
    return text.length || parts > 1000000 ? 0 : (uint32_t)((parts + 5) / 10);
}

void tm_parse_kernel_details(const char *text, size_t length, struct tm_config *config)
{
    struct tm_text rest = { text, length }, token, key, value;
    uint64_t number;

    config->has_kernel = 1;
    while ((token = take_token(&rest)).length) {
        if (!split(token, &key, &value))
            continue;
        if (tm_text_is(key, "grid"))
            read_shape(value, config->grid);
        else if (tm_text_is(key, "block"))
            read_shape(value, config->block);
        else if (tm_text_is(key, "occ_pct"))
            config->occupancy_milli = read_percent(value);
        else if (!whole_number(value, UINT32_MAX, &number))
            continue;
        else if (tm_text_is(key, "regs"))
            config->registers = (uint32_t)number;
        else if (tm_text_is(key, "static_shared") || tm_text_is(key, "dynamic_shared") || tm_text_is(key, "shm") ||
                 tm_text_is(key, "group_mem"))
            config->shared_bytes += number;
    }
}

enum memory { MEMORY_UNKNOWN, MEMORY_HOST, MEMORY_DEVICE };

/* "managed" memory may be on either side. */
static enum memory memory_of(struct tm_text kind)
{
    if (tm_text_is(kind, "pageable") || tm_text_is(kind, "pinned"))
        return MEMORY_HOST;
    if (tm_text_is(kind, "device") || tm_text_is(kind, "device_static") || tm_text_is(kind, "array"))
        return MEMORY_DEVICE;
    return MEMORY_UNKNOWN;
}

static enum tm_direction direction_of(enum memory from, enum memory to)
{
    if (from == MEMORY_HOST && to == MEMORY_DEVICE)
        return TM_H2D;
    if (from == MEMORY_DEVICE && to == MEMORY_HOST)
        return TM_D2H;
    return from == MEMORY_DEVICE && to == MEMORY_DEVICE ? TM_D2D : TM_OTHER_DIRECTION;
}

static void read_bytes(struct tm_text value, struct tm_config *config)
{
    uint64_t number;

    if (!whole_number(value, TM_COPY_BYTES_MOST, &number) || !number)
        return; /* ROCm writes 0 if it does not know */
    config->copy_bytes = number;
    config->has_copy_bytes = 1;
}

void tm_parse_copy_details(const char *text, size_t length, struct tm_config *config)
{
    struct tm_text rest = { text, length }, token, key, value;
    enum memory from = MEMORY_UNKNOWN, to = MEMORY_UNKNOWN;

    config->has_copy = 1;
    config->pageable = 0;
    while ((token = take_token(&rest)).length) {
        if (!split(token, &key, &value))
            continue;
        if (tm_text_is(key, "size"))
            read_bytes(value, config);
        else if (tm_text_is(key, "kind_src"))
            from = memory_of(value);
        else if (tm_text_is(key, "kind_dst"))
            to = memory_of(value);
        else
            continue;
        if (tm_text_is(value, "pageable"))
            config->pageable = 1;
    }
    config->direction = (uint8_t)direction_of(from, to);
}

/* As PyTorch's profiler names them. */
static enum memory named_memory(struct tm_text kind)
{
    if (tm_text_is(kind, "Pageable") || tm_text_is(kind, "Pinned") || tm_text_is(kind, "Host"))
        return MEMORY_HOST;
    return tm_text_is(kind, "Device") || tm_text_is(kind, "Array") ? MEMORY_DEVICE : MEMORY_UNKNOWN;
}

void tm_parse_copy_name(const char *text, size_t length, struct tm_config *config)
{
    const char *open = length ? memchr(text, '(', length) : NULL;
    struct tm_text from, to;
    const char *arrow;

    config->has_copy = 1;
    config->pageable = 0;
    config->direction = TM_OTHER_DIRECTION;
    if (!open)
        return;
    to = tm_text_from((struct tm_text){ text, length }, (size_t)(open - text) + 1);
    arrow = to.length ? memmem(to.at, to.length, " -> ", 4) : NULL;
    if (!arrow || to.at[to.length - 1] != ')')
        return;
    from = (struct tm_text){ to.at, (size_t)(arrow - to.at) };
    to = tm_text_from(to, from.length + 4);
    to.length--;
    config->pageable = tm_text_is(from, "Pageable") || tm_text_is(to, "Pageable");
    config->direction = (uint8_t)direction_of(named_memory(from), named_memory(to));
}

void tm_parse_memset_details(const char *text, size_t length, struct tm_config *config)
{
    struct tm_text rest = { text, length }, token, key, value;

    while ((token = take_token(&rest)).length) {
        if (split(token, &key, &value) && tm_text_is(key, "num_bytes"))
            read_bytes(value, config);
    }
}
