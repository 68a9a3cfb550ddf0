/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FUSION_H
#define TM_FUSION_H

#include "pipeline/front.h"
#include "pipeline/stage.h"
#include "stages/figures/figure_rows.h"

/* Fusion opportunities in the kernels of GPUs: how many are small, runs of small ones on a stream, ops that repeat many
 * times in a step, unfused attention, and layout copies.  METRICS.md section 6. */
extern const struct tm_stage_type tm_fusion_stage;

/* Lengths in picoseconds that the definitions name; FUSION_LAUNCH_PS is what a launch costs at least. */
#define FUSION_SMALL_PS INT64_C(100000000)
#define FUSION_TINY_PS INT64_C(10000000)
#define FUSION_GAP_PS INT64_C(10000000)
#define FUSION_LAUNCH_PS INT64_C(5000000)

enum {
    FUSION_REPEATED_ABOVE = 10, /* how often an op may occur in a step */
    FUSION_BETWEEN_MOST = 16,   /* kernels between the two matmuls of an attention: scale, mask, softmax, dropout */
    FUSION_RUNS_LISTED = 20,
    FUSION_RUN_NAMES = 5,
    FUSION_NO_CELL = 0xffff, /* there are at most 16,384 */
    FUSION_CHAIN_MOST = 8,   /* kernels that one fused kernel is assumed to replace */
};

/* Parts of what the tables of this stage may take, in fifteenths. */
enum {
    FUSION_SITES = 3,
    FUSION_CELLS = 4,
    FUSION_STEP_OPS = 1,
    FUSION_OPS = 2,
    FUSION_LANES = 2,
    FUSION_TOP = 2,
    FUSION_TOP_RUNS = 1
};

static inline size_t fusion_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_FUSION, 15, (unsigned)parts);
}

enum fusion_sum_id {
    FUSION_KERNELS, /* all of class kernel in the analyzed steps */
    FUSION_SMALL,
    FUSION_TINY,
    FUSION_SMALL_COLLECTIVES, /* collectives of the same size, which other tools count as well */
    FUSION_IN_STEPS,          /* kernels of hosts with marked steps, inside of those */
    FUSION_OF_OPS,            /* kernels whose framework op is known */
    FUSION_ATTENTION,         /* patterns, and the kernels between their matmuls */
    FUSION_LAYOUT,
    FUSION_MATRIX,  /* matmuls and convolutions on devices with Tensor Cores or the MXU */
    FUSION_F32,     /* those in 32 bits that do not use the Tensor Cores or the MXU */
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
    struct tm_key key;     /* of kind, name and op; inside a host of step and device too */
    uint64_t count, steps; /* steps: of a device, in which it occurred too often */
    int64_t total_ps;
    tm_strid name, op;
    uint8_t kind;
};

/* One listed run. */
struct fusion_run {
    int64_t start_ps, dur_ps, kernel_ps, gap_ps, stake_ps, step_number;
    uint64_t kernels;
    uint32_t host, device_index, track;
    tm_strid track_name, names[FUSION_RUN_NAMES];
    uint8_t name_count, has_step;
    char device[192];
};

/* How often a small op occurred in one step of one device. */
struct fusion_cell {
    struct tm_key op; /* struct fusion_site.key */
    uint64_t count;
    int64_t total_ps;
    tm_strid name, op_name;
    uint16_t open;         /* step and device: struct fusion_open_step */
    uint16_t before, next; /* cells of the same; FUSION_NO_CELL = none */
};

static_assert(sizeof(struct fusion_cell) == 48, "with the least memory there are 2048 of them");

/* A step of a device in progress. */
struct fusion_open_step {
    uint64_t seen, activities; /* received so far; expected, UINT64_MAX = unknown */
    uint32_t device, step;     /* step TM_NONE = free */
    uint16_t first;            /* cell; FUSION_NO_CELL = none */
    uint16_t number;           /* its place */
    uint64_t spilled;          /* a bit for each op added to the groups: by its key modulo 64 */
};

/* Small ops by step and device of the current host (fusion.c). */
struct fusion_steps {
    struct fusion_cell *cells;
    uint64_t *tags; /* of eight cells each, a byte for each cell: part of a hash of its op and step; 0 = free */
    struct fusion_open_step *open;
    struct fusion_open_step *near;   /* of these, the one that was found last */
    uint32_t cell_count, open_count; /* powers of two */
    uint64_t seed;
    struct tm_groups *spilled; /* struct fusion_op */
};

struct fusion {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the current host */
    struct tm_names *names;
    struct tm_site_rows sites; /* struct fusion_site */
    struct fusion_steps steps;
    struct tm_groups *ops;    /* struct fusion_op */
    struct tm_rows *lanes;    /* struct fusion_lane of the current host, by track */
    struct fusion_lane *near; /* the last one that was requested; NULL = none */
    uint32_t near_track;
    struct tm_top_rows *longest; /* struct fusion_run */
    struct fusion_sum sums[FUSION_SUMS];
    struct fusion_runs runs;
    uint64_t step_devices; /* analyzed steps times devices, over the hosts with marked steps */
    bool has_gpu, has_other_device, has_steps, has_matrix_units;
};

/* --- fusion_sites.c: properties of a kernel from its strings and the HLO --- */

/* The role of a kernel in an attention. */
enum fusion_role {
    FUSION_BETWEEN, /* may be between its matmuls */
    FUSION_PRODUCT, /* a batched matmul */
    FUSION_SOFTMAX,
    FUSION_APART, /* another matmul, or attention in one kernel */
};

/* What a kernel's place in the tables of ops is, beside that of repeated ones. */
enum fusion_sort {
    FUSION_PLAIN,
    FUSION_COPY,   /* for a layout: no framework op requested it */
    FUSION_UNIT,   /* a matmul on a device with Tensor Cores or the MXU */
    FUSION_BESIDE, /* one of 32-bit floats, which does not run on them */
};

/* Cached data of a site. */
struct fusion_site {
    uint64_t number;
    struct tm_key key;     /* of its row among the repeated ops */
    uint64_t name_hash;    /* of the short name */
    tm_strid name, op;     /* the short name; the framework op */
    uint32_t cell;         /* of fusion_steps: where its op was counted last */
    uint8_t role, sort;    /* enum fusion_role, fusion_sort */
    bool has_op, is_eager; /* is_eager: pointwise, and nothing fused it */
};

static_assert(sizeof(struct fusion_site) <= 64, "one per kernel that is taken");

/* Compute it for a new site. */
void tm_fusion_learn_site(struct fusion *f, const struct tm_event *event, struct fusion_site *site);

/* The key of a row, from its kind, name and op. */
void tm_fusion_key(struct fusion *f, struct fusion_op *row);

bool tm_fusion_has_matrix_units(const struct tm_device *device);

/* fusion_report.c; there is a GPU */
tm_status tm_fusion_report(struct fusion *f, struct tm_value *summary) TM_MUST_USE;

#endif
