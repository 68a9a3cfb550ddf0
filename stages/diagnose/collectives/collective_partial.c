/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives in a partial: the sums and all groups, in the order of their keys. */
#include "stages/diagnose/collectives/collectives_private.h"

/* --- saving --- */

static void save_row(struct tm_partial_writer *w, const void *of)
{
    const struct collective_row *row = of;

    tm_partial_put_words(w, &row->key, 2);
    tm_partial_put_u64(w, row->count);
    tm_partial_put_i64(w, row->total_ps);
    tm_partial_put_i64(w, row->exposed_ps);
    tm_partial_put_u64(w, row->moved_count);
    tm_partial_put_i64(w, row->moved_ps);
    tm_partial_put_u64(w, row->message_bytes);
    tm_partial_put_u32(w, row->group_size);
    tm_partial_put_name(w, row->data_type);
    tm_partial_put_u8(w, row->kind);
}

tm_status tm_collectives_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct collectives *c = s->state;

    tm_partial_put_u64(w, c->count);
    tm_partial_put_u64(w, c->sized_count);
    tm_partial_put_u64(w, c->bytes);
    tm_partial_put_i64(w, c->total_ps);
    tm_partial_put_u8(w, c->has_device);
    return tm_partial_put_groups(w, c->groups, save_row);
}

/* --- loading --- */

static void load_row(struct tm_partial_reader *r, void *to)
{
    struct collective_row *row = to;

    tm_partial_words(r, &row->key, 2);
    row->count = tm_partial_u64(r);
    row->total_ps = tm_partial_time(r);
    row->exposed_ps = tm_partial_time(r);
    row->moved_count = tm_partial_u64(r);
    row->moved_ps = tm_partial_time(r);
    row->message_bytes = tm_partial_u64(r);
    row->group_size = tm_partial_u32(r);
    row->data_type = tm_partial_name(r);
    row->kind = tm_partial_below_u8(r, TM_COLLECTIVE_KIND_COUNT);
}

tm_status tm_collectives_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct collectives *c = s->state;
    const uint64_t count = tm_partial_u64(r), sized_count = tm_partial_u64(r);
    struct collective_row row;

    c->names = tm_partial_names(r);
    c->count = tm_sum_counts(c->count, count);
    c->sized_count = tm_sum_counts(c->sized_count, sized_count);
    c->bytes = tm_sum_counts(c->bytes, tm_partial_u64(r));
    c->total_ps = tm_sum_times(c->total_ps, tm_partial_time(r));
    c->has_device |= tm_partial_bool(r);
    if (tm_partial_is_ok(r) && sized_count > count)
        return tm_partial_damaged(r, "a number is out of its range");
    return tm_partial_take_groups(r, c->groups, load_row, &row);
}
