/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COMPILE_PRIVATE_H
#define TM_COMPILE_PRIVATE_H

#include "pipeline/partial.h"
#include "stages/diagnose/compile/compile.h"
#include "stages/diagnose/compile/compile_programs.h"

enum { CALL_DEPTH = 32 /* calls that are open at once on one thread */ };

/* The sorts of names, the best one first. */
enum sort { SORT_WHOLE, SORT_CLIENT, SORT_XLA, SORT_COUNT };

/* A compile that lies in no other one. */
struct compile {
    int64_t begin_ps, dur_ps, step_number;
    uint32_t host;
    tm_strid module;
    tm_strid shapes; /* of the program that it made; 0 = not known.  Set by the report */
    uint8_t sort, has_step, in_chosen;
};

/* The latest ends of the compiles that began on a track. */
struct track_ends {
    int64_t end_ps[SORT_COUNT];
    uint8_t has[SORT_COUNT];
};

struct call {
    int64_t end_ps;
    tm_strid name;
};

/* The PjitFunctions that are open on a thread, the innermost last. */
struct call_stack {
    uint32_t track, depth;
    struct call calls[CALL_DEPTH];
};

struct host_name {
    char text[128];
};

struct compiles {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace;   /* of the present host */
    struct tm_names *names;
    struct tm_rows *rows;           /* struct compile, by host and begin */
    struct tm_rows *hosts;          /* struct host_name */
    struct tm_rows *tracks;         /* struct track_ends of the present host */
    struct track_ends any_track;
    struct tm_compiled *programs;   /* those whose HLO is there */
    struct call_stack *calls;       /* CALL_THREADS of them */
    uint32_t call_count, last_call;
    uint64_t found[SORT_COUNT];
    bool has_host_events, has_host_steps;
    uint32_t origins; /* of the hosts: 1 << enum tm_origin */
};

/* compile_report.c */
tm_status tm_compile_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

/* compile_partial.c */
tm_status tm_compile_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_compile_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
