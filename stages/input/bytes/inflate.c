/* SPDX-License-Identifier: Apache-2.0 */
/* Inflate gzip, and single zlib streams (below).  The wrapper of gzip (headers, trailers, padding, multiple members) is
 * parsed here, a byte at a time, so both engines report the same; the engines receive only raw deflate data and write
 * directly to the destination.  One block of memory of fixed size.  Format: RFC 1952; deflate: RFC 1951. */
#include "stages/input/bytes/inflate.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <zlib.h>

#include "pipeline/run.h"
#include "pipeline/store/budget.h"

/* What all decoders share. */

void tm_decoder_note(struct tm_decoder *decoder, uint64_t at, const char *format, ...)
{
    va_list args;

    if (decoder->problem[0])
        return;
    va_start(args, format);
    (void)vsnprintf(decoder->problem, sizeof(decoder->problem), format, args);
    va_end(args);
    decoder->problem_at = at;
}

unsigned long long tm_decoder_member(const struct tm_decoder *decoder)
{
    return (unsigned long long)decoder->members + 1;
}

void tm_decoder_skip(struct tm_decoder *decoder, struct tm_flow *flow)
{
    decoder->at += flow->in_left;
    flow->in += flow->in_left;
    flow->in_left = 0;
}

#ifdef TM_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

enum {
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

/* zlib in memory of fixed size: it allocates when it is set up and when it first needs its window, and frees nothing
 * before the end. */
struct zlib {
    z_stream stream;
    struct tm_fixed_pool memory; /* in `pool` */
    _Alignas(16) uint8_t pool[POOL_BYTES];
};

struct inflate {
    struct tm_decoder base; /* first: the decoder that others see */
    enum tm_inflate_engine engine;
    enum part part;
    uint64_t member_at, body_at; /* where the member starts, and its compressed data */
    uint8_t small[HEAD_BYTES];   /* a piece of the wrapper that is being put together */
    size_t small_have;
    uint8_t flags;
    size_t extra_left;
    uint32_t head_crc;
    tm_crc32 *checksum;
    uint32_t crc, length; /* of the member's data; length modulo 2^32, as in the trailer */
#ifdef TM_HAVE_ISAL
    struct inflate_state isal;
#endif
    struct zlib zlib;
};

bool tm_inflate_has(enum tm_inflate_engine engine)
{
#ifdef TM_HAVE_ISAL
    return engine == TM_INFLATE_DEFAULT || engine == TM_INFLATE_ZLIB || engine == TM_INFLATE_ISAL;
#else
    return engine == TM_INFLATE_DEFAULT || engine == TM_INFLATE_ZLIB;
#endif
}

/* in: bits  as of inflateInit2: the window, and the wrapper that zlib parses */
static tm_status start_zlib(struct tm_run *run, struct zlib *z, int bits)
{
    z->memory = (struct tm_fixed_pool){ .bytes = z->pool, .room = sizeof(z->pool) };
    z->stream.zalloc = tm_fixed_pool_take;
    z->stream.zfree = tm_fixed_pool_give;
    z->stream.opaque = &z->memory;
    if (inflateInit2(&z->stream, bits) != Z_OK)
        return tm_fail(&run->error, TM_ERR_LIMIT, -1, "cannot set up zlib: not enough memory");
    return TM_OK;
}

static tm_status start_engine(struct inflate *f)
{
#ifdef TM_HAVE_ISAL
    if (f->engine == TM_INFLATE_ISAL) {
        isal_inflate_init(&f->isal);
        return TM_OK;
    }
#endif
    return start_zlib(f->base.run, &f->zlib, -MAX_WBITS);
}

/* The first byte after a member that is neither padding nor the next member. */
static void note_garbage(struct inflate *f, uint64_t at)
{
    tm_decoder_note(&f->base, at, "after member %llu, there is data that is neither a gzip member nor padding",
                    (unsigned long long)f->base.members);
    f->part = LOST;
}

/* Something is wrong with data that no check has confirmed: only zlib's result counts. */
static void doubt(struct inflate *f)
{
    f->base.doubtful |= f->engine != TM_INFLATE_ZLIB;
}

static void advance(struct tm_decoder *decoder, struct tm_flow *flow, size_t used, size_t fresh)
{
    decoder->at += used;
    flow->in += used;
    flow->in_left -= used;
    flow->out += fresh;
    flow->out_left -= fresh;
}

/* Count what an engine has just written. */
static void account(struct inflate *f, struct tm_flow *flow, size_t used, size_t fresh)
{
    f->crc = f->checksum(f->crc, flow->out, fresh);
    f->length += (uint32_t)fresh; /* modulo 2^32, as in the trailer */
    advance(&f->base, flow, used, fresh);
}

enum body { BODY_MORE, BODY_END, BODY_DAMAGED, BODY_FAILED };

/* The engines count in 32 bits. */
static uint32_t step_of(size_t bytes)
{
    enum { STEP_MOST = 1 << 30 };

    return bytes < STEP_MOST ? (uint32_t)bytes : STEP_MOST;
}

/* out: used, fresh  bytes taken and written, by which the flow does not advance yet; returned: what zlib says */
static int step_zlib(struct zlib *zlib, const struct tm_flow *flow, size_t *used, size_t *fresh)
{
    const uint32_t length = step_of(flow->in_left), room = step_of(flow->out_left);
    z_stream *const z = &zlib->stream;
    int result;

    z->next_in = (z_const Bytef *)(uintptr_t)flow->in;
    z->avail_in = length;
    z->next_out = flow->out;
    z->avail_out = room;
    result = inflate(z, Z_SYNC_FLUSH);
    *used = length - z->avail_in;
    *fresh = room - z->avail_out;
    return result;
}

static enum body run_zlib(struct inflate *f, struct tm_flow *flow)
{
    size_t used, fresh;
    const int result = step_zlib(&f->zlib, flow, &used, &fresh);

    account(f, flow, used, fresh);
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
 * are the start of the trailer. */
static void take_back(struct inflate *f)
{
    struct inflate_state *const s = &f->isal;
    uint64_t bits = s->read_in >> (s->read_in_length % 8);

    f->small_have = 0;
    for (int32_t left = s->read_in_length / 8; left > 0 && f->small_have < TRAILER_BYTES; left--) {
        f->small[f->small_have++] = (uint8_t)bits;
        bits >>= 8;
    }
}

static enum body run_isal(struct inflate *f, struct tm_flow *flow)
{
    const uint32_t length = step_of(flow->in_left), room = step_of(flow->out_left);
    struct inflate_state *const s = &f->isal;
    int result;

    s->next_in = (uint8_t *)(uintptr_t)flow->in;
    s->avail_in = length;
    s->next_out = flow->out;
    s->avail_out = room;
    result = isal_inflate(s);
    /* After an error, avail_in does not match next_in, and may exceed the input (version 2.30). */
    account(f, flow, (size_t)(s->next_in - flow->in), room - s->avail_out);
    if (result < 0)
        return BODY_DAMAGED;
    if (s->block_state != ISAL_BLOCK_FINISH)
        return BODY_MORE;
    take_back(f);
    return BODY_END;
}
#endif

static enum body run_engine(struct inflate *f, struct tm_flow *flow)
{
#ifdef TM_HAVE_ISAL
    if (f->engine == TM_INFLATE_ISAL)
        return run_isal(f, flow);
#endif
    return run_zlib(f, flow);
}

static void begin_body(struct inflate *f)
{
    f->part = BODY;
    f->body_at = f->base.at + 1; /* of the last byte before it */
    f->crc = 0;
    f->length = 0;
#ifdef TM_HAVE_ISAL
    if (f->engine == TM_INFLATE_ISAL) {
        isal_inflate_reset(&f->isal);
        f->isal.crc_flag = ISAL_DEFLATE;
        return;
    }
#endif
    (void)inflateReset(&f->zlib.stream);
}

/* Take compressed data until they end, the chunk ends, or the output is full. */
static tm_status take_body(struct inflate *f, struct tm_flow *flow)
{
    enum body now;

    do {
        now = run_engine(f, flow);
    } while (now == BODY_MORE && flow->in_left > 0 && flow->out_left > 0);
    if (now == BODY_FAILED)
        return tm_fail(&f->base.run->error, TM_ERR_LIMIT, -1, "cannot inflate: not enough memory for zlib");
    if (now == BODY_END) {
        f->part = TRAILER;
    } else if (now == BODY_DAMAGED) {
        doubt(f);
        tm_decoder_note(&f->base, f->base.at, "the compressed data of member %llu is damaged",
                        tm_decoder_member(&f->base));
        f->part = LOST;
    }
    return TM_OK;
}

/* The parts of a header that follow the fixed one, as its flags say, in this order. */
static void next_head_part(struct inflate *f, enum part after)
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

static void check_head(struct inflate *f)
{
    if (f->small[2] != METHOD_DEFLATE || (f->small[3] & FLAGS_RESERVED)) {
        tm_decoder_note(&f->base, f->member_at, "the header of member %llu is damaged", tm_decoder_member(&f->base));
        f->part = LOST;
        return;
    }
    f->flags = f->small[3];
    next_head_part(f, HEAD);
}

/* A byte of the fixed header. */
static void take_head(struct inflate *f, uint8_t byte)
{
    static const uint8_t magic[2] = { 0x1f, 0x8b };

    if (f->small_have == 0) {
        f->member_at = f->base.at;
        f->head_crc = 0;
    }
    if (f->small_have < sizeof(magic) && byte != magic[f->small_have]) {
        if (f->base.members > 0) {
            note_garbage(f, f->member_at);
        } else {
            tm_decoder_note(&f->base, f->member_at, "it does not start with a gzip header");
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
static void take_head_part(struct inflate *f, uint8_t byte)
{
    const enum part part = f->part;

    if (part == HEAD_CRC) {
        f->small[f->small_have++] = byte;
        if (f->small_have < 2)
            return;
        if ((f->small[0] | f->small[1] << 8) != (int)(f->head_crc & 0xffff))
            tm_decoder_note(&f->base, f->member_at, "the header checksum of member %llu is wrong",
                            tm_decoder_member(&f->base));
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

/* The check of no data confirms nothing, and ISA-L accepts tables that zlib rejects (version 2.30).  Both accept the
 * two-byte block with which writers end an empty member. */
static bool is_confirmed(const struct inflate *f, uint64_t trailer_at)
{
    enum { EMPTY_BYTES = 2 };

    return f->length != 0 || trailer_at == f->body_at + EMPTY_BYTES;
}

/* The trailer is complete: check it.  After a failed check the structure is still valid, so reading continues. */
static void check_trailer(struct inflate *f)
{
    const uint64_t begin = f->base.at - TRAILER_BYTES;
    const uint32_t crc = little_endian(f->small);
    const uint32_t length = little_endian(f->small + 4);

    if (crc != f->crc || length != f->length || !is_confirmed(f, begin))
        doubt(f);
    if (crc != f->crc)
        tm_decoder_note(&f->base, begin, "the checksum (CRC) of member %llu is wrong: its data is damaged",
                        tm_decoder_member(&f->base));
    else if (length != f->length)
        tm_decoder_note(&f->base, begin, "member %llu inflates to a size other than recorded",
                        tm_decoder_member(&f->base));
    f->base.members++;
    f->small_have = 0;
    f->part = BETWEEN;
}

static void take_between(struct inflate *f, uint8_t byte)
{
    if (byte == 0x1f) {
        f->part = HEAD;
        take_head(f, byte);
    } else if (byte == 0) {
        f->part = PADDING;
    } else {
        note_garbage(f, f->base.at);
    }
}

/* Any byte outside the compressed data.  f->base.at is its place. */
static void take_byte(struct inflate *f, uint8_t byte)
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
            note_garbage(f, f->base.at);
        break;
    default:
        take_head_part(f, byte);
        break;
    }
    f->base.at++;
    if (f->part == TRAILER && f->small_have == TRAILER_BYTES)
        check_trailer(f);
}

static tm_status run(struct tm_decoder *decoder, struct tm_flow *flow)
{
    struct inflate *const f = (struct inflate *)decoder;

    for (;;) {
        if (f->part == BODY) {
            const tm_status st = flow->out_left > 0 ? take_body(f, flow) : TM_OK;

            if (st != TM_OK || f->part == BODY)
                return st;
        } else if (f->part == LOST) {
            tm_decoder_skip(decoder, flow);
            return TM_OK;
        } else if (flow->in_left == 0) {
            return TM_OK;
        } else {
            take_byte(f, *flow->in);
            flow->in++;
            flow->in_left--;
        }
    }
}

static void finish(struct tm_decoder *decoder)
{
    struct inflate *const f = (struct inflate *)decoder;

    if (f->part == BETWEEN || f->part == PADDING || f->part == LOST)
        return;
    if (f->part == BODY || f->part == TRAILER)
        doubt(f);
    tm_decoder_note(decoder, decoder->at, "it is truncated inside member %llu", tm_decoder_member(decoder));
    f->part = LOST;
}

static void free_inflate(struct tm_decoder *decoder)
{
    struct inflate *const f = (struct inflate *)decoder;

    if (f->engine == TM_INFLATE_ZLIB)
        (void)inflateEnd(&f->zlib.stream);
    tm_give(&decoder->run->budget, TM_ACCOUNT_INPUT, f, sizeof(*f));
}

static const struct tm_decoder_type inflate_type = {
    .wrapping = "gzip",
    .run = run,
    .finish = finish,
    .free = free_inflate,
};

struct tm_decoder *tm_inflate_new(struct tm_run *of, enum tm_inflate_engine engine)
{
    struct inflate *const f = tm_take(&of->budget, TM_ACCOUNT_INPUT, sizeof(*f), &of->error);

    assert(tm_inflate_has(engine));
    if (!f)
        return NULL;
    if (engine == TM_INFLATE_DEFAULT)
        engine = tm_inflate_has(TM_INFLATE_ISAL) ? TM_INFLATE_ISAL : TM_INFLATE_ZLIB;
    f->base = (struct tm_decoder){ .type = &inflate_type, .run = of };
    f->engine = engine;
    f->checksum = tm_crc32_best();
    f->part = HEAD;
    if (start_engine(f) != TM_OK) {
        free_inflate(&f->base);
        return NULL;
    }
    return &f->base;
}

/* A zlib stream, as Perfetto's traces pack their packets: zlib parses the wrapper itself.  Format: RFC 1950.
 * Where ISA-L is there, it takes the checksum of the usual wrapper, for a fifth of the cost of inflating. */

enum {
    WRAPPED_BITS = MAX_WBITS + 32, /* zlib or gzip, by the first bytes */
    USUAL_METHOD = 0x78,           /* deflate, the largest window */
    HAS_DICTIONARY = 0x20,
    WRAPPER_HEAD = 2,
    ADLER_BYTES = 4,
};

struct unzlib {
    struct tm_decoder base; /* first: the decoder that others see */
    bool has_started, has_ended, is_lost;
    bool is_bare;  /* zlib gets what is inside the wrapper */
    bool has_data; /* of a bare one: all; the checksum follows */
    uint32_t adler;
    uint8_t trailer[ADLER_BYTES];
    size_t trailer_have;
    struct zlib zlib;
};

static uint32_t adler_of(uint32_t adler, const uint8_t *bytes, size_t length)
{
#ifdef TM_HAVE_ISAL
    return isal_adler32(adler, bytes, length);
#else
    return (uint32_t)adler32_z(adler, bytes, length);
#endif
}

static void lose(struct unzlib *u, struct tm_flow *flow, const char *what)
{
    tm_decoder_note(&u->base, u->base.at, "%s", what);
    u->is_lost = true;
    tm_decoder_skip(&u->base, flow);
}

/* At the first bytes: the usual wrapper is taken off where its checksum can be taken faster. */
static void start_unzlib(struct unzlib *u, struct tm_flow *flow)
{
    const uint8_t *const head = flow->in;

    u->has_started = true;
#ifdef TM_HAVE_ISAL
    u->is_bare = flow->in_left >= WRAPPER_HEAD && head[0] == USUAL_METHOD && !(head[1] & HAS_DICTIONARY) &&
                 (head[0] << 8 | head[1]) % 31 == 0 && inflateReset2(&u->zlib.stream, -MAX_WBITS) == Z_OK;
#endif
    if (!u->is_bare)
        return;
    u->adler = 1;
    advance(&u->base, flow, WRAPPER_HEAD, 0);
}

/* The checksum after the data.  out: what zlib says of it */
static int take_trailer(struct unzlib *u, struct tm_flow *flow)
{
    uint32_t recorded = 0;

    while (u->trailer_have < ADLER_BYTES && flow->in_left) {
        u->trailer[u->trailer_have++] = *flow->in;
        advance(&u->base, flow, 1, 0);
    }
    if (u->trailer_have < ADLER_BYTES)
        return Z_OK;
    for (size_t i = 0; i < ADLER_BYTES; i++)
        recorded = recorded << 8 | u->trailer[i];
    return recorded == u->adler ? Z_STREAM_END : Z_DATA_ERROR;
}

static int step_unzlib(struct unzlib *u, struct tm_flow *flow)
{
    const uint8_t *const out = flow->out;
    size_t used, fresh;
    int result;

    if (u->is_bare && u->has_data)
        return take_trailer(u, flow);
    result = step_zlib(&u->zlib, flow, &used, &fresh);
    advance(&u->base, flow, used, fresh);
    if (!u->is_bare)
        return result;
    u->adler = adler_of(u->adler, out, fresh);
    u->has_data = result == Z_STREAM_END;
    return u->has_data ? take_trailer(u, flow) : result;
}

static tm_status run_unzlib(struct tm_decoder *decoder, struct tm_flow *flow)
{
    struct unzlib *const u = (struct unzlib *)decoder;

    if (!u->has_started && flow->in_left)
        start_unzlib(u, flow);
    while (!u->has_ended && !u->is_lost && flow->out_left > 0) {
        const int result = step_unzlib(u, flow);

        if (result == Z_MEM_ERROR)
            return tm_fail(&decoder->run->error, TM_ERR_LIMIT, -1, "cannot inflate: not enough memory for zlib");
        u->has_ended = result == Z_STREAM_END;
        decoder->members += u->has_ended;
        if (!u->has_ended && result != Z_OK && result != Z_BUF_ERROR)
            lose(u, flow, "the compressed data is damaged");
        if (result == Z_BUF_ERROR || flow->in_left == 0)
            break;
    }
    if (u->is_lost)
        tm_decoder_skip(decoder, flow);
    else if (u->has_ended && flow->in_left > 0)
        lose(u, flow, "data follows the end of the compressed data");
    return TM_OK;
}

static void finish_unzlib(struct tm_decoder *decoder)
{
    struct unzlib *const u = (struct unzlib *)decoder;

    if (!u->has_ended && !u->is_lost)
        tm_decoder_note(decoder, decoder->at, "the compressed data is truncated");
    u->is_lost = true;
}

static void free_unzlib(struct tm_decoder *decoder)
{
    struct unzlib *const u = (struct unzlib *)decoder;

    (void)inflateEnd(&u->zlib.stream);
    tm_give(&decoder->run->budget, TM_ACCOUNT_INPUT, u, sizeof(*u));
}

static const struct tm_decoder_type unzlib_type = {
    .wrapping = "zlib",
    .run = run_unzlib,
    .finish = finish_unzlib,
    .free = free_unzlib,
};

struct tm_decoder *tm_unzlib_new(struct tm_run *of)
{
    struct unzlib *const u = tm_take(&of->budget, TM_ACCOUNT_INPUT, sizeof(*u), &of->error);

    if (!u)
        return NULL;
    u->base = (struct tm_decoder){ .type = &unzlib_type, .run = of };
    if (start_zlib(of, &u->zlib, WRAPPED_BITS) == TM_OK)
        return &u->base;
    free_unzlib(&u->base);
    return NULL;
}
