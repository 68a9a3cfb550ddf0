/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_GROWN_ROWS_H
#define TM_GROWN_ROWS_H

#include "reports/scaling/study.h"

/* Of which operations, collectives, causes ... a part of the step is at the last point, beyond what
 * it would be there if it scaled: per step and device, of the first run of the first and of the
 * last point. */
enum { GROWN_ROWS_MOST = 3 };

struct grown_row {
    const char *name; /* any bytes; lives as long as the summaries */
    double first_ps, last_ps, ideal_ps;
};

/* The largest first; rows that the first point does not have are left out, and those with less than
 * a hundredth of the last point's step beyond their part.  out: how many */
size_t find_grown_rows(const struct scaling_study *s, enum scaling_part part,
                       struct grown_row row[GROWN_ROWS_MOST]);

#endif
