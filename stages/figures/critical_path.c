/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of each analyzed step.  Activities of a device wait in rows until all devices of their host have
 * passed the end of a step; then the path is followed from there back to the start of the step:
 *
 *     end of the step ─► activity ─► what ended last before it, on its stream or its device ─► ...
 *                           │  └─ a collective: the device that came last
 *                           └─ launched after that: launch ─► host thread, back to a wait ─► what the wait ended with
 *
 * Only what is on the path is visited, so a step of any length costs what its path does.  A row refers to rows before
 * it by their distance, so rows that are no longer needed can be dropped.  Memory: rows per device that spill, up to a
 * step or a slice of the host's events; a row per step; groups by call site. */
#include "stages/figures/critical_path.h"

#include <string.h>

#include "pipeline/front.h"
#include "pipeline/record.h"
#include "stages/figures/device_time.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/skew.h"

enum {
    STREAMS = 16,      /* of a device, whose last activity is known: a power of two */
    OPEN_MOST = 32,    /* activities of a device that run at once */
    BLOCK = 32,        /* rows that are stored at once: a power of two */
    LOOK_BACK = 64,    /* rows that may end after one that starts later */
    MEMBER_BACK = 256, /* rows of another device among which its part of a collective is */
    NESTED_MOST = 16,  /* ops of a TPU in each other */
    COUNTERS = 256,    /* different collectives of a device in a step: a power of two */
    KEPT_ROWS = 512,   /* rows that are no longer needed are dropped if there are more of them */
    PAGE = 16 << 10,
};

/* On the host, without launch facts. */
#define NO_CONFIG UINT32_C(0xffffff00)

static const char *const busy_name[TM_PATH_CAUSES] = { "compute", "collective", "copy" };

const char *tm_path_kind_name(int kind)
{
    return kind < TM_PATH_CAUSES ? busy_name[kind] : tm_cause_name[kind - TM_PATH_CAUSES];
}

/* One activity.  before, on_stream: how many rows before this one is the one that ended last before it starts, on its
 * device and its stream; 0 = none. */
struct activity {
    int64_t start_ps, end_ps;
    int64_t launch_ps, launch_end_ps; /* INT64_MIN = no launch is known */
    uint64_t collective;              /* the same on all devices that take part; 0 = it is none, or not known */
    uint32_t before, on_stream;
    uint32_t name, config, thread; /* thread: that launched it */
    uint32_t level;
};

static_assert(sizeof(struct activity) == 64, "one cache line");

/* A row of the store: appending and moving them costs little per activity. */
struct activity_block {
    struct activity rows[BLOCK];
};

/* Ops of a TPU that run, each inside the one before; from start_ps on it has no row yet. */
struct nested {
    struct activity op[NESTED_MOST];
    uint32_t track[NESTED_MOST];
};

struct open_activity {
    int64_t end_ps;
    uint64_t row; /* of all rows of the device, from 1 */
};

struct counter {
    uint64_t key;
    uint32_t step, count;
};

/* One device of the present host. */
struct path_lane {
    struct tm_rows *blocks; /* struct activity_block, of rows in the order of their starts; NULL = it is not analyzed */
    uint64_t count;         /* rows; the last ones are in `tail` until it is full */
    uint64_t dropped;       /* rows that were before the first one */
    int64_t from_ps, until_ps; /* the analyzed steps */
    struct open_activity open[OPEN_MOST];
    uint32_t open_count;
    int64_t next_end_ps;        /* the earliest of these */
    struct open_activity ended; /* that ended last; row 0 = none */
    struct {
        int64_t end_ps;
        uint64_t row;
        uint32_t track; /* plus one */
    } stream[STREAMS];
    struct counter *counters; /* of collectives; NULL = it has run none */
    uint32_t counter_count;
    uint32_t nested_count;
    struct nested *nested; /* of a TPU; NULL elsewhere */
    struct activity_block tail;
};

/* A step of a group of devices. */
struct path_step {
    int64_t number, start_ps, dur_ps;
    int64_t parts_ps[TM_PATH_KINDS];
    uint64_t ordinal, activities, on_path, switches;
    uint32_t host;
};

/* What a call site, or a name of the host, takes of the paths. */
struct path_row {
    struct tm_key key;
    uint64_t count;
    int64_t total_ps;
    tm_strid name, op, source;
    uint8_t kind;
};

/* The next analyzed step of a group. */
struct path_group {
    uint64_t ordinal;
    int64_t start_ps, end_ps;
    bool exists;
};

struct tm_critical_path {
    struct device_time *d;
    struct path_lane *lanes; /* of the present host */
    uint32_t lane_count;
    struct path_group *groups; /* likewise */
    uint32_t group_count;
    tm_strid subgroups_text; /* that `subgroups` refers to */
    uint32_t subgroups[TM_DEVICES_MOST];
    bool has_cpu; /* a device was left out because it is a CPU */
    /* of the run */
    struct tm_rows *steps;   /* struct path_step */
    struct tm_groups *sites; /* struct path_row */
    struct tm_front front;
};

static void add_site(void *into, const void *from)
{
    struct path_row *to = into;
    const struct path_row *more = from;

    to->count = tm_sum_counts(to->count, more->count);
    to->total_ps = tm_sum_times(to->total_ps, more->total_ps);
}

struct tm_critical_path *tm_critical_path_new(struct device_time *d)
{
    struct tm_run *const run = d->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_THREADS) / 32;
    struct tm_critical_path *p = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*p), &run->error);

    if (!p)
        return NULL;
    p->d = d;
    p->steps = tm_rows_new_paged(run, TM_ACCOUNT_THREADS, sizeof(struct path_step), share, PAGE);
    p->sites = tm_groups_new(run, TM_ACCOUNT_THREADS, sizeof(struct path_row), share, add_site);
    if (p->sites)
        tm_front_init(&p->front, run, TM_ACCOUNT_THREADS, sizeof(struct path_row), share, p->sites);
    if (!tm_failed(run))
        return p;
    tm_critical_path_free(p);
    return NULL;
}

static void forget_host(struct tm_critical_path *p)
{
    struct tm_budget *const budget = &p->d->run->budget;

    for (uint32_t i = 0; i < p->lane_count; i++) {
        struct path_lane *const lane = &p->lanes[i];

        tm_rows_free(lane->blocks);
        tm_give(budget, TM_ACCOUNT_MODEL, lane->nested, lane->nested ? sizeof(*lane->nested) : 0);
        tm_give(budget, TM_ACCOUNT_MODEL, lane->counters, lane->counters ? COUNTERS * sizeof(*lane->counters) : 0);
    }
    tm_give(budget, TM_ACCOUNT_MODEL, p->lanes, p->lanes ? p->lane_count * sizeof(*p->lanes) : 0);
    tm_give(budget, TM_ACCOUNT_MODEL, p->groups, p->groups ? p->group_count * sizeof(*p->groups) : 0);
    p->lanes = NULL;
    p->groups = NULL;
    p->lane_count = p->group_count = 0;
}

void tm_critical_path_free(struct tm_critical_path *p)
{
    if (!p)
        return;
    forget_host(p);
    tm_front_release(&p->front);
    tm_groups_free(p->sites);
    tm_rows_free(p->steps);
    tm_give(&p->d->run->budget, TM_ACCOUNT_MODEL, p, sizeof(*p));
}

/* --- a host starts --- */

static const struct lane *lane_at(const struct tm_critical_path *p, uint32_t lane)
{
    return &p->d->lanes[p->d->first_lane + lane];
}

/* The next analyzed step of a group that takes time. */
static void find_step(const struct tm_critical_path *p, uint32_t number)
{
    const struct device_time *const d = p->d;
    const struct tm_steps *const steps = &d->trace->steps;
    struct path_group *const group = &p->groups[number];
    const uint32_t first = d->groups[d->first_group + number].first_lane;

    group->exists = false;
    if (first == TM_NONE || d->lanes[first].device.kind == TM_DEVICE_CPU)
        return;
    for (; group->ordinal < steps->count && !tm_failed(d->run); group->ordinal++) {
        const struct tm_step_mark *mark = tm_rows_at(steps->marks, group->ordinal);
        const struct tm_step_row *row;

        if (!mark->chosen)
            continue;
        row = tm_rows_at(steps->rows, d->lanes[first].first_step_row + group->ordinal);
        if (row->end_ps <= row->start_ps)
            continue;
        group->start_ps = row->start_ps;
        group->end_ps = row->end_ps;
        group->exists = true;
        return;
    }
}

/* in: memory_bytes  of its rows: with 256M and 8 devices 640 KiB, so that those of a step and of a slice of the host's
 * events are not spilled; with a quarter of that, a report of 5 million events takes 4% more CPU time */
static void begin_lane(struct tm_critical_path *p, uint32_t number, size_t memory_bytes)
{
    const struct lane *const lane = lane_at(p, number);
    struct path_lane *const own = &p->lanes[number];
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
    own->blocks = tm_rows_new_paged(run, TM_ACCOUNT_THREADS, sizeof(struct activity_block), memory_bytes, PAGE);
    if (lane->device.kind == TM_DEVICE_TPU)
        own->nested = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*own->nested), &run->error);
}

void tm_critical_path_begin_host(struct tm_critical_path *p)
{
    struct device_time *const d = p->d;
    struct tm_budget *const budget = &d->run->budget;
    const uint32_t lanes = d->lane_count - d->first_lane, groups = d->group_count - d->first_group;

    p->subgroups_text = TM_NONE;
    if (!lanes || !groups || tm_failed(d->run))
        return;
    p->lanes = tm_take(budget, TM_ACCOUNT_MODEL, lanes * sizeof(*p->lanes), &d->run->error);
    p->groups = tm_take(budget, TM_ACCOUNT_MODEL, groups * sizeof(*p->groups), &d->run->error);
    p->lane_count = p->lanes ? lanes : 0;
    p->group_count = p->groups ? groups : 0;
    for (uint32_t i = 0; i < lanes && !tm_failed(d->run); i++)
        begin_lane(p, i, tm_budget_share(budget, TM_ACCOUNT_THREADS) / 4 / lanes);
    for (uint32_t i = 0; i < groups && !tm_failed(d->run); i++)
        find_step(p, i);
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

/* How many of that collective the device has run in the step before; TM_NONE = there are too many different ones. */
static uint32_t count_in_step(struct tm_critical_path *p, struct path_lane *lane, uint64_t key, uint32_t step)
{
    struct tm_run *const run = p->d->run;

    if (!lane->counters)
        lane->counters = tm_take(&run->budget, TM_ACCOUNT_MODEL, COUNTERS * sizeof(*lane->counters), &run->error);
    for (uint32_t i = 0; lane->counters && i < COUNTERS; i++) {
        struct counter *const counter = &lane->counters[(key + i) & (COUNTERS - 1)];

        if (!counter->key && lane->counter_count == COUNTERS / 2)
            return TM_NONE;
        if (!counter->key) {
            lane->counter_count++;
            *counter = (struct counter){ key, step, 0 };
        }
        if (counter->key != key)
            continue;
        if (counter->step != step)
            *counter = (struct counter){ key, step, 0 };
        return counter->count++;
    }
    return TM_NONE;
}

/* The number of a collective that all devices give it which take part: from what it is, its step, and its place among
 * those of the step.  0 = not known. */
static uint64_t collective_of(struct tm_critical_path *p, struct path_lane *lane, const struct tm_event *event)
{
    const struct tm_config *const config = event->config;
    const uint32_t subgroup =
        event->step != TM_NONE && config->tpu_part == TM_TPU_PLAIN ? subgroup_of(p, event->device, event) : TM_NONE;
    const uint64_t what = config->hlo_op ? (uint64_t)config->hlo_op << 32 : event->record.name;
    uint64_t key = tm_hash_mix(what, (uint64_t)config->message << 32 | subgroup);
    uint32_t place;

    if (subgroup == TM_NONE || tm_collective_facts(p->d->trace, event).kind == TM_SEND_RECV)
        return 0;
    key = tm_hash_mix(key ^ (uint64_t)config->program_id, UINT64_C(0x9e3779b97f4a7c15)) | 1;
    place = count_in_step(p, lane, key, event->step);
    return place == TM_NONE ? 0 : tm_hash_mix(key, (uint64_t)event->step << 32 | place) | 1;
}

/* Activities that have ended by now: the last one of them. */
TM_NOT_INLINE void end_open(struct path_lane *lane, int64_t now_ps)
{
    uint32_t left = 0;

    lane->next_end_ps = INT64_MAX;
    for (uint32_t i = 0; i < lane->open_count; i++) {
        const struct open_activity open = lane->open[i];

        if (open.end_ps > now_ps) {
            lane->next_end_ps = open.end_ps < lane->next_end_ps ? open.end_ps : lane->next_end_ps;
            lane->open[left++] = open;
        } else if (open.end_ps > lane->ended.end_ps || !lane->ended.row) {
            lane->ended = open;
        }
    }
    lane->open_count = left;
}

TM_NOT_INLINE void store_tail(struct path_lane *lane)
{
    const uint64_t block = lane->count / BLOCK - 1;

    if (block < tm_rows_count(lane->blocks))
        *(struct activity_block *)tm_rows_change(lane->blocks, block) = lane->tail;
    else
        tm_rows_append(lane->blocks, &lane->tail);
}

/* The next row, to be filled: its times first. */
static inline struct activity *new_row(struct path_lane *lane)
{
    return &lane->tail.rows[lane->count % BLOCK];
}

/* It is filled: what it followed. */
static inline void append(struct path_lane *lane, uint32_t track, struct activity *row)
{
    const uint64_t number = lane->dropped + ++lane->count;
    const uint32_t slot = track & (STREAMS - 1);

    if (row->start_ps >= lane->next_end_ps)
        end_open(lane, row->start_ps);
    row->before = lane->ended.row ? (uint32_t)(number - lane->ended.row) : 0;
    row->on_stream = 0;
    if (lane->stream[slot].track == track + 1 && lane->stream[slot].end_ps <= row->start_ps)
        row->on_stream = (uint32_t)(number - lane->stream[slot].row);
    lane->stream[slot].track = track + 1;
    lane->stream[slot].end_ps = row->end_ps;
    lane->stream[slot].row = number;
    if (lane->open_count < OPEN_MOST) {
        lane->open[lane->open_count].end_ps = row->end_ps;
        lane->open[lane->open_count++].row = number;
        lane->next_end_ps = row->end_ps < lane->next_end_ps ? row->end_ps : lane->next_end_ps;
    }
    if (lane->count % BLOCK == 0)
        store_tail(lane);
}

static void append_copy(struct path_lane *lane, uint32_t track, const struct activity *from)
{
    struct activity *const row = new_row(lane);

    *row = *from;
    append(lane, track, row);
}

/* Ops of a TPU are in each other: an outer one has what its inner ones leave, in pieces.  Append what is over. */
static void end_nested(struct path_lane *lane, int64_t now_ps)
{
    struct nested *const nested = lane->nested;

    while (lane->nested_count && nested->op[lane->nested_count - 1].end_ps <= now_ps) {
        const struct activity *const inner = &nested->op[--lane->nested_count];

        if (inner->start_ps < inner->end_ps)
            append_copy(lane, nested->track[lane->nested_count], inner);
        if (lane->nested_count && nested->op[lane->nested_count - 1].start_ps < inner->end_ps)
            nested->op[lane->nested_count - 1].start_ps = inner->end_ps;
    }
}

static void take_nested(struct path_lane *lane, uint32_t track, const struct activity *row)
{
    struct nested *const nested = lane->nested;
    struct activity *outer;

    end_nested(lane, row->start_ps);
    if (lane->nested_count == NESTED_MOST)
        return; /* it is a part of the one around it */
    outer = lane->nested_count ? &nested->op[lane->nested_count - 1] : NULL;
    if (outer && outer->start_ps < row->start_ps) {
        struct activity piece = *outer;

        piece.end_ps = row->start_ps;
        append_copy(lane, nested->track[lane->nested_count - 1], &piece);
        outer->start_ps = row->start_ps;
    }
    nested->track[lane->nested_count] = track;
    nested->op[lane->nested_count++] = *row;
}

static inline void fill(struct tm_critical_path *p, struct path_lane *lane, const struct tm_event *event,
                        struct activity *row)
{
    const struct tm_record *const r = &event->record;
    const bool has_launch = event->launch_track != TM_NONE;

    row->start_ps = r->start_ps;
    row->end_ps = r->start_ps + r->dur_ps;
    row->launch_ps = has_launch ? event->launch_start_ps : INT64_MIN;
    row->launch_end_ps = has_launch ? event->launch_start_ps + event->launch_dur_ps : INT64_MIN;
    row->collective = event->level == TM_LEVEL_COLLECTIVE ? collective_of(p, lane, event) : 0;
    row->name = r->name;
    row->config = r->config;
    row->thread = event->launch_thread;
    row->level = event->level;
}

void tm_critical_path_take(struct tm_critical_path *p, uint32_t number, const struct tm_event *event)
{
    struct path_lane *const lane = &p->lanes[number];
    const struct tm_record *const r = &event->record;

    if (!lane->blocks || r->start_ps >= lane->until_ps || r->start_ps + r->dur_ps <= lane->from_ps)
        return;
    if (lane->nested) {
        struct activity row;

        fill(p, lane, event, &row);
        take_nested(lane, r->track, &row);
    } else {
        struct activity *const row = new_row(lane);

        fill(p, lane, event, row);
        append(lane, r->track, row);
    }
}

/* --- rows of a lane --- */

static const struct activity *at(const struct path_lane *lane, uint64_t index)
{
    const struct activity_block *const block =
        index / BLOCK < lane->count / BLOCK ? tm_rows_at(lane->blocks, index / BLOCK) : &lane->tail;

    return &block->rows[index % BLOCK];
}

/* The first row that does not start before a time. */
static uint64_t first_from(const struct path_lane *lane, int64_t time_ps)
{
    uint64_t low = 0, high = lane->count;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (at(lane, middle)->start_ps < time_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The row that ends last of those that have ended at a time, the earliest of several.  out: false: there is none */
static bool find_ended(const struct path_lane *lane, int64_t time_ps, uint64_t *index, int64_t *end_ps)
{
    const uint64_t from = first_from(lane, time_ps), least = from > LOOK_BACK ? from - LOOK_BACK : 0;
    bool found = false;

    for (uint64_t i = from; i > least; i--) {
        const struct activity *const row = at(lane, i - 1);

        if (row->end_ps > time_ps || (found && row->end_ps < *end_ps))
            continue;
        found = true;
        *index = i - 1;
        *end_ps = row->end_ps;
    }
    if (least && !found && at(lane, least)->before && at(lane, least)->before <= least) {
        *index = least - at(lane, least)->before;
        *end_ps = at(lane, *index)->end_ps;
        found = true;
    }
    return found;
}

/* --- the path of a step --- */

struct walk {
    struct tm_critical_path *p;
    const struct path_group *group;
    uint32_t number; /* of the group */
    struct path_step step;
    int64_t at_ps; /* from there on the path is known */
    uint32_t lane; /* the path is on a device; TM_NONE = it is not, and the rest of the step has no cause */
    uint64_t index;
    uint32_t last_lane; /* that it was on last; TM_NONE = none */
};

static bool is_in_group(const struct walk *w, uint32_t lane)
{
    return w->p->lanes[lane].blocks && lane_at(w->p, lane)->group == w->p->d->first_group + w->number;
}

static struct tm_key key_of_site(const struct tm_critical_path *p, const struct path_row *row)
{
    struct {
        struct tm_key name, op, source;
        uint64_t kind;
    } text = { .kind = row->kind };

    text.name = tm_names_info(p->d->names, row->name).hash;
    text.op = tm_names_info(p->d->names, row->op).hash;
    text.source = tm_names_info(p->d->names, row->source).hash;
    return tm_hash_key(&text, sizeof(text));
}

/* What is on a row of its own: once per site. */
static void begin_site(struct tm_critical_path *p, struct path_row *row, int kind, tm_strid name, uint32_t config)
{
    row->kind = (uint8_t)kind;
    row->name = name;
    if (config < NO_CONFIG) {
        const struct tm_config facts = *(const struct tm_config *)tm_rows_at(p->d->trace->configs, config);
        const struct tm_hlo_op *op = NULL;

        tm_trace_hlo(p->d->trace, &facts, &op);
        row->op = facts.hlo_op ? facts.hlo_op : facts.op;
        row->source = facts.source ? facts.source : op ? op->source : 0;
    }
    row->key = key_of_site(p, row);
}

/* The path comes from start_ps: a part of the step. */
static void add_segment(struct walk *w, int kind, tm_strid name, uint32_t config, int64_t start_ps)
{
    struct tm_critical_path *const p = w->p;
    const int64_t from_ps = start_ps > w->step.start_ps ? start_ps : w->step.start_ps;
    const int64_t length_ps = w->at_ps - from_ps;
    struct path_row *row;
    bool is_new;

    if (length_ps <= 0)
        return;
    w->at_ps = from_ps;
    w->step.parts_ps[kind] += length_ps;
    if (config >= NO_CONFIG)
        config = NO_CONFIG | (uint32_t)kind;
    row = tm_front_at(&p->front, ((uint64_t)name << 32 | config) + 1, &is_new);
    if (!row)
        return;
    if (is_new)
        begin_site(p, row, kind, name, config);
    row->count++;
    row->total_ps = tm_sum_times(row->total_ps, length_ps);
}

static void go_to(struct walk *w, uint32_t lane, uint64_t index)
{
    if (w->last_lane != TM_NONE && lane != w->last_lane)
        w->step.switches++;
    w->lane = w->last_lane = lane;
    w->index = index;
}

/* What ended last on any device.  out: false: nothing */
static bool find_last(const struct walk *w, int64_t time_ps, uint32_t *lane, uint64_t *index, int64_t *end_ps)
{
    int64_t start_ps = 0;
    bool found = false;

    for (uint32_t i = 0; i < w->p->lane_count; i++) {
        uint64_t own;
        int64_t own_end_ps = 0, own_start_ps;

        if (!is_in_group(w, i) || !find_ended(&w->p->lanes[i], time_ps, &own, &own_end_ps))
            continue;
        own_start_ps = at(&w->p->lanes[i], own)->start_ps;
        if (found && (own_end_ps < *end_ps || (own_end_ps == *end_ps && own_start_ps >= start_ps)))
            continue;
        found = true;
        *lane = i;
        *index = own;
        *end_ps = own_end_ps;
        start_ps = own_start_ps;
    }
    return found;
}

/* A stretch of a host thread.  A wait that ended with the work of a device leads to it. */
static bool take_stretch(void *to, const struct tm_host_stretch *stretch)
{
    struct walk *const w = to;
    const int kind = TM_PATH_CAUSES + (int)stretch->cause;
    uint32_t lane;
    uint64_t index;
    int64_t end_ps;

    if (stretch->cause == TM_CAUSE_SYNC && find_last(w, stretch->end_ps, &lane, &index, &end_ps) &&
        end_ps > stretch->start_ps) {
        add_segment(w, kind, stretch->name, NO_CONFIG, end_ps);
        go_to(w, lane, index);
        return false;
    }
    add_segment(w, kind, stretch->name, NO_CONFIG, stretch->start_ps);
    return true;
}

/* Back on the thread that launched, or on the main thread where that one recorded less than half of the time since the
 * device was ready. */
static void follow_host(struct walk *w, uint32_t thread, int64_t ready_ps)
{
    const struct device_time *const d = w->p->d;
    const uint32_t main = d->trace->main_thread;
    int64_t parts[TM_CAUSE_COUNT] = { 0 };

    w->lane = TM_NONE;
    if (thread != main && ready_ps < w->at_ps) {
        tm_host_threads_ask(d->threads, thread, ready_ps, w->at_ps, parts, NULL);
        if (parts[TM_CAUSE_UNRECORDED] > (w->at_ps - ready_ps) / 2)
            thread = main;
    }
    tm_host_threads_back(d->threads, thread, w->step.start_ps, w->at_ps, take_stretch, w);
}

/* The device that started a collective last, which the others wait for; the lane itself if it is not known. */
static void find_last_member(const struct walk *w, const struct activity *own, uint32_t *lane, uint64_t *index,
                             struct activity *last)
{
    int64_t ends_ps = own->end_ps;

    *last = *own;
    for (uint32_t i = 0; i < w->p->lane_count; i++) {
        const struct path_lane *const other = &w->p->lanes[i];
        uint64_t from, least;

        if (i == w->lane || !is_in_group(w, i))
            continue;
        from = first_from(other, own->end_ps);
        least = from > MEMBER_BACK ? from - MEMBER_BACK : 0;
        for (; from > least && at(other, from - 1)->collective != own->collective; from--)
            ;
        if (from == least || at(other, from - 1)->end_ps <= own->start_ps)
            continue;
        ends_ps = at(other, from - 1)->end_ps < ends_ps ? at(other, from - 1)->end_ps : ends_ps;
        if (at(other, from - 1)->start_ps <= last->start_ps)
            continue;
        *last = *at(other, from - 1);
        *lane = i;
        *index = from - 1;
    }
    if (last->start_ps < ends_ps) /* they were under way together */
        return;
    *last = *own;
    *lane = w->lane;
    *index = w->index;
}

static int kind_of(const struct activity *row)
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
static uint64_t index_before(const struct path_lane *lane, uint64_t index, const struct activity *row)
{
    if (row->on_stream && row->on_stream <= index) {
        const uint64_t on_stream = index - row->on_stream;

        if (row->start_ps - at(lane, on_stream)->end_ps <= PAUSE_BELOW_PS)
            return on_stream + 1;
    }
    return row->before && row->before <= index ? index - row->before + 1 : 0;
}

/* Why an activity did not start earlier. */
static void follow_start(struct walk *w, const struct activity *row)
{
    const struct path_lane *const lane = &w->p->lanes[w->lane];
    const uint64_t before = index_before(lane, w->index, row);
    const bool has_launch = row->launch_ps != INT64_MIN;
    int64_t ready_ps = w->step.start_ps;
    int kind = TM_PATH_CAUSES + TM_CAUSE_DEVICE_WAIT;

    if (before && at(lane, before - 1)->end_ps > ready_ps)
        ready_ps = at(lane, before - 1)->end_ps;
    if (has_launch && row->launch_ps > ready_ps) {
        add_segment(w, TM_PATH_CAUSES + TM_CAUSE_LAUNCH, row->name, NO_CONFIG, row->launch_ps);
        follow_host(w, row->thread, ready_ps);
        return;
    }
    if (has_launch && row->launch_end_ps > ready_ps)
        kind = TM_PATH_CAUSES + TM_CAUSE_LAUNCH;
    if (!has_launch && w->p->d->trace->main_thread != TM_NONE && w->at_ps - ready_ps >= PAUSE_BELOW_PS) {
        follow_host(w, w->p->d->trace->main_thread, ready_ps);
        return;
    }
    add_segment(w, kind, w->at_ps - ready_ps >= PAUSE_BELOW_PS ? row->name : 0, NO_CONFIG, ready_ps);
    if (before)
        go_to(w, w->lane, before - 1);
    else
        w->lane = TM_NONE;
}

/* From an activity back to what it followed. */
static void follow(struct walk *w)
{
    struct activity row = *at(&w->p->lanes[w->lane], w->index);
    struct activity last = row;
    uint32_t lane = w->lane;
    uint64_t index = w->index;
    int64_t from_ps = row.start_ps;

    w->step.on_path++;
    if (row.collective) {
        find_last_member(w, &row, &lane, &index, &last);
        from_ps = last.start_ps < w->at_ps ? last.start_ps : from_ps;
    }
    if (from_ps < w->at_ps) {
        struct lane *const on = &w->p->d->lanes[w->p->d->first_lane + w->lane];
        const int64_t until_ps = w->at_ps;

        add_segment(w, kind_of(&row), row.name, row.config, from_ps);
        on->path_ps = tm_sum_times(on->path_ps, until_ps - w->at_ps);
    }
    if (from_ps != row.start_ps) {
        go_to(w, lane, index);
        row = last;
    }
    if (w->at_ps > w->step.start_ps)
        follow_start(w, &row);
}

static uint64_t activities_in(const struct walk *w)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < w->p->lane_count; i++)
        if (is_in_group(w, i))
            count += first_from(&w->p->lanes[i], w->group->end_ps) - first_from(&w->p->lanes[i], w->group->start_ps);
    return count;
}

static void walk_step(struct tm_critical_path *p, uint32_t number)
{
    const struct path_group *const group = &p->groups[number];
    const struct tm_step_mark *const mark = tm_rows_at(p->d->trace->steps.marks, group->ordinal);
    struct walk w = { .p = p, .group = group, .number = number, .lane = TM_NONE, .last_lane = TM_NONE };
    uint64_t turns;
    int64_t end_ps;

    w.step = (struct path_step){ .number = mark->number,
                                 .start_ps = group->start_ps,
                                 .dur_ps = group->end_ps - group->start_ps,
                                 .ordinal = group->ordinal,
                                 .host = p->d->host_count - 1 };
    w.at_ps = group->end_ps;
    w.step.activities = turns = activities_in(&w);
    if (find_last(&w, group->end_ps, &w.lane, &w.index, &end_ps)) {
        w.last_lane = w.lane;
        add_segment(&w, TM_PATH_CAUSES + TM_CAUSE_DEVICE_WAIT, 0, NO_CONFIG, end_ps);
    }
    for (turns = 2 * turns + LOOK_BACK; w.lane != TM_NONE && w.at_ps > w.step.start_ps && turns; turns--) {
        follow(&w);
        if (tm_failed(p->d->run))
            return;
    }
    add_segment(&w, TM_PATH_CAUSES + TM_CAUSE_UNRECORDED, 0, NO_CONFIG, w.step.start_ps);
    tm_rows_append(p->steps, &w.step);
}

/* --- steps that are over --- */

/* Rows that no later step needs: whole blocks. */
static void drop_rows(struct path_lane *lane, int64_t before_ps)
{
    const uint64_t from = first_from(lane, before_ps), blocks = lane->count / BLOCK;
    const uint64_t first = from > LOOK_BACK ? (from - LOOK_BACK) / BLOCK : 0;

    if (first * BLOCK < KEPT_ROWS || first < blocks - first)
        return;
    for (uint64_t i = first; i < blocks; i++) {
        const struct activity_block block = *(const struct activity_block *)tm_rows_at(lane->blocks, i);

        *(struct activity_block *)tm_rows_change(lane->blocks, i - first) = block;
    }
    lane->count -= first * BLOCK;
    lane->dropped += first * BLOCK;
}

static void reach_group(struct tm_critical_path *p, uint32_t number, int64_t at_ps)
{
    struct path_group *const group = &p->groups[number];
    bool has_ended = false;

    while (group->exists && group->end_ps <= at_ps && !tm_failed(p->d->run)) {
        walk_step(p, number);
        has_ended = true;
        group->ordinal++;
        find_step(p, number);
    }
    for (uint32_t i = 0; i < p->lane_count && has_ended; i++)
        if (p->lanes[i].blocks && lane_at(p, i)->group == p->d->first_group + number)
            drop_rows(&p->lanes[i], group->exists ? group->start_ps : INT64_MAX);
}

void tm_critical_path_reach(struct tm_critical_path *p, int64_t at_ps)
{
    for (uint32_t i = 0; i < p->lane_count; i++)
        if (p->lanes[i].nested_count)
            end_nested(&p->lanes[i], at_ps);
    for (uint32_t i = 0; i < p->group_count; i++)
        reach_group(p, i, at_ps);
}

int64_t tm_critical_path_horizon(const struct tm_critical_path *p)
{
    int64_t horizon_ps = INT64_MAX;

    for (uint32_t i = 0; i < p->group_count; i++)
        if (p->groups[i].exists && p->groups[i].start_ps < horizon_ps)
            horizon_ps = p->groups[i].start_ps;
    return horizon_ps;
}

void tm_critical_path_end_host(struct tm_critical_path *p)
{
    tm_critical_path_reach(p, INT64_MAX);
    tm_front_flush(&p->front);
    forget_host(p);
}

/* --- the section --- */

struct path_sums {
    int64_t total_ps, parts_ps[TM_PATH_KINDS];
    uint64_t bound[TM_PATH_KINDS]; /* steps in which it is the largest part */
    uint64_t steps, listed;
    int64_t listed_ps;
};

static int largest_part(const int64_t parts_ps[TM_PATH_KINDS])
{
    int best = 0;

    for (int i = 1; i < TM_PATH_KINDS; i++)
        if (parts_ps[i] > parts_ps[best])
            best = i;
    return best;
}

static void add_step(const struct device_time *d, const struct path_step *step, struct tm_value *list)
{
    struct tm_value *const to = tm_add_object(list, NULL);
    char key[32];

    tm_add_int(to, "number", step->number);
    tm_add_string(to, "host", d->hosts[step->host].name);
    tm_add_int(to, "begin_ps", step->start_ps);
    tm_add_int(to, "total_ps", step->dur_ps);
    tm_add_string(to, "bound_by", tm_path_kind_name(largest_part(step->parts_ps)));
    for (int i = 0; i < TM_PATH_KINDS; i++) {
        (void)snprintf(key, sizeof(key), "%s_ps", tm_path_kind_name(i));
        tm_add_int(to, key, step->parts_ps[i]);
    }
    tm_add_uint(to, "activities", step->activities);
    tm_add_uint(to, "on_path", step->on_path);
    tm_add_uint(to, "switches", step->switches);
}

static void add_steps(struct tm_critical_path *p, struct tm_value *section, struct path_sums *sums)
{
    struct tm_value *const list = tm_add_array(section, "rows"), *rest;
    const uint64_t count = tm_rows_count(p->steps);

    for (uint64_t i = 0; i < count && !tm_failed(p->d->run); i++) {
        const struct path_step *const step = tm_rows_at(p->steps, i);

        sums->total_ps = tm_sum_times(sums->total_ps, step->dur_ps);
        sums->bound[largest_part(step->parts_ps)]++;
        for (int k = 0; k < TM_PATH_KINDS; k++)
            sums->parts_ps[k] = tm_sum_times(sums->parts_ps[k], step->parts_ps[k]);
        if (i >= p->d->settings->table_rows)
            continue;
        sums->listed_ps = tm_sum_times(sums->listed_ps, step->dur_ps);
        sums->listed++;
        add_step(p->d, step, list);
    }
    sums->steps = count;
    rest = tm_add_object(section, "rest");
    tm_add_uint(rest, "rows", count - sums->listed);
    tm_add_uint(rest, "count", count - sums->listed);
    tm_add_int(rest, "total_ps", sums->total_ps - sums->listed_ps);
}

static void add_share(struct tm_value *to, int64_t part_ps, int64_t whole_ps)
{
    tm_add_double(to, "share_pct", whole_ps > 0 ? 100.0 * (double)part_ps / (double)whole_ps : 0);
}

static void add_kinds(const struct path_sums *sums, struct tm_value *section)
{
    struct tm_value *const kinds = tm_add_object(section, "by_kind");

    for (int i = 0; i < TM_PATH_KINDS; i++) {
        struct tm_value *const to = tm_add_object(kinds, tm_path_kind_name(i));

        tm_add_int(to, "total_ps", sums->parts_ps[i]);
        add_share(to, sums->parts_ps[i], sums->total_ps);
        tm_add_uint(to, "steps", sums->bound[i]);
    }
}

static int longest_first(const void *a, const void *b)
{
    const struct path_row *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static void add_sites(struct tm_critical_path *p, const struct path_sums *sums, struct tm_value *section)
{
    struct device_time *const d = p->d;
    struct tm_value *const list = tm_add_array(section, "contributors"), *rest;
    struct tm_top_rows *const top =
        tm_listed_rows_new(d->run, sizeof(struct path_row), d->settings->table_rows, longest_first);
    struct tm_listed_texts texts = tm_listed_texts(d->names, d->settings->table_rows);
    const struct path_row *row;
    uint64_t rows = 0, count = 0;
    int64_t total_ps = 0;

    if (!top)
        return;
    tm_groups_finish(p->sites);
    for (; (row = tm_groups_next(p->sites)); rows++) {
        count = tm_sum_counts(count, row->count);
        total_ps = tm_sum_times(total_ps, row->total_ps);
        tm_top_rows_add(top, row);
    }
    tm_top_rows_sort(top);
    for (uint64_t i = 0; i < tm_top_rows_count(top) && !tm_failed(d->run); i++) {
        struct tm_value *const to = tm_add_object(list, NULL);

        row = tm_top_rows_at(top, i);
        rows--;
        count -= row->count < count ? row->count : count;
        total_ps -= row->total_ps < total_ps ? row->total_ps : total_ps;
        tm_add_string(to, "kind", tm_path_kind_name(row->kind));
        tm_listed_text_or(&texts, to, "name", row->name, "several, or not recorded");
        tm_listed_text_or(&texts, to, "op", row->op, "not recorded");
        tm_listed_text_or(&texts, to, "source", row->source, "not recorded");
        tm_add_uint(to, "count", row->count);
        tm_add_int(to, "total_ps", row->total_ps);
        add_share(to, row->total_ps, sums->total_ps);
    }
    rest = tm_add_object(section, "contributors_rest");
    tm_add_uint(rest, "rows", rows);
    tm_add_uint(rest, "count", count);
    tm_add_int(rest, "total_ps", total_ps);
    tm_top_rows_free(top);
}

static void add_devices(const struct device_time *d, const struct path_sums *sums, struct tm_value *section)
{
    struct tm_value *const list = tm_add_array(section, "devices");

    for (uint32_t i = 0; i < d->lane_count; i++) {
        struct tm_value *to;

        if (!has_window(&d->lanes[i]) || d->lanes[i].device.kind == TM_DEVICE_CPU)
            continue;
        to = tm_add_object(list, NULL);
        tm_add_string(to, "device", d->lanes[i].device.id);
        tm_add_int(to, "total_ps", d->lanes[i].path_ps);
        add_share(to, d->lanes[i].path_ps, sums->total_ps);
    }
}

void tm_critical_path_report(struct tm_critical_path *p, struct tm_value *summary)
{
    struct path_sums sums = { .total_ps = 0 };
    struct tm_value *section;

    if (!tm_rows_count(p->steps)) {
        tm_add_null(summary, "critical_path",
                    p->has_cpu ? "operations on CPUs record no launches" : "no device activity in the analyzed steps");
        return;
    }
    section = tm_add_object(summary, "critical_path");
    add_steps(p, section, &sums);
    tm_add_uint(section, "steps", sums.steps);
    tm_add_int(section, "total_ps", sums.total_ps);
    add_kinds(&sums, section);
    add_sites(p, &sums, section);
    add_devices(p->d, &sums, section);
}

/* --- in a partial --- */

#define STEP(member, kind) TM_FIELD(struct path_step, member, kind, KEEP)

static const struct tm_row_field step_fields[] = {
    STEP(number, INSTANT),   STEP(start_ps, INSTANT), STEP(dur_ps, TIME),    STEP(parts_ps, TIME), STEP(ordinal, COUNT),
    STEP(activities, COUNT), STEP(on_path, COUNT),    STEP(switches, COUNT), STEP(host, HOST),     TM_FIELDS_END,
};

static const struct tm_row_field site_fields[] = {
    TM_FIELD(struct path_row, key, WORD, KEEP),
    TM_FIELD(struct path_row, count, COUNT, SUM),
    TM_FIELD(struct path_row, total_ps, TIME, SUM),
    TM_FIELD(struct path_row, name, NAME, KEEP),
    TM_FIELD(struct path_row, op, NAME, KEEP),
    TM_FIELD(struct path_row, source, NAME, KEEP),
    TM_FIELD_BELOW(struct path_row, kind, U8, KEEP, TM_PATH_KINDS),
    TM_FIELDS_END,
};

void tm_critical_path_save(struct tm_critical_path *p, struct tm_partial_writer *w)
{
    tm_partial_put_u8(w, p->has_cpu);
    tm_partial_put_u64(w, tm_rows_count(p->steps));
    tm_fields_save_rows(w, step_fields, p->steps, 0, tm_rows_count(p->steps));
    tm_fields_save_groups(w, site_fields, p->sites);
}

void tm_critical_path_load(struct tm_critical_path *p, struct tm_partial_reader *r)
{
    p->has_cpu |= tm_partial_bool(r);
    tm_fields_load_rows(r, step_fields, p->steps, tm_partial_u64(r), NULL, NULL);
    tm_fields_load_groups(r, site_fields, p->sites, NULL, NULL);
}
