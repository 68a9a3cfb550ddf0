/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a finding, by the run and the cases that its rule gave: rows of schemas/findings.json. */
#include "reports/findings/findings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { CASES_MOST = 3 };

struct told {
    const char *id;
    unsigned audience;
    const char *cases[CASES_MOST];
    const char *text;
};

static struct tm_situation situation_of(const struct tm_finding_row *row, const struct told *told)
{
    struct tm_situation situation = { .audience = told->audience };

    for (size_t i = 0; i < CASES_MOST && told->cases[i]; i++)
        situation.cases |= tm_finding_case_bit(row, told->cases[i]);
    return situation;
}

static void every_row_is_found_by_its_id(void **state)
{
    (void)state;
    for (size_t i = 0; i < tm_finding_row_count; i++)
        assert_ptr_equal(tm_finding_row(tm_finding_rows[i].id), &tm_finding_rows[i]);
    assert_null(tm_finding_row("scaling_idle"));
    assert_null(tm_finding_row(""));
}

static void the_first_variant_that_fits_gives_the_title(void **state)
{
    static const struct told rows[] = {
        { "idle_launch", TM_FOR_GPU, { NULL }, "Launch overhead leaves the device idle" },
        { "idle_launch", TM_FOR_GPU, { "late" }, "Launched work starts late" },
        { "idle_launch", TM_FOR_GPU, { "late", "once" }, "Launched work starts late once, by {time}" },
        { "transfer_h2d", TM_FOR_GPU, { NULL }, "The device waits for host-to-device copies" },
        { "transfer_h2d", TM_FOR_TPU, { NULL }, "The cores wait for data from host memory" },
        { "transfer_h2d", 0, { NULL }, "The device waits for host-to-device copies" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_finding_row *row = tm_finding_row(rows[i].id);

        assert_string_equal(tm_finding_title_for(row, situation_of(row, &rows[i])), rows[i].text);
    }
}

static void the_first_cause_that_fits_is_told(void **state)
{
    static const struct told rows[] = {
        { "collective_slow", TM_FOR_GPU, { "moving" }, "The links between the devices are slow, or the data" },
        { "collective_slow", TM_FOR_GPU, { "waiting_too" }, "The links between the devices are slow, or a device" },
        { "no_device_activity", TM_FOR_TORCH, { "on_cpu" }, "Nothing was launched on a device." },
        { "no_device_activity", TM_FOR_TORCH, { NULL }, "The program ran on the CPU, device" },
        { "no_device_activity", TM_FOR_JAX, { NULL }, "JAX returns before" },
        { "no_device_activity", TM_FOR_OTHER, { NULL }, "The trace contains only host events" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_finding_row *row = tm_finding_row(rows[i].id);
        const char *cause = tm_finding_cause_for(row, situation_of(row, &rows[i]));

        if (strncmp(cause, rows[i].text, strlen(rows[i].text)) != 0)
            fail_msg("row %zu has the cause '%s'", i, cause);
    }
}

static bool advises(const struct told *told)
{
    const struct tm_finding_row *row = tm_finding_row(told->id);
    const struct tm_situation situation = situation_of(row, told);
    const struct tm_finding_text *next = NULL;
    const char *advice;

    while ((advice = tm_finding_next_advice(row, situation, &next)))
        if (strstr(advice, told->text))
            return true;
    return false;
}

static void advice_is_for_the_run_and_its_cases(void **state)
{
    static const struct {
        struct told told;
        bool is_given;
    } rows[] = {
        { { "collective_exposed", TM_FOR_TORCH, { "tensor_parallel", "all_gather" }, "Tensor parallelism" }, true },
        { { "collective_exposed", TM_FOR_TORCH, { "tensor_parallel", "all_reduce" }, "Tensor parallelism" }, true },
        { { "collective_exposed", TM_FOR_TORCH, { "tensor_parallel", "all_to_all" }, "Tensor parallelism" }, false },
        { { "collective_exposed", TM_FOR_TORCH, { "all_gather" }, "Tensor parallelism" }, false },
        { { "collective_exposed", TM_FOR_JAX, { "tensor_parallel", "all_gather" }, "Tensor parallelism" }, false },
        { { "op_dominant", TM_FOR_GPU | TM_FOR_JAX, { "products" }, "a multiple of 128" }, true },
        { { "op_dominant", TM_FOR_GPU | TM_FOR_JAX, { "products" }, "in bfloat16" }, false },
        { { "op_dominant", TM_FOR_GPU | TM_FOR_JAX, { "products", "wide" }, "in bfloat16" }, true },
        { { "op_dominant", TM_FOR_GPU | TM_FOR_JAX, { "attention", "wide" }, "Run matmuls in bfloat16" }, false },
        { { "op_dominant", TM_FOR_TPU | TM_FOR_JAX, { "attention" }, "splash_attention" }, true },
        { { "kernel_dominant", TM_FOR_GPU | TM_FOR_TORCH, { "convolutions" }, "cudnn.benchmark" }, true },
        { { "kernel_dominant", TM_FOR_GPU | TM_FOR_TORCH, { "any_work" }, "cudnn.benchmark" }, false },
        { { "no_framework_paths", TM_FOR_JAX, { "programs_damaged" }, "enable_hlo_proto" }, false },
        { { "no_framework_paths", TM_FOR_JAX, { NULL }, "enable_hlo_proto" }, true },
        { { "memory_holders", TM_FOR_JAX, { "programs" }, "jax.clear_caches" }, true },
        { { "memory_spikes", TM_FOR_JAX | TM_FOR_TRAIN, { NULL }, "jax.checkpoint" }, true },
        { { "memory_spikes", TM_FOR_JAX | TM_FOR_INFER, { NULL }, "jax.checkpoint" }, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (advises(&rows[i].told) != rows[i].is_given)
            fail_msg("row %zu: '%s' is %s", i, rows[i].told.text, rows[i].is_given ? "not given" : "given");
}

static void a_fact_has_the_severity_of_its_case(void **state)
{
    static const struct {
        const char *id, *of_case;
        enum tm_severity severity;
    } rows[] = {
        { "memory_growth", NULL, TM_INFO },           { "memory_growth", "soon_full", TM_WARNING },
        { "kernels_lost", NULL, TM_CRITICAL },        { "kernels_lost", "some", TM_WARNING },
        { "idle_launch", "once", TM_INFO },           { "idle_launch", "large", TM_WARNING },
        { "idle_input", NULL, TM_SEVERITY_BY_SHARE },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_finding_row *row = tm_finding_row(rows[i].id);
        const struct tm_situation situation = { .cases =
                                                    rows[i].of_case ? tm_finding_case_bit(row, rows[i].of_case) : 0 };

        assert_int_equal(tm_finding_severity_for(row, situation), rows[i].severity);
    }
}

static void findings_explain_key_figures(void **state)
{
    (void)state;
    assert_true(tm_finding_explains("idle_input", "host_overhead", TM_FOR_GPU, ""));
    assert_false(tm_finding_explains("idle_input", "occupancy", TM_FOR_GPU, ""));
    assert_true(tm_finding_explains("transfer_h2d", "memory_bandwidth", TM_FOR_TPU, ""));
    assert_false(tm_finding_explains("transfer_h2d", "memory_bandwidth", TM_FOR_GPU, ""));
    assert_true(tm_finding_explains("straggler", "top_op_share", TM_FOR_GPU, "collective"));
    assert_false(tm_finding_explains("straggler", "top_op_share", TM_FOR_GPU, "gemm/dot"));
    assert_false(tm_finding_explains("night_failed", "top_op_share", TM_FOR_GPU, "collective"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found_by_its_id),
        cmocka_unit_test(the_first_variant_that_fits_gives_the_title),
        cmocka_unit_test(the_first_cause_that_fits_is_told),
        cmocka_unit_test(advice_is_for_the_run_and_its_cases),
        cmocka_unit_test(a_fact_has_the_severity_of_its_case),
        cmocka_unit_test(findings_explain_key_figures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
