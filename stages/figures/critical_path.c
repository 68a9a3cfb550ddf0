/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of each analyzed step.  Activities of a device wait in rows until all devices of their host have
 * passed the end of a step; then the path is followed from there back to the start of the step:
 *
 *     end of the step ─► activity ─► what ended last before it, on its stream or its device ─► ...
 *                           │  └─ a collective: the device that came last
 *                           └─ launched after that: launch ─► host thread, back to a wait ─► what the wait ended with
 *
 * Only what is on the path is visited, so a step of any length costs what its path does.  Memory: a row per step and
 * groups by call site, which spill. */
#include "stages/figures/critical_path.h"

#include <string.h>

#include "pipeline/front.h"
#include "pipeline/record.h"
#include "pipeline/store/sorter.h"
#include "stages/figures/device_time.h"
#include "stages/figures/figure_rows.h"

enum { PAGE = 16 << 10 };

/* On the host, without launch facts. */
#define NO_CONFIG UINT32_C(0xffffff00)

static const char *const part_name[] = {
    [TM_REPLAY_STRAGGLERS - TM_PATH_KINDS] = "stragglers",
    [TM_REPLAY_IMBALANCE - TM_PATH_KINDS] = "imbalance",
    [TM_REPLAY_COMPUTE_HALF - TM_PATH_KINDS] = "compute_half",
    [TM_REPLAY_COMPUTE_QUARTER - TM_PATH_KINDS] = "compute_quarter",
};
static const char *const busy_name[TM_PATH_CAUSES] = { "compute", "collective", "copy" };

const char *tm_path_kind_name(int kind)
{
    return kind < TM_PATH_CAUSES ? busy_name[kind] : tm_cause_name[kind - TM_PATH_CAUSES];
}

/* A step of a group of devices. */
struct path_step {
    int64_t number, start_ps, dur_ps;
    struct tm_path_parts parts;
    uint64_t ordinal, activities, on_path, switches;
    uint32_t host, group;
};

/* The time that a call site, or a name of the host, takes on the paths. */
struct path_row {
    struct tm_key key;
    uint64_t count;
    int64_t total_ps;
    tm_strid name, op, source;
    uint8_t kind;
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

    for (uint32_t i = 0; i < p->lane_count; i++)
        tm_path_end_lane(p, &p->lanes[i]);
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

/* The next analyzed step of a group that takes time. */
static void find_step(const struct tm_critical_path *p, uint32_t number)
{
    const struct device_time *const d = p->d;
    const struct tm_steps *const steps = &d->trace->steps;
    struct tm_path_group *const group = &p->groups[number];
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

static void count_steps(const struct tm_critical_path *p, uint32_t number)
{
    const struct device_time *const d = p->d;
    const struct tm_steps *const steps = &d->trace->steps;
    struct tm_path_group *const group = &p->groups[number];

    for (uint64_t k = steps->chosen_begin; k < steps->chosen_end && !tm_failed(d->run); k++) {
        group->steps++;
        for (uint32_t i = 0; i < p->lane_count; i++) {
            const struct tm_step_row *row;

            if (!tm_path_is_in_group(p, number, i))
                continue;
            row = tm_rows_at(steps->rows, d->lanes[d->first_lane + i].first_step_row + k);
            group->activities = tm_sum_counts(group->activities, row->activities);
        }
    }
}

/* Rows are needed until the figures of a host are complete.  Until then the account of the summary is unused, unless
 * events are written at the same time. */
static enum tm_account choose_account(const struct device_time *d)
{
    return d->trace->has_inert_flows ? TM_ACCOUNT_MODEL : TM_ACCOUNT_THREADS;
}

/* At 32M most rows of a step of 8,000 activities on each of 8 devices are in memory: a report of 5 million events takes
 * 8% less CPU time than with only a quarter of the account of threads. */
void tm_critical_path_begin_host(struct tm_critical_path *p)
{
    struct device_time *const d = p->d;
    struct tm_budget *const budget = &d->run->budget;
    const uint32_t lanes = d->lane_count - d->first_lane, groups = d->group_count - d->first_group;

    p->subgroups_text = TM_NONE;
    memset(p->known, 0, sizeof(p->known));
    if (!lanes || !groups || tm_failed(d->run))
        return;
    p->lanes = tm_take(budget, TM_ACCOUNT_MODEL, lanes * sizeof(*p->lanes), &d->run->error);
    p->groups = tm_take(budget, TM_ACCOUNT_MODEL, groups * sizeof(*p->groups), &d->run->error);
    p->lane_count = p->lanes ? lanes : 0;
    p->group_count = p->groups ? groups : 0;
    p->account = choose_account(d);
    for (uint32_t i = 0; i < lanes && !tm_failed(d->run); i++)
        tm_path_begin_lane(p, i, tm_path_memory(p) / lanes);
    for (uint32_t i = 0; i < groups && !tm_failed(d->run); i++) {
        count_steps(p, i);
        find_step(p, i);
    }
}

/* --- the path of a step --- */

struct walk {
    struct tm_critical_path *p;
    const struct tm_path_group *group;
    uint32_t number; /* of the group */
    struct path_step step;
    int64_t at_ps;              /* from there on the path is known */
    struct tm_path_place place; /* of the activity that it is at; lane TM_NONE = the rest of the step has no cause */
    uint32_t last_lane;         /* that it was on last; TM_NONE = none */
};

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

/* Fill a new row: once per site. */
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
    w->step.parts.ps[kind] += length_ps;
    if (config >= NO_CONFIG)
        config = NO_CONFIG | (uint32_t)kind;
    row = tm_front_at(&p->front, tm_site_of_pair(name, config), &is_new);
    if (!row)
        return;
    if (is_new)
        begin_site(p, row, kind, name, config);
    row->count++;
    row->total_ps = tm_sum_times(row->total_ps, length_ps);
}

static void go_to(struct walk *w, struct tm_path_place place)
{
    if (w->last_lane != TM_NONE && place.lane != w->last_lane)
        w->step.switches++;
    w->last_lane = place.lane;
    w->place = place;
}

/* A stretch of a host thread.  A wait that ended with the work of a device leads to it. */
static bool take_stretch(void *to, const struct tm_host_stretch *stretch)
{
    struct walk *const w = to;
    const int kind = TM_PATH_CAUSES + (int)stretch->cause;
    struct tm_path_place place;
    int64_t end_ps;

    if (stretch->cause == TM_CAUSE_SYNC && tm_path_find_last(w->p, w->number, stretch->end_ps, &place, &end_ps) &&
        end_ps > stretch->start_ps) {
        add_segment(w, kind, stretch->name, NO_CONFIG, end_ps);
        go_to(w, place);
        return false;
    }
    add_segment(w, kind, stretch->name, NO_CONFIG, stretch->start_ps);
    return true;
}

/* Follow the launching thread backwards, or the main thread if the launching one recorded less than half of the time
 * since the device was ready. */
static void follow_host(struct walk *w, uint32_t thread, int64_t ready_ps)
{
    const struct device_time *const d = w->p->d;
    const uint32_t main = d->trace->main_thread;
    int64_t parts[TM_CAUSE_COUNT] = { 0 };

    w->place.lane = TM_NONE;
    if (thread != main && ready_ps < w->at_ps) {
        tm_host_threads_ask(d->threads, thread, ready_ps, w->at_ps, parts, NULL);
        if (parts[TM_CAUSE_UNRECORDED] > (w->at_ps - ready_ps) / 2)
            thread = main;
    }
    tm_host_threads_back(d->threads, thread, w->step.start_ps, w->at_ps, take_stretch, w);
}

/* Why an activity did not start earlier. */
static void follow_start(struct walk *w, const struct tm_path_activity *row)
{
    const struct tm_path_lane *const lane = &w->p->lanes[w->place.lane];
    const uint64_t before = tm_path_before(lane, w->place.index, row);
    const bool has_launch = row->launch_ps != INT64_MIN;
    int64_t ready_ps = w->step.start_ps;
    int kind = TM_PATH_CAUSES + TM_CAUSE_DEVICE_WAIT;

    if (before && tm_path_at(lane, before - 1)->end_ps > ready_ps)
        ready_ps = tm_path_at(lane, before - 1)->end_ps;
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
        w->place.index = before - 1;
    else
        w->place.lane = TM_NONE;
}

/* From an activity back to what it followed. */
static void follow(struct walk *w)
{
    const struct tm_path_activity row = *tm_path_at(&w->p->lanes[w->place.lane], w->place.index);
    struct tm_path_activity last = row;
    struct tm_path_place place = w->place;
    int64_t from_ps = row.start_ps;

    w->step.on_path++;
    if (row.collective) {
        last = tm_path_last_member(w->p, w->number, &row, &place);
        from_ps = last.start_ps < w->at_ps ? last.start_ps : from_ps;
    }
    if (from_ps < w->at_ps) {
        struct lane *const on = &w->p->d->lanes[w->p->d->first_lane + w->place.lane];
        const int64_t until_ps = w->at_ps;

        add_segment(w, tm_path_kind_of(&row), row.name, row.config, from_ps);
        on->path_ps = tm_sum_times(on->path_ps, until_ps - w->at_ps);
    }
    if (from_ps != row.start_ps)
        go_to(w, place);
    if (w->at_ps > w->step.start_ps)
        follow_start(w, from_ps != row.start_ps ? &last : &row);
}

static uint64_t activities_in(const struct walk *w)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < w->p->lane_count; i++)
        if (tm_path_is_in_group(w->p, w->number, i))
            count +=
                tm_path_first(&w->p->lanes[i], w->group->end_ps) - tm_path_first(&w->p->lanes[i], w->group->start_ps);
    return count;
}

/* out: what its path consists of */
static struct tm_path_parts walk_step(struct tm_critical_path *p, uint32_t number)
{
    const struct tm_path_group *const group = &p->groups[number];
    const struct tm_step_mark *const mark = tm_rows_at(p->d->trace->steps.marks, group->ordinal);
    struct walk w = { .p = p, .group = group, .number = number, .place = { .lane = TM_NONE }, .last_lane = TM_NONE };
    uint64_t turns;
    int64_t end_ps;

    w.step = (struct path_step){ .number = mark->number,
                                 .start_ps = group->start_ps,
                                 .dur_ps = group->end_ps - group->start_ps,
                                 .ordinal = group->ordinal,
                                 .host = p->d->host_count - 1,
                                 .group = number };
    w.at_ps = group->end_ps;
    w.step.activities = turns = activities_in(&w);
    if (tm_path_find_last(p, number, group->end_ps, &w.place, &end_ps)) {
        w.last_lane = w.place.lane;
        add_segment(&w, TM_PATH_CAUSES + TM_CAUSE_DEVICE_WAIT, 0, NO_CONFIG, end_ps);
    }
    for (turns = 2 * turns + 64; w.place.lane != TM_NONE && w.at_ps > w.step.start_ps && turns; turns--) {
        follow(&w);
        if (tm_failed(p->d->run))
            return w.step.parts;
    }
    add_segment(&w, TM_PATH_CAUSES + TM_CAUSE_UNRECORDED, 0, NO_CONFIG, w.step.start_ps);
    tm_rows_append(p->steps, &w.step);
    return w.step.parts;
}

/* --- steps that are over --- */

static void reach_group(struct tm_critical_path *p, uint32_t number, int64_t at_ps)
{
    struct tm_path_group *const group = &p->groups[number];
    bool has_ended = false;

    while (group->exists && group->end_ps <= at_ps && !tm_failed(p->d->run)) {
        const struct tm_path_parts parts = walk_step(p, number);

        tm_critical_path_replay(p, number, &parts);
        group->done++;
        has_ended = true;
        group->ordinal++;
        find_step(p, number);
    }
    for (uint32_t i = 0; i < p->lane_count && has_ended; i++)
        if (tm_path_is_in_group(p, number, i))
            tm_path_drop_rows(&p->lanes[i], group->exists ? group->start_ps : INT64_MAX);
}

void tm_critical_path_reach(struct tm_critical_path *p, int64_t at_ps)
{
    for (uint32_t i = 0; i < p->lane_count; i++)
        if (p->lanes[i].nested_count)
            tm_path_end_nested(&p->lanes[i], at_ps);
    for (uint32_t i = 0; i < p->lane_count; i++)
        p->lanes[i].block = NULL; /* rows are read now */
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
    tm_add_string(to, "bound_by", tm_path_kind_name(largest_part(step->parts.ps)));
    for (int i = 0; i < TM_PATH_KINDS; i++) {
        (void)snprintf(key, sizeof(key), "%s_ps", tm_path_kind_name(i));
        tm_add_int(to, key, step->parts.ps[i]);
    }
    tm_add_uint(to, "activities", step->activities);
    tm_add_uint(to, "on_path", step->on_path);
    tm_add_uint(to, "switches", step->switches);
}

static int by_ordinal(const void *a, const void *b)
{
    const struct path_step *const x = a, *const y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

/* Steps are analyzed in the order in which their devices are read, which differs between the formats of a run: they are
 * listed by step and device.  errors: NULL, or incomplete, with the error in run->error */
static struct tm_sorter *sort_steps(struct tm_critical_path *p)
{
    struct tm_run *const run = p->d->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_THREADS) / 32;
    struct tm_sorter *const sorter =
        tm_sorter_new(run, TM_ACCOUNT_THREADS, sizeof(struct path_step), share, by_ordinal);

    for (uint64_t i = 0; sorter && i < tm_rows_count(p->steps) && !tm_failed(run); i++)
        tm_sorter_push(sorter, tm_rows_at(p->steps, i));
    if (sorter)
        tm_sorter_finish(sorter);
    return sorter;
}

static void add_steps(struct tm_critical_path *p, struct tm_value *section, struct path_sums *sums)
{
    struct tm_value *const list = tm_add_array(section, "rows"), *rest;
    struct tm_sorter *const sorted = sort_steps(p);
    const uint64_t count = tm_rows_count(p->steps);
    const struct path_step *step;

    for (uint64_t i = 0; sorted && (step = tm_sorter_next(sorted)); i++) {
        sums->total_ps = tm_sum_times(sums->total_ps, step->dur_ps);
        sums->bound[largest_part(step->parts.ps)]++;
        for (int k = 0; k < TM_PATH_KINDS; k++)
            sums->parts_ps[k] = tm_sum_times(sums->parts_ps[k], step->parts.ps[k]);
        if (i >= p->d->settings->table_rows)
            continue;
        sums->listed_ps = tm_sum_times(sums->listed_ps, step->dur_ps);
        sums->listed++;
        add_step(p->d, step, list);
    }
    tm_sorter_free(sorted);
    sums->steps = count;
    rest = tm_add_object(section, "rest");
    tm_add_uint(rest, "rows", count - sums->listed);
    tm_add_uint(rest, "count", count - sums->listed);
    tm_add_int(rest, "total_ps", sums->total_ps - sums->listed_ps);
}

static void add_share(struct tm_value *to, int64_t part_ps, int64_t whole_ps)
{
    tm_add_double(to, "share_pct", tm_share_of(part_ps, whole_ps));
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

/* Device work may save more than its time on the path: the host may wait for it without an event. */
static bool is_of_host(int kind)
{
    return kind > TM_PATH_CAUSES + TM_CAUSE_DEVICE_WAIT && kind < TM_PATH_KINDS;
}

/* For the steps that were replayed, and extrapolated to all of them. */
static void add_replays(const struct tm_critical_path *p, const struct path_sums *sums, struct tm_value *section)
{
    const struct tm_path_replays *const r = &p->replays;
    struct tm_value *replay, *rows;

    if (!r->steps) {
        tm_add_null(section, "replay", "the analyzed steps are too long");
        return;
    }
    replay = tm_add_object(section, "replay");
    rows = tm_add_array(replay, "rows");
    for (int i = 0; i < TM_REPLAY_NOTHING; i++) {
        struct tm_value *const to = tm_add_object(rows, NULL);
        const double share = r->length_ps > 0 ? (double)r->saved_ps[i] / (double)r->length_ps : 0;
        const int64_t path_ps = i < TM_PATH_KINDS ? r->path.ps[i] : 0;
        int64_t saved_ps = (int64_t)(share * (double)sums->total_ps + 0.5);

        if (is_of_host(i)) { /* other steps may have more or less of it */
            if (path_ps > 0)
                saved_ps = (int64_t)((double)r->saved_ps[i] / (double)path_ps * (double)sums->parts_ps[i] + 0.5);
            if (saved_ps > sums->parts_ps[i])
                saved_ps = sums->parts_ps[i];
        }

        tm_add_string(to, "without", i < TM_PATH_KINDS ? tm_path_kind_name(i) : part_name[i - TM_PATH_KINDS]);
        if (i < TM_PATH_KINDS) {
            tm_add_int(to, "path_ps", sums->parts_ps[i]);
            tm_add_int(to, "replayed_path_ps", path_ps);
        } else {
            tm_add_null(to, "path_ps", "it is a part of other kinds");
            tm_add_null(to, "replayed_path_ps", "it is a part of other kinds");
        }
        tm_add_int(to, "saved_ps", saved_ps);
        tm_add_double(to, "saved_pct", 100 * share);
    }
    tm_add_uint(replay, "steps", r->steps);
    tm_add_uint(replay, "activities", r->activities);
    tm_add_int(replay, "total_ps", r->length_ps);
    tm_add_int(replay, "error_ps", r->saved_ps[TM_REPLAY_NOTHING]);
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
    add_replays(p, &sums, section);
}

/* --- in a partial --- */

#define STEP(member, kind) TM_FIELD(struct path_step, member, kind, KEEP)

static const struct tm_row_field step_fields[] = {
    STEP(number, INSTANT), STEP(start_ps, INSTANT), STEP(dur_ps, TIME),   STEP(parts, TIME),
    STEP(ordinal, COUNT),  STEP(activities, COUNT), STEP(on_path, COUNT), STEP(switches, COUNT),
    STEP(host, HOST),      STEP(group, U32),        TM_FIELDS_END,
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

static const struct tm_row_field replay_fields[] = {
    TM_FIELD(struct tm_path_replays, steps, COUNT, SUM),    TM_FIELD(struct tm_path_replays, activities, COUNT, SUM),
    TM_FIELD(struct tm_path_replays, length_ps, TIME, SUM), TM_FIELD(struct tm_path_replays, saved_ps, TIME, SUM),
    TM_FIELD(struct tm_path_replays, path, TIME, SUM),      TM_FIELDS_END,
};

void tm_critical_path_save(struct tm_critical_path *p, struct tm_partial_writer *w)
{
    tm_partial_put_u8(w, p->has_cpu);
    tm_partial_put_u64(w, tm_rows_count(p->steps));
    tm_fields_save_rows(w, step_fields, p->steps, 0, tm_rows_count(p->steps));
    tm_fields_save_groups(w, site_fields, p->sites);
    tm_fields_save(w, replay_fields, &p->replays);
}

void tm_critical_path_load(struct tm_critical_path *p, struct tm_partial_reader *r)
{
    p->has_cpu |= tm_partial_bool(r);
    tm_fields_load_rows(r, step_fields, p->steps, tm_partial_u64(r), NULL, NULL);
    tm_fields_load_groups(r, site_fields, p->sites, NULL, NULL);
    tm_fields_load_more(r, replay_fields, &p->replays);
}
