/* SPDX-License-Identifier: Apache-2.0 */
/* Calls are passed on with copies of what they bring.  A table of a fixed size knows the pseudonyms of the names that
 * came last. */
#include "stages/output/trace_writer.h"

#include <string.h>

#include "pipeline/argument_templates.h"
#include "pipeline/arguments.h"
#include "pipeline/redact.h"

/* Handles of pseudonyms, by the handle of what they represent: those that were requested last.  Zeroed, except for
 * names and redactor, nothing is known. */
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

/* in: name  may be 0, which is no name */
static tm_strid redacted_name(struct tm_redacted_names *n, tm_strid name)
{
    const size_t place = name % TM_REDACTED_NAMES;
    const char *text;
    size_t length;

    if (!name)
        return 0;
    if (n->known[place].name != name) {
        text = tm_names_text(n->names, name, TM_REDACT_TEXT_MOST, &length);
        (void)tm_redact(n->redactor, text, length, &text, &length);
        n->known[place].redacted = tm_names_put(n->names, text, length);
        n->known[place].name = name;
    }
    return n->known[place].redacted;
}

/* The open lists, from the outermost one inwards. */
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

static void put_text(struct walk *w, tm_strid key, const struct tm_argument *argument)
{
    const char *text;
    size_t length;

    (void)tm_redact(w->names->redactor, argument->text, argument->length, &text, &length);
    if (tm_argument_is_value(argument))
        tm_put_text(w->list, key, text, length);
    else
        tm_put_event_text(w->list, (enum tm_argument_type)argument->type, text, length);
}

/* What is deeper than any builder nests is omitted. */
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

static void put_value(struct walk *w, tm_strid key, const struct tm_argument *argument)
{
    switch (argument->type) {
    case TM_ARGUMENT_FALSE:
    case TM_ARGUMENT_TRUE:
        tm_put_bool(w->list, key, argument->type == TM_ARGUMENT_TRUE);
        break;
    case TM_ARGUMENT_INT:
        tm_put_int(w->list, key, argument->number);
        break;
    case TM_ARGUMENT_UINT:
        tm_put_uint(w->list, key, argument->value);
        break;
    case TM_ARGUMENT_DOUBLE:
        tm_put_double(w->list, key, argument->real);
        break;
    case TM_ARGUMENT_NUMBER:
        tm_put_number(w->list, key, argument->text, argument->length);
        break;
    case TM_ARGUMENT_TEXT:
    case TM_ARGUMENT_CATEGORY:
    case TM_ARGUMENT_ID:
        put_text(w, key, argument);
        break;
    case TM_ARGUMENT_NAME:
        tm_put_name(w->list, key, redacted_name(w->names, (tm_strid)argument->value));
        break;
    case TM_ARGUMENT_OBJECT:
    case TM_ARGUMENT_ARRAY:
        put_inside(w, key, argument);
        break;
    case TM_ARGUMENT_PLACE:
        tm_put_place(w->list, (uint32_t)argument->value);
        break;
    case TM_ARGUMENT_ENCLOSED:
        tm_put_enclosed(w->list);
        break;
    default:
        tm_put_null(w->list, key);
    }
}

/* The next node of what is innermost; at its end it closes.
 * out: false: that was the end of the list */
static bool step(struct walk *w)
{
    struct open_list *const open = &w->open[w->depth];
    struct tm_argument argument;

    if (tm_arguments_next(&open->rest, open->has_keys, &argument)) {
        put_value(w, redacted_name(w->names, argument.key), &argument);
        return true;
    }
    if (!w->depth)
        return false;
    tm_put_close(w->list);
    w->depth--;
    return true;
}

/* The same list with pseudonyms for keys and strings; numbers stay.  A list that becomes too long is cut after a whole
 * node, and room->list.is_cut says so.
 * out: in `room`, until it is used again */
static struct tm_arguments redact_arguments(struct tm_redacted_arguments *room, struct tm_redacted_names *names,
                                            struct tm_arguments list)
{
    struct walk w = { .names = names, .list = &room->list, .open = { { list, true } } };

    room->list.is_cut = false;
    if (!list.length)
        return list;
    tm_arguments_begin(&room->list, names->names, room->bytes, sizeof(room->bytes));
    while (step(&w))
        ;
    return tm_arguments_end(&room->list);
}

struct redacting {
    struct tm_trace_writer base;
    struct tm_trace_writer_type type; /* the inner one's, with the calls of this one */
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

/* Estimates by the arguments use the outer one. */
static void count_arguments(struct redacting *r)
{
    r->base.arguments = r->base.inner->arguments;
}

/* --- names --- */

static void show_row(struct redacting *r, const struct tm_out_row *row)
{
    r->row = *row;
    r->row.name = redacted_name(&r->names, row->name);
    r->row.process = redacted_name(&r->names, row->process);
    r->row.unit = redacted_name(&r->names, row->unit);
}

static void give_devices(struct redacting *r)
{
    tm_give(&r->base.run->budget, TM_ACCOUNT_TABLES, r->shown.devices, r->shown_devices * sizeof(*r->shown.devices));
    r->shown.devices = NULL;
    r->shown_devices = 0;
}

static void copy_devices(struct redacting *r, const struct tm_trace *trace)
{
    const uint32_t count = trace->device_count;

    r->shown.devices = NULL;
    r->shown.device_count = 0;
    if (!count)
        return;
    r->shown.devices =
        tm_take(&r->base.run->budget, TM_ACCOUNT_TABLES, count * sizeof(*trace->devices), &r->base.run->error);
    if (!r->shown.devices)
        return;
    r->shown.device_count = r->shown_devices = count;
    memcpy(r->shown.devices, trace->devices, count * sizeof(*trace->devices));
    for (uint32_t i = 0; i < count; i++) {
        struct tm_device *const device = &r->shown.devices[i];

        (void)tm_redact_into(r->redactor, device->id, sizeof(device->id), device->id);
        (void)tm_redact_into(r->redactor, device->name, sizeof(device->name), device->name);
        (void)tm_redact_into(r->redactor, device->model, sizeof(device->model), device->model);
    }
}

/* The trace of an event, as formats may show it: its host and its devices.
 * out: NULL of none, and after a failure: there may be no devices */
static const struct tm_trace *show_trace(struct redacting *r, const struct tm_trace *trace)
{
    if (!trace)
        return NULL;
    if (r->trace != trace || r->host != trace->host) {
        give_devices(r);
        r->shown = *trace;
        copy_devices(r, trace);
        (void)tm_redact_host(r->redactor, r->shown.host_name, sizeof(r->shown.host_name), trace->host_name);
        r->trace = tm_failed(r->base.run) ? NULL : trace;
        r->host = trace->host;
    }
    return r->trace ? &r->shown : NULL;
}

/* Names of what is public stay. */
static struct tm_out_event show_event(struct redacting *r, const struct tm_out_event *event)
{
    struct tm_out_event shown = *event;
    uint8_t whole[TM_TEMPLATE_WHOLE_MOST];

    show_row(r, event->row);
    shown.row = &r->row;
    shown.trace = show_trace(r, event->trace);
    if (event->marks & TM_OUT_PUBLIC)
        return shown;
    shown.name = redacted_name(&r->names, event->name);
    shown.category = redacted_name(&r->names, event->category);
    shown.own = redact_arguments(&r->own, &r->names, tm_out_own(event, whole));
    shown.template = 0;
    shown.common = redact_arguments(&r->common, &r->names, event->common);
    tm_tally_add(&r->base.run->tallies, TM_TALLY_LONG_ARGUMENTS, r->own.list.is_cut || r->common.list.is_cut);
    return shown;
}

/* --- the calls --- */

static void begin_file(struct tm_trace_writer *w, struct tm_out_file *file)
{
    struct redacting *const r = writer_of(w);

    r->base.inner->type->begin_file(r->base.inner, file);
    count_arguments(r);
}

static void put_row(struct tm_trace_writer *w, const struct tm_out_row *row)
{
    struct redacting *const r = writer_of(w);

    show_row(r, row);
    r->base.inner->type->row(r->base.inner, &r->row);
    count_arguments(r);
}

static void begin(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct redacting *const r = writer_of(w);
    const struct tm_out_event shown = show_event(r, event);

    r->base.inner->type->begin(r->base.inner, &shown);
    count_arguments(r);
}

/* Formats that have written the names at the start receive none. */
static void end(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct redacting *const r = writer_of(w);
    struct tm_out_event nameless = *event;

    if (r->type.writes_ends) {
        nameless.name = nameless.category = 0;
        nameless.template = 0;
        nameless.own = nameless.common = (struct tm_arguments){ .length = 0 };
    }
    const struct tm_out_event shown = show_event(r, &nameless);

    r->base.inner->type->end(r->base.inner, &shown);
    count_arguments(r);
}

static void instant(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct redacting *const r = writer_of(w);
    const struct tm_out_event shown = show_event(r, event);

    r->base.inner->type->instant(r->base.inner, &shown);
    count_arguments(r);
}

static void put_counter(struct tm_trace_writer *w, const struct tm_out_counter *counter)
{
    struct redacting *const r = writer_of(w);
    struct tm_out_counter shown = *counter;

    show_row(r, counter->row);
    shown.row = &r->row;
    shown.trace = show_trace(r, counter->trace);
    r->base.inner->type->counter(r->base.inner, &shown);
    count_arguments(r);
}

static void flow(struct tm_trace_writer *w, const struct tm_out_flow *arrow)
{
    struct redacting *const r = writer_of(w);
    struct tm_out_flow shown = *arrow;

    show_row(r, arrow->row);
    shown.row = &r->row;
    shown.name = redacted_name(&r->names, arrow->name);
    shown.category = redacted_name(&r->names, arrow->category);
    r->base.inner->type->flow(r->base.inner, &shown);
    count_arguments(r);
}

static void end_file(struct tm_trace_writer *w)
{
    struct redacting *const r = writer_of(w);

    r->base.inner->type->end_file(r->base.inner);
    count_arguments(r);
}

static void free_writer(struct tm_trace_writer *w)
{
    struct redacting *const r = writer_of(w);

    if (!r)
        return;
    r->base.inner->type->free(r->base.inner);
    give_devices(r);
    tm_give(&r->base.run->budget, TM_ACCOUNT_TABLES, r, sizeof(*r));
}

/* --- made --- */

/* Only what the inner one implements is called. */
static void set_type(struct redacting *r)
{
    const struct tm_trace_writer_type *const inner = r->base.inner->type;

    r->type = (struct tm_trace_writer_type){
        .writes_ends = inner->writes_ends,
        .numbers_flows = inner->numbers_flows,
        .open = inner->open,
        .begin_file = begin_file,
        .row = put_row,
        .begin = inner->begin ? begin : NULL,
        .end = inner->end ? end : NULL,
        .instant = instant,
        .counter = put_counter,
        .flow = flow,
        .end_file = end_file,
        .raw_bytes = tm_inner_raw_bytes,
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
    r->base.inner = inner;
    r->redactor = redactor;
    r->names.names = names;
    r->names.redactor = redactor;
    set_type(r);
    return &r->base;
}
