/* SPDX-License-Identifier: Apache-2.0 */
/* How a job stands, run by run; the whole document is checked by tests/property/test_night.py. */
#include <math.h>
#include <stdio.h>

#include "pipeline/run.h"
#include "reports/history/history.h"
#include "tests/support/test_folder.h"

enum { PATH_MOST = 128 };
static char path[PATH_MOST];
static struct night_history history;

static void init(struct tm_run *run)
{
    test_run_init(run);
    (void)snprintf(path, sizeof(path), "%s/history.db", folder);
}

/* A run of the night `number` days into November, with a step time in milliseconds. */
static struct tm_history_run row_of(char id[NIGHT_ID], int number, double step_ms, const char *status)
{
    /* clang-format off */
    struct tm_history_run row = { .id = id,         .name = "",     .path = "",        .status = status, .message = "why not",
                                  .report = "",     .platform = "", .model = "",       .hosts = 1,       .devices = 8,
                                  .verdict = "",    .severity = "", .finding = "",     .gates = "",      .gates_text = "",
                                  .fingerprint = "", .version = "", .options = "",     .summary = "",          .page = "",
                                  .definitions = TM_SUMMARY_VERSION };
    /* clang-format on */

    (void)snprintf(id, NIGHT_ID, "run-%02d", number);
    strcpy(row.keys.job, "job");
    (void)snprintf(row.keys.night, sizeof(row.keys.night), "2026-11-%02u", (unsigned)number % 32);
    row.keys.when_ns = number;
    row.keys.step = -1;
    for (size_t i = 0; i < TM_FIGURES_MOST; i++)
        row.figure[i] = i == 0 ? step_ms * 1e9 : NAN;
    return row;
}

static void add(int number, double step_ms, const char *status)
{
    char id[NIGHT_ID];
    const struct tm_history_run row = row_of(id, number, step_ms, status);

    tm_nightly_history_add(&history, &row);
}

static struct night_judgement judge(const double *step_ms, size_t count)
{
    struct night_judgement judged;
    struct tm_judged_night of = { .until = "9999-12-31" };

    (void)snprintf(of.last, sizeof(of.last), "2026-11-%02u", (unsigned)count % 32);
    tm_nightly_history_begin(&history, "job", &of);
    for (size_t i = 0; i < count; i++)
        add((int)i + 1, fabs(step_ms[i]), step_ms[i] < 0 ? "failed" : "done");
    tm_nightly_judge(&judged, &history);
    return judged;
}

/* A step time below 0 is a run that failed. */
static void a_job_stands_as_its_newest_run(void **state)
{
    static const struct {
        const char *what;
        double step_ms[12];
        size_t count;
        enum night_state state;
    } rows[] = {
        { "the first run", { 100 }, 1, NIGHT_NEW },
        { "two before", { 100, 100, 150 }, 3, NIGHT_YOUNG },
        { "three before", { 100, 100, 100, 150 }, 4, NIGHT_WORSE },
        { "shorter", { 100, 100, 100, 50 }, 4, NIGHT_BETTER },
        { "below what is told", { 100, 100, 100, 101.9 }, 4, NIGHT_SAME },
        { "above it", { 100, 100, 100, 102.1 }, 4, NIGHT_WORSE },
        { "failed", { 100, 100, 100, -150 }, 4, NIGHT_FAILED },
        { "those that failed do not count", { 100, -1, 100, -1, -1, 150 }, 6, NIGHT_YOUNG },
        { "nor does one that went wrong", { 100, 100, 900, 100, 100, 100, 100, 103 }, 8, NIGHT_WORSE },
        { "runs differ", { 90, 100, 110, 95, 105, 90, 110, 125 }, 8, NIGHT_SAME },
        { "by steps from one to the next",
          { 100, 110, 100, 110, 100, 110, 100, 100, 100, 100, 100, 112 },
          12,
          NIGHT_SAME },
        { "a level is new after four of seven", { 100, 100, 100, 120, 120, 120, 120, 120 }, 8, NIGHT_SAME },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct night_judgement judged = judge(rows[i].step_ms, rows[i].count);

        if (judged.state != rows[i].state)
            fail_msg("%s: %s", rows[i].what, tm_nightly_state_words[judged.state]);
    }
}

static void the_last_runs_are_kept(void **state)
{
    const struct tm_judged_night none = { .last = "2026-12-24", .until = "9999-12-31" };
    struct night_judgement judged;

    (void)state;
    tm_nightly_history_begin(&history, "job", &none);
    for (int i = 0; i < NIGHT_POINTS + 50; i++)
        add(i % 20 + 1, i, "done");
    assert_int_equal(history.count, NIGHT_POINTS);
    assert_int_equal(history.runs, NIGHT_POINTS + 50);
    assert_true(tm_nightly_point_at(&history, 0)->figure[0] == 50e9);
    assert_true(tm_nightly_point_at(&history, NIGHT_POINTS - 1)->figure[0] == (NIGHT_POINTS + 49) * 1e9);
    assert_string_equal(history.nights[0], "2026-11-20");
    assert_string_equal(history.nights[NIGHT_NIGHTS - 1], "2026-11-13");
    tm_nightly_judge(&judged, &history);
    assert_int_equal(judged.state, NIGHT_GONE);
    assert_non_null(judged.newest);
}

static tm_status tell(struct tm_run *run)
{
    struct tm_judged_night of = { .until = "9999-12-31" };
    const struct tm_nightly_options options = { .rows = 100, .judged = &of };
    struct tm_history *db = NULL;
    struct tm_doc *doc = tm_doc_new(run);
    tm_status st = doc ? tm_history_renew(&db, run, path) : run->error.status;
    char id[NIGHT_ID];

    for (int i = 1; i <= 28 && st == TM_OK; i++) {
        const struct tm_history_run row = row_of(id, i, i < 14 ? 100 : i < 28 ? 110 : 150, "done");

        st = tm_history_put(db, &row);
    }
    if (st == TM_OK)
        st = tm_history_last_night(db, &of);
    if (st == TM_OK)
        st = tm_nightly_fill(run, doc, db, &options);
    if (st == TM_OK) {
        assert_string_equal(tm_text(tm_path(tm_doc_root(doc), "jobs[0].state")), "worse");
        assert_int_equal(tm_length(tm_path(tm_doc_root(doc), "change_points")), 1);
        assert_true(tm_has(tm_path(tm_doc_root(doc), "findings[0].title")));
        assert_false(tm_has(tm_path(tm_doc_root(doc), "jobs[0].report")));
    }
    tm_history_close(db);
    tm_doc_free(doc);
    return st;
}

static void a_refused_request_is_an_error(void **state)
{
    struct tm_run run;

    (void)state;
    init(&run);
    assert_int_equal(tell(&run), TM_OK);
    assert_ledger_is_even(&run);
    refuse_each_request(tell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_stands_as_its_newest_run),
        cmocka_unit_test(the_last_runs_are_kept),
        cmocka_unit_test(a_refused_request_is_an_error),
    };

    return cmocka_run_group_tests_name("night", tests, make_folder, remove_folder);
}
