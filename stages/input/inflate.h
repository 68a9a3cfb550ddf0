/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_INFLATE_H
#define TM_INFLATE_H

#include <stdbool.h>

#include "pipeline/run.h"

/* Inflate of gzip as a stream: bytes in, bytes out, any chunk boundary.  Several members follow one another;
 * zero bytes after the last one are padding.  Both engines give the same bytes; where the compressed data
 * themselves are damaged or end too early, the fast one may stop a few symbols sooner or later than zlib.
 * Whoever must have the same result everywhere reads a damaged file again with zlib, as tm_input_open does. */
enum tm_inflate_engine {
    TM_INFLATE_DEFAULT, /* ISA-L where it was built in, else zlib */
    TM_INFLATE_ZLIB,
    TM_INFLATE_ISAL,
};

/* Takes inflated bytes; they are borrowed until it returns.  A status that is not TM_OK ends the inflating. */
typedef tm_status tm_inflate_sink(void *to, const uint8_t *bytes, size_t length);

struct tm_inflate; /* 0.5 MiB, of the account `input` */

bool tm_inflate_has(enum tm_inflate_engine engine);

/* in:     engine  one that was built in
 * errors: NULL, with the error in run->error */
struct tm_inflate *tm_inflate_new(struct tm_run *run, enum tm_inflate_engine engine, tm_inflate_sink *sink,
                                  void *to) TM_MUST_USE;
void tm_inflate_free(struct tm_inflate *inflate);

/* Feed the next bytes of the file.  Where the structure is lost, further bytes are ignored; a member whose check
 * fails is given out as it is, and the next one is read. After each call all that could be inflated from the
 * bytes so far has gone to the sink.
 * errors: whatever the sink returns; damage is no error, see tm_inflate_problem */
tm_status tm_inflate_take(struct tm_inflate *inflate, const uint8_t *bytes, size_t length) TM_MUST_USE;

/* The file has ended.  A member that is not complete becomes a problem. */
tm_status tm_inflate_finish(struct tm_inflate *inflate) TM_MUST_USE;

/* What is wrong with the data (the first thing), or NULL.
 * out: *at  byte of the compressed file: of its end where it is cut short, of the member's trailer where a check
 *           fails, near the damage elsewhere */
const char *tm_inflate_problem(const struct tm_inflate *inflate, uint64_t *at);

uint64_t tm_inflate_members(const struct tm_inflate *inflate); /* complete ones */
uint64_t tm_inflate_bytes(const struct tm_inflate *inflate);   /* given to the sink */

#endif
