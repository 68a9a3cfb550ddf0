/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/site_rows.h"

enum { LEAST_ROWS = 16, MOST_ROWS = 65536, CACHE_LINE = 64 };

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
    const size_t bytes = round_up(row_bytes);
    size_t count = LEAST_ROWS;

    while (count < MOST_ROWS && 2 * count * bytes <= memory_bytes)
        count *= 2;
    *rows = (struct tm_site_rows){ .run = run, .account = account, .row_bytes = bytes, .mask = count - 1 };
    rows->rows = tm_take(&run->budget, account, count * bytes, &run->error);
    return rows->rows ? TM_OK : run->error.status;
}

void tm_site_rows_release(struct tm_site_rows *rows)
{
    if (!rows->run)
        return;
    tm_give(&rows->run->budget, rows->account, rows->rows, (rows->mask + 1) * rows->row_bytes);
    *rows = (struct tm_site_rows){ .run = NULL };
}
