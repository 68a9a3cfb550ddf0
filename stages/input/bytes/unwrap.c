/* SPDX-License-Identifier: Apache-2.0 */
/* Reads raw bytes in blocks and lets a decoder unwrap them; plain bytes are read directly to their destination. */
#include "stages/input/bytes/unwrap.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "pipeline/files.h"
#include "pipeline/run.h"
#include "pipeline/threads.h"
#include "stages/input/bytes/fingerprint.h"
#include "stages/input/bytes/inflate.h"
#include "stages/input/bytes/input_file.h"

/* The bytes of an input as they are on disk: out of a file with pread, out of a stream with read.  No memory but
 * that of the fingerprint. */

tm_status tm_raw_read_at(struct tm_run *run, const char *name, int fd, void *to, size_t bytes, uint64_t at, size_t *got)
{
    const int problem = tm_read_at(fd, to, bytes, at, got);

    return !problem ? TM_OK
                    : tm_fail_system(&run->error, TM_ERR_INPUT, (int64_t)(at + *got), problem, "cannot read %s", name);
}

static tm_status read_file(struct tm_raw_bytes *raw, uint8_t *to, size_t bytes, size_t *got)
{
    const uint64_t left = raw->size - raw->at;
    const size_t want = left < bytes ? (size_t)left : bytes;
    const tm_status st = tm_raw_read_at(raw->run, raw->name, raw->fd, to, want, raw->at, got);

    if (st != TM_OK || *got == want)
        return st;
    return tm_unchanged_refuse_short(raw->run, raw->name, raw->size, raw->at + *got);
}

static tm_status restart_file(struct tm_raw_bytes *raw)
{
    (void)raw; /* read_file uses the position only */
    return TM_OK;
}

static tm_status read_stream(struct tm_raw_bytes *raw, uint8_t *to, size_t bytes, size_t *got)
{
    const int problem = tm_read_on(raw->fd, to, bytes, got);

    return !problem ? TM_OK
                    : tm_fail_system(&raw->run->error, TM_ERR_INPUT, (int64_t)(raw->at + *got), problem,
                                     "cannot read %s", raw->name);
}

const struct tm_raw_type tm_raw_file = { .read = read_file, .restart = restart_file };

const struct tm_raw_type tm_raw_stream = { .read = read_stream };

/* owns:   what the filled fields say; raw_close releases `own`, also after a failure */
static tm_status raw_open(struct tm_raw_bytes *raw)
{
    raw->fingerprint = tm_fingerprint_new(raw->run, raw->size);
    return raw->fingerprint ? TM_OK : raw->run->error.status;
}

/* The next bytes; counts them as progress and adds them to the fingerprint.
 * out: got fewer than requested only at the end
 * errors: TM_ERR_INPUT  cannot be read, or became shorter */
static tm_status raw_read(struct tm_raw_bytes *raw, void *to, size_t bytes, size_t *got)
{
    const tm_status st = raw->type->read(raw, to, bytes, got);

    if (st != TM_OK)
        return st;
    tm_fingerprint_note(raw->fingerprint, raw->at, to, *got);
    raw->at += *got;
    if (raw->at > raw->seen) { /* what was not seen before a restart */
        tm_progress_add(&raw->run->progress, raw->at - raw->seen);
        raw->seen = raw->at;
    }
    return TM_OK;
}

static bool raw_can_restart(const struct tm_raw_bytes *raw)
{
    return raw->type->restart != NULL;
}

static tm_status raw_restart(struct tm_raw_bytes *raw)
{
    raw->at = 0;
    return raw->type->restart(raw);
}

/* tolerates a zeroed or closed one */
static void raw_close(struct tm_raw_bytes *raw)
{
    if (!raw->type)
        return;
    if (raw->type->close)
        raw->type->close(raw);
    tm_fingerprint_free(raw->fingerprint);
    *raw = (struct tm_raw_bytes){ .fd = -1 };
}

struct tm_unwrap {
    struct tm_run *run;
    struct tm_raw_bytes raw;
    enum tm_wrapping wrapping;
    struct tm_decoder *decoder; /* NULL = plain */
    size_t read_most;
    uint64_t decoded; /* bytes of the content, the head among them */
    uint64_t surplus;
    bool ended; /* all raw bytes have been read */
    bool was_ahead;
    struct tm_ahead *ahead; /* NULL = this thread unwraps */
    struct tm_run *aside;   /* of the thread that does, for its failure */
    size_t head_at, head_have;
    size_t block_at, block_have;
    uint8_t head[TM_KIND_HEAD_BYTES];
    uint8_t block[TM_RAW_BLOCK_BYTES];
};

static tm_status read_block(struct tm_unwrap *u)
{
    u->block_at = 0;
    return raw_read(&u->raw, u->block, sizeof(u->block), &u->block_have);
}

/* ---- one step ----------------------------------------------------------------------------------------- */

/* Copy what the first block holds, then read from the file itself. */
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
        st = raw_read(&u->raw, flow->out, wanted, &got);
        u->ended = got < wanted;
    }
    flow->out += got;
    flow->out_left -= got;
    return st;
}

/* Whether the file has to be read again with zlib. */
static bool is_doubtful(const struct tm_unwrap *u)
{
    return u->decoder && u->decoder->doubtful && raw_can_restart(&u->raw);
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

/* As many bytes as fit, or all up to the end or to unconfirmed damage. */
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

/* Start again with zlib, up to where the current call started.  `to` is where the bytes are dropped. */
static tm_status read_again(struct tm_unwrap *u, uint8_t *to, size_t bytes)
{
    uint64_t skip = u->decoded;
    tm_status st;

    tm_decoder_free(u->decoder);
    u->decoder = tm_inflate_new(u->run, TM_INFLATE_ZLIB);
    if (!u->decoder)
        return u->run->error.status;
    u->ended = false;
    st = raw_restart(&u->raw);
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

/* ---- ahead, on a thread -------------------------------------------------------------------------------- */

/* Until it ends, the thread has the raw bytes, the block and the decoder for itself.  Failures and doubts are for the
 * main thread, which continues where the thread stopped as if it had read up to there itself. */
static bool fill_ahead(void *of, uint8_t *to, size_t bytes, size_t *got, uint64_t *read)
{
    struct tm_unwrap *const u = of;
    const uint64_t seen = u->raw.seen;
    const tm_status st = fill(u, to, bytes, got);

    *read = u->raw.seen - seen;
    if (st != TM_OK || is_doubtful(u))
        *got = 0;
    return st == TM_OK && !u->ended && !is_doubtful(u);
}

/* Threads cost a tenth of a millisecond; this many packed bytes take twenty times as long to inflate. */
enum { AHEAD_LEAST_BYTES = 1 << 20 };

static void start_ahead(struct tm_unwrap *u)
{
    if (u->was_ahead)
        return;
    u->was_ahead = true;
    if (u->wrapping != TM_GZIP || u->raw.type != &tm_raw_file || u->raw.size < AHEAD_LEAST_BYTES || u->read_most ||
        u->ended || tm_cores(u->run) < 2)
        return;
    u->aside = tm_take(&u->run->budget, TM_ACCOUNT_INPUT, sizeof(*u->aside), &u->run->error);
    if (!u->aside)
        return;
    u->raw.run = u->decoder->run = u->aside;
    u->ahead = tm_ahead_start(u->run, fill_ahead, u);
    if (!u->ahead)
        u->raw.run = u->decoder->run = u->run;
}

static tm_status end_ahead(struct tm_unwrap *u)
{
    if (u->ahead) {
        tm_ahead_end(u->ahead);
        u->ahead = NULL;
        u->raw.run = u->decoder->run = u->run;
        if (tm_failed(u->aside) && !tm_failed(u->run))
            u->run->error = u->aside->error;
    }
    tm_give(&u->run->budget, TM_ACCOUNT_INPUT, u->aside, sizeof(*u->aside));
    u->aside = NULL;
    return u->run->error.status;
}

/* Take what the thread has produced, or after its end continue without it. */
static tm_status take_ahead(struct tm_unwrap *u, uint8_t *to, size_t bytes, size_t *got)
{
    uint64_t read;
    tm_status st;

    start_ahead(u);
    if (u->ahead) {
        *got = tm_ahead_read(u->ahead, to, bytes, &read);
        tm_progress_add(&u->run->progress, read);
        u->decoded += *got;
        if (*got)
            return TM_OK;
    }
    st = end_ahead(u);
    return st == TM_OK ? hand_on(u, to, bytes, got) : st;
}

size_t tm_unwrap_lend(struct tm_unwrap *stream, uint8_t **at)
{
    struct tm_unwrap *const u = stream;
    size_t got;

    if (u->head_have > u->head_at)
        return 0;
    start_ahead(u);
    got = u->ahead ? tm_ahead_lend(u->ahead, at) : 0;
    u->decoded += got;
    return got;
}

void tm_unwrap_return(struct tm_unwrap *stream)
{
    uint64_t read = 0;

    if (stream->ahead)
        tm_ahead_return(stream->ahead, &read);
    tm_progress_add(&stream->run->progress, read);
}

tm_status tm_unwrap_next(struct tm_unwrap *stream, void *to, size_t bytes, size_t *got)
{
    struct tm_unwrap *const u = stream;
    const size_t most = u->read_most && u->read_most < bytes ? u->read_most : bytes;
    const size_t left = u->head_have - u->head_at;

    assert(bytes > 0);
    if (left == 0)
        return take_ahead(u, to, most, got);
    *got = left < most ? left : most;
    memcpy(to, u->head + u->head_at, *got);
    u->head_at += *got;
    return TM_OK;
}

/* ---- a file that is read at its places ---------------------------------------------------------------- */

struct tm_fingerprint *tm_unwrap_fingerprint(const struct tm_unwrap *stream)
{
    assert(tm_unwrap_is_file(stream));
    return stream->raw.fingerprint;
}

tm_status tm_unwrap_complete(struct tm_unwrap *stream, void *block, size_t bytes)
{
    struct tm_raw_bytes *const raw = &stream->raw;
    struct tm_gap gap;

    assert(tm_unwrap_is_file(stream));
    for (gap = tm_fingerprint_next_gap(raw->fingerprint); gap.begin < gap.end;
         gap = tm_fingerprint_next_gap(raw->fingerprint)) {
        const uint64_t left = gap.end - gap.begin;
        size_t got;

        raw->at = raw->seen = gap.begin;
        if (raw_read(raw, block, left < bytes ? (size_t)left : bytes, &got) != TM_OK)
            return raw->run->error.status;
    }
    raw->at = raw->seen = stream->decoded = raw->size;
    return TM_OK;
}

/* ---- open and close ----------------------------------------------------------------------------------- */

static tm_status begin(struct tm_unwrap *u, enum tm_inflate_engine engine)
{
    tm_status st = raw_open(&u->raw);

    if (st == TM_OK)
        st = read_block(u);
    if (st != TM_OK)
        return st;
    u->wrapping = tm_wrapping_of(u->block, u->block_have);
    if (u->wrapping == TM_GZIP)
        u->decoder = tm_inflate_new(u->run, raw_can_restart(&u->raw) ? engine : TM_INFLATE_ZLIB);
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

        raw_close(&unused);
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
    (void)end_ahead(stream);
    tm_decoder_free(stream->decoder);
    raw_close(&stream->raw);
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
        .xxh3 = tm_fingerprint_value(stream->raw.fingerprint),
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
