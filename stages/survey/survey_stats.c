/* SPDX-License-Identifier: Apache-2.0 */
/* Counting in two steps: records by their sort, in an open table that goes to a group table when it is half full; then,
 * when the survey has told which threads, launches and devices there are, each sort is told its class. */
#include "stages/survey/survey_stats.h"

#include <string.h>

#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"

/* What records of one sort have in common. */
struct sort {
    uint64_t name_and_config;
    uint64_t rest; /* track << 32 | flags << 16 | class << 8 | kind << 4 | marks */
    uint64_t traits;
};
enum { TRACK_SHIFT = 32, FLAGS_SHIFT = 16, CLASS_SHIFT = 8, KIND_SHIFT = 4 };
enum mark { IS_INSIDE = 1, IS_KNOWN = 2, HAS_LENGTH = 4, IS_IN_ORDER = 8 };

/* Records of one sort. */
struct tally {
    struct sort sort;
    uint64_t count; /* 0 = an empty place of the table */
    int64_t total_ps;
};
enum { LEAST_BITS = 8, MOST_BITS = 14 };

struct census_row {
    struct tm_key key; /* of the sort */
    struct tally tally;
};

/* A record of which an id has to be looked up when all are known. */
struct waiting {
    struct sort sort;
    uint64_t id;
    int64_t dur_ps;
};

struct tm_survey_stats {
    struct tm_trace *trace;
    struct tm_run *run;
    struct tally *table; /* 1 << bits places, at most half of them used */
    uint32_t bits, used;
    uint64_t seed;
    struct tm_groups *groups; /* struct census_row */
    struct tm_rows *waiting;  /* struct waiting */
    unsigned marks;           /* of all records by now */
    uint64_t track;           /* that is being counted; UINT64_MAX = none yet */
    int64_t inside_until_ps;  /* on it: end of the last execution or compilation */
};

static void add_row(void *into, const void *from)
{
    struct tally *to = &((struct census_row *)into)->tally;
    const struct tally *more = &((const struct census_row *)from)->tally;

    to->count += more->count;
    to->total_ps += more->total_ps;
}

struct tm_survey_stats *tm_survey_stats_new(struct tm_trace *trace)
{
    struct tm_run *const run = trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_TABLES);
    struct tm_survey_stats *c = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*c), &run->error);

    if (!c)
        return NULL;
    c->trace = trace;
    c->run = run;
    c->track = UINT64_MAX;
    c->waiting = tm_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct waiting), share / 16);
    c->groups = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct census_row), share / 8, add_row);
    c->seed = tm_hash_seed(c);
    c->bits = LEAST_BITS;
    while (c->bits < MOST_BITS && sizeof(*c->table) << (c->bits + 1) <= share / 16)
        c->bits++;
    c->table = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*c->table) << c->bits, &run->error);
    if (c->waiting && c->groups && c->table)
        return c;
    tm_survey_stats_free(c);
    return NULL;
}

void tm_survey_stats_free(struct tm_survey_stats *c)
{
    if (!c)
        return;
    tm_give(&c->run->budget, TM_ACCOUNT_TABLES, c->table, c->table ? sizeof(*c->table) << c->bits : 0);
    tm_groups_free(c->groups);
    tm_rows_free(c->waiting);
    tm_give(&c->run->budget, TM_ACCOUNT_TABLES, c, sizeof(*c));
}

/* --- counting --- */

/* The numbers of its track and its name, then a hash: told in this order, sorts go through the tracks once, and on each
 * through the names, however many there are. */
static struct tm_key key_of(const struct sort *sort)
{
    struct tm_key key = tm_hash_key(sort, sizeof(*sort));

    key.high = sort->rest >> TRACK_SHIFT << 32 | sort->name_and_config >> 32;
    return key;
}

/* All of the table goes to the groups. */
static tm_status empty(struct tm_survey_stats *c)
{
    tm_status st = TM_OK;

    for (size_t i = 0; i < (size_t)1 << c->bits && st == TM_OK; i++) {
        struct census_row row = { .tally = c->table[i] };

        if (!row.tally.count)
            continue;
        row.key = key_of(&row.tally.sort);
        st = tm_groups_add(c->groups, &row);
    }
    memset(c->table, 0, sizeof(*c->table) << c->bits);
    c->used = 0;
    return st;
}

static inline bool is_same_sort(const struct sort *a, const struct sort *b)
{
    return a->name_and_config == b->name_and_config && a->rest == b->rest && a->traits == b->traits;
}

/* The place of a sort, or an empty one for it. */
static inline struct tally *find_place(const struct tm_survey_stats *c, const struct sort *sort)
{
    const uint64_t mask = ((uint64_t)1 << c->bits) - 1;
    uint64_t i = tm_hash_pair(sort->name_and_config, sort->rest ^ sort->traits << 29, c->seed) >> (64 - c->bits);

    while (c->table[i].count && !is_same_sort(&c->table[i].sort, sort))
        i = (i + 1) & mask;
    return &c->table[i];
}

static tm_status count(struct tm_survey_stats *c, const struct sort *sort, int64_t dur_ps)
{
    struct tally *place = find_place(c, sort);

    if (!place->count) {
        if (2 * (c->used + 1) > (uint32_t)1 << c->bits) {
            const tm_status st = empty(c);

            if (st != TM_OK)
                return st;
            place = find_place(c, sort);
        }
        place->sort = *sort;
        c->used++;
    }
    place->count++;
    place->total_ps += dur_ps;
    return TM_OK;
}

/* The mark of a record that lies inside an execution of its thread. */
static unsigned place(struct tm_survey_stats *c, const struct tm_raw_record *raw)
{
    const struct tm_record *r = &raw->record;
    const int64_t end_ps = r->start_ps + r->dur_ps;
    unsigned mark;

    if (r->track != c->track)
        c->inside_until_ps = INT64_MIN;
    c->track = r->track;
    mark = r->start_ps < c->inside_until_ps ? IS_INSIDE : 0;
    if (raw->traits & TM_TRAITS_RUNTIME && end_ps > c->inside_until_ps)
        c->inside_until_ps = end_ps;
    return mark;
}

tm_status tm_survey_stats_take(struct tm_survey_stats *c, const struct tm_track *track, const struct tm_raw_record *raw)
{
    const struct tm_record *r = &raw->record;
    const unsigned marks = c->marks | (r->dur_ps ? HAS_LENGTH : 0) | (track->side == TM_SIDE_HOST ? place(c, raw) : 0);
    const struct sort sort = {
        .name_and_config = (uint64_t)r->name << 32 | r->config,
        .rest = (uint64_t)r->track << TRACK_SHIFT | (uint64_t)r->flags << FLAGS_SHIFT |
                (uint64_t)r->class << CLASS_SHIFT | (uint64_t)r->kind << KIND_SHIFT | marks,
        .traits = raw->traits,
    };

    if (tm_id_tells(track, raw)) {
        const struct waiting waiting = { sort, r->correlation, r->dur_ps };

        return tm_rows_append(c->waiting, &waiting);
    }
    return count(c, &sort, r->dur_ps);
}

/* --- once more, in order --- */

bool tm_survey_stats_needs_order(const struct tm_survey_stats *c, const struct tm_track *track)
{
    return track->side == TM_SIDE_HOST && track->is_unsorted && track->thread < c->trace->thread_count;
}

void tm_survey_stats_recount(struct tm_survey_stats *c)
{
    c->marks = IS_IN_ORDER;
    c->track = UINT64_MAX;
}

/* --- telling --- */

/* A record of a sort, and its track.  out: *holds  it was counted in the order that it needs */
static tm_status find_sort(const struct tm_survey_stats *c, const struct sort *sort, struct tm_raw_record *raw,
                           struct tm_track *track, bool *holds)
{
    const uint32_t number = (uint32_t)(sort->rest >> TRACK_SHIFT);
    const struct tm_track *row = tm_rows_at(c->trace->tracks, number);

    if (!row)
        return c->run->error.status;
    *track = *row;
    *raw = (struct tm_raw_record){
        .record = { .name = (tm_strid)(sort->name_and_config >> 32),
                    .config = (uint32_t)sort->name_and_config,
                    .track = number,
                    .flags = (uint16_t)(sort->rest >> FLAGS_SHIFT),
                    .class = (uint8_t)(sort->rest >> CLASS_SHIFT),
                    .kind = sort->rest >> KIND_SHIFT & 0xf },
        .traits = (uint32_t)sort->traits,
    };
    *holds = sort->rest & IS_IN_ORDER || !tm_survey_stats_needs_order(c, track);
    return TM_OK;
}

/* Those that wait for an id go to the others. */
static tm_status count_waiting(struct tm_survey_stats *c, struct tm_resolver *resolver)
{
    const uint64_t n = tm_rows_count(c->waiting);
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < n && st == TM_OK; i++) {
        const struct waiting *row = tm_rows_at(c->waiting, i);
        struct waiting one;
        struct tm_raw_record raw;
        struct tm_track track;
        bool holds, is_known = false;

        if (!row)
            return c->run->error.status;
        one = *row;
        st = find_sort(c, &one.sort, &raw, &track, &holds);
        raw.record.correlation = one.id;
        if (st == TM_OK)
            st = tm_look_up_id(resolver, &track, &raw, &is_known);
        one.sort.rest |= is_known ? IS_KNOWN : 0;
        if (st == TM_OK)
            st = count(c, &one.sort, one.dur_ps);
    }
    return st;
}

static tm_status give_tally(struct tm_survey_stats *c, struct tm_resolver *resolver, const struct tally *row,
                            tm_take_alike *take, void *to)
{
    struct tm_circumstances around = { .is_known = row->sort.rest & IS_KNOWN, .direction = TM_OTHER_DIRECTION };
    struct tm_event event = { .traits = (uint32_t)row->sort.traits };
    struct tm_track track;
    struct tm_raw_record raw;
    struct tm_told told;
    bool holds;
    tm_status st = find_sort(c, &row->sort, &raw, &track, &holds);

    if (st != TM_OK || !holds)
        return st;
    around.is_inside = row->sort.rest & IS_INSIDE && track.thread < c->trace->thread_count;
    st = tm_tell(resolver, &track, &raw, &around, &told);
    event.config = tm_rows_at(c->trace->configs, raw.record.config);
    if (st != TM_OK || !event.config)
        return c->run->error.status;
    event.record = raw.record;
    event.record.class = told.class;
    event.record.dur_ps = row->total_ps;
    event.level = told.level;
    event.direction = told.direction;
    event.device = told.device;
    event.thread = track.thread;
    event.step = event.launch_track = event.launch_thread = TM_NONE;
    return take(to, &event, row->count);
}

tm_status tm_survey_stats_give(struct tm_survey_stats *c, struct tm_resolver *resolver, tm_take_alike *take, void *to)
{
    tm_status st = count_waiting(c, resolver);

    if (st == TM_OK)
        st = empty(c);
    if (st == TM_OK)
        st = tm_groups_finish(c->groups);
    while (st == TM_OK) {
        const void *row;

        st = tm_groups_next(c->groups, &row);
        if (st != TM_OK || !row)
            break;
        st = give_tally(c, resolver, &((const struct census_row *)row)->tally, take, to);
    }
    return st;
}
