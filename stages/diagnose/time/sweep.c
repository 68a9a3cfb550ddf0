/* SPDX-License-Identifier: Apache-2.0 */
/* The sweep.  See sweep.h. */
#include "stages/diagnose/time/sweep.h"

static enum tm_level running(const struct tm_sweep *sweep)
{
    for (int level = 0; level < TM_LEVEL_COUNT; level++)
        if (sweep->covered_ps[level] > sweep->at_ps)
            return (enum tm_level)level;
    return TM_LEVEL_NONE;
}

tm_status tm_sweep_to(struct tm_sweep *sweep, int64_t to_ps, tm_sweep_told *told, void *to)
{
    if (!sweep->has_begun)
        return TM_OK;
    while (sweep->at_ps < to_ps) {
        const enum tm_level level = running(sweep);
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

void tm_sweep_add(struct tm_sweep *sweep, enum tm_level level, int64_t start_ps, int64_t end_ps)
{
    if (!sweep->has_begun) {
        sweep->has_begun = true;
        sweep->at_ps = start_ps;
        for (int i = 0; i < TM_LEVEL_COUNT; i++)
            sweep->covered_ps[i] = start_ps;
    }
    if (end_ps > sweep->covered_ps[level])
        sweep->covered_ps[level] = end_ps;
}

int64_t tm_sweep_busy_until(const struct tm_sweep *sweep)
{
    int64_t until_ps = sweep->at_ps;

    for (int level = 0; level < TM_LEVEL_COUNT; level++)
        if (sweep->covered_ps[level] > until_ps)
            until_ps = sweep->covered_ps[level];
    return until_ps;
}
