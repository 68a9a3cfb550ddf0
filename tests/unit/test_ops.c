/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/ops.h"

#include <stdio.h>

#include "tests/support/kept_bench.h"
#include "tests/support/stage_driver.h"
#include "tests/support/test_run.h"

enum { US = 1000000 };
#define S_PER_PS 1e-12

#define OK(call) assert_int_equal(call, TM_OK)

/* A host of two devices of a kind, with the tables that a stage looks into. */
struct rig {
    struct tm_run run;
    struct bench bench;
    enum tm_device_kind kind;
};

static const struct tm_config no_config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };

static tm_status open_tables(struct rig *r)
{
    const struct tm_hlo_op no_op = { .has_flops = 0 };
    struct tm_trace *trace = &r->bench.trace;

    trace->configs = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(no_config), 1 << 17);
    trace->hlo_ops = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(no_op), 1 << 17);
    if (!trace->configs || !trace->hlo_ops)
        return r->run.error.status;
    tm_rows_append(trace->configs, &no_config);
    tm_rows_append(trace->hlo_ops, &no_op);
    return r->run.error.status;
}

static tm_status try_rig(struct rig *r)
{
    tm_status st = bench_open(&r->bench, &r->run, &tm_ops_stage);

    if (st == TM_OK)
        st = open_tables(r);
    if (st != TM_OK)
        return st;
    bench_devices(&r->bench, 2, r->kind, 0, 1000 * (int64_t)US);
    for (int i = 0; i < 2; i++) { /* 10^14 FLOP/s of bf16, 10^12 bytes/s */
        r->bench.devices[i].peak_tflops = 100;
        r->bench.devices[i].memory_bandwidth_bytes = 1000000000000;
    }
    return bench_begin(&r->bench);
}

static void open_rig(struct rig *r, enum tm_device_kind kind)
{
    test_run_init(&r->run);
    r->kind = kind;
    OK(try_rig(r));
}

static void close_rig(struct rig *r)
{
    tm_rows_free(r->bench.trace.configs);
    tm_rows_free(r->bench.trace.hlo_ops);
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

static int64_t integer(const struct rig *r, const char *path)
{
    if (!tm_has(bench_get(&r->bench, path)))
        fail_msg("%s is missing", path);
    return tm_int(bench_get(&r->bench, path));
}

static void near(const struct rig *r, const char *path, double want)
{
    const double have = tm_double(bench_get(&r->bench, path));

    if (!tm_has(bench_get(&r->bench, path)) || have < want * (1 - 1e-9) || have > want * (1 + 1e-9))
        fail_msg("%s is %g, not %g", path, have, want);
}

static const char *text(const struct rig *r, const char *path)
{
    return tm_text(bench_get(&r->bench, path));
}

static bool has(const struct rig *r, const char *path)
{
    return tm_has(bench_get(&r->bench, path));
}

/* Put a configuration into the host's table.  out: its number */
static uint32_t add_config(struct rig *r, const struct tm_config *config)
{
    tm_rows_append(r->bench.trace.configs, config);
    return (uint32_t)tm_rows_count(r->bench.trace.configs) - 1;
}

/* A configuration of an op of a program. */
static struct tm_config of_op(struct rig *r, const char *op, const char *module)
{
    struct tm_config config = no_config;

    config.hlo_op = bench_name(&r->bench, op);
    config.module = bench_name(&r->bench, module);
    return config;
}

/* What the program's HLO says of it: flops and bytes of one execution. */
static void add_hlo(struct rig *r, struct tm_config *config, const struct tm_hlo_op *op)
{
    config->hlo = (uint32_t)tm_rows_count(r->bench.trace.hlo_ops);
    tm_rows_append(r->bench.trace.hlo_ops, op);
}

/* An event of a line, in microseconds. */
struct span {
    const char *name;
    enum tm_class class;
    uint32_t device, track;
    int64_t begin_us, dur_us;
};

static void take(struct rig *r, const struct tm_config *config, uint32_t number, const struct span *span)
{
    struct tm_event event =
        bench_event(bench_name(&r->bench, span->name), span->class, config, span->begin_us * US, span->dur_us * US);

    event.record.config = number;
    event.record.track = span->track;
    event.device = span->device;
    OK(bench_take(&r->bench, &event));
}

/* --- operations --- */

static void operations_of_a_gpu_are_named_by_the_program(void **state)
{
    struct rig r;
    struct tm_config dot, add;
    uint32_t dot_number, add_number;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    dot = of_op(&r, "dot.1", "jit_f");
    dot.op = bench_name(&r.bench, "jit(f)/dot_general");
    add = of_op(&r, "add.2", "jit_f");
    dot_number = add_config(&r, &dot);
    add_number = add_config(&r, &add);
    take(&r, &dot, dot_number, &(struct span){ "sm90_xmma_gemm_bf16bf16_bf16f32", TM_CLASS_KERNEL, 0, 0, 0, 30 });
    take(&r, &dot, dot_number, &(struct span){ "sm90_xmma_gemm_bf16bf16_bf16f32", TM_CLASS_KERNEL, 1, 1, 5, 40 });
    take(&r, &add, add_number, &(struct span){ "loop_add_fusion", TM_CLASS_KERNEL, 0, 0, 30, 20 });
    take(&r, &no_config, 0, &(struct span){ "a_kernel_of_no_program", TM_CLASS_KERNEL, 0, 0, 50, 10 });
    take(&r, &no_config, 0, &(struct span){ "MemcpyH2D", TM_CLASS_COPY, 0, 0, 60, 10 });
    report_rig(&r);
    assert_string_equal(text(&r, "ops.basis"), "hlo_op");
    assert_int_equal(integer(&r, "ops.count"), 4);
    assert_int_equal(integer(&r, "ops.distinct"), 3);
    assert_int_equal(integer(&r, "ops.self_ps"), 100 * US);
    assert_string_equal(text(&r, "ops.rows[0].name"), "dot.1");
    assert_string_equal(text(&r, "ops.rows[0].module"), "jit_f");
    assert_string_equal(text(&r, "ops.rows[0].op"), "jit(f)/dot_general");
    assert_string_equal(text(&r, "ops.rows[0].category"), "gemm/dot");
    assert_string_equal(text(&r, "ops.rows[0].precision"), "bf16");
    assert_string_equal(text(&r, "ops.rows[0].first.device"), "h0/gpu:0");
    assert_int_equal(integer(&r, "ops.rows[0].first.dur_ps"), 30 * US);
    assert_int_equal(integer(&r, "ops.rows[0].device_count"), 2);
    assert_int_equal(integer(&r, "ops.rows[0].min_ps"), 30 * US);
    assert_int_equal(integer(&r, "ops.rows[0].max_ps"), 40 * US);
    assert_int_equal(integer(&r, "ops.rows[0].mean_ps"), 35 * US);
    near(&r, "ops.top_share_pct", 70);
    near(&r, "ops.rows[1].cumulative_pct", 90);
    assert_int_equal(integer(&r, "ops.rows_for_80_pct"), 2);
    assert_string_equal(text(&r, "ops.rows[2].name"), "a_kernel_of_no_program");
    assert_false(has(&r, "ops.rows[2].module"));
    assert_int_equal(integer(&r, "roofline.devices[0].busy_ps"), 70 * US);
    end_rig(&r);
}

static void numbers_behind_a_name_and_of_layers_make_no_family(void **state)
{
    static const struct {
        const char *name, *family;
    } names[] = {
        { "fusion.17", "fusion" },
        { "fusion", "fusion" },
        { "fusion.3.clone.1", "fusion" },
        { "fusion.3.clone", "fusion" },
        { "dot.remat2", "dot" },
        { "loop_add_fusion_3", "loop_add_fusion" },
        { "RPA-bq_32-bkvp_64-p_64-.17", "RPA-bq_32-bkvp_64-p_64-" },
        { "volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn" },
        { "conv2", "conv2" },
        { ".5", ".5" },
        { "7", "7" },
        { "", "" },
    }, paths[] = {
        { "jit(f)/layer_17/dot_general", "jit(f)/layer_*/dot_general" },
        { "transpose(jvp(layer_3))/dot", "transpose(jvp(layer_*))/dot" },
        { "model/[17]/mlp", "model/[*]/mlp" },
        { "model.blocks.17.attn/blocks.4", "model.blocks.*.attn/blocks.*" },
        { "RPA-bq_32-bkvp_64-p_64-/pallas_call", "RPA-bq_32-bkvp_64-p_64-/pallas_call" },
        { "conv2d/17", "conv2d/17" },
        { "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(tm_op_family_name(names[i].name, strlen(names[i].name)), strlen(names[i].family));
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char made[128];
        const size_t length = tm_op_family_path(paths[i].name, strlen(paths[i].name), made, sizeof(made) - 1);

        made[length] = 0;
        assert_string_equal(made, paths[i].family);
    }
    {
        char small[4];

        assert_int_equal(tm_op_family_path("layer_17/x", 10, small, sizeof(small)), 4); /* room for no more */
    }
}

/* Layers are operations of their own; what they are together is what counts. */
static void equal_operations_are_a_family(void **state)
{
    struct rig r;
    struct tm_config config;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    for (int i = 0; i < 512; i++) {
        char name[32], path[48];

        (void)snprintf(name, sizeof(name), "custom-call.%d", i);
        (void)snprintf(path, sizeof(path), "jit(f)/layer_%d/attention", i);
        config = of_op(&r, name, "jit_f");
        config.op = bench_name(&r.bench, path);
        take(&r, &config, add_config(&r, &config), &(struct span){ "k", TM_CLASS_KERNEL, 0, 0, i, i == 7 ? 2 : 1 });
    }
    config = of_op(&r, "dot.1", "jit_f");
    take(&r, &config, add_config(&r, &config), &(struct span){ "sgemm", TM_CLASS_KERNEL, 0, 0, 600, 300 });
    config = of_op(&r, "dot.2", "jit_f");
    config.op = bench_name(&r.bench, "jit(f)/head");
    take(&r, &config, add_config(&r, &config), &(struct span){ "sgemm", TM_CLASS_KERNEL, 0, 0, 900, 85 });
    for (int i = 0; i < 2; i++) { /* nothing tells that they are the same */
        config = of_op(&r, i ? "fusion.8" : "fusion.9", "jit_f");
        take(&r, &config, add_config(&r, &config), &(struct span){ "k", TM_CLASS_KERNEL, 0, 0, 990 + i, 1 });
    }
    report_rig(&r);
    assert_int_equal(integer(&r, "ops.distinct"), 516);
    assert_int_equal(integer(&r, "ops.distinct_families"), 5);
    near(&r, "ops.top_share_pct", 57);
    assert_int_equal(integer(&r, "ops.rows_for_80_pct"), 2);
    assert_string_equal(text(&r, "ops.families[0].family"), "custom-call");
    assert_string_equal(text(&r, "ops.families[0].op"), "jit(f)/layer_*/attention");
    assert_string_equal(text(&r, "ops.families[0].longest"), "custom-call.7");
    assert_string_equal(text(&r, "ops.families[0].category"), "attention");
    assert_int_equal(integer(&r, "ops.families[0].members"), 512);
    assert_true(tm_is(bench_get(&r.bench, "ops.families[0].counts_as_one")));
    assert_int_equal(integer(&r, "ops.families[0].self_ps"), 513 * US);
    near(&r, "ops.families[1].cumulative_pct", 100.0 * 813 / 900);
    assert_int_equal(integer(&r, "ops.families[2].members"), 1); /* of another path */
    assert_int_equal(integer(&r, "ops.families_rest.rows"), 0);
    assert_int_equal(integer(&r, "ops.rows[0].family"), 1);
    assert_int_equal(integer(&r, "ops.rows[2].family"), 0);
    assert_int_equal(integer(&r, "ops.rest.rows"), 16);
    end_rig(&r);
}

static void kernels_without_operations_stand_for_them(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    take(&r, &no_config, 0, &(struct span){ "volta_sgemm_128x64", TM_CLASS_KERNEL, 0, 0, 0, 3 });
    report_rig(&r);
    assert_string_equal(text(&r, "ops.basis"), "kernel");
    assert_string_equal(text(&r, "ops.rows[0].name"), "volta_sgemm_128x64");
    assert_false(has(&r, "roofline.source"));
    assert_false(has(&r, "roofline.memory_pct"));
    assert_non_null(strstr(tm_why(bench_get(&r.bench, "roofline.bytes")), "which operation"));
    end_rig(&r);
}

/* A loop of a TPU holds its body: the same op name in two programs is two operations. */
static void loops_count_by_self_time(void **state)
{
    struct rig r;
    struct tm_config loop = { .level = TM_LEVEL_CONTAINER, .program_id = 7, .has_flops = 1, .flops = 1000000 };
    struct tm_config body = { .level = TM_LEVEL_COMPUTE, .program_id = 7, .has_flops = 1, .flops = 1000 };
    struct tm_config other = { .level = TM_LEVEL_COMPUTE, .program_id = 8 };
    struct tm_config wait = { .level = TM_LEVEL_NONE, .program_id = 8, .tpu_part = TM_TPU_HOST_WAIT };

    (void)state;
    open_rig(&r, TM_DEVICE_TPU);
    body.details = bench_name(&r.bench, "%fusion.1 = bf16[8]{0} fusion(bf16[8] %p), kind=kLoop");
    take(&r, &loop, add_config(&r, &loop), &(struct span){ "while.3", TM_CLASS_TPU_OP, 0, 0, 0, 100 });
    take(&r, &body, add_config(&r, &body), &(struct span){ "fusion.1", TM_CLASS_TPU_OP, 0, 0, 10, 30 });
    take(&r, &body, 2, &(struct span){ "fusion.1", TM_CLASS_TPU_OP, 0, 0, 50, 30 });
    take(&r, &other, add_config(&r, &other), &(struct span){ "fusion.1", TM_CLASS_TPU_OP, 1, 1, 50, 5 });
    take(&r, &wait, add_config(&r, &wait), &(struct span){ "infeed.1", TM_CLASS_TPU_OP, 1, 1, 60, 15 });
    report_rig(&r);
    assert_int_equal(integer(&r, "ops.distinct"), 4);
    assert_int_equal(integer(&r, "ops.self_ps"), 120 * US);
    assert_int_equal(integer(&r, "ops.total_ps"), 180 * US);
    assert_string_equal(text(&r, "ops.rows[0].name"), "fusion.1");
    assert_string_equal(text(&r, "ops.rows[0].opcode"), "fusion");
    assert_string_equal(text(&r, "ops.rows[0].precision"), "bf16");
    assert_int_equal(integer(&r, "ops.rows[0].self_ps"), 60 * US);
    assert_int_equal(integer(&r, "ops.rows[0].flops"), 2000);
    assert_string_equal(text(&r, "ops.rows[1].name"), "while.3");
    assert_int_equal(integer(&r, "ops.rows[1].self_ps"), 40 * US);
    assert_int_equal(integer(&r, "ops.rows[1].total_ps"), 100 * US);
    assert_false(has(&r, "ops.rows[1].flops")); /* what lies in it has costs of its own */
    assert_string_equal(text(&r, "ops.rows[1].bound"), "none");
    assert_string_equal(text(&r, "ops.rows[2].name"), "infeed.1");
    assert_int_equal(integer(&r, "roofline.compute_ps"), 105 * US); /* without the wait */
    assert_int_equal(integer(&r, "roofline.devices[1].busy_ps"), 5 * US);
    assert_int_equal(integer(&r, "roofline.flops"), 2000);
    end_rig(&r);
}

static void deviations_are_of_self_times(void **state)
{
    char path[KEPT_BENCH_PATH];
    struct tm_config loop = { .level = TM_LEVEL_CONTAINER, .program_id = 7 };
    struct tm_config body = { .level = TM_LEVEL_COMPUTE, .program_id = 7 };
    struct rig r;
    struct tm_run run;
    struct bench again;

    (void)state;
    open_rig(&r, TM_DEVICE_TPU);
    take(&r, &loop, add_config(&r, &loop), &(struct span){ "while.3", TM_CLASS_TPU_OP, 0, 0, 0, 100 });
    take(&r, &body, add_config(&r, &body), &(struct span){ "dot.1", TM_CLASS_TPU_OP, 0, 0, 10, 30 });
    take(&r, &loop, 1, &(struct span){ "while.3", TM_CLASS_TPU_OP, 0, 0, 100, 102 });
    take(&r, &body, 2, &(struct span){ "dot.1", TM_CLASS_TPU_OP, 0, 0, 110, 12 });
    take(&r, &body, 2, &(struct span){ "last.1", TM_CLASS_TPU_OP, 0, 0, 210, 1 });
    OK(bench_end(&r.bench));
    keep_bench(&r.bench, path);
    OK(bench_report(&r.bench));
    assert_string_equal(text(&r, "ops.rows[0].name"), "while.3");
    assert_int_equal(integer(&r, "ops.rows[0].self_stddev_ps"), 14142136); /* 70 and 90: sqrt(200) */
    assert_int_equal(integer(&r, "ops.rows[1].self_stddev_ps"), 12727922); /* 30 and 12: sqrt(162) */
    assert_false(has(&r, "ops.rows[2].self_stddev_ps"));                   /* one alone */
    assert_true(*tm_why(bench_get(&r.bench, "ops.rows[2].self_stddev_ps")));
    end_rig(&r);

    test_run_init(&run);
    OK(bench_open(&again, &run, &tm_ops_stage));
    load_kept_bench(&again, path, 1);
    OK(bench_report(&again));
    assert_int_equal(tm_int(bench_get(&again, "ops.rows[0].count")), 4);
    assert_int_equal(tm_int(bench_get(&again, "ops.rows[0].self_stddev_ps")), 11547005); /* sqrt(400 / 3) */
    assert_int_equal(tm_int(bench_get(&again, "ops.rows[2].self_stddev_ps")), 0);
    bench_close(&again);
    assert_ledger_is_even(&run);
}

/* Kernels follow one another on a stream: what tells one execution from the next. */
static void an_operation_of_several_kernels_costs_once(void **state)
{
    static const struct {
        const char *op, *kernel;
        uint32_t track, step;
    } events[] = {
        { "conv.1", "im2col", 0, 0 }, { "conv.1", "gemm", 0, 0 }, /* 1 */
        { "other", "k", 0, 0 },       { "conv.1", "im2col", 0, 0 },
        { "conv.1", "gemm", 0, 0 },                                 /* 2: after another operation */
        { "conv.1", "im2col", 0, 0 }, { "conv.1", "gemm", 0, 0 },   /* 3: its first kernel again */
        { "conv.1", "gemm", 0, 1 },   { "conv.1", "reduce", 0, 1 }, /* 4: in another step */
        { "conv.1", "reduce", 1, 1 }, { "", "of no program", 1, 1 },
        { "conv.1", "gemm", 1, 1 }, /* 5: elsewhere */
        { "other", "k", 1, 1 },       { "conv.1", "fill", 1, 1 },
        { "conv.1", "fill", 1, 1 },   { "conv.1", "gemm", 1, 1 }, /* 6: fills before */
        { "conv.1", "fill", 1, 1 },   { "conv.1", "gemm", 1, 1 }, /* 7 */
    };
    struct rig r;
    struct tm_config conv, other;
    uint32_t numbers[2];

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    conv = of_op(&r, "conv.1", "jit_f");
    add_hlo(&r, &conv, &(struct tm_hlo_op){ .has_flops = 1, .flops = 100, .has_bytes = 1, .bytes = 10 });
    other = of_op(&r, "other", "jit_f");
    numbers[0] = add_config(&r, &conv);
    numbers[1] = add_config(&r, &other);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        const struct tm_config *config = !*events[i].op ? &no_config : events[i].op[0] == 'c' ? &conv : &other;
        struct tm_event event =
            bench_event(bench_name(&r.bench, events[i].kernel),
                        *events[i].kernel == 'f' ? TM_CLASS_MEMSET : TM_CLASS_KERNEL, config, (int64_t)i * US, US);

        event.record.config = config == &no_config ? 0 : numbers[config == &other];
        event.record.track = events[i].track;
        event.step = events[i].step;
        OK(bench_take(&r.bench, &event));
    }
    report_rig(&r);
    assert_string_equal(text(&r, "ops.rows[0].name"), "conv.1");
    assert_int_equal(integer(&r, "ops.rows[0].count"), 15);
    assert_int_equal(integer(&r, "ops.rows[0].executions"), 7);
    assert_int_equal(integer(&r, "ops.rows[0].flops"), 700);
    assert_int_equal(integer(&r, "ops.rows[0].bytes"), 70);
    near(&r, "ops.rows[0].flop_rate", 700 / (15 * US * S_PER_PS));
    end_rig(&r);
}

/* --- the roofline --- */

/* Peaks of the rig: 10^8 FLOP and 10^6 bytes a microsecond, so that they meet at 100 FLOP a byte. */
static void each_operation_is_measured_by_its_lower_roof(void **state)
{
    struct rig r;
    struct tm_config product = { .level = TM_LEVEL_COMPUTE,
                                 .has_flops = 1,
                                 .flops = 500000000,
                                 .has_bytes_accessed = 1,
                                 .bytes_accessed = 1000000 };
    struct tm_config stream = {
        .level = TM_LEVEL_COMPUTE, .has_flops = 1, .flops = 2000000, .has_bytes_accessed = 1, .bytes_accessed = 2000000
    };
    struct tm_config silent = { .level = TM_LEVEL_COMPUTE };
    struct tm_config wait = {
        .level = TM_LEVEL_D2D, .tpu_part = TM_TPU_WAIT, .has_bytes_accessed = 1, .bytes_accessed = 7
    };
    struct tm_config start = {
        .level = TM_LEVEL_D2D, .tpu_part = TM_TPU_START, .has_bytes_accessed = 1, .bytes_accessed = 7
    }; /* counted where it is waited for */

    (void)state;
    open_rig(&r, TM_DEVICE_TPU);
    product.category = bench_name(&r.bench, "convolution fusion");
    product.details = bench_name(&r.bench, "%fusion.1 = bf16[8]{0} fusion(bf16[8] %p), kind=kOutput");
    take(&r, &product, add_config(&r, &product), &(struct span){ "fusion.1", TM_CLASS_TPU_OP, 0, 0, 0, 10 });
    take(&r, &stream, add_config(&r, &stream), &(struct span){ "fusion.2", TM_CLASS_TPU_OP, 0, 0, 10, 8 });
    take(&r, &silent, add_config(&r, &silent), &(struct span){ "fusion.3", TM_CLASS_TPU_OP, 0, 0, 18, 4 });
    take(&r, &wait, add_config(&r, &wait), &(struct span){ "copy-done.4", TM_CLASS_TPU_OP, 0, 0, 22, 1 });
    take(&r, &start, add_config(&r, &start), &(struct span){ "copy-start.4", TM_CLASS_TPU_OP, 0, 0, 23, 0 });
    report_rig(&r);
    assert_string_equal(text(&r, "ops.rows[0].bound"), "compute");
    assert_string_equal(text(&r, "ops.rows[0].roof"), "compute");
    near(&r, "ops.rows[0].roof_pct", 50);
    near(&r, "ops.rows[0].intensity", 500);
    assert_string_equal(text(&r, "ops.rows[1].bound"), "memory");
    near(&r, "ops.rows[1].roof_pct", 25);
    assert_string_equal(text(&r, "ops.rows[2].bound"), "unknown");
    assert_false(has(&r, "ops.rows[2].roof_pct"));
    assert_string_equal(text(&r, "ops.rows[3].bound"), "none");
    assert_string_equal(text(&r, "ops.rows[3].name"), "copy-done.4");
    assert_int_equal(integer(&r, "ops.rows[3].bytes"), 7);
    assert_false(has(&r, "ops.rows[3].bandwidth")); /* they moved in another time */
    assert_string_equal(text(&r, "roofline.source"), "stats");
    assert_int_equal(integer(&r, "roofline.compute_ps"), 22 * US);
    assert_int_equal(integer(&r, "roofline.known_ps"), 18 * US);
    near(&r, "roofline.known_pct", 1800.0 / 22);
    assert_int_equal(integer(&r, "roofline.bound_ps.compute"), 10 * US);
    assert_int_equal(integer(&r, "roofline.bound_ps.memory"), 8 * US);
    assert_int_equal(integer(&r, "roofline.bound_ps.unknown"), 4 * US);
    assert_string_equal(text(&r, "roofline.bound"), "compute");
    near(&r, "roofline.devices[0].flops_pct", 100 * 502e6 / (23 * 1e8));
    near(&r, "roofline.devices[0].memory_pct", 100 * 3000007 / (23 * 1e6));
    near(&r, "roofline.mfu_pct", 100 * 502e6 / (2000 * 1e8)); /* both devices have a span of 1 ms */
    assert_string_equal(text(&r, "roofline.devices[0].peak_precision"), "bf16");
    assert_string_equal(text(&r, "roofline.precisions[1].precision"), "bf16");
    assert_int_equal(integer(&r, "roofline.precisions[1].matrix_ps"), 10 * US);
    assert_int_equal(integer(&r, "roofline.precisions[1].tensor_core_ps"), 10 * US);
    assert_int_equal(tm_length(bench_get(&r.bench, "roofline.far")), 1);
    assert_string_equal(text(&r, "roofline.far[0].name"), "fusion.2");
    assert_int_equal(integer(&r, "roofline.far[0].lost_ps"), 6 * US);
    end_rig(&r);
}

static void what_reaches_neither_roof_is_bound_by_latency(void **state)
{
    struct rig r;
    struct tm_config op = {
        .level = TM_LEVEL_COMPUTE, .has_flops = 1, .flops = 1, .has_bytes_accessed = 1, .bytes_accessed = 1999999
    }; /* of 2 MB are 20 % of 10 us */
    struct tm_config more = op;

    (void)state;
    more.bytes_accessed = 2000000;
    open_rig(&r, TM_DEVICE_TPU);
    take(&r, &op, add_config(&r, &op), &(struct span){ "fusion.1", TM_CLASS_TPU_OP, 0, 0, 0, 10 });
    take(&r, &more, add_config(&r, &more), &(struct span){ "fusion.2", TM_CLASS_TPU_OP, 0, 0, 10, 10 });
    take(&r, &op, add_config(&r, &op), &(struct span){ "fusion.1", TM_CLASS_TPU_OP, 0, 0, 20, 10 });
    report_rig(&r);
    assert_string_equal(text(&r, "ops.rows[0].bound"), "latency");
    assert_string_equal(text(&r, "ops.rows[0].roof"), "memory");
    assert_true(has(&r, "ops.rows[0].roof_pct"));
    assert_string_equal(text(&r, "ops.rows[1].bound"), "memory");
    assert_int_equal(integer(&r, "roofline.bound_ps.latency"), 20 * US);
    assert_string_equal(text(&r, "roofline.bound"), "latency");
    end_rig(&r);
}

static void a_recorded_0_of_a_custom_call_is_not_known(void **state)
{
    struct rig r;
    struct tm_config known = {
        .level = TM_LEVEL_COMPUTE, .has_flops = 1, .flops = 1000, .has_bytes_accessed = 1, .bytes_accessed = 1000
    };
    struct tm_config zero = { .level = TM_LEVEL_COMPUTE, .has_flops = 1, .has_bytes_accessed = 1 };
    struct tm_config told, named = zero;

    (void)state;
    open_rig(&r, TM_DEVICE_TPU);
    zero.category = bench_name(&r.bench, "custom-call");
    named.details = bench_name(&r.bench, "%attention.2 = bf16[8]{0} custom-call(bf16[8] %p), custom_call_target=\"x\"");
    told = zero;
    told.flops = 500;
    take(&r, &known, add_config(&r, &known), &(struct span){ "fusion.1", TM_CLASS_TPU_OP, 0, 0, 0, 39 });
    take(&r, &zero, add_config(&r, &zero), &(struct span){ "RPA.1", TM_CLASS_TPU_OP, 0, 0, 39, 6 });
    take(&r, &named, add_config(&r, &named), &(struct span){ "attention.2", TM_CLASS_TPU_OP, 0, 0, 45, 5 });
    take(&r, &told, add_config(&r, &told), &(struct span){ "RPA.3", TM_CLASS_TPU_OP, 0, 0, 50, 1 });
    report_rig(&r);
    for (int i = 1; i < 3; i++) {
        char path[32];

        (void)snprintf(path, sizeof(path), "ops.rows[%d].flops", i);
        assert_false(has(&r, path));
        (void)snprintf(path, sizeof(path), "ops.rows[%d].bytes", i);
        assert_false(has(&r, path));
        (void)snprintf(path, sizeof(path), "ops.rows[%d].bound", i);
        assert_string_equal(text(&r, path), "unknown");
    }
    assert_int_equal(integer(&r, "ops.rows[3].flops"), 500); /* the compiler recorded it */
    assert_int_equal(integer(&r, "roofline.known_ps"), 39 * US);
    assert_int_equal(integer(&r, "roofline.flops_known_ps"), 40 * US);
    assert_int_equal(integer(&r, "roofline.flops"), 1500);
    assert_false(has(&r, "roofline.flop_rate")); /* 40 of 51 are 78 % */
    assert_false(has(&r, "roofline.mfu_pct"));
    assert_false(has(&r, "roofline.devices[0].bandwidth"));
    assert_non_null(strstr(tm_why(bench_get(&r.bench, "roofline.flop_rate")), "only 78.4%"));
    end_rig(&r);
}

static void more_than_the_peak_is_shown(void **state)
{
    struct rig r;
    struct tm_config op = {
        .level = TM_LEVEL_COMPUTE, .has_flops = 1, .flops = 1, .has_bytes_accessed = 1, .bytes_accessed = 40000000
    };

    (void)state;
    open_rig(&r, TM_DEVICE_TPU);
    take(&r, &op, add_config(&r, &op), &(struct span){ "fusion.1", TM_CLASS_TPU_OP, 0, 0, 0, 10 });
    report_rig(&r);
    near(&r, "ops.rows[0].roof_pct", 400);
    near(&r, "roofline.memory_pct", 400);
    assert_string_equal(text(&r, "roofline.devices[0].peak_precision"), "bf16, on Tensor Cores or the MXU");
    assert_int_equal(tm_length(bench_get(&r.bench, "roofline.far")), 0);
    end_rig(&r);
}

static void what_the_hlo_says_of_an_operation_is_used(void **state)
{
    struct rig r;
    struct tm_config dot, opaque;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    dot = of_op(&r, "fusion.9", "");
    add_hlo(&r, &dot,
            &(struct tm_hlo_op){ .opcode = bench_name(&r.bench, "fusion"),
                                 .module = bench_name(&r.bench, "jit_g"),
                                 .path = bench_name(&r.bench, "jit(g)/mlp/dot_general"),
                                 .source = bench_name(&r.bench, "model.py:12"),
                                 .precision = TM_F32,
                                 .has_matrix = 1,
                                 .has_flops = 1,
                                 .flops = 12,
                                 .has_bytes = 1,
                                 .bytes = 34 });
    opaque = of_op(&r, "custom-call.1", "jit_g");
    add_hlo(&r, &opaque,
            &(struct tm_hlo_op){ .opcode = bench_name(&r.bench, "custom-call"),
                                 .target = bench_name(&r.bench, "library"),
                                 .has_bytes = 1,
                                 .bytes = 5 });
    take(&r, &dot, add_config(&r, &dot), &(struct span){ "s1688gemm_tensorop", TM_CLASS_KERNEL, 0, 0, 0, 10 });
    take(&r, &opaque, add_config(&r, &opaque), &(struct span){ "k", TM_CLASS_KERNEL, 0, 0, 10, 4 });
    report_rig(&r);
    assert_string_equal(text(&r, "ops.rows[0].module"), "jit_g");
    assert_string_equal(text(&r, "ops.rows[0].opcode"), "fusion");
    assert_string_equal(text(&r, "ops.rows[0].category"), "gemm/dot");
    assert_string_equal(text(&r, "ops.rows[0].op"), "jit(g)/mlp/dot_general");
    assert_string_equal(text(&r, "ops.rows[0].source"), "model.py:12");
    assert_string_equal(text(&r, "ops.rows[0].precision"), "tf32"); /* f32 on tensor cores */
    assert_string_equal(text(&r, "roofline.source"), "hlo");
    assert_string_equal(text(&r, "ops.rows[1].bound"), "unknown"); /* its operations are its library's secret */
    assert_false(has(&r, "ops.rows[1].bytes"));
    end_rig(&r);
}

/* --- limits --- */

static void what_is_not_chosen_does_not_count(void **state)
{
    struct rig r;
    struct tm_event event;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    event = bench_event(bench_name(&r.bench, "k"), TM_CLASS_KERNEL, &no_config, 0, US);
    event.chosen = false;
    OK(bench_take(&r.bench, &event));
    event = bench_event(bench_name(&r.bench, "k"), TM_CLASS_KERNEL, &no_config, 0, US);
    event.device = TM_NONE;
    OK(bench_take(&r.bench, &event));
    event = bench_event(bench_name(&r.bench, "CudaGraphExec:1"), TM_CLASS_GRAPH, &no_config, 0, US);
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_int_equal(integer(&r, "ops.count"), 0);
    assert_false(has(&r, "ops.top_share_pct"));
    assert_int_equal(integer(&r, "roofline.devices[0].busy_ps"), US); /* a graph keeps its device busy */
    end_rig(&r);
}

static void sums_stay_at_the_largest_number(void **state)
{
    struct rig r;
    struct tm_config op = { .level = TM_LEVEL_COMPUTE,
                            .has_flops = 1,
                            .flops = UINT64_MAX,
                            .has_bytes_accessed = 1,
                            .bytes_accessed = UINT64_MAX };

    (void)state;
    open_rig(&r, TM_DEVICE_TPU);
    for (int i = 0; i < 3; i++)
        take(&r, &op, i ? 1 : add_config(&r, &op), &(struct span){ "f", TM_CLASS_TPU_OP, 0, 0, i, INT64_MAX / US });
    report_rig(&r);
    near(&r, "roofline.flops", 3 * (double)UINT64_MAX);
    assert_int_equal(integer(&r, "ops.total_ps"), INT64_MAX);
    end_rig(&r);
}

static void a_profile_without_a_device_has_none(void **state)
{
    struct tm_run run;
    struct bench b;

    (void)state;
    test_run_init(&run);
    OK(bench_open(&b, &run, &tm_ops_stage));
    bench_devices(&b, 0, TM_DEVICE_GPU, 0, 0);
    OK(bench_begin(&b));
    OK(bench_end(&b));
    OK(bench_report(&b));
    assert_false(tm_has(bench_get(&b, "ops")));
    assert_false(tm_has(bench_get(&b, "roofline")));
    bench_close(&b);
    assert_ledger_is_even(&run);
}

/* --- partials --- */

static void what_was_saved_is_read_again(void **state)
{
    char path[KEPT_BENCH_PATH];
    struct tm_config op = {
        .level = TM_LEVEL_COMPUTE, .has_flops = 1, .flops = 600, .has_bytes_accessed = 1, .bytes_accessed = 60
    };
    struct rig r;
    struct tm_run run;
    struct bench again;

    (void)state;
    open_rig(&r, TM_DEVICE_TPU);
    take(&r, &op, add_config(&r, &op), &(struct span){ "fusion.1", TM_CLASS_TPU_OP, 0, 0, 0, 10 });
    take(&r, &op, 1, &(struct span){ "fusion.1", TM_CLASS_TPU_OP, 1, 1, 5, 10 });
    OK(bench_end(&r.bench));
    keep_bench(&r.bench, path);
    end_rig(&r);

    test_run_init(&run);
    OK(bench_open(&again, &run, &tm_ops_stage));
    load_kept_bench(&again, path, 1); /* another host of the same */
    OK(bench_report(&again));
    assert_int_equal(tm_int(bench_get(&again, "ops.distinct")), 1);
    assert_string_equal(tm_text(bench_get(&again, "ops.families[0].family")), "fusion.1"); /* it has no path */
    assert_int_equal(tm_int(bench_get(&again, "ops.families[0].count")), 4);
    assert_int_equal(tm_int(bench_get(&again, "ops.rows[0].count")), 4);
    assert_int_equal(tm_int(bench_get(&again, "ops.rows[0].device_count")), 4);
    assert_int_equal(tm_int(bench_get(&again, "ops.rows[0].flops")), 2400);
    assert_int_equal(tm_int(bench_get(&again, "roofline.bytes")), 240);
    assert_int_equal(tm_length(bench_get(&again, "roofline.devices")), 4);
    assert_int_equal(tm_int(bench_get(&again, "roofline.devices[3].busy_ps")), 10 * US);
    assert_int_equal(tm_int(bench_get(&again, "roofline.busy_ps")), 40 * US);
    bench_close(&again);
    assert_ledger_is_even(&run);
}

/* --- memory --- */

enum { MANY = 20000, FEWER = 3000 };

/* Nested by tens, on two lines: each operation occurs once. */
static tm_status many_ops(struct rig *r, uint32_t count)
{
    tm_status st;

    r->kind = TM_DEVICE_CPU;
    st = try_rig(r);
    for (uint32_t i = 0; i < count && st == TM_OK; i++) {
        struct tm_config config = no_config;
        struct tm_event event = bench_event(0, TM_CLASS_CPU_OP, &config, (int64_t)i * US, (10 - i % 10) * US);
        char name[32];

        (void)snprintf(name, sizeof(name), "add.%u", i);
        config.hlo_op = bench_name(&r->bench, name);
        if (!config.hlo_op)
            return r->run.error.status;
        event.record.name = config.hlo_op;
        event.record.config = i + 1;
        event.record.track = i % 2;
        event.device = i % 2;
        tm_rows_append(r->bench.trace.configs, &config);
        st = bench_take(&r->bench, &event);
    }
    if (st == TM_OK)
        st = bench_end(&r->bench);
    return st == TM_OK ? bench_report(&r->bench) : st;
}

static void many_operations_keep_to_the_memory(void **state)
{
    struct rig r;

    (void)state;
    test_run_init(&r.run);
    OK(many_ops(&r, MANY));
    assert_int_equal(integer(&r, "ops.count"), MANY);
    assert_int_equal(integer(&r, "ops.distinct"), MANY);
    assert_int_equal(integer(&r, "ops.rest.rows"), MANY - 500);
    assert_int_equal(integer(&r, "ops.distinct_families"), 1);
    assert_int_equal(integer(&r, "ops.families[0].members"), MANY);
    assert_int_equal(integer(&r, "ops.self_ps") % US, 0);
    assert_true(r.run.budget.peak_bytes[TM_ACCOUNT_TABLES] <=
                tm_budget_share(&r.run.budget, TM_ACCOUNT_TABLES) / 64 * 7);
    end_rig(&r);
}

static tm_status whole_job(struct tm_run *run)
{
    struct rig r = { .run = *run };
    const tm_status st = many_ops(&r, FEWER);

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
        cmocka_unit_test(operations_of_a_gpu_are_named_by_the_program),
        cmocka_unit_test(numbers_behind_a_name_and_of_layers_make_no_family),
        cmocka_unit_test(equal_operations_are_a_family),
        cmocka_unit_test(kernels_without_operations_stand_for_them),
        cmocka_unit_test(loops_count_by_self_time),
        cmocka_unit_test(deviations_are_of_self_times),
        cmocka_unit_test(an_operation_of_several_kernels_costs_once),
        cmocka_unit_test(each_operation_is_measured_by_its_lower_roof),
        cmocka_unit_test(what_reaches_neither_roof_is_bound_by_latency),
        cmocka_unit_test(a_recorded_0_of_a_custom_call_is_not_known),
        cmocka_unit_test(more_than_the_peak_is_shown),
        cmocka_unit_test(what_the_hlo_says_of_an_operation_is_used),
        cmocka_unit_test(what_is_not_chosen_does_not_count),
        cmocka_unit_test(sums_stay_at_the_largest_number),
        cmocka_unit_test(a_profile_without_a_device_has_none),
        cmocka_unit_test(what_was_saved_is_read_again),
        cmocka_unit_test(many_operations_keep_to_the_memory),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("ops", tests, NULL, NULL);
}
