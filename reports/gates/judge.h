/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JUDGE_H
#define TM_JUDGE_H

#include "reports/compare/compare.h"
#include "reports/gates/gate.h"
#include "reports/gates/gate_figures.h"

struct tm_noise {
    double p;         /* the larger one of both tests; NaN = none was made */
    double noise_pct; /* a smaller change is within noise; NaN = not known */
};

/* The steps of the input and of all baselines, tested once for all gates: the median and the mean, as in comparisons
 * (statistics/tests.c).  One value for each step number, not for each host.
 * in:     input, baseline  summaries
 * out:    steps, base_steps  how many there are; effective  how many independent ones the fewer of them are worth
 * errors: TM_ERR_LIMIT when memory ends */
struct tm_step_test {
    struct tm_noise median, mean;
    size_t steps, base_steps;
    double effective;
    const char *refused; /* why they cannot be compared at all; NULL = they can */
};

/* A check under way: what judge.c finds out of each gate, and check_document.c writes down. */
enum { TM_WHY_BYTES = 400 };

enum tm_gate_status { TM_GATE_PASSED, TM_GATE_FAILED, TM_GATE_UNKNOWN, TM_GATE_SKIPPED, TM_GATE_STATUSES };

struct tm_judging {
    struct tm_run *run;
    const struct tm_gates *gates;
    const struct tm_compared_run *input;
    const struct tm_comparison_side *baseline;   /* NULL = none */
    const struct tm_judged_job *job;             /* NULL = a run by itself */
    const struct tm_gate_comparison *comparison; /* NULL = none was made */
    struct tm_step_test steps;
    bool steps_are_tested;
    size_t count[TM_GATE_STATUSES];
    double base[TM_SIDE_RUNS_MOST];
};

struct tm_gate_result {
    const struct tm_gate *gate;
    const char *path;
    struct tm_figure figure;
    double limit;      /* in the figure's unit, or in percent */
    double baseline;   /* NaN = none */
    double change_pct; /* NaN = none, or the baseline is 0 */
    struct tm_noise noise;
    double spread_pct;             /* what runs of the same program differ by in it; NaN = not known */
    bool is_compared, has_changed; /* a comparison has decided it */
    size_t base_count;
    double steps;     /* the figure is a sum over so many steps and is compared per step; 0 = it is compared as it is */
    bool is_untested; /* the steps are too few independent ones for a test */
    char bare[TM_FIGURE_BYTES]; /* the path without ".total" */
    bool is_total;              /* ".total" stands behind it: compared as it is */
    enum tm_gate_status status;
    char why[TM_WHY_BYTES]; /* "" = nothing to say */
};

/* Is it a sum over the analyzed steps, to be compared per step?  in: path  in a summary */
bool tm_figure_is_sum(const char *path);

/* What was checked: all that stands before the gates.  in: root  of an empty document */
void tm_check_begin(struct tm_value *root, const struct tm_judging *j);
void tm_check_add(struct tm_value *rows, const struct tm_judging *j, const struct tm_gate_result *r);
/* The counts and the verdict. */
void tm_check_end(struct tm_value *root, const struct tm_judging *j);

#endif
