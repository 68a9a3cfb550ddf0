/* SPDX-License-Identifier: Apache-2.0 */
/* A place in one line of an XSpace: events on the wire become records.  Memory: one read buffer per cursor. */
#include "stages/input/xspace/xspace_private.h"

#include "pipeline/argument_templates.h"
#include "stages/resolve/classes.h"

/* One event as it is on the wire, its known statistics picked out. */
struct tm_xevent {
    int64_t metadata_id, offset_ps, duration_ps;
    bool is_aggregated;
    uint32_t unknown_fields;
    struct tm_facts facts;
};

/* One event of an XSpace on the wire: number fields and the statistics that we know.  The hottest loop of the
 * input: no allocation, text is only passed by reference. */

static enum tm_stat stat_known(struct tm_xspace *x, const struct tm_plane *plane, uint64_t plane_number, int64_t id)
{
    if (id >= 0 && id < TM_SMALL_STATS)
        return (enum tm_stat)plane->small_stats[id];
    return tm_xspace_stat(x, plane_number, id);
}

/* Put one statistic into the facts. */
static void keep_stat(struct tm_facts *facts, enum tm_stat stat, const struct tm_field *value)
{
    switch (value->key) {
    case TM_WIRE_KEY(TM_XSTAT_DOUBLE, TM_WIRE_64):
        tm_facts_put_double(facts, stat, tm_wire_double(value->value));
        break;
    case TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT):
    case TM_WIRE_KEY(TM_XSTAT_INT, TM_WIRE_VARINT):
        tm_facts_put_int(facts, stat, (int64_t)value->value);
        break;
    case TM_WIRE_KEY(TM_XSTAT_REF, TM_WIRE_VARINT):
        tm_facts_put_ref(facts, stat, value->value);
        break;
    case TM_WIRE_KEY(TM_XSTAT_STR, TM_WIRE_LEN):
    case TM_WIRE_KEY(TM_XSTAT_BYTES, TM_WIRE_LEN):
        tm_facts_put_text(facts, stat, (const char *)value->bytes, (size_t)value->value);
        break;
    default: /* another wire type than the field's has no value */
        tm_facts_put_int(facts, stat, 0);
        break;
    }
}

/* Read a statistic as writers write it: id, then the value, nothing else.
 * in:     bytes  the event from the statistic's first byte on; end  of the statistic
 * out:    false  it is another one, or damaged */
static inline bool read_plain_stat(struct tm_wire bytes, const uint8_t *end, struct tm_xstat *stat)
{
    uint64_t id;

    if (end - bytes.at < 3 || *bytes.at++ != TM_WIRE_KEY(TM_XSTAT_ID, TM_WIRE_VARINT) || !tm_wire_varint(&bytes, &id) ||
        bytes.at >= end)
        return false;
    stat->id = (int64_t)id;
    stat->value.key = *bytes.at++;
    stat->value.bytes = bytes.at;
    switch (stat->value.key) {
    case TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT):
    case TM_WIRE_KEY(TM_XSTAT_INT, TM_WIRE_VARINT):
    case TM_WIRE_KEY(TM_XSTAT_REF, TM_WIRE_VARINT):
        return tm_wire_varint(&bytes, &stat->value.value) && bytes.at == end;
    case TM_WIRE_KEY(TM_XSTAT_DOUBLE, TM_WIRE_64):
        if (end - bytes.at != 8)
            return false;
        stat->value.value = tm_wire_fixed64(bytes.at);
        return true;
    case TM_WIRE_KEY(TM_XSTAT_STR, TM_WIRE_LEN):
    case TM_WIRE_KEY(TM_XSTAT_BYTES, TM_WIRE_LEN):
        if (!tm_wire_varint(&bytes, &stat->value.value) || bytes.at > end)
            return false;
        stat->value.bytes = bytes.at;
        return stat->value.value == (uint64_t)(end - bytes.at);
    default:
        return false;
    }
}

/* Whether a field of a statistic has the wire type that the format specifies; later fields may have any.  A field with
 * another type may be an event: both are field 4 of their parent, so a wrong length turns an event's neighbors into its
 * statistics. */
static inline bool has_type_of_field(uint64_t key)
{
    const uint64_t known = UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_ID, TM_WIRE_VARINT) |
                           UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_DOUBLE, TM_WIRE_64) |
                           UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT) |
                           UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_INT, TM_WIRE_VARINT) |
                           UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_STR, TM_WIRE_LEN) |
                           UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_BYTES, TM_WIRE_LEN) |
                           UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_REF, TM_WIRE_VARINT);

    return key >= TM_WIRE_KEY(TM_XSTAT_REF + 1, 0) || (known >> key & 1);
}

static bool has_types_of_fields(struct tm_wire bytes)
{
    struct tm_field field;

    while (tm_wire_next(&bytes, &field)) {
        if (!has_type_of_field(field.key))
            return false;
    }
    return true;
}

/* in: field  the statistic; end  of the event */
static void read_stat(struct tm_xspace *x, const struct tm_plane *plane, uint64_t plane_number,
                      const struct tm_field *field, const uint8_t *end, struct tm_xevent *event, bool *damaged)
{
    struct tm_wire w = { field->bytes, field->bytes + field->value };
    struct tm_xstat read = { .id = 0 };
    enum tm_stat stat;

    if (!read_plain_stat((struct tm_wire){ w.at, end }, w.end, &read)) {
        read = (struct tm_xstat){ .id = 0 };
        *damaged |= !has_types_of_fields(w);
        tm_xstat_read(&w, &read);
        *damaged |= w.at != w.end;
    }
    stat = stat_known(x, plane, plane_number, read.id);
    if (stat != TM_STAT_UNKNOWN)
        keep_stat(&event->facts, stat, &read.value);
}

/* Parse an event from its bytes.  Strings of the facts are in `bytes`, or are refs into the plane's table.
 * errors: false if the bytes are damaged: the fields before the damage are set */
static void xevent_read(struct tm_xspace *x, const struct tm_plane *plane, uint64_t plane_number, struct tm_wire bytes,
                        struct tm_xevent *event, bool *damaged)
{
    struct tm_field field;

    event->metadata_id = event->offset_ps = event->duration_ps = 0;
    event->is_aggregated = false;
    event->unknown_fields = 0;
    tm_facts_begin(&event->facts, plane_number);
    *damaged = false;
    while (tm_wire_next(&bytes, &field)) {
        switch (field.key) {
        case TM_WIRE_KEY(TM_XEVENT_STATS, TM_WIRE_LEN):
            read_stat(x, plane, plane_number, &field, bytes.end, event, damaged);
            break;
        case TM_WIRE_KEY(TM_XEVENT_METADATA_ID, TM_WIRE_VARINT):
            event->metadata_id = (int64_t)field.value;
            break;
        case TM_WIRE_KEY(TM_XEVENT_OFFSET, TM_WIRE_VARINT):
            event->offset_ps = (int64_t)field.value;
            event->is_aggregated = false;
            break;
        case TM_WIRE_KEY(TM_XEVENT_DURATION, TM_WIRE_VARINT):
            event->duration_ps = (int64_t)field.value;
            break;
        case TM_WIRE_KEY(TM_XEVENT_OCCURRENCES, TM_WIRE_VARINT):
            event->is_aggregated = true;
            break;
        default:
            event->unknown_fields++;
        }
    }
    if (bytes.at != bytes.end)
        *damaged = true;
}

enum {
    LEAST_BUFFER = 64,
    CLOCK_BUFFER = 64 << 10,
};

static const uint64_t device_facts = TM_FACT_BIT(TM_STAT_DEVICE_OFFSET) | TM_FACT_BIT(TM_STAT_DEVICE_DURATION);

struct xspace_cursor {
    struct tm_cursor base; /* first: a tm_cursor is cast to it */
    struct tm_xspace *x;
    struct tm_plane plane;
    uint64_t plane_number;
    struct tm_track track;
    uint64_t next_part;   /* row of more_lines, plus one; 0 = none */
    uint64_t skimmed_to;  /* of the line: fields after this place are new */
    int64_t line_ps;      /* what offsets count from */
    bool line_is_outlier; /* line_ps does not fit */
    struct tm_reader window;
    uint8_t *buffer; /* of the window: buffer_bytes of its room_bytes */
    size_t buffer_bytes, room_bytes;
    bool keeps_arguments;                      /* of the trace */
    uint64_t event_at, event_length;           /* in the input: the event that was read last, outside of batches */
    uint64_t times_length;                     /* its first bytes that are known to be no statistics */
    uint8_t numbers[TM_TEMPLATE_NUMBERS_MOST]; /* of its arguments, if they have a template */
    struct tm_xevent event;
    bool has_metadata;  /* of the event that was read */
    struct tm_xkin kin; /* the same */
    const struct tm_xfinder *finder;
    struct tm_fact_maker maker;
    struct tm_clock_place clock;
    union tm_args args;
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

static void count_events(const struct xspace_cursor *c, uint64_t n)
{
    c->x->source.trace->run->events_read += c->base.counts ? n : 0;
}

static tm_strid find_ref(void *to, uint64_t plane, uint64_t ref)
{
    return tm_xspace_ref(to, plane, (int64_t)ref);
}

/* Go to a part of the track's timeline. */
static void open_part(struct xspace_cursor *c, const struct tm_line_row *line)
{
    const int64_t line_ns = line->timestamp_ns - (line->timestamp_ns >= c->x->origin_ns ? c->x->origin_ns : 0);

    c->plane = *(const struct tm_plane *)tm_rows_at(c->x->planes, line->plane);
    c->plane_number = c->maker.plane = line->plane;
    c->kin = (struct tm_xkin){ .plane = line->plane, .line = c->track.line };
    c->next_part = line->next;
    c->skimmed_to = line->skimmed_to;
    (void)!tm_input_approach(c->x->input, line->begin, c->buffer, c->buffer_bytes);
    c->line_is_outlier = __builtin_mul_overflow(line_ns, (int64_t)1000, &c->line_ps);
    tm_reader_init(&c->window, c->x->input, c->buffer, c->buffer_bytes, line->begin, line->end);
}

/* out: false: there is none, or the run has failed */
static bool open_next_part(struct xspace_cursor *c)
{
    if (!c->next_part)
        return false;
    const struct tm_line_row line = *(const struct tm_line_row *)tm_rows_at(c->x->more_lines, c->next_part - 1);

    open_part(c, &line);
    return !tm_failed(c->x->source.trace->run);
}

static void take_buffer(struct xspace_cursor *c)
{
    struct tm_xspace *const x = c->x;
    struct tm_run *const run = x->source.trace->run;

    if (x->spare_window && x->spare_bytes >= c->buffer_bytes) {
        c->buffer = x->spare_window;
        c->room_bytes = x->spare_bytes;
        x->spare_window = NULL;
        return;
    }
    c->buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, c->buffer_bytes, &run->error);
    c->room_bytes = c->buffer_bytes;
}

static void give_buffer(struct xspace_cursor *c)
{
    struct tm_xspace *const x = c->x;

    if (c->buffer && !x->spare_window) {
        x->spare_window = c->buffer;
        x->spare_bytes = c->room_bytes;
        return;
    }
    tm_give(&x->source.trace->run->budget, TM_ACCOUNT_INPUT, c->buffer, c->room_bytes);
}

static void set_up(struct xspace_cursor *c, uint64_t track)
{
    const struct tm_line_row line = *(const struct tm_line_row *)tm_rows_at(c->x->lines, track);

    c->track = *(const struct tm_track *)tm_rows_at(c->x->source.trace->tracks, track);
    if (c->buffer_bytes > line.longest)
        c->buffer_bytes = line.longest > LEAST_BUFFER ? (size_t)line.longest : LEAST_BUFFER;
    take_buffer(c);
    tm_clock_place_begin(c->x->clock, &c->track, &c->clock);
    if (c->buffer)
        open_part(c, &line);
}

static void close_cursor(struct tm_cursor *cursor)
{
    struct xspace_cursor *c = (struct xspace_cursor *)cursor;

    if (!c)
        return;
    give_buffer(c);
    tm_give(&c->x->source.trace->run->budget, TM_ACCOUNT_INPUT, c, sizeof(*c));
}

static struct tm_cursor *open_cursor(struct tm_source *source, uint64_t track, size_t buffer_bytes)
{
    struct tm_run *run = source->trace->run;
    struct xspace_cursor *c = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*c), &run->error);

    if (!c)
        return NULL;
    c->base = (struct tm_cursor){ .source = source, .track = track };
    c->x = (struct tm_xspace *)source;
    c->maker = (struct tm_fact_maker){
        .trace = source->trace, .configs = c->x->configs, .ref = find_ref, .to = c->x, .hlo = c->x->hlo
    };
    c->buffer_bytes = buffer_bytes;
    c->keeps_arguments = source->trace->keeps_arguments;
    c->finder = tm_xknown_finder(!c->x->is_plain);
    set_up(c, track);
    if (!tm_failed(run))
        return &c->base;
    close_cursor(&c->base);
    return NULL;
}

/* The key that joins an event with others: a driver's id, or the key of a run. */
static uint64_t correlation_of(const struct xspace_cursor *c, uint32_t traits)
{
    const struct tm_facts *facts = &c->event.facts;
    const int64_t ordinal = tm_facts_have(facts, TM_STAT_DEVICE_ORDINAL) ? facts->ints[TM_STAT_DEVICE_ORDINAL] : 0;

    if (facts->flags & TM_FLAG_CORRELATION)
        return (uint64_t)facts->ints[TM_STAT_CORRELATION_ID];
    if (!(facts->flags & TM_FLAG_RUN_ID))
        return 0;
    if (c->track.line == TM_LINE_TPU_MODULES)
        return tm_run_key(facts->ints[TM_STAT_RUN_ID], c->x->source.trace->devices[c->track.device].ordinal);
    if (tm_is_enqueue(traits))
        return tm_run_key(facts->ints[TM_STAT_RUN_ID], ordinal);
    if (c->track.side == TM_SIDE_HOST && facts->flags & TM_FLAG_HLO_OP) /* a CPU op: its execution */
        return tm_run_key(facts->ints[TM_STAT_RUN_ID], ordinal);
    return 0;
}

static bool is_allocation(const struct xspace_cursor *c, const struct tm_raw_record *raw)
{
    return c->track.side == TM_SIDE_HOST && raw->traits & (TM_TRAIT_ALLOC | TM_TRAIT_FREE);
}

/* The numbers of an event from its statistics. */
static void take_numbers(struct xspace_cursor *c, struct tm_raw_record *raw)
{
    const struct tm_facts *facts = &c->event.facts;
    struct tm_record *r = &raw->record;

    r->correlation = correlation_of(c, raw->traits);
    if (r->flags & TM_FLAG_STEP && c->track.side == TM_SIDE_HOST) {
        if (tm_facts_have(facts, TM_STAT_STEP_NUM))
            tm_raw_number(raw, &c->args, facts->ints[TM_STAT_STEP_NUM]);
    } else if (r->flags & TM_FLAG_GROUP) {
        tm_raw_number(raw, &c->args, facts->ints[TM_STAT_GROUP_ID]);
    } else if (tm_facts_have(facts, TM_STAT_SIZE)) {
        tm_raw_number(raw, &c->args, facts->ints[TM_STAT_SIZE]);
    }
}

/* All data of an event from its statistics. */
static void take_stats(struct xspace_cursor *c, uint32_t op_config, struct tm_raw_record *raw)
{
    struct tm_facts *facts = &c->event.facts;
    struct tm_record *r = &raw->record;

    r->flags = facts->flags;
    if (is_allocation(c, raw)) {
        tm_facts_allocation(&c->maker, facts, tm_raw_allocation(raw, &c->args));
        return;
    }
    if (tm_facts_have(facts, TM_STAT_SIZE) && facts->texts[TM_STAT_SIZE].kind != TM_FACT_NO_TEXT)
        facts->has &= ~TM_FACT_BIT(TM_STAT_SIZE); /* a string is not a size */
    take_numbers(c, raw);
    /* Among host events, only CPU ops and executions are distinguished by more than their name. */
    if (c->track.side == TM_SIDE_HOST && (r->flags & TM_FLAG_CORRELATION || !(r->flags & TM_FLAG_HLO_OP)) &&
        !tm_facts_have(facts, TM_STAT_MODULE_NAME))
        return;
    r->config = tm_facts_config(&c->maker, facts, op_config);
}

/* The recorded times of an event.  false: it has none, and is in a tally. */
TM_INLINE bool take_recorded_times(struct xspace_cursor *c, struct tm_record *r)
{
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
        !tm_time_fits(r->start_ps, r->dur_ps)) {
        count(c, TM_TALLY_CLOCK_OUTLIER);
        return false;
    }
    return true;
}

/* Put the event on the clock of its device.  in, out: as of take_times */
TM_NOT_INLINE bool take_device_times(struct xspace_cursor *c, const struct tm_device_times *times, struct tm_record *r)
{
    const bool fits = tm_clock_place_record(&c->clock, times, r);

    if (!fits)
        count(c, TM_TALLY_CLOCK_OUTLIER);
    return fits;
}

/* Place the event in time.  in: times  its own; NULL = none
 * out: false: it has no place, and is in a tally */
TM_INLINE bool take_times(struct xspace_cursor *c, const struct tm_device_times *times, struct tm_record *r)
{
    if (!take_recorded_times(c, r) || (c->clock.clock && !take_device_times(c, times, r)))
        return false;
    if (r->start_ps < 0)
        count(c, TM_TALLY_NEGATIVE_START);
    r->kind = r->dur_ps ? TM_SPAN : TM_INSTANT;
    return true;
}

/* A value of a counter.  A host's events are distinguished by their kind, and stay what they are. */
static bool is_counter(const struct xspace_cursor *c)
{
    return tm_facts_have(&c->event.facts, TM_STAT_COUNTER_VALUE) && c->track.side != TM_SIDE_HOST &&
           c->event.facts.texts[TM_STAT_COUNTER_VALUE].kind == TM_FACT_NO_TEXT;
}

/* Turn the event that was read into a record.  false: it is in a tally instead. */
static bool make_record(struct xspace_cursor *c, struct tm_raw_record *raw)
{
    const struct tm_event_row *metadata;
    struct tm_device_times times;
    const bool has_times = c->clock.is_ops && tm_device_times_of(&c->event.facts, &times);
    uint32_t op_config = 0;

    *raw = (struct tm_raw_record){ .record = { .track = (uint32_t)c->base.track } };
    if (!take_times(c, has_times ? &times : NULL, &raw->record))
        return false;
    metadata = tm_index_get(c->x->events, tm_metadata_key(c->plane_number, c->event.metadata_id));
    c->has_metadata = metadata && metadata->id == c->event.metadata_id && metadata->plane == c->plane_number;
    if (c->has_metadata) {
        raw->record.name = metadata->name;
        raw->traits = metadata->traits;
        raw->record.common = metadata->common;
        op_config = metadata->config;
    } else {
        count(c, TM_TALLY_NO_METADATA);
    }
    raw->record.config = op_config;
    if (!c->event.facts.has)
        return true;
    if (is_counter(c))
        raw->record.kind = TM_COUNTER;
    take_stats(c, op_config, raw);
    return true;
}

/* --- events that were seen before --- */

/* Make the record of an event from the result for one like it and from its numbers, which are in the facts.
 * out:    as of make_record */
static bool make_known_record(struct xspace_cursor *c, const struct tm_xresult *result, struct tm_raw_record *raw)
{
    struct tm_facts *const facts = &c->event.facts;

    *raw = (struct tm_raw_record){ .record = { .name = result->name,
                                               .track = (uint32_t)c->base.track,
                                               .config = result->config,
                                               .common = result->common,
                                               .flags = result->flags },
                                   .traits = result->traits };
    if (result->is_usual) {
        raw->record.correlation =
            result->flags & TM_FLAG_CORRELATION ? (uint64_t)facts->ints[TM_STAT_CORRELATION_ID] : 0;
        return take_times(c, NULL, &raw->record);
    }
    const struct tm_device_times times = { facts->ints[TM_STAT_DEVICE_OFFSET], facts->ints[TM_STAT_DEVICE_DURATION] };

    if (!take_times(c, result->has_device_times && tm_device_times_fit(&times) ? &times : NULL, &raw->record))
        return false;
    if (result->is_counter)
        raw->record.kind = TM_COUNTER;
    facts->has = (uint64_t)result->has_step_num << TM_STAT_STEP_NUM | (uint64_t)result->has_size << TM_STAT_SIZE |
                 (uint64_t)result->has_ordinal << TM_STAT_DEVICE_ORDINAL;
    facts->flags = result->flags;
    facts->ints[TM_STAT_DEVICE_ORDINAL] = result->ordinal;
    if (facts->flags || facts->has)
        take_numbers(c, raw);
    return true;
}

/* --- arguments by template --- */

/* A template for arguments like those of an event that is remembered, in which those of its metadata come last.
 * out: 0: it gets none */
static uint32_t find_template(struct xspace_cursor *c, const struct tm_wire *stats, const struct tm_raw_record *raw)
{
    const struct tm_trace *const trace = c->x->source.trace;
    const struct tm_common_arguments shared =
        *(const struct tm_common_arguments *)tm_rows_at(trace->common, raw->record.common);
    struct tm_arguments list, common;
    struct tm_arguments_builder b;
    uint64_t holes;
    bool has_id;

    tm_xarguments_begin(c->x, &b);
    tm_xarguments_event(c->x, c->plane_number, *stats, &b);
    list = tm_arguments_end(&b);
    if (list.length + shared.length > TM_TEMPLATE_LIST_MOST ||
        !tm_xknown_holes(c->x->known, &c->kin, stats, &holes, &has_id) ||
        tm_trace_common(trace, raw->record.common, c->x->arguments->list + list.length, &common) != TM_OK)
        return 0;
    list.length += common.length;
    return tm_argument_templates_add(trace->templates, list, holes,
                                     has_id && raw->record.flags & TM_FLAG_CORRELATION ? TM_TEMPLATE_CORRELATION : 0);
}

/* The own arguments of an event that matched an earlier one, if they have a template.  Most unmatched events never
 * repeat, so a template is only made for matched ones. */
static void take_template(struct xspace_cursor *c, struct tm_xresult *known, const struct tm_wire *stats,
                          struct tm_raw_record *raw)
{
    size_t bytes;
    uint32_t fixed;

    if (!known->template && !known->has_no_template && raw->record.kind != TM_COUNTER) {
        known->template = find_template(c, stats, raw);
        known->has_no_template = !known->template;
        known->has_one_number =
            known->template && known->is_usual &&
            tm_xknown_has_one_number(c->x->known, &c->kin, (known->flags & TM_FLAG_CORRELATION) != 0);
    }
    if (!known->template)
        return;
    bytes = tm_xknown_numbers(c->x->known, &c->kin, stats, known->template & TM_TEMPLATE_CORRELATION, c->numbers);
    if (bytes == SIZE_MAX)
        return;
    raw->own = (struct tm_arguments){ c->numbers, bytes };
    raw->record.common = known->template;
    raw->record.flags |= TM_FLAG_TEMPLATE;
    if (!bytes)
        return;
    fixed = tm_argument_templates_fix(c->x->source.trace->templates, known->template, raw->own,
                                      raw->record.flags & TM_FLAG_CORRELATION ? raw->record.correlation : 0);
    if (!fixed)
        return;
    raw->own.length = 0;
    raw->record.common = fixed;
}

/* Whether what a record says about itself has to be requested. */
static bool has_list(const struct xspace_cursor *c, const struct tm_raw_record *raw)
{
    return c->keeps_arguments && !(raw->record.flags & TM_FLAG_TEMPLATE);
}

/* Remember the result for the event that was read. */
static void learn_record(struct xspace_cursor *c, const struct tm_wire *stats, const struct tm_raw_record *raw)
{
    const struct tm_facts *const facts = &c->event.facts;
    const bool has_ordinal = tm_facts_have(facts, TM_STAT_DEVICE_ORDINAL);
    const int64_t ordinal = has_ordinal ? facts->ints[TM_STAT_DEVICE_ORDINAL] : 0;
    const uint64_t other_numbers =
        device_facts | TM_FACT_BIT(TM_STAT_STEP_NUM) | TM_FACT_BIT(TM_STAT_SIZE) | TM_FACT_BIT(TM_STAT_COUNTER_VALUE);
    const struct tm_xresult result = {
        .name = raw->record.name,
        .traits = raw->traits,
        .config = raw->record.config,
        .common = raw->record.common,
        .flags = raw->record.flags,
        .ordinal = (int16_t)ordinal,
        .is_counter = raw->record.kind == TM_COUNTER,
        .has_step_num = tm_facts_have(facts, TM_STAT_STEP_NUM),
        .has_size = tm_facts_have(facts, TM_STAT_SIZE),
        .has_ordinal = has_ordinal,
        .has_device_times = (facts->has & device_facts) == device_facts,
        .is_usual =
            !(facts->has & other_numbers) && !(raw->record.flags & (TM_FLAG_RUN_ID | TM_FLAG_STEP | TM_FLAG_GROUP)),
    };

    if (c->has_metadata && !is_allocation(c, raw) && ordinal == result.ordinal)
        tm_xknown_learn(c->x->known, &c->kin, stats, &result);
}

/* --- reading --- */

/* The bytes of an event: in the window, or in the scratch memory if it is larger than the buffer. */
static struct tm_wire event_bytes(struct xspace_cursor *c, size_t length)
{
    size_t got = 0;

    if (length <= c->buffer_bytes)
        return tm_reader_peek(&c->window, length);
    (void)!tm_input_read(c->x->input, c->x->scratch, length, tm_reader_offset(&c->window), &got);
    return (struct tm_wire){ c->x->scratch, c->x->scratch + got };
}

/* Read an event of `length` bytes at the window's place.  Of a very long one only the fields and statistics at its
 * beginning are read: numbers come first. */
static void read_event(struct xspace_cursor *c, uint64_t length)
{
    const bool is_cut = length > TM_XEVENT_LARGEST;
    bool damaged = false;

    xevent_read(c->x, &c->plane, c->plane_number, event_bytes(c, is_cut ? TM_XEVENT_LARGEST : (size_t)length),
                &c->event, &damaged);
    if (is_cut)
        count(c, TM_TALLY_LONG_VALUE);
    else if (damaged)
        count(c, TM_TALLY_BAD_FIELD);
    count_some(c, TM_TALLY_UNKNOWN_FIELD, c->event.unknown_fields);
}

bool tm_xspace_passes_over(const struct tm_head *head)
{
    if (head->number == TM_XLINE_DURATION || head->number == TM_XLINE_DISPLAY_ID)
        return head->type == TM_WIRE_VARINT;
    return head->number == TM_XLINE_DISPLAY_NAME && head->type == TM_WIRE_LEN;
}

/* A field of a line after its first event, which the scan has not read. */
static void note_late_field(struct xspace_cursor *c, const struct tm_head *head)
{
    struct tm_trace *const trace = c->x->source.trace;
    const bool is_number = head->type == TM_WIRE_VARINT, is_bytes = head->type == TM_WIRE_LEN;

    if (((head->number == TM_XLINE_ID || head->number == TM_XLINE_TIMESTAMP) && is_number) ||
        (head->number == TM_XLINE_NAME && is_bytes))
        trace->is_misread = true;
    else if (!(head->number == TM_XLINE_EVENT && is_bytes) && !tm_xspace_passes_over(head) && c->base.counts)
        tm_tally_add(&trace->run->tallies, TM_TALLY_UNKNOWN_FIELD, 1);
}

/* The next field of the line: *kept if it is an event that makes a record.  false: there is none */
static bool read_field(struct xspace_cursor *c, struct tm_raw_record *raw, bool *kept)
{
    struct tm_head head;
    bool damaged;

    if (!tm_reader_head(&c->window, &head, &damaged))
        return open_next_part(c);
    /* Damage was noted by the scan, if it read the line: what remains of that line cannot be trusted. */
    if (damaged) {
        c->x->source.trace->is_misread |= c->skimmed_to != UINT64_MAX;
        return open_next_part(c);
    }
    if (head.offset > c->skimmed_to)
        note_late_field(c, &head);
    if (head.type != TM_WIRE_LEN)
        return true;
    if (head.number == TM_XLINE_EVENT) {
        c->event_at = tm_reader_offset(&c->window);
        c->event_length = head.value;
        c->times_length = 0;
        read_event(c, head.value);
        *kept = make_record(c, raw);
        count_events(c, 1);
    }
    tm_reader_skip(&c->window, head.value);
    return true;
}

/* One that was not seen before. */
TM_NOT_INLINE bool take_new_event(struct xspace_cursor *c, const struct tm_wire *bytes, const struct tm_xhead *head,
                                  struct tm_raw_record *raw)
{
    bool damaged;

    xevent_read(c->x, &c->plane, c->plane_number, *bytes, &c->event, &damaged);
    if (damaged)
        count(c, TM_TALLY_BAD_FIELD);
    count_some(c, TM_TALLY_UNKNOWN_FIELD, c->event.unknown_fields);
    if (!make_record(c, raw))
        return false;
    if (head->is_usual && !damaged && !c->event.unknown_fields)
        learn_record(c, &head->stats, raw);
    return true;
}

static void take_head(struct tm_xevent *event, const struct tm_xhead *head)
{
    event->metadata_id = head->metadata_id;
    event->offset_ps = head->offset_ps;
    event->duration_ps = head->duration_ps;
    event->is_aggregated = false;
}

/* Keep the number of a record with the result for its event, if it depends on one number of its arguments.  Where that
 * is equal to the correlation id, the record's template has its hole in place of either. */
static void keep_number(struct xspace_cursor *c, const struct tm_xresult *known, const struct tm_raw_record *raw,
                        uint32_t number)
{
    const struct tm_record *const r = &raw->record;
    const int64_t value = c->event.facts.ints[TM_STAT_UNKNOWN];
    const bool has_own_hole =
        !(r->flags & TM_FLAG_CORRELATION) || (r->correlation && r->correlation != (uint64_t)value);

    if (known->has_one_number && r->flags & TM_FLAG_TEMPLATE && !raw->own.length && r->kind == TM_SPAN &&
        has_own_hole && number <= UINT16_MAX)
        tm_xknown_keep_signature(c->x->known, known, value, r->track, (uint16_t)number);
}

/* The number of a record, remembered with the result for its event. */
static uint32_t number_of(struct xspace_cursor *c, struct tm_xresult *known, const struct tm_raw_record *raw)
{
    const bool is_instant = raw->record.kind == TM_INSTANT;

    if (has_list(c, raw))
        return 0;
    if (!known || !known->is_usual || (raw->record.flags & TM_FLAG_TEMPLATE && raw->record.common != known->template))
        return tm_signature_of(&c->x->signatures, raw);
    if (known->track != raw->record.track)
        known->signature[0] = known->signature[1] = 0;
    known->track = raw->record.track;
    if (!known->signature[is_instant])
        known->signature[is_instant] = (uint16_t)tm_signature_of(&c->x->signatures, raw);
    return known->signature[is_instant];
}

/* The record of an event that is in the buffer as a whole.  false: it is in a tally instead. */
static bool make_any_record(struct xspace_cursor *c, struct tm_xresult *known, const struct tm_wire *bytes,
                            const struct tm_xhead *head, struct tm_raw_record *raw)
{
    if (!known)
        return take_new_event(c, bytes, head, raw);
    take_head(&c->event, head);
    if (!make_known_record(c, known, raw))
        return false;
    if (c->keeps_arguments)
        take_template(c, known, &head->stats, raw);
    return true;
}

/* The position of the event that is read. */
static inline void note_event(struct xspace_cursor *c, const struct tm_wire *bytes, const struct tm_xhead *head)
{
    c->event_length = (uint64_t)(bytes->end - bytes->at);
    c->event_at = c->window.base + (uint64_t)(bytes->at - c->window.buffer);
    c->times_length = head->is_usual ? (uint64_t)(head->stats.at - bytes->at) : 0;
}

/* The next record.  false: there is none, or the run has failed */
static bool read_record(struct xspace_cursor *c, struct tm_raw_record *raw)
{
    bool kept = false;

    while (!kept) {
        struct tm_wire bytes;
        struct tm_xhead head;
        struct tm_xresult *known;

        if (!tm_reader_take(&c->window, TM_WIRE_KEY(TM_XLINE_EVENT, TM_WIRE_LEN), &bytes)) {
            if (!read_field(c, raw, &kept))
                return false;
            continue;
        }
        known = c->finder->find(c->x->known, &c->kin, &bytes, &head, c->event.facts.ints);
        note_event(c, &bytes, &head);
        count_events(c, 1);
        kept = make_any_record(c, known, &bytes, &head, raw);
        if (kept)
            raw->signature = number_of(c, known, raw);
    }
    return true;
}

static tm_status next_record(struct tm_cursor *cursor, struct tm_raw_record *raw, bool *more)
{
    struct xspace_cursor *const c = (struct xspace_cursor *)cursor;

    *more = read_record(c, raw);
    return *more ? TM_OK : c->x->source.trace->run->error.status;
}

static void put_other(struct xspace_cursor *c, struct tm_xresult *known, const struct tm_wire *bytes,
                      const struct tm_xhead *head, struct tm_batch *batch)
{
    struct tm_raw_record raw;
    uint32_t number;

    if (!make_any_record(c, known, bytes, head, &raw))
        return;
    number = known ? number_of(c, known, &raw) : 0;
    if (number) {
        keep_number(c, known, &raw, number);
        tm_batch_put_number(batch, number, &raw);
    } else {
        (void)tm_batch_put(batch, has_list(c, &raw) ? NULL : &c->x->signatures, &raw);
    }
}

static tm_status next_batch(struct tm_cursor *cursor, struct tm_batch *batch)
{
    struct xspace_cursor *const c = (struct xspace_cursor *)cursor;

    struct tm_xevents events = { .window = &c->window,
                                 .kin = &c->kin,
                                 .numbers = c->event.facts.ints,
                                 .batch = batch,
                                 .has_usual_ids = c->keeps_arguments };

    while (batch->count < TM_BATCH_RECORDS && !batch->has_other && !batch->is_last) {
        events.line_ps = c->line_ps;
        events.track = c->line_is_outlier || c->clock.clock ? TM_NONE : (uint32_t)c->base.track;
        c->finder->take(c->x->known, &events);
        count_events(c, events.count);
        if (events.count && c->keeps_arguments)
            note_event(c, &events.bytes, &events.head);
        if (events.is_left) {
            put_other(c, events.known, &events.bytes, &events.head, batch);
        } else if (batch->count < TM_BATCH_RECORDS) {
            struct tm_raw_record raw;
            bool kept = false;

            batch->is_last = !read_field(c, &raw, &kept);
            if (kept)
                (void)tm_batch_put(batch, has_list(c, &raw) ? NULL : &c->x->signatures, &raw);
        }
    }
    return c->x->source.trace->run->error.status;
}

/* The bytes of the event that was read last, again: the window has gone past them, but most are in its buffer. */
static struct tm_wire last_event_bytes(struct xspace_cursor *c)
{
    const struct tm_reader *const w = &c->window;
    const size_t length = (size_t)c->event_length;
    size_t got = 0;

    if (c->event_at >= w->base && c->event_at - w->base <= w->have && length <= w->have - (c->event_at - w->base)) {
        const uint8_t *const at = w->buffer + (c->event_at - w->base);

        return (struct tm_wire){ at, at + length };
    }
    (void)!tm_input_read(c->x->input, c->x->scratch, length, c->event_at, &got);
    return (struct tm_wire){ c->x->scratch, c->x->scratch + got };
}

static tm_status own_arguments(struct tm_cursor *cursor, struct tm_raw_record *raw)
{
    struct xspace_cursor *c = (struct xspace_cursor *)cursor;
    struct tm_arguments_builder b;

    if (!has_list(c, raw))
        return TM_OK;
    tm_xarguments_begin(c->x, &b);
    if (c->event_length > TM_XEVENT_LARGEST) {
        tm_xarguments_long_event(c->x, c->plane_number, c->event_at, c->event_at + c->event_length, &b);
    } else {
        struct tm_wire view = last_event_bytes(c);

        view.at += c->times_length <= (uint64_t)(view.end - view.at) ? c->times_length : 0;
        tm_xarguments_event(c->x, c->plane_number, view, &b);
    }
    raw->own = tm_arguments_end(&b);
    if (b.is_cut)
        tm_tally_add(&c->x->source.trace->run->tallies, TM_TALLY_LONG_ARGUMENTS, 1);
    return c->x->source.trace->run->error.status;
}

/* --- the clock of a device --- */

/* Whether an event has times of its own. */
enum device_times { NO_DEVICE_TIMES, HAS_DEVICE_TIMES, MAYBE_DEVICE_TIMES };

/* The device's times of an event whose statistics have the usual encoding: each has one number after its id, or can be
 * skipped by its length.
 * in:     stats  after the times, with TM_READER_SLACK readable bytes after it
 * out:    MAYBE_DEVICE_TIMES  it must be parsed completely */
TM_INLINE enum device_times read_device_times(const uint8_t *small_stats, const struct tm_wire *stats,
                                              struct tm_device_times *times)
{
    enum { HEAD = TM_WIRE_KEY(TM_XEVENT_STATS, TM_WIRE_LEN) | TM_WIRE_KEY(TM_XSTAT_ID, TM_WIRE_VARINT) << 16 };
    const uint8_t *at = stats->at;
    uint64_t offset = 0, duration = 0; /* not an array: a whole load of what was stored in halves would stall */
    bool has_offset = false, has_duration = false;

    while (at < stats->end) {
        const uint32_t head = (uint32_t)tm_wire_fixed64(at); /* key, length, key of the id, the id */
        const uint32_t length = head >> 8 & 0xff;
        struct tm_wire w = { at + 4, stats->end + TM_READER_SLACK };
        uint64_t id = head >> 24, value;

        at += 2 + length;
        if ((head & 0xff00ff) != HEAD || length >= 0x80 || length < 3 || at > stats->end)
            return MAYBE_DEVICE_TIMES;
        if (id >= 0x80) {
            w.at--;
            if (!tm_wire_varint(&w, &id) || id >= TM_SMALL_STATS)
                return MAYBE_DEVICE_TIMES;
        }
        if (!(device_facts >> small_stats[id] & 1))
            continue;
        if ((*w.at != TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT) &&
             *w.at != TM_WIRE_KEY(TM_XSTAT_INT, TM_WIRE_VARINT)) ||
            ++w.at >= at || !tm_wire_varint(&w, &value) || w.at != at)
            return MAYBE_DEVICE_TIMES;
        if (small_stats[id] == TM_STAT_DEVICE_DURATION) {
            duration = value;
            has_duration = true;
        } else {
            offset = value;
            has_offset = true;
        }
    }
    times->offset_ps = (int64_t)offset;
    times->duration_ps = (int64_t)duration;
    if (at != stats->end)
        return MAYBE_DEVICE_TIMES;
    return has_offset && has_duration && tm_device_times_fit(times) ? HAS_DEVICE_TIMES : NO_DEVICE_TIMES;
}

/* The next field of the line, if only the times of events are needed.
 * out: *found  false: it is something else.  false: there is none */
static bool next_times(struct xspace_cursor *c, struct tm_device_times *times, enum device_times *has, bool *found)
{
    struct tm_wire bytes;
    struct tm_xhead head;
    struct tm_head field;
    bool damaged;

    *found = true;
    *has = MAYBE_DEVICE_TIMES;
    if (tm_reader_take(&c->window, TM_WIRE_KEY(TM_XLINE_EVENT, TM_WIRE_LEN), &bytes)) {
        if (tm_xhead_read(&bytes, &head, tm_wire_pack)) {
            take_head(&c->event, &head);
            *has = read_device_times(c->plane.small_stats, &head.stats, times);
        }
        if (*has == MAYBE_DEVICE_TIMES)
            xevent_read(c->x, &c->plane, c->plane_number, bytes, &c->event, &damaged);
        return true;
    }
    *found = false;
    if (!tm_reader_head(&c->window, &field, &damaged) || damaged)
        return open_next_part(c);
    *found = field.type == TM_WIRE_LEN && field.number == TM_XLINE_EVENT;
    if (*found)
        read_event(c, field.value);
    if (field.type == TM_WIRE_LEN)
        tm_reader_skip(&c->window, field.value);
    return true;
}

void tm_xspace_read_clock(void *from, struct tm_device_clock *clock, uint64_t track)
{
    struct tm_xspace *const x = from;
    struct tm_cursor *const cursor = open_cursor(&x->source, track, CLOCK_BUFFER);
    struct xspace_cursor *const c = (struct xspace_cursor *)cursor;
    struct tm_device_times times;
    enum device_times has;
    bool found;

    while (cursor && next_times(c, &times, &has, &found)) {
        struct tm_record r = { .dur_ps = 0 };

        if (!found || !take_recorded_times(c, &r))
            continue;
        if (has == MAYBE_DEVICE_TIMES && tm_device_times_of(&c->event.facts, &times))
            has = HAS_DEVICE_TIMES;
        tm_device_clock_take(clock, r.start_ps, has == HAS_DEVICE_TIMES ? &times : NULL);
    }
    close_cursor(cursor);
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
    tm_signatures_release(&x->signatures);
    tm_xknown_free(x->known);
    tm_device_clock_free(x->clock);
    tm_configs_free(x->configs);
    tm_hlo_free(x->hlo);
    tm_xarguments_free(x);
    tm_give(budget, TM_ACCOUNT_METADATA, x->scratch, x->scratch_bytes);
    tm_give(budget, TM_ACCOUNT_INPUT, x->spare_window, x->spare_bytes);
    tm_give(budget, TM_ACCOUNT_METADATA, x, sizeof(*x));
}

const struct tm_source_type tm_xspace_source_type = {
    .name = "xspace",
    .open = open_cursor,
    .next = next_record,
    .next_batch = next_batch,
    .own = own_arguments,
    .close = close_cursor,
    .free = free_source,
};
