/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HLO_PRIVATE_H
#define TM_HLO_PRIVATE_H

#include "pipeline/error.h"
#include "pipeline/record.h"
#include "pipeline/run.h"
#include "pipeline/store/hash.h"
#include "pipeline/store/rows.h"
#include "pipeline/store/sorter.h"
#include "stages/input/hlo/hlo.h"
#include "stages/input/xspace/xspace_reader.h"
#include "stages/resolve/classes.h"

/* How the cost of an instruction is computed. */
enum tm_hlo_kind {
    TM_HLO_OTHER,       /* no formula: its flops are unknown */
    TM_HLO_MOVES,       /* computes nothing */
    TM_HLO_ELEMENTWISE, /* one operation for each element of its result */
    TM_HLO_DOT,
    TM_HLO_CONVOLUTION,
    TM_HLO_CALLS, /* costs what the computation costs that it calls: fusion, call, async-start */
    TM_HLO_CUSTOM,
    TM_HLO_COLLECTIVE,
};

enum tm_hlo_trait {
    TM_HLO_EXPONENTIAL = 1 << 0,
    TM_HLO_DIVIDES = 1 << 1,
    TM_HLO_REDUCES = 1 << 2,
    TM_HLO_HOST = 1 << 3,      /* between device and host */
    TM_HLO_CONTAINER = 1 << 4, /* its parts run as separate ops: while, conditional */
    TM_HLO_SILENT = 1 << 5,    /* never runs: a parameter, a tuple */
    TM_HLO_PARAMETER = 1 << 6,
    TM_HLO_DONE = 1 << 7, /* waits for what a -start started */
    TM_HLO_START = 1 << 8,
    TM_HLO_SLICES = 1 << 9,    /* reads as much of its first operand as its result has: dynamic-slice, gather */
    TM_HLO_UPDATES = 1 << 10,  /* writes its second operand into the first one's memory: dynamic-update-slice */
    TM_HLO_PERMUTES = 1 << 11, /* collective-permute: between pairs */
    TM_HLO_IS_FUSION = 1 << 12,
    TM_HLO_OWN = 1 << 13, /* of a computation: gives each device something else, whatever its operands */
};

struct tm_hlo_opcode {
    const char *name;
    uint8_t kind;    /* enum tm_hlo_kind */
    uint16_t traits; /* enum tm_hlo_trait */
};

/* An instruction on the wire; all views are borrowed from its bytes. */
struct tm_hlo_instruction {
    struct tm_wire all;
    struct tm_text name, opcode, target, path, source_file;
    struct tm_wire shape, convolution, dot, precision, devices, iota_groups, mesh_groups, config, sharding;
    const struct tm_hlo_opcode *known;
    int64_t id, channel, source_line, stack_frame, parameter;
    uint64_t called;    /* id of the first computation that it calls, where has_called */
    uint64_t *operands; /* ids; room is the caller's */
    uint32_t operand_count;
    uint32_t operand_room;
    bool has_called, is_host_transfer;
    bool is_cut; /* there are more operands than room */
    bool is_damaged;
};

/* Read an instruction out of its bytes; `operands` and `operand_room` are set. */
void tm_hlo_instruction_read(struct tm_wire bytes, struct tm_hlo_instruction *in);

/* The numbers of a repeated field, packed or not, one by one: false at the end.  Begin with a zeroed one. */
struct tm_hlo_numbers {
    struct tm_wire fields, packed;
    uint32_t number;
};

bool tm_hlo_next_number(struct tm_hlo_numbers *numbers, uint64_t *value);
struct tm_hlo_numbers tm_hlo_numbers_of(struct tm_wire message, uint32_t number);
uint64_t tm_hlo_number_in(struct tm_wire message, uint32_t number); /* a single one; 0 = there is none */

enum { TM_HLO_RANK_MOST = 16, TM_HLO_NESTING_MOST = 16 };

/* A shape: an array, or a tuple of shapes. */
struct tm_hlo_shape {
    uint64_t bytes;    /* of all its arrays, where has_bytes */
    uint64_t part[2];  /* of a tuple: bytes of its first two elements */
    uint64_t elements; /* of its first array, where has_elements; likewise the type and the dimensions */
    uint64_t dims[TM_HLO_RANK_MOST];
    uint32_t rank;   /* above TM_HLO_RANK_MOST: the dimensions are unknown */
    uint8_t element; /* xla.PrimitiveType; 0 = there is no array */
    uint8_t has_bytes, has_elements, is_tuple;
    uint8_t is_damaged; /* not all of it could be read */
};

/* The type that it computes in.  in: element  xla.PrimitiveType */
enum tm_precision tm_hlo_precision(uint8_t element);

/* A string that is written into memory of fixed size, and cut there. */
struct tm_hlo_text {
    char *at;
    size_t length, room;
    bool cut;
    bool has_layouts; /* of shapes: "f32[8,128]{1,0}" */
};

void tm_hlo_write(struct tm_hlo_text *text, const char *format, ...) TM_PRINTF(2, 3);
/* The numbers of a repeated field, separated by commas.  in: before  in front of the first.  out: how many */
uint64_t tm_hlo_write_numbers(struct tm_hlo_text *text, const char *before, struct tm_wire message, uint32_t number);

/* Read a ShapeProto.  Sizes that do not fit in 64 bits, negative dimensions, unknown types, and tuples nested deeper
 * than TM_HLO_NESTING_MOST make everything that depends on them unknown.
 * in:     text  receives the HLO spelling, "f32[8,128]", "(f32[], s32[2])"; NULL = not wanted */
void tm_hlo_shape_read(struct tm_wire bytes, struct tm_hlo_shape *shape, struct tm_hlo_text *text);

/* Shared by the hlo_*.c files.  All programs are walked twice: the first walk notes the shape of every instruction
 * and the computations, the second one computes costs; then sums are passed from computations to their callers. */

enum {
    HLO_BUFFER = 256 << 10,          /* an instruction that is larger is read without its large fields */
    HLO_OPERANDS_MOST = 16 << 10,    /* of one instruction */
    HLO_INSTRUCTIONS_MOST = 4 << 20, /* of a host's programs; those past it are not read.  The largest known programs
                                        have about a million */
    HLO_TEXT_MOST = 4096,            /* bytes of a name or path */
};

/* A program, beside its row of trace->hlo_modules, which has the same number. */
struct hlo_module {
    struct tm_hlo_program program;
    uint64_t first_computation, computations;
    uint64_t first_file, files, first_location, locations, first_frame, frames; /* of the stack frames */
    uint64_t replicas, partitions; /* of the device assignment; 0 = not recorded */
    uint64_t damaged_at;           /* position of the first damage, from the first walk */
    uint64_t first_instruction;    /* of all instructions of the host */
    int64_t entry_id;
    uint64_t entry; /* row of its computation, where has_entry */
    uint8_t is_skipped, is_damaged, is_cut, has_entry;
};

/* The totals of a computation: first of its own instructions, then including the computations it calls. */
struct hlo_sums {
    uint64_t flops;
    uint64_t message_bytes;
    uint32_t group_size;
    tm_strid groups, path, source;
    uint16_t traits;     /* enum tm_hlo_trait, of any instruction */
    uint8_t origin;      /* of the collective of message_bytes */
    uint8_t lacks_flops; /* of some instruction they are unknown */
    uint8_t has_matrix, precision, is_batched;
};

struct hlo_computation {
    struct hlo_sums sums;
    uint64_t first_call; /* row of `calls` once they are sorted by what is called */
    uint64_t calls;      /* how many call it */
    uint64_t pending;    /* calls in it whose sums are unknown yet */
    uint64_t begin, end; /* where it is in the input */
    int64_t root_id;
    uint64_t written; /* bytes of its result that are written, where has_written */
    uint8_t has_written;
    uint8_t is_fusion, is_host;
};

/* Where a computation is found: by module and id. */
struct hlo_place {
    uint64_t key;
    int64_t id;
    uint64_t row;
    uint32_t module;
};

/* The shape of an instruction: by module and id. */
struct hlo_result {
    uint64_t key;
    int64_t id;
    uint64_t shape_at; /* of its ShapeProto in the input */
    uint64_t bytes;    /* where has_bytes */
    uint64_t elements; /* of its first array, where has_elements */
    uint32_t module;
    uint32_t shape_bytes;
    uint32_t number; /* of all instructions of the host */
    uint8_t element;
    uint8_t has_bytes, has_elements;
};

/* What an instruction's result depends on (hlo_sharding.c). */
struct hlo_value {
    uint32_t bits, first, parts; /* of a device's number; those of the elements of a tuple: rows of `parts` */
    uint32_t op;                 /* row of trace->hlo_ops; 0 = none */
    uint32_t seen;               /* bits of all evaluations */
    uint8_t is_set, is_computed;
};

/* A parameter of a fusion that is only read in slices: by computation and number. */
struct hlo_read {
    uint64_t key;
    uint64_t computation;
    int64_t number;
    uint64_t bytes;
};

/* An operand, to detect duplicates. */
struct hlo_operand {
    uint64_t id;
    uint32_t position;
};

struct hlo_call {
    uint64_t callee, caller; /* rows of `computations` */
    uint32_t op;             /* row of trace->hlo_ops; 0 = inside a fusion: none */
};

/* An asynchronous operation that has started: its id, and its row of trace->hlo_ops. */
struct hlo_start {
    int64_t id;
    uint32_t op; /* 0 = no entry */
};

enum { HLO_STARTS = 64 };

struct hlo_waits {
    uint64_t computation;
    uint32_t next;
    struct hlo_start starts[HLO_STARTS];
};

/* A wait and what it waits for: rows of trace->hlo_ops. */
struct hlo_wait {
    uint32_t op, start;
};

struct hlo_location {
    uint64_t file; /* number of a file, from 1 */
    int64_t line;
};

/* Rows of the join: the last part of an op's name in a program, or in any program. */
struct hlo_join {
    uint64_t key;
    struct tm_key name;
    int64_t program_id;
    uint32_t op;
    uint8_t any_program;
};

struct tm_hlo {
    struct tm_trace *trace;
    struct tm_run *run;
    const struct tm_input *input;
    struct tm_rows *modules; /* struct hlo_module */
    struct tm_index *joins;  /* struct hlo_join; NULL until all is read */
    /* while it reads */
    uint8_t *buffer, *compact;      /* HLO_BUFFER each */
    uint64_t *operands;             /* HLO_OPERANDS_MOST */
    struct hlo_operand *sorted;     /* likewise */
    struct hlo_reads *reads;        /* of the current computation */
    struct tm_index *partial_reads; /* struct hlo_read */
    struct tm_index *results;       /* struct hlo_result */
    struct tm_index *places;        /* struct hlo_place */
    struct tm_rows *computations;   /* struct hlo_computation */
    struct tm_rows *calls;          /* struct hlo_call, sorted */
    struct tm_sorter *sorter;       /* struct hlo_call */
    struct hlo_waits waits;         /* of the current computation */
    struct tm_rows *wait_rows;      /* struct hlo_wait */
    struct tm_rows *files;          /* tm_strid */
    struct tm_rows *locations;      /* struct hlo_location */
    struct tm_rows *frames;         /* uint64_t: number of a location, from 1 */
    struct tm_rows *values;         /* struct hlo_value, by the number of the instruction */
    struct tm_rows *parts;          /* uint32_t */
    uint64_t instructions;          /* of all programs so far */
};

/* Ids are small numbers, or a computation's and a small number side by side: the module's number is spread over all
 * bits, or those of two modules would collide. */
static inline uint64_t tm_hlo_key(uint64_t module, int64_t id)
{
    return tm_hash_mix((uint64_t)id, (module + 1) * UINT64_C(0xd1342543de82ef95));
}

/* --- hlo_cost.c: what an instruction costs --- */

struct hlo_cost {
    struct tm_hlo_shape shape;
    uint64_t flops, bytes, operand_bytes;
    bool has_flops, has_bytes, has_operand_bytes;
    bool has_matrix, is_batched, is_host;
    uint8_t precision;
};

void tm_hlo_cost(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, struct hlo_cost *cost);

/* The participants of a collective, and the bytes that each sends: op->group_size, message_bytes, and groups. */
void tm_hlo_collective(struct tm_hlo *hlo, const struct hlo_module *module, const struct tm_hlo_instruction *in,
                       const struct hlo_cost *cost, struct tm_hlo_op *op);

/* A grid of the numbers 0, 1, 2 ... with its dimensions in another order, read row by row in groups of one size. */
enum { TM_HLO_IOTA_RANK_MOST = 8 };

struct tm_hlo_iota {
    uint64_t groups, devices;
    uint64_t dims[TM_HLO_IOTA_RANK_MOST], order[TM_HLO_IOTA_RANK_MOST];
    uint32_t rank, order_rank; /* order_rank 0 = that of the numbers */
};

/* Whether the grid has as many cells as the groups have members, and its order is one. */
bool tm_hlo_iota_is_sound(const struct tm_hlo_iota *iota);
uint64_t tm_hlo_iota_cell(const struct tm_hlo_iota *iota, uint64_t n); /* the number in the n-th cell */

/* The computation that an instruction calls, by its row; false if there is none of that id. */
bool tm_hlo_called(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, uint64_t *row);

/* --- hlo_sharding.c: how programs are split over devices --- */

enum { TM_HLO_CALLED_MOST = 64 };

/* As HLO writes it: "{replicated}", "{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "{{replicated}, {manual}}". */
void tm_hlo_write_sharding(struct tm_hlo_text *text, struct tm_wire sharding);

tm_strid tm_hlo_sharding(struct tm_hlo *hlo, const struct tm_hlo_instruction *in); /* 0 = none is recorded */
/* Of a collective: enum tm_hlo_origin. */
uint8_t tm_hlo_origin_of(const struct hlo_module *module, const struct tm_hlo_instruction *in);

/* Whether it makes the result of its computation differ between devices, whatever the operands. */
bool tm_hlo_is_own(const struct tm_hlo_instruction *in);

/* After the shapes, in the second walk: the op of an instruction.  Then, once computations have their sums, complete
 * the ops and the modules of programs that run on several devices. */
void tm_hlo_note_op(struct tm_hlo *hlo, uint32_t module, int64_t id, uint32_t op);
void tm_hlo_share(struct tm_hlo *hlo);

uint64_t tm_hlo_devices(const struct hlo_module *module); /* 0 = not recorded */

/* --- hlo_memory.c: the memory of a program --- */

enum tm_hlo_buffer_kind { TM_HLO_ARGUMENT, TM_HLO_CONSTANT, TM_HLO_OUTPUT, TM_HLO_TEMPORARY, TM_HLO_BUFFER_KINDS };

/* An allocation, or a value in the heap. */
struct tm_hlo_buffer {
    uint64_t index, bytes, values; /* index: of the allocation; values: that share it */
    int64_t instruction;           /* id of the one that makes it, or the largest value in it; 0 = `name` is recorded */
    tm_strid name;
    uint8_t kind; /* enum tm_hlo_buffer_kind */
};

enum { TM_HLO_BUFFERS = 20 };

struct tm_hlo_memory {
    uint64_t bytes[TM_HLO_BUFFER_KINDS], count;
    struct tm_hlo_buffer largest[TM_HLO_BUFFERS]; /* allocations, by size, then by number */
    struct tm_hlo_buffer live[TM_HLO_BUFFERS];    /* when most of the heap is in use: values in it, other allocations */
    size_t largest_count, live_count;
    uint64_t heap, heap_peak; /* number of its allocation, where has_heap; most bytes in use */
    tm_strid peak_at;         /* the instruction at that moment */
    bool overflows, is_recorded, has_heap;
};

/* Go to a part of a HloProto.  out: false: there is none; *end of it */
bool tm_hlo_enter(struct tm_hlo *hlo, const struct tm_hlo_program *program, struct tm_reader *w, uint32_t part,
                  uint64_t *end);

/* in: hlo  of which only run, input, trace, and buffer are needed */
void tm_hlo_read_memory(struct tm_hlo *hlo, const struct tm_hlo_program *program, struct tm_hlo_memory *memory);

/* --- hlo_instruction.c: the fields of a program, through a window --- */

/* clang-format off */
enum { /* fields */
    PROTO_MODULE = 1, PROTO_BUFFERS = 3,
    MODULE_NAME = 1, MODULE_COMPUTATION = 3, MODULE_SHAPE = 4, MODULE_ID = 5, MODULE_ENTRY = 6, MODULE_DEVICES = 15, MODULE_FRAMES = 17,
    COMPUTATION_NAME = 1, COMPUTATION_INSTRUCTION = 2, COMPUTATION_ID = 5, COMPUTATION_ROOT = 6, COMPUTATION_FUSION = 7,
    COMPUTATION_THREAD = 8,
    SHAPE_PARAMETER = 1, DEVICES_REPLICAS = 1, DEVICES_PARTITIONS = 2,
    IN_NAME = 1, IN_OPCODE = 2, IN_SHAPE = 3, IN_METADATA = 7, IN_LITERAL = 8, IN_PARAMETER = 9, IN_FUSION_KIND = 11, IN_CONVOLUTION = 16, IN_CHANNEL = 26,
    IN_TARGET = 28, IN_DOT = 30, IN_ID = 35, IN_OPERANDS = 36, IN_CALLED = 38, IN_SHARDING = 40, IN_CONFIG = 43, IN_HOST_TRANSFER = 47,
    IN_PRECISION = 51, IN_DEVICES = 87, IN_IOTA_GROUPS = 92, IN_MESH_GROUPS = 93,
};
/* clang-format on */

/* The next field of a message that ends at `end`; false there, or if it is damaged.
 * in: damaged  points to false */
bool tm_hlo_next_field(struct tm_reader *w, uint64_t end, struct tm_head *head, bool *damaged);

/* Continue after a message, wherever the window is: a damaged field in it may have led past its end. */
void tm_hlo_leave(struct tm_reader *w, uint64_t end);

struct tm_hlo_compacted {
    uint64_t shape_at, damaged_at; /* in the input; 0 = none */
    bool is_cut, is_damaged;
};

/* For an instruction that is larger than the window, the fields that are not: constants and compiled kernels are left
 * out.
 * in: room  HLO_BUFFER bytes */
struct tm_wire tm_hlo_compact(struct tm_reader *w, uint64_t end, uint8_t *room, struct tm_hlo_compacted *facts);

/* --- hlo_walk.c: one program --- */

/* Read the table of stack frames that `w` is at; then, the source line of an instruction: 0 = not recorded. */
void tm_hlo_read_frames(struct tm_hlo *hlo, struct hlo_module *module, struct tm_reader *w, uint64_t end);
tm_strid tm_hlo_source(struct tm_hlo *hlo, const struct hlo_module *module, const struct tm_hlo_instruction *in);

enum hlo_pass { HLO_PASS_SHAPES, HLO_PASS_COSTS };

void tm_hlo_walk(struct tm_hlo *hlo, uint32_t module, enum hlo_pass pass);

void tm_hlo_add_sums(struct hlo_sums *into, const struct hlo_sums *from);

/* What fusions read and write, in the first walk. */
struct hlo_reads *tm_hlo_reads_new(struct tm_run *run) TM_MUST_USE;
void tm_hlo_reads_free(struct tm_run *run, struct hlo_reads *reads); /* tolerates NULL */

#endif
