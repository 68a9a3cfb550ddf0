/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/records/record_store.h"

#include "stages/order/order.h"
#include "tests/support/stored_trace.h"

/* Everything that `finish` was asked. */
struct finished {
    uint64_t calls;
    uint32_t traits;
};

static void finish(void *to, const struct tm_track *track, struct tm_raw_record *raw)
{
    struct finished *const f = to;

    assert_int_equal(track->id, (int64_t)raw->record.track * 3);
    f->calls++;
    raw->traits |= f->traits;
}

static struct tm_source *begin_test(struct tm_run *run, struct stored_trace *s, const char *const *tracks,
                                    struct finished *finished)
{
    const struct tm_record_finish calls = { .record = finished ? finish : NULL, .to = finished };
    struct tm_source *source;
    uint32_t count = 0;

    test_run_init(run);
    while (tracks[count])
        count++;
    stored_trace_init(s, run, count);
    assert_non_null(s->store);
    for (uint32_t i = 0; i < count; i++) {
        if (tracks[i][0])
            stored_add(s, i, tracks[i]);
        tm_pairs_join(s->store, &s->trace, i);
        ((struct tm_track *)tm_rows_change(s->trace.tracks, i))->events = tm_record_store_count(s->store, i);
    }
    assert_int_equal(tm_record_source_new(&s->trace, s->store, &calls, &source), TM_OK);
    assert_ptr_equal(source->trace, &s->trace);
    return source;
}

static void end_test(struct tm_run *run, struct stored_trace *s, struct tm_source *source)
{
    source->type->free(source);
    s->store = NULL;
    stored_trace_free(s);
    assert_ledger_is_even(run);
}

/* Read a track; the sum of its starts. */
static int64_t read_track(struct tm_source *source, uint64_t track, bool counts, uint32_t traits)
{
    struct tm_cursor *const cursor = source->type->open(source, track, 4096);
    int64_t sum = 0;

    assert_non_null(cursor);
    assert_ptr_equal(cursor->source, source);
    assert_int_equal(cursor->track, track);
    assert_false(cursor->counts);
    cursor->counts = counts;
    for (;;) {
        struct tm_raw_record raw;
        bool more;

        assert_int_equal(source->type->next(cursor, &raw, &more), TM_OK);
        if (!more)
            break;
        assert_int_equal(raw.record.track, track);
        assert_int_equal(raw.traits, traits);
        sum += raw.record.start_ps;
    }
    source->type->close(cursor);
    return sum;
}

static void tracks_are_read_as_often_as_wanted(void **state)
{
    static const char *const tracks[] = { "X1+1 a;X2+2 b;X3+3 c", "", "X100+1 a", NULL };
    struct tm_run run;
    struct stored_trace s;
    struct tm_source *const source = begin_test(&run, &s, tracks, NULL);

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(read_track(source, 0, false, 0), 6);
        assert_int_equal(read_track(source, 1, false, 0), 0);
        assert_int_equal(read_track(source, 2, false, 0), 100);
    }
    source->type->close(NULL);
    assert_int_equal(run.events_read, 0);
    end_test(&run, &s, source);
}

static void each_record_is_finished(void **state)
{
    static const char *const tracks[] = { "X1+1 a;X2+2 b;X3+3 c", "X1+1 a", NULL };
    struct finished finished = { .traits = 0x40 };
    struct tm_run run;
    struct stored_trace s;
    struct tm_source *const source = begin_test(&run, &s, tracks, &finished);

    (void)state;
    assert_int_equal(read_track(source, 0, false, 0x40), 6);
    assert_int_equal(finished.calls, 3);
    assert_int_equal(read_track(source, 1, true, 0x40), 1);
    assert_int_equal(finished.calls, 4);
    end_test(&run, &s, source);
}

static void the_reading_that_counts_tallies_what_spans_are_to_each_other(void **state)
{
    static const char *const tracks[] = {
        "X207+1 c;X205+10 b;X200+10 a;i205 m", /* out of order in the file */
        "X300+5 twin;X300+5 twin;X301+2 b",    /* the same again is not for another track */
        "X300+5 twin", "B1 a;B5 b;E8 a;E9 b", NULL
    };
    struct tm_run run;
    struct stored_trace s;
    struct tm_source *const source = begin_test(&run, &s, tracks, NULL);
    const uint64_t *const count = run.tallies.count;

    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        (void)read_track(source, i, false, 0);
    assert_int_equal(count[TM_TALLY_OVERLAPPING_SPAN] + count[TM_TALLY_REPEATED_EVENT], 0);
    for (uint64_t i = 0; i < 4; i++)
        (void)read_track(source, i, true, 0);
    assert_int_equal(count[TM_TALLY_OVERLAPPING_SPAN], 2);
    assert_int_equal(count[TM_TALLY_REPEATED_EVENT], 1);
    assert_int_equal(run.events_read, 0);
    end_test(&run, &s, source);
}

enum { EXPECTED_TRACKS = 8, EXPECTED = 5 /* of those that follow another one of their track */ };

struct taken {
    int64_t last_ps;
    uint64_t count;
    const struct tm_signatures *signatures;
    int64_t expected_ps[EXPECTED_TRACKS]; /* of a track's next record; 0 = nothing was said of it */
    uint64_t expected;
};

static void note_expected(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    struct taken *const t = to;

    assert_true(raw->signature && track->id / 3 < EXPECTED_TRACKS);
    assert_int_equal(t->expected_ps[track->id / 3], 0);
    t->expected_ps[track->id / 3] = raw->record.start_ps;
    t->expected++;
}

static tm_status take(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    struct taken *const t = to;
    struct tm_raw_record filled = *raw;

    if (raw->signature)
        tm_fill_record(t->signatures, &filled);
    assert_int_equal(track->id, (int64_t)filled.record.track * 3);
    assert_true(raw->record.start_ps >= t->last_ps);
    if (t->expected_ps[track->id / 3])
        assert_int_equal(t->expected_ps[track->id / 3], raw->record.start_ps);
    t->expected_ps[track->id / 3] = 0;
    t->last_ps = raw->record.start_ps;
    t->count++;
    return TM_OK;
}

static bool never(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    (void)to;
    (void)track;
    (void)raw;
    return false;
}

static void records_come_in_the_order_of_time(void **state)
{
    static const char *const tracks[] = {
        "X9+1 a;X2+2 b;X5+3 c", "B1 a;B2 b;E3 b;E9 a", "f7 #4;s6 #4;s1 #9", "X4+1 a", "", NULL
    };
    struct taken taken = { .last_ps = INT64_MIN };
    struct tm_run run;
    struct stored_trace s;
    struct tm_source *const source = begin_test(&run, &s, tracks, NULL);

    (void)state;
    taken.signatures = source->signatures;
    assert_int_equal(tm_order_in_parts(source, true,
                                       &(const struct tm_part_order){
                                           .expect = note_expected, .take = take, .is_later = never, .to = &taken }),
                     TM_OK);
    assert_int_equal(taken.count, 9);
    assert_int_equal(taken.last_ps, 9);
    assert_int_equal(taken.expected, EXPECTED);
    end_test(&run, &s, source);
}

/* --- what events say of themselves --- */

enum { OWN_TRACKS = 300, OWN_RECORDS = 40, OWN_BYTES = 2000 };

/* A list that only this record has; some have none. */
static struct tm_arguments own_of(struct tm_names *names, uint32_t track, uint32_t number, uint8_t *buffer)
{
    struct tm_arguments_builder b;

    tm_arguments_begin(&b, names, buffer, OWN_BYTES);
    if (number % 5) {
        tm_put_int(&b, 0, track);
        tm_put_int(&b, 0, number);
    }
    for (uint32_t i = 0; i < 6 * number; i++)
        tm_put_null(&b, 0);
    return tm_arguments_end(&b);
}

/* Tracks of every length; every seventh is out of order, and told so. */
static void fill_with_own(struct stored_trace *s)
{
    for (uint32_t number = 0; number < OWN_RECORDS; number++)
        for (uint32_t track = 0; track < OWN_TRACKS; track++) {
            uint8_t bytes[OWN_BYTES];
            const struct tm_number args = { track + number };
            const int64_t start = track % 7 ? number : OWN_RECORDS - number;
            const struct tm_raw_record raw = {
                .record = { .start_ps = start, .track = track, .correlation = number, .args_length = sizeof(args) },
                .args = &args,
                .own = own_of(s->trace.names, track, number, bytes),
            };

            if (number <= track % OWN_RECORDS)
                tm_record_store_add(s->store, &raw);
        }
    for (uint32_t track = 0; track < OWN_TRACKS; track++) {
        struct tm_track *const row = tm_rows_change(s->trace.tracks, track);

        row->events = tm_record_store_count(s->store, track);
        row->is_unsorted = track % 7 == 0;
    }
}

struct own_taken {
    struct tm_names *names;
    uint64_t count;
};

static tm_status take_own(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    struct own_taken *const t = to;
    uint8_t bytes[OWN_BYTES];
    const struct tm_arguments expected = own_of(t->names, raw->record.track, (uint32_t)raw->record.correlation, bytes);

    assert_int_equal(track->id, (int64_t)raw->record.track * 3);
    assert_int_equal(((const struct tm_number *)raw->args)->value, raw->record.track + raw->record.correlation);
    assert_int_equal(raw->own.length, expected.length);
    assert_memory_equal(expected.length ? raw->own.bytes : bytes, bytes, expected.length);
    t->count++;
    return TM_OK;
}

static tm_status take_bare(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    uint64_t *const count = to;

    (void)track;
    assert_int_equal(((const struct tm_number *)raw->args)->value, raw->record.track + raw->record.correlation);
    assert_int_equal(raw->own.length, 0);
    ++*count;
    return TM_OK;
}

/* More tracks than are open at once, some out of order, more bytes than memory. */
static void own_arguments_go_along_through_the_merge(void **state)
{
    const struct tm_record_finish none = { .record = NULL };
    const uint64_t all = OWN_TRACKS / OWN_RECORDS * (OWN_RECORDS * (OWN_RECORDS + 1) / 2) + 20 * 21 / 2;
    struct own_taken taken = { .count = 0 };
    struct tm_run run;
    struct stored_trace s;
    struct tm_source *source;

    (void)state;
    test_run_init(&run);
    stored_trace_init(&s, &run, OWN_TRACKS);
    s.trace.keeps_arguments = true;
    tm_record_store_free(s.store);
    s.store = tm_record_store_new(&s.trace, NULL);
    fill_with_own(&s);
    assert_true(run.budget.spilled_bytes > 0);
    assert_int_equal(tm_record_source_new(&s.trace, s.store, &none, &source), TM_OK);
    taken.names = s.trace.names;
    for (uint64_t turn = 1; turn <= 2; turn++) {
        assert_int_equal(tm_order(source, true, take_own, NULL, &taken), TM_OK);
        assert_int_equal(taken.count, turn * all);
    }
    taken.count = 0;
    assert_int_equal(tm_order(source, false, take_bare, NULL, &taken.count), TM_OK); /* they may stay where they are */
    assert_int_equal(taken.count, all);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_SORT] <= tm_budget_share(&run.budget, TM_ACCOUNT_SORT));
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_INPUT] <= tm_budget_share(&run.budget, TM_ACCOUNT_INPUT));
    end_test(&run, &s, source);
}

static tm_status change_own(void *to, const struct tm_record *record, uint8_t *bytes, size_t length)
{
    (void)to;
    assert_int_equal(record->start_ps, 1);
    assert_int_equal(length, 4);
    bytes[3] = 'z';
    return TM_OK;
}

static void own_arguments_are_finished(void **state)
{
    const struct tm_record_finish calls = { .own = change_own };
    struct tm_source *source;
    struct tm_cursor *cursor;
    struct stored_trace s;
    struct tm_run run;
    struct tm_raw_record raw;
    bool more;

    (void)state;
    test_run_init(&run);
    stored_trace_init(&s, &run, 1);
    stored_add(&s, 0, "X1+1 a =x;X2+1 b");
    assert_int_equal(tm_record_source_new(&s.trace, s.store, &calls, &source), TM_OK);
    cursor = source->type->open(source, 0, 4096);
    for (int i = 0; i < 2; i++) { /* the second one has none */
        assert_int_equal(source->type->next(cursor, &raw, &more), TM_OK);
        assert_int_equal(source->type->own(cursor, &raw), TM_OK);
        assert_int_equal(raw.own.length, i ? 0 : 4);
        assert_true(i || raw.own.bytes[3] == 'z');
    }
    source->type->close(cursor);
    end_test(&run, &s, source);
}

static tm_status read_first(struct tm_source *source)
{
    struct tm_cursor *const cursor = source->type->open(source, 0, 4096);
    struct tm_raw_record raw;
    bool more;
    tm_status st;

    if (!cursor)
        return source->trace->run->error.status;
    cursor->counts = true;
    st = source->type->next(cursor, &raw, &more);
    assert_true(st != TM_OK || more);
    source->type->close(cursor);
    return st;
}

static tm_status job(struct tm_run *run)
{
    const struct tm_record_finish none = { .record = NULL };
    const uint64_t refuse_in = run->budget.refuse_in;
    struct stored_trace s;
    struct tm_source *source;
    tm_status st;

    run->budget.refuse_in = 0;
    stored_trace_init(&s, run, 1);
    stored_add(&s, 0, "X1+1 a;X2+1 b");
    run->budget.refuse_in = refuse_in;
    st = tm_record_source_new(&s.trace, s.store, &none, &source);
    if (st == TM_OK)
        st = read_first(source);
    if (source)
        source->type->free(source);
    s.store = NULL; /* the source's, whatever became of it */
    stored_trace_free(&s);
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
        cmocka_unit_test(tracks_are_read_as_often_as_wanted),
        cmocka_unit_test(each_record_is_finished),
        cmocka_unit_test(the_reading_that_counts_tallies_what_spans_are_to_each_other),
        cmocka_unit_test(records_come_in_the_order_of_time),
        cmocka_unit_test(own_arguments_go_along_through_the_merge),
        cmocka_unit_test(own_arguments_are_finished),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("record_source", tests, NULL, NULL);
}
