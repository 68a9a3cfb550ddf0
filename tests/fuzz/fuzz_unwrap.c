/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a gzip and as a zstd, unwrapped in chunks that the last bytes choose, by each engine.  Beside what the
 * sanitizers see: another result for other chunks; another one than zlib's own reading of the whole gzip and libzstd's of
 * the whole zstd have; engines that differ where none has a doubt; memory that is not given back. */
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "stages/input/bytes/inflate.h"
#include "tests/fuzz/fuzz_choices.h"
#include "tests/fuzz/fuzz_job.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { OUT_MOST = 192 << 10, OUT_SLOW = 24 << 10, SLOW_ROOM = 64 };

struct packed {
    const uint8_t *data;
    size_t size;
};

struct outcome {
    uint8_t out[OUT_MOST];
    size_t length;
    bool is_cut; /* there may have been more than `length` bytes */
    bool is_refused, doubtful;
    char problem[256];
    uint64_t problem_at, members, at;
};

/* --- this program's --- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The whole data in chunks; each at the end of its memory, so that a step past it is seen. */
static tm_status feed(struct tm_decoder *decoder, struct packed data, size_t step, size_t room, struct outcome *o)
{
    const size_t most = room < SLOW_ROOM ? OUT_SLOW : OUT_MOST;
    const size_t longest = smaller(step, data.size);
    uint8_t *const chunks = malloc(longest ? longest : 1);
    tm_status st = TM_OK;

    FUZZ_REQUIRE(chunks != NULL);
    for (size_t at = 0; at < data.size && st == TM_OK && !o->is_cut;) {
        const size_t length = smaller(step, data.size - at);
        uint8_t *const chunk = chunks + (longest - length);
        struct tm_flow flow = { .in = chunk, .in_left = length };
        bool is_full;

        memcpy(chunk, data.data + at, length);
        do {
            const size_t left = smaller(room, most - o->length);

            flow.out = o->out + o->length;
            flow.out_left = left;
            st = decoder->type->run(decoder, &flow);
            FUZZ_REQUIRE(flow.out_left <= left && flow.in_left <= length);
            o->length += left - flow.out_left;
            is_full = flow.out_left == 0;
            o->is_cut = o->length == most;
        } while (st == TM_OK && is_full && !o->is_cut);
        FUZZ_REQUIRE(st != TM_OK || o->is_cut || flow.in_left == 0);
        at += length;
    }
    free(chunks);
    return st;
}

static void unwrap(struct tm_run *run, struct tm_decoder *decoder, struct packed data, size_t step, size_t room,
                   struct outcome *o)
{
    o->length = 0;
    o->is_cut = false;
    FUZZ_REQUIRE(decoder != NULL);
    o->is_refused = feed(decoder, data, step, room, o) != TM_OK;
    FUZZ_REQUIRE(o->is_refused == (run->error.status != TM_OK));
    if (!o->is_refused && !o->is_cut)
        decoder->type->finish(decoder);
    memcpy(o->problem, decoder->problem, sizeof(o->problem));
    FUZZ_REQUIRE(memchr(o->problem, '\0', sizeof(o->problem)) != NULL && decoder->problem_at <= data.size);
    o->problem_at = decoder->problem_at;
    o->members = decoder->members;
    o->at = decoder->at;
    o->doubtful = decoder->doubtful;
    tm_decoder_free(decoder);
    fuzz_run_end(run);
}

static void require_same_bytes(const struct outcome *a, const struct outcome *b)
{
    FUZZ_REQUIRE(memcmp(a->out, b->out, smaller(a->length, b->length)) == 0);
    FUZZ_REQUIRE(a->length == b->length || a->is_cut || b->is_cut);
}

static void require_same(const struct outcome *a, const struct outcome *b)
{
    require_same_bytes(a, b);
    if (a->is_cut || b->is_cut)
        return;
    FUZZ_REQUIRE(a->is_refused == b->is_refused && strcmp(a->problem, b->problem) == 0);
    FUZZ_REQUIRE(a->problem_at == b->problem_at && a->members == b->members && a->at == b->at);
}

/* --- the libraries' --- */

static bool is_padding(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i])
            return false;
    return true;
}

/* out: whether it is sound, all of it */
static bool inflate_whole(struct packed data, struct outcome *o)
{
    z_stream z = { .next_in = (z_const Bytef *)(uintptr_t)data.data, .avail_in = (uInt)data.size };
    int result = Z_OK;

    z.next_out = o->out;
    z.avail_out = OUT_MOST;
    FUZZ_REQUIRE(inflateInit2(&z, 16 + MAX_WBITS) == Z_OK);
    do {
        result = inflate(&z, Z_SYNC_FLUSH);
        if (result == Z_STREAM_END && z.avail_in > 0 && z.next_in[0] == 0x1f)
            result = inflateReset(&z);
    } while (result == Z_OK && z.avail_out > 0 && z.avail_in > 0);
    o->length = OUT_MOST - z.avail_out;
    o->is_cut = z.avail_out == 0;
    result = result == Z_STREAM_END && is_padding(z.next_in, z.avail_in) ? Z_STREAM_END : Z_DATA_ERROR;
    (void)inflateEnd(&z);
    return result == Z_STREAM_END;
}

static void check_gzip(struct packed data, size_t step, size_t room)
{
    static struct outcome zlib, other, whole;
    struct tm_run run;

    fuzz_run_init(&run);
    unwrap(&run, tm_inflate_new(&run, TM_INFLATE_ZLIB), data, SIZE_MAX, OUT_MOST, &zlib);
    unwrap(&run, tm_inflate_new(&run, TM_INFLATE_ZLIB), data, step, room, &other);
    require_same(&zlib, &other);
    if (tm_inflate_has(TM_INFLATE_ISAL)) {
        unwrap(&run, tm_inflate_new(&run, TM_INFLATE_ISAL), data, step, room, &other);
        FUZZ_REQUIRE(other.is_cut || zlib.is_cut || !other.problem[0] || zlib.problem[0]);
        if (!other.doubtful && !other.is_cut)
            require_same(&zlib, &other);
    }
    if (data.size == 0)
        return;
    const bool is_sound = inflate_whole(data, &whole);

    FUZZ_REQUIRE(whole.length <= zlib.length && memcmp(whole.out, zlib.out, whole.length) == 0);
    if (!whole.is_cut && !zlib.is_cut)
        FUZZ_REQUIRE(is_sound == !zlib.problem[0] && (!is_sound || whole.length == zlib.length));
}

/* libzstd reads formats before 0.8 as well, which are no zstd here. */
static bool is_no_frame(const char *problem)
{
    return strstr(problem, "no frame") || strstr(problem, "does not begin");
}

/* Byte by byte: of a frame that it has at once libzstd takes blocks that are larger than the format allows (RFC 8878,
 * 3.1.1.2.3).  out: whether it is sound */
static bool decompress_whole(struct packed data, struct outcome *o)
{
    ZSTD_DCtx *const zstd = ZSTD_createDCtx();
    ZSTD_outBuffer out = { .dst = o->out, .size = OUT_MOST };
    size_t result = 1;

    FUZZ_REQUIRE(zstd != NULL);
    for (ZSTD_inBuffer in = { .src = data.data }; in.pos < data.size && !ZSTD_isError(result) && out.pos < OUT_MOST;) {
        in.size = in.pos + 1;
        result = ZSTD_decompressStream(zstd, &out, &in);
    }
    (void)ZSTD_freeDCtx(zstd);
    o->length = out.pos;
    o->is_cut = out.pos == OUT_MOST;
    return result == 0;
}

static void check_zstd(struct packed data, size_t step, size_t room)
{
    static struct outcome once, other, whole;
    struct tm_run run;

    fuzz_run_init(&run);
    unwrap(&run, tm_unzstd_new(&run), data, SIZE_MAX, OUT_MOST, &once);
    fuzz_run_init(&run);
    unwrap(&run, tm_unzstd_new(&run), data, step, room, &other);
    require_same(&once, &other);
    if (once.is_cut || once.is_refused || data.size == 0)
        return;
    if (!decompress_whole(data, &whole))
        FUZZ_REQUIRE(whole.is_cut || once.problem[0] != '\0');
    else if (once.problem[0])
        FUZZ_REQUIRE(is_no_frame(once.problem));
    else
        require_same_bytes(&once, &whole);
}

/* Seeds: zstd of all sorts of blocks and headers. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *const folder = getenv("TM_FUZZ_SEEDS");
    static char text[8192], packed[2 * sizeof(text)], path[4096];

    (void)argc;
    (void)argv;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = i < 4000 ? "all-reduce.17 fusion"[i % 20] : (char)(i * i * 2654435761u >> 13);
    for (int way = 0; folder && way < 16; way++) {
        ZSTD_CCtx *const zstd = ZSTD_createCCtx();
        const size_t part = way & 1 ? 300 : sizeof(text);
        FILE *to;
        size_t length;

        (void)snprintf(path, sizeof(path), "%s/zstd-%d", folder, way);
        (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, way >> 1 & 1);
        (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_contentSizeFlag, way >> 2 & 1);
        (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, way & 8 ? 19 : 1);
        length = ZSTD_compress2(zstd, packed, sizeof(packed), text, part);
        if (way % 5 == 4 && !ZSTD_isError(length)) /* two frames with one that is skipped between them */
            length += (size_t)sprintf(packed + length, "\x50\x2a\x4d\x18\x03%c%c%cabc", 0, 0, 0);
        to = fopen(path, "wb");
        FUZZ_REQUIRE(to && !ZSTD_isError(length) && fwrite(packed, 1, length, to) == length);
        FUZZ_REQUIRE(fclose(to) == 0);
        (void)ZSTD_freeCCtx(zstd);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fuzz_choices choices = fuzz_choices_take(data, &size);
    const struct packed packed = { data, size };
    const size_t step = fuzz_step(choices.bytes[0]), room = smaller(fuzz_step(choices.bytes[1]), OUT_MOST);

    if (size && data[0] == 0x1f)
        check_gzip(packed, step, room);
    else
        check_zstd(packed, step, room);
    return 0;
}
