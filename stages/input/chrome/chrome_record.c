/* SPDX-License-Identifier: Apache-2.0 */
/* From an event of a Chrome trace to a record.  What it is by its category is decided here; what depends on the
 * names of processes waits for the end, since they may come last.
 * source: Trace Event Format (phases); categories: stages/resolve/categories.c */
#include <string.h>

#include "stages/input/chrome/chrome_maker.h"
#include "stages/resolve/categories.h"
#include "stages/resolve/classes.h"

static const int64_t ps_per_us = 1000000;

/* What a phase is to us. */
enum phase {
    PHASE_UNKNOWN, PHASE_COMPLETE, PHASE_BEGIN, PHASE_END, PHASE_INSTANT, PHASE_COUNTER, PHASE_FLOW_BEGIN,
    PHASE_FLOW_STEP, PHASE_FLOW_END, PHASE_ASYNC_BEGIN, PHASE_ASYNC_INSTANT, PHASE_ASYNC_END, PHASE_METADATA,
    PHASE_OTHER,
};

static enum phase phase_of(char letter)
{
    switch (letter) {
    case 'X': return PHASE_COMPLETE;
    case 'B': return PHASE_BEGIN;
    case 'E': return PHASE_END;
    case 'i': case 'I': case 'R': case 'P': return PHASE_INSTANT; /* instants, marks, samples */
    case 'C': return PHASE_COUNTER;
    case 's': return PHASE_FLOW_BEGIN;
    case 't': return PHASE_FLOW_STEP;
    case 'f': return PHASE_FLOW_END;
    case 'b': case 'S': return PHASE_ASYNC_BEGIN;
    case 'n': case 'T': case 'p': return PHASE_ASYNC_INSTANT;
    case 'e': case 'F': return PHASE_ASYNC_END;
    case 'M': return PHASE_METADATA;
    case 'N': case 'O': case 'D': case 'v': case 'V': case 'c': case 'a': case '(': case ')':
        return PHASE_OTHER; /* objects, memory dumps, clocks, contexts */
    default: return PHASE_UNKNOWN;
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

/* --- what it says of itself --- */

/* What joins halves: async spans by category and id, flows also by their name.
 * source: Trace Event Format, "Async Events", "Flow events" */
static uint64_t key_of_id(const struct tm_chrome_event *e, enum tm_chrome_sort sort)
{
    const uint64_t parts[] = {
        e->id.kind ? tm_json_id_number(&e->id) : 0, /* without one its number means nothing */
        (uint64_t)e->id.kind,
        e->has & TM_CHROME_CAT ? XXH3_64bits(e->cat.at, e->cat.length) : 0,
        sort == TM_CHROME_FLOW && e->has & TM_CHROME_NAME ? XXH3_64bits(e->name.at, e->name.length) : 0,
    };

    return XXH3_64bits(parts, sizeof(parts));
}

/* "ProfilerStep#12" */
static bool number_in_name(const struct tm_json_slice *name, int64_t *number)
{
    const char *hash = memrchr(name->at, '#', name->length);
    const char *end = name->at + name->length;
    int64_t value = 0;

    if (!hash || hash + 1 == end || end - hash > 18)
        return false;
    for (const char *c = hash + 1; c < end; c++) {
        if (*c < '0' || *c > '9')
            return false;
        value = value * 10 + (*c - '0');
    }
    *number = value;
    return true;
}

/* PyTorch's caching allocator: a size below 0 gives back. */
static bool is_torch_memory(const struct tm_chrome_event *e)
{
    return tm_json_text_is(e->name, "[memory]") && tm_facts_have(&e->facts, TM_STAT_BYTES);
}

static bool needs_config(const struct tm_record *r)
{
    switch (r->class) {
    case TM_CLASS_UNRESOLVED:
    case TM_CLASS_KERNEL:
    case TM_CLASS_COPY:
    case TM_CLASS_MEMSET:
        return true;
    default:
        return false;
    }
}

/* Everything that the arguments tell. */
static tm_status take_facts(struct tm_chrome_maker *m, const struct tm_chrome_event *e, struct tm_raw_record *raw)
{
    const struct tm_facts *f = &e->facts;
    struct tm_record *r = &raw->record;
    const struct tm_fact_maker maker = { .trace = m->trace, .configs = m->configs,
                                         .given = (enum tm_class)r->class, .name = e->name.at,
                                         .name_length = e->name.length };
    int64_t number;

    r->flags = tm_facts_flags(f, (enum tm_class)r->class);
    if (r->class == TM_CLASS_ALLOC || r->class == TM_CLASS_FREE || raw->traits & (TM_TRAIT_ALLOC | TM_TRAIT_FREE))
        return tm_facts_allocation(&maker, f, tm_raw_allocation(raw, &m->args));
    if (r->flags & TM_FLAG_CORRELATION)
        r->correlation = (uint64_t)f->ints[TM_STAT_CORRELATION_ID];
    else if (r->flags & TM_FLAG_RUN_ID)
        r->correlation = (uint64_t)f->ints[TM_STAT_RUN_ID]; /* mixed with the device later */
    if (tm_facts_have(f, TM_STAT_STEP_NUM))
        tm_raw_number(raw, &m->args, f->ints[TM_STAT_STEP_NUM]);
    else if (raw->traits & TM_TRAIT_STEP_NAME && number_in_name(&e->name, &number))
        tm_raw_number(raw, &m->args, number);
    else if (r->flags & TM_FLAG_GROUP)
        tm_raw_number(raw, &m->args, f->ints[TM_STAT_GROUP_ID]);
    else if (tm_facts_have(f, TM_STAT_SIZE))
        tm_raw_number(raw, &m->args, f->ints[TM_STAT_SIZE]);
    else if (r->class == TM_CLASS_KERNEL && tm_facts_have(f, TM_STAT_SEQUENCE) &&
             tm_facts_have(f, TM_STAT_COLLECTIVE))
        tm_raw_number(raw, &m->args, f->ints[TM_STAT_SEQUENCE]);
    return needs_config(r) ? tm_facts_config(&maker, f, 0, &r->config) : TM_OK;
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

/* Whose it is by its category; *sort stays where that says nothing.  ROCm's profilers give none: rocprof gives the
 * device's number to what ran there alone. */
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
    if (phase == PHASE_INSTANT && e->scope == 'g') /* it is of no process */
        return;
    if (!e->pid.kind)
        count(m, TM_TALLY_MISSING_PROCESS);
    else if (!e->tid.kind && (phase == PHASE_COMPLETE || phase == PHASE_BEGIN || phase == PHASE_END))
        count(m, TM_TALLY_MISSING_THREAD);
}

static tm_status put_name(struct tm_chrome_maker *m, const struct tm_chrome_event *e, struct tm_raw_record *raw)
{
    raw->traits = 0;
    return tm_names_put_often(m->trace->names, e->name.at, e->has & TM_CHROME_NAME ? e->name.length : 0,
                              &raw->record.name, &raw->traits);
}

static tm_status store(struct tm_chrome_maker *m, const struct tm_chrome_event *e, enum phase phase)
{
    struct tm_raw_record raw = { .record = { .kind = phase_rows[phase].kind, .class = phase_rows[phase].class } };
    enum tm_chrome_sort sort = (enum tm_chrome_sort)phase_rows[phase].sort;
    const bool on_thread = sort == TM_CHROME_THREAD;
    struct tm_record *r = &raw.record;
    struct tm_device_times times;
    tm_status st;

    if (on_thread)
        take_category(e, r, &sort);
    if (phase == PHASE_INSTANT && (!e->tid.kind || e->scope == 'g' || e->scope == 'p'))
        sort = TM_CHROME_LOOSE;
    if (phase == PHASE_INSTANT && is_torch_memory(e))
        r->class = e->facts.ints[TM_STAT_BYTES] < 0 ? TM_CLASS_FREE : TM_CLASS_ALLOC;
    if (!m->has_origin && e->has & TM_CHROME_TS && tm_chrome_set_origin(m) != TM_OK)
        return m->run->error.status;
    if (!take_times(m, e, r))
        return TM_OK;
    st = put_name(m, e, &raw);
    if (st == TM_OK && on_thread)
        st = take_facts(m, e, &raw);
    else
        r->correlation = key_of_id(e, sort);
    if (phase == PHASE_INSTANT || phase == PHASE_ASYNC_INSTANT)
        r->flags |= TM_FLAG_INSTANT;
    if (st == TM_OK && phase == PHASE_INSTANT && r->class == TM_CLASS_UNRESOLVED)
        r->class = TM_CLASS_INSTANT;
    if (st == TM_OK)
        st = tm_chrome_track_of(m->tracks, e, sort, ordinal_of(e), &r->track);
    if (st == TM_OK && m->arguments)
        st = tm_chrome_take_own(m, e, sort, &raw);
    if (st != TM_OK)
        return st;
    return phase == PHASE_COMPLETE && r->class == TM_CLASS_UNRESOLVED && tm_device_times_of(&e->facts, &times)
               ? tm_record_store_add_timed(m->store, &raw, &times)
               : tm_record_store_add(m->store, &raw);
}

bool tm_chrome_has_time(const struct tm_chrome_event *event)
{
    const enum phase phase = phase_of(event->phase);

    return event->has & TM_CHROME_TS && phase != PHASE_METADATA && phase != PHASE_UNKNOWN && phase != PHASE_OTHER;
}

tm_status tm_chrome_take_event(struct tm_chrome_maker *m, const struct tm_chrome_event *event)
{
    const enum phase phase = phase_of(event->phase);

    if (phase == PHASE_METADATA)
        return tm_chrome_take_metadata(m->tracks, event);
    m->run->events_read++;
    m->complete += phase == PHASE_COMPLETE;
    if (phase == PHASE_UNKNOWN) {
        count(m, event->phase ? TM_TALLY_UNKNOWN_PHASE : TM_TALLY_MISSING_PHASE);
        return TM_OK;
    }
    if (phase == PHASE_OTHER) {
        count(m, TM_TALLY_OTHER_PHASE);
        return TM_OK;
    }
    count_missing(m, event, phase);
    if (phase_rows[phase].tally >= 0)
        count(m, (enum tm_tally)phase_rows[phase].tally);
    return store(m, event, phase);
}

/* A program's execution on a TPU bears the ordinal of its device, everything else says it or means the first one. */
static int64_t ordinal_of_run(struct tm_trace *trace, const struct tm_track *track, const struct tm_record *record)
{
    const struct tm_config *config;

    if (track->line == TM_LINE_TPU_MODULES && track->device != TM_NONE)
        return trace->devices[track->device].ordinal;
    config = record->config ? tm_rows_at(trace->configs, record->config) : NULL;
    return config && config->ordinal != TM_NONE ? config->ordinal : 0;
}

void tm_chrome_finish_record(void *to, const struct tm_track *track, struct tm_raw_record *raw)
{
    struct tm_record *r = &raw->record;
    const bool is_host_op = track->side == TM_SIDE_HOST && r->flags & TM_FLAG_HLO_OP;

    if ((r->flags & (TM_FLAG_RUN_ID | TM_FLAG_CORRELATION)) != TM_FLAG_RUN_ID)
        return;
    if (track->line == TM_LINE_TPU_MODULES || tm_is_enqueue(raw->traits) || is_host_op)
        r->correlation = tm_run_key((int64_t)r->correlation, ordinal_of_run(to, track, r));
    else
        r->correlation = 0;
}
