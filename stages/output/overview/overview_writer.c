/* SPDX-License-Identifier: Apache-2.0 */
/* The overview of a trace: a writer in front of another one, which passes what is long enough to be seen and merges
 * what is not. Slices of a row that are shorter than a quantum, and what is nested in them, become one slice as long as
 * they follow each other closely: "312 x loop_fusion, 4.1 ms", with their number, sum and maximum as arguments, so that
 * the totals of a row stay exact.  Computed rows (steps, findings, the verdict) pass whole.
 *
 * How long is long enough depends on what is left to write: the quantum grows while a host has used more of its slices
 * than of its time, and shrinks while it has used less.  It follows from the events alone, so the output is the same
 * on every machine.  A host whose events all fit keeps them as they are.
 *
 * Memory: a fixed struct for each row that has slices or values, TM_OVERVIEW_ROWS at most; what is on further ones is
 * counted. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/arguments.h"
#include "pipeline/numbers.h"
#include "pipeline/store/hash.h"
#include "stages/output/trace_writer.h"

enum {
    SLOTS = 2 * TM_OVERVIEW_ROWS,
    NAMES_MOST = 4,    /* of a run: the others are counted, but not by name */
    LOOK_EVENTS = 256, /* between two updates of the quantum */
    DEPTH_MOST = 256,
    NAME_SHOWN = 80, /* bytes of a name in the name of a run */
    LIST_BYTES = 1024,
};

/* A run at most as long as so many quanta: what follows it has its own place. */
enum { RUN_QUANTA = 4 };

struct named {
    tm_strid name;
    uint64_t count;
    int64_t sum_ns;
};

/* Slices that become one. */
struct merged {
    uint64_t count, nested; /* 0 = there is none */
    int64_t start_ps, end_ps;
    int64_t sum_ns, nested_sum_ns, max_ns;
    tm_strid category; /* of the first */
    struct named names[NAMES_MOST];
};

struct row_state {
    uint64_t uuid; /* 0 = free */
    struct tm_out_row row;
    uint32_t kept;  /* slices that are open and were passed */
    uint32_t small; /* in them: that were merged */
    struct merged run;
    /* of a counter */
    bool has_value, is_held;
    int64_t written_ps;
    struct tm_out_counter held;
};

struct overview {
    struct tm_trace_writer base;
    struct tm_names *names;
    tm_strid category, keys[6];
    struct row_state *rows; /* TM_OVERVIEW_ROWS */
    uint32_t row_count;
    uint16_t slots[SLOTS]; /* number of a row, plus 1 */
    uint64_t left_out;     /* slices on further rows */
    uint64_t written;
    /* of the current host */
    int64_t first_ps, length_ps, quantum_ps;
    uint64_t budget, written_before, looked;
    bool fits;
    struct tm_arguments_builder list;
    uint8_t buffer[LIST_BYTES];
};

enum { KEY_COUNT, KEY_SUM, KEY_MAX, KEY_NESTED, KEY_NESTED_SUM, KEY_NAMES };

static const char *const key_text[] = { "count", "sum_ns", "max_ns", "nested_count", "nested_sum_ns", "names" };

static struct overview *writer_of(struct tm_trace_writer *w)
{
    return (struct overview *)w;
}

/* --- rows --- */

/* out: NULL: there are too many */
static struct row_state *state_of(struct overview *o, const struct tm_out_row *row)
{
    size_t slot = (size_t)tm_hash_mix(row->uuid, 1) % SLOTS;

    while (o->slots[slot] && o->rows[o->slots[slot] - 1].uuid != row->uuid)
        slot = (slot + 1) % SLOTS;
    if (!o->slots[slot]) {
        if (o->row_count == TM_OVERVIEW_ROWS)
            return NULL;
        o->rows[o->row_count] = (struct row_state){ .uuid = row->uuid, .row = *row };
        o->slots[slot] = (uint16_t)++o->row_count;
    }
    return &o->rows[o->slots[slot] - 1];
}

/* --- the quantum --- */

void tm_overview_begin_host(struct tm_trace_writer *w, const struct tm_trace *trace, const struct tm_clock *clock,
                            uint64_t slices)
{
    struct overview *const o = writer_of(w);

    if (!tm_clock_at(clock, trace->first_ps, &o->first_ps))
        o->first_ps = 0;
    o->length_ps = trace->last_ps > trace->first_ps ? trace->last_ps - trace->first_ps : 1;
    o->budget = slices;
    o->written_before = o->written;
    o->looked = 0;
    o->fits = tm_trace_events(trace) <= o->budget / 2; /* steps and gaps come in addition */
    o->quantum_ps = o->fits ? 0 : o->length_ps >> 16;
}

static void look_at_quantum(struct overview *o, int64_t now_ps)
{
    const uint64_t used = o->written - o->written_before;
    const double share = (double)(now_ps - o->first_ps) / (double)o->length_ps;
    const double due = (double)o->budget * (share < 0 ? 0 : share > 1 ? 1 : share);

    if (o->fits || o->looked++ % LOOK_EVENTS)
        return;
    if (used >= o->budget)
        o->quantum_ps = INT64_MAX;
    else if ((double)used > due + (double)o->budget / 64)
        o->quantum_ps = o->quantum_ps < o->length_ps ? 2 * o->quantum_ps + 1000 : o->quantum_ps;
    else if ((double)used < due - (double)o->budget / 64)
        o->quantum_ps -= o->quantum_ps / 2;
}

/* --- runs --- */

static void put_names(struct overview *o, const struct merged *run)
{
    int64_t named_ns = 0;
    uint64_t named = 0;

    tm_put_object(&o->list, o->keys[KEY_NAMES]);
    for (size_t i = 0; i < NAMES_MOST && run->names[i].count; i++) {
        tm_put_int(&o->list, run->names[i].name, run->names[i].sum_ns);
        named += run->names[i].count;
        named_ns += run->names[i].sum_ns;
    }
    if (named < run->count)
        tm_put_int(&o->list, tm_names_put_string(o->names, "(others)"), run->sum_ns - named_ns);
    tm_put_close(&o->list);
}

static tm_strid name_of(struct overview *o, const struct merged *run)
{
    const struct named *most = &run->names[0];
    char text[NAME_SHOWN + 128], count[TM_FORMAT_BYTES], sum[TM_FORMAT_BYTES];
    const char *name;
    size_t length;
    int n;

    for (size_t i = 1; i < NAMES_MOST && run->names[i].count; i++)
        if (run->names[i].sum_ns > most->sum_ns)
            most = &run->names[i];
    name = tm_names_text(o->names, most->name, NAME_SHOWN, &length);
    n = snprintf(text, sizeof(text), "%s%s%.*s, %s", tm_format_count(count, (int64_t)run->count),
                 most->count == run->count ? " x " : " slices, mostly ", (int)length, name,
                 tm_format_time(sum, run->sum_ns * 1000));
    return n > 0 ? tm_names_put(o->names, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1) : most->name;
}

static void pass_whole(struct overview *o, const struct tm_out_event *event)
{
    struct tm_out_event ended = *event;

    o->written++;
    o->base.inner->type->begin(o->base.inner, event);
    ended.marks &= TM_OUT_CUTS;
    o->base.inner->type->end(o->base.inner, &ended);
}

/* One alone is what it was; its row is at another place since. */
static void flush(struct overview *o, struct row_state *state)
{
    const struct merged run = state->run;
    struct tm_out_event event = { .row = &state->row,
                                  .start_ps = run.start_ps,
                                  .end_ps = run.end_ps,
                                  .whole_begin_ps = run.start_ps,
                                  .whole_end_ps = run.end_ps,
                                  .name = run.names[0].name,
                                  .category = run.category };

    if (!run.count)
        return;
    state->run = (struct merged){ .count = 0 };
    if (run.count > 1 || run.nested) {
        tm_arguments_begin(&o->list, o->names, o->buffer, sizeof(o->buffer));
        tm_put_int(&o->list, o->keys[KEY_COUNT], (int64_t)run.count);
        tm_put_int(&o->list, o->keys[KEY_SUM], run.sum_ns);
        tm_put_int(&o->list, o->keys[KEY_MAX], run.max_ns);
        if (run.nested) {
            tm_put_int(&o->list, o->keys[KEY_NESTED], (int64_t)run.nested);
            tm_put_int(&o->list, o->keys[KEY_NESTED_SUM], run.nested_sum_ns);
        }
        if (run.count > 1)
            put_names(o, &run);
        event.own = tm_arguments_end(&o->list);
        event.marks = TM_OUT_DERIVED;
    }
    if (run.count > 1) {
        event.name = name_of(o, &run);
        event.category = o->category;
    }
    pass_whole(o, &event);
}

static int64_t length_ns(const struct tm_out_event *event)
{
    return tm_out_ns(event->end_ps) - tm_out_ns(event->start_ps);
}

static void add_name(struct merged *run, tm_strid name, int64_t ns)
{
    for (size_t i = 0; i < NAMES_MOST; i++) {
        if (run->names[i].count && run->names[i].name != name)
            continue;
        run->names[i].name = name;
        run->names[i].count++;
        run->names[i].sum_ns += ns;
        return;
    }
}

static void merge(struct overview *o, struct row_state *state, const struct tm_out_event *event)
{
    struct merged *const run = &state->run;
    const int64_t ns = length_ns(event), quantum_ps = o->quantum_ps;

    if (run->count && quantum_ps < INT64_MAX &&
        (event->start_ps - run->end_ps > quantum_ps || (event->end_ps - run->start_ps) / RUN_QUANTA > quantum_ps))
        flush(o, state);
    if (!run->count)
        *run = (struct merged){ .start_ps = event->start_ps, .end_ps = event->end_ps, .category = event->category };
    run->count++;
    run->sum_ns += ns;
    run->max_ns = ns > run->max_ns ? ns : run->max_ns;
    run->end_ps = event->end_ps > run->end_ps ? event->end_ps : run->end_ps;
    add_name(run, event->name, ns);
}

/* --- the writer --- */

static void begin_file(struct tm_trace_writer *w, struct tm_out_file *file)
{
    struct overview *const o = writer_of(w);

    o->base.inner->type->begin_file(o->base.inner, file);
}

static void put_row(struct tm_trace_writer *w, const struct tm_out_row *row)
{
    struct overview *const o = writer_of(w);

    o->base.inner->type->row(o->base.inner, row);
}

static bool is_kept(const struct overview *o, const struct row_state *state, const struct tm_out_event *event)
{
    if (event->marks & TM_OUT_DERIVED && !event->is_gap)
        return true;
    return state->kept < DEPTH_MOST && event->end_ps - event->start_ps >= o->quantum_ps;
}

/* What passes unchanged except for its arrows; what was merged before it on its row comes first. */
static struct tm_out_event pass(struct overview *o, struct row_state *state, const struct tm_out_event *event)
{
    struct tm_out_event bare = *event;

    flush(o, state);
    bare.flow = 0;
    o->written++;
    return bare;
}

static void begin(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct overview *const o = writer_of(w);
    struct row_state *const state = state_of(o, event->row);

    look_at_quantum(o, event->start_ps);
    if (!state) {
        o->left_out++;
    } else if (state->small) {
        state->small++;
        state->run.nested++;
        state->run.nested_sum_ns += length_ns(event);
    } else if (is_kept(o, state, event)) {
        const struct tm_out_event bare = pass(o, state, event);

        state->kept++;
        o->base.inner->type->begin(o->base.inner, &bare);
    } else {
        merge(o, state, event);
        state->small = 1;
    }
}

static void end(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct overview *const o = writer_of(w);
    struct row_state *const state = state_of(o, event->row);

    if (!state)
        return;
    if (state->small) {
        state->small--;
        return;
    }
    flush(o, state);
    state->kept -= state->kept > 0;
    o->base.inner->type->end(o->base.inner, event);
}

static void instant(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct overview *const o = writer_of(w);
    struct row_state *const state = state_of(o, event->row);

    look_at_quantum(o, event->start_ps);
    if (!state) {
        o->left_out++;
    } else if (state->small) {
        state->run.nested++;
    } else if (event->marks & TM_OUT_DERIVED || !o->quantum_ps) {
        const struct tm_out_event bare = pass(o, state, event);

        o->base.inner->type->instant(o->base.inner, &bare);
    } else {
        merge(o, state, event);
    }
}

static void put_counter(struct tm_trace_writer *w, const struct tm_out_counter *counter)
{
    struct overview *const o = writer_of(w);
    struct row_state *const state = state_of(o, counter->row);

    if (!state)
        return;
    if (!counter->trace || !state->has_value || counter->time_ps - state->written_ps >= o->quantum_ps) {
        if (state->is_held)
            o->base.inner->type->counter(o->base.inner, &state->held);
        o->base.inner->type->counter(o->base.inner, counter);
        o->written += 1 + (uint64_t)state->is_held;
        state->has_value = true;
        state->is_held = false;
        state->written_ps = counter->time_ps;
        return;
    }
    state->held = *counter;
    state->held.row = &state->row;
    state->is_held = true;
}

/* Arrows join single slices. */
static void flow(struct tm_trace_writer *w, const struct tm_out_flow *arrow)
{
    (void)w;
    (void)arrow;
}

static void end_file(struct tm_trace_writer *w)
{
    struct overview *const o = writer_of(w);

    for (uint32_t i = 0; i < o->row_count && !tm_failed(o->base.run); i++) {
        flush(o, &o->rows[i]);
        if (o->rows[i].is_held)
            o->base.inner->type->counter(o->base.inner, &o->rows[i].held);
        o->rows[i].is_held = false;
    }
    o->base.inner->type->end_file(o->base.inner);
    o->base.arguments = o->base.inner->arguments;
}

static void free_writer(struct tm_trace_writer *w)
{
    struct overview *const o = writer_of(w);
    struct tm_budget *budget;

    if (!o)
        return;
    budget = &o->base.run->budget;
    o->base.inner->type->free(o->base.inner);
    tm_give(budget, TM_ACCOUNT_MODEL, o->rows, TM_OVERVIEW_ROWS * sizeof(*o->rows));
    tm_give(budget, TM_ACCOUNT_MODEL, o, sizeof(*o));
}

static const struct tm_trace_writer_type overview_type = {
    .writes_ends = true,
    .begin_file = begin_file,
    .row = put_row,
    .begin = begin,
    .end = end,
    .instant = instant,
    .counter = put_counter,
    .flow = flow,
    .end_file = end_file,
    .raw_bytes = tm_inner_raw_bytes,
    .free = free_writer,
};

uint64_t tm_overview_slices(const struct tm_trace_writer *w)
{
    return ((const struct overview *)w)->written;
}

uint64_t tm_overview_left_out(const struct tm_trace_writer *w)
{
    return ((const struct overview *)w)->left_out;
}

struct tm_trace_writer *tm_overview_writer_new(struct tm_run *run, struct tm_names *names,
                                               struct tm_trace_writer *inner)
{
    struct overview *const o = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*o), &run->error);

    if (o)
        o->rows = tm_take(&run->budget, TM_ACCOUNT_MODEL, TM_OVERVIEW_ROWS * sizeof(*o->rows), &run->error);
    if (!o || !o->rows) {
        inner->type->free(inner);
        tm_give(&run->budget, TM_ACCOUNT_MODEL, o, o ? sizeof(*o) : 0);
        return NULL;
    }
    o->base = (struct tm_trace_writer){ .type = &overview_type, .run = run, .inner = inner };
    o->names = names;
    o->category = tm_names_put_string(names, "merged");
    for (size_t i = 0; i < sizeof(key_text) / sizeof(key_text[0]); i++)
        o->keys[i] = tm_names_put_string(names, key_text[i]);
    return &o->base;
}
