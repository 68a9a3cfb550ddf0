/* SPDX-License-Identifier: Apache-2.0 */
/* The activities that critical paths are followed over: rows per device in the order of their starts, with what ended
 * before them.  A row refers to rows before it by their distance, so rows that are no longer needed can be dropped.
 * Memory: rows spill; they are needed for a step, or for a slice of the host's events. */
#include <string.h>

#include "pipeline/record.h"
#include "stages/figures/critical_path.h"
#include "stages/figures/device_time.h"
#include "stages/figures/skew.h"

enum {
    LOOK_BACK = 64,   /* rows that may end after one that starts later */
    MEMBER_BACK = 48, /* rows of another device among which its part of a collective is */
    COUNTERS = 256,   /* different collectives of a device in a step: a power of two */
    KEPT_ROWS = 512,  /* rows that are no longer needed are dropped if there are more of them */
    PAGE = 16 << 10,
};

static const struct lane *lane_at(const struct tm_critical_path *p, uint32_t lane)
{
    return &p->d->lanes[p->d->first_lane + lane];
}

size_t tm_path_memory(const struct tm_critical_path *p)
{
    const struct tm_budget *const budget = &p->d->run->budget;
    const size_t sure = tm_budget_share(budget, TM_ACCOUNT_THREADS) / 4;
    const size_t model = tm_budget_share(budget, TM_ACCOUNT_MODEL), used = budget->used_bytes[TM_ACCOUNT_MODEL];
    const size_t spare = p->account == TM_ACCOUNT_MODEL && model > used ? (model - used) / 2 : 0;

    return spare > sure ? spare : sure;
}

/* in: memory_bytes  of its rows: with 256M and 8 devices 640 KiB, so that those of a step and of a slice of the host's
 * events are not spilled; with a quarter of that, a report of 5 million events takes 4% more CPU time */
void tm_path_begin_lane(struct tm_critical_path *p, uint32_t number, size_t memory_bytes)
{
    const struct lane *const lane = lane_at(p, number);
    struct tm_path_lane *const own = &p->lanes[number];
    struct tm_run *const run = p->d->run;

    if (lane->device.kind == TM_DEVICE_CPU) {
        p->has_cpu = true;
        return;
    }
    own->from_ps = lane->start_ps;
    own->until_ps = lane->end_ps;
    own->next_end_ps = INT64_MAX;
    if (!has_window(lane))
        return;
    own->blocks = tm_rows_new_paged(run, p->account, sizeof(struct tm_path_block), memory_bytes, PAGE);
    if (lane->device.kind == TM_DEVICE_TPU)
        own->nested = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*own->nested), &run->error);
}

void tm_path_end_lane(struct tm_critical_path *p, struct tm_path_lane *lane)
{
    struct tm_budget *const budget = &p->d->run->budget;

    tm_rows_free(lane->blocks);
    tm_give(budget, TM_ACCOUNT_MODEL, lane->nested, lane->nested ? sizeof(*lane->nested) : 0);
    tm_give(budget, TM_ACCOUNT_MODEL, lane->counters, lane->counters ? COUNTERS * sizeof(*lane->counters) : 0);
}

/* --- activities --- */

static const char *text_of(const struct tm_critical_path *p, tm_strid id)
{
    return id ? tm_names_text(p->d->names, id, 0, NULL) : "";
}

/* The group of a device among those of a collective's replica groups; TM_NONE = not known. */
static uint32_t subgroup_of(struct tm_critical_path *p, uint32_t device, const struct tm_event *event)
{
    const struct tm_hlo_op *op = NULL;
    tm_strid text;

    tm_trace_hlo(p->d->trace, event->config, &op);
    text = op ? op->groups : 0;
    if (text != p->subgroups_text) {
        tm_skew_find_subgroups(text_of(p, text), p->subgroups, p->d->trace->device_count);
        p->subgroups_text = text;
    }
    return p->subgroups[device];
}

/* How often the device has already run that collective in the step; TM_NONE = there are too many different ones. */
static uint32_t count_in_step(struct tm_critical_path *p, struct tm_path_lane *lane, uint64_t key, uint32_t step)
{
    struct tm_run *const run = p->d->run;

    if (!lane->counters)
        lane->counters = tm_take(&run->budget, TM_ACCOUNT_MODEL, COUNTERS * sizeof(*lane->counters), &run->error);
    for (uint32_t i = 0; lane->counters && i < COUNTERS; i++) {
        struct tm_path_counter *const counter = &lane->counters[(key + i) & (COUNTERS - 1)];

        if (!counter->key && lane->counter_count == COUNTERS / 2)
            return TM_NONE;
        if (!counter->key) {
            lane->counter_count++;
            *counter = (struct tm_path_counter){ key, step, 0 };
        }
        if (counter->key != key)
            continue;
        if (counter->step != step)
            *counter = (struct tm_path_counter){ key, step, 0 };
        return counter->count++;
    }
    return TM_NONE;
}

/* in:     event  in a step, with nothing of it on another line */
static uint64_t key_of(struct tm_critical_path *p, const struct tm_event *event)
{
    const struct tm_config *const config = event->config;
    const uint32_t subgroup = subgroup_of(p, event->device, event);
    const uint64_t what = config->hlo_op ? (uint64_t)config->hlo_op << 32 : event->record.name;
    const uint64_t key = tm_hash_mix(what, (uint64_t)config->message << 32 | subgroup);

    if (subgroup == TM_NONE || tm_collective_facts(p->d->trace, event).kind == TM_SEND_RECV)
        return 0;
    return tm_hash_mix(key ^ (uint64_t)config->program_id, UINT64_C(0x9e3779b97f4a7c15)) | 1;
}

/* The number of a collective, the same on all participating devices: from what it is, its step, and its place among
 * those of the step.  0 = not known. */
TM_NOT_INLINE uint64_t collective_of(struct tm_critical_path *p, struct tm_path_lane *lane,
                                     const struct tm_event *event)
{
    struct tm_path_known *const known = &p->known[event->site & (TM_PATH_KNOWN - 1)];
    uint32_t place;

    if (event->step == TM_NONE || event->config->tpu_part != TM_TPU_PLAIN)
        return 0;
    if (!event->site || known->site != event->site)
        *known = (struct tm_path_known){ event->site, key_of(p, event) };
    if (!known->key)
        return 0;
    place = count_in_step(p, lane, known->key, event->step);
    return place == TM_NONE ? 0 : tm_hash_mix(known->key, (uint64_t)event->step << 32 | place) | 1;
}

/* Activities that have ended by now: the last one of them. */
TM_NOT_INLINE void end_open(struct tm_path_lane *lane, int64_t now_ps)
{
    uint32_t left = 0;

    lane->next_end_ps = INT64_MAX;
    for (uint32_t i = 0; i < lane->open_count; i++) {
        const struct tm_path_open open = lane->open[i];

        if (open.end_ps > now_ps) {
            lane->next_end_ps = open.end_ps < lane->next_end_ps ? open.end_ps : lane->next_end_ps;
            lane->open[left++] = open;
        } else if (open.end_ps > lane->ended.end_ps || !lane->ended.row) {
            lane->ended = open;
        }
    }
    lane->open_count = left;
}

/* The block of the next row, which stays in place until another row is read. */
TM_NOT_INLINE void open_block(struct tm_path_lane *lane)
{
    const uint64_t block = lane->count / TM_PATH_BLOCK;

    if (block >= tm_rows_count(lane->blocks))
        tm_rows_resize(lane->blocks, block + 1);
    lane->block = tm_rows_change(lane->blocks, block);
}

/* The next row, to be filled: its times first. */
static inline struct tm_path_activity *new_row(struct tm_path_lane *lane)
{
    if (!lane->block)
        open_block(lane);
    return &lane->block->rows[lane->count % TM_PATH_BLOCK];
}

/* The row is filled: find what it followed. */
static inline void append(struct tm_path_lane *lane, uint32_t track, struct tm_path_activity *row)
{
    const uint64_t number = lane->dropped + ++lane->count;
    const uint32_t slot = track & (TM_PATH_STREAMS - 1);

    if (row->start_ps >= lane->next_end_ps && lane->open_count == 1) {
        if (lane->next_end_ps > lane->ended.end_ps || !lane->ended.row) {
            /* one by one, as they were written a moment ago: copied together they would wait for the cache */
            lane->ended.end_ps = lane->open[0].end_ps;
            lane->ended.row = lane->open[0].row;
        }
        lane->open_count = 0;
        lane->next_end_ps = INT64_MAX;
    } else if (row->start_ps >= lane->next_end_ps) {
        end_open(lane, row->start_ps);
    }
    row->before = lane->ended.row ? (uint32_t)(number - lane->ended.row) : 0;
    row->on_stream = 0;
    if (lane->stream[slot].track == track + 1 && lane->stream[slot].end_ps <= row->start_ps)
        row->on_stream = (uint32_t)(number - lane->stream[slot].row);
    lane->stream[slot].track = track + 1;
    lane->stream[slot].end_ps = row->end_ps;
    lane->stream[slot].row = number;
    if (lane->open_count < TM_PATH_OPEN_MOST) {
        lane->open[lane->open_count].end_ps = row->end_ps;
        lane->open[lane->open_count++].row = number;
        lane->next_end_ps = row->end_ps < lane->next_end_ps ? row->end_ps : lane->next_end_ps;
    }
    if (lane->count % TM_PATH_BLOCK == 0)
        lane->block = NULL;
}

static void append_copy(struct tm_path_lane *lane, uint32_t track, const struct tm_path_activity *from)
{
    struct tm_path_activity *const row = new_row(lane);

    *row = *from;
    append(lane, track, row);
}

/* Ops of a TPU nest: an outer one has the time that its inner ones leave, in pieces.  Append what has ended. */
void tm_path_end_nested(struct tm_path_lane *lane, int64_t now_ps)
{
    struct tm_path_nested *const nested = lane->nested;

    while (lane->nested_count && nested->op[lane->nested_count - 1].end_ps <= now_ps) {
        const struct tm_path_activity *const inner = &nested->op[--lane->nested_count];

        if (inner->start_ps < inner->end_ps)
            append_copy(lane, nested->track[lane->nested_count], inner);
        if (lane->nested_count && nested->op[lane->nested_count - 1].start_ps < inner->end_ps)
            nested->op[lane->nested_count - 1].start_ps = inner->end_ps;
    }
}

/* in: from  the place of the next row, which is overwritten by a piece that has ended */
TM_NOT_INLINE void take_nested(struct tm_path_lane *lane, uint32_t track, const struct tm_path_activity *from)
{
    struct tm_path_nested *const nested = lane->nested;
    const struct tm_path_activity own = *from, *const row = &own;
    struct tm_path_activity *outer;

    tm_path_end_nested(lane, row->start_ps);
    if (lane->nested_count == TM_PATH_NESTED_MOST)
        return; /* it counts as a part of the enclosing one */
    outer = lane->nested_count ? &nested->op[lane->nested_count - 1] : NULL;
    if (outer && outer->start_ps < row->start_ps) {
        struct tm_path_activity piece = *outer;

        piece.end_ps = row->start_ps;
        append_copy(lane, nested->track[lane->nested_count - 1], &piece);
        outer->start_ps = row->start_ps;
    }
    nested->track[lane->nested_count] = track;
    nested->op[lane->nested_count++] = *row;
}

static inline void take_activity(struct tm_critical_path *p, struct tm_path_lane *lane, const struct tm_event *event)
{
    const struct tm_record *const r = &event->record;
    const int64_t end_ps = r->start_ps + r->dur_ps;
    struct tm_path_activity *row;

    if (r->start_ps >= lane->until_ps || end_ps <= lane->from_ps)
        return;
    row = new_row(lane);
    row->start_ps = r->start_ps;
    row->end_ps = end_ps;
    row->launch_ps = row->launch_end_ps = INT64_MIN;
    if (event->launch_track != TM_NONE) {
        row->launch_ps = event->launch_start_ps;
        row->launch_end_ps = event->launch_start_ps + event->launch_dur_ps;
    }
    row->collective = event->level == TM_LEVEL_COLLECTIVE ? collective_of(p, lane, event) : 0;
    row->name = r->name;
    row->config = r->config;
    row->thread = event->launch_thread;
    row->level = event->level;
    if (lane->nested)
        take_nested(lane, r->track, row);
    else
        append(lane, r->track, row);
}

void tm_critical_path_take(struct tm_critical_path *p, uint32_t number, const struct tm_event *events, size_t count,
                           uint32_t wanted)
{
    struct tm_path_lane *const lane = &p->lanes[number];

    for (size_t i = 0; i < count && lane->blocks; i++)
        if (events[i].wanted & wanted && events[i].level != TM_LEVEL_NONE &&
            events[i].record.class != TM_CLASS_TPU_ASYNC)
            take_activity(p, lane, &events[i]);
}

/* --- rows of a lane --- */

const struct tm_path_activity *tm_path_at(const struct tm_path_lane *lane, uint64_t index)
{
    const struct tm_path_block *const block = tm_rows_at(lane->blocks, index / TM_PATH_BLOCK);

    return &block->rows[index % TM_PATH_BLOCK];
}

/* The first row from `low` on that does not start before a time; none from `high` on does. */
static uint64_t first_between(const struct tm_path_lane *lane, int64_t time_ps, uint64_t low, uint64_t high)
{
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (tm_path_at(lane, middle)->start_ps < time_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first row that does not start before a time. */
uint64_t tm_path_first(const struct tm_path_lane *lane, int64_t time_ps)
{
    return first_between(lane, time_ps, 0, lane->count);
}

/* The same, searched for near the one that was found last. */
static uint64_t first_nearby(struct tm_path_lane *lane, int64_t time_ps)
{
    uint64_t low = lane->near < lane->count ? lane->near : lane->count, high = low;

    for (uint64_t step = 1; low > 0 && tm_path_at(lane, low - 1)->start_ps >= time_ps; step *= 2) {
        high = low - 1;
        low = high > step ? high - step : 0;
    }
    for (uint64_t step = 1; high < lane->count && tm_path_at(lane, high)->start_ps < time_ps; step *= 2) {
        low = high + 1;
        high = lane->count - low > step ? low + step : lane->count;
    }
    return lane->near = first_between(lane, time_ps, low, high);
}

/* Of the rows that have ended by a time, the one that ends last, the earliest of several.  out: false: there is none */
static bool find_ended(struct tm_path_lane *lane, int64_t time_ps, uint64_t *index, int64_t *end_ps)
{
    const uint64_t from = first_nearby(lane, time_ps), least = from > LOOK_BACK ? from - LOOK_BACK : 0;
    int64_t last_ps = INT64_MIN;
    bool found = false;

    for (uint64_t i = from; i > least;) {
        const uint64_t first = (i - 1) / TM_PATH_BLOCK * TM_PATH_BLOCK, lowest = first > least ? first : least;
        const struct tm_path_activity *const rows = tm_path_at(lane, first);

        for (; i > lowest; i--) {
            const int64_t row_end_ps = rows[i - 1 - first].end_ps;

            if (row_end_ps > time_ps || row_end_ps < last_ps)
                continue;
            found = true;
            *index = i - 1;
            last_ps = row_end_ps;
        }
    }
    if (found)
        *end_ps = last_ps;
    if (least && !found && tm_path_at(lane, least)->before && tm_path_at(lane, least)->before <= least) {
        *index = least - tm_path_at(lane, least)->before;
        *end_ps = tm_path_at(lane, *index)->end_ps;
        found = true;
    }
    return found;
}

bool tm_path_is_in_group(const struct tm_critical_path *p, uint32_t group, uint32_t lane)
{
    return p->lanes[lane].blocks && lane_at(p, lane)->group == p->d->first_group + group;
}

/* What ended last on any device.  out: false: nothing */
bool tm_path_find_last(const struct tm_critical_path *p, uint32_t group, int64_t time_ps, struct tm_path_place *place,
                       int64_t *end_ps)
{
    int64_t start_ps = 0;
    bool found = false;

    for (uint32_t i = 0; i < p->lane_count; i++) {
        uint64_t own;
        int64_t own_end_ps = 0, own_start_ps;

        if (!tm_path_is_in_group(p, group, i) || !find_ended(&p->lanes[i], time_ps, &own, &own_end_ps))
            continue;
        own_start_ps = tm_path_at(&p->lanes[i], own)->start_ps;
        if (found && (own_end_ps < *end_ps || (own_end_ps == *end_ps && own_start_ps >= start_ps)))
            continue;
        found = true;
        *place = (struct tm_path_place){ i, own };
        *end_ps = own_end_ps;
        start_ps = own_start_ps;
    }
    return found;
}

/* The part of a collective that another device has, if they ran at the same time.  out: 0 = none, else its index plus
 * one */
uint64_t tm_path_member(const struct tm_path_lane *other, const struct tm_path_activity *own)
{
    uint64_t from = tm_path_first(other, own->end_ps);
    const uint64_t least = from > MEMBER_BACK ? from - MEMBER_BACK : 0;

    for (; from > least && tm_path_at(other, from - 1)->collective != own->collective; from--)
        ;
    return from > least && tm_path_at(other, from - 1)->end_ps > own->start_ps ? from : 0;
}

/* The device that started a collective last, which the others wait for; the lane itself if it is not known. */
struct tm_path_activity tm_path_last_member(const struct tm_critical_path *p, uint32_t group,
                                            const struct tm_path_activity *own, struct tm_path_place *place)
{
    const struct tm_path_place here = *place;
    struct tm_path_activity last = *own;
    int64_t ends_ps = own->end_ps;

    for (uint32_t i = 0; i < p->lane_count; i++) {
        const struct tm_path_lane *const other = &p->lanes[i];
        uint64_t from;

        if (i == here.lane || !tm_path_is_in_group(p, group, i))
            continue;
        from = tm_path_member(other, own);
        if (!from)
            continue;
        ends_ps = tm_path_at(other, from - 1)->end_ps < ends_ps ? tm_path_at(other, from - 1)->end_ps : ends_ps;
        if (tm_path_at(other, from - 1)->start_ps <= last.start_ps)
            continue;
        last = *tm_path_at(other, from - 1);
        *place = (struct tm_path_place){ i, from - 1 };
    }
    if (last.start_ps < ends_ps) /* they ran at the same time */
        return last;
    *place = here;
    return *own;
}

int tm_path_kind_of(const struct tm_path_activity *row)
{
    switch ((enum tm_level)row->level) {
    case TM_LEVEL_COMPUTE:
    case TM_LEVEL_CONTAINER:
        return TM_PATH_COMPUTE;
    case TM_LEVEL_COLLECTIVE:
        return TM_PATH_COLLECTIVE;
    default:
        return TM_PATH_COPY;
    }
}

/* What an activity followed: the one before it on its stream, if it started right after that; else what ended last on
 * the device.  out: 0 = nothing */
uint64_t tm_path_before(const struct tm_path_lane *lane, uint64_t index, const struct tm_path_activity *row)
{
    if (row->on_stream && row->on_stream <= index) {
        const uint64_t on_stream = index - row->on_stream;

        if (row->start_ps - tm_path_at(lane, on_stream)->end_ps <= PAUSE_BELOW_PS)
            return on_stream + 1;
    }
    return row->before && row->before <= index ? index - row->before + 1 : 0;
}

/* Rows that no later step needs: whole blocks. */
void tm_path_drop_rows(struct tm_path_lane *lane, int64_t before_ps)
{
    const uint64_t from = tm_path_first(lane, before_ps);
    const uint64_t blocks = (lane->count + TM_PATH_BLOCK - 1) / TM_PATH_BLOCK;
    const uint64_t first = from > LOOK_BACK ? (from - LOOK_BACK) / TM_PATH_BLOCK : 0;

    if (first * TM_PATH_BLOCK < KEPT_ROWS || first < blocks - first)
        return;
    for (uint64_t i = first; i < blocks; i++) {
        const struct tm_path_block block = *(const struct tm_path_block *)tm_rows_at(lane->blocks, i);

        *(struct tm_path_block *)tm_rows_change(lane->blocks, i - first) = block;
    }
    lane->count -= first * TM_PATH_BLOCK;
    lane->dropped += first * TM_PATH_BLOCK;
}
