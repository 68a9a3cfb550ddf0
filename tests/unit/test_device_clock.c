/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/records/device_clock.h"

#include "pipeline/store/rows.h"
#include "tests/support/test_run.h"

enum { NONE = -1 };

#define MS INT64_C(1000000000)
#define DAY (INT64_C(86400) * 1000 * MS)

/* An op of a line: on the host's clock, on the device's; own_dur_ps NONE = it has no time of its own. */
struct op {
    int64_t recorded_ps, own_ps, own_dur_ps;
};

struct line {
    const struct op *ops;
    size_t count;
    uint32_t device; /* TM_NONE = no line of ops */
};

struct clocked {
    struct tm_run run;
    struct tm_trace trace;
    struct tm_device devices[3];
    const struct line *lines;
    struct tm_device_clock *clock;
    unsigned readings;
};

static void read_line(void *from, struct tm_device_clock *clock, uint64_t track)
{
    struct clocked *const c = from;
    const struct line *const line = &c->lines[track];

    c->readings++;
    for (size_t i = 0; i < line->count; i++) {
        const struct tm_device_times times = { line->ops[i].own_ps, line->ops[i].own_dur_ps };

        tm_device_clock_take(clock, line->ops[i].recorded_ps, times.duration_ps == NONE ? NULL : &times);
    }
}

static tm_status make_clock(struct clocked *c, const struct line *lines, size_t count)
{
    c->lines = lines;
    c->trace = (struct tm_trace){ .run = &c->run, .devices = c->devices, .device_count = 3 };
    c->trace.tracks = tm_rows_new(&c->run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), 1 << 17);
    if (!c->trace.tracks)
        return c->run.error.status;
    for (size_t i = 0; i < count; i++) {
        const struct tm_track track = { .device = lines[i].device,
                                        .events = lines[i].count,
                                        .line = lines[i].device == TM_NONE ? TM_LINE_HOST : TM_LINE_TPU_OPS };

        tm_rows_append(c->trace.tracks, &track);
    }
    c->clock = tm_device_clock_read(&c->trace, read_line, c);
    return c->run.error.status;
}

static void begin_test(struct clocked *c, const struct line *lines, size_t count)
{
    *c = (struct clocked){ .readings = 0 };
    test_run_init(&c->run);
    assert_int_equal(make_clock(c, lines, count), TM_OK);
}

static void free_clock(struct clocked *c)
{
    tm_device_clock_free(c->clock);
    tm_rows_free(c->trace.tracks);
}

static void end_test(struct clocked *c)
{
    free_clock(c);
    assert_ledger_is_even(&c->run);
}

static struct tm_clock_place place_on(struct clocked *c, uint32_t device, enum tm_line line)
{
    const struct tm_track track = { .device = device, .line = (uint8_t)line };
    struct tm_clock_place place;

    tm_clock_place_begin(c->clock, &track, &place);
    return place;
}

static void assert_carried(struct tm_clock_place *place, int64_t start_ps, int64_t dur_ps, int64_t to_ps,
                           int64_t to_dur_ps)
{
    struct tm_record r = { .start_ps = start_ps, .dur_ps = dur_ps };
    bool fits;

    fits = tm_clock_place_record(place, NULL, &r);
    assert_true(fits);
    assert_int_equal(r.start_ps, to_ps);
    assert_int_equal(r.dur_ps, to_dur_ps);
}

/* Differences 100, 100, 100, 130, 130 and 90: the median is the third of six, 100. */
static const struct op drifting[] = { { 1000, 900, 10 },  { 1200, 1100, 10 }, { 1400, 1300, 10 },
                                      { 1630, 1500, 10 }, { 1830, 1700, 10 }, { 2000, 1910, 10 } };

static void others_lie_between_the_ops_around_them(void **state)
{
    const struct line line = { drifting, 6, 0 };
    struct tm_clock_place place;
    struct clocked c;

    (void)state;
    begin_test(&c, &line, 1);
    assert_true(c.devices[0].has_device_clock);
    assert_false(c.devices[1].has_device_clock);
    place = place_on(&c, 0, TM_LINE_TPU_MODULES);
    assert_carried(&place, 1000, 200, 1000, 200);
    assert_carried(&place, 1399, 1, 1399, 1);
    assert_carried(&place, 1400, 230, 1400, 200);
    assert_carried(&place, 1515, 0, 1500, 0); /* half of the way */
    assert_carried(&place, 1401, 1, 1400, 1); /* 200 / 230 and 400 / 230, rounded down */
    assert_carried(&place, 1630, 370, 1600, 410);
    assert_carried(&place, 1915, 0, 1905, 0);   /* 85 / 170 of 210 */
    assert_carried(&place, 0, 500, 0, 500);     /* before the first op its difference holds */
    assert_carried(&place, 2500, 10, 2510, 10); /* and after the last one that of the last */
    assert_carried(&place, 900, 2000, 900, 2010);
    assert_carried(&place, 1830, 0, 1800, 0); /* back again */
    end_test(&c);
}

static void ops_have_their_own_times(void **state)
{
    const struct line line = { drifting, 6, 0 };
    const struct tm_device_times own = { 1500, 10 };
    struct tm_record op = { .start_ps = 1630, .dur_ps = 77 }, module = op;
    struct tm_clock_place ops, modules;
    struct clocked c;
    bool fits;

    (void)state;
    begin_test(&c, &line, 1);
    ops = place_on(&c, 0, TM_LINE_TPU_OPS);
    modules = place_on(&c, 0, TM_LINE_TPU_MODULES);
    fits = tm_clock_place_record(&ops, &own, &op);
    assert_true(fits && op.start_ps == 1600 && op.dur_ps == 10);
    fits = tm_clock_place_record(&modules, &own, &module); /* only those of ops count */
    assert_true(fits && module.start_ps == 1600 && module.dur_ps == 77);
    assert_carried(&ops, 1630, 200, 1600, 200); /* an op without */
    assert_null(place_on(&c, 1, TM_LINE_TPU_OPS).clock);
    end_test(&c);
}

/* The same ops in any order, on one line or several, give the same clock. */
static void the_order_of_the_ops_does_not_matter(void **state)
{
    static const struct op mixed[] = { { 2000, 1910, 10 }, { 1000, 900, 10 },  { 1830, 1700, 10 },
                                       { 1400, 1300, 10 }, { 1630, 1500, 10 }, { 1200, 1100, 10 } };
    const struct line whole[] = { { NULL, 0, 0 }, { mixed, 6, 0 } };
    const struct line parts[] = {
        { drifting, 3, 0 }, { drifting, 6, 1 }, { drifting + 3, 3, 0 }, { mixed, 6, TM_NONE }
    };
    const struct line crossing[] = { { mixed, 1, 0 }, { mixed + 1, 1, 0 }, { mixed + 2, 4, 0 } };
    const struct {
        const struct line *lines;
        size_t count;
        unsigned readings;
    } cases[] = { { whole, 2, 2 }, { parts, 4, 3 }, { crossing, 3, 6 } };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_clock_place place;
        struct clocked c;

        begin_test(&c, cases[i].lines, cases[i].count);
        assert_int_equal(c.readings, cases[i].readings);
        place = place_on(&c, 0, TM_LINE_TPU_ASYNC);
        for (size_t k = 0; k < 6; k++)
            assert_carried(&place, drifting[k].recorded_ps, 0, drifting[k].own_ps + 100, 0);
        assert_carried(&place, 1515, 85, 1500, 73);
        end_test(&c);
    }
}

/* Where recorded times stand still, the earliest op on the device counts for what lies there, the last for what follows. */
static void ops_of_one_recorded_time_are_a_step(void **state)
{
    static const struct op ops[] = {
        { 100, 100, 5 }, { 200, 260, 5 }, { 200, 200, 5 }, { 200, 230, 5 }, { 300, 300, 5 }
    };
    const struct line line = { ops, 5, 2 };
    struct tm_clock_place place;
    struct clocked c;

    (void)state;
    begin_test(&c, &line, 1);
    place = place_on(&c, 2, TM_LINE_TPU_STEPS);
    assert_carried(&place, 150, 0, 150, 0);
    assert_carried(&place, 200, 0, 200, 0);
    assert_carried(&place, 250, 0, 280, 0);
    assert_carried(&place, 150, 100, 150, 130);
    end_test(&c);
}

static void jumps_over_a_millisecond_are_counted(void **state)
{
    static const struct op ops[] = {
        { 0, 0, 1 }, { 2 * MS, MS, 1 }, { 10 * MS, 9 * MS - 1, 1 }, { 12 * MS, 10 * MS - 2, 1 }, { 40 * MS, 43 * MS, 1 }
    };
    const struct line line = { ops, 5, 0 };
    struct clocked c;

    (void)state; /* of exactly 1 ms, 1 ps, 1 ms and 1 ps, 5 ms and 2 ps */
    begin_test(&c, &line, 1);
    assert_int_equal(c.devices[0].clock_jumps, 2);
    assert_int_equal(c.devices[0].largest_clock_jump_ps, 5 * MS + 2);
    assert_int_equal(c.run.tallies.count[TM_TALLY_CLOCK_MAPPING_JUMP], 2);
    end_test(&c);
}

static void too_few_ops_with_times_leave_the_recorded_ones(void **state)
{
    static const struct op ops[] = { { 10, 0, 1 }, { 20, 0, NONE }, { 30, 25, 1 }, { 40, 0, NONE }, { 50, 0, NONE } };
    const struct line lines[] = { { ops, 4, 0 }, { ops, 5, 1 }, { ops + 3, 2, 2 } };
    struct clocked c;

    (void)state;
    begin_test(&c, lines, 3);
    assert_true(c.devices[0].has_device_clock); /* half of them is enough */
    assert_false(c.devices[1].has_device_clock || c.devices[2].has_device_clock);
    assert_null(place_on(&c, 1, TM_LINE_TPU_OPS).clock);
    assert_int_equal(c.run.tallies.count[TM_TALLY_DEVICE_CLOCK_UNUSED], 2);
    end_test(&c);
    begin_test(&c, &lines[2], 1);
    assert_null(c.clock);
    end_test(&c);
}

static void times_that_cannot_be_have_no_place(void **state)
{
    static const struct op ops[] = { { 0, 99 * DAY, 1 }, { 50 * DAY, -4 * DAY, 1 }, { 99 * DAY, 98 * DAY, 1 } };
    const struct line line = { ops, 3, 0 };
    struct tm_clock_place place;
    struct tm_record r = { .start_ps = -4 * DAY };
    struct clocked c;
    bool fits;

    (void)state;
    begin_test(&c, &line, 1);
    place = place_on(&c, 0, TM_LINE_TPU_MODULES);
    fits = tm_clock_place_record(&place, NULL, &r); /* 95 days, and the median 1 day */
    assert_true(fits && r.start_ps == 96 * DAY);
    r = (struct tm_record){ .start_ps = 50 * DAY, .dur_ps = 49 * DAY };
    fits = tm_clock_place_record(&place, NULL, &r);
    assert_true(fits && r.start_ps == -3 * DAY && r.dur_ps == 102 * DAY);
    r = (struct tm_record){ .start_ps = 1, .dur_ps = 50 * DAY - 1 }; /* it ends before it begins */
    fits = tm_clock_place_record(&place, NULL, &r);
    assert_true(fits && r.dur_ps == 0);
    r = (struct tm_record){ .start_ps = 100 * DAY };
    fits = tm_clock_place_record(&place, NULL, &r);
    assert_true(fits && r.start_ps == 100 * DAY);
    r = (struct tm_record){ .start_ps = -5 * DAY, .dur_ps = 105 * DAY };
    fits = tm_clock_place_record(&place, NULL, &r);
    end_test(&c);
}

/* As slow as can be: the points of all ops, one after the other. */
static int64_t slowly(const struct op *ops, size_t count, int64_t at_ps)
{
    size_t i = 0;

    while (i < count && ops[i].recorded_ps < at_ps)
        i++;
    if (i < count && ops[i].recorded_ps == at_ps)
        return ops[i].own_ps;
    if (i == 0 || i == count)
        return at_ps - (ops[i ? i - 1 : 0].recorded_ps - ops[i ? i - 1 : 0].own_ps);
    const struct op *const a = &ops[i - 1], *const b = &ops[i];
    const int64_t whole = (at_ps - a->recorded_ps) * (b->own_ps - a->own_ps), parts = b->recorded_ps - a->recorded_ps;

    return a->own_ps + whole / parts - (whole % parts < 0);
}

static void any_time_is_carried_over_whatever_was_asked_before(void **state)
{
    enum { OPS = 3000 };
    static struct op ops[OPS];
    const struct line line = { ops, OPS, 1 };
    uint64_t dice = 1;
    struct clocked c;

    (void)state;
    for (size_t i = 0; i < OPS; i++) {
        const int64_t step_ps = (int64_t)(1 + next_number(&dice) % 1000), before_ps = i ? ops[i - 1].recorded_ps : 0;
        const int64_t own_ps = i ? ops[i - 1].own_ps : 0;
        const int64_t off_ps = next_number(&dice) % 4 ? 0 : (int64_t)(next_number(&dice) % 1500) - 750;

        ops[i] = (struct op){ before_ps + step_ps, own_ps + step_ps + off_ps, 1 };
    }
    begin_test(&c, &line, 1);
    for (int walk = 0; walk < 200; walk++) {
        struct tm_clock_place place = place_on(&c, 1, TM_LINE_TPU_ASYNC);
        int64_t at_ps = (int64_t)(next_number(&dice) % (OPS * 500));

        for (int i = 0; i < 50; i++) {
            const int64_t wanted_ps = slowly(ops, OPS, at_ps) + place.shift_ps;

            assert_carried(&place, at_ps, 0, wanted_ps, 0);
            at_ps += (int64_t)(next_number(&dice) % (walk % 2 ? 3000 : 900000)) - (walk % 3 ? 0 : 400000);
        }
    }
    end_test(&c);
}

static tm_status job(struct tm_run *run)
{
    static const struct op ops[] = { { 30, 3, 1 }, { 10, 0, 1 }, { 20, 1, 1 } };
    const struct line line = { ops, 3, 0 };
    struct clocked c = { .run = *run };
    tm_status st = make_clock(&c, &line, 1);

    free_clock(&c);
    *run = c.run;
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_lie_between_the_ops_around_them),
        cmocka_unit_test(ops_have_their_own_times),
        cmocka_unit_test(the_order_of_the_ops_does_not_matter),
        cmocka_unit_test(ops_of_one_recorded_time_are_a_step),
        cmocka_unit_test(jumps_over_a_millisecond_are_counted),
        cmocka_unit_test(too_few_ops_with_times_leave_the_recorded_ones),
        cmocka_unit_test(times_that_cannot_be_have_no_place),
        cmocka_unit_test(any_time_is_carried_over_whatever_was_asked_before),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("device_clock", tests, NULL, NULL);
}
