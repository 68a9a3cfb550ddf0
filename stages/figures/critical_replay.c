/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a step without one of its parts: its dependencies are followed forward, in time order, once for all
 * questions.  For each activity, the vector of its times in all replays is kept:
 *
 *     end of the one before it ─┐
 *     its launch on the host ───┴► start ─► + length, where it is not left out ─► end ─► waits of the host, the next ones
 *     starts of its partners, if it is a collective ─► moving together
 *
 * Without anything left out, every time is the recorded one.  Memory: rows that spill, of steps up to a limit. */
#include <string.h>

#include "pipeline/store/sorter.h"
#include "stages/figures/critical_path.h"
#include "stages/figures/device_time.h"

enum {
    STEP_MOST = 1 << 17, /* activities of a step that is replayed */
    HOST_MOST = 4 << 10, /* and of all replayed steps of a host, unless it is one step */
    LOOK_BACK = 64,
    THREADS_MOST = 64, /* that launch in a step */
    WAITS_MOST = 32,   /* of the host between two launches */
    PENDING_MOST = 256,
    PAGE = 16 << 10,
};

/* Times in all replays, by what is left out: TM_PATH_KINDS, then these. */
struct times {
    int64_t ps[TM_REPLAYS];
};

/* A call that launches an activity of the step, or a start that waits for the main thread. */
struct call {
    int64_t at_ps;
    uint64_t slot;
    uint32_t thread;
};

struct host_time {
    uint32_t thread;
    int64_t at_ps;
    struct times times;
};

/* The activity of a host thread before a call, backwards in time. */
struct host_part {
    int64_t parts_ps[TM_CAUSE_COUNT]; /* after the wait */
    struct tm_path_place place;       /* that the wait ended with; lane TM_NONE = there was no wait */
    int64_t place_end_ps, wait_ps;    /* wait_ps: its end */
    int64_t vague_ps;                 /* its length, if it may have been work; 0 = it was a wait */
    int cause;                        /* of the wait */
};

struct replay {
    struct tm_critical_path *p;
    uint32_t group;
    int64_t start_ps, end_ps;
    uint64_t *first, *count, *offset; /* rows of each lane, and where their slots are */
    uint64_t *next;                   /* of each lane, in the order of the starts */
    int64_t *next_ps;                 /* its start; INT64_MAX = there is none */
    int64_t *late_ps;                 /* start of the last collective that waited for the lane: what it did before
                                       * is shorter where no device is late */
    int64_t *compute_ps;              /* of each lane: all that starts in the step, kernels side by side twice */
    double mean_compute_ps;
    struct tm_rows *times; /* struct times, by slot: of the launch, then of the start, then of the end */
    struct tm_sorter *calls;
    struct host_time threads[THREADS_MOST];
    uint32_t thread_count;
    uint64_t pending[PENDING_MOST]; /* slots of collectives whose last device has not started yet */
    uint32_t pending_count;
    struct host_part parts[WAITS_MOST + 1];
    uint32_t part_count;
    struct times ends;
};

static int by_time(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    if (x->at_ps != y->at_ps)
        return x->at_ps < y->at_ps ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static const struct tm_path_activity *row_of(const struct replay *r, struct tm_path_place place)
{
    return tm_path_at(&r->p->lanes[place.lane], place.index);
}

static uint64_t slot_of(const struct replay *r, struct tm_path_place place)
{
    return r->offset[place.lane] + (place.index - r->first[place.lane]);
}

static bool is_inside(const struct replay *r, struct tm_path_place place)
{
    return place.index >= r->first[place.lane] && place.index - r->first[place.lane] < r->count[place.lane];
}

/* --- vectors --- */

static struct times all(int64_t ps)
{
    struct times t;

    for (int i = 0; i < TM_REPLAYS; i++)
        t.ps[i] = ps;
    return t;
}

static void raise_times(struct times *to, const struct times *other)
{
    for (int i = 0; i < TM_REPLAYS; i++)
        to->ps[i] = other->ps[i] > to->ps[i] ? other->ps[i] : to->ps[i];
}

/* Replays in which work of the devices is shorter. */
static bool is_of_devices(int replay)
{
    return replay == TM_PATH_COMPUTE || replay == TM_PATH_COLLECTIVE || replay == TM_PATH_COPY ||
           replay == TM_PATH_CAUSES + TM_CAUSE_DEVICE_WAIT ||
           (replay >= TM_REPLAY_STRAGGLERS && replay < TM_REPLAY_NOTHING);
}

/* Add a length of a kind, which some replays leave out or shorten. */
static void add(struct times *to, int kind, int64_t ps)
{
    for (int i = 0; i < TM_REPLAYS; i++)
        to->ps[i] += ps;
    to->ps[kind] -= ps;
    if (kind == TM_PATH_COMPUTE) {
        to->ps[TM_REPLAY_COMPUTE_HALF] -= ps / 2;
        to->ps[TM_REPLAY_COMPUTE_QUARTER] -= ps / 4;
    }
}

/* --- the host --- */

static bool take_part(void *to, const struct tm_host_stretch *stretch)
{
    struct replay *const r = to;
    struct host_part *part = &r->parts[r->part_count];
    struct tm_path_place place;
    int64_t end_ps;

    if ((stretch->cause == TM_CAUSE_SYNC || stretch->is_vague) && r->part_count < WAITS_MOST &&
        tm_path_find_last(r->p, r->group, stretch->end_ps, &place, &end_ps) && end_ps > stretch->start_ps &&
        is_inside(r, place)) {
        part->place = place;
        part->place_end_ps = end_ps;
        part->wait_ps = stretch->end_ps;
        part->vague_ps = stretch->is_vague ? stretch->end_ps - stretch->start_ps : 0;
        part->cause = (int)stretch->cause;
        r->parts[++r->part_count] = (struct host_part){ .place = { .lane = TM_NONE } };
        return true;
    }
    part->parts_ps[stretch->cause] += stretch->end_ps - stretch->start_ps;
    return true;
}

static struct host_time *thread_of(struct replay *r, uint32_t thread)
{
    for (uint32_t i = 0; i < r->thread_count; i++)
        if (r->threads[i].thread == thread)
            return &r->threads[i];
    if (r->thread_count == THREADS_MOST) /* one more is not known: its time is the recorded one */
        r->thread_count--;
    r->threads[r->thread_count] = (struct host_time){ thread, r->start_ps, all(r->start_ps) };
    return &r->threads[r->thread_count++];
}

static void resolve_pending(struct replay *r, struct tm_path_place place);

/* Find what a thread did between its time and a later one.  out: how much of it was not recorded */
static int64_t find_parts(struct replay *r, const struct host_time *host, int64_t to_ps)
{
    int64_t unrecorded_ps = 0;

    r->part_count = 0;
    r->parts[0] = (struct host_part){ .place = { .lane = TM_NONE } };
    tm_host_threads_back(r->p->d->threads, host->thread, host->at_ps, to_ps, take_part, r);
    for (uint32_t i = 0; i <= r->part_count; i++)
        unrecorded_ps += r->parts[i].parts_ps[TM_CAUSE_UNRECORDED] +
                         (r->parts[i].cause == TM_CAUSE_UNRECORDED ? r->parts[i].vague_ps : 0);
    return unrecorded_ps;
}

/* What the thread did is not known: it may have waited for the device, or worked.  Replays in which work of the devices
 * is shorter take it as a wait, the others as work, so that none underestimates the savings. */
static void pass_vague(struct host_time *host, const struct host_part *part, const struct times *ended)
{
    struct times worked = host->times;

    add(&worked, TM_PATH_CAUSES + part->cause, part->vague_ps);
    for (int i = 0; i < TM_REPLAYS; i++) {
        if (!is_of_devices(i))
            host->times.ps[i] = worked.ps[i];
        else if (ended->ps[i] > host->times.ps[i])
            host->times.ps[i] = ended->ps[i];
    }
}

/* Bring a thread to a time, by the parts that were found. */
static void add_parts(struct replay *r, struct host_time *host, int64_t to_ps)
{
    for (uint32_t i = r->part_count + 1; i > 0; i--) {
        const struct host_part *const part = &r->parts[i - 1];

        if (part->place.lane != TM_NONE) {
            struct times ended;

            resolve_pending(r, part->place);
            ended = *(const struct times *)tm_rows_at(r->times, slot_of(r, part->place));
            add(&ended, TM_PATH_CAUSES + part->cause, part->wait_ps - part->place_end_ps);
            if (part->vague_ps)
                pass_vague(host, part, &ended);
            else
                raise_times(&host->times, &ended);
        }
        for (int cause = 0; cause < TM_CAUSE_COUNT; cause++)
            if (part->parts_ps[cause])
                add(&host->times, TM_PATH_CAUSES + cause, part->parts_ps[cause]);
    }
    host->at_ps = to_ps;
}

/* When a call starts: on its own thread, or on the main thread if its own recorded too little. */
static void take_call(struct replay *r, const struct call *call)
{
    const uint32_t main = r->p->d->trace->main_thread;
    struct host_time *host = thread_of(r, call->thread);
    const int64_t since_ps = host->at_ps;

    if (since_ps < call->at_ps) {
        if (find_parts(r, host, call->at_ps) <= (call->at_ps - since_ps) / 2 || call->thread == main) {
            add_parts(r, host, call->at_ps);
        } else {
            struct host_time *const other = thread_of(r, main);

            if (other->at_ps < call->at_ps) {
                (void)find_parts(r, other, call->at_ps);
                add_parts(r, other, call->at_ps);
            }
            host = thread_of(r, call->thread);
            raise_times(&host->times, &thread_of(r, main)->times);
            host->at_ps = call->at_ps;
        }
    }
    *(struct times *)tm_rows_change(r->times, call->slot) = host->times;
}

/* --- activities --- */

static bool is_main_start(const struct replay *r, const struct tm_path_activity *row, int64_t ready_ps)
{
    return row->launch_ps == INT64_MIN && r->p->d->trace->main_thread != TM_NONE &&
           row->start_ps - ready_ps >= PAUSE_BELOW_PS;
}

/* The one before, if it ended in the step, and when the device was ready. */
static int64_t find_ready(const struct replay *r, struct tm_path_place place, const struct tm_path_activity *row,
                          struct tm_path_place *before)
{
    const struct tm_path_lane *const lane = &r->p->lanes[place.lane];
    const uint64_t index = tm_path_before(lane, place.index, row);

    before->lane = TM_NONE;
    if (!index || tm_path_at(lane, index - 1)->end_ps <= r->start_ps)
        return r->start_ps;
    *before = (struct tm_path_place){ place.lane, index - 1 };
    return tm_path_at(lane, index - 1)->end_ps;
}

static void settle(struct replay *r, uint64_t slot, int kind, int64_t length_ps)
{
    add(tm_rows_change(r->times, slot), kind, length_ps);
}

/* For an activity that starts in the step, on a device that computes longer than the mean.  The others take over the
 * rest while they wait. */
static void balance(struct replay *r, struct tm_path_place place, int64_t length_ps)
{
    const double load_ps = (double)r->compute_ps[place.lane];
    struct times *const times = tm_rows_change(r->times, slot_of(r, place));

    if (load_ps > r->mean_compute_ps)
        times->ps[TM_REPLAY_IMBALANCE] += (int64_t)((double)length_ps * (r->mean_compute_ps / load_ps)) - length_ps;
}

/* A collective that something waits for before its last device has started: it takes its own time. */
static void resolve_pending(struct replay *r, struct tm_path_place place)
{
    const struct tm_path_activity row = *row_of(r, place);
    const uint64_t slot = slot_of(r, place);

    for (uint32_t i = 0; row.collective && i < r->pending_count; i++) {
        if (r->pending[i] != slot)
            continue;
        r->pending[i] = r->pending[--r->pending_count];
        settle(r, slot, TM_PATH_COLLECTIVE, row.end_ps - row.start_ps);
        return;
    }
}

static bool take_off(struct replay *r, uint64_t slot)
{
    for (uint32_t i = 0; i < r->pending_count; i++) {
        if (r->pending[i] != slot)
            continue;
        r->pending[i] = r->pending[--r->pending_count];
        return true;
    }
    return false;
}

/* The last device has started: all move together.  In one of the replays, it arrives together with the one before
 * it. */
static void move_together(struct replay *r, struct tm_path_place place, const struct tm_path_activity *last)
{
    struct times ready = *(const struct times *)tm_rows_at(r->times, slot_of(r, place));
    struct times others = all(INT64_MIN);
    bool has_others = false;

    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < r->p->lane_count; i++) {
            const struct tm_path_lane *const lane = &r->p->lanes[i];
            const uint64_t member =
                i != place.lane && tm_path_is_in_group(r->p, r->group, i) ? tm_path_member(lane, last) : 0;
            const struct tm_path_place other = { i, member - 1 };

            if (!member || !is_inside(r, other))
                continue;
            if (turn == 0 && tm_path_at(lane, other.index)->start_ps >= r->start_ps) {
                raise_times(&others, tm_rows_at(r->times, slot_of(r, other)));
                has_others = true;
            } else if (turn && take_off(r, slot_of(r, other))) {
                *(struct times *)tm_rows_change(r->times, slot_of(r, other)) = ready;
                settle(r, slot_of(r, other), TM_PATH_COLLECTIVE,
                       tm_path_at(lane, other.index)->end_ps - last->start_ps);
            }
        }
        if (turn == 0 && has_others) {
            const int64_t own_ps = ready.ps[TM_REPLAY_STRAGGLERS];

            raise_times(&ready, &others);
            ready.ps[TM_REPLAY_STRAGGLERS] =
                others.ps[TM_REPLAY_STRAGGLERS] < own_ps ? others.ps[TM_REPLAY_STRAGGLERS] : own_ps;
        }
    }
    *(struct times *)tm_rows_change(r->times, slot_of(r, place)) = ready;
    if (has_others)
        r->late_ps[place.lane] = last->start_ps;
}

static void take_collective(struct replay *r, struct tm_path_place place, const struct tm_path_activity *row)
{
    struct tm_path_place last = place;

    (void)tm_path_last_member(r->p, r->group, row, &last);
    if (last.lane != place.lane && is_inside(r, last) && r->pending_count < PENDING_MOST) {
        r->pending[r->pending_count++] = slot_of(r, place);
        return;
    }
    if (last.lane == place.lane)
        move_together(r, place, row);
    settle(r, slot_of(r, place), TM_PATH_COLLECTIVE, row->end_ps - row->start_ps);
}

/* Between the end of the one before it and its start.  A device with less work than the others waits for them. */
static void add_delay(const struct replay *r, struct times *start, struct tm_path_place place, bool is_launch,
                      int64_t delay_ps)
{
    add(start, TM_PATH_CAUSES + (is_launch ? TM_CAUSE_LAUNCH : TM_CAUSE_DEVICE_WAIT), delay_ps);
    if (!is_launch && (double)r->compute_ps[place.lane] < r->mean_compute_ps)
        start->ps[TM_REPLAY_IMBALANCE] -= delay_ps;
}

static void take_activity(struct replay *r, struct tm_path_place place, const struct tm_path_activity *row)
{
    const uint64_t slot = slot_of(r, place);
    const bool has_launch = row->launch_ps != INT64_MIN && row->launch_ps >= r->start_ps;
    struct tm_path_place before;
    const int64_t ready_ps = find_ready(r, place, row, &before);
    struct times start = all(r->start_ps);

    if (before.lane != TM_NONE && is_inside(r, before)) {
        resolve_pending(r, before);
        start = *(const struct times *)tm_rows_at(r->times, slot_of(r, before));
    }
    if (has_launch || is_main_start(r, row, ready_ps)) {
        const bool is_bound = !has_launch || row->launch_ps > ready_ps; /* by the host */
        const int64_t call_ps = has_launch ? row->launch_end_ps - row->launch_ps : 0;
        const int64_t latency_ps = has_launch ? row->start_ps - row->launch_ps : 0;
        struct times launched = *(const struct times *)tm_rows_at(r->times, slot);

        if (has_launch)
            add(&launched, TM_PATH_CAUSES + TM_CAUSE_LAUNCH, is_bound || latency_ps < call_ps ? latency_ps : call_ps);
        if (!is_bound)
            add_delay(r, &start, place, row->launch_end_ps > ready_ps, row->start_ps - ready_ps);
        raise_times(&start, &launched);
    } else {
        add_delay(r, &start, place, row->launch_ps != INT64_MIN && row->launch_end_ps > ready_ps,
                  row->start_ps - ready_ps);
    }
    *(struct times *)tm_rows_change(r->times, slot) = start;
    if (row->collective)
        take_collective(r, place, row);
    else
        settle(r, slot, tm_path_kind_of(row), row->end_ps - row->start_ps);
    if (tm_path_kind_of(row) == TM_PATH_COMPUTE)
        balance(r, place, row->end_ps - row->start_ps);
}

/* It is already running when the step starts: what is left of it. */
static void take_running(struct replay *r, struct tm_path_place place, const struct tm_path_activity *row)
{
    const uint64_t slot = slot_of(r, place);

    *(struct times *)tm_rows_change(r->times, slot) = all(row->end_ps < r->start_ps ? row->end_ps : r->start_ps);
    if (row->end_ps > r->start_ps)
        settle(r, slot, tm_path_kind_of(row), row->end_ps - r->start_ps);
}

/* --- a step --- */

/* The rows of each lane, and the calls that they wait for. */
static uint64_t find_rows(struct replay *r)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < r->p->lane_count; i++) {
        const struct tm_path_lane *const lane = &r->p->lanes[i];
        uint64_t from, to;

        if (!tm_path_is_in_group(r->p, r->group, i))
            continue;
        from = tm_path_first(lane, r->start_ps);
        to = tm_path_first(lane, r->end_ps);
        r->first[i] = r->next[i] = from > LOOK_BACK ? from - LOOK_BACK : 0;
        r->count[i] = to - r->first[i];
        r->offset[i] = total;
        total += r->count[i];
    }
    return total;
}

static void find_calls(struct replay *r)
{
    for (uint32_t i = 0; i < r->p->lane_count && !tm_failed(r->p->d->run); i++) {
        for (uint64_t k = 0; k < r->count[i]; k++) {
            const struct tm_path_place place = { i, r->first[i] + k };
            const struct tm_path_activity row = *row_of(r, place);
            struct tm_path_place before;
            struct call call = { row.launch_ps, slot_of(r, place), row.thread };

            if (row.start_ps < r->start_ps)
                continue;
            if (tm_path_kind_of(&row) == TM_PATH_COMPUTE)
                r->compute_ps[i] = tm_sum_times(r->compute_ps[i], row.end_ps - row.start_ps);
            if (row.launch_ps == INT64_MIN && is_main_start(r, &row, find_ready(r, place, &row, &before))) {
                call.at_ps = row.start_ps;
                call.thread = r->p->d->trace->main_thread;
            } else if (row.launch_ps < r->start_ps) {
                continue;
            }
            tm_sorter_push(r->calls, &call);
        }
    }
    tm_sorter_finish(r->calls);
}

/* A device without any compute has no part in it. */
static void find_mean(struct replay *r)
{
    double sum_ps = 0;
    int lanes = 0;

    for (uint32_t i = 0; i < r->p->lane_count; i++) {
        sum_ps += (double)r->compute_ps[i];
        lanes += r->compute_ps[i] > 0;
    }
    r->mean_compute_ps = lanes ? sum_ps / lanes : 0;
}

static void find_next(struct replay *r, uint32_t lane)
{
    r->next_ps[lane] = r->next[lane] < r->first[lane] + r->count[lane]
                           ? tm_path_at(&r->p->lanes[lane], r->next[lane])->start_ps
                           : INT64_MAX;
}

/* The next row of all lanes.  out: false: there is none */
static bool next_row(struct replay *r, struct tm_path_place *place, struct tm_path_activity *row)
{
    uint32_t lane = 0;

    for (uint32_t i = 1; i < r->p->lane_count; i++)
        if (r->next_ps[i] < r->next_ps[lane])
            lane = i;
    if (r->next_ps[lane] == INT64_MAX)
        return false;
    *place = (struct tm_path_place){ lane, r->next[lane]++ };
    *row = *row_of(r, *place);
    find_next(r, lane);
    return true;
}

static void replay_rows(struct replay *r)
{
    const struct call *call = tm_sorter_next(r->calls);
    struct tm_path_place place = { 0, 0 };
    struct tm_path_activity row = { .start_ps = 0 };

    r->ends = all(r->start_ps);
    for (uint32_t i = 0; i < r->p->lane_count; i++)
        find_next(r, i);
    while (!tm_failed(r->p->d->run) && next_row(r, &place, &row)) {
        for (; call && call->at_ps <= row.start_ps; call = tm_sorter_next(r->calls))
            take_call(r, call);
        if (row.start_ps < r->start_ps)
            take_running(r, place, &row);
        else
            take_activity(r, place, &row);
    }
    for (uint32_t i = 0; i < r->p->lane_count; i++) {
        for (uint64_t k = 0; k < r->count[i] && !tm_failed(r->p->d->run); k++) {
            const struct tm_path_place of = { i, r->first[i] + k };
            const struct tm_path_activity own = *row_of(r, of);
            struct times end;

            if (own.end_ps > r->end_ps || own.end_ps <= r->start_ps)
                continue;
            resolve_pending(r, of);
            end = *(const struct times *)tm_rows_at(r->times, slot_of(r, of));
            if (own.start_ps < r->late_ps[i])
                end.ps[TM_REPLAY_STRAGGLERS] = r->start_ps;
            raise_times(&r->ends, &end);
        }
    }
}

static void add_up(const struct replay *r, const struct tm_path_parts *parts, uint64_t activities,
                   struct tm_path_replays *sums)
{
    sums->steps++;
    sums->activities += activities;
    sums->length_ps = tm_sum_times(sums->length_ps, r->end_ps - r->start_ps);
    for (int i = 0; i < TM_REPLAYS; i++) {
        const int64_t saved_ps = r->end_ps - r->ends.ps[i];

        sums->saved_ps[i] = tm_sum_times(sums->saved_ps[i], saved_ps > 0 ? saved_ps : 0);
    }
    for (int i = 0; i < TM_PATH_KINDS; i++)
        sums->path.ps[i] = tm_sum_times(sums->path.ps[i], parts->ps[i]);
}

/* Steps at equal distances, as many as the limit allows, at least one. */
static bool is_replayed(const struct tm_path_group *group)
{
    const uint64_t steps = group->steps ? group->steps : 1, mean = group->activities / steps + 1;
    uint64_t wanted = HOST_MOST / mean;

    wanted = wanted < 1 ? 1 : wanted > steps ? steps : wanted;
    return (group->done + 1) * wanted / steps > group->done * wanted / steps;
}

void tm_critical_path_replay(struct tm_critical_path *p, uint32_t number, const struct tm_path_parts *parts)
{
    const struct tm_path_group *const group = &p->groups[number];
    struct tm_run *const run = p->d->run;
    const size_t memory = tm_path_memory(p) / 2, share = tm_budget_share(&run->budget, TM_ACCOUNT_THREADS) / 32;
    const size_t bytes = p->lane_count * 7 * sizeof(uint64_t);
    struct replay *r;
    uint64_t slots;

    if (!is_replayed(group) || tm_failed(run))
        return;
    r = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*r), &run->error);
    if (!r)
        return;
    r->p = p;
    r->group = number;
    r->start_ps = group->start_ps;
    r->end_ps = group->end_ps;
    r->first = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    r->times = tm_rows_new_paged(run, p->account, sizeof(struct times), memory, PAGE);
    r->calls = tm_sorter_new(run, TM_ACCOUNT_THREADS, sizeof(struct call), share, by_time);
    if (!tm_failed(run)) {
        r->count = r->first + p->lane_count;
        r->offset = r->count + p->lane_count;
        r->next = r->offset + p->lane_count;
        r->next_ps = (int64_t *)(r->next + p->lane_count);
        r->late_ps = r->next_ps + p->lane_count;
        r->compute_ps = r->late_ps + p->lane_count;
        for (uint32_t i = 0; i < p->lane_count; i++)
            r->late_ps[i] = INT64_MIN;
        slots = find_rows(r);
        if (slots <= STEP_MOST) {
            tm_rows_resize(r->times, slots);
            find_calls(r);
            find_mean(r);
            replay_rows(r);
            add_up(r, parts, slots, &p->replays);
        }
    }
    tm_sorter_free(r->calls);
    tm_rows_free(r->times);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, r->first, r->first ? bytes : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, r, sizeof(*r));
}
