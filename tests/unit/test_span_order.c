/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/records/record_store.h"

#include <stdio.h>

#include "tests/support/test_run.h"

struct made_span {
    int64_t start_ps, dur_ps;
    tm_strid name;
    uint8_t kind, class;
};

/* The same spans as columns. */
static void take_batches(struct tm_trace *trace, const struct made_span *spans, size_t n)
{
    static struct tm_span_order order;
    static struct tm_batch batch;
    struct tm_signatures signatures;

    order = (struct tm_span_order){ .depth = 0 };
    tm_signatures_init(&signatures, trace->run, 1 << 16);
    batch.count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct tm_raw_record raw = { .record = { .start_ps = spans[i].start_ps,
                                                       .dur_ps = spans[i].dur_ps,
                                                       .name = spans[i].name,
                                                       .kind = spans[i].kind,
                                                       .class = spans[i].class } };

        assert_true(tm_batch_put(&batch, &signatures, &raw));
        if (batch.count < TM_BATCH_RECORDS && i + 1 < n)
            continue;
        tm_span_order_take_batch(&order, trace, &signatures, &batch);
        batch.count = 0;
    }
    tm_signatures_release(&signatures);
}

static void count(const struct made_span *spans, size_t n, uint64_t overlapping, uint64_t repeated)
{
    static struct tm_span_order order;
    struct tm_run run;
    struct tm_trace trace = { .run = &run };

    test_run_init(&run);
    trace.names = tm_names_new(&run, 1 << 20, NULL);
    assert_non_null(trace.names);
    order = (struct tm_span_order){ .depth = 0 };
    for (size_t i = 0; i < n; i++) {
        const struct tm_record record = { .start_ps = spans[i].start_ps,
                                          .dur_ps = spans[i].dur_ps,
                                          .name = spans[i].name,
                                          .kind = spans[i].kind,
                                          .class = spans[i].class };

        tm_span_order_take(&order, &trace, &record);
    }
    assert_int_equal(run.tallies.count[TM_TALLY_OVERLAPPING_SPAN], overlapping);
    assert_int_equal(run.tallies.count[TM_TALLY_REPEATED_EVENT], repeated);
    take_batches(&trace, spans, n);
    assert_int_equal(run.tallies.count[TM_TALLY_OVERLAPPING_SPAN], 2 * overlapping);
    assert_int_equal(run.tallies.count[TM_TALLY_REPEATED_EVENT], 2 * repeated);
    tm_names_free(trace.names);
    assert_ledger_is_even(&run);
}

static void spans_that_nest_or_follow_do_not_overlap(void **state)
{
    static const struct made_span spans[] = {
        { .start_ps = -5, .dur_ps = 100 },        { .start_ps = -5, .dur_ps = 10 },
        { .start_ps = 5, .dur_ps = 3 },           { .start_ps = 8, .dur_ps = 0 },
        { .start_ps = 8, .dur_ps = 87 },          { .start_ps = 94, .dur_ps = 1 },
        { .start_ps = 95, .dur_ps = 7 },          { .start_ps = 95, .dur_ps = 0 },
        { .start_ps = 102, .dur_ps = 0 },         { .start_ps = 200, .dur_ps = INT64_MAX },
        { .start_ps = 300, .dur_ps = INT64_MAX },
    };

    (void)state;
    count(spans, sizeof(spans) / sizeof(spans[0]), 0, 0);
}

static void a_span_that_ends_after_one_around_it_overlaps(void **state)
{
    static const struct made_span spans[] = {
        { .start_ps = 200, .dur_ps = 10 }, { .start_ps = 205, .dur_ps = 10 }, /* overlaps */
        { .start_ps = 207, .dur_ps = 1 },  { .start_ps = 208, .dur_ps = 4 },  /* inside the second, but not the first */
        { .start_ps = 212, .dur_ps = 3 }, /* inside the second, which is still open */
        { .start_ps = 214, .dur_ps = 2 }, /* overlaps the second and the last: counts once */
        { .start_ps = 216, .dur_ps = 1 },
    };

    (void)state;
    count(spans, sizeof(spans) / sizeof(spans[0]), 3, 0);
}

static void only_the_same_time_length_and_name_is_a_repetition(void **state)
{
    static const struct made_span spans[] = {
        { .start_ps = 0, .dur_ps = 0, .name = 0 }, { .start_ps = 3, .dur_ps = 5, .name = 1 },
        { .start_ps = 3, .dur_ps = 5, .name = 1 }, { .start_ps = 3, .dur_ps = 5, .name = 1 },
        { .start_ps = 3, .dur_ps = 5, .name = 2 }, { .start_ps = 3, .dur_ps = 4, .name = 2 },
        { .start_ps = 4, .dur_ps = 3, .name = 2 }, { .start_ps = 8, .dur_ps = 0, .name = 2 },
        { .start_ps = 8, .dur_ps = 0, .name = 2 },
    };

    (void)state;
    count(spans, sizeof(spans) / sizeof(spans[0]), 0, 3);
}

static void what_is_no_span_of_a_thread_is_passed_by(void **state)
{
    static const struct made_span spans[] = {
        { .start_ps = 0, .dur_ps = 10, .name = 1 },
        { .start_ps = 0, .dur_ps = 10, .name = 1, .class = TM_CLASS_ASYNC },
        { .start_ps = 2, .dur_ps = 20, .name = 1, .class = TM_CLASS_ASYNC },
        { .start_ps = 3, .name = 1, .kind = TM_INSTANT },
        { .start_ps = 3, .name = 1, .kind = TM_INSTANT },
        { .start_ps = 3, .name = 1, .kind = TM_FLOW_END },
        { .start_ps = 3, .name = 1, .kind = TM_FLOW_END },
        { .start_ps = 3, .name = 1, .kind = TM_COUNTER },
        { .start_ps = 3, .name = 1, .kind = TM_COUNTER },
    };

    (void)state;
    count(spans, sizeof(spans) / sizeof(spans[0]), 0, 0);
}

/* Beyond the limit the innermost ones are not compared; the others still are. */
static void deep_nesting_is_bounded(void **state)
{
    enum { DEEP = 3 * TM_SPAN_ORDER_DEEPEST };
    static struct made_span spans[DEEP + 1];

    (void)state;
    for (int64_t i = 0; i < DEEP; i++)
        spans[i] = (struct made_span){ .start_ps = i, .dur_ps = 10 * DEEP - 2 * i };
    spans[DEEP] = (struct made_span){ .start_ps = DEEP, .dur_ps = 10 * DEEP };
    count(spans, DEEP + 1, 1, 0);
}

static void names_with_two_handles_are_the_same(void **state)
{
    static struct tm_span_order order;
    struct tm_run run;
    struct tm_trace trace = { .run = &run };
    struct tm_record record = { .start_ps = 1, .dur_ps = 2 };
    tm_strid first, other, again;

    (void)state;
    test_run_init(&run);
    trace.names = tm_names_new(&run, 1 << 10, NULL); /* forgets soon */
    assert_non_null(trace.names);
    first = tm_names_put(trace.names, "twin", 4);
    again = first;
    for (int i = 0; i < 100000 && again == first; i++) {
        char text[24];

        other = tm_names_put(trace.names, text, (size_t)snprintf(text, sizeof(text), "%d", i));
        if (i % 1000 == 999)
            again = tm_names_put(trace.names, "twin", 4);
    }
    assert_int_not_equal(again, first);
    order = (struct tm_span_order){ .depth = 0 };
    record.name = first;
    tm_span_order_take(&order, &trace, &record);
    record.name = again;
    tm_span_order_take(&order, &trace, &record);
    assert_int_equal(run.tallies.count[TM_TALLY_REPEATED_EVENT], 1);
    record.name = other;
    tm_span_order_take(&order, &trace, &record);
    assert_int_equal(run.tallies.count[TM_TALLY_REPEATED_EVENT], 1);
    tm_names_free(trace.names);
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_that_nest_or_follow_do_not_overlap),
        cmocka_unit_test(a_span_that_ends_after_one_around_it_overlaps),
        cmocka_unit_test(only_the_same_time_length_and_name_is_a_repetition),
        cmocka_unit_test(what_is_no_span_of_a_thread_is_passed_by),
        cmocka_unit_test(deep_nesting_is_bounded),
        cmocka_unit_test(names_with_two_handles_are_the_same),
    };

    return cmocka_run_group_tests_name("span_order", tests, NULL, NULL);
}
