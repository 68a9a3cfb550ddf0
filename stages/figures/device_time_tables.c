/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of device time: hosts, groups, lanes, their busy time over time; and the same in a partial, with the
 * listed steps, the steps of the hosts and the longest gaps.  Lanes and hosts are renumbered by the reader. */
#include "stages/figures/device_time.h"

#include <string.h>

#include "stages/figures/fields.h"

/* --- tables --- */

struct host_facts *tm_device_time_new_host(struct device_time *d)
{
    const size_t row = sizeof(*d->hosts);
    struct host_facts *hosts = tm_retake(&d->run->budget, TM_ACCOUNT_MODEL, d->hosts, d->host_count * row,
                                         (d->host_count + 1) * row, &d->run->error);

    if (!hosts)
        return NULL;
    d->hosts = hosts;
    d->hosts[d->host_count] = (struct host_facts){ .is_json_copy = false };
    return &d->hosts[d->host_count++];
}

struct group_facts *tm_device_time_new_group(struct device_time *d)
{
    if (d->group_count == d->group_most) {
        const uint32_t most = d->group_most ? d->group_most * 2 : 8;
        struct group_facts *groups = tm_retake(&d->run->budget, TM_ACCOUNT_MODEL, d->groups,
                                               d->group_most * sizeof(*groups), most * sizeof(*groups), &d->run->error);

        if (!groups)
            return NULL;
        d->groups = groups;
        d->group_most = most;
    }
    d->groups[d->group_count] = (struct group_facts){ .host = 0 };
    return &d->groups[d->group_count++];
}

struct lane *tm_new_lane(struct device_time *d)
{
    if (d->lane_count == d->lane_most) {
        const uint32_t most = d->lane_most ? d->lane_most * 2 : 8;
        struct lane *lanes = tm_retake(&d->run->budget, TM_ACCOUNT_MODEL, d->lanes, d->lane_most * sizeof(*lanes),
                                       most * sizeof(*lanes), &d->run->error);

        if (!lanes)
            return NULL;
        d->lanes = lanes;
        d->lane_most = most;
    }
    d->lanes[d->lane_count] = (struct lane){ .host = 0 };
    return &d->lanes[d->lane_count++];
}

/* Busy time over time.  See device_time.h. */

/* Number of the bin of a moment, counted from the one at 0: rounds down, below 0 too. */
static int64_t number_of(int64_t at_ps, int64_t bin_ps)
{
    return at_ps / bin_ps - (at_ps % bin_ps < 0);
}

static uint64_t count_of(int64_t start_ps, int64_t end_ps, int64_t bin_ps)
{
    return end_ps > start_ps ? (uint64_t)number_of(end_ps - 1, bin_ps) - (uint64_t)number_of(start_ps, bin_ps) + 1 : 0;
}

/* By how much a round width grows to the next one that it divides: 1 to 2, 2 to 10, 5 to 10. */
static int growth_of(int64_t bin_ps)
{
    while (bin_ps % 10 == 0)
        bin_ps /= 10;
    return bin_ps == 2 ? 5 : 2;
}

/* The round width after this one: 1, 2, 5, 10. */
static int64_t wider(int64_t bin_ps)
{
    int64_t first = bin_ps;

    while (first % 10 == 0)
        first /= 10;
    return first == 2 ? bin_ps / 2 * 5 : bin_ps * 2;
}

void tm_busy_bins_init(struct tm_busy_bins *bins, int64_t start_ps, int64_t end_ps)
{
    *bins = (struct tm_busy_bins){ .start_ps = start_ps, .end_ps = end_ps, .bin_ps = 1 };
    while (count_of(start_ps, end_ps, bins->bin_ps) > TM_BUSY_BINS_MOST)
        bins->bin_ps = wider(bins->bin_ps);
    bins->count = (uint32_t)count_of(start_ps, end_ps, bins->bin_ps);
}

static void find_bin(struct tm_busy_bins *bins, int64_t at_ps)
{
    const int64_t number = number_of(at_ps, bins->bin_ps);

    bins->last = (uint32_t)(number - number_of(bins->start_ps, bins->bin_ps));
    /* The multiples below the first moment that can be reported, and above the last one, are not reported either. */
    if (__builtin_mul_overflow(number, bins->bin_ps, &bins->last_begin_ps))
        bins->last_begin_ps = INT64_MIN;
    if (__builtin_mul_overflow(number + 1, bins->bin_ps, &bins->last_end_ps))
        bins->last_end_ps = INT64_MAX;
}

uint32_t tm_busy_bins_find(struct tm_busy_bins *bins, int64_t at_ps, int64_t *end_ps)
{
    if (at_ps < bins->last_begin_ps || at_ps >= bins->last_end_ps)
        find_bin(bins, at_ps);
    *end_ps = bins->last_end_ps < bins->end_ps ? bins->last_end_ps : bins->end_ps;
    return bins->last;
}

void tm_busy_bins_add(struct tm_busy_bins *bins, int64_t start_ps, int64_t end_ps, int sign)
{
    start_ps = start_ps > bins->start_ps ? start_ps : bins->start_ps;
    end_ps = end_ps < bins->end_ps ? end_ps : bins->end_ps;
    while (start_ps < end_ps) {
        int64_t part_ps;

        if (start_ps < bins->last_begin_ps || start_ps >= bins->last_end_ps)
            find_bin(bins, start_ps);
        part_ps = (end_ps < bins->last_end_ps ? end_ps : bins->last_end_ps) - start_ps;
        bins->busy_ps[bins->last] += sign < 0 ? -part_ps : part_ps;
        start_ps += part_ps;
    }
}

void tm_busy_bins_merge(struct tm_busy_bins *bins, uint32_t most)
{
    bins->last_begin_ps = bins->last_end_ps = 0;
    while (bins->count > most && bins->count > 3 && bins->bin_ps <= INT64_MAX / 5) {
        const int factor = growth_of(bins->bin_ps);
        const int64_t first = number_of(bins->start_ps, bins->bin_ps);
        const int64_t wide_first = number_of(first, factor);

        for (uint32_t i = 0; i < bins->count; i++) {
            const int64_t part_ps = bins->busy_ps[i];

            bins->busy_ps[i] = 0;
            bins->busy_ps[number_of(first + i, factor) - wide_first] += part_ps;
        }
        bins->bin_ps *= factor;
        bins->count = (uint32_t)count_of(bins->start_ps, bins->end_ps, bins->bin_ps);
    }
}

/* --- in a partial --- */

/* Two moments whose distance is a time. */
static void check_span(struct tm_partial_reader *r, int64_t start_ps, int64_t end_ps)
{
    int64_t span_ps;

    if (__builtin_sub_overflow(end_ps, start_ps, &span_ps))
        (void)tm_partial_damaged(r, "moments that are too far apart");
}

static const struct tm_row_field part_fields[] = {
    TM_FIELD(struct time_parts, compute_ps, TIME, SUM),
    TM_FIELD(struct time_parts, exposed_collective_ps, TIME, SUM),
    TM_FIELD(struct time_parts, exposed_copy_ps, TIME, SUM),
    TM_FIELD(struct time_parts, idle_ps, TIME, SUM),
    TM_FIELDS_END,
};

static const struct tm_row_field sum_fields[] = {
    TM_FIELD(struct sum, count, COUNT, SUM),    TM_FIELD(struct sum, bytes, COUNT, SUM),
    TM_FIELD(struct sum, total_ps, TIME, SUM),  TM_FIELD(struct sum, min_ps, INSTANT, MIN),
    TM_FIELD(struct sum, max_ps, INSTANT, MAX), TM_FIELDS_END,
};

static const struct tm_row_field count_and_time[] = {
    TM_FIELD(struct sum, count, COUNT, SUM),
    TM_FIELD(struct sum, total_ps, TIME, SUM),
    TM_FIELDS_END,
};

static const struct tm_row_field short_gap_fields[] = {
    TM_FIELD(struct short_gap, start_ps, INSTANT, KEEP),
    TM_FIELD(struct short_gap, dur_ps, TIME, KEEP),
    TM_FIELDS_END,
};

/* --- groups of devices --- */

static const struct tm_row_field group_fields[] = {
    TM_FIELD(struct group_facts, host, HOST, KEEP),        TM_FIELD(struct group_facts, devices, U32, KEEP),
    TM_FIELD(struct group_facts, start_ps, INSTANT, KEEP), TM_FIELD(struct group_facts, end_ps, INSTANT, KEEP),
    TM_FIELD(struct group_facts, steps_ps, TIME, KEEP),    TM_FIELDS_END,
};

/* out: how many there are in the partial */
static uint32_t load_groups(struct device_time *d, struct tm_partial_reader *r)
{
    const uint32_t count = tm_partial_below_u32(r, TM_NONE - (uint64_t)d->group_count);

    for (uint32_t i = 0; i < count && !tm_failed(d->run); i++) {
        struct group_facts *const group = tm_device_time_new_group(d);

        if (!group)
            break;
        tm_fields_load(r, group_fields, group);
        check_span(r, group->start_ps, group->end_ps);
    }
    return count;
}

/* --- lanes --- */

#define LANE(member, kind) TM_FIELD(struct lane, member, kind, KEEP)
#define SUMS(member) TM_FIELD_STRUCTS(struct lane, member, struct sum, sum_fields)

/* Stored after its host and its id. */
static const struct tm_row_field device_fields[] = {
    LANE(device.name, TEXT), LANE(device.model, TEXT), LANE(device.has_collapsed_graphs, BOOL),
    LANE(has_flights, BOOL), LANE(start_ps, INSTANT),  LANE(end_ps, INSTANT),
    LANE(group, U32),        LANE(lead_ps, TIME),      LANE(trail_ps, TIME),
    TM_FIELDS_END,
};

/* For unions only the totals: their extent does not matter once the host has ended. */
static const struct tm_row_field lane_fields[] = {
    TM_FIELD_STRUCTS(struct lane, parts, struct time_parts, part_fields),
    LANE(path_ps, TIME),
    LANE(compute.total_ps, TIME),
    LANE(collective.total_ps, TIME),
    LANE(copy.total_ps, TIME),
    LANE(wait.total_ps, TIME),
    LANE(wait_copy.total_ps, TIME),
    LANE(wait_collective.total_ps, TIME),
    LANE(wait_host.total_ps, TIME),
    LANE(flight.total_ps, TIME),
    LANE(flight_or_compute.total_ps, TIME),
    SUMS(kernels),
    SUMS(collectives),
    SUMS(copies),
    SUMS(memsets),
    SUMS(graphs),
    SUMS(activities),
    SUMS(waits),
    SUMS(starts),
    SUMS(flights),
    LANE(gap_count, COUNT),
    LANE(gap_count_min, COUNT),
    LANE(gap_total_ps, TIME),
    LANE(cause_counts, COUNT),
    LANE(main_ps, TIME),
    TM_FIELD_BELOW(struct lane, longest_count, U32, KEEP, LANE_GAPS + 1),
    TM_FIELD_COUNTED_STRUCTS(struct lane, longest, struct short_gap, short_gap_fields, longest_count),
    TM_FIELDS_END,
};

static const struct tm_row_field device_step_fields[] = {
    TM_FIELD(struct device_step, activities, COUNT, KEEP), TM_FIELD(struct device_step, first_ps, INSTANT, KEEP),
    TM_FIELD(struct device_step, last_ps, INSTANT, KEEP),  TM_FIELD(struct device_step, period_ps, INSTANT, KEEP),
    TM_FIELD(struct device_step, busy_ps, INSTANT, KEEP),  TM_FIELDS_END,
};

static void save_bins(struct tm_partial_writer *w, const struct tm_busy_bins *bins)
{
    tm_partial_put_i64(w, bins->start_ps);
    tm_partial_put_i64(w, bins->end_ps);
    for (uint32_t i = 0; i < bins->count; i++)
        tm_partial_put_i64(w, bins->busy_ps[i]);
}

static void save_lanes(struct device_time *d, struct tm_partial_writer *w)
{
    uint64_t at = 0;

    tm_partial_put_u32(w, d->lane_count);
    for (uint32_t i = 0; i < d->lane_count && !tm_failed(d->run); i++) {
        const struct lane *const lane = &d->lanes[i];
        const uint64_t steps = lane->device_steps_end - at;

        tm_partial_put_u32(w, lane->host);
        tm_partial_put_u8(w, lane->device.kind);
        tm_partial_put_id(w, lane->host, lane->device.id);
        tm_fields_save(w, device_fields, lane);
        tm_fields_save(w, lane_fields, lane);
        save_bins(w, &lane->bins);
        tm_partial_put_u64(w, steps);
        tm_fields_save_rows(w, device_step_fields, d->device_steps, at, steps);
        at += steps;
    }
}

/* in: first_group, groups  numbers of those of the partial */
static void load_device(struct tm_partial_reader *r, struct lane *lane, uint32_t first_group, uint32_t groups)
{
    const uint32_t host = tm_partial_below_u32(r, tm_partial_host_count(r));

    lane->host = tm_partial_first_host(r) + host;
    lane->device.kind = tm_partial_below_u8(r, TM_DEVICE_CPU + 1);
    tm_partial_id(r, host, lane->device.id, sizeof(lane->device.id));
    tm_fields_load(r, device_fields, lane);
    if (tm_partial_is_ok(r) && lane->group >= groups)
        (void)tm_partial_damaged(r, "a group that is not there");
    lane->group += first_group;
    check_span(r, lane->start_ps, lane->end_ps);
    if (tm_partial_is_ok(r) && has_window(lane) &&
        tm_sum_times(lane->lead_ps, lane->trail_ps) > lane->end_ps - lane->start_ps)
        (void)tm_partial_damaged(r, "a device that is idle for longer than its window");
}

/* Their number and width follow from the time that they span. */
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

static tm_status complete_device_step(void *of, struct tm_partial_reader *r, void *row)
{
    const struct device_step *const step = row;

    (void)of;
    check_span(r, step->first_ps, step->last_ps);
    return tm_partial_status(r);
}

/* in: lanes  of the partial */
static void load_lanes(struct device_time *d, struct tm_partial_reader *r, uint32_t lanes, uint32_t first_group,
                       uint32_t groups)
{
    for (uint32_t i = 0; i < lanes && !tm_failed(d->run); i++) {
        struct lane *const lane = tm_new_lane(d);
        uint64_t steps;

        if (!lane)
            return;
        load_device(r, lane, first_group, groups);
        tm_fields_load(r, lane_fields, lane);
        for (int cause = 0; cause < TM_CAUSE_COUNT; cause++)
            if (lane->main_ps[cause] > lane->parts.idle_ps[cause])
                (void)tm_partial_damaged(r, "a cause of which a thread tells more than there is");
        load_bins(r, &lane->bins);
        steps = tm_partial_below_u64(r, LISTED_STEPS + 1);
        tm_fields_load_rows(r, device_step_fields, d->device_steps, steps, complete_device_step, NULL);
        lane->device_steps_end = tm_rows_count(d->device_steps);
    }
}

/* --- steps --- */

#define STEP(member, kind) TM_FIELD(struct step_line, member, kind, KEEP)

static const struct tm_row_field step_fields[] = {
    STEP(number, INSTANT),
    STEP(start_ps, INSTANT),
    STEP(host_span_ps, TIME),
    STEP(device_span_ps, TIME),
    STEP(period_ps, TIME),
    STEP(end_ps, INSTANT),
    STEP(ordinal, COUNT),
    STEP(host, HOST),
    STEP(lane, DEVICE_OR_NONE),
    STEP(has_host_span, BOOL),
    STEP(has_compile, BOOL),
    STEP(warmup, BOOL),
    STEP(complete, BOOL),
    STEP(chosen, BOOL),
    STEP(has_activity, BOOL),
    STEP(is_cut, BOOL),
    TM_FIELD_STRUCTS(struct step_line, parts, struct time_parts, part_fields),
    TM_FIELDS_END,
};

static tm_status complete_step(void *of, struct tm_partial_reader *r, void *row)
{
    const struct step_line *const line = row;

    (void)of;
    if (line->has_activity != (line->lane != TM_NONE))
        return tm_partial_damaged(r, "a step with activity needs a device");
    return TM_OK;
}

/* --- gaps --- */

static const struct tm_row_field gap_sum_fields[] = {
    TM_FIELD_STRUCTS(struct device_time, histogram, struct sum, count_and_time),
    TM_FIELD_STRUCTS(struct device_time, pauses, struct sum, count_and_time),
    TM_FIELD_STRUCTS(struct device_time, short_gaps, struct sum, count_and_time),
    TM_FIELDS_END,
};

#define GAP(member, kind) TM_FIELD(struct listed_gap, member, kind, KEEP)

static const struct tm_row_field gap_fields[] = {
    GAP(start_ps, INSTANT),
    GAP(dur_ps, TIME),
    GAP(step, COUNT),
    GAP(step_number, INSTANT),
    GAP(lane, DEVICE),
    GAP(before, NAME),
    GAP(after, NAME),
    GAP(host_event, NAME),
    TM_FIELD_BELOW(struct listed_gap, cause, U8, KEEP, TM_CAUSE_COUNT),
    GAP(parts, INSTANT),
    TM_FIELD_BELOW(struct listed_gap, thread, U8, KEEP, TOLD_BY_COUNT),
    GAP(launch_ps, INSTANT),
    GAP(launch_dur_ps, TIME),
    GAP(calls, COUNT),
    GAP(long_calls, COUNT),
    GAP(short_calls_ps, TIME),
    TM_FIELDS_END,
};

static void load_gaps(struct device_time *d, struct tm_partial_reader *r)
{
    uint32_t count;

    tm_fields_load_more(r, gap_sum_fields, d);
    count = tm_partial_below_u32(r, RUN_GAPS + 1);
    for (uint32_t i = 0; i < count && !tm_failed(d->run); i++) {
        struct listed_gap gap = { .calls = 0 };

        tm_fields_load(r, gap_fields, &gap);
        if (tm_partial_is_ok(r) && gap.long_calls > gap.calls)
            (void)tm_partial_damaged(r, "more long calls than calls");
        if (tm_partial_is_ok(r))
            tm_idle_gaps_list(d, &gap);
    }
}

/* --- the section --- */

tm_status tm_device_time_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct device_time *d = s->state;

    tm_partial_put_u8(w, d->source);
    tm_partial_put_u8(w, d->all);
    tm_partial_put_u8(w, d->session);
    tm_partial_put_name(w, d->module);
    for (uint32_t i = 0; i < d->host_count; i++)
        tm_partial_put_u8(w, d->hosts[i].is_json_copy);
    tm_partial_put_u32(w, d->group_count);
    for (uint32_t i = 0; i < d->group_count; i++)
        tm_fields_save(w, group_fields, &d->groups[i]);
    save_lanes(d, w);
    tm_partial_put_u64(w, tm_rows_count(d->steps));
    tm_fields_save_rows(w, step_fields, d->steps, 0, tm_rows_count(d->steps));
    tm_fields_save(w, gap_sum_fields, d);
    tm_partial_put_u32(w, d->longest_count);
    for (uint32_t i = 0; i < d->longest_count; i++)
        tm_fields_save(w, gap_fields, &d->longest[i]);
    tm_critical_path_save(d->path, w);
    return s->run->error.status;
}

static void load_hosts(struct device_time *d, struct tm_partial_reader *r)
{
    for (uint32_t i = 0; i < tm_partial_host_count(r) && !tm_failed(d->run); i++) {
        struct host_facts *const host = tm_device_time_new_host(d);

        if (!host)
            return;
        tm_partial_copy_host(r, i, host->name, sizeof(host->name));
        host->is_json_copy = tm_partial_bool(r);
    }
}

tm_status tm_device_time_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct device_time *d = s->state;
    const uint32_t first_group = d->group_count, first_lane = d->lane_count;
    uint32_t groups, lanes;

    d->names = tm_partial_names(r);
    d->source = (enum tm_step_source)tm_partial_below_u8(r, TM_STEPS_SESSION + 1);
    d->all = tm_partial_bool(r);
    d->session |= tm_partial_bool(r);
    d->module = tm_partial_name(r);
    load_hosts(d, r);
    groups = load_groups(d, r);
    lanes = tm_partial_below_u32(r, TM_NONE - (uint64_t)first_lane);
    load_lanes(d, r, lanes, first_group, groups);
    tm_partial_bind_devices(r, first_lane, lanes);
    tm_fields_load_rows(r, step_fields, d->steps, tm_partial_u64(r), complete_step, NULL);
    load_gaps(d, r);
    tm_critical_path_load(d->path, r);
    return s->run->error.status;
}
