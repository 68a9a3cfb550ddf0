/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/strings.h"
#include "stages/output/file/out_file.h"
#include "stages/output/trace_writer.h"
#include "tests/support/test_run.h"

#define BAD "\xef\xbf\xbd"

static void what_is_no_utf8_is_replaced(void **state)
{
    static const struct {
        const char *in;
        size_t length;
        const char *out;
    } table[] = {
        { "", 0, "" },
        { "plain", 5, "plain" },
        { "\x01\x7f\n", 3, "\x01\x7f\n" },
        { "a\0b", 3, "a" BAD "b" },
        { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
        { "\xed\xa0\xbd", 3, BAD BAD BAD },         /* half of a surrogate pair */
        { "\xc0\x80", 2, BAD BAD },                 /* overlong */
        { "\xf4\x90\x80\x80", 4, BAD BAD BAD BAD }, /* past U+10FFFF */
        { "x\xe2\x82", 3, "x" BAD BAD },            /* cut */
        { "\xffz", 2, BAD "z" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char to[64];
        const size_t n = tm_out_utf8(to, table[i].in, table[i].length);

        assert_int_equal(n, strlen(table[i].out));
        assert_memory_equal(to, table[i].out, n);
    }
}

static void any_bytes_become_valid(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        char in[24], out[72];
        const size_t length = (size_t)(next_number(&seed) % (sizeof(in) + 1));

        for (size_t i = 0; i < length; i++)
            in[i] = (char)(next_number(&seed) >> (next_number(&seed) % 2 ? 7 : 57));
        const size_t n = tm_out_utf8(out, in, length);

        assert_true(n <= 3 * length);
        assert_true(tm_utf8_is_valid(out, n));
        assert_null(memchr(out, 0, n));
    }
}

static void what_places_and_sizes_an_event_is_essential(void **state)
{
    static const char *const essential[] = { "Bytes", "hlo_op",   "In msg nelems", "kernel_details",
                                             "name",  "step_num", "tf_op" };
    static const char *const others[] = {
        "",       "A",         "Byte",           "Bytes2", "correlation_id", "External id",
        "Ev Idx", "long_name", "wait_on_stream", "zzz",    "Call stack",     "hlo"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(essential) / sizeof(essential[0]); i++)
        assert_true(tm_is_essential_argument(essential[i], strlen(essential[i])));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(tm_is_essential_argument(others[i], strlen(others[i])));
    assert_true(tm_is_essential_argument("flops and more", 5));
    assert_false(tm_is_essential_argument("flops\0", 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_utf8_is_replaced),
        cmocka_unit_test(any_bytes_become_valid),
        cmocka_unit_test(what_places_and_sizes_an_event_is_essential),
    };

    return cmocka_run_group_tests_name("out_text", tests, NULL, NULL);
}
