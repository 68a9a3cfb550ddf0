/* SPDX-License-Identifier: Apache-2.0 */
/* Setting up deflate: it takes all its memory when it is set up and gives it back at its end.
 * source: zlib.h; zlib writes the gzip header without name and time as long as none is set */
#include "stages/output/file/deflater.h"

enum {
    /* Of kernels and their arguments level 5 makes 0.84 times the bytes of level 2 in twice its time, level 6 another
     * 0.93 in half as much again; of JSON level 5 makes 5 % more bytes than level 6 in 3 quarters of its time. */
    GZIP_LEVEL = 5,
    BLOCK_LEVEL = 3, /* for speed: as the Perfetto writer packs them, 1.1 times the bytes of level 5 */
    MEMORY_LEVEL = 8,
    GZIP_WINDOW = 16 + MAX_WBITS,
};

static tm_status set_up(struct tm_deflater *d, enum tm_deflate_wrapper wrapper)
{
    const bool is_gzip = wrapper == TM_DEFLATE_GZIP;
    const int level = is_gzip ? GZIP_LEVEL : BLOCK_LEVEL, window = is_gzip ? GZIP_WINDOW : MAX_WBITS;

    d->pool = (struct tm_fixed_pool){ .bytes = d->bytes, .room = sizeof(d->bytes) };
    d->zlib.zalloc = tm_fixed_pool_take;
    d->zlib.zfree = tm_fixed_pool_give;
    d->zlib.opaque = &d->pool;
    if (deflateInit2(&d->zlib, level, Z_DEFLATED, window, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return tm_fail(&d->run->error, TM_ERR_LIMIT, -1, "cannot set up zlib: its memory is too small");
    return TM_OK;
}

struct tm_deflater *tm_deflater_new(struct tm_run *run, enum tm_deflate_wrapper wrapper)
{
    struct tm_deflater *const d = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*d), &run->error);

    if (!d)
        return NULL;
    d->run = run;
    if (set_up(d, wrapper) == TM_OK)
        return d;
    tm_deflater_free(d);
    return NULL;
}

void tm_deflater_free(struct tm_deflater *d)
{
    if (!d)
        return;
    (void)deflateEnd(&d->zlib); /* of one that was not set up: nothing */
    tm_give(&d->run->budget, TM_ACCOUNT_TABLES, d, sizeof(*d));
}
