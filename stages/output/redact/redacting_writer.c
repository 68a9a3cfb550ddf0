/* SPDX-License-Identifier: Apache-2.0 */
/* Calls are passed on with copies of what they bring.  A table of a fixed size knows the pseudonyms of the names that
 * came last. */
#include "stages/output/trace_writer.h"

#include <string.h>

#include "pipeline/arguments.h"
#include "pipeline/redact.h"

/* Handles of pseudonyms, by the handle of what they stand for: those that were asked for last.  Zeroed, but for names
 * and redactor, nothing is known. */
enum { TM_REDACTED_NAMES = 1 << 12 };

struct tm_redacted_names {
    struct tm_names *names;
    struct tm_redactor *redactor;
    struct {
        tm_strid name, redacted; /* name 0 = free */
    } known[TM_REDACTED_NAMES];
};

/* Room for one list. */
struct tm_redacted_arguments {
    struct tm_arguments_builder list;
    uint8_t bytes[TM_ARGUMENTS_MOST];
};

/* A list is taken apart and made again, with a stack of the objects and arrays that are open. */

/* in: name  may be 0, which is nothing's */
static tm_status redacted_name(struct tm_redacted_names *n, tm_strid name, tm_strid *redacted)
{
    const size_t place = name % TM_REDACTED_NAMES;
    const char *text;
    size_t length;
    tm_status st;

    *redacted = 0;
    if (!name)
        return TM_OK;
    if (n->known[place].name != name) {
        st = tm_names_text_st(n->names, name, TM_REDACT_TEXT_MOST, &text, &length);
        if (st == TM_OK)
            st = tm_redact(n->redactor, text, length, &text, &length);
        if (st == TM_OK)
            st = tm_names_put_st(n->names, text, length, &n->known[place].redacted);
        n->known[place].name = st == TM_OK ? name : 0;
        if (st != TM_OK)
            return st;
    }
    *redacted = n->known[place].redacted;
    return TM_OK;
}

/* What is open, from the list itself inward. */
struct open_list {
    struct tm_arguments rest;
    bool has_keys;
};

struct walk {
    struct tm_redacted_names *names;
    struct tm_arguments_builder *list;
    struct open_list open[TM_ARGUMENTS_DEEPEST + 1];
    size_t depth;
};

static tm_status put_text(struct walk *w, tm_strid key, const struct tm_argument *argument)
{
    const char *text;
    size_t length;
    const tm_status st = tm_redact(w->names->redactor, argument->text, argument->length, &text, &length);

    if (st != TM_OK)
        return st;
    if (tm_argument_is_value(argument))
        tm_put_text(w->list, key, text, length);
    else
        tm_put_event_text(w->list, (enum tm_argument_type)argument->type, text, length);
    return TM_OK;
}

static tm_status put_name(struct walk *w, tm_strid key, tm_strid name)
{
    tm_strid redacted;
    const tm_status st = redacted_name(w->names, name, &redacted);

    if (st == TM_OK)
        tm_put_name(w->list, key, redacted);
    return st;
}

/* What lies deeper than any builder goes is left out. */
static void put_inside(struct walk *w, tm_strid key, const struct tm_argument *argument)
{
    const bool is_array = argument->type == TM_ARGUMENT_ARRAY;

    if (w->depth == TM_ARGUMENTS_DEEPEST) {
        tm_put_null(w->list, key);
        w->list->is_cut = true;
        return;
    }
    if (is_array)
        tm_put_array(w->list, key);
    else
        tm_put_object(w->list, key);
    w->open[++w->depth] = (struct open_list){ argument->inside, !is_array };
}

static tm_status put_value(struct walk *w, tm_strid key, const struct tm_argument *argument)
{
    switch (argument->type) {
    case TM_ARGUMENT_FALSE:
    case TM_ARGUMENT_TRUE:
        tm_put_bool(w->list, key, argument->type == TM_ARGUMENT_TRUE);
        return TM_OK;
    case TM_ARGUMENT_INT:
        tm_put_int(w->list, key, argument->number);
        return TM_OK;
    case TM_ARGUMENT_UINT:
        tm_put_uint(w->list, key, argument->value);
        return TM_OK;
    case TM_ARGUMENT_DOUBLE:
        tm_put_double(w->list, key, argument->real);
        return TM_OK;
    case TM_ARGUMENT_NUMBER:
        tm_put_number(w->list, key, argument->text, argument->length);
        return TM_OK;
    case TM_ARGUMENT_TEXT:
    case TM_ARGUMENT_CATEGORY:
    case TM_ARGUMENT_ID:
        return put_text(w, key, argument);
    case TM_ARGUMENT_NAME:
        return put_name(w, key, (tm_strid)argument->value);
    case TM_ARGUMENT_OBJECT:
    case TM_ARGUMENT_ARRAY:
        put_inside(w, key, argument);
        return TM_OK;
    case TM_ARGUMENT_PLACE:
        tm_put_place(w->list, (uint32_t)argument->value);
        return TM_OK;
    case TM_ARGUMENT_ENCLOSED:
        tm_put_enclosed(w->list);
        return TM_OK;
    default:
        tm_put_null(w->list, key);
        return TM_OK;
    }
}

/* The next node of what is innermost; at its end it closes. */
static tm_status step(struct walk *w, bool *is_done)
{
    struct open_list *const open = &w->open[w->depth];
    struct tm_argument argument;
    tm_strid key;
    tm_status st;

    if (!tm_arguments_next(&open->rest, open->has_keys, &argument)) {
        *is_done = w->depth == 0;
        if (w->depth) {
            tm_put_close(w->list);
            w->depth--;
        }
        return TM_OK;
    }
    st = redacted_name(w->names, argument.key, &key);
    return st == TM_OK ? put_value(w, key, &argument) : st;
}

/* The same list with pseudonyms for keys and texts; numbers stay.  A list that becomes too long is cut after a whole
 * node, and room->list.is_cut says so.
 * out: *out  in `room`, until it is used again */
static tm_status redact_arguments(struct tm_redacted_arguments *room, struct tm_redacted_names *names,
                                  struct tm_arguments list, struct tm_arguments *out)
{
    struct walk w = { .names = names, .list = &room->list, .open = { { list, true } } };
    bool is_done = false;
    tm_status st = TM_OK;

    *out = list;
    room->list.is_cut = false;
    if (!list.length)
        return TM_OK;
    tm_arguments_begin(&room->list, names->names, room->bytes, sizeof(room->bytes));
    while (!is_done && st == TM_OK)
        st = step(&w, &is_done);
    *out = tm_arguments_end(&room->list);
    return st == TM_OK ? room->list.status : st;
}

struct redacting {
    struct tm_trace_writer base;
    struct tm_trace_writer_type type; /* the inner one's, with the calls of this one */
    struct tm_trace_writer *inner;
    struct tm_redactor *redactor;
    struct tm_redacted_names names;
    struct tm_redacted_arguments own, common;
    /* of the trace that came last */
    const struct tm_trace *trace; /* NULL = none */
    uint32_t host;
    struct tm_trace shown; /* a copy with pseudonyms: devices are shown_devices of them */
    uint32_t shown_devices;
    struct tm_out_row row;
};

static struct redacting *writer_of(struct tm_trace_writer *w)
{
    return (struct redacting *)w;
}

/* Who estimates by the arguments asks the outer one. */
static tm_status after(struct redacting *r, tm_status st)
{
    r->base.arguments = r->inner->arguments;
    return st;
}

/* --- names --- */

static tm_status show_row(struct redacting *r, const struct tm_out_row *row)
{
    tm_status st;

    r->row = *row;
    st = redacted_name(&r->names, row->name, &r->row.name);
    if (st == TM_OK)
        st = redacted_name(&r->names, row->process, &r->row.process);
    return st == TM_OK ? redacted_name(&r->names, row->unit, &r->row.unit) : st;
}

static void give_devices(struct redacting *r)
{
    tm_give(&r->base.run->budget, TM_ACCOUNT_TABLES, r->shown.devices, r->shown_devices * sizeof(*r->shown.devices));
    r->shown.devices = NULL;
    r->shown_devices = 0;
}

static tm_status copy_devices(struct redacting *r, const struct tm_trace *trace)
{
    const uint32_t count = trace->device_count;
    tm_status st = TM_OK;

    r->shown.devices = NULL;
    if (!count)
        return TM_OK;
    r->shown.devices =
        tm_take(&r->base.run->budget, TM_ACCOUNT_TABLES, count * sizeof(*trace->devices), &r->base.run->error);
    if (!r->shown.devices)
        return r->base.run->error.status;
    r->shown_devices = count;
    memcpy(r->shown.devices, trace->devices, count * sizeof(*trace->devices));
    for (uint32_t i = 0; i < count && st == TM_OK; i++) {
        struct tm_device *const device = &r->shown.devices[i];

        st = tm_redact_into(r->redactor, device->id, sizeof(device->id), device->id);
        if (st == TM_OK)
            st = tm_redact_into(r->redactor, device->name, sizeof(device->name), device->name);
        if (st == TM_OK)
            st = tm_redact_into(r->redactor, device->model, sizeof(device->model), device->model);
    }
    return st;
}

/* The trace of an event, as formats may show it: its host and its devices.
 * out: *shown  NULL of none */
static tm_status show_trace(struct redacting *r, const struct tm_trace *trace, const struct tm_trace **shown)
{
    tm_status st;

    *shown = trace ? &r->shown : NULL;
    if (!trace || (r->trace == trace && r->host == trace->host))
        return TM_OK;
    give_devices(r);
    r->trace = NULL;
    r->shown = *trace;
    st = copy_devices(r, trace);
    if (st == TM_OK)
        st = tm_redact_host(r->redactor, r->shown.host_name, sizeof(r->shown.host_name), trace->host_name);
    if (st != TM_OK)
        return st;
    r->trace = trace;
    r->host = trace->host;
    return TM_OK;
}

static tm_status show_names(struct redacting *r, const struct tm_out_event *event, struct tm_out_event *shown)
{
    tm_status st = redacted_name(&r->names, event->name, &shown->name);

    if (st == TM_OK)
        st = redacted_name(&r->names, event->category, &shown->category);
    if (st == TM_OK)
        st = redact_arguments(&r->own, &r->names, event->own, &shown->own);
    if (st == TM_OK)
        st = redact_arguments(&r->common, &r->names, event->common, &shown->common);
    tm_tally_add(&r->base.run->tallies, TM_TALLY_LONG_ARGUMENTS, r->own.list.is_cut || r->common.list.is_cut);
    return st;
}

/* in: has_names  else only its row and its trace are looked at */
static tm_status show_event(struct redacting *r, const struct tm_out_event *event, struct tm_out_event *shown)
{
    tm_status st = show_row(r, event->row);

    *shown = *event;
    shown->row = &r->row;
    if (st == TM_OK)
        st = show_trace(r, event->trace, &shown->trace);
    return st == TM_OK && !(event->marks & TM_OUT_PUBLIC) ? show_names(r, event, shown) : st;
}

/* --- the calls --- */

static tm_status begin_file(struct tm_trace_writer *w, struct tm_out_file *file)
{
    struct redacting *const r = writer_of(w);

    return after(r, r->inner->type->begin_file(r->inner, file));
}

static tm_status put_row(struct tm_trace_writer *w, const struct tm_out_row *row)
{
    struct redacting *const r = writer_of(w);
    const tm_status st = show_row(r, row);

    return st == TM_OK ? after(r, r->inner->type->row(r->inner, &r->row)) : st;
}

static tm_status begin(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct redacting *const r = writer_of(w);
    struct tm_out_event shown;
    const tm_status st = show_event(r, event, &shown);

    return st == TM_OK ? after(r, r->inner->type->begin(r->inner, &shown)) : st;
}

/* Formats that have written the names at the begin are told none. */
static tm_status end(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct redacting *const r = writer_of(w);
    struct tm_out_event nameless = *event, shown;
    tm_status st;

    if (r->type.writes_ends) {
        nameless.name = nameless.category = 0;
        nameless.own = nameless.common = (struct tm_arguments){ .length = 0 };
    }
    st = show_event(r, &nameless, &shown);

    return st == TM_OK ? after(r, r->inner->type->end(r->inner, &shown)) : st;
}

static tm_status instant(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct redacting *const r = writer_of(w);
    struct tm_out_event shown;
    const tm_status st = show_event(r, event, &shown);

    return st == TM_OK ? after(r, r->inner->type->instant(r->inner, &shown)) : st;
}

static tm_status put_counter(struct tm_trace_writer *w, const struct tm_out_counter *counter)
{
    struct redacting *const r = writer_of(w);
    struct tm_out_counter shown = *counter;
    tm_status st = show_row(r, counter->row);

    shown.row = &r->row;
    if (st == TM_OK)
        st = show_trace(r, counter->trace, &shown.trace);
    return st == TM_OK ? after(r, r->inner->type->counter(r->inner, &shown)) : st;
}

static tm_status flow(struct tm_trace_writer *w, const struct tm_out_flow *arrow)
{
    struct redacting *const r = writer_of(w);
    struct tm_out_flow shown = *arrow;
    tm_status st = show_row(r, arrow->row);

    shown.row = &r->row;
    if (st == TM_OK)
        st = redacted_name(&r->names, arrow->name, &shown.name);
    if (st == TM_OK)
        st = redacted_name(&r->names, arrow->category, &shown.category);
    return st == TM_OK ? after(r, r->inner->type->flow(r->inner, &shown)) : st;
}

static tm_status end_file(struct tm_trace_writer *w)
{
    struct redacting *const r = writer_of(w);

    return after(r, r->inner->type->end_file(r->inner));
}

static uint64_t raw_bytes(const struct tm_trace_writer *w)
{
    const struct redacting *const r = (const struct redacting *)w;

    return r->inner->type->raw_bytes(r->inner);
}

static void free_writer(struct tm_trace_writer *w)
{
    struct redacting *const r = writer_of(w);

    if (!r)
        return;
    r->inner->type->free(r->inner);
    give_devices(r);
    tm_give(&r->base.run->budget, TM_ACCOUNT_TABLES, r, sizeof(*r));
}

/* --- made --- */

/* What the inner one does not want is not called. */
static void set_type(struct redacting *r)
{
    const struct tm_trace_writer_type *const inner = r->inner->type;

    r->type = (struct tm_trace_writer_type){
        .writes_ends = inner->writes_ends,
        .open = inner->open,
        .begin_file = begin_file,
        .row = put_row,
        .begin = inner->begin ? begin : NULL,
        .end = inner->end ? end : NULL,
        .instant = instant,
        .counter = put_counter,
        .flow = flow,
        .end_file = end_file,
        .raw_bytes = raw_bytes,
        .free = free_writer,
    };
    r->base.type = &r->type;
}

struct tm_trace_writer *tm_redacting_writer_new(struct tm_run *run, struct tm_names *names,
                                                struct tm_redactor *redactor, struct tm_trace_writer *inner)
{
    struct redacting *const r = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*r), &run->error);

    if (!r) {
        inner->type->free(inner);
        return NULL;
    }
    r->base.run = run;
    r->inner = inner;
    r->redactor = redactor;
    r->names.names = names;
    r->names.redactor = redactor;
    set_type(r);
    return &r->base;
}
