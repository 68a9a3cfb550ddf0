/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/findings/findings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/judged.h"

static const struct tm_value *kpi_of(const struct judged *j, const char *id)
{
    char path[80];

    (void)snprintf(path, sizeof(path), "kpis[%s]", id);
    return tm_path(j->summary, path);
}

static void expect(const struct judged *j, const char *id, double value, const char *band)
{
    const struct tm_value *kpi = kpi_of(j, id);

    if (!tm_has(tm_get(kpi, "value")) || tm_double(tm_get(kpi, "value")) != value ||
        strcmp(tm_text(tm_get(kpi, "band")), band) != 0)
        fail_msg("%s is %g (%s), not %g (%s)", id, tm_double(tm_get(kpi, "value")), tm_text(tm_get(kpi, "band")), value,
                 band);
}

static void expect_unknown(const struct judged *j, const char *id, const char *why)
{
    const struct tm_value *kpi = kpi_of(j, id);

    assert_non_null(kpi);
    assert_false(tm_has(tm_get(kpi, "value")));
    assert_string_equal(tm_text(tm_get(kpi, "band")), "unknown");
    if (!strstr(tm_text(tm_get(kpi, "why")), why))
        fail_msg("%s says '%s', not '%s'", id, tm_text(tm_get(kpi, "why")), why);
}

static void a_healthy_run_has_every_figure_of_this_version(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, "{}", NULL);
    expect(&j, "device_utilization", 95, "good");
    expect(&j, "kernel_duration", 1.5, "good");
    expect(&j, "host_overhead", 2.9, "good");
    expect(&j, "compile_time", 1.5, "good");
    expect(&j, "unexpected_compiles", 0, "good");
    expect(&j, "peak_memory", 50, "good");
    expect(&j, "transfer_share", 1.2, "good");
    expect(&j, "exposed_collective", 0.8, "good");
    expect(&j, "imbalance", 0, "good");
    expect(&j, "step_time", 10, "unknown");
    expect_unknown(&j, "model_flop_utilization", "not computed by this version");
    expect_unknown(&j, "small_kernel_share", "not computed by this version");
    expect_unknown(&j, "memory_bandwidth", "not computed by this version");
    expect_unknown(&j, "occupancy", "not computed by this version");
    expect_unknown(&j, "top_op_share", "not computed by this version");
    test_judged_free(&j);
}

static void model_flop_utilization_comes_first_where_it_is_known(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'roofline': {'mfu_pct': 41.5, 'flop_rate': 4e14, 'devices': [{'peak_flops': 8e14, 'peak_precision': "
               "'bf16'}]}}",
               NULL);
    expect(&j, "model_flop_utilization", 41.5, "unknown"); /* without a band */
    assert_string_equal(tm_text(tm_path(j.summary, "kpis[0].id")), "model_flop_utilization");
    assert_string_equal(tm_text(tm_path(j.summary, "kpis[1].id")), "step_time");
    assert_non_null(strstr(tm_text(tm_path(j.summary, "kpis[0].note")), "(bf16)"));
    test_judged_free(&j);
    test_judge(&j, "{'roofline': {'mfu_pct': null, 'why': {'mfu_pct': 'custom calls do not tell theirs'}}}", NULL);
    expect_unknown(&j, "model_flop_utilization", "custom calls");
    test_judged_free(&j);
}

static void bandwidth_is_told_where_most_costs_are_known(void **state)
{
    static const char run[] = "{'roofline': {'memory_pct': 130, 'bandwidth': 1300000000, 'known_pct': %s, 'devices': "
                              "[{'peak_bandwidth': 1000000000}]}, 'ops': {'top_share_pct': 40, 'rows_for_80_pct': 3, "
                              "'distinct': 9, 'rows': [{'name': 'fusion.7', 'self_ps': 9}], 'families': [{'family': "
                              "'fusion', 'members': 2, 'counts_as_one': false, 'self_ps': 10}]}}";
    char patch[512];
    struct judged j;

    (void)state;
    (void)snprintf(patch, sizeof(patch), run, "50");
    test_judge(&j, patch, NULL);
    expect(&j, "memory_bandwidth", 130, "good");
    assert_non_null(strstr(tm_text(tm_path(j.summary, "kpis[memory_bandwidth].note")), "over 100%"));
    expect(&j, "top_op_share", 40, "warning");
    assert_string_equal(tm_text(tm_path(j.summary, "kpis[top_op_share].note")),
                        "fusion.7; 3 of 9 operations account for 80%");
    test_judged_free(&j);
    test_judge(&j,
               "{'ops': {'top_share_pct': 38, 'rows_for_80_pct': 2, 'distinct': 9, 'families': [{'family': "
               "'fusion', 'longest': 'fusion.7', 'members': 512, 'counts_as_one': true}]}}",
               NULL);
    expect(&j, "top_op_share", 38, "warning");
    assert_string_equal(tm_text(tm_path(j.summary, "kpis[top_op_share].note")),
                        "fusion (512 operations); 2 of 9 operations account for 80%");
    test_judged_free(&j);
}

static void expect_link(const struct judged *j, const char *id, const char *finding, const char *why)
{
    const struct tm_value *kpi = kpi_of(j, id);

    assert_string_equal(tm_text(tm_get(kpi, "finding")), finding);
    if (!strstr(tm_text(tm_get(kpi, "why")), why) || (!*why && *tm_text(tm_get(kpi, "why"))))
        fail_msg("%s says '%s', not '%s'", id, tm_text(tm_get(kpi, "why")), why);
}

/* What is outside its band has a finding with its savings, or says why it costs nothing. */
static void a_figure_outside_its_band_has_a_finding_or_a_reason(void **state)
{
    struct judged j;

    (void)state;
    test_judge(
        &j,
        "{'total': {'utilization_pct': 40}, 'gaps': {'by_cause': {'input': {'count': 9, 'total_ps': 60000000000}}}, "
        "'host': {'overhead_pct': 30}, 'occupancy': {'mean_pct': 12, 'known_ps': 1, 'unknown_ps': 0}, 'roofline': "
        "{'memory_pct': 5, 'known_pct': 100, 'bound_ps': {'compute': 9, 'memory': 1, 'latency': 2}}}",
        NULL);
    expect_link(&j, "device_utilization", "idle_input", "");
    expect_link(&j, "host_overhead", "idle_input", "");
    expect_link(&j, "memory_bandwidth", "", "compute-bound: memory bandwidth is not the limit");
    expect_link(&j, "occupancy", "", "no kernel, except matmuls and attention");
    expect_link(&j, "peak_memory", "", "");
    test_judged_free(&j);
}

static void what_a_run_does_not_have_does_not_apply(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, "{}", NULL);
    assert_true(tm_is(tm_get(kpi_of(&j, "imbalance"), "applies")));
    assert_true(tm_is(tm_get(kpi_of(&j, "compile_time"), "applies")));
    test_judged_free(&j);
    test_judge(&j, "{'devices': [{'id': 'a'}], 'total': {'collective_ps': 0}, 'compile': {'count': 0}}", NULL);
    assert_false(tm_is(tm_get(kpi_of(&j, "imbalance"), "applies")));
    assert_false(tm_is(tm_get(kpi_of(&j, "exposed_collective"), "applies")));
    assert_false(tm_is(tm_get(kpi_of(&j, "compile_time"), "applies")));
    test_judged_free(&j);
    test_judge(&j, "{'environment': {'hosts': [{'host': 'vm', 'framework': 'pytorch'}]}, 'compile': null}", NULL);
    assert_false(tm_is(tm_get(kpi_of(&j, "compile_time"), "applies")));
    assert_false(tm_is(tm_get(kpi_of(&j, "unexpected_compiles"), "applies")));
    test_judged_free(&j);
    test_judge(&j, "{'environment': {'hosts': [{'host': 'vm', 'framework': 'jax'}]}, 'compile': null}", NULL);
    assert_true(tm_is(tm_get(kpi_of(&j, "compile_time"), "applies")));
    test_judged_free(&j);
}

#define RECORDED(kernels, busy, source)                                                                                \
    "{'coverage': {'classes': {'kernel': " kernels                                                                     \
    ", 'copy': 0, 'memset': 0, 'collective': 0}}, 'steps': {'source': '" source "'}, 'devices': [{'id': 'a', "         \
    "'busy_ps': " busy "}, {'id': 'b', 'busy_ps': 5}], 'total': {'utilization_pct': 40, 'busy_ps': " busy "}, "        \
    "'gaps': {'by_cause': {'input': {'count': 9, 'total_ps': 60000000000}}}}"

static void too_little_is_not_judged(void **state)
{
    static const struct {
        const char *patch;
        bool is_judged;
    } rows[] = {
        { RECORDED("19", "9000000000", "host"), false },   { RECORDED("20", "9000000000", "host"), true },
        { RECORDED("20", "999999999", "session"), false }, { RECORDED("20", "1000000000", "session"), true },
        { RECORDED("20", "999999999", "module"), false },  { RECORDED("20", "999999999", "host"), true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct judged j;
        const char *text;

        test_judge(&j, rows[i].patch, NULL);
        text = tm_text(tm_path(j.summary, "verdict.text"));
        assert_true((strstr(text, "Too little was recorded for an assessment: ") != NULL) == !rows[i].is_judged);
        assert_true((test_finding(&j, "idle_input") != NULL) == rows[i].is_judged);
        expect(&j, "device_utilization", 40, rows[i].is_judged ? "bad" : "unknown");
        test_judged_free(&j);
    }
}

static void they_stand_in_the_order_of_the_definition(void **state)
{
    const struct tm_value *kpis;
    struct judged j;

    (void)state;
    test_judge(&j, "{}", NULL);
    kpis = tm_get(j.summary, "kpis");
    assert_int_equal(tm_length(kpis), TM_KPI_COUNT);
    for (size_t i = 0; i < TM_KPI_COUNT; i++)
        assert_string_equal(tm_text(tm_get(tm_at(kpis, i), "id")), tm_kpi_id[i]);
    test_judged_free(&j);
}

static void the_plain_mean_and_idle_time_stand_beside(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, "{}", NULL);
    assert_non_null(strstr(tm_text(tm_get(kpi_of(&j, "kernel_duration"), "note")), "plain mean 9.30"));
    assert_non_null(strstr(tm_text(tm_get(kpi_of(&j, "device_utilization"), "note")), "idle 5.0%"));
    test_judged_free(&j);
}

static void bands_follow_the_direction(void **state)
{
    const struct tm_threshold higher = { .has_bands = true, .higher_is_better = true, .good = 80, .bad = 50 };
    const struct tm_threshold lower = { .has_bands = true, .good = 2, .bad = 10 };
    const struct tm_threshold none_allowed = { .has_bands = true, .good = 0, .bad = 0 };
    const struct tm_threshold without = { .has_bands = false };
    const struct {
        const struct tm_threshold *kpi;
        double value;
        const char *band;
    } rows[] = {
        { &higher, 80.1, "good" },   { &higher, 80, "warning" },   { &higher, 50, "warning" },
        { &higher, 49.9, "bad" },    { &lower, 1.9, "good" },      { &lower, 2, "warning" },
        { &lower, 10, "warning" },   { &lower, 10.1, "bad" },      { &none_allowed, 0, "good" },
        { &none_allowed, 1, "bad" }, { &without, 1e9, "unknown" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(tm_kpi_band(rows[i].kpi, rows[i].value), rows[i].band);
}

static void what_the_input_cannot_support_is_null_with_the_reason(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'host': {'overhead_pct': null, 'why': {'overhead_pct': 'the program ran on the CPU'}}, "
               "'memory': null, 'kernels': {'count': 0, 'weighted_mean_ps': null}, 'balance': null, "
               "'environment': {'platform': 'cpu'}, 'why': {'memory': 'no allocator events', 'balance': "
               "'one device'}}",
               NULL);
    expect_unknown(&j, "host_overhead", "the program ran on the CPU");
    expect_unknown(&j, "peak_memory", "no allocator events");
    expect_unknown(&j, "kernel_duration", "only GPUs launch kernels");
    expect_unknown(&j, "imbalance", "one device");
    expect_unknown(&j, "transfer_share", "ran on the CPU");
    test_judged_free(&j);
}

static void a_gpu_run_without_kernels_has_no_kernel_duration(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, "{'kernels': {'count': 0, 'weighted_mean_ps': null}}", NULL);
    expect_unknown(&j, "kernel_duration", "no kernels were recorded");
    test_judged_free(&j);
}

static void without_device_activity_device_figures_are_null(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'devices': [], 'window': {'total_ps': 0}, 'total': {'utilization_pct': null, "
               "'exposed_copy_ps': null, 'exposed_collective_ps': null, 'why': "
               "{'utilization_pct': 'no device activity'}}}",
               NULL);
    expect_unknown(&j, "device_utilization", "no device activity");
    expect_unknown(&j, "transfer_share", "not recorded");
    expect_unknown(&j, "exposed_collective", "not recorded");
    test_judged_free(&j);
}

static void without_steps_there_is_no_step_time(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, "{'steps': {'source': 'session', 'count': 1, 'chosen': 1}}", NULL);
    expect_unknown(&j, "step_time", "no steps are marked");
    expect_unknown(&j, "unexpected_compiles", "no steps are marked");
    test_judged_free(&j);
}

static void a_limit_of_the_user_gives_step_time_a_band(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, "{}", "{'kpis': [{'id': 'step_time', 'good': 8, 'bad': 9}]}");
    expect(&j, "step_time", 10, "bad");
    test_judged_free(&j);
}

static void the_fullest_allocator_counts(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'memory': {'allocators': [{'name': 'a', 'peak_bytes': 5, 'peak_pct': 20}, {'name': 'b', "
               "'peak_bytes': 7, 'peak_pct': 95}, {'name': 'c', 'peak_pct': null}]}}",
               NULL);
    expect(&j, "peak_memory", 95, "bad");
    test_judged_free(&j);

    test_judge(&j, "{'memory': {'allocators': [{'name': 'c', 'peak_pct': null}]}}", NULL);
    expect_unknown(&j, "peak_memory", "report their capacity");
    test_judged_free(&j);
}

static void shares_never_pass_the_window(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, "{'total': {'exposed_copy_ps': 900000000000}}", NULL);
    expect(&j, "transfer_share", 100, "bad");
    test_judged_free(&j);
}

/* Reports link to docs/metrics.md#<id>: every figure is defined there. */
static void every_kpi_has_an_anchor_in_the_documentation(void **state)
{
    static char text[256 << 10];
    FILE *file = fopen("docs/metrics.md", "re");
    size_t length;

    (void)state;
    if (!file)
        skip();
    length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    assert_int_equal(fclose(file), 0);
    for (int i = 0; i < TM_KPI_COUNT; i++) {
        char anchor[80];

        (void)snprintf(anchor, sizeof(anchor), "<a id=\"%s\"></a>", tm_kpi_id[i]);
        if (!strstr(text, anchor))
            fail_msg("docs/metrics.md has no anchor %s", anchor);
    }
}

static void kernels_tell_their_share_and_occupancy(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'fusion': {'kernels': {'count': 4000}, 'small': {'share_pct': 61, 'count': 3000}}, 'occupancy': {"
               "'mean_pct': 24, 'known_ps': 90, 'unknown_ps': 10}}",
               NULL);
    expect(&j, "small_kernel_share", 61, "bad");
    expect(&j, "occupancy", 24, "bad");
    assert_string_equal(tm_text(tm_get(kpi_of(&j, "small_kernel_share"), "note")), "3,000 of 4,000 kernels");
    assert_string_equal(tm_text(tm_get(kpi_of(&j, "occupancy"), "note")), "known for 90.0% of the kernel time");
    test_judged_free(&j);
    test_judge(&j, "{'fusion': {'small': {'share_pct': 24}}, 'occupancy': {'mean_pct': 51, 'unknown_ps': 0}}", NULL);
    expect(&j, "small_kernel_share", 24, "good");
    expect(&j, "occupancy", 51, "good");
    assert_false(tm_has(tm_get(kpi_of(&j, "occupancy"), "note")));
    test_judged_free(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_tell_their_share_and_occupancy),
        cmocka_unit_test(a_healthy_run_has_every_figure_of_this_version),
        cmocka_unit_test(model_flop_utilization_comes_first_where_it_is_known),
        cmocka_unit_test(bandwidth_is_told_where_most_costs_are_known),
        cmocka_unit_test(a_figure_outside_its_band_has_a_finding_or_a_reason),
        cmocka_unit_test(what_a_run_does_not_have_does_not_apply),
        cmocka_unit_test(too_little_is_not_judged),
        cmocka_unit_test(they_stand_in_the_order_of_the_definition),
        cmocka_unit_test(the_plain_mean_and_idle_time_stand_beside),
        cmocka_unit_test(bands_follow_the_direction),
        cmocka_unit_test(what_the_input_cannot_support_is_null_with_the_reason),
        cmocka_unit_test(a_gpu_run_without_kernels_has_no_kernel_duration),
        cmocka_unit_test(without_device_activity_device_figures_are_null),
        cmocka_unit_test(without_steps_there_is_no_step_time),
        cmocka_unit_test(a_limit_of_the_user_gives_step_time_a_band),
        cmocka_unit_test(the_fullest_allocator_counts),
        cmocka_unit_test(shares_never_pass_the_window),
        cmocka_unit_test(every_kpi_has_an_anchor_in_the_documentation),
    };

    return cmocka_run_group_tests_name("kpis", tests, NULL, NULL);
}
