/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/decode_steps.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

struct bytes new_bytes(void)
{
    const struct bytes b = { .at = malloc(BYTES_MOST) };

    assert_non_null(b.at);
    return b;
}

void append(struct bytes *to, const void *from, size_t length)
{
    assert_true(length <= BYTES_MOST - to->length);
    if (length > 0)
        memcpy(to->at + to->length, from, length);
    to->length += length;
}

/* Let a decoder have a chunk, and take what comes out in pieces of `room` bytes. */
static void take_chunk(struct tm_decoder *d, const uint8_t *chunk, size_t length, size_t room, struct bytes *to)
{
    struct tm_flow flow = { .in = chunk, .in_left = length };
    /* exactly as long as it says, so that a checker sees a step past the end */
    uint8_t *const out = malloc(room);

    assert_non_null(out);
    do {
        flow.out = out;
        flow.out_left = room;
        assert_int_equal(d->type->run(d, &flow), TM_OK);
        assert_ptr_equal(flow.out, out + (room - flow.out_left));
        append(to, out, room - flow.out_left);
    } while (flow.out_left == 0);
    assert_int_equal(flow.in_left, 0);
    assert_ptr_equal(flow.in, chunk + length);
    free(out);
}

struct outcome decode_in_steps(struct tm_run *run, struct tm_decoder *decoder, const struct bytes *file, size_t step,
                               size_t room)
{
    struct outcome o = { .out = new_bytes() };

    assert_non_null(decoder);
    for (size_t at = 0; at < file->length; at += step) {
        const size_t left = file->length - at, length = left < step ? left : step;
        uint8_t *const chunk = malloc(length);

        assert_non_null(chunk);
        memcpy(chunk, file->at + at, length);
        take_chunk(decoder, chunk, length, room, &o.out);
        free(chunk);
    }
    assert_int_equal(decoder->at, file->length);
    decoder->type->finish(decoder);
    (void)snprintf(o.problem, sizeof(o.problem), "%s", decoder->problem);
    o.at = decoder->problem_at;
    o.members = decoder->members;
    o.doubtful = decoder->doubtful;
    assert_in_range(o.at, 0, file->length);
    tm_decoder_free(decoder);
    assert_ledger_is_even(run);
    assert_int_equal(run->error.status, TM_OK);
    return o;
}

void assert_same(const struct outcome *a, const struct outcome *b)
{
    assert_string_equal(a->problem, b->problem);
    assert_int_equal(a->at, b->at);
    assert_int_equal(a->members, b->members);
    assert_int_equal(a->out.length, b->out.length);
    assert_memory_equal(a->out.at, b->out.at, a->out.length);
}

void assert_came_out(struct outcome outcome, const uint8_t *text, size_t length, uint64_t members)
{
    assert_string_equal(outcome.problem, "");
    assert_int_equal(outcome.members, members);
    assert_int_equal(outcome.out.length, length);
    assert_memory_equal(outcome.out.at, text, length);
    free(outcome.out.at);
}

void assert_damaged(struct outcome outcome, const char *words, uint64_t at, size_t out_length)
{
    if (!strstr(outcome.problem, words))
        fail_msg("'%s' has no '%s'", outcome.problem, words);
    assert_int_equal(outcome.at, at);
    assert_int_equal(outcome.out.length, out_length);
    free(outcome.out.at);
}
