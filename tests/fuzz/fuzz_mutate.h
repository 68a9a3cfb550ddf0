/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FUZZ_MUTATE_H
#define TM_FUZZ_MUTATE_H

#include <stdbool.h>

#include "tests/fuzz/fuzz_choices.h"
#include "tests/support/mutate_json.h"
#include "tests/support/mutate_protobuf.h"

/* The mutators of a target that takes profiles or traces: included by one C file of it.  Of four inputs one is changed as
 * bytes, one is changed as bytes after it was changed as what it is, and two as what it is; what is neither a message nor
 * JSON, as bytes always. */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t most, unsigned seed);

MUTATE_UNWATCHED_BEGIN

enum fuzz_format { FUZZ_AS_BYTES, FUZZ_AS_JSON, FUZZ_AS_MESSAGE };

static inline enum fuzz_format fuzz_format_of(const uint8_t *data, size_t size)
{
    size_t at = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    while (at < size && strchr(" \t\r\n", data[at]) && data[at])
        at++;
    if (at < size && (data[at] == '{' || data[at] == '['))
        return FUZZ_AS_JSON;
    if (size < 2 || (data[0] == 0x1f && data[1] == 0x8b) || (data[0] == 0x28 && data[1] == 0xb5) ||
        memcmp(data, "PK", 2) == 0)
        return FUZZ_AS_BYTES; /* compressed */
    return (data[0] & 7) <= 5 && data[0] >= 8 && data[0] < 0x60 ? FUZZ_AS_MESSAGE : FUZZ_AS_BYTES;
}

static inline size_t fuzz_change(uint8_t *data, size_t size, size_t most, unsigned seed, mutate_bytes_fn *bytes)
{
    switch (fuzz_format_of(data, size)) {
    case FUZZ_AS_JSON:
        return mutate_json(data, size, most, seed, bytes);
    case FUZZ_AS_MESSAGE:
        return mutate_protobuf(data, size, most, seed, bytes);
    default:
        return 0;
    }
}

/* The choices stay behind the file, and now and then one of them changes.  With no room for them there are none. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    struct mutate_dice dice = { seed };
    struct fuzz_choices choices = fuzz_choices_take(data, &size);
    const size_t tail = most > 2 * FUZZ_TAIL_BYTES ? FUZZ_TAIL_BYTES : 0;
    const size_t how = mutate_below(&dice, 4), room = most - tail;
    size_t length = how && size <= room ? fuzz_change(data, size, room, seed, LLVMFuzzerMutate) : 0;

    if (how <= 1 || length == 0)
        length = LLVMFuzzerMutate(data, length ? length : size < room ? size : room, room);
    if (mutate_below(&dice, 4) == 0)
        choices.bytes[mutate_below(&dice, FUZZ_CHOICE_BYTES)] = (uint8_t)mutate_bits(&dice);
    return tail ? length + fuzz_choices_put(data + length, &choices) : length;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t most, unsigned seed)
{
    const struct fuzz_choices choices = fuzz_choices_take(a, &a_size);
    const enum fuzz_format format = fuzz_format_of(a, a_size);
    size_t room, length = 0;

    (void)fuzz_choices_take(b, &b_size);
    if (most <= 2 * FUZZ_TAIL_BYTES || format != fuzz_format_of(b, b_size) || a_size > most - FUZZ_TAIL_BYTES)
        return 0;
    room = most - FUZZ_TAIL_BYTES;
    if (format == FUZZ_AS_JSON)
        length = mutate_json_cross(a, a_size, b, b_size, out, room, seed);
    else if (format == FUZZ_AS_MESSAGE)
        length = mutate_protobuf_cross(a, a_size, b, b_size, out, room, seed);
    return length ? length + fuzz_choices_put(out + length, &choices) : 0;
}

MUTATE_UNWATCHED_END

#endif
