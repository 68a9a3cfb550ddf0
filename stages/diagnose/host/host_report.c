/* SPDX-License-Identifier: Apache-2.0 */
/* The section host, but for the overhead, which device_time has put there. */
#include <string.h>

#include "stages/diagnose/host/host_private.h"
#include "stages/diagnose/name_cell.h"
#include "stages/diagnose/top_rows.h"

static const char no_threads[] = "no host events were recorded";
static const char no_launch[] = "no launch of the devices' work was recorded";

/* Why there is nothing to tell of launches; NULL = there is. */
static const char *why_no_launches(const struct host *h)
{
    if (!h->has_accelerator)
        return h->has_cpu_device ? "the host is the device" : "no device activity was recorded";
    return h->launch_count ? NULL : no_launch;
}

/* --- launches --- */

/* in:     steps  of the run; its hosts run each of them together */
static void add_launches(const struct host *h, struct tm_value *section, int64_t steps)
{
    struct tm_value *launches = tm_add_object(section, "launches");

    tm_add_uint(launches, "count", h->launch_count);
    if (h->has_steps && steps > 0)
        tm_add_double(launches, "per_step", (double)h->launch_count / (double)steps);
    else
        tm_add_null(launches, "per_step", "no steps are marked");
    tm_add_uint(launches, "unknown_count", h->unlaunched);
}

/* The place of the smallest value that at least so many percent of the values do not pass, from 0. */
static uint64_t rank_of(uint64_t count, unsigned percent)
{
    return (uint64_t)(((unsigned __int128)count * percent + 99) / 100) - 1;
}

struct delays {
    int64_t p50_ps, p95_ps, max_ps;
};

/* Delays come in their order. */
static tm_status find_delays(struct host *h, uint64_t count, struct delays *found)
{
    const uint64_t p50 = rank_of(count, 50), p95 = rank_of(count, 95);
    const struct tm_length *delay = NULL;
    uint64_t seen = 0;
    tm_status st = tm_lengths_finish(h->delays);

    while (st == TM_OK && (st = tm_lengths_next(h->delays, &delay)) == TM_OK && delay) {
        const uint64_t until = tm_sum_counts(seen, delay->count);

        found->max_ps = (int64_t)delay->value;
        if (p50 >= seen && p50 < until)
            found->p50_ps = found->max_ps;
        if (p95 >= seen && p95 < until)
            found->p95_ps = found->max_ps;
        seen = until;
    }
    return st;
}

static tm_status add_delay(struct host *h, struct tm_value *section)
{
    const uint64_t count = h->launch_count > h->negative_delays ? h->launch_count - h->negative_delays : 0;
    struct tm_value *delay = tm_add_object(section, "launch_delay");
    struct delays found = { .p50_ps = 0 };
    tm_status st;

    tm_add_uint(delay, "count", count);
    if (!count) {
        static const char *const keys[] = { "p50_ps", "p95_ps", "max_ps" };

        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            tm_add_null(delay, keys[i], "all work begins before its launch: the clocks differ");
        tm_add_uint(delay, "negative", h->negative_delays);
        return TM_OK;
    }
    st = find_delays(h, count, &found);
    tm_add_int(delay, "p50_ps", found.p50_ps);
    tm_add_int(delay, "p95_ps", found.p95_ps);
    tm_add_int(delay, "max_ps", found.max_ps);
    tm_add_uint(delay, "negative", h->negative_delays);
    return st;
}

static void add_share(struct tm_value *to, int64_t part_ps, int64_t whole_ps)
{
    if (whole_ps > 0)
        tm_add_double(to, "share_pct", 100.0 * (double)part_ps / (double)whole_ps);
    else
        tm_add_null(to, "share_pct", "there is no window");
}

static void add_queue_empty(const struct host *h, const struct tm_value *summary, struct tm_value *section)
{
    struct tm_value *empty = tm_add_object(section, "queue_empty"), *longest;

    tm_add_uint(empty, "count", h->empty_count);
    tm_add_int(empty, "total_ps", h->empty_ps);
    add_share(empty, h->empty_ps, tm_int(tm_path(summary, "window.total_ps")));
    longest = tm_add_array(empty, "longest");
    for (uint32_t i = 0; i < h->empty_listed; i++) {
        struct tm_value *row = tm_add_object(longest, NULL);

        tm_add_string(row, "device", h->empty[i].device);
        tm_add_int(row, "begin_ps", h->empty[i].begin_ps);
        tm_add_int(row, "dur_ps", h->empty[i].dur_ps);
    }
}

static tm_status add_device_side(struct host *h, const struct tm_value *summary, struct tm_value *section)
{
    const char *why = why_no_launches(h);
    tm_status st;

    if (why) {
        tm_add_null(section, "launches", why);
        tm_add_null(section, "launch_delay", why);
        tm_add_null(section, "queue_empty", why);
        return TM_OK;
    }
    add_launches(h, section, tm_int(tm_path(summary, "steps.chosen")));
    st = add_delay(h, section);
    add_queue_empty(h, summary, section);
    return st;
}

/* --- waits --- */

static int longest_sync_first(const void *a, const void *b)
{
    const struct sync_row *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static const char *host_name(struct host *h, uint32_t host)
{
    const struct host_row *row = host < tm_rows_count(h->hosts) ? tm_rows_at(h->hosts, host) : NULL;

    return row ? row->name : "";
}

static tm_status add_sync(struct host *h, const struct sync_row *row, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);
    tm_status st = tm_add_name(to, "name", h->names, row->name);

    if (st == TM_OK)
        st = tm_add_known_name(to, "caller", h->names, row->caller, "no Python function was recorded around it");
    if (st == TM_OK)
        st = tm_add_known_name(to, "annotation", h->names, row->annotation, "it lies in no annotation");
    tm_add_uint(to, "count", row->count);
    tm_add_int(to, "total_ps", row->total_ps);
    tm_add_string(to, "host", host_name(h, row->longest.host));
    tm_add_int(to, "longest_begin_ps", row->longest.begin_ps);
    tm_add_int(to, "longest_ps", row->longest.dur_ps);
    return st;
}

static tm_status add_syncs(struct host *h, struct tm_value *section)
{
    struct tm_value *sync = tm_add_object(section, "sync"), *list, *rest;
    struct tm_top_rows *top =
        tm_listed_rows_new(h->run, sizeof(struct sync_row), h->settings->table_rows, longest_sync_first);
    const void *row = NULL;
    uint64_t distinct = 0, listed = 0;
    int64_t listed_ps = 0;
    tm_status st = top ? tm_groups_finish(h->syncs) : h->run->error.status;

    tm_add_uint(sync, "count", h->sync_count);
    tm_add_int(sync, "total_ps", h->sync_ps);
    list = tm_add_array(sync, "rows");
    for (; st == TM_OK && (st = tm_groups_next(h->syncs, &row)) == TM_OK && row; distinct++)
        st = tm_top_rows_add(top, row);
    if (st == TM_OK)
        tm_top_rows_sort(top);
    for (uint64_t i = 0; st == TM_OK && i < tm_top_rows_count(top); i++) {
        const struct sync_row *at = tm_top_rows_at(top, i);

        listed = tm_sum_counts(listed, at->count);
        listed_ps = tm_sum_times(listed_ps, at->total_ps);
        st = add_sync(h, at, list);
    }
    rest = tm_add_object(sync, "rest");
    tm_add_uint(rest, "rows", st == TM_OK ? distinct - tm_top_rows_count(top) : 0);
    tm_add_uint(rest, "count", h->sync_count > listed ? h->sync_count - listed : 0);
    tm_add_int(rest, "total_ps", h->sync_ps > listed_ps ? h->sync_ps - listed_ps : 0);
    tm_top_rows_free(top);
    return st;
}

/* --- functions and annotations --- */

static int longest_call_first(const void *a, const void *b)
{
    const struct call_row *x = a, *y = b;

    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

/* All calls of a kind, and what the listed ones leave of them. */
struct call_sums {
    uint64_t rows, count;
    int64_t self_ps;
};

static tm_status choose_calls(struct host *h, enum host_call_kind kind, struct tm_top_rows *top,
                              struct call_sums *sums)
{
    const void *next = NULL;
    tm_status st = tm_groups_finish(h->calls);

    while (st == TM_OK && (st = tm_groups_next(h->calls, &next)) == TM_OK && next) {
        const struct call_row *row = next;

        if (row->kind != kind)
            continue;
        sums->rows++;
        sums->count = tm_sum_counts(sums->count, row->count);
        sums->self_ps = tm_sum_times(sums->self_ps, row->self_ps);
        st = tm_top_rows_add(top, row);
    }
    if (st == TM_OK)
        tm_top_rows_sort(top);
    return st;
}

static tm_status add_call(struct host *h, const struct call_row *row, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);
    const tm_status st = tm_add_name(to, "name", h->names, row->name);

    tm_add_uint(to, "count", row->count);
    tm_add_int(to, "self_ps", row->self_ps);
    tm_add_int(to, "total_ps", row->total_ps);
    return st;
}

static tm_status add_calls(struct host *h, enum host_call_kind kind, const char *key, const char *rest_key,
                           struct tm_value *section)
{
    struct tm_value *list = tm_add_array(section, key), *rest = tm_add_object(section, rest_key);
    struct tm_top_rows *top =
        tm_listed_rows_new(h->run, sizeof(struct call_row), h->settings->table_rows, longest_call_first);
    struct call_sums sums = { .rows = 0 };
    tm_status st = top ? choose_calls(h, kind, top, &sums) : h->run->error.status;

    for (uint64_t i = 0; st == TM_OK && i < tm_top_rows_count(top); i++) {
        const struct call_row *row = tm_top_rows_at(top, i);

        sums.rows--;
        sums.count -= row->count < sums.count ? row->count : sums.count;
        sums.self_ps -= row->self_ps < sums.self_ps ? row->self_ps : sums.self_ps;
        st = add_call(h, row, list);
    }
    tm_add_uint(rest, "rows", sums.rows);
    tm_add_uint(rest, "count", sums.count);
    tm_add_int(rest, "self_ps", sums.self_ps);
    tm_top_rows_free(top);
    return st;
}

/* --- threads --- */

static int busiest_first(const void *a, const void *b)
{
    const struct thread_row *x = a, *y = b;

    if (x->busy_ps != y->busy_ps)
        return x->busy_ps > y->busy_ps ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static tm_status add_thread(struct host *h, const struct thread_row *row, struct tm_value *list)
{
    const struct host_row *found = row->host < tm_rows_count(h->hosts) ? tm_rows_at(h->hosts, row->host) : NULL;
    struct tm_value *to = tm_add_object(list, NULL);
    tm_status st;

    if (!found)
        return h->run->error.status;
    tm_add_string(to, "host", found->name);
    st = tm_add_name(to, "name", h->names, row->name);
    tm_add_uint(to, "events", row->events);
    tm_add_int(to, "busy_ps", row->busy_ps);
    add_share(to, row->busy_ps, found->end_ps - found->begin_ps);
    tm_add_int(to, "first_ps", row->first_ps);
    tm_add_int(to, "last_ps", row->last_ps);
    tm_add_uint(to, "ops", row->ops);
    tm_add_int(to, "op_ps", row->op_ps);
    tm_add_bool(to, "is_main", row->is_main);
    return st;
}

static tm_status choose_threads(struct host *h, struct tm_top_rows *top, struct thread_row *sums)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < tm_rows_count(h->threads) && st == TM_OK; i++) {
        const struct thread_row *at = tm_rows_at(h->threads, i);
        struct thread_row row;

        if (!at)
            return h->run->error.status;
        row = *at;
        row.number = i;
        sums->events = tm_sum_counts(sums->events, row.events);
        sums->busy_ps = tm_sum_times(sums->busy_ps, row.busy_ps);
        st = tm_top_rows_add(top, &row);
    }
    if (st == TM_OK)
        tm_top_rows_sort(top);
    return st;
}

static tm_status add_threads(struct host *h, struct tm_value *section)
{
    struct tm_value *list = tm_add_array(section, "threads"), *rest = tm_add_object(section, "threads_rest");
    struct tm_top_rows *top =
        tm_listed_rows_new(h->run, sizeof(struct thread_row), h->settings->table_rows, busiest_first);
    struct thread_row sums = { .events = 0 };
    tm_status st = top ? choose_threads(h, top, &sums) : h->run->error.status;

    for (uint64_t i = 0; st == TM_OK && i < tm_top_rows_count(top); i++) {
        const struct thread_row *row = tm_top_rows_at(top, i);

        sums.events -= row->events < sums.events ? row->events : sums.events;
        sums.busy_ps -= row->busy_ps < sums.busy_ps ? row->busy_ps : sums.busy_ps;
        st = add_thread(h, row, list);
    }
    tm_add_uint(rest, "rows", st == TM_OK ? tm_rows_count(h->threads) - tm_top_rows_count(top) : 0);
    tm_add_uint(rest, "events", sums.events);
    tm_add_int(rest, "busy_ps", sums.busy_ps);
    tm_top_rows_free(top);
    return st;
}

/* --- the section --- */

static tm_status add_windows(struct host *h, struct tm_value *section)
{
    struct tm_value *list = tm_add_array(section, "windows");

    for (uint64_t i = 0; i < tm_rows_count(h->hosts); i++) {
        const struct host_row *row = tm_rows_at(h->hosts, i);
        struct tm_value *to;

        if (!row)
            return h->run->error.status;
        to = tm_add_object(list, NULL);
        tm_add_string(to, "host", row->name);
        tm_add_string(to, "basis", tm_host_basis_name[row->basis]);
        tm_add_int(to, "begin_ps", row->begin_ps);
        tm_add_int(to, "end_ps", row->end_ps);
    }
    return TM_OK;
}

tm_status tm_host_report(struct tm_stage *s, struct tm_value *summary)
{
    struct host *h = s->state;
    struct tm_value *section = tm_member(summary, "host");
    tm_status st;

    if (!section)
        section = tm_add_object(summary, "host");
    st = add_device_side(h, summary, section);
    if (st == TM_OK)
        st = add_windows(h, section);
    if (st == TM_OK && tm_rows_count(h->threads))
        st = add_syncs(h, section);
    else
        tm_add_null(section, "sync", no_threads);
    if (st == TM_OK)
        st = add_calls(h, HOST_PYTHON, "python", "python_rest", section);
    if (st == TM_OK)
        st = add_calls(h, HOST_ANNOTATION, "annotations", "annotations_rest", section);
    return st == TM_OK ? add_threads(h, section) : st;
}
