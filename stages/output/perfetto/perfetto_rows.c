/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as track descriptors, and what stands before them.  Threads are tracks of threads, because the strip at the top
 * of the viewer is drawn from these alone.  No rows are merged, not even the lanes of one row: the viewer shows these
 * together anyway, and arrows of the input are refused on rows that are merged.
 * A group is a track without a process that holds others: viewers show it above the processes, with its spans.
 * source: https://perfetto.dev/docs/reference/trace-packet-proto, TrackDescriptor */
#include "stages/output/perfetto/perfetto_private.h"

#include <string.h>

#include "pipeline/version.h"

enum { FACTS_AT_ONCE = 64 };

/* Texts of facts that come after the scratch memory is full are left out; they are short. */
static ProtobufCBinaryData text_of(struct tm_perfetto *w, const char *text)
{
    return tm_perfetto_copy(&w->names, text, strlen(text));
}

static tm_status put_some_facts(struct tm_perfetto *w, const struct tm_out_fact *facts, size_t count)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__TraceAttributes attributes = PERFETTO__TRACE_ATTRIBUTES__INIT;
    Perfetto__TraceAttribute attribute[FACTS_AT_ONCE], *at[FACTS_AT_ONCE];

    tm_perfetto_names_begin(&w->names);
    for (size_t i = 0; i < count; i++) {
        attribute[i] = (Perfetto__TraceAttribute)PERFETTO__TRACE_ATTRIBUTE__INIT;
        attribute[i].has_key = true;
        attribute[i].key = text_of(w, facts[i].key);
        attribute[i].value_case = PERFETTO__TRACE_ATTRIBUTE__VALUE_STRING_VALUE;
        attribute[i].string_value = text_of(w, facts[i].value);
        at[i] = &attribute[i];
    }
    attributes.n_attribute = count;
    attributes.attribute = at;
    packet.trace_attributes = &attributes;
    return tm_perfetto_put(w, &packet);
}

tm_status tm_perfetto_put_origin(struct tm_perfetto *w)
{
    static char key[] = "tracemill.version", value[] = TM_VERSION;
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__TraceAttributes attributes = PERFETTO__TRACE_ATTRIBUTES__INIT;
    Perfetto__TraceAttribute attribute = PERFETTO__TRACE_ATTRIBUTE__INIT, *at = &attribute;

    attribute.has_key = true;
    attribute.key = (ProtobufCBinaryData){ sizeof(key) - 1, (uint8_t *)key };
    attribute.value_case = PERFETTO__TRACE_ATTRIBUTE__VALUE_STRING_VALUE;
    attribute.string_value = (ProtobufCBinaryData){ sizeof(value) - 1, (uint8_t *)value };
    attributes.n_attribute = 1;
    attributes.attribute = &at;
    packet.trace_attributes = &attributes;
    packet.has_trusted_packet_sequence_id = true;
    packet.trusted_packet_sequence_id = TM_PERFETTO_SEQUENCE;
    return tm_packets_put(&w->packets, &packet); /* before the state of the sequence is cleared: it needs none */
}

/* The track with number 0 stands for the trace: processes and threads are in the order of their ranks. */
static tm_status put_root(struct tm_perfetto *w)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;

    tm_perfetto_names_begin(&w->names);
    track.has_uuid = true;
    track.has_process_ordering = track.has_thread_ordering = true;
    track.process_ordering = track.thread_ordering = PERFETTO__TRACK_DESCRIPTOR__RANK_ORDERING__BY_RANK;
    packet.track_descriptor = &track;
    return tm_perfetto_put(w, &packet);
}

tm_status tm_perfetto_put_facts(struct tm_perfetto *w)
{
    tm_status status = put_root(w);

    for (size_t i = 0; status == TM_OK && i < w->options.fact_count; i += FACTS_AT_ONCE) {
        const size_t left = w->options.fact_count - i;

        status = put_some_facts(w, w->options.facts + i, left < FACTS_AT_ONCE ? left : FACTS_AT_ONCE);
    }
    return status;
}

static bool is_text(ProtobufCBinaryData text, const char *literal)
{
    return text.len == strlen(literal) && memcmp(text.data, literal, text.len) == 0;
}

static tm_status set_unit(struct tm_perfetto *w, Perfetto__CounterDescriptor *counter, tm_strid unit)
{
    ProtobufCBinaryData text;
    tm_status status;

    if (!unit)
        return TM_OK;
    status = tm_perfetto_text(&w->names, unit, &text);
    if (status != TM_OK)
        return status;
    if (is_text(text, "bytes") || is_text(text, "count")) {
        counter->has_unit = true;
        counter->unit = is_text(text, "bytes") ? PERFETTO__COUNTER_DESCRIPTOR__UNIT__SIZE_BYTES
                                               : PERFETTO__COUNTER_DESCRIPTOR__UNIT__COUNT;
        return TM_OK;
    }
    counter->has_unit_name = true;
    counter->unit_name = text;
    return TM_OK;
}

static tm_status put_track(struct tm_perfetto *w, const struct tm_out_row *row, Perfetto__TrackDescriptor *track)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

    track->has_uuid = true;
    track->uuid = row->uuid;
    track->has_parent_uuid = row->parent != 0;
    track->parent_uuid = row->parent;
    track->has_sibling_order_rank = true;
    track->sibling_order_rank = tm_out_rank(row);
    if (row->sort != TM_OUT_COUNTER) {
        track->has_child_ordering = true;
        track->child_ordering = PERFETTO__TRACK_DESCRIPTOR__ORDERING__EXPLICIT;
    }
    track->has_sibling_merge_behavior = row->sort != TM_OUT_PROCESS;
    track->sibling_merge_behavior = PERFETTO__TRACK_DESCRIPTOR__MERGING__NONE;
    packet.track_descriptor = track;
    return tm_perfetto_put(w, &packet);
}

tm_status tm_perfetto_put_row(struct tm_trace_writer *base, const struct tm_out_row *row)
{
    struct tm_perfetto *w = (struct tm_perfetto *)base;
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
    Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
    Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
    Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;
    tm_status status;

    if (row->uuid == row->parent) /* of a group, which has the spans */
        return TM_OK;
    tm_perfetto_names_begin(&w->names);
    status = tm_perfetto_text(&w->names, row->name, &track.name);
    track.has_name = row->sort != TM_OUT_PROCESS && row->sort != TM_OUT_THREAD;
    process.has_pid = process.has_legacy_sort_index = process.has_process_name = true;
    process.pid = thread.pid = row->pid;
    process.legacy_sort_index = thread.legacy_sort_index = tm_out_rank(row);
    process.process_name = thread.thread_name = track.name;
    thread.has_pid = thread.has_tid = thread.has_legacy_sort_index = thread.has_thread_name = true;
    thread.tid = row->tid;
    track.process = row->sort == TM_OUT_PROCESS ? &process : NULL;
    track.thread = row->sort == TM_OUT_THREAD ? &thread : NULL;
    if (row->sort == TM_OUT_COUNTER) {
        track.counter = &counter;
        if (status == TM_OK)
            status = set_unit(w, &counter, row->unit);
    }
    return status == TM_OK ? put_track(w, row, &track) : status;
}
