/* SPDX-License-Identifier: Apache-2.0 */
/* Device time, the stage: sweeps every device's activities in order, cuts the time at the boundaries of its steps, and
 * passes idle periods to idle_gaps.c.  Memory: fixed per device; rows per step spill.  The window of a lane is [begin,
 * end), the analyzed steps of its group; the rows per step are kept for all steps. */
#include "stages/figures/device_time.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pipeline/record.h"
#include "pipeline/stage.h"
#include "pipeline/store/sorter.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"

/* PARTS_PAGE: every device reads its own range of the rows.  CLOSINGS_PER_LANE: gaps that are closed before the horizon
 * moves, for each lane. */
enum { PARTS_PAGE = 4 << 10, CLOSINGS_PER_LANE = 8 };

static tm_status open_stage(struct tm_stage *s)
{
    struct device_time *d = s->state;
    const size_t share = tm_budget_share(&s->run->budget, TM_ACCOUNT_STEPS);

    d->run = s->run;
    d->settings = s->settings;
    d->steps = tm_rows_new(s->run, TM_ACCOUNT_STEPS, sizeof(struct step_line), share / 8);
    d->device_steps = tm_rows_new(s->run, TM_ACCOUNT_STEPS, sizeof(struct device_step), share / 16);
    d->path = tm_critical_path_new(d);
    return s->run->error.status;
}

/* --- a host starts --- */

static void add_host(struct device_time *d, const struct tm_trace *trace)
{
    struct host_facts *host = tm_device_time_new_host(d);

    if (!host)
        return;
    memcpy(host->name, trace->host_name, sizeof(host->name));
    host->is_json_copy = trace->origin == TM_ORIGIN_JSON_COPY;
    d->first_group = d->group_count;
    for (uint32_t i = 0; i == 0 || i < trace->group_count; i++) {
        struct group_facts *group = tm_device_time_new_group(d);

        if (!group)
            return;
        group->host = d->host_count - 1;
        group->first_lane = TM_NONE;
    }
    d->session |= d->settings->session_window;
}

/* The range over which the time of a lane is swept: all of its steps, and its window. */
static void find_extent(struct device_time *d, struct lane *lane)
{
    const struct tm_steps *steps = &d->trace->steps;

    tm_find_period(d, lane, &lane->period);
    lane->from_ps = has_window(lane) ? lane->start_ps : lane->device.first_ps;
    lane->until_ps = has_window(lane) ? lane->end_ps : lane->device.last_ps;
    if (!lane->period.exists)
        return;
    lane->from_ps = lane->period.start_ps < lane->from_ps ? lane->period.start_ps : lane->from_ps;
    for (uint64_t k = steps->count; k > 0; k--) {
        const struct tm_step_row *row = tm_rows_at(steps->rows, lane->first_step_row + k - 1);

        if (row->end_ps > row->start_ps) {
            lane->until_ps = row->end_ps > lane->until_ps ? row->end_ps : lane->until_ps;
            return;
        }
    }
}

/* All devices of its host have the same bins, over the activity of all of them. */
static void begin_bins(const struct tm_trace *trace, struct lane *lane)
{
    int64_t first_ps = lane->device.first_ps, last_ps = lane->device.last_ps;

    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        if (!device->activities)
            continue;
        first_ps = device->first_ps < first_ps ? device->first_ps : first_ps;
        last_ps = device->last_ps > last_ps ? device->last_ps : last_ps;
    }
    tm_busy_bins_init(&lane->bins, first_ps, last_ps);
    lane->waited_until_ps = INT64_MIN;
}

static void add_lane(struct device_time *d, const struct tm_device *device)
{
    struct lane *lane = tm_new_lane(d);
    struct group_facts *group;

    if (!lane)
        return;
    lane->device = *device;
    lane->host = d->host_count - 1;
    lane->group = d->first_group + device->group;
    begin_bins(d->trace, lane);
    lane->start_ps = device->chosen_begin_ps;
    lane->end_ps = device->chosen_end_ps;
    group = &d->groups[lane->group];
    if (group->first_lane == TM_NONE)
        group->first_lane = d->lane_count - 1;
    if (has_window(lane)) {
        group->devices++;
        group->start_ps = lane->start_ps;
        group->end_ps = lane->end_ps;
    }
    lane->first_step_row = device->first_step_row;
    lane->first_parts_row = (d->lane_count - 1 - d->first_lane) * d->trace->steps.count;
    lane->kernels.min_ps = INT64_MAX;
    lane->last_end_ps = INT64_MIN;
    find_extent(d, lane);
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct device_time *d = s->state;
    const size_t share = tm_budget_share(&s->run->budget, TM_ACCOUNT_STEPS);

    d->trace = trace;
    d->names = trace->names;
    d->first_lane = d->lane_count;
    memset(d->lane_by_device, 0xff, sizeof(d->lane_by_device)); /* TM_NONE */
    d->source = trace->steps.source;
    d->all = trace->steps.all;
    d->module = trace->steps.module;
    d->threads = tm_host_threads_new(s->run, trace);
    d->lengths = tm_call_lengths_new(s->run, trace->names);
    d->parts = tm_rows_new_paged(s->run, TM_ACCOUNT_STEPS, sizeof(struct time_parts), share / 8, PARTS_PAGE);
    if (!d->threads || !d->lengths || !d->parts)
        return s->run->error.status;
    add_host(d, trace);
    for (uint32_t i = 0; i < trace->device_count && !tm_failed(s->run); i++) {
        if (!trace->devices[i].activities)
            continue;
        d->lane_by_device[i] = d->lane_count;
        add_lane(d, &trace->devices[i]);
    }
    tm_rows_resize(d->parts, (d->lane_count - d->first_lane) * trace->steps.count);
    d->has_device_turn = false;
    d->host_ps = INT64_MIN;
    if (d->path)
        tm_critical_path_begin_host(d->path);
    return s->run->error.status;
}

/* --- events --- */

static void add_part(struct time_parts *parts, enum tm_level level, int64_t length_ps)
{
    switch (level) {
    case TM_LEVEL_COMPUTE:
    case TM_LEVEL_CONTAINER:
        parts->compute_ps += length_ps;
        break;
    case TM_LEVEL_COLLECTIVE:
        parts->exposed_collective_ps += length_ps;
        break;
    case TM_LEVEL_H2D:
    case TM_LEVEL_D2H:
    case TM_LEVEL_P2P:
    case TM_LEVEL_D2D:
    case TM_LEVEL_OTHER_COPY:
        parts->exposed_copy_ps[level - TM_LEVEL_H2D + TM_H2D] += length_ps;
        break;
    case TM_LEVEL_NONE:
        break;
    }
}

/* The sweep reaches a time: find the step that contains it, or the next one. */
static void find_period_at(struct device_time *d, struct lane *lane, int64_t at_ps)
{
    struct period *period = &lane->period;

    while (period->exists && at_ps >= period->end_ps) {
        period->ordinal++;
        tm_find_period(d, lane, period);
    }
}

/* --- cells --- */

/* Add the accumulated time to the current cell. */
static void settle_cell(struct device_time *d, struct lane *lane)
{
    struct cell *const cell = &lane->cell;
    struct time_parts *const row =
        cell->ordinal != TM_NONE ? tm_rows_change(d->parts, lane->first_parts_row + cell->ordinal) : NULL;

    for (int level = 0; level < TM_LEVEL_COUNT; level++) {
        const int64_t busy_ps = cell->busy_ps[level];

        if (!busy_ps)
            continue;
        if (cell->is_in_window)
            add_part(&lane->parts, (enum tm_level)level, busy_ps);
        if (row)
            add_part(row, (enum tm_level)level, busy_ps);
        if (cell->bin != TM_NONE)
            lane->bins.busy_ps[cell->bin] += busy_ps;
        cell->busy_ps[level] = 0;
    }
    cell->start_ps = cell->end_ps = 0;
}

static void end_at(struct cell *cell, int64_t at_ps)
{
    if (at_ps < cell->end_ps)
        cell->end_ps = at_ps;
}

/* The cell that contains a time. */
TM_NOT_INLINE void find_cell(struct device_time *d, struct lane *lane, int64_t at_ps)
{
    struct cell *const cell = &lane->cell;
    const struct period *const period = &lane->period;
    struct tm_busy_bins *const bins = &lane->bins;

    if (cell->start_ps < cell->end_ps)
        settle_cell(d, lane);
    find_period_at(d, lane, at_ps);
    *cell = (struct cell){ .start_ps = at_ps, .end_ps = INT64_MAX, .ordinal = TM_NONE, .bin = TM_NONE };
    if (period->exists && at_ps >= period->start_ps)
        cell->ordinal = period->ordinal;
    if (period->exists)
        end_at(cell, at_ps < period->start_ps ? period->start_ps : period->end_ps);
    cell->is_in_window = at_ps >= lane->start_ps && at_ps < lane->end_ps;
    if (at_ps < lane->end_ps)
        end_at(cell, at_ps < lane->start_ps ? lane->start_ps : lane->end_ps);
    if (at_ps < bins->start_ps) {
        end_at(cell, bins->start_ps);
    } else if (at_ps < bins->end_ps) {
        int64_t end_ps;

        cell->bin = tm_busy_bins_find(bins, at_ps, &end_ps);
        end_at(cell, end_ps);
    }
}

struct told {
    struct device_time *d;
    struct lane *lane;
};

/* in:     the lane's period is the one in which the gap starts, or the first one after that */
static inline void open_gap(struct lane *lane, int64_t start_ps, int64_t end_ps)
{
    struct open_gap *const gap = &lane->gap;

    gap->is_open = true;
    gap->is_inside_run = gap->has_launch = false;
    gap->start_ps = start_ps;
    gap->end_ps = end_ps;
    gap->period = lane->period;
    gap->before = lane->last_name;
    gap->after = 0;
}

/* A stretch continues from one cell to the next one. */
TM_NOT_INLINE void take_over_border(struct device_time *d, struct lane *lane, enum tm_level level, int64_t start_ps,
                                    int64_t end_ps)
{
    while (start_ps < end_ps && !tm_failed(d->run)) {
        int64_t to_ps = lane->cell.end_ps;

        if (start_ps < lane->cell.start_ps || start_ps >= to_ps) {
            find_cell(d, lane, start_ps);
            to_ps = lane->cell.end_ps;
        }
        to_ps = to_ps < end_ps ? to_ps : end_ps;
        lane->cell.busy_ps[level] += to_ps - start_ps;
        start_ps = to_ps;
    }
}

static inline tm_status take_stretch(void *to, enum tm_level level, int64_t start_ps, int64_t end_ps)
{
    struct told *told = to;
    struct lane *lane = told->lane;
    struct cell *const cell = &lane->cell;

    if (level != TM_LEVEL_NONE && start_ps >= cell->start_ps && end_ps <= cell->end_ps) {
        cell->busy_ps[level] += end_ps - start_ps;
    } else if (level != TM_LEVEL_NONE) {
        take_over_border(told->d, lane, level, start_ps, end_ps);
    } else {
        if (start_ps < cell->start_ps || start_ps >= cell->end_ps)
            find_period_at(told->d, lane, start_ps);
        open_gap(lane, start_ps, end_ps);
    }
    return TM_OK;
}

/* An activity that starts where the gap ends: of several, the one that was launched first ends it. */
static inline void note_activity(struct lane *lane, const struct tm_event *event)
{
    struct open_gap *gap = &lane->gap;

    if (event->record.start_ps != gap->end_ps)
        return;
    if (!gap->after)
        gap->after = event->record.name;
    /* CPU ops have no launch of their own; the ops of an execution that has started wait for each other, not for the
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

static inline void cover_add(struct cover *cover, const struct lane *lane, int64_t start_ps, int64_t end_ps)
{
    if (start_ps < lane->start_ps)
        start_ps = lane->start_ps;
    if (end_ps > lane->end_ps)
        end_ps = lane->end_ps;
    if (cover->has_begun && start_ps < cover->until_ps)
        start_ps = cover->until_ps;
    if (end_ps <= start_ps)
        return;
    cover->total_ps += end_ps - start_ps;
    cover->until_ps = end_ps;
    cover->has_begun = true;
}

/* A core that only waits is not busy; waits may overlap. */
static void take_wait_out(struct lane *lane, int64_t start_ps, int64_t end_ps)
{
    if (start_ps < lane->waited_until_ps)
        start_ps = lane->waited_until_ps;
    if (end_ps <= start_ps)
        return;
    tm_busy_bins_add(&lane->bins, start_ps, end_ps, -1);
    lane->waited_until_ps = end_ps;
}

/* in: bytes  of each event */
static void sum_add(struct sum *sum, const struct tm_site_sums *more, uint64_t bytes)
{
    uint64_t all;

    sum->count += more->count;
    sum->bytes = tm_sum_counts(sum->bytes, __builtin_mul_overflow(bytes, more->count, &all) ? UINT64_MAX : all);
    sum->total_ps = tm_sum_times(sum->total_ps, more->total_ps);
    if (more->min_ps < sum->min_ps)
        sum->min_ps = more->min_ps;
    if (more->max_ps > sum->max_ps)
        sum->max_ps = more->max_ps;
}

/* Counts and sums of activities of the analyzed steps. */
static void count_activities(const struct device_time *d, struct lane *lane, const struct tm_event *event,
                             const struct tm_site_sums *sums)
{
    const struct tm_config *c = event->config;
    const bool needs_details = d->trace->has_kernel_details;

    sum_add(&lane->activities, sums, 0);
    switch ((enum tm_class)event->record.class) {
    case TM_CLASS_COLLECTIVE:
        sum_add(&lane->collectives, sums, 0);
        break;
    case TM_CLASS_COPY:
        sum_add(&lane->copies, sums, c->copy_bytes);
        break;
    case TM_CLASS_MEMSET:
        sum_add(&lane->memsets, sums, c->copy_bytes);
        break;
    case TM_CLASS_GRAPH:
        sum_add(&lane->graphs, sums, 0);
        return;
    case TM_CLASS_TPU_OP:
    case TM_CLASS_CPU_OP:
        if (event->level == TM_LEVEL_COLLECTIVE)
            sum_add(&lane->collectives, sums, 0);
        else if (event->level >= TM_LEVEL_H2D && event->level <= TM_LEVEL_OTHER_COPY)
            sum_add(&lane->copies, sums, c->tpu_part == TM_TPU_START ? 0 : c->copy_bytes);
        sum_add(&lane->kernels, sums, 0);
        return;
    default:
        break;
    }
    if (needs_details ? (event->record.flags & TM_FLAG_KERNEL_DETAILS) != 0
                      : event->record.class == TM_CLASS_KERNEL || event->record.class == TM_CLASS_COLLECTIVE)
        sum_add(&lane->kernels, sums, 0);
}

/* Counts what TPU ops wait for or start. */
static void count_tpu_parts(struct lane *lane, const struct tm_event *event, const struct tm_site_sums *sums)
{
    const int sort = event->level == TM_LEVEL_COLLECTIVE;

    switch (event->config->tpu_part) {
    case TM_TPU_WAIT:
        sum_add(&lane->waits[sort], sums, 0);
        break;
    case TM_TPU_HOST_WAIT:
        sum_add(&lane->waits[2], sums, 0);
        sum_add(&lane->kernels, sums, 0); /* an op of its line, but not an activity */
        break;
    case TM_TPU_START:
        sum_add(&lane->starts[sort], sums, 0);
        break;
    default:
        break;
    }
}

/* A TPU op that waits. */
static void take_wait(struct lane *lane, const struct tm_event *event)
{
    const struct tm_record *r = &event->record;
    const int64_t end_ps = r->start_ps + r->dur_ps;

    switch (event->config->tpu_part) {
    case TM_TPU_WAIT:
        take_wait_out(lane, r->start_ps, end_ps);
        cover_add(&lane->wait, lane, r->start_ps, end_ps);
        cover_add(event->level == TM_LEVEL_COLLECTIVE ? &lane->wait_collective : &lane->wait_copy, lane, r->start_ps,
                  end_ps);
        break;
    case TM_TPU_HOST_WAIT:
        cover_add(&lane->wait_host, lane, r->start_ps, end_ps);
        break;
    default:
        break;
    }
}

static struct lane *lane_of(struct device_time *d, uint32_t device)
{
    const uint32_t lane = device < TM_DEVICES_MOST ? d->lane_by_device[device] : TM_NONE;

    return lane != TM_NONE ? &d->lanes[lane] : NULL;
}

static void take_activity(struct device_time *d, struct lane *lane, const struct tm_event *event)
{
    const struct tm_record *r = &event->record;
    const int64_t end_ps = r->start_ps + r->dur_ps;
    struct told told = { d, lane };

    tm_sweep_to(&lane->sweep, r->start_ps, take_stretch, &told);
    if (!lane->sweep.has_begun && lane->from_ps < r->start_ps)
        open_gap(lane, lane->from_ps, r->start_ps);
    if (lane->gap.is_open)
        note_activity(lane, event);
    tm_sweep_add(&lane->sweep, (enum tm_level)event->level, r->start_ps, end_ps);
    if (event->level == TM_LEVEL_COMPUTE || event->level == TM_LEVEL_CONTAINER) {
        cover_add(&lane->compute, lane, r->start_ps, end_ps);
        if (lane->device.kind == TM_DEVICE_TPU) /* nothing is in flight elsewhere */
            cover_add(&lane->flight_or_compute, lane, r->start_ps, end_ps);
    } else {
        cover_add(event->level == TM_LEVEL_COLLECTIVE ? &lane->collective : &lane->copy, lane, r->start_ps, end_ps);
    }
    if (end_ps >= lane->last_end_ps) {
        lane->last_end_ps = end_ps;
        lane->last_name = r->name;
        lane->last_run = r->correlation;
        lane->last_step = event->step;
    }
}

/* Before this time no lane has a gap that is not closed yet. */
static int64_t find_horizon(const struct device_time *d, int64_t now_ps)
{
    const int64_t path_ps = d->path ? tm_critical_path_horizon(d->path) : INT64_MAX;
    int64_t horizon_ps = now_ps < path_ps ? now_ps : path_ps;

    for (uint32_t i = d->first_lane; i < d->lane_count; i++) {
        const struct lane *lane = &d->lanes[i];

        if (lane->sweep.has_begun && tm_sweep_busy_until(&lane->sweep) < lane->until_ps) {
            const int64_t from_ps = lane->gap.is_open ? lane->gap.start_ps : lane->sweep.at_ps;

            horizon_ps = from_ps < horizon_ps ? from_ps : horizon_ps;
        } else if (!lane->sweep.has_begun && lane->from_ps < horizon_ps) {
            horizon_ps = lane->from_ps;
        }
    }
    return horizon_ps;
}

/* A gap whose end has passed is complete: nothing more of its device can start there.  The horizon moves once for
 * several of each lane, so its cost does not depend on their number. */
static void close_gap(struct device_time *d, struct lane *lane, int64_t now_ps)
{
    tm_idle_gaps_close(d, lane);
    if (!d->closings--) {
        d->closings = CLOSINGS_PER_LANE * (d->lane_count - d->first_lane);
        tm_host_threads_forget(d->threads, find_horizon(d, now_ps));
    }
}

static void take_calls(struct device_time *d, const struct tm_event *events, size_t count, uint32_t wanted)
{
    tm_host_threads_take(d->threads, events, count, wanted);
    tm_call_lengths_take(d->lengths, events, count, wanted);
}

static void take_of_device(struct device_time *d, struct lane *lane, const struct tm_event *event)
{
    if (event->record.class == TM_CLASS_TPU_ASYNC) {
        const int64_t dur_ps = event->record.dur_ps, end_ps = event->record.start_ps + dur_ps;
        const struct tm_site_sums one = { .count = 1, .total_ps = dur_ps, .min_ps = dur_ps, .max_ps = dur_ps };

        cover_add(&lane->flight, lane, event->record.start_ps, end_ps);
        cover_add(&lane->flight_or_compute, lane, event->record.start_ps, end_ps);
        lane->has_flights = true;
        /* a flight is in no step: those that start during the analyzed steps count */
        if (event->record.start_ps >= lane->start_ps && event->record.start_ps < lane->end_ps)
            sum_add(&lane->flights[event->config->level == TM_LEVEL_COLLECTIVE], &one, event->config->bytes_accessed);
        return;
    }
    if (lane->device.kind == TM_DEVICE_TPU)
        take_wait(lane, event);
    if (event->level == TM_LEVEL_NONE)
        return;
    take_activity(d, lane, event);
}

/* All devices take turns up to the host's current time: when the host continues, they have passed its last event. */
static void note_turn(struct device_time *d, const struct lane *lane, const struct tm_event *events, size_t count)
{
    if (!lane && d->path && d->has_device_turn && d->host_ps != INT64_MIN)
        tm_critical_path_reach(d->path, d->host_ps);
    if (!lane)
        d->host_ps = events[count - 1].record.start_ps;
    d->has_device_turn = lane != NULL;
}

static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    return event->thread != TM_NONE || lane_of(s->state, event->device);
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    struct device_time *d = s->state;
    struct lane *const lane = lane_of(d, events->device);

    note_turn(d, lane, events, count);
    if (!lane) {
        take_calls(d, events, count, s->bit);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct tm_event *const event = &events[i];

        if (!tm_wants(s, event))
            continue;
        if (lane->gap.is_open && event->record.start_ps > lane->gap.end_ps)
            close_gap(d, lane, event->record.start_ps);
        if (event->thread != TM_NONE)
            take_calls(d, event, 1, s->bit);
        take_of_device(d, lane, event);
    }
    if (d->path)
        tm_critical_path_take(d->path, (uint32_t)(lane - d->lanes) - d->first_lane, events, count, s->bit);
}

static void take_site(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct device_time *d = s->state;
    struct lane *lane = event->chosen ? lane_of(d, event->device) : NULL;

    if (!lane || event->record.class == TM_CLASS_TPU_ASYNC)
        return;
    if (lane->device.kind == TM_DEVICE_TPU)
        count_tpu_parts(lane, event, sums);
    if (event->record.class == TM_CLASS_GRAPH && event->level == TM_LEVEL_NONE)
        sum_add(&lane->graphs, sums, 0); /* the frame of kernels that count themselves */
    if (event->level != TM_LEVEL_NONE)
        count_activities(d, lane, event, sums);
}

/* --- a host ends --- */

static void keep_device_steps(struct device_time *d, struct lane *lane)
{
    for (uint64_t k = 0; k < d->trace->steps.count && k < LISTED_STEPS; k++) {
        const struct tm_step_row *row = tm_rows_at(d->trace->steps.rows, lane->first_step_row + k);
        struct device_step step = { row->activities, row->first_ps, row->last_ps, row->own_ps, 0 };

        step.busy_ps = busy_of(tm_rows_at(d->parts, lane->first_parts_row + k));
        tm_rows_append(d->device_steps, &step);
    }
    lane->device_steps_end = tm_rows_count(d->device_steps);
}

/* The next lane of its group. */
static uint32_t next_lane(const struct device_time *d, uint32_t lane)
{
    const uint32_t device = d->lanes[lane].device.next_in_group;

    return device != TM_NONE ? d->lane_by_device[device] : TM_NONE;
}

/* A step of a group: the device that is busiest in it represents it. */
static void find_busiest(struct device_time *d, uint32_t group, uint64_t ordinal, struct step_line *line)
{
    for (uint32_t i = d->groups[group].first_lane; i != TM_NONE; i = next_lane(d, i)) {
        const struct lane *lane = &d->lanes[i];
        const struct tm_step_row *row = tm_rows_at(d->trace->steps.rows, lane->first_step_row + ordinal);
        const struct time_parts *parts = tm_rows_at(d->parts, lane->first_parts_row + ordinal);

        if (!row->activities || (line->has_activity && busy_of(parts) <= busy_of(&line->parts)))
            continue;
        line->has_activity = 1;
        line->lane = i;
        line->end_ps = row->end_ps;
        line->period_ps = row->end_ps - row->start_ps;
        line->device_span_ps = row->last_ps - row->first_ps;
        line->parts = *parts;
    }
}

static void keep_step(struct device_time *d, uint32_t group, uint64_t ordinal)
{
    const struct tm_steps *steps = &d->trace->steps;
    const struct tm_step_mark *mark = tm_rows_at(steps->marks, ordinal);
    struct step_line line = { .ordinal = ordinal, .host = d->host_count - 1, .lane = TM_NONE };

    line.number = mark->number;
    line.start_ps = mark->start_ps;
    line.host_span_ps = mark->dur_ps;
    line.has_host_span = steps->source == TM_STEPS_HOST;
    line.has_compile = mark->has_compile;
    line.warmup = mark->warmup;
    line.complete = mark->complete;
    line.chosen = mark->chosen;
    line.is_cut = ordinal == 0 && steps->source != TM_STEPS_HOST && steps->chosen_end - steps->chosen_begin >= 3;
    find_busiest(d, group, ordinal, &line);
    if (line.chosen)
        d->groups[group].steps_ps = tm_sum_times(d->groups[group].steps_ps, line.period_ps);
    /* Where a host has several groups, each has only the steps in which it is active. */
    if (line.has_activity || d->trace->group_count < 2)
        tm_rows_append(d->steps, &line);
}

/* Adds a lane's time up to its end: the rest of its last activity, and idle time until its group is done. */
static void finish_lane(struct device_time *d, struct lane *lane)
{
    struct told told = { d, lane };

    if (lane->gap.is_open)
        tm_idle_gaps_close(d, lane);
    tm_sweep_to(&lane->sweep, lane->device.last_ps, take_stretch, &told);
    settle_cell(d, lane);
    if (lane->device.kind != TM_DEVICE_TPU)
        lane->flight_or_compute = lane->compute;
    if (lane->gap.is_open) /* only before a last activity without length */
        tm_idle_gaps_close(d, lane);
    if (lane->device.last_ps < lane->until_ps) {
        find_period_at(d, lane, lane->device.last_ps);
        open_gap(lane, lane->device.last_ps, lane->until_ps);
        tm_idle_gaps_close(d, lane);
    }
    tm_idle_gaps_settle(d, lane);
    keep_device_steps(d, lane);
}

static tm_status end_host(struct tm_stage *s)
{
    struct device_time *d = s->state;

    for (uint32_t i = d->first_lane; i < d->lane_count && !tm_failed(s->run); i++)
        finish_lane(d, &d->lanes[i]);
    if (d->path)
        tm_critical_path_end_host(d->path);
    tm_device_time_measure_calls(d);
    for (uint64_t k = 0; k < d->trace->steps.count && !tm_failed(s->run); k++)
        for (uint32_t group = d->first_group; group < d->group_count; group++)
            keep_step(d, group, k);
    tm_host_threads_free(d->threads);
    d->threads = NULL;
    tm_call_lengths_free(d->lengths);
    d->lengths = NULL;
    tm_rows_free(d->parts);
    d->parts = NULL;
    d->trace = NULL;
    return s->run->error.status;
}

static tm_status report(struct tm_stage *s, struct tm_value *summary)
{
    tm_steps_report(s->state, summary);
    tm_device_time_report_devices(s->state, summary);
    tm_idle_gaps_report(s->state, summary);
    if (((struct device_time *)s->state)->path)
        tm_critical_path_report(((struct device_time *)s->state)->path, summary);
    return s->run->error.status;
}

/* Whether the hosts' clocks agree, as determined by the collectives. */
static tm_status conclude(struct tm_stage *s, struct tm_value *summary)
{
    return tm_steps_report_times(s->state, summary);
}

static void close_stage(struct tm_stage *s)
{
    struct device_time *d = s->state;

    tm_host_threads_free(d->threads);
    tm_call_lengths_free(d->lengths);
    tm_rows_free(d->parts);
    tm_rows_free(d->steps);
    tm_rows_free(d->device_steps);
    tm_critical_path_free(d->path);
    tm_give(&s->run->budget, TM_ACCOUNT_MODEL, d->lanes, d->lane_most * sizeof(*d->lanes));
    tm_give(&s->run->budget, TM_ACCOUNT_MODEL, d->hosts, d->host_count * sizeof(*d->hosts));
    tm_give(&s->run->budget, TM_ACCOUNT_MODEL, d->groups, d->group_most * sizeof(*d->groups));
}

const struct tm_stage_type tm_device_time_stage = {
    .name = "device-time",
    .summary = "device time by step",
    .state_bytes = sizeof(struct device_time),
    .classes = TM_CLASSES_ALL,
    .open = open_stage,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .take_site = take_site,
    .end_host = end_host,
    .report = report,
    .conclude = conclude,
    .save = tm_device_time_save,
    .load = tm_device_time_load,
    .close = close_stage,
};
