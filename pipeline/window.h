/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_WINDOW_H
#define TM_WINDOW_H

#include "pipeline/run.h"
#include "pipeline/store/row_order.h"

/* Rows one after the other in one block that grows in few, large steps up to a bound, which the pool of the ledger
 * may raise: the memory part of sorters, groups and indexes.  Pointers to rows are valid until the next row is put in. */
struct tm_window {
    struct tm_run *run;
    enum tm_account account;
    size_t row_bytes;
    size_t extra_bytes; /* per row, kept free for what the owner has beside it (sort numbers, slots) */
    size_t most;        /* rows, at most */
    size_t drawn_bytes; /* from the pool, beyond memory_bytes */
    size_t capacity, count;
    uint8_t *rows;
};

/* in:     memory_bytes  for rows, their extra bytes and the move from a smaller block to a larger
 * one */
void tm_window_init(struct tm_window *window, struct tm_run *run, enum tm_account account, size_t row_bytes,
                    size_t extra_bytes, size_t memory_bytes);
/* True if it may grow: within its bound, or because the pool doubled that. */
bool tm_window_can_grow(struct tm_window *window);
/* Make room.  Allowed only while capacity < most. */
tm_status tm_window_grow(struct tm_window *window) TM_MUST_USE;
/* Give the memory back; the window is empty and can be used again, up to the same bound. */
void tm_window_release(struct tm_window *window);
/* The end: what was drawn from the pool goes back, too. */
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

/* Bring the rows of a window into order: stable, and linear where they are in order already.
 * in:     tags     room for two per row
 *         prefix   NULL = none
 * out:    the first half of tags has the numbers of the rows in order */
void tm_window_sort(const struct tm_window *window, struct tm_tag *tags, tm_row_order *order, tm_row_prefix *prefix);

#endif
