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

/* Hold a run to them and fill a document (schemas/CHECK.md) with the result of each.
 * in:     baseline  runs that relative gates compare with; NULL = none
 * out:    failed    gates that failed
 * errors: TM_ERR_USAGE: a figure that does not exist in the summary (the message suggests the
 * nearest names) */
tm_status tm_gates_judge(struct tm_run *run, struct tm_doc *out, const struct tm_gates *gates,
                         const struct tm_compared_run *input, const struct tm_side *baseline,
                         size_t *failed) TM_MUST_USE;

/* A gate file for a run as it is: its main figures with some room. */
tm_status tm_gates_init(struct tm_run *run, const struct tm_value *summary, FILE *to) TM_MUST_USE;

/* JUnit XML of a result. */
tm_status tm_junit_write(struct tm_run *run, const struct tm_doc *result, FILE *to) TM_MUST_USE;

#endif
