/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a trace. Memory: rows per line that spill, an external aggregation by name. */
#include "stages/figures/figure_stages.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/sorter.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"

enum {
    LINES_PER_HOST = 200,
    LINES_TOTAL = 4000,
    NAMES_PER_HOST = 20,
    NAMES_TOTAL = 1000,
    DEVICES_PER_HOST = 64,
    TEXT_BYTES = 256,
};

/* A line of events. */
struct line_row {
    tm_strid plane, name;
    int64_t id, first_ps, last_ps;
    uint64_t in_file, taken; /* events: as the file has them, and those that have a place in time */
    uint8_t side, line;
};

/* A name, of events of one class. */
struct name_row {
    struct tm_key key;
    tm_strid name;
    uint32_t class;
    uint64_t count;
    int64_t total_ps;
};

struct host_row {
    char name[128];
    uint8_t source;
    uint64_t steps, chosen, warmup, incomplete;
    uint64_t lines_end, names_end, devices_end; /* of its rows */
    uint64_t name_count;
};

struct contents {
    struct tm_run *run;
    struct tm_names *names;
    struct tm_rows *hosts, *devices, *lines, *top; /* host_row, tm_device, line_row, name_row */
    /* of the current host */
    const struct tm_trace *trace;
    struct host_row host;
    uint64_t first_line;
    struct tm_groups *by_name;
};

static tm_status open_stage(struct tm_stage *s)
{
    struct contents *c = s->state;
    const size_t share = tm_budget_share(&s->run->budget, TM_ACCOUNT_TABLES);

    c->run = s->run;
    c->hosts = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct host_row), share / 32);
    c->devices = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct tm_device), share / 32);
    c->lines = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct line_row), share / 16);
    c->top = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct name_row), share / 32);
    return s->run->error.status;
}

static void add_name_row(void *into, const void *from)
{
    struct name_row *to = into;
    const struct name_row *more = from;

    to->count += more->count;
    to->total_ps += more->total_ps;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct contents *c = s->state;
    const struct tm_steps *steps = &trace->steps;
    const uint64_t tracks = tm_rows_count(trace->tracks);

    c->trace = trace;
    c->names = trace->names;
    c->host = (struct host_row){ .source = (uint8_t)steps->source,
                                 .steps = steps->count,
                                 .warmup = steps->warmup,
                                 .incomplete = steps->incomplete,
                                 .chosen = steps->all ? steps->count : steps->chosen_end - steps->chosen_begin };
    memcpy(c->host.name, trace->host_name, sizeof(c->host.name));
    c->first_line = tm_rows_count(c->lines);
    for (uint64_t i = 0; i < tracks && !tm_failed(s->run); i++) {
        const struct tm_track *track = tm_rows_at(trace->tracks, i);
        const struct line_row row = { .plane = track->plane_name,
                                      .name = track->name,
                                      .id = track->id,
                                      .first_ps = track->first_ps,
                                      .last_ps = track->last_ps,
                                      .in_file = track->events,
                                      .taken = track->records,
                                      .side = track->side,
                                      .line = track->line };

        tm_rows_append(c->lines, &row);
    }
    c->by_name = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct name_row),
                               tm_budget_share(&s->run->budget, TM_ACCOUNT_TABLES) / 4, add_name_row);
    return s->run->error.status;
}

static void take_site(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    const struct contents *c = s->state;
    const struct tm_record *r = &event->record;
    struct name_row name = { .key = tm_names_info(c->names, r->name).hash,
                             .name = r->name,
                             .class = r->class,
                             .count = sums->count,
                             .total_ps = sums->total_ps };

    name.key.low ^= (uint64_t)r->class << 56;
    tm_groups_add(c->by_name, &name);
}

/* --- a host ends --- */

static int most_frequent_first(const void *a, const void *b)
{
    const struct name_row *x = a, *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static void keep_names(struct contents *c)
{
    const size_t share = tm_budget_share(&c->run->budget, TM_ACCOUNT_TABLES);
    struct tm_sorter *sorter =
        tm_sorter_new(c->run, TM_ACCOUNT_TABLES, sizeof(struct name_row), share / 8, most_frequent_first);
    const void *row;

    if (!sorter)
        return;
    tm_groups_finish(c->by_name);
    while ((row = tm_groups_next(c->by_name)))
        tm_sorter_push(sorter, row);
    tm_sorter_finish(sorter);
    c->host.name_count = tm_sorter_count(sorter);
    for (int i = 0; i < NAMES_PER_HOST && (row = tm_sorter_next(sorter)); i++)
        tm_rows_append(c->top, row);
    tm_sorter_free(sorter);
}

static tm_status end_host(struct tm_stage *s)
{
    struct contents *c = s->state;

    keep_names(c);
    for (uint32_t i = 0; i < c->trace->device_count; i++)
        tm_rows_append(c->devices, &c->trace->devices[i]);
    c->host.lines_end = tm_rows_count(c->lines);
    c->host.names_end = tm_rows_count(c->top);
    c->host.devices_end = tm_rows_count(c->devices);
    tm_groups_free(c->by_name);
    c->by_name = NULL;
    c->trace = NULL;
    tm_rows_append(c->hosts, &c->host);
    return s->run->error.status;
}

/* --- the section --- */

static const char *line_kind(const struct line_row *row)
{
    static const char *const names[] = {
        [TM_LINE_HOST] = "host thread",        [TM_LINE_COMPILER] = "compiler thread",
        [TM_LINE_STREAM] = "GPU stream",       [TM_LINE_TPU_OPS] = "TPU operations",
        [TM_LINE_TPU_ASYNC] = "TPU transfers", [TM_LINE_TPU_MODULES] = "TPU programs",
        [TM_LINE_TPU_STEPS] = "TPU steps",     [TM_LINE_DERIVED] = "derived",
        [TM_LINE_OVERHEAD] = "profiler",       [TM_LINE_OTHER] = "other",
    };

    return row->side == TM_SIDE_OTHER ? "not used" : names[row->line];
}

static void add_text(struct contents *c, struct tm_value *to, const char *key, tm_strid name)
{
    size_t length;
    const char *text = tm_names_text(c->names, name, TEXT_BYTES, &length);

    tm_add_text(to, key, text, length);
}

static void add_line(struct contents *c, const struct line_row *row, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);

    add_text(c, to, "plane", row->plane);
    add_text(c, to, "line", row->name);
    tm_add_int(to, "id", row->id);
    tm_add_string(to, "kind", line_kind(row));
    tm_add_uint(to, "events", row->in_file);
    if (row->taken) {
        tm_add_int(to, "first_ps", row->first_ps);
        tm_add_int(to, "last_ps", row->last_ps);
    } else {
        tm_add_null(to, "first_ps", "no event has a time");
        tm_add_null(to, "last_ps", "no event has a time");
    }
}

static void add_lines(struct contents *c, uint64_t begin, uint64_t end, uint64_t most, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "lines"), *more;
    uint64_t with_events = 0, more_events = 0;

    for (uint64_t i = begin; i < end && !tm_failed(c->run); i++) {
        const struct line_row row = *(const struct line_row *)tm_rows_at(c->lines, i);

        if (!row.in_file)
            continue;
        if (with_events++ < most)
            add_line(c, &row, list);
        else
            more_events += row.in_file;
    }
    tm_add_uint(to, "line_count", with_events);
    tm_add_uint(to, "empty_lines", end - begin - with_events);
    more = tm_add_object(to, "more_lines");
    tm_add_uint(more, "count", with_events > most ? with_events - most : 0);
    tm_add_uint(more, "events", more_events);
}

static void add_names(struct contents *c, uint64_t begin, uint64_t end, uint64_t most, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "names");

    for (uint64_t i = begin; i < end && i < begin + most; i++) {
        const struct name_row *at = tm_rows_at(c->top, i);
        struct tm_value *row = tm_add_object(list, NULL);

        add_text(c, row, "name", at->name);
        tm_add_string(row, "class", tm_class_name[at->class < TM_CLASS_COUNT ? at->class : TM_CLASS_OTHER]);
        tm_add_uint(row, "count", at->count);
        tm_add_int(row, "total_ps", at->total_ps);
    }
}

static void add_devices(struct contents *c, uint64_t begin, uint64_t end, struct tm_value *to)
{
    static const char *const kinds[] = { [TM_DEVICE_GPU] = "gpu", [TM_DEVICE_TPU] = "tpu", [TM_DEVICE_CPU] = "cpu" };
    struct tm_value *list = tm_add_array(to, "devices");

    for (uint64_t i = begin; i < end && i < begin + DEVICES_PER_HOST; i++) {
        const struct tm_device *device = tm_rows_at(c->devices, i);
        struct tm_value *row;

        if (device->kind == TM_DEVICE_CPU && !device->activities)
            continue;
        row = tm_add_object(list, NULL);
        tm_add_string(row, "name", device->name);
        tm_add_string(row, "kind", kinds[device->kind]);
        if (device->model[0])
            tm_add_string(row, "model", device->model);
        else
            tm_add_null(row, "model", "not recorded");
        tm_add_uint(row, "activities", device->activities);
        if (device->activities) {
            tm_add_int(row, "first_ps", device->first_ps);
            tm_add_int(row, "last_ps", device->last_ps);
        } else {
            tm_add_null(row, "first_ps", "no activity");
            tm_add_null(row, "last_ps", "no activity");
        }
        tm_add_bool(row, "has_collapsed_graphs", device->has_collapsed_graphs);
    }
}

static void add_steps(const struct host_row *host, struct tm_value *to)
{
    static const char *const sources[] = {
        [TM_STEPS_HOST] = "host",     [TM_STEPS_GROUP] = "group",     [TM_STEPS_TPU] = "tpu",
        [TM_STEPS_MODULE] = "module", [TM_STEPS_SESSION] = "session",
    };
    struct tm_value *steps = tm_add_object(to, "steps");

    tm_add_string(steps, "source", sources[host->source]);
    tm_add_uint(steps, "count", host->steps);
    tm_add_uint(steps, "chosen", host->chosen);
    tm_add_uint(steps, "warmup", host->warmup);
    tm_add_uint(steps, "incomplete", host->incomplete);
}

/* How many of `total` each of `hosts` may show. */
static uint64_t room_of(uint64_t most, uint64_t total, uint64_t hosts)
{
    const uint64_t each = hosts ? total / hosts : most;

    if (each >= most)
        return most;
    return each ? each : 1;
}

static tm_status report(struct tm_stage *s, struct tm_value *summary)
{
    struct contents *c = s->state;
    struct tm_value *list = tm_add_array(summary, "contents");
    const uint64_t hosts = tm_rows_count(c->hosts);
    struct host_row before = { .lines_end = 0 };

    for (uint64_t i = 0; i < hosts && !tm_failed(s->run); i++) {
        const struct host_row host = *(const struct host_row *)tm_rows_at(c->hosts, i);
        struct tm_value *to = tm_add_object(list, NULL);

        tm_add_string(to, "host", host.name);
        add_steps(&host, to);
        add_devices(c, before.devices_end, host.devices_end, to);
        add_lines(c, before.lines_end, host.lines_end, room_of(LINES_PER_HOST, LINES_TOTAL, hosts), to);
        add_names(c, before.names_end, host.names_end, room_of(NAMES_PER_HOST, NAMES_TOTAL, hosts), to);
        tm_add_uint(to, "name_count", host.name_count);
        before = host;
    }
    return s->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    struct contents *c = s->state;

    tm_rows_free(c->hosts);
    tm_rows_free(c->devices);
    tm_rows_free(c->lines);
    tm_rows_free(c->top);
    tm_groups_free(c->by_name);
}

const struct tm_stage_type tm_contents_stage = {
    .name = "contents",
    .summary = "lines, devices and names of the trace",
    .state_bytes = sizeof(struct contents),
    .classes = TM_CLASSES_ALL,
    .open = open_stage,
    .begin_host = begin_host,
    .take_site = take_site,
    .end_host = end_host,
    .report = report,
    .close = close_stage,
};
