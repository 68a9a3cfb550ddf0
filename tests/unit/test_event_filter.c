/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/output/export/exporter.h"

#include "tests/support/export_rig.h"

/* A host with steps of 100 that begin at 1000, 1200, 1400 ...; two GPUs and a TPU; a host thread and a stream. */
struct filter_rig {
    struct export_rig export;
    struct tm_filter filter;
    struct tm_track host, stream;
};

static void rig_init(struct filter_rig *rig, struct tm_run *run)
{
    test_run_init(run);
    *rig = (struct filter_rig){ .filter.count = 0 };
    export_rig_init(&rig->export, run, &recorder_with_ends);
    (void)export_rig_device(&rig->export, TM_DEVICE_GPU, 0);
    (void)export_rig_device(&rig->export, TM_DEVICE_GPU, 1);
    (void)export_rig_device(&rig->export, TM_DEVICE_TPU, 0);
    for (int64_t k = 0; k < 5; k++) {
        const struct tm_step_mark mark = { .start_ps = 1000 + 200 * k, .dur_ps = 100 };

        tm_rows_append(rig->export.trace.steps.marks, &mark);
    }
    rig->export.trace.first_ps = 500;
    rig->host = (struct tm_track){ .device = TM_NONE,
                                   .side = TM_SIDE_HOST,
                                   .name = export_rig_name(&rig->export, "main thread") };
    rig->stream =
        (struct tm_track){ .device = 1, .side = TM_SIDE_DEVICE, .name = export_rig_name(&rig->export, "Stream #14") };
}

static void rig_free(struct filter_rig *rig)
{
    export_rig_free(&rig->export);
    assert_ledger_is_even(rig->export.run);
}

static void add_range(struct filter_rig *rig, enum tm_filter_kind kind, int64_t begin, int64_t end)
{
    rig->filter.terms[rig->filter.count++] =
        (struct tm_filter_term){ .kind = (uint8_t)kind, .begin = begin, .end = end };
}

static void add_text(struct filter_rig *rig, enum tm_filter_kind kind, const char *text)
{
    rig->filter.terms[rig->filter.count++] = (struct tm_filter_term){ .kind = (uint8_t)kind, .text = text };
}

static struct tm_event_filter *open_filter(struct filter_rig *rig)
{
    struct tm_event_filter *const f = tm_event_filter_new(rig->export.run, rig->export.names, &rig->filter);

    assert_non_null(f);
    tm_event_filter_begin_host(f, &rig->export.trace);
    return f;
}

/* What is left of a span, as text: "-" = nothing. */
static void assert_left(struct filter_rig *rig, struct tm_event_filter *f, const struct tm_track *track,
                        const struct tm_event *event, const char *expected)
{
    struct tm_wanted wanted;
    char text[64] = "-";

    tm_event_filter_take(f, track, event, false, &wanted);
    if (wanted.is_wanted)
        (void)snprintf(text, sizeof(text), "%lld-%lld", (long long)wanted.start_ps, (long long)wanted.end_ps);
    assert_string_equal(text, expected);
    (void)rig;
}

static void assert_span(struct filter_rig *rig, struct tm_event_filter *f, int64_t begin, int64_t end,
                        const char *expected)
{
    const struct tm_event event = export_rig_event(&rig->export, 0, TM_SPAN, "a", begin, end - begin);

    assert_left(rig, f, &rig->host, &event, expected);
}

/* Times count from the first event; several are taken together. */
static void test_times(void **state)
{
    struct filter_rig rig;
    struct tm_event_filter *f;
    struct tm_run run;

    (void)state;
    rig_init(&rig, &run);
    add_range(&rig, TM_FILTER_TIME, 500, 600);
    add_range(&rig, TM_FILTER_TIME, 100, 200);
    add_range(&rig, TM_FILTER_TIME, 150, 250);
    f = open_filter(&rig);
    assert_span(&rig, f, 500, 600, "-");
    assert_span(&rig, f, 500, 601, "600-601");
    assert_span(&rig, f, 610, 740, "610-740");
    assert_span(&rig, f, 610, 900, "610-750");
    assert_span(&rig, f, 700, 1050, "700-1050");
    assert_span(&rig, f, 0, 9000, "600-1100");
    assert_span(&rig, f, 750, 1000, "-");
    assert_span(&rig, f, 750, 1001, "1000-1001");
    assert_span(&rig, f, 600, 600, "600-600");
    assert_span(&rig, f, 750, 750, "-");
    assert_span(&rig, f, 1100, 1100, "-");
    tm_event_filter_free(f);
    rig.filter.count = 0;
    add_range(&rig, TM_FILTER_TIME, 300, INT64_MAX);
    f = open_filter(&rig);
    assert_span(&rig, f, 700, 900, "800-900");
    assert_span(&rig, f, INT64_MAX - 10, INT64_MAX - 1, "9223372036854775797-9223372036854775806");
    tm_event_filter_free(f);
    rig_free(&rig);
}

static void test_devices(void **state)
{
    static const struct {
        const char *term;
        const char *expected;
    } cases[] = {
        { "gpu:1", "0-9 -" },  { "gpu:0", "- -" },    { "gpu", "0-9 -" },  { "tpu", "- -" },    { "h0/gpu:1", "0-9 -" },
        { "h0/gpu", "0-9 -" }, { "h1/gpu:1", "- -" }, { "host", "- 0-9" }, { "gpu:10", "- -" },
    };
    struct filter_rig rig;
    struct tm_event event;
    struct tm_run run;

    (void)state;
    rig_init(&rig, &run);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_event_filter *f;
        char stream[32] = "", host[32] = "";

        rig.filter.count = 0;
        add_text(&rig, TM_FILTER_DEVICE, cases[i].term);
        f = open_filter(&rig);
        (void)sscanf(cases[i].expected, "%31s %31s", stream, host);
        event = export_rig_event(&rig.export, 0, TM_SPAN, "a", 0, 9);
        assert_left(&rig, f, &rig.stream, &event, stream);
        assert_left(&rig, f, &rig.host, &event, host);
        tm_event_filter_free(f);
    }
    /* What runs on a host's thread may be an activity of a device. */
    rig.filter.count = 0;
    add_text(&rig, TM_FILTER_DEVICE, "tpu:0");
    struct tm_event_filter *const f = open_filter(&rig);

    event = export_rig_event(&rig.export, 0, TM_SPAN, "a", 0, 9);
    event.device = 2;
    assert_left(&rig, f, &rig.host, &event, "0-9");
    tm_event_filter_free(f);
    rig_free(&rig);
}

static void test_steps(void **state)
{
    struct filter_rig rig;
    struct tm_event_filter *f;
    struct tm_event event;
    struct tm_run run;

    (void)state;
    rig_init(&rig, &run);
    add_range(&rig, TM_FILTER_STEP, 1, 3);
    add_range(&rig, TM_FILTER_STEP, 4, INT64_MAX);
    f = open_filter(&rig);
    for (uint32_t step = 0; step < 6; step++) {
        event = export_rig_event(&rig.export, 0, TM_SPAN, "a", 5000, 10);
        event.step = step;
        assert_left(&rig, f, &rig.stream, &event, step == 0 || step == 3 ? "-" : "5000-5010");
    }
    assert_span(&rig, f, 0, 1200, "-");
    assert_span(&rig, f, 0, 1201, "0-1201");
    assert_span(&rig, f, 1310, 1310, "1310-1310"); /* between two that are wanted */
    assert_span(&rig, f, 1500, 1800, "-");
    assert_span(&rig, f, 1899, 2000, "1899-2000");
    tm_event_filter_free(f);
    rig_free(&rig);
}

static void test_names(void **state)
{
    static const struct {
        const char *name;
        bool is_wanted;
    } cases[] = {
        { "gemm_1", true }, { "gemm_2", false }, { "a gemm", false },
        { "copy", true },   { "copy2", false },  { "", false },
    };
    struct filter_rig rig;
    struct tm_event_filter *f;
    struct tm_run run;

    (void)state;
    rig_init(&rig, &run);
    add_text(&rig, TM_FILTER_NAME, "gemm*");
    add_text(&rig, TM_FILTER_NAME, "cop?");
    add_text(&rig, TM_FILTER_NOT_NAME, "*2");
    add_text(&rig, TM_FILTER_NOT_NAME, "x*");
    f = open_filter(&rig);
    for (int turn = 0; turn < 2; turn++) /* asked again: from the table */
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            const struct tm_event event = export_rig_event(&rig.export, 0, TM_SPAN, cases[i].name, 0, 1);

            assert_left(&rig, f, &rig.host, &event, cases[i].is_wanted ? "0-1" : "-");
        }
    for (int i = 0; i < 20000; i++) {
        char name[16];
        struct tm_event event;

        (void)snprintf(name, sizeof(name), "gemm%d", i);
        event = export_rig_event(&rig.export, 0, TM_SPAN, name, 0, 1);
        assert_left(&rig, f, &rig.host, &event, i % 10 == 2 ? "-" : "0-1");
    }
    tm_event_filter_free(f);
    rig_free(&rig);
}

static void test_others(void **state)
{
    struct filter_rig rig;
    struct tm_event_filter *f;
    struct tm_event event;
    struct tm_run run;

    (void)state;
    rig_init(&rig, &run);
    add_range(&rig, TM_FILTER_MIN, 10, 0);
    add_text(&rig, TM_FILTER_TRACK, "Stream*");
    f = open_filter(&rig);
    event = export_rig_event(&rig.export, 0, TM_SPAN, "a", 0, 10);
    assert_left(&rig, f, &rig.stream, &event, "0-10");
    assert_left(&rig, f, &rig.host, &event, "-");
    event.record.dur_ps = 9;
    assert_left(&rig, f, &rig.stream, &event, "-");
    event = export_rig_event(&rig.export, 0, TM_INSTANT, "a", 5, 0); /* a span of length 0 */
    assert_left(&rig, f, &rig.stream, &event, "-");
    event.record.flags |= TM_FLAG_INSTANT;
    assert_left(&rig, f, &rig.stream, &event, "5-5");
    event.record.class = TM_CLASS_FLOW;
    event.record.kind = TM_FLOW_END;
    assert_left(&rig, f, &rig.stream, &event, "5-5");
    tm_event_filter_free(f);

    rig.filter.count = 0;
    add_range(&rig, TM_FILTER_CLASS, TM_CLASS_KERNEL, 0);
    add_range(&rig, TM_FILTER_CLASS, TM_CLASS_COPY, 0);
    f = open_filter(&rig);
    event = export_rig_event(&rig.export, 0, TM_SPAN, "a", 0, 10);
    for (uint8_t class = 0; class < TM_CLASS_COUNT; class ++) {
        event.record.class = class;
        assert_left(&rig, f, &rig.host, &event, class == TM_CLASS_KERNEL || class == TM_CLASS_COPY ? "0-10" : "-");
    }
    tm_event_filter_free(f);

    rig.filter.count = 0;
    add_range(&rig, TM_FILTER_NOT_CLASS, TM_CLASS_PYTHON, 0);
    add_range(&rig, TM_FILTER_NOT_CLASS, TM_CLASS_RUNTIME, 0);
    f = open_filter(&rig);
    for (uint8_t class = 0; class < TM_CLASS_COUNT; class ++) {
        event.record.class = class;
        assert_left(&rig, f, &rig.host, &event, class == TM_CLASS_PYTHON || class == TM_CLASS_RUNTIME ? "-" : "0-10");
    }
    tm_event_filter_free(f);
    rig_free(&rig);
}

static void test_derived(void **state)
{
    const struct tm_derived_row on_second = { .start_ps = 0, .end_ps = 1200, .device = 1, .sort = TM_DERIVED_GAP },
                                on_host = { .start_ps = 0, .end_ps = 1210, .device = TM_NONE },
                                of_one = { .start_ps = 5000, .end_ps = 5010, .device = 1, .of_step = 1 + 1 },
                                of_another = { .start_ps = 0, .end_ps = 1210, .device = 1, .of_step = 2 + 1 };
    struct filter_rig rig;
    struct tm_event_filter *f;
    struct tm_wanted wanted;
    struct tm_run run;

    (void)state;
    rig_init(&rig, &run);
    add_text(&rig, TM_FILTER_NAME, "nothing");
    add_range(&rig, TM_FILTER_TIME, 100, 200);
    add_text(&rig, TM_FILTER_DEVICE, "gpu:1");
    f = open_filter(&rig);
    tm_event_filter_take_derived(f, &on_second, &wanted);
    assert_true(wanted.is_wanted && wanted.start_ps == 600 && wanted.end_ps == 700);
    tm_event_filter_take_derived(f, &on_host, &wanted);
    assert_false(wanted.is_wanted);
    tm_event_filter_free(f);
    rig.filter.count = 0;
    add_range(&rig, TM_FILTER_STEP, 1, 2);
    f = open_filter(&rig);
    tm_event_filter_take_derived(f, &on_second, &wanted);
    assert_false(wanted.is_wanted);
    tm_event_filter_take_derived(f, &on_host, &wanted);
    assert_true(wanted.is_wanted && wanted.start_ps == 1200 && wanted.end_ps == 1210);
    tm_event_filter_take_derived(f, &of_one, &wanted); /* a device works on it later than the host */
    assert_true(wanted.is_wanted && wanted.start_ps == 5000);
    tm_event_filter_take_derived(f, &of_another, &wanted);
    assert_false(wanted.is_wanted);
    tm_event_filter_free(f);
    rig_free(&rig);
}

/* What belongs to no step by itself is cut to the time of the steps, that of their work on the devices included. */
static void test_derived_work(void **state)
{
    const struct tm_derived_row facts = { .start_ps = 0, .end_ps = 9000, .device = TM_NONE, .sort = TM_DERIVED_FACTS },
                                busy = { .start_ps = 2000, .end_ps = 2000, .device = 1, .sort = TM_DERIVED_BUSY },
                                late = { .start_ps = 2500, .end_ps = 2500, .device = 1, .sort = TM_DERIVED_BUSY };
    struct filter_rig rig;
    struct tm_event_filter *f;
    struct tm_wanted wanted;
    struct tm_run run;
    struct tm_trace *const trace = &rig.export.trace;

    (void)state;
    rig_init(&rig, &run);
    trace->steps.rows = tm_rows_new(&run, TM_ACCOUNT_MODEL, sizeof(struct tm_step_row), 0);
    for (int64_t k = 0; k < 5; k++) {
        const struct tm_step_row row = { .start_ps = 1500 + 500 * k, .end_ps = 1900 + 500 * k, .activities = k != 4 };

        tm_rows_append(trace->steps.rows, &row);
    }
    trace->devices[1].activities = 4;
    add_range(&rig, TM_FILTER_STEP, 1, 2);
    f = open_filter(&rig);
    tm_event_filter_take_derived(f, &facts, &wanted);
    assert_true(wanted.is_wanted && wanted.start_ps == 1200 && wanted.end_ps == 2400);
    tm_event_filter_take_derived(f, &busy, &wanted);
    assert_true(wanted.is_wanted);
    tm_event_filter_take_derived(f, &late, &wanted);
    assert_false(wanted.is_wanted);
    tm_event_filter_free(f);
    tm_rows_free(trace->steps.rows);
    trace->steps.rows = NULL;
    rig_free(&rig);
}

/* Of classes without a term any length is long enough. */
static void test_least_of_class(void **state)
{
    static const struct {
        uint8_t class;
        int64_t dur_ps;
        bool is_wanted;
    } cases[] = {
        { TM_CLASS_PYTHON, 99, false }, { TM_CLASS_PYTHON, 100, true }, { TM_CLASS_LAUNCH, 4, false },
        { TM_CLASS_LAUNCH, 5, true },   { TM_CLASS_KERNEL, 0, true },
    };
    struct filter_rig rig;
    struct tm_event_filter *f;
    struct tm_run run;

    (void)state;
    rig_init(&rig, &run);
    add_range(&rig, TM_FILTER_MIN_CLASS, 100, TM_CLASS_PYTHON);
    add_range(&rig, TM_FILTER_MIN_CLASS, 7, TM_CLASS_LAUNCH);
    add_range(&rig, TM_FILTER_MIN_CLASS, 5, TM_CLASS_LAUNCH); /* any of them */
    f = open_filter(&rig);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_event event = export_rig_event(&rig.export, 0, TM_SPAN, "a", 0, cases[i].dur_ps);
        struct tm_wanted wanted;

        event.record.class = cases[i].class;
        tm_event_filter_take(f, &rig.host, &event, false, &wanted);
        assert_int_equal(wanted.is_wanted, cases[i].is_wanted);
    }
    tm_event_filter_free(f);
    rig_free(&rig);
}

/* The times of events are joined where they overlap, with a margin that may differ by the name. */
static void test_around(void **state)
{
    static const struct {
        const char *name;
        int64_t begin, end;
    } named[] = { { "save 1", 100, 120 }, { "other", 0, 900 }, { "save 2", 118, 140 }, { "load", 300, 310 } };
    struct filter_rig rig;
    struct tm_event_filter *f;
    struct tm_run run;

    (void)state;
    rig_init(&rig, &run);
    add_text(&rig, TM_FILTER_AROUND, "save*");
    add_text(&rig, TM_FILTER_AROUND, "load");
    rig.filter.terms[1].begin = 170; /* from 130 on: it reaches back into the others */
    f = open_filter(&rig);
    assert_true(tm_event_filter_wants_scan(f));
    for (int turn = 0; turn < 2; turn++) { /* of each host anew */
        tm_event_filter_begin_scan(f);
        for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
            const struct tm_event event =
                export_rig_event(&rig.export, 0, TM_SPAN, named[i].name, named[i].begin, named[i].end - named[i].begin);

            tm_event_filter_scan(f, &event);
        }
        tm_event_filter_begin_host(f, &rig.export.trace);
        assert_span(&rig, f, 0, 100, "-");
        assert_span(&rig, f, 0, 101, "100-101");
        assert_span(&rig, f, 90, 1000, "100-480");
        assert_span(&rig, f, 100, 100, "100-100");
        assert_span(&rig, f, 200, 210, "200-210");
        assert_span(&rig, f, 480, 480, "-");
    }
    tm_event_filter_free(f);
    rig_free(&rig);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),        cmocka_unit_test(test_devices),        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_others),         cmocka_unit_test(test_derived),
        cmocka_unit_test(test_derived_work), cmocka_unit_test(test_least_of_class), cmocka_unit_test(test_around),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
