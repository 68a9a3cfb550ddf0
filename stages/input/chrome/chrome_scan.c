/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a Chrome trace once, from its start to its end: events are stored by track, names are assigned at the
 * end.  Memory: the window on the text, the store and the tables, which spill. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/sorter.h"
#include "stages/input/chrome/chrome_maker.h"
#include "stages/input/formats.h"
#include "stages/input/records/flow_tally.h"
#include "stages/input/records/record_store.h"
#include "stages/resolve/classes.h"

/* The data of an event accompanies its record, if requested.  A flow names a process and a thread, and belongs to the
 * row that the file draws for them.  That may be one of our streams: PyTorch gives an end of a flow the process and
 * thread of the activity that it follows, at the time of its start.  If that activity does not precede it, any stream
 * that occurred under these numbers is used, regardless of the order of the file; a thread therefore knows its stream
 * at the end, and the position is corrected when the flow is read. */

static bool is_same_time(const struct tm_json_time *a, const struct tm_json_time *b)
{
    return a->us == b->us && a->ps == b->ps;
}

/* Something is on a thread, or on a stream that the file draws there. */
static void note_track(struct tm_chrome_maker *m, const struct tm_chrome_event *e, enum tm_chrome_sort sort,
                       uint32_t track)
{
    struct tm_chrome_lately *const lately = &m->lately;

    *lately = (struct tm_chrome_lately){ .is_any = true, .thread = track, .track = track, .ts = e->ts };
    if (sort == TM_CHROME_THREAD)
        return;
    lately->thread = tm_chrome_track_of(m->tracks, e, TM_CHROME_THREAD, 0);
    tm_chrome_pair_stream(m->tracks, lately->thread, track);
}

static uint32_t find_place(struct tm_chrome_maker *m, const struct tm_chrome_event *e, struct tm_record *flow)
{
    const struct tm_chrome_lately *const lately = &m->lately;
    const uint32_t place = tm_chrome_track_of(m->tracks, e, TM_CHROME_THREAD, 0);

    if (!lately->is_any || lately->thread != place || !is_same_time(&lately->ts, &e->ts))
        return place;
    flow->flags |= TM_FLAG_PLACED;
    return lately->track;
}

/* Fill raw->own of a record whose track is known. */
static void chrome_take_own(struct tm_chrome_maker *m, const struct tm_chrome_event *event, enum tm_chrome_sort sort,
                            struct tm_raw_record *raw)
{
    struct tm_record *const r = &raw->record;
    struct tm_chrome_words words = {
        .name = r->name,
        .has_category = event->has & TM_CHROME_CAT && event->cat.length && r->kind != TM_END, /* in its first bytes */
        /* Arguments of counters are values, and those of flows are not written. */
        .takes_members = !tm_is_flow(r) && sort != TM_CHROME_COUNTER,
        .is_joined = sort == TM_CHROME_ASYNC || sort == TM_CHROME_FLOW || sort == TM_CHROME_COUNTER,
    };

    words.has_id = words.is_joined && r->kind != TM_END;
    words.is_converted = m->header->is_converted;
    words.has_texts_only = m->header->has_highres_ticks; /* JAX */
    if (tm_is_flow(r)) {
        words.place = find_place(m, event, r);
        words.has_place = true;
        words.is_enclosed = r->kind != TM_FLOW_END || event->has & TM_CHROME_BIND_ENCLOSING;
    } else if (tm_chrome_has_thread(sort)) {
        note_track(m, event, sort, r->track);
    }
    raw->own = tm_chrome_arguments_take(m->arguments, event, &words);
    if (words.is_joined || (r->kind != TM_SPAN && r->kind != TM_INSTANT)) /* what is joined later stays a list */
        return;
    /* The id of a run becomes the key of a run and a device at the end. */
    r->common = tm_argument_templates_take(m->trace->templates, r->name,
                                           r->flags & TM_FLAG_CORRELATION ? r->correlation : 0, &raw->own, m->numbers);
    r->flags |= r->common ? TM_FLAG_TEMPLATE : 0;
}

/* What waited for the names of planes, and for all tracks: in the form that tm_record_source_new needs.  to: the
 * trace */
static tm_status chrome_finish_own(void *to, const struct tm_record *record, uint8_t *bytes, size_t length)
{
    struct tm_trace *const trace = to;
    struct tm_argument place;
    const struct tm_track *track;

    if (!tm_is_flow(record) || record->flags & TM_FLAG_PLACED)
        return TM_OK;
    if (!tm_arguments_find((struct tm_arguments){ bytes, length }, TM_ARGUMENT_PLACE, &place) ||
        place.value >= tm_rows_count(trace->tracks))
        return TM_OK;
    track = tm_rows_at(trace->tracks, place.value);
    if (track->stream)
        tm_arguments_move_place(bytes, length, track->stream - 1);
    return trace->run->error.status;
}

/* Converts an event of a Chrome trace to a record.  The class by category is decided here; everything that depends on
 * the names of processes waits for the end, because they may come last.
 * source: Trace Event Format (phases); categories: stages/resolve/classes.c */

static const int64_t ps_per_us = 1000000;
static const int64_t usual_us = (int64_t)86400 * 1000000; /* of a start or a length: a day */

/* How a phase is interpreted. */
/* clang-format off */
enum phase {
    PHASE_UNKNOWN, PHASE_COMPLETE, PHASE_BEGIN, PHASE_END, PHASE_INSTANT, PHASE_COUNTER, PHASE_FLOW_BEGIN,
    PHASE_FLOW_STEP, PHASE_FLOW_END, PHASE_ASYNC_BEGIN, PHASE_ASYNC_INSTANT, PHASE_ASYNC_END, PHASE_METADATA,
    PHASE_OTHER,
};
/* clang-format on */

static enum phase phase_of(char letter)
{
    switch (letter) {
    case 'X':
        return PHASE_COMPLETE;
    case 'B':
        return PHASE_BEGIN;
    case 'E':
        return PHASE_END;
    case 'i':
    case 'I':
    case 'R':
    case 'P':
        return PHASE_INSTANT; /* instants, marks, samples */
    case 'C':
        return PHASE_COUNTER;
    case 's':
        return PHASE_FLOW_BEGIN;
    case 't':
        return PHASE_FLOW_STEP;
    case 'f':
        return PHASE_FLOW_END;
    case 'b':
    case 'S':
        return PHASE_ASYNC_BEGIN;
    case 'n':
    case 'T':
    case 'p':
        return PHASE_ASYNC_INSTANT;
    case 'e':
    case 'F':
        return PHASE_ASYNC_END;
    case 'M':
        return PHASE_METADATA;
    case 'N':
    case 'O':
    case 'D':
    case 'v':
    case 'V':
    case 'c':
    case 'a':
    case '(':
    case ')':
        return PHASE_OTHER; /* objects, memory dumps, clocks, contexts */
    default:
        return PHASE_UNKNOWN;
    }
}

static const struct {
    uint8_t kind; /* enum tm_kind */
    uint8_t sort; /* enum tm_chrome_sort, where no category says otherwise */
    uint8_t class;
    int8_t tally; /* enum tm_tally, less than 0 = none */
} phase_rows[] = {
    [PHASE_COMPLETE] = { TM_SPAN, TM_CHROME_THREAD, TM_CLASS_UNRESOLVED, -1 },
    [PHASE_BEGIN] = { TM_BEGIN, TM_CHROME_THREAD, TM_CLASS_UNRESOLVED, TM_TALLY_BEGIN_END_EVENT },
    [PHASE_END] = { TM_END, TM_CHROME_THREAD, TM_CLASS_UNRESOLVED, TM_TALLY_BEGIN_END_EVENT },
    [PHASE_INSTANT] = { TM_INSTANT, TM_CHROME_THREAD, TM_CLASS_UNRESOLVED, TM_TALLY_INSTANT_EVENT },
    [PHASE_COUNTER] = { TM_COUNTER, TM_CHROME_COUNTER, TM_CLASS_COUNTER, TM_TALLY_COUNTER_EVENT },
    [PHASE_FLOW_BEGIN] = { TM_FLOW_BEGIN, TM_CHROME_FLOW, TM_CLASS_FLOW, TM_TALLY_FLOW_EVENT },
    [PHASE_FLOW_STEP] = { TM_FLOW_STEP, TM_CHROME_FLOW, TM_CLASS_FLOW, TM_TALLY_FLOW_EVENT },
    [PHASE_FLOW_END] = { TM_FLOW_END, TM_CHROME_FLOW, TM_CLASS_FLOW, TM_TALLY_FLOW_EVENT },
    [PHASE_ASYNC_BEGIN] = { TM_BEGIN, TM_CHROME_ASYNC, TM_CLASS_ASYNC, TM_TALLY_ASYNC_EVENT },
    [PHASE_ASYNC_INSTANT] = { TM_INSTANT, TM_CHROME_ASYNC, TM_CLASS_ASYNC, TM_TALLY_ASYNC_EVENT },
    [PHASE_ASYNC_END] = { TM_END, TM_CHROME_ASYNC, TM_CLASS_ASYNC, TM_TALLY_ASYNC_EVENT },
};

static_assert(TM_TALLY_COUNT < 128, "tallies fit in the table");

static void count(struct tm_chrome_maker *m, enum tm_tally tally)
{
    tm_tally_add(&m->run->tallies, tally, 1);
}

/* --- times --- */

/* Picoseconds after the origin.  false: they do not fit. */
static bool after_origin(const struct tm_chrome_maker *m, const struct tm_json_time *time, int64_t *ps)
{
    int64_t us;

    return !__builtin_sub_overflow(time->us, m->origin_us, &us) && !__builtin_mul_overflow(us, ps_per_us, ps) &&
           !__builtin_add_overflow(*ps, (int64_t)time->ps, ps);
}

static bool length_of(const struct tm_json_time *time, int64_t *ps)
{
    return !__builtin_mul_overflow(time->us, ps_per_us, ps) && !__builtin_add_overflow(*ps, (int64_t)time->ps, ps);
}

/* Place the record in time.  false: it has no place, and is in a tally. */
static bool take_times(struct tm_chrome_maker *m, const struct tm_chrome_event *e, struct tm_record *r)
{
    if (!(e->has & TM_CHROME_TS)) {
        count(m, TM_TALLY_MISSING_TIME);
        return false;
    }
    if (r->kind == TM_SPAN) {
        if (!(e->has & TM_CHROME_DUR))
            count(m, TM_TALLY_MISSING_DURATION);
        else if (e->has & TM_CHROME_LONG_DUR || !length_of(&e->dur, &r->dur_ps))
            r->dur_ps = INT64_MAX;
        if (r->dur_ps < 0) {
            count(m, TM_TALLY_NEGATIVE_DURATION);
            r->dur_ps = 0;
        }
        if (r->dur_ps == 1 && !(e->has & TM_CHROME_CAT)) /* how JAX writes a length of 0 */
            r->dur_ps = 0;
        r->kind = r->dur_ps ? TM_SPAN : TM_INSTANT;
    }
    if (!after_origin(m, &e->ts, &r->start_ps) || !tm_time_fits(r->start_ps, r->dur_ps)) {
        count(m, TM_TALLY_CLOCK_OUTLIER);
        return false;
    }
    return true;
}

/* --- what it says about itself --- */

/* The key that joins halves: async spans by category and id, flows also by their name.
 * source: Trace Event Format, "Async Events", "Flow events" */
static uint64_t key_of_id(const struct tm_chrome_event *e, enum tm_chrome_sort sort, struct tm_chrome_known *known)
{
    known->has_key = true;
    known->key[0] = e->id.kind ? tm_json_id_number(&e->id) : 0; /* without one its number means nothing */
    known->key[1] = (uint64_t)e->id.kind;
    known->key[2] = e->has & TM_CHROME_CAT ? XXH3_64bits(e->cat.at, e->cat.length) : 0;
    known->key[3] = sort == TM_CHROME_FLOW && e->has & TM_CHROME_NAME ? XXH3_64bits(e->name.at, e->name.length) : 0;
    return XXH3_64bits(known->key, sizeof(known->key));
}

/* PyTorch's caching allocator: a size below 0 frees memory. */
static bool is_torch_memory(const struct tm_chrome_event *e)
{
    return tm_json_text_is(e->name, "[memory]") && tm_facts_have(&e->facts, TM_STAT_BYTES);
}

/* All information from the arguments. */
static void take_facts(struct tm_chrome_maker *m, const struct tm_chrome_event *e, struct tm_raw_record *raw,
                       struct tm_chrome_known *known)
{
    const struct tm_fact_maker maker = { .trace = m->trace,
                                         .configs = m->configs,
                                         .given = (enum tm_class)raw->record.class,
                                         .name = e->name.at,
                                         .name_length = e->name.length };
    struct tm_fact_numbers from;

    tm_facts_take(&maker, &e->facts, raw, &m->args, &from);
    known->correlation = from.correlation;
    known->number = from.number;
}

/* --- the event --- */

static bool begins(const struct tm_json_slice *text, const char *with)
{
    return text->length >= strlen(with) && !memcmp(text->at, with, strlen(with));
}

/* What rocmProfileData draws around the work of a queue: a graph as a whole, and the markers of the host again.
 * source: rpd2tracing.py: "Graph 0x55d0c0", args.desc "UserMarker frame: 3 ops" */
static bool is_drawn_around(const struct tm_chrome_event *e)
{
    const struct tm_fact_text *const about = &e->facts.texts[TM_STAT_DESCRIPTION];
    const struct tm_json_slice text = { (const char *)about->bytes, (uint32_t)about->length };

    if (e->has & TM_CHROME_NAME && begins(&e->name, "Graph 0x"))
        return true;
    return tm_facts_have(&e->facts, TM_STAT_DESCRIPTION) && about->kind == TM_FACT_BYTES &&
           begins(&text, "UserMarker frame: ");
}

/* The owner of an event by its category; *sort is unchanged if there is none.  ROCm's profilers give none: rocprof
 * gives the device's number to what ran there alone. */
static void take_category(const struct tm_chrome_event *e, struct tm_record *r, enum tm_chrome_sort *sort)
{
    struct tm_category category;

    if (!(e->has & TM_CHROME_CAT) || !tm_category_of(e->cat.at, e->cat.length, &category)) {
        if (is_drawn_around(e))
            r->class = TM_CLASS_DERIVED;
        if (tm_facts_have(&e->facts, TM_STAT_QUEUE_DEVICE))
            *sort = TM_CHROME_DEVICE;
        return;
    }
    r->class = (uint8_t)category.class;
    if (category.accelerator)
        *sort = TM_CHROME_UNKNOWN_DEVICE;
    else if (category.side == TM_SIDE_DEVICE)
        *sort = TM_CHROME_DEVICE;
    else if (category.side == TM_SIDE_OTHER)
        *sort = TM_CHROME_LOOSE;
}

static int64_t ordinal_of(const struct tm_chrome_event *e)
{
    if (tm_facts_have(&e->facts, TM_STAT_DEVICE))
        return e->facts.ints[TM_STAT_DEVICE];
    if (tm_facts_have(&e->facts, TM_STAT_QUEUE_DEVICE))
        return e->facts.ints[TM_STAT_QUEUE_DEVICE];
    return e->pid.kind == TM_JSON_NUMBER ? e->pid.number : 0;
}

static void count_missing(struct tm_chrome_maker *m, const struct tm_chrome_event *e, enum phase phase)
{
    if (!(e->has & TM_CHROME_NAME) && phase != PHASE_END)
        count(m, TM_TALLY_MISSING_NAME);
    if (phase == PHASE_INSTANT && e->scope == 'g') /* it belongs to no process */
        return;
    if (!e->pid.kind)
        count(m, TM_TALLY_MISSING_PROCESS);
    else if (!e->tid.kind && (phase == PHASE_COMPLETE || phase == PHASE_BEGIN || phase == PHASE_END))
        count(m, TM_TALLY_MISSING_THREAD);
}

static tm_status chrome_set_origin(struct tm_chrome_maker *m);

static void take_allocation(struct tm_chrome_maker *m, const struct tm_facts *facts, struct tm_raw_record *raw)
{
    const struct tm_fact_maker maker = { .trace = m->trace };

    raw->record.class = facts->ints[TM_STAT_BYTES] < 0 ? TM_CLASS_FREE : TM_CLASS_ALLOC;
    tm_facts_allocation(&maker, facts, tm_raw_allocation(raw, &m->args));
}

/* The same of a span without anything else, as nearly all are.  false: its times are in an unusual form */
static inline bool store_plain(struct tm_chrome_maker *m, const struct tm_chrome_event *e)
{
    const struct tm_chrome_known *const known = e->known;
    const int64_t us = (int64_t)((uint64_t)e->ts.us - (uint64_t)m->origin_us);
    uint64_t correlation = known->record.correlation;

    if ((uint64_t)us >= usual_us || (uint64_t)e->dur.us >= usual_us || !(e->dur.us | (e->dur.ps > 1)))
        return false;
    if (known->correlation && known->varying >> known->correlation & 1)
        correlation = (uint64_t)e->facts.ints[known->correlation];
    return tm_record_store_add_known(m->store, known->record.track, known->signature, us * ps_per_us + e->ts.ps,
                                     e->dur.us * ps_per_us + e->dur.ps, correlation);
}

static void store_record(struct tm_chrome_maker *m, const struct tm_raw_record *raw)
{
    const struct tm_record *const r = &raw->record;

    if (m->flows && tm_is_flow(r))
        tm_flow_tally_add(m->flows, r->correlation, r->start_ps, (enum tm_kind)r->kind, false);
    else
        tm_record_store_add(m->store, raw);
}

/* One that has more, or has no signature. */
TM_NOT_INLINE void store_any_known(struct tm_chrome_maker *m, const struct tm_chrome_event *e)
{
    const struct tm_chrome_known *const known = e->known;
    struct tm_raw_record raw = { .record = known->record, .traits = known->traits };
    uint64_t key[4];

    if (known->tally >= 0)
        count(m, (enum tm_tally)known->tally);
    if (!take_times(m, e, &raw.record))
        return;
    if (known->has_key && known->varying & 1) {
        memcpy(key, known->key, sizeof(key));
        key[0] = (uint64_t)e->id.number;
        raw.record.correlation = XXH3_64bits(key, sizeof(key));
    } else if (known->correlation && known->varying >> known->correlation & 1) {
        raw.record.correlation = (uint64_t)e->facts.ints[known->correlation];
    }
    if (known->has_facts)
        take_allocation(m, &e->facts, &raw);
    else if (known->number && known->varying >> known->number & 1)
        tm_raw_number(&raw, &m->args, e->facts.ints[known->number]);
    else if (known->has_number)
        tm_raw_number(&raw, &m->args, known->value);
    store_record(m, &raw);
}

/* Store the record of an event that equals an earlier one except for its numbers. */
static void store_known(void *to, const struct tm_chrome_event *e)
{
    struct tm_chrome_maker *const m = to;
    const struct tm_chrome_known *const known = e->known;

    m->run->events_read++;
    m->complete += e->phase == 'X';
    if (m->arguments && known->thread != TM_NONE)
        m->lately = (struct tm_chrome_lately){
            .is_any = true, .thread = known->thread, .track = known->record.track, .ts = e->ts
        };
    if (!known->signature || !store_plain(m, e))
        store_any_known(m, e);
}

/* Have the reader remember an event that became a record, unless the record depends on more than its numbers. */
static void remember(struct tm_chrome_maker *m, const struct tm_chrome_event *e, enum phase phase,
                     const struct tm_raw_record *raw, struct tm_chrome_known *known)
{
    const bool is_whole = e->has & TM_CHROME_NAME && e->pid.kind && e->tid.kind;
    const uint32_t times = TM_CHROME_TS | TM_CHROME_DUR;

    known->has_facts = raw->record.args_length == sizeof(struct tm_allocation);
    if (!is_whole || (known->has_facts && !(phase == PHASE_INSTANT && is_torch_memory(e))))
        return;
    for (uint64_t left = known->has_facts ? e->facts.has : 0; left; left &= left - 1)
        if (e->facts.texts[__builtin_ctzll(left)].kind != TM_FACT_NO_TEXT)
            return;
    known->record = raw->record;
    known->record.kind = phase_rows[phase].kind;
    known->record.start_ps = known->record.dur_ps = 0;
    known->record.args_length = 0;
    known->traits = raw->traits;
    known->tally = phase_rows[phase].tally;
    known->has_number = raw->record.args_length == sizeof(struct tm_number);
    known->value = known->has_number ? m->args.number.value : 0;
    if (phase == PHASE_COMPLETE && (e->has & times) == times && known->tally < 0 &&
        !(known->has_number || known->has_facts || known->has_key || known->number))
        known->signature = tm_signature_of(tm_record_store_signatures(m->store),
                                           &(struct tm_raw_record){ .record = known->record, .traits = known->traits });
    tm_chrome_remember(m->reader, known);
}

/* Whether anything but the correlation id varies, or may vary, in what an event says about itself. */
static bool has_own_numbers(const struct tm_raw_record *raw)
{
    return raw->own.length || (raw->record.flags & TM_FLAG_TEMPLATE && !(raw->record.common & TM_TEMPLATE_CORRELATION));
}

/* Reports about arguments so far: they are made for each event. */
static uint64_t told_of_arguments(const struct tm_run *run)
{
    uint64_t told = 0;

    for (int i = TM_TALLY_LONG_ARGUMENTS; i <= TM_TALLY_UNWRITTEN_MEMBER; i++)
        told += run->tallies.count[i];
    return told;
}

static void store(struct tm_chrome_maker *m, const struct tm_chrome_event *e, enum phase phase)
{
    const uint64_t told = m->arguments ? told_of_arguments(m->run) : 0;
    struct tm_raw_record raw = { .record = { .kind = phase_rows[phase].kind, .class = phase_rows[phase].class } };
    enum tm_chrome_sort sort = (enum tm_chrome_sort)phase_rows[phase].sort;
    const bool on_thread = sort == TM_CHROME_THREAD;
    struct tm_chrome_known known = { .has_key = false };
    struct tm_record *r = &raw.record;
    struct tm_device_times times;

    if (on_thread)
        take_category(e, r, &sort);
    if (phase == PHASE_INSTANT && (!e->tid.kind || e->scope == 'g' || e->scope == 'p'))
        sort = TM_CHROME_LOOSE;
    if (phase == PHASE_INSTANT && is_torch_memory(e))
        r->class = e->facts.ints[TM_STAT_BYTES] < 0 ? TM_CLASS_FREE : TM_CLASS_ALLOC;
    if (!m->has_origin && e->has & TM_CHROME_TS && chrome_set_origin(m) != TM_OK)
        return;
    if (!take_times(m, e, r))
        return;
    r->name =
        tm_names_put_often(m->trace->names, e->name.at, e->has & TM_CHROME_NAME ? e->name.length : 0, &raw.traits);
    if (on_thread)
        take_facts(m, e, &raw, &known);
    else
        r->correlation = key_of_id(e, sort, &known);
    if (phase == PHASE_INSTANT || phase == PHASE_ASYNC_INSTANT)
        r->flags |= TM_FLAG_INSTANT;
    if (phase == PHASE_INSTANT && r->class == TM_CLASS_UNRESOLVED)
        r->class = TM_CLASS_INSTANT;
    r->track = tm_chrome_track_of(m->tracks, e, sort, ordinal_of(e));
    if (m->arguments)
        chrome_take_own(m, e, sort, &raw);
    if (phase == PHASE_COMPLETE && r->class == TM_CLASS_UNRESOLVED && tm_device_times_of(&e->facts, &times)) {
        tm_record_store_add_timed(m->store, &raw, &times);
        return;
    }
    store_record(m, &raw);
    if (m->arguments) {
        known.has_arguments = true;
        known.thread = tm_chrome_has_thread(sort) ? m->lately.thread : TM_NONE;
    }
    if (!(m->arguments && (has_own_numbers(&raw) || told != told_of_arguments(m->run))) &&
        tm_chrome_may_remember(m->reader))
        remember(m, e, phase, &raw, &known);
}

/* Whether an event gets a place in time. */
static bool chrome_has_time(const struct tm_chrome_event *event)
{
    const enum phase phase = phase_of(event->phase);

    return event->has & TM_CHROME_TS && phase != PHASE_METADATA && phase != PHASE_UNKNOWN && phase != PHASE_OTHER;
}

/* Put an event into the store, or into a tally. */
static void chrome_take_event(struct tm_chrome_maker *m, const struct tm_chrome_event *event)
{
    const enum phase phase = phase_of(event->phase);

    if (phase == PHASE_METADATA) {
        tm_chrome_take_metadata(m->tracks, event);
        return;
    }
    m->run->events_read++;
    m->complete += phase == PHASE_COMPLETE;
    if (phase == PHASE_UNKNOWN) {
        count(m, event->phase ? TM_TALLY_UNKNOWN_PHASE : TM_TALLY_MISSING_PHASE);
        return;
    }
    if (phase == PHASE_OTHER) {
        count(m, TM_TALLY_OTHER_PHASE);
        return;
    }
    count_missing(m, event, phase);
    if (phase_rows[phase].tally >= 0)
        count(m, (enum tm_tally)phase_rows[phase].tally);
    store(m, event, phase);
}

struct scan {
    struct tm_run *run;
    struct tm_trace *trace;
    struct tm_input *input;
    struct tm_chrome_reader *reader;
    struct tm_chrome_tracks tracks;
    struct tm_chrome_maker maker;
};

static tm_status open_parts(struct scan *s)
{
    struct tm_chrome_maker *m = &s->maker;
    tm_status st = tm_chrome_tracks_open(&s->tracks, s->trace);

    if (st != TM_OK)
        return st;
    *m = (struct tm_chrome_maker){ .run = s->run, .trace = s->trace, .tracks = &s->tracks };
    m->store = tm_record_store_new(s->trace, NULL);
    m->configs = tm_configs_new(s->trace);
    if (s->trace->drops_flows)
        m->flows = tm_flow_tally_new(s->run, TM_ACCOUNT_SORT, tm_budget_share(&s->run->budget, TM_ACCOUNT_SORT));
    s->reader = tm_chrome_reader_new(s->run, s->input, NULL);
    m->reader = s->reader;
    if (s->reader)
        tm_chrome_take_known(s->reader, store_known, m);
    m->header = s->reader ? tm_chrome_header(s->reader) : NULL;
    if (s->trace->keeps_arguments)
        m->arguments = tm_chrome_arguments_new(s->run, s->trace->names);
    if (s->trace->keeps_arguments && !m->arguments)
        return s->run->error.status;
    return m->store && m->configs && s->reader ? TM_OK : s->run->error.status;
}

static void close_parts(struct scan *s)
{
    tm_chrome_reader_free(s->reader);
    tm_chrome_arguments_free(s->maker.arguments);
    tm_configs_free(s->maker.configs);
    tm_record_store_free(s->maker.store);
    tm_flow_tally_free(s->maker.flows);
    tm_chrome_tracks_close(&s->tracks);
}

static tm_status read_events(struct scan *s)
{
    for (;;) {
        const struct tm_chrome_event *event;
        const tm_status st = tm_chrome_next(s->reader, &event);

        if (st != TM_OK || !event)
            return st;
        chrome_take_event(&s->maker, event);
        if (tm_failed(s->run))
            return s->run->error.status;
    }
}

/* JAX's writer keeps only this many events and leaves out the rest silently.
 * source: XLA's trace viewer export, GetTraceViewerMaxEvents; jax-ml/jax issue 21295 */
static void tell_cap(struct scan *s)
{
    if (s->maker.complete != 1000000 && s->maker.complete != 5000000)
        return;
    tm_tally_add(&s->run->tallies, TM_TALLY_EVENT_CAP, 1);
    tm_trace_damage(s->trace,
                    "the file holds exactly %" PRIu64 " events, JAX's limit: the end of the run is missing, and "
                    "figures cover only these events",
                    s->maker.complete);
}

/* A description of what was skipped because of damage. */
static void put_skipped(char *to, size_t room, const struct tm_chrome_damage *damage)
{
    int used = 0;

    if (damage->is_left && damage->places == 1)
        used = snprintf(to, room, "; the rest was not read");
    else if (damage->places > 0 && damage->to == damage->from)
        used = snprintf(to, room, "; nothing was skipped");
    else if (damage->places > 0)
        used = snprintf(to, room, "; %" PRIu64 " bytes were skipped, from byte %" PRIu64 " on",
                        damage->to - damage->from, damage->from);
    if (damage->places > 1)
        (void)snprintf(to + used, room - (size_t)used, "; %" PRIu64 " such places, %" PRIu64 " bytes in total",
                       damage->places, damage->bytes);
}

/* Damage of the text; what is around it has been read. */
static void tell_damage(struct scan *s)
{
    const struct tm_chrome_damage *const damage = tm_chrome_damage(s->reader);
    char skipped[256] = "";

    if (!damage->problem)
        return;
    put_skipped(skipped, sizeof(skipped), damage);
    tm_trace_damage(s->trace, "%s (byte %" PRIu64 ")%s", damage->problem, damage->at, skipped);
}

static void tell_losses(struct scan *s)
{
    if (s->tracks.has_planes)
        (void)snprintf(
            s->trace->note, sizeof(s->trace->note),
            "read from JSON, a lossy copy of the profile without allocator events, asynchronous TPU lines, program "
            "ids, device capabilities, HLO and profiler warnings; the run's .xplane.pb file contains them");
}

static void put_version(char *to, size_t room, int64_t version)
{
    /* CUDA counts 1000 to the major version; HIP 10,000,000, and 100,000 to the minor one */
    if (version >= 10000000)
        (void)snprintf(to, room, "%" PRId64 ".%" PRId64, version / 10000000, version / 100000 % 100);
    else if (version > 0)
        (void)snprintf(to, room, "%" PRId64 ".%" PRId64, version / 1000, version % 1000 / 10);
}

static void take_header(struct scan *s)
{
    const struct tm_chrome_header *h = tm_chrome_header(s->reader);
    struct tm_environment *e = &s->trace->environment;

    e->rank = h->rank;
    e->world_size = h->world_size;
    put_version(e->driver, sizeof(e->driver), h->cuda_driver ? h->cuda_driver : h->hip_driver);
    put_version(e->cuda_runtime, sizeof(e->cuda_runtime), h->cuda_runtime);
    put_version(e->rocm, sizeof(e->rocm), h->hip_runtime);
    (void)snprintf(e->host, sizeof(e->host), "%s", h->host);
    s->trace->has_memory_counters = h->is_converted;
    s->trace->origin = TM_ORIGIN_OTHER;
    if (s->tracks.has_planes) {
        s->trace->origin = TM_ORIGIN_JSON_COPY;
        (void)snprintf(e->framework, sizeof(e->framework), "jax");
    } else if (h->has_schema_version) {
        s->trace->origin = TM_ORIGIN_PYTORCH;
        (void)snprintf(e->framework, sizeof(e->framework), "pytorch");
        e->node_devices = h->device_count > 1 ? h->device_count : 0;
    }
}

/* Frees the tally: tracks are ordered with the same memory. */
static void finish_flows(struct scan *s)
{
    struct tm_flow_tally *const flows = s->maker.flows;

    if (!flows)
        return;
    tm_flow_tally_finish(flows);
    s->trace->dropped_flows = tm_flow_tally_count(flows);
    tm_flow_tally_free(flows);
    s->maker.flows = NULL;
}

/* Begins and ends become spans, and every track is in order; then it is known how much each holds. */
static void order_tracks(struct scan *s)
{
    for (uint64_t i = 0; i < tm_rows_count(s->trace->tracks) && !tm_failed(s->run); i++) {
        struct tm_track *track;

        tm_pairs_join(s->maker.store, s->trace, i);
        track = tm_rows_change(s->trace->tracks, i);
        track->events = tm_record_store_count(s->maker.store, i);
    }
}

static tm_status refuse_bare(struct scan *s)
{
    const struct tm_chrome_header *header = tm_chrome_header(s->reader);
    struct tm_error *error = &s->run->error;

    if (s->trace->partial) {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "the trace is damaged, and no event can be read: %s", s->trace->problem);
        tm_hint(error, "copy the file again, or record a new profile");
    } else if (!header->is_list && !header->has_events) {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "it is %s: it has no traceEvents member",
                      tm_kind_name(TM_FILE_OTHER_JSON));
        tm_hint(error, "%s", tm_kind_hint(TM_FILE_OTHER_JSON));
    } else {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "the trace has no events");
        tm_hint(error, "record it again: run a few steps and block_until_ready() inside the trace");
    }
    return TM_ERR_INPUT;
}

static tm_status scan(struct scan *s)
{
    const uint64_t events_before = s->run->events_read;
    tm_status st = read_events(s);

    if (st != TM_OK)
        return st;
    tell_damage(s);
    finish_flows(s);
    order_tracks(s);
    tm_chrome_tracks_finish(&s->tracks, tm_chrome_header(s->reader));
    if (tm_failed(s->run))
        return s->run->error.status;
    take_header(s);
    s->trace->origin_us = s->maker.origin_us;
    if (s->tracks.has_planes)
        tell_cap(s);
    tell_losses(s);
    return s->run->events_read == events_before ? refuse_bare(s) : TM_OK;
}

tm_status tm_chrome_scan(struct tm_trace *trace, struct tm_input *input, struct tm_source **source)
{
    const struct tm_record_finish finish = {
        .record = tm_finish_run, .flags = TM_FLAG_RUN_ID, .own = chrome_finish_own, .to = trace
    };
    struct scan s = { .run = trace->run, .trace = trace, .input = input };
    tm_status st = open_parts(&s);

    *source = NULL;
    if (st == TM_OK)
        st = scan(&s);
    if (st == TM_OK) {
        st = tm_record_source_new(trace, s.maker.store, &finish, source);
        s.maker.store = NULL; /* it is the source's now */
    }
    close_parts(&s);
    return st;
}

/* The time from which a Chrome trace counts.  Clocks that count from an epoch would not fit in 64 bits of picoseconds
 * and are not readable.  One wrong time at the start must not exclude everything else: the first events are therefore
 * examined together, and the time that most of them are close to is used. */

static const int64_t us_per_s = 1000000, us_per_day = (int64_t)86400 * 1000000;

/* A clock that reads more does not count from the start of the profile.  PyTorch's counts from a date or from when the
 * machine was started, the same for all events; of other writers it may be several clocks, which must all fit. */
static const int64_t latest_first_us = 100 * us_per_day, latest_torch_us = 3600 * us_per_s;

/* How far times may be before and after the origin: tm_time_fits, less what the rest of the profile may take. */
static const int64_t before_us = 5 * us_per_day, after_us = 95 * us_per_day;

/* If the first few do not agree, more are sampled. */
enum { FEW = 64, LOOKED_AT = 1024 };

struct sample {
    size_t count;
    int64_t sorted[LOOKED_AT]; /* times */
    int64_t origin[LOOKED_AT]; /* if that event decided */
};

static int64_t whole_second(int64_t us)
{
    const int64_t rest = us % us_per_s;

    return us - (rest < 0 ? rest + us_per_s : rest);
}

static int64_t origin_of(const struct tm_chrome_event *event)
{
    const int64_t us = event->ts.us;
    struct tm_category category;
    const bool is_torch = event->has & TM_CHROME_CAT && tm_category_of(event->cat.at, event->cat.length, &category);
    const int64_t latest_us = is_torch ? latest_torch_us : latest_first_us;

    if (us < latest_us && us > -latest_us)
        return 0;
    return us < INT64_MIN + us_per_s ? 0 : whole_second(us);
}

static void take_sample(void *to, const struct tm_chrome_event *event)
{
    struct sample *const s = to;

    if (!chrome_has_time(event))
        return;
    s->sorted[s->count] = event->ts.us;
    s->origin[s->count++] = origin_of(event);
}

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The number of sorted times before this one. */
static size_t count_before(const struct sample *s, int64_t us)
{
    return tm_sorted_place(&us, s->sorted, s->count, sizeof(s->sorted[0]), compare_times);
}

static int64_t add_within(int64_t us, int64_t more)
{
    int64_t sum;

    return __builtin_add_overflow(us, more, &sum) ? (more < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* The first event that has the most others near it.
 * out:    *agreed  it has all of them near it */
static int64_t choose_origin(struct sample *s, bool *agreed)
{
    size_t most = 0, chosen = 0;

    qsort(s->sorted, s->count, sizeof(s->sorted[0]), compare_times);
    for (size_t i = 0; i < s->count && most < s->count; i++) {
        const size_t near = count_before(s, add_within(s->origin[i], after_us + 1)) -
                            count_before(s, add_within(s->origin[i], -before_us));

        if (near > most) {
            most = near;
            chosen = i;
        }
    }
    *agreed = most == s->count;
    return s->count ? s->origin[chosen] : 0;
}

/* From where times are counted.  The event that the reader is at is the first that has one. */
static tm_status chrome_set_origin(struct tm_chrome_maker *m)
{
    struct sample *const sample = tm_take(&m->run->budget, TM_ACCOUNT_INPUT, sizeof(*sample), &m->run->error);
    bool agreed = false;
    tm_status st = TM_OK;

    if (!sample)
        return m->run->error.status;
    for (size_t most = FEW; !agreed && most <= LOOKED_AT && st == TM_OK; most *= LOOKED_AT / FEW) {
        sample->count = 0;
        st = tm_chrome_look_ahead(m->reader, most, take_sample, sample);
        m->origin_us = choose_origin(sample, &agreed);
    }
    m->has_origin = true;
    tm_give(&m->run->budget, TM_ACCOUNT_INPUT, sample, sizeof(*sample));
    return st;
}
