/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TRANSFERS_PRIVATE_H
#define TM_TRANSFERS_PRIVATE_H

#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"
#include "stages/diagnose/time/sweep.h"
#include "stages/diagnose/top_rows.h"
#include "stages/diagnose/transfers/transfers.h"

/* SIZE_ROWS: powers of two of a 64-bit size.  RECENT: copies to the host that may still be
 * answered. */
enum { SIZE_ROWS = 64, LARGEST_ROWS = 20, RECENT = 4 };

struct copy_sum {
    uint64_t count, bytes, unknown_count; /* bytes: of the copies whose size is known */
    uint64_t moved_bytes;                 /* of those of which it is also known when they were in flight */
    int64_t total_ps, moved_ps;           /* moved_ps: when any of these was, on each device; a wait for a copy is no
                                             such time */
};

struct copy_direction {
    struct copy_sum inside, outside; /* of the chosen steps */
    int64_t exposed_ps;              /* of the copies inside */
    int64_t outside_exposed_ps;      /* of the others, in what counts of the device */
    double best_rate; /* of a stretch in flight, bytes per second; 0 = none known */
};

struct copy_size {
    uint64_t count, bytes;
    int64_t total_ps;
};

/* A copy to the host, until one of the same size goes back. */
struct recent_copy {
    uint64_t bytes;
    int64_t end_ps;
    uint32_t step; /* TM_NONE = unused */
};

/* A stretch in which one copy or more of a direction is in flight. */
struct flight {
    int64_t begin_ps, until_ps;
    uint64_t bytes;
};

/* One device of the present host. */
struct copy_lane {
    uint32_t number;          /* in the run */
    int64_t begin_ps, end_ps; /* what counts of it */
    struct tm_sweep sweep;
    int64_t copies_until_ps;  /* until when copies run */
    int64_t chosen_until_ps[TM_DIRECTION_COUNT]; /* the same of those in chosen steps */
    struct flight flights[TM_DIRECTION_COUNT];   /* of copies of known size that count */
    struct copy_sum sums[TM_DIRECTION_COUNT];
    struct recent_copy recent[RECENT];
    uint32_t next_recent;
};

struct device_id {
    char id[192];
    uint32_t host; /* in the run */
};

/* The copies of one device and one direction. */
struct copy_pair {
    uint64_t number;    /* of the device */
    uint64_t direction; /* enum tm_direction */
    struct copy_sum sum;
};

struct large_copy {
    uint64_t bytes;
    int64_t begin_ps, dur_ps;
    uint32_t number;    /* of the device */
    uint32_t direction; /* enum tm_direction */
};

/* Copies of one size and direction in one step. */
struct copy_repeat {
    struct tm_key key; /* high: direction in the 3 upper bits, bytes; low: host, step */
    uint64_t count;
    int64_t total_ps;
};

struct transfers {
    struct tm_run *run;
    const struct tm_trace *trace; /* of the present host */
    struct copy_lane *lanes; /* of the present host, by the device's index; number TM_NONE = idle */
    uint32_t lane_count;
    struct tm_rows *ids;         /* struct device_id, by number */
    struct tm_rows *pairs;       /* struct copy_pair */
    struct tm_groups *repeats;   /* struct copy_repeat */
    struct tm_top_rows *largest; /* struct large_copy */
    struct copy_direction directions[TM_DIRECTION_COUNT];
    struct copy_size sizes[SIZE_ROWS];
    struct copy_sum pageable;
    struct copy_sum tpu_host[2];   /* to the device, from it */
    uint64_t copies_of_known_kind; /* the profile tells whether they are pageable */
    uint64_t ping_pongs;
    uint64_t chosen_steps;
    bool has_accelerator, has_cpu;
};

/* Parts of what the tables of this stage may take, in sixteenths; the lanes take what is left. */
enum { TRANSFERS_IDS = 2, TRANSFERS_PAIRS = 2, TRANSFERS_REPEATS = 4, TRANSFERS_TOP = 2 };

static inline size_t transfers_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_TRANSFERS, 16, (unsigned)parts);
}

/* transfer_report.c */
tm_status tm_transfers_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

/* transfer_partial.c */
tm_status tm_transfers_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_transfers_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
