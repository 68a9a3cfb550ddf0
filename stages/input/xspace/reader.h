/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_READER_H
#define TM_READER_H

#include "stages/input/bytes/input_file.h"
#include "stages/input/xspace/wire.h"

/* A moving window on part of an input: the bytes [offset, end) are read in order through one buffer. */
struct tm_reader {
    const struct tm_input *input;
    uint8_t *buffer;
    size_t buffer_bytes, have; /* have: valid bytes in the buffer */
    size_t used;               /* of them, already consumed */
    uint64_t base;             /* offset in the input of buffer[0] */
    uint64_t end;              /* offset in the input where the part ends */
    uint64_t read_to;          /* offset in the input up to which it was read */
};

/* owns: the buffer stays the caller's; at least 20 bytes, the longest head */
void tm_reader_init(struct tm_reader *w, const struct tm_input *input, uint8_t *buffer, size_t buffer_bytes,
                    uint64_t offset, uint64_t end);

/* A window on the next `length` bytes of another one, which stays where it is and is not used meanwhile.  They are seen
 * in its buffer if all of them fit there, else they are read through the buffer that is given. */
tm_status tm_reader_inside(struct tm_reader *w, struct tm_reader *outer, uint64_t length, uint8_t *buffer,
                           size_t buffer_bytes) TM_MUST_USE;

/* The part ends earlier.  in: end  not before the window's place, not behind the end that there was */
static inline void tm_reader_end_at(struct tm_reader *w, uint64_t end)
{
    w->end = end;
    if (w->have > end - w->base)
        w->have = (size_t)(end - w->base);
}

/* Where the next byte lies in the input. */
static inline uint64_t tm_reader_offset(const struct tm_reader *w)
{
    return w->base + w->used;
}

/* Refill so that at least `bytes` can be seen, or all that is left. */
tm_status tm_reader_fill(struct tm_reader *w, size_t bytes) TM_MUST_USE;

/* Look at the next bytes: *view is valid until the next call; its length is min(bytes, what is left).
 * in: bytes  at most the size of the buffer */
static inline tm_status tm_reader_peek(struct tm_reader *w, size_t bytes, struct tm_wire *view)
{
    if (w->have - w->used < bytes) {
        const tm_status st = tm_reader_fill(w, bytes);

        if (st != TM_OK)
            return st;
    }
    view->at = w->buffer + w->used;
    view->end = view->at + (w->have - w->used < bytes ? w->have - w->used : bytes);
    return TM_OK;
}

/* Go on, also past what the buffer holds. */
void tm_reader_skip(struct tm_reader *w, uint64_t bytes);

/* Go back to a place between the begin of the part and where the window is. */
void tm_reader_return(struct tm_reader *w, uint64_t offset);

enum { TM_READER_SLACK = 8 }; /* bytes that can be read behind those that tm_reader_take gives */

/* Take the bytes of the next field and step over them, where its key is this one byte, it is a LEN shorter than 16 KiB
 * and all of it lies in the buffer, with some more behind it: the common case, at once.
 * out:    *bytes  valid until the next call.  false: nothing was done, tm_reader_head tells what is there */
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

/* Read a field's head and step over it (numbers and groups wholly; LEN up to its bytes, which lie at the place of
 * the window then).
 * out: *more false at the end of the part.  *damaged true where the bytes are no field, or a LEN runs past
 *      the end of the part (head is filled in that case: what is there can still be read) */
tm_status tm_reader_head(struct tm_reader *w, struct tm_head *head, bool *more, bool *damaged) TM_MUST_USE;

#endif
