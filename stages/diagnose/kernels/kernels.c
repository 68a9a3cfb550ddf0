/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, the stage: folds launches by key and counts their lengths, for exact quantiles.  Memory:
 * the hash of a name is remembered in a table of fixed size; groups spill.  What counts is what
 * device_time.c counts as kernels of a device, so that the table and the devices agree. */
#include "stages/diagnose/kernels/kernels.h"

#include <string.h>

#include "pipeline/groups.h"
#include "pipeline/hash.h"
#include "stages/diagnose/kernels/kernels_private.h"

/* --- folding --- */

static bool is_earlier(const struct kernel_row *a, const struct kernel_row *b)
{
    if (a->first_host != b->first_host)
        return a->first_host < b->first_host;
    return a->first_ps != b->first_ps ? a->first_ps < b->first_ps
                                      : a->first_device < b->first_device;
}

static void merge_rows(void *into, const void *from)
{
    struct kernel_row *a = into;
    const struct kernel_row *b = from;

    a->occupancy = tm_sum_wide(a->occupancy, tm_wide_value(b->occupancy));
    a->occupancy_ps = tm_sum_times(a->occupancy_ps, b->occupancy_ps);
    a->count += b->count;
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
    a->min_ps = b->min_ps < a->min_ps ? b->min_ps : a->min_ps;
    a->max_ps = b->max_ps > a->max_ps ? b->max_ps : a->max_ps;
    a->devices |= b->devices;
    a->has_kernel |= b->has_kernel;
    if (!is_earlier(b, a))
        return;
    a->first_ps = b->first_ps;
    a->first_host = b->first_host;
    a->first_device = b->first_device;
    a->hlo_op = b->hlo_op;
    a->category = b->category;
    a->details = b->details;
    a->class = b->class;
    a->level = b->level;
    a->precision = b->precision;
    a->matrix = b->matrix;
}

static void merge_lengths(void *into, const void *from)
{
    ((struct kernel_length *)into)->count += ((const struct kernel_length *)from)->count;
}

/* --- opening --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct kernels *k = s->state;
    const size_t front = kernels_memory(s->run, KERNELS_FRONT);

    k->front_count = 64;
    while (k->front_count < 1u << 20 && 2 * k->front_count * sizeof(*k->front) <= front)
        k->front_count *= 2;
    k->front = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, k->front_count * sizeof(*k->front),
                       &s->run->error);
    k->by_key = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct kernel_row),
                              kernels_memory(s->run, KERNELS_BY_KEY), merge_rows);
    k->lengths = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct kernel_length),
                               kernels_memory(s->run, KERNELS_LENGTHS), merge_lengths);
    return k->front && k->by_key && k->lengths ? TM_OK : s->run->error.status;
}

static void give_numbers(struct tm_stage *s)
{
    struct kernels *k = s->state;

    tm_give(&s->run->budget, TM_ACCOUNT_TABLES, k->numbers, k->number_count * sizeof(*k->numbers));
    k->numbers = NULL;
    k->number_count = 0;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct kernels *k = s->state;

    k->trace = trace;
    k->names = trace->names;
    memset(k->front, 0, k->front_count * sizeof(*k->front));
    k->numbers = tm_take(&s->run->budget, TM_ACCOUNT_TABLES,
                         trace->device_count * sizeof(*k->numbers), &s->run->error);
    if (!k->numbers)
        return s->run->error.status;
    k->number_count = trace->device_count;
    for (uint32_t i = 0; i < trace->device_count; i++)
        k->numbers[i] = trace->devices[i].activities ? k->active_devices++ : TM_NONE;
    return TM_OK;
}

/* --- events --- */

/* As in device_time.c: what a device's sum `kernels` holds. */
static bool is_kernel(const struct kernels *k, const struct tm_event *event)
{
    if (!event->chosen || event->device >= k->number_count || k->numbers[event->device] == TM_NONE)
        return false;
    /* A TPU op that waits for the host is no activity, but an op of its line. */
    if (event->level == TM_LEVEL_NONE && event->record.class != TM_CLASS_TPU_OP)
        return false;
    switch (event->record.class) {
    case TM_CLASS_TPU_ASYNC:
    case TM_CLASS_GRAPH:
        return false;
    case TM_CLASS_TPU_OP:
    case TM_CLASS_CPU_OP:
        return true;
    default:
        break;
    }
    if (k->trace->has_kernel_details)
        return (event->record.flags & TM_FLAG_KERNEL_DETAILS) != 0;
    return event->record.class == TM_CLASS_KERNEL || event->record.class == TM_CLASS_COLLECTIVE;
}

/* What the key of a kernel is made of; no gaps in it. */
struct key_text {
    struct tm_key name, op;
    uint64_t shared_bytes;
    uint32_t grid[3], block[3], registers, unused;
};
static_assert(sizeof(struct key_text) == 72, "hashed as bytes");

/* What the HLO says of the kernel's op.  Of a custom call that is no product it tells nothing: any kernels
 * may be in it. */
static tm_status find_hlo(struct kernels *k, const struct tm_config *config, struct kernel_front *front)
{
    const struct tm_hlo_op *op;
    const tm_status st = tm_trace_hlo(k->trace, config, &op);

    if (!op || (!op->has_matrix && op->target))
        return st;
    front->precision = op->precision;
    front->matrix = op->has_matrix ? KERNEL_WITH_MATRIX : KERNEL_WITHOUT_MATRIX;
    return TM_OK;
}

static tm_status find_key(struct kernels *k, const struct tm_event *event,
                          struct kernel_front *front)
{
    const struct tm_config *c = event->config;
    struct key_text text = { .shared_bytes = c->shared_bytes, .registers = c->registers };
    struct tm_name name, op;
    tm_status st = tm_names_info(k->names, event->record.name, &name);

    if (st == TM_OK)
        st = tm_names_info(k->names, c->op, &op);
    if (st != TM_OK)
        return st;
    text.name = name.hash;
    text.op = op.hash;
    memcpy(text.grid, c->grid, sizeof(text.grid));
    memcpy(text.block, c->block, sizeof(text.block));
    *front = (struct kernel_front){ .key = tm_hash_key(&text, sizeof(text)),
                                    .name_hash = name.hash,
                                    .name = event->record.name,
                                    .config = event->record.config,
                                    .is_used = true };
    return find_hlo(k, c, front);
}

static tm_status add_kernel(struct kernels *k, const struct tm_event *event,
                            const struct kernel_front *front)
{
    const struct tm_config *c = event->config;
    const int64_t dur_ps = event->record.dur_ps;
    const uint32_t number = k->numbers[event->device];
    struct kernel_row row = {
        .key = front->key,
        .name_hash = front->name_hash,
        .count = 1,
        .total_ps = dur_ps,
        .min_ps = dur_ps,
        .max_ps = dur_ps,
        .devices = tm_device_bit(number),
        .first_ps = event->record.start_ps,
        .first_host = k->trace->host,
        .first_device = number,
        .hlo_op = c->hlo_op,
        .category = c->category,
        .details = c->details,
        .class = event->record.class,
        .level = event->level,
        .precision = front->precision,
        .matrix = front->matrix,
        .has_kernel = c->has_kernel,
        .name = event->record.name,
        .op = c->op,
        .grid = { c->grid[0], c->grid[1], c->grid[2] },
        .block = { c->block[0], c->block[1], c->block[2] },
        .registers = c->registers,
        .shared_bytes = c->shared_bytes,
    };
    const struct kernel_length length = { .key = { front->key.low, (uint64_t)dur_ps }, .count = 1 };
    tm_status st;

    if (c->occupancy_milli) {
        row.occupancy = tm_sum_wide(row.occupancy, (unsigned __int128)dur_ps * c->occupancy_milli);
        row.occupancy_ps = dur_ps;
    }
    k->count++;
    k->total_ps = tm_sum_times(k->total_ps, dur_ps);
    k->squares = tm_sum_wide(k->squares, (unsigned __int128)dur_ps * (unsigned __int128)dur_ps);
    st = tm_groups_add(k->by_key, &row);
    return st == TM_OK ? tm_groups_add(k->lengths, &length) : st;
}

static tm_status take_kernel(struct kernels *k, const struct tm_event *event)
{
    const uint64_t mixed =
        tm_hash_mix((uint64_t)event->record.name << 32 | event->record.config, 0);
    struct kernel_front *front = &k->front[mixed & (k->front_count - 1)];

    if (!front->is_used || front->name != event->record.name ||
        front->config != event->record.config) {
        const tm_status st = find_key(k, event, front);

        if (st != TM_OK)
            return st;
    }
    return add_kernel(k, event, front);
}

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct kernels *k = s->state;

    return is_kernel(k, event) ? take_kernel(k, event) : TM_OK;
}

static tm_status end_host(struct tm_stage *s)
{
    give_numbers(s);
    return TM_OK;
}

static void close_stage(struct tm_stage *s)
{
    struct kernels *k = s->state;

    give_numbers(s);
    tm_give(&s->run->budget, TM_ACCOUNT_TABLES, k->front, k->front_count * sizeof(*k->front));
    tm_groups_free(k->by_key);
    tm_groups_free(k->lengths);
}

const struct tm_stage_type tm_kernels_stage = {
    .name = "kernels",
    .summary = "kernels by name and launch configuration",
    .state_bytes = sizeof(struct kernels),
    .classes = TM_CLASSES_ACTIVITY,
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = tm_kernels_report,
    .save = tm_kernels_save,
    .load = tm_kernels_load,
    .close = close_stage,
};
