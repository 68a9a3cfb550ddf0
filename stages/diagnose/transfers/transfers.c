/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers, the stage: sums by direction, size and device; a sweep per device tells which copies
 * nothing hides. Memory: fixed per device of the present host; sizes by step spill. */
#include "stages/diagnose/transfers/transfers.h"

#include <string.h>

#include "pipeline/groups.h"
#include "stages/diagnose/transfers/transfers_private.h"
#include "stages/resolve/classes.h"

/* --- opening --- */

static int largest_first(const void *a, const void *b)
{
    const struct large_copy *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->begin_ps != y->begin_ps)
        return x->begin_ps < y->begin_ps ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->dur_ps != y->dur_ps)
        return x->dur_ps < y->dur_ps ? -1 : 1;
    return (x->direction > y->direction) - (x->direction < y->direction);
}

static void merge_repeats(void *into, const void *from)
{
    struct copy_repeat *a = into;
    const struct copy_repeat *b = from;

    a->count += b->count;
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
}

static tm_status open_stage(struct tm_stage *s)
{
    struct transfers *t = s->state;
    struct tm_run *run = s->run;

    t->run = run;
    t->ids = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct device_id),
                               transfers_memory(run, TRANSFERS_IDS), 8 << 10);
    t->pairs = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct copy_pair),
                                 transfers_memory(run, TRANSFERS_PAIRS), 8 << 10);
    t->repeats = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct copy_repeat),
                               transfers_memory(run, TRANSFERS_REPEATS), merge_repeats);
    t->largest = tm_top_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct large_copy), LARGEST_ROWS,
                                 transfers_memory(run, TRANSFERS_TOP), largest_first);
    return t->ids && t->pairs && t->repeats && t->largest ? TM_OK : run->error.status;
}

/* --- a host begins --- */

static void give_lanes(struct transfers *t)
{
    tm_give(&t->run->budget, TM_ACCOUNT_TABLES, t->lanes, t->lane_count * sizeof(*t->lanes));
    t->lanes = NULL;
    t->lane_count = 0;
}

static tm_status open_lane(struct transfers *t, const struct tm_device *device)
{
    struct copy_lane *lane = &t->lanes[device->index];
    struct device_id id;

    lane->number = (uint32_t)tm_rows_count(t->ids);
    lane->begin_ps = device->chosen_begin_ps;
    lane->end_ps = device->chosen_end_ps;
    lane->copies_until_ps = INT64_MIN;
    for (int i = 0; i < TM_DIRECTION_COUNT; i++)
        lane->chosen_until_ps[i] = lane->flights[i].until_ps = INT64_MIN;
    for (int i = 0; i < RECENT; i++)
        lane->recent[i].step = TM_NONE;
    memcpy(id.id, device->id, sizeof(id.id));
    id.host = t->trace->host;
    if (device->kind == TM_DEVICE_CPU)
        t->has_cpu = true;
    else
        t->has_accelerator = true;
    return tm_rows_append(t->ids, &id);
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct transfers *t = s->state;
    tm_status st = TM_OK;

    t->trace = trace;
    t->lanes = tm_take(&t->run->budget, TM_ACCOUNT_TABLES, trace->device_count * sizeof(*t->lanes),
                       &t->run->error);
    if (!t->lanes)
        return t->run->error.status;
    t->lane_count = trace->device_count;
    for (uint32_t i = 0; i < t->lane_count && st == TM_OK; i++) {
        t->lanes[i].number = TM_NONE;
        if (trace->devices[i].activities && trace->devices[i].index == i)
            st = open_lane(t, &trace->devices[i]);
    }
    t->chosen_steps += trace->steps.chosen_end - trace->steps.chosen_begin;
    return st;
}

/* --- events --- */

/* Of a flight on a TPU the end may be recorded far too early: no copy of a device is faster than
 * its memory. */
static void end_flight(struct transfers *t, struct copy_lane *lane, uint32_t device,
                       enum tm_direction which)
{
    struct flight *flight = &lane->flights[which];
    struct copy_direction *direction = &t->directions[which];
    const struct tm_device *of = &t->trace->devices[device];
    const double most = of->kind == TM_DEVICE_TPU ? (double)of->memory_bandwidth_bytes : 0;
    const int64_t dur_ps = flight->bytes ? flight->until_ps - flight->begin_ps : 0;
    const double rate = dur_ps > 0 ? (double)flight->bytes * 1e12 / (double)dur_ps : 0;

    if (rate > direction->best_rate && (most <= 0 || rate <= most))
        direction->best_rate = rate;
    flight->bytes = 0;
}

/* Copies share the link: the time of several in flight at once counts once.  They come in the order
 * of their starts. */
static void add_flight(struct transfers *t, struct copy_lane *lane, enum tm_direction which,
                       const struct tm_event *event)
{
    struct copy_sum *sum = &t->directions[which].inside;
    struct flight *flight = &lane->flights[which];
    const int64_t start_ps = event->record.start_ps,
                  end_ps = tm_sum_times(start_ps, event->record.dur_ps);

    if (start_ps >= flight->until_ps) {
        end_flight(t, lane, event->device, which);
        flight->begin_ps = flight->until_ps = start_ps;
    }
    flight->bytes = tm_sum_counts(flight->bytes, event->config->copy_bytes);
    sum->moved_bytes = tm_sum_counts(sum->moved_bytes, event->config->copy_bytes);
    if (end_ps > flight->until_ps) {
        sum->moved_ps = tm_sum_times(sum->moved_ps, end_ps - flight->until_ps);
        flight->until_ps = end_ps;
    }
}

static void add_to_sum(struct copy_sum *sum, const struct tm_config *c, int64_t dur_ps)
{
    sum->total_ps = tm_sum_times(sum->total_ps, dur_ps);
    if (c->tpu_part == TM_TPU_START)
        return; /* counted where it is waited for */
    sum->count++;
    if (!c->has_copy_bytes)
        sum->unknown_count++;
    else
        sum->bytes = tm_sum_counts(sum->bytes, c->copy_bytes);
}

static void add_size(struct transfers *t, uint64_t bytes, int64_t dur_ps)
{
    struct copy_size *size = &t->sizes[bytes ? 63 - __builtin_clzll(bytes) : 0];

    size->count++;
    size->bytes = tm_sum_counts(size->bytes, bytes);
    size->total_ps = tm_sum_times(size->total_ps, dur_ps);
}

/* A copy back to the device, of the size of an earlier copy to the host in the same step. */
static void note_ping_pong(struct transfers *t, struct copy_lane *lane,
                           const struct tm_event *event, enum tm_direction which)
{
    const struct tm_record *r = &event->record;
    const uint64_t bytes = event->config->copy_bytes;

    if (event->step == TM_NONE)
        return;
    if (which == TM_D2H) {
        lane->recent[lane->next_recent] =
            (struct recent_copy){ bytes, tm_sum_times(r->start_ps, r->dur_ps), event->step };
        lane->next_recent = (lane->next_recent + 1) % RECENT;
        return;
    }
    for (int i = 0; i < RECENT && which == TM_H2D; i++) {
        struct recent_copy *recent = &lane->recent[i];

        if (recent->step == event->step && recent->bytes == bytes &&
            recent->end_ps <= r->start_ps) {
            t->ping_pongs++;
            recent->step = TM_NONE;
            return;
        }
    }
}

/* A copy of which both are known: its size, and how long it was in flight. */
static tm_status note_large(struct transfers *t, struct copy_lane *lane,
                            const struct tm_event *event, enum tm_direction which)
{
    const struct large_copy large = { .bytes = event->config->copy_bytes,
                                      .begin_ps = event->record.start_ps,
                                      .dur_ps = event->record.dur_ps,
                                      .number = lane->number,
                                      .direction = which };

    add_flight(t, lane, which, event);
    return tm_top_rows_add(t->largest, &large);
}

/* Copies whose size is known. */
static tm_status add_known(struct transfers *t, struct copy_lane *lane,
                           const struct tm_event *event, enum tm_direction which)
{
    const uint64_t bytes = event->config->copy_bytes, bytes_most = UINT64_MAX >> 3;
    const int64_t dur_ps = event->record.dur_ps;
    const struct copy_repeat repeat = {
        .key = { (uint64_t)which << 61 | (bytes < bytes_most ? bytes : bytes_most),
                 (uint64_t)t->trace->host << 32 | event->step },
        .count = 1,
        .total_ps = dur_ps,
    };
    tm_status st = TM_OK;

    add_size(t, bytes, dur_ps);
    note_ping_pong(t, lane, event, which);
    if (event->config->tpu_part == TM_TPU_PLAIN)
        st = note_large(t, lane, event, which);
    return st == TM_OK && event->step != TM_NONE ? tm_groups_add(t->repeats, &repeat) : st;
}

static bool is_copy_level(unsigned level)
{
    return level >= TM_LEVEL_H2D && level <= TM_LEVEL_OTHER_COPY;
}

static_assert(TM_LEVEL_OTHER_COPY - TM_LEVEL_H2D == TM_OTHER_DIRECTION - TM_H2D,
              "levels of copies are in the order of directions");

static enum tm_direction direction_of(enum tm_level copy_level)
{
    return (enum tm_direction)(copy_level - TM_LEVEL_H2D + TM_H2D);
}

/* A copy, also one that works for a collective; on a TPU a copy op, the start of one, or the wait
 * for one that was started before. out: its direction */
static bool is_copy(const struct tm_event *event, enum tm_direction *direction)
{
    *direction = event->direction < TM_DIRECTION_COUNT ? (enum tm_direction)event->direction
                                                       : TM_OTHER_DIRECTION;
    switch (event->record.class) {
    case TM_CLASS_COPY:
        return true;
    case TM_CLASS_COLLECTIVE:
        return event->config->has_copy;
    case TM_CLASS_TPU_OP:
        if (!is_copy_level(event->level))
            return false;
        *direction = direction_of((enum tm_level)event->level);
        return true;
    default:
        return false;
    }
}

TM_NOT_INLINE tm_status take_copy(struct transfers *t, struct copy_lane *lane, const struct tm_event *event,
                                  enum tm_direction which)
{
    const struct tm_config *c = event->config;
    struct copy_direction *direction = &t->directions[which];

    if (!event->chosen) {
        add_to_sum(&direction->outside, c, event->record.dur_ps);
        return TM_OK;
    }
    add_to_sum(&direction->inside, c, event->record.dur_ps);
    add_to_sum(&lane->sums[which], c, event->record.dur_ps);
    if (c->pageable)
        add_to_sum(&t->pageable, c, event->record.dur_ps);
    t->copies_of_known_kind += c->pageable || (c->has_copy && c->direction != TM_OTHER_DIRECTION);
    if (!c->has_copy_bytes || c->tpu_part == TM_TPU_START)
        return TM_OK;
    return add_known(t, lane, event, which);
}

struct told {
    struct transfers *t;
    const struct copy_lane *lane;
};

/* The part of a stretch in which a copy of a chosen step runs is of these; of several that run at
 * once one is enough. */
static void add_exposed(struct told *told, enum tm_direction which, int64_t from_ps, int64_t to_ps)
{
    struct copy_direction *direction = &told->t->directions[which];
    const int64_t until_ps = told->lane->chosen_until_ps[which];
    const int64_t border_ps = until_ps < from_ps ? from_ps : until_ps < to_ps ? until_ps : to_ps;

    direction->exposed_ps = tm_sum_times(direction->exposed_ps, border_ps - from_ps);
    direction->outside_exposed_ps = tm_sum_times(direction->outside_exposed_ps, to_ps - border_ps);
}

static tm_status take_stretch(void *to, enum tm_level level, int64_t begin_ps, int64_t end_ps)
{
    struct told *told = to;
    const int64_t from_ps = begin_ps > told->lane->begin_ps ? begin_ps : told->lane->begin_ps;
    const int64_t to_ps = end_ps < told->lane->end_ps ? end_ps : told->lane->end_ps;

    if (is_copy_level(level) && from_ps < to_ps)
        add_exposed(told, direction_of(level), from_ps, to_ps);
    return TM_OK;
}

TM_NOT_INLINE tm_status sweep_copies_to(struct transfers *t, struct copy_lane *lane, int64_t to_ps)
{
    struct told told = { t, lane };

    return tm_sweep_to(&lane->sweep, to_ps, take_stretch, &told);
}

static tm_status sweep_to(struct transfers *t, struct copy_lane *lane, int64_t to_ps)
{
    if (lane->copies_until_ps > lane->sweep.at_ps)
        return sweep_copies_to(t, lane, to_ps);
    tm_sweep_pass(&lane->sweep, to_ps); /* nothing that take_stretch wants to know */
    return TM_OK;
}

static void add_activity(struct copy_lane *lane, const struct tm_event *event)
{
    const int64_t end_ps = tm_sum_times(event->record.start_ps, event->record.dur_ps);

    tm_sweep_add(&lane->sweep, (enum tm_level)event->level, event->record.start_ps, end_ps);
    if (!is_copy_level(event->level))
        return;
    if (end_ps > lane->copies_until_ps)
        lane->copies_until_ps = end_ps;
    if (event->chosen) {
        int64_t *until_ps = &lane->chosen_until_ps[direction_of((enum tm_level)event->level)];

        *until_ps = end_ps > *until_ps ? end_ps : *until_ps;
    }
}

/* TPU: the host records what it hands over, without device time.  All of the profile counts: such
 * events belong to no step. */
TM_NOT_INLINE void take_tpu_host(struct transfers *t, const struct tm_event *event)
{
    struct copy_sum *sum = &t->tpu_host[tm_direction_of(event->traits) == TM_D2H ? 1 : 0];
    struct tm_number number = { .value = -1 };

    if (event->args && event->record.args_length == sizeof(number))
        memcpy(&number, event->args, sizeof(number));
    sum->count++;
    if (number.value >= 0)
        sum->bytes = tm_sum_counts(sum->bytes, (uint64_t)number.value);
    else
        sum->unknown_count++;
}

/* TPU: how long a copy is in flight, beside the ops that start it and wait for it.  Such stretches belong to no step:
 * those count that begin while the chosen steps run. */
TM_NOT_INLINE tm_status take_flight(struct transfers *t, struct copy_lane *lane, const struct tm_event *event)
{
    const struct tm_record *r = &event->record;
    const struct tm_config *c = event->config;
    enum tm_direction which;

    if (!is_copy_level(c->level) || !c->has_copy_bytes || r->start_ps < lane->begin_ps || r->start_ps >= lane->end_ps)
        return TM_OK;
    which = direction_of((enum tm_level)c->level);
    return note_large(t, lane, event, which);
}

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct transfers *t = s->state;
    const struct tm_record *r = &event->record;
    enum tm_direction direction;
    struct copy_lane *lane;
    tm_status st = TM_OK;

    if (event->traits & TM_TRAIT_TPU_TRANSFER && event->device == TM_NONE) {
        take_tpu_host(t, event);
        return TM_OK;
    }
    if (event->device >= t->lane_count || t->lanes[event->device].number == TM_NONE)
        return TM_OK;
    lane = &t->lanes[event->device];
    if (r->class == TM_CLASS_TPU_ASYNC)
        return take_flight(t, lane, event);
    if (event->level != TM_LEVEL_NONE) {
        st = sweep_to(t, lane, r->start_ps);
        add_activity(lane, event);
    }
    if (st == TM_OK && is_copy(event, &direction))
        st = take_copy(t, lane, event, direction);
    return st;
}

/* --- a host ends --- */

static tm_status end_host(struct tm_stage *s)
{
    struct transfers *t = s->state;
    tm_status st = TM_OK;

    for (uint32_t i = 0; i < t->lane_count && st == TM_OK; i++) {
        struct copy_lane *lane = &t->lanes[i];

        if (lane->number == TM_NONE)
            continue;
        st = sweep_to(t, lane, tm_sweep_busy_until(&lane->sweep));
        for (unsigned k = 0; k < TM_DIRECTION_COUNT; k++)
            end_flight(t, lane, i, (enum tm_direction)k);
        for (unsigned k = 0; k < TM_DIRECTION_COUNT && st == TM_OK; k++) {
            const struct copy_pair pair = { lane->number, k, lane->sums[k] };

            if (pair.sum.count)
                st = tm_rows_append(t->pairs, &pair);
        }
    }
    give_lanes(t);
    t->trace = NULL;
    return st;
}

static void close_stage(struct tm_stage *s)
{
    struct transfers *t = s->state;

    if (!t->run)
        return;
    give_lanes(t);
    tm_rows_free(t->ids);
    tm_rows_free(t->pairs);
    tm_groups_free(t->repeats);
    tm_top_rows_free(t->largest);
}

const struct tm_stage_type tm_transfers_stage = {
    .name = "transfers",
    .summary = "copies by direction, size and device",
    .state_bytes = sizeof(struct transfers),
    .classes = TM_CLASSES_ALL,
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = tm_transfers_report,
    .save = tm_transfers_save,
    .load = tm_transfers_load,
    .close = close_stage,
};
