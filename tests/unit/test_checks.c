/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "reports/findings/findings.h"
#include "reports/findings/summary_query.h"
#include "tests/support/judged.h"
#include "tests/support/summary_json.h"

#define STEP(period, idle)                                                                                             \
    "{'steps': {'list': [{'number': 7, 'device': 'vm/gpu:0', 'begin_ps': 100, 'host_span_ps': 50, 'end_ps': 160, "     \
    "'period_ps': " period                                                                                             \
    ", 'compute_ps': 10, 'exposed_collective_ps': 20, 'exposed_copy_ps': {'h2d': 3, 'd2h': 4}, "                       \
    "'idle_ps': {'host': " idle "}}]}}"
#define DEVICE(fields) "{'devices': [{'id': 'vm/gpu:1', " fields "}]}"

/* A summary that contradicts itself, and the check that says so. */
static const struct {
    const char *patch, *id, *where;
    int64_t expected, found;
} broken[] = {
    { "{'window': {'hosts': [{'host': 'vm', 'span_ps': 100, 'steps_ps': 99}]}}", "steps_fill_window", "vm", 100, 99 },
    { "{'window': {'job': {'span_ps': 100, 'steps_ps': 101}}}", "steps_fill_window", "all hosts", 100, 101 },
    { DEVICE("'span_ps': 100, 'busy_ps': 30, 'idle_ps': 71, 'gaps': {'total_ps': 71, 'by_cause': {'host': {'total_ps': "
             "71}}}"),
      "busy_and_idle", "vm/gpu:1", 100, 101 },
    { DEVICE("'span_ps': 10, 'busy_ps': 11, 'idle_ps': -1, 'gaps': {'total_ps': -1, 'by_cause': {'host': {'total_ps': "
             "-1}}}"),
      "busy_within_window", "vm/gpu:1", 10, 11 },
    { STEP("60", "22"), "step_parts", "step 7 on vm/gpu:0", 60, 59 },
    { DEVICE("'span_ps': 10, 'busy_ps': 4, 'idle_ps': 6, 'gaps': {'total_ps': 6, 'by_cause': {'host': {'total_ps': 2}, "
             "'sync': {'total_ps': 3}}}"),
      "idle_by_cause", "vm/gpu:1", 6, 5 },
    { DEVICE(
          "'span_ps': 10, 'busy_ps': 4, 'idle_ps': 6, 'gaps': {'total_ps': 7, 'by_cause': {'host': {'total_ps': 6}}}"),
      "gaps_are_idle", "vm/gpu:1", 6, 7 },
    { "{'transfers': {'by_direction': [{'direction': 'h2d', 'total_ps': 5, 'exposed_ps': 6}]}}", "exposed_within_total",
      "h2d", 5, 6 },
    { "{'steps': {'samples': 3, 'mean_ps': 100, 'samples_ps': [100, 100, 104]}}", "mean_of_samples", "steps", 304,
      300 },
    { "{'kernels': {'total_ps': 100, 'rows': [{'total_ps': 60}], 'rest': {'total_ps': 39}}}", "rows_and_rest",
      "kernels.rows", 100, 99 },
    { "{'steps': {'list': [{'number': 7, 'device': 'vm/gpu:0', 'begin_ps': 100, 'host_span_ps': 50, 'end_ps': 99}]}}",
      "one_clock", "step 7 on vm/gpu:0", 0, 1 },
};

static const struct tm_value *check_of(const struct judged *j, const char *id)
{
    const struct tm_value *list = tm_get(j->summary, "checks");

    for (size_t i = 0; i < tm_length(list); i++)
        if (strcmp(tm_text(tm_get(tm_at(list, i), "id")), id) == 0)
            return tm_at(list, i);
    fail_msg("no check '%s'", id);
    return NULL;
}

static void each_contradiction_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        const struct tm_value *check;
        struct judged j;

        test_judge(&j, broken[i].patch, NULL);
        check = check_of(&j, broken[i].id);
        if (!tm_has(tm_get(check, "holds")) || tm_is(tm_get(check, "holds")))
            fail_msg("%s: %s is not broken", broken[i].patch, broken[i].id);
        assert_int_equal(tm_int(tm_get(check, "expected")), broken[i].expected);
        assert_int_equal(tm_int(tm_get(check, "found")), broken[i].found);
        assert_string_equal(tm_text(tm_get(check, "where")), broken[i].where);
        assert_string_equal(tm_text(tm_get(test_finding(&j, "check_failed"), "level")), "defect");
        assert_false(tm_query_checks_hold(j.summary));
        test_judged_free(&j);
    }
}

static void a_healthy_run_keeps_all_of_them(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, STEP("60", "23"), NULL);
    for (size_t i = 0; i < tm_length(tm_get(j.summary, "checks")); i++) {
        const struct tm_value *check = tm_at(tm_get(j.summary, "checks"), i), *holds = tm_get(check, "holds");

        if (tm_has(holds) ? !tm_is(holds) : !*tm_why(holds))
            fail_msg("%s", tm_text(tm_get(check, "id")));
    }
    assert_null(test_finding(&j, "check_failed"));
    assert_true(tm_query_checks_hold(j.summary));
    assert_int_equal(tm_int(tm_get(check_of(&j, "step_parts"), "found")), 60);
    test_judged_free(&j);
}

/* Sums past 64 bits stay at the largest number: they contradict nothing. */
static void what_does_not_fit_contradicts_nothing(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, "{'window': {'hosts': [{'host': 'vm', 'span_ps': 9.3e18, 'steps_ps': 1}]}}", NULL);
    assert_false(tm_has(tm_get(check_of(&j, "steps_fill_window"), "holds")));
    test_judged_free(&j);
}

#define INSPECTION(events, lines, classes)                                                                             \
    "{'file_count': 1, 'files': [{'events': 10}], 'contents': [{'lines': [{'events': " lines "}], 'more_lines': "      \
    "{'events': 2}}], 'coverage': {'events_read': " events ", 'classes': {'kernel': " classes ", 'copy': 1}}}"

static void an_inspection_is_checked_too(void **state)
{
    static const struct {
        const char *found, *failed; /* failed: NULL = none */
    } cases[] = {
        { INSPECTION("10", "8", "9"), NULL },
        { INSPECTION("12", "8", "9"), "files_and_events" },
        { INSPECTION("10", "7", "9"), "lines_and_classes" },
        { INSPECTION("10", "9", "10"), "events_in_classes" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct judged j = { .run = { .strict = false } };
        size_t failed = 0;

        tm_budget_init(&j.run.budget, (size_t)TM_MEMORY_LEAST_MIB * TM_MIB);
        j.doc = tm_doc_new(&j.run);
        test_summary_load(tm_doc_root(j.doc), cases[i].found);
        tm_check_inspection(tm_doc_root(j.doc));
        j.summary = tm_doc_root(j.doc);
        assert_int_equal(tm_query_checks_hold(j.summary), !cases[i].failed);
        for (size_t k = 0; k < tm_length(tm_get(j.summary, "checks")); k++)
            failed += !tm_is(tm_get(tm_at(tm_get(j.summary, "checks"), k), "holds"));
        assert_int_equal(failed, cases[i].failed ? 1 : 0);
        if (cases[i].failed)
            assert_false(tm_is(tm_get(check_of(&j, cases[i].failed), "holds")));
        test_judged_free(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_contradiction_is_found),
        cmocka_unit_test(a_healthy_run_keeps_all_of_them),
        cmocka_unit_test(what_does_not_fit_contradicts_nothing),
        cmocka_unit_test(an_inspection_is_checked_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
