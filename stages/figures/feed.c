/* SPDX-License-Identifier: Apache-2.0 */
/* Accumulators by call site, and batches (feed.h). */
#include "stages/figures/feed.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "pipeline/source.h"
#include "stages/figures/figure_rows.h"

/* OPEN_MOST: spans that are open at once on all lines of a host: a few per core or thread.  BATCH_EVENTS: 18 KiB, which
 * leave room for the state of a stage in an L1 data cache: a report takes 5% less time than with 256. */
enum { OPEN_MOST = 1024, BATCH_EVENTS = 128 };

#define CHOSEN (UINT64_C(1) << 63)

/* Facts that all events of a site share. */
struct site_facts {
    uint32_t name, config, traits, device, thread;
    uint16_t flags;
    uint8_t class, kind, level, direction;
    bool chosen, nests;
};

/* All that an event changes is in the first cache line. */
struct site_row {
    uint64_t key;           /* of the site; its highest bit: of chosen events */
    uint32_t count, wanted; /* wanted: struct tm_event.wanted */
    int64_t total_ps, min_ps, max_ps;
    struct tm_wide squares;
    tm_length_place place;
    uint64_t without_length, length_group, continued;
    int64_t first_ps, first_dur_ps;
    uint64_t first_order;
    int64_t self_ps;
    struct tm_wide self_squares;
    struct site_facts facts;
};

/* Data that accompanies an operation until it has ended. */
struct open_op {
    uint64_t key;
    struct site_facts facts;
};

/* Totals of a site on their way to another process. */
struct sent_sums {
    struct tm_event event;
    struct tm_site_sums sums;
    uint32_t stages; /* bits of those that get them: by take_site, and by take_self if they have self times */
    bool is_ended, has_self;
};

enum { BATCH_SUMS = 64 };

/* Events that wait, all of one device or of none; or, in a ring, totals. */
struct feed_batch {
    size_t count;
    uint32_t wanted; /* by any stage */
    uint32_t device; /* of the events, if there are any */
    bool has_sums;
    union {
        struct tm_event events[BATCH_EVENTS];
        struct sent_sums sums[BATCH_SUMS];
    };
    union tm_args args[BATCH_EVENTS]; /* their arguments, where these are a number or an allocation */
};

static_assert(offsetof(struct site_row, without_length) == 64 && sizeof(struct site_row) <= 192, "three cache lines");

tm_status tm_feed_init(struct tm_feed *feed, struct tm_run *run, struct tm_stage *stages, size_t count)
{
    *feed = (struct tm_feed){ .run = run, .stages = stages, .stage_count = count };
    assert(count <= 32);
    for (size_t i = 0; i < count; i++)
        stages[i].bit = UINT32_C(1) << i;
    feed->batch = feed->own = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*feed->own), &run->error);
    return tm_site_rows_init(&feed->rows, run, TM_ACCOUNT_TABLES, sizeof(struct site_row),
                             tm_tables_memory(run, TM_TABLES_SITES, 1, 1));
}

static void end_nesting(struct tm_feed *feed)
{
    tm_nesting_free(feed->nesting);
    feed->nesting = NULL;
    tm_site_rows_release(&feed->ended);
}

void tm_feed_release(struct tm_feed *feed)
{
    if (!feed->run)
        return;
    end_nesting(feed);
    tm_site_rows_release(&feed->rows);
    tm_give(&feed->run->budget, TM_ACCOUNT_MODEL, feed->own, feed->own ? sizeof(*feed->own) : 0);
    feed->run = NULL;
}

/* --- handing on --- */

static struct tm_site_sums sums_of(const struct site_row *row)
{
    return (struct tm_site_sums){ .count = row->count,
                                  .total_ps = row->total_ps,
                                  .without_length = row->without_length,
                                  .min_ps = row->min_ps,
                                  .max_ps = row->max_ps,
                                  .squares = row->squares,
                                  .first_ps = row->first_ps,
                                  .first_dur_ps = row->first_dur_ps,
                                  .first_order = row->first_order,
                                  .continued = row->continued };
}

static struct tm_event event_of(const struct site_facts *facts, uint64_t key, const struct tm_config *config)
{
    return (struct tm_event){ .record = { .name = facts->name,
                                          .config = facts->config,
                                          .flags = facts->flags,
                                          .class = facts->class,
                                          .kind = facts->kind },
                              .config = config,
                              .traits = facts->traits,
                              .device = facts->device,
                              .step = TM_NONE,
                              .level = facts->level,
                              .direction = facts->direction,
                              .chosen = facts->chosen,
                              .thread = facts->thread,
                              .site = key & ~CHOSEN,
                              .launch_track = TM_NONE,
                              .launch_thread = TM_NONE };
}

/* --- to another process --- */

size_t tm_feed_block_bytes(void)
{
    return sizeof(struct feed_batch);
}

/* The process has ended: what it was to do is lost, and tm_feed_beside.is_over has the reason. */
static void lose_process(struct tm_feed *feed)
{
    feed->beside.ring = NULL;
    feed->batch = feed->own;
    feed->sums = NULL;
}

/* out: empty; NULL: the process has ended */
static struct feed_batch *next_block(struct tm_feed *feed, bool has_sums)
{
    struct feed_batch *const block = tm_ring_room(feed->beside.ring, feed->beside.is_over, feed->beside.of);

    if (!block) {
        lose_process(feed);
        return NULL;
    }
    block->count = 0;
    block->wanted = 0;
    block->has_sums = has_sums;
    return block;
}

/* The next events are made in another block. */
static void send_batch(struct tm_feed *feed, size_t count, uint32_t wanted)
{
    struct feed_batch *const batch = feed->batch;
    struct feed_batch *next;

    batch->count = count;
    batch->wanted = wanted;
    tm_ring_send(feed->beside.ring, batch);
    next = next_block(feed, false);
    if (!next)
        return;
    next->device = batch->device;
    feed->batch = next;
}

static void send_sums(struct tm_feed *feed, const struct sent_sums *sums)
{
    if (!feed->beside.ring)
        return;
    if (!feed->sums)
        feed->sums = next_block(feed, true);
    if (!feed->sums)
        return;
    feed->sums->sums[feed->sums->count++] = *sums;
    if (feed->sums->count < BATCH_SUMS)
        return;
    tm_ring_send(feed->beside.ring, feed->sums);
    feed->sums = NULL;
}

void tm_feed_begin_beside(struct tm_feed *feed, const struct tm_feed_beside *beside)
{
    struct feed_batch *first;

    assert(!feed->batch->count);
    feed->beside = *beside;
    first = next_block(feed, false);
    if (!first)
        return;
    first->device = feed->batch->device;
    feed->batch = first;
}

/* Everything was passed on. */
static void end_beside(struct tm_feed *feed)
{
    if (feed->sums)
        tm_ring_send(feed->beside.ring, feed->sums);
    if (feed->beside.ring)
        tm_ring_close(feed->beside.ring);
    lose_process(feed);
}

static void take_sums(struct tm_feed *feed, struct sent_sums *sent)
{
    struct tm_event *const event = &sent->event;

    event->config = tm_rows_at(feed->configs, event->record.config);
    for (size_t i = 0; i < feed->stage_count && sent->stages >> i && !tm_failed(feed->run); i++) {
        const struct tm_stage_type *const type = feed->stages[i].type;

        if (!(sent->stages >> i & 1))
            continue;
        if (type->take_site && !sent->is_ended)
            type->take_site(&feed->stages[i], event, &sent->sums);
        if (type->take_self && sent->has_self)
            type->take_self(&feed->stages[i], event, &sent->sums);
    }
}

void tm_feed_take_block(struct tm_feed *feed, void *block)
{
    struct feed_batch *const batch = block;
    const uint32_t wanted = batch->wanted & feed->beside.stages;

    if (batch->has_sums) {
        for (size_t i = 0; i < batch->count; i++)
            take_sums(feed, &batch->sums[i]);
        return;
    }
    for (size_t i = 0; i < batch->count; i++) /* the other process points to its own, which this one does not have */
        batch->events[i].config = tm_rows_at(feed->configs, batch->events[i].record.config);
    for (size_t i = 0; i < feed->stage_count && wanted >> i; i++)
        if (wanted >> i & 1 && !tm_failed(feed->run))
            feed->stages[i].type->take(&feed->stages[i], batch->events, batch->count);
}

void tm_feed_end_blocks(struct tm_feed *feed)
{
    for (size_t i = 0; i < feed->stage_count && !tm_failed(feed->run); i++)
        if (feed->beside.stages >> i & 1)
            (void)feed->stages[i].type->end_host(&feed->stages[i]);
}

/* in: is_ended  the row is one of feed->ended */
static void hand_on(struct tm_feed *feed, const struct site_row *row, bool is_ended)
{
    const struct tm_config config = *(const struct tm_config *)tm_rows_at(feed->configs, row->facts.config);
    const struct tm_event event = event_of(&row->facts, row->key, &config);
    const bool has_self = is_ended || (row->facts.chosen && row->facts.level != TM_LEVEL_NONE && !row->facts.nests);
    struct tm_site_sums sums = sums_of(row);
    uint32_t sent = 0;

    sums.self_ps = is_ended ? row->self_ps : row->total_ps;
    sums.self_squares = is_ended ? row->self_squares : row->squares;
    for (size_t i = 0; i < feed->stage_count && !tm_failed(feed->run); i++) {
        const struct tm_stage_type *const type = feed->stages[i].type;

        if (!(type->classes & TM_CLASS_BIT(row->facts.class)))
            continue;
        if (feed->beside.stages >> i & 1) {
            sent |= (type->take_site && !is_ended) || (type->take_self && has_self) ? UINT32_C(1) << i : 0;
            continue;
        }
        if (type->take_site && !is_ended)
            type->take_site(&feed->stages[i], &event, &sums);
        if (type->take_self && has_self)
            type->take_self(&feed->stages[i], &event, &sums);
    }
    if (sent)
        send_sums(feed, &(struct sent_sums){ event, sums, sent, is_ended, has_self });
}

static void hand_all_on(struct tm_feed *feed, struct tm_site_rows *rows, bool is_ended)
{
    for (uint64_t i = 0; i <= rows->mask && !tm_failed(feed->run); i++) {
        struct site_row *row = tm_site_rows_place(rows, i);

        if (row->key)
            hand_on(feed, row, is_ended);
        row->key = 0;
    }
    rows->used = 0;
}

/* --- rows --- */

/* Nested events: operations on the lines of TPUs and the threads of CPUs. */
static bool nests(const struct tm_feed *feed, const struct site_facts *facts, const struct tm_config *config)
{
    const struct tm_device *const device =
        facts->device < feed->trace->device_count ? &feed->trace->devices[facts->device] : NULL;

    if (!feed->nesting || !facts->chosen || !device || !device->activities || device->kind == TM_DEVICE_GPU)
        return false;
    switch ((enum tm_class)facts->class) {
    case TM_CLASS_TPU_OP: /* also one that waits for the host, which is not an activity */
        return true;
    case TM_CLASS_KERNEL:
    case TM_CLASS_COLLECTIVE:
    case TM_CLASS_CPU_OP:
        return facts->level != TM_LEVEL_NONE;
    case TM_CLASS_COPY:
    case TM_CLASS_MEMSET:
        return facts->level != TM_LEVEL_NONE && config->hlo_op;
    default:
        return false;
    }
}

/* An empty row for a site that has none.  The row that occupies its place is passed on. */
static struct site_row *begin_row(struct tm_feed *feed, struct tm_site_rows *rows, uint64_t key,
                                  const struct site_facts *facts)
{
    struct site_row *row = tm_site_rows_place(rows, key);

    if ((row->key ^ key) & ~CHOSEN) /* else the same site, started or ended to be chosen */
        row = tm_site_rows_make_room(rows, key);
    if (!row)
        return NULL;
    if (row->key && rows == &feed->rows)
        tm_feed_flush(feed); /* its last events may wait */
    if (row->key)
        hand_on(feed, row, rows == &feed->ended);
    *row = (struct site_row){ .key = key, .min_ps = INT64_MAX, .place = TM_LENGTH_NOWHERE, .facts = *facts };
    return tm_failed(feed->run) ? NULL : row;
}

/* Which stages need the events of a site, and which keep their durations. */
static void ask_stages(struct tm_feed *feed, const struct tm_event *event, struct site_row *row)
{
    for (size_t i = 0; i < feed->stage_count; i++) {
        struct tm_stage *const stage = &feed->stages[i];
        const struct tm_stage_type *const type = stage->type;
        struct tm_lengths *lengths;

        if (!(type->classes & TM_CLASS_BIT(event->record.class)))
            continue;
        if (type->take && (!type->wants || type->wants(stage, event)))
            row->wanted |= stage->bit;
        lengths = type->lengths && event->chosen ? type->lengths(stage, event, &row->length_group) : NULL;
        if (lengths) {
            feed->lengths = lengths;
            row->place = 0;
        }
    }
}

TM_NOT_INLINE struct site_row *begin_site(struct tm_feed *feed, const struct tm_event *event, uint64_t key)
{
    struct site_facts facts = { .name = event->record.name,
                                .config = event->record.config,
                                .traits = event->traits,
                                .device = event->device,
                                .thread = event->thread,
                                .flags = event->record.flags,
                                .class = event->record.class,
                                .kind = event->record.kind,
                                .level = event->level,
                                .direction = event->direction,
                                .chosen = event->chosen };
    struct site_row *row;

    facts.nests = nests(feed, &facts, event->config);
    row = begin_row(feed, &feed->rows, key, &facts);
    if (!row)
        return NULL;
    row->first_ps = event->record.start_ps;
    row->first_dur_ps = event->record.dur_ps;
    row->first_order = feed->order;
    ask_stages(feed, event, row);
    return row;
}

/* Times that no longer fit into one row start a new one: the content of a row is exact. */
TM_NOT_INLINE void empty_row(struct tm_feed *feed, struct site_row *row, bool is_ended)
{
    tm_feed_flush(feed); /* its last events may wait */
    hand_on(feed, row, is_ended);
    row->count = 0;
    row->without_length = row->continued = 0;
    row->total_ps = row->max_ps = row->self_ps = 0;
    row->min_ps = INT64_MAX;
    row->squares = row->self_squares = (struct tm_wide){ 0, 0 };
}

static inline void add_length(struct site_row *row, int64_t dur_ps)
{
    row->min_ps = dur_ps < row->min_ps ? dur_ps : row->min_ps;
    row->max_ps = dur_ps > row->max_ps ? dur_ps : row->max_ps;
    row->squares = tm_sum_squares(row->squares, dur_ps);
}

/* --- events --- */

static uint64_t key_of(const struct tm_event *event)
{
    return event->site | (event->chosen ? CHOSEN : 0);
}

TM_NOT_INLINE void open_op(struct tm_feed *feed, const struct site_row *row, const struct tm_event *event)
{
    const struct open_op open = { row->key, row->facts };

    if (row->facts.nests)
        tm_nesting_take(feed->nesting, event->record.track, event->record.start_ps, event->record.dur_ps, &open);
}

/* Add an event to the row of its site. out: the interested stages */
TM_INLINE uint32_t add_to_site(struct tm_feed *feed, const struct tm_event *event)
{
    const uint64_t key = key_of(event);
    const int64_t dur_ps = event->record.dur_ps;
    struct site_row *row = tm_site_rows_place(&feed->rows, key);
    int64_t total_ps;

    feed->order++;
    if (row->key != key)
        row = begin_site(feed, event, key);
    if (!row)
        return 0;
    if (__builtin_add_overflow(row->total_ps, dur_ps, &total_ps) || row->count == UINT32_MAX) {
        empty_row(feed, row, false);
        total_ps = dur_ps;
    }
    row->count++;
    row->total_ps = total_ps;
    if (!dur_ps)
        row->without_length++;
    if (!event->chosen)
        return row->wanted;
    add_length(row, dur_ps);
    if (row->place != TM_LENGTH_NOWHERE)
        tm_lengths_add_at(feed->lengths, &row->place, row->length_group, (uint64_t)dur_ps);
    if (feed->nesting)
        open_op(feed, row, event);
    return row->wanted;
}

void tm_feed_flush(struct tm_feed *feed)
{
    struct feed_batch *const batch = feed->batch;
    size_t count;
    uint32_t wanted, here;

    if (tm_failed(feed->run))
        return;
    count = batch->count;
    wanted = batch->wanted;
    here = wanted & ~feed->beside.stages;
    batch->count = 0;
    batch->wanted = 0;
    for (size_t i = 0; i < feed->stage_count && here >> i; i++)
        if (here >> i & 1 && !tm_failed(feed->run))
            feed->stages[i].type->take(&feed->stages[i], batch->events, count);
    if (wanted & feed->beside.stages && feed->beside.ring)
        send_batch(feed, count, wanted);
}

/* From the last event: a number or an allocation, or what does not outlive it. */
TM_NOT_INLINE void keep_arguments(struct tm_feed *feed, const struct tm_event *event)
{
    struct feed_batch *const batch = feed->batch;
    const uint32_t length = event->record.args_length;
    union tm_args *const args = &batch->args[batch->count - 1];
    const bool is_kept = length == sizeof(args->number) || length == sizeof(args->allocation);

    if (is_kept)
        batch->events[batch->count - 1].args = memcpy(args, event->args, length);
    if (!is_kept || batch->count == BATCH_EVENTS)
        tm_feed_flush(feed);
}

static void start_batch(struct tm_feed *feed, uint32_t device)
{
    if (feed->batch->count)
        tm_feed_flush(feed);
    feed->batch->device = device;
}

/* in: event  may be in the batch, at its place or after it.  out: true: it is in the batch */
TM_INLINE bool take(struct tm_feed *feed, const struct tm_event *event)
{
    const uint32_t wanted = add_to_site(feed, event);
    struct feed_batch *batch;
    struct tm_event *to;

    if (!wanted)
        return false;
    if (feed->batch->device != event->device)
        start_batch(feed, event->device);
    batch = feed->batch; /* a flush may turn to another one */
    to = &batch->events[batch->count];
    if (to != event)
        *to = *event;
    to->wanted = wanted;
    batch->wanted |= wanted;
    batch->count++;
    return true;
}

void tm_feed_take(struct tm_feed *feed, const struct tm_event *event)
{
    if (!take(feed, event))
        return;
    if (event->record.args_length)
        keep_arguments(feed, event);
    else if (feed->batch->count == BATCH_EVENTS)
        tm_feed_flush(feed);
}

struct tm_event *tm_feed_room(struct tm_feed *feed, uint32_t *count)
{
    *count = BATCH_EVENTS - (uint32_t)feed->batch->count;
    return &feed->batch->events[feed->batch->count];
}

void tm_feed_take_room(struct tm_feed *feed, uint32_t count)
{
    const struct tm_event *const events = &feed->batch->events[feed->batch->count];

    for (uint32_t i = 0; i < count; i++)
        (void)take(feed, &events[i]);
    if (feed->batch->count == BATCH_EVENTS)
        tm_feed_flush(feed);
}

void tm_feed_continue(struct tm_feed *feed, const struct tm_event *event)
{
    struct site_row *const row = tm_site_rows_place(&feed->rows, event->site);

    assert(row->key == key_of(event));
    row->continued++;
}

static void take_ended(void *to, const struct tm_nested *span)
{
    struct tm_feed *const feed = to;
    const struct open_op *const open = span->payload;
    struct site_row *row = tm_site_rows_place(&feed->ended, open->key);

    feed->order++;
    if (row->key != open->key)
        row = begin_row(feed, &feed->ended, open->key, &open->facts);
    if (!row)
        return;
    if (row->total_ps > INT64_MAX - span->dur_ps)
        empty_row(feed, row, true);
    if (!row->count || span->start_ps < row->first_ps) {
        row->first_ps = span->start_ps;
        row->first_dur_ps = span->dur_ps;
        row->first_order = feed->order;
    }
    row->count++;
    row->total_ps += span->dur_ps;
    row->self_ps += span->self_ps;
    row->self_squares = tm_sum_squares(row->self_squares, span->self_ps);
    add_length(row, span->dur_ps);
}

/* --- hosts --- */

void tm_feed_begin_host(struct tm_feed *feed, const struct tm_trace *trace)
{
    bool nests = false;

    feed->trace = trace;
    feed->configs = trace->configs;
    feed->order = 0;
    for (size_t i = 0; i < feed->stage_count && !tm_failed(feed->run); i++)
        (void)feed->stages[i].type->begin_host(&feed->stages[i], trace);
    for (uint32_t i = 0; i < trace->device_count; i++)
        nests |= trace->devices[i].activities && trace->devices[i].kind != TM_DEVICE_GPU;
    if (!nests || tm_failed(feed->run))
        return;
    tm_site_rows_init(&feed->ended, feed->run, TM_ACCOUNT_TABLES, sizeof(struct site_row),
                      tm_tables_memory(feed->run, TM_TABLES_SITES, 2, 1));
    feed->nesting = tm_nesting_new(feed->run, TM_ACCOUNT_TABLES, sizeof(struct open_op), OPEN_MOST, take_ended, feed);
}

void tm_feed_end_host(struct tm_feed *feed)
{
    tm_feed_flush(feed);
    if (feed->nesting && !tm_failed(feed->run)) {
        tm_nesting_end(feed->nesting);
        hand_all_on(feed, &feed->ended, true);
    }
    hand_all_on(feed, &feed->rows, false);
    if (feed->beside.ring)
        end_beside(feed);
    for (size_t i = 0; i < feed->stage_count && !tm_failed(feed->run); i++)
        if (!(feed->beside.stages >> i & 1))
            (void)feed->stages[i].type->end_host(&feed->stages[i]);
    feed->beside = (struct tm_feed_beside){ .ring = NULL };
    end_nesting(feed);
    feed->trace = NULL;
}
