/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PERFETTO_WIRE_H
#define TM_PERFETTO_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Fields of a message on the wire, written by hand: what comes with each event.  Each function writes at `to`, where the
 * caller has room, and gives back where the next field goes.  A number takes TM_PB_MOST bytes at most with its field,
 * before a text stand TM_PB_HEAD at most.  Fields go up to 2047 here, so that a field's number and type take two bytes
 * at most, from 16 on just two.
 * source: https://protobuf.dev/programming-guides/encoding */
enum { TM_PB_FIELD = 2, TM_PB_MOST = TM_PB_FIELD + 10, TM_PB_HEAD = TM_PB_FIELD + 5 };

enum tm_pb_type { TM_PB_VARINT, TM_PB_FIXED64, TM_PB_BYTES };

static inline uint8_t *tm_pb_number(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

static inline uint8_t *tm_pb_field(uint8_t *to, unsigned field, enum tm_pb_type type)
{
    return tm_pb_number(to, field << 3 | (unsigned)type);
}

static inline uint8_t *tm_pb_varint(uint8_t *to, unsigned field, uint64_t value)
{
    return tm_pb_number(tm_pb_field(to, field, TM_PB_VARINT), value);
}

static inline uint8_t *tm_pb_fixed64(uint8_t *to, unsigned field, uint64_t value)
{
    to = tm_pb_field(to, field, TM_PB_FIXED64);
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> (8 * i));
    return to + 8;
}

static inline uint8_t *tm_pb_double(uint8_t *to, unsigned field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return tm_pb_fixed64(to, field, bits);
}

static inline size_t tm_pb_number_bytes(uint64_t value)
{
    return (size_t)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

static inline uint8_t *tm_pb_head(uint8_t *to, unsigned field, size_t length)
{
    return tm_pb_number(tm_pb_field(to, field, TM_PB_BYTES), length);
}

static inline uint8_t *tm_pb_bytes(uint8_t *to, unsigned field, const void *bytes, size_t length)
{
    to = tm_pb_head(to, field, length);
    if (length)
        memcpy(to, bytes, length);
    return to + length;
}

/* A field whose length is known when it ends: one byte is kept for the length, and what came after it moves where that
 * is not enough.
 * out: *begin  for tm_pb_end */
static inline uint8_t *tm_pb_begin(uint8_t *to, unsigned field, uint8_t **begin)
{
    *begin = tm_pb_field(to, field, TM_PB_BYTES) + 1;
    return *begin;
}

static inline uint8_t *tm_pb_end(uint8_t *to, uint8_t *begin)
{
    const size_t length = (size_t)(to - begin), more = tm_pb_number_bytes(length) - 1;

    if (more)
        memmove(begin + more, begin, length);
    (void)tm_pb_number(begin - 1, length);
    return to + more;
}

#endif
