/* SPDX-License-Identifier: Apache-2.0 */
/* Reads raw bytes in blocks and lets a decoder unwrap them; plain bytes are read right to where they are wanted. */
#include "stages/input/bytes/unwrap.h"

#include <assert.h>
#include <string.h>

#include "stages/input/bytes/unzstd.h"

struct tm_unwrap {
    struct tm_run *run;
    struct tm_raw_bytes raw;
    enum tm_wrapping wrapping;
    struct tm_decoder *decoder; /* NULL = plain */
    size_t read_most;
    uint64_t decoded;  /* bytes of the content, the head among them */
    uint64_t surplus;
    bool ended;        /* all raw bytes have been read */
    size_t head_at, head_have;
    size_t block_at, block_have;
    uint8_t head[TM_KIND_HEAD_BYTES];
    uint8_t block[TM_RAW_BLOCK_BYTES];
};

static tm_status read_block(struct tm_unwrap *u)
{
    u->block_at = 0;
    return tm_raw_read(&u->raw, u->block, sizeof(u->block), &u->block_have);
}

/* ---- one step ----------------------------------------------------------------------------------------- */

/* What the first block holds, and then from the file itself. */
static tm_status copy_plain(struct tm_unwrap *u, struct tm_flow *flow)
{
    const size_t left = u->block_have - u->block_at;
    const size_t wanted = flow->out_left;
    size_t got = left < wanted ? left : wanted;
    tm_status st = TM_OK;

    if (got > 0) {
        memcpy(flow->out, u->block + u->block_at, got);
        u->block_at += got;
    } else {
        st = tm_raw_read(&u->raw, flow->out, wanted, &got);
        u->ended = got < wanted;
    }
    flow->out += got;
    flow->out_left -= got;
    return st;
}

/* Whether the file has to be read again with zlib. */
static bool is_doubtful(const struct tm_unwrap *u)
{
    return u->decoder && u->decoder->doubtful && tm_raw_can_restart(&u->raw);
}

static tm_status decode_block(struct tm_unwrap *u, struct tm_flow *flow)
{
    tm_status st;

    flow->in = u->block + u->block_at;
    flow->in_left = u->block_have - u->block_at;
    st = u->decoder->type->run(u->decoder, flow);
    u->block_at = u->block_have - flow->in_left;
    if (st != TM_OK || flow->out_left == 0 || is_doubtful(u))
        return st;
    st = read_block(u);
    if (st == TM_OK && u->block_have == 0) {
        u->decoder->type->finish(u->decoder);
        u->ended = true;
    }
    return st;
}

/* As many bytes as fit, or all up to the end or to a damage that is in doubt. */
static tm_status fill(struct tm_unwrap *u, uint8_t *to, size_t bytes, size_t *got)
{
    struct tm_flow flow = { .out = to, .out_left = bytes };
    tm_status st = TM_OK;

    while (st == TM_OK && flow.out_left > 0 && !u->ended && !is_doubtful(u))
        st = u->decoder ? decode_block(u, &flow) : copy_plain(u, &flow);
    *got = bytes - flow.out_left;
    return st;
}

/* ---- the stream --------------------------------------------------------------------------------------- */

/* Begin again with zlib, up to where the present call began.  `to` is where the bytes are dropped. */
static tm_status read_again(struct tm_unwrap *u, uint8_t *to, size_t bytes)
{
    uint64_t skip = u->decoded;
    tm_status st;

    tm_decoder_free(u->decoder);
    u->decoder = tm_inflate_new(u->run, TM_INFLATE_ZLIB);
    if (!u->decoder)
        return u->run->error.status;
    u->ended = false;
    st = tm_raw_restart(&u->raw);
    if (st == TM_OK)
        st = read_block(u);
    while (st == TM_OK && skip > 0 && !u->ended) {
        size_t dropped;

        st = fill(u, to, skip < bytes ? (size_t)skip : bytes, &dropped);
        skip -= dropped;
    }
    u->surplus = skip;
    return st;
}

static tm_status hand_on(struct tm_unwrap *u, uint8_t *to, size_t bytes, size_t *got)
{
    tm_status st = fill(u, to, bytes, got);

    if (st == TM_OK && is_doubtful(u)) {
        *got = 0;
        st = read_again(u, to, bytes);
        if (st == TM_OK)
            st = fill(u, to, bytes, got);
    }
    u->decoded += *got;
    return st;
}

tm_status tm_unwrap_next(struct tm_unwrap *stream, void *to, size_t bytes, size_t *got)
{
    struct tm_unwrap *const u = stream;
    const size_t most = u->read_most && u->read_most < bytes ? u->read_most : bytes;
    const size_t left = u->head_have - u->head_at;

    assert(bytes > 0);
    if (left == 0)
        return hand_on(u, to, most, got);
    *got = left < most ? left : most;
    memcpy(to, u->head + u->head_at, *got);
    u->head_at += *got;
    return TM_OK;
}

/* ---- a file that is read at its places ---------------------------------------------------------------- */

tm_status tm_unwrap_note(struct tm_unwrap *stream, uint64_t at, const void *bytes, size_t length)
{
    return tm_raw_note(&stream->raw, at, bytes, length);
}

uint64_t tm_unwrap_noted(const struct tm_unwrap *stream)
{
    return stream->raw.seen;
}

void tm_unwrap_skip_noted(struct tm_unwrap *stream)
{
    struct tm_unwrap *const u = stream;

    assert(tm_unwrap_is_file(u));
    u->head_at = u->head_have;
    u->block_at = u->block_have;
    u->raw.at = u->decoded = u->raw.seen;
}

/* ---- open and close ----------------------------------------------------------------------------------- */

static enum tm_wrapping wrapping_of(const uint8_t *first, size_t length)
{
    if (length >= 2 && first[0] == 0x1f && first[1] == 0x8b)
        return TM_GZIP;
    return tm_unzstd_is_zstd(first, length) ? TM_ZSTD : TM_PLAIN;
}

static tm_status begin(struct tm_unwrap *u, enum tm_inflate_engine engine)
{
    tm_status st = tm_raw_open(&u->raw);

    if (st == TM_OK)
        st = read_block(u);
    if (st != TM_OK)
        return st;
    u->wrapping = wrapping_of(u->block, u->block_have);
    if (u->wrapping == TM_GZIP)
        u->decoder = tm_inflate_new(u->run, tm_raw_can_restart(&u->raw) ? engine : TM_INFLATE_ZLIB);
    else if (u->wrapping == TM_ZSTD)
        u->decoder = tm_unzstd_new(u->run);
    if (u->wrapping != TM_PLAIN && !u->decoder)
        return u->run->error.status;
    return hand_on(u, u->head, sizeof(u->head), &u->head_have);
}

struct tm_unwrap *tm_unwrap_new(const struct tm_raw_bytes *raw, enum tm_inflate_engine engine, size_t read_most)
{
    struct tm_unwrap *const u = tm_take(&raw->run->budget, TM_ACCOUNT_INPUT, sizeof(*u), &raw->run->error);

    if (!u) {
        struct tm_raw_bytes unused = *raw;

        tm_raw_close(&unused);
        return NULL;
    }
    u->run = raw->run;
    u->raw = *raw;
    u->read_most = read_most;
    if (begin(u, engine) != TM_OK) {
        tm_unwrap_free(u);
        return NULL;
    }
    return u;
}

void tm_unwrap_free(struct tm_unwrap *stream)
{
    if (!stream)
        return;
    tm_decoder_free(stream->decoder);
    tm_raw_close(&stream->raw);
    tm_give(&stream->run->budget, TM_ACCOUNT_INPUT, stream, sizeof(*stream));
}

/* ---- what is known ------------------------------------------------------------------------------------ */

enum tm_wrapping tm_unwrap_wrapping(const struct tm_unwrap *stream)
{
    return stream->wrapping;
}

bool tm_unwrap_is_file(const struct tm_unwrap *stream)
{
    return stream->wrapping == TM_PLAIN && stream->raw.type == &tm_raw_file;
}

const uint8_t *tm_unwrap_head(const struct tm_unwrap *stream, size_t *length)
{
    *length = stream->head_have;
    return stream->head;
}

void tm_unwrap_tell(const struct tm_unwrap *stream, struct tm_unwrapped *all)
{
    const struct tm_raw_bytes *const raw = &stream->raw;
    const char *const problem = raw->type->problem ? raw->type->problem(raw) : NULL;
    const struct tm_decoder *const d = stream->decoder;

    *all = (struct tm_unwrapped){
        .bytes = stream->decoded,
        .surplus = stream->surplus,
        .disk_bytes = stream->raw.seen,
        .xxh3 = tm_raw_xxh3(&stream->raw),
        .members = d ? d->members : 0,
    };
    if (problem) { /* explains damage of the wrapping, too */
        all->problem_at = stream->raw.at;
        (void)snprintf(all->problem, sizeof(all->problem), "%s", problem);
        return;
    }
    if (!d || !d->problem[0])
        return;
    all->problem_at = d->problem_at;
    (void)snprintf(all->problem, sizeof(all->problem), "the %s is damaged: %s (byte %llu)", d->type->wrapping,
                   d->problem, (unsigned long long)d->problem_at);
}
