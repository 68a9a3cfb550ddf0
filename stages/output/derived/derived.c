/* SPDX-License-Identifier: Apache-2.0 */
/* Computed rows in time order.  Rows of all hosts are sorted together; their arguments are in an array
 * of bytes in order of arrival.  Both spill: an eighth and a sixteenth of the account `model`.
 * In addition, a fixed struct per device of the current host, and some hundred bytes for each host and device, which
 * spill too. */
#include "stages/output/derived/derived.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/arguments.h"
#include "pipeline/numbers.h"
#include "pipeline/redact.h"
#include "pipeline/run.h"
#include "pipeline/stage.h"
#include "pipeline/store/rows.h"
#include "pipeline/store/sorter.h"
#include "stages/output/trace_writer.h"

struct derived_device {
    uint32_t host, index; /* host: row of derived.hosts */
    char id[192];
};

/* Counters of devices: how much launched work waits, and how much of the time they are active.  The activities of a
 * device come in the order of their starts, their launches do not: these go through a sort of 16 bytes each, and the
 * starts into a list of the device, both of which spill.  When the host ends, the two are read in lockstep.  Devices
 * may come in any order.  In addition, a fixed struct per device. */

/* Parts of the account's share. */
enum { LAUNCHES_PART = 8, BEGINS_PART = 16 };

static int64_t stretches_most(const struct tm_derived *d)
{
    const int64_t share = TM_DERIVED_STRETCHES_HOST / (d->counter_count ? d->counter_count : 1);

    return share < TM_DERIVED_STRETCHES ? share : TM_DERIVED_STRETCHES;
}

static int by_time(const void *a, const void *b)
{
    const struct launched *x = a, *y = b;

    return (x->time_ps > y->time_ps) - (x->time_ps < y->time_ps);
}

static uint64_t time_prefix(const void *row)
{
    return tm_prefix_of(((const struct launched *)row)->time_ps);
}

static void push_value(struct tm_derived *d, uint32_t device, enum tm_derived_sort sort, int64_t time_ps, double value)
{
    const struct derived_row row = { .start_ps = time_ps,
                                     .end_ps = time_ps,
                                     .value = value,
                                     .name = d->keys[sort == TM_DERIVED_QUEUE ? NAME_QUEUE : NAME_BUSY],
                                     .host = d->host.number,
                                     .device = device,
                                     .sort = (uint8_t)sort };

    tm_sorter_push(d->sorter, &row);
}

/* --- busy share --- */

static void tell_busy(struct tm_derived *d, uint32_t device, uint64_t stretch, int64_t sum_ps)
{
    struct busy_share *b = &d->counters[device].busy;
    const int64_t start_ps = b->origin_ps + (int64_t)stretch * b->length_ps;
    const int64_t left_ps = b->end_ps - start_ps;
    const int64_t length_ps = left_ps < b->length_ps ? left_ps : b->length_ps;
    const double value = 100.0 * (double)sum_ps / (double)length_ps;

    tm_idle_rows_add_busy(d, start_ps, start_ps + length_ps, sum_ps);
    if (b->is_told && value == b->told)
        return;
    b->is_told = true;
    b->told = value;
    push_value(d, device, TM_DERIVED_BUSY, start_ps, value);
}

/* Add what is in one stretch; those between it and the current one are empty. */
static void add_busy(struct tm_derived *d, uint32_t device, uint64_t stretch, int64_t ps)
{
    struct busy_share *b = &d->counters[device].busy;

    if (stretch > b->stretch) {
        tell_busy(d, device, b->stretch, b->sum_ps);
        if (stretch > b->stretch + 1)
            tell_busy(d, device, b->stretch + 1, 0);
        b->stretch = stretch;
        b->sum_ps = 0;
    }
    b->sum_ps += ps;
}

static void cover(struct tm_derived *d, uint32_t device, int64_t start_ps, int64_t end_ps)
{
    struct busy_share *b = &d->counters[device].busy;

    start_ps = start_ps > b->until_ps ? start_ps : b->until_ps;
    end_ps = end_ps < b->end_ps ? end_ps : b->end_ps;
    if (start_ps < end_ps && end_ps <= b->border_ps) { /* all of it is in the current interval, as most do */
        b->sum_ps += end_ps - start_ps;
        b->until_ps = end_ps;
        return;
    }
    while (start_ps < end_ps) {
        const uint64_t stretch = (uint64_t)((start_ps - b->origin_ps) / b->length_ps);
        const int64_t border_ps = b->origin_ps + (int64_t)(stretch + 1) * b->length_ps;
        const int64_t to_ps = border_ps < end_ps ? border_ps : end_ps;

        add_busy(d, device, stretch, to_ps - start_ps);
        b->border_ps = border_ps;
        start_ps = b->until_ps = to_ps;
    }
}

static void end_busy(struct tm_derived *d, uint32_t device)
{
    const struct busy_share *b = &d->counters[device].busy;

    if (b->end_ps <= b->origin_ps)
        return;
    tell_busy(d, device, b->stretch, b->sum_ps);
    /* After it, only activities without length. */
    if (b->end_ps - b->origin_ps > (int64_t)(b->stretch + 1) * b->length_ps)
        tell_busy(d, device, b->stretch + 1, 0);
    else if (b->told != 0)
        push_value(d, device, TM_DERIVED_BUSY, b->end_ps, 0);
}

/* --- queue depth --- */

static void tell_depth(struct tm_derived *d, uint32_t device, uint64_t stretch, int64_t depth)
{
    struct queue_depth *q = &d->counters[device].queue;

    if (q->is_told && depth == q->told)
        return;
    q->is_told = true;
    q->told = depth;
    push_value(d, device, TM_DERIVED_QUEUE, q->origin_ps + (int64_t)stretch * q->length_ps, (double)depth);
}

/* The depth holds from `at` up to but not until_ps. */
static void hold_depth(struct tm_derived *d, uint32_t device, int64_t until_ps)
{
    struct queue_depth *q = &d->counters[device].queue;
    uint64_t first, last;

    if (until_ps <= q->border_ps) { /* all of it is in the current interval, as most do */
        q->most = q->depth > q->most ? q->depth : q->most;
        q->at_ps = until_ps;
        return;
    }
    first = (uint64_t)((q->at_ps - q->origin_ps) / q->length_ps);
    last = (uint64_t)((until_ps - 1 - q->origin_ps) / q->length_ps);
    if (first > q->stretch) {
        tell_depth(d, device, q->stretch, q->most);
        q->stretch = first;
        q->most = q->depth;
    }
    if (q->depth > q->most)
        q->most = q->depth;
    if (last > first) {
        tell_depth(d, device, first, q->most);
        if (last > first + 1)
            tell_depth(d, device, first + 1, q->depth);
        q->stretch = last;
        q->most = q->depth;
    }
    q->at_ps = until_ps;
    q->border_ps = q->origin_ps + (int64_t)(q->stretch + 1) * q->length_ps;
}

static void begin_queue(const struct tm_derived *d, uint32_t device)
{
    struct device_counters *c = &d->counters[device];
    struct queue_depth *q = &c->queue;

    *q = (struct queue_depth){
        .origin_ps = c->first_launch_ps, .at_ps = c->first_launch_ps, .end_ps = c->last_ps, .has_begun = true
    };
    q->length_ps = tm_derived_stretch_length(q->end_ps - q->origin_ps, stretches_most(d));
    q->border_ps = q->origin_ps + q->length_ps;
}

/* This many more wait from a time on, not before the latest of this device. */
static void change_depth(struct tm_derived *d, uint32_t device, int64_t time_ps, int64_t more)
{
    struct queue_depth *q = &d->counters[device].queue;

    if (!q->has_begun)
        begin_queue(d, device);
    if (time_ps > q->at_ps)
        hold_depth(d, device, time_ps);
    q->depth += more;
}

static void end_queue(struct tm_derived *d, uint32_t device)
{
    struct queue_depth *q = &d->counters[device].queue;

    if (!q->has_begun)
        return;
    if (q->end_ps > q->at_ps)
        hold_depth(d, device, q->end_ps);
    tell_depth(d, device, q->stretch, q->most);
    if (q->told)
        push_value(d, device, TM_DERIVED_QUEUE, q->end_ps, 0);
}

static void flush_launches(struct tm_derived *d, struct launched *pending)
{
    const struct launched row = *pending;

    pending->count = 0;
    if (row.count)
        tm_sorter_push(d->launches, &row);
}

/* The starts that are buffered in memory are added to the list of their device. */
static void flush_begins(struct tm_derived *d, struct device_counters *c)
{
    const uint64_t row = tm_rows_count(d->begins);

    if (!c->begins.count)
        return;
    tm_rows_append(d->begins, &c->begins);
    if (c->has_begins)
        ((struct begins *)tm_rows_change(d->begins, c->last_begins))->next = row;
    else
        c->first_begins = row;
    c->has_begins = true;
    c->last_begins = row;
    c->begins.count = 0;
}

/* It waits from its launch until it starts. */
static void note_launch(struct tm_derived *d, const struct tm_event *event)
{
    struct device_counters *c = &d->counters[event->device];

    if (event->launch_start_ps < c->first_launch_ps)
        c->first_launch_ps = event->launch_start_ps;
    if (c->pending.count == UINT32_MAX || c->pending.time_ps != event->launch_start_ps)
        flush_launches(d, &c->pending);
    c->pending = (struct launched){ event->launch_start_ps, event->device, c->pending.count + 1 };
    c->begins.time_ps[c->begins.count++] = event->record.start_ps;
    if (c->begins.count == BEGINS_AT_ONCE)
        flush_begins(d, c);
}

static void read_begins(struct tm_derived *d, struct device_counters *c, uint64_t row)
{
    tm_rows_copy(d->begins, row, &c->begins, 1);
    c->begins_at = 0;
}

/* What starts at the time of a launch does not wait any more. */
static void end_waiting(struct tm_derived *d, uint32_t device, int64_t until_ps)
{
    struct device_counters *const c = &d->counters[device];

    while (c->begins_at < c->begins.count && !tm_failed(d->run)) {
        const int64_t time_ps = c->begins.time_ps[c->begins_at];

        if (time_ps > until_ps)
            break;
        change_depth(d, device, time_ps, -1);
        if (++c->begins_at == c->begins.count && c->begins.next)
            read_begins(d, c, c->begins.next);
    }
}

static void walk_launches(struct tm_derived *d)
{
    const struct launched *launch;

    for (uint32_t i = 0; i < d->counter_count; i++) {
        struct device_counters *const c = &d->counters[i];

        flush_launches(d, &c->pending);
        flush_begins(d, c);
        if (c->has_begins)
            read_begins(d, c, c->first_begins);
    }
    tm_sorter_finish(d->launches);
    while ((launch = tm_sorter_next(d->launches))) {
        end_waiting(d, launch->device, launch->time_ps);
        change_depth(d, launch->device, launch->time_ps, launch->count);
    }
    for (uint32_t i = 0; i < d->counter_count; i++) {
        end_waiting(d, i, INT64_MAX);
        end_queue(d, i);
    }
}

/* --- a host --- */

static void begin_device(const struct tm_derived *d, struct device_counters *c, const struct tm_device *device)
{
    c->first_launch_ps = INT64_MAX;
    if (!device->activities || device->last_ps <= device->first_ps)
        return;
    c->last_ps = device->last_ps;
    c->busy =
        (struct busy_share){ .origin_ps = device->first_ps, .until_ps = device->first_ps, .end_ps = device->last_ps };
    c->busy.length_ps = tm_derived_stretch_length(device->last_ps - device->first_ps, stretches_most(d));
    c->busy.border_ps = c->busy.origin_ps + c->busy.length_ps;
}

static void derived_begin_counters(struct tm_derived *d)
{
    struct tm_run *run = d->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_MODEL);
    const uint32_t count = d->trace->device_count;

    d->counters = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*d->counters), &run->error);
    if (!d->counters)
        return;
    d->counter_count = count;
    for (uint32_t i = 0; i < count; i++)
        begin_device(d, &d->counters[i], &d->trace->devices[i]);
    d->launches = tm_sorter_new(run, TM_ACCOUNT_MODEL, sizeof(struct launched), share / LAUNCHES_PART, by_time);
    if (d->launches)
        tm_sorter_set_prefix(d->launches, time_prefix);
    d->begins = d->launches ? tm_rows_new(run, TM_ACCOUNT_MODEL, sizeof(struct begins), share / BEGINS_PART) : NULL;
}

static void derived_count(struct tm_derived *d, const struct tm_event *event)
{
    const struct tm_record *r = &event->record;

    if (event->level == TM_LEVEL_NONE || event->device >= d->counter_count ||
        d->counters[event->device].busy.end_ps <= d->counters[event->device].busy.origin_ps)
        return;
    if (event->config->tpu_part != TM_TPU_WAIT) /* as utilization is counted */
        cover(d, event->device, r->start_ps, r->start_ps + r->dur_ps);
    if (event->launch_track != TM_NONE && event->launch_start_ps < r->start_ps)
        note_launch(d, event);
}

static void derived_free_counters(struct tm_derived *d)
{
    tm_sorter_free(d->launches);
    tm_rows_free(d->begins);
    tm_give(&d->run->budget, TM_ACCOUNT_MODEL, d->counters, d->counter_count * sizeof(*d->counters));
    d->launches = NULL;
    d->begins = NULL;
    d->counters = NULL;
    d->counter_count = 0;
}

enum { SORTER_PART = 8, BYTES_PART = 16, PLACES_PAGE = 4 << 10 };

/* clang-format off */
static const char *const key_text[DERIVED_KEYS] = {
    [KEY_NUMBER] = "number", [KEY_CHOSEN] = "chosen", [KEY_WARM_UP] = "warm_up", [KEY_INCOMPLETE] = "incomplete",
    [KEY_COMPILES] = "compiles", [KEY_ACTIVITIES] = "activities",
    [KEY_LENGTH_NS] = "length_ns", [KEY_CAUSE] = "cause", [KEY_BEFORE] = "before", [KEY_AFTER] = "after",
    [KEY_HOST_EVENT] = "host_event", [KEY_STEP] = "step",
    [KEY_ID] = "id", [KEY_SEVERITY] = "severity", [KEY_VALUE] = "value", [KEY_UNIT] = "unit", [KEY_LIMIT] = "limit",
    [KEY_AT_STAKE_NS] = "at_stake_ns", [KEY_SHARE_PCT] = "share_pct", [KEY_DEVICE] = "device",
    [KEY_EVIDENCE] = "evidence", [KEY_FIX] = "fix",
    [KEY_BUSY_NS] = "busy_ns", [KEY_BYTES] = "bytes", [KEY_OP] = "op", [KEY_RANKS] = "ranks",
    [KEY_LAST] = "arrived_last",
    [KEY_RUN] = "run", [KEY_HOST] = "host", [KEY_TOOL] = "tool", [KEY_PLATFORM] = "platform", [KEY_VERDICT] = "verdict",
    [KEY_DEVICES] = "devices", [KEY_KPIS] = "key_figures", [KEY_PARTIAL] = "partial",
    [NAME_QUEUE] = "queue depth", [NAME_BUSY] = "busy share", [NAME_FACTS] = "run", [NAME_UNTITLED] = "finding",
};
/* clang-format on */

/* --- rows --- */

static int by_host_and_time(const void *a, const void *b)
{
    const struct derived_row *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->end_ps != y->end_ps)
        return x->end_ps > y->end_ps ? -1 : 1;
    if (x->sort != y->sort)
        return x->sort < y->sort ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->depth > y->depth) - (x->depth < y->depth);
}

/* Hosts past the last one that fits are distinguished by the comparison, and so are times within 65 ns. */
static uint64_t host_and_time(const void *row)
{
    const struct derived_row *const r = row;
    const uint64_t host = r->host < UINT16_MAX ? r->host : UINT16_MAX;

    return host << 48 | (host < UINT16_MAX ? tm_prefix_of(r->start_ps) >> 16 : 0);
}

/* --- made and released --- */

static void make(struct tm_derived *d)
{
    struct tm_run *run = d->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_MODEL);

    d->sorter = tm_sorter_new(run, TM_ACCOUNT_MODEL, sizeof(struct derived_row), share / SORTER_PART, by_host_and_time);
    if (d->sorter)
        tm_sorter_set_prefix(d->sorter, host_and_time);
    d->bytes = d->sorter ? tm_rows_new(run, TM_ACCOUNT_MODEL, 1, share / BYTES_PART) : NULL;
    d->hosts = d->bytes ? tm_rows_new_paged(run, TM_ACCOUNT_MODEL, sizeof(struct derived_host), 0, PLACES_PAGE) : NULL;
    if (d->hosts)
        d->devices = tm_rows_new_paged(run, TM_ACCOUNT_MODEL, sizeof(struct derived_device), 0, PLACES_PAGE);
    for (int i = 0; i < DERIVED_KEYS; i++)
        d->keys[i] = tm_names_put_string(d->names, key_text[i]);
}

struct tm_derived *tm_derived_new(struct tm_run *run, struct tm_names *names)
{
    struct tm_derived *d = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*d), &run->error);

    if (!d)
        return NULL;
    d->run = run;
    d->names = names;
    make(d);
    if (!tm_failed(run))
        return d;
    tm_derived_free(d);
    return NULL;
}

void tm_derived_free(struct tm_derived *d)
{
    if (!d)
        return;
    derived_free_counters(d);
    tm_idle_rows_free(d);
    tm_device_rows_free(d);
    tm_sorter_free(d->sorter);
    tm_rows_free(d->bytes);
    tm_rows_free(d->hosts);
    tm_rows_free(d->devices);
    tm_give(&d->run->budget, TM_ACCOUNT_MODEL, d, sizeof(*d));
}

/* --- a host is observed --- */

/* The start of the devices' window; INT64_MAX if none has one. */
static int64_t window_begin(const struct tm_trace *trace)
{
    int64_t start_ps = INT64_MAX;

    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        if (device->activities && device->chosen_begin_ps < device->chosen_end_ps && device->chosen_begin_ps < start_ps)
            start_ps = device->chosen_begin_ps;
    }
    return start_ps;
}

static tm_status begin_host(void *to, const struct tm_trace *trace)
{
    struct tm_derived *d = to;

    d->trace = trace;
    d->host = (struct derived_host){ .number = trace->host, .window_ps = window_begin(trace) };
    (void)snprintf(d->host.name, sizeof(d->host.name), "%s", trace->host_name);
    for (uint32_t i = 0; i < trace->device_count; i++) {
        struct derived_device device = { .host = (uint32_t)tm_rows_count(d->hosts), .index = i };

        memcpy(device.id, trace->devices[i].id, sizeof(device.id));
        tm_rows_append(d->devices, &device);
        d->host.devices += trace->devices[i].activities > 0;
    }
    derived_begin_counters(d);
    tm_idle_rows_begin_host(d, trace);
    tm_device_rows_begin_host(d, trace);
    return d->run->error.status;
}

static tm_status take(void *to, const struct tm_event *event)
{
    struct tm_derived *d = to;
    const int64_t start_ps = event->record.start_ps, end_ps = start_ps + event->record.dur_ps;

    if (!d->host.has_events)
        d->host.first_ps = d->host.last_ps = start_ps;
    d->host.has_events = true;
    if (start_ps < d->host.first_ps)
        d->host.first_ps = start_ps;
    if (end_ps > d->host.last_ps)
        d->host.last_ps = end_ps;
    derived_count(d, event);
    tm_device_rows_take(d, event);
    return d->run->error.status;
}

static void derived_steps(struct tm_derived *d);

static tm_status end_host(void *to)
{
    struct tm_derived *d = to;

    derived_steps(d);
    walk_launches(d);
    for (uint32_t i = 0; i < d->counter_count; i++)
        end_busy(d, i);
    derived_free_counters(d);
    tm_idle_rows_end_host(d);
    tm_device_rows_end_host(d);
    if (d->host.window_ps == INT64_MAX)
        d->host.window_ps = d->host.first_ps;
    d->trace = NULL;
    tm_rows_append(d->hosts, &d->host);
    return d->run->error.status;
}

static tm_status take_matched(void *to, const struct tm_matched_collective *matched)
{
    struct tm_derived *d = to;

    tm_device_rows_take_matched(d, matched);
    return d->run->error.status;
}

const struct tm_observer_type tm_derived_observer = {
    .begin_host = begin_host,
    .take = take,
    .take_gap = tm_idle_rows_take,
    .end_host = end_host,
    .take_matched = take_matched,
};

/* --- giving out --- */

void tm_derived_begin(struct tm_derived *d, uint32_t host)
{
    const bool is_before = d->is_finished && host > d->asked_host;

    if (!d->is_finished)
        tm_sorter_finish(d->sorter);
    else if (!is_before)
        tm_sorter_rewind(d->sorter);
    d->is_finished = true;
    d->asked_host = host;
    if (!is_before || d->has_last)
        d->ahead = tm_sorter_next(d->sorter);
    d->has_last = false;
    while (d->ahead && d->ahead->host < host)
        d->ahead = tm_sorter_next(d->sorter);
}

const struct tm_derived_row *tm_derived_next(struct tm_derived *d)
{
    const struct derived_row *next = d->ahead = d->has_last ? tm_sorter_next(d->sorter) : d->ahead;

    while (next && next->sort == TM_DERIVED_WORK && !tm_device_rows_show(d, next))
        next = d->ahead = tm_sorter_next(d->sorter);
    d->has_last = next && next->host == d->asked_host && !tm_failed(d->run);
    if (!d->has_last)
        return NULL;
    d->given = (struct tm_derived_row){ .start_ps = next->start_ps,
                                        .end_ps = next->end_ps,
                                        .value = next->sort == TM_DERIVED_WORK ? 0 : next->value,
                                        .row = next->row,
                                        .flow = next->sort == TM_DERIVED_WORK ? next->flow : 0,
                                        .name = next->name,
                                        .host = next->host,
                                        .device = next->device,
                                        .of_step = next->of_step,
                                        .sort = next->sort,
                                        .arguments = { d->buffer, next->arguments_length } };
    tm_rows_copy(d->bytes, next->arguments_at, d->buffer, next->arguments_length);
    return &d->given;
}

/* Steps as spans.  Of a host's steps: the marks where they are the host's own, and the period of each
 * step on each device; a session that represents a step is none.  No memory besides the rows. */

/* --- steps --- */

static void put_step(struct tm_derived *d, const struct tm_step_mark *mark)
{
    struct tm_arguments_builder *list = tm_derived_list(d);

    tm_put_int(list, d->keys[KEY_NUMBER], mark->number);
    tm_put_bool(list, d->keys[KEY_CHOSEN], mark->chosen);
    tm_put_bool(list, d->keys[KEY_WARM_UP], mark->warmup);
    tm_put_bool(list, d->keys[KEY_INCOMPLETE], !mark->complete);
    tm_put_bool(list, d->keys[KEY_COMPILES], mark->has_compile);
}

static void push_period(struct tm_derived *d, const struct tm_step_mark *mark, tm_strid name, uint32_t device,
                        uint64_t ordinal)
{
    const struct tm_steps *steps = &d->trace->steps;
    const struct tm_step_row *row = tm_rows_at(steps->rows, d->trace->devices[device].first_step_row + ordinal);
    struct derived_row span = { .name = name,
                                .host = d->host.number,
                                .device = device,
                                .of_step = (uint32_t)ordinal + 1,
                                .sort = TM_DERIVED_STEP };

    if (!row->activities || row->end_ps <= row->start_ps)
        return;
    span.start_ps = row->start_ps;
    span.end_ps = row->end_ps;
    put_step(d, mark);
    tm_put_uint(&d->list, d->keys[KEY_ACTIVITIES], row->activities);
    tm_derived_push(d, &span);
}

static void push_step(struct tm_derived *d, uint64_t ordinal)
{
    const struct tm_steps *steps = &d->trace->steps;
    const struct tm_step_mark mark = *(const struct tm_step_mark *)tm_rows_at(steps->marks, ordinal);
    char text[32];
    tm_strid name;

    (void)snprintf(text, sizeof(text), "step %" PRId64, mark.number);
    name = tm_names_put_string(d->names, text);
    if (steps->source == TM_STEPS_HOST) {
        const struct derived_row span = { .start_ps = mark.start_ps,
                                          .end_ps = mark.start_ps + mark.dur_ps,
                                          .name = name,
                                          .host = d->host.number,
                                          .device = TM_NONE,
                                          .of_step = (uint32_t)ordinal + 1,
                                          .sort = TM_DERIVED_STEP };

        put_step(d, &mark);
        tm_derived_push(d, &span);
    }
    for (uint32_t i = 0; i < d->trace->device_count; i++)
        if (d->trace->devices[i].activities)
            push_period(d, &mark, name, i, ordinal);
}

static void derived_steps(struct tm_derived *d)
{
    const struct tm_steps *steps = &d->trace->steps;

    for (uint64_t k = 0; k < steps->count && steps->source != TM_STEPS_SESSION && !tm_failed(d->run); k++)
        push_step(d, k);
}

/* Findings at the places that they refer to, and the facts of the run, from a finished summary (schemas/SUMMARY.md).  A
 * place is a device's id, a host's name or nothing: the hosts and devices that were observed are searched for it.  Its
 * time is clamped to what was recorded of the host.  No memory besides the rows. */

enum { DEVICES_TOLD = 64 };

/* --- arguments from the summary --- */

static void put_text(struct tm_derived *d, enum derived_key key, const struct tm_value *text)
{
    if (*tm_text(text))
        tm_put_text(&d->list, d->keys[key], tm_text(text), strlen(tm_text(text)));
}

static void put_texts(struct tm_derived *d, enum derived_key key, const struct tm_value *texts)
{
    if (!tm_length(texts))
        return;
    tm_put_array(&d->list, d->keys[key]);
    for (size_t i = 0; i < tm_length(texts); i++)
        tm_put_text(&d->list, 0, tm_text(tm_at(texts, i)), strlen(tm_text(tm_at(texts, i))));
    tm_put_close(&d->list);
}

static void put_number(struct tm_derived *d, enum derived_key key, const struct tm_value *number)
{
    if (tm_has(number))
        tm_put_double(&d->list, d->keys[key], tm_double(number));
}

/* --- findings --- */

/* Where a finding is: one of its places, or several of a device that overlap or touch. */
struct finding_place {
    const char *device;       /* its id, or a host's name */
    int64_t begin_ps, end_ps; /* as the summary has them */
};

/* A place among the recorded hosts. */
struct spot {
    struct derived_host host;
    uint32_t device; /* TM_NONE = of none */
    int64_t time_ps, end_ps;
};

/* The device of that id.
 * out: false: there is none */
static bool find_device(struct tm_derived *d, const char *id, struct spot *spot)
{
    for (uint64_t i = 0; i < tm_rows_count(d->devices); i++) {
        const struct derived_device *device = tm_rows_at(d->devices, i);

        if (strcmp(device->id, id) != 0)
            continue;
        spot->device = device->index;
        tm_rows_copy(d->hosts, device->host, &spot->host, 1);
        return true;
    }
    return false;
}

/* The host of that name; else the first one with recorded events. */
static struct derived_host find_host(struct tm_derived *d, const char *name)
{
    struct derived_host host = { .number = 0 };

    for (uint64_t i = 0; i < tm_rows_count(d->hosts); i++) {
        const struct derived_host *row = tm_rows_at(d->hosts, i);

        if (strcmp(row->name, name) == 0 && row->has_events)
            return *row;
        if (row->has_events && !host.has_events)
            host = *row;
    }
    return host;
}

static int64_t inside(const struct derived_host *host, int64_t ps)
{
    return ps < host->first_ps ? host->first_ps : ps > host->last_ps ? host->last_ps : ps;
}

static struct finding_place place_at(const struct tm_value *where, size_t i)
{
    const struct tm_value *const place = tm_at(where, i);
    const int64_t begin_ps = tm_int(tm_get(place, "begin_ps")), end_ps = tm_int(tm_get(place, "end_ps"));

    return (struct finding_place){ tm_text(tm_get(place, "device")), begin_ps, end_ps > begin_ps ? end_ps : begin_ps };
}

static bool meets(const struct finding_place *a, const struct finding_place *b)
{
    return a->begin_ps <= b->end_ps && b->begin_ps <= a->end_ps && strcmp(a->device, b->device) == 0;
}

/* Join a place with all that overlap or touch it, on its device: slices of one finding would be in several lanes.  There
 * are few of them (TM_WHERE_MOST).
 * out: false: it is part of one that came before */
static bool join_places(const struct tm_value *where, size_t first, struct finding_place *joined)
{
    bool grows = true;

    *joined = place_at(where, first);
    while (grows) {
        grows = false;
        for (size_t i = 0; i < tm_length(where); i++) {
            const struct finding_place other = place_at(where, i);

            if (!meets(joined, &other))
                continue;
            if (i < first)
                return false;
            grows |= other.begin_ps < joined->begin_ps || other.end_ps > joined->end_ps;
            joined->begin_ps = other.begin_ps < joined->begin_ps ? other.begin_ps : joined->begin_ps;
            joined->end_ps = other.end_ps > joined->end_ps ? other.end_ps : joined->end_ps;
        }
    }
    return true;
}

/* in: place  NULL = the finding has none: it is about the whole window */
static void find_spot(struct tm_derived *d, const struct finding_place *place, struct spot *spot)
{
    const char *const device = place ? place->device : "";

    spot->device = TM_NONE;
    if (!*device || !find_device(d, device, spot))
        spot->host = find_host(d, device);
    spot->time_ps = inside(&spot->host, place ? place->begin_ps : spot->host.window_ps);
    spot->end_ps = inside(&spot->host, place ? place->end_ps : spot->host.last_ps);
    if (spot->end_ps < spot->time_ps)
        spot->end_ps = spot->time_ps;
}

/* Put the arguments of its place. */
static void put_place(struct tm_derived *d, const struct finding_place *place, bool is_host)
{
    int64_t dur_ps;

    if (!place)
        return;
    if (*place->device)
        tm_put_text(&d->list, d->keys[is_host ? KEY_HOST : KEY_DEVICE], place->device, strlen(place->device));
    if (!__builtin_sub_overflow(place->end_ps, place->begin_ps, &dur_ps) && dur_ps > 0)
        tm_put_int(&d->list, d->keys[KEY_LENGTH_NS], tm_out_ns(dur_ps));
}

/* The arguments that people read come first. */
static void put_finding(struct tm_derived *d, const struct tm_value *finding)
{
    put_text(d, KEY_SEVERITY, tm_get(finding, "severity"));
    put_text(d, KEY_CAUSE, tm_get(finding, "cause"));
    put_texts(d, KEY_EVIDENCE, tm_get(finding, "evidence"));
    put_texts(d, KEY_FIX, tm_get(finding, "fix"));
    put_text(d, KEY_ID, tm_get(finding, "id"));
    put_number(d, KEY_VALUE, tm_get(finding, "value"));
    put_number(d, KEY_LIMIT, tm_get(finding, "limit"));
    put_text(d, KEY_UNIT, tm_get(finding, "unit"));
    tm_put_int(&d->list, d->keys[KEY_AT_STAKE_NS], tm_int(tm_get(finding, "at_stake_ps")) / 1000);
    put_number(d, KEY_SHARE_PCT, tm_get(finding, "share_pct"));
}

static enum tm_derived_severity severity_of(const char *severity)
{
    if (strcmp(severity, "critical") == 0)
        return TM_DERIVED_CRITICAL;
    return strcmp(severity, "warning") == 0 ? TM_DERIVED_WARNING : TM_DERIVED_INFO;
}

/* "critical: TITLE"; where several devices share the row, "critical, gpu:1: TITLE". */
static tm_strid name_of_finding(struct tm_derived *d, const struct tm_value *finding, const struct finding_place *place,
                                const struct spot *spot)
{
    const char *const title = tm_text(tm_get(finding, "title")), *const severity = tm_text(tm_get(finding, "severity"));
    const char *const id = spot->device != TM_NONE && spot->host.devices > 1 ? place->device : "";
    const char *const slash = strrchr(id, '/');
    char text[1024];

    if (!*title)
        return d->keys[NAME_UNTITLED];
    (void)snprintf(text, sizeof(text), "%.100s%s%.100s%s%s", severity, *severity && *id ? ", " : "",
                   slash ? slash + 1 : id, *severity || *id ? ": " : "", title);
    return tm_names_put_string(d->names, text);
}

static void push_finding(struct tm_derived *d, const struct tm_value *finding, const struct finding_place *place)
{
    struct derived_row row = { .row = severity_of(tm_text(tm_get(finding, "severity"))), .sort = TM_DERIVED_FINDING };
    struct spot spot;

    find_spot(d, place, &spot);
    row.name = name_of_finding(d, finding, place, &spot);
    if (!spot.host.has_events)
        return;
    row.start_ps = spot.time_ps;
    row.end_ps = spot.end_ps;
    row.host = spot.host.number;
    row.device = spot.device;
    (void)tm_derived_list(d);
    put_finding(d, finding);
    put_place(d, place, spot.device == TM_NONE);
    tm_derived_push(d, &row);
}

static void push_findings(struct tm_derived *d, const struct tm_value *findings)
{
    for (size_t i = 0; i < tm_length(findings); i++) {
        const struct tm_value *finding = tm_at(findings, i), *where = tm_get(finding, "where");

        if (!tm_length(where))
            push_finding(d, finding, NULL);
        for (size_t k = 0; k < tm_length(where); k++) {
            struct finding_place place;

            if (join_places(where, k, &place))
                push_finding(d, finding, &place);
        }
    }
}

/* --- facts --- */

static const struct tm_value *element_of_host(const struct tm_value *list, const char *name)
{
    for (size_t i = 0; i < tm_length(list); i++)
        if (strcmp(tm_text(tm_get(tm_at(list, i), "host")), name) == 0)
            return tm_at(list, i);
    return NULL;
}

/* Versions etc., by the names that the summary gives them. */
static void put_environment(struct tm_derived *d, const struct tm_value *environment)
{
    for (size_t i = 0; i < tm_length(environment); i++) {
        const struct tm_value *value = tm_value_at(environment, i);
        const char *name = tm_key_at(environment, i);
        const enum tm_type type = tm_type_of(value);
        tm_strid key;

        if ((type != TM_STRING && type != TM_INT) || strcmp(name, "host") == 0)
            continue;
        key = tm_names_put_string(d->names, name);
        if (type == TM_STRING)
            tm_put_text(&d->list, key, tm_text(value), strlen(tm_text(value)));
        else
            tm_put_int(&d->list, key, tm_int(value));
    }
}

static void put_devices(struct tm_derived *d, const struct tm_value *devices, const char *host)
{
    int told = 0;

    tm_put_array(&d->list, d->keys[KEY_DEVICES]);
    for (size_t i = 0; i < tm_length(devices) && told < DEVICES_TOLD; i++) {
        const struct tm_value *device = tm_at(devices, i);
        const char *model = tm_text(tm_get(device, "model"));
        char text[512];

        if (strcmp(tm_text(tm_get(device, "host")), host) != 0)
            continue;
        (void)snprintf(text, sizeof(text), "%s%s%s", tm_text(tm_get(device, "id")), *model ? ": " : "", model);
        tm_put_text(&d->list, 0, text, strlen(text));
        told++;
    }
    tm_put_close(&d->list);
}

static void put_kpis(struct tm_derived *d, const struct tm_value *kpis)
{
    tm_put_object(&d->list, d->keys[KEY_KPIS]);
    for (size_t i = 0; i < tm_length(kpis); i++) {
        const struct tm_value *kpi = tm_at(kpis, i), *value = tm_get(kpi, "value");
        char text[TM_FORMAT_BYTES];

        if (!tm_has(value))
            continue;
        tm_format_limit(text, tm_double(value), tm_text(tm_get(kpi, "unit")));
        tm_put_text(&d->list, tm_names_put_string(d->names, tm_text(tm_get(kpi, "title"))), text, strlen(text));
    }
    tm_put_close(&d->list);
}

/* in: name  of the row; every host has the verdict among its arguments */
static void push_facts(struct tm_derived *d, const struct tm_value *summary, const struct derived_host *host,
                       tm_strid name)
{
    static const char tool[] = "tracemill " TM_VERSION;
    struct derived_row row = { .start_ps = host->first_ps,
                               .end_ps = host->last_ps,
                               .name = name,
                               .host = host->number,
                               .device = TM_NONE,
                               .sort = TM_DERIVED_FACTS };
    struct tm_arguments_builder *list = tm_derived_list(d);

    put_text(d, KEY_VERDICT, tm_path(summary, "verdict.text"));
    put_kpis(d, tm_get(summary, "kpis"));
    put_devices(d, tm_get(summary, "devices"), host->name);
    put_text(d, KEY_RUN, tm_path(summary, "input.run"));
    tm_put_text(list, d->keys[KEY_HOST], host->name, strlen(host->name));
    tm_put_text(list, d->keys[KEY_TOOL], tool, sizeof(tool) - 1);
    tm_put_bool(list, d->keys[KEY_PARTIAL], tm_is(tm_path(summary, "input.partial")));
    put_text(d, KEY_PLATFORM, tm_path(summary, "environment.platform"));
    put_environment(d, element_of_host(tm_path(summary, "environment.hosts"), host->name));
    tm_derived_push(d, &row);
}

/* The verdict is about the run: only the row of the first host that has events is named after it. */
static void push_all_facts(struct tm_derived *d, const struct tm_value *summary)
{
    const char *const verdict = tm_text(tm_path(summary, "verdict.text"));
    tm_strid name = *verdict ? tm_names_put_string(d->names, verdict) : d->keys[NAME_FACTS];
    bool is_first = true;

    for (uint64_t i = 0; i < tm_rows_count(d->hosts); i++) {
        struct derived_host host;

        tm_rows_copy(d->hosts, i, &host, 1);
        if (!host.has_events)
            continue;
        push_facts(d, summary, &host, name);
        ((struct derived_host *)tm_rows_change(d->hosts, i))->has_verdict = is_first;
        is_first = false;
        name = d->keys[NAME_FACTS];
    }
}

bool tm_derived_has_verdict(const struct tm_derived *d, uint32_t number)
{
    for (uint64_t i = 0; i < tm_rows_count(d->hosts); i++) {
        const struct derived_host *const host = tm_rows_at(d->hosts, i);

        if (host->number == number)
            return host->has_verdict;
    }
    return false;
}

/* A summary with pseudonyms refers to hosts and devices by those. */
static void redact_places(struct tm_derived *d)
{
    struct tm_redactor *const redactor = d->run->redactor;

    for (uint64_t i = 0; i < tm_rows_count(d->hosts); i++) {
        struct derived_host *host = tm_rows_change(d->hosts, i);

        (void)tm_redact_host(redactor, host->name, sizeof(host->name), host->name);
    }
    for (uint64_t i = 0; i < tm_rows_count(d->devices); i++) {
        struct derived_device *device = tm_rows_change(d->devices, i);

        (void)tm_redact_into(redactor, device->id, sizeof(device->id), device->id);
    }
}

tm_status tm_derived_take_summary(struct tm_derived *d, const struct tm_value *summary)
{
    if (d->run->redactor)
        redact_places(d);
    push_all_facts(d, summary);
    push_findings(d, tm_get(summary, "findings"));
    return d->run->error.status;
}
