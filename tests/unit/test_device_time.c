/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/device_time.h"

#include <stdlib.h>

#include "tests/support/test_run.h"
#include "tests/support/xspace_run.h"
#include "stages/figures/feed.h"

/* --- a profile through the stage --- */

struct timed {
    struct xspace_run x;
    struct tm_stage stage;
    struct tm_feed feed;
    struct tm_doc *doc;
};

static tm_status take_event(void *to, const struct tm_event *event)
{
    struct timed *const t = to;

    tm_feed_take(&t->feed, event);
    return t->x.run.error.status;
}

static void flush_feed(void *to)
{
    tm_feed_flush(to);
}

static void run_stage(struct timed *t, const struct tm_settings *settings)
{
    struct tm_stage *const stage = &t->stage;

    *stage = (struct tm_stage){ .type = &tm_device_time_stage, .run = &t->x.run, .settings = settings };
    stage->state = tm_take(&t->x.run.budget, TM_ACCOUNT_MODEL, stage->type->state_bytes, &t->x.run.error);
    assert_non_null(stage->state);
    assert_int_equal(stage->type->open(stage), TM_OK);
    assert_int_equal(tm_feed_init(&t->feed, &t->x.run, stage, 1), TM_OK);
    tm_feed_begin_host(&t->feed, &t->x.host.trace);
    t->x.host.resolver.forget = flush_feed;
    t->x.host.resolver.forget_to = &t->feed;
    assert_int_equal(tm_host_events(&t->x.host, take_event, t), TM_OK);
    tm_feed_end_host(&t->feed);
    assert_int_equal(t->x.run.error.status, TM_OK);
    t->doc = tm_doc_new(&t->x.run);
    assert_non_null(t->doc);
    assert_int_equal(stage->type->report(stage, tm_doc_root(t->doc)), TM_OK);
    assert_int_equal(stage->type->conclude(stage, tm_doc_root(t->doc)), TM_OK);
    assert_int_equal(tm_doc_status(t->doc), TM_OK);
}

/* Work out the device time of a profile.  Frees the space. */
static void work_out(struct timed *t, struct xb_space *space, const struct tm_chosen_steps *choice)
{
    static const struct tm_settings settings = { .gap_min_ps = 0, .table_rows = 500 };

    assert_int_equal(xspace_scan_space(&t->x, space, NULL), TM_OK);
    xb_space_free(space);
    assert_int_equal(xspace_survey(&t->x, choice), TM_OK);
    run_stage(t, &settings);
}

static void tear_down(struct timed *t)
{
    tm_doc_free(t->doc);
    tm_feed_release(&t->feed);
    t->stage.type->close(&t->stage);
    tm_give(&t->x.run.budget, TM_ACCOUNT_MODEL, t->stage.state, t->stage.type->state_bytes);
    xspace_close(&t->x);
}

static const struct tm_value *value_at(const struct timed *t, const char *path)
{
    const struct tm_value *const value = tm_path(tm_doc_root(t->doc), path);

    if (!value)
        fail_msg("no '%s' in the summary", path);
    return value;
}

static int64_t number_at(const struct timed *t, const char *path)
{
    const struct tm_value *const value = value_at(t, path);

    if (!tm_has(value))
        fail_msg("'%s' is null: %s", path, tm_why(value));
    return tm_int(value);
}

static void assert_number(const struct timed *t, const char *path, int64_t expected)
{
    const int64_t number = number_at(t, path);

    if (number != expected)
        fail_msg("%s is %lld instead of %lld", path, (long long)number, (long long)expected);
}

/* --- gap causes, one by one --- */

static const struct tm_chosen_steps all_steps = { .all = true };

/* Two kernels [0, 100) and [200, 300) with the launch of the second one somewhere, and a host that does something. */
struct gap_case {
    const char *what;
    bool has_launch;
    int64_t launch_ps, launch_dur_ps;
    struct {
        const char *name;
        int64_t start_ps, end_ps;
        bool on_main;
    } events[4];
    int64_t parts[TM_CAUSE_COUNT]; /* expected; together 100 */
    const char *host_event;        /* expected; NULL = none */
};

static struct xb_space *space_of(const struct gap_case *c)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const host = xb_plane(space, "/host:CPU");
    struct xb_line *const main_line = xb_line(host, 1, "python", 0), *const driver = xb_line(host, 2, "driver", 0);
    struct xb_line *const stream = xb_line(xb_plane(space, "/device:GPU:0"), 7, "Stream #7", 0);

    xb_event(main_line, "$main", -2000, 10);
    for (size_t i = 0; i < 4 && c->events[i].name; i++)
        xb_event(c->events[i].on_main ? main_line : driver, c->events[i].name, c->events[i].start_ps,
                 c->events[i].end_ps - c->events[i].start_ps);
    if (c->has_launch) {
        xb_event(driver, "cuLaunchKernel", c->launch_ps, c->launch_dur_ps);
        xb_int(driver, "correlation_id", 2);
    }
    xb_event(stream, "first", 0, 100);
    xb_event(stream, "second", 200, 100);
    xb_int(stream, "correlation_id", 2);
    return space;
}

static void check_gap(const struct gap_case *c)
{
    int64_t largest_ps = 0;
    int cause = 0;
    struct timed t;
    char path[80];

    work_out(&t, space_of(c), &all_steps);
    for (int i = 0; i < TM_CAUSE_COUNT; i++) {
        (void)snprintf(path, sizeof(path), "devices[0].gaps.by_cause.%s.total_ps", tm_cause_name[i]);
        if (number_at(&t, path) != c->parts[i])
            fail_msg("%s: %s is %lld instead of %lld", c->what, tm_cause_name[i], (long long)number_at(&t, path),
                     (long long)c->parts[i]);
        if (c->parts[i] > largest_ps) {
            largest_ps = c->parts[i];
            cause = i;
        }
    }
    assert_number(&t, "gaps.pauses.total_ps", c->parts[TM_CAUSE_DEVICE_WAIT]);
    assert_number(&t, "gaps.pauses.count", c->parts[TM_CAUSE_DEVICE_WAIT] > 0);
    assert_number(&t, "gaps.count", 1);
    assert_number(&t, "gaps.total_ps", 100);
    assert_number(&t, "gaps.longest[0].begin_ps", 100);
    assert_number(&t, "gaps.longest[0].dur_ps", 100);
    assert_string_equal(tm_text(value_at(&t, "gaps.longest[0].cause")), tm_cause_name[cause]);
    assert_string_equal(tm_text(value_at(&t, "gaps.longest[0].before")), "first");
    assert_string_equal(tm_text(value_at(&t, "gaps.longest[0].after")), "second");
    if (c->host_event)
        assert_string_equal(tm_text(value_at(&t, "gaps.longest[0].host_event")), c->host_event);
    else
        assert_false(tm_has(value_at(&t, "gaps.longest[0].host_event")));
    assert_int_equal(t.x.run.tallies.count[TM_TALLY_WRONG_CLOCK], c->has_launch && c->launch_ps > 200);
    tear_down(&t);
}

static void each_rule_gives_its_causes(void **state)
{
    /* clang-format off */
    static const struct gap_case cases[] = {
        /* 1: the launch was there before the gap */
        { "a launch that ended before the gap", true, 20, 30, { { "$busy", 0, 300, false } },
          { [TM_CAUSE_DEVICE_WAIT] = 100 }, NULL },
        { "a launch that ended as the gap began", true, 50, 50, { { "$busy", 0, 300, true } },
          { [TM_CAUSE_DEVICE_WAIT] = 100 }, NULL },
        { "a launch that ended inside the gap", true, 50, 51, { { NULL } }, { [TM_CAUSE_LAUNCH] = 100 }, NULL },
        { "a launch that ended behind the gap", true, 50, 500, { { NULL } }, { [TM_CAUSE_LAUNCH] = 100 }, NULL },
        /* 2: what the launching thread did until it launched */
        { "a launch at the gap's begin", true, 100, 10, { { "$busy", 0, 300, false } }, { [TM_CAUSE_LAUNCH] = 100 }, NULL },
        { "python until the launch", true, 170, 10, { { "$outer", 0, 400, false }, { "$inner", 110, 160, false } },
          { [TM_CAUSE_HOST] = 70, [TM_CAUSE_LAUNCH] = 30 }, "$inner" },
        { "a sync, and a little python", true, 190, 5,
          { { "$outer", 0, 400, false }, { "BlockHostUntilReady", 90, 180, false } },
          { [TM_CAUSE_SYNC] = 80, [TM_CAUSE_HOST] = 10, [TM_CAUSE_LAUNCH] = 10 }, "BlockHostUntilReady" },
        { "passes and python inside a compilation are compilation", true, 190, 5,
          { { "backend_compile", 50, 185, false }, { "$pass", 60, 150, false }, { "codegen pass", 70, 140, false } },
          { [TM_CAUSE_COMPILE] = 85, [TM_CAUSE_UNRECORDED] = 5, [TM_CAUSE_LAUNCH] = 10 }, "backend_compile" },
        { "input inside python", true, 200, 5, { { "$outer", 0, 400, false }, { "data_loading", 120, 195, false } },
          { [TM_CAUSE_INPUT] = 75, [TM_CAUSE_HOST] = 25 }, "data_loading" },
        { "garbage collection", true, 180, 5, { { "$outer", 0, 400, false }, { "CollectGarbage", 100, 180, false } },
          { [TM_CAUSE_GC] = 80, [TM_CAUSE_LAUNCH] = 20 }, "CollectGarbage" },
        { "the profiler", true, 180, 5, { { "$outer", 0, 400, false }, { "BUFFER_FLUSH", 100, 180, false } },
          { [TM_CAUSE_PROFILER] = 80, [TM_CAUSE_LAUNCH] = 20 }, "BUFFER_FLUSH" },
        { "the launching thread has no record of a part", true, 200, 5,
          { { "$step", 140, 200, false }, { "BlockHostUntilReady", 0, 400, true } },
          { [TM_CAUSE_HOST] = 60, [TM_CAUSE_UNRECORDED] = 40 }, "$step" },
        { "half of it is enough", true, 200, 5, { { "$step", 150, 200, false }, { "BlockHostUntilReady", 0, 400, true } },
          { [TM_CAUSE_HOST] = 50, [TM_CAUSE_UNRECORDED] = 50 }, "$step" },
        /* 3: the main thread */
        { "under half of it", true, 200, 5, { { "$step", 151, 200, false }, { "$loop", 0, 400, true } },
          { [TM_CAUSE_HOST] = 100 }, "$loop" },
        { "while the main thread waits, what the launching one recorded", true, 200, 5,
          { { "$step", 151, 200, false }, { "BlockHostUntilReady", 0, 400, true } },
          { [TM_CAUSE_SYNC] = 51, [TM_CAUSE_HOST] = 49 }, "BlockHostUntilReady" },
        { "compiling there while the main thread waits", true, 200, 5,
          { { "backend_compile", 151, 200, false }, { "$loop", 0, 151, true }, { "BlockHostUntilReady", 120, 400, true } },
          { [TM_CAUSE_HOST] = 20, [TM_CAUSE_SYNC] = 31, [TM_CAUSE_COMPILE] = 49 }, "backend_compile" },
        { "the main thread up to the launch", true, 160, 5, { { "BlockHostUntilReady", 0, 400, true } },
          { [TM_CAUSE_SYNC] = 60, [TM_CAUSE_LAUNCH] = 40 }, "BlockHostUntilReady" },
        { "no launch known: the main thread to the gap's end", false, 0, 0,
          { { "$train", 0, 130, true }, { "BlockHostUntilReady", 150, 400, true } },
          { [TM_CAUSE_HOST] = 30, [TM_CAUSE_SYNC] = 50, [TM_CAUSE_UNRECORDED] = 20 }, "BlockHostUntilReady" },
        { "nothing known", false, 0, 0, { { NULL } }, { [TM_CAUSE_UNRECORDED] = 100 }, NULL },
        { "nothing recorded anywhere", true, 170, 5, { { NULL } },
          { [TM_CAUSE_UNRECORDED] = 70, [TM_CAUSE_LAUNCH] = 30 }, NULL },
        { "a launch behind the activity: clocks differ", true, 250, 5, { { "$outer", 0, 400, false } },
          { [TM_CAUSE_HOST] = 100 }, "$outer" },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_gap(&cases[i]);
}

/* The host event of a gap is one that ran in it, whatever the thread did long before and after. */
static void a_gap_is_named_by_what_ran_in_it(void **state)
{
    struct gap_case c = {
        "named",
        true,
        200,
        5,
        { { "$long_before", -1900, 90, false }, { "$in_it", 90, 205, false }, { "$long_after", 205, 9000, false } },
        { [TM_CAUSE_HOST] = 100 },
        "$in_it"
    };

    (void)state;
    check_gap(&c);
}

/* ROCm: the main thread waits, and the thread that executes allocates; its driver's calls stand on another line. */
static void the_executing_thread_is_asked_where_the_main_thread_waits(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const host = xb_plane(space, "/host:CPU");
    struct xb_line *const main_line = xb_line(host, 1, "python", 0), *const execute = xb_line(host, 2, "execute", 0);
    struct xb_line *const driver = xb_line(host, 3, "Host Threads/3", 0);
    struct xb_line *const stream = xb_line(xb_plane(space, "/device:GPU:0"), 7, "Stream #7", 0);
    struct timed t;

    (void)state;
    xb_event(main_line, "$main", -2000, 10);
    xb_event(main_line, "BlockHostUntilReady", 0, 3000);
    for (int i = 0; i < 2; i++) {
        xb_event(execute, "Build buffer allocations", 1000 * i + (i ? 600 : 10), i ? 300 : 40);
        xb_event(execute, "GpuExecutable::ExecuteThunks", 1000 * i + (i ? 900 : 50), 80);
        xb_event(driver, "hipModuleLaunchKernel", 1000 * i + (i ? 950 : 60), 5);
        xb_int(driver, "correlation_id", i + 1);
        xb_event(stream, "k", 1000 * i + (i ? 1000 : 100), 100);
        xb_int(stream, "correlation_id", i + 1);
    }
    work_out(&t, space, &all_steps);
    /* [200, 2000): the executing thread recorded 350 of 1750, so main is asked; of its wait 350 are the executing thread's */
    assert_number(&t, "gaps.by_cause.sync.total_ps", 1400);
    assert_number(&t, "gaps.by_cause.sync.main_ps", 1400);
    assert_number(&t, "gaps.by_cause.host.total_ps", 350);
    assert_number(&t, "gaps.by_cause.host.main_ps", 0);
    assert_number(&t, "gaps.by_cause.launch.total_ps", 50);
    assert_string_equal(tm_text(value_at(&t, "gaps.longest[0].host_event")), "BlockHostUntilReady");
    assert_string_equal(tm_text(value_at(&t, "gaps.longest[0].host_thread")), "main");
    tear_down(&t);
}

/* What a listed gap tells beside its parts: the call that ends it, whose event names it, how long such calls usually take. */
static void a_listed_gap_tells_of_the_calls(void **state)
{
    enum { CALLS = 30 };
    const int64_t ms = 1000000000;
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const host = xb_plane(space, "/host:CPU");
    struct xb_line *const driver = xb_line(host, 2, "driver", 0);
    struct xb_line *const stream = xb_line(xb_plane(space, "/device:GPU:0"), 7, "Stream #7", 0);
    struct timed t;

    (void)state;
    for (int i = 0; i < CALLS; i++) /* the last one is held up for 9 ms */
        xb_event(driver, "$short", i * ms, i + 1 < CALLS ? (i + 1) * 1000 : 9 * ms);
    xb_event(driver, "cuLaunchKernel", (CALLS + 8) * ms, 7000);
    xb_int(driver, "correlation_id", 1);
    xb_event(stream, "k", 0, (CALLS - 1) * ms);
    xb_event(stream, "k", (CALLS + 9) * ms, ms);
    xb_int(stream, "correlation_id", 1);
    xb_event(stream, "k", (CALLS + 10) * ms + 20000000, ms); /* 20 us, of which nobody knows why */
    work_out(&t, space, &all_steps);
    assert_number(&t, "gaps.longest[0].dur_ps", 10 * ms);
    assert_string_equal(tm_text(value_at(&t, "gaps.longest[0].host_thread")), "launching");
    assert_number(&t, "gaps.longest[0].launch.begin_ps", (CALLS + 8) * ms);
    assert_number(&t, "gaps.longest[0].launch.dur_ps", 7000);
    assert_number(&t, "gaps.longest[0].calls.count", CALLS);
    assert_number(&t, "gaps.longest[0].calls.long_count", 1);
    assert_number(&t, "gaps.longest[0].calls.usual_ps", CALLS * 1000 / 2);
    assert_false(tm_has(value_at(&t, "gaps.longest[1].launch")));
    assert_false(tm_has(value_at(&t, "gaps.longest[1].calls")));
    assert_number(&t, "gaps.short.by_cause.unrecorded.count", 1);
    assert_number(&t, "gaps.short.by_cause.unrecorded.total_ps", 20000000);
    assert_number(&t, "gaps.short.by_cause.host.count", 0);
    tear_down(&t);
}

/* From 10 us on up to 1 ms, whatever is listed; what had been launched is told apart. */
static void short_gaps_are_counted_by_cause(void **state)
{
    static const int64_t lengths_ps[] = { 9999999, 10000000, 999999999, 1000000000 };
    struct xb_space *const space = xb_space_new();
    struct xb_line *const driver = xb_line(xb_plane(space, "/host:CPU"), 2, "driver", 0);
    struct xb_line *const stream = xb_line(xb_plane(space, "/device:GPU:0"), 7, "Stream #7", 0);
    int64_t at_ps = 1000;
    struct timed t;

    (void)state;
    xb_event(stream, "k", 0, 1000);
    for (int i = 0; i < 8; i++) { /* each length once with the launch before the gap, once with a launch inside of it */
        xb_event(driver, "cuLaunchKernel", i < 4 ? at_ps - 500 : at_ps, 10);
        xb_int(driver, "correlation_id", i + 1);
        at_ps += lengths_ps[i % 4];
        xb_event(stream, "k", at_ps, 1000);
        xb_int(stream, "correlation_id", i + 1);
        at_ps += 1000;
    }
    work_out(&t, space, &all_steps);
    assert_number(&t, "gaps.short.from_ps", 10000000);
    assert_number(&t, "gaps.short.below_ps", 1000000000);
    assert_number(&t, "gaps.short.by_cause.device_wait.count", 2);
    assert_number(&t, "gaps.short.by_cause.device_wait.total_ps", 10000000 + 999999999);
    assert_number(&t, "gaps.short.by_cause.launch.count", 2);
    assert_number(&t, "gaps.short.by_cause.launch.total_ps", 10000000 + 999999999);
    tear_down(&t);
}

/* --- the window --- */

/* What counts begins inside a gap: only what lies in it counts of the gap. */
static void a_gap_is_cut_at_the_begin_of_what_counts(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const host = xb_plane(space, "/host:CPU");
    struct xb_line *const python = xb_line(host, 1, "python", 0);
    struct xb_line *const stream = xb_line(xb_plane(space, "/device:GPU:0"), 7, "Stream #7", 0);
    struct timed t;

    (void)state;
    xb_event(stream, "before all steps", 0, 100);
    xb_event(python, "train", 150, 500);
    xb_int(python, "_r", 1);
    xb_event(python, "$sub", 150, 100);
    xb_event(python, "cuLaunchKernel", 180, 5);
    xb_int(python, "correlation_id", 1);
    xb_event(stream, "k", 200, 40);
    xb_int(stream, "correlation_id", 1);
    xb_event(stream, "k", 300, 10); /* its launch is not known */
    work_out(&t, space, NULL);
    assert_number(&t, "devices[0].window_begin_ps", 150);
    assert_number(&t, "devices[0].first_ps", 200);
    assert_number(&t, "devices[0].lead_ps", 50);
    assert_number(&t, "devices[0].trail_ps", 0);
    assert_number(&t, "devices[0].span_ps", 160);
    assert_number(&t, "devices[0].busy_ps", 50);
    assert_number(&t, "devices[0].idle_ps", 110);
    assert_number(&t, "devices[0].gaps.count", 2);
    assert_number(&t, "devices[0].gaps.by_cause.host.total_ps", 30 + 60);
    assert_number(&t, "devices[0].gaps.by_cause.launch.total_ps", 20);
    assert_number(&t, "steps.list[0].period_ps", 160);
    assert_number(&t, "steps.list[0].busy_ps", 50);
    assert_number(&t, "steps.list[0].idle_ps.host", 90);
    tear_down(&t);
}

/* A marked step whose first launch comes late: the time before it is idle time of the window, with its causes. */
static void the_time_before_the_first_activity_belongs_to_the_first_step(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_line *const python = xb_line(xb_plane(space, "/host:CPU"), 1, "python", 0);
    struct xb_line *const stream = xb_line(xb_plane(space, "/device:GPU:0"), 7, "Stream #7", 0);
    struct timed t;

    (void)state;
    xb_event(python, "train", 100, 900);
    xb_int(python, "_r", 1);
    xb_event(python, "backend_compile", 100, 300);
    xb_event(python, "cuLaunchKernel", 450, 20);
    xb_int(python, "correlation_id", 1);
    xb_event(stream, "k", 500, 200);
    xb_int(stream, "correlation_id", 1);
    work_out(&t, space, NULL);
    assert_number(&t, "steps.list[0].period_ps", 600);
    assert_number(&t, "steps.list[0].compute_ps", 200);
    assert_number(&t, "steps.list[0].idle_ps.compile", 300);
    assert_number(&t, "steps.list[0].idle_ps.host", 50);
    assert_number(&t, "steps.list[0].idle_ps.launch", 50);
    assert_number(&t, "devices[0].span_ps", 600);
    assert_number(&t, "devices[0].idle_ps", 400);
    assert_number(&t, "devices[0].lead_ps", 400);
    assert_number(&t, "devices[0].gaps.by_cause.compile.total_ps", 300);
    assert_number(&t, "gaps.count", 1);
    assert_number(&t, "gaps.longest[0].begin_ps", 100);
    assert_number(&t, "gaps.longest[0].step", 0);
    assert_number(&t, "window.hosts[0].span_ps", 600);
    assert_number(&t, "window.hosts[0].steps_ps", 600);
    tear_down(&t);
}

/* Of a device that begins late, too, though the log of the host was needed for other gaps long after. */
static void the_log_of_the_host_reaches_back_to_the_begin_of_a_step(void **state)
{
    enum { CALLS = 3000 };
    struct xb_space *const space = xb_space_new();
    struct xb_line *const python = xb_line(xb_plane(space, "/host:CPU"), 1, "python", 0);
    struct xb_line *const early = xb_line(xb_plane(space, "/device:GPU:0"), 7, "Stream #7", 0);
    struct xb_line *const late = xb_line(xb_plane(space, "/device:GPU:1"), 7, "Stream #7", 0);
    struct timed t;

    (void)state;
    xb_event(python, "train", 0, 100 * CALLS);
    xb_int(python, "_r", 1);
    for (int i = 0; i < CALLS; i++) {
        xb_event(python, "BlockHostUntilReady", 100 * i + 10, 60);
        xb_event(early, "k", 100 * i, 10);
    }
    xb_event(late, "k", 100 * CALLS - 50, 400);
    work_out(&t, space, NULL);
    /* They are not active at the same time: a window for each. */
    assert_number(&t, "steps.list[0].period_ps", 100 * CALLS - 90);
    assert_string_equal(tm_text(value_at(&t, "steps.list[0].device")), "host/gpu:0");
    assert_number(&t, "steps.list[1].period_ps", 100 * CALLS + 350);
    assert_string_equal(tm_text(value_at(&t, "steps.list[1].device")), "host/gpu:1");
    assert_number(&t, "steps.list[1].idle_ps.sync", 60 * (CALLS - 1) + 40);
    assert_number(&t, "steps.list[1].idle_ps.host", 40 * (CALLS - 1) + 10);
    assert_number(&t, "steps.list[1].compute_ps", 400);
    assert_number(&t, "devices[1].idle_ps", 100 * CALLS - 50);
    tear_down(&t);
}

/* Steps of exactly 1000, at the end of which one device or the other is later: the steps of the job are as long as the
 * slowest device makes them, not the sum of both jitters, and they add up to the window. */
static void step_times_of_the_job_add_up_to_the_window(void **state)
{
    enum { STEPS_OF_JOB = 40, DEVICES = 2 };
    struct xb_space *const space = xb_space_new();
    struct xb_line *const python = xb_line(xb_plane(space, "/host:CPU"), 1, "python", 0);
    struct xb_line *streams[DEVICES];
    int64_t sum_ps = 0, own_ps = 0;
    struct timed t;
    char path[80];

    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        (void)snprintf(path, sizeof(path), "/device:GPU:%d", i);
        streams[i] = xb_line(xb_plane(space, path), 7, "Stream #7", 0);
    }
    for (int k = 0; k < STEPS_OF_JOB; k++) {
        xb_event(python, "train", 1000 * k, 990);
        xb_int(python, "_r", 1);
        for (int i = 0; i < DEVICES; i++)
            xb_event(streams[i], "k", 1000 * k + 5, k % DEVICES == i ? 985 : 985 - 7 * (k % 11));
    }
    work_out(&t, space, NULL);
    assert_number(&t, "steps.samples", STEPS_OF_JOB);
    assert_number(&t, "steps.count", STEPS_OF_JOB);
    for (int k = 0; k < STEPS_OF_JOB; k++) {
        (void)snprintf(path, sizeof(path), "steps.samples_ps[%d]", k);
        assert_number(&t, path, k ? 1000 : 990);
        sum_ps += number_at(&t, path);
        (void)snprintf(path, sizeof(path), "devices[%d].steps.period_ps[%d]", k % DEVICES, k);
        own_ps += number_at(&t, path);
    }
    assert_number(&t, "window.hosts[0].span_ps", sum_ps);
    assert_number(&t, "window.hosts[0].steps_ps", sum_ps);
    assert_true(own_ps > sum_ps); /* what the largest of each device's own periods would say */
    tear_down(&t);
}

/* Two hosts are the same steps once more: tests/property/test_choices.py.  Here the groups of one host. */
static void devices_that_do_not_overlap_have_a_window_each(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_line *const python = xb_line(xb_plane(space, "/host:CPU"), 1, "python", 0);
    struct xb_line *const first = xb_line(xb_plane(space, "/device:GPU:0"), 7, "Stream #7", 0);
    struct xb_line *const second = xb_line(xb_plane(space, "/device:GPU:1"), 7, "Stream #7", 0);
    struct timed t;

    (void)state;
    for (int k = 0; k < 2; k++) {
        xb_event(python, "train", 10000 * k, 1000);
        xb_int(python, "_r", 1);
        xb_event(k ? second : first, "k", 10000 * k + 100, 700);
    }
    work_out(&t, space, NULL);
    assert_number(&t, "devices[0].span_ps", 800);
    assert_number(&t, "devices[1].span_ps", 800);
    assert_number(&t, "devices[0].busy_ps", 700);
    assert_number(&t, "devices[1].idle_ps", 100);
    assert_number(&t, "window.total_ps", 1600);
    assert_int_equal(tm_length(value_at(&t, "window.hosts")), 2);
    assert_number(&t, "steps.count", 2);
    assert_number(&t, "steps.samples_ps[1]", 800);
    tear_down(&t);
}

static void the_window_of_a_host_holds_all_its_devices(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_line *const first = xb_line(xb_plane(space, "/device:GPU:0"), 7, "Stream #7", 0);
    struct xb_line *const second = xb_line(xb_plane(space, "/device:GPU:1"), 7, "Stream #7", 0);
    struct timed t;

    (void)state;
    xb_event(first, "k", 100, 50);
    xb_event(first, "k", 250, 50);
    xb_event(second, "k", 40, 10);
    xb_event(second, "k", 260, 30);
    work_out(&t, space, NULL);
    assert_number(&t, "window.hosts[0].begin_ps", 40);
    assert_number(&t, "window.hosts[0].end_ps", 300);
    assert_number(&t, "window.total_ps", 520);
    assert_number(&t, "devices[0].lead_ps", 60);
    assert_number(&t, "devices[0].trail_ps", 0);
    assert_number(&t, "devices[0].first_ps", 100);
    assert_number(&t, "devices[1].lead_ps", 0);
    assert_number(&t, "devices[1].trail_ps", 10);
    assert_number(&t, "devices[1].last_ps", 290);
    assert_number(&t, "devices[1].idle_ps", 220);
    assert_number(&t, "gaps.total_ps", 160 + 220);
    assert_number(&t, "total.window_ps", 520);
    assert_number(&t, "total.busy_ps", 140);
    assert_true(tm_double(value_at(&t, "total.utilization_pct")) > 26.9);
    assert_true(tm_double(value_at(&t, "total.utilization_pct")) < 27.0);
    tear_down(&t);
}

/* --- any profile, against the plainest calculation --- */

enum { LENGTH = 1500, HOST_EVENTS = 60, ACTIVITIES = 60, STEPS = 6, HOST_LINES = 3, DEVICES = 3 };

struct made_host_event {
    int line;
    int64_t start_ps, end_ps;
    enum tm_cause cause;
    int number; /* in the order of the file */
};

struct made_activity {
    int64_t start_ps, end_ps, launch_ps, launch_end_ps;
    int launch_line; /* -1 = no launch known */
    int step;        /* -1 = none */
    int level;       /* 0 compute, 1 collective, 2 copy to the device */
    int device;
};

/* A host with a line of markers and two of driver calls, and GPUs with two streams each. */
struct made {
    int devices;
    struct made_host_event host[HOST_EVENTS];
    int host_count;
    struct made_activity activities[ACTIVITIES];
    int activity_count;
    struct {
        int64_t start_ps, end_ps;
    } markers[STEPS];
    int marker_count;
};

/* What the figures of a group of devices are, by looking at every picosecond. */
struct plain {
    bool has[DEVICES]; /* which devices are in it */
    struct {
        int64_t start_ps, end_ps;
        bool has_activity;
    } periods[STEPS];
    int64_t start_ps, end_ps;  /* of its window */
    int64_t from_ps, until_ps; /* of its steps and its window */
};

static int64_t below(uint64_t *seed, int64_t limit)
{
    return (int64_t)(next_number(seed) % (uint64_t)limit);
}

static void add_host_event(struct made *m, int line, int64_t start_ps, int64_t end_ps, enum tm_cause cause)
{
    if (m->host_count < HOST_EVENTS && start_ps < end_ps) {
        /* Launches are written behind the others of their line. */
        m->host[m->host_count] =
            (struct made_host_event){ line, start_ps, end_ps, cause,
                                      m->host_count + (cause == TM_CAUSE_LAUNCH ? HOST_EVENTS : 0) };
        m->host_count++;
    }
}

static void make_markers(struct made *m, uint64_t *seed)
{
    const int count = (int)below(seed, STEPS + 1);
    int64_t at_ps = below(seed, 300);

    for (m->marker_count = 0; m->marker_count < count; m->marker_count++) {
        m->markers[m->marker_count].start_ps = at_ps;
        m->markers[m->marker_count].end_ps = at_ps + 1 + below(seed, 200);
        add_host_event(m, 0, at_ps, m->markers[m->marker_count].end_ps, TM_CAUSE_HOST);
        at_ps = m->markers[m->marker_count].end_ps + 1 + below(seed, 60);
    }
}

/* In whose marker a time lies: the last that begins at or before it, if it has not ended. */
static int step_at(const struct made *m, int64_t at_ps)
{
    for (int k = m->marker_count; k-- > 0;)
        if (m->markers[k].start_ps <= at_ps)
            return at_ps <= m->markers[k].end_ps ? k : -1;
    return m->marker_count ? -1 : 0;
}

static void make_activities(struct made *m, uint64_t *seed)
{
    const int count = 1 + (int)below(seed, ACTIVITIES - 1);
    const int64_t longest_ps = 5 + below(seed, 80);

    for (m->activity_count = 0; m->activity_count < count; m->activity_count++) {
        struct made_activity *const a = &m->activities[m->activity_count];

        *a = (struct made_activity){ .start_ps = below(seed, LENGTH - 200),
                                     .launch_line = -1,
                                     .level = (int)below(seed, 3),
                                     .device = (int)below(seed, m->devices) };
        if (m->devices == DEVICES && a->device == 1) /* sometimes one is done before the others begin */
            a->start_ps /= 10;
        a->end_ps = a->start_ps + 1 + below(seed, longest_ps);
        if (below(seed, 4)) {
            a->launch_line = 1 + (int)below(seed, 2);
            a->launch_ps = a->start_ps + 10 - below(seed, 150);
            if (a->launch_ps < 0)
                a->launch_ps = 0;
            a->launch_end_ps = a->launch_ps + 1 + below(seed, 30);
            add_host_event(m, a->launch_line, a->launch_ps, a->launch_end_ps, TM_CAUSE_LAUNCH);
            if (m->host[m->host_count - 1].start_ps != a->launch_ps ||
                m->host[m->host_count - 1].cause != TM_CAUSE_LAUNCH)
                a->launch_line = -1; /* no room for it */
        }
        a->step = step_at(m, a->launch_line >= 0 ? a->launch_ps : a->start_ps);
    }
}

static void make_host(struct made *m, uint64_t *seed)
{
    static const enum tm_cause causes[] = { TM_CAUSE_HOST,    TM_CAUSE_HOST,  TM_CAUSE_SYNC,
                                            TM_CAUSE_COMPILE, TM_CAUSE_INPUT, TM_CAUSE_GC };

    for (int64_t i = below(seed, 25); i > 0; i--) {
        const int64_t start_ps = below(seed, LENGTH - 100);

        add_host_event(m, (int)below(seed, HOST_LINES), start_ps, start_ps + 1 + below(seed, 300),
                       causes[below(seed, 6)]);
    }
}

static const char *name_of(enum tm_cause cause)
{
    static const char *const names[TM_CAUSE_COUNT] = {
        [TM_CAUSE_HOST] = "$python",
        [TM_CAUSE_SYNC] = "BlockHostUntilReady",
        [TM_CAUSE_COMPILE] = "backend_compile",
        [TM_CAUSE_INPUT] = "data_loading",
        [TM_CAUSE_GC] = "CollectGarbage",
        [TM_CAUSE_LAUNCH] = "cuLaunchKernel",
    };

    return names[cause];
}

static bool is_marker(const struct made *m, const struct made_host_event *e)
{
    return e->number < m->marker_count;
}

static void put_activity(struct xb_line *stream, const struct made_activity *a, int number)
{
    xb_event(stream,
             a->level == 0   ? "kernel"
             : a->level == 1 ? "ncclKernel"
                             : "MemcpyH2D",
             a->start_ps, a->end_ps - a->start_ps);
    if (a->launch_line >= 0)
        xb_int(stream, "correlation_id", number + 1);
}

static struct xb_space *space_of_made(const struct made *m)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const host = xb_plane(space, "/host:CPU");
    struct xb_line *lines[HOST_LINES], *streams[2 * DEVICES];

    for (int i = 0; i < HOST_LINES; i++)
        lines[i] = xb_line(host, i + 1, i ? i == 1 ? "driver 1" : "driver 2" : "main", 0);
    for (int i = 0; i <= HOST_EVENTS; i++) /* the most python: it is the main thread, with or without markers */
        xb_event(lines[0], "$first", -500 + 2 * i, 1);
    for (int i = 0; i < m->host_count; i++) {
        const struct made_host_event *const e = &m->host[i];

        if (e->cause == TM_CAUSE_LAUNCH)
            continue;
        xb_event(lines[e->line], is_marker(m, e) ? "train" : name_of(e->cause), e->start_ps, e->end_ps - e->start_ps);
        if (is_marker(m, e))
            xb_int(lines[e->line], "_r", 1);
    }
    for (int i = 0; i < m->activity_count; i++)
        if (m->activities[i].launch_line >= 0) {
            xb_event(lines[m->activities[i].launch_line], "cuLaunchKernel", m->activities[i].launch_ps,
                     m->activities[i].launch_end_ps - m->activities[i].launch_ps);
            xb_int(lines[m->activities[i].launch_line], "correlation_id", i + 1);
        }
    for (int device = 0; device < m->devices; device++) {
        struct xb_plane *gpu;
        char name[32];

        (void)snprintf(name, sizeof(name), "/device:GPU:%d", device);
        gpu = xb_plane(space, name);
        for (int i = 0; i < 2; i++)
            streams[2 * device + i] = xb_line(gpu, i + 7, i ? "Stream #8" : "Stream #7", 0);
    }
    for (int i = 0; i < m->activity_count; i++)
        put_activity(streams[2 * m->activities[i].device + i % 2], &m->activities[i], i);
    return space;
}

/* Of two that are open at once the one that began later, the shorter one, the later one in the file. */
static bool is_inside(const struct made_host_event *a, const struct made_host_event *b)
{
    if (a->start_ps != b->start_ps)
        return a->start_ps > b->start_ps;
    return a->end_ps != b->end_ps ? a->end_ps < b->end_ps : a->number > b->number;
}

/* What a line did at a time: the innermost event with a cause, but input where one lies around a launch or a sync call;
 * else host, else nothing. */
static enum tm_cause doing(const struct made *m, int line, int64_t at_ps)
{
    const struct made_host_event *around = NULL;
    enum tm_cause cause = TM_CAUSE_UNRECORDED;

    for (;;) { /* from the outermost open event inwards */
        const struct made_host_event *next = NULL;

        for (int i = 0; i < m->host_count; i++) {
            const struct made_host_event *const e = &m->host[i];

            if (e->line == line && e->start_ps <= at_ps && e->end_ps > at_ps && (!around || is_inside(e, around)) &&
                (!next || is_inside(next, e)))
                next = e;
        }
        if (!next)
            return cause;
        if (cause == TM_CAUSE_UNRECORDED)
            cause = next->cause;
        else if (next->cause != TM_CAUSE_HOST &&
                 !(cause == TM_CAUSE_INPUT && (next->cause == TM_CAUSE_SYNC || next->cause == TM_CAUSE_LAUNCH)))
            cause = next->cause;
        around = next;
    }
}

static int level_at(const struct made *m, int device, int64_t at_ps)
{
    int level = 3;

    for (int i = 0; i < m->activity_count; i++)
        if (m->activities[i].device == device && m->activities[i].start_ps <= at_ps &&
            m->activities[i].end_ps > at_ps && m->activities[i].level < level)
            level = m->activities[i].level;
    return level;
}

/* What a gap is attributed to, and what the main thread tells of it in place of the launching one. */
struct causes_plainly {
    int64_t parts[TM_CAUSE_COUNT], main_ps[TM_CAUSE_COUNT];
};

/* The rules of docs/metrics.md for the part [from, to) of a gap. */
static void cost_plainly(const struct made *m, int device, int64_t start_ps, int64_t end_ps, int64_t from_ps,
                         int64_t to_ps, struct causes_plainly *causes)
{
    const struct made_activity *ends = NULL;
    int64_t until_ps = end_ps, recorded_ps = 0;
    int line = 0;

    for (int i = 0; i < m->activity_count; i++) {
        const struct made_activity *const a = &m->activities[i];

        if (a->device == device && a->start_ps == end_ps && a->launch_line >= 0 &&
            (!ends || a->launch_ps < ends->launch_ps))
            ends = a;
    }
    if (ends && ends->launch_ps < start_ps) {
        causes->parts[ends->launch_end_ps <= start_ps ? TM_CAUSE_DEVICE_WAIT : TM_CAUSE_LAUNCH] += to_ps - from_ps;
        return;
    }
    if (ends && ends->launch_ps < end_ps)
        until_ps = ends->launch_ps;
    for (int64_t at = start_ps; ends && at < until_ps; at++)
        recorded_ps += doing(m, ends->launch_line, at) != TM_CAUSE_UNRECORDED;
    if (ends && 2 * recorded_ps >= until_ps - start_ps)
        line = ends->launch_line;
    for (int64_t at = from_ps; at < to_ps; at++) {
        enum tm_cause cause = at < until_ps ? doing(m, line, at) : TM_CAUSE_LAUNCH;
        bool is_main = ends && line == 0 && at < until_ps && cause != TM_CAUSE_UNRECORDED;

        if (is_main && cause == TM_CAUSE_SYNC && doing(m, ends->launch_line, at) != TM_CAUSE_UNRECORDED) {
            cause = doing(m, ends->launch_line, at);
            is_main = false;
        }
        causes->parts[cause]++;
        causes->main_ps[cause] += is_main;
    }
}

/* Parts of [from, to) of a device: busy by level, idle by cause. */
static void parts_plainly(const struct made *m, const struct plain *p, int device, int64_t from_ps, int64_t to_ps,
                          int64_t levels[3], struct causes_plainly *causes)
{
    for (int64_t at = from_ps; at < to_ps;) {
        const int level = level_at(m, device, at);
        int64_t start_ps = at, end_ps = at;

        if (level < 3) {
            levels[level]++;
            at++;
            continue;
        }
        while (level_at(m, device, end_ps) == 3 && end_ps < LENGTH)
            end_ps++;
        while (start_ps > -1000 && level_at(m, device, start_ps - 1) == 3)
            start_ps--;
        start_ps = start_ps > -1000 ? start_ps : p->from_ps; /* before the first activity */
        end_ps = end_ps < LENGTH ? end_ps : p->until_ps;     /* after the last one */
        cost_plainly(m, device, start_ps, end_ps, at, end_ps < to_ps ? end_ps : to_ps, causes);
        at = end_ps;
    }
}

static void periods_plainly(const struct made *m, struct plain *p)
{
    int64_t before_ps = INT64_MIN;

    for (int k = 0; k < (m->marker_count ? m->marker_count : 1); k++) {
        int64_t first_ps = INT64_MAX, last_ps = INT64_MIN;

        for (int i = 0; i < m->activity_count; i++) {
            if (m->activities[i].step != k || !p->has[m->activities[i].device])
                continue;
            first_ps = m->activities[i].start_ps < first_ps ? m->activities[i].start_ps : first_ps;
            last_ps = m->activities[i].end_ps > last_ps ? m->activities[i].end_ps : last_ps;
        }
        if (last_ps == INT64_MIN)
            continue;
        if (before_ps == INT64_MIN)
            before_ps = m->marker_count && m->markers[k].start_ps < first_ps ? m->markers[k].start_ps : first_ps;
        p->periods[k].has_activity = true;
        p->periods[k].start_ps = before_ps;
        p->periods[k].end_ps = last_ps > before_ps ? last_ps : before_ps;
        before_ps = p->periods[k].end_ps;
    }
}

/* The extent of a device's activities; end < begin = it has none. */
static void extent_plainly(const struct made *m, int device, int64_t *first_ps, int64_t *last_ps)
{
    *first_ps = INT64_MAX;
    *last_ps = INT64_MIN;
    for (int i = 0; i < m->activity_count; i++) {
        const struct made_activity *const a = &m->activities[i];

        if (a->device != device)
            continue;
        *first_ps = a->start_ps < *first_ps ? a->start_ps : *first_ps;
        *last_ps = a->end_ps > *last_ps ? a->end_ps : *last_ps;
    }
}

static bool overlap_plainly(const struct made *m, int a, int b)
{
    int64_t a_first, a_last, b_first, b_last, both = 0;

    extent_plainly(m, a, &a_first, &a_last);
    extent_plainly(m, b, &b_first, &b_last);
    if (a_last < a_first || b_last < b_first)
        return false;
    for (int64_t at = 0; at < LENGTH; at++)
        both += at >= a_first && at < a_last && at >= b_first && at < b_last;
    return 2 * both >= (a_last - a_first < b_last - b_first ? a_last - a_first : b_last - b_first);
}

/* The group of a device that has activities: those that overlap it, and those that overlap these. */
static void group_plainly(const struct made *m, int device, struct plain *p)
{
    int64_t first_ps, last_ps;

    memset(p, 0, sizeof(*p));
    p->has[device] = true;
    for (int round = 0; round < DEVICES; round++)
        for (int a = 0; a < m->devices; a++)
            for (int b = 0; b < m->devices; b++) {
                extent_plainly(m, b, &first_ps, &last_ps);
                p->has[b] |= p->has[a] && last_ps >= first_ps && overlap_plainly(m, a, b);
            }
}

static void window_plainly(const struct made *m, const struct tm_chosen_steps *choice, struct plain *p)
{
    bool found = false;

    p->start_ps = INT64_MAX;
    p->end_ps = INT64_MIN;
    for (int device = 0; choice->all && device < m->devices; device++) {
        int64_t first_ps, last_ps;

        extent_plainly(m, device, &first_ps, &last_ps);
        if (!p->has[device] || last_ps < first_ps)
            continue;
        p->start_ps = first_ps < p->start_ps ? first_ps : p->start_ps;
        p->end_ps = last_ps > p->end_ps ? last_ps : p->end_ps;
    }
    for (int k = (int)choice->begin; !choice->all && k < m->marker_count; k++) {
        if (p->periods[k].end_ps <= p->periods[k].start_ps)
            continue;
        p->start_ps = found ? p->start_ps : p->periods[k].start_ps;
        p->end_ps = p->periods[k].end_ps;
        found = true;
    }
    p->from_ps = p->start_ps;
    p->until_ps = p->end_ps;
    for (int k = 0; k < STEPS; k++) {
        if (p->periods[k].end_ps <= p->periods[k].start_ps)
            continue;
        p->from_ps = p->periods[k].start_ps < p->from_ps ? p->periods[k].start_ps : p->from_ps;
        p->until_ps = p->periods[k].end_ps > p->until_ps ? p->periods[k].end_ps : p->until_ps;
    }
}

static bool is_analyzed(const struct made *m, const struct tm_chosen_steps *choice, int device)
{
    for (int i = 0; i < m->activity_count; i++)
        if (m->activities[i].device == device && (choice->all || m->activities[i].step >= (int)choice->begin))
            return true;
    return false;
}

/* Where a device stands in the summary; -1 = not there. */
static int row_of_device(const struct timed *t, int device)
{
    const struct tm_value *const devices = value_at(t, "devices");
    char id[32];

    (void)snprintf(id, sizeof(id), "host/gpu:%d", device);
    for (size_t i = 0; i < tm_length(devices); i++)
        if (strcmp(tm_text(tm_get(tm_at(devices, i), "id")), id) == 0)
            return (int)i;
    return -1;
}

static void check_device(const struct timed *t, const struct made *m, const struct plain *p, int device,
                         int64_t main_ps[TM_CAUSE_COUNT])
{
    int64_t levels[3] = { 0 }, idle_ps = 0;
    struct causes_plainly causes = { .parts = { 0 } };
    const struct tm_value *const row = tm_at(value_at(t, "devices"), (size_t)row_of_device(t, device));

    parts_plainly(m, p, device, p->start_ps, p->end_ps, levels, &causes);
    assert_int_equal(tm_int(tm_get(row, "window_begin_ps")), p->start_ps);
    assert_int_equal(tm_int(tm_get(row, "window_end_ps")), p->end_ps);
    assert_int_equal(tm_int(tm_get(row, "compute_ps")), levels[0]);
    assert_int_equal(tm_int(tm_get(row, "exposed_collective_ps")), levels[1]);
    assert_int_equal(tm_int(tm_get(row, "exposed_copy_ps")), levels[2]);
    assert_int_equal(tm_int(tm_get(row, "busy_ps")), levels[0] + levels[1] + levels[2]);
    for (int i = 0; i < TM_CAUSE_COUNT; i++) {
        assert_int_equal(tm_int(tm_get(tm_get(tm_path(row, "gaps.by_cause"), tm_cause_name[i]), "total_ps")),
                         causes.parts[i]);
        idle_ps += causes.parts[i];
        main_ps[i] += causes.main_ps[i];
    }
    assert_int_equal(tm_int(tm_get(row, "idle_ps")), idle_ps);
    assert_int_equal(tm_int(tm_path(row, "gaps.total_ps")), idle_ps);
    assert_int_equal(tm_int(tm_get(row, "busy_ps")) + idle_ps, p->end_ps - p->start_ps);
    assert_int_equal(level_at(m, device, tm_int(tm_get(row, "first_ps"))) < 3, true);
    assert_int_equal(level_at(m, device, tm_int(tm_get(row, "last_ps")) - 1) < 3, true);
}

/* The parts of a step on the device that speaks for it; they add up to the step time. */
static void check_step(const struct made *m, const struct plain *p, const struct tm_value *step, int device, int k)
{
    int64_t levels[3] = { 0 }, sum_ps = 0;
    struct causes_plainly causes = { .parts = { 0 } };

    parts_plainly(m, p, device, p->periods[k].start_ps, p->periods[k].end_ps, levels, &causes);
    assert_int_equal(tm_int(tm_get(step, "period_ps")), p->periods[k].end_ps - p->periods[k].start_ps);
    assert_int_equal(tm_int(tm_get(step, "end_ps")), p->periods[k].end_ps);
    assert_int_equal(tm_int(tm_get(step, "compute_ps")), levels[0]);
    assert_int_equal(tm_int(tm_get(step, "exposed_collective_ps")), levels[1]);
    assert_int_equal(tm_int(tm_path(step, "exposed_copy_ps.h2d")), levels[2]);
    assert_int_equal(tm_int(tm_get(step, "busy_ps")), levels[0] + levels[1] + levels[2]);
    for (int i = 0; i < TM_CAUSE_COUNT; i++) {
        assert_int_equal(tm_int(tm_get(tm_get(step, "idle_ps"), tm_cause_name[i])), causes.parts[i]);
        sum_ps += causes.parts[i];
    }
    assert_int_equal(tm_int(tm_get(step, "busy_ps")) + sum_ps, tm_int(tm_get(step, "period_ps")));
}

static void check_steps(const struct timed *t, const struct made *m, const struct plain groups[DEVICES])
{
    const struct tm_value *const list = value_at(t, "steps.list");

    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *const step = tm_at(list, i);
        const int k = (int)tm_int(tm_get(step, "number"));
        int device;

        if (!tm_has(tm_get(step, "device")))
            continue;
        device = tm_text(tm_get(step, "device"))[strlen("host/gpu:")] - '0';
        assert_true(groups[device].periods[k].has_activity);
        check_step(m, &groups[device], step, device, k);
    }
}

static void check_random(uint64_t seed)
{
    const uint64_t number = seed;
    struct made m = { .devices = 1 + (int)(number % DEVICES) };
    struct plain groups[DEVICES];
    struct timed t;
    struct tm_chosen_steps choice;
    int64_t window_ps = 0, main_ps[TM_CAUSE_COUNT] = { 0 };

    make_markers(&m, &seed);
    make_activities(&m, &seed);
    make_host(&m, &seed);
    choice = (struct tm_chosen_steps){ .all = !m.marker_count || number % 2,
                                       .has_range = m.marker_count && number % 2 == 0,
                                       .begin = number % 5 ? 0 : 1,
                                       .end = UINT64_MAX };
    if (!choice.all && (int)choice.begin >= m.marker_count)
        choice.begin = 0;
    work_out(&t, space_of_made(&m), &choice);
    for (int device = 0; device < m.devices; device++) {
        group_plainly(&m, device, &groups[device]);
        periods_plainly(&m, &groups[device]);
        window_plainly(&m, &choice, &groups[device]);
        if (!is_analyzed(&m, &choice, device))
            continue;
        check_device(&t, &m, &groups[device], device, main_ps);
        window_ps += groups[device].end_ps - groups[device].start_ps;
    }
    check_steps(&t, &m, groups);
    for (int i = 0; i < TM_CAUSE_COUNT; i++) {
        char path[80];

        (void)snprintf(path, sizeof(path), "gaps.by_cause.%s.main_ps", tm_cause_name[i]);
        assert_number(&t, path, main_ps[i]);
    }
    assert_number(&t, "steps.parts.total_ps", window_ps);
    assert_number(&t, "window.total_ps", window_ps);
    for (size_t i = 0; i < tm_length(value_at(&t, "window.hosts")) && !choice.all; i++) {
        const struct tm_value *const group = tm_at(value_at(&t, "window.hosts"), i);

        assert_int_equal(tm_int(tm_get(group, "steps_ps")), tm_int(tm_get(group, "span_ps")));
    }
    tear_down(&t);
}

static void any_profile_adds_up_as_calculated_plainly(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++)
        check_random(seed);
}

/* Several devices, activities without length, times of any size: the parts still add up. */
static void check_sums(uint64_t seed)
{
    static const int64_t scales[] = { 1, 1000, (int64_t)86400 * 10000000000 };
    struct xb_space *const space = xb_space_new();
    struct xb_line *const python = xb_line(xb_plane(space, "/host:CPU"), 1, "python", 0);
    const int64_t scale = scales[seed % 3];
    const int devices = 1 + (int)(seed % 4);
    int64_t busy_ps = 0, idle_ps = 0, span_ps = 0;
    struct timed t;
    char path[80];

    for (int k = 0; k < (int)(seed % 5); k++) {
        xb_event(python, "train", scale * (100 + 150 * k), scale * 140);
        xb_int(python, "_r", 1);
    }
    for (int i = 0; i < devices; i++) {
        struct xb_line *stream;

        (void)snprintf(path, sizeof(path), "/device:GPU:%d", i);
        stream = xb_line(xb_plane(space, path), 1, "Stream #1", 0);
        for (int k = 0; k < 30; k++)
            xb_event(stream, k % 3 ? "k" : "MemcpyD2H", scale * below(&seed, 1000),
                     scale * below(&seed, 3) * below(&seed, 20));
    }
    work_out(&t, space, seed % 2 ? &all_steps : NULL);
    for (int i = 0; i < devices; i++) {
        int64_t sum_ps = 0;

        for (int c = 0; c < TM_CAUSE_COUNT; c++) {
            (void)snprintf(path, sizeof(path), "devices[%d].gaps.by_cause.%s.total_ps", i, tm_cause_name[c]);
            sum_ps += number_at(&t, path);
        }
        (void)snprintf(path, sizeof(path), "devices[%d].idle_ps", i);
        assert_number(&t, path, sum_ps);
        idle_ps += sum_ps;
        (void)snprintf(path, sizeof(path), "devices[%d].busy_ps", i);
        busy_ps += number_at(&t, path);
        sum_ps += number_at(&t, path);
        (void)snprintf(path, sizeof(path), "devices[%d].span_ps", i);
        assert_number(&t, path, sum_ps);
        span_ps += sum_ps;
    }
    assert_number(&t, "total.busy_ps", busy_ps);
    assert_number(&t, "total.idle_ps", idle_ps);
    assert_number(&t, "gaps.total_ps", idle_ps);
    assert_number(&t, "steps.parts.total_ps", span_ps);
    tear_down(&t);
}

static void sums_hold_for_any_devices_and_times(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        check_sums(seed);
}

/* Sums past 64 bits stay at the largest number. */
static void sums_that_do_not_fit_stay_at_the_largest_number(void **state)
{
    const int64_t day_ps = (int64_t)86400 * 1000000000000;
    struct xb_space *const space = xb_space_new();
    struct timed t;
    char path[80];

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct xb_line *stream;

        (void)snprintf(path, sizeof(path), "/device:GPU:%d", i);
        stream = xb_line(xb_plane(space, path), 1, "Stream #1", 0);
        for (int k = 0; k < 4; k++)
            xb_event(stream, "k", -4 * day_ps, 90 * day_ps);
        xb_event(stream, "k", 99 * day_ps, day_ps);
    }
    work_out(&t, space, NULL);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof(path), "devices[%d].busy_ps", i);
        assert_number(&t, path, 91 * day_ps);
        (void)snprintf(path, sizeof(path), "devices[%d].idle_ps", i);
        assert_number(&t, path, 13 * day_ps);
        (void)snprintf(path, sizeof(path), "devices[%d].kernels.total_ps", i);
        assert_number(&t, path, INT64_MAX);
    }
    assert_number(&t, "total.busy_ps", INT64_MAX);
    assert_number(&t, "steps.parts.total_ps", INT64_MAX);
    tear_down(&t);
}

/* --- TPU --- */

/* Waits are exposed, and named beside the device's use; what is in flight beside compute is hidden. */
static void waits_of_a_tpu_are_told_apart(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const tpu = xb_plane(space, "/device:TPU:0");
    struct xb_line *const ops = xb_line(tpu, 3, "XLA Ops", 0), *const flight = xb_line(tpu, 4, "Async XLA Ops", 0);
    struct timed t;

    (void)state;
    xb_event(ops, "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", 0, 100);
    xb_event(ops, "%all-reduce-done.1 = f32[8]{0} all-reduce-done(f32[8]{0} %all-reduce-start.1)", 100, 40);
    xb_event(ops, "%copy-done.1 = f32[8]{0} copy-done((f32[8]{0}, f32[8]{0}, u32[]) %copy-start.1)", 140, 10);
    xb_event(ops, "%add.2 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", 150, 50);
    xb_event(flight, "%all-reduce-start.1 = f32[8]{0} all-reduce-start(f32[8]{0} %a)", 60, 80);
    work_out(&t, space, NULL);
    assert_number(&t, "devices[0].compute_ps", 150);
    assert_number(&t, "devices[0].exposed_collective_ps", 40);
    assert_number(&t, "devices[0].exposed_copy_ps", 10);
    assert_number(&t, "devices[0].busy_ps", 200);
    assert_number(&t, "devices[0].wait_ps", 50);
    assert_number(&t, "devices[0].wait_collective_ps", 40);
    assert_number(&t, "devices[0].wait_copy_ps", 10);
    assert_number(&t, "devices[0].in_flight_ps", 80);
    assert_number(&t, "devices[0].hidden_ps", 40);
    assert_true(tm_double(value_at(&t, "devices[0].utilization_pct")) == 75.0);
    tear_down(&t);
}

/* Over all that was recorded on the host's devices: also what is outside of the chosen steps, and without waits. */
static void use_is_told_over_time(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_line *const first = xb_line(xb_plane(space, "/device:TPU:0"), 3, "XLA Ops", 0);
    struct xb_line *const second = xb_line(xb_plane(space, "/device:TPU:1"), 3, "XLA Ops", 0);
    int64_t sum_ps = 0;
    struct timed t;

    (void)state;
    xb_event(first, "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", 960, 50);
    xb_event(first, "%copy-done.1 = f32[8]{0} copy-done((f32[8]{0}, f32[8]{0}, u32[]) %copy-start.1)", 1010, 200);
    xb_event(first, "%add.2 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", 1250, 760);
    xb_event(second, "%add.3 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", 1500, 10);
    work_out(&t, space, NULL);
    assert_number(&t, "devices[0].utilization.begin_ps", 960);
    assert_number(&t, "devices[0].utilization.end_ps", 2010);
    assert_number(&t, "devices[0].utilization.bin_ps", 5);
    assert_int_equal(tm_length(value_at(&t, "devices[0].utilization.busy_ps")), 210);
    assert_number(&t, "devices[1].utilization.begin_ps", 960);
    assert_number(&t, "devices[1].utilization.end_ps", 2010);
    assert_number(&t, "devices[1].utilization.busy_ps[107]", 0);
    assert_number(&t, "devices[1].utilization.busy_ps[108]", 5);
    assert_number(&t, "devices[1].utilization.busy_ps[110]", 0);
    for (size_t i = 0; i < 210; i++)
        sum_ps += tm_int(tm_at(value_at(&t, "devices[0].utilization.busy_ps"), i));
    assert_int_equal(sum_ps, 50 + 760);
    tear_down(&t);
}

/* The JSON copy has no lines of what is in flight: that is not nothing in flight. */
static void what_is_in_flight_is_not_known_of_a_copy(void **state)
{
    static const struct tm_settings settings = { .gap_min_ps = 0, .table_rows = 500 };
    struct xb_space *const space = xb_space_new();
    struct timed t;

    (void)state;
    xb_event(xb_line(xb_plane(space, "/device:TPU:0"), 3, "XLA Ops", 0),
             "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", 0, 100);
    assert_int_equal(xspace_scan_space(&t.x, space, NULL), TM_OK);
    xb_space_free(space);
    t.x.host.trace.origin = TM_ORIGIN_JSON_COPY;
    assert_int_equal(xspace_survey(&t.x, NULL), TM_OK);
    run_stage(&t, &settings);
    assert_false(tm_has(value_at(&t, "devices[0].in_flight_ps")));
    assert_non_null(strstr(tm_why(value_at(&t, "devices[0].hidden_ps")), ".xplane.pb"));
    assert_number(&t, "devices[0].wait_ps", 0);
    tear_down(&t);
}

/* Nested ops count by what their children leave: together they are the time of the outer one. */
static void nested_ops_of_a_tpu_are_counted_once(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_line *const ops = xb_line(xb_plane(space, "/device:TPU:0"), 3, "XLA Ops", 0);
    struct timed t;

    (void)state;
    xb_event(ops, "%while.1 = (s32[]) while((s32[]) %t), condition=%c, body=%b", 0, 100);
    xb_event(ops, "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)", 10, 20);
    xb_event(ops, "%all-reduce.1 = f32[8]{0} all-reduce(f32[8]{0} %a), to_apply=%s", 50, 30);
    work_out(&t, space, NULL);
    assert_number(&t, "devices[0].busy_ps", 100);
    assert_number(&t, "devices[0].compute_ps", 70);
    assert_number(&t, "devices[0].exposed_collective_ps", 30);
    tear_down(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_gives_its_causes),
        cmocka_unit_test(a_gap_is_named_by_what_ran_in_it),
        cmocka_unit_test(the_executing_thread_is_asked_where_the_main_thread_waits),
        cmocka_unit_test(a_listed_gap_tells_of_the_calls),
        cmocka_unit_test(short_gaps_are_counted_by_cause),
        cmocka_unit_test(a_gap_is_cut_at_the_begin_of_what_counts),
        cmocka_unit_test(the_time_before_the_first_activity_belongs_to_the_first_step),
        cmocka_unit_test(the_log_of_the_host_reaches_back_to_the_begin_of_a_step),
        cmocka_unit_test(step_times_of_the_job_add_up_to_the_window),
        cmocka_unit_test(devices_that_do_not_overlap_have_a_window_each),
        cmocka_unit_test(the_window_of_a_host_holds_all_its_devices),
        cmocka_unit_test(any_profile_adds_up_as_calculated_plainly),
        cmocka_unit_test(sums_hold_for_any_devices_and_times),
        cmocka_unit_test(sums_that_do_not_fit_stay_at_the_largest_number),
        cmocka_unit_test(waits_of_a_tpu_are_told_apart),
        cmocka_unit_test(use_is_told_over_time),
        cmocka_unit_test(what_is_in_flight_is_not_known_of_a_copy),
        cmocka_unit_test(nested_ops_of_a_tpu_are_counted_once),
    };

    return cmocka_run_group_tests_name("device time", tests, NULL, NULL);
}
