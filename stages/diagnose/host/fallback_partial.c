/* SPDX-License-Identifier: Apache-2.0 */
/* What ran on the host although a device was there, in a partial: sums, the longest round trips, and all groups in
 * the order of their keys. */
#include "stages/diagnose/host/fallback_private.h"

/* --- saving --- */

static void save_row(struct tm_partial_writer *w, const void *of)
{
    const struct fallback_row *row = of;

    tm_partial_put_words(w, &row->key, 2);
    tm_partial_put_u64(w, row->count);
    tm_partial_put_i64(w, row->total_ps);
    tm_longest_save(w, &row->longest);
    tm_partial_put_name(w, row->name);
    tm_partial_put_name(w, row->op);
    tm_partial_put_u8(w, row->sort);
    tm_partial_put_u8(w, row->kind);
}

tm_status tm_fallback_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct fallback *f = s->state;

    for (int i = 0; i < FALLBACK_SORTS; i++) {
        tm_partial_put_u64(w, f->sums[i].count);
        tm_partial_put_i64(w, f->sums[i].total_ps);
    }
    tm_partial_put_u64(w, f->trip_count);
    tm_partial_put_u64(w, f->trip_bytes);
    tm_partial_put_u64(w, f->trips_of_unknown_bytes);
    tm_partial_put_i64(w, f->trip_ps);
    tm_partial_put_u8(w, f->has_accelerator);
    tm_partial_put_u8(w, f->has_cpu_device);
    tm_partial_put_u8(w, f->has_steps);
    tm_partial_put_u32(w, f->trips_listed);
    for (uint32_t i = 0; i < f->trips_listed; i++) {
        tm_stretch_save(w, &f->trips[i]);
        tm_partial_put_u64(w, f->trips[i].bytes);
    }
    return tm_partial_put_groups(w, f->rows, save_row);
}

/* --- loading --- */

static void load_sums(struct fallback *f, struct tm_partial_reader *r)
{
    for (int i = 0; i < FALLBACK_SORTS; i++) {
        f->sums[i].count = tm_sum_counts(f->sums[i].count, tm_partial_u64(r));
        f->sums[i].total_ps = tm_sum_times(f->sums[i].total_ps, tm_partial_time(r));
    }
    f->trip_count = tm_sum_counts(f->trip_count, tm_partial_u64(r));
    f->trip_bytes = tm_sum_counts(f->trip_bytes, tm_partial_u64(r));
    f->trips_of_unknown_bytes = tm_sum_counts(f->trips_of_unknown_bytes, tm_partial_u64(r));
    f->trip_ps = tm_sum_times(f->trip_ps, tm_partial_time(r));
    f->has_accelerator |= tm_partial_bool(r);
    f->has_cpu_device |= tm_partial_bool(r);
    f->has_steps |= tm_partial_bool(r);
}

static void load_trips(struct fallback *f, struct tm_partial_reader *r)
{
    const uint32_t count = tm_partial_below_u32(r, FALLBACK_TRIPS + 1);

    for (uint32_t i = 0; i < count && tm_partial_is_ok(r); i++) {
        struct tm_stretch trip = { .bytes = 0 };

        tm_stretch_load(r, &trip);
        trip.bytes = tm_partial_u64(r);
        if (tm_partial_is_ok(r))
            tm_stretches_add(f->trips, &f->trips_listed, FALLBACK_TRIPS, &trip);
    }
}

static void load_row(struct tm_partial_reader *r, void *to)
{
    struct fallback_row *row = to;

    tm_partial_words(r, &row->key, 2);
    row->count = tm_partial_u64(r);
    row->total_ps = tm_partial_time(r);
    tm_longest_load(r, &row->longest);
    row->name = tm_partial_name(r);
    row->op = tm_partial_name(r);
    row->sort = tm_partial_below_u8(r, FALLBACK_SORTS);
    row->kind = tm_partial_below_u8(r, TM_CALLBACK_KINDS);
}

tm_status tm_fallback_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct fallback *f = s->state;
    struct fallback_row row;

    f->names = tm_partial_names(r);
    load_sums(f, r);
    load_trips(f, r);
    return tm_partial_take_groups(r, f->rows, load_row, &row);
}
