/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy, the stage: folds the kernels whose occupancy is recorded by what it depends on.  Memory: kernels of a
 * site gather in a table of fixed size; groups spill. */
#include "stages/diagnose/kernels/occupancy.h"

#include <xxhash.h>

#include "stages/diagnose/kernels/occupancy_private.h"
#include "stages/diagnose/kernels/short_name.h"
#include "stages/diagnose/kernels/sm_limits.h"

static void merge_rows(void *into, const void *from)
{
    struct occupancy_row *a = into;
    const struct occupancy_row *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
}

static tm_status open_stage(struct tm_stage *s)
{
    struct occupancy *o = s->state;

    o->run = s->run;
    o->settings = s->settings;
    o->groups = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct occupancy_row),
                              occupancy_memory(s->run, OCCUPANCY_GROUPS), merge_rows);
    if (!o->groups)
        return s->run->error.status;
    return tm_front_init(&o->front, s->run, TM_ACCOUNT_TABLES, sizeof(struct occupancy_row),
                         occupancy_memory(s->run, OCCUPANCY_FRONT), o->groups);
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct occupancy *o = s->state;

    o->trace = trace;
    o->names = trace->names;
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        if (device->activities && device->kind == TM_DEVICE_GPU)
            o->has_gpu = true;
        else if (device->activities)
            o->has_other_device = true;
    }
    return TM_OK;
}

/* --- events --- */

/* What the halves of a row's key are made of; no gaps in them. */
struct kernel_text {
    struct tm_key name;
    uint64_t shared_bytes, multiprocessors;
    uint32_t block[3], registers, occupancy_milli, major, minor;
    uint16_t category, is_collective;
};
struct variant_text {
    struct tm_key op;
    uint32_t grid[3], unused;
};
static_assert(sizeof(struct kernel_text) == 64 && sizeof(struct variant_text) == 32, "hashed as bytes");

static tm_status find_key(struct occupancy *o, struct occupancy_row *row)
{
    struct kernel_text kernel = { .shared_bytes = row->shared_bytes,
                                  .multiprocessors = row->multiprocessors,
                                  .block = { row->block[0], row->block[1], row->block[2] },
                                  .registers = row->registers,
                                  .occupancy_milli = row->occupancy_milli,
                                  .major = row->major,
                                  .minor = row->minor,
                                  .category = row->category,
                                  .is_collective = row->is_collective };
    struct variant_text variant = { .grid = { row->grid[0], row->grid[1], row->grid[2] } };
    struct tm_key hashes[2];
    const tm_status st = tm_names_hashes(o->names, (const tm_strid[]){ row->name, row->op }, 2, hashes);

    if (st != TM_OK)
        return st;
    kernel.name = hashes[0];
    variant.op = hashes[1];
    row->key = (struct tm_key){ XXH3_64bits(&kernel, sizeof(kernel)), XXH3_64bits(&variant, sizeof(variant)) };
    return TM_OK;
}

/* The row of a site that is new: of no launch yet. */
static tm_status begin_row(struct occupancy *o, const struct tm_event *event, uint32_t milli, struct occupancy_row *row)
{
    const struct tm_config *config = event->config;
    const struct tm_device *device = &o->trace->devices[event->device];
    const struct tm_category_question question = { .name = event->record.name,
                                                   .hlo_op = config->hlo_op,
                                                   .op = config->op,
                                                   .category = config->category,
                                                   .class = event->record.class,
                                                   .level = event->level };
    enum tm_kernel_category category = TM_CATEGORY_OTHER;
    tm_strid name = 0;
    tm_status st = tm_short_kernel_name(o->names, event->record.name, &name);

    if (st == TM_OK)
        st = tm_kernel_category_of(o->names, &question, &category);
    if (st != TM_OK)
        return st;
    *row = (struct occupancy_row){ .shared_bytes = config->shared_bytes,
                                   .multiprocessors = device->core_count,
                                   .name = name,
                                   .op = config->op,
                                   .grid = { config->grid[0], config->grid[1], config->grid[2] },
                                   .block = { config->block[0], config->block[1], config->block[2] },
                                   .registers = config->registers,
                                   .occupancy_milli = milli,
                                   .major = device->capability_major,
                                   .minor = device->capability_minor,
                                   .category = (uint8_t)category,
                                   .is_collective = event->record.class == TM_CLASS_COLLECTIVE };
    return find_key(o, row);
}

static inline void add_launch(struct occupancy_row *row, int64_t dur_ps)
{
    row->count = tm_sum_counts(row->count, 1);
    row->total_ps = tm_sum_times(row->total_ps, dur_ps);
}

static tm_status take_kernel(struct occupancy *o, const struct tm_event *event)
{
    struct occupancy_row *row;
    uint32_t milli;
    bool is_new;

    if (!tm_recorded_occupancy(event->config, &o->trace->devices[event->device], &milli)) {
        if (event->record.class != TM_CLASS_KERNEL)
            return TM_OK;
        o->unknown_count = tm_sum_counts(o->unknown_count, 1);
        o->unknown_ps = tm_sum_times(o->unknown_ps, event->record.dur_ps);
        return TM_OK;
    }
    row = tm_front_at(&o->front, event->site, &is_new);
    if (!row || (is_new && begin_row(o, event, milli, row) != TM_OK))
        return o->run->error.status;
    add_launch(row, event->record.dur_ps);
    return TM_OK;
}

static bool is_kernel(const struct occupancy *o, const struct tm_event *event)
{
    return event->chosen && event->level != TM_LEVEL_NONE &&
           (event->record.class == TM_CLASS_KERNEL || event->record.class == TM_CLASS_COLLECTIVE) &&
           event->device < o->trace->device_count && o->trace->devices[event->device].kind == TM_DEVICE_GPU;
}

/* Whether it is a kernel whose occupancy is known its site tells: those that have a row are. */
static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct occupancy *o = s->state;
    struct occupancy_row *row = tm_front_find(&o->front, event->site);

    if (!row)
        return is_kernel(o, event) ? take_kernel(o, event) : TM_OK;
    if (event->chosen)
        add_launch(row, event->record.dur_ps);
    return TM_OK;
}

static tm_status end_host(struct tm_stage *s)
{
    struct occupancy *o = s->state;

    o->trace = NULL;
    return tm_front_flush(&o->front);
}

static void close_stage(struct tm_stage *s)
{
    struct occupancy *o = s->state;

    if (!o->run)
        return;
    tm_front_release(&o->front);
    tm_groups_free(o->groups);
}

const struct tm_stage_type tm_occupancy_stage = {
    .name = "occupancy",
    .summary = "how full kernels keep the multiprocessors",
    .state_bytes = sizeof(struct occupancy),
    .classes = TM_CLASS_BIT(TM_CLASS_KERNEL) | TM_CLASS_BIT(TM_CLASS_COLLECTIVE),
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = tm_occupancy_report,
    .save = tm_occupancy_save,
    .load = tm_occupancy_load,
    .close = close_stage,
};
