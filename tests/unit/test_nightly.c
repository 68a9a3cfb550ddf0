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

/* The document of runs with these step times, one a night. */
static tm_status fill(struct tm_run *run, struct tm_doc *doc, const double *step_ms, size_t count)
{
    struct tm_judged_night of = { .until = "9999-12-31" };
    const struct tm_nightly_options options = { .rows = 100, .judged = &of };
    struct tm_history *db = NULL;
    tm_status st = doc ? tm_history_renew(&db, run, path) : run->error.status;
    char id[NIGHT_ID];

    for (size_t i = 0; i < count && st == TM_OK; i++) {
        const struct tm_history_run row = row_of(id, (int)i + 1, fabs(step_ms[i]), step_ms[i] < 0 ? "failed" : "done");

        st = tm_history_put(db, &row);
    }
    if (st == TM_OK)
        st = tm_history_last_night(db, &of);
    if (st == TM_OK)
        st = tm_ledger_update(run, db, &of, NULL);
    if (st == TM_OK)
        st = tm_nightly_fill(run, doc, db, &options);
    tm_history_close(db);
    return st;
}

/* A step time below 0 is a run that failed. */
static void a_job_stands_as_its_newest_run(void **state)
{
    static const struct {
        const char *what;
        double step_ms[12];
        size_t count;
        const char *state;
    } rows[] = {
        { "the first run", { 100 }, 1, "new" },
        { "two before", { 100, 100, 150 }, 3, "not_judged" },
        { "three before", { 100, 100, 100, 150 }, 4, "worse" },
        { "shorter", { 100, 100, 100, 50 }, 4, "better" },
        { "below what is told", { 100, 100, 100, 101.9 }, 4, "same" },
        { "above it", { 100, 100, 100, 102.1 }, 4, "worse" },
        { "failed", { 100, 100, 100, -150 }, 4, "failed" },
        { "those that failed do not count", { 100, -1, 100, -1, -1, 150 }, 6, "not_judged" },
        { "one that went wrong is a regression that is over", { 100, 100, 100, 100, 900, 100, 100, 100 }, 8, "same" },
        { "runs differ", { 90, 100, 110, 95, 105, 90, 110, 125 }, 8, "same" },
        { "from one to the next", { 100, 110, 100, 110, 100, 110, 100, 100, 100, 100, 100, 112 }, 12, "same" },
        { "a level stays a regression", { 100, 100, 100, 120, 120, 120, 120, 120, 120, 120, 120, 120 }, 12, "worse" },
        { "until it is back", { 100, 100, 100, 120, 120, 120, 120, 120, 100, 100, 100, 100 }, 12, "same" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_run run;
        struct tm_doc *doc;

        init(&run);
        doc = tm_doc_new(&run);
        assert_int_equal(fill(&run, doc, rows[i].step_ms, rows[i].count), TM_OK);
        if (strcmp(tm_text(tm_path(tm_doc_root(doc), "jobs[0].state")), rows[i].state) != 0)
            fail_msg("%s: %s", rows[i].what, tm_text(tm_path(tm_doc_root(doc), "jobs[0].state")));
        tm_doc_free(doc);
        assert_ledger_is_even(&run);
    }
}

static void the_last_runs_are_kept(void **state)
{
    const struct tm_judged_night none = { .last = "2026-12-24", .until = "9999-12-31" };

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
}

/* --- the ledger --- */

enum { NIGHTS_MOST = 32 };

struct record {
    char id[TM_LEDGER_ID_BYTES], series[TM_FINGERPRINT_BYTES], state[16], since[11], closed[11], reason[128];
    int64_t runs;
    size_t count;
};

static tm_status take_record(void *to, const struct tm_history_regression *row)
{
    struct record *const record = to;

    record->count++;
    record->runs = row->runs;
    (void)snprintf(record->id, sizeof(record->id), "%s", row->id);
    (void)snprintf(record->series, sizeof(record->series), "%s", row->series);
    (void)snprintf(record->state, sizeof(record->state), "%s", row->state);
    (void)snprintf(record->since, sizeof(record->since), "%s", row->since);
    (void)snprintf(record->closed, sizeof(record->closed), "%s", row->closed);
    (void)snprintf(record->reason, sizeof(record->reason), "%s", row->reason);
    return TM_OK;
}

/* Put nights that are not 0 into the history at `path`, and bring the ledger up to date.  out: its last record */
static struct record merge(const double step_ms[NIGHTS_MOST], const struct tm_decision *decisions)
{
    struct tm_judged_night of = { .until = "9999-12-31" };
    struct tm_history *db = NULL;
    struct record record = { .count = 0 };
    struct tm_run run;
    char id[NIGHT_ID];

    init(&run);
    assert_int_equal(tm_history_renew(&db, &run, path), TM_OK);
    for (int i = 0; i < NIGHTS_MOST; i++) {
        if (step_ms[i] > 0) {
            const struct tm_history_run row = row_of(id, i + 1, step_ms[i], "done");

            assert_int_equal(tm_history_put(db, &row), TM_OK);
        }
    }
    assert_int_equal(tm_history_last_night(db, &of), TM_OK);
    assert_int_equal(tm_ledger_update(&run, db, &of, decisions), TM_OK);
    assert_int_equal(tm_history_commit(db), TM_OK);
    assert_int_equal(tm_history_visit_regressions(db, NULL, take_record, &record), TM_OK);
    tm_history_close(db);
    assert_ledger_is_even(&run);
    return record;
}

static void fill_nights(double step_ms[NIGHTS_MOST], size_t from, size_t to, double level)
{
    for (size_t i = from; i < to; i++)
        step_ms[i] = level + (double)(i * 7 % 5) / 10;
}

static void a_record_stays_until_the_figure_is_back(void **state)
{
    double step_ms[NIGHTS_MOST] = { 0 };
    struct record opened, late, back;

    (void)state;
    (void)remove(path);
    fill_nights(step_ms, 0, 10, 100);
    assert_int_equal(merge(step_ms, NULL).count, 0);
    fill_nights(step_ms, 10, 14, 110);
    step_ms[10] = 0; /* the night that will be late */
    opened = merge(step_ms, NULL);
    assert_int_equal(opened.count, 1);
    assert_string_equal(opened.state, "open");
    assert_string_equal(opened.since, "2026-11-12");
    fill_nights(step_ms, 10, 11, 110);
    late = merge(step_ms, NULL);
    assert_int_equal(late.count, 1);
    assert_string_equal(late.id, opened.id);
    assert_string_equal(late.since, "2026-11-11");
    assert_int_equal(late.runs, 4);
    fill_nights(step_ms, 14, 18, 100);
    back = merge(step_ms, NULL);
    assert_int_equal(back.count, 1);
    assert_string_equal(back.id, opened.id);
    assert_string_equal(back.state, "recovered");
    assert_string_equal(back.closed, "2026-11-17");
}

/* A decision finds its regression by id, or by job, series, figure and time in a history that was made anew. */
static void a_decision_stays_with_its_regression(void **state)
{
    double step_ms[NIGHTS_MOST] = { 0 };
    struct tm_decision decision = { .kind = TM_DECISION_ACKNOWLEDGED,
                                    .job = "job",
                                    .figure = "step_time_ps",
                                    .reason = "known",
                                    .decided = "2026-11-20",
                                    .before = 100e9,
                                    .after = 110e9 };
    struct record opened, record;

    (void)state;
    (void)remove(path);
    fill_nights(step_ms, 0, 10, 100);
    fill_nights(step_ms, 10, 14, 110);
    opened = merge(step_ms, NULL);
    decision.id = opened.id;
    decision.series = opened.series;
    decision.since_ns = 11;
    decision.last_ns = 14;
    record = merge(step_ms, &decision);
    assert_string_equal(record.state, "acknowledged");
    assert_string_equal(record.reason, "known");
    fill_nights(step_ms, 14, 18, 130); /* it grows */
    assert_string_equal(merge(step_ms, &decision).state, "open");
    fill_nights(step_ms, 14, 18, 110);
    assert_string_equal(merge(step_ms, &decision).state, "acknowledged");
    (void)remove(path);
    assert_string_equal(merge(step_ms, &decision).state, "acknowledged");
    assert_string_equal(merge(step_ms, NULL).state, "open");
}

/* Put row `number` of the history again with a change, and bring the ledger up to date.  out: its record */
static struct record put_again(int number, void (*change)(struct tm_history_run *row))
{
    struct tm_judged_night of = { .until = "9999-12-31" };
    struct tm_history *db = NULL;
    struct record record = { .count = 0 };
    struct tm_run run;
    char id[NIGHT_ID];
    struct tm_history_run row = row_of(id, number, 110, "done");

    change(&row);
    init(&run);
    assert_int_equal(tm_history_renew(&db, &run, path), TM_OK);
    assert_int_equal(tm_history_put(db, &row), TM_OK);
    assert_int_equal(tm_history_last_night(db, &of), TM_OK);
    assert_int_equal(tm_ledger_update(&run, db, &of, NULL), TM_OK);
    assert_int_equal(tm_history_commit(db), TM_OK);
    assert_int_equal(tm_history_visit_regressions(db, NULL, take_record, &record), TM_OK);
    tm_history_close(db);
    assert_ledger_is_even(&run);
    return record;
}

static void fails(struct tm_history_run *row)
{
    row->status = "failed";
}

static void gets_old(struct tm_history_run *row)
{
    row->definitions = TM_SUMMARY_VERSION - 1;
}

static void gets_label(struct tm_history_run *row)
{
    strcpy(row->keys.labels, "{\"pool\":\"b\"}");
}

static void gets_job(struct tm_history_run *row)
{
    strcpy(row->keys.job, "other");
}

static void loses_figure(struct tm_history_run *row)
{
    row->figure[0] = NAN;
}

/* What was open and is no longer shown by the rows stays, with the reason. */
static void a_regression_never_leaves_without_a_word(void **state)
{
    static const struct {
        void (*change)(struct tm_history_run *row);
        const char *reason;
    } rows[] = {
        { fails, "the run that showed it is failed now" },
        { gets_old, "the figures of the run that showed it are of older definitions" },
        { gets_label,
          "the run that showed it is in another series now: its hardware or labels, or --series-by, changed" },
        { gets_job, "the run that showed it is no longer among the runs of this job" },
        { loses_figure, "the run that showed it does not have this figure now" },
    };
    double step_ms[NIGHTS_MOST] = { 0 };

    (void)state;
    fill_nights(step_ms, 0, 10, 100);
    fill_nights(step_ms, 10, 11, 110);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct record opened, record;

        (void)remove(path);
        opened = merge(step_ms, NULL);
        assert_string_equal(opened.state, "open");
        record = put_again(11, rows[i].change);
        assert_int_equal(record.count, 1);
        assert_string_equal(record.id, opened.id);
        assert_string_equal(record.state, "withdrawn");
        assert_string_equal(record.reason, rows[i].reason);
        assert_string_equal(record.closed, "2026-11-11");
        record = merge(step_ms, NULL);
        assert_int_equal(record.count, 1);
        assert_string_equal(record.id, opened.id);
        assert_string_equal(record.state, "open");
    }
}

static tm_status tell(struct tm_run *run)
{
    double step_ms[28];
    struct tm_doc *doc = tm_doc_new(run);
    tm_status st;

    for (int i = 0; i < 28; i++)
        step_ms[i] = i < 13 ? 100 : i < 27 ? 110 : 150;
    st = fill(run, doc, step_ms, 28);
    if (st == TM_OK) {
        assert_string_equal(tm_text(tm_path(tm_doc_root(doc), "jobs[0].state")), "worse");
        assert_int_equal(tm_length(tm_path(tm_doc_root(doc), "change_points")), 1);
        assert_int_equal(tm_length(tm_path(tm_doc_root(doc), "regressions")), 1);
        assert_true(tm_has(tm_path(tm_doc_root(doc), "findings[0].title")));
        assert_false(tm_has(tm_path(tm_doc_root(doc), "jobs[0].report")));
    }
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
        cmocka_unit_test(a_record_stays_until_the_figure_is_back),
        cmocka_unit_test(a_decision_stays_with_its_regression),
        cmocka_unit_test(a_regression_never_leaves_without_a_word),
        cmocka_unit_test(a_refused_request_is_an_error),
    };

    return cmocka_run_group_tests_name("night", tests, make_folder, remove_folder);
}
