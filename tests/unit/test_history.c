/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/history/history.h"

#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

#include "pipeline/doc/doc.h"
#include "pipeline/run.h"
#include "tests/support/sample_summary.h"
#include "tests/support/test_folder.h"

enum { ROWS_MOST = 512, PATH_MOST = 128, IMAGE_MOST = 1 << 20 };

static char path[PATH_MOST];

static void init(struct tm_run *run)
{
    test_run_init(run);
    (void)snprintf(path, sizeof(path), "%s/history.db", folder);
}

/* --- rows --- */

static const char hostile[] = "x'); DROP TABLE runs; --\n\xe2\x80\xa8<script>\"\\\x01";

static struct tm_history_run plain_row(const char *id)
{
    /* clang-format off */
    struct tm_history_run row = { .id = id,        .name = "run",   .path = "train/2026-11-21/run",
                                  .status = "done", .message = "",  .report = "", .summary = "",
                                  .platform = "gpu", .model = "H100", .hosts = 1,
                                  .devices = 8,     .verdict = "fine", .severity = "good",
                                  .finding = "",    .gates = "",    .gates_text = "",
                                  .fingerprint = "00000000000000f1", .version = "0.1.0", .options = "00000000000000a1",
                                  .definitions = TM_SUMMARY_VERSION };
    /* clang-format on */

    strcpy(row.keys.job, "train");
    strcpy(row.keys.night, "2026-11-21");
    row.keys.when_ns = 1;
    row.keys.step = -1;
    for (size_t i = 0; i < TM_FIGURES_MOST; i++)
        row.figure[i] = i < tm_figure_count ? (double)i + 0.25 : NAN;
    return row;
}

/* Row i of many: of several jobs and nights, some without figures. */
static struct tm_history_run numbered_row(unsigned i, char id[32])
{
    (void)snprintf(id, 32, "run-%016llx", (unsigned long long)i * 0x9e3779b97f4a7c15ULL);

    struct tm_history_run row = plain_row(id);

    (void)snprintf(row.keys.job, sizeof(row.keys.job), "job %u", i % 7);
    (void)snprintf(row.keys.night, sizeof(row.keys.night), "2026-11-%02u", i / 7 % 28 + 1);
    row.keys.when_ns = (int64_t)(i / 7 % 28) * 1000000007 - 1000;
    row.status = i % 11 ? "done" : "failed";
    for (size_t f = 0; f < tm_figure_count; f++)
        row.figure[f] = (i + f) % 5 ? (double)(i * 31 + f * 7) * 1e9 / 3 : NAN;
    return row;
}

static void put_numbered(struct tm_run *run, const unsigned *order, unsigned from, unsigned to)
{
    struct tm_history *history;
    char id[32];

    assert_int_equal(tm_history_renew(&history, run, path), TM_OK);
    for (unsigned i = from; i < to; i++) {
        const struct tm_history_run row = numbered_row(order[i], id);

        assert_int_equal(tm_history_put(history, &row), TM_OK);
    }
    assert_int_equal(tm_history_commit(history), TM_OK);
    tm_history_close(history);
}

/* What a visit gave: texts are gone after it. */
struct seen {
    size_t count;
    char id[ROWS_MOST][32];
    struct tm_history_run last; /* texts copied */
    char page[16];
    char text[12][256];
};

static tm_status see(void *to, const struct tm_history_run *row)
{
    struct seen *s = to;
    const char *const from[] = {
        row->name,  row->path,       row->message, row->platform, row->model,  row->verdict,
        row->gates, row->gates_text, row->finding, row->status,   row->report, row->fingerprint
    };

    assert_true(s->count < ROWS_MOST);
    (void)snprintf(s->id[s->count++], sizeof(s->id[0]), "%s", row->id);
    s->last = *row;
    (void)snprintf(s->page, sizeof(s->page), "%s", row->page);
    for (size_t i = 0; i < 12; i++)
        (void)snprintf(s->text[i], sizeof(s->text[i]), "%s", from[i]);
    return TM_OK;
}

static void visit(struct tm_run *run, struct tm_history_query query, struct seen *seen)
{
    struct tm_history *history;

    seen->count = 0;
    assert_int_equal(tm_history_open(&history, run, path), TM_OK);
    assert_int_equal(tm_history_visit(history, &query, see, seen), TM_OK);
    tm_history_close(history);
}

/* --- the file --- */

static uint8_t image[2][IMAGE_MOST];

static size_t read_image(uint8_t *to)
{
    const int fd = open(path, O_RDONLY);
    ssize_t n;

    assert_true(fd >= 0);
    n = read(fd, to, IMAGE_MOST);
    assert_true(n > 0 && n < IMAGE_MOST);
    (void)close(fd);
    return (size_t)n;
}

static void write_image(const uint8_t *from, size_t bytes)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, from, bytes), (ssize_t)bytes);
    (void)close(fd);
}

static void run_sql(const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Neither read nor written over, with words that say why. */
static void assert_is_refused(const char *what, const char *advice)
{
    struct tm_run run;
    struct tm_history *history;
    const size_t before = read_image(image[0]);

    for (int renews = 0; renews < 2; renews++) {
        test_run_init(&run);
        assert_int_equal(renews ? tm_history_renew(&history, &run, path) : tm_history_open(&history, &run, path),
                         TM_ERR_INPUT);
        assert_null(history);
        if (!strstr(run.error.what, what) || !strstr(run.error.hint, advice))
            fail_msg("'%s' and '%s' in place of '%s' and '%s'", run.error.what, run.error.hint, what, advice);
        assert_ledger_is_even(&run);
    }
    assert_int_equal(read_image(image[1]), before);
    assert_memory_equal(image[0], image[1], before);
}

/* --- tests --- */

static void a_row_comes_back_as_it_was_put_in(void **state)
{
    struct tm_run run;
    struct tm_history *history;
    static struct seen seen;

    (void)state;
    init(&run);

    struct tm_history_run row = plain_row("train-0123456789abcdef");

    row.report = "runs/train-0123456789abcdef";
    row.summary = "runs/train-0123456789abcdef/summary.json";
    row.keys.step = 0;
    row.hosts = -1;
    row.figure[1] = NAN;
    row.figure[2] = INFINITY;
    row.figure[3] = 1e300;
    strcpy(row.keys.revision, "deadbeef");
    assert_int_equal(tm_history_renew(&history, &run, path), TM_OK);
    assert_int_equal(tm_history_put(history, &row), TM_OK);
    seen.count = 0;
    assert_int_equal(tm_history_visit(history, &(struct tm_history_query){ .most = 5 }, see, &seen), TM_OK);
    assert_int_equal(seen.count, 1); /* before it is committed */
    assert_int_equal(tm_history_commit(history), TM_OK);
    seen.count = 0;
    assert_int_equal(tm_history_visit(history, &(struct tm_history_query){ .most = 5 }, see, &seen), TM_OK);
    assert_int_equal(seen.count, 1); /* and after it */
    tm_history_close(history);
    visit(&run, (struct tm_history_query){ .order = TM_HISTORY_BY_JOB }, &seen);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.id[0], row.id);
    assert_string_equal(seen.text[1], row.path);
    assert_string_equal(seen.text[2], "");
    assert_string_equal(seen.text[10], row.report);
    assert_string_equal(seen.last.keys.revision, "deadbeef");
    assert_string_equal(seen.last.keys.label, "");
    assert_int_equal(seen.last.keys.step, 0);
    assert_int_equal(seen.last.keys.when_ns, 1);
    assert_int_equal(seen.last.hosts, -1);
    assert_int_equal(seen.last.devices, 8);
    assert_true(seen.last.figure[0] == 0.25 && isnan(seen.last.figure[1]) && isnan(seen.last.figure[2]) &&
                seen.last.figure[3] == 1e300);
    assert_ledger_is_even(&run);
}

static void a_row_takes_the_place_of_the_one_with_its_id(void **state)
{
    struct tm_run run;
    struct tm_history *history;
    static struct seen seen;
    struct tm_history_run row = plain_row("a");

    (void)state;
    init(&run);
    assert_int_equal(tm_history_renew(&history, &run, path), TM_OK);
    assert_int_equal(tm_history_put(history, &row), TM_OK);
    row.status = "failed";
    row.message = "killed";
    row.figure[0] = NAN;
    assert_int_equal(tm_history_put(history, &row), TM_OK);
    assert_int_equal(tm_history_commit(history), TM_OK);
    tm_history_close(history);
    visit(&run, (struct tm_history_query){ .order = TM_HISTORY_BY_TIME }, &seen);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.text[9], "failed");
    assert_string_equal(seen.text[2], "killed");
    assert_true(isnan(seen.last.figure[0]));
}

static void what_gates_said_stays_with_what_they_said_it_of(void **state)
{
    static const struct {
        const char *fingerprint, *options, *gates, *expected;
    } cases[] = {
        { "00000000000000f1", "00000000000000a1", "", "failed" },
        { "00000000000000f2", "00000000000000a1", "", "" },
        { "00000000000000f1", "00000000000000a2", "", "" },
        { "00000000000000f1", "00000000000000a1", "passed", "passed" },
    };
    static struct seen seen;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_run run;
        struct tm_history *history;
        struct tm_history_run row = plain_row("a");

        init(&run);
        (void)unlink(path);
        assert_int_equal(tm_history_renew(&history, &run, path), TM_OK);
        assert_int_equal(tm_history_put(history, &row), TM_OK);
        assert_int_equal(tm_history_set_gates(history, "a", "failed", "steps.median_ps <= 1 ms"), TM_OK);
        assert_int_equal(tm_history_set_gates(history, "none such", "failed", ""), TM_OK);
        assert_int_equal(tm_history_commit(history), TM_OK);
        tm_history_close(history);
        row.fingerprint = cases[i].fingerprint;
        row.options = cases[i].options;
        row.gates = cases[i].gates;
        assert_int_equal(tm_history_renew(&history, &run, path), TM_OK);
        assert_int_equal(tm_history_put(history, &row), TM_OK);
        assert_int_equal(tm_history_commit(history), TM_OK);
        tm_history_close(history);
        visit(&run, (struct tm_history_query){ .order = TM_HISTORY_BY_JOB }, &seen);
        assert_string_equal(seen.text[6], cases[i].expected);
        assert_string_equal(seen.text[7], strcmp(cases[i].expected, "failed") == 0 ? "steps.median_ps <= 1 ms" : "");
    }
}

static void texts_that_mean_harm_are_texts(void **state)
{
    struct tm_run run;
    struct tm_history *history;
    static struct seen seen;
    static char long_text[10000];

    (void)state;
    init(&run);

    struct tm_history_run row = plain_row("a");

    memset(long_text, 'm', sizeof(long_text) - 1);
    row.name = row.path = row.platform = row.model = row.gates_text = hostile;
    row.message = long_text;
    row.verdict = "cut\xff here";
    row.finding = "\xc0\x80";
    strcpy(row.keys.job, hostile);
    strcpy(row.keys.label, hostile);
    assert_int_equal(tm_history_renew(&history, &run, path), TM_OK);
    assert_int_equal(tm_history_put(history, &row), TM_OK);
    assert_int_equal(tm_history_commit(history), TM_OK);
    tm_history_close(history);
    visit(&run,
          (struct tm_history_query){
              .job = hostile, .judged = &(struct tm_judged_night){ .last = "2026-11-21", .until = "9999-12-31" } },
          &seen);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.text[0], hostile);
    assert_string_equal(seen.text[7], hostile);
    assert_string_equal(seen.last.keys.label, hostile);
    assert_string_equal(seen.text[5], "cut");
    assert_string_equal(seen.text[8], "");
    visit(&run, (struct tm_history_query){ .job = "' OR 1 --" }, &seen);
    assert_int_equal(seen.count, 0);
}

static void rows_are_visited_in_order(void **state)
{
    struct tm_run run;
    struct tm_history *history;
    static struct seen seen;
    static unsigned order[ROWS_MOST];
    struct tm_judged_night judged = { .until = "9999-12-31" }, early = { .until = "2026-11-07" };
    char night[11];

    (void)state;
    init(&run);
    for (unsigned i = 0; i < 300; i++)
        order[i] = i;
    put_numbered(&run, order, 0, 300);
    visit(&run, (struct tm_history_query){ .order = TM_HISTORY_BY_JOB }, &seen);
    assert_int_equal(seen.count, 300);
    assert_string_equal(seen.last.keys.job, "job 6");
    visit(&run, (struct tm_history_query){ .order = TM_HISTORY_BY_TIME, .most = 9 }, &seen);
    assert_int_equal(seen.count, 9);
    assert_true(seen.last.keys.when_ns == 27LL * 1000000007 - 1000 ||
                seen.last.keys.when_ns == 26LL * 1000000007 - 1000);
    visit(&run, (struct tm_history_query){ .order = TM_HISTORY_BY_JOB, .job = "job 3" }, &seen);
    assert_int_equal(seen.count, 43);
    visit(
        &run,
        (struct tm_history_query){ .order = TM_HISTORY_BY_JOB,
                                   .judged = &(struct tm_judged_night){ .last = "2026-11-28", .until = "9999-12-31" } },
        &seen);
    assert_int_equal(seen.count, 7);
    visit(&run,
          (struct tm_history_query){
              .job = "job 3", .judged = &(struct tm_judged_night){ .last = "2026-11-02", .until = "9999-12-31" } },
          &seen);
    assert_int_equal(seen.count, 2);
    assert_int_equal(tm_history_open(&history, &run, path), TM_OK);
    assert_int_equal(tm_history_last_night(history, &judged), TM_OK);
    assert_string_equal(judged.last, "2026-11-28");
    assert_int_equal(tm_history_last_night(history, &early), TM_OK);
    assert_string_equal(early.last, "2026-11-07");
    assert_int_equal(tm_history_oldest_of(history, early.until, 3, night), TM_OK);
    assert_string_equal(night, "2026-11-05");
    assert_int_equal(tm_history_oldest_of(history, judged.until, 1, night), TM_OK);
    assert_string_equal(night, "2026-11-28");
    assert_int_equal(tm_history_oldest_of(history, judged.until, 3, night), TM_OK);
    assert_string_equal(night, "2026-11-26");
    assert_int_equal(tm_history_oldest_of(history, judged.until, 27, night), TM_OK);
    assert_string_equal(night, "2026-11-02");
    assert_int_equal(tm_history_oldest_of(history, judged.until, 28, night), TM_OK); /* there are no others */
    assert_string_equal(night, "");
    assert_int_equal(tm_history_oldest_of(history, judged.until, UINT64_MAX, night), TM_OK);
    assert_string_equal(night, "");
    tm_history_close(history);
}

/* Tables of version 2 have no page: their runs were on that of their night. */
static void tables_of_version_2_are_read(void **state)
{
    char sql[HISTORY_SQL_BYTES];
    struct tm_history *history;
    static struct seen seen;
    struct tm_run run;

    (void)state;
    init(&run);
    run_sql("PRAGMA application_id = 1414350914; PRAGMA user_version = 2");
    for (size_t i = 0; tm_history_object(sql, "", 2, i); i++)
        run_sql(sql);
    run_sql("INSERT INTO runs (id, job, night, when_ns, status, definitions) VALUES ('a', 'job', '2026-11-20', 1, "
            "'failed', 2)");
    visit(&run, (struct tm_history_query){ .order = TM_HISTORY_BY_ID }, &seen);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.last.keys.night, "2026-11-20");
    assert_string_equal(seen.page, "2026-11-20");
    assert_int_equal(tm_history_renew(&history, &run, path), TM_OK);
    assert_int_equal(tm_history_commit(history), TM_OK);
    tm_history_close(history);
    visit(&run, (struct tm_history_query){ .order = TM_HISTORY_BY_ID }, &seen);
    assert_string_equal(seen.page, "2026-11-20");
    assert_ledger_is_even(&run);
}

/* A row of a night, its report at its place. */
static struct tm_history_run dated_row(const char *id, const char *night, const char *report, const char *fingerprint)
{
    struct tm_history_run row = plain_row(id);

    strcpy(row.keys.night, night);
    row.report = report;
    row.fingerprint = fingerprint;
    return row;
}

/* out: the ids that are judged with the last night, in order of their ids */
static void merge(struct tm_run *run, const struct tm_history_run *rows, size_t count, const char *until,
                  const char *last, const char *ids)
{
    struct tm_judged_night judged = { .last = "" };
    static struct seen seen;
    struct tm_history *history;
    char told[256] = "";

    seen.count = 0;
    strcpy(judged.until, until);
    assert_int_equal(tm_history_renew(&history, run, path), TM_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(tm_history_put(history, &rows[i]), TM_OK);
    assert_int_equal(tm_history_settle(history, &judged), TM_OK);
    assert_string_equal(judged.last, last);
    assert_int_equal(tm_history_visit(history,
                                      &(struct tm_history_query){ .order = TM_HISTORY_BY_ID, .judged = &judged }, see,
                                      &seen),
                     TM_OK);
    for (size_t i = 0; i < seen.count; i++)
        (void)snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s ", seen.id[i]);
    assert_string_equal(told, ids);
    assert_int_equal(tm_history_commit(history), TM_OK);
    tm_history_close(history);
}

/* What was added or changed is judged with the last night, as long as that is the last one; what is dated ahead with none. */
static void runs_are_judged_once(void **state)
{
    struct tm_history_run row[] = {
        dated_row("a", "2026-11-20", "runs/a", "1"), dated_row("b", "2026-11-21", "runs/b", "1"),
        dated_row("c", "2099-01-01", "runs/c", "1"), dated_row("d", "2026-11-19", "runs/d", "1"),
        dated_row("e", "2026-11-22", "runs/e", "1"),
    };
    struct tm_run run;

    (void)state;
    init(&run);
    merge(&run, row, 3, "2026-11-22", "2026-11-21", "a b ");
    merge(&run, row, 3, "2026-11-22", "2026-11-21", "a b "); /* again: the same */
    merge(&run, row, 4, "2026-11-22", "2026-11-21", "a b d ");
    row[0].fingerprint = "2";
    merge(&run, row, 5, "2026-11-23", "2026-11-22", "a e ");
    row[0].report = ""; /* pruned: it is not judged again */
    merge(&run, row, 5, "2026-11-23", "2026-11-22", "e ");
    merge(&run, row, 5, "2026-11-01", "", ""); /* a clock that was put back */
    row[0].fingerprint = "3";
    row[0].report = "runs/a";
    merge(&run, row, 5, "2026-11-18", "", "");
    merge(&run, row, 5, "2026-11-23", "2026-11-22", "a e "); /* what came meanwhile is judged then */
    merge(&run, row, 5, "2099-01-02", "2099-01-01", "c ");
    assert_ledger_is_even(&run);
}

static void the_same_rows_are_the_same_bytes(void **state)
{
    struct tm_run run;
    static unsigned order[ROWS_MOST];
    uint64_t random = 1;
    size_t bytes = 0;

    (void)state;
    init(&run);
    for (unsigned turn = 0; turn < 12; turn++) {
        const unsigned parts = turn < 3 ? 1 : 1 + (unsigned)(next_number(&random) % 6);

        for (unsigned i = 0; i < 400; i++) {
            const unsigned j = turn ? (unsigned)(next_number(&random) % (i + 1)) : i;

            order[i] = order[j];
            order[j] = i;
        }
        (void)unlink(path);
        for (unsigned p = 0; p < parts; p++) /* each night puts some of the last one's again */
            put_numbered(&run, order, p ? p * 400 / parts - 20 : 0, (p + 1) * 400 / parts);
        if (turn == 0) {
            bytes = read_image(image[0]);
            assert_true(bytes > 16384);
            continue;
        }
        assert_int_equal(read_image(image[1]), bytes);
        assert_memory_equal(image[0], image[1], bytes);
    }
    run.budget.limit_bytes *= 64; /* and with more room for caches */
    (void)unlink(path);
    put_numbered(&run, order, 0, 400);
    assert_int_equal(read_image(image[1]), bytes);
    assert_memory_equal(image[0], image[1], bytes);
}

static void what_is_not_committed_leaves_the_old_one(void **state)
{
    struct tm_run run;
    struct tm_history *history;
    const unsigned order[] = { 0, 1, 2 };
    const struct tm_history_run row = plain_row("a");

    (void)state;
    init(&run);
    put_numbered(&run, order, 0, 3);

    const size_t bytes = read_image(image[0]);

    assert_int_equal(tm_history_renew(&history, &run, path), TM_OK);
    assert_int_equal(tm_history_put(history, &row), TM_OK);
    tm_history_close(history);
    assert_int_equal(read_image(image[1]), bytes);
    assert_memory_equal(image[0], image[1], bytes);
    assert_int_equal(count_entries(false), 1);
    tm_history_close(NULL);
}

/* Whatever byte is another one, the file is refused, or its rows can be read: a text of one may be another. */
static void a_damaged_file_is_refused_or_read(void **state)
{
    struct tm_run run;
    struct tm_history *history;
    static struct seen seen;
    static unsigned order[ROWS_MOST];
    size_t refused = 0, bytes;
    static uint8_t whole[IMAGE_MOST];

    (void)state;
    init(&run);
    for (unsigned i = 0; i < 60; i++)
        order[i] = i;
    put_numbered(&run, order, 0, 60);
    bytes = read_image(whole);
    for (size_t at = 0; at < bytes; at += at < 600 ? 1 : 97) {
        for (int way = 0; way < 3; way++) {
            const uint8_t was = whole[at];
            tm_status st;

            whole[at] = way == 0 ? (uint8_t)~was : way == 1 ? 0 : (uint8_t)(was + 1);
            write_image(whole, bytes);
            whole[at] = was;
            test_run_init(&run);
            seen.count = 0;
            st = tm_history_open(&history, &run, path);
            if (st == TM_OK)
                st = tm_history_visit(history, &(struct tm_history_query){ .order = TM_HISTORY_BY_JOB }, see, &seen);
            tm_history_close(history);
            assert_true(st == TM_OK || st == TM_ERR_INPUT);
            assert_ledger_is_even(&run);
            refused += st != TM_OK;
        }
    }
    assert_true(refused > 100);
    for (size_t length = 1; length < bytes; length += length < 200 ? 1 : 1531) {
        write_image(whole, length);
        assert_is_refused("", "");
    }
}

static void other_files_are_refused_and_kept(void **state)
{
    struct tm_run run;
    const unsigned order[] = { 0, 1, 2 };
    static const uint8_t text[] =
        "this is a text, and a long one, that somebody put there for a reason of their own; it has more"
        " bytes than the head of a database, of which there are a hundred";

    (void)state;
    init(&run);
    write_image(text, sizeof(text));
    assert_is_refused("not a SQLite database", "move it away");
    write_image(text, 1);
    assert_is_refused("", "move it away");
    (void)unlink(path);
    run_sql("CREATE TABLE runs (id TEXT)");
    assert_is_refused("another program", "move it away");
    run_sql("PRAGMA application_id = 0x544d4842");
    assert_is_refused("version 0; this program reads version 5", "move it away");
    run_sql("PRAGMA user_version = 6");
    assert_is_refused("version 6; this program reads version 5", "newer tracemill");
    run_sql("PRAGMA user_version = -1");
    assert_is_refused("version -1; this program reads version 5", "move it away");
    run_sql("PRAGMA user_version = 1");
    assert_is_refused("'runs' in it was not created by tracemill", "remove");
    run_sql("PRAGMA user_version = 2");
    assert_is_refused("'runs' in it was not created by tracemill", "remove");
    run_sql("DROP TABLE runs");
    assert_is_refused("tables are missing", "move it away");
    (void)unlink(path);
    put_numbered(&run, order, 0, 3);
    run_sql("CREATE VIEW evil AS SELECT load_extension('x')");
    assert_is_refused("'evil' in it was not created by tracemill", "remove");
    run_sql("DROP VIEW evil");
    run_sql("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END");
    assert_is_refused("'t' in it was not created by tracemill", "remove");
    run_sql("DROP TRIGGER t");
    run_sql("DROP INDEX runs_by_job");
    assert_is_refused("was not created by tracemill", "remove");
}

static void rows_that_we_would_not_write_are_refused(void **state)
{
    static const char *const updates[] = {
        "id = '../../etc'",
        "id = '.'",
        "id = 'a/b'",
        "id = printf('%.*c', 128, 'x')",
        "night = 'today'",
        "night = '2026-02-30'",
        "status = 'well'",
        "report = 'runs/other'",
        "report = '/etc'",
        "summary = 'runs/other/summary.json'",
        "summary = 'runs/run-0000000000000000/../../x'",
        "night = '2026-11-2100'",
        "job = x'ff'",
        "job = CAST(x'ff' AS TEXT)",
        "name = CAST(x'410042' AS TEXT)",
        "path = ''",
        "status = 5.5e0 || x'fe'",
        "when_ns = 'soon'",
        "hosts = 1.5",
        "devices = -7",
        "definitions = 0",
        "definitions = 3",
        "definitions = 'two'",
        "step_time_ps = 'fast'",
        "step_time_ps = 9e999",
        "message = printf('%.*c', 5000, 'x')",
        "message = printf('%.*c', 2000000, 'x')",
    };
    const unsigned order[] = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(updates) / sizeof(updates[0]); i++) {
        struct tm_run run;
        struct tm_history *history;
        static struct seen seen;
        char sql[256];
        tm_status st;

        init(&run);
        (void)unlink(path);
        put_numbered(&run, order, 0, 1);
        (void)snprintf(sql, sizeof(sql), "UPDATE runs SET %s", updates[i]);
        run_sql(sql);
        seen.count = 0;
        st = tm_history_open(&history, &run, path);
        if (st == TM_OK)
            st = tm_history_visit(history, &(struct tm_history_query){ .order = TM_HISTORY_BY_JOB }, see, &seen);
        tm_history_close(history);
        if (st != TM_ERR_INPUT || !strstr(run.error.what, "damaged"))
            fail_msg("%s: %d, '%s'", updates[i], st, run.error.what);
        test_run_init(&run);
        assert_int_equal(tm_history_renew(&history, &run, path), TM_ERR_INPUT);
        assert_ledger_is_even(&run);
    }
}

static void what_is_no_file_is_refused(void **state)
{
    struct tm_run run;
    struct tm_history *history;
    char other[PATH_MOST];
    const unsigned order[] = { 0 };

    (void)state;
    init(&run);
    assert_int_equal(tm_history_open(&history, &run, path), TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, "there is no history"));
    test_run_init(&run);
    put_numbered(&run, order, 0, 1);
    (void)snprintf(other, sizeof(other), "%s/other.db", folder);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink("other.db", path), 0);
    assert_is_refused("symbolic link", "put the file itself there");
    (void)unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    test_run_init(&run);
    assert_int_equal(tm_history_renew(&history, &run, path), TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, "a folder"));
    assert_int_equal(rmdir(path), 0);
    test_run_init(&run);
    assert_int_equal(tm_history_renew(&history, &run, "/nowhere/at/all/history.db"), TM_ERR_INPUT);
    assert_ledger_is_even(&run);
}

static tm_status job(struct tm_run *run)
{
    struct tm_history *history;
    char id[32];
    const struct tm_history_run row = numbered_row(1, id);
    tm_status st = tm_history_renew(&history, run, path);

    if (st == TM_OK)
        st = tm_history_put(history, &row);
    if (st == TM_OK)
        st = tm_history_commit(history);
    tm_history_close(history);
    return st;
}

static void refused_memory_is_an_error(void **state)
{
    struct tm_run run;

    (void)state;
    init(&run);
    refuse_each_request(job);
}

static void figures_are_those_of_the_summary(void **state)
{
    struct tm_run run;
    struct tm_doc *doc, *summary;
    struct tm_value *to;

    (void)state;
    test_run_init(&run);
    tm_budget_init(&run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
    assert_true(tm_figure_count <= TM_FIGURES_MOST && tm_figure_count >= 25);
    assert_string_equal(tm_figure_table[0].id, "step_time_ps");
    for (size_t i = 0; i < tm_figure_count; i++) {
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(tm_figure_table[k].id, tm_figure_table[i].id);
    }
    for (int which = 0; which < TM_SAMPLES; which++) {
        doc = tm_doc_new(&run);
        summary = tm_sample_summary(&run, (enum tm_sample_profile)which);
        to = tm_doc_root(doc);
        tm_result_figures(to, tm_doc_root(summary));
        assert_int_equal(tm_doc_status(doc), TM_OK);
        assert_int_equal(tm_length(tm_get(to, "figures")), tm_figure_count);
        assert_true(tm_has(tm_path(to, "verdict.text")) || which == TM_SAMPLE_EMPTY);
        if (which == TM_SAMPLE_GPU) {
            const struct tm_value *s = tm_doc_root(summary);

            assert_true(tm_has(tm_path(to, "figures.step_time_ps")));
            assert_true(tm_double(tm_path(to, "figures.step_time_ps")) ==
                        round(tm_double(tm_path(s, "kpis[step_time].value")) * 1e9));
            assert_true(tm_double(tm_path(to, "figures.device_utilization_pct")) ==
                        tm_double(tm_path(s, "kpis[device_utilization].value")));
            assert_string_equal(tm_text(tm_path(to, "facts.platform")), "gpu");
        }
        if (which == TM_SAMPLE_EMPTY) {
            for (size_t i = 0; i < tm_figure_count; i++)
                if (strcmp(tm_figure_table[i].id, "events_read") != 0)
                    assert_int_equal(tm_type_of(tm_value_at(tm_get(to, "figures"), i)), TM_NULL);
        }
        tm_doc_free(summary);
        tm_doc_free(doc);
    }
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_summary),
        cmocka_unit_test_setup_teardown(a_row_comes_back_as_it_was_put_in, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_row_takes_the_place_of_the_one_with_its_id, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_gates_said_stays_with_what_they_said_it_of, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(texts_that_mean_harm_are_texts, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(rows_are_visited_in_order, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(tables_of_version_2_are_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(runs_are_judged_once, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(the_same_rows_are_the_same_bytes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_is_not_committed_leaves_the_old_one, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_damaged_file_is_refused_or_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(other_files_are_refused_and_kept, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(rows_that_we_would_not_write_are_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(refused_memory_is_an_error, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
