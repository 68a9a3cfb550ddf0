/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes on the wire.  ShapeProto {element_type 2, dimensions 3, tuple_shapes 4, layout 5}, LayoutProto
 * {element_size_in_bits 7}; no order of the fields is relied on, and nesting is walked with a stack of fixed depth. */
#include "stages/input/hlo/hlo_shape.h"

#include <stdarg.h>
#include <stdio.h>

enum { SHAPE_ELEMENT = 2, SHAPE_DIMENSIONS = 3, SHAPE_TUPLE = 4, SHAPE_LAYOUT = 5, LAYOUT_BITS = 7 };
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

/* A shape that is being read: the array or tuple itself, whose parts lie in the levels above it. */
struct level {
    struct tm_wire left;
    uint64_t dims[TM_HLO_RANK_MOST];
    uint64_t elements;
    uint32_t rank, parts;
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

uint32_t tm_hlo_element_bits(uint8_t element)
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

    while (tm_wire_next(&w, &part))
        if (part.key == TM_WIRE_KEY(LAYOUT_BITS, TM_WIRE_VARINT) && part.value <= 128)
            level->layout_bits = (uint32_t)part.value;
}

static void write_array(struct tm_hlo_text *text, const struct level *level)
{
    const char *name = level->element < ELEMENT_COUNT ? elements[level->element].name : NULL;

    tm_hlo_write(text, "%s[", name ? name : "?");
    for (uint32_t i = 0; i < level->rank && i < TM_HLO_RANK_MOST; i++)
        tm_hlo_write(text, "%s%lld", i ? "," : "", (long long)level->dims[i]);
    tm_hlo_write(text, level->rank > TM_HLO_RANK_MOST ? ",...]" : "]");
}

static bool is_sizeless(uint8_t element)
{
    return element == ELEMENT_OPAQUE || element == ELEMENT_TOKEN || element == ELEMENT_BUFFER;
}

/* Bytes of an array; false where they are not known. */
static bool array_bytes(const struct level *level, uint64_t *bytes)
{
    uint64_t bits = tm_hlo_element_bits(level->element);

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
    begin_level(walk, (struct tm_wire){ field->bytes, field->bytes + field->value });
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
