/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ROOM_H
#define TM_ROOM_H

#include "pipeline/run.h"

/* Memory of one job that is given back in one go: what a comparison works out before it is written.
 * Its size follows the rows of the summaries, which are capped. */
struct tm_compare_blocks {
    struct tm_run *run;
    struct tm_room_block *blocks;
};

/* Zeroed memory for `count` things.  errors: NULL, told in run->error */
void *tm_room_take(struct tm_compare_blocks *room, size_t count, size_t bytes) TM_MUST_USE;
void tm_room_free(struct tm_compare_blocks *room); /* tolerates a zeroed one */

#endif
