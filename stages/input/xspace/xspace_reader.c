/* SPDX-License-Identifier: Apache-2.0 */
/* A moving window on an input: one buffer, read forwards.  See xspace_reader.h. */
#include "stages/input/xspace/xspace_reader.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <protobuf-c/protobuf-c.h>

#include "pipeline/run.h"
#include "stages/input/bytes/input_file.h"

#define TM_WIRE_KEY_MOST UINT32_MAX /* numbers have 29 bits; what is larger, the official reader refuses as well */

/* Rare cases of the wire format: long numbers and keys, numbers of fixed size, damage, and groups, which no message
 * that we read has: those are stepped over as one field, however deep they nest. */

bool tm_wire_any_varint(struct tm_wire *w, uint64_t *value)
{
    uint64_t got = 0;
    const uint8_t *at = w->at;

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

/* Step over what is left of a group after its first key, up to its end.
 * errors: false if it does not end, or not as the group of this number */
static bool skip_group(struct tm_wire *w, uint32_t number)
{
    uint64_t depth = 1, key, value;

    while (tm_wire_varint(w, &key) && key <= TM_WIRE_KEY_MOST && key >> 3) {
        const size_t left = (size_t)(w->end - w->at);

        switch (key & 7) {
        case TM_WIRE_VARINT:
            if (!tm_wire_varint(w, &value))
                return false;
            break;
        case TM_WIRE_LEN:
            if (!tm_wire_varint(w, &value) || value > (uint64_t)(w->end - w->at))
                return false;
            w->at += value;
            break;
        case TM_WIRE_64:
        case TM_WIRE_32:
            if (left < ((key & 7) == TM_WIRE_64 ? 8 : 4))
                return false;
            w->at += (key & 7) == TM_WIRE_64 ? 8 : 4;
            break;
        case TM_WIRE_GROUP:
            depth++;
            break;
        case TM_WIRE_END:
            if (!--depth)
                return key >> 3 == number;
            break;
        default:
            return false;
        }
    }
    return false;
}

static bool take_value(struct tm_wire *w, struct tm_field *field)
{
    const size_t left = (size_t)(w->end - w->at), size = (field->key & 7) == TM_WIRE_64 ? 8 : 4;

    field->bytes = w->at;
    field->value = 0;
    switch (field->key & 7) {
    case TM_WIRE_VARINT:
        return tm_wire_varint(w, &field->value);
    case TM_WIRE_LEN:
        if (!tm_wire_varint(w, &field->value) || field->value > (uint64_t)(w->end - w->at))
            return false;
        field->bytes = w->at;
        w->at += field->value;
        return true;
    case TM_WIRE_64:
    case TM_WIRE_32:
        if (left < size)
            return false;
        memcpy(&field->value, w->at, size);
        w->at += size;
        return true;
    case TM_WIRE_GROUP:
        return skip_group(w, (uint32_t)(field->key >> TM_WIRE_TYPE_BITS));
    default:
        return false;
    }
}

bool tm_wire_any(struct tm_wire *w, struct tm_field *field)
{
    const uint8_t *const first = w->at;

    if (w->at == w->end)
        return false;
    if (tm_wire_varint(w, &field->key) && field->key <= TM_WIRE_KEY_MOST && field->key >= TM_WIRE_KEY(1, 0) &&
        take_value(w, field))
        return true;
    w->at = first;
    return false;
}

enum {
    LONGEST_HEAD = 20,     /* a key and a number, ten bytes each */
    SHORT_LEAP = 4096,     /* of a skip past the buffer: what was skipped is read, too, so that all is read in order */
    FIRST_READ = 16 << 10, /* at a new place: the window may only look at it, and leave */
};

void tm_reader_init(struct tm_reader *w, const struct tm_input *input, uint8_t *buffer, size_t buffer_bytes,
                    uint64_t offset, uint64_t end)
{
    *w = (struct tm_reader){ .input = input,
                             .buffer = buffer,
                             .buffer_bytes = buffer_bytes,
                             .base = offset,
                             .end = end < input->bytes ? end : input->bytes,
                             .is_at_new_place = true };
    if (w->base > w->end)
        w->base = w->end;
    w->read_to = w->base;
}

void tm_reader_inside(struct tm_reader *w, struct tm_reader *outer, uint64_t length, uint8_t *buffer,
                      size_t buffer_bytes)
{
    const uint64_t offset = tm_reader_offset(outer);
    struct tm_wire view;

    tm_reader_init(w, outer->input, buffer, buffer_bytes, offset, offset + length);
    if (length > outer->buffer_bytes)
        return;
    view = tm_reader_peek(outer, (size_t)length);
    if ((uint64_t)(view.end - view.at) < length)
        return;
    w->buffer = outer->buffer + outer->used;
    w->buffer_bytes = outer->buffer_bytes - outer->used;
    w->have = (size_t)length;
    w->read_to = w->end;
}

/* How far before its place an empty window continues to read; any other window continues at its end. */
static size_t leap_of(const struct tm_reader *w, size_t bytes)
{
    const uint64_t leap = w->base - w->read_to; /* huge if it is not empty */

    return leap <= SHORT_LEAP && leap + bytes <= w->buffer_bytes ? (size_t)leap : 0;
}

void tm_reader_fill(struct tm_reader *w, size_t bytes)
{
    const size_t left = w->have - w->used, most = bytes > FIRST_READ ? bytes : FIRST_READ;
    uint64_t at, want;
    size_t got = 0, leap;

    if (w->base + w->have == w->end) /* there is no more */
        return;
    assert(bytes <= w->buffer_bytes);
    if (left && w->used)
        memmove(w->buffer, w->buffer + w->used, left);
    w->base += w->used;
    leap = leap_of(w, bytes);
    w->base -= leap;
    w->used = leap;
    w->have = left;
    at = w->base + left;
    want = w->end - at;
    if (want > w->buffer_bytes - left)
        want = w->buffer_bytes - left;
    if (w->is_at_new_place && !left && !leap && want > most)
        want = most;
    w->is_at_new_place = false;
    if (tm_failed(w->input->run) || tm_input_read(w->input, w->buffer + left, (size_t)want, at, &got) != TM_OK)
        w->end = w->base + w->have + got;
    w->have += got;
    if (w->used > w->have)
        w->used = w->have;
    w->read_to = w->base + w->have;
}

void tm_reader_skip(struct tm_reader *w, uint64_t bytes)
{
    if (bytes <= w->have - w->used) {
        w->used += (size_t)bytes;
        return;
    }
    bytes -= w->have - w->used;
    w->base += w->have;
    w->have = w->used = 0;
    w->base = bytes > w->end - w->base ? w->end : w->base + bytes;
    w->is_at_new_place |= bytes > 0;
}

void tm_reader_return(struct tm_reader *w, uint64_t offset)
{
    if (offset >= w->base) {
        w->used = (size_t)(offset - w->base);
        return;
    }
    w->base = offset;
    w->have = w->used = 0;
    w->is_at_new_place = true;
}

/* A head unchanged: of a group, the first or last key alone. */
static bool read_head(struct tm_reader *w, struct tm_head *head, bool *damaged)
{
    struct tm_wire view = tm_reader_peek(w, LONGEST_HEAD);
    const uint8_t *const first = view.at;
    uint64_t key = 0;

    *damaged = false;
    *head = (struct tm_head){ .type = TM_WIRE_END, .offset = tm_reader_offset(w) };
    if (view.at == view.end)
        return false;
    *damaged = !tm_wire_varint(&view, &key) || key > TM_WIRE_KEY_MOST || !(key >> 3);
    if (*damaged)
        return true;
    head->number = (uint32_t)(key >> 3);
    head->type = (uint32_t)(key & 7);
    head->value = 0;
    switch (head->type) {
    case TM_WIRE_VARINT:
    case TM_WIRE_LEN:
        *damaged = !tm_wire_varint(&view, &head->value);
        break;
    case TM_WIRE_64:
    case TM_WIRE_32: {
        const size_t size = head->type == TM_WIRE_64 ? 8 : 4;

        *damaged = (size_t)(view.end - view.at) < size;
        if (!*damaged) {
            memcpy(&head->value, view.at, size);
            view.at += size;
        }
        break;
    }
    case TM_WIRE_GROUP:
    case TM_WIRE_END:
        break;
    default:
        *damaged = true;
    }
    if (*damaged)
        return true;
    tm_reader_skip(w, (uint64_t)(view.at - first));
    *damaged = head->type == TM_WIRE_LEN && head->value > w->end - tm_reader_offset(w);
    return true;
}

/* Step over what is left of a group after its first key; groups in it are counted, not entered. */
static void skip_streamed_group(struct tm_reader *w, uint32_t number, bool *damaged)
{
    uint64_t depth = 1;

    while (depth) {
        struct tm_head head;

        if (!read_head(w, &head, damaged))
            *damaged = true;
        if (*damaged)
            return;
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(w, head.value);
        else if (head.type == TM_WIRE_GROUP)
            depth++;
        else if (head.type == TM_WIRE_END)
            *damaged = !--depth && head.number != number;
    }
}

bool tm_reader_head(struct tm_reader *w, struct tm_head *head, bool *damaged)
{
    const bool more = read_head(w, head, damaged);

    if (!more || *damaged)
        return more;
    if (head->type == TM_WIRE_GROUP)
        skip_streamed_group(w, head->number, damaged);
    else
        *damaged = head->type == TM_WIRE_END; /* of no group */
    return true;
}

static void *allocate(void *of, size_t bytes)
{
    struct tm_unpacking *const unpacking = of;
    void *const block = malloc(bytes);

    unpacking->memory_ended |= !block;
    return block;
}

static void release(void *of, void *block)
{
    (void)of;
    free(block);
}

ProtobufCAllocator *tm_unpacking_begin(struct tm_unpacking *unpacking)
{
    *unpacking = (struct tm_unpacking){
        .allocator = { .alloc = allocate, .free = release, .allocator_data = unpacking },
    };
    return &unpacking->allocator;
}

void tm_unpacking_refused(const struct tm_unpacking *unpacking, struct tm_run *run)
{
    if (unpacking->memory_ended)
        (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "out of memory for a message of the profile");
    else
        tm_tally_add(&run->tallies, TM_TALLY_BAD_FIELD, 1);
}
