/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/media.h"

#include "tests/support/test_run.h"
#include "tests/support/written_report.h"

static void assert_stacks(const char *json, const char *stacks)
{
    struct written_report report;

    test_write_json(&report, tm_collapsed_write, json);
    assert_string_equal(report.text, stacks);
    test_written_report_free(&report);
}

static void a_scope_stands_below_what_is_around_it(void **state)
{
    (void)state;
    assert_stacks("{'scopes': {'rows': ["
                  "{'name': 'step', 'depth': 0, 'pass': 'forward', 'self_ps': 2000},"
                  "{'name': 'block_0', 'depth': 1, 'pass': 'forward', 'self_ps': 0},"
                  "{'name': 'mlp', 'depth': 2, 'pass': 'forward', 'self_ps': 3000},"
                  "{'name': 'block_1', 'depth': 1, 'pass': 'forward', 'self_ps': 4000},"
                  "{'name': 'step', 'depth': 0, 'pass': 'backward', 'self_ps': 5000}],"
                  " 'rest': {'rows': 7, 'self_ps': 6000}, 'unscoped': {'self_ps': 1000}}}",
                  "forward;step 2\nforward;step;block_0;mlp 3\nforward;step;block_1 4\nbackward;step 5\n"
                  "(rows not listed) 6\n(no scope) 1\n");
}

static void all_lines_together_are_right_to_the_nanosecond(void **state)
{
    (void)state;
    assert_stacks("{'scopes': {'rows': ["
                  "{'name': 'a', 'depth': 0, 'pass': 'other', 'self_ps': 400},"
                  "{'name': 'b', 'depth': 0, 'pass': 'other', 'self_ps': 400},"
                  "{'name': 'c', 'depth': 0, 'pass': 'other', 'self_ps': 400},"
                  "{'name': 'd', 'depth': 0, 'pass': 'other', 'self_ps': 1300}]}}",
                  "other;b 1\nother;d 2\n");
}

static void names_cannot_make_frames_or_numbers(void **state)
{
    (void)state;
    assert_stacks("{'scopes': {'rows': [{'name': 'a;b 12\\n\\u202e', 'depth': 0, 'pass': 'other', 'self_ps': 1000},"
                  "{'name': '', 'depth': 3, 'pass': 'other', 'self_ps': 1000}]}}",
                  "other;a:b_12\\n\\u202e 1\nother;a:b_12\\n\\u202e;(no_name);(no_name);(no_name) 1\n");
}

static void depths_of_a_damaged_summary_have_an_end(void **state)
{
    (void)state;
    assert_stacks("{'scopes': {'rows': [{'name': 'a', 'depth': -5, 'pass': 'other', 'self_ps': 1000},"
                  "{'name': 'b', 'depth': 0, 'pass': 'other', 'self_ps': -1000}]}}",
                  "other;a 1\n");
}

static void a_run_without_scopes_has_its_operations(void **state)
{
    (void)state;
    assert_stacks(
        "{'scopes': null, 'ops': {'self_ps': 7000, 'rows': [{'name': 'a b', 'category': 'gemm/dot', 'self_ps': "
        "4000}, {'name': 'c', 'category': '', 'self_ps': 0}], 'rest': {'rows': 2, 'self_ps': 3000}}}",
        "(no scopes recorded);gemm/dot;a_b 4\n(rows not listed) 3\n");
    assert_stacks("{}", "");
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    assert_full_disk_is_an_error(tm_collapsed_write, "cannot write the collapsed stacks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_stands_below_what_is_around_it),
        cmocka_unit_test(all_lines_together_are_right_to_the_nanosecond),
        cmocka_unit_test(names_cannot_make_frames_or_numbers),
        cmocka_unit_test(depths_of_a_damaged_summary_have_an_end),
        cmocka_unit_test(a_run_without_scopes_has_its_operations),
        cmocka_unit_test(a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
