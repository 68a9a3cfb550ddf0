/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as Chrome JSON, in the object form, one event per line.  Spans are X events, written when they end; lanes and
 * rows of a process are threads, because readers have no other way to separate them.  All memory is one piece of fixed
 * size.
 * source: Trace Event Format; additional behavior of readers: PERFETTO.md section 4.  Perfetto (v52) does not interpret
 *         \n or \u0001 in a string, but shows the escape */
#include <stdint.h>
#include <string.h>

#include "stages/output/file/out_file.h"
#include "stages/output/text/json_arguments.h"
#include "stages/output/trace_writer.h"

/* If spans of a row are equal in the file, readers take the first one as the outer one.  Spans that are equal to
 * the picosecond come in that order; of those that are equal only to the nanosecond, an inner one may come first,
 * because it ends first.  Therefore the lines of the spans that end in the current nanosecond are tracked and stay in
 * the sink: an outer one is inserted before them.  If more than TM_CHROME_ORDER_LINES end together, the rest keep their
 * order. */
enum { TM_CHROME_ORDER_LINES = 1024 };

struct tm_chrome_line {
    uint64_t row;
    int64_t begin_ns;
    int64_t whole_begin_ps, whole_end_ps;
    uint64_t at; /* position in the file */
};

struct tm_chrome_order {
    int64_t end_ns;
    size_t count;
    struct tm_chrome_line lines[TM_CHROME_ORDER_LINES];
};

/* The order of lines of equal spans: see chrome_json_writer.c. */

static void chrome_order_clear(struct tm_chrome_order *order)
{
    order->end_ns = -1;
    order->count = 0;
}

/* Whether a span encloses another one of its row, which came before it. */
static bool is_around(const struct tm_out_event *span, const struct tm_chrome_line *other)
{
    if (span->whole_begin_ps != other->whole_begin_ps)
        return span->whole_begin_ps < other->whole_begin_ps;
    return span->whole_end_ps > other->whole_end_ps;
}

/* The start of the outermost line that follows the span's own; `at` if there is none. */
static uint64_t find_place(const struct tm_chrome_order *order, const struct tm_text_sink *sink,
                           const struct tm_out_event *span, uint64_t at)
{
    const int64_t begin_ns = tm_out_ns(span->start_ps);
    uint64_t place = at;

    for (size_t i = 0; i < order->count; i++) {
        const struct tm_chrome_line *const line = &order->lines[i];

        if (line->row == span->row->uuid && line->begin_ns == begin_ns && line->at >= sink->passed &&
            line->at < place && is_around(span, line))
            place = line->at;
    }
    return place;
}

static void make_way(struct tm_chrome_order *order, uint64_t place, uint64_t length)
{
    for (size_t i = 0; i < order->count; i++)
        if (order->lines[i].at >= place)
            order->lines[i].at += length;
}

/* The line of a span was written at `at`: put it where it belongs. */
static void chrome_order_place(struct tm_chrome_order *order, struct tm_text_sink *sink,
                               const struct tm_out_event *span, uint64_t at)
{
    const int64_t begin_ns = tm_out_ns(span->start_ps), end_ns = tm_out_ns(span->end_ps);
    uint64_t place = at;

    /* Spans of length 0 do not nest. */
    if (begin_ns == end_ns)
        return;
    if (end_ns != order->end_ns) {
        order->count = 0;
        order->end_ns = end_ns;
        sink->keep_from = at;
    } else {
        place = find_place(order, sink, span, at);
    }
    if (place != at && tm_sink_move(sink, at, place))
        make_way(order, place, tm_sink_position(sink) - at);
    else
        place = at;
    if (order->count == TM_CHROME_ORDER_LINES)
        return;
    order->lines[order->count++] = (struct tm_chrome_line){
        .row = span->row->uuid,
        .begin_ns = begin_ns,
        .whole_begin_ps = span->whole_begin_ps,
        .whole_end_ps = span->whole_end_ps,
        .at = place,
    };
}

struct chrome_json {
    struct tm_trace_writer base;
    struct tm_writer_options options;
    bool has_events;
    struct tm_chrome_order order;
    struct tm_json_text json;
};

static struct chrome_json *writer_of(struct tm_trace_writer *w)
{
    return (struct chrome_json *)w;
}

static struct tm_trace_writer *open_writer(struct tm_run *run, struct tm_names *names,
                                           const struct tm_writer_options *options)
{
    struct chrome_json *const c = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*c), &run->error);

    if (!c)
        return NULL;
    c->base = (struct tm_trace_writer){ .type = &tm_chrome_json_writer, .run = run };
    c->options = *options;
    tm_json_init(&c->json, names, false);
    return &c->base;
}

static void free_writer(struct tm_trace_writer *w)
{
    if (w)
        tm_give(&w->run->budget, TM_ACCOUNT_TABLES, w, sizeof(struct chrome_json));
}

static uint64_t raw_bytes(const struct tm_trace_writer *w)
{
    return tm_sink_position(&((const struct chrome_json *)w)->json.sink);
}

/* --- the document --- */

static void put_fact(struct tm_json_text *json, const char *key, const char *value)
{
    const uint64_t number = tm_json_keys_take(&json->keys, tm_json_key_hash(key, strlen(key)), 0);

    if (number) /* a fact twice: the first one counts */
        return;
    tm_sink_text(&json->sink, ",");
    tm_json_string(json, key, strlen(key));
    tm_sink_text(&json->sink, ":");
    tm_json_string(json, value, strlen(value));
}

static void begin_file(struct tm_trace_writer *w, struct tm_out_file *file)
{
    struct chrome_json *const c = writer_of(w);
    struct tm_json_text *const json = &c->json;

    tm_sink_begin(&json->sink, file);
    chrome_order_clear(&c->order);
    tm_json_keys_begin(&json->keys);
    c->has_events = false;
    tm_sink_text(&json->sink, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"origin_us\":");
    (void)tm_json_keys_take(&json->keys, tm_json_key_hash("origin_us", 9), 0);
    tm_sink_us(&json->sink, c->options.epoch_ns);
    for (size_t i = 0; i < c->options.fact_count; i++)
        put_fact(json, c->options.facts[i].key, c->options.facts[i].value);
    tm_sink_text(&json->sink, "},\"traceEvents\":[");
}

static void end_file(struct tm_trace_writer *w)
{
    struct tm_text_sink *const sink = &writer_of(w)->json.sink;

    tm_sink_text(sink, "\n]}\n");
    tm_sink_end(sink);
}

/* --- events --- */

/* Write the members that all events start with.  in: phase  one letter */
static void put_head(struct chrome_json *c, char phase, const struct tm_out_row *row)
{
    struct tm_text_sink *const sink = &c->json.sink;
    const char head[] = { ',', '\n', '{', '"', 'p', 'h', '"', ':', '"', phase, '"', ',', '"', 'p', 'i', 'd', '"', ':' };

    tm_sink_put(sink, head + !c->has_events, sizeof(head) - !c->has_events);
    c->has_events = true;
    tm_sink_int(sink, row->pid);
    if (row->sort == TM_OUT_PROCESS || row->sort == TM_OUT_GROUP || row->sort == TM_OUT_COUNTER)
        return;
    tm_sink_text(sink, ",\"tid\":");
    tm_sink_int(sink, row->tid);
}

static void put_time(struct chrome_json *c, int64_t time_ps)
{
    tm_sink_text(&c->json.sink, ",\"ts\":");
    tm_sink_us(&c->json.sink, tm_out_ns(time_ps));
}

static void put_name(struct chrome_json *c, tm_strid name, tm_strid category)
{
    tm_sink_text(&c->json.sink, ",\"name\":");
    tm_json_name(&c->json, name);
    if (!category)
        return;
    tm_sink_text(&c->json.sink, ",\"cat\":");
    tm_json_name(&c->json, category);
}

static void put_id(struct chrome_json *c, const char *head, uint64_t id)
{
    char text[] = "\"0x0123456789abcdef\"", *to = text + sizeof(text) - 2;

    do
        *--to = "0123456789abcdef"[id & 15];
    while (id >>= 4);
    to = memcpy(to - 3, "\"0x", 3);
    tm_sink_text(&c->json.sink, head);
    tm_sink_put(&c->json.sink, to, (size_t)(text + sizeof(text) - 1 - to));
}

static void end_event(struct chrome_json *c)
{
    tm_sink_put(&c->json.sink, "}", 1);
}

static void end_with_arguments(struct chrome_json *c, const struct tm_out_event *event)
{
    if (tm_json_arguments(&c->json, event, c->options.args, ",\"args\":{"))
        tm_sink_put(&c->json.sink, "}", 1);
    c->base.arguments = c->json.arguments;
    end_event(c);
}

static void put_row(struct tm_trace_writer *w, const struct tm_out_row *row)
{
    struct chrome_json *const c = writer_of(w);
    const bool is_process = row->sort == TM_OUT_PROCESS || row->sort == TM_OUT_GROUP;

    if (row->sort == TM_OUT_COUNTER) /* its events name it */
        return;
    put_head(c, 'M', row);
    tm_sink_text(&c->json.sink, is_process ? ",\"name\":\"process_name\",\"args\":{\"name\":"
                                           : ",\"name\":\"thread_name\",\"args\":{\"name\":");
    tm_json_name(&c->json, row->name);
    tm_sink_put(&c->json.sink, "}}", 2);
    put_head(c, 'M', row);
    tm_sink_text(&c->json.sink, is_process ? ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":"
                                           : ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":");
    tm_sink_int(&c->json.sink, tm_out_rank(row));
    tm_sink_put(&c->json.sink, "}", 1);
    end_event(c);
}

/* An arrow with a number passes through all spans with that number: it leaves the first one, and enters and leaves the
 * others. */
static void put_flow(struct chrome_json *c, const struct tm_out_event *event)
{
    put_id(c, ",\"bind_id\":", event->flow);
    if (!event->begins_flow)
        tm_sink_text(&c->json.sink, ",\"flow_in\":true");
    tm_sink_text(&c->json.sink, ",\"flow_out\":true");
}

static void end_span(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct chrome_json *const c = writer_of(w);
    const uint64_t at = raw_bytes(w);

    put_head(c, 'X', event->row);
    put_time(c, event->start_ps);
    tm_sink_text(&c->json.sink, ",\"dur\":");
    tm_sink_us(&c->json.sink, tm_out_ns(event->end_ps) - tm_out_ns(event->start_ps));
    put_name(c, event->name, event->category);
    if (event->flow)
        put_flow(c, event);
    end_with_arguments(c, event);
    chrome_order_place(&c->order, &c->json.sink, event, at);
}

static void put_instant(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct chrome_json *const c = writer_of(w);

    put_head(c, 'i', event->row);
    put_time(c, event->start_ps);
    put_name(c, event->name, event->category);
    tm_sink_text(&c->json.sink, ",\"s\":\"t\"");
    end_with_arguments(c, event);
}

/* Readers name a counter by its name and the key of its value, separated by a space: the last word of its name is the
 * key, so the displayed name is unchanged. */
static void put_counter_name(struct chrome_json *c, const char *text, size_t length)
{
    const char *const space = length ? memrchr(text + 1, ' ', length - 1) : NULL;
    const size_t words = space ? (size_t)(space - text) : length;

    tm_sink_text(&c->json.sink, ",\"name\":");
    tm_json_string(&c->json, text, words);
    tm_sink_text(&c->json.sink, ",\"args\":{");
    if (words + 1 < length)
        tm_json_string(&c->json, text + words + 1, length - words - 1);
    else
        tm_json_string(&c->json, "value", 5);
}

static void put_counter(struct tm_trace_writer *w, const struct tm_out_counter *counter)
{
    struct chrome_json *const c = writer_of(w);
    size_t length;
    const char *const text = tm_names_text(c->json.names, counter->row->name, 0, &length);

    put_head(c, 'C', counter->row);
    put_time(c, counter->time_ps);
    put_counter_name(c, text, length);
    tm_sink_put(&c->json.sink, ":", 1);
    if (counter->is_whole)
        tm_sink_int(&c->json.sink, counter->whole);
    else
        tm_json_double(&c->json, counter->value);
    tm_sink_put(&c->json.sink, "}", 1);
    end_event(c);
}

static void put_arrow(struct tm_trace_writer *w, const struct tm_out_flow *flow)
{
    struct chrome_json *const c = writer_of(w);

    put_head(c, tm_out_flow_phase(flow), flow->row);
    put_time(c, flow->time_ps);
    put_id(c, ",\"id\":", flow->id);
    put_name(c, flow->name, flow->category);
    if (flow->is_enclosed)
        tm_sink_text(&c->json.sink, ",\"bp\":\"e\"");
    end_event(c);
}

const struct tm_trace_writer_type tm_chrome_json_writer = {
    .writes_ends = false,
    .numbers_flows = true,
    .open = open_writer,
    .begin_file = begin_file,
    .row = put_row,
    .end = end_span,
    .instant = put_instant,
    .counter = put_counter,
    .flow = put_arrow,
    .end_file = end_file,
    .raw_bytes = raw_bytes,
    .free = free_writer,
};
