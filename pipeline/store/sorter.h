/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SORTER_H
#define TM_SORTER_H

#include <stdbool.h>

#include "pipeline/run.h"
#include "pipeline/store/row_order.h"

/* External merge sort of fixed-size rows: push in any order, finish, pull in order.  Full windows are
 * sorted and spilled as runs; runs are merged (in several levels where there are more runs than buffers).
 * Stable: equal rows come out in the order they went in, whatever the memory. */
struct tm_sorter;

/* in:     memory_bytes  window and merge buffers, all told
 * errors: NULL, with the error in run->error */
struct tm_sorter *tm_sorter_new(struct tm_run *run, enum tm_account account, size_t row_bytes, size_t memory_bytes,
                                tm_row_order *order) TM_MUST_USE;
/* Before the first row: rows have a prefix, which spares most comparisons. */
void tm_sorter_set_prefix(struct tm_sorter *sorter, tm_row_prefix *prefix);
void tm_sorter_free(struct tm_sorter *sorter);

tm_status tm_sorter_push(struct tm_sorter *sorter, const void *row) TM_MUST_USE;
/* No more rows.  Once finished, finishing again begins with the first row again. */
tm_status tm_sorter_finish(struct tm_sorter *sorter) TM_MUST_USE;
/* After finish.  *row = next in order, valid until the next call; NULL at the end. */
tm_status tm_sorter_next(struct tm_sorter *sorter, const void **row) TM_MUST_USE;
/* Start again from the first row, as often as wanted. */
tm_status tm_sorter_rewind(struct tm_sorter *sorter) TM_MUST_USE;
uint64_t tm_sorter_count(const struct tm_sorter *sorter);

#endif
