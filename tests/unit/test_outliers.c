/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/chart/chart.h"

#include "tests/support/test_run.h"

enum { VALUES = 8 };

static void a_few_long_values_do_not_set_the_scale(void **state)
{
    static const struct {
        double values[VALUES];
        size_t count;
        double end;
    } cases[] = {
        { { 0 }, 0, 0 },
        { { 5 }, 1, 5 },
        { { 100, 1 }, 2, 100 }, /* which of two is the usual one? */
        { { 1, 2, 3 }, 3, 3 },
        { { 9, 300, 10 }, 3, 10 },
        { { 10, 11, 12, 40, 9, 10 }, 6, 40 }, /* long, and yet readable */
        { { 10, 11, 12, 50, 9, 10 }, 6, 12 },
        { { 10, 10, 10, 10, 10, 10, 90, 80 }, 8, 10 },
        { { 10, 10, 10, 10, 10, 90, 80, 70 }, 8, 90 }, /* many are no outliers */
        { { 0, 0, 0, 7 }, 4, 7 },
        { { 0, 0, 0 }, 3, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double values[VALUES];

        memcpy(values, cases[i].values, sizeof(values));
        assert_true(tm_without_outliers(values, cases[i].count) == cases[i].end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_few_long_values_do_not_set_the_scale) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
