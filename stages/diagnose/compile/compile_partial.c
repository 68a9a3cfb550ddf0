/* SPDX-License-Identifier: Apache-2.0 */
/* Compilations in a partial: all compiles of every sort, and the programs that were made. */
#include "stages/diagnose/compile/compile_private.h"

tm_status tm_compile_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    const struct compiles *c = s->state;
    const uint64_t count = tm_rows_count(c->rows);

    tm_partial_put_u32(w, c->origins);
    tm_partial_put_u8(w, c->has_host_events);
    tm_partial_put_u8(w, c->has_host_steps);
    tm_partial_put_words(w, c->found, SORT_COUNT);
    tm_partial_put_u64(w, count);
    for (uint64_t i = 0; i < count; i++) {
        const struct compile *row = tm_rows_at(c->rows, i);

        if (!row)
            return s->run->error.status;
        tm_partial_put_i64(w, row->begin_ps);
        tm_partial_put_i64(w, row->dur_ps);
        tm_partial_put_i64(w, row->step_number);
        tm_partial_put_u32(w, row->host);
        tm_partial_put_name(w, row->module);
        tm_partial_put_u8(w, row->sort);
        tm_partial_put_u8(w, row->has_step);
        tm_partial_put_u8(w, row->in_chosen);
    }
    return tm_compiled_save(c->programs, w);
}

static void load_compile(struct tm_partial_reader *r, struct compile *row)
{
    int64_t end_ps;

    row->begin_ps = tm_partial_i64(r);
    row->dur_ps = tm_partial_time(r);
    row->step_number = tm_partial_i64(r);
    row->host = tm_partial_below_u32(r, tm_partial_host_count(r));
    row->module = tm_partial_name(r);
    row->sort = tm_partial_below_u8(r, SORT_COUNT);
    row->has_step = tm_partial_bool(r);
    row->in_chosen = tm_partial_bool(r);
    if (__builtin_add_overflow(row->begin_ps, row->dur_ps, &end_ps))
        (void)tm_partial_damaged(r, "a time is out of its range");
}

tm_status tm_compile_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct compiles *c = s->state;
    const uint32_t first_host = (uint32_t)tm_rows_count(c->hosts);
    tm_status st = TM_OK;
    uint64_t count;

    c->names = tm_partial_names(r);
    for (uint32_t i = 0; i < tm_partial_host_count(r) && st == TM_OK; i++) {
        struct host_name name = { .text = "" };

        tm_partial_copy_host(r, i, name.text, sizeof(name.text));
        st = tm_rows_append(c->hosts, &name);
    }
    c->origins |= tm_partial_below_u32(r, 1 << TM_ORIGIN_COUNT);
    c->has_host_events |= tm_partial_bool(r);
    c->has_host_steps |= tm_partial_bool(r);
    for (int i = 0; i < SORT_COUNT; i++)
        c->found[i] += tm_partial_u64(r);
    count = tm_partial_u64(r);
    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        struct compile row = { .begin_ps = 0 };

        load_compile(r, &row);
        row.host += first_host;
        st = tm_partial_is_ok(r) ? tm_rows_append(c->rows, &row) : tm_partial_status(r);
    }
    if (st == TM_OK)
        st = tm_compiled_load(c->programs, r, first_host);
    return st == TM_OK ? tm_partial_status(r) : st;
}
