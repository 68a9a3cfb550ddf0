/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/skew.h"
#include "stages/figures/figure_stages.h"

#include <stdio.h>

#include "stages/figures/figure_rows.h"
#include "stages/resolve/classes.h"
#include "tests/support/kept_bench.h"
#include "tests/support/stage_driver.h"
#include "tests/support/test_run.h"

enum { US = 1000000 };

#define OK(call) assert_int_equal(call, TM_OK)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A host of two devices, with one message more than it has operations. */
struct rig {
    struct tm_run run;
    struct bench bench;
};

static const struct tm_config no_config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };

static tm_status try_rig(struct rig *r)
{
    const struct tm_message none = { .group_size = 0 };
    struct bench *b = &r->bench;

    if (bench_open(b, &r->run, &tm_collectives_stage) != TM_OK)
        return r->run.error.status;
    b->trace.messages = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(none), 1 << 16);
    b->trace.steps.marks = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_step_mark), 1 << 16);
    if (!b->trace.messages || !b->trace.steps.marks)
        return r->run.error.status;
    bench_devices(b, 2, TM_DEVICE_GPU, 0, INT64_MAX);
    tm_rows_append(b->trace.messages, &none);
    for (int64_t i = 0; i < BENCH_STEPS; i++)
        tm_rows_append(b->trace.steps.marks, &(struct tm_step_mark){ .number = 100 + i });
    return tm_failed(&r->run) ? r->run.error.status : bench_begin(b);
}

static void open_rig(struct rig *r)
{
    test_run_init(&r->run);
    OK(try_rig(r));
}

static void close_rig(struct rig *r)
{
    tm_rows_free(r->bench.trace.messages);
    tm_rows_free(r->bench.trace.steps.marks);
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

/* A configuration whose message is of `operation`, so many elements in and out, of 4 bytes each. */
static struct tm_config message_of(struct rig *r, const char *operation, uint64_t in, uint64_t out)
{
    const struct tm_message message = { .elements_in = in,
                                        .elements_out = out,
                                        .element_bytes = 4,
                                        .group_size = 8,
                                        .operation = bench_name(&r->bench, operation),
                                        .data_type = bench_name(&r->bench, "Float") };
    struct tm_config config = no_config;

    config.message = (uint32_t)tm_rows_count(r->bench.trace.messages);
    tm_rows_append(r->bench.trace.messages, &message);
    return config;
}

/* number: of the configuration, as the trace's table would have it */
static void take(struct rig *r, const char *name, const struct tm_config *config, uint32_t number, int64_t dur_us)
{
    struct tm_event event = bench_event(bench_name(&r->bench, name), TM_CLASS_COLLECTIVE, config, 0, dur_us * US);

    event.record.config = number;
    OK(bench_take(&r->bench, &event));
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

static bool has(const struct rig *r, const char *path)
{
    return tm_has(bench_get(&r->bench, path));
}

static void names_of_every_sort_tell_the_kind(void **state)
{
    /* clang-format off */
    static const struct { const char *name; enum tm_collective_kind kind; } rows[] = {
        { "allreduce", TM_ALL_REDUCE }, { "allreduce_coalesced", TM_ALL_REDUCE }, { "all-reduce-start.1", TM_ALL_REDUCE },
        { "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", TM_ALL_REDUCE },
        { "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", TM_ALL_REDUCE },
        { "void vllm::cross_device_reduce_1stage<float>(float*)", TM_ALL_REDUCE },
        { "_allgather_base", TM_ALL_GATHER }, { "all_gather.3", TM_ALL_GATHER }, { "MultimemAllGather", TM_ALL_GATHER },
        { "_reduce_scatter_base", TM_REDUCE_SCATTER }, { "all-reduce-scatter fusion", TM_REDUCE_SCATTER },
        { "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", TM_REDUCE_SCATTER },
        { "all_to_allv", TM_ALL_TO_ALL }, { "ragged-all-to-all.4", TM_ALL_TO_ALL }, { "nccl_all2all", TM_ALL_TO_ALL },
        { "ncclKernel_Broadcast_RING_LL_Sum_int8_t", TM_BROADCAST }, { "collective-broadcast", TM_BROADCAST },
        { "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", TM_SEND_RECV }, { "recv-done.3", TM_SEND_RECV },
        { "collective-permute-start.1", TM_PERMUTE }, { "ncclDevKernel_Generic", TM_OTHER_COLLECTIVE },
        { "barrier", TM_OTHER_COLLECTIVE }, { "all_red", TM_OTHER_COLLECTIVE }, { "", TM_OTHER_COLLECTIVE },
        { "all___reduce", TM_ALL_REDUCE }, { "_-_-", TM_OTHER_COLLECTIVE },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (tm_collective_kind_in(rows[i].name, strlen(rows[i].name)) != rows[i].kind)
            fail_msg("'%s' is %s", rows[i].name,
                     tm_collective_kind_name[tm_collective_kind_in(rows[i].name, strlen(rows[i].name))]);
}

static void ranks_tell_whether_a_group_lies_in_one_node(void **state)
{
    static const struct {
        const char *ranks;
        uint32_t node_devices;
        enum tm_collective_reach reach;
    } rows[] = {
        { "[0, 1, 2, 3]", 4, TM_REACH_NODE },
        { "[0, 1, 2, 3]", 2, TM_REACH_NODES },
        { "[4, 5]", 4, TM_REACH_NODE },
        { "[3, 4]", 4, TM_REACH_NODES },
        { "[0, 8, 16, 24]", 8, TM_REACH_NODES },
        { "[0, 1, ..., 7]", 8, TM_REACH_NODE },
        { "{{0,1},{2,3}}", 2, TM_REACH_NODE },
        { "{{0,2},{1,3}}", 2, TM_REACH_NODES },
        { "{{0,4},{1,5},{2,6},{3,7}}", 4, TM_REACH_NODES },
        { "{}", 4, TM_REACH_UNKNOWN },
        { "", 4, TM_REACH_UNKNOWN },
        { "[0, 1]", 0, TM_REACH_UNKNOWN },
        { "[4,2]<=[2,4]T(1,0)", 4, TM_REACH_UNKNOWN },
        { "[99999999999999999999999, 1]", 8, TM_REACH_NODES },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (tm_reach_of_ranks(rows[i].ranks, strlen(rows[i].ranks), rows[i].node_devices) != rows[i].reach)
            fail_msg("%s of %u", rows[i].ranks, rows[i].node_devices);
}

static void collectives_within_a_node_are_rows_of_their_own(void **state)
{
    static const char *const ranks[] = { "[8, 9, 10, 11, 12, 13, 14, 15]", "[0, 8, 16, 24, 32, 40, 48, 56]" };
    struct rig r;

    (void)state;
    open_rig(&r);
    r.bench.trace.origin = TM_ORIGIN_PYTORCH;
    r.bench.trace.environment.node_devices = 8;
    for (uint32_t i = 0; i < 2; i++) {
        const struct tm_message message = { .group_size = 8,
                                            .operation = bench_name(&r.bench, "allreduce"),
                                            .group_ranks = bench_name(&r.bench, ranks[i]) };
        struct tm_config config = no_config;

        config.message = i + 1;
        tm_rows_append(r.bench.trace.messages, &message);
        take(&r, "ncclDevKernel_Generic", &config, i + 1, 10 + 20 * i);
    }
    report_rig(&r);
    assert_int_equal(tm_length(bench_get(&r.bench, "collectives.rows")), 2);
    assert_string_equal(text(&r, "collectives.rows[0].reach"), "nodes");
    assert_string_equal(text(&r, "collectives.rows[1].reach"), "node");
    end_rig(&r);
}

static void messages_are_rows_by_kind_and_size(void **state)
{
    struct rig r;
    struct tm_config small, large, gather;

    (void)state;
    open_rig(&r);
    small = message_of(&r, "allreduce", 256, 256);
    large = message_of(&r, "allreduce", 1024, 1024);
    gather = message_of(&r, "_allgather_base", 1024, 8192);
    take(&r, "ncclDevKernel_Generic", &small, 1, 10);
    take(&r, "ncclDevKernel_Generic", &small, 1, 15);
    take(&r, "ncclDevKernel_Generic", &large, 2, 100);
    take(&r, "ncclDevKernel_Generic", &gather, 3, 50);
    report_rig(&r);
    assert_int_equal(integer(&r, "collectives.total.count"), 4);
    assert_int_equal(integer(&r, "collectives.total.total_ps"), 175 * US);
    assert_int_equal(integer(&r, "collectives.total.bytes"), 2 * 1024 + 4096 + 32768);
    assert_int_equal(integer(&r, "collectives.total.unknown_bytes_count"), 0);
    assert_int_equal(tm_length(bench_get(&r.bench, "collectives.rows")), 3);
    assert_string_equal(text(&r, "collectives.rows[0].kind"), "all-reduce");
    assert_int_equal(integer(&r, "collectives.rows[0].message_bytes"), 4096);
    assert_string_equal(text(&r, "collectives.rows[1].kind"), "all-gather");
    assert_int_equal(integer(&r, "collectives.rows[1].message_bytes"), 32768); /* the output of it */
    assert_int_equal(integer(&r, "collectives.rows[2].message_bytes"), 1024);
    assert_int_equal(integer(&r, "collectives.rows[2].count"), 2);
    assert_int_equal(integer(&r, "collectives.rows[2].bytes"), 2048);
    assert_int_equal(integer(&r, "collectives.rows[2].total_ps"), 25 * US);
    assert_int_equal(integer(&r, "collectives.rows[2].mean_ps"), 12500000);
    assert_int_equal(integer(&r, "collectives.rows[2].group_size"), 8);
    assert_string_equal(text(&r, "collectives.rows[2].data_type"), "Float");
    end_rig(&r);
}

static void without_a_message_sizes_are_null(void **state)
{
    struct rig r;
    struct tm_config op = no_config;

    (void)state;
    open_rig(&r);
    op.hlo_op = bench_name(&r.bench, "all-gather-start.2");
    take(&r, "ncclDevKernel_Generic", &op, 1, 10);
    take(&r, "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", &no_config, 0, 20);
    report_rig(&r);
    assert_string_equal(text(&r, "collectives.rows[0].kind"), "reduce-scatter");
    assert_string_equal(text(&r, "collectives.rows[1].kind"), "all-gather");
    assert_false(has(&r, "collectives.rows[0].message_bytes"));
    assert_false(has(&r, "collectives.rows[0].bytes"));
    assert_false(has(&r, "collectives.rows[0].group_size"));
    assert_false(has(&r, "collectives.rows[0].data_type"));
    assert_false(has(&r, "collectives.total.bytes"));
    assert_int_equal(integer(&r, "collectives.total.unknown_bytes_count"), 2);
    end_rig(&r);
}

static void a_message_past_all_measure_has_no_size(void **state)
{
    struct rig r;
    struct tm_config huge;

    (void)state;
    open_rig(&r);
    huge = message_of(&r, "allreduce", UINT64_MAX, 1);
    take(&r, "k", &huge, 1, INT64_MAX / US);
    take(&r, "k", &huge, 1, INT64_MAX / US);
    huge = message_of(&r, "allreduce", UINT64_MAX / 4, 1);
    take(&r, "k", &huge, 2, 1);
    take(&r, "k", &huge, 2, 1);
    report_rig(&r);
    assert_false(has(&r, "collectives.rows[0].message_bytes"));
    assert_true(tm_int(bench_get(&r.bench, "collectives.total.total_ps")) > 0);
    assert_int_equal(integer(&r, "collectives.total.count"), 4);
    assert_int_equal(integer(&r, "collectives.total.unknown_bytes_count"), 2);
    end_rig(&r);
}

static void what_is_no_collective_of_a_chosen_step_does_not_count(void **state)
{
    struct rig r;
    struct tm_event event;

    (void)state;
    open_rig(&r);
    event = bench_event(bench_name(&r.bench, "ncclKernel_AllReduce"), TM_CLASS_COLLECTIVE, &no_config, 0, US);
    event.chosen = false;
    OK(bench_take(&r.bench, &event));
    event = bench_event(bench_name(&r.bench, "gemm"), TM_CLASS_KERNEL, &no_config, 0, US);
    OK(bench_take(&r.bench, &event));
    event = bench_event(bench_name(&r.bench, "all-reduce"), TM_CLASS_COLLECTIVE, &no_config, 0, US);
    event.device = TM_NONE;
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_int_equal(integer(&r, "collectives.total.count"), 0);
    assert_int_equal(integer(&r, "collectives.total.bytes"), 0);
    assert_int_equal(tm_length(bench_get(&r.bench, "collectives.rows")), 0);
    end_rig(&r);
}

static void ops_of_a_tpu_are_told_by_opcode_and_counted_at_their_wait(void **state)
{
    static const struct {
        const char *text, *category;
        enum tm_tpu_part part;
        int64_t dur_us;
    } ops[] = {
        { "%async-collective-done.1 = f32[8] reduce-scatter-done(f32[8] %all-reduce.1)", "", TM_TPU_WAIT, 40 },
        { "%async-collective-start.1 = f32[8] reduce-scatter-start(f32[8] %all-reduce.1)", "", TM_TPU_START, 2 },
        { "%x.1 = f32[8] async-done(f32[8] %y), calls=%wrapped_all_gather, other=%all-reduce", "", TM_TPU_WAIT, 30 },
        { "%fusion.7 = f32[8] fusion(f32[8] %all-to-all.1)", "all-reduce fusion", TM_TPU_PLAIN, 20 },
    };
    struct rig r;

    (void)state;
    open_rig(&r);
    for (uint32_t i = 0; i < COUNT(ops); i++) {
        const struct tm_config config = { .level = TM_LEVEL_COLLECTIVE,
                                          .tpu_part = (uint8_t)ops[i].part,
                                          .details = bench_name(&r.bench, ops[i].text),
                                          .category = bench_name(&r.bench, ops[i].category) };

        take(&r, "op.1", &config, i + 1, ops[i].dur_us);
    }
    report_rig(&r);
    assert_int_equal(integer(&r, "collectives.total.count"), 3);
    assert_int_equal(tm_length(bench_get(&r.bench, "collectives.rows")), 3);
    assert_string_equal(text(&r, "collectives.rows[0].kind"), "reduce-scatter");
    assert_int_equal(integer(&r, "collectives.rows[0].count"), 1);
    assert_int_equal(integer(&r, "collectives.rows[0].total_ps"), 42 * US);
    assert_string_equal(text(&r, "collectives.rows[1].kind"), "all-gather");
    assert_string_equal(text(&r, "collectives.rows[2].kind"), "all-reduce");
    end_rig(&r);
}

static void a_start_without_its_wait_has_no_mean(void **state)
{
    const struct tm_config start = { .level = TM_LEVEL_COLLECTIVE, .tpu_part = TM_TPU_START };
    struct rig r;

    (void)state;
    open_rig(&r);
    take(&r, "send.1", &start, 1, 5);
    report_rig(&r);
    assert_string_equal(text(&r, "collectives.rows[0].kind"), "send-recv");
    assert_int_equal(integer(&r, "collectives.rows[0].count"), 0);
    assert_false(has(&r, "collectives.rows[0].mean_ps"));
    end_rig(&r);
}

static void rows_past_the_cap_are_the_rest(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    r.bench.settings.table_rows = 2;
    for (uint32_t i = 1; i <= 5; i++) {
        const struct tm_config config = message_of(&r, "allreduce", i, i);

        take(&r, "k", &config, i, i);
    }
    report_rig(&r);
    assert_int_equal(tm_length(bench_get(&r.bench, "collectives.rows")), 2);
    assert_int_equal(integer(&r, "collectives.rows[0].message_bytes"), 20);
    assert_int_equal(integer(&r, "collectives.rest.rows"), 3);
    assert_int_equal(integer(&r, "collectives.rest.count"), 3);
    assert_int_equal(integer(&r, "collectives.rest.total_ps"), 6 * US);
    end_rig(&r);
}

static void a_profile_without_a_device_has_none(void **state)
{
    struct tm_run run;
    struct bench b;

    (void)state;
    test_run_init(&run);
    OK(bench_open(&b, &run, &tm_collectives_stage));
    bench_devices(&b, 0, TM_DEVICE_GPU, 0, 0);
    OK(bench_begin(&b));
    OK(bench_end(&b));
    OK(bench_report(&b));
    assert_false(tm_has(bench_get(&b, "collectives")));
    bench_close(&b);
    assert_ledger_is_even(&run);
}

/* --- exposed time and bandwidth --- */

static void take_at(struct rig *r, const char *name, enum tm_class class, int64_t begin_us, int64_t end_us)
{
    const struct tm_event event =
        bench_event(bench_name(&r->bench, name), class, &no_config, begin_us * US, (end_us - begin_us) * US);

    OK(bench_take(&r->bench, &event));
}

static int64_t exposed(const struct rig *r, const char *kind)
{
    const struct tm_value *rows = bench_get(&r->bench, "collectives.rows");

    for (size_t i = 0; i < tm_length(rows); i++)
        if (strcmp(tm_text(tm_get(tm_at(rows, i), "kind")), kind) == 0)
            return tm_int(tm_get(tm_at(rows, i), "exposed_ps"));
    return -1;
}

static void exposed_time_belongs_to_one_of_those_that_run(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    take_at(&r, "all_reduce", TM_CLASS_COLLECTIVE, 0, 10); /* keeps [0, 10) */
    take_at(&r, "broadcast", TM_CLASS_COLLECTIVE, 2, 30);  /* the latest end: [10, 30) but for compute */
    take_at(&r, "all_gather", TM_CLASS_COLLECTIVE, 3, 25); /* nothing */
    take_at(&r, "kernel", TM_CLASS_KERNEL, 12, 20);
    take_at(&r, "reduce_scatter", TM_CLASS_COLLECTIVE, 30, 40); /* covered from its begin to 35 */
    take_at(&r, "kernel", TM_CLASS_KERNEL, 30, 35);
    take_at(&r, "all_to_all", TM_CLASS_COLLECTIVE, 50, 50); /* no length */
    report_rig(&r);
    assert_int_equal(exposed(&r, "all-reduce"), 10 * US);
    assert_int_equal(exposed(&r, "broadcast"), 12 * US);
    assert_int_equal(exposed(&r, "all-gather"), 0);
    assert_int_equal(exposed(&r, "reduce-scatter"), 5 * US);
    assert_int_equal(integer(&r, "collectives.total.exposed_ps"), 27 * US);
    assert_int_equal(integer(&r, "collectives.rest.exposed_ps"), 0);
    end_rig(&r);
}

static void exposed_time_is_cut_to_what_counts_of_the_device(void **state)
{
    struct tm_event event;
    struct rig r;

    (void)state;
    test_run_init(&r.run);
    OK(try_rig(&r));
    OK(bench_end(&r.bench));
    bench_devices(&r.bench, 2, TM_DEVICE_GPU, 5 * US, 40 * US);
    OK(bench_begin(&r.bench));
    take_at(&r, "all_reduce", TM_CLASS_COLLECTIVE, 0, 10); /* 5 of 10 */
    event = bench_event(bench_name(&r.bench, "broadcast"), TM_CLASS_COLLECTIVE, &no_config, 20 * US, 30 * US);
    event.chosen = false; /* but between the steps, in the device's span: 20 of 30 */
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_int_equal(exposed(&r, "all-reduce"), 5 * US);
    assert_int_equal(exposed(&r, "broadcast"), -1); /* a row is about the same collectives in all of its columns */
    assert_int_equal(integer(&r, "collectives.total.exposed_ps"), 5 * US);
    assert_int_equal(integer(&r, "collectives.outside.exposed_ps"), 20 * US);
    assert_int_equal(integer(&r, "collectives.total.count"), 1);
    end_rig(&r);
}

static bool is_near(const struct rig *r, const char *path, double value)
{
    const double is = tm_double(bench_get(&r->bench, path));

    return is > value - 1 && is < value + 1;
}

static void bandwidth_is_what_nccl_tests_call_it(void **state)
{
    static const struct {
        const char *operation;
        double factor;
    } rows[] = {
        { "allreduce", 2 * 7.0 / 8 },
        { "_allgather_base", 7.0 / 8 },
        { "_reduce_scatter_base", 7.0 / 8 },
        { "all_to_allv", 7.0 / 8 },
        { "broadcast", 1 },
        { "send", 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tm_config config;
        struct rig r;

        open_rig(&r);
        config = message_of(&r, rows[i].operation, 1000000, 1000000); /* 4 MB in 10 us and in 30 us */
        take(&r, "nccl", &config, 1, 10);
        take(&r, "nccl", &config, 1, 30);
        report_rig(&r);
        assert_true(is_near(&r, "collectives.rows[0].algorithm_bandwidth", 2e11));
        assert_true(is_near(&r, "collectives.rows[0].bus_bandwidth", 2e11 * rows[i].factor));
        end_rig(&r);
    }
}

static void the_hlo_tells_what_the_event_does_not(void **state)
{
    const struct tm_hlo_op ops[] = { { .group_size = 0 }, { .message_bytes = 4096, .group_size = 2 } };
    struct tm_config config = no_config;
    struct tm_event event;
    struct rig r;

    (void)state;
    open_rig(&r);
    r.bench.trace.hlo_ops = tm_rows_new(&r.run, TM_ACCOUNT_METADATA, sizeof(ops[0]), 1 << 16);
    assert_non_null(r.bench.trace.hlo_ops);
    tm_rows_append_many(r.bench.trace.hlo_ops, ops, 2);
    config.hlo = 1;
    config.level = TM_LEVEL_COLLECTIVE;
    config.tpu_part = TM_TPU_WAIT;
    event = bench_event(bench_name(&r.bench, "all-reduce-done"), TM_CLASS_TPU_OP, &config, 90 * US, 10 * US);
    event.record.config = 1;
    OK(bench_take(&r.bench, &event));
    config.tpu_part = TM_TPU_PLAIN;
    event = bench_event(bench_name(&r.bench, "all-reduce"), TM_CLASS_TPU_ASYNC, &config, 0, 100 * US);
    event.level = TM_LEVEL_NONE;
    event.record.config = 2;
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_int_equal(tm_length(bench_get(&r.bench, "collectives.rows")), 1);
    assert_int_equal(integer(&r, "collectives.rows[0].count"), 1);
    assert_int_equal(integer(&r, "collectives.rows[0].total_ps"), 10 * US);
    assert_int_equal(integer(&r, "collectives.rows[0].message_bytes"), 4096);
    assert_true(is_near(&r, "collectives.rows[0].bus_bandwidth", 40960000)); /* in flight */
    tm_rows_free(r.bench.trace.hlo_ops);
    end_rig(&r);
}

/* --- partials --- */

static void what_was_saved_is_read_again(void **state)
{
    char path[KEPT_BENCH_PATH];
    struct tm_config config;
    struct rig r;
    struct tm_run run;
    struct bench again;

    (void)state;
    open_rig(&r);
    config = message_of(&r, "_reduce_scatter_base", 8192, 1024);
    take(&r, "k", &config, 1, 7);
    take(&r, "k", &config, 1, 8);
    take(&r, "ncclKernel_Broadcast", &no_config, 0, 1);
    OK(bench_end(&r.bench));
    keep_bench(&r.bench, path);
    end_rig(&r);

    test_run_init(&run);
    OK(bench_open(&again, &run, &tm_collectives_stage));
    load_kept_bench(&again, path, 0); /* another host of the same: folds into the same rows */
    OK(bench_report(&again));
    assert_int_equal(tm_int(bench_get(&again, "collectives.total.count")), 6);
    assert_int_equal(tm_int(bench_get(&again, "collectives.total.bytes")), 4 * 32768);
    assert_int_equal(tm_int(bench_get(&again, "collectives.total.unknown_bytes_count")), 2);
    assert_int_equal(tm_length(bench_get(&again, "collectives.rows")), 2);
    assert_string_equal(tm_text(bench_get(&again, "collectives.rows[0].kind")), "reduce-scatter");
    assert_string_equal(tm_text(bench_get(&again, "collectives.rows[0].data_type")), "Float");
    assert_int_equal(tm_int(bench_get(&again, "collectives.rows[0].count")), 4);
    assert_true(tm_has(bench_get(&again, "collectives.rows[0].bus_bandwidth")));
    assert_int_equal(tm_int(bench_get(&again, "collectives.total.exposed_ps")), 2 * 8 * US); /* all begin at once */
    assert_int_equal(tm_int(bench_get(&again, "collectives.rows[0].group_size")), 8);
    bench_close(&again);
    assert_ledger_is_even(&run);
}

/* --- memory --- */

static tm_status many_sizes(struct rig *r, uint32_t count)
{
    tm_status st = try_rig(r);

    for (uint32_t i = 0; i < count && st == TM_OK; i++) {
        const struct tm_message message = { .elements_in = i + 1, .element_bytes = 1 };
        struct tm_config config = no_config;
        struct tm_event event = bench_event(0, TM_CLASS_COLLECTIVE, &config, 0, US);

        config.message = i + 1;
        event.record.config = i + 1;
        tm_rows_append(r->bench.trace.messages, &message);
        st = bench_take(&r->bench, &event);
    }
    if (st == TM_OK)
        st = bench_end(&r->bench);
    return st == TM_OK ? bench_report(&r->bench) : st;
}

static void many_sizes_keep_to_the_memory(void **state)
{
    struct rig r;

    (void)state;
    test_run_init(&r.run);
    OK(many_sizes(&r, 20000));
    assert_int_equal(integer(&r, "collectives.total.count"), 20000);
    assert_int_equal(integer(&r, "collectives.rest.rows"), 19500);
    assert_true(r.run.budget.peak_bytes[TM_ACCOUNT_TABLES] <=
                tm_budget_share(&r.run.budget, TM_ACCOUNT_TABLES) / 64 * TM_TABLES_COLLECTIVES);
    end_rig(&r);
}

/* So many that every table spills and is merged more than once; with more, the same places ask again. */
static tm_status whole_job(struct tm_run *run)
{
    struct rig r = { .run = *run };
    const tm_status st = many_sizes(&r, 5000);

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
        cmocka_unit_test(names_of_every_sort_tell_the_kind),
        cmocka_unit_test(ranks_tell_whether_a_group_lies_in_one_node),
        cmocka_unit_test(collectives_within_a_node_are_rows_of_their_own),
        cmocka_unit_test(messages_are_rows_by_kind_and_size),
        cmocka_unit_test(without_a_message_sizes_are_null),
        cmocka_unit_test(a_message_past_all_measure_has_no_size),
        cmocka_unit_test(what_is_no_collective_of_a_chosen_step_does_not_count),
        cmocka_unit_test(ops_of_a_tpu_are_told_by_opcode_and_counted_at_their_wait),
        cmocka_unit_test(a_start_without_its_wait_has_no_mean),
        cmocka_unit_test(rows_past_the_cap_are_the_rest),
        cmocka_unit_test(a_profile_without_a_device_has_none),
        cmocka_unit_test(exposed_time_belongs_to_one_of_those_that_run),
        cmocka_unit_test(exposed_time_is_cut_to_what_counts_of_the_device),
        cmocka_unit_test(bandwidth_is_what_nccl_tests_call_it),
        cmocka_unit_test(the_hlo_tells_what_the_event_does_not),
        cmocka_unit_test(what_was_saved_is_read_again),
        cmocka_unit_test(many_sizes_keep_to_the_memory),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("collectives", tests, NULL, NULL);
}
