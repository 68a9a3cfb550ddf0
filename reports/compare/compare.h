/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COMPARE_H
#define TM_COMPARE_H

#include "pipeline/doc/doc.h"

/* Two or more sides, each one run or a group of runs of the same thing, against the first one: docs/compare.md,
 * schemas/COMPARISON.md. */

/* One run, from its summary. */
struct tm_compared_run {
    const struct tm_value *summary;
    const char *path;    /* as the user gave it */
    bool is_summary;     /* it was a summary.json and no profile */
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
    size_t rows;                    /* at most in each table; the rest is summed up */
    bool is_forced;                 /* go on where tm_compare_check refuses */
    const struct tm_spread *spread; /* by figure; of the step time the mean and the median count here */
    size_t spreads;                 /* 0 = nothing is known */
    const char *run_spread_from;    /* "--run-spread", "12 runs of 'resnet50' in history.db"; of a known one */
};

/* May they be compared?  Refused: a run against itself (the same fingerprints of files), a side without a trace.
 * errors: TM_ERR_USAGE or TM_ERR_INPUT with a hint */
tm_status tm_compare_check(struct tm_run *run, const struct tm_comparison_side *side, size_t sides) TM_MUST_USE;

/* Fill a document with the comparison, findings and verdict included.  The summaries are borrowed until it returns.
 * errors: TM_ERR_LIMIT when memory ends */
tm_status tm_compare(struct tm_run *run, struct tm_doc *out, const struct tm_comparison_side *side, size_t sides,
                     const struct tm_compare_options *options) TM_MUST_USE;

#endif
