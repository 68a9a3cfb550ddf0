/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/records/record_store.h"

#include <stdio.h>

#include "tests/support/stored_trace.h"

struct tallied {
    uint64_t begin, end, flow, reused, unsorted;
};

/* A track before and after it is joined, in the notation of stored_trace.h. */
struct joined {
    const char *before, *after;
    struct tallied tallied;
};

static void begin_test(struct tm_run *run, struct stored_trace *s)
{
    test_run_init(run);
    stored_trace_init(s, run, 2);
    assert_non_null(s->store);
}

static void end_test(struct tm_run *run, struct stored_trace *s)
{
    assert_true(run->budget.peak_bytes[TM_ACCOUNT_SORT] <= tm_budget_share(&run->budget, TM_ACCOUNT_SORT));
    stored_trace_free(s);
    assert_ledger_is_even(run);
}

static void assert_tallied(const struct tm_run *run, const struct tallied *expected)
{
    const uint64_t *const count = run->tallies.count;

    assert_int_equal(count[TM_TALLY_UNMATCHED_BEGIN], expected->begin);
    assert_int_equal(count[TM_TALLY_UNMATCHED_END], expected->end);
    assert_int_equal(count[TM_TALLY_UNMATCHED_FLOW], expected->flow);
    assert_int_equal(count[TM_TALLY_REUSED_FLOW_ID], expected->reused);
    assert_int_equal(count[TM_TALLY_UNSORTED_LINE], expected->unsorted);
}

static void check_with(const struct joined *row, bool has_inert_flows)
{
    struct tm_run run;
    struct stored_trace s;

    begin_test(&run, &s);
    s.trace.has_inert_flows = has_inert_flows;
    stored_add(&s, 0, "B7 other;E1 other"); /* another track, which stays as it is */
    stored_add(&s, 1, row->before);
    tm_pairs_join(s.store, &s.trace, 1);
    assert_stored(&s, 1, row->after);
    assert_stored(&s, 0, "B7 other;E1 other");
    assert_tallied(&run, &row->tallied);
    end_test(&run, &s);
}

static void check_all(const struct joined *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_with(&rows[i], false);
}

static void begins_and_ends_become_spans(void **state)
{
    static const struct joined rows[] = {
        { "B1 a;E5", "X1+4 a", { 0 } },
        { "B1 a;E5 a", "X1+4 a", { 0 } },
        { "B1;E5", "X1+4", { 0 } },
        { "B-7 a;E-2", "X-7+5 a", { 0 } },
        { "B1 a;B2 b;E3;E5", "X1+4 a;X2+1 b", { 0 } },
        { "B1 a;B2 b;E3 b;E4;B5 c;E6 c", "X1+3 a;X2+1 b;X5+1 c", { 0 } },
        /* Equal times: as in the file, but longer ones first. */
        { "B1 a;B1 b;E1;E1", "X1+0 a;X1+0 b", { 0 } },
        { "B1 a;B1 b;E1;E4", "X1+3 a;X1+0 b", { 0 } },
        { "B1 a;E1;B1 b;E2;B2 c;E2", "X1+1 b;X1+0 a;X2+0 c", { 0 } },
        /* The rest of the track stays. */
        { "i0 m;B1 a;X2+1 x;C3 n;E5;X5+9 y", "i0 m;X1+4 a;X2+1 x;C3 n;X5+9 y", { 0 } },
    };

    (void)state;
    check_all(rows, sizeof(rows) / sizeof(rows[0]));
}

static void an_end_with_a_name_closes_the_innermost_of_that_name(void **state)
{
    static const struct joined rows[] = {
        { "B1 a;B2 b;E5 a;E6 b", "X1+4 a;X2+4 b", { 0 } },
        { "B1 a;B2 a;B3 b;E5 a;E6;E7 a", "X1+6 a;X2+3 a;X3+3 b", { 0 } },
        /* What was closed in the middle is not closed again. */
        { "B1 a;B2 b;B3 c;E4 b;E5 c;E6", "X1+5 a;X2+2 b;X3+2 c", { 0 } },
        { "B1 a;B2 b;E3 a;E4 a;E5", "X1+2 a;X2+3 b", { .end = 1 } },
        { "B1 a;B2 a;B3 a;B4 z;E5 a;E6 a;E7 a;E8", "X1+6 a;X2+4 a;X3+2 a;X4+4 z", { 0 } },
        { "B1 a;B2 b;E3 c;E4;E5", "X1+4 a;X2+2 b", { .end = 1 } },
    };

    (void)state;
    check_all(rows, sizeof(rows) / sizeof(rows[0]));
}

static void halves_without_a_partner_are_tallied(void **state)
{
    static const struct joined rows[] = {
        { "B1 a", "X1+0! a", { .begin = 1 } },
        { "E1 a", "", { .end = 1 } },
        { "E1", "", { .end = 1 } },
        { "B1 a;B2 b;E3 b", "X1+0! a;X2+1 b", { .begin = 1 } },
        { "B1 a;B2 b;B3 c", "X1+0! a;X2+0! b;X3+0! c", { .begin = 3 } },
        { "E0;B1 a;E2;E3;E4 a", "X1+1 a", { .end = 3 } },
        { "E1 a;B1 a", "X1+0! a", { .begin = 1, .end = 1 } }, /* the order of the file */
    };

    (void)state;
    check_all(rows, sizeof(rows) / sizeof(rows[0]));
}

static void a_track_is_put_in_order(void **state)
{
    static const struct joined rows[] = {
        { "E5;B1 a", "X1+4 a", { .unsorted = 1 } },
        { "E9 a;E4 b;B2 b;B1 a;X0+1 x", "X0+1 x;X1+8 a;X2+2 b", { .unsorted = 1 } },
        { "X1+1 a;X0+9 b;i5 c", "X0+9 b;X1+1 a;i5 c", { .unsorted = 1 } },
        { "X1+1 a;X1+2 b", "X1+2 b;X1+1 a", { .unsorted = 1 } },
        { "X1+1 a;X1+1 b", "X1+1 a;X1+1 b", { 0 } },
        { "X3+1 a;X1+1 b;X1+1 c;X1+1 a", "X1+1 b;X1+1 c;X1+1 a;X3+1 a", { .unsorted = 1 } },
        /* More runs than are merged. */
        { "X20+1 a =y;X20+1 b;X19+1 a;X19+1 b;X18+1 a;X18+1 b;X17+1 a =y;X17+1 b;X16+1 a;X16+1 b;X15+1 a;"
          "X15+1 b;X14+1 a =y;X14+1 b;X13+1 a;X13+1 b;X12+1 a;X12+1 b;X11+1 a =y;X11+1 b;X10+1 a;X10+1 b;"
          "X9+1 a;X9+1 b;X8+1 a =y;X8+1 b;X7+1 a;X7+1 b;X6+1 a;X6+1 b;X5+1 a =y;X5+1 b;X4+1 a;X4+1 b;X3+1 a;"
          "X3+1 b;X2+1 a =y;X2+1 b;X1+1 a;X1+1 b",
          "X1+1 a;X1+1 b;X2+1 a =y;X2+1 b;X3+1 a;X3+1 b;X4+1 a;X4+1 b;X5+1 a =y;X5+1 b;X6+1 a;X6+1 b;X7+1 a;"
          "X7+1 b;X8+1 a =y;X8+1 b;X9+1 a;X9+1 b;X10+1 a;X10+1 b;X11+1 a =y;X11+1 b;X12+1 a;X12+1 b;X13+1 a;"
          "X13+1 b;X14+1 a =y;X14+1 b;X15+1 a;X15+1 b;X16+1 a;X16+1 b;X17+1 a =y;X17+1 b;X18+1 a;X18+1 b;"
          "X19+1 a;X19+1 b;X20+1 a =y;X20+1 b",
          { .unsorted = 1 } },
        { "B1 a;X1+3 x;E2", "X1+3 x;X1+1 a", { 0 } }, /* how long a is was not known */
    };

    (void)state;
    check_all(rows, sizeof(rows) / sizeof(rows[0]));
}

static void keys_are_kept_apart(void **state)
{
    static const struct joined rows[] = {
        { "B1 a #1;B2 a #2;E3 a #1;E4 a #2", "X1+2 a #1;X2+2 a #2", { 0 } },
        { "B1 a #1;B2 b #2;E3 #1;E4 #2;B5 c #1;E6 #1", "X1+2 a #1;X2+2 b #2;X5+1 c #1", { 0 } },
        { "B1 a #1;E2 a #2", "X1+0! a #1", { .begin = 1, .end = 1 } },
        { "B1 a;B2 b #9;E3;E4 #9", "X1+2 a;X2+2 b #9", { 0 } },
        { "E4 a #1;B2 a #1;i3 n #1", "X2+2 a #1;i3 n #1", { 0 } }, /* no line: its order tells nothing */
        { "B1 a #18446744073709551615;E2 #18446744073709551615", "X1+1 a #18446744073709551615", { 0 } },
    };

    (void)state;
    check_all(rows, sizeof(rows) / sizeof(rows[0]));
}

static void flows_are_told_apart_and_tallied(void **state)
{
    static const struct joined rows[] = {
        { "s1 #1;t2 #1;f3 #1;s4 #1;f5 #1;s6 #2",
          "s1 #1;t2 #1;f3 #1;s4 #hash;f5 #hash;s6 #2",
          { .flow = 1, .reused = 1 } },
        { "s1 #1;f2 #1", "s1 #1;f2 #1", { 0 } },
        { "s1 #1;f2 #1;f3 #1;f4 #1", "s1 #1;f2 #1;f3 #1;f4 #1", { 0 } }, /* one to many */
        { "f1 #1;s2 #1", "f1! #1;s2 #1", { 0 } },                        /* clocks differ */
        { "f1 #1;s2 #1;f3 #1", "f1! #1;s2 #1;f3 #1", { 0 } },
        { "f2 #1;s2 #1", "s2 #1;f2 #1", { 0 } }, /* the order of the file says nothing at one time */
        { "f2 #1;t2 #1;f2 #2;s2 #1;s2 #2", "s2 #1;f2 #1;t2 #1;s2 #2;f2 #2", { 0 } },
        { "f1 #1;f2 #1;s2 #1;f2 #1", "f1! #1;s2 #1;f2 #1;f2 #1", { 0 } },
        { "f2 #1;f3 #1;s4 #1", "f2! #1;f3! #1;s4 #1", { 0 } },
        { "f1 #1;f2 #1", "f1! #1;f2! #1", { .flow = 1 } }, /* one flow that never began */
        { "f1 #1;f2 #2", "f1! #1;f2! #2", { .flow = 2 } },
        { "s1 #1;t2 #1", "s1 #1;t2 #1", { .flow = 1 } },
        { "t1 #1", "t1! #1", { .flow = 1 } },
        { "s1 #1;s2 #1;f3 #1", "s1 #1;s2 #hash;f3 #hash", { .flow = 1 } },
        { "f1 #1;s2 #1;s3 #1", "f1! #1;s2 #1;s3 #hash", { .flow = 1, .reused = 1 } },
        { "f5 #1;s4 #1;s1 #2;f9 #2", "s1 #2;s4 #1;f5 #1;f9 #2", { 0 } },
        { "s1 #1;B2 a #1;f3 #1;E4 #1", "s1 #1;X2+2 a #1;f3 #1", { 0 } },
    };

    (void)state;
    check_all(rows, sizeof(rows) / sizeof(rows[0]));
}

/* What is tallied is the same; the records stay as they are, if all of them are flows. */
static void flows_that_nobody_draws_stay_as_they_are(void **state)
{
    static const struct joined rows[] = {
        { "s1 #1;t2 #1;f3 #1;s4 #1;f5 #1;s6 #2", "s1 #1;t2 #1;f3 #1;s4 #1;f5 #1;s6 #2", { .flow = 1, .reused = 1 } },
        { "f1 #1;s2 #1;f3 #1", "f1 #1;s2 #1;f3 #1", { 0 } },
        { "f1 #1;f2 #2", "f1 #1;f2 #2", { .flow = 2 } },
        { "f5 #1;s4 #1;s1 #2;f9 #2", "f5 #1;s4 #1;s1 #2;f9 #2", { 0 } },
        { "s4 #1;s3 #1;f1 #1", "s4 #1;s3 #1;f1 #1", { .flow = 1, .reused = 1 } }, /* in the order of time */
        { "f1 #1;s2 #1;s3 #1", "f1 #1;s2 #1;s3 #1", { .flow = 1, .reused = 1 } },
        { "f5 #1;X2+1 a;s1 #2", "s1 #2;X2+1 a;f5! #1", { .flow = 2 } },
        { "s1 #1;B2 a #1;f3 #1;E4 #1", "s1 #1;X2+2 a #1;f3 #1", { 0 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_with(&rows[i], true);
}

static void arguments_of_an_end_come_behind_those_of_its_begin(void **state)
{
    static const struct joined rows[] = {
        { "B1 a =x;E5 =y", "X1+4 a =x =y", { 0 } },
        { "B1 a;E5 =y", "X1+4 a =y", { 0 } },
        { "B1 a =x;E5", "X1+4 a =x", { 0 } },
        { "B1 a =x =y;B2 b =z;E3 b =u;E4 a =v =w", "X1+3 a =x =y =v =w;X2+1 b =z =u", { 0 } },
        { "E5 #1 =y;B1 a #1 =x;B2 b #2 =z", "X1+4 a #1 =x =y;X2+0! b #2 =z", { .begin = 1 } },
        { "E1 =x;X2+1 a =y;s3 #1 =z;f4 #1 =u", "X2+1 a =y;s3 #1 =z;f4 #1 =u", { .end = 1 } },
    };

    (void)state;
    check_all(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Put a record in that the notation cannot tell of. */
static void add_record(struct stored_trace *s, const struct tm_record *record, const struct tm_allocation *args)
{
    const struct tm_raw_record raw = { .record = *record, .args = args, .traits = 0x77 };

    tm_record_store_add(s->store, &raw);
}

static void a_span_has_everything_of_its_begin(void **state)
{
    const struct tm_allocation args = { .has = 3, .address = 99 };
    const struct tm_record begin = { .start_ps = 5,
                                     .correlation = 42,
                                     .name = 0,
                                     .track = 1,
                                     .config = 3,
                                     .kind = TM_BEGIN,
                                     .args_length = sizeof(args),
                                     .class = TM_CLASS_RUNTIME,
                                     .flags = TM_FLAG_CORRELATION };
    const struct tm_record end = { .start_ps = 9,
                                   .correlation = 43,
                                   .track = 1,
                                   .config = 4,
                                   .kind = TM_END,
                                   .flags = TM_FLAG_CORRELATION | TM_FLAG_STEP };
    struct tm_record span = begin;
    struct tm_record_place place;
    struct tm_run run;
    struct stored_trace s;
    struct tm_raw_record raw;

    (void)state;
    begin_test(&run, &s);
    add_record(&s, &begin, &args);
    add_record(&s, &end, NULL);
    tm_pairs_join(s.store, &s.trace, 1);
    assert_int_equal(tm_record_store_count(s.store, 1), 1);
    tm_record_store_begin(s.store, 1, &place);
    assert_true(tm_record_store_next(&place, &raw));
    span.kind = TM_SPAN;
    span.dur_ps = 4;
    assert_memory_equal(&raw.record, &span, sizeof(span));
    assert_memory_equal(raw.args, &args, sizeof(args));
    assert_int_equal(raw.traits, 0x77);
    tm_record_store_end(&place);
    end_test(&run, &s);
}

/* Both cannot be longer than a list may be. */
static void too_many_arguments_lose_the_last_ones(void **state)
{
    enum { NODES = 14000, NODE_BYTES = 5 }; /* nearly a full list, with keys as long as they may be */
    static const struct tm_record begin = { .start_ps = 1, .track = 1, .kind = TM_BEGIN };
    static const struct tm_record end = { .start_ps = 2, .track = 1, .kind = TM_END };
    static uint8_t bytes[TM_ARGUMENTS_MOST];
    struct tm_arguments_builder b;
    struct tm_record_place place;
    struct stored_trace s;
    struct tm_run run;
    struct tm_raw_record raw = { .record = begin };
    uint8_t *own;

    (void)state;
    begin_test(&run, &s);
    tm_arguments_begin(&b, s.trace.names, bytes, sizeof(bytes));
    for (int i = 0; i < NODES; i++)
        tm_put_text(&b, 0, "xy", 2);
    raw.own = tm_arguments_end(&b);
    assert_int_equal(raw.own.length, NODES * NODE_BYTES);
    tm_record_store_add(s.store, &raw);
    raw.record = end;
    tm_record_store_add(s.store, &raw);
    tm_pairs_join(s.store, &s.trace, 1);
    assert_int_equal(run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 1);
    tm_record_store_begin(s.store, 1, &place);
    assert_true(tm_record_store_next(&place, &raw));
    assert_int_equal(tm_record_store_own(&place, &raw, &own), TM_OK);
    assert_int_equal(raw.own.length, TM_ARGUMENTS_MOST / NODE_BYTES * NODE_BYTES);
    assert_int_equal(tm_arguments_fitting(raw.own, SIZE_MAX), raw.own.length);
    tm_record_store_end(&place);
    end_test(&run, &s);
}

static void the_longest_span_does_not_overflow(void **state)
{
    const struct tm_record begin = { .start_ps = INT64_MIN + 1, .track = 1, .kind = TM_BEGIN };
    const struct tm_record end = { .start_ps = INT64_MAX, .track = 1, .kind = TM_END };
    struct tm_run run;
    struct stored_trace s;

    (void)state;
    begin_test(&run, &s);
    add_record(&s, &begin, NULL);
    add_record(&s, &end, NULL);
    tm_pairs_join(s.store, &s.trace, 1);
    assert_stored(&s, 1, "X-9223372036854775807+9223372036854775807");
    end_test(&run, &s);
}

static void names_with_two_handles_are_the_same(void **state)
{
    struct tm_run run;
    struct stored_trace s;
    tm_strid first, again = 0;

    (void)state;
    begin_test(&run, &s);
    tm_names_free(s.trace.names);
    s.trace.names = tm_names_new(&run, 1 << 10, NULL); /* forgets soon */
    assert_non_null(s.trace.names);
    first = stored_name(&s, "twin");
    stored_add(&s, 1, "B1 twin;B2 inner");
    for (int i = 0; i < 100000 && (again == 0 || again == first); i++) {
        char other[24];

        (void)snprintf(other, sizeof(other), "other %d", i);
        (void)stored_name(&s, other);
        again = i % 1000 == 999 ? stored_name(&s, "twin") : 0;
    }
    assert_int_not_equal(again, first);
    assert_true(tm_names_have_duplicates(s.trace.names));
    stored_add(&s, 1, "E3 twin;E4");
    tm_pairs_join(s.store, &s.trace, 1);
    assert_stored(&s, 1, "X1+2 twin;X2+2 inner");
    end_test(&run, &s);
}

/* More begins open at once than the memory holds, closed by name from outside in or without one from inside out. */
static void check_deep(bool by_name)
{
    enum { DEEP = 100000 };
    struct tm_record_place place;
    struct tm_run run;
    struct stored_trace s;
    struct tm_raw_record raw;

    begin_test(&run, &s);
    for (int64_t i = 0; i < DEEP; i++)
        add_record(&s, &(struct tm_record){ .start_ps = i, .name = (tm_strid)i + 1, .track = 1, .kind = TM_BEGIN },
                   NULL);
    for (int64_t i = 0; i < DEEP; i++)
        add_record(&s,
                   &(struct tm_record){
                       .start_ps = DEEP + i, .name = by_name ? (tm_strid)i + 1 : 0, .track = 1, .kind = TM_END },
                   NULL);
    tm_pairs_join(s.store, &s.trace, 1);
    assert_tallied(&run, &(struct tallied){ 0 });
    tm_record_store_begin(s.store, 1, &place);
    for (int64_t i = 0; i < DEEP; i++) {
        assert_true(tm_record_store_next(&place, &raw));
        assert_int_equal(raw.record.start_ps, i);
        assert_int_equal(raw.record.dur_ps, by_name ? DEEP : 2 * DEEP - 1 - 2 * i);
    }
    assert_false(tm_record_store_next(&place, &raw));
    tm_record_store_end(&place);
    end_test(&run, &s);
}

static void deep_stacks_are_no_trouble(void **state)
{
    (void)state;
    check_deep(false);
    check_deep(true);
}

static tm_status flow_job(struct tm_run *run)
{
    struct stored_trace s;
    uint64_t refuse_in;

    stored_trace_init(&s, run, 1);
    if (s.store) {
        refuse_in = run->budget.refuse_in;
        run->budget.refuse_in = 0;
        for (int64_t i = 0; i < 3000; i++)
            add_record(&s,
                       &(struct tm_record){ .start_ps = 9000 - i,
                                            .kind = i % 3 ? TM_FLOW_BEGIN : TM_FLOW_END,
                                            .correlation = (uint64_t)i % 7 },
                       NULL);
        run->budget.refuse_in = refuse_in;
        s.trace.has_inert_flows = true;
        tm_pairs_join(s.store, &s.trace, 0);
    }
    stored_trace_free(&s);
    return run->error.status;
}

static tm_status job(struct tm_run *run)
{
    struct stored_trace s;
    uint64_t refuse_in;

    stored_trace_init(&s, run, 1);
    if (s.store) {
        refuse_in = run->budget.refuse_in;
        run->budget.refuse_in = 0;
        for (int64_t i = 0; i < 3000; i++)
            add_record(&s,
                       &(struct tm_record){
                           .start_ps = 9000 - i, .kind = i % 3 ? TM_BEGIN : TM_END, .correlation = (uint64_t)i % 7 },
                       NULL);
        run->budget.refuse_in = refuse_in;
    }
    if (s.store)
        tm_pairs_join(s.store, &s.trace, 0);
    stored_trace_free(&s);
    return run->error.status;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(job);
    refuse_each_request(flow_job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_and_ends_become_spans),
        cmocka_unit_test(an_end_with_a_name_closes_the_innermost_of_that_name),
        cmocka_unit_test(halves_without_a_partner_are_tallied),
        cmocka_unit_test(a_track_is_put_in_order),
        cmocka_unit_test(keys_are_kept_apart),
        cmocka_unit_test(flows_are_told_apart_and_tallied),
        cmocka_unit_test(flows_that_nobody_draws_stay_as_they_are),
        cmocka_unit_test(arguments_of_an_end_come_behind_those_of_its_begin),
        cmocka_unit_test(too_many_arguments_lose_the_last_ones),
        cmocka_unit_test(a_span_has_everything_of_its_begin),
        cmocka_unit_test(the_longest_span_does_not_overflow),
        cmocka_unit_test(names_with_two_handles_are_the_same),
        cmocka_unit_test(deep_stacks_are_no_trouble),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("pairs", tests, NULL, NULL);
}
