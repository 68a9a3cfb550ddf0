/* SPDX-License-Identifier: Apache-2.0 */
/* Which collectives of several devices are one.  Arrivals are read twice in the order of
 * communicator, place, device and start; a place is a recorded sequence number, or a step where
 * there is none.  First the devices that ran a communicator's collectives equally often in a place
 * are found: of several such sets the largest one.  Then these devices' arrivals get their
 * ordinals, and are sorted by them.  What stays alone is unmatched: where the numbers differ nobody
 * can say which one is missing. Memory: fixed per device; runs of arrivals, blocks and joined
 * arrivals spill. */
#include <stdlib.h>
#include <string.h>

#include "stages/diagnose/collectives/skew_private.h"

static int by_ordinal(const void *a, const void *b)
{
    const struct joined *x = a, *y = b;

    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->subgroup != y->subgroup)
        return x->subgroup < y->subgroup ? -1 : 1;
    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

struct matching {
    struct skew *k;
    struct matches *m;
    struct tm_rows *runs;    /* uint8_t, of each device in each block: does it take part? */
    uint64_t *counts, *sorted; /* of the present block, by the order of its devices */
    uint32_t *subgroups;     /* of the present communicator, by member */
    uint32_t devices;        /* of the present block */
    uint64_t run, block;     /* second reading: the next ones */
    uint64_t ordinal;
    bool takes_part;
    bool is_counted;         /* the present communicator */
};

static bool is_same_block(const struct arrival *a, const struct arrival *b)
{
    return tm_is_same_key(a->communicator, b->communicator) && a->place == b->place;
}

/* --- first reading: who takes part --- */

static int by_count(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The number that most devices have, the larger one of several; 0 where no two devices have the same. */
static uint64_t most_frequent(struct matching *g)
{
    uint64_t chosen = 0;
    uint32_t most = 1;

    memcpy(g->sorted, g->counts, g->devices * sizeof(*g->sorted));
    qsort(g->sorted, g->devices, sizeof(*g->sorted), by_count);
    for (uint32_t i = 0, same; i < g->devices; i += same) {
        for (same = 1; i + same < g->devices && g->sorted[i + same] == g->sorted[i]; same++)
            ;
        if (same > 1 && same >= most) {
            most = same;
            chosen = g->sorted[i];
        }
    }
    return chosen;
}

static tm_status end_block(struct matching *g)
{
    const uint64_t chosen = most_frequent(g);
    tm_status st = TM_OK;

    for (uint32_t i = 0; i < g->devices && st == TM_OK; i++) {
        const uint8_t takes_part = g->counts[i] == chosen;

        st = tm_rows_append(g->runs, &takes_part);
    }
    g->devices = 0;
    return st;
}

static tm_status find_parts(struct matching *g)
{
    struct arrival last = { .member = TM_NONE };
    const void *row = NULL;
    tm_status st = TM_OK;

    while (st == TM_OK && (st = tm_sorter_next(g->k->arrivals, &row)) == TM_OK && row) {
        const struct arrival arrival = *(const struct arrival *)row;
        const bool is_new_block = last.member == TM_NONE || !is_same_block(&last, &arrival);

        if (is_new_block && g->devices)
            st = end_block(g);
        if (is_new_block || last.member != arrival.member)
            g->counts[g->devices++] = 0;
        g->counts[g->devices - 1]++;
        last = arrival;
    }
    return st == TM_OK && g->devices ? end_block(g) : st;
}

/* --- second reading: ordinals --- */

/* The communicator of the arrivals that come now; there is one for each, in the same order. */
static tm_status next_communicator(struct matching *g, const struct tm_key *key, struct communicator *c)
{
    const void *row = NULL;
    const char *text = "";
    size_t length;
    tm_status st;

    g->is_counted = false;
    do {
        st = tm_groups_next(g->k->communicators, &row);
        if (st != TM_OK)
            return st;
        if (row)
            *c = *(const struct communicator *)row;
    } while (row && !tm_is_same_key(c->key, *key));
    if (!row) /* only in a damaged partial */
        *c = (struct communicator){ .key = *key, .kind = TM_OTHER_COLLECTIVE };
    if (c->replica_groups)
        st = tm_names_text(g->k->names, c->replica_groups, 0, &text, &length);
    if (st == TM_OK)
        find_subgroups(text, g->subgroups, g->k->members.count);
    return st;
}

static tm_status begin_run(struct matching *g)
{
    const uint8_t *takes_part = tm_rows_at(g->runs, g->run++);

    if (!takes_part)
        return g->k->run->error.status;
    g->takes_part = *takes_part;
    g->m->communicators += g->takes_part && !g->is_counted;
    g->is_counted |= g->takes_part;
    g->ordinal = 0;
    return TM_OK;
}

static tm_status begin_block(struct matching *g, const struct communicator *c, int64_t step)
{
    const struct block block = { c->name, c->group, step, c->group_size, c->kind };

    g->block++;
    return tm_rows_append(g->m->blocks, &block);
}

static tm_status join(struct matching *g, const struct arrival *arrival)
{
    const struct joined joined = { .block = g->block - 1,
                                   .ordinal = g->ordinal++,
                                   .subgroup = g->subgroups[arrival->member],
                                   .member = arrival->member,
                                   .start_ps = arrival->start_ps,
                                   .end_ps = arrival->start_ps + arrival->dur_ps,
                                   .row = arrival->row,
                                   .serial = arrival->serial,
                                   .is_start = arrival->is_start,
                                   .is_chosen = arrival->is_chosen };

    if (g->takes_part && joined.subgroup != TM_NONE)
        return tm_sorter_push(g->m->joined, &joined);
    g->m->unmatched = tm_sum_counts(g->m->unmatched, arrival->is_chosen);
    return TM_OK;
}

static tm_status give_ordinals(struct matching *g)
{
    struct arrival last = { .member = TM_NONE };
    struct communicator c = { .name = 0 };
    const void *row = NULL;
    tm_status st = tm_groups_finish(g->k->communicators);

    while (st == TM_OK && (st = tm_sorter_next(g->k->arrivals, &row)) == TM_OK && row) {
        const struct arrival arrival = *(const struct arrival *)row;
        const bool is_first = last.member == TM_NONE;
        const bool is_new_block = is_first || !is_same_block(&last, &arrival);

        if (is_first || !tm_is_same_key(c.key, arrival.communicator))
            st = next_communicator(g, &arrival.communicator, &c);
        if (st == TM_OK && is_new_block)
            st = begin_block(g, &c, arrival.step);
        if (st == TM_OK && (is_new_block || last.member != arrival.member))
            st = begin_run(g);
        if (st == TM_OK)
            st = join(g, &arrival);
        last = arrival;
    }
    return st;
}

/* --- all of it --- */

static tm_status read_twice(struct matching *g)
{
    tm_status st = tm_sorter_finish(g->k->arrivals);

    if (st == TM_OK)
        st = find_parts(g);
    if (st == TM_OK)
        st = tm_sorter_rewind(g->k->arrivals);
    if (st == TM_OK)
        st = give_ordinals(g);
    return st == TM_OK ? tm_sorter_finish(g->m->joined) : st;
}

tm_status match_arrivals(struct skew *k, struct matches *m)
{
    struct tm_run *run = k->run;
    const size_t counts_bytes = (size_t)k->members.count * 2 * sizeof(uint64_t);
    const size_t subgroups_bytes = (size_t)k->members.count * sizeof(uint32_t);
    struct matching g = { .k = k, .m = m };
    tm_status st;

    *m = (struct matches){ .unmatched = k->unmatchable };
    m->joined = tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(struct joined),
                              collectives_memory(run, SKEW_JOINED), by_ordinal);
    m->blocks = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct block),
                                  collectives_memory(run, SKEW_ROWS), SKEW_ROWS_PAGE);
    g.runs = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(uint8_t),
                               collectives_memory(run, SKEW_ROWS), SKEW_ROWS_PAGE);
    g.counts = tm_take(&run->budget, TM_ACCOUNT_MODEL, counts_bytes, &run->error);
    g.sorted = g.counts ? g.counts + k->members.count : NULL;
    g.subgroups = tm_take(&run->budget, TM_ACCOUNT_MODEL, subgroups_bytes, &run->error);
    st = m->joined && m->blocks && g.runs && g.counts && g.subgroups ? read_twice(&g) : run->error.status;
    tm_give(&run->budget, TM_ACCOUNT_MODEL, g.counts, g.counts ? counts_bytes : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, g.subgroups, g.subgroups ? subgroups_bytes : 0);
    tm_rows_free(g.runs);
    return st;
}

void free_matches(struct matches *m)
{
    tm_sorter_free(m->joined);
    tm_rows_free(m->blocks);
    *m = (struct matches){ .joined = NULL };
}
