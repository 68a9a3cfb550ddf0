/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CRITICAL_PATH_H
#define TM_CRITICAL_PATH_H

#include "pipeline/front.h"
#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "stages/figures/host_threads.h"

/* The chain of work that determines how long each analyzed step takes, from its end back to its start: activities of
 * devices, launches, work of host threads, waits.  Part of the stage device-time.
 * source: docs/metrics.md, "Critical path" */
enum tm_path_kind {
    TM_PATH_COMPUTE,
    TM_PATH_COLLECTIVE,
    TM_PATH_COPY,
    TM_PATH_CAUSES, /* from here on by enum tm_cause */
    TM_PATH_KINDS = TM_PATH_CAUSES + TM_CAUSE_COUNT
};

/* What is left out in the replays of a step: all of a kind, or a part of the work of the devices. */
enum {
    TM_REPLAY_STRAGGLERS = TM_PATH_KINDS, /* the last device starts a collective with the one before it */
    TM_REPLAY_IMBALANCE,                  /* all devices compute for their mean time */
    TM_REPLAY_COMPUTE_HALF,
    TM_REPLAY_COMPUTE_QUARTER,
    TM_REPLAY_NOTHING,
    TM_REPLAYS
};

struct tm_path_parts {
    int64_t ps[TM_PATH_KINDS];
};

/* Of the replayed steps. */
struct tm_path_replays {
    struct tm_path_parts path; /* what their critical paths consist of */
    uint64_t steps, activities;
    int64_t length_ps;
    int64_t saved_ps[TM_REPLAYS];
};

/* "compute", "collective", "copy", "device_wait", ... */
const char *tm_path_kind_name(int kind);

struct device_time;

enum {
    TM_PATH_STREAMS = 16,     /* of a device, whose last activity is known: a power of two */
    TM_PATH_OPEN_MOST = 32,   /* activities of a device that run at once */
    TM_PATH_BLOCK = 32,       /* rows that are stored at once: a power of two */
    TM_PATH_NESTED_MOST = 16, /* nested ops of a TPU */
    TM_PATH_KNOWN = 64,       /* call sites of collectives that are remembered: a power of two */
};

/* One activity.  before, on_stream: how many rows before this one is the one that ended last before it starts, on its
 * device and its stream; 0 = none. */
struct tm_path_activity {
    int64_t start_ps, end_ps;
    int64_t launch_ps, launch_end_ps; /* INT64_MIN = no launch is known */
    uint64_t collective;              /* the same on all devices that take part; 0 = not a collective, or not known */
    uint32_t before, on_stream;
    uint32_t name, config, thread; /* thread: that launched it */
    uint32_t level;
};

static_assert(sizeof(struct tm_path_activity) == 64, "one cache line");

/* A row of the store: appending and moving them costs little per activity. */
struct tm_path_block {
    struct tm_path_activity rows[TM_PATH_BLOCK];
};

/* Ops of a TPU that run, each inside the one before; from start_ps on it has no row yet. */
struct tm_path_nested {
    struct tm_path_activity op[TM_PATH_NESTED_MOST];
    uint32_t track[TM_PATH_NESTED_MOST];
};

struct tm_path_open {
    int64_t end_ps;
    uint64_t row; /* of all rows of the device, from 1 */
};

struct tm_path_counter {
    uint64_t key;
    uint32_t step, count;
};

/* The common properties of all collectives of a call site. key 0 = the participants are unknown */
struct tm_path_known {
    uint64_t site, key;
};

/* One device of the current host. */
struct tm_path_lane {
    struct tm_rows *blocks; /* struct tm_path_block, of rows in the order of their starts; NULL = it is not analyzed */
    struct tm_path_block *block; /* that the next row is in; NULL = it is to be looked up */
    uint64_t count;              /* rows */
    uint64_t dropped;            /* rows that were before the first one */
    uint64_t near;               /* row that a search by time ended at */
    int64_t from_ps, until_ps;   /* the analyzed steps */
    struct tm_path_open open[TM_PATH_OPEN_MOST];
    uint32_t open_count;
    int64_t next_end_ps;       /* the earliest of these */
    struct tm_path_open ended; /* that ended last; row 0 = none */
    struct {
        int64_t end_ps;
        uint64_t row;
        uint32_t track; /* plus one */
    } stream[TM_PATH_STREAMS];
    struct tm_path_counter *counters; /* of collectives; NULL = it has run none */
    uint32_t counter_count;
    uint32_t nested_count;
    struct tm_path_nested *nested; /* of a TPU; NULL elsewhere */
};

/* The next analyzed step of a group. */
struct tm_path_group {
    uint64_t ordinal;
    int64_t start_ps, end_ps;
    bool exists;
    uint64_t steps, activities; /* of all of its analyzed steps */
    uint64_t done;              /* of these */
};

struct tm_critical_path {
    struct device_time *d;
    enum tm_account account;    /* of the rows of the current host */
    struct tm_path_lane *lanes; /* of the current host */
    uint32_t lane_count;
    struct tm_path_group *groups; /* likewise */
    uint32_t group_count;
    struct tm_path_known known[TM_PATH_KNOWN]; /* by the lowest bits of the site */
    tm_strid subgroups_text;                   /* that `subgroups` refers to */
    uint32_t subgroups[TM_DEVICES_MOST];
    bool has_cpu; /* a device was left out because it is a CPU */
    /* of the run */
    struct tm_rows *steps;   /* struct path_step */
    struct tm_groups *sites; /* struct path_row */
    struct tm_front front;
    struct tm_path_replays replays;
};

/* An activity: a lane, and its row. */
struct tm_path_place {
    uint32_t lane;
    uint64_t index;
};

/* --- critical_rows.c --- */

/* For all rows of a host, in bytes. */
size_t tm_path_memory(const struct tm_critical_path *path);
void tm_path_begin_lane(struct tm_critical_path *path, uint32_t lane, size_t memory_bytes);
void tm_path_end_lane(struct tm_critical_path *path, struct tm_path_lane *lane);
bool tm_path_is_in_group(const struct tm_critical_path *path, uint32_t group, uint32_t lane);
/* Append what has ended of the nested ops. */
void tm_path_end_nested(struct tm_path_lane *lane, int64_t now_ps);
/* No later step needs rows that end before this time. */
void tm_path_drop_rows(struct tm_path_lane *lane, int64_t before_ps);

/* Valid until the next call for the lane. */
const struct tm_path_activity *tm_path_at(const struct tm_path_lane *lane, uint64_t index);
/* The first row that does not start before a time. */
uint64_t tm_path_first(const struct tm_path_lane *lane, int64_t time_ps);
/* The activity of any device of a group that ended last before a time.  out: false: nothing */
bool tm_path_find_last(const struct tm_critical_path *path, uint32_t group, int64_t time_ps,
                       struct tm_path_place *place, int64_t *end_ps);
uint64_t tm_path_member(const struct tm_path_lane *other, const struct tm_path_activity *own);
/* The device that started a collective last.  in: *place  of the activity; out: of the last one, which is returned; of
 * the activity itself where no other is known */
struct tm_path_activity tm_path_last_member(const struct tm_critical_path *path, uint32_t group,
                                            const struct tm_path_activity *own, struct tm_path_place *place);
/* The predecessor of an activity.  out: 0 = nothing, else its index plus one */
uint64_t tm_path_before(const struct tm_path_lane *lane, uint64_t index, const struct tm_path_activity *row);
int tm_path_kind_of(const struct tm_path_activity *row);

/* --- critical_replay.c: the next step of a group, if it is one of those that are replayed --- */
void tm_critical_path_replay(struct tm_critical_path *path, uint32_t group, const struct tm_path_parts *parts);

/* --- the stage's calls --- owns:   tm_critical_path_free releases it (NULL allowed)
 * errors: NULL, with the error in run->error */
struct tm_critical_path *tm_critical_path_new(struct device_time *d) TM_MUST_USE;
void tm_critical_path_free(struct tm_critical_path *path);

/* After the lanes of the host have been made. */
void tm_critical_path_begin_host(struct tm_critical_path *path);
/* Activities of a lane of the current host, in the order of their starts.
 * in: wanted  bit of struct tm_event.wanted: events without it, and those that are no activity, are ignored */
void tm_critical_path_take(struct tm_critical_path *path, uint32_t lane, const struct tm_event *events, size_t count,
                           uint32_t wanted);
/* All activities that start before this time have been taken, and host threads are known up to it. */
void tm_critical_path_reach(struct tm_critical_path *path, int64_t at_ps);
/* No query of a host thread for a time before this one will follow. */
int64_t tm_critical_path_horizon(const struct tm_critical_path *path);
void tm_critical_path_end_host(struct tm_critical_path *path);

/* Adds the section critical_path. */
void tm_critical_path_report(struct tm_critical_path *path, struct tm_value *summary);
void tm_critical_path_save(struct tm_critical_path *path, struct tm_partial_writer *w);
void tm_critical_path_load(struct tm_critical_path *path, struct tm_partial_reader *r);

#endif
