/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MARKS_H
#define TM_MARKS_H

#include "pipeline/doc.h"

/* Write coverage.marks: what is missing or damaged in the input, in a sentence, and which sections and key figures it
 * touches.  The key figures name them (tm_kpis_add), and reports show them beside the figures
 * (reports/format/mark_signs.h).
 * in:     summary  with the sections of the stages
 * out:    coverage.marks[] {id, text, sections[], kpis[]} in the order of a fixed table, each id once
 * errors: those of the document, in run->error */
tm_status tm_marks_add(struct tm_run *run, struct tm_value *summary) TM_MUST_USE;

#endif
