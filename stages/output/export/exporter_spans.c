/* SPDX-License-Identifier: Apache-2.0 */
/* Spans and instants: what is written of them, on which lane, and when they end or are cut. */
#include "stages/output/export/exporter_private.h"
#include "stages/output/out_marks.h"

/* --- writing --- */

static tm_status use_row(struct tm_exporter *e, const struct tm_lane_span *span, struct tm_out_row *row)
{
    return tm_out_rows_use(e->rows, e->writer, span->track, span->lane, row, &e->counts.rows);
}

static tm_status write_begin(struct tm_exporter *e, const struct tm_lane_span *span)
{
    const struct tm_trace_writer_type *const type = e->writer->type;
    struct tm_out_event event = span->event;
    struct tm_out_row row;
    tm_status st;

    e->counts.slices++;
    tm_exporter_count_launch(e, event.flow);
    tm_exporter_note_time(e, event.begin_ps);
    if (!type->begin)
        return TM_OK;
    st = use_row(e, span, &row);
    event.row = &row;
    if (type->writes_ends)
        event.marks &= (uint8_t)~TM_OUT_CUTS; /* told at the end, when they are known */
    return st == TM_OK ? type->begin(e->writer, &event) : st;
}

static tm_status write_end(struct tm_exporter *e, const struct tm_lane_span *span)
{
    const struct tm_trace_writer_type *const type = e->writer->type;
    struct tm_out_event event = span->event;
    struct tm_out_row row;
    tm_status st;

    tm_exporter_note_time(e, event.end_ps);
    if (!type->end)
        return TM_OK;
    st = use_row(e, span, &row);
    event.row = &row;
    if (type->writes_ends)
        event.marks &= TM_OUT_CUTS;
    return st == TM_OK ? type->end(e->writer, &event) : st;
}

static tm_status write_instant(struct tm_exporter *e, const struct tm_lane_span *span)
{
    struct tm_out_event event = span->event;
    struct tm_out_row row;
    const tm_status st = use_row(e, span, &row);

    e->counts.slices++;
    tm_exporter_count_launch(e, event.flow);
    tm_exporter_note_time(e, event.begin_ps);
    event.row = &row;
    return st == TM_OK ? e->writer->type->instant(e->writer, &event) : st;
}

/* --- beginning --- */

static bool is_empty(const struct tm_lane_span *span)
{
    return span->event.end_ps == span->event.begin_ps;
}

/* Whether the end of a span that stays open is told with its begin.  Where a span is written as one, readers look for
 * one without length before the arrows that point to it. */
static bool is_written(const struct tm_exporter *e, const struct tm_lane_span *span)
{
    return e->ends_at_once || (is_empty(span) && !e->writer->type->writes_ends);
}

/* Whether it is open after it has begun: of what has no length what arrows may point to. */
static bool stays_open(struct tm_exporter *e, const struct tm_lane_span *span)
{
    if (!is_empty(span))
        return true;
    if (!e->has_arrows || span->key || e->empty_spans == TM_EMPTY_SPANS_MOST)
        return false;
    e->empty_spans++;
    return true;
}

/* Something begins on a track. */
static tm_status end_empty(struct tm_exporter *e, uint64_t track)
{
    const struct tm_lane_span *const ended = e->empty_spans ? tm_lanes_end_empty(e->lanes, track) : NULL;

    if (!ended)
        return TM_OK;
    e->empty_spans--;
    return is_written(e, ended) ? TM_OK : write_end(e, ended);
}

tm_status tm_exporter_add_span(struct tm_exporter *e, struct tm_lane_span *span)
{
    bool is_open;
    tm_status st = end_empty(e, span->track);

    if (st != TM_OK)
        return st;
    if (!tm_lanes_choose(e->lanes, span)) {
        tm_tally_add(&e->run->tallies, TM_TALLY_LANES_FULL, 1);
        return TM_OK;
    }
    if (span->event.is_instant)
        return write_instant(e, span);
    if (span->lane && !span->key)
        tm_tally_add(&e->run->tallies, TM_TALLY_LANE_MOVED, 1);
    is_open = stays_open(e, span);
    st = write_begin(e, span);
    if (st == TM_OK && (!is_open || is_written(e, span)))
        st = write_end(e, span);
    return st == TM_OK && is_open ? tm_lanes_open(e->lanes, span) : st;
}

/* Classes that say something of an event beside its kind. */
static bool is_telling(enum tm_class class)
{
    switch (class) {
    case TM_CLASS_UNRESOLVED: case TM_CLASS_OTHER: case TM_CLASS_DEVICE_OTHER: case TM_CLASS_INSTANT:
    case TM_CLASS_COUNTER: case TM_CLASS_FLOW: case TM_CLASS_ASYNC:
        return false;
    default:
        return true;
    }
}

tm_status tm_exporter_category(struct tm_exporter *e, const struct tm_event *event, tm_strid *category)
{
    struct tm_argument own;

    *category = 0;
    if (tm_arguments_find(event->own, TM_ARGUMENT_CATEGORY, &own) && own.length)
        return tm_names_put(e->names, own.text, own.length, category);
    if (is_telling((enum tm_class)event->record.class))
        *category = e->classes[event->record.class];
    return TM_OK;
}

tm_status tm_exporter_take_span(struct tm_exporter *e, const struct tm_export_item *item)
{
    const struct tm_record *const record = &item->event->record;
    const uint64_t key = record->correlation ? record->correlation : 1;
    struct tm_lane_span span = {
        .track = item->number,
        .key = item->track->sort == TM_TRACK_ASYNC ? key : 0,
        .event = { .begin_ps = item->begin_ps, .end_ps = item->end_ps, .own = item->event->own, .of = item->event,
                   .trace = e->trace, .name = record->name ? record->name : e->no_name,
                   .is_instant = tm_event_is_instant(record),
                   .flow = tm_exporter_launch_arrow(e, item->track, item->event) },
    };
    struct tm_out_event *const event = &span.event;
    tm_status st = tm_exporter_time(e, record->start_ps, &event->whole_begin_ps);

    if (st == TM_OK)
        st = tm_exporter_time(e, record->start_ps + record->dur_ps, &event->whole_end_ps);
    if (st == TM_OK)
        st = tm_exporter_category(e, item->event, &event->category);
    if (st == TM_OK && record->common)
        st = tm_trace_common(e->trace, record->common, e->common, &event->common);
    event->marks = tm_out_cuts_of(event);
    event->marks |= record->flags & TM_FLAG_OPEN ? TM_OUT_UNFINISHED : 0;
    return st == TM_OK ? tm_exporter_add_span(e, &span) : st;
}

/* --- ending --- */

tm_status tm_exporter_end_spans(struct tm_exporter *e, int64_t time_ps)
{
    tm_status st = TM_OK;

    while (st == TM_OK) {
        const struct tm_lane_span *const ended = tm_lanes_next_end(e->lanes, time_ps);

        if (!ended)
            break;
        if (!is_written(e, ended))
            st = write_end(e, ended);
    }
    e->empty_spans = 0;
    return st;
}

tm_status tm_exporter_cut_spans(struct tm_exporter *e, int64_t time_ps)
{
    const bool inner_first = e->writer->type->writes_ends;
    size_t at = 0;
    tm_status st = TM_OK;

    while (st == TM_OK) {
        const struct tm_lane_span *const span =
            inner_first ? tm_lanes_each_back(e->lanes, &at) : tm_lanes_each(e->lanes, &at);
        struct tm_lane_span piece;

        if (!span)
            break;
        piece = *span;
        piece.event.end_ps = time_ps;
        piece.event.marks |= TM_OUT_CUT_END;
        st = write_end(e, &piece);
    }
    return st;
}

tm_status tm_exporter_resume_spans(struct tm_exporter *e, int64_t time_ps)
{
    size_t at = 0;
    tm_status st = TM_OK;

    while (st == TM_OK) {
        struct tm_lane_span *const span = tm_lanes_each(e->lanes, &at);

        if (!span)
            break;
        span->event.begin_ps = time_ps;
        span->event.marks |= TM_OUT_CUT_BEGIN;
        span->event.flow = 0; /* the arrow ends at the first piece */
        e->counts.pieces++;
        st = write_begin(e, span);
    }
    tm_lanes_changed(e->lanes);
    return st;
}
