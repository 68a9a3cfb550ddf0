/* SPDX-License-Identifier: Apache-2.0 */
/* What was worked out, as rows in the order of time.  Rows of all hosts go through one sort; their arguments lie in an
 * array of bytes in the order in which they came.  Both spill: an eighth and a sixteenth of the account `model`.
 * Beside that, a fixed struct per device of the present host, and some hundred bytes for each host and device, which
 * spill too. */
#include "stages/output/derived/derived.h"

#include <stdio.h>
#include <string.h>

#include "stages/output/derived/derived_private.h"

enum { SORTER_PART = 8, BYTES_PART = 16, PLACES_PAGE = 4 << 10 };

static const char *const key_text[DERIVED_KEYS] = {
    [KEY_NUMBER] = "number", [KEY_CHOSEN] = "chosen", [KEY_WARM_UP] = "warm_up", [KEY_INCOMPLETE] = "incomplete",
    [KEY_COMPILES] = "compiles", [KEY_ACTIVITIES] = "activities",
    [KEY_LENGTH_NS] = "length_ns", [KEY_CAUSE] = "cause", [KEY_BEFORE] = "before", [KEY_AFTER] = "after",
    [KEY_HOST_EVENT] = "host_event", [KEY_STEP] = "step",
    [KEY_ID] = "id", [KEY_SEVERITY] = "severity", [KEY_VALUE] = "value", [KEY_UNIT] = "unit", [KEY_LIMIT] = "limit",
    [KEY_AT_STAKE_NS] = "at_stake_ns", [KEY_SHARE_PCT] = "share_pct", [KEY_DEVICE] = "device",
    [KEY_EVIDENCE] = "evidence", [KEY_FIX] = "fix",
    [KEY_RUN] = "run", [KEY_HOST] = "host", [KEY_TOOL] = "tool", [KEY_PLATFORM] = "platform", [KEY_VERDICT] = "verdict",
    [KEY_DEVICES] = "devices", [KEY_KPIS] = "key_figures", [KEY_PARTIAL] = "partial",
    [NAME_QUEUE] = "queue depth", [NAME_BUSY] = "busy share", [NAME_FACTS] = "run", [NAME_UNTITLED] = "finding",
};

/* --- rows --- */

static int by_host_and_time(const void *a, const void *b)
{
    const struct derived_row *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->begin_ps != y->begin_ps)
        return x->begin_ps < y->begin_ps ? -1 : 1;
    if (x->end_ps != y->end_ps)
        return x->end_ps > y->end_ps ? -1 : 1;
    if (x->sort != y->sort)
        return x->sort < y->sort ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

struct tm_arguments_builder *derived_list(struct tm_derived *d)
{
    tm_arguments_begin(&d->list, d->names, d->buffer, sizeof(d->buffer));
    return &d->list;
}

tm_status derived_push(struct tm_derived *d, const struct derived_row *row)
{
    const struct tm_arguments list = tm_arguments_end(&d->list);
    struct derived_row full = *row;
    tm_status st = d->list.status;

    full.arguments_at = tm_rows_count(d->bytes);
    full.arguments_length = (uint32_t)list.length;
    if (st == TM_OK)
        st = tm_rows_append_many(d->bytes, list.bytes, list.length);
    return st == TM_OK ? tm_sorter_push(d->sorter, &full) : st;
}

/* --- made and released --- */

static tm_status make(struct tm_derived *d)
{
    struct tm_run *run = d->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_MODEL);
    tm_status st = TM_OK;

    d->sorter = tm_sorter_new(run, TM_ACCOUNT_MODEL, sizeof(struct derived_row), share / SORTER_PART, by_host_and_time);
    d->bytes = d->sorter ? tm_rows_new(run, TM_ACCOUNT_MODEL, 1, share / BYTES_PART) : NULL;
    d->hosts = d->bytes ? tm_rows_new_paged(run, TM_ACCOUNT_MODEL, sizeof(struct derived_host), 0, PLACES_PAGE) : NULL;
    if (!d->hosts)
        return run->error.status;
    d->devices = tm_rows_new_paged(run, TM_ACCOUNT_MODEL, sizeof(struct derived_device), 0, PLACES_PAGE);
    if (!d->devices)
        return run->error.status;
    for (int i = 0; i < DERIVED_KEYS && st == TM_OK; i++)
        st = tm_names_put_string(d->names, key_text[i], &d->keys[i]);
    return st;
}

struct tm_derived *tm_derived_new(struct tm_run *run, struct tm_names *names)
{
    struct tm_derived *d = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*d), &run->error);

    if (!d)
        return NULL;
    d->run = run;
    d->names = names;
    if (make(d) == TM_OK)
        return d;
    tm_derived_free(d);
    return NULL;
}

void tm_derived_free(struct tm_derived *d)
{
    if (!d)
        return;
    derived_free_counters(d);
    tm_sorter_free(d->sorter);
    tm_rows_free(d->bytes);
    tm_rows_free(d->hosts);
    tm_rows_free(d->devices);
    tm_give(&d->run->budget, TM_ACCOUNT_MODEL, d, sizeof(*d));
}

/* --- a host is observed --- */

/* Where the devices' window begins; INT64_MAX where none has one. */
static int64_t window_begin(const struct tm_trace *trace)
{
    int64_t begin_ps = INT64_MAX;

    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        if (device->activities && device->chosen_begin_ps < device->chosen_end_ps && device->chosen_begin_ps < begin_ps)
            begin_ps = device->chosen_begin_ps;
    }
    return begin_ps;
}

static tm_status begin_host(void *to, const struct tm_trace *trace)
{
    struct tm_derived *d = to;
    tm_status st = TM_OK;

    d->trace = trace;
    d->host = (struct derived_host){ .number = trace->host, .window_ps = window_begin(trace) };
    (void)snprintf(d->host.name, sizeof(d->host.name), "%s", trace->host_name);
    for (uint32_t i = 0; i < trace->device_count && st == TM_OK; i++) {
        struct derived_device device = { .host = (uint32_t)tm_rows_count(d->hosts), .index = i };

        memcpy(device.id, trace->devices[i].id, sizeof(device.id));
        st = tm_rows_append(d->devices, &device);
    }
    return st == TM_OK ? derived_begin_counters(d) : st;
}

static tm_status take(void *to, const struct tm_event *event)
{
    struct tm_derived *d = to;
    const int64_t start_ps = event->record.start_ps, end_ps = start_ps + event->record.dur_ps;

    if (!d->host.has_events)
        d->host.first_ps = d->host.last_ps = start_ps;
    d->host.has_events = true;
    if (end_ps > d->host.last_ps)
        d->host.last_ps = end_ps;
    return derived_count(d, event);
}

static tm_status end_host(void *to)
{
    struct tm_derived *d = to;
    tm_status st = derived_steps(d);

    if (st == TM_OK)
        st = derived_end_counters(d);
    derived_free_counters(d);
    if (d->host.window_ps == INT64_MAX)
        d->host.window_ps = d->host.first_ps;
    d->trace = NULL;
    return st == TM_OK ? tm_rows_append(d->hosts, &d->host) : st;
}

const struct tm_observer_type tm_derived_observer = {
    .begin_host = begin_host,
    .take = take,
    .take_gap = derived_gap,
    .end_host = end_host,
};

/* --- giving out --- */

static tm_status step(struct tm_derived *d)
{
    const void *row;
    const tm_status st = tm_sorter_next(d->sorter, &row);

    d->ahead = st == TM_OK ? row : NULL;
    return st;
}

tm_status tm_derived_begin(struct tm_derived *d, uint32_t host)
{
    const bool is_before = d->is_finished && host > d->asked_host;
    tm_status st = TM_OK;

    if (!d->is_finished)
        st = tm_sorter_finish(d->sorter);
    else if (!is_before)
        st = tm_sorter_rewind(d->sorter);
    d->is_finished = true;
    d->asked_host = host;
    if (st == TM_OK && (!is_before || d->has_last))
        st = step(d);
    d->has_last = false;
    while (st == TM_OK && d->ahead && d->ahead->host < host)
        st = step(d);
    return st;
}

tm_status tm_derived_next(struct tm_derived *d, const struct tm_derived_row **row)
{
    tm_status st = d->has_last ? step(d) : TM_OK;
    const struct derived_row *next = d->ahead;

    *row = NULL;
    d->has_last = false;
    if (st != TM_OK || !next || next->host != d->asked_host)
        return st;
    d->has_last = true;
    d->given = (struct tm_derived_row){ .begin_ps = next->begin_ps, .end_ps = next->end_ps, .value = next->value,
                                        .name = next->name, .host = next->host, .device = next->device,
                                        .sort = next->sort,
                                        .arguments = { d->buffer, next->arguments_length } };
    st = tm_rows_copy(d->bytes, next->arguments_at, d->buffer, next->arguments_length);
    *row = st == TM_OK ? &d->given : NULL;
    return st;
}
