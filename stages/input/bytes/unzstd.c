/* SPDX-License-Identifier: Apache-2.0 */
/* Decompresses zstd.  The headers of frames, and data between frames, are parsed here; libzstd sees one frame at a time
 * and gets it in the pieces that it requests (the header of a block, the block), so no call finds damage after it has
 * decoded something: the output of a failing call is lost.  Its memory is counted in the ledger.  Format: RFC 8878,
 * section 3. */
#include "stages/input/bytes/inflate.h"

#include <inttypes.h>
#include <string.h>

#define ZSTD_STATIC_LINKING_ONLY /* for custom memory, the header of a frame */
#include <zstd.h>
#include <zstd_errors.h>

enum {
    MAGIC_BYTES = 4,
    BLOCK_HEAD_BYTES = 3,
    WINDOW_LEAST_LOG = 20,
    WINDOW_MOST_LOG = 30,
    TAG_BYTES = 16, /* before each block of memory: its size, and its alignment kept */
};

/* The part of the file that the next byte belongs to. */
enum part { MAGIC, HEAD, SKIP_LENGTH, SKIP, BODY, LOST };

struct unzstd {
    struct tm_decoder base; /* first: the decoder that others see */
    ZSTD_DCtx *zstd;
    uint64_t window_most;
    enum part part;
    bool has_begun;                          /* a frame of any kind was seen */
    uint8_t small[ZSTD_FRAMEHEADERSIZE_MAX]; /* a header that is being put together */
    size_t small_have, small_wanted;
    uint64_t frame_at; /* where the frame starts */
    uint64_t skip_left;
    size_t piece_left; /* of what libzstd requested */
    uint64_t piece_at;
    bool is_stored;        /* the block of that piece */
    uint64_t content_left; /* of the size that the frame declares */
    bool has_given;        /* something of the frame */
    bool has_more;         /* libzstd holds bytes that had no room yet */
};

/* ---- memory ------------------------------------------------------------------------------------------- */

static void *take(void *opaque, size_t bytes)
{
    struct tm_run *const run = opaque;
    size_t whole;
    uint8_t *block;

    if (__builtin_add_overflow(bytes, (size_t)TAG_BYTES, &whole))
        return NULL;
    block = tm_take(&run->budget, TM_ACCOUNT_INPUT, whole, &run->error);
    if (!block)
        return NULL;
    memcpy(block, &whole, sizeof(whole));
    return block + TAG_BYTES;
}

static void give(void *opaque, void *address)
{
    struct tm_run *const run = opaque;
    size_t whole;
    uint8_t *block;

    if (!address)
        return;
    block = (uint8_t *)address - TAG_BYTES;
    memcpy(&whole, block, sizeof(whole));
    tm_give(&run->budget, TM_ACCOUNT_INPUT, block, whole);
}

static unsigned window_log(const struct tm_budget *budget)
{
    const uint64_t room = tm_budget_share(budget, TM_ACCOUNT_INPUT) / 3 * 2;
    unsigned log = WINDOW_LEAST_LOG;

    while (log < WINDOW_MOST_LOG && UINT64_C(2) << log <= room)
        log++;
    return log;
}

uint64_t tm_unzstd_window_most(const struct tm_budget *budget)
{
    return UINT64_C(1) << window_log(budget);
}

/* The --memory, in MiB, with which a window is allowed; 0 = there is none. */
static uint64_t memory_for(uint64_t window_bytes)
{
    for (uint64_t mib = TM_MEMORY_LEAST_MIB; mib <= UINT64_C(1) << 16; mib *= 2) {
        struct tm_budget budget;

        tm_budget_init(&budget, (size_t)(mib * TM_MIB));
        if (tm_unzstd_window_most(&budget) >= window_bytes)
            return mib;
    }
    return 0;
}

/* ---- headers ------------------------------------------------------------------------------------------ */

static uint32_t little_endian(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static bool is_skippable(uint32_t magic)
{
    return (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

uint64_t tm_unzstd_window(const uint8_t *first, size_t length)
{
    ZSTD_frameHeader header;

    return ZSTD_getFrameHeader(&header, first, length) == 0 ? header.windowSize : 0;
}

/* Whether the first `have` bytes of a magic number may become one. */
static bool may_be_magic(const uint8_t *bytes, size_t have)
{
    static const uint8_t frame[MAGIC_BYTES] = { 0x28, 0xb5, 0x2f, 0xfd };
    static const uint8_t skippable[MAGIC_BYTES] = { 0x50, 0x2a, 0x4d, 0x18 };

    return memcmp(bytes, frame, have) == 0 ||
           ((bytes[0] & 0xf0) == skippable[0] && memcmp(bytes + 1, skippable + 1, have - 1) == 0);
}

static void begin_frame(struct unzstd *z)
{
    z->part = MAGIC;
    z->small_have = 0;
    z->small_wanted = MAGIC_BYTES;
}

static void take_magic(struct unzstd *z)
{
    if (!may_be_magic(z->small, z->small_have)) {
        if (z->has_begun)
            tm_decoder_note(&z->base, z->frame_at, "after frame %" PRIu64 ", there is data that is not a zstd frame",
                            z->base.members);
        else
            tm_decoder_note(&z->base, z->frame_at, "it does not start with a zstd header");
        z->part = LOST;
        return;
    }
    if (z->small_have < MAGIC_BYTES)
        return;
    z->has_begun = true;
    z->part = is_skippable(little_endian(z->small)) ? SKIP_LENGTH : HEAD;
    z->small_wanted = MAGIC_BYTES + (z->part == SKIP_LENGTH ? 4 : 1);
}

static tm_status refuse_window(const struct unzstd *z, uint64_t window_bytes)
{
    struct tm_error *const error = &z->base.run->error;
    const uint64_t memory = memory_for(window_bytes);
    const uint64_t mib = window_bytes / TM_MIB + (window_bytes % TM_MIB != 0);

    (void)tm_fail(error, TM_ERR_LIMIT, -1,
                  "the zstd data needs a window of %" PRIu64 " MiB, but the memory limit allows %" PRIu64 " MiB", mib,
                  z->window_most / TM_MIB);
    if (memory)
        tm_hint(error, "use --memory %" PRIu64 "M, or compress it again: 'zstd -d', then 'zstd'", memory);
    else
        tm_hint(error, "compress it again: 'zstd -d', then 'zstd'");
    return TM_ERR_LIMIT;
}

/* "the header of frame 1 is damaged": the words before and after the frame. */
static void lose(struct unzstd *z, uint64_t at, const char *before, const char *after)
{
    tm_decoder_note(&z->base, at, "%sframe %llu%s", before, tm_decoder_member(&z->base), after);
    z->part = LOST;
}

/* The header is complete: libzstd gets it. */
static tm_status begin_body(struct unzstd *z, const ZSTD_frameHeader *header)
{
    ZSTD_inBuffer in = { .src = z->small, .size = z->small_have };
    uint8_t nothing;
    ZSTD_outBuffer out = { .dst = &nothing, .size = 0 };
    size_t result;

    if (header->windowSize > z->window_most)
        return refuse_window(z, header->windowSize);
    (void)ZSTD_DCtx_reset(z->zstd, ZSTD_reset_session_only);
    result = ZSTD_decompressStream(z->zstd, &out, &in);
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        return z->base.run->error.status;
    z->part = BODY;
    z->piece_left = BLOCK_HEAD_BYTES;
    z->piece_at = z->base.at;
    z->has_more = z->has_given = z->is_stored = false;
    z->content_left = header->frameContentSize; /* unknown = the largest number */
    if (!ZSTD_isError(result))
        return TM_OK;
    if (header->dictID)
        lose(z, z->frame_at, "", " needs a dictionary");
    else
        lose(z, z->frame_at, "the header of ", " is damaged");
    return TM_OK;
}

static tm_status take_head(struct unzstd *z)
{
    ZSTD_frameHeader header;
    const size_t wanted = ZSTD_getFrameHeader(&header, z->small, z->small_have);

    if (wanted == 0)
        return begin_body(z, &header);
    if (ZSTD_isError(wanted) || wanted > sizeof(z->small) || wanted <= z->small_have)
        lose(z, z->frame_at, "the header of ", " is damaged");
    else
        z->small_wanted = wanted;
    return TM_OK;
}

/* A byte of a header. */
static tm_status take_byte(struct unzstd *z, uint8_t byte)
{
    if (z->small_have == 0)
        z->frame_at = z->base.at;
    z->small[z->small_have++] = byte;
    z->base.at++;
    if (z->part == MAGIC) {
        take_magic(z);
    } else if (z->small_have < z->small_wanted) {
        return TM_OK;
    } else if (z->part == HEAD) {
        return take_head(z);
    } else {
        z->skip_left = little_endian(z->small + MAGIC_BYTES);
        z->part = SKIP;
    }
    return TM_OK;
}

static void skip(struct unzstd *z, struct tm_flow *flow)
{
    const size_t step = z->skip_left < flow->in_left ? (size_t)z->skip_left : flow->in_left;

    z->skip_left -= step;
    z->base.at += step;
    flow->in += step;
    flow->in_left -= step;
    if (z->skip_left == 0)
        begin_frame(z);
}

/* ---- the frame ---------------------------------------------------------------------------------------- */

/* libzstd failed.  It has taken the whole check where that is what failed. */
static tm_status take_failure(struct unzstd *z, struct tm_flow *flow, size_t fed, size_t result)
{
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(result);

    if (code == ZSTD_error_memory_allocation)
        return z->base.run->error.status;
    if (code != ZSTD_error_checksum_wrong) {
        lose(z, z->piece_at, "the compressed data of ",
             z->has_given ? " is damaged" : " is damaged, or needs a dictionary");
        return TM_OK;
    }
    z->base.at += fed;
    flow->in += fed;
    flow->in_left -= fed;
    tm_decoder_note(&z->base, z->base.at - 4, "the checksum of frame %llu is wrong: its data is damaged",
                    tm_decoder_member(&z->base));
    z->base.members++;
    begin_frame(z);
    return TM_OK;
}

/* What libzstd requests next, in `result`, is a piece and the header of the block after it. */
static void begin_piece(struct unzstd *z, size_t result)
{
    z->piece_at = z->base.at;
    z->piece_left = result > BLOCK_HEAD_BYTES ? result - BLOCK_HEAD_BYTES : result;
}

/* How many bytes libzstd gets at once, so that damaged data gives the same output for any division into parts.  The
 * header of a block is passed byte by byte; the first byte has its type (RFC 8878, 3.1.1.2).  A stored block is copied:
 * its last byte, which may reveal damage, is passed separately, and so is each byte beyond the size left in its
 * frame. */
static size_t next_part(struct unzstd *z, const struct tm_flow *flow)
{
    size_t most = z->piece_left;

    if (flow->in_left && most == BLOCK_HEAD_BYTES)
        z->is_stored = (*flow->in >> 1 & 3) == 0;
    if (most <= BLOCK_HEAD_BYTES || (z->is_stored && most > z->content_left))
        most = most > 0;
    else if (z->is_stored)
        most--;
    return most < flow->in_left ? most : flow->in_left;
}

/* Give libzstd a part of the piece it requested; nothing while it has pending output. */
static tm_status take_body(struct unzstd *z, struct tm_flow *flow)
{
    const size_t whole = next_part(z, flow);
    ZSTD_inBuffer in = { .src = flow->in, .size = z->has_more ? 0 : whole };
    ZSTD_outBuffer out = { .dst = flow->out, .size = flow->out_left };
    const size_t result = ZSTD_decompressStream(z->zstd, &out, &in);

    if (ZSTD_isError(result))
        return take_failure(z, flow, in.size, result);
    z->base.at += in.pos;
    z->piece_left -= in.pos;
    flow->in += in.pos;
    flow->in_left -= in.pos;
    z->content_left -= out.pos < z->content_left ? out.pos : z->content_left;
    flow->out += out.pos;
    flow->out_left -= out.pos;
    z->has_given |= out.pos > 0;
    z->has_more = flow->out_left == 0;
    if (result == 0) {
        z->base.members++;
        begin_frame(z);
    } else if (z->piece_left == 0) {
        begin_piece(z, result);
    }
    return TM_OK;
}

static tm_status run(struct tm_decoder *decoder, struct tm_flow *flow)
{
    struct unzstd *const z = (struct unzstd *)decoder;
    tm_status st = TM_OK;

    while (st == TM_OK) {
        if (z->part == BODY) {
            if (flow->out_left == 0 || (flow->in_left == 0 && !z->has_more))
                break;
            st = take_body(z, flow);
        } else if (z->part == LOST) {
            tm_decoder_skip(decoder, flow);
            break;
        } else if (z->part == SKIP && (z->skip_left == 0 || flow->in_left > 0)) {
            skip(z, flow);
        } else if (flow->in_left == 0) {
            break;
        } else {
            const uint8_t byte = *flow->in++;

            flow->in_left--;
            st = take_byte(z, byte);
        }
    }
    return st;
}

static void finish(struct tm_decoder *decoder)
{
    struct unzstd *const z = (struct unzstd *)decoder;

    if (z->part == LOST || (z->part == MAGIC && z->small_have == 0 && z->has_begun))
        return;
    lose(z, decoder->at, "it is truncated inside ", "");
}

static void free_unzstd(struct tm_decoder *decoder)
{
    struct unzstd *const z = (struct unzstd *)decoder;

    (void)ZSTD_freeDCtx(z->zstd);
    tm_give(&decoder->run->budget, TM_ACCOUNT_INPUT, z, sizeof(*z));
}

static const struct tm_decoder_type unzstd_type = {
    .wrapping = "zstd",
    .run = run,
    .finish = finish,
    .free = free_unzstd,
};

struct tm_decoder *tm_unzstd_new(struct tm_run *of)
{
    struct unzstd *const z = tm_take(&of->budget, TM_ACCOUNT_INPUT, sizeof(*z), &of->error);

    if (!z)
        return NULL;
    z->base = (struct tm_decoder){ .type = &unzstd_type, .run = of };
    z->window_most = tm_unzstd_window_most(&of->budget);
    z->zstd = ZSTD_createDCtx_advanced((ZSTD_customMem){ .customAlloc = take, .customFree = give, .opaque = of });
    if (!z->zstd) {
        free_unzstd(&z->base);
        return NULL;
    }
    (void)ZSTD_DCtx_setParameter(z->zstd, ZSTD_d_windowLogMax, (int)window_log(&of->budget));
    begin_frame(z);
    return &z->base;
}
