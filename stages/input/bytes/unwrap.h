/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_UNWRAP_H
#define TM_UNWRAP_H

#include <stdbool.h>

#include "pipeline/run.h"
#include "stages/input/bytes/input_file.h"

/* The bytes of an input as they are on disk, in order, and their fingerprint.  Their source is a type: a file, a
 * stream, or a member of an archive (input_file.c). */
struct tm_raw_bytes;

struct tm_raw_type {
    /* The next bytes.
     * out: got fewer than requested only at the end, 0 after it
     * errors: TM_ERR_INPUT */
    tm_status (*read)(struct tm_raw_bytes *raw, uint8_t *to, size_t bytes, size_t *got);
    /* Make the next read start at the first byte again.  NULL = the bytes come only once.  errors: TM_ERR_INPUT */
    tm_status (*restart)(struct tm_raw_bytes *raw);
    /* A problem of the source, known at its end; NULL = none.  The pointer itself may be NULL: never a problem. */
    const char *(*problem)(const struct tm_raw_bytes *raw);
    /* Free the resources of `own`.  NULL = none. */
    void (*close)(struct tm_raw_bytes *raw);
};

enum { TM_RAW_BLOCK_BYTES = 256 * 1024 }; /* a good length of one read */

/* Filled by the code that opens it, from type to size; then tm_raw_open. */
struct tm_raw_bytes {
    const struct tm_raw_type *type;
    struct tm_run *run;
    const char *name; /* for messages; borrowed */
    int fd;           /* borrowed */
    void *own;        /* of the type, NULL = nothing */
    uint64_t size;    /* when it was opened; only of sources that know their length in advance: 0 = not known */
    uint64_t at;      /* bytes read since the start */
    uint64_t seen;    /* bytes read at all, those after a restart once: these are in the fingerprint */
    struct tm_fingerprint *fingerprint;
};

extern const struct tm_raw_type tm_raw_file;   /* a regular file: size is known, and more is not read */
extern const struct tm_raw_type tm_raw_stream; /* a pipe */

/* Read a file's raw bytes at a position, for random access.
 * out:    got     short only at the end of the file
 * errors: TM_ERR_INPUT */
tm_status tm_raw_read_at(struct tm_run *run, const char *name, int fd, void *to, size_t bytes, uint64_t at,
                         size_t *got) TM_MUST_USE;

/* The content of an input as a stream: raw bytes, unwrapped directly into the caller's buffer.  Its memory, in the
 * account `input`: 320 KiB for the current block and the head that determines the kind, and the decoder.
 *
 * Damage in a gzip: the fast engine may stop at another position in damaged data than zlib does, but the result must
 * not depend on the engine.  If that engine finds damage, the output of the current call is therefore dropped, the file
 * is read again from its start with zlib, the part returned earlier is skipped, and reading continues from there. */
struct tm_unwrap;

/* Detect the wrapping from the first bytes, and unwrap the head.
 * in:     raw        as filled for tm_raw_open
 *         engine     TM_INFLATE_DEFAULT: the fastest, but zlib where the bytes come only once
 *         read_most  bytes that one tm_unwrap_next returns at most; 0 = no limit
 * owns:   raw, from now on, also after a failure
 * errors: NULL, with the error in run->error */
struct tm_unwrap *tm_unwrap_new(const struct tm_raw_bytes *raw, enum tm_inflate_engine engine,
                                size_t read_most) TM_MUST_USE;
void tm_unwrap_free(struct tm_unwrap *stream); /* tolerates NULL */

enum tm_wrapping tm_unwrap_wrapping(const struct tm_unwrap *stream);
bool tm_unwrap_is_file(const struct tm_unwrap *stream); /* the content is a regular file as it is on disk */

/* The first bytes of the content: TM_KIND_HEAD_BYTES, fewer only if the content is shorter; 0 = no content. */
const uint8_t *tm_unwrap_head(const struct tm_unwrap *stream, size_t *length);

/* The next bytes of the content, from its first.
 * out:    got     as many as fit, 0 at the end
 * errors: as tm_raw_read; TM_ERR_LIMIT if the decoder gets no memory, or a zstd needs too large a window */
tm_status tm_unwrap_next(struct tm_unwrap *stream, void *to, size_t bytes, size_t *got) TM_MUST_USE;

/* The next bytes where a thread has unwrapped them, see tm_ahead_lend: until the one after the next of these calls, or
 * tm_unwrap_return, which comes before tm_unwrap_next.  Nothing fails here.
 * returned: how many; 0: tm_unwrap_next has what follows */
size_t tm_unwrap_lend(struct tm_unwrap *stream, uint8_t **at);
void tm_unwrap_return(struct tm_unwrap *stream); /* the older of two, or the only one; none is fine */

/* The bytes of a file (tm_unwrap_is_file) may also be read at their positions instead of as a stream: who does so notes
 * them in its fingerprint, which the stream keeps. */
struct tm_fingerprint *tm_unwrap_fingerprint(const struct tm_unwrap *stream);
/* Read what the fingerprint of such a file lacks; the stream is at its end then.
 * in:     block  scratch memory for what is read
 * errors: TM_ERR_INPUT */
tm_status tm_unwrap_complete(struct tm_unwrap *stream, void *block, size_t bytes) TM_MUST_USE;

/* What is known when the end has been reached. */
struct tm_unwrapped {
    uint64_t bytes;   /* of the content, as it was returned */
    uint64_t surplus; /* the last ones of these, returned before the damage was found: zlib alone would not */
    uint64_t disk_bytes;
    uint64_t xxh3;
    uint64_t members;
    char problem[512];   /* "the gzip is damaged: ... (byte N)"; "" = nothing is wrong */
    uint64_t problem_at; /* byte on disk */
};

void tm_unwrap_tell(const struct tm_unwrap *stream, struct tm_unwrapped *all);

#endif
