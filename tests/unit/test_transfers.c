/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_stages.h"

#include <stdio.h>
#include <stdlib.h>

#include "stages/resolve/classes.h"
#include "tests/support/stage_driver.h"
#include "tests/support/test_run.h"

enum { US = 1000000 };

#define OK(call) assert_int_equal(call, TM_OK)

static void open_bench(struct bench *b, struct tm_run *run)
{
    test_run_init(run);
    OK(bench_open(b, run, &tm_transfers_stage));
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

static int64_t integer(const struct bench *b, const char *path)
{
    if (!tm_has(bench_get(b, path)))
        fail_msg("%s is missing", path);
    return tm_int(bench_get(b, path));
}

static const char *text(const struct bench *b, const char *path)
{
    return tm_text(bench_get(b, path));
}

/* bytes 0: the size is not known. */
static struct tm_config config_of(enum tm_direction direction, uint64_t bytes)
{
    return (struct tm_config){
        .has_copy = 1, .direction = (uint8_t)direction, .copy_bytes = bytes, .has_copy_bytes = bytes != 0
    };
}

struct copy {
    enum tm_direction direction;
    uint64_t bytes;
    int64_t start_us, dur_us;
    uint32_t device, step;
};

static tm_status take_copy(struct bench *b, const struct copy *copy)
{
    const struct tm_config config = config_of(copy->direction, copy->bytes);
    struct tm_event event = bench_event(0, TM_CLASS_COPY, &config, copy->start_us * US, copy->dur_us * US);

    event.device = copy->device;
    event.step = copy->step;
    event.chosen = copy->step != TM_NONE;
    return bench_take(b, &event);
}

static void take_copies(struct bench *b, const struct copy *copies, size_t count)
{
    for (size_t i = 0; i < count; i++)
        OK(take_copy(b, &copies[i]));
}

static void take_kernel(struct bench *b, int64_t start_us, int64_t dur_us)
{
    static const struct tm_config none = { .level = TM_LEVEL_NONE };
    const struct tm_event event = bench_event(0, TM_CLASS_KERNEL, &none, start_us * US, dur_us * US);

    OK(bench_take(b, &event));
}

#define TAKE(b, copies) take_copies(b, copies, sizeof(copies) / sizeof((copies)[0]))

static const struct tm_value *direction_row(const struct bench *b, const char *direction)
{
    const struct tm_value *rows = bench_get(b, "transfers.by_direction");

    for (size_t i = 0; i < tm_length(rows); i++)
        if (strcmp(tm_text(tm_get(tm_at(rows, i), "direction")), direction) == 0)
            return tm_at(rows, i);
    return NULL;
}

static int64_t of(const struct bench *b, const char *direction, const char *figure)
{
    const struct tm_value *value = tm_path(direction_row(b, direction), figure);

    if (!tm_has(value))
        fail_msg("%s.%s is missing", direction, figure);
    return tm_int(value);
}

/* --- by direction --- */

static void copies_are_summed_by_direction(void **state)
{
    /* clang-format off */
    static const struct copy copies[] = {
        { TM_H2D, 4096, 0, 10, 0, 0 }, { TM_H2D, 8192, 20, 10, 0, 1 }, { TM_H2D, 0, 40, 5, 0, 1 },
        { TM_H2D, 1000, 60, 2, 0, TM_NONE }, { TM_D2H, 4, 70, 1, 0, 2 },
        { TM_OTHER_DIRECTION, 0, 80, 1, 0, 2 },
        { TM_P2P, 64, 90, 1, 0, TM_NONE },
    };
    /* clang-format on */
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    OK(bench_begin(&b));
    TAKE(&b, copies);
    report_bench(&b);
    assert_int_equal(tm_length(bench_get(&b, "transfers.by_direction")), 4);
    assert_int_equal(of(&b, "h2d", "count"), 3);
    assert_int_equal(of(&b, "h2d", "bytes"), 12288);
    assert_int_equal(of(&b, "h2d", "total_ps"), 25 * US);
    assert_int_equal(of(&b, "h2d", "unknown_bytes_count"), 1);
    assert_int_equal(of(&b, "h2d", "mean_bandwidth"), 614400000);
    assert_int_equal(of(&b, "h2d", "max_bandwidth"), 819200000);
    assert_int_equal(of(&b, "h2d", "outside.count"), 1);
    assert_int_equal(of(&b, "h2d", "outside.bytes"), 1000);
    assert_int_equal(of(&b, "h2d", "outside.total_ps"), 2 * US);
    assert_int_equal(of(&b, "d2h", "bytes"), 4);
    assert_int_equal(of(&b, "d2h", "outside.bytes"), 0);
    assert_int_equal(of(&b, "other", "count"), 1);
    assert_false(tm_has(tm_get(direction_row(&b, "other"), "bytes")));
    assert_false(tm_has(tm_get(direction_row(&b, "other"), "mean_bandwidth")));
    assert_int_equal(of(&b, "p2p", "count"), 0);
    assert_int_equal(of(&b, "p2p", "outside.count"), 1);
    assert_null(direction_row(&b, "d2d"));
    close_bench(&b);
}

static void what_runs_beside_a_copy_hides_it(void **state)
{
    static const struct copy h2d = { TM_H2D, 1, 5, 10, 0, 0 }, d2h = { TM_D2H, 1, 14, 6, 0, 0 },
                             d2d = { TM_D2D, 1, 30, 10, 0, TM_NONE };
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    bench_devices(&b, 1, TM_DEVICE_GPU, 2 * US, 33 * US);
    OK(bench_begin(&b));
    take_kernel(&b, 0, 10);  /* hides 5 to 10 of the copy to the device */
    OK(take_copy(&b, &h2d)); /* 10 to 15: exposed */
    OK(take_copy(&b, &d2h)); /* 15 to 16 and 18 to 20: exposed */
    take_kernel(&b, 16, 2);
    OK(take_copy(&b, &d2d)); /* outside of the chosen steps, but 30 to 33 in the window */
    report_bench(&b);
    assert_int_equal(of(&b, "h2d", "exposed_ps"), 5 * US);
    assert_int_equal(of(&b, "d2h", "exposed_ps"), 3 * US);
    assert_int_equal(of(&b, "d2d", "exposed_ps"), 0);
    assert_int_equal(of(&b, "d2d", "outside.exposed_ps"), 3 * US);
    close_bench(&b);
}

/* Where a copy that counts and one that does not run at once, the time is that of the first. */
static void a_row_is_about_the_same_copies_in_all_its_columns(void **state)
{
    static const struct copy before = { TM_H2D, 1, 0, 12, 0, TM_NONE }, inside = { TM_H2D, 1, 10, 10, 0, 0 },
                             after = { TM_H2D, 1, 15, 20, 0, TM_NONE };
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    bench_devices(&b, 1, TM_DEVICE_GPU, 2 * US, 33 * US);
    OK(bench_begin(&b));
    OK(take_copy(&b, &before)); /* 2 to 10 */
    OK(take_copy(&b, &inside)); /* 10 to 20 */
    OK(take_copy(&b, &after));  /* 20 to 33 */
    report_bench(&b);
    assert_int_equal(of(&b, "h2d", "total_ps"), 10 * US);
    assert_int_equal(of(&b, "h2d", "exposed_ps"), 10 * US);
    assert_int_equal(of(&b, "h2d", "outside.total_ps"), 32 * US);
    assert_int_equal(of(&b, "h2d", "outside.exposed_ps"), (8 + 13) * US);
    close_bench(&b);
}

static void copies_in_flight_at_once_share_the_link(void **state)
{
    static const struct copy copies[] = { { TM_H2D, 6000000, 0, 10, 0, 0 },
                                          { TM_H2D, 6000000, 5, 15, 0, 0 },
                                          { TM_H2D, 6000000, 30, 10, 0, 0 },
                                          { TM_D2H, 3000000, 12, 10, 0, 0 } };
    static const struct copy other = { TM_H2D, 12000000, 40, 30, 1, 0 };
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    bench_devices(&b, 2, TM_DEVICE_GPU, 0, INT64_MAX);
    OK(bench_begin(&b));
    OK(take_copy(&b, &copies[0]));
    OK(take_copy(&b, &copies[1]));
    OK(take_copy(&b, &copies[3]));
    OK(take_copy(&b, &copies[2]));
    OK(take_copy(&b, &other)); /* of another device: a link of its own */
    report_bench(&b);
    assert_int_equal(of(&b, "h2d", "total_ps"), 65 * US);
    assert_int_equal(of(&b, "h2d", "mean_bandwidth"), 500000000000); /* 30 MB in 20 + 10 + 30 us */
    assert_int_equal(of(&b, "h2d", "max_bandwidth"), 600000000000);
    assert_int_equal(of(&b, "d2h", "mean_bandwidth"), 300000000000);
    close_bench(&b);
}

static void a_copy_for_a_collective_is_a_transfer_too(void **state)
{
    const struct tm_config config = config_of(TM_P2P, 4096);
    const struct tm_config none = { .level = TM_LEVEL_NONE };
    struct tm_run run;
    struct bench b;
    struct tm_event event;

    (void)state;
    open_bench(&b, &run);
    OK(bench_begin(&b));
    event = bench_event(0, TM_CLASS_COLLECTIVE, &config, 0, US);
    OK(bench_take(&b, &event));
    event = bench_event(0, TM_CLASS_COLLECTIVE, &none, 2 * US, US);
    OK(bench_take(&b, &event));
    report_bench(&b);
    assert_int_equal(of(&b, "p2p", "count"), 1);
    assert_int_equal(of(&b, "p2p", "exposed_ps"), 0);
    close_bench(&b);
}

static void devices_and_the_host_make_pairs(void **state)
{
    /* clang-format off */
    static const struct copy copies[] = {
        { TM_H2D, 1, 0, 1, 0, 0 }, { TM_H2D, 2, 1, 2, 1, 0 }, { TM_D2H, 3, 3, 3, 1, 0 },
        { TM_D2D, 4, 6, 4, 0, 0 }, { TM_P2P, 5, 10, 5, 1, 0 },
        { TM_OTHER_DIRECTION, 0, 15, 6, 1, 0 },
    };
    static const char *const want[][2] = {
        { "h0/gpu:1", "unknown" }, { "h0/gpu:1", "another device" }, { "h0/gpu:0", "h0/gpu:0" },
        { "h0/gpu:1", "host" },    { "host", "h0/gpu:1" },           { "host", "h0/gpu:0" },
    };
    /* clang-format on */
    const struct tm_value *rows;
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    bench_devices(&b, 2, TM_DEVICE_GPU, 0, INT64_MAX);
    OK(bench_begin(&b));
    TAKE(&b, copies);
    report_bench(&b);
    rows = bench_get(&b, "transfers.by_pair");
    assert_int_equal(tm_length(rows), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(tm_text(tm_get(tm_at(rows, i), "from")), want[i][0]);
        assert_string_equal(tm_text(tm_get(tm_at(rows, i), "to")), want[i][1]);
        assert_int_equal(tm_int(tm_get(tm_at(rows, i), "total_ps")), (int64_t)(6 - i) * US);
    }
    assert_false(tm_has(tm_get(tm_at(rows, 0), "bytes")));
    close_bench(&b);
}

/* --- sizes --- */

static void sizes_are_in_powers_of_two(void **state)
{
    /* clang-format off */
    static const struct copy copies[] = {
        { TM_H2D, 1, 0, 1, 0, 0 },      { TM_H2D, 2, 1, 1, 0, 0 },        { TM_H2D, 3, 2, 1, 0, 0 },
        { TM_D2H, 4, 3, 1, 0, 0 }, { TM_D2H, 1 << 20, 4, 1, 0, 0 },
        { TM_D2H, UINT64_MAX, 5, 1, 0, 0 },
        { TM_D2H, UINT64_MAX, 6, 1, 0, 0 }, { TM_D2H, 0, 7, 1, 0, 0 },
    };
    /* clang-format on */
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    OK(bench_begin(&b));
    TAKE(&b, copies);
    report_bench(&b);
    assert_int_equal(tm_length(bench_get(&b, "transfers.sizes")), 5);
    assert_int_equal(integer(&b, "transfers.sizes[0].from_bytes"), 0);
    assert_int_equal(integer(&b, "transfers.sizes[0].to_bytes"), 2);
    assert_int_equal(integer(&b, "transfers.sizes[1].from_bytes"), 2);
    assert_int_equal(integer(&b, "transfers.sizes[1].count"), 2);
    assert_int_equal(integer(&b, "transfers.sizes[1].bytes"), 5);
    assert_int_equal(integer(&b, "transfers.sizes[2].from_bytes"), 4);
    assert_int_equal(integer(&b, "transfers.sizes[3].to_bytes"), 2 << 20);
    assert_int_equal(integer(&b, "transfers.sizes[4].count"), 2);
    assert_false(tm_has(bench_get(&b, "transfers.sizes[4].to_bytes")));
    close_bench(&b);
}

static void the_largest_copies_are_listed(void **state)
{
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    OK(bench_begin(&b));
    for (int i = 0; i < 100; i++) {
        const struct copy copy = { TM_D2D, (uint64_t)(i * 37 % 50 + 1), i, 1, 0, i == 0 ? TM_NONE : 0 };

        OK(take_copy(&b, &copy));
    }
    report_bench(&b);
    assert_int_equal(tm_length(bench_get(&b, "transfers.largest")), 20);
    assert_int_equal(integer(&b, "transfers.largest[0].bytes"), 50);
    assert_int_equal(integer(&b, "transfers.largest[1].bytes"), 50);
    assert_true(integer(&b, "transfers.largest[0].begin_ps") < integer(&b, "transfers.largest[1].begin_ps"));
    assert_int_equal(integer(&b, "transfers.largest[19].bytes"), 41);
    assert_string_equal(text(&b, "transfers.largest[0].device"), "h0/gpu:0");
    assert_string_equal(text(&b, "transfers.largest[0].direction"), "d2d");
    close_bench(&b);
}

/* --- steps --- */

static void a_size_in_nearly_every_step_is_repeated(void **state)
{
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    b.trace.steps.chosen_begin = 3; /* 5 steps */
    OK(bench_begin(&b));
    for (uint32_t step = 3; step < 8; step++) {
        /* clang-format off */
        const struct copy copies[] = {
            { TM_H2D, 100, step * 10, 1, 0, step }, { TM_H2D, 100, step * 10 + 1, 1, 0, step },
            { TM_D2H, 100, step * 10 + 2, 1, 0, step },
            { TM_H2D, 200, step * 10 + 3, 1, 0, step < 7 ? step : 3 },
            { TM_H2D, 300, step * 10 + 4, 9, 0, step < 6 ? step : 3 },
            { TM_H2D, step, step * 10 + 5, 1, 0, step },
            { TM_H2D, 0, step * 10 + 6, 1, 0, step },
        };
        /* clang-format on */

        TAKE(&b, copies);
    }
    report_bench(&b);
    assert_int_equal(tm_length(bench_get(&b, "transfers.repeated")), 3);
    assert_int_equal(integer(&b, "transfers.repeated[0].bytes"), 100);
    assert_string_equal(text(&b, "transfers.repeated[0].direction"), "h2d");
    assert_int_equal(integer(&b, "transfers.repeated[0].count"), 10);
    assert_true(tm_double(bench_get(&b, "transfers.repeated[0].per_step")) == 2.0);
    assert_int_equal(integer(&b, "transfers.repeated[1].bytes"), 200); /* in 4 of 5 steps */
    assert_string_equal(text(&b, "transfers.repeated[2].direction"), "d2h");
    close_bench(&b);
}

static void one_step_repeats_nothing(void **state)
{
    static const struct copy copy = { TM_H2D, 100, 0, 1, 0, 0 };
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    b.trace.steps = (struct tm_steps){ .source = TM_STEPS_SESSION, .count = 1, .chosen_end = 1 };
    OK(bench_begin(&b));
    for (int i = 0; i < 5; i++)
        OK(take_copy(&b, &copy));
    report_bench(&b);
    assert_int_equal(tm_length(bench_get(&b, "transfers.repeated")), 0);
    close_bench(&b);
}

static void there_and_back_is_a_ping_pong(void **state)
{
    /* clang-format off */
    static const struct {
        struct copy first, second;
        int64_t count;
    } table[] = {
        { { TM_D2H, 64, 0, 1, 0, 0 }, { TM_H2D, 64, 1, 1, 0, 0 }, 1 },
        /* began before the end */
        { { TM_D2H, 64, 0, 2, 0, 0 }, { TM_H2D, 64, 1, 1, 0, 0 }, 0 },
        { { TM_D2H, 64, 0, 1, 0, 0 }, { TM_H2D, 65, 1, 1, 0, 0 }, 0 },       /* another size */
        { { TM_D2H, 64, 0, 1, 0, 0 }, { TM_H2D, 64, 1, 1, 0, 1 }, 0 },       /* another step */
        { { TM_D2H, 64, 0, 1, 0, 0 }, { TM_H2D, 64, 1, 1, 1, 0 }, 0 },       /* another device */
        { { TM_D2H, 64, 0, 1, 0, 0 }, { TM_D2H, 64, 1, 1, 0, 0 }, 0 },
        /* the other way round */
        { { TM_H2D, 64, 0, 1, 0, 0 }, { TM_D2H, 64, 1, 1, 0, 0 }, 0 },
        { { TM_D2H, 0, 0, 1, 0, 0 }, { TM_H2D, 0, 1, 1, 0, 0 }, 0 },         /* sizes not known */
        { { TM_D2H, 64, 0, 1, 0, TM_NONE }, { TM_H2D, 64, 1, 1, 0, TM_NONE }, 0 },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct tm_run run;
        struct bench b;

        open_bench(&b, &run);
        bench_devices(&b, 2, TM_DEVICE_GPU, 0, INT64_MAX);
        OK(bench_begin(&b));
        OK(take_copy(&b, &table[i].first));
        OK(take_copy(&b, &table[i].second));
        OK(take_copy(&b, &table[i].second)); /* one copy to the host is answered once */
        report_bench(&b);
        assert_int_equal(integer(&b, "transfers.ping_pong.count"), table[i].count);
        close_bench(&b);
    }
}

/* --- the rest --- */

static void pageable_memory_is_told_where_it_is_known(void **state)
{
    struct tm_config config = config_of(TM_OTHER_DIRECTION, 64);
    struct tm_run run;
    struct bench b;
    struct tm_event event;

    (void)state;
    open_bench(&b, &run);
    OK(bench_begin(&b));
    event = bench_event(0, TM_CLASS_COPY, &config, 0, US);
    OK(bench_take(&b, &event));
    report_bench(&b);
    assert_false(tm_has(bench_get(&b, "transfers.pageable")));
    close_bench(&b);

    open_bench(&b, &run);
    OK(bench_begin(&b));
    config.direction = TM_H2D;
    OK(bench_take(&b, &event));
    config.pageable = 1;
    event.record.dur_ps = 3 * US;
    OK(bench_take(&b, &event));
    report_bench(&b);
    assert_int_equal(integer(&b, "transfers.pageable.count"), 1);
    assert_int_equal(integer(&b, "transfers.pageable.total_ps"), 3 * US);
    assert_true(tm_double(bench_get(&b, "transfers.pageable.share_pct")) == 75.0);
    close_bench(&b);
}

static void a_tpu_host_tells_sizes_only(void **state)
{
    static const struct tm_number numbers[] = { { 100 }, { 28 }, { -1 }, { 7 } };
    static const struct tm_config none = { .level = TM_LEVEL_NONE };
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    bench_devices(&b, 1, TM_DEVICE_TPU, 0, US);
    OK(bench_begin(&b));
    for (size_t i = 0; i < 4; i++) {
        struct tm_event event = bench_event(0, TM_CLASS_RUNTIME, &none, 0, 1);

        event.device = TM_NONE;
        event.level = TM_LEVEL_NONE;
        event.traits = TM_TRAIT_TPU_TRANSFER | (uint32_t)((i < 2 ? TM_H2D : TM_D2H) + 1) << TM_TRAIT_DIRECTION_SHIFT;
        event.args = &numbers[i];
        event.record.args_length = i < 3 ? sizeof(numbers[i]) : 4; /* the last one is cut */
        OK(bench_take(&b, &event));
    }
    report_bench(&b);
    assert_int_equal(tm_length(bench_get(&b, "transfers.tpu_host")), 2);
    assert_string_equal(text(&b, "transfers.tpu_host[0].direction"), "h2d");
    assert_int_equal(integer(&b, "transfers.tpu_host[0].bytes"), 128);
    assert_int_equal(integer(&b, "transfers.tpu_host[1].count"), 2);
    assert_false(tm_has(bench_get(&b, "transfers.tpu_host[1].bytes")));
    assert_int_equal(tm_length(bench_get(&b, "transfers.by_direction")), 0);
    close_bench(&b);
}

static void copy_ops_of_a_tpu_are_transfers(void **state)
{
    static const struct tm_config ops[] = {
        { .tpu_part = TM_TPU_START, .level = TM_LEVEL_H2D },
        { .tpu_part = TM_TPU_WAIT, .level = TM_LEVEL_H2D },
        { .tpu_part = TM_TPU_PLAIN, .level = TM_LEVEL_D2D },
        { .tpu_part = TM_TPU_PLAIN, .level = TM_LEVEL_COMPUTE },
        { .tpu_part = TM_TPU_HOST_WAIT, .level = TM_LEVEL_NONE },
    };
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    bench_devices(&b, 1, TM_DEVICE_TPU, 0, INT64_MAX);
    OK(bench_begin(&b));
    for (int i = 0; i < 5; i++) {
        const struct tm_event event = bench_event(0, TM_CLASS_TPU_OP, &ops[i], i * 10 * US, (i + 1) * US);

        OK(bench_take(&b, &event));
    }
    report_bench(&b);
    assert_int_equal(tm_length(bench_get(&b, "transfers.by_direction")), 2);
    assert_int_equal(of(&b, "h2d", "count"), 1); /* a copy counts where it is waited for, and its start takes time */
    assert_int_equal(of(&b, "h2d", "total_ps"), 3 * US);
    assert_int_equal(of(&b, "h2d", "exposed_ps"), 3 * US);
    assert_int_equal(of(&b, "d2d", "total_ps"), 3 * US);
    assert_false(tm_has(tm_get(direction_row(&b, "h2d"), "bytes")));
    close_bench(&b);
}

static struct tm_config tpu_copy(enum tm_tpu_part part, enum tm_level level, uint64_t bytes)
{
    return (struct tm_config){
        .tpu_part = (uint8_t)part, .level = (uint8_t)level, .copy_bytes = bytes, .has_copy_bytes = 1
    };
}

/* A wait tells the size, and what is in flight beside the ops tells for how long it was moved. */
static void copies_of_a_tpu_have_the_rate_of_their_flight(void **state)
{
    const struct tm_config start = tpu_copy(TM_TPU_START, TM_LEVEL_H2D, 4096);
    const struct tm_config wait = tpu_copy(TM_TPU_WAIT, TM_LEVEL_H2D, 4096);
    const struct tm_config untimed = tpu_copy(TM_TPU_WAIT, TM_LEVEL_D2H, 512);
    struct tm_run run;
    struct tm_event events[] = {
        bench_event(0, TM_CLASS_TPU_ASYNC, &start, 0, 100 * US),
        bench_event(0, TM_CLASS_TPU_OP, &start, 0, US),
        bench_event(0, TM_CLASS_TPU_OP, &wait, 90 * US, 10 * US),
        bench_event(0, TM_CLASS_TPU_OP, &wait, 110 * US, 0),
        bench_event(0, TM_CLASS_TPU_OP, &untimed, 120 * US, US),
        bench_event(0, TM_CLASS_TPU_ASYNC, &start, 500 * US, US),
    };
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    bench_devices(&b, 1, TM_DEVICE_TPU, 0, 200 * US);
    OK(bench_begin(&b));
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        OK(bench_take(&b, &events[i]));
    report_bench(&b);
    assert_int_equal(of(&b, "h2d", "count"), 2);
    assert_int_equal(of(&b, "h2d", "bytes"), 8192);
    assert_int_equal(of(&b, "h2d", "mean_bandwidth"), 4096 * 10000); /* of the one flight that counts */
    assert_int_equal(of(&b, "h2d", "max_bandwidth"), 4096 * 10000);
    assert_int_equal(of(&b, "d2h", "bytes"), 512);
    assert_false(tm_has(tm_get(direction_row(&b, "d2h"), "mean_bandwidth")));
    assert_non_null(strstr(tm_why(tm_get(direction_row(&b, "d2h"), "mean_bandwidth")), "in flight"));
    assert_int_equal(tm_length(bench_get(&b, "transfers.largest")), 1);
    assert_int_equal(integer(&b, "transfers.largest[0].dur_ps"), 100 * US);
    close_bench(&b);
}

/* A flight may be recorded far too short: what is faster than the memory is not the best rate. */
static void no_flight_is_faster_than_the_memory(void **state)
{
    const struct tm_config start = tpu_copy(TM_TPU_START, TM_LEVEL_D2H, 4096);
    struct tm_run run;
    struct tm_event slow = bench_event(0, TM_CLASS_TPU_ASYNC, &start, 0, 10 * US);
    struct tm_event fast = bench_event(0, TM_CLASS_TPU_ASYNC, &start, 20 * US, US / 1000);
    const struct tm_config wait = tpu_copy(TM_TPU_WAIT, TM_LEVEL_D2H, 4096);
    struct tm_event waiting = bench_event(0, TM_CLASS_TPU_OP, &wait, 30 * US, US);
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    bench_devices(&b, 1, TM_DEVICE_TPU, 0, 200 * US);
    b.devices[0].memory_bandwidth_bytes = 1000000000;
    OK(bench_begin(&b));
    OK(bench_take(&b, &slow));
    OK(bench_take(&b, &fast));
    OK(bench_take(&b, &waiting));
    report_bench(&b);
    assert_int_equal(of(&b, "d2h", "max_bandwidth"), 409600000);
    close_bench(&b);
}

static void a_program_on_the_cpu_has_no_transfers(void **state)
{
    struct tm_run run;
    struct bench b;

    (void)state;
    open_bench(&b, &run);
    bench_devices(&b, 1, TM_DEVICE_CPU, 0, US);
    OK(bench_begin(&b));
    report_bench(&b);
    assert_int_equal(tm_type_of(bench_get(&b, "transfers")), TM_NULL);
    assert_non_null(strstr(tm_why(bench_get(&b, "transfers")), "on the CPU"));
    close_bench(&b);
    open_bench(&b, &run);
    b.devices[0].activities = 0;
    OK(bench_begin(&b));
    report_bench(&b);
    assert_string_equal(tm_why(bench_get(&b, "transfers")), "no device activity was recorded");
    close_bench(&b);
}

static void times_and_sizes_past_all_measure_do_no_harm(void **state)
{
    const struct tm_config config = config_of(TM_H2D, UINT64_MAX);
    struct tm_run run;
    struct bench b;
    struct tm_event event;

    (void)state;
    open_bench(&b, &run);
    bench_devices(&b, 1, TM_DEVICE_GPU, INT64_MIN, INT64_MAX);
    OK(bench_begin(&b));
    event = bench_event(0, TM_CLASS_COPY, &config, 1, INT64_MAX);
    for (int i = 0; i < 4; i++)
        OK(bench_take(&b, &event));
    event.direction = 77; /* not a direction */
    OK(bench_take(&b, &event));
    report_bench(&b);
    assert_int_equal(of(&b, "h2d", "count"), 4);
    assert_int_equal(of(&b, "other", "count"), 1);
    assert_int_equal(of(&b, "h2d", "total_ps"), INT64_MAX);
    close_bench(&b);
}

/* Many sizes over many steps of two hosts; those that are multiples of 1000 come back in each step.
 */
static tm_status many_sizes(struct bench *b, struct tm_run *run, uint32_t sizes, uint32_t steps, char **json)
{
    tm_status st = bench_open(b, run, &tm_transfers_stage);

    for (unsigned host = 0; host < 2 && st == TM_OK; host++) {
        bench_devices(b, BENCH_DEVICES, TM_DEVICE_GPU, 0, INT64_MAX);
        b->trace.steps.count = b->trace.steps.chosen_end = steps;
        st = bench_begin(b);
        for (uint32_t i = 0; i < sizes * steps && st == TM_OK; i++) {
            const uint32_t size = i % sizes;
            const struct copy copy = {
                size % 2 ? TM_D2H : TM_H2D, size % 1000 ? 2 * i + 1 : size + 1000, i, 2, i % BENCH_DEVICES, i / sizes
            };

            st = take_copy(b, &copy);
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

static void many_sizes_keep_to_the_memory_and_to_the_result(void **state)
{
    static const size_t memories[] = { 32, 16384 };
    char *json[2] = { NULL, NULL };

    (void)state;
    for (int m = 0; m < 2; m++) {
        struct tm_run run;
        struct bench b;

        test_run_init(&run);
        tm_budget_init(&run.budget, memories[m] * TM_MIB);
        OK(many_sizes(&b, &run, 30000, 10, &json[m]));
        assert_int_equal(of(&b, "h2d", "count") + of(&b, "d2h", "count"), 600000);
        assert_int_equal(tm_length(bench_get(&b, "transfers.repeated")), 30);
        assert_int_equal(integer(&b, "transfers.repeated[0].count"), 20);
        assert_int_equal(tm_length(bench_get(&b, "transfers.by_pair")), 256);
        assert_true(run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= tm_budget_share(&run.budget, TM_ACCOUNT_TABLES) / 4);
        assert_int_equal(run.budget.spilled_bytes > 0, m == 0);
        close_bench(&b);
        assert_non_null(json[m]);
    }
    assert_string_equal(json[0], json[1]);
    free(json[0]);
    free(json[1]);
}

static tm_status whole_job(struct tm_run *run)
{
    struct bench b;
    char *json = NULL;
    const tm_status st = many_sizes(&b, run, 3000, 4, &json);

    free(json);
    bench_close(&b);
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
        cmocka_unit_test(copies_are_summed_by_direction),
        cmocka_unit_test(what_runs_beside_a_copy_hides_it),
        cmocka_unit_test(a_row_is_about_the_same_copies_in_all_its_columns),
        cmocka_unit_test(copies_in_flight_at_once_share_the_link),
        cmocka_unit_test(a_copy_for_a_collective_is_a_transfer_too),
        cmocka_unit_test(devices_and_the_host_make_pairs),
        cmocka_unit_test(sizes_are_in_powers_of_two),
        cmocka_unit_test(the_largest_copies_are_listed),
        cmocka_unit_test(a_size_in_nearly_every_step_is_repeated),
        cmocka_unit_test(one_step_repeats_nothing),
        cmocka_unit_test(there_and_back_is_a_ping_pong),
        cmocka_unit_test(pageable_memory_is_told_where_it_is_known),
        cmocka_unit_test(a_tpu_host_tells_sizes_only),
        cmocka_unit_test(copy_ops_of_a_tpu_are_transfers),
        cmocka_unit_test(copies_of_a_tpu_have_the_rate_of_their_flight),
        cmocka_unit_test(no_flight_is_faster_than_the_memory),
        cmocka_unit_test(a_program_on_the_cpu_has_no_transfers),
        cmocka_unit_test(times_and_sizes_past_all_measure_do_no_harm),
        cmocka_unit_test(many_sizes_keep_to_the_memory_and_to_the_result),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("transfers", tests, NULL, NULL);
}
