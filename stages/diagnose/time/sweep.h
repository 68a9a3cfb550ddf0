/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SWEEP_H
#define TM_SWEEP_H

#include <stdbool.h>

#include "pipeline/record.h"

/* The sweep over one device's activities in the order of their begins: at every instant the lowest level that runs
 * takes the time.  Of each level only the time until which it is covered matters, so the state has a fixed size
 * however many activities overlap.  source: docs/metrics.md, "Device time" */
struct tm_sweep {
    int64_t at_ps;                    /* everything before is told */
    int64_t covered_ps[TM_LEVEL_COUNT];
    bool has_begun;
};

/* Told for every stretch [begin, end) in order: its level, TM_LEVEL_NONE where nothing runs. */
typedef tm_status tm_sweep_told(void *to, enum tm_level level, int64_t begin_ps, int64_t end_ps);

/* Bring the sweep up to a time.  Nothing is told before the first activity. */
tm_status tm_sweep_to(struct tm_sweep *sweep, int64_t to_ps, tm_sweep_told *told, void *to) TM_MUST_USE;

/* The same where nobody has to be told. */
static inline void tm_sweep_pass(struct tm_sweep *sweep, int64_t to_ps)
{
    if (sweep->has_begun && to_ps > sweep->at_ps)
        sweep->at_ps = to_ps;
}

/* Add an activity, after tm_sweep_to(start).  One without length changes nothing. */
void tm_sweep_add(struct tm_sweep *sweep, enum tm_level level, int64_t start_ps, int64_t end_ps);

/* Until when something runs. */
int64_t tm_sweep_busy_until(const struct tm_sweep *sweep);

#endif
