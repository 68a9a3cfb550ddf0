/* SPDX-License-Identifier: Apache-2.0 */
/* Late arrivals, computed from matched collectives.  No device can leave an all-reduce before the last one has arrived:
 * collectives of this kind that do not overlap on all their devices are not the same one, or the clocks differ.  This
 * first verifies the clocks of several hosts; if they do not agree, only devices of one host are compared.  If these do
 * not overlap either, nothing is reported about them. */
#include "stages/figures/skew.h"

#include <stdlib.h>
#include <string.h>

#include "stages/figures/figure_rows.h"

/* One of the collectives with the latest arrivals. */
struct late_row {
    int64_t skew_ps, start_ps, first_begin_ps; /* starts of the last and the first device, in their hosts' times */
    uint64_t block, ordinal;
    uint32_t subgroup, last, first;
};

enum { SKEW_WORST = 20 };

/* --- the path through the collectives of several hosts --- */

/* The critical path through the collectives of several hosts, and replays without what delays them.  Between two
 * collectives a device works on its own; in a collective all devices wait for the last one, and leave together:
 *
 *     device 0 ── work ──► arrives ─ wait ─┐                   ┌─ work ─►
 *     device 1 ── work ─────────► arrives ─┴─ data move ─ end ─┴─ work ─►
 *
 * A replay is followed forward: how much earlier than recorded each device is.  In a collective, all devices get the
 * difference of the last arrivals.  The path is followed backward, from the end of a collective to the device that came
 * last, and on that device to the end of its previous collective.  Memory: collectives are sorted by time and spill;
 * fixed per device. */

enum { PAGE = 4 << 10 };

#define TIME_MOST (INT64_MAX / 8)

/* One device in a collective. */
struct meeting {
    int64_t last_ps; /* start of the last device */
    int64_t start_ps, end_ps;
    uint64_t block, ordinal;
    uint32_t subgroup, member;
};

/* Of collectives: by the start of the last device. */
static int order_of(const struct meeting *x, const struct meeting *y)
{
    if (x->last_ps != y->last_ps)
        return x->last_ps < y->last_ps ? -1 : 1;
    return tm_skew_order(x->block, y->block, x->subgroup, y->subgroup, x->ordinal, y->ordinal);
}

static bool is_same(const struct meeting *a, const struct meeting *b)
{
    return order_of(a, b) == 0;
}

static int by_last(const void *a, const void *b)
{
    const struct meeting *x = a, *y = b;
    const int order = order_of(x, y);

    return order ? order : (x->member > y->member) - (x->member < y->member);
}

static void open_path(struct skew_path *path, struct skew *k)
{
    struct tm_run *const run = k->run;

    *path = (struct skew_path){ .begin_ps = INT64_MAX, .end_ps = INT64_MIN };
    path->members = tm_take(&run->budget, TM_ACCOUNT_MODEL, k->members.count * sizeof(*path->members), &run->error);
    path->meetings =
        tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(struct meeting), collectives_memory(run, SKEW_MEETINGS), by_last);
}

static bool is_in_range(int64_t time_ps)
{
    return time_ps > -TIME_MOST && time_ps < TIME_MOST;
}

/* One collective with an analyzed part.  in: last_ps  start of its last device, on the common clock */
static void take_meeting(struct skew_path *path, const struct instances *it, int64_t last_ps)
{
    for (uint32_t i = 0; i < it->count; i++)
        if (!is_in_range(tm_skew_shared(it, &it->rows[i], it->rows[i].start_ps)) ||
            !is_in_range(tm_skew_shared(it, &it->rows[i], it->rows[i].end_ps)))
            return;
    for (uint32_t i = 0; i < it->count; i++) {
        const struct joined *const row = &it->rows[i];
        const struct meeting meeting = { .last_ps = last_ps,
                                         .start_ps = tm_skew_shared(it, row, row->start_ps),
                                         .end_ps = tm_skew_shared(it, row, row->end_ps),
                                         .block = row->block,
                                         .ordinal = row->ordinal,
                                         .subgroup = row->subgroup,
                                         .member = row->member };

        path->begin_ps = meeting.start_ps < path->begin_ps ? meeting.start_ps : path->begin_ps;
        path->end_ps = meeting.end_ps > path->end_ps ? meeting.end_ps : path->end_ps;
        tm_sorter_push(path->meetings, &meeting);
    }
    path->count++;
}

/* --- the path: forward --- */

struct replay {
    struct skew_path *path;
    struct skew *k;
    struct meeting *rows; /* of the current collective; room for all devices */
    uint32_t count;
    struct meeting next;
    bool has_next;
    double mean_load_ps;
};

static void read_next(struct replay *r)
{
    const struct meeting *const row = tm_sorter_next(r->path->meetings);

    r->has_next = row != NULL;
    if (row)
        r->next = *row;
}

static bool next_collective(struct replay *r)
{
    for (r->count = 0; r->has_next && (!r->count || is_same(r->rows, &r->next)); read_next(r))
        r->rows[r->count++] = r->next;
    return r->count != 0;
}

/* The device's own time before a collective; 0 if it started the collective before its previous one had ended. */
static int64_t own_work(const struct skew_path *path, const struct meeting *row)
{
    const int64_t end_ps = path->members[row->member].end_ps;
    const int64_t since_ps = end_ps == INT64_MIN ? path->begin_ps : end_ps;

    return row->start_ps > since_ps ? row->start_ps - since_ps : 0;
}

static void find_loads(struct replay *r)
{
    struct skew_path *const path = r->path;
    double sum_ps = 0;
    uint32_t members = 0;

    while (next_collective(r)) {
        for (uint32_t i = 0; i < r->count; i++) {
            struct skew_path_member *const member = &path->members[r->rows[i].member];

            member->load_ps = tm_sum_times(member->load_ps, own_work(path, &r->rows[i]));
            member->end_ps = r->rows[i].end_ps;
        }
    }
    for (uint32_t i = 0; i < r->k->members.count; i++) {
        sum_ps += (double)path->members[i].load_ps;
        members += path->members[i].load_ps > 0;
        path->members[i].end_ps = INT64_MIN;
    }
    r->mean_load_ps = members ? sum_ps / members : 0;
}

/* When a device arrives in a replay. */
static int64_t arrival_in(const struct replay *r, const struct meeting *row, int replay)
{
    const struct skew_path_member *const member = &r->path->members[row->member];
    const int64_t at_ps = row->start_ps + member->shift_ps[replay];

    if (replay != SKEW_WITHOUT_IMBALANCE || (double)member->load_ps <= r->mean_load_ps)
        return at_ps;
    return at_ps - (int64_t)((double)own_work(r->path, row) * (1 - r->mean_load_ps / (double)member->load_ps));
}

/* The last one arrives together with the one before it. */
static int64_t last_in(const struct replay *r, int replay)
{
    int64_t last_ps = INT64_MIN, others_ps = INT64_MIN;
    uint32_t last = 0;

    while (r->rows[last].start_ps != r->rows[last].last_ps && last + 1 < r->count)
        last++;
    for (uint32_t i = 0; i < r->count; i++) {
        const int64_t at_ps = arrival_in(r, &r->rows[i], replay);

        last_ps = at_ps > last_ps ? at_ps : last_ps;
        if (i != last)
            others_ps = at_ps > others_ps ? at_ps : others_ps;
    }
    return replay == SKEW_WITHOUT_STRAGGLERS ? others_ps : last_ps;
}

static void replay_all(struct replay *r, struct tm_rows *kept)
{
    tm_sorter_rewind(r->path->meetings);
    read_next(r);
    while (next_collective(r) && !tm_failed(r->k->run)) {
        int64_t shift_ps[SKEW_REPLAYS];

        for (int i = 0; i < SKEW_REPLAYS; i++) {
            const int64_t earlier_ps = last_in(r, i) - r->rows[0].last_ps;

            shift_ps[i] = earlier_ps < 0 ? earlier_ps : 0;
        }
        for (uint32_t i = 0; i < r->count; i++) {
            struct skew_path_member *const member = &r->path->members[r->rows[i].member];

            memcpy(member->shift_ps, shift_ps, sizeof(shift_ps));
            member->end_ps = r->rows[i].end_ps;
            tm_rows_append(kept, &r->rows[i]);
        }
    }
}

/* Of each host, how much earlier its last collective ends, on all of its devices that ran some. */
static void add_savings(struct replay *r, int replay)
{
    const struct tm_members *const members = &r->k->members;
    struct skew_path *const path = r->path;

    for (uint32_t i = 0, next; i < members->count; i = next) {
        int64_t recorded_ps = INT64_MIN, replayed_ps = INT64_MIN;
        uint32_t devices = 0;

        for (next = i; next < members->count && members->rows[next].host == members->rows[i].host; next++) {
            const struct skew_path_member *const member = &path->members[next];
            const int64_t end_ps = member->end_ps;

            if (end_ps == INT64_MIN)
                continue;
            recorded_ps = end_ps > recorded_ps ? end_ps : recorded_ps;
            replayed_ps =
                end_ps + member->shift_ps[replay] > replayed_ps ? end_ps + member->shift_ps[replay] : replayed_ps;
            devices++;
        }
        for (; devices; devices--)
            path->saved_ps[replay] = tm_sum_times(path->saved_ps[replay], recorded_ps - replayed_ps);
    }
}

/* --- the path: backward --- */

struct walk {
    struct replay *r;
    uint32_t member; /* that the path is on */
    int64_t at_ps;   /* from there on the path is known */
};

/* A collective, from its last device to its first. */
struct seen {
    struct meeting own; /* of the member that the path is on */
    bool has_own;
    uint32_t last;
};

/* Of the devices that end last, the first by number. */
static void find_end(struct walk *w, struct tm_rows *kept)
{
    for (uint64_t i = tm_rows_count(kept); i-- > 0;) {
        const struct meeting *const row = tm_rows_at(kept, i);

        if (row->end_ps > w->at_ps || (row->end_ps == w->at_ps && row->member < w->member)) {
            w->at_ps = row->end_ps;
            w->member = row->member;
        }
    }
}

static void add_work(struct walk *w, int64_t from_ps)
{
    struct skew_path_member *const member = &w->r->path->members[w->member];

    member->path_ps = tm_sum_times(member->path_ps, w->at_ps - from_ps);
    w->at_ps = from_ps;
}

static void pass(struct walk *w, const struct seen *seen)
{
    const struct tm_run_member *const devices = w->r->k->members.rows;
    struct skew_path *const path = w->r->path;

    if (!seen->has_own || seen->own.last_ps >= w->at_ps)
        return;
    if (seen->own.end_ps < w->at_ps)
        add_work(w, seen->own.end_ps);
    path->move_ps = tm_sum_times(path->move_ps, w->at_ps - seen->own.last_ps);
    w->at_ps = seen->own.last_ps;
    path->on_path++;
    path->switches += seen->last != w->member;
    path->host_switches += devices[seen->last].host != devices[w->member].host;
    w->member = seen->last;
}

static void walk_back(struct replay *r, struct tm_rows *kept)
{
    struct walk w = { .r = r, .at_ps = INT64_MIN };
    struct seen seen = { .has_own = false };
    struct meeting before = { .member = TM_NONE };

    find_end(&w, kept);
    for (uint64_t i = tm_rows_count(kept); i-- > 0 && !tm_failed(r->k->run);) {
        const struct meeting row = *(const struct meeting *)tm_rows_at(kept, i);

        if (before.member != TM_NONE && !is_same(&before, &row)) {
            pass(&w, &seen);
            seen = (struct seen){ .has_own = false };
        }
        if (row.start_ps == row.last_ps)
            seen.last = row.member;
        if (row.member == w.member) {
            seen.own = row;
            seen.has_own = true;
        }
        before = row;
    }
    pass(&w, &seen);
    add_work(&w, r->path->begin_ps);
}

static void conclude_path(struct skew_path *path, struct skew *k)
{
    struct tm_run *const run = k->run;
    const size_t bytes = k->members.count * sizeof(struct meeting);
    struct replay r = { .path = path, .k = k };
    struct tm_rows *kept;

    tm_sorter_finish(path->meetings);
    if (!path->count || tm_failed(run))
        return;
    r.rows = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    kept =
        tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct meeting), collectives_memory(run, SKEW_MEETINGS), PAGE);
    if (!tm_failed(run)) {
        for (uint32_t i = 0; i < k->members.count; i++)
            path->members[i].end_ps = INT64_MIN;
        read_next(&r);
        find_loads(&r);
        replay_all(&r, kept);
        for (int i = 0; i < SKEW_REPLAYS; i++)
            add_savings(&r, i);
        walk_back(&r, kept);
        path->is_known = true;
    }
    tm_rows_free(kept);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, r.rows, r.rows ? bytes : 0);
    tm_sorter_free(path->meetings);
    path->meetings = NULL;
}

static void free_path(struct skew_path *path, struct skew *k)
{
    tm_sorter_free(path->meetings);
    tm_give(&k->run->budget, TM_ACCOUNT_MODEL, path->members,
            path->members ? k->members.count * sizeof(*path->members) : 0);
    *path = (struct skew_path){ .meetings = NULL };
}

/* --- the path: its section --- */

/* in:     why  why hosts are not compared; NULL = they are */
static void report_path(const struct skew_path *path, const struct skew *k, const char *why, struct tm_value *skew)
{
    const int64_t total_ps = path->end_ps - path->begin_ps;
    struct tm_value *to, *list;

    if (!path->is_known) {
        tm_add_null(skew, "critical_path",
                    why ? why : "no collective of several hosts requires all devices at the same time");
        return;
    }
    to = tm_add_object(skew, "critical_path");
    tm_add_int(to, "total_ps", total_ps);
    tm_add_int(to, "move_ps", path->move_ps);
    tm_add_uint(to, "collectives", path->count);
    tm_add_uint(to, "on_path", path->on_path);
    tm_add_uint(to, "switches", path->switches);
    tm_add_uint(to, "host_switches", path->host_switches);
    tm_add_int(to, "stragglers_saved_ps", path->saved_ps[SKEW_WITHOUT_STRAGGLERS]);
    tm_add_int(to, "imbalance_saved_ps", path->saved_ps[SKEW_WITHOUT_IMBALANCE]);
    list = tm_add_array(to, "devices");
    for (uint32_t i = 0; i < k->members.count; i++) {
        struct tm_value *const row = path->members[i].end_ps == INT64_MIN ? NULL : tm_add_object(list, NULL);

        if (!row)
            continue;
        tm_add_string(row, "device", k->members.rows[i].device);
        tm_add_int(row, "total_ps", path->members[i].path_ps);
        tm_add_double(row, "share_pct", tm_share_of(path->members[i].path_ps, total_ps));
    }
}

struct coming;

struct adding {
    struct skew *k;
    struct matches *m;
    struct skew_sums *sums;
    struct instances from;
    struct coming *order; /* of the instance, in which they came */
    uint64_t shown;       /* instances that were passed to an observer */
};

/* --- sums --- */

/* One device of an instance, in the order in which they came; of two that came at once, the one with the smaller number
 * first. */
struct coming {
    int64_t start_ps; /* as all hosts count it */
    const struct joined *row;
};

static int by_start(const void *a, const void *b)
{
    const struct coming *x = a, *y = b;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return (x->row->member > y->row->member) - (x->row->member < y->row->member);
}

/* The last one is the first by number of those that came last. */
static const struct coming *put_in_order(struct adding *a)
{
    const struct instances *it = &a->from;
    uint32_t last = it->count - 1;

    for (uint32_t i = 0; i < it->count; i++)
        a->order[i] = (struct coming){ tm_skew_shared(it, &it->rows[i], it->rows[i].start_ps), &it->rows[i] };
    qsort(a->order, it->count, sizeof(*a->order), by_start);
    while (last && a->order[last - 1].start_ps == a->order[last].start_ps)
        last--;
    return &a->order[last];
}

/* Passes an instance to the observer of the analysis. */
static void show_members(struct adding *a, int64_t last_ps)
{
    const struct tm_settings *const settings = a->k->settings;
    const struct block *const block = tm_rows_at(a->m->blocks, a->from.rows[0].block);

    a->shown++;
    for (uint32_t i = 0; i < a->from.count && !tm_failed(a->k->run); i++) {
        const struct joined *const row = a->order[i].row;
        const struct tm_run_member *const member = &a->k->members.rows[row->member];
        const struct tm_matched_collective shown = {
            .number = a->shown,
            .host = member->host,
            .device = member->index,
            .start_ps = row->start_ps,
            .end_ps = row->end_ps,
            .last_ps = tm_sum_times(row->start_ps, last_ps - a->order[i].start_ps),
            .group = block->group,
            .devices = a->from.count,
            .is_last = i + 1 == a->from.count,
            .is_start = row->is_start,
        };

        (void)settings->take_matched(settings->matched_taker, &shown); /* its failure is that of the run */
    }
}

static void add_members(struct adding *a, int64_t last_ps)
{
    struct skew_sums *sums = a->sums;

    for (uint32_t i = 0; i < a->from.count; i++) {
        const struct joined *row = a->order[i].row;
        struct member_sums *member = &sums->members[row->member];
        const int64_t late_ps = a->order[i].start_ps - a->order[0].start_ps, wait_ps = last_ps - a->order[i].start_ps;
        const struct matched matched = { .serial = row->serial,
                                         .last_ps = tm_sum_times(row->start_ps, wait_ps),
                                         .end_ps = row->end_ps,
                                         .row = row->row,
                                         .member = row->member,
                                         .is_start = row->is_start,
                                         .is_chosen = row->is_chosen };

        tm_sorter_push(sums->rows, &matched);
        if (!row->is_chosen)
            continue;
        member->count++;
        member->late_ps = tm_sum_times(member->late_ps, late_ps);
        member->late_max_ps = late_ps > member->late_max_ps ? late_ps : member->late_max_ps;
        member->wait_ps = tm_sum_times(member->wait_ps, wait_ps);
        sums->wait_ps = tm_sum_times(sums->wait_ps, wait_ps);
    }
}

/* While some devices wait, those that have not arrived cause the wait in equal parts: the waits caused by several late
 * devices add up to the waits of the others.  The last one gets the remainder of the division. */
static void add_causes(struct adding *a, const struct coming *last)
{
    const uint32_t count = a->from.count;
    struct member_sums *members = a->sums->members;
    uint64_t waiting = 0;
    int64_t caused_ps = 0, rest_ps = 0;

    for (uint32_t i = 1; i < count; i++) {
        const int64_t gap_ps = a->order[i].start_ps - a->order[i - 1].start_ps;
        int64_t wait_ps;

        waiting += a->order[i - 1].row->is_chosen;
        if (__builtin_mul_overflow(gap_ps, (int64_t)waiting, &wait_ps))
            wait_ps = INT64_MAX;
        caused_ps = tm_sum_times(caused_ps, wait_ps / (count - i));
        rest_ps = tm_sum_times(rest_ps, wait_ps % (count - i));
        members[a->order[i].row->member].caused_ps =
            tm_sum_times(members[a->order[i].row->member].caused_ps, caused_ps);
    }
    members[last->row->member].caused_ps = tm_sum_times(members[last->row->member].caused_ps, rest_ps);
}

/* Where two came last, neither is the only cause. */
static void add_last(struct adding *a, const struct coming *last)
{
    const uint32_t count = a->from.count;
    struct member_sums *sums = &a->sums->members[last->row->member];
    int64_t alone_ps;

    if (__builtin_mul_overflow(a->order[count - 1].start_ps - a->order[count - 2].start_ps, (int64_t)count - 1,
                               &alone_ps))
        alone_ps = INT64_MAX;
    sums->last_count++;
    sums->alone_ps = tm_sum_times(sums->alone_ps, alone_ps);
}

/* in:     is_meeting  all of its devices must be in it at once */
static void add_instance(struct adding *a, bool is_meeting)
{
    struct skew_sums *sums = a->sums;
    const struct coming *last = put_in_order(a), *first = a->order;
    const int64_t skew_ps = last->start_ps - first->start_ps;
    const struct late_row row = { .skew_ps = skew_ps,
                                  .start_ps = last->row->start_ps,
                                  .first_begin_ps = first->row->start_ps,
                                  .block = last->row->block,
                                  .ordinal = last->row->ordinal,
                                  .subgroup = last->row->subgroup,
                                  .last = last->row->member,
                                  .first = first->row->member };

    add_members(a, last->start_ps);
    if (a->k->settings && a->k->settings->take_matched)
        show_members(a, last->start_ps);
    if (!tm_skew_has_chosen(&a->from))
        return;
    if (is_meeting && sums->path.meetings)
        take_meeting(&sums->path, &a->from, last->start_ps);
    sums->matched++;
    sums->incomplete += a->from.group_size > a->from.count;
    sums->late_ps = tm_sum_times(sums->late_ps, skew_ps);
    sums->max_ps = skew_ps > sums->max_ps ? skew_ps : sums->max_ps;
    tm_sorter_push(sums->lengths, &skew_ps);
    if (!skew_ps)
        return;
    add_causes(a, last);
    add_last(a, last);
    tm_top_rows_add(sums->worst, &row);
}

static void leave_unmatched(struct adding *a)
{
    for (uint32_t i = 0; i < a->from.count; i++)
        a->sums->unmatched = tm_sum_counts(a->sums->unmatched, a->from.rows[i].is_chosen);
}

static void add_instances(struct adding *a)
{
    tm_skew_rewind(&a->from);
    while (tm_skew_next_instance(&a->from, a->sums->clock.is_aligned)) {
        bool has_to = false, does = false, fits = true;

        if (a->from.count > 1)
            tm_skew_look_at_overlap(&a->from, &has_to, &does, &fits);
        if (a->from.count > 1 && fits && (does || !has_to))
            add_instance(a, has_to);
        else
            leave_unmatched(a);
    }
    tm_sorter_finish(a->sums->lengths);
    tm_top_rows_sort(a->sums->worst);
}

/* --- all of it --- */

static int latest_first(const void *a, const void *b)
{
    const struct late_row *x = a, *y = b;
    const int order = tm_skew_order(x->block, y->block, x->subgroup, y->subgroup, x->ordinal, y->ordinal);

    if (x->skew_ps != y->skew_ps)
        return x->skew_ps > y->skew_ps ? -1 : 1;
    return order ? order : (x->last > y->last) - (x->last < y->last);
}

static int by_serial(const void *a, const void *b)
{
    const struct matched *x = a, *y = b;

    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    return (x->serial > y->serial) - (x->serial < y->serial);
}

static int by_length(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void read_matches(struct adding *a)
{
    struct skew_sums *sums = a->sums;

    tm_skew_align(&a->from, sums->hosts, &sums->clock);
    tm_skew_count_overlap(&a->from, sums->clock.is_aligned, false, &sums->overlap);
    if (tm_skew_is_believed(&sums->overlap)) {
        if (sums->clock.is_aligned && sums->clock.hosts > 1)
            open_path(&sums->path, a->k);
        add_instances(a);
        if (sums->path.meetings)
            conclude_path(&sums->path, a->k);
        return;
    }
    tm_skew_rewind(&a->from);
    while (tm_skew_next_instance(&a->from, false))
        leave_unmatched(a);
}

void tm_skew_add_up(struct skew *k, struct matches *m, struct skew_sums *sums)
{
    struct tm_run *run = k->run;
    struct adding a = { .k = k, .m = m, .sums = sums };
    const size_t rows_bytes = k->members.count * sizeof(*a.from.rows);
    const size_t order_bytes = k->members.count * sizeof(*a.order);

    *sums = (struct skew_sums){ .unmatched = m->unmatched };
    sums->members = tm_take(&run->budget, TM_ACCOUNT_MODEL, k->members.count * sizeof(*sums->members), &run->error);
    sums->lengths =
        tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(int64_t), collectives_memory(run, SKEW_LENGTHS), by_length);
    sums->rows =
        tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(struct matched), collectives_memory(run, SKEW_MATCHED), by_serial);
    sums->worst = tm_top_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct late_row), SKEW_WORST,
                                  collectives_memory(run, SKEW_ROWS), latest_first);
    a.from.rows = tm_take(&run->budget, TM_ACCOUNT_MODEL, rows_bytes, &run->error);
    sums->hosts = tm_take(&run->budget, TM_ACCOUNT_MODEL, k->clock_count * sizeof(*sums->hosts), &run->error);
    a.from.k = k;
    a.from.m = m;
    a.from.hosts = sums->hosts;
    a.order = tm_take(&run->budget, TM_ACCOUNT_MODEL, order_bytes, &run->error);
    if (!tm_failed(run)) {
        read_matches(&a);
        tm_sorter_finish(sums->rows);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a.from.rows, a.from.rows ? rows_bytes : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a.order, a.order ? order_bytes : 0);
}

void tm_skew_free_sums(struct skew *k, struct skew_sums *sums)
{
    tm_give(&k->run->budget, TM_ACCOUNT_MODEL, sums->members,
            sums->members ? k->members.count * sizeof(*sums->members) : 0);
    tm_give(&k->run->budget, TM_ACCOUNT_MODEL, sums->hosts, sums->hosts ? k->clock_count * sizeof(*sums->hosts) : 0);
    free_path(&sums->path, k);
    tm_sorter_free(sums->lengths);
    tm_sorter_free(sums->rows);
    tm_top_rows_free(sums->worst);
}

/* Builds collectives.skew from the arrivals. */

/* A device is an outlier if it is this many times as late as the mean of the others and is the last one more often than
 * if they took turns. */
enum { STANDS_OUT = 2 };

const char *tm_skew_why_not_matched(const struct skew *k, const struct skew_sums *sums)
{
    const struct clock_check *clock = &sums->clock;

    if (!tm_sorter_count(k->arrivals))
        return "sends and receives do not record their participants";
    if (!tm_skew_is_believed(&sums->overlap))
        return "the devices' collectives at the same position do not overlap: they are not the same collective";
    if (clock->hosts > 1 && clock->overlap.checked && !clock->is_aligned)
        return "the clocks of the hosts do not agree: collectives of several hosts do not overlap";
    if (clock->hosts > 1 && clock->why && !clock->overlap.checked)
        return clock->why;
    return "no collective of one device has a counterpart on another";
}

static void add_overlap(const struct overlap *overlap, const char *why, struct tm_value *to)
{
    tm_add_uint(to, "checked", overlap->checked);
    if (overlap->checked)
        tm_add_double(to, "overlapping_pct", 100.0 * (double)overlap->overlapping / (double)overlap->checked);
    else
        tm_add_null(to, "overlapping_pct", why);
}

static const char *const method_words[TM_CLOCK_METHODS] = { [TM_CLOCK_ASSUMED] = "none",
                                                            [TM_CLOCK_RECORDED] = "recorded",
                                                            [TM_CLOCK_CONFIRMED] = "confirmed",
                                                            [TM_CLOCK_COLLECTIVES] = "collectives",
                                                            [TM_CLOCK_REFERENCE] = "reference" };

static void add_host_clock(const struct host_alignment *host, struct tm_value *to)
{
    const char *why = host->method == TM_CLOCK_REFERENCE ? "the other hosts are aligned with it"
                                                         : "no collectives with other hosts show it";

    tm_add_string(to, "method", method_words[host->method]);
    tm_add_int(to, "offset_ps", host->clock.offset_ps);
    tm_add_double(to, "drift_ppm", tm_clock_ppm(&host->clock));
    if (host->points)
        tm_add_int(to, "uncertainty_ps", host->uncertainty_ps);
    else
        tm_add_null(to, "uncertainty_ps", why);
    tm_add_uint(to, "points", host->points);
    if (host->points && host->has_recorded)
        tm_add_int(to, "difference_ps", host->difference_ps);
    else
        tm_add_null(to, "difference_ps", host->points ? "its start is not recorded" : why);
}

static void add_clock_check(const struct skew *k, const struct skew_sums *sums, const struct tm_value *names,
                            struct tm_value *skew)
{
    const struct clock_check *clock = &sums->clock;
    struct tm_value *to = tm_add_object(skew, "clock"), *offsets, *list;
    const char *why = clock->why ? clock->why : "the clocks of the hosts do not agree";

    tm_add_uint(to, "hosts", clock->hosts);
    if (clock->overlap.checked)
        tm_add_bool(to, "aligned", clock->is_aligned);
    else
        tm_add_null(to, "aligned", clock->why);
    add_overlap(&clock->overlap, clock->why, to);
    if (!clock->is_aligned) {
        tm_add_null(to, "offsets_ps", why);
        tm_add_null(to, "list", why);
        return;
    }
    offsets = tm_add_array(to, "offsets_ps");
    for (uint32_t i = 0; i < k->clock_count; i++)
        tm_add_int(offsets, NULL, sums->hosts[i].clock.offset_ps);
    list = tm_add_array(to, "list");
    for (uint32_t i = 0; i < k->clock_count; i++) {
        struct tm_value *host = tm_add_object(list, NULL);

        tm_add_string(host, "host", tm_text(tm_at(names, i)));
        add_host_clock(&sums->hosts[i], host);
    }
}

/* The member that is an outlier; TM_NONE = none is. */
static uint32_t find_straggler(const struct skew *k, const struct skew_sums *sums)
{
    const struct member_sums *m = sums->members;
    unsigned __int128 others_ps = 0;
    uint32_t latest = TM_NONE, others = 0;

    for (uint32_t i = 0; i < k->members.count; i++) {
        if (!m[i].count)
            continue;
        if (latest == TM_NONE || m[i].late_ps > m[latest].late_ps)
            latest = i;
        others_ps += (uint64_t)m[i].late_ps;
        others++;
    }
    if (others < 2 || !m[latest].late_ps || m[latest].last_count <= m[latest].count / others)
        return TM_NONE;
    others_ps -= (uint64_t)m[latest].late_ps;
    others--;
    return (unsigned __int128)(uint64_t)m[latest].late_ps * others >= STANDS_OUT * others_ps ? latest : TM_NONE;
}

static void add_skew_members(const struct skew *k, const struct skew_sums *sums, struct tm_value *skew)
{
    struct tm_value *list = tm_add_array(skew, "members");

    for (uint32_t i = 0; i < k->members.count; i++) {
        const struct member_sums *m = &sums->members[i];
        struct tm_value *to;

        if (!k->presences[i].count)
            continue;
        to = tm_add_object(list, NULL);
        tm_add_string(to, "device", k->members.rows[i].device);
        tm_add_uint(to, "count", m->count);
        tm_add_uint(to, "last_count", m->last_count);
        tm_add_int(to, "late_ps", m->late_ps);
        tm_add_int(to, "late_max_ps", m->late_max_ps);
        tm_add_int(to, "wait_ps", m->wait_ps);
        tm_add_int(to, "caused_ps", m->caused_ps);
        if (sums->wait_ps > 0)
            tm_add_double(to, "caused_pct", 100.0 * (double)m->caused_ps / (double)sums->wait_ps);
        else
            tm_add_null(to, "caused_pct", "no device waits for another");
        tm_add_int(to, "alone_ps", m->alone_ps);
        tm_add_int(to, "collective_ps", k->presences[i].collective_ps);
    }
}

static void add_name(const struct skew *k, struct tm_value *to, const char *key, tm_strid id)
{
    tm_add_name_cut(to, key, k->names, id, 0, "not recorded");
}

static void add_worst_row(const struct skew *k, struct matches *m, const struct late_row *row, struct tm_value *list)
{
    const struct block block = *(const struct block *)tm_rows_at(m->blocks, row->block);
    struct tm_value *to = tm_add_object(list, NULL);

    tm_add_string(to, "kind", tm_collective_kind_name[block.kind]);
    add_name(k, to, "name", block.name);
    add_name(k, to, "group", block.group);
    if (block.step == TM_NO_STEP)
        tm_add_null(to, "step", "outside the steps");
    else
        tm_add_int(to, "step", block.step);
    tm_add_uint(to, "ordinal", row->ordinal + 1);
    tm_add_int(to, "skew_ps", row->skew_ps);
    tm_add_string(to, "last", k->members.rows[row->last].device);
    tm_add_int(to, "begin_ps", row->start_ps);
    tm_add_string(to, "first", k->members.rows[row->first].device);
    tm_add_int(to, "first_begin_ps", row->first_begin_ps);
}

/* The smallest length that at least `pct` percent do not pass (nearest rank), for two percentages in order. */
static void add_percentiles(struct skew_sums *sums, struct tm_value *skew)
{
    static const struct {
        const char *key;
        unsigned pct;
    } rows[] = { { "p50_ps", 50 }, { "p95_ps", 95 } };
    const int64_t *length = NULL;
    uint64_t seen = 0;
    int64_t value = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint64_t n = sums->matched, rank = n / 100 * rows[i].pct + (n % 100 * rows[i].pct + 99) / 100;

        for (; seen < rank && (length = tm_sorter_next(sums->lengths)); seen++)
            value = *length;
        tm_add_int(skew, rows[i].key, value);
    }
}

static const char *why_no_path(const struct clock_check *clock)
{
    if (clock->hosts < 2)
        return "the collectives are those of one host: see its critical path";
    return clock->is_aligned ? NULL : clock->why ? clock->why : "the clocks of the hosts do not agree";
}

static void add_figures(const struct skew *k, struct matches *m, struct skew_sums *sums, const struct tm_value *names,
                        struct tm_value *skew)
{
    const uint32_t straggler = find_straggler(k, sums);
    struct tm_value *list;

    tm_add_int(skew, "late_ps", sums->late_ps);
    tm_add_int(skew, "wait_ps", sums->wait_ps);
    add_percentiles(sums, skew);
    tm_add_int(skew, "max_ps", sums->max_ps);
    add_clock_check(k, sums, names, skew);
    if (straggler == TM_NONE)
        tm_add_null(skew, "straggler", "no device is an outlier");
    else
        tm_add_string(skew, "straggler", k->members.rows[straggler].device);
    add_skew_members(k, sums, skew);
    list = tm_add_array(skew, "worst");
    for (uint64_t i = 0; i < tm_top_rows_count(sums->worst); i++)
        add_worst_row(k, m, tm_top_rows_at(sums->worst, i), list);
    report_path(&sums->path, k, why_no_path(&sums->clock), skew);
}

static void add_nothing(const struct skew *k, const struct skew_sums *sums, const struct tm_value *names,
                        struct tm_value *skew)
{
    static const char *const figures[] = { "late_ps", "wait_ps", "p50_ps", "p95_ps", "max_ps" };
    const char *why = tm_skew_why_not_matched(k, sums);

    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        tm_add_null(skew, figures[i], why);
    add_clock_check(k, sums, names, skew);
    tm_add_null(skew, "straggler", why);
    add_skew_members(k, sums, skew);
    (void)tm_add_array(skew, "worst");
    report_path(&sums->path, k, why, skew);
}

void tm_skew_report(struct skew *k, struct matches *m, struct skew_sums *sums, const struct tm_value *names,
                    struct tm_value *section)
{
    struct tm_value *skew = tm_add_object(section, "skew");

    tm_add_uint(skew, "communicators", m->communicators);
    tm_add_uint(skew, "matched", sums->matched);
    tm_add_uint(skew, "unmatched", sums->unmatched);
    tm_add_uint(skew, "incomplete", sums->incomplete);
    add_overlap(&sums->overlap, "no collective requires all devices at the same time", skew);
    if (sums->matched)
        add_figures(k, m, sums, names, skew);
    else
        add_nothing(k, sums, names, skew);
}
