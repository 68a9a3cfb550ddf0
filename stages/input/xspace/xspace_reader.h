/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_READER_H
#define TM_XSPACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <protobuf-c/protobuf-c.h>

#include "pipeline/run.h"
#include "stages/input/bytes/input_file.h"

/* The protobuf wire format over bytes in memory (https://protobuf.dev/programming-guides/encoding/). */

enum tm_wire_type {
    TM_WIRE_VARINT = 0,
    TM_WIRE_64 = 1,
    TM_WIRE_LEN = 2,
    TM_WIRE_GROUP = 3,
    TM_WIRE_END = 4,
    TM_WIRE_32 = 5,
};

struct tm_wire {
    const uint8_t *at, *end;
};

/* One field: a number, or a view of its bytes (LEN; also 8 or 4 bytes of fixed fields). */
struct tm_field {
    uint64_t key; /* number << 3 | type, as on the wire: one comparison covers both */
    uint64_t value;
    const uint8_t *bytes;
};

enum { TM_WIRE_TYPE_BITS = 3 };

#define TM_WIRE_KEY(number, type) ((uint64_t)(number) << TM_WIRE_TYPE_BITS | (type))

/* A number of any length.
 * errors: false if the bytes end inside the number or it is longer than 10 bytes */
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

/* The number that is in the lowest bytes of eight, seven bits of each; the others are zero. */
static inline uint64_t tm_wire_pack(uint64_t bytes)
{
    bytes &= UINT64_C(0x7f7f7f7f7f7f7f7f);
    bytes -= (bytes & UINT64_C(0x7f007f007f007f00)) >> 1;       /* half of it is left: 7 bits and 7 above them */
    bytes -= 3 * ((bytes & UINT64_C(0x3fff00003fff0000)) >> 2); /* a quarter: 14 and 14 */
    return (bytes >> 32 << 28) + (uint32_t)bytes;
}

typedef uint64_t tm_wire_packing(uint64_t bytes); /* tm_wire_pack, or what does the same */

/* A number of at most 8 bytes.
 * in:     8 bytes can be read from `at` on
 * out:    what follows it; NULL if it is longer */
TM_INLINE const uint8_t *tm_wire_number(const uint8_t *at, uint64_t *value, tm_wire_packing *pack)
{
    const uint64_t word = tm_wire_fixed64(at);
    const uint64_t ends = ~word & UINT64_C(0x8080808080808080); /* of each byte that can be a number's last one */

    if (ends & 0x80) {
        *value = word & 0x7f;
        return at + 1;
    }
    if (!ends)
        return NULL;
    *value = pack(word & (ends ^ (ends - 1)));
    return at + (__builtin_ctzll(ends) >> 3) + 1;
}

/* The same as tm_wire_any_varint, to which it leaves long numbers and those near the end. */
static inline bool tm_wire_varint(struct tm_wire *w, uint64_t *value)
{
    const uint8_t *const behind = w->end - w->at < 8 ? NULL : tm_wire_number(w->at, value, tm_wire_pack);

    if (!behind)
        return tm_wire_any_varint(w, value);
    w->at = behind;
    return true;
}

/* Any field, at any place; tm_wire_next is the same for the common ones at once. */
bool tm_wire_any(struct tm_wire *w, struct tm_field *field);

/* Read the next field; a group is one field without a value.
 * out:    true with *field, or false at the end and on damage; at the end w->at == w->end, on damage it stays at the
 *         field */
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

/* The bytes of a LEN field, such as a message or packed numbers; none of a field of another type, whose value is no
 * length. */
static inline struct tm_wire tm_wire_of(const struct tm_field *field)
{
    if ((field->key & 7) != TM_WIRE_LEN)
        return (struct tm_wire){ .at = NULL };
    return (struct tm_wire){ field->bytes, field->bytes + field->value };
}

/* A moving window on part of an input: the bytes [offset, end) are read in order through one buffer. */
struct tm_reader {
    const struct tm_input *input;
    uint8_t *buffer;
    size_t buffer_bytes, have; /* have: valid bytes in the buffer */
    size_t used;               /* of them, already consumed */
    uint64_t base;             /* offset in the input of buffer[0] */
    uint64_t end;              /* offset in the input where the part ends */
    uint64_t read_to;          /* offset in the input up to which it was read */
    bool is_at_new_place;      /* nothing was read there yet */
};

/* owns: the buffer stays the caller's; at least 20 bytes, the longest head */
void tm_reader_init(struct tm_reader *w, const struct tm_input *input, uint8_t *buffer, size_t buffer_bytes,
                    uint64_t offset, uint64_t end);

/* A window on the next `length` bytes of another one, which stays in place and must not be used meanwhile.  The bytes
 * are accessed in its buffer if all of them fit there, else they are read through the given buffer. */
void tm_reader_inside(struct tm_reader *w, struct tm_reader *outer, uint64_t length, uint8_t *buffer,
                      size_t buffer_bytes);

/* The part ends earlier. in: end  not before the window's position, not after the previous end */
static inline void tm_reader_end_at(struct tm_reader *w, uint64_t end)
{
    w->end = end;
    if (w->have > end - w->base)
        w->have = (size_t)(end - w->base);
}

/* Where the next byte is in the input. */
static inline uint64_t tm_reader_offset(const struct tm_reader *w)
{
    return w->base + w->used;
}

/* Refill so that at least `bytes` are accessible, or all remaining ones.  A failure is recorded in run->error, and the
 * part ends with the data read before it. */
void tm_reader_fill(struct tm_reader *w, size_t bytes);

/* Look at the next bytes: valid until the next call; their length is min(bytes, what is left).
 * in: bytes  at most the size of the buffer */
static inline struct tm_wire tm_reader_peek(struct tm_reader *w, size_t bytes)
{
    const uint8_t *at;

    if (w->have - w->used < bytes)
        tm_reader_fill(w, bytes);
    at = w->buffer + w->used;
    return (struct tm_wire){ at, at + (w->have - w->used < bytes ? w->have - w->used : bytes) };
}

/* Advance, also beyond the end of the buffer. */
void tm_reader_skip(struct tm_reader *w, uint64_t bytes);

/* Go back to a place between the start of the part and where the window is. */
void tm_reader_return(struct tm_reader *w, uint64_t offset);

enum { TM_READER_SLACK = 8 }; /* bytes that can be read after those that tm_reader_take gives */

/* Read and skip the bytes of the next field if its key is this single byte, it is a LEN shorter than 16 KiB, and all of
 * it is in the buffer, with some slack after it: the common, fast case.
 * out:    *bytes  valid until the next call. false: nothing was done; use tm_reader_head */
static inline bool tm_reader_take(struct tm_reader *w, uint8_t key, struct tm_wire *bytes)
{
    const uint8_t *const at = w->buffer + w->used;
    const size_t left = w->have - w->used;
    size_t length, head = 2;

    if (left < 3 || at[0] != key)
        return false;
    length = at[1];
    if (length >= 0x80) {
        if (at[2] >= 0x80)
            return false;
        length = (length & 0x7f) | (size_t)at[2] << 7;
        head = 3;
    }
    if (left < head + length + TM_READER_SLACK)
        return false;
    *bytes = (struct tm_wire){ at + head, at + head + length };
    w->used += head + length;
    return true;
}

/* The head of a field at the place of the window. */
struct tm_head {
    uint32_t number, type;
    uint64_t value;  /* of a number; the length of LEN */
    uint64_t offset; /* of the field's first byte */
};

/* Read a field's head and skip it (numbers and groups completely; LEN up to its bytes, to which the window then
 * points).
 * out:    false at the end of the part. *damaged true if the bytes are not a field, or a LEN extends beyond the end of
 *         the part (head is then filled: the available bytes can still be read) */
bool tm_reader_head(struct tm_reader *w, struct tm_head *head, bool *damaged) TM_MUST_USE;

/* protobuf-c reports a damaged message and exhausted memory alike: its allocator knows which it
 * was.
 *     message = ..._unpack(tm_unpacking_begin(&unpacking), ...);
 *     if (!message)
 *         return tm_unpacking_refused(&unpacking, run);
 * A message may be freed without it. */
struct tm_unpacking {
    ProtobufCAllocator allocator;
    bool memory_ended;
};

ProtobufCAllocator *tm_unpacking_begin(struct tm_unpacking *unpacking);

/* What a message that was not unpacked means: counted as a bad field, or TM_ERR_LIMIT. */
void tm_unpacking_refused(const struct tm_unpacking *unpacking, struct tm_run *run);

#endif
