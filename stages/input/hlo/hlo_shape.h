/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HLO_SHAPE_H
#define TM_HLO_SHAPE_H

#include "pipeline/attributes.h"
#include "pipeline/record.h"
#include "stages/input/xspace/wire.h"

enum { TM_HLO_RANK_MOST = 16, TM_HLO_NESTING_MOST = 16 };

/* A shape: an array, or a tuple of shapes. */
struct tm_hlo_shape {
    uint64_t bytes;       /* of all its arrays, where has_bytes */
    uint64_t part[2];     /* of a tuple: bytes of its first two elements */
    uint64_t elements;    /* of its first array, where has_elements; likewise the type and the dimensions */
    uint64_t dims[TM_HLO_RANK_MOST];
    uint32_t rank;        /* above TM_HLO_RANK_MOST: the dimensions are not known */
    uint8_t element;      /* xla.PrimitiveType; 0 = there is no array */
    uint8_t has_bytes, has_elements, is_tuple;
    uint8_t is_damaged;   /* not all of it could be read */
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
uint32_t tm_hlo_element_bits(uint8_t element); /* 0 = not known, or none */

#endif
