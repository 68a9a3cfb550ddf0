/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DERIVED_H
#define TM_DERIVED_H

#include "pipeline/arguments.h"
#include "pipeline/stage.h"

/* What was worked out and is shown beside what was recorded: steps, idle gaps with their cause, how full the devices'
 * queues are, how busy they are, findings.  Gathered while the run is analyzed, then given out in the order of time.
 * Everything goes through one sort that spills; all of it lies in the account `model`, in three eighths of its
 * share. */
struct tm_derived;

enum tm_derived_sort {
    TM_DERIVED_STEP,    /* span "step N": of the host where device is TM_NONE, else its period on the device */
    TM_DERIVED_GAP,     /* span "idle: CAUSE": no activity */
    TM_DERIVED_QUEUE,   /* counter: activities that are launched and have not begun, the most in each stretch of time */
    TM_DERIVED_BUSY,    /* counter: share of a stretch of time in which the device is active, percent */
    TM_DERIVED_FINDING, /* instant, named by its title: one for each place that it speaks of */
    TM_DERIVED_FACTS,   /* span over all events of a host, named by the verdict: what is known of the run */
};

/* A counter's time, from a device's first activity (launch) to its last one's end, is cut into stretches of equal
 * length, a round number of ns, the last one shorter.  Of stretches with equal values only the first one gives a row; a
 * device ends with a row of 0. */
enum {
    TM_DERIVED_STRETCHES = 4096,          /* the most of one device */
    TM_DERIVED_STRETCHES_HOST = 1 << 19,  /* of all devices of a host: with more than 128 each has fewer */
    TM_DERIVED_ARGUMENTS_MOST = 16 << 10, /* bytes of one row's list */
};
#define TM_DERIVED_STRETCH_LEAST_PS INT64_C(1000000)

struct tm_derived_row {
    int64_t begin_ps, end_ps;   /* on the clock of its host; of counters and instants equal */
    double value;               /* of counters */
    tm_strid name;              /* of counters: "queue depth", "busy share" */
    uint32_t host;              /* number of the host in the run */
    uint32_t device;            /* index into its trace's devices, the same in every reading of it; TM_NONE = of none */
    uint8_t sort;               /* enum tm_derived_sort */
    struct tm_arguments arguments; /* borrowed until the next one is given out */
};

/* in:     names  of the run: those of the traces that are observed, too; texts of rows go there
 * errors: NULL, with the error in run->error */
struct tm_derived *tm_derived_new(struct tm_run *run, struct tm_names *names) TM_MUST_USE;
void tm_derived_free(struct tm_derived *derived); /* tolerates NULL */

/* The observer of an analysis; `to` is a struct tm_derived. */
extern const struct tm_observer_type tm_derived_observer;
/* The findings and the facts of a finished summary, once, after all hosts. */
tm_status tm_derived_take_summary(struct tm_derived *derived, const struct tm_value *summary) TM_MUST_USE;

/* No more rows; then those of one host in the order (begin, longer first, sort, device).  As often as wanted; quick
 * where hosts are asked for in the order of their numbers.
 * out: *row  NULL at the end */
tm_status tm_derived_begin(struct tm_derived *derived, uint32_t host) TM_MUST_USE;
tm_status tm_derived_next(struct tm_derived *derived, const struct tm_derived_row **row) TM_MUST_USE;

#endif
