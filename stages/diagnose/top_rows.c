/* SPDX-License-Identifier: Apache-2.0 */
/* A heap with the last of the kept rows on top: a new row either goes behind it, which costs one
 * comparison, or takes its place. */
#include "stages/diagnose/top_rows.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROWS = 16 };

struct tm_top_rows {
    struct tm_run *run;
    enum tm_account account;
    size_t row_bytes;
    uint64_t most;
    size_t memory_bytes;
    tm_row_order *order;
    uint8_t *rows;
    uint64_t count, capacity;
};

struct tm_top_rows *tm_top_rows_new(struct tm_run *run, enum tm_account account, size_t row_bytes,
                                    uint64_t most, size_t memory_bytes, tm_row_order *order)
{
    struct tm_top_rows *top = tm_take(&run->budget, account, sizeof(*top), &run->error);

    if (!top)
        return NULL;
    *top = (struct tm_top_rows){ .run = run,
                                 .account = account,
                                 .row_bytes = row_bytes,
                                 .most = most,
                                 .memory_bytes = memory_bytes,
                                 .order = order };
    return top;
}

struct tm_top_rows *tm_listed_rows_new(struct tm_run *run, size_t row_bytes, uint64_t most, tm_row_order *order)
{
    return tm_top_rows_new(run, TM_ACCOUNT_SORT, row_bytes, most, tm_budget_share(&run->budget, TM_ACCOUNT_SORT),
                           order);
}

void tm_top_rows_free(struct tm_top_rows *top)
{
    if (!top)
        return;
    tm_give(&top->run->budget, top->account, top->rows, top->capacity * top->row_bytes);
    tm_give(&top->run->budget, top->account, top, sizeof(*top));
}

static uint8_t *row_at(const struct tm_top_rows *top, uint64_t index)
{
    return top->rows + index * top->row_bytes;
}

static bool goes_behind(const struct tm_top_rows *top, const void *a, const void *b)
{
    return top->order(a, b) > 0;
}

/* Room for one row more.  A block that grows is held twice for a moment: it at least doubles, which is half as much
 * again. */
static tm_status grow(struct tm_top_rows *top)
{
    const uint64_t fit = top->memory_bytes / 3 * 2 / top->row_bytes;
    const uint64_t last = fit < top->most ? fit : top->most;
    uint64_t capacity = top->capacity ? 2 * top->capacity : FIRST_ROWS;
    uint8_t *rows;

    if (capacity > last / 2)
        capacity = last;
    if (capacity <= top->capacity) {
        (void)tm_fail(&top->run->error, TM_ERR_LIMIT, -1,
                      "cannot list more than %llu rows of a table in this memory",
                      (unsigned long long)top->capacity);
        tm_hint(&top->run->error, "raise --memory, or lower --rows");
        return TM_ERR_LIMIT;
    }
    rows = tm_retake(&top->run->budget, top->account, top->rows, top->capacity * top->row_bytes,
                     capacity * top->row_bytes, &top->run->error);
    if (!rows)
        return top->run->error.status;
    top->rows = rows;
    top->capacity = capacity;
    return TM_OK;
}

/* Put the row where it belongs on the way from a leaf to the top. */
static void sift_up(struct tm_top_rows *top, uint64_t at, const void *row)
{
    while (at && goes_behind(top, row, row_at(top, (at - 1) / 2))) {
        memcpy(row_at(top, at), row_at(top, (at - 1) / 2), top->row_bytes);
        at = (at - 1) / 2;
    }
    memcpy(row_at(top, at), row, top->row_bytes);
}

/* Put the row, which is not in the heap, in the place of the top one. */
static void replace_top(struct tm_top_rows *top, const void *row)
{
    uint64_t at = 0;

    for (uint64_t child = 1; child < top->count; child = 2 * at + 1) {
        if (child + 1 < top->count && goes_behind(top, row_at(top, child + 1), row_at(top, child)))
            child++;
        if (!goes_behind(top, row_at(top, child), row))
            break;
        memcpy(row_at(top, at), row_at(top, child), top->row_bytes);
        at = child;
    }
    memcpy(row_at(top, at), row, top->row_bytes);
}

bool tm_top_rows_keep(const struct tm_top_rows *top, const void *row)
{
    return top->count < top->most || (top->most && goes_behind(top, row_at(top, 0), row));
}

tm_status tm_top_rows_add(struct tm_top_rows *top, const void *row)
{
    if (top->count == top->most) {
        if (tm_top_rows_keep(top, row))
            replace_top(top, row);
        return TM_OK;
    }
    if (top->count == top->capacity) {
        const tm_status st = grow(top);

        if (st != TM_OK)
            return st;
    }
    sift_up(top, top->count++, row);
    return TM_OK;
}

void tm_top_rows_sort(struct tm_top_rows *top)
{
    if (top->count > 1)
        qsort(top->rows, top->count, top->row_bytes, top->order);
}

uint64_t tm_top_rows_count(const struct tm_top_rows *top)
{
    return top->count;
}

void *tm_top_rows_at(struct tm_top_rows *top, uint64_t index)
{
    return row_at(top, index);
}
