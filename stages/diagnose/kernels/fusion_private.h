/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FUSION_PRIVATE_H
#define TM_FUSION_PRIVATE_H

#include "pipeline/groups.h"
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
    FUSION_CHAIN_MOST = 8, /* kernels that one fused one is taken to do the work of */
};

/* Parts of what the tables of this stage may take, in sixteenths. */
enum { FUSION_CACHE = 2, FUSION_STEP_OPS = 4, FUSION_OPS = 4, FUSION_LANES = 3, FUSION_TOP = 2, FUSION_TOP_RUNS = 1 };

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

/* What is looked up once for many launches: a name and a configuration of the present host. */
struct fusion_front {
    tm_strid name;
    uint32_t config;
    struct fusion_op repeated;  /* as rows, without count and length */
    struct fusion_op attention; /* of a softmax */
    struct fusion_op layout;
    struct fusion_op f32;
    uint64_t name_hash; /* of the short name */
    uint8_t role;       /* enum fusion_role */
    bool has_op, is_copy, is_matrix, is_f32, is_eager, is_used; /* is_eager: pointwise, and nothing fused it */
};

/* One stream of the present host.  All zero: nothing has run. */
struct fusion_lane {
    /* small kernels in a row; kernels 0 = none */
    int64_t begin_ps, end_ps, kernel_ps, gap_ps;
    uint64_t kernels;
    uint32_t device, step;
    tm_strid names[FUSION_RUN_NAMES];
    uint64_t hashes[FUSION_RUN_NAMES];
    /* eager pointwise kernels in a row; chain_kernels 0 = none */
    int64_t chain_ps, chain_longest_ps;
    uint32_t chain_kernels, chain_device, chain_step;
    /* kernels since a batched product */
    struct fusion_op softmax; /* count 0 = none yet */
    int64_t between_ps;
    uint32_t between, product_step;
    uint8_t name_count, has_product;
};

struct fusion {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the present host */
    struct tm_names *names;
    struct fusion_front *front;
    uint32_t front_count; /* a power of two */
    struct tm_groups *step_ops; /* struct fusion_op of the present host by step and device */
    struct tm_groups *ops;      /* struct fusion_op */
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

/* Whether a GPU has matrix units: tensor cores from compute capability 7.0 on, CDNA of AMD. */
bool fusion_has_matrix_units(const struct tm_device *device);

/* fusion_front.c: what the texts and the HLO tell of a kernel */
tm_status fusion_key(struct fusion *f, struct fusion_op *row) TM_MUST_USE; /* from its kind, name and op */
tm_status fusion_look_up(struct fusion *f, const struct tm_event *event, const struct fusion_front **front) TM_MUST_USE;

/* fusion_lane.c: kernels in a row on a stream */
tm_status fusion_take_in_row(struct fusion *f, const struct tm_event *event,
                             const struct fusion_front *front) TM_MUST_USE;
/* Another activity: the run of small kernels ends. */
tm_status fusion_end_run(struct fusion *f, uint32_t track) TM_MUST_USE;
int fusion_longest_first(const void *a, const void *b);

/* fusion_report.c */
tm_status tm_fusion_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

/* fusion_partial.c */
tm_status tm_fusion_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_fusion_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
