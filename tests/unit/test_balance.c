/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_stages.h"

#include <stdio.h>

#include "tests/support/kept_bench.h"
#include "tests/support/stage_driver.h"
#include "tests/support/test_run.h"

enum { US = 1000000 };

#define OK(call) assert_int_equal(call, TM_OK)

/* A host of GPUs, with steps numbered 100 ... */
struct rig {
    struct tm_run run;
    struct bench bench;
};

static const struct tm_config no_config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };

static tm_status try_rig(struct rig *r, uint32_t devices)
{
    struct bench *b = &r->bench;

    if (bench_open(b, &r->run, &tm_balance_stage) != TM_OK)
        return r->run.error.status;
    b->trace.steps.marks = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_step_mark), 1 << 16);
    if (!b->trace.steps.marks)
        return r->run.error.status;
    for (int64_t i = 0; i < BENCH_STEPS; i++)
        tm_rows_append(b->trace.steps.marks, &(struct tm_step_mark){ .number = 100 + i });
    bench_devices(b, devices, TM_DEVICE_GPU, 0, INT64_MAX);
    return tm_failed(&r->run) ? r->run.error.status : bench_begin(b);
}

static void open_rig(struct rig *r, uint32_t devices)
{
    test_run_init(&r->run);
    OK(try_rig(r, devices));
}

static void close_rig(struct rig *r)
{
    tm_rows_free(r->bench.trace.steps.marks);
    bench_close(&r->bench);
}

/* devices: as the stage device-time counts those that compute */
static tm_status try_report(struct bench *b, uint32_t devices)
{
    tm_add_uint(tm_add_object(tm_doc_root(b->doc), "balance"), "devices", devices);
    return bench_report(b);
}

static void report_rig(struct rig *r, uint32_t devices)
{
    OK(bench_end(&r->bench));
    OK(try_report(&r->bench, devices));
}

static void end_rig(struct rig *r)
{
    close_rig(r);
    assert_ledger_is_even(&r->run);
}

static tm_status try_take(struct rig *r, const char *name, uint32_t device, uint32_t step, int64_t begin_us,
                          int64_t dur_us)
{
    struct tm_event event =
        bench_event(bench_name(&r->bench, name), TM_CLASS_KERNEL, &no_config, begin_us * US, dur_us * US);

    event.device = device;
    event.step = step;
    return bench_take(&r->bench, &event);
}

static void take(struct rig *r, const char *name, uint32_t device, uint32_t step, int64_t begin_us, int64_t dur_us)
{
    OK(try_take(r, name, device, step, begin_us, dur_us));
}

static int64_t integer(const struct rig *r, const char *path)
{
    if (!tm_has(bench_get(&r->bench, path)))
        fail_msg("%s is missing", path);
    return tm_int(bench_get(&r->bench, path));
}

static const char *text(const struct rig *r, const char *path)
{
    return tm_text(bench_get(&r->bench, path));
}

static void steps_have_a_spread(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    take(&r, "k", 0, 0, 0, 30); /* 30 and 10: 50 % over the mean */
    take(&r, "k", 1, 0, 0, 10);
    take(&r, "k", 0, 1, 100, 20); /* overlapping ones count once: 30 and 30 */
    take(&r, "k", 0, 1, 110, 20);
    take(&r, "k", 1, 1, 110, 30);
    take(&r, "k", 0, 2, 200, 30); /* one device only */
    take(&r, "k", 0, 3, 300, 30); /* 30 and 90: 50 % */
    take(&r, "k", 1, 3, 300, 90);
    report_rig(&r, 2);
    assert_int_equal(integer(&r, "balance.steps.count"), 3);
    assert_true(tm_double(bench_get(&r.bench, "balance.steps.spread_median_pct")) == 50);
    assert_true(tm_double(bench_get(&r.bench, "balance.steps.spread_max_pct")) == 50);
    assert_int_equal(integer(&r, "balance.steps.worst_step"), 100); /* the first one of equal ones */
    end_rig(&r);
}

static void ops_are_run_by_all_or_by_some(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 3);
    for (uint32_t device = 0; device < 3; device++) {
        take(&r, "same", device, 0, device * 100, device == 2 ? 40 : 10);
        take(&r, "uneven", device, 0, device * 100 + 50, 5);
    }
    take(&r, "uneven", 1, 0, 400, 5);
    take(&r, "some", 0, 0, 400, 5);
    take(&r, "some", 1, 0, 410, 5);
    take(&r, "single", 1, 0, 420, 50);
    report_rig(&r, 3);
    assert_int_equal(integer(&r, "balance.op_kinds.all"), 1);
    assert_int_equal(integer(&r, "balance.op_kinds.uneven"), 1);
    assert_int_equal(integer(&r, "balance.op_kinds.some"), 1);
    assert_int_equal(integer(&r, "balance.op_kinds.single"), 1);
    assert_int_equal(tm_length(bench_get(&r.bench, "balance.ops")), 3);
    assert_string_equal(text(&r, "balance.ops[0].name"), "same");
    assert_string_equal(text(&r, "balance.ops[0].kind"), "all");
    assert_string_equal(text(&r, "balance.ops[0].slowest"), "h0/gpu:2");
    assert_int_equal(integer(&r, "balance.ops[0].count"), 3);
    assert_int_equal(integer(&r, "balance.ops[0].min_ps"), 10 * US);
    assert_int_equal(integer(&r, "balance.ops[0].max_ps"), 40 * US);
    assert_int_equal(integer(&r, "balance.ops[0].mean_ps"), 20 * US);
    assert_int_equal(integer(&r, "balance.ops[0].excess_ps"), 60 * US);
    assert_false(tm_is(bench_get(&r.bench, "balance.ops[0].equal")));
    assert_string_equal(text(&r, "balance.ops[1].name"), "uneven");
    assert_string_equal(text(&r, "balance.ops[1].kind"), "uneven");
    assert_string_equal(text(&r, "balance.ops[2].kind"), "some");
    assert_true(tm_is(bench_get(&r.bench, "balance.ops[2].equal")));
    assert_int_equal(integer(&r, "balance.same_work.ops"), 1);
    assert_int_equal(integer(&r, "balance.same_work.devices[2].total_ps"), 40 * US);
    assert_string_equal(text(&r, "balance.same_work.slowest"), "h0/gpu:2");
    assert_true(tm_double(bench_get(&r.bench, "balance.same_work.spread_pct")) == 100);
    end_rig(&r);
}

static void ops_of_programs_are_told_apart(void **state)
{
    struct tm_config config[2] = { no_config, no_config };
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    for (uint32_t i = 0; i < 2; i++) {
        struct tm_event event;

        config[i].hlo_op = bench_name(&r.bench, "fusion.1");
        config[i].module = bench_name(&r.bench, i ? "jit_a" : "jit_b");
        event = bench_event(bench_name(&r.bench, "k"), TM_CLASS_KERNEL, &config[i], 0, US);
        event.record.config = i + 1;
        event.device = i;
        OK(bench_take(&r.bench, &event));
    }
    report_rig(&r, 2);
    assert_int_equal(integer(&r, "balance.op_kinds.single"), 2);
    end_rig(&r);
}

static void collectives_and_copies_are_no_work(void **state)
{
    struct tm_event event;
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    event = bench_event(bench_name(&r.bench, "nccl"), TM_CLASS_COLLECTIVE, &no_config, 0, US);
    OK(bench_take(&r.bench, &event));
    event = bench_event(bench_name(&r.bench, "Memcpy"), TM_CLASS_COPY, &no_config, 0, US);
    OK(bench_take(&r.bench, &event));
    event = bench_event(bench_name(&r.bench, "k"), TM_CLASS_KERNEL, &no_config, 0, US);
    event.chosen = false;
    OK(bench_take(&r.bench, &event));
    report_rig(&r, 2);
    assert_int_equal(integer(&r, "balance.op_kinds.all"), 0);
    assert_false(tm_has(bench_get(&r.bench, "balance.steps")));
    assert_string_equal(tm_why(bench_get(&r.bench, "balance.same_work")), "no op runs equally often on all devices");
    end_rig(&r);
}

static void one_device_has_no_balance(void **state)
{
    static const char *const keys[] = { "balance.steps", "balance.ops", "balance.op_kinds", "balance.same_work" };
    struct rig r;

    (void)state;
    open_rig(&r, 1);
    take(&r, "k", 0, 0, 0, 1);
    report_rig(&r, 1);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_string_equal(tm_why(bench_get(&r.bench, keys[i])), "one device");
    end_rig(&r);
}

/* --- partials --- */

static void partials_of_two_hosts_are_compared(void **state)
{
    char path[KEPT_BENCH_PATH];
    struct rig r;
    struct tm_run run;
    struct bench again;

    (void)state;
    open_rig(&r, 2);
    take(&r, "k", 0, 0, 0, 30);
    take(&r, "k", 1, 0, 0, 10);
    OK(bench_end(&r.bench));
    r.bench.tells_hosts = true;
    keep_bench(&r.bench, path);
    end_rig(&r);

    test_run_init(&run);
    OK(bench_open(&again, &run, &tm_balance_stage));
    again.tells_hosts = true;
    load_kept_bench(&again, path, 1); /* another host of the same */
    OK(try_report(&again, 4));
    assert_int_equal(tm_int(bench_get(&again, "balance.ops[0].devices")), 4);
    assert_int_equal(tm_int(bench_get(&again, "balance.ops[0].mean_ps")), 20 * US);
    assert_int_equal(tm_int(bench_get(&again, "balance.steps.count")), 1);
    assert_true(tm_double(bench_get(&again, "balance.steps.spread_max_pct")) == 50);
    assert_string_equal(tm_text(bench_get(&again, "balance.same_work.devices[3].device")), "h1/gpu:1");
    bench_close(&again);
    assert_ledger_is_even(&run);
}

/* --- memory --- */

static tm_status many(struct rig *r, uint32_t count)
{
    tm_status st = try_rig(r, 4);
    char name[32];

    for (uint32_t i = 0; i < count && st == TM_OK; i++) {
        (void)snprintf(name, sizeof(name), "kernel %u", i / 4);
        st = try_take(r, name, i % 4, i / 4 % BENCH_STEPS, i, 1 + i % 4);
    }
    if (st == TM_OK)
        st = bench_end(&r->bench);
    return st == TM_OK ? try_report(&r->bench, 4) : st;
}

static void many_ops_keep_to_the_memory(void **state)
{
    struct rig r;

    (void)state;
    test_run_init(&r.run);
    OK(many(&r, 40000));
    assert_int_equal(integer(&r, "balance.op_kinds.all"), 10000);
    assert_int_equal(integer(&r, "balance.same_work.devices[3].total_ps"), (int64_t)40000 * US);
    assert_true(r.run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= tm_budget_share(&r.run.budget, TM_ACCOUNT_TABLES) / 16);
    end_rig(&r);
}

static tm_status whole_job(struct tm_run *run)
{
    struct rig r = { .run = *run };
    const tm_status st = many(&r, 4000);

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
        cmocka_unit_test(steps_have_a_spread),
        cmocka_unit_test(ops_are_run_by_all_or_by_some),
        cmocka_unit_test(ops_of_programs_are_told_apart),
        cmocka_unit_test(collectives_and_copies_are_no_work),
        cmocka_unit_test(one_device_has_no_balance),
        cmocka_unit_test(partials_of_two_hosts_are_compared),
        cmocka_unit_test(many_ops_keep_to_the_memory),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("balance", tests, NULL, NULL);
}
