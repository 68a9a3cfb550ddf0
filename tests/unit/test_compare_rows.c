/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a comparison: which rows meet, what a change is made of, and when it is significant. */
#include "reports/compare/comparison.h"

#include <math.h>
#include <stdio.h>

#include "tests/support/compared.h"
#include "tests/support/test_run.h"

static const struct test_steps plain = {
    .count = 10, .compute_ps = 9000000000, .wait_ps = 1000000000, .jitter_ps = 5000000
};
/* 10 steps of 2 devices: what a summary has 20 times is once per step and device */

static void compare(struct test_compared *t, const char *base, const char *other)
{
    test_compared_init(t);
    (void)test_add_run(t, "a", &plain, base);
    (void)test_add_run(t, "b", &plain, other);
    assert_int_equal(test_compare(t), TM_OK);
}

static void assert_status(const struct tm_value *row, const char *match, const char *status)
{
    assert_non_null(row);
    assert_string_equal(tm_text(tm_get(row, "match")), match);
    assert_string_equal(tm_text(tm_path(row, "changes[0].status")), status);
}

#define OP(name, path, count, self, sd)                                                                                \
    "{'name': '" name "', 'op': '" path "', 'category': 'gemm/dot', 'count': " count ", 'self_ps': " self              \
    ", 'total_ps': " self sd "}"
#define OPS(rows) "{'ops': {'rows': [" rows "], 'rest': {'rows': 0, 'self_ps': 0}}}"

static void numbers_of_a_name_are_no_part_of_its_pattern(void **state)
{
    static const char *const cases[][2] = {
        { "fusion.12", "fusion" },
        { "loop_add_fusion_7", "loop_add_fusion" },
        { "fusion.12.clone.1", "fusion.#.clone" },
        { "sm90_gemm_128x64_v2", "sm#_gemm_#x#_v#" },
        { "all-reduce", "all-reduce" },
        { "fusion.1.2", "fusion" },
        { "12", "#" },
        { "", "" },
    };
    struct tm_run run;
    struct tm_compare_blocks room = { .run = &run };

    (void)state;
    test_run_init(&run);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(tm_name_pattern(&room, cases[i][0]), cases[i][1]);
    tm_room_free(&room);
    assert_ledger_is_even(&run);
}

static void a_change_is_split_into_number_and_length(void **state)
{
    struct test_compared t;
    const struct tm_value *row;

    (void)state;
    /* 2 times 100 us a step and device, then 3 times 120 us: 200 to 360 */
    compare(&t, OPS(OP("dot", "", "40", "4000000000", "")), OPS(OP("dot", "", "60", "7200000000", "")));
    row = test_row(&t, "ops", "dot");
    assert_int_equal(tm_int(tm_path(row, "values[0]")), 200000000);
    assert_int_equal(tm_int(tm_path(row, "values[1]")), 360000000);
    assert_int_equal(tm_int(tm_path(row, "changes[0].change_ps")), 160000000);
    assert_int_equal(tm_int(tm_path(row, "changes[0].from_length_ps")), 50000000); /* 20 us, 2.5 times */
    assert_int_equal(tm_int(tm_path(row, "changes[0].from_count_ps")), 110000000); /* one more of 110 us */
    assert_true(fabs(tm_double(tm_path(row, "changes[0].pct")) - 80) < 1e-9);
    test_compared_free(&t);
}

static void without_a_deviation_there_is_no_test_of_lengths(void **state)
{
    struct test_compared t;
    const struct tm_value *row;

    (void)state;
    compare(&t, OPS(OP("dot", "", "40", "4000000000", "")), OPS(OP("dot", "", "40", "7200000000", "")));
    row = test_row(&t, "ops", "dot");
    assert_int_equal(tm_type_of(tm_path(row, "changes[0].significant")), TM_NULL);
    assert_true(*tm_why(tm_path(row, "changes[0].significant")));
    assert_status(row, "name", "unclear");
    test_compared_free(&t);
}

static void lengths_are_tested_by_their_moments(void **state)
{
    struct test_compared t;

    (void)state;
    /* 200 executions of 20 us with a deviation of 2: 30 % more is 21 errors away, 2 % are 2 */
    compare(&t, OPS(OP("dot", "", "200", "4000000000", ", 'self_stddev_ps': 2000000")),
            OPS(OP("dot", "", "200", "5200000000", ", 'self_stddev_ps': 2000000")));
    assert_status(test_row(&t, "ops", "dot"), "name", "slower");
    assert_true(tm_is(tm_path(test_row(&t, "ops", "dot"), "changes[0].significant")));
    test_compared_free(&t);
}

/* 'count' executions of 20 us each, of 100 us with what lies in them. */
#define NESTED(module, count, self, sd)                                                                                \
    "{'name': 'while', 'module': '" module "', 'op': '', 'category': 'other', 'count': " count ", 'self_ps': " self    \
    ", 'total_ps': 90000000000, 'self_stddev_ps': " sd "}"

static void rows_of_a_name_have_their_moments_together(void **state)
{
    struct test_compared t;
    const struct tm_value *row;

    (void)state;
    /* an execution alone has no deviation, and none is needed: it lies beside the others */
    compare(&t, OPS(NESTED("a", "1", "20000000", "null") ", " NESTED("b", "199", "3980000000", "2000000")),
            OPS(NESTED("a", "200", "5200000000", "2000000")));
    row = test_row(&t, "ops", "while");
    assert_status(row, "name", "slower");
    assert_true(tm_is(tm_path(row, "changes[0].significant")));
    test_compared_free(&t);
    /* of several that is not known: there is no test */
    compare(&t, OPS(NESTED("a", "2", "40000000", "null") ", " NESTED("b", "198", "3960000000", "2000000")),
            OPS(NESTED("a", "200", "5200000000", "2000000")));
    row = test_row(&t, "ops", "while");
    assert_status(row, "name", "unclear");
    assert_int_equal(tm_type_of(tm_path(row, "changes[0].significant")), TM_NULL);
    test_compared_free(&t);
}

static void what_any_two_runs_differ_by_is_no_change(void **state)
{
    struct test_compared t;
    const struct tm_value *row;

    (void)state;
    /* 2 % of a long operation that hardly varies: sure, but no more than the state of a machine
     * does */
    compare(&t, OPS(OP("dot", "", "200", "100000000000", ", 'self_stddev_ps': 1000000")),
            OPS(OP("dot", "", "200", "102000000000", ", 'self_stddev_ps': 1000000")));
    row = test_row(&t, "ops", "dot");
    assert_true(tm_double(tm_path(row, "changes[0].p")) < 1e-6);
    assert_status(row, "name", "same");
    test_compared_free(&t);
}

static void what_is_on_one_side_only_is_added_or_removed(void **state)
{
    struct test_compared t;

    (void)state;
    compare(&t, OPS(OP("dot", "", "40", "4000000000", "") ", " OP("old", "", "20", "2000000000", "")),
            OPS(OP("dot", "", "40", "4000000000", "") ", " OP("fresh", "", "20", "2000000000", "")));
    assert_status(test_row(&t, "ops", "dot"), "name", "same");
    assert_status(test_row(&t, "ops", "old"), "none", "removed");
    assert_status(test_row(&t, "ops", "fresh"), "none", "added");
    assert_int_equal(tm_type_of(tm_path(test_row(&t, "ops", "fresh"), "values[0]")), TM_NULL);
    assert_true(tm_is(tm_path(test_row(&t, "ops", "fresh"), "changes[0].significant"))); /* once in each step */
    test_compared_free(&t);
}

static void a_row_that_may_be_in_the_rest_of_a_cut_table_is_not_removed(void **state)
{
    static const char cut[] =
        "{'ops': {'rows': [" OP("dot", "", "40", "4000000000", "") "], 'rest': {'rows': 5, 'self_ps': "
                                                                   "6000000000}}}";
    struct test_compared t;

    (void)state;
    compare(&t, OPS(OP("dot", "", "40", "4000000000", "") ", " OP("small", "", "20", "2000000000", "")), cut);
    assert_status(test_row(&t, "ops", "small"), "none", "unclear");
    assert_int_equal(tm_type_of(tm_path(test_row(&t, "ops", "small"), "changes[0].change_ps")), TM_NULL);
    assert_int_equal(tm_int(test_at(&t, "ops.rest.rows")), 5);
    assert_int_equal(tm_int(test_at(&t, "ops.total.values[1]")), 500000000); /* the rest included */
    test_compared_free(&t);
}

static void a_side_without_the_table_has_removed_nothing(void **state)
{
    struct test_compared t;

    (void)state;
    compare(&t, OPS(OP("dot", "", "40", "4000000000", "")), "{}");
    assert_status(test_row(&t, "ops", "dot"), "none", "unclear");
    assert_int_equal(tm_type_of(test_at(&t, "ops.total.values[1]")), TM_NULL);
    assert_int_equal(tm_length(test_at(&t, "findings")), 0);
    test_compared_free(&t);
}

#define OP_OF(name, path, place)                                                                                       \
    "{'name': '" name "', 'op': '" path "', 'category': 'gemm/dot', 'count': 20, 'self_ps': 2000000000, "              \
    "'total_ps': 2000000000, 'family': " place "}"
#define FAMILY(name, path) "{'family': '" name "', 'op': '" path "'}"
#define FAMILIES(families, rows) "{'ops': {'families': [" families "], 'rows': [" rows "], 'rest': {'rows': 0}}}"

static void operations_without_a_partner_meet_by_their_family(void **state)
{
    struct test_compared t;

    (void)state;
    /* The patterns of the names differ ("fusion.#.clone", "fusion"), and those of the paths of both families are
     * equal: only the families tell which belong together. */
    compare(&t,
            FAMILIES(FAMILY("fusion", "jit(f)/layer_*/mul") ", " FAMILY("fusion", "jit(f)/layer_*/tanh"),
                     OP_OF("fusion.1.clone.1", "jit(f)/layer_1/mul", "0") ", " OP_OF(
                         "fusion.2", "jit(f)/layer_2/mul", "0") ", " OP_OF("fusion.3", "jit(f)/layer_1/tanh", "1")),
            FAMILIES(
                FAMILY("fusion", "jit(f)/layer_*/tanh") ", " FAMILY("fusion", "jit(f)/layer_*/mul"),
                OP_OF("fusion.7.remat", "jit(f)/layer_1/mul", "1") ", " OP_OF("fusion.8", "jit(f)/layer_1/tanh", "0")));
    assert_int_equal(tm_length(test_at(&t, "ops.rows")), 2);
    assert_string_equal(tm_text(test_at(&t, "ops.rows[0].name")), "fusion");
    assert_string_equal(tm_text(test_at(&t, "ops.rows[0].match")), "family");
    assert_string_equal(tm_text(test_at(&t, "ops.rows[0].op")), "jit(f)/layer_*/mul"); /* of two rows of one name */
    assert_string_equal(tm_text(test_at(&t, "ops.rows[1].op")), "jit(f)/layer_*/tanh");
    assert_int_equal(tm_int(test_at(&t, "ops.rows[0].members")), 2);
    assert_int_equal(tm_int(test_at(&t, "ops.rows[0].values[0]")), 200000000);
    assert_int_equal(tm_int(test_at(&t, "ops.rows[0].values[1]")), 100000000);
    assert_string_equal(tm_text(test_at(&t, "ops.rows[1].match")), "family");
    assert_int_equal(tm_int(test_at(&t, "ops.rows[1].members")), 1);
    test_compared_free(&t);
}

static void a_family_that_is_not_listed_leaves_the_pattern(void **state)
{
    static const char *const places[] = { "null", "1", "-1", "9000000000000000000", "'0'" };

    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct test_compared t;
        char base[1024];

        (void)snprintf(base, sizeof(base), FAMILIES(FAMILY("dot", ""), OP_OF("dot.1", "", "%s")), places[i]);
        compare(&t, base, FAMILIES(FAMILY("dot", ""), OP_OF("dot.2", "", "0")));
        assert_status(test_row(&t, "ops", "dot"), "pattern", "same");
        test_compared_free(&t);
    }
}

#define KERNEL(name, category) "{'name': '" name "', 'category': '" category "', 'count': 20, 'total_ps': 2000000000}"

static void the_category_of_a_kernel_is_that_of_its_name(void **state)
{
    /* the list of variants is cut, and has no row of it */
    static const char kernels[] = "{'kernels': {'rows': [], 'by_name': [" KERNEL("volta_sgemm", "gemm/dot") "]}}";
    struct test_compared t;

    (void)state;
    compare(&t, kernels, kernels);
    assert_string_equal(tm_text(tm_get(test_row(&t, "kernels", "volta_sgemm"), "group")), "gemm/dot");
    test_compared_free(&t);
}

static void names_with_other_numbers_meet_by_their_pattern(void **state)
{
    struct test_compared t;
    const struct tm_value *row;

    (void)state;
    compare(&t, OPS(OP("fusion.1", "", "20", "2000000000", "") ", " OP("fusion.2", "", "20", "2000000000", "")),
            OPS(OP("fusion.8", "", "40", "4400000000", "")));
    row = test_row(&t, "ops", "fusion");
    assert_non_null(row);
    assert_string_equal(tm_text(tm_get(row, "match")), "pattern");
    assert_int_equal(tm_int(tm_get(row, "members")), 2);
    assert_int_equal(tm_int(tm_path(row, "values[0]")), 200000000);
    assert_int_equal(tm_int(tm_path(row, "values[1]")), 220000000);
    assert_int_equal(tm_length(test_at(&t, "ops.rows")), 1);
    test_compared_free(&t);
}

static void a_name_that_means_another_operation_now_does_not_meet_itself(void **state)
{
    struct test_compared t;

    (void)state;
    /* an operation more in front: what was fusion.1 is fusion.2 now; the framework path tells */
    compare(&t,
            OPS(OP("fusion.1", "jit(f)/mul", "20", "2000000000", "") ", " OP("fusion.2", "jit(f)/tanh", "20",
                                                                             "8000000000", "")),
            OPS(OP("fusion.2", "jit(f)/mul", "20", "2000000000", "") ", " OP("fusion.3", "jit(f)/tanh", "20",
                                                                             "8000000000", "")));
    assert_int_equal(tm_length(test_at(&t, "ops.rows")), 2);
    for (size_t i = 0; i < 2; i++)
        assert_status(tm_at(test_at(&t, "ops.rows"), i), "pattern", "same");
    test_compared_free(&t);
}

static void other_hardware_meets_by_category(void **state)
{
    struct test_compared t;
    const struct tm_value *row;

    (void)state;
    compare(&t, OPS(OP("sm90_gemm", "", "20", "2000000000", "")),
            "{'environment': {'devices': [{'model': 'other', 'vendor': 'AMD'}]}, 'ops': {'rows': [" OP(
                "Cijk_Ailk", "", "20", "3000000000", "") "], 'rest': {'rows': 0}}}");
    row = test_row(&t, "ops", "gemm/dot");
    assert_non_null(row);
    assert_string_equal(tm_text(tm_get(row, "match")), "category");
    assert_string_equal(tm_text(test_at(&t, "notes[0].id")), "model");
    test_compared_free(&t);
}

static void gaps_have_the_tests_of_their_parts(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.wait_ps += 500000000;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &plain, NULL);
    (void)test_add_run(&t, "b", &other, "{'gaps': {'by_cause': {'device_wait': {'total_ps': 11200000000}}}}");
    assert_int_equal(test_compare(&t), TM_OK);
    assert_status(test_row(&t, "gaps", "device_wait"), "name", "slower");
    assert_status(test_row(&t, "gaps", "gc"), "name", "same");
    test_compared_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_a_name_are_no_part_of_its_pattern),
        cmocka_unit_test(a_change_is_split_into_number_and_length),
        cmocka_unit_test(without_a_deviation_there_is_no_test_of_lengths),
        cmocka_unit_test(lengths_are_tested_by_their_moments),
        cmocka_unit_test(rows_of_a_name_have_their_moments_together),
        cmocka_unit_test(what_any_two_runs_differ_by_is_no_change),
        cmocka_unit_test(what_is_on_one_side_only_is_added_or_removed),
        cmocka_unit_test(a_row_that_may_be_in_the_rest_of_a_cut_table_is_not_removed),
        cmocka_unit_test(a_side_without_the_table_has_removed_nothing),
        cmocka_unit_test(operations_without_a_partner_meet_by_their_family),
        cmocka_unit_test(a_family_that_is_not_listed_leaves_the_pattern),
        cmocka_unit_test(the_category_of_a_kernel_is_that_of_its_name),
        cmocka_unit_test(names_with_other_numbers_meet_by_their_pattern),
        cmocka_unit_test(a_name_that_means_another_operation_now_does_not_meet_itself),
        cmocka_unit_test(other_hardware_meets_by_category),
        cmocka_unit_test(gaps_have_the_tests_of_their_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
