/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels in a partial: both tables whole, in the order of their keys.  Hosts and devices are numbered anew where they
 * are read. */
#include "pipeline/groups.h"
#include "stages/diagnose/kernels/kernels_private.h"
#include "stages/resolve/classes.h"

/* --- saving --- */

static void save_row(struct tm_partial_writer *w, const void *of)
{
    const struct kernel_row *row = of;

    tm_partial_put_words(w, &row->key, 2);
    tm_partial_put_words(w, &row->occupancy, 2);
    tm_partial_put_i64(w, row->occupancy_ps);
    tm_partial_put_u64(w, row->count);
    tm_partial_put_i64(w, row->total_ps);
    tm_partial_put_i64(w, row->min_ps);
    tm_partial_put_i64(w, row->max_ps);
    tm_partial_put_words(w, &row->squares, 2);
    tm_partial_put_u64(w, row->devices);
    tm_partial_put_i64(w, row->first_ps);
    tm_partial_put_u32(w, row->first_host);
    tm_partial_put_u32(w, row->first_device);
    tm_partial_put_name(w, row->hlo_op);
    tm_partial_put_name(w, row->category);
    tm_partial_put_name(w, row->details);
    tm_partial_put_u8(w, row->class);
    tm_partial_put_u8(w, row->level);
    tm_partial_put_u8(w, row->precision);
    tm_partial_put_u8(w, row->matrix);
    tm_partial_put_u8(w, row->has_kernel);
    tm_partial_put_name(w, row->name);
    tm_partial_put_name(w, row->op);
    for (int i = 0; i < 3; i++) {
        tm_partial_put_u32(w, row->grid[i]);
        tm_partial_put_u32(w, row->block[i]);
    }
    tm_partial_put_u32(w, row->registers);
    tm_partial_put_u64(w, row->shared_bytes);
}

/* In the order of kernel and length. */
static tm_status save_lengths(struct tm_partial_writer *w, struct tm_lengths *lengths)
{
    const struct tm_length *length = NULL;
    tm_status st = tm_lengths_finish(lengths);

    do {
        if (st == TM_OK)
            st = tm_lengths_next(lengths, &length);
        if (st != TM_OK)
            return st;
        tm_partial_put_u8(w, length != NULL);
        if (length)
            tm_partial_put_words(w, length, sizeof(*length) / sizeof(uint64_t));
    } while (length);
    return TM_OK;
}

tm_status tm_kernels_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct kernels *k = s->state;
    tm_status st;

    tm_partial_put_u32(w, k->active_devices);
    tm_partial_put_u64(w, k->count);
    tm_partial_put_i64(w, k->total_ps);
    tm_partial_put_u64(w, k->compute_count);
    tm_partial_put_i64(w, k->compute_ps);
    tm_partial_put_words(w, &k->compute_squares, 2);
    st = tm_partial_put_groups(w, k->by_key, save_row);
    return st == TM_OK ? save_lengths(w, k->lengths) : st;
}

/* --- loading --- */

static void load_row(struct tm_partial_reader *r, struct kernel_row *row)
{
    tm_partial_words(r, &row->key, 2);
    tm_partial_words(r, &row->occupancy, 2);
    row->occupancy_ps = tm_partial_time(r);
    row->count = tm_partial_u64(r);
    row->total_ps = tm_partial_time(r);
    row->min_ps = tm_partial_time(r);
    row->max_ps = tm_partial_time(r);
    tm_partial_words(r, &row->squares, 2);
    row->devices = tm_partial_u64(r);
    row->first_ps = tm_partial_i64(r);
    row->first_host = tm_partial_below_u32(r, tm_partial_host_count(r));
    row->first_device = tm_partial_u32(r);
    row->hlo_op = tm_partial_name(r);
    row->category = tm_partial_name(r);
    row->details = tm_partial_name(r);
    row->class = tm_partial_below_u8(r, TM_CLASS_COUNT);
    row->level = tm_partial_below_u8(r, TM_LEVEL_NONE + 1);
    row->precision = tm_partial_below_u8(r, TM_PRECISION_COUNT);
    row->matrix = tm_partial_below_u8(r, KERNEL_MATRIX_COUNT);
    row->has_kernel = tm_partial_bool(r);
    row->name = tm_partial_name(r);
    row->op = tm_partial_name(r);
    for (int i = 0; i < 3; i++) {
        row->grid[i] = tm_partial_u32(r);
        row->block[i] = tm_partial_u32(r);
    }
    row->registers = tm_partial_u32(r);
    row->shared_bytes = tm_partial_u64(r);
    if (tm_partial_is_ok(r) && row->count == 0)
        (void)tm_partial_damaged(r, "a kernel that was never launched");
}

static tm_status load_rows(struct kernels *k, struct tm_partial_reader *r, uint32_t devices)
{
    tm_status st = TM_OK;

    while (st == TM_OK && tm_partial_bool(r)) {
        struct kernel_row row = { .count = 0 };
        struct tm_name name;

        load_row(r, &row);
        if (!tm_partial_is_ok(r))
            break;
        if (row.first_device >= devices)
            return tm_partial_damaged(r, "a device that is not there");
        row.first_host += tm_partial_first_host(r);
        row.first_device += k->active_devices;
        row.devices = tm_move_device_bits(row.devices, k->active_devices);
        st = tm_names_info(k->names, row.name, &name);
        row.name_hash = name.hash;
        if (st == TM_OK)
            st = tm_groups_add(k->by_key, &row);
    }
    return st == TM_OK ? tm_partial_status(r) : st;
}

static tm_status load_lengths(struct kernels *k, struct tm_partial_reader *r)
{
    tm_status st = TM_OK;

    while (st == TM_OK && tm_partial_bool(r)) {
        struct tm_length length;

        tm_partial_words(r, &length, sizeof(length) / sizeof(uint64_t));
        if (tm_partial_is_ok(r) && length.value > INT64_MAX)
            return tm_partial_damaged(r, "a length that is negative");
        st = tm_partial_is_ok(r) ? tm_lengths_add(k->lengths, length.group, length.value, length.count)
                                 : tm_partial_status(r);
    }
    return st == TM_OK ? tm_partial_status(r) : st;
}

tm_status tm_kernels_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct kernels *k = s->state;
    const uint32_t devices = tm_partial_below_u32(r, TM_NONE - (uint64_t)k->active_devices);
    struct tm_wide squares;
    tm_status st;

    k->names = tm_partial_names(r);
    k->count = tm_sum_counts(k->count, tm_partial_u64(r));
    k->total_ps = tm_sum_times(k->total_ps, tm_partial_time(r));
    k->compute_count = tm_sum_counts(k->compute_count, tm_partial_u64(r));
    k->compute_ps = tm_sum_times(k->compute_ps, tm_partial_time(r));
    tm_partial_words(r, &squares, 2);
    k->compute_squares = tm_sum_wide(k->compute_squares, tm_wide_value(squares));
    st = load_rows(k, r, devices);
    k->active_devices += devices;
    return st == TM_OK ? load_lengths(k, r) : st;
}
