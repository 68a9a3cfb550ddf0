/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/format/format.h"

#include "tests/support/test_run.h"

static void paths_below_the_folder_are_safe(void **state)
{
    static const char *const safe[] = { "runs/a/report.html", "a", "a.b-c_D/9", "...", "a..b/c", "a/./b", "runs/a/" };

    (void)state;
    for (size_t i = 0; i < sizeof(safe) / sizeof(safe[0]); i++)
        if (!tm_link_is_safe(safe[i]))
            fail_msg("'%s'", safe[i]);
}

static void nothing_else_is(void **state)
{
    static const char *const others[] = { "",       "/a",           "//host/a", "..",  "../a", "a/..",
                                          "a/../b", "javascript:x", "http:a",   "a b", "a?b",  "a#b",
                                          "a%2e",   "a\\b",         "a\"b",     "a<b", "a\nb", "\xc3\xa9",
                                          "a&b",    "a'b",          "a(b)",     "a)b", "a|b",  "a\x7f" };

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (tm_link_is_safe(others[i]))
            fail_msg("'%s'", others[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_below_the_folder_are_safe),
        cmocka_unit_test(nothing_else_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
