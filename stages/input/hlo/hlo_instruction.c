/* SPDX-License-Identifier: Apache-2.0 */
/* One HloInstructionProto on the wire: views of the parts that costs and names are made of; and shapes.
 * source: xla/service/hlo.proto, xla/xla_data.proto (OpMetadata) */
#include "stages/input/hlo/hlo_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- fields ---
 * The fields of a program, one by one through a window that only moves forward: those of a damaged message end at the
 * damage, and an instruction that is larger than the window is read without its large fields. */

enum { SMALL_FIELD = 32 << 10 /* of an instruction that is larger than the window */ };

bool tm_hlo_next_field(struct tm_reader *w, uint64_t end, struct tm_head *head, bool *damaged)
{
    if (tm_reader_offset(w) >= end)
        return false;
    if (tm_reader_head(w, head, damaged) && !*damaged && tm_reader_offset(w) <= end &&
        (head->type != TM_WIRE_LEN || head->value <= end - tm_reader_offset(w)))
        return true;
    *damaged = true;
    return false;
}

void tm_hlo_leave(struct tm_reader *w, uint64_t end)
{
    if (tm_reader_offset(w) < end)
        tm_reader_skip(w, end - tm_reader_offset(w));
    else
        tm_reader_return(w, end);
}

static bool put_bytes(struct tm_hlo_text *to, const void *bytes, size_t length)
{
    if (length > to->room - to->length)
        return false;
    memcpy(to->at + to->length, bytes, length);
    to->length += length;
    return true;
}

static bool put_varint(struct tm_hlo_text *to, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;

    do {
        bytes[n++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    return put_bytes(to, bytes, n);
}

/* Copy the next field of a large instruction; false if there is no room. */
static bool copy_field(struct tm_reader *w, const struct tm_head *head, struct tm_hlo_text *to)
{
    const size_t before = to->length;
    bool fits = head->type == TM_WIRE_VARINT || (head->type == TM_WIRE_LEN && head->value <= SMALL_FIELD);

    fits = fits && put_varint(to, TM_WIRE_KEY(head->number, head->type)) && put_varint(to, head->value);
    if (fits && head->type == TM_WIRE_LEN) {
        const struct tm_wire view = tm_reader_peek(w, (size_t)head->value);

        fits = put_bytes(to, view.at, (size_t)(view.end - view.at));
    }
    if (!fits)
        to->length = before;
    return fits;
}

struct tm_wire tm_hlo_compact(struct tm_reader *w, uint64_t end, uint8_t *room, struct tm_hlo_compacted *facts)
{
    struct tm_hlo_text to = { .at = (char *)room, .room = HLO_BUFFER };
    struct tm_head head;
    bool damaged = false;

    *facts = (struct tm_hlo_compacted){ .shape_at = 0 };
    while (tm_hlo_next_field(w, end, &head, &damaged)) {
        if (head.number == IN_SHAPE)
            facts->shape_at = tm_reader_offset(w);
        if (!copy_field(w, &head, &to) && head.number != IN_LITERAL && head.number != IN_CONFIG)
            facts->is_cut = true;
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(w, head.value);
    }
    facts->is_damaged = damaged;
    facts->damaged_at = damaged ? head.offset : 0;
    return (struct tm_wire){ room, room + to.length };
}

/* clang-format off */
enum {
    META_PATH = 2, META_FILE = 3, META_LINE = 4, META_FRAME = 15,
};

/* clang-format on */

/* In the order of their names.  source: xla/hlo/ir/hlo_opcode.h */
static const struct tm_hlo_opcode opcodes[] = {
    { "abs", TM_HLO_ELEMENTWISE, 0 },
    { "add", TM_HLO_ELEMENTWISE, 0 },
    { "add-dependency", TM_HLO_MOVES, 0 },
    { "after-all", TM_HLO_MOVES, TM_HLO_SILENT },
    { "all-gather", TM_HLO_COLLECTIVE, 0 },
    { "all-gather-done", TM_HLO_COLLECTIVE, TM_HLO_DONE },
    { "all-gather-start", TM_HLO_COLLECTIVE, TM_HLO_START },
    { "all-reduce", TM_HLO_COLLECTIVE, 0 },
    { "all-reduce-done", TM_HLO_COLLECTIVE, TM_HLO_DONE },
    { "all-reduce-start", TM_HLO_COLLECTIVE, 0 }, /* its result is that of an all-reduce */
    { "all-to-all", TM_HLO_COLLECTIVE, 0 },
    { "and", TM_HLO_ELEMENTWISE, 0 },
    { "async-done", TM_HLO_OTHER, TM_HLO_DONE },
    { "async-start", TM_HLO_CALLS, TM_HLO_START },
    { "async-update", TM_HLO_OTHER, TM_HLO_DONE },
    { "atan2", TM_HLO_ELEMENTWISE, 0 },
    { "bitcast", TM_HLO_MOVES, TM_HLO_SILENT },
    { "bitcast-convert", TM_HLO_MOVES, 0 },
    { "broadcast", TM_HLO_MOVES, 0 },
    { "call", TM_HLO_CALLS, 0 },
    { "cbrt", TM_HLO_ELEMENTWISE, 0 },
    { "ceil", TM_HLO_ELEMENTWISE, 0 },
    { "clamp", TM_HLO_ELEMENTWISE, 0 },
    { "collective-broadcast", TM_HLO_COLLECTIVE, 0 },
    { "collective-permute", TM_HLO_COLLECTIVE, TM_HLO_PERMUTES },
    { "collective-permute-done", TM_HLO_COLLECTIVE, TM_HLO_PERMUTES | TM_HLO_DONE },
    { "collective-permute-start", TM_HLO_COLLECTIVE, TM_HLO_PERMUTES | TM_HLO_START },
    { "compare", TM_HLO_ELEMENTWISE, 0 },
    { "complex", TM_HLO_ELEMENTWISE, 0 },
    { "concatenate", TM_HLO_MOVES, 0 },
    { "conditional", TM_HLO_OTHER, TM_HLO_CONTAINER },
    { "constant", TM_HLO_MOVES, TM_HLO_SILENT },
    { "convert", TM_HLO_ELEMENTWISE, 0 },
    { "convolution", TM_HLO_CONVOLUTION, 0 },
    { "copy", TM_HLO_MOVES, 0 },
    { "copy-done", TM_HLO_MOVES, TM_HLO_DONE },
    { "copy-start", TM_HLO_MOVES, TM_HLO_START },
    { "cosine", TM_HLO_ELEMENTWISE, 0 },
    { "count-leading-zeros", TM_HLO_ELEMENTWISE, 0 },
    { "custom-call", TM_HLO_CUSTOM, 0 },
    { "divide", TM_HLO_ELEMENTWISE, TM_HLO_DIVIDES },
    { "domain", TM_HLO_MOVES, TM_HLO_SILENT },
    { "dot", TM_HLO_DOT, 0 },
    { "dynamic-reshape", TM_HLO_MOVES, 0 },
    { "dynamic-slice", TM_HLO_MOVES, TM_HLO_SLICES },
    { "dynamic-update-slice", TM_HLO_MOVES, TM_HLO_UPDATES },
    { "erf", TM_HLO_ELEMENTWISE, 0 },
    { "exponential", TM_HLO_ELEMENTWISE, TM_HLO_EXPONENTIAL },
    { "exponential-minus-one", TM_HLO_ELEMENTWISE, 0 },
    { "floor", TM_HLO_ELEMENTWISE, 0 },
    { "fusion", TM_HLO_CALLS, TM_HLO_IS_FUSION },
    { "gather", TM_HLO_MOVES, TM_HLO_SLICES },
    { "get-dimension-size", TM_HLO_MOVES, 0 },
    { "get-tuple-element", TM_HLO_MOVES, TM_HLO_SILENT },
    { "imag", TM_HLO_ELEMENTWISE, 0 },
    { "infeed", TM_HLO_MOVES, TM_HLO_HOST },
    { "iota", TM_HLO_MOVES, 0 },
    { "is-finite", TM_HLO_ELEMENTWISE, 0 },
    { "log", TM_HLO_ELEMENTWISE, 0 },
    { "log-plus-one", TM_HLO_ELEMENTWISE, 0 },
    { "logistic", TM_HLO_ELEMENTWISE, 0 },
    { "maximum", TM_HLO_ELEMENTWISE, 0 },
    { "minimum", TM_HLO_ELEMENTWISE, 0 },
    { "multiply", TM_HLO_ELEMENTWISE, 0 },
    { "negate", TM_HLO_ELEMENTWISE, 0 },
    { "not", TM_HLO_ELEMENTWISE, 0 },
    { "opt-barrier", TM_HLO_MOVES, TM_HLO_SILENT },
    { "or", TM_HLO_ELEMENTWISE, 0 },
    { "outfeed", TM_HLO_MOVES, TM_HLO_HOST },
    { "pad", TM_HLO_MOVES, 0 },
    { "parameter", TM_HLO_MOVES, TM_HLO_SILENT | TM_HLO_PARAMETER },
    { "partition-id", TM_HLO_MOVES, 0 },
    { "popcnt", TM_HLO_ELEMENTWISE, 0 },
    { "power", TM_HLO_ELEMENTWISE, 0 },
    { "ragged-all-to-all", TM_HLO_COLLECTIVE, 0 },
    { "real", TM_HLO_ELEMENTWISE, 0 },
    { "recv", TM_HLO_COLLECTIVE, TM_HLO_PERMUTES },
    { "recv-done", TM_HLO_COLLECTIVE, TM_HLO_PERMUTES | TM_HLO_DONE },
    { "reduce", TM_HLO_OTHER, TM_HLO_REDUCES },
    { "reduce-precision", TM_HLO_ELEMENTWISE, 0 },
    { "reduce-scatter", TM_HLO_COLLECTIVE, 0 },
    { "reduce-window", TM_HLO_OTHER, TM_HLO_REDUCES },
    { "remainder", TM_HLO_ELEMENTWISE, 0 },
    { "replica-id", TM_HLO_MOVES, 0 },
    { "reshape", TM_HLO_MOVES, 0 },
    { "reverse", TM_HLO_MOVES, 0 },
    { "round-nearest-afz", TM_HLO_ELEMENTWISE, 0 },
    { "round-nearest-even", TM_HLO_ELEMENTWISE, 0 },
    { "rsqrt", TM_HLO_ELEMENTWISE, 0 },
    { "select", TM_HLO_ELEMENTWISE, 0 },
    { "send", TM_HLO_COLLECTIVE, TM_HLO_PERMUTES },
    { "send-done", TM_HLO_COLLECTIVE, TM_HLO_PERMUTES | TM_HLO_DONE },
    { "set-dimension-size", TM_HLO_MOVES, 0 },
    { "shift-left", TM_HLO_ELEMENTWISE, 0 },
    { "shift-right-arithmetic", TM_HLO_ELEMENTWISE, 0 },
    { "shift-right-logical", TM_HLO_ELEMENTWISE, 0 },
    { "sign", TM_HLO_ELEMENTWISE, 0 },
    { "sine", TM_HLO_ELEMENTWISE, 0 },
    { "slice", TM_HLO_MOVES, TM_HLO_SLICES },
    { "sqrt", TM_HLO_ELEMENTWISE, 0 },
    { "stochastic-convert", TM_HLO_ELEMENTWISE, 0 },
    { "subtract", TM_HLO_ELEMENTWISE, 0 },
    { "tan", TM_HLO_ELEMENTWISE, 0 },
    { "tanh", TM_HLO_ELEMENTWISE, 0 },
    { "transpose", TM_HLO_MOVES, 0 },
    { "tuple", TM_HLO_MOVES, TM_HLO_SILENT },
    { "while", TM_HLO_OTHER, TM_HLO_CONTAINER },
    { "xor", TM_HLO_ELEMENTWISE, 0 },
};

static const struct tm_hlo_opcode unknown_opcode = { "", TM_HLO_OTHER, 0 };

static int by_name(const void *key, const void *entry)
{
    const struct tm_text *text = key;
    const char *name = ((const struct tm_hlo_opcode *)entry)->name;
    const size_t length = strlen(name), shorter = text->length < length ? text->length : length;
    const int difference = shorter ? memcmp(text->at, name, shorter) : 0;

    return difference ? difference : (text->length > length) - (text->length < length);
}

/* What is known about an opcode; never NULL: one that is not known is of kind TM_HLO_OTHER. */
static const struct tm_hlo_opcode *hlo_opcode_of(struct tm_text opcode)
{
    const struct tm_hlo_opcode *found =
        bsearch(&opcode, opcodes, sizeof(opcodes) / sizeof(opcodes[0]), sizeof(opcodes[0]), by_name);

    return found ? found : &unknown_opcode;
}

struct tm_hlo_numbers tm_hlo_numbers_of(struct tm_wire message, uint32_t number)
{
    return (struct tm_hlo_numbers){ .fields = message, .packed = { message.at, message.at }, .number = number };
}

bool tm_hlo_next_number(struct tm_hlo_numbers *numbers, uint64_t *value)
{
    struct tm_field field;

    if (numbers->packed.at < numbers->packed.end && tm_wire_varint(&numbers->packed, value))
        return true;
    while (tm_wire_next(&numbers->fields, &field)) {
        if (field.key == TM_WIRE_KEY(numbers->number, TM_WIRE_VARINT)) {
            *value = field.value;
            return true;
        }
        if (field.key != TM_WIRE_KEY(numbers->number, TM_WIRE_LEN))
            continue;
        numbers->packed = tm_wire_of(&field);
        if (numbers->packed.at < numbers->packed.end && tm_wire_varint(&numbers->packed, value))
            return true;
    }
    return false;
}

uint64_t tm_hlo_number_in(struct tm_wire message, uint32_t number)
{
    struct tm_field field;
    uint64_t value = 0;

    while (tm_wire_next(&message, &field))
        if (field.key == TM_WIRE_KEY(number, TM_WIRE_VARINT))
            value = field.value;
    return value;
}

static struct tm_text text_of(const struct tm_field *field)
{
    return (struct tm_text){ (const char *)field->bytes, (size_t)field->value };
}

static void take_metadata(struct tm_hlo_instruction *in, struct tm_wire w)
{
    struct tm_field field;

    while (tm_wire_next(&w, &field)) {
        switch (field.key) {
        case TM_WIRE_KEY(META_PATH, TM_WIRE_LEN):
            in->path = text_of(&field);
            break;
        case TM_WIRE_KEY(META_FILE, TM_WIRE_LEN):
            in->source_file = text_of(&field);
            break;
        case TM_WIRE_KEY(META_LINE, TM_WIRE_VARINT):
            in->source_line = (int64_t)field.value;
            break;
        case TM_WIRE_KEY(META_FRAME, TM_WIRE_VARINT):
            in->stack_frame = (int64_t)field.value;
            break;
        default:
            break;
        }
    }
}

static void put_operand(struct tm_hlo_instruction *in, uint64_t id)
{
    if (in->operand_count < in->operand_room)
        in->operands[in->operand_count++] = id;
    else
        in->is_cut = true;
}

static void take_operands(struct tm_hlo_instruction *in, struct tm_wire packed)
{
    uint64_t id;

    while (packed.at < packed.end && tm_wire_varint(&packed, &id))
        put_operand(in, id);
}

static void take_called(struct tm_hlo_instruction *in, struct tm_wire packed)
{
    if (!in->has_called && packed.at < packed.end)
        in->has_called = tm_wire_varint(&packed, &in->called);
}

static void take_field(struct tm_hlo_instruction *in, const struct tm_field *field)
{
    switch (field->key) {
    case TM_WIRE_KEY(IN_NAME, TM_WIRE_LEN):
        in->name = text_of(field);
        break;
    case TM_WIRE_KEY(IN_OPCODE, TM_WIRE_LEN):
        in->opcode = text_of(field);
        break;
    case TM_WIRE_KEY(IN_SHAPE, TM_WIRE_LEN):
        in->shape = tm_wire_of(field);
        break;
    case TM_WIRE_KEY(IN_METADATA, TM_WIRE_LEN):
        take_metadata(in, tm_wire_of(field));
        break;
    case TM_WIRE_KEY(IN_PARAMETER, TM_WIRE_VARINT):
        in->parameter = (int64_t)field->value;
        break;
    case TM_WIRE_KEY(IN_CONVOLUTION, TM_WIRE_LEN):
        in->convolution = tm_wire_of(field);
        break;
    case TM_WIRE_KEY(IN_CHANNEL, TM_WIRE_VARINT):
        in->channel = (int64_t)field->value;
        break;
    case TM_WIRE_KEY(IN_TARGET, TM_WIRE_LEN):
        in->target = text_of(field);
        break;
    case TM_WIRE_KEY(IN_DOT, TM_WIRE_LEN):
        in->dot = tm_wire_of(field);
        break;
    case TM_WIRE_KEY(IN_ID, TM_WIRE_VARINT):
        in->id = (int64_t)field->value;
        break;
    case TM_WIRE_KEY(IN_OPERANDS, TM_WIRE_LEN):
        take_operands(in, tm_wire_of(field));
        break;
    case TM_WIRE_KEY(IN_OPERANDS, TM_WIRE_VARINT):
        put_operand(in, field->value);
        break;
    case TM_WIRE_KEY(IN_CALLED, TM_WIRE_LEN):
        take_called(in, tm_wire_of(field));
        break;
    case TM_WIRE_KEY(IN_CALLED, TM_WIRE_VARINT):
        in->called = in->has_called ? in->called : field->value;
        in->has_called = true;
        break;
    case TM_WIRE_KEY(IN_CONFIG, TM_WIRE_LEN):
        in->config = tm_wire_of(field);
        break;
    case TM_WIRE_KEY(IN_HOST_TRANSFER, TM_WIRE_VARINT):
        in->is_host_transfer = field->value != 0;
        break;
    case TM_WIRE_KEY(IN_PRECISION, TM_WIRE_LEN):
        in->precision = tm_wire_of(field);
        break;
    case TM_WIRE_KEY(IN_DEVICES, TM_WIRE_LEN):
        in->devices = tm_wire_of(field);
        break;
    case TM_WIRE_KEY(IN_IOTA_GROUPS, TM_WIRE_LEN):
        in->iota_groups = tm_wire_of(field);
        break;
    case TM_WIRE_KEY(IN_MESH_GROUPS, TM_WIRE_LEN):
        in->mesh_groups = tm_wire_of(field);
        break;
    case TM_WIRE_KEY(IN_SHARDING, TM_WIRE_LEN):
        in->sharding = tm_wire_of(field);
        break;
    default:
        break;
    }
}

void tm_hlo_instruction_read(struct tm_wire bytes, struct tm_hlo_instruction *in)
{
    uint64_t *const operands = in->operands;
    const uint32_t room = in->operand_room;
    struct tm_wire w = bytes;
    struct tm_field field;

    memset(in, 0, sizeof(*in));
    in->operands = operands;
    in->operand_room = room;
    in->all = bytes;
    while (tm_wire_next(&w, &field))
        take_field(in, &field);
    in->is_damaged = w.at != w.end;
    in->known = hlo_opcode_of(in->opcode);
}

/* Shapes on the wire.  ShapeProto {element_type 2, dimensions 3, tuple_shapes 4, layout 5}, LayoutProto
 * {element_size_in_bits 7}; no order of the fields is relied on, and nesting is walked with a stack of fixed depth. */

enum {
    SHAPE_ELEMENT = 2,
    SHAPE_DIMENSIONS = 3,
    SHAPE_TUPLE = 4,
    SHAPE_LAYOUT = 5,
    LAYOUT_ORDER = 1,
    LAYOUT_TILES = 6,
    LAYOUT_BITS = 7,
    LAYOUT_SPACE = 8,
    TILE_DIMENSIONS = 1
};

enum { ELEMENT_TUPLE = 13, ELEMENT_OPAQUE = 14, ELEMENT_TOKEN = 17, ELEMENT_BUFFER = 34 };

/* By xla.PrimitiveType.  Types below a byte take one each, unless the layout packs them. */
static const struct element {
    const char *name;
    uint8_t bits, precision;
} elements[] = {
    [1] = { "pred", 8, TM_OTHER_PRECISION },
    [2] = { "s8", 8, TM_INT8 },
    [3] = { "s16", 16, TM_OTHER_PRECISION },
    [4] = { "s32", 32, TM_OTHER_PRECISION },
    [5] = { "s64", 64, TM_OTHER_PRECISION },
    [6] = { "u8", 8, TM_INT8 },
    [7] = { "u16", 16, TM_OTHER_PRECISION },
    [8] = { "u32", 32, TM_OTHER_PRECISION },
    [9] = { "u64", 64, TM_OTHER_PRECISION },
    [10] = { "f16", 16, TM_F16 },
    [11] = { "f32", 32, TM_F32 },
    [12] = { "f64", 64, TM_F64 },
    [ELEMENT_OPAQUE] = { "opaque", 0, TM_PRECISION_UNKNOWN },
    [15] = { "c64", 64, TM_OTHER_PRECISION },
    [16] = { "bf16", 16, TM_BF16 },
    [ELEMENT_TOKEN] = { "token", 0, TM_PRECISION_UNKNOWN },
    [18] = { "c128", 128, TM_OTHER_PRECISION },
    [19] = { "f8e5m2", 8, TM_F8 },
    [20] = { "f8e4m3fn", 8, TM_F8 },
    [21] = { "s4", 8, TM_INT4 },
    [22] = { "u4", 8, TM_INT4 },
    [23] = { "f8e4m3b11fnuz", 8, TM_F8 },
    [24] = { "f8e5m2fnuz", 8, TM_F8 },
    [25] = { "f8e4m3fnuz", 8, TM_F8 },
    [26] = { "s2", 8, TM_OTHER_PRECISION },
    [27] = { "u2", 8, TM_OTHER_PRECISION },
    [28] = { "f8e4m3", 8, TM_F8 },
    [29] = { "f8e3m4", 8, TM_F8 },
    [30] = { "s1", 8, TM_OTHER_PRECISION },
    [31] = { "u1", 8, TM_OTHER_PRECISION },
    [32] = { "f4e2m1fn", 8, TM_OTHER_PRECISION },
    [33] = { "f8e8m0fnu", 8, TM_F8 },
    [ELEMENT_BUFFER] = { "buffer", 0, TM_PRECISION_UNKNOWN },
};

enum { ELEMENT_COUNT = sizeof(elements) / sizeof(elements[0]) };

/* A shape that is being read: the array or tuple itself, whose parts are in the levels above it. */
struct level {
    struct tm_wire left;
    uint64_t dims[TM_HLO_RANK_MOST];
    uint64_t elements;
    uint32_t rank, parts;
    struct tm_wire layout;
    uint32_t layout_bits;
    uint8_t element;
    bool overflows;
};

struct walk {
    struct level levels[TM_HLO_NESTING_MOST];
    int depth;
    struct tm_hlo_shape *shape;
    struct tm_hlo_text *text;
};

enum tm_precision tm_hlo_precision(uint8_t element)
{
    return element < ELEMENT_COUNT ? (enum tm_precision)elements[element].precision : TM_PRECISION_UNKNOWN;
}

/* 0 = not known, or none */
static uint32_t hlo_element_bits(uint8_t element)
{
    return element < ELEMENT_COUNT ? elements[element].bits : 0;
}

void tm_hlo_write(struct tm_hlo_text *text, const char *format, ...)
{
    va_list list;
    int length;

    if (text->cut)
        return;
    va_start(list, format);
    length = vsnprintf(text->at + text->length, text->room - text->length, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= text->room - text->length)
        text->cut = true;
    else
        text->length += (size_t)length;
}

static void take_dim(struct level *level, uint64_t dim)
{
    if (level->rank < TM_HLO_RANK_MOST)
        level->dims[level->rank] = dim;
    level->rank++;
    if (dim > INT64_MAX || __builtin_mul_overflow(level->elements, dim, &level->elements))
        level->overflows = true;
}

static void take_layout(struct level *level, const struct tm_field *field)
{
    struct tm_wire w = { field->bytes, field->bytes + field->value };
    struct tm_field part;

    level->layout = w;
    while (tm_wire_next(&w, &part))
        if (part.key == TM_WIRE_KEY(LAYOUT_BITS, TM_WIRE_VARINT) && part.value <= 128)
            level->layout_bits = (uint32_t)part.value;
}

uint64_t tm_hlo_write_numbers(struct tm_hlo_text *text, const char *before, struct tm_wire message, uint32_t number)
{
    struct tm_hlo_numbers numbers = tm_hlo_numbers_of(message, number);
    uint64_t value, n = 0;

    for (; tm_hlo_next_number(&numbers, &value) && !text->cut; n++)
        tm_hlo_write(text, "%s%lld", n ? "," : before, (long long)value);
    return n;
}

/* "{1,0:T(8,128)S(1)}": the order of the dimensions from minor to major, tiles, the memory space. */
static void write_layout(struct tm_hlo_text *text, struct tm_wire layout)
{
    struct tm_wire w = layout;
    struct tm_field field;
    uint64_t space = 0;
    bool has_tiles = false;

    tm_hlo_write(text, "{");
    (void)tm_hlo_write_numbers(text, "", layout, LAYOUT_ORDER);
    while (tm_wire_next(&w, &field)) {
        if (field.key == TM_WIRE_KEY(LAYOUT_SPACE, TM_WIRE_VARINT))
            space = field.value;
        if (field.key != TM_WIRE_KEY(LAYOUT_TILES, TM_WIRE_LEN))
            continue;
        tm_hlo_write(text, has_tiles ? "(" : ":T(");
        (void)tm_hlo_write_numbers(text, "", tm_wire_of(&field), TILE_DIMENSIONS);
        tm_hlo_write(text, ")");
        has_tiles = true;
    }
    if (space)
        tm_hlo_write(text, "%sS(%llu)", has_tiles ? "" : ":", (unsigned long long)space);
    tm_hlo_write(text, "}");
}

static void write_array(struct tm_hlo_text *text, const struct level *level)
{
    const char *name = level->element < ELEMENT_COUNT ? elements[level->element].name : NULL;

    tm_hlo_write(text, "%s[", name ? name : "?");
    for (uint32_t i = 0; i < level->rank && i < TM_HLO_RANK_MOST; i++)
        tm_hlo_write(text, "%s%lld", i ? "," : "", (long long)level->dims[i]);
    tm_hlo_write(text, level->rank > TM_HLO_RANK_MOST ? ",...]" : "]");
    if (text->has_layouts && level->rank && level->layout.at)
        write_layout(text, level->layout);
}

static bool is_sizeless(uint8_t element)
{
    return element == ELEMENT_OPAQUE || element == ELEMENT_TOKEN || element == ELEMENT_BUFFER;
}

/* Bytes of an array; false if they are not known. */
static bool array_bytes(const struct level *level, uint64_t *bytes)
{
    uint64_t bits = hlo_element_bits(level->element);

    *bytes = 0;
    if (is_sizeless(level->element))
        return true;
    if (bits && level->layout_bits)
        bits = level->layout_bits;
    if (!bits || level->overflows || __builtin_mul_overflow(level->elements, bits, &bits))
        return false;
    *bytes = bits / 8 + (bits % 8 != 0);
    return true;
}

static void end_array(struct walk *walk, const struct level *level)
{
    struct tm_hlo_shape *shape = walk->shape;
    uint64_t bytes;

    if (walk->text)
        write_array(walk->text, level);
    if (!shape->element && !is_sizeless(level->element)) {
        shape->element = level->element;
        shape->elements = level->elements;
        shape->has_elements = !level->overflows;
        shape->rank = level->overflows ? TM_HLO_RANK_MOST + 1 : level->rank;
        memcpy(shape->dims, level->dims, sizeof(shape->dims));
    }
    if (!array_bytes(level, &bytes) || __builtin_add_overflow(shape->bytes, bytes, &shape->bytes))
        shape->has_bytes = false;
    else if (walk->depth > 0 && walk->levels[0].parts <= 2) /* no overflow: less than all bytes */
        shape->part[walk->levels[0].parts - 1] += bytes;
}

static void begin_level(struct walk *walk, struct tm_wire bytes)
{
    struct level *level = &walk->levels[walk->depth];

    memset(level, 0, sizeof(*level));
    level->left = bytes;
    level->elements = 1;
}

static void begin_part(struct walk *walk, const struct tm_field *field)
{
    struct level *level = &walk->levels[walk->depth];

    if (walk->text)
        tm_hlo_write(walk->text, level->parts ? ", " : "(");
    level->parts++;
    walk->shape->is_tuple = 1;
    if (walk->depth + 1 == TM_HLO_NESTING_MOST) {
        walk->shape->has_bytes = 0;
        return;
    }
    walk->depth++;
    begin_level(walk, tm_wire_of(field));
}

static void end_level(struct walk *walk)
{
    const struct level *level = &walk->levels[walk->depth];

    if (level->left.at != level->left.end) {
        walk->shape->has_bytes = 0;
        walk->shape->is_damaged = 1;
    }
    if (!level->parts && level->element != ELEMENT_TUPLE)
        end_array(walk, level);
    else if (walk->text)
        tm_hlo_write(walk->text, level->parts ? ")" : "()");
    walk->depth--;
}

static void take_dims(struct level *level, const struct tm_field *field)
{
    struct tm_wire w = { field->bytes, field->bytes + field->value };
    uint64_t dim;

    while (w.at < w.end && tm_wire_varint(&w, &dim))
        take_dim(level, dim);
    if (w.at != w.end)
        level->overflows = true;
}

void tm_hlo_shape_read(struct tm_wire bytes, struct tm_hlo_shape *shape, struct tm_hlo_text *text)
{
    struct walk walk;
    struct tm_field field;

    memset(shape, 0, sizeof(*shape));
    shape->has_bytes = 1;
    walk.shape = shape;
    walk.text = text;
    walk.depth = 0;
    begin_level(&walk, bytes);
    while (walk.depth >= 0) {
        struct level *level = &walk.levels[walk.depth];

        if (!tm_wire_next(&level->left, &field)) {
            end_level(&walk);
            continue;
        }
        switch (field.key) {
        case TM_WIRE_KEY(SHAPE_ELEMENT, TM_WIRE_VARINT):
            level->element = field.value < ELEMENT_COUNT ? (uint8_t)field.value : UINT8_MAX;
            break;
        case TM_WIRE_KEY(SHAPE_DIMENSIONS, TM_WIRE_VARINT):
            take_dim(level, field.value);
            break;
        case TM_WIRE_KEY(SHAPE_DIMENSIONS, TM_WIRE_LEN):
            take_dims(level, &field);
            break;
        case TM_WIRE_KEY(SHAPE_TUPLE, TM_WIRE_LEN):
            begin_part(&walk, &field);
            break;
        case TM_WIRE_KEY(SHAPE_LAYOUT, TM_WIRE_LEN):
            take_layout(level, &field);
            break;
        default:
            break;
        }
    }
}
