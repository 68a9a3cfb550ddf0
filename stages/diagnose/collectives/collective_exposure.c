/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a device's collectives the time belongs to in which collectives run and nothing
 * computes.  At every such instant it is one of those that run: the one that began first keeps the
 * time until it ends, then the one with the latest end takes over.  That needs a state of fixed
 * size, as whatever else runs ends before that one does; and the times of the collectives add up to
 * the device's exposed_collective_ps.  Where in a collective they lie is kept, as nobody knows here
 * when the last device came. source: docs/metrics.md, "Collectives" */
#include "stages/diagnose/collectives/collectives_private.h"

void init_exposure(struct exposure *e, int64_t begin_ps, int64_t end_ps)
{
    *e = (struct exposure){
        .begin_ps = begin_ps, .end_ps = end_ps, .at_ps = INT64_MIN, .computes_until_ps = INT64_MIN
    };
}

TM_NOT_INLINE tm_status tell(struct exposure *e, struct tm_sorter *stretches)
{
    const struct stretch stretch = e->open;

    e->open.begin_ps = e->open.end_ps;
    return stretch.end_ps > stretch.begin_ps ? tm_sorter_push(stretches, &stretch) : TM_OK;
}

/* The owner runs in [at, until). */
static tm_status add_exposed(struct exposure *e, int64_t until_ps, struct tm_sorter *stretches)
{
    int64_t from_ps = e->at_ps > e->computes_until_ps ? e->at_ps : e->computes_until_ps;
    tm_status st;

    from_ps = from_ps > e->begin_ps ? from_ps : e->begin_ps;
    until_ps = until_ps < e->end_ps ? until_ps : e->end_ps;
    if (until_ps <= from_ps)
        return TM_OK;
    if (e->open.end_ps > e->open.begin_ps && e->open.end_ps == from_ps &&
        e->open.serial == e->owner.stretch.serial &&
        e->open.is_chosen == e->owner.stretch.is_chosen &&
        tm_is_same_key(e->open.row, e->owner.stretch.row)) {
        e->open.end_ps = until_ps;
        return TM_OK;
    }
    st = tell(e, stretches);
    e->open = e->owner.stretch;
    e->open.begin_ps = from_ps;
    e->open.end_ps = until_ps;
    return st;
}

TM_NOT_INLINE tm_status expose_owner_to(struct exposure *e, int64_t to_ps, struct tm_sorter *stretches)
{
    tm_status st = TM_OK;

    while (e->owner.is_there && e->at_ps < to_ps && st == TM_OK) {
        const int64_t end_ps = e->owner.end_ps, until_ps = end_ps < to_ps ? end_ps : to_ps;

        st = add_exposed(e, until_ps, stretches);
        e->at_ps = until_ps;
        if (end_ps > to_ps)
            break;
        e->owner = e->next;
        e->next.is_there = false;
    }
    return st;
}

tm_status expose_to(struct exposure *e, int64_t to_ps, struct tm_sorter *stretches)
{
    const tm_status st = e->owner.is_there ? expose_owner_to(e, to_ps, stretches) : TM_OK;

    if (to_ps > e->at_ps)
        e->at_ps = to_ps;
    return st == TM_OK && to_ps == INT64_MAX ? tell(e, stretches) : st;
}

void expose_compute(struct exposure *e, int64_t end_ps)
{
    if (end_ps > e->computes_until_ps)
        e->computes_until_ps = end_ps;
}

void expose_collective(struct exposure *e, int64_t start_ps, int64_t end_ps,
                       const struct stretch *stretch)
{
    const struct exposed it = { .stretch = *stretch, .end_ps = end_ps, .is_there = true };

    if (end_ps <= start_ps)
        return;
    if (!e->owner.is_there)
        e->owner = it;
    else if (end_ps > e->owner.end_ps && (!e->next.is_there || end_ps > e->next.end_ps))
        e->next = it;
}
