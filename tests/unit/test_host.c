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
    OK(host_rig_open(r, &tm_host_stage));
    bench_devices(&r->bench, 1, TM_DEVICE_GPU, 0, 1000 * US);
}

static void end_rig(struct host_rig *r)
{
    host_rig_close(r);
    assert_ledger_is_even(&r->run);
}

static void work(struct host_rig *r, int64_t start_us, int64_t dur_us, int64_t launch_us)
{
    const struct tm_event event = host_rig_work(r, 0, TM_CLASS_KERNEL, start_us, dur_us, launch_us);

    OK(bench_take(&r->bench, &event));
}

/* --- launches --- */

static void a_launch_is_counted_once_and_its_delay_ends_with_its_first_work(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    OK(bench_begin(&r.bench));
    work(&r, 20, 5, 10); /* a graph of two kernels */
    work(&r, 30, 5, 10);
    work(&r, 40, 5, 37);
    work(&r, 50, 5, 60); /* clocks differ */
    work(&r, 70, 5, -1);
    report_rig(&r);
    assert_int_equal(integer(&r, "host.launches.count"), 3);
    assert_int_equal(integer(&r, "host.launches.unknown_count"), 1);
    assert_true(tm_double(bench_get(&r.bench, "host.launches.per_step")) == 3.0 / BENCH_STEPS);
    assert_int_equal(integer(&r, "host.launch_delay.count"), 2);
    assert_int_equal(integer(&r, "host.launch_delay.negative"), 1);
    assert_int_equal(integer(&r, "host.launch_delay.p50_ps"), 3 * US);
    assert_int_equal(integer(&r, "host.launch_delay.p95_ps"), 10 * US);
    assert_int_equal(integer(&r, "host.launch_delay.max_ps"), 10 * US);
    end_rig(&r);
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Delays of all magnitudes, of which some are equal: as in a sorted list. */
static void delays_of_one_host_have_exact_quantiles(void **state)
{
    enum { DELAYS = 3001 };
    static int64_t delays[DELAYS];

    (void)state;
    for (unsigned magnitude = 1; magnitude < 46; magnitude += 4) {
        uint64_t seed = magnitude;
        struct host_rig r;

        open_rig(&r);
        r.bench.trace.launch_numbers = DELAYS + 1;
        OK(bench_begin(&r.bench));
        for (int i = 0; i < DELAYS; i++) {
            struct tm_event event = host_rig_work(&r, 0, TM_CLASS_KERNEL, 0, 1, 0);

            delays[i] = (int64_t)(next_number(&seed) >> (64 - magnitude));
            event.launch = (uint64_t)i + 1;
            event.launch_start_ps = (int64_t)i * 1000;
            event.record.start_ps = event.launch_start_ps + delays[i];
            OK(bench_take(&r.bench, &event));
        }
        report_rig(&r);
        qsort(delays, DELAYS, sizeof(*delays), by_value);
        assert_int_equal(integer(&r, "host.launch_delay.count"), DELAYS);
        assert_int_equal(integer(&r, "host.launch_delay.p50_ps"), delays[1500]);
        assert_int_equal(integer(&r, "host.launch_delay.p95_ps"), delays[2850]);
        assert_int_equal(integer(&r, "host.launch_delay.max_ps"), delays[DELAYS - 1]);
        end_rig(&r);
    }
}

/* One without length may begin where the next one does: the number tells them apart. */
static void calls_of_one_begin_are_two(void **state)
{
    struct host_rig r;
    struct tm_event event;

    (void)state;
    open_rig(&r);
    OK(bench_begin(&r.bench));
    event = host_rig_work(&r, 0, TM_CLASS_KERNEL, 20, 5, 10);
    event.launch = RIG_LAUNCHES;
    event.launch_dur_ps = 0;
    OK(bench_take(&r.bench, &event));
    work(&r, 30, 5, 10);
    report_rig(&r);
    assert_int_equal(integer(&r, "host.launches.count"), 2);
    end_rig(&r);
}

static void nothing_is_launched_while_a_device_is_idle_and_no_work_waits(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    bench_devices(&r.bench, 1, TM_DEVICE_GPU, 0, 400 * US);
    OK(bench_begin(&r.bench));
    work(&r, 0, 10, 0);
    work(&r, 30, 10, 25);   /* 10 to 25 */
    work(&r, 60, 40, 35);   /* launched before the gap: it waited all of it */
    work(&r, 200, 10, 150); /* 100 to 150, but see the last one */
    work(&r, 260, 10, -1);  /* of this one nothing is known */
    work(&r, 300, 10, 300); /* 270 to 300 */
    work(&r, 390, 20, 120); /* waited since 120 */
    report_rig(&r);
    assert_int_equal(integer(&r, "host.queue_empty.count"), 2);
    assert_int_equal(integer(&r, "host.queue_empty.total_ps"), (15 + 20) * US);
    assert_int_equal(integer(&r, "host.queue_empty.longest[0].begin_ps"), 100 * US);
    assert_int_equal(integer(&r, "host.queue_empty.longest[0].dur_ps"), 20 * US);
    assert_string_equal(text(&r, "host.queue_empty.longest[0].device"), "h0/gpu:0");
    end_rig(&r);
}

static void stretches_keep_to_what_counts_of_the_device(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    bench_devices(&r.bench, 1, TM_DEVICE_GPU, 100 * US, 200 * US);
    OK(bench_begin(&r.bench));
    work(&r, 0, 10, 0);
    work(&r, 150, 10, 120); /* 100 to 120 */
    work(&r, 300, 10, 290); /* 160 to 200 */
    report_rig(&r);
    assert_int_equal(integer(&r, "host.queue_empty.total_ps"), 60 * US);
    end_rig(&r);
}

static void on_a_cpu_there_are_no_launches(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    bench_devices(&r.bench, 1, TM_DEVICE_CPU, 0, 1000 * US);
    OK(bench_begin(&r.bench));
    work(&r, 0, 10, -1);
    report_rig(&r);
    assert_false(tm_has(bench_get(&r.bench, "host.launches")));
    assert_string_equal(tm_why(bench_get(&r.bench, "host.launch_delay")), "the host is the device");
    assert_false(tm_has(bench_get(&r.bench, "host.queue_empty")));
    assert_false(tm_has(bench_get(&r.bench, "host.sync")));
    end_rig(&r);
}

static void without_known_launches_nothing_is_said_of_them(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    OK(bench_begin(&r.bench));
    work(&r, 0, 10, -1);
    work(&r, 50, 10, -1);
    report_rig(&r);
    assert_false(tm_has(bench_get(&r.bench, "host.launches")));
    assert_false(tm_has(bench_get(&r.bench, "host.queue_empty")));
    end_rig(&r);
}

/* --- threads --- */

static void self_time_is_without_all_that_lies_inside(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    OK(bench_begin(&r.bench));
    span(&r, RIG_MAIN, "$a.py:1 outer", TM_CLASS_PYTHON, 0, 100);
    span(&r, RIG_MAIN, "logging", TM_CLASS_ANNOTATION, 10, 50);
    span(&r, RIG_MAIN, "$a.py:9 inner", TM_CLASS_PYTHON, 20, 10);
    span(&r, RIG_MAIN, "cuLaunchKernel", TM_CLASS_LAUNCH, 40, 5);
    span(&r, RIG_MAIN, "data_loading", TM_CLASS_INPUT, 70, 20);
    span(&r, RIG_MAIN, "$a.py:9 inner", TM_CLASS_PYTHON, 120, 7);
    report_rig(&r);
    assert_int_equal(tm_length(bench_get(&r.bench, "host.python")), 2);
    assert_string_equal(text(&r, "host.python[0].name"), "$a.py:1 outer");
    assert_int_equal(integer(&r, "host.python[0].self_ps"), 30 * US);
    assert_int_equal(integer(&r, "host.python[0].total_ps"), 100 * US);
    assert_int_equal(integer(&r, "host.python[1].count"), 2);
    assert_int_equal(integer(&r, "host.python[1].self_ps"), 17 * US);
    assert_string_equal(text(&r, "host.annotations[0].name"), "logging");
    assert_int_equal(integer(&r, "host.annotations[0].self_ps"), 35 * US);
    assert_string_equal(text(&r, "host.annotations[1].name"), "data_loading");
    assert_int_equal(integer(&r, "host.annotations[1].total_ps"), 20 * US);
    end_rig(&r);
}

static void a_wait_inside_a_wait_is_one(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    OK(bench_begin(&r.bench));
    span(&r, RIG_MAIN, "to_host", TM_CLASS_ANNOTATION, 0, 100);
    span(&r, RIG_MAIN, "$train.py:7 log", TM_CLASS_PYTHON, 5, 90);
    span(&r, RIG_MAIN, "$profiler.py:417 wrapper", TM_CLASS_PYTHON, 10, 80);
    span(&r, RIG_MAIN, "$array.py:3 block_until_ready", TM_CLASS_SYNC, 20, 50);
    span(&r, RIG_MAIN, "Buffer::Await", TM_CLASS_SYNC, 25, 40);
    span(&r, RIG_MAIN, "Buffer::Await", TM_CLASS_SYNC, 110, 8);
    span(&r, RIG_WORKER, "Buffer::Await", TM_CLASS_SYNC, 115, 9);
    report_rig(&r);
    assert_int_equal(integer(&r, "host.sync.count"), 3);
    assert_int_equal(integer(&r, "host.sync.total_ps"), 67 * US);
    assert_string_equal(text(&r, "host.sync.rows[0].name"), "$array.py:3 block_until_ready");
    assert_string_equal(text(&r, "host.sync.rows[0].caller"), "$train.py:7 log");
    assert_string_equal(text(&r, "host.sync.rows[0].annotation"), "to_host");
    assert_int_equal(integer(&r, "host.sync.rows[1].count"), 2);
    assert_int_equal(integer(&r, "host.sync.rows[1].longest_begin_ps"), 115 * US);
    assert_false(tm_has(bench_get(&r.bench, "host.sync.rows[1].caller")));
    end_rig(&r);
}

static void spans_are_cut_to_the_chosen_steps(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    r.bench.trace.steps.chosen_begin = 1; /* 100 to 380 us */
    r.bench.trace.steps.chosen_end = 4;
    OK(bench_begin(&r.bench));
    span(&r, RIG_MAIN, "$a.py:1 all", TM_CLASS_PYTHON, 0, 1000);
    span(&r, RIG_MAIN, "$a.py:2 before", TM_CLASS_PYTHON, 20, 50);
    span(&r, RIG_MAIN, "$a.py:3 into", TM_CLASS_PYTHON, 80, 40);
    span(&r, RIG_MAIN, "$a.py:4 out", TM_CLASS_PYTHON, 370, 100);
    report_rig(&r);
    assert_string_equal(text(&r, "host.windows[0].basis"), "steps");
    assert_int_equal(integer(&r, "host.windows[0].begin_ps"), 100 * US);
    assert_int_equal(integer(&r, "host.windows[0].end_ps"), 380 * US);
    assert_int_equal(tm_length(bench_get(&r.bench, "host.python")), 3);
    assert_int_equal(integer(&r, "host.python[0].self_ps"), 250 * US);
    assert_int_equal(integer(&r, "host.python[1].self_ps"), 20 * US);
    assert_int_equal(integer(&r, "host.python[2].self_ps"), 10 * US);
    assert_int_equal(integer(&r, "host.threads[0].busy_ps"), 280 * US);
    assert_true(tm_double(bench_get(&r.bench, "host.threads[0].share_pct")) == 100.0);
    end_rig(&r);
}

static void without_markers_the_devices_tell_what_counts(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    r.bench.trace.steps.source = TM_STEPS_MODULE;
    bench_devices(&r.bench, 2, TM_DEVICE_GPU, 50 * US, 90 * US);
    r.bench.devices[1].chosen_end_ps = 110 * US;
    OK(bench_begin(&r.bench));
    span(&r, RIG_MAIN, "$a.py:1 all", TM_CLASS_PYTHON, 0, 1000);
    report_rig(&r);
    assert_string_equal(text(&r, "host.windows[0].basis"), "devices");
    assert_int_equal(integer(&r, "host.python[0].total_ps"), 60 * US);
    end_rig(&r);
}

static void with_all_steps_everything_counts(void **state)
{
    struct host_rig r;

    (void)state;
    open_rig(&r);
    r.bench.trace.steps.all = true;
    OK(bench_begin(&r.bench));
    span(&r, RIG_MAIN, "$a.py:1 all", TM_CLASS_PYTHON, 7, 5000);
    report_rig(&r);
    assert_string_equal(text(&r, "host.windows[0].basis"), "all");
    assert_int_equal(integer(&r, "host.windows[0].begin_ps"), 7 * US);
    assert_int_equal(integer(&r, "host.windows[0].end_ps"), 5007 * US);
    end_rig(&r);
}

static void threads_are_busy_once_at_a_time(void **state)
{
    struct host_rig r;
    struct tm_event stream;

    (void)state;
    open_rig(&r);
    r.bench.trace.main_track = RIG_MAIN;
    OK(bench_begin(&r.bench));
    span(&r, RIG_WORKER, "Execute", TM_CLASS_MODULE, 0, 100);
    span(&r, RIG_WORKER, "dot.1", TM_CLASS_CPU_OP, 10, 40);
    span(&r, RIG_WORKER, "while.2", TM_CLASS_CPU_OP, 20, 50);
    span(&r, RIG_MAIN, "$a.py:1 f", TM_CLASS_PYTHON, 90, 30);
    span(&r, RIG_MAIN, "$a.py:1 f", TM_CLASS_PYTHON, 150, 10);
    stream = host_rig_span(&r, RIG_STREAM, "kernel", TM_CLASS_KERNEL, 160, 10);
    OK(bench_take(&r.bench, &stream));
    report_rig(&r);
    assert_int_equal(tm_length(bench_get(&r.bench, "host.threads")), 2);
    assert_string_equal(text(&r, "host.threads[0].name"), "worker");
    assert_int_equal(integer(&r, "host.threads[0].events"), 3);
    assert_int_equal(integer(&r, "host.threads[0].busy_ps"), 100 * US);
    assert_int_equal(integer(&r, "host.threads[0].ops"), 2);
    assert_int_equal(integer(&r, "host.threads[0].op_ps"), 60 * US);
    assert_false(tm_is(bench_get(&r.bench, "host.threads[0].is_main")));
    assert_true(tm_is(bench_get(&r.bench, "host.threads[1].is_main")));
    assert_int_equal(integer(&r, "host.threads[1].first_ps"), 90 * US);
    assert_int_equal(integer(&r, "host.threads[1].last_ps"), 160 * US);
    end_rig(&r);
}

static void rows_past_the_cap_are_the_rest(void **state)
{
    struct host_rig r;
    char name[32];

    (void)state;
    open_rig(&r);
    r.bench.settings.table_rows = 1;
    OK(bench_begin(&r.bench));
    for (int i = 0; i < 5; i++) {
        (void)snprintf(name, sizeof(name), "$a.py:%d f", i);
        span(&r, RIG_MAIN, name, TM_CLASS_PYTHON, i * 10, i + 1);
        span(&r, RIG_WORKER, "Buffer::Await", TM_CLASS_SYNC, i * 10, 1);
    }
    report_rig(&r);
    assert_int_equal(integer(&r, "host.python[0].self_ps"), 5 * US);
    assert_int_equal(integer(&r, "host.python_rest.rows"), 4);
    assert_int_equal(integer(&r, "host.python_rest.count"), 4);
    assert_int_equal(integer(&r, "host.python_rest.self_ps"), 10 * US);
    assert_int_equal(integer(&r, "host.threads_rest.rows"), 1);
    assert_int_equal(integer(&r, "host.threads_rest.busy_ps"), 5 * US);
    assert_int_equal(integer(&r, "host.sync.rest.rows"), 0);
    end_rig(&r);
}

/* --- partials --- */

static void some_of_all(struct host_rig *r)
{
    span(r, RIG_MAIN, "$a.py:1 f", TM_CLASS_PYTHON, 0, 60);
    work(r, 5, 10, 0);
    span(r, RIG_MAIN, "logging", TM_CLASS_ANNOTATION, 10, 40);
    span(r, RIG_MAIN, "Buffer::Await", TM_CLASS_SYNC, 20, 10);
    span(r, RIG_WORKER, "dot", TM_CLASS_CPU_OP, 30, 10);
    work(r, 50, 10, 40);
    work(r, 70, 10, 90);
    work(r, 90, 10, -1);
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
    OK(bench_begin(&r.bench)); /* a second host of the same */
    some_of_all(&r);
    report_rig(&r);

    open_rig(&again);
    load_kept_bench(&again.bench, path, 1);
    report_ended_rig(&again);
    assert_int_equal(integer(&again, "host.sync.count"), 2);
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

/* --- memory --- */

static tm_status many_of_all(struct host_rig *r)
{
    tm_status st = host_rig_open(r, &tm_host_stage);

    r->bench.trace.launch_numbers = 8000;
    if (st == TM_OK)
        st = bench_begin(&r->bench);
    for (int64_t i = 0; i < 8000 && st == TM_OK; i++) {
        char name[32];
        struct tm_event event;

        (void)snprintf(name, sizeof(name), "$a.py:%d f", (int)i);
        event = host_rig_span(r, RIG_MAIN, name, i % 2 ? TM_CLASS_PYTHON : TM_CLASS_SYNC, 0, 700);
        event.record.start_ps = i * 50000;
        event.record.dur_ps = 40000 + i;
        if (!event.record.name)
            return r->run.error.status;
        st = bench_take(&r->bench, &event);
        if (st != TM_OK)
            break;
        event = host_rig_work(r, 0, TM_CLASS_KERNEL, 0, 0, 0);
        event.record.start_ps = i * 50000 + i;
        event.record.dur_ps = 10000;
        event.launch = (uint64_t)i + 1;
        event.launch_start_ps = i * 50000;
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
    OK(many_of_all(&r));
    assert_int_equal(integer(&r, "host.launches.count"), 8000);
    assert_int_equal(integer(&r, "host.launch_delay.max_ps"), 7999);
    assert_int_equal(integer(&r, "host.launch_delay.p50_ps"), 3999);
    assert_int_equal(integer(&r, "host.sync.count"), 4000);
    assert_int_equal(integer(&r, "host.queue_empty.count"), 8000 - 1);
    assert_true(r.run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= tm_budget_share(&r.run.budget, TM_ACCOUNT_TABLES) / 8);
    end_rig(&r);
}

static tm_status whole_job(struct tm_run *run)
{
    struct host_rig r = { .run = *run };
    const tm_status st = many_of_all(&r);

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
        cmocka_unit_test(a_launch_is_counted_once_and_its_delay_ends_with_its_first_work),
        cmocka_unit_test(delays_of_one_host_have_exact_quantiles),
        cmocka_unit_test(calls_of_one_begin_are_two),
        cmocka_unit_test(nothing_is_launched_while_a_device_is_idle_and_no_work_waits),
        cmocka_unit_test(stretches_keep_to_what_counts_of_the_device),
        cmocka_unit_test(on_a_cpu_there_are_no_launches),
        cmocka_unit_test(without_known_launches_nothing_is_said_of_them),
        cmocka_unit_test(self_time_is_without_all_that_lies_inside),
        cmocka_unit_test(a_wait_inside_a_wait_is_one),
        cmocka_unit_test(spans_are_cut_to_the_chosen_steps),
        cmocka_unit_test(without_markers_the_devices_tell_what_counts),
        cmocka_unit_test(with_all_steps_everything_counts),
        cmocka_unit_test(threads_are_busy_once_at_a_time),
        cmocka_unit_test(rows_past_the_cap_are_the_rest),
        cmocka_unit_test(what_was_saved_is_read_again),
        cmocka_unit_test(many_names_keep_to_the_memory),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
