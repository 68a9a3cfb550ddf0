/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KPIS_H
#define TM_KPIS_H

#include "reports/findings/thresholds.h"

/* Write summary.kpis: the figures of the first page, each with its band.
 * in:     summary  with all sections of the stages and findings
 * out:     summary.kpis[] {id, title, value, unit, band, why, note, good, bad, marks, definition, applies, finding} in the
 * order of enum tm_kpi; value null and band "unknown" where the input or this version has no
 * figure: `why` errors: those of the document, in run->error */
tm_status tm_kpis_add(struct tm_run *run, struct tm_value *summary,
                      const struct tm_thresholds *t) TM_MUST_USE;

/* Give a key figure its `finding`: that with its savings, where it is outside its band; where there is none, `why` it costs
 * nothing.
 * in:     kpi  of summary.kpis, with its band; summary  with findings */
void tm_kpi_link(struct tm_value *kpi, const struct tm_value *summary, const struct tm_thresholds *t);

/* "good", "warning" or "bad"; "unknown" without bands. */
const char *tm_kpi_band(const struct tm_threshold *kpi, double value);

#endif
