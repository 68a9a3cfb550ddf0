/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OCCUPANCY_PRIVATE_H
#define TM_OCCUPANCY_PRIVATE_H

#include "pipeline/front.h"
#include "stages/diagnose/kernel_category.h"
#include "stages/diagnose/kernels/occupancy.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"

enum {
    OCCUPANCY_LOW_MILLI = 50000, /* below it a kernel is listed, in thousandths of a percent */
    OCCUPANCY_LOW_SHARE_PCT = 1, /* if it takes that much of the kernel time */
    OCCUPANCY_FULL_MILLI = 100000,
    OCCUPANCY_BINS = 10,
    OCCUPANCY_TAIL_ROWS = 20,
};

/* Parts of what the tables of this stage may take, in sixteenths. */
enum { OCCUPANCY_FRONT = 4, OCCUPANCY_GROUPS = 8, OCCUPANCY_TOP = 2 };

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
    tm_strid name, op;     /* name: without the number that XLA puts behind it */
    uint32_t grid[3], block[3], registers, occupancy_milli;
    uint32_t major, minor; /* compute capability; 0 = not recorded */
    uint8_t category;      /* enum tm_kernel_category */
    uint8_t is_collective; /* beside the kernels: other tools count them too */
};

struct occupancy {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the present host */
    struct tm_names *names;
    struct tm_groups *groups; /* struct occupancy_row of what is known */
    struct tm_front front;    /* of the groups, by the site of the event */
    int64_t unknown_ps;       /* of kernels whose occupancy is not recorded */
    uint64_t unknown_count;
    bool has_gpu, has_other_device;
};

/* occupancy_report.c */
tm_status tm_occupancy_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

/* occupancy_partial.c */
tm_status tm_occupancy_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_occupancy_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
