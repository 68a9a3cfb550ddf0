/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RECORD_H
#define TM_RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "pipeline/store/names.h"

enum { TM_NONE = 0xffffffff }; /* no track, device, step */

/* What an event is: the table of METRICS.md section 1, decided by stages/resolve/classes.c. */
enum tm_class {
    TM_CLASS_UNRESOLVED,
    /* device side */
    TM_CLASS_KERNEL,
    TM_CLASS_COLLECTIVE,
    TM_CLASS_COPY,
    TM_CLASS_MEMSET,
    TM_CLASS_GRAPH,
    TM_CLASS_TPU_OP,
    TM_CLASS_TPU_ASYNC,
    TM_CLASS_CPU_OP,
    TM_CLASS_DERIVED,      /* lines that repeat other lines */
    TM_CLASS_DEVICE_OTHER, /* overhead, unified memory, counters ... on a device plane */
    /* host side */
    TM_CLASS_STEP_MARKER,
    TM_CLASS_ALLOC,
    TM_CLASS_FREE,
    TM_CLASS_SYNC,
    TM_CLASS_LAUNCH,
    TM_CLASS_COMPILE,
    TM_CLASS_INPUT,
    TM_CLASS_GC,
    TM_CLASS_PROFILER,
    TM_CLASS_PYTHON,
    TM_CLASS_RUNTIME,
    TM_CLASS_ANNOTATION,
    TM_CLASS_FRAMEWORK_OP,
    TM_CLASS_MODULE,
    TM_CLASS_COUNTER,
    TM_CLASS_INSTANT,
    TM_CLASS_FLOW,  /* an arrow between two events */
    TM_CLASS_ASYNC, /* a span on no thread */
    TM_CLASS_OTHER,
    TM_CLASS_COUNT
};
extern const char *const tm_class_name[TM_CLASS_COUNT];

enum tm_kind {
    TM_SPAN,
    TM_INSTANT,
    TM_COUNTER,
    TM_FLOW_BEGIN,
    TM_FLOW_STEP,
    TM_FLOW_END,
    TM_BEGIN,
    TM_END, /* half a span: only inside an input, which makes spans of them */
};

/* How a device activity ranks in the sweep of METRICS.md section 3: at every instant the lowest number that
 * runs takes the time.  A container (while, call, conditional on a TPU) takes what its children leave. */
enum tm_level {
    TM_LEVEL_COMPUTE,
    TM_LEVEL_COLLECTIVE,
    TM_LEVEL_H2D,
    TM_LEVEL_D2H,
    TM_LEVEL_P2P,
    TM_LEVEL_D2D,
    TM_LEVEL_OTHER_COPY,
    TM_LEVEL_CONTAINER, /* counts as compute */
    TM_LEVEL_COUNT,
    TM_LEVEL_NONE = TM_LEVEL_COUNT /* not an activity (host waits, overhead) */
};

enum tm_direction { TM_H2D, TM_D2H, TM_P2P, TM_D2D, TM_OTHER_DIRECTION, TM_DIRECTION_COUNT };
extern const char *const tm_direction_name[TM_DIRECTION_COUNT]; /* "h2d", ... */

/* What a TPU op is beyond its class. */
enum tm_tpu_part { TM_TPU_PLAIN, TM_TPU_START, TM_TPU_WAIT, TM_TPU_HOST_WAIT };

enum tm_record_flag {
    TM_FLAG_KERNEL_DETAILS = 1 << 0,
    TM_FLAG_COPY_DETAILS = 1 << 1,
    TM_FLAG_MEMSET_DETAILS = 1 << 2,
    TM_FLAG_HLO_OP = 1 << 3,
    TM_FLAG_CORRELATION = 1 << 4,
    TM_FLAG_STEP = 1 << 5,       /* stat _r or argument step_num */
    TM_FLAG_GRAPH_EXEC = 1 << 6, /* cuda_graph_exec_id */
    TM_FLAG_GRAPH_NODE = 1 << 7, /* cuda_graph_node_id */
    TM_FLAG_RUN_ID = 1 << 8,
    TM_FLAG_OPEN = 1 << 9,      /* started, never ended; a flow's step or end: nothing started it before */
    TM_FLAG_GROUP = 1 << 10,    /* args hold its group_id: the file was grouped by a viewer */
    TM_FLAG_PLACED = 1 << 11,   /* a flow: its PLACE is known to be right; only inside an input */
    TM_FLAG_INSTANT = 1 << 12,  /* the input calls it an instant; other spans may have no length, too */
    TM_FLAG_TEMPLATE = 1 << 14, /* `common` is a template of arguments instead (argument_templates.h) */
    TM_FLAG_CHAINED = 1 << 15,  /* a flow: the first one in time with its key starts it; only inside an input */
    TM_FLAG_TIMED = 1 << 13,    /* only inside a record store: times of the device replace the correlation */
};

/* One event, the same for every input.  A resolver fills what the input does not say. */
struct tm_record {
    int64_t start_ps;     /* after the host's origin; may be negative */
    int64_t dur_ps;       /* >= 0; zero unless kind is TM_SPAN, or TM_COUNTER of an XSpace */
    uint64_t correlation; /* joins host launch and device work; 0 = none.  TPU modules and their launches: a
                             mix of run_id and device ordinal (tm_run_key) */
    tm_strid name;        /* handle into the host's names */
    uint32_t track;       /* row in the host's track table */
    uint32_t config;      /* row of launch facts (struct tm_config); 0 = none */
    uint32_t common;      /* row of tm_trace.common: arguments of all events of its metadata; 0 = none, or not kept.
                             With TM_FLAG_TEMPLATE a template of arguments, these included */
    uint32_t args_length; /* bytes; 0 = no args */
    uint8_t class;        /* enum tm_class; from an input: the class of its category, else TM_CLASS_UNRESOLVED */
    uint8_t kind;         /* enum tm_kind: a span, an instant, a counter or a flow */
    uint16_t flags;       /* enum tm_record_flag */
};
static_assert(sizeof(struct tm_record) == 48, "batches and spill files rely on 48 bytes");

static inline bool tm_is_flow_kind(uint8_t kind)
{
    return kind >= TM_FLOW_BEGIN && kind <= TM_FLOW_END;
}

static inline bool tm_is_flow(const struct tm_record *record)
{
    return tm_is_flow_kind(record->kind);
}

/* Whether times after the origin can be kept: from 5 days before it to 100 days after, so that every distance of
 * two of them fits in 64 bits. */
#define TM_PS_PER_DAY ((int64_t)86400 * 1000000000000)
static inline bool tm_time_fits(int64_t start_ps, int64_t dur_ps)
{
    int64_t end_ps;

    return start_ps >= -5 * TM_PS_PER_DAY && !__builtin_add_overflow(start_ps, dur_ps, &end_ps) &&
           end_ps <= 100 * TM_PS_PER_DAY;
}

/* The same if neither is negative, in two comparisons. */
static inline bool tm_time_fits_forward(int64_t start_ps, int64_t dur_ps)
{
    const uint64_t most_ps = (uint64_t)(100 * TM_PS_PER_DAY);

    return (uint64_t)start_ps <= most_ps && (uint64_t)dur_ps <= most_ps - (uint64_t)start_ps;
}

/* The key that joins a TPU program's execution with the host call that enqueued it; never equal to a correlation
 * id, which drivers count up from 1. */
static inline uint64_t tm_run_key(int64_t run_id, int64_t ordinal)
{
    const uint64_t mixed = ((uint64_t)run_id ^ (uint64_t)ordinal * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;

    return (mixed ^ mixed >> 29) | (uint64_t)1 << 63;
}

/* Launch facts that many events share, interned: what kernel_details, memcpy_details, hlo_op etc. contain.
 * 0 or TM_NONE = not recorded. */
struct tm_config {
    uint64_t hash;           /* of everything below */
    tm_strid hlo_op, module; /* first: of each kernel, in a cache line that is read anyway */
    tm_strid op;             /* stat `name` (framework path), else tf_op */
    tm_strid details;
    uint32_t grid[3], block[3];
    uint32_t registers;
    uint32_t occupancy_milli; /* thousandths of a percent; 0 = unknown */
    uint64_t shared_bytes;    /* static and dynamic; AMD group_mem */
    uint64_t copy_bytes;      /* size: of memcpy_details, num_bytes: of memset */
    int64_t program_id;
    uint64_t flops, bytes_accessed; /* TPU: of the event's metadata */
    tm_strid category;              /* hlo_category */
    tm_strid source;                /* "file.py:12" */
    uint32_t hlo;        /* row of tm_trace.hlo_ops: what the program's HLO records about hlo_op; 0 = not known */
    uint32_t message;    /* row of tm_trace.messages; 0 = none */
    uint32_t hlo_traits; /* traits of hlo_op */
    uint32_t graph_exec; /* cuda_graph_exec_id; 0 = none */
    uint32_t ordinal;    /* device_ordinal of a host event; TM_NONE = not said */
    uint8_t direction;   /* enum tm_direction, where has_copy */
    uint8_t has_copy, has_copy_bytes, pageable;
    uint8_t has_kernel, has_flops, has_bytes_accessed;
    uint8_t has_achieved; /* occupancy_milli is PyTorch's estimate, in whole percents; 0 is a valid value */
    uint8_t tpu_part;     /* enum tm_tpu_part */
    uint8_t level;        /* enum tm_level of a TPU op; TM_LEVEL_NONE elsewhere */
};

/* What a collective's kernel says of the message that it moved (PyTorch: the arguments of its NCCL kernels).
 * 0 = not recorded. */
struct tm_message {
    uint64_t elements_in, elements_out;
    uint32_t element_bytes; /* of the data type; 0 = of an unknown one */
    uint32_t group_size;
    tm_strid operation;   /* "allreduce", "_allgather_base" */
    tm_strid data_type;   /* "BFloat16" */
    tm_strid group;       /* the communicator's name */
    tm_strid group_ranks; /* "[0, 1, 2, 3]", perhaps shortened by the writer */
};

/* The type in which an op computes. */
enum tm_precision {
    TM_PRECISION_UNKNOWN,
    TM_F64,
    TM_F32,
    TM_TF32,
    TM_BF16,
    TM_F16,
    TM_F8,
    TM_INT8,
    TM_INT4,
    TM_OTHER_PRECISION, /* integers, booleans, complex numbers */
    TM_PRECISION_COUNT
};
extern const char *const tm_precision_name[TM_PRECISION_COUNT]; /* "bf16", ...; "unknown", "other" */

/* The HLO properties of an instruction of a program. 0 = unknown. source: XPROF.md 3.6 */
struct tm_hlo_op {
    tm_strid name, opcode;
    tm_strid module; /* the program's name, "jit_step" */
    tm_strid path;   /* op_name: the framework path, "jit(step)/layer_0/dot_general" */
    tm_strid source; /* "file.py:12" */
    tm_strid target; /* of a custom call */
    tm_strid groups; /* of a collective: "{{0,1},{2,3}}" */
    int64_t program_id;
    uint64_t flops; /* of one execution, where has_flops */
    uint64_t bytes; /* read and written in device memory, where has_bytes */
    /* For a collective, and for its start and its wait, as tm_message counts: the most that a rank sends or
     * receives. */
    uint64_t message_bytes;
    uint32_t group_size; /* ranks that take part */
    uint8_t precision;   /* enum tm_precision: of the operands of its matmuls, else of its result */
    uint8_t has_flops, has_bytes;
    uint8_t has_matrix;  /* it is, or its fusion holds, a dot or a convolution (also as a custom call) */
    uint8_t has_softmax; /* its fusion contains an exponential and a division or a reduction, or it is part of one */
    uint8_t is_batched;  /* a dot with batch dimensions */
    uint8_t is_host;     /* runs on the host or calls back to it: a callback's custom call, a host transfer */
    uint8_t is_fusion;
    uint8_t origin;    /* of a collective: enum tm_hlo_origin */
    uint32_t copies;   /* devices of the program that compute the same; 0 = not known, or it computes nothing */
    uint32_t devices;  /* that the program runs on; 0 = not recorded */
    tm_strid sharding; /* "{devices=[2,1]<=[2]}"; 0 = none is recorded */
};

/* Why a program has a collective. */
enum tm_hlo_origin {
    TM_HLO_NO_COLLECTIVE,
    TM_HLO_REQUESTED, /* the source has it: lax.psum, all_gather, ppermute */
    TM_HLO_SUMS,      /* adds up what an op computed in parts: all-reduce, reduce-scatter */
    TM_HLO_RESHARDS,  /* brings a value from one sharding to another */
    TM_HLO_ORIGINS
};

/* A program whose HLO is in the file. */
struct tm_hlo_module {
    tm_strid name;   /* "jit_step" */
    tm_strid shapes; /* of the parameters of its entry: "f32[8,128], s32[]" */
    tm_strid why;    /* why its ops have no costs, in words; 0 = they have */
    int64_t program_id;
    uint64_t instructions;
    uint64_t begin, end; /* of its HloProto in the input */
    uint64_t devices;    /* that it runs on; 0 = not recorded */
    /* Of several devices: the parameters; those of which every device has a whole copy, and their bytes; bytes on each
     * device of the others. */
    uint64_t parameters, repeated_parameters, repeated_bytes, split_bytes;
};

/* A compiled program by the executions of it. */
struct tm_program_name {
    uint64_t program_id; /* first: the key of an index */
    tm_strid name;       /* "jit_step" */
};

/* args of TM_CLASS_ALLOC and TM_CLASS_FREE. */
struct tm_allocation {
    tm_strid allocator, op, shape, data_type, region;
    uint32_t has; /* bits of enum tm_allocation_has */
    int64_t bytes_reserved, bytes_allocated, bytes_available, peak_bytes_in_use;
    int64_t requested_bytes, allocation_bytes;
    int64_t index_on_host; /* TPU: which device of the host, where no allocator is named */
    uint64_t address;
    double fragmentation;
};
enum tm_allocation_has {
    TM_HAS_RESERVED = 1,
    TM_HAS_ALLOCATED = 2,
    TM_HAS_AVAILABLE = 4,
    TM_HAS_PEAK = 8,
    TM_HAS_REQUESTED = 16,
    TM_HAS_ALLOCATION = 32,
    TM_HAS_ADDRESS = 64,
    TM_HAS_FRAGMENTATION = 128,
    TM_HAS_INDEX_ON_HOST = 256,
};

/* args of everything else that has some: one number (step_num of a marker, size of a TPU transfer, sequence number of a
 * collective in its process group). */
struct tm_number {
    int64_t value;
};

#endif
