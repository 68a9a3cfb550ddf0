/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/records/record_store.h"

#include "tests/support/stored_trace.h"

/* The inner source's records, counted: what is kept is not asked for again. */
struct replayed {
    struct tm_run run;
    struct stored_trace trace;
    struct tm_source *source;
    uint64_t decoded;
};

static void count_decoded(void *to, const struct tm_track *track, struct tm_raw_record *raw)
{
    (void)track;
    (void)raw;
    ++*(uint64_t *)to;
}

static tm_status open_source(struct replayed *r, struct tm_run *run, const char *const *tracks)
{
    const struct tm_record_finish calls = { .record = count_decoded, .to = &r->decoded };
    const uint64_t refuse_in = run->budget.refuse_in;
    struct tm_source *inner;
    uint32_t count = 0;

    run->budget.refuse_in = 0;
    while (tracks[count])
        count++;
    r->decoded = 0;
    stored_trace_init(&r->trace, run, count);
    for (uint32_t i = 0; i < count; i++)
        if (tracks[i][0])
            stored_add(&r->trace, i, tracks[i]);
    assert_int_equal(tm_record_source_new(&r->trace.trace, r->trace.store, &calls, &inner), TM_OK);
    r->trace.store = NULL; /* the source's */
    run->budget.refuse_in = refuse_in;
    return tm_replay_source_new(inner, &r->source);
}

static void begin_test(struct replayed *r, const char *const *tracks)
{
    test_run_init(&r->run);
    assert_int_equal(open_source(r, &r->run, tracks), TM_OK);
    assert_ptr_equal(r->source->trace, &r->trace.trace);
}

static void end_test(struct replayed *r)
{
    r->source->type->free(r->source);
    stored_trace_free(&r->trace);
    assert_ledger_is_even(&r->run);
}

/* Read at most so many records of a track; how many there were. */
static uint64_t read_some(struct replayed *r, uint64_t track, bool counts, uint64_t most, struct tm_raw_record *last)
{
    const struct tm_source_type *const type = r->source->type;
    struct tm_cursor *const cursor = type->open(r->source, track, 4096);
    uint64_t n = 0;
    bool more = true;

    assert_non_null(cursor);
    assert_ptr_equal(cursor->source, r->source);
    assert_int_equal(cursor->track, track);
    cursor->counts = counts;
    for (; n < most; n++) {
        struct tm_raw_record raw;

        assert_int_equal(type->next(cursor, &raw, &more), TM_OK);
        if (!more)
            break;
        *last = raw;
    }
    type->close(cursor);
    return n;
}

static uint64_t read_all(struct replayed *r, uint64_t track, bool counts)
{
    struct tm_raw_record last;

    return read_some(r, track, counts, UINT64_MAX, &last);
}

static void a_track_is_decoded_once(void **state)
{
    static const char *const tracks[] = { "X1+1 a;X2+2 b;X3+3 c", "", "X100+1 a", NULL };
    struct replayed r;

    (void)state;
    begin_test(&r, tracks);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(read_all(&r, 0, i == 0), 3);
        assert_int_equal(read_all(&r, 1, i == 0), 0);
        assert_int_equal(read_all(&r, 2, i == 0), 1);
        assert_int_equal(r.decoded, 4);
    }
    r.source->type->close(NULL);
    end_test(&r);
}

static void what_is_kept_is_what_was_read(void **state)
{
    static const char *const tracks[] = { "X1+1 a;X2+2 b", "X5000000000000+7000000000 long", NULL };
    struct replayed r;

    (void)state;
    begin_test(&r, tracks);
    for (uint64_t track = 0; track < 2; track++) {
        struct tm_raw_record first, again;

        assert_int_equal(read_some(&r, track, true, UINT64_MAX, &first), 2 - track);
        assert_int_equal(read_some(&r, track, false, UINT64_MAX, &again), 2 - track);
        assert_memory_equal(&first.record, &again.record, sizeof(first.record));
        assert_int_equal(first.traits, again.traits);
    }
    assert_int_equal(r.decoded, 3);
    end_test(&r);
}

static void a_reading_that_does_not_count_keeps_nothing(void **state)
{
    static const char *const tracks[] = { "X1+1 a;X2+2 b", NULL };
    struct replayed r;

    (void)state;
    begin_test(&r, tracks);
    assert_int_equal(read_all(&r, 0, false), 2);
    assert_int_equal(read_all(&r, 0, false), 2);
    assert_int_equal(r.decoded, 4);
    end_test(&r);
}

static void half_a_track_is_not_taken_for_all_of_it(void **state)
{
    static const char *const tracks[] = { "X1+1 a;X2+2 b;X3+3 c", "X1+1 a", NULL };
    struct tm_raw_record last;
    struct replayed r;

    (void)state;
    begin_test(&r, tracks);
    assert_int_equal(read_some(&r, 0, true, 2, &last), 2);
    assert_int_equal(read_all(&r, 0, true), 3);
    assert_int_equal(last.record.start_ps, 2);
    assert_int_equal(read_all(&r, 0, false), 3);
    assert_int_equal(read_all(&r, 1, true), 1);
    assert_int_equal(r.decoded, 2 + 3 + 3 + 1);
    end_test(&r);
}

/* While one track is being kept, others are read as if nothing were kept. */
static void one_track_is_kept_at_a_time(void **state)
{
    static const char *const tracks[] = { "X1+1 a;X2+2 b", "X1+1 a", NULL };
    struct tm_cursor *cursor;
    struct tm_raw_record raw;
    struct replayed r;
    bool more = true;

    (void)state;
    begin_test(&r, tracks);
    cursor = r.source->type->open(r.source, 0, 4096);
    cursor->counts = true;
    assert_int_equal(r.source->type->next(cursor, &raw, &more), TM_OK);
    assert_int_equal(read_all(&r, 1, true), 1);
    assert_int_equal(read_all(&r, 0, false), 2);
    while (more)
        assert_int_equal(r.source->type->next(cursor, &raw, &more), TM_OK);
    r.source->type->close(cursor);
    assert_int_equal(r.decoded, 1 + 1 + 2 + 1);
    assert_int_equal(read_all(&r, 0, false), 2);
    assert_int_equal(r.decoded, 5);
    assert_int_equal(read_all(&r, 1, false), 1);
    assert_int_equal(r.decoded, 6);
    end_test(&r);
}

static void own_arguments_of_both_readings_are_given(void **state)
{
    static const char *const tracks[] = { "X1+1 a =x", NULL };
    struct replayed r;
    uint8_t first[4] = { 0 };

    (void)state;
    begin_test(&r, tracks);
    r.trace.trace.keeps_arguments = true;
    for (int i = 0; i < 2; i++) {
        struct tm_cursor *const cursor = r.source->type->open(r.source, 0, 4096);
        struct tm_raw_record raw;
        bool more;

        cursor->counts = i == 0;
        assert_int_equal(r.source->type->next(cursor, &raw, &more), TM_OK);
        assert_int_equal(r.source->type->own(cursor, &raw), TM_OK);
        assert_int_equal(raw.own.length, 4);
        if (i)
            assert_memory_equal(raw.own.bytes, first, sizeof(first));
        memcpy(first, raw.own.bytes, sizeof(first));
        assert_int_equal(r.source->type->next(cursor, &raw, &more), TM_OK);
        assert_false(more);
        r.source->type->close(cursor);
    }
    assert_int_equal(r.decoded, 1); /* the second one came from the store */
    end_test(&r);
}

static tm_status read_twice(struct tm_source *source)
{
    tm_status st = TM_OK;

    for (int i = 0; i < 2 && st == TM_OK; i++) {
        struct tm_cursor *const cursor = source->type->open(source, 0, 4096);
        struct tm_raw_record raw;
        bool more = true;

        if (!cursor)
            return source->trace->run->error.status;
        cursor->counts = i == 0;
        while (st == TM_OK && more)
            st = source->type->next(cursor, &raw, &more);
        source->type->close(cursor);
    }
    return st;
}

static tm_status job(struct tm_run *run)
{
    static const char *const tracks[] = { "X1+1 a;X2+1 b", NULL };
    struct replayed r;
    tm_status st = open_source(&r, run, tracks);

    if (st == TM_OK)
        st = read_twice(r.source);
    if (r.source)
        r.source->type->free(r.source);
    stored_trace_free(&r.trace);
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
        cmocka_unit_test(a_track_is_decoded_once),
        cmocka_unit_test(what_is_kept_is_what_was_read),
        cmocka_unit_test(a_reading_that_does_not_count_keeps_nothing),
        cmocka_unit_test(half_a_track_is_not_taken_for_all_of_it),
        cmocka_unit_test(one_track_is_kept_at_a_time),
        cmocka_unit_test(own_arguments_of_both_readings_are_given),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
