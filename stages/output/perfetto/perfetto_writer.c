/* SPDX-License-Identifier: Apache-2.0 */
/* A trace in Perfetto's own format: each row, each begin and end of a span, each value of a counter is a packet.  All
 * packets belong to one sequence, whose tables of names begin with the file.  Memory: one piece of a fixed size.
 * source: https://perfetto.dev/docs/reference/synthetic-track-event */
#include "stages/output/perfetto/perfetto_private.h"

#include <assert.h>
#include <string.h>

#include "stages/output/out_marks.h"

/* Fields of TracePacket; of TrackEvent; of LegacyEvent. */
enum { TIMESTAMP = 8, SEQUENCE_ID = 10, TRACK_EVENT = 11, INTERNED_DATA = 12, SEQUENCE_FLAGS = 13 };
enum {
    CATEGORY_IIDS = 3, LEGACY_EVENT = 6, TYPE = 9, NAME_IID = 10, TRACK_UUID = 11, CATEGORIES = 22, NAME = 23,
    COUNTER_VALUE = 30, DOUBLE_COUNTER_VALUE = 44, FLOW_IDS = 47
};
enum { PHASE = 2, UNSCOPED_ID = 6, BIND_TO_ENCLOSING = 12 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4, NEITHER = 0 }; /* TYPE */

static_assert(TM_PERFETTO_EVENT_BYTES + TM_PERFETTO_FRESH * TM_PERFETTO_ENTRY_HEAD + 16 * TM_PB_MOST <= TM_PACKET_MOST,
              "the largest packet fits into a block");

/* The viewer numbers the arrows that the input has from 0 on: spans that are joined must not share these numbers. */
static const uint64_t own_flow = UINT64_C(1) << 63;

static const char *const own_key_text[TM_PERFETTO_OWN_KEYS] = {
    [TM_PERFETTO_KEY_CUT] = TM_OUT_KEY_CUT,
    [TM_PERFETTO_KEY_BEGIN] = TM_OUT_KEY_BEGIN,
    [TM_PERFETTO_KEY_DURATION] = TM_OUT_KEY_DURATION,
    [TM_PERFETTO_KEY_UNFINISHED] = TM_OUT_KEY_UNFINISHED,
};

static void free_writer(struct tm_trace_writer *base)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;

    if (!w)
        return;
    tm_packets_close(&w->packets);
    tm_give(&w->base.run->budget, TM_ACCOUNT_TABLES, w, sizeof(*w));
}

static tm_status open_parts(struct tm_perfetto *w, struct tm_names *names)
{
    tm_status status = tm_packets_open(&w->packets, w->base.run, !w->options.is_gzip);

    tm_perfetto_names_open(&w->names, names);
    tm_perfetto_arguments_open(&w->arguments, &w->names);
    for (size_t i = 0; status == TM_OK && i < TM_PERFETTO_OWN_KEYS; i++)
        status = tm_names_put_string(names, own_key_text[i], &w->own_keys[i]);
    return status;
}

static struct tm_trace_writer *open_writer(struct tm_run *run, struct tm_names *names,
                                           const struct tm_writer_options *options)
{
    struct tm_perfetto *w = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*w), &run->error);

    if (!w)
        return NULL;
    w->base = (struct tm_trace_writer){ .type = &tm_perfetto_writer, .run = run };
    w->options = *options;
    if (open_parts(w, names) != TM_OK) {
        free_writer(&w->base);
        return NULL;
    }
    return &w->base;
}

tm_status tm_perfetto_put(struct tm_perfetto *w, Perfetto__TracePacket *packet)
{
    packet->has_trusted_packet_sequence_id = packet->has_sequence_flags = true;
    packet->trusted_packet_sequence_id = TM_PERFETTO_SEQUENCE;
    packet->sequence_flags = TM_PERFETTO_USES_NAMES;
    tm_tally_add(&w->base.run->tallies, TM_TALLY_LONG_ARGUMENTS, w->names.is_cut);
    return tm_packets_put(&w->packets, packet);
}

/* The tables of names are empty.  A packet brings fewer texts than an empty table holds. */
static tm_status begin_anew(struct tm_perfetto *w)
{
    tm_perfetto_names_clear(&w->names);
    return tm_perfetto_put_clock(w, true);
}

static tm_status begin_file(struct tm_trace_writer *base, struct tm_out_file *file)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    tm_status status;

    tm_packets_begin_file(&w->packets, file);
    status = tm_perfetto_put_origin(w);
    if (status == TM_OK)
        status = tm_packets_write_plain(&w->packets);
    if (status == TM_OK)
        status = begin_anew(w);
    return status == TM_OK ? tm_perfetto_put_facts(w) : status;
}

static tm_status end_file(struct tm_trace_writer *base)
{
    return tm_packets_end_file(&((struct tm_perfetto *)base)->packets);
}

static uint64_t raw_bytes(const struct tm_trace_writer *base)
{
    return ((const struct tm_perfetto *)base)->packets.raw_bytes;
}

/* --- packets of events --- */

/* What is the same in many packets stands together, before the time, which never is: that is a tenth of the deflated
 * bytes, and of the time that deflating takes.
 * in: ns        after the packet before
 *     from, to  a TrackEvent on the wire */
static tm_status put_packet(struct tm_perfetto *w, uint64_t ns, const uint8_t *from, const uint8_t *to)
{
    const size_t event = (size_t)(to - from), fresh = w->names.fresh_used;
    uint8_t head[4 * TM_PB_MOST], tail[TM_PB_MOST], *at = head;
    size_t head_bytes, tail_bytes;

    at = tm_pb_varint(at, SEQUENCE_ID, TM_PERFETTO_SEQUENCE);
    at = tm_pb_varint(at, SEQUENCE_FLAGS, TM_PERFETTO_USES_NAMES);
    at = tm_pb_head(at, TRACK_EVENT, event);
    head_bytes = (size_t)(at - head);
    tail_bytes = (size_t)(tm_pb_varint(tail, TIMESTAMP, ns) - tail);
    at = tm_packets_room(&w->packets, head_bytes + event + tail_bytes +
                                          (fresh ? 1 + tm_pb_number_bytes(fresh) + fresh : 0));
    if (!at)
        return w->base.run->error.status;
    at = mempcpy(mempcpy(at, head, head_bytes), from, event);
    if (fresh)
        at = tm_pb_bytes(at, INTERNED_DATA, w->names.fresh, fresh);
    memcpy(at, tail, tail_bytes);
    tm_tally_add(&w->base.run->tallies, TM_TALLY_LONG_ARGUMENTS, w->names.is_cut);
    return TM_OK;
}

/* The event that was made up to `to`, at a time. */
static tm_status put_event(struct tm_perfetto *w, const uint8_t *to, int64_t time_ps)
{
    const int64_t ns = tm_out_ns(time_ps);
    tm_status status = TM_OK;
    uint64_t passed;

    if (ns < w->clock_ns) /* another host */
        status = tm_perfetto_put_clock(w, false);
    if (status != TM_OK)
        return status;
    passed = (uint64_t)(ns - w->clock_ns);
    w->clock_ns = ns;
    return put_packet(w, passed, w->event, to);
}

/* An event of a row begins. */
static uint8_t *begin_event(struct tm_perfetto *w, const struct tm_out_row *row, unsigned type)
{
    uint8_t *const to = type == NEITHER ? w->event : tm_pb_varint(w->event, TYPE, type);

    tm_perfetto_names_begin(&w->names);
    return tm_pb_varint(to, TRACK_UUID, row->uuid);
}

/* A text by its number, or as it is. */
static tm_status put_text(struct tm_perfetto *w, uint8_t **to, enum tm_perfetto_table table, tm_strid id,
                          unsigned iid_field, unsigned text_field)
{
    uint32_t iid;
    const tm_status status = tm_perfetto_number(&w->names, table, id, &iid);

    if (status == TM_OK && !iid)
        return tm_perfetto_put_name(&w->names, to, text_field, id);
    *to = tm_pb_varint(*to, iid_field, iid);
    return status;
}

static tm_status put_names(struct tm_perfetto *w, uint8_t **to, tm_strid name, tm_strid category)
{
    const tm_status status = put_text(w, to, TM_PERFETTO_NAMES, name, NAME_IID, NAME);

    if (status != TM_OK || !category)
        return status;
    return put_text(w, to, TM_PERFETTO_CATEGORIES, category, CATEGORY_IIDS, CATEGORIES);
}

/* --- slices --- */

/* Marks come first: they are ours to keep however many arguments there are. */
static tm_status put_arguments(struct tm_perfetto *w, uint8_t **to, const struct tm_out_event *from)
{
    struct tm_perfetto_arguments *const a = &w->arguments;
    tm_status status = TM_OK;

    tm_perfetto_arguments_begin(a, from->marks & TM_OUT_DERIVED ? TM_ARGS_ALL : w->options.args, *to);
    if (from->marks & TM_OUT_UNFINISHED)
        status = tm_perfetto_put_true(a, w->own_keys[TM_PERFETTO_KEY_UNFINISHED]);
    if (status == TM_OK)
        status = tm_perfetto_arguments_add(a, from->name, from->own, from->common);
    *to = a->to;
    return status;
}

static tm_status make_begin(struct tm_perfetto *w, const struct tm_out_event *from, uint8_t **to)
{
    tm_status status;

    *to = begin_event(w, from->row, SLICE_BEGIN);
    status = put_names(w, to, from->name, from->category);
    if (status == TM_OK)
        status = put_arguments(w, to, from);
    if (from->flow)
        *to = tm_pb_fixed64(*to, FLOW_IDS, from->flow | own_flow);
    return status;
}

static tm_status begin(struct tm_trace_writer *base, const struct tm_out_event *from)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    uint8_t *to;
    tm_status status = make_begin(w, from, &to);

    if (status == TM_OK && w->names.is_full) {
        status = begin_anew(w);
        if (status == TM_OK)
            status = make_begin(w, from, &to);
    }
    if (status != TM_OK)
        return status;
    w->base.arguments += w->arguments.count;
    return put_event(w, to, from->begin_ps);
}

static tm_status put_cut(struct tm_perfetto *w, const struct tm_out_event *from)
{
    struct tm_perfetto_arguments *const a = &w->arguments;
    const int64_t begin_ns = tm_out_ns(from->whole_begin_ps), end_ns = tm_out_ns(from->whole_end_ps);
    tm_status status = tm_perfetto_put_literal(a, w->own_keys[TM_PERFETTO_KEY_CUT], tm_out_cut_text(from->marks));

    if (status == TM_OK)
        status = tm_perfetto_put_int(a, w->own_keys[TM_PERFETTO_KEY_BEGIN], begin_ns);
    if (status == TM_OK)
        status = tm_perfetto_put_int(a, w->own_keys[TM_PERFETTO_KEY_DURATION], end_ns - begin_ns);
    return status;
}

/* Whether a slice was cut is known when its piece ends: readers put arguments of an end to those of its begin. */
static tm_status make_end(struct tm_perfetto *w, const struct tm_out_event *from, uint8_t **to)
{
    tm_status status = TM_OK;

    *to = begin_event(w, from->row, SLICE_END);
    w->arguments.count = 0;
    if (from->marks & TM_OUT_CUTS) {
        tm_perfetto_arguments_begin(&w->arguments, TM_ARGS_ALL, *to);
        status = put_cut(w, from);
        *to = w->arguments.to;
    }
    return status;
}

static tm_status end(struct tm_trace_writer *base, const struct tm_out_event *event)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    uint8_t *to;
    tm_status status = make_end(w, event, &to);

    if (status == TM_OK && w->names.is_full) {
        status = begin_anew(w);
        if (status == TM_OK)
            status = make_end(w, event, &to);
    }
    if (status != TM_OK)
        return status;
    w->base.arguments += w->arguments.count;
    return put_event(w, to, event->end_ps);
}

/* Slices of length 0 are what viewers draw as instants.  An instant of the format stays the innermost one of its row
 * until something begins or ends there, and arrows of the input would point to it. */
static tm_status instant(struct tm_trace_writer *base, const struct tm_out_event *event)
{
    const tm_status status = begin(base, event);

    return status == TM_OK ? end(base, event) : status;
}

/* --- what else there is --- */

static tm_status counter(struct tm_trace_writer *base, const struct tm_out_counter *counter)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    uint8_t *to = begin_event(w, counter->row, COUNTER);

    if (counter->is_whole)
        to = tm_pb_varint(to, COUNTER_VALUE, (uint64_t)counter->whole);
    else
        to = tm_pb_double(to, DOUBLE_COUNTER_VALUE, counter->value);
    return put_event(w, to, counter->time_ps);
}

static tm_status make_flow(struct tm_perfetto *w, const struct tm_out_flow *flow, uint8_t **to)
{
    uint8_t *begin;
    tm_status status;

    *to = begin_event(w, flow->row, NEITHER);
    status = put_names(w, to, flow->name, flow->category);
    *to = tm_pb_begin(*to, LEGACY_EVENT, &begin);
    *to = tm_pb_varint(*to, PHASE, (unsigned char)tm_out_flow_phase(flow));
    *to = tm_pb_varint(*to, UNSCOPED_ID, flow->id);
    if (flow->kind == TM_FLOW_END && flow->is_enclosed)
        *to = tm_pb_varint(*to, BIND_TO_ENCLOSING, 1);
    *to = tm_pb_end(*to, begin);
    return status;
}

static tm_status flow(struct tm_trace_writer *base, const struct tm_out_flow *flow)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    uint8_t *to;
    tm_status status = make_flow(w, flow, &to);

    if (status == TM_OK && w->names.is_full) {
        status = begin_anew(w);
        if (status == TM_OK)
            status = make_flow(w, flow, &to);
    }
    return status == TM_OK ? put_event(w, to, flow->time_ps) : status;
}

const struct tm_trace_writer_type tm_perfetto_writer = {
    .writes_ends = true,
    .open = open_writer,
    .begin_file = begin_file,
    .row = tm_perfetto_put_row,
    .begin = begin,
    .end = end,
    .instant = instant,
    .counter = counter,
    .flow = flow,
    .end_file = end_file,
    .raw_bytes = raw_bytes,
    .free = free_writer,
};
