/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/survey/survey.h"

#include <stdlib.h>

#include "tests/support/test_run.h"
#include "tests/support/xspace_run.h"

/* A host with a python thread, a thread of driver calls, and GPUs with a stream each. */
struct fixture {
    struct xb_space *space;
    struct xb_plane *host;
    struct xb_line *python, *driver, *streams[2];
    struct xspace_run x;
};

static void set_up(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    f->space = xb_space_new();
    f->host = xb_plane(f->space, "/host:CPU");
    f->python = xb_line(f->host, 1, "python", 0);
    f->driver = xb_line(f->host, 2, "Host Threads/2", 0);
    f->streams[0] = xb_line(xb_plane(f->space, "/device:GPU:0"), 7, "Stream #7", 0);
    f->streams[1] = xb_line(xb_plane(f->space, "/device:GPU:1"), 7, "Stream #8", 0);
}

static void put_marker(struct fixture *f, int64_t number, int64_t start_ps, int64_t dur_ps)
{
    xb_event(f->python, "train", start_ps, dur_ps);
    xb_int(f->python, "_r", 1);
    if (number >= 0)
        xb_int(f->python, "step_num", number);
}

static void put_launch(struct xb_line *line, int64_t id, int64_t at_ps)
{
    xb_event(line, "cuLaunchKernel", at_ps, 1);
    xb_int(line, "correlation_id", id);
}

static void put_kernel(struct xb_line *stream, int64_t id, int64_t at_ps, int64_t dur_ps)
{
    xb_event(stream, "kernel", at_ps, dur_ps);
    xb_ref(stream, "kernel_details", "grid:1,1,1 block:32,1,1");
    if (id)
        xb_int(stream, "correlation_id", id);
}

static void survey_status(struct fixture *f, const struct tm_chosen_steps *choice, tm_status expected)
{
    assert_int_equal(xspace_scan_space(&f->x, f->space, NULL), TM_OK);
    assert_int_equal(xspace_survey(&f->x, choice), expected);
}

static void survey(struct fixture *f)
{
    survey_status(f, NULL, TM_OK);
}

static void tear_down(struct fixture *f)
{
    xspace_close(&f->x);
    xb_space_free(f->space);
}

static const struct tm_steps *steps_of(const struct fixture *f)
{
    return &f->x.host.trace.steps;
}

static struct tm_step_row row_of(struct fixture *f, uint32_t device, uint64_t step)
{
    const struct tm_step_row *const row =
        tm_rows_at(steps_of(f)->rows, f->x.host.trace.devices[device].first_step_row + step);

    assert_non_null(row);
    return *row;
}

static struct tm_step_mark mark_of(struct fixture *f, uint64_t step)
{
    const struct tm_step_mark *const mark = tm_rows_at(steps_of(f)->marks, step);

    assert_non_null(mark);
    return *mark;
}

static void assert_row(struct fixture *f, uint32_t device, uint64_t step, struct tm_step_row expected)
{
    const struct tm_step_row row = row_of(f, device, step);

    assert_int_equal(row.activities, expected.activities);
    assert_int_equal(row.first_ps, expected.first_ps);
    assert_int_equal(row.last_ps, expected.last_ps);
    assert_int_equal(row.start_ps, expected.start_ps);
    assert_int_equal(row.end_ps, expected.end_ps);
}

/* --- host markers --- */

/* The device runs behind the host: an activity belongs to the marker that its launch began in. */
static void activities_belong_to_the_marker_of_their_launch(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    put_marker(&f, 10, 100, 50);
    put_marker(&f, 11, 200, 50);
    put_marker(&f, 12, 300, 50);
    put_launch(f.python, 1, 110); /* on the marker's own thread */
    put_launch(f.driver, 2, 120); /* on another one */
    put_launch(f.driver, 3, 210);
    put_launch(f.driver, 4, 310);
    put_launch(f.driver, 5, 270); /* between two markers */
    put_kernel(f.streams[0], 1, 150, 60);
    put_kernel(f.streams[0], 2, 230, 20); /* begins in the second marker, but belongs to the first */
    put_kernel(f.streams[0], 3, 260, 30);
    put_kernel(f.streams[0], 5, 301, 5);
    put_kernel(f.streams[0], 0, 340, 8); /* no launch known: where it begins */
    put_kernel(f.streams[0], 4, 400, 100);
    put_kernel(f.streams[0], 99, 600, 7); /* its launch was not recorded, and no marker is open */
    put_kernel(f.streams[1], 3, 280, 5);
    survey(&f);
    assert_int_equal(steps_of(&f)->source, TM_STEPS_HOST);
    assert_int_equal(steps_of(&f)->count, 3);
    /* The first step begins at its marker; each next one where the last activity of the one before ended, on any device. */
    assert_row(
        &f, 0, 0,
        (struct tm_step_row){ .activities = 2, .first_ps = 150, .last_ps = 250, .start_ps = 100, .end_ps = 250 });
    assert_row(
        &f, 0, 1,
        (struct tm_step_row){ .activities = 1, .first_ps = 260, .last_ps = 290, .start_ps = 250, .end_ps = 290 });
    assert_row(
        &f, 0, 2,
        (struct tm_step_row){ .activities = 2, .first_ps = 340, .last_ps = 500, .start_ps = 290, .end_ps = 500 });
    assert_row(&f, 1, 0, (struct tm_step_row){ .activities = 0, .start_ps = 100, .end_ps = 250 });
    assert_row(
        &f, 1, 1,
        (struct tm_step_row){ .activities = 1, .first_ps = 280, .last_ps = 285, .start_ps = 250, .end_ps = 290 });
    assert_int_equal(row_of(&f, 0, 0).own_ps, 150); /* the device's own period */
    assert_int_equal(row_of(&f, 1, 1).own_ps, 85);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mark_of(&f, i).number, 10 + i);
        assert_int_equal(mark_of(&f, i).start_ps, 100 * (i + 1));
        assert_int_equal(mark_of(&f, i).dur_ps, 50);
    }
    assert_int_equal(f.x.host.trace.devices[0].activities, 7);
    assert_int_equal(f.x.host.trace.devices[0].first_ps, 150);
    assert_int_equal(f.x.host.trace.devices[0].last_ps, 607);
    tear_down(&f);
}

static void a_first_step_begins_at_its_activity_if_that_is_earlier(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    put_marker(&f, -1, 100, 50);
    put_launch(f.driver, 1, 110);
    put_kernel(f.streams[0], 1, 90, 60); /* clocks differ a little */
    survey(&f);
    assert_row(&f, 0, 0,
               (struct tm_step_row){ .activities = 1, .first_ps = 90, .last_ps = 150, .start_ps = 90, .end_ps = 150 });
    assert_int_equal(mark_of(&f, 0).number, 0); /* no step_num: its ordinal */
    tear_down(&f);
}

/* A step whose work ends before that of the step before has no period of its own. */
static void a_period_is_never_below_nothing(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    put_marker(&f, 0, 100, 10);
    put_marker(&f, 1, 120, 10);
    put_marker(&f, 2, 140, 10);
    put_launch(f.driver, 1, 101);
    put_launch(f.driver, 2, 121);
    put_launch(f.driver, 3, 141);
    put_kernel(f.streams[0], 1, 150, 100);
    put_kernel(f.streams[0], 2, 160, 20);
    put_kernel(f.streams[0], 3, 260, 20);
    survey_status(&f, &(struct tm_chosen_steps){ .all = true }, TM_OK);
    assert_row(
        &f, 0, 0,
        (struct tm_step_row){ .activities = 1, .first_ps = 150, .last_ps = 250, .start_ps = 100, .end_ps = 250 });
    assert_row(
        &f, 0, 1,
        (struct tm_step_row){ .activities = 1, .first_ps = 160, .last_ps = 180, .start_ps = 250, .end_ps = 250 });
    assert_row(
        &f, 0, 2,
        (struct tm_step_row){ .activities = 1, .first_ps = 260, .last_ps = 280, .start_ps = 250, .end_ps = 280 });
    tear_down(&f);
}

/* --- other sources --- */

static void groups_of_a_viewer_are_steps(void **state)
{
    static const int64_t groups[] = { 5, 5, 2, 9, 2 };
    struct fixture f;

    (void)state;
    set_up(&f);
    for (int i = 0; i < 5; i++) {
        put_kernel(f.streams[0], 0, 100 + 10 * i, 5);
        xb_int(f.streams[0], "group_id", groups[i]);
    }
    put_kernel(f.streams[0], 0, 200, 5); /* in none */
    survey(&f);
    assert_int_equal(steps_of(&f)->source, TM_STEPS_GROUP);
    assert_int_equal(steps_of(&f)->count, 3);
    assert_int_equal(row_of(&f, 0, 0).activities, 2); /* group 2 */
    assert_int_equal(row_of(&f, 0, 1).activities, 2); /* group 5 */
    assert_int_equal(row_of(&f, 0, 2).activities, 1);
    assert_int_equal(row_of(&f, 0, 0).first_ps, 120);
    assert_int_equal(row_of(&f, 0, 0).last_ps, 145);
    tear_down(&f);
}

/* A graph whose kernels were not recorded is in its group, too. */
static void a_collapsed_graph_belongs_to_its_group(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    for (int i = 0; i < 2; i++) {
        put_kernel(f.streams[0], 0, 100 + 100 * i, 5);
        xb_int(f.streams[0], "group_id", i);
        xb_event(f.streams[0], "CudaGraphExec", 120 + 100 * i, 30);
        xb_int(f.streams[0], "cuda_graph_exec_id", 4);
        xb_int(f.streams[0], "correlation_id", 50 + i);
        xb_int(f.streams[0], "group_id", i);
    }
    survey(&f);
    assert_int_equal(steps_of(&f)->source, TM_STEPS_GROUP);
    assert_int_equal(row_of(&f, 0, 0).activities, 2);
    assert_int_equal(row_of(&f, 0, 0).last_ps, 150);
    assert_int_equal(row_of(&f, 0, 1).last_ps, 250);
    tear_down(&f);
}

static void put_tpu(struct xb_space *space, int number, bool has_steps, int64_t shift_ps)
{
    char name[32];
    struct xb_plane *plane;
    struct xb_line *modules, *ops;

    (void)snprintf(name, sizeof(name), "/device:TPU:%d", number);
    plane = xb_plane(space, name);
    modules = xb_line(plane, 2, "XLA Modules", 0);
    ops = xb_line(plane, 3, "XLA Ops", 0);
    for (int i = 0; i < 3; i++) {
        xb_event(modules, "jit_step(9)", shift_ps + 100 * i, 80);
        xb_int(modules, "run_id", 70 + i);
        xb_event(ops, "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", shift_ps + 100 * i + 5, 30);
        xb_event(ops, "%mul.1 = f32[8]{0} multiply(f32[8]{0} %a, f32[8]{0} %b)", shift_ps + 100 * i + 40, 30);
    }
    xb_event(modules, "jit_other(3)", shift_ps + 400, 10);
    if (has_steps) {
        struct xb_line *const steps = xb_line(plane, 1, "Steps", 0);

        xb_event(steps, "0", shift_ps, 190);
        xb_event(steps, "1", shift_ps + 200, 90);
    }
}

static void steps_of_a_tpu_are_steps(void **state)
{
    struct fixture f;

    (void)state;
    memset(&f, 0, sizeof(f));
    f.space = xb_space_new();
    put_tpu(f.space, 0, true, 0);
    put_tpu(f.space, 1, true, 1000);
    survey(&f);
    assert_int_equal(steps_of(&f)->source, TM_STEPS_TPU);
    assert_int_equal(steps_of(&f)->count, 2);
    for (uint32_t device = 0; device < 2; device++) { /* each has its own */
        const int64_t at = 1000 * device;

        assert_row(
            &f, device, 0,
            (struct tm_step_row){
                .activities = 4, .first_ps = at + 5, .last_ps = at + 170, .start_ps = at + 5, .end_ps = at + 170 });
        assert_row(
            &f, device, 1,
            (struct tm_step_row){
                .activities = 2, .first_ps = at + 205, .last_ps = at + 270, .start_ps = at + 170, .end_ps = at + 270 });
    }
    tear_down(&f);
}

static void executions_on_a_tpu_are_steps(void **state)
{
    struct fixture f;

    (void)state;
    memset(&f, 0, sizeof(f));
    f.space = xb_space_new();
    put_tpu(f.space, 0, false, 0);
    put_tpu(f.space, 1, false, 7);
    survey(&f);
    assert_int_equal(steps_of(&f)->source, TM_STEPS_MODULE);
    assert_string_equal(xspace_text(&f.x, steps_of(&f)->module), "jit_step(9)");
    assert_int_equal(steps_of(&f)->count, 3);
    for (uint32_t device = 0; device < 2; device++)
        for (uint64_t k = 0; k < 3; k++)
            assert_int_equal(row_of(&f, device, k).activities, 2);
    assert_row(&f, 1, 1,
               (struct tm_step_row){ .activities = 2, .first_ps = 112, .last_ps = 177, .start_ps = 77, .end_ps = 177 });
    tear_down(&f);
}

static void put_execution(struct xb_line *line, const char *module, int64_t at_ps, int64_t dur_ps)
{
    xb_event(line, "GpuExecutable::ExecuteThunks", at_ps, dur_ps);
    xb_str(line, "module_name", module);
}

static void put_module_kernel(struct xb_line *stream, const char *module, int64_t id, int64_t at_ps, int64_t dur_ps)
{
    put_kernel(stream, id, at_ps, dur_ps);
    xb_ref(stream, "hlo_module", module);
}

/* Of the programs that ran twice or more the one with the most device time: where its launches are on the thread of
 * the execution, and where driver calls have a line of their own. */
static void executions_on_a_gpu_are_steps(void **state)
{
    (void)state;
    for (int on_other = 0; on_other < 2; on_other++) {
        struct fixture f;

        set_up(&f);
        for (int i = 0; i < 3; i++) {
            put_execution(f.python, "jit_step", 100 * i, 40);
            put_launch(on_other ? f.driver : f.python, 10 + i, 100 * i + 5);
            put_module_kernel(f.streams[0], "jit_step", 10 + i, 100 * i + 60, 20);
            put_execution(f.python, "jit_small", 100 * i + 50, 10);
            put_launch(on_other ? f.driver : f.python, 30 + i, 100 * i + 55);
            put_module_kernel(f.streams[0], "jit_small", 30 + i, 100 * i + 85, 3);
        }
        put_execution(f.python, "jit_init", 400, 10);
        put_launch(on_other ? f.driver : f.python, 99, 405);
        put_module_kernel(f.streams[0], "jit_init", 99, 420, 500); /* the most time, but it ran once */
        survey(&f);
        assert_int_equal(steps_of(&f)->source, TM_STEPS_MODULE);
        assert_string_equal(xspace_text(&f.x, steps_of(&f)->module), "jit_step");
        assert_int_equal(steps_of(&f)->count, 3);
        for (uint64_t k = 0; k < 3; k++) {
            assert_int_equal(row_of(&f, 0, k).activities, 1);
            assert_int_equal(row_of(&f, 0, k).first_ps, 100 * (int64_t)k + 60);
        }
        tear_down(&f);
    }
}

static void without_any_of_it_the_session_is_the_step(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    put_kernel(f.streams[0], 0, 100, 5);
    put_kernel(f.streams[0], 0, 300, 5);
    survey(&f);
    assert_int_equal(steps_of(&f)->source, TM_STEPS_SESSION);
    assert_int_equal(steps_of(&f)->count, 1);
    assert_true(steps_of(&f)->all);
    assert_row(
        &f, 0, 0,
        (struct tm_step_row){ .activities = 2, .first_ps = 100, .last_ps = 305, .start_ps = 100, .end_ps = 305 });
    assert_int_equal(f.x.host.trace.devices[0].chosen_begin_ps, 100);
    assert_int_equal(f.x.host.trace.devices[0].chosen_end_ps, 305);
    tear_down(&f);
}

/* --- which steps count --- */

enum { STEPS_MOST = 12 };

/* The rule of docs/metrics.md, said again: leading steps up to the first one without a compilation and within twice
 * the median of the others; none if that takes more than half of the steps or leaves fewer than two. */
static double median_without(const int64_t *lengths, size_t count, size_t left_out)
{
    int64_t others[STEPS_MOST];
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (i != left_out)
            others[n++] = lengths[i];
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && others[k] < others[k - 1]; k--) {
            const int64_t kept = others[k];

            others[k] = others[k - 1];
            others[k - 1] = kept;
        }
    return n % 2 ? (double)others[n / 2] : (double)(others[n / 2 - 1] + others[n / 2]) / 2;
}

static size_t warmup_plainly(const int64_t *lengths, const bool *compiles, size_t count)
{
    size_t warmup = 0;

    if (count < 2)
        return 0;
    while (warmup < count && (compiles[warmup] || (double)lengths[warmup] > 2 * median_without(lengths, count, warmup)))
        warmup++;
    return 2 * warmup > count || count - warmup < 2 ? 0 : warmup;
}

/* Steps of the given periods, one kernel after the other. */
static void put_steps(struct fixture *f, const int64_t *lengths, const bool *compiles, size_t count)
{
    int64_t at_ps = 1000;

    for (size_t i = 0; i < count; i++) {
        put_marker(f, (int64_t)i, at_ps, lengths[i]);
        if (compiles[i])
            xb_event(f->python, "backend_compile", at_ps + 1, 1);
        put_launch(f->driver, (int64_t)i + 1, at_ps);
        put_kernel(f->streams[0], (int64_t)i + 1, at_ps + lengths[i] / 2, lengths[i] - lengths[i] / 2);
        at_ps += lengths[i];
    }
}

static void check_warmup(const int64_t *lengths, const bool *compiles, size_t count)
{
    const size_t expected = warmup_plainly(lengths, compiles, count);
    struct fixture f;

    set_up(&f);
    put_steps(&f, lengths, compiles, count);
    survey(&f);
    assert_int_equal(steps_of(&f)->count, count);
    if (steps_of(&f)->warmup != expected)
        fail_msg("%zu steps, %lld %lld %lld ...: %llu warm-up instead of %zu", count, (long long)lengths[0],
                 (long long)lengths[1], (long long)lengths[2], (unsigned long long)steps_of(&f)->warmup, expected);
    assert_int_equal(steps_of(&f)->chosen_begin, expected);
    assert_int_equal(steps_of(&f)->chosen_end, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(mark_of(&f, i).warmup, i < expected);
        assert_int_equal(mark_of(&f, i).chosen, i >= expected);
        assert_int_equal(mark_of(&f, i).has_compile, compiles[i]);
        assert_int_equal(row_of(&f, 0, i).end_ps - row_of(&f, 0, i).start_ps, lengths[i]);
    }
    tear_down(&f);
}

static void warm_up_is_what_the_rule_says(void **state)
{
    static const struct {
        size_t count;
        int64_t lengths[STEPS_MOST];
        bool compiles[STEPS_MOST];
    } rows[] = {
        { 1, { 100 }, { true } },
        { 2, { 1000, 10 }, { true } },
        { 3, { 1000, 10, 10 }, { false } },
        { 3, { 20, 10, 10 }, { false } }, /* exactly twice the median stays */
        { 3, { 21, 10, 10 }, { false } },
        { 4, { 300, 300, 10, 10 }, { true, true } },
        { 5, { 10, 10, 10, 10, 10 }, { true, true } },
        { 5, { 10, 10, 10, 10, 10 }, { true, true, true } }, /* more than half: none */
        { 6, { 10, 500, 10, 10, 10, 10 }, { false } },       /* a slow one later is no warm-up */
        { 4, { 31, 20, 10, 11 }, { false } },
        { 4, { 22, 10, 12, 11 }, { false } },
    };
    uint64_t seed = 5;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_warmup(rows[i].lengths, rows[i].compiles, rows[i].count);
    for (int turn = 0; turn < 150; turn++) {
        int64_t lengths[STEPS_MOST] = { 0 };
        bool compiles[STEPS_MOST] = { false };
        const size_t count = 1 + next_number(&seed) % STEPS_MOST, first = next_number(&seed) % 6;

        for (size_t i = 0; i < count; i++) {
            lengths[i] = 4 + (int64_t)(next_number(&seed) % 6) + (i < first ? (int64_t)(next_number(&seed) % 20) : 0);
            compiles[i] = i < first && next_number(&seed) % 3 == 0;
        }
        check_warmup(lengths, compiles, count);
    }
}

/* The best name for a compilation counts: passes inside it are no compilations of their own. */
static void only_the_best_name_of_a_compilation_counts(void **state)
{
    static const int64_t lengths[] = { 100, 100, 100, 100 };
    static const bool none[4] = { false };
    struct fixture f;

    (void)state;
    set_up(&f);
    put_steps(&f, lengths, none, 4);
    xb_event(f.driver, "PjRtClient::Compile", 1010, 1);
    xb_event(f.driver, "XlaCompileBackend", 1110, 1);
    survey(&f);
    assert_int_equal(mark_of(&f, 0).has_compile, 1);
    assert_int_equal(mark_of(&f, 1).has_compile, 0);
    assert_int_equal(steps_of(&f)->warmup, 1);
    tear_down(&f);
}

/* The last step has fewer than 80 % of the activities of the one before. */
static void a_last_step_that_was_cut_off_is_incomplete(void **state)
{
    (void)state;
    for (int last = 0; last <= 10; last++) {
        struct fixture f;
        int64_t id = 1;

        set_up(&f);
        for (int step = 0; step < 4; step++) {
            put_marker(&f, step, 1000 * step, 900);
            for (int i = 0; i < (step == 3 ? last : 10); i++, id++) {
                put_launch(f.driver, id, 1000 * step + i);
                put_kernel(f.streams[0], id, 1000 * step + 10 * i + 20, 9);
            }
        }
        survey(&f);
        assert_int_equal(steps_of(&f)->count, 4);
        assert_int_equal(steps_of(&f)->incomplete, last < 8);
        assert_int_equal(mark_of(&f, 3).complete, last >= 8);
        assert_int_equal(mark_of(&f, 3).chosen, last >= 8);
        assert_int_equal(mark_of(&f, 2).complete, 1);
        assert_int_equal(steps_of(&f)->chosen_end, last < 8 ? 3 : 4);
        tear_down(&f);
    }
}

struct chosen_row {
    struct tm_chosen_steps choice;
    uint64_t begin, end; /* expected */
    int64_t from_ps, to_ps;
    tm_status status;
};

static void the_choice_of_the_user_is_taken(void **state)
{
    static const int64_t lengths[] = { 900, 100, 100, 100, 100 };
    static const bool none[5] = { false };
    /* Steps end at 1900, 2000, 2100, 2200, 2300; the first begins at 1000, its activity at 1450. */
    static const struct chosen_row rows[] = {
        { .choice = { .all = false }, .begin = 1, .end = 5, .from_ps = 1900, .to_ps = 2300 },
        { .choice = { .all = true }, .begin = 0, .end = 5, .from_ps = 1450, .to_ps = 2300 },
        { .choice = { .has_range = true, .begin = 2, .end = 4 }, .begin = 2, .end = 4, .from_ps = 2000, .to_ps = 2200 },
        { .choice = { .has_range = true, .begin = 0, .end = 1 }, .begin = 0, .end = 1, .from_ps = 1000, .to_ps = 1900 },
        { .choice = { .has_range = true, .begin = 3, .end = UINT64_MAX },
          .begin = 3,
          .end = 5,
          .from_ps = 2100,
          .to_ps = 2300 },
        { .choice = { .has_range = true, .begin = 5, .end = 9 }, .status = TM_ERR_USAGE },
        { .choice = { .has_range = true, .begin = 3, .end = 3 }, .status = TM_ERR_USAGE },
        { .choice = { .has_range = true, .begin = UINT64_MAX, .end = UINT64_MAX }, .status = TM_ERR_USAGE },
        { .choice = { .has_skip = true, .skip = 0 }, .begin = 0, .end = 5, .from_ps = 1000, .to_ps = 2300 },
        { .choice = { .has_skip = true, .skip = 4 }, .begin = 4, .end = 5, .from_ps = 2200, .to_ps = 2300 },
        { .choice = { .has_skip = true, .skip = 5 }, .status = TM_ERR_USAGE },
        { .choice = { .has_skip = true, .skip = UINT64_MAX }, .status = TM_ERR_USAGE },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        const struct tm_device *device;

        set_up(&f);
        put_steps(&f, lengths, none, 5);
        survey_status(&f, &rows[i].choice, rows[i].status);
        device = &f.x.host.trace.devices[0];
        if (rows[i].status == TM_OK) {
            assert_int_equal(steps_of(&f)->chosen_begin, rows[i].begin);
            assert_int_equal(steps_of(&f)->chosen_end, rows[i].end);
            assert_int_equal(device->chosen_begin_ps, rows[i].from_ps);
            assert_int_equal(device->chosen_end_ps, rows[i].to_ps);
            for (uint64_t k = 0; k < 5; k++)
                assert_int_equal(mark_of(&f, k).chosen, k >= rows[i].begin && k < rows[i].end);
        } else {
            assert_true(f.x.run.error.hint[0] != '\0');
        }
        tear_down(&f);
    }
}

/* --- threads and launches --- */

static const char *main_thread_of(struct fixture *f)
{
    const struct tm_trace *const trace = &f->x.host.trace;
    const struct tm_track *track;

    assert_int_not_equal(trace->main_track, TM_NONE);
    track = tm_rows_at(trace->tracks, trace->main_track);
    assert_non_null(track);
    assert_int_equal(track->thread, trace->main_thread);
    return xspace_text(&f->x, track->name);
}

/* The line with the step markers, else with the most python, else with the most PjitFunction. */
static void the_main_thread_is_found(void **state)
{
    for (int has = 0; has < 8; has++) {
        struct fixture f;
        struct xb_line *markers, *python, *pjit;

        (void)state;
        set_up(&f);
        pjit = xb_line(f.host, 5, "pjit", 0);
        python = xb_line(f.host, 6, "frames", 0);
        markers = xb_line(f.host, 7, "markers", 0);
        xb_event(f.python, "$a", 1, 1);
        xb_event(f.python, "PjitFunction(f)", 2, 1);
        for (int i = 0; i < 5; i++) {
            if (has & 1)
                xb_event(pjit, "PjitFunction(f)", 10 * i, 1);
            if (has & 2)
                xb_event(python, "$b", 10 * i, 1);
        }
        if (has & 4) {
            xb_event(markers, "train", 5, 1);
            xb_int(markers, "_r", 1);
        }
        survey(&f);
        assert_string_equal(main_thread_of(&f), has & 4 ? "markers" : has & 2 ? "frames" : "python");
        tear_down(&f);
    }
}

static void without_python_pjit_tells_the_main_thread(void **state)
{
    struct fixture f;
    struct xb_line *pjit;

    (void)state;
    set_up(&f);
    pjit = xb_line(f.host, 5, "pjit", 0);
    xb_event(f.driver, "something", 1, 1);
    xb_event(pjit, "PjitFunction(f)", 3, 1);
    survey(&f);
    assert_string_equal(main_thread_of(&f), "pjit");
    tear_down(&f);
}

/* Ops of TensorFlow on a host thread, unless the program also calls jitted functions: then tf.data feeds it. */
static void ops_on_host_threads_are_of_tensorflow(void **state)
{
    static const struct {
        const char *names[2], *framework;
    } rows[] = {
        { { "dense/MatMul:MatMul", "FunctionRun" }, "tensorflow" },
        { { "dense/MatMul:MatMul", "PjitFunction(f)" }, "" },
        { { "data loading", "FunctionRun" }, "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        struct xb_line *ops;

        set_up(&f);
        ops = xb_line(f.host, 5, "ops", 0);
        xb_event(ops, rows[i].names[0], 1, 1);
        xb_event(ops, rows[i].names[1], 3, 1);
        survey(&f);
        assert_string_equal(f.x.host.trace.environment.framework, rows[i].framework);
        tear_down(&f);
    }
}

static uint32_t thread_of(struct fixture *f, const char *name)
{
    const struct tm_trace *const trace = &f->x.host.trace;

    for (uint64_t i = 0; i < tm_rows_count(trace->tracks); i++) {
        const struct tm_track *const track = tm_rows_at(trace->tracks, i);

        if (strcmp(xspace_text(&f->x, track->name), name) == 0)
            return track->thread;
    }
    fail_msg("no line '%s'", name);
    return TM_NONE;
}

/* ROCm: the driver's calls of each executing thread stand on a line of their own.  Those of three threads, that execute
 * at the same time now and then; a fourth line is in none of them for most of its calls. */
static void a_line_of_driver_calls_is_the_thread_that_made_them(void **state)
{
    static const char *const names[] = { "execute a", "execute b", "execute c" };
    static const char *const drivers[] = { "Host Threads/11", "Host Threads/12", "Host Threads/13" };
    struct xb_line *nobody, *both;
    struct fixture f;

    (void)state;
    set_up(&f);
    xb_event(f.python, "$main", 0, 1);
    for (int i = 0; i < 3; i++) {
        struct xb_line *const execute = xb_line(f.host, 21 + i, names[i], 0);
        struct xb_line *const driver = xb_line(f.host, 11 + i, drivers[i], 0);

        for (int k = 0; k < 6; k++) { /* two of three at the same time */
            xb_event(execute, "GpuExecutable::ExecuteThunks", 1000 * k + (k % 3 == i ? 500 : 0), 100);
            for (int n = 0; n < 3; n++)
                put_launch(driver, 100 * i + 10 * k + n + 1, 1000 * k + (k % 3 == i ? 500 : 0) + 10 * n + i);
        }
    }
    nobody = xb_line(f.host, 14, "Host Threads/14", 0);
    put_launch(nobody, 901, 10);
    for (int k = 0; k < 6; k++)
        put_launch(nobody, 902 + k, 700 + 10 * k);
    both = xb_line(f.host, 24, "launches itself", 0);
    xb_event(both, "GpuExecutable::ExecuteThunks", 0,
             6000); /* all of them lie in this one, which has launches of its own */
    put_launch(both, 950, 5);
    put_kernel(f.streams[0], 1, 5000, 10);
    survey(&f);
    for (int i = 0; i < 3; i++) {
        assert_int_not_equal(thread_of(&f, names[i]), TM_NONE);
        assert_int_equal(thread_of(&f, names[i]), thread_of(&f, drivers[i]));
        assert_int_not_equal(thread_of(&f, names[i]), thread_of(&f, names[(i + 1) % 3]));
    }
    assert_int_not_equal(thread_of(&f, "Host Threads/14"), TM_NONE);
    for (int i = 0; i < 3; i++)
        assert_int_not_equal(thread_of(&f, names[i]), thread_of(&f, "Host Threads/14"));
    assert_int_not_equal(thread_of(&f, "launches itself"), thread_of(&f, "Host Threads/14"));
    tear_down(&f);
}

/* The main thread executes itself: it has the number of its driver's line. */
static void the_main_thread_may_be_the_one_that_executes(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    xb_event(f.python, "$main", 0, 1000);
    xb_event(f.python, "GpuExecutable::ExecuteThunks", 100, 100);
    put_launch(f.driver, 1, 150);
    put_kernel(f.streams[0], 1, 300, 10);
    survey(&f);
    assert_string_equal(main_thread_of(&f), "python");
    assert_int_equal(f.x.host.trace.main_thread, thread_of(&f, "Host Threads/2"));
    tear_down(&f);
}

/* Two threads that execute at the same time, always: whose calls these are cannot be told. */
static void calls_in_two_threads_at_once_are_nobodys(void **state)
{
    struct xb_line *one, *other;
    struct fixture f;

    (void)state;
    set_up(&f);
    xb_event(f.python, "$main", 0, 1000);
    one = xb_line(f.host, 21, "execute a", 0);
    other = xb_line(f.host, 22, "execute b", 0);
    xb_event(one, "GpuExecutable::ExecuteThunks", 100, 100);
    xb_event(other, "GpuExecutable::ExecuteThunks", 100, 100);
    put_launch(f.driver, 1, 150);
    put_kernel(f.streams[0], 1, 300, 10);
    survey(&f);
    assert_int_equal(thread_of(&f, "execute a"), TM_NONE);
    assert_int_equal(thread_of(&f, "execute b"), TM_NONE);
    tear_down(&f);
}

struct seen {
    enum tm_class classes[64];
    uint32_t steps[64];
    uint8_t levels[64];
    char names[64][32];
    size_t count;
    struct xspace_run *x;
};

static tm_status see(void *to, const struct tm_event *event)
{
    struct seen *const s = to;

    assert_true(s->count < 64);
    s->classes[s->count] = (enum tm_class)event->record.class;
    s->steps[s->count] = event->step;
    s->levels[s->count] = event->level;
    (void)snprintf(s->names[s->count], sizeof(s->names[0]), "%s", xspace_text(s->x, event->record.name));
    s->count++;
    return TM_OK;
}

/* A call with a correlation id that no name tells is a launch if an activity bears the id. */
static void a_call_is_a_launch_if_an_activity_bears_its_id(void **state)
{
    struct fixture f;
    struct seen seen = { .count = 0, .x = &f.x };

    (void)state;
    set_up(&f);
    xb_event(f.driver, "launched", 10, 1);
    xb_int(f.driver, "correlation_id", 1);
    xb_event(f.driver, "only an id", 20, 1);
    xb_int(f.driver, "correlation_id", 2);
    xb_event(f.driver, "cuMemAlloc", 30, 1);
    xb_int(f.driver, "correlation_id", 3);
    xb_event(f.driver, "cuLaunchKernel", 40, 1);
    xb_int(f.driver, "correlation_id", 4);
    put_kernel(f.streams[0], 1, 100, 10);
    put_kernel(f.streams[0], 4, 200, 10);
    survey(&f);
    assert_int_equal(tm_host_events(&f.x.host, see, &seen), TM_OK);
    assert_int_equal(seen.count, 6);
    assert_int_equal(seen.classes[0], TM_CLASS_LAUNCH);
    assert_int_not_equal(seen.classes[1], TM_CLASS_LAUNCH);
    assert_int_equal(seen.classes[2], TM_CLASS_RUNTIME);
    assert_int_equal(seen.classes[3], TM_CLASS_LAUNCH);
    tear_down(&f);
}

/* Of two calls with one id the one whose name says that it launches, then the earlier one, is the launch. */
static void of_two_calls_with_one_id_one_launched(void **state)
{
    struct fixture f;
    struct seen seen = { .count = 0, .x = &f.x };

    (void)state;
    set_up(&f);
    for (int i = 0; i < 4; i++)
        put_marker(&f, i, 100 * i, 90);
    xb_event(f.driver, "cuSomething", 10, 1);
    xb_int(f.driver, "correlation_id", 1);
    put_launch(f.driver, 1, 110);
    put_launch(f.driver, 1, 210);
    put_launch(f.driver, 2, 310);
    put_kernel(f.streams[0], 1, 320, 10);
    put_kernel(f.streams[0], 2, 340, 10);
    survey_status(&f, &(struct tm_chosen_steps){ .all = true }, TM_OK);
    assert_int_equal(tm_host_events(&f.x.host, see, &seen), TM_OK);
    assert_string_equal(seen.names[seen.count - 2], "kernel");
    assert_int_equal(seen.steps[seen.count - 2], 1);
    assert_int_equal(seen.steps[seen.count - 1], 3);
    tear_down(&f);
}

/* --- graphs --- */

static void put_graph(struct xb_line *stream, int64_t id, int64_t at_ps, int64_t dur_ps)
{
    xb_event(stream, "CudaGraphExec", at_ps, dur_ps);
    xb_int(stream, "cuda_graph_exec_id", 4);
    xb_int(stream, "correlation_id", id);
}

static void a_graph_is_an_activity_only_without_its_kernels(void **state)
{
    (void)state;
    for (int kernels_first = 0; kernels_first < 2; kernels_first++) {
        struct fixture f;
        struct seen seen = { .count = 0, .x = &f.x };

        set_up(&f);
        if (!kernels_first)
            put_graph(f.streams[0], 1, 100, 50);
        xb_event(f.streams[0], "node", 110, 10);
        xb_ref(f.streams[0], "kernel_details", "grid:1,1,1 block:32,1,1");
        xb_int(f.streams[0], "cuda_graph_node_id", 9);
        xb_int(f.streams[0], "correlation_id", 1);
        if (kernels_first)
            put_graph(f.streams[0], 1, 100, 50);
        put_graph(f.streams[0], 2, 200, 70); /* nothing of it was recorded */
        survey(&f);
        assert_int_equal(f.x.host.trace.devices[0].activities, 2);
        assert_true(f.x.host.trace.devices[0].has_collapsed_graphs);
        assert_int_equal(f.x.host.trace.devices[0].first_ps, 110);
        assert_int_equal(f.x.host.trace.devices[0].last_ps, 270);
        assert_int_equal(tm_host_events(&f.x.host, see, &seen), TM_OK);
        assert_int_equal(seen.count, 3);
        assert_int_equal(seen.classes[0], TM_CLASS_GRAPH);
        assert_int_equal(seen.levels[0], TM_LEVEL_NONE);
        assert_int_equal(seen.levels[1], TM_LEVEL_COMPUTE);
        assert_int_equal(seen.levels[2], TM_LEVEL_COMPUTE);
        tear_down(&f);
    }
}

static void graphs_with_all_their_kernels_collapse_nothing(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    put_graph(f.streams[0], 1, 100, 50);
    xb_event(f.streams[0], "node", 110, 10);
    xb_ref(f.streams[0], "kernel_details", "grid:1,1,1 block:32,1,1");
    xb_int(f.streams[0], "cuda_graph_node_id", 9);
    xb_int(f.streams[0], "correlation_id", 1);
    survey(&f);
    assert_false(f.x.host.trace.devices[0].has_collapsed_graphs);
    assert_int_equal(f.x.host.trace.devices[0].activities, 1);
    tear_down(&f);
}

/* --- hosts without a device --- */

static void cpu_ops_make_a_device_only_where_there_is_no_other(void **state)
{
    (void)state;
    for (int has_gpu = 0; has_gpu < 2; has_gpu++) {
        struct fixture f;
        const struct tm_trace *const trace = &f.x.host.trace;

        set_up(&f);
        for (int i = 3; i-- > 0;) {
            xb_event(f.driver, "dot.1", 100 * (3 - i), 10);
            xb_ref(f.driver, "hlo_op", "dot.1");
            xb_int(f.driver, "device_ordinal", i);
        }
        if (has_gpu)
            put_kernel(f.streams[0], 0, 900, 5);
        survey(&f);
        for (uint32_t i = 0; i < trace->device_count; i++) {
            const struct tm_device *const d = &trace->devices[i];

            assert_int_equal(d->index, i);
            if (d->kind == TM_DEVICE_CPU)
                assert_int_equal(d->activities, has_gpu ? 0 : 1);
            if (d->kind == TM_DEVICE_CPU && !has_gpu)
                assert_int_equal(d->first_ps, 100 * (3 - d->ordinal));
        }
        assert_int_equal(f.x.host.resolver.has_devices, has_gpu);
        tear_down(&f);
    }
}

/* --- limits --- */

/* More devices times steps than rows are kept for. */
static void too_many_steps_on_too_many_devices_are_a_limit(void **state)
{
    enum { MARKERS = 70000 };
    struct fixture f;
    char name[32];

    (void)state;
    set_up(&f);
    for (int i = 0; i < MARKERS; i++)
        put_marker(&f, -1, 10 * i, 5);
    for (int i = 0; i < 1000; i++) {
        struct xb_line *line;

        (void)snprintf(name, sizeof(name), "/device:GPU:%d", i + 2);
        line = xb_line(xb_plane(f.space, name), 1, "Stream #1", 0);
        xb_event(line, "k", 10 * i, 1);
    }
    survey_status(&f, NULL, TM_ERR_LIMIT);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activities_belong_to_the_marker_of_their_launch),
        cmocka_unit_test(a_first_step_begins_at_its_activity_if_that_is_earlier),
        cmocka_unit_test(a_period_is_never_below_nothing),
        cmocka_unit_test(groups_of_a_viewer_are_steps),
        cmocka_unit_test(a_collapsed_graph_belongs_to_its_group),
        cmocka_unit_test(steps_of_a_tpu_are_steps),
        cmocka_unit_test(executions_on_a_tpu_are_steps),
        cmocka_unit_test(executions_on_a_gpu_are_steps),
        cmocka_unit_test(without_any_of_it_the_session_is_the_step),
        cmocka_unit_test(warm_up_is_what_the_rule_says),
        cmocka_unit_test(only_the_best_name_of_a_compilation_counts),
        cmocka_unit_test(a_last_step_that_was_cut_off_is_incomplete),
        cmocka_unit_test(the_choice_of_the_user_is_taken),
        cmocka_unit_test(the_main_thread_is_found),
        cmocka_unit_test(without_python_pjit_tells_the_main_thread),
        cmocka_unit_test(ops_on_host_threads_are_of_tensorflow),
        cmocka_unit_test(a_line_of_driver_calls_is_the_thread_that_made_them),
        cmocka_unit_test(the_main_thread_may_be_the_one_that_executes),
        cmocka_unit_test(calls_in_two_threads_at_once_are_nobodys),
        cmocka_unit_test(a_call_is_a_launch_if_an_activity_bears_its_id),
        cmocka_unit_test(of_two_calls_with_one_id_one_launched),
        cmocka_unit_test(a_graph_is_an_activity_only_without_its_kernels),
        cmocka_unit_test(graphs_with_all_their_kernels_collapse_nothing),
        cmocka_unit_test(cpu_ops_make_a_device_only_where_there_is_no_other),
        cmocka_unit_test(too_many_steps_on_too_many_devices_are_a_limit),
    };

    return cmocka_run_group_tests_name("survey", tests, NULL, NULL);
}
