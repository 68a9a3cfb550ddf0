/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_GATES_H
#define TM_GATES_H

#include <stdio.h>

#include "reports/compare/compare.h"

/* Limits for figures of a summary, or of any document, by their path: docs/gates.md,
 * schemas/gates.schema.json. */
struct tm_gates;

/* From a gate file; from expressions ("steps.median_ps>+5%", "kpis[device_utilization].value<80%")
 * of --fail-on. owns:   the caller; tm_gates_free errors: TM_ERR_USAGE with file, gate and reason;
 * wrong members suggest the nearest */
tm_status tm_gates_read(struct tm_run *run, struct tm_gates **gates, const char *path) TM_MUST_USE;
tm_status tm_gates_parse(struct tm_run *run, struct tm_gates **gates, const char *const *expression,
                         size_t count) TM_MUST_USE;
void tm_gates_free(struct tm_gates *gates); /* tolerates NULL */
bool tm_gates_want_baseline(const struct tm_gates *gates);
/* Does any of them look at that member of the summary's root, here or to find out what it is of?  What none needs of a
 * baseline can be left out of it. */
bool tm_gates_need(const struct tm_gates *gates, const char *section);
/* The first gate behind that number whose "job" no job fits; 0 = there is none. */
typedef bool tm_has_job(void *of, const char *pattern);
size_t tm_gates_idle(const struct tm_gates *gates, size_t after, tm_has_job *has, void *of);

/* Hold a run to them and fill a document (schemas/CHECK.md) with the result of each.
 * in:     baseline  runs that relative gates compare with; NULL = none
 * out:    failed    gates that failed
 * errors: TM_ERR_USAGE: a figure that does not exist in the summary (the message suggests the
 * nearest names) */
tm_status tm_gates_judge(struct tm_run *run, struct tm_doc *out, const struct tm_gates *gates,
                         const struct tm_compared_run *input, const struct tm_comparison_side *baseline,
                         size_t *failed) TM_MUST_USE;

/* The same where a comparison has judged these runs: gates say nothing that it does not. */
struct tm_gate_comparison {
    const struct tm_value *test; /* tests[] of COMPARISON.md, of the side that the input is of: gates of the step time
                                       hold to it, unless it is inconclusive */
    const struct tm_spread
        *spread; /* what runs of the same program differ by: a change has to exceed it; 0 = not known */
    size_t spreads;
    const char *spread_from;
};
tm_status tm_gates_judge_compared(struct tm_run *run, struct tm_doc *out, const struct tm_gates *gates,
                                  const struct tm_compared_run *input, const struct tm_comparison_side *baseline,
                                  const struct tm_gate_comparison *comparison, size_t *failed) TM_MUST_USE;

/* The same of one run of many, each of some job: gates of other jobs are left out, of several gates of one figure and
 * rule the last one that is of the job counts, and a row that this run's list does not have makes the gate unknown.
 * Without it (tm_gates_judge) gates that name jobs are skipped. */
struct tm_judged_job {
    const char *job;
    const char *no_baseline; /* why there is none, if there is none */
    bool is_new;             /* there can be no baseline yet: gates that want one are skipped, required or not */
};
tm_status tm_gates_judge_job(struct tm_run *run, struct tm_doc *out, const struct tm_gates *gates,
                             const struct tm_compared_run *input, const struct tm_comparison_side *baseline,
                             const struct tm_judged_job *job, size_t *failed) TM_MUST_USE;
/* Do both have files, and the same ones?  Such a run is no baseline: tm_gates_judge refuses it. */
bool tm_are_same_run(const struct tm_compared_run *a, const struct tm_compared_run *b);

/* A gate file for a run as it is: its main figures with some room. */
tm_status tm_gates_init(struct tm_run *run, const struct tm_value *summary, FILE *to) TM_MUST_USE;

/* JUnit XML of a result. */
tm_status tm_junit_write(struct tm_run *run, const struct tm_doc *result, FILE *to) TM_MUST_USE;

#endif
