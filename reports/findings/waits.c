/* SPDX-License-Identifier: Apache-2.0 */
/* Time in which devices wait, and how much of it findings claim.  A wait caused by uneven work is claimed once, not
 * again as idle time or as a collective. */
#include <string.h>

#include "reports/findings/finding.h"

static const char *const cause_of[TM_WAITS] = {
    [TM_WAIT_DEVICE] = "device_wait", [TM_WAIT_LAUNCH] = "launch", [TM_WAIT_COMPILE] = "compile",
    [TM_WAIT_INPUT] = "input",        [TM_WAIT_SYNC] = "sync",     [TM_WAIT_GC] = "gc",
    [TM_WAIT_PROFILER] = "profiler",  [TM_WAIT_HOST] = "host",     [TM_WAIT_UNRECORDED] = "unrecorded",
};

enum tm_wait tm_wait_of_cause(const char *cause)
{
    for (int i = 0; i < TM_WAITS; i++)
        if (cause_of[i] && strcmp(cause_of[i], cause) == 0)
            return (enum tm_wait)i;
    return TM_WAITS;
}

const char *tm_wait_kind(enum tm_wait wait)
{
    return cause_of[wait] ? cause_of[wait] : "collective";
}

int64_t tm_wait_ps(const struct tm_findings *all, enum tm_wait wait)
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
    const int64_t ps = tm_clamp_to_window(all, tm_wait_ps(all, wait));

    return ps > all->claimed_ps[wait] ? ps - all->claimed_ps[wait] : 0;
}

int64_t tm_wait_explain(struct tm_findings *all, const enum tm_wait *waits, size_t count, int64_t ps,
                        struct tm_claim *claim)
{
    int64_t laid_ps = 0;

    for (size_t i = 0; i < count && laid_ps < ps; i++) {
        const int64_t left_ps = tm_wait_left(all, waits[i]);
        const int64_t part_ps = left_ps < ps - laid_ps ? left_ps : ps - laid_ps;

        all->claimed_ps[waits[i]] += part_ps;
        claim->ps[waits[i]] += part_ps;
        laid_ps += part_ps;
    }
    return laid_ps;
}
