/* SPDX-License-Identifier: Apache-2.0 */
/* What the charts of devices say: how busy they are over time, who is late, what is exposed, what is cut. */
#include <math.h>

#include "reports/chart/chart.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

static const double width = 760;

struct fixture {
    struct tm_run run;
    struct tm_doc *doc;
    struct tm_chart chart;
};

static void draw(struct fixture *f, enum tm_chart_kind kind, const char *json)
{
    test_run_init(&f->run);
    f->doc = tm_doc_new(&f->run);
    assert_non_null(f->doc);
    test_summary_load(tm_doc_root(f->doc), json);
    tm_chart_init(&f->chart, &f->run, width);
    assert_int_equal(tm_charts_count(kind, tm_doc_root(f->doc)), 1);
    tm_charts_draw(&f->chart, kind, 0, tm_doc_root(f->doc));
    assert_false(f->chart.failed);
}

static void tear_down(struct fixture *f)
{
    tm_chart_free(&f->chart);
    tm_doc_free(f->doc);
    assert_ledger_is_even(&f->run);
}

static size_t count_in(const char *json, enum tm_chart_kind kind)
{
    struct tm_run run;
    struct tm_doc *doc;
    size_t count;

    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    test_summary_load(tm_doc_root(doc), json);
    count = tm_charts_count(kind, tm_doc_root(doc));
    tm_doc_free(doc);
    return count;
}

/* The mark behind the group with that tip. */
static const struct tm_mark *tipped(const struct fixture *f, const char *tip)
{
    for (size_t i = 0; i + 1 < f->chart.marks; i++)
        if (f->chart.mark[i].kind == TM_MARK_OPEN && strcmp(tm_chart_text(&f->chart, f->chart.mark[i].text), tip) == 0)
            return &f->chart.mark[i + 1];
    fail_msg("nothing says '%s'", tip);
    return NULL;
}

static bool says(const struct fixture *f, const char *text)
{
    for (size_t i = 0; i < f->chart.marks; i++)
        if (f->chart.mark[i].kind == TM_MARK_TEXT && strcmp(tm_chart_text(&f->chart, f->chart.mark[i].text), text) == 0)
            return true;
    return false;
}

static void assert_cell(const struct fixture *f, size_t row, int column, const char *text)
{
    assert_string_equal(
        tm_chart_text(&f->chart, f->chart.table.cell[row * (size_t)f->chart.table.columns + (size_t)column]), text);
}

/* --- utilization --- */

#define DEVICE(host, id, use, begin, end, bin, busy)                                                                   \
    "{'id': '" host "/" id "', 'host': '" host "', 'utilization_pct': " use ", 'first_ps': " begin ", 'last_ps': " end \
    ", 'utilization': {'begin_ps': " begin ", 'end_ps': " end ", 'bin_ps': " bin ", 'busy_ps': [" busy "]}}"

/* Bins of 100 ms from 250 ms on, the first and the last of which are shorter. */
static void stretches_of_one_colour_are_one_box(void **state)
{
    const struct tm_mark *low, *high;
    struct fixture f;

    (void)state;
    draw(&f, TM_CHART_UTILIZATION,
         "{'input': {'hosts': ['vm']}, 'window': {'mode': 'all'}, 'devices': [" DEVICE(
             "vm", "gpu:0", "60", "250000000000", "630000000000", "100000000000",
             "50000000000, 90000000000, 10000000000, 12000000000, 0") "]}");
    high = tipped(&f, "gpu:0, 250 ms to 400 ms: 93.3% busy"); /* 50 of 50 and 90 of 100 */
    low = tipped(&f, "gpu:0, 400 ms to 600 ms: 11.0% busy");
    (void)tipped(&f, "gpu:0, 600 ms to 630 ms: 0.0% busy");
    assert_int_equal(high->role, TM_ROLE_USE_4);
    assert_int_equal(low->role, TM_ROLE_USE_1);
    assert_true(fabs(high->width / low->width - 0.75) < 1e-9);
    assert_cell(&f, 0, 0, "gpu:0");
    assert_cell(&f, 0, 1, "42.6%"); /* 162 of 380 */
    assert_cell(&f, 0, 2, "0.0%");
    assert_cell(&f, 0, 3, "400 ms to 630 ms");
    assert_non_null(strstr(f.chart.caption, "each interval of 100 ms"));
    tear_down(&f);
}

#define TWO_HOSTS(clocks)                                                                                              \
    "{'input': {'hosts': ['a', 'b'], 'files': [{'host': 'a', 'origin_us': null}, {'host': 'b', 'origin_us': null}]},"  \
    "'environment': {'hosts': [{'host': 'a', 'begin_ns': 5000}, {'host': 'b', 'begin_ns': 5100}]},"                    \
    "'collectives': {'skew': {'clock': {" clocks "}}}, 'window': {'mode': 'all'}, 'devices': [" DEVICE(                \
        "a", "gpu:0", "60", "0", "100000", "50000", "1, 2") "," DEVICE("b", "gpu:0", "60", "100000", "200000",         \
                                                                       "50000", "1, 2") "]}"

/* Host b began 100 ns later, and its device another 100 ns later. */
static void hosts_share_a_scale_where_their_clocks_agree(void **state)
{
    struct fixture f;

    (void)state;
    draw(&f, TM_CHART_UTILIZATION,
         TWO_HOSTS("'list': [{'host': 'a', 'offset_ps': 0, 'drift_ppm': 0}, {'host': 'b', 'offset_ps': 100000, "
                   "'drift_ppm': 0}]"));
    assert_true(tipped(&f, "b/gpu:0, 100 ns to 200 ns: < 0.1% busy")->x >
                tipped(&f, "a/gpu:0, 0 to 100 ns: < 0.1% busy")->x + 400);
    assert_null(strstr(f.chart.caption, "clocks"));
    tear_down(&f);
    draw(&f, TM_CHART_UTILIZATION, TWO_HOSTS("'list': []"));
    assert_true(tipped(&f, "b/gpu:0, 100 ns to 200 ns: < 0.1% busy")->x ==
                tipped(&f, "a/gpu:0, 0 to 100 ns: < 0.1% busy")->x);
    assert_non_null(strstr(f.chart.caption, "each host starts at the left"));
    tear_down(&f);
}

/* --- beside each other --- */

static void exposed_and_hidden_time_add_up(void **state)
{
    const struct tm_mark *exposed, *hidden;
    struct fixture f;

    (void)state;
    draw(&f, TM_CHART_COLLECTIVES,
         "{'collectives': {'rows': [{'kind': 'all-reduce', 'total_ps': 6000, 'exposed_ps': 1000}, {'kind': "
         "'all-gather', 'total_ps': 5000, "
         "'exposed_ps': 5000}, {'kind': 'all-reduce', 'total_ps': 2000, 'exposed_ps': 1000}],"
         " 'rest': {'rows': 0, 'total_ps': 0, 'exposed_ps': 0}}}");
    exposed = tipped(&f, "all-reduce, exposed collective: 2.00 ns of 8.00 ns");
    hidden = tipped(&f, "all-reduce, overlapped with other work: 6.00 ns of 8.00 ns");
    assert_true(hidden->width > 2.9 * exposed->width && hidden->x > exposed->x);
    assert_true(says(&f, "8.00 ns, 75.0% hidden"));
    assert_true(says(&f, "5.00 ns, nothing hidden"));
    tear_down(&f);
}

static void who_is_late_is_named(void **state)
{
    struct fixture f;

    (void)state;
    draw(&f, TM_CHART_SKEW,
         "{'input': {'hosts': ['vm']}, 'collectives': {'skew': {'straggler': 'vm/gpu:1', 'members': ["
         "{'device': 'vm/gpu:0', 'count': 9, 'last_count': 1, 'late_ps': 1000, 'caused_ps': 10},"
         "{'device': 'vm/gpu:1', 'count': 9, 'last_count': 8, 'late_ps': 9000, 'caused_ps': 8000}]}}}");
    assert_int_equal(tipped(&f, "gpu:1: 9.00 ns, last in 8 of 9, most often late")->role, TM_ROLE_BAD);
    assert_int_equal(tipped(&f, "gpu:0: 1.00 ns, last in 1 of 9")->role, TM_ROLE_SERIES);
    assert_cell(&f, 0, 4, "8.00 ns"); /* the latest first */
    tear_down(&f);
}

#define BALANCE(band, second)                                                                                          \
    "{'input': {'hosts': ['vm']}, 'kpis': [{'id': 'imbalance', 'band': '" band "'}], 'balance': {'slowest': "          \
    "'vm/gpu:1', 'busy': [{'device': 'vm/gpu:0', 'compute_ps': 1000}" second "]}}"

static void the_slowest_device_has_the_colour_of_the_judgement(void **state)
{
    static const char both[] = BALANCE("bad", ", {'device': 'vm/gpu:1', 'compute_ps': 3000}");
    struct fixture f;

    (void)state;
    draw(&f, TM_CHART_BALANCE, both);
    assert_int_equal(tipped(&f, "gpu:1: 3.00 ns, +50.0%, slowest")->role, TM_ROLE_BAD);
    assert_int_equal(tipped(&f, "gpu:0: 1.00 ns, -50.0%")->role, TM_ROLE_SERIES);
    assert_true(says(&f, "mean 2.00 ns"));
    tear_down(&f);
    draw(&f, TM_CHART_BALANCE, BALANCE("good", ", {'device': 'vm/gpu:1', 'compute_ps': 1001}"));
    assert_int_equal(tipped(&f, "gpu:1: 1.00 ns, 0%, slowest")->role, TM_ROLE_SERIES);
    tear_down(&f);
    assert_int_equal(count_in(BALANCE("bad", ""), TM_CHART_BALANCE), 0); /* one device */
}

static void occupancy_lies_between_its_limits(void **state)
{
    const struct tm_mark *low, *high;
    struct fixture f;

    (void)state;
    draw(&f, TM_CHART_OCCUPANCY,
         "{'kpis': [{'id': 'occupancy', 'good': 50, 'bad': 25}], 'kernels': {'rows': ["
         "{'name': 'gemm', 'occupancy_pct': 12.5, 'mean_ps': 2000000, 'total_ps': 80000000},"
         "{'name': 'copy', 'occupancy_pct': null, 'mean_ps': 2000000, 'total_ps': 80000000},"
         "{'name': 'add', 'occupancy_pct': 100, 'mean_ps': 200000, 'total_ps': 20000000}]}}");
    low = tipped(&f, "gemm: occupancy 12.5%, 2.00 µs each, 80.0 µs in total");
    high = tipped(&f, "add: occupancy 100.0%, 200 ns each, 20.0 µs in total");
    assert_true(low->y > high->y && low->x > high->x && fabs(low->width - 2 * high->width) < 1e-9);
    assert_true(says(&f, "good from 50%") && says(&f, "critical below 25%") && says(&f, "gemm") && says(&f, "10 µs"));
    assert_int_equal(tm_chart_rows(&f.chart), 2);
    tear_down(&f);
}

/* --- what would hide the others --- */

#define STEP(number, length)                                                                                           \
    "{'number': " number ", 'host': 'vm', 'chosen': true, 'period_ps': " length ", 'compute_ps': " length ", "         \
    "'idle_ps': {'host': " length "}}"

static const char long_step[] =
    "{'steps': {'basis': 'period', 'count': 4, 'chosen': 4, 'median_ps': 10000, 'max_ps': "
    "300000, 'list': [" STEP("1", "10000") "," STEP("2", "9000") "," STEP("3", "300000") "," STEP("4", "10000") "]}}";

static void a_long_step_is_cut_with_its_length_beside_it(void **state)
{
    const struct tm_mark *usual, *compute, *idle;
    struct fixture f;
    int breaks = 0;

    (void)state;
    draw(&f, TM_CHART_STEPS, long_step);
    usual = tipped(&f, "step 1, compute: 10.0 ns of 20.0 ns");
    compute = tipped(&f, "step 3, compute: 300 ns of 600 ns");
    idle = tipped(&f, "step 3, idle: host code: 300 ns of 600 ns");
    assert_true(usual->width > 100 && compute->width > usual->width);
    assert_true(fabs(compute->width - idle->width) < 1e-6); /* the parts keep their shares */
    for (size_t i = 0; i < f.chart.marks; i++)
        breaks += f.chart.mark[i].kind == TM_MARK_POLYGON && f.chart.mark[i].role == TM_ROLE_PAPER;
    assert_int_equal(breaks, 2);
    assert_true(says(&f, "600 ns"));
    assert_non_null(strstr(f.chart.caption, "A bar with a break"));
    tear_down(&f);
    draw(&f, TM_CHART_STEP_TIMES, long_step);
    assert_true(says(&f, "300 ns"));
    assert_non_null(strstr(f.chart.caption, "drawn at its top"));
    tear_down(&f);
}

static void gaps_have_round_borders(void **state)
{
    struct fixture f;

    (void)state;
    draw(&f, TM_CHART_GAPS,
         "{'gaps': {'histogram': [{'from_ps': 8388608, 'to_ps': 16777216, 'count': 17, 'total_ps': 231000000},"
         "{'from_ps': 536870912, 'to_ps': 1073741824, 'count': 2, 'total_ps': 1300000000}]}}");
    (void)tipped(&f, "8.4 to 17 µs: 17 gaps, 231 µs");
    (void)tipped(&f, "540 µs to 1.1 ms: 2 gaps, 1.30 ms");
    assert_true(says(&f, "10 µs") && says(&f, "100 µs") && says(&f, "1 ms"));
    tear_down(&f);
}

/* Half a thousand events that change nothing to be seen, and one that does. */
static void only_steps_that_are_seen_are_points(void **state)
{
    struct fixture f;
    char json[1 << 14];
    size_t n, longest = 0;

    (void)state;
    n = (size_t)snprintf(json, sizeof(json),
                         "{'memory': {'allocators': [{'name': 'a', 'peak_bytes': 800000000, "
                         "'timeline': [");
    for (int i = 0; i < 500; i++)
        n += (size_t)snprintf(json + n, sizeof(json) - n, "%s[%d, %d, null]", i ? ", " : "", i * 1000,
                              (i == 250 ? 800000000 : 400000000) + i % 2);
    (void)snprintf(json + n, sizeof(json) - n, "]}]}}");
    draw(&f, TM_CHART_MEMORY, json);
    for (size_t i = 0; i < f.chart.marks; i++)
        if (f.chart.mark[i].kind == TM_MARK_POLYLINE && f.chart.mark[i].point_count > longest)
            longest = f.chart.mark[i].point_count;
    assert_int_equal(longest, 7); /* the start, up, down, the end; each but the first by two */
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_of_one_colour_are_one_box),
        cmocka_unit_test(hosts_share_a_scale_where_their_clocks_agree),
        cmocka_unit_test(exposed_and_hidden_time_add_up),
        cmocka_unit_test(who_is_late_is_named),
        cmocka_unit_test(the_slowest_device_has_the_colour_of_the_judgement),
        cmocka_unit_test(occupancy_lies_between_its_limits),
        cmocka_unit_test(a_long_step_is_cut_with_its_length_beside_it),
        cmocka_unit_test(gaps_have_round_borders),
        cmocka_unit_test(only_steps_that_are_seen_are_points),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
