/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KEPT_BENCH_H
#define TM_KEPT_BENCH_H

#include "tests/support/stage_driver.h"

/* What the stage of a bench holds, in a file between two benches. */
enum { KEPT_BENCH_PATH = 32 };

/* Keep what the hosts that have ended gave.  out: path  of a new file */
void keep_bench(struct bench *b, char path[KEPT_BENCH_PATH]);

/* Read it as what two hosts of the run gave, 0 and `second`, which is 0 where both are to fold into the rows of one.  The
 * file is gone after that. */
void load_kept_bench(struct bench *b, const char *path, uint32_t second);

#endif
