/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/media.h"

#include <string.h>

#include "tests/support/test_run.h"

enum { ROOM = 65536 };

struct row {
    const char *text, *markdown;
};

static void assert_prose(const struct row *rows, size_t count, bool in_table)
{
    static char room[ROOM];

    for (size_t i = 0; i < count; i++) {
        struct tm_mdw w;

        tm_mdw_init(&w, room, sizeof(room));
        tm_mdw_prose(&w, rows[i].text, in_table);
        assert_string_equal(room, rows[i].markdown);
    }
}

static void plain_words_stay_as_they_are(void **state)
{
    static const struct row rows[] = {
        { "The device waits, 12.5% (1.35 s at 0.367214627 s).", "The device waits, 12.5% (1.35 s at 0.367214627 s)." },
        { "at 17:57:13 UTC - it's + fine = so!", "at 17:57:13 UTC - it's + fine = so!" },
        { "1.35 s", "1.35 s" },
        { "  two   spaces  ", "two spaces" },
        { "\xc2\xb5s \xe4\xb8\xad", "\xc2\xb5s \xe4\xb8\xad" },
        { "", "" },
        { "   ", "" },
    };

    (void)state;
    assert_prose(rows, sizeof(rows) / sizeof(rows[0]), false);
}

static void words_that_mean_something_become_code(void **state)
{
    static const struct row rows[] = {
        { "see @octocat, or #12.", "see `@octocat`, or `#12`." },
        { "GH-7 !3 %4 a/b#5 me@x.y", "`GH-7` `!3` `%4` `a/b#5` `me@x.y`" },
        { "at deadbeef1 or 1234567", "at `deadbeef1` or `1234567`" },
        { "www.x.org http://x mailto:a XMPP:b", "`www.x.org` `http://x` `mailto:a` `XMPP:b`" },
        { "<img src=x> </details> &amp;", "`<img` `src=x>` `</details>` `&amp`;" },
        { "[a](b) ![c] [^1] *d* _e_ ~~f~~ $g$ \\h", "`[a](b)` `![c]` `[^1]` `*d*` `_e_` `~~f~~` `$g$` `\\h`" },
        { ":tada: std::vector", "`:tada`: `std::vector`" },
        { "('train_step') jit_f(1)", "('`train_step`') `jit_f(1)`" },
        { "a\nb", "`a\\nb`" },
        { "\xe2\x80\xaex \xff", "`\\u202ex` `\\xff`" },
        { "> 80% <", "\\> 80% \\<" },
    };

    (void)state;
    assert_prose(rows, sizeof(rows) / sizeof(rows[0]), false);
}

static void nothing_begins_a_block(void **state)
{
    static const struct row rows[] = {
        { "# a", "`#` a" },     { "- a", "`-` a" },           { "1. a", "`1`. a" },
        { "12) a", "`12`) a" }, { "===", "`===`" },           { "---", "`---`" },
        { "> a", "\\> a" },     { ">= <->", "\\>\\= `<->`" }, { "a # - 1. +", "a # - 1. +" },
    };

    (void)state;
    assert_prose(rows, sizeof(rows) / sizeof(rows[0]), false);
}

static void code_in_sentences_stays_one_piece(void **state)
{
    static const struct row rows[] = {
        { "call `jax.jit(f, g)`, then `x`.", "call `jax.jit(f, g)`, then `x`." },
        { "`a b`@you", "`a b` `@you`" },
        { "open `a b", "open `` `a `` b" },
        { "``x``", "``` ``x`` ```" },
        { "x`", "`` x` ``" },
    };

    (void)state;
    assert_prose(rows, sizeof(rows) / sizeof(rows[0]), false);
}

static void bars_do_not_break_tables(void **state)
{
    static const struct row rows[] = {
        { "a|b", "`a\\|b`" },
        { "|", "`\\|`" },
        { "a\\|b", "`a\\\\x7cb`" },
        { "`a|b c`", "`a\\|b c`" },
    };

    (void)state;
    assert_prose(rows, sizeof(rows) / sizeof(rows[0]), true);
}

static void names_are_code_whatever_they_hold(void **state)
{
    static const struct row rows[] = {
        { "fusion", "`fusion`" }, { "a `b`` c", "```a `b`` c```" }, { "`", "`` ` ``" },
        { " a ", "`  a  `" },     { "x|y\n", "`x\\|y\\n`" },        { "", "" },
    };
    static char room[ROOM];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_mdw w;

        tm_mdw_init(&w, room, sizeof(room));
        tm_mdw_name(&w, rows[i].text, true);
        assert_string_equal(room, rows[i].markdown);
    }
}

static void long_names_are_cut_in_the_middle(void **state)
{
    static char name[1 << 20], room[ROOM];
    struct tm_mdw w;

    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[0] = 'a';
    name[sizeof(name) - 2] = 'z';
    tm_mdw_init(&w, room, sizeof(room));
    tm_mdw_name(&w, name, false);
    assert_int_equal(strncmp(room, "`ax", 3), 0);
    assert_non_null(strstr(room, "x\xe2\x80\xa6x"));
    assert_string_equal(room + w.used - 3, "xz`");
    assert_true(w.used <= TM_MD_NAME_MOST + 4);
    tm_mdw_init(&w, room, sizeof(room));
    tm_mdw_prose(&w, name, false);
    assert_false(w.is_full);
}

static void a_full_buffer_takes_nothing_more(void **state)
{
    char room[8];
    struct tm_mdw w;

    (void)state;
    tm_mdw_init(&w, room, sizeof(room));
    tm_mdw_raw(&w, "123");
    tm_mdw_raw(&w, "45678");
    assert_true(w.is_full);
    tm_mdw_raw(&w, "4");
    assert_string_equal(room, "123");
}

static void tags_have_entities(void **state)
{
    char room[64];
    struct tm_mdw w;

    (void)state;
    tm_mdw_init(&w, room, sizeof(room));
    tm_mdw_html(&w, "<b> & \"c\"\n");
    assert_string_equal(room, "&lt;b&gt; &amp; &quot;c&quot;\\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_words_stay_as_they_are),
        cmocka_unit_test(words_that_mean_something_become_code),
        cmocka_unit_test(nothing_begins_a_block),
        cmocka_unit_test(code_in_sentences_stays_one_piece),
        cmocka_unit_test(bars_do_not_break_tables),
        cmocka_unit_test(names_are_code_whatever_they_hold),
        cmocka_unit_test(long_names_are_cut_in_the_middle),
        cmocka_unit_test(a_full_buffer_takes_nothing_more),
        cmocka_unit_test(tags_have_entities),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
