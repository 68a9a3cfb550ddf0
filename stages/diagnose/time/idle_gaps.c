/* SPDX-License-Identifier: Apache-2.0 */
/* Why a device was idle: each gap's time is split by what the launching thread did.
 * source: docs/metrics.md, "Idle gaps" */
#include "stages/diagnose/time/device_time_private.h"

/* An activity that begins where the gap ends: of several the one that was launched first ends it. */
void note_activity_at_gap(struct lane *lane, const struct tm_event *event)
{
    struct open_gap *gap = &lane->gap;

    if (event->record.start_ps != gap->end_ps)
        return;
    if (!gap->after)
        gap->after = event->record.name;
    /* CPU ops have no launch of their own; the ops of an execution that has begun wait for each other, not for the
     * host. */
    gap->is_inside_run |= lane->device.kind == TM_DEVICE_CPU && event->record.correlation &&
                          event->record.correlation == lane->last_run && event->step == lane->last_step;
    if (event->launch_track == TM_NONE || (gap->has_launch && event->launch_start_ps >= gap->launch_start_ps))
        return;
    gap->has_launch = true;
    gap->launch_start_ps = event->launch_start_ps;
    gap->launch_dur_ps = event->launch_dur_ps;
    gap->launch_thread = event->launch_thread;
    gap->after = event->record.name;
}

/* The stretch before the launch belongs to what the launching thread did; where it recorded less than half of it,
 * or no launch is known, to what the main thread did. */
static tm_status split_before(struct device_time *d, const struct open_gap *gap, int64_t from_ps, int64_t until_ps,
                              int64_t parts[TM_CAUSE_COUNT], tm_strid names[TM_CAUSE_COUNT])
{
    const int64_t length_ps = until_ps - from_ps;
    tm_status st;

    if (gap->has_launch) {
        st = tm_host_threads_ask(d->threads, gap->launch_thread, from_ps, until_ps, parts, names);
        if (st != TM_OK || parts[TM_CAUSE_UNRECORDED] <= length_ps - parts[TM_CAUSE_UNRECORDED])
            return st;
        for (int i = 0; i < TM_CAUSE_COUNT; i++) {
            parts[i] = 0;
            names[i] = 0;
        }
    }
    return tm_host_threads_ask(d->threads, d->trace->main_thread, from_ps, until_ps, parts, names);
}

/* The cause of all of a gap that has but one, which no thread has to be asked for; TM_CAUSE_COUNT = none such. */
static enum tm_cause sole_cause(const struct open_gap *gap)
{
    if (gap->is_inside_run)
        return TM_CAUSE_DEVICE_WAIT;
    if (!gap->has_launch || gap->launch_start_ps >= gap->begin_ps)
        return TM_CAUSE_COUNT;
    return gap->launch_start_ps + gap->launch_dur_ps <= gap->begin_ps ? TM_CAUSE_DEVICE_WAIT : TM_CAUSE_LAUNCH;
}

/* The causes of a gap from a time in it on. */
static tm_status split(struct device_time *d, const struct open_gap *gap, int64_t from_ps,
                       int64_t parts[TM_CAUSE_COUNT], tm_strid names[TM_CAUSE_COUNT])
{
    int64_t until_ps = gap->end_ps;
    tm_status st;

    if (gap->has_launch && gap->launch_start_ps < until_ps)
        until_ps = gap->launch_start_ps > from_ps ? gap->launch_start_ps : from_ps;
    st = split_before(d, gap, from_ps, until_ps, parts, names);
    parts[TM_CAUSE_LAUNCH] += gap->end_ps - until_ps;
    return st;
}

static bool is_longer(int64_t dur_a, int64_t begin_a, int64_t dur_b, int64_t begin_b)
{
    return dur_a != dur_b ? dur_a > dur_b : begin_a < begin_b;
}

/* Keep the longest ones in order: the list is short. */
static void list_of_lane(struct lane *lane, int64_t begin_ps, int64_t dur_ps)
{
    uint32_t at = lane->longest_count;

    while (at && is_longer(dur_ps, begin_ps, lane->longest[at - 1].dur_ps, lane->longest[at - 1].begin_ps))
        at--;
    if (at == LANE_GAPS)
        return;
    if (lane->longest_count < LANE_GAPS)
        lane->longest_count++;
    for (uint32_t i = lane->longest_count - 1; i > at; i--)
        lane->longest[i] = lane->longest[i - 1];
    lane->longest[at] = (struct short_gap){ begin_ps, dur_ps };
}

/* Where a gap goes among the longest ones of the run; RUN_GAPS = nowhere. */
static uint32_t place_in_run(const struct device_time *d, const struct listed_gap *gap)
{
    uint32_t at = d->longest_count;

    while (at && is_longer(gap->dur_ps, gap->begin_ps, d->longest[at - 1].dur_ps, d->longest[at - 1].begin_ps))
        at--;
    return at;
}

void list_gap(struct device_time *d, const struct listed_gap *gap)
{
    const uint32_t at = place_in_run(d, gap);

    if (at == RUN_GAPS)
        return;
    if (d->longest_count < RUN_GAPS)
        d->longest_count++;
    for (uint32_t i = d->longest_count - 1; i > at; i--)
        d->longest[i] = d->longest[i - 1];
    d->longest[at] = *gap;
}

static tm_status list_of_run(struct device_time *d, const struct listed_gap *gap)
{
    struct listed_gap listed = *gap;

    if (place_in_run(d, gap) == RUN_GAPS)
        return TM_OK;
    if (gap->step != TM_NONE) {
        const struct tm_step_mark *mark = tm_rows_at(d->trace->steps.marks, gap->step);

        if (!mark)
            return d->run->error.status;
        listed.step_number = mark->number;
    }
    list_gap(d, &listed);
    return TM_OK;
}

static enum tm_cause largest(const int64_t parts[TM_CAUSE_COUNT])
{
    enum tm_cause best = 0;

    for (int i = 1; i < TM_CAUSE_COUNT; i++)
        if (parts[i] > parts[best])
            best = (enum tm_cause)i;
    return best;
}

static tm_status show_gap(const struct device_time *d, const struct lane *lane, const struct listed_gap *gap)
{
    const struct tm_idle_gap shown = { .host = d->trace->host, .device = lane->device.index, .begin_ps = gap->begin_ps,
                                       .end_ps = gap->begin_ps + gap->dur_ps, .step = (uint32_t)gap->step,
                                       .before = gap->before, .after = gap->after, .host_event = gap->host_event,
                                       .cause = tm_cause_name[gap->cause] };

    return d->settings->take_gap(d->settings->gap_taker, &shown);
}

/* One that is long enough to be shown: into the histogram and the lists. */
static tm_status list_long_gap(struct device_time *d, struct lane *lane, const struct listed_gap *gap)
{
    const int bucket = 63 - __builtin_clzll((unsigned long long)gap->dur_ps); /* of [2^bucket, 2^(bucket + 1)) */
    tm_status st;

    static_assert(HISTOGRAM_ROWS == 64, "a row for each power of two");
    lane->gap_count_min++;
    d->histogram[bucket].count++;
    d->histogram[bucket].total_ps = tm_sum_times(d->histogram[bucket].total_ps, gap->dur_ps);
    st = list_of_run(d, gap);
    return st == TM_OK && d->settings->take_gap ? show_gap(d, lane, gap) : st;
}

/* A gap inside what counts of the device.
 * in: cause    of the largest part
 *     wait_ps  the part in which launched work waited */
static void count_gap(struct device_time *d, struct lane *lane, int64_t from_ps, enum tm_cause cause, int64_t wait_ps)
{
    const int64_t dur_ps = lane->gap.end_ps - from_ps;

    lane->gap_count++;
    lane->gap_total_ps += dur_ps;
    lane->cause_counts[cause]++;
    list_of_lane(lane, from_ps, dur_ps);
    if (dur_ps < PAUSE_BELOW_PS && wait_ps) {
        d->pauses.count++;
        d->pauses.total_ps = tm_sum_times(d->pauses.total_ps, wait_ps);
    }
}

static struct listed_gap listed_from(const struct device_time *d, const struct lane *lane, int64_t from_ps)
{
    const struct open_gap *gap = &lane->gap;

    return (struct listed_gap){ .begin_ps = from_ps, .dur_ps = gap->end_ps - from_ps, .step = gap->step,
                                .lane = (uint32_t)(lane - d->lanes), .before = gap->before, .after = gap->after };
}

/* --- a gap is over --- */

/* Most gaps have one cause.
 * in: from_ps  from when on it counts of the device; its end or later = nothing of it */
static tm_status close_whole(struct device_time *d, struct lane *lane, int64_t from_ps, enum tm_cause cause)
{
    const struct open_gap *gap = &lane->gap;
    const int64_t dur_ps = gap->end_ps - from_ps;
    struct listed_gap listed;

    if (gap->step != TM_NONE) {
        struct time_parts *row = tm_rows_change(d->parts, lane->first_parts_row + gap->step);

        if (!row)
            return d->run->error.status;
        row->idle_ps[cause] += gap->end_ps - gap->step_begin_ps;
    }
    if (dur_ps <= 0)
        return TM_OK;
    lane->parts.idle_ps[cause] += dur_ps;
    count_gap(d, lane, from_ps, cause, cause == TM_CAUSE_DEVICE_WAIT ? dur_ps : 0);
    if (dur_ps < d->settings->gap_min_ps)
        return TM_OK;
    listed = listed_from(d, lane, from_ps);
    listed.cause = cause;
    listed.parts[cause] = dur_ps;
    return list_long_gap(d, lane, &listed);
}

/* What a gap costs from a time in it on. */
static tm_status cost_from(struct device_time *d, const struct lane *lane, int64_t from_ps, struct listed_gap *listed)
{
    tm_strid names[TM_CAUSE_COUNT] = { 0 };
    tm_status st;

    *listed = listed_from(d, lane, from_ps);
    st = split(d, &lane->gap, from_ps, listed->parts, names);
    listed->cause = largest(listed->parts);
    listed->host_event = names[listed->cause];
    return st;
}

static tm_status add_to_step(struct device_time *d, const struct lane *lane, const struct listed_gap *part)
{
    struct time_parts *row = tm_rows_change(d->parts, lane->first_parts_row + part->step);

    if (!row)
        return d->run->error.status;
    for (int i = 0; i < TM_CAUSE_COUNT; i++)
        row->idle_ps[i] += part->parts[i];
    return TM_OK;
}

/* The same of one whose causes the threads tell. */
static tm_status close_split(struct device_time *d, struct lane *lane, int64_t from_ps)
{
    const struct open_gap *gap = &lane->gap;
    const bool counts = from_ps < gap->end_ps, has_step = gap->step != TM_NONE;
    struct listed_gap listed;
    tm_status st = TM_OK;

    if (has_step)
        st = cost_from(d, lane, gap->step_begin_ps, &listed);
    if (st == TM_OK && has_step)
        st = add_to_step(d, lane, &listed);
    if (st == TM_OK && counts && (!has_step || gap->step_begin_ps != from_ps))
        st = cost_from(d, lane, from_ps, &listed);
    if (st != TM_OK || !counts)
        return st;
    for (int i = 0; i < TM_CAUSE_COUNT; i++)
        lane->parts.idle_ps[i] += listed.parts[i];
    count_gap(d, lane, from_ps, listed.cause, listed.parts[TM_CAUSE_DEVICE_WAIT]);
    return listed.dur_ps < d->settings->gap_min_ps ? TM_OK : list_long_gap(d, lane, &listed);
}

tm_status close_gap(struct device_time *d, struct lane *lane)
{
    struct open_gap *gap = &lane->gap;
    const enum tm_cause cause = sole_cause(gap);
    int64_t from_ps = gap->begin_ps > lane->begin_ps ? gap->begin_ps : lane->begin_ps;

    gap->is_open = false;
    if (gap->end_ps > lane->end_ps)
        from_ps = gap->end_ps;
    if (gap->has_launch && gap->launch_start_ps > gap->end_ps)
        tm_tally_add(&d->run->tallies, TM_TALLY_WRONG_CLOCK, 1);
    return cause == TM_CAUSE_COUNT ? close_split(d, lane, from_ps) : close_whole(d, lane, from_ps, cause);
}
