/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/figure_stages.h"

#include "tests/support/test_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "stages/resolve/classes.h"
#include "tests/support/stage_driver.h"

enum { TRACKS = 4, MAIN = 0, POOL = 1, USER = 2, OTHER_POOL = 3 };
static const struct tm_config no_config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };

/* A bench with two lines of users (0 and 2), two of the compiler (1 and 3), and steps of 100 ps from 0 on, of which
 * step 0 is not chosen. */
static tm_status open_bench(struct bench *b, struct tm_run *run)
{
    if (bench_open(b, run, &tm_compile_stage) != TM_OK)
        return run->error.status;
    (void)snprintf(b->trace.host_name, sizeof(b->trace.host_name), "h0");
    b->trace.tracks = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), 1 << 17);
    b->trace.steps.marks = tm_rows_new(run, TM_ACCOUNT_STEPS, sizeof(struct tm_step_mark), 1 << 17);
    b->trace.hlo_modules = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_hlo_module), 1 << 17);
    if (!b->trace.tracks || !b->trace.steps.marks || !b->trace.hlo_modules)
        return run->error.status;
    for (uint32_t i = 0; i < TRACKS; i++) {
        const struct tm_track track = { .side = TM_SIDE_HOST, .is_user = i == MAIN || i == USER, .events = 1 };

        tm_rows_append(b->trace.tracks, &track);
    }
    for (int i = 0; i < BENCH_STEPS; i++) {
        const struct tm_step_mark mark = { .number = 10 + i, .start_ps = 100 * i, .dur_ps = 90, .chosen = i > 0 };

        tm_rows_append(b->trace.steps.marks, &mark);
    }
    return tm_failed(run) ? run->error.status : bench_begin(b);
}

static void close_bench(struct bench *b)
{
    tm_rows_free(b->trace.tracks);
    tm_rows_free(b->trace.steps.marks);
    tm_rows_free(b->trace.hlo_modules);
    bench_close(b);
}

/* A program of the present host. */
static void program(struct bench *b, const char *name, int64_t id, const char *shapes)
{
    const struct tm_hlo_module module = { .name = bench_name(b, name),
                                          .shapes = bench_name(b, shapes),
                                          .program_id = id };

    tm_rows_append(b->trace.hlo_modules, &module);
}

static tm_status give(struct bench *b, uint32_t track, const char *name, uint32_t traits, int64_t start_ps,
                      int64_t dur_ps)
{
    const bool is_compile = traits & (TM_TRAIT_COMPILE_WHOLE | TM_TRAIT_COMPILE_CLIENT | TM_TRAIT_COMPILE_XLA);
    struct tm_event event = bench_event(bench_name(b, name), is_compile ? TM_CLASS_COMPILE : TM_CLASS_RUNTIME,
                                        &no_config, start_ps, dur_ps);

    event.record.track = track;
    event.traits = traits;
    event.level = TM_LEVEL_NONE;
    return bench_take(b, &event);
}

static tm_status compile(struct bench *b, uint32_t track, int64_t start_ps, int64_t dur_ps)
{
    return give(b, track, "backend_compile_and_load", TM_TRAIT_COMPILE_WHOLE, start_ps, dur_ps);
}

static tm_status call(struct bench *b, uint32_t track, const char *name, int64_t start_ps, int64_t dur_ps)
{
    return give(b, track, name, TM_TRAIT_PJIT | TM_TRAIT_RUNTIME, start_ps, dur_ps);
}

struct fixture {
    struct tm_run run;
    struct bench b;
};

static void begin(struct fixture *f)
{
    test_run_init(&f->run);
    assert_int_equal(open_bench(&f->b, &f->run), TM_OK);
}

static void end(struct fixture *f)
{
    assert_int_equal(bench_end(&f->b), TM_OK);
    assert_int_equal(bench_report(&f->b), TM_OK);
}

static void finish(struct fixture *f)
{
    close_bench(&f->b);
    assert_ledger_is_even(&f->run);
}

static int64_t number(const struct fixture *f, const char *path)
{
    const struct tm_value *value = bench_get(&f->b, path);

    if (!tm_has(value))
        fail_msg("%s is missing", path);
    return tm_int(value);
}

static void what_lies_in_a_compile_is_part_of_it(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    assert_int_equal(compile(&f.b, MAIN, 10, 50), TM_OK);
    assert_int_equal(compile(&f.b, MAIN, 10, 40), TM_OK);      /* the same thread */
    assert_int_equal(compile(&f.b, POOL, 20, 30), TM_OK);      /* a thread of the compiler */
    assert_int_equal(compile(&f.b, OTHER_POOL, 60, 0), TM_OK); /* at its very end */
    end(&f);
    assert_int_equal(number(&f, "compile.count"), 1);
    assert_int_equal(number(&f, "compile.total_ps"), 50);
    assert_int_equal(number(&f, "compile.longest_ps"), 50);
    assert_string_equal(tm_text(bench_get(&f.b, "compile.source")), "backend_compile");
    finish(&f);
}

static void two_users_may_compile_at_once(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    assert_int_equal(compile(&f.b, MAIN, 110, 50), TM_OK);
    assert_int_equal(compile(&f.b, USER, 120, 20), TM_OK);
    assert_int_equal(compile(&f.b, POOL, 125, 90), TM_OK); /* ends after both: a compile of its own */
    end(&f);
    assert_int_equal(number(&f, "compile.count"), 3);
    assert_int_equal(number(&f, "compile.total_ps"), 105);
    assert_int_equal(number(&f, "compile.inside_steps.count"), 3);
    assert_int_equal(number(&f, "compile.inside_steps.total_ps"), 105);
    finish(&f);
}

static void only_the_best_name_of_the_run_counts(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    assert_int_equal(give(&f.b, MAIN, "PjRtClient::Compile", TM_TRAIT_COMPILE_CLIENT, 10, 5), TM_OK);
    assert_int_equal(give(&f.b, MAIN, "XlaCompile", TM_TRAIT_COMPILE_XLA, 20, 5), TM_OK);
    assert_int_equal(bench_end(&f.b), TM_OK);
    assert_int_equal(bench_begin(&f.b), TM_OK);
    assert_int_equal(give(&f.b, MAIN, "PjRtClient::Compile", TM_TRAIT_COMPILE_CLIENT, 10, 7), TM_OK);
    end(&f);
    assert_string_equal(tm_text(bench_get(&f.b, "compile.source")), "client");
    assert_int_equal(number(&f, "compile.count"), 2);
    assert_int_equal(number(&f, "compile.total_ps"), 12); /* hosts do not cover each other */
    finish(&f);
}

static void a_compile_is_in_the_step_that_it_begins_in(void **state)
{
    static const struct {
        int64_t start_ps, step; /* -1 = none */
    } rows[] = { { 5, 10 }, { 95, -1 }, { 100, 11 }, { 190, 11 }, { 191, -1 }, { 709, 17 }, { 900, -1 } };
    struct fixture f;

    (void)state;
    begin(&f);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(compile(&f.b, MAIN, rows[i].start_ps, 1), TM_OK);
    end(&f);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[64];

        (void)snprintf(path, sizeof(path), "compile.events[%zu].step", i);
        assert_int_equal(tm_has(bench_get(&f.b, path)), rows[i].step >= 0);
        if (rows[i].step >= 0)
            assert_int_equal(number(&f, path), rows[i].step);
    }
    assert_int_equal(number(&f, "compile.inside_steps.count"), 3); /* step 10 is not chosen */
    finish(&f);
}

static void the_function_that_is_called_gives_the_name(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    assert_int_equal(call(&f.b, MAIN, "PjitFunction(outer)", 0, 100), TM_OK);
    assert_int_equal(call(&f.b, MAIN, "PjitFunction(inner)", 10, 20), TM_OK);
    assert_int_equal(compile(&f.b, MAIN, 12, 5), TM_OK);
    assert_int_equal(compile(&f.b, MAIN, 40, 5), TM_OK); /* inner has returned */
    assert_int_equal(compile(&f.b, USER, 50, 5), TM_OK); /* no call on this thread */
    assert_int_equal(compile(&f.b, MAIN, 60, 5), TM_OK);
    end(&f);
    assert_string_equal(tm_text(bench_get(&f.b, "compile.events[0].module")), "inner");
    assert_string_equal(tm_text(bench_get(&f.b, "compile.events[1].module")), "outer");
    assert_false(tm_has(bench_get(&f.b, "compile.events[2].module")));
    assert_int_equal(tm_length(bench_get(&f.b, "compile.recompiled")), 1);
    assert_string_equal(tm_text(bench_get(&f.b, "compile.recompiled[0].module")), "outer");
    assert_int_equal(number(&f, "compile.recompiled[0].count"), 2);
    finish(&f);
}

static void calls_past_the_limits_only_cost_names(void **state)
{
    struct fixture f;
    struct tm_track track = { .side = TM_SIDE_HOST, .is_user = 1, .events = 1 };

    (void)state;
    test_run_init(&f.run);
    assert_int_equal(bench_open(&f.b, &f.run, &tm_compile_stage), TM_OK);
    f.b.trace.steps.source = TM_STEPS_SESSION;
    f.b.trace.tracks = tm_rows_new(&f.run, TM_ACCOUNT_METADATA, sizeof(track), 1 << 17);
    assert_non_null(f.b.trace.tracks);
    for (int i = 0; i < 1000; i++)
        tm_rows_append(f.b.trace.tracks, &track);
    assert_int_equal(bench_begin(&f.b), TM_OK);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(call(&f.b, i, "PjitFunction(f)", i, 2000), TM_OK);
    for (int i = 0; i < 100; i++)
        assert_int_equal(call(&f.b, 0, "PjitFunction(deep)", 1000 + i, 1000 - i), TM_OK);
    assert_int_equal(compile(&f.b, 0, 1500, 10), TM_OK);
    assert_int_equal(compile(&f.b, 999, 1501, 10), TM_OK);
    assert_int_equal(call(&f.b, 999, "PjitFunction(late)", 5000, 100), TM_OK); /* the others have ended */
    assert_int_equal(compile(&f.b, 999, 5001, 10), TM_OK);
    end(&f);
    assert_string_equal(tm_text(bench_get(&f.b, "compile.events[0].module")), "deep");
    assert_false(tm_has(bench_get(&f.b, "compile.events[1].module")));
    assert_string_equal(tm_text(bench_get(&f.b, "compile.events[2].module")), "late");
    assert_false(tm_has(bench_get(&f.b, "compile.inside_steps.count"))); /* nothing is marked */
    finish(&f);
}

static void the_longest_are_listed_in_the_order_of_time(void **state)
{
    struct fixture f;
    int64_t before = -1;

    (void)state;
    begin(&f);
    for (int i = 0; i < 1200; i++)
        assert_int_equal(compile(&f.b, MAIN, 1000 * i, 1 + i % 2 * 100 + i % 7), TM_OK);
    end(&f);
    assert_int_equal(number(&f, "compile.count"), 1200);
    assert_int_equal(tm_length(bench_get(&f.b, "compile.events")), 500);
    for (size_t i = 0; i < 500; i++) {
        const struct tm_value *event = tm_at(bench_get(&f.b, "compile.events"), i);

        assert_true(tm_int(tm_get(event, "begin_ps")) > before);
        assert_true(tm_int(tm_get(event, "dur_ps")) > 100);
        before = tm_int(tm_get(event, "begin_ps"));
    }
    finish(&f);
}

static void nothing_compiled_is_zero_and_nothing_recorded_is_null(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    end(&f);
    assert_int_equal(number(&f, "compile.count"), 0);
    assert_int_equal(number(&f, "compile.total_ps"), 0);
    assert_int_equal(number(&f, "compile.inside_steps.count"), 0);
    assert_false(tm_has(bench_get(&f.b, "compile.longest_ps")));
    assert_false(tm_has(bench_get(&f.b, "compile.source")));
    finish(&f);

    test_run_init(&f.run);
    assert_int_equal(bench_open(&f.b, &f.run, &tm_compile_stage), TM_OK);
    f.b.trace.main_track = TM_NONE;
    f.b.trace.tracks = tm_rows_new(&f.run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), 1 << 17);
    assert_non_null(f.b.trace.tracks);
    assert_int_equal(bench_begin(&f.b), TM_OK);
    end(&f);
    assert_false(tm_has(bench_get(&f.b, "compile")));
    finish(&f);
}

static void what_a_profiler_cannot_tell_is_null(void **state)
{
    static const struct {
        enum tm_origin origin;
        const char *why; /* NULL: a figure */
    } rows[] = {
        { TM_ORIGIN_XSPACE, NULL },
        { TM_ORIGIN_JSON_COPY, NULL },
        { TM_ORIGIN_PYTORCH, "PyTorch's profiler does not record compiles" },
        { TM_ORIGIN_OTHER, "the trace has no known compiler events" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        test_run_init(&f.run);
        assert_int_equal(bench_open(&f.b, &f.run, &tm_compile_stage), TM_OK);
        f.b.trace.origin = rows[i].origin;
        f.b.trace.main_track = 0;
        f.b.trace.tracks = tm_rows_new(&f.run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), 1 << 17);
        assert_non_null(f.b.trace.tracks);
        assert_int_equal(bench_begin(&f.b), TM_OK);
        end(&f);
        assert_int_equal(tm_has(bench_get(&f.b, "compile")), !rows[i].why);
        if (rows[i].why)
            assert_string_equal(tm_why(bench_get(&f.b, "compile")), rows[i].why);
        finish(&f);
    }
}

/* A compile of a function, called from the main thread. */
static void compile_of(struct fixture *f, const char *function, int64_t start_ps)
{
    assert_int_equal(call(&f->b, MAIN, function, start_ps, 9), TM_OK);
    assert_int_equal(compile(&f->b, MAIN, start_ps + 1, 5), TM_OK);
}

static void the_last_programs_are_what_was_compiled(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    program(&f.b, "jit_step", 14, "f32[10]");
    program(&f.b, "jit__lambda_", 3, "s32[]");
    program(&f.b, "jit_step", 2, "f32[8]"); /* before the profile began */
    program(&f.b, "jit_step", 4, "f32[9]");
    compile_of(&f, "PjitFunction(step)", 10);
    compile_of(&f, "PjitFunction(<lambda>)", 30);
    compile_of(&f, "PjitFunction(step)", 50);
    compile_of(&f, "PjitFunction(other)", 70);
    end(&f);
    assert_string_equal(tm_text(bench_get(&f.b, "compile.events[0].shapes")), "f32[9]");
    assert_string_equal(tm_text(bench_get(&f.b, "compile.events[1].shapes")), "s32[]");
    assert_string_equal(tm_text(bench_get(&f.b, "compile.events[2].shapes")), "f32[10]");
    assert_string_equal(tm_why(bench_get(&f.b, "compile.events[3].shapes")),
                        "the profile does not show which of its programs it created");
    assert_int_equal(tm_length(bench_get(&f.b, "compile.programs")), 3);
    assert_int_equal(number(&f, "compile.programs[0].program_id"), 2);
    assert_string_equal(tm_text(bench_get(&f.b, "compile.programs[1].module")), "jit_step");
    assert_string_equal(tm_text(bench_get(&f.b, "compile.programs[2].shapes")), "f32[10]");
    finish(&f);
}

static void programs_without_an_order_tell_no_shapes(void **state)
{
    static const struct {
        int64_t first, second;
        int compiles;
        bool known;
    } rows[] = {
        { 1, 2, 2, true }, { 1, 2, 3, false }, { -6255983156473747731, 9, 2, false }, { 5, INT64_MAX, 1, false }
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        begin(&f);
        program(&f.b, "jit_f", rows[i].first, "f32[1]");
        program(&f.b, "jit_f", rows[i].second, "f32[2]");
        for (int n = 0; n < rows[i].compiles; n++)
            compile_of(&f, "PjitFunction(f)", 10 * n);
        end(&f);
        assert_int_equal(tm_has(bench_get(&f.b, "compile.events[0].shapes")), rows[i].known);
        assert_int_equal(tm_length(bench_get(&f.b, "compile.programs")), 2);
        finish(&f);
    }
}

static void long_lists_of_shapes_keep_both_ends(void **state)
{
    char shapes[4096] = "f32[1]";
    struct fixture f;
    const char *said;

    (void)state;
    for (size_t n = 6; n + 16 < sizeof(shapes); n += 11)
        (void)snprintf(shapes + n, sizeof(shapes) - n, ", bf16[128]");
    memcpy(shapes + strlen(shapes) - 4, "256]", 4);
    begin(&f);
    program(&f.b, "jit_f", 1, shapes);
    compile_of(&f, "PjitFunction(f)", 10);
    end(&f);
    said = tm_text(bench_get(&f.b, "compile.events[0].shapes"));
    assert_true(strlen(said) < 1024);
    assert_memory_equal(said, "f32[1], bf16[128]", 17);
    assert_string_equal(said + strlen(said) - 9, "bf16[256]");
    finish(&f);
}

static tm_status whole_job(struct tm_run *run)
{
    struct bench b;
    tm_status st = open_bench(&b, run);

    for (int i = 0; i < 20 && st == TM_OK; i++)
        program(&b, i % 3 ? "jit_f" : "jit_g", i, "f32[8,128]");
    for (int i = 0; i < 40 && st == TM_OK; i++) {
        st = call(&b, MAIN, i % 3 ? "PjitFunction(f)" : "PjitFunction(g)", 20 * i, 19);
        if (st == TM_OK)
            st = compile(&b, MAIN, 20 * i + 1, 5);
    }
    if (st == TM_OK)
        st = bench_end(&b);
    if (st == TM_OK)
        st = bench_report(&b);
    close_bench(&b);
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
        cmocka_unit_test(what_lies_in_a_compile_is_part_of_it),
        cmocka_unit_test(two_users_may_compile_at_once),
        cmocka_unit_test(only_the_best_name_of_the_run_counts),
        cmocka_unit_test(a_compile_is_in_the_step_that_it_begins_in),
        cmocka_unit_test(the_function_that_is_called_gives_the_name),
        cmocka_unit_test(calls_past_the_limits_only_cost_names),
        cmocka_unit_test(the_longest_are_listed_in_the_order_of_time),
        cmocka_unit_test(nothing_compiled_is_zero_and_nothing_recorded_is_null),
        cmocka_unit_test(what_a_profiler_cannot_tell_is_null),
        cmocka_unit_test(the_last_programs_are_what_was_compiled),
        cmocka_unit_test(programs_without_an_order_tell_no_shapes),
        cmocka_unit_test(long_lists_of_shapes_keep_both_ends),
        cmocka_unit_test(refused_memory_ends_cleanly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
