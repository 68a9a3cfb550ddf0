/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DERIVED_H
#define TM_DERIVED_H

#include "pipeline/arguments.h"
#include "pipeline/stage.h"

/* What was worked out and is shown beside what was recorded: steps, idle gaps with their cause, how full the devices'
 * queues are, how busy they are, findings.  Gathered while the run is analyzed, then given out in the order of time.
 * Everything goes through one sort that spills (account `sort` is in use by the ordering: TM_ACCOUNT_MODEL). */
struct tm_derived;

enum tm_derived_sort {
    TM_DERIVED_STEP,    /* span: of the host where device is TM_NONE, else its period on the device */
    TM_DERIVED_GAP,     /* span: no activity; name: its cause */
    TM_DERIVED_QUEUE,   /* counter: work that is launched and has not begun, the most in each stretch of time */
    TM_DERIVED_BUSY,    /* counter: share of a stretch of time in which the device is active, percent */
    TM_DERIVED_FINDING, /* instant */
    TM_DERIVED_FACTS,   /* instant at the begin: what is known of the run and of the tool */
};

struct tm_derived_row {
    int64_t begin_ps, end_ps;   /* on the clock of its host */
    double value;               /* of counters */
    tm_strid name;
    uint32_t host;              /* number of the host in the run */
    uint32_t device;            /* index into its trace's devices; TM_NONE = of none */
    uint8_t sort;               /* enum tm_derived_sort */
    struct tm_arguments arguments; /* borrowed until the next one is given out */
};

/* in:     names  of the run; texts of rows go there
 * errors: NULL, with the error in run->error */
struct tm_derived *tm_derived_new(struct tm_run *run, struct tm_names *names) TM_MUST_USE;
void tm_derived_free(struct tm_derived *derived); /* tolerates NULL */

/* The observer of an analysis: see pipeline/commands/analysis.h.  end_host also takes the steps of the host. */
tm_status tm_derived_begin_host(struct tm_derived *derived, const struct tm_trace *trace) TM_MUST_USE;
tm_status tm_derived_take(struct tm_derived *derived, const struct tm_event *event) TM_MUST_USE;
tm_status tm_derived_end_host(struct tm_derived *derived) TM_MUST_USE;
/* A gap as stages/diagnose/time finds it; as tm_settings.take_gap. */
tm_status tm_derived_gap(void *derived, const struct tm_idle_gap *gap) TM_MUST_USE;
/* The findings and the facts of a finished summary. */
tm_status tm_derived_take_summary(struct tm_derived *derived, const struct tm_value *summary) TM_MUST_USE;

/* No more rows; then those of one host in the order (begin, longer first, sort, device).
 * out: *row  NULL at the end */
tm_status tm_derived_begin(struct tm_derived *derived, uint32_t host) TM_MUST_USE;
tm_status tm_derived_next(struct tm_derived *derived, const struct tm_derived_row **row) TM_MUST_USE;

#endif
