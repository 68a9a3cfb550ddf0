/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_rows.h"
#include "stages/figures/kernels.h"

#include <stdio.h>
#include <stdlib.h>

#include "stages/figures/kernel_category.h"
#include "tests/support/kept_bench.h"
#include "tests/support/stage_driver.h"
#include "tests/support/test_run.h"

enum { NS = 1000, US = 1000000 };

#define OK(call) assert_int_equal(call, TM_OK)

static void open_bench(struct bench *b, struct tm_run *run)
{
    test_run_init(run);
    OK(bench_open(b, run, &tm_kernels_stage));
    b->trace.has_kernel_details = true;
}

static void report_bench(struct bench *b)
{
    OK(bench_end(b));
    OK(bench_report(b));
}

static void close_bench(struct bench *b)
{
    bench_close(b);
    assert_ledger_is_even(b->run);
}

static struct tm_event kernel(tm_strid name, const struct tm_config *config, int64_t start_ps, int64_t dur_ps)
{
    struct tm_event event = bench_event(name, TM_CLASS_KERNEL, config, start_ps, dur_ps);

    event.record.flags = TM_FLAG_KERNEL_DETAILS;
    return event;
}

static void take_kernel(struct bench *b, const char *name, const struct tm_config *config, int64_t dur_ps)
{
    struct tm_event event = kernel(bench_name(b, name), config, 0, dur_ps);

    event.record.config = config->registers; /* a row per number of registers in these tests */
    OK(bench_take(b, &event));
}

static int64_t integer(const struct bench *b, const char *path)
{
    assert_true(tm_has(bench_get(b, path)));
    return tm_int(bench_get(b, path));
}

static bool has(const struct bench *b, const char *path)
{
    return tm_has(bench_get(b, path));
}

static const char *text(const struct bench *b, const char *path)
{
    return tm_text(bench_get(b, path));
}

/* --- the table --- */

static void the_hlo_tells_precision_matrix_units_and_products(void **state)
{
    /* what the HLO says, what the kernel is called, and what is told: 1 yes, 0 no, -1 nothing */
    static const struct {
        struct tm_hlo_op op;
        const char *name, *precision;
        int tensor_core;
        const char *category;
    } rows[] = {
        { { .precision = TM_BF16, .has_matrix = 1 }, "custom_kernel_0", "bf16", 1, "gemm/dot" },
        { { .precision = TM_F32, .has_matrix = 1 }, "custom_kernel_1", "f32", -1, "gemm/dot" },
        { { .precision = TM_F32, .has_matrix = 1 }, "sm80_xmma_gemm_tf32f32_tn_n", "tf32", 1, "gemm/dot" },
        { { .precision = TM_BF16, .has_matrix = 1 }, "ampere_sgemm_128x64_tn", "bf16", 0, "gemm/dot" },
        { { .precision = TM_F16 }, "flash_lookalike", "f16", 0, "attention" },
        { { .precision = TM_F16, .target = 1 }, "custom_kernel_2", NULL, -1, "custom" }, /* a custom call: anything */
        { { .precision = TM_BF16, .has_matrix = 1 }, "input_reduce_fusion", "bf16", 0, "reduction" }, /* beside it */
        { { .precision = TM_OTHER_PRECISION }, "loop_select_fusion", "other", 0, "elementwise fusion" },
    };
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    b.trace.hlo_ops = tm_rows_new(&run, TM_ACCOUNT_METADATA, sizeof(struct tm_hlo_op), 1 << 17);
    assert_non_null(b.trace.hlo_ops);
    tm_rows_append(b.trace.hlo_ops, &(struct tm_hlo_op){ .name = 0 });
    OK(bench_begin(&b));
    for (uint32_t i = 0; i < ROWS; i++) {
        const struct tm_config config = { .has_kernel = 1, .hlo = i + 1 };

        tm_rows_append(b.trace.hlo_ops, &rows[i].op);
        take_kernel(&b, rows[i].name, &config, (int64_t)(ROWS - i) * US);
    }
    report_bench(&b);
    for (int i = 0; i < ROWS; i++) {
        const struct tm_value *row = tm_at(bench_get(&b, "kernels.rows"), (size_t)i);

        assert_string_equal(tm_text(tm_get(row, "precision")), rows[i].precision ? rows[i].precision : "");
        assert_int_equal(tm_has(tm_get(row, "tensor_core")), rows[i].tensor_core >= 0);
        assert_int_equal(tm_is(tm_get(row, "tensor_core")), rows[i].tensor_core == 1);
        assert_string_equal(tm_text(tm_get(row, "category")), rows[i].category);
    }
    tm_rows_free(b.trace.hlo_ops);
    close_bench(&b);
}

static void means_are_of_kernels_that_compute(void **state)
{
    static const struct tm_config config = { .has_kernel = 1 };
    struct tm_run run;
    struct tm_event event;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    OK(bench_begin(&b));
    take_kernel(&b, "small", &config, 1 * US);
    take_kernel(&b, "large", &config, 3 * US);
    event = kernel(bench_name(&b, "ncclDevKernel_AllReduce"), &config, 0, 1000 * US);
    event.record.class = TM_CLASS_COLLECTIVE;
    event.level = TM_LEVEL_COLLECTIVE;
    OK(bench_take(&b, &event));
    event = kernel(bench_name(&b, "Memset"), &config, 0, 100 * US);
    event.record.class = TM_CLASS_MEMSET;
    OK(bench_take(&b, &event));
    report_bench(&b);
    assert_int_equal(integer(&b, "kernels.count"), 4);
    assert_int_equal(integer(&b, "kernels.compute_count"), 2);
    assert_int_equal(integer(&b, "kernels.compute_ps"), 4 * US);
    assert_int_equal(integer(&b, "kernels.compute_mean_ps"), 2 * US);
    assert_int_equal(integer(&b, "kernels.mean_ps"), 276 * US); /* of all */
    assert_int_equal(integer(&b, "kernels.weighted_mean_ps"), 10 * US / 4);
    close_bench(&b);
}

static void launches_of_one_configuration_are_a_row(void **state)
{
    static const struct tm_config small = { .grid = { 132, 1, 1 },
                                            .block = { 256, 1, 1 },
                                            .registers = 32,
                                            .shared_bytes = 1024,
                                            .has_kernel = 1,
                                            .occupancy_milli = 50000 };
    static const struct tm_config large = { .grid = { 132, 1, 1 },
                                            .block = { 256, 1, 1 },
                                            .registers = 64,
                                            .shared_bytes = 1024,
                                            .has_kernel = 1,
                                            .occupancy_milli = 25000 };
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    OK(bench_begin(&b));
    take_kernel(&b, "loop_add_fusion", &small, 3 * US);
    take_kernel(&b, "loop_add_fusion", &small, 1 * US);
    take_kernel(&b, "loop_add_fusion", &large, 10 * US);
    take_kernel(&b, "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", &small, 2 * US);
    report_bench(&b);
    assert_int_equal(integer(&b, "kernels.count"), 4);
    assert_int_equal(integer(&b, "kernels.total_ps"), 16 * US);
    assert_int_equal(integer(&b, "kernels.distinct"), 3);
    assert_int_equal(integer(&b, "kernels.mean_ps"), 4 * US);
    assert_int_equal(integer(&b, "kernels.weighted_mean_ps"), (100 + 9 + 4 + 1) * US / 16);
    assert_int_equal(tm_length(bench_get(&b, "kernels.rows")), 3);
    assert_int_equal(integer(&b, "kernels.rows[0].registers"), 64);
    assert_int_equal(integer(&b, "kernels.rows[1].count"), 2);
    assert_int_equal(integer(&b, "kernels.rows[1].total_ps"), 4 * US);
    assert_int_equal(integer(&b, "kernels.rows[1].min_ps"), 1 * US);
    assert_int_equal(integer(&b, "kernels.rows[1].max_ps"), 3 * US);
    assert_int_equal(integer(&b, "kernels.rows[1].mean_ps"), 2 * US);
    assert_int_equal(integer(&b, "kernels.rows[1].stddev_ps"), 1414214); /* sqrt(1 + 1) */
    assert_false(has(&b, "kernels.rows[0].stddev_ps"));                  /* one launch */
    assert_true(*tm_why(bench_get(&b, "kernels.rows[0].stddev_ps")));
    assert_string_equal(text(&b, "kernels.rows[1].grid"), "132,1,1");
    assert_string_equal(text(&b, "kernels.rows[1].class"), "kernel");
    assert_string_equal(text(&b, "kernels.rows[1].category"), "elementwise fusion");
    assert_true(tm_double(bench_get(&b, "kernels.rows[1].occupancy_pct")) == 50.0);
    assert_true(tm_double(bench_get(&b, "kernels.rows[1].share_pct")) == 25.0);
    assert_false(tm_is(bench_get(&b, "kernels.rows[1].tensor_core")));
    assert_string_equal(text(&b, "kernels.rows[2].precision"), "bf16");
    assert_true(tm_is(bench_get(&b, "kernels.rows[2].tensor_core")));
    assert_false(tm_has(bench_get(&b, "kernels.rows[2].op")));
    assert_int_equal(tm_length(bench_get(&b, "kernels.by_name")), 2);
    assert_string_equal(text(&b, "kernels.by_name[0].name"), "loop_add_fusion");
    assert_int_equal(integer(&b, "kernels.by_name[0].total_ps"), 14 * US);
    assert_string_equal(text(&b, "kernels.by_name[0].category"), "elementwise fusion");
    assert_int_equal(integer(&b, "kernels.by_name[0].variants"), 2);
    assert_int_equal(integer(&b, "kernels.by_name[0].mean_ps"), 4666667);
    assert_int_equal(integer(&b, "kernels.by_name[0].p50_ps"), 3 * US); /* of 1, 3 and 10, in two variants */
    assert_int_equal(integer(&b, "kernels.by_name[0].p95_ps"), 10 * US);
    assert_int_equal(integer(&b, "kernels.by_name[0].device_count"), 1);
    assert_true(tm_double(bench_get(&b, "kernels.by_name[0].share_pct")) == 87.5);
    assert_int_equal(integer(&b, "kernels.by_name[1].variants"), 1);
    assert_int_equal(integer(&b, "kernels.by_name[1].p50_ps"), 2 * US);
    assert_int_equal(integer(&b, "kernels.distinct_names"), 2);
    assert_int_equal(integer(&b, "kernels.by_name[0].min_ps"), 1 * US);
    assert_int_equal(integer(&b, "kernels.by_name[0].max_ps"), 10 * US);
    assert_int_equal(integer(&b, "kernels.by_name[0].stddev_ps"), 4725816); /* sqrt(67 / 3) */
    assert_false(has(&b, "kernels.by_name[1].stddev_ps"));
    assert_int_equal(integer(&b, "kernels.by_category[0].total_ps"), 14 * US);
    assert_string_equal(text(&b, "kernels.by_category[1].category"), "gemm/dot");
    assert_int_equal(integer(&b, "kernels.rest.rows"), 0);
    close_bench(&b);
}

static void equal_names_of_two_handles_are_one_kernel(void **state)
{
    struct tm_config plain = { .has_kernel = 1 };
    struct tm_run run;
    struct bench b;
    struct tm_event event;
    tm_strid first;

    (void)state;
    open_bench(&b, &run);
    OK(bench_begin(&b));
    first = bench_name(&b, "again");
    for (int i = 0; i < 200000; i++) { /* until the table of names begins anew */
        char name[32];

        (void)snprintf(name, sizeof(name), "name %d", i);
        (void)bench_name(&b, name);
    }
    assert_int_not_equal(first, bench_name(&b, "again"));
    event = kernel(first, &plain, 0, 1 * US);
    OK(bench_take(&b, &event));
    event = kernel(bench_name(&b, "again"), &plain, 2 * US, 1 * US);
    OK(bench_take(&b, &event));
    report_bench(&b);
    assert_int_equal(integer(&b, "kernels.distinct"), 1);
    assert_int_equal(integer(&b, "kernels.rows[0].count"), 2);
    close_bench(&b);
}

static void what_counts_is_what_the_devices_count(void **state)
{
    static const struct tm_config plain = { .has_kernel = 1 };
    /* clang-format off */
    static const struct {
        enum tm_class class;
        uint16_t flags;
        bool with_details, without_details;
    } table[] = {
        { TM_CLASS_KERNEL, TM_FLAG_KERNEL_DETAILS, true, true },
        { TM_CLASS_KERNEL, 0, false, true },
        { TM_CLASS_COLLECTIVE, TM_FLAG_KERNEL_DETAILS, true, true },
        { TM_CLASS_COLLECTIVE, 0, false, true },
        { TM_CLASS_COPY, TM_FLAG_KERNEL_DETAILS, true, false },
        { TM_CLASS_COPY, TM_FLAG_COPY_DETAILS, false, false },
        { TM_CLASS_MEMSET, TM_FLAG_KERNEL_DETAILS, true, false },
        { TM_CLASS_GRAPH, TM_FLAG_KERNEL_DETAILS, false, false },
        { TM_CLASS_TPU_OP, 0, true, true },
        { TM_CLASS_CPU_OP, 0, true, true },
        { TM_CLASS_TPU_ASYNC, 0, false, false },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(table) / sizeof(table[0]); i++) {
        const bool with_details = i % 2;
        struct tm_run run;
        struct bench b;
        struct tm_event event;

        open_bench(&b, &run);
        b.trace.has_kernel_details = with_details;
        OK(bench_begin(&b));
        event = bench_event(bench_name(&b, "x"), table[i / 2].class, &plain, 0, 1);
        event.record.flags = table[i / 2].flags;
        OK(bench_take(&b, &event));
        event.chosen = false; /* outside of the chosen steps */
        OK(bench_take(&b, &event));
        event.chosen = true;
        event.level = TM_LEVEL_NONE; /* not an activity, on a TPU an op that waits for the host */
        if (table[i / 2].class != TM_CLASS_TPU_OP)
            OK(bench_take(&b, &event));
        event.level = TM_LEVEL_COMPUTE;
        event.device = 1; /* not there */
        OK(bench_take(&b, &event));
        event.device = TM_NONE;
        OK(bench_take(&b, &event));
        report_bench(&b);
        assert_int_equal(integer(&b, "kernels.count"),
                         with_details ? table[i / 2].with_details : table[i / 2].without_details);
        close_bench(&b);
    }
}

static void tpu_ops_that_wait_for_the_host_are_rows(void **state)
{
    static const struct tm_config wait = { .tpu_part = TM_TPU_HOST_WAIT, .level = TM_LEVEL_NONE };
    struct tm_run run;
    struct bench b;
    struct tm_event event;

    (void)state;
    open_bench(&b, &run);
    b.trace.has_kernel_details = false;
    bench_devices(&b, 1, TM_DEVICE_TPU, 0, US);
    OK(bench_begin(&b));
    event = bench_event(bench_name(&b, "infeed.1"), TM_CLASS_TPU_OP, &wait, 0, 5);
    OK(bench_take(&b, &event));
    report_bench(&b);
    assert_int_equal(integer(&b, "kernels.total_ps"), 5);
    assert_string_equal(text(&b, "kernels.rows[0].class"), "tpu_op");
    assert_string_equal(text(&b, "kernels.rows[0].category"), "other");
    assert_false(tm_has(bench_get(&b, "kernels.rows[0].tensor_core")));
    close_bench(&b);
}

static void without_active_devices_there_is_no_table(void **state)
{
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    b.devices[0].activities = 0;
    OK(bench_begin(&b));
    report_bench(&b);
    assert_int_equal(tm_type_of(bench_get(&b, "kernels")), TM_NULL);
    assert_string_equal(tm_why(bench_get(&b, "kernels")), "no device activity was recorded");
    close_bench(&b);
    open_bench(&b, &run);
    OK(bench_begin(&b));
    report_bench(&b);
    assert_int_equal(integer(&b, "kernels.count"), 0);
    assert_false(tm_has(bench_get(&b, "kernels.mean_ps")));
    assert_int_equal(tm_length(bench_get(&b, "kernels.rows")), 0);
    close_bench(&b);
}

static void the_first_launch_tells_the_op(void **state)
{
    struct tm_config configs[2] = { { .has_kernel = 1 }, { .has_kernel = 1 } };
    struct tm_run run;
    struct bench b;
    struct tm_event event;

    (void)state;
    open_bench(&b, &run);
    configs[0].hlo_op = bench_name(&b, "dot.1");
    configs[1].hlo_op = bench_name(&b, "dot.2");
    bench_devices(&b, 70, TM_DEVICE_GPU, 0, US);
    for (int host = 0; host < 2; host++) {
        bench_devices(&b, 70, TM_DEVICE_GPU, 0, US);
        OK(bench_begin(&b));
        for (uint32_t i = 0; i < 70; i++) {
            event = kernel(bench_name(&b, "k"), &configs[host ? 0 : 1], host ? 5 : 10 + i, 1);
            event.record.config = host ? 0 : 1;
            event.device = i < 3 ? i : 3;
            OK(bench_take(&b, &event));
        }
        OK(bench_end(&b));
    }
    OK(bench_report(&b));
    assert_int_equal(tm_length(bench_get(&b, "kernels.rows")), 1);
    assert_string_equal(text(&b, "kernels.rows[0].hlo_op"), "dot.2");
    assert_int_equal(integer(&b, "kernels.rows[0].count"), 140);
    assert_int_equal(integer(&b, "kernels.rows[0].device_count"), 8);
    close_bench(&b);
}

/* Wherever their rows lie meanwhile. */
static void of_launches_at_one_moment_the_one_that_came_first_tells_the_op(void **state)
{
    enum { NAMES = 1000 };
    struct tm_config configs[2] = { { .has_kernel = 1 }, { .has_kernel = 1 } };
    struct tm_run run;
    struct bench b;

    (void)state;
    test_run_init(&run);
    tm_budget_init(&run.budget, 32 * TM_MIB);
    OK(bench_open(&b, &run, &tm_kernels_stage));
    b.settings.table_rows = NAMES;
    configs[0].hlo_op = bench_name(&b, "dot.1");
    configs[1].hlo_op = bench_name(&b, "dot.2");
    OK(bench_begin(&b));
    for (int i = 0; i < 2 * NAMES; i++) {
        struct tm_event event;
        char name[32];

        (void)snprintf(name, sizeof(name), "kernel_%d_of", i / 2);
        event = kernel(bench_name(&b, name), &configs[i % 2], i / 2 * US, 1);
        event.record.config = (uint32_t)i % 2;
        OK(bench_take(&b, &event));
    }
    report_bench(&b);
    for (size_t i = 0; i < NAMES; i++)
        assert_string_equal(tm_text(tm_get(tm_at(bench_get(&b, "kernels.rows"), i), "hlo_op")), "dot.1");
    close_bench(&b);
}

/* --- quantiles --- */

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void quantiles_are_of_the_sorted_lengths(void **state)
{
    static const struct tm_config plain = { .has_kernel = 1, .registers = 1 };
    static const int counts[] = { 1, 2, 3, 19, 20, 21, 100, 1000 };

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        const int n = counts[i];
        int64_t lengths[1000];
        uint64_t seed = i;
        struct tm_run run;
        struct bench b;

        open_bench(&b, &run);
        OK(bench_begin(&b));
        for (int j = 0; j < n; j++) {
            lengths[j] = (int64_t)(next_number(&seed) % 50) * NS;
            take_kernel(&b, "k", &plain, lengths[j]);
            take_kernel(&b, "other", &plain, 7);
        }
        report_bench(&b);
        qsort(lengths, (size_t)n, sizeof(lengths[0]), by_value);
        for (int row = 0; row < 2; row++) {
            const struct tm_value *k = tm_at(bench_get(&b, "kernels.rows"), (size_t)row);

            if (tm_text(tm_get(k, "name"))[0] != 'k')
                continue;
            assert_int_equal(tm_int(tm_get(k, "p50_ps")), lengths[(n * 50 + 99) / 100 - 1]);
            assert_int_equal(tm_int(tm_get(k, "p95_ps")), lengths[(n * 95 + 99) / 100 - 1]);
        }
        close_bench(&b);
    }
}

/* --- many, large, hostile --- */

static const char *const names_of_work[] = { "gemm_", "loop_add_fusion_", "input_reduce_fusion_", "k" };

/* Kernels with so many names, each launched twice by two hosts. */
static tm_status many_names(struct bench *b, struct tm_run *run, unsigned names, char **json)
{
    tm_status st = bench_open(b, run, &tm_kernels_stage);

    for (unsigned host = 0; host < 2 && st == TM_OK; host++) {
        bench_devices(b, 8, TM_DEVICE_GPU, 0, US);
        st = bench_begin(b);
        for (unsigned i = 0; i < names && st == TM_OK; i++) {
            struct tm_config config = { .has_kernel = 1, .registers = 32, .occupancy_milli = 33333 };
            struct tm_event event;
            char name[64];

            (void)snprintf(name, sizeof(name), "%s%u", names_of_work[i % 4], i);
            event = kernel(bench_name(b, name), &config, (int64_t)i * 10, (int64_t)(i % 9973 + 1) * NS + host);
            event.device = i % 8;
            st = bench_take(b, &event);
        }
        if (st == TM_OK)
            st = bench_end(b);
    }
    if (st == TM_OK)
        st = bench_report(b);
    if (st == TM_OK)
        *json = bench_print(b);
    return st;
}

static void many_names_keep_to_the_memory_and_to_the_result(void **state)
{
    static const size_t memories[] = { 32, 8192 };
    char *json[2] = { NULL, NULL };
    enum { NAMES = 300000 };

    (void)state;
    for (int m = 0; m < 2; m++) {
        struct tm_run run;
        struct bench b;
        size_t most;

        test_run_init(&run);
        tm_budget_init(&run.budget, memories[m] * TM_MIB);
        most = tm_tables_memory(&run, TM_TABLES_KERNELS, 1, 1) + run.budget.pool_bytes;
        OK(many_names(&b, &run, NAMES, &json[m]));
        assert_int_equal(integer(&b, "kernels.count"), 2 * NAMES);
        assert_int_equal(integer(&b, "kernels.distinct"), NAMES);
        assert_int_equal(tm_length(bench_get(&b, "kernels.rows")), 500);
        assert_int_equal(integer(&b, "kernels.rest.rows"), NAMES - 500);
        assert_int_equal(integer(&b, "kernels.by_name_rest.rows"), NAMES - 500);
        assert_true(run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= most);
        assert_int_equal(run.budget.spilled_bytes > 0, m == 0);
        close_bench(&b);
        assert_non_null(json[m]);
    }
    assert_string_equal(json[0], json[1]);
    free(json[0]);
    free(json[1]);
}

static void rows_and_rest_add_up(void **state)
{
    struct tm_run run;
    struct bench b;
    char *json = NULL;

    (void)state;
    test_run_init(&run);
    OK(many_names(&b, &run, 2000, &json));
    for (int table = 0; table < 2; table++) {
        const struct tm_value *rows = bench_get(&b, table ? "kernels.by_name" : "kernels.rows");
        int64_t count = integer(&b, table ? "kernels.by_name_rest.count" : "kernels.rest.count");
        int64_t total = integer(&b, table ? "kernels.by_name_rest.total_ps" : "kernels.rest.total_ps"), before = -1;

        for (size_t i = 0; i < tm_length(rows); i++) {
            const int64_t ps = tm_int(tm_get(tm_at(rows, i), "total_ps"));

            count += tm_int(tm_get(tm_at(rows, i), "count"));
            total += ps;
            assert_true(before < 0 || ps <= before);
            before = ps;
        }
        assert_int_equal(count, 4000);
        assert_int_equal(total, integer(&b, "kernels.total_ps"));
    }
    free(json);
    close_bench(&b);
}

static void rows_of_equal_time_are_in_the_order_of_their_names(void **state)
{
    static const struct tm_config plain = { .has_kernel = 1 };
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    OK(bench_begin(&b));
    for (int i = 20; i-- > 0;) {
        char name[600];

        memset(name, 'x', sizeof(name));
        (void)snprintf(name + i % 2 * 300, 16, "%02d", i);
        take_kernel(&b, name, &plain, US);
    }
    report_bench(&b);
    for (int table = 0; table < 2; table++) {
        const struct tm_value *rows = bench_get(&b, table ? "kernels.by_name" : "kernels.rows");

        assert_int_equal(tm_length(rows), 20);
        for (size_t i = 1; i < 20; i++)
            assert_true(strcmp(tm_text(tm_get(tm_at(rows, i - 1), "name")), tm_text(tm_get(tm_at(rows, i), "name"))) <
                        0);
    }
    close_bench(&b);
}

static void lengths_past_all_measure_do_no_harm(void **state)
{
    static const struct tm_config plain = {
        .has_kernel = 1, .occupancy_milli = UINT32_MAX, .registers = UINT32_MAX, .shared_bytes = UINT64_MAX
    };
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    OK(bench_begin(&b));
    for (int i = 0; i < 9; i++)
        take_kernel(&b, "k", &plain, INT64_MAX);
    take_kernel(&b, "none", &plain, 0);
    report_bench(&b);
    assert_int_equal(integer(&b, "kernels.total_ps"), INT64_MAX);
    assert_int_equal(integer(&b, "kernels.rows[0].total_ps"), INT64_MAX);
    assert_int_equal(integer(&b, "kernels.rows[0].p95_ps"), INT64_MAX);
    assert_int_equal(integer(&b, "kernels.rest.total_ps"), 0);
    assert_true(integer(&b, "kernels.weighted_mean_ps") > 0);
    assert_false(has(&b, "kernels.rows[0].stddev_ps")); /* sums at the end of their range */
    close_bench(&b);
}

static void deviations_are_those_of_all_hosts_together(void **state)
{
    static const struct tm_config plain = { .has_kernel = 1, .registers = 1 };
    char path[KEPT_BENCH_PATH];
    struct tm_run run, other;
    struct bench b, again;

    (void)state;
    open_bench(&b, &run);
    OK(bench_begin(&b));
    take_kernel(&b, "k", &plain, 10 * US);
    take_kernel(&b, "k", &plain, 16 * US);
    OK(bench_end(&b));
    keep_bench(&b, path);
    OK(bench_report(&b));
    assert_int_equal(integer(&b, "kernels.rows[0].stddev_ps"), 4242641); /* sqrt(9 + 9) */
    close_bench(&b);

    test_run_init(&other);
    OK(bench_open(&again, &other, &tm_kernels_stage));
    load_kept_bench(&again, path, 1); /* another host of the same */
    OK(bench_report(&again));
    assert_int_equal(integer(&again, "kernels.rows[0].count"), 4);
    assert_int_equal(integer(&again, "kernels.rows[0].stddev_ps"), 3464102); /* sqrt(4 * 9 / 3) */
    assert_int_equal(integer(&again, "kernels.by_name[0].stddev_ps"), 3464102);
    assert_int_equal(integer(&again, "kernels.total_ps"), 52 * US);
    assert_int_equal(integer(&again, "kernels.weighted_mean_ps"), 13692308); /* 356 / 26 */
    close_bench(&again);
}

static void long_names_are_cut_between_characters(void **state)
{
    static const struct tm_config plain = { .has_kernel = 1 };
    static char name[100000];
    struct tm_run run;
    struct bench b;
    const char *cut;

    (void)state;
    open_bench(&b, &run);
    OK(bench_begin(&b));
    for (size_t i = 0; i + 1 < sizeof(name); i++)
        name[i] = i % 2 ? '\xa4' : '\xc3';
    name[0] = 'k';
    name[1] = 'k';
    name[2] = 'k'; /* the limit falls into a character */
    name[3] = '\xc3';
    name[4] = '\xa4';
    for (size_t i = 5; i + 1 < sizeof(name); i++)
        name[i] = i % 2 ? '\xc3' : '\xa4';
    take_kernel(&b, name, &plain, US);
    report_bench(&b);
    cut = text(&b, "kernels.rows[0].name");
    assert_int_equal(strlen(cut), 255 + 3);
    assert_string_equal(cut + 253, "\xc3\xa4...");
    close_bench(&b);
}

static void more_rows_than_memory_is_an_error(void **state)
{
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    b.settings.table_rows = UINT64_MAX;
    OK(bench_begin(&b));
    for (unsigned i = 0; i < 20000; i++) {
        const struct tm_config config = { .has_kernel = 1, .registers = i };

        take_kernel(&b, "k", &config, US);
    }
    OK(bench_end(&b));
    assert_int_equal(bench_report(&b), TM_ERR_LIMIT);
    assert_non_null(strstr(run.error.hint, "--rows"));
    close_bench(&b);
}

static tm_status whole_job(struct tm_run *run)
{
    struct bench b;
    char *json = NULL;
    const tm_status st = many_names(&b, run, 3000, &json);

    free(json);
    bench_close(&b);
    return st == TM_OK ? run->error.status : st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(whole_job);
}

/* --- names --- */

static void names_tell_the_category(void **state)
{
    /* clang-format off */
    static const struct {
        const char *name, *category;
    } table[] = {
        { "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1_SN_1LDSB0", "gemm/dot" },
        { "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", "gemm/dot" },
        { "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT", "gemm/dot" },
        { "gemm_fusion_dot_general_1.kd", "gemm/dot" },
        { "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16>(Params)",
          "gemm/dot" },
        { "void splitKreduce_kernel<32, 16, int, float>(...)", "gemm/dot" },
        { "dot.3", "gemm/dot" },
        { "%dot_general.17", "gemm/dot" },
        { "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32", "convolution" },
        { "Im3d2Col.kd", "convolution" },
        { "convolution.4", "convolution" },
        { "cudnn-conv-bias-activation.2", "convolution" },
        { "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128>>(Flash_fwd_params)",
          "attention" },
        { "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16", "attention" },
        { "void ck_tile::kentry<ck_tile::gfx950_t, 1, ck_tile::FmhaBwdDQDKDVKernel<...>>",
          "attention" },
        { "transformer_engine::fused_attn_rocm::populate_rng_state_kernel(long*)", "attention" },
        { "loop_add_fusion", "elementwise fusion" },
        { "loop_convert_fusion_3", "elementwise fusion" },
        { "input_concatenate_add_fusion", "elementwise fusion" },
        { "wrapped_convert.kd", "elementwise" },
        { "loop_reduce-precision_fusion", "elementwise" },
        { "broadcast_add_fusion.2", "elementwise fusion" },
        { "loop fusion", "elementwise fusion" },
        { "tanh.5", "elementwise" },
        { "void at::native::vectorized_elementwise_kernel<4>", "elementwise" },
        { "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<TensorCwiseBinaryOp<...",
          "elementwise" },
        { "input_reduce_fusion_1.kd", "reduction" },
        { "triton_softmax_3", "softmax" },
        { "void cub::DeviceReduceKernel<...>", "reduction" },
        { "reduce-window.1", "reduction" },
        { "input_transpose_fusion_1.kd", "copy/transpose" },
        { "loop_transpose_fusion", "copy/transpose" },
        { "loop_dynamic_update_slice_fusion", "copy/transpose" },
        { "input_concatenate_fusion.kd", "copy/transpose" },
        { "wrapped_transpose", "copy/transpose" },
        { "copy-done.1", "copy/transpose" },
        { "bitcast.2", "copy/transpose" },
        { "dynamic-slice.9", "copy/transpose" },
        { "__amd_rocclr_copyBuffer.kd", "copy/transpose" },
        { "custom-call.12", "custom" },
        /* of real profiles, some cut at the end */
        { "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN_transOut_s"
          "wiGlu_sm100f",
          "gemm/dot" },
        { "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>(cutlass_80_tensorop_s1688g"
          "emm::Params)",
          "gemm/dot" },
        { "_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu", "gemm/dot" },
        { "void epilogue::impl::globalKernel<float, float, float, true, true>(int, int, long, float*, "
          "cublasLtEpilogue_t)",
          "gemm/dot" },
        { "cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1", "convolution" },
        { "volta_scudnn_128x128_stridedB_splitK_small_nn_v1", "convolution" },
        { "void fft2d_r2c_32x32<float, false, 0u, false>(float2*, float const*, int, int, "
          "cudnn::reduced_divisor, bool)",
          "convolution" },
        { "_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightINS_47GridwiseGemm_bk0mk1",
          "convolution" },
        { "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11threadblock",
          "convolution" },
        { "void cudnn::winograd_nonfused::winogradForwardData4x4<float, "
          "float>(cudnn::winograd_nonfused::WinogradDataParams<float>)",
          "convolution" },
        { "void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, __hip_bfloat16, 128>(__hip_bfloat16*)",
          "attention" },
        { "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
          "attention" },
        { "kernel_unified_attention_2d", "attention" },
        { "void my_kernel<ck_tile::ComposedAttention<0u, false>>(float*)",
          NULL },
        { "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char, "
          "(vllm::Fp8KVCacheDataType)1>(__nv_bfloat16 const*)",
          "gather/scatter" },
        { "triton_poi_fused__scaled_dot_product_flash_attention_cat_transpose_view_10",
          "elementwise fusion" },
        { "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
          "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)",
          "normalization" },
        { "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib",
          "normalization" },
        { "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassINS_27Rmsnorm2dFwdPipelineP"
          "roblem",
          "normalization" },
        { "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float, float, cudnnTensorStruct)",
          "normalization" },
        { "triton_per_fused__to_copy_add_addmm_mean_mul_pow_rsqrt_transpose_view_8",
          "normalization" },
        { "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float, float>(long, long, float "
          "const*)",
          "normalization" },
        { "void (anonymous namespace)::softmax_warp_forward<float, float, float, 8, false, false>(float*, "
          "float const*, int)",
          "softmax" },
        { "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float> > >",
          "reduction" },
        { "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int, float const*, long)",
          "reduction" },
        { "triton_poi_fused__unsafe_view_mul_silu_2", "elementwise fusion" },
        { "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvP"
          "S3_PS4_i",
          "elementwise fusion" },
        { "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*)",
          "elementwise fusion" },
        { "void at::native::elementwise_kernel<128, 2, "
          "at::native::gpu_kernel_impl<at::native::CUDAFunctor_add<float> >(int)",
          "elementwise" },
        { "void at::native::elementwise_kernel<128, 4, "
          "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda}>",
          "copy/transpose" },
        { "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, long, "
          "long, bool)",
          "gather/scatter" },
        { "void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_cta_per_row_1<c10::Half, "
          "float>(int)",
          "gather/scatter" },
        { "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::Half, long, unsigned int, 2, 2, "
          "-2, true>(int)",
          "gather/scatter" },
        { "void at::native::sbtopk::gatherTopK<c10::BFloat16, unsigned int, 2, false>(int)",
          "sort/top-k" },
        { "void at::native::bitonicSortKVInPlace<2, -1, 16, 16, c10::BFloat16, long>(int)",
          "sort/top-k" },
        { "void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, int>::Policy800, "
          "false>(int*)",
          "sort/top-k" },
        { "void tensorflow::functor::FillPhiloxRandomKernelLaunch<tensorflow::random::UniformDistribution<tenso"
          "rflow::random::PhiloxRandom>>(int)",
          "random numbers" },
        { "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4>(long)",
          "random numbers" },
        { "void tensorrt_llm::kernels::quantize_with_block_size<(tensorrt_llm::BlockScaleQuantizationType)2, "
          "__nv_bfloat16>(flashinfer::QuantizationSFLayout)",
          "quantization" },
        { "void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16, c10::Float8_e4m3fn>(c10::Float8_e4m3fn*)",
          "quantization" },
        { "void fbgemm_gpu::(anonymous namespace)::_compute_FP8_quantize_cuda_kernel<float>(float const*, int)",
          "quantization" },
        { "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
          "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpListAlphaFunctor<float>>(int)",
          "optimizer" },
        { "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
          "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::CopyFunctor<float>>(int)",
          "copy/transpose" },
        { "void moe::dev::routing::routingIndicesHistogramKernel<moe::dev::routing::routingRenormalize::KernelP"
          "arams<__nv_bfloat16>>(int)",
          "moe routing" },
        { "void moe::dev::finalize::finalizeKernelVecLoad<moe::dev::finalize::KernelParams<cutlass::bfloat16_t,"
          " 4, true> >(int)",
          "moe routing" },
        { "_combined_routing_memset", "moe routing" },
        { "void fbgemm_gpu::permute_2D_data_kernel<false, int, int, decltype(nullptr)>(int, int, int)",
          "gather/scatter" },
        { "void transpose_readWrite_alignment_kernel<float2, float2, 1, false, 6, 4, "
          "4>(cublasTransposeParams<float2>, float2 const*)",
          "copy/transpose" },
        { "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(int)",
          "copy/transpose" },
        { "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 1, 128, 1>(float*)",
          "copy/transpose" },
        { "triton__0d1d2d3d4de", "custom" },
        { "at::cuda::(anonymous namespace)::spin_kernel(long)", NULL },
        { "Kernel", NULL },
        { "gather.3", "gather/scatter" },
        { "sort.12", "sort/top-k" },
        { "rng-bit-generator.1", "random numbers" },
        { "summarize", NULL },
        { "ynn_fusion.7", "custom" },
        { "", NULL },
        { "%", NULL },
        { "void my_kernel(float*)", NULL },
        { "convert_to_magic_numbers_we_do_not_know", "elementwise" },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const enum tm_kernel_category category = tm_category_in(table[i].name, strlen(table[i].name));

        if (!table[i].category)
            assert_int_equal(category, TM_CATEGORY_SILENT);
        else if (category == TM_CATEGORY_SILENT)
            fail_msg("'%s' tells no category", table[i].name);
        else
            assert_string_equal(tm_category_name[category], table[i].category);
    }
}

static void other_texts_help_where_the_name_does_not_tell(void **state)
{
    /* clang-format off */
    static const struct {
        const char *name, *hlo_op, *op, *category;
        enum tm_class class;
        enum tm_level level;
        enum tm_kernel_category want;
    } table[] = {
        { "k", "custom-call.1", "jit(f)/dot_general", "", TM_CLASS_KERNEL, TM_LEVEL_COMPUTE,
          TM_CATEGORY_GEMM },
        { "k", "custom-call.1", "jit(f)/pallas_call", "", TM_CLASS_KERNEL, TM_LEVEL_COMPUTE,
          TM_CATEGORY_CUSTOM },
        { "k", "", "jit(f)/transpose(jvp(x))/reduce_sum", "", TM_CLASS_KERNEL, TM_LEVEL_COMPUTE,
          TM_CATEGORY_REDUCTION },
        { "k", "", "", "", TM_CLASS_KERNEL, TM_LEVEL_COMPUTE,
          TM_CATEGORY_CUSTOM }, /* of no library that is known */
        { "void cub::DeviceCompactInitKernel<int*>(int*)", "", "", "", TM_CLASS_KERNEL, TM_LEVEL_COMPUTE,
          TM_CATEGORY_OTHER },
        { "Memset (Device)", "", "", "", TM_CLASS_MEMSET, TM_LEVEL_COMPUTE,
          TM_CATEGORY_MEMSET },
        { "RPA-bq_32-bkvp_64-p_64-.17", "", "jit(ragged_paged_attention)/RPA-bq_32-bkvp_64-p_64-/pallas_call",
          "custom-call", TM_CLASS_TPU_OP, TM_LEVEL_COMPUTE,
          TM_CATEGORY_ATTENTION },
        { "gemm", "", "", "", TM_CLASS_COPY, TM_LEVEL_D2D,
          TM_CATEGORY_COPY },
        { "ncclKernel", "", "", "", TM_CLASS_COLLECTIVE, TM_LEVEL_COLLECTIVE,
          TM_CATEGORY_COLLECTIVE },
        { "fusion.1", "", "jit(f)/dot_general", "convolution fusion",
          TM_CLASS_TPU_OP, TM_LEVEL_COMPUTE,
          TM_CATEGORY_GEMM },
        { "fusion.1", "", "jit(f)/conv_general_dilated", "convolution fusion",
          TM_CLASS_TPU_OP, TM_LEVEL_COMPUTE,
          TM_CATEGORY_CONVOLUTION },
        { "fusion.1", "", "jit(f)/add", "convolution fusion", TM_CLASS_TPU_OP, TM_LEVEL_COMPUTE,
          TM_CATEGORY_CONVOLUTION },
        { "fusion.2", "", "", "loop fusion", TM_CLASS_TPU_OP, TM_LEVEL_COMPUTE,
          TM_CATEGORY_ELEMENTWISE },
        { "infeed", "", "", "infeed", TM_CLASS_TPU_OP, TM_LEVEL_NONE,
          TM_CATEGORY_OTHER },
        { "while.2", "", "", "while", TM_CLASS_TPU_OP, TM_LEVEL_CONTAINER,
          TM_CATEGORY_OTHER },
        { "copy-done", "", "", "copy-done", TM_CLASS_TPU_OP, TM_LEVEL_D2D,
          TM_CATEGORY_COPY },
        { "dot.3", "dot.3", "", "", TM_CLASS_CPU_OP, TM_LEVEL_COMPUTE,
          TM_CATEGORY_GEMM },
    };
    /* clang-format on */
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct tm_category_question question = {
            .name = bench_name(&b, table[i].name),
            .hlo_op = bench_name(&b, table[i].hlo_op),
            .op = bench_name(&b, table[i].op),
            .category = bench_name(&b, table[i].category),
            .class = (uint8_t)table[i].class,
            .level = (uint8_t)table[i].level,
        };

        assert_int_equal(tm_kernel_category_of(b.trace.names, &question), table[i].want);
    }
    close_bench(&b);
}

static void names_tell_precision_and_matrix_units(void **state)
{
    /* clang-format off */
    static const struct {
        const char *name, *precision;
        int tensor_core;
    } table[] = {
        { "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", "bf16", 1 },
        { "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n", "tf32", 1 },
        { "ampere_fp16_s16816gemm_fp16_128x128_ldg8", "f16", 1 },
        { "volta_fp16_s884gemm_fp16_128x64_tn", "f16", 1 },
        { "ampere_sgemm_128x64_nn", "f32", 0 },
        { "ampere_dgemm_128x64_nn", "f64", -1 },
        { "nvjet_hsh_128x256_64x4", "f16", 1 },
        { "nvjet_qqtst_128x256_64x4", "fp8", 1 },
        { "nvjet_", NULL, 1 },
        { "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64", "bf16", 1 },
        { "Cijk_Ailk_Bljk_HHS_BH_MT256x128x64", "f16", 1 },
        { "Cijk_Ailk_Bljk_SB_MT64x64x16", "f32", 1 },
        { "Cijk_Ailk_Bljk_F8BS_BH_MT256", "fp8", 1 },
        { "Cijk_Ailk", NULL, 1 },
        { "sm80_xmma_gemm_s8s8_s8s32_f32", "s8", 1 },
        { "tiles8_gamma_kernel", NULL, -1 },
        { "gemm_fusion_dot_3", NULL, 1 },
        { "loop_add_fusion", NULL, 0 },
        { "void k<float, Eigen::half>(double_buffer)", "f16", -1 },
        { "ck_tile::FmhaFwd<std::bfloat16_t, float>", "bf16", 1 },
        { "", NULL, -1 },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const char *precision = tm_precision_in(table[i].name, strlen(table[i].name));

        if (table[i].precision) {
            assert_non_null(precision);
            assert_string_equal(precision, table[i].precision);
        } else {
            assert_null(precision);
        }
        assert_int_equal(tm_tensor_core_in(table[i].name, strlen(table[i].name)), table[i].tensor_core);
    }
    assert_string_equal(tm_precision_of_hlo("%f = (bf16[8]{0}, u32[]) fusion(f32[8] %x)", 42), "bf16");
    assert_null(tm_precision_of_hlo("%f = u32[8]", 11));
    assert_null(tm_precision_of_hlo("%f = ", 5));
    assert_null(tm_precision_of_hlo("", 0));
}

/* --- top rows --- */

/* The longest table that --rows allows, of the longest rows, with the least memory. */
static void any_number_of_rows_can_be_listed(void **state)
{
    enum { ROWS_MOST = 10000, WORDS = 24 };
    int64_t row[WORDS] = { 0 };
    struct tm_run run;
    struct tm_top_rows *top;

    (void)state;
    test_run_init(&run);
    tm_budget_init(&run.budget, (size_t)TM_MEMORY_LEAST_MIB * TM_MIB);
    top = tm_listed_rows_new(&run, sizeof(row), ROWS_MOST, by_value);
    assert_non_null(top);
    for (row[0] = 0; row[0] < 2 * ROWS_MOST; row[0]++)
        OK(tm_top_rows_add(top, row));
    tm_top_rows_sort(top);
    assert_int_equal(tm_top_rows_count(top), ROWS_MOST);
    assert_int_equal(*(const int64_t *)tm_top_rows_at(top, ROWS_MOST - 1), ROWS_MOST - 1);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_SORT] <= tm_budget_share(&run.budget, TM_ACCOUNT_SORT));
    tm_top_rows_free(top);
    assert_ledger_is_even(&run);
}

static void top_rows_are_the_first_of_all(void **state)
{
    static const uint64_t mosts[] = { 0, 1, 2, 7, 100, 5000 };
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (size_t m = 0; m < sizeof(mosts) / sizeof(mosts[0]); m++) {
        enum { ROWS = 3000 };
        static int64_t all[ROWS];
        struct tm_top_rows *top = tm_top_rows_new(&run, TM_ACCOUNT_TABLES, sizeof(int64_t), mosts[m], 100000, by_value);
        const uint64_t want = mosts[m] < ROWS ? mosts[m] : ROWS;
        uint64_t seed = m;

        assert_non_null(top);
        for (int i = 0; i < ROWS; i++) {
            all[i] = (int64_t)(next_number(&seed) % 100000);
            OK(tm_top_rows_add(top, &all[i]));
        }
        tm_top_rows_sort(top);
        qsort(all, ROWS, sizeof(all[0]), by_value);
        assert_int_equal(tm_top_rows_count(top), want);
        for (uint64_t i = 0; i < want; i++)
            assert_int_equal(*(const int64_t *)tm_top_rows_at(top, i), all[i]);
        tm_top_rows_free(top);
    }
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hlo_tells_precision_matrix_units_and_products),
        cmocka_unit_test(means_are_of_kernels_that_compute),
        cmocka_unit_test(launches_of_one_configuration_are_a_row),
        cmocka_unit_test(equal_names_of_two_handles_are_one_kernel),
        cmocka_unit_test(what_counts_is_what_the_devices_count),
        cmocka_unit_test(tpu_ops_that_wait_for_the_host_are_rows),
        cmocka_unit_test(without_active_devices_there_is_no_table),
        cmocka_unit_test(the_first_launch_tells_the_op),
        cmocka_unit_test(of_launches_at_one_moment_the_one_that_came_first_tells_the_op),
        cmocka_unit_test(quantiles_are_of_the_sorted_lengths),
        cmocka_unit_test(many_names_keep_to_the_memory_and_to_the_result),
        cmocka_unit_test(rows_and_rest_add_up),
        cmocka_unit_test(rows_of_equal_time_are_in_the_order_of_their_names),
        cmocka_unit_test(lengths_past_all_measure_do_no_harm),
        cmocka_unit_test(deviations_are_those_of_all_hosts_together),
        cmocka_unit_test(long_names_are_cut_between_characters),
        cmocka_unit_test(more_rows_than_memory_is_an_error),
        cmocka_unit_test(each_refused_request_ends_clean),
        cmocka_unit_test(names_tell_the_category),
        cmocka_unit_test(other_texts_help_where_the_name_does_not_tell),
        cmocka_unit_test(names_tell_precision_and_matrix_units),
        cmocka_unit_test(any_number_of_rows_can_be_listed),
        cmocka_unit_test(top_rows_are_the_first_of_all),
    };

    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
