/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices tell of the host: who launched their work, how long before, and when nothing was launched.
 * Memory: a bit for each launch of the present host.  The stretches without launched work of a
 * device are a stack, because an activity may turn out to have been launched long before it began: it takes away what
 * lies behind its launch.  Each stretch comes once and goes once; all stacks share one array of rows.  Both spill. */
#include <string.h>

#include "stages/diagnose/host/host_private.h"

static tm_status open_lanes(struct host *h)
{
    const struct tm_trace *trace = h->trace;

    h->lanes =
        tm_take(&h->run->budget, TM_ACCOUNT_TABLES, trace->device_count * sizeof(*h->lanes), &h->run->error);
    if (!h->lanes)
        return h->run->error.status;
    h->lane_count = trace->device_count;
    for (uint32_t i = 0; i < h->lane_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        if (!device->activities)
            continue;
        h->has_cpu_device |= device->kind == TM_DEVICE_CPU;
        h->has_accelerator |= device->kind != TM_DEVICE_CPU;
        h->lanes[i] = (struct empty_lane){ .begin_ps = device->chosen_begin_ps,
                                           .end_ps = device->chosen_end_ps,
                                           .until_ps = device->chosen_begin_ps,
                                           .gap_begin_ps = device->chosen_begin_ps,
                                           .gap_end_ps = device->chosen_begin_ps,
                                           .is_used = device->kind != TM_DEVICE_CPU };
    }
    return TM_OK;
}

tm_status host_begin_launches(struct host *h)
{
    h->launched = tm_rows_new_paged(h->run, TM_ACCOUNT_TABLES, sizeof(uint64_t), host_memory(h->run, HOST_LAUNCHES),
                                    8 << 10);
    h->stretches = tm_rows_new_paged(h->run, TM_ACCOUNT_TABLES, sizeof(struct empty_row),
                                     host_memory(h->run, HOST_STRETCHES), 8 << 10);
    h->unused_stretch = 0;
    if (!h->launched || !h->stretches || tm_rows_resize(h->launched, h->trace->launch_numbers / 64 + 1) != TM_OK)
        return h->run->error.status;
    return h->trace->device_count ? open_lanes(h) : TM_OK;
}

void host_free_launches(struct host *h)
{
    tm_rows_free(h->launched);
    tm_rows_free(h->stretches);
    tm_give(&h->run->budget, TM_ACCOUNT_TABLES, h->lanes, h->lanes ? h->lane_count * sizeof(*h->lanes) : 0);
    h->launched = NULL;
    h->stretches = NULL;
    h->lanes = NULL;
    h->lane_count = 0;
}

/* --- stretches without launched work --- */

static tm_status push_stretch(struct host *h, struct empty_lane *lane, int64_t begin_ps, int64_t end_ps)
{
    const struct empty_row row = { begin_ps, end_ps, lane->top };
    struct empty_row *unused;

    lane->top_end_ps = end_ps;
    if (!h->unused_stretch) {
        const tm_status st = tm_rows_append(h->stretches, &row);

        lane->top = tm_rows_count(h->stretches);
        return st;
    }
    unused = tm_rows_change(h->stretches, h->unused_stretch - 1);
    if (!unused)
        return h->run->error.status;
    lane->top = h->unused_stretch;
    h->unused_stretch = unused->below;
    *unused = row;
    return TM_OK;
}

/* Something waits from this time on: what lies behind it is no stretch without launched work. */
static tm_status cut_stretches(struct host *h, struct empty_lane *lane, int64_t from_ps)
{
    while (lane->top) {
        const uint64_t number = lane->top;
        struct empty_row *row = tm_rows_change(h->stretches, number - 1);

        if (!row)
            return h->run->error.status;
        if (row->begin_ps < from_ps) {
            if (row->end_ps > from_ps)
                row->end_ps = from_ps;
            lane->top_end_ps = row->end_ps;
            return TM_OK;
        }
        lane->top = row->below;
        row->below = h->unused_stretch;
        h->unused_stretch = number;
    }
    return TM_OK;
}

/* From when on an activity waited.  Of one whose launch is not known it may have been all of the gap before it. */
static int64_t waits_from(const struct empty_lane *lane, const struct tm_event *event)
{
    const int64_t start_ps = event->record.start_ps;

    if (event->launch_track == TM_NONE)
        return start_ps == lane->gap_end_ps ? lane->gap_begin_ps : start_ps;
    return event->launch_start_ps < start_ps ? event->launch_start_ps : start_ps;
}

/* A gap ends, if the activity begins behind everything before it.  Of it, and of those before it, stays what lies
 * before the time from which on the activity waited. */
static tm_status note_stretches(struct host *h, struct empty_lane *lane, const struct tm_event *event)
{
    const int64_t start_ps = event->record.start_ps;
    const int64_t counted_ps = start_ps < lane->end_ps ? start_ps : lane->end_ps;
    int64_t from_ps, end_ps;

    if (start_ps > lane->until_ps) {
        lane->gap_begin_ps = lane->until_ps;
        lane->gap_end_ps = start_ps;
    }
    from_ps = waits_from(lane, event);
    end_ps = from_ps < counted_ps ? from_ps : counted_ps;
    if (end_ps > lane->until_ps)
        return push_stretch(h, lane, lane->until_ps, end_ps);
    return lane->top && lane->top_end_ps > from_ps ? cut_stretches(h, lane, from_ps) : TM_OK;
}

/* --- events --- */

/* Activities come in the order of their begins: the first one of a launch tells its delay. */
static tm_status note_launch(struct host *h, const struct tm_event *event)
{
    const int64_t delay_ps = event->record.start_ps - event->launch_start_ps;
    const uint64_t bit = UINT64_C(1) << event->launch % 64;
    uint64_t *launched;

    if (event->launch_track == TM_NONE) {
        h->unlaunched = tm_sum_counts(h->unlaunched, 1);
        return TM_OK;
    }
    launched = tm_rows_change(h->launched, event->launch / 64);
    if (!launched)
        return h->run->error.status;
    if (*launched & bit)
        return TM_OK;
    *launched |= bit;
    h->launch_count = tm_sum_counts(h->launch_count, 1);
    if (delay_ps >= 0)
        return tm_lengths_add_at(h->delays, &h->delays_place, 0, (uint64_t)delay_ps);
    h->negative_delays = tm_sum_counts(h->negative_delays, 1);
    return TM_OK;
}

tm_status host_take_activity(struct host *h, const struct tm_event *event)
{
    struct empty_lane *lane = event->device < h->lane_count ? &h->lanes[event->device] : NULL;
    const int64_t end_ps = tm_sum_times(event->record.start_ps, event->record.dur_ps);
    tm_status st;

    if (!lane || !lane->is_used)
        return TM_OK;
    st = note_stretches(h, lane, event);
    if (end_ps > lane->until_ps)
        lane->until_ps = end_ps;
    return st == TM_OK && event->chosen ? note_launch(h, event) : st;
}

/* --- a host ends --- */

static tm_status count_stretches(struct host *h, uint32_t device)
{
    for (uint64_t at = h->lanes[device].top; at;) {
        const struct empty_row *row = tm_rows_at(h->stretches, at - 1);
        struct tm_stretch stretch = { .host = h->trace->host };

        if (!row)
            return h->run->error.status;
        stretch.begin_ps = row->begin_ps;
        stretch.dur_ps = row->end_ps - row->begin_ps;
        memcpy(stretch.device, h->trace->devices[device].id, sizeof(stretch.device));
        h->empty_count = tm_sum_counts(h->empty_count, 1);
        h->empty_ps = tm_sum_times(h->empty_ps, stretch.dur_ps);
        tm_stretches_add(h->empty, &h->empty_listed, HOST_EMPTY_LISTED, &stretch);
        at = row->below;
    }
    return TM_OK;
}

tm_status host_end_launches(struct host *h)
{
    tm_status st = TM_OK;

    for (uint32_t i = 0; i < h->lane_count && st == TM_OK; i++)
        st = count_stretches(h, i);
    host_free_launches(h);
    return st;
}
