/* SPDX-License-Identifier: Apache-2.0 */
/* Exposed time of collectives, split where the last device came: until then the device waits, from
 * then on data move. Stretches and matched collectives are read side by side in the order of
 * devices and their collectives. Memory: fixed per device; rows spill. */
#include "stages/diagnose/collectives/collectives_private.h"

void merge_collective_rows(void *into, const void *from)
{
    struct collective_row *a = into;
    const struct collective_row *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
    add_exposed_parts(&a->exposed, &b->exposed);
    a->plain_count = tm_sum_counts(a->plain_count, b->plain_count);
    a->plain_ps = tm_sum_times(a->plain_ps, b->plain_ps);
    a->flight_count = tm_sum_counts(a->flight_count, b->flight_count);
    a->flight_ps = tm_sum_times(a->flight_ps, b->flight_ps);
    a->moved_count = tm_sum_counts(a->moved_count, b->moved_count);
    a->moved_ps = tm_sum_times(a->moved_ps, b->moved_ps);
    if (!a->is_told && b->is_told) {
        a->message_bytes = b->message_bytes;
        a->group_size = b->group_size;
        a->data_type = b->data_type;
        a->kind = b->kind;
        a->reach = b->reach;
        a->is_told = true;
    }
}

struct splitting {
    struct collectives *c;
    struct tm_sorter *matched; /* NULL = nothing is */
    struct exposed_sums *sums;
    struct matched
        at; /* the next one, of a device and a collective not before the present stretch */
    bool has_at;
};

/* What a matched collective tells beside its exposed time. */
static tm_status count_matched(struct splitting *s)
{
    const struct matched *m = &s->at;
    struct collective_row row = { .key = m->row, .exposed = { .matched = 1 } };

    s->sums->members[m->member].matched++;
    s->sums->total.matched++;
    if (!m->is_chosen)
        return TM_OK;
    s->sums->chosen.matched++;
    if (!m->is_start) {
        row.moved_count = 1;
        row.moved_ps = m->end_ps > m->last_ps ? m->end_ps - m->last_ps : 0;
    }
    return tm_groups_add(s->sums->rows, &row);
}

static tm_status next_matched(struct splitting *s)
{
    const void *row = NULL;
    tm_status st = s->matched ? tm_sorter_next(s->matched, &row) : TM_OK;

    s->has_at = row != NULL;
    if (st != TM_OK || !row)
        return st;
    s->at = *(const struct matched *)row;
    return count_matched(s);
}

static bool is_before(const struct matched *m, const struct stretch *stretch)
{
    return m->member != stretch->member ? m->member < stretch->member : m->serial < stretch->serial;
}

static tm_status add_stretch(struct splitting *s, const struct stretch *stretch)
{
    const int64_t exposed_ps = stretch->end_ps - stretch->begin_ps;
    struct collective_row row = { .key = stretch->row };
    struct exposed_parts *parts = &row.exposed;

    if (s->has_at && s->at.member == stretch->member && s->at.serial == stretch->serial) {
        const int64_t last_ps = s->at.last_ps < stretch->end_ps ? s->at.last_ps : stretch->end_ps;

        parts->wait_ps = last_ps > stretch->begin_ps ? last_ps - stretch->begin_ps : 0;
        parts->move_ps = exposed_ps - parts->wait_ps;
    } else {
        parts->unmatched_ps = exposed_ps;
    }
    add_exposed_parts(&s->sums->members[stretch->member], parts);
    add_exposed_parts(&s->sums->total, parts);
    if (!stretch->is_chosen)
        return TM_OK;
    add_exposed_parts(&s->sums->chosen, parts);
    return tm_groups_add(s->sums->rows, &row);
}

static tm_status split(struct splitting *s)
{
    struct collectives *c = s->c;
    const void *row = NULL;
    tm_status st = tm_groups_finish(c->groups);

    while (st == TM_OK && (st = tm_groups_next(c->groups, &row)) == TM_OK && row)
        st = tm_groups_add(s->sums->rows, row);
    if (st == TM_OK)
        st = tm_sorter_finish(c->stretches);
    if (st == TM_OK)
        st = next_matched(s);
    while (st == TM_OK && (st = tm_sorter_next(c->stretches, &row)) == TM_OK && row) {
        const struct stretch stretch = *(const struct stretch *)row;

        while (st == TM_OK && s->has_at && is_before(&s->at, &stretch))
            st = next_matched(s);
        if (st == TM_OK)
            st = add_stretch(s, &stretch);
    }
    while (st == TM_OK && s->has_at)
        st = next_matched(s);
    return st;
}

tm_status split_exposed(struct collectives *c, struct tm_sorter *matched, struct exposed_sums *sums)
{
    struct tm_run *run = c->run;
    struct splitting s = { .c = c, .matched = matched, .sums = sums };
    const uint32_t members = c->skew.members.count;

    *sums = (struct exposed_sums){ .rows = NULL };
    sums->rows = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct collective_row),
                               collectives_memory(run, COLLECTIVES_SUMS), merge_collective_rows);
    sums->members =
        tm_take(&run->budget, TM_ACCOUNT_MODEL, members * sizeof(*sums->members), &run->error);
    return sums->rows && sums->members ? split(&s) : run->error.status;
}

void free_exposed_sums(struct collectives *c, struct exposed_sums *sums)
{
    const uint32_t members = c->skew.members.count;

    tm_groups_free(sums->rows);
    tm_give(&c->run->budget, TM_ACCOUNT_MODEL, sums->members,
            sums->members ? members * sizeof(*sums->members) : 0);
}
