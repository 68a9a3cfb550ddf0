/* SPDX-License-Identifier: Apache-2.0 */
/* The merge: a place per track in order, and one for everything that had to be sorted; a tree of losers of what their
 * next records are compared by, so that the records themselves stay where they are.  A record takes one comparison for
 * each level of the tree.
 * Memory: a read buffer per open track, the share `sort` for the rest. */
#include "stages/order/order.h"

#include "pipeline/source.h"
#include "pipeline/store/sorter.h"

enum { MOST_OPEN = 255, LARGEST_BUFFER = 64 << 10, SMALLEST_BUFFER = 4 << 10 };

/* The next record of one place. */
struct head {
    struct tm_raw_record raw;
    struct tm_track track;
    struct tm_cursor *cursor; /* NULL: the sorted rest */
};

/* What heads are compared by, and which one it is. */
struct node {
    int64_t start_ps, dur_ps;
    uint64_t rest; /* an arrow's end, its track, the number of the head */
};
enum { NODE_HEAD_BITS = 16, NODE_TRACK_BITS = 32 };
static_assert(MOST_OPEN < 1 << NODE_HEAD_BITS, "the number of a head fits");

struct order {
    struct tm_source *source;
    struct tm_run *run;
    bool gives_own;
    struct head *heads;               /* `most` of them, of which the first `opened` were used */
    struct node *nodes;               /* of the places that have a record, and one more: build_tree */
    uint32_t *losers;                 /* numbers of nodes: of each game the later one, from the last game at 1 on */
    size_t opened, count, left, most; /* count: nodes in the tree; left: those that are not done */
    size_t buffer_bytes;
    struct tm_sorter *rest;
    struct tm_kept_args rest_args;
    struct tm_kept_record rest_row; /* of the rest's head */
    struct tm_allocation args;      /* of the rest's head, or what it has instead */
};

static int compare_records(const struct tm_record *a, const struct tm_record *b)
{
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    if (a->dur_ps != b->dur_ps)
        return a->dur_ps > b->dur_ps ? -1 : 1;
    if (tm_is_flow(a) != tm_is_flow(b))
        return tm_is_flow(a) ? 1 : -1;
    return (a->track > b->track) - (a->track < b->track);
}

static int compare_rows(const void *a, const void *b)
{
    const struct tm_kept_record *x = a, *y = b;

    return compare_records(&x->record, &y->record);
}

static uint64_t start_prefix(const void *row)
{
    return tm_prefix_of(((const struct tm_kept_record *)row)->record.start_ps);
}

/* Put all records of a track into the sort. */
static void sort_track(struct order *o, uint64_t number)
{
    const struct tm_source_type *type = o->source->type;
    struct tm_cursor *cursor = type->open(o->source, number, LARGEST_BUFFER);
    struct tm_raw_record raw;
    bool more;

    if (!o->rest) {
        o->rest = tm_sorter_new(o->run, TM_ACCOUNT_SORT, sizeof(struct tm_kept_record),
                                tm_budget_share(&o->run->budget, TM_ACCOUNT_SORT) -
                                    tm_kept_args_bytes(o->gives_own ? o->rest_args.own_bytes : 0),
                                compare_rows);
        if (o->rest)
            tm_sorter_set_prefix(o->rest, start_prefix);
    }
    while (!tm_failed(o->run) && type->next(cursor, &raw, &more) == TM_OK && more) {
        struct tm_kept_record row;

        if ((!o->gives_own || type->own(cursor, &raw) == TM_OK) &&
            tm_keep_record(&o->rest_args, o->run, &raw, &row) == TM_OK)
            tm_sorter_push(o->rest, &row);
    }
    type->close(cursor);
}

/* The next record of a place.  *more false: the place is done. */
static tm_status advance(struct order *o, struct head *head, bool *more)
{
    const struct tm_kept_record *row;

    if (head->cursor)
        return o->source->type->next(head->cursor, &head->raw, more);
    row = tm_sorter_next(o->rest);
    *more = row && tm_unkeep_record(&o->rest_args, row, &o->args, &head->raw) == TM_OK;
    if (*more) {
        o->rest_row = *row;
        head->track = *(const struct tm_track *)tm_rows_at(o->source->trace->tracks, row->record.track);
    }
    return o->run->error.status;
}

static void close_head(struct order *o, struct head *head)
{
    if (head->cursor)
        o->source->type->close(head->cursor);
    head->cursor = NULL;
}

/* --- the tree --- */

static inline void set_node(const struct order *o, struct node *node, size_t head)
{
    const struct tm_record *r = &o->heads[head].raw.record;
    const uint64_t flow = tm_is_flow(r);

    *node = (struct node){ r->start_ps, r->dur_ps,
                           flow << (NODE_TRACK_BITS + NODE_HEAD_BITS) | (uint64_t)r->track << NODE_HEAD_BITS | head };
}

static inline size_t head_of(const struct node *node)
{
    return node->rest & ((1 << NODE_HEAD_BITS) - 1);
}

/* As compare_records.  Hardly any two begin at one time. */
static inline bool is_before(const struct node *a, const struct node *b)
{
    if (__builtin_expect(a->start_ps == b->start_ps, 0))
        return a->dur_ps > b->dur_ps || (a->dur_ps == b->dur_ps && a->rest < b->rest);
    return a->start_ps < b->start_ps;
}

/* Play a node's games, from its place up.  out: the earliest node of all
 * Which of two lines is next cannot be foretold, so that they change places without a branch. */
static inline uint32_t play(struct order *o, uint32_t number)
{
    uint32_t *const losers = o->losers;

    for (size_t at = (number + o->count) / 2; at > 0; at /= 2) {
        const uint32_t other = losers[at];
        const uint32_t wins = is_before(&o->nodes[other], &o->nodes[number]);
        const uint32_t change = (number ^ other) & -wins;

        losers[at] = other ^ change;
        number ^= change;
    }
    return number;
}

/* Every place in the tree is taken by a node that is before all others, until another one loses there to it. */
static uint32_t build_tree(struct order *o)
{
    uint32_t first = 0;

    o->nodes[o->count] = (struct node){ INT64_MIN, INT64_MAX, 0 };
    for (size_t i = 0; i < o->count; i++)
        o->losers[i] = (uint32_t)o->count;
    for (size_t i = 0; i < o->count; i++)
        first = play(o, (uint32_t)i);
    return first;
}

static bool is_done(const struct node *node)
{
    return node->rest == UINT64_MAX; /* of none that has a record */
}

/* A place is done.  out: the earliest node of those that are left
 * The tree is built anew without those that are done where they are half of it. */
static uint32_t end_node(struct order *o, uint32_t number)
{
    size_t kept = 0;

    o->nodes[number] = (struct node){ INT64_MAX, INT64_MIN, UINT64_MAX };
    if (--o->left > o->count / 2)
        return play(o, number);
    for (size_t i = 0; i < o->count; i++)
        if (!is_done(&o->nodes[i]))
            o->nodes[kept++] = o->nodes[i];
    o->count = kept;
    return build_tree(o);
}

/* Open a place, and have a node for it if it has a record. */
static void add_head(struct order *o, struct tm_cursor *cursor, const struct tm_track *track)
{
    const size_t number = o->opened++;
    struct head *head = &o->heads[number];
    bool more;

    *head = (struct head){ .cursor = cursor };
    if (track)
        head->track = *track;
    if (advance(o, head, &more) == TM_OK && more)
        set_node(o, &o->nodes[o->count++], number);
    else
        close_head(o, head);
}

/* Tracks shorter than this are sorted, so that not too many are open. */
static uint64_t find_cutoff(const struct order *o, size_t *open)
{
    const uint64_t tracks = tm_rows_count(o->source->trace->tracks);

    for (uint64_t cutoff = 1;; cutoff *= 2) {
        *open = 0;
        for (uint64_t i = 0; i < tracks; i++) {
            const struct tm_track *track = tm_rows_at(o->source->trace->tracks, i);

            *open += !track->is_unsorted && track->events >= cutoff;
        }
        if (*open <= MOST_OPEN)
            return cutoff;
    }
}

static void open_rest(struct order *o)
{
    if (tm_failed(o->run))
        return;
    tm_sorter_finish(o->rest);
    add_head(o, NULL, NULL);
}

static void open_tracks(struct order *o, uint64_t cutoff)
{
    const uint64_t tracks = tm_rows_count(o->source->trace->tracks);

    for (uint64_t i = 0; i < tracks && !tm_failed(o->run); i++) {
        const struct tm_track track = *(const struct tm_track *)tm_rows_at(o->source->trace->tracks, i);
        struct tm_cursor *cursor;

        if (!track.events)
            continue;
        if (track.is_unsorted || track.events < cutoff) {
            sort_track(o, i);
            continue;
        }
        cursor = o->source->type->open(o->source, i, o->buffer_bytes);
        if (cursor)
            add_head(o, cursor, &track);
    }
    if (o->rest)
        open_rest(o);
}

/* What the earliest record says of itself: read only now, since each source has room for one. */
static tm_status fetch_own(struct order *o, struct head *head)
{
    if (!o->gives_own)
        return TM_OK;
    return head->cursor ? o->source->type->own(head->cursor, &head->raw)
                        : tm_unkeep_own(&o->rest_args, &o->rest_row, &head->raw);
}

static tm_status merge(struct order *o, tm_expect_record *expect, tm_take_record *take, void *to)
{
    uint32_t first;

    if (tm_failed(o->run))
        return o->run->error.status;
    first = build_tree(o);
    o->left = o->count;
    while (o->left) {
        const size_t number = head_of(&o->nodes[first]);
        struct head *const head = &o->heads[number];
        bool more = false;
        tm_status st = fetch_own(o, head);

        if (st == TM_OK)
            st = take(to, &head->track, &head->raw);
        if (st == TM_OK)
            st = advance(o, head, &more);
        if (st != TM_OK)
            return st;
        if (more) {
            set_node(o, &o->nodes[first], number);
            if (expect)
                expect(to, &head->track, &head->raw);
            first = play(o, first);
        } else {
            close_head(o, head);
            first = end_node(o, first);
        }
    }
    return TM_OK;
}

static size_t memory_of_heads(const struct order *o)
{
    return o->most * (sizeof(*o->heads) + sizeof(*o->nodes) + sizeof(*o->losers)) + sizeof(*o->nodes);
}

/* Gives all back; *o is empty then. */
static void clear(struct order *o)
{
    for (size_t i = 0; i < o->opened; i++)
        close_head(o, &o->heads[i]);
    tm_sorter_free(o->rest);
    tm_kept_args_free(&o->rest_args);
    tm_give(&o->run->budget, TM_ACCOUNT_SORT, o->heads, o->heads ? memory_of_heads(o) : 0);
}

/* Room for so many tracks, and the sorted rest. */
static bool make_heads(struct order *o, size_t tracks)
{
    const size_t share = tm_budget_share(&o->run->budget, TM_ACCOUNT_INPUT);

    o->most = tracks + 1;
    o->buffer_bytes = share / 2 / o->most;
    if (o->buffer_bytes > LARGEST_BUFFER)
        o->buffer_bytes = LARGEST_BUFFER;
    if (o->buffer_bytes < SMALLEST_BUFFER)
        o->buffer_bytes = SMALLEST_BUFFER;
    o->heads = tm_take(&o->run->budget, TM_ACCOUNT_SORT, memory_of_heads(o), &o->run->error);
    if (!o->heads)
        return false;
    o->nodes = (struct node *)(o->heads + o->most);
    o->losers = (uint32_t *)(o->nodes + o->most + 1);
    return true;
}

static struct order order_of(struct tm_source *source, bool gives_own)
{
    return (struct order){ .source = source,
                           .run = source->trace->run,
                           .gives_own = gives_own && source->trace->keeps_arguments,
                           .rest_args = { .account = TM_ACCOUNT_SORT, .own_bytes = TM_KEPT_LEAST_BYTES } };
}

tm_status tm_order(struct tm_source *source, bool gives_own, tm_expect_record *expect, tm_take_record *take, void *to)
{
    struct order o = order_of(source, gives_own);
    size_t tracks;
    const uint64_t cutoff = find_cutoff(&o, &tracks);
    tm_status st;

    if (make_heads(&o, tracks))
        open_tracks(&o, cutoff);
    st = merge(&o, expect, take, to);
    clear(&o);
    return st;
}

tm_status tm_order_track(struct tm_source *source, uint64_t track, tm_take_record *take, void *to)
{
    struct order o = order_of(source, false);
    tm_status st;

    if (make_heads(&o, 0)) {
        sort_track(&o, track);
        open_rest(&o);
    }
    st = merge(&o, NULL, take, to);
    clear(&o);
    return st;
}
