/* SPDX-License-Identifier: Apache-2.0 */
/* The section collectives out of the groups. */
#include <string.h>

#include "stages/diagnose/collectives/collectives_private.h"
#include "stages/diagnose/top_rows.h"

static const char not_recorded[] = "the profile does not tell what its collectives move";
static const char no_counterpart[] =
    "none of these collectives has its counterpart on another device";
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

/* Messages and the time in which they move: without what devices wait, as far as that is known. */
struct movement {
    const char *over;
    uint64_t count;
    int64_t ps;
};

static struct movement movement_of(const struct collective_row *row)
{
    if (row->flight_count) /* of asynchronous ones, and the others beside them */
        return (struct movement){ "flight", tm_sum_counts(row->flight_count, row->plain_count),
                                  tm_sum_times(row->flight_ps, row->plain_ps) };
    if (row->moved_count)
        return (struct movement){ "moving", row->moved_count, row->moved_ps };
    return (struct movement){ "duration", row->plain_count, row->plain_ps };
}

static void add_bandwidths(const struct collective_row *row, struct tm_value *to)
{
    const struct movement movement = movement_of(row);
    const double bytes = (double)movement.count * (double)row->message_bytes,
                 factor = bus_factor(row);
    const char *why = !row->message_bytes             ? not_recorded
                      : movement.count && movement.ps ? NULL
                                                      : not_timed;
    const char *no_factor = row->kind == TM_OTHER_COLLECTIVE ? "not known for this kind of collective"
                                                             : "the profile does not tell the size of the group";
    const double rate = why ? 0 : bytes / ((double)movement.ps * 1e-12);

    if (why)
        tm_add_null(to, "algorithm_bandwidth", why);
    else
        tm_add_double(to, "algorithm_bandwidth", rate);
    if (why || factor <= 0)
        tm_add_null(to, "bus_bandwidth", why ? why : no_factor);
    else
        tm_add_double(to, "bus_bandwidth", rate * factor);
    if (why)
        tm_add_null(to, "bandwidth_over", why);
    else
        tm_add_string(to, "bandwidth_over", movement.over);
}

/* Its parts add up to the exposed time: of none both are none. */
static void add_split(struct tm_value *to, const struct exposed_parts *parts, const char *why)
{
    if (parts->matched || !parts->unmatched_ps) {
        tm_add_int(to, "exposed_wait_ps", parts->wait_ps);
        tm_add_int(to, "exposed_move_ps", parts->move_ps);
    } else {
        tm_add_null(to, "exposed_wait_ps", why);
        tm_add_null(to, "exposed_move_ps", why);
    }
    tm_add_int(to, "exposed_unmatched_ps", parts->unmatched_ps);
}

static void add_exposed(struct tm_value *to, const struct exposed_parts *parts, int64_t total_ps,
                        const char *why)
{
    const int64_t exposed_ps = exposed_of(parts);

    tm_add_int(to, "exposed_ps", exposed_ps);
    add_split(to, parts, why);
    if (!total_ps)
        tm_add_null(to, "overlap_pct", "no time in the analyzed steps");
    else
        tm_add_double(to, "overlap_pct",
                      exposed_ps < total_ps ? 100.0 * (1.0 - (double)exposed_ps / (double)total_ps) : 0);
}

/* What the report is made of. */
struct reporting {
    struct collectives *c;
    struct exposed_sums exposed;
    const char *why; /* nothing is matched; NULL = something is */
};

static tm_status add_row(const struct reporting *r, const struct collective_row *row,
                         struct tm_value *list)
{
    struct collectives *c = r->c;
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
        tm_add_null(to, "mean_ps", row->total_ps ? "begun, but not waited for" : "none in the analyzed steps");
    add_number(to, "bytes", bytes_of(row));
    add_number(to, "group_size", row->group_size);
    if (row->reach == TM_REACH_UNKNOWN)
        tm_add_null(to, "reach", "the profile does not tell which devices are in one node");
    else
        tm_add_string(to, "reach", row->reach == TM_REACH_NODE ? "node" : "nodes");
    if (row->data_type) {
        const tm_status st = tm_names_text(c->names, row->data_type, 0, &type, &length);

        if (st != TM_OK)
            return st;
        tm_add_string(to, "data_type", type);
    } else {
        tm_add_null(to, "data_type", not_recorded);
    }
    add_exposed(to, &row->exposed, row->total_ps, r->why ? r->why : no_counterpart);
    add_bandwidths(row, to);
    return TM_OK;
}

/* Put the rows that take longest in order.  out: *distinct rows there are */
static tm_status choose_rows(struct reporting *r, struct tm_top_rows *top, uint64_t *distinct)
{
    const void *row = NULL;
    tm_status st = tm_groups_finish(r->exposed.rows);

    *distinct = 0;
    while (st == TM_OK && (st = tm_groups_next(r->exposed.rows, &row)) == TM_OK && row) {
        ++*distinct;
        st = tm_top_rows_add(top, row);
    }
    if (st == TM_OK)
        tm_top_rows_sort(top);
    return st;
}

static tm_status add_rows(struct reporting *r, struct tm_value *section)
{
    struct collectives *c = r->c;
    struct tm_top_rows *top =
        tm_listed_rows_new(c->run, sizeof(struct collective_row), c->settings->table_rows, longest_first);
    struct tm_value *list = tm_add_array(section, "rows"), *rest;
    struct exposed_parts left = r->exposed.chosen;
    uint64_t distinct = 0, listed = 0;
    int64_t listed_ps = 0;
    tm_status st = top ? choose_rows(r, top, &distinct) : c->run->error.status;

    for (uint64_t i = 0; st == TM_OK && i < tm_top_rows_count(top); i++) {
        const struct collective_row *row = tm_top_rows_at(top, i);

        listed = tm_sum_counts(listed, row->count);
        listed_ps = tm_sum_times(listed_ps, row->total_ps);
        left.wait_ps -= row->exposed.wait_ps;
        left.move_ps -= row->exposed.move_ps;
        left.unmatched_ps -= row->exposed.unmatched_ps;
        left.matched -= row->exposed.matched;
        st = add_row(r, row, list);
    }
    rest = tm_add_object(section, "rest");
    tm_add_uint(rest, "rows", st == TM_OK ? distinct - tm_top_rows_count(top) : 0);
    tm_add_uint(rest, "count", c->count > listed ? c->count - listed : 0);
    tm_add_int(rest, "total_ps", c->total_ps > listed_ps ? c->total_ps - listed_ps : 0);
    tm_add_int(rest, "exposed_ps", exposed_of(&left));
    add_split(rest, &left, r->why ? r->why : no_counterpart);
    tm_top_rows_free(top);
    return st;
}

/* What other steps' collectives take of the window: with the rows it adds up to what the devices
 * have. */
static void add_outside(const struct reporting *r, struct tm_value *section)
{
    struct exposed_parts outside = r->exposed.total;
    struct tm_value *to = tm_add_object(section, "outside");

    outside.wait_ps -= r->exposed.chosen.wait_ps;
    outside.move_ps -= r->exposed.chosen.move_ps;
    outside.unmatched_ps -= r->exposed.chosen.unmatched_ps;
    outside.matched -= r->exposed.chosen.matched;
    tm_add_int(to, "exposed_ps", exposed_of(&outside));
    add_split(to, &outside, r->why ? r->why : no_counterpart);
}

/* The same where the exposed time may be unknown. */
static void add_split_of(struct tm_value *to, const struct exposed_parts *parts, const char *why)
{
    const struct tm_value *exposed = tm_get(to, "exposed_collective_ps");

    if (tm_has(exposed)) {
        add_split(to, parts, why);
        return;
    }
    tm_add_null(to, "exposed_wait_ps", tm_why(exposed));
    tm_add_null(to, "exposed_move_ps", tm_why(exposed));
    tm_add_null(to, "exposed_unmatched_ps", tm_why(exposed));
}

/* What the stage device-time wrote of the devices and of all of them gets the split of its exposed
 * collectives. */
static void add_to_devices(const struct reporting *r, struct tm_value *summary)
{
    const struct tm_members *members = &r->c->skew.members;
    struct tm_value *devices = tm_member(summary, "devices"), *total = tm_member(summary, "total");
    const char *why = r->why ? r->why : no_counterpart;
    uint32_t at = 0;

    for (size_t i = 0; i < tm_length(devices) && members->count; i++) {
        struct tm_value *device = tm_element(devices, i);
        const char *id = tm_text(tm_get(device, "id"));

        for (uint32_t tries = 0;
             tries < members->count && strcmp(members->rows[at].device, id) != 0; tries++)
            at = (at + 1) % members->count;
        if (strcmp(members->rows[at].device, id) == 0)
            add_split_of(device, &r->exposed.members[at], why);
    }
    if (tm_type_of(total) == TM_OBJECT)
        add_split_of(total, &r->exposed.total, why);
}

static tm_status add_section(struct reporting *r, struct tm_value *summary,
                             struct tm_value **section)
{
    struct collectives *c = r->c;
    struct tm_value *total;

    *section = tm_add_object(summary, "collectives");
    total = tm_add_object(*section, "total");
    tm_add_uint(total, "count", c->count);
    tm_add_int(total, "total_ps", c->total_ps);
    if (c->sized_count || !c->count)
        tm_add_uint(total, "bytes", c->bytes);
    else
        tm_add_null(total, "bytes", not_recorded);
    tm_add_uint(total, "unknown_bytes_count", c->count - c->sized_count);
    add_exposed(total, &r->exposed.chosen, c->total_ps, r->why ? r->why : no_counterpart);
    add_outside(r, *section);
    add_to_devices(r, summary);
    return add_rows(r, *section);
}

/* Who belongs together comes first: without it nobody knows what the devices wait for. */
static tm_status report_all(struct reporting *r, struct tm_value *summary)
{
    struct skew *k = &r->c->skew;
    const char *why = why_no_skew(k);
    struct skew_sums sums = { .members = NULL };
    struct matches m = { .joined = NULL };
    struct tm_value *section;
    tm_status st = TM_OK;

    if (!why) {
        st = match_arrivals(k, &m);
        if (st == TM_OK)
            st = add_up_skew(k, &m, &sums);
    }
    if (st == TM_OK)
        st = split_exposed(r->c, sums.rows, &r->exposed);
    r->why = st != TM_OK || r->exposed.total.matched ? NULL : why ? why : why_not_matched(k, &sums);
    if (st == TM_OK)
        st = add_section(r, summary, &section);
    if (st == TM_OK && why)
        tm_add_null(section, "skew", why);
    else if (st == TM_OK)
        st = report_skew(k, &m, &sums, section);
    free_skew_sums(k, &sums);
    free_matches(&m);
    free_exposed_sums(r->c, &r->exposed);
    return st;
}

tm_status tm_collectives_report(struct tm_stage *s, struct tm_value *summary)
{
    struct collectives *c = s->state;
    struct reporting r = { .c = c };

    if (c->has_device)
        return report_all(&r, summary);
    tm_add_null(summary, "collectives", "no device activity was recorded");
    return TM_OK;
}
