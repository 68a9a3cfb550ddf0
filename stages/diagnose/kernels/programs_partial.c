/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in a partial: the sums and the longest pauses. */
#include "stages/diagnose/kernels/programs_private.h"

static void save_dispatches(struct tm_partial_writer *w, const struct dispatch_sums *sums)
{
    tm_partial_put_u64(w, sums->count);
    tm_partial_put_u64(w, sums->single_count);
    tm_partial_put_u64(w, sums->step_devices);
    tm_partial_put_i64(w, sums->pause_ps);
    tm_partial_put_i64(w, sums->small_ps);
    tm_partial_put_i64(w, sums->call_ps);
    tm_partial_put_i64(w, sums->execute_ps);
}

static void load_dispatches(struct tm_partial_reader *r, struct dispatch_sums *sums)
{
    struct dispatch_sums more = { .count = tm_partial_u64(r) };

    more.single_count = tm_partial_u64(r);
    more.step_devices = tm_partial_u64(r);
    more.pause_ps = tm_partial_time(r);
    more.small_ps = tm_partial_time(r);
    more.call_ps = tm_partial_time(r);
    more.execute_ps = tm_partial_time(r);
    programs_add_dispatches(sums, &more);
}

tm_status tm_programs_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct programs *p = s->state;

    tm_partial_put_u64(w, p->count);
    tm_partial_put_u64(w, p->step_devices);
    tm_partial_put_u64(w, p->operations);
    tm_partial_put_i64(w, p->operation_ps);
    tm_partial_put_u64(w, p->pause_count);
    tm_partial_put_i64(w, p->pause_ps);
    save_dispatches(w, &p->dispatches);
    tm_partial_put_u8(w, p->has_device);
    tm_partial_put_u8(w, p->has_steps);
    tm_top_rows_sort(p->longest);
    tm_partial_put_u64(w, tm_top_rows_count(p->longest));
    for (uint64_t i = 0; i < tm_top_rows_count(p->longest); i++) {
        const struct program_pause *pause = tm_top_rows_at(p->longest, i);

        tm_partial_put_device(w, pause->host, pause->device);
        tm_partial_put_u32(w, pause->device_index);
        tm_partial_put_i64(w, pause->begin_ps);
        tm_partial_put_i64(w, pause->dur_ps);
        tm_partial_put_u8(w, pause->has_step);
        tm_partial_put_i64(w, pause->step_number);
        tm_partial_put_name(w, pause->before);
        tm_partial_put_name(w, pause->after);
    }
    return TM_OK;
}

static void load_pause(struct tm_partial_reader *r, struct program_pause *pause)
{
    pause->host = tm_partial_device(r, pause->device, sizeof(pause->device));
    pause->device_index = tm_partial_below_u32(r, TM_DEVICES_MOST);
    pause->begin_ps = tm_partial_i64(r);
    pause->dur_ps = tm_partial_time(r);
    pause->has_step = tm_partial_bool(r);
    pause->step_number = tm_partial_i64(r);
    pause->before = tm_partial_name(r);
    pause->after = tm_partial_name(r);
}

tm_status tm_programs_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct programs *p = s->state;
    uint64_t count;
    tm_status st;

    p->names = tm_partial_names(r);
    p->count = tm_sum_counts(p->count, tm_partial_u64(r));
    p->step_devices = tm_sum_counts(p->step_devices, tm_partial_u64(r));
    p->operations = tm_sum_counts(p->operations, tm_partial_u64(r));
    p->operation_ps = tm_sum_times(p->operation_ps, tm_partial_time(r));
    p->pause_count = tm_sum_counts(p->pause_count, tm_partial_u64(r));
    p->pause_ps = tm_sum_times(p->pause_ps, tm_partial_time(r));
    load_dispatches(r, &p->dispatches);
    p->has_device |= tm_partial_bool(r);
    p->has_steps |= tm_partial_bool(r);
    count = tm_partial_below_u64(r, PROGRAMS_PAUSES + 1);
    st = tm_partial_status(r);
    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        struct program_pause pause = { .dur_ps = 0 };

        load_pause(r, &pause);
        st = tm_partial_is_ok(r) ? tm_top_rows_add(p->longest, &pause) : tm_partial_status(r);
    }
    return st;
}
