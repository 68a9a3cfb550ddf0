/* SPDX-License-Identifier: Apache-2.0 */
/* Operations in a partial: the table whole, in the order of its keys, and the devices.  Hosts and devices are numbered
 * anew where they are read. */
#include "stages/diagnose/ops/ops_private.h"
#include "stages/resolve/classes.h"

enum { COST_WORDS = 6, PRECISION_WORDS = 4 };
static_assert(sizeof(struct op_cost) == 8 * COST_WORDS, "written as words");
static_assert(sizeof(struct precision_sum) == 8 * PRECISION_WORDS, "written as words");

/* --- saving --- */

static void save_row(struct tm_partial_writer *w, const void *of)
{
    const struct op_row *row = of;

    tm_partial_put_words(w, &row->key, 2);
    tm_partial_put_words(w, &row->family, 2);
    tm_partial_put_words(w, &row->cost, COST_WORDS);
    tm_partial_put_u64(w, row->count);
    tm_partial_put_u64(w, row->executions);
    tm_partial_put_i64(w, row->self_ps);
    tm_partial_put_i64(w, row->total_ps);
    tm_partial_put_i64(w, row->min_ps);
    tm_partial_put_i64(w, row->max_ps);
    tm_partial_put_words(w, &row->self_squares, 2);
    tm_partial_put_u64(w, row->devices);
    tm_partial_put_i64(w, row->first_ps);
    tm_partial_put_i64(w, row->first_dur_ps);
    tm_partial_put_u64(w, row->first_tie);
    tm_partial_put_u32(w, row->first_host);
    tm_partial_put_u32(w, row->first_device);
    tm_partial_put_name(w, row->name);
    tm_partial_put_name(w, row->module);
    tm_partial_put_name(w, row->kernel);
    tm_partial_put_name(w, row->opcode);
    tm_partial_put_name(w, row->details);
    tm_partial_put_name(w, row->category);
    tm_partial_put_name(w, row->path);
    tm_partial_put_name(w, row->source);
    tm_partial_put_u8(w, row->class);
    tm_partial_put_u8(w, row->level);
    tm_partial_put_u8(w, row->precision);
    tm_partial_put_u8(w, row->has_matrix);
    tm_partial_put_u8(w, row->is_hlo);
    tm_partial_put_u8(w, row->is_opaque);
    tm_partial_put_u8(w, row->is_wait);
}

static void save_device(struct tm_partial_writer *w, const struct op_device *device)
{
    tm_partial_put_device(w, device->host, device->id);
    tm_partial_put_text(w, device->model);
    tm_partial_put_text(w, device->vendor);
    tm_partial_put_u8(w, device->kind);
    tm_partial_put_u32(w, device->capability_major);
    tm_partial_put_u32(w, device->capability_minor);
    tm_partial_put_u64(w, device->core_count);
    tm_partial_put_u64(w, device->clock_khz);
    tm_partial_put_u64(w, device->memory_bytes);
    tm_partial_put_u64(w, device->memory_bandwidth_bytes);
    tm_partial_put_double(w, device->peak_tflops);
    tm_partial_put_i64(w, device->span_ps);
    tm_partial_put_i64(w, device->busy_ps);
    tm_partial_put_words(w, &device->flops, 2);
    tm_partial_put_words(w, &device->bytes, 2);
    tm_partial_put_words(w, device->matrix_ps, TM_PRECISION_COUNT);
}

static tm_status save_devices(struct ops *o, struct tm_partial_writer *w)
{
    tm_partial_put_u32(w, o->active_devices);
    for (uint32_t i = 0; i < o->active_devices; i++) {
        const struct op_device *device = tm_rows_at(o->devices, i);

        if (!device)
            return o->run->error.status;
        save_device(w, device);
    }
    return TM_OK;
}

tm_status tm_ops_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct ops *o = s->state;
    tm_status st = save_devices(o, w);

    if (st != TM_OK)
        return st;
    tm_partial_put_u64(w, o->count);
    tm_partial_put_i64(w, o->self_ps);
    tm_partial_put_i64(w, o->total_ps);
    tm_partial_put_words(w, &o->cost, COST_WORDS);
    tm_partial_put_i64(w, o->compute_ps);
    for (int i = 0; i < TM_PRECISION_COUNT; i++)
        tm_partial_put_words(w, &o->precisions[i], PRECISION_WORDS);
    tm_partial_put_name(w, o->hlo_why);
    tm_partial_put_u8(w, o->has_hlo);
    tm_partial_put_u8(w, o->costs_of_stats);
    tm_partial_put_u8(w, o->costs_of_hlo);
    return tm_partial_put_groups(w, o->groups, save_row);
}

/* --- loading --- */

static void load_cost(struct tm_partial_reader *r, struct op_cost *cost)
{
    tm_partial_words(r, &cost->flops, 2);
    tm_partial_words(r, &cost->bytes, 2);
    cost->flops_ps = tm_partial_time(r);
    cost->bytes_ps = tm_partial_time(r);
}

static void load_row(struct tm_partial_reader *r, struct op_row *row)
{
    tm_partial_words(r, &row->key, 2);
    tm_partial_words(r, &row->family, 2);
    load_cost(r, &row->cost);
    row->count = tm_partial_u64(r);
    row->executions = tm_partial_u64(r);
    row->self_ps = tm_partial_time(r);
    row->total_ps = tm_partial_time(r);
    row->min_ps = tm_partial_time(r);
    row->max_ps = tm_partial_time(r);
    tm_partial_words(r, &row->self_squares, 2);
    row->devices = tm_partial_u64(r);
    row->first_ps = tm_partial_i64(r);
    row->first_dur_ps = tm_partial_time(r);
    row->first_tie = tm_partial_u64(r);
    row->first_host = tm_partial_below_u32(r, tm_partial_host_count(r));
    row->first_device = tm_partial_u32(r);
    row->name = tm_partial_name(r);
    row->module = tm_partial_name(r);
    row->kernel = tm_partial_name(r);
    row->opcode = tm_partial_name(r);
    row->details = tm_partial_name(r);
    row->category = tm_partial_name(r);
    row->path = tm_partial_name(r);
    row->source = tm_partial_name(r);
    row->class = tm_partial_below_u8(r, TM_CLASS_COUNT);
    row->level = tm_partial_below_u8(r, TM_LEVEL_NONE + 1);
    row->precision = tm_partial_below_u8(r, TM_PRECISION_COUNT);
    row->has_matrix = tm_partial_bool(r);
    row->is_hlo = tm_partial_bool(r);
    row->is_opaque = tm_partial_bool(r);
    row->is_wait = tm_partial_bool(r);
    if (tm_partial_is_ok(r) && row->count == 0)
        (void)tm_partial_damaged(r, "an operation that never ran");
}

static tm_status load_rows(struct ops *o, struct tm_partial_reader *r, uint32_t first, uint32_t devices)
{
    tm_status st = TM_OK;

    while (st == TM_OK && tm_partial_bool(r)) {
        struct op_row row = { .count = 0 };

        load_row(r, &row);
        if (!tm_partial_is_ok(r))
            break;
        if (row.first_device >= devices)
            return tm_partial_damaged(r, "a device that is not there");
        row.first_host += tm_partial_first_host(r);
        row.first_device += first;
        row.devices = tm_move_device_bits(row.devices, first);
        st = tm_groups_add(o->groups, &row);
    }
    return st == TM_OK ? tm_partial_status(r) : st;
}

static void load_device(struct tm_partial_reader *r, struct op_device *device)
{
    device->host = tm_partial_device(r, device->id, sizeof(device->id));
    tm_partial_text(r, device->model, sizeof(device->model));
    tm_partial_text(r, device->vendor, sizeof(device->vendor));
    device->kind = tm_partial_below_u8(r, TM_DEVICE_CPU + 1);
    device->capability_major = tm_partial_u32(r);
    device->capability_minor = tm_partial_u32(r);
    device->core_count = tm_partial_u64(r);
    device->clock_khz = tm_partial_u64(r);
    device->memory_bytes = tm_partial_u64(r);
    device->memory_bandwidth_bytes = tm_partial_u64(r);
    device->peak_tflops = tm_partial_double(r);
    device->span_ps = tm_partial_time(r);
    device->busy_ps = tm_partial_time(r);
    tm_partial_words(r, &device->flops, 2);
    tm_partial_words(r, &device->bytes, 2);
    for (int i = 0; i < TM_PRECISION_COUNT; i++)
        device->matrix_ps[i] = tm_partial_time(r);
}

static tm_status load_devices(struct ops *o, struct tm_partial_reader *r, uint32_t *count)
{
    tm_status st = TM_OK;

    *count = tm_partial_below_u32(r, TM_NONE - (uint64_t)o->active_devices);
    for (uint32_t i = 0; i < *count && st == TM_OK; i++) {
        struct op_device device = { .host = 0 };

        load_device(r, &device);
        if (!tm_partial_is_ok(r))
            break;
        st = tm_rows_append(o->devices, &device);
    }
    return st == TM_OK ? tm_partial_status(r) : st;
}

static void load_sums(struct ops *o, struct tm_partial_reader *r)
{
    struct op_cost cost;
    tm_strid why;

    o->count = tm_sum_counts(o->count, tm_partial_u64(r));
    o->self_ps = tm_sum_times(o->self_ps, tm_partial_time(r));
    o->total_ps = tm_sum_times(o->total_ps, tm_partial_time(r));
    load_cost(r, &cost);
    tm_op_add_cost(&o->cost, &cost);
    o->compute_ps = tm_sum_times(o->compute_ps, tm_partial_time(r));
    for (int i = 0; i < TM_PRECISION_COUNT; i++) {
        struct precision_sum *sum = &o->precisions[i];

        sum->count = tm_sum_counts(sum->count, tm_partial_u64(r));
        sum->total_ps = tm_sum_times(sum->total_ps, tm_partial_time(r));
        sum->matrix_ps = tm_sum_times(sum->matrix_ps, tm_partial_time(r));
        sum->tensor_core_ps = tm_sum_times(sum->tensor_core_ps, tm_partial_time(r));
    }
    why = tm_partial_name(r);
    o->hlo_why = o->hlo_why ? o->hlo_why : why;
    o->has_hlo |= tm_partial_bool(r);
    o->costs_of_stats |= tm_partial_bool(r);
    o->costs_of_hlo |= tm_partial_bool(r);
}

tm_status tm_ops_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct ops *o = s->state;
    const uint32_t first = o->active_devices;
    uint32_t devices;
    tm_status st = load_devices(o, r, &devices);

    if (st != TM_OK)
        return st;
    o->names = tm_partial_names(r);
    o->active_devices += devices;
    load_sums(o, r);
    st = tm_partial_status(r);
    return st == TM_OK ? load_rows(o, r, first, devices) : st;
}
