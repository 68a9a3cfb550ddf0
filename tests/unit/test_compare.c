/* SPDX-License-Identifier: Apache-2.0 */
/* What a comparison holds, with figures worked out by hand. */
#include "reports/compare/compare.h"

#include <math.h>

#include "pipeline/doc/run_figures.h"
#include "tests/support/compared.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

static const struct test_steps plain = { .count = 10,
                                         .compute_ps = 9000000000,
                                         .collective_ps = 400000000,
                                         .h2d_ps = 100000000,
                                         .wait_ps = 300000000,
                                         .host_ps = 200000000,
                                         .jitter_ps = 5000000 };

static struct test_steps changed(int64_t more_compute_ps)
{
    struct test_steps steps = plain;

    steps.compute_ps += more_compute_ps;
    return steps;
}

static void assert_near(double value, double expected, double within)
{
    if (!(fabs(value - expected) <= within))
        fail_msg("%.12g is not %.12g", value, expected);
}

/* --- may they be compared? --- */

static void a_run_is_not_compared_with_itself(void **state)
{
    struct test_compared t;
    struct tm_value *same;

    (void)state;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &plain, NULL);
    same = test_add_run(&t, "b", &plain, NULL);
    assert_int_equal(tm_compare_check(&t.run, t.side, t.sides), TM_OK);
    tm_add_string(tm_element(tm_member(tm_member(same, "input"), "files"), 0), "xxh3", "0000000000000001");
    assert_int_equal(tm_compare_check(&t.run, t.side, t.sides), TM_ERR_USAGE);
    assert_non_null(strstr(t.run.error.what, "same run"));
    assert_true(*t.run.error.hint);
    test_compared_free(&t);
}

static void two_parts_of_one_run_are_compared(void **state)
{
    struct test_compared t;
    struct tm_value *same;

    (void)state;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &plain, "{'settings': {'steps': '0:5'}}");
    same = test_add_run(&t, "b", &plain, "{'settings': {'steps': '5:10'}}");
    tm_add_string(tm_element(tm_member(tm_member(same, "input"), "files"), 0), "xxh3", "0000000000000001");
    assert_int_equal(tm_compare_check(&t.run, t.side, t.sides), TM_OK);
    test_compared_free(&t);
}

static void one_side_and_a_side_without_a_trace_are_refused(void **state)
{
    struct test_compared t;

    (void)state;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &plain, NULL);
    assert_int_equal(tm_compare_check(&t.run, t.side, t.sides), TM_ERR_USAGE);
    memset(&t.run.error, 0, sizeof(t.run.error));
    (void)test_add_run(&t, "b", NULL, "{'input': {'hosts': []}, 'memory': {'device_profiles': [{'file': 'x.prof'}]}}");
    assert_int_equal(tm_compare_check(&t.run, t.side, t.sides), TM_ERR_INPUT);
    test_compared_free(&t);
}

/* --- step times --- */

static void six_steps_apart_from_six_have_the_least_p(void **state)
{
    struct test_compared t;
    struct test_steps base = plain, other = changed(900000000);

    (void)state;
    base.count = other.count = 6;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &base, NULL);
    (void)test_add_run(&t, "b", &other, NULL);
    assert_int_equal(test_compare(&t), TM_OK);
    assert_string_equal(tm_text(test_at(&t, "tests[0].median.method")), "mann_whitney");
    assert_string_equal(tm_text(test_at(&t, "tests[0].mean.method")), "permutation");
    /* 12 over 6 orders, two sides; adjusted for two tests that are nearly one */
    assert_in_range((uintmax_t)(1e9 * tm_double(test_at(&t, "tests[0].median.p"))), (uintmax_t)(1e9 * 2 / 924),
                    (uintmax_t)(1e9 * 4 / 924));
    assert_string_equal(tm_text(test_at(&t, "tests[0].verdict")), "regression");
    assert_string_equal(tm_text(test_at(&t, "tests[0].moved")), "both");
    assert_string_equal(tm_text(test_at(&t, "verdict.verdict")), "regression");
    assert_non_null(strstr(tm_text(test_at(&t, "verdict.text")), "between these two runs"));
    assert_int_equal(tm_int(test_at(&t, "tests[0].change_ps")), 900000000);
    assert_near(tm_double(test_at(&t, "tests[0].change_pct")), 9, 0.01); /* of 10 ms, jitter apart */
    assert_true(tm_is(test_at(&t, "tests[0].changed")));
    assert_string_equal(tm_text(test_at(&t, "tests[0].direction")), "slower");
    test_compared_free(&t);
}

static void five_steps_are_tested_but_decide_nothing(void **state)
{
    struct test_compared t;
    struct test_steps base = plain, other = changed(900000000);

    (void)state;
    base.count = other.count = 5;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &base, NULL);
    (void)test_add_run(&t, "b", &other, NULL);
    assert_int_equal(test_compare(&t), TM_OK);
    assert_string_equal(tm_text(test_at(&t, "tests[0].basis")), "steps");
    assert_true(tm_double(test_at(&t, "tests[0].median.p")) < 0.02); /* 2 of 252 orders, adjusted: no p is below 0.01 */
    assert_string_equal(tm_text(test_at(&t, "tests[0].verdict")), "inconclusive");
    assert_string_equal(tm_text(test_at(&t, "verdict.verdict")), "inconclusive");
    assert_int_equal(tm_type_of(test_at(&t, "tests[0].changed")), TM_NULL);
    assert_string_equal(tm_why(test_at(&t, "tests[0].changed")), "significance not tested: 5 steps; both sides need 6");
    assert_string_equal(tm_text(test_at(&t, "tests[0].direction")), "slower");
    assert_non_null(strstr(tm_text(test_at(&t, "verdict.text")), "; 5 steps; both sides need 6."));
    assert_string_equal(tm_text(test_at(&t, "notes[0].id")), "no_test");
    test_compared_free(&t);
}

static void steps_that_vary_much_are_noted_where_steps_are_tested(void **state)
{
    struct test_compared t;
    struct test_steps base = plain, other = changed(900000000);

    (void)state;
    base.jitter_ps = 100000000; /* 3.3 % */
    other.jitter_ps = 500000000;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &base, NULL);
    (void)test_add_run(&t, "b", &base, NULL);
    assert_int_equal(test_compare(&t), TM_OK);
    assert_int_equal(tm_length(test_at(&t, "notes")), 1);
    assert_string_equal(tm_text(test_at(&t, "notes[0].id")), "run_to_run");
    test_compared_free(&t);

    test_compared_init(&t);
    (void)test_add_run(&t, "a", &base, NULL);
    (void)test_add_run(&t, "b", &other, NULL);
    assert_int_equal(test_compare(&t), TM_OK);
    assert_string_equal(tm_text(test_at(&t, "notes[1].id")), "spread");
    assert_non_null(strstr(tm_text(test_at(&t, "notes[1].text")), "groups of runs"));
    test_compared_free(&t);

    test_compared_init(&t);
    (void)test_add_run(&t, "a", &base, NULL);
    (void)test_add_run(&t, NULL, &base, NULL);
    (void)test_add_run(&t, "b", &other, NULL);
    (void)test_add_run(&t, NULL, &other, NULL);
    assert_int_equal(test_compare(&t), TM_OK);
    assert_int_equal(tm_length(test_at(&t, "notes")), 0);
    test_compared_free(&t);
}

static void a_small_shift_is_no_change_however_sure_it_is(void **state)
{
    struct test_compared t;
    struct test_steps base = plain, other = changed(50000000);

    (void)state;
    base.jitter_ps = other.jitter_ps = 1000000;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &base, NULL);
    (void)test_add_run(&t, "b", &other, NULL);
    assert_int_equal(test_compare(&t), TM_OK);
    assert_true(tm_double(test_at(&t, "tests[0].p")) < 0.001);
    assert_false(tm_is(test_at(&t, "tests[0].changed")));
    assert_string_equal(tm_text(test_at(&t, "tests[0].direction")), "same");
    assert_int_equal(tm_length(test_at(&t, "findings")), 0);
    test_compared_free(&t);
}

static void a_change_has_to_exceed_what_runs_differ_by(void **state)
{
    static const struct {
        double spread_pct;
        const char *verdict, *note;
    } cases[] = { { 0, "regression", "unknown" },
                  { 5, "regression", "differ by up to 5" },
                  { 12, "no_change", "differ by up to 12" } };
    const struct test_steps other = changed(900000000); /* 9 % */
    struct test_compared t;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_compared_init(&t);
        t.run_spread_pct = cases[i].spread_pct;
        (void)test_add_run(&t, "a", &plain, NULL);
        (void)test_add_run(&t, "b", &other, NULL);
        assert_int_equal(test_compare(&t), TM_OK);
        assert_string_equal(tm_text(test_at(&t, "verdict.verdict")), cases[i].verdict);
        assert_string_equal(tm_text(test_at(&t, "notes[0].id")), "run_to_run");
        assert_non_null(strstr(tm_text(test_at(&t, "notes[0].text")), cases[i].note));
        assert_int_equal(tm_is(test_at(&t, "tests[0].within_run_spread")), i == 2);
        assert_int_equal(strstr(tm_text(test_at(&t, "verdict.text")), "two runs of the same program differ") != NULL,
                         i == 2);
        test_compared_free(&t);
    }
}

static void each_figure_has_to_exceed_what_runs_differ_by_in_it(void **state)
{
    static const struct {
        double median_pct, mean_pct;
        const char *verdict, *moved, *text;
    } cases[] = { { 5, 12, "regression", "median", "in the mean and 5.0" },
                  { 12, 5, "regression", "mean", "in the mean and 12.0" },
                  { 12, 12, "no_change", "none", "by up to 12.0" } };
    const struct test_steps other = changed(900000000); /* 9 % of both */
    struct test_compared t;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_compared_init(&t);
        t.run_spread_pct = cases[i].median_pct;
        t.mean_spread_pct = cases[i].mean_pct;
        (void)test_add_run(&t, "a", &plain, NULL);
        (void)test_add_run(&t, "b", &other, NULL);
        assert_int_equal(test_compare(&t), TM_OK);
        assert_string_equal(tm_text(test_at(&t, "verdict.verdict")), cases[i].verdict);
        assert_string_equal(tm_text(test_at(&t, "tests[0].moved")), cases[i].moved);
        assert_true(tm_double(test_at(&t, "tests[0].mean.run_spread_pct")) == cases[i].mean_pct);
        assert_true(tm_double(test_at(&t, "tests[0].median.run_spread_pct")) == cases[i].median_pct);
        if (!strstr(tm_text(test_at(&t, "notes[0].text")), cases[i].text))
            fail_msg("%s", tm_text(test_at(&t, "notes[0].text")));
        test_compared_free(&t);
    }
}

static void steps_that_are_measured_in_two_ways_are_not_tested(void **state)
{
    const struct test_steps other = changed(900000000);
    struct test_compared t;

    (void)state;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &plain, "{'steps': {'basis': 'period'}}");
    (void)test_add_run(&t, "b", &other, "{'steps': {'basis': 'host_span'}}");
    assert_int_equal(test_compare(&t), TM_OK);
    assert_string_equal(tm_text(test_at(&t, "verdict.verdict")), "inconclusive");
    assert_string_equal(tm_text(test_at(&t, "tests[0].basis")), "none");
    assert_non_null(strstr(tm_text(test_at(&t, "verdict.text")), "the steps are measured in two ways"));
    assert_int_equal(tm_type_of(test_at(&t, "tests[0].changed")), TM_NULL);
    test_compared_free(&t);
}

static void an_inconclusive_comparison_is_at_most_a_warning(void **state)
{
    const int counts[] = { 2, 5, 10 }; /* too few for a test, too few for significance, enough */

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct test_steps base = plain, other = changed(5000000000);
        struct test_compared t;

        base.count = other.count = counts[i];
        test_compared_init(&t);
        (void)test_add_run(&t, "a", &base, NULL);
        (void)test_add_run(&t, "b", &other, NULL);
        assert_int_equal(test_compare(&t), TM_OK);
        assert_string_equal(tm_text(test_at(&t, "verdict.verdict")), i < 2 ? "inconclusive" : "regression");
        assert_string_equal(tm_text(test_at(&t, "verdict.severity")), i < 2 ? "warning" : "critical");
        test_compared_free(&t);
    }
}

static void a_cause_within_the_noise_of_steps_is_at_most_a_warning(void **state)
{
    struct test_steps base = plain, other = changed(1500000000);
    struct test_compared t;

    (void)state;
    base.jitter_ps = other.jitter_ps = 800000000;
    other.collective_ps += 400000000;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &base, NULL);
    (void)test_add_run(&t, "b", &other, NULL);
    assert_int_equal(test_compare(&t), TM_OK);
    assert_true(tm_double(test_at(&t, "tests[0].change_pct")) > 10);
    assert_false(tm_is(test_at(&t, "tests[0].changed")));
    assert_string_equal(tm_text(test_at(&t, "verdict.severity")), "warning");
    test_compared_free(&t);
}

static void other_devices_are_told_first(void **state)
{
    struct test_compared t;

    (void)state;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &plain, "{'environment': {'devices': [{'model': 'A100'}]}}");
    (void)test_add_run(&t, "b", &plain, "{'environment': {'devices': [{'model': 'H100'}]}}");
    assert_int_equal(test_compare(&t), TM_OK);
    assert_int_equal(
        strncmp(tm_text(test_at(&t, "verdict.text")), "Different device models: 2 \u00d7 H100 vs. 2 \u00d7 A100. ", 46),
        0);
    assert_string_equal(tm_text(test_at(&t, "comparability.device_model.same")), "no");
    assert_string_equal(tm_text(test_at(&t, "comparability.device_model.values[1]")), "H100");
    assert_string_equal(tm_text(test_at(&t, "comparability.device_count.same")), "yes");
    assert_int_equal(tm_int(test_at(&t, "comparability.device_count.values[0]")), 2);
    assert_string_equal(tm_text(test_at(&t, "comparability.steps.same")), "yes");
    test_compared_free(&t);
}

#define DEVICE_OF(platform, vendor, model)                                                                             \
    "{'environment': {'platform': " platform ", 'devices': [{'vendor': " vendor ", 'model': " model "}]}}"

static void devices_without_a_model_differ_by_their_vendor_or_platform(void **state)
{
    static const struct {
        const char *base, *other, *same, *first, *value;
    } cases[] = {
        { DEVICE_OF("'gpu'", "'AMD'", "null"), DEVICE_OF("'gpu'", "'Nvidia'", "'H100'"), "no",
          "Different device models: 2 \u00d7 H100 vs. 2 \u00d7 AMD. ", "AMD" },
        { DEVICE_OF("'cpu'", "null", "null"), DEVICE_OF("'gpu'", "null", "null"), "no",
          "Different device models: 2 \u00d7 GPU vs. 2 \u00d7 CPU. ", "CPU" },
        { DEVICE_OF("'gpu'", "'AMD'", "null"), DEVICE_OF("'gpu'", "'AMD'", "null"), "not_recorded", "", "" },
        { DEVICE_OF("'gpu'", "null", "'H100'"), DEVICE_OF("'gpu'", "'Nvidia'", "null"), "not_recorded", "", "H100" },
        { DEVICE_OF("'gpu'", "null", "'H100'"), DEVICE_OF("'gpu'", "'Nvidia'", "'H100'"), "yes", "", "H100" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct test_compared t;
        const char *text;

        test_compared_init(&t);
        (void)test_add_run(&t, "a", &plain, cases[i].base);
        (void)test_add_run(&t, "b", &plain, cases[i].other);
        assert_int_equal(test_compare(&t), TM_OK);
        text = tm_text(test_at(&t, "verdict.text"));
        assert_string_equal(tm_text(test_at(&t, "comparability.device_model.same")), cases[i].same);
        assert_string_equal(tm_text(test_at(&t, "comparability.device_model.values[0]")), cases[i].value);
        if (*cases[i].first ? strncmp(text, cases[i].first, strlen(cases[i].first)) : strstr(text, "Different") != NULL)
            fail_msg("case %zu: %s", i, text);
        test_compared_free(&t);
    }
}

static void groups_are_tested_by_their_runs(void **state)
{
    struct test_compared t;

    (void)state;
    test_compared_init(&t);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 3; i++) { /* medians of 10.0, 10.2, 10.4 ms against 11.0, 11.2, 11.4 */
            const struct test_steps steps = {
                .count = 11, .compute_ps = INT64_C(10000000000) + side * INT64_C(1000000000) + i * INT64_C(200000000)
            };

            (void)test_add_run(&t, i ? NULL : side ? "new" : "old", &steps, NULL);
        }
    }
    assert_int_equal(test_compare(&t), TM_OK);
    assert_string_equal(tm_text(test_at(&t, "tests[0].basis")), "runs");
    /* t = 1 / sqrt(0.04 / 3 + 0.04 / 3) = 6.1237 with 4 degrees of freedom */
    assert_near(tm_double(test_at(&t, "tests[0].p")), 0.0036022, 1e-6);
    assert_near(tm_double(test_at(&t, "tests[0].change_pct")), 100.0 * 1 / 10.2, 1e-6);
    /* 2.7764 times the error of 0.1633 ms */
    assert_near(tm_double(test_at(&t, "tests[0].low_pct")), 100 * (1 - 0.45338) / 10.2, 1e-3);
    assert_near(tm_double(test_at(&t, "tests[0].high_pct")), 100 * (1 + 0.45338) / 10.2, 1e-3);
    assert_near(tm_double(test_at(&t, "sides[0].between_runs_cv_pct")), 100 * 0.2 / 10.2, 1e-6);
    assert_true(tm_is(test_at(&t, "tests[0].changed")));
    assert_true(tm_is(test_at(&t, "waterfalls[0].parts[compute].significant")));
    test_compared_free(&t);
}

static void a_group_against_one_run_is_not_tested(void **state)
{
    struct test_compared t;
    const struct test_steps other = changed(900000000);

    (void)state;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &plain, NULL);
    (void)test_add_run(&t, NULL, &plain, NULL);
    (void)test_add_run(&t, "b", &other, NULL);
    assert_int_equal(test_compare(&t), TM_OK);
    assert_string_equal(tm_text(test_at(&t, "tests[0].basis")), "none");
    assert_non_null(strstr(tm_why(test_at(&t, "tests[0].p")), "single run"));
    test_compared_free(&t);
}

/* --- waterfall --- */

static void the_waterfall_adds_up_to_the_picosecond(void **state)
{
    /* 3 steps of 2 devices: what is divided by 6 leaves fractions everywhere */
    struct test_steps base = {
        .count = 3, .compute_ps = 101, .collective_ps = 11, .h2d_ps = 7, .wait_ps = 5, .host_ps = 3
    };
    struct test_compared t;
    struct tm_value *summary, *parts;
    int64_t sum[3] = { 0, 0, 0 };

    (void)state;
    test_compared_init(&t);
    summary = test_add_run(&t, "a", &base, NULL);
    parts = tm_member(tm_member(summary, "steps"), "parts"); /* 607, 67, 46, 32, 18 = 770; a sixth: 128.33 */
    tm_add_int(parts, "compute_ps", 607);
    tm_add_int(parts, "exposed_collective_ps", 67);
    tm_add_int(tm_member(parts, "exposed_copy_ps"), "h2d", 46);
    tm_add_int(tm_member(parts, "idle_ps"), "device_wait", 32);
    tm_add_int(tm_member(parts, "idle_ps"), "host", 18);
    tm_add_int(parts, "total_ps", 770);
    base.compute_ps = 102;
    (void)test_add_run(&t, "b", &base, NULL);
    assert_int_equal(test_compare(&t), TM_OK);
    for (size_t i = 0; i < tm_length(test_at(&t, "waterfalls[0].parts")); i++) {
        const struct tm_value *part = tm_at(test_at(&t, "waterfalls[0].parts"), i);

        sum[0] += tm_int(tm_get(part, "base_ps"));
        sum[1] += tm_int(tm_get(part, "new_ps"));
        sum[2] += tm_int(tm_get(part, "change_ps"));
    }
    assert_int_equal(tm_int(test_at(&t, "waterfalls[0].base_ps")), 128);
    assert_int_equal(sum[0], 128);
    assert_int_equal(sum[1], 128); /* 102 + 11 + 7 + 5 + 3 */
    assert_int_equal(sum[2], tm_int(test_at(&t, "waterfalls[0].change_ps")));
    /* 101.17, 11.17, 7.33, 5.33, 3.33: floors make 127; the first of the largest fractions gets one
     * more */
    assert_int_equal(tm_int(test_at(&t, "waterfalls[0].parts[compute].base_ps")), 101);
    assert_int_equal(tm_int(test_at(&t, "waterfalls[0].parts[copy_h2d].base_ps")), 8);
    assert_int_equal(tm_int(test_at(&t, "waterfalls[0].parts[idle_device_wait].base_ps")), 5);
    test_compared_free(&t);
}

static void a_side_without_devices_has_no_waterfall(void **state)
{
    struct test_compared t;

    (void)state;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &plain, NULL);
    (void)test_add_run(&t, "b", NULL, "{'steps': {'parts': null}, 'devices': []}");
    assert_int_equal(test_compare(&t), TM_OK);
    assert_int_equal(tm_type_of(test_at(&t, "waterfalls[0].change_ps")), TM_NULL);
    assert_int_equal(tm_length(test_at(&t, "waterfalls[0].parts")), 0);
    assert_int_equal(tm_type_of(test_at(&t, "devices")), TM_NULL);
    test_compared_free(&t);
}

static void parts_that_are_more_than_their_total_are_none(void **state)
{
    static const int64_t wrong[][2] = { { INT64_C(9000000000000000000), INT64_C(9000000000000000000) },
                                        { INT64_MIN, 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct test_compared t;
        struct tm_value *parts;

        test_compared_init(&t);
        (void)test_add_run(&t, "a", &plain, NULL);
        parts = tm_member(tm_member(test_add_run(&t, "b", &plain, NULL), "steps"), "parts");
        tm_add_int(parts, "total_ps", INT64_MAX);
        tm_add_int(parts, "compute_ps", wrong[i][0]);
        tm_add_int(parts, "exposed_collective_ps", wrong[i][1]);
        assert_int_equal(test_compare(&t), TM_OK);
        assert_int_equal(tm_type_of(test_at(&t, "waterfalls[0].change_ps")), TM_NULL);
        test_compared_free(&t);
    }
}

/* --- figures --- */

static void figures_that_are_sums_are_told_per_step_and_device(void **state)
{
    struct test_compared t;
    const struct test_steps other = changed(900000000);

    (void)state;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &plain, NULL);
    (void)test_add_run(&t, "b", &other, "{'kernels': {'count': 22000}}");
    assert_int_equal(test_compare(&t), TM_OK);
    assert_near(tm_double(test_at(&t, "figures[kernels.count].values[0]")), 1000,
                1e-9); /* 20,000 in 10 steps of 2 devices */
    assert_near(tm_double(test_at(&t, "figures[kernels.count].values[1]")), 1100, 1e-9);
    assert_near(tm_double(test_at(&t, "figures[kernels.count].changes[0].pct")), 10, 1e-9);
    assert_string_equal(tm_text(test_at(&t, "figures[kernels.count].changes[0].judgement")), "worse");
    assert_int_equal(tm_type_of(test_at(&t, "figures[kernels.count].changes[0].significant")), TM_NULL);
    assert_true(tm_is(test_at(&t, "figures[total.compute_ps].changes[0].significant")));
    assert_string_equal(tm_text(test_at(&t, "figures[total.compute_ps].changes[0].judgement")), "worse");
    assert_string_equal(tm_text(test_at(&t, "figures[total.exposed_collective_ps].changes[0].judgement")), "same");
    test_compared_free(&t);
}

static void figures_name_their_units(void **state)
{
    static const char work[] = "{'roofline': {'flop_rate': 5e12, 'bandwidth': 1e11}}";
    struct test_compared t;

    (void)state;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &plain, work);
    (void)test_add_run(&t, "b", &plain, work);
    assert_int_equal(test_compare(&t), TM_OK);
    assert_string_equal(tm_text(test_at(&t, "figures[roofline.flop_rate].kind")), "flop_rate");
    assert_string_equal(tm_text(test_at(&t, "figures[roofline.bandwidth].kind")), "rate");
    assert_string_equal(tm_text(test_at(&t, "figures[total.compute_ps].kind")), "time");
    for (int kind = 0; kind < TM_DOC_KIND_COUNT; kind++)
        assert_non_null(strstr("|" TM_FIGURE_UNITS "|", tm_figure_unit_word((enum tm_doc_kind)kind)));
    assert_int_equal(tm_figure_unit("flop_rate"), TM_DOC_FLOP_RATE);
    assert_int_equal(tm_figure_unit("fathoms"), TM_DOC_NUMBER);
    test_compared_free(&t);
}

static void the_geomean_is_of_times_that_all_sides_have(void **state)
{
    /* step 10 to 20 ms, compute 8 to 16 ms, idle 2 to 4 ms: all twice; no collectives, no copies */
    const struct test_steps base = { .count = 10, .compute_ps = 8000000000, .wait_ps = 2000000000 };
    const struct test_steps twice = { .count = 10, .compute_ps = 16000000000, .wait_ps = 4000000000 };
    const struct test_steps half_idle = { .count = 10, .compute_ps = 8000000000, .wait_ps = 1000000000 };
    struct test_compared t;

    (void)state;
    test_compared_init(&t);
    (void)test_add_run(&t, "a", &base, NULL);
    (void)test_add_run(&t, "b", &twice, NULL);
    (void)test_add_run(&t, "c", &half_idle, NULL);
    assert_int_equal(test_compare(&t), TM_OK);
    assert_int_equal(tm_length(test_at(&t, "geomean.figures")), 3);
    assert_near(tm_double(test_at(&t, "geomean.ratios[0]")), 1, 1e-12);
    assert_near(tm_double(test_at(&t, "geomean.ratios[1]")), 2, 1e-12);
    assert_near(tm_double(test_at(&t, "geomean.ratios[2]")), cbrt(0.9 * 1 * 0.5), 1e-12);
    assert_string_equal(tm_text(test_at(&t, "sides[0].id")), "base");
    assert_string_equal(tm_text(test_at(&t, "sides[2].id")), "new_2");
    assert_string_equal(tm_text(test_at(&t, "input.run")), "b, c against a");
    assert_int_equal(tm_length(test_at(&t, "tests")), 2);
    assert_non_null(strstr(tm_text(test_at(&t, "verdict.text")), "fastest"));
    test_compared_free(&t);
}

/* --- memory --- */

static tm_status compare_once(struct tm_run *run)
{
    static struct tm_value *summary[2];
    static struct tm_run quiet; /* of the inputs */
    static struct tm_doc *input[2];
    const struct tm_compare_options options = { .rows = 100 };
    struct tm_compared_run runs[2];
    struct tm_comparison_side side[2];
    struct tm_doc *doc;
    tm_status st;

    test_run_init(&quiet);
    for (int i = 0; i < 2; i++) {
        input[i] = tm_doc_new(&quiet);
        summary[i] = tm_doc_root(input[i]);
        test_summary_load(summary[i], test_healthy_summary);
        test_put_steps(summary[i], &plain);
        runs[i] = (struct tm_compared_run){ .summary = summary[i], .path = "x", .measured_ps = -1 };
        side[i] = (struct tm_comparison_side){ .label = i ? "b" : "a", .run = &runs[i], .runs = 1 };
    }
    doc = tm_doc_new(run);
    st = doc ? tm_compare(run, doc, side, 2, &options) : run->error.status;
    tm_doc_free(doc);
    for (int i = 0; i < 2; i++)
        tm_doc_free(input[i]);
    return st;
}

static void memory_may_end_at_any_request(void **state)
{
    (void)state;
    refuse_each_request(compare_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_not_compared_with_itself),
        cmocka_unit_test(two_parts_of_one_run_are_compared),
        cmocka_unit_test(one_side_and_a_side_without_a_trace_are_refused),
        cmocka_unit_test(six_steps_apart_from_six_have_the_least_p),
        cmocka_unit_test(five_steps_are_tested_but_decide_nothing),
        cmocka_unit_test(steps_that_vary_much_are_noted_where_steps_are_tested),
        cmocka_unit_test(a_small_shift_is_no_change_however_sure_it_is),
        cmocka_unit_test(a_change_has_to_exceed_what_runs_differ_by),
        cmocka_unit_test(each_figure_has_to_exceed_what_runs_differ_by_in_it),
        cmocka_unit_test(steps_that_are_measured_in_two_ways_are_not_tested),
        cmocka_unit_test(an_inconclusive_comparison_is_at_most_a_warning),
        cmocka_unit_test(a_cause_within_the_noise_of_steps_is_at_most_a_warning),
        cmocka_unit_test(other_devices_are_told_first),
        cmocka_unit_test(devices_without_a_model_differ_by_their_vendor_or_platform),
        cmocka_unit_test(groups_are_tested_by_their_runs),
        cmocka_unit_test(a_group_against_one_run_is_not_tested),
        cmocka_unit_test(the_waterfall_adds_up_to_the_picosecond),
        cmocka_unit_test(a_side_without_devices_has_no_waterfall),
        cmocka_unit_test(parts_that_are_more_than_their_total_are_none),
        cmocka_unit_test(figures_that_are_sums_are_told_per_step_and_device),
        cmocka_unit_test(figures_name_their_units),
        cmocka_unit_test(the_geomean_is_of_times_that_all_sides_have),
        cmocka_unit_test(memory_may_end_at_any_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
