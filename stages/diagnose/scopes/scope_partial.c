/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes in a partial: all framework paths with their sums, in the order of their keys, and the annotations. */
#include "stages/diagnose/scopes/scopes_private.h"

static void save_op(struct tm_partial_writer *w, const void *of)
{
    const struct scope_op *op = of;

    tm_partial_put_name(w, op->path);
    tm_partial_put_u64(w, op->count);
    tm_partial_put_i64(w, op->self_ps);
}

tm_status tm_scopes_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct scopes *c = s->state;
    tm_status st;

    tm_partial_put_u64(w, c->unscoped_count);
    tm_partial_put_i64(w, c->unscoped_ps);
    tm_partial_put_u8(w, c->has_device);
    st = tm_partial_put_groups(w, c->ops, save_op);
    return st == TM_OK ? tm_annotations_save(c->annotations, w) : st;
}

static tm_status load_op(struct scopes *c, struct tm_partial_reader *r)
{
    struct scope_op op = { .path = tm_partial_name(r) };
    struct tm_name name;
    tm_status st;

    op.count = tm_partial_u64(r);
    op.self_ps = tm_partial_time(r);
    if (!tm_partial_is_ok(r))
        return tm_partial_status(r);
    st = tm_names_info(c->names, op.path, &name);
    op.key = name.hash;
    return st == TM_OK ? tm_groups_add(c->ops, &op) : st;
}

tm_status tm_scopes_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct scopes *c = s->state;
    tm_status st = TM_OK;

    c->names = tm_partial_names(r);
    c->unscoped_count = tm_sum_counts(c->unscoped_count, tm_partial_u64(r));
    c->unscoped_ps = tm_sum_times(c->unscoped_ps, tm_partial_time(r));
    c->has_device |= tm_partial_bool(r);
    while (st == TM_OK && tm_partial_bool(r))
        st = load_op(c, r);
    if (st == TM_OK)
        st = tm_partial_status(r);
    return st == TM_OK ? tm_annotations_load(c->annotations, r) : st;
}
