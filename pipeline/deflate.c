/* SPDX-License-Identifier: Apache-2.0 */
/* Compression of outputs: gzip as a stream, by zlib; deflate of blocks, by ISA-L if available; zstd of blocks. */
#include "pipeline/deflate.h"

#include <stdbool.h>

#include <zlib.h>
#define ZSTD_STATIC_LINKING_ONLY /* a context in memory of one's own */
#include <zstd.h>

#include "pipeline/store/budget.h"

enum {
    /* (1 << (window bits + 2)) + (1 << (memory level + 9)) and its state; some builds of zlib take half as much
     * again */
    TM_DEFLATER_BYTES = 448 << 10,
};

struct tm_deflater {
    struct tm_run *run;
    z_stream zlib;
    struct tm_fixed_pool pool;
    uint8_t bytes[TM_DEFLATER_BYTES] __attribute__((aligned(16)));
};

/* Setting up deflate: it takes all its memory when it is set up and gives it back at its end.
 * source: zlib.h; zlib writes the gzip header without name and time as long as none is set */

enum {
    /* For kernels and their arguments, level 5 makes 0.84 times the bytes of level 2 in twice its time, level 6 another
     * 0.93 in half as much again; of JSON level 5 makes 5 % more bytes than level 6 in 3 quarters of its time. */
    GZIP_LEVEL = 5,
    BLOCK_LEVEL = 3, /* for speed: as the Perfetto writer packs them, 1.1 times the bytes of level 5 */
    MEMORY_LEVEL = 8,
    GZIP_WINDOW = 16 + MAX_WBITS,
};

struct tm_deflater *tm_deflater_new(struct tm_run *run, enum tm_deflate_wrapper wrapper)
{
    struct tm_deflater *const d = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*d), &run->error);
    const bool is_gzip = wrapper == TM_DEFLATE_GZIP;
    const int level = is_gzip ? GZIP_LEVEL : BLOCK_LEVEL, window = is_gzip ? GZIP_WINDOW : MAX_WBITS;

    if (!d)
        return NULL;
    d->run = run;
    d->pool = (struct tm_fixed_pool){ .bytes = d->bytes, .room = sizeof(d->bytes) };
    d->zlib.zalloc = tm_fixed_pool_take;
    d->zlib.zfree = tm_fixed_pool_give;
    d->zlib.opaque = &d->pool;
    if (deflateInit2(&d->zlib, level, Z_DEFLATED, window, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK)
        return d;
    (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "cannot set up zlib: not enough memory");
    tm_deflater_free(d);
    return NULL;
}

z_stream *tm_deflater_stream(struct tm_deflater *d)
{
    return &d->zlib;
}

void tm_deflater_free(struct tm_deflater *d)
{
    if (!d)
        return;
    (void)deflateEnd(&d->zlib); /* of one that was not set up: nothing */
    tm_give(&d->run->budget, TM_ACCOUNT_TABLES, d, sizeof(*d));
}

/* ISA-L if available, else zlib.  For kernels and their arguments, as packed by the Perfetto writer, ISA-L's level 2
 * produces 1.08 times the bytes of zlib's level 5 in an eighth of its time.  Its level 3 saves 2% in twice the time,
 * and its bytes depend on the processor.
 *
 * At levels 1 and 2, ISA-L's code for x86 (2.30's, all three variants) stores the third byte of a stream under a hash
 * of the stream's address, which a register still holds, instead of a hash of the bytes.  If that equals the hash of
 * the first or second byte, their matches are lost: a block's bytes depend on the address of the stream.  The wrong
 * hash is only used if the pass that writes the first byte continues with the next ones.  Therefore the first call gets
 * the look-ahead and one byte: it writes that byte and ends, and the second call recomputes the hashes.  Blocks too
 * short for two calls use level 0, which does not have this bug, with the fixed codes.
 * source: isa-l/igzip_lib.h; igzip/igzip_icf_body_h1_gr_bt.asm, .write_first_byte */

#ifdef TM_HAVE_ISAL

#include <isa-l/igzip_lib.h>

enum {
    LEVEL = 2,
    LEVEL_BYTES = ISAL_DEF_LVL2_MEDIUM, /* 32 K tokens: the small one makes codes twice as often; larger: no faster */
    SHORT_LEVEL = 0,
    FIRST_BYTES = ISAL_LOOK_AHEAD + 1, /* of the first call */
};

struct tm_block_deflater {
    struct tm_run *run;
    struct isal_zstream stream;
    uint8_t level_bytes[LEVEL_BYTES] __attribute__((aligned(16)));
};

struct tm_block_deflater *tm_block_deflater_new(struct tm_run *run)
{
    struct tm_block_deflater *const d = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*d), &run->error);

    if (!d)
        return NULL;
    d->run = run;
    isal_deflate_init(&d->stream);
    (void)isal_deflate_set_hufftables(&d->stream, NULL, IGZIP_HUFFTABLE_STATIC); /* of level 0 */
    d->stream.level_buf = d->level_bytes;
    d->stream.level_buf_size = LEVEL_BYTES;
    return d;
}

void tm_block_deflater_free(struct tm_block_deflater *d)
{
    if (d)
        tm_give(&d->run->budget, TM_ACCOUNT_INPUT, d, sizeof(*d));
}

size_t tm_block_deflate(struct tm_block_deflater *d, const uint8_t *from, size_t length, uint8_t *to, size_t room)
{
    struct isal_zstream *const s = &d->stream;
    const size_t first = length > FIRST_BYTES ? FIRST_BYTES : 0;

    isal_deflate_reset(s);
    s->gzip_flag = IGZIP_ZLIB; /* which writing the header takes back */
    s->flush = NO_FLUSH;
    s->level = first ? LEVEL : SHORT_LEVEL;
    s->next_in = (uint8_t *)(uintptr_t)from;
    s->avail_in = (uint32_t)first;
    s->next_out = to;
    s->avail_out = (uint32_t)room;
    s->end_of_stream = 0;
    if (first && isal_deflate(s) != COMP_OK)
        return 0;
    s->avail_in += (uint32_t)(length - first);
    s->end_of_stream = 1;
    if (isal_deflate(s) != COMP_OK || s->internal_state.state != ZSTATE_END)
        return 0;
    return s->total_out;
}

#else

/* A struct tm_deflater: the type is never made. */
struct tm_block_deflater *tm_block_deflater_new(struct tm_run *run)
{
    return (struct tm_block_deflater *)tm_deflater_new(run, TM_DEFLATE_ZLIB);
}

void tm_block_deflater_free(struct tm_block_deflater *d)
{
    tm_deflater_free((struct tm_deflater *)d);
}

size_t tm_block_deflate(struct tm_block_deflater *d, const uint8_t *from, size_t length, uint8_t *to, size_t room)
{
    z_stream *const z = &((struct tm_deflater *)d)->zlib;

    if (deflateReset(z) != Z_OK)
        return 0;
    z->next_in = (z_const Bytef *)(uintptr_t)from;
    z->avail_in = (uInt)length;
    z->next_out = to;
    z->avail_out = (uInt)room;
    return deflate(z, Z_FINISH) == Z_STREAM_END ? z->total_out : 0;
}

#endif

/* --- zstd --- */

/* For packets of kernels and their arguments, level 3 gives 0.78 times the bytes of ISA-L's level 2; a conversion takes
 * 14% more CPU time. */
enum { ZSTD_LEVEL = 3 };

struct tm_block_zstd {
    struct tm_run *run;
    void *workspace;
    size_t workspace_bytes;
    ZSTD_CCtx *context;
};

struct tm_block_zstd *tm_block_zstd_new(struct tm_run *run)
{
    struct tm_block_zstd *const z = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*z), &run->error);

    if (!z)
        return NULL;
    z->run = run;
    z->workspace_bytes = ZSTD_estimateCCtxSize(ZSTD_LEVEL);
    z->workspace = tm_take(&run->budget, TM_ACCOUNT_INPUT, z->workspace_bytes, &run->error);
    z->context = z->workspace ? ZSTD_initStaticCCtx(z->workspace, z->workspace_bytes) : NULL;
    if (z->context)
        return z;
    tm_block_zstd_free(z);
    return NULL;
}

void tm_block_zstd_free(struct tm_block_zstd *z)
{
    if (!z)
        return;
    if (z->workspace)
        tm_give(&z->run->budget, TM_ACCOUNT_INPUT, z->workspace, z->workspace_bytes);
    tm_give(&z->run->budget, TM_ACCOUNT_INPUT, z, sizeof(*z));
}

size_t tm_block_zstd(struct tm_block_zstd *z, const uint8_t *from, size_t length, uint8_t *to, size_t room)
{
    const size_t bytes = ZSTD_compressCCtx(z->context, to, room, from, length, ZSTD_LEVEL);

    return ZSTD_isError(bytes) ? 0 : bytes;
}
