/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the section ops from the groups.  One pass over the operations picks those that take most time, stores their
 * lengths for the share of the first ones, and finds what the roofline shows. */
#include <stdlib.h>
#include <string.h>

#include "stages/figures/kernel_category.h"
#include "stages/figures/ops.h"
#include "stages/resolve/classes.h"

enum { SHARE_OF_FIRST_PCT = 80, FAMILIES_MOST = 500 };

static const char not_told[] = "the profile does not record it";

struct report {
    struct ops *o;
    struct tm_top_rows *rows;     /* struct op_row */
    struct tm_groups *by_family;  /* struct family */
    struct tm_top_rows *families; /* struct family */
    struct tm_sorter *members;    /* struct member */
    struct tm_sorter *lengths;    /* int64_t: self time of what counts as one operation */
    uint64_t steps;               /* chosen ones; 1 at least */
    int64_t top_ps;               /* the longest of those */
    struct tm_listed_texts texts;
    struct op_peaks peaks;
    uint64_t distinct, distinct_families;
};

/* Operations of one family. */
struct family {
    struct op_row row; /* all together; key: of the family; name, module and path of the earliest one */
    uint64_t members;
    int64_t top_ps; /* self time of the longest one */
    struct tm_key top;
    tm_strid top_name;
    uint32_t unused; /* spilled rows have no padding */
};

/* Self time of an operation, by its family. */
struct member {
    struct tm_key family;
    int64_t self_ps;
};

/* This many are listed: their rows are larger than those of operations. */
static uint64_t families_most(const struct ops *o)
{
    return o->settings->table_rows < FAMILIES_MOST ? o->settings->table_rows : FAMILIES_MOST;
}

/* --- orders --- */

static int longest_first(const void *a, const void *b)
{
    const struct op_row *x = a, *y = b;

    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static int longest_length_first(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x < y) - (x > y);
}

static int longest_family_first(const void *a, const void *b)
{
    return longest_first(&((const struct family *)a)->row, &((const struct family *)b)->row);
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    const int order = tm_key_order(x->family, y->family);

    return order ? order : (x->self_ps > y->self_ps) - (x->self_ps < y->self_ps);
}

/* --- families --- */

static void merge_families(void *into, const void *from)
{
    struct family *a = into;
    const struct family *b = from;

    a->members = tm_sum_counts(a->members, b->members);
    if (b->top_ps > a->top_ps || (b->top_ps == a->top_ps && tm_key_order(b->top, a->top) < 0)) {
        a->top_ps = b->top_ps;
        a->top = b->top;
        a->top_name = b->top_name;
    }
    tm_op_merge(&a->row, &b->row);
}

/* A program contains an operation once: a family with more operations than there are steps is one operation that the
 * program repeats, each time with another number. */
static bool counts_as_one(const struct report *r, const struct family *family)
{
    return family->members == 1 || family->members > r->steps;
}

static void add_to_family(struct report *r, const struct op_row *row)
{
    const struct member member = { row->family, row->self_ps };
    struct family family = {
        .row = *row, .members = 1, .top_ps = row->self_ps, .top = row->key, .top_name = row->name
    };

    family.row.key = row->family;
    tm_sorter_push(r->members, &member);
    tm_groups_add(r->by_family, &family);
}

static void add_length(struct report *r, int64_t self_ps)
{
    r->top_ps = self_ps > r->top_ps ? self_ps : r->top_ps;
    tm_sorter_push(r->lengths, &self_ps);
}

/* The durations of what counts as one operation: of the family, or of each of its members, which come in the order of
 * families.
 * in:     *next  the first member; out: the first one of the next family */
static void add_lengths(struct report *r, const struct family *family, const void **next)
{
    const bool is_one = counts_as_one(r, family);

    if (is_one)
        add_length(r, family->row.self_ps);
    while (*next && tm_is_same_key(((const struct member *)*next)->family, family->row.key)) {
        if (!is_one)
            add_length(r, ((const struct member *)*next)->self_ps);
        *next = tm_sorter_next(r->members);
    }
}

static void read_families(struct report *r)
{
    const struct family *family;
    const void *member;

    tm_groups_finish(r->by_family);
    tm_sorter_finish(r->members);
    member = tm_sorter_next(r->members);
    while ((family = tm_groups_next(r->by_family))) {
        r->distinct_families++;
        tm_top_rows_add(r->families, family);
        add_lengths(r, family, &member);
    }
    tm_top_rows_sort(r->families);
}

static void find_places(struct report *r)
{
    struct ops *o = r->o;
    const uint64_t count = tm_top_rows_count(r->families);

    if (!count)
        return;
    o->places = tm_take(&o->run->budget, TM_ACCOUNT_TABLES, count * sizeof(*o->places), &o->run->error);
    if (!o->places)
        return;
    o->place_count = count;
    for (uint64_t i = 0; i < count; i++)
        o->places[i] = (struct op_place){ ((const struct family *)tm_top_rows_at(r->families, i))->row.key, i };
    qsort(o->places, count, sizeof(*o->places), tm_op_by_family);
}

static void give_places(struct ops *o)
{
    tm_give(&o->run->budget, TM_ACCOUNT_TABLES, o->places, o->place_count * sizeof(*o->places));
    o->places = NULL;
    o->place_count = 0;
}

/* --- the pass --- */

static void take_row(struct report *r, struct op_roofs *roofs, const struct op_row *row)
{
    struct op_roof roof;

    tm_top_rows_add(r->rows, row);
    r->distinct++;
    add_to_family(r, row);
    tm_op_peaks(r->o, row->first_device, &r->peaks);
    tm_op_roof_of(row, &r->peaks.peaks, &roof);
    tm_op_roofs_add(r->o, roofs, row, &roof);
}

static void read_rows(struct report *r, struct op_roofs *roofs)
{
    const void *row;

    tm_groups_finish(r->o->groups);
    while ((row = tm_groups_next(r->o->groups)))
        take_row(r, roofs, row);
    tm_top_rows_sort(r->rows);
}

/* How many operations, or families that count as one, the longest first, make up this share of the self time. */
static uint64_t count_first(struct report *r)
{
    const unsigned __int128 wanted = (unsigned __int128)(uint64_t)r->o->self_ps * SHARE_OF_FIRST_PCT;
    unsigned __int128 sum = 0;
    const int64_t *length;
    uint64_t count = 0;

    tm_sorter_finish(r->lengths);
    for (; sum * 100 < wanted && (length = tm_sorter_next(r->lengths)); count++)
        sum += (uint64_t)*length;
    return count;
}

/* --- values --- */

/* --- the section --- */

static void add_rest(struct report *r, struct tm_value *ops, uint64_t listed, const struct op_row *sum)
{
    const struct ops *o = r->o;
    struct tm_value *rest = tm_add_object(ops, "rest");

    tm_add_uint(rest, "rows", r->distinct - listed);
    tm_add_uint(rest, "count", o->count > sum->count ? o->count - sum->count : 0);
    tm_add_int(rest, "self_ps", o->self_ps > sum->self_ps ? o->self_ps - sum->self_ps : 0);
    tm_add_int(rest, "total_ps", o->total_ps > sum->total_ps ? o->total_ps - sum->total_ps : 0);
}

static void add_rows(struct report *r, struct tm_value *ops)
{
    struct tm_value *list = tm_add_array(ops, "rows");
    const uint64_t count = tm_top_rows_count(r->rows);
    struct op_row sum = { .count = 0 };

    r->texts = tm_listed_texts(r->o->names, r->o->settings->table_rows);
    for (uint64_t i = 0; i < count; i++) {
        const struct op_row *row = tm_top_rows_at(r->rows, i);
        struct tm_value *to = tm_add_object(list, NULL);
        struct op_roof roof;

        tm_op_peaks(r->o, row->first_device, &r->peaks);
        tm_op_roof_of(row, &r->peaks.peaks, &roof);
        tm_op_add_row(r->o, &r->texts, to, row, &roof);
        sum.count = tm_sum_counts(sum.count, row->count);
        sum.self_ps = tm_sum_times(sum.self_ps, row->self_ps);
        sum.total_ps = tm_sum_times(sum.total_ps, row->total_ps);
        tm_add_double(to, "cumulative_pct", tm_op_share((double)sum.self_ps, r->o->self_ps));
    }
    add_rest(r, ops, count, &sum);
}

static void add_family(struct report *r, struct tm_value *to, const struct family *family)
{
    const struct op_row *row = &family->row;
    struct op_roof roof;
    const tm_strid name = tm_op_family_title(r->o, row), path = tm_op_family_scope(r->o, row);

    tm_listed_text_add(&r->texts, to, "family", name);
    tm_listed_text_or(&r->texts, to, "op", path, not_told);
    tm_listed_text_add(&r->texts, to, "longest", family->top_name);
    tm_op_add_category(r->o, to, row);
    tm_listed_text_or(&r->texts, to, "source", row->source, not_told);
    tm_op_peaks(r->o, row->first_device, &r->peaks);
    tm_op_add_precision(to, row);
    tm_add_uint(to, "members", family->members);
    tm_add_bool(to, "counts_as_one", counts_as_one(r, family));
    tm_op_add_times(to, row);
    tm_add_double(to, "share_pct", tm_op_share((double)row->self_ps, r->o->self_ps));
    tm_op_roof_of(row, &r->peaks.peaks, &roof);
    tm_op_add_roof(to, row, &roof);
    tm_op_add_first(r->o, to, row);
}

static void add_families(struct report *r, struct tm_value *ops)
{
    struct tm_value *list = tm_add_array(ops, "families"), *rest;
    const uint64_t count = tm_top_rows_count(r->families);
    struct family sum = { .members = 0 };

    r->texts = tm_listed_texts(r->o->names, families_most(r->o));
    for (uint64_t i = 0; i < count; i++) {
        const struct family *family = tm_top_rows_at(r->families, i);
        struct tm_value *to = tm_add_object(list, NULL);

        add_family(r, to, family);
        sum.members = tm_sum_counts(sum.members, family->members);
        sum.row.count = tm_sum_counts(sum.row.count, family->row.count);
        sum.row.self_ps = tm_sum_times(sum.row.self_ps, family->row.self_ps);
        sum.row.total_ps = tm_sum_times(sum.row.total_ps, family->row.total_ps);
        tm_add_double(to, "cumulative_pct", tm_op_share((double)sum.row.self_ps, r->o->self_ps));
    }
    rest = tm_add_object(ops, "families_rest");
    tm_add_uint(rest, "rows", r->distinct_families - count);
    tm_add_uint(rest, "members", r->distinct - sum.members);
    tm_add_uint(rest, "count", r->o->count > sum.row.count ? r->o->count - sum.row.count : 0);
    tm_add_int(rest, "self_ps", r->o->self_ps > sum.row.self_ps ? r->o->self_ps - sum.row.self_ps : 0);
    tm_add_int(rest, "total_ps", r->o->total_ps > sum.row.total_ps ? r->o->total_ps - sum.row.total_ps : 0);
}

static void add_section(struct report *r, struct tm_value *summary)
{
    const struct ops *o = r->o;
    struct tm_value *ops = tm_add_object(summary, "ops");
    const uint64_t first = count_first(r);

    tm_add_uint(ops, "count", o->count);
    tm_add_uint(ops, "distinct", r->distinct);
    tm_add_uint(ops, "distinct_families", r->distinct_families);
    tm_add_int(ops, "total_ps", o->total_ps);
    tm_add_int(ops, "self_ps", o->self_ps);
    if (o->self_ps)
        tm_add_double(ops, "top_share_pct", tm_op_share((double)r->top_ps, o->self_ps));
    else
        tm_add_null(ops, "top_share_pct", "no operations in the analyzed steps");
    tm_add_uint(ops, "rows_for_80_pct", first);
    tm_add_string(ops, "basis", o->has_hlo ? "hlo_op" : "kernel");
    add_families(r, ops);
    add_rows(r, ops);
}

static void open_tables(struct report *r)
{
    struct ops *o = r->o;

    r->rows = tm_listed_rows_new(o->run, sizeof(struct op_row), o->settings->table_rows, longest_first);
    r->lengths =
        tm_sorter_new(o->run, TM_ACCOUNT_TABLES, sizeof(int64_t), ops_memory(o->run, OPS_SORT), longest_length_first);
    r->members = tm_sorter_new(o->run, TM_ACCOUNT_TABLES, sizeof(struct member), ops_memory(o->run, OPS_MEMBERS),
                               compare_members);
    r->by_family = tm_groups_new(o->run, TM_ACCOUNT_TABLES, sizeof(struct family), ops_memory(o->run, OPS_FAMILIES),
                                 merge_families);
    r->families = tm_listed_rows_new(o->run, sizeof(struct family), families_most(o), longest_family_first);
}

static uint64_t chosen_steps(const struct tm_value *summary)
{
    const struct tm_value *chosen = tm_path(summary, "steps.chosen");

    return tm_has(chosen) && tm_int(chosen) > 1 ? (uint64_t)tm_int(chosen) : 1;
}

tm_status tm_ops_report(struct tm_stage *s, struct tm_value *summary)
{
    struct report r = { .o = s->state };
    struct op_roofs roofs = { .far = NULL };

    if (!r.o->active_devices) {
        tm_add_null(summary, "ops", "no device activity was recorded");
        tm_add_null(summary, "roofline", "no device activity was recorded");
        return TM_OK;
    }
    r.steps = chosen_steps(summary);
    open_tables(&r);
    tm_op_roofs_open(r.o, &roofs);
    if (!tm_failed(s->run)) {
        read_rows(&r, &roofs);
        read_families(&r);
        find_places(&r);
        add_section(&r, summary);
        tm_op_roofline(r.o, &roofs, summary);
    }
    tm_op_roofs_close(&roofs);
    tm_top_rows_free(r.rows);
    tm_sorter_free(r.lengths);
    tm_sorter_free(r.members);
    give_places(r.o);
    tm_groups_free(r.by_family);
    tm_top_rows_free(r.families);
    return s->run->error.status;
}
