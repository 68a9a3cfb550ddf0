/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/stored_trace.h"

/* Everything of a record follows from its track and its place there. */
static struct tm_raw_record made(uint32_t track, uint64_t at, struct tm_allocation *args)
{
    const uint64_t mix = track * UINT64_C(1000003) + at;

    memset(args, (int)(mix % 251), sizeof(*args));
    return (struct tm_raw_record){
        .record = { .start_ps = (int64_t)mix,
                    .dur_ps = (int64_t)(mix % 97),
                    .correlation = mix,
                    .track = track,
                    .args_length = mix % 10 == 0  ? sizeof(*args)
                                   : mix % 3 == 0 ? 8
                                                  : 0 },
        .args = args,
        .traits = (uint32_t)mix ^ 0x5a5a,
    };
}

static void add(struct stored_trace *s, uint32_t track, uint64_t at)
{
    struct tm_allocation args;
    const struct tm_raw_record raw = made(track, at, &args);

    tm_record_store_add(s->store, &raw);
}

/* Read the next record of a place; false at the end. */
static bool check_next(struct tm_record_place *place, uint32_t track, uint64_t at)
{
    struct tm_allocation args;
    const struct tm_raw_record expected = made(track, at, &args);
    struct tm_raw_record raw;
    bool more;

    more = tm_record_store_next(place, &raw);
    if (!more)
        return false;
    assert_memory_equal(&raw.record, &expected.record, sizeof(raw.record));
    assert_int_equal(raw.traits, expected.traits);
    assert_memory_equal(raw.args, expected.args, expected.record.args_length);
    return true;
}

static void check_track(struct stored_trace *s, uint32_t track, uint64_t count)
{
    struct tm_record_place place;

    assert_int_equal(tm_record_store_count(s->store, track), count);
    tm_record_store_begin(s->store, track, &place);
    for (uint64_t i = 0; i < count; i++)
        assert_true(check_next(&place, track, i));
    assert_false(check_next(&place, track, count));
    assert_false(check_next(&place, track, count));
    tm_record_store_end(&place);
    tm_record_store_end(&place);
}

static void begin_test(struct tm_run *run, struct stored_trace *s)
{
    test_run_init(run);
    stored_trace_init(s, run, 4);
    assert_non_null(s->store);
}

static void end_test(struct tm_run *run, struct stored_trace *s)
{
    /* Half of the share, the places apart. */
    assert_true(run->budget.peak_bytes[TM_ACCOUNT_INPUT] <= tm_budget_share(&run->budget, TM_ACCOUNT_INPUT) / 4 * 3);
    stored_trace_free(s);
    assert_ledger_is_even(run);
}

static void tracks_of_every_length_come_back_in_order(void **state)
{
    struct tm_run run;
    struct stored_trace s;

    (void)state;
    begin_test(&run, &s);
    for (uint32_t track = 0; track < 70; track++)
        for (uint64_t i = 0; i < track * 2; i++)
            add(&s, track, i);
    for (uint32_t track = 0; track < 70; track++)
        check_track(&s, track, track * 2);
    check_track(&s, 70, 0);
    check_track(&s, 1 << 30, 0);
    assert_int_equal(run.budget.spilled_bytes, 0);
    end_test(&run, &s);
}

/* Records of all tracks mixed at random, more than the memory holds. */
static void mixed_tracks_spill_and_come_back(void **state)
{
    enum { TRACKS = 300, RECORDS = 200000 };
    static uint64_t counts[TRACKS];
    struct tm_run run;
    struct stored_trace s;
    uint64_t seed = 3;

    (void)state;
    begin_test(&run, &s);
    memset(counts, 0, sizeof(counts));
    for (uint64_t i = 0; i < RECORDS; i++) {
        const uint64_t dice = next_number(&seed);
        const uint32_t track = (uint32_t)(dice % TRACKS % (dice >> 32 & 1 ? TRACKS : 7));

        add(&s, track, counts[track]++);
    }
    assert_true(run.budget.spilled_bytes > 0);
    for (uint32_t track = 0; track < TRACKS; track++)
        check_track(&s, track, counts[track]);
    end_test(&run, &s);
}

/* Records at random in one of some runs, one run behind the other. */
static void add_runs(struct stored_trace *s, uint32_t track, uint64_t records, uint32_t runs)
{
    for (uint32_t run = 0; run < runs; run++) {
        uint64_t seed = 5;

        for (uint64_t i = 0; i < records; i++)
            if (next_number(&seed) % runs == run)
                add(s, track, i);
    }
}

static void few_runs_are_merged(void **state)
{
    static const struct {
        uint64_t records;
        uint32_t runs;
    } cases[] = { { 0, 1 }, { 9, 2 }, { 3000, 1 }, { 3000, 2 }, { 3000, 3 }, { 3000, 16 }, { 200000, 3 } };
    struct tm_run run;
    struct stored_trace s;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin_test(&run, &s);
        add(&s, 2, 0);
        add_runs(&s, 1, cases[i].records, cases[i].runs);
        add(&s, 2, 1);
        const uint64_t before = run.budget.peak_bytes[TM_ACCOUNT_INPUT];

        assert_true(tm_record_store_merge(s.store, 1));
        assert_true(run.budget.peak_bytes[TM_ACCOUNT_INPUT] < before + 200000); /* blocks were used again */
        check_track(&s, 1, cases[i].records);
        assert_int_equal(tm_record_store_track(s.store, 1).traits, 0);
        add(&s, 1, cases[i].records);
        check_track(&s, 1, cases[i].records + 1);
        check_track(&s, 2, 2);
        end_test(&run, &s);
    }
}

static void many_runs_stay(void **state)
{
    struct tm_run run;
    struct stored_trace s;

    (void)state;
    begin_test(&run, &s);
    for (uint32_t i = 0; i < 17; i++)
        add(&s, 1, 16 - i);
    assert_false(tm_record_store_merge(s.store, 1));
    assert_int_equal(tm_record_store_count(s.store, 1), 17);
    assert_int_equal(tm_record_store_track(s.store, 1).traits, TM_STORED_BACK | TM_STORED_UNSORTED);
    end_test(&run, &s);
}

static void very_many_tracks_stay_in_bounds(void **state)
{
    enum { TRACKS = 100000 };
    struct tm_run run;
    struct stored_trace s;

    (void)state;
    begin_test(&run, &s);
    for (uint64_t i = 0; i < 2; i++) {
        for (uint32_t track = 0; track < TRACKS; track++)
            add(&s, track, i);
        if (i == 0) /* a few times what the event takes in a file */
            assert_true(run.budget.spilled_bytes < TRACKS * 400);
    }
    for (uint32_t track = 0; track < TRACKS; track++)
        check_track(&s, track, 2);
    end_test(&run, &s);
}

static void many_places_read_side_by_side(void **state)
{
    enum { TRACKS = 255, EACH = 400 };
    static struct tm_record_place places[TRACKS];
    struct tm_run run;
    struct stored_trace s;
    size_t before;

    (void)state;
    begin_test(&run, &s);
    for (uint64_t i = 0; i < EACH; i++)
        for (uint32_t track = 0; track < TRACKS; track++)
            add(&s, track, i);
    assert_true(run.budget.spilled_bytes > 0);
    for (uint32_t track = 0; track < TRACKS; track++)
        tm_record_store_begin(s.store, track, &places[track]);
    before = run.budget.used_bytes[TM_ACCOUNT_INPUT];
    for (uint64_t i = 0; i <= EACH; i++)
        for (uint32_t track = 0; track < TRACKS; track++)
            assert_int_equal(check_next(&places[track], track, i), i < EACH);
    assert_int_equal(run.budget.used_bytes[TM_ACCOUNT_INPUT], before);
    for (uint32_t track = 0; track < TRACKS; track++)
        tm_record_store_end(&places[track]);
    end_test(&run, &s);
}

/* In the last pass, what was read need not be kept: little is written, and the records are the same. */
static void the_last_pass_writes_little(void **state)
{
    enum { TRACKS = 4, EACH = 30000 };
    size_t written[2];

    (void)state;
    for (int forgets = 0; forgets < 2; forgets++) {
        static struct tm_record_place places[TRACKS];
        struct tm_run run;
        struct stored_trace s;

        begin_test(&run, &s);
        for (uint32_t track = 0; track < TRACKS; track++)
            for (uint64_t i = 0; i < EACH; i++)
                add(&s, track, i);
        written[forgets] = run.budget.spilled_bytes;
        assert_true(written[forgets] > 0);
        for (uint32_t track = 0; track < TRACKS; track += 2) { /* two side by side, then the others */
            for (uint32_t side = track; side < track + 2; side++) {
                tm_record_store_begin(s.store, side, &places[side]);
                places[side].forgets = forgets;
            }
            for (uint64_t i = 0; i <= EACH; i++)
                for (uint32_t side = track; side < track + 2; side++)
                    assert_int_equal(check_next(&places[side], side, i), i < EACH);
            for (uint32_t side = track; side < track + 2; side++)
                tm_record_store_end(&places[side]);
        }
        written[forgets] = run.budget.spilled_bytes - written[forgets];
        end_test(&run, &s);
    }
    assert_in_range(written[1], 0, written[0] / 4);
}

static void records_are_added_to_other_tracks_while_one_is_read(void **state)
{
    enum { EACH = 20000 };
    struct tm_run run;
    struct stored_trace s;
    struct tm_record_place place;

    (void)state;
    begin_test(&run, &s);
    for (uint64_t i = 0; i < EACH; i++)
        add(&s, 0, i);
    tm_record_store_begin(s.store, 0, &place);
    for (uint64_t i = 0; i < EACH; i++) {
        assert_true(check_next(&place, 0, i));
        add(&s, 1, i);
        if (i % 100 == 0)
            add(&s, 2, i / 100);
    }
    assert_false(check_next(&place, 0, EACH));
    tm_record_store_end(&place);
    assert_true(run.budget.spilled_bytes > 0);
    check_track(&s, 0, EACH);
    check_track(&s, 1, EACH);
    check_track(&s, 2, EACH / 100);
    end_test(&run, &s);
}

static void a_cleared_track_is_filled_anew_in_the_same_room(void **state)
{
    enum { EACH = 9000, TIMES = 20 };
    struct tm_run run;
    struct stored_trace s;
    size_t used = 0;

    (void)state;
    begin_test(&run, &s);
    tm_record_store_clear(s.store, 1);
    for (uint64_t i = 0; i < 50; i++)
        add(&s, 2, i);
    for (int time = 0; time < TIMES; time++) {
        for (uint64_t i = 0; i < EACH; i++)
            add(&s, 1, i);
        check_track(&s, 1, EACH);
        tm_record_store_clear(s.store, 1);
        check_track(&s, 1, 0);
        used = used ? used : run.budget.used_bytes[TM_ACCOUNT_INPUT];
    }
    /* Long arguments alone are new, and what the records of the third track have in common. */
    assert_true(run.budget.used_bytes[TM_ACCOUNT_INPUT] <=
                used + TM_KEPT_ARGS_BYTES + EACH * 2 * 2 * sizeof(struct tm_signature));
    check_track(&s, 2, 50);
    add(&s, 1, 0);
    check_track(&s, 1, 1);
    end_test(&run, &s);
}

static void blocks_of_a_cleared_track_go_to_others(void **state)
{
    enum { EACH = 3000 };
    struct tm_run run;
    struct stored_trace s;
    size_t used;

    (void)state;
    begin_test(&run, &s);
    for (uint32_t track = 0; track < 2; track++)
        for (uint64_t i = 0; i < EACH; i++)
            add(&s, track, i);
    used = run.budget.used_bytes[TM_ACCOUNT_INPUT];
    for (uint32_t track = 0; track < 2; track++)
        tm_record_store_clear(s.store, track);
    for (uint64_t i = 0; i < EACH * 2; i++)
        add(&s, 2, i);
    /* Long arguments alone are new, and what the records of the third track have in common. */
    assert_true(run.budget.used_bytes[TM_ACCOUNT_INPUT] <=
                used + TM_KEPT_ARGS_BYTES + EACH * 2 * 2 * sizeof(struct tm_signature));
    check_track(&s, 2, EACH * 2);
    check_track(&s, 0, 0);
    end_test(&run, &s);
}

static void rows_are_put_back_as_they_are(void **state)
{
    enum { EACH = 500 };
    struct tm_run run;
    struct stored_trace s;
    struct tm_record_place place;
    const struct tm_kept_record *row;
    static struct tm_kept_record rows[EACH];

    (void)state;
    begin_test(&run, &s);
    for (uint64_t i = 0; i < EACH; i++)
        add(&s, 3, i);
    tm_record_store_begin(s.store, 3, &place);
    for (uint64_t i = 0; i < EACH; i++) {
        row = tm_record_store_next_row(&place);
        assert_non_null(row);
        rows[i] = *row;
    }
    row = tm_record_store_next_row(&place);
    assert_null(row);
    tm_record_store_end(&place);
    tm_record_store_clear(s.store, 3);
    for (uint64_t i = 0; i < EACH; i++)
        tm_record_store_add_row(s.store, &rows[i]);
    check_track(&s, 3, EACH);
    end_test(&run, &s);
}

/* Record `at` of a track in which every form comes: few shapes and many, small steps, large ones and steps back, and
 * values at the borders of what a row holds. */
static struct tm_raw_record bordering(uint64_t at)
{
    static const int64_t starts_ps[] = {
        INT64_C(-1), 0, UINT32_MAX - 1, UINT32_MAX, INT64_C(0x1fffffffe), INT64_C(0x1fffffffe), INT64_C(0x2fffffffe),
        7,           8
    };
    static const int64_t durs_ps[] = { 0, UINT32_MAX, INT64_C(0x100000000), INT64_MAX / 4 };
    static const uint64_t ids[] = { 0,      100000,     100000 + 0x7fff,       0,          100000, 100000 + 0x8000,
                                    100000, UINT32_MAX, UINT64_C(0x100000000), UINT64_MAX, 3 };
    const uint32_t shape = at % 2 ? (uint32_t)(at % 5) : (uint32_t)at;

    return (struct tm_raw_record){
        .record = { .start_ps = starts_ps[at % 9],
                    .dur_ps = durs_ps[at / 9 % 4],
                    .correlation = ids[at % 11],
                    .name = ~shape,
                    .track = 3,
                    .config = shape << 8,
                    .class = (uint8_t)shape,
                    .kind = (uint8_t)(shape % (TM_END + 1)),
                    .flags = (uint16_t)((0xffff - shape) & ~TM_FLAG_TIMED) /* which is the store's own */ },
        .traits = ~shape << 3,
    };
}

static void any_record_comes_back_whole(void **state)
{
    enum { RECORDS = 100000 };
    struct tm_record_place place;
    struct tm_run run;
    struct stored_trace s;
    struct tm_raw_record raw;
    bool more;

    (void)state;
    begin_test(&run, &s);
    for (uint64_t i = 0; i < RECORDS; i++) {
        raw = bordering(i);
        tm_record_store_add(s.store, &raw);
    }
    tm_record_store_begin(s.store, 3, &place);
    for (uint64_t i = 0; i < RECORDS; i++) {
        const struct tm_raw_record expected = bordering(i);

        more = tm_record_store_next(&place, &raw);
        assert_true(more);
        assert_memory_equal(&raw.record, &expected.record, sizeof(raw.record));
        assert_int_equal(raw.traits, expected.traits);
    }
    tm_record_store_end(&place);
    end_test(&run, &s);
}

/* Events of one name, one after the other: 16 bytes each, and the block's head. */
static void records_of_one_shape_are_small(void **state)
{
    enum { RECORDS = 50000 };
    struct tm_run run;
    struct stored_trace s;

    (void)state;
    begin_test(&run, &s);
    const size_t before = run.budget.used_bytes[TM_ACCOUNT_INPUT];

    for (uint64_t i = 0; i < RECORDS; i++) {
        const struct tm_raw_record raw = {
            .record = { .start_ps = (int64_t)i * 1000, .correlation = i, .name = 5, .track = 1 },
        };

        tm_record_store_add(s.store, &raw);
    }
    assert_true(run.budget.used_bytes[TM_ACCOUNT_INPUT] - before < RECORDS * 13 + (64 << 10));
    assert_int_equal(run.budget.spilled_bytes, 0);
    end_test(&run, &s);
}

static void what_a_track_holds_is_known(void **state)
{
    static const struct {
        const char *lines;
        uint32_t traits;
    } rows[] = {
        { "X1+5 a;X1+5 a;X1+4 b;X2+9 c;i2 d", 0 },
        { "X1+4 a;X1+5 b", TM_STORED_UNSORTED },
        { "X2+4 a;X1+5 b;X7+1 c", TM_STORED_UNSORTED | TM_STORED_BACK },
        { "B1 a", TM_STORED_HALVES },
        { "X0+1 b;E1 a", TM_STORED_HALVES },
        { "s1 a", TM_STORED_FLOWS },
        { "t1 a", TM_STORED_FLOWS },
        { "i1;C2;f3 a;E2", TM_STORED_FLOWS | TM_STORED_HALVES | TM_STORED_UNSORTED | TM_STORED_BACK },
    };
    const uint32_t count = sizeof(rows) / sizeof(rows[0]);
    struct tm_stored_track known;
    struct tm_run run;
    struct stored_trace s;

    (void)state;
    begin_test(&run, &s);
    for (uint32_t i = 0; i < count; i++)
        stored_add(&s, i, rows[i].lines);
    for (uint32_t i = 0; i < count; i++) {
        known = tm_record_store_track(s.store, i);
        assert_int_equal(known.traits, rows[i].traits);
        assert_stored(&s, i, rows[i].lines);
    }
    tm_record_store_clear(s.store, count - 1);
    known = tm_record_store_track(s.store, count - 1);
    assert_int_equal(known.traits, 0);
    stored_add(&s, count - 1, "X0+3"); /* before all that was there */
    known = tm_record_store_track(s.store, count - 1);
    assert_int_equal(known.traits, 0);
    end_test(&run, &s);
}

/* Places that are begun in vain are ended all the same. */
static tm_status fill_and_read(struct stored_trace *s)
{
    const struct tm_run *const run = s->trace.run;
    struct tm_record_place place;

    for (uint64_t i = 0; i < 2000; i++)
        for (uint32_t track = 0; track < 30; track++)
            add(s, track * 50, i);
    tm_record_store_begin(s->store, 50, &place);
    for (uint64_t i = 0; i < 2000 && !tm_failed(run); i++)
        assert_true(check_next(&place, 50, i) || tm_failed(run));
    tm_record_store_end(&place);
    tm_record_store_clear(s->store, 50);
    return run->error.status;
}

/* Ops with times of their own: near the recorded ones, far from them, with a number, with an id. */
static void ops_with_own_times_come_back_with_them(void **state)
{
    static const int64_t ahead_ps[] = {
        0, 78, -78, 5000, INT64_C(1) << 54, -(INT64_C(1) << 54), (INT64_C(1) << 54) - 1, INT64_C(8000000000000000000)
    };
    static const int64_t longer_ps[] = { 0, 127, 128, -128, -129, 1000000 };
    struct tm_record_place place;
    struct stored_trace s;
    struct tm_run run;
    uint64_t i = 0;

    (void)state;
    begin_test(&run, &s);
    for (int turn = 0; turn < 2; turn++) {
        if (turn)
            tm_record_store_begin(s.store, 0, &place);
        i = 0;
        for (size_t a = 0; a < sizeof(ahead_ps) / sizeof(ahead_ps[0]); a++) {
            for (size_t l = 0; l < sizeof(longer_ps) / sizeof(longer_ps[0]); l++, i++) {
                const struct tm_number number = { (int64_t)i };
                const struct tm_raw_record raw = {
                    .record = { .start_ps = (int64_t)i * 100,
                                .dur_ps = 2000000,
                                .correlation = i % 5 == 4 ? i : 0,
                                .args_length = i % 7 == 6 ? sizeof(number) : 0,
                                .flags = TM_FLAG_HLO_OP },
                    .args = &number,
                };
                const struct tm_device_times times = { raw.record.start_ps - ahead_ps[a],
                                                       raw.record.dur_ps - longer_ps[l] };
                const bool is_timed = i % 11 != 10;
                struct tm_raw_record got;
                bool more;

                if (!turn) {
                    if (is_timed)
                        tm_record_store_add_timed(s.store, &raw, &times);
                    else
                        tm_record_store_add(s.store, &raw);
                    continue;
                }
                more = tm_record_store_next(&place, &got);
                assert_true(more);
                assert_memory_equal(&got.record, &raw.record, sizeof(got.record));
                assert_memory_equal(got.args, raw.args, raw.record.args_length);
                assert_int_equal(place.has_times, is_timed);
                assert_true(!is_timed ||
                            (place.times.offset_ps == times.offset_ps && place.times.duration_ps == times.duration_ps));
            }
        }
    }
    assert_int_equal(tm_record_store_count(s.store, 0), i);
    tm_record_store_end(&place);
    end_test(&run, &s);
}

static tm_status job(struct tm_run *run)
{
    struct stored_trace s;
    tm_status st;

    stored_trace_init(&s, run, 1);
    st = s.store ? fill_and_read(&s) : run->error.status;
    stored_trace_free(&s);
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(job);
}

/* A record with few signatures, of any form: times that go back or far on, arguments now and then. */
static struct tm_raw_record mixed(uint64_t at, struct tm_number *args)
{
    const uint64_t mix = at * UINT64_C(0x9e3779b97f4a7c15);

    args->value = (int64_t)at;
    return (struct tm_raw_record){
        .record = { .start_ps = (int64_t)(at * 1000 + (at % 50 == 7 ? (uint64_t)1 << 40 : 0)),
                    .dur_ps = (int64_t)(at % 90 == 3 ? mix >> 20 : mix >> 40),
                    .correlation = at % 4          ? at
                                   : at % 300 == 0 ? mix
                                                   : 0,
                    .name = (tm_strid)(mix >> 60),
                    .track = 2,
                    .kind = at % 7 ? TM_SPAN : TM_INSTANT,
                    .args_length = at % 70 == 11 ? sizeof(*args) : 0 },
        .args = args,
        .traits = (uint32_t)(mix >> 61),
    };
}

/* in: raw  filled */
static void assert_same_raw(const struct tm_raw_record *raw, const struct tm_raw_record *wanted)
{
    assert_memory_equal(&raw->record, &wanted->record, sizeof(raw->record));
    assert_int_equal(raw->traits, wanted->traits);
    if (wanted->record.args_length)
        assert_memory_equal(raw->args, wanted->args, wanted->record.args_length);
}

/* in: store  holds what mixed gives on track 2 */
static void check_batches(struct tm_record_store *store, uint64_t count, uint64_t others, struct tm_record_store *copy)
{
    struct tm_record_place place;
    struct tm_batch batch;
    uint64_t at = 0;

    tm_record_store_begin(store, 2, &place);
    for (;;) {
        batch.count = 0;
        batch.has_other = batch.is_last = batch.keeps_own = false;
        if (!tm_record_store_next_batch(&place, &batch))
            break;
        others -= batch.has_other;
        if (copy)
            tm_record_store_add_batch(copy, 2, &batch);
        for (uint32_t i = 0; i < batch.count + batch.has_other; i++, at++) {
            struct tm_raw_record raw = { .signature = 0 };
            struct tm_number args;
            const struct tm_raw_record wanted = mixed(at, &args);

            tm_batch_get(&batch, i, &raw);
            assert_int_equal(!raw.signature, i == batch.count);
            if (raw.signature)
                tm_fill_record(tm_record_store_signatures(store), &raw);
            assert_same_raw(&raw, &wanted);
        }
    }
    tm_record_store_end(&place);
    assert_int_equal(at, count);
    assert_int_equal(others, 0);
}

static void batches_hold_what_was_added(void **state)
{
    enum { COUNT = 5000, OTHERS = COUNT / 70 + 1 };
    struct tm_run run;
    struct stored_trace s;
    struct tm_record_store *copy;

    (void)state;
    begin_test(&run, &s);
    copy = tm_record_store_new(&s.trace, tm_record_store_signatures(s.store));
    assert_non_null(copy);
    for (uint64_t i = 0; i < COUNT; i++) {
        struct tm_number args;
        const struct tm_raw_record raw = mixed(i, &args);

        tm_record_store_add(s.store, &raw);
    }
    check_batches(s.store, COUNT, OTHERS, copy);
    check_batches(copy, COUNT, OTHERS, NULL);
    assert_int_equal(tm_record_store_track(copy, 2).traits, tm_record_store_track(s.store, 2).traits);
    tm_record_store_free(copy);
    end_test(&run, &s);
}

/* Once there is no number left records go without, and say all by themselves. */
static void signatures_end_when_memory_does(void **state)
{
    enum { COUNT = 100000 };
    struct tm_run run;
    struct tm_signatures signatures;
    uint32_t numbered = 0;

    (void)state;
    test_run_init(&run);
    tm_signatures_init(&signatures, &run, 64 << 10);
    for (int again = 0; again < 2; again++)
        for (uint32_t i = 0; i < COUNT; i++) {
            const struct tm_raw_record raw = { .record = { .name = i / 3, .track = i % 3 }, .traits = 5 };
            const uint32_t number = tm_signature_of(&signatures, &raw);
            struct tm_raw_record filled = { .signature = number };

            assert_true(number == i + 1 || (!number && (!again || i == numbered)));
            if (!number)
                break;
            numbered += !again;
            tm_fill_record(&signatures, &filled);
            assert_same_raw(&filled, &raw);
        }
    assert_in_range(numbered, 511, TM_SIGNATURES_MOST);
    tm_signatures_release(&signatures);
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_hold_what_was_added),
        cmocka_unit_test(signatures_end_when_memory_does),
        cmocka_unit_test(tracks_of_every_length_come_back_in_order),
        cmocka_unit_test(mixed_tracks_spill_and_come_back),
        cmocka_unit_test(few_runs_are_merged),
        cmocka_unit_test(many_runs_stay),
        cmocka_unit_test(very_many_tracks_stay_in_bounds),
        cmocka_unit_test(many_places_read_side_by_side),
        cmocka_unit_test(records_are_added_to_other_tracks_while_one_is_read),
        cmocka_unit_test(a_cleared_track_is_filled_anew_in_the_same_room),
        cmocka_unit_test(blocks_of_a_cleared_track_go_to_others),
        cmocka_unit_test(rows_are_put_back_as_they_are),
        cmocka_unit_test(any_record_comes_back_whole),
        cmocka_unit_test(records_of_one_shape_are_small),
        cmocka_unit_test(what_a_track_holds_is_known),
        cmocka_unit_test(the_last_pass_writes_little),
        cmocka_unit_test(ops_with_own_times_come_back_with_them),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("record_store", tests, NULL, NULL);
}
