/* SPDX-License-Identifier: Apache-2.0 */
/* The section collectives out of the groups. */
#include "stages/diagnose/collectives/collectives_private.h"
#include "stages/diagnose/top_rows.h"

static const char not_recorded[] = "the profile does not tell what its collectives move";
static const char not_timed[] = "the profile does not tell how long they are in flight";

static int longest_first(const void *a, const void *b)
{
    const struct collective_row *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static uint64_t bytes_of(const struct collective_row *row)
{
    uint64_t bytes;

    return __builtin_mul_overflow(row->count, row->message_bytes, &bytes) ? UINT64_MAX : bytes;
}

static int64_t mean_of(const struct collective_row *row)
{
    return (int64_t)(((unsigned __int128)(uint64_t)row->total_ps + row->count / 2) / row->count);
}

static void add_number(struct tm_value *to, const char *key, uint64_t number)
{
    if (number)
        tm_add_uint(to, key, number);
    else
        tm_add_null(to, key, not_recorded);
}

/* How many times its message a rank sends over its link, as NCCL's tests count it: 0 = not known.
 * source: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md */
static double bus_factor(const struct collective_row *row)
{
    const double n = row->group_size;

    switch ((enum tm_collective_kind)row->kind) {
    case TM_ALL_REDUCE:
        return n > 0 ? 2 * (n - 1) / n : 0;
    case TM_ALL_GATHER:
    case TM_REDUCE_SCATTER:
    case TM_ALL_TO_ALL:
        return n > 0 ? (n - 1) / n : 0;
    case TM_BROADCAST:
    case TM_SEND_RECV:
    case TM_PERMUTE:
        return 1;
    default:
        return 0;
    }
}

static void add_bandwidths(const struct collective_row *row, struct tm_value *to)
{
    const double bytes = (double)row->moved_count * (double)row->message_bytes, factor = bus_factor(row);
    const char *why = !row->message_bytes ? not_recorded : row->moved_count && row->moved_ps ? NULL : not_timed;
    const char *no_factor = row->kind == TM_OTHER_COLLECTIVE ? "not known for this kind of collective"
                                                             : "the profile does not tell the size of the group";
    const double rate = why ? 0 : bytes / ((double)row->moved_ps * 1e-12);

    if (why)
        tm_add_null(to, "algorithm_bandwidth", why);
    else
        tm_add_double(to, "algorithm_bandwidth", rate);
    if (why || factor <= 0)
        tm_add_null(to, "bus_bandwidth", why ? why : no_factor);
    else
        tm_add_double(to, "bus_bandwidth", rate * factor);
}

/* Of what lies outside the chosen steps only the exposed time counts, as in the devices' figures: it may be more than
 * the time of the row. */
static void add_exposed(struct tm_value *to, int64_t exposed_ps, int64_t total_ps)
{
    tm_add_int(to, "exposed_ps", exposed_ps);
    if (!total_ps)
        tm_add_null(to, "overlap_pct", "no time in the chosen steps");
    else
        tm_add_double(to, "overlap_pct",
                      exposed_ps < total_ps ? 100.0 * (1.0 - (double)exposed_ps / (double)total_ps) : 0);
}

static tm_status add_row(struct collectives *c, const struct collective_row *row, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);
    const char *type = NULL;
    size_t length;

    tm_add_string(to, "kind", tm_collective_kind_name[row->kind]);
    add_number(to, "message_bytes", row->message_bytes);
    tm_add_uint(to, "count", row->count);
    tm_add_int(to, "total_ps", row->total_ps);
    if (row->count)
        tm_add_int(to, "mean_ps", mean_of(row));
    else
        tm_add_null(to, "mean_ps", row->total_ps ? "begun, but not waited for" : "none in the chosen steps");
    add_number(to, "bytes", bytes_of(row));
    add_number(to, "group_size", row->group_size);
    if (row->data_type) {
        const tm_status st = tm_names_text(c->names, row->data_type, 0, &type, &length);

        if (st != TM_OK)
            return st;
        tm_add_string(to, "data_type", type);
    } else {
        tm_add_null(to, "data_type", not_recorded);
    }
    add_exposed(to, row->exposed_ps, row->total_ps);
    add_bandwidths(row, to);
    return TM_OK;
}

/* Put the rows that take longest in order.  out: *distinct rows there are */
static tm_status choose_rows(struct collectives *c, struct tm_top_rows *top, uint64_t *distinct)
{
    const void *row = NULL;
    tm_status st = tm_groups_finish(c->groups);

    *distinct = 0;
    while (st == TM_OK && (st = tm_groups_next(c->groups, &row)) == TM_OK && row) {
        c->exposed_ps = tm_sum_times(c->exposed_ps, ((const struct collective_row *)row)->exposed_ps);
        ++*distinct;
        st = tm_top_rows_add(top, row);
    }
    if (st == TM_OK)
        tm_top_rows_sort(top);
    return st;
}

static tm_status add_rows(struct collectives *c, struct tm_value *section)
{
    struct tm_top_rows *top =
        tm_listed_rows_new(c->run, sizeof(struct collective_row), c->settings->table_rows, longest_first);
    struct tm_value *list = tm_add_array(section, "rows"), *rest;
    uint64_t distinct = 0, listed = 0;
    int64_t listed_ps = 0, listed_exposed_ps = 0;
    tm_status st = top ? choose_rows(c, top, &distinct) : c->run->error.status;

    for (uint64_t i = 0; st == TM_OK && i < tm_top_rows_count(top); i++) {
        const struct collective_row *row = tm_top_rows_at(top, i);

        listed = tm_sum_counts(listed, row->count);
        listed_ps = tm_sum_times(listed_ps, row->total_ps);
        listed_exposed_ps = tm_sum_times(listed_exposed_ps, row->exposed_ps);
        st = add_row(c, row, list);
    }
    rest = tm_add_object(section, "rest");
    tm_add_uint(rest, "rows", st == TM_OK ? distinct - tm_top_rows_count(top) : 0);
    tm_add_uint(rest, "count", c->count > listed ? c->count - listed : 0);
    tm_add_int(rest, "total_ps", c->total_ps > listed_ps ? c->total_ps - listed_ps : 0);
    tm_add_int(rest, "exposed_ps", c->exposed_ps - listed_exposed_ps);
    tm_top_rows_free(top);
    return st;
}

tm_status tm_collectives_report(struct tm_stage *s, struct tm_value *summary)
{
    struct collectives *c = s->state;
    struct tm_value *section, *total;
    tm_status st;

    if (!c->has_device) {
        tm_add_null(summary, "collectives", "no device activity was recorded");
        return TM_OK;
    }
    section = tm_add_object(summary, "collectives");
    total = tm_add_object(section, "total");
    tm_add_uint(total, "count", c->count);
    tm_add_int(total, "total_ps", c->total_ps);
    if (c->sized_count || !c->count)
        tm_add_uint(total, "bytes", c->bytes);
    else
        tm_add_null(total, "bytes", not_recorded);
    tm_add_uint(total, "unknown_bytes_count", c->count - c->sized_count);
    c->exposed_ps = 0;
    st = add_rows(c, section);
    add_exposed(total, c->exposed_ps, c->total_ps);
    return st;
}
