/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as a table: a row for each span, instant and value of a counter, in time order.  Times are those of
 * the host's own clock, to the picosecond, and spans are whole, even if the selection cuts them.  All memory is one
 * piece of a fixed size. */
#include "pipeline/strings.h"
#include "stages/output/text/json_arguments.h"

static const char header[] = "host,process,row,lane,kind,class,name,start_ps,dur_ps,value,step,device,correlation,"
                             "category,arguments\n";

/* A cell that was written before, with the comma after it: the same few names come in each row. */
enum { NAME_CELLS = 2048, DEVICE_CELLS = 64, CELL_MOST = 119 };

struct cell {
    uint64_t of; /* 0 = none */
    uint8_t length;
    char text[CELL_MOST];
};

struct csv {
    struct tm_trace_writer base;
    enum tm_args_level args;
    struct tm_json_text json;
    struct cell host, devices[DEVICE_CELLS], names[NAME_CELLS]; /* by number, by handle */
};

static struct csv *writer_of(struct tm_trace_writer *w)
{
    return (struct csv *)w;
}

static struct tm_trace_writer *open_writer(struct tm_run *run, struct tm_names *names,
                                           const struct tm_writer_options *options)
{
    struct csv *const c = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*c), &run->error);

    if (!c)
        return NULL;
    c->base = (struct tm_trace_writer){ .type = &tm_csv_writer, .run = run };
    c->args = options->args;
    tm_json_init(&c->json, names, true);
    c->json.escapes_hidden = !run->raw;
    return &c->base;
}

static void free_writer(struct tm_trace_writer *w)
{
    if (w)
        tm_give(&w->run->budget, TM_ACCOUNT_TABLES, w, sizeof(struct csv));
}

static uint64_t raw_bytes(const struct tm_trace_writer *w)
{
    return tm_sink_position(&((const struct csv *)w)->json.sink);
}

static void begin_file(struct tm_trace_writer *w, struct tm_out_file *file)
{
    struct tm_text_sink *const sink = &writer_of(w)->json.sink;

    tm_sink_begin(sink, file);
    tm_sink_text(sink, header);
}

static void end_file(struct tm_trace_writer *w)
{
    tm_sink_end(&writer_of(w)->json.sink);
}

/* --- cells --- */

static void put_bytes(void *sink, const char *bytes, size_t length)
{
    tm_sink_put(sink, bytes, length);
}

/* A cell and the comma after it. */
static void put_text(struct csv *c, const char *text, size_t length)
{
    if (tm_csv_is_plain(text, length))
        tm_sink_put(&c->json.sink, text, length);
    else
        tm_csv_quote(put_bytes, &c->json.sink, text, length, c->base.run->raw);
    tm_sink_put(&c->json.sink, ",", 1);
}

/* out: false: it is another one, or none */
static inline bool put_known(struct csv *c, const struct cell *cell, uint64_t of)
{
    if (cell->of != of)
        return false;
    tm_sink_put(&c->json.sink, cell->text, cell->length);
    return true;
}

/* Put a cell, and keep it if it is short. */
static void put_and_keep(struct csv *c, struct cell *cell, uint64_t of, const char *text, size_t length)
{
    struct tm_text_sink *const sink = &c->json.sink;
    const uint64_t at = tm_sink_position(sink);

    put_text(c, text, length);
    cell->of = 0;
    if (at < sink->passed || tm_sink_position(sink) - at > CELL_MOST)
        return;
    cell->of = of;
    cell->length = (uint8_t)(tm_sink_position(sink) - at);
    memcpy(cell->text, sink->bytes + (at - sink->passed), cell->length);
}

static void put_name(struct csv *c, tm_strid name)
{
    struct cell *const cell = &c->names[name % NAME_CELLS];
    const char *text;
    size_t length;

    if (!name) {
        tm_sink_put(&c->json.sink, ",", 1);
        return;
    }
    if (put_known(c, cell, name))
        return;
    text = tm_names_text(c->json.names, name, 0, &length);
    put_and_keep(c, cell, name, text, length);
}

static void put_host(struct csv *c, const struct tm_trace *trace)
{
    const char *const host = trace ? trace->host_name : "";
    const uint64_t of = trace ? UINT64_C(1) + trace->host : UINT64_MAX;

    if (!put_known(c, &c->host, of))
        put_and_keep(c, &c->host, of, host, strlen(host));
}

static void put_device(struct csv *c, const struct tm_trace *trace, uint32_t device)
{
    struct cell *const cell = &c->devices[device % DEVICE_CELLS];
    const uint64_t of = (uint64_t)trace->host << 32 | (device + 1);

    if (!put_known(c, cell, of))
        put_and_keep(c, cell, of, trace->devices[device].id, strlen(trace->devices[device].id));
}

static void put_int(struct csv *c, int64_t value)
{
    tm_sink_int(&c->json.sink, value);
    tm_sink_put(&c->json.sink, ",", 1);
}

static void put_nothing(struct csv *c, size_t cells)
{
    tm_sink_put(&c->json.sink, ",,,,,,", cells);
}

/* --- rows --- */

static void put_place(struct csv *c, const struct tm_trace *trace, const struct tm_out_row *row, const char *kind)
{
    put_host(c, trace);
    put_name(c, row->process);
    put_name(c, row->sort == TM_OUT_COUNTER ? 0 : row->name);
    put_int(c, row->lane);
    tm_sink_text(&c->json.sink, kind);
}

static void put_time(struct csv *c, const struct tm_out_event *event)
{
    const struct tm_record *const record = event->of ? &event->of->record : NULL;

    put_int(c, record ? record->start_ps : event->whole_begin_ps);
    if (event->is_instant)
        put_nothing(c, 1);
    else
        put_int(c, record ? record->dur_ps : event->whole_end_ps - event->whole_begin_ps);
}

/* The cells from value to correlation. */
static void put_joins(struct csv *c, const struct tm_out_event *event)
{
    const struct tm_event *const of = event->of;

    put_nothing(c, 1);
    if (!of) {
        put_nothing(c, 3);
        return;
    }
    if (of->step != TM_NONE)
        tm_sink_uint(&c->json.sink, of->step);
    put_nothing(c, 1);
    if (of->device != TM_NONE && event->trace)
        put_device(c, event->trace, of->device);
    else
        put_nothing(c, 1);
    if (of->record.flags & TM_FLAG_CORRELATION)
        tm_sink_uint(&c->json.sink, of->record.correlation);
    put_nothing(c, 1);
}

static void put_event(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct csv *const c = writer_of(w);
    struct tm_out_event whole = *event;
    const char *const class = event->of ? tm_class_name[event->of->record.class] : "";

    whole.marks &= (uint8_t)~TM_OUT_CUTS;
    put_place(c, event->trace, event->row, event->is_instant ? "instant," : "span,");
    put_text(c, class, strlen(class));
    put_name(c, event->name);
    put_time(c, event);
    put_joins(c, event);
    put_name(c, event->category);
    if (tm_json_arguments(&c->json, &whole, c->args, "\"{"))
        tm_sink_put(&c->json.sink, "}\"", 2);
    tm_sink_put(&c->json.sink, "\n", 1);
}

static void put_counter(struct tm_trace_writer *w, const struct tm_out_counter *counter)
{
    struct csv *const c = writer_of(w);

    put_place(c, counter->trace, counter->row, "counter,");
    put_text(c, tm_class_name[TM_CLASS_COUNTER], strlen(tm_class_name[TM_CLASS_COUNTER]));
    put_name(c, counter->row->name);
    put_int(c, counter->trace ? counter->start_ps : counter->time_ps);
    put_nothing(c, 1);
    if (counter->is_whole)
        tm_sink_int(&c->json.sink, counter->whole);
    else
        tm_json_double(&c->json, counter->value);
    tm_sink_text(&c->json.sink, ",,,,,\n");
}

static void skip_row(struct tm_trace_writer *w, const struct tm_out_row *row)
{
    (void)w;
    (void)row;
}

static void skip_arrow(struct tm_trace_writer *w, const struct tm_out_flow *flow)
{
    (void)w;
    (void)flow;
}

const struct tm_trace_writer_type tm_csv_writer = {
    .writes_ends = true,
    .open = open_writer,
    .begin_file = begin_file,
    .row = skip_row,
    .begin = put_event,
    .end = NULL,
    .instant = put_event,
    .counter = put_counter,
    .flow = skip_arrow,
    .end_file = end_file,
    .raw_bytes = raw_bytes,
    .free = free_writer,
};
