/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/site_rows.h"

#include <string.h>

enum {
    LEAST_ROWS = 16,
    MOST_ROWS = 65536,
    MOST_DRAWN_ROWS = 16384, /* with the help of the pool; what has more sites than that sees most of them once */
    CACHE_LINE = 64
};

/* Rows that are no longer than a cache line lie in one, as blocks of this size begin at a page. */
static size_t round_up(size_t row_bytes)
{
    size_t bytes = 8;

    while (bytes < row_bytes && bytes < CACHE_LINE)
        bytes *= 2;
    return bytes < row_bytes ? (row_bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1) : bytes;
}

tm_status tm_site_rows_init(struct tm_site_rows *rows, struct tm_run *run, enum tm_account account, size_t row_bytes,
                            size_t memory_bytes)
{
    *rows = (struct tm_site_rows){ .run = run,
                                   .account = account,
                                   .row_bytes = round_up(row_bytes),
                                   .mask = LEAST_ROWS - 1,
                                   .memory_bytes = memory_bytes,
                                   .may_grow = true };
    rows->rows = tm_take(&run->budget, account, LEAST_ROWS * rows->row_bytes, &run->error);
    return rows->rows ? TM_OK : run->error.status;
}

void tm_site_rows_release(struct tm_site_rows *rows)
{
    if (!rows->run)
        return;
    tm_give(&rows->run->budget, rows->account, rows->rows, (rows->mask + 1) * rows->row_bytes);
    tm_budget_put_back(&rows->run->budget, rows->drawn_bytes);
    *rows = (struct tm_site_rows){ .run = NULL };
}

/* Whether there is memory for twice as many rows beside those that are there. */
static bool draw_for_twice(struct tm_site_rows *rows)
{
    const uint64_t count = rows->mask + 1;
    const size_t needed = 3 * count * rows->row_bytes, have = rows->memory_bytes + rows->drawn_bytes;

    if (count >= MOST_ROWS)
        return false;
    if (needed <= have)
        return true;
    if (count >= MOST_DRAWN_ROWS || !tm_budget_draw(&rows->run->budget, needed - have))
        return false;
    rows->drawn_bytes += needed - have;
    return true;
}

/* Twice the rows.  Two that did not meet do not meet then. */
static tm_status grow(struct tm_site_rows *rows)
{
    struct tm_run *run = rows->run;
    const uint64_t count = rows->mask + 1;
    uint8_t *const old = rows->rows;
    uint8_t *const larger = tm_take(&run->budget, rows->account, 2 * count * rows->row_bytes, &run->error);

    if (!larger)
        return run->error.status;
    rows->rows = larger;
    rows->mask = 2 * count - 1;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t site;

        memcpy(&site, old + i * rows->row_bytes, sizeof(site));
        if (site)
            memcpy(tm_site_rows_place(rows, site), old + i * rows->row_bytes, rows->row_bytes);
    }
    tm_give(&run->budget, rows->account, old, count * rows->row_bytes);
    return TM_OK;
}

void *tm_site_rows_make_room(struct tm_site_rows *rows, uint64_t site)
{
    uint64_t *row = tm_site_rows_place(rows, site);

    while (*row && rows->may_grow && rows->used > rows->mask / 2) {
        rows->may_grow = draw_for_twice(rows);
        if (rows->may_grow && grow(rows) != TM_OK)
            return NULL;
        row = tm_site_rows_place(rows, site);
    }
    rows->used += !*row;
    return row;
}
