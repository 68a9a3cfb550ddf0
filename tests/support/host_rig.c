/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/host_rig.h"

#include <stdio.h>

#include "stages/resolve/classes.h"

#define US INT64_C(1000000)

static const struct tm_config no_config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };

static tm_status add_tracks(struct bench *b)
{
    static const char *const names[RIG_TRACKS] = { "main", "worker", "Stream #1" };

    for (uint32_t i = 0; i < RIG_TRACKS; i++) {
        const struct tm_track track = { .name = bench_name(b, names[i]),
                                        .id = i,
                                        .device = TM_NONE,
                                        .side = i == RIG_STREAM ? TM_SIDE_DEVICE : TM_SIDE_HOST,
                                        .thread = i };

        tm_rows_append(b->trace.tracks, &track);
    }
    return b->run->error.status;
}

tm_status host_rig_open(struct host_rig *r, const struct tm_stage_type *type)
{
    struct bench *b = &r->bench;
    tm_status st = bench_open(b, &r->run, type);

    if (st != TM_OK)
        return st;
    (void)snprintf(b->trace.host_name, sizeof(b->trace.host_name), "h0");
    b->trace.launch_numbers = RIG_LAUNCHES;
    b->trace.tracks = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), 1 << 16);
    b->trace.steps.marks = tm_rows_new(&r->run, TM_ACCOUNT_METADATA, sizeof(struct tm_step_mark), 1 << 16);
    if (!b->trace.tracks || !b->trace.steps.marks)
        return r->run.error.status;
    for (int64_t i = 0; i < BENCH_STEPS; i++) {
        const struct tm_step_mark mark = {
            .number = i, .start_ps = i * 100 * US, .dur_ps = 80 * US, .complete = 1, .chosen = 1
        };

        tm_rows_append(b->trace.steps.marks, &mark);
    }
    return add_tracks(b);
}

void host_rig_close(struct host_rig *r)
{
    tm_rows_free(r->bench.trace.tracks);
    tm_rows_free(r->bench.trace.steps.marks);
    bench_close(&r->bench);
}

struct tm_event host_rig_span(struct host_rig *r, uint32_t track, const char *name, enum tm_class class,
                              int64_t start_us, int64_t dur_us)
{
    struct tm_event event = bench_event(bench_name(&r->bench, name), class, &no_config, start_us * US, dur_us * US);

    event.record.track = track;
    event.traits = tm_traits_of(name, __builtin_strlen(name));
    event.device = event.step = TM_NONE;
    event.level = TM_LEVEL_NONE;
    event.chosen = false;
    event.thread = track;
    return event;
}

struct tm_event host_rig_work(struct host_rig *r, uint32_t device, enum tm_class class, int64_t start_us,
                              int64_t dur_us, int64_t launch_us)
{
    struct tm_event event = bench_event(bench_name(&r->bench, "work"), class, &no_config, start_us * US, dur_us * US);

    event.record.track = RIG_STREAM;
    event.device = device;
    if (launch_us >= 0) {
        event.launch = (uint64_t)launch_us + 1;
        event.launch_track = RIG_MAIN;
        event.launch_thread = RIG_MAIN;
        event.launch_start_ps = launch_us * US;
        event.launch_dur_ps = US;
    }
    return event;
}
