/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/device_limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TERA 1e12
#define GIGA 1e9

static const struct tm_peak_question nothing = { .model = "", .vendor = "", .kind = TM_DEVICE_GPU };

/* Within a share of what the data sheet says. */
static void assert_near(double have, double want, double share)
{
    if (have < want * (1 - share) || have > want * (1 + share))
        fail_msg("%g is not near %g", have, want);
}

/* What plane statistics give against the data sheet of the same device. */
static void cores_and_clock_give_the_data_sheet(void **state)
{
    static const struct {
        struct tm_peak_question device;
        enum tm_precision type;
        double teraflops;
    } rows[] = {
        { { .model = "Tesla V100-SXM2-16GB",
            .vendor = "Nvidia",
            .core_count = 80,
            .clock_khz = 1530000,
            .capability_major = 7 },
          TM_F16,
          125 },
        { { .model = "NVIDIA A100-SXM4-40GB",
            .vendor = "Nvidia",
            .core_count = 108,
            .clock_khz = 1410000,
            .capability_major = 8 },
          TM_TF32,
          156 },
        { { .model = "NVIDIA H100 80GB HBM3",
            .vendor = "Nvidia",
            .core_count = 132,
            .clock_khz = 1830000,
            .capability_major = 9 },
          TM_BF16,
          989.4 },
        { { .model = "NVIDIA GeForce RTX 4090",
            .vendor = "Nvidia",
            .core_count = 128,
            .clock_khz = 2520000,
            .capability_major = 8,
            .capability_minor = 9 },
          TM_BF16,
          165.2 },
        { { .model = "NVIDIA L40S",
            .vendor = "Nvidia",
            .core_count = 142,
            .clock_khz = 2520000,
            .capability_major = 8,
            .capability_minor = 9 },
          TM_F8,
          733 },
        { { .model = "",
            .vendor = "AMD",
            .core_count = 304,
            .clock_khz = 2100000,
            .capability_major = 9,
            .capability_minor = 4 },
          TM_BF16,
          1307.4 },
        { { .model = "",
            .vendor = "AMD",
            .core_count = 256,
            .clock_khz = 2400000,
            .capability_major = 9,
            .capability_minor = 5 },
          TM_F8,
          5033.2 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tm_peaks peaks;

        tm_peaks_of(&rows[i].device, &peaks);
        assert_near(tm_peak_flops(&peaks, rows[i].type, true), rows[i].teraflops * TERA, 0.015);
        assert_non_null(strstr(peaks.flops_source, "cores x"));
    }
}

static void a_model_alone_is_looked_up(void **state)
{
    static const struct {
        const char *model;
        uint8_t kind;
        enum tm_precision type;
        double teraflops, gigabytes;
    } rows[] = {
        { "NVIDIA H100 80GB HBM3", TM_DEVICE_GPU, TM_BF16, 989.4, 3352 },
        { "NVIDIA H100 PCIe", TM_DEVICE_GPU, TM_BF16, 756, 2039 },
        { "NVIDIA H200", TM_DEVICE_GPU, TM_F8, 1978.9, 4800 },
        { "NVIDIA B200", TM_DEVICE_GPU, TM_BF16, 2250, 8000 },
        { "NVIDIA A100-SXM4-80GB", TM_DEVICE_GPU, TM_BF16, 312, 2039 },
        { "NVIDIA A100-SXM4-40GB", TM_DEVICE_GPU, TM_INT8, 624, 1555 },
        { "Tesla V100-DGXS-32GB", TM_DEVICE_GPU, TM_F16, 125, 900 },
        { "AMD Instinct MI300X OAM", TM_DEVICE_GPU, TM_BF16, 1307.4, 5300 },
        { "TPU v5 lite", TM_DEVICE_TPU, TM_BF16, 197, 819 },
        { "TPU v5p", TM_DEVICE_TPU, TM_BF16, 459, 2765 },
        { "TPU v6 Lite", TM_DEVICE_TPU, TM_BF16, 918, 1640 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tm_peak_question device = nothing;
        struct tm_peaks peaks;

        device.model = rows[i].model;
        device.kind = rows[i].kind;
        tm_peaks_of(&device, &peaks);
        assert_near(tm_peak_flops(&peaks, rows[i].type, true), rows[i].teraflops * TERA, 1e-6);
        assert_near(peaks.bandwidth, rows[i].gigabytes * GIGA, 1e-6);
    }
}

static void the_profile_goes_before_the_table(void **state)
{
    struct tm_peak_question device = { .model = "TPU v6 Lite",
                                       .vendor = "",
                                       .kind = TM_DEVICE_TPU,
                                       .peak_tflops = 900,
                                       .memory_bandwidth_bytes = 1500000000000 };
    struct tm_peaks peaks;

    (void)state;
    tm_peaks_of(&device, &peaks);
    assert_near(peaks.matrix[TM_BF16], 900 * TERA, 1e-9);
    assert_near(peaks.matrix[TM_INT8], 1836 * TERA, 1e-9);
    assert_near(peaks.bandwidth, 1500 * GIGA, 1e-9);
    assert_non_null(strstr(peaks.flops_source, "the profile"));
    /* products of f32 are taken apart; what no matrix unit does is measured by the same peak */
    assert_near(tm_peak_flops(&peaks, TM_F32, true), 900 * TERA, 1e-9);
    assert_near(tm_peak_flops(&peaks, TM_F32, false), 900 * TERA, 1e-9);
}

/* The ROCm profiler says 2.66 TB/s of an MI300X. */
static void the_bandwidth_of_amd_is_the_data_sheets(void **state)
{
    struct tm_peak_question device = { .model = "",
                                       .vendor = "AMD",
                                       .kind = TM_DEVICE_GPU,
                                       .core_count = 304,
                                       .clock_khz = 2100000,
                                       .memory_bytes = 206141652992,
                                       .memory_bandwidth_bytes = 2662400000000,
                                       .capability_major = 9,
                                       .capability_minor = 4 };
    struct tm_peaks peaks;

    (void)state;
    tm_peaks_of(&device, &peaks);
    assert_near(peaks.bandwidth, 5300 * GIGA, 1e-9);
    assert_non_null(strstr(peaks.bandwidth_source, "too low"));
    device.memory_bytes = 256000000000;
    tm_peaks_of(&device, &peaks);
    assert_near(peaks.bandwidth, 6000 * GIGA, 1e-9);
    device.core_count = 300; /* nothing that is known: its own word */
    tm_peaks_of(&device, &peaks);
    assert_near(peaks.bandwidth, 2662.4 * GIGA, 1e-9);
}

static void types_without_matrix_units_run_on_the_others(void **state)
{
    struct tm_peak_question device = nothing;
    struct tm_peaks peaks;

    (void)state;
    device.model = "NVIDIA H100 80GB HBM3";
    tm_peaks_of(&device, &peaks);
    assert_near(tm_peak_flops(&peaks, TM_F32, true), 66.9 * TERA, 1e-9); /* tf32 would be another type */
    assert_near(tm_peak_flops(&peaks, TM_BF16, false), 66.9 * TERA, 1e-9);
    assert_near(tm_peak_flops(&peaks, TM_F64, false), 33.5 * TERA, 1e-9);
    assert_true(tm_peak_flops(&peaks, TM_PRECISION_UNKNOWN, true) == 0);
}

static void what_is_not_known_says_why(void **state)
{
    struct tm_peak_question device = nothing;
    struct tm_peaks peaks;

    (void)state;
    tm_peaks_of(&device, &peaks);
    assert_true(peaks.bandwidth == 0 && tm_peak_flops(&peaks, TM_BF16, true) == 0);
    assert_non_null(strstr(peaks.flops_source, "does not record the model"));
    device.model = "Some Accelerator 9000";
    tm_peaks_of(&device, &peaks);
    assert_true(peaks.bandwidth == 0 && tm_peak_flops(&peaks, TM_F32, false) == 0);
    assert_non_null(strstr(peaks.bandwidth_source, "unknown"));
    device.kind = TM_DEVICE_CPU;
    tm_peaks_of(&device, &peaks);
    assert_non_null(strstr(peaks.flops_source, "CPU"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_and_clock_give_the_data_sheet),
        cmocka_unit_test(a_model_alone_is_looked_up),
        cmocka_unit_test(the_profile_goes_before_the_table),
        cmocka_unit_test(the_bandwidth_of_amd_is_the_data_sheets),
        cmocka_unit_test(types_without_matrix_units_run_on_the_others),
        cmocka_unit_test(what_is_not_known_says_why),
    };

    return cmocka_run_group_tests_name("peaks", tests, NULL, NULL);
}
