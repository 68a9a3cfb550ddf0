/* SPDX-License-Identifier: Apache-2.0 */
/* A direct-mapped cache of rows.  Numbers of sites go up one by one, so up to as many sites as there are rows never meet
 * in one place. */
#include "pipeline/front.h"

#include <assert.h>
#include <string.h>

enum { LEAST_ROWS = 16, MOST_ROWS = 65536 };

tm_status tm_front_init(struct tm_front *front, struct tm_run *run, enum tm_account account, size_t row_bytes,
                        size_t memory_bytes, struct tm_groups *into)
{
    const size_t all = (sizeof(struct tm_front_row) + row_bytes + 15) & ~(size_t)15;
    size_t rows = LEAST_ROWS;

    assert(row_bytes >= tm_groups_row_bytes(into));
    while (rows < MOST_ROWS && 2 * rows * all <= memory_bytes)
        rows *= 2;
    *front = (struct tm_front){ .run = run, .account = account, .into = into, .row_bytes = all, .mask = rows - 1 };
    front->rows = tm_take(&run->budget, account, rows * all, &run->error);
    return front->rows ? TM_OK : run->error.status;
}

void tm_front_release(struct tm_front *front)
{
    if (!front->run)
        return;
    tm_give(&front->run->budget, front->account, front->rows, (front->mask + 1) * front->row_bytes);
    *front = (struct tm_front){ .run = NULL };
}

tm_status tm_front_hand_on(struct tm_front *front, void *row)
{
    return front->taker ? front->taker(front->to, row) : tm_groups_add(front->into, row);
}

void *tm_front_turn(struct tm_front *front, struct tm_front_row *row, uint64_t site)
{
    if (row->site && tm_front_hand_on(front, row->row) != TM_OK)
        return NULL;
    memset(row, 0, front->row_bytes);
    row->site = site;
    return row->row;
}

tm_status tm_front_flush(struct tm_front *front)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i <= front->mask && st == TM_OK; i++) {
        struct tm_front_row *row = (struct tm_front_row *)(front->rows + i * front->row_bytes);

        if (row->site)
            st = tm_front_hand_on(front, row->row);
        row->site = 0;
    }
    return st;
}
