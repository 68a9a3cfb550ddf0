/* SPDX-License-Identifier: Apache-2.0 */
/* Time in which devices wait, and what of it a finding explains: a wait that comes of unequal work is at stake there,
 * and not once more as idle time or as a collective. */
#include <string.h>

#include "reports/findings/finding.h"

static const char *const cause_of[TM_WAITS] = {
    [TM_WAIT_DEVICE] = "device_wait", [TM_WAIT_LAUNCH] = "launch",     [TM_WAIT_COMPILE] = "compile",
    [TM_WAIT_INPUT] = "input",        [TM_WAIT_SYNC] = "sync",         [TM_WAIT_GC] = "gc",
    [TM_WAIT_PROFILER] = "profiler",  [TM_WAIT_HOST] = "host",         [TM_WAIT_UNRECORDED] = "unrecorded",
};

enum tm_wait tm_wait_of_cause(const char *cause)
{
    for (int i = 0; i < TM_WAITS; i++)
        if (cause_of[i] && strcmp(cause_of[i], cause) == 0)
            return (enum tm_wait)i;
    return TM_WAITS;
}

static int64_t measured(const struct tm_findings *all, enum tm_wait wait)
{
    if (wait == TM_WAIT_COLLECTIVE)
        return tm_int(tm_path(all->summary, "total.exposed_collective_ps")) -
               tm_int(tm_path(all->summary, "total.exposed_move_ps"));
    if (wait == TM_WAIT_MOVE)
        return tm_int(tm_path(all->summary, "total.exposed_move_ps"));
    return tm_int(tm_get(tm_get(tm_path(all->summary, "gaps.by_cause"), cause_of[wait]), "total_ps"));
}

int64_t tm_wait_left(const struct tm_findings *all, enum tm_wait wait)
{
    const int64_t ps = tm_clamp_to_window(all, measured(all, wait));

    return ps > all->told_ps[wait] ? ps - all->told_ps[wait] : 0;
}

int64_t tm_wait_explain(struct tm_findings *all, const enum tm_wait *waits, size_t count, int64_t ps)
{
    int64_t laid_ps = 0;

    for (size_t i = 0; i < count && laid_ps < ps; i++) {
        const int64_t left_ps = tm_wait_left(all, waits[i]);
        const int64_t part_ps = left_ps < ps - laid_ps ? left_ps : ps - laid_ps;

        all->told_ps[waits[i]] += part_ps;
        laid_ps += part_ps;
    }
    return laid_ps;
}
