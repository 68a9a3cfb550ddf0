/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SAME_RUN_H
#define TM_SAME_RUN_H

#include "reports/compare/compare.h"

/* A run is no baseline of itself, and none twice.
 * in:     baseline  NULL = none
 * errors: TM_ERR_USAGE with the two paths */
tm_status tm_refuse_same_run(struct tm_run *run, const struct tm_compared_run *input,
                             const struct tm_comparison_side *baseline) TM_MUST_USE;

#endif
