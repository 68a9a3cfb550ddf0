/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pipeline/nightly/batch.h"
#include "reports/gates/gates.h"
#include "reports/media.h"
#include "tests/support/made_nights.h"
#include "tests/support/test_run.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char five_pct[] = "{'gates': [{'figure': 'step_time', 'max_increase_pct': 5}]}";
static const char five_pct_partial[] =
    "{'gates': [{'figure': 'step_time', 'max_increase_pct': 5, 'allow_partial': true}]}";

static void add(struct made_nights *m, struct made_night_run of)
{
    made_nights_add(m, &of, NULL);
}

static const char *text_at(const struct made_nights *m, const char *path)
{
    return tm_text(made_nights_at(m, path));
}

static void assert_has(const char *whole, const char *part)
{
    if (!strstr(whole, part))
        fail_msg("'%s' does not have '%s'", whole, part);
}

static void judge(struct made_nights *m, const char *gates, const char *baseline, const char *verdict)
{
    if (made_nights_judge(m, gates, baseline) != TM_OK)
        fail_msg("%s", m->run.error.what);
    if (strcmp(text_at(m, "runs[0].verdict"), verdict) != 0)
        fail_msg("%s: %s (%s)", baseline ? baseline : "", text_at(m, "runs[0].verdict"), text_at(m, "runs[0].text"));
    assert_int_equal(m->verdict, strcmp(verdict, "failed") == 0    ? TM_GATE
                                 : strcmp(verdict, "unknown") == 0 ? TM_PARTIAL
                                                                   : TM_OK);
}

static size_t baselines(const struct made_nights *m)
{
    return tm_length(made_nights_at(m, "runs[0].baseline"));
}

/* --- what --baseline says --- */

static void baselines_are_words_or_paths(void **state)
{
    static const struct {
        const char *text;
        enum tm_baseline_kind kind;
        size_t most;
    } good[] = {
        { NULL, TM_BASELINE_LAST, 7 },
        { "last-good", TM_BASELINE_LAST, 1 },
        { "median:1", TM_BASELINE_LAST, 1 },
        { "median:64", TM_BASELINE_LAST, 64 },
        { "night:2026-11-01", TM_BASELINE_NIGHT, 64 },
        { "label:v1.2=x", TM_BASELINE_LABEL, 64 },
        { "./last-good", TM_BASELINE_PATHS, 7 },
        { "main=a/summary.json", TM_BASELINE_PATHS, 7 },
    };
    /* clang-format off */
    static const char *const bad[] = { "median:",    "median:0",    "median:65", "median:7x", "median:-1", "median: 7",
                                       "night:",     "night:today", "label:",    "night:2026-11-011",
                                       "median:99999999999999999999" };
    /* clang-format on */
    struct tm_baseline_choice choice;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (size_t i = 0; i < COUNT(good); i++) {
        const struct tm_texts texts = { .text = { good[i].text }, .count = good[i].text != NULL };

        assert_int_equal(tm_baseline_choice_read(&run, &texts, &choice), TM_OK);
        assert_int_equal(choice.kind, good[i].kind);
        if (choice.kind != TM_BASELINE_PATHS)
            assert_int_equal(choice.most, good[i].most);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        const struct tm_texts texts = { .text = { bad[i] }, .count = 1 };

        run.error = (struct tm_error){ .status = TM_OK };
        if (tm_baseline_choice_read(&run, &texts, &choice) != TM_ERR_USAGE)
            fail_msg("'%s' is read", bad[i]);
        assert_has(run.error.hint, "last-good, median:N");
    }
    const struct tm_texts both = { .text = { "a.json", "last-good" }, .count = 2 };

    run.error = (struct tm_error){ .status = TM_OK };
    assert_int_equal(tm_baseline_choice_read(&run, &both, &choice), TM_ERR_USAGE);
}

/* --- which run is the baseline --- */

static void the_newest_good_run_before_it_is_the_baseline(void **state)
{
    char second[TM_KEY_BYTES];
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    add(&m, (struct made_night_run){ .night = 1, .gates = "passed", .step_ms = 80 });
    made_nights_add(&m, &(struct made_night_run){ .night = 2, .gates = "passed" }, second);
    add(&m, (struct made_night_run){ .night = 3, .gates = "failed", .step_ms = 112 });
    add(&m, (struct made_night_run){ .night = 4, .step_ms = 112 }); /* never judged */
    add(&m, (struct made_night_run){ .night = 5, .gates = "unknown", .step_ms = 112 });
    add(&m, (struct made_night_run){ .night = 6, .gates = "passed", .step_ms = 112, .is_pruned = true });
    add(&m, (struct made_night_run){ .night = 7, .gates = "passed", .step_ms = 112, .devices = 16 });
    add(&m, (struct made_night_run){ .night = 7, .gates = "passed", .step_ms = 112, .model = "A100" });
    add(&m, (struct made_night_run){ .night = 7, .gates = "passed", .step_ms = 112, .job = "other" });
    add(&m, (struct made_night_run){ .night = 8, .status = "refused", .message = "no trace" });
    add(&m, (struct made_night_run){ .night = 9, .is_partial = true, .step_ms = 112 });
    add(&m, (struct made_night_run){ .night = 10, .step_ms = 110 });
    judge(&m, five_pct, "last-good", "failed");
    assert_int_equal(baselines(&m), 1);
    assert_string_equal(text_at(&m, "runs[0].baseline[0]"), second);
    assert_string_equal(text_at(&m, "runs[0].text"),
                        "Median step time: 110 ms, in the baseline 100 ms (+10%); max_increase_pct 5");
    assert_string_equal(text_at(&m, "baseline"), "last-good");
    /* two passed, then the two that were not judged */
    judge(&m, five_pct, "median:3", "passed"); /* 80, 100, 112: one more may be anywhere */
    assert_int_equal(baselines(&m), 3);
    judge(&m, five_pct, "median:7", "passed");
    assert_int_equal(baselines(&m), 4);
    judge(&m, five_pct, "night:2026-11-01", "failed");
    assert_int_equal(tm_int(made_nights_at(&m, "counts.failed")), 1);
    made_nights_end(&m);
}

static void runs_that_were_never_judged_will_do(void **state)
{
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    for (int night = 1; night <= 9; night++)
        add(&m, (struct made_night_run){ .night = night, .label = night == 3 ? "v1" : "" });
    add(&m, (struct made_night_run){ .night = 10, .step_ms = 110 });
    judge(&m, five_pct, NULL, "failed");
    assert_int_equal(baselines(&m), 7);
    assert_string_equal(text_at(&m, "baseline"), "median:7");
    judge(&m, five_pct, "label:v1", "failed");
    assert_int_equal(baselines(&m), 1);
    judge(&m, five_pct, "label:v2", "passed"); /* skipped: there is none with it */
    assert_string_equal(text_at(&m, "runs[0].gates[0].status"), "skipped");
    assert_string_equal(text_at(&m, "runs[0].gates[0].why"), "no previous run of the job has that label");
    assert_string_equal(text_at(&m, "notes[0]"), "1 run has no previous run to compare with.");
    made_nights_end(&m);
}

static void a_partial_run_is_a_baseline_where_there_is_no_other(void **state)
{
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    add(&m, (struct made_night_run){ .night = 1, .is_partial = true });
    add(&m, (struct made_night_run){ .night = 2, .is_partial = true, .step_ms = 110 });
    judge(&m, five_pct_partial, "last-good", "failed");
    judge(&m, five_pct, "last-good", "unknown");
    assert_has(text_at(&m, "runs[0].text"), "the input is partial");
    made_nights_end(&m);
}

static void the_first_night_passes_and_a_lost_baseline_does_not(void **state)
{
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    assert_int_equal(made_nights_judge(&m, five_pct, NULL), TM_OK); /* nothing at all */
    assert_int_equal(m.verdict, TM_OK);
    add(&m, (struct made_night_run){ .night = 1, .status = "failed", .message = "killed" });
    add(&m, (struct made_night_run){ .night = 2 });
    judge(&m, five_pct, NULL, "passed");
    assert_string_equal(text_at(&m, "runs[0].gates[0].status"), "skipped");
    assert_string_equal(text_at(&m, "runs[0].gates[0].why"), "this is the first run of the job");
    add(&m, (struct made_night_run){ .night = 3, .devices = 7 });
    judge(&m, five_pct, NULL, "unknown");
    assert_string_equal(text_at(&m, "runs[0].gates[0].why"),
                        "no previous good run of the job: 1 ran on other hosts or devices");
    add(&m, (struct made_night_run){ .night = 4, .gates = "failed" });
    add(&m, (struct made_night_run){ .night = 5, .has_no_file = true });
    judge(&m, five_pct, NULL, "unknown"); /* its own summary is gone */
    assert_has(text_at(&m, "runs[0].text"), "summary.json");
    add(&m, (struct made_night_run){ .night = 6 });
    judge(&m, five_pct, "last-good", "passed"); /* against night 2, the last one that is known to be good */
    made_nights_end(&m);
}

static void a_copy_of_a_run_is_no_baseline(void **state)
{
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    add(&m, (struct made_night_run){ .night = 1, .is_copy = true });
    add(&m, (struct made_night_run){ .night = 2, .is_copy = true });
    judge(&m, five_pct, NULL, "unknown");
    assert_has(text_at(&m, "runs[0].notes[0]"), "has the same files as another baseline");
    made_nights_end(&m);
}

/* --- judging --- */

static void a_planted_change_is_found_and_quiet_nights_are_quiet(void **state)
{
    char job[16];
    struct made_nights m;
    int failed = 0;

    (void)state;
    made_nights_begin(&m);
    m.random = 5;
    for (int night = 1; night <= 27; night++) {
        for (int i = 0; i < 10; i++) { /* nights differ by 1 %, the steps of one by 3 */
            const double effect = 1 + 0.01 * made_nights_normal(&m);

            (void)snprintf(job, sizeof(job), "job %d", i);
            add(&m, (struct made_night_run){ .job = job,
                                             .night = night,
                                             .step_noise = 0.03,
                                             .step_ms = 100 * effect * (night == 27 && i == 4 ? 1.1 : 1) });
        }
        assert_int_equal(made_nights_judge(&m, five_pct, "median:7"), TM_OK);
        if (night < 27)
            failed += tm_int(made_nights_at(&m, "counts.failed")) > 0;
    }
    assert_int_equal(failed, 0);
    assert_int_equal(m.verdict, TM_GATE);
    assert_int_equal(tm_int(made_nights_at(&m, "counts.failed")), 1);
    assert_string_equal(text_at(&m, "runs[4].verdict"), "failed");
    assert_string_equal(text_at(&m, "verdict.text"), "1 run failed its gates, 9 passed.");
    made_nights_end(&m);
}

static void gates_may_be_of_some_jobs(void **state)
{
    static const char gates[] = "{'gates': [{'figure': 'step_time', 'max': '150ms'},"
                                " {'figure': 'step_time', 'max': '90ms', 'job': 'b*'},"
                                " {'figure': 'step_time', 'max': '200ms', 'job': 'bert-large'},"
                                " {'figure': 'step_time', 'min': '1ms', 'job': 'nobody*'}]}";
    static const char *const wrong[] = {
        "{'gates': [{'figure': 'step_time', 'max': '90ms', 'job': 'b*'}, {'figure': 'step_time', 'max': '1ms'}]}",
        "{'gates': [{'figure': 'step_time', 'max': '9ms', 'job': 'b*'}, {'figure': 'step_time', 'max': '1ms', 'job': "
        "'b*'}]}",
        "{'gates': [{'figure': 'step_time', 'max': '90ms', 'job': 'b['}]}",
        "{'gates': [{'figure': 'step_time', 'max': '90ms', 'job': 5}]}",
        "{'gates': [{'figure': 'step_tme', 'max': '90ms'}]}",
    };
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    add(&m, (struct made_night_run){ .night = 1, .job = "bert" });
    add(&m, (struct made_night_run){ .night = 1, .job = "bert-large" });
    add(&m, (struct made_night_run){ .night = 1, .job = "gpt" });
    assert_int_equal(made_nights_judge(&m, gates, NULL), TM_OK);
    assert_string_equal(text_at(&m, "runs[0].verdict"), "failed");
    assert_string_equal(text_at(&m, "runs[0].gates[0].limit_text"), "90ms");
    assert_string_equal(text_at(&m, "runs[1].gates[0].limit_text"), "200ms");
    assert_string_equal(text_at(&m, "runs[2].gates[0].limit_text"), "150ms");
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(tm_length(tm_get(tm_at(made_nights_at(&m, "runs"), i), "gates")), 1);
    assert_string_equal(text_at(&m, "notes[0]"), "Gate 4 applies to no job of this night.");
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(made_nights_judge(&m, wrong[i], NULL), TM_ERR_USAGE);
    made_nights_end(&m);
}

static void a_row_that_one_job_does_not_have_stops_no_other(void **state)
{
    static const char gates[] = "{'gates': [{'figure': 'ops.rows[fusion.9].self_ps', 'max': '1ms'}]}";
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    add(&m, (struct made_night_run){ .night = 1, .job = "a" });
    add(&m, (struct made_night_run){
                .night = 1, .job = "b", .patch = "{'ops': {'rows': [{'name': 'fusion.9', 'self_ps': 3}]}}" });
    judge(&m, gates, NULL, "unknown");
    assert_string_equal(text_at(&m, "runs[0].gates[0].why"), "the run has no such row");
    assert_string_equal(text_at(&m, "runs[1].verdict"), "passed");
    made_nights_end(&m);
}

static tm_status find(void *to, const struct tm_history_run *row)
{
    (void)snprintf(to, 512, "%s: %s", row->gates, row->gates_text);
    return TM_OK;
}

static void the_history_keeps_what_gates_said(void **state)
{
    const struct tm_history_query query = {
        .order = TM_HISTORY_BY_JOB, .judged = &(struct tm_judged_night){ .last = "2026-11-02", .until = "9999-12-31" }
    };
    char said[512];
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    add(&m, (struct made_night_run){ .night = 1 });
    add(&m, (struct made_night_run){ .night = 2, .step_ms = 120 });
    judge(&m, five_pct, NULL, "failed");
    assert_int_equal(tm_history_visit(m.history, &query, find, said), TM_OK);
    assert_string_equal(said, "failed: Median step time: 120 ms, in the baseline 100 ms (+20%); max_increase_pct 5");
    judge(&m, five_pct, NULL, "failed"); /* again, the same */
    judge(&m, "{'gates': [{'figure': 'step_time', 'max': '1s'}]}", NULL, "passed");
    assert_int_equal(tm_history_visit(m.history, &query, find, said), TM_OK);
    assert_string_equal(said, "passed: ");
    made_nights_end(&m);
}

static void a_run_is_held_against_one_of_its_own_night(void **state)
{
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    add(&m, (struct made_night_run){ .night = 1 });
    add(&m, (struct made_night_run){ .night = 2, .hour = 1, .step_ms = 120 });
    add(&m, (struct made_night_run){ .night = 2, .hour = 2, .step_ms = 121 });
    assert_int_equal(made_nights_judge(&m, five_pct, "last-good"), TM_OK);
    assert_int_equal(tm_int(made_nights_at(&m, "counts.failed")), 2); /* the first one is no good baseline */
    made_nights_end(&m);
}

static void a_fixed_run_is_the_baseline_of_all_jobs(void **state)
{
    char id[TM_KEY_BYTES], path[MADE_NIGHT_PATH * 3];
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    made_nights_add(&m, &(struct made_night_run){ .night = 1, .job = "a" }, id);
    (void)snprintf(path, sizeof(path), "main=%s/runs/%s", m.out, id);
    add(&m, (struct made_night_run){ .night = 2, .job = "a" });
    add(&m, (struct made_night_run){ .night = 2, .job = "b", .step_ms = 130 });
    assert_int_equal(made_nights_judge(&m, five_pct, path), TM_OK);
    assert_string_equal(text_at(&m, "baseline"), "main");
    assert_string_equal(text_at(&m, "runs[0].verdict"), "passed");
    assert_string_equal(text_at(&m, "runs[1].verdict"), "failed");
    made_nights_end(&m);
}

/* --- files --- */

static const char *written(struct made_nights *m, bool is_junit)
{
    static char text[1 << 17];
    const int fd = memfd_create("out", 0);
    FILE *const file = fdopen(fd, "w+");
    const struct tm_value *const result = tm_doc_root(m->doc);

    assert_non_null(file);
    assert_int_equal(is_junit ? tm_nightly_junit_write(&m->run, result, NULL, file)
                              : tm_nightly_markdown_write(&m->run, result, NULL, NULL, file),
                     TM_OK);
    const ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

    assert_true(n > 0);
    text[n] = '\0';
    (void)fclose(file);
    return text;
}

static void files_tell_a_night(void **state)
{
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    add(&m, (struct made_night_run){ .night = 1, .job = "a<b>|`" });
    add(&m, (struct made_night_run){ .night = 2, .job = "a<b>|`", .step_ms = 120 });
    add(&m, (struct made_night_run){ .night = 2, .job = "a<b>|`", .hour = 3 });
    add(&m, (struct made_night_run){ .night = 2, .job = "b", .status = "refused", .message = "no <trace>" });
    assert_int_equal(made_nights_judge(&m, five_pct, "last-good"), TM_OK);
    const char *text = written(&m, true);

    assert_has(text, "<testsuites name=\"2026-11-02\" tests=\"5\" failures=\"1\" errors=\"1\" time=\"0\">");
    assert_has(text, "<testsuite name=\"a&lt;b&gt;|`\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\" "
                     "timestamp=\"2026-11-02T00:00:00\" time=\"0\">");
    assert_has(text, "<testsuite name=\"a&lt;b&gt;|` #2\"");
    assert_has(text, "<property name=\"revision\" value=\"abcdef02\"/>");
    assert_has(text, "<error message=\"no &lt;trace&gt;\" type=\"refused\"/>");
    assert_has(text,
               "<failure message=\"Median step time: it is 120 ms, in the baseline 100 ms (+20%); the limit is an "
               "increase in percent of "
               "at most 5\" type=\"gate\">");
    text = written(&m, false);
    assert_has(text, "### Night 2026-11-02\n\n**1 run failed its gates, 1 without a report, 1 passed.**");
    assert_has(text, "| **failed** | Median step time: increase of at most 5% | 120 ms | 100 ms | +20% |\n");
    assert_has(text, "| refused | no `<trace>` | | | |\n");
    assert_has(text, "<details><summary>");
    made_nights_end(&m);
}

static void without_gates_the_reports_alone_are_told(void **state)
{
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    add(&m, (struct made_night_run){ .night = 1 });
    add(&m, (struct made_night_run){ .night = 1, .job = "x", .status = "missing" });
    assert_int_equal(made_nights_judge(&m, NULL, NULL), TM_OK);
    assert_string_equal(text_at(&m, "verdict.text"), "1 without a report, 1 not assessed.");
    assert_has(written(&m, true), "tests=\"2\" failures=\"0\" errors=\"1\"");
    made_nights_end(&m);
}

static void markdown_of_a_large_night_has_a_bound(void **state)
{
    char job[128];
    struct made_nights m;

    (void)state;
    made_nights_begin(&m);
    for (int i = 0; i < 600; i++) {
        (void)snprintf(job, sizeof(job), "%d %0100d", i, 0);
        add(&m,
            (struct made_night_run){
                .night = 1, .job = job, .status = "failed", .has_no_file = true, .message = "it was killed: `|<b>" });
    }
    assert_int_equal(made_nights_judge(&m, NULL, NULL), TM_OK);
    const char *const text = written(&m, false);

    assert_true(strlen(text) < 60000);
    assert_has(text, "more rows: see");
    assert_int_equal(strstr(text, "<details>") != NULL, strstr(text, "</details>") != NULL);
    made_nights_end(&m);
}

static void files_that_cannot_be_written_are_told(void **state)
{
    FILE *const full = fopen("/dev/full", "w");
    struct made_nights m;

    (void)state;
    assert_non_null(full);
    made_nights_begin(&m);
    add(&m, (struct made_night_run){ .night = 1 });
    assert_int_equal(made_nights_judge(&m, NULL, NULL), TM_OK);
    assert_int_equal(tm_nightly_junit_write(&m.run, tm_doc_root(m.doc), NULL, full), TM_ERR_OUTPUT);
    m.run.error = (struct tm_error){ .status = TM_OK };
    assert_int_equal(tm_nightly_markdown_write(&m.run, tm_doc_root(m.doc), NULL, NULL, full), TM_ERR_OUTPUT);
    (void)fclose(full);
    made_nights_end(&m);
}

/* Every request of the judgement refused in turn: told, and everything given back. */
static void each_request_for_memory_may_be_refused(void **state)
{
    struct made_nights m;
    tm_status st = TM_ERR_LIMIT;

    (void)state;
    made_nights_begin(&m);
    for (int night = 1; night <= 4; night++)
        add(&m, (struct made_night_run){ .night = night });
    assert_int_equal(made_nights_judge(&m, five_pct, "median:3"), TM_OK);
    for (m.refuse_in = 1; st != TM_OK && m.refuse_in < 5000; m.refuse_in++) {
        st = made_nights_judge(&m, five_pct, "median:3");
        assert_true(st == TM_OK || st == TM_ERR_LIMIT);
        assert_int_equal(m.run.error.status, st);
    }
    assert_int_equal(st, TM_OK);
    assert_string_equal(text_at(&m, "runs[0].verdict"), "passed");
    made_nights_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baselines_are_words_or_paths),
        cmocka_unit_test(the_newest_good_run_before_it_is_the_baseline),
        cmocka_unit_test(runs_that_were_never_judged_will_do),
        cmocka_unit_test(a_partial_run_is_a_baseline_where_there_is_no_other),
        cmocka_unit_test(the_first_night_passes_and_a_lost_baseline_does_not),
        cmocka_unit_test(a_copy_of_a_run_is_no_baseline),
        cmocka_unit_test(a_planted_change_is_found_and_quiet_nights_are_quiet),
        cmocka_unit_test(gates_may_be_of_some_jobs),
        cmocka_unit_test(a_row_that_one_job_does_not_have_stops_no_other),
        cmocka_unit_test(the_history_keeps_what_gates_said),
        cmocka_unit_test(a_run_is_held_against_one_of_its_own_night),
        cmocka_unit_test(a_fixed_run_is_the_baseline_of_all_jobs),
        cmocka_unit_test(files_tell_a_night),
        cmocka_unit_test(without_gates_the_reports_alone_are_told),
        cmocka_unit_test(markdown_of_a_large_night_has_a_bound),
        cmocka_unit_test(files_that_cannot_be_written_are_told),
        cmocka_unit_test(each_request_for_memory_may_be_refused),
    };

    return cmocka_run_group_tests_name("night gates", tests, NULL, NULL);
}
