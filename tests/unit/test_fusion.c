/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/fusion.h"

#include <stdio.h>
#include <stdlib.h>

#include "stages/figures/kernels.h"
#include "tests/support/kept_bench.h"
#include "tests/support/stage_driver.h"
#include "tests/support/test_run.h"

enum { US = 1000000, TRACKS = 4 };

#define OK(call) assert_int_equal(call, TM_OK)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct tm_config no_config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };

/* A host of two GPUs of compute capability 8.0, four streams, and a table of HLO ops. */
struct rig {
    struct tm_run run;
    struct bench bench;
    struct tm_rows *tracks, *hlo_ops, *marks;
    uint32_t next_config;
};

static tm_status try_tables(struct rig *r)
{
    const struct tm_track track = { .name = bench_name(&r->bench, "Stream #7"), .line = TM_LINE_STREAM };
    const struct tm_hlo_op none = { .name = 0 };

    r->tracks = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), 1 << 16);
    r->hlo_ops = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_hlo_op), 1 << 16);
    r->marks = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_step_mark), 1 << 16);
    if (!r->tracks || !r->hlo_ops || !r->marks)
        return r->run.error.status;
    for (int i = 0; i < TRACKS; i++)
        tm_rows_append(r->tracks, &track);
    for (int i = 0; i < BENCH_STEPS; i++)
        tm_rows_append(r->marks, &(struct tm_step_mark){ .number = 100 + i });
    tm_rows_append(r->hlo_ops, &none);
    return r->run.error.status;
}

static tm_status try_rig(struct rig *r)
{
    struct bench *b = &r->bench;
    tm_status st = bench_open(b, &r->run, &tm_fusion_stage);

    if (st == TM_OK)
        st = try_tables(r);
    if (st != TM_OK)
        return st;
    b->trace.tracks = r->tracks;
    b->trace.hlo_ops = r->hlo_ops;
    b->trace.steps.marks = r->marks;
    bench_devices(b, 2, TM_DEVICE_GPU, 0, INT64_MAX);
    for (int i = 0; i < 2; i++)
        b->devices[i].capability_major = 8;
    return bench_begin(b);
}

static void open_rig(struct rig *r)
{
    memset(r, 0, sizeof(*r));
    test_run_init(&r->run);
    OK(try_rig(r));
}

static void close_rig(struct rig *r)
{
    tm_rows_free(r->tracks);
    tm_rows_free(r->hlo_ops);
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

static struct tm_event kernel(struct rig *r, const char *name, int64_t start_us, int64_t dur_us)
{
    return bench_event(bench_name(&r->bench, name), TM_CLASS_KERNEL, &no_config, start_us * US, dur_us * US);
}

static void take(struct rig *r, const char *name, int64_t start_us, int64_t dur_us)
{
    const struct tm_event event = kernel(r, name, start_us, dur_us);

    OK(bench_take(&r->bench, &event));
}

/* A kernel of a framework op, or of an HLO op with these traits. */
static void take_op(struct rig *r, const char *name, const char *op, const struct tm_hlo_op *hlo, int64_t start_us)
{
    struct tm_config config = no_config;
    struct tm_event event = kernel(r, name, start_us, 10);

    config.op = op ? bench_name(&r->bench, op) : 0;
    if (hlo) {
        config.hlo = (uint32_t)tm_rows_count(r->hlo_ops);
        tm_rows_append(r->hlo_ops, hlo);
    }
    event.config = &config;
    event.record.config = ++r->next_config;
    OK(bench_take(&r->bench, &event));
}

static int64_t integer(const struct rig *r, const char *path)
{
    if (!tm_has(bench_get(&r->bench, path)))
        fail_msg("%s is missing", path);
    return tm_int(bench_get(&r->bench, path));
}

static double number(const struct rig *r, const char *path)
{
    return tm_double(bench_get(&r->bench, path));
}

static const char *text(const struct rig *r, const char *path)
{
    return tm_text(bench_get(&r->bench, path));
}

static bool has(const struct rig *r, const char *path)
{
    return tm_has(bench_get(&r->bench, path));
}

/* --- small kernels --- */

static void kernels_are_small_below_their_limits(void **state)
{
    struct rig r;
    struct tm_event event;

    (void)state;
    open_rig(&r);
    take(&r, "a", 0, 9);
    take(&r, "b", 1000, 10);
    take(&r, "c", 2000, 99);
    take(&r, "d", 3000, 100);
    event = kernel(&r, "outside", 4000, 5);
    event.chosen = false;
    OK(bench_take(&r.bench, &event));
    event = kernel(&r, "ncclDevKernel_AllReduce", 5000, 50);
    event.record.class = TM_CLASS_COLLECTIVE;
    event.level = TM_LEVEL_COLLECTIVE;
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_int_equal(integer(&r, "fusion.kernels.count"), 4);
    assert_int_equal(integer(&r, "fusion.kernels.total_ps"), 218 * US);
    assert_int_equal(integer(&r, "fusion.small.count"), 3);
    assert_int_equal(integer(&r, "fusion.small.total_ps"), 118 * US);
    assert_int_equal(integer(&r, "fusion.small.collectives.count"), 1);
    assert_int_equal(integer(&r, "fusion.small.collectives.total_ps"), 50 * US);
    assert_true(number(&r, "fusion.small.share_pct") > 54.12 && number(&r, "fusion.small.share_pct") < 54.13);
    assert_int_equal(integer(&r, "fusion.tiny.count"), 1);
    assert_true(number(&r, "fusion.per_step") == 4.0 / (2 * BENCH_STEPS));
    end_rig(&r);
}

/* Kernels of ATen in a row are a chain, whatever the pauses; kernels of compilers are as large as these made them. */
static void pointwise_kernels_of_eager_mode_make_chains(void **state)
{
    static const char add[] =
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)";
    static const char mean[] = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(int)";
    struct rig r;

    (void)state;
    open_rig(&r);
    take(&r, add, 0, 10);
    take(&r, mean, 50, 30);
    take(&r, add, 90, 20); /* 60 us, of which the longest takes 30 */
    take(&r, "sgemm_128", 120, 5);
    take(&r, add, 130, 10); /* alone */
    take(&r, "sgemm_128", 150, 5);
    take(&r, "triton_poi_fused_add_0", 160, 10);
    take(&r, "loop_add_fusion", 180, 10);
    for (int i = 0; i < 9; i++) /* one kernel in place of eight at the most */
        take(&r, add, 200 + i, 1);
    report_rig(&r);
    assert_int_equal(integer(&r, "fusion.eager_chains.count"), 2);
    assert_int_equal(integer(&r, "fusion.eager_chains.kernels"), 3 + 8);
    assert_int_equal(integer(&r, "fusion.eager_chains.total_ps"), (60 + 8) * US);
    assert_int_equal(integer(&r, "fusion.eager_chains.saved_ps"), (30 + 7) * US);
    end_rig(&r);
}

static void a_run_is_kernels_with_hardly_a_pause(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    take(&r, "loop_add_fusion_1", 0, 4);
    take(&r, "loop_add_fusion_2", 6, 4); /* 2 us of pause */
    take(&r, "loop_mul_fusion", 19, 10); /* 9 us */
    take(&r, "loop_add_fusion", 39, 4);  /* 10 us: another run, of one kernel */
    take(&r, "large", 44, 100);
    take(&r, "a", 145, 1);
    take(&r, "b", 146, 1); /* 5 us of launch are more than the run */
    report_rig(&r);
    assert_int_equal(integer(&r, "fusion.runs.count"), 2);
    assert_int_equal(integer(&r, "fusion.runs.kernels"), 5);
    assert_int_equal(integer(&r, "fusion.runs.kernel_ps"), 20 * US);
    assert_int_equal(integer(&r, "fusion.runs.gap_ps"), 11 * US);
    assert_int_equal(integer(&r, "fusion.runs.at_stake_ps"), (11 + 10 + 2) * US);
    assert_int_equal(tm_length(bench_get(&r.bench, "fusion.runs.longest")), 2);
    assert_int_equal(integer(&r, "fusion.runs.longest[0].dur_ps"), 29 * US);
    assert_int_equal(integer(&r, "fusion.runs.longest[0].kernels"), 3);
    assert_int_equal(integer(&r, "fusion.runs.longest[0].at_stake_ps"), 21 * US);
    assert_int_equal(integer(&r, "fusion.runs.longest[0].step"), 100);
    assert_string_equal(text(&r, "fusion.runs.longest[0].device"), "h0/gpu:0");
    assert_string_equal(text(&r, "fusion.runs.longest[0].track"), "Stream #7");
    assert_int_equal(tm_length(bench_get(&r.bench, "fusion.runs.longest[0].names")), 2); /* each family once */
    assert_string_equal(text(&r, "fusion.runs.longest[0].names[0]"), "loop_add_fusion");
    assert_int_equal(integer(&r, "fusion.runs.longest[1].at_stake_ps"), 2 * US);
    end_rig(&r);
}

static void other_work_of_the_stream_ends_a_run(void **state)
{
    struct rig r;
    struct tm_event event;

    (void)state;
    open_rig(&r);
    take(&r, "a", 0, 4);
    event = bench_event(bench_name(&r.bench, "MemsetD32"), TM_CLASS_MEMSET, &no_config, 4 * US, US);
    OK(bench_take(&r.bench, &event));
    take(&r, "b", 5, 4);
    event = kernel(&r, "c", 6, 4); /* on another stream */
    event.record.track = 3;
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_int_equal(integer(&r, "fusion.runs.count"), 0);
    assert_int_equal(tm_length(bench_get(&r.bench, "fusion.runs.longest")), 0);
    end_rig(&r);
}

/* --- what comes back --- */

static void an_op_comes_back_more_than_ten_times_in_a_step(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    for (int step = 0; step < 2; step++) {
        for (int i = 0; i < (step ? 10 : 11); i++) {
            char name[32];
            struct tm_event event;

            (void)snprintf(name, sizeof(name), "loop_tanh_fusion_%d", i);
            event = kernel(&r, name, 100 * i, 2);
            event.step = (uint32_t)step;
            OK(bench_take(&r.bench, &event));
        }
    }
    report_rig(&r);
    assert_int_equal(tm_length(bench_get(&r.bench, "fusion.repeated")), 1);
    assert_string_equal(text(&r, "fusion.repeated[0].name"), "loop_tanh_fusion");
    assert_int_equal(integer(&r, "fusion.repeated[0].count"), 11); /* ten in a step are none */
    assert_int_equal(integer(&r, "fusion.repeated[0].steps"), 1);
    assert_true(number(&r, "fusion.repeated[0].per_step") == 11);
    assert_int_equal(integer(&r, "fusion.repeated[0].mean_ps"), 2 * US);
    assert_int_equal(integer(&r, "fusion.repeated_total.count"), 11);
    end_rig(&r);
}

static void without_steps_nothing_is_of_a_step(void **state)
{
    struct tm_run run;
    struct bench b;

    (void)state;
    test_run_init(&run);
    OK(bench_open(&b, &run, &tm_fusion_stage));
    b.trace.steps = (struct tm_steps){ .source = TM_STEPS_SESSION, .count = 1, .chosen_end = 1 };
    OK(bench_begin(&b));
    for (int i = 0; i < 20; i++) {
        const struct tm_event event = bench_event(0, TM_CLASS_KERNEL, &no_config, 100 * US * (int64_t)i, US);

        OK(bench_take(&b, &event));
    }
    OK(bench_end(&b));
    OK(bench_report(&b));
    assert_false(tm_has(bench_get(&b, "fusion.per_step")));
    assert_false(tm_has(bench_get(&b, "fusion.repeated")));
    assert_int_equal(tm_int(bench_get(&b, "fusion.small.count")), 20);
    bench_close(&b);
    assert_ledger_is_even(&run);
}

/* --- attention --- */

static void a_softmax_between_batched_products_is_attention(void **state)
{
    static const struct {
        const char *before, *before_op, *middle, *middle_op, *after, *after_op;
        int64_t count;
    } rows[] = {
        { "cublas_gemm", "jit(f)/bqhd,bkhd->bhqk/dot_general", "loop_exp_fusion", "jit(f)/softmax/exp", "cublas_gemm",
          "jit(f)/bhqk,bkhd->bqhd/dot_general", 1 },
        { "cublas_gemm", "jit(f)/layer_0/attention/dot_general", "triton_softmax_3", NULL, "cublas_gemm",
          "jit(f)/layer_0/attention/dot_general", 1 },
        { "gemm_batched_kernel", NULL, "cunn_SoftMaxForward<8, float, float>", NULL, "gemm_batched_kernel", NULL, 1 },
        { "cublas_gemm", "jit(f)/bi,io->bo/dot_general", "loop_exp_fusion", "jit(f)/softmax/exp", "cublas_gemm",
          "jit(f)/bi,io->bo/dot_general", 0 }, /* no letter is in all three */
        { "gemm_batched_kernel", NULL, "cunn_SoftMaxForward<8, LogSoftMaxForwardEpilogue>", NULL, "gemm_batched_kernel",
          NULL, 0 },
        { "gemm_batched_kernel", NULL, "softmax_warp_forward<float, float, float, 10, true, false>", NULL,
          "gemm_batched_kernel", NULL, 0 },
        { "gemm_batched_kernel", NULL, "softmax_warp_forward<float, float, float, 10, false, false>", NULL,
          "gemm_batched_kernel", NULL, 1 },
        { "gemm_batched_kernel", NULL, "loop_exp_fusion", NULL, "gemm_batched_kernel", NULL, 0 },
        { "gemm_batched_kernel", NULL, "softmax", NULL, "volta_sgemm_64x64_tn", NULL, 0 },
        { "gemvNSP_batched_kernel", NULL, "softmax", NULL, "gemvNSP_batched_kernel", NULL, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig r;

        open_rig(&r);
        take_op(&r, rows[i].before, rows[i].before_op, NULL, 0);
        take_op(&r, "loop_multiply_fusion", NULL, NULL, 10);
        take_op(&r, rows[i].middle, rows[i].middle_op, NULL, 20);
        take_op(&r, rows[i].after, rows[i].after_op, NULL, 30);
        report_rig(&r);
        if (integer(&r, "fusion.attention_unfused.count") != rows[i].count)
            fail_msg("row %zu is not %lld patterns", i, (long long)rows[i].count);
        assert_int_equal(integer(&r, "fusion.attention_unfused.total_ps"), rows[i].count * 20 * US);
        end_rig(&r);
    }
}

static void the_hlo_tells_attention_better_than_names(void **state)
{
    const struct tm_hlo_op batched = { .has_matrix = 1, .is_batched = 1 }, plain = { .has_matrix = 1 };
    const struct tm_hlo_op softmax = { .has_softmax = 1, .is_fusion = 1 };
    const struct tm_hlo_op fused = { .has_matrix = 1, .is_batched = 1, .has_softmax = 1 };
    struct rig r;

    (void)state;
    open_rig(&r);
    take_op(&r, "gemm_fusion_dot_1", "jit(f)/dot", &batched, 0);
    take_op(&r, "loop_fusion_2", "jit(f)/layer_3/exp", &softmax, 10);
    take_op(&r, "gemm_fusion_dot_2", "jit(f)/dot", &batched, 20);
    take_op(&r, "loop_fusion_3", NULL, &softmax, 30); /* the last product is the first one of the next pattern */
    take_op(&r, "gemm_fusion_dot_3", NULL, &plain, 40);
    take_op(&r, "loop_fusion_3", NULL, &softmax, 50);
    take_op(&r, "gemm_fusion_dot_4", NULL, &batched, 60);
    take_op(&r, "one_fusion", NULL, &fused, 70);
    take_op(&r, "gemm_fusion_dot_4", NULL, &batched, 80);
    take_op(&r, "loop_fusion_3", NULL, &softmax, 90);
    take_op(&r, "flash_fwd_kernel", NULL, NULL, 100);
    take_op(&r, "gemm_fusion_dot_4", NULL, &batched, 110);
    report_rig(&r);
    assert_int_equal(integer(&r, "fusion.attention_unfused.count"), 1);
    assert_string_equal(text(&r, "fusion.attention_unfused.rows[0].op"), "jit(f)/layer_3/exp");
    end_rig(&r);
}

static void too_much_between_two_products_is_no_attention(void **state)
{
    struct rig r;
    int64_t at_us = 0;

    (void)state;
    open_rig(&r);
    take_op(&r, "bmm_gemm", NULL, NULL, at_us++);
    for (int i = 0; i < 16; i++)
        take_op(&r, "softmax", NULL, NULL, at_us++);
    take_op(&r, "bmm_gemm", NULL, NULL, at_us++);
    for (int i = 0; i < 17; i++)
        take_op(&r, "softmax", NULL, NULL, at_us++);
    take_op(&r, "bmm_gemm", NULL, NULL, at_us++);
    report_rig(&r);
    assert_int_equal(integer(&r, "fusion.attention_unfused.count"), 1);
    end_rig(&r);
}

/* --- layouts and precision --- */

static void copies_without_an_op_are_for_a_layout(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    take_op(&r, "input_transpose_fusion_1", NULL, NULL, 0);
    take_op(&r, "input_transpose_fusion_2", NULL, NULL, 20);
    take_op(&r, "input_transpose_fusion_3", "jit(f)/transpose", NULL, 40);
    take_op(&r, "loop_add_fusion", "jit(f)/add", NULL, 60);
    report_rig(&r);
    assert_int_equal(integer(&r, "fusion.layout_copies.count"), 2);
    assert_int_equal(integer(&r, "fusion.layout_copies.total_ps"), 20 * US);
    assert_true(number(&r, "fusion.layout_copies.share_pct") == 50);
    assert_string_equal(text(&r, "fusion.layout_copies.rows[0].name"), "input_transpose_fusion");
    end_rig(&r);
    open_rig(&r);
    take_op(&r, "copy_kernel", NULL, NULL, 0);
    report_rig(&r);
    assert_false(has(&r, "fusion.layout_copies")); /* no kernel tells its op */
    end_rig(&r);
}

static void products_in_32_bits_are_told_beside_matrix_units(void **state)
{
    const struct tm_hlo_op f32 = { .has_matrix = 1, .precision = TM_F32 };
    const struct tm_hlo_op bf16 = { .has_matrix = 1, .precision = TM_BF16 };
    struct rig r;

    (void)state;
    open_rig(&r);
    take_op(&r, "ampere_sgemm_128x64_nn", "jit(f)/dot", NULL, 0);
    take_op(&r, "ampere_sgemm_128x64_tn", NULL, &f32, 10);
    take_op(&r, "ampere_sgemm_128x64_tt", NULL, &bf16, 20);              /* the HLO knows better */
    take_op(&r, "sm80_xmma_gemm_f32f32_tf32f32_f32_tn", NULL, &f32, 30); /* on the units */
    take_op(&r, "custom_gemm", NULL, &f32, 40);                          /* who knows where */
    report_rig(&r);
    assert_int_equal(integer(&r, "fusion.matrix.count"), 5);
    assert_int_equal(integer(&r, "fusion.matrix.f32.count"), 2);
    assert_int_equal(tm_length(bench_get(&r.bench, "fusion.matrix.f32.rows")), 2);
    end_rig(&r);
}

static void devices_without_matrix_units_have_no_such_figure(void **state)
{
    static const struct {
        uint32_t major, minor;
        uint64_t cores;
        const char *vendor;
        bool has;
    } rows[] = {
        { 6, 1, 28, "Nvidia", false }, { 7, 0, 80, "Nvidia", true }, { 0, 0, 0, "", false },
        { 9, 0, 64, "AMD", false },    { 9, 0, 104, "AMD", true },   { 9, 4, 304, "AMD", true },
        { 11, 0, 96, "AMD", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tm_run run;
        struct bench b;

        test_run_init(&run);
        OK(bench_open(&b, &run, &tm_fusion_stage));
        b.devices[0].capability_major = rows[i].major;
        b.devices[0].capability_minor = rows[i].minor;
        b.devices[0].core_count = rows[i].cores;
        (void)snprintf(b.devices[0].vendor, sizeof(b.devices[0].vendor), "%s", rows[i].vendor);
        OK(bench_begin(&b));
        OK(bench_end(&b));
        OK(bench_report(&b));
        if (tm_has(bench_get(&b, "fusion.matrix")) != rows[i].has)
            fail_msg("row %zu", i);
        bench_close(&b);
    }
}

static void other_devices_have_no_kernels_to_fuse(void **state)
{
    static const enum tm_device_kind kinds[] = { TM_DEVICE_TPU, TM_DEVICE_CPU };

    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct tm_run run;
        struct bench b;

        test_run_init(&run);
        OK(bench_open(&b, &run, &tm_fusion_stage));
        bench_devices(&b, 1, kinds[i], 0, 1000);
        OK(bench_begin(&b));
        OK(bench_end(&b));
        OK(bench_report(&b));
        assert_false(tm_has(bench_get(&b, "fusion")));
        assert_non_null(strstr(tm_why(bench_get(&b, "fusion")), "whole programs"));
        bench_close(&b);
        assert_ledger_is_even(&run);
    }
}

static void numbers_of_xla_are_no_part_of_a_name(void **state)
{
    /* clang-format off */
    static const struct { const char *name, *want; } rows[] = {
        { "loop_add_fusion_12", "loop_add_fusion" }, { "fusion.3", "fusion" }, { "gemm_fusion_dot", "gemm_fusion_dot" },
        { "kernel2", "kernel2" }, { "_7", "_7" }, { "a_7", "a" }, { "12", "12" }, { "", "" },
        { "f<float>_3", "f<float>" },
    };
    /* clang-format on */
    struct rig r;

    (void)state;
    open_rig(&r);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *found;
        size_t length;
        const tm_strid id = tm_short_kernel_name(r.bench.trace.names, bench_name(&r.bench, rows[i].name));

        found = tm_names_text(r.bench.trace.names, id, 0, &length);
        assert_string_equal(found, rows[i].want);
    }
    report_rig(&r);
    end_rig(&r);
}

/* --- partials --- */

/* Something of everything. */
static void take_all_sorts(struct rig *r)
{
    for (int64_t i = 0; i < 12; i++)
        take(r, "loop_tanh_fusion", 3 * i, 2);
    take_op(r, "bmm_gemm", NULL, NULL, 100);
    take_op(r, "softmax", NULL, NULL, 110);
    take_op(r, "bmm_gemm", NULL, NULL, 120);
    take_op(r, "input_transpose_fusion", NULL, NULL, 130);
    take_op(r, "ampere_sgemm_128x64_nn", "jit(f)/dot", NULL, 140);
}

static void what_was_saved_is_read_again(void **state)
{
    char path[KEPT_BENCH_PATH];
    struct rig r;
    struct tm_run run;
    struct bench again;

    (void)state;
    open_rig(&r);
    take_all_sorts(&r);
    OK(bench_end(&r.bench));
    keep_bench(&r.bench, path);
    end_rig(&r);

    test_run_init(&run);
    OK(bench_open(&again, &run, &tm_fusion_stage));
    load_kept_bench(&again, path, 1); /* another host of the same */
    OK(bench_report(&again));
    assert_int_equal(tm_int(bench_get(&again, "fusion.kernels.count")), 34);
    assert_int_equal(tm_int(bench_get(&again, "fusion.repeated[0].count")), 24);
    assert_int_equal(tm_int(bench_get(&again, "fusion.repeated[0].steps")), 2);
    assert_int_equal(tm_int(bench_get(&again, "fusion.attention_unfused.count")), 2);
    assert_int_equal(tm_int(bench_get(&again, "fusion.layout_copies.count")), 2);
    assert_int_equal(tm_int(bench_get(&again, "fusion.matrix.f32.count")), 2);
    assert_int_equal(tm_int(bench_get(&again, "fusion.runs.count")), 4);
    assert_int_equal(tm_length(bench_get(&again, "fusion.runs.longest")), 4);
    assert_string_equal(tm_text(bench_get(&again, "fusion.runs.longest[1].device")), "h0/gpu:0");
    assert_true(tm_double(bench_get(&again, "fusion.per_step")) == 34.0 / (4 * BENCH_STEPS));
    bench_close(&again);
    assert_ledger_is_even(&run);
}

/* --- ops of steps that go on side by side --- */

enum { SOME_OPS = 40, MANY_OPS = 3000, EVENTS = 60000, DEVICES = 2 };

/* What comes: kernels of a few ops often and of many seldom, steps that overlap, now and then something late. */
struct drawn {
    uint32_t op, device, step;
    bool is_kernel;
};

static struct drawn draw(uint64_t *random, uint32_t ordinal)
{
    const uint32_t step = ordinal / (EVENTS / BENCH_STEPS);
    uint32_t r;

    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    r = (uint32_t)(*random >> 33);
    return (struct drawn){ .op = r % 5 ? r / 5 % SOME_OPS : r / 5 % MANY_OPS,
                           .device = r >> 20 & 1,
                           .step = r % 37 ? step
                                   : step ? step - (r % 2 ? 1 : step)
                                          : 0,
                           .is_kernel = (r >> 24) % 8 != 0 };
}

/* How often an op came too often, by the plain way. */
static void count_plainly(uint64_t activities[DEVICES * BENCH_STEPS], uint64_t *repeated)
{
    static uint32_t counts[DEVICES * BENCH_STEPS][MANY_OPS];
    uint64_t random = 1;

    memset(counts, 0, sizeof(counts));
    memset(activities, 0, DEVICES * BENCH_STEPS * sizeof(*activities));
    for (uint32_t i = 0; i < EVENTS; i++) {
        const struct drawn drawn = draw(&random, i);

        activities[drawn.device * BENCH_STEPS + drawn.step]++;
        counts[drawn.device * BENCH_STEPS + drawn.step][drawn.op] += drawn.is_kernel;
    }
    *repeated = 0;
    for (int i = 0; i < DEVICES * BENCH_STEPS; i++)
        for (int op = 0; op < MANY_OPS; op++)
            *repeated += counts[i][op] > 10 ? counts[i][op] : 0;
}

/* The steps know their activities (the survey has counted them), or do not. */
static void know_activities(struct rig *r, const uint64_t activities[DEVICES * BENCH_STEPS])
{
    struct tm_rows *rows = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_step_row), 1 << 16);

    assert_non_null(rows);
    for (int i = 0; i < DEVICES * BENCH_STEPS; i++)
        tm_rows_append(rows, &(struct tm_step_row){ .activities = activities[i] });
    r->bench.trace.steps.rows = rows;
    r->bench.devices[1].first_step_row = BENCH_STEPS;
}

static void take_drawn(struct rig *r)
{
    uint64_t random = 1;

    for (uint32_t i = 0; i < EVENTS; i++) {
        const struct drawn drawn = draw(&random, i);
        struct tm_event event;
        char name[32];

        (void)snprintf(name, sizeof(name), "op_%u_of", drawn.op);
        event = kernel(r, name, (int64_t)i * 4, 1 + drawn.op % 7);
        event.record.class = drawn.is_kernel ? TM_CLASS_KERNEL : TM_CLASS_MEMSET;
        event.device = drawn.device;
        event.step = drawn.step;
        OK(bench_take(&r->bench, &event));
    }
}

static void steps_side_by_side_count_each_op_of_theirs(void **state)
{
    static const size_t memories[] = { 32, 256 };
    uint64_t activities[DEVICES * BENCH_STEPS], repeated;
    char *expected = NULL;

    (void)state;
    count_plainly(activities, &repeated);
    for (int i = 0; i < 4; i++) {
        struct rig r;
        char *json;

        memset(&r, 0, sizeof(r));
        test_run_init(&r.run);
        tm_budget_init(&r.run.budget, memories[i % 2] * TM_MIB);
        OK(try_rig(&r));
        if (i < 2)
            know_activities(&r, activities);
        take_drawn(&r);
        report_rig(&r);
        assert_int_equal(integer(&r, "fusion.repeated_total.count"), repeated);
        json = bench_print(&r.bench);
        assert_string_equal(json, expected ? expected : json);
        free(expected);
        expected = json;
        tm_rows_free(r.bench.trace.steps.rows);
        end_rig(&r);
    }
    free(expected);
}

/* --- memory --- */

static tm_status many_kernels(struct rig *r, uint32_t count)
{
    tm_status st = try_rig(r);

    for (uint32_t i = 0; i < count && st == TM_OK; i++) {
        char name[32];
        struct tm_event event;

        (void)snprintf(name, sizeof(name), "softmax_%u_of", i);
        event = kernel(r, name, (int64_t)i * 4, 2);
        event.record.config = i + 1;
        event.step = i % BENCH_STEPS;
        event.record.track = i % TRACKS;
        st = bench_take(&r->bench, &event);
    }
    if (st == TM_OK)
        st = bench_end(&r->bench);
    return st == TM_OK ? bench_report(&r->bench) : st;
}

static void many_kernels_keep_to_the_memory(void **state)
{
    struct rig r = { .next_config = 0 };

    (void)state;
    test_run_init(&r.run);
    OK(many_kernels(&r, 20000));
    assert_int_equal(integer(&r, "fusion.small.count"), 20000);
    assert_true(r.run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= bench_tables_memory(&r.run, TM_TABLES_FUSION));
    end_rig(&r);
}

static tm_status whole_job(struct tm_run *run)
{
    struct rig r = { .run = *run };
    const tm_status st = many_kernels(&r, 1500);

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
        cmocka_unit_test(pointwise_kernels_of_eager_mode_make_chains),
        cmocka_unit_test(kernels_are_small_below_their_limits),
        cmocka_unit_test(a_run_is_kernels_with_hardly_a_pause),
        cmocka_unit_test(other_work_of_the_stream_ends_a_run),
        cmocka_unit_test(an_op_comes_back_more_than_ten_times_in_a_step),
        cmocka_unit_test(without_steps_nothing_is_of_a_step),
        cmocka_unit_test(a_softmax_between_batched_products_is_attention),
        cmocka_unit_test(the_hlo_tells_attention_better_than_names),
        cmocka_unit_test(too_much_between_two_products_is_no_attention),
        cmocka_unit_test(copies_without_an_op_are_for_a_layout),
        cmocka_unit_test(products_in_32_bits_are_told_beside_matrix_units),
        cmocka_unit_test(devices_without_matrix_units_have_no_such_figure),
        cmocka_unit_test(other_devices_have_no_kernels_to_fuse),
        cmocka_unit_test(numbers_of_xla_are_no_part_of_a_name),
        cmocka_unit_test(what_was_saved_is_read_again),
        cmocka_unit_test(steps_side_by_side_count_each_op_of_theirs),
        cmocka_unit_test(many_kernels_keep_to_the_memory),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("fusion", tests, NULL, NULL);
}
