/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_WIRE_H
#define TM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The protobuf wire format over bytes in memory (https://protobuf.dev/programming-guides/encoding/). */

enum tm_wire_type {
    TM_WIRE_VARINT = 0, TM_WIRE_64 = 1, TM_WIRE_LEN = 2, TM_WIRE_GROUP = 3, TM_WIRE_END = 4, TM_WIRE_32 = 5,
};

struct tm_wire {
    const uint8_t *at, *end;
};

/* One field: a number, or a view of its bytes (LEN; also 8 or 4 bytes of fixed fields). */
struct tm_field {
    uint64_t key;   /* number << 3 | type, as on the wire: one comparison tells both */
    uint64_t value;
    const uint8_t *bytes;
};

enum { TM_WIRE_TYPE_BITS = 3 };
#define TM_WIRE_KEY_MOST UINT32_MAX /* numbers have 29 bits; what is larger, the official reader refuses as well */
#define TM_WIRE_KEY(number, type) ((uint64_t)(number) << TM_WIRE_TYPE_BITS | (type))

/* A number of any length.
 * errors: false where the bytes end inside the number or it is longer than 10 bytes */
bool tm_wire_any_varint(struct tm_wire *w, uint64_t *value);

static inline uint64_t tm_wire_fixed64(const uint8_t *bytes)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof(value)); /* little-endian machines only; asserted by the build */
    return value;
}

static inline double tm_wire_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The number that stands in the lowest bytes of eight, seven bits of each; the others are zero. */
static inline uint64_t tm_wire_pack(uint64_t bytes)
{
    bytes &= UINT64_C(0x7f7f7f7f7f7f7f7f);
    bytes -= (bytes & UINT64_C(0x7f007f007f007f00)) >> 1;     /* half of it is left: 7 bits and 7 above them */
    bytes -= 3 * ((bytes & UINT64_C(0x3fff00003fff0000)) >> 2); /* a quarter: 14 and 14 */
    return (bytes >> 32 << 28) + (uint32_t)bytes;
}

/* The same as tm_wire_any_varint, which it leaves long numbers and those near the end to. */
static inline bool tm_wire_varint(struct tm_wire *w, uint64_t *value)
{
    uint64_t word, ends;

    if (w->end - w->at < 8)
        return tm_wire_any_varint(w, value);
    if (*w->at < 0x80) {
        *value = *w->at++;
        return true;
    }
    word = tm_wire_fixed64(w->at);
    ends = ~word & UINT64_C(0x8080808080808080); /* of each byte that can be a number's last one */
    if (!ends)
        return tm_wire_any_varint(w, value);
    *value = tm_wire_pack(word & (ends ^ (ends - 1)));
    w->at += __builtin_ctzll(ends) / 8 + 1;
    return true;
}

/* Any field, at any place; tm_wire_next is the same for the common ones at once. */
bool tm_wire_any(struct tm_wire *w, struct tm_field *field);

/* Read the next field; a group is one field without a value.
 * out:    true with *field, or false at the end and on damage; w->at == w->end tells the end, on damage it stays at
 *         the field */
static inline bool tm_wire_next(struct tm_wire *w, struct tm_field *field)
{
    struct tm_wire next = *w;

    if (next.at < next.end && *next.at >= TM_WIRE_KEY(1, 0) && *next.at < 0x80) {
        const unsigned type = *next.at & 7;

        field->key = *next.at++;
        field->bytes = next.at;
        if ((type == TM_WIRE_VARINT || type == TM_WIRE_LEN) && tm_wire_varint(&next, &field->value)) {
            const uint64_t length = type == TM_WIRE_LEN ? field->value : 0;

            if (length <= (uint64_t)(next.end - next.at)) {
                field->bytes = next.at;
                w->at = next.at + length;
                return true;
            }
        }
    }
    return tm_wire_any(w, field);
}

#endif
