/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COMPARE_H
#define TM_COMPARE_H

#include "pipeline/doc/doc.h"
#include "pipeline/doc/run_figures.h"
#include "pipeline/run.h"
#include "reports/statistics/statistics.h"

/* Two or more sides, each one run or a group of runs of the same thing, compared with the first one: docs/compare.md,
 * schemas/COMPARISON.md. */

/* One run, from its summary. */
struct tm_compared_run {
    const struct tm_value *summary;
    const char *path;    /* as the user gave it */
    bool is_summary;     /* it was a summary.json, not a profile */
    int64_t measured_ps; /* a time from an external benchmark; -1 = none */
};

struct tm_comparison_side {
    const char *label; /* distinct, not empty */
    const struct tm_compared_run *run;
    size_t runs; /* 1 or more */
};

enum { TM_SIDES_MOST = 16, TM_SIDE_RUNS_MOST = 256 };

/* By how much two runs of the same program differ in a figure, in percent: a change has to exceed it. */
struct tm_spread {
    const char *path; /* of the figure in a summary: "steps.mean_ps" */
    double pct;
};
/* NaN = not known */
double tm_spread_pct(const struct tm_spread *spread, size_t spreads, const char *path);

struct tm_compare_options {
    const char *title, *note;       /* NULL = none */
    size_t rows;                    /* maximum rows in each table; the rest is summed up */
    bool is_forced;                 /* continue where tm_compare_check refuses */
    const struct tm_spread *spread; /* by figure; of the step time the mean and the median count here */
    size_t spreads;                 /* 0 = nothing is known */
    const char *run_spread_from;    /* "--run-spread", "12 runs of 'resnet50' in history.db"; of a known one */
};

/* Can they be compared?  Refused: a run against itself (the same fingerprints of files), a side without a trace.
 * errors: TM_ERR_USAGE or TM_ERR_INPUT with a hint */
tm_status tm_compare_check(struct tm_run *run, const struct tm_comparison_side *side, size_t sides);

/* Fill a document with the comparison, findings and verdict included.  The summaries are borrowed until it returns.
 * errors: TM_ERR_LIMIT if memory runs out */
tm_status tm_compare(struct tm_run *run, struct tm_doc *out, const struct tm_comparison_side *side, size_t sides,
                     const struct tm_compare_options *options);

/* Queries of a comparison to one summary.  All of them tolerate sections that are null or missing. */

/* Analyzed steps times the devices that each of them ran on; 1 for a run without steps and devices. */
double tm_device_steps(const struct tm_value *summary);
/* Steps were found: the session does not represent one. */
bool tm_has_steps(const struct tm_value *summary);

/* steps.parts.total_ps and the parts, per step and device.
 * out:    false: no device activity, or parts that exceed their total, as a foreign summary may have */
bool tm_step_parts(const struct tm_value *summary, double part[TM_PARTS], double *total);

/* The model of the devices; "" if there are several, or it is unknown. */
const char *tm_device_model(const struct tm_value *summary);

/* A hash of the contents of the files, in any order.  out: 16 hex digits; "" and false: a file has none */
enum { TM_RUN_FINGERPRINT_BYTES = 17 };

bool tm_fingerprint(const struct tm_value *summary, char out[TM_RUN_FINGERPRINT_BYTES]);

/* An element of `runs`: COMPARISON.md. */
void tm_add_compared_run(struct tm_value *list, const struct tm_compared_run *run);

/* The head of a document of several runs: its kind, the program, the user's notes, its settings.
 * in:     schema  "tracemill.comparison"; is_redacted  a summary of it was */
void tm_add_study_head(struct tm_value *root, const char *schema, const struct tm_compare_options *options,
                       bool is_redacted);

/* A time as a member; NaN = null with a reason. */
void tm_add_ps(struct tm_value *to, const char *key, double ps, const char *why);
/* Any number as a member; NaN = null with a reason. */
void tm_add_figure(struct tm_value *to, const char *key, double value, const char *why);

/* Memory of one job, freed all at once: what a comparison computes before it is written.
 * Its size follows the rows of the summaries, which are capped. */
struct tm_compare_blocks {
    struct tm_run *run;
    struct tm_room_block *blocks;
};

/* Zeroed memory for `count` things.  errors: NULL, with the failure in run->error */
void *tm_room_take(struct tm_compare_blocks *room, size_t count, size_t bytes) TM_MUST_USE;
void tm_room_free(struct tm_compare_blocks *room); /* tolerates a zeroed one */

/* The steps of a run as tests need them: one value for each step number, in time order.  The hosts of a
 * program run a step together, so that a step is not one sample for each of them: of several values of one number the
 * mean counts. */

/* Statistics of steps.samples_ps. errors: an empty one when memory ends, with the error in run->error */
struct tm_sample tm_step_samples(struct tm_compare_blocks *room, const struct tm_value *summary);
/* The maximum number of steps. */
size_t tm_step_samples_most(const struct tm_value *summary);
/* The steps in which nothing is compiled, to determine how much a step resembles the previous one. */
struct tm_sample tm_quiet_samples(struct tm_compare_blocks *room, const struct tm_value *summary);
/* Are the steps of both measured in the same way, as far as known? Otherwise no test can compare them. */
bool tm_are_steps_alike(const struct tm_value *a, const struct tm_value *b);

#define TM_STEPS_NOT_ALIKE                                                                                             \
    "the steps are measured in two ways: as the time from one to the next, and as the host's spans"

/* The number of analyzed steps; 1 for a run without steps. */
double tm_analyzed_steps(const struct tm_value *summary);

/* Steps in which a program is compiled: events that are recorded individually and are not random. */
struct tm_compiling_steps {
    double steps, compiling;
    double mean_ps;   /* of all steps; NaN = there are none */
    double excess_ps; /* by how much the compiling ones raise it: less the mean of the others; 0 if all compile */
};

/* Do they occur in a different share of the steps, and do they change the mean by at least this share of the base's? */
#define TM_COMPILING_LEAST_PCT 1.0

bool tm_have_compiling_changed(const struct tm_compiling_steps *base, const struct tm_compiling_steps *other,
                               double least_pct);
struct tm_compiling_steps tm_count_compiling_steps(struct tm_compare_blocks *room, const struct tm_value *summary);

#endif
