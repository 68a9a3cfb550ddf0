/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/made_nights.h"
#include "tests/support/test_run.h"

static void add(struct made_nights *m, struct made_night_run of)
{
    made_nights_add(m, &of, NULL);
}

static const char *written(struct made_nights *m)
{
    static char text[1 << 16];
    const int fd = memfd_create("out", 0);
    FILE *const file = fdopen(fd, "w+");

    assert_non_null(file);
    assert_int_equal(made_nights_last(m), TM_OK);
    assert_int_equal(tm_openmetrics_write(&m->run, m->history, &m->judged, NULL, file), TM_OK);
    const ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

    assert_true(n > 0);
    text[n] = '\0';
    (void)fclose(file);
    return text;
}

static void assert_has(const char *whole, const char *part)
{
    if (!strstr(whole, part))
        fail_msg("'%s' does not have '%s'", whole, part);
}

static void assert_lacks(const char *whole, const char *part)
{
    if (strstr(whole, part))
        fail_msg("'%s' has '%s'", whole, part);
}

static void the_newest_run_of_each_job_is_told(void **state)
{
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    add(&m, (struct made_night_run){ .night = 1, .job = "a", .step_ms = 90, .gates = "passed" });
    add(&m, (struct made_night_run){ .night = 2, .job = "a", .step_ms = 100.5, .gates = "failed" });
    add(&m, (struct made_night_run){ .night = 1, .job = "b", .step_ms = 250 });
    add(&m, (struct made_night_run){ .night = 2, .job = "b", .status = "failed", .message = "killed" });
    add(&m, (struct made_night_run){ .night = 2, .job = "c", .status = "refused" });
    const char *const text = written(&m);

    assert_has(text,
               "# TYPE tracemill_step_time_seconds gauge\n# UNIT tracemill_step_time_seconds seconds\n"
               "# HELP tracemill_step_time_seconds median step time of the newest run of the job; lower is better\n"
               "tracemill_step_time_seconds{job=\"a\",platform=\"gpu\",model=\"H100\"} 0.1005\n"
               "tracemill_step_time_seconds{job=\"b\",platform=\"gpu\",model=\"H100\"} 0.25\n#");
    assert_has(text, "tracemill_run_success{job=\"a\"} 1\ntracemill_run_success{job=\"b\"} 0\n"
                     "tracemill_run_success{job=\"c\"} 0\n");
    assert_has(text, "tracemill_run_gates_failed{job=\"a\"} 1\n#");
    assert_has(text, "tracemill_run_when_seconds{job=\"a\"} 1793577600\n");
    assert_has(text, "tracemill_run_when_seconds{job=\"b\"} 1793491200\n");
    assert_has(text, "night=\"2026-11-02\",revision=\"abcdef02\"");
    assert_has(text, "tracemill_night_start_seconds 1793577600\n");
    assert_has(text, "tracemill_night_runs{status=\"done\"} 1\ntracemill_night_runs{status=\"partial\"} 0\n"
                     "tracemill_night_runs{status=\"refused\"} 1\ntracemill_night_runs{status=\"failed\"} 1\n"
                     "tracemill_night_runs{status=\"missing\"} 0\n");
    assert_has(text, "tracemill_night_judged_runs{gates=\"failed\"} 1\n");
    assert_string_equal(text + strlen(text) - 6, "# EOF\n");
    assert_lacks(text, "_pct");
    assert_lacks(text, "_ps");
    assert_lacks(text, "nan");
    made_nights_end(&m);
}

static void texts_stay_in_their_quotes(void **state)
{
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    add(&m, (struct made_night_run){
                .night = 1, .job = "a\"} 1\\", .model = "x\n# EOF\n\"\x01\xe2\x80\xae", .label = "}" });
    const char *const text = written(&m);

    assert_has(text, "tracemill_run_success{job=\"a\\\"} 1\\\\\"} 1\n");
    assert_has(text, "model=\"x\\\\n# EOF\\\\n\\\"\\\\u0001\\\\u202e\"");
    made_nights_end(&m);
}

static void nothing_is_a_whole_file_too(void **state)
{
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    const char *const text = written(&m);

    assert_has(text, "tracemill_night_runs{status=\"done\"} 0\n");
    assert_lacks(text, "tracemill_night_start_seconds 0");
    assert_string_equal(text + strlen(text) - 6, "# EOF\n");
    made_nights_end(&m);
}

static void what_cannot_be_written_or_held_is_told(void **state)
{
    FILE *const full = fopen("/dev/full", "w"), *const nowhere = fopen("/dev/null", "w");
    struct made_nights m;
    tm_status st = TM_ERR_LIMIT;

    (void)state;
    assert_true(full && nowhere);
    made_nights_begin(&m);
    add(&m, (struct made_night_run){ .night = 1 });
    add(&m, (struct made_night_run){ .night = 1, .job = "b" });
    assert_int_equal(made_nights_last(&m), TM_OK);
    assert_int_equal(tm_openmetrics_write(&m.run, m.history, &m.judged, NULL, full), TM_ERR_OUTPUT);
    for (uint64_t turn = 1; st != TM_OK && turn < 100; turn++) {
        m.run.error = (struct tm_error){ .status = TM_OK };
        m.run.budget.refuse_in = turn;
        st = tm_openmetrics_write(&m.run, m.history, &m.judged, NULL, nowhere);
        assert_true(st == TM_OK || st == TM_ERR_LIMIT);
    }
    assert_int_equal(st, TM_OK);
    (void)fclose(full);
    (void)fclose(nowhere);
    made_nights_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_run_of_each_job_is_told),
        cmocka_unit_test(texts_stay_in_their_quotes),
        cmocka_unit_test(nothing_is_a_whole_file_too),
        cmocka_unit_test(what_cannot_be_written_or_held_is_told),
    };

    return cmocka_run_group_tests_name("openmetrics", tests, NULL, NULL);
}
