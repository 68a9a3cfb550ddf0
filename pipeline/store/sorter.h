/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SORTER_H
#define TM_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/run.h"
#include "pipeline/store/rows.h"

/* The order of two rows: <0, 0, >0. */
typedef int tm_row_order(const void *a, const void *b);

/* A number that never falls from a row to one after it in the order: rows are compared only where it is equal. */
typedef uint64_t tm_row_prefix(const void *row);

/* A prefix of rows that are in the order of a signed number. */
static inline uint64_t tm_prefix_of(int64_t number)
{
    return (uint64_t)number ^ (uint64_t)1 << 63;
}

/* External merge sort of fixed-size rows: push in any order, finish, pull in order.  Full windows are sorted and
 * spilled as runs; runs are merged (in several levels if there are more runs than buffers).  Stable: equal rows keep
 * their order, for any memory limit. */
struct tm_sorter;

/* in:     memory_bytes  window and merge buffers together
 * errors: NULL, with the error in run->error */
struct tm_sorter *tm_sorter_new(struct tm_run *run, enum tm_account account, size_t row_bytes, size_t memory_bytes,
                                tm_row_order *order) TM_MUST_USE;
/* Before the first row: rows have a prefix, which avoids most comparisons. */
void tm_sorter_set_prefix(struct tm_sorter *sorter, tm_row_prefix *prefix);
void tm_sorter_free(struct tm_sorter *sorter);

/* Failures are remembered in run->error, and what follows one does nothing: check tm_failed once, at the end. */
void tm_sorter_push(struct tm_sorter *sorter, const void *row);
/* No more rows.  Once finished, finishing again starts with the first row again. */
void tm_sorter_finish(struct tm_sorter *sorter);
/* After finish.  The next row in order, valid until the next call; NULL at the end, and after a failure. */
const void *tm_sorter_next(struct tm_sorter *sorter);
/* Start again from the first row, any number of times. */
void tm_sorter_rewind(struct tm_sorter *sorter);

uint64_t tm_sorter_count(const struct tm_sorter *sorter);
size_t tm_sorter_row_bytes(const struct tm_sorter *sorter);

/* Rows one after the other in one block that grows in few, large steps up to a bound, which the pool of the ledger
 * may raise: the memory part of sorters, groups and indexes.  Pointers to rows are valid until the next row is put
 * in. */
struct tm_window {
    struct tm_run *run;
    enum tm_account account;
    size_t row_bytes;
    size_t extra_bytes; /* per row, reserved for the owner's data about it (sort numbers, slots) */
    size_t most;        /* rows, at most */
    size_t drawn_bytes; /* from the pool, beyond memory_bytes */
    size_t capacity, count;
    uint8_t *rows;
};

/* in:     memory_bytes  for rows, their extra bytes and the move from a smaller block to a larger
 * one */
void tm_window_init(struct tm_window *window, struct tm_run *run, enum tm_account account, size_t row_bytes,
                    size_t extra_bytes, size_t memory_bytes);
/* True if it may grow: within its bound, or because the pool doubled the bound. */
bool tm_window_can_grow(struct tm_window *window);
/* Make room.  Allowed only while capacity < most. */
tm_status tm_window_grow(struct tm_window *window);
/* Give the memory back; the window is empty and can be used again, up to the same bound. */
void tm_window_release(struct tm_window *window);
/* The end: also returns memory to the pool. */
void tm_window_close(struct tm_window *window);

static inline bool tm_window_is_full(const struct tm_window *window)
{
    return window->count == window->capacity;
}

static inline uint8_t *tm_window_at(const struct tm_window *window, size_t index)
{
    return window->rows + index * window->row_bytes;
}

/* A row in a sort: its number, and the part of its prefix in which rows differ. */
struct tm_tag {
    uint32_t prefix, number;
};

/* Bring the rows of a window into order: stable, and linear if they are already in order.
 * in:     tags     room for two per row
 *         prefix   NULL = none
 * out:    the first half of tags has the numbers of the rows in order */
void tm_window_sort(const struct tm_window *window, struct tm_tag *tags, tm_row_order *order, tm_row_prefix *prefix);

/* Sorted runs of rows in a spill file and their merge: the disk part of sorters and groups.  Runs are added one after
 * the other; equal rows come out in the order of their runs.  If there are more runs than buffers fit in memory,
 * adjacent runs are merged first, so memory stays bounded for any number. */
struct tm_runs;

struct tm_runs_setup {
    enum tm_account account;
    size_t row_bytes;
    size_t memory_bytes; /* all of it is used by merges; while a run is written,
                            tm_runs_buffer_bytes */
    tm_row_order *order;
    tm_row_prefix *prefix;                       /* NULL = none */
    tm_row_prefix *second;                       /* the same for rows of equal prefixes; NULL = none */
    void (*merge)(void *into, const void *from); /* folds equal rows into one; NULL = they all stay */
};

struct tm_runs *tm_runs_new(struct tm_run *run, const struct tm_runs_setup *setup) TM_MUST_USE;
void tm_runs_free(struct tm_runs *runs);
/* What a buffer takes: the memory in use while a run is written. */
size_t tm_runs_buffer_bytes(size_t row_bytes, size_t memory_bytes);

/* Write the next row of the current run; the rows of one run come in order. */
tm_status tm_runs_put(struct tm_runs *runs, const void *row) TM_MUST_USE;
/* The current run is complete. */
tm_status tm_runs_end(struct tm_runs *runs) TM_MUST_USE;

/* True if runs have to be merged before the next one starts: the caller gives back its own memory
 * first. */
bool tm_runs_need_merge(const struct tm_runs *runs);
tm_status tm_runs_merge(struct tm_runs *runs) TM_MUST_USE;

/* No more runs; then rows come out in order, NULL at the end. */
tm_status tm_runs_finish(struct tm_runs *runs) TM_MUST_USE;
tm_status tm_runs_next(struct tm_runs *runs, const void **row) TM_MUST_USE;
tm_status tm_runs_rewind(struct tm_runs *runs);

/* A map from a 64-bit key to a fixed-size row, built once and then only read.  While it fits in its share
 * it is a table in memory (dense where the keys are, else open addressing); past it, sorted rows in a spill
 * file with a sparse index and a cache of blocks, so that lookups near each other are cheap.
 * Rows start with their key: the first 8 bytes of a row are a uint64_t. */
struct tm_index;

/* Which of two rows of the same key stays. */
enum tm_index_duplicates { TM_INDEX_FIRST, TM_INDEX_LAST, TM_INDEX_ASK };
/* With TM_INDEX_ASK: true if `b`, put in later, replaces `a`. */
typedef bool tm_index_replaces(const void *a, const void *b);

struct tm_index *tm_index_new(struct tm_run *run, enum tm_account account, size_t row_bytes, size_t memory_bytes,
                              enum tm_index_duplicates duplicates, tm_index_replaces *replaces) TM_MUST_USE;
void tm_index_free(struct tm_index *index);

/* Failures are remembered in run->error, and what follows one does nothing: check tm_failed once, at the end. */
void tm_index_put(struct tm_index *index, const void *row);
/* No more rows.  Then lookups are allowed. */
void tm_index_finish(struct tm_index *index);
/* Instead of finish, if the rows do not fit in memory: give one row of each key, in the order of the keys.  The
 * index is unusable afterwards.
 * out: false: they fit, and nothing was done */
typedef void tm_index_take(void *to, const void *row);
bool tm_index_give(struct tm_index *index, tm_index_take *take, void *to);
/* The row, valid until the next call on this index; NULL if there is none, and after a failure. */
const void *tm_index_get(struct tm_index *index, uint64_t key);
/* The same, with the number of the row, from 1 on: the same number whenever the same row is found.
 * out: *number  0 if there is none */
const void *tm_index_find(struct tm_index *index, uint64_t key, uint64_t *number);
/* After finish: no row has a larger number. */
uint64_t tm_index_most_number(const struct tm_index *index);
uint64_t tm_index_count(const struct tm_index *index);           /* after finish: different keys */
uint64_t tm_index_duplicate_count(const struct tm_index *index); /* rows that were replaced by another one
                                                                with the same key */

/* --- arrays of rows that are in order, and heaps --- */

/* The place of the first row that is not before the key, which is the first argument of the order; count =
 * none. */
static inline size_t tm_sorted_place(const void *key, const void *rows, size_t count, size_t row_bytes,
                                     tm_row_order *order)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (order(key, (const char *)rows + middle * row_bytes) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Insert a row in order among the first `most` ones, after its equals.
 * in:     rows   `count` in order, and room for `most`
 * out:    the new count */
size_t tm_sorted_keep(void *rows, size_t count, size_t most, size_t row_bytes, const void *row, tm_row_order *order);

/* A heap: its first row is the last one by the order.  Add one row, or replace the first by one that is not in it. */
void tm_heap_add(void *rows, size_t count, size_t row_bytes, const void *row, tm_row_order *order);
void tm_heap_replace(void *rows, size_t count, size_t row_bytes, const void *row, tm_row_order *order);

#endif
