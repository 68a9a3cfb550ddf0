/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HLO_INSTRUCTION_H
#define TM_HLO_INSTRUCTION_H

#include "pipeline/attributes.h"
#include "pipeline/record.h"
#include "stages/input/xspace/xspace_reader.h"
#include "stages/resolve/name_text.h"

/* How the cost of an instruction is worked out. */
enum tm_hlo_kind {
    TM_HLO_OTHER,       /* no formula: its flops are not known */
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
    TM_HLO_CONTAINER = 1 << 4, /* its parts run as ops of their own: while, conditional */
    TM_HLO_SILENT = 1 << 5,    /* never runs: a parameter, a tuple */
    TM_HLO_PARAMETER = 1 << 6,
    TM_HLO_DONE = 1 << 7, /* waits for what a -start began */
    TM_HLO_START = 1 << 8,
    TM_HLO_SLICES = 1 << 9,    /* reads of its first operand as much as it gives: dynamic-slice, gather */
    TM_HLO_UPDATES = 1 << 10,  /* writes its second operand into the first one's memory: dynamic-update-slice */
    TM_HLO_PERMUTES = 1 << 11, /* collective-permute: between pairs */
    TM_HLO_IS_FUSION = 1 << 12,
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
    struct tm_wire shape, convolution, dot, precision, devices, config;
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

enum { TM_HLO_RANK_MOST = 16, TM_HLO_NESTING_MOST = 16 };

/* A shape: an array, or a tuple of shapes. */
struct tm_hlo_shape {
    uint64_t bytes;    /* of all its arrays, where has_bytes */
    uint64_t part[2];  /* of a tuple: bytes of its first two elements */
    uint64_t elements; /* of its first array, where has_elements; likewise the type and the dimensions */
    uint64_t dims[TM_HLO_RANK_MOST];
    uint32_t rank;   /* above TM_HLO_RANK_MOST: the dimensions are not known */
    uint8_t element; /* xla.PrimitiveType; 0 = there is no array */
    uint8_t has_bytes, has_elements, is_tuple;
    uint8_t is_damaged; /* not all of it could be read */
};

/* A text that is written into memory of fixed size, and cut there. */
struct tm_hlo_text {
    char *at;
    size_t length, room;
    bool cut;
};

void tm_hlo_write(struct tm_hlo_text *text, const char *format, ...) TM_PRINTF(2, 3);

/* Read a ShapeProto.  Sizes that do not fit in 64 bits, dimensions below 0, unknown types and tuples nested deeper
 * than TM_HLO_NESTING_MOST make what depends on them unknown.
 * in: text  gets it as HLO writes it, "f32[8,128]", "(f32[], s32[2])"; NULL = not wanted */
void tm_hlo_shape_read(struct tm_wire bytes, struct tm_hlo_shape *shape, struct tm_hlo_text *text);

enum tm_precision tm_hlo_precision(uint8_t element);

#endif
