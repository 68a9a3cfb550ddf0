/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_stages.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/host_checks.h"
#include "tests/support/kept_bench.h"

#define US INT64_C(1000000)
#define OK(call) assert_int_equal(call, TM_OK)

static void open_rig(struct host_rig *r)
{
    test_run_init(&r->run);
    OK(host_rig_open(r, &tm_fallback_stage));
    bench_devices(&r->bench, 1, TM_DEVICE_GPU, 0, 1000 * US);
}

static void end_rig(struct host_rig *r)
{
    tm_rows_free(r->bench.trace.hlo_ops);
    host_rig_close(r);
    assert_ledger_is_even(&r->run);
}

/* --- calls back --- */

static void names_tell_what_a_span_is_to_a_call_back(void **state)
{
    static const struct {
        const char *name;
        bool is_cpu_op;
        enum tm_callback_role role;
        enum tm_callback_kind kind;
    } rows[] = {
        { "$callback.py:815 _wrapped_callback", false, TM_ROLE_BEGINS, TM_CALLBACK },
        { "$mlir.py:2755 _wrapped_callback", false, TM_ROLE_BEGINS, TM_CALLBACK },
        { "xla_ffi_python_gpu_callback", false, TM_ROLE_BEGINS, TM_CALLBACK },
        { "xla_python_cpu_callback", false, TM_ROLE_BEGINS, TM_CALLBACK },
        { "pure_callback.1", true, TM_ROLE_BEGINS, TM_PURE_CALLBACK },
        { "pure_callback.1", false, TM_ROLE_NONE, TM_CALLBACK },
        { "debug_print", true, TM_ROLE_BEGINS, TM_DEBUG_PRINT },
        { "dot.1", true, TM_ROLE_NONE, TM_CALLBACK },
        { "$callback.py:74 pure_callback_impl", false, TM_ROLE_PLUMBING, TM_PURE_CALLBACK },
        { "$callback.py:418 io_callback_impl", false, TM_ROLE_PLUMBING, TM_IO_CALLBACK },
        { "$debugging.py:84 debug_callback_impl", false, TM_ROLE_PLUMBING, TM_DEBUG_CALLBACK },
        { "$callback.py:69 __call__", false, TM_ROLE_CALLS, TM_CALLBACK },
        { "$debugging.py:495 _flat_callback", false, TM_ROLE_CALLS, TM_DEBUG_CALLBACK },
        { "$debugging.py:288 merge_callback_args", false, TM_ROLE_PLUMBING, TM_CALLBACK },
        { "$builtins isinstance", false, TM_ROLE_PLUMBING, TM_CALLBACK },
        { "$train.py:40 __call__", false, TM_ROLE_FUNCTION, TM_CALLBACK },
        { "$", false, TM_ROLE_PLUMBING, TM_CALLBACK },
        { "", false, TM_ROLE_NONE, TM_CALLBACK },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_callback_name name = tm_callback_name_of(rows[i].name, strlen(rows[i].name), rows[i].is_cpu_op);

        if (name.role != rows[i].role || name.kind != rows[i].kind)
            fail_msg("'%s' is %d, %d", rows[i].name, name.role, name.kind);
    }
}

static void a_call_back_has_the_name_of_the_function_it_calls(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    OK(bench_begin(&r.bench));
    span(&r, RIG_MAIN, "$callback.py:868 _wrapped_callback", TM_CLASS_PYTHON, 0, 40);
    span(&r, RIG_WORKER, "$other.py:1 thread", TM_CLASS_PYTHON, 1, 90);
    span(&r, RIG_MAIN, "$callback.py:815 _wrapped_callback", TM_CLASS_PYTHON, 2, 36);
    span(&r, RIG_MAIN, "$callback.py:418 io_callback_impl", TM_CLASS_PYTHON, 3, 30);
    span(&r, RIG_MAIN, "$callback.py:69 __call__", TM_CLASS_PYTHON, 4, 20);
    span(&r, RIG_MAIN, "$builtins len", TM_CLASS_PYTHON, 5, 1);
    span(&r, RIG_MAIN, "$train.py:9 log", TM_CLASS_PYTHON, 7, 10);
    span(&r, RIG_MAIN, "$train.py:2 inner", TM_CLASS_PYTHON, 8, 2);
    span(&r, RIG_MAIN, "$callback.py:815 _wrapped_callback", TM_CLASS_PYTHON, 50, 10); /* tells nothing of itself */
    report_rig(&r);
    assert_int_equal(integer(&r, "fallback.callbacks.count"), 2);
    assert_int_equal(integer(&r, "fallback.callbacks.total_ps"), 50 * US);
    assert_string_equal(text(&r, "fallback.callbacks.rows[0].name"), "$train.py:9 log");
    assert_string_equal(text(&r, "fallback.callbacks.rows[0].kind"), "io_callback");
    assert_int_equal(integer(&r, "fallback.callbacks.rows[0].total_ps"), 40 * US);
    assert_string_equal(text(&r, "fallback.callbacks.rows[1].name"), "callback");
    assert_int_equal(integer(&r, "fallback.callbacks.rows[1].begin_ps"), 50 * US);
    end_rig(&r);
}

static void more_calls_back_than_are_followed_are_counted(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    OK(bench_begin(&r.bench));
    for (int i = 0; i < 100; i++) { /* one row of the table of tracks is enough: the spans are of other tracks */
        struct tm_event event = host_rig_span(&r, RIG_MAIN, "xla_python_gpu_callback", TM_CLASS_RUNTIME, i, 1000 - i);
        const struct tm_track track = { .name = event.record.name, .side = TM_SIDE_HOST };

        event.record.track = (uint32_t)tm_rows_count(r.bench.trace.tracks);
        tm_rows_append(r.bench.trace.tracks, &track);
        OK(bench_take(&r.bench, &event));
    }
    report_rig(&r);
    assert_int_equal(integer(&r, "fallback.callbacks.count"), 100);
    end_rig(&r);
}

/* --- operations --- */

static void operations_on_the_host_of_a_gpu_are_told(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    OK(bench_begin(&r.bench));
    span(&r, RIG_WORKER, "dot.1", TM_CLASS_CPU_OP, 0, 10);
    span(&r, RIG_WORKER, "dot.1", TM_CLASS_CPU_OP, 20, 30);
    span(&r, RIG_WORKER, "Execute", TM_CLASS_MODULE, 60, 10);
    span(&r, RIG_WORKER, "dot.1", TM_CLASS_CPU_OP, 5000, 30); /* past the last step */
    report_rig(&r);
    assert_int_equal(integer(&r, "fallback.cpu_ops.count"), 2);
    assert_int_equal(integer(&r, "fallback.cpu_ops.total_ps"), 40 * US);
    assert_int_equal(integer(&r, "fallback.cpu_ops.rows[0].longest_ps"), 30 * US);
    assert_string_equal(text(&r, "fallback.placement.rows[0].name"), "dot.1");
    assert_string_equal(text(&r, "fallback.placement.rows[0].ran_on"), "host");
    assert_string_equal(text(&r, "fallback.placement.rows[0].cause"), "cpu_op");
    assert_int_equal(integer(&r, "fallback.placement.rows[0].host_ps"), 40 * US);
    assert_int_equal(integer(&r, "fallback.placement.rows[0].device_count"), 0);
    end_rig(&r);
}

static void on_a_cpu_only_calls_back_are_told(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    bench_devices(&r.bench, 1, TM_DEVICE_CPU, 0, 1000 * US);
    OK(bench_begin(&r.bench));
    span(&r, RIG_WORKER, "pure_callback.3", TM_CLASS_CPU_OP, 0, 10);
    span(&r, RIG_WORKER, "dot.1", TM_CLASS_CPU_OP, 20, 30);
    report_rig(&r);
    assert_int_equal(integer(&r, "fallback.callbacks.count"), 1);
    assert_string_equal(text(&r, "fallback.callbacks.rows[0].name"), "pure_callback");
    assert_false(tm_has(bench_get(&r.bench, "fallback.cpu_ops")));
    assert_string_equal(tm_why(bench_get(&r.bench, "fallback.round_trips")), "the host is the device");
    end_rig(&r);
}

static void without_a_device_there_is_no_section(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    bench_devices(&r.bench, 0, TM_DEVICE_GPU, 0, 0);
    OK(bench_begin(&r.bench));
    report_rig(&r);
    assert_false(tm_has(bench_get(&r.bench, "fallback")));
    end_rig(&r);
}

static void the_hlo_tells_what_works_with_the_host(void **state)
{
    const struct tm_hlo_op ops[] = { { .is_host = 0 }, { .is_host = 1 } };
    struct tm_config config = { .hlo = 1, .level = TM_LEVEL_NONE, .ordinal = TM_NONE };
    struct host_rig r;
    struct tm_event event;

    (void)state;
    open_rig(&r);
    r.bench.trace.hlo_ops = tm_rows_new(&r.run, TM_ACCOUNT_METADATA, sizeof(ops[0]), 1 << 16);
    assert_non_null(r.bench.trace.hlo_ops);
    tm_rows_append_many(r.bench.trace.hlo_ops, ops, 2);
    OK(bench_begin(&r.bench));
    event = host_rig_work(&r, 0, TM_CLASS_KERNEL, 0, 10, 0);
    event.config = &config;
    OK(bench_take(&r.bench, &event));
    event = host_rig_span(&r, RIG_MAIN, "custom-call.7", TM_CLASS_RUNTIME, 20, 10);
    event.config = &config;
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_int_equal(integer(&r, "fallback.host_ops.count"), 1);
    assert_string_equal(text(&r, "fallback.host_ops.rows[0].name"), "work");
    assert_string_equal(text(&r, "fallback.callbacks.rows[0].kind"), "custom_call");
    assert_string_equal(text(&r, "fallback.placement.rows[0].name"), "custom_call"); /* by host time */
    assert_string_equal(text(&r, "fallback.placement.rows[0].ran_on"), "host");
    assert_string_equal(text(&r, "fallback.placement.rows[1].ran_on"), "device");
    assert_string_equal(text(&r, "fallback.placement.rows[1].cause"), "host_op");
    end_rig(&r);
}

/* The op on the device and its callback on the host have one framework path. */
static void an_op_on_both_sides_is_one_row(void **state)
{
    const struct tm_hlo_op ops[] = { { .is_host = 0 }, { .is_host = 1 } };
    struct tm_config config = { .hlo = 1, .level = TM_LEVEL_NONE, .ordinal = TM_NONE };
    struct host_rig r;
    struct tm_event event;

    (void)state;
    open_rig(&r);
    config.op = tm_names_put_string(r.bench.trace.names, "jit(f)/pure_callback");
    r.bench.trace.hlo_ops = tm_rows_new(&r.run, TM_ACCOUNT_METADATA, sizeof(ops[0]), 1 << 16);
    assert_non_null(r.bench.trace.hlo_ops);
    tm_rows_append_many(r.bench.trace.hlo_ops, ops, 2);
    OK(bench_begin(&r.bench));
    event = host_rig_work(&r, 0, TM_CLASS_KERNEL, 0, 40, 0);
    event.config = &config;
    OK(bench_take(&r.bench, &event));
    event = host_rig_span(&r, RIG_MAIN, "custom-call.7", TM_CLASS_RUNTIME, 20, 10);
    event.config = &config;
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_int_equal(tm_length(bench_get(&r.bench, "fallback.placement.rows")), 1);
    assert_string_equal(text(&r, "fallback.placement.rows[0].op"), "jit(f)/pure_callback");
    assert_string_equal(text(&r, "fallback.placement.rows[0].ran_on"), "both");
    assert_string_equal(text(&r, "fallback.placement.rows[0].cause"), "callback");
    assert_int_equal(integer(&r, "fallback.placement.rows[0].device_ps"), 40 * US);
    assert_int_equal(integer(&r, "fallback.placement.rows[0].host_ps"), 10 * US);
    end_rig(&r);
}

/* --- round trips --- */

static void copy(struct host_rig *r, enum tm_direction direction, int64_t start_us, int64_t dur_us, int64_t launch_us,
                 uint32_t step)
{
    const struct tm_config config = { .has_copy = 1,
                                      .has_copy_bytes = 1,
                                      .copy_bytes = 100,
                                      .direction = direction,
                                      .level = TM_LEVEL_NONE,
                                      .ordinal = TM_NONE };
    struct tm_event event = host_rig_work(r, 0, TM_CLASS_COPY, start_us, dur_us, launch_us);

    event.config = &config;
    event.direction = direction;
    event.level = direction == TM_H2D ? TM_LEVEL_H2D : TM_LEVEL_D2H;
    event.step = step;
    OK(bench_take(&r->bench, &event));
}

static void kernel(struct host_rig *r, int64_t start_us, int64_t dur_us)
{
    const struct tm_event event = host_rig_work(r, 0, TM_CLASS_KERNEL, start_us, dur_us, start_us);

    OK(bench_take(&r->bench, &event));
}

static void a_round_trip_is_idle_between_two_copies_of_a_step(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    OK(bench_begin(&r.bench));
    kernel(&r, 0, 10);
    copy(&r, TM_D2H, 10, 5, 9, 0);
    copy(&r, TM_H2D, 40, 5, 35, 0); /* yes: 15 to 40 */
    copy(&r, TM_D2H, 50, 5, 49, 0);
    copy(&r, TM_H2D, 60, 5, 51, 0); /* launched before the copy to the host had ended */
    copy(&r, TM_D2H, 70, 5, 69, 0);
    copy(&r, TM_H2D, 80, 5, 78, 1); /* another step */
    copy(&r, TM_D2H, 90, 5, 89, 0);
    kernel(&r, 92, 6); /* ends later */
    copy(&r, TM_H2D, 105, 5, 99, 0);
    copy(&r, TM_D2H, 120, 5, 119, 0);
    kernel(&r, 130, 5); /* ends the gap */
    copy(&r, TM_H2D, 135, 5, 131, 0);
    report_rig(&r);
    assert_int_equal(integer(&r, "fallback.round_trips.count"), 1);
    assert_int_equal(integer(&r, "fallback.round_trips.host_ps"), 25 * US);
    assert_int_equal(integer(&r, "fallback.round_trips.bytes"), 200);
    assert_int_equal(integer(&r, "fallback.round_trips.longest[0].begin_ps"), 15 * US);
    assert_false(tm_has(bench_get(&r.bench, "fallback.round_trips.longest[0].host_event")));
    end_rig(&r);
}

static void without_steps_round_trips_are_not_known(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    r.bench.trace.steps.source = TM_STEPS_SESSION;
    OK(bench_begin(&r.bench));
    report_rig(&r);
    assert_false(tm_has(bench_get(&r.bench, "fallback.round_trips")));
    end_rig(&r);
}

/* --- partials, memory --- */

static void some_of_all(struct host_rig *r)
{
    copy(r, TM_D2H, 10, 5, 9, 0);
    span(r, RIG_MAIN, "$callback.py:815 _wrapped_callback", TM_CLASS_PYTHON, 15, 20);
    span(r, RIG_WORKER, "dot.1", TM_CLASS_CPU_OP, 20, 10);
    copy(r, TM_H2D, 40, 5, 35, 0);
}

static void what_was_saved_is_read_again(void **state)
{
    char path[KEPT_BENCH_PATH];
    struct host_rig one, r, again;
    char *read_here, *read_again;

    (void)state;
    open_rig(&one);
    OK(bench_begin(&one.bench));
    some_of_all(&one);
    OK(bench_end(&one.bench));
    keep_bench(&one.bench, path);
    end_rig(&one);

    open_rig(&r);
    OK(bench_begin(&r.bench));
    some_of_all(&r);
    OK(bench_end(&r.bench));
    bench_devices(&r.bench, 1, TM_DEVICE_GPU, 0, 1000 * US);
    (void)snprintf(r.bench.devices[0].id, sizeof(r.bench.devices[0].id), "h0/gpu:0");
    OK(bench_begin(&r.bench));
    some_of_all(&r);
    report_rig(&r);

    open_rig(&again);
    load_kept_bench(&again.bench, path, 1);
    report_ended_rig(&again);
    assert_int_equal(integer(&again, "fallback.round_trips.count"), 2);
    read_here = bench_print(&r.bench);
    read_again = bench_print(&again.bench);
    assert_non_null(read_here);
    assert_non_null(read_again);
    assert_string_equal(read_here, read_again);
    free(read_here);
    free(read_again);
    end_rig(&again);
    end_rig(&r);
}

static tm_status many_ops(struct host_rig *r)
{
    tm_status st = host_rig_open(r, &tm_fallback_stage);

    if (st == TM_OK)
        st = bench_begin(&r->bench);
    for (int64_t i = 0; i < 8000 && st == TM_OK; i++) {
        char name[32];
        struct tm_event event;

        (void)snprintf(name, sizeof(name), "dot.%d", (int)i);
        event = host_rig_span(r, RIG_MAIN, name, TM_CLASS_CPU_OP, 0, 1);
        event.record.start_ps = i * 50000;
        if (!event.record.name)
            return r->run.error.status;
        st = bench_take(&r->bench, &event);
    }
    if (st == TM_OK)
        st = bench_end(&r->bench);
    return st == TM_OK ? bench_report(&r->bench) : st;
}

static void many_names_keep_to_the_memory(void **state)
{
    struct host_rig r;

    (void)state;
    test_run_init(&r.run);
    OK(many_ops(&r));
    assert_int_equal(integer(&r, "fallback.cpu_ops.count"), 8000);
    assert_int_equal(integer(&r, "fallback.cpu_ops.rest.rows"), 7500);
    assert_true(r.run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= bench_tables_memory(&r.run, TM_TABLES_FALLBACK));
    end_rig(&r);
}

static tm_status whole_job(struct tm_run *run)
{
    struct host_rig r = { .run = *run };
    const tm_status st = many_ops(&r);

    host_rig_close(&r);
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
        cmocka_unit_test(names_tell_what_a_span_is_to_a_call_back),
        cmocka_unit_test(a_call_back_has_the_name_of_the_function_it_calls),
        cmocka_unit_test(more_calls_back_than_are_followed_are_counted),
        cmocka_unit_test(operations_on_the_host_of_a_gpu_are_told),
        cmocka_unit_test(on_a_cpu_only_calls_back_are_told),
        cmocka_unit_test(without_a_device_there_is_no_section),
        cmocka_unit_test(the_hlo_tells_what_works_with_the_host),
        cmocka_unit_test(an_op_on_both_sides_is_one_row),
        cmocka_unit_test(a_round_trip_is_idle_between_two_copies_of_a_step),
        cmocka_unit_test(without_steps_round_trips_are_not_known),
        cmocka_unit_test(what_was_saved_is_read_again),
        cmocka_unit_test(many_names_keep_to_the_memory),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("fallback", tests, NULL, NULL);
}
