/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/findings/findings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/judged.h"

#define IDLE(cause, ps) "'gaps': {'by_cause': {'" cause "': {'count': 40, 'total_ps': " ps "}}, 'longest': []}"
/* 30 ms, of which no cause is worth a finding */
#define IDLE_30                                                                                                        \
    "'total': {'idle_ps': 30000000000}, 'gaps': {'by_cause': {'device_wait': {'total_ps': 19000000000}, 'host': "      \
    "{'total_ps': 5500000000}, 'sync': {'total_ps': 5500000000}, 'launch': null, 'unrecorded': null}}"
#define CALLS(sort, ps)                                                                                                \
    "{" IDLE_30 ", 'fallback': {'" sort "': {'count': 20, 'total_ps': " ps                                             \
    ", 'rows': [{'name': '$train.py:40 host_fn', 'kind': 'pure_callback', 'count': 20, 'total_ps': " ps                \
    ", 'host': 'vm', 'begin_ps': 70000000000, 'longest_ps': 2000000}]}}}"
#define TRIPS(ps, more)                                                                                                \
    "{" IDLE_30 ", 'fallback': {'round_trips': {'count': 20, 'host_ps': " ps                                           \
    ", 'longest': [{'device': 'vm/gpu:1', 'begin_ps': 30000000000, 'dur_ps': 2000000000, 'host_event': "               \
    "'numpy'}]}}" more "}"
#define THREAD(ps) "{'name': 'worker', 'ops': 9, 'op_ps': " ps "}"
#define THREADS(first, busy)                                                                                           \
    "{'environment': {'platform': 'cpu'}, 'total': {'utilization_pct': " busy "}, 'host': {'threads': ["               \
    "{'name': 'python', 'ops': 0, 'op_ps': 0}, " THREAD(first) ", " THREAD("10") ", " THREAD("10") ", " THREAD(        \
        "5") "]}}"

/* A change of the healthy run, and what it must give; the window is 200 ms. */
struct rule {
    const char *patch, *id; /* id NULL: no finding at all */
    const char *severity;
    int64_t at_stake_ps;
    const char *evidence; /* part of one of the texts */
};

static const struct rule rules[] = {
    /* nothing launched: a fact from a tenth of the window on */
    { "{'host': {'queue_empty': {'count': 9, 'total_ps': 19900000000}}}", NULL, NULL, 0, NULL },
    { "{'total': {'idle_ps': 40000000000}, 'host': {'queue_empty': {'count': 9, 'total_ps': 20000000000, 'longest': "
      "[{'device': 'vm/gpu:0', 'begin_ps': 50000000000, 'dur_ps': 4000000000}]}}}",
      "queue_empty", "info", 0, "20.0 ms (10.0% of device time)" },
    { "{'total': {'idle_ps': 40000000000}, 'host': {'queue_empty': {'count': 9, 'total_ps': 20000000000, 'longest': "
      "[{'device': 'vm/gpu:0', 'begin_ps': 50000000000, 'dur_ps': 4000000000}]}}}",
      "queue_empty", "info", 0, "4.00 ms at 0.050000000 s on gpu:0" },

    /* evidence of the findings on idle time */
    { "{" IDLE("sync", "30000000000") ", 'host': {'sync': {'rows': [{'name': 'Buffer::Await', 'caller': "
                                      "'$train.py:7 log', 'annotation': 'logging', 'count': 3, 'total_ps': 5000000000, "
                                      "'longest_ps': 2000000000, "
                                      "'longest_begin_ps': 1000000000}]}}}",
      "idle_sync", "critical", 30000000000,
      "Blocking calls to 'Buffer::Await' from '$train.py:7 log', inside 'logging': 5.00 ms in 3 calls, the longest "
      "2.00 "
      "ms at 0.001000000 s" },
    { "{" IDLE("launch", "30000000000") "}", "idle_launch", "critical", 30000000000,
      "20,000 launches, 1,000 per step" },
    { "{" IDLE("launch", "30000000000") "}", "idle_launch", "critical", 30000000000, "100 \xc2\xb5s (median)" },
    { "{" IDLE("host", "30000000000") ", 'host': {'python': [{'name': '$a.py:1 f', 'self_ps': 2000000000}, {'name': "
                                      "'$a.py:2 g', 'self_ps': 1000000000}]}}",
      "idle_host", "critical", 30000000000, "'$a.py:1 f' 2.00 ms, '$a.py:2 g' 1.00 ms." },

    { "{" IDLE("host", "30000000000") ", 'host': {'python': [{'name': 'threading.py(359): wait', 'self_ps': 9000000000}"
                                      ", {'name': '$time sleep', 'self_ps': 8000000000}, {'name': '$queue.py:154 get', "
                                      "'self_ps': 7000000000}"
                                      ", {'name': '$api.py:3165 try_to_block', 'self_ps': 6500000000}"
                                      ", {'name': '<built-in method poll of select.epoll object at 0x7f>', 'self_ps': "
                                      "6000000000}, {'name': '<built-in "
                                      "function sleep>', 'self_ps': 5000000000}, {'name': '$request_queue.py:9 get', "
                                      "'self_ps': 2000000000}]}}",
      "idle_host", "critical", 30000000000, "self time: '$request_queue.py:9 get' 2.00 ms." },
    { "{" IDLE("input", "30000000000") ", 'host': {'python': [{'name': '$<unknown> acquire', 'self_ps': 9000000000}, "
                                       "{'name': '$time sleep', 'self_ps': 8000000000}, {'name': '$selectors.py:451 "
                                       "select', 'self_ps': 7000000000}]}}",
      "idle_input", "critical", 30000000000, "self time: '$time sleep' 8.00 ms." },

    /* work on the host: no more than the devices were idle */
    { CALLS("callbacks", "5900000000"), NULL, NULL, 0, NULL },
    { CALLS("callbacks", "6000000000"), "fallback_callbacks", "warning", 6000000000,
      "'$train.py:40 host_fn', by pure_callback: 6.00 ms in 20 calls" },
    { CALLS("callbacks", "90000000000"), "fallback_callbacks", "critical", 30000000000, "20 host callbacks take 90.0" },
    { CALLS("cpu_ops", "5900000000"), NULL, NULL, 0, NULL },
    { CALLS("cpu_ops", "6000000000"), "fallback_cpu_ops", "warning", 6000000000, "ran on the host for 6.00 ms" },
    { TRIPS("5900000000", ""), NULL, NULL, 0, NULL },
    { TRIPS("6000000000", ""), "round_trips", "warning", 6000000000,
      "2.00 ms at 0.030000000 s on gpu:1, host in 'numpy'" },

    /* the CPU as the device */
    { THREADS("74", "60"), NULL, NULL, 0, NULL },
    { THREADS("80", "49"), NULL, NULL, 0, NULL },
    { THREADS("80", "60"), "cpu_one_thread", "info", 0, "Of 4 threads that run operations, 'worker' accounts for" },
};

static bool has_text(const struct tm_value *list, const char *part)
{
    for (size_t i = 0; i < tm_length(list); i++)
        if (strstr(tm_text(tm_at(list, i)), part))
            return true;
    return false;
}

static void check_rule(const struct rule *rule)
{
    const struct tm_value *findings, *f;
    struct judged j;

    test_judge(&j, rule->patch, NULL);
    findings = tm_get(j.summary, "findings");
    if (tm_length(findings) != (rule->id ? 1 : 0))
        fail_msg("%s gives %zu findings, '%s' first", rule->patch, tm_length(findings),
                 tm_text(tm_path(findings, "[0].id")));
    if (rule->id) {
        f = test_finding(&j, rule->id);
        if (!f)
            fail_msg("%s gives no '%s'", rule->patch, rule->id);
        if (strcmp(tm_text(tm_get(f, "severity")), rule->severity) != 0 ||
            tm_int(tm_get(f, "at_stake_ps")) != rule->at_stake_ps)
            fail_msg("%s is %s with %lld ps at stake", rule->id, tm_text(tm_get(f, "severity")),
                     (long long)tm_int(tm_get(f, "at_stake_ps")));
        if (!has_text(tm_get(f, "evidence"), rule->evidence))
            fail_msg("%s does not say '%s'", rule->id, rule->evidence);
        assert_true(tm_length(tm_get(f, "fix")) > 0);
        assert_true(*tm_text(tm_get(f, "cause")));
    }
    test_judged_free(&j);
}

static void each_rule_has_its_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        check_rule(&rules[i]);
}

static void a_call_back_tells_its_host(void **state)
{
    const struct tm_value *where;
    struct judged j;

    (void)state;
    test_judge(&j, CALLS("callbacks", "6000000000"), NULL);
    where = tm_at(tm_get(test_finding(&j, "fallback_callbacks"), "where"), 0);
    assert_int_equal(tm_int(tm_get(where, "begin_ps")), 70000000000);
    assert_string_equal(tm_text(tm_get(where, "device")), "vm");
    test_judged_free(&j);
}

/* What the transfers tell of is not told again. */
static void a_round_trip_of_known_sizes_is_told_once(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j,
               TRIPS("6000000000", ", 'total': {'idle_ps': 30000000000, 'exposed_by_direction_ps': {'h2d': 3000000000, "
                                   "'d2h': 3000000000}}, 'transfers': {'ping_pong': {'count': 100}}"),
               NULL);
    assert_non_null(test_finding(&j, "transfer_ping_pong"));
    assert_null(test_finding(&j, "round_trips"));
    test_judged_free(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_has_its_limit),
        cmocka_unit_test(a_call_back_tells_its_host),
        cmocka_unit_test(a_round_trip_of_known_sizes_is_told_once),
    };

    return cmocka_run_group_tests_name("host findings", tests, NULL, NULL);
}
