/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SPREAD_H
#define TM_SPREAD_H

#include "pipeline/doc.h"
#include "stages/diagnose/sums.h"

/* How much lengths differ, from sums that are exact whatever the order of their parts: how many, their sum and the sum
 * of their squares. */

/* in: length_ps  not negative */
static inline struct tm_wide tm_sum_squares(struct tm_wide squares, int64_t length_ps)
{
    return tm_sum_wide(squares, (unsigned __int128)(uint64_t)length_ps * (uint64_t)length_ps);
}

/* The standard deviation, with n - 1, in whole picoseconds; null with why of fewer than two lengths, and where a sum has
 * come to the end of its range. */
void tm_add_stddev(struct tm_value *to, const char *key, uint64_t count, int64_t sum_ps, struct tm_wide squares);

#endif
