/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/nesting.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

enum { LANES = 5, SPANS = 400, LENGTH = 2000 };

struct span {
    uint64_t lane;
    int64_t start_ps, dur_ps;
    uint32_t number;
};

/* What was told, by number. */
struct told {
    int64_t self_ps[SPANS];
    int parents[SPANS]; /* -1 = none */
    uint32_t depth[SPANS];
    bool seen[SPANS];
    uint32_t count, sequence[SPANS]; /* when it was told */
};

static void keep(void *to, const struct tm_nested *span)
{
    struct told *told = to;
    uint32_t number, parent;

    memcpy(&number, span->payload, sizeof(number));
    assert_true(number < SPANS);
    assert_false(told->seen[number]);
    told->seen[number] = true;
    told->sequence[number] = told->count++;
    told->self_ps[number] = span->self_ps;
    told->depth[number] = span->depth;
    told->parents[number] = -1;
    assert_int_equal(span->has_parent, span->parent != NULL);
    if (span->parent) {
        memcpy(&parent, span->parent, sizeof(parent));
        told->parents[number] = (int)parent;
    }
}

/* A span whose payload is written where it stays; what is around it is known before. */
static void take_open(struct tm_nesting *n, const struct span *span)
{
    const void *around;
    uint32_t *const payload = tm_nesting_open(n, span->lane, span->start_ps, span->dur_ps, &around);

    if (payload)
        *payload = span->number;
    else
        tm_nesting_take(n, span->lane, span->start_ps, span->dur_ps, &span->number);
    if (payload && around)
        assert_int_not_equal(*(const uint32_t *)around, span->number);
}

/* in: is_open  the spans are opened */
static void feed_so(struct tm_run *run, const struct span *spans, uint32_t count, uint32_t most, bool is_open,
                    struct told *told)
{
    struct tm_nesting *n = tm_nesting_new(run, TM_ACCOUNT_TABLES, sizeof(uint32_t), most, keep, told);

    assert_non_null(n);
    for (uint32_t i = 0; i < count; i++) {
        if (is_open)
            take_open(n, &spans[i]);
        else
            tm_nesting_take(n, spans[i].lane, spans[i].start_ps, spans[i].dur_ps, &spans[i].number);
    }
    tm_nesting_end(n);
    tm_nesting_free(n);
    assert_int_equal(told->count, count);
}

/* Both ways tell the same. */
static void feed(struct tm_run *run, const struct span *spans, uint32_t count, uint32_t most, struct told *told)
{
    static struct told other;
    struct tm_run other_run;

    test_run_init(&other_run);
    memset(&other, 0, sizeof(other));
    feed_so(&other_run, spans, count, most, true, &other);
    feed_so(run, spans, count, most, false, told);
    assert_memory_equal(other.self_ps, told->self_ps, count * sizeof(*told->self_ps));
    assert_memory_equal(other.parents, told->parents, count * sizeof(*told->parents));
    assert_memory_equal(other.depth, told->depth, count * sizeof(*told->depth));
    assert_int_equal(other_run.tallies.count[TM_TALLY_DEEP_NESTING], run->tallies.count[TM_TALLY_DEEP_NESTING]);
}

static void test_calls(void **state)
{
    static const struct span spans[] = {
        { 7, 0, 100, 0 }, { 7, 0, 40, 1 }, { 7, 10, 20, 2 }, { 7, 50, 30, 3 }, { 7, 60, 0, 4 }, { 7, 100, 5, 5 },
    };
    struct tm_run run;
    struct told told = { .count = 0 };

    (void)state;
    test_run_init(&run);
    feed(&run, spans, 6, 64, &told);
    assert_int_equal(told.self_ps[0], 30);
    assert_int_equal(told.self_ps[1], 20);
    assert_int_equal(told.self_ps[2], 20);
    assert_int_equal(told.self_ps[3], 30);
    assert_int_equal(told.self_ps[4], 0);
    assert_int_equal(told.self_ps[5], 5);
    assert_int_equal(told.parents[2], 1);
    assert_int_equal(told.parents[3], 0);
    assert_int_equal(told.parents[4], 3);
    assert_int_equal(told.parents[5], -1);
    assert_int_equal(told.depth[2], 2);
    assert_int_equal(told.depth[5], 0);
    assert_true(told.sequence[2] < told.sequence[1] && told.sequence[1] < told.sequence[0]);
    assert_ledger_is_even(&run);
}

/* A span that goes on after the one that it began in: each moment is taken once from those around. */
static void test_overlap(void **state)
{
    static const struct span spans[] = {
        { 1, 0, 100, 0 },
        { 1, 10, 40, 1 },
        { 1, 30, 50, 2 },
        { 1, 60, 10, 3 },
    };
    struct tm_run run;
    struct told told = { .count = 0 };

    (void)state;
    test_run_init(&run);
    feed(&run, spans, 4, 64, &told);
    assert_int_equal(told.self_ps[0], 30); /* without [10, 80) */
    assert_int_equal(told.self_ps[1], 20); /* without [30, 50) */
    assert_int_equal(told.self_ps[2], 40); /* without [60, 70) */
    assert_int_equal(told.self_ps[3], 10);
}

static int in_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->dur_ps != y->dur_ps)
        return x->dur_ps > y->dur_ps ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* Spans that nest: each lies in a random one before it of its lane. */
static void make_spans(struct span *spans, uint64_t *seed)
{
    for (uint32_t i = 0; i < SPANS; i++) {
        const uint32_t at = i < LANES ? SPANS : (uint32_t)(next_number(seed) % i);
        const struct span outer = at == SPANS ? (struct span){ .lane = i, .start_ps = 0, .dur_ps = LENGTH } : spans[at];
        const int64_t begin = outer.dur_ps ? (int64_t)(next_number(seed) % (uint64_t)outer.dur_ps) : 0;
        const int64_t dur = (int64_t)(next_number(seed) % (uint64_t)(outer.dur_ps - begin + 1));

        spans[i] = (struct span){ outer.lane, outer.start_ps + begin, dur, i };
    }
    qsort(spans, SPANS, sizeof(*spans), in_order);
    for (uint32_t i = 0; i < SPANS; i++)
        spans[i].number = i;
}

/* Against a picture of the time line: how many picoseconds each lane is covered for is the sum of the self times,
 * where no span goes on after the one it began in. */
static void test_sums(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int turn = 0; turn < 50; turn++) {
        struct tm_run run;
        struct span spans[SPANS];
        struct told told = { .count = 0 };
        static uint8_t covered[LANES][LENGTH];
        int64_t cells = 0, self = 0;

        test_run_init(&run);
        memset(covered, 0, sizeof(covered));
        make_spans(spans, &seed);
        feed(&run, spans, SPANS, 4096, &told);
        for (uint32_t i = 0; i < SPANS; i++) {
            self += told.self_ps[i];
            for (int64_t at = 0; at < spans[i].dur_ps; at++)
                covered[spans[i].lane][spans[i].start_ps + at] = 1;
        }
        for (int lane = 0; lane < LANES; lane++)
            for (int at = 0; at < LENGTH; at++)
                cells += covered[lane][at];
        assert_true(self >= cells); /* siblings may overlap: their time is theirs */
        for (uint32_t i = 0; i < SPANS; i++)
            assert_true(told.self_ps[i] >= 0 && told.self_ps[i] <= spans[i].dur_ps);
        assert_int_equal(run.tallies.count[TM_TALLY_DEEP_NESTING], 0);
        assert_ledger_is_even(&run);
    }
}

/* Many lanes that have ended take no room; too many that are open are tallied. */
static void test_room(void **state)
{
    struct tm_run run;
    struct span spans[SPANS];
    struct told told = { .count = 0 };

    (void)state;
    test_run_init(&run);
    for (uint32_t i = 0; i < SPANS; i++)
        spans[i] = (struct span){ 1000 + i, i * 10, 10, i };
    feed(&run, spans, SPANS, 64, &told);
    assert_int_equal(run.tallies.count[TM_TALLY_DEEP_NESTING], 0);

    told = (struct told){ .count = 0 };
    for (uint32_t i = 0; i < SPANS; i++)
        spans[i] = (struct span){ i, i, 10 * SPANS, i };
    feed(&run, spans, SPANS, 64, &told);
    assert_int_equal(run.tallies.count[TM_TALLY_DEEP_NESTING], SPANS - 64);
    assert_ledger_is_even(&run);
}

static void count_only(void *to, const struct tm_nested *span)
{
    (void)span;
    ++*(uint32_t *)to;
}

static tm_status nest_many(struct tm_run *run)
{
    uint32_t count = 0;
    struct tm_nesting *n = tm_nesting_new(run, TM_ACCOUNT_TABLES, sizeof(count), 1024, count_only, &count);

    for (uint32_t i = 0; n && i < 500; i++)
        tm_nesting_take(n, 1, i, 2000 - 2 * (int64_t)i, &i);
    if (n)
        tm_nesting_end(n);
    if (!tm_failed(run))
        assert_int_equal(count, 500);
    tm_nesting_free(n);
    return run->error.status;
}

/* What lies around a time is told, and what has ended by then is told first. */
static void test_around(void **state)
{
    const uint32_t numbers[] = { 0, 1 };
    struct told told = { .count = 0 };
    const void *payload;
    struct tm_nesting *n;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    n = tm_nesting_new(&run, TM_ACCOUNT_TABLES, sizeof(uint32_t), 64, keep, &told);
    assert_non_null(n);
    payload = tm_nesting_around(n, 7, 0);
    assert_null(payload);
    tm_nesting_take(n, 7, 0, 100, &numbers[0]);
    *(uint32_t *)tm_nesting_open(n, 7, 10, 20, &payload) = numbers[1];
    assert_memory_equal(payload, &numbers[0], sizeof(numbers[0]));
    payload = tm_nesting_around(n, 7, 20);
    assert_memory_equal(payload, &numbers[1], sizeof(numbers[1]));
    assert_int_equal(told.count, 0);
    payload = tm_nesting_around(n, 7, 30);
    assert_memory_equal(payload, &numbers[0], sizeof(numbers[0]));
    assert_true(told.seen[1]);
    payload = tm_nesting_around(n, 8, 30);
    assert_null(payload);
    payload = tm_nesting_around(n, 7, 100);
    assert_null(payload);
    assert_int_equal(told.count, 2);
    tm_nesting_free(n);
    assert_ledger_is_even(&run);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse_each_request(nest_many);
}

/* Quiet spans take time from those around them, and to what lies in them those are the next ones. */
static void quiet_spans_only_take_time(void **state)
{
    const uint32_t numbers[] = { 0, 1 };
    struct told told = { .count = 0 };
    struct tm_nesting *n;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    n = tm_nesting_new(&run, TM_ACCOUNT_TABLES, sizeof(uint32_t), 64, keep, &told);
    assert_non_null(n);
    tm_nesting_take_quiet(n, 7, 0, 5);
    assert_null(tm_nesting_around(n, 7, 4));
    tm_nesting_take(n, 7, 10, 100, &numbers[0]);
    tm_nesting_take_quiet(n, 7, 20, 30);
    tm_nesting_take_quiet(n, 7, 25, 20);
    assert_memory_equal(tm_nesting_around(n, 7, 25), &numbers[0], sizeof(numbers[0]));
    tm_nesting_take(n, 7, 26, 4, &numbers[1]);
    assert_memory_equal(tm_nesting_around(n, 7, 27), &numbers[1], sizeof(numbers[1]));
    tm_nesting_end(n);
    assert_int_equal(told.count, 2);
    assert_int_equal(told.self_ps[1], 4);
    assert_int_equal(told.parents[1], 0);
    assert_int_equal(told.self_ps[0], 70);
    tm_nesting_free(n);
    assert_ledger_is_even(&run);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),    cmocka_unit_test(test_overlap), cmocka_unit_test(test_sums),
        cmocka_unit_test(test_room),     cmocka_unit_test(test_around),  cmocka_unit_test(quiet_spans_only_take_time),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
