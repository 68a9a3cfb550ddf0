/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/order/order.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

/* A source in memory: tracks of records, each with its number as correlation and arguments that follow from it. */
struct made_track {
    struct tm_record *records;
    uint64_t count;
};

struct made_source {
    struct tm_source source; /* first: a tm_source is cast to it */
    struct tm_trace trace;
    struct made_track *tracks;
    uint64_t track_count;
    unsigned open, most_open; /* cursors */
    uint64_t fail_at;         /* the record of that number cannot be read; 0 = all can */
};

struct made_cursor {
    struct tm_cursor base;
    uint64_t at;
    uint8_t args[sizeof(struct tm_allocation)];
};

/* Lengths of arguments that records have; every byte tells its record. */
static const uint32_t lengths[] = { 0, 8, 0, sizeof(struct tm_allocation), 24, 1 };

static uint32_t fill_args(uint64_t number, uint8_t *args)
{
    const uint32_t length = lengths[number % (sizeof(lengths) / sizeof(lengths[0]))];

    for (uint32_t i = 0; i < length; i++)
        args[i] = (uint8_t)(number * 7 + i + number / 256);
    return length;
}

static tm_strid name_of(uint64_t number)
{
    return 1 + (tm_strid)(number % 97);
}

static struct tm_cursor *open_made(struct tm_source *source, uint64_t track, size_t buffer_bytes)
{
    struct made_source *const made = (struct made_source *)source;
    struct made_cursor *const c =
        tm_take(&source->trace->run->budget, TM_ACCOUNT_INPUT, sizeof(*c), &source->trace->run->error);

    assert_true(buffer_bytes >= 4096);
    if (!c)
        return NULL;
    c->base = (struct tm_cursor){ .source = source, .track = track };
    made->open++;
    made->most_open = made->open > made->most_open ? made->open : made->most_open;
    return &c->base;
}

static tm_status next_made(struct tm_cursor *cursor, struct tm_raw_record *raw, bool *more)
{
    struct made_cursor *const c = (struct made_cursor *)cursor;
    const struct made_source *const made = (const struct made_source *)cursor->source;
    const struct made_track *const track = &made->tracks[cursor->track];

    *more = c->at < track->count;
    if (!*more)
        return TM_OK;
    *raw = (struct tm_raw_record){ .record = track->records[c->at++], .args = c->args };
    raw->record.args_length = fill_args(raw->record.correlation, c->args);
    raw->record.name = name_of(raw->record.correlation);
    raw->traits = raw->record.name ^ 0x5a5a;
    if (made->fail_at && raw->record.correlation == made->fail_at)
        return tm_fail(&cursor->source->trace->run->error, TM_ERR_INPUT, 7, "cannot be read");
    return TM_OK;
}

static void close_made(struct tm_cursor *cursor)
{
    if (!cursor)
        return;
    ((struct made_source *)cursor->source)->open--;
    tm_give(&cursor->source->trace->run->budget, TM_ACCOUNT_INPUT, cursor, sizeof(struct made_cursor));
}

static const struct tm_source_type made_type = {
    .name = "made", .open = open_made, .next = next_made, .close = close_made
};

/* How the tracks look. */
struct shape {
    uint64_t tracks, per_track;
    int64_t range_ps;     /* starts lie below: small ones give many equal times */
    unsigned unsorted_in; /* one of that many tracks is out of order; 0 = none */
    unsigned arrows_in;   /* one of that many tracks has ends of arrows, from the first one on; 0 = none */
    bool uneven;          /* track i has about per_track / (i + 1) records */
    uint32_t devices;     /* tracks that are no multiple of devices + 1 are of one of so many devices */
};

static int in_order(const struct tm_record *a, const struct tm_record *b)
{
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    if (a->dur_ps != b->dur_ps)
        return a->dur_ps > b->dur_ps ? -1 : 1;
    return (a->kind == TM_FLOW_STEP) - (b->kind == TM_FLOW_STEP);
}

static int by_time(const void *a, const void *b)
{
    const struct tm_record *const x = a, *const y = b;
    const int order = in_order(x, y);

    return order ? order : (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* Records are numbered track by track in the order of the file: ties are told by it. */
static void fill_track(struct made_source *made, uint64_t number, const struct shape *shape, uint64_t *seed,
                       uint64_t *next)
{
    struct made_track *const track = &made->tracks[number];
    const bool is_unsorted = shape->unsorted_in && number % shape->unsorted_in == 0;
    const bool has_arrows = shape->arrows_in && number % shape->arrows_in == 0;
    const uint32_t device = (uint32_t)(number % (shape->devices + 1));
    struct tm_track row = { .id = (int64_t)number * 3,
                            .thread = (uint32_t)number,
                            .is_unsorted = is_unsorted,
                            .side = device ? TM_SIDE_DEVICE : TM_SIDE_HOST,
                            .device = device ? device - 1 : (uint32_t)TM_NONE };

    track->count = shape->uneven ? shape->per_track / (number + 1) : shape->per_track;
    track->records = calloc(track->count + 1, sizeof(*track->records));
    assert_non_null(track->records);
    row.events = track->count;
    for (uint64_t i = 0; i < track->count; i++)
        track->records[i] = (struct tm_record){ .start_ps = (int64_t)(next_number(seed) % (uint64_t)shape->range_ps) -
                                                            shape->range_ps / 4,
                                                .dur_ps = has_arrows ? 0 : (int64_t)(next_number(seed) % 4),
                                                .track = (uint32_t)number,
                                                .correlation = i,
                                                .kind = has_arrows ? TM_FLOW_STEP : TM_SPAN };
    if (!is_unsorted)
        qsort(track->records, track->count, sizeof(*track->records), by_time);
    for (uint64_t i = 0; i < track->count; i++)
        track->records[i].correlation = ++*next;
    tm_rows_append(made->trace.tracks, &row);
}

static struct made_source *make_source(struct tm_run *run, const struct shape *shape, uint64_t seed)
{
    struct made_source *const made = calloc(1, sizeof(*made));
    uint64_t next = 0;

    assert_non_null(made);
    made->source = (struct tm_source){ .type = &made_type, .trace = &made->trace };
    made->trace.run = run;
    made->trace.device_count = shape->devices;
    made->trace.tracks = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), 1 << 20);
    made->tracks = calloc(shape->tracks + 1, sizeof(*made->tracks));
    assert_non_null(made->trace.tracks);
    assert_non_null(made->tracks);
    made->track_count = shape->tracks;
    for (uint64_t i = 0; i < shape->tracks; i++)
        fill_track(made, i, shape, &seed, &next);
    return made;
}

static void free_source(struct made_source *made)
{
    assert_int_equal(made->open, 0);
    assert_true(made->most_open <= 256);
    for (uint64_t i = 0; i < made->track_count; i++)
        free(made->tracks[i].records);
    tm_rows_free(made->trace.tracks);
    free(made->tracks);
    free(made);
}

/* What comes out, checked against all records sorted at once. */
struct taken {
    struct tm_record *expected;
    uint64_t count, at, refuse_at;
};

static tm_status take(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    struct taken *const t = to;
    const struct tm_record *expected;
    uint8_t args[sizeof(struct tm_allocation)];
    uint32_t length;

    if (t->refuse_at && t->at + 1 == t->refuse_at)
        return TM_ERR_OUTPUT;
    assert_true(t->at < t->count);
    expected = &t->expected[t->at++];
    length = fill_args(expected->correlation, args);
    if (raw->record.correlation != expected->correlation)
        fail_msg("record %llu is number %llu at %lld instead of %llu at %lld", (unsigned long long)t->at,
                 (unsigned long long)raw->record.correlation, (long long)raw->record.start_ps,
                 (unsigned long long)expected->correlation, (long long)expected->start_ps);
    assert_int_equal(raw->record.start_ps, expected->start_ps);
    assert_int_equal(raw->record.dur_ps, expected->dur_ps);
    assert_int_equal(raw->record.track, expected->track);
    assert_int_equal(track->id, (int64_t)expected->track * 3);
    assert_int_equal(track->thread, expected->track);
    assert_int_equal(raw->record.name, name_of(expected->correlation));
    assert_int_equal(raw->traits, name_of(expected->correlation) ^ 0x5a5a);
    assert_int_equal(raw->record.args_length, length);
    assert_memory_equal(raw->args, args, length);
    return TM_OK;
}

/* All records in the order of the stream; numbers grow with the track, then with the place in it. */
static void expect(const struct made_source *made, struct taken *t)
{
    uint64_t at = 0;

    *t = (struct taken){ .count = 0 };
    for (uint64_t i = 0; i < made->track_count; i++)
        t->count += made->tracks[i].count;
    t->expected = calloc(t->count + 1, sizeof(*t->expected));
    assert_non_null(t->expected);
    for (uint64_t i = 0; i < made->track_count; i++) {
        memcpy(t->expected + at, made->tracks[i].records, made->tracks[i].count * sizeof(*t->expected));
        at += made->tracks[i].count;
    }
    qsort(t->expected, t->count, sizeof(*t->expected), by_time);
}

static void check_shape(const struct shape *shape, uint64_t seed, bool spills)
{
    struct tm_run run;
    struct made_source *made;
    struct taken taken;

    test_run_init(&run);
    made = make_source(&run, shape, seed);
    expect(made, &taken);
    assert_int_equal(tm_order(&made->source, true, take, NULL, &taken), TM_OK);
    assert_int_equal(taken.at, taken.count);
    if (spills)
        assert_true(run.budget.spilled_bytes > 0);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_SORT] <= tm_budget_share(&run.budget, TM_ACCOUNT_SORT) + (128 << 10));
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_INPUT] <= tm_budget_share(&run.budget, TM_ACCOUNT_INPUT));
    free(taken.expected);
    free_source(made);
    assert_ledger_is_even(&run);
}

static void tracks_in_order_are_merged(void **state)
{
    static const struct shape shapes[] = {
        { .tracks = 0, .per_track = 0, .range_ps = 1 },
        { .tracks = 1, .per_track = 500, .range_ps = 1000 },
        { .tracks = 5, .per_track = 0, .range_ps = 1 },
        { .tracks = 7, .per_track = 300, .range_ps = 100000 },
        { .tracks = 30, .per_track = 900, .range_ps = 1000000, .uneven = true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_shape(&shapes[i], i + 1, false);
}

static void equal_times_come_by_track_and_then_as_in_the_file(void **state)
{
    static const struct shape shapes[] = {
        { .tracks = 6, .per_track = 200, .range_ps = 2 },
        { .tracks = 6, .per_track = 200, .range_ps = 2, .unsorted_in = 2 },
        { .tracks = 300, .per_track = 20, .range_ps = 3, .unsorted_in = 3 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_shape(&shapes[i], i + 10, false);
}

static void arrows_come_after_what_they_may_point_to(void **state)
{
    static const struct shape shapes[] = {
        { .tracks = 6, .per_track = 200, .range_ps = 20, .arrows_in = 3 },
        { .tracks = 6, .per_track = 200, .range_ps = 20, .arrows_in = 3, .unsorted_in = 2 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_shape(&shapes[i], i + 15, false);
}

static void tracks_out_of_order_are_sorted(void **state)
{
    static const struct shape shapes[] = {
        { .tracks = 1, .per_track = 2000, .range_ps = 5000, .unsorted_in = 1 },
        { .tracks = 9, .per_track = 300, .range_ps = 5000, .unsorted_in = 1 },
        { .tracks = 9, .per_track = 300, .range_ps = 5000, .unsorted_in = 4 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_shape(&shapes[i], i + 20, false);
}

static void what_does_not_fit_is_spilled(void **state)
{
    static const struct shape one = { .tracks = 2, .per_track = 150000, .range_ps = 1 << 30, .unsorted_in = 2 };

    (void)state;
    check_shape(&one, 30, true);
}

static void more_tracks_than_can_be_open_are_merged(void **state)
{
    static const struct shape shapes[] = {
        { .tracks = 255, .per_track = 10, .range_ps = 700 },
        { .tracks = 256, .per_track = 10, .range_ps = 700 },
        { .tracks = 257, .per_track = 10, .range_ps = 700 },
        { .tracks = 1000, .per_track = 30, .range_ps = 7000, .unsorted_in = 7 },
        { .tracks = 700, .per_track = 5000, .range_ps = 7000, .uneven = true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_shape(&shapes[i], i + 40, false);
}

static void a_refusal_ends_it_at_once(void **state)
{
    static const struct shape shape = { .tracks = 12, .per_track = 100, .range_ps = 5000, .unsorted_in = 5 };

    (void)state;
    for (uint64_t at = 1; at <= 1200; at += 113) {
        struct tm_run run;
        struct made_source *made;
        struct taken taken;

        test_run_init(&run);
        made = make_source(&run, &shape, 50);
        expect(made, &taken);
        taken.refuse_at = at;
        assert_int_equal(tm_order(&made->source, true, take, NULL, &taken), TM_ERR_OUTPUT);
        assert_int_equal(taken.at, at - 1);
        free(taken.expected);
        free_source(made);
        assert_ledger_is_even(&run);
    }
}

static void a_record_that_cannot_be_read_ends_it(void **state)
{
    static const struct shape shape = { .tracks = 12, .per_track = 100, .range_ps = 5000, .unsorted_in = 5 };

    (void)state;
    for (uint64_t at = 1; at <= 1200; at += 101) {
        struct tm_run run;
        struct made_source *made;
        struct taken taken;

        test_run_init(&run);
        made = make_source(&run, &shape, 50);
        expect(made, &taken);
        made->fail_at = at;
        assert_int_equal(tm_order(&made->source, true, take, NULL, &taken), TM_ERR_INPUT);
        assert_string_equal(run.error.what, "cannot be read");
        free(taken.expected);
        free_source(made);
        assert_ledger_is_even(&run);
    }
}

/* What comes device by device: each group in the order of the stream, and the host's before what starts later. */
struct groups {
    struct taken of[8]; /* the host's, then of each device */
};

static tm_status take_of_group(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    struct groups *const g = to;
    const uint32_t group = track->side == TM_SIDE_DEVICE ? track->device + 1 : 0;
    const struct taken *const host = &g->of[0];

    if (group && host->at < host->count)
        assert_true(raw->record.start_ps <= host->expected[host->at].start_ps);
    return take(&g->of[group], track, raw);
}

static const struct made_source *many_of; /* whose records are completed */

static struct tm_raw_record completed(const struct tm_raw_record *raw)
{
    struct tm_raw_record filled = *raw;

    if (raw->signature)
        tm_fill_record(many_of->source.signatures, &filled);
    return filled;
}

static tm_status take_filled(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    const struct tm_raw_record filled = completed(raw);

    return take_of_group(to, track, &filled);
}

static tm_status take_completed(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    const struct tm_raw_record filled = completed(raw);

    return take(to, track, &filled);
}

static uint64_t taken_together;

static void give_each(void *to, const struct tm_merged *merged, tm_take_record *take_one)
{
    assert_in_range(merged->count, 1, TM_MERGED_RECORDS);
    taken_together += merged->count > 1;
    for (uint32_t i = 0; i < merged->count; i++) {
        struct tm_raw_record raw = { .args = NULL };

        tm_merged_get(merged, i, &raw);
        assert_int_not_equal(raw.signature, 0);
        assert_int_equal(take_one(to, merged->track[i], &raw), TM_OK);
    }
}

static tm_status take_many(void *to, const struct tm_merged *merged)
{
    give_each(to, merged, take_filled);
    return TM_OK;
}

static tm_status take_all_completed(void *to, const struct tm_merged *merged)
{
    give_each(to, merged, take_completed);
    return TM_OK;
}

static uint32_t group_of(const struct made_source *made, const struct tm_record *record)
{
    const struct tm_track *track = tm_rows_at(made->trace.tracks, record->track);

    return track->side == TM_SIDE_DEVICE ? track->device + 1 : 0;
}

/* in: is_many  records that have a number are taken together */
static void check_by_device(const struct shape *shape, uint64_t slice, bool is_many)
{
    struct tm_signatures signatures = { .run = NULL };
    struct groups g = { .of = { { .count = 0 } } };
    struct made_source *made;
    struct taken all;
    struct tm_run run;

    test_run_init(&run);
    made = make_source(&run, shape, slice + 70);
    expect(made, &all);
    for (uint32_t i = 0; i <= shape->devices; i++)
        g.of[i].expected = calloc(all.count + 1, sizeof(*all.expected));
    for (uint64_t i = 0; i < all.count; i++) {
        struct taken *const t = &g.of[group_of(made, &all.expected[i])];

        t->expected[t->count++] = all.expected[i];
    }
    if (is_many) {
        tm_signatures_init(&signatures, &run, 1 << 20);
        made->source.signatures = &signatures;
        many_of = made;
    }
    assert_int_equal(
        tm_order_by_device(&made->source, slice, is_many ? take_filled : take_of_group, is_many ? take_many : NULL, &g),
        TM_OK);
    tm_signatures_release(&signatures);
    for (uint32_t i = 0; i <= shape->devices; i++) {
        assert_int_equal(g.of[i].at, g.of[i].count);
        free(g.of[i].expected);
    }
    free(all.expected);
    free_source(made);
    assert_ledger_is_even(&run);
}

/* As check_shape, with records that have a number taken together. */
static void check_together(const struct shape *shape, uint64_t seed)
{
    struct tm_signatures signatures = { .run = NULL };
    struct made_source *made;
    struct tm_run run;
    struct taken all;

    test_run_init(&run);
    made = make_source(&run, shape, seed);
    expect(made, &all);
    tm_signatures_init(&signatures, &run, 1 << 20);
    made->source.signatures = &signatures;
    many_of = made;
    assert_int_equal(tm_order(&made->source, true, take_completed, take_all_completed, &all), TM_OK);
    assert_int_equal(all.at, all.count);
    tm_signatures_release(&signatures);
    free(all.expected);
    free_source(made);
    assert_ledger_is_even(&run);
}

static void records_are_taken_together_in_order(void **state)
{
    static const struct shape shapes[] = {
        { .tracks = 1, .per_track = 700, .range_ps = 5000 },
        { .tracks = 12, .per_track = 300, .range_ps = 900 },
        { .tracks = 12, .per_track = 100, .range_ps = 5000, .unsorted_in = 5 },
        { .tracks = 400, .per_track = 10, .range_ps = 5000 },
    };

    (void)state;
    taken_together = 0;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_together(&shapes[i], 300 + i);
    assert_true(taken_together > 10);
}

static void devices_take_turns_behind_the_host(void **state)
{
    static const struct shape shapes[] = {
        { .tracks = 1, .per_track = 100, .range_ps = 500, .devices = 3 },
        { .tracks = 13, .per_track = 100, .range_ps = 500, .devices = 3 },
        { .tracks = 13, .per_track = 100, .range_ps = 1 << 30, .devices = 3, .uneven = true },
        { .tracks = 13, .per_track = 100, .range_ps = 1 << 30, .devices = 3, .unsorted_in = 5 },
        { .tracks = 600, .per_track = 30, .range_ps = 1 << 30, .devices = 7, .uneven = true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (int is_many = 0; is_many < 2; is_many++) {
            check_by_device(&shapes[i], 1, is_many);
            check_by_device(&shapes[i], 10, is_many);
            check_by_device(&shapes[i], UINT64_MAX, is_many);
        }
    }
    assert_true(taken_together > 100);
}

static tm_status job(struct tm_run *run)
{
    static const struct shape shape = { .tracks = 12, .per_track = 100, .range_ps = 5000, .unsorted_in = 5 };
    const uint64_t refuse_in = run->budget.refuse_in;
    struct made_source *made;
    struct taken taken;
    tm_status st;

    run->budget.refuse_in = 0;
    made = make_source(run, &shape, 60);
    expect(made, &taken);
    run->budget.refuse_in = refuse_in;
    st = tm_order(&made->source, true, take, NULL, &taken);
    free(taken.expected);
    free_source(made);
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
        cmocka_unit_test(tracks_in_order_are_merged),
        cmocka_unit_test(equal_times_come_by_track_and_then_as_in_the_file),
        cmocka_unit_test(arrows_come_after_what_they_may_point_to),
        cmocka_unit_test(tracks_out_of_order_are_sorted),
        cmocka_unit_test(what_does_not_fit_is_spilled),
        cmocka_unit_test(more_tracks_than_can_be_open_are_merged),
        cmocka_unit_test(devices_take_turns_behind_the_host),
        cmocka_unit_test(records_are_taken_together_in_order),
        cmocka_unit_test(a_refusal_ends_it_at_once),
        cmocka_unit_test(a_record_that_cannot_be_read_ends_it),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
