/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of a table are printed, and what the others add up to.  Of a row its place in the list is kept, nothing else. */
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/show/show.h"

/* --- sums --- */

static void add_row(struct tm_show_sum *sum, const struct tm_show_table *table, const struct tm_value *row)
{
    sum->rows++;
    for (int i = 0; i < TM_SHOW_MEASURES; i++)
        if (table->measure[i])
            sum->sum[i] = tm_sum_times(sum->sum[i], tm_int(tm_get(row, table->measure[i])));
}

static void add_rest(struct tm_show_rows *rows, const struct tm_show_table *table)
{
    rows->rows_are_known = table->rest || !table->most || (int64_t)tm_length(table->rows) < table->most;
    rows->unlisted.rows = tm_int(tm_get(table->rest, "rows"));
    for (int i = 0; i < TM_SHOW_MEASURES; i++) {
        const struct tm_value *const sum = table->measure[i] ? tm_get(table->rest, table->measure[i]) : NULL;

        rows->unlisted.sum[i] = tm_int(sum);
        rows->is_known[i] = rows->rows_are_known && (rows->unlisted.rows == 0 || tm_has(sum));
    }
}

/* --- order --- */

struct sort_key {
    char path[TM_SHOW_KEY];
    bool is_descending;
};

struct order {
    const struct tm_value *rows;
    struct sort_key key[TM_SHOW_SORTS];
    size_t keys;
};

static tm_status refuse_sort(struct tm_run *run, const struct tm_show_table *table, const char *text,
                             const char *reason, bool is_unknown)
{
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%.80s' for --sort: %s", text, reason);
    if (is_unknown)
        tm_show_suggest(run, table->fields, text);
    return TM_ERR_USAGE;
}

static tm_status read_order(struct order *order, struct tm_run *run, const struct tm_show_table *table,
                            const char *text)
{
    struct tm_doc_place place;

    for (const char *at = text;; at++) {
        const bool is_signed = *at == '-' || *at == '+';
        const size_t length = strcspn(at, ",");
        struct sort_key *const key = &order->key[order->keys];

        if (order->keys == TM_SHOW_SORTS)
            return refuse_sort(run, table, text, "there are more than 8 fields", false);
        if (length - is_signed >= sizeof(key->path) || length <= is_signed)
            return refuse_sort(run, table, text, length <= is_signed ? "a field is missing" : "no field is that long",
                               false);
        memcpy(key->path, at + is_signed, length - is_signed);
        key->path[length - is_signed] = '\0';
        key->is_descending = *at == '-';
        if (!tm_doc_place_at(&place, table->fields, key->path))
            return refuse_sort(run, table, key->path, "there is no such field", true);
        if (place.is_map || (place.field->shape & TM_DOC_LIST) || tm_doc_kind_of(place.field) == TM_DOC_OBJECT)
            return refuse_sort(run, table, key->path, "it has several values: name one of its members", false);
        order->keys++;
        at += length;
        if (!*at)
            return TM_OK;
    }
}

/* Numbers before texts; what is null comes last, whatever the direction. */
static int rank(const struct tm_value *value)
{
    switch (tm_type_of(value)) {
    case TM_BOOL:
    case TM_INT:
    case TM_DOUBLE:
        return 0;
    case TM_STRING:
        return 1;
    default:
        return 2;
    }
}

static int compare_values(const struct tm_value *a, const struct tm_value *b)
{
    if (tm_type_of(a) == TM_STRING)
        return strcmp(tm_text(a), tm_text(b));
    if (tm_type_of(a) == TM_BOOL || tm_type_of(b) == TM_BOOL)
        return tm_is(a) - tm_is(b);
    if (tm_type_of(a) == TM_INT && tm_type_of(b) == TM_INT)
        return (tm_int(a) > tm_int(b)) - (tm_int(a) < tm_int(b));
    return (tm_double(a) > tm_double(b)) - (tm_double(a) < tm_double(b));
}

static int by_keys(const void *one, const void *other, void *of)
{
    const size_t a = *(const size_t *)one, b = *(const size_t *)other;
    const struct order *const order = of;

    for (size_t i = 0; i < order->keys; i++) {
        const struct tm_value *const left = tm_path(tm_at(order->rows, a), order->key[i].path), *const right = tm_path(
                                                                                                    tm_at(order->rows,
                                                                                                          b),
                                                                                                    order->key[i].path);
        const int ranks = rank(left) - rank(right), values = ranks || rank(left) == 2 ? 0 : compare_values(left, right);

        if (ranks)
            return ranks;
        if (values)
            return order->key[i].is_descending ? -values : values;
    }
    return (a > b) - (a < b);
}

/* --- all of it --- */

static void filter(struct tm_show_rows *rows, const struct tm_show_table *table, const struct tm_where *where)
{
    const size_t count = tm_length(table->rows);

    for (size_t i = 0; i < count; i++) {
        const struct tm_value *const row = tm_at(table->rows, i);

        if (where && !tm_where_holds(where, row))
            add_row(&rows->by_where, table, row);
        else
            rows->pick[rows->count++] = i;
    }
}

static void cut(struct tm_show_rows *rows, const struct tm_show_table *table, uint64_t top)
{
    const size_t kept = top && top < rows->count ? (size_t)top : rows->count;

    for (size_t i = 0; i < rows->count; i++)
        add_row(i < kept ? &rows->returned : &rows->by_top, table, tm_at(table->rows, rows->pick[i]));
    rows->count = kept;
}

void tm_show_rows_choose(struct tm_show_rows *rows, struct tm_run *run, const struct tm_show_table *table,
                         const struct tm_show_query *query)
{
    struct order order = { .rows = table->rows };
    struct tm_where *where = NULL;

    *rows = (struct tm_show_rows){ .run = run, .room = tm_length(table->rows) };
    if (query->where)
        where = tm_where_read(run, query->where, table->fields);
    if (!tm_failed(run) && query->sort)
        read_order(&order, run, table, query->sort);
    if (!tm_failed(run) && rows->room)
        rows->pick = tm_take(&run->budget, TM_ACCOUNT_MODEL, rows->room * sizeof(*rows->pick), &run->error);
    if (!tm_failed(run)) {
        filter(rows, table, where);
        if (order.keys && rows->count)
            qsort_r(rows->pick, rows->count, sizeof(*rows->pick), by_keys, &order);
        cut(rows, table, query->top);
        add_rest(rows, table);
    }
    tm_where_free(where);
}

void tm_show_rows_free(struct tm_show_rows *rows)
{
    if (rows->pick)
        tm_give(&rows->run->budget, TM_ACCOUNT_MODEL, rows->pick, rows->room * sizeof(*rows->pick));
    rows->pick = NULL;
}
