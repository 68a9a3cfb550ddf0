/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PERFETTO_WIRE_H
#define TM_PERFETTO_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Fields of a message on the wire, written by hand: what comes with each event.  Each function writes at `to`, where the
 * caller has room, and gives back where the next field goes.  A number takes TM_WIRE_MOST bytes at most with its field,
 * before a text stand TM_WIRE_HEAD at most.  Fields go up to 2047 here, so that a field's number and type take two bytes
 * at most, from 16 on just two.
 * source: https://protobuf.dev/programming-guides/encoding */
enum { TM_WIRE_FIELD = 2, TM_WIRE_MOST = TM_WIRE_FIELD + 10, TM_WIRE_HEAD = TM_WIRE_FIELD + 5 };

enum tm_wire_type { TM_WIRE_VARINT, TM_WIRE_FIXED64, TM_WIRE_BYTES };

static inline uint8_t *tm_wire_number(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

static inline uint8_t *tm_wire_field(uint8_t *to, unsigned field, enum tm_wire_type type)
{
    return tm_wire_number(to, field << 3 | (unsigned)type);
}

static inline uint8_t *tm_wire_varint(uint8_t *to, unsigned field, uint64_t value)
{
    return tm_wire_number(tm_wire_field(to, field, TM_WIRE_VARINT), value);
}

static inline uint8_t *tm_wire_fixed64(uint8_t *to, unsigned field, uint64_t value)
{
    to = tm_wire_field(to, field, TM_WIRE_FIXED64);
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> (8 * i));
    return to + 8;
}

static inline uint8_t *tm_wire_double(uint8_t *to, unsigned field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return tm_wire_fixed64(to, field, bits);
}

static inline size_t tm_wire_number_bytes(uint64_t value)
{
    return (size_t)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

static inline uint8_t *tm_wire_head(uint8_t *to, unsigned field, size_t length)
{
    return tm_wire_number(tm_wire_field(to, field, TM_WIRE_BYTES), length);
}

static inline uint8_t *tm_wire_bytes(uint8_t *to, unsigned field, const void *bytes, size_t length)
{
    to = tm_wire_head(to, field, length);
    if (length)
        memcpy(to, bytes, length);
    return to + length;
}

/* A field whose length is known when it ends: one byte is kept for the length, and what came after it moves where that
 * is not enough.
 * out: *begin  for tm_wire_end */
static inline uint8_t *tm_wire_begin(uint8_t *to, unsigned field, uint8_t **begin)
{
    *begin = tm_wire_field(to, field, TM_WIRE_BYTES) + 1;
    return *begin;
}

static inline uint8_t *tm_wire_end(uint8_t *to, uint8_t *begin)
{
    const size_t length = (size_t)(to - begin), more = tm_wire_number_bytes(length) - 1;

    if (more)
        memmove(begin + more, begin, length);
    (void)tm_wire_number(begin - 1, length);
    return to + more;
}

#endif
