/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FINDINGS_H
#define TM_FINDINGS_H

#include "reports/findings/thresholds.h"

/* Write summary.findings: what costs time or spoils the profile, by time at stake; behind them facts, the graver first.
 * in:     summary  with all sections of the stages
 * out:     summary.findings[], empty for a healthy run
 * errors: TM_ERR_LIMIT no memory; those of the document, in run->error */
tm_status tm_findings_add(struct tm_run *run, struct tm_value *summary,
                          const struct tm_thresholds *t) TM_MUST_USE;

/* Write the checks of what `inspect` found: {"id", "title", "unit", "holds", "expected", "found", "where"}, as in a summary.
 * in:     found  with files, contents and coverage */
void tm_check_inspection(struct tm_value *found);

/* Write summary.verdict: one or two sentences on how busy the device is and what costs most.
 * in:     summary  with findings */
tm_status tm_verdict_add(struct tm_run *run, struct tm_value *summary,
                         const struct tm_thresholds *t) TM_MUST_USE;

#endif
