/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/trace.h"

#include "tests/support/test_run.h"

static void a_device_is_made_once(void **state)
{
    struct tm_device devices[TM_DEVICES_MOST];
    struct tm_run run;
    struct tm_trace trace = { .run = &run, .host_name = "h1", .devices = devices };
    uint32_t index;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_trace_device(&trace, TM_DEVICE_TPU, 7, "/device:TPU:7 and more", 13, &index), TM_OK);
    assert_int_equal(index, 0);
    assert_int_equal(tm_trace_device(&trace, TM_DEVICE_GPU, 7, "GPU\n7", 5, &index), TM_OK);
    assert_int_equal(index, 1);
    assert_int_equal(tm_trace_device(&trace, TM_DEVICE_TPU, 7, "another name", 12, &index), TM_OK);
    assert_int_equal(index, 0);
    assert_int_equal(trace.device_count, 2);
    assert_string_equal(devices[0].name, "/device:TPU:7");
    assert_string_equal(devices[0].id, "h1/tpu:7");
    assert_string_equal(devices[1].name, "GPU?7");
    assert_string_equal(devices[1].id, "h1/gpu:7");
    assert_int_equal(devices[1].index, 1);
}

static void too_many_devices_are_a_limit(void **state)
{
    struct tm_device devices[TM_DEVICES_MOST];
    struct tm_run run;
    struct tm_trace trace = { .run = &run, .devices = devices };
    uint32_t index;

    (void)state;
    test_run_init(&run);
    for (int64_t i = 0; i < TM_DEVICES_MOST; i++)
        assert_int_equal(tm_trace_device(&trace, TM_DEVICE_GPU, i, "", 0, &index), TM_OK);
    assert_int_equal(tm_trace_device(&trace, TM_DEVICE_GPU, -1, "", 0, &index), TM_ERR_LIMIT);
    assert_int_equal(tm_trace_device(&trace, TM_DEVICE_GPU, TM_DEVICES_MOST - 1, "", 0, &index), TM_OK);
    assert_int_equal(index, TM_DEVICES_MOST - 1);
}

static void times_that_fit(void **state)
{
    const int64_t day = INT64_C(86400000000000000);

    (void)state;
    assert_true(tm_time_fits(-5 * day, 0));
    assert_false(tm_time_fits(-5 * day - 1, 0));
    assert_true(tm_time_fits(-5 * day, 105 * day));
    assert_false(tm_time_fits(-5 * day, 105 * day + 1));
    assert_true(tm_time_fits(100 * day, 0));
    assert_false(tm_time_fits(100 * day, 1));
    assert_false(tm_time_fits(day, INT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_made_once),
        cmocka_unit_test(too_many_devices_are_a_limit),
        cmocka_unit_test(times_that_fit),
    };

    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
