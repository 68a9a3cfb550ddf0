/* SPDX-License-Identifier: Apache-2.0 */
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
#include <string.h>

#include "stages/figures/figure_rows.h"
#include "stages/figures/skew.h"

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

void tm_skew_path_open(struct skew_path *path, struct skew *k)
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

void tm_skew_path_take(struct skew_path *path, const struct instances *it, int64_t last_ps)
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

/* --- forward --- */

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

/* --- backward --- */

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

void tm_skew_path_conclude(struct skew_path *path, struct skew *k)
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

void tm_skew_path_free(struct skew_path *path, struct skew *k)
{
    tm_sorter_free(path->meetings);
    tm_give(&k->run->budget, TM_ACCOUNT_MODEL, path->members,
            path->members ? k->members.count * sizeof(*path->members) : 0);
    *path = (struct skew_path){ .meetings = NULL };
}

/* --- the section --- */

void tm_skew_path_report(const struct skew_path *path, const struct skew *k, const char *why, struct tm_value *skew)
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
