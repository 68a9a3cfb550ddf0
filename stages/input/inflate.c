/* SPDX-License-Identifier: Apache-2.0 */
/* Inflate of gzip.  The wrapper (headers, trailers, padding, several members) is read here, a byte at a time,
 * so that both engines tell the same of it; the engines see raw deflate data only.  One block of memory, of a
 * fixed size.  Format: RFC 1952; deflate: RFC 1951. */
#include "stages/input/inflate.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <zlib.h>
#ifdef TM_HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#endif

enum {
    OUT_BYTES = 256 * 1024,
    POOL_BYTES = 64 * 1024, /* zlib takes 7 KiB and its window of 32 KiB, once */
    HEAD_BYTES = 10,
    TRAILER_BYTES = 8,
    FLAG_HEAD_CRC = 2,
    FLAG_EXTRA = 4,
    FLAG_NAME = 8,
    FLAG_COMMENT = 16,
    FLAGS_RESERVED = 0xe0,
    METHOD_DEFLATE = 8,
};

/* The part of the file that the next byte belongs to. */
enum part { HEAD, EXTRA_LENGTH, EXTRA, NAME, COMMENT, HEAD_CRC, BODY, TRAILER, BETWEEN, PADDING, LOST };

struct tm_inflate {
    struct tm_run *run;
    enum tm_inflate_engine engine;
    tm_inflate_sink *sink;
    void *to;
    enum part part;
    uint64_t at;        /* bytes of the file taken so far */
    uint64_t member_at; /* where the member begins */
    uint64_t members, bytes;
    uint8_t small[HEAD_BYTES]; /* a piece of the wrapper that is being put together */
    size_t small_have;
    uint8_t flags;
    size_t extra_left;
    uint32_t head_crc;
    uint32_t crc, length; /* of the member's data; length modulo 2^32, as in the trailer */
    char problem[256];
    uint64_t problem_at;
    z_stream zlib;
    size_t pool_used;
#ifdef TM_HAVE_ISAL
    struct inflate_state isal;
#endif
    size_t out_have;
    _Alignas(16) uint8_t pool[POOL_BYTES];
    uint8_t out[OUT_BYTES];
};

bool tm_inflate_has(enum tm_inflate_engine engine)
{
#ifdef TM_HAVE_ISAL
    return engine == TM_INFLATE_DEFAULT || engine == TM_INFLATE_ZLIB || engine == TM_INFLATE_ISAL;
#else
    return engine == TM_INFLATE_DEFAULT || engine == TM_INFLATE_ZLIB;
#endif
}

/* zlib allocates when it is set up and when it first needs its window, and gives nothing back before the
 * end: a pool that only grows serves it, and no memory is outside the ledger. */
static voidpf pool_take(voidpf opaque, uInt items, uInt size)
{
    struct tm_inflate *const f = opaque;
    const uint64_t bytes = ((uint64_t)items * size + 15) & ~(uint64_t)15;

    if (bytes > POOL_BYTES - f->pool_used)
        return Z_NULL;
    f->pool_used += (size_t)bytes;
    return f->pool + f->pool_used - bytes;
}

static void pool_give(voidpf opaque, voidpf block)
{
    (void)opaque;
    (void)block;
}

static tm_status start_engine(struct tm_inflate *f)
{
#ifdef TM_HAVE_ISAL
    if (f->engine == TM_INFLATE_ISAL) {
        isal_inflate_init(&f->isal);
        return TM_OK;
    }
#endif
    f->zlib.zalloc = pool_take;
    f->zlib.zfree = pool_give;
    f->zlib.opaque = f;
    if (inflateInit2(&f->zlib, -MAX_WBITS) != Z_OK)
        return tm_fail(&f->run->error, TM_ERR_LIMIT, -1, "cannot set up zlib: its memory is too small");
    return TM_OK;
}

struct tm_inflate *tm_inflate_new(struct tm_run *run, enum tm_inflate_engine engine, tm_inflate_sink *sink,
                                  void *to)
{
    struct tm_inflate *const f = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*f), &run->error);

    assert(tm_inflate_has(engine));
    if (!f)
        return NULL;
    if (engine == TM_INFLATE_DEFAULT)
        engine = tm_inflate_has(TM_INFLATE_ISAL) ? TM_INFLATE_ISAL : TM_INFLATE_ZLIB;
    f->run = run;
    f->engine = engine;
    f->sink = sink;
    f->to = to;
    f->part = HEAD;
    if (start_engine(f) != TM_OK) {
        tm_inflate_free(f);
        return NULL;
    }
    return f;
}

void tm_inflate_free(struct tm_inflate *inflate)
{
    if (!inflate)
        return;
    if (inflate->engine == TM_INFLATE_ZLIB)
        (void)inflateEnd(&inflate->zlib);
    tm_give(&inflate->run->budget, TM_ACCOUNT_INPUT, inflate, sizeof(*inflate));
}

/* Note what is wrong; the first problem is the one that is told. */
static void TM_PRINTF(3, 4) note(struct tm_inflate *f, uint64_t at, const char *format, ...)
{
    va_list args;

    if (f->problem[0])
        return;
    va_start(args, format);
    (void)vsnprintf(f->problem, sizeof(f->problem), format, args);
    va_end(args);
    f->problem_at = at;
}

static unsigned long long member_number(const struct tm_inflate *f)
{
    return (unsigned long long)f->members + 1;
}

/* The first byte after a member that is neither padding nor the next member. */
static void note_garbage(struct tm_inflate *f, uint64_t at)
{
    note(f, at, "after member %llu follow bytes that are neither a gzip member nor padding",
         (unsigned long long)f->members);
    f->part = LOST;
}

static tm_status flush(struct tm_inflate *f)
{
    const size_t length = f->out_have;

    f->out_have = 0;
    if (length == 0)
        return TM_OK;
    f->bytes += length;
    return f->sink(f->to, f->out, length);
}

static uint32_t checksum(const struct tm_inflate *f, uint32_t crc, const uint8_t *bytes, size_t length)
{
#ifdef TM_HAVE_ISAL
    if (f->engine == TM_INFLATE_ISAL)
        return crc32_gzip_refl(crc, bytes, length);
#else
    (void)f;
#endif
    return (uint32_t)crc32_z(crc, bytes, length);
}

/* Count what an engine has just put behind out_have. */
static void account(struct tm_inflate *f, size_t fresh)
{
    f->crc = checksum(f, f->crc, f->out + f->out_have, fresh);
    f->length += (uint32_t)fresh; /* modulo 2^32, as the trailer has it */
    f->out_have += fresh;
}

enum body { BODY_MORE, BODY_END, BODY_DAMAGED, BODY_FAILED };

static enum body run_zlib(struct tm_inflate *f, const uint8_t *bytes, size_t length, size_t *used)
{
    z_stream *const z = &f->zlib;
    const size_t room = OUT_BYTES - f->out_have;
    int result;

    z->next_in = (z_const Bytef *)(uintptr_t)bytes;
    z->avail_in = (uInt)length;
    z->next_out = f->out + f->out_have;
    z->avail_out = (uInt)room;
    result = inflate(z, Z_SYNC_FLUSH);
    *used = length - z->avail_in;
    account(f, room - z->avail_out);
    if (result == Z_STREAM_END) {
        f->small_have = 0;
        return BODY_END;
    }
    if (result == Z_OK || result == Z_BUF_ERROR)
        return BODY_MORE;
    return result == Z_MEM_ERROR ? BODY_FAILED : BODY_DAMAGED;
}

#ifdef TM_HAVE_ISAL
/* ISA-L reads up to 7 bytes past the end of the data into its bit buffer, perhaps from an earlier chunk: they
 * are the begin of the trailer. */
static void take_back(struct tm_inflate *f)
{
    struct inflate_state *const s = &f->isal;
    uint64_t bits = s->read_in >> (s->read_in_length % 8);

    f->small_have = 0;
    for (int32_t left = s->read_in_length / 8; left > 0 && f->small_have < TRAILER_BYTES; left--) {
        f->small[f->small_have++] = (uint8_t)bits;
        bits >>= 8;
    }
}

static enum body run_isal(struct tm_inflate *f, const uint8_t *bytes, size_t length, size_t *used)
{
    struct inflate_state *const s = &f->isal;
    const size_t room = OUT_BYTES - f->out_have;
    int result;

    s->next_in = (uint8_t *)(uintptr_t)bytes;
    s->avail_in = (uint32_t)length;
    s->next_out = f->out + f->out_have;
    s->avail_out = (uint32_t)room;
    result = isal_inflate(s);
    *used = length - s->avail_in;
    account(f, room - s->avail_out);
    if (result < 0)
        return BODY_DAMAGED;
    if (s->block_state != ISAL_BLOCK_FINISH)
        return BODY_MORE;
    take_back(f);
    return BODY_END;
}
#endif

static enum body run_engine(struct tm_inflate *f, const uint8_t *bytes, size_t length, size_t *used)
{
#ifdef TM_HAVE_ISAL
    if (f->engine == TM_INFLATE_ISAL)
        return run_isal(f, bytes, length, used);
#endif
    return run_zlib(f, bytes, length, used);
}

static void begin_body(struct tm_inflate *f)
{
    f->part = BODY;
    f->crc = 0;
    f->length = 0;
#ifdef TM_HAVE_ISAL
    if (f->engine == TM_INFLATE_ISAL) {
        isal_inflate_reset(&f->isal);
        f->isal.crc_flag = ISAL_DEFLATE;
        return;
    }
#endif
    (void)inflateReset(&f->zlib);
}

/* Take compressed data until they end or the chunk does; all that comes out of them goes to the sink. */
static tm_status take_body(struct tm_inflate *f, const uint8_t *bytes, size_t length, size_t *used)
{
    enum { STEP_MOST = 1 << 30 }; /* the engines count in 32 bits */

    *used = 0;
    for (;;) {
        const size_t left = length - *used;
        size_t step_used;
        tm_status st;
        const enum body now = run_engine(f, bytes + *used, left < STEP_MOST ? left : STEP_MOST, &step_used);
        const bool full = f->out_have == OUT_BYTES;

        *used += step_used;
        f->at += step_used;
        if (now == BODY_FAILED)
            return tm_fail(&f->run->error, TM_ERR_LIMIT, -1, "cannot inflate: the memory of zlib is too small");
        if ((full || now != BODY_MORE || *used == length) && (st = flush(f)) != TM_OK)
            return st;
        if (now == BODY_END) {
            f->part = TRAILER;
            return TM_OK;
        }
        if (now == BODY_DAMAGED) {
            note(f, f->at, "the compressed data of member %llu are damaged", member_number(f));
            f->part = LOST;
            return TM_OK;
        }
        if (*used == length && !full)
            return TM_OK;
    }
}

/* The parts of a header that follow the fixed one, as its flags say, in this order. */
static void next_head_part(struct tm_inflate *f, enum part after)
{
    f->small_have = 0;
    if (after < EXTRA_LENGTH && (f->flags & FLAG_EXTRA))
        f->part = EXTRA_LENGTH;
    else if (after < NAME && (f->flags & FLAG_NAME))
        f->part = NAME;
    else if (after < COMMENT && (f->flags & FLAG_COMMENT))
        f->part = COMMENT;
    else if (after < HEAD_CRC && (f->flags & FLAG_HEAD_CRC))
        f->part = HEAD_CRC;
    else
        begin_body(f);
}

static void check_head(struct tm_inflate *f)
{
    if (f->small[2] != METHOD_DEFLATE || (f->small[3] & FLAGS_RESERVED)) {
        note(f, f->member_at, "the header of member %llu is damaged", member_number(f));
        f->part = LOST;
        return;
    }
    f->flags = f->small[3];
    next_head_part(f, HEAD);
}

/* A byte of the fixed header. */
static void take_head(struct tm_inflate *f, uint8_t byte)
{
    static const uint8_t magic[2] = { 0x1f, 0x8b };

    if (f->small_have == 0) {
        f->member_at = f->at;
        f->head_crc = 0;
    }
    if (f->small_have < sizeof(magic) && byte != magic[f->small_have]) {
        if (f->members > 0) {
            note_garbage(f, f->member_at);
        } else {
            note(f, f->member_at, "it does not begin as a gzip does");
            f->part = LOST;
        }
        return;
    }
    f->small[f->small_have++] = byte;
    f->head_crc = (uint32_t)crc32_z(f->head_crc, &byte, 1);
    if (f->small_have == HEAD_BYTES)
        check_head(f);
}

/* A byte of the optional parts of the header. */
static void take_head_part(struct tm_inflate *f, uint8_t byte)
{
    const enum part part = f->part;

    if (part == HEAD_CRC) {
        f->small[f->small_have++] = byte;
        if (f->small_have < 2)
            return;
        if ((f->small[0] | f->small[1] << 8) != (int)(f->head_crc & 0xffff))
            note(f, f->member_at, "the check of the header of member %llu fails", member_number(f));
        next_head_part(f, part);
        return;
    }
    f->head_crc = (uint32_t)crc32_z(f->head_crc, &byte, 1);
    if (part == EXTRA_LENGTH) {
        f->small[f->small_have++] = byte;
        if (f->small_have < 2)
            return;
        f->extra_left = (size_t)f->small[0] | (size_t)f->small[1] << 8;
        f->part = EXTRA;
        if (f->extra_left == 0)
            next_head_part(f, EXTRA);
    } else if (part == EXTRA) {
        if (--f->extra_left == 0)
            next_head_part(f, EXTRA);
    } else if (byte == 0) { /* NAME and COMMENT end with a zero */
        next_head_part(f, part);
    }
}

static uint32_t little_endian(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The trailer is there: check it.  After a failed check the structure still holds, so reading goes on. */
static void check_trailer(struct tm_inflate *f)
{
    const uint64_t begin = f->at - TRAILER_BYTES;
    const uint32_t crc = little_endian(f->small);
    const uint32_t length = little_endian(f->small + 4);

    if (crc != f->crc)
        note(f, begin, "the check (CRC) of member %llu fails: its data are damaged", member_number(f));
    else if (length != f->length)
        note(f, begin, "member %llu inflates to another length than it says", member_number(f));
    f->members++;
    f->small_have = 0;
    f->part = BETWEEN;
}

static void take_between(struct tm_inflate *f, uint8_t byte)
{
    if (byte == 0x1f) {
        f->part = HEAD;
        take_head(f, byte);
    } else if (byte == 0) {
        f->part = PADDING;
    } else {
        note_garbage(f, f->at);
    }
}

/* Any byte outside the compressed data.  f->at is its place. */
static void take_byte(struct tm_inflate *f, uint8_t byte)
{
    switch (f->part) {
    case HEAD:
        take_head(f, byte);
        break;
    case TRAILER:
        f->small[f->small_have++] = byte;
        break;
    case BETWEEN:
        take_between(f, byte);
        break;
    case PADDING:
        if (byte != 0)
            note_garbage(f, f->at);
        break;
    default:
        take_head_part(f, byte);
        break;
    }
    f->at++;
    if (f->part == TRAILER && f->small_have == TRAILER_BYTES)
        check_trailer(f);
}

tm_status tm_inflate_take(struct tm_inflate *inflate, const uint8_t *bytes, size_t length)
{
    size_t done = 0;

    while (done < length && inflate->part != LOST) {
        if (inflate->part == BODY) {
            size_t used;
            const tm_status st = take_body(inflate, bytes + done, length - done, &used);

            if (st != TM_OK)
                return st;
            done += used;
        } else {
            take_byte(inflate, bytes[done++]);
        }
    }
    return TM_OK;
}

tm_status tm_inflate_finish(struct tm_inflate *inflate)
{
    struct tm_inflate *const f = inflate;

    if (f->part == BETWEEN || f->part == PADDING || f->part == LOST)
        return TM_OK;
    note(f, f->at, "it is cut short inside member %llu", member_number(f));
    f->part = LOST;
    return TM_OK;
}

const char *tm_inflate_problem(const struct tm_inflate *inflate, uint64_t *at)
{
    if (!inflate->problem[0])
        return NULL;
    *at = inflate->problem_at;
    return inflate->problem;
}

uint64_t tm_inflate_members(const struct tm_inflate *inflate)
{
    return inflate->members;
}

uint64_t tm_inflate_bytes(const struct tm_inflate *inflate)
{
    return inflate->bytes;
}
