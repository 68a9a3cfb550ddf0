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
#define TM_WIRE_KEY(number, type) ((uint64_t)(number) << TM_WIRE_TYPE_BITS | (type))

/* errors: false where the bytes end inside the number or it is longer than 10 bytes */
static inline bool tm_wire_varint(struct tm_wire *w, uint64_t *value)
{
    uint64_t got = 0;
    const uint8_t *at = w->at;

    if (at < w->end && *at < 0x80) {
        *value = *at;
        w->at = at + 1;
        return true;
    }
    for (unsigned shift = 0; shift < 70 && at < w->end; shift += 7) {
        const uint8_t byte = *at++;

        if (shift < 64)
            got |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = got;
            w->at = at;
            return true;
        }
    }
    return false;
}

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
