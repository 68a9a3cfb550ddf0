/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/bytes/inflate.h"

#include <stdlib.h>

#include <zlib.h>

#include "tests/support/decode_steps.h"
#include "tests/support/test_run.h"

enum { MOST = BYTES_MOST, TEXT_BYTES = 6000 };

static void append_word(struct bytes *b, uint32_t word)
{
    const uint8_t bytes[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24) };

    append(b, bytes, 4);
}

/* Text that packs, with stretches that do not. */
static void fill_text(uint8_t *text, size_t length, uint64_t seed)
{
    for (size_t i = 0; i < length; i++)
        text[i] = i % 1000 < 300 ? (uint8_t)next_number(&seed) : (uint8_t) "the quick brown fox "[i % 20];
}

/* Raw deflate data: how 0 stored, 1 fixed codes, 2 the best. */
static void append_deflate(struct bytes *b, const uint8_t *text, size_t length, int how)
{
    z_stream z = { .next_in = (z_const Bytef *)(uintptr_t)text, .avail_in = (uInt)length };

    z.next_out = b->at + b->length;
    z.avail_out = (uInt)(MOST - b->length);
    assert_int_equal(deflateInit2(&z, how == 0 ? 0 : 9, Z_DEFLATED, -MAX_WBITS, 9, how == 1 ? Z_FIXED : 0), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    b->length += z.total_out;
    assert_int_equal(deflateEnd(&z), Z_OK);
}

enum { PLAIN = 0, HEAD_CRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16, EVERYTHING = 30 };

static void append_head(struct bytes *b, uint8_t flags)
{
    const uint8_t head[10] = { 0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3 };
    const size_t begin = b->length;

    append(b, head, sizeof(head));
    if (flags & EXTRA)
        append(b, "\x05\0extra", 7);
    if (flags & NAME)
        append(b, "vm.xplane.pb", 13);
    if (flags & COMMENT)
        append(b, "", 1);
    if (flags & HEAD_CRC) {
        const uLong crc = crc32(0, b->at + begin, (uInt)(b->length - begin));
        const uint8_t check[2] = { (uint8_t)crc, (uint8_t)(crc >> 8) };

        append(b, check, 2);
    }
}

static void append_member(struct bytes *b, uint8_t flags, const uint8_t *text, size_t length, int how)
{
    append_head(b, flags);
    append_deflate(b, text, length, how);
    append_word(b, (uint32_t)crc32(0, text, (uInt)length));
    append_word(b, (uint32_t)length);
}

static struct outcome inflate_in_steps(enum tm_inflate_engine engine, const struct bytes *file, size_t step,
                                       size_t room)
{
    struct tm_run run;

    test_run_init(&run);
    return decode_in_steps(&run, tm_inflate_new(&run, engine), file, step, room);
}

/* Both engines, whole and a byte at a time on either side, tell the same. */
static struct outcome inflate_each_way(const struct bytes *file)
{
    static const size_t steps[] = { 1, 2, 7, 4096, MOST }, rooms[] = { MOST, 1, 40000, 4099, 3 };
    const struct outcome first = inflate_in_steps(TM_INFLATE_ZLIB, file, MOST, MOST);

    for (enum tm_inflate_engine engine = TM_INFLATE_DEFAULT; engine <= TM_INFLATE_ISAL; engine++) {
        for (size_t i = 0; i < 10 && tm_inflate_has(engine); i++) {
            struct outcome other = inflate_in_steps(engine, file, steps[i % 5], rooms[i < 5 ? i : (i + 1) % 5]);

            assert_same(&first, &other);
            free(other.out.at);
        }
    }
    return first;
}

static void assert_whole(const struct bytes *file, const uint8_t *text, size_t length, uint64_t members)
{
    assert_came_out(inflate_each_way(file), text, length, members);
}

static void assert_problem(const struct bytes *file, const char *words, uint64_t at, size_t out_length)
{
    assert_damaged(inflate_each_way(file), words, at, out_length);
}

static void any_member_inflates(void **state)
{
    static const size_t lengths[] = { 0, 1, 2, 255, 4096, TEXT_BYTES };
    uint8_t text[TEXT_BYTES];

    (void)state;
    fill_text(text, sizeof(text), 1);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        for (int how = 0; how <= 2; how++) {
            struct bytes file = new_bytes();

            append_member(&file, PLAIN, text, lengths[i], how);
            assert_whole(&file, text, lengths[i], 1);
            free(file.at);
        }
    }
}

static void any_header_is_read(void **state)
{
    (void)state;
    for (uint8_t flags = 0; flags <= EVERYTHING; flags = (uint8_t)(flags + 2)) {
        struct bytes file = new_bytes();

        append_member(&file, flags, (const uint8_t *)"trace", 5, 1);
        assert_whole(&file, (const uint8_t *)"trace", 5, 1);
        free(file.at);
    }
}

static void what_is_long_inflates_through_the_buffer(void **state)
{
    enum { LONG = 700000 }; /* more than two buffers, and long runs that pack a thousandfold */
    uint8_t *const text = calloc(1, LONG);
    struct bytes file = new_bytes();

    (void)state;
    assert_non_null(text);
    fill_text(text + 300000, 200000, 9);
    append_member(&file, PLAIN, text, LONG, 2);
    assert_whole(&file, text, LONG, 1);
    free(file.at);
    free(text);
}

static void members_follow_one_another(void **state)
{
    uint8_t text[TEXT_BYTES];
    struct bytes file = new_bytes();

    (void)state;
    fill_text(text, sizeof(text), 2);
    append_member(&file, PLAIN, text, 1000, 2);
    append_member(&file, NAME, text + 1000, 0, 2);
    append_member(&file, EVERYTHING, text + 1000, 2000, 0);
    append_member(&file, EXTRA, text + 3000, TEXT_BYTES - 3000, 1);
    assert_whole(&file, text, TEXT_BYTES, 4);
    free(file.at);
}

static void zeros_at_the_end_are_padding(void **state)
{
    static const uint8_t zeros[1000];
    struct bytes file = new_bytes();

    (void)state;
    append_member(&file, PLAIN, (const uint8_t *)"trace", 5, 2);
    append(&file, zeros, 1);
    assert_whole(&file, (const uint8_t *)"trace", 5, 1);
    append(&file, zeros, sizeof(zeros) - 1);
    assert_whole(&file, (const uint8_t *)"trace", 5, 1);
    append(&file, "x", 1);
    assert_problem(&file, "neither a gzip member nor padding", file.length - 1, 5);
    free(file.at);
}

static void other_bytes_at_the_end_are_a_problem(void **state)
{
    static const char *const tails[] = { "x", "\x1f", "\x1f\x8a", "trailing garbage of some length" };

    (void)state;
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        struct bytes file = new_bytes();
        size_t end;

        append_member(&file, PLAIN, (const uint8_t *)"trace", 5, 2);
        end = file.length;
        append(&file, tails[i], strlen(tails[i]));
        if (strcmp(tails[i], "\x1f") == 0) /* might be the begin of a member */
            assert_problem(&file, "truncated inside member 2", end + 1, 5);
        else
            assert_problem(&file, "after member 1, there is data", end, 5);
        free(file.at);
    }
}

static void what_is_no_gzip_is_a_problem(void **state)
{
    struct bytes file = new_bytes();

    (void)state;
    assert_problem(&file, "truncated inside member 1", 0, 0);
    append(&file, "plain", 5);
    assert_problem(&file, "does not start with a gzip header", 0, 0);
    file.length = 0;
    append_member(&file, PLAIN, (const uint8_t *)"trace", 5, 2);
    file.at[2] = 7; /* a method that does not exist */
    assert_problem(&file, "header of member 1 is damaged", 0, 0);
    file.at[2] = 8;
    file.at[3] = 0x20; /* a reserved flag */
    assert_problem(&file, "header of member 1 is damaged", 0, 0);
    free(file.at);
}

static void a_wrong_check_is_told_and_the_data_are_kept(void **state)
{
    struct bytes file = new_bytes();
    size_t end;

    (void)state;
    append_member(&file, HEAD_CRC, (const uint8_t *)"first ", 6, 2);
    end = file.length;
    append_member(&file, PLAIN, (const uint8_t *)"second", 6, 2);
    file.at[end - 8] ^= 1;
    assert_problem(&file, "checksum (CRC) of member 1 is wrong", end - 8, 12);
    file.at[end - 8] ^= 1;
    file.at[end - 1] ^= 1;
    assert_problem(&file, "member 1 inflates to a size other than recorded", end - 8, 12);
    file.at[end - 1] ^= 1;
    file.at[10] ^= 1;
    assert_problem(&file, "header checksum of member 1 is wrong", 0, 12);
    free(file.at);
}

/* The wrapper is exact for both engines; inside the compressed data zlib is: what it gives is a prefix, the
 * longest that can be had, and ISA-L gives one as well. */
static void a_file_cut_anywhere_gives_what_came_before(void **state)
{
    uint8_t text[TEXT_BYTES];
    struct bytes file = new_bytes();

    (void)state;
    fill_text(text, sizeof(text), 3);
    append_member(&file, EVERYTHING, text, 900, 2);
    append_member(&file, PLAIN, text + 900, 300, 1);
    append_member(&file, NAME, text + 1200, 100, 0);
    for (size_t length = 0; length < file.length; length++) {
        const struct bytes cut = { file.at, length };
        size_t before = 0;

        for (enum tm_inflate_engine engine = TM_INFLATE_ZLIB; engine <= TM_INFLATE_ISAL; engine++) {
            for (size_t step = 1; step <= MOST && tm_inflate_has(engine); step = step == 1 ? MOST : MOST + 1) {
                struct outcome o = inflate_in_steps(engine, &cut, step, step);

                if (o.problem[0]) {
                    assert_non_null(strstr(o.problem, "truncated inside member"));
                    assert_int_equal(o.at, length);
                } else {
                    assert_true(o.members > 0);
                }
                assert_true(o.out.length <= 1300);
                assert_memory_equal(o.out.at, text, o.out.length);
                if (engine == TM_INFLATE_ZLIB && step > 1)
                    assert_int_equal(o.out.length, before);
                before = o.out.length;
                free(o.out.at);
            }
        }
    }
    free(file.at);
}

/* Where the chunks end does not change what zlib says of damage, and neither engine invents or loops. */
static void a_file_damaged_anywhere_is_read_without_harm(void **state)
{
    uint8_t text[TEXT_BYTES];
    struct bytes file = new_bytes();
    size_t noticed = 0, turns = 0;

    (void)state;
    fill_text(text, sizeof(text), 4);
    append_member(&file, PLAIN, text, 700, 2);
    append_member(&file, PLAIN, text + 700, 300, 1);
    for (size_t at = 0; at < file.length; at++) {
        for (unsigned bit = 0; bit < 8; bit += 3) {
            struct outcome whole, steps;

            file.at[at] ^= (uint8_t)(1u << bit);
            whole = inflate_in_steps(TM_INFLATE_ZLIB, &file, MOST, MOST);
            steps = inflate_in_steps(TM_INFLATE_ZLIB, &file, 1, 3);
            assert_same(&whole, &steps);
            noticed += whole.problem[0] != 0;
            turns++;
            if (tm_inflate_has(TM_INFLATE_ISAL)) {
                const struct outcome fast = inflate_in_steps(TM_INFLATE_ISAL, &file, 64, 500);

                assert_int_equal(fast.problem[0] != 0, whole.problem[0] != 0);
                if (!fast.doubtful) /* the wrapper is exact for both */
                    assert_same(&whole, &fast);
                free(fast.out.at);
            }
            free(whole.out.at);
            free(steps.out.at);
            file.at[at] ^= (uint8_t)(1u << bit);
        }
    }
    assert_true(noticed >= turns - 60); /* but for the time and system in the two headers */
    free(file.at);
}

static tm_status make_one(struct tm_run *run)
{
    struct tm_decoder *const d = tm_inflate_new(run, TM_INFLATE_ZLIB);

    tm_decoder_free(d);
    return d ? TM_OK : run->error.status;
}

/* Tables that zlib refuses, of no data.  Found by fuzzing. */
static void an_empty_member_is_confirmed_by_its_bytes(void **state)
{
    static uint8_t odd[] = { 0x1f, 0x8b, 8, 0, 0,    0,    0,    7,    0,    0x13, 0xed, 0xc1, 0x31,
                             1,    0,    0, 0, 0xc2, 0xa0, 0xf5, 0x4f, 0x6d, 0x89, 0x5b, 0xa5, [94] = 0 };
    static uint8_t usual[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, [19] = 0 };
    static const struct {
        struct bytes file;
        bool is_sound;
    } cases[] = { { { odd, sizeof(odd) }, false }, { { usual, sizeof(usual) }, true } };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (enum tm_inflate_engine engine = TM_INFLATE_ZLIB; engine <= TM_INFLATE_ISAL; engine++) {
            for (size_t step = 1; step < 100 && tm_inflate_has(engine); step++) {
                const struct outcome o = inflate_in_steps(engine, &cases[i].file, step, step);

                assert_int_equal(o.out.length, 0);
                if (!o.doubtful)
                    assert_int_equal(!o.problem[0], cases[i].is_sound);
                assert_int_equal(o.doubtful, engine == TM_INFLATE_ISAL && !cases[i].is_sound);
                free(o.out.at);
            }
        }
    }
}

/* A distance too far back, where ISA-L says that it has read more than it was given.  Found by fuzzing. */
static void damage_at_the_end_of_a_chunk_is_inside_the_file(void **state)
{
    static uint8_t data[] = { 0x1f, 0x8b, 8,    0,    0xb9, 0xb9, 0xb9, 0,    0, 0,    0xd3, 0,    2,    0x7b, 0x0a,
                              3,    0xb6, 0x20, 0x22, 0x73, 0xe3, 0x58, 0x6b, 1, 0x3f, 0x6b, 0xd7, 0x46, 0x14, 0xfd };
    const struct bytes file = { data, sizeof(data) };

    (void)state;
    for (enum tm_inflate_engine engine = TM_INFLATE_DEFAULT; engine <= TM_INFLATE_ISAL; engine++) {
        for (size_t step = 1; step <= sizeof(data) && tm_inflate_has(engine); step++) {
            struct outcome o = inflate_in_steps(engine, &file, step, MOST);

            assert_string_equal(o.problem, "the compressed data of member 1 is damaged");
            free(o.out.at);
        }
    }
}

static void refused_memory_is_a_clean_error(void **state)
{
    (void)state;
    refuse_each_request(make_one);
    tm_decoder_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_member_inflates),
        cmocka_unit_test(any_header_is_read),
        cmocka_unit_test(what_is_long_inflates_through_the_buffer),
        cmocka_unit_test(members_follow_one_another),
        cmocka_unit_test(zeros_at_the_end_are_padding),
        cmocka_unit_test(other_bytes_at_the_end_are_a_problem),
        cmocka_unit_test(what_is_no_gzip_is_a_problem),
        cmocka_unit_test(a_wrong_check_is_told_and_the_data_are_kept),
        cmocka_unit_test(a_file_cut_anywhere_gives_what_came_before),
        cmocka_unit_test(a_file_damaged_anywhere_is_read_without_harm),
        cmocka_unit_test(an_empty_member_is_confirmed_by_its_bytes),
        cmocka_unit_test(damage_at_the_end_of_a_chunk_is_inside_the_file),
        cmocka_unit_test(refused_memory_is_a_clean_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
