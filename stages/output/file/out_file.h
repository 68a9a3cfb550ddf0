/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OUT_FILE_H
#define TM_OUT_FILE_H

#include <stdbool.h>
#include <string.h>

#include "pipeline/atomic_file.h"
#include "pipeline/run.h"
#include "pipeline/strings.h"

/* A stream of bytes that becomes a file, plain or gzip, whole or not at all. */
struct tm_out_file;

/* in:     folder, name  as in tm_atomic_open
 *         is_gzip       one member, without a name and a time, so that the same bytes come out again
 * errors: NULL, with the error in run->error */
struct tm_out_file *tm_out_file_open(struct tm_run *run, const char *folder, const char *name,
                                     bool is_gzip) TM_MUST_USE;
/* A failure is remembered in run->error, and after one nothing is written. */
void tm_out_file_write(struct tm_out_file *file, const void *bytes, size_t length);

/* Bytes so far, of a plain file. */
uint64_t tm_out_file_bytes(const struct tm_out_file *file);
/* Replace bytes that were written to a plain file. */
void tm_out_file_patch(struct tm_out_file *file, uint64_t at, const void *bytes, size_t length);

/* The file appears, unless the run has failed.
 * out: *written  bytes on disk; may be NULL */
tm_status tm_out_file_commit(struct tm_out_file *file, uint64_t *written);
void tm_out_file_free(struct tm_out_file *file); /* removes what was not committed; tolerates NULL */

/* A string to be written to a file, collected in one buffer of a fixed size. */
enum { TM_SINK_BYTES = 256 << 10, TM_SINK_PIECE = 4096 };

struct tm_text_sink {
    struct tm_out_file *file; /* NULL: what the buffer has no room for is dropped, and counted in `passed` */
    uint64_t passed;          /* bytes that the file has */
    uint64_t keep_from;       /* data from here on may still be reordered; UINT64_MAX = none.  This is abandoned if the
                               * buffer is full of it */
    size_t used;
    char bytes[TM_SINK_BYTES];
};

void tm_sink_begin(struct tm_text_sink *sink, struct tm_out_file *file);
/* Write out what may be written, so that there is room for TM_SINK_PIECE bytes. */
void tm_sink_make_room(struct tm_text_sink *sink);
/* Pass on everything. */
void tm_sink_end(struct tm_text_sink *sink);
void tm_sink_put_long(struct tm_text_sink *sink, const char *bytes, size_t length);

/* Bytes before the next one. */
static inline uint64_t tm_sink_position(const struct tm_text_sink *sink)
{
    return sink->passed + sink->used;
}

/* Room for up to TM_SINK_PIECE bytes; the caller adds to sink->used what it wrote. */
static inline char *tm_sink_room(struct tm_text_sink *sink)
{
    if (TM_SINK_BYTES - sink->used < TM_SINK_PIECE)
        tm_sink_make_room(sink);
    return sink->bytes + sink->used;
}

static inline void tm_sink_put(struct tm_text_sink *sink, const char *bytes, size_t length)
{
    if (length > TM_SINK_PIECE) {
        tm_sink_put_long(sink, bytes, length);
        return;
    }
    memcpy(tm_sink_room(sink), bytes, length);
    sink->used += length;
}

static inline void tm_sink_text(struct tm_text_sink *sink, const char *text)
{
    tm_sink_put(sink, text, strlen(text));
}

void tm_sink_int(struct tm_text_sink *sink, int64_t value);
void tm_sink_uint(struct tm_text_sink *sink, uint64_t value);
/* Nanoseconds as microseconds, exactly, in the shortest form: 1500 is "1.5". */
void tm_sink_us(struct tm_text_sink *sink, int64_t ns);

/* Move the bytes from `from` on in front of those at `to`.
 * out:    false: they have already been written */
bool tm_sink_move(struct tm_text_sink *sink, uint64_t from, uint64_t to);

/* A string of an output: valid UTF-8 without NUL, whatever the input has.
 * in:     to  TM_UTF8_REPLACEMENT_BYTES * length bytes at least
 * out:    bytes written */
size_t tm_out_utf8(char *to, const char *text, size_t length);

/* The name of a number that is not finite, which no format can represent. */
const char *tm_out_not_finite(double value);

#endif
