/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RUNS_H
#define TM_RUNS_H

#include "pipeline/store/row_order.h"
#include "pipeline/store/spill.h"

/* Sorted runs of rows in a spill file and their merge: the disk part of sorters and groups.  Runs
 * are put in one after the other; rows that are equal come out in the order of their runs.  Where
 * there are more runs than buffers fit in the memory, neighbours are merged first, so memory stays
 * bounded for any number. */
struct tm_runs;

struct tm_runs_setup {
    enum tm_account account;
    size_t row_bytes;
    size_t memory_bytes; /* all of it is used by merges; while a run is written,
                            tm_runs_buffer_bytes */
    tm_row_order *order;
    tm_row_prefix *prefix;                       /* NULL = none */
    void (*merge)(void *into, const void *from); /* folds equal rows into one; NULL = they all stay */
};

struct tm_runs *tm_runs_new(struct tm_run *run, const struct tm_runs_setup *setup) TM_MUST_USE;
void tm_runs_free(struct tm_runs *runs);
/* What a buffer takes: the memory in use while a run is written. */
size_t tm_runs_buffer_bytes(size_t row_bytes, size_t memory_bytes);

/* Write the next row of the present run; the rows of one run come in order. */
tm_status tm_runs_put(struct tm_runs *runs, const void *row) TM_MUST_USE;
/* The present run is complete. */
tm_status tm_runs_end(struct tm_runs *runs) TM_MUST_USE;
/* True if runs have to be merged before the next one begins: the caller gives back its own memory
 * first. */
bool tm_runs_need_merge(const struct tm_runs *runs);
tm_status tm_runs_merge(struct tm_runs *runs) TM_MUST_USE;

/* No more runs; then rows come out in order, NULL at the end. */
tm_status tm_runs_finish(struct tm_runs *runs) TM_MUST_USE;
tm_status tm_runs_next(struct tm_runs *runs, const void **row) TM_MUST_USE;
tm_status tm_runs_rewind(struct tm_runs *runs) TM_MUST_USE;

#endif
