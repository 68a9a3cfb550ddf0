/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SURVEY_PRIVATE_H
#define TM_SURVEY_PRIVATE_H

#include "pipeline/store/groups.h"
#include "stages/survey/survey.h"

/* What the survey gathers on its way to the resolver's tables. */

enum { TM_EXECUTORS_MOST = 128 };

/* An execution of a program: a candidate for a step. */
struct tm_execution {
    struct tm_key module; /* hash of its name */
    tm_strid name;
    uint64_t lane; /* device (TPU) or host track (GPU) */
    int64_t start_ps, end_ps;
};

/* Device time by program: which one is the step. */
struct tm_module_time {
    struct tm_key module;
    tm_strid name;
    uint64_t executions;
    int64_t total_ps;
};

/* A compilation that begins at a time; which of the names matched. */
struct tm_compile_mark {
    int64_t start_ps;
    uint32_t kind; /* 0 whole name, 1 client, 2 XlaCompile */
};

struct tm_survey {
    struct tm_source *source;
    struct tm_trace *trace;
    struct tm_run *run;
    struct tm_resolver *resolver;
    struct tm_survey_stats *census; /* NULL = nobody counts */
    size_t buffer_bytes;
    /* gathered on the host's lines */
    struct tm_spans *markers;
    struct tm_sorter *executions; /* struct tm_execution by (module, lane, begin) */
    struct tm_groups *module_times;
    struct tm_sorter *compiles; /* struct tm_compile_mark in the order of time */
    uint64_t compile_counts[3];
    uint64_t marker_count;
    bool has_uncertain_launches, has_groups, has_cpu_ops;
    uint64_t main_score;                   /* of the best main track so far */
    struct tm_spans *thunks;               /* executions of programs on GPUs, by track */
    uint32_t executors[TM_EXECUTORS_MOST]; /* tracks that have some, and no launches of their own */
    uint32_t executor_count;
    bool has_drivers; /* lines of nothing but calls of the driver */
    /* gathered on the devices' lines */
    struct tm_spans *tpu_steps;
    uint64_t tpu_step_count, tpu_programs;
    struct tm_groups *groups; /* struct tm_group_span */
    struct tm_sorter *graphs; /* struct tm_graph_event: looked at when it is known which are expanded */
    uint64_t last_node_id, last_launched_id;
};

/* When the events of a viewer's group lie. */
struct tm_group_span {
    struct tm_key key; /* low = group_id */
    int64_t start_ps, end_ps;
};

/* A graph's event, put aside. */
struct tm_graph_event {
    struct tm_record record;
    uint32_t traits;
    uint32_t unused;
    struct tm_number number; /* its arguments, where record.args_length says so */
};

/* survey_tracks.c: one reading of all tracks of one side. */
tm_status tm_survey_host_tracks(struct tm_survey *s) TM_MUST_USE;
/* survey.c: after the host's lines: whose calls stand on lines of the driver alone. */
tm_status tm_survey_join_drivers(struct tm_survey *s) TM_MUST_USE;
/* Readings of the devices' lines: `facts` (activities, first, last, program times) and `rows` (activities by step);
 * both at once where the steps are known already. */
tm_status tm_survey_program_tracks(struct tm_survey *s) TM_MUST_USE;
tm_status tm_survey_device_tracks(struct tm_survey *s, bool facts, bool rows) TM_MUST_USE;
tm_status tm_survey_other_tracks(struct tm_survey *s) TM_MUST_USE;

/* survey_steps.c: choose the source of the steps, make its table; then periods, warm-up, chosen steps. */
tm_status tm_survey_choose_source(struct tm_survey *s) TM_MUST_USE;
tm_status tm_survey_make_rows(struct tm_survey *s) TM_MUST_USE;
tm_status tm_survey_finish_steps(struct tm_survey *s, const struct tm_chosen_steps *choice) TM_MUST_USE;

#endif
