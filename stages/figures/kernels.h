/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KERNELS_H
#define TM_KERNELS_H

#include "pipeline/stage.h"
#include "pipeline/store/lengths.h"
#include "pipeline/store/names.h"
#include "stages/figures/figure_rows.h"

/* The kernels (on a TPU its ops, on CPU-only runs the CPU ops) of the analyzed steps, grouped by name
 * and launch configuration, by name, and by category.  Writes the section kernels.  source:
 * docs/metrics.md, "Kernels" */
extern const struct tm_stage_type tm_kernels_stage;

/* A kernel's name without XLA's numeric suffix: "loop_add_fusion_12" and "loop_add_fusion.3" are "loop_add_fusion". 
 * Names of 1 KiB or more stay unchanged.
 * out:    handle of the short name; `name` itself if it has no number */
tm_strid tm_short_kernel_name(struct tm_names *names, tm_strid name);

/* What the HLO of its op shows about matmuls. */
enum kernel_matrix { KERNEL_MATRIX_UNKNOWN, KERNEL_WITHOUT_MATRIX, KERNEL_WITH_MATRIX, KERNEL_MATRIX_COUNT };

/* Launches of one kernel in one configuration by one op. */
struct kernel_row {
    struct tm_key key; /* of name, grid, block, registers, shared memory, op */
    uint64_t count;
    int64_t total_ps, min_ps, max_ps;
    struct tm_wide squares;   /* sum of squared lengths */
    int64_t occupancy_ps;     /* of the launches if it is known */
    struct tm_wide occupancy; /* thousandths of a percent times ps, of those */
    struct tm_key name_hash;
    uint64_t devices; /* bit n: a device with the number n modulo 64 */
    /* of the first launch: of the first host that has one, there the earliest one */
    int64_t first_ps;
    uint64_t first_number; /* its place in the stream of its host; not in a partial */
    uint32_t first_host, first_device;
    tm_strid hlo_op, category, details;
    uint8_t class, level;
    uint8_t precision; /* enum tm_precision, by the HLO; 0 = not known */
    uint8_t matrix;    /* enum kernel_matrix */
    /* the same for all */
    uint8_t has_kernel;
    tm_strid name, op;
    uint32_t grid[3], block[3], registers;
    uint64_t shared_bytes;
};

/* Launches of one name. */
struct kernel_name_row {
    struct tm_key key; /* hash of the name */
    uint64_t count, variants;
    int64_t total_ps, min_ps, max_ps;
    struct tm_wide squares;
    uint64_t devices;
    /* of the variant with the most time, which determines the category */
    struct tm_key top;
    int64_t top_ps;
    tm_strid name, hlo_op, op, category;
    uint8_t class, level, matrix;
    uint8_t unused[5]; /* rows that spill have no holes */
};

static_assert(sizeof(struct kernel_name_row) == 128, "no holes");

struct kernels {
    const struct tm_trace *trace; /* of the current host */
    struct tm_names *names;
    struct tm_groups *by_key;   /* struct kernel_row */
    struct tm_lengths *lengths; /* in picoseconds, of the low half of a kernel's key */
    uint32_t *numbers;          /* of the current host's devices by index: the number in the run; TM_NONE = idle */
    uint32_t number_count;
    uint32_t active_devices; /* of the run so far */
    uint64_t count;
    int64_t total_ps;
    /* of those that compute: no collectives, copies and memsets */
    uint64_t compute_count;
    int64_t compute_ps;
    struct tm_wide compute_squares; /* sum of squared lengths */
};

/* Parts of what the tables of this stage may take, in twenty-ninths. */
enum {
    KERNELS_BY_KEY = 8,
    KERNELS_LENGTHS = 10,
    KERNELS_NAMES = 3,
    KERNELS_SORT = 2,
    KERNELS_VARIANTS = 2,
    KERNELS_OF_NAMES = 6 /* instead of KERNELS_BY_KEY */
};

static inline size_t kernels_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_KERNELS, 29, (unsigned)parts);
}

/* kernels_report.c */
tm_status tm_kernels_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

#endif
