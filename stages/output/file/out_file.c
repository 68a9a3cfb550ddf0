/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of bytes that becomes a file.  What is written is gathered in one block, and goes from there to the file as
 * it is, or through deflate in a second block.  Memory: of a fixed size. */
#include "stages/output/file/out_file.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "stages/output/file/deflater.h"

enum { BLOCK_BYTES = 64 << 10 };

struct tm_out_file {
    struct tm_run *run;
    struct tm_atomic_file file;
    uint64_t written;         /* bytes in the file */
    struct tm_deflater *deflater; /* NULL = plain */
    size_t used;              /* of block */
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
    /* Blocks are gathered here, and a disk that is full is to be noticed when it is. */
    (void)setvbuf(f->file.stream, NULL, _IONBF, 0);
    return f;
}

static tm_status put_in_file(struct tm_out_file *f, const uint8_t *bytes, size_t length)
{
    errno = 0;
    if (length && fwrite(bytes, 1, length, f->file.stream) != length)
        return tm_fail_system(&f->run->error, TM_ERR_OUTPUT, -1, errno != 0 ? errno : EIO, "cannot write '%s'",
                              f->file.path);
    f->written += length;
    return TM_OK;
}

/* flush: Z_NO_FLUSH, or Z_FINISH, which ends the member. */
static tm_status deflate_bytes(struct tm_out_file *f, const uint8_t *bytes, size_t length, int flush)
{
    z_stream *const z = &f->deflater->zlib;
    int result;

    z->next_in = (z_const Bytef *)(uintptr_t)bytes;
    z->avail_in = (uInt)length;
    do {
        z->next_out = f->deflated;
        z->avail_out = BLOCK_BYTES;
        result = deflate(z, flush);
        /* Z_BUF_ERROR: nothing was left to do, which is no error. */
        assert(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR);
        const tm_status status = put_in_file(f, f->deflated, BLOCK_BYTES - z->avail_out);

        if (status != TM_OK)
            return status;
    } while (z->avail_out == 0 && result != Z_STREAM_END);
    return TM_OK;
}

/* The block is empty again. */
static tm_status pass_block(struct tm_out_file *f)
{
    const size_t used = f->used;

    f->used = 0;
    return f->deflater ? deflate_bytes(f, f->block, used, Z_NO_FLUSH) : put_in_file(f, f->block, used);
}

tm_status tm_out_file_write(struct tm_out_file *f, const void *bytes, size_t length)
{
    const uint8_t *from = bytes;

    while (length) {
        const size_t room = BLOCK_BYTES - f->used;
        const size_t n = length < room ? length : room;

        memcpy(f->block + f->used, from, n);
        f->used += n;
        from += n;
        length -= n;
        if (f->used == BLOCK_BYTES) {
            const tm_status status = pass_block(f);

            if (status != TM_OK)
                return status;
        }
    }
    return TM_OK;
}

tm_status tm_out_file_commit(struct tm_out_file *f, uint64_t *written)
{
    tm_status status = pass_block(f);

    if (status == TM_OK && f->deflater)
        status = deflate_bytes(f, f->block, 0, Z_FINISH);
    if (status == TM_OK)
        status = tm_atomic_commit(&f->file);
    if (status == TM_OK && written)
        *written = f->written;
    return status;
}

void tm_out_file_free(struct tm_out_file *f)
{
    if (!f)
        return;
    tm_atomic_abort(&f->file);
    tm_deflater_free(f->deflater);
    tm_give(&f->run->budget, TM_ACCOUNT_TABLES, f, sizeof(*f));
}
