/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/resolve/resolver.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

enum { SPANS = 3000, LANES = 5 };
static const uint64_t lanes[LANES] = { 0, 1, 7, UINT32_MAX, UINT64_MAX };
static const size_t memories[] = { 0, 300 << 10, 64 << 20 };

/* What a plain list says: of each lane the spans that do not lie inside an earlier one. */
struct plain {
    struct tm_span spans[SPANS];
    size_t count;
};

static int by_place(const void *a, const void *b)
{
    const struct tm_span *x = a, *y = b;

    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return (x->end_ps < y->end_ps) - (x->end_ps > y->end_ps);
}

/* Leave out what lies inside another span of its lane; of equal ones one stays. */
static void drop_inner(struct plain *plain)
{
    size_t kept = 0;

    qsort(plain->spans, plain->count, sizeof(*plain->spans), by_place);
    for (size_t i = 0; i < plain->count; i++) {
        const struct tm_span span = plain->spans[i];
        bool inside = false;

        for (size_t k = 0; k < kept && !inside; k++)
            inside = plain->spans[k].lane == span.lane && plain->spans[k].start_ps <= span.start_ps &&
                     plain->spans[k].end_ps >= span.end_ps;
        if (!inside)
            plain->spans[kept++] = span;
    }
    plain->count = kept;
}

static const struct tm_span *find_plainly(const struct plain *plain, uint64_t lane, int64_t at_ps)
{
    const struct tm_span *found = NULL;

    for (size_t i = 0; i < plain->count; i++)
        if (plain->spans[i].lane == lane && plain->spans[i].start_ps <= at_ps)
            found = &plain->spans[i];
    return found && at_ps <= found->end_ps ? found : NULL;
}

static struct tm_span any_span(uint64_t *seed, int64_t range_ps, int64_t longest_ps)
{
    const int64_t start_ps = (int64_t)(next_number(seed) % (uint64_t)range_ps) - range_ps / 3;

    return (struct tm_span){ .lane = lanes[next_number(seed) % LANES],
                             .start_ps = start_ps,
                             .end_ps = start_ps + (int64_t)(next_number(seed) % (uint64_t)longest_ps),
                             .value = next_number(seed) };
}

static void assert_same_place(const struct tm_span *got, const struct tm_span *expected)
{
    assert_int_equal(got->lane, expected->lane);
    assert_int_equal(got->start_ps, expected->start_ps);
    assert_int_equal(got->end_ps, expected->end_ps);
}

static void check_list(struct tm_spans *spans, const struct plain *plain)
{
    uint64_t ordinal = 0, longest = 0;

    assert_int_equal(tm_spans_count(spans), plain->count);
    for (size_t i = 0; i < plain->count; i++) {
        const struct tm_span *const span = tm_spans_at(spans, i);

        assert_non_null(span);
        assert_same_place(span, &plain->spans[i]);
        ordinal = i && plain->spans[i - 1].lane == span->lane ? ordinal + 1 : 0;
        assert_int_equal(span->ordinal, ordinal);
        longest = ordinal + 1 > longest ? ordinal + 1 : longest;
    }
    assert_int_equal(tm_spans_longest_lane(spans), longest);
}

static void check_look_up(struct tm_spans *spans, const struct plain *plain, uint64_t lane, int64_t at_ps)
{
    const struct tm_span *const expected = find_plainly(plain, lane, at_ps);
    const struct tm_span *const span = tm_spans_find(spans, lane, at_ps);

    if (expected) {
        assert_non_null(span);
        assert_same_place(span, expected);
        assert_int_equal(span->value, expected->value);
    } else {
        assert_null(span);
    }
}

static void check_random(size_t memory_bytes, uint64_t seed, size_t count, int64_t longest_ps)
{
    static struct plain plain;
    const int64_t range_ps = 100000;
    struct tm_run run;
    struct tm_spans *spans;

    test_run_init(&run);
    spans = tm_spans_new(&run, TM_ACCOUNT_STEPS, memory_bytes);
    assert_non_null(spans);
    for (plain.count = 0; plain.count < count; plain.count++) {
        plain.spans[plain.count] = any_span(&seed, range_ps, longest_ps);
        plain.spans[plain.count].value =
            (uint64_t)plain.spans[plain.count].start_ps * 3 + plain.spans[plain.count].lane;
        tm_spans_add(spans, &plain.spans[plain.count]);
    }
    tm_spans_finish(spans);
    drop_inner(&plain);
    check_list(spans, &plain);
    for (int64_t at_ps = -range_ps / 2; at_ps < range_ps; at_ps += 997) /* in the order of time, then not */
        check_look_up(spans, &plain, lanes[at_ps & 1], at_ps);
    for (int i = 0; i < 1000; i++)
        check_look_up(spans, &plain, lanes[next_number(&seed) % LANES],
                      (int64_t)(next_number(&seed) % (uint64_t)range_ps) - range_ps / 2);
    for (size_t i = 0; i < plain.count; i += 7) { /* borders */
        check_look_up(spans, &plain, plain.spans[i].lane, plain.spans[i].start_ps - 1);
        check_look_up(spans, &plain, plain.spans[i].lane, plain.spans[i].start_ps);
        check_look_up(spans, &plain, plain.spans[i].lane, plain.spans[i].end_ps);
        check_look_up(spans, &plain, plain.spans[i].lane, plain.spans[i].end_ps + 1);
    }
    tm_spans_free(spans);
    assert_ledger_is_even(&run);
}

static void look_ups_are_those_of_a_plain_list(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof(memories) / sizeof(memories[0]); m++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            check_random(memories[m], seed, SPANS, 60);        /* hardly any overlap */
            check_random(memories[m], seed + 10, SPANS, 3000); /* many do, and lie in each other */
            check_random(memories[m], seed + 20, 1 + seed, 50000);
        }
}

static void nothing_is_found_among_none(void **state)
{
    struct tm_run run;
    struct tm_spans *spans;
    const struct tm_span *span;

    (void)state;
    test_run_init(&run);
    spans = tm_spans_new(&run, TM_ACCOUNT_STEPS, 1 << 20);
    assert_non_null(spans);
    tm_spans_finish(spans);
    assert_int_equal(tm_spans_count(spans), 0);
    assert_int_equal(tm_spans_longest_lane(spans), 0);
    span = tm_spans_find(spans, 0, 0);
    assert_null(span);
    tm_spans_free(spans);
    tm_spans_free(NULL);
    assert_ledger_is_even(&run);
}

/* Before the origin, on the last lane, without length: nothing is taken for "no span yet". */
static void early_spans_of_the_last_lane_stay(void **state)
{
    const struct tm_span early = { .lane = UINT64_MAX, .start_ps = -50, .end_ps = -50, .value = 4 };
    struct tm_run run;
    struct tm_spans *spans;
    const struct tm_span *span;

    (void)state;
    test_run_init(&run);
    spans = tm_spans_new(&run, TM_ACCOUNT_STEPS, 1 << 20);
    assert_non_null(spans);
    tm_spans_add(spans, &early);
    tm_spans_finish(spans);
    span = tm_spans_find(spans, UINT64_MAX, -50);
    assert_non_null(span);
    assert_int_equal(span->value, 4);
    tm_spans_free(spans);
    assert_ledger_is_even(&run);
}

static tm_status job(struct tm_run *run)
{
    struct tm_spans *const spans = tm_spans_new(run, TM_ACCOUNT_STEPS, 1 << 20);
    uint64_t seed = 3;

    if (!spans)
        return run->error.status;
    for (int i = 0; i < 3000; i++) {
        const struct tm_span span = any_span(&seed, 1000000, 50);

        tm_spans_add(spans, &span);
    }
    tm_spans_finish(spans);
    (void)tm_spans_find(spans, 1, 400);
    tm_spans_free(spans);
    return run->error.status;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(look_ups_are_those_of_a_plain_list),
        cmocka_unit_test(nothing_is_found_among_none),
        cmocka_unit_test(early_spans_of_the_last_lane_stay),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("spans", tests, NULL, NULL);
}
