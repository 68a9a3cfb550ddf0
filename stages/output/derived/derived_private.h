/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DERIVED_PRIVATE_H
#define TM_DERIVED_PRIVATE_H

#include "pipeline/rows.h"
#include "pipeline/sorter.h"
#include "stages/output/derived/derived.h"
#include "stages/output/trace_writer.h"

/* Keys of arguments, and names of rows. */
enum derived_key {
    KEY_NUMBER, KEY_CHOSEN, KEY_WARM_UP, KEY_INCOMPLETE, KEY_COMPILES, KEY_ACTIVITIES,
    KEY_LENGTH_NS, KEY_CAUSE, KEY_BEFORE, KEY_AFTER, KEY_HOST_EVENT, KEY_STEP,
    KEY_ID, KEY_SEVERITY, KEY_VALUE, KEY_UNIT, KEY_LIMIT, KEY_AT_STAKE_NS, KEY_SHARE_PCT, KEY_DEVICE, KEY_EVIDENCE,
    KEY_FIX,
    KEY_RUN, KEY_HOST, KEY_TOOL, KEY_PLATFORM, KEY_VERDICT, KEY_DEVICES, KEY_KPIS, KEY_PARTIAL,
    NAME_QUEUE, NAME_BUSY, NAME_FACTS, NAME_UNTITLED,
    DERIVED_KEYS
};

/* A row as it is sorted; its arguments lie in derived.bytes. */
struct derived_row {
    int64_t begin_ps, end_ps;
    double value;
    uint64_t arguments_at;
    uint32_t arguments_length;
    tm_strid name;
    uint32_t host, device;
    uint8_t sort;
};

/* What findings need to find their places. */
struct derived_host {
    uint32_t number;
    char name[128];
    bool has_events;
    int64_t first_ps, last_ps;  /* of its events: first begin, last end */
    int64_t window_ps;          /* where the window of its devices begins; first_ps where it has none */
};

struct derived_device {
    uint32_t host, index;       /* host: row of derived.hosts */
    char id[192];
};

/* The largest depth of a queue in each stretch. */
struct queue_depth {
    int64_t origin_ps, length_ps, end_ps;
    int64_t at_ps;              /* until when it is counted */
    int64_t depth, most;        /* now; in the present stretch */
    int64_t told;               /* value of the last row */
    uint64_t stretch;           /* the present one */
    bool has_begun, is_told;
};

/* The time in which a device is active, in each stretch. */
struct busy_share {
    int64_t origin_ps, length_ps, end_ps;
    int64_t until_ps;           /* covered so far */
    int64_t sum_ps;             /* in the present stretch */
    double told;                /* value of the last row */
    uint64_t stretch;
    bool is_told;
};

struct device_counters {
    struct busy_share busy;
    struct queue_depth queue;
    int64_t first_launch_ps;    /* INT64_MAX = none is known */
    int64_t last_ps;
    struct launched {           /* launches at one time that are not in derived.launches yet */
        int64_t time_ps;
        uint32_t device, count;
    } pending;
};

struct tm_derived {
    struct tm_run *run;
    struct tm_names *names;
    tm_strid keys[DERIVED_KEYS];
    struct tm_sorter *sorter;   /* struct derived_row */
    struct tm_rows *bytes;      /* lists of arguments */
    struct tm_rows *hosts;      /* struct derived_host */
    struct tm_rows *devices;    /* struct derived_device */
    /* the host that is observed */
    const struct tm_trace *trace; /* NULL = none */
    struct derived_host host;
    struct device_counters *counters; /* counter_count */
    uint32_t counter_count;
    struct tm_sorter *launches; /* struct launched: more wait, by time */
    struct tm_rows *begins;     /* struct launched: fewer wait, in the order of time */
    /* giving out */
    bool is_finished;
    uint32_t asked_host;
    bool has_last;              /* the row that came last was given out */
    const struct derived_row *ahead; /* of the sorter; NULL = the end */
    struct tm_derived_row given;
    /* of the list that is made, then of the one that is given out */
    struct tm_arguments_builder list;
    uint8_t buffer[TM_DERIVED_ARGUMENTS_MOST];
};

/* derived.c: a row with the arguments of derived.list, which is begun by derived_list and ends in derived_push.  One
 * without arguments goes right into the sorter. */
struct tm_arguments_builder *derived_list(struct tm_derived *d);
tm_status derived_push(struct tm_derived *d, const struct derived_row *row) TM_MUST_USE;

/* derived_spans.c */
tm_status derived_steps(struct tm_derived *d) TM_MUST_USE;
tm_status derived_gap(void *derived, const struct tm_idle_gap *gap) TM_MUST_USE;

/* derived_counters.c */
tm_status derived_begin_counters(struct tm_derived *d) TM_MUST_USE;
tm_status derived_count(struct tm_derived *d, const struct tm_event *event) TM_MUST_USE;
tm_status derived_end_counters(struct tm_derived *d) TM_MUST_USE;
void derived_free_counters(struct tm_derived *d);

#endif
