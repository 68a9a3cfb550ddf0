/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FALLBACK_H
#define TM_FALLBACK_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/store/groups.h"
#include "pipeline/stage.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_window.h"

/* What ran on the host although a device was there: calls back to Python, operations of the program, trips of data to
 * the host and back.  Writes the section fallback.
 * source: docs/metrics.md, "CPU fallback" */
extern const struct tm_stage_type tm_fallback_stage;

/* How the calls of a JAX program back to the host are called in a profile.
 * source: jax/_src/callback.py, debugging.py, interpreters/mlir.py (emit_python_callback), by profiles of JAX 0.10 */
enum tm_callback_kind {
    TM_CALLBACK, /* of a kind that no name tells */
    TM_PURE_CALLBACK,
    TM_IO_CALLBACK,
    TM_DEBUG_CALLBACK,
    TM_DEBUG_PRINT,
    TM_HOST_CUSTOM_CALL, /* the program's HLO says so */
    TM_CALLBACK_KINDS
};

enum tm_callback_role {
    TM_ROLE_NONE,
    TM_ROLE_BEGINS,   /* the call back itself, outermost: "$callback.py:815 _wrapped_callback" */
    TM_ROLE_CALLS,    /* the next function inside is the user's: "$callback.py:69 __call__" */
    TM_ROLE_PLUMBING, /* what JAX does on the way, and Python's builtins */
    TM_ROLE_FUNCTION, /* another Python function */
};

struct tm_callback_name {
    enum tm_callback_role role;
    enum tm_callback_kind kind; /* TM_CALLBACK = the name tells none */
};

struct tm_callback_name tm_callback_name_of(const char *text, size_t length, bool is_cpu_op);

/* FALLBACK_OPEN: calls back that are followed at once; of more the function is not told.  FALLBACK_FRONT: a power of
 * two; names that are at hand.  FALLBACK_TRIPS: the longest round trips that are listed. */
enum { FALLBACK_OPEN = 64, FALLBACK_FRONT = 1024, FALLBACK_TRIPS = 20 };

enum fallback_sort {
    FALLBACK_CALLBACK, /* a call of the program back to the host */
    FALLBACK_CPU_OP,   /* an operation of the program on the host of a GPU or TPU */
    FALLBACK_HOST_OP,  /* an operation on the device that the HLO tells to work with the host */
    FALLBACK_SORTS
};

/* All of one name and op. */
struct fallback_row {
    struct tm_key key; /* of sort, kind and the two names */
    uint64_t count;
    int64_t total_ps;
    struct tm_longest longest;
    tm_strid name; /* callback: the function that was called, 0 = not known */
    tm_strid op;   /* framework path; 0 = not recorded */
    uint8_t sort;  /* enum fallback_sort */
    uint8_t kind;  /* enum tm_callback_kind, of a callback */
};

struct fallback_sum {
    uint64_t count;
    int64_t total_ps;
};

/* A call back that has not ended. */
struct open_callback {
    int64_t begin_ps, end_ps;
    uint32_t track;
    tm_strid function, op;
    enum tm_callback_kind kind;
    bool is_calling; /* the next function is the user's */
};

/* A device, while its host is read. */
struct trip_lane {
    int64_t until_ps; /* it was active up to here */
    bool ends_in_d2h; /* a copy to the host is the last that it did, or one of those that end last */
    uint32_t d2h_step;
    uint64_t d2h_bytes;
    /* the latest gap */
    int64_t gap_begin_ps, gap_end_ps;
    bool is_after_d2h; /* and not counted yet */
    bool is_used;
};

struct fallback_front {
    tm_strid name;
    uint8_t is_used, is_cpu_op;
    struct tm_callback_name about;
};

struct fallback {
    struct tm_run *run;
    const struct tm_settings *settings;
    struct tm_names *names;
    /* of the present host */
    const struct tm_trace *trace;
    struct tm_host_window window;
    struct trip_lane *lanes; /* by the device's index */
    uint32_t lane_count;
    struct open_callback open[FALLBACK_OPEN];
    uint32_t open_count;
    struct fallback_front *front;
    bool is_accelerated; /* it has a GPU or TPU */
    bool has_host_op;    /* the HLO of some op tells that it works with the host */
    /* of the run */
    struct tm_groups *rows; /* struct fallback_row */
    struct fallback_sum sums[FALLBACK_SORTS];
    struct tm_stretch trips[FALLBACK_TRIPS]; /* data went to the host and came back, with the device idle between */
    uint32_t trips_listed;
    uint64_t trip_count, trip_bytes, trips_of_unknown_bytes;
    int64_t trip_ps;
    bool has_accelerator, has_cpu_device, has_steps;
};

/* Count one of a sort; key and sums of the row are filled in here. */
tm_status tm_fallback_count(struct fallback *f, const struct fallback_row *about, int64_t begin_ps,
                            int64_t dur_ps) TM_MUST_USE;

/* host.c: what the devices tell */
tm_status tm_fallback_take_activity(struct fallback *f, const struct tm_event *event) TM_MUST_USE;

#endif
