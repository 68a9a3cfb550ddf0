/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives in a partial: the sums and all groups, in the order of their keys, what devices are
 * compared by, and all stretches in which collectives are exposed. */
#include "stages/diagnose/collectives/collectives_private.h"

/* --- saving --- */

static void save_row(struct tm_partial_writer *w, const void *of)
{
    const struct collective_row *row = of;

    tm_partial_put_words(w, &row->key, 2);
    tm_partial_put_u64(w, row->count);
    tm_partial_put_i64(w, row->total_ps);
    tm_partial_put_u64(w, row->plain_count);
    tm_partial_put_i64(w, row->plain_ps);
    tm_partial_put_u64(w, row->flight_count);
    tm_partial_put_i64(w, row->flight_ps);
    tm_partial_put_u64(w, row->message_bytes);
    tm_partial_put_u32(w, row->group_size);
    tm_partial_put_name(w, row->data_type);
    tm_partial_put_u8(w, row->kind);
    tm_partial_put_u8(w, row->reach);
}

static tm_status save_stretches(struct collectives *c, struct tm_partial_writer *w)
{
    const void *row = NULL;
    tm_status st = tm_sorter_finish(c->stretches);

    tm_partial_put_u64(w, tm_sorter_count(c->stretches));
    while (st == TM_OK && (st = tm_sorter_next(c->stretches, &row)) == TM_OK && row) {
        const struct stretch *stretch = row;

        tm_partial_put_words(w, &stretch->row, 2);
        tm_partial_put_u64(w, stretch->serial);
        tm_partial_put_i64(w, stretch->begin_ps);
        tm_partial_put_i64(w, stretch->end_ps - stretch->begin_ps);
        tm_partial_put_u32(w, stretch->member);
        tm_partial_put_u8(w, stretch->is_chosen);
    }
    return st;
}

tm_status tm_collectives_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct collectives *c = s->state;
    tm_status st;

    tm_partial_put_u64(w, c->count);
    tm_partial_put_u64(w, c->sized_count);
    tm_partial_put_u64(w, c->bytes);
    tm_partial_put_i64(w, c->total_ps);
    tm_partial_put_u8(w, c->has_device);
    st = tm_partial_put_groups(w, c->groups, save_row);
    if (st == TM_OK)
        st = save_skew(&c->skew, w);
    return st == TM_OK ? save_stretches(c, w) : st;
}

/* --- loading --- */

static void load_row(struct tm_partial_reader *r, void *to)
{
    struct collective_row *row = to;

    tm_partial_words(r, &row->key, 2);
    row->count = tm_partial_u64(r);
    row->total_ps = tm_partial_time(r);
    row->plain_count = tm_partial_u64(r);
    row->plain_ps = tm_partial_time(r);
    row->flight_count = tm_partial_u64(r);
    row->flight_ps = tm_partial_time(r);
    row->is_told = true;
    row->message_bytes = tm_partial_u64(r);
    row->group_size = tm_partial_u32(r);
    row->data_type = tm_partial_name(r);
    row->kind = tm_partial_below_u8(r, TM_COLLECTIVE_KIND_COUNT);
    row->reach = tm_partial_below_u8(r, TM_REACH_COUNT);
}

static tm_status load_stretches(struct collectives *c, struct tm_partial_reader *r, uint32_t first)
{
    const uint64_t count = tm_partial_u64(r);
    tm_status st = tm_partial_status(r);

    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        struct stretch stretch = { .serial = 0 };
        int64_t dur_ps;

        tm_partial_words(r, &stretch.row, 2);
        stretch.serial = tm_partial_u64(r);
        stretch.begin_ps = tm_partial_i64(r);
        dur_ps = tm_partial_time(r);
        stretch.member = first + tm_partial_below_u32(r, c->skew.members.count - first);
        stretch.is_chosen = tm_partial_bool(r);
        if (tm_partial_is_ok(r) && !tm_time_fits(stretch.begin_ps, dur_ps))
            (void)tm_partial_damaged(r, "a time is out of its range");
        stretch.end_ps = tm_sum_times(stretch.begin_ps, dur_ps);
        st = tm_partial_is_ok(r) ? tm_sorter_push(c->stretches, &stretch) : tm_partial_status(r);
    }
    return st;
}

tm_status tm_collectives_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct collectives *c = s->state;
    const uint64_t count = tm_partial_u64(r), sized_count = tm_partial_u64(r);
    struct collective_row row;
    uint32_t first = 0;
    tm_status st;

    c->names = tm_partial_names(r);
    c->count = tm_sum_counts(c->count, count);
    c->sized_count = tm_sum_counts(c->sized_count, sized_count);
    c->bytes = tm_sum_counts(c->bytes, tm_partial_u64(r));
    c->total_ps = tm_sum_times(c->total_ps, tm_partial_time(r));
    c->has_device |= tm_partial_bool(r);
    if (tm_partial_is_ok(r) && sized_count > count)
        return tm_partial_damaged(r, "a number is out of its range");
    st = tm_partial_take_groups(r, c->groups, load_row, &row);
    if (st == TM_OK)
        st = load_skew(&c->skew, r, &first);
    return st == TM_OK ? load_stretches(c, r, first) : st;
}
