/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_INPUT_FILE_H
#define TM_INPUT_FILE_H

#include <stdbool.h>

#include "pipeline/spill.h"
#include "stages/input/inflate.h"
#include "stages/input/kind.h"

/* How an input is opened.  Zeroed = the defaults. */
struct tm_input_options {
    enum tm_inflate_engine engine; /* TM_INFLATE_DEFAULT: the fastest that was built in */
};

/* One input, open for reading at any place.  A gzip is inflated into a spill file first, and what comes through
 * a pipe is kept in one.  Zeroed = not open. */
struct tm_input {
    struct tm_run *run;
    char path[4096];          /* as given; "-" = stdin */
    char name[320];           /* for messages: in quotes, cleaned, a long one cut at the front; "stdin" for "-" */
    enum tm_file_kind kind;   /* of the content */
    bool gzip;                /* the content was inflated */
    bool partial;             /* the gzip was cut short or damaged (the content is what could be inflated), or the
                                 file grew while it was read (the content is what there was at first) */
    int fd;                   /* -1 = not open; the file itself, unless `spilled` */
    bool spilled;             /* the content is in `inflated`, not in `fd` */
    struct tm_spill inflated;
    uint64_t bytes;           /* of the content, inflated */
    uint64_t disk_bytes;      /* as it lies on disk */
    uint64_t members;         /* of the gzip */
    uint64_t xxh3;            /* XXH3-64 of the bytes as they lie on disk */
    int64_t modified_ns;      /* of the file, since the epoch; 0 = not a file */
    uint64_t problem_at;      /* byte of the file on disk, where `partial` */
    char problem[512];        /* what is wrong: "the gzip is damaged: ..."; "" = nothing.  Goes to the summary. */
    uint64_t next_at;         /* of the stream */
};

/* Open an input, tell its kind, inflate it, and take its fingerprint; a plain file is read once for that.
 * in:     path     a file, or "-" for stdin.  options may be NULL
 * out:    in       partial and problem are set where a gzip is damaged; whether that is an error is the caller's
 *                  decision (--strict)
 * owns:   the caller owns it, and tm_input_close releases it, also after a failure
 * errors: TM_ERR_INPUT   missing, unreadable, empty, a folder, changed while it was read, or a gzip of which not a
 *                        byte could be inflated
 *         TM_ERR_OUTPUT  the spill file could not be written
 *         kinds that cannot be read are no error here: see tm_input_require */
tm_status tm_input_open(struct tm_input *in, struct tm_run *run, const char *path) TM_MUST_USE;
tm_status tm_input_open_with(struct tm_input *in, struct tm_run *run, const char *path,
                             const struct tm_input_options *options) TM_MUST_USE;

/* Refuse what this version does not read: says what the file is and what to give instead.
 * errors: TM_ERR_INPUT */
tm_status tm_input_require_readable(const struct tm_input *in) TM_MUST_USE;

/* Stream: the next bytes of the content, in order.
 * out:    got     1 to `bytes` bytes; 0 at the end of the content */
tm_status tm_input_next(struct tm_input *in, void *to, size_t bytes, size_t *got) TM_MUST_USE;

/* Hold: make every place of the content readable. */
tm_status tm_input_hold(struct tm_input *in) TM_MUST_USE;

/* Read the content at a place.
 * out:    got     bytes read: fewer than asked for only at the end of the content; 0 past it
 * errors: TM_ERR_INPUT with the path and the byte where the file cannot be read or has become shorter;
 *         TM_ERR_OUTPUT where the spill file cannot */
tm_status tm_input_read(const struct tm_input *in, void *to, size_t bytes, uint64_t at, size_t *got) TM_MUST_USE;

void tm_input_close(struct tm_input *in); /* tolerates a zeroed or closed one */

#endif
