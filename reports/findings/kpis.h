/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KPIS_H
#define TM_KPIS_H

#include "reports/findings/thresholds.h"

/* Write summary.kpis: the figures of the first page, each with its band.
 * in:     summary  with all sections of the stages
 * out:     summary.kpis[] {id, title, value, unit, band, why, note, good, bad, marks, definition} in the
 * order of enum tm_kpi; value null and band "unknown" where the input or this version has no
 * figure: `why` errors: those of the document, in run->error */
tm_status tm_kpis_add(struct tm_run *run, struct tm_value *summary,
                      const struct tm_thresholds *t) TM_MUST_USE;

/* "good", "warning" or "bad"; "unknown" without bands. */
const char *tm_kpi_band(const struct tm_threshold *kpi, double value);

#endif
