/* SPDX-License-Identifier: Apache-2.0 */
/* A place in one line of an XSpace: events on the wire become records.  Memory: one read buffer per cursor. */
#include "stages/input/xspace_event.h"
#include "stages/resolve/classes.h"

enum {
    LINE_EVENT = 4,
    LARGEST_EVENT = 64 << 10, /* of a longer one the beginning is read, whatever the buffer */
    LEAST_BUFFER = 64,
};
/* Times after the origin: 100 days, and 5 days before it, so that every distance of two of them fits in 64 bits. */
static const int64_t last_ps = (int64_t)100 * 86400 * 1000000000000, first_ps = (int64_t)-5 * 86400 * 1000000000000;

struct xspace_cursor {
    struct tm_cursor base; /* first: a tm_cursor is cast to it */
    struct tm_xspace *x;
    struct tm_plane plane;
    uint64_t plane_number;
    struct tm_track track;
    uint64_t next_part;    /* row of more_lines, plus one; 0 = none */
    int64_t line_ps;       /* what offsets count from */
    bool line_is_outlier;  /* line_ps does not fit */
    struct tm_reader window;
    uint8_t *buffer;
    size_t buffer_bytes;
    struct tm_xevent event;
    union {
        struct tm_allocation allocation;
        struct tm_number number;
    } args;
};

static void count_some(struct xspace_cursor *c, enum tm_tally tally, uint64_t n)
{
    if (c->base.counts && n)
        tm_tally_add(&c->x->source.trace->run->tallies, tally, n);
}

static void count(struct xspace_cursor *c, enum tm_tally tally)
{
    count_some(c, tally, 1);
}

/* Go to a part of the track's timeline. */
static tm_status open_part(struct xspace_cursor *c, const struct tm_line_row *line)
{
    const struct tm_plane *plane = tm_rows_at(c->x->planes, line->plane);
    const int64_t line_ns = line->timestamp_ns - (line->timestamp_ns >= c->x->origin_ns ? c->x->origin_ns : 0);

    if (!plane)
        return c->x->source.trace->run->error.status;
    c->plane = *plane;
    c->plane_number = line->plane;
    c->next_part = line->next;
    c->line_is_outlier = __builtin_mul_overflow(line_ns, (int64_t)1000, &c->line_ps);
    tm_reader_init(&c->window, c->x->input, c->buffer, c->buffer_bytes, line->begin, line->end);
    return TM_OK;
}

static tm_status open_next_part(struct xspace_cursor *c)
{
    const struct tm_line_row *row = tm_rows_at(c->x->more_lines, c->next_part - 1);
    struct tm_line_row line;

    if (!row)
        return c->x->source.trace->run->error.status;
    line = *row;
    return open_part(c, &line);
}

static tm_status set_up(struct xspace_cursor *c, uint64_t track)
{
    struct tm_run *run = c->x->source.trace->run;
    const struct tm_track *row = tm_rows_at(c->x->source.trace->tracks, track);
    const struct tm_line_row *first = tm_rows_at(c->x->lines, track);
    struct tm_line_row line;

    if (!first || !row)
        return run->error.status;
    line = *first;
    c->track = *row;
    if (c->buffer_bytes > line.longest)
        c->buffer_bytes = line.longest > LEAST_BUFFER ? (size_t)line.longest : LEAST_BUFFER;
    c->buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, c->buffer_bytes, &run->error);
    return c->buffer ? open_part(c, &line) : run->error.status;
}

static void close_cursor(struct tm_cursor *cursor)
{
    struct xspace_cursor *c = (struct xspace_cursor *)cursor;
    struct tm_budget *budget;

    if (!c)
        return;
    budget = &c->x->source.trace->run->budget;
    tm_give(budget, TM_ACCOUNT_INPUT, c->buffer, c->buffer_bytes);
    tm_give(budget, TM_ACCOUNT_INPUT, c, sizeof(*c));
}

static struct tm_cursor *open_cursor(struct tm_source *source, uint64_t track, size_t buffer_bytes)
{
    struct tm_run *run = source->trace->run;
    struct xspace_cursor *c = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*c), &run->error);

    if (!c)
        return NULL;
    c->base = (struct tm_cursor){ .source = source, .track = track };
    c->x = (struct tm_xspace *)source;
    c->buffer_bytes = buffer_bytes;
    if (set_up(c, track) == TM_OK)
        return &c->base;
    close_cursor(&c->base);
    return NULL;
}

/* The allocator's values, as a MemoryAllocation or MemoryDeallocation bears them. */
static tm_status take_allocation(struct xspace_cursor *c, struct tm_raw *raw)
{
    static const struct { enum tm_stat stat; uint32_t has; size_t offset; } numbers[] = {
        { TM_STAT_BYTES_RESERVED, TM_HAS_RESERVED, offsetof(struct tm_allocation, bytes_reserved) },
        { TM_STAT_BYTES_ALLOCATED, TM_HAS_ALLOCATED, offsetof(struct tm_allocation, bytes_allocated) },
        { TM_STAT_BYTES_AVAILABLE, TM_HAS_AVAILABLE, offsetof(struct tm_allocation, bytes_available) },
        { TM_STAT_PEAK_BYTES, TM_HAS_PEAK, offsetof(struct tm_allocation, peak_bytes_in_use) },
        { TM_STAT_REQUESTED_BYTES, TM_HAS_REQUESTED, offsetof(struct tm_allocation, requested_bytes) },
        { TM_STAT_ALLOCATION_BYTES, TM_HAS_ALLOCATION, offsetof(struct tm_allocation, allocation_bytes) },
        { TM_STAT_ADDRESS, TM_HAS_ADDRESS, offsetof(struct tm_allocation, address) },
    };
    static const struct { enum tm_stat stat; size_t offset; } texts[] = {
        { TM_STAT_ALLOCATOR_NAME, offsetof(struct tm_allocation, allocator) },
        { TM_STAT_TF_OP, offsetof(struct tm_allocation, op) },
        { TM_STAT_SHAPE, offsetof(struct tm_allocation, shape) },
        { TM_STAT_REGION_TYPE, offsetof(struct tm_allocation, region) },
    };
    struct tm_allocation *a = &c->args.allocation;
    tm_status st = TM_OK;

    *a = (struct tm_allocation){ .has = 0 };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (tm_xevent_has(&c->event, numbers[i].stat)) {
            a->has |= numbers[i].has;
            memcpy((char *)a + numbers[i].offset, &c->event.ints[numbers[i].stat], sizeof(int64_t));
        }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && st == TM_OK; i++) {
        tm_strid name = 0;

        if (tm_xevent_has(&c->event, texts[i].stat))
            st = tm_xevent_text(c->x, c->plane_number, &c->event.texts[texts[i].stat], &name);
        memcpy((char *)a + texts[i].offset, &name, sizeof(name));
    }
    if (tm_xevent_has(&c->event, TM_STAT_FRAGMENTATION)) {
        a->has |= TM_HAS_FRAGMENTATION;
        a->fragmentation = c->event.doubles[TM_STAT_FRAGMENTATION];
    }
    if (tm_xevent_has(&c->event, TM_STAT_INDEX_ON_HOST)) {
        a->has |= TM_HAS_INDEX_ON_HOST;
        a->index_on_host = c->event.ints[TM_STAT_INDEX_ON_HOST];
    }
    raw->args = a;
    raw->record.args_length = sizeof(*a);
    return st;
}

static void take_number(struct xspace_cursor *c, enum tm_stat stat, struct tm_raw *raw)
{
    c->args.number.value = c->event.ints[stat];
    raw->args = &c->args.number;
    raw->record.args_length = sizeof(c->args.number);
}

/* Everything of an event that its statistics tell. */
static tm_status take_stats(struct xspace_cursor *c, uint32_t op_config, struct tm_raw *raw)
{
    const struct tm_xevent *e = &c->event;
    struct tm_record *r = &raw->record;
    const bool on_host = c->track.side == TM_SIDE_HOST;

    r->flags = e->flags;
    if (on_host && raw->traits & (TM_TRAIT_ALLOC | TM_TRAIT_FREE))
        return take_allocation(c, raw);
    if (r->flags & TM_FLAG_CORRELATION)
        r->correlation = (uint64_t)e->ints[TM_STAT_CORRELATION_ID];
    else if (r->flags & TM_FLAG_RUN_ID && c->track.line == TM_LINE_TPU_MODULES)
        r->correlation = tm_run_key(e->ints[TM_STAT_RUN_ID], c->x->source.trace->devices[c->track.device].ordinal);
    else if (r->flags & TM_FLAG_RUN_ID && raw->traits & TM_TRAIT_ENQUEUE)
        r->correlation = tm_run_key(e->ints[TM_STAT_RUN_ID],
                                    tm_xevent_has(e, TM_STAT_DEVICE_ORDINAL) ? e->ints[TM_STAT_DEVICE_ORDINAL] : 0);
    else if (r->flags & TM_FLAG_RUN_ID && on_host && r->flags & TM_FLAG_HLO_OP) /* a CPU op: its execution */
        r->correlation = tm_run_key(e->ints[TM_STAT_RUN_ID],
                                    tm_xevent_has(e, TM_STAT_DEVICE_ORDINAL) ? e->ints[TM_STAT_DEVICE_ORDINAL] : 0);
    if (r->flags & TM_FLAG_STEP && on_host) {
        if (tm_xevent_has(e, TM_STAT_STEP_NUM))
            take_number(c, TM_STAT_STEP_NUM, raw);
    } else if (r->flags & TM_FLAG_GROUP) {
        take_number(c, TM_STAT_GROUP_ID, raw);
    } else if (tm_xevent_has(e, TM_STAT_SIZE) && e->texts[TM_STAT_SIZE].kind == TM_XTEXT_NONE) {
        take_number(c, TM_STAT_SIZE, raw);
    }
    /* Of host events only CPU ops and executions are told apart by more than their name. */
    if (on_host && (r->flags & TM_FLAG_CORRELATION || !(r->flags & TM_FLAG_HLO_OP)) &&
        !tm_xevent_has(e, TM_STAT_MODULE_NAME))
        return TM_OK;
    return tm_xevent_config(c->x, c->plane_number, e, op_config, &r->config);
}

/* Place the event in time.  false: it has no place, and is in a tally. */
static bool take_times(struct xspace_cursor *c, struct tm_record *r)
{
    int64_t end_ps;

    if (c->event.is_aggregated) {
        count(c, TM_TALLY_AGGREGATED_EVENT);
        return false;
    }
    r->dur_ps = c->event.duration_ps;
    if (r->dur_ps < 0) {
        count(c, TM_TALLY_NEGATIVE_DURATION);
        r->dur_ps = 0;
    }
    if (c->line_is_outlier || __builtin_add_overflow(c->line_ps, c->event.offset_ps, &r->start_ps) ||
        __builtin_add_overflow(r->start_ps, r->dur_ps, &end_ps) || r->start_ps < first_ps || end_ps > last_ps) {
        count(c, TM_TALLY_CLOCK_OUTLIER);
        return false;
    }
    if (r->start_ps < 0)
        count(c, TM_TALLY_NEGATIVE_START);
    r->kind = r->dur_ps ? TM_SPAN : TM_INSTANT;
    return true;
}

/* Turn the event that was read into a record.  *kept false: it is in a tally instead. */
static tm_status make_record(struct xspace_cursor *c, struct tm_raw *raw, bool *kept)
{
    const void *row;
    const struct tm_event_row *metadata;
    uint32_t op_config = 0;
    tm_status st;

    *raw = (struct tm_raw){ .record = { .track = (uint32_t)c->base.track } };
    *kept = take_times(c, &raw->record);
    if (!*kept)
        return TM_OK;
    st = tm_index_get(c->x->events, tm_metadata_key(c->plane_number, c->event.metadata_id), &row);
    if (st != TM_OK)
        return st;
    metadata = row;
    if (metadata && metadata->id == c->event.metadata_id && metadata->plane == c->plane_number) {
        raw->record.name = metadata->name;
        raw->traits = metadata->traits;
        op_config = metadata->config;
    } else {
        count(c, TM_TALLY_NO_METADATA);
    }
    raw->record.config = op_config;
    return c->event.has ? take_stats(c, op_config, raw) : TM_OK;
}

/* The bytes of an event: in the window, or in the scratch memory where it is larger than the buffer. */
static tm_status event_bytes(struct xspace_cursor *c, size_t length, struct tm_wire *view)
{
    size_t got = 0;
    tm_status st;

    if (length <= c->buffer_bytes)
        return tm_reader_peek(&c->window, length, view);
    st = tm_input_read(c->x->input, c->x->scratch, length, tm_reader_offset(&c->window), &got);
    *view = (struct tm_wire){ c->x->scratch, c->x->scratch + got };
    return st;
}

/* Read an event of `length` bytes at the window's place.  Of a very long one only the fields and statistics at its
 * beginning are read: numbers come first. */
static tm_status read_event(struct xspace_cursor *c, uint64_t length)
{
    const bool is_cut = length > LARGEST_EVENT;
    struct tm_wire view;
    bool damaged = false;
    tm_status st = event_bytes(c, is_cut ? LARGEST_EVENT : (size_t)length, &view);

    if (st == TM_OK)
        st = tm_xevent_read(c->x, &c->plane, c->plane_number, view, &c->event, &damaged);
    if (is_cut)
        count(c, TM_TALLY_LONG_VALUE);
    else if (damaged)
        count(c, TM_TALLY_BAD_FIELD);
    count_some(c, TM_TALLY_UNKNOWN_FIELD, c->event.unknown_fields);
    if (c->base.counts)
        c->x->source.trace->run->events_read++;
    return st;
}

static tm_status next_record(struct tm_cursor *cursor, struct tm_raw *raw, bool *more)
{
    struct xspace_cursor *c = (struct xspace_cursor *)cursor;
    bool kept = false;

    while (!kept) {
        struct tm_head head;
        bool damaged;
        tm_status st = tm_reader_head(&c->window, &head, more, &damaged);

        if (st != TM_OK)
            return st;
        /* Damage was noted by the scan: what remains of that line cannot be trusted. */
        if (!*more || damaged) {
            *more = c->next_part != 0;
            st = *more ? open_next_part(c) : TM_OK;
            if (st != TM_OK || !*more)
                return st;
            continue;
        }
        if (head.type != TM_WIRE_LEN)
            continue;
        if (head.number != LINE_EVENT) {
            tm_reader_skip(&c->window, head.value);
            continue;
        }
        st = read_event(c, head.value);
        if (st == TM_OK)
            st = make_record(c, raw, &kept);
        if (st != TM_OK)
            return st;
        tm_reader_skip(&c->window, head.value);
    }
    return TM_OK;
}

static void free_source(struct tm_source *source)
{
    struct tm_xspace *x = (struct tm_xspace *)source;
    struct tm_budget *budget;

    if (!x)
        return;
    budget = &source->trace->run->budget;
    tm_rows_free(x->planes);
    tm_rows_free(x->lines);
    tm_rows_free(x->more_lines);
    tm_give(budget, TM_ACCOUNT_METADATA, x->timelines, x->timelines ? TM_TIMELINE_SLOTS * sizeof(*x->timelines) : 0);
    tm_index_free(x->stats);
    tm_index_free(x->events);
    tm_give(budget, TM_ACCOUNT_METADATA, x->config_slots, x->config_slot_count * sizeof(*x->config_slots));
    tm_give(budget, TM_ACCOUNT_METADATA, x->scratch, x->scratch_bytes);
    tm_give(budget, TM_ACCOUNT_METADATA, x, sizeof(*x));
}

const struct tm_source_type tm_xspace_source_type = {
    .name = "xspace",
    .open = open_cursor,
    .next = next_record,
    .close = close_cursor,
    .free = free_source,
};
