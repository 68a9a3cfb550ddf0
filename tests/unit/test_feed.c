/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/feed.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test_run.h"

enum { SITES = 3000, EVENTS = 60000, DEVICES = 2 };

/* What a stage has been given, by site and whether it was chosen. */
struct given {
    struct tm_site_sums sums[SITES + 1][2];
    struct tm_site_sums self[SITES + 1];
    uint64_t calls, taken, batches;
    int64_t last_ps;
    struct tm_lengths *lengths;
};

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    (void)s;
    (void)trace;
    return TM_OK;
}

static tm_status end_host(struct tm_stage *s)
{
    (void)s;
    return TM_OK;
}

static void add(struct tm_site_sums *to, const struct tm_site_sums *more)
{
    if (!to->count || more->first_ps < to->first_ps) {
        to->first_ps = more->first_ps;
        to->first_dur_ps = more->first_dur_ps;
    }
    to->min_ps = !to->count || more->min_ps < to->min_ps ? more->min_ps : to->min_ps;
    to->max_ps = more->max_ps > to->max_ps ? more->max_ps : to->max_ps;
    to->count += more->count;
    to->total_ps = tm_sum_times(to->total_ps, more->total_ps);
    to->without_length += more->without_length;
    to->continued += more->continued;
    to->squares = tm_sum_wide(to->squares, tm_wide_value(more->squares));
    to->self_ps = tm_sum_times(to->self_ps, more->self_ps);
    to->self_squares = tm_sum_wide(to->self_squares, tm_wide_value(more->self_squares));
}

static void take_site(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct given *const given = s->state;

    given->calls++;
    assert_int_equal(event->record.name, event->site);
    assert_int_equal(event->config->registers, event->record.config);
    add(&given->sums[event->site][event->chosen], sums);
}

static void take_self(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    assert_true(event->chosen);
    add(&((struct given *)s->state)->self[event->site], sums);
}

static struct tm_lengths *lengths_of(struct tm_stage *s, const struct tm_event *event, uint64_t *group)
{
    struct given *const given = s->state;

    *group = event->site % 7;
    return event->site % 2 ? given->lengths : NULL;
}

static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    (void)s;
    return event->chosen && event->site % 5 == 0;
}

/* Those that it wants come whole, in their order, and of one device at a time. */
static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    struct given *const given = s->state;

    given->batches++;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(events[i].device, events[0].device);
        assert_int_equal(tm_wants(s, &events[i]), wants(s, &events[i]));
        if (!tm_wants(s, &events[i]))
            continue;
        assert_true(events[i].record.start_ps > given->last_ps);
        given->last_ps = events[i].record.start_ps;
        if (events[i].record.args_length == sizeof(struct tm_number))
            assert_int_equal(((const struct tm_number *)events[i].args)->value, given->last_ps);
        if (events[i].record.args_length == sizeof(struct tm_allocation))
            assert_int_equal(((const struct tm_allocation *)events[i].args)->bytes_allocated, given->last_ps);
        given->taken++;
    }
}

static const struct tm_stage_type stage_type = {
    .name = "given",
    .classes = TM_CLASSES_ALL,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .take_site = take_site,
    .take_self = take_self,
    .lengths = lengths_of,
    .end_host = end_host,
};

struct rig {
    struct tm_run run;
    struct tm_trace trace;
    struct tm_device devices[DEVICES];
    struct tm_stage stage;
    struct tm_feed feed;
    struct given *given;
};

static void set_up(struct rig *r, enum tm_device_kind kind)
{
    memset(r, 0, sizeof(*r));
    test_run_init(&r->run);
    r->given = calloc(1, sizeof(*r->given));
    assert_non_null(r->given);
    r->given->lengths = tm_lengths_new(&r->run, TM_ACCOUNT_TABLES, 1 << 20);
    r->stage = (struct tm_stage){ .type = &stage_type, .run = &r->run, .state = r->given };
    r->trace = (struct tm_trace){ .run = &r->run, .devices = r->devices, .device_count = DEVICES };
    for (uint32_t i = 0; i < DEVICES; i++)
        r->devices[i] = (struct tm_device){ .index = i, .kind = (uint8_t)kind, .activities = 1 };
    r->given->last_ps = -1;
    r->trace.configs = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_config), 1 << 16);
    for (uint32_t i = 0; i < 5; i++)
        tm_rows_append(r->trace.configs, &(struct tm_config){ .registers = i });
    assert_int_equal(tm_feed_init(&r->feed, &r->run, &r->stage, 1), TM_OK);
    tm_feed_begin_host(&r->feed, &r->trace);
}

static void tear_down(struct rig *r)
{
    tm_feed_release(&r->feed);
    tm_lengths_free(r->given->lengths);
    free(r->given);
    tm_rows_free(r->trace.configs);
    assert_ledger_is_even(&r->run);
}

static struct tm_event event_of(uint64_t site, int64_t start_ps, int64_t dur_ps, bool chosen)
{
    static const struct tm_config config = { .level = TM_LEVEL_NONE };

    return (struct tm_event){ .record = { .start_ps = start_ps,
                                          .dur_ps = dur_ps,
                                          .name = (tm_strid)site,
                                          .config = (uint32_t)(site % 5),
                                          .class = TM_CLASS_TPU_OP },
                              .config = &config,
                              .level = TM_LEVEL_COMPUTE,
                              .device = (uint32_t)(site % DEVICES),
                              .chosen = chosen,
                              .site = site };
}

static void assert_same(const struct tm_site_sums *a, const struct tm_site_sums *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->total_ps, b->total_ps);
    assert_int_equal(a->without_length, b->without_length);
    assert_int_equal(a->min_ps, b->min_ps);
    assert_int_equal(a->max_ps, b->max_ps);
    assert_int_equal(a->squares.low, b->squares.low);
    assert_int_equal(a->first_ps, b->first_ps);
    assert_int_equal(a->first_dur_ps, b->first_dur_ps);
    assert_int_equal(a->continued, b->continued);
}

/* More sites than there are rows in the least memory. */
static void sums_do_not_depend_on_the_rows(void **state)
{
    struct given *const expected = calloc(1, sizeof(*expected));
    uint64_t seed = 1, lengths = 0, wanted = 0;
    const struct tm_length *length;
    struct rig r;

    (void)state;
    assert_non_null(expected);
    set_up(&r, TM_DEVICE_GPU);
    for (uint64_t i = 0; i < EVENTS; i++) {
        const uint64_t site = 1 + next_number(&seed) % SITES;
        const int64_t dur_ps = (int64_t)(next_number(&seed) % 1000);
        const bool chosen = i >= EVENTS / 3;
        const struct tm_number number = { (int64_t)i };
        struct tm_event event = event_of(site, (int64_t)i, dur_ps, chosen);

        event.args = &number;
        event.record.args_length = i % 2 ? sizeof(number) : 0;
        tm_feed_take(&r.feed, &event);
        if (chosen && site % 3 == 0)
            tm_feed_continue(&r.feed, &event);
        wanted += chosen && site % 5 == 0;
        lengths += chosen && site % 2;
        add(&expected->sums[site][chosen], &(struct tm_site_sums){ .count = 1,
                                                                   .total_ps = dur_ps,
                                                                   .without_length = !dur_ps,
                                                                   .min_ps = dur_ps,
                                                                   .max_ps = dur_ps,
                                                                   .squares = { 0, (uint64_t)(dur_ps * dur_ps) },
                                                                   .first_ps = (int64_t)i,
                                                                   .first_dur_ps = dur_ps,
                                                                   .continued = chosen && site % 3 == 0 });
    }
    tm_feed_end_host(&r.feed);
    assert_true(r.given->calls > SITES * 2 + 1000); /* some came in pieces */
    assert_int_equal(r.given->taken, wanted);
    for (uint64_t i = 1; i <= SITES; i++) {
        assert_int_equal(r.given->sums[i][0].count, expected->sums[i][0].count);
        assert_int_equal(r.given->sums[i][0].total_ps, expected->sums[i][0].total_ps);
        assert_int_equal(r.given->sums[i][0].without_length, expected->sums[i][0].without_length);
        assert_same(&r.given->sums[i][1], &expected->sums[i][1]);
        assert_same(&r.given->self[i], &expected->sums[i][1]);
        assert_int_equal(r.given->self[i].self_ps, expected->sums[i][1].total_ps);
    }
    tm_lengths_finish(r.given->lengths);
    while ((length = tm_lengths_next(r.given->lengths)))
        lengths -= length->count;
    assert_int_equal(lengths, 0);
    tear_down(&r);
    free(expected);
}

static void allocations_wait_in_a_batch(void **state)
{
    struct rig r;

    (void)state;
    set_up(&r, TM_DEVICE_GPU);
    for (int64_t i = 0; i < 1000; i++) {
        const struct tm_allocation allocation = { .bytes_allocated = i };
        struct tm_event event = event_of(5, i, 1, true);

        event.args = &allocation;
        event.record.args_length = sizeof(allocation);
        tm_feed_take(&r.feed, &event);
    }
    tm_feed_end_host(&r.feed);
    assert_int_equal(r.given->taken, 1000);
    assert_in_range(r.given->batches, 1, 20);
    tear_down(&r);
}

/* On the line of a TPU: a loop, its body of two ops, one after it. */
static void ops_that_lie_in_others_have_self_times(void **state)
{
    const struct tm_event events[] = { event_of(2, 0, 100, true), event_of(4, 10, 30, true), event_of(6, 50, 20, true),
                                       event_of(4, 200, 7, true), event_of(8, 300, 5, false) };
    struct rig r;

    (void)state;
    set_up(&r, TM_DEVICE_TPU);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        tm_feed_take(&r.feed, &events[i]);
    tm_feed_end_host(&r.feed);
    assert_int_equal(r.given->sums[2][1].total_ps, 100);
    assert_int_equal(r.given->self[2].total_ps, 100);
    assert_int_equal(r.given->self[2].self_ps, 50);
    assert_int_equal(r.given->self[2].self_squares.low, 2500);
    assert_int_equal(r.given->self[4].count, 2);
    assert_int_equal(r.given->self[4].self_ps, 37);
    assert_int_equal(r.given->self[4].first_ps, 10);
    assert_int_equal(r.given->self[4].min_ps, 7);
    assert_int_equal(r.given->self[6].self_ps, 20);
    assert_int_equal(r.given->sums[8][0].count, 1);
    assert_int_equal(r.given->self[8].count, 0); /* not chosen */
    tear_down(&r);
}

static void times_that_are_too_long_come_in_pieces(void **state)
{
    struct rig r;

    (void)state;
    set_up(&r, TM_DEVICE_GPU);
    for (int i = 0; i < 3; i++) {
        const struct tm_event event = event_of(2, i, INT64_MAX / 2 + 1, true);

        tm_feed_take(&r.feed, &event);
    }
    tm_feed_end_host(&r.feed);
    assert_int_equal(r.given->calls, 3);
    assert_int_equal(r.given->sums[2][1].count, 3);
    assert_int_equal(r.given->sums[2][1].total_ps, INT64_MAX);
    tear_down(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_do_not_depend_on_the_rows),
        cmocka_unit_test(allocations_wait_in_a_batch),
        cmocka_unit_test(ops_that_lie_in_others_have_self_times),
        cmocka_unit_test(times_that_are_too_long_come_in_pieces),
    };

    return cmocka_run_group_tests_name("site table", tests, NULL, NULL);
}
