/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OUT_ROWS_PRIVATE_H
#define TM_OUT_ROWS_PRIVATE_H

#include "pipeline/index.h"
#include "stages/output/export/lanes.h"
#include "stages/output/rows/out_rows.h"

enum {
    TM_FIRST_FREE_NUMBER = 1000001, /* of a pid or tid that the file does not give, or gives twice */
    TM_FIRST_PLANE = 1001,          /* pid of the first plane: a thread with the number of its process is taken for its
                                       main thread, and lines have small ones */
    TM_LANE_CHUNKS = 12,            /* of 1, 2, 4 ... lanes: all but the first one of TM_LANES_MOST */
    TM_OWN_RANKS = 8,               /* places before the threads of a process: rows and counters of ours */
};
static_assert(1 << TM_LANE_CHUNKS == TM_LANES_MOST, "chunks hold all lanes");

/* A process of the trace, or ours, which is the last one. */
struct out_process {
    int64_t id, order;      /* as the file has them */
    tm_strid name;
    int32_t pid, next_tid;  /* next_tid: perhaps free */
    uint32_t device;        /* the first one of its tracks; TM_NONE = none */
    uint32_t file;          /* that has its row */
    uint32_t rank;          /* among the processes of the output */
    uint8_t group;          /* enum process_group */
};
enum process_group { GROUP_OURS, GROUP_DEVICE, GROUP_HOST, GROUP_REST, GROUP_UNUSED };

/* A track, or a row of ours. */
struct out_thread {
    tm_strid name;
    uint32_t process;
    int32_t tid;            /* 0: nothing lies on it */
    uint32_t rank;          /* among those of its process */
    uint32_t file;
    uint32_t lanes;         /* row of `chunks`; 0 = none yet */
    uint8_t sort;           /* enum tm_out_sort */
};

struct out_lane {
    int32_t tid;            /* 0 = not used yet */
    uint32_t file;
};

/* Where the lanes 1, 2 to 3, 4 to 7 ... of a thread begin in `lanes`, plus 1; 0 = nowhere yet. */
struct lane_chunks {
    uint64_t at[TM_LANE_CHUNKS];
};

/* A number that is in use: of a process, or of a thread of one (tid_key). */
struct taken_number {
    uint64_t key;
    uint64_t owner;
};

/* A row that the present file has, ready to be used again: the same few are used for each event, twice. */
enum { TM_NEAR_ROWS = 64 };
struct near_row {
    uint64_t number;
    uint32_t lane;
    uint32_t file;             /* that has it; 0 = free */
    uint32_t host;
    struct tm_out_row row;
};

struct tm_out_rows {
    struct tm_run *run;
    struct tm_names *names;
    const struct tm_trace *trace;
    bool names_hosts;
    size_t memory_bytes;
    uint32_t file;             /* counts up from 1 */
    struct tm_rows *pids;      /* int32_t: those that earlier hosts have */
    int32_t next_pid;          /* perhaps free */
    int32_t planes;            /* pid of the last one of all hosts so far */
    uint32_t ranks;            /* of processes of all hosts so far */
    /* of the present host */
    struct tm_rows *processes, *threads, *chunks, *lanes;
    struct tm_index *tids;     /* struct taken_number: threads that have their own number */
    uint64_t track_count;
    uint32_t device_count, own_process;
    uint32_t device_process[TM_DEVICES_MOST];
    bool device_shares[TM_DEVICES_MOST]; /* its process is that of other devices too, or of none */
    struct near_row near[TM_NEAR_ROWS];
    /* names of ours */
    tm_strid name_own, name_verdict, name_findings, name_host_steps;
};

static inline uint64_t tid_key(uint32_t process, int64_t tid)
{
    return (uint64_t)process << 32 | (uint64_t)tid;
}

static inline bool is_number(int64_t id)
{
    return id > 0 && id <= INT32_MAX;
}

/* The place of a row or a counter of a device, worked out, among those of its process: before its threads, and in our
 * own process one device after the other. */
enum own_place { PLACE_STEPS, PLACE_GAPS, PLACE_COUNTERS, PLACES_OF_DEVICE = PLACE_COUNTERS + 2 };
enum { PLACE_VERDICT, PLACE_FINDINGS, PLACE_HOST_STEPS, PLACE_DEVICES };
static_assert((int)PLACES_OF_DEVICE <= (int)TM_OWN_RANKS, "they come before the threads");

static inline uint32_t tm_own_rank(const struct tm_out_rows *r, uint32_t device, uint32_t place)
{
    const bool is_in_ours = device < r->device_count && r->device_process[device] == r->own_process;

    return is_in_ours ? PLACE_DEVICES + device * PLACES_OF_DEVICE + place : place;
}

/* The next number from *next on that is not in `taken`. */
tm_status tm_next_free_number(struct tm_run *run, struct tm_index *taken, uint64_t base, int32_t *next,
                              int32_t *number) TM_MUST_USE;
/* Fill processes and threads of r->trace. */
tm_status tm_out_rows_number(struct tm_out_rows *r) TM_MUST_USE;

#endif
