/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OPS_H
#define TM_OPS_H

#include "pipeline/front.h"
#include "pipeline/stage.h"
#include "pipeline/store/rows.h"
#include "stages/figures/device_limits.h"
#include "stages/figures/figure_rows.h"

/* Operations of the program by self time, and their distance from the device's roofline.  Writes the sections ops and
 * roofline.
 * source: docs/metrics.md, "Operations" and "Roofline" */
extern const struct tm_stage_type tm_ops_stage;

/* The costs of operations for which they are reported.  Sums of all executions. */
struct op_cost {
    struct tm_wide flops, bytes;
    int64_t flops_ps, bytes_ps; /* self time of those with known operations, with known bytes */
};

/* One operation of a program, on all devices of a kind. */
struct op_row {
    struct tm_key key;    /* of name, module, kind of device */
    struct tm_key family; /* of the name without numbers, the path without the numbers of layers */
    uint64_t count;       /* of its events: kernels on a GPU */
    uint64_t executions;  /* of the operation, which may be several kernels */
    int64_t self_ps, total_ps, min_ps, max_ps;
    struct tm_wide self_squares; /* sum of squared self times of events */
    struct op_cost cost;
    uint64_t devices; /* bit n: a device with the number n modulo 64 */
    /* of the first event: of the first host that has one, there the earliest one */
    int64_t first_ps, first_dur_ps;
    uint64_t first_tie;   /* tie breaker for two at one instant: a hash of the event's data */
    uint64_t first_order; /* tie breaker if those are equal, too: the position in the stream of its host */
    uint32_t first_host, first_device;
    tm_strid name, module;    /* module 0 = not recorded */
    tm_strid kernel;          /* the event's own name */
    tm_strid opcode, details; /* opcode 0 = not recorded; details: HLO text */
    tm_strid category, path, source;
    uint8_t class, level;
    uint8_t precision; /* enum tm_precision */
    uint8_t has_matrix;
    uint8_t is_hlo;    /* named by the HLO, not by its kernel */
    uint8_t is_opaque; /* a custom call, whose work only its library knows */
    uint8_t is_wait;   /* runs asynchronously: its bytes moved in another time than its own */
};

/* Work of one type. */
struct precision_sum {
    uint64_t count;
    int64_t total_ps, matrix_ps, tensor_core_ps;
};

/* A device that was active.  Numbered in the order of hosts and devices. */
struct op_device {
    char id[192], model[128], vendor[32];
    uint32_t host;
    uint8_t kind; /* enum tm_device_kind */
    uint32_t capability_major, capability_minor;
    uint64_t core_count, clock_khz, memory_bytes, memory_bandwidth_bytes;
    double peak_tflops;
    int64_t span_ps, busy_ps;
    struct tm_wide flops, bytes;
    int64_t matrix_ps[TM_PRECISION_COUNT]; /* self time of matmuls by type */
};

/* The same while its host is read. */
struct op_lane {
    struct op_device device;
    int64_t until_ps; /* where the union of its activities ends */
    uint32_t number;  /* TM_NONE = not active */
    bool has_any;     /* until_ps is known */
};

/* Where a family is listed. */
struct op_place {
    struct tm_key key;
    uint64_t index;
};

/* Information from the name of a kernel. */
struct op_kernel {
    tm_strid name; /* 0 = unused */
    uint8_t precision, is_tensor_core, has_matrix;
};

struct ops {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the current host */
    struct tm_names *names;
    struct tm_groups *groups; /* struct op_row */
    struct tm_rows *devices;  /* struct op_device */
    struct tm_rows *streams;  /* struct op_stream, of the current host by track */
    struct op_stream *near;   /* the last one that was requested; NULL = none */
    uint32_t near_track;
    struct tm_feed *feed;
    struct tm_site_rows sites; /* struct op_site, of kernels that may belong to several operations */
    struct op_kernel *kernels; /* OPS_KERNELS, by name */
    struct op_lane *lanes;     /* of the current host's devices by index */
    uint32_t lane_count, active_devices;
    uint64_t count;
    int64_t self_ps, total_ps;
    struct op_cost cost; /* of computing operations */
    int64_t compute_ps;  /* their self time */
    tm_strid hlo_why;    /* why the first program that has no costs has none; 0 = all have them */
    struct precision_sum precisions[TM_PRECISION_COUNT];
    bool has_hlo, costs_of_stats, costs_of_hlo;
    struct op_place *places; /* of the listed families, by key; while the report is made */
    uint64_t place_count;
};

/* Parts of the memory of this stage's tables, in fifty-sixths.  Report tables reuse the memory that only events
 * need. */
enum { OPS_GROUPS = 22, OPS_SITES = 4, OPS_STREAMS = 4, OPS_FAR = 2, OPS_SORT = 4, OPS_MEMBERS = 4, OPS_FAMILIES = 6 };

static inline size_t ops_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_OPS, 56, (unsigned)parts);
}

/* The properties of a compute operation; for others (waits, collectives, copies) the level determines them. */
static inline bool op_computes(uint8_t level)
{
    return level == TM_LEVEL_COMPUTE || level == TM_LEVEL_CONTAINER;
}

/* --- op_rows.c: rows --- */

extern const struct tm_row_field tm_op_fields[]; /* of struct op_row */
extern const struct tm_row_field tm_op_cost_fields[];

/* Merge the properties of two operations; those that are not summed come from the earlier one. */
void tm_op_merge(struct op_row *into, const struct op_row *from);

/* Families: operations that are numbered only because they occur several times. */

/* How long a name is without the numbers after it. */
size_t tm_op_family_name(const char *text, size_t length);
/* A path with '*' for the numbers of layers.  out: to[most]; returns its length */
size_t tm_op_family_path(const char *text, size_t length, char *to, size_t most);
struct tm_key tm_op_family_of(struct ops *o, const struct op_row *row);
/* The name of a family, and its common path, 0 = none.  Of any of its operations. */
tm_strid tm_op_family_title(struct ops *o, const struct op_row *row);
tm_strid tm_op_family_scope(struct ops *o, const struct op_row *row);
int tm_op_by_family(const void *a, const void *b); /* order of struct op_place */

/* --- distance of an operation from its roofline --- */

/* Latency: it reaches less than OPS_BOUND_LEAST_PCT of both limits. */
enum op_bound { OP_BOUND_COMPUTE, OP_BOUND_MEMORY, OP_BOUND_LATENCY, OP_BOUND_NONE, OP_BOUND_UNKNOWN, OP_BOUND_COUNT };

enum { OPS_BOUND_LEAST_PCT = 20 };

struct op_roof {
    bool has_flops, has_bytes, has_bandwidth, has_roof;
    double flops, bytes;         /* of all executions */
    double flop_rate, bandwidth; /* per second of self time */
    double roof_pct;             /* of the lower one of its two limits; may exceed 100 */
    enum op_bound roof;          /* which one that is: compute or memory */
    enum op_bound bound;
};

/* in: peaks  of its device */
void tm_op_roof_of(const struct op_row *row, const struct tm_peaks *peaks, struct op_roof *roof);

/* The peaks of a device by its number. */
struct op_peaks {
    struct tm_peaks peaks;
    uint32_t device;
    bool is_known;
};

/* out: *cache  holds them; found again while the device is the same */
void tm_op_peaks(struct ops *o, uint32_t device, struct op_peaks *cache);

static inline double op_number(struct tm_wide wide)
{
    return (double)tm_wide_value(wide);
}

/* op_rows.c: an operation as the tables show it, and what tables of families have of that. */
double tm_op_share(double part, int64_t whole); /* in percent */
void tm_op_add_category(struct ops *o, struct tm_value *to, const struct op_row *row);
void tm_op_add_precision(struct tm_value *to, const struct op_row *row);
void tm_op_add_times(struct tm_value *to, const struct op_row *row);
void tm_op_add_roof(struct tm_value *to, const struct op_row *row, const struct op_roof *roof);
void tm_op_add_first(struct ops *o, struct tm_value *to, const struct op_row *row);
void tm_op_add_row(struct ops *o, struct tm_listed_texts *texts, struct tm_value *to, const struct op_row *row,
                   const struct op_roof *roof);

/* Results of a pass over all operations for the roofline. */
struct op_roofs {
    int64_t bound_ps[OP_BOUND_COUNT]; /* self time of computing operations */
    struct tm_top_rows *far;          /* struct op_far */
};

/* An operation far below its roofline. */
struct op_far {
    int64_t lost_ps; /* what it would save at its roofline */
    struct op_row row;
};

enum { OPS_FAR_LISTED = 20 };

/* op_rows.c */
void tm_op_roofs_open(struct ops *o, struct op_roofs *roofs);
void tm_op_roofs_add(struct ops *o, struct op_roofs *roofs, const struct op_row *row, const struct op_roof *roof);
void tm_op_roofs_close(struct op_roofs *roofs);
void tm_op_roofline(struct ops *o, struct op_roofs *roofs, struct tm_value *summary);

/* ops_report.c */
tm_status tm_ops_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

#endif
