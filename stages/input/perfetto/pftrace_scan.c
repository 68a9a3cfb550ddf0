/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a Perfetto trace once, from its start to its end.  A slice is two packets: its start waits in a pool until its
 * end comes, so most slices are stored as whole spans, which take 12 bytes.  Where the pool is full, or a track goes
 * back in time, starts and ends are stored as halves, and joined at the end (tm_pairs_join), with the same result.
 * Memory: the pool, and what the reader, the state, the tracks and the store have. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/argument_templates.h"
#include "stages/input/formats.h"
#include "stages/input/perfetto/pftrace_event.h"
#include "stages/input/perfetto/pftrace_tracks.h"
#include "stages/input/records/record_store.h"
#include "stages/resolve/classes.h"

enum {
    OPEN_MOST = 512,      /* starts in the pool */
    OPEN_OWN_BYTES = 384, /* arguments of one */
    NAME_MOST = 4096,
    OTHERS_MOST = 32, /* kinds of packets that are counted apart */
    HOST_SHIFT = 40,  /* of correlation ids, as the writer of this program joins them */
    DEVICE_FACTS_MOST = 192,
    RENDER_STAGES = 53, /* field of TracePacket: kernels, which the writer of this program adds to their slices */
};

static const int64_t ns_per_s = 1000000000, latest_first_ns = INT64_C(3600) * 1000000000;
static const uint64_t own_flow = UINT64_C(1) << 63; /* flow ids that this program made from launches */

/* A slice that has started. */
struct open_span {
    struct tm_raw_record raw;
    union tm_args args;
    struct tm_device_times times;
    bool has_times;
    uint32_t stack; /* the track in whose slices it nests */
    uint32_t outer; /* the one around it, plus one; of a free place the next free one; 0 = none */
    uint32_t own_length;
    uint8_t own[OPEN_OWN_BYTES];
};

struct other_packets {
    uint32_t field;
    uint64_t count;
};

/* Facts of the file about devices: pipeline/engine/file_facts.c. */
struct device_fact {
    char host[64]; /* "" = of the only one */
    char what[24]; /* "0": the ids and figures of some devices; "0_model", "0_vendor" */
    char value[512];
};

struct scan {
    struct tm_run *run;
    struct tm_trace *trace;
    struct tm_input *input;
    struct tm_pftrace_reader *reader;
    struct tm_pftrace_state *state;
    struct tm_pftrace_tracks tracks;
    struct tm_pftrace_events *events;
    struct tm_pftrace_known_events *known;
    uint64_t known_state, redeclared; /* what events depend on besides their bytes; how often tracks have changed */
    struct tm_tallies tallies_before; /* the event that is read, which may be stored */
    struct tm_record_store *store;
    struct tm_configs *configs;
    struct tm_pftrace_event event;
    struct tm_raw_record raw; /* of it */
    union tm_args args;
    struct tm_device_times times;
    struct tm_fact_numbers from; /* of raw */
    bool has_times, has_origin, is_xspace, may_learn;
    uint32_t origin; /* enum tm_origin, of the profile that the trace was made from; TM_ORIGIN_COUNT = not recorded */
    tm_strid flow_name, no_thread;
    int64_t origin_ns;
    struct open_span *pool; /* OPEN_MOST */
    uint32_t free_place;    /* plus one */
    uint8_t numbers[TM_TEMPLATE_NUMBERS_MOST];
    char name[NAME_MOST];
    struct other_packets others[OTHERS_MOST];
    uint32_t other_count;
    struct device_fact *device_facts; /* DEVICE_FACTS_MOST */
    size_t device_fact_count;
    uint8_t list[TM_ARGUMENTS_MOST]; /* of arrows, counters, joined lists */
};

static void count(struct scan *s, enum tm_tally tally)
{
    tm_tally_add(&s->run->tallies, tally, 1);
}

static struct tm_pftrace_track *change(struct scan *s, uint32_t track)
{
    return tm_rows_change(s->tracks.tracks, track);
}

static struct tm_pftrace_track track_row(struct scan *s, uint32_t track)
{
    return *(const struct tm_pftrace_track *)tm_rows_at(s->tracks.tracks, track);
}

/* --- the pool --- */

static void empty_pool(struct scan *s)
{
    for (uint32_t i = 0; i < OPEN_MOST; i++)
        s->pool[i].outer = i + 1 < OPEN_MOST ? i + 2 : 0;
    s->free_place = 1;
}

static void give_place(struct scan *s, uint32_t place)
{
    s->pool[place].outer = s->free_place;
    s->free_place = place + 1;
}

static void add(struct scan *s, const struct tm_raw_record *raw, const struct tm_device_times *times)
{
    if (times && raw->record.class == TM_CLASS_UNRESOLVED)
        tm_record_store_add_timed(s->store, raw, times);
    else
        tm_record_store_add(s->store, raw);
}

static struct tm_raw_record raw_of(struct open_span *span)
{
    struct tm_raw_record raw = span->raw;

    raw.args = &span->args;
    raw.own = (struct tm_arguments){ span->own, span->own_length };
    return raw;
}

/* A half has its arguments as a list: those of the other one are appended. */
static void make_list(struct scan *s, struct tm_raw_record *raw)
{
    struct tm_record *const r = &raw->record;

    if (!(r->flags & TM_FLAG_TEMPLATE))
        return;
    raw->own = tm_arguments_whole(s->trace->templates, r->common, raw->own,
                                  r->flags & TM_FLAG_CORRELATION ? r->correlation : 0, s->list);
    r->common = 0;
    r->flags &= (uint16_t)~TM_FLAG_TEMPLATE;
}

static_assert((int)TM_TEMPLATE_WHOLE_MOST <= (int)TM_ARGUMENTS_MOST, "there is room for the list of a template");

/* Halves of a lane are on the lane until they are joined: they do not nest in slices of its thread. */
static void add_half(struct scan *s, struct tm_raw_record raw, uint32_t stack)
{
    make_list(s, &raw);
    raw.record.kind = TM_BEGIN;
    raw.record.track = stack;
    add(s, &raw, NULL);
}

/* All starts of a track become halves, the outermost first. */
static void halve_track(struct scan *s, uint32_t track)
{
    struct tm_pftrace_track *const row = change(s, track);
    uint32_t at = row->top, inner = 0;

    row->top = 0;
    while (at) { /* reverse the chain */
        const uint32_t outer = s->pool[at - 1].outer;

        s->pool[at - 1].outer = inner;
        inner = at;
        at = outer;
    }
    for (at = inner; at;) {
        const uint32_t next = s->pool[at - 1].outer;

        add_half(s, raw_of(&s->pool[at - 1]), track);
        give_place(s, at - 1);
        at = next;
    }
}

/* out: a place for a start; all others become halves if the pool is full */
static uint32_t take_place(struct scan *s)
{
    uint32_t place;

    if (!s->free_place)
        for (uint32_t i = 0; i < OPEN_MOST; i++)
            halve_track(s, s->pool[i].stack); /* what is already halved is no longer open */
    place = s->free_place - 1;
    s->free_place = s->pool[place].outer;
    return place;
}

/* --- times --- */

/* The first event determines the origin of times: a clock that runs since the machine was started is not readable. */
static void set_origin(struct scan *s, int64_t ns)
{
    int64_t rest = ns % ns_per_s;

    s->has_origin = true;
    rest += rest < 0 ? ns_per_s : 0;
    if (!s->tracks.is_own && (ns > latest_first_ns || ns < -latest_first_ns) && ns > INT64_MIN / 2)
        s->origin_ns = ns - rest;
}

/* out: false: it has no place in time, and is in a tally */
static bool start_of(struct scan *s, int64_t ns, int64_t *start_ps)
{
    int64_t passed;

    if (!s->has_origin)
        set_origin(s, ns);
    if (!__builtin_sub_overflow(ns, s->origin_ns, &passed) &&
        !__builtin_mul_overflow(passed, INT64_C(1000), start_ps) && tm_time_fits(*start_ps, 0))
        return true;
    count(s, TM_TALLY_CLOCK_OUTLIER);
    return false;
}

/* --- a record --- */

static tm_strid find_ref(void *to, uint64_t plane, uint64_t ref)
{
    (void)to;
    (void)plane;
    return (tm_strid)ref; /* it is the handle */
}

static bool is_named(struct scan *s, const char *name)
{
    char text[64];
    const size_t length = tm_pftrace_text(s->events, s->event.name, text, sizeof(text));

    return length == strlen(name) && memcmp(text, name, length) == 0;
}

/* The class that a category gives, and the device of its events: in PyTorch's profiles, also converted ones. */
static void take_category(struct scan *s, uint32_t track)
{
    const struct tm_pftrace_event *const e = &s->event;
    struct tm_record *const r = &s->raw.record;
    struct tm_category category;
    struct tm_pftrace_track *row;

    if (!e->category_length || !tm_category_of(e->category, e->category_length, &category)) {
        if (s->tracks.is_own && e->category_length == 7 && memcmp(e->category, "derived", 7) == 0)
            r->class = TM_CLASS_DERIVED; /* an earlier conversion found that */
        return;
    }
    r->class = (uint8_t)category.class;
    if (category.side != TM_SIDE_DEVICE && !category.accelerator)
        return;
    row = change(s, track);
    if (row->has_given_device)
        return;
    row->has_given_device = true;
    row->accelerator = (uint8_t)category.accelerator;
    if (tm_facts_have(&e->facts, TM_STAT_DEVICE))
        row->given_ordinal = e->facts.ints[TM_STAT_DEVICE];
}

/* Launches that a file of this program joins, where arguments were not written. */
static void take_own_flow(struct scan *s, uint64_t flow)
{
    struct tm_record *const r = &s->raw.record;
    const uint64_t correlation = flow & (own_flow - 1) & ((UINT64_C(1) << HOST_SHIFT) - 1);

    if (flow >> 62 & 1 || !correlation)
        return;
    r->flags |= TM_FLAG_CORRELATION;
    r->correlation = correlation;
}

typedef void take_flow(struct scan *s, uint64_t id, bool is_last);

/* Each flow of the event. */
static void for_flows(struct scan *s, take_flow *take)
{
    struct tm_wire bytes = s->event.bytes;
    struct tm_field field;

    while (tm_wire_next(&bytes, &field)) {
        const uint64_t number = field.key >> TM_WIRE_TYPE_BITS;
        const bool is_last = number == TM_PFTRACE_FIELD_ENDING_FLOWS || number == TM_PFTRACE_FIELD_OLD_ENDING_FLOWS;
        const bool is_fixed = number == TM_PFTRACE_FIELD_FLOWS || number == TM_PFTRACE_FIELD_ENDING_FLOWS;
        struct tm_wire packed;
        uint64_t id;

        if (!is_last && !is_fixed && number != TM_PFTRACE_FIELD_OLD_FLOWS)
            continue;
        if ((field.key & 7) != TM_WIRE_LEN) {
            take(s, field.value, is_last);
            continue;
        }
        packed = tm_wire_of(&field);
        while (is_fixed && packed.end - packed.at >= 8) {
            take(s, tm_wire_fixed64(packed.at), is_last);
            packed.at += 8;
        }
        while (!is_fixed && packed.at < packed.end && tm_wire_varint(&packed, &id))
            take(s, id, is_last);
    }
}

static void take_launch_flow(struct scan *s, uint64_t id, bool is_last)
{
    (void)is_last;
    if (id & own_flow)
        take_own_flow(s, id);
}

/* Everything but its times, its launch and its arguments. */
static void make_record(struct scan *s, uint32_t holder, uint8_t kind)
{
    struct tm_pftrace_event *const e = &s->event;
    struct tm_record *const r = &s->raw.record;
    struct tm_fact_maker maker = { .trace = s->trace, .configs = s->configs, .ref = find_ref };

    s->raw =
        (struct tm_raw_record){ .record = { .kind = kind, .name = e->name, .track = holder }, .traits = e->traits };
    take_category(s, holder);
    maker.given = (enum tm_class)r->class;
    maker.name = s->name;
    if (maker.given == TM_CLASS_COPY || e->traits & TM_TRAIT_STEP_NAME ||
        tm_facts_have(&e->facts, TM_STAT_HLO_CATEGORY))
        maker.name_length = tm_pftrace_text(s->events, e->name, s->name, sizeof(s->name));
    if (tm_facts_have(&e->facts, TM_STAT_BYTES) && is_named(s, "[memory]"))
        r->class = e->facts.ints[TM_STAT_BYTES] < 0 ? TM_CLASS_FREE : TM_CLASS_ALLOC;
    tm_facts_take(&maker, &e->facts, &s->raw, &s->args, &s->from);
    s->has_times = !s->tracks.is_own && tm_device_times_of(&e->facts, &s->times); /* a conversion has used them */
    if (kind == TM_INSTANT && r->class == TM_CLASS_UNRESOLVED)
        r->class = TM_CLASS_INSTANT;
    r->flags |= kind == TM_INSTANT ? TM_FLAG_INSTANT : 0;
    r->flags |= e->is_unfinished ? TM_FLAG_OPEN : 0;
}

/* What it is joined with its launch by. */
static void take_launch(struct scan *s, uint32_t track)
{
    struct tm_record *const r = &s->raw.record;
    const uint32_t host = ((const struct tm_pftrace_track *)tm_rows_at(s->tracks.tracks, track))->host;

    if (s->tracks.is_own && s->event.has_flows && !(r->flags & (TM_FLAG_CORRELATION | TM_FLAG_RUN_ID)))
        for_flows(s, take_launch_flow);
    if (host && r->flags & TM_FLAG_CORRELATION && r->correlation >> HOST_SHIFT == 0)
        r->correlation |= (uint64_t)host << HOST_SHIFT;
}

/* --- events seen before --- */

/* The integer in an event that a number of its record is.  out: false: there is another one, or it is none */
static bool set_place(uint8_t *at, uint8_t *bytes, const struct tm_pftrace_number *number)
{
    if (*bytes || !number->bytes)
        return false;
    *at = (uint8_t)number->at;
    *bytes = number->bytes;
    return true;
}

/* The numbers of a known event, and of those in its bytes the ones that may differ, which move to the front.  A number
 * that comes from several places is none.
 * out: how many; SIZE_MAX: its bytes do not identify the event */
static size_t find_numbers(struct scan *s, struct tm_fact_numbers from, struct tm_pftrace_known *known,
                           struct tm_pftrace_number numbers[TM_PFTRACE_NUMBERS_MOST])
{
    const size_t count = tm_pftrace_event_numbers(s->events, &s->event, numbers);
    size_t free = 0;

    if (count == SIZE_MAX)
        return SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct tm_pftrace_number number = numbers[i];
        const bool is_fact = !number.is_flow && number.stat;
        const bool is_correlation = is_fact && number.stat == from.correlation;
        const bool is_number = is_fact && number.stat == from.number;

        if ((is_correlation && !set_place(&known->correlation_at, &known->correlation_bytes, &number)) ||
            (is_number && !set_place(&known->number_at, &known->number_bytes, &number)))
            return SIZE_MAX;
        if (number.bytes && (!is_fact || is_correlation || is_number))
            numbers[free++] = number;
    }
    return (!from.correlation || known->correlation_bytes) && (!from.number || known->number_bytes) ? free : SIZE_MAX;
}

/* Store the event that has just been read.  One that something was counted for is not stored, as that must happen each
 * time; nor are arguments, which are needed as they are. */
static void learn(struct scan *s, uint32_t track, uint32_t type)
{
    const struct tm_pftrace_event *const e = &s->event;
    struct tm_pftrace_known known = { .track = track, .type = (uint8_t)type, .has_flows = e->has_flows };
    struct tm_pftrace_number numbers[TM_PFTRACE_NUMBERS_MOST];
    struct tm_fact_numbers from = { .correlation = TM_STAT_UNKNOWN };
    size_t count;

    if (!s->may_learn || e->has_missing || e->legacy.is_any || e->has_extra_values || e->type != type ||
        (s->trace->keeps_arguments && (type != TM_PFTRACE_END || e->first_annotation)) ||
        memcmp(&s->tallies_before, &s->run->tallies, sizeof(s->tallies_before)) != 0)
        return;
    if (type != TM_PFTRACE_END) {
        from = s->from;
        known.raw = s->raw;
        known.args = s->args;
        known.times = s->times;
        known.has_times = s->has_times;
    }
    count = find_numbers(s, from, &known, numbers);
    if (count != SIZE_MAX)
        tm_pftrace_known_learn(s->known, s->known_state, e->bytes, numbers, count, &known);
}

/* The record of a known event. */
static void take_known(struct scan *s, const struct tm_pftrace_known *known)
{
    const struct tm_wire bytes = s->event.bytes;

    s->raw = known->raw;
    if (known->raw.args) {
        s->args = known->args;
        s->raw.args = &s->args;
    }
    s->has_times = known->has_times;
    if (known->has_times)
        s->times = known->times;
    if (known->correlation_bytes)
        s->raw.record.correlation =
            (uint64_t)tm_pftrace_known_number(bytes, known->correlation_at, known->correlation_bytes);
    if (known->number_bytes)
        tm_raw_number(&s->raw, &s->args, tm_pftrace_known_number(bytes, known->number_at, known->number_bytes));
    take_launch(s, known->track);
}

/* Its list of arguments, or the numbers of a template of it. */
static void take_list(struct scan *s)
{
    struct tm_record *const r = &s->raw.record;

    if (!s->trace->keeps_arguments)
        return;
    s->raw.own = s->event.list;
    r->common = tm_argument_templates_take(
        s->trace->templates, r->name, r->flags & TM_FLAG_CORRELATION ? r->correlation : 0, &s->raw.own, s->numbers);
    r->flags |= r->common ? TM_FLAG_TEMPLATE : 0;
}

/* --- slices --- */

/* Of slices with the same times the outer one must be stored first, but ends last: it is stored when the inner one
 * starts. */
static bool starts_with(const struct scan *s, const struct tm_pftrace_track *row, int64_t start_ps)
{
    return row->top && s->pool[row->top - 1].raw.record.start_ps == start_ps;
}

static void begin_slice(struct scan *s, uint32_t stack, int64_t start_ps)
{
    struct tm_pftrace_track *row = change(s, stack);
    struct open_span *span;
    uint32_t place;

    s->raw.record.start_ps = start_ps;
    if (starts_with(s, row, start_ps)) {
        halve_track(s, stack);
        row = change(s, stack);
    }
    if (row->is_halved || s->raw.own.length > OPEN_OWN_BYTES) {
        halve_track(s, stack);
        add_half(s, s->raw, stack);
        return;
    }
    place = take_place(s);
    span = &s->pool[place];
    span->raw = s->raw;
    if (s->raw.args)
        span->args = s->args;
    if (s->has_times)
        span->times = s->times;
    span->has_times = s->has_times;
    span->stack = stack;
    span->own_length = (uint32_t)s->raw.own.length;
    if (span->own_length)
        memcpy(span->own, s->raw.own.bytes, span->own_length);
    row = change(s, stack); /* taking a place may have changed other tracks */
    span->outer = row->top;
    row->top = place + 1;
}

/* Arguments of an end follow those of its start. */
static void join_lists(struct scan *s, struct tm_raw_record *raw, struct tm_arguments end)
{
    make_list(s, raw);
    if (raw->own.length + end.length > sizeof(s->list)) {
        count(s, TM_TALLY_LONG_ARGUMENTS);
        return;
    }
    memmove(s->list, raw->own.bytes, raw->own.length);
    memcpy(s->list + raw->own.length, end.bytes, end.length);
    raw->own = (struct tm_arguments){ s->list, raw->own.length + end.length };
}

static void add_end_half(struct scan *s, uint32_t stack, int64_t end_ps)
{
    struct tm_raw_record raw = { .record = { .kind = TM_END, .track = stack, .start_ps = end_ps } };

    raw.own = s->event.list;
    add(s, &raw, NULL);
}

/* The innermost slice of a track ends. */
static void end_slice(struct scan *s, uint32_t stack, int64_t end_ps)
{
    struct tm_pftrace_track *const row = change(s, stack);
    const uint32_t place = row->top - 1;
    struct open_span *span;
    struct tm_raw_record raw;

    if (!row->top) {
        add_end_half(s, stack, end_ps);
        return;
    }
    span = &s->pool[place];
    row->top = span->outer;
    raw = raw_of(span);
    raw.record.dur_ps = end_ps - raw.record.start_ps;
    raw.record.kind = raw.record.dur_ps ? TM_SPAN : TM_INSTANT;
    if (s->event.list.length)
        join_lists(s, &raw, s->event.list);
    add(s, &raw, span->has_times ? &span->times : NULL);
    give_place(s, place);
}

/* --- arrows --- */

static void add_flow(struct scan *s, uint32_t holder, int64_t time_ps, uint64_t id, enum tm_kind kind, bool is_chained,
                     bool is_enclosed)
{
    struct tm_pftrace_event *const e = &s->event;
    struct tm_raw_record raw = { .record = { .kind = (uint8_t)kind,
                                             .class = TM_CLASS_FLOW,
                                             .start_ps = time_ps,
                                             .correlation = id ? id : 1,
                                             .name = is_chained ? s->flow_name : e->name,
                                             .flags = is_chained ? TM_FLAG_CHAINED : 0 } };
    struct tm_arguments_builder b;

    raw.record.track = tm_pftrace_flows(&s->tracks);
    s->run->events_read += is_chained; /* it came with a slice, which counts itself */
    count(s, TM_TALLY_FLOW_EVENT);
    if (s->trace->keeps_arguments) {
        tm_arguments_begin(&b, s->trace->names, s->list, sizeof(s->list));
        if (e->category_length && !is_chained)
            tm_put_event_text(&b, TM_ARGUMENT_CATEGORY, e->category, e->category_length);
        tm_put_place(&b, holder);
        if (is_enclosed)
            tm_put_enclosed(&b);
        raw.own = tm_arguments_end(&b);
    }
    if (!tm_failed(s->run))
        tm_record_store_add(s->store, &raw);
}

/* A flow of a slice: the first one of its id starts it, the others continue it.  It has no name of its own. */
static void take_slice_flow(struct scan *s, uint64_t id, bool is_last)
{
    add_flow(s, s->raw.record.track, s->raw.record.start_ps, id, is_last ? TM_FLOW_END : TM_FLOW_STEP, true, true);
}

/* --- counters --- */

static bool value_of(struct tm_pftrace_track *row, bool is_real, int64_t *whole, double *real)
{
    if (is_real) {
        *real *= (double)row->unit_times;
        *real += row->is_incremental ? row->real_sum : 0;
        row->real_sum = *real;
        return true;
    }
    if (__builtin_mul_overflow(*whole, (int64_t)row->unit_times, whole) ||
        (row->is_incremental && __builtin_add_overflow(*whole, row->sum, whole)))
        return false;
    row->sum = *whole;
    return true;
}

static void add_value(struct scan *s, uint32_t track, int64_t time_ps, bool is_real, int64_t whole, double real)
{
    struct tm_pftrace_track *const row = change(s, track);
    struct tm_raw_record raw = { .record = { .kind = TM_COUNTER,
                                             .class = TM_CLASS_COUNTER,
                                             .start_ps = time_ps,
                                             .track = track,
                                             .name = row->name } };
    struct tm_arguments_builder b;

    if (row->is_computed) {
        count(s, TM_TALLY_COMPUTED_ROW);
        return;
    }
    count(s, TM_TALLY_COUNTER_EVENT);
    row->has_late_name |= !row->name;
    if (!value_of(row, is_real, &whole, &real)) {
        count(s, TM_TALLY_BAD_NUMBER);
        return;
    }
    if (s->trace->keeps_arguments) {
        tm_arguments_begin(&b, s->trace->names, s->list, sizeof(s->list));
        if (is_real)
            tm_put_double(&b, 0, real);
        else
            tm_put_int(&b, 0, whole);
        raw.own = tm_arguments_end(&b);
    }
    tm_record_store_add(s->store, &raw);
}

/* Values of other counters in an event: the n-th one is of the n-th of its tracks, or of its sequence's. */
static void add_extra_values(struct scan *s, const struct tm_pftrace_sequence *sequence, int64_t time_ps, bool is_real)
{
    const enum tm_pftrace_field values = is_real ? TM_PFTRACE_FIELD_EXTRA_REAL_VALUES : TM_PFTRACE_FIELD_EXTRA_VALUES;
    const enum tm_pftrace_field tracks = is_real ? TM_PFTRACE_FIELD_EXTRA_REAL_TRACKS : TM_PFTRACE_FIELD_EXTRA_TRACKS;
    uint64_t uuids[TM_PFTRACE_EXTRA_MOST];
    size_t track_count = is_real ? sequence->extra_real_count : sequence->extra_count, at = 0;
    struct tm_wire bytes = s->event.bytes;
    struct tm_field field;
    bool has_own = false;

    memcpy(uuids, is_real ? sequence->extra_real : sequence->extra, sizeof(uuids));
    while (tm_wire_next(&bytes, &field))
        if (field.key == TM_WIRE_KEY(tracks, TM_WIRE_VARINT)) {
            track_count = has_own ? track_count : 0;
            has_own = true;
            if (track_count < TM_PFTRACE_EXTRA_MOST)
                uuids[track_count++] = field.value;
        }
    for (bytes = s->event.bytes; at < track_count && tm_wire_next(&bytes, &field);)
        if (field.key == TM_WIRE_KEY(values, is_real ? TM_WIRE_64 : TM_WIRE_VARINT)) {
            s->run->events_read++;
            add_value(s, tm_pftrace_track(&s->tracks, uuids[at]), time_ps, is_real, (int64_t)field.value,
                      tm_wire_double(field.value));
            at++;
        }
}

/* --- events that came from Chrome's format --- */

static uint64_t key_of(const struct tm_pftrace_event *e)
{
    const uint64_t parts[] = { e->legacy.id, e->category_length ? XXH3_64bits(e->category, e->category_length) : 0 };

    return XXH3_64bits(parts, sizeof(parts)) | 1;
}

/* A span that is joined by its id, on no thread. */
static void add_async(struct scan *s, uint32_t track, int64_t time_ps, enum tm_kind kind)
{
    struct tm_record *const r = &s->raw.record;
    const uint32_t async = tm_pftrace_async(&s->tracks, track);

    s->raw = (struct tm_raw_record){ .record = { .kind = (uint8_t)kind,
                                                 .class = TM_CLASS_ASYNC,
                                                 .name = s->event.name,
                                                 .track = async,
                                                 .start_ps = time_ps,
                                                 .correlation = key_of(&s->event) },
                                     .traits = s->event.traits };
    r->flags |= kind == TM_INSTANT ? TM_FLAG_INSTANT : 0;
    s->raw.own = s->event.list;
    count(s, TM_TALLY_ASYNC_EVENT);
    add(s, &s->raw, NULL);
}

static void take_complete(struct scan *s, uint32_t track, uint32_t holder, int64_t start_ps)
{
    int64_t dur_ps;

    make_record(s, holder, TM_SPAN);
    take_launch(s, track);
    take_list(s);
    s->raw.record.start_ps = start_ps;
    if (s->event.legacy.duration_us < 0 ||
        __builtin_mul_overflow(s->event.legacy.duration_us, INT64_C(1000000), &dur_ps) ||
        !tm_time_fits(start_ps, dur_ps)) {
        count(s, TM_TALLY_NEGATIVE_DURATION);
        dur_ps = 0;
    }
    s->raw.record.dur_ps = dur_ps;
    s->raw.record.kind = dur_ps ? TM_SPAN : TM_INSTANT;
    add(s, &s->raw, s->has_times ? &s->times : NULL);
}

/* The type of a slice from its phase in Chrome's format. */
static enum tm_pftrace_type type_of_phase(int32_t phase)
{
    switch (phase) {
    case 'B':
        return TM_PFTRACE_BEGIN;
    case 'E':
        return TM_PFTRACE_END;
    case 'i':
    case 'I':
    case 'R':
        return TM_PFTRACE_INSTANT;
    default:
        return TM_PFTRACE_NO_TYPE;
    }
}

static void take_phase(struct scan *s, uint32_t track, uint32_t holder, int64_t time_ps)
{
    const struct tm_pftrace_event *const e = &s->event;

    switch (e->legacy.phase) {
    case 'X':
        take_complete(s, track, holder, time_ps);
        break;
    case 's':
        add_flow(s, holder, time_ps, e->legacy.id, TM_FLOW_BEGIN, false, true);
        break;
    case 't':
        add_flow(s, holder, time_ps, e->legacy.id, TM_FLOW_STEP, false, true);
        break;
    case 'f':
        add_flow(s, holder, time_ps, e->legacy.id, TM_FLOW_END, false, e->legacy.is_bound_to_enclosing);
        break;
    case 'b':
    case 'S':
        add_async(s, track, time_ps, TM_BEGIN);
        break;
    case 'n':
    case 'T':
    case 'p':
        add_async(s, track, time_ps, TM_INSTANT);
        break;
    case 'e':
    case 'F':
        add_async(s, track, time_ps, TM_END);
        break;
    default:
        count(s, e->legacy.is_any ? TM_TALLY_OTHER_PHASE : TM_TALLY_UNKNOWN_PHASE);
    }
}

/* --- one event --- */

/* The track that an event is on. */
static uint32_t track_of_event(struct scan *s, const struct tm_pftrace_sequence *sequence)
{
    const struct tm_pftrace_event *const e = &s->event;

    if (e->legacy.has_pid || e->legacy.has_tid)
        return tm_pftrace_thread(&s->tracks, e->legacy.has_pid ? e->legacy.pid : sequence->pid,
                                 e->legacy.has_tid ? e->legacy.tid : sequence->tid);
    if (e->has_track)
        return tm_pftrace_track(&s->tracks, e->track);
    if (sequence->has_track)
        return tm_pftrace_track(&s->tracks, sequence->track);
    if (sequence->has_thread)
        return tm_pftrace_thread(&s->tracks, sequence->pid, sequence->tid);
    return tm_pftrace_track(&s->tracks, 0);
}

/* A track that goes back in time has its starts and ends stored apart. */
static void note_time(struct scan *s, uint32_t stack, int64_t ns)
{
    struct tm_pftrace_track *const row = change(s, stack);

    if (ns < row->last_ns && !row->is_halved) {
        halve_track(s, stack);
        change(s, stack)->is_halved = true;
    } else if (ns > row->last_ns) {
        row->last_ns = ns;
    }
}

/* Whether an earlier conversion wrote instants on a row, which become slices of length 0. */
static bool is_instant_row(struct scan *s, uint32_t track)
{
    const struct tm_pftrace_track row = track_row(s, track);

    return s->tracks.is_own && row.kind == TM_PFTRACE_PLAIN &&
           tm_names_are_same(s->trace->names, row.name, s->no_thread);
}

/* A slice starts or ends, or an instant is; its record is made. */
static void put_slice(struct scan *s, uint32_t type, uint32_t holder, uint32_t stack, int64_t time_ps)
{
    if (type == TM_PFTRACE_END) {
        end_slice(s, stack, time_ps);
    } else if (type == TM_PFTRACE_INSTANT) {
        count(s, TM_TALLY_INSTANT_EVENT);
        s->raw.record.start_ps = time_ps;
        add(s, &s->raw, NULL);
    } else if (type == TM_PFTRACE_BEGIN || !s->event.is_nameless) {
        begin_slice(s, stack, time_ps);
    }
    if (!s->event.has_flows || s->tracks.is_own) /* those are of launches */
        return;
    s->raw.record.track = holder;
    s->raw.record.start_ps = type == TM_PFTRACE_END ? time_ps - 1 : time_ps; /* an arrow finds the slice still open */
    for_flows(s, take_slice_flow);
}

/* A slice, an instant, or one of the older forms; its time is known. */
static void take_slice(struct scan *s, uint32_t track, int64_t ns, int64_t time_ps)
{
    struct tm_pftrace_event *const e = &s->event;
    const uint32_t holder = tm_pftrace_holder(&s->tracks, track), stack = tm_pftrace_stack(&s->tracks, track);
    const bool is_state = e->type == TM_PFTRACE_STATE;
    uint32_t type = e->type;

    if (type == TM_PFTRACE_NO_TYPE)
        type = type_of_phase(e->legacy.phase);
    if (type != TM_PFTRACE_END)
        s->run->events_read++;
    if (type == TM_PFTRACE_BEGIN || type == TM_PFTRACE_END || is_state)
        note_time(s, stack, ns);
    tm_pftrace_event_say(s->events, s->tracks.is_own, e);
    if (e->has_missing)
        count(s, TM_TALLY_NO_METADATA);
    if (is_state && change(s, stack)->top) { /* it lasts until the next one */
        const struct tm_arguments list = e->list;

        e->list.length = 0;
        end_slice(s, stack, time_ps);
        e->list = list;
    }
    switch (type) {
    case TM_PFTRACE_STATE:
    case TM_PFTRACE_BEGIN:
    case TM_PFTRACE_INSTANT:
        make_record(s, holder, type == TM_PFTRACE_INSTANT || is_instant_row(s, track) ? TM_INSTANT : TM_SPAN);
        if (!is_state)
            learn(s, track, type);
        take_launch(s, track);
        take_list(s);
        break;
    case TM_PFTRACE_END:
        learn(s, track, type);
        break;
    default:
        take_phase(s, track, holder, time_ps);
        return;
    }
    put_slice(s, type, holder, stack, time_ps);
}

/* An event that is known by its bytes. */
static void take_known_event(struct scan *s, const struct tm_pftrace_known *known, struct tm_wire bytes, bool has_time,
                             int64_t ns)
{
    const uint32_t track = known->track, type = known->type;
    struct tm_pftrace_event *const e = &s->event;
    uint32_t stack;
    int64_t time_ps;

    s->run->events_read += type != TM_PFTRACE_END;
    if (!has_time || !start_of(s, ns, &time_ps))
        return;
    e->bytes = bytes;
    e->has_flows = known->has_flows;
    e->list.length = 0;
    stack = tm_pftrace_stack(&s->tracks, track);
    if (type != TM_PFTRACE_INSTANT)
        note_time(s, stack, ns);
    if (type != TM_PFTRACE_END)
        take_known(s, known);
    put_slice(s, type, tm_pftrace_holder(&s->tracks, track), stack, time_ps);
}

/* The time of an event, which older writers give in the event. */
static bool time_of(struct scan *s, const struct tm_pftrace_packet *packet, const struct tm_pftrace_sequence *sequence,
                    bool has_time, int64_t *ns)
{
    const struct tm_pftrace_event *const e = &s->event;
    int64_t us = sequence->reference_us;

    if (packet->has_timestamp)
        return has_time; /* it is in a tally otherwise */
    if ((!e->has_delta && !e->has_absolute) || (e->has_delta && __builtin_add_overflow(us, e->delta_us, &us)) ||
        (e->has_absolute && ((us = e->absolute_us), false)) || __builtin_mul_overflow(us, INT64_C(1000), ns)) {
        count(s, TM_TALLY_MISSING_TIME);
        return false;
    }
    return true;
}

static void take_event(struct scan *s, const struct tm_pftrace_packet *packet,
                       const struct tm_pftrace_sequence *sequence, bool has_time, int64_t ns)
{
    struct tm_pftrace_event *const e = &s->event;
    const struct tm_pftrace_known *known = NULL;
    uint32_t track;
    int64_t time_ps;

    s->known_state = tm_hash_fold((uint64_t)sequence->number << 32 | sequence->generation,
                                  s->redeclared << 32 | tm_pftrace_changes(s->state) | UINT64_C(1) << 63);
    if (packet->has_timestamp)
        known = tm_pftrace_known_find(s->known, s->known_state, packet->event);
    if (known) {
        take_known_event(s, known, packet->event, has_time, ns);
        return;
    }
    s->may_learn = packet->has_timestamp && tm_pftrace_known_may_learn(s->known);
    if (s->may_learn)
        s->tallies_before = s->run->tallies;
    tm_pftrace_event_read(s->events, packet->event, e);
    if (!time_of(s, packet, sequence, has_time, &ns) || !start_of(s, ns, &time_ps)) {
        s->run->events_read += e->type != TM_PFTRACE_END;
        return;
    }
    if (e->has_extra_values) {
        add_extra_values(s, sequence, time_ps, false);
        add_extra_values(s, sequence, time_ps, true);
    }
    track = track_of_event(s, sequence);
    if (tm_failed(s->run))
        return;
    if (e->type == TM_PFTRACE_VALUE) {
        s->run->events_read++;
        if (e->has_value)
            add_value(s, track, time_ps, e->is_real, e->value, e->real);
        else
            count(s, TM_TALLY_BAD_NUMBER);
    } else if (track_row(s, track).is_computed) {
        if (e->type != TM_PFTRACE_END) {
            s->run->events_read++;
            count(s, TM_TALLY_COMPUTED_ROW);
        }
    } else {
        take_slice(s, track, ns, time_ps);
    }
}

/* --- what else packets have --- */

static void count_other(struct scan *s, uint32_t field)
{
    uint32_t i = 0;

    count(s, TM_TALLY_OTHER_PACKET);
    while (i < s->other_count && s->others[i].field != field)
        i++;
    if (i == OTHERS_MOST)
        return;
    if (i == s->other_count)
        s->others[s->other_count++] = (struct other_packets){ .field = field };
    s->others[i].count++;
}

struct attribute {
    char key[96], value[512];
    bool has_key, has_value;
};

static void copy(char *to, size_t room, const struct tm_field *field)
{
    const size_t length = field->value < room - 1 ? (size_t)field->value : room - 1;

    memcpy(to, field->bytes, length);
    to[length] = '\0';
}

/* --- facts of the file --- */

/* A file of this program that has something other than the events of a run. */
static void refuse_content(struct scan *s, const char *content)
{
    struct tm_error *const error = &s->run->error;
    const bool is_overview = strcmp(content, "overview") == 0;

    (void)tm_fail(error, TM_ERR_INPUT, -1, "the trace is %s",
                  is_overview ? "an overview, whose slices stand for many events: no figure can be computed from them"
                              : "a comparison, which has the steps of two runs side by side: it is not a run");
    tm_hint(error, is_overview ? "pass the profile that it was created from, or the parts beside it"
                               : "pass one of the two profiles that it was created from");
}

static void take_origin_name(struct scan *s, const char *name)
{
    s->origin = 0;
    while (s->origin < TM_ORIGIN_COUNT && strcmp(name, tm_origin_name[s->origin]) != 0)
        s->origin++;
}

/* "host1.device_0_model".  They come before the devices. */
static void keep_device_fact(struct scan *s, const struct attribute *a)
{
    const char *const dot = strrchr(a->key, '.'), *const key = dot ? dot + 1 : a->key;
    struct device_fact *fact;

    if (!s->tracks.is_own || strncmp(key, "device_", 7) != 0 || s->device_fact_count == DEVICE_FACTS_MOST)
        return;
    if (!s->device_facts)
        s->device_facts =
            tm_take(&s->run->budget, TM_ACCOUNT_INPUT, DEVICE_FACTS_MOST * sizeof(*s->device_facts), &s->run->error);
    if (!s->device_facts)
        return;
    fact = &s->device_facts[s->device_fact_count++];
    (void)snprintf(fact->host, sizeof(fact->host), "%.*s", dot ? (int)(dot - a->key) : 0, a->key);
    (void)snprintf(fact->what, sizeof(fact->what), "%.23s", key + 7);
    (void)snprintf(fact->value, sizeof(fact->value), "%s", a->value);
}

/* The value of " KEY=" in a text; NULL = it is not there. */
static const char *figure_of(const char *text, const char *key)
{
    char wanted[32];
    const char *found;

    (void)snprintf(wanted, sizeof(wanted), " %s=", key);
    found = strstr(text, wanted);
    return found ? found + strlen(wanted) : NULL;
}

static uint64_t whole_of(const char *text, const char *key)
{
    const char *const figure = figure_of(text, key);

    return figure ? strtoull(figure, NULL, 10) : 0;
}

static void set_capabilities(struct tm_device *d, const char *figures)
{
    const char *const capability = figure_of(figures, "capability"), *const peak = figure_of(figures, "peak_tflops");
    char *end = NULL;

    d->core_count = whole_of(figures, "cores");
    d->clock_khz = whole_of(figures, "clock_khz");
    d->memory_bytes = whole_of(figures, "memory");
    d->memory_bandwidth_bytes = whole_of(figures, "bandwidth");
    d->peak_tflops = peak ? strtod(peak, NULL) : 0;
    if (!(d->peak_tflops > 0 && d->peak_tflops < 1e9))
        d->peak_tflops = 0;
    if (capability)
        d->capability_major = (uint32_t)strtoul(capability, &end, 10);
    if (end && *end == '.')
        d->capability_minor = (uint32_t)strtoul(end + 1, NULL, 10);
}

/* "gpu:0-3,6 ...": whether an ordinal is one of them. */
static bool has_ordinal(const char *text, const char *kind, int64_t ordinal)
{
    const size_t length = strlen(kind);
    char *end;

    if (strncmp(text, kind, length) != 0 || text[length] != ':')
        return false;
    for (text += length; *text == ':' || *text == ','; text = end) {
        const int64_t from = strtoll(text + 1, &end, 10);
        const int64_t to = *end == '-' ? strtoll(end + 1, &end, 10) : from;

        if (ordinal >= from && ordinal <= to)
            return true;
    }
    return false;
}

static int64_t first_ordinal_of(struct scan *s, const char *host)
{
    for (uint32_t i = 0; i < s->tracks.host_count && host[0]; i++)
        if (strcmp(tm_names_text(s->trace->names, s->tracks.hosts[i], NAME_MOST, NULL), host) == 0)
            return s->tracks.first_ordinal[i];
    return 0;
}

/* "tpu:0=93/27520000000 ...": devices with a clock of their own, its jumps, and the largest one. */
static void take_device_clocks(struct scan *s, const struct device_fact *fact, int64_t first)
{
    for (uint32_t i = 0; i < s->trace->device_count; i++) {
        struct tm_device *const d = &s->trace->devices[i];
        char wanted[64];
        const char *found = fact->value;
        char *end;
        size_t length;

        (void)snprintf(wanted, sizeof(wanted), "%s:%" PRId64 "=", tm_device_kind_name[d->kind], d->ordinal - first);
        length = strlen(wanted);
        while (found && strncmp(found, wanted, length) != 0) {
            found = strchr(found, ' ');
            found = found ? found + 1 : NULL;
        }
        if (!found)
            continue;
        d->has_device_clock = true;
        d->clock_jumps = strtoull(found + length, &end, 10);
        d->largest_clock_jump_ps = *end == '/' ? strtoll(end + 1, NULL, 10) : 0;
    }
}

/* The devices that a fact is about get its figures, and the names that follow it. */
static void take_device_fact(struct scan *s, size_t at)
{
    const struct device_fact *const fact = &s->device_facts[at];
    const int64_t first = first_ordinal_of(s, fact->host);
    const char *model = "", *vendor = "";

    if (strcmp(fact->what, "clocks") == 0) {
        take_device_clocks(s, fact, first);
        return;
    }
    if (strchr(fact->what, '_'))
        return;
    for (size_t i = at + 1; i < s->device_fact_count && i < at + 3; i++) {
        const struct device_fact *const more = &s->device_facts[i];
        const char *const name = more->what + strlen(fact->what);

        if (strcmp(more->host, fact->host) != 0 || strncmp(more->what, fact->what, strlen(fact->what)) != 0)
            break;
        model = strcmp(name, "_model") == 0 ? more->value : model;
        vendor = strcmp(name, "_vendor") == 0 ? more->value : vendor;
    }
    for (uint32_t i = 0; i < s->trace->device_count; i++) {
        struct tm_device *const d = &s->trace->devices[i];

        if (!has_ordinal(fact->value, tm_device_kind_name[d->kind], d->ordinal - first))
            continue;
        set_capabilities(d, fact->value);
        (void)snprintf(d->model, sizeof(d->model), "%.127s", model);
        (void)snprintf(d->vendor, sizeof(d->vendor), "%.31s", vendor);
    }
}

/* A fact about the recording, as this program writes it (tm_trace_facts_add_host). */
static void take_attribute(struct scan *s, const struct attribute *a)
{
    struct tm_environment *const e = &s->trace->environment;
    const struct {
        const char *key;
        char *to;
        size_t room;
    } texts[] = {
        { "host", e->host, sizeof(e->host) },
        { "framework", e->framework, sizeof(e->framework) },
        { "jax", e->jax, sizeof(e->jax) },
        { "jaxlib", e->jaxlib, sizeof(e->jaxlib) },
        { "platform_version", e->platform_version, sizeof(e->platform_version) },
        { "cuda", e->cuda, sizeof(e->cuda) },
        { "cuda_runtime", e->cuda_runtime, sizeof(e->cuda_runtime) },
        { "driver", e->driver, sizeof(e->driver) },
        { "rocm", e->rocm, sizeof(e->rocm) },
        { "libtpu", e->libtpu, sizeof(e->libtpu) },
        { "profile_options", e->profile_options, sizeof(e->profile_options) },
    };

    s->tracks.is_own |= strcmp(a->key, "tracemill.version") == 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(a->key, texts[i].key) == 0)
            (void)snprintf(texts[i].to, texts[i].room, "%s", a->value);
    if (strcmp(a->key, "rank") == 0)
        e->rank = strtoll(a->value, NULL, 10);
    else if (strcmp(a->key, "world_size") == 0)
        e->world_size = strtoll(a->value, NULL, 10);
    else if (strcmp(a->key, "profile_begin_ns") == 0)
        e->begin_ns = strtoull(a->value, NULL, 10);
    else if (strcmp(a->key, "profile_end_ns") == 0)
        e->end_ns = strtoull(a->value, NULL, 10);
    else if (strcmp(a->key, "source") == 0)
        s->is_xspace = strstr(a->value, ".xplane.pb") != NULL;
    else if (strcmp(a->key, "origin") == 0 && s->tracks.is_own)
        take_origin_name(s, a->value);
    else if (strcmp(a->key, "tracemill.content") == 0)
        refuse_content(s, a->value);
    else
        keep_device_fact(s, a);
}

static void take_attributes(struct scan *s, struct tm_wire bytes)
{
    struct tm_field field, member;

    while (tm_wire_next(&bytes, &field)) {
        struct attribute a = { .has_key = false };
        struct tm_wire inside;

        if (field.key != TM_WIRE_KEY(1, TM_WIRE_LEN))
            continue;
        inside = tm_wire_of(&field);
        while (tm_wire_next(&inside, &member)) {
            if (member.key == TM_WIRE_KEY(1, TM_WIRE_LEN)) {
                copy(a.key, sizeof(a.key), &member);
                a.has_key = true;
            } else if (member.key == TM_WIRE_KEY(3, TM_WIRE_LEN)) {
                copy(a.value, sizeof(a.value), &member);
                a.has_value = true;
            }
        }
        if (a.has_key && a.has_value)
            take_attribute(s, &a);
    }
    tm_pftrace_check_end(s->run, &bytes);
}

static void take_packet(struct scan *s, const struct tm_pftrace_packet *packet)
{
    const struct tm_pftrace_sequence *const sequence = tm_pftrace_enter(s->state, packet);
    int64_t ns = 0;
    bool has_time;

    s->redeclared += packet->attributes.at || packet->track.at || packet->process_tree.at || packet->defaults.at ||
                     packet->thread.at || packet->process.at;
    if (packet->attributes.at)
        take_attributes(s, packet->attributes);
    if (packet->track.at)
        tm_pftrace_declare(&s->tracks, packet->track);
    if (packet->process_tree.at)
        tm_pftrace_take_processes(&s->tracks, packet->process_tree);
    if (packet->other && !(s->tracks.is_own && packet->other == RENDER_STAGES)) /* kernels again, beside their slices */
        count_other(s, packet->other);
    if (!sequence)
        return;
    has_time = packet->has_timestamp && tm_pftrace_time(s->state, packet, &ns);
    if (packet->event.at && !tm_failed(s->run))
        take_event(s, packet, sequence, has_time, ns);
}

/* --- the end --- */

/* Records that were stored before their track or their name was known. */
static void move_records(struct scan *s, uint32_t from, uint32_t to, tm_strid name)
{
    struct tm_record_place place;
    const struct tm_kept_record *kept;

    tm_record_store_begin(s->store, from, &place);
    while ((kept = tm_record_store_next_row(&place))) {
        struct tm_kept_record moved = *kept;

        moved.record.track = to;
        moved.record.name = name ? name : moved.record.name;
        tm_record_store_add_row(s->store, &moved);
    }
    tm_record_store_end(&place);
    tm_record_store_clear(s->store, from);
}

/* Halves become spans, and the track is in order. */
static void join_track(struct scan *s, uint32_t track)
{
    struct tm_tallies *const tallies = &s->run->tallies;
    const uint64_t unsorted = tallies->count[TM_TALLY_UNSORTED_LINE];

    tm_pairs_join(s->store, s->trace, track);
    if (!track_row(s, track).is_halved) /* the order of ends is ours */
        tallies->count[TM_TALLY_UNSORTED_LINE] = unsorted;
}

static void settle_tracks(struct scan *s)
{
    const uint64_t count_before = tm_rows_count(s->tracks.tracks);

    for (uint64_t i = 0; i < count_before && !tm_failed(s->run); i++)
        halve_track(s, (uint32_t)i);
    for (uint64_t i = 0; i < count_before && !tm_failed(s->run); i++) {
        const struct tm_pftrace_track row = track_row(s, (uint32_t)i);

        if (row.holder != TM_NONE && tm_record_store_count(s->store, i)) {
            if (row.is_lane)
                join_track(s, (uint32_t)i);
            move_records(s, (uint32_t)i, row.holder, 0);
        }
        if (row.has_late_name && row.name) {
            const uint32_t fresh = tm_pftrace_track(&s->tracks, XXH3_64bits(&i, sizeof(i)) | UINT64_C(1) << 63);

            move_records(s, (uint32_t)i, fresh, row.name);
            move_records(s, fresh, (uint32_t)i, 0);
        }
    }
}

/* All records are on their tracks: join, sort and count them. */
static void order_tracks(struct scan *s)
{
    for (uint64_t i = 0; i < tm_rows_count(s->trace->tracks) && !tm_failed(s->run); i++) {
        join_track(s, (uint32_t)i);
        ((struct tm_track *)tm_rows_change(s->trace->tracks, i))->events = tm_record_store_count(s->store, i);
    }
}

static void report_damage(struct scan *s)
{
    const struct tm_pftrace_damage *const damage = tm_pftrace_damage(s->reader);
    char more[96] = "";

    if (!damage->problem)
        return;
    if (damage->bytes)
        (void)snprintf(more, sizeof(more), "; %" PRIu64 " bytes were skipped", damage->bytes);
    if (damage->places > 1)
        (void)snprintf(more + strlen(more), sizeof(more) - strlen(more), "; %" PRIu64 " such places", damage->places);
    tm_trace_damage(s->trace, "%s (byte %" PRIu64 ")%s", damage->problem, damage->at, more);
}

static const char *name_of_other(uint32_t field)
{
    static const struct {
        uint32_t field;
        const char *name;
    } names[] = {
        { 1, "ftrace" },
        { 3, "ftrace" },
        { 4, "inode maps" },
        { 5, "Chrome events" },
        { 7, "system counters" },
        { 9, "process stats" },
        { 37, "heap profile" },
        { 38, "battery" },
        { 39, "Android log" },
        { 52, "GPU counter" },
        { RENDER_STAGES, "GPU render stage" },
        { 54, "CPU sample" },
        { 56, "heap graph" },
        { 66, "CPU sample" },
    };
    static char number[24];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].field == field)
            return names[i].name;
    (void)snprintf(number, sizeof(number), "field %" PRIu32, field);
    return number;
}

/* Notes what the file lacks, and what was skipped in it. */
static void write_note(struct scan *s)
{
    char *const note = s->trace->note;
    const size_t room = sizeof(s->trace->note);
    size_t used = 0;

    if (s->tracks.is_own && s->tracks.has_planes)
        used += (size_t)snprintf(
            note, room,
            "read from a converted trace, in which times are rounded to nanoseconds, and HLO%s and profiler "
            "warnings are missing; the profile it was made from has them",
            s->device_fact_count ? "" : ", device capabilities");
    if (s->tracks.host_count > 1)
        used += (size_t)snprintf(note + used, room - used, "%s%" PRIu32 " hosts are in one file and are read as one",
                                 used ? "; " : "", s->tracks.host_count);
    for (uint32_t i = 0; i < s->other_count && used + 64 < room; i++)
        used +=
            (size_t)snprintf(note + used, room - used, "%s%" PRIu64 " %s packet%s",
                             i      ? ", "
                             : used ? "; skipped: "
                                    : "skipped: ",
                             s->others[i].count, name_of_other(s->others[i].field), s->others[i].count == 1 ? "" : "s");
}

static bool has_pytorch(struct scan *s)
{
    for (uint64_t i = 0; i < tm_rows_count(s->tracks.tracks); i++)
        if (track_row(s, (uint32_t)i).has_given_device)
            return true;
    return strcmp(s->trace->environment.framework, "pytorch") == 0;
}

static void take_origin(struct scan *s)
{
    struct tm_trace *const trace = s->trace;

    trace->clock_ns = tm_pftrace_clock_at(s->state, s->origin_ns);
    trace->origin_us = trace->clock_ns / 1000;
    trace->has_memory_counters = s->tracks.is_own;
    trace->origin = TM_ORIGIN_OTHER;
    if (s->tracks.has_planes) {
        trace->origin = s->tracks.is_own && s->is_xspace ? TM_ORIGIN_XSPACE : TM_ORIGIN_JSON_COPY;
        if (!trace->environment.framework[0])
            (void)snprintf(trace->environment.framework, sizeof(trace->environment.framework), "jax");
    } else if (has_pytorch(s)) {
        trace->origin = TM_ORIGIN_PYTORCH;
        (void)snprintf(trace->environment.framework, sizeof(trace->environment.framework), "pytorch");
    }
    if (s->origin < TM_ORIGIN_COUNT) /* regardless of the planes */
        trace->origin = (enum tm_origin)s->origin;
}

static tm_status refuse_bare(struct scan *s)
{
    struct tm_error *const error = &s->run->error;

    if (s->trace->partial) {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "the trace is damaged, and no event can be read: %s", s->trace->problem);
        tm_hint(error, "copy the file again, or record it again");
    } else if (s->other_count) {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "the trace has no track events, only packets of other data sources (%s)",
                      name_of_other(s->others[0].field));
        tm_hint(error, "record it with the data source 'track_event'");
    } else {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "the trace has no events");
        tm_hint(error, "record it again: run a few steps and block_until_ready() inside the trace");
    }
    return TM_ERR_INPUT;
}

static void open_parts(struct scan *s)
{
    struct tm_run *const run = s->run;

    if (tm_pftrace_tracks_open(&s->tracks, s->trace) != TM_OK)
        return;
    s->store = tm_record_store_new(s->trace, NULL);
    s->configs = tm_configs_new(s->trace);
    s->reader = tm_pftrace_reader_new(run, s->input, NULL);
    s->state = tm_pftrace_state_new(s->trace);
    if (s->state)
        s->events = tm_pftrace_events_new(s->trace, s->state);
    s->known = tm_pftrace_known_new(run);
    s->pool = tm_take(&run->budget, TM_ACCOUNT_INPUT, OPEN_MOST * sizeof(*s->pool), &run->error);
    if (s->pool)
        empty_pool(s);
    s->tracks.is_own = s->input->kind == TM_FILE_OWN_PERFETTO;
    s->no_thread = tm_names_put_string(s->trace->names, "(no thread)");
    s->flow_name = tm_names_put_string(s->trace->names, "flow");
}

static void close_parts(struct scan *s)
{
    tm_give(&s->run->budget, TM_ACCOUNT_INPUT, s->device_facts,
            s->device_facts ? DEVICE_FACTS_MOST * sizeof(*s->device_facts) : 0);
    tm_give(&s->run->budget, TM_ACCOUNT_INPUT, s->pool, s->pool ? OPEN_MOST * sizeof(*s->pool) : 0);
    tm_pftrace_known_free(s->known);
    tm_pftrace_events_free(s->events);
    tm_pftrace_state_free(s->state);
    tm_pftrace_reader_free(s->reader);
    tm_configs_free(s->configs);
    tm_record_store_free(s->store);
    tm_pftrace_tracks_close(&s->tracks);
}

static void scan_packets(struct scan *s)
{
    const uint64_t events_before = s->run->events_read;
    struct tm_pftrace_packet packet;

    while (!tm_failed(s->run) && tm_pftrace_next(s->reader, &packet))
        take_packet(s, &packet);
    if (tm_failed(s->run))
        return;
    report_damage(s);
    settle_tracks(s);
    order_tracks(s);
    if (!tm_failed(s->run))
        tm_pftrace_tracks_finish(&s->tracks);
    if (tm_failed(s->run))
        return;
    for (size_t i = 0; i < s->device_fact_count; i++)
        take_device_fact(s, i);
    take_origin(s);
    write_note(s);
    if (s->run->events_read == events_before)
        (void)refuse_bare(s);
}

tm_status tm_pftrace_scan(struct tm_trace *trace, struct tm_input *input, struct tm_source **source)
{
    const struct tm_record_finish finish = { .record = tm_finish_run, .flags = TM_FLAG_RUN_ID, .to = trace };
    struct tm_run *const run = trace->run;
    struct scan *const s = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*s), &run->error);

    *source = NULL;
    if (!s)
        return run->error.status;
    s->run = run;
    s->trace = trace;
    s->input = input;
    s->origin = TM_ORIGIN_COUNT;
    open_parts(s);
    if (!tm_failed(run))
        scan_packets(s);
    if (!tm_failed(run)) {
        (void)!tm_record_source_new(trace, s->store, &finish, source);
        s->store = NULL; /* it is the source's now */
    }
    close_parts(s);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, s, sizeof(*s));
    return run->error.status;
}
