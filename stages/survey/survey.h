/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SURVEY_H
#define TM_SURVEY_H

#include "pipeline/store/groups.h"
#include "stages/resolve/resolver.h"

/* Number of records of each kind, collected while the survey reads them, so event counts need no separate pass and no
 * time order.  Records are counted by all properties that determine their class; the class is resolved after the
 * survey.  Memory: a table of fixed size in front of groups that spill, and a list, which spills, of those that need an
 * id lookup then. */
struct tm_survey_stats;

/* owns:   the caller frees it with tm_survey_stats_free; trace must outlive it
 * errors: NULL, with the error in run->error */
struct tm_survey_stats *tm_survey_stats_new(struct tm_trace *trace) TM_MUST_USE;
void tm_survey_stats_free(struct tm_survey_stats *census); /* tolerates NULL */

/* Count a record.  All records of a track come one after the other.
 * in:     raw  if it has a signature, only the fields that tm_fill_record needs */
tm_status tm_survey_stats_take(struct tm_survey_stats *census, const struct tm_signatures *signatures,
                               const struct tm_track *track, const struct tm_raw_record *raw);
/* The same for a batch: a quarter of the instructions. */
void tm_survey_stats_take_batch(struct tm_survey_stats *census, const struct tm_signatures *signatures,
                                const struct tm_track *track, const struct tm_batch *batch);

/* Whether the counts of a track are invalid: the nesting of its events can only be determined in time order.  Its
 * records must be counted again, in order, after tm_survey_stats_recount. */
bool tm_survey_stats_needs_order(const struct tm_survey_stats *census, const struct tm_track *track);
void tm_survey_stats_recount(struct tm_survey_stats *census);

/* As struct tm_stage_type.take_site; of the sums there are count, total_ps and without_length. */
typedef void tm_take_site(void *to, const struct tm_event *event, const struct tm_site_sums *sums);

/* Report all counts, once, after the survey. */
tm_status tm_survey_stats_give(struct tm_survey_stats *census, struct tm_resolver *resolver, tm_take_site *take,
                               void *to);

/* One pass over all records, track by track and unordered, before they are sorted: which thread launched what, where
 * the steps are, which devices were active.  Afterwards the step and the launch of every event can be determined
 * immediately, and the analyzed steps are known, so the figures need one ordered pass and no history.  Cost: each
 * record is read twice. */

/* The steps that the user selects. */
struct tm_chosen_steps {
    bool all;            /* --steps all */
    bool has_range;      /* --steps A:B */
    uint64_t begin, end; /* of the range, ordinals */
    bool has_skip;       /* --skip-steps N */
    uint64_t skip;
    bool session; /* --window session: the window is the whole profiling session */
};

/* Survey a scanned trace: fills track facts, devices, steps, and the main track of source->trace.
 * in:     census  counts the records as they are read; may be NULL
 * out:    resolver  ready for tm_resolve
 * owns:   the caller frees the resolver's data with tm_survey_free
 * errors: as of the tables and the input */
tm_status tm_survey(struct tm_source *source, const struct tm_chosen_steps *choice, struct tm_survey_stats *census,
                    struct tm_resolver *resolver);
/* The events will be resolved again, from the first one on. */
void tm_survey_rewind(struct tm_resolver *resolver);
void tm_survey_free(struct tm_resolver *resolver);

/* What the survey collects for the resolver's tables. */

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

/* A compilation that starts at a time; which of the names matched. */
struct tm_compile_mark {
    int64_t start_ps;
    uint32_t kind; /* 0 whole name, 1 client, 2 XlaCompile */
};

struct tm_survey {
    struct tm_source *source;
    struct tm_trace *trace;
    struct tm_run *run;
    struct tm_resolver *resolver;
    struct tm_survey_stats *census; /* NULL = none */
    size_t buffer_bytes;
    struct tm_batch *batch; /* for one track after the other */
    /* collected on the host's lines */
    struct tm_spans *markers;
    struct tm_sorter *executions; /* struct tm_execution by (module, lane, begin) */
    struct tm_groups *module_times;
    struct tm_sorter *compiles; /* struct tm_compile_mark in time order */
    uint64_t compile_counts[3];
    uint64_t marker_count;
    bool has_uncertain_launches, has_groups, has_cpu_ops;
    uint64_t main_score;                   /* of the best main track so far */
    struct tm_spans *thunks;               /* executions of programs on GPUs, by track */
    uint32_t executors[TM_EXECUTORS_MOST]; /* tracks that have some, but no launches */
    uint32_t executor_count;
    bool has_drivers; /* lines that contain only driver calls */
    /* collected on the devices' lines */
    struct tm_spans *tpu_steps;
    uint64_t tpu_step_count, tpu_programs;
    tm_strid last_program;    /* the name of the execution that was read last */
    struct tm_groups *groups; /* struct tm_group_span */
    struct tm_sorter *graphs; /* struct tm_graph_event: examined when it is known which are expanded */
    uint64_t last_node_id, last_launched_id;
};

/* The times of a viewer's group. */
struct tm_group_span {
    struct tm_key key; /* low = group_id */
    int64_t start_ps, end_ps;
};

/* The event of a graph, set aside. */
struct tm_graph_event {
    struct tm_record record;
    uint32_t traits;
    uint32_t unused;
    struct tm_number number; /* its arguments, where record.args_length says so */
};

/* What follows remembers its failures in run->error, and reads no more after one.
 * survey_tracks.c: one reading of all tracks of one side. */
void tm_survey_host_tracks(struct tm_survey *s);

/* Readings of the devices' lines: `facts` (activities, first, last, program times) and `rows` (activities by step);
 * both at once if the steps are known already. */
void tm_survey_program_tracks(struct tm_survey *s);
void tm_survey_device_tracks(struct tm_survey *s, bool facts, bool rows);
void tm_survey_other_tracks(struct tm_survey *s);

#endif
