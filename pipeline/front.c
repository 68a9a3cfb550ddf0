/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/front.h"

#include <assert.h>
#include <string.h>

tm_status tm_front_init(struct tm_front *front, struct tm_run *run, enum tm_account account, size_t row_bytes,
                        size_t memory_bytes, struct tm_groups *into)
{
    assert(row_bytes >= tm_groups_row_bytes(into));
    *front = (struct tm_front){ .run = run, .into = into };
    return tm_site_rows_init(&front->rows, run, account, sizeof(struct tm_front_row) + row_bytes, memory_bytes);
}

void tm_front_release(struct tm_front *front)
{
    tm_site_rows_release(&front->rows);
}

tm_status tm_front_hand_on(struct tm_front *front, void *row)
{
    return front->taker ? front->taker(front->to, row) : tm_groups_add(front->into, row);
}

void *tm_front_turn(struct tm_front *front, uint64_t site)
{
    struct tm_front_row *const row = tm_site_rows_make_room(&front->rows, site);

    if (!row || (row->site && tm_front_hand_on(front, row->row) != TM_OK))
        return NULL;
    memset(row, 0, front->rows.row_bytes);
    row->site = site;
    return row->row;
}

tm_status tm_front_flush(struct tm_front *front)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i <= front->rows.mask && st == TM_OK; i++) {
        struct tm_front_row *row = tm_site_rows_place(&front->rows, i);

        if (row->site)
            st = tm_front_hand_on(front, row->row);
        row->site = 0;
    }
    front->rows.used = 0;
    return st;
}
