/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PROGRAMS_PRIVATE_H
#define TM_PROGRAMS_PRIVATE_H

#include "pipeline/groups.h"
#include "stages/diagnose/kernels/programs.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"
#include "stages/diagnose/top_rows.h"

/* Longer stretches between two programs are told by their cause, as idle gaps. */
#define PROGRAMS_PAUSE_PS INT64_C(100000000)

enum {
    PROGRAMS_NAMES = 8, /* different names of the calls that execute a program: three are known */
    PROGRAMS_PAUSES = 10,
};

/* Shorter operations are small, as in fusion.small. */
#define PROGRAMS_SMALL_PS INT64_C(100000000)

/* The calls of one name.  An execution is several calls, one inside the other, each of a name of its own. */
struct program_call {
    uint64_t hash; /* of the name */
    uint64_t count;
    int64_t total_ps;
};

/* What a device does at once for the host: a compiled program, or what one call launched. */
struct dispatch {
    uint64_t ops;      /* so far; 0 = none is open */
    uint64_t launch;   /* of its last op; 0 = not known */
    int64_t op_ps;     /* of the first op */
    int64_t pause_ps;  /* before it */
    int64_t call_ps;   /* of its launch */
    uint32_t step;
};

/* Dispatches of the chosen steps; what is told of those with one op alone. */
struct dispatch_sums {
    uint64_t count, single_count;
    uint64_t step_devices;      /* steps times devices, of the hosts that have some */
    int64_t pause_ps, small_ps; /* of single ones */
    int64_t call_ps;            /* of launches of single ones */
    int64_t execute_ps;         /* of the calls that execute programs, nested ones once */
};

/* One device of the present host. */
struct program_lane {
    int64_t end_ps;         /* of what ran last */
    struct dispatch dispatch;
    tm_strid module, first; /* the program that ran last and its first op; module 0 = none */
    uint64_t calls;         /* executions of the host that had begun when that program did */
    uint32_t step;          /* TM_NONE = nothing has run */
    int64_t program_end_ps; /* TPU: of the execution that began last */
    bool is_uncounted;      /* which has no op in the chosen steps yet */
};

struct program_pause {
    int64_t begin_ps, dur_ps, step_number;
    uint32_t host, device_index;
    tm_strid before, after; /* programs */
    uint8_t has_step;
    char device[192];
};

struct programs {
    struct tm_run *run;
    const struct tm_trace *trace; /* of the present host */
    struct tm_names *names;
    struct program_lane *lanes; /* of the present host, by device */
    uint32_t lane_count;
    struct program_call calls[PROGRAMS_NAMES]; /* of the present host, in its chosen steps */
    uint64_t mark;                             /* the step marker that the next call may lie in */
    uint64_t begun;                            /* executions of the present host, in steps or not */
    uint64_t host_count;                       /* executions on TPUs of the present host */
    struct dispatch_sums host_dispatches;      /* of the present host */
    bool has_modules;                          /* some op of the present host tells its program */
    struct tm_top_rows *longest;               /* struct program_pause */
    /* of the run */
    uint64_t count, step_devices; /* steps times devices, of the hosts that have executions in marked steps */
    uint64_t operations, pause_count;
    int64_t operation_ps, pause_ps;
    struct dispatch_sums dispatches;
    bool has_device, has_steps;
};

void programs_add_dispatches(struct dispatch_sums *to, const struct dispatch_sums *more);
int programs_longest_first(const void *a, const void *b);

/* programs_report.c */
tm_status tm_programs_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;
/* programs_partial.c */
tm_status tm_programs_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_programs_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
