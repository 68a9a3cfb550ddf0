/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the records of each kind: see survey.h. */
#include <string.h>

#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"
#include "stages/resolve/resolver.h"
#include "stages/survey/survey.h"

/* Counting in two steps: records by their kind, in an open-addressing table that moves to a group table when it is half
 * full; then, after the survey has determined the threads, launches, and devices, each kind gets its class. */

/* The key that records of one sort share. */
struct sort {
    uint64_t name_and_config;
    uint64_t rest; /* track << 32 | flags << 16 | class << 8 | kind << 4 | marks */
    uint64_t traits;
};

enum { TRACK_SHIFT = 32, FLAGS_SHIFT = 16, CLASS_SHIFT = 8, KIND_SHIFT = 4 };

enum mark { IS_INSIDE = 1, IS_KNOWN = 2, HAS_LENGTH = 4, IS_IN_ORDER = 8 };

static struct tally *count(struct tm_survey_stats *c, const struct sort *sort, int64_t dur_ps);

/* Records of one sort. */
struct tally {
    struct sort sort;
    uint64_t count; /* 0 = an empty place of the table */
    int64_t total_ps;
};

enum { LEAST_BITS = 8, MOST_BITS = 14 };

/* By the number of a signature, whether its records are inside an execution, and whether they have a length. */
enum { MEMOS = (TM_SIGNATURES_MOST + 1) * 4, MEMO_BYTES = MEMOS * sizeof(uint16_t) };

struct census_row {
    struct tm_key key; /* of the sort */
    struct tally tally;
};

/* A record with an id to look up when all are known. */
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
    uint16_t *memos;          /* where in the table the records of a signature are counted, plus one; 0 = not known */
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
    c->memos = tm_take(&run->budget, TM_ACCOUNT_TABLES, MEMO_BYTES, &run->error);
    if (c->waiting && c->groups && c->table && c->memos)
        return c;
    tm_survey_stats_free(c);
    return NULL;
}

void tm_survey_stats_free(struct tm_survey_stats *c)
{
    if (!c)
        return;
    tm_give(&c->run->budget, TM_ACCOUNT_TABLES, c->table, c->table ? sizeof(*c->table) << c->bits : 0);
    tm_give(&c->run->budget, TM_ACCOUNT_TABLES, c->memos, c->memos ? MEMO_BYTES : 0);
    tm_groups_free(c->groups);
    tm_rows_free(c->waiting);
    tm_give(&c->run->budget, TM_ACCOUNT_TABLES, c, sizeof(*c));
}

/* --- counting --- */

/* The numbers of its track and its name, then a hash: in this order, kinds are visited track by track, and within a
 * track by name, regardless of their number. */
static struct tm_key key_of(const struct sort *sort)
{
    struct tm_key key = tm_hash_key(sort, sizeof(*sort));

    key.high = sort->rest >> TRACK_SHIFT << 32 | sort->name_and_config >> 32;
    return key;
}

/* The whole table is added to the groups. */
static void empty(struct tm_survey_stats *c)
{
    for (size_t i = 0; i < (size_t)1 << c->bits; i++) {
        struct census_row row = { .tally = c->table[i] };

        if (!row.tally.count)
            continue;
        row.key = key_of(&row.tally.sort);
        tm_groups_add(c->groups, &row);
    }
    memset(c->table, 0, sizeof(*c->table) << c->bits);
    memset(c->memos, 0, MEMO_BYTES);
    c->used = 0;
}

static inline bool ends_sort(const void *place, const void *sort)
{
    const struct tally *const tally = place;
    const struct sort *const a = &tally->sort, *const b = sort;

    return !tally->count || (a->name_and_config == b->name_and_config && a->rest == b->rest && a->traits == b->traits);
}

/* The place of a sort, or an empty one for it. */
static inline struct tally *find_place(const struct tm_survey_stats *c, const struct sort *sort)
{
    const uint64_t hash = tm_hash_pair(sort->name_and_config, sort->rest ^ sort->traits << 29, c->seed);

    return tm_probe(c->table, (size_t)1 << c->bits, sizeof(*c->table), hash >> (64 - c->bits), sort, ends_sort);
}

/* out: where it is counted, until the table is emptied */
static struct tally *count(struct tm_survey_stats *c, const struct sort *sort, int64_t dur_ps)
{
    struct tally *place = find_place(c, sort);

    if (!place->count) {
        if (2 * (c->used + 1) > (uint32_t)1 << c->bits) {
            empty(c);
            place = find_place(c, sort);
        }
        place->sort = *sort;
        c->used++;
    }
    place->count++;
    place->total_ps += dur_ps;
    return place;
}

/* The mark of a call that is inside an execution of its thread. */
static inline unsigned place(struct tm_survey_stats *c, uint32_t track, uint32_t traits, int64_t start_ps,
                             int64_t dur_ps)
{
    const int64_t end_ps = start_ps + dur_ps;
    unsigned mark;

    if (track != c->track)
        c->inside_until_ps = INT64_MIN;
    c->track = track;
    mark = start_ps < c->inside_until_ps ? IS_INSIDE : 0;
    if (traits & TM_TRAITS_RUNTIME && end_ps > c->inside_until_ps)
        c->inside_until_ps = end_ps;
    return mark;
}

/* One that is not known by its signature. */
static void take_new(struct tm_survey_stats *c, const struct tm_track *track, const struct tm_raw_record *raw,
                     unsigned marks, uint16_t *memo)
{
    const struct tm_record *r = &raw->record;
    const struct sort sort = {
        .name_and_config = (uint64_t)r->name << 32 | r->config,
        .rest = (uint64_t)r->track << TRACK_SHIFT | (uint64_t)r->flags << FLAGS_SHIFT |
                (uint64_t)r->class << CLASS_SHIFT | (uint64_t)r->kind << KIND_SHIFT | marks,
        .traits = raw->traits,
    };

    if (tm_id_tells(track, raw)) {
        const struct waiting waiting = { sort, r->correlation, r->dur_ps };

        tm_rows_append(c->waiting, &waiting);
        return;
    }
    const struct tally *const place = count(c, &sort, r->dur_ps);

    if (raw->signature)
        *memo = (uint16_t)(place - c->table + 1);
}

/* Where records of a signature with these marks are counted: the place in the table plus one, or 0. */
static inline uint16_t *memo_of(const struct tm_survey_stats *c, uint32_t signature, unsigned marks)
{
    return &c->memos[signature * 4 + (marks & IS_INSIDE) + (marks & HAS_LENGTH) / 2];
}

static inline bool count_known(struct tm_survey_stats *c, uint16_t memo, int64_t dur_ps)
{
    struct tally *tally;

    if (!memo)
        return false;
    tally = &c->table[memo - 1];
    tally->count++;
    tally->total_ps += dur_ps;
    return true;
}

tm_status tm_survey_stats_take(struct tm_survey_stats *c, const struct tm_signatures *signatures,
                               const struct tm_track *track, const struct tm_raw_record *given)
{
    struct tm_raw_record raw = *given;
    const struct tm_record *const r = &raw.record;
    unsigned marks = c->marks | (r->dur_ps ? HAS_LENGTH : 0);
    uint16_t *memo;

    if (raw.signature)
        tm_fill_record(signatures, &raw);
    marks |= track->side == TM_SIDE_HOST ? place(c, r->track, raw.traits, r->start_ps, r->dur_ps) : 0;
    memo = memo_of(c, raw.signature, marks);
    if (!raw.signature || !count_known(c, *memo, r->dur_ps))
        take_new(c, track, &raw, marks, memo);
    return c->run->error.status;
}

void tm_survey_stats_take_batch(struct tm_survey_stats *c, const struct tm_signatures *signatures,
                                const struct tm_track *track, const struct tm_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct tm_signature *const of = &signatures->rows[batch->signature[i]];
        const int64_t dur_ps = batch->dur_ps[i];
        unsigned marks = c->marks | (dur_ps ? HAS_LENGTH : 0);
        uint16_t *memo;

        if (track->side == TM_SIDE_HOST)
            marks |= place(c, of->track, of->traits, batch->start_ps[i], dur_ps);
        memo = memo_of(c, batch->signature[i], marks);
        if (count_known(c, *memo, dur_ps))
            continue;
        struct tm_raw_record raw = { .signature = 0 };

        tm_batch_get(batch, i, &raw);
        tm_fill_record(signatures, &raw);
        take_new(c, track, &raw, marks, memo);
    }
    if (batch->has_other)
        tm_survey_stats_take(c, signatures, track, &batch->other);
}

/* --- once more, in order --- */

bool tm_survey_stats_needs_order(const struct tm_survey_stats *c, const struct tm_track *track)
{
    return track->side == TM_SIDE_HOST && track->is_unsorted && track->thread < c->trace->thread_count;
}

void tm_survey_stats_recount(struct tm_survey_stats *c)
{
    c->marks = IS_IN_ORDER;
    memset(c->memos, 0, MEMO_BYTES);
    c->track = UINT64_MAX;
}

/* --- telling --- */

/* A record of a sort, and its track.  out: whether it was counted in the order that it needs */
static bool find_sort(const struct tm_survey_stats *c, const struct sort *sort, struct tm_raw_record *raw,
                      struct tm_track *track)
{
    const uint32_t number = (uint32_t)(sort->rest >> TRACK_SHIFT);

    *track = *(const struct tm_track *)tm_rows_at(c->trace->tracks, number);
    *raw = (struct tm_raw_record){
        .record = { .name = (tm_strid)(sort->name_and_config >> 32),
                    .config = (uint32_t)sort->name_and_config,
                    .track = number,
                    .flags = (uint16_t)(sort->rest >> FLAGS_SHIFT),
                    .class = (uint8_t)(sort->rest >> CLASS_SHIFT),
                    .kind = sort->rest >> KIND_SHIFT & 0xf },
        .traits = (uint32_t)sort->traits,
    };
    return sort->rest & IS_IN_ORDER || !tm_survey_stats_needs_order(c, track);
}

/* Count those that waited for an id. */
static void count_waiting(struct tm_survey_stats *c, struct tm_resolver *resolver)
{
    const uint64_t n = tm_rows_count(c->waiting);

    for (uint64_t i = 0; i < n && !tm_failed(c->run); i++) {
        struct waiting one = *(const struct waiting *)tm_rows_at(c->waiting, i);
        struct tm_raw_record raw;
        struct tm_track track;

        (void)find_sort(c, &one.sort, &raw, &track);
        raw.record.correlation = one.id;
        one.sort.rest |= tm_is_known_id(resolver, &track, &raw) ? IS_KNOWN : 0;
        count(c, &one.sort, one.dur_ps);
    }
}

static tm_status give_tally(struct tm_survey_stats *c, struct tm_resolver *resolver, const struct tally *row,
                            tm_take_site *take, void *to)
{
    struct tm_circumstances around = { .is_known = row->sort.rest & IS_KNOWN, .direction = TM_OTHER_DIRECTION };
    struct tm_event event = { .traits = (uint32_t)row->sort.traits };
    struct tm_track track;
    struct tm_raw_record raw;
    struct tm_told told;

    if (!find_sort(c, &row->sort, &raw, &track))
        return TM_OK;
    around.is_inside = row->sort.rest & IS_INSIDE && track.thread < c->trace->thread_count;
    told = tm_tell(resolver, &track, &raw, &around);
    event.config = tm_rows_at(c->trace->configs, raw.record.config);
    if (tm_failed(c->run))
        return c->run->error.status;
    event.record = raw.record;
    event.record.class = told.class;
    event.level = told.level;
    event.direction = told.direction;
    event.device = told.device;
    event.thread = track.thread;
    event.step = event.launch_track = event.launch_thread = TM_NONE;
    take(to, &event,
         &(struct tm_site_sums){
             .count = row->count, .total_ps = row->total_ps, .without_length = row->total_ps ? 0 : row->count });
    return c->run->error.status;
}

tm_status tm_survey_stats_give(struct tm_survey_stats *c, struct tm_resolver *resolver, tm_take_site *take, void *to)
{
    const struct census_row *row;
    tm_status st = TM_OK;

    count_waiting(c, resolver);
    empty(c);
    tm_groups_finish(c->groups);
    while (st == TM_OK && (row = tm_groups_next(c->groups)))
        st = give_tally(c, resolver, &row->tally, take, to);
    return tm_failed(c->run) ? c->run->error.status : st;
}
