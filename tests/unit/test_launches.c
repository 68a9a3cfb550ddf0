/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/resolve/resolver.h"

#include "tests/support/test_run.h"

enum { MANY = 60000, KEYS = 40000, THREADS = 8 };

/* How keys come.  Those before SHUFFLED are kept dense. */
enum spread { UP, LINES, DOWN, ROUND_THE_END, TWINS, SHUFFLED, FAR_APART, SPREADS };

/* The ordinal of the i-th launch, below KEYS. */
static uint64_t ordinal_of(enum spread spread, uint64_t i, uint64_t *seed)
{
    switch (spread) {
    case LINES: /* of several lines, one after the other */
        return i % (KEYS / THREADS) * THREADS + i / (KEYS / THREADS) % THREADS;
    case DOWN:
        return KEYS - 1 - i % KEYS;
    case TWINS:
        return i / 3;
    case SHUFFLED:
        return next_number(seed) % KEYS;
    default:
        return i % KEYS;
    }
}

static uint64_t key_of(enum spread spread, uint64_t ordinal)
{
    if (spread == FAR_APART)
        return ordinal * UINT64_C(0x9e3779b97f4a7c15) - 1; /* with UINT64_MAX at 0 */
    return spread == ROUND_THE_END ? ordinal - KEYS / 2 : ordinal + 5000;
}

/* Some have a duration or a thread that a short row has no room for. */
static struct tm_launch any_launch(uint64_t key, uint64_t *seed)
{
    const uint64_t a = next_number(seed), b = next_number(seed);
    struct tm_launch launch = { .key = key,
                                .start_ps = (int64_t)(a % 64),
                                .dur_ps = (int64_t)(b >> 20),
                                .thread = a >> 8 & 7,
                                .is_named = a >> 16 & 1,
                                .is_uncertain = a >> 17 & 1,
                                .direction = (uint8_t)((a >> 18) % TM_DIRECTION_COUNT) };

    launch.track = 100000 + 7 * launch.thread;
    if ((b & 63) == 0)
        launch.thread = TM_NONE;
    if ((b & 192) == 0)
        launch.dur_ps = INT64_MAX - (int64_t)(b >> 10 & 1);
    return launch;
}

struct expected {
    struct tm_launch launches[KEYS];
    bool has[KEYS];
};

static void expect(struct expected *e, uint64_t ordinal, const struct tm_launch *launch)
{
    struct tm_launch *const mine = &e->launches[ordinal];
    const bool replaces = launch->is_named != mine->is_named ? launch->is_named : launch->start_ps < mine->start_ps;

    if (e->has[ordinal] && !replaces)
        return;
    e->has[ordinal] = true;
    *mine = *launch;
}

static void assert_same(struct tm_launches *launches, const struct expected *e, enum spread spread, uint64_t ordinal)
{
    struct tm_launch found;
    uint64_t number;

    number = tm_launches_find(launches, key_of(spread, ordinal), &found);
    assert_int_equal(number != 0, ordinal < KEYS && e->has[ordinal]);
    if (!number)
        return;
    const struct tm_launch *const mine = &e->launches[ordinal];

    assert_true(number <= tm_launches_most_number(launches));
    assert_true(found.key == mine->key && found.start_ps == mine->start_ps && found.dur_ps == mine->dur_ps);
    assert_true(found.track == mine->track && found.thread == mine->thread);
    assert_true(found.is_named == mine->is_named && found.is_uncertain == mine->is_uncertain);
    assert_int_equal(found.direction, mine->direction);
    assert_int_equal(tm_launches_find(launches, key_of(spread, ordinal), &found), number);
}

static void check(struct tm_run *run, size_t memory, enum spread spread)
{
    static struct expected e;
    uint64_t seed = 7 + (uint64_t)spread;
    const uint64_t count = memory ? MANY : MANY / 20;
    const uint64_t step = memory > 1 << 20 ? 1 : 41; /* few look-ups where each reads a page from disk */
    struct tm_launches *launches = tm_launches_new(run, memory);

    memset(&e, 0, sizeof(e));
    assert_non_null(launches);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t ordinal = ordinal_of(spread, i, &seed);
        const struct tm_launch launch = any_launch(key_of(spread, ordinal), &seed);

        expect(&e, ordinal, &launch);
        tm_launches_put(launches, &launch);
    }
    tm_launches_finish(launches);
    for (uint64_t i = 0; i < KEYS + 3000; i += step)
        assert_same(launches, &e, spread, i);
    for (uint64_t i = 0; i < MANY; i += step)
        assert_same(launches, &e, spread, next_number(&seed) % KEYS);
    if (memory > 16 << 20)
        assert_int_equal(!launches->sparse, spread < SHUFFLED);
    tm_launches_free(launches);
    assert_ledger_is_even(run);
}

static void launches_are_found_in_every_memory_whatever_their_keys(void **state)
{
    static const size_t memories[] = { 0, 200 << 10, 2 << 20, 64 << 20 };

    (void)state;
    for (size_t m = 0; m < sizeof(memories) / sizeof(memories[0]); m++) {
        for (int spread = 0; spread < SPREADS; spread++) {
            struct tm_run run;

            test_run_init(&run);
            check(&run, memories[m], (enum spread)spread);
        }
    }
}

/* Keys that go up and up, with the pool of a larger limit. */
static void dense_launches_draw_from_the_pool_and_keep_to_it(void **state)
{
    const uint64_t count = 1000000; /* 16 MB of rows */
    const size_t memory = 4 << 20;

    (void)state;
    for (size_t limit = 64; limit <= 256; limit *= 4) {
        struct tm_run run;
        struct tm_launch launch = { .dur_ps = 5 };

        test_run_init(&run);
        tm_budget_init(&run.budget, limit * TM_MIB);
        const size_t pool = run.budget.pool_bytes;
        struct tm_launches *launches = tm_launches_new(&run, memory);

        for (uint64_t i = 0; i < count; i++) {
            launch.key = 70000 + i;
            tm_launches_put(launches, &launch);
        }
        tm_launches_finish(launches);
        assert_null(launches->sparse); /* dense again in pages, where they did not fit */
        assert_int_equal(!launches->pages, limit == 256);
        assert_int_equal(run.budget.spilled_bytes == 0, limit == 256);
        assert_true(run.budget.used_bytes[TM_ACCOUNT_LAUNCHES] <= memory + pool - run.budget.pool_bytes);
        assert_true(run.budget.peak_bytes[TM_ACCOUNT_LAUNCHES] <= memory + pool);
        for (uint64_t key = 0; key < count + 90000; key += 997) {
            assert_int_equal(tm_launches_find(launches, key, &launch) != 0, key >= 70000 && key < 70000 + count);
        }
        tm_launches_free(launches);
        assert_ledger_is_even(&run);
    }
}

static void nothing_is_found_where_nothing_was_put(void **state)
{
    struct tm_run run;
    struct tm_launch launch;

    (void)state;
    test_run_init(&run);
    struct tm_launches *launches = tm_launches_new(&run, 0);

    assert_non_null(launches);
    tm_launches_finish(launches);
    assert_int_equal(tm_launches_find(launches, 0, &launch), 0);
    assert_int_equal(tm_launches_find(launches, UINT64_MAX, &launch), 0);
    assert_int_equal(tm_launches_most_number(launches), 0);
    tm_launches_free(launches);
    tm_launches_free(NULL);
    assert_ledger_is_even(&run);
}

static tm_status use_launches(struct tm_run *run, uint64_t step)
{
    struct tm_launches *launches = tm_launches_new(run, 1 << 20);
    struct tm_launch launch = { .dur_ps = INT64_MAX };

    if (!launches)
        return run->error.status;
    for (uint64_t i = 0; i < 5000; i++) {
        launch.key = i * step;
        tm_launches_put(launches, &launch);
    }
    tm_launches_finish(launches);
    for (uint64_t i = 0; i < 5000; i += 50)
        (void)tm_launches_find(launches, i * step, &launch);
    tm_launches_free(launches);
    return run->error.status;
}

static tm_status use_dense(struct tm_run *run)
{
    return use_launches(run, 1);
}

static tm_status use_sparse(struct tm_run *run)
{
    return use_launches(run, 1 << 20);
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(use_dense);
    refuse_each_request(use_sparse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_are_found_in_every_memory_whatever_their_keys),
        cmocka_unit_test(dense_launches_draw_from_the_pool_and_keep_to_it),
        cmocka_unit_test(nothing_is_found_where_nothing_was_put),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("launches", tests, NULL, NULL);
}
