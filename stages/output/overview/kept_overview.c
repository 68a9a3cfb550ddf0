/* SPDX-License-Identifier: Apache-2.0 */
/* The overview of a run that is written in parts.  It is made from the calls that write the parts, so the events need
 * not be put in order again, and it is kept, because a step in it names parts that are written later:
 *
 *     exporter ─► beside ─┬► writer of the parts ─► files
 *                         └► overview ─► keeper ─► rows ─► (all parts are written) ─► Perfetto's writer ─► file
 *
 * The overview passes as many calls as it has slices, regardless of the input.  Memory: rows that spill. */
#include <string.h>

#include "pipeline/arguments.h"
#include "pipeline/store/names.h"
#include "pipeline/store/rows.h"
#include "stages/output/trace_writer.h"

enum {
    CALL_BYTES = 128 << 10, /* in memory; likewise the rows of the viewer */
    ROW_BYTES = 128 << 10,
    NUMBER_BYTES = 128 << 10,
    LIST_BYTES = 1024, /* of the arguments of a call, at most */
    PART_BYTES = 512,
    ROWS_NEAR = 256,
};

enum call { CALL_ROW, CALL_BEGIN, CALL_END, CALL_INSTANT, CALL_COUNTER };

/* A call.  Of the end of a slice and of a value only what is before start_ps is kept; after the start of a slice come
 * the bytes of its arguments. */
struct kept_call {
    uint8_t call; /* enum call */
    uint8_t marks;
    bool is_whole;
    uint32_t row;   /* index */
    int64_t end_ps; /* time of a value */
    union {
        struct {
            int64_t begin_ps, end_ps;
        } uncut;
        int64_t whole;
        double value;
    };
    int64_t start_ps;
    tm_strid name, category;
    tm_strid host;      /* of a step */
    uint32_t of_step;   /* as of tm_out_event */
    uint32_t arguments; /* bytes */
};

/* The number of a row; uuid 0 = none. */
struct row_number {
    uint64_t uuid;
    uint32_t number;
};

struct tm_kept_overview {
    struct tm_trace_writer keeper; /* the overview writes to it */
    struct tm_trace_writer *overview;
    struct tm_names *names;
    struct tm_rows *calls; /* bytes */
    struct tm_rows *rows;  /* struct tm_out_row */
    struct tm_key_map *row_numbers;
    struct row_number near[ROWS_NEAR]; /* of those used last, by some bits of the uuid */
    tm_strid host;                     /* that is being read */
    uint8_t arguments[LIST_BYTES];     /* of a call that is given back */
    uint8_t part_list[PART_BYTES];     /* likewise: the name of its part */
};

/* --- keeping --- */

static struct tm_kept_overview *keeper_of(struct tm_trace_writer *w)
{
    return (struct tm_kept_overview *)w;
}

static uint32_t number_of(struct tm_kept_overview *k, const struct tm_out_row *row)
{
    struct row_number *const near = &k->near[(row->uuid ^ row->uuid >> 5) % ROWS_NEAR];

    if (near->uuid != row->uuid)
        *near = (struct row_number){
            .uuid = row->uuid,
            .number = (uint32_t)tm_key_map_number(k->row_numbers, (struct tm_key){ .low = row->uuid }, 0),
        };
    return near->number;
}

static bool has_row(struct tm_kept_overview *k, const struct tm_out_row *row)
{
    return number_of(k, row) < tm_rows_count(k->rows);
}

static void keep_short(struct tm_kept_overview *k, const struct kept_call *call)
{
    tm_rows_append_many(k->calls, call, offsetof(struct kept_call, start_ps));
}

/* A row is kept once, however many files have it. */
static void keep_row(struct tm_trace_writer *w, const struct tm_out_row *row)
{
    struct tm_kept_overview *const k = keeper_of(w);
    const struct kept_call call = { .call = CALL_ROW, .row = (uint32_t)tm_rows_count(k->rows) };

    if (has_row(k, row))
        return;
    tm_rows_append(k->rows, row);
    keep_short(k, &call);
}

static void keep_start(struct tm_kept_overview *k, enum call call, const struct tm_out_event *event)
{
    const bool has_list = event->marks & TM_OUT_DERIVED; /* of the others no argument is written */
    const struct kept_call kept = {
        .call = (uint8_t)call,
        .marks = event->marks & (uint8_t)~TM_OUT_PIECES,
        .row = number_of(k, event->row),
        .end_ps = event->end_ps,
        .uncut = { event->whole_begin_ps, event->whole_end_ps },
        .start_ps = event->start_ps,
        .name = event->name,
        .category = event->category,
        .host = event->of_step ? k->host : 0,
        .of_step = event->of_step,
        .arguments = has_list && event->own.length <= LIST_BYTES ? (uint32_t)event->own.length : 0,
    };

    tm_rows_append_many(k->calls, &kept, sizeof(kept));
    if (kept.arguments)
        tm_rows_append_many(k->calls, event->own.bytes, kept.arguments);
}

static void keep_begin(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    keep_start(keeper_of(w), CALL_BEGIN, event);
}

static void keep_instant(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    keep_start(keeper_of(w), CALL_INSTANT, event);
}

static void keep_end(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct tm_kept_overview *const k = keeper_of(w);

    keep_short(k, &(struct kept_call){ .call = CALL_END,
                                       .marks = event->marks & TM_OUT_CUTS,
                                       .row = number_of(k, event->row),
                                       .end_ps = event->end_ps,
                                       .uncut = { event->whole_begin_ps, event->whole_end_ps } });
}

static void keep_counter(struct tm_trace_writer *w, const struct tm_out_counter *counter)
{
    struct tm_kept_overview *const k = keeper_of(w);
    struct kept_call call = { .call = CALL_COUNTER,
                              .is_whole = counter->is_whole,
                              .row = number_of(k, counter->row),
                              .end_ps = counter->time_ps };

    if (counter->is_whole)
        call.whole = counter->whole;
    else
        call.value = counter->value;
    keep_short(k, &call);
}

static void keep_file(struct tm_trace_writer *w, struct tm_out_file *file)
{
    (void)w;
    (void)file;
}

static void keep_no_end(struct tm_trace_writer *w)
{
    (void)w;
}

/* It is a part of the overview that is kept. */
static void free_keeper(struct tm_trace_writer *w)
{
    (void)w;
}

static const struct tm_trace_writer_type keeper_type = {
    .writes_ends = true,
    .begin_file = keep_file,
    .row = keep_row,
    .begin = keep_begin,
    .end = keep_end,
    .instant = keep_instant,
    .counter = keep_counter,
    .end_file = keep_no_end,
    .free = free_keeper,
};

struct tm_kept_overview *tm_kept_overview_new(struct tm_run *run, struct tm_names *names)
{
    struct tm_kept_overview *const k = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*k), &run->error);

    if (!k)
        return NULL;
    k->keeper = (struct tm_trace_writer){ .type = &keeper_type, .run = run };
    k->names = names;
    k->calls = tm_rows_new(run, TM_ACCOUNT_MODEL, 1, CALL_BYTES);
    if (k->calls)
        k->rows = tm_rows_new(run, TM_ACCOUNT_MODEL, sizeof(struct tm_out_row), ROW_BYTES);
    if (k->rows)
        k->row_numbers = tm_key_map_new(run, TM_ACCOUNT_MODEL, NUMBER_BYTES);
    if (k->row_numbers)
        k->overview = tm_overview_writer_new(run, names, &k->keeper);
    if (!tm_failed(run))
        return k;
    tm_kept_overview_free(k);
    return NULL;
}

void tm_kept_overview_free(struct tm_kept_overview *k)
{
    if (!k)
        return;
    if (k->overview)
        k->overview->type->free(k->overview);
    tm_key_map_free(k->row_numbers);
    tm_rows_free(k->rows);
    tm_rows_free(k->calls);
    tm_give(&k->keeper.run->budget, TM_ACCOUNT_MODEL, k, sizeof(*k));
}

void tm_kept_overview_begin_host(struct tm_kept_overview *k, const struct tm_trace *trace, const struct tm_clock *clock,
                                 uint64_t slices)
{
    k->host = tm_names_put_string(k->names, trace->host_name);
    tm_overview_begin_host(k->overview, trace, clock, slices);
}

/* --- writing --- */

/* The file that has a step. */
static struct tm_arguments part_of(struct tm_kept_overview *k, const struct kept_call *call,
                                   const struct tm_step_parts *parts)
{
    const char *const part =
        call->of_step ? parts->find(parts->to, tm_names_text(k->names, call->host, 0, NULL), call->of_step - 1) : NULL;
    struct tm_arguments_builder list;

    if (!part)
        return (struct tm_arguments){ .length = 0 };
    tm_arguments_begin(&list, k->names, k->part_list, sizeof(k->part_list));
    tm_put_text(&list, tm_names_put_string(k->names, "part"), part, strlen(part));
    return tm_arguments_end(&list);
}

/* in: at  of its arguments among the bytes of the calls */
static void give_start(struct tm_kept_overview *k, const struct kept_call *call, uint64_t at,
                       const struct tm_out_row *row, const struct tm_step_parts *parts, struct tm_trace_writer *to)
{
    struct tm_out_event event = { .row = row,
                                  .start_ps = call->start_ps,
                                  .end_ps = call->end_ps,
                                  .whole_begin_ps = call->uncut.begin_ps,
                                  .whole_end_ps = call->uncut.end_ps,
                                  .name = call->name,
                                  .category = call->category,
                                  .marks = call->marks,
                                  .is_instant = call->call == CALL_INSTANT };

    if (call->arguments)
        tm_rows_copy(k->calls, at, k->arguments, call->arguments);
    event.own = (struct tm_arguments){ .bytes = k->arguments, .length = call->arguments };
    event.common = part_of(k, call, parts);
    (event.is_instant ? to->type->instant : to->type->begin)(to, &event);
}

static void give_counter(const struct kept_call *call, const struct tm_out_row *row, struct tm_trace_writer *to)
{
    to->type->counter(to, &(struct tm_out_counter){ .row = row,
                                                    .time_ps = call->end_ps,
                                                    .value = call->is_whole ? (double)call->whole : call->value,
                                                    .whole = call->is_whole ? call->whole : 0,
                                                    .is_whole = call->is_whole });
}

/* A call as it was kept, without its arguments.  Of nearly all the bytes are in one place.
 * out: where its arguments are */
static uint64_t read_call(struct tm_kept_overview *k, uint64_t at, struct kept_call *call)
{
    const size_t short_bytes = offsetof(struct kept_call, start_ps);
    uint64_t here;
    const uint8_t *const bytes = tm_rows_span(k->calls, at, &here);
    bool is_start;

    *call = (struct kept_call){ .call = 0 };
    if (here >= sizeof(*call))
        memcpy(call, bytes, short_bytes);
    else
        tm_rows_copy(k->calls, at, call, short_bytes);
    is_start = call->call == CALL_BEGIN || call->call == CALL_INSTANT;
    if (!is_start)
        return at + short_bytes;
    if (here >= sizeof(*call))
        memcpy(call, bytes, sizeof(*call));
    else
        tm_rows_copy(k->calls, at, call, sizeof(*call));
    return at + sizeof(*call);
}

/* out: where the next call is */
static uint64_t give_call(struct tm_kept_overview *k, uint64_t at, const struct tm_step_parts *parts,
                          struct tm_trace_writer *to)
{
    struct kept_call call;
    struct tm_out_row row;

    at = read_call(k, at, &call);
    row = *(const struct tm_out_row *)tm_rows_at(k->rows, call.row);
    if (call.call == CALL_BEGIN || call.call == CALL_INSTANT)
        give_start(k, &call, at, &row, parts, to);
    else if (call.call == CALL_ROW)
        to->type->row(to, &row);
    else if (call.call == CALL_COUNTER)
        give_counter(&call, &row, to);
    else
        to->type->end(to, &(struct tm_out_event){ .row = &row,
                                                  .end_ps = call.end_ps,
                                                  .whole_begin_ps = call.uncut.begin_ps,
                                                  .whole_end_ps = call.uncut.end_ps,
                                                  .marks = call.marks });
    return at + call.arguments;
}

uint64_t tm_kept_overview_write(struct tm_kept_overview *k, const struct tm_step_parts *parts,
                                struct tm_trace_writer *to, struct tm_out_file *file)
{
    const struct tm_run *const run = k->keeper.run;

    k->overview->type->end_file(k->overview);
    to->type->begin_file(to, file);
    for (uint64_t at = 0; at < tm_rows_count(k->calls) && !tm_failed(run);)
        at = give_call(k, at, parts, to);
    if (!tm_failed(run))
        to->type->end_file(to);
    return tm_overview_slices(k->overview);
}

uint64_t tm_kept_overview_left_out(const struct tm_kept_overview *k)
{
    return tm_overview_left_out(k->overview);
}

/* --- the writer before that of the parts --- */

struct beside {
    struct tm_trace_writer base; /* inner NULL = there are no parts */
    struct tm_trace_writer *overview;
};

static struct beside *beside_of(struct tm_trace_writer *w)
{
    return (struct beside *)w;
}

static void begin_file(struct tm_trace_writer *w, struct tm_out_file *file)
{
    if (w->inner)
        w->inner->type->begin_file(w->inner, file);
}

static void put_row(struct tm_trace_writer *w, const struct tm_out_row *row)
{
    struct tm_trace_writer *const overview = beside_of(w)->overview;

    if (w->inner)
        w->inner->type->row(w->inner, row);
    overview->type->row(overview, row);
}

/* A slice that continues from the part before has started already. */
static void begin(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct tm_trace_writer *const overview = beside_of(w)->overview;

    if (w->inner)
        w->inner->type->begin(w->inner, event);
    if (!(event->marks & TM_OUT_CONTINUES))
        overview->type->begin(overview, event);
}

static void end(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct tm_trace_writer *const overview = beside_of(w)->overview;
    struct tm_out_event whole;

    if (w->inner)
        w->inner->type->end(w->inner, event);
    if (event->marks & TM_OUT_CONTINUED)
        return;
    if (event->marks & TM_OUT_CONTINUES && !(event->marks & TM_OUT_CLIPPED)) {
        whole = *event;
        whole.marks &= (uint8_t)~TM_OUT_CUT_BEGIN;
        event = &whole;
    }
    overview->type->end(overview, event);
}

static void instant(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct tm_trace_writer *const overview = beside_of(w)->overview;

    if (w->inner)
        w->inner->type->instant(w->inner, event);
    overview->type->instant(overview, event);
}

static void counter(struct tm_trace_writer *w, const struct tm_out_counter *counter)
{
    struct tm_trace_writer *const overview = beside_of(w)->overview;

    if (w->inner)
        w->inner->type->counter(w->inner, counter);
    if (!counter->is_repeated)
        overview->type->counter(overview, counter);
}

static void flow(struct tm_trace_writer *w, const struct tm_out_flow *flow)
{
    if (w->inner)
        w->inner->type->flow(w->inner, flow);
}

static void end_file(struct tm_trace_writer *w)
{
    if (!w->inner)
        return;
    w->inner->type->end_file(w->inner);
    w->arguments = w->inner->arguments;
}

static uint64_t raw_bytes(const struct tm_trace_writer *w)
{
    return w->inner ? tm_inner_raw_bytes(w) : 0;
}

static void free_writer(struct tm_trace_writer *w)
{
    if (!w)
        return;
    if (w->inner)
        w->inner->type->free(w->inner);
    tm_give(&w->run->budget, TM_ACCOUNT_TABLES, w, sizeof(struct beside));
}

static const struct tm_trace_writer_type beside_type = {
    .writes_ends = true,
    .begin_file = begin_file,
    .row = put_row,
    .begin = begin,
    .end = end,
    .instant = instant,
    .counter = counter,
    .flow = flow,
    .end_file = end_file,
    .raw_bytes = raw_bytes,
    .free = free_writer,
};

struct tm_trace_writer *tm_kept_overview_beside(struct tm_kept_overview *k, struct tm_trace_writer *inner)
{
    struct tm_run *const run = k->keeper.run;
    struct beside *const b = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*b), &run->error);

    if (!b) {
        if (inner)
            inner->type->free(inner);
        return NULL;
    }
    b->base = (struct tm_trace_writer){ .type = &beside_type, .run = run, .inner = inner };
    b->overview = k->overview;
    return &b->base;
}
