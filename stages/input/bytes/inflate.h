/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_INFLATE_H
#define TM_INFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline/run.h"

/* Buffers of a decoder: it advances `in` and `out` by what it consumed and produced. */
struct tm_flow {
    const uint8_t *in;
    size_t in_left;
    uint8_t *out;
    size_t out_left;
};

struct tm_decoder;

struct tm_decoder_type {
    const char *wrapping; /* for messages: "gzip" */
    /* Decode until `in` is used up or `out` is full, whichever is first; after `in` is used up and `out` is not
     * full, nothing is left inside.  Once the structure is lost, further bytes are consumed and ignored.
     * errors: TM_ERR_LIMIT; damage is not an error, see problem */
    tm_status (*run)(struct tm_decoder *decoder, struct tm_flow *flow);
    /* The file has ended: a member that is not complete becomes a problem. */
    void (*finish)(struct tm_decoder *decoder);
    void (*free)(struct tm_decoder *decoder);
};

/* Something that unwraps one compressed file, any chunk boundary on both sides. */
struct tm_decoder {
    const struct tm_decoder_type *type;
    struct tm_run *run;
    uint64_t at;         /* bytes of the file taken so far */
    uint64_t members;    /* complete ones: members of a gzip, frames of a zstd */
    char problem[256];   /* what is wrong with the data, the first thing; "" = nothing */
    uint64_t problem_at; /* byte of the file: of its end if it is truncated, of the check where one fails, near
                            the damage elsewhere */
    bool doubtful;       /* the result depends on an engine that may differ from zlib */
};

/* Record a problem; the first one is reported. */
void tm_decoder_note(struct tm_decoder *decoder, uint64_t at, const char *format, ...) TM_PRINTF(3, 4);

/* The number of the member that is being read, from 1. */
unsigned long long tm_decoder_member(const struct tm_decoder *decoder);

/* Consume the rest of `in` without examining it. */
void tm_decoder_skip(struct tm_decoder *decoder, struct tm_flow *flow);

static inline void tm_decoder_free(struct tm_decoder *decoder) /* tolerates NULL */
{
    if (decoder)
        decoder->type->free(decoder);
}

/* Inflate gzip.  Multiple members may follow one another; zero bytes after the last one are padding.  A member whose
 * checksum fails is returned unchanged, and the next one is read.  Both engines give the same bytes for valid data.  If
 * the data of a member is damaged or ends too early, the fast engine may stop a few symbols earlier or later than zlib,
 * and sets `doubtful`; it also does so for a member without data, which has no meaningful checksum.  For identical
 * results everywhere, read such a file with zlib. */
enum tm_inflate_engine {
    TM_INFLATE_DEFAULT, /* ISA-L where it was built in, else zlib */
    TM_INFLATE_ZLIB,
    TM_INFLATE_ISAL,
};

bool tm_inflate_has(enum tm_inflate_engine engine);

/* A decoder of 0.2 MiB, of the account `input`.
 * in:     engine  one that was built in
 * errors: NULL, with the error in run->error */
struct tm_decoder *tm_inflate_new(struct tm_run *run, enum tm_inflate_engine engine) TM_MUST_USE;

/* Inflate one zlib stream, also one in a gzip wrapper.  Data after its end is skipped, and is a problem.  Memory and
 * errors as in tm_inflate_new. */
struct tm_decoder *tm_unzlib_new(struct tm_run *run) TM_MUST_USE;

/* The largest window that a frame may request under a ledger: 1 MiB times a power of two, at most two thirds of the
 * share of the account `input`: 2 MiB (which `zstd` writes) with the minimum memory, 16 MiB with 256. */
uint64_t tm_unzstd_window_most(const struct tm_budget *budget);

/* What the first frame requests; 0 = it does not start here. */
uint64_t tm_unzstd_window(const uint8_t *first, size_t length);

/* A decoder of zstd: several frames, including skippable ones.  A frame whose check fails is returned as it
 * is, and the next one is read.  The memory of libzstd is charged to the account `input`: 0.5 MiB and the window of
 * the frame.
 * errors: NULL, with the error in run->error.  Its run: TM_ERR_LIMIT if a frame needs a larger window */
struct tm_decoder *tm_unzstd_new(struct tm_run *run) TM_MUST_USE;

/* The CRC-32 of a gzip's data, continued: 0 before the first byte.  All of them give the same numbers.
 * source: RFC 1952, section 8 */
typedef uint32_t tm_crc32(uint32_t crc, const uint8_t *bytes, size_t length);

/* The fastest one that this processor has: 24 bytes per nanosecond where it folds 32 bytes by one instruction, which is
 * twice what ISA-L's code for 16 bytes does, and a twelfth of the time of `inspect` from JSON. */
tm_crc32 *tm_crc32_best(void);

#endif
