/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/run.h"
#include "tests/support/test_run.h"

static void limits_are_raised_together(void **state)
{
    struct tm_run run = { .limit_times = 0 };

    (void)state;
    assert_int_equal(tm_raised_limit(&run, 1000), 1000);
    run.limit_times = 1;
    assert_int_equal(tm_raised_limit(&run, 1000), 1000);
    run.limit_times = 10000;
    assert_int_equal(tm_raised_limit(&run, 1000), 10000000);
    assert_true(tm_raised_limit(&run, UINT64_MAX / 2) == UINT64_MAX);
}

static void the_hint_tells_more_than_there_is(void **state)
{
    struct tm_run run = { .limit_times = 0 };

    (void)state;
    tm_limit_hint(&run, "pass a part of it");
    assert_string_equal(run.error.hint,
                        "pass a part of it; or, if you trust the file, raise the limits: --raise-limits 4");
    run = (struct tm_run){ .limit_times = 50 };
    tm_limit_hint(&run, "pass a part of it");
    assert_non_null(strstr(run.error.hint, "--raise-limits 200"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_raised_together),
        cmocka_unit_test(the_hint_tells_more_than_there_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
