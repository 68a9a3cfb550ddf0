/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FALLBACK_PRIVATE_H
#define TM_FALLBACK_PRIVATE_H

#include "pipeline/groups.h"
#include "stages/diagnose/host/callback_name.h"
#include "stages/diagnose/host/fallback.h"
#include "stages/diagnose/host/host_window.h"
#include "stages/diagnose/longest.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"

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
    int64_t until_ps;  /* it was active up to here */
    bool ends_in_d2h;  /* a copy to the host is the last that it did, or one of those that end last */
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

/* Parts of what the tables of this stage may take, in sixteenths. */
enum { FALLBACK_ROWS = 6 };

static inline size_t fallback_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_FALLBACK, 16, (unsigned)parts);
}

/* fallback_calls.c: what the threads tell */
tm_status fallback_take_span(struct fallback *f, const struct tm_event *event) TM_MUST_USE;
tm_status fallback_close_callbacks(struct fallback *f, int64_t until_ps) TM_MUST_USE; /* those that end by then */
/* Count one of a sort; key and sums of the row are filled in here. */
tm_status fallback_count(struct fallback *f, const struct fallback_row *about, int64_t begin_ps,
                         int64_t dur_ps) TM_MUST_USE;

/* round_trips.c: what the devices tell */
tm_status fallback_take_activity(struct fallback *f, const struct tm_event *event) TM_MUST_USE;

/* fallback_report.c */
tm_status tm_fallback_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

/* fallback_partial.c */
tm_status tm_fallback_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_fallback_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
