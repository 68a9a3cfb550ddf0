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
    int64_t until_ps;                 /* the latest of these */
    bool has_begun;
};

/* Told for every stretch [begin, end) in order: its level, TM_LEVEL_NONE where nothing runs. */
typedef tm_status tm_sweep_told(void *to, enum tm_level level, int64_t begin_ps, int64_t end_ps);

static inline enum tm_level tm_sweep_running(const struct tm_sweep *sweep)
{
    if (sweep->until_ps <= sweep->at_ps)
        return TM_LEVEL_NONE;
    for (int level = 0; level < TM_LEVEL_COUNT; level++)
        if (sweep->covered_ps[level] > sweep->at_ps)
            return (enum tm_level)level;
    return TM_LEVEL_NONE;
}

/* Bring the sweep up to a time.  Nothing is told before the first activity. */
static inline TM_MUST_USE tm_status tm_sweep_to(struct tm_sweep *sweep, int64_t to_ps, tm_sweep_told *told, void *to)
{
    if (!sweep->has_begun)
        return TM_OK;
    while (sweep->at_ps < to_ps) {
        const enum tm_level level = tm_sweep_running(sweep);
        const int64_t begin_ps = sweep->at_ps;
        tm_status st;

        sweep->at_ps = to_ps;
        if (level != TM_LEVEL_NONE && sweep->covered_ps[level] < to_ps)
            sweep->at_ps = sweep->covered_ps[level];
        st = told(to, level, begin_ps, sweep->at_ps);
        if (st != TM_OK)
            return st;
    }
    return TM_OK;
}

/* Before the first activity. */
static inline void tm_sweep_begin(struct tm_sweep *sweep, int64_t start_ps)
{
    *sweep = (struct tm_sweep){ .at_ps = start_ps, .until_ps = start_ps, .has_begun = true };
    for (int i = 0; i < TM_LEVEL_COUNT; i++)
        sweep->covered_ps[i] = start_ps;
}

/* The same where nobody has to be told. */
static inline void tm_sweep_pass(struct tm_sweep *sweep, int64_t to_ps)
{
    if (sweep->has_begun && to_ps > sweep->at_ps)
        sweep->at_ps = to_ps;
}

/* Add an activity, after tm_sweep_to(start).  One without length changes nothing. */
static inline void tm_sweep_add(struct tm_sweep *sweep, enum tm_level level, int64_t start_ps, int64_t end_ps)
{
    if (!sweep->has_begun)
        tm_sweep_begin(sweep, start_ps);
    if (end_ps > sweep->covered_ps[level])
        sweep->covered_ps[level] = end_ps;
    if (end_ps > sweep->until_ps)
        sweep->until_ps = end_ps;
}

/* Until when something runs. */
static inline int64_t tm_sweep_busy_until(const struct tm_sweep *sweep)
{
    return sweep->until_ps > sweep->at_ps ? sweep->until_ps : sweep->at_ps;
}

#endif
