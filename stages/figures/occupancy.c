/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy, the stage: groups the call sites of kernels whose occupancy is recorded by what it depends on.  Memory:
 * groups, which spill. */
#include "stages/figures/figure_stages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <xxhash.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "stages/figures/device_limits.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"
#include "stages/figures/kernel_category.h"
#include "stages/figures/kernels.h"

enum {
    OCCUPANCY_LOW_MILLI = 50000, /* below it a kernel is listed, in thousandths of a percent */
    OCCUPANCY_LOW_SHARE_PCT = 1, /* if it takes that much of the kernel time */
    OCCUPANCY_FULL_MILLI = 100000,
    OCCUPANCY_BINS = 10,
    OCCUPANCY_TAIL_ROWS = 20,
};

/* Shares of the memory for the tables of this stage, in sixteenths. */
enum { OCCUPANCY_GROUPS = 8, OCCUPANCY_TOP = 2 };

static inline size_t occupancy_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_OCCUPANCY, 16, (unsigned)parts);
}

/* Launches of one kernel in one configuration by one op, on devices of one sort. */
struct occupancy_row {
    struct tm_key key; /* high: of the kernel as it is built and launched; low: of grid and op.  The variants of a
                          kernel follow one another in the order of the key */
    uint64_t count;
    int64_t total_ps;
    uint64_t shared_bytes, multiprocessors;
    tm_strid name, op; /* name: without the number that XLA puts after it */
    uint32_t grid[3], block[3], registers, occupancy_milli;
    uint32_t major, minor; /* compute capability; 0 = not recorded */
    uint8_t category;      /* enum tm_kernel_category */
    uint8_t is_collective; /* in addition to the kernels: other tools count them, too */
};

struct occupancy {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the current host */
    struct tm_names *names;
    struct tm_groups *groups; /* struct occupancy_row of what is known */
    int64_t unknown_ps;       /* of kernels whose occupancy is not recorded */
    uint64_t unknown_count;
    bool has_gpu, has_other_device;
};

/* Occupancy in a partial: the sums and all groups, in the order of their keys. */

#define ROW(member, kind, merge) TM_FIELD(struct occupancy_row, member, kind, merge)

static const struct tm_row_field occupancy_fields[] = {
    ROW(key, WORD, KEEP),
    ROW(count, COUNT, SUM),
    ROW(total_ps, TIME, SUM),
    ROW(shared_bytes, COUNT, KEEP),
    ROW(multiprocessors, COUNT, KEEP),
    ROW(name, NAME, KEEP),
    ROW(op, NAME, KEEP),
    ROW(grid, U32, KEEP),
    ROW(block, U32, KEEP),
    ROW(registers, U32, KEEP),
    ROW(occupancy_milli, U32, KEEP),
    ROW(major, U32, KEEP),
    ROW(minor, U32, KEEP),
    TM_FIELD_BELOW(struct occupancy_row, category, U8, KEEP, TM_CATEGORY_COUNT),
    ROW(is_collective, BOOL, KEEP),
    TM_FIELDS_END,
};

static const struct tm_row_field sum_fields[] = {
    TM_FIELD(struct occupancy, unknown_count, COUNT, SUM),
    TM_FIELD(struct occupancy, unknown_ps, TIME, SUM),
    TM_FIELD(struct occupancy, has_gpu, BOOL, ANY),
    TM_FIELD(struct occupancy, has_other_device, BOOL, ANY),
    TM_FIELDS_END,
};

static tm_status occupancy_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct occupancy *o = s->state;

    tm_fields_save(w, sum_fields, o);
    return tm_fields_save_groups(w, occupancy_fields, o->groups);
}

static tm_status occupancy_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct occupancy *o = s->state;

    o->names = tm_partial_names(r);
    tm_fields_load_more(r, sum_fields, o);
    return tm_fields_load_groups(r, occupancy_fields, o->groups, NULL, NULL);
}

/* Builds the section occupancy from the groups.  A kernel's variants, which differ in grid and op alone, are one row:
 * its grid and op are those of the variant that takes most time. */

enum { LOW_ROWS = 100 /* rows of 1 % or more */, NAME_MOST = 512, DIMENSIONS_BYTES = 48 };

static const char no_device[] = "no device activity was recorded";

static const char no_gpu[] = "occupancy applies only to GPUs";

static const char not_recorded[] = "the profile does not record the occupancy of its kernels";

static const char no_waves[] = "the number of blocks that fit on an SM is unknown";

static const char no_kernels[] = "no kernels were recorded in the analyzed steps";

/* A kernel with all its variants. */
struct folded {
    struct occupancy_row top;   /* the variant with the most time */
    struct tm_occupancy filled; /* by it */
    uint64_t count, variants;
    int64_t total_ps;
    int64_t waves_ps, lost_ps, below_one_ps; /* of the variants whose waves are known; lost_ps includes below_one_ps,
                                                what is lost if the grid does not fill the device once */
    int64_t idle_ps;                         /* of multiprocessors that get no block at all */
};

struct sums {
    unsigned __int128 weighted, collective_weighted; /* thousandths of a percent times ps */
    int64_t known_ps, collective_ps;
    uint64_t known_count;
    uint64_t bin_count[OCCUPANCY_BINS];
    int64_t bin_ps[OCCUPANCY_BINS], limiter_ps[TM_LIMITER_COUNT];
    int64_t waves_ps, lost_ps, below_one_ps, idle_ps;
};

struct tables {
    struct tm_top_rows *low, *tail; /* struct folded */
};

/* --- one variant --- */

static uint64_t blocks_of(const struct occupancy_row *row)
{
    return tm_launch_shape_of(row->grid, row->block).blocks;
}

static struct tm_occupancy fill(const struct occupancy_row *row)
{
    struct tm_launch_shape shape = tm_launch_shape_of(row->grid, row->block);

    shape.registers = row->registers;
    shape.shared_bytes = row->shared_bytes;
    shape.multiprocessors = row->multiprocessors;
    shape.major = row->major;
    shape.minor = row->minor;
    shape.recorded_milli = row->occupancy_milli;
    return tm_occupancy_of(&shape);
}

/* Blocks that the device runs at once; 0 = not known. */
static uint64_t slots_of(const struct occupancy_row *row, struct tm_occupancy filled)
{
    uint64_t slots;

    return __builtin_mul_overflow(row->multiprocessors, (uint64_t)filled.resident, &slots) ? 0 : slots;
}

/* The part of its time that the last wave leaves empty: time x (1 - waves / waves rounded up). */
static int64_t lost_of(const struct occupancy_row *row, uint64_t slots)
{
    const uint64_t blocks = blocks_of(row);
    const unsigned __int128 whole = ((unsigned __int128)blocks + slots - 1) / slots * slots;

    return (int64_t)((unsigned __int128)(uint64_t)row->total_ps * (uint64_t)(whole - blocks) / whole);
}

/* The part of the device that a grid of fewer blocks than multiprocessors leaves idle. */
static int64_t idle_of(const struct occupancy_row *row)
{
    const uint64_t blocks = blocks_of(row), all = row->multiprocessors;

    return blocks && blocks < all ? (int64_t)((unsigned __int128)(uint64_t)row->total_ps * (all - blocks) / all) : 0;
}

/* --- folding --- */

static void add_variant(struct folded *f, const struct occupancy_row *row)
{
    const struct tm_occupancy filled = fill(row);
    const uint64_t slots = slots_of(row, filled), blocks = blocks_of(row);

    if (!f->variants || row->total_ps > f->top.total_ps) {
        f->top = *row;
        f->filled = filled;
    }
    f->variants++;
    f->count = tm_sum_counts(f->count, row->count);
    f->total_ps = tm_sum_times(f->total_ps, row->total_ps);
    f->idle_ps = tm_sum_times(f->idle_ps, idle_of(row));
    if (!slots || !blocks || blocks > UINT64_MAX / 2 || slots > UINT64_MAX / 2)
        return;
    f->waves_ps = tm_sum_times(f->waves_ps, row->total_ps);
    f->lost_ps = tm_sum_times(f->lost_ps, lost_of(row, slots));
    if (blocks < slots)
        f->below_one_ps = tm_sum_times(f->below_one_ps, lost_of(row, slots));
}

typedef void use_fn(void *to, const struct folded *kernel);

/* Fold the variants of each kernel and use it. */
static void each_kernel(struct occupancy *o, use_fn *use, void *to)
{
    struct folded kernel = { .variants = 0 };
    const struct occupancy_row *row;

    tm_groups_finish(o->groups);
    while ((row = tm_groups_next(o->groups))) {
        if (kernel.variants && kernel.top.key.high != row->key.high) {
            use(to, &kernel);
            kernel = (struct folded){ .variants = 0 };
        }
        add_variant(&kernel, row);
    }
    if (kernel.variants)
        use(to, &kernel);
}

static void sum_up(void *to, const struct folded *k)
{
    struct sums *sums = to;
    const unsigned __int128 weighted = (unsigned __int128)(uint64_t)k->total_ps * k->top.occupancy_milli;
    uint32_t bin = k->top.occupancy_milli / (OCCUPANCY_FULL_MILLI / OCCUPANCY_BINS);

    if (k->top.is_collective) {
        sums->collective_weighted += weighted;
        sums->collective_ps = tm_sum_times(sums->collective_ps, k->total_ps);
        return;
    }
    bin = bin < OCCUPANCY_BINS ? bin : OCCUPANCY_BINS - 1;
    sums->weighted += weighted;
    sums->known_count = tm_sum_counts(sums->known_count, k->count);
    sums->known_ps = tm_sum_times(sums->known_ps, k->total_ps);
    sums->bin_count[bin] = tm_sum_counts(sums->bin_count[bin], k->count);
    sums->bin_ps[bin] = tm_sum_times(sums->bin_ps[bin], k->total_ps);
    sums->waves_ps = tm_sum_times(sums->waves_ps, k->waves_ps);
    sums->lost_ps = tm_sum_times(sums->lost_ps, k->lost_ps);
    sums->below_one_ps = tm_sum_times(sums->below_one_ps, k->below_one_ps);
    sums->idle_ps = tm_sum_times(sums->idle_ps, k->idle_ps);
}

/* Limiters are per variant: the grid is one of them. */
static void sum_limiters(struct occupancy *o, struct sums *sums)
{
    const struct occupancy_row *row;

    tm_groups_finish(o->groups);
    while ((row = tm_groups_next(o->groups))) {
        int64_t *sum = &sums->limiter_ps[fill(row).limiter];

        if (!row->is_collective)
            *sum = tm_sum_times(*sum, row->total_ps);
    }
}

/* --- rows --- */

static int compare_keys(const struct folded *x, const struct folded *y)
{
    return (x->top.key.high > y->top.key.high) - (x->top.key.high < y->top.key.high);
}

static int longest_first(const void *a, const void *b)
{
    const struct folded *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return compare_keys(x, y);
}

static int most_lost_first(const void *a, const void *b)
{
    const struct folded *x = a, *y = b;

    if (x->lost_ps != y->lost_ps)
        return x->lost_ps > y->lost_ps ? -1 : 1;
    return compare_keys(x, y);
}

struct choice {
    struct tables tables;
    int64_t kernel_ps;
};

static void choose(void *to, const struct folded *k)
{
    struct choice *choice = to;
    const unsigned __int128 parts = (unsigned __int128)(uint64_t)k->total_ps * 100;

    if (k->top.is_collective)
        return;
    if (k->top.occupancy_milli < OCCUPANCY_LOW_MILLI && k->total_ps &&
        parts >= (unsigned __int128)(uint64_t)choice->kernel_ps * OCCUPANCY_LOW_SHARE_PCT)
        tm_top_rows_add(choice->tables.low, k);
    if (k->lost_ps)
        tm_top_rows_add(choice->tables.tail, k);
}

static void add_dimensions(struct tm_value *to, const char *key, const uint32_t size[3])
{
    char text[DIMENSIONS_BYTES];

    if (!size[0]) {
        tm_add_null(to, key, "not recorded");
        return;
    }
    (void)snprintf(text, sizeof(text), "%u,%u,%u", size[0], size[1], size[2]);
    tm_add_string(to, key, text);
}

static void add_name(struct occupancy *o, struct tm_value *to, const char *key, tm_strid name)
{
    tm_add_name_cut(to, key, o->names, name, NAME_MOST, "not recorded");
}

static void add_waves(const struct folded *k, struct tm_value *to)
{
    const uint64_t slots = slots_of(&k->top, k->filled), blocks = blocks_of(&k->top);

    if (slots && blocks)
        tm_add_double(to, "waves", (double)blocks / (double)slots);
    else
        tm_add_null(to, "waves", no_waves);
    if (k->waves_ps) {
        tm_add_double(to, "tail_pct", 100.0 * (double)k->lost_ps / (double)k->waves_ps);
        tm_add_int(to, "lost_ps", k->lost_ps);
    } else {
        tm_add_null(to, "tail_pct", no_waves);
        tm_add_null(to, "lost_ps", no_waves);
    }
}

static void add_row(struct occupancy *o, const struct folded *k, int64_t kernel_ps, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);

    add_name(o, to, "name", k->top.name);
    add_name(o, to, "op", k->top.op);
    tm_add_string(to, "category", tm_category_name[k->top.category]);
    tm_add_uint(to, "variants", k->variants);
    tm_add_double(to, "occupancy_pct", k->top.occupancy_milli / 1000.0);
    tm_add_string(to, "limiter", tm_limiter_name[k->filled.limiter]);
    add_dimensions(to, "grid", k->top.grid);
    add_dimensions(to, "block", k->top.block);
    tm_add_uint(to, "registers", k->top.registers);
    tm_add_uint(to, "shared_bytes", k->top.shared_bytes);
    add_waves(k, to);
    tm_add_uint(to, "count", k->count);
    tm_add_int(to, "total_ps", k->total_ps);
    tm_add_double(to, "share_pct", kernel_ps ? 100.0 * (double)k->total_ps / (double)kernel_ps : 0.0);
}

static void add_rows(struct occupancy *o, struct tm_top_rows *rows, int64_t kernel_ps, struct tm_value *list)
{
    tm_top_rows_sort(rows);
    for (uint64_t i = 0; i < tm_top_rows_count(rows); i++)
        add_row(o, tm_top_rows_at(rows, i), kernel_ps, list);
}

/* --- the section --- */

static double mean_pct(unsigned __int128 weighted, int64_t ps)
{
    return (double)weighted / (double)ps / 1000.0;
}

static void add_sums(const struct occupancy *o, const struct sums *sums, struct tm_value *section)
{
    const int64_t both_ps = tm_sum_times(sums->known_ps, sums->collective_ps);
    struct tm_value *to;

    if (sums->known_ps)
        tm_add_double(section, "mean_pct", mean_pct(sums->weighted, sums->known_ps));
    else
        tm_add_null(section, "mean_pct", o->unknown_count ? not_recorded : no_kernels);
    tm_add_int(section, "known_ps", sums->known_ps);
    tm_add_int(section, "unknown_ps", o->unknown_ps);
    to = tm_add_object(section, "with_collectives");
    if (both_ps)
        tm_add_double(to, "mean_pct", mean_pct(sums->weighted + sums->collective_weighted, both_ps));
    else
        tm_add_null(to, "mean_pct", not_recorded);
    tm_add_int(to, "known_ps", both_ps);
    to = tm_add_array(section, "histogram");
    for (int i = 0; i < OCCUPANCY_BINS && sums->known_count; i++) {
        struct tm_value *bin = tm_add_object(to, NULL);

        tm_add_int(bin, "from_pct", i * (100 / OCCUPANCY_BINS));
        tm_add_int(bin, "to_pct", (i + 1) * (100 / OCCUPANCY_BINS));
        tm_add_uint(bin, "count", sums->bin_count[i]);
        tm_add_int(bin, "total_ps", sums->bin_ps[i]);
    }
    to = tm_add_object(section, "limiters");
    for (int i = 0; i < TM_LIMITER_COUNT; i++)
        tm_add_int(to, tm_limiter_name[i], sums->limiter_ps[i]);
}

static void add_tables(struct occupancy *o, const struct sums *sums, struct tm_value *section)
{
    const size_t memory = occupancy_memory(o->run, OCCUPANCY_TOP);
    struct choice choice = { .kernel_ps = tm_sum_times(sums->known_ps, o->unknown_ps) };
    struct tables *t = &choice.tables;
    struct tm_value *tail;

    t->low = tm_top_rows_new(o->run, TM_ACCOUNT_TABLES, sizeof(struct folded), LOW_ROWS, memory, longest_first);
    t->tail =
        tm_top_rows_new(o->run, TM_ACCOUNT_TABLES, sizeof(struct folded), OCCUPANCY_TAIL_ROWS, memory, most_lost_first);
    if (t->low && t->tail) {
        each_kernel(o, choose, &choice);
        add_rows(o, t->low, choice.kernel_ps, tm_add_array(section, "low"));
        tail = tm_add_object(section, "tail");
        tm_add_int(tail, "known_ps", sums->waves_ps);
        tm_add_int(tail, "lost_ps", sums->lost_ps);
        tm_add_int(tail, "below_one_wave_ps", sums->below_one_ps);
        tm_add_int(tail, "idle_multiprocessors_ps", sums->idle_ps);
        add_rows(o, t->tail, choice.kernel_ps, tm_add_array(tail, "rows"));
    }
    tm_top_rows_free(t->low);
    tm_top_rows_free(t->tail);
}

static tm_status occupancy_report(struct tm_stage *s, struct tm_value *summary)
{
    struct occupancy *o = s->state;
    struct sums sums = { .known_ps = 0 };
    struct tm_value *section;

    if (!o->has_gpu) {
        tm_add_null(summary, "occupancy", o->has_other_device ? no_gpu : no_device);
        return TM_OK;
    }
    each_kernel(o, sum_up, &sums);
    sum_limiters(o, &sums);
    if (!sums.known_ps && !sums.collective_ps) {
        tm_add_null(summary, "occupancy", o->unknown_count ? not_recorded : no_kernels);
        return s->run->error.status;
    }
    section = tm_add_object(summary, "occupancy");
    add_sums(o, &sums, section);
    add_tables(o, &sums, section);
    return s->run->error.status;
}

static void merge_rows(void *into, const void *from)
{
    tm_fields_merge(occupancy_fields, into, from);
}

static tm_status open_stage(struct tm_stage *s)
{
    struct occupancy *o = s->state;

    o->run = s->run;
    o->settings = s->settings;
    o->groups = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct occupancy_row),
                              occupancy_memory(s->run, OCCUPANCY_GROUPS), merge_rows);
    return s->run->error.status;
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

/* --- call sites --- */

/* The data from which each half of a row's key is made; without padding. */
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

static void find_key(struct occupancy *o, struct occupancy_row *row)
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

    tm_names_hashes(o->names, (const tm_strid[]){ row->name, row->op }, 2, hashes);
    kernel.name = hashes[0];
    variant.op = hashes[1];
    row->key = (struct tm_key){ XXH3_64bits(&kernel, sizeof(kernel)), XXH3_64bits(&variant, sizeof(variant)) };
}

static void fill_row(struct occupancy *o, const struct tm_event *event, uint32_t milli, struct occupancy_row *row)
{
    const struct tm_config *config = event->config;
    const struct tm_device *device = &o->trace->devices[event->device];
    const struct tm_category_question question = { .name = event->record.name,
                                                   .hlo_op = config->hlo_op,
                                                   .op = config->op,
                                                   .category = config->category,
                                                   .class = event->record.class,
                                                   .level = event->level };
    const tm_strid name = tm_short_kernel_name(o->names, event->record.name);
    const enum tm_kernel_category category = tm_kernel_category_of(o->names, &question);

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
    find_key(o, row);
}

static bool is_kernel(const struct occupancy *o, const struct tm_event *event)
{
    return event->chosen && event->level != TM_LEVEL_NONE &&
           (event->record.class == TM_CLASS_KERNEL || event->record.class == TM_CLASS_COLLECTIVE) &&
           event->device < o->trace->device_count && o->trace->devices[event->device].kind == TM_DEVICE_GPU;
}

static void take_site(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct occupancy *o = s->state;
    struct occupancy_row row;
    uint32_t milli;

    if (!is_kernel(o, event))
        return;
    if (tm_recorded_occupancy(event->config, &o->trace->devices[event->device], &milli)) {
        fill_row(o, event, milli, &row);
        row.count = sums->count;
        row.total_ps = sums->total_ps;
        tm_groups_add(o->groups, &row);
    } else if (event->record.class == TM_CLASS_KERNEL) {
        o->unknown_count = tm_sum_counts(o->unknown_count, sums->count);
        o->unknown_ps = tm_sum_times(o->unknown_ps, sums->total_ps);
    }
}

static tm_status end_host(struct tm_stage *s)
{
    struct occupancy *o = s->state;

    o->trace = NULL;
    return s->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    struct occupancy *o = s->state;

    if (!o->run)
        return;
    tm_groups_free(o->groups);
}

const struct tm_stage_type tm_occupancy_stage = {
    .name = "occupancy",
    .summary = "SM occupancy of the kernels",
    .state_bytes = sizeof(struct occupancy),
    .classes = TM_CLASS_BIT(TM_CLASS_KERNEL) | TM_CLASS_BIT(TM_CLASS_COLLECTIVE),
    .open = open_stage,
    .begin_host = begin_host,
    .take_site = take_site,
    .end_host = end_host,
    .report = occupancy_report,
    .save = occupancy_save,
    .load = occupancy_load,
    .close = close_stage,
};
