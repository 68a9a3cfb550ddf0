/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_stages.h"

#include "tests/support/test_run.h"

#include <stdio.h>

#include "stages/resolve/classes.h"
#include "tests/support/stage_driver.h"

static const struct tm_config no_config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };

struct fixture {
    struct tm_run run;
    struct bench b;
};

static void begin(struct fixture *f)
{
    test_run_init(&f->run);
    assert_int_equal(bench_open(&f->b, &f->run, &tm_overview_stage), TM_OK);
    (void)snprintf(f->b.trace.host_name, sizeof(f->b.trace.host_name), "h0");
}

static void end(struct fixture *f)
{
    assert_int_equal(bench_end(&f->b), TM_OK);
    assert_int_equal(bench_report(&f->b), TM_OK);
}

static void finish(struct fixture *f)
{
    bench_close(&f->b);
    assert_ledger_is_even(&f->run);
}

static const char *text(const struct fixture *f, const char *path)
{
    return tm_text(bench_get(&f->b, path));
}

static int64_t number(const struct fixture *f, const char *path)
{
    const struct tm_value *value = bench_get(&f->b, path);

    if (!tm_has(value))
        fail_msg("%s is missing", path);
    return tm_int(value);
}

static void what_the_host_says_of_itself_is_passed_on(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    (void)snprintf(f.b.trace.environment.jax, sizeof(f.b.trace.environment.jax), "0.8.1");
    f.b.trace.environment.begin_ns = 1795207056034592163;
    f.b.trace.environment.process_id = 77;
    assert_int_equal(bench_begin(&f.b), TM_OK);
    end(&f);
    assert_string_equal(text(&f, "environment.hosts[0].host"), "h0");
    assert_string_equal(text(&f, "environment.hosts[0].jax"), "0.8.1");
    assert_int_equal(number(&f, "environment.hosts[0].begin_ns"), 1795207056034592163);
    assert_int_equal(number(&f, "environment.hosts[0].process_id"), 77);
    assert_false(tm_has(bench_get(&f.b, "environment.hosts[0].end_ns")));
    assert_string_equal(tm_why(bench_get(&f.b, "environment.hosts[0].cuda")), "not recorded");
    finish(&f);
}

static void what_a_copy_lacks_is_said_to_be_elsewhere(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    f.b.trace.origin = TM_ORIGIN_JSON_COPY;
    (void)snprintf(f.b.trace.environment.framework, sizeof(f.b.trace.environment.framework), "jax");
    assert_int_equal(bench_begin(&f.b), TM_OK);
    end(&f);
    assert_non_null(strstr(tm_why(bench_get(&f.b, "environment.hosts[0].jaxlib")), ".xplane.pb"));
    assert_string_equal(text(&f, "environment.hosts[0].framework"), "jax");
    finish(&f);
}

/* Whether a host computes gradients: by the paths of its launch facts, by its programs, by PyTorch's events. */
static void a_backward_pass_is_told(void **state)
{
    static const struct {
        const char *path, *hlo_path, *event;
        enum tm_origin origin;
        int told; /* -1 = not known */
    } rows[] = {
        { NULL, NULL, "loop_fusion", TM_ORIGIN_XSPACE, -1 },
        { "jit(f)/layer_0/dot_general", NULL, "loop_fusion", TM_ORIGIN_XSPACE, 0 },
        { "jit(f)/transpose(jvp(layer_0))/dot_general", NULL, "loop_fusion", TM_ORIGIN_XSPACE, 1 },
        { "jit(f)/add", "jit(f)/transpose(jvp(layer_0))/mul", "loop_fusion", TM_ORIGIN_XSPACE, 1 },
        { NULL, "jit(f)/transpose", "loop_fusion", TM_ORIGIN_XSPACE, 0 },
        { NULL, NULL, "autograd::engine::evaluate_function: MulBackward0", TM_ORIGIN_PYTORCH, 1 },
        { NULL, NULL, "Optimizer.step#SGD.step", TM_ORIGIN_PYTORCH, 1 },
        { NULL, NULL, "aten::mul", TM_ORIGIN_PYTORCH, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        struct tm_config config = no_config;
        struct tm_hlo_op op = { .name = 0 };
        struct tm_event event;

        begin(&f);
        f.b.trace.configs = tm_rows_new(&f.run, TM_ACCOUNT_METADATA, sizeof(config), 1 << 17);
        f.b.trace.hlo_ops = tm_rows_new(&f.run, TM_ACCOUNT_METADATA, sizeof(op), 1 << 17);
        assert_true(f.b.trace.configs && f.b.trace.hlo_ops);
        tm_rows_append(f.b.trace.configs, &config);
        tm_rows_append(f.b.trace.hlo_ops, &op);
        config.op = rows[i].path ? bench_name(&f.b, rows[i].path) : 0;
        config.has_kernel = true;
        op.path = rows[i].hlo_path ? bench_name(&f.b, rows[i].hlo_path) : 0;
        tm_rows_append(f.b.trace.configs, &config);
        tm_rows_append(f.b.trace.hlo_ops, &op);
        f.b.trace.origin = rows[i].origin;
        assert_int_equal(bench_begin(&f.b), TM_OK);
        event = bench_event(bench_name(&f.b, rows[i].event), TM_CLASS_FRAMEWORK_OP, &no_config, 0, 10);
        event.traits = tm_traits_of(rows[i].event, strlen(rows[i].event));
        assert_int_equal(bench_take(&f.b, &event), TM_OK);
        end(&f);
        assert_int_equal(tm_has(bench_get(&f.b, "environment.hosts[0].backward")), rows[i].told >= 0);
        assert_int_equal(tm_is(bench_get(&f.b, "environment.hosts[0].backward")), rows[i].told > 0);
        tm_rows_free(f.b.trace.configs);
        tm_rows_free(f.b.trace.hlo_ops);
        finish(&f);
    }
}

static void alike_devices_are_one_row_and_idle_ones_are_unused(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    bench_devices(&f.b, 5, TM_DEVICE_GPU, 0, 10);
    for (uint32_t i = 0; i < 5; i++) {
        struct tm_device *device = &f.b.devices[i];

        (void)snprintf(device->model, sizeof(device->model), i < 3 ? "H200" : "");
        (void)snprintf(device->name, sizeof(device->name), "/device:GPU:%u", i);
        device->core_count = i < 3 ? 132 : 0;
        device->activities = i != 2 && i != 4;
    }
    assert_int_equal(bench_begin(&f.b), TM_OK);
    end(&f);
    assert_string_equal(text(&f, "environment.platform"), "gpu");
    assert_int_equal(tm_length(bench_get(&f.b, "environment.devices")), 2);
    assert_string_equal(text(&f, "environment.devices[0].model"), "H200");
    assert_int_equal(number(&f, "environment.devices[0].count"), 3);
    assert_int_equal(number(&f, "environment.devices[0].used"), 2);
    assert_int_equal(number(&f, "environment.devices[0].core_count"), 132);
    assert_false(tm_has(bench_get(&f.b, "environment.devices[1].model")));
    assert_int_equal(number(&f, "environment.devices[1].count"), 2);
    assert_int_equal(tm_length(bench_get(&f.b, "unused")), 2);
    assert_string_equal(text(&f, "unused[0].name"), "/device:GPU:2");
    assert_string_equal(text(&f, "unused[1].host"), "h0");
    finish(&f);
}

static void many_sorts_of_devices_stay_bounded(void **state)
{
    struct fixture f;
    int64_t count = 0;

    (void)state;
    begin(&f);
    bench_devices(&f.b, BENCH_DEVICES, TM_DEVICE_TPU, 0, 10);
    for (uint32_t i = 0; i < BENCH_DEVICES; i++)
        f.b.devices[i].core_count = i + 1;
    assert_int_equal(bench_begin(&f.b), TM_OK);
    end(&f);
    for (size_t i = 0; i < tm_length(bench_get(&f.b, "environment.devices")); i++)
        count += tm_int(tm_get(tm_at(bench_get(&f.b, "environment.devices"), i), "count"));
    assert_true(tm_length(bench_get(&f.b, "environment.devices")) <= 64);
    assert_int_equal(count, BENCH_DEVICES);
    finish(&f);
}

static void a_cpu_is_a_device_where_programs_ran_on_it(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    bench_devices(&f.b, 2, TM_DEVICE_CPU, 0, 10);
    f.b.devices[1].activities = 0;
    assert_int_equal(bench_begin(&f.b), TM_OK);
    end(&f);
    assert_string_equal(text(&f, "environment.platform"), "cpu");
    assert_int_equal(number(&f, "environment.devices[0].count"), 1);
    assert_int_equal(tm_length(bench_get(&f.b, "unused")), 0);
    finish(&f);
}

static void events_are_counted_by_class_and_by_use(void **state)
{
    static const struct {
        enum tm_class class;
        enum tm_level level;
        uint32_t thread;
        int64_t dur_ps;
        bool is_used;
    } rows[] = {
        { TM_CLASS_KERNEL, TM_LEVEL_COMPUTE, TM_NONE, 5, true },
        { TM_CLASS_GRAPH, TM_LEVEL_NONE, TM_NONE, 5, false }, /* its kernels were recorded */
        { TM_CLASS_DERIVED, TM_LEVEL_NONE, TM_NONE, 5, false },
        { TM_CLASS_ALLOC, TM_LEVEL_NONE, TM_NONE, 0, true },
        { TM_CLASS_PYTHON, TM_LEVEL_NONE, 0, 5, true },
        { TM_CLASS_PYTHON, TM_LEVEL_NONE, TM_NONE, 5, false }, /* a thread that launches nothing */
        { TM_CLASS_RUNTIME, TM_LEVEL_NONE, 0, 0, false },
        { TM_CLASS_OTHER, TM_LEVEL_NONE, TM_NONE, 5, false },
    };
    struct fixture f;
    int64_t used = 0;

    (void)state;
    begin(&f);
    assert_int_equal(bench_begin(&f.b), TM_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_event event = bench_event(0, rows[i].class, &no_config, (int64_t)i, rows[i].dur_ps);

        event.level = (uint8_t)rows[i].level;
        event.thread = rows[i].thread;
        assert_int_equal(tm_overview_is_used(&event), rows[i].is_used);
        assert_int_equal(bench_take(&f.b, &event), TM_OK);
        used += rows[i].is_used;
    }
    f.run.events_read = 9;
    tm_tally_add(&f.run.tallies, TM_TALLY_NEGATIVE_DURATION, 3);
    end(&f);
    assert_int_equal(number(&f, "coverage.events_read"), 9);
    assert_int_equal(number(&f, "coverage.events_used"), used);
    assert_int_equal(number(&f, "coverage.classes.python"), 2);
    assert_int_equal(number(&f, "coverage.classes.kernel"), 1);
    assert_int_equal(number(&f, "coverage.kernel_launches"), 0);
    assert_int_equal(tm_length(bench_get(&f.b, "coverage.unknown_devices")), 0);
    assert_null(bench_get(&f.b, "coverage.classes.copy"));
    assert_int_equal(tm_length(bench_get(&f.b, "coverage.tallies")), 1);
    assert_int_equal(number(&f, "coverage.tallies.negative-duration.count"), 3);
    assert_string_equal(text(&f, "coverage.tallies.negative-duration.level"),
                        tm_tally_info[TM_TALLY_NEGATIVE_DURATION].level == TM_TALLY_LOSS ? "loss" : "note");
    finish(&f);
}

static tm_status whole_job(struct tm_run *run)
{
    struct bench b;
    tm_status st = bench_open(&b, run, &tm_overview_stage);

    bench_devices(&b, 8, TM_DEVICE_GPU, 0, 1);
    b.devices[3].activities = 0;
    for (int host = 0; host < 3 && st == TM_OK; host++) {
        st = bench_begin(&b);
        if (st == TM_OK)
            st = bench_end(&b);
    }
    if (st == TM_OK)
        st = bench_report(&b);
    bench_close(&b);
    return st ? st : run->error.status;
}

static void refused_memory_ends_cleanly(void **state)
{
    (void)state;
    refuse_each_request(whole_job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_host_says_of_itself_is_passed_on),
        cmocka_unit_test(what_a_copy_lacks_is_said_to_be_elsewhere),
        cmocka_unit_test(a_backward_pass_is_told),
        cmocka_unit_test(alike_devices_are_one_row_and_idle_ones_are_unused),
        cmocka_unit_test(many_sorts_of_devices_stay_bounded),
        cmocka_unit_test(a_cpu_is_a_device_where_programs_ran_on_it),
        cmocka_unit_test(events_are_counted_by_class_and_by_use),
        cmocka_unit_test(refused_memory_ends_cleanly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
