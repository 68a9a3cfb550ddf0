/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered events and computed rows, merged by time and written; the other parts of the work are in their own files.
 * Memory: see exporter.h; nothing grows with the number of events. */
#include "stages/output/export/exporter.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/argument_templates.h"
#include "pipeline/strings.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"
#include "stages/output/derived/derived.h"
#include "stages/output/trace_writer.h"

/* Arrows whose start was not written, as long as their end has not come. */
enum { TM_LOST_FLOWS_MOST = 1 << 14 };

/* Spans of length 0 that stay open for arrows of their time, one of a row; arrows of one time that must not be
 * separated from them. */
enum { TM_EMPTY_SPANS_MOST = 256, TM_KEPT_TOGETHER_MOST = 256 };

/* Something recorded that is to be written. */
struct tm_export_item {
    const struct tm_event *event;
    const struct tm_track *track; /* that it is on; of the end of an arrow the one that it points to */
    uint64_t number;              /* of that track; TM_NONE = of none */
    int64_t start_ps, end_ps;     /* the requested part, on the output's clock */
    bool is_whole;                /* the part is all of it */
    bool is_copy;                 /* a call that launched work, beside that work */
};

/* Allocator data of events, as counters of the device.  Allocates no memory. */

enum { NAME_MOST = 1024 };

static uint32_t find_device(const struct tm_trace *trace, enum tm_device_kind kind, int64_t ordinal)
{
    for (uint32_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].kind == kind && trace->devices[i].ordinal == ordinal)
            return i;
    return TM_NONE;
}

/* The device of an allocator, from its name (XLA: GPU_0_bfc; PyTorch: gpu:0, or cuda:0), or its number on the host;
 * TM_NONE = none. */
static uint32_t device_of(struct tm_exporter *e, const struct tm_allocation *a)
{
    static const char *const begins[] = { "GPU_", "gpu:", "GPU:", "cuda:", "CUDA:" };
    uint32_t device = TM_NONE;
    const char *text;
    size_t length;

    if (!a->allocator)
        return a->has & TM_HAS_INDEX_ON_HOST ? find_device(e->trace, TM_DEVICE_TPU, a->index_on_host) : TM_NONE;
    text = tm_names_text(e->names, a->allocator, NAME_MOST, &length);
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        const size_t skip = strlen(begins[i]);

        if (length > skip && memcmp(text, begins[i], skip) == 0 && text[skip] >= '0' && text[skip] <= '9')
            device = find_device(e->trace, TM_DEVICE_GPU, strtoll(text + skip, NULL, 10));
    }
    return device;
}

static void exporter_take_allocation(struct tm_exporter *e, const struct tm_export_item *item)
{
    const struct tm_event *const event = item->event;
    struct tm_counter_key c = { .process = item->track->process,
                                .unit = e->bytes_unit,
                                .order = TM_COUNTER_RECORDED,
                                .only_changes = true,
                                .event = event };
    struct tm_allocation a;
    char name[48];
    uint32_t device;

    if (event->record.args_length != sizeof(a))
        return;
    memcpy(&a, event->args, sizeof(a));
    device = device_of(e, &a);
    if (device != TM_NONE)
        c.process = tm_out_rows_device_process(e->rows, device);
    c.name = a.allocator;
    if (!c.name) {
        const int length = a.has & TM_HAS_INDEX_ON_HOST
                               ? snprintf(name, sizeof(name), "device %lld", (long long)a.index_on_host)
                               : snprintf(name, sizeof(name), "allocator");

        c.name = tm_names_put(e->names, name, (size_t)length);
    }
    const struct {
        uint32_t has;
        const char *what;
        int64_t bytes;
    } states[] = {
        { TM_HAS_ALLOCATED, " bytes allocated", a.bytes_allocated },
        { TM_HAS_RESERVED, " bytes reserved", a.bytes_reserved },
        { TM_HAS_AVAILABLE, " bytes available", a.bytes_available },
        { TM_HAS_PEAK, " peak bytes in use", a.peak_bytes_in_use },
    };
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        const struct tm_counter_value value = tm_whole_value(states[i].bytes);

        c.suffix = states[i].what;
        if (a.has & states[i].has)
            tm_exporter_count(e, &c, &value, item->start_ps);
    }
}

/* Events and computed rows that are values of counters.  Allocates no memory. */

enum { NUMBER_MOST = 64 };

/* --- values --- */

/* A decimal number in JSON syntax, perhaps in a string. */
static bool read_number(const struct tm_argument *argument, struct tm_counter_value *value)
{
    char text[NUMBER_MOST + 1], *end;

    if (!argument->length || argument->length > NUMBER_MOST)
        return false;
    memcpy(text, argument->text, argument->length);
    text[argument->length] = '\0';
    if (strspn(text, "0123456789+-.eE") != argument->length)
        return false;
    value->value = strtod(text, &end);
    return *end == '\0' && isfinite(value->value);
}

/* false: it is not finite */
static bool value_of(const struct tm_argument *argument, struct tm_counter_value *value)
{
    *value = (struct tm_counter_value){ .is_whole = false };
    switch (argument->type) {
    case TM_ARGUMENT_INT:
        *value = tm_whole_value(argument->number);
        return true;
    case TM_ARGUMENT_UINT:
        if (argument->value <= INT64_MAX)
            *value = tm_whole_value((int64_t)argument->value);
        else
            value->value = (double)argument->value;
        return true;
    case TM_ARGUMENT_DOUBLE:
        value->value = argument->real;
        return isfinite(argument->real);
    case TM_ARGUMENT_NUMBER:
    case TM_ARGUMENT_TEXT:
        return read_number(argument, value);
    default:
        return false;
    }
}

/* --- what has them --- */

static void take_argument(struct tm_exporter *e, const struct tm_counter_key *c, const struct tm_argument *argument,
                          int64_t time_ps)
{
    struct tm_counter_value value;

    if (value_of(argument, &value))
        tm_exporter_count(e, c, &value, time_ps);
    else
        tm_tally_add(&e->run->tallies, TM_TALLY_COUNTER_WITHOUT_VALUE, 1);
}

/* Whether an argument has the value of an XSpace's counter.  The same string may have several handles. */
static bool is_counter_value(struct tm_exporter *e, tm_strid key)
{
    struct tm_name_answer *const known = tm_name_answer(e->keys, TM_KNOWN_KEYS, key);

    if (!known->is_known) {
        known->is_known = true;
        known->answer = tm_is_same_key(tm_names_info(e->names, key).hash, e->counter_value);
    }
    return known->answer;
}

/* In a Chrome trace, each number is a counter, in an XSpace the single statistic, in a Perfetto trace the value without
 * a key. */
static void exporter_take_counter(struct tm_exporter *e, const struct tm_export_item *item)
{
    const bool has_keys = e->trace->origin != TM_ORIGIN_XSPACE;
    struct tm_arguments list = item->event->own;
    struct tm_argument id, argument;
    const tm_strid name = item->event->record.name;
    struct tm_counter_key c = { .process = item->track->process,
                                .name = name ? name : e->no_name,
                                .unit = item->track->unit,
                                .order = TM_COUNTER_RECORDED,
                                .event = item->event };
    bool is_any = false;

    if (tm_arguments_find(list, TM_ARGUMENT_ID, &id)) {
        c.id = id.text;
        c.id_length = id.length;
    }
    while (tm_arguments_next(&list, true, &argument)) {
        if (!tm_argument_is_value(&argument) || (!has_keys && argument.key && !is_counter_value(e, argument.key)))
            continue;
        is_any = true;
        c.key = has_keys ? argument.key : 0;
        take_argument(e, &c, &argument, item->start_ps);
    }
    tm_tally_add(&e->run->tallies, TM_TALLY_COUNTER_WITHOUT_VALUE, !is_any);
}

/* "busy share \u00b7 tracemill" of all devices, "gpu:0 busy share \u00b7 tracemill", "idle: input pipeline \u00b7 tracemill" */
static void name_derived_counter(struct tm_exporter *e, const struct tm_derived_row *row, char name[TM_OWN_NAME_BYTES])
{
    char text[TM_OWN_NAME_BYTES];
    size_t length;
    const char *const what = tm_names_text(e->names, row->name, sizeof(text) - 1, &length);

    memcpy(text, what, length);
    text[length] = '\0';
    tm_out_rows_name_of_device(e->rows, row->sort == TM_DERIVED_IDLE ? TM_NONE : row->device,
                               row->sort != TM_DERIVED_QUEUE, text, name, TM_OWN_NAME_BYTES);
    if (!e->options.side)
        return;
    const size_t used = strlen(name);

    (void)snprintf(name + used, TM_OWN_NAME_BYTES - used, " \u00b7 %s", e->options.side->label);
}

/* The value of a counter that has none yet in the current host, or whose place another one took. */
static uint64_t count_derived(struct tm_exporter *e, const struct tm_derived_row *row,
                              const struct tm_counter_value *value, int64_t time_ps)
{
    const bool is_share = row->sort != TM_DERIVED_QUEUE;
    char name[TM_OWN_NAME_BYTES];
    const struct tm_counter_key c = {
        .process = is_share ? tm_out_rows_own_process(e->rows) : tm_out_rows_device_process(e->rows, row->device),
        .device = row->sort == TM_DERIVED_IDLE ? row->row : row->device,
        .suffix = name,
        .unit = is_share ? e->percent_unit : 0,
        .order = row->sort == TM_DERIVED_IDLE                             ? TM_COUNTER_ALL_IDLE
                 : row->sort == TM_DERIVED_BUSY && row->device == TM_NONE ? TM_COUNTER_ALL_BUSY
                 : is_share                                               ? TM_COUNTER_BUSY
                                                                          : TM_COUNTER_QUEUE,
    };

    name_derived_counter(e, row, name);
    return tm_exporter_count(e, &c, value, time_ps);
}

static void exporter_take_derived_counter(struct tm_exporter *e, const struct tm_derived_row *row, int64_t time_ps)
{
    const bool is_whole = row->sort == TM_DERIVED_QUEUE && row->value == trunc(row->value) && fabs(row->value) < 9e15;
    const struct tm_counter_value value =
        is_whole ? tm_whole_value((int64_t)row->value) : (struct tm_counter_value){ .value = row->value };
    struct tm_known_counter *const known = &e->counters[(row->device * 8 + row->row + row->sort) % TM_KNOWN_COUNTERS];

    if (!isfinite(row->value))
        tm_tally_add(&e->run->tallies, TM_TALLY_COUNTER_WITHOUT_VALUE, 1);
    else if (known->series && known->sort == row->sort && known->device == row->device && known->row == row->row)
        tm_exporter_count_again(e, known->series, &value, time_ps);
    else
        *known = (struct tm_known_counter){ count_derived(e, row, &value, time_ps), row->device, row->row, row->sort };
}

/* Arrows: those that the file has, and those from calls to what they launched.  Where a start is left out, so are its
 * ends: such arrows are kept until their end comes, in a table of fixed size (256 KiB of `tables`, once there is one);
 * past it, ends are written without a start, which readers count and leave out. */

/* --- the set of lost ones: linear probing, holes are closed --- */

enum { PLACES = 2 * TM_LOST_FLOWS_MOST };

static size_t home_of(const struct tm_lost_flows *lost, uint64_t id)
{
    return (size_t)tm_hash_mix(id, lost->seed) & (PLACES - 1);
}

static bool ends_flow(const void *slot, const void *id)
{
    const uint64_t lost = *(const uint64_t *)slot;

    return !lost || lost == *(const uint64_t *)id;
}

static uint64_t *find_place(const struct tm_lost_flows *lost, uint64_t id)
{
    return tm_probe(lost->ids, PLACES, sizeof(id), home_of(lost, id), &id, ends_flow);
}

static bool is_lost(const struct tm_lost_flows *lost, uint64_t id)
{
    return lost->count && *find_place(lost, id) == id;
}

static void lose(struct tm_exporter *e, uint64_t id)
{
    struct tm_lost_flows *const lost = &e->lost;
    uint64_t *at;

    if (!lost->ids) {
        lost->ids = tm_take(&e->run->budget, TM_ACCOUNT_TABLES, PLACES * sizeof(*lost->ids), &e->run->error);
        lost->seed = tm_hash_seed(lost);
    }
    if (!lost->ids)
        return;
    at = find_place(lost, id);
    if (*at == id || lost->count == TM_LOST_FLOWS_MOST)
        return;
    *at = id;
    lost->count++;
}

static void find_again(struct tm_lost_flows *lost, uint64_t id)
{
    size_t hole;

    if (!is_lost(lost, id))
        return;
    hole = (size_t)(find_place(lost, id) - lost->ids);
    lost->count--;
    for (size_t at = (hole + 1) & (PLACES - 1); lost->ids[at]; at = (at + 1) & (PLACES - 1)) {
        const size_t home = home_of(lost, lost->ids[at]);

        /* What follows the hole moves into it, unless its home is between them. */
        if (((at - home) & (PLACES - 1)) >= ((at - hole) & (PLACES - 1))) {
            lost->ids[hole] = lost->ids[at];
            hole = at;
        }
    }
    lost->ids[hole] = 0;
}

static void exporter_forget_flows(struct tm_exporter *e)
{
    tm_give(&e->run->budget, TM_ACCOUNT_TABLES, e->lost.ids, PLACES * sizeof(*e->lost.ids));
    e->lost = (struct tm_lost_flows){ .ids = NULL };
}

/* --- the arrows that show in the current file --- */

/* Arrows in the current file. */
static void exporter_begin_arrows(struct tm_exporter *e)
{
    memset(e->begun, 0, TM_ARROW_SETS * sizeof(*e->begun));
    memset(e->flows, 0, TM_FLOW_BLOCKS * sizeof(*e->flows));
    e->arrows_begun = 0;
}

enum { SEED = 1 }; /* fixed: what is forgotten shows in the counts */

static struct tm_known_arrow *set_of(const struct tm_exporter *e, uint64_t id)
{
    return e->begun[tm_hash_mix(id, SEED) % TM_ARROW_SETS];
}

/* out: whether it was known.  It is the last one that will be forgotten. */
static bool use_arrow(struct tm_exporter *e, uint64_t id, bool may_begin)
{
    struct tm_known_arrow *const set = set_of(e, id), used = { .flow = id };
    size_t way = 0;
    bool is_known;

    while (way < TM_ARROW_WAYS - 1 && set[way].flow != id)
        way++;
    is_known = set[way].flow == id;
    if (!is_known && !may_begin)
        return false;
    used.number = is_known ? set[way].number : ++e->arrows_begun;
    for (; way; way--)
        set[way] = set[way - 1];
    set[0] = used;
    return is_known;
}

/* The same of a flow that needs no number.  Ids of successive launches are successive numbers: their bits stay in the
 * cache, where an entry of 16 bytes for each would be fetched twice, which took 5% of the time of a conversion. */
static inline bool use_flow(struct tm_exporter *e, uint64_t id)
{
    const uint64_t number = id / TM_FLOW_BLOCK_BITS + 1, bit = UINT64_C(1) << id % 64;
    struct tm_flow_block *const block = &e->flows[number % TM_FLOW_BLOCKS];
    uint64_t *const word = &block->bits[id % TM_FLOW_BLOCK_BITS / 64];
    bool is_known;

    if (block->number != number)
        *block = (struct tm_flow_block){ .number = number };
    is_known = (*word & bit) != 0;
    *word |= bit;
    return is_known;
}

/* Ids of drivers, which launch_id keeps; others are hashes. */
static inline bool is_counted_id(uint64_t id)
{
    return id >> 56 == 0;
}

/* A span or an instant with a flow is to be written. */
static void exporter_count_launch(struct tm_exporter *e, struct tm_out_event *event)
{
    const bool has_number = e->writer->type->numbers_flows;
    const bool is_known =
        has_number || !is_counted_id(event->flow) ? use_arrow(e, event->flow, true) : use_flow(e, event->flow);

    e->counts.arrows += is_known;
    event->begins_flow = !is_known;
    if (has_number) /* apart from those of the file's own arrows, where both are written */
        event->flow = set_of(e, event->flow)->number + (e->has_arrows ? UINT64_C(1) << 40 : 0);
}

/* An end whose start was lost is not written: each one that is has its start, but perhaps in the part before. */
static void count_flow(struct tm_exporter *e, const struct tm_out_flow *flow)
{
    const bool is_begin = flow->kind == TM_FLOW_BEGIN;
    const bool is_known = e->may_cut && use_arrow(e, flow->id, is_begin);

    e->counts.arrow_ends++;
    e->counts.arrows += !is_begin && (is_known || !e->is_cut);
}

/* --- arrows of the file --- */

/* The current host among those of the output. */
static uint64_t host_number(const struct tm_exporter *e)
{
    return (uint64_t)e->trace->host + (e->options.side ? e->options.side->first_host : 0);
}

/* Each host numbers its own arrows. */
static uint64_t id_of(const struct tm_exporter *e, uint64_t correlation)
{
    const uint64_t host = host_number(e), id = host ? tm_hash_mix(correlation, host) : correlation;

    return id ? id : 1;
}

/* It is not requested. */
static void exporter_lose_flow(struct tm_exporter *e, const struct tm_event *event)
{
    const uint64_t id = id_of(e, event->record.correlation);

    if (event->record.kind == TM_FLOW_BEGIN)
        lose(e, id);
    else if (event->record.kind == TM_FLOW_END)
        find_again(&e->lost, id);
}

static void drop(struct tm_exporter *e, const struct tm_event *event, enum tm_tally tally)
{
    tm_tally_add(&e->run->tallies, tally, 1);
    exporter_lose_flow(e, event);
}

static inline tm_strid exporter_category(struct tm_exporter *e, const struct tm_event *event);
static inline int64_t exporter_time(struct tm_exporter *e, int64_t ps);
static void exporter_begin_derived(struct tm_exporter *e);
static void exporter_write_derived(struct tm_exporter *e);

static void exporter_take_flow(struct tm_exporter *e, const struct tm_export_item *item)
{
    const struct tm_record *const record = &item->event->record;
    const bool is_begin = record->kind == TM_FLOW_BEGIN;
    struct tm_argument argument;
    struct tm_out_flow flow = { .time_ps = item->start_ps,
                                .id = id_of(e, record->correlation),
                                .name = record->name ? record->name : e->no_name,
                                .kind = record->kind };
    uint32_t lane;

    flow.is_enclosed =
        record->kind != TM_FLOW_END || tm_arguments_find(item->event->own, TM_ARGUMENT_ENCLOSED, &argument);
    if (!is_begin && record->flags & TM_FLAG_OPEN) {
        drop(e, item->event, TM_TALLY_FLOW_NOT_BEGUN);
        return;
    }
    if (e->work_lanes && tm_is_of_device(item->track)) /* from a launch: it is drawn by the ids of both */
        return;
    lane = item->number == TM_NONE ? UINT32_MAX : tm_lanes_innermost(e->lanes, item->number);
    if ((!is_begin && is_lost(&e->lost, flow.id)) ||
        (lane == UINT32_MAX && (flow.is_enclosed || item->number == TM_NONE))) {
        drop(e, item->event, TM_TALLY_FLOW_WITHOUT_SPAN);
        return;
    }
    find_again(&e->lost, flow.id);
    flow.category = exporter_category(e, item->event);
    flow.row = tm_out_rows_use(e->rows, e->writer, item->number, flow.is_enclosed ? lane : 0, &e->counts.rows);
    count_flow(e, &flow);
    e->writer->type->flow(e->writer, &flow);
}

/* --- from launches to activities --- */

/* Drivers count their calls: such ids stay small, since two events carry each; others are a hash. */
static uint64_t launch_id(uint64_t host, uint64_t correlation)
{
    const uint64_t parts[] = { host, correlation };

    if (correlation >> 40 == 0 && host <= UINT16_MAX)
        return host << 40 | correlation;
    return tm_hash_key(parts, sizeof(parts)).low | UINT64_C(1) << 62;
}

/* Whether only the work of one device is written. */
static bool is_of_device(const struct tm_exporter *e)
{
    return e->options.has_device && e->options.device != TM_NONE;
}

/* The arrow from a call to what it launched that an event belongs to; 0 = none. */
static uint64_t exporter_launch_arrow(const struct tm_exporter *e, const struct tm_track *track,
                                      const struct tm_event *event)
{
    const bool is_launched = event->launch_track != TM_NONE && track->line != TM_LINE_TPU_OPS;

    /* In the part of a device, the file's own arrows start elsewhere; in that of a step, they end elsewhere in time. */
    if ((e->has_arrows && !is_of_device(e) && !e->work_lanes) || !event->record.correlation || e->options.is_overview)
        return 0;
    if (!is_launched && event->record.class != TM_CLASS_LAUNCH && track->line != TM_LINE_TPU_MODULES)
        return 0;
    return launch_id(host_number(e), event->record.correlation);
}

/* Spans and instants: what is written of them, on which lane, and when they end or are cut. */

/* --- writing --- */

/* Complete the event of a span, which may have been released, for the writer, with those of its marks.  The span keeps
 * its marks: a copy for each start and each end costs 5% of the writing. */
static inline void give_event(struct tm_exporter *e, struct tm_lane_span *span, uint8_t marks,
                              void (*take)(struct tm_trace_writer *w, const struct tm_out_event *event))
{
    struct tm_out_event *const event = &span->event;
    const uint8_t all = event->marks;

    event->row = tm_out_rows_use(e->rows, e->writer, span->track, span->lane, &e->counts.rows);
    event->marks &= marks;
    if (event->template)
        event->trace = e->trace;
    take(e->writer, event);
    event->marks = all;
}

static inline void write_begin(struct tm_exporter *e, struct tm_lane_span *span)
{
    const struct tm_trace_writer_type *const type = e->writer->type;

    e->counts.slices++;
    tm_exporter_note_time(e, span->event.start_ps);
    if (type->begin) /* cuts are reported at the end, when they are known */
        give_event(e, span, type->writes_ends ? (uint8_t)~TM_OUT_CUTS : UINT8_MAX, type->begin);
}

static inline void write_end(struct tm_exporter *e, struct tm_lane_span *span)
{
    const struct tm_trace_writer_type *const type = e->writer->type;

    tm_exporter_note_time(e, span->event.end_ps);
    if (type->end)
        give_event(e, span, type->writes_ends ? TM_OUT_CUTS | TM_OUT_PIECES : UINT8_MAX, type->end);
}

static void write_instant(struct tm_exporter *e, struct tm_lane_span *span)
{
    e->counts.slices++;
    tm_exporter_note_time(e, span->event.start_ps);
    give_event(e, span, UINT8_MAX, e->writer->type->instant);
}

/* --- beginning --- */

static bool is_empty(const struct tm_lane_span *span)
{
    return span->event.end_ps == span->event.start_ps;
}

/* Whether the end of a span that stays open is reported with its start.  Where a span is written as one, readers look
 * for one without length before the arrows that point to it. */
static bool is_written(const struct tm_exporter *e, const struct tm_lane_span *span)
{
    return e->ends_at_once || (is_empty(span) && !e->writer->type->writes_ends);
}

/* Whether it is open after it has started: of what has no length what arrows may point to. */
static bool stays_open(struct tm_exporter *e, const struct tm_lane_span *span)
{
    if (!is_empty(span))
        return true;
    if (!e->has_arrows || span->key || e->empty_spans == TM_EMPTY_SPANS_MOST)
        return false;
    e->empty_spans++;
    return true;
}

/* Something starts on a track. */
static void end_empty(struct tm_exporter *e, struct tm_lanes *lanes, uint64_t track)
{
    struct tm_lane_span *const ended = e->empty_spans ? tm_lanes_end_empty(lanes, track) : NULL;

    if (!ended)
        return;
    e->empty_spans--;
    if (!is_written(e, ended))
        write_end(e, ended);
}

/* in: span  track, key and event, without its row */
TM_INLINE void exporter_add_span(struct tm_exporter *e, struct tm_lanes *lanes, struct tm_lane_span *span)
{
    bool is_open;

    end_empty(e, lanes, span->track);
    if (!tm_lanes_choose(lanes, span)) {
        tm_tally_add(&e->run->tallies, TM_TALLY_LANES_FULL, 1);
        return;
    }
    if (span->event.flow && !(span->event.is_instant && e->writer->type->numbers_flows)) /* JSON has none there */
        exporter_count_launch(e, &span->event);
    if (span->event.is_instant) {
        write_instant(e, span);
        return;
    }
    if (span->lane && !span->key)
        tm_tally_add(&e->run->tallies, TM_TALLY_LANE_MOVED, 1);
    is_open = stays_open(e, span);
    write_begin(e, span);
    if (!is_open || is_written(e, span))
        write_end(e, span);
    if (is_open)
        tm_lanes_open(lanes, span);
}

/* Classes that say more about an event than its kind. */
static bool is_telling(enum tm_class class)
{
    switch (class) {
    case TM_CLASS_UNRESOLVED:
    case TM_CLASS_OTHER:
    case TM_CLASS_DEVICE_OTHER:
    case TM_CLASS_INSTANT:
    case TM_CLASS_COUNTER:
    case TM_CLASS_FLOW:
    case TM_CLASS_ASYNC:
        return false;
    default:
        return true;
    }
}

/* The category among the arguments; 0 = none. */
static tm_strid own_category(struct tm_exporter *e, struct tm_arguments list)
{
    const bool may_have_own = list.length && !*list.bytes; /* with key 0, at the front */
    struct tm_argument own;

    if (may_have_own && tm_arguments_find(list, TM_ARGUMENT_CATEGORY, &own) && own.length)
        return tm_names_put(e->names, own.text, own.length);
    return 0;
}

TM_NOT_INLINE tm_strid learn_category(struct tm_exporter *e, struct tm_known_category *known, uint32_t number)
{
    const struct tm_argument_template *const template = tm_argument_template(e->trace->templates, number);

    *known = (struct tm_known_category){ number, own_category(e, (struct tm_arguments){ .bytes = template->list,
                                                                                        .length = template->length }) };
    return known->category;
}

static inline tm_strid category_in_template(struct tm_exporter *e, uint32_t number)
{
    struct tm_known_category *const known = &e->categories[number % TM_KNOWN_CATEGORIES];

    return known->template == number ? known->category : learn_category(e, known, number);
}

static inline tm_strid exporter_category(struct tm_exporter *e, const struct tm_event *event)
{
    const tm_strid own = event->record.flags & TM_FLAG_TEMPLATE ? category_in_template(e, event->record.common)
                                                                : own_category(e, event->own);

    if (own)
        return own;
    return is_telling((enum tm_class)event->record.class) ? e->classes[event->record.class] : 0;
}

TM_INLINE void exporter_take_span(struct tm_exporter *e, const struct tm_export_item *item)
{
    const struct tm_record *const record = &item->event->record;
    const uint64_t key = record->correlation ? record->correlation : 1;
    /* Every member is set: clearing what is left out takes longer than setting it. */
    struct tm_lane_span span = {
        .track = item->number,
        .key = item->track->sort == TM_TRACK_ASYNC ? key : 0,
        .lane = 0,
        .is_over = false,
        .event = { .row = NULL,
                   .start_ps = item->start_ps,
                   .end_ps = item->end_ps,
                   .whole_begin_ps = item->is_whole ? item->start_ps : exporter_time(e, record->start_ps),
                   .whole_end_ps = item->is_whole ? item->end_ps : exporter_time(e, record->start_ps + record->dur_ps),
                   .name = record->name ? record->name : e->no_name,
                   .category = exporter_category(e, item->event),
                   .template = record->flags & TM_FLAG_TEMPLATE ? record->common : 0,
                   .marks = 0,
                   .is_instant = tm_event_is_instant(record),
                   .is_gap = false,
                   .begins_flow = false,
                   .own = item->event->own,
                   .common = { .bytes = NULL, .length = 0 },
                   .of_step = 0,
                   .correlation = record->correlation,
                   .flow = exporter_launch_arrow(e, item->track, item->event),
                   .of = item->event,
                   .trace = e->trace },
    };
    struct tm_out_event *const event = &span.event;

    if (record->common && !event->template &&
        tm_trace_common(e->trace, record->common, e->common, &event->common) != TM_OK)
        return;
    event->marks = tm_out_cuts_of(event);
    event->marks |= record->flags & TM_FLAG_OPEN ? TM_OUT_UNFINISHED : 0;
    exporter_add_span(e, e->work_lanes && tm_is_of_device(item->track) ? e->work_lanes : e->lanes, &span);
}

/* --- ending --- */

/* The end of the part for calls; nothing of theirs is written beyond it. */
static int64_t part_end(const struct tm_exporter *e)
{
    return e->work_lanes ? *e->options.part_end_ps : INT64_MAX;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline void end_spans(struct tm_exporter *e, struct tm_lanes *lanes, int64_t time_ps)
{
    struct tm_lane_span *ended;

    while (tm_lanes_may_end(lanes, time_ps) && (ended = tm_lanes_next_end(lanes, time_ps)))
        if (!is_written(e, ended) && !ended->is_over)
            write_end(e, ended);
}

/* Everything that ends at time_ps or before; nothing more happens at that time. */
static void exporter_end_spans(struct tm_exporter *e, int64_t time_ps)
{
    end_spans(e, e->lanes, earlier(time_ps, part_end(e)));
    if (e->work_lanes)
        end_spans(e, e->work_lanes, time_ps);
    e->empty_spans = 0;
}

/* Everything that is open ends in the current file, and continues in the next one. */
static void cut_spans(struct tm_exporter *e, struct tm_lanes *lanes, int64_t time_ps)
{
    const bool inner_first = e->writer->type->writes_ends;
    const struct tm_lane_span *span = NULL;

    while ((span = inner_first ? tm_lanes_each_back(lanes, span) : tm_lanes_each(lanes, span))) {
        struct tm_lane_span piece = *span;

        if (span->is_over)
            continue;
        piece.event.end_ps = time_ps;
        piece.event.marks |= TM_OUT_CUT_END | TM_OUT_CONTINUED;
        write_end(e, &piece);
    }
}

static void resume_spans(struct tm_exporter *e, struct tm_lanes *lanes, int64_t time_ps)
{
    struct tm_lane_span *span = NULL;

    while ((span = tm_lanes_each(lanes, span))) {
        const uint8_t marks = span->event.marks;
        const bool is_clipped = !(marks & TM_OUT_CONTINUES) && marks & TM_OUT_CUT_BEGIN;

        if (span->is_over)
            continue;
        span->event.start_ps = time_ps;
        span->event.marks |= TM_OUT_CUT_BEGIN | TM_OUT_CONTINUES | (is_clipped ? TM_OUT_CLIPPED : 0);
        span->event.flow = 0; /* the arrow ends at the first piece */
        e->counts.pieces++;
        write_begin(e, span);
    }
    tm_lanes_changed(lanes);
}

/* The work of devices that is open ends in the current file, where it ends; its lanes stay taken as long as it
 * lasts. */
static void end_work(struct tm_exporter *e)
{
    const bool inner_first = e->writer->type->writes_ends;
    struct tm_lane_span *span = NULL;

    while ((span = inner_first ? tm_lanes_each_back(e->work_lanes, span) : tm_lanes_each(e->work_lanes, span))) {
        if (!span->is_over && !is_written(e, span))
            write_end(e, span);
        span->is_over = true;
    }
}

/* --- an exporter --- */

/* The category of an event without one.  Readers of PyTorch's traces, including ours, interpret a few names: a `kernel`
 * is on the device given by its arguments or its pid, and a `cpu_op` is called by Python. */
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

static void put_names(struct tm_exporter *e)
{
    static const char counter_value[] = "counter_value";

    e->no_name = tm_names_put_string(e->names, "(no name)");
    e->own_category = tm_names_put_string(e->names, "tracemill");
    e->bytes_unit = tm_names_put_string(e->names, "bytes");
    e->percent_unit = tm_names_put_string(e->names, "%");
    for (int i = 0; i < TM_CLASS_COUNT; i++)
        e->classes[i] = tm_names_put_string(e->names, category_of((enum tm_class)i));
    e->counter_value = tm_hash_key(counter_value, sizeof(counter_value) - 1);
}

static void reset_counts(struct tm_exporter *e)
{
    e->counts = (struct tm_export_counts){ .first_ps = INT64_MAX, .last_ps = INT64_MIN };
}

static void open_parts(struct tm_exporter *e)
{
    struct tm_budget *const budget = &e->run->budget;
    const struct tm_trace_writer_type *const type = e->writer->type;
    const size_t work_bytes = tm_budget_share(budget, TM_ACCOUNT_THREADS) / 4;
    struct tm_lanes_options lanes = {
        .account = TM_ACCOUNT_THREADS,
        .memory_bytes = tm_budget_share(budget, TM_ACCOUNT_THREADS) / 32 * 31,
        .holds = e->may_cut,
        .outer_first = !type->writes_ends,
    };

    e->common = tm_take(budget, TM_ACCOUNT_TABLES, TM_ARGUMENTS_MOST, &e->run->error);
    if (e->common)
        e->begun = tm_take(budget, TM_ACCOUNT_LAUNCHES, TM_ARROW_SETS * sizeof(*e->begun), &e->run->error);
    if (e->begun)
        e->flows = tm_take(budget, TM_ACCOUNT_LAUNCHES, TM_FLOW_BLOCKS * sizeof(*e->flows), &e->run->error);
    if (e->options.part_end_ps)
        lanes.memory_bytes -= work_bytes;
    if (e->flows)
        e->lanes = tm_lanes_new(e->run, &lanes);
    lanes.memory_bytes = work_bytes;
    if (e->lanes && e->options.part_end_ps)
        e->work_lanes = tm_lanes_new(e->run, &lanes);
    if (e->lanes && !tm_failed(e->run))
        e->rows =
            tm_out_rows_new(e->run, e->names, e->options.names_hosts, tm_budget_share(budget, TM_ACCOUNT_MODEL) / 4);
    if (e->rows && e->options.side)
        tm_out_rows_set_side(e->rows, e->options.side);
    if (e->rows && e->options.filter && e->options.filter->count)
        e->filter = tm_event_filter_new(e->run, e->names, e->options.filter);
    put_names(e);
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
    open_parts(e);
    if (!tm_failed(run))
        return e;
    tm_exporter_free(e);
    return NULL;
}

void tm_exporter_free(struct tm_exporter *e)
{
    if (!e)
        return;
    tm_exporter_end_counters(e);
    exporter_forget_flows(e);
    tm_sorter_free(e->launches.sorter);
    tm_event_filter_free(e->filter);
    tm_out_rows_free(e->rows);
    tm_lanes_free(e->work_lanes);
    tm_lanes_free(e->lanes);
    tm_give(&e->run->budget, TM_ACCOUNT_LAUNCHES, e->flows, TM_FLOW_BLOCKS * sizeof(*e->flows));
    tm_give(&e->run->budget, TM_ACCOUNT_LAUNCHES, e->begun, TM_ARROW_SETS * sizeof(*e->begun));
    tm_give(&e->run->budget, TM_ACCOUNT_TABLES, e->common, TM_ARGUMENTS_MOST);
    tm_give(&e->run->budget, TM_ACCOUNT_TABLES, e, sizeof(*e));
}

void tm_exporter_begin_file(struct tm_exporter *e)
{
    reset_counts(e);
    exporter_begin_arrows(e);
    tm_out_rows_begin_file(e->rows);
}

const struct tm_export_counts *tm_exporter_counts(const struct tm_exporter *e)
{
    return &e->counts;
}

/* --- time --- */

/* A time of the host on the output's clock.  errors: 0, and TM_ERR_LIMIT: it is before its start, or does not fit */
TM_NOT_INLINE int64_t refuse_time(struct tm_exporter *e)
{
    (void)tm_fail(&e->run->error, TM_ERR_LIMIT, -1,
                  "an event of host '%s' is before the start of the output's clock, or too far after it",
                  e->trace->host_name);
    return 0;
}

static inline int64_t exporter_time(struct tm_exporter *e, int64_t ps)
{
    int64_t time_ps;

    return tm_clock_at(&e->clock, ps, &time_ps) && time_ps >= 0 ? time_ps : refuse_time(e);
}

/* The current file ends, and another one starts.  in: end_ps  of the calls */
static void cut(struct tm_exporter *e, int64_t time_ps, int64_t end_ps)
{
    const struct tm_trace_writer_type *const type = e->writer->type;
    struct tm_out_file *next;

    exporter_end_spans(e, time_ps); /* what has no length is not cut in two */
    cut_spans(e, e->lanes, earlier(time_ps, end_ps));
    if (e->work_lanes)
        cut_spans(e, e->work_lanes, time_ps);
    type->end_file(e->writer);
    next = tm_failed(e->run) ? NULL : e->options.next_file(e->options.to, &e->counts, end_ps);
    if (!next)
        return;
    type->begin_file(e->writer, next);
    tm_exporter_begin_file(e);
    e->is_cut = true;
    tm_exporter_repeat_counters(e, earlier(time_ps, end_ps));
    resume_spans(e, e->lanes, earlier(time_ps, end_ps));
    if (e->work_lanes)
        resume_spans(e, e->work_lanes, time_ps);
}

static void cut_where_wanted(struct tm_exporter *e, int64_t time_ps)
{
    if (!e->may_cut || tm_failed(e->run))
        return;
    const size_t open = tm_lanes_count(e->lanes) + (e->work_lanes ? tm_lanes_count(e->work_lanes) : 0);

    /* A limit ends a part before its calls have all come. */
    if (e->options.wants_cut(e->options.to, &e->counts, e->writer->type->raw_bytes(e->writer), open, time_ps))
        cut(e, time_ps, e->work_lanes ? earlier(time_ps, part_end(e) - 1) : time_ps);
}

/* Write everything that precedes a start at this time: computed rows, and ends.  After a failed cut no file is open. */
TM_NOT_INLINE void advance(struct tm_exporter *e, int64_t time_ps)
{
    while (e->derived && e->derived_part.start_ps <= time_ps && e->derived_part.start_ps < part_end(e)) {
        exporter_end_spans(e, e->derived_part.start_ps);
        cut_where_wanted(e, e->derived_part.start_ps);
        if (tm_failed(e->run))
            return;
        exporter_write_derived(e);
    }
    exporter_end_spans(e, time_ps);
}

/* The next start is at this time: it is not before the one before. */
static inline void reach(struct tm_exporter *e, int64_t time_ps)
{
    const bool has_derived = e->derived && e->derived_part.start_ps <= time_ps;

    if (time_ps == e->now_ps)
        return;
    e->now_ps = time_ps;
    if (has_derived || e->work_lanes)
        advance(e, time_ps);
    else
        end_spans(e, e->lanes, time_ps);
    e->empty_spans = 0;
}

/* --- calls that launched the work of selected devices --- */

struct kept_launch {
    int64_t start_ps;
    uint32_t track;
};

static int by_start(const void *a, const void *b)
{
    const struct kept_launch *x = a, *y = b;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return (x->track > y->track) - (x->track < y->track);
}

/* Whether devices are selected, but not the calls. */
static bool wants_launches(const struct tm_exporter *e)
{
    if (e->options.has_device)
        return is_of_device(e);
    return e->filter && !tm_event_filter_is_on(e->filter, TM_NONE);
}

bool tm_exporter_wants_scan(const struct tm_exporter *e)
{
    return wants_launches(e) || (e->filter && tm_event_filter_wants_scan(e->filter));
}

void tm_exporter_begin_scan(struct tm_exporter *e, const struct tm_trace *trace)
{
    const size_t memory = tm_budget_share(&e->run->budget, TM_ACCOUNT_MODEL) / 16;

    tm_sorter_free(e->launches.sorter);
    e->launches = (struct tm_kept_launches){ .sorter = NULL };
    if (wants_launches(e))
        e->launches.sorter = tm_sorter_new(e->run, TM_ACCOUNT_MODEL, sizeof(struct kept_launch), memory, by_start);
    if (!e->filter)
        return;
    tm_event_filter_begin_host(e->filter, trace); /* which devices are selected */
    tm_event_filter_begin_scan(e->filter);
}

tm_status tm_exporter_scan(void *exporter, const struct tm_event *event)
{
    struct tm_exporter *const e = exporter;

    if (e->filter && tm_event_filter_wants_scan(e->filter))
        tm_event_filter_scan(e->filter, event);
    if (e->launches.sorter && event->launch_track != TM_NONE && event->device != TM_NONE &&
        (!e->options.has_device || event->device == e->options.device) &&
        (!e->filter || tm_event_filter_is_on(e->filter, event->device))) {
        const struct kept_launch row = { event->launch_start_ps, event->launch_track };

        tm_sorter_push(e->launches.sorter, &row);
    }
    return e->run->error.status;
}

static void begin_launches(struct tm_exporter *e)
{
    if (!e->launches.sorter)
        return;
    tm_sorter_finish(e->launches.sorter);
    e->launches.ahead = tm_sorter_next(e->launches.sorter);
    e->launches.count = 0;
}

/* Those that start together, up to a few. */
static void next_launches(struct tm_kept_launches *l)
{
    l->count = 0;
    l->start_ps = l->ahead->start_ps;
    for (; l->ahead && l->ahead->start_ps == l->start_ps; l->ahead = tm_sorter_next(l->sorter))
        if ((!l->count || l->tracks[l->count - 1] != l->ahead->track) && l->count < TM_LAUNCHES_TOGETHER)
            l->tracks[l->count++] = l->ahead->track;
}

/* Events come by their starts, and of those that start together in any order of tracks. */
static bool is_kept_launch(struct tm_exporter *e, const struct tm_record *record)
{
    struct tm_kept_launches *const l = &e->launches;

    while ((!l->count || l->start_ps < record->start_ps) && l->ahead)
        next_launches(l);
    for (uint32_t i = 0; i < l->count && l->start_ps == record->start_ps; i++)
        if (l->tracks[i] == record->track)
            return !tm_is_flow(record);
    return false;
}

/* --- hosts --- */

static void look_for_arrows(struct tm_exporter *e)
{
    e->has_arrows = false;
    for (uint64_t i = 0; i < e->track_count && !e->has_arrows; i++) {
        const struct tm_track *const track = tm_rows_at(e->trace->tracks, i);

        e->has_arrows = track->sort == TM_TRACK_FLOWS && track->events;
    }
}

tm_status tm_exporter_begin_host(struct tm_exporter *e, const struct tm_trace *trace, const struct tm_clock *clock)
{
    e->trace = trace;
    e->clock = *clock;
    e->now_ps = -1; /* nothing is before 0 */
    e->is_cut = false;
    e->track_count = tm_rows_count(trace->tracks);
    memset(e->tracks, 0, sizeof(e->tracks));
    memset(e->categories, 0, sizeof(e->categories));
    look_for_arrows(e);
    tm_out_rows_begin_host(e->rows, trace,
                           e->options.derived && tm_derived_has_verdict(e->options.derived, trace->host));
    tm_exporter_begin_counters(e);
    if (e->filter)
        tm_event_filter_begin_host(e->filter, trace);
    begin_launches(e);
    e->takes_all = !e->filter && !e->options.has_device && !e->options.border && !e->launches.sorter && !e->may_cut;
    exporter_begin_derived(e);
    return e->run->error.status;
}

tm_status tm_exporter_end_host(struct tm_exporter *e)
{
    advance(e, INT64_MAX);
    tm_exporter_end_counters(e);
    exporter_forget_flows(e);
    return e->run->error.status;
}

/* --- events --- */

static inline const struct tm_track *find_track(struct tm_exporter *e, uint64_t number)
{
    struct tm_known_track *const known = &e->tracks[number % TM_KNOWN_TRACKS];

    if (known->number != number + 1)
        *known = (struct tm_known_track){ number + 1, *(const struct tm_track *)tm_rows_at(e->trace->tracks, number) };
    return &known->track;
}

/* The row of an event.  out: number TM_NONE: an end of an arrow that points nowhere */
static void place(struct tm_exporter *e, const struct tm_event *event, struct tm_export_item *item)
{
    struct tm_argument argument;

    *item = (struct tm_export_item){ .event = event, .number = event->record.track };
    if (tm_is_flow(&event->record))
        item->number = tm_arguments_find(event->own, TM_ARGUMENT_PLACE, &argument) && argument.value < e->track_count
                           ? argument.value
                           : TM_NONE;
    item->track = find_track(e, item->number == TM_NONE ? event->record.track : item->number);
}

enum choice { WANTED, ELSEWHERE /* on another device: in another output */, UNWANTED };

/* Whether an event is selected, and which part of it, on the output's clock.  Arrows are always tested, wherever they
 * are: an end may be needed although its start is elsewhere. */
static enum choice choose(struct tm_exporter *e, struct tm_export_item *item)
{
    const struct tm_record *const record = &item->event->record;
    const bool is_launch = e->launches.sorter && is_kept_launch(e, record);
    const bool is_own = !e->options.has_device || tm_event_device(item->track, item->event) == e->options.device;
    const bool is_here = is_own || is_launch;
    struct tm_wanted part = { true, record->start_ps, record->start_ps + record->dur_ps };

    if (e->filter && (is_here || tm_is_flow(&item->event->record)))
        tm_event_filter_take(e->filter, item->track, item->event, is_launch, &part);
    if (!part.is_wanted) {
        tm_tally_add(&e->run->tallies, TM_TALLY_FILTERED_OUT, is_here);
        return UNWANTED;
    }
    if (!is_here)
        return ELSEWHERE;
    item->is_copy = !is_own;
    if (item->is_copy) /* its own row is in the part of the host */
        item->number = tm_out_rows_launches(e->rows, e->options.device);
    item->start_ps = exporter_time(e, part.start_ps);
    item->end_ps = exporter_time(e, part.end_ps);
    item->is_whole = !e->filter;
    return WANTED;
}

/* A span or an instant, with the counters that it brings. */
TM_INLINE void take_other(struct tm_exporter *e, const struct tm_export_item *item)
{
    const uint8_t class = item->event->record.class;

    exporter_take_span(e, item);
    e->counts.launches += item->is_copy;
    if (!e->trace->has_memory_counters && (class == TM_CLASS_ALLOC || class == TM_CLASS_FREE))
        exporter_take_allocation(e, item);
}

/* An arrow is not separated from a span of length 0 at its time, as long as there are not too many of them. */
static bool stays_together(struct tm_exporter *e, const struct tm_event *event)
{
    if (tm_is_flow(&event->record) && e->empty_spans && e->kept_together++ < TM_KEPT_TOGETHER_MOST)
        return true;
    e->kept_together = 0;
    return false;
}

/* Whether a part ends where the event starts. */
static bool is_border(struct tm_exporter *e, const struct tm_record *record)
{
    struct tm_name_answer *known;
    size_t length;

    if (!e->options.border || record->kind >= TM_COUNTER || !record->name)
        return false;
    known = tm_name_answer(e->borders, TM_KNOWN_KEYS, record->name);
    if (!known->is_known) {
        const char *const text = tm_names_text(e->names, record->name, NAME_MOST, &length);

        known->is_known = true;
        known->answer = tm_glob_fits(e->options.border, text, length);
    }
    return known->answer;
}

static void take_wanted(struct tm_exporter *e, const struct tm_export_item *item)
{
    const struct tm_event *const event = item->event;

    assert(item->start_ps >= e->now_ps); /* the order of the stream */
    reach(e, item->start_ps);
    if (is_border(e, &event->record))
        e->options.at_border(e->options.to, item->start_ps);
    if (!stays_together(e, event))
        cut_where_wanted(e, item->start_ps);
    if (tm_failed(e->run))
        return;
    if (tm_is_flow(&event->record))
        exporter_take_flow(e, item);
    else if (event->record.kind == TM_COUNTER)
        exporter_take_counter(e, item);
    else
        take_other(e, item);
}

/* A span, where no option may leave it out or end a file before it: nearly all events of a conversion. */
TM_INLINE void take_whole_span(struct tm_exporter *e, const struct tm_event *event)
{
    const struct tm_record *const record = &event->record;
    const struct tm_export_item item = { .event = event,
                                         .track = find_track(e, record->track),
                                         .number = record->track,
                                         .start_ps = exporter_time(e, record->start_ps),
                                         .end_ps = exporter_time(e, record->start_ps + record->dur_ps),
                                         .is_whole = true };

    reach(e, item.start_ps);
    if (!tm_failed(e->run))
        take_other(e, &item);
}

tm_status tm_exporter_take(struct tm_exporter *e, const struct tm_event *event)
{
    struct tm_export_item item;

    if (e->takes_all && event->record.kind == TM_SPAN) {
        take_whole_span(e, event);
        return e->run->error.status;
    }
    place(e, event, &item);
    const enum choice choice = choose(e, &item);

    if (choice == WANTED && !tm_failed(e->run))
        take_wanted(e, &item);
    else if (choice == UNWANTED && tm_is_flow(&event->record))
        exporter_lose_flow(e, event);
    return e->run->error.status;
}

void tm_exporter_expect(const struct tm_exporter *e, const struct tm_event *events, uint32_t count)
{
    const struct tm_trace_writer_type *const type = e->writer->type;

    for (uint32_t i = 0; i < count; i++)
        if (events[i].record.flags & TM_FLAG_TEMPLATE)
            __builtin_prefetch(&e->categories[events[i].record.common % TM_KNOWN_CATEGORIES]);
    if (type->expect)
        type->expect(e->writer, events, count);
}

tm_status tm_exporter_end_part(struct tm_exporter *e)
{
    const int64_t end_ps = part_end(e);

    advance(e, end_ps - 1);
    if (tm_failed(e->run))
        return e->run->error.status;
    end_work(e);
    cut(e, end_ps, end_ps);
    e->now_ps = -1; /* the next part starts before this one has ended on all devices */
    return e->run->error.status;
}

/* Computed rows of a host, beside the recorded events. */

/* Find the next requested row. */
static void find_next(struct tm_exporter *e)
{
    const struct tm_derived_row *row;

    while ((row = e->derived = tm_derived_next(e->options.derived))) {
        if (e->options.has_device && row->device != e->options.device)
            continue;
        e->derived_part = (struct tm_wanted){ true, row->start_ps, row->end_ps };
        if (e->filter)
            tm_event_filter_take_derived(e->filter, row, &e->derived_part);
        if (e->derived_part.is_wanted)
            break;
    }
    if (!row)
        return;
    e->derived_part.start_ps = exporter_time(e, e->derived_part.start_ps);
    e->derived_part.end_ps = exporter_time(e, e->derived_part.end_ps);
}

static void add_work_rows(struct tm_exporter *e)
{
    const struct tm_derived_work_row *row;

    for (uint32_t i = 0; (row = tm_derived_work_row(e->options.derived, e->trace->host, i)); i++)
        tm_out_rows_add_work(e->rows, row);
}

static void exporter_begin_derived(struct tm_exporter *e)
{
    e->derived = NULL;
    if (!e->options.derived)
        return;
    tm_derived_begin(e->options.derived, e->trace->host);
    add_work_rows(e);
    find_next(e);
}

/* Each run numbers its own arrows. */
static uint64_t host_flow(const struct tm_exporter *e)
{
    return e->options.side ? (uint64_t)e->options.side->number << 60 : 0;
}

static uint64_t track_of(const struct tm_exporter *e, const struct tm_derived_row *row)
{
    if (row->sort == TM_DERIVED_WORK)
        return tm_out_rows_work(e->rows, row->row);
    if (row->sort == TM_DERIVED_FINDING)
        return tm_out_rows_finding(e->rows, (enum tm_derived_severity)row->row);
    return tm_out_rows_derived(e->rows, (enum tm_derived_sort)row->sort, row->device);
}

static void write_span(struct tm_exporter *e, const struct tm_derived_row *row)
{
    const bool is_work = row->sort == TM_DERIVED_WORK;
    /* An arrow between hosts, which are written one after the other, would start at its end. */
    const bool has_flow = !(e->writer->type->numbers_flows && e->options.names_hosts);
    struct tm_lane_span span = {
        .track = track_of(e, row),
        .event = { .start_ps = e->derived_part.start_ps,
                   .end_ps = e->derived_part.end_ps,
                   .whole_begin_ps = exporter_time(e, row->start_ps),
                   .whole_end_ps = exporter_time(e, row->end_ps),
                   .name = row->name ? row->name : e->no_name,
                   .category = e->own_category,
                   .own = row->arguments,
                   .of_step = row->sort == TM_DERIVED_STEP ? row->of_step : 0,
                   .marks = TM_OUT_DERIVED,
                   .is_instant = row->sort == TM_DERIVED_FINDING && row->start_ps == row->end_ps,
                   .flow = has_flow && row->flow ? row->flow ^ host_flow(e) : 0,
                   .is_gap = row->sort == TM_DERIVED_GAP || is_work },
    };

    span.event.marks |= tm_out_cuts_of(&span.event);
    if (row->sort == TM_DERIVED_FINDING || row->sort == TM_DERIVED_FACTS)
        span.event.marks |= TM_OUT_PUBLIC;
    exporter_add_span(e, e->lanes, &span);
}

/* the next one, and find another */
static void exporter_write_derived(struct tm_exporter *e)
{
    const struct tm_derived_row *const row = e->derived;

    if (row->sort == TM_DERIVED_QUEUE || row->sort == TM_DERIVED_BUSY || row->sort == TM_DERIVED_IDLE)
        exporter_take_derived_counter(e, row, e->derived_part.start_ps);
    else
        write_span(e, row);
    find_next(e);
}
