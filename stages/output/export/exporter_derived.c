/* SPDX-License-Identifier: Apache-2.0 */
/* What was worked out of a host, beside what was recorded. */
#include "stages/output/export/exporter_private.h"
#include "stages/output/out_marks.h"

/* Find the next row that is wanted. */
static tm_status find_next(struct tm_exporter *e)
{
    for (;;) {
        const tm_status st = tm_derived_next(e->options.derived, &e->derived);
        const struct tm_derived_row *const row = e->derived;

        if (st != TM_OK || !row)
            return st;
        if (e->options.has_device && row->device != e->options.device)
            continue;
        e->derived_part = (struct tm_wanted){ true, row->begin_ps, row->end_ps };
        if (e->filter)
            tm_event_filter_take_derived(e->filter, row, &e->derived_part);
        if (e->derived_part.is_wanted)
            break;
    }
    const tm_status st = tm_exporter_time(e, e->derived_part.begin_ps, &e->derived_part.begin_ps);

    return st == TM_OK ? tm_exporter_time(e, e->derived_part.end_ps, &e->derived_part.end_ps) : st;
}

tm_status tm_exporter_begin_derived(struct tm_exporter *e)
{
    tm_status st;

    e->derived = NULL;
    if (!e->options.derived)
        return TM_OK;
    st = tm_derived_begin(e->options.derived, e->trace->host);
    return st == TM_OK ? find_next(e) : st;
}

static tm_status write_span(struct tm_exporter *e, const struct tm_derived_row *row)
{
    struct tm_lane_span span = {
        .track = tm_out_rows_derived(e->rows, (enum tm_derived_sort)row->sort, row->device),
        .event = { .begin_ps = e->derived_part.begin_ps, .end_ps = e->derived_part.end_ps,
                   .name = row->name ? row->name : e->no_name, .category = e->own_category, .own = row->arguments,
                   .marks = TM_OUT_DERIVED,
                   .is_instant = row->sort == TM_DERIVED_FINDING },
    };
    struct tm_out_event *const event = &span.event;
    tm_status st = tm_exporter_time(e, row->begin_ps, &event->whole_begin_ps);

    if (st == TM_OK)
        st = tm_exporter_time(e, row->end_ps, &event->whole_end_ps);
    event->marks |= tm_out_cuts_of(event);
    if (row->sort == TM_DERIVED_FINDING || row->sort == TM_DERIVED_FACTS)
        event->marks |= TM_OUT_PUBLIC;
    return st == TM_OK ? tm_exporter_add_span(e, &span) : st;
}

tm_status tm_exporter_write_derived(struct tm_exporter *e)
{
    const struct tm_derived_row *const row = e->derived;
    const bool is_counter = row->sort == TM_DERIVED_QUEUE || row->sort == TM_DERIVED_BUSY;
    const tm_status st = is_counter ? tm_exporter_take_derived_counter(e, row, e->derived_part.begin_ps)
                                    : write_span(e, row);

    return st == TM_OK ? find_next(e) : st;
}
