/* SPDX-License-Identifier: Apache-2.0 */
/* Open spans by track and lane, and by their end.  A lane is a chain from its innermost span outwards.  Which span ends
 * next: the ones that end soonest are in a sorted array, the others in a heap after it,
 *
 *     heap: later ends  |  soon: 900 700 650 640 | 630  <- the next one to end
 *
 * because what starts usually ends before most of what is open: a kernel moves two or three entries of the array, and
 * its end takes none, where a heap of 70 spans takes 12 comparisons for both: 500 instructions per span became 200.
 *
 * Memory: nodes in blocks that do not move, a table of the tracks with open spans (others are removed before it grows),
 * the lanes beyond the first one of a track, and a block of arguments for each span if they are kept; all of it counts
 * against the given limit. */
#include "stages/output/export/exporter.h"

#include <string.h>

#include "pipeline/store/hash.h"

enum { BLOCK_NODES = 128, SLOTS_FIRST = 64, SLOTS_NEAR = 256, LANES_FIRST = 4, LANES_KEPT = 64, SOON_MOST = 128 };

/* Most ends need only its first two cache lines.  It does not move. */
struct node {
    uint64_t number;    /* counts up: when it was opened */
    struct node *outer; /* on its lane, NULL = none; of a free node the next free one */
    struct slot *slot;  /* of its track */
    struct tm_lane_span span;
    /* From here on it is there only if spans are held. */
    uint8_t *held; /* own and common arguments; NULL = none */
    size_t held_bytes;
    struct node *before, *after; /* in the order of opening */
};

struct lane {
    int64_t end_ps; /* of the innermost */
    uint64_t key;
    struct node *inner; /* NULL = it is empty */
    uint32_t depth;
};

struct slot {
    uint64_t track;
    struct lane first;
    struct lane *more;    /* lanes from 1 on */
    uint16_t count, room; /* lanes looked at, 0 = the slot is unused; `more` has room for */
    uint32_t open;        /* spans on all of them */
};

static_assert(2 * TM_LANES_MOST <= UINT16_MAX, "the room of a slot");

/* An open span by its end. */
struct entry {
    int64_t end_ps; /* of its event: most are distinguished by it alone */
    struct node *node;
};

struct tm_lanes {
    struct tm_lanes_head head;
    struct tm_run *run;
    struct tm_lanes_options options;
    size_t used_bytes;
    size_t node_bytes;
    uint64_t seed, opened;
    struct node **blocks;
    uint32_t block_count, block_room;
    struct node *free_node, *ended;             /* ended: was returned last, to be released; NULL = none */
    struct node *first, *last;                  /* open ones in the order of opening */
    struct slot *slots;                         /* slot_count: a power of two */
    struct slot *near[SLOTS_NEAR];              /* by track: one that was made; NULL = none */
    size_t slot_count, slots_used, slots_empty; /* empty: used by a track with nothing open */
    struct entry *heap;
    size_t heap_count, heap_room; /* heap_room: for all open spans */
    struct entry soon[SOON_MOST]; /* soon_count of them, the next one to end last; all in the heap end later */
    size_t soon_count;
};

/* --- memory --- */

static void too_much(struct tm_lanes *l)
{
    (void)tm_fail(&l->run->error, TM_ERR_LIMIT, -1,
                  "%zu spans are open at the same time, and another one does not fit in %zu KiB", tm_lanes_count(l),
                  l->options.memory_bytes >> 10);
    tm_hint(&l->run->error, "increase the memory limit: --memory %zuM", l->run->budget.limit_bytes / TM_MIB * 2);
}

/* Grow a block, or make one.
 * out: NULL on failure, and the block is still there */
static void *grow(struct tm_lanes *l, void *block, size_t old_bytes, size_t new_bytes)
{
    struct tm_budget *const budget = &l->run->budget;
    void *at;

    if (l->used_bytes > l->options.memory_bytes || new_bytes > l->options.memory_bytes - l->used_bytes) {
        too_much(l); /* a move holds both blocks for a moment */
        return NULL;
    }
    at = old_bytes ? tm_retake(budget, l->options.account, block, old_bytes, new_bytes, &l->run->error)
                   : tm_take(budget, l->options.account, new_bytes, &l->run->error);
    if (at)
        l->used_bytes += new_bytes - old_bytes;
    return at;
}

static void give(struct tm_lanes *l, void *block, size_t bytes)
{
    if (!block)
        return;
    tm_give(&l->run->budget, l->options.account, block, bytes);
    l->used_bytes -= bytes;
}

struct tm_lanes *tm_lanes_new(struct tm_run *run, const struct tm_lanes_options *options)
{
    struct tm_lanes *const l = tm_take(&run->budget, options->account, sizeof(*l), &run->error);

    if (!l)
        return NULL;
    *l = (struct tm_lanes){
        .head = { INT64_MAX },
        .run = run,
        .options = *options,
        .used_bytes = sizeof(*l),
        .node_bytes = options->holds ? sizeof(struct node) : offsetof(struct node, held),
        .seed = tm_hash_seed(l),
    };
    l->slots = grow(l, NULL, 0, SLOTS_FIRST * sizeof(*l->slots));
    if (l->slots) {
        l->slot_count = SLOTS_FIRST;
        return l;
    }
    tm_lanes_free(l);
    return NULL;
}

void tm_lanes_free(struct tm_lanes *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->block_count; i++) {
        for (uint32_t k = 0; l->options.holds && k < BLOCK_NODES; k++)
            give(l, l->blocks[i][k].held, l->blocks[i][k].held_bytes);
        give(l, l->blocks[i], BLOCK_NODES * l->node_bytes);
    }
    give(l, l->blocks, l->block_room * sizeof(*l->blocks));
    for (size_t i = 0; i < l->slot_count; i++)
        give(l, l->slots[i].more, l->slots[i].room * sizeof(struct lane));
    give(l, l->slots, l->slot_count * sizeof(*l->slots));
    give(l, l->heap, l->heap_room * sizeof(*l->heap));
    tm_give(&l->run->budget, l->options.account, l, sizeof(*l));
}

/* --- tracks that have something open --- */

static bool ends_track(const void *at, const void *track)
{
    const struct slot *const slot = at;

    return !slot->count || slot->track == *(const uint64_t *)track;
}

static inline struct slot *find_slot(const struct tm_lanes *l, uint64_t track)
{
    struct slot *const near = l->near[track % SLOTS_NEAR];

    if (near && near->track == track)
        return near;
    return tm_probe(l->slots, l->slot_count, sizeof(*l->slots), tm_hash_mix(track, l->seed), &track, ends_track);
}

static struct lane *lane_at(struct slot *slot, uint32_t lane)
{
    return lane ? &slot->more[lane - 1] : &slot->first;
}

/* A slot has moved. */
static void tell_nodes(struct slot *slot)
{
    for (uint32_t i = 0; i < slot->count; i++)
        for (struct node *n = lane_at(slot, i)->inner; n; n = n->outer)
            n->slot = slot;
}

/* Put those that have something open into a new table; empty ones release their lanes. */
static bool resize_slots(struct tm_lanes *l, size_t count)
{
    struct slot *const old = l->slots, *const slots = grow(l, NULL, 0, count * sizeof(*slots));
    const size_t old_count = l->slot_count;

    if (!slots)
        return false;
    l->slots = slots;
    l->slot_count = count;
    l->slots_used = l->slots_empty = 0;
    memset(l->near, 0, sizeof(l->near));
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].open) {
            struct slot *const slot = find_slot(l, old[i].track);

            *slot = old[i];
            tell_nodes(slot);
            l->slots_used++;
        } else {
            give(l, old[i].more, old[i].room * sizeof(struct lane));
        }
    }
    give(l, old, old_count * sizeof(*old));
    return true;
}

/* The slot of a track; made if there is none.  NULL on failure. */
static struct slot *make_slot(struct tm_lanes *l, uint64_t track)
{
    struct slot *slot = find_slot(l, track);

    if (slot->count) {
        l->near[track % SLOTS_NEAR] = slot;
        return slot;
    }
    if ((l->slots_used + 1) * 2 > l->slot_count) {
        if (!resize_slots(l, l->slots_empty * 2 > l->slots_used ? l->slot_count : l->slot_count * 2))
            return NULL;
        slot = find_slot(l, track);
    }
    *slot = (struct slot){ .track = track, .count = 1 };
    l->near[track % SLOTS_NEAR] = slot;
    l->slots_used++;
    l->slots_empty++;
    return slot;
}

/* Make room for a lane. */
static bool make_lane(struct tm_lanes *l, struct slot *slot, uint32_t lane)
{
    uint32_t room = slot->room ? slot->room : LANES_FIRST;

    while (room < lane)
        room *= 2;
    if (lane && room != slot->room) {
        struct lane *const more = grow(l, slot->more, slot->room * sizeof(*more), room * sizeof(*more));

        if (!more)
            return false;
        slot->more = more;
        slot->room = (uint16_t)room;
    }
    for (; slot->count <= lane; slot->count++)
        *lane_at(slot, slot->count) = (struct lane){ .inner = NULL };
    return true;
}

/* --- nodes --- */

static bool add_block(struct tm_lanes *l)
{
    const uint32_t room = l->block_room ? l->block_room * 2 : 16;

    if (l->block_count == l->block_room) {
        struct node **const blocks = grow(l, l->blocks, l->block_room * sizeof(*blocks), room * sizeof(*blocks));

        if (!blocks)
            return false;
        l->blocks = blocks;
        l->block_room = room;
    }
    uint8_t *const block = grow(l, NULL, 0, BLOCK_NODES * l->node_bytes);

    if (!block)
        return false;
    for (uint32_t k = BLOCK_NODES; k-- > 0;) {
        struct node *const n = (struct node *)(void *)(block + k * l->node_bytes);

        n->outer = l->free_node;
        l->free_node = n;
    }
    l->blocks[l->block_count++] = (struct node *)(void *)block;
    return true;
}

/* Keep what the end of an uncut span needs.  The rest of a node stays zero. */
static void keep_end(struct tm_lane_span *to, const struct tm_lane_span *from)
{
    to->track = from->track;
    to->key = from->key;
    to->lane = from->lane;
    to->event.start_ps = from->event.start_ps;
    to->event.end_ps = from->event.end_ps;
    to->event.whole_begin_ps = from->event.whole_begin_ps;
    to->event.whole_end_ps = from->event.whole_end_ps;
    to->event.marks = from->event.marks;
}

/* Keep all of a span, its arguments beside it. */
static bool keep_all(struct tm_lanes *l, struct node *n, const struct tm_lane_span *span)
{
    struct tm_arguments *const own = &n->span.event.own, *const common = &n->span.event.common;
    size_t bytes;

    n->span = *span;
    n->span.event.row = NULL;
    n->span.event.of = NULL;
    n->span.event.trace = NULL;
    if (__builtin_add_overflow(own->length, common->length, &bytes)) {
        too_much(l);
        return false;
    }
    if (!bytes)
        return true;
    n->held = grow(l, NULL, 0, bytes);
    if (!n->held)
        return false;
    n->held_bytes = bytes;
    if (own->length)
        memcpy(n->held, own->bytes, own->length);
    if (common->length)
        memcpy(n->held + own->length, common->bytes, common->length);
    own->bytes = n->held;
    common->bytes = n->held + own->length;
    return true;
}

static inline void release_ended(struct tm_lanes *l)
{
    struct node *const n = l->ended;

    if (!n)
        return;
    if (l->options.holds) {
        give(l, n->held, n->held_bytes);
        n->held = NULL;
    }
    n->outer = l->free_node;
    l->free_node = n;
    l->ended = NULL;
}

/* --- which ends next: the last one of `soon`, then heap[0] --- */

static bool ends_before_at_once(const struct tm_lanes *l, const struct node *x, const struct node *y)
{
    const struct tm_out_event *const e = &x->span.event, *const f = &y->span.event;

    if (!l->options.outer_first)
        return x->number > y->number;
    return e->start_ps != f->start_ps ? e->start_ps > f->start_ps : x->number < y->number;
}

static inline bool ends_before(const struct tm_lanes *l, struct entry a, struct entry b)
{
    return a.end_ps != b.end_ps ? a.end_ps < b.end_ps : ends_before_at_once(l, a.node, b.node);
}

/* Put an entry into the hole at a place, or above it, but not above `top`. */
static inline void sift_up(struct tm_lanes *l, size_t at, size_t top, struct entry moving)
{
    for (; at > top && ends_before(l, moving, l->heap[(at - 1) / 2]); at = (at - 1) / 2)
        l->heap[at] = l->heap[(at - 1) / 2];
    l->heap[at] = moving;
}

/* Put an entry into the hole at a place, or below it.  What fills the hole nearly always belongs at the bottom: the
 * hole is moved all the way down first, which takes one comparison for each level. */
static void sift_down(struct tm_lanes *l, size_t at, struct entry moving)
{
    const size_t top = at;

    for (size_t child; (child = 2 * at + 1) < l->heap_count; at = child) {
        child += child + 1 < l->heap_count && ends_before(l, l->heap[child + 1], l->heap[child]);
        l->heap[at] = l->heap[child];
    }
    sift_up(l, at, top, moving);
}

/* The position of an entry at or below a place; SIZE_MAX = missing.  Only what ends no later is examined. */
static size_t find_entry(const struct tm_lanes *l, size_t at, struct entry entry)
{
    size_t found;

    if (at >= l->heap_count || l->heap[at].end_ps > entry.end_ps)
        return SIZE_MAX;
    if (l->heap[at].node == entry.node)
        return at;
    found = find_entry(l, 2 * at + 1, entry);
    return found == SIZE_MAX ? find_entry(l, 2 * at + 2, entry) : found;
}

static void push_heap(struct tm_lanes *l, struct entry entry)
{
    sift_up(l, l->heap_count++, 0, entry);
}

/* Remove the entry at a place of the heap. */
static void remove_from_heap(struct tm_lanes *l, size_t at)
{
    const struct entry last = l->heap[--l->heap_count];

    if (at && at < l->heap_count && ends_before(l, last, l->heap[(at - 1) / 2]))
        sift_up(l, at, 0, last);
    else if (at < l->heap_count)
        sift_down(l, at, last);
}

/* The later half of those that end soon joins the heap. */
TM_NOT_INLINE void put_back_later_ones(struct tm_lanes *l)
{
    const size_t half = SOON_MOST / 2;

    for (size_t i = 0; i < half; i++)
        push_heap(l, l->soon[i]);
    memmove(l->soon, l->soon + half, (l->soon_count - half) * sizeof(*l->soon));
    l->soon_count -= half;
}

/* None is left of those that end soon: the next ones come from the heap. */
TM_NOT_INLINE void find_soon_ones(struct tm_lanes *l)
{
    const size_t most = SOON_MOST / 2, count = l->heap_count < most ? l->heap_count : most;

    l->soon_count = count;
    for (size_t i = count; i-- > 0;) {
        l->soon[i] = l->heap[0];
        remove_from_heap(l, 0);
    }
}

static inline void add_entry(struct tm_lanes *l, struct entry entry)
{
    size_t at;

    l->head.first_end_ps = entry.end_ps < l->head.first_end_ps ? entry.end_ps : l->head.first_end_ps;
    if (l->soon_count == SOON_MOST)
        put_back_later_ones(l);
    if (l->heap_count && ends_before(l, l->heap[0], entry)) {
        push_heap(l, entry);
        return;
    }
    for (at = l->soon_count++; at && l->soon[at - 1].end_ps < entry.end_ps; at--)
        l->soon[at] = l->soon[at - 1];
    for (; at && ends_before(l, l->soon[at - 1], entry); at--)
        l->soon[at] = l->soon[at - 1];
    l->soon[at] = entry;
}

static void remove_entry(struct tm_lanes *l, struct entry entry)
{
    for (size_t at = l->soon_count; at-- > 0;) {
        if (l->soon[at].node != entry.node)
            continue;
        memmove(l->soon + at, l->soon + at + 1, (--l->soon_count - at) * sizeof(*l->soon));
        return;
    }
    remove_from_heap(l, find_entry(l, 0, entry));
}

void tm_lanes_changed(struct tm_lanes *l)
{
    for (size_t i = 0; i < l->soon_count; i++)
        l->heap[l->heap_count++] = l->soon[i];
    l->soon_count = 0;
    for (size_t i = l->heap_count / 2; i-- > 0;)
        sift_down(l, i, l->heap[i]);
}

/* --- opening --- */

bool tm_lanes_choose(const struct tm_lanes *l, struct tm_lane_span *span)
{
    struct slot *const slot = find_slot(l, span->track);
    const uint32_t count = slot->count;

    for (span->lane = 0; span->lane < count; span->lane++) {
        const struct lane *const lane = lane_at(slot, span->lane);

        if (!lane->depth ||
            (lane->depth < TM_LANE_DEPTH && lane->key == span->key && lane->end_ps >= span->event.end_ps))
            return true;
    }
    return span->lane < TM_LANES_MOST;
}

/* Everything that opening a span may need, so that nothing is half done when memory runs out.  NULL on failure. */
static struct slot *make_room(struct tm_lanes *l, const struct tm_lane_span *span)
{
    const size_t room = l->heap_room ? l->heap_room * 2 : BLOCK_NODES;
    struct slot *const slot = make_slot(l, span->track);

    if (!slot || !make_lane(l, slot, span->lane) || (!l->free_node && !add_block(l)))
        return NULL;
    if (tm_lanes_count(l) == l->heap_room) {
        struct entry *const heap = grow(l, l->heap, l->heap_room * sizeof(*heap), room * sizeof(*heap));

        if (!heap)
            return NULL;
        l->heap = heap;
        l->heap_room = room;
    }
    return slot;
}

/* The order of opening is that of tm_lanes_each. */
static void link_opened(struct tm_lanes *l, struct node *n)
{
    n->before = l->last;
    n->after = NULL;
    *(n->before ? &n->before->after : &l->first) = n;
    l->last = n;
}

static void unlink_opened(struct tm_lanes *l, const struct node *n)
{
    *(n->before ? &n->before->after : &l->first) = n->after;
    *(n->after ? &n->after->before : &l->last) = n->before;
}

static inline void link_node(struct tm_lanes *l, struct slot *slot, struct node *n)
{
    struct lane *const lane = lane_at(slot, n->span.lane);

    n->number = l->opened++;
    n->outer = lane->inner;
    n->slot = slot;
    *lane = (struct lane){ n->span.event.end_ps, n->span.key, n, lane->depth + 1 };
    l->slots_empty -= !slot->open++;
    if (l->options.holds)
        link_opened(l, n);
    add_entry(l, (struct entry){ n->span.event.end_ps, n });
}

/* Open a span of a lane that there is, where a node is free. */
TM_INLINE void open_there(struct tm_lanes *l, struct slot *slot, const struct tm_lane_span *span)
{
    struct node *const n = l->free_node;

    if (!l->options.holds)
        keep_end(&n->span, span);
    else if (!keep_all(l, n, span))
        return;
    l->free_node = n->outer;
    link_node(l, slot, n);
}

TM_NOT_INLINE void open_with_room(struct tm_lanes *l, const struct tm_lane_span *span)
{
    struct slot *const slot = make_room(l, span);

    if (slot)
        open_there(l, slot, span);
}

void tm_lanes_open(struct tm_lanes *l, const struct tm_lane_span *span)
{
    struct slot *const near = l->near[span->track % SLOTS_NEAR];

    release_ended(l);
    if (near && near->track == span->track && span->lane < near->count && l->free_node &&
        tm_lanes_count(l) < l->heap_room)
        open_there(l, near, span);
    else
        open_with_room(l, span);
}

/* --- ending --- */

static void empty_slot(struct tm_lanes *l, struct slot *slot)
{
    l->slots_empty++;
    if (slot->room <= LANES_KEPT)
        return;
    give(l, slot->more, slot->room * sizeof(struct lane));
    slot->more = NULL;
    slot->room = 0;
    slot->count = 1;
}

/* If spans start and end together, the outer one may leave its lane first. */
static inline void unlink_node(struct tm_lanes *l, const struct node *n)
{
    struct slot *const slot = n->slot;
    struct lane *const lane = lane_at(slot, n->span.lane);

    if (lane->inner == n) {
        lane->inner = n->outer;
    } else {
        struct node *inner = lane->inner;

        while (inner->outer != n)
            inner = inner->outer;
        inner->outer = n->outer;
    }
    if (--lane->depth) {
        lane->end_ps = lane->inner->span.event.end_ps;
        lane->key = lane->inner->span.key;
    }
    if (!--slot->open)
        empty_slot(l, slot);
    if (l->options.holds)
        unlink_opened(l, n);
}

/* A span that is in no order of ends any more: valid until the next change. */
static inline struct tm_lane_span *take_out(struct tm_lanes *l, struct node *n)
{
    l->ended = n;
    unlink_node(l, n);
    return &n->span;
}

static inline void note_first_end(struct tm_lanes *l)
{
    l->head.first_end_ps = l->soon_count   ? l->soon[l->soon_count - 1].end_ps
                           : l->heap_count ? l->heap[0].end_ps
                                           : INT64_MAX;
}

struct tm_lane_span *tm_lanes_next_end(struct tm_lanes *l, int64_t until_ps)
{
    struct node *ended = NULL;

    if (l->head.first_end_ps > until_ps)
        return NULL;
    release_ended(l);
    if (!l->soon_count && l->heap_count)
        find_soon_ones(l);
    if (l->soon_count && l->soon[l->soon_count - 1].end_ps <= until_ps)
        ended = l->soon[--l->soon_count].node;
    note_first_end(l);
    return ended ? take_out(l, ended) : NULL;
}

struct tm_lane_span *tm_lanes_end_empty(struct tm_lanes *l, uint64_t track)
{
    struct slot *const slot = find_slot(l, track);

    release_ended(l);
    for (uint32_t i = 0; i < slot->count; i++) {
        struct node *const n = lane_at(slot, i)->inner;

        if (n && n->span.event.start_ps == n->span.event.end_ps) {
            remove_entry(l, (struct entry){ n->span.event.end_ps, n });
            return take_out(l, n);
        }
    }
    return NULL;
}

/* --- looking --- */

uint32_t tm_lanes_innermost(const struct tm_lanes *l, uint64_t track)
{
    struct slot *const slot = find_slot(l, track);
    uint32_t found = UINT32_MAX;
    uint64_t latest = 0;

    for (uint32_t i = 0; i < slot->count; i++) {
        const struct lane *const lane = lane_at(slot, i);
        const uint64_t number = lane->depth ? lane->inner->number : 0;

        if (lane->depth && (found == UINT32_MAX || number > latest)) {
            found = i;
            latest = number;
        }
    }
    return found;
}

static const struct node *node_of(const struct tm_lane_span *span)
{
    return (const struct node *)(const void *)((const uint8_t *)span - offsetof(struct node, span));
}

struct tm_lane_span *tm_lanes_each(struct tm_lanes *l, const struct tm_lane_span *span)
{
    struct node *const n = span ? node_of(span)->after : l->first;

    return n ? &n->span : NULL;
}

struct tm_lane_span *tm_lanes_each_back(struct tm_lanes *l, const struct tm_lane_span *span)
{
    struct node *const n = span ? node_of(span)->before : l->last;

    return n ? &n->span : NULL;
}

size_t tm_lanes_count(const struct tm_lanes *l)
{
    return l->soon_count + l->heap_count;
}
