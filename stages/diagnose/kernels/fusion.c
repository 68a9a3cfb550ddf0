/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion, the stage: counts small kernels, follows each stream for runs of them and for attention in pieces, and
 * folds ops by step.  Memory: what a kernel's texts tell is remembered in a table of fixed size; streams and groups
 * spill. */
#include "stages/diagnose/kernels/fusion.h"

#include <string.h>
#include <strings.h>

#include "stages/diagnose/kernels/fusion_private.h"

static void merge_ops(void *into, const void *from)
{
    struct fusion_op *a = into;
    const struct fusion_op *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->steps = tm_sum_counts(a->steps, b->steps);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
}

/* --- opening --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct fusion *f = s->state;

    f->run = s->run;
    f->settings = s->settings;
    f->front_count = tm_cache_rows(fusion_memory(s->run, FUSION_CACHE), sizeof(*f->front));
    f->front = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, f->front_count * sizeof(*f->front), &s->run->error);
    f->ops = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_op), fusion_memory(s->run, FUSION_OPS),
                           merge_ops);
    f->longest = tm_top_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_run), FUSION_RUNS_LISTED,
                                 fusion_memory(s->run, FUSION_TOP_RUNS), fusion_longest_first);
    return f->front && f->ops && f->longest ? TM_OK : s->run->error.status;
}

static bool has_marked_steps(const struct tm_trace *trace)
{
    return trace->steps.source != TM_STEPS_SESSION;
}

bool fusion_has_matrix_units(const struct tm_device *device)
{
    enum { CDNA_CORES = 100 }; /* the largest GCN of the same capability has 64 */

    if (strncasecmp(device->vendor, "amd", 3) == 0)
        return device->capability_major == 9 && (device->capability_minor >= 4 || device->core_count >= CDNA_CORES);
    return device->capability_major >= 7;
}

static void count_devices(struct fusion *f, const struct tm_trace *trace)
{
    const uint64_t chosen = trace->steps.chosen_end - trace->steps.chosen_begin;
    uint64_t gpus = 0;

    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        if (!device->activities)
            continue;
        gpus += device->kind == TM_DEVICE_GPU;
        f->has_other_device |= device->kind != TM_DEVICE_GPU;
        f->has_matrix_units |= device->kind == TM_DEVICE_GPU && fusion_has_matrix_units(device);
    }
    f->has_gpu |= gpus != 0;
    if (has_marked_steps(trace) && gpus) {
        f->has_steps = true;
        f->step_devices = tm_sum_counts(f->step_devices, chosen * gpus);
    }
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct fusion *f = s->state;

    f->trace = trace;
    f->names = trace->names;
    memset(f->front, 0, f->front_count * sizeof(*f->front));
    count_devices(f, trace);
    f->step_ops = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_op),
                                fusion_memory(s->run, FUSION_STEP_OPS), merge_ops);
    f->lanes = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_lane), fusion_memory(s->run, FUSION_LANES));
    if (!f->step_ops || !f->lanes)
        return s->run->error.status;
    return TM_OK;
}

/* --- events --- */

/* A small op counts for its step and device. */
static tm_status count_in_step(struct fusion *f, const struct tm_event *event, const struct fusion_front *front)
{
    const struct {
        struct tm_key op;
        uint32_t step, device;
    } key = { front->repeated.key, event->step, event->device };
    struct fusion_op row = front->repeated;

    row.key = tm_hash_key(&key, sizeof(key));
    row.count = 1;
    row.total_ps = event->record.dur_ps;
    return tm_groups_add(f->step_ops, &row);
}

static tm_status add_op(struct fusion *f, const struct fusion_op *op, enum fusion_sum_id sum, int64_t dur_ps)
{
    struct fusion_op row = *op;

    fusion_add(&f->sums[sum], dur_ps);
    row.count = 1;
    row.total_ps = dur_ps;
    return tm_groups_add(f->ops, &row);
}

/* What is a copy for the sake of a layout, or a product beside the matrix units. */
static tm_status take_sort(struct fusion *f, const struct tm_event *event, const struct fusion_front *front)
{
    const int64_t dur_ps = event->record.dur_ps;

    if (front->is_copy && !front->has_op)
        return add_op(f, &front->layout, FUSION_LAYOUT, dur_ps);
    if (!front->is_matrix || !fusion_has_matrix_units(&f->trace->devices[event->device]))
        return TM_OK;
    fusion_add(&f->sums[FUSION_MATRIX], dur_ps);
    return front->is_f32 ? add_op(f, &front->f32, FUSION_F32, dur_ps) : TM_OK;
}

static tm_status take_kernel(struct fusion *f, const struct tm_event *event)
{
    const int64_t dur_ps = event->record.dur_ps;
    const bool is_in_step = has_marked_steps(f->trace) && event->step != TM_NONE;
    const struct fusion_front *front = NULL;
    tm_status st = fusion_look_up(f, event, &front);

    if (st != TM_OK)
        return st;
    fusion_add(&f->sums[FUSION_KERNELS], dur_ps);
    if (is_in_step)
        fusion_add(&f->sums[FUSION_IN_STEPS], dur_ps);
    if (front->has_op)
        fusion_add(&f->sums[FUSION_OF_OPS], dur_ps);
    if (dur_ps < FUSION_SMALL_PS)
        fusion_add(&f->sums[FUSION_SMALL], dur_ps);
    if (dur_ps < FUSION_TINY_PS)
        fusion_add(&f->sums[FUSION_TINY], dur_ps);
    st = take_sort(f, event, front);
    if (st == TM_OK && is_in_step && dur_ps < FUSION_SMALL_PS)
        st = count_in_step(f, event, front);
    return st == TM_OK ? fusion_take_in_row(f, event, front) : st;
}

static tm_status take_activity(struct fusion *f, const struct tm_event *event)
{
    if (event->chosen && event->record.class == TM_CLASS_KERNEL)
        return take_kernel(f, event);
    if (event->chosen && event->record.class == TM_CLASS_COLLECTIVE && event->record.dur_ps < FUSION_SMALL_PS)
        fusion_add(&f->sums[FUSION_SMALL_COLLECTIVES], event->record.dur_ps);
    return fusion_end_run(f, event->record.track);
}

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct fusion *f = s->state;
    const bool is_of_gpu = event->level != TM_LEVEL_NONE && event->device < f->trace->device_count &&
                           f->trace->devices[event->device].kind == TM_DEVICE_GPU;

    return is_of_gpu ? take_activity(f, event) : TM_OK;
}

/* --- the end of a host --- */

static void give_host(struct fusion *f)
{
    tm_groups_free(f->step_ops);
    tm_rows_free(f->lanes);
    f->step_ops = NULL;
    f->lanes = NULL;
    f->trace = NULL;
}

/* What came too often in a step of a device goes to the rows of the run. */
static tm_status gather_repeated(struct fusion *f)
{
    const void *next = NULL;
    tm_status st = tm_groups_finish(f->step_ops);

    while (st == TM_OK && (st = tm_groups_next(f->step_ops, &next)) == TM_OK && next) {
        struct fusion_op row = *(const struct fusion_op *)next;

        if (row.count <= FUSION_REPEATED_ABOVE)
            continue;
        row.steps = 1;
        st = fusion_key(f, &row);
        if (st == TM_OK)
            st = tm_groups_add(f->ops, &row);
    }
    return st;
}

static tm_status end_host(struct tm_stage *s)
{
    struct fusion *f = s->state;
    tm_status st = gather_repeated(f);

    for (uint64_t track = 0; track < tm_rows_count(f->lanes) && st == TM_OK; track++)
        st = fusion_end_run(f, (uint32_t)track);
    give_host(f);
    return st;
}

static void close_stage(struct tm_stage *s)
{
    struct fusion *f = s->state;

    if (!f->run)
        return;
    give_host(f);
    tm_give(&f->run->budget, TM_ACCOUNT_TABLES, f->front, f->front_count * sizeof(*f->front));
    tm_groups_free(f->ops);
    tm_top_rows_free(f->longest);
}

const struct tm_stage_type tm_fusion_stage = {
    .name = "fusion",
    .summary = "small kernels, and what could be one kernel",
    .state_bytes = sizeof(struct fusion),
    .classes = TM_CLASSES_ACTIVITY,
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = tm_fusion_report,
    .save = tm_fusion_save,
    .load = tm_fusion_load,
    .close = close_stage,
};
