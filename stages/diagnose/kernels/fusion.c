/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion, the stage: counts small kernels, follows each stream for runs of them and for attention in pieces, and
 * folds ops by step.  Memory: what a kernel's texts tell is remembered in a table of fixed size, as are the ops of the
 * steps that are going on; streams and groups spill. */
#include "stages/diagnose/kernels/fusion.h"

#include <strings.h>

#include "stages/diagnose/kernels/fusion_private.h"

void fusion_merge_ops(void *into, const void *from)
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
    tm_status st;

    f->run = s->run;
    f->settings = s->settings;
    f->ops = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_op), fusion_memory(s->run, FUSION_OPS),
                           fusion_merge_ops);
    f->longest = tm_top_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_run), FUSION_RUNS_LISTED,
                                 fusion_memory(s->run, FUSION_TOP_RUNS), fusion_longest_first);
    if (!f->ops || !f->longest)
        return s->run->error.status;
    st = tm_site_rows_init(&f->sites, s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_site),
                           fusion_memory(s->run, FUSION_SITES));
    if (st == TM_OK)
        st = tm_front_init(&f->op_sites, s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_op),
                           fusion_memory(s->run, FUSION_OP_SITES), f->ops);
    return st == TM_OK ? fusion_open_steps(f) : st;
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
    count_devices(f, trace);
    f->lanes = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_lane), fusion_memory(s->run, FUSION_LANES));
    return f->lanes ? fusion_begin_steps(f) : s->run->error.status;
}

/* --- events --- */

/* A copy for the sake of a layout, or a product beside the matrix units: as a row of its kind. */
static tm_status add_op(struct fusion *f, const struct tm_event *event, const struct fusion_site *site)
{
    struct fusion_op *row;
    bool is_new;

    row = tm_front_at(&f->op_sites, event->site, &is_new);
    if (!row)
        return f->run->error.status;
    if (is_new) {
        row->kind = site->sort == FUSION_COPY ? FUSION_LAYOUT_OP : FUSION_F32_OP;
        row->name = site->name;
        row->op = site->op;
        if (fusion_key(f, row) != TM_OK)
            return f->run->error.status;
    }
    row->count = tm_sum_counts(row->count, 1);
    row->total_ps = tm_sum_times(row->total_ps, event->record.dur_ps);
    return TM_OK;
}

static tm_status take_sort(struct fusion *f, const struct tm_event *event, const struct fusion_site *site)
{
    const int64_t dur_ps = event->record.dur_ps;

    if (site->sort == FUSION_PLAIN)
        return TM_OK;
    fusion_add(&f->sums[site->sort == FUSION_COPY ? FUSION_LAYOUT : FUSION_MATRIX], dur_ps);
    if (site->sort == FUSION_UNIT)
        return TM_OK;
    if (site->sort == FUSION_BESIDE)
        fusion_add(&f->sums[FUSION_F32], dur_ps);
    return add_op(f, event, site);
}

static void add_sums(struct fusion *f, int64_t dur_ps, bool is_in_step, bool has_op)
{
    fusion_add(&f->sums[FUSION_KERNELS], dur_ps);
    if (is_in_step)
        fusion_add(&f->sums[FUSION_IN_STEPS], dur_ps);
    if (has_op)
        fusion_add(&f->sums[FUSION_OF_OPS], dur_ps);
    if (dur_ps < FUSION_SMALL_PS)
        fusion_add(&f->sums[FUSION_SMALL], dur_ps);
    if (dur_ps < FUSION_TINY_PS)
        fusion_add(&f->sums[FUSION_TINY], dur_ps);
}

static tm_status take_kernel(struct fusion *f, const struct tm_event *event, bool is_in_step)
{
    bool is_new;
    struct fusion_site *site = tm_site_rows_at(&f->sites, event->site, &is_new);

    if (!site || (is_new && fusion_learn_site(f, event, site) != TM_OK))
        return f->run->error.status;
    add_sums(f, event->record.dur_ps, is_in_step, site->has_op);
    tm_status st = take_sort(f, event, site);

    if (st == TM_OK && is_in_step)
        st = fusion_take_in_step(f, event, event->record.dur_ps < FUSION_SMALL_PS ? site : NULL);
    return st == TM_OK ? fusion_take_in_row(f, event, site) : st;
}

static tm_status take_activity(struct fusion *f, const struct tm_event *event)
{
    const bool is_in_step = event->chosen && event->step != TM_NONE && has_marked_steps(f->trace);
    tm_status st = TM_OK;

    if (event->chosen && event->record.class == TM_CLASS_KERNEL)
        return take_kernel(f, event, is_in_step);
    if (event->chosen && event->record.class == TM_CLASS_COLLECTIVE && event->record.dur_ps < FUSION_SMALL_PS)
        fusion_add(&f->sums[FUSION_SMALL_COLLECTIVES], event->record.dur_ps);
    if (is_in_step)
        st = fusion_take_in_step(f, event, NULL);
    return st == TM_OK ? fusion_end_run(f, event->record.track) : st;
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
    tm_rows_free(f->lanes);
    f->lanes = NULL;
    f->trace = NULL;
}

static tm_status end_host(struct tm_stage *s)
{
    struct fusion *f = s->state;
    tm_status st = fusion_end_steps(f);

    if (st == TM_OK)
        st = tm_front_flush(&f->op_sites);
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
    fusion_give_steps(f);
    tm_site_rows_release(&f->sites);
    tm_front_release(&f->op_sites);
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
