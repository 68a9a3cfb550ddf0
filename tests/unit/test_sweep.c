/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/device_time.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

/* Against a picture of the time line: one cell per picosecond, painted with every activity. */
enum { LENGTH = 400, INTERVALS = 60 };

struct interval {
    int64_t start_ps, end_ps;
    enum tm_level level;
};

struct picture {
    uint8_t levels[LENGTH]; /* bit per level that runs */
    uint8_t told[LENGTH];   /* level + 1 that the sweep told, 0 = nothing told */
    int64_t last_end_ps;
    size_t stretches;
};

static enum tm_level lowest(uint8_t levels)
{
    for (int level = 0; level < TM_LEVEL_COUNT; level++)
        if (levels >> level & 1)
            return (enum tm_level)level;
    return TM_LEVEL_NONE;
}

static tm_status keep_stretch(void *to, enum tm_level level, int64_t start_ps, int64_t end_ps)
{
    struct picture *const p = to;

    assert_true(start_ps < end_ps);
    assert_true(start_ps >= 0 && end_ps <= LENGTH);
    if (p->stretches++)
        assert_int_equal(start_ps, p->last_end_ps); /* without a hole, in order */
    p->last_end_ps = end_ps;
    for (int64_t at = start_ps; at < end_ps; at++)
        p->told[at] = (uint8_t)(level + 1);
    return TM_OK;
}

static int by_start(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;

    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

static size_t make_intervals(struct interval *intervals, uint64_t *seed)
{
    const size_t count = 1 + next_number(seed) % INTERVALS;
    const int64_t longest_ps = 1 + (int64_t)(next_number(seed) % 60);

    for (size_t i = 0; i < count; i++) {
        struct interval *const in = &intervals[i];

        in->start_ps = (int64_t)(next_number(seed) % (LENGTH - 61));
        in->end_ps = in->start_ps + (int64_t)(next_number(seed) % (uint64_t)longest_ps);
        in->level = (enum tm_level)(next_number(seed) % TM_LEVEL_COUNT);
    }
    qsort(intervals, count, sizeof(*intervals), by_start);
    return count;
}

static void check_random(uint64_t seed)
{
    struct interval intervals[INTERVALS];
    struct picture p = { .stretches = 0 };
    struct tm_sweep sweep = { .at_ps = 0 };
    const size_t count = make_intervals(intervals, &seed);
    const int64_t first_ps = intervals[0].start_ps;
    int64_t last_ps = first_ps;

    for (size_t i = 0; i < count; i++) {
        const struct interval *const in = &intervals[i];

        assert_int_equal(tm_sweep_to(&sweep, in->start_ps, keep_stretch, &p), TM_OK);
        tm_sweep_add(&sweep, in->level, in->start_ps, in->end_ps);
        for (int64_t at = in->start_ps; at < in->end_ps; at++)
            p.levels[at] |= (uint8_t)(1 << in->level);
        last_ps = in->end_ps > last_ps ? in->end_ps : last_ps;
        assert_int_equal(tm_sweep_busy_until(&sweep), last_ps > in->start_ps ? last_ps : in->start_ps);
        last_ps = in->start_ps > last_ps ? in->start_ps : last_ps;
    }
    assert_int_equal(tm_sweep_to(&sweep, last_ps, keep_stretch, &p), TM_OK);
    for (int64_t at = 0; at < LENGTH; at++)
        if (at < first_ps || at >= last_ps)
            assert_int_equal(p.told[at], 0);
        else
            assert_int_equal(p.told[at], lowest(p.levels[at]) + 1);
}

static void every_moment_goes_to_the_lowest_level_that_runs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++)
        check_random(seed);
}

static void nothing_is_told_before_the_first_activity(void **state)
{
    struct picture p = { .stretches = 0 };
    struct tm_sweep sweep = { .at_ps = 0 };

    (void)state;
    assert_int_equal(tm_sweep_to(&sweep, 300, keep_stretch, &p), TM_OK);
    assert_int_equal(p.stretches, 0);
    tm_sweep_add(&sweep, TM_LEVEL_D2D, 10, 20);
    assert_int_equal(tm_sweep_to(&sweep, 30, keep_stretch, &p), TM_OK);
    assert_int_equal(p.stretches, 2);
    assert_int_equal(p.told[10], TM_LEVEL_D2D + 1);
    assert_int_equal(p.told[20], TM_LEVEL_NONE + 1);
}

static tm_status refuse(void *to, enum tm_level level, int64_t start_ps, int64_t end_ps)
{
    (void)to;
    (void)level;
    return start_ps < end_ps ? TM_ERR_LIMIT : TM_OK;
}

static void a_refused_stretch_ends_the_sweep(void **state)
{
    struct tm_sweep sweep = { .at_ps = 0 };

    (void)state;
    tm_sweep_add(&sweep, TM_LEVEL_COMPUTE, -20, -10);
    assert_int_equal(tm_sweep_to(&sweep, -20, refuse, NULL), TM_OK);
    assert_int_equal(tm_sweep_to(&sweep, 0, refuse, NULL), TM_ERR_LIMIT);
}

static tm_status add_length(void *to, enum tm_level level, int64_t start_ps, int64_t end_ps)
{
    int64_t *const sums = to;

    sums[level] += end_ps - start_ps;
    return TM_OK;
}

/* The whole range that records have. */
static void lengths_at_the_limits_of_time_are_exact(void **state)
{
    const int64_t day_ps = (int64_t)86400 * 1000000000000;
    int64_t sums[TM_LEVEL_COUNT + 1] = { 0 };
    struct tm_sweep sweep = { .at_ps = 0 };

    (void)state;
    tm_sweep_add(&sweep, TM_LEVEL_H2D, -5 * day_ps, -4 * day_ps);
    assert_int_equal(tm_sweep_to(&sweep, 99 * day_ps, add_length, sums), TM_OK);
    tm_sweep_add(&sweep, TM_LEVEL_COMPUTE, 99 * day_ps, 100 * day_ps);
    assert_int_equal(tm_sweep_to(&sweep, 100 * day_ps, add_length, sums), TM_OK);
    assert_int_equal(sums[TM_LEVEL_H2D], day_ps);
    assert_int_equal(sums[TM_LEVEL_NONE], 103 * day_ps);
    assert_int_equal(sums[TM_LEVEL_COMPUTE], day_ps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_moment_goes_to_the_lowest_level_that_runs),
        cmocka_unit_test(nothing_is_told_before_the_first_activity),
        cmocka_unit_test(a_refused_stretch_ends_the_sweep),
        cmocka_unit_test(lengths_at_the_limits_of_time_are_exact),
    };

    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
