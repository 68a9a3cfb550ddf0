/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HOST_PRIVATE_H
#define TM_HOST_PRIVATE_H

#include "pipeline/front.h"
#include "pipeline/lengths.h"
#include "stages/diagnose/host/host.h"
#include "stages/diagnose/host/host_window.h"
#include "stages/diagnose/longest.h"
#include "stages/diagnose/nesting.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"

/* HOST_EMPTY_LISTED: the longest stretches without launched work that are listed.  HOST_OPEN_MOST: spans that are
 * open at once on all threads. */
enum { HOST_EMPTY_LISTED = 10, HOST_OPEN_MOST = 8192 };

enum host_call_kind { HOST_PYTHON, HOST_ANNOTATION, HOST_CALL_KINDS };

/* Calls of one Python function, or one annotation. */
struct call_row {
    struct tm_key key; /* of the name and the kind */
    uint64_t count;
    int64_t self_ps, total_ps;
    tm_strid name;
    uint8_t kind; /* enum host_call_kind */
};

/* Waits of one name from one place. */
struct sync_row {
    struct tm_key key; /* of the three names */
    uint64_t count;
    int64_t total_ps;
    struct tm_longest longest;
    tm_strid name, caller, annotation; /* 0 = none around it */
};

/* A stretch of a device without activity and without launched work, until more is known: of the present host. */
struct empty_row {
    int64_t begin_ps, end_ps;
    uint64_t below; /* the one before it on its device, plus one; of an unused row the next unused one */
};

struct empty_lane {
    int64_t begin_ps, end_ps;         /* what counts of the device */
    int64_t until_ps;                 /* it was active, or something was, up to here */
    int64_t gap_begin_ps, gap_end_ps; /* the latest gap */
    uint64_t top;                     /* row of its latest stretch, plus one; 0 = none */
    int64_t top_end_ps;               /* where that ends */
    bool is_used;
};

/* A host thread. */
struct thread_row {
    uint64_t events, ops;
    int64_t busy_ps, op_ps;
    int64_t first_ps, last_ps;
    int64_t busy_until_ps, op_until_ps; /* while its host is read */
    uint64_t number;                    /* in the report: its place in the run */
    uint32_t host;
    tm_strid name;
    uint8_t is_main, is_host; /* is_host: a line of the host's, while it is read */
};

/* One host of the run. */
struct host_row {
    char name[128];
    int64_t begin_ps, end_ps; /* what counts of it; equal = nothing was recorded */
    uint8_t basis;            /* enum tm_host_basis */
};

/* What goes along with an open span: whose names are of the innermost ones, itself included. */
struct host_span {
    tm_strid name, python, annotation; /* 0 = none */
    uint8_t is_python;           /* whatever its class: a Python function may wait */
    uint8_t is_annotation;       /* of the user's, also one that brings input */
    uint8_t is_sync, is_in_sync; /* it waits and lies in no other wait; it waits or lies in one that does */
};

/* Calls of one name and kind that gather. */
struct host_call {
    struct call_row row;
    bool is_wrapper; /* what JAX puts around functions of its own, so that it tells no place */
};

struct host {
    struct tm_run *run;
    const struct tm_settings *settings;
    struct tm_names *names;
    /* of the present host */
    const struct tm_trace *trace;
    struct tm_host_window window;
    int64_t seen_begin_ps, seen_end_ps; /* of the spans of its threads; begin after end = none */
    struct tm_nesting *nesting;         /* payload: struct host_span */
    struct tm_rows *lines;              /* struct thread_row, by track */
    struct tm_rows *launched;           /* a bit for each launch by its number: a chosen activity was launched by it */
    struct tm_rows *stretches;          /* struct empty_row */
    uint64_t unused_stretch;            /* plus one; 0 = none */
    struct empty_lane *lanes;           /* by the device's index */
    uint32_t lane_count;
    struct tm_front front;              /* struct host_call, before calls */
    /* of the run */
    struct tm_groups *calls;   /* struct call_row */
    struct tm_groups *syncs;   /* struct sync_row */
    struct tm_lengths *delays; /* picoseconds from launch to work; one group */
    tm_length_place delays_place;
    struct tm_rows *threads;   /* struct thread_row, host by host */
    struct tm_rows *hosts;     /* struct host_row */
    struct tm_stretch empty[HOST_EMPTY_LISTED];
    uint32_t empty_listed;
    uint64_t empty_count;
    int64_t empty_ps;
    uint64_t launch_count, negative_delays;
    uint64_t unlaunched;       /* chosen activities whose launch is not known */
    bool has_steps;            /* some host's steps are marked or told from its programs */
    uint64_t sync_count;
    int64_t sync_ps;
    bool has_accelerator, has_cpu_device;
};

/* Parts of what the tables of this stage may take, in thirty-seconds. */
enum {
    HOST_FRONT = 4,
    HOST_CALLS = 7,
    HOST_SYNCS = 3,
    HOST_DELAYS = 5,
    HOST_LAUNCHES = 1,
    HOST_STRETCHES = 1,
    HOST_LINES = 2,
    HOST_THREADS = 1
};

static inline size_t host_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_HOST, 32, (unsigned)parts);
}

/* host_launches.c: what the devices tell */
tm_status host_begin_launches(struct host *h) TM_MUST_USE;
tm_status host_take_activity(struct host *h, const struct tm_event *event) TM_MUST_USE;
tm_status host_end_launches(struct host *h) TM_MUST_USE;
void host_free_launches(struct host *h); /* what is of the present host; after anything */

/* host_calls.c: what the threads tell */
tm_status host_begin_calls(struct host *h) TM_MUST_USE;
tm_status host_take_span(struct host *h, const struct tm_event *event) TM_MUST_USE;
tm_status host_end_calls(struct host *h) TM_MUST_USE;
void host_free_calls(struct host *h);

/* host_report.c */
tm_status tm_host_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

/* host_partial.c */
tm_status tm_host_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_host_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
