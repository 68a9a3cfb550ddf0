/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DERIVED_H
#define TM_DERIVED_H

#include "pipeline/arguments.h"
#include "pipeline/stage.h"
#include "pipeline/store/rows.h"
#include "pipeline/store/sorter.h"
#include "stages/output/trace_writer.h"

/* Computed rows that are shown beside the recorded events: steps, idle gaps with their causes, queue depth and busy
 * share of devices, findings.  Collected during the analysis, then returned in time order.  Everything is sorted in
 * one sort that spills, in the account `model`, with three eighths of its share. */
struct tm_derived;

enum tm_derived_sort {
    TM_DERIVED_STEP,    /* span "step N": of the host where device is TM_NONE, else its period on the device */
    TM_DERIVED_GAP,     /* span "CAUSE": no activity; inside it what the host did, and the launch of what follows */
    TM_DERIVED_QUEUE,   /* counter: activities that are launched and have not started, the most in each stretch of
                         * time */
    TM_DERIVED_BUSY,    /* counter: share of a stretch of time in which the device is active, percent; of all devices
                         * of the host where device is TM_NONE */
    TM_DERIVED_IDLE,    /* counter: share of a stretch of time in which the devices of the host are idle of one cause,
                         * whose number is `row`, percent */
    TM_DERIVED_FINDING, /* span "SEVERITY: TITLE", one for each place that it refers to; without length an instant;
                         * on the row of its severity */
    TM_DERIVED_FACTS,   /* span over all events of a host: what is known; of the first host, named after the verdict */
    TM_DERIVED_WORK,    /* span on a row of a device that is in the list of tm_derived_work_row */
};

/* A counter's time, from a device's first activity (launch) to its last one's end, is cut into stretches of equal
 * length, a round number of ns, the last one shorter.  Of stretches with equal values only the first one gives a row; a
 * device ends with a row of 0. */
enum {
    TM_DERIVED_STRETCHES = 4096,          /* the most of one device */
    TM_DERIVED_STRETCHES_HOST = 1 << 19,  /* of all devices of a host: with more than 128 each has fewer */
    TM_DERIVED_ARGUMENTS_MOST = 16 << 10, /* bytes of one row's list */
    TM_CAUSES_MOST = 12,                  /* of idle time */
};

/* A row for each severity of findings, in the order of the viewer. */
enum tm_derived_severity { TM_DERIVED_CRITICAL, TM_DERIVED_WARNING, TM_DERIVED_INFO, TM_DERIVED_SEVERITIES };

struct tm_derived_row {
    int64_t start_ps, end_ps; /* on the clock of its host; of counters and instants equal */
    double value;             /* of counters */
    tm_strid name;            /* of counters: "queue depth", "busy share" */
    uint32_t host;            /* number of the host in the run */
    uint32_t device;          /* index into its trace's devices, the same in every reading of it; TM_NONE = of none */
    uint32_t of_step;         /* the ordinal of the step that it belongs to, plus one; 0 = to none by itself */
    uint32_t row;  /* of TM_DERIVED_WORK: its number among the rows of the host; of TM_DERIVED_IDLE: the cause; of
                    * TM_DERIVED_FINDING: enum tm_derived_severity */
    uint64_t flow; /* of TM_DERIVED_WORK: spans of one number are joined by arrows; 0 = none */
    uint8_t sort;  /* enum tm_derived_sort */
    struct tm_arguments arguments; /* borrowed until the next one is returned */
};

/* in:     names  of the run: those of the traces that are observed, too; strings of rows are added there
 * errors: NULL, with the error in run->error */
struct tm_derived *tm_derived_new(struct tm_run *run, struct tm_names *names) TM_MUST_USE;
void tm_derived_free(struct tm_derived *derived); /* tolerates NULL */

/* The rows of a device that group its work: device_rows.c.  Their order is that in the viewer. */
enum tm_derived_work {
    TM_WORK_MODULES,     /* XLA modules */
    TM_WORK_SCOPES,      /* framework scopes, nested, without the op */
    TM_WORK_OPS,         /* HLO ops */
    TM_WORK_SOURCES,     /* source lines */
    TM_WORK_COLLECTIVES, /* a row for each communicator */
    TM_WORK_COUNT
};

/* Which of them to make; none without this call.
 * in:     works       bits of enum tm_derived_work
 *         gap_min_ps  a device that is idle for longer ends what is open */
void tm_derived_choose_work(struct tm_derived *derived, uint32_t works, int64_t gap_min_ps);

/* One of these rows.  They are known when the analysis has ended. */
struct tm_derived_work_row {
    uint32_t host, device, work; /* work: enum tm_derived_work */
    uint32_t depth_most;         /* spans that are nested deeper are not shown */
    tm_strid name;
};

/* The row of a host; NULL = it has no more.  in: number  from 0 */
const struct tm_derived_work_row *tm_derived_work_row(struct tm_derived *derived, uint32_t host, uint32_t number);

/* The observer of an analysis; `to` is a struct tm_derived. */
extern const struct tm_observer_type tm_derived_observer;

/* The findings and the facts of a finished summary, once, after all hosts. */
tm_status tm_derived_take_summary(struct tm_derived *derived, const struct tm_value *summary);

/* Whether the verdict is on the row of this host: of several, it is on that of the first one with events. */
bool tm_derived_has_verdict(const struct tm_derived *derived, uint32_t host);

/* No more rows; then those of one host in the order (begin, longer first, sort, device).  Repeatable; fast if hosts are
 * requested in the order of their numbers.
 * out: NULL at the end, and after a failure, which run->error keeps */
void tm_derived_begin(struct tm_derived *derived, uint32_t host);
const struct tm_derived_row *tm_derived_next(struct tm_derived *derived);

/* Keys of arguments, and names of rows. */
/* clang-format off */
enum derived_key {
    KEY_NUMBER, KEY_CHOSEN, KEY_WARM_UP, KEY_INCOMPLETE, KEY_COMPILES, KEY_ACTIVITIES,
    KEY_LENGTH_NS, KEY_CAUSE, KEY_BEFORE, KEY_AFTER, KEY_HOST_EVENT, KEY_STEP,
    KEY_ID, KEY_SEVERITY, KEY_VALUE, KEY_UNIT, KEY_LIMIT, KEY_AT_STAKE_NS, KEY_SHARE_PCT, KEY_DEVICE, KEY_EVIDENCE,
    KEY_FIX, KEY_BUSY_NS, KEY_BYTES, KEY_OP, KEY_RANKS, KEY_LAST,
    KEY_RUN, KEY_HOST, KEY_TOOL, KEY_PLATFORM, KEY_VERDICT, KEY_DEVICES, KEY_KPIS, KEY_PARTIAL,
    NAME_QUEUE, NAME_BUSY, NAME_FACTS, NAME_UNTITLED,
    DERIVED_KEYS
};
/* clang-format on */

/* A row as it is sorted; its arguments are in derived.bytes. */
struct derived_row {
    int64_t start_ps, end_ps;
    union {
        double value;  /* of counters */
        uint64_t flow; /* of TM_DERIVED_WORK */
    };
    uint64_t arguments_at;
    uint32_t arguments_length;
    tm_strid name;
    uint32_t host, device, of_step;
    uint16_t row;  /* as in struct tm_derived_row */
    uint8_t depth; /* of it: spans that start and end together are nested in this order */
    uint8_t sort;
};

/* What findings need to find their places. */
struct derived_host {
    uint32_t number;
    char name[128];
    bool has_events;
    bool has_verdict;          /* its row is named after it */
    uint32_t devices;          /* with activities */
    int64_t first_ps, last_ps; /* of its events: first start, last end */
    int64_t window_ps;         /* where the window of its devices starts; first_ps if it has none */
};

/* The largest depth of a queue in each stretch. */
struct queue_depth {
    int64_t origin_ps, length_ps, end_ps;
    int64_t at_ps;       /* until when it is counted */
    int64_t border_ps;   /* end of the current stretch */
    int64_t depth, most; /* now; in the current stretch */
    int64_t told;        /* value of the last row */
    uint64_t stretch;    /* the current one */
    bool has_begun, is_told;
};

/* The time in which a device is active, in each stretch. */
struct busy_share {
    int64_t origin_ps, length_ps, end_ps;
    int64_t until_ps;  /* covered so far */
    int64_t border_ps; /* end of the current stretch */
    int64_t sum_ps;    /* in the current stretch */
    double told;       /* value of the last row */
    uint64_t stretch;
    bool is_told;
};

/* A piece of the list of starts of a device.  Its first piece is never the next one of another. */
enum { BEGINS_AT_ONCE = 62 }; /* 512 bytes */

struct begins {
    int64_t time_ps[BEGINS_AT_ONCE];
    uint64_t next; /* row of derived.begins; 0 = none */
    uint64_t count;
};

struct device_counters {
    struct busy_share busy;
    struct queue_depth queue;
    int64_t first_launch_ps; /* INT64_MAX = none is known */
    int64_t last_ps;
    struct launched { /* launches at one time that are not in derived.launches yet */
        int64_t time_ps;
        uint32_t device, count;
    } pending;
    /* starts that are not in derived.begins yet; while the launches are walked those that come next, from begins_at
     * on */
    struct begins begins;
    uint64_t first_begins, last_begins; /* rows of derived.begins, where has_begins */
    uint64_t begins_at;
    bool has_begins;
};

struct tm_derived {
    struct tm_run *run;
    struct tm_names *names;
    tm_strid keys[DERIVED_KEYS];
    struct tm_sorter *sorter; /* struct derived_row */
    struct tm_rows *bytes;    /* lists of arguments */
    struct tm_rows *hosts;    /* struct derived_host */
    struct tm_rows *devices;  /* struct derived_device */
    /* the host that is observed */
    const struct tm_trace *trace; /* NULL = none */
    struct derived_host host;
    struct device_counters *counters; /* counter_count */
    uint32_t counter_count;
    struct tm_sorter *launches; /* struct launched: more wait, by time */
    struct tm_rows *begins;     /* struct begins: fewer wait, for each device in time order */
    struct device_rows *work;   /* NULL = none are wanted */
    struct all_devices *all;    /* of the current host; NULL = it has no active device */
    /* giving out */
    bool is_finished;
    uint32_t asked_host;
    bool has_last;                   /* the row that came last was returned */
    const struct derived_row *ahead; /* of the sorter; NULL = the end */
    struct tm_derived_row given;
    /* of the list that is made, then of the one that is returned */
    struct tm_arguments_builder list;
    uint8_t buffer[TM_DERIVED_ARGUMENTS_MOST];
};

/* A row with the arguments of derived.list, which is started by tm_derived_list and ends in tm_derived_push.  One
 * without arguments is added directly to the sorter. */
struct tm_arguments_builder *tm_derived_list(struct tm_derived *d);
void tm_derived_push(struct tm_derived *d, const struct derived_row *row);

/* The least of 1, 2, 5, 10, 20 ... us of which `most` cover a window. */
int64_t tm_derived_stretch_length(int64_t window_ps, int64_t most);

/* --- idle_rows.c --- */
void tm_idle_rows_begin_host(struct tm_derived *d, const struct tm_trace *trace);
/* A device was active for sum_ps of a stretch of time. */
void tm_idle_rows_add_busy(struct tm_derived *d, int64_t start_ps, int64_t end_ps, int64_t sum_ps);
tm_take_gap tm_idle_rows_take; /* to: a struct tm_derived */
void tm_idle_rows_end_host(struct tm_derived *d);
void tm_idle_rows_free(struct tm_derived *d);

/* --- device_rows.c; all of them tolerate that none are wanted --- */
void tm_device_rows_begin_host(struct tm_derived *d, const struct tm_trace *trace);
void tm_device_rows_take(struct tm_derived *d, const struct tm_event *event);
void tm_device_rows_end_host(struct tm_derived *d);
void tm_device_rows_take_matched(struct tm_derived *d, const struct tm_matched_collective *matched);
/* Whether a span is shown, on its row: what is left out is known at the end. */
bool tm_device_rows_show(struct tm_derived *d, const struct derived_row *row);
void tm_device_rows_free(struct tm_derived *d);

#endif
