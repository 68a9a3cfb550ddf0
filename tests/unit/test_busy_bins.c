/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/device_time.h"

#include "tests/support/test_run.h"

/* Against a picture of the time line: one cell per picosecond. */
enum { LENGTH = 3000, INTERVALS = 40 };

static void check_cells(const struct tm_busy_bins *bins, const int *cells, int64_t origin_ps)
{
    const int64_t far_ps = INT64_C(1) << 40; /* a multiple of the width below 0, for a floor that is sure */
    int64_t sums[TM_BUSY_BINS_MOST] = { 0 };
    const int64_t shift_ps = far_ps * bins->bin_ps, first = (bins->start_ps + shift_ps) / bins->bin_ps;

    for (int64_t i = 0; i < LENGTH; i++) {
        const int64_t at_ps = origin_ps + i;

        if (at_ps >= bins->start_ps && at_ps < bins->end_ps)
            sums[(at_ps + shift_ps) / bins->bin_ps - first] += cells[i];
    }
    for (uint32_t i = 0; i < bins->count; i++)
        assert_int_equal(bins->busy_ps[i], sums[i]);
}

static void check_random(uint64_t seed)
{
    int cells[LENGTH] = { 0 };
    struct tm_busy_bins bins;
    const int64_t origin_ps = (int64_t)(next_number(&seed) % 5000) - 4000;
    const int64_t start_ps = origin_ps + (int64_t)(next_number(&seed) % 50);

    tm_busy_bins_init(&bins, start_ps, start_ps + 1 + (int64_t)(next_number(&seed) % (LENGTH - 50)));
    assert_true(bins.count >= 1 && bins.count <= TM_BUSY_BINS_MOST);
    for (int i = 0; i < INTERVALS; i++) {
        const int64_t from = (int64_t)(next_number(&seed) % LENGTH);
        const int64_t to = from + (int64_t)(next_number(&seed) % (uint64_t)(LENGTH - from));
        const int sign = next_number(&seed) % 4 ? 1 : -1;

        tm_busy_bins_add(&bins, origin_ps + from, origin_ps + to, sign);
        for (int64_t at = from; at < to; at++)
            cells[at] += sign;
    }
    check_cells(&bins, cells, origin_ps);
    for (uint32_t most = 100; most > 3; most /= 3) {
        tm_busy_bins_merge(&bins, most);
        assert_true(bins.count <= most);
        check_cells(&bins, cells, origin_ps);
    }
}

static void stretches_hold_what_lies_in_them(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        check_random(seed);
}

static void widths_are_round(void **state)
{
    static const struct {
        int64_t start_ps, end_ps, bin_ps;
        uint32_t count;
    } cases[] = {
        { 0, 0, 1, 0 },
        { 5, 5, 1, 0 },
        { 0, 1, 1, 1 },
        { 0, 240, 1, 240 },
        { 0, 241, 2, 121 },
        { 1, 481, 5, 97 }, /* 241 of two */
        { 1, 480, 2, 240 },
        { -3, 3, 1, 6 },
        { -1201, 1199, 20, 121 },
        { 700, 1899, 5, 240 },
        { 0, INT64_MAX, INT64_C(50000000000000000), 185 },
        { INT64_MIN, INT64_MAX, INT64_C(100000000000000000), 186 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_busy_bins bins;

        tm_busy_bins_init(&bins, cases[i].start_ps, cases[i].end_ps);
        assert_int_equal(bins.bin_ps, cases[i].bin_ps);
        assert_int_equal(bins.count, cases[i].count);
    }
}

static void the_longest_times_are_held(void **state)
{
    struct tm_busy_bins bins;
    int64_t left_ps = 0;

    (void)state;
    tm_busy_bins_init(&bins, INT64_MIN, INT64_MAX);
    tm_busy_bins_add(&bins, INT64_MIN, -1, 1);
    tm_busy_bins_add(&bins, INT64_MIN + 7, -1, -1);
    tm_busy_bins_merge(&bins, 0); /* as far as it goes */
    assert_true(bins.count >= 3 && bins.count < 30);
    for (uint32_t i = 0; i < bins.count; i++)
        left_ps += bins.busy_ps[i];
    assert_int_equal(left_ps, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_hold_what_lies_in_them),
        cmocka_unit_test(widths_are_round),
        cmocka_unit_test(the_longest_times_are_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
