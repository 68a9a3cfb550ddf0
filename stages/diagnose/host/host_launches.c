/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices tell of the host: who launched their work, how long before, and when nothing was launched.
 * Memory: launches of the present host by their call, in groups that spill.  The stretches without launched work of a
 * device are a stack, because an activity may turn out to have been launched long before it began: it takes away what
 * lies behind its launch.  Each stretch comes once and goes once; all stacks share one array of rows, which spills. */
#include <string.h>

#include "stages/diagnose/host/host_private.h"

static void merge_launches(void *into, const void *from)
{
    struct launch_row *a = into;
    const struct launch_row *b = from;

    if (b->first_begin_ps < a->first_begin_ps)
        a->first_begin_ps = b->first_begin_ps;
}

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
    h->launches = tm_groups_new(h->run, TM_ACCOUNT_TABLES, sizeof(struct launch_row),
                                host_memory(h->run, HOST_LAUNCHES), merge_launches);
    h->stretches = tm_rows_new_paged(h->run, TM_ACCOUNT_TABLES, sizeof(struct empty_row),
                                     host_memory(h->run, HOST_STRETCHES), 8 << 10);
    h->unused_stretch = 0;
    if (!h->launches || !h->stretches)
        return h->run->error.status;
    return h->trace->device_count ? open_lanes(h) : TM_OK;
}

void host_free_launches(struct host *h)
{
    tm_groups_free(h->launches);
    tm_rows_free(h->stretches);
    tm_give(&h->run->budget, TM_ACCOUNT_TABLES, h->lanes, h->lanes ? h->lane_count * sizeof(*h->lanes) : 0);
    h->launches = NULL;
    h->stretches = NULL;
    h->lanes = NULL;
    h->lane_count = 0;
}

/* --- stretches without launched work --- */

static tm_status push_stretch(struct host *h, struct empty_lane *lane, int64_t begin_ps, int64_t end_ps)
{
    const struct empty_row row = { begin_ps, end_ps, lane->top };
    struct empty_row *unused;

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
            return TM_OK;
        }
        lane->top = row->below;
        row->below = h->unused_stretch;
        h->unused_stretch = number;
    }
    return TM_OK;
}

/* A gap ends, if the activity begins behind everything before it. */
static tm_status note_gap(struct host *h, struct empty_lane *lane, int64_t start_ps)
{
    const int64_t end_ps = start_ps < lane->end_ps ? start_ps : lane->end_ps;

    if (start_ps <= lane->until_ps)
        return TM_OK;
    lane->gap_begin_ps = lane->until_ps;
    lane->gap_end_ps = start_ps;
    return end_ps > lane->until_ps ? push_stretch(h, lane, lane->until_ps, end_ps) : TM_OK;
}

/* From when on an activity waited.  Of one whose launch is not known it may have been all of the gap before it. */
static int64_t waits_from(const struct empty_lane *lane, const struct tm_event *event)
{
    const int64_t start_ps = event->record.start_ps;

    if (event->launch_track == TM_NONE)
        return start_ps == lane->gap_end_ps ? lane->gap_begin_ps : start_ps;
    return event->launch_start_ps < start_ps ? event->launch_start_ps : start_ps;
}

/* --- events --- */

tm_status host_take_activity(struct host *h, const struct tm_event *event)
{
    struct empty_lane *lane = event->device < h->lane_count ? &h->lanes[event->device] : NULL;
    /* calls without length may begin with the next one */
    const uint64_t call = (uint64_t)event->launch_dur_ps << 32 ^ event->launch_track;
    const struct launch_row launch = { .key = { call, (uint64_t)event->launch_start_ps },
                                       .first_begin_ps = event->record.start_ps };
    const int64_t end_ps = tm_sum_times(event->record.start_ps, event->record.dur_ps);
    tm_status st;

    if (!lane || !lane->is_used)
        return TM_OK;
    st = note_gap(h, lane, event->record.start_ps);
    if (st == TM_OK)
        st = cut_stretches(h, lane, waits_from(lane, event));
    if (end_ps > lane->until_ps)
        lane->until_ps = end_ps;
    if (st != TM_OK || !event->chosen)
        return st;
    if (event->launch_track != TM_NONE)
        return tm_groups_add(h->launches, &launch);
    h->unlaunched = tm_sum_counts(h->unlaunched, 1);
    return TM_OK;
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

static tm_status count_launches(struct host *h)
{
    const void *next = NULL;
    tm_status st = tm_groups_finish(h->launches);

    while (st == TM_OK && (st = tm_groups_next(h->launches, &next)) == TM_OK && next) {
        const struct launch_row *row = next;
        const int64_t begin_ps = (int64_t)row->key.low;
        const struct delay_row delay = { .key = { 0, (uint64_t)(row->first_begin_ps - begin_ps) }, .count = 1 };

        h->launch_count = tm_sum_counts(h->launch_count, 1);
        if (row->first_begin_ps < begin_ps)
            h->negative_delays = tm_sum_counts(h->negative_delays, 1);
        else
            st = tm_groups_add(h->delays, &delay);
    }
    return st;
}

tm_status host_end_launches(struct host *h)
{
    tm_status st = count_launches(h);

    for (uint32_t i = 0; i < h->lane_count && st == TM_OK; i++)
        st = count_stretches(h, i);
    host_free_launches(h);
    return st;
}
