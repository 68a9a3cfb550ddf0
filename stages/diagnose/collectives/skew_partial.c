/* SPDX-License-Identifier: Apache-2.0 */
/* Late arrivals in a partial: devices, clocks, communicators, and all arrivals in order. */
#include "stages/diagnose/collectives/skew_private.h"

/* --- saving --- */

static void save_communicator(struct tm_partial_writer *w, const void *of)
{
    const struct communicator *c = of;

    tm_partial_put_words(w, &c->key, 2);
    tm_partial_put_name(w, c->name);
    tm_partial_put_name(w, c->group);
    tm_partial_put_name(w, c->replica_groups);
    tm_partial_put_words(w, &c->replica_hash, 2);
    tm_partial_put_u32(w, c->group_size);
    tm_partial_put_u8(w, c->kind);
}

static tm_status save_arrivals(struct skew *k, struct tm_partial_writer *w)
{
    const void *row = NULL;
    tm_status st = tm_sorter_finish(k->arrivals);

    tm_partial_put_u64(w, tm_sorter_count(k->arrivals));
    while (st == TM_OK && (st = tm_sorter_next(k->arrivals, &row)) == TM_OK && row) {
        const struct arrival *arrival = row;

        tm_partial_put_words(w, &arrival->communicator, 2);
        tm_partial_put_words(w, &arrival->row, 2);
        tm_partial_put_i64(w, arrival->place);
        tm_partial_put_i64(w, arrival->step);
        tm_partial_put_i64(w, arrival->start_ps);
        tm_partial_put_i64(w, arrival->dur_ps);
        tm_partial_put_u64(w, arrival->serial);
        tm_partial_put_u32(w, arrival->member);
        tm_partial_put_u8(w, arrival->is_start);
        tm_partial_put_u8(w, arrival->is_chosen);
    }
    return st;
}

tm_status save_skew(struct skew *k, struct tm_partial_writer *w)
{
    tm_status st;

    tm_members_save(&k->members, w);
    for (uint32_t i = 0; i < k->members.count; i++) {
        tm_partial_put_u64(w, k->presences[i].count);
        tm_partial_put_i64(w, k->presences[i].collective_ps);
    }
    for (uint32_t i = 0; i < k->clock_count; i++) {
        tm_partial_put_i64(w, k->clocks[i].at);
        tm_partial_put_u8(w, k->clocks[i].base);
    }
    tm_partial_put_u64(w, k->unmatchable);
    st = tm_partial_put_groups(w, k->communicators, save_communicator);
    return st == TM_OK ? save_arrivals(k, w) : st;
}

/* --- loading --- */

static tm_status load_devices(struct skew *k, struct tm_partial_reader *r, uint32_t *first)
{
    tm_status st = tm_members_load(&k->members, k->run, r, first);

    if (st == TM_OK)
        st = grow_presences(k);
    for (uint32_t i = *first; i < k->members.count && st == TM_OK; i++) {
        k->presences[i].count = tm_partial_u64(r);
        k->presences[i].collective_ps = tm_partial_time(r);
        st = tm_partial_status(r);
    }
    for (uint32_t i = 0; i < tm_partial_host_count(r) && st == TM_OK; i++) {
        struct host_clock clock = { .at = tm_partial_i64(r) };

        clock.base = tm_partial_below_u8(r, CLOCK_BASE_COUNT);
        st = tm_partial_is_ok(r) ? add_clock(k, clock) : tm_partial_status(r);
    }
    return st;
}

static void load_communicator(struct tm_partial_reader *r, void *to)
{
    struct communicator *row = to;

    tm_partial_words(r, &row->key, 2);
    row->name = tm_partial_name(r);
    row->group = tm_partial_name(r);
    row->replica_groups = tm_partial_name(r);
    tm_partial_words(r, &row->replica_hash, 2);
    row->group_size = tm_partial_u32(r);
    row->kind = tm_partial_below_u8(r, TM_COLLECTIVE_KIND_COUNT);
}

static tm_status load_arrivals(struct skew *k, struct tm_partial_reader *r, uint32_t first)
{
    const uint64_t count = tm_partial_u64(r);
    tm_status st = tm_partial_status(r);

    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        struct arrival arrival = { .member = 0 };

        tm_partial_words(r, &arrival.communicator, 2);
        tm_partial_words(r, &arrival.row, 2);
        arrival.place = tm_partial_i64(r);
        arrival.step = tm_partial_i64(r);
        arrival.start_ps = tm_partial_i64(r);
        arrival.dur_ps = tm_partial_time(r);
        arrival.serial = tm_partial_u64(r);
        arrival.member = first + tm_partial_below_u32(r, k->members.count - first);
        arrival.is_start = tm_partial_bool(r);
        arrival.is_chosen = tm_partial_bool(r);
        if (tm_partial_is_ok(r) && !tm_time_fits(arrival.start_ps, arrival.dur_ps))
            (void)tm_partial_damaged(r, "a time is out of its range");
        st = tm_partial_is_ok(r) ? tm_sorter_push(k->arrivals, &arrival) : tm_partial_status(r);
    }
    return st;
}

tm_status load_skew(struct skew *k, struct tm_partial_reader *r, uint32_t *first)
{
    struct communicator communicator;
    tm_status st = load_devices(k, r, first);

    k->names = tm_partial_names(r);
    if (st == TM_OK) {
        k->unmatchable = tm_sum_counts(k->unmatchable, tm_partial_u64(r));
        st = tm_partial_take_groups(r, k->communicators, load_communicator, &communicator);
    }
    return st == TM_OK ? load_arrivals(k, r, *first) : st;
}
