/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as Chrome JSON, in the object form, an event on each line.  Spans are X events, written when they end; rows
 * are threads, lanes and rows of a process too, since readers know nothing else that keeps them apart.  All memory is
 * one piece of a fixed size.
 * source: Trace Event Format; what the readers do with it beside: PERFETTO.md section 4.  Perfetto (v52) keeps neither
 *         \n nor \u0001 of a text as what they are: it shows the escape */
#include "stages/output/chrome_json/chrome_flows.h"
#include "stages/output/chrome_json/chrome_order.h"
#include "stages/output/text/json_values.h"

struct chrome_json {
    struct tm_trace_writer base;
    struct tm_writer_options options;
    bool has_events;
    struct tm_chrome_flows flows;
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

static tm_status begin_file(struct tm_trace_writer *w, struct tm_out_file *file)
{
    struct chrome_json *const c = writer_of(w);
    struct tm_json_text *const json = &c->json;

    tm_sink_begin(&json->sink, file);
    tm_chrome_flows_clear(&c->flows);
    tm_chrome_order_clear(&c->order);
    tm_json_keys_begin(&json->keys);
    c->has_events = false;
    tm_sink_text(&json->sink, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"origin_us\":");
    (void)tm_json_keys_take(&json->keys, tm_json_key_hash("origin_us", 9), 0);
    tm_sink_us(&json->sink, c->options.epoch_ns);
    for (size_t i = 0; i < c->options.fact_count; i++)
        put_fact(json, c->options.facts[i].key, c->options.facts[i].value);
    tm_sink_text(&json->sink, "},\"traceEvents\":[");
    return json->sink.status;
}

static tm_status end_file(struct tm_trace_writer *w)
{
    struct tm_text_sink *const sink = &writer_of(w)->json.sink;

    tm_sink_text(sink, "\n]}\n");
    return tm_sink_end(sink);
}

/* --- events --- */

/* What all events begin with.  in: phase  one letter */
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
    char digits[24];
    const int n = snprintf(digits, sizeof(digits), "\"0x%llx\"", (unsigned long long)id);

    tm_sink_text(&c->json.sink, head);
    tm_sink_put(&c->json.sink, digits, (size_t)n);
}

static tm_status end_event(struct chrome_json *c)
{
    tm_sink_put(&c->json.sink, "}", 1);
    return c->json.sink.status;
}

static tm_status end_with_arguments(struct chrome_json *c, const struct tm_out_event *event)
{
    if (tm_json_arguments(&c->json, event, c->options.args, ",\"args\":{"))
        tm_sink_put(&c->json.sink, "}", 1);
    c->base.arguments = c->json.arguments;
    return end_event(c);
}

static tm_status put_row(struct tm_trace_writer *w, const struct tm_out_row *row)
{
    struct chrome_json *const c = writer_of(w);
    const bool is_process = row->sort == TM_OUT_PROCESS || row->sort == TM_OUT_GROUP;

    if (row->sort == TM_OUT_COUNTER) /* its events name it */
        return TM_OK;
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
    return end_event(c);
}

/* An arrow of a number goes through all spans that bear it: it comes out of the first one, and goes into and out of the
 * others. */
static tm_status begin_span(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    if (event->flow)
        tm_chrome_flows_begin(&writer_of(w)->flows, event->flow,
                              tm_chrome_flow_span(event->row->uuid, event->begin_ps));
    return TM_OK;
}

static void put_flow(struct chrome_json *c, const struct tm_out_event *event)
{
    const struct tm_chrome_flow *const known = tm_chrome_flows_find(&c->flows, event->flow);

    if (!known)
        return;
    put_id(c, ",\"bind_id\":", known->id);
    if (known->first != tm_chrome_flow_span(event->row->uuid, event->begin_ps))
        tm_sink_text(&c->json.sink, ",\"flow_in\":true");
    tm_sink_text(&c->json.sink, ",\"flow_out\":true");
}

static tm_status end_span(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct chrome_json *const c = writer_of(w);
    const uint64_t at = raw_bytes(w);

    put_head(c, 'X', event->row);
    put_time(c, event->begin_ps);
    tm_sink_text(&c->json.sink, ",\"dur\":");
    tm_sink_us(&c->json.sink, tm_out_ns(event->end_ps) - tm_out_ns(event->begin_ps));
    put_name(c, event->name, event->category);
    if (event->flow)
        put_flow(c, event);
    const tm_status status = end_with_arguments(c, event);

    tm_chrome_order_place(&c->order, &c->json.sink, event, at);
    return status;
}

static tm_status put_instant(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    struct chrome_json *const c = writer_of(w);

    put_head(c, 'i', event->row);
    put_time(c, event->begin_ps);
    put_name(c, event->name, event->category);
    tm_sink_text(&c->json.sink, ",\"s\":\"t\"");
    return end_with_arguments(c, event);
}

/* Readers call a counter by its name and the key of its value, with a space between them: the last word of its name is
 * the key, so that it is called what it is called. */
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

static tm_status put_counter(struct tm_trace_writer *w, const struct tm_out_counter *counter)
{
    struct chrome_json *const c = writer_of(w);
    const char *text;
    size_t length;
    const tm_status status = tm_names_text(c->json.names, counter->row->name, 0, &text, &length);

    if (status != TM_OK)
        return status;
    put_head(c, 'C', counter->row);
    put_time(c, counter->time_ps);
    put_counter_name(c, text, length);
    tm_sink_put(&c->json.sink, ":", 1);
    if (counter->is_whole)
        tm_sink_int(&c->json.sink, counter->whole);
    else
        tm_json_double(&c->json, counter->value);
    tm_sink_put(&c->json.sink, "}", 1);
    return end_event(c);
}

static tm_status put_arrow(struct tm_trace_writer *w, const struct tm_out_flow *flow)
{
    struct chrome_json *const c = writer_of(w);

    put_head(c, tm_out_flow_phase(flow), flow->row);
    put_time(c, flow->time_ps);
    put_id(c, ",\"id\":", flow->id);
    put_name(c, flow->name, flow->category);
    if (flow->is_enclosed)
        tm_sink_text(&c->json.sink, ",\"bp\":\"e\"");
    return end_event(c);
}

const struct tm_trace_writer_type tm_chrome_json_writer = {
    .writes_ends = false,
    .open = open_writer,
    .begin_file = begin_file,
    .row = put_row,
    .begin = begin_span,
    .end = end_span,
    .instant = put_instant,
    .counter = put_counter,
    .flow = put_arrow,
    .end_file = end_file,
    .raw_bytes = raw_bytes,
    .free = free_writer,
};
