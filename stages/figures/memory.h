/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MEMORY_H
#define TM_MEMORY_H

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/sorter.h"

/* The devices' memory by allocator: capacity, peak and its holders, timeline, spikes.  Writes the section memory.
 * source: docs/metrics.md, "Memory" */
extern const struct tm_stage_type tm_memory_stage;

/* Allocations below this many bytes are small ones. */
enum { TM_SMALL_ALLOCATION_BYTES = 64 << 10 };

enum {
    MEMORY_POINTS = 1000,       /* of an allocator's curve in the summary */
    MEMORY_POINTS_TOTAL = 4000, /* of all allocators */
    MEMORY_HOLDERS = 20,
    MEMORY_HOLDERS_TOTAL = 1000,
    MEMORY_SPIKES = 20, /* the largest ones of an allocator */
    MEMORY_TEXT_BYTES = 512,
    MEMORY_QUARTERS = 4,      /* of the events of a host, for what is kept */
    ALLOCATORS_PER_HOST = 64, /* the others share one row */
};

/* A moment of an allocator's curve. */
struct memory_point {
    int64_t at_ps, in_use, available; /* available -1 = not recorded */
};

/* A buffer that was live at the peak. */
struct memory_holder {
    int64_t bytes;
    uint64_t address;
    tm_strid op, shape;
};

struct memory_spike {
    int64_t start_ps, rise;
};

/* Buffers allocated inside the profile and not freed in it. */
struct memory_kept {
    uint64_t count;
    int64_t bytes[MEMORY_QUARTERS]; /* by the quarter of the events in which they were taken */
    struct memory_holder largest;   /* bytes 0 = none */
};

/* What is finally known about an allocator. */
struct memory_facts {
    struct tm_key name_hash;
    tm_strid name;
    int64_t index; /* on its host, where it has no name */
    uint32_t host; /* row of memory.hosts */
    uint8_t has_name, has_index, is_rest, has_peak, has_lifetime_peak, has_capacity, has_fragmentation;
    int64_t peak, peak_at_ps, lifetime_peak, capacity;
    uint64_t peak_touch; /* number of the event at the peak */
    double fragmentation;
    uint64_t allocations, deallocations, small_allocations, allocated_bytes, spike_count;
    int64_t first_ps, last_ps;                    /* of its allocations and deallocations */
    uint64_t first_point, point_count;            /* in memory.points */
    struct memory_spike spikes[MEMORY_SPIKES];    /* the largest ones, in time order */
    struct memory_holder holders[MEMORY_HOLDERS]; /* the largest ones first */
    uint32_t spikes_kept, holder_count;
    struct memory_kept kept;
};

struct memory_host {
    char name[128];
};

struct memory {
    struct tm_run *run;
    const struct tm_settings *settings;
    struct tm_names *names;
    struct tm_rows *hosts;  /* struct memory_host */
    struct tm_rows *facts;  /* struct memory_facts, of the hosts that are done */
    struct tm_rows *points; /* struct memory_point, of the hosts that are done */
    bool has_host_events, has_accelerator;
    uint32_t origins; /* of the hosts: 1 << enum tm_origin */
    /* of the current host */
    const struct tm_trace *trace;
    struct allocator *allocators;
    uint32_t count, most, last;
    struct tm_rows *live_points; /* struct memory_point: CURVE_MOST rows per allocator */
    struct tm_sorter *touches;   /* struct touch, by allocator, address and number */
    uint64_t touch_count;        /* events of all hosts so far, from 1 */
    uint64_t first_touch;        /* events of the hosts before */
};

/* memory_report.c; at least one allocator was recorded */
tm_status tm_memory_report(struct memory *m, struct tm_value *summary) TM_MUST_USE;

#endif
