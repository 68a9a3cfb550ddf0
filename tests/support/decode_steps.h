/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DECODE_STEPS_H
#define TM_DECODE_STEPS_H

#include "stages/input/bytes/inflate.h"

/* Files that are put together, and what a decoder makes of them in pieces of any length. */
enum { BYTES_MOST = 1 << 20 };

/* A file, or what came out of one. */
struct bytes {
    uint8_t *at; /* room for BYTES_MOST; the caller frees it */
    size_t length;
};

struct bytes new_bytes(void);
void append(struct bytes *to, const void *from, size_t length);

struct outcome {
    struct bytes out;
    char problem[256]; /* "" = none */
    uint64_t at, members;
    bool doubtful;
};

/* Decode a file that comes in chunks of `step` bytes, into `room` bytes at a time; frees the decoder, and asserts
 * that nothing stays in the ledger. */
struct outcome decode_in_steps(struct tm_run *run, struct tm_decoder *decoder, const struct bytes *file, size_t step,
                               size_t room);

void assert_same(const struct outcome *a, const struct outcome *b);
/* All of a text came out; or some bytes, and then damage at a place.  Both free the outcome. */
void assert_came_out(struct outcome outcome, const uint8_t *text, size_t length, uint64_t members);
void assert_damaged(struct outcome outcome, const char *words, uint64_t at, size_t out_length);

#endif
