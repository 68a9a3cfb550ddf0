/* SPDX-License-Identifier: Apache-2.0 */
/* The section fallback. */
#include <string.h>

#include "stages/diagnose/host/fallback_private.h"
#include "stages/diagnose/host/host_private.h"
#include "stages/diagnose/name_cell.h"
#include "stages/diagnose/top_rows.h"

static const char is_device[] = "the host is the device";

static int longest_first(const void *a, const void *b)
{
    const struct fallback_row *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static tm_status add_row(struct fallback *f, const struct fallback_row *row, const struct tm_value *hosts,
                         struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);
    tm_status st = TM_OK;

    if (row->name)
        st = tm_add_name(to, "name", f->names, row->name);
    else
        tm_add_string(to, "name", tm_callback_kind_name[row->kind]);
    if (row->sort == FALLBACK_CALLBACK)
        tm_add_string(to, "kind", tm_callback_kind_name[row->kind]);
    if (st == TM_OK)
        st = tm_add_known_name(to, "op", f->names, row->op, "the profile does not tell");
    tm_add_uint(to, "count", row->count);
    tm_add_int(to, "total_ps", row->total_ps);
    tm_add_string(to, "host", tm_text(tm_at(hosts, row->longest.host)));
    tm_add_int(to, "begin_ps", row->longest.begin_ps);
    tm_add_int(to, "longest_ps", row->longest.dur_ps);
    return st;
}

static tm_status choose_rows(struct fallback *f, enum fallback_sort sort, struct tm_top_rows *top, uint64_t *distinct)
{
    const void *next = NULL;
    tm_status st = tm_groups_finish(f->rows);

    while (st == TM_OK && (st = tm_groups_next(f->rows, &next)) == TM_OK && next) {
        const struct fallback_row *row = next;

        if (row->sort != sort)
            continue;
        ++*distinct;
        st = tm_top_rows_add(top, row);
    }
    if (st == TM_OK)
        tm_top_rows_sort(top);
    return st;
}

/* in: summary  with its hosts; section is in it */
static tm_status add_sort(struct fallback *f, enum fallback_sort sort, const char *key, const struct tm_value *summary,
                          struct tm_value *section)
{
    struct tm_value *to = tm_add_object(section, key), *list, *rest;
    struct tm_top_rows *top =
        tm_listed_rows_new(f->run, sizeof(struct fallback_row), f->settings->table_rows, longest_first);
    struct fallback_sum left = f->sums[sort];
    uint64_t distinct = 0;
    tm_status st = top ? choose_rows(f, sort, top, &distinct) : f->run->error.status;

    tm_add_uint(to, "count", left.count);
    tm_add_int(to, "total_ps", left.total_ps);
    list = tm_add_array(to, "rows");
    for (uint64_t i = 0; st == TM_OK && i < tm_top_rows_count(top); i++) {
        const struct fallback_row *row = tm_top_rows_at(top, i);

        left.count -= row->count < left.count ? row->count : left.count;
        left.total_ps -= row->total_ps < left.total_ps ? row->total_ps : left.total_ps;
        st = add_row(f, row, tm_path(summary, "input.hosts"), list);
    }
    rest = tm_add_object(to, "rest");
    tm_add_uint(rest, "rows", st == TM_OK ? distinct - tm_top_rows_count(top) : 0);
    tm_add_uint(rest, "count", left.count);
    tm_add_int(rest, "total_ps", left.total_ps);
    tm_top_rows_free(top);
    return st;
}

/* What the host did in a gap, where that gap is among the longest ones of the run. */
static const char *host_event_of(const struct tm_value *summary, const struct tm_stretch *trip)
{
    const struct tm_value *gaps = tm_path(summary, "gaps.longest");

    for (size_t i = 0; i < tm_length(gaps); i++) {
        const struct tm_value *gap = tm_at(gaps, i);

        if (tm_int(tm_get(gap, "begin_ps")) == trip->begin_ps && tm_int(tm_get(gap, "dur_ps")) == trip->dur_ps &&
            strcmp(tm_text(tm_get(gap, "device")), trip->device) == 0)
            return tm_text(tm_get(gap, "host_event"));
    }
    return "";
}

static void add_trip(const struct tm_value *summary, const struct tm_stretch *trip, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);
    const char *event = host_event_of(summary, trip);

    tm_add_string(to, "device", trip->device);
    tm_add_int(to, "begin_ps", trip->begin_ps);
    tm_add_int(to, "dur_ps", trip->dur_ps);
    if (trip->bytes)
        tm_add_uint(to, "bytes", trip->bytes);
    else
        tm_add_null(to, "bytes", "the profile does not tell the sizes of the copies");
    if (*event)
        tm_add_string(to, "host_event", event);
    else
        tm_add_null(to, "host_event", "only of the longest gaps of the run, where the host recorded something");
}

static void add_trips(const struct fallback *f, const struct tm_value *summary, struct tm_value *section)
{
    struct tm_value *trips, *longest;

    if (!f->has_steps) {
        tm_add_null(section, "round_trips", "no steps are marked");
        return;
    }
    trips = tm_add_object(section, "round_trips");
    tm_add_uint(trips, "count", f->trip_count);
    tm_add_int(trips, "host_ps", f->trip_ps);
    if (f->trips_of_unknown_bytes < f->trip_count || !f->trip_count)
        tm_add_uint(trips, "bytes", f->trip_bytes);
    else
        tm_add_null(trips, "bytes", "the profile does not tell the sizes of the copies");
    longest = tm_add_array(trips, "longest");
    for (uint32_t i = 0; i < f->trips_listed; i++)
        add_trip(summary, &f->trips[i], longest);
}

tm_status tm_fallback_report(struct tm_stage *s, struct tm_value *summary)
{
    struct fallback *f = s->state;
    struct tm_value *section;
    tm_status st;

    if (!f->has_accelerator && !f->has_cpu_device) {
        tm_add_null(summary, "fallback", "no device activity was recorded");
        return TM_OK;
    }
    section = tm_add_object(summary, "fallback");
    st = add_sort(f, FALLBACK_CALLBACK, "callbacks", summary, section);
    if (!f->has_accelerator) {
        tm_add_null(section, "cpu_ops", is_device);
        tm_add_null(section, "host_ops", is_device);
        tm_add_null(section, "round_trips", is_device);
        return st;
    }
    if (st == TM_OK)
        st = add_sort(f, FALLBACK_CPU_OP, "cpu_ops", summary, section);
    if (st == TM_OK)
        st = add_sort(f, FALLBACK_HOST_OP, "host_ops", summary, section);
    add_trips(f, summary, section);
    return st;
}
