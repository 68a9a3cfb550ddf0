/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion in a partial: the sums, the rows of ops and the longest runs. */
#include "stages/diagnose/kernels/fusion_private.h"

/* --- saving --- */

static void save_op(struct tm_partial_writer *w, const void *of)
{
    const struct fusion_op *row = of;

    tm_partial_put_words(w, &row->key, 2);
    tm_partial_put_u64(w, row->count);
    tm_partial_put_u64(w, row->steps);
    tm_partial_put_i64(w, row->total_ps);
    tm_partial_put_name(w, row->name);
    tm_partial_put_name(w, row->op);
    tm_partial_put_u8(w, row->kind);
}

static void save_run(struct tm_partial_writer *w, const struct fusion_run *run)
{
    tm_partial_put_device(w, run->host, run->device);
    tm_partial_put_u32(w, run->device_index);
    tm_partial_put_u32(w, run->track);
    tm_partial_put_i64(w, run->begin_ps);
    tm_partial_put_i64(w, run->dur_ps);
    tm_partial_put_i64(w, run->kernel_ps);
    tm_partial_put_i64(w, run->gap_ps);
    tm_partial_put_i64(w, run->stake_ps);
    tm_partial_put_u64(w, run->kernels);
    tm_partial_put_u8(w, run->has_step);
    tm_partial_put_i64(w, run->step_number);
    tm_partial_put_name(w, run->track_name);
    tm_partial_put_u8(w, run->name_count);
    for (int i = 0; i < run->name_count; i++)
        tm_partial_put_name(w, run->names[i]);
}

tm_status tm_fusion_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct fusion *f = s->state;

    tm_partial_put_words(w, f->sums, sizeof(f->sums) / (sizeof(uint64_t)));
    tm_partial_put_words(w, &f->runs, sizeof(f->runs) / (sizeof(uint64_t)));
    tm_partial_put_u64(w, f->step_devices);
    tm_partial_put_u8(w, f->has_gpu);
    tm_partial_put_u8(w, f->has_other_device);
    tm_partial_put_u8(w, f->has_steps);
    tm_partial_put_u8(w, f->has_matrix_units);
    tm_top_rows_sort(f->longest);
    tm_partial_put_u64(w, tm_top_rows_count(f->longest));
    for (uint64_t i = 0; i < tm_top_rows_count(f->longest); i++)
        save_run(w, tm_top_rows_at(f->longest, i));
    return tm_partial_put_groups(w, f->ops, save_op);
}

/* --- loading --- */

static void load_sums(struct fusion *f, struct tm_partial_reader *r)
{
    for (int i = 0; i < FUSION_SUMS; i++) {
        f->sums[i].count = tm_sum_counts(f->sums[i].count, tm_partial_u64(r));
        f->sums[i].total_ps = tm_sum_times(f->sums[i].total_ps, tm_partial_time(r));
    }
    f->runs.count = tm_sum_counts(f->runs.count, tm_partial_u64(r));
    f->runs.kernels = tm_sum_counts(f->runs.kernels, tm_partial_u64(r));
    f->runs.kernel_ps = tm_sum_times(f->runs.kernel_ps, tm_partial_time(r));
    f->runs.gap_ps = tm_sum_times(f->runs.gap_ps, tm_partial_time(r));
    f->runs.stake_ps = tm_sum_times(f->runs.stake_ps, tm_partial_time(r));
    f->step_devices = tm_sum_counts(f->step_devices, tm_partial_u64(r));
    f->has_gpu |= tm_partial_bool(r);
    f->has_other_device |= tm_partial_bool(r);
    f->has_steps |= tm_partial_bool(r);
    f->has_matrix_units |= tm_partial_bool(r);
}

static void load_run(struct tm_partial_reader *r, struct fusion_run *run)
{
    run->host = tm_partial_device(r, run->device, sizeof(run->device));
    run->device_index = tm_partial_below_u32(r, TM_DEVICES_MOST);
    run->track = tm_partial_u32(r);
    run->begin_ps = tm_partial_i64(r);
    run->dur_ps = tm_partial_time(r);
    run->kernel_ps = tm_partial_time(r);
    run->gap_ps = tm_partial_time(r);
    run->stake_ps = tm_partial_time(r);
    run->kernels = tm_partial_u64(r);
    run->has_step = tm_partial_bool(r);
    run->step_number = tm_partial_i64(r);
    run->track_name = tm_partial_name(r);
    run->name_count = tm_partial_below_u8(r, FUSION_RUN_NAMES + 1);
    for (int i = 0; i < run->name_count; i++)
        run->names[i] = tm_partial_name(r);
}

static tm_status load_runs(struct fusion *f, struct tm_partial_reader *r)
{
    const uint64_t count = tm_partial_below_u64(r, FUSION_RUNS_LISTED + 1);
    tm_status st = tm_partial_status(r);

    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        struct fusion_run run = { .kernels = 0 };

        load_run(r, &run);
        st = tm_partial_is_ok(r) ? tm_top_rows_add(f->longest, &run) : tm_partial_status(r);
    }
    return st;
}

/* Nothing is divided by what a file says is 0. */
static bool is_sound(const struct fusion_op *row)
{
    return row->count && (row->kind != FUSION_REPEATED_OP || row->steps);
}

static void load_op(struct tm_partial_reader *r, void *to)
{
    struct fusion_op *row = to;

    tm_partial_words(r, &row->key, 2);
    row->count = tm_partial_u64(r);
    row->steps = tm_partial_u64(r);
    row->total_ps = tm_partial_time(r);
    row->name = tm_partial_name(r);
    row->op = tm_partial_name(r);
    row->kind = tm_partial_below_u8(r, FUSION_KINDS);
    if (tm_partial_is_ok(r) && !is_sound(row))
        (void)tm_partial_damaged(r, "a number is out of its range");
}

tm_status tm_fusion_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct fusion *f = s->state;
    struct fusion_op op;
    tm_status st;

    f->names = tm_partial_names(r);
    load_sums(f, r);
    st = load_runs(f, r);
    return st == TM_OK ? tm_partial_take_groups(r, f->ops, load_op, &op) : st;
}
