/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/gates/gates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pipeline/doc/doc.h"
#include "reports/statistics/statistics.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* 20 steps around 100 ms, all different; the median is between 99.5 and 100.5 ms. */
static const char run_json[] =
    "{'input': {'run': 'today', 'partial': false, 'files': [{'xxh3': '00000000000000a1'}, {'xxh3': "
    "'00000000000000a2'}]},"
    " 'environment': {'devices': [{'model': 'GPU 1'}]},"
    " 'steps': {'source': 'host', 'basis': 'period', 'median_ps': 100000000000, 'mean_ps': "
    "100000000000,"
    "  'p90_ps': 110000000000, 'module': null, 'parts': {'idle_ps': {'launch': 3000000000}},"
    "  'samples_ps': [93500000000, 100500000000, 107500000000, 94500000000, 101500000000, 108500000000, 95500000000, "
    "102500000000, 109500000000, 96500000000, 103500000000, 90500000000, 97500000000, 104500000000, "
    "91500000000, 98500000000, 105500000000, 92500000000, 99500000000, 106500000000]},"
    " 'devices': [{'id': 'vm/gpu:0', 'busy_ps': 70000000000, 'utilization_pct': 70, 'hidden_ps': "
    "null},"
    "  {'id': 'vm/gpu:1', 'busy_ps': 90000000000, 'utilization_pct': 90, 'hidden_ps': null}],"
    " 'compile': {'inside_steps': {'count': 0}},"
    " 'occupancy': {'limiters': {'registers': 5000}},"
    " 'transfers': {'by_direction': [{'direction': 'h2d', 'bytes': 4096, 'mean_bandwidth': "
    "20000000000}]},"
    " 'ops': {'rows': [{'name': 'fusion.3', 'self_ps': 8000000000, 'flop_rate': 5e12}, {'name': "
    "'a->b', 'self_ps': 1}]},"
    " 'memory': null, 'unused': [],"
    " 'kpis': [{'id': 'device_utilization', 'title': 'Device utilization', 'value': 80, 'unit': "
    "'%', 'good': 80, 'bad': 50},"
    "  {'id': 'kernel_duration', 'title': 'Kernel duration', 'value': 1.5, 'unit': 'ms', 'good': "
    "1, 'bad': 0.1},"
    "  {'id': 'occupancy', 'title': 'Occupancy', 'value': null, 'unit': '%', 'why': 'occupancy "
    "applies only to GPUs'},"
    "  {'id': 'step_time', 'title': 'Step time', 'value': 100, 'unit': 'ms'}],"
    " 'why': {'memory': 'the profile has no memory events'}}";

enum { DOCS_MOST = 8 };

struct rig {
    struct tm_run run;
    struct tm_doc *doc[DOCS_MOST];
    size_t docs;
    struct tm_compared_run compared[DOCS_MOST]; /* the input, then baselines */
    struct tm_gates *gates;
    struct tm_doc *result;
    size_t failed;
};

static void rig_add(struct rig *rig, const char *patch)
{
    struct tm_doc *doc = tm_doc_new(&rig->run);

    assert_non_null(doc);
    test_summary_load_changed(tm_doc_root(doc), run_json, patch);
    rig->doc[rig->docs] = doc;
    rig->compared[rig->docs] =
        (struct tm_compared_run){ .summary = tm_doc_root(doc), .path = rig->docs ? "base.json" : "new.json" };
    rig->docs++;
}

static void rig_init(struct rig *rig, const char *patch)
{
    memset(rig, 0, sizeof(*rig));
    test_run_init(&rig->run);
    rig_add(rig, patch);
}

static void rig_end_gates(struct rig *rig)
{
    if (rig->result)
        tm_doc_free(rig->result);
    tm_gates_free(rig->gates);
    rig->result = NULL;
    rig->gates = NULL;
    memset(&rig->run.error, 0, sizeof(rig->run.error));
}

static void rig_free(struct rig *rig)
{
    rig_end_gates(rig);
    for (size_t i = 0; i < rig->docs; i++)
        tm_doc_free(rig->doc[i]);
    assert_ledger_is_even(&rig->run);
}

/* A file whose path can be opened as often as wanted.  ' stands for ". */
static const char *path_of_text(const char *json, size_t length)
{
    static char path[64];
    static int fd = -1;

    if (fd >= 0)
        (void)close(fd);
    fd = memfd_create("gates", 0);
    assert_true(fd >= 0);
    for (size_t i = 0; i < length; i++) {
        const char c = json[i] == '\'' ? '"' : json[i];

        assert_int_equal(write(fd, &c, 1), 1);
    }
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return path;
}

static tm_status judge(struct rig *rig)
{
    const struct tm_comparison_side baseline = { "base", rig->compared + 1, rig->docs - 1 };

    rig->result = tm_doc_new(&rig->run);
    return tm_gates_judge(&rig->run, rig->result, rig->gates, rig->compared, rig->docs > 1 ? &baseline : NULL,
                          &rig->failed);
}

static tm_status judge_file(struct rig *rig, const char *json)
{
    rig_end_gates(rig);
    const tm_status st = tm_gates_read(&rig->run, &rig->gates, path_of_text(json, strlen(json)));

    return st == TM_OK ? judge(rig) : st;
}

static tm_status judge_expression(struct rig *rig, const char *expression)
{
    rig_end_gates(rig);
    const tm_status st = tm_gates_parse(&rig->run, &rig->gates, &expression, 1);

    return st == TM_OK ? judge(rig) : st;
}

static const struct tm_value *row(const struct rig *rig, size_t number)
{
    return tm_at(tm_get(tm_doc_root(rig->result), "gates"), number);
}

static const char *text(const struct rig *rig, size_t number, const char *key)
{
    return tm_text(tm_get(row(rig, number), key));
}

static void assert_has(const char *whole, const char *part)
{
    if (!strstr(whole, part))
        fail_msg("'%s' does not have '%s'", whole, part);
}

static void assert_status(struct rig *rig, const char *expression, const char *status)
{
    if (judge_expression(rig, expression) != TM_OK)
        fail_msg("%s: %s", expression, rig->run.error.what);
    if (strcmp(text(rig, 0, "status"), status) != 0)
        fail_msg("%s is %s (%s)", expression, text(rig, 0, "status"), text(rig, 0, "why"));
    assert_int_equal(rig->failed, strcmp(status, "failed") == 0);
}

/* --- limits --- */

static void limits_are_numbers_with_units(void **state)
{
    static const struct {
        const char *text;
        double number;
        enum tm_limit_unit kind;
    } good[] = {
        { "150ms", 150e9, TM_IN_TIME },       { "1.5 s", 1.5e12, TM_IN_TIME }, { "7ps", 7, TM_IN_TIME },
        { "+20us", 20e6, TM_IN_TIME },        { "-3ns", -3000, TM_IN_TIME },   { "20\xc2\xb5s", 20e6, TM_IN_TIME },
        { "90%", 90, TM_IN_PERCENT },         { "0.5 %", 0.5, TM_IN_PERCENT }, { "3GiB", 3221225472, TM_IN_BYTES },
        { "1.5KiB", 1536, TM_IN_BYTES },      { "2M", 2097152, TM_IN_BYTES },  { "17B", 17, TM_IN_BYTES },
        { "900GB/s", 9e11, TM_IN_BYTE_RATE }, { "1.5x", 1.5, TM_IN_FACTOR },   { "12", 12, TM_IN_BARE },
        { "1e3", 1000, TM_IN_BARE },          { "-0.25", -0.25, TM_IN_BARE },  { "60TFLOP/s", 6e13, TM_IN_FLOP_RATE },
    };
    static const char *const bad[] = { "",     "ms",    "-",     "1.",      ".5",    "5 parsecs", "1e999",
                                       "0x10", "nan",   "inf",   "1,5ms",   "1GB",   "--5",       "5%%",
                                       "5ms ", "1e5ms", "0.1ps", "9e9999%", "1 000", "200000000s" };
    struct tm_gate_limit limit;
    struct tm_wrong wrong;

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        if (!tm_gate_limit_read(good[i].text, &limit, &wrong))
            fail_msg("'%s': %s", good[i].text, wrong.reason);
        assert_true(limit.number == good[i].number);
        assert_int_equal(limit.kind, good[i].kind);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        wrong.reason = NULL;
        if (tm_gate_limit_read(bad[i], &limit, &wrong))
            fail_msg("'%s' is no limit", bad[i]);
        assert_non_null(wrong.reason);
    }
}

static void limits_go_into_the_unit_of_the_figure(void **state)
{
    static const struct {
        const char *text, *unit;
        double number; /* NaN = refused */
    } cases[] = {
        { "150us", "ms", 0.15 }, { "2s", "ps", 2e12 }, { "90%", "%", 90 },         { "90", "%", 90 },
        { "12", "count", 12 },   { "12", "", 12 },     { "1KiB", "bytes", 1024 },  { "1GB/s", "bytes/s", 1e9 },
        { "90%", "ps", NAN },    { "150", "ps", NAN }, { "5ms", "%", NAN },        { "5ms", "count", NAN },
        { "5", "bytes", NAN },   { "5%", "", NAN },    { "1GiB", "bytes/s", NAN },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tm_gate_limit limit;
        struct tm_wrong wrong = { NULL, NULL };
        double number;

        assert_true(tm_gate_limit_read(cases[i].text, &limit, &wrong));
        const bool fits = tm_gate_limit_in_unit(limit, cases[i].unit, &number, &wrong);

        assert_int_equal(fits, !isnan(cases[i].number));
        assert_true(fits ? number == cases[i].number : wrong.reason && wrong.hint);
    }
    double number;

    assert_true(tm_gate_limit_in_unit((struct tm_gate_limit){ 5, TM_IN_NUMBER }, "ms", &number, NULL));
    assert_true(number == 5); /* a JSON number is in the figure's own unit */
}

/* --- figures --- */

static void figures_are_found_by_path(void **state)
{
    static const struct {
        const char *path;
        enum tm_figure_state state;
        double value;
        const char *unit, *other; /* place, or reason */
    } cases[] = {
        { "steps.median_ps", TM_FIGURE_KNOWN, 100e9, "ps", "steps.median_ps" },
        { "steps.parts.idle_ps.launch", TM_FIGURE_KNOWN, 3e9, "ps", NULL },
        { "steps.samples_ps[1]", TM_FIGURE_KNOWN, 100.5e9, "ps", NULL },
        { "occupancy.limiters.registers", TM_FIGURE_KNOWN, 5000, "ps", NULL },
        { "transfers.by_direction[0].bytes", TM_FIGURE_KNOWN, 4096, "bytes", NULL },
        { "transfers.by_direction[0].mean_bandwidth", TM_FIGURE_KNOWN, 2e10, "bytes/s", NULL },
        { "ops.rows[fusion.3].self_ps", TM_FIGURE_KNOWN, 8e9, "ps", NULL },
        { "ops.rows[fusion.3].flop_rate", TM_FIGURE_KNOWN, 5e12, "FLOP/s", NULL },
        { "kpis[kernel_duration].value", TM_FIGURE_KNOWN, 1.5, "ms", NULL },
        { "compile.inside_steps.count", TM_FIGURE_KNOWN, 0, "", NULL },
        { "input.partial", TM_FIGURE_KNOWN, 0, "", NULL },
        { "devices[vm/gpu:1].busy_ps", TM_FIGURE_KNOWN, 90e9, "ps", NULL },
        { "devices[*].busy_ps", TM_FIGURE_KNOWN, 90e9, "ps", "devices[vm/gpu:1].busy_ps" },
        { "steps.parts.idle_ps[*]", TM_FIGURE_KNOWN, 3e9, "ps", "steps.parts.idle_ps[launch]" },
        { "devices[*].hidden_ps", TM_FIGURE_NULL, 0, "ps", "" },
        { "kpis[occupancy].value", TM_FIGURE_NULL, 0, "%", "occupancy applies only to GPUs" },
        { "memory", TM_FIGURE_NULL, 0, "", "the profile has no memory events" },
        { "memory.allocators[*].peak_bytes", TM_FIGURE_NULL, 0, "bytes", "the profile has no memory events" },
        { "memory.allocators[*].allocated_bytes_per_s", TM_FIGURE_NULL, 0, "bytes/s", NULL },
        { "unused[*].name", TM_FIGURE_NULL, 0, "", "there are none" },
        { "devices[9].busy_ps", TM_FIGURE_NO_ELEMENT, 0, NULL, NULL },
        { "ops.rows[fusion.4].self_ps", TM_FIGURE_NO_ELEMENT, 0, NULL, NULL },
        { "devices[*].busi_ps", TM_FIGURE_WRONG, 0, NULL, NULL },
        { "steps.median", TM_FIGURE_WRONG, 0, NULL, NULL },
        { "steps.median_ps.x", TM_FIGURE_WRONG, 0, NULL, NULL },
        { "devices[", TM_FIGURE_WRONG, 0, NULL, NULL },
        { "devices[]", TM_FIGURE_NO_ELEMENT, 0, NULL, NULL },
        { "..", TM_FIGURE_WRONG, 0, NULL, NULL },
        { "", TM_FIGURE_WRONG, 0, NULL, NULL },
        { "steps.median_ps[*]", TM_FIGURE_NULL, 0, NULL, NULL },
        { "steps", TM_FIGURE_OTHER, 0, NULL, NULL },
        { "steps.samples_ps", TM_FIGURE_OTHER, 0, NULL, NULL },
        { "kpis[occupancy].title", TM_FIGURE_OTHER, 0, NULL, NULL },
    };
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tm_figure f;

        tm_figure_find(&f, rig.compared[0].summary, cases[i].path, TM_FIGURE_MOST);
        if (f.state != cases[i].state)
            fail_msg("'%s' is %d", cases[i].path, f.state);
        assert_true(f.value == cases[i].value);
        if (cases[i].unit)
            assert_string_equal(f.unit, cases[i].unit);
        if (cases[i].other)
            assert_string_equal(f.state == TM_FIGURE_NULL ? f.why : f.place, cases[i].other);
    }
    struct tm_figure least;

    tm_figure_find(&least, rig.compared[0].summary, "devices[*].busy_ps", TM_FIGURE_LEAST);
    assert_true(least.value == 70e9);
    assert_string_equal(least.place, "devices[vm/gpu:0].busy_ps");
    rig_free(&rig);
}

static void a_wrong_name_is_told_with_the_nearest_ones(void **state)
{
    static const struct {
        const char *expression, *hint;
    } cases[] = {
        { "steps.medain_ps>1ms", "did you mean steps.median_ps" },
        { "median_ps>1ms", "did you mean steps.median_ps" },
        { "step.median_ps>1ms", "did you mean steps.median_ps" },
        { "step_tme>1ms", "did you mean step_time?" },
        { "utilisation>1%", "did you mean utilization?" },
        { "device_utilisation>1%", "did you mean device_utilization" },
        { "kpis[device_utilisation].value>1%", "did you mean kpis[device_utilization].value?" },
        { "ops.rows[fusion.4].self_ps>1ms", "did you mean ops.rows[fusion.3].self_ps" },
        { "devices[vm/gpu:2].busy_ps>1ms", "devices[vm/gpu:0].busy_ps" },
        { "devices[*].util>1%", "did you mean devices[*].utilization_pct?" },
        { "steps.samples_ps>1ms", "did you mean" },
        { "zebra>1", "figures are paths in summary.json, such as steps.median_ps" },
        { "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"
          "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"
          "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz>1",
          "figures are paths in summary.json, such as steps.median_ps" },
    };
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(judge_expression(&rig, cases[i].expression), TM_ERR_USAGE);
        assert_int_equal(rig.run.error.status, TM_ERR_USAGE);
        assert_has(rig.run.error.hint, cases[i].hint);
    }
    rig_free(&rig);
}

/* --- rules, by hand --- */

static void limits_hold_at_the_limit(void **state)
{
    static const struct {
        const char *expression, *status;
    } cases[] = {
        { "steps.median_ps>100ms", "passed" },
        { "steps.median_ps>=100ms", "failed" },
        { "steps.median_ps>99.9ms", "failed" },
        { "steps.median_ps<100ms", "passed" },
        { "steps.median_ps<=100ms", "failed" },
        { "steps.median_ps < 100.1ms", "failed" },
        { "step_time>0.1s", "passed" },
        { "utilization<80%", "passed" },
        { "utilization<80.5%", "failed" },
        { "device_utilization<80", "passed" },
        { "kernel_duration<1.5ms", "passed" },
        { "kernel_duration<1501us", "failed" },
        { "compile.inside_steps.count>0", "passed" },
        { "compile.inside_steps.count>=0", "failed" },
        { "compile.inside_steps.count!=0", "passed" },
        { "steps.median_ps!=100ms", "passed" },
        { "steps.median_ps!=101ms", "failed" },
        { "devices[*].busy_ps>80ms", "failed" }, /* the second one */
        { "devices[*].busy_ps<80ms", "failed" },
        { "devices[*].busy_ps<70ms", "passed" },
        { "devices[*].busy_ps!=70ms", "failed" },
        { "ops.rows[a->b].self_ps>1ps", "passed" },
        { "ops.rows[a->b].self_ps>=1ps", "failed" },
        { "transfers.by_direction[0].bytes>4KiB", "passed" },
        { "kpis[occupancy].value<50%", "unknown" },
        { "memory.allocators[*].peak_bytes>1GiB", "unknown" },
        { "input.partial!=0", "passed" },
        { "step_time>+5%", "unknown" },
    };
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_status(&rig, cases[i].expression, cases[i].status);
    assert_status(&rig, "kpis[occupancy].value<50%", "unknown");
    assert_string_equal(text(&rig, 0, "why"), "occupancy applies only to GPUs");
    assert_int_equal(tm_int(tm_path(tm_doc_root(rig.result), "counts.unknown")), 1);
    assert_status(&rig, "devices[*].busy_ps>80ms", "failed");
    assert_string_equal(text(&rig, 0, "place"), "devices[vm/gpu:1].busy_ps");
    assert_string_equal(text(&rig, 0, "value_text"), "90.0 ms");
    assert_string_equal(text(&rig, 0, "limit_text"), "80ms");
    assert_true(tm_double(tm_get(row(&rig, 0), "limit")) == 80e9);
    rig_free(&rig);
}

/* Against a baseline of 75 ms busy (the second device 60), utilization 100 %, 0 bytes. */
static void changes_are_held_against_the_baseline(void **state)
{
    static const struct {
        const char *expression, *status;
    } cases[] = {
        { "devices[*].busy_ps>+20%", "passed" }, /* 75 to 90 ms is 20 % */
        { "devices[*].busy_ps>=+20%", "failed" },
        { "devices[*].busy_ps>+19.9%", "failed" },
        { "devices[*].busy_ps>+15ms", "passed" },
        { "devices[*].busy_ps>+14.9ms", "failed" },
        { "devices[*].busy_ps>1.2x", "passed" },
        { "devices[*].busy_ps>1.19x", "failed" },
        { "devices[*].busy_ps<-1%", "passed" },  /* the least one went from 60 to 70 ms */
        { "devices[*].busy_ps<+20%", "failed" }, /* it had to grow */
        { "devices[*].busy_ps<+10%", "passed" },
        { "utilization<-20%", "passed" },
        { "utilization<-19%", "failed" },
        { "utilization<0.8x", "passed" },
        { "utilization<0.81x", "failed" },
        { "transfers.by_direction[0].bytes>+1000%", "failed" }, /* from nothing to something */
        { "transfers.by_direction[0].bytes>+4KiB", "passed" },
        { "compile.inside_steps.count>+0%", "passed" },
        { "compile.inside_steps.count>=+0%", "failed" },
    };
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    rig_add(&rig, "{'input': {'files': [{'xxh3': '00000000000000b1'}]},"
                  " 'devices': [{'id': 'vm/gpu:0', 'busy_ps': 75000000000}, {'id': 'vm/gpu:1', "
                  "'busy_ps': 60000000000}],"
                  " 'transfers': {'by_direction': [{'bytes': 0}]},"
                  " 'kpis': [{'id': 'device_utilization', 'value': 100, 'unit': '%'}]}");
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_status(&rig, cases[i].expression, cases[i].status);
    assert_status(&rig, "ops.rows[fusion.3].self_ps>+1%", "passed");
    assert_status(&rig, "kernel_duration>+1%", "unknown"); /* the baseline has no such row */
    assert_has(text(&rig, 0, "why"), "the baseline does not have it");
    assert_status(&rig, "utilization<50%", "passed");
    assert_true(tm_double(tm_get(row(&rig, 0), "baseline")) == 100); /* shown beside limits too */
    assert_true(tm_double(tm_get(row(&rig, 0), "change_pct")) == -20);
    rig_free(&rig);
}

static void small_effects_do_not_count(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    rig_add(&rig, "{'input': {'files': [{'xxh3': '00000000000000b1'}]},"
                  " 'devices': [{'busy_ps': 89000000000}]}");
    assert_int_equal(judge_file(&rig, "{'gates': [{'figure': 'devices[*].busy_ps', 'max_increase_pct': 0.5,"
                                      " 'min_effect_pct': 2}]}"),
                     TM_OK);
    assert_string_equal(text(&rig, 0, "status"), "passed");
    assert_has(text(&rig, 0, "why"), "changes below 2.0% do not count");
    assert_int_equal(judge_file(&rig, "{'gates': [{'figure': 'devices[*].busy_ps', 'max_increase_pct': '0.5%',"
                                      " 'min_effect_pct': '1%'}]}"),
                     TM_OK);
    assert_string_equal(text(&rig, 0, "status"), "failed");
    rig_free(&rig);
}

/* --- noise --- */

/* A run whose steps are those of run_json times `factor`: 20 of them, or the first few. */
static void add_steps(struct rig *rig, double factor, size_t count, const char *id)
{
    char patch[2048], samples[1024] = "";
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(samples + used, sizeof(samples) - used, "%s%.0f", i ? ", " : "",
                                 factor * (90.5e9 + 1e9 * (double)(i * 7 % count)) + (double)(7 * i));
    (void)snprintf(patch, sizeof(patch),
                   "{'input': {'files': [{'xxh3': '%s'}]}, 'steps': {'median_ps': %.0f, 'samples_ps': [%s]}}", id,
                   factor * 100e9, samples);
    rig_add(rig, patch);
}

static void a_change_of_the_step_time_has_to_be_significant(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    add_steps(&rig, 1 / 1.03, 20, "00000000000000b1"); /* 3 % slower than it, steps vary by 20 % */
    assert_status(&rig, "step_time>+2%", "passed");
    assert_has(text(&rig, 0, "why"), "within noise: p = ");
    assert_true(tm_double(tm_get(row(&rig, 0), "noise_pct")) > 3);
    assert_status(&rig, "kpis[step_time].value>+2%", "passed");
    assert_status(&rig, "steps.p90_ps>+2%", "passed"); /* the same in both */
    assert_status(&rig, "step_time<+4%", "failed");    /* demanded: noise is no excuse */
    rig_free(&rig);

    rig_init(&rig, "{}");
    add_steps(&rig, 1 / 1.2, 20, "00000000000000b1");
    assert_status(&rig, "step_time>+5%", "failed");
    assert_true(tm_double(tm_get(row(&rig, 0), "p")) < 0.001);
    assert_status(&rig, "step_time>+25%", "passed");
    assert_status(&rig, "step_time>+10ms", "failed");
    rig_free(&rig);
}

static void too_few_steps_are_told_and_the_limit_holds(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    add_steps(&rig, 1 / 1.03, 5, "00000000000000b1");
    assert_status(&rig, "step_time>+2%", "failed");
    assert_string_equal(text(&rig, 0, "why"),
                        "5 and 20 steps are too few for a test, which needs 6 each: the limit applies without one");
    assert_false(tm_has(tm_get(row(&rig, 0), "p")));
    rig_free(&rig);
}

static void steps_of_another_kind_are_not_compared(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    rig_add(&rig, "{'input': {'files': [{'xxh3': '00000000000000b1'}]}, 'steps': {'basis': 'host_span'}}");
    assert_status(&rig, "step_time>+2%", "unknown");
    assert_has(text(&rig, 0, "why"), "measured in two ways");
    rig_free(&rig);
}

/* The gates of rig, where a comparison said so of the step time. */
static void assert_compared(struct rig *rig, const char *expression, const char *tests, const struct tm_spread *spread,
                            const char *status, const char *why)
{
    const struct tm_comparison_side baseline = { "base", rig->compared + 1, rig->docs - 1 };
    struct tm_doc *doc = tm_doc_new(&rig->run);
    struct tm_gate_comparison comparison = { tm_doc_root(doc), spread, 1, "7 runs" };

    rig_end_gates(rig);
    test_summary_load_changed(tm_doc_root(doc), tests, "{}");
    assert_int_equal(tm_gates_parse(&rig->run, &rig->gates, &expression, 1), TM_OK);
    rig->result = tm_doc_new(&rig->run);
    assert_int_equal(tm_gates_judge_compared(&rig->run, rig->result, rig->gates, rig->compared, &baseline, &comparison,
                                             &rig->failed),
                     TM_OK);
    if (strcmp(text(rig, 0, "status"), status) != 0)
        fail_msg("%s is %s (%s)", expression, text(rig, 0, "status"), text(rig, 0, "why"));
    assert_has(text(rig, 0, "why"), why);
    tm_doc_free(doc);
}

static void a_comparison_has_the_last_word(void **state)
{
#define MIDDLE(name, change, pct) "'" name "': {'changed': " change ", 'change_pct': " pct ", 'p': 0.2}"
    static const char regression[] =
        "{'verdict': 'regression', " MIDDLE("mean", "true", "20") ", " MIDDLE("median", "false", "20") "}",
                      other_way[] = "{'verdict': 'improvement', " MIDDLE("mean", "true",
                                                                         "-3") ", " MIDDLE("median", "true", "-3") "}",
                      open[] = "{'verdict': 'inconclusive', " MIDDLE("mean", "false",
                                                                     "20") ", " MIDDLE("median", "false", "20") "}";
    const struct tm_spread none = { "none", 50 }, median = { "steps.median_ps", 25 },
                           compiles = { "compile.inside_steps.count", 40 }, mfu = { "roofline.mfu_pct", 40 };
    struct rig rig;

    (void)state;
    rig_init(&rig, "{'compile': {'inside_steps': {'count': 13}}}");
    add_steps(&rig, 1 / 1.2, 20, "00000000000000b1"); /* 20 % slower than it, beyond any doubt */
    assert_compared(&rig, "step_time>+5%", regression, &none, "passed", "add a gate for mean_step_time");
    assert_compared(&rig, "step_time>+5%", other_way, &none, "passed", "within noise");
    assert_compared(&rig, "step_time>+5%", open, &none, "failed", ""); /* it says nothing: the steps do */
    assert_compared(&rig, "step_time>+5%", open, &median, "passed",
                    "two runs of the same program differ by up to 25.0");
    assert_true(tm_double(tm_get(row(&rig, 0), "noise_pct")) >= 25);
    assert_compared(&rig, "step_time<+25%", open, &median, "failed", ""); /* demanded */
    assert_compared(&rig, "step_time>150ms", regression, &median, "passed", "");
    rig_free(&rig);
    rig_init(&rig, "{'compile': {'inside_steps': {'count': 13}}, 'steps': {'mean_ps': 120000000000}}");
    rig_add(&rig, "{'input': {'files': [{'xxh3': '00000000000000b1'}]}, 'compile': {'inside_steps': {'count': 10}}}");
    assert_compared(&rig, "mean_step_time>+5%", regression, &median, "failed", ""); /* a figure of its own */
    assert_compared(&rig, "compile.inside_steps.count.total>+5%", regression, &compiles, "passed",
                    "differ by up to 40.0");
    assert_compared(&rig, "compile.inside_steps.count.total>+5%", regression, &none, "failed", "");
    rig_free(&rig);
    rig_init(&rig, "{'kpis': [{'id': 'model_flop_utilization', 'value': 30, 'unit': '%'}]}");
    rig_add(&rig, "{'input': {'files': [{'xxh3': '00000000000000b1'}]}, 'kpis': [{'id': 'model_flop_utilization', "
                  "'value': 40, 'unit': '%'}]}");
    assert_compared(&rig, "model_flop_utilization<-5%", regression, &none, "failed", "");
    assert_compared(&rig, "model_flop_utilization<-5%", regression, &mfu, "passed", "differ by up to 40.0");
    rig_free(&rig);
}

/* Baselines 11, 12 and 13: mean 12, deviation 1, so one more run is within 12 +- t s sqrt(4/3).  Of
 * 20: t = 8 sqrt(3/4), and P(|T| > t) with 2 degrees of freedom is 0.020204102886728765; the bound
 * at 1 % is 95.50184822858333 % away (scipy.stats.t).  30: 0.0040899966895213725. */
static void the_spread_of_several_baselines_is_the_guard(void **state)
{
    static const char *const base[] = { "11", "12", "13" };
    struct rig rig;

    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        rig_init(&rig, turn == 0 ? "{'compile': {'inside_steps': {'count': 20}}}"
                                 : "{'compile': {'inside_steps': {'count': 30}}}");
        for (size_t i = 0; i < COUNT(base); i++) {
            char patch[160];

            (void)snprintf(patch, sizeof(patch),
                           "{'input': {'files': [{'xxh3': '00000000000000b%zu'}]}, 'compile': "
                           "{'inside_steps': {'count': "
                           "%s}}}",
                           i, base[i]);
            rig_add(&rig, patch);
        }
        assert_status(&rig, "compile.inside_steps.count>+5%", turn == 0 ? "passed" : "failed");
        assert_true(fabs(tm_double(tm_get(row(&rig, 0), "p")) -
                         (turn == 0 ? 0.020204102886728765 : 0.0040899966895213725)) < 1e-9);
        assert_true(fabs(tm_double(tm_get(row(&rig, 0), "noise_pct")) - 95.50184822858333) < 1e-6);
        assert_true(tm_double(tm_get(row(&rig, 0), "baseline")) == 12);
        rig_free(&rig);
    }
}

static double a_normal(uint64_t *seed)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += (double)(next_number(seed) >> 11) / 9007199254740992.0;
    return sum - 6;
}

/* Steps with a spread of `cv` around 100 ms, times `factor`. */
static void set_steps(struct tm_doc *doc, double factor, double cv, uint64_t *seed)
{
    struct tm_value *const steps = tm_add_object(tm_doc_root(doc), "steps");
    struct tm_value *const samples = tm_add_array(steps, "samples_ps");
    double sorted[20];

    for (size_t i = 0; i < 20; i++) {
        const double value = rint(1e11 * factor * (1 + cv * a_normal(seed)));
        size_t at = i;

        for (; at > 0 && sorted[at - 1] > value; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = value;
        tm_add_double(samples, NULL, value);
    }
    tm_add_double(steps, "median_ps", (sorted[9] + sorted[10]) / 2);
}

/* in: cv  of the steps; out: how many of the pairs failed */
static int failures(int pairs, double factor, double cv, const char *expression)
{
    uint64_t seed = 2026;
    int count = 0;

    for (int i = 0; i < pairs; i++) {
        struct rig rig = { .docs = 2 };

        test_run_init(&rig.run);
        for (int k = 0; k < 2; k++) {
            rig.doc[k] = tm_doc_new(&rig.run);
            set_steps(rig.doc[k], k == 0 ? factor : 1, cv, &seed);
            rig.compared[k] = (struct tm_compared_run){ .summary = tm_doc_root(rig.doc[k]), .path = "x" };
        }
        assert_int_equal(judge_expression(&rig, expression), TM_OK);
        count += rig.failed > 0;
        rig_free(&rig);
    }
    return count;
}

static void false_alarms_are_rare_and_true_changes_are_found(void **state)
{
    (void)state;
    assert_true(failures(1000, 1, 0.02, "step_time>+0%") <= 20);
    assert_true(failures(300, 1.05, 0.02, "step_time>+2%") >= 285);
    assert_true(failures(300, 1, 0.10, "step_time>+2%") <= 6);
}

/* --- sums are compared per step --- */

static const char sums_of_20[] =
    "{'input': {'files': [{'xxh3': '00000000000000b1'}]}, 'steps': {'chosen': 20, 'source': 'host'},"
    " 'gaps': {'count': 200, 'total_ps': 4000000000, 'by_cause': {'launch': {'total_ps': 1000}}},"
    " 'kernels': {'count': 100, 'mean_ps': 5000, 'rows': [{'name': 'k', 'count': 20, 'total_ps': 777}]},"
    " 'collectives': {'total': {'count': 40, 'overlap_pct': 50}}}";
static const char sums_of_60[] =
    "{'steps': {'chosen': 60, 'source': 'host'},"
    " 'gaps': {'count': 600, 'total_ps': 12000000000, 'by_cause': {'launch': {'total_ps': 3300}}},"
    " 'kernels': {'count': 300, 'mean_ps': 5000, 'rows': [{'name': 'k', 'count': 60, 'total_ps': 2331}]},"
    " 'collectives': {'total': {'count': 120, 'overlap_pct': 50}}, 'ops': {'rows': [{'name': 'fusion.3', 'self_ps': "
    "24000000000}]}}";

static void sums_are_held_against_the_baseline_per_step(void **state)
{
    static const char *const sums[] = { "gaps.count",
                                        "gaps.total_ps",
                                        "kernels.count",
                                        "kernels.rows[k].total_ps",
                                        "ops.rows[fusion.3].self_ps",
                                        "collectives.total.count" };
    char expression[80];
    struct rig rig;

    (void)state;
    rig_init(&rig, sums_of_60);
    rig_add(&rig, sums_of_20);
    for (size_t i = 0; i < COUNT(sums); i++) {
        (void)snprintf(expression, sizeof(expression), "%s>+1%%", sums[i]);
        assert_status(&rig, expression, "passed");
        assert_true(tm_is(tm_get(row(&rig, 0), "per_step")));
        assert_true(fabs(tm_double(tm_get(row(&rig, 0), "change_pct"))) < 1e-9);
        (void)snprintf(expression, sizeof(expression), "%s.total>+150%%", sums[i]);
        assert_status(&rig, expression, "failed"); /* the sum itself: three times */
        assert_false(tm_is(tm_get(row(&rig, 0), "per_step")));
        assert_has(text(&rig, 0, "figure"), ".total");
    }
    assert_status(&rig, "gaps.count>+1%", "passed");
    assert_string_equal(text(&rig, 0, "value_text"), "10 per step");
    assert_string_equal(text(&rig, 0, "baseline_text"), "10 per step");
    assert_status(&rig, "gaps.by_cause[launch].total_ps>+5%", "failed"); /* 55 against 50 a step */
    assert_status(&rig, "gaps.count>+1", "passed");                      /* in its own unit, per step too */
    assert_status(&rig, "gaps.count>500", "failed");                     /* a limit of its own is of the sum */
    assert_status(&rig, "kernels.mean_ps>+1%", "passed");
    assert_false(tm_is(tm_get(row(&rig, 0), "per_step")));
    assert_status(&rig, "collectives.total.overlap_pct>+1%", "passed");
    assert_false(tm_is(tm_get(row(&rig, 0), "per_step")));
    rig_free(&rig);
    rig_init(&rig, "{'gaps': {'count': 6}, 'steps': {'chosen': 1, 'source': 'session'}}");
    rig_add(&rig, sums_of_20);
    assert_status(&rig, "gaps.count>+1%", "unknown");
    assert_has(text(&rig, 0, "why"), "only one of this run and the baseline has steps");
    rig_free(&rig);
}

static void each_figure_is_a_sum_or_not(void **state)
{
    /* clang-format off */
    static const char *const sums[] = { "total.busy_ps", "total.window_ps", "devices[vm/gpu:0].exposed_copy_ps",
                                        "devices[*].gaps.total_ps",
                                        "devices[0].exposed_by_direction_ps.h2d", "devices[0].aliases.busy",
                                            "steps.parts.idle_ps.launch",
                                        "steps.parts.exposed_copy_ps.h2d", "steps.parts.total_ps",
                                            "gaps.by_cause[*].count", "transfers.by_direction[0].bytes",
                                        "transfers.by_direction[0].exposed_ps", "ops.rows[a.b].executions",
                                            "scopes.passes.forward",
                                        "collectives.rows[0].exposed_wait_ps", "host.launches.count",
                                            "host.sync.total_ps", "compile.inside_steps.count",
                                        "kpis[unexpected_compiles].value", "fallback.callbacks.count",
                                            "roofline.flops", "findings[gaps].at_stake_ps",
                                        "window.hosts[0].steps_ps", "gaps.by_cause.host.main_ps",
                                            "kernels.compute_count" },
                            *const others[] = { "steps.count", "steps.chosen", "steps.mean_ps", "steps.parts",
                                                "devices[0].steps.busy_ps[0]", "devices[0].first_ps",
                                                "kernels.mean_ps", "kernels.rows[k].p95_ps", "gaps.longest[0].dur_ps",
                                                    "compile.count", "compile.total_ps",
                                                "memory.allocators[0].peak_bytes",
                                                    "transfers.by_direction[0].outside.count",
                                                        "transfers.largest[0].bytes",
                                                "kpis[device_utilization].value", "host.launches.per_step",
                                                    "total.devices", "roofline.flop_rate",
                                                "collectives.skew.clock.checked", "steps", "",
                                                    "fusion.small.below_ps", "transfers.repeated[0].bytes",
                                                        "devices[0].utilization.busy_ps[0]" };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < COUNT(sums); i++)
        if (!tm_figure_is_sum(sums[i]))
            fail_msg("%s is a sum", sums[i]);
    for (size_t i = 0; i < COUNT(others); i++)
        if (tm_figure_is_sum(others[i]))
            fail_msg("%s is no sum", others[i]);
}

static void set_samples(struct tm_doc *doc, const double *value, size_t count, const char *compiling)
{
    struct tm_value *const steps = tm_add_object(tm_doc_root(doc), "steps"), *samples, *list;
    double sorted[64], sum = 0;

    tm_add_string(steps, "source", "host");
    tm_add_uint(steps, "chosen", count);
    samples = tm_add_array(steps, "samples_ps");
    list = tm_add_array(steps, "list");
    for (size_t i = 0; i < count; i++) {
        struct tm_value *step = tm_add_object(list, NULL);

        tm_add_double(samples, NULL, value[i]);
        tm_add_uint(step, "number", i);
        tm_add_double(step, "period_ps", value[i]);
        tm_add_bool(step, "compile", compiling[i] == 'c');
        tm_add_bool(step, "chosen", true);
        sorted[i] = value[i];
        sum += value[i];
    }
    tm_add_double(steps, "median_ps", tm_sample_select_median(sorted, count));
    tm_add_double(steps, "mean_ps", sum / (double)count);
}

static const char *judged(const double *base, const double *now, const char *compiling, const char *expression,
                          struct rig *rig)
{
    memset(rig, 0, sizeof(*rig));
    rig->docs = 2;
    test_run_init(&rig->run);
    for (int k = 0; k < 2; k++) {
        rig->doc[k] = tm_doc_new(&rig->run);
        set_samples(rig->doc[k], k ? base : now, 20, k ? "                    " : compiling);
        rig->compared[k] = (struct tm_compared_run){ .summary = tm_doc_root(rig->doc[k]), .path = "x" };
    }
    assert_int_equal(judge_expression(rig, expression), TM_OK);
    return text(rig, 0, "status");
}

static void the_mean_and_the_median_have_tests_of_their_own(void **state)
{
    double base[20], now[20], jittered[20], before = 0;
    struct rig rig;

    (void)state;
    for (int i = 0; i < 20; i++) {
        const double end =
            (double)((i * 7 + 3) % 11 - 5) * 4e8; /* the end of a step of 10 ms comes up to 2 ms early or late */

        base[i] = 1e10 + (i * 7 % 20) * 1e6;
        now[i] = base[i] + (i == 4 || i == 13 ? 5e10 : 0);
        jittered[i] = 1e10 + end - before;
        before = end;
    }
    assert_string_equal(judged(base, now, "    c        c      ", "step_time>+2%", &rig), "passed");
    assert_has(text(&rig, 0, "why"), "add a gate for mean_step_time");
    rig_free(&rig);
    assert_string_equal(judged(base, now, "    c        c      ", "mean_step_time>+2%", &rig), "failed");
    rig_free(&rig);
    assert_string_equal(judged(base, now, "                    ", "mean_step_time>+2%", &rig),
                        "passed"); /* two long steps may be chance */
    rig_free(&rig);
    for (int i = 0; i < 20; i++)
        base[i] = 1e10;
    for (size_t i = 0; i < 2; i++) { /* the same steps, with ends that jitter: they telescope */
        assert_string_equal(
            judged(base, jittered, "                    ", i ? "mean_step_time>+0%" : "step_time>+0%", &rig), "passed");
        rig_free(&rig);
    }
}

static void steps_that_resemble_each_other_are_not_taken_for_independent_ones(void **state)
{
    double base[20], now[20];
    struct rig rig;

    (void)state;
    for (int i = 0; i < 20; i++) {
        base[i] = 1e10 * (1 + 0.05 * sin(i / 4.0));
        now[i] = 1e10 * (1.08 + 0.05 * cos(i / 4.0));
    }
    assert_string_equal(judged(base, now, "                    ", "step_time>+2%", &rig), "unknown");
    assert_has(text(&rig, 0, "why"), "consecutive steps are correlated");
    rig_free(&rig);
    assert_string_equal(judged(base, now, "                    ", "step_time>+25%", &rig), "passed");
    rig_free(&rig);
}

/* --- partial, required, the same run --- */

static void the_verdict_counts_the_gates_that_failed(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    assert_int_equal(judge_file(&rig, "{'gates': [{'figure': 'step_time', 'max': '1ms'},"
                                      " {'figure': 'utilization', 'min': '1%'},"
                                      " {'figure': 'steps.median_ps', 'max': '1ms'}]}"),
                     TM_OK);
    assert_string_equal(tm_text(tm_path(tm_doc_root(rig.result), "verdict.text")),
                        "2 of 3 gates failed: Median step time and 1 more.");
    rig_free(&rig);
}

static void partial_runs_are_not_judged_unless_it_is_allowed(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "{'input': {'partial': true}}");
    assert_int_equal(judge_file(&rig, "{'gates': [{'figure': 'step_time', 'max': '1ms'},"
                                      " {'figure': 'step_time', 'min': '1ms', 'allow_partial': true},"
                                      " {'figure': 'utilization', 'min': '1%', 'required': false}]}"),
                     TM_OK);
    assert_string_equal(text(&rig, 0, "status"), "unknown");
    assert_string_equal(text(&rig, 0, "why"), "the input is partial");
    assert_string_equal(text(&rig, 1, "status"), "passed");
    assert_string_equal(text(&rig, 2, "status"), "skipped");
    assert_int_equal(rig.failed, 0);
    assert_string_equal(tm_text(tm_path(tm_doc_root(rig.result), "verdict.severity")), "warning");
    rig_free(&rig);
    rig_init(&rig, "{}");
    rig_add(&rig, "{'input': {'partial': true, 'files': [{'xxh3': '00000000000000b1'}]}}");
    assert_status(&rig, "compile.inside_steps.count>+5%", "unknown");
    assert_string_equal(text(&rig, 0, "why"), "the baseline is partial");
    assert_status(&rig, "compile.inside_steps.count>5", "passed");
    rig_free(&rig);
}

static void what_is_not_required_is_skipped_where_it_is_not_known(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    assert_int_equal(judge_file(&rig,
                                "{'gates': ["
                                " {'figure': 'ops.rows[gone].self_ps', 'max': '1ms', 'required': false},"
                                " {'figure': 'memory.allocators[*].peak_bytes', 'max': '1GiB', 'required': false},"
                                " {'figure': 'step_time', 'max_increase_pct': 5, 'required': false},"
                                " {'figure': 'step_time', 'max': '99ms', 'required': false, 'title': 'T', 'note': "
                                "'N'}]}"),
                     TM_OK);
    assert_false(tm_gates_want_baseline(rig.gates));
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(text(&rig, i, "status"), "skipped");
    assert_string_equal(text(&rig, 3, "status"), "failed"); /* known and past its limit all the same */
    assert_string_equal(text(&rig, 3, "title"), "T");
    assert_string_equal(text(&rig, 3, "note"), "N");
    assert_int_equal(judge_file(&rig, "{'gates': [{'figure': 'steps.medain_ps', 'max': '1ms', 'required': false}]}"),
                     TM_ERR_USAGE); /* a wrong name is wrong */
    rig_end_gates(&rig);
    const char *expression = "step_time>+5%";

    assert_int_equal(tm_gates_parse(&rig.run, &rig.gates, &expression, 1), TM_OK);
    assert_true(tm_gates_want_baseline(rig.gates));
    rig_free(&rig);
}

static void a_run_is_no_baseline_of_itself(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    rig_add(&rig, "{'input': {'files': [{'xxh3': '00000000000000a2'}, {'xxh3': '00000000000000a1'}]}}");
    assert_int_equal(judge_expression(&rig, "step_time>+5%"), TM_ERR_USAGE);
    assert_has(rig.run.error.what, "cannot compare 'new.json' with itself");
    rig_free(&rig);
    rig_init(&rig, "{}");
    rig_add(&rig, "{'input': {'files': [{'xxh3': '00000000000000b1'}]}}");
    rig_add(&rig, "{'input': {'files': [{'xxh3': '00000000000000b1'}]}}");
    assert_int_equal(judge_expression(&rig, "step_time>+5%"), TM_ERR_USAGE);
    assert_has(rig.run.error.what, "are the same run");
    rig_free(&rig);
    rig_init(&rig, "{'input': {'files': [{'xxh3': null}]}}"); /* without fingerprints nobody knows */
    rig_add(&rig, "{'input': {'files': [{'xxh3': null}]}}");
    assert_int_equal(judge_expression(&rig, "step_time>+5%"), TM_OK);
    rig_free(&rig);
}

static void other_devices_are_noted(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    rig_add(&rig, "{'input': {'files': [{'xxh3': '00000000000000b1'}]}, 'environment': {'devices': "
                  "[{'model': 'GPU 2'}]}}");
    assert_status(&rig, "step_time>+5%", "passed");
    assert_string_equal(tm_text(tm_path(tm_doc_root(rig.result), "notes[0]")),
                        "The baseline ran on GPU 2, this run on GPU 1.");
    rig_free(&rig);
}

/* --- files and expressions that are wrong --- */

static void wrong_gate_files_are_told(void **state)
{
    static const struct {
        const char *json, *what, *hint;
    } cases[] = {
        { "", "", "" },
        { "[]", "", "" },
        { "{", "", "" },
        { "{}", "it has no list 'gates'", "" },
        { "{'gates': {}}", "it has no list 'gates'", "" },
        { "{'gates': []}", "it contains no gates", "" },
        { "{'gats': []}", "'gats' is not a member of a gate file", "did you mean 'gates'?" },
        { "{'schema': 'tracemill.summary', 'gates': []}", "its 'schema' is not \"tracemill.gates\"", "" },
        { "{'schema_version': 2, 'gates': []}", "its 'schema_version' is not 1", "" },
        { "{'gates': [5]}", "gate 1: it is not an object", "" },
        { "{'gates': [{'max': 5}]}", "gate 1: it has no 'figure'", "path in summary.json" },
        { "{'gates': [{'figure': 5, 'max': 5}]}", "gate 1: 'figure' is not a string", "" },
        { "{'gates': [{'figure': 'step_time'}]}", "gate 1 ('step_time'): it has no limit", "max_increase_pct" },
        { "{'gates': [{'figure': 'a', 'max': 1}, {'figure': 'b', 'maxx': 5}]}",
          "gate 2 ('b'): 'maxx' is not a member of a gate", "did you mean 'max'?" },
        { "{'gates': [{'figure': 'a', 'max_increase_pc': 5}]}", "'max_increase_pc' is not a member of a gate",
          "did you mean 'max_increase_pct'?" },
        { "{'gates': [{'figure': 'a', 'max': 'fast'}]}", "the limit 'fast' of 'max' cannot be used: it is not a number",
          "150ms" },
        { "{'gates': [{'figure': 'a', 'max': '5furlongs'}]}", "its unit is unknown", "the units are" },
        { "{'gates': [{'figure': 'a', 'max': null}]}", "the limit of 'max' cannot be used", "" },
        { "{'gates': [{'figure': 'a', 'max': []}]}", "the limit of 'max' cannot be used", "" },
        { "{'gates': [{'figure': 'a', 'max': 1e999}]}", "the limit of 'max' cannot be used", "" },
        { "{'gates': [{'figure': 'a', 'max_increase': '1.5x'}]}", "only max and min can be a multiple", "" },
        { "{'gates': [{'figure': 'a', 'max_increase_pct': '5ms'}]}", "it is a change in percent", "without '_pct'" },
        { "{'gates': [{'figure': 'a', 'max': 5, 'required': 1}]}", "'required' is neither true nor false", "" },
        { "{'gates': [{'figure': 'a', 'max': 5, 'min_effect_pct': -1}]}",
          "'min_effect_pct' is not a percentage of 0 or more", "" },
        { "{'gates': [{'figure': 'a', 'max': 5, 'min_effect_pct': '1ms'}]}",
          "'min_effect_pct' is not a percentage of 0 or more", "" },
        { "{'gates': [{'figure': 'a', 'max': 5, 'note': 7}]}", "'note' is not a string", "" },
        { "{'gates': [{'figure': 'a', 'max': 5}, {'figure': 'a', 'max': 6}]}",
          "gate 2 ('a'): gate 1 also has a 'max' for this figure", "" },
        { "{'gates': [{'figure': 'steps.median_ps', 'max': '90%'}]}",
          "gate 1 ('steps.median_ps'): the limit '90%' cannot be used: the figure is a time", "as in 150ms" },
        { "{'gates': [{'figure': 'steps.median_ps', 'max_increase': '5%'}]}", "the figure is a time",
          "use max_increase_pct for a change in percent" },
        { "{'gates': [{'figure': 'memory.allocators[0].peak_bytes', 'max': '5ms'}]}", "the figure is a size", "3GiB" },
    };
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (judge_file(&rig, cases[i].json) != TM_ERR_USAGE)
            fail_msg("'%s' is refused", cases[i].json);
        assert_int_equal(rig.run.error.status, TM_ERR_USAGE);
        assert_has(rig.run.error.what, cases[i].what);
        assert_has(rig.run.error.hint, cases[i].hint);
        assert_has(rig.run.error.what, "/proc/self/fd/");
    }
    rig_end_gates(&rig);
    assert_int_equal(tm_gates_read(&rig.run, &rig.gates, "/nonexistent/gates.json"), TM_ERR_USAGE);
    assert_null(rig.gates);
    rig_free(&rig);
}

static void wrong_expressions_are_told(void **state)
{
    static const struct {
        const char *expression, *what;
    } cases[] = {
        { "", "it has no figure" },
        { "step_time", "it has no operator" },
        { "step_time>", "it has no operator" },
        { "step_time>  ", "it has no operator" },
        { ">5ms", "it has no figure" },
        { "step_time=5ms", "the operators are" },
        { "step_time==5ms", "the operators are" },
        { "step_time!5ms", "the operators are" },
        { "step_time>>5ms", "it is not a number" },
        { "step_time>five", "it is not a number" },
        { "step_time>+5", "the figure is a time" },
        { "step_time>-1x", "only max and min can be a multiple" },
        { "ops.rows[a>5].self_ps", "it has no operator" },
    };
    struct rig rig;
    char long_one[1200];

    (void)state;
    rig_init(&rig, "{}");
    rig_add(&rig, "{'input': {'files': [{'xxh3': '00000000000000b1'}]}}");
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (judge_expression(&rig, cases[i].expression) != TM_ERR_USAGE)
            fail_msg("'%s' is refused", cases[i].expression);
        assert_has(rig.run.error.what, cases[i].what);
    }
    memset(long_one, 'a', sizeof(long_one));
    memcpy(long_one + sizeof(long_one) - 3, ">5", 3);
    assert_int_equal(judge_expression(&rig, long_one), TM_ERR_USAGE);
    assert_has(rig.run.error.what, "longer than 511 bytes");
    rig_free(&rig);
}

static const char whole_file[] =
    "{'schema': 'tracemill.gates', 'schema_version': 1, 'note': 'x', 'gates': ["
    "{'figure': 'steps.median_ps', 'max': '150ms', 'max_increase_pct': 5, 'min_effect_pct': 1, "
    "'title': 'Zeit \xc3\xa4'},"
    "{'figure': 'utilization', 'min': '1.5%', 'required': false, 'allow_partial': true, 'note': "
    "'\\u202e<&>'}]}";

static void a_gate_file_cut_anywhere_is_refused(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    for (size_t length = 0; length < sizeof(whole_file) - 1; length++) {
        rig_end_gates(&rig);
        assert_int_equal(tm_gates_read(&rig.run, &rig.gates, path_of_text(whole_file, length)), TM_ERR_USAGE);
        assert_null(rig.gates);
    }
    rig_end_gates(&rig);
    assert_int_equal(tm_gates_read(&rig.run, &rig.gates, path_of_text(whole_file, sizeof(whole_file) - 1)), TM_OK);
    rig_free(&rig);
}

/* Each byte in turn becomes another one: no crash, and no status but a refusal or good gates. */
static void damaged_gate_files_do_no_harm(void **state)
{
    static const char other[] = { '\0', '"', '{', ']', '9', '\xff', '%' };
    char copy[sizeof(whole_file)];
    struct rig rig;

    (void)state;
    rig_init(&rig, "{}");
    for (size_t at = 0; at < sizeof(whole_file) - 1; at++) {
        for (size_t i = 0; i < sizeof(other); i++) {
            memcpy(copy, whole_file, sizeof(copy));
            copy[at] = other[i];
            rig_end_gates(&rig);
            tm_status st = tm_gates_read(&rig.run, &rig.gates, path_of_text(copy, sizeof(whole_file) - 1));

            if (st == TM_OK)
                st = judge(&rig);
            assert_true(st == TM_OK || st == TM_ERR_USAGE);
        }
    }
    rig_free(&rig);
}

static tm_status judge_whole_file(struct tm_run *run)
{
    static const char json[] = "{'steps': {'median_ps': 5, 'basis': 'period', 'samples_ps': [1, 2, 3, 4, 5, 6, 7]},"
                               " 'kpis': [{'id': 'device_utilization', 'value': 5, 'unit': '%'}]}";
    struct tm_run other; /* the summaries are not what is refused */
    struct tm_doc *summary;
    struct tm_gates *gates = NULL;
    size_t failed;

    test_run_init(&other);
    summary = tm_doc_new(&other);
    test_summary_load(tm_doc_root(summary), json);
    const struct tm_compared_run compared = { .summary = tm_doc_root(summary), .path = "x" };
    const struct tm_comparison_side baseline = { "base", &compared, 1 };
    struct tm_doc *const result = tm_doc_new(run);
    tm_status st = result ? tm_gates_read(run, &gates, path_of_text(whole_file, sizeof(whole_file) - 1)) : TM_ERR_LIMIT;

    if (st == TM_OK)
        st = tm_gates_judge(run, result, gates, &compared, &baseline, &failed);
    tm_gates_free(gates);
    if (result)
        tm_doc_free(result);
    tm_doc_free(summary);
    return st;
}

static void each_request_for_memory_may_be_refused(void **state)
{
    (void)state;
    refuse_each_request(judge_whole_file);
}

/* --- what is written --- */

static FILE *memory_file(void)
{
    const int fd = memfd_create("out", 0);

    assert_true(fd >= 0);
    return fdopen(fd, "w+");
}

static char *content(FILE *file, size_t *length)
{
    static char text_of_file[65536];

    (void)fflush(file);
    const ssize_t n = pread(fileno(file), text_of_file, sizeof(text_of_file) - 1, 0);

    assert_true(n > 0);
    text_of_file[n] = '\0';
    *length = (size_t)n;
    (void)fclose(file);
    return text_of_file;
}

static void a_made_gate_file_holds_for_the_run_it_was_made_from(void **state)
{
    FILE *const file = memory_file();
    struct rig rig;
    size_t length;

    (void)state;
    rig_init(&rig, "{'memory': {'allocators': [{'peak_bytes': 1000000000}, {'peak_bytes': 3}]}}");
    assert_int_equal(tm_gates_init(&rig.run, rig.compared[0].summary, file), TM_OK);
    const char *const json = content(file, &length);

    /* Steps are 10 ms apart from the median by their median: MAD 5 ms; 3 * 1.4826 * 1.2533 * 5 /
     * sqrt(20) = 6.24 % */
    assert_has(json, "\"max\": \"110ms\"");
    assert_has(json, "\"max_increase_pct\": 6.24");
    assert_has(json, "\"min\": \"75%\"");
    assert_has(json, "\"max\": \"1002MiB\""); /* 1.05 times 953.7 MiB, rounded up */
    assert_has(json, "compile.inside_steps.count");
    assert_has(json, "\"title\": \"Compiles during steps\"");
    assert_int_equal(tm_gates_read(&rig.run, &rig.gates, path_of_text(json, length)), TM_OK);
    assert_false(tm_gates_want_baseline(rig.gates));
    assert_int_equal(judge(&rig), TM_OK);
    assert_int_equal(rig.failed, 0);
    assert_int_equal(tm_int(tm_path(tm_doc_root(rig.result), "counts.unknown")), 0);
    assert_int_equal(tm_int(tm_path(tm_doc_root(rig.result), "counts.skipped")), 2); /* those with a baseline */
    rig_free(&rig);
}

static void a_run_without_figures_gives_no_gate_file(void **state)
{
    FILE *const file = memory_file();
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_doc *doc = tm_doc_new(&run);

    assert_int_equal(tm_gates_init(&run, tm_doc_root(doc), file), TM_ERR_INPUT);
    tm_doc_free(doc);
    (void)fclose(file);
    assert_ledger_is_even(&run);
}

static void junit_has_a_case_for_each_gate(void **state)
{
    FILE *const file = memory_file();
    struct rig rig;
    size_t length;

    (void)state;
    rig_init(&rig, "{'ops': {'rows': [{'name': 'a\\u0001<b>&\\u202e\\uffff', 'self_ps': 5}]}}");
    assert_int_equal(judge_file(&rig,
                                "{'gates': [{'figure': 'step_time', 'max': '1ms', 'note': 'say \\\"<hi>\\\" \\u0007'},"
                                " {'figure': 'utilization', 'min': '1%'}, {'figure': 'occupancy', 'min': '1%'},"
                                " {'figure': 'ops.rows[a\\u0001<b>&\\u202e\\uffff].self_ps', 'max': '1ps'},"
                                " {'figure': 'memory', 'max': 1, 'required': false}]}"),
                     TM_OK);
    assert_int_equal(tm_junit_write(&rig.run, rig.result, file), TM_OK);
    const char *const xml = content(file, &length);

    assert_has(xml, "<testsuite name=\"tracemill check\" tests=\"5\" failures=\"2\" errors=\"1\" "
                    "skipped=\"1\" time=\"0\">");
    assert_has(xml, "<testcase name=\"steps.median_ps max 1ms\" classname=\"tracemill.check\" time=\"0\">");
    assert_has(xml, "<failure message=\"Median step time: it is 100 ms; the limit is at most 1ms\" type=\"gate\">say "
                    "&quot;&lt;hi&gt;&quot; ");
    assert_has(
        xml,
        "<error message=\"Occupancy: occupancy applies only to GPUs; the limit is at least 1%\" type=\"unknown\">");
    assert_has(xml, "<skipped message=\"the profile has no memory events; the limit is at most 1\"/>");
    assert_has(xml, "&lt;b&gt;&amp;");
    for (size_t i = 0; i < length; i++)
        assert_true((unsigned char)xml[i] >= 0x20 || xml[i] == '\n');
    assert_null(strstr(xml, "\xe2\x80\xae"));
    assert_null(strstr(xml, "\xef\xbf\xbf"));
    rig_free(&rig);
}

static void junit_that_cannot_be_written_is_told(void **state)
{
    FILE *const full = fopen("/dev/full", "w");
    struct rig rig;

    (void)state;
    assert_non_null(full);
    rig_init(&rig, "{}");
    assert_status(&rig, "step_time>1ms", "failed");
    assert_int_equal(tm_junit_write(&rig.run, rig.result, full), TM_ERR_OUTPUT);
    (void)fclose(full);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_numbers_with_units),
        cmocka_unit_test(limits_go_into_the_unit_of_the_figure),
        cmocka_unit_test(figures_are_found_by_path),
        cmocka_unit_test(a_wrong_name_is_told_with_the_nearest_ones),
        cmocka_unit_test(limits_hold_at_the_limit),
        cmocka_unit_test(changes_are_held_against_the_baseline),
        cmocka_unit_test(small_effects_do_not_count),
        cmocka_unit_test(a_change_of_the_step_time_has_to_be_significant),
        cmocka_unit_test(too_few_steps_are_told_and_the_limit_holds),
        cmocka_unit_test(steps_of_another_kind_are_not_compared),
        cmocka_unit_test(a_comparison_has_the_last_word),
        cmocka_unit_test(the_spread_of_several_baselines_is_the_guard),
        cmocka_unit_test(false_alarms_are_rare_and_true_changes_are_found),
        cmocka_unit_test(sums_are_held_against_the_baseline_per_step),
        cmocka_unit_test(each_figure_is_a_sum_or_not),
        cmocka_unit_test(the_mean_and_the_median_have_tests_of_their_own),
        cmocka_unit_test(steps_that_resemble_each_other_are_not_taken_for_independent_ones),
        cmocka_unit_test(the_verdict_counts_the_gates_that_failed),
        cmocka_unit_test(partial_runs_are_not_judged_unless_it_is_allowed),
        cmocka_unit_test(what_is_not_required_is_skipped_where_it_is_not_known),
        cmocka_unit_test(a_run_is_no_baseline_of_itself),
        cmocka_unit_test(other_devices_are_noted),
        cmocka_unit_test(wrong_gate_files_are_told),
        cmocka_unit_test(wrong_expressions_are_told),
        cmocka_unit_test(a_gate_file_cut_anywhere_is_refused),
        cmocka_unit_test(damaged_gate_files_do_no_harm),
        cmocka_unit_test(each_request_for_memory_may_be_refused),
        cmocka_unit_test(a_made_gate_file_holds_for_the_run_it_was_made_from),
        cmocka_unit_test(a_run_without_figures_gives_no_gate_file),
        cmocka_unit_test(junit_has_a_case_for_each_gate),
        cmocka_unit_test(junit_that_cannot_be_written_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
