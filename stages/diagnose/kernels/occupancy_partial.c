/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy in a partial: the sums and all groups, in the order of their keys. */
#include "stages/diagnose/kernels/occupancy_private.h"

static void save_row(struct tm_partial_writer *w, const void *of)
{
    const struct occupancy_row *row = of;

    tm_partial_put_words(w, &row->key, 2);
    tm_partial_put_u64(w, row->count);
    tm_partial_put_i64(w, row->total_ps);
    tm_partial_put_u64(w, row->shared_bytes);
    tm_partial_put_u64(w, row->multiprocessors);
    tm_partial_put_name(w, row->name);
    tm_partial_put_name(w, row->op);
    for (int i = 0; i < 3; i++)
        tm_partial_put_u32(w, row->grid[i]);
    for (int i = 0; i < 3; i++)
        tm_partial_put_u32(w, row->block[i]);
    tm_partial_put_u32(w, row->registers);
    tm_partial_put_u32(w, row->occupancy_milli);
    tm_partial_put_u32(w, row->major);
    tm_partial_put_u32(w, row->minor);
    tm_partial_put_u8(w, row->category);
    tm_partial_put_u8(w, row->is_collective);
}

tm_status tm_occupancy_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct occupancy *o = s->state;

    tm_partial_put_u64(w, o->unknown_count);
    tm_partial_put_i64(w, o->unknown_ps);
    tm_partial_put_u8(w, o->has_gpu);
    tm_partial_put_u8(w, o->has_other_device);
    return tm_partial_put_groups(w, o->groups, save_row);
}

static void load_row(struct tm_partial_reader *r, void *to)
{
    struct occupancy_row *row = to;

    tm_partial_words(r, &row->key, 2);
    row->count = tm_partial_u64(r);
    row->total_ps = tm_partial_time(r);
    row->shared_bytes = tm_partial_u64(r);
    row->multiprocessors = tm_partial_u64(r);
    row->name = tm_partial_name(r);
    row->op = tm_partial_name(r);
    for (int i = 0; i < 3; i++)
        row->grid[i] = tm_partial_u32(r);
    for (int i = 0; i < 3; i++)
        row->block[i] = tm_partial_u32(r);
    row->registers = tm_partial_u32(r);
    row->occupancy_milli = tm_partial_u32(r);
    row->major = tm_partial_u32(r);
    row->minor = tm_partial_u32(r);
    row->category = tm_partial_below_u8(r, TM_CATEGORY_COUNT);
    row->is_collective = tm_partial_bool(r);
}

tm_status tm_occupancy_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct occupancy *o = s->state;
    struct occupancy_row row;

    o->names = tm_partial_names(r);
    o->unknown_count = tm_sum_counts(o->unknown_count, tm_partial_u64(r));
    o->unknown_ps = tm_sum_times(o->unknown_ps, tm_partial_time(r));
    o->has_gpu |= tm_partial_bool(r);
    o->has_other_device |= tm_partial_bool(r);
    return tm_partial_take_groups(r, o->groups, load_row, &row);
}
