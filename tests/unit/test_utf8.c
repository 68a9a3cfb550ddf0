/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void sequences_are_taken_by_rfc_3629(void **state)
{
    /* clang-format off */
    static const struct {
        const char *bytes;
        size_t length, step;
        uint32_t code;
    } table[] = {
        { "a", 1, 1, 'a' },
        { "\x7f", 1, 1, 0x7f },
        { "\xc2\x80", 2, 2, 0x80 },
        { "\xdf\xbf", 2, 2, 0x7ff },
        { "\xe0\xa0\x80", 3, 3, 0x800 },
        { "\xed\x9f\xbf", 3, 3, 0xd7ff },
        { "\xee\x80\x80", 3, 3, 0xe000 },
        { "\xef\xbf\xbf", 3, 3, 0xffff },
        { "\xf0\x90\x80\x80", 4, 4, 0x10000 },
        { "\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff },
        { "\x80", 1, 0, 0 },             /* a continuation alone */
        { "\xc0\x80", 2, 0, 0 },         /* overlong NUL */
        { "\xc1\xbf", 2, 0, 0 },
        { "\xe0\x9f\xbf", 3, 0, 0 },     /* overlong */
        { "\xed\xa0\x80", 3, 0, 0 },     /* a surrogate */
        { "\xf0\x8f\xbf\xbf", 4, 0, 0 }, /* overlong */
        { "\xf4\x90\x80\x80", 4, 0, 0 }, /* past U+10FFFF */
        { "\xf5\x80\x80\x80", 4, 0, 0 },
        { "\xff", 1, 0, 0 },
        { "\xc3", 1, 0, 0 },             /* cut */
        { "\xe2\x82", 2, 0, 0 },
        { "\xf0\x9f\x98", 3, 0, 0 },
        { "\xe2\x28\xa1", 3, 0, 0 },     /* a wrong continuation */
        { "\xe2\x82\x28", 3, 0, 0 },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        uint32_t code = 0;
        const size_t step = tm_utf8_next(table[i].bytes, table[i].length, &code);

        assert_int_equal(step, table[i].step);
        assert_int_equal(tm_utf8_is_valid(table[i].bytes, table[i].length), step != 0);
        if (step != 0)
            assert_int_equal(code, table[i].code);
    }
}

static void a_bad_byte_is_seen_at_every_place(void **state)
{
    char text[40];

    (void)state;
    for (size_t at = 0; at < sizeof(text); at++) {
        memset(text, 'x', sizeof(text));
        assert_true(tm_utf8_is_valid(text, sizeof(text)));
        text[at] = '\xa0';
        assert_false(tm_utf8_is_valid(text, sizeof(text)));
    }
    assert_true(tm_utf8_is_valid("", 0));
}

static void a_long_sequence_crosses_the_quick_path(void **state)
{
    char text[32];

    (void)state;
    for (size_t at = 0; at + 4 <= sizeof(text); at++) {
        memset(text, 'x', sizeof(text));
        memcpy(text + at, "\xf0\x9f\x98\x80", 4);
        assert_true(tm_utf8_is_valid(text, sizeof(text)));
        assert_false(tm_utf8_is_valid(text, at + 3));
    }
}

static void what_is_not_seen_is_told(void **state)
{
    static const uint32_t hidden[] = { 0,      0x1f,    0x7f,    0x85,    0x9f,    0xad,    0x34f,   0x61c,
                                       0x115f, 0x17b5,  0x180e,  0x200b,  0x200f,  0x2028,  0x202e,  0x2060,
                                       0x2069, 0x3164,  0xfdd0,  0xfe0f,  0xfeff,  0xffa0,  0xfff9,  0xfffe,
                                       0xffff, 0x1bca0, 0x1d17a, 0x1fffe, 0xe0001, 0xe0fff, 0x10ffff };
    static const uint32_t seen[] = { ' ',    '~',    0xa0,   0xac,   0xae,    0xe9,    0x34e,   0x350,
                                     0x600,  0x5d0,  0x200a, 0x2010, 0x2027,  0x202f,  0x205f,  0x2070,
                                     0x3000, 0xfdcf, 0xfe10, 0xfffd, 0x1d172, 0x1f600, 0xdfffd, 0xe1000 };

    (void)state;
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        assert_true(tm_utf8_is_hidden(hidden[i]));
    for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
        assert_false(tm_utf8_is_hidden(seen[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_are_taken_by_rfc_3629),
        cmocka_unit_test(a_bad_byte_is_seen_at_every_place),
        cmocka_unit_test(a_long_sequence_crosses_the_quick_path),
        cmocka_unit_test(what_is_not_seen_is_told),
    };

    return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
