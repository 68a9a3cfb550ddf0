/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in a partial: the allocators with their curves.  Hosts are numbered anew where they are read. */
#include "stages/diagnose/memory/memory_private.h"

/* --- saving --- */

static void save_facts(struct tm_partial_writer *w, const struct memory_facts *f)
{
    tm_partial_put_u32(w, f->host);
    tm_partial_put_name(w, f->name);
    tm_partial_put_i64(w, f->index);
    tm_partial_put_u8(w, f->has_name);
    tm_partial_put_u8(w, f->has_index);
    tm_partial_put_u8(w, f->is_rest);
    tm_partial_put_u8(w, f->has_peak);
    tm_partial_put_u8(w, f->has_lifetime_peak);
    tm_partial_put_u8(w, f->has_capacity);
    tm_partial_put_u8(w, f->has_fragmentation);
    tm_partial_put_i64(w, f->peak);
    tm_partial_put_i64(w, f->peak_at_ps);
    tm_partial_put_i64(w, f->lifetime_peak);
    tm_partial_put_i64(w, f->capacity);
    tm_partial_put_double(w, f->fragmentation);
    tm_partial_put_u64(w, f->allocations);
    tm_partial_put_u64(w, f->deallocations);
    tm_partial_put_u64(w, f->small_allocations);
    tm_partial_put_u64(w, f->allocated_bytes);
    tm_partial_put_u64(w, f->spike_count);
    tm_partial_put_i64(w, f->first_ps);
    tm_partial_put_i64(w, f->last_ps);
}

static void save_lists(struct tm_partial_writer *w, const struct memory_facts *f)
{
    tm_partial_put_u32(w, f->spikes_kept);
    for (uint32_t i = 0; i < f->spikes_kept; i++) {
        tm_partial_put_i64(w, f->spikes[i].begin_ps);
        tm_partial_put_i64(w, f->spikes[i].rise);
    }
    tm_partial_put_u32(w, f->holder_count);
    for (uint32_t i = 0; i < f->holder_count; i++) {
        tm_partial_put_i64(w, f->holders[i].bytes);
        tm_partial_put_u64(w, f->holders[i].address);
        tm_partial_put_name(w, f->holders[i].op);
        tm_partial_put_name(w, f->holders[i].shape);
    }
}

static void save_kept(struct tm_partial_writer *w, const struct memory_kept *kept)
{
    tm_partial_put_u64(w, kept->count);
    for (int i = 0; i < MEMORY_QUARTERS; i++)
        tm_partial_put_i64(w, kept->bytes[i]);
    tm_partial_put_i64(w, kept->largest.bytes);
    tm_partial_put_u64(w, kept->largest.address);
    tm_partial_put_name(w, kept->largest.op);
    tm_partial_put_name(w, kept->largest.shape);
}

static tm_status save_curve(struct memory *m, struct tm_partial_writer *w, uint64_t first, uint64_t count)
{
    tm_partial_put_u64(w, count);
    for (uint64_t i = first; i < first + count; i++) {
        const struct memory_point *point = tm_rows_at(m->points, i);

        if (!point)
            return m->run->error.status;
        tm_partial_put_i64(w, point->at_ps);
        tm_partial_put_i64(w, point->in_use);
        tm_partial_put_i64(w, point->available);
    }
    return TM_OK;
}

tm_status save_memory(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct memory *m = s->state;
    const uint64_t count = tm_rows_count(m->facts);
    tm_status st = TM_OK;

    tm_partial_put_u8(w, m->has_host_events);
    tm_partial_put_u8(w, m->has_accelerator);
    tm_partial_put_u32(w, m->origins);
    tm_partial_put_u64(w, count);
    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        const struct memory_facts *f = tm_rows_at(m->facts, i);

        if (!f)
            return m->run->error.status;
        save_facts(w, f);
        save_lists(w, f);
        save_kept(w, &f->kept);
        st = save_curve(m, w, f->first_point, f->point_count);
    }
    return st;
}

/* --- loading --- */

static void load_facts(struct tm_partial_reader *r, struct memory_facts *f)
{
    f->host = tm_partial_below_u32(r, tm_partial_host_count(r));
    f->name = tm_partial_name(r);
    f->index = tm_partial_i64(r);
    f->has_name = tm_partial_bool(r);
    f->has_index = tm_partial_bool(r);
    f->is_rest = tm_partial_bool(r);
    f->has_peak = tm_partial_bool(r);
    f->has_lifetime_peak = tm_partial_bool(r);
    f->has_capacity = tm_partial_bool(r);
    f->has_fragmentation = tm_partial_bool(r);
    f->peak = tm_partial_i64(r);
    f->peak_at_ps = tm_partial_i64(r);
    f->lifetime_peak = tm_partial_i64(r);
    f->capacity = tm_partial_i64(r);
    f->fragmentation = tm_partial_double(r);
    f->allocations = tm_partial_u64(r);
    f->deallocations = tm_partial_u64(r);
    f->small_allocations = tm_partial_u64(r);
    f->allocated_bytes = tm_partial_u64(r);
    f->spike_count = tm_partial_u64(r);
    f->first_ps = tm_partial_i64(r);
    f->last_ps = tm_partial_i64(r);
}

static void load_lists(struct tm_partial_reader *r, struct memory_facts *f)
{
    f->spikes_kept = tm_partial_below_u32(r, MEMORY_SPIKES + 1);
    for (uint32_t i = 0; i < f->spikes_kept; i++) {
        f->spikes[i].begin_ps = tm_partial_i64(r);
        f->spikes[i].rise = tm_partial_i64(r);
    }
    f->holder_count = tm_partial_below_u32(r, MEMORY_HOLDERS + 1);
    for (uint32_t i = 0; i < f->holder_count; i++) {
        f->holders[i].bytes = tm_partial_i64(r);
        f->holders[i].address = tm_partial_u64(r);
        f->holders[i].op = tm_partial_name(r);
        f->holders[i].shape = tm_partial_name(r);
    }
}

static void load_kept(struct tm_partial_reader *r, struct memory_kept *kept)
{
    kept->count = tm_partial_u64(r);
    for (int i = 0; i < MEMORY_QUARTERS; i++)
        kept->bytes[i] = tm_partial_i64(r);
    kept->largest.bytes = tm_partial_i64(r);
    kept->largest.address = tm_partial_u64(r);
    kept->largest.op = tm_partial_name(r);
    kept->largest.shape = tm_partial_name(r);
}

/* Points come in the order of time, and within what a difference of times can be. */
static tm_status load_curve(struct memory *m, struct tm_partial_reader *r, struct memory_facts *f)
{
    int64_t before_ps = INT64_MIN, first_ps = 0, span_ps;
    tm_status st;

    f->first_point = tm_rows_count(m->points);
    f->point_count = tm_partial_u64(r);
    st = tm_partial_status(r);
    for (uint64_t i = 0; i < f->point_count && st == TM_OK; i++) {
        struct memory_point point = { .at_ps = tm_partial_i64(r) };

        point.in_use = tm_partial_i64(r);
        point.available = tm_partial_i64(r);
        first_ps = i ? first_ps : point.at_ps;
        if (tm_partial_is_ok(r) &&
            (point.at_ps < before_ps || __builtin_sub_overflow(point.at_ps, first_ps, &span_ps)))
            return tm_partial_damaged(r, "moments that are not in the order of time");
        before_ps = point.at_ps;
        st = tm_partial_is_ok(r) ? tm_rows_append(m->points, &point) : tm_partial_status(r);
    }
    return st;
}

static tm_status load_hosts(struct memory *m, struct tm_partial_reader *r)
{
    tm_status st = TM_OK;

    for (uint32_t i = 0; i < tm_partial_host_count(r) && st == TM_OK; i++) {
        struct memory_host host = { .name = "" };

        tm_partial_copy_host(r, i, host.name, sizeof(host.name));
        st = tm_rows_append(m->hosts, &host);
    }
    return st;
}

tm_status load_memory(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct memory *m = s->state;
    const uint32_t first_host = (uint32_t)tm_rows_count(m->hosts);
    tm_status st = load_hosts(m, r);
    uint64_t count;

    m->names = tm_partial_names(r);
    m->has_host_events |= tm_partial_bool(r);
    m->has_accelerator |= tm_partial_bool(r);
    m->origins |= tm_partial_below_u32(r, 1 << TM_ORIGIN_COUNT);
    count = tm_partial_u64(r);
    if (st == TM_OK)
        st = tm_partial_status(r);
    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        struct memory_facts f = { .host = 0 };

        load_facts(r, &f);
        f.host += first_host;
        load_lists(r, &f);
        load_kept(r, &f.kept);
        st = load_curve(m, r, &f);
        if (st == TM_OK)
            st = tm_rows_append(m->facts, &f);
    }
    return st;
}
