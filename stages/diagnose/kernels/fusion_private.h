/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FUSION_PRIVATE_H
#define TM_FUSION_PRIVATE_H

#include "pipeline/front.h"
#include "stages/diagnose/kernels/fusion.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"
#include "stages/diagnose/top_rows.h"

/* Lengths in picoseconds that the definitions name; FUSION_LAUNCH_PS is what a launch costs at least. */
#define FUSION_SMALL_PS INT64_C(100000000)
#define FUSION_TINY_PS INT64_C(10000000)
#define FUSION_GAP_PS INT64_C(10000000)
#define FUSION_LAUNCH_PS INT64_C(5000000)

enum {
    FUSION_REPEATED_ABOVE = 10, /* how often an op may come in a step */
    FUSION_BETWEEN_MOST = 16,   /* kernels between the two products of an attention: scale, mask, softmax, dropout */
    FUSION_RUNS_LISTED = 20,
    FUSION_RUN_NAMES = 5,
    FUSION_NO_CELL = 0xffff, /* there are at most 16,384 */
    FUSION_CHAIN_MOST = 8, /* kernels that one fused one is taken to do the work of */
};

/* Parts of what the tables of this stage may take, in sixteenths. */
enum {
    FUSION_SITES = 3,
    FUSION_OP_SITES = 1,
    FUSION_CELLS = 4,
    FUSION_STEP_OPS = 1,
    FUSION_OPS = 2,
    FUSION_LANES = 2,
    FUSION_TOP = 2,
    FUSION_TOP_RUNS = 1
};

static inline size_t fusion_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_FUSION, 16, (unsigned)parts);
}

enum fusion_sum_id {
    FUSION_KERNELS,           /* all of class kernel in the chosen steps */
    FUSION_SMALL,
    FUSION_TINY,
    FUSION_SMALL_COLLECTIVES, /* what stands beside the small ones: other tools count them too */
    FUSION_IN_STEPS,          /* kernels of hosts with marked steps, inside of those */
    FUSION_OF_OPS,            /* kernels whose framework op is known */
    FUSION_ATTENTION,         /* patterns, and the kernels between their products */
    FUSION_LAYOUT,
    FUSION_MATRIX, /* products and convolutions on devices with matrix units */
    FUSION_F32,    /* those of them in 32 bits beside the matrix units */
    FUSION_CHAINED, /* eager pointwise kernels in chains of two or more */
    FUSION_SAVED,   /* chains, and what they take beyond the longest kernel of each */
    FUSION_SUMS
};

struct fusion_sum {
    uint64_t count;
    int64_t total_ps;
};

/* Runs of small kernels. */
struct fusion_runs {
    uint64_t count, kernels;
    int64_t kernel_ps, gap_ps, stake_ps;
};

/* What a row of the tables is about. */
enum fusion_kind { FUSION_REPEATED_OP, FUSION_ATTENTION_OP, FUSION_LAYOUT_OP, FUSION_F32_OP, FUSION_KINDS };

struct fusion_op {
    struct tm_key key; /* of kind, name and op; inside a host of step and device too */
    uint64_t count, steps; /* steps: of a device, in which it came too often */
    int64_t total_ps;
    tm_strid name, op;
    uint8_t kind;
};

/* One listed run. */
struct fusion_run {
    int64_t begin_ps, dur_ps, kernel_ps, gap_ps, stake_ps, step_number;
    uint64_t kernels;
    uint32_t host, device_index, track;
    tm_strid track_name, names[FUSION_RUN_NAMES];
    uint8_t name_count, has_step;
    char device[192];
};

/* What a kernel is to an attention. */
enum fusion_role {
    FUSION_BETWEEN, /* may stand between its products */
    FUSION_PRODUCT, /* a batched product of matrices */
    FUSION_SOFTMAX,
    FUSION_APART,   /* another product, or attention in one kernel */
};

/* What a kernel's place in the tables of ops is, beside that of repeated ones. */
enum fusion_sort {
    FUSION_PLAIN,
    FUSION_COPY,      /* for the sake of a layout: no framework op asked for it */
    FUSION_UNIT,      /* a product on a device with matrix units */
    FUSION_BESIDE,    /* one of 32-bit floats, which does not run on them */
};

/* What is remembered of a site. */
struct fusion_site {
    uint64_t number;
    struct tm_key key;  /* of its row among the repeated ops */
    uint64_t name_hash; /* of the short name */
    tm_strid name, op;  /* the short name; the framework op */
    uint32_t cell;      /* of fusion_steps: where its op was counted last */
    uint8_t role, sort; /* enum fusion_role, fusion_sort */
    bool has_op, is_eager; /* is_eager: pointwise, and nothing fused it */
};
static_assert(sizeof(struct fusion_site) <= 64, "one per kernel that is taken");

/* How often a small op came in one step of one device. */
struct fusion_cell {
    struct tm_key op;      /* struct fusion_site.key */
    uint64_t count;        /* 0 = free */
    int64_t total_ps;
    tm_strid name, op_name;
    uint16_t open;         /* step and device: struct fusion_open_step */
    uint16_t before, next; /* cells of the same; FUSION_NO_CELL = none */
};
static_assert(sizeof(struct fusion_cell) == 48, "with the least memory there are 2048 of them");

/* A step of a device that is going on. */
struct fusion_open_step {
    uint64_t seen, activities; /* that have come; that will come, UINT64_MAX = nobody knows */
    uint32_t device, step;     /* step TM_NONE = free */
    uint16_t first;            /* cell; FUSION_NO_CELL = none */
    uint64_t spilled;          /* a bit for each op of which something went to the groups: by its key modulo 64 */
};

/* Small ops by step and device of the present host (fusion_steps.c). */
struct fusion_steps {
    struct fusion_cell *cells;
    struct fusion_open_step *open;
    uint32_t cell_count, open_count; /* powers of two */
    uint64_t seed;
    struct tm_groups *spilled; /* struct fusion_op */
};

/* One stream of the present host.  All zero: nothing has run. */
struct fusion_lane {
    /* small kernels in a row; kernels 0 = none */
    int64_t begin_ps, end_ps, kernel_ps, gap_ps;
    uint64_t kernels;
    uint32_t device, step;
    /* eager pointwise kernels in a row; chain_kernels 0 = none */
    int64_t chain_ps, chain_longest_ps;
    uint32_t chain_kernels, chain_device, chain_step;
    /* kernels since a batched product */
    uint32_t between, product_step;
    tm_strid softmax_name, softmax_op; /* of the first one, as in struct fusion_site */
    int64_t between_ps;
    uint8_t has_product, has_softmax;
    /* the first different names of the run */
    uint8_t name_count;
    tm_strid names[FUSION_RUN_NAMES];
    uint64_t hashes[FUSION_RUN_NAMES];
};

struct fusion {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the present host */
    struct tm_names *names;
    struct tm_site_rows sites;  /* struct fusion_site */
    struct fusion_steps steps;
    struct tm_groups *ops;      /* struct fusion_op */
    struct tm_front op_sites;   /* of copies and products, to be added to `ops` */
    struct tm_rows *lanes;      /* struct fusion_lane of the present host, by track */
    struct tm_top_rows *longest; /* struct fusion_run */
    struct fusion_sum sums[FUSION_SUMS];
    struct fusion_runs runs;
    uint64_t step_devices; /* chosen steps times devices, over the hosts with marked steps */
    bool has_gpu, has_other_device, has_steps, has_matrix_units;
};

static inline void fusion_add(struct fusion_sum *sum, int64_t dur_ps)
{
    sum->count = tm_sum_counts(sum->count, 1);
    sum->total_ps = tm_sum_times(sum->total_ps, dur_ps);
}

tm_row_merge fusion_merge_ops; /* of struct fusion_op */

/* Whether a GPU has matrix units: tensor cores from compute capability 7.0 on, CDNA of AMD. */
bool fusion_has_matrix_units(const struct tm_device *device);

/* fusion_site.c: what the texts and the HLO tell of a kernel */
tm_status fusion_key(struct fusion *f, struct fusion_op *row) TM_MUST_USE; /* from its kind, name and op */
/* Find it out for a site that is new. */
tm_status fusion_learn_site(struct fusion *f, const struct tm_event *event, struct fusion_site *site) TM_MUST_USE;

/* fusion_steps.c: which ops come too often in a step */
tm_status fusion_open_steps(struct fusion *f) TM_MUST_USE;
tm_status fusion_begin_steps(struct fusion *f) TM_MUST_USE; /* of a host */
void fusion_give_steps(struct fusion *f);
/* An activity of a step.
 * in:  site  of a small kernel; NULL for others */
tm_status fusion_take_in_step(struct fusion *f, const struct tm_event *event, struct fusion_site *site) TM_MUST_USE;
tm_status fusion_end_steps(struct fusion *f) TM_MUST_USE; /* of a host */

/* fusion_lane.c: kernels in a row on a stream */
tm_status fusion_take_in_row(struct fusion *f, const struct tm_event *event,
                             const struct fusion_site *site) TM_MUST_USE;
/* Another activity: the run of small kernels ends. */
tm_status fusion_end_run(struct fusion *f, uint32_t track) TM_MUST_USE;
int fusion_longest_first(const void *a, const void *b);

/* fusion_report.c */
tm_status tm_fusion_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

/* fusion_partial.c */
tm_status tm_fusion_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_fusion_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
