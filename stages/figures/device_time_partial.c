/* SPDX-License-Identifier: Apache-2.0 */
/* Device time in a partial: hosts, lanes with their listed steps, the steps of the hosts, the longest gaps.  Lanes and
 * hosts are numbered anew where they are read. */
#include <string.h>

#include "stages/figures/device_time.h"
#include "stages/figures/figure_rows.h"

enum { SUM_WORDS = 5, PARTS_WORDS = 2 + TM_DIRECTION_COUNT + TM_CAUSE_COUNT, STEP_WORDS = 5 };
static_assert(sizeof(struct sum) == 8 * SUM_WORDS, "written as words");
static_assert(sizeof(struct time_parts) == 8 * PARTS_WORDS, "written as words");
static_assert(sizeof(struct device_step) == 8 * STEP_WORDS, "written as words");
static_assert(sizeof(struct short_gap) == 16, "written as words");

/* The sums of a lane that are written as they are; NULL at the end. */
static struct sum *sum_of(struct lane *lane, size_t index)
{
    struct sum *const sums[] = {
        &lane->kernels,    &lane->collectives, &lane->copies,     &lane->memsets,  &lane->graphs,
        &lane->activities, &lane->waits[0],    &lane->waits[1],   &lane->waits[2], &lane->starts[0],
        &lane->starts[1],  &lane->flights[0],  &lane->flights[1],
    };

    return index < sizeof(sums) / sizeof(sums[0]) ? sums[index] : NULL;
}

/* The totals of unions: how far they reach does not matter once the host has ended.  NULL at the end. */
static int64_t *total_of(struct lane *lane, size_t index)
{
    struct cover *const covers[] = {
        &lane->compute,   &lane->collective, &lane->copy,
        &lane->wait,      &lane->wait_copy,  &lane->wait_collective,
        &lane->wait_host, &lane->flight,     &lane->flight_or_compute,
    };

    return index < sizeof(covers) / sizeof(covers[0]) ? &covers[index]->total_ps : NULL;
}

/* --- saving --- */

static void save_device(struct tm_partial_writer *w, const struct lane *lane)
{
    const struct tm_device *device = &lane->device;

    tm_partial_put_u32(w, lane->host);
    tm_partial_put_u8(w, device->kind);
    tm_partial_put_id(w, lane->host, device->id);
    tm_partial_put_text(w, device->name);
    tm_partial_put_text(w, device->model);
    tm_partial_put_u8(w, device->has_collapsed_graphs);
    tm_partial_put_u8(w, lane->has_flights);
    tm_partial_put_i64(w, lane->start_ps);
    tm_partial_put_i64(w, lane->end_ps);
    tm_partial_put_u32(w, lane->group);
    tm_partial_put_i64(w, lane->lead_ps);
    tm_partial_put_i64(w, lane->trail_ps);
}

static void save_bins(struct tm_partial_writer *w, const struct tm_busy_bins *bins)
{
    tm_partial_put_i64(w, bins->start_ps);
    tm_partial_put_i64(w, bins->end_ps);
    for (uint32_t i = 0; i < bins->count; i++)
        tm_partial_put_i64(w, bins->busy_ps[i]);
}

static void save_lane(struct tm_partial_writer *w, struct lane *lane)
{
    const int64_t *total;
    const struct sum *sum;

    save_device(w, lane);
    tm_partial_put_words(w, &lane->parts, PARTS_WORDS);
    for (size_t i = 0; (total = total_of(lane, i)) != NULL; i++)
        tm_partial_put_i64(w, *total);
    for (size_t i = 0; (sum = sum_of(lane, i)) != NULL; i++)
        tm_partial_put_words(w, sum, SUM_WORDS);
    tm_partial_put_u64(w, lane->gap_count);
    tm_partial_put_u64(w, lane->gap_count_min);
    tm_partial_put_i64(w, lane->gap_total_ps);
    tm_partial_put_words(w, lane->cause_counts, TM_CAUSE_COUNT);
    tm_partial_put_words(w, lane->main_ps, TM_CAUSE_COUNT);
    tm_partial_put_u32(w, lane->longest_count);
    for (uint32_t i = 0; i < lane->longest_count; i++)
        tm_partial_put_words(w, &lane->longest[i], 2);
    save_bins(w, &lane->bins);
}

static tm_status save_lanes(struct device_time *d, struct tm_partial_writer *w)
{
    uint64_t at = 0;

    tm_partial_put_u32(w, d->lane_count);
    for (uint32_t i = 0; i < d->lane_count; i++) {
        struct lane *lane = &d->lanes[i];

        save_lane(w, lane);
        tm_partial_put_u64(w, lane->device_steps_end - at);
        for (; at < lane->device_steps_end; at++) {
            const struct device_step *step = tm_rows_at(d->device_steps, at);

            if (!step)
                return d->run->error.status;
            tm_partial_put_words(w, step, STEP_WORDS);
        }
    }
    return TM_OK;
}

static void save_step(struct tm_partial_writer *w, const struct step_line *line)
{
    tm_partial_put_i64(w, line->number);
    tm_partial_put_i64(w, line->start_ps);
    tm_partial_put_i64(w, line->host_span_ps);
    tm_partial_put_i64(w, line->device_span_ps);
    tm_partial_put_i64(w, line->period_ps);
    tm_partial_put_i64(w, line->end_ps);
    tm_partial_put_u64(w, line->ordinal);
    tm_partial_put_u32(w, line->host);
    tm_partial_put_u32(w, line->lane);
    tm_partial_put_u8(w, line->has_host_span);
    tm_partial_put_u8(w, line->has_compile);
    tm_partial_put_u8(w, line->warmup);
    tm_partial_put_u8(w, line->complete);
    tm_partial_put_u8(w, line->chosen);
    tm_partial_put_u8(w, line->has_activity);
    tm_partial_put_u8(w, line->is_cut);
    tm_partial_put_words(w, &line->parts, PARTS_WORDS);
}

static tm_status save_steps(struct device_time *d, struct tm_partial_writer *w)
{
    const uint64_t count = tm_rows_count(d->steps);

    tm_partial_put_u64(w, count);
    for (uint64_t i = 0; i < count; i++) {
        const struct step_line *line = tm_rows_at(d->steps, i);

        if (!line)
            return d->run->error.status;
        save_step(w, line);
    }
    return TM_OK;
}

static void save_gaps(const struct device_time *d, struct tm_partial_writer *w)
{
    for (int i = 0; i < HISTOGRAM_ROWS; i++) {
        tm_partial_put_u64(w, d->histogram[i].count);
        tm_partial_put_i64(w, d->histogram[i].total_ps);
    }
    tm_partial_put_u64(w, d->pauses.count);
    tm_partial_put_i64(w, d->pauses.total_ps);
    for (int i = 0; i < TM_CAUSE_COUNT; i++) {
        tm_partial_put_u64(w, d->short_gaps[i].count);
        tm_partial_put_i64(w, d->short_gaps[i].total_ps);
    }
    tm_partial_put_u32(w, d->longest_count);
    for (uint32_t i = 0; i < d->longest_count; i++) {
        const struct listed_gap *gap = &d->longest[i];

        tm_partial_put_i64(w, gap->start_ps);
        tm_partial_put_i64(w, gap->dur_ps);
        tm_partial_put_u64(w, gap->step);
        tm_partial_put_i64(w, gap->step_number);
        tm_partial_put_u32(w, gap->lane);
        tm_partial_put_name(w, gap->before);
        tm_partial_put_name(w, gap->after);
        tm_partial_put_name(w, gap->host_event);
        tm_partial_put_u8(w, gap->cause);
        tm_partial_put_words(w, gap->parts, TM_CAUSE_COUNT);
        tm_partial_put_u8(w, gap->thread);
        tm_partial_put_i64(w, gap->launch_ps);
        tm_partial_put_i64(w, gap->launch_dur_ps);
        tm_partial_put_u64(w, gap->calls);
        tm_partial_put_u64(w, gap->long_calls);
        tm_partial_put_i64(w, gap->short_calls_ps);
    }
}

tm_status tm_device_time_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct device_time *d = s->state;
    tm_status st;

    tm_partial_put_u8(w, d->source);
    tm_partial_put_u8(w, d->all);
    tm_partial_put_u8(w, d->session);
    tm_partial_put_name(w, d->module);
    for (uint32_t i = 0; i < d->host_count; i++)
        tm_partial_put_u8(w, d->hosts[i].is_json_copy);
    tm_partial_put_u32(w, d->group_count);
    for (uint32_t i = 0; i < d->group_count; i++) {
        tm_partial_put_u32(w, d->groups[i].host);
        tm_partial_put_u32(w, d->groups[i].devices);
        tm_partial_put_i64(w, d->groups[i].start_ps);
        tm_partial_put_i64(w, d->groups[i].end_ps);
        tm_partial_put_i64(w, d->groups[i].steps_ps);
    }
    st = save_lanes(d, w);
    if (st == TM_OK)
        st = save_steps(d, w);
    save_gaps(d, w);
    return st;
}

/* --- loading --- */

/* What is loaded is numbered from here on. */
struct loading {
    struct device_time *d;
    struct tm_partial_reader *r;
    uint32_t first_host, first_group, groups, first_lane, lanes;
};

static void load_parts(struct tm_partial_reader *r, struct time_parts *parts)
{
    int64_t words[PARTS_WORDS];

    for (int i = 0; i < PARTS_WORDS; i++)
        words[i] = tm_partial_time(r);
    memcpy(parts, words, sizeof(*parts));
}

/* Two moments whose distance is a time. */
static void check_span(struct tm_partial_reader *r, int64_t start_ps, int64_t end_ps)
{
    int64_t span_ps;

    if (__builtin_sub_overflow(end_ps, start_ps, &span_ps))
        (void)tm_partial_damaged(r, "moments that are too far apart");
}

static tm_status load_hosts(struct device_time *d, struct tm_partial_reader *r)
{
    for (uint32_t i = 0; i < tm_partial_host_count(r); i++) {
        struct host_facts *host = tm_device_time_new_host(d);

        if (!host)
            return d->run->error.status;
        tm_partial_copy_host(r, i, host->name, sizeof(host->name));
        host->is_json_copy = tm_partial_bool(r);
        if (!tm_partial_is_ok(r))
            break;
    }
    return tm_partial_status(r);
}

static tm_status load_groups(struct loading *l)
{
    struct tm_partial_reader *r = l->r;

    l->groups = tm_partial_below_u32(r, TM_NONE - (uint64_t)l->first_group);
    for (uint32_t i = 0; i < l->groups && tm_partial_is_ok(r); i++) {
        struct group_facts *group = tm_device_time_new_group(l->d);

        if (!group)
            return l->d->run->error.status;
        group->host = l->first_host + tm_partial_below_u32(r, tm_partial_host_count(r));
        group->devices = tm_partial_u32(r);
        group->start_ps = tm_partial_i64(r);
        group->end_ps = tm_partial_i64(r);
        group->steps_ps = tm_partial_time(r);
        check_span(r, group->start_ps, group->end_ps);
    }
    return tm_partial_status(r);
}

static void load_device(const struct loading *l, struct lane *lane)
{
    struct tm_partial_reader *r = l->r;
    struct tm_device *device = &lane->device;
    const uint32_t host = tm_partial_below_u32(r, tm_partial_host_count(r));

    lane->host = l->first_host + host;
    device->kind = tm_partial_below_u8(r, TM_DEVICE_CPU + 1);
    tm_partial_id(r, host, device->id, sizeof(device->id));
    tm_partial_text(r, device->name, sizeof(device->name));
    tm_partial_text(r, device->model, sizeof(device->model));
    device->has_collapsed_graphs = tm_partial_bool(r);
    lane->has_flights = tm_partial_bool(r);
    lane->start_ps = tm_partial_i64(r);
    lane->end_ps = tm_partial_i64(r);
    lane->group = l->first_group + tm_partial_below_u32(r, l->groups);
    lane->lead_ps = tm_partial_time(r);
    lane->trail_ps = tm_partial_time(r);
    check_span(r, lane->start_ps, lane->end_ps);
    if (has_window(lane) && tm_sum_times(lane->lead_ps, lane->trail_ps) > lane->end_ps - lane->start_ps)
        (void)tm_partial_damaged(r, "a device that is idle for longer than its window");
}

/* How many there are and how wide they are follows from the time that they span. */
static void load_bins(struct tm_partial_reader *r, struct tm_busy_bins *bins)
{
    const int64_t start_ps = tm_partial_i64(r), end_ps = tm_partial_i64(r);

    check_span(r, start_ps, end_ps);
    if (!tm_partial_is_ok(r))
        return;
    tm_busy_bins_init(bins, start_ps, end_ps);
    for (uint32_t i = 0; i < bins->count; i++) {
        bins->busy_ps[i] = tm_partial_time(r);
        if (bins->busy_ps[i] > bins->bin_ps)
            (void)tm_partial_damaged(r, "a stretch that is busy for longer than it lasts");
    }
}

static void load_lane(struct tm_partial_reader *r, struct lane *lane)
{
    int64_t *total;
    struct sum *sum;

    load_parts(r, &lane->parts);
    for (size_t i = 0; (total = total_of(lane, i)) != NULL; i++)
        *total = tm_partial_time(r);
    for (size_t i = 0; (sum = sum_of(lane, i)) != NULL; i++)
        tm_partial_words(r, sum, SUM_WORDS);
    lane->gap_count = tm_partial_u64(r);
    lane->gap_count_min = tm_partial_u64(r);
    lane->gap_total_ps = tm_partial_time(r);
    tm_partial_words(r, lane->cause_counts, TM_CAUSE_COUNT);
    for (int i = 0; i < TM_CAUSE_COUNT; i++) {
        lane->main_ps[i] = tm_partial_time(r);
        if (lane->main_ps[i] > lane->parts.idle_ps[i])
            (void)tm_partial_damaged(r, "a cause of which a thread tells more than there is");
    }
    lane->longest_count = tm_partial_below_u32(r, LANE_GAPS + 1);
    for (uint32_t i = 0; i < lane->longest_count; i++)
        tm_partial_words(r, &lane->longest[i], 2);
    load_bins(r, &lane->bins);
}

static tm_status load_device_steps(const struct loading *l, struct lane *lane)
{
    const uint64_t count = tm_partial_below_u64(l->r, LISTED_STEPS + 1);
    tm_status st = tm_partial_status(l->r);

    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        struct device_step step;

        tm_partial_words(l->r, &step, STEP_WORDS);
        check_span(l->r, step.first_ps, step.last_ps);
        st = tm_partial_is_ok(l->r) ? tm_rows_append(l->d->device_steps, &step) : tm_partial_status(l->r);
    }
    lane->device_steps_end = tm_rows_count(l->d->device_steps);
    return st;
}

static tm_status load_lanes(struct loading *l)
{
    tm_status st;

    l->lanes = tm_partial_below_u32(l->r, TM_NONE - (uint64_t)l->first_lane);
    st = tm_partial_status(l->r);
    for (uint32_t i = 0; i < l->lanes && st == TM_OK; i++) {
        struct lane *lane = tm_new_lane(l->d);

        if (!lane)
            return l->d->run->error.status;
        load_device(l, lane);
        load_lane(l->r, lane);
        st = load_device_steps(l, lane);
    }
    return st;
}

/* A device of the partial; TM_NONE = none, where that may be. */
static uint32_t load_lane_number(const struct loading *l, bool may_be_none)
{
    const uint32_t lane = tm_partial_u32(l->r);

    if (lane < l->lanes)
        return l->first_lane + lane;
    if (lane != TM_NONE || !may_be_none)
        (void)tm_partial_damaged(l->r, "a device that is not there");
    return TM_NONE;
}

static tm_status load_steps(const struct loading *l)
{
    struct tm_partial_reader *r = l->r;
    const uint64_t count = tm_partial_u64(r);
    tm_status st = tm_partial_status(r);

    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        struct step_line line = { .number = tm_partial_i64(r) };

        line.start_ps = tm_partial_i64(r);
        line.host_span_ps = tm_partial_time(r);
        line.device_span_ps = tm_partial_time(r);
        line.period_ps = tm_partial_time(r);
        line.end_ps = tm_partial_i64(r);
        line.ordinal = tm_partial_u64(r);
        line.host = l->first_host + tm_partial_below_u32(r, tm_partial_host_count(r));
        line.lane = load_lane_number(l, true);
        line.has_host_span = tm_partial_bool(r);
        line.has_compile = tm_partial_bool(r);
        line.warmup = tm_partial_bool(r);
        line.complete = tm_partial_bool(r);
        line.chosen = tm_partial_bool(r);
        line.has_activity = tm_partial_bool(r);
        line.is_cut = tm_partial_bool(r);
        load_parts(r, &line.parts);
        if (tm_partial_is_ok(r) && line.has_activity != (line.lane != TM_NONE))
            (void)tm_partial_damaged(r, "a step with activity needs a device");
        st = tm_partial_is_ok(r) ? tm_rows_append(l->d->steps, &line) : tm_partial_status(r);
    }
    return st;
}

static tm_status load_gaps(const struct loading *l)
{
    struct tm_partial_reader *r = l->r;
    struct sum *histogram = l->d->histogram;
    uint32_t count;

    for (int i = 0; i < HISTOGRAM_ROWS; i++) {
        histogram[i].count += tm_partial_u64(r);
        histogram[i].total_ps = tm_sum_times(histogram[i].total_ps, tm_partial_time(r));
    }
    l->d->pauses.count += tm_partial_u64(r);
    l->d->pauses.total_ps = tm_sum_times(l->d->pauses.total_ps, tm_partial_time(r));
    for (int i = 0; i < TM_CAUSE_COUNT; i++) {
        l->d->short_gaps[i].count += tm_partial_u64(r);
        l->d->short_gaps[i].total_ps = tm_sum_times(l->d->short_gaps[i].total_ps, tm_partial_time(r));
    }
    count = tm_partial_below_u32(r, RUN_GAPS + 1);
    for (uint32_t i = 0; i < count && tm_partial_is_ok(r); i++) {
        struct listed_gap gap = { .start_ps = tm_partial_i64(r) };

        gap.dur_ps = tm_partial_time(r);
        gap.step = tm_partial_u64(r);
        gap.step_number = tm_partial_i64(r);
        gap.lane = load_lane_number(l, false);
        gap.before = tm_partial_name(r);
        gap.after = tm_partial_name(r);
        gap.host_event = tm_partial_name(r);
        gap.cause = (enum tm_cause)tm_partial_below_u8(r, TM_CAUSE_COUNT);
        tm_partial_words(r, gap.parts, TM_CAUSE_COUNT);
        gap.thread = (enum told_by)tm_partial_below_u8(r, TOLD_BY_COUNT);
        gap.launch_ps = tm_partial_i64(r);
        gap.launch_dur_ps = tm_partial_time(r);
        gap.calls = tm_partial_u64(r);
        gap.long_calls = tm_partial_u64(r);
        gap.short_calls_ps = tm_partial_time(r);
        if (tm_partial_is_ok(r) && gap.long_calls > gap.calls)
            (void)tm_partial_damaged(r, "more long calls than calls");
        if (tm_partial_is_ok(r))
            tm_idle_gaps_list(l->d, &gap);
    }
    return tm_partial_status(r);
}

tm_status tm_device_time_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct device_time *d = s->state;
    struct loading l = {
        .d = d, .r = r, .first_host = d->host_count, .first_group = d->group_count, .first_lane = d->lane_count
    };
    tm_status st;

    d->names = tm_partial_names(r);
    d->source = (enum tm_step_source)tm_partial_below_u8(r, TM_STEPS_SESSION + 1);
    d->all = tm_partial_bool(r);
    d->session |= tm_partial_bool(r);
    d->module = tm_partial_name(r);
    st = load_hosts(d, r);
    if (st == TM_OK)
        st = load_groups(&l);
    if (st == TM_OK)
        st = load_lanes(&l);
    if (st == TM_OK)
        st = load_steps(&l);
    return st == TM_OK ? load_gaps(&l) : st;
}
