/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CLASSES_H
#define TM_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pipeline/record.h"
#include "pipeline/trace.h"

/* A view of a string that is not NUL-terminated; borrowed. */
struct tm_text {
    const char *at;
    size_t length;
};

static inline struct tm_text tm_text_from(struct tm_text text, size_t offset)
{
    const size_t skipped = offset < text.length ? offset : text.length;

    /* nothing may be added to the NULL of an empty view */
    return (struct tm_text){ skipped ? text.at + skipped : text.at, text.length - skipped };
}

static inline bool tm_text_is(struct tm_text text, const char *want)
{
    return text.length == strlen(want) && !memcmp(text.at, want, text.length);
}

static inline bool tm_text_begins(struct tm_text text, const char *want)
{
    return text.length >= strlen(want) && !memcmp(text.at, want, strlen(want));
}

static inline bool tm_text_ends(struct tm_text text, const char *want)
{
    const size_t n = strlen(want);

    return text.length >= n && !memcmp(text.at + text.length - n, want, n);
}

/* Is it the name of an HLO collective: all-reduce, all-gather-start.1, while.2::recv-done? */
bool tm_is_collective_op(const char *text, size_t length);

/* An instruction as XLA prints it, which is the name of an op on a TPU:
 *     %name = SHAPE opcode(operands), attribute=value, ...
 * SHAPE is one word (f32[8,128]{1,0:T(8,128)S(5)}) or a tuple of shapes in parentheses, both with brackets of all
 * sorts inside.  source: the HLO text syntax of XLA */
struct tm_hlo_line {
    struct tm_text name;     /* without '%' */
    struct tm_text shape;    /* of the result */
    struct tm_text opcode;   /* empty = not found */
    struct tm_text operands; /* from its parenthesis to the end of the line */
};

/* Split a line, which may be truncated anywhere.  The parts are views of it. */
struct tm_hlo_line tm_hlo_line_read(struct tm_text text);

/* The ranks of each group in `replica_groups={{0,1},{2,3}}` or `[2,4]<=[8]` (two groups of four); 0 = not recorded. */
uint32_t tm_hlo_line_group_size(const struct tm_hlo_line *line);

/* What a rank sends or receives at most in the collective of a line: the sizes of the arrays in its result, for a
 * reduce-scatter times `group_size`.  A -start has its operands in the result too: there the largest
 * array counts.
 * out:    bytes; 0 = the line does not record it, or it is past 2^63 */
uint64_t tm_hlo_line_message_bytes(const struct tm_hlo_line *line, uint32_t group_size);

/* The table of METRICS.md section 1, in two steps so that a string is examined once: traits of a name, computed
 * when it is put into the names; then the class from traits, line and flags, per event, without any text. */

enum tm_trait {
    TM_TRAIT_PYTHON = 1 << 0,           /* starts with '$' */
    TM_TRAIT_PJIT = 1 << 1,             /* PjitFunction(...) */
    TM_TRAIT_COLLECTIVE_NAME = 1 << 2,  /* nccl, rccl, all_?reduce ... anywhere, any case: for kernel names */
    TM_TRAIT_COLLECTIVE_TOKEN = 1 << 3, /* is an HLO collective: all-reduce, all-gather-start.1 ... */
    TM_TRAIT_COPY_NAME = 1 << 4,        /* ^Memcpy, MEMCPY, CopyHostTo..., __amd_rocclr_copyBuffer */
    TM_TRAIT_MEMSET_NAME = 1 << 5,
    TM_TRAIT_GRAPH_NAME = 1 << 6, /* CudaGraphExec */
    TM_TRAIT_SYNC = 1 << 7,
    TM_TRAIT_LAUNCH = 1 << 8,          /* *Launch*Kernel*, *GraphLaunch, Memcpy*Async, Memset*Async, DoEnqueueProgram */
    TM_TRAIT_DRIVER_CALL = 1 << 9,     /* ^(cu|cuda|hip)[A-Z] */
    TM_TRAIT_COMPILE_WHOLE = 1 << 10,  /* backend_compile(_and_load)?, the whole name */
    TM_TRAIT_COMPILE_CLIENT = 1 << 11, /* *Client::Compile(AndLoad)? */
    TM_TRAIT_COMPILE_XLA = 1 << 12,    /* XlaCompile* */
    TM_TRAIT_INPUT = 1 << 13,
    TM_TRAIT_GC = 1 << 14,             /* CollectGarbage, python gc */
    TM_TRAIT_PROFILER = 1 << 15,       /* CUPTI overhead, buffer flush */
    TM_TRAIT_RUNTIME = 1 << 16,        /* the table of XLA, PJRT, JAX and TF internals */
    TM_TRAIT_ALLOC = 1 << 17,          /* MemoryAllocation */
    TM_TRAIT_FREE = 1 << 18,           /* MemoryDeallocation */
    TM_TRAIT_STEP_NAME = 1 << 19,      /* ProfilerStep#N */
    TM_TRAIT_EXECUTE_THUNKS = 1 << 20, /* GpuExecutable::ExecuteThunks: an execution on a GPU */
    TM_TRAIT_EXECUTE = 1 << 21,        /* other module executions: ExecuteHelper, TfrtCpuExecutable ... */
    TM_TRAIT_KERNEL_LAUNCH = 1 << 22,  /* a driver call that launches kernels: *Launch*Kernel*, *GraphLaunch */
    TM_TRAIT_TPU_TRANSFER = 1 << 23,   /* tpu::System::TransferToDevice, TransferFromDevice, exactly; has a direction */
    TM_TRAIT_WAIT = 1 << 24,           /* blocked for a reason that the name does not show: a lock, a queue, a sleep */
    TM_TRAIT_END_MARKER = 1 << 25,     /* "end: op" */
    TM_TRAIT_BOOKKEEPING = 1 << 26,    /* on a GPU stream, but no work: UM_*, Memory <kind>, HostRegister ... */
    TM_TRAIT_FRAMEWORK_OP = 1 << 27,   /* TensorFlow's "scope/name:Type" */
    TM_TRAIT_BACKWARD = 1 << 28, /* of a backward pass or an optimizer: JAX's transpose(jvp(..)), PyTorch's autograd */
    TM_TRAIT_DIRECTION_SHIFT = 29, /* bits 29 to 31: enum tm_direction + 1 in the name, 0 = none */
};

/* Traits of any name.  in: any bytes, length bytes.  Never fails. */
uint32_t tm_traits_of(const char *text, size_t length);

/* DoEnqueueProgram: the only launch that is not a driver call. */
static inline bool tm_is_enqueue(uint32_t traits)
{
    return (traits & (TM_TRAIT_LAUNCH | TM_TRAIT_DRIVER_CALL)) == TM_TRAIT_LAUNCH;
}

/* The direction in a name (MemcpyH2D, CopyDeviceToHost, hipMemcpyDtoHAsync), else
 * TM_OTHER_DIRECTION. */
static inline enum tm_direction tm_direction_of(uint32_t traits)
{
    const uint32_t told = traits >> TM_TRAIT_DIRECTION_SHIFT;

    return told ? (enum tm_direction)(told - 1) : TM_OTHER_DIRECTION;
}

/* The kind of plane, and the kind of line.
 * out: side and, for device planes, kind and ordinal (unchanged elsewhere); TM_SIDE_OTHER for planes that
 *      are neither (metadata, Task Environment, Megascale, MOSAIC, #Chip, SparseCore) */
enum tm_side tm_side_of_plane(const char *name, size_t length, enum tm_device_kind *kind, int64_t *ordinal);
/* The vendor of a device plane that is not analyzed, such as /device:MTIA:0. */
enum tm_accelerator tm_accelerator_of_plane(const char *name, size_t length);

/* The same of a process of a Chrome trace, by its name and its labels, which may be empty.
 * in: beside_ascend  another process of the file is Ascend's hardware */
enum tm_accelerator tm_accelerator_of_process(const char *name, size_t length, const char *labels, size_t labels_length,
                                              bool beside_ascend);
/* "GPU2": the queues of a GPU, as rocmProfileData and rocprof name such processes.  out: *ordinal  where true */
bool tm_is_gpu_process(const char *name, size_t length, int64_t *ordinal);
enum tm_line tm_line_of(enum tm_side side, enum tm_device_kind kind, const char *name, size_t length, int64_t id);

/* What a process of a Chrome or Perfetto trace is, by its name. */
struct tm_process_class {
    int64_t ordinal;     /* of a device */
    uint8_t side;        /* enum tm_side */
    uint8_t device_kind; /* enum tm_device_kind */
    uint8_t accelerator; /* enum tm_accelerator */
    bool is_plane;       /* named like a plane of an XSpace */
    bool is_gpu;         /* its threads are the queues of a GPU */
};

/* in: accelerator  as in tm_accelerator_of_process; ignored for a plane, whose name determines it */
struct tm_process_class tm_class_of_process(const char *name, size_t length, enum tm_accelerator accelerator);
/* Side, accelerator and line of a thread, by its name.
 * in: has_planes  some process is a plane of a host or a device: then only threads of planes are used
 *     track       with its id */
void tm_classify_thread(const struct tm_process_class *process, bool has_planes, const char *name, size_t length,
                        struct tm_track *track);

/* What the class of an event depends on. */
struct tm_class_question {
    uint32_t traits;             /* of the event's name */
    uint32_t hlo_traits;         /* of its hlo_op, 0 = none: only COLLECTIVE_TOKEN counts */
    uint16_t flags;              /* enum tm_record_flag */
    uint8_t line;                /* enum tm_line */
    uint8_t side;                /* enum tm_side */
    uint8_t kind;                /* enum tm_kind */
    uint8_t given;               /* enum tm_class that the event's own category says, TM_CLASS_UNRESOLVED = none */
    uint8_t tpu_collective;      /* TPU op: its level is TM_LEVEL_COLLECTIVE */
    bool device_has_correlation; /* some device activity has its correlation id */
    bool line_is_user;           /* the line also holds python or step markers */
    bool host_has_device;        /* the host has GPU or TPU activity: cpu_op events are fallbacks, not activities */
    bool inside_runtime;         /* it is inside an ExecuteThunks or a compile of its thread, or is named like an
                                hlo_op of the file: no annotation of the user's */
};

/* The class of an event; no text is examined.  Beyond METRICS section 1:
 * - A host name that no row knows is an annotation (an instant, without a length) on a line of the user's; on
 *   other lines a framework_op if TensorFlow names ops so, else runtime: work of thread pools.
 * - A cpu_op of a collective is a collective, but on a host with a GPU or TPU it stays a cpu_op: a fallback.
 * - Steps of a TPU are derived: use the line to get them.  Host executions (module) are in each other.
 * - Driver calls and notes on a GPU stream (cuStreamSynchronize, UM_*) are device_other, not kernels.
 * - A copy to or from the host is a copy even with the hlo_op of a collective.
 * - Where a category is given, it decides, except for what only a name shows: a collective among kernels; on the host
 *   markers, waits, launches, input and garbage collection. */
enum tm_class tm_classify(const struct tm_class_question *question);

/* The rank of an activity in the sweep; TM_LEVEL_NONE for classes that are none. */
enum tm_level tm_level_of(enum tm_class class, enum tm_direction direction, const struct tm_config *config);

/* A recorded size above this (256 TiB) of a copy is ignored. */
#define TM_COPY_BYTES_MOST (UINT64_C(1) << 48)

/* Read kernel_details, memcpy_details, Memset_details ("key:value" tokens) into a zeroed config.  Unknown keys are
 * ignored; numbers that exceed their field count as not recorded, and so do copies of 0 bytes.  The direction of a copy
 * follows from the memory kinds: to be used if the name does not give one. */
void tm_parse_kernel_details(const char *text, size_t length, struct tm_config *config);
void tm_parse_copy_details(const char *text, size_t length, struct tm_config *config);
void tm_parse_memset_details(const char *text, size_t length, struct tm_config *config);

/* The same of a copy by its name in PyTorch, "Memcpy HtoD (Pageable -> Device)". */
void tm_parse_copy_name(const char *text, size_t length, struct tm_config *config);

/* "[x, y, z]": all or nothing. */
void tm_parse_shape(const char *text, size_t length, uint32_t shape[3]);

/* The program that a name like "jit_step(12)" gives: the number at its end, which may take 64 bits, and the name before
 * it.
 * in:     *length  of the text
 * out:    *length, *id  of the name before the number; the number.  false, and both as they were: it ends in none */
bool tm_program_in_name(const char *text, size_t *length, int64_t *id);

/* What a TPU op is, from its HLO text ("%name = shape opcode(...)"), which may be cut, or its hlo_category: part
 * and level.  Copies are d2d, but h2d or d2h where a shape is in the host's memory (space 5). */
void tm_parse_tpu_op(const char *hlo_text, size_t length, const char *category, size_t category_length,
                     struct tm_config *config);

/* The opcode in an HLO text: a view into it, of no length if there is none. */
void tm_hlo_opcode(const char *hlo_text, size_t length, const char **opcode, size_t *opcode_length);

/* The meaning of an event's category in PyTorch's profiles, where it decides instead of the name. */
struct tm_category {
    enum tm_class class;             /* stored in the record: see tm_class_question.given */
    enum tm_side side;               /* where such events are, whatever their process is called */
    enum tm_accelerator accelerator; /* whose events cannot be distinguished here; NONE of others */
};

/* in:     cat of the event, as in the file
 * out:    *out  changed only where true is returned; false: no category of PyTorch's that determines anything (flows
 *               among them) */
bool tm_category_of(const char *cat, size_t length, struct tm_category *out);

/* The names that the class table knows, as data: a name is examined by these rows only. */

struct tm_known_name {
    const char *text;
    uint8_t length;
    uint8_t how;     /* enum tm_known_how */
    uint32_t traits; /* enum tm_trait */
};

extern const struct tm_known_name tm_known_names[];
extern const size_t tm_known_name_count;

/* Words that indicate an input pipeline: a word is a maximal run of [A-Za-z0-9_-]; compared without case. */
extern const char *const tm_input_words[];
extern const size_t tm_input_word_count;

/* Parts of kernel names that indicate a collective: anywhere in the name, without case; '_' is optional. */
extern const char *const tm_collective_parts[];
extern const size_t tm_collective_part_count;

#endif
