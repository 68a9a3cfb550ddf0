/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/diagnose/site_rows.h"

#include <assert.h>

enum { LEAST_ROWS = 64, MOST_ROWS = 65536 };

tm_status tm_site_rows_init(struct tm_site_rows *rows, struct tm_run *run, enum tm_account account, size_t row_bytes,
                            size_t memory_bytes)
{
    size_t count = LEAST_ROWS;

    assert(row_bytes % sizeof(uint64_t) == 0);
    while (count < MOST_ROWS && 2 * count * row_bytes <= memory_bytes)
        count *= 2;
    *rows = (struct tm_site_rows){ .run = run, .account = account, .row_bytes = row_bytes, .mask = count - 1 };
    rows->rows = tm_take(&run->budget, account, count * row_bytes, &run->error);
    return rows->rows ? TM_OK : run->error.status;
}

void tm_site_rows_release(struct tm_site_rows *rows)
{
    if (!rows->run)
        return;
    tm_give(&rows->run->budget, rows->account, rows->rows, (rows->mask + 1) * rows->row_bytes);
    *rows = (struct tm_site_rows){ .run = NULL };
}
