/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, the stage: groups call sites by key and keeps the lengths of their launches, for exact quantiles.  Memory:
 * groups and lengths, which spill.  What counts is what device_time.c counts as kernels of a device, so that the table
 * and the devices agree. */
#include "stages/figures/kernels.h"

#include <ctype.h>
#include <string.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/lengths.h"
#include "pipeline/store/names.h"
#include "stages/figures/device_limits.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/resolve/classes.h"

/* Kernels in a partial: both complete tables, in the order of their keys.  Hosts and devices are renumbered by the
 * reader. */

#define ROW(member, kind, merge) TM_FIELD(struct kernel_row, member, kind, merge)
#define ROW_BELOW(member, limit) TM_FIELD_BELOW(struct kernel_row, member, U8, FIRST, limit)

static const struct tm_row_field kernel_fields[] = {
    ROW(key, WORD, KEEP),
    ROW(occupancy, WIDE, SUM),
    ROW(occupancy_ps, TIME, SUM),
    ROW(count, COUNT, SUM),
    ROW(total_ps, TIME, SUM),
    ROW(min_ps, TIME, MIN),
    ROW(max_ps, TIME, MAX),
    ROW(squares, WIDE, SUM),
    ROW(devices, DEVICES, ANY),
    ROW(first_ps, INSTANT, FIRST),
    TM_FIELD_LOCAL(struct kernel_row, first_number, COUNT, FIRST),
    ROW(first_host, HOST, FIRST),
    ROW(first_device, DEVICE, FIRST),
    ROW(hlo_op, NAME, FIRST),
    ROW(category, NAME, FIRST),
    ROW(details, NAME, FIRST),
    ROW_BELOW(class, TM_CLASS_COUNT),
    ROW_BELOW(level, TM_LEVEL_NONE + 1),
    ROW_BELOW(precision, TM_PRECISION_COUNT),
    ROW_BELOW(matrix, KERNEL_MATRIX_COUNT),
    ROW(has_kernel, BOOL, ANY),
    ROW(name, NAME, KEEP),
    ROW(op, NAME, KEEP),
    ROW(grid[0], U32, KEEP),
    ROW(block[0], U32, KEEP),
    ROW(grid[1], U32, KEEP),
    ROW(block[1], U32, KEEP),
    ROW(grid[2], U32, KEEP),
    ROW(block[2], U32, KEEP),
    ROW(registers, U32, KEEP),
    ROW(shared_bytes, COUNT, KEEP),
    TM_FIELDS_END,
};

static const struct tm_row_field sum_fields[] = {
    TM_FIELD(struct kernels, count, COUNT, SUM),          TM_FIELD(struct kernels, total_ps, TIME, SUM),
    TM_FIELD(struct kernels, compute_count, COUNT, SUM),  TM_FIELD(struct kernels, compute_ps, TIME, SUM),
    TM_FIELD(struct kernels, compute_squares, WIDE, SUM), TM_FIELDS_END,
};

static tm_status kernels_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct kernels *k = s->state;

    tm_partial_put_u32(w, k->active_devices);
    tm_fields_save(w, sum_fields, k);
    tm_fields_save_groups(w, kernel_fields, k->by_key);
    return tm_fields_save_lengths(w, k->lengths);
}

static tm_status complete_row(void *of, struct tm_partial_reader *r, void *row)
{
    struct kernel_row *kernel = row;

    (void)of;
    kernel->name_hash = tm_names_info(tm_partial_names(r), kernel->name).hash;
    return kernel->count ? TM_OK : tm_partial_damaged(r, "a kernel that was never launched");
}

static tm_status kernels_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct kernels *k = s->state;
    const uint32_t devices = tm_partial_below_u32(r, TM_NONE - (uint64_t)k->active_devices);

    k->names = tm_partial_names(r);
    tm_partial_bind_devices(r, k->active_devices, devices);
    k->active_devices += devices;
    tm_fields_load_more(r, sum_fields, k);
    tm_fields_load_groups(r, kernel_fields, k->by_key, complete_row, NULL);
    return tm_fields_load_lengths(r, k->lengths);
}

/* --- folding --- */

/* For launches at the same moment, that of the first device, and among these the first one. */
static bool is_earlier(const struct kernel_row *a, const struct kernel_row *b)
{
    if (a->first_host != b->first_host)
        return a->first_host < b->first_host;
    if (a->first_ps != b->first_ps)
        return a->first_ps < b->first_ps;
    return a->first_device != b->first_device ? a->first_device < b->first_device : a->first_number < b->first_number;
}

static void merge_rows(void *into, const void *from)
{
    tm_fields_merge(kernel_fields, into, from);
    if (is_earlier(from, into))
        tm_fields_take_first(kernel_fields, into, from);
}

/* --- opening --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct kernels *k = s->state;

    k->by_key = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct kernel_row),
                              kernels_memory(s->run, KERNELS_BY_KEY), merge_rows);
    if (!k->by_key)
        return s->run->error.status;
    k->lengths = tm_lengths_new(s->run, TM_ACCOUNT_TABLES, kernels_memory(s->run, KERNELS_LENGTHS));
    return s->run->error.status;
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
    k->numbers = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, trace->device_count * sizeof(*k->numbers), &s->run->error);
    if (!k->numbers)
        return s->run->error.status;
    k->number_count = trace->device_count;
    for (uint32_t i = 0; i < trace->device_count; i++)
        k->numbers[i] = trace->devices[i].activities ? k->active_devices++ : TM_NONE;
    return TM_OK;
}

/* --- call sites --- */

/* As in device_time.c: what a device's sum `kernels` holds. */
static bool is_kernel(const struct kernels *k, const struct tm_event *event)
{
    if (!event->chosen || event->device >= k->number_count || k->numbers[event->device] == TM_NONE)
        return false;
    /* A TPU op that waits for the host is not an activity, but an op of its line. */
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

/* The parts of the key of a kernel; without padding. */
struct key_text {
    struct tm_key name, op;
    uint64_t shared_bytes;
    uint32_t grid[3], block[3], registers, unused;
};

static_assert(sizeof(struct key_text) == 72, "hashed as bytes");

/* What the HLO records about the kernel's op: nothing for a custom call that is not a matmul, which may
 * contain any kernels. */
static void find_hlo(struct kernels *k, const struct tm_config *config, struct kernel_row *row)
{
    const struct tm_hlo_op *op;

    tm_trace_hlo(k->trace, config, &op);
    if (!op || (!op->has_matrix && op->target))
        return;
    row->precision = op->precision;
    row->matrix = op->has_matrix ? KERNEL_WITH_MATRIX : KERNEL_WITHOUT_MATRIX;
}

static void find_key(struct kernels *k, const struct tm_event *event, struct kernel_row *row)
{
    const struct tm_config *c = event->config;
    struct key_text text = { .shared_bytes = c->shared_bytes, .registers = c->registers };
    struct tm_key hashes[2];

    tm_names_hashes(k->names, (const tm_strid[]){ event->record.name, c->op }, 2, hashes);
    text.name = hashes[0];
    text.op = hashes[1];
    memcpy(text.grid, c->grid, sizeof(text.grid));
    memcpy(text.block, c->block, sizeof(text.block));
    row->key = tm_hash_key(&text, sizeof(text));
    row->name_hash = text.name;
}

static void take_site(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct kernels *k = s->state;
    const struct tm_config *c = event->config;
    struct kernel_row row;
    uint32_t number, milli;

    if (!is_kernel(k, event))
        return;
    number = k->numbers[event->device];
    row = (struct kernel_row){
        .count = sums->count,
        .total_ps = sums->total_ps,
        .min_ps = sums->min_ps,
        .max_ps = sums->max_ps,
        .squares = sums->squares,
        .devices = tm_device_bit(number),
        .first_ps = sums->first_ps,
        .first_number = sums->first_order,
        .first_host = k->trace->host,
        .first_device = number,
        .hlo_op = c->hlo_op,
        .category = c->category,
        .details = c->details,
        .class = event->record.class,
        .level = event->level,
        .has_kernel = c->has_kernel,
        .name = event->record.name,
        .op = c->op,
        .grid = { c->grid[0], c->grid[1], c->grid[2] },
        .block = { c->block[0], c->block[1], c->block[2] },
        .registers = c->registers,
        .shared_bytes = c->shared_bytes,
    };
    if (tm_recorded_occupancy(c, &k->trace->devices[event->device], &milli)) {
        row.occupancy = tm_sum_wide(row.occupancy, (unsigned __int128)row.total_ps * milli);
        row.occupancy_ps = row.total_ps;
    }
    find_key(k, event, &row);
    find_hlo(k, c, &row);
    k->count += row.count;
    k->total_ps = tm_sum_times(k->total_ps, row.total_ps);
    if (row.level == TM_LEVEL_COMPUTE && row.class != TM_CLASS_MEMSET) {
        k->compute_count += row.count;
        k->compute_ps = tm_sum_times(k->compute_ps, row.total_ps);
        k->compute_squares = tm_sum_wide(k->compute_squares, tm_wide_value(row.squares));
    }
    tm_groups_add(k->by_key, &row);
}

static struct tm_lengths *lengths_of(struct tm_stage *s, const struct tm_event *event, uint64_t *group)
{
    struct kernels *k = s->state;
    struct kernel_row row;

    if (s->settings->findings_only || !is_kernel(k, event))
        return NULL;
    find_key(k, event, &row);
    *group = row.key.low;
    return k->lengths;
}

static tm_status end_host(struct tm_stage *s)
{
    give_numbers(s);
    return s->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    struct kernels *k = s->state;

    give_numbers(s);
    tm_groups_free(k->by_key);
    tm_lengths_free(k->lengths);
}

const struct tm_stage_type tm_kernels_stage = {
    .name = "kernels",
    .summary = "kernels by name and launch configuration",
    .state_bytes = sizeof(struct kernels),
    .classes = TM_CLASSES_ACTIVITY,
    .open = open_stage,
    .begin_host = begin_host,
    .take_site = take_site,
    .lengths = lengths_of,
    .end_host = end_host,
    .report = tm_kernels_report,
    .save = kernels_save,
    .load = kernels_load,
    .close = close_stage,
};

enum { TEXT_MOST = 1024 };

tm_strid tm_short_kernel_name(struct tm_names *names, tm_strid name)
{
    char copy[TEXT_MOST];
    const char *text;
    size_t length, n;

    text = tm_names_text(names, name, TEXT_MOST, &length);
    if (length >= TEXT_MOST)
        return name;
    n = length;
    while (n && isdigit((unsigned char)text[n - 1]))
        n--;
    if (n == length || n < 2 || (text[n - 1] != '_' && text[n - 1] != '.'))
        return name;
    memcpy(copy, text, n - 1); /* the text does not outlive the next call */
    return tm_names_put(names, copy, n - 1);
}
