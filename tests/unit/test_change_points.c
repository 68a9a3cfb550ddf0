/* SPDX-License-Identifier: Apache-2.0 */
/* Series drawn at random, always the same ones: the rates are those of docs/night.md, with room for chance. */
#include "reports/statistics/statistics.h"

#include <math.h>

#include "tests/support/test_run.h"

enum { VALUES_MOST = 10000, SERIES = 1000 };
static double value[VALUES_MOST], scratch[3 * VALUES_MOST + 1];
static struct tm_change_point point[TM_CHANGE_POINTS_MOST];

/* --- noise --- */

static double uniform(uint64_t *draws)
{
    return ((double)(tm_draw(draws) >> 11) + 0.5) / 0x1p53;
}

static double normal(uint64_t *draws)
{
    const double radius = sqrt(-2 * log(uniform(draws)));

    return radius * cos(2 * acos(-1) * uniform(draws));
}

/* All have a standard deviation of about 1, but for the outliers. */
enum noise { NORMAL, SKEWED, OUTLIERS, ALIKE };

static double next_noise(enum noise noise, double *last, uint64_t *draws)
{
    const double drawn = normal(draws);

    switch (noise) {
    case SKEWED:
        return (exp(0.6 * drawn) - exp(0.18)) / 0.7;
    case OUTLIERS:
        return uniform(draws) < 0.05 ? 10 * drawn : drawn;
    case ALIKE:
        return *last = 0.3 * *last + sqrt(1 - 0.09) * drawn;
    default:
        return drawn;
    }
}

static void fill(enum noise noise, size_t count, size_t at, double jump, uint64_t *draws)
{
    double last = normal(draws);

    for (size_t i = 0; i < count; i++)
        value[i] = 100 + next_noise(noise, &last, draws) + (i >= at ? jump : 0);
}

static size_t find(size_t count, double least_change)
{
    return tm_change_points((struct tm_sample){ value, count }, (struct tm_least_change){ .share = least_change },
                            scratch, point);
}

/* --- rates --- */

static double false_alarms_pct(enum noise noise, size_t count)
{
    uint64_t draws = 7;
    int found = 0;

    for (int i = 0; i < SERIES; i++) {
        fill(noise, count, count, 0, &draws);
        found += find(count, 0) > 0;
    }
    return 100.0 * found / SERIES;
}

static void noise_alone_has_hardly_ever_a_change(void **state)
{
    (void)state;
    assert_true(false_alarms_pct(NORMAL, 60) <= 1);
    assert_true(false_alarms_pct(SKEWED, 60) <= 1);
    assert_true(false_alarms_pct(OUTLIERS, 60) <= 1);
    assert_true(false_alarms_pct(ALIKE, 60) <= 2.5);
    assert_true(false_alarms_pct(NORMAL, 20) <= 1);
    assert_true(false_alarms_pct(NORMAL, 200) <= 1);
}

static double found_pct(enum noise noise, double jump)
{
    enum { COUNT = 60, EDGE = 10 };
    uint64_t draws = 11;
    int found = 0;

    for (int i = 0; i < SERIES; i++) {
        const size_t at = EDGE + tm_draw_below(&draws, COUNT - 2 * EDGE + 1);
        bool is_near = false;

        fill(noise, COUNT, at, jump, &draws);
        for (size_t k = find(COUNT, 0); k > 0; k--)
            is_near |= point[k - 1].at + 2 >= at && point[k - 1].at <= at + 2;
        found += is_near;
    }
    return 100.0 * found / SERIES;
}

static void jumps_of_three_deviations_are_found_where_they_are(void **state)
{
    (void)state;
    assert_true(found_pct(NORMAL, 3) >= 95);
    assert_true(found_pct(NORMAL, -3) >= 95);
    assert_true(found_pct(SKEWED, 3) >= 95);
    assert_true(found_pct(OUTLIERS, 3) >= 80);
    assert_true(found_pct(ALIKE, 3) >= 75);
}

/* --- shapes --- */

static void levels_are_told(void **state)
{
    uint64_t draws = 3;

    (void)state;
    fill(NORMAL, 90, 30, 20, &draws);
    for (size_t i = 60; i < 90; i++)
        value[i] += 40;
    assert_int_equal(find(90, 0.02), 2);
    assert_int_equal(point[0].at, 30);
    assert_int_equal(point[1].at, 60);
    assert_true(fabs(point[0].before - 100) < 1 && fabs(point[0].after - 120) < 1);
    assert_true(point[1].before == point[0].after && fabs(point[1].after - 160) < 1);
    assert_true(point[0].p > 0 && point[0].p <= 0.005);
}

static void a_level_that_comes_and_goes_is_found(void **state)
{
    uint64_t draws = 3;

    (void)state;
    fill(NORMAL, 80, 80, 0, &draws);
    for (size_t i = 50; i < 58; i++)
        value[i] += 10;
    assert_int_equal(find(80, 0.02), 2);
    assert_int_equal(point[0].at, 50);
    assert_int_equal(point[1].at, 58);
}

static void one_night_is_no_level(void **state)
{
    uint64_t draws = 3;

    (void)state;
    fill(NORMAL, 60, 60, 0, &draws);
    value[20] = 1e6;
    value[21] = -1e6;
    value[59] = 1e9;
    assert_int_equal(find(60, 0), 0);
}

static void figures_that_are_mostly_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < 60; i++)
        value[i] = 4;
    assert_int_equal(find(60, 0), 0);
    value[30] = 5;
    assert_int_equal(find(60, 0), 0);
    for (size_t i = 48; i < 60; i++)
        value[i] = 5;
    assert_int_equal(find(60, 0), 1);
    assert_int_equal(point[0].at, 48);
    assert_true(point[0].before == 4 && point[0].after == 5);
}

static void small_changes_are_not_told(void **state)
{
    uint64_t draws = 5;

    (void)state;
    for (size_t i = 0; i < 60; i++)
        value[i] = 100 + 0.01 * normal(&draws) + (i >= 10 ? 1 : 0) + (i >= 40 ? 10 : 0);
    assert_int_equal(find(60, 0.005), 2);
    assert_int_equal(find(60, 0.02), 1);
    assert_int_equal(point[0].at, 40);
    assert_true(fabs(point[0].before - 101) < 0.05); /* of both levels before it */
    assert_int_equal(
        tm_change_points((struct tm_sample){ value, 60 }, (struct tm_least_change){ .amount = 5 }, scratch, point), 1);
    assert_int_equal(point[0].at, 40);
}

static void short_series_have_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < 20; i++)
        value[i] = i < 10 ? 1 : 2;
    assert_int_equal(find(TM_CHANGE_POINTS_LEAST - 1, 0), 0);
    assert_int_equal(find(TM_CHANGE_POINTS_LEAST, 0), 1);
    assert_int_equal(tm_change_points((struct tm_sample){ NULL, 0 }, (struct tm_least_change){ 0 }, scratch, point), 0);
}

static void the_same_for_the_same_series(void **state)
{
    struct tm_change_point first;
    uint64_t draws = 9;

    (void)state;
    fill(SKEWED, 100, 70, 4, &draws);
    assert_int_equal(find(100, 0), 1);
    first = point[0];
    assert_int_equal(find(100, 0), 1);
    assert_memory_equal(&first, &point[0], sizeof(first));
}

static void many_levels_in_a_long_series(void **state)
{
    uint64_t draws = 1;

    (void)state;
    for (size_t i = 0; i < VALUES_MOST; i++)
        value[i] = 100 + normal(&draws) + (i / 500 % 2 ? 5 : 0);
    assert_int_equal(find(VALUES_MOST, 0), VALUES_MOST / 500 - 1);
    for (size_t i = 0; i < VALUES_MOST; i++)
        value[i] = 100 + normal(&draws) + (i / 20 % 2 ? 9 : 0);
    assert_int_equal(find(VALUES_MOST, 0), TM_CHANGE_POINTS_MOST);
    for (size_t i = 1; i < TM_CHANGE_POINTS_MOST; i++)
        assert_true(point[i].at >= point[i - 1].at + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_alone_has_hardly_ever_a_change),
        cmocka_unit_test(jumps_of_three_deviations_are_found_where_they_are),
        cmocka_unit_test(levels_are_told),
        cmocka_unit_test(a_level_that_comes_and_goes_is_found),
        cmocka_unit_test(one_night_is_no_level),
        cmocka_unit_test(figures_that_are_mostly_the_same),
        cmocka_unit_test(small_changes_are_not_told),
        cmocka_unit_test(short_series_have_none),
        cmocka_unit_test(the_same_for_the_same_series),
        cmocka_unit_test(many_levels_in_a_long_series),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
