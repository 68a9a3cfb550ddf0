/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/strings.h"

struct text {
    char at[256];
    size_t length;
};

static void put(void *of, const char *text, size_t length)
{
    struct text *to = of;

    assert_true(to->length + length < sizeof(to->at));
    memcpy(to->at + to->length, text, length);
    to->length += length;
    to->at[to->length] = '\0';
}

static void words_are_quoted_where_they_have_to_be(void **state)
{
    static const struct {
        const char *text, *word;
    } table[] = {
        { "plain", "plain" },
        { "/a/b-c_1.2:=@%+,", "/a/b-c_1.2:=@%+," },
        { "", "''" },
        { "a b", "'a b'" },
        { "it's", "'it'\\''s'" },
        { "'", "''\\'''" },
        { "'a'", "''\\''a'\\'''" },
        { "a\nb", "'a\nb'" },
        { "$HOME `x` \"y\" \\ *?[]{}~#!;&|<>()", "'$HOME `x` \"y\" \\ *?[]{}~#!;&|<>()'" },
        { "\xff\x80", "'\xff\x80'" },
        { "~", "'~'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct text to = { .length = 0 };

        tm_shell_word(put, &to, table[i].text);
        assert_string_equal(to.at, table[i].word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(words_are_quoted_where_they_have_to_be) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
