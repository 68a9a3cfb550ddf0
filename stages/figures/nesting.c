/* SPDX-License-Identifier: Apache-2.0 */
/* Open spans by lane.  A lane is a chain from its innermost span outwards; spans that have ended may still be in it
 * until the next one of their lane comes, or until room is needed.  Memory: one block, which grows up to what was
 * given; a table finds the chain of a lane. */
#include "stages/figures/nesting.h"

#include <assert.h>
#include <string.h>

#include "pipeline/store/hash.h"
#include "stages/figures/figure_rows.h"

/* NEAR_LANES: the calls of several threads alternate, and their numbers follow each other: each of them has its entry. */
enum { NODES_FIRST = 64, NO_NODE = 0xffffffff, NEAR_LANES = 16 };

/* Nodes and places refer to a node by its distance in bytes from the first one: they are followed often. */
struct node {
    int64_t start_ps, dur_ps, end_ps;
    int64_t latest_ps; /* the latest end of this span and of those around it */
    int64_t children_ps;
    uint32_t outer; /* the next one outwards; of a free node the next free one */
    uint32_t depth;
    uint32_t named; /* the innermost one from here outwards that has a payload: itself, unless it is quiet */
    uint64_t payload[];
};

/* The start of the chain of a lane: an open table with a tombstone for lanes that ended. */
struct place {
    uint64_t lane;
    uint32_t inner; /* a node; NO_NODE = nothing is open */
    bool is_used;
};

struct tm_nesting {
    struct tm_run *run;
    enum tm_account account;
    size_t payload_bytes;
    tm_nested_told *told;
    void *to;
    uint64_t seed;
    uint8_t *nodes; /* struct node, each of node_bytes with its payload */
    size_t node_bytes;
    struct place *places;      /* twice as many as nodes: a power of two */
    uint32_t near[NEAR_LANES]; /* number of the place that was found last, by the lane's lowest bits */
    uint32_t count, most;      /* count: nodes there is room for */
    uint32_t lanes;            /* places in use, tombstones among them */
    uint32_t unused;           /* the first one of a chain of free nodes */
    uint32_t open;             /* nodes that are not */
    uint32_t patience;         /* spans that are reported alone before the next attempt to make room */
};

static inline struct node *node_at(const struct tm_nesting *n, uint32_t at)
{
    return (struct node *)(void *)(n->nodes + at);
}

static void give_all(struct tm_nesting *n)
{
    tm_give(&n->run->budget, n->account, n->nodes, n->nodes ? n->count * n->node_bytes : 0);
    tm_give(&n->run->budget, n->account, n->places, n->places ? n->count * 2 * sizeof(*n->places) : 0);
}

void tm_nesting_free(struct tm_nesting *n)
{
    if (!n)
        return;
    give_all(n);
    tm_give(&n->run->budget, n->account, n, sizeof(*n));
}

/* --- the table of lanes --- */

static inline bool ends_lane(const void *slot, const void *lane)
{
    const struct place *const place = slot;

    return !place->is_used || place->lane == *(const uint64_t *)lane;
}

TM_NOT_INLINE struct place *search_place(struct tm_nesting *n, uint64_t lane)
{
    struct place *const place =
        tm_probe(n->places, (size_t)n->count * 2, sizeof(*place), tm_hash_mix(lane, n->seed), &lane, ends_lane);

    n->near[lane % NEAR_LANES] = (uint32_t)(place - n->places);
    return place;
}

static inline struct place *find_place(struct tm_nesting *n, uint64_t lane)
{
    struct place *const place = &n->places[n->near[lane % NEAR_LANES]];

    return place->is_used && place->lane == lane ? place : search_place(n, lane);
}

/* Put the lanes that have open spans into `places`, which is empty. */
static void fill_places(struct tm_nesting *n, const struct place *old, uint32_t old_count)
{
    n->lanes = 0;
    for (uint32_t i = 0; i < old_count; i++) {
        if (!old[i].is_used || old[i].inner == NO_NODE)
            continue;
        *find_place(n, old[i].lane) = old[i];
        n->lanes++;
    }
}

/* Have room for `count` nodes, a power of two; also clears tombstones. */
static void resize(struct tm_nesting *n, uint32_t count)
{
    struct tm_budget *budget = &n->run->budget;
    struct tm_error *error = &n->run->error;
    uint8_t *nodes = tm_take(budget, n->account, count * n->node_bytes, error);
    struct place *places = tm_take(budget, n->account, (size_t)count * 2 * sizeof(*places), error);
    struct tm_nesting old = *n;

    if (!nodes || !places) {
        tm_give(budget, n->account, nodes, nodes ? count * n->node_bytes : 0);
        tm_give(budget, n->account, places, places ? (size_t)count * 2 * sizeof(*places) : 0);
        return;
    }
    if (old.count)
        memcpy(nodes, old.nodes, old.count * old.node_bytes);
    n->nodes = nodes;
    n->places = places;
    n->count = count;
    memset(n->near, 0, sizeof(n->near));
    for (uint32_t i = old.count; i < count; i++) {
        const uint32_t at = i * (uint32_t)n->node_bytes;

        node_at(n, at)->outer = n->unused;
        n->unused = at;
    }
    if (old.count)
        fill_places(n, old.places, old.count * 2);
    give_all(&old);
}

struct tm_nesting *tm_nesting_new(struct tm_run *run, enum tm_account account, size_t payload_bytes, uint32_t most,
                                  tm_nested_told *told, void *to)
{
    struct tm_nesting *n = tm_take(&run->budget, account, sizeof(*n), &run->error);

    if (!n)
        return NULL;
    *n = (struct tm_nesting){ .run = run,
                              .account = account,
                              .payload_bytes = payload_bytes,
                              .told = told,
                              .to = to,
                              .seed = tm_hash_seed(n),
                              .most = most,
                              .unused = NO_NODE };
    n->node_bytes = sizeof(struct node) + (payload_bytes + 7) / 8 * 8;
    assert(n->node_bytes < NO_NODE / most);
    resize(n, NODES_FIRST);
    if (n->count)
        return n;
    tm_nesting_free(n);
    return NULL;
}

/* --- ends --- */

/* The payload of a span, or of the innermost one around it that has some; NULL = none has. */
static inline const void *payload_at(const struct tm_nesting *n, uint32_t at)
{
    const uint32_t named = at != NO_NODE ? node_at(n, at)->named : NO_NODE;

    return named != NO_NODE ? node_at(n, named)->payload : NULL;
}

static void tell(const struct tm_nesting *n, const struct place *place, const struct node *node)
{
    const struct tm_nested span = {
        .lane = place->lane,
        .start_ps = node->start_ps,
        .dur_ps = node->dur_ps,
        .self_ps = node->children_ps < node->dur_ps ? node->dur_ps - node->children_ps : 0,
        .depth = node->depth,
        .has_parent = node->outer != NO_NODE,
        .payload = node->payload,
        .parent = payload_at(n, node->outer),
    };

    n->told(n->to, &span);
}

/* Report the innermost span of a lane, which has ended, and free its place. */
static inline void close_inner(struct tm_nesting *n, struct place *place)
{
    const uint32_t at = place->inner;
    struct node *const node = node_at(n, at);

    if (node->named == at)
        tell(n, place, node);
    place->inner = node->outer;
    node->outer = n->unused;
    n->unused = at;
    n->open--;
}

/* Report the spans of a lane that end by `to_ps`, from the innermost one outwards, except for the parents of a span
 * that has not ended: after a child is reported, its parent can still be reported. */
static inline void close_until(struct tm_nesting *n, struct place *place, int64_t to_ps)
{
    while (place->inner != NO_NODE && node_at(n, place->inner)->end_ps <= to_ps)
        close_inner(n, place);
}

/* Make room: everything that has ended is reported, on all lanes, in an unspecified order.  Where that
 * frees little it is not tried again soon: its cost is that of the whole table. */
static void make_room(struct tm_nesting *n, int64_t now_ps)
{
    for (uint32_t i = 0; i < n->count * 2; i++)
        if (n->places[i].is_used)
            close_until(n, &n->places[i], now_ps);
    if (n->open > n->count / 2 && n->count < n->most) {
        resize(n, n->count * 2);
    } else {
        if (n->open > n->count - n->count / 8)
            n->patience = n->count / 8;
        resize(n, n->count); /* without the places of lanes that have ended */
    }
}

/* --- starts --- */

/* Take a new span's time from those around it: each moment from one of them. */
static inline void take_from_outer(struct tm_nesting *n, struct node *outer, int64_t start_ps, int64_t end_ps)
{
    int64_t taken_ps = start_ps;

    while (taken_ps < end_ps && outer->latest_ps > taken_ps) {
        const int64_t until_ps = outer->end_ps < end_ps ? outer->end_ps : end_ps;

        if (until_ps > taken_ps) {
            outer->children_ps = tm_sum_times(outer->children_ps, until_ps - taken_ps);
            taken_ps = until_ps;
        }
        if (outer->outer == NO_NODE)
            return;
        outer = node_at(n, outer->outer);
    }
}

/* There is no room for it: it is reported as one without children.
 * in: span without the facts of the enclosing one; outer: that one, NO_NODE = none */
TM_NOT_INLINE void tell_alone(struct tm_nesting *n, struct tm_nested span, uint32_t outer)
{
    if (outer != NO_NODE) {
        span.has_parent = true;
        span.parent = payload_at(n, outer);
        span.depth = node_at(n, outer)->depth + 1;
    }
    n->patience -= n->patience != 0;
    tm_tally_add(&n->run->tallies, TM_TALLY_DEEP_NESTING, 1);
    if (span.payload)
        n->told(n->to, &span);
}

/* A node for the innermost span of a lane; there is one that is free. */
static inline struct node *push(struct tm_nesting *n, struct place *place)
{
    const uint32_t at = n->unused;
    struct node *node = node_at(n, at);

    n->unused = node->outer;
    n->open++;
    node->outer = place->inner;
    place->inner = at;
    return node;
}

/* Mostly a quiet span follows another one that has ended, inside the same span: it takes that one's node.
 * out: false: that is not the case, and nothing has changed */
static inline bool follow_quiet(struct tm_nesting *n, const struct place *place, int64_t start_ps, int64_t dur_ps)
{
    const int64_t end_ps = tm_sum_times(start_ps, dur_ps);
    struct node *const node = place->is_used && place->inner != NO_NODE ? node_at(n, place->inner) : NULL;
    struct node *const outer = node && node->outer != NO_NODE ? node_at(n, node->outer) : NULL;

    if (!node || node->named == place->inner || node->end_ps > start_ps || (outer && outer->end_ps <= start_ps))
        return false;
    if (outer)
        take_from_outer(n, outer, start_ps, end_ps);
    node->start_ps = start_ps;
    node->dur_ps = dur_ps;
    node->end_ps = end_ps;
    node->latest_ps = outer && outer->latest_ps > end_ps ? outer->latest_ps : end_ps;
    node->children_ps = 0;
    return true;
}

/* Open a span at the inner end of its lane, whose spans that have ended are closed; there is a free node, and room for
 * the lane.  out: `named` is that of a quiet one */
static inline struct node *open_span(struct tm_nesting *n, struct place *place, int64_t start_ps, int64_t dur_ps,
                                     int64_t end_ps)
{
    struct node *const outer = place->inner != NO_NODE ? node_at(n, place->inner) : NULL;
    struct node *const node = push(n, place);

    node->start_ps = start_ps;
    node->dur_ps = dur_ps;
    node->end_ps = end_ps;
    node->latest_ps = outer && outer->latest_ps > end_ps ? outer->latest_ps : end_ps;
    node->children_ps = 0;
    node->depth = outer ? outer->depth + 1 : 0;
    node->named = outer ? outer->named : NO_NODE;
    return node;
}

static inline void start_lane(struct tm_nesting *n, struct place *place, uint64_t lane)
{
    *place = (struct place){ .lane = lane, .inner = NO_NODE, .is_used = true };
    n->lanes++;
}

/* in: payload  NULL = it is quiet */
TM_NOT_INLINE void take(struct tm_nesting *n, uint64_t lane, int64_t start_ps, int64_t dur_ps, const void *payload)
{
    const int64_t end_ps = tm_sum_times(start_ps, dur_ps);
    struct node *outer = NULL, *node;
    struct place *place;

    if ((n->unused == NO_NODE || n->lanes >= n->count) && !n->patience)
        make_room(n, start_ps);
    if (tm_failed(n->run))
        return;
    place = find_place(n, lane);
    if (place->is_used)
        close_until(n, place, start_ps);
    if (place->is_used && place->inner != NO_NODE) {
        outer = node_at(n, place->inner);
        take_from_outer(n, outer, start_ps, end_ps);
    }
    if (n->unused == NO_NODE || (!place->is_used && n->lanes >= n->count)) {
        tell_alone(n,
                   (struct tm_nested){
                       .lane = lane, .start_ps = start_ps, .dur_ps = dur_ps, .self_ps = dur_ps, .payload = payload },
                   outer ? place->inner : NO_NODE);
        return;
    }
    if (!place->is_used)
        start_lane(n, place, lane);
    node = open_span(n, place, start_ps, dur_ps, end_ps);
    if (!payload)
        return;
    node->named = place->inner;
    memcpy(node->payload, payload, n->payload_bytes);
}

void tm_nesting_take(struct tm_nesting *n, uint64_t lane, int64_t start_ps, int64_t dur_ps, const void *payload)
{
    take(n, lane, start_ps, dur_ps, payload);
}

void tm_nesting_take_quiet(struct tm_nesting *n, uint64_t lane, int64_t start_ps, int64_t dur_ps)
{
    if (n->unused == NO_NODE || n->lanes >= n->count || tm_failed(n->run) ||
        !follow_quiet(n, find_place(n, lane), start_ps, dur_ps))
        take(n, lane, start_ps, dur_ps, NULL);
}

const void *tm_nesting_around(struct tm_nesting *n, uint64_t lane, int64_t at_ps)
{
    struct place *place = find_place(n, lane);

    if (!place->is_used)
        return NULL;
    close_until(n, place, at_ps);
    return payload_at(n, place->inner);
}

void *tm_nesting_open(struct tm_nesting *n, uint64_t lane, int64_t start_ps, int64_t dur_ps, const void **around)
{
    const int64_t end_ps = tm_sum_times(start_ps, dur_ps);
    struct place *place;
    struct node *node;

    if (n->unused == NO_NODE || n->lanes >= n->count || tm_failed(n->run)) {
        *around = tm_nesting_around(n, lane, start_ps);
        return NULL;
    }
    place = find_place(n, lane);
    if (place->is_used)
        close_until(n, place, start_ps);
    else
        start_lane(n, place, lane);
    if (place->inner != NO_NODE)
        take_from_outer(n, node_at(n, place->inner), start_ps, end_ps);
    *around = payload_at(n, place->inner);
    node = open_span(n, place, start_ps, dur_ps, end_ps);
    node->named = place->inner;
    return node->payload;
}

void tm_nesting_end(struct tm_nesting *n)
{
    for (uint32_t i = 0; i < n->count * 2; i++)
        if (n->places[i].is_used)
            close_until(n, &n->places[i], INT64_MAX);
    memset(n->places, 0, (size_t)n->count * 2 * sizeof(*n->places));
    n->lanes = 0;
}
