/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_stages.h"

#include <stdio.h>

#include "stages/figures/skew.h"
#include "tests/support/kept_bench.h"
#include "tests/support/stage_driver.h"
#include "tests/support/test_run.h"

enum { US = 1000000 };

#define OK(call) assert_int_equal(call, TM_OK)

/* Hosts of GPUs, with steps numbered 100 ... */
struct rig {
    struct tm_run run;
    struct bench bench;
    uint32_t devices; /* per host */
};

static const struct tm_config no_config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };

static tm_status begin(struct rig *r)
{
    bench_devices(&r->bench, r->devices, TM_DEVICE_GPU, 0, INT64_MAX);
    return bench_begin(&r->bench);
}

static tm_status try_rig(struct rig *r, uint32_t devices)
{
    const struct tm_message none = { .group_size = 0 };
    const struct tm_hlo_op no_op = { .group_size = 0 };
    struct bench *b = &r->bench;

    r->devices = devices;
    if (bench_open(b, &r->run, &tm_collectives_stage) != TM_OK)
        return r->run.error.status;
    b->trace.origin = TM_ORIGIN_PYTORCH;
    b->trace.origin_us = 5000;
    b->trace.messages = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(none), 1 << 16);
    b->trace.hlo_ops = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(no_op), 1 << 16);
    b->trace.steps.marks = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_step_mark), 1 << 16);
    if (!b->trace.messages || !b->trace.hlo_ops || !b->trace.steps.marks)
        return r->run.error.status;
    tm_rows_append(b->trace.messages, &none);
    tm_rows_append(b->trace.hlo_ops, &no_op);
    for (int64_t i = 0; i < BENCH_STEPS; i++)
        tm_rows_append(b->trace.steps.marks, &(struct tm_step_mark){ .number = 100 + i });
    return tm_failed(&r->run) ? r->run.error.status : begin(r);
}

static void open_rig(struct rig *r, uint32_t devices)
{
    test_run_init(&r->run);
    OK(try_rig(r, devices));
}

static void close_rig(struct rig *r)
{
    tm_rows_free(r->bench.trace.messages);
    tm_rows_free(r->bench.trace.hlo_ops);
    tm_rows_free(r->bench.trace.steps.marks);
    bench_close(&r->bench);
}

static tm_status try_report(struct rig *r)
{
    return bench_report(&r->bench);
}

static void report_rig(struct rig *r)
{
    OK(bench_end(&r->bench));
    OK(try_report(r));
}

static void end_rig(struct rig *r)
{
    close_rig(r);
    assert_ledger_is_even(&r->run);
}

/* A collective of a device, in microseconds. */
static struct tm_event collective(struct rig *r, const char *name, uint32_t device, int64_t begin_us, int64_t end_us)
{
    struct tm_event event = bench_event(bench_name(&r->bench, name), TM_CLASS_COLLECTIVE, &no_config, begin_us * US,
                                        (end_us - begin_us) * US);

    event.device = device;
    return event;
}

static void take(struct rig *r, const char *name, uint32_t device, int64_t begin_us, int64_t end_us)
{
    const struct tm_event event = collective(r, name, device, begin_us, end_us);

    OK(bench_take(&r->bench, &event));
}

static int64_t integer(const struct rig *r, const char *path)
{
    char whole[128];

    (void)snprintf(whole, sizeof(whole), "collectives.skew.%s", path);
    if (!tm_has(bench_get(&r->bench, whole)))
        fail_msg("%s is missing", whole);
    return tm_int(bench_get(&r->bench, whole));
}

static const char *text(const struct rig *r, const char *path)
{
    char whole[128];

    (void)snprintf(whole, sizeof(whole), "collectives.skew.%s", path);
    return tm_text(bench_get(&r->bench, whole));
}

static const char *why(const struct rig *r, const char *path)
{
    char whole[128];

    (void)snprintf(whole, sizeof(whole), "collectives.skew%s%s", *path ? "." : "", path);
    return tm_why(bench_get(&r->bench, whole));
}

/* --- one host --- */

static void the_last_one_is_late_and_the_others_wait(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 3);
    take(&r, "nccl_AllReduce", 0, 0, 100);
    take(&r, "nccl_AllReduce", 1, 10, 100);
    take(&r, "nccl_AllReduce", 2, 90, 100);
    take(&r, "nccl_AllReduce", 1, 200, 220);
    take(&r, "nccl_AllReduce", 0, 205, 220);
    take(&r, "nccl_AllReduce", 2, 210, 220);
    report_rig(&r);
    assert_int_equal(integer(&r, "communicators"), 1);
    assert_int_equal(integer(&r, "matched"), 2);
    assert_int_equal(integer(&r, "unmatched"), 0);
    assert_int_equal(integer(&r, "late_ps"), (90 + 10) * US);
    assert_int_equal(integer(&r, "wait_ps"), (90 + 80 + 10 + 5) * US);
    assert_int_equal(integer(&r, "p50_ps"), 10 * US);
    assert_int_equal(integer(&r, "p95_ps"), 90 * US);
    assert_int_equal(integer(&r, "max_ps"), 90 * US);
    assert_string_equal(text(&r, "straggler"), "h0/gpu:2");
    assert_int_equal(integer(&r, "members[2].last_count"), 2);
    assert_int_equal(integer(&r, "members[2].late_ps"), 100 * US);
    assert_int_equal(integer(&r, "members[2].late_max_ps"), 90 * US);
    assert_int_equal(integer(&r, "members[2].wait_ps"), 0);
    /* while one waits for two, each of them causes half of it */
    assert_int_equal(integer(&r, "members[2].caused_ps"), (10 + 5) * US / 2 + (2 * 80 + 2 * 5) * US);
    assert_int_equal(integer(&r, "members[1].caused_ps"), 10 * US / 2);
    assert_int_equal(integer(&r, "members[0].caused_ps"), 5 * US / 2);
    assert_int_equal(integer(&r, "members[2].alone_ps"), (2 * 80 + 2 * 5) * US);
    assert_int_equal(integer(&r, "members[2].collective_ps"), 20 * US);
    assert_int_equal(integer(&r, "members[0].wait_ps"), 95 * US);
    assert_int_equal(integer(&r, "members[0].late_ps"), 5 * US);
    assert_int_equal(integer(&r, "worst[0].ordinal"), 1);
    assert_int_equal(integer(&r, "worst[0].step"), 100);
    assert_int_equal(integer(&r, "worst[0].begin_ps"), 90 * US);
    assert_int_equal(integer(&r, "worst[0].first_begin_ps"), 0);
    assert_string_equal(text(&r, "worst[0].last"), "h0/gpu:2");
    assert_string_equal(text(&r, "worst[0].first"), "h0/gpu:0");
    assert_string_equal(text(&r, "worst[0].kind"), "all-reduce");
    end_rig(&r);
}

static void those_who_take_turns_are_no_stragglers(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    take(&r, "all-reduce", 0, 0, 50);
    take(&r, "all-reduce", 1, 40, 50);
    take(&r, "all-reduce", 1, 100, 150);
    take(&r, "all-reduce", 0, 115, 150);
    report_rig(&r);
    assert_int_equal(integer(&r, "matched"), 2);
    assert_string_equal(why(&r, "straggler"), "no device is an outlier"); /* later by far, but last once only */
    end_rig(&r);
}

static void where_the_numbers_differ_most_devices_win(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 3);
    for (uint32_t device = 0; device < 3; device++) {
        take(&r, "all-reduce", device, 0 + device, 50);
        if (device != 1)
            take(&r, "all-reduce", device, 60 + device, 90);
    }
    report_rig(&r);
    assert_int_equal(integer(&r, "matched"), 2);
    assert_int_equal(integer(&r, "unmatched"), 1);
    assert_int_equal(integer(&r, "members[1].count"), 0);
    assert_int_equal(integer(&r, "late_ps"), 4 * US);
    end_rig(&r);
}

static void steps_are_matched_by_their_numbers(void **state)
{
    struct tm_event event;
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    event = collective(&r, "all-reduce", 0, 0, 10);
    OK(bench_take(&r.bench, &event)); /* the other device has none in this step */
    event = collective(&r, "all-reduce", 0, 20, 30);
    event.step = 3;
    OK(bench_take(&r.bench, &event));
    event = collective(&r, "all-reduce", 1, 22, 30);
    event.step = 3;
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_int_equal(integer(&r, "matched"), 1);
    assert_int_equal(integer(&r, "unmatched"), 1);
    assert_int_equal(integer(&r, "worst[0].step"), 103);
    assert_int_equal(integer(&r, "late_ps"), 2 * US);
    end_rig(&r);
}

static void what_does_not_overlap_is_not_one_collective(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    take(&r, "all-gather", 0, 0, 10);
    take(&r, "all-gather", 1, 10, 20);
    report_rig(&r);
    assert_int_equal(integer(&r, "matched"), 0);
    assert_int_equal(integer(&r, "unmatched"), 2);
    assert_int_equal(integer(&r, "checked"), 1);
    assert_string_equal(
        why(&r, "late_ps"),
        "the devices' collectives at the same position do not overlap: they are not the same collective");
    end_rig(&r);
}

static void sends_do_not_tell_who_takes_part(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    take(&r, "ncclKernel_SendRecv", 0, 0, 10);
    take(&r, "ncclKernel_SendRecv", 1, 0, 10);
    report_rig(&r);
    assert_int_equal(integer(&r, "unmatched"), 2);
    assert_string_equal(why(&r, "max_ps"), "sends and receives do not record their participants");
    end_rig(&r);
}

static void one_device_waits_for_nobody(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    take(&r, "all-reduce", 1, 0, 10);
    report_rig(&r);
    assert_string_equal(why(&r, ""), "one device ran collectives");
    end_rig(&r);
}

/* --- communicators --- */

static void groups_of_a_message_are_told_apart(void **state)
{
    static const char *const ranks[] = { "[0, 1]", "[0, 1]", "[2, 3]", "[2, 3]" };
    struct rig r;

    (void)state;
    open_rig(&r, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct tm_message message = { .elements_in = 8,
                                            .element_bytes = 4,
                                            .operation = bench_name(&r.bench, "allreduce"),
                                            .group_ranks = bench_name(&r.bench, ranks[i]) };
        struct tm_config config = no_config;
        struct tm_event event = collective(&r, "ncclDevKernel_Generic", i, i * 10, 100);

        config.message = (uint32_t)tm_rows_count(r.bench.trace.messages);
        tm_rows_append(r.bench.trace.messages, &message);
        event.config = &config;
        event.record.config = i + 1;
        OK(bench_take(&r.bench, &event));
    }
    report_rig(&r);
    assert_int_equal(integer(&r, "communicators"), 2);
    assert_int_equal(integer(&r, "matched"), 2);
    assert_int_equal(integer(&r, "late_ps"), 20 * US);
    assert_string_equal(text(&r, "worst[0].name"), "allreduce");
    end_rig(&r);
}

/* Two devices of a group of 2 each, of which the partners are not in the profile: the text of the
 * groups is not told. */
static void more_devices_than_a_group_has_are_not_matched(void **state)
{
    static const uint32_t sizes[] = { 2, 3, 8 };

    (void)state;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        struct tm_config config = no_config;
        struct rig r;

        open_rig(&r, 3);
        config.hlo_op = bench_name(&r.bench, "all-reduce.1");
        config.hlo = 1;
        tm_rows_append(r.bench.trace.hlo_ops, &(struct tm_hlo_op){ .group_size = sizes[k] });
        for (uint32_t i = 0; i < 3; i++) {
            struct tm_event event = collective(&r, "nccl", i, i * 10, 100);

            event.config = &config;
            event.record.config = 1;
            OK(bench_take(&r.bench, &event));
        }
        report_rig(&r);
        assert_int_equal(integer(&r, "matched"), sizes[k] > 2);
        assert_int_equal(integer(&r, "unmatched"), sizes[k] > 2 ? 0 : 3);
        assert_int_equal(integer(&r, "incomplete"), sizes[k] > 3);
        end_rig(&r);
    }
}

static void replica_groups_are_told_apart(void **state)
{
    struct tm_config config = no_config;
    struct rig r;

    (void)state;
    open_rig(&r, 4);
    config.hlo_op = bench_name(&r.bench, "all-reduce.1");
    config.module = bench_name(&r.bench, "jit_step");
    config.hlo = 1;
    tm_rows_append(r.bench.trace.hlo_ops, &(struct tm_hlo_op){ .groups = bench_name(&r.bench, "{{0,2},{1,3}}") });
    for (uint32_t i = 0; i < 4; i++) {
        struct tm_event event = collective(&r, "nccl", i, i * 10, 100);

        event.config = &config;
        event.record.config = 1;
        OK(bench_take(&r.bench, &event));
    }
    report_rig(&r);
    assert_int_equal(integer(&r, "matched"), 2);
    assert_int_equal(integer(&r, "late_ps"), 40 * US);
    assert_int_equal(integer(&r, "members[0].wait_ps"), 20 * US);
    end_rig(&r);
}

static void groups_are_read_as_xla_prints_them(void **state)
{
    static const struct {
        const char *text;
        uint32_t groups[4];
    } rows[] = {
        { "", { 0, 0, 0, 0 } },
        { "{}", { 0, 0, 0, 0 } },
        { "{{0,1,2,3,4,5,6,7}}", { 0, 0, 0, 0 } }, /* some of one large group */
        { "{{0,1},{2,3}}", { 0, 0, 1, 1 } },
        { "{{3, 0}, {1, 2}}", { 0, 1, 1, 0 } },
        { "{{0},{1},{2},{3}}", { 0, 1, 2, 3 } },
        { "{{0,1},{2,4}}", { TM_NONE, TM_NONE, TM_NONE, TM_NONE } },
        { "{{0,1},{2}}", { TM_NONE, TM_NONE, TM_NONE, TM_NONE } },
        { "{{0,1},{1,2}}", { TM_NONE, TM_NONE, TM_NONE, TM_NONE } },
        { "{{0,1},{2,99999999999999999999}}", { TM_NONE, TM_NONE, TM_NONE, TM_NONE } },
        { "[2,2]<=[4]", { TM_NONE, TM_NONE, TM_NONE, TM_NONE } },
        { "{{0,1},{2,3}", { TM_NONE, TM_NONE, TM_NONE, TM_NONE } },
        { "{{{0,1},{2,3}}}", { TM_NONE, TM_NONE, TM_NONE, TM_NONE } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t groups[4];

        tm_skew_find_subgroups(rows[i].text, groups, 4);
        if (memcmp(groups, rows[i].groups, sizeof(groups)) != 0)
            fail_msg("'%s' is %u %u %u %u", rows[i].text, groups[0], groups[1], groups[2], groups[3]);
    }
}

/* --- hosts --- */

/* Ten collectives of two hosts of one device each: the second one comes 30 us late to all of them.  Its times count
 * from shift_us later, and its file says that it is told_us. */
static void two_hosts_of(struct rig *r, const char *what, int64_t shift_us, int64_t told_us, enum tm_origin origin,
                         int64_t jitter_us)
{
    for (int i = 0; i < 10; i++)
        take(r, what, 0, i * 100, i * 100 + 50);
    OK(bench_end(&r->bench));
    r->bench.trace.origin = (uint8_t)origin;
    r->bench.trace.origin_us += told_us;
    OK(begin(r));
    for (int i = 0; i < 10; i++)
        take(r, what, 0, i * 100 + 30 - shift_us + i * i % 7 * jitter_us,
             i * 100 + 50 - shift_us + i * i % 7 * jitter_us);
    report_rig(r);
}

static void two_hosts(struct rig *r, int64_t shift_us, int64_t told_us, enum tm_origin origin)
{
    two_hosts_of(r, "all-reduce", shift_us, told_us, origin, 0);
}

static void hosts_are_brought_together_by_their_clock(void **state)
{
    static const int64_t shifts_us[] = { 0, 20000, -5000 };

    (void)state;
    for (size_t i = 0; i < sizeof(shifts_us) / sizeof(shifts_us[0]); i++) {
        struct rig r;

        open_rig(&r, 1);
        two_hosts(&r, shifts_us[i], shifts_us[i], TM_ORIGIN_PYTORCH);
        assert_int_equal(integer(&r, "matched"), 10);
        assert_string_equal(text(&r, "straggler"), "h1/gpu:0");
        assert_int_equal(integer(&r, "late_ps"), 300 * US);
        assert_int_equal(integer(&r, "worst[0].begin_ps"), (30 - shifts_us[i]) * US);
        assert_int_equal(integer(&r, "clock.hosts"), 2);
        assert_int_equal(integer(&r, "clock.checked"), 10);
        assert_true(tm_is(bench_get(&r.bench, "collectives.skew.clock.aligned")));
        /* each round comes 30 us earlier than the one before it, on both; the path: 30 us + 9 rounds of 80 us */
        assert_int_equal(integer(&r, "critical_path.stragglers_saved_ps"), 2 * 300 * US);
        assert_int_equal(integer(&r, "critical_path.total_ps"), 950 * US);
        assert_int_equal(integer(&r, "critical_path.move_ps"), 10 * 20 * US);
        assert_int_equal(integer(&r, "critical_path.devices[0].total_ps"), 0);
        assert_int_equal(integer(&r, "critical_path.devices[1].total_ps"), 750 * US);
        assert_int_equal(integer(&r, "critical_path.host_switches"), 1);
        end_rig(&r);
    }
}

/* What the profiles record of their starts is wrong by 60 us, or missing: the ends of the collectives show it. */
static void hosts_are_aligned_by_the_ends_of_collectives(void **state)
{
    static const enum tm_origin origins[] = { TM_ORIGIN_PYTORCH, TM_ORIGIN_JSON_COPY };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rig r;

        open_rig(&r, 1);
        two_hosts(&r, 0, 60, origins[i]);
        assert_true(tm_is(bench_get(&r.bench, "collectives.skew.clock.aligned")));
        assert_string_equal(text(&r, "clock.list[0].method"), "reference");
        assert_string_equal(text(&r, "clock.list[1].method"), "collectives");
        assert_int_equal(integer(&r, "clock.list[1].offset_ps"), 0);
        assert_int_equal(integer(&r, "clock.list[1].points"), 10);
        assert_int_equal(integer(&r, "clock.list[1].uncertainty_ps"), 1000);
        if (origins[i] == TM_ORIGIN_PYTORCH)
            assert_int_equal(integer(&r, "clock.list[1].difference_ps"), -60 * US);
        else
            assert_string_equal(why(&r, "clock.list[1].difference_ps"), "its start is not recorded");
        assert_int_equal(integer(&r, "matched"), 10);
        assert_int_equal(integer(&r, "late_ps"), 300 * US);
        end_rig(&r);
    }
}

static void a_start_that_the_ends_confirm_is_kept(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 1);
    two_hosts(&r, 20000, 20000, TM_ORIGIN_PYTORCH);
    assert_string_equal(text(&r, "clock.list[1].method"), "confirmed");
    assert_int_equal(integer(&r, "clock.list[1].offset_ps"), (int64_t)20000 * US);
    assert_int_equal(integer(&r, "clock.list[1].difference_ps"), 0);
    end_rig(&r);
}

static void clocks_that_do_not_agree_are_refused(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 1);
    two_hosts_of(&r, "all-reduce", 0, 7000, TM_ORIGIN_PYTORCH, 3000);
    assert_int_equal(integer(&r, "matched"), 0);
    assert_int_equal(integer(&r, "unmatched"), 20);
    assert_false(tm_is(bench_get(&r.bench, "collectives.skew.clock.aligned")));
    assert_int_equal(integer(&r, "clock.overlapping_pct"), 0);
    assert_string_equal(why(&r, "late_ps"),
                        "the clocks of the hosts do not agree: collectives of several hosts do not overlap");
    assert_string_equal(why(&r, "straggler"), why(&r, "late_ps"));
    assert_string_equal(why(&r, "clock.list"), "the clocks of the hosts do not agree");
    end_rig(&r);
}

/* The root of a broadcast may leave early: its end says nothing. */
static void hosts_without_a_clock_are_not_compared(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 1);
    two_hosts_of(&r, "broadcast", 0, 0, TM_ORIGIN_JSON_COPY, 0);
    assert_string_equal(why(&r, "clock.aligned"), "the profiles have no common clock for their start times");
    assert_string_equal(why(&r, "p95_ps"), "the profiles have no common clock for their start times");
    end_rig(&r);

    open_rig(&r, 1);
    two_hosts_of(&r, "broadcast", 0, (int64_t)2 * 86400 * US, TM_ORIGIN_PYTORCH, 0);
    assert_string_equal(why(&r, "clock.aligned"), "the profiles start more than a day apart");
    end_rig(&r);
}

static void devices_of_a_host_are_compared_where_hosts_are_not(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    for (uint32_t host = 0; host < 2; host++) {
        take(&r, "all-reduce", 0, 0, 50);
        take(&r, "all-reduce", 1, 20, 50);
        OK(bench_end(&r.bench));
        r.bench.trace.origin = TM_ORIGIN_OTHER;
        if (host == 0)
            OK(begin(&r));
    }
    OK(try_report(&r));
    assert_int_equal(integer(&r, "matched"), 2);
    assert_int_equal(integer(&r, "late_ps"), 40 * US);
    assert_false(tm_has(bench_get(&r.bench, "collectives.skew.clock.aligned")));
    end_rig(&r);
}

/* --- TPU --- */

static void an_asynchronous_one_counts_by_its_start(void **state)
{
    struct tm_config start = no_config, wait = no_config;
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    start.tpu_part = TM_TPU_START;
    wait.tpu_part = TM_TPU_WAIT;
    for (uint32_t device = 0; device < 2; device++) {
        struct tm_event event = collective(&r, "all-reduce-start", device, device * 7, device * 7 + 1);

        event.config = &start;
        event.record.config = 1;
        OK(bench_take(&r.bench, &event));
        event = collective(&r, "all-reduce-done", device, 50, 60);
        event.config = &wait;
        event.record.config = 2;
        OK(bench_take(&r.bench, &event));
    }
    report_rig(&r);
    assert_int_equal(integer(&r, "matched"), 1);
    assert_int_equal(integer(&r, "checked"), 0);
    assert_int_equal(integer(&r, "late_ps"), 7 * US);
    assert_int_equal(integer(&r, "members[0].collective_ps"), 11 * US);
    end_rig(&r);
}

/* --- waiting and moving --- */

static void take_kernel(struct rig *r, uint32_t device, int64_t begin_us, int64_t end_us)
{
    struct tm_event event = collective(r, "gemm", device, begin_us, end_us);

    event.record.class = TM_CLASS_KERNEL;
    event.level = TM_LEVEL_COMPUTE;
    OK(bench_take(&r->bench, &event));
}

static int64_t section(const struct rig *r, const char *path)
{
    char whole[128];

    (void)snprintf(whole, sizeof(whole), "collectives.%s", path);
    if (!tm_has(bench_get(&r->bench, whole)))
        fail_msg("%s is missing", whole);
    return tm_int(bench_get(&r->bench, whole));
}

static void exposed_time_is_split_where_the_last_device_comes(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 3);
    take(&r, "all-reduce", 0, 0, 100); /* waits [0, 10) and [30, 60), moves [60, 100) */
    take_kernel(&r, 0, 10, 30);
    take(&r, "all-reduce", 1, 40, 100); /* waits [40, 60) */
    take(&r, "all-reduce", 2, 60, 100); /* moves [60, 70) and [80, 100) */
    take_kernel(&r, 2, 70, 80);
    take(&r, "broadcast", 1, 200, 230); /* nobody else has it */
    report_rig(&r);
    assert_int_equal(section(&r, "total.exposed_wait_ps"), 60 * US);
    assert_int_equal(section(&r, "total.exposed_move_ps"), 110 * US);
    assert_int_equal(section(&r, "total.exposed_unmatched_ps"), 30 * US);
    assert_int_equal(section(&r, "total.exposed_ps"), 200 * US);
    assert_int_equal(section(&r, "rows[0].exposed_wait_ps"), 60 * US);
    assert_int_equal(section(&r, "rows[0].exposed_move_ps"), 110 * US);
    assert_int_equal(section(&r, "rows[0].exposed_unmatched_ps"), 0);
    assert_int_equal(section(&r, "rows[1].exposed_unmatched_ps"), 30 * US);
    assert_string_equal(tm_why(bench_get(&r.bench, "collectives.rows[1].exposed_wait_ps")),
                        "none of these collectives has a counterpart on another device");
    end_rig(&r);
}

/* What a device does in another step may be what others wait for. */
static void steps_that_do_not_count_are_matched_too(void **state)
{
    struct tm_event event;
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    event = collective(&r, "all-reduce", 0, 0, 50);
    event.chosen = false;
    OK(bench_take(&r.bench, &event));
    event = collective(&r, "all-reduce", 1, 30, 50);
    event.chosen = false;
    OK(bench_take(&r.bench, &event));
    for (uint32_t device = 0; device < 2; device++) {
        event = collective(&r, "all-reduce", device, 100 + 5 * device, 120);
        event.step = 1;
        OK(bench_take(&r.bench, &event));
    }
    report_rig(&r);
    assert_int_equal(integer(&r, "matched"), 1);
    assert_int_equal(integer(&r, "wait_ps"), 5 * US);
    assert_int_equal(section(&r, "total.exposed_ps"), 35 * US);
    assert_int_equal(section(&r, "total.exposed_wait_ps"), 5 * US);
    assert_int_equal(section(&r, "outside.exposed_wait_ps"), 30 * US);
    assert_int_equal(section(&r, "outside.exposed_move_ps"), 40 * US);
    assert_int_equal(section(&r, "outside.exposed_ps"), 70 * US);
    end_rig(&r);
}

/* A collective of a process group, with a message of `elements` of 4 bytes and its number there. */
static void take_numbered(struct rig *r, uint32_t device, uint64_t elements, int64_t sequence, int64_t begin_us,
                          int64_t end_us)
{
    const struct tm_message message = { .elements_in = elements,
                                        .element_bytes = 4,
                                        .group_size = 2,
                                        .operation = bench_name(&r->bench, "allreduce"),
                                        .group = bench_name(&r->bench, "7") };
    const struct tm_number number = { sequence };
    struct tm_config config = no_config;
    struct tm_event event = collective(r, "ncclDevKernel_Generic", device, begin_us, end_us);

    config.message = (uint32_t)tm_rows_count(r->bench.trace.messages);
    tm_rows_append(r->bench.trace.messages, &message);
    event.config = &config;
    event.record.config = config.message;
    event.args = &number;
    event.record.args_length = sizeof(number);
    event.step = (uint32_t)device; /* numbers hold across steps */
    OK(bench_take(&r->bench, &event));
}

static void recorded_numbers_tell_what_belongs_together(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    take_numbered(&r, 0, 8, 5, 0, 30); /* the other device was not being profiled yet */
    take_numbered(&r, 0, 8, 6, 100, 150);
    take_numbered(&r, 1, 8, 6, 140, 150);
    take_numbered(&r, 1, 8, 7, 200, 260);
    take_numbered(&r, 0, 8, 7, 220, 260);
    report_rig(&r);
    assert_int_equal(integer(&r, "matched"), 2);
    assert_int_equal(integer(&r, "unmatched"), 1);
    assert_int_equal(integer(&r, "late_ps"), (40 + 20) * US);
    assert_int_equal(integer(&r, "communicators"), 1);
    assert_int_equal(section(&r, "total.exposed_unmatched_ps"), 30 * US);
    end_rig(&r);
}

static void expect_rate(const struct rig *r, const char *path, double rate)
{
    const double found = tm_double(bench_get(&r->bench, path));

    assert_true(found > rate - 1 && found < rate + 1);
}

static void bandwidth_is_over_the_time_in_which_data_move(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    take_numbered(&r, 0, 1000000, 1, 0, 110); /* 4 MB in 10 us */
    take_numbered(&r, 1, 1000000, 1, 100, 110);
    take_numbered(&r, 1, 2000000, 2, 200, 220); /* alone: 8 MB in 20 us, or less */
    report_rig(&r);
    assert_string_equal(tm_text(bench_get(&r.bench, "collectives.rows[0].bandwidth_over")), "moving");
    expect_rate(&r, "collectives.rows[0].algorithm_bandwidth", 4e11);
    assert_string_equal(tm_text(bench_get(&r.bench, "collectives.rows[1].bandwidth_over")), "duration");
    expect_rate(&r, "collectives.rows[1].algorithm_bandwidth", 4e11);
    end_rig(&r);
}

/* Of a TPU the core waits at the -done for what the -start began. */
static void the_wait_for_an_asynchronous_one_is_split_where_the_last_one_starts_it(void **state)
{
    static const char *const texts[] = {
        "%all-reduce-start.3 = f32[8]{0} all-reduce-start(f32[8]{0} %x), replica_groups={{0,1}}",
        "%all-reduce-done.3 = f32[8]{0} all-reduce-done(f32[8]{0} %all-reduce-start.3)",
    };
    struct rig r;

    (void)state;
    open_rig(&r, 2);
    for (uint32_t device = 0; device < 2; device++) {
        for (uint32_t part = 0; part < 2; part++) {
            const struct tm_config config = { .level = TM_LEVEL_COLLECTIVE,
                                              .ordinal = TM_NONE,
                                              .tpu_part = part ? TM_TPU_WAIT : TM_TPU_START,
                                              .hlo_op = bench_name(&r.bench, "all-reduce-start.3"),
                                              .details = bench_name(&r.bench, texts[part]) };
            struct tm_event event =
                collective(&r, texts[part], device, part ? 20 + 2 * device : 25 * device, part ? 60 : 25 * device + 1);

            if (part && device)
                event = collective(&r, texts[part], device, 30, 60);
            event.config = &config;
            event.record.config = 1 + part;
            OK(bench_take(&r.bench, &event));
        }
    }
    report_rig(&r);
    assert_int_equal(integer(&r, "matched"), 1);
    /* device 0: its start [0, 1), its wait [20, 60); device 1 starts at 25, waits [30, 60) */
    assert_int_equal(section(&r, "total.exposed_wait_ps"), (1 + 5) * US);
    assert_int_equal(section(&r, "total.exposed_move_ps"), (35 + 1 + 30) * US);
    assert_int_equal(section(&r, "total.exposed_unmatched_ps"), 0);
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
    take(&r, "all-reduce", 0, 0, 50);
    take(&r, "all-reduce", 1, 20, 50);
    OK(bench_end(&r.bench));
    r.bench.tells_hosts = true;
    keep_bench(&r.bench, path);
    OK(try_report(&r)); /* saving changes nothing */
    assert_int_equal(integer(&r, "late_ps"), 20 * US);
    end_rig(&r);

    test_run_init(&run);
    OK(bench_open(&again, &run, &tm_collectives_stage));
    again.tells_hosts = true;
    load_kept_bench(&again, path, 1); /* another host of the same */
    OK(bench_report(&again));
    assert_int_equal(tm_int(bench_get(&again, "collectives.skew.matched")), 1);
    assert_int_equal(tm_int(bench_get(&again, "collectives.skew.late_ps")), 20 * US);
    assert_int_equal(tm_int(bench_get(&again, "collectives.skew.wait_ps")), 40 * US);
    assert_int_equal(tm_length(bench_get(&again, "collectives.skew.members")), 4);
    assert_string_equal(tm_text(bench_get(&again, "collectives.skew.members[3].device")), "h1/gpu:1");
    assert_int_equal(tm_int(bench_get(&again, "collectives.total.exposed_wait_ps")), 40 * US);
    assert_int_equal(tm_int(bench_get(&again, "collectives.total.exposed_move_ps")), 4 * 30 * US);
    assert_int_equal(tm_int(bench_get(&again, "collectives.skew.critical_path.total_ps")), 50 * US);
    /* two come last: neither is the only one */
    assert_int_equal(tm_int(bench_get(&again, "collectives.skew.critical_path.stragglers_saved_ps")), 0);
    bench_close(&again);
    assert_ledger_is_even(&run);
}

/* --- memory --- */

static tm_status take_many(struct rig *r, uint32_t count)
{
    tm_status st = TM_OK;

    for (uint32_t i = 0; i < count && st == TM_OK; i++) {
        for (uint32_t device = 0; device < 4 && st == TM_OK; device++) {
            struct tm_event event = collective(r, i % 2 ? "all-reduce.1" : "all-reduce.2", device,
                                               i * 100 + (device + i) % 4, i * 100 + 50);

            event.step = i % BENCH_STEPS;
            st = bench_take(&r->bench, &event);
        }
    }
    return st == TM_OK ? bench_end(&r->bench) : st;
}

/* The same on each host. */
static tm_status many(struct rig *r, uint32_t hosts, uint32_t count)
{
    tm_status st = try_rig(r, 4);

    for (uint32_t i = 0; i < hosts && st == TM_OK; i++) {
        if (i)
            st = begin(r);
        if (st == TM_OK)
            st = take_many(r, count);
    }
    return st == TM_OK ? try_report(r) : st;
}

static void many_collectives_keep_to_the_memory(void **state)
{
    (void)state;
    for (uint32_t hosts = 1; hosts <= 2; hosts++) {
        struct rig r;

        test_run_init(&r.run);
        OK(many(&r, hosts, 20000));
        assert_int_equal(integer(&r, "matched"), 20000);
        assert_int_equal(integer(&r, "late_ps"), (int64_t)20000 * 3 * US);
        assert_int_equal(integer(&r, "members[0].last_count"), 5000);
        assert_true(r.run.budget.peak_bytes[TM_ACCOUNT_TABLES] <=
                    tm_budget_share(&r.run.budget, TM_ACCOUNT_TABLES) / 64 * TM_TABLES_COLLECTIVES);
        if (hosts == 2)
            assert_int_equal(integer(&r, "critical_path.collectives"), 20000);
        end_rig(&r);
    }
}

static tm_status whole_job(struct tm_run *run)
{
    struct rig r = { .run = *run };
    const tm_status st = many(&r, 2, 1000);

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
        cmocka_unit_test(the_last_one_is_late_and_the_others_wait),
        cmocka_unit_test(those_who_take_turns_are_no_stragglers),
        cmocka_unit_test(where_the_numbers_differ_most_devices_win),
        cmocka_unit_test(steps_are_matched_by_their_numbers),
        cmocka_unit_test(what_does_not_overlap_is_not_one_collective),
        cmocka_unit_test(sends_do_not_tell_who_takes_part),
        cmocka_unit_test(one_device_waits_for_nobody),
        cmocka_unit_test(groups_of_a_message_are_told_apart),
        cmocka_unit_test(more_devices_than_a_group_has_are_not_matched),
        cmocka_unit_test(replica_groups_are_told_apart),
        cmocka_unit_test(groups_are_read_as_xla_prints_them),
        cmocka_unit_test(hosts_are_brought_together_by_their_clock),
        cmocka_unit_test(hosts_are_aligned_by_the_ends_of_collectives),
        cmocka_unit_test(a_start_that_the_ends_confirm_is_kept),
        cmocka_unit_test(clocks_that_do_not_agree_are_refused),
        cmocka_unit_test(hosts_without_a_clock_are_not_compared),
        cmocka_unit_test(devices_of_a_host_are_compared_where_hosts_are_not),
        cmocka_unit_test(an_asynchronous_one_counts_by_its_start),
        cmocka_unit_test(exposed_time_is_split_where_the_last_device_comes),
        cmocka_unit_test(steps_that_do_not_count_are_matched_too),
        cmocka_unit_test(recorded_numbers_tell_what_belongs_together),
        cmocka_unit_test(bandwidth_is_over_the_time_in_which_data_move),
        cmocka_unit_test(the_wait_for_an_asynchronous_one_is_split_where_the_last_one_starts_it),
        cmocka_unit_test(partials_of_two_hosts_are_compared),
        cmocka_unit_test(many_collectives_keep_to_the_memory),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("skew", tests, NULL, NULL);
}
