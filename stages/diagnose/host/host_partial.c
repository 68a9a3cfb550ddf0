/* SPDX-License-Identifier: Apache-2.0 */
/* What the hosts did, in a partial: sums, the hosts with their threads, and all groups in the order of their keys. */
#include "stages/diagnose/host/host_private.h"

/* --- saving --- */

static void save_call(struct tm_partial_writer *w, const void *of)
{
    const struct call_row *row = of;

    tm_partial_put_words(w, &row->key, 2);
    tm_partial_put_u64(w, row->count);
    tm_partial_put_i64(w, row->self_ps);
    tm_partial_put_i64(w, row->total_ps);
    tm_partial_put_name(w, row->name);
    tm_partial_put_u8(w, row->kind);
}

static void save_sync(struct tm_partial_writer *w, const void *of)
{
    const struct sync_row *row = of;

    tm_partial_put_words(w, &row->key, 2);
    tm_partial_put_u64(w, row->count);
    tm_partial_put_i64(w, row->total_ps);
    tm_longest_save(w, &row->longest);
    tm_partial_put_name(w, row->name);
    tm_partial_put_name(w, row->caller);
    tm_partial_put_name(w, row->annotation);
}

static tm_status save_delays(struct host *h, struct tm_partial_writer *w)
{
    const struct tm_length *delay = NULL;
    tm_status st = tm_lengths_finish(h->delays);

    do {
        if (st == TM_OK)
            st = tm_lengths_next(h->delays, &delay);
        if (st != TM_OK)
            return st;
        tm_partial_put_u8(w, delay != NULL);
        if (delay) {
            tm_partial_put_u64(w, delay->value);
            tm_partial_put_u64(w, delay->count);
        }
    } while (delay);
    return TM_OK;
}

static tm_status save_hosts(struct host *h, struct tm_partial_writer *w)
{
    for (uint64_t i = 0; i < tm_rows_count(h->hosts); i++) {
        const struct host_row *row = tm_rows_at(h->hosts, i);

        if (!row)
            return h->run->error.status;
        tm_partial_put_i64(w, row->begin_ps);
        tm_partial_put_i64(w, row->end_ps);
        tm_partial_put_u8(w, row->basis);
    }
    return TM_OK;
}

static tm_status save_threads(struct host *h, struct tm_partial_writer *w)
{
    tm_partial_put_u64(w, tm_rows_count(h->threads));
    for (uint64_t i = 0; i < tm_rows_count(h->threads); i++) {
        const struct thread_row *row = tm_rows_at(h->threads, i);

        if (!row)
            return h->run->error.status;
        tm_partial_put_u64(w, row->events);
        tm_partial_put_u64(w, row->ops);
        tm_partial_put_i64(w, row->busy_ps);
        tm_partial_put_i64(w, row->op_ps);
        tm_partial_put_i64(w, row->first_ps);
        tm_partial_put_i64(w, row->last_ps);
        tm_partial_put_u32(w, row->host);
        tm_partial_put_name(w, row->name);
        tm_partial_put_u8(w, row->is_main);
    }
    return TM_OK;
}

static void save_sums(const struct host *h, struct tm_partial_writer *w)
{
    tm_partial_put_u64(w, h->empty_count);
    tm_partial_put_i64(w, h->empty_ps);
    tm_partial_put_u64(w, h->launch_count);
    tm_partial_put_u64(w, h->negative_delays);
    tm_partial_put_u64(w, h->unlaunched);
    tm_partial_put_u8(w, h->has_steps);
    tm_partial_put_u64(w, h->sync_count);
    tm_partial_put_i64(w, h->sync_ps);
    tm_partial_put_u8(w, h->has_accelerator);
    tm_partial_put_u8(w, h->has_cpu_device);
    tm_partial_put_u32(w, h->empty_listed);
    for (uint32_t i = 0; i < h->empty_listed; i++)
        tm_stretch_save(w, &h->empty[i]);
}

tm_status tm_host_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct host *h = s->state;
    tm_status st;

    save_sums(h, w);
    st = save_hosts(h, w);
    if (st == TM_OK)
        st = save_threads(h, w);
    if (st == TM_OK)
        st = tm_partial_put_groups(w, h->calls, save_call);
    if (st == TM_OK)
        st = tm_partial_put_groups(w, h->syncs, save_sync);
    return st == TM_OK ? save_delays(h, w) : st;
}

/* --- loading --- */

static void load_sums(struct host *h, struct tm_partial_reader *r)
{
    uint32_t listed;

    h->empty_count = tm_sum_counts(h->empty_count, tm_partial_u64(r));
    h->empty_ps = tm_sum_times(h->empty_ps, tm_partial_time(r));
    h->launch_count = tm_sum_counts(h->launch_count, tm_partial_u64(r));
    h->negative_delays = tm_sum_counts(h->negative_delays, tm_partial_u64(r));
    h->unlaunched = tm_sum_counts(h->unlaunched, tm_partial_u64(r));
    h->has_steps |= tm_partial_bool(r);
    h->sync_count = tm_sum_counts(h->sync_count, tm_partial_u64(r));
    h->sync_ps = tm_sum_times(h->sync_ps, tm_partial_time(r));
    h->has_accelerator |= tm_partial_bool(r);
    h->has_cpu_device |= tm_partial_bool(r);
    listed = tm_partial_below_u32(r, HOST_EMPTY_LISTED + 1);
    for (uint32_t i = 0; i < listed && tm_partial_is_ok(r); i++) {
        struct tm_stretch stretch = { .bytes = 0 };

        tm_stretch_load(r, &stretch);
        if (tm_partial_is_ok(r))
            tm_stretches_add(h->empty, &h->empty_listed, HOST_EMPTY_LISTED, &stretch);
    }
}

static tm_status load_hosts(struct host *h, struct tm_partial_reader *r)
{
    tm_status st = tm_partial_status(r);

    for (uint32_t i = 0; i < tm_partial_host_count(r) && st == TM_OK; i++) {
        struct host_row row = { .begin_ps = tm_partial_i64(r) };
        int64_t length_ps;

        row.end_ps = tm_partial_i64(r);
        row.basis = tm_partial_below_u8(r, TM_HOST_BASIS_COUNT);
        tm_partial_copy_host(r, i, row.name, sizeof(row.name));
        if (row.end_ps < row.begin_ps || __builtin_sub_overflow(row.end_ps, row.begin_ps, &length_ps))
            return tm_partial_damaged(r, "a time is out of its range");
        st = tm_partial_is_ok(r) ? tm_rows_append(h->hosts, &row) : tm_partial_status(r);
    }
    return st;
}

static tm_status load_threads(struct host *h, struct tm_partial_reader *r)
{
    const uint64_t count = tm_partial_u64(r);
    tm_status st = tm_partial_status(r);

    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        struct thread_row row = { .events = tm_partial_u64(r) };

        row.ops = tm_partial_u64(r);
        row.busy_ps = tm_partial_time(r);
        row.op_ps = tm_partial_time(r);
        row.first_ps = tm_partial_i64(r);
        row.last_ps = tm_partial_i64(r);
        row.host = tm_partial_run_host(r);
        row.name = tm_partial_name(r);
        row.is_main = tm_partial_bool(r);
        st = tm_partial_is_ok(r) ? tm_rows_append(h->threads, &row) : tm_partial_status(r);
    }
    return st;
}

static void load_call(struct tm_partial_reader *r, void *to)
{
    struct call_row *row = to;

    tm_partial_words(r, &row->key, 2);
    row->count = tm_partial_u64(r);
    row->self_ps = tm_partial_time(r);
    row->total_ps = tm_partial_time(r);
    row->name = tm_partial_name(r);
    row->kind = tm_partial_below_u8(r, HOST_CALL_KINDS);
}

static void load_sync(struct tm_partial_reader *r, void *to)
{
    struct sync_row *row = to;

    tm_partial_words(r, &row->key, 2);
    row->count = tm_partial_u64(r);
    row->total_ps = tm_partial_time(r);
    tm_longest_load(r, &row->longest);
    row->name = tm_partial_name(r);
    row->caller = tm_partial_name(r);
    row->annotation = tm_partial_name(r);
}

static tm_status load_delays(struct host *h, struct tm_partial_reader *r)
{
    tm_status st = TM_OK;

    while (st == TM_OK && tm_partial_bool(r)) {
        const uint64_t delay_ps = (uint64_t)tm_partial_time(r), count = tm_partial_u64(r);

        st = tm_partial_is_ok(r) ? tm_lengths_add(h->delays, 0, delay_ps, count) : tm_partial_status(r);
    }
    return st == TM_OK ? tm_partial_status(r) : st;
}

tm_status tm_host_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct host *h = s->state;
    struct call_row call;
    struct sync_row sync;
    tm_status st;

    h->names = tm_partial_names(r);
    load_sums(h, r);
    st = load_hosts(h, r);
    if (st == TM_OK)
        st = load_threads(h, r);
    if (st == TM_OK)
        st = tm_partial_take_groups(r, h->calls, load_call, &call);
    if (st == TM_OK)
        st = tm_partial_take_groups(r, h->syncs, load_sync, &sync);
    return st == TM_OK ? load_delays(h, r) : st;
}
