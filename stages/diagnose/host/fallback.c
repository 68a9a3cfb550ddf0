/* SPDX-License-Identifier: Apache-2.0 */
/* What ran on the host although a device was there, the stage.  Memory: fixed per device of the present host and for
 * calls that are open; groups by name spill. */
#include "stages/diagnose/host/fallback.h"

#include <string.h>

#include "stages/diagnose/host/fallback_private.h"

static void merge_rows(void *into, const void *from)
{
    struct fallback_row *a = into;
    const struct fallback_row *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
    tm_longest_merge(&a->longest, &b->longest);
}

static tm_status open_stage(struct tm_stage *s)
{
    struct fallback *f = s->state;

    f->run = s->run;
    f->settings = s->settings;
    f->front = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, FALLBACK_FRONT * sizeof(*f->front), &s->run->error);
    f->rows = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct fallback_row),
                            fallback_memory(s->run, FALLBACK_ROWS), merge_rows);
    return f->front && f->rows ? TM_OK : s->run->error.status;
}

/* --- hosts --- */

static void give_lanes(struct fallback *f)
{
    tm_give(&f->run->budget, TM_ACCOUNT_TABLES, f->lanes, f->lanes ? f->lane_count * sizeof(*f->lanes) : 0);
    f->lanes = NULL;
    f->lane_count = 0;
}

static tm_status open_lanes(struct fallback *f)
{
    const struct tm_trace *trace = f->trace;

    f->lanes =
        tm_take(&f->run->budget, TM_ACCOUNT_TABLES, trace->device_count * sizeof(*f->lanes), &f->run->error);
    if (!f->lanes)
        return f->run->error.status;
    f->lane_count = trace->device_count;
    for (uint32_t i = 0; i < f->lane_count; i++) {
        const bool is_cpu = trace->devices[i].kind == TM_DEVICE_CPU, is_active = trace->devices[i].activities != 0;

        f->lanes[i] = (struct trip_lane){ .until_ps = INT64_MIN, .is_used = is_active && !is_cpu };
        f->is_accelerated |= is_active && !is_cpu;
        f->has_cpu_device |= is_active && is_cpu;
    }
    return TM_OK;
}

/* Whether the HLO tells of any op that works with the host. */
static tm_status look_for_host_ops(struct fallback *f)
{
    struct tm_rows *ops = f->trace->hlo_ops;

    f->has_host_op = false;
    for (uint64_t i = 0; i < tm_rows_count(ops) && !f->has_host_op; i++) {
        const struct tm_hlo_op *op = tm_rows_at(ops, i);

        if (!op)
            return f->run->error.status;
        f->has_host_op = op->is_host;
    }
    return TM_OK;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct fallback *f = s->state;
    tm_status st;

    f->trace = trace;
    f->names = trace->names;
    f->open_count = 0;
    f->is_accelerated = false;
    f->has_steps |= trace->steps.source != TM_STEPS_SESSION;
    memset(f->front, 0, FALLBACK_FRONT * sizeof(*f->front));
    st = look_for_host_ops(f);
    if (st == TM_OK)
        st = tm_find_host_window(trace, f->settings, &f->window);
    if (st == TM_OK && trace->device_count)
        st = open_lanes(f);
    f->has_accelerator |= f->is_accelerated;
    return st;
}

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct fallback *f = s->state;

    return tm_is_on_accelerator(f->trace, event) ? fallback_take_activity(f, event) : fallback_take_span(f, event);
}

static tm_status end_host(struct tm_stage *s)
{
    struct fallback *f = s->state;
    const tm_status st = fallback_close_callbacks(f, INT64_MAX);

    give_lanes(f);
    f->trace = NULL;
    return st;
}

static void close_stage(struct tm_stage *s)
{
    struct fallback *f = s->state;

    if (!f->run)
        return;
    give_lanes(f);
    tm_give(&f->run->budget, TM_ACCOUNT_TABLES, f->front, f->front ? FALLBACK_FRONT * sizeof(*f->front) : 0);
    tm_groups_free(f->rows);
}

const struct tm_stage_type tm_fallback_stage = {
    .name = "fallback",
    .summary = "what ran on the host although a device was there",
    .state_bytes = sizeof(struct fallback),
    .classes = TM_CLASSES_ALL,
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = tm_fallback_report,
    .save = tm_fallback_save,
    .load = tm_fallback_load,
    .close = close_stage,
};
