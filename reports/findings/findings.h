/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FINDINGS_H
#define TM_FINDINGS_H

#include "reports/findings/thresholds.h"

/* What a summary with the sections of the stages is judged by, in this order: marks, findings, key figures, verdict. */

/* Write coverage.marks: what is missing or damaged in the input, in a sentence, and which sections and key figures it
 * touches.  The key figures name them (tm_kpis_add), and reports show them beside the figures
 * (reports/format/format.h).
 * in:     summary  with the sections of the stages
 * out:    coverage.marks[] {id, text, sections[], kpis[]} in the order of a fixed table, each id once
 * errors: those of the document, in run->error */
tm_status tm_marks_add(struct tm_run *run, struct tm_value *summary) TM_MUST_USE;

/* Write summary.findings: what costs time or spoils the profile, by time at stake; behind them facts, the graver first.
 * in:     summary  with all sections of the stages
 * out:     summary.findings[], empty for a healthy run
 * errors: TM_ERR_LIMIT no memory; those of the document, in run->error */
tm_status tm_findings_add(struct tm_run *run, struct tm_value *summary, const struct tm_thresholds *t) TM_MUST_USE;

/* Write summary.kpis: the figures of the first page, each with its band.
 * in:     summary  with all sections of the stages and findings
 * out:     summary.kpis[] {id, title, value, unit, band, why, note, good, bad, marks, definition, applies, finding} in
 *          the order of enum tm_kpi; value null and band "unknown" where the input or this version has no figure:
 *          `why`
 * errors: those of the document, in run->error */
tm_status tm_kpis_add(struct tm_run *run, struct tm_value *summary, const struct tm_thresholds *t) TM_MUST_USE;

/* "good", "warning" or "bad"; "unknown" without bands. */
const char *tm_kpi_band(const struct tm_threshold *kpi, double value);

/* Write the checks of what `inspect` found: {"id", "title", "unit", "holds", "expected", "found", "where"}, as in a
 * summary.
 * in:     found  with files, contents and coverage */
void tm_check_inspection(struct tm_value *found);

/* Write summary.verdict: one or two sentences on how busy the device is and what costs most.
 * in:     summary  with findings */
tm_status tm_verdict_add(struct tm_run *run, struct tm_value *summary, const struct tm_thresholds *t) TM_MUST_USE;

#endif
