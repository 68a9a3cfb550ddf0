/* SPDX-License-Identifier: Apache-2.0 */
/* The section transfers out of the sums. */
#include "pipeline/groups.h"
#include "stages/diagnose/transfers/transfers_private.h"

static const char no_size[] = "the profile does not tell the size of these copies";
static const char not_timed[] = "the profile does not tell how long they are in flight";
static const char none[] = "no copies in the analyzed steps";
static const char host_side[] = "host", elsewhere[] = "another device", somewhere[] = "unknown";

/* A repeated copy has to be there in so many percent of the chosen steps, and in 2 of them. */
enum { REPEATED_PCT = 80, REPEATED_STEPS = 2 };

static void add_bytes(struct tm_value *to, const struct copy_sum *sum)
{
    if (sum->count && sum->unknown_count == sum->count)
        tm_add_null(to, "bytes", no_size);
    else
        tm_add_uint(to, "bytes", sum->bytes);
}

static void add_rate(struct tm_value *to, const char *key, double rate, const struct copy_sum *sum)
{
    if (rate > 0)
        tm_add_double(to, key, rate);
    else if (sum->count > sum->unknown_count)
        tm_add_null(to, key, not_timed);
    else
        tm_add_null(to, key, sum->count ? no_size : none);
}

static void add_direction(const struct transfers *t, enum tm_direction direction,
                          struct tm_value *list)
{
    const struct copy_direction *d = &t->directions[direction];
    const struct copy_sum *sum = &d->inside;
    struct tm_value *to, *outside;

    if (!sum->count && !d->outside.count && !sum->total_ps && !d->outside.total_ps)
        return;
    to = tm_add_object(list, NULL);
    tm_add_string(to, "direction", tm_direction_name[direction]);
    tm_add_uint(to, "count", sum->count);
    add_bytes(to, sum);
    tm_add_int(to, "total_ps", sum->total_ps);
    tm_add_int(to, "exposed_ps", d->exposed_ps);
    add_rate(to, "mean_bandwidth",
             sum->moved_ps > 0 ? (double)sum->moved_bytes * 1e12 / (double)sum->moved_ps : 0, sum);
    add_rate(to, "max_bandwidth", d->best_rate, sum);
    tm_add_uint(to, "unknown_bytes_count", sum->unknown_count);
    outside = tm_add_object(to, "outside");
    tm_add_uint(outside, "count", d->outside.count);
    add_bytes(outside, &d->outside);
    tm_add_int(outside, "total_ps", d->outside.total_ps);
    tm_add_int(outside, "exposed_ps", d->outside_exposed_ps);
}

/* --- pairs of devices --- */

static int longest_pair_first(const void *a, const void *b)
{
    const struct copy_pair *x = a, *y = b;

    if (x->sum.total_ps != y->sum.total_ps)
        return x->sum.total_ps > y->sum.total_ps ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->direction > y->direction) - (x->direction < y->direction);
}

/* A copy between devices is recorded on the one it comes from. */
static tm_status add_pair(struct transfers *t, const struct copy_pair *pair, struct tm_value *list)
{
    const struct device_id *id = tm_rows_at(t->ids, pair->number);
    struct tm_value *to = tm_add_object(list, NULL);

    if (!id)
        return t->run->error.status;
    tm_add_string(to, "from", pair->direction == TM_H2D ? host_side : id->id);
    switch (pair->direction) {
    case TM_H2D:
    case TM_D2D:
        tm_add_string(to, "to", id->id);
        break;
    case TM_D2H:
        tm_add_string(to, "to", host_side);
        break;
    case TM_P2P:
        tm_add_string(to, "to", elsewhere);
        break;
    default:
        tm_add_string(to, "to", somewhere);
        break;
    }
    tm_add_uint(to, "count", pair->sum.count);
    add_bytes(to, &pair->sum);
    tm_add_int(to, "total_ps", pair->sum.total_ps);
    return TM_OK;
}

static tm_status add_pairs(struct transfers *t, uint64_t most, struct tm_value *transfers)
{
    struct tm_top_rows *top = tm_listed_rows_new(t->run, sizeof(struct copy_pair), most, longest_pair_first);
    struct tm_value *list = tm_add_array(transfers, "by_pair");
    tm_status st = top ? TM_OK : t->run->error.status;

    for (uint64_t i = 0; i < tm_rows_count(t->pairs) && st == TM_OK; i++) {
        const struct copy_pair *pair = tm_rows_at(t->pairs, i);

        st = pair ? tm_top_rows_add(top, pair) : t->run->error.status;
    }
    if (st == TM_OK)
        tm_top_rows_sort(top);
    for (uint64_t i = 0; st == TM_OK && i < tm_top_rows_count(top); i++)
        st = add_pair(t, tm_top_rows_at(top, i), list);
    tm_top_rows_free(top);
    return st;
}

/* --- sizes --- */

static void add_sizes(const struct transfers *t, struct tm_value *transfers)
{
    struct tm_value *list = tm_add_array(transfers, "sizes");

    for (int i = 0; i < SIZE_ROWS; i++) {
        struct tm_value *to;

        if (!t->sizes[i].count)
            continue;
        to = tm_add_object(list, NULL);
        tm_add_uint(to, "from_bytes", i ? UINT64_C(1) << i : 0);
        if (i < SIZE_ROWS - 1)
            tm_add_uint(to, "to_bytes", UINT64_C(2) << i);
        else
            tm_add_null(to, "to_bytes", "sizes end here");
        tm_add_uint(to, "count", t->sizes[i].count);
        tm_add_uint(to, "bytes", t->sizes[i].bytes);
        tm_add_int(to, "total_ps", t->sizes[i].total_ps);
    }
}

static tm_status add_largest(struct transfers *t, struct tm_value *transfers)
{
    struct tm_value *list = tm_add_array(transfers, "largest");

    tm_top_rows_sort(t->largest);
    for (uint64_t i = 0; i < tm_top_rows_count(t->largest); i++) {
        const struct large_copy *copy = tm_top_rows_at(t->largest, i);
        const struct device_id *id = tm_rows_at(t->ids, copy->number);
        struct tm_value *to = tm_add_object(list, NULL);

        if (!id)
            return t->run->error.status;
        tm_add_string(to, "device", id->id);
        tm_add_string(to, "direction", tm_direction_name[copy->direction]);
        tm_add_uint(to, "bytes", copy->bytes);
        tm_add_int(to, "begin_ps", copy->begin_ps);
        tm_add_int(to, "dur_ps", copy->dur_ps);
    }
    return TM_OK;
}

/* --- what comes back in each step --- */

/* Copies of one direction and size, over all steps. */
struct repeated {
    uint64_t key; /* of struct copy_repeat, the upper half */
    uint64_t count, steps;
    int64_t total_ps;
};

static int longest_repeated_first(const void *a, const void *b)
{
    const struct repeated *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static tm_status end_repeated(const struct transfers *t, struct tm_top_rows *top,
                              const struct repeated *repeated)
{
    if (repeated->steps < REPEATED_STEPS ||
        repeated->steps < (t->chosen_steps * REPEATED_PCT + 99) / 100)
        return TM_OK;
    return tm_top_rows_add(top, repeated);
}

/* The groups come in the order of direction, size, host and step, each step once. */
static tm_status fold_repeats(struct transfers *t, struct tm_top_rows *top)
{
    struct repeated repeated = { .steps = 0 };
    tm_status st = tm_groups_finish(t->repeats);

    while (st == TM_OK) {
        const void *row;
        const struct copy_repeat *one;

        st = tm_groups_next(t->repeats, &row);
        if (st != TM_OK)
            break;
        one = row;
        if (repeated.steps && (!one || one->key.high != repeated.key)) {
            st = end_repeated(t, top, &repeated);
            repeated.steps = 0;
        }
        if (!one)
            break;
        if (!repeated.steps)
            repeated = (struct repeated){ .key = one->key.high };
        repeated.steps++;
        repeated.count += one->count;
        repeated.total_ps = tm_sum_times(repeated.total_ps, one->total_ps);
    }
    return st;
}

static tm_status add_repeated(struct transfers *t, uint64_t most, struct tm_value *transfers)
{
    struct tm_top_rows *top = tm_listed_rows_new(t->run, sizeof(struct repeated), most, longest_repeated_first);
    struct tm_value *list = tm_add_array(transfers, "repeated");
    const tm_status st = top ? fold_repeats(t, top) : t->run->error.status;

    if (st == TM_OK)
        tm_top_rows_sort(top);
    for (uint64_t i = 0; st == TM_OK && i < tm_top_rows_count(top); i++) {
        const struct repeated *row = tm_top_rows_at(top, i);
        struct tm_value *to = tm_add_object(list, NULL);

        tm_add_string(to, "direction", tm_direction_name[row->key >> 61]);
        tm_add_uint(to, "bytes", row->key & UINT64_MAX >> 3);
        tm_add_double(to, "per_step", (double)row->count / (double)t->chosen_steps);
        tm_add_uint(to, "count", row->count);
        tm_add_int(to, "total_ps", row->total_ps);
    }
    tm_top_rows_free(top);
    return st;
}

/* --- the rest --- */

static void add_pageable(const struct transfers *t, uint64_t count, int64_t total_ps,
                         struct tm_value *transfers)
{
    struct tm_value *to;

    if (count && !t->copies_of_known_kind) {
        tm_add_null(transfers, "pageable",
                    "the profile does not tell the kind of the host's memory");
        return;
    }
    to = tm_add_object(transfers, "pageable");
    tm_add_uint(to, "count", t->pageable.count);
    tm_add_int(to, "total_ps", t->pageable.total_ps);
    if (total_ps > 0)
        tm_add_double(to, "share_pct", 100.0 * (double)t->pageable.total_ps / (double)total_ps);
    else
        tm_add_null(to, "share_pct", none);
}

static void add_tpu_host(const struct transfers *t, struct tm_value *transfers)
{
    static const char *const direction[] = { "h2d", "d2h" };
    struct tm_value *list = tm_add_array(transfers, "tpu_host");

    for (int i = 0; i < 2; i++) {
        struct tm_value *to;

        if (!t->tpu_host[i].count)
            continue;
        to = tm_add_object(list, NULL);
        tm_add_string(to, "direction", direction[i]);
        tm_add_uint(to, "count", t->tpu_host[i].count);
        add_bytes(to, &t->tpu_host[i]);
    }
}

static tm_status add_section(struct transfers *t, uint64_t table_rows, struct tm_value *summary)
{
    struct tm_value *transfers = tm_add_object(summary, "transfers"), *list, *ping_pong;
    uint64_t count = 0;
    int64_t total_ps = 0;
    tm_status st;

    list = tm_add_array(transfers, "by_direction");
    for (int i = 0; i < TM_DIRECTION_COUNT; i++) {
        add_direction(t, (enum tm_direction)i, list);
        count += t->directions[i].inside.count;
        total_ps = tm_sum_times(total_ps, t->directions[i].inside.total_ps);
    }
    st = add_pairs(t, table_rows, transfers);
    add_sizes(t, transfers);
    add_pageable(t, count, total_ps, transfers);
    if (st == TM_OK)
        st = add_largest(t, transfers);
    if (st == TM_OK)
        st = add_repeated(t, table_rows, transfers);
    ping_pong = tm_add_object(transfers, "ping_pong");
    tm_add_uint(ping_pong, "count", t->ping_pongs);
    add_tpu_host(t, transfers);
    return st;
}

tm_status tm_transfers_report(struct tm_stage *s, struct tm_value *summary)
{
    struct transfers *t = s->state;

    if (t->has_accelerator)
        return add_section(t, s->settings->table_rows, summary);
    tm_add_null(summary, "transfers",
                t->has_cpu ? "the program ran on the CPU: nothing is copied to or from a device"
                           : "no device activity was recorded");
    return TM_OK;
}
