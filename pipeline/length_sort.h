/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LENGTH_SORT_H
#define TM_LENGTH_SORT_H

#include "pipeline/lengths.h"

/* Sort rows by (group, value) and fold those of the same into one.  Linear: whatever the numbers are.
 * in:     scratch  room for scratch_count rows: any number, a cache near the processor full of them is best
 * out:    how many are left, at the front of `rows` */
size_t tm_lengths_sort(struct tm_length *rows, size_t count, struct tm_length *scratch, size_t scratch_count);

#endif
