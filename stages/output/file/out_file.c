/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of bytes that becomes a file.  Output is collected in one block, and written from there to the file, either
 * directly or through deflate in a second block.  Memory: of a fixed size. */
#include "stages/output/file/out_file.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <zlib.h>

#include "pipeline/atomic_file.h"
#include "pipeline/deflate.h"
#include "pipeline/numbers.h"
#include "pipeline/run.h"
#include "pipeline/store/budget.h"
#include "pipeline/strings.h"

enum { BLOCK_BYTES = 64 << 10 };

struct tm_out_file {
    struct tm_run *run;
    struct tm_atomic_file file;
    uint64_t written;             /* bytes in the file */
    struct tm_deflater *deflater; /* NULL = plain */
    size_t used;                  /* of block */
    uint8_t block[BLOCK_BYTES];
    uint8_t deflated[BLOCK_BYTES];
};

struct tm_out_file *tm_out_file_open(struct tm_run *run, const char *folder, const char *name, bool is_gzip)
{
    struct tm_out_file *f = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*f), &run->error);

    if (!f)
        return NULL;
    f->run = run;
    f->deflater = is_gzip ? tm_deflater_new(run, TM_DEFLATE_GZIP) : NULL;
    if ((is_gzip && !f->deflater) || tm_atomic_open(&f->file, run, folder, name) != TM_OK) {
        tm_out_file_free(f);
        return NULL;
    }
    /* Blocks are collected here; a full disk must be noticed immediately. */
    (void)setvbuf(f->file.stream, NULL, _IONBF, 0);
    return f;
}

/* After a failure of the run nothing is written. */
static void put_in_file(struct tm_out_file *f, const uint8_t *bytes, size_t length)
{
    if (!length || tm_failed(f->run))
        return;
    errno = 0;
    if (fwrite(bytes, 1, length, f->file.stream) != length)
        (void)tm_fail_system(&f->run->error, TM_ERR_OUTPUT, -1, errno != 0 ? errno : EIO, "cannot write '%s'",
                             f->file.path);
    f->written += length;
}

/* flush: Z_NO_FLUSH, or Z_FINISH, which ends the member. */
static void deflate_bytes(struct tm_out_file *f, const uint8_t *bytes, size_t length, int flush)
{
    z_stream *const z = tm_deflater_stream(f->deflater);
    int result;

    z->next_in = (z_const Bytef *)(uintptr_t)bytes;
    z->avail_in = (uInt)length;
    do {
        z->next_out = f->deflated;
        z->avail_out = BLOCK_BYTES;
        result = deflate(z, flush);
        /* Z_BUF_ERROR: nothing was left to do, which is not an error. */
        assert(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR);
        put_in_file(f, f->deflated, BLOCK_BYTES - z->avail_out);
    } while (z->avail_out == 0 && result != Z_STREAM_END);
}

static void pass(struct tm_out_file *f, const uint8_t *bytes, size_t length)
{
    if (f->deflater)
        deflate_bytes(f, bytes, length, Z_NO_FLUSH);
    else
        put_in_file(f, bytes, length);
}

/* The block is empty again. */
static void pass_block(struct tm_out_file *f)
{
    pass(f, f->block, f->used);
    f->used = 0;
}

void tm_out_file_write(struct tm_out_file *f, const void *bytes, size_t length)
{
    const uint8_t *from = bytes;

    while (length) {
        const size_t room = BLOCK_BYTES - f->used;
        const size_t n = length < room ? length : room;

        if (n == BLOCK_BYTES) { /* a complete one need not be collected */
            pass(f, from, n);
        } else {
            memcpy(f->block + f->used, from, n);
            f->used += n;
            if (f->used == BLOCK_BYTES)
                pass_block(f);
        }
        from += n;
        length -= n;
    }
}

uint64_t tm_out_file_bytes(const struct tm_out_file *f)
{
    return f->written + f->used;
}

void tm_out_file_patch(struct tm_out_file *f, uint64_t at, const void *bytes, size_t length)
{
    assert(!f->deflater);
    pass_block(f);
    if (tm_failed(f->run))
        return;
    errno = 0;
    if (fseeko(f->file.stream, (off_t)at, SEEK_SET) != 0 || fwrite(bytes, 1, length, f->file.stream) != length ||
        fseeko(f->file.stream, 0, SEEK_END) != 0)
        (void)tm_fail_system(&f->run->error, TM_ERR_OUTPUT, -1, errno != 0 ? errno : EIO, "cannot write '%s'",
                             f->file.path);
}

tm_status tm_out_file_commit(struct tm_out_file *f, uint64_t *written)
{
    pass_block(f);
    if (f->deflater)
        deflate_bytes(f, f->block, 0, Z_FINISH);
    if (tm_failed(f->run))
        return f->run->error.status;
    if (written)
        *written = f->written;
    return tm_atomic_commit(&f->file);
}

void tm_out_file_free(struct tm_out_file *f)
{
    if (!f)
        return;
    tm_atomic_abort(&f->file);
    tm_deflater_free(f->deflater);
    tm_give(&f->run->budget, TM_ACCOUNT_TABLES, f, sizeof(*f));
}

/* The buffer before a file of text: see out_file.h. */

void tm_sink_begin(struct tm_text_sink *sink, struct tm_out_file *file)
{
    sink->file = file;
    sink->passed = 0;
    sink->keep_from = UINT64_MAX;
    sink->used = 0;
}

static void pass_on(struct tm_text_sink *sink, size_t length)
{
    if (sink->file)
        tm_out_file_write(sink->file, sink->bytes, length);
    memmove(sink->bytes, sink->bytes + length, sink->used - length);
    sink->passed += length;
    sink->used -= length;
}

void tm_sink_make_room(struct tm_text_sink *sink)
{
    size_t length = sink->used;

    if (sink->keep_from < tm_sink_position(sink) && sink->keep_from > sink->passed)
        length = (size_t)(sink->keep_from - sink->passed);
    pass_on(sink, length);
    if (TM_SINK_BYTES - sink->used < TM_SINK_PIECE)
        pass_on(sink, sink->used);
}

void tm_sink_end(struct tm_text_sink *sink)
{
    pass_on(sink, sink->used);
}

void tm_sink_put_long(struct tm_text_sink *sink, const char *bytes, size_t length)
{
    while (length) {
        const size_t n = length < TM_SINK_PIECE ? length : TM_SINK_PIECE;

        tm_sink_put(sink, bytes, n);
        bytes += n;
        length -= n;
    }
}

void tm_sink_uint(struct tm_text_sink *sink, uint64_t value)
{
    char *const to = tm_sink_room(sink);

    sink->used += tm_uint_text(to, value);
}

void tm_sink_int(struct tm_text_sink *sink, int64_t value)
{
    char *const to = tm_sink_room(sink);

    sink->used += tm_int_text(to, value);
}

void tm_sink_us(struct tm_text_sink *sink, int64_t ns)
{
    const uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    const uint64_t rest = size % 1000;
    const char digits[4] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10) };

    if (ns < 0)
        tm_sink_put(sink, "-", 1);
    tm_sink_uint(sink, size / 1000);
    if (rest)
        tm_sink_put(sink, digits, rest % 10 ? 4 : rest % 100 ? 3 : 2);
}

static void turn_round(char *bytes, size_t length)
{
    for (size_t i = 0; i < length / 2; i++) {
        const char first = bytes[i];

        bytes[i] = bytes[length - 1 - i];
        bytes[length - 1 - i] = first;
    }
}

/* Both parts are reversed, then the whole: no other memory is needed. */
bool tm_sink_move(struct tm_text_sink *sink, uint64_t from, uint64_t to)
{
    if (to < sink->passed || from < to || from > tm_sink_position(sink))
        return false;
    const size_t begin = (size_t)(to - sink->passed), middle = (size_t)(from - sink->passed);

    turn_round(sink->bytes + begin, middle - begin);
    turn_round(sink->bytes + middle, sink->used - middle);
    turn_round(sink->bytes + begin, sink->used - begin);
    return true;
}

/* Strings of outputs: see out_file.h. */

size_t tm_out_utf8(char *to, const char *text, size_t length)
{
    size_t used = 0;

    for (;;) {
        const size_t n = tm_utf8_head(text, length);

        memcpy(to + used, text, n);
        used += n;
        if (n == length)
            return used;
        memcpy(to + used, TM_UTF8_REPLACEMENT, TM_UTF8_REPLACEMENT_BYTES);
        used += TM_UTF8_REPLACEMENT_BYTES;
        text += n + 1;
        length -= n + 1;
    }
}

const char *tm_out_not_finite(double value)
{
    return isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
}
