/* SPDX-License-Identifier: Apache-2.0 */
/* Where a part ends: limits, steps, time, and that it always holds something new. */
#include "pipeline/commands/commands.h"
#include "tests/support/test_run.h"

static const int64_t ms = INT64_C(1000000000);

struct rig {
    struct tm_run run;
    struct tm_options options;
    struct tm_trace trace;
    struct tm_split_borders borders;
};

/* Five steps of 10 ms each, from 5 ms on; the trace begins at 1 ms. */
static void open_rig(struct rig *r, const struct tm_trace_writer_type *type)
{
    test_run_init(&r->run);
    r->trace = (struct tm_trace){ .run = &r->run, .first_ps = ms, .last_ps = 60 * ms };
    r->trace.steps.marks = tm_rows_new(&r->run, TM_ACCOUNT_STEPS, sizeof(struct tm_step_mark), 1 << 20);
    assert_non_null(r->trace.steps.marks);
    for (int64_t i = 0; i < 5; i++) {
        const struct tm_step_mark mark = { .number = i, .start_ps = (5 + 10 * i) * ms };

        tm_rows_append(r->trace.steps.marks, &mark);
    }
    if (!r->options.part_events)
        r->options.part_events = 1000000;
    if (!r->options.part_bytes)
        r->options.part_bytes = 95 << 20;
    tm_split_borders_init(&r->borders, &r->run, &r->options, type);
    assert_int_equal(
        tm_split_borders_begin_host(&r->borders, &r->trace, &(const struct tm_clock){ 0 }, r->trace.first_ps), TM_OK);
}

static void close_rig(struct rig *r)
{
    tm_rows_free(r->trace.steps.marks);
    assert_ledger_is_even(&r->run);
}

static const struct tm_trace_writer_type at_once = { .writes_ends = true }, late = { .writes_ends = false };

/* One slice in each millisecond, cut where it is wanted.
 * out: cuts  when, in ms;  steps  "first+count" of each part; returned: parts */
static int run_through(struct rig *r, int64_t cuts[80], char steps[80][24])
{
    struct tm_export_counts counts = { .slices = 0 };
    uint64_t first, count;
    int parts = 0;

    for (int64_t t = 1; t < 60; t++) {
        if (tm_split_borders_want(&r->borders, &counts, counts.slices * 100, 1, t * ms)) {
            assert_int_equal(tm_split_borders_end_part(&r->borders, t * ms, &first, &count), TM_OK);
            (void)snprintf(steps[parts], 24, "%d+%d", (int)first, (int)count);
            cuts[parts++] = t;
            counts = (struct tm_export_counts){ .slices = 1, .pieces = 1, .counters = 2 };
        }
        counts.slices++;
    }
    assert_int_equal(tm_split_borders_end_part(&r->borders, INT64_MAX, &first, &count), TM_OK);
    (void)snprintf(steps[parts], 24, "%d+%d", (int)first, (int)count);
    return parts + 1;
}

static void steps_are_borders(void **state)
{
    struct rig r = { .options = { .by = TM_BY_STEP, .by_steps = 2 } };
    int64_t cuts[80];
    char steps[80][24];

    (void)state;
    open_rig(&r, &at_once);
    /* what comes before the first step lies in the first part, what comes after the last one in the last part */
    assert_int_equal(run_through(&r, cuts, steps), 3);
    assert_int_equal(cuts[0], 25);
    assert_int_equal(cuts[1], 45);
    assert_string_equal(steps[0], "0+2");
    assert_string_equal(steps[1], "2+2");
    assert_string_equal(steps[2], "4+1");
    close_rig(&r);
}

static void time_counts_from_the_first_event(void **state)
{
    struct rig r = { .options = { .by = TM_BY_TIME, .by_time_ps = 20 * INT64_C(1000000000) } };
    int64_t cuts[80];
    char steps[80][24];

    (void)state;
    open_rig(&r, &at_once);
    assert_int_equal(run_through(&r, cuts, steps), 3);
    assert_int_equal(cuts[0], 21);
    assert_int_equal(cuts[1], 41);
    assert_string_equal(steps[0], "0+2");
    assert_string_equal(steps[1], "1+3");
    assert_string_equal(steps[2], "3+2");
    close_rig(&r);
}

static void no_part_has_more_slices_than_it_may(void **state)
{
    struct rig r = { .options = { .part_events = 10 } };
    int64_t cuts[80];
    char steps[80][24];

    (void)state;
    open_rig(&r, &at_once);
    assert_int_equal(run_through(&r, cuts, steps), 7);
    assert_int_equal(cuts[0], 11);
    assert_int_equal(cuts[1], 20); /* the slice that goes on counts */
    close_rig(&r);
}

/* More spans are open than a part may hold: each part still has one slice of its own. */
static void a_part_holds_something_new(void **state)
{
    struct rig r = { .options = { .part_events = 1, .by = TM_BY_TIME, .by_time_ps = 1 } };
    struct tm_export_counts counts = { .slices = 20, .pieces = 20, .counters = 5 };

    (void)state;
    open_rig(&r, &at_once);
    assert_false(tm_split_borders_want(&r.borders, &counts, 1 << 30, 20, 50 * ms));
    assert_false(tm_split_borders_want(&r.borders, &counts, 1 << 30, 20, 51 * ms));
    counts.counters++;
    assert_true(tm_split_borders_want(&r.borders, &counts, 1 << 30, 20, 52 * ms));
    close_rig(&r);
}

/* What parts repeat stays in proportion to what is new in them, or many open slices would be written again and again. */
static void parts_do_not_repeat_for_ever(void **state)
{
    struct rig r = { .options = { .part_events = 1 } };
    struct tm_export_counts counts = { .slices = 800, .pieces = 800 };

    (void)state;
    open_rig(&r, &at_once);
    assert_false(tm_split_borders_want(&r.borders, &counts, 0, 800, 50 * ms));
    counts.slices += 99;
    assert_false(tm_split_borders_want(&r.borders, &counts, 0, 899, 51 * ms));
    counts.counters++;
    assert_true(tm_split_borders_want(&r.borders, &counts, 0, 899, 52 * ms));
    close_rig(&r);
}

static void what_is_not_written_yet_has_its_place(void **state)
{
    static const struct {
        const struct tm_trace_writer_type *type;
        uint64_t raw_bytes;
        size_t open;
        bool wants;
    } cases[] = {
        { &at_once, 900 << 10, 0, false },   { &at_once, 970 << 10, 0, true }, /* a sixteenth stays free */
        { &at_once, 900 << 10, 500, false }, { &at_once, 900 << 10, 5000, true },
        { &late, 400 << 10, 500, false },    { &late, 700 << 10, 500, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig r = { .options = { .part_bytes = 1 << 20 } };
        const struct tm_export_counts counts = { .slices = 1000 };

        open_rig(&r, cases[i].type);
        assert_int_equal(tm_split_borders_want(&r.borders, &counts, cases[i].raw_bytes, cases[i].open, 2 * ms),
                         cases[i].wants);
        close_rig(&r);
    }
}

/* Times at the end of what can be told. */
static void borders_do_not_wrap_around(void **state)
{
    struct rig r = { .options = { .by = TM_BY_TIME, .by_time_ps = INT64_MAX } };
    struct tm_export_counts counts = { .slices = 1 };
    uint64_t first, count;

    (void)state;
    open_rig(&r, &at_once);
    assert_false(tm_split_borders_want(&r.borders, &counts, 0, 0, INT64_MAX - 1));
    assert_int_equal(tm_split_borders_end_part(&r.borders, INT64_MAX, &first, &count), TM_OK);
    close_rig(&r);
    r.options = (struct tm_options){ .by = TM_BY_STEP, .by_steps = UINT64_MAX };
    open_rig(&r, &at_once);
    assert_false(tm_split_borders_want(&r.borders, &counts, 0, 0, INT64_MAX - 1));
    close_rig(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_borders),
        cmocka_unit_test(time_counts_from_the_first_event),
        cmocka_unit_test(no_part_has_more_slices_than_it_may),
        cmocka_unit_test(a_part_holds_something_new),
        cmocka_unit_test(parts_do_not_repeat_for_ever),
        cmocka_unit_test(what_is_not_written_yet_has_its_place),
        cmocka_unit_test(borders_do_not_wrap_around),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
