/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RAW_BYTES_H
#define TM_RAW_BYTES_H

#include <stdbool.h>

#include "pipeline/run.h"

/* The bytes of an input as they lie on disk, in order, whatever holds them, and their fingerprint.  What holds them
 * is a type: a file, a stream, a member of an archive (raw_member.h). */
struct tm_raw_bytes;

struct tm_raw_type {
    /* The next bytes.
     * out:    got     fewer than asked for only at the end, 0 after it
     * errors: TM_ERR_INPUT */
    tm_status (*read)(struct tm_raw_bytes *raw, uint8_t *to, size_t bytes, size_t *got);
    /* Make the next read begin at the first byte again.  NULL = the bytes come only once.  errors: TM_ERR_INPUT */
    tm_status (*restart)(struct tm_raw_bytes *raw);
    /* What is wrong with what holds the bytes, known at their end; NULL = nothing.  NULL itself = never anything. */
    const char *(*problem)(const struct tm_raw_bytes *raw);
    /* Give back what `own` holds.  NULL = nothing. */
    void (*close)(struct tm_raw_bytes *raw);
};

enum { TM_RAW_BLOCK_BYTES = 256 * 1024 }; /* a good length of one read */

/* Filled by whoever opens it, from type to size; then tm_raw_open. */
struct tm_raw_bytes {
    const struct tm_raw_type *type;
    struct tm_run *run;
    const char *name; /* for messages; borrowed */
    int fd;           /* borrowed */
    void *own;        /* of the type, NULL = nothing */
    uint64_t size;    /* when it was opened; only of what says its length before: 0 = not known */
    uint64_t at;      /* bytes read since the begin */
    uint64_t seen;    /* bytes read at all, those after a restart once: these are in the fingerprint */
    struct XXH3_state_s *hash;
};

extern const struct tm_raw_type tm_raw_file;   /* a regular file: size is known, and more is not read */
extern const struct tm_raw_type tm_raw_stream; /* a pipe */

/* owns:   what the filled fields say; tm_raw_close releases `own`, also after a failure */
tm_status tm_raw_open(struct tm_raw_bytes *raw) TM_MUST_USE;

/* The next bytes; counts them as progress and takes them into the fingerprint.
 * out:    got     fewer than asked for only at the end
 * errors: TM_ERR_INPUT  cannot be read, or became shorter */
tm_status tm_raw_read(struct tm_raw_bytes *raw, void *to, size_t bytes, size_t *got) TM_MUST_USE;

/* Bytes of a file that were read at a place, not in order: of those that follow on what the fingerprint has, it takes
 * the new ones. */
tm_status tm_raw_note(struct tm_raw_bytes *raw, uint64_t at, const void *bytes, size_t length) TM_MUST_USE;

bool tm_raw_can_restart(const struct tm_raw_bytes *raw);
tm_status tm_raw_restart(struct tm_raw_bytes *raw) TM_MUST_USE;

uint64_t tm_raw_xxh3(const struct tm_raw_bytes *raw); /* of the bytes seen so far */
void tm_raw_close(struct tm_raw_bytes *raw); /* tolerates a zeroed or closed one */

/* Read a file's own bytes at a place, for who needs any place of it.
 * out:    got     short only at the end of the file
 * errors: TM_ERR_INPUT */
tm_status tm_raw_read_at(struct tm_run *run, const char *name, int fd, void *to, size_t bytes, uint64_t at,
                         size_t *got) TM_MUST_USE;

#endif
