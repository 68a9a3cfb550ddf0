/* SPDX-License-Identifier: Apache-2.0 */
/* Trips of data to the host and back: a device stands still between the end of a copy to the host and the begin of a
 * copy from it, in one step, and the host launches the second one in between: it did something with the data. */
#include <string.h>

#include "stages/diagnose/host/fallback_private.h"

static void count_trip(struct fallback *f, const struct trip_lane *lane, const struct tm_event *event)
{
    struct tm_stretch trip = { .begin_ps = lane->gap_begin_ps, .dur_ps = lane->gap_end_ps - lane->gap_begin_ps,
                               .host = f->trace->host };

    if (lane->d2h_bytes && event->config->has_copy_bytes)
        trip.bytes = tm_sum_counts(lane->d2h_bytes, event->config->copy_bytes);
    else
        f->trips_of_unknown_bytes = tm_sum_counts(f->trips_of_unknown_bytes, 1);
    memcpy(trip.device, f->trace->devices[event->device].id, sizeof(trip.device));
    f->trip_count = tm_sum_counts(f->trip_count, 1);
    f->trip_ps = tm_sum_times(f->trip_ps, trip.dur_ps);
    f->trip_bytes = tm_sum_counts(f->trip_bytes, trip.bytes);
    tm_stretches_add(f->trips, &f->trips_listed, FALLBACK_TRIPS, &trip);
}

/* The copy from the host that ends the gap. */
static bool is_back(const struct trip_lane *lane, const struct tm_event *event)
{
    return event->level == TM_LEVEL_H2D && event->chosen && event->record.start_ps == lane->gap_end_ps &&
           event->step == lane->d2h_step && event->launch_track != TM_NONE &&
           event->launch_start_ps >= lane->gap_begin_ps;
}

static void note_end(struct trip_lane *lane, const struct tm_event *event)
{
    const int64_t end_ps = tm_sum_times(event->record.start_ps, event->record.dur_ps);
    const bool is_d2h = event->level == TM_LEVEL_D2H && event->chosen;

    if (end_ps < lane->until_ps)
        return;
    if (end_ps > lane->until_ps)
        lane->ends_in_d2h = false;
    lane->until_ps = end_ps;
    if (!is_d2h)
        return;
    lane->ends_in_d2h = true;
    lane->d2h_step = event->step;
    lane->d2h_bytes = event->config->has_copy_bytes ? event->config->copy_bytes : 0;
}

static tm_status count_host_op(struct fallback *f, const struct tm_event *event)
{
    const struct tm_config *config = event->config;
    const struct fallback_row row = { .name = config->hlo_op ? config->hlo_op : event->record.name,
                                      .op = config->op, .sort = FALLBACK_HOST_OP };

    return fallback_count(f, &row, event->record.start_ps, event->record.dur_ps);
}

/* An op of the device that works with the host, as its HLO tells. */
static tm_status take_op(struct fallback *f, const struct tm_event *event)
{
    const struct tm_hlo_op *op;
    const tm_status st = tm_trace_hlo(f->trace, event->config, &op);

    return op && op->is_host ? count_host_op(f, event) : st;
}

tm_status fallback_take_activity(struct fallback *f, const struct tm_event *event)
{
    struct trip_lane *lane = event->device < f->lane_count ? &f->lanes[event->device] : NULL;
    const int64_t start_ps = event->record.start_ps;

    if (!lane || !lane->is_used)
        return TM_OK;
    if (event->level != TM_LEVEL_NONE) {
        if (start_ps > lane->until_ps) {
            lane->is_after_d2h = lane->ends_in_d2h;
            lane->gap_begin_ps = lane->until_ps;
            lane->gap_end_ps = start_ps;
        }
        if (lane->is_after_d2h && is_back(lane, event)) {
            count_trip(f, lane, event);
            lane->is_after_d2h = false;
        }
        note_end(lane, event);
    }
    return event->chosen && f->has_host_op ? take_op(f, event) : TM_OK;
}
