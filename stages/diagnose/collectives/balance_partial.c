/* SPDX-License-Identifier: Apache-2.0 */
/* Balance in a partial: the devices, all ops of each, and what each computed in each step. */
#include "stages/diagnose/collectives/balance_private.h"

/* --- saving --- */

static void save_op(struct tm_partial_writer *w, const void *of)
{
    const struct op_row *row = of;

    tm_partial_put_words(w, &row->key, 2);
    tm_partial_put_u64(w, row->count);
    tm_partial_put_i64(w, row->total_ps);
    tm_partial_put_name(w, row->name);
    tm_partial_put_name(w, row->module);
}

static void save_step(struct tm_partial_writer *w, const void *of)
{
    const struct step_row *row = of;

    tm_partial_put_i64(w, step_of_key(row->key.high));
    tm_partial_put_u32(w, (uint32_t)row->key.low);
    tm_partial_put_i64(w, row->compute_ps);
}

tm_status save_balance(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct balance *b = s->state;
    tm_status st;

    tm_members_save(&b->members, w);
    st = tm_partial_put_groups(w, b->ops, save_op);
    return st == TM_OK ? tm_partial_put_groups(w, b->steps, save_step) : st;
}

/* --- loading --- */

static tm_status load_op(struct balance *b, struct tm_partial_reader *r, uint32_t first)
{
    struct op_row row = { .count = 0 };

    tm_partial_words(r, &row.key, 2);
    row.count = tm_partial_u64(r);
    row.total_ps = tm_partial_time(r);
    row.name = tm_partial_name(r);
    row.module = tm_partial_name(r);
    if (tm_partial_is_ok(r) && (member_of_op(&row) >= b->members.count - first || !row.count))
        return tm_partial_damaged(r, "a number is out of its range");
    row.key.low += first; /* below 2^32: it is the number of a device */
    return tm_partial_is_ok(r) ? tm_groups_add(b->ops, &row) : tm_partial_status(r);
}

static tm_status load_step(struct balance *b, struct tm_partial_reader *r, uint32_t first)
{
    struct step_row row = { .key = { key_of_step(tm_partial_i64(r)), 0 } };

    row.key.low = first + tm_partial_below_u32(r, b->members.count - first);
    row.compute_ps = tm_partial_time(r);
    return tm_partial_is_ok(r) ? tm_groups_add(b->steps, &row) : tm_partial_status(r);
}

tm_status load_balance(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct balance *b = s->state;
    uint32_t first = 0;
    tm_status st = tm_members_load(&b->members, b->run, r, &first);

    b->names = tm_partial_names(r);
    while (st == TM_OK && tm_partial_bool(r))
        st = load_op(b, r, first);
    while (st == TM_OK && tm_partial_bool(r))
        st = load_step(b, r, first);
    return st == TM_OK ? tm_partial_status(r) : st;
}
