/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/output/derived/derived.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/doc/run_figures.h"
#include "stages/figures/device_time.h"
#include "stages/resolve/classes.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"
#include "tests/support/xspace_run.h"

#define US INT64_C(1000000)
#define OK(call) assert_int_equal(call, TM_OK)

/* --- a host by hand --- */

enum { RIG_DEVICES = 3, ROWS_MOST = 40000 };

struct rig {
    struct tm_run *run; /* the caller's */
    struct tm_names *names;
    struct tm_trace trace;
    struct tm_device devices[RIG_DEVICES];
    struct tm_derived *derived;
};

static tm_status open_rig(struct rig *r, struct tm_run *run)
{
    *r = (struct rig){ .run = run };
    r->names = tm_names_new(run, tm_budget_share(&run->budget, TM_ACCOUNT_NAMES), tm_traits_of);
    if (!r->names)
        return run->error.status;
    r->trace = (struct tm_trace){
        .run = run, .names = r->names, .host_name = "vm", .devices = r->devices, .steps.source = TM_STEPS_SESSION
    };
    r->derived = tm_derived_new(run, r->names);
    return r->derived ? TM_OK : run->error.status;
}

static void close_rig(struct rig *r)
{
    tm_derived_free(r->derived);
    tm_names_free(r->names);
    assert_ledger_is_even(r->run);
}

/* A device whose activities lie in [first, last]. */
static void add_device(struct rig *r, int64_t first_ps, int64_t last_ps)
{
    struct tm_device *device = &r->devices[r->trace.device_count];

    *device = (struct tm_device){ .index = r->trace.device_count++,
                                  .activities = 1,
                                  .first_ps = first_ps,
                                  .last_ps = last_ps,
                                  .chosen_begin_ps = first_ps,
                                  .chosen_end_ps = last_ps };
    (void)snprintf(device->id, sizeof(device->id), "%s/gpu:%u", r->trace.host_name, device->index);
}

/* in: launch_ps  INT64_MIN = not known */
static tm_status take_part(struct rig *r, uint32_t device, int64_t start_ps, int64_t dur_ps, int64_t launch_ps,
                           enum tm_tpu_part part)
{
    const struct tm_config config = { .tpu_part = (uint8_t)part };
    const struct tm_event event = { .record = { .start_ps = start_ps, .dur_ps = dur_ps },
                                    .config = &config,
                                    .device = device,
                                    .step = TM_NONE,
                                    .level = device == TM_NONE ? TM_LEVEL_NONE : TM_LEVEL_COMPUTE,
                                    .launch_track = launch_ps == INT64_MIN ? TM_NONE : 0,
                                    .launch_start_ps = launch_ps };

    return tm_derived_observer.take(r->derived, &event);
}

static tm_status take(struct rig *r, uint32_t device, int64_t start_ps, int64_t dur_ps, int64_t launch_ps)
{
    return take_part(r, device, start_ps, dur_ps, launch_ps, 0);
}

static size_t rows_of(struct tm_derived *derived, uint32_t host, enum tm_derived_sort sort, uint32_t device,
                      struct tm_derived_row *rows)
{
    const struct tm_derived_row *row;
    size_t count = 0;

    tm_derived_begin(derived, host);
    while ((row = tm_derived_next(derived))) {
        if (row->sort == sort && row->device == device && count < ROWS_MOST)
            rows[count++] = *row;
    }
    return count;
}

static const char *text_of(struct tm_names *names, tm_strid name)
{
    return tm_names_text(names, name, 0, NULL);
}

static bool find_argument(struct tm_names *names, struct tm_arguments list, const char *key,
                          struct tm_argument *argument)
{
    while (tm_arguments_next(&list, true, argument))
        if (strcmp(text_of(names, argument->key), key) == 0)
            return true;
    return false;
}

static int64_t number_of(struct tm_names *names, const struct tm_derived_row *row, const char *key)
{
    struct tm_argument argument;

    if (!find_argument(names, row->arguments, key, &argument))
        fail_msg("no argument '%s'", key);
    if (argument.type == TM_ARGUMENT_TRUE || argument.type == TM_ARGUMENT_FALSE)
        return argument.type == TM_ARGUMENT_TRUE;
    assert_true(argument.type == TM_ARGUMENT_INT || argument.type == TM_ARGUMENT_UINT);
    return argument.type == TM_ARGUMENT_INT ? argument.number : (int64_t)argument.value;
}

/* Valid until the next call. */
static const char *argument_text(struct tm_names *names, struct tm_arguments list, const char *key)
{
    static char text[512];
    struct tm_argument argument;

    if (!find_argument(names, list, key, &argument))
        return "";
    if (argument.type == TM_ARGUMENT_NAME)
        return text_of(names, (tm_strid)argument.value);
    assert_int_equal(argument.type, TM_ARGUMENT_TEXT);
    (void)snprintf(text, sizeof(text), "%.*s", (int)argument.length, argument.text);
    return text;
}

/* --- counters against a slow model --- */

enum { MADE_MOST = 300 };

struct made {
    int64_t start_ps, end_ps, launch_ps;
};

static int by_begin(const void *a, const void *b)
{
    const struct made *x = a, *y = b;

    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

/* Times on a grid of a quarter of the shortest stretch: many of them are equal, or borders. */
static size_t make(uint64_t *seed, struct made *list, int64_t scale)
{
    const size_t count = 1 + next_number(seed) % MADE_MOST;
    int64_t at = (int64_t)(next_number(seed) % 1000);

    for (size_t i = 0; i < count; i++) {
        at += next_number(seed) % 8 ? (int64_t)(next_number(seed) % 6) : (int64_t)(next_number(seed) % 200);
        list[i].start_ps = at * scale;
        list[i].end_ps = (at + (int64_t)(next_number(seed) % 30)) * scale;
        list[i].launch_ps = next_number(seed) % 10 ? (at + 3 - (int64_t)(next_number(seed) % 60)) * scale : INT64_MIN;
    }
    qsort(list, count, sizeof(*list), by_begin);
    return count;
}

static int64_t plain_length(int64_t window_ps)
{
    static const int64_t firsts[] = { 1, 2, 5 };

    for (int64_t ten = US;; ten *= 10)
        for (int i = 0; i < 3; i++)
            if (firsts[i] * ten * TM_DERIVED_STRETCHES >= window_ps)
                return firsts[i] * ten;
}

static int64_t plain_depth(const struct made *list, size_t count, int64_t at_ps)
{
    int64_t depth = 0;

    for (size_t i = 0; i < count; i++)
        depth += list[i].launch_ps != INT64_MIN && list[i].launch_ps <= at_ps && at_ps < list[i].start_ps;
    return depth;
}

static int64_t plain_most(const struct made *list, size_t count, int64_t start_ps, int64_t end_ps)
{
    int64_t most = plain_depth(list, count, start_ps);

    for (size_t i = 0; i < count; i++)
        if (list[i].launch_ps >= start_ps && list[i].launch_ps < end_ps) {
            const int64_t depth = plain_depth(list, count, list[i].launch_ps);

            most = depth > most ? depth : most;
        }
    return most;
}

static int64_t plain_busy(const struct made *list, size_t count, int64_t start_ps, int64_t end_ps)
{
    int64_t sum = 0, until_ps = start_ps;

    for (size_t i = 0; i < count; i++) {
        const int64_t from_ps = list[i].start_ps > until_ps ? list[i].start_ps : until_ps;
        const int64_t to_ps = list[i].end_ps < end_ps ? list[i].end_ps : end_ps;

        if (to_ps > from_ps) {
            sum += to_ps - from_ps;
            until_ps = to_ps;
        }
    }
    return sum;
}

/* The value that rows give a time. */
static double value_at(const struct tm_derived_row *rows, size_t count, int64_t at_ps)
{
    double value = 0;

    for (size_t i = 0; i < count && rows[i].start_ps <= at_ps; i++)
        value = rows[i].value;
    return value;
}

static void check_rows(const struct tm_derived_row *rows, size_t count, int64_t end_ps)
{
    for (size_t i = 1; i < count; i++) {
        assert_true(rows[i].start_ps > rows[i - 1].start_ps);
        assert_true(rows[i].value != rows[i - 1].value);
    }
    assert_true(count > 0 && rows[count - 1].value == 0 && rows[count - 1].start_ps <= end_ps);
}

static void check_queue(struct rig *r, uint32_t device, const struct made *list, size_t count)
{
    static struct tm_derived_row rows[ROWS_MOST];
    const size_t row_count = rows_of(r->derived, 0, TM_DERIVED_QUEUE, device, rows);
    const int64_t end_ps = r->devices[device].last_ps;
    int64_t start_ps = INT64_MAX, length_ps;

    for (size_t i = 0; i < count; i++)
        if (list[i].launch_ps != INT64_MIN && list[i].launch_ps < list[i].start_ps && list[i].launch_ps < start_ps)
            start_ps = list[i].launch_ps;
    if (start_ps == INT64_MAX) {
        assert_int_equal(row_count, 0);
        return;
    }
    check_rows(rows, row_count, end_ps);
    length_ps = plain_length(end_ps - start_ps);
    for (int64_t at = start_ps; at < end_ps; at += length_ps) {
        const int64_t to_ps = at + length_ps < end_ps ? at + length_ps : end_ps;

        assert_int_equal((int64_t)value_at(rows, row_count, at), plain_most(list, count, at, to_ps));
    }
}

static void check_busy(struct rig *r, uint32_t device, const struct made *list, size_t count)
{
    static struct tm_derived_row rows[ROWS_MOST];
    const size_t row_count = rows_of(r->derived, 0, TM_DERIVED_BUSY, device, rows);
    const int64_t start_ps = r->devices[device].first_ps, end_ps = r->devices[device].last_ps;
    const int64_t length_ps = plain_length(end_ps - start_ps);
    int64_t sum_ps = 0;

    if (end_ps == start_ps) {
        assert_int_equal(row_count, 0);
        return;
    }
    check_rows(rows, row_count, end_ps);
    for (int64_t at = start_ps; at < end_ps; at += length_ps) {
        const int64_t to_ps = at + length_ps < end_ps ? at + length_ps : end_ps;
        const int64_t busy_ps = llround(value_at(rows, row_count, at) / 100 * (double)(to_ps - at));

        assert_int_equal(busy_ps, plain_busy(list, count, at, to_ps));
        sum_ps += busy_ps;
    }
    assert_int_equal(sum_ps, plain_busy(list, count, start_ps, end_ps));
}

/* in: turn  activities that a device gives before the next one gives some; 0: all of them in the order of time */
static void take_made(struct rig *r, struct made (*lists)[MADE_MOST], const size_t *counts, size_t turn)
{
    size_t at[RIG_DEVICES] = { 0 };
    uint32_t device = 0;

    for (size_t taken = 0, given = 0; taken < counts[0] + counts[1] + counts[2]; taken++) {
        if (!turn) {
            device = TM_NONE;
            for (uint32_t i = 0; i < RIG_DEVICES; i++)
                if (at[i] < counts[i] &&
                    (device == TM_NONE || lists[i][at[i]].start_ps < lists[device][at[device]].start_ps))
                    device = i;
        } else {
            for (; given == turn || at[device] == counts[device]; given = 0)
                device = (device + 1) % RIG_DEVICES;
            given++;
        }
        const struct made *a = &lists[device][at[device]++];

        OK(take(r, device, a->start_ps, a->end_ps - a->start_ps, a->launch_ps));
    }
}

static void check_counters(uint64_t seed, size_t turn)
{
    static const int64_t scales[] = { US / 4, US / 4, 3 * US, 1000, 86400 * US };
    static struct made lists[RIG_DEVICES][MADE_MOST];
    const int64_t scale = scales[seed % 5];
    size_t counts[RIG_DEVICES];
    struct tm_run run;
    struct rig r;

    test_run_init(&run);
    OK(open_rig(&r, &run));
    for (uint32_t i = 0; i < RIG_DEVICES; i++) {
        int64_t last_ps = 0;

        counts[i] = make(&seed, lists[i], scale);
        for (size_t k = 0; k < counts[i]; k++)
            last_ps = lists[i][k].end_ps > last_ps ? lists[i][k].end_ps : last_ps;
        add_device(&r, lists[i][0].start_ps, last_ps);
    }
    OK(tm_derived_observer.begin_host(r.derived, &r.trace));
    take_made(&r, lists, counts, turn);
    OK(tm_derived_observer.end_host(r.derived));
    for (uint32_t i = 0; i < RIG_DEVICES; i++) {
        check_busy(&r, i, lists[i], counts[i]);
        if (r.devices[i].last_ps > r.devices[i].first_ps)
            check_queue(&r, i, lists[i], counts[i]);
    }
    close_rig(&r);
}

static void counters_are_as_counted_slowly(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        check_counters(seed, 0);
}

static void devices_may_take_turns(void **state)
{
    static const size_t turns[] = { 1, 7, 62, 100, MADE_MOST };

    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        check_counters(seed, turns[seed / 5 % 5]);
}

static void a_tpu_that_waits_is_not_busy(void **state)
{
    static struct tm_derived_row rows[ROWS_MOST];
    struct tm_run run;
    struct rig r;

    (void)state;
    test_run_init(&run);
    OK(open_rig(&r, &run));
    add_device(&r, 0, 4096 * US);
    OK(tm_derived_observer.begin_host(r.derived, &r.trace));
    OK(take(&r, 0, 0, 1000 * US, INT64_MIN));
    OK(take_part(&r, 0, 1000 * US, 2000 * US, INT64_MIN, TM_TPU_WAIT));
    OK(take(&r, 0, 3000 * US, 1096 * US, INT64_MIN));
    OK(tm_derived_observer.end_host(r.derived));
    assert_int_equal(rows_of(r.derived, 0, TM_DERIVED_BUSY, 0, rows), 4);
    assert_true(rows[0].value == 100 && rows[1].start_ps == 1000 * US && rows[1].value == 0);
    assert_true(rows[2].start_ps == 3000 * US && rows[2].value == 100 && rows[3].value == 0);
    close_rig(&r);
}

static void one_long_activity_is_two_rows(void **state)
{
    static struct tm_derived_row rows[ROWS_MOST];
    struct tm_run run;
    struct rig r;

    (void)state;
    test_run_init(&run);
    OK(open_rig(&r, &run));
    add_device(&r, 5 * US, 5 * US + 86400 * INT64_C(1000000000000));
    OK(tm_derived_observer.begin_host(r.derived, &r.trace));
    OK(take(&r, 0, 5 * US, 86400 * INT64_C(1000000000000), 0));
    OK(tm_derived_observer.end_host(r.derived));
    assert_int_equal(rows_of(r.derived, 0, TM_DERIVED_BUSY, 0, rows), 2);
    assert_true(rows[0].start_ps == 5 * US && rows[0].value == 100);
    assert_true(rows[1].start_ps == 5 * US + 86400 * INT64_C(1000000000000) && rows[1].value == 0);
    assert_string_equal(text_of(r.names, rows[0].name), "busy share");
    assert_int_equal(rows_of(r.derived, 0, TM_DERIVED_QUEUE, 0, rows), 2);
    assert_true(rows[0].start_ps == 0 && rows[0].value == 1 && rows[1].value == 0);
    assert_string_equal(text_of(r.names, rows[0].name), "queue depth");
    close_rig(&r);
}

/* --- steps and gaps of a profile --- */

struct taken_gap {
    struct tm_idle_gap gap;
    bool is_found;
};

struct observed {
    struct xspace_run x;
    struct tm_stage stage;
    struct tm_settings settings;
    struct tm_derived *derived;
    struct taken_gap gaps[100];
    size_t gap_count;
};

static tm_status take_gap(void *to, const struct tm_idle_gap *gap)
{
    struct observed *o = to;

    assert_true(o->gap_count < sizeof(o->gaps) / sizeof(o->gaps[0]));
    o->gaps[o->gap_count++].gap = *gap;
    return tm_derived_observer.take_gap(o->derived, gap);
}

static tm_status take_event(void *to, const struct tm_event *event)
{
    struct observed *o = to;
    struct tm_event wanted = *event;

    wanted.wanted = o->stage.bit = 1;
    if (o->stage.type->wants(&o->stage, event))
        o->stage.type->take(&o->stage, &wanted, 1);
    return tm_failed(&o->x.run) ? o->x.run.error.status : tm_derived_observer.take(o->derived, event);
}

/* Steps of 100 us, a load of data, a launch and a kernel on two devices in each. */
static struct xb_space *make_profile(void)
{
    struct xb_space *space = xb_space_new();
    struct xb_plane *host = xb_plane(space, "/host:CPU");
    struct xb_line *python = xb_line(host, 1, "python", 0);
    struct xb_line *streams[2];

    for (int d = 0; d < 2; d++)
        streams[d] = xb_line(xb_plane(space, d ? "/device:GPU:1" : "/device:GPU:0"), 7, "Stream #7", 0);
    for (int64_t k = 0; k < 9; k++) {
        xb_event(python, "train", k * 100 * US, 90 * US);
        xb_int(python, "_r", 1);
        xb_int(python, "step_num", 10 + k);
        xb_event(python, k % 2 ? "data_loading" : "$forward", k * 100 * US + US, (10 + 5 * k) * US);
        for (int d = 0; d < 2; d++) {
            xb_event(python, "cuLaunchKernel", k * 100 * US + (70 + d) * US, US / 2);
            xb_int(python, "correlation_id", 1 + 2 * k + d);
            xb_event(streams[d], "k", k * 100 * US + (72 + d) * US, (20 + d) * US);
            xb_int(streams[d], "correlation_id", 1 + 2 * k + d);
        }
    }
    return space;
}

static void observe(struct observed *o, int64_t gap_min_ps)
{
    struct xb_space *space = make_profile();
    const struct tm_chosen_steps all = { .all = true };
    struct tm_stage *stage = &o->stage;

    *o = (struct observed){ .gap_count = 0 };
    OK(xspace_scan_space(&o->x, space, NULL));
    xb_space_free(space);
    OK(xspace_survey(&o->x, &all));
    o->derived = tm_derived_new(&o->x.run, o->x.names);
    assert_non_null(o->derived);
    o->settings =
        (struct tm_settings){ .gap_min_ps = gap_min_ps, .table_rows = 500, .take_gap = take_gap, .gap_taker = o };
    *stage = (struct tm_stage){ .type = &tm_device_time_stage, .run = &o->x.run, .settings = &o->settings };
    stage->state = tm_take(&o->x.run.budget, TM_ACCOUNT_MODEL, stage->type->state_bytes, &o->x.run.error);
    assert_non_null(stage->state);
    OK(stage->type->open(stage));
    OK(stage->type->begin_host(stage, &o->x.host.trace));
    OK(tm_derived_observer.begin_host(o->derived, &o->x.host.trace));
    OK(tm_host_events(&o->x.host, take_event, o));
    OK(stage->type->end_host(stage));
    OK(tm_derived_observer.end_host(o->derived));
}

static void end_observed(struct observed *o)
{
    tm_derived_free(o->derived);
    o->stage.type->close(&o->stage);
    tm_give(&o->x.run.budget, TM_ACCOUNT_MODEL, o->stage.state, o->stage.type->state_bytes);
    xspace_close(&o->x);
}

static void check_gap(struct observed *o, const struct tm_derived_row *row)
{
    for (size_t i = 0; i < o->gap_count; i++) {
        const struct tm_idle_gap *gap = &o->gaps[i].gap;

        if (o->gaps[i].is_found || gap->device != row->device || gap->start_ps != row->start_ps)
            continue;
        o->gaps[i].is_found = true;
        assert_int_equal(gap->end_ps, row->end_ps);
        assert_string_equal(text_of(o->x.names, row->name), tm_idle_title(gap->part_names[gap->cause]));
        assert_string_equal(argument_text(o->x.names, row->arguments, "cause"),
                            tm_idle_title(gap->part_names[gap->cause]));
        assert_string_equal(argument_text(o->x.names, row->arguments, "after"),
                            gap->after ? "k" : ""); /* "": the last one */
        assert_int_equal(number_of(o->x.names, row, "length_ns"), (gap->end_ps - gap->start_ps) / 1000);
        assert_int_equal(number_of(o->x.names, row, "step"), 10 + (int64_t)gap->step);
        return;
    }
    fail_msg("a gap at %lld that the stage did not find", (long long)row->start_ps);
}

static int64_t summary_int(const struct tm_doc *doc, const char *path)
{
    const struct tm_value *value = tm_path(tm_doc_root(doc), path);

    if (!tm_has(value))
        fail_msg("no '%s' in the summary", path);
    return tm_int(value);
}

static void gaps_are_those_of_the_summary(void **state)
{
    const struct tm_derived_row *row;
    struct observed o;
    struct tm_doc *doc;
    struct tm_derived_row gap = { .end_ps = 0 };
    int64_t count = 0, total_ps = 0, input = 0, inside = 0;

    (void)state;
    observe(&o, 0);
    doc = tm_doc_new(&o.x.run);
    assert_non_null(doc);
    OK(o.stage.type->report(&o.stage, tm_doc_root(doc)));
    tm_derived_begin(o.derived, 0);
    while ((row = tm_derived_next(o.derived))) {
        if (row->sort != TM_DERIVED_GAP)
            continue;
        if (!row->arguments.length) { /* inside the gap that came before it: what the host did, or the launch */
            assert_true(row->start_ps >= gap.start_ps && row->end_ps <= gap.end_ps);
            inside++;
            continue;
        }
        gap = *row;
        check_gap(&o, row);
        count++;
        total_ps += row->end_ps - row->start_ps;
        input += strcmp(text_of(o.x.names, row->name), "input pipeline") == 0;
    }
    assert_true(count > 10 && input > 0 && inside > 0);
    assert_int_equal(count, o.gap_count);
    assert_int_equal(count, summary_int(doc, "gaps.count"));
    assert_int_equal(total_ps, summary_int(doc, "gaps.total_ps"));
    assert_int_equal(input, summary_int(doc, "gaps.by_cause.input.count"));
    tm_doc_free(doc);
    end_observed(&o);
}

/* Gaps without what is inside of them. */
static size_t count_whole(const struct tm_derived_row *rows, size_t count)
{
    size_t whole = 0;

    for (size_t i = 0; i < count; i++)
        whole += rows[i].arguments.length > 0;
    return whole;
}

static void short_gaps_are_left_out(void **state)
{
    static struct tm_derived_row rows[ROWS_MOST];
    struct observed o;

    (void)state;
    observe(&o, 80 * US); /* between kernels of 20 us and of 21 us lie 80 us and 79 us */
    assert_int_equal(count_whole(rows, rows_of(o.derived, 0, TM_DERIVED_GAP, 0, rows)), 8);
    for (size_t i = 0; i < o.gap_count; i++)
        assert_true(o.gaps[i].gap.end_ps - o.gaps[i].gap.start_ps >= 80 * US);
    end_observed(&o);
}

static void steps_are_those_of_the_host_and_of_each_device(void **state)
{
    const struct tm_derived_row *row;
    int64_t hosts = 0, devices = 0;
    struct observed o;
    char name[32];

    (void)state;
    observe(&o, 0);
    tm_derived_begin(o.derived, 0);
    while ((row = tm_derived_next(o.derived))) {
        int64_t number;

        if (row->sort != TM_DERIVED_STEP)
            continue;
        number = number_of(o.x.names, row, "number");
        (void)snprintf(name, sizeof(name), "step %lld", (long long)number);
        assert_string_equal(text_of(o.x.names, row->name), name);
        assert_int_equal(number_of(o.x.names, row, "chosen"), 1);
        if (row->device == TM_NONE) {
            assert_int_equal(row->start_ps, (number - 10) * 100 * US);
            assert_int_equal(row->end_ps - row->start_ps, 90 * US);
            hosts++;
        } else {
            assert_int_equal(row->end_ps, (number - 10) * 100 * US + 94 * US); /* of the later one of the devices */
            assert_int_equal(number_of(o.x.names, row, "activities"), 1);
            devices++;
        }
    }
    assert_int_equal(hosts, 9);
    assert_int_equal(devices, 18);
    end_observed(&o);
}

/* --- findings and facts --- */

#define SUMMARY                                                                                                        \
    "{'input': {'run': 'nightly', 'hosts': ['vm', 'h1'], 'partial': false}, 'environment': {'platform': 'gpu', "       \
    "'hosts': [{'host': 'vm', 'jax': '0.4.1', 'framework': 'jax', 'rank': 0, 'rocm': null}, {'host': 'h1', 'jax': "    \
    "'0.4.2'}]}, 'devices': [{'id': 'vm/gpu:0', 'host': 'vm', 'model': 'H200'}], 'verdict': {'text': 'Well done.'}, "  \
    "'kpis': [{'id': 'u', 'title': 'Utilization', 'value': 92.5, 'unit': '%'}, {'id': 'v', 'title': 'None', "          \
    "'value': null, 'unit': '%'}], 'findings': [{'id': 'idle_input', 'severity': 'critical', 'title': 'It waits', "    \
    "'value': 21.5, 'unit': '%', 'limit': null, 'evidence': ['one', 'a text that is longer than twenty-four bytes'], " \
    "'at_stake_ps': 7000000, 'share_pct': 21.5, 'cause': 'because', 'fix': ['do it'], 'where': [{'begin_ps': "         \
    "30000000, 'end_ps': 32000000, 'device': 'vm/gpu:1'}, {'begin_ps': 50000000, 'end_ps': 50000001, 'device': "       \
    "'h1'}, {'begin_ps': -9000000, 'end_ps': 0, 'device': 'h1/gpu:0'}]}, {'id': 'transfer_h2d', 'severity': "          \
    "'warning', 'title': 'Copies', 'value': 1, 'unit': '%', 'limit': null, 'evidence': [], 'at_stake_ps': 0, "         \
    "'share_pct': null, 'cause': '', 'fix': [], 'where': [{'begin_ps': 46000000, 'end_ps': 48000000, 'device': "       \
    "'vm/gpu:0'}, {'begin_ps': 40000000, 'end_ps': 43000000, 'device': 'vm/gpu:0'}, {'begin_ps': 60000000, 'end_ps': " \
    "61000000, 'device': 'vm/gpu:0'}, {'begin_ps': 43000000, 'end_ps': 47000000, 'device': 'vm/gpu:0'}, {'begin_ps': " \
    "41000000, 'end_ps': 42000000, 'device': 'vm/gpu:1'}]}, {'id': 'fact', 'severity': 'info', "                       \
    "'title': '', 'value': null, 'unit': '', 'limit': null, 'evidence': [], 'at_stake_ps': 0, 'share_pct': null, "     \
    "'cause': '', 'fix': [], 'where': []}]}"

/* Two hosts, h1 from 20 us on. */
static tm_status take_hosts(struct rig *r)
{
    static const char *const names[] = { "vm", "h1" };
    tm_status st = TM_OK;

    for (uint32_t host = 0; host < 2 && st == TM_OK; host++) {
        const int64_t start_ps = host * 20 * US;

        r->trace.host = host;
        r->trace.device_count = 0;
        (void)snprintf(r->trace.host_name, sizeof(r->trace.host_name), "%s", names[host]);
        for (uint32_t i = 0; i < 2; i++)
            add_device(r, start_ps + 10 * US, start_ps + 90 * US);
        st = tm_derived_observer.begin_host(r->derived, &r->trace);
        if (st == TM_OK)
            st = take(r, TM_NONE, start_ps, 5 * US, INT64_MIN);
        for (uint32_t i = 0; i < 4 && st == TM_OK; i++)
            st = take(r, i % 2, start_ps + (10 + i / 2 * 60) * US, 20 * US, start_ps + i * US);
        if (st == TM_OK)
            st = tm_derived_observer.end_host(r->derived);
    }
    return st;
}

static tm_status take_all(struct rig *r)
{
    struct tm_doc *doc = tm_doc_new(r->run);
    tm_status st = doc ? take_hosts(r) : r->run->error.status;

    if (st == TM_OK) {
        test_summary_load(tm_doc_root(doc), SUMMARY);
        st = tm_doc_status(doc);
    }
    if (st == TM_OK)
        st = tm_derived_take_summary(r->derived, tm_doc_root(doc));
    tm_doc_free(doc);
    return st;
}

static void findings_stand_at_their_places(void **state)
{
    static struct tm_derived_row rows[ROWS_MOST];
    const struct tm_derived_row *row;
    struct tm_argument argument, text;
    struct tm_run run;
    struct rig r;

    (void)state;
    test_run_init(&run);
    OK(open_rig(&r, &run));
    OK(take_all(&r));
    assert_int_equal(rows_of(r.derived, 0, TM_DERIVED_FINDING, TM_NONE, rows), 1); /* without a place */
    assert_true(rows[0].start_ps == 10 * US && rows[0].end_ps == 90 * US);         /* to the end */
    assert_string_equal(text_of(r.names, rows[0].name), "finding");
    assert_int_equal(rows[0].row, TM_DERIVED_INFO);
    assert_int_equal(rows_of(r.derived, 1, TM_DERIVED_FINDING, TM_NONE, rows), 1);
    assert_int_equal(rows[0].start_ps, 50 * US);
    assert_int_equal(rows_of(r.derived, 1, TM_DERIVED_FINDING, 0, rows), 1);
    assert_true(rows[0].start_ps == 20 * US && rows[0].end_ps == 20 * US);   /* nothing is recorded before */
    assert_int_equal(rows_of(r.derived, 0, TM_DERIVED_FINDING, 1, rows), 2); /* of two findings */
    tm_derived_begin(r.derived, 0);
    do {
        row = tm_derived_next(r.derived);
        assert_non_null(row);
    } while (row->sort != TM_DERIVED_FINDING || row->device != 1);
    assert_true(row->start_ps == 30 * US && row->end_ps == 32 * US);
    assert_string_equal(text_of(r.names, row->name), "critical, gpu:1: It waits"); /* the host has two devices */
    assert_int_equal(row->row, TM_DERIVED_CRITICAL);
    assert_string_equal(argument_text(r.names, row->arguments, "id"), "idle_input");
    assert_string_equal(argument_text(r.names, row->arguments, "severity"), "critical");
    assert_string_equal(argument_text(r.names, row->arguments, "unit"), "%");
    assert_string_equal(argument_text(r.names, row->arguments, "device"), "vm/gpu:1");
    assert_string_equal(argument_text(r.names, row->arguments, "cause"), "because");
    assert_int_equal(number_of(r.names, row, "at_stake_ns"), 7000);
    assert_int_equal(number_of(r.names, row, "length_ns"), 2000);
    assert_false(find_argument(r.names, row->arguments, "limit", &argument));
    assert_true(find_argument(r.names, row->arguments, "value", &argument) && argument.real == 21.5);
    assert_true(find_argument(r.names, row->arguments, "evidence", &argument));
    assert_true(tm_arguments_next(&argument.inside, false, &text));
    assert_true(tm_arguments_next(&argument.inside, false, &text));
    assert_string_equal(text_of(r.names, (tm_strid)text.value), "a text that is longer than twenty-four bytes");
    assert_false(tm_arguments_next(&argument.inside, false, &text));
    close_rig(&r);
}

/* The first and the second one touch through the fourth; those of another device and of another time stay apart. */
static void places_of_a_finding_that_meet_are_one(void **state)
{
    static struct tm_derived_row rows[ROWS_MOST];
    const struct tm_derived_row *row;
    struct tm_run run;
    struct rig r;

    (void)state;
    test_run_init(&run);
    OK(open_rig(&r, &run));
    OK(take_all(&r));
    assert_int_equal(rows_of(r.derived, 0, TM_DERIVED_FINDING, 0, rows), 2);
    assert_true(rows[0].start_ps == 40 * US && rows[0].end_ps == 48 * US);
    assert_true(rows[1].start_ps == 60 * US && rows[1].end_ps == 61 * US);
    assert_int_equal(rows_of(r.derived, 0, TM_DERIVED_FINDING, 1, rows), 2); /* with that of the other finding */
    assert_true(rows[1].start_ps == 41 * US && rows[1].end_ps == 42 * US);
    tm_derived_begin(r.derived, 0);
    do {
        row = tm_derived_next(r.derived);
        assert_non_null(row);
    } while (row->sort != TM_DERIVED_FINDING || row->device != 0);
    assert_int_equal(number_of(r.names, row, "length_ns"), 8000);
    close_rig(&r);
}

static void the_run_is_told_over_all_events_of_each_host(void **state)
{
    const struct tm_derived_row *row;
    struct tm_argument argument;
    struct tm_run run;
    struct rig r;

    (void)state;
    test_run_init(&run);
    OK(open_rig(&r, &run));
    OK(take_all(&r));
    for (uint32_t host = 0; host < 2; host++) {
        tm_derived_begin(r.derived, host);
        do {
            row = tm_derived_next(r.derived);
            assert_non_null(row);
        } while (row->sort != TM_DERIVED_FACTS);
        assert_int_equal(row->start_ps, host * 20 * US);
        assert_true(row->end_ps > row->start_ps);
        assert_string_equal(text_of(r.names, row->name), host ? "run" : "Well done."); /* once */
        assert_string_equal(argument_text(r.names, row->arguments, "run"), "nightly");
        assert_string_equal(argument_text(r.names, row->arguments, "host"), host ? "h1" : "vm");
        assert_string_equal(argument_text(r.names, row->arguments, "jax"), host ? "0.4.2" : "0.4.1");
        assert_string_equal(argument_text(r.names, row->arguments, "verdict"), "Well done.");
        assert_false(find_argument(r.names, row->arguments, "rocm", &argument));
        assert_true(find_argument(r.names, row->arguments, "key_figures", &argument));
        assert_string_equal(argument_text(r.names, argument.inside, "Utilization"), "92.5%");
        assert_string_equal(argument_text(r.names, argument.inside, "None"), "");
        assert_true(find_argument(r.names, row->arguments, "devices", &argument));
        assert_int_equal(argument.inside.length > 0, !host);
    }
    close_rig(&r);
}

/* --- order --- */

/* As text: what must not depend on memory. */
static uint64_t digest(struct rig *r, uint32_t host, uint64_t *count)
{
    const struct tm_derived_row *row;
    struct tm_derived_row before = { .start_ps = INT64_MIN };
    uint64_t sum = 0;

    tm_derived_begin(r->derived, host);
    for (*count = 0;; ++*count) {
        row = tm_derived_next(r->derived);
        if (!row)
            return sum;
        assert_int_equal(row->host, host);
        assert_true(row->start_ps > before.start_ps ||
                    (row->start_ps == before.start_ps &&
                     (row->end_ps < before.end_ps || (row->end_ps == before.end_ps && row->sort >= before.sort))));
        before = *row;
        sum ^= (uint64_t)row->start_ps * 31 + (uint64_t)row->end_ps * 7 + (uint64_t)(row->value * 1000) + row->device;
        (void)next_number(&sum);
    }
}

static void hosts_are_given_out_as_often_as_wanted(void **state)
{
    uint64_t counts[2], sums[2], again;
    struct tm_run run;
    struct rig r;

    (void)state;
    test_run_init(&run);
    OK(open_rig(&r, &run));
    OK(take_all(&r));
    for (uint32_t host = 0; host < 2; host++)
        sums[host] = digest(&r, host, &counts[host]);
    assert_true(counts[0] > 8 && counts[1] > 8 && sums[0] != sums[1]);
    assert_int_equal(digest(&r, 1, &again), sums[1]);
    assert_int_equal(again, counts[1]);
    assert_int_equal(digest(&r, 0, &again), sums[0]);
    (void)digest(&r, 2, &again); /* there is none */
    assert_int_equal(again, 0);
    tm_derived_begin(r.derived, 0); /* and left at once */
    assert_int_equal(digest(&r, 1, &again), sums[1]);
    assert_int_equal(again, counts[1]);
    close_rig(&r);
}

/* --- memory --- */

static uint64_t fill(size_t memory_mib, uint64_t *count)
{
    static const char *const causes[] = { "launch", "input" };
    const struct tm_idle_gap gap = { .end_ps = 12 * US, .step = TM_NONE, .cause = 1, .part_names = causes };
    uint64_t seed = 7, sum;
    struct tm_run run;
    struct rig r;

    test_run_init(&run);
    tm_budget_init(&run.budget, memory_mib * TM_MIB);
    OK(open_rig(&r, &run));
    for (uint32_t i = 0; i < RIG_DEVICES; i++)
        add_device(&r, 0, 200000 * 3 * US + 9 * US);
    OK(tm_derived_observer.begin_host(r.derived, &r.trace));
    for (int64_t i = 0; i < 200000; i++) {
        struct tm_idle_gap one = gap;

        OK(take(&r, (uint32_t)(i % RIG_DEVICES), i * 3 * US, (int64_t)(next_number(&seed) % (9 * US)),
                (i - (int64_t)(next_number(&seed) % 500)) * 3 * US));
        one.device = (uint32_t)(i % RIG_DEVICES);
        one.start_ps = i * 3 * US;
        one.end_ps += one.start_ps;
        if (i % 4 == 0)
            OK(tm_derived_observer.take_gap(r.derived, &one));
    }
    OK(tm_derived_observer.end_host(r.derived));
    sum = digest(&r, 0, count);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_MODEL] <= tm_budget_share(&run.budget, TM_ACCOUNT_MODEL) / 2);
    assert_int_equal(run.budget.spilled_bytes > 0, memory_mib == TM_MEMORY_LEAST_MIB);
    close_rig(&r);
    return sum;
}

static void the_least_memory_gives_the_same_rows(void **state)
{
    uint64_t few, many;
    const uint64_t sum = fill(TM_MEMORY_LEAST_MIB, &few);

    (void)state;
    assert_int_equal(fill(1024, &many), sum);
    assert_int_equal(few, many);
    assert_true(few > 50000);
}

static tm_status job(struct tm_run *run)
{
    struct rig r;
    tm_status st = open_rig(&r, run);

    if (st == TM_OK)
        st = take_all(&r);
    for (uint32_t host = 0; host < 2 && st == TM_OK; host++) {
        tm_derived_begin(r.derived, host);
        while (tm_derived_next(r.derived))
            ;
        st = run->error.status;
    }
    tm_derived_free(r.derived);
    tm_names_free(r.names);
    return st;
}

static void refused_memory_is_an_error(void **state)
{
    (void)state;
    refuse_each_request(job);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_as_counted_slowly),
        cmocka_unit_test(devices_may_take_turns),
        cmocka_unit_test(one_long_activity_is_two_rows),
        cmocka_unit_test(a_tpu_that_waits_is_not_busy),
        cmocka_unit_test(gaps_are_those_of_the_summary),
        cmocka_unit_test(short_gaps_are_left_out),
        cmocka_unit_test(steps_are_those_of_the_host_and_of_each_device),
        cmocka_unit_test(findings_stand_at_their_places),
        cmocka_unit_test(places_of_a_finding_that_meet_are_one),
        cmocka_unit_test(the_run_is_told_over_all_events_of_each_host),
        cmocka_unit_test(hosts_are_given_out_as_often_as_wanted),
        cmocka_unit_test(the_least_memory_gives_the_same_rows),
        cmocka_unit_test(refused_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
