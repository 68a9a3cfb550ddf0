/* SPDX-License-Identifier: Apache-2.0 */
/* A trace in Perfetto's own format: each row, each begin and end of a span, each value of a counter is a packet.  All
 * packets belong to one sequence, whose tables of names begin with the file.  Memory: one piece of a fixed size.
 * source: https://perfetto.dev/docs/reference/synthetic-track-event */
#include "stages/output/perfetto/perfetto_private.h"

#include <assert.h>
#include <string.h>

#include "stages/output/out_marks.h"

/* What a packet takes at most beside its texts: itself (the facts, at most), an argument, an entry of a table.  Numbers
 * take 10 bytes, lengths 5, the number and the type of a field 2. */
enum { PACKET_BYTES = 2048, ARGUMENT_BYTES = 2 + 5 + 2 + 10 + 2 + 10, ENTRY_BYTES = 2 + 5 + 1 + 10 + 1 + 5 };
static_assert(PACKET_BYTES + TM_PERFETTO_SCRATCH_BYTES + 2 * TM_ARGUMENTS_MOST +
                      TM_PERFETTO_VALUES_MOST * ARGUMENT_BYTES + TM_PERFETTO_FRESH * ENTRY_BYTES <= TM_PACKET_MOST,
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
    size_t entries;

    packet->has_trusted_packet_sequence_id = packet->has_sequence_flags = true;
    packet->trusted_packet_sequence_id = TM_PERFETTO_SEQUENCE;
    packet->sequence_flags = TM_PERFETTO_USES_NAMES;
    packet->interned_data = tm_perfetto_fresh(&w->names, &entries);
    tm_tally_add(&w->base.run->tallies, TM_TALLY_LONG_ARGUMENTS, w->names.is_cut);
    return tm_packets_put(&w->packets, packet, PACKET_BYTES + w->names.text_bytes +
                                                   w->arguments.count * ARGUMENT_BYTES + entries * ENTRY_BYTES);
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

/* What the clock reads at a time. */
static tm_status set_time(struct tm_perfetto *w, int64_t time_ps, int64_t *ns)
{
    if (__builtin_add_overflow(w->options.epoch_ns, tm_out_ns(time_ps), ns) || *ns < 0)
        return tm_fail(&w->base.run->error, TM_ERR_LIMIT, -1,
                       "cannot write times before 1970 or after 2262: the clock begins at %lld ns",
                       (long long)w->options.epoch_ns);
    return TM_OK;
}

/* The packet of an event on a row at a time.  type 0: neither a span nor a value. */
static tm_status put_event(struct tm_perfetto *w, Perfetto__TrackEvent *event, const struct tm_out_row *row,
                           int64_t time_ps, int type)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    int64_t ns;
    tm_status status = set_time(w, time_ps, &ns);

    if (status == TM_OK && ns < w->clock_ns) /* another host */
        status = tm_perfetto_put_clock(w, false);
    if (status != TM_OK)
        return status;
    event->has_type = type != 0;
    event->type = (Perfetto__TrackEvent__Type)type;
    event->has_track_uuid = true;
    event->track_uuid = row->uuid;
    packet.has_timestamp = true;
    packet.timestamp = (uint64_t)(ns - w->clock_ns);
    w->clock_ns = ns;
    packet.track_event = event;
    return tm_perfetto_put(w, &packet);
}

/* Where the event's list of numbers of categories, or of their texts, lies: it has one. */
struct category {
    uint64_t iid;
    ProtobufCBinaryData text;
};

static tm_status set_names(struct tm_perfetto *w, Perfetto__TrackEvent *event, tm_strid name, tm_strid category,
                           struct category *of)
{
    ProtobufCBinaryData text;
    uint64_t iid;
    tm_status status = tm_perfetto_number(&w->names, TM_PERFETTO_NAMES, name, &iid, &text);

    event->name_field_case = iid ? PERFETTO__TRACK_EVENT__NAME_FIELD_NAME_IID
                                 : PERFETTO__TRACK_EVENT__NAME_FIELD_NAME;
    if (iid)
        event->name_iid = iid;
    else
        event->name = text;
    if (status != TM_OK || !category)
        return status;
    status = tm_perfetto_number(&w->names, TM_PERFETTO_CATEGORIES, category, &of->iid, &of->text);
    event->n_category_iids = of->iid != 0;
    event->category_iids = &of->iid;
    event->n_categories = of->iid == 0;
    event->categories = &of->text;
    return status;
}

static tm_status add_int(struct tm_perfetto *w, enum tm_perfetto_own_key key, int64_t number)
{
    Perfetto__DebugAnnotation *value;
    const tm_status status = tm_perfetto_argument(&w->arguments, w->own_keys[key], &value);

    if (value) {
        value->value_case = PERFETTO__DEBUG_ANNOTATION__VALUE_INT_VALUE;
        value->int_value = number;
    }
    return status;
}

static tm_status add_cut(struct tm_perfetto *w, const struct tm_out_event *from)
{
    Perfetto__DebugAnnotation *value;
    int64_t begin_ns, end_ns;
    tm_status status = set_time(w, from->whole_begin_ps, &begin_ns);

    if (status == TM_OK)
        status = set_time(w, from->whole_end_ps, &end_ns);
    if (status == TM_OK)
        status = tm_perfetto_argument(&w->arguments, w->own_keys[TM_PERFETTO_KEY_CUT], &value);
    if (status != TM_OK)
        return status;
    if (value)
        tm_perfetto_set_text(value, tm_out_cut_text(from->marks));
    status = add_int(w, TM_PERFETTO_KEY_BEGIN, begin_ns);
    return status == TM_OK ? add_int(w, TM_PERFETTO_KEY_DURATION, end_ns - begin_ns) : status;
}

static tm_status add_unfinished(struct tm_perfetto *w)
{
    Perfetto__DebugAnnotation *value;
    const tm_status status = tm_perfetto_argument(&w->arguments, w->own_keys[TM_PERFETTO_KEY_UNFINISHED], &value);

    if (value) {
        value->value_case = PERFETTO__DEBUG_ANNOTATION__VALUE_BOOL_VALUE;
        value->bool_value = true;
    }
    return status;
}

/* Marks come first: they are ours to keep however many arguments there are. */
static tm_status set_arguments(struct tm_perfetto *w, Perfetto__TrackEvent *event, const struct tm_out_event *from)
{
    tm_status status = TM_OK;

    tm_perfetto_arguments_begin(&w->arguments, from->marks & TM_OUT_DERIVED ? TM_ARGS_ALL : w->options.args);
    if (from->marks & TM_OUT_UNFINISHED)
        status = add_unfinished(w);
    if (status == TM_OK)
        status = tm_perfetto_arguments_add(&w->arguments, from->own);
    if (status == TM_OK)
        status = tm_perfetto_arguments_add(&w->arguments, from->common);
    if (status == TM_OK)
        status = tm_perfetto_arguments_end(&w->arguments, event);
    w->base.arguments += event->n_debug_annotations;
    return status;
}

static tm_status make_named(struct tm_perfetto *w, Perfetto__TrackEvent *event, const struct tm_out_event *from,
                            struct category *category)
{
    tm_status status;

    tm_perfetto_names_begin(&w->names);
    status = set_names(w, event, from->name, from->category, category);
    return status == TM_OK ? set_arguments(w, event, from) : status;
}

static tm_status begin(struct tm_trace_writer *base, const struct tm_out_event *from)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
    struct category category;
    uint64_t flow = from->flow | own_flow;
    tm_status status = make_named(w, &event, from, &category);

    if (status == TM_OK && w->names.is_full) {
        event = (Perfetto__TrackEvent)PERFETTO__TRACK_EVENT__INIT;
        status = begin_anew(w);
        if (status == TM_OK)
            status = make_named(w, &event, from, &category);
    }
    if (status != TM_OK)
        return status;
    event.n_flow_ids = from->flow != 0;
    event.flow_ids = &flow;
    return put_event(w, &event, from->row, from->begin_ps, PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN);
}

/* Whether a slice was cut is known when its piece ends: readers put arguments of an end to those of its begin. */
static tm_status make_end(struct tm_perfetto *w, Perfetto__TrackEvent *event, const struct tm_out_event *from)
{
    tm_status status;

    *event = (Perfetto__TrackEvent)PERFETTO__TRACK_EVENT__INIT;
    tm_perfetto_names_begin(&w->names);
    if (!(from->marks & TM_OUT_CUTS))
        return TM_OK;
    tm_perfetto_arguments_begin(&w->arguments, TM_ARGS_ALL);
    status = add_cut(w, from);
    return status == TM_OK ? tm_perfetto_arguments_end(&w->arguments, event) : status;
}

static tm_status end(struct tm_trace_writer *base, const struct tm_out_event *event)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    Perfetto__TrackEvent packed;
    tm_status status = make_end(w, &packed, event);

    if (status == TM_OK && w->names.is_full) {
        status = begin_anew(w);
        if (status == TM_OK)
            status = make_end(w, &packed, event);
    }
    if (status != TM_OK)
        return status;
    w->base.arguments += packed.n_debug_annotations;
    return put_event(w, &packed, event->row, event->end_ps, PERFETTO__TRACK_EVENT__TYPE__SLICE_END);
}

/* Slices of length 0 are what viewers draw as instants.  An instant of the format stays the innermost one of its row
 * until something begins or ends there, and arrows of the input would point to it. */
static tm_status instant(struct tm_trace_writer *base, const struct tm_out_event *event)
{
    const tm_status status = begin(base, event);

    return status == TM_OK ? end(base, event) : status;
}

static tm_status counter(struct tm_trace_writer *base, const struct tm_out_counter *counter)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

    tm_perfetto_names_begin(&w->names);
    if (counter->is_whole) {
        event.counter_value_field_case = PERFETTO__TRACK_EVENT__COUNTER_VALUE_FIELD_COUNTER_VALUE;
        event.counter_value = counter->whole;
    } else {
        event.counter_value_field_case = PERFETTO__TRACK_EVENT__COUNTER_VALUE_FIELD_DOUBLE_COUNTER_VALUE;
        event.double_counter_value = counter->value;
    }
    return put_event(w, &event, counter->row, counter->time_ps, PERFETTO__TRACK_EVENT__TYPE__COUNTER);
}

static tm_status make_flow(struct tm_perfetto *w, Perfetto__TrackEvent *event, const struct tm_out_flow *flow,
                           struct category *category)
{
    tm_perfetto_names_begin(&w->names);
    return set_names(w, event, flow->name, flow->category, category);
}

static tm_status flow(struct tm_trace_writer *base, const struct tm_out_flow *flow)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
    Perfetto__LegacyEvent arrow = PERFETTO__LEGACY_EVENT__INIT;
    struct category category;
    tm_status status = make_flow(w, &event, flow, &category);

    if (status == TM_OK && w->names.is_full) {
        status = begin_anew(w);
        if (status == TM_OK)
            status = make_flow(w, &event, flow, &category);
    }
    if (status != TM_OK)
        return status;
    arrow.has_phase = arrow.has_unscoped_id = true;
    arrow.phase = tm_out_flow_phase(flow);
    arrow.unscoped_id = flow->id;
    arrow.has_bind_to_enclosing = arrow.bind_to_enclosing = flow->kind == TM_FLOW_END && flow->is_enclosed;
    event.legacy_event = &arrow;
    return put_event(w, &event, flow->row, flow->time_ps, 0);
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
