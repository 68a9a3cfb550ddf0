/* SPDX-License-Identifier: Apache-2.0 */
/* The section memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/figures/memory.h"

/* An allocator's place among the fullest. */
struct rank {
    double peak_pct; /* -1 = not known */
    uint64_t row;
};

/* Limits on what is shown of each allocator. */
struct room {
    uint64_t points, holders;
};

static double peak_pct(const struct memory_facts *f)
{
    if (!f->has_peak || !f->has_capacity || f->capacity <= 0)
        return -1;
    return 100.0 * (double)f->peak / (double)f->capacity;
}

static int fullest_first(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    if (x->peak_pct != y->peak_pct)
        return x->peak_pct > y->peak_pct ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int by_row(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* --- one allocator --- */

static void add_text(struct memory *m, struct tm_value *to, const char *key, tm_strid name)
{
    const char *text;
    size_t length;

    if (!name) {
        tm_add_null(to, key, "not recorded");
        return;
    }
    text = tm_names_text(m->names, name, MEMORY_TEXT_BYTES, &length);
    if (length == 6 && !memcmp(text, "(null)", 6)) /* what some writers print for an unknown name */
        tm_add_null(to, key, "not recorded");
    else
        tm_add_text(to, key, text, length);
}

static void add_name(struct memory *m, const struct memory_facts *f, struct tm_value *to)
{
    char number[24];
    const char *text;
    size_t length;

    if (f->has_name) {
        text = tm_names_text(m->names, f->name, MEMORY_TEXT_BYTES, &length);
        tm_add_text(to, "name", text, length);
        return;
    }
    (void)snprintf(number, sizeof(number), "%lld", (long long)f->index);
    tm_add_string(to, "name", f->has_index ? number : "unnamed");
}

static void add_int_or(struct tm_value *to, const char *key, bool has, int64_t value, const char *why)
{
    if (has)
        tm_add_int(to, key, value);
    else
        tm_add_null(to, key, why);
}

static void add_point(struct tm_value *list, const struct memory_point *point)
{
    struct tm_value *to = tm_add_array(list, NULL);

    tm_add_int(to, NULL, point->at_ps);
    tm_add_int(to, NULL, point->in_use);
    if (point->available >= 0)
        tm_add_int(to, NULL, point->available);
    else
        tm_add_null(to, NULL, NULL);
}

/* The highest moment of each of `most` equal stretches, the later one if they are equal. */
static void add_timeline(struct memory *m, const struct memory_facts *f, uint64_t most, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "timeline");
    struct memory_point highest = { .at_ps = 0 };
    int64_t first_ps = 0, stretch_ps = 0;

    for (uint64_t i = 0; i < f->point_count; i++) {
        const struct memory_point point = *(const struct memory_point *)tm_rows_at(m->points, f->first_point + i);

        if (!i) {
            const struct memory_point *last = tm_rows_at(m->points, f->first_point + f->point_count - 1);

            first_ps = point.at_ps;
            if (f->point_count > most)
                stretch_ps = (last->at_ps - first_ps) / (int64_t)most + 1;
        } else if (stretch_ps && (point.at_ps - first_ps) / stretch_ps == (highest.at_ps - first_ps) / stretch_ps) {
            if (point.in_use >= highest.in_use)
                highest = point;
            continue;
        } else {
            add_point(list, &highest);
        }
        highest = point;
    }
    if (f->point_count)
        add_point(list, &highest);
}

static void add_holders(struct memory *m, const struct memory_facts *f, uint64_t most, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "holders");

    for (uint32_t i = 0; i < f->holder_count && i < most; i++) {
        const struct memory_holder *holder = &f->holders[i];
        struct tm_value *row = tm_add_object(list, NULL);
        char address[24];

        add_text(m, row, "op", holder->op);
        add_text(m, row, "shape", holder->shape);
        tm_add_int(row, "bytes", holder->bytes);
        (void)snprintf(address, sizeof(address), "0x%llx", (unsigned long long)holder->address);
        tm_add_string(row, "address", address);
    }
}

static void add_spikes(const struct memory_facts *f, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "spikes");

    for (uint32_t i = 0; i < f->spikes_kept; i++) {
        struct tm_value *row = tm_add_object(list, NULL);

        tm_add_int(row, "begin_ps", f->spikes[i].start_ps);
        tm_add_int(row, "rise_bytes", f->spikes[i].rise);
    }
    tm_add_uint(to, "spike_count", f->spike_count);
}

static void add_levels(const struct memory_facts *f, struct tm_value *to)
{
    static const char *const no_use = "the events do not record the bytes in use";
    static const char *const no_capacity = "the events do not record the free bytes";
    const double pct = peak_pct(f);

    add_int_or(to, "capacity_bytes", f->has_peak && f->has_capacity, f->capacity, no_capacity);
    add_int_or(to, "peak_bytes", f->has_peak, f->peak, no_use);
    add_int_or(to, "peak_at_ps", f->has_peak, f->peak_at_ps, no_use);
    add_int_or(to, "lifetime_peak_bytes", f->has_lifetime_peak, f->lifetime_peak,
               "the events do not record the peak since the start");
    if (f->has_peak && f->has_fragmentation)
        tm_add_double(to, "fragmentation_pct", 100 * f->fragmentation);
    else
        tm_add_null(to, "fragmentation_pct", "the events do not record it");
    if (pct >= 0)
        tm_add_double(to, "peak_pct", pct);
    else
        tm_add_null(to, "peak_pct", no_capacity);
}

/* Per second of the time between the allocator's first and last event. */
static void add_rates(const struct memory_facts *f, struct tm_value *to)
{
    static const char *const too_short = "the allocator recorded a single moment";
    int64_t span_ps;

    if (__builtin_sub_overflow(f->last_ps, f->first_ps, &span_ps) || span_ps <= 0) {
        tm_add_null(to, "allocations_per_s", too_short);
        tm_add_null(to, "allocated_bytes_per_s", too_short);
        return;
    }
    tm_add_double(to, "allocations_per_s", (double)f->allocations * 1e12 / (double)span_ps);
    tm_add_double(to, "allocated_bytes_per_s", (double)f->allocated_bytes * 1e12 / (double)span_ps);
}

static void add_counts(const struct memory_facts *f, struct tm_value *to)
{
    tm_add_uint(to, "allocations", f->allocations);
    tm_add_uint(to, "deallocations", f->deallocations);
    tm_add_uint(to, "allocated_bytes", f->allocated_bytes);
    tm_add_uint(to, "small_allocations", f->small_allocations);
}

static void add_kept(struct memory *m, const struct memory_kept *kept, struct tm_value *allocator)
{
    struct tm_value *to = tm_add_object(allocator, "kept"), *quarters;

    tm_add_uint(to, "count", kept->count);
    quarters = tm_add_array(to, "quarters_bytes");
    for (int i = 0; i < MEMORY_QUARTERS; i++)
        tm_add_int(quarters, NULL, kept->bytes[i]);
    tm_add_int(to, "largest_bytes", kept->largest.bytes);
    add_text(m, to, "op", kept->largest.op);
    add_text(m, to, "shape", kept->largest.shape);
}

static void add_allocator(struct memory *m, uint64_t row, const struct room *room, struct tm_value *list)
{
    const struct memory_facts f = *(const struct memory_facts *)tm_rows_at(m->facts, row);
    const struct memory_host *host = tm_rows_at(m->hosts, f.host);
    struct tm_value *to = tm_add_object(list, NULL);

    add_name(m, &f, to);
    tm_add_string(to, "host", host->name);
    add_levels(&f, to);
    add_counts(&f, to);
    add_rates(&f, to);
    add_timeline(m, &f, room->points, to);
    add_holders(m, &f, room->holders, to);
    add_kept(m, &f.kept, to);
    add_spikes(&f, to);
}

/* Those that are not listed, in one row, so that the counts add up. */
static void add_rest(const struct memory_facts *rest, struct tm_value *list)
{
    static const char *const several = "several unlisted allocators";
    static const char *const levels[] = { "capacity_bytes",      "peak_bytes",        "peak_at_ps",
                                          "lifetime_peak_bytes", "fragmentation_pct", "peak_pct" };
    struct tm_value *to = tm_add_object(list, NULL);

    tm_add_string(to, "name", "(others)");
    tm_add_string(to, "host", "");
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        tm_add_null(to, levels[i], several);
    add_counts(rest, to);
    tm_add_null(to, "allocations_per_s", several);
    tm_add_null(to, "allocated_bytes_per_s", several);
    (void)tm_add_array(to, "timeline");
    (void)tm_add_array(to, "holders");
    tm_add_null(to, "kept", several);
    add_spikes(rest, to);
}

/* --- which ones --- */

static void add_to_rest(struct memory_facts *rest, const struct memory_facts *f)
{
    rest->allocations += f->allocations;
    rest->deallocations += f->deallocations;
    rest->small_allocations += f->small_allocations;
    rest->spike_count += f->spike_count;
    if (__builtin_add_overflow(rest->allocated_bytes, f->allocated_bytes, &rest->allocated_bytes))
        rest->allocated_bytes = UINT64_MAX;
}

static void rank_all(struct memory *m, struct tm_sorter *sorter, struct memory_facts *rest)
{
    for (uint64_t i = 0; i < tm_rows_count(m->facts); i++) {
        const struct memory_facts *f = tm_rows_at(m->facts, i);
        struct rank rank = { .row = i };

        if (f->is_rest) {
            add_to_rest(rest, f);
            continue;
        }
        rank.peak_pct = peak_pct(f);
        tm_sorter_push(sorter, &rank);
    }
    tm_sorter_finish(sorter);
}

/* Rows of the fullest allocators, at most `most`; the others are summed up. */
static void choose(struct memory *m, struct tm_sorter *sorter, uint64_t *rows, uint64_t most, uint64_t *count,
                   struct memory_facts *rest)
{
    const struct rank *rank;

    rank_all(m, sorter, rest);
    *count = 0;
    while ((rank = tm_sorter_next(sorter))) {
        if (*count < most)
            rows[(*count)++] = rank->row;
        else
            add_to_rest(rest, tm_rows_at(m->facts, rank->row));
    }
    qsort(rows, *count, sizeof(*rows), by_row);
}

static uint64_t room_of(uint64_t most, uint64_t total, uint64_t count)
{
    const uint64_t each = count ? total / count : most;

    if (each >= most)
        return most;
    return each ? each : 1;
}

static void add_all(struct memory *m, const uint64_t *rows, uint64_t count, struct tm_value *list)
{
    const struct room room = { room_of(MEMORY_POINTS, MEMORY_POINTS_TOTAL, count),
                               room_of(MEMORY_HOLDERS, MEMORY_HOLDERS_TOTAL, count) };

    for (uint64_t i = 0; i < count; i++)
        add_allocator(m, rows[i], &room, list);
}

tm_status tm_memory_report(struct memory *m, struct tm_value *summary)
{
    const size_t share = tm_budget_share(&m->run->budget, TM_ACCOUNT_TABLES);
    const uint64_t known = tm_rows_count(m->facts);
    const uint64_t most = known < m->settings->table_rows ? known : m->settings->table_rows;
    const size_t bytes = (size_t)(most + 1) * sizeof(uint64_t);
    struct memory_facts rest = { .is_rest = 1 };
    struct tm_value *section, *list;
    struct tm_sorter *sorter;
    uint64_t *rows, count = 0;

    section = tm_add_object(summary, "memory");
    tm_add_int(section, "small_below_bytes", TM_SMALL_ALLOCATION_BYTES);
    list = tm_add_array(section, "allocators");
    rows = tm_take(&m->run->budget, TM_ACCOUNT_TABLES, bytes, &m->run->error);
    sorter = tm_sorter_new(m->run, TM_ACCOUNT_TABLES, sizeof(struct rank), share / 32, fullest_first);
    if (rows && sorter)
        choose(m, sorter, rows, most, &count, &rest);
    add_all(m, rows, count, list);
    if (rest.allocations || rest.deallocations)
        add_rest(&rest, list);
    tm_sorter_free(sorter);
    tm_give(&m->run->budget, TM_ACCOUNT_TABLES, rows, rows ? bytes : 0);
    return m->run->error.status;
}
