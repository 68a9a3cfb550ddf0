/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_stages.h"

#include <stdio.h>
#include <stdlib.h>

#include "stages/resolve/classes.h"
#include "tests/support/kept_bench.h"
#include "tests/support/stage_driver.h"
#include "tests/support/test_run.h"

enum { US = 1000000, TRACKS = 4, HOSTILE = 1 << 20 };

#define OK(call) assert_int_equal(call, TM_OK)

/* A host with tracks of which the first two are the user's, two steps of 100 us, and one HLO op. */
struct rig {
    struct tm_run run;
    struct bench bench;
};

static const struct tm_config no_config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };

static tm_status fill_tables(struct rig *r)
{
    struct tm_trace *trace = &r->bench.trace;

    trace->tracks = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), 1 << 17);
    trace->hlo_ops = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_hlo_op), 1 << 17);
    trace->steps.marks = tm_rows_new(&r->run, TM_ACCOUNT_STEPS, sizeof(struct tm_step_mark), 1 << 17);
    if (!trace->tracks || !trace->hlo_ops || !trace->steps.marks)
        return r->run.error.status;
    for (int i = 0; i < TRACKS; i++)
        tm_rows_append(trace->tracks, &(struct tm_track){ .side = TM_SIDE_HOST, .is_user = i < 2 });
    for (int i = 0; i < 2; i++)
        tm_rows_append(trace->hlo_ops,
                       &(struct tm_hlo_op){ .path = i ? bench_name(&r->bench, "jit(f)/jvp(layer_0)/mul") : 0 });
    for (int i = 0; i < BENCH_STEPS; i++)
        tm_rows_append(trace->steps.marks, &(struct tm_step_mark){ .start_ps = i * 100 * US, .dur_ps = 90 * US });
    return r->run.error.status;
}

static tm_status try_rig(struct rig *r, enum tm_device_kind kind)
{
    struct bench *b = &r->bench;
    tm_status st = bench_open(b, &r->run, &tm_scopes_stage);

    if (st == TM_OK)
        st = fill_tables(r);
    if (st != TM_OK)
        return st;
    bench_devices(b, 2, kind, 0, INT64_MAX);
    return bench_begin(b);
}

static void open_rig(struct rig *r, enum tm_device_kind kind)
{
    test_run_init(&r->run);
    OK(try_rig(r, kind));
}

/* The chosen steps are from 100 us to 290 us. */
static void open_rig_of_two_steps(struct rig *r)
{
    test_run_init(&r->run);
    OK(bench_open(&r->bench, &r->run, &tm_scopes_stage));
    OK(fill_tables(r));
    r->bench.trace.steps.chosen_begin = 1;
    r->bench.trace.steps.chosen_end = 3;
    OK(bench_begin(&r->bench));
}

static void close_rig(struct rig *r)
{
    tm_rows_free(r->bench.trace.tracks);
    tm_rows_free(r->bench.trace.hlo_ops);
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

/* --- events --- */

/* An activity of device 0 whose op has a framework path; NULL = none. */
static struct tm_event activity(struct rig *r, struct tm_config *config, enum tm_class class, const char *path,
                                int64_t start_us, int64_t dur_us)
{
    *config = no_config;
    config->op = path ? bench_name(&r->bench, path) : 0;
    config->level = TM_LEVEL_COMPUTE; /* where it is a TPU's */
    return bench_event(bench_name(&r->bench, "k"), class, config, start_us * US, dur_us * US);
}

static void take_kernel(struct rig *r, const char *path, int64_t dur_us)
{
    struct tm_config config;
    const struct tm_event event = activity(r, &config, TM_CLASS_KERNEL, path, 0, dur_us);

    OK(bench_take(&r->bench, &event));
}

static void take_launched_at(struct rig *r, uint32_t track, int64_t launch_us, int64_t start_us, int64_t dur_us)
{
    struct tm_config config;
    struct tm_event event = activity(r, &config, TM_CLASS_KERNEL, NULL, start_us, dur_us);

    event.launch_track = track;
    event.launch_start_ps = launch_us * US;
    OK(bench_take(&r->bench, &event));
}

static void take_launched(struct rig *r, uint32_t track, int64_t launch_us, int64_t dur_us)
{
    take_launched_at(r, track, launch_us, 1000, dur_us);
}

static struct tm_event host_event(struct rig *r, const char *name, uint32_t track, int64_t start_us, int64_t dur_us)
{
    return (struct tm_event){
        .record = { .start_ps = start_us * US,
                    .dur_ps = dur_us * US,
                    .name = bench_name(&r->bench, name),
                    .track = track,
                    .class = TM_CLASS_ANNOTATION },
        .config = &no_config,
        .device = TM_NONE,
        .level = TM_LEVEL_NONE,
        .thread = TM_NONE,
        .launch_track = TM_NONE,
        .launch_thread = TM_NONE,
    };
}

static void annotate(struct rig *r, const char *name, uint32_t track, int64_t start_us, int64_t dur_us)
{
    const struct tm_event event = host_event(r, name, track, start_us, dur_us);

    OK(bench_take(&r->bench, &event));
}

/* --- what is asked --- */

static const struct tm_value *value(const struct rig *r, const char *path)
{
    char whole[256];

    (void)snprintf(whole, sizeof(whole), "scopes.%s", path);
    return bench_get(&r->bench, whole);
}

static int64_t integer(const struct rig *r, const char *path)
{
    if (!tm_has(value(r, path)))
        fail_msg("%s is missing", path);
    return tm_int(value(r, path));
}

/* A row of the tree of scopes. */
static void assert_row(const struct rig *r, size_t index, const char *path, const char *pass, int64_t count,
                       int64_t self_us, int64_t total_us)
{
    const struct tm_value *row = tm_at(value(r, "rows"), index);

    assert_string_equal(tm_text(tm_get(row, "path")), path);
    assert_string_equal(tm_text(tm_get(row, "pass")), pass);
    assert_int_equal(tm_int(tm_get(row, "count")), count);
    assert_int_equal(tm_int(tm_get(row, "self_ps")), self_us * US);
    assert_int_equal(tm_int(tm_get(row, "total_ps")), total_us * US);
}

static void assert_annotation(const struct rig *r, size_t index, const char *path, int64_t count, int64_t host_us,
                              int64_t self_us, int64_t device_us, int64_t activities)
{
    const struct tm_value *row = tm_at(value(r, "annotations"), index);

    assert_string_equal(tm_text(tm_get(row, "path")), path);
    assert_int_equal(tm_int(tm_get(row, "count")), count);
    assert_int_equal(tm_int(tm_get(row, "host_ps")), host_us * US);
    assert_int_equal(tm_int(tm_get(row, "host_self_ps")), self_us * US);
    assert_int_equal(tm_has(tm_get(row, "device_ps")), device_us >= 0);
    assert_int_equal(tm_int(tm_get(row, "device_ps")), (device_us < 0 ? 0 : device_us) * US);
    assert_int_equal(tm_int(tm_get(row, "activities")), activities);
}

/* --- scopes --- */

static void time_goes_to_the_scope_and_all_around_it(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    take_kernel(&r, "jit(f)/jvp(a)/b/mul", 10);
    take_kernel(&r, "jit(f)/jvp(a)/b/add", 5);
    take_kernel(&r, "jit(f)/jvp(a)/c/add", 7);
    take_kernel(&r, "jit(f)/jvp(a)/add", 2);
    take_kernel(&r, "jit(f)/transpose(jvp(a))/c/mul", 40);
    take_kernel(&r, "jit(f)/add", 1);
    take_kernel(&r, "w", 3);
    take_kernel(&r, NULL, 4);
    report_rig(&r);
    assert_int_equal(tm_length(value(&r, "rows")), 8);
    assert_row(&r, 0, "f", "backward", 1, 0, 40);
    assert_row(&r, 1, "f/a", "backward", 1, 0, 40);
    assert_row(&r, 2, "f/a/c", "backward", 1, 40, 40);
    assert_row(&r, 3, "f", "forward", 4, 0, 24);
    assert_row(&r, 4, "f/a", "forward", 4, 2, 24);
    assert_row(&r, 5, "f/a/b", "forward", 2, 15, 15);
    assert_row(&r, 6, "f/a/c", "forward", 1, 7, 7);
    assert_row(&r, 7, "f", "other", 1, 1, 1);
    assert_int_equal(integer(&r, "self_ps"), 65 * US);
    assert_int_equal(integer(&r, "unscoped.count"), 2);
    assert_int_equal(integer(&r, "unscoped.self_ps"), 7 * US);
    assert_int_equal(integer(&r, "passes.forward"), 24 * US);
    assert_int_equal(integer(&r, "passes.backward"), 40 * US);
    assert_int_equal(integer(&r, "passes.other"), 1 * US);
    assert_int_equal(integer(&r, "rest.rows"), 0);
    assert_int_equal(integer(&r, "rows[5].depth"), 2);
    assert_string_equal(tm_text(value(&r, "rows[5].name")), "b");
    end_rig(&r);
}

static void ops_of_a_tpu_count_without_what_is_in_them(void **state)
{
    struct rig r;
    struct tm_config config;
    struct tm_event event;

    (void)state;
    open_rig(&r, TM_DEVICE_TPU);
    event = activity(&r, &config, TM_CLASS_TPU_OP, "jit(f)/jvp(layers)/while", 0, 100);
    OK(bench_take(&r.bench, &event));
    event = activity(&r, &config, TM_CLASS_TPU_OP, "jit(f)/jvp(layers)/while/body/mlp/dot_general", 10, 60);
    OK(bench_take(&r.bench, &event));
    event = activity(&r, &config, TM_CLASS_TPU_OP, NULL, 80, 5);
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_row(&r, 0, "f", "forward", 2, 0, 95);
    assert_row(&r, 1, "f/layers", "forward", 2, 35, 95);
    assert_row(&r, 2, "f/layers/mlp", "forward", 1, 60, 60);
    assert_int_equal(integer(&r, "unscoped.self_ps"), 5 * US);
    end_rig(&r);
}

static void what_the_kernels_table_leaves_out_does_not_count(void **state)
{
    struct rig r;
    struct tm_config config;
    struct tm_event event;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    event = activity(&r, &config, TM_CLASS_COPY, NULL, 0, 10); /* a copy of no op */
    OK(bench_take(&r.bench, &event));
    event = activity(&r, &config, TM_CLASS_COPY, "jit(f)/a/copy", 0, 20);
    OK(bench_take(&r.bench, &event));
    event = activity(&r, &config, TM_CLASS_GRAPH, "jit(f)/a/copy", 0, 40);
    OK(bench_take(&r.bench, &event));
    event = activity(&r, &config, TM_CLASS_KERNEL, "jit(f)/a/copy", 0, 80);
    event.chosen = false;
    OK(bench_take(&r.bench, &event));
    event.chosen = true;
    event.device = TM_NONE;
    OK(bench_take(&r.bench, &event));
    event.device = 1;
    event.level = TM_LEVEL_NONE;
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_int_equal(integer(&r, "self_ps"), 20 * US);
    assert_int_equal(integer(&r, "unscoped.count"), 0);
    end_rig(&r);
}

static void an_op_without_a_path_has_that_of_its_hlo(void **state)
{
    struct rig r;
    struct tm_config config;
    struct tm_event event;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    event = activity(&r, &config, TM_CLASS_KERNEL, NULL, 0, 10);
    config.hlo = 1;
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_row(&r, 1, "f/layer_0", "forward", 1, 10, 10);
    end_rig(&r);
}

static void what_is_computed_again_is_told(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    take_kernel(&r, "jit(f)/transpose(jvp())/checkpoint/rematted_computation/a/mul", 10);
    take_kernel(&r, "jit(f)/transpose(jvp())/checkpoint/a/mul", 30);
    report_rig(&r);
    assert_row(&r, 1, "f/a", "backward", 2, 40, 40);
    assert_int_equal(integer(&r, "recomputed.count"), 1);
    assert_int_equal(integer(&r, "recomputed.self_ps"), 10 * US);
    assert_true(tm_double(value(&r, "recomputed.share_pct")) == 25);
    end_rig(&r);
}

static void rows_past_the_cap_are_the_rest_and_parents_are_listed(void **state)
{
    struct rig r;
    char path[64];

    (void)state;
    test_run_init(&r.run);
    OK(bench_open(&r.bench, &r.run, &tm_scopes_stage));
    r.bench.settings.table_rows = 4;
    OK(fill_tables(&r));
    OK(bench_begin(&r.bench));
    for (int i = 0; i < 10; i++) {
        (void)snprintf(path, sizeof(path), "jit(f)/a%c/b/mul", 'a' + i);
        take_kernel(&r, path, 10 + i);
    }
    report_rig(&r);
    assert_int_equal(tm_length(value(&r, "rows")), 4);
    assert_row(&r, 0, "f", "other", 10, 0, 145);
    assert_row(&r, 1, "f/aj", "other", 1, 0, 19);
    assert_row(&r, 2, "f/aj/b", "other", 1, 19, 19);
    assert_row(&r, 3, "f/ai", "other", 1, 0, 18);
    assert_int_equal(integer(&r, "rest.rows"), 17);
    assert_int_equal(integer(&r, "rest.self_ps"), 126 * US);
    end_rig(&r);
}

static void a_profile_without_paths_says_so(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    take_kernel(&r, NULL, 4);
    report_rig(&r);
    assert_false(tm_has(value(&r, "rows")));
    assert_false(tm_has(value(&r, "layers")));
    assert_false(tm_has(value(&r, "passes")));
    assert_non_null(strstr(tm_why(value(&r, "rows")), "no framework paths"));
    assert_int_equal(integer(&r, "unscoped.self_ps"), 4 * US);
    assert_false(tm_has(value(&r, "annotations")));
    end_rig(&r);
}

/* --- layers --- */

static void numbered_scopes_of_one_family_are_layers(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    take_kernel(&r, "jit(f)/jvp(Net_0)/layer_10/Dense_0/mul", 10);
    take_kernel(&r, "jit(f)/jvp(Net_0)/layer_9/Dense_0/mul", 20);
    take_kernel(&r, "jit(f)/jvp(Net_0)/layer_9/Dense_1/mul", 5);
    take_kernel(&r, "jit(f)/transpose(jvp(Net_0))/layer_9/Dense_0/mul", 40);
    take_kernel(&r, "jit(f)/Net_0/layer_9/add", 1);
    take_kernel(&r, "jit(f)/stack/0/mul", 7);
    take_kernel(&r, "jit(f)/stack/1/mul", 8);
    take_kernel(&r, "jit(f)/alone_1/mul", 50);
    report_rig(&r);
    assert_int_equal(tm_length(value(&r, "layers")), 4);
    assert_string_equal(tm_text(value(&r, "layers[0].layer")), "layer_9");
    assert_string_equal(tm_text(value(&r, "layers[0].path")), "f/Net_0/layer_9");
    assert_string_equal(tm_text(value(&r, "layers[0].family")), "f/Net_0/layer_");
    assert_int_equal(integer(&r, "layers[0].forward_ps"), 25 * US);
    assert_int_equal(integer(&r, "layers[0].backward_ps"), 40 * US);
    assert_int_equal(integer(&r, "layers[0].other_ps"), 1 * US);
    assert_int_equal(integer(&r, "layers[0].total_ps"), 66 * US);
    assert_int_equal(integer(&r, "layers[0].count"), 4);
    assert_string_equal(tm_text(value(&r, "layers[1].layer")), "layer_10");
    assert_string_equal(tm_text(value(&r, "layers[2].layer")), "stack/0");
    assert_string_equal(tm_text(value(&r, "layers[2].family")), "f/stack/");
    assert_string_equal(tm_text(value(&r, "layers[3].layer")), "stack/1");
    assert_int_equal(integer(&r, "layers_rest.rows"), 0);
    end_rig(&r);
}

/* --- annotations --- */

static void annotations_are_a_tree_with_what_they_launched(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    annotate(&r, "outer", 0, 0, 50);
    annotate(&r, "inner", 0, 10, 10);
    annotate(&r, "inner", 0, 20, 10);
    annotate(&r, "inner", 1, 100, 5);
    annotate(&r, "outer", 0, 60, 20);
    take_launched(&r, 0, 10, 3);  /* in the first inner one, at its begin */
    take_launched(&r, 0, 30, 5);  /* at the end of the second: no longer in it */
    take_launched(&r, 0, 50, 7);  /* in none */
    take_launched(&r, 1, 20, 11); /* on a thread that had none then */
    take_launched(&r, 1, 104, 13);
    take_launched(&r, 2, 104, 17); /* on no thread of the user's */
    report_rig(&r);
    assert_int_equal(tm_length(value(&r, "annotations")), 3);
    assert_annotation(&r, 0, "outer", 2, 70, 50, 8, 2);
    assert_annotation(&r, 1, "outer/inner", 2, 20, 20, 3, 1);
    assert_annotation(&r, 2, "inner", 1, 5, 5, 13, 1);
    assert_int_equal(integer(&r, "annotations[1].depth"), 1);
    assert_int_equal(integer(&r, "annotations_rest.rows"), 0);
    assert_int_equal(integer(&r, "annotations_rest.host_self_ps"), 0);
    assert_int_equal(integer(&r, "annotations_rest.device_ps"), 0);
    end_rig(&r);
}

static void annotations_count_between_the_chosen_steps(void **state)
{
    struct rig r;

    (void)state;
    open_rig_of_two_steps(&r);
    annotate(&r, "run", 0, 0, 1000);
    annotate(&r, "early", 0, 10, 50);
    annotate(&r, "half", 0, 80, 40);
    annotate(&r, "late", 0, 290, 10);
    annotate(&r, "late", 0, 291, 10);
    report_rig(&r);
    assert_annotation(&r, 0, "run", 1, 190, 170, -1, 0);
    assert_annotation(&r, 1, "run/half", 1, 20, 20, -1, 0);
    assert_int_equal(tm_length(value(&r, "annotations")), 3); /* "late" of no length: it begins where steps end */
    assert_string_equal(tm_why(value(&r, "annotations[0].device_ps")),
                        "the profile does not record which host thread launched the device's work");
    end_rig(&r);
}

static void spans_that_cross_are_not_counted_twice(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    annotate(&r, "a", 0, 0, 20);
    annotate(&r, "b", 0, 10, 20);
    take_launched(&r, 0, 15, 3);
    take_launched(&r, 0, 25, 4);
    report_rig(&r);
    assert_annotation(&r, 0, "a", 1, 20, 10, 3, 1);
    assert_annotation(&r, 1, "a/b", 1, 20, 20, 7, 2);
    end_rig(&r);
}

static void what_is_open_when_the_steps_begin_has_the_longest_outermost(void **state)
{
    struct rig r;

    (void)state;
    open_rig_of_two_steps(&r);
    annotate(&r, "short", 0, 0, 120);
    annotate(&r, "other", 1, 30, 100);
    annotate(&r, "long", 0, 50, 100);
    annotate(&r, "in", 0, 105, 10);
    take_launched(&r, 0, 99, 3); /* before all of them */
    take_launched(&r, 0, 100, 5);
    take_launched(&r, 0, 130, 7);
    report_rig(&r);
    assert_annotation(&r, 0, "long", 1, 50, 30, 12, 2);
    assert_annotation(&r, 1, "long/short", 1, 20, 10, 5, 1);
    assert_annotation(&r, 2, "long/short/in", 1, 10, 10, 0, 0);
    assert_annotation(&r, 3, "other", 1, 30, 30, 0, 0);
    end_rig(&r);
}

static void an_activity_may_come_before_its_launch(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    take_launched_at(&r, 0, 25, 5, 3);
    take_launched_at(&r, 0, 35, 6, 5);
    take_launched_at(&r, 0, 20, 20, 7); /* the stream tells the longer one first */
    annotate(&r, "a", 0, 20, 10);
    report_rig(&r);
    assert_annotation(&r, 0, "a", 1, 10, 10, 10, 2);
    assert_int_equal(tm_length(value(&r, "annotations")), 1);
    end_rig(&r);
}

/* Activities come while annotations begin and end, from launches on two threads. */
static void what_begins_between_launches_is_told_apart(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    take_launched_at(&r, 0, 1, 5, 1); /* before all of them */
    annotate(&r, "a", 0, 10, 90);
    take_launched_at(&r, 0, 11, 15, 3);
    take_launched_at(&r, 0, 12, 16, 5);
    take_launched_at(&r, 1, 12, 17, 7); /* there is none on that thread */
    annotate(&r, "b", 0, 20, 10);
    annotate(&r, "b", 1, 20, 100);
    take_launched_at(&r, 0, 13, 21, 11); /* before "b" */
    take_launched_at(&r, 0, 20, 22, 13);
    take_launched_at(&r, 0, 29, 32, 17);
    take_launched_at(&r, 0, 30, 33, 19); /* behind it */
    take_launched_at(&r, 1, 30, 34, 23);
    take_launched_at(&r, 0, 100, 101, 29); /* behind "a" */
    report_rig(&r);
    assert_annotation(&r, 0, "b", 1, 100, 100, 23, 1);
    assert_annotation(&r, 1, "a", 1, 90, 80, 68, 6);
    assert_annotation(&r, 2, "a/b", 1, 10, 10, 30, 2);
    end_rig(&r);
}

/* Each of many annotations on two threads, whose activities come in any order long after all of them. */
static void launches_long_ago_are_found(void **state)
{
    enum { COUNT = 900 };
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    for (int i = 0; i < COUNT; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "a%d", i);
        annotate(&r, name, i % 3 == 0, i, 1);
    }
    for (int i = 0; i < COUNT; i++) {
        const int at = i * 7 % COUNT;

        take_launched(&r, at % 3 == 0, at, 1 + at);
        take_launched(&r, at % 3 != 0, at, 1); /* on the other thread nothing is open */
    }
    report_rig(&r);
    for (size_t i = 0; i < 500; i++) {
        const struct tm_value *row = tm_at(value(&r, "annotations"), i);
        const long number = strtol(tm_text(tm_get(row, "path")) + 1, NULL, 10);

        assert_int_equal(tm_int(tm_get(row, "device_ps")), (1 + number) * US);
        assert_int_equal(tm_int(tm_get(row, "activities")), 1);
    }
    end_rig(&r);
}

static void waits_for_input_that_the_program_annotated_are_among_them(void **state)
{
    struct rig r;
    struct tm_event event;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    event = host_event(&r, "next_batch", 0, 0, 10);
    event.record.class = TM_CLASS_INPUT;
    OK(bench_take(&r.bench, &event));
    event.record.track = 3; /* not the user's */
    OK(bench_take(&r.bench, &event));
    event.record.track = 0;
    event.traits = TM_TRAIT_PYTHON;
    OK(bench_take(&r.bench, &event));
    event.traits = 0;
    event.record.kind = TM_INSTANT;
    OK(bench_take(&r.bench, &event));
    event.record.class = TM_CLASS_PYTHON;
    event.record.kind = TM_SPAN;
    OK(bench_take(&r.bench, &event));
    report_rig(&r);
    assert_int_equal(tm_length(value(&r, "annotations")), 1);
    assert_annotation(&r, 0, "next_batch", 1, 10, 10, -1, 0);
    end_rig(&r);
}

static void deep_annotations_end(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    for (int i = 0; i < 200; i++)
        annotate(&r, "a", 0, i, 700 - 2 * i);
    take_launched(&r, 0, 350, 3);
    report_rig(&r);
    assert_int_equal(tm_length(value(&r, "annotations")), 64);
    assert_annotation(&r, 0, "a", 1, 700, 2, 3, 1);
    assert_int_equal(r.run.tallies.count[TM_TALLY_DEEP_NESTING], 136);
    end_rig(&r);
}

/* --- names that are hostile --- */

static void names_past_all_measure_are_cut(void **state)
{
    struct rig r;
    char *text = malloc(HOSTILE + 1);

    (void)state;
    assert_non_null(text);
    memset(text, 'x', HOSTILE);
    text[HOSTILE] = 0;
    open_rig(&r, TM_DEVICE_GPU);
    for (int i = 0; i < 600; i++)
        annotate(&r, text, 0, i, 1000);
    for (size_t i = 1; i < HOSTILE; i += 10)
        text[i] = '/';
    take_kernel(&r, text, 1);
    report_rig(&r);
    assert_int_equal(tm_length(value(&r, "rows")), 32); /* as deep as scopes go */
    assert_true(strlen(tm_text(value(&r, "rows[31].path"))) < 8192);
    assert_int_equal(tm_length(value(&r, "annotations")), 64);
    assert_int_equal(strlen(tm_text(value(&r, "annotations[0].name"))), 2048);
    end_rig(&r);
    free(text);
}

/* --- saving --- */

static tm_status some_of_each(struct rig *r)
{
    static const char *const paths[] = { "jit(f)/jvp(layer_0)/b/mul", "jit(f)/transpose(jvp(layer_1))/b/mul", NULL };
    struct tm_config config;
    struct tm_event event;
    tm_status st = TM_OK;

    for (int i = 0; i < 3 && st == TM_OK; i++) {
        event = activity(r, &config, TM_CLASS_KERNEL, paths[i], 0, 10 + i);
        event.launch_track = 0;
        event.launch_start_ps = 12 * US;
        st = bench_take(&r->bench, &event);
    }
    for (int i = 0; i < 2 && st == TM_OK; i++) {
        event = host_event(r, i ? "inner" : "outer", 0, i * 10, 50 - 20 * i);
        st = bench_take(&r->bench, &event);
    }
    return st == TM_OK ? bench_end(&r->bench) : st;
}

static void what_was_saved_is_read_again(void **state)
{
    char path[KEPT_BENCH_PATH];
    struct rig r, again;

    (void)state;
    open_rig(&r, TM_DEVICE_GPU);
    OK(some_of_each(&r));
    keep_bench(&r.bench, path);
    end_rig(&r);

    test_run_init(&again.run);
    OK(bench_open(&again.bench, &again.run, &tm_scopes_stage));
    load_kept_bench(&again.bench, path, 0); /* another host of the same: folds into the same rows */
    OK(bench_report(&again.bench));
    assert_int_equal(tm_length(value(&again, "rows")), 6);
    assert_row(&again, 1, "f/layer_1", "backward", 2, 0, 22);
    assert_int_equal(tm_length(value(&again, "layers")), 2);
    assert_int_equal(integer(&again, "unscoped.self_ps"), 24 * US);
    assert_annotation(&again, 0, "outer", 2, 100, 40, 66, 6);
    assert_annotation(&again, 1, "outer/inner", 2, 60, 60, 66, 6);
    bench_close(&again.bench);
    assert_ledger_is_even(&again.run);
}

/* --- memory --- */

static tm_status many_scopes(struct rig *r)
{
    struct bench *b = &r->bench;
    tm_status st = bench_open(b, &r->run, &tm_scopes_stage);
    char name[64];

    if (st == TM_OK)
        st = fill_tables(r);
    b->trace.steps.all = true;
    if (st == TM_OK)
        st = bench_begin(b);

    for (int i = 0; i < 20000 && st == TM_OK; i++) {
        struct tm_config config;
        struct tm_event event;

        (void)snprintf(name, sizeof(name), "jit(f)/jvp(layer_%d)/mlp_%d/mul", i, i);
        event = activity(r, &config, TM_CLASS_KERNEL, name, i, 1);
        event.launch_track = 0;
        event.launch_start_ps = (int64_t)i * US;
        st = bench_take(&r->bench, &event);
        event = host_event(r, name, 0, i, 1);
        if (st == TM_OK)
            st = bench_take(&r->bench, &event);
    }
    if (st == TM_OK)
        st = bench_end(&r->bench);
    return st == TM_OK ? bench_report(&r->bench) : st;
}

static void many_scopes_keep_to_the_memory(void **state)
{
    struct rig r;

    (void)state;
    test_run_init(&r.run);
    OK(many_scopes(&r));
    assert_int_equal(integer(&r, "self_ps"), INT64_C(20000) * US);
    assert_int_equal(integer(&r, "rest.rows"), 1 + 2 * 20000 - 500);
    assert_int_equal(integer(&r, "layers_rest.rows"), 19500);
    assert_int_equal(integer(&r, "layers_rest.total_ps"), INT64_C(19500) * US);
    assert_int_equal(integer(&r, "annotations_rest.rows"), 19500);
    assert_int_equal(integer(&r, "annotations_rest.host_self_ps"), INT64_C(19500) * US);
    assert_int_equal(integer(&r, "annotations_rest.device_ps"), INT64_C(19500) * US);
    assert_true(r.run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= bench_tables_memory(&r.run, TM_TABLES_SCOPES));
    end_rig(&r);
}

static tm_status whole_job(struct tm_run *run)
{
    struct rig r = { .run = *run };
    tm_status st = try_rig(&r, TM_DEVICE_TPU);

    if (st == TM_OK)
        st = some_of_each(&r);
    if (st == TM_OK)
        st = bench_report(&r.bench);
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
        cmocka_unit_test(time_goes_to_the_scope_and_all_around_it),
        cmocka_unit_test(ops_of_a_tpu_count_without_what_is_in_them),
        cmocka_unit_test(what_the_kernels_table_leaves_out_does_not_count),
        cmocka_unit_test(an_op_without_a_path_has_that_of_its_hlo),
        cmocka_unit_test(what_is_computed_again_is_told),
        cmocka_unit_test(rows_past_the_cap_are_the_rest_and_parents_are_listed),
        cmocka_unit_test(a_profile_without_paths_says_so),
        cmocka_unit_test(numbered_scopes_of_one_family_are_layers),
        cmocka_unit_test(annotations_are_a_tree_with_what_they_launched),
        cmocka_unit_test(annotations_count_between_the_chosen_steps),
        cmocka_unit_test(spans_that_cross_are_not_counted_twice),
        cmocka_unit_test(what_is_open_when_the_steps_begin_has_the_longest_outermost),
        cmocka_unit_test(an_activity_may_come_before_its_launch),
        cmocka_unit_test(what_begins_between_launches_is_told_apart),
        cmocka_unit_test(launches_long_ago_are_found),
        cmocka_unit_test(waits_for_input_that_the_program_annotated_are_among_them),
        cmocka_unit_test(deep_annotations_end),
        cmocka_unit_test(names_past_all_measure_are_cut),
        cmocka_unit_test(what_was_saved_is_read_again),
        cmocka_unit_test(many_scopes_keep_to_the_memory),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("scopes", tests, NULL, NULL);
}
