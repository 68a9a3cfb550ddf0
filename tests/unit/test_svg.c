/* SPDX-License-Identifier: Apache-2.0 */
/* The chart model, its makers and the SVG back end, on summaries made by hand. */
#include "reports/html/html_page.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reports/chart/chart.h"
#include "tests/support/contrast.h"
#include "tests/support/sample_summary.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

static const double width = 760;

/* --- colours --- */

static void every_role_stands_out_from_its_paper(void **state)
{
    const struct tm_colour *paper = &tm_palette[TM_ROLE_PAPER];

    (void)state;
    for (int role = 0; role < TM_ROLE_COUNT; role++) {
        const struct tm_colour *colour = &tm_palette[role];
        const bool is_text =
            (role >= TM_ROLE_GOOD && role <= TM_ROLE_UNKNOWN) || role == TM_ROLE_TEXT || role == TM_ROLE_QUIET;
        const double least = is_text ? 4.5 : 3;

        assert_non_null(colour->name);
        assert_non_null(colour->label);
        if (role == TM_ROLE_AREA || role == TM_ROLE_GRID || role == TM_ROLE_PAPER)
            continue; /* beside a line that carries the meaning */
        if (role >= TM_ROLE_USE_0 && role <= TM_ROLE_USE_4)
            continue; /* steps of a scale: below */
        if (contrast_of(colour->light, paper->light) < least || contrast_of(colour->dark, paper->dark) < least)
            fail_msg("%s: contrast %.2f on light, %.2f on dark", colour->name, contrast_of(colour->light, paper->light),
                     contrast_of(colour->dark, paper->dark));
    }
}

/* In one direction, and told apart in grey as well. */
static void steps_of_use_grow(void **state)
{
    (void)state;
    for (int role = TM_ROLE_USE_0; role <= TM_ROLE_USE_4; role++) {
        const struct tm_colour *before = &tm_palette[role == TM_ROLE_USE_0 ? TM_ROLE_PAPER : role - 1];
        const double least = role == TM_ROLE_USE_0 ? 1.15 : 1.3;
        const struct tm_colour *colour = &tm_palette[role];

        assert_true(contrast_luminance(colour->light) < contrast_luminance(before->light));
        assert_true(contrast_luminance(colour->dark) > contrast_luminance(before->dark));
        if (contrast_of(colour->light, before->light) < least || contrast_of(colour->dark, before->dark) < least)
            fail_msg("%s: %.2f from the one before on light, %.2f on dark", colour->name,
                     contrast_of(colour->light, before->light), contrast_of(colour->dark, before->dark));
    }
}

static void names_of_the_summary_have_roles(void **state)
{
    (void)state;
    assert_int_equal(tm_role_of_cause("device_wait"), TM_ROLE_IDLE_DEVICE_WAIT);
    assert_int_equal(tm_role_of_cause("unrecorded"), TM_ROLE_IDLE_UNRECORDED);
    assert_int_equal(tm_role_of_cause("no such cause"), TM_ROLE_UNKNOWN);
    assert_int_equal(tm_role_of_direction("p2p"), TM_ROLE_COPY_P2P);
    assert_int_equal(tm_role_of_direction(""), TM_ROLE_UNKNOWN);
}

/* --- scales --- */

static void check_labels(const struct tm_axis *axis, const char *const *labels, int count)
{
    char text[48];

    assert_int_equal(tm_axis_ticks(axis), count);
    for (int i = 0; i < count; i++)
        assert_string_equal(tm_axis_label(axis, i, text), labels[i]);
}

static void scales_have_round_steps(void **state)
{
    static const char *const ms[] = { "0", "0.5 ms", "1.0 ms", "1.5 ms", "2.0 ms" };
    static const char *const gib[] = { "0", "32 GiB", "64 GiB", "96 GiB" };
    static const char *const inside[] = { "100 ms", "200 ms", "300 ms", "400 ms", "500 ms" };
    static const char *const numbers[] = { "0", "2", "4", "6", "8" };
    static const char *const pct[] = { "0", "20%", "40%", "60%", "80%", "100%", "120%" };
    struct tm_axis axis;

    (void)state;
    tm_axis_choose(&axis, TM_AXIS_NUMBER, 0, 7.7, 4, false);
    check_labels(&axis, numbers, 5);
    tm_axis_choose(&axis, TM_AXIS_PCT, 0, 104.2, 4, false);
    check_labels(&axis, pct, 7);
    tm_axis_choose(&axis, TM_AXIS_TIME, 0, 1.9e9, 4, false);
    check_labels(&axis, ms, 5);
    tm_axis_choose(&axis, TM_AXIS_BYTES, 0, 80e9, 4, false);
    check_labels(&axis, gib, 4);
    tm_axis_choose(&axis, TM_AXIS_TIME, 100e9, 563.7e9, 6, true);
    check_labels(&axis, inside, 5);
}

static void scales_bear_any_range(void **state)
{
    static const double values[] = { 0, 1, 2.5, 999, 1e6, 1e12, 9.2e18, 1.8e19, 1e30 };
    struct tm_axis axis;
    char text[48];

    (void)state;
    for (int kind = TM_AXIS_TIME; kind <= TM_AXIS_PCT; kind++)
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
            for (size_t j = i; j < sizeof(values) / sizeof(values[0]); j++)
                for (int exact = 0; exact < 2; exact++) {
                    tm_axis_choose(&axis, (enum tm_axis_kind)kind, values[i], values[j], 4, exact);
                    assert_true(tm_axis_ticks(&axis) <= 64);
                    for (int t = 0; t < tm_axis_ticks(&axis); t++)
                        assert_true(strlen(tm_axis_label(&axis, t, text)) < sizeof(text));
                    assert_true(isfinite(tm_axis_place(&axis, values[j])));
                }
}

/* --- charts --- */

struct fixture {
    struct tm_run run;
    struct tm_doc *doc;
    const struct tm_value *summary;
    struct tm_chart chart;
};

static void set_up(struct fixture *f, enum tm_sample_profile which)
{
    test_run_init(&f->run);
    f->doc = tm_sample_summary(&f->run, which);
    assert_non_null(f->doc);
    f->summary = tm_doc_root(f->doc);
    tm_chart_init(&f->chart, &f->run, width);
}

static void tear_down(struct fixture *f)
{
    assert_false(f->chart.failed);
    tm_chart_free(&f->chart);
    tm_doc_free(f->doc);
    assert_ledger_is_even(&f->run);
}

/* Length of all bars of a role, in points along `x` or `y`. */
static double drawn(const struct tm_chart *chart, enum tm_role role, bool along_x)
{
    double sum = 0;
    int depth = 0;

    for (size_t i = 0; i < chart->marks; i++) {
        const struct tm_mark *mark = &chart->mark[i];

        depth += (mark->kind == TM_MARK_OPEN) - (mark->kind == TM_MARK_CLOSE);
        if (mark->kind == TM_MARK_RECT && mark->role == role && depth > 0) /* not the legend */
            sum += along_x ? mark->width : mark->height;
    }
    return sum;
}

static int count_marks(const struct tm_chart *chart, enum tm_mark_kind kind)
{
    int n = 0;

    for (size_t i = 0; i < chart->marks; i++)
        n += chart->mark[i].kind == kind;
    return n;
}

static void charts_without_data_are_left_out(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, TM_SAMPLE_EMPTY);
    for (int kind = 0; kind < TM_CHART_KINDS; kind++) {
        assert_int_equal(tm_charts_count((enum tm_chart_kind)kind, f.summary), 0);
        assert_int_equal(tm_charts_count((enum tm_chart_kind)kind, NULL), 0);
        tm_charts_draw(&f.chart, (enum tm_chart_kind)kind, 0, f.summary);
        assert_int_equal(f.chart.marks, 0);
    }
    tear_down(&f);
    set_up(&f, TM_SAMPLE_CPU);
    assert_int_equal(tm_charts_count(TM_CHART_STEPS, f.summary), 0); /* parts are not recorded */
    assert_int_equal(tm_charts_count(TM_CHART_STEP_TIMES, f.summary), 1);
    tear_down(&f);
    set_up(&f, TM_SAMPLE_GPU);
    for (int kind = 0; kind < TM_CHART_KINDS; kind++)
        assert_int_equal(tm_charts_count((enum tm_chart_kind)kind, f.summary),
                         kind != TM_CHART_ROOFLINE &&
                             kind < TM_CHART_SIDES); /* from there on they are of other documents */
    tear_down(&f);
}

/* A device with 100 TFLOP/s and 1 TB/s: its corner lies at 100 FLOP per byte. */
#define ROOF(rows)                                                                                                     \
    "{'roofline': {'devices': [{'peak_flops': null, 'peak_bandwidth': null}, {'peak_flops': 1e14, 'peak_bandwidth': "  \
    "1e12, 'peak_precision': 'bf16'}]}, 'ops': {'rows': [" rows "]}}"
#define OP(name, intensity, rate, share)                                                                               \
    "{'name': '" name "', 'intensity': " intensity ", 'flop_rate': " rate ", 'self_share_pct': " share                 \
    ", 'self_ps': 1000000, 'roof_pct': 50}"

static const struct tm_mark *find_kind(const struct tm_chart *chart, enum tm_mark_kind kind, int nth)
{
    for (size_t i = 0; i < chart->marks; i++)
        if (chart->mark[i].kind == kind && nth-- == 0)
            return &chart->mark[i];
    fail_msg("there is no such mark");
    return NULL;
}

static int count_text(const struct tm_chart *chart, const char *text)
{
    int n = 0;

    for (size_t i = 0; i < chart->marks; i++)
        n += chart->mark[i].kind == TM_MARK_TEXT && strcmp(tm_chart_text(chart, chart->mark[i].text), text) == 0;
    return n;
}

static void draw_roofline(struct fixture *f, const char *json)
{
    test_run_init(&f->run);
    f->doc = tm_doc_new(&f->run);
    assert_non_null(f->doc);
    test_summary_load(tm_doc_root(f->doc), json);
    f->summary = tm_doc_root(f->doc);
    tm_chart_init(&f->chart, &f->run, width);
    tm_charts_draw(&f->chart, TM_CHART_ROOFLINE, 0, f->summary);
}

static void operations_stand_below_the_roof(void **state)
{
    struct fixture f;
    const struct tm_point *corner;
    const struct tm_mark *dot;

    (void)state;
    draw_roofline(&f, ROOF(OP("at_the_corner", "100", "1e14", "64") ", " OP("lost", "10", "1e12", "1") ", " OP(
                          "no_cost", "null", "null", "1") ", " OP("far_away", "1e30", "1e14",
                                                                  "1") ", " OP("nothing", "0", "0", "1")));
    assert_int_equal(tm_charts_count(TM_CHART_ROOFLINE, f.summary), 1);
    assert_int_equal(count_marks(&f.chart, TM_MARK_DOT), 2);
    assert_int_equal(tm_chart_rows(&f.chart), 2);
    assert_int_equal(count_marks(&f.chart, TM_MARK_POLYLINE), 1);
    corner = &f.chart.point[find_kind(&f.chart, TM_MARK_POLYLINE, 0)->point_first + 1];
    dot = find_kind(&f.chart, TM_MARK_DOT, 0);
    assert_true(fabs(dot->x - corner->x) < 0.01 && fabs(dot->y - corner->y) < 0.01);
    assert_true(dot->width > find_kind(&f.chart, TM_MARK_DOT, 1)->width); /* more time, larger */
    dot = find_kind(&f.chart, TM_MARK_DOT, 1);
    assert_true(dot->x < corner->x && dot->y > corner->y);
    assert_int_equal(count_text(&f.chart, "lost"), 1);
    assert_int_equal(count_text(&f.chart, "100 TFLOP/s, bf16"), 1);
    tear_down(&f);
}

static void names_of_dots_do_not_cover_others(void **state)
{
    struct fixture f;

    (void)state;
    draw_roofline(&f, ROOF(OP("one", "50", "1e12", "5") ", " OP("two", "50.1", "1.01e12",
                                                                "5") ", " OP("three", "50.2", "1.02e12", "5")));
    assert_int_equal(count_marks(&f.chart, TM_MARK_DOT), 3);
    assert_true(count_text(&f.chart, "one") + count_text(&f.chart, "two") + count_text(&f.chart, "three") <= 2);
    tear_down(&f);
}

static void without_peaks_or_costs_there_is_no_roofline(void **state)
{
    static const char *const summaries[] = {
        "{'roofline': {'devices': []}, 'ops': {'rows': [" OP("a", "1", "1e12", "5") "]}}",
        "{'roofline': null, 'ops': {'rows': [" OP("a", "1", "1e12", "5") "]}}",
        "{'roofline': {'devices': [{'peak_flops': 0, 'peak_bandwidth': 1e12}]}, 'ops': {'rows': [" OP("a", "1", "1e12",
                                                                                                      "5") "]}}",
        ROOF(""),
        ROOF(OP("a", "null", "null", "5")),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(summaries) / sizeof(summaries[0]); i++) {
        struct fixture f;

        draw_roofline(&f, summaries[i]);
        assert_int_equal(tm_charts_count(TM_CHART_ROOFLINE, f.summary), 0);
        assert_int_equal(f.chart.marks, 0);
        tear_down(&f);
    }
}

static void parts_of_a_bar_have_lengths_by_their_time(void **state)
{
    struct fixture f;
    double compute, idle;

    (void)state;
    set_up(&f, TM_SAMPLE_TPU);
    tm_charts_draw(&f.chart, TM_CHART_STEPS, 0, f.summary);
    compute = drawn(&f.chart, TM_ROLE_COMPUTE, true);
    idle = drawn(&f.chart, TM_ROLE_IDLE_INPUT, true);
    /* 6 ms of compute to 0.5 ms of input in each step; a bar is up to a seam of 0.6 points shorter
     */
    assert_true(fabs((compute + 4 * 0.6) / (idle + 4 * 0.6) - 12) < 0.01);
    assert_int_equal(tm_chart_rows(&f.chart), 4);
    tear_down(&f);
}

static void scopes_are_as_wide_as_their_share(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, TM_SAMPLE_GPU);
    tm_charts_draw(&f.chart, TM_CHART_SCOPES, 0, f.summary);
    assert_int_equal(tm_chart_rows(&f.chart), 5);
    /* two boxes of 650 ms in 1050 ms, with a seam of 1 point each */
    assert_true(fabs(drawn(&f.chart, TM_ROLE_PASS_BACKWARD, true) - 2 * (width * 650 / 1050 - 1)) < 0.01);
    tear_down(&f);
}

static void bars_never_leave_the_drawing(void **state)
{
    (void)state;
    for (int which = 0; which < TM_SAMPLES; which++) {
        struct fixture f;

        set_up(&f, (enum tm_sample_profile)which);
        for (int kind = 0; kind < TM_CHART_KINDS; kind++) {
            const size_t count = tm_charts_count((enum tm_chart_kind)kind, f.summary);

            for (size_t c = 0; c < count; c++) {
                tm_charts_draw(&f.chart, (enum tm_chart_kind)kind, c, f.summary);
                assert_true(f.chart.title[0] && f.chart.caption[0]);
                assert_true(f.chart.marks > 0 && f.chart.height > 0 && tm_chart_rows(&f.chart) > 0);
                assert_int_equal(count_marks(&f.chart, TM_MARK_OPEN), count_marks(&f.chart, TM_MARK_CLOSE));
                for (size_t i = 0; i < f.chart.marks; i++) {
                    const struct tm_mark *mark = &f.chart.mark[i];

                    assert_true(isfinite(mark->x) && isfinite(mark->y));
                    assert_true(mark->x >= -0.01 && mark->x <= width + 0.01);
                    assert_true(mark->y >= -0.01 && mark->y <= f.chart.height + 0.01);
                    if (mark->kind == TM_MARK_RECT)
                        assert_true(mark->width > 0 && mark->height >= 0 && mark->x + mark->width <= width + 0.01 &&
                                    mark->y + mark->height <= f.chart.height + 0.01);
                }
            }
        }
        tear_down(&f);
    }
}

static void many_steps_are_sampled_and_the_slowest_is_kept(void **state)
{
    struct fixture f;
    bool found = false;

    (void)state;
    set_up(&f, TM_SAMPLE_HOSTILE); /* 699 chosen steps; step 21 compiles */
    tm_charts_draw(&f.chart, TM_CHART_STEPS, 0, f.summary);
    assert_true(tm_chart_rows(&f.chart) <= TM_CHART_BARS_MOST);
    assert_non_null(
        strstr(f.chart.caption,
               "Each bar is the slowest of 12 consecutive steps, labeled by the first, out of 699 listed steps."));
    for (size_t row = 0; row < tm_chart_rows(&f.chart); row++)
        found |=
            strcmp(tm_chart_text(&f.chart, f.chart.table.cell[row * (size_t)f.chart.table.columns]), "step 21") == 0;
    assert_true(found);
    tear_down(&f);
}

static void of_several_devices_the_bar_says_which(void **state)
{
    static const char json[] =
        "{'devices':[{'id':'h/gpu:0'},{'id':'h/gpu:1'}],'input':{'hosts':['h']},'steps':{'count':2,'chosen':2,'list':["
        "{'number':1,'chosen':true,'period_ps':1000000,'compute_ps':600000,'idle_ps':{'input':400000},'device':'h/"
        "gpu:1'},"
        "{'number':2,'chosen':true,'period_ps':2000000,'compute_ps':2000000,'compile':true,'device':'h/gpu:0'}]}}";
    struct fixture f;

    (void)state;
    test_run_init(&f.run);
    f.doc = tm_doc_new(&f.run);
    assert_non_null(f.doc);
    test_summary_load(tm_doc_root(f.doc), json);
    f.summary = tm_doc_root(f.doc);
    tm_chart_init(&f.chart, &f.run, width);
    tm_charts_draw(&f.chart, TM_CHART_STEPS, 0, f.summary);
    assert_int_equal(count_text(&f.chart, "1.00 \xc2\xb5s, gpu:1"), 1);
    assert_int_equal(count_text(&f.chart, "2.00 \xc2\xb5s, compiles, gpu:0"), 1);
    tear_down(&f);
}

/* Devices that do not run together are groups, of which each has a row for each step. */
static void rows_of_several_groups_are_no_steps(void **state)
{
    enum { STEPS = 100, GROUPS = 2 };
    static char json[32768];
    struct fixture f;
    int at;

    (void)state;
    at = snprintf(json, sizeof(json), "{'devices':[{'id':'a'},{'id':'b'}],'steps':{'count':%d,'chosen':%d,'list':[",
                  STEPS, STEPS);
    for (int i = 0; i < STEPS * GROUPS; i++)
        at += snprintf(json + at, sizeof(json) - (size_t)at,
                       "%s{'number':%d,'chosen':true,'period_ps':1000,'compute_ps':600,'idle_ps':{'input':400}}",
                       i ? "," : "", i / GROUPS);
    (void)snprintf(json + at, sizeof(json) - (size_t)at, "]}}");
    test_run_init(&f.run);
    f.doc = tm_doc_new(&f.run);
    assert_non_null(f.doc);
    test_summary_load(tm_doc_root(f.doc), json);
    f.summary = tm_doc_root(f.doc);
    tm_chart_init(&f.chart, &f.run, width);
    tm_charts_draw(&f.chart, TM_CHART_STEPS, 0, f.summary);
    assert_non_null(strstr(f.chart.caption, "consecutive ones, labeled by the first, out of 200: one for each step and "
                                            "device group. With several devices, the bar shows the "
                                            "busiest device in the step, which is named."));
    tear_down(&f);
}

/* Ids of the devices that the chart draws, in its order. */
static void check_devices(const char *json, size_t rows, const char *first, const char *caption)
{
    struct fixture f;

    test_run_init(&f.run);
    f.doc = tm_doc_new(&f.run);
    assert_non_null(f.doc);
    test_summary_load(tm_doc_root(f.doc), json);
    f.summary = tm_doc_root(f.doc);
    tm_chart_init(&f.chart, &f.run, width);
    tm_charts_draw(&f.chart, TM_CHART_DEVICES, 0, f.summary);
    assert_int_equal(tm_chart_rows(&f.chart), rows);
    assert_string_equal(tm_chart_text(&f.chart, f.chart.table.cell[0]), first);
    if (caption)
        assert_non_null(strstr(f.chart.caption, caption));
    tear_down(&f);
}

static void of_many_devices_the_least_used_are_drawn(void **state)
{
    char json[8192] = "{'devices':[";

    (void)state;
    for (int i = 0; i < 40; i++) /* device 0 is used most */
        (void)snprintf(json + strlen(json), sizeof(json) - strlen(json),
                       "%s{'id':'d%d','compute_ps':%d000,'idle_ps':1000,'utilization_pct':%d}", i ? "," : "", i, 60 - i,
                       90 - i);
    strcat(json, "]}");
    check_devices(json, TM_CHART_DEVICES_MOST, "d8", "The 32 least utilized of 40 devices are shown.");
    check_devices("{'devices':[{'id':'only','compute_ps':5,'idle_ps':5,'utilization_pct':50}]}", 1, "only", NULL);
}

static void idle_that_has_no_cause_is_not_lost(void **state)
{
    struct fixture f;

    (void)state;
    test_run_init(&f.run);
    f.doc = tm_doc_new(&f.run);
    assert_non_null(f.doc);
    test_summary_load(tm_doc_root(f.doc),
                      "{'devices':[{'id':'d','compute_ps':100000,'idle_ps':100000,'gaps':{'by_cause':"
                      "{'launch':{'count':1,'total_ps':50000}}}}]}");
    tm_chart_init(&f.chart, &f.run, width);
    tm_charts_draw(&f.chart, TM_CHART_DEVICES, 0, tm_doc_root(f.doc));
    assert_true(fabs(drawn(&f.chart, TM_ROLE_IDLE, true) - drawn(&f.chart, TM_ROLE_IDLE_LAUNCH, true)) < 0.01);
    assert_true(fabs(drawn(&f.chart, TM_ROLE_COMPUTE, true) - 2 * drawn(&f.chart, TM_ROLE_IDLE, true) - 0.6) < 0.01);
    tear_down(&f);
}

static void memory_has_its_capacity_line_and_its_peak(void **state)
{
    struct fixture f;
    int dashed = 0;

    (void)state;
    set_up(&f, TM_SAMPLE_GPU);
    tm_charts_draw(&f.chart, TM_CHART_MEMORY, 0, f.summary);
    for (size_t i = 0; i < f.chart.marks; i++)
        dashed += f.chart.mark[i].kind == TM_MARK_LINE && f.chart.mark[i].dashed;
    assert_int_equal(dashed, 1);
    assert_int_equal(count_marks(&f.chart, TM_MARK_DOT), 1);
    assert_string_equal(f.chart.title, "Memory in use: GPU_0_bfc");
    tear_down(&f);
}

/* --- SVG
 * -------------------------------------------------------------------------------------------------
 */

static char *svg_of(const struct tm_chart *chart)
{
    struct tm_htmlw w = { .depth = 0 };
    char *text = NULL;
    size_t bytes = 0;

    w.to = open_memstream(&text, &bytes);
    assert_non_null(w.to);
    tm_svg_write(&w, chart, "w720");
    assert_int_equal(w.depth, 0);
    assert_int_equal(fclose(w.to), 0);
    return text;
}

static void each_mark_becomes_one_element(void **state)
{
    struct tm_run run;
    struct tm_chart chart;
    char *svg;

    (void)state;
    test_run_init(&run);
    tm_chart_init(&chart, &run, 400);
    (void)snprintf(chart.title, sizeof(chart.title), "<Title>");
    chart.height = 100.5;
    tm_chart_open(&chart, "a \"tip\" & more");
    tm_chart_rect(&chart, TM_ROLE_COMPUTE, 1, 2.5, 30.256, 4);
    tm_chart_close(&chart);
    tm_chart_dashed(&chart, TM_ROLE_QUIET, 0, 1, 10, 1);
    tm_chart_dot(&chart, TM_ROLE_BAD, 5, 6, 2);
    tm_chart_path(&chart, TM_MARK_POLYLINE, TM_ROLE_SERIES, 1.2);
    tm_chart_point(&chart, 0, 0);
    tm_chart_point(&chart, -1.5, 2);
    tm_chart_string(&chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_END, 7, 8, "x < y\x01");
    /* what most marks are needs no class */
    tm_chart_line(&chart, TM_ROLE_GRID, 0, 1, 10, 1);
    tm_chart_line(&chart, TM_ROLE_QUIET, 0, 1, 10, 1);
    tm_chart_dot(&chart, TM_ROLE_SERIES, 5, 6, 2);
    tm_chart_string(&chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_START, 7, 8, "a");
    tm_chart_string(&chart, TM_ROLE_QUIET, TM_TEXT_STRONG, TM_ANCHOR_START, 7, 8, "b");
    tm_chart_string(&chart, TM_ROLE_BAD, TM_TEXT_STRONG, TM_ANCHOR_START, 7, 8, "c");
    svg = svg_of(&chart);
    assert_string_equal(svg, "<svg class=\"w720\" role=\"img\" aria-label=\"&lt;Title&gt;\" viewBox=\"0,0 400,100.5 \">"
                             "<g><title>a &quot;tip&quot; &amp; more</title>"
                             "<rect class=\"f-compute\" x=\"1\" y=\"2.5\" width=\"30.26\" height=\"4\"/></g>"
                             "<line class=\"s-quiet\" x1=\"0\" y1=\"1\" x2=\"10\" y2=\"1\" stroke-width=\"1\" "
                             "stroke-dasharray=\"5 3\"/>"
                             "<circle class=\"f-bad\" cx=\"5\" cy=\"6\" r=\"2\"/>"
                             "<polyline class=\"s-series\" stroke-width=\"1.2\" points=\"0,0 -1.5,2 \"/>"
                             "<text class=\"f-text\" x=\"7\" y=\"8\" text-anchor=\"end\">x &lt; "
                             "y\\u0001</text>"
                             "<line x1=\"0\" y1=\"1\" x2=\"10\" y2=\"1\"/>"
                             "<line class=\"s-quiet\" x1=\"0\" y1=\"1\" x2=\"10\" y2=\"1\"/>"
                             "<circle cx=\"5\" cy=\"6\" r=\"2\"/>"
                             "<text x=\"7\" y=\"8\">a</text>"
                             "<text class=\"t-strong\" x=\"7\" y=\"8\">b</text>"
                             "<text class=\"t-strong f-bad\" x=\"7\" y=\"8\">c</text></svg>\n");
    free(svg);
    tm_chart_free(&chart);
    assert_ledger_is_even(&run);
}

static void hostile_names_stay_texts_in_svg(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, TM_SAMPLE_HOSTILE);
    for (int kind = 0; kind < TM_CHART_KINDS; kind++) {
        char *svg;

        if (tm_charts_count((enum tm_chart_kind)kind, f.summary) == 0)
            continue;
        tm_charts_draw(&f.chart, (enum tm_chart_kind)kind, 0, f.summary);
        svg = svg_of(&f.chart);
        assert_null(strstr(svg, "<img"));
        assert_null(strstr(svg, "<script"));
        assert_null(strstr(svg, "\x1b"));
        free(svg);
    }
    tear_down(&f);
}

static tm_status draw_all(struct tm_run *run)
{
    struct tm_doc *doc = tm_sample_summary(run, TM_SAMPLE_GPU);
    tm_status status = doc ? TM_OK : run->error.status;

    for (int kind = 0; kind < TM_CHART_KINDS && status == TM_OK; kind++) {
        struct tm_chart chart;

        tm_chart_init(&chart, run, width);
        tm_charts_draw(&chart, (enum tm_chart_kind)kind, 0, tm_doc_root(doc));
        status = run->error.status;
        tm_chart_free(&chart);
    }
    tm_doc_free(doc);
    return status;
}

static void refused_memory_is_a_clean_error(void **state)
{
    (void)state;
    refuse_each_request(draw_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_role_stands_out_from_its_paper),
        cmocka_unit_test(steps_of_use_grow),
        cmocka_unit_test(names_of_the_summary_have_roles),
        cmocka_unit_test(scales_have_round_steps),
        cmocka_unit_test(scales_bear_any_range),
        cmocka_unit_test(charts_without_data_are_left_out),
        cmocka_unit_test(operations_stand_below_the_roof),
        cmocka_unit_test(names_of_dots_do_not_cover_others),
        cmocka_unit_test(without_peaks_or_costs_there_is_no_roofline),
        cmocka_unit_test(parts_of_a_bar_have_lengths_by_their_time),
        cmocka_unit_test(scopes_are_as_wide_as_their_share),
        cmocka_unit_test(bars_never_leave_the_drawing),
        cmocka_unit_test(many_steps_are_sampled_and_the_slowest_is_kept),
        cmocka_unit_test(rows_of_several_groups_are_no_steps),
        cmocka_unit_test(of_several_devices_the_bar_says_which),
        cmocka_unit_test(of_many_devices_the_least_used_are_drawn),
        cmocka_unit_test(idle_that_has_no_cause_is_not_lost),
        cmocka_unit_test(memory_has_its_capacity_line_and_its_peak),
        cmocka_unit_test(each_mark_becomes_one_element),
        cmocka_unit_test(hostile_names_stay_texts_in_svg),
        cmocka_unit_test(refused_memory_is_a_clean_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
