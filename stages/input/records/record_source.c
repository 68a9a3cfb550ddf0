/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor is a position in the store.  The one that counts also keeps the state of earlier spans. */
#include "stages/input/records/record_store.h"

#include "pipeline/source.h"

/* Ends of open spans are kept with the earliest on top: a span overlaps some open one if it ends after that. */

/* Put an end below all that end earlier; nearly always on top.  out: how many there are */
TM_NOT_INLINE uint32_t put_end_below(int64_t *ends, uint32_t depth, int64_t end_ps)
{
    uint32_t at = depth;

    for (; at && ends[at - 1] < end_ps; at--)
        ends[at] = ends[at - 1];
    ends[at] = end_ps;
    return depth + 1;
}

static inline uint32_t put_end(int64_t *ends, uint32_t depth, int64_t end_ps)
{
    if (depth == TM_SPAN_ORDER_DEEPEST)
        return depth;
    if (depth && ends[depth - 1] < end_ps)
        return put_end_below(ends, depth, end_ps);
    ends[depth] = end_ps;
    return depth + 1;
}

/* in:     depth  of order->ends, of which order->depth is not current.  out: the new one */
static inline uint32_t take_span(struct tm_span_order *order, uint32_t depth, struct tm_trace *trace, int64_t start_ps,
                                 int64_t dur_ps)
{
    int64_t end_ps;

    if (__builtin_add_overflow(start_ps, dur_ps, &end_ps))
        end_ps = INT64_MAX;
    while (depth && order->ends[depth - 1] <= start_ps)
        depth--;
    if (depth && end_ps > order->ends[depth - 1])
        tm_tally_add(&trace->run->tallies, TM_TALLY_OVERLAPPING_SPAN, 1);
    return dur_ps > 0 ? put_end(order->ends, depth, end_ps) : depth;
}

static inline void compare_before(struct tm_span_before *before, struct tm_trace *trace, struct tm_span_before next)
{
    if (next.start_ps == before->start_ps && next.dur_ps == before->dur_ps && before->is_any &&
        tm_names_are_same(trace->names, next.name, before->name))
        tm_tally_add(&trace->run->tallies, TM_TALLY_REPEATED_EVENT, 1);
    *before = next;
}

static inline bool is_ordered_span(uint8_t kind, uint8_t class)
{
    return kind == TM_SPAN && class != TM_CLASS_ASYNC;
}

void tm_span_order_take(struct tm_span_order *order, struct tm_trace *trace, const struct tm_record *record)
{
    if (!is_ordered_span(record->kind, record->class))
        return;
    order->depth = take_span(order, order->depth, trace, record->start_ps, record->dur_ps);
    compare_before(&order->before, trace,
                   (struct tm_span_before){ record->start_ps, record->dur_ps, record->name, true });
}

/* The state stays in registers. */
void tm_span_order_take_batch(struct tm_span_order *order, struct tm_trace *trace,
                              const struct tm_signatures *signatures, const struct tm_batch *batch)
{
    struct tm_span_before before = order->before;
    uint32_t depth = order->depth;

    for (uint32_t i = 0; i < batch->count; i++) {
        const struct tm_signature *const signature = &signatures->rows[batch->signature[i]];
        const int64_t start_ps = batch->start_ps[i], dur_ps = batch->dur_ps[i];

        if (!is_ordered_span(signature->kind, signature->class))
            continue;
        depth = take_span(order, depth, trace, start_ps, dur_ps);
        compare_before(&before, trace, (struct tm_span_before){ start_ps, dur_ps, signature->name, true });
    }
    order->before = before;
    order->depth = depth;
}

/* Tracks are read one after the other in the pass that counts, so one of them is being stored at a time.  A track in
 * the store is used only if it is complete. */

struct replay_source {
    struct tm_source source; /* first: a tm_source is cast to it */
    struct tm_source *inner;
    struct tm_record_store *store;
    const struct replay_cursor *keeper; /* whose records are stored, or NULL */
    bool is_broken;                     /* some track in the store is incomplete: the store is not used any more */
};

struct replay_cursor {
    struct tm_cursor base;   /* first */
    struct tm_cursor *inner; /* NULL: the records come from the store */
    struct tm_record_place place;
    bool is_begun;
};

static struct replay_source *source_of(const struct replay_cursor *c)
{
    return (struct replay_source *)c->base.source;
}

static void close_track(struct tm_cursor *cursor)
{
    struct replay_cursor *const c = (struct replay_cursor *)cursor;
    struct replay_source *s;

    if (!c)
        return;
    s = source_of(c);
    if (s->keeper == c) {
        s->keeper = NULL;
        s->is_broken = true;
    }
    if (c->inner)
        s->inner->type->close(c->inner);
    else
        tm_record_store_end(&c->place);
    tm_give(&s->source.trace->run->budget, TM_ACCOUNT_INPUT, c, sizeof(*c));
}

/* Whether all of a track is in the store. */
static bool is_kept(const struct replay_source *s, uint64_t track)
{
    return tm_record_store_count(s->store, track) && !(s->keeper && s->keeper->base.track == track) && !s->is_broken;
}

static struct tm_cursor *open_track(struct tm_source *source, uint64_t track, size_t buffer_bytes)
{
    struct replay_source *const s = (struct replay_source *)source;
    struct tm_run *const run = source->trace->run;
    struct replay_cursor *const c = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*c), &run->error);

    if (!c)
        return NULL;
    c->base = (struct tm_cursor){ .source = source, .track = track };
    if (is_kept(s, track)) {
        tm_record_store_begin(s->store, track, &c->place);
        c->place.forgets = source->trace->is_last_pass;
    } else {
        c->inner = s->inner->type->open(s->inner, track, buffer_bytes);
    }
    if (!tm_failed(run))
        return &c->base;
    close_track(&c->base);
    return NULL;
}

/* The first record of a reading of the inner source is requested: does it count? */
static void begin(struct replay_cursor *c)
{
    struct replay_source *const s = source_of(c);

    c->is_begun = true;
    c->inner->counts = c->base.counts;
    if (c->base.counts && !s->keeper && !s->is_broken)
        s->keeper = c;
}

/* The own arguments of the last record, which are kept too if the trace needs them. */
static tm_status ask_own(const struct replay_cursor *c, struct tm_raw_record *raw)
{
    const struct replay_source *const s = source_of(c);

    if (s->source.trace->keeps_arguments && !raw->signature)
        return s->inner->type->own(c->inner, raw);
    raw->own.length = 0;
    return TM_OK;
}

TM_NOT_INLINE tm_status next_and_keep(struct replay_cursor *c, struct tm_raw_record *raw, bool *more)
{
    struct replay_source *const s = source_of(c);
    tm_status st;

    if (!c->is_begun)
        begin(c);
    st = s->inner->type->next(c->inner, raw, more);
    if (st != TM_OK || s->keeper != c)
        return st;
    if (!*more)
        s->keeper = NULL;
    else if (ask_own(c, raw) == TM_OK)
        tm_record_store_add(s->store, raw);
    return s->source.trace->run->error.status;
}

static tm_status next_record(struct tm_cursor *cursor, struct tm_raw_record *raw, bool *more)
{
    struct replay_cursor *const c = (struct replay_cursor *)cursor;

    if (c->inner)
        return next_and_keep(c, raw, more);
    *more = tm_record_store_next(&c->place, raw);
    return *more ? TM_OK : cursor->source->trace->run->error.status;
}

static tm_status next_batch(struct tm_cursor *cursor, struct tm_batch *batch)
{
    struct replay_cursor *const c = (struct replay_cursor *)cursor;
    struct replay_source *const s = source_of(c);

    if (!c->inner) {
        batch->is_last = !tm_record_store_next_batch(&c->place, batch);
        return s->source.trace->run->error.status;
    }
    if (!c->is_begun)
        begin(c);
    const bool keeps_own = batch->keeps_own;

    batch->keeps_own |= s->keeper == c && s->source.trace->keeps_arguments;
    tm_next_batch(c->inner, batch);
    batch->keeps_own = keeps_own;
    if (s->keeper == c) {
        if (batch->has_other)
            (void)ask_own(c, &batch->other);
        tm_record_store_add_batch(s->store, cursor->track, batch);
        if (batch->is_last && !tm_failed(s->source.trace->run))
            s->keeper = NULL;
    }
    return s->source.trace->run->error.status;
}

static tm_status own_arguments(struct tm_cursor *cursor, struct tm_raw_record *raw)
{
    struct replay_cursor *const c = (struct replay_cursor *)cursor;
    uint8_t *bytes;

    return c->inner ? source_of(c)->inner->type->own(c->inner, raw) : tm_record_store_own(&c->place, raw, &bytes);
}

static void free_source(struct tm_source *source)
{
    struct replay_source *const s = (struct replay_source *)source;

    tm_record_store_free(s->store);
    s->inner->type->free(s->inner);
    tm_give(&source->trace->run->budget, TM_ACCOUNT_INPUT, s, sizeof(*s));
}

static const struct tm_source_type replay_source_type = {
    .name = "replay",
    .open = open_track,
    .next = next_record,
    .next_batch = next_batch,
    .own = own_arguments,
    .close = close_track,
    .free = free_source,
};

tm_status tm_replay_source_new(struct tm_source *inner, struct tm_source **source)
{
    struct tm_run *const run = inner->trace->run;
    struct replay_source *const s = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*s), &run->error);

    *source = NULL;
    if (!s) {
        inner->type->free(inner);
        return run->error.status;
    }
    *s = (struct replay_source){ .source = { &replay_source_type, inner->trace, inner->signatures }, .inner = inner };
    s->store = tm_record_store_new(inner->trace, inner->signatures);
    if (!s->store) {
        free_source(&s->source);
        return run->error.status;
    }
    *source = &s->source;
    return TM_OK;
}

struct record_source {
    struct tm_source source; /* first: a tm_source is cast to it */
    struct tm_record_store *store;
    struct tm_record_finish finish;
    struct tm_device_clock *clock; /* NULL: recorded times hold */
};

struct record_cursor {
    struct tm_cursor base; /* first */
    struct tm_record_place place;
    struct tm_track track;
    struct tm_clock_place clock;
    struct tm_span_order *order; /* NULL until it is known that the cursor counts */
};

static void close_stored_track(struct tm_cursor *cursor)
{
    struct record_cursor *const c = (struct record_cursor *)cursor;

    if (!c)
        return;
    struct tm_budget *const budget = &cursor->source->trace->run->budget;

    tm_record_store_end(&c->place);
    tm_give(budget, TM_ACCOUNT_INPUT, c->order, c->order ? sizeof(*c->order) : 0);
    tm_give(budget, TM_ACCOUNT_INPUT, c, sizeof(*c));
}

static struct tm_cursor *open_stored_track(struct tm_source *source, uint64_t track, size_t buffer_bytes)
{
    const struct record_source *const s = (const struct record_source *)source;
    struct tm_run *const run = source->trace->run;
    struct record_cursor *const c = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*c), &run->error);

    (void)buffer_bytes; /* a place has its own */
    if (!c)
        return NULL;
    c->base = (struct tm_cursor){ .source = source, .track = track };
    c->track = *(const struct tm_track *)tm_rows_at(source->trace->tracks, track);
    tm_clock_place_begin(s->clock, &c->track, &c->clock);
    tm_record_store_begin(s->store, track, &c->place);
    c->place.forgets = source->trace->is_last_pass;
    if (!tm_failed(run))
        return &c->base;
    close_stored_track(&c->base);
    return NULL;
}

/* Of a cursor that counts.  out: NULL: the run has failed */
static struct tm_span_order *order_of(struct record_cursor *c)
{
    struct tm_run *const run = c->base.source->trace->run;

    if (!c->order)
        c->order = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*c->order), &run->error);
    return c->order;
}

/* out: false: the run has failed */
static bool count(struct record_cursor *c, const struct tm_record *record)
{
    struct tm_span_order *const order = order_of(c);

    if (order)
        tm_span_order_take(order, c->base.source->trace, record);
    return order;
}

static bool is_op(const struct tm_record *record)
{
    return (record->kind == TM_SPAN || record->kind == TM_INSTANT) && !(record->flags & TM_FLAG_INSTANT);
}

/* Put a record on the clock of its device.  false: it has no place in time there, and is in a tally. */
static bool take_device_times(struct record_cursor *c, struct tm_raw_record *raw)
{
    struct tm_record *const record = &raw->record;
    const struct tm_device_times *const times = c->place.has_times && is_op(record) ? &c->place.times : NULL;
    const bool fits = tm_clock_place_record(&c->clock, times, record);

    if (is_op(record)) {
        record->kind = record->dur_ps ? TM_SPAN : TM_INSTANT;
        raw->signature = 0; /* it may be of another kind now */
    }
    if (!fits && c->base.counts)
        tm_tally_add(&c->base.source->trace->run->tallies, TM_TALLY_CLOCK_OUTLIER, 1);
    return fits;
}

static bool is_to_finish(const struct record_source *s, uint16_t flags)
{
    return s->finish.record && (!s->finish.flags || s->finish.flags & flags);
}

/* The next record of the track, in the order of the recorded times. */
static inline bool next_recorded(struct record_cursor *c, struct tm_raw_record *raw)
{
    const struct record_source *const s = (const struct record_source *)c->base.source;

    if (!tm_record_store_next(&c->place, raw))
        return false;
    if (is_to_finish(s, raw->record.flags))
        s->finish.record(s->finish.to, &c->track, raw);
    if (s->finish.record && !s->finish.flags)
        raw->signature = 0; /* any of it may have changed */
    return !c->base.counts || count(c, &raw->record);
}

TM_NOT_INLINE bool next_on_device_clock(struct record_cursor *c, struct tm_raw_record *raw)
{
    while (next_recorded(c, raw))
        if (take_device_times(c, raw))
            return true;
    return false;
}

static tm_status next_stored_record(struct tm_cursor *cursor, struct tm_raw_record *raw, bool *more)
{
    struct record_cursor *const c = (struct record_cursor *)cursor;

    *more = c->clock.clock ? next_on_device_clock(c, raw) : next_recorded(c, raw);
    return *more ? TM_OK : cursor->source->trace->run->error.status;
}

/* What changes the times or the correlation id of some records; of those with a number only the id is kept. */
static void finish_records(const struct record_source *s, const struct record_cursor *c, struct tm_batch *batch)
{
    const struct tm_signature *const signatures = s->source.signatures->rows;

    for (uint32_t i = 0; i < batch->count; i++) {
        struct tm_raw_record raw = { .signature = 0 };

        if (!is_to_finish(s, signatures[batch->signature[i]].flags))
            continue;
        tm_batch_get(batch, i, &raw);
        tm_fill_record(s->source.signatures, &raw);
        s->finish.record(s->finish.to, &c->track, &raw);
        batch->correlation[i] = raw.record.correlation;
    }
    if (batch->has_other && is_to_finish(s, batch->other.record.flags))
        s->finish.record(s->finish.to, &c->track, &batch->other);
}

/* Do for a batch what is done with each single record.  Counting columns takes a third of the instructions that it takes
 * with records that are filled in first. */
static void finish_batch(struct record_cursor *c, struct tm_batch *batch)
{
    const struct record_source *const s = (const struct record_source *)c->base.source;
    struct tm_span_order *order;

    if (s->finish.record)
        finish_records(s, c, batch);
    order = c->base.counts ? order_of(c) : NULL;
    if (!order)
        return;
    tm_span_order_take_batch(order, s->source.trace, s->source.signatures, batch);
    if (batch->has_other)
        tm_span_order_take(order, s->source.trace, &batch->other.record);
}

static tm_status next_stored_batch(struct tm_cursor *cursor, struct tm_batch *batch)
{
    struct record_cursor *const c = (struct record_cursor *)cursor;
    const struct record_source *const s = (const struct record_source *)cursor->source;
    struct tm_raw_record raw;

    if (!c->clock.clock && !(s->finish.record && !s->finish.flags)) {
        batch->is_last = !tm_record_store_next_batch(&c->place, batch);
        finish_batch(c, batch);
        return cursor->source->trace->run->error.status;
    }
    while (batch->count < TM_BATCH_RECORDS && !batch->has_other && !batch->is_last) {
        batch->is_last = !(c->clock.clock ? next_on_device_clock(c, &raw) : next_recorded(c, &raw));
        if (!batch->is_last)
            (void)tm_batch_put(batch, cursor->source->signatures, &raw);
    }
    return cursor->source->trace->run->error.status;
}

/* A tm_read_clock. */
static void read_clock(void *from, struct tm_device_clock *clock, uint64_t track)
{
    const struct record_source *const s = from;
    struct tm_record_place place;
    struct tm_raw_record raw;

    tm_record_store_begin(s->store, track, &place);
    while (tm_record_store_next(&place, &raw))
        if (is_op(&raw.record))
            tm_device_clock_take(clock, raw.record.start_ps, place.has_times ? &place.times : NULL);
    tm_record_store_end(&place);
}

static tm_status give_stored_arguments(struct tm_cursor *cursor, struct tm_raw_record *raw)
{
    const struct record_source *const s = (const struct record_source *)cursor->source;
    uint8_t *bytes;
    const tm_status st = tm_record_store_own(&((struct record_cursor *)cursor)->place, raw, &bytes);

    if (st != TM_OK || !s->finish.own || !raw->own.length)
        return st;
    return s->finish.own(s->finish.to, &raw->record, bytes, raw->own.length);
}

static void free_stored_source(struct tm_source *source)
{
    struct record_source *const s = (struct record_source *)source;

    tm_device_clock_free(s->clock);
    tm_record_store_free(s->store);
    tm_give(&source->trace->run->budget, TM_ACCOUNT_INPUT, s, sizeof(*s));
}

static const struct tm_source_type record_source_type = {
    .name = "records",
    .open = open_stored_track,
    .next = next_stored_record,
    .next_batch = next_stored_batch,
    .own = give_stored_arguments,
    .close = close_stored_track,
    .free = free_stored_source,
};

tm_status tm_record_source_new(struct tm_trace *trace, struct tm_record_store *store,
                               const struct tm_record_finish *finish, struct tm_source **source)
{
    struct tm_run *const run = trace->run;
    struct record_source *const s = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*s), &run->error);

    *source = NULL;
    if (!s) {
        tm_record_store_free(store);
        return run->error.status;
    }
    *s = (struct record_source){ .source = { &record_source_type, trace, tm_record_store_signatures(store) },
                                 .store = store,
                                 .finish = *finish };
    s->clock = tm_device_clock_read(trace, read_clock, s);
    if (tm_failed(run))
        free_stored_source(&s->source);
    else
        *source = &s->source;
    return run->error.status;
}
