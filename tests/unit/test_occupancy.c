/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_stages.h"

#include <stdio.h>

#include "stages/figures/device_limits.h"
#include "tests/support/kept_bench.h"
#include "tests/support/stage_driver.h"
#include "tests/support/test_run.h"

enum { US = 1000000 };

#define OK(call) assert_int_equal(call, TM_OK)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- the rules of occupancy --- */

/* Launches of real profiles, with the occupancy that CUPTI or PyTorch recorded of them. */
static void limits_are_those_of_the_calculator(void **state)
{
    static const struct {
        struct tm_launch_shape shape;
        enum tm_occupancy_limiter limiter;
        uint32_t resident;
    } rows[] = {
        /* GTX 1080 Ti: 128 threads of 12 registers; JAX */
        { { 3, 128, 12, 0, 28, 6, 1, 100000 }, TM_LIMITER_NONE, 16 },
        /* V100: cuDNN's dgrad, 64 threads of 88 registers, 31 %; its wgrad 38 % */
        { { 3584, 64, 88, 3328, 80, 7, 0, 31000 }, TM_LIMITER_REGISTERS, 10 },
        { { 1024, 256, 80, 6400, 80, 7, 0, 38000 }, TM_LIMITER_REGISTERS, 3 },
        /* V100: a batch norm of 64 blocks of 512 threads: 0.8 blocks for each multiprocessor, 20 % */
        { { 64, 512, 32, 400, 80, 7, 0, 20000 }, TM_LIMITER_GRID, 4 },
        /* H100: flash attention, 255 registers */
        { { 1280, 128, 255, 49152, 132, 9, 0, 13000 }, TM_LIMITER_REGISTERS, 2 },
        /* RTX 2080 Ti: 1024 threads at most */
        { { 256, 64, 126, 8704, 68, 7, 5, 24000 }, TM_LIMITER_GRID, 7 },
        /* A100: 32 KiB of shared memory and 1 KiB reserved: 4 blocks of 164 KiB */
        { { 512, 128, 32, 32768, 108, 8, 0, 25000 }, TM_LIMITER_SHARED_MEMORY, 4 },
        /* 768 threads: two blocks of three quarters */
        { { 999, 768, 16, 0, 108, 8, 0, 75000 }, TM_LIMITER_BLOCK_SIZE, 2 },
        /* 32 blocks of one warp are all there can be */
        { { 99999, 32, 16, 0, 80, 7, 0, 50000 }, TM_LIMITER_BLOCK_SIZE, 32 },
        /* recorded and worked out differ */
        { { 999, 128, 32, 0, 80, 7, 0, 60000 }, TM_LIMITER_UNKNOWN, 0 },
        /* not in the table, not recorded, no block, more than a block can have, more shared memory than there is */
        { { 999, 128, 32, 0, 80, 2, 0, 100000 }, TM_LIMITER_UNKNOWN, 0 },
        { { 999, 128, 32, 0, 80, 7, 0, 0 }, TM_LIMITER_UNKNOWN, 0 },
        { { 999, 0, 32, 0, 80, 7, 0, 100000 }, TM_LIMITER_UNKNOWN, 0 },
        { { 999, 1025, 32, 0, 80, 7, 0, 50000 }, TM_LIMITER_UNKNOWN, 0 },
        { { UINT64_MAX, 1024, UINT32_MAX, UINT64_MAX, UINT64_MAX, 7, 0, 1 }, TM_LIMITER_UNKNOWN, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct tm_occupancy found = tm_occupancy_of(&rows[i].shape);

        if (found.limiter != rows[i].limiter || found.resident != rows[i].resident)
            fail_msg("row %zu is limited by %s to %u blocks", i, tm_limiter_name[found.limiter], found.resident);
    }
}

/* What real profiles of PyTorch record, and what it is. */
static void an_estimate_of_0_is_a_value(void **state)
{
    static const struct {
        struct tm_config config;
        uint32_t core_count, major, minor, milli;
        bool is_known;
    } rows[] = {
        /* H100: one thread in all */
        { { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .has_achieved = 1 }, 132, 9, 0, 0, true },
        /* A100: 16 blocks of 128 threads, rounded to 1 %; one of 512, rounded to 0 */
        { { .grid = { 16, 1, 1 }, .block = { 128, 1, 1 }, .registers = 22, .occupancy_milli = 1000, .has_achieved = 1 },
          108,
          8,
          0,
          926,
          true },
        { { .grid = { 1, 1, 1 }, .block = { 512, 1, 1 }, .registers = 22, .has_achieved = 1 }, 108, 8, 0, 231, true },
        /* registers limit it, not the grid: as recorded */
        /* clang-format off */
        { { .grid = { 1280, 1, 1 }, .block = { 128, 1, 1 }, .registers = 255, .occupancy_milli = 13000,
            .has_achieved = 1 }, 132, 9, 0, 13000, true },
        /* 96 KiB of shared memory: the estimate has no block fit; one does */
        { { .grid = { 1024, 1, 1 }, .block = { 256, 1, 1 }, .registers = 128, .shared_bytes = 96 << 10,
            .has_achieved = 1 }, 108, 8, 0, 12500, true },
        { { .grid = { 1024, 1, 1 }, .block = { 256, 1, 1 }, .shared_bytes = 96 << 10, .has_achieved = 1 }, 108, 8, 0, 0,
          false },
        /* a device that is not known */
        { { .grid = { 1, 1, 1 }, .block = { 512, 1, 1 }, .has_achieved = 1 }, 0, 0, 0, 0, true },
        { { .grid = { 1, 1, 1 }, .block = { 512, 1, 1 }, .has_achieved = 1 }, 10, 2, 0, 0, true },
        { { .grid = { UINT32_MAX, UINT32_MAX, UINT32_MAX }, .block = { UINT32_MAX, UINT32_MAX, 1 },
            .occupancy_milli = 50000, .has_achieved = 1 }, 108, 8, 0, 50000, true },
        /* of JAX and of a statistic 0 is not recorded, and what is recorded stays */
        { { .grid = { 16, 1, 1 }, .block = { 128, 1, 1 } }, 108, 8, 0, 0, false },
        { { .grid = { 16, 1, 1 }, .block = { 128, 1, 1 }, .occupancy_milli = 62500 }, 108, 8, 0, 62500, true },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct tm_device device = { .core_count = rows[i].core_count,
                                          .capability_major = rows[i].major,
                                          .capability_minor = rows[i].minor };
        uint32_t milli;
        const bool is_known = tm_recorded_occupancy(&rows[i].config, &device, &milli);

        if (is_known != rows[i].is_known || (is_known && milli != rows[i].milli))
            fail_msg("row %zu: %d, %u", i, is_known, milli);
    }
}

/* --- the stage --- */

struct rig {
    struct tm_run run;
    struct bench bench;
    uint32_t next_config;
};

static tm_status try_rig(struct rig *r)
{
    const tm_status st = bench_open(&r->bench, &r->run, &tm_occupancy_stage);

    if (st != TM_OK)
        return st;
    r->bench.devices[0].capability_major = 7;
    r->bench.devices[0].core_count = 80;
    return bench_begin(&r->bench);
}

static void open_rig(struct rig *r)
{
    memset(r, 0, sizeof(*r));
    test_run_init(&r->run);
    OK(try_rig(r));
}

static void report_rig(struct rig *r)
{
    OK(bench_end(&r->bench));
    OK(bench_report(&r->bench));
}

static void end_rig(struct rig *r)
{
    bench_close(&r->bench);
    assert_ledger_is_even(&r->run);
}

/* A kernel of so many blocks of 512 threads with 32 registers: 320 blocks are a wave of 80 multiprocessors. */
static struct tm_config wave_config(uint32_t blocks, uint32_t milli)
{
    return (struct tm_config){ .level = TM_LEVEL_NONE,
                               .ordinal = TM_NONE,
                               .grid = { blocks, 1, 1 },
                               .block = { 512, 1, 1 },
                               .registers = 32,
                               .has_kernel = 1,
                               .occupancy_milli = milli };
}

static void take(struct rig *r, const char *name, enum tm_class class, const struct tm_config *config, int64_t dur_us)
{
    struct tm_event event = bench_event(bench_name(&r->bench, name), class, config, 0, dur_us * US);

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

static void the_mean_is_weighted_by_time(void **state)
{
    const struct tm_config full = wave_config(320, 100000), low = wave_config(80, 12500), silent = wave_config(1, 0);
    struct rig r;

    (void)state;
    open_rig(&r);
    take(&r, "a", TM_CLASS_KERNEL, &full, 100);
    take(&r, "b", TM_CLASS_KERNEL, &low, 300);
    take(&r, "c", TM_CLASS_KERNEL, &silent, 50);
    take(&r, "ncclDevKernel", TM_CLASS_COLLECTIVE, &low, 400);
    report_rig(&r);
    assert_true(number(&r, "occupancy.mean_pct") == (100.0 * 100 + 12.5 * 300) / 400);
    assert_int_equal(integer(&r, "occupancy.known_ps"), 400 * US);
    assert_int_equal(integer(&r, "occupancy.unknown_ps"), 50 * US);
    assert_true(number(&r, "occupancy.with_collectives.mean_pct") == (100.0 * 100 + 12.5 * 700) / 800);
    assert_int_equal(integer(&r, "occupancy.with_collectives.known_ps"), 800 * US);
    assert_int_equal(tm_length(bench_get(&r.bench, "occupancy.histogram")), 10);
    assert_int_equal(integer(&r, "occupancy.histogram[1].count"), 1);
    assert_int_equal(integer(&r, "occupancy.histogram[1].total_ps"), 300 * US);
    assert_int_equal(integer(&r, "occupancy.histogram[9].count"), 1); /* 100 is in the last bin */
    end_rig(&r);
}

static void variants_of_a_kernel_are_one_low_row(void **state)
{
    struct tm_config small = wave_config(80, 25000), other = wave_config(40, 12500), full = wave_config(320, 100000);
    struct rig r;

    (void)state;
    open_rig(&r);
    small.op = bench_name(&r.bench, "jit(f)/layer_0/add");
    take(&r, "loop_add_fusion_1", TM_CLASS_KERNEL, &small, 10);
    small.op = bench_name(&r.bench, "jit(f)/layer_1/add");
    take(&r, "loop_add_fusion_2", TM_CLASS_KERNEL, &small, 30);
    take(&r, "sgemm", TM_CLASS_KERNEL, &other, 9); /* under 1 % */
    take(&r, "loop_mul_fusion", TM_CLASS_KERNEL, &full, 951);
    report_rig(&r);
    assert_int_equal(tm_length(bench_get(&r.bench, "occupancy.low")), 1);
    assert_string_equal(tm_text(bench_get(&r.bench, "occupancy.low[0].name")), "loop_add_fusion");
    assert_string_equal(tm_text(bench_get(&r.bench, "occupancy.low[0].op")), "jit(f)/layer_1/add");
    assert_string_equal(tm_text(bench_get(&r.bench, "occupancy.low[0].category")), "elementwise fusion");
    assert_string_equal(tm_text(bench_get(&r.bench, "occupancy.low[0].limiter")), "grid");
    assert_string_equal(tm_text(bench_get(&r.bench, "occupancy.low[0].grid")), "80,1,1");
    assert_string_equal(tm_text(bench_get(&r.bench, "occupancy.low[0].block")), "512,1,1");
    assert_int_equal(integer(&r, "occupancy.low[0].variants"), 2);
    assert_int_equal(integer(&r, "occupancy.low[0].count"), 2);
    assert_int_equal(integer(&r, "occupancy.low[0].total_ps"), 40 * US);
    assert_true(number(&r, "occupancy.low[0].share_pct") == 4);
    assert_true(number(&r, "occupancy.low[0].waves") == 0.25);
    assert_int_equal(integer(&r, "occupancy.limiters.grid"), 49 * US);
    assert_int_equal(integer(&r, "occupancy.limiters.none"), 951 * US);
    end_rig(&r);
}

static void the_last_wave_loses_what_it_leaves_empty(void **state)
{
    const struct tm_config two = wave_config(640, 100000), bit_more = wave_config(400, 100000);
    const struct tm_config half = wave_config(160, 50000), few = wave_config(20, 6250);
    struct rig r;

    (void)state;
    open_rig(&r);
    take(&r, "two_waves", TM_CLASS_KERNEL, &two, 1000);
    take(&r, "bit_more", TM_CLASS_KERNEL, &bit_more, 800); /* 1.25 of 2 waves: 37.5 % */
    take(&r, "half", TM_CLASS_KERNEL, &half, 100);         /* every multiprocessor has blocks */
    take(&r, "few", TM_CLASS_KERNEL, &few, 40);            /* of 80 multiprocessors 60 have none */
    report_rig(&r);
    assert_int_equal(integer(&r, "occupancy.tail.known_ps"), 1940 * US);
    assert_int_equal(integer(&r, "occupancy.tail.lost_ps"), 300 * US + 50 * US + 37500000);
    assert_int_equal(integer(&r, "occupancy.tail.below_one_wave_ps"), 50 * US + 37500000);
    assert_int_equal(integer(&r, "occupancy.tail.idle_multiprocessors_ps"), 30 * US);
    assert_int_equal(tm_length(bench_get(&r.bench, "occupancy.tail.rows")), 3);
    assert_string_equal(tm_text(bench_get(&r.bench, "occupancy.tail.rows[0].name")), "bit_more");
    assert_true(number(&r, "occupancy.tail.rows[0].waves") == 1.25);
    assert_true(number(&r, "occupancy.tail.rows[0].tail_pct") == 37.5);
    end_rig(&r);
}

static void without_known_limits_there_are_no_waves(void **state)
{
    struct tm_config odd = wave_config(100, 33000);
    struct rig r;

    (void)state;
    open_rig(&r);
    take(&r, "odd", TM_CLASS_KERNEL, &odd, 100);
    odd.grid[0] = odd.grid[1] = odd.grid[2] = UINT32_MAX;
    odd.block[0] = odd.block[1] = odd.block[2] = UINT32_MAX;
    take(&r, "hostile", TM_CLASS_KERNEL, &odd, 100);
    odd.occupancy_milli = UINT32_MAX;
    take(&r, "more than full", TM_CLASS_KERNEL, &odd, 100);
    report_rig(&r);
    assert_false(tm_has(bench_get(&r.bench, "occupancy.low[0].waves")));
    assert_string_equal(tm_text(bench_get(&r.bench, "occupancy.low[0].limiter")), "unknown");
    assert_int_equal(integer(&r, "occupancy.tail.known_ps"), 0);
    assert_int_equal(integer(&r, "occupancy.limiters.unknown"), 300 * US);
    end_rig(&r);
}

static void what_is_not_recorded_has_a_reason(void **state)
{
    const struct tm_config silent = wave_config(1, 0);
    static const enum tm_device_kind kinds[] = { TM_DEVICE_TPU, TM_DEVICE_CPU };
    struct rig r;

    (void)state;
    open_rig(&r);
    take(&r, "a", TM_CLASS_KERNEL, &silent, 1);
    report_rig(&r);
    assert_non_null(strstr(tm_why(bench_get(&r.bench, "occupancy")), "does not record"));
    end_rig(&r);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct tm_run run;
        struct bench b;

        test_run_init(&run);
        OK(bench_open(&b, &run, &tm_occupancy_stage));
        bench_devices(&b, 1, kinds[i], 0, 1000);
        OK(bench_begin(&b));
        OK(bench_end(&b));
        OK(bench_report(&b));
        assert_non_null(strstr(tm_why(bench_get(&b, "occupancy")), "GPUs"));
        bench_close(&b);
    }
}

/* --- partials --- */

static void what_was_saved_is_read_again(void **state)
{
    const struct tm_config low = wave_config(400, 100000), silent = wave_config(1, 0);
    char path[KEPT_BENCH_PATH];
    struct rig r;
    struct tm_run run;
    struct bench again;

    (void)state;
    open_rig(&r);
    take(&r, "a", TM_CLASS_KERNEL, &low, 80);
    take(&r, "b", TM_CLASS_KERNEL, &silent, 7);
    take(&r, "ncclDevKernel", TM_CLASS_COLLECTIVE, &low, 5);
    OK(bench_end(&r.bench));
    keep_bench(&r.bench, path);
    end_rig(&r);

    test_run_init(&run);
    OK(bench_open(&again, &run, &tm_occupancy_stage));
    load_kept_bench(&again, path, 0); /* another host of the same */
    OK(bench_report(&again));
    assert_int_equal(tm_int(bench_get(&again, "occupancy.known_ps")), 160 * US);
    assert_int_equal(tm_int(bench_get(&again, "occupancy.unknown_ps")), 14 * US);
    assert_int_equal(tm_int(bench_get(&again, "occupancy.with_collectives.known_ps")), 170 * US);
    assert_int_equal(tm_int(bench_get(&again, "occupancy.tail.rows[0].count")), 2);
    assert_int_equal(tm_int(bench_get(&again, "occupancy.tail.lost_ps")), 60 * US);
    bench_close(&again);
    assert_ledger_is_even(&run);
}

/* --- memory --- */

static tm_status many_kernels(struct rig *r, uint32_t count)
{
    tm_status st = try_rig(r);

    for (uint32_t i = 0; i < count && st == TM_OK; i++) {
        const struct tm_config config = wave_config(i + 1, 12500);
        struct tm_event event = bench_event(0, TM_CLASS_KERNEL, &config, 0, US);

        event.record.config = i + 1;
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
    assert_int_equal(integer(&r, "occupancy.low[0].variants"), 20000);
    assert_true(r.run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= bench_tables_memory(&r.run, TM_TABLES_OCCUPANCY));
    end_rig(&r);
}

static tm_status whole_job(struct tm_run *run)
{
    struct rig r = { .run = *run };
    const tm_status st = many_kernels(&r, 1500);

    bench_close(&r.bench);
    *run = r.run;
    return st == TM_OK ? run->error.status : st;
}

static void an_occupancy_of_0_counts(void **state)
{
    struct rig r;
    struct tm_config none = wave_config(320, 0), one = wave_config(1, 0);

    (void)state;
    open_rig(&r);
    one.has_achieved = 1; /* 512 of 80 x 2048 threads */
    take(&r, "not_recorded", TM_CLASS_KERNEL, &none, 50);
    take(&r, "one_block", TM_CLASS_KERNEL, &one, 100);
    report_rig(&r);
    assert_true(number(&r, "occupancy.mean_pct") == 0.313);
    assert_int_equal(integer(&r, "occupancy.known_ps"), 100 * US);
    assert_int_equal(integer(&r, "occupancy.unknown_ps"), 50 * US);
    assert_int_equal(integer(&r, "occupancy.histogram[0].count"), 1);
    assert_string_equal(tm_text(bench_get(&r.bench, "occupancy.low[0].limiter")), "grid");
    end_rig(&r);
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(whole_job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_those_of_the_calculator),
        cmocka_unit_test(an_estimate_of_0_is_a_value),
        cmocka_unit_test(an_occupancy_of_0_counts),
        cmocka_unit_test(the_mean_is_weighted_by_time),
        cmocka_unit_test(variants_of_a_kernel_are_one_low_row),
        cmocka_unit_test(the_last_wave_loses_what_it_leaves_empty),
        cmocka_unit_test(without_known_limits_there_are_no_waves),
        cmocka_unit_test(what_is_not_recorded_has_a_reason),
        cmocka_unit_test(what_was_saved_is_read_again),
        cmocka_unit_test(many_kernels_keep_to_the_memory),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("occupancy", tests, NULL, NULL);
}
