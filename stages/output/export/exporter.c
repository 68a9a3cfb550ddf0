/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered events, and what was worked out, merged by time and written; the parts of the work lie beside.  Memory: see
 * exporter.h; nothing grows with the number of events. */
#include "stages/output/export/exporter.h"

#include <assert.h>
#include <string.h>

#include "stages/output/export/exporter_private.h"

/* --- an exporter --- */

/* What an event without a category of its own gets.  Readers of PyTorch's traces, ours too, take a few names for what
 * they mean there: a `kernel` lies on the device that its arguments or its pid tell, a `cpu_op` is called by Python. */
static const char *category_of(enum tm_class class)
{
    switch (class) {
    case TM_CLASS_KERNEL:
        return "gpu_kernel";
    case TM_CLASS_CPU_OP:
        return "xla_op";
    default:
        return tm_class_name[class];
    }
}

static tm_status put_names(struct tm_exporter *e)
{
    static const char counter_value[] = "counter_value";
    tm_status st = tm_names_put_string(e->names, "(no name)", &e->no_name);

    if (st == TM_OK)
        st = tm_names_put_string(e->names, "tracemill", &e->own_category);
    if (st == TM_OK)
        st = tm_names_put_string(e->names, "bytes", &e->bytes_unit);
    if (st == TM_OK)
        st = tm_names_put_string(e->names, "%", &e->percent_unit);
    for (int i = 0; i < TM_CLASS_COUNT && st == TM_OK; i++)
        st = tm_names_put_string(e->names, category_of((enum tm_class)i), &e->classes[i]);
    e->counter_value = tm_hash_key(counter_value, sizeof(counter_value) - 1);
    return st;
}

static void reset_counts(struct tm_exporter *e)
{
    e->counts = (struct tm_export_counts){ .first_ps = INT64_MAX, .last_ps = INT64_MIN };
}

static tm_status open_parts(struct tm_exporter *e)
{
    struct tm_budget *const budget = &e->run->budget;
    const struct tm_trace_writer_type *const type = e->writer->type;
    const struct tm_lanes_options lanes = {
        .account = TM_ACCOUNT_THREADS, .memory_bytes = tm_budget_share(budget, TM_ACCOUNT_THREADS) / 16 * 15,
        .holds = e->may_cut, .outer_first = !type->writes_ends,
    };

    e->common = tm_take(budget, TM_ACCOUNT_TABLES, TM_ARGUMENTS_MOST, &e->run->error);
    if (e->common)
        e->begun = tm_take(budget, TM_ACCOUNT_TABLES, TM_ARROW_SETS * sizeof(*e->begun), &e->run->error);
    if (e->begun)
        e->lanes = tm_lanes_new(e->run, &lanes);
    if (e->lanes)
        e->rows = tm_out_rows_new(e->run, e->names, e->options.names_hosts,
                                  tm_budget_share(budget, TM_ACCOUNT_MODEL) / 4);
    if (!e->rows)
        return e->run->error.status;
    if (e->options.filter && e->options.filter->count) {
        e->filter = tm_event_filter_new(e->run, e->names, e->options.filter);
        if (!e->filter)
            return e->run->error.status;
    }
    return put_names(e);
}

struct tm_exporter *tm_exporter_new(struct tm_run *run, struct tm_names *names, const struct tm_export_options *options)
{
    struct tm_exporter *const e = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*e), &run->error);
    const struct tm_trace_writer_type *const type = options->writer->type;

    if (!e)
        return NULL;
    e->run = run;
    e->names = names;
    e->options = *options;
    e->writer = options->writer;
    e->may_cut = options->wants_cut != NULL;
    e->ends_at_once = !e->may_cut && !(type->writes_ends && type->end);
    reset_counts(e);
    if (open_parts(e) == TM_OK)
        return e;
    tm_exporter_free(e);
    return NULL;
}

void tm_exporter_free(struct tm_exporter *e)
{
    if (!e)
        return;
    tm_exporter_end_counters(e);
    tm_exporter_forget_flows(e);
    tm_event_filter_free(e->filter);
    tm_out_rows_free(e->rows);
    tm_lanes_free(e->lanes);
    tm_give(&e->run->budget, TM_ACCOUNT_TABLES, e->begun, TM_ARROW_SETS * sizeof(*e->begun));
    tm_give(&e->run->budget, TM_ACCOUNT_TABLES, e->common, TM_ARGUMENTS_MOST);
    tm_give(&e->run->budget, TM_ACCOUNT_TABLES, e, sizeof(*e));
}

void tm_exporter_begin_file(struct tm_exporter *e)
{
    reset_counts(e);
    tm_exporter_begin_arrows(e);
    tm_out_rows_begin_file(e->rows);
}

const struct tm_export_counts *tm_exporter_counts(const struct tm_exporter *e)
{
    return &e->counts;
}

/* --- time --- */

tm_status tm_exporter_time(struct tm_exporter *e, int64_t ps, int64_t *time_ps)
{
    if (!__builtin_add_overflow(ps, e->offset_ps, time_ps) && *time_ps >= 0)
        return TM_OK;
    return tm_fail(&e->run->error, TM_ERR_LIMIT, -1,
                   "an event of host '%s' lies before the begin of the output's clock, or too far after it",
                   e->trace->host_name);
}

/* The present file ends, and another one begins. */
static tm_status cut(struct tm_exporter *e, int64_t time_ps)
{
    const struct tm_trace_writer_type *const type = e->writer->type;
    struct tm_out_file *next = NULL;
    tm_status st = tm_exporter_end_spans(e, time_ps); /* what has no length is not cut in two */

    if (st == TM_OK)
        st = tm_exporter_cut_spans(e, time_ps);
    if (st == TM_OK)
        st = type->end_file(e->writer);
    if (st == TM_OK)
        st = e->options.next_file(e->options.to, &e->counts, time_ps, &next);
    if (st == TM_OK)
        st = type->begin_file(e->writer, next);
    if (st != TM_OK)
        return st;
    tm_exporter_begin_file(e);
    e->is_cut = true;
    st = tm_exporter_repeat_counters(e, time_ps);
    return st == TM_OK ? tm_exporter_resume_spans(e, time_ps) : st;
}

static tm_status cut_where_wanted(struct tm_exporter *e, int64_t time_ps)
{
    if (!e->may_cut || !e->options.wants_cut(e->options.to, &e->counts, e->writer->type->raw_bytes(e->writer),
                                             tm_lanes_count(e->lanes), time_ps))
        return TM_OK;
    return cut(e, time_ps);
}

/* Write what comes before something that begins at a time: what was worked out, and ends. */
static tm_status advance(struct tm_exporter *e, int64_t time_ps)
{
    tm_status st = TM_OK;

    while (st == TM_OK && e->derived && e->derived_part.begin_ps <= time_ps) {
        st = tm_exporter_end_spans(e, e->derived_part.begin_ps);
        if (st == TM_OK)
            st = cut_where_wanted(e, e->derived_part.begin_ps);
        if (st == TM_OK)
            st = tm_exporter_write_derived(e);
    }
    return st == TM_OK ? tm_exporter_end_spans(e, time_ps) : st;
}

/* --- hosts --- */

static tm_status look_for_arrows(struct tm_exporter *e)
{
    e->has_arrows = false;
    for (uint64_t i = 0; i < e->track_count && !e->has_arrows; i++) {
        const struct tm_track *const track = tm_rows_at(e->trace->tracks, i);

        if (!track)
            return e->run->error.status;
        e->has_arrows = track->sort == TM_TRACK_FLOWS && track->events;
    }
    return TM_OK;
}

tm_status tm_exporter_begin_host(struct tm_exporter *e, const struct tm_trace *trace, int64_t offset_ps)
{
    tm_status st;

    e->trace = trace;
    e->offset_ps = offset_ps;
    e->now_ps = -1; /* nothing lies before 0 */
    e->is_cut = false;
    e->track_count = tm_rows_count(trace->tracks);
    st = look_for_arrows(e);
    if (st == TM_OK)
        st = tm_out_rows_begin_host(e->rows, trace);
    if (st == TM_OK)
        st = tm_exporter_begin_counters(e);
    if (st == TM_OK && e->filter)
        st = tm_event_filter_begin_host(e->filter, trace);
    return st == TM_OK ? tm_exporter_begin_derived(e) : st;
}

tm_status tm_exporter_end_host(struct tm_exporter *e)
{
    const tm_status st = advance(e, INT64_MAX);

    tm_exporter_end_counters(e);
    tm_exporter_forget_flows(e);
    return st;
}

/* --- events --- */

/* Where an event lies.
 * out: track  a copy of its track; item->number TM_NONE: an end of an arrow that points nowhere */
static tm_status place(struct tm_exporter *e, const struct tm_event *event, struct tm_export_item *item,
                       struct tm_track *track)
{
    const struct tm_track *found;
    struct tm_argument argument;

    *item = (struct tm_export_item){ .event = event, .track = track, .number = event->record.track };
    if (tm_is_flow(&event->record))
        item->number = tm_arguments_find(event->own, TM_ARGUMENT_PLACE, &argument) && argument.value < e->track_count
                           ? argument.value
                           : TM_NONE;
    found = tm_rows_at(e->trace->tracks, item->number == TM_NONE ? event->record.track : item->number);
    if (!found)
        return e->run->error.status;
    *track = *found;
    return TM_OK;
}

enum choice { WANTED, ELSEWHERE /* on another device: in another output */, UNWANTED };

/* Whether an event is wanted, and which part of it, on the output's clock.  Of arrows the filter is asked wherever they
 * lie: an end may be wanted whose begin lies elsewhere. */
static tm_status choose(struct tm_exporter *e, struct tm_export_item *item, enum choice *choice)
{
    const struct tm_record *const record = &item->event->record;
    const bool is_here = !e->options.has_device || tm_event_device(item->track, item->event) == e->options.device;
    struct tm_wanted part = { true, record->start_ps, record->start_ps + record->dur_ps };
    tm_status st = TM_OK;

    if (e->filter && (is_here || tm_is_flow(&item->event->record)))
        st = tm_event_filter_take(e->filter, item->track, item->event, &part);
    *choice = !part.is_wanted ? UNWANTED : is_here ? WANTED : ELSEWHERE;
    if (st != TM_OK || *choice != WANTED) {
        tm_tally_add(&e->run->tallies, TM_TALLY_FILTERED_OUT, *choice == UNWANTED && is_here);
        return st;
    }
    st = tm_exporter_time(e, part.begin_ps, &item->begin_ps);
    return st == TM_OK ? tm_exporter_time(e, part.end_ps, &item->end_ps) : st;
}

/* A span or an instant, with the counters that it brings. */
static tm_status take_other(struct tm_exporter *e, const struct tm_export_item *item)
{
    const uint8_t class = item->event->record.class;
    tm_status st = tm_exporter_take_span(e, item);

    if (st == TM_OK && !e->trace->has_memory_counters && (class == TM_CLASS_ALLOC || class == TM_CLASS_FREE))
        st = tm_exporter_take_allocation(e, item);
    return st;
}

/* An arrow is not parted from a span of length 0 at its time, as long as there are not too many of them. */
static bool stays_together(struct tm_exporter *e, const struct tm_event *event)
{
    if (tm_is_flow(&event->record) && e->empty_spans && e->kept_together++ < TM_KEPT_TOGETHER_MOST)
        return true;
    e->kept_together = 0;
    return false;
}

tm_status tm_exporter_take(struct tm_exporter *e, const struct tm_event *event)
{
    struct tm_export_item item;
    struct tm_track track;
    enum choice choice = UNWANTED;
    tm_status st = place(e, event, &item, &track);

    if (st == TM_OK)
        st = choose(e, &item, &choice);
    if (st != TM_OK || choice == ELSEWHERE)
        return st;
    if (choice == UNWANTED)
        return tm_is_flow(&event->record) ? tm_exporter_lose_flow(e, event) : TM_OK;
    assert(item.begin_ps >= e->now_ps); /* the order of the stream */
    if (item.begin_ps > e->now_ps)
        st = advance(e, item.begin_ps);
    e->now_ps = item.begin_ps;
    if (st == TM_OK && !stays_together(e, event))
        st = cut_where_wanted(e, item.begin_ps);
    if (st != TM_OK)
        return st;
    if (tm_is_flow(&event->record))
        return tm_exporter_take_flow(e, &item);
    return event->record.kind == TM_COUNTER ? tm_exporter_take_counter(e, &item) : take_other(e, &item);
}
