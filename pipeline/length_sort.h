/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LENGTH_SORT_H
#define TM_LENGTH_SORT_H

#include "pipeline/lengths.h"

/* Sort rows by (group, value) and fold those of the same into one.  Linear: whatever the numbers are.
 * in:     scratch  room for as many rows
 * out:    how many are left, at the front of `rows` */
size_t tm_lengths_sort(struct tm_length *rows, struct tm_length *scratch, size_t count);

#endif
