/* SPDX-License-Identifier: Apache-2.0 */
/* The causes of a change: each planted alone is the first finding and explains the change. */
#include <math.h>
#include <stdlib.h>

#include "tests/support/compared.h"
#include "tests/support/test_run.h"

static const struct test_steps plain = { .count = 10,
                                         .compute_ps = 8000000000,
                                         .collective_ps = 400000000,
                                         .h2d_ps = 200000000,
                                         .wait_ps = 1000000000,
                                         .host_ps = 400000000,
                                         .jitter_ps = 5000000 };

/* Ten steps of two devices: a count of 20 is once per step and device. */
#define OP(name, count, self)                                                                                          \
    "{'name': '" name "', 'op': '', 'category': 'other', 'count': " count ", 'self_ps': " self ", 'total_ps': " self "}"
#define OPS(rows) "'ops': {'rows': [" rows "], 'rest': {'rows': 0, 'self_ps': 0}}"
/* 8 ms a step: four kinds of 2 ms */
#define FOUR                                                                                                           \
    OP("dot.1", "20", "40000000000")                                                                                   \
    ", " OP("conv", "20", "40000000000") ", " OP("softmax", "20", "40000000000")
#define BASE "{" OPS(FOUR ", " OP("dot.2", "20", "40000000000")) "}"

static void compare(struct test_compared *t, const struct test_steps *base, const char *a,
                    const struct test_steps *other, const char *b)
{
    test_compared_init(t);
    (void)test_add_run(t, "a", base, a);
    (void)test_add_run(t, "b", other, b);
    assert_int_equal(test_compare(t), TM_OK);
}

static void assert_first(const struct test_compared *t, const char *id, int64_t change_ps)
{
    const struct tm_value *first = test_at(t, "findings[0]");

    assert_string_equal(tm_text(tm_get(first, "id")), id);
    if (llabs(tm_int(tm_get(first, "change_ps")) - change_ps) > 20000000)
        fail_msg("%s: %lld", tm_text(tm_get(first, "title")), (long long)tm_int(tm_get(first, "change_ps")));
}

static double explained(const struct test_compared *t)
{
    double sum = 0;

    for (size_t i = 0; i < tm_length(test_at(t, "findings")); i++)
        sum += tm_double(tm_get(tm_at(test_at(t, "findings"), i), "explains_pct"));
    return sum;
}

static void the_same_again_has_no_cause(void **state)
{
    struct test_compared t;

    (void)state;
    compare(&t, &plain, BASE, &plain, BASE);
    assert_int_equal(tm_length(test_at(&t, "findings")), 0);
    assert_non_null(strstr(tm_text(test_at(&t, "verdict.text")), "No significant change"));
    assert_string_equal(tm_text(test_at(&t, "verdict.severity")), "info");
    test_compared_free(&t);
}

static void a_slower_operation(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.compute_ps += 1200000000;
    compare(&t, &plain, BASE, &other, "{" OPS(FOUR ", " OP("dot.2", "20", "64000000000")) "}");
    assert_first(&t, "op_slower", 1200000000);
    assert_non_null(strstr(tm_text(test_at(&t, "findings[0].title")), "dot.2 takes 60.0% longer"));
    assert_true(fabs(explained(&t) - 100) < 1);
    assert_string_equal(tm_text(test_at(&t, "findings[0].severity")), "critical");
    assert_true(tm_length(test_at(&t, "findings[0].fix")) > 0);
    assert_string_equal(tm_text(test_at(&t, "findings[0].side")), "new");
    test_compared_free(&t);
}

static void a_faster_operation_is_told_as_good(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.compute_ps -= 1000000000;
    compare(&t, &plain, BASE, &other, "{" OPS(FOUR ", " OP("dot.2", "20", "20000000000")) "}");
    assert_first(&t, "op_faster", -1000000000);
    assert_string_equal(tm_text(test_at(&t, "findings[0].severity")), "good");
    assert_int_equal(tm_int(test_at(&t, "findings[0].at_stake_ps")), 0);
    assert_string_equal(tm_text(test_at(&t, "verdict.severity")), "good");
    test_compared_free(&t);
}

static void a_family_of_operations_is_one_cause(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.compute_ps += 800000000;
    compare(&t, &plain, BASE, &other,
            "{" OPS(OP("dot.1", "20", "48000000000") ", " OP("conv", "20", "40000000000") ", " OP(
                "softmax", "20", "40000000000") ", " OP("dot.2", "20", "48000000000")) "}");
    assert_first(&t, "op_slower", 800000000);
    assert_non_null(strstr(tm_text(test_at(&t, "findings[0].title")), "dot takes 20.0% longer"));
    assert_int_equal(tm_length(test_at(&t, "findings")), 1);
    test_compared_free(&t);
}

/* Of nine dots eight vary much: the family has not changed by more than they do, the ninth has. */
#define WILD(name)                                                                                                     \
    "{'name': '" name "', 'op': '', 'category': 'other', 'count': 20, 'self_ps': 18000000000, "                        \
    "'total_ps': 18000000000, 'self_stddev_ps': 900000000}"
#define TAME(self)                                                                                                     \
    "{'name': 'dot.9', 'op': '', 'category': 'other', 'count': 20, 'self_ps': " self ", 'total_ps': " self             \
    ", 'self_stddev_ps': 10000000}"
#define NINE(self)                                                                                                     \
    OPS(WILD("dot.1") ", " WILD("dot.2") ", " WILD("dot.3") ", " WILD("dot.4") ", " WILD("dot.5") ", " WILD(           \
        "dot.6") ", " WILD("dot.7") ", " WILD("dot.8") ", " TAME(self))

static void one_operation_of_a_family_that_varies(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.compute_ps += 300000000;
    compare(&t, &plain, "{" NINE("16000000000") "}", &other, "{" NINE("22000000000") "}");
    assert_first(&t, "op_slower", 300000000);
    assert_non_null(strstr(tm_text(test_at(&t, "findings[0].title")), "dot.9 takes 37.5% longer"));
    assert_true(fabs(explained(&t) - 100) < 1);
    test_compared_free(&t);

    /* what varies as much alone is no cause */
    compare(&t, &plain, "{" NINE("16000000000") "}", &plain, "{" NINE("16100000000") "}");
    assert_int_equal(tm_length(test_at(&t, "findings")), 0);
    test_compared_free(&t);
}

static void an_operation_that_runs_more_often(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.compute_ps += 2000000000;
    compare(&t, &plain, BASE, &other, "{" OPS(FOUR ", " OP("dot.2", "40", "80000000000")) "}");
    assert_first(&t, "op_more_often", 2000000000);
    test_compared_free(&t);
}

static void a_fusion_that_is_broken_up(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.compute_ps += 1000000000;
    compare(
        &t, &plain, BASE, &other,
        "{" OPS(OP("dot.1", "20", "40000000000") ", " OP("dot.2", "20", "40000000000") ", " OP(
            "conv", "20", "40000000000") ", " OP("exp", "20", "30000000000") ", " OP("div", "20", "30000000000")) "}");
    assert_first(&t, "fusion_broken", 1000000000);
    assert_non_null(strstr(tm_text(test_at(&t, "findings[0].title")), "replace 1 (softmax)"));
    test_compared_free(&t);
}

static void everything_slower_by_the_same_share(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.compute_ps += 800000000;
    compare(&t, &plain, BASE, &other,
            "{" OPS(OP("dot.1", "20", "44000000000") ", " OP("conv", "20", "44000000000") ", " OP(
                "softmax", "20", "44000000000") ", " OP("dot.2", "20", "44000000000")) "}");
    assert_first(&t, "all_slower", 800000000);
    assert_int_equal(tm_length(test_at(&t, "findings")), 1);
    test_compared_free(&t);
}

static void more_copies(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.h2d_ps += 1500000000;
    compare(&t, &plain, BASE, &other,
            "{'transfers': {'by_direction': [{'direction': 'h2d', 'count': 40, 'bytes': 41943040, "
            "'total_ps': 33000000000}]}}");
    assert_first(&t, "transfer_more", 1500000000);
    assert_non_null(
        strstr(tm_text(test_at(&t, "findings[0].title")), "2 copies from host to device per step and device, was 1"));
    test_compared_free(&t);
}

static void slower_collectives(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.collective_ps += 1000000000;
    compare(&t, &plain,
            "{'collectives': {'rows': [{'kind': 'all-reduce', 'message_bytes': null, 'count': 20, "
            "'total_ps': 8000000000}]}}",
            &other,
            "{'total': {'collective_ps': 28000000000}, 'collectives': {'rows': [{'kind': "
            "'all-reduce', 'message_bytes': null, "
            "'count': 20, 'total_ps': 28000000000}]}}");
    assert_first(&t, "collective_slower", 1000000000);
    test_compared_free(&t);
}

static void a_lost_overlap(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.collective_ps += 600000000; /* as long as before: total.collective_ps stays */
    compare(&t, &plain, "{'total': {'collective_ps': 24000000000}}", &other,
            "{'total': {'collective_ps': 24000000000}}");
    assert_first(&t, "overlap_lost", 600000000);
    test_compared_free(&t);
}

static void compilations_inside_the_steps(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.compile_ps += 3000000000;
    compare(&t, &plain, BASE, &other, "{'compile': {'inside_steps': {'count': 6, 'total_ps': 30000000000}}}");
    assert_first(&t, "recompiles", 3000000000);
    test_compared_free(&t);
}

/* The median step is as before, but compilations are events that were recorded, and no chance: the mean has changed by
 * them. */
static void compilations_in_some_of_the_steps(void **state)
{
    struct test_steps base = plain, other;
    struct test_compared t;

    (void)state;
    base.count = 20;
    other = base;
    other.compile_ps = 100000000000;
    other.compiling = 8;
    compare(&t, &base, "{}", &other, "{'compile': {'inside_steps': {'count': 8, 'total_ps': 800000000000}}}");
    assert_true(tm_is(test_at(&t, "tests[0].changed")));
    assert_string_equal(tm_text(test_at(&t, "tests[0].moved")), "mean");
    assert_true(tm_double(test_at(&t, "waterfalls[0].parts[9].p")) > 0.005 / 8);
    assert_true(tm_is(test_at(&t, "waterfalls[0].parts[9].significant")));
    assert_first(&t, "recompiles", 40000000000);
    assert_non_null(
        strstr(tm_text(test_at(&t, "verdict.text")), ": 8 of 20 steps compile. Largest cause: 8 compiles during"));
    test_compared_free(&t);
}

static void two_of_twenty_steps_that_compile_are_a_regression_of_the_mean(void **state)
{
    struct test_steps base = plain, other;
    struct test_compared t;

    (void)state;
    base.count = 20;
    other = base;
    other.compile_ps = 50000000000;
    other.compiling = 2;
    compare(&t, &base, "{}", &other, "{'compile': {'inside_steps': {'count': 2, 'total_ps': 100000000000}}}");
    assert_string_equal(tm_text(test_at(&t, "verdict.verdict")), "regression");
    assert_string_equal(tm_text(test_at(&t, "tests[0].moved")), "mean");
    assert_true(tm_is(test_at(&t, "tests[0].recorded")));
    assert_true(tm_double(test_at(&t, "tests[0].mean.p")) > 0.01); /* two long steps may fall on one side by chance */
    assert_false(tm_is(test_at(&t, "tests[0].median.changed")));
    assert_first(&t, "recompiles", 5000000000);
    assert_non_null(strstr(tm_text(test_at(&t, "verdict.text")), "median unchanged"));
    assert_non_null(strstr(tm_text(test_at(&t, "verdict.text")), ": 2 of 20 steps compile. Largest cause: 2 compiles"));
    test_compared_free(&t);
    compare(&t, &other, "{'compile': {'inside_steps': {'count': 2, 'total_ps': 100000000000}}}", &other,
            "{'compile': {'inside_steps': {'count': 2, 'total_ps': 100000000000}}}");
    assert_string_equal(tm_text(test_at(&t, "verdict.verdict")), "no_change"); /* on both sides */
    test_compared_free(&t);
}

static void one_device_that_is_slower_than_before(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;
    struct tm_value *summary, *device, *busy;

    (void)state;
    other.compute_ps += 1000000000; /* the mean of 0 and 2 ms */
    other.wait_ps += 1000000000;    /* the other one waits */
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &plain, BASE);
    summary = test_add_run(&t, "b", &other, BASE);
    for (size_t d = 0; d < 2; d++) {
        device = tm_element(tm_member(summary, "devices"), d);
        tm_add_int(device, "compute_ps", INT64_C(80000000000) + (d ? INT64_C(20000000000) : 0));
        tm_add_int(device, "busy_ps", INT64_C(86000000000) + (d ? INT64_C(20000000000) : 0));
        busy = tm_add_array(tm_member(device, "steps"), "busy_ps");
        for (int i = 0; i < 10; i++)
            tm_add_int(busy, NULL, INT64_C(8600000000) + i * 1000000 + (d ? INT64_C(2000000000) : 0));
    }
    assert_int_equal(test_compare(&t), TM_OK);
    assert_first(&t, "slow_device", 2000000000);
    assert_non_null(strstr(tm_text(test_at(&t, "findings[0].title")), "gpu:1 alone computes 25.0% longer"));
    assert_int_equal(tm_length(test_at(&t, "findings")), 1);
    test_compared_free(&t);
}

static void idle_time_by_its_cause(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.host_ps += 900000000;
    compare(&t, &plain, BASE, &other, BASE);
    assert_first(&t, "idle_host", 900000000);
    test_compared_free(&t);
}

static void idle_time_that_only_changes_hands_is_no_cause(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;

    (void)state;
    other.host_ps += 900000000;
    other.wait_ps -= 900000000;
    compare(&t, &plain, BASE, &other, BASE);
    assert_int_equal(tm_length(test_at(&t, "findings")), 0);
    assert_true(tm_is(test_at(&t, "waterfalls[0].parts[idle_host].significant"))); /* the waterfall has it */
    test_compared_free(&t);
}

static void without_a_test_causes_are_told_by_size_and_marked(void **state)
{
    struct test_steps base = plain, other = plain;
    struct test_compared t;
    const struct tm_value *evidence;

    (void)state;
    base.count = other.count = 2;
    other.host_ps += 900000000;
    compare(&t, &base, BASE, &other, BASE);
    assert_non_null(test_cause(&t, "idle_host"));
    assert_false(tm_is(tm_get(test_cause(&t, "idle_host"), "tested")));
    evidence = tm_get(test_cause(&t, "idle_host"), "evidence");
    assert_non_null(strstr(tm_text(tm_at(evidence, tm_length(evidence) - 1)), "significance not tested: 2 steps"));
    test_compared_free(&t);
}

static void what_no_cause_explains_is_told_last(void **state)
{
    struct test_steps other = plain;
    struct test_compared t;
    size_t last;

    (void)state;
    other.compute_ps += 3000000000; /* the rows tell of 1 ms */
    compare(&t, &plain, BASE, &other, "{" OPS(FOUR ", " OP("dot.2", "20", "60000000000")) "}");
    last = tm_length(test_at(&t, "findings")) - 1;
    assert_string_equal(tm_text(test_at(&t, "findings[0].id")), "op_slower");
    assert_string_equal(tm_text(tm_get(tm_at(test_at(&t, "findings"), last), "id")), "compute");
    assert_true(fabs(explained(&t) - 100) < 1);
    test_compared_free(&t);
}

static void the_verdict_tells_a_changed_part_of_a_step_that_has_not_changed(void **state)
{
    struct test_steps base = plain, other;
    struct test_compared t;

    (void)state;
    base.jitter_ps = 1000000;
    other = base;
    other.host_ps += 250000000;
    other.collective_ps -= 200000000; /* 0.5 % of a step remains */
    compare(&t, &base, BASE, &other, BASE);
    assert_false(tm_is(test_at(&t, "tests[0].changed")));
    assert_non_null(strstr(tm_text(test_at(&t, "verdict.text")), "No significant change"));
    assert_non_null(strstr(tm_text(test_at(&t, "verdict.text")), "But: The device is idle longer due to host code"));
    test_compared_free(&t);
}

static void memory_and_versions_are_facts(void **state)
{
    struct test_compared t;

    (void)state;
    compare(&t, &plain, BASE, &plain,
            "{" OPS(FOUR ", " OP("dot.2", "20",
                                 "40000000000")) ", 'environment': {'hosts': [{'jax': '0.11.0', 'jaxlib': '0.11.0'}]},"
                                                 " 'memory': {'allocators': [{'name': 'GPU_0_bfc', 'peak_bytes': "
                                                 "57000000000, 'peak_pct': 95}]}}");
    assert_string_equal(tm_text(tm_get(test_cause(&t, "memory_more"), "severity")), "warning");
    assert_string_equal(tm_text(tm_get(test_cause(&t, "environment"), "severity")), "info");
    assert_int_equal(tm_type_of(tm_get(test_cause(&t, "memory_more"), "change_ps")), TM_NULL);
    assert_non_null(strstr(tm_text(tm_path(test_cause(&t, "environment"), "evidence[0]")), "jax: 0.11.0, was 0.10.2"));
    test_compared_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_again_has_no_cause),
        cmocka_unit_test(a_slower_operation),
        cmocka_unit_test(a_faster_operation_is_told_as_good),
        cmocka_unit_test(a_family_of_operations_is_one_cause),
        cmocka_unit_test(one_operation_of_a_family_that_varies),
        cmocka_unit_test(an_operation_that_runs_more_often),
        cmocka_unit_test(a_fusion_that_is_broken_up),
        cmocka_unit_test(everything_slower_by_the_same_share),
        cmocka_unit_test(more_copies),
        cmocka_unit_test(slower_collectives),
        cmocka_unit_test(a_lost_overlap),
        cmocka_unit_test(compilations_inside_the_steps),
        cmocka_unit_test(compilations_in_some_of_the_steps),
        cmocka_unit_test(two_of_twenty_steps_that_compile_are_a_regression_of_the_mean),
        cmocka_unit_test(one_device_that_is_slower_than_before),
        cmocka_unit_test(idle_time_by_its_cause),
        cmocka_unit_test(idle_time_that_only_changes_hands_is_no_cause),
        cmocka_unit_test(without_a_test_causes_are_told_by_size_and_marked),
        cmocka_unit_test(what_no_cause_explains_is_told_last),
        cmocka_unit_test(the_verdict_tells_a_changed_part_of_a_step_that_has_not_changed),
        cmocka_unit_test(memory_and_versions_are_facts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
