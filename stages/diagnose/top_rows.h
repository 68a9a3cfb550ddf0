/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TOP_ROWS_H
#define TM_TOP_ROWS_H

#include "pipeline/sorter.h"

/* The first rows, in some order, of any number of rows: a heap of as many as are asked for. */
struct tm_top_rows;

/* in:     most          how many rows are kept
 *         memory_bytes  what the kept rows may take; they take as much as there are
 *         order         must not call two different rows equal, or it depends on their sequence
 * which is kept errors: NULL, with the error in run->error */
struct tm_top_rows *tm_top_rows_new(struct tm_run *run, enum tm_account account, size_t row_bytes,
                                    uint64_t most, size_t memory_bytes,
                                    tm_row_order *order) TM_MUST_USE;
void tm_top_rows_free(struct tm_top_rows *top);

/* The rows of a table that is listed in the summary.  They wait in the account of sorting, which nobody uses once the
 * hosts are read: as many as --rows allows fit into it, with the least memory too.
 * in:     as of tm_top_rows_new */
struct tm_top_rows *tm_listed_rows_new(struct tm_run *run, size_t row_bytes, uint64_t most,
                                       tm_row_order *order) TM_MUST_USE;

/* Whether a row would be kept now: where it is not, nothing that the order does not ask for has to be found. */
bool tm_top_rows_keep(const struct tm_top_rows *top, const void *row);
/* errors: TM_ERR_LIMIT where the rows that were asked for do not fit */
tm_status tm_top_rows_add(struct tm_top_rows *top, const void *row) TM_MUST_USE;
/* Put the kept rows in order.  No more rows come. */
void tm_top_rows_sort(struct tm_top_rows *top);

uint64_t tm_top_rows_count(const struct tm_top_rows *top);
void *tm_top_rows_at(struct tm_top_rows *top,
                     uint64_t index); /* the kept rows lie one after the other */

#endif
