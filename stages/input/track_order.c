/* SPDX-License-Identifier: Apache-2.0 */
/* Two sorts at most: by key and time for the joining, by time for the result. */
#include "stages/input/track_order.h"

#include "pipeline/rows.h"
#include "pipeline/sorter.h"

enum { SEARCH_MOST = 1024 };

/* A begin that waits for its end. */
struct waiting {
    struct tm_kept_record row;
    bool is_joined; /* by an end of its name, below others that still wait */
};

struct ordering {
    struct tm_record_store *store;
    struct tm_trace *trace;
    struct tm_run *run;
    uint64_t track;
    struct tm_kept_args args; /* of rows in the sorts */
    struct tm_sorter *halves, *whole;
    struct tm_rows *stack;    /* struct waiting */
    uint64_t key;
    bool has_key;
    uint64_t flow_begins, flow_ends; /* of the key */
    bool flow_is_over;
};

static int by_time(const void *a, const void *b)
{
    const struct tm_record *x = &((const struct tm_kept_record *)a)->record;
    const struct tm_record *y = &((const struct tm_kept_record *)b)->record;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return (x->dur_ps < y->dur_ps) - (x->dur_ps > y->dur_ps);
}

static int by_key(const void *a, const void *b)
{
    const struct tm_record *x = &((const struct tm_kept_record *)a)->record;
    const struct tm_record *y = &((const struct tm_kept_record *)b)->record;

    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

static void count(struct ordering *o, enum tm_tally tally)
{
    tm_tally_add(&o->run->tallies, tally, 1);
}

static bool is_half(const struct tm_record *r)
{
    return r->kind == TM_BEGIN || r->kind == TM_END;
}

static bool is_flow(const struct tm_record *r)
{
    return r->kind == TM_FLOW_BEGIN || r->kind == TM_FLOW_STEP || r->kind == TM_FLOW_END;
}

/* --- the stack of a key --- */

static tm_status push_begin(struct ordering *o, const struct tm_kept_record *row)
{
    const struct waiting waiting = { .row = *row };

    return tm_rows_append(o->stack, &waiting);
}

/* A begin leaves the stack, as a span or as what it is without an end. */
static tm_status leave(struct ordering *o, struct tm_kept_record *row, const int64_t *end_ps)
{
    struct tm_record *r = &row->record;

    r->kind = TM_INSTANT;
    if (end_ps && *end_ps > r->start_ps) {
        r->kind = TM_SPAN;
        r->dur_ps = *end_ps - r->start_ps;
    }
    if (!end_ps) {
        r->flags |= TM_FLAG_OPEN;
        count(o, TM_TALLY_UNMATCHED_BEGIN);
    }
    return tm_sorter_push(o->whole, row);
}

/* Take what has been joined off the top. */
static tm_status drop_joined(struct ordering *o)
{
    uint64_t depth = tm_rows_count(o->stack);
    const uint64_t before = depth;

    while (depth) {
        const struct waiting *top = tm_rows_at(o->stack, depth - 1);

        if (!top)
            return o->run->error.status;
        if (!top->is_joined)
            break;
        depth--;
    }
    return depth == before ? TM_OK : tm_rows_resize(o->stack, depth);
}

static tm_status same_name(struct ordering *o, tm_strid a, tm_strid b, bool *same)
{
    struct tm_name x, y;
    tm_status st = TM_OK;

    *same = a == b;
    if (*same || !tm_names_have_twins(o->trace->names))
        return TM_OK;
    st = tm_names_info(o->trace->names, a, &x);
    if (st == TM_OK)
        st = tm_names_info(o->trace->names, b, &y);
    *same = st == TM_OK && x.hash.high == y.hash.high && x.hash.low == y.hash.low;
    return st;
}

/* The begin that an end closes; *at = its place plus one, 0 = none. */
static tm_status find_begin(struct ordering *o, tm_strid name, uint64_t *at)
{
    const uint64_t depth = tm_rows_count(o->stack);
    const uint64_t least = depth > SEARCH_MOST ? depth - SEARCH_MOST : 0;

    *at = depth;
    for (; *at > least; --*at) {
        const struct waiting *begin = tm_rows_at(o->stack, *at - 1);
        bool same = true;

        if (!begin)
            return o->run->error.status;
        if (begin->is_joined)
            continue;
        if (name) {
            const tm_status st = same_name(o, name, begin->row.record.name, &same);

            if (st != TM_OK)
                return st;
        }
        if (same)
            return TM_OK;
    }
    *at = 0;
    return TM_OK;
}

static tm_status take_end(struct ordering *o, const struct tm_record *end)
{
    struct tm_kept_record row;
    struct waiting *begin;
    uint64_t at;
    tm_status st = find_begin(o, end->name, &at);

    if (st != TM_OK)
        return st;
    if (!at) {
        count(o, TM_TALLY_UNMATCHED_END);
        return TM_OK;
    }
    begin = tm_rows_change(o->stack, at - 1);
    if (!begin)
        return o->run->error.status;
    begin->is_joined = true;
    row = begin->row;
    st = leave(o, &row, &end->start_ps);
    return st == TM_OK ? drop_joined(o) : st;
}

/* --- keys --- */

static tm_status end_key(struct ordering *o)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < tm_rows_count(o->stack) && st == TM_OK; i++) {
        const struct waiting *waiting = tm_rows_at(o->stack, i);
        struct tm_kept_record row;

        if (!waiting)
            return o->run->error.status;
        row = waiting->row;
        if (!waiting->is_joined)
            st = leave(o, &row, NULL);
    }
    if (!o->flow_begins != !o->flow_ends)
        count(o, TM_TALLY_UNMATCHED_FLOW);
    o->flow_begins = o->flow_ends = 0;
    o->flow_is_over = false;
    return st == TM_OK ? tm_rows_resize(o->stack, 0) : st;
}

/* A begin under an id that is used again starts another flow: each one is looked at alone. */
static tm_status take_flow(struct ordering *o, const struct tm_kept_record *row)
{
    const uint8_t kind = row->record.kind;
    tm_status st = TM_OK;

    if (kind == TM_FLOW_BEGIN && o->flow_is_over) {
        count(o, TM_TALLY_REUSED_FLOW_ID);
        st = end_key(o);
    }
    o->flow_begins += kind == TM_FLOW_BEGIN;
    o->flow_ends += kind == TM_FLOW_END;
    o->flow_is_over = o->flow_begins && o->flow_ends;
    return st == TM_OK ? tm_sorter_push(o->whole, row) : st;
}

static tm_status take_half(struct ordering *o, const struct tm_kept_record *row)
{
    tm_status st = TM_OK;

    if (o->has_key && row->record.correlation != o->key)
        st = end_key(o);
    o->key = row->record.correlation;
    o->has_key = true;
    if (st != TM_OK)
        return st;
    if (is_flow(&row->record))
        return take_flow(o, row);
    return row->record.kind == TM_BEGIN ? push_begin(o, row) : take_end(o, &row->record);
}

static tm_status join_halves(struct ordering *o)
{
    tm_status st = tm_sorter_finish(o->halves);

    while (st == TM_OK) {
        const void *next;
        struct tm_kept_record row;

        st = tm_sorter_next(o->halves, &next);
        if (st != TM_OK || !next)
            break;
        row = *(const struct tm_kept_record *)next;
        st = take_half(o, &row);
    }
    return st == TM_OK ? end_key(o) : st;
}

/* --- the track --- */

static tm_status empty_track(struct ordering *o)
{
    struct tm_record_place place;
    tm_status st = tm_record_store_begin(o->store, o->track, &place);

    while (st == TM_OK) {
        struct tm_kept_record row;
        struct tm_raw raw;
        bool more;

        st = tm_record_store_next(&place, &raw, &more);
        if (st != TM_OK || !more)
            break;
        st = tm_keep_record(&o->args, o->run, &raw, &row);
        if (st == TM_OK)
            st = tm_sorter_push(is_half(&raw.record) || is_flow(&raw.record) ? o->halves : o->whole, &row);
    }
    tm_record_store_end(&place);
    return st == TM_OK ? tm_record_store_clear(o->store, o->track) : st;
}

static tm_status fill_track(struct ordering *o)
{
    tm_status st = tm_sorter_finish(o->whole);

    while (st == TM_OK) {
        union { struct tm_allocation allocation; struct tm_number number; } args;
        const void *row;
        struct tm_raw raw;

        st = tm_sorter_next(o->whole, &row);
        if (st != TM_OK || !row)
            break;
        st = tm_unkeep_record(&o->args, row, &args, &raw);
        if (st == TM_OK)
            st = tm_record_store_add(o->store, &raw);
    }
    return st;
}

tm_status tm_track_put_in_order(struct tm_record_store *store, struct tm_trace *trace, uint64_t track,
                                bool has_halves)
{
    struct tm_run *run = trace->run;
    struct ordering o = { .store = store, .trace = trace, .run = run, .track = track };
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_SORT);
    bool is_sorted;
    uint64_t records;
    tm_status st = tm_record_store_facts(store, track, &records, &is_sorted);

    if (st != TM_OK || (is_sorted && !has_halves))
        return st;
    tm_tally_add(&run->tallies, TM_TALLY_UNSORTED_LINE, !is_sorted);
    o.halves = tm_sorter_new(run, TM_ACCOUNT_SORT, sizeof(struct tm_kept_record), share / 3, by_key);
    o.whole = tm_sorter_new(run, TM_ACCOUNT_SORT, sizeof(struct tm_kept_record), share / 2, by_time);
    o.stack = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(struct waiting), share / 8);
    st = o.halves && o.whole && o.stack ? empty_track(&o) : run->error.status;
    if (st == TM_OK)
        st = join_halves(&o);
    if (st == TM_OK)
        st = fill_track(&o);
    tm_sorter_free(o.halves);
    tm_sorter_free(o.whole);
    tm_rows_free(o.stack);
    tm_kept_args_free(&o.args);
    return st;
}
