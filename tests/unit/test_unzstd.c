/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/bytes/inflate.h"

#include <stdlib.h>

#include <zstd.h>

#include "stages/input/bytes/input_file.h"
#include "tests/support/decode_steps.h"
#include "tests/support/test_run.h"

enum { MOST = BYTES_MOST, LONG = 700000, SHORT = 3000 };

/* Text that packs, with stretches that do not. */
static void fill_text(uint8_t *text, size_t length, uint64_t seed)
{
    for (size_t i = 0; i < length; i++)
        text[i] = i % 1000 < 300 ? (uint8_t)next_number(&seed) : (uint8_t) "the quick brown fox "[i % 20];
}

/* How a frame is written. */
struct way {
    int level, window_log; /* window_log 0 = as the level has it */
    bool check, says_length;
    size_t block; /* a block ends after so many bytes; 0 = as the library likes */
};

static void append_frame(struct bytes *b, const uint8_t *text, size_t length, const struct way *way)
{
    ZSTD_CCtx *const c = ZSTD_createCCtx();
    ZSTD_outBuffer out = { .dst = b->at, .size = MOST, .pos = b->length };
    ZSTD_inBuffer nothing = { .src = text };
    const size_t step = way->block ? way->block : length + 1;

    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, way->level)));
    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, way->check)));
    if (way->window_log)
        assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, way->window_log)));
    if (way->says_length)
        assert_false(ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(c, length)));
    /* begun before the end is known, else the frame is fitted to the length */
    assert_false(ZSTD_isError(ZSTD_compressStream2(c, &out, &nothing, ZSTD_e_continue)));
    for (size_t at = 0; at + step < length; at += step) {
        ZSTD_inBuffer in = { .src = text + at, .size = step };

        assert_int_equal(ZSTD_compressStream2(c, &out, &in, ZSTD_e_flush), 0);
    }
    ZSTD_inBuffer rest = { .src = text, .size = length, .pos = length == 0 ? 0 : (length - 1) / step * step };

    assert_int_equal(ZSTD_compressStream2(c, &out, &rest, ZSTD_e_end), 0);
    b->length = out.pos;
    assert_int_equal(ZSTD_freeCCtx(c), 0);
}

static void append_skippable(struct bytes *b, unsigned variant, const char *text, uint32_t length)
{
    const uint8_t head[8] = { (uint8_t)(0x50 | variant), 0x2a, 0x4d, 0x18, (uint8_t)length, (uint8_t)(length >> 8) };

    append(b, head, sizeof(head));
    append(b, text, length);
}

static struct outcome decode(const struct bytes *file, size_t step, size_t room)
{
    struct tm_run run;

    test_run_init(&run);
    return decode_in_steps(&run, tm_unzstd_new(&run), file, step, room);
}

/* Whole, and in steps of any length on either side: always the same. */
static struct outcome decode_each_way(const struct bytes *file)
{
    static const size_t steps[] = { 1, 2, 7, 4096, MOST, MOST, 3, 100003 };
    static const size_t rooms[] = { MOST, 1, 40000, 4099, 3, 131072, 5, 131073 };
    const struct outcome first = decode(file, MOST, MOST);

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct outcome other = decode(file, steps[i], rooms[i]);

        assert_same(&first, &other);
        free(other.out.at);
    }
    return first;
}

static void assert_whole(const struct bytes *file, const uint8_t *text, size_t length, uint64_t frames)
{
    assert_came_out(decode_each_way(file), text, length, frames);
}

static void assert_problem(const struct bytes *file, const char *words, uint64_t at, size_t out_length)
{
    assert_damaged(decode_each_way(file), words, at, out_length);
}

static void any_frame_is_decompressed(void **state)
{
    static const size_t lengths[] = { 0, 1, 2, 255, 131072, LONG };
    uint8_t *const text = calloc(1, LONG);

    (void)state;
    assert_non_null(text);
    fill_text(text, 400000, 1); /* then zeros: blocks of one byte */
    for (size_t i = 0; i < 4 * sizeof(lengths) / sizeof(lengths[0]); i++) {
        const struct way way = { .level = i % 8 < 4 ? 1 : 9,
                                 .check = i % 4 == 1,
                                 .says_length = i % 4 == 2,
                                 .window_log = i % 4 == 3 ? 12 : 20,
                                 .block = i % 8 == 7 ? 5000 : 0 };
        struct bytes file = new_bytes();

        append_frame(&file, text, lengths[i / 4], &way);
        assert_whole(&file, text, lengths[i / 4], 1);
        free(file.at);
    }
    free(text);
}

static void frames_follow_one_another(void **state)
{
    const struct way plain = { .level = 3 }, checked = { .level = 1, .check = true, .says_length = true };
    uint8_t text[SHORT];
    struct bytes file = new_bytes();

    (void)state;
    fill_text(text, SHORT, 2);
    append_skippable(&file, 0, "an index", 8);
    append_frame(&file, text, 1000, &plain);
    append_frame(&file, text, 0, &checked);
    append_skippable(&file, 15, "", 0);
    append_frame(&file, text + 1000, SHORT - 1000, &checked);
    append_skippable(&file, 7, "the end", 7);
    assert_int_equal(tm_wrapping_of(file.at, file.length), TM_ZSTD);
    assert_int_equal(tm_wrapping_of(file.at + 16, file.length - 16), TM_ZSTD);
    assert_int_equal(tm_wrapping_of(file.at + 16, 3), TM_PLAIN);
    assert_int_equal(tm_wrapping_of((const uint8_t *)"{\"traceEvents\"", 14), TM_PLAIN);
    assert_whole(&file, text, SHORT, 3);
    free(file.at);
}

static void other_bytes_are_a_problem(void **state)
{
    static const char *const tails[] = { "x", "\0\0\0", "\x28\xb5\x2f\xfc", "\x50\x2a\x4e", "trailing garbage" };
    const struct way way = { .level = 3 };
    struct bytes file = new_bytes();
    size_t end;

    (void)state;
    assert_problem(&file, "truncated inside frame 1", 0, 0);
    append(&file, "plain", 5);
    assert_problem(&file, "does not start with a zstd header", 0, 0);
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        file.length = 0;
        append_frame(&file, (const uint8_t *)"trace", 5, &way);
        end = file.length;
        append(&file, tails[i], i == 1 ? 3 : strlen(tails[i]));
        assert_problem(&file, "after frame 1, there is data that is not a zstd frame", end, 5);
    }
    file.length = end;
    append(&file, "\x28\xb5", 2);
    assert_problem(&file, "truncated inside frame 2", end + 2, 5);
    file.length = end;
    append_skippable(&file, 0, "abc", 3);
    file.length--;
    assert_problem(&file, "truncated inside frame 2", end + 10, 5);
    free(file.at);
}

static void a_wrong_check_is_told_and_the_data_are_kept(void **state)
{
    const struct way way = { .level = 3, .check = true };
    struct bytes file = new_bytes();
    size_t end;
    struct outcome o;

    (void)state;
    append_frame(&file, (const uint8_t *)"first ", 6, &way);
    end = file.length;
    append_frame(&file, (const uint8_t *)"second", 6, &way);
    file.at[end - 2] ^= 1;
    assert_problem(&file, "the checksum of frame 1 is wrong", end - 4, 12);
    o = decode(&file, 1, 1);
    assert_memory_equal(o.out.at, "first second", 12);
    assert_int_equal(o.members, 2);
    free(o.out.at);
    free(file.at);
}

/* What libzstd gives of the bytes when it gets them one by one: all that can be decompressed. */
static struct bytes decompress_bytewise(const struct bytes *file, bool *failed)
{
    ZSTD_DCtx *const d = ZSTD_createDCtx();
    struct bytes out = new_bytes();
    size_t result = 0;

    for (size_t at = 0; at < file->length && !ZSTD_isError(result); at++) {
        ZSTD_inBuffer in = { .src = file->at + at, .size = 1 };
        ZSTD_outBuffer to = { .dst = out.at, .size = MOST, .pos = out.length };

        result = ZSTD_decompressStream(d, &to, &in);
        out.length = ZSTD_isError(result) ? out.length : to.pos;
    }
    *failed = result != 0;
    assert_int_equal(ZSTD_freeDCtx(d), 0);
    return out;
}

static void assert_as_bytewise(const struct bytes *file)
{
    bool failed;
    struct bytes wanted = decompress_bytewise(file, &failed);
    struct outcome whole = decode(file, MOST, MOST), steps = decode(file, 5, 11);

    assert_same(&whole, &steps);
    assert_int_equal(whole.problem[0] != 0, failed || file->length == 0);
    if (!strstr(whole.problem, "the checksum of")) { /* after which the next frame is read */
        assert_int_equal(whole.out.length, wanted.length);
        assert_memory_equal(whole.out.at, wanted.at, wanted.length);
    } else {
        assert_true(whole.out.length >= wanted.length);
    }
    free(wanted.at);
    free(whole.out.at);
    free(steps.out.at);
}

static void make_three(struct bytes *file)
{
    const struct way blocks = { .level = 3, .block = 400 }, checked = { .level = 1, .check = true };
    uint8_t text[SHORT];

    fill_text(text, SHORT, 3);
    append_frame(file, text, 1500, &blocks);
    append_skippable(file, 3, "between", 7);
    append_frame(file, text + 1500, 700, &checked);
}

static void a_file_cut_anywhere_gives_what_came_before(void **state)
{
    struct bytes file = new_bytes();

    (void)state;
    make_three(&file);
    for (size_t length = 0; length < file.length; length++) {
        const struct bytes cut = { file.at, length };

        assert_as_bytewise(&cut);
    }
    free(file.at);
}

static void a_file_damaged_anywhere_gives_what_came_before(void **state)
{
    struct bytes file = new_bytes();

    (void)state;
    make_three(&file);
    for (size_t at = 6; at < file.length; at++) { /* after the header, whose window could be refused */
        for (unsigned bit = 0; bit < 8; bit += 3) {
            file.at[at] ^= (uint8_t)(1u << bit);
            if (tm_wrapping_of(file.at, file.length) == TM_ZSTD)
                assert_as_bytewise(&file);
            file.at[at] ^= (uint8_t)(1u << bit);
        }
    }
    free(file.at);
}

/* Only at the end of the last block it shows that there is less than the header says, and the block is stored: all of it
 * but the last byte comes out, however the chunks are cut.  Found by fuzzing. */
static void a_stored_end_that_is_too_short_comes_out_the_same(void **state)
{
    (void)state;
    for (uint8_t length = 1; length < 20; length++) {
        const uint8_t head[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x60, 6, 0, (uint8_t)(length << 3 | 1), 0, 0 };
        struct bytes file = new_bytes();

        append(&file, head, sizeof(head));
        append(&file, "all that was stored in here", length);
        assert_as_bytewise(&file);
        assert_problem(&file, "the compressed data of frame 1 is damaged", file.length - (length < 3 ? length : 3),
                       length - 1u);
        free(file.at);
    }
}

/* Two stored blocks, of which the second holds more than its frame says to have left: what there is room for comes out. */
static void stored_blocks_past_the_end_of_their_frame_come_out_the_same(void **state)
{
    (void)state;
    for (uint8_t length = 1; length < 24; length++) {
        const uint8_t head[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x20, 12, 8 << 3, 0, 0 },
                      next[] = { (uint8_t)(length << 3), 0, 0 };
        struct bytes file = new_bytes();

        append(&file, head, sizeof(head));
        append(&file, "eight of", 8);
        append(&file, next, sizeof(next));
        append(&file, "twelve that it says to hold", length);
        assert_as_bytewise(&file);
        free(file.at);
    }
}

/* Decode a frame of a window under a limit. */
static tm_status decode_window(struct tm_run *run, int window_log, size_t memory_mib)
{
    const struct way way = { .level = 1, .window_log = window_log };
    struct bytes file = new_bytes();
    struct tm_decoder *decoder;
    uint8_t out[8];
    tm_status st;

    test_run_init(run);
    tm_budget_init(&run->budget, memory_mib * TM_MIB);
    append_frame(&file, (const uint8_t *)"trace", 5, &way);
    struct tm_flow flow = { .in = file.at, .in_left = file.length, .out = out, .out_left = sizeof(out) };

    decoder = tm_unzstd_new(run);
    assert_non_null(decoder);
    st = decoder->type->run(decoder, &flow);
    if (st == TM_OK)
        assert_memory_equal(out, "trace", 5);
    tm_decoder_free(decoder);
    assert_ledger_is_even(run);
    assert_true(run->budget.peak_bytes[TM_ACCOUNT_INPUT] <= tm_budget_share(&run->budget, TM_ACCOUNT_INPUT));
    free(file.at);
    return st;
}

static void a_window_that_does_not_fit_is_refused(void **state)
{
    struct tm_run run;

    (void)state;
    assert_int_equal(decode_window(&run, 21, TM_MEMORY_LEAST_MIB), TM_OK);
    assert_int_equal(decode_window(&run, 22, TM_MEMORY_LEAST_MIB), TM_ERR_LIMIT);
    assert_string_equal(run.error.what, "the zstd data needs a window of 4 MiB, but the memory limit allows 2 MiB");
    assert_string_equal(run.error.hint, "use --memory 64M, or compress it again: 'zstd -d', then 'zstd'");
    assert_int_equal(decode_window(&run, 22, 64), TM_OK);
    assert_int_equal(decode_window(&run, 23, TM_MEMORY_DEFAULT_MIB), TM_OK);
    assert_int_equal(decode_window(&run, 24, TM_MEMORY_DEFAULT_MIB), TM_OK);
    assert_int_equal(decode_window(&run, 25, TM_MEMORY_DEFAULT_MIB), TM_ERR_LIMIT);
    assert_non_null(strstr(run.error.hint, "--memory 512M"));
    assert_int_equal(decode_window(&run, 27, 2048), TM_OK);
    assert_int_equal(decode_window(&run, 28, 4096), TM_OK); /* more than libzstd allows by itself */
}

static tm_status decode_once(struct tm_run *run)
{
    struct tm_decoder *const decoder = tm_unzstd_new(run);
    const struct way way = { .level = 1 };
    struct bytes file = new_bytes();
    uint8_t out[8];
    tm_status st;

    append_frame(&file, (const uint8_t *)"trace", 5, &way);
    struct tm_flow flow = { .in = file.at, .in_left = file.length, .out = out, .out_left = sizeof(out) };

    st = decoder ? decoder->type->run(decoder, &flow) : run->error.status;
    tm_decoder_free(decoder);
    free(file.at);
    return st;
}

static void refused_memory_is_a_clean_error(void **state)
{
    (void)state;
    refuse_each_request(decode_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_frame_is_decompressed),
        cmocka_unit_test(frames_follow_one_another),
        cmocka_unit_test(other_bytes_are_a_problem),
        cmocka_unit_test(a_wrong_check_is_told_and_the_data_are_kept),
        cmocka_unit_test(a_file_cut_anywhere_gives_what_came_before),
        cmocka_unit_test(a_file_damaged_anywhere_gives_what_came_before),
        cmocka_unit_test(a_stored_end_that_is_too_short_comes_out_the_same),
        cmocka_unit_test(stored_blocks_past_the_end_of_their_frame_come_out_the_same),
        cmocka_unit_test(a_window_that_does_not_fit_is_refused),
        cmocka_unit_test(refused_memory_is_a_clean_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
