/* SPDX-License-Identifier: Apache-2.0 */
/* Memory.  Every allocation and deallocation records its allocator's state, so figures need no separate bookkeeping:
 * - the timeline is a list of points, each the maximum of an interval; when the list is full, the intervals grow;
 * - spikes are found with a ring of the minima of the last millisecond;
 * - the holders at the peak are known after everything is read: allocations and deallocations are sorted by address; a
 *   buffer was live at the peak if it was allocated up to it and freed after it, or never.
 * Memory: fixed per allocator of the current host; timelines and sorted rows spill. */
#include "stages/figures/memory.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/sorter.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"

/* Memory in a partial: the allocators with their curves.  Hosts are renumbered by the reader. */

static const struct tm_row_field point_fields[] = {
    TM_FIELD(struct memory_point, at_ps, INSTANT, KEEP),
    TM_FIELD(struct memory_point, in_use, INSTANT, KEEP),
    TM_FIELD(struct memory_point, available, INSTANT, KEEP),
    TM_FIELDS_END,
};

static const struct tm_row_field holder_fields[] = {
    TM_FIELD(struct memory_holder, bytes, INSTANT, KEEP),
    TM_FIELD(struct memory_holder, address, WORD, KEEP),
    TM_FIELD(struct memory_holder, op, NAME, KEEP),
    TM_FIELD(struct memory_holder, shape, NAME, KEEP),
    TM_FIELDS_END,
};

static const struct tm_row_field spike_fields[] = {
    TM_FIELD(struct memory_spike, start_ps, INSTANT, KEEP),
    TM_FIELD(struct memory_spike, rise, INSTANT, KEEP),
    TM_FIELDS_END,
};

#define FACT(member, kind) TM_FIELD(struct memory_facts, member, kind, KEEP)

static const struct tm_row_field allocator_fields[] = {
    FACT(host, HOST),
    FACT(name, NAME),
    FACT(index, INSTANT),
    FACT(has_name, BOOL),
    FACT(has_index, BOOL),
    FACT(is_rest, BOOL),
    FACT(has_peak, BOOL),
    FACT(has_lifetime_peak, BOOL),
    FACT(has_capacity, BOOL),
    FACT(has_fragmentation, BOOL),
    FACT(peak, INSTANT),
    FACT(peak_at_ps, INSTANT),
    FACT(lifetime_peak, INSTANT),
    FACT(capacity, INSTANT),
    FACT(fragmentation, DOUBLE),
    FACT(allocations, COUNT),
    FACT(deallocations, COUNT),
    FACT(small_allocations, COUNT),
    FACT(allocated_bytes, COUNT),
    FACT(spike_count, COUNT),
    FACT(first_ps, INSTANT),
    FACT(last_ps, INSTANT),
    TM_FIELD_BELOW(struct memory_facts, spikes_kept, U32, KEEP, MEMORY_SPIKES + 1),
    TM_FIELD_COUNTED_STRUCTS(struct memory_facts, spikes, struct memory_spike, spike_fields, spikes_kept),
    TM_FIELD_BELOW(struct memory_facts, holder_count, U32, KEEP, MEMORY_HOLDERS + 1),
    TM_FIELD_COUNTED_STRUCTS(struct memory_facts, holders, struct memory_holder, holder_fields, holder_count),
    FACT(kept.count, COUNT),
    FACT(kept.bytes, INSTANT),
    TM_FIELD_STRUCTS(struct memory_facts, kept.largest, struct memory_holder, holder_fields),
    FACT(point_count, COUNT),
    TM_FIELDS_END,
};

static const struct tm_row_field stage_fields[] = {
    TM_FIELD(struct memory, has_host_events, BOOL, ANY),
    TM_FIELD(struct memory, has_accelerator, BOOL, ANY),
    TM_FIELD_BELOW(struct memory, origins, U32, ANY, 1 << TM_ORIGIN_COUNT),
    TM_FIELDS_END,
};

static tm_status save_memory(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct memory *m = s->state;
    const uint64_t count = tm_rows_count(m->facts);

    tm_fields_save(w, stage_fields, m);
    tm_partial_put_u64(w, count);
    for (uint64_t i = 0; i < count; i++) {
        const struct memory_facts *const f = tm_rows_at(m->facts, i);

        tm_fields_save(w, allocator_fields, f);
        tm_fields_save_rows(w, point_fields, m->points, f->first_point, f->point_count);
    }
    return s->run->error.status;
}

/* Points of a curve: those before them. */
struct curve {
    int64_t first_ps, before_ps;
    bool has_first;
};

/* Points come in time order, and their differences are in the range of times. */
static tm_status complete_point(void *of, struct tm_partial_reader *r, void *row)
{
    const struct memory_point *const point = row;
    struct curve *const curve = of;
    int64_t span_ps;

    if (!curve->has_first)
        *curve = (struct curve){ .first_ps = point->at_ps, .before_ps = point->at_ps, .has_first = true };
    if (point->at_ps < curve->before_ps || __builtin_sub_overflow(point->at_ps, curve->first_ps, &span_ps))
        return tm_partial_damaged(r, "moments that are not in the order of time");
    curve->before_ps = point->at_ps;
    return TM_OK;
}

/* The curve of an allocator follows it. */
static tm_status complete_allocator(void *of, struct tm_partial_reader *r, void *row)
{
    struct memory *const m = of;
    struct memory_facts *const f = row;
    struct curve curve = { .has_first = false };

    f->first_point = tm_rows_count(m->points);
    return tm_fields_load_rows(r, point_fields, m->points, f->point_count, complete_point, &curve);
}

static tm_status load_memory(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct memory *m = s->state;

    for (uint32_t i = 0; i < tm_partial_host_count(r); i++) {
        struct memory_host host = { .name = "" };

        tm_partial_copy_host(r, i, host.name, sizeof(host.name));
        tm_rows_append(m->hosts, &host);
    }
    m->names = tm_partial_names(r);
    tm_fields_load_more(r, stage_fields, m);
    return tm_fields_load_rows(r, allocator_fields, m->facts, tm_partial_u64(r), complete_allocator, m);
}

enum {
    CURVE_MOST = 2 * MEMORY_POINTS, /* points of a curve while it grows */
    RING_SLOTS = 32,
    POINTS_PAGE = 4096, /* events alternate among all allocators: a page of each stays in memory */
};

static const int64_t spike_ps = 1000000000; /* 1 ms */

/* The lowest use in 1/32 of a millisecond. */
struct low {
    int64_t slot, at_ps, in_use;
    bool is_set;
};

struct allocator {
    struct memory_facts facts;
    /* the curve: rows that are done, the one that grows, and the length of its stretches (0 = every moment) */
    uint32_t point_count;
    bool has_point;
    struct memory_point point;
    int64_t first_ps, stretch_ps;
    struct low ring[RING_SLOTS];
    struct memory_spike spike; /* the one that is going on */
    bool has_spike;
};

/* An allocation or deallocation of an address. */
struct touch {
    uint64_t address, number;
    int64_t bytes;
    uint32_t allocator;
    tm_strid op, shape;
    uint32_t is_allocation;
};

static tm_status open_stage(struct tm_stage *s)
{
    struct memory *m = s->state;
    const size_t share = tm_budget_share(&s->run->budget, TM_ACCOUNT_TABLES);

    m->run = s->run;
    m->settings = s->settings;
    m->hosts = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct memory_host), share / 64);
    m->facts = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct memory_facts), share / 32);
    m->points = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct memory_point), share / 32);
    return m->hosts && m->facts && m->points ? TM_OK : s->run->error.status;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct memory *m = s->state;
    struct memory_host host;

    m->first_touch = m->touch_count;
    m->trace = trace;
    m->names = trace->names;
    m->origins |= 1u << trace->origin;
    m->has_host_events |= trace->main_track != TM_NONE;
    for (uint32_t i = 0; i < trace->device_count; i++)
        m->has_accelerator |= trace->devices[i].kind != TM_DEVICE_CPU;
    memcpy(host.name, trace->host_name, sizeof(host.name));
    tm_rows_append(m->hosts, &host);
    return s->run->error.status;
}

/* --- which allocator --- */

static bool is_same(const struct memory_facts *f, const struct memory_facts *wanted)
{
    if (f->is_rest || f->has_name != wanted->has_name || f->has_index != wanted->has_index)
        return false;
    return f->has_name ? tm_is_same_key(f->name_hash, wanted->name_hash) : f->index == wanted->index;
}

static void add_allocator(struct memory *m, const struct memory_facts *facts)
{
    if (m->count == m->most) {
        const uint32_t most = m->most ? m->most * 2 : 4;
        struct allocator *allocators =
            tm_retake(&m->run->budget, TM_ACCOUNT_TABLES, m->allocators, m->most * sizeof(*allocators),
                      most * sizeof(*allocators), &m->run->error);

        if (!allocators)
            return;
        m->allocators = allocators;
        m->most = most;
    }
    m->last = m->count++;
    memset(&m->allocators[m->last], 0, sizeof(m->allocators[m->last]));
    m->allocators[m->last].facts = *facts;
    m->allocators[m->last].facts.host = (uint32_t)tm_rows_count(m->hosts) - 1;
    tm_rows_resize(m->live_points, (uint64_t)m->count * CURVE_MOST);
}

/* The allocator of an event: by its name, on a TPU by its number.  Past the limit all share one row with counts
 * only. */
static void find_allocator(struct memory *m, const struct tm_allocation *a)
{
    struct memory_facts wanted = { .name = a->allocator, .has_name = a->allocator != 0 };

    if (wanted.has_name)
        wanted.name_hash = tm_names_info(m->names, a->allocator).hash;
    if (!wanted.has_name && a->has & TM_HAS_INDEX_ON_HOST) {
        wanted.has_index = 1;
        wanted.index = a->index_on_host;
    }
    if (m->last < m->count && is_same(&m->allocators[m->last].facts, &wanted))
        return;
    for (uint32_t i = 0; i < m->count; i++)
        if (is_same(&m->allocators[i].facts, &wanted)) {
            m->last = i;
            return;
        }
    m->last = ALLOCATORS_PER_HOST;
    if (m->count < ALLOCATORS_PER_HOST)
        add_allocator(m, &wanted);
    else if (m->count == ALLOCATORS_PER_HOST)
        add_allocator(m, &(struct memory_facts){ .is_rest = 1 });
}

/* --- the curve --- */

/* The stretch of the curve that contains a moment. */
static int64_t stretch_of(const struct allocator *a, int64_t at_ps)
{
    return a->stretch_ps ? (at_ps - a->first_ps) / a->stretch_ps : at_ps - a->first_ps;
}

/* The higher of two moments of one stretch stays, the later one if they are equal. */
static void take_higher(struct memory_point *into, const struct memory_point *from)
{
    if (from->in_use >= into->in_use)
        *into = *from;
}

/* Merge points so that at most MEMORY_POINTS + 1 are left. */
static void thin(struct memory *m, struct allocator *a, uint64_t first_row)
{
    const int64_t span_ps = a->point.at_ps - a->first_ps;
    struct memory_point joined = { .at_ps = 0 };
    uint32_t kept = 0;

    a->stretch_ps = span_ps / MEMORY_POINTS + 1;
    for (uint32_t i = 0; i < a->point_count; i++) {
        const struct memory_point point = *(const struct memory_point *)tm_rows_at(m->live_points, first_row + i);

        if (i && stretch_of(a, point.at_ps) == stretch_of(a, joined.at_ps)) {
            take_higher(&joined, &point);
            continue;
        }
        if (i) {
            struct memory_point *const to = tm_rows_change(m->live_points, first_row + kept++);

            *to = joined;
        }
        joined = point;
    }
    a->point_count = kept;
    if (stretch_of(a, joined.at_ps) == stretch_of(a, a->point.at_ps)) {
        take_higher(&joined, &a->point);
        a->point = joined;
        return;
    }
    struct memory_point *to = tm_rows_change(m->live_points, first_row + a->point_count++);

    *to = joined;
}

static void add_point(struct memory *m, struct allocator *a, const struct memory_point *point)
{
    const uint64_t first_row = (uint64_t)(a - m->allocators) * CURVE_MOST;
    struct memory_point *to;

    if (!a->has_point) {
        a->has_point = true;
        a->first_ps = point->at_ps;
        a->point = *point;
        return;
    }
    if (stretch_of(a, point->at_ps) == stretch_of(a, a->point.at_ps)) {
        take_higher(&a->point, point);
        return;
    }
    to = tm_rows_change(m->live_points, first_row + a->point_count++);
    *to = a->point;
    a->point = *point;
    if (a->point_count == CURVE_MOST)
        thin(m, a, first_row);
}

/* --- spikes --- */

/* Put a spike that is over among the largest ones. */
static void keep_spike(struct memory_facts *f, const struct memory_spike *spike)
{
    uint32_t least = 0;

    f->spike_count++;
    if (f->spikes_kept < MEMORY_SPIKES) {
        f->spikes[f->spikes_kept++] = *spike;
        return;
    }
    for (uint32_t i = 1; i < MEMORY_SPIKES; i++)
        if (f->spikes[i].rise < f->spikes[least].rise)
            least = i;
    if (spike->rise <= f->spikes[least].rise)
        return;
    memmove(&f->spikes[least], &f->spikes[least + 1], (MEMORY_SPIKES - least - 1) * sizeof(*spike));
    f->spikes[MEMORY_SPIKES - 1] = *spike;
}

/* The lowest use within a millisecond before, the latest one of equal ones. */
static const struct low *lowest_before(const struct allocator *a, int64_t at_ps)
{
    const struct low *lowest = NULL;

    for (int i = 0; i < RING_SLOTS; i++) {
        const struct low *low = &a->ring[i];

        if (!low->is_set || low->at_ps < at_ps - spike_ps)
            continue;
        if (!lowest || low->in_use < lowest->in_use || (low->in_use == lowest->in_use && low->at_ps > lowest->at_ps))
            lowest = low;
    }
    return lowest;
}

static void note_low(struct allocator *a, const struct memory_point *point)
{
    const int64_t slot = point->at_ps / (spike_ps / RING_SLOTS);
    struct low *low = &a->ring[(uint64_t)slot % RING_SLOTS];

    if (low->is_set && low->slot == slot && low->in_use < point->in_use)
        return;
    *low = (struct low){ .slot = slot, .at_ps = point->at_ps, .in_use = point->in_use, .is_set = true };
}

/* Rises of over a tenth of the capacity inside a millisecond; those that start within a millisecond count as one. */
static void look_for_spike(struct allocator *a, const struct memory_point *point)
{
    const struct low *low = lowest_before(a, point->at_ps);

    if (low && point->available >= 0) {
        const int64_t rise = point->in_use - low->in_use;

        if (rise > (point->in_use + point->available) / 10) {
            if (a->has_spike && low->at_ps - a->spike.start_ps > spike_ps) {
                keep_spike(&a->facts, &a->spike);
                a->has_spike = false;
            }
            if (!a->has_spike)
                a->spike = (struct memory_spike){ .start_ps = low->at_ps };
            a->has_spike = true;
            if (rise > a->spike.rise)
                a->spike.rise = rise;
        }
    }
    note_low(a, point);
}

/* --- events --- */

/* In use and available as recorded by the event; false if the values are impossible. */
static bool point_of(const struct tm_record *r, const struct tm_allocation *a, struct memory_point *point)
{
    const int64_t reserved = a->has & TM_HAS_RESERVED ? a->bytes_reserved : 0;
    const int64_t allocated = a->has & TM_HAS_ALLOCATED ? a->bytes_allocated : 0;
    int64_t capacity;

    *point = (struct memory_point){ .at_ps = r->start_ps, .available = -1 };
    if (!(a->has & (TM_HAS_RESERVED | TM_HAS_ALLOCATED)) || reserved < 0 || allocated < 0 ||
        __builtin_add_overflow(reserved, allocated, &point->in_use))
        return false;
    if (a->has & TM_HAS_AVAILABLE && a->bytes_available >= 0 &&
        !__builtin_add_overflow(point->in_use, a->bytes_available, &capacity))
        point->available = a->bytes_available;
    return true;
}

/* The peak is the last moment of the highest use. */
static void note_peak(struct memory *m, struct memory_facts *f, const struct memory_point *point,
                      const struct tm_allocation *a)
{
    if (f->has_peak && point->in_use < f->peak)
        return;
    f->has_peak = 1;
    f->peak = point->in_use;
    f->peak_at_ps = point->at_ps;
    f->peak_touch = m->touch_count;
    f->has_capacity = point->available >= 0;
    f->capacity = point->in_use + (f->has_capacity ? point->available : 0);
    f->has_fragmentation = a->has & TM_HAS_FRAGMENTATION && a->fragmentation >= 0 && a->fragmentation <= 1;
    f->fragmentation = a->fragmentation;
}

static void count_event(struct memory_facts *f, const struct tm_allocation *a, int64_t at_ps, bool is_allocation)
{
    const bool has_bytes = a->has & TM_HAS_ALLOCATION && a->allocation_bytes >= 0;

    if (!f->allocations && !f->deallocations)
        f->first_ps = at_ps; /* events come in time order */
    f->last_ps = at_ps;
    if (!is_allocation) {
        f->deallocations++;
        return;
    }
    f->allocations++;
    if (!has_bytes)
        return;
    if (__builtin_add_overflow(f->allocated_bytes, (uint64_t)a->allocation_bytes, &f->allocated_bytes))
        f->allocated_bytes = UINT64_MAX;
    if (a->allocation_bytes < TM_SMALL_ALLOCATION_BYTES)
        f->small_allocations++;
}

/* Allocators may have the same addresses. */
static int by_address(const void *a, const void *b)
{
    const struct touch *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->allocator != y->allocator)
        return x->allocator < y->allocator ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static uint64_t address_prefix(const void *row)
{
    return ((const struct touch *)row)->address;
}

static void keep_touch(struct memory *m, const struct tm_allocation *a, bool is_allocation)
{
    const struct touch touch = { .address = a->address,
                                 .number = m->touch_count,
                                 .bytes = a->allocation_bytes,
                                 .allocator = m->last,
                                 .op = a->op,
                                 .shape = a->shape,
                                 .is_allocation = is_allocation };

    if (!(a->has & TM_HAS_ADDRESS) || m->last == ALLOCATORS_PER_HOST)
        return;
    if (is_allocation && (!(a->has & TM_HAS_ALLOCATION) || a->allocation_bytes <= 0))
        return;
    tm_sorter_push(m->touches, &touch);
}

/* Make the tables that the first event of a host needs. */
static bool make_tables(struct memory *m)
{
    const size_t share = tm_budget_share(&m->run->budget, TM_ACCOUNT_TABLES);

    if (m->touches)
        return true;
    m->live_points = tm_rows_new_paged(m->run, TM_ACCOUNT_TABLES, sizeof(struct memory_point), share / 16, POINTS_PAGE);
    m->touches = tm_sorter_new(m->run, TM_ACCOUNT_TABLES, sizeof(struct touch), share / 8, by_address);
    if (m->touches)
        tm_sorter_set_prefix(m->touches, address_prefix);
    return m->live_points && m->touches;
}

static void take_one(struct memory *m, const struct tm_event *event)
{
    const bool is_allocation = event->record.class == TM_CLASS_ALLOC;
    struct tm_allocation allocation = { .has = 0 };
    struct memory_point point;
    struct allocator *a;

    if (!make_tables(m))
        return;
    if (event->record.args_length == sizeof(allocation))
        memcpy(&allocation, event->args, sizeof(allocation));
    find_allocator(m, &allocation);
    if (tm_failed(m->run))
        return;
    a = &m->allocators[m->last];
    m->touch_count++;
    count_event(&a->facts, &allocation, event->record.start_ps, is_allocation);
    keep_touch(m, &allocation, is_allocation);
    if (a->facts.is_rest)
        return;
    if (allocation.has & TM_HAS_PEAK && allocation.peak_bytes_in_use >= 0 &&
        (!a->facts.has_lifetime_peak || allocation.peak_bytes_in_use > a->facts.lifetime_peak)) {
        a->facts.has_lifetime_peak = 1;
        a->facts.lifetime_peak = allocation.peak_bytes_in_use;
    }
    if (!point_of(&event->record, &allocation, &point))
        return;
    note_peak(m, &a->facts, &point, &allocation);
    look_for_spike(a, &point);
    add_point(m, a, &point);
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    for (size_t i = 0; i < count && !tm_failed(s->run); i++)
        if (tm_wants(s, &events[i]))
            take_one(s->state, &events[i]);
}

/* --- a host ends --- */

static int largest_first(const void *a, const void *b)
{
    const struct memory_holder *const one = a, *const other = b;

    return (one->bytes < other->bytes) - (one->bytes > other->bytes);
}

/* Put a buffer among the largest ones; equal ones stay in the order in which they were found, by address. */
static void keep_holder(struct memory_facts *f, const struct touch *touch)
{
    const struct memory_holder holder = { touch->bytes, touch->address, touch->op, touch->shape };

    f->holder_count =
        (uint32_t)tm_sorted_keep(f->holders, f->holder_count, MEMORY_HOLDERS, sizeof(holder), &holder, largest_first);
}

static void keep_kept(struct memory *m, struct memory_kept *kept, const struct touch *touch)
{
    /* events are numbered from 1 */
    const uint64_t quarter = (uint64_t)((unsigned __int128)(touch->number - m->first_touch - 1) * MEMORY_QUARTERS /
                                        (m->touch_count - m->first_touch));

    kept->count = tm_sum_counts(kept->count, 1);
    kept->bytes[quarter] = tm_sum_times(kept->bytes[quarter], touch->bytes);
    if (touch->bytes > kept->largest.bytes)
        kept->largest = (struct memory_holder){ touch->bytes, touch->address, touch->op, touch->shape };
}

/* A buffer ends at the next event of its address, of any kind: a deallocation may be missing. */
static void end_buffer(struct memory *m, const struct touch *open, const struct touch *next)
{
    struct memory_facts *f = &m->allocators[open->allocator].facts;
    const bool is_same_address = next && next->allocator == open->allocator && next->address == open->address;

    if (open->is_allocation && f->has_peak && open->number <= f->peak_touch &&
        (!is_same_address || next->number > f->peak_touch))
        keep_holder(f, open);
    if (open->is_allocation && !is_same_address)
        keep_kept(m, &f->kept, open);
}

static void find_holders(struct memory *m)
{
    struct touch open = { .address = 0 };
    bool has_open = false;

    tm_sorter_finish(m->touches);
    while (true) {
        const void *const row = tm_sorter_next(m->touches);

        if (has_open)
            end_buffer(m, &open, row);
        if (!row)
            break;
        open = *(const struct touch *)row;
        has_open = true;
    }
}

/* The finished curve is added to the others. */
static void keep_curve(struct memory *m, struct allocator *a)
{
    const uint64_t first_row = (uint64_t)(a - m->allocators) * CURVE_MOST;

    a->facts.first_point = tm_rows_count(m->points);
    if (!a->has_point)
        return;
    for (uint32_t i = 0; i < a->point_count; i++)
        tm_rows_append(m->points, tm_rows_at(m->live_points, first_row + i));
    tm_rows_append(m->points, &a->point);
    a->facts.point_count = a->point_count + 1;
}

static void free_host(struct memory *m)
{
    tm_give(&m->run->budget, TM_ACCOUNT_TABLES, m->allocators, m->most * sizeof(*m->allocators));
    tm_rows_free(m->live_points);
    tm_sorter_free(m->touches);
    m->allocators = NULL;
    m->live_points = NULL;
    m->touches = NULL;
    m->count = m->most = m->last = 0;
    m->touch_count = 0;
}

/* The capacity of PyTorch's allocator is its device's memory: its events only record how much of it is reserved.
 * Allocators are named after their devices, "gpu:0". */
static void take_capacity_from_device(const struct memory *m, struct memory_facts *f)
{
    const char *text = "";
    size_t length = 0;
    char name[32];

    if (f->has_name)
        text = tm_names_text(m->names, f->name, sizeof(name), &length);
    f->has_capacity = 0;
    for (uint32_t i = 0; i < m->trace->device_count; i++) {
        const struct tm_device *device = &m->trace->devices[i];

        (void)snprintf(name, sizeof(name), "gpu:%lld", (long long)device->ordinal);
        if (device->kind != TM_DEVICE_GPU || length != strlen(name) || memcmp(text, name, length) != 0 ||
            !device->memory_bytes || device->memory_bytes > INT64_MAX)
            continue;
        f->has_capacity = 1;
        f->capacity = (int64_t)device->memory_bytes;
    }
}

static tm_status end_host(struct tm_stage *s)
{
    struct memory *m = s->state;

    if (m->touches)
        find_holders(m);
    for (uint32_t i = 0; i < m->count; i++) {
        struct allocator *a = &m->allocators[i];

        if (a->has_spike)
            keep_spike(&a->facts, &a->spike);
        if (m->trace->origin == TM_ORIGIN_PYTORCH && a->facts.has_capacity)
            take_capacity_from_device(m, &a->facts);
        keep_curve(m, a);
        tm_rows_append(m->facts, &a->facts);
    }
    free_host(m);
    return s->run->error.status;
}

static const char *why_nothing(const struct memory *m)
{
    if (m->origins == 1u << TM_ORIGIN_JSON_COPY && m->has_accelerator)
        return "JSON traces do not contain allocator events; the run's .xplane.pb does";
    if (m->origins == 1u << TM_ORIGIN_PYTORCH)
        return "no allocator events were recorded: profile_memory=True was not set";
    if (m->origins == 1u << TM_ORIGIN_OTHER)
        return "the trace has no known allocator events";
    if (!m->has_host_events)
        return "no host events were recorded, which include allocator events";
    if (!m->has_accelerator)
        return "CPU memory is not recorded";
    return "no allocator events were recorded: the host tracer level was too low, or the allocator does not record "
           "events";
}

static tm_status report(struct tm_stage *s, struct tm_value *summary)
{
    struct memory *m = s->state;

    if (tm_rows_count(m->facts))
        return tm_memory_report(m, summary);
    tm_add_null(summary, "memory", why_nothing(m));
    return s->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    struct memory *m = s->state;

    m->run = s->run; /* of one that was not opened */
    free_host(m);
    tm_rows_free(m->hosts);
    tm_rows_free(m->facts);
    tm_rows_free(m->points);
}

const struct tm_stage_type tm_memory_stage = {
    .name = "memory",
    .summary = "device memory use over time",
    .state_bytes = sizeof(struct memory),
    .classes = TM_CLASS_BIT(TM_CLASS_ALLOC) | TM_CLASS_BIT(TM_CLASS_FREE),
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = report,
    .save = save_memory,
    .load = load_memory,
    .close = close_stage,
};
