/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_stages.h"

#include <stdio.h>

#include "tests/support/kept_bench.h"
#include "tests/support/stage_driver.h"
#include "tests/support/test_run.h"

enum { US = 1000000, STEP_US = 1000 };

#define OK(call) assert_int_equal(call, TM_OK)

/* A host of one CPU device with marked steps of 1 ms, numbers 100 on, of which the first is not chosen. */
struct rig {
    struct tm_run run;
    struct bench bench;
    struct tm_rows *marks;
    uint32_t next_config;
};

static tm_status try_rig(struct rig *r, enum tm_device_kind kind)
{
    struct bench *b = &r->bench;
    tm_status st = bench_open(b, &r->run, &tm_programs_stage);

    if (st != TM_OK)
        return st;
    r->marks = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_step_mark), 1 << 16);
    if (!r->marks)
        return r->run.error.status;
    for (int64_t i = 0; i < BENCH_STEPS; i++) {
        const struct tm_step_mark mark = { .number = 100 + i,
                                           .start_ps = i * STEP_US * US,
                                           .dur_ps = (int64_t)(STEP_US - 100) * US };

        tm_rows_append(r->marks, &mark);
    }
    b->trace.steps.marks = r->marks;
    b->trace.steps.chosen_begin = 1;
    bench_devices(b, 1, kind, 0, INT64_MAX);
    return bench_begin(b);
}

static void open_rig(struct rig *r, enum tm_device_kind kind)
{
    memset(r, 0, sizeof(*r));
    test_run_init(&r->run);
    OK(try_rig(r, kind));
}

static void close_rig(struct rig *r)
{
    tm_rows_free(r->marks);
    bench_close(&r->bench);
}

static void report_rig(struct rig *r)
{
    OK(bench_end(&r->bench));
    OK(bench_report(&r->bench));
}

static void end_rig(struct rig *r)
{
    close_rig(r);
    assert_ledger_is_even(&r->run);
}

/* A call of the host that executes a program. */
static void call(struct rig *r, const char *name, int64_t at_us)
{
    struct tm_event event = bench_event(bench_name(&r->bench, name), TM_CLASS_MODULE, &(struct tm_config){ .level = 0 },
                                        at_us * US, 5 * US);

    event.device = event.step = TM_NONE;
    event.level = TM_LEVEL_NONE;
    event.chosen = false;
    OK(bench_take(&r->bench, &event));
}

static void op(struct rig *r, const char *module, const char *name, int64_t at_us, int64_t dur_us)
{
    const struct tm_config config = { .level = TM_LEVEL_NONE,
                                      .ordinal = TM_NONE,
                                      .module = module ? bench_name(&r->bench, module) : 0,
                                      .hlo_op = bench_name(&r->bench, name) };
    struct tm_event event = bench_event(bench_name(&r->bench, name), TM_CLASS_CPU_OP, &config, at_us * US, dur_us * US);

    event.record.config = ++r->next_config;
    event.step = (uint32_t)(at_us / STEP_US);
    event.chosen = event.step > 0;
    OK(bench_take(&r->bench, &event));
}

static int64_t integer(const struct rig *r, const char *path)
{
    if (!tm_has(bench_get(&r->bench, path)))
        fail_msg("%s is missing", path);
    return tm_int(bench_get(&r->bench, path));
}

static void calls_inside_each_other_are_one_execution(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_CPU);
    call(&r, "Client::ExecuteHelper", 10); /* step 100 is not chosen */
    for (int64_t at = 1010; at < 1500; at += 100) {
        call(&r, "Client::ExecuteHelper", at);
        call(&r, "Client::ExecuteHelperOnSingleDevice", at + 1);
    }
    call(&r, "Client::ExecuteHelper", 1950); /* after its marker ended */
    call(&r, "Client::ExecuteHelper", 2010);
    op(&r, "jit_f", "add", 2020, 5);
    report_rig(&r);
    assert_int_equal(integer(&r, "programs.count"), 6);
    assert_true(tm_double(bench_get(&r.bench, "programs.per_step")) == 6.0 / (BENCH_STEPS - 1));
    assert_int_equal(integer(&r, "programs.operations"), 1);
    assert_int_equal(integer(&r, "programs.operation_ps"), 5 * US);
    end_rig(&r);
}

/* Programs of one op each are what eager dispatch looks like. */
static void programs_of_one_op_are_told(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_CPU);
    call(&r, "X::ExecuteHelper", 1000);
    op(&r, "jit_f", "a", 1010, 10); /* two ops */
    op(&r, "jit_f", "b", 1025, 10);
    call(&r, "X::ExecuteHelper", 1040);
    op(&r, "jit_add", "a", 1045, 10); /* one: 10 us after, small */
    call(&r, "X::ExecuteHelper", 1060);
    op(&r, "jit_add", "a", 1075, 200); /* one: 20 us after, not small */
    op(&r, NULL, "host", 1280, 5);     /* tells no program and no launch: it is none */
    call(&r, "X::ExecuteHelper", 1490);
    op(&r, "jit_mul", "a", 1500, 10); /* one: 215 us after are no pause */
    op(&r, "jit_mul", "a", 2010, 10); /* one: another step */
    report_rig(&r);
    assert_true(tm_double(bench_get(&r.bench, "host.eager.programs_per_step")) == 5.0 / (BENCH_STEPS - 1));
    assert_true(tm_double(bench_get(&r.bench, "host.eager.single_op_programs_pct")) == 80);
    assert_int_equal(integer(&r, "host.eager.launch_gap_ps"), 30 * US);
    assert_int_equal(integer(&r, "host.eager.small_kernel_ps"), 30 * US);
    assert_int_equal(integer(&r, "host.eager.host_ps"), 20 * US);
    end_rig(&r);
}

/* An op that tells no program belongs to what its launch launched. */
static void launches_of_one_kernel_are_told(void **state)
{
    static const struct {
        int64_t at_us, dur_us;
        uint64_t launch;
    } kernels[] = {
        { 1010, 10, 1 }, { 1030, 10, 2 }, { 1041, 10, 2 }, { 1060, 10, 3 }, { 2010, 150, 4 },
    };
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        struct tm_event event =
            bench_event(bench_name(&r.bench, "gemm"), TM_CLASS_KERNEL, &(struct tm_config){ .level = TM_LEVEL_NONE },
                        kernels[i].at_us * US, kernels[i].dur_us * US);

        event.step = (uint32_t)(kernels[i].at_us / STEP_US);
        event.chosen = true;
        event.launch = kernels[i].launch;
        event.launch_dur_ps = 3 * US;
        OK(bench_take(&r.bench, &event));
    }
    report_rig(&r);
    assert_true(tm_double(bench_get(&r.bench, "host.eager.programs_per_step")) == 4.0 / (BENCH_STEPS - 1));
    assert_true(tm_double(bench_get(&r.bench, "host.eager.single_op_programs_pct")) == 75);
    assert_int_equal(integer(&r, "host.eager.launch_gap_ps"), 9 * US);
    assert_int_equal(integer(&r, "host.eager.small_kernel_ps"), 20 * US);
    assert_int_equal(integer(&r, "host.eager.host_ps"), 9 * US);
    end_rig(&r);
}

/* Executions of one program are not told apart without the calls that make them. */
static void without_executions_nothing_is_told(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_CPU);
    op(&r, "jit_f", "a", 1010, 10);
    report_rig(&r);
    assert_false(tm_has(bench_get(&r.bench, "host.eager")));
    end_rig(&r);
}

static void pauses_are_between_programs_of_a_step(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_CPU);
    call(&r, "X::ExecuteHelper", 1000);
    op(&r, "jit_f", "a", 1010, 10);
    op(&r, "jit_f", "b", 1030, 10); /* inside of it */
    call(&r, "X::ExecuteHelper", 1050);
    op(&r, "jit_g", "a", 1060, 10); /* 20 us after */
    call(&r, "X::ExecuteHelper", 1071);
    op(&r, "jit_g", "a", 1075, 10); /* 5 us: the same again */
    op(&r, "jit_g", "a", 1095, 10); /* a loop: no call since then */
    op(&r, "jit_h", "a", 1205, 10); /* 100 us are no pause */
    op(&r, "jit_f", "a", 2010, 10); /* another step */
    report_rig(&r);
    assert_int_equal(integer(&r, "programs.pauses.count"), 2);
    assert_int_equal(integer(&r, "programs.pauses.total_ps"), 25 * US);
    assert_int_equal(integer(&r, "programs.pauses.longest[0].dur_ps"), 20 * US);
    assert_int_equal(integer(&r, "programs.pauses.longest[0].begin_ps"), 1040 * (int64_t)US);
    assert_int_equal(integer(&r, "programs.pauses.longest[0].step"), 101);
    assert_string_equal(tm_text(bench_get(&r.bench, "programs.pauses.longest[0].device")), "h0/cpu:0");
    assert_string_equal(tm_text(bench_get(&r.bench, "programs.pauses.longest[0].before")), "jit_f");
    assert_string_equal(tm_text(bench_get(&r.bench, "programs.pauses.longest[0].after")), "jit_g");
    end_rig(&r);
}

static void programs_that_overlap_have_no_pause(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_CPU);
    call(&r, "X::ExecuteHelper", 1000);
    op(&r, "jit_f", "a", 1010, 50);
    op(&r, "jit_g", "a", 1020, 10);
    op(&r, "jit_f", "b", 1040, 5);
    op(&r, NULL, "elsewhere", 1060, 10);
    op(&r, "jit_g", "b", 1070, 5);
    report_rig(&r);
    assert_int_equal(integer(&r, "programs.pauses.count"), 0);
    assert_int_equal(integer(&r, "programs.operations"), 5);
    end_rig(&r);
}

static void on_a_tpu_modules_count_with_their_first_op(void **state)
{
    const struct tm_config config = { .level = TM_LEVEL_COMPUTE, .ordinal = TM_NONE };
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_TPU);
    for (int64_t i = 0; i < 4; i++) {
        struct tm_event module = bench_event(0, TM_CLASS_MODULE, &config, i * 100 * US, 90 * US);
        struct tm_event ops = bench_event(0, TM_CLASS_TPU_OP, &config, (i * 100 + 5) * US, 10 * US);

        module.level = TM_LEVEL_NONE;
        module.chosen = false;
        module.step = TM_NONE;
        ops.chosen = i > 0;
        ops.step = (uint32_t)i;
        OK(bench_take(&r.bench, &module));
        OK(bench_take(&r.bench, &ops));
        OK(bench_take(&r.bench, &ops));
    }
    report_rig(&r);
    assert_int_equal(integer(&r, "programs.count"), 3);
    end_rig(&r);
}

static void what_is_not_told_has_a_reason(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_CPU);
    op(&r, "jit_f", "a", 1010, 50);
    report_rig(&r);
    assert_non_null(strstr(tm_why(bench_get(&r.bench, "programs")), "when compiled programs run"));
    end_rig(&r);

    memset(&r, 0, sizeof(r));
    test_run_init(&r.run);
    OK(bench_open(&r.bench, &r.run, &tm_programs_stage));
    r.bench.trace.steps = (struct tm_steps){ .source = TM_STEPS_SESSION, .count = 1, .chosen_end = 1 };
    OK(bench_begin(&r.bench));
    call(&r, "X::ExecuteHelper", 1000);
    report_rig(&r);
    assert_non_null(strstr(tm_why(bench_get(&r.bench, "programs")), "no steps are marked"));
    end_rig(&r);
}

/* --- partials --- */

static void what_was_saved_is_read_again(void **state)
{
    char path[KEPT_BENCH_PATH];
    struct rig r;
    struct tm_run run;
    struct bench again;

    (void)state;
    open_rig(&r, TM_DEVICE_CPU);
    call(&r, "X::ExecuteHelper", 1000);
    op(&r, "jit_f", "a", 1010, 10);
    call(&r, "X::ExecuteHelper", 1021);
    op(&r, "jit_g", "a", 1030, 10);
    OK(bench_end(&r.bench));
    keep_bench(&r.bench, path);
    end_rig(&r);

    test_run_init(&run);
    OK(bench_open(&again, &run, &tm_programs_stage));
    load_kept_bench(&again, path, 1); /* another host of the same */
    OK(bench_report(&again));
    assert_int_equal(tm_int(bench_get(&again, "programs.count")), 4);
    assert_true(tm_double(bench_get(&again, "programs.per_step")) == 2.0 / (BENCH_STEPS - 1));
    assert_int_equal(tm_int(bench_get(&again, "programs.operations")), 4);
    assert_int_equal(tm_int(bench_get(&again, "programs.pauses.total_ps")), 20 * US);
    assert_int_equal(tm_length(bench_get(&again, "programs.pauses.longest")), 2);
    assert_string_equal(tm_text(bench_get(&again, "programs.pauses.longest[1].after")), "jit_g");
    bench_close(&again);
    assert_ledger_is_even(&run);
}

/* --- memory --- */

static tm_status whole_job(struct tm_run *run)
{
    struct rig r = { .run = *run };
    tm_status st = try_rig(&r, TM_DEVICE_CPU);

    for (int64_t i = 0; i < 40 && st == TM_OK; i++) {
        const struct tm_config config = { .module = (tm_strid)(i + 1), .ordinal = TM_NONE };
        struct tm_event event;

        (void)tm_names_put(r.bench.trace.names, (const char *)&i, sizeof(i));
        event = bench_event(0, TM_CLASS_CPU_OP, &config, (STEP_US + i * 20) * US, 10 * US);
        event.step = 1;
        st = bench_take(&r.bench, &event);
    }
    if (st == TM_OK)
        st = bench_end(&r.bench);
    if (st == TM_OK)
        st = bench_report(&r.bench);
    close_rig(&r);
    *run = r.run;
    return st == TM_OK ? run->error.status : st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(whole_job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_inside_each_other_are_one_execution),
        cmocka_unit_test(programs_of_one_op_are_told),
        cmocka_unit_test(launches_of_one_kernel_are_told),
        cmocka_unit_test(without_executions_nothing_is_told),
        cmocka_unit_test(pauses_are_between_programs_of_a_step),
        cmocka_unit_test(programs_that_overlap_have_no_pause),
        cmocka_unit_test(on_a_tpu_modules_count_with_their_first_op),
        cmocka_unit_test(what_is_not_told_has_a_reason),
        cmocka_unit_test(what_was_saved_is_read_again),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("programs", tests, NULL, NULL);
}
