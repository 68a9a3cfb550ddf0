/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers, the stage: sums by direction, size and device; a sweep per device finds the copies that nothing hides.
 * Memory: fixed per device of the current host; sizes by step spill. */
#include "stages/figures/figure_stages.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "stages/figures/device_time.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"
#include "stages/resolve/classes.h"

/* SIZE_ROWS: powers of two of a 64-bit size.  RECENT: copies to the host that may still be
 * answered. */
enum { SIZE_ROWS = 64, LARGEST_ROWS = 20, RECENT = 4 };

struct copy_sum {
    uint64_t count, bytes, unknown_count; /* bytes: of the copies whose size is known */
    uint64_t moved_bytes;                 /* those whose time in flight is also known */
    int64_t total_ps, moved_ps;           /* moved_ps: when any of these was, on each device; waits for copies are
                                             excluded */
};

struct copy_direction {
    struct copy_sum inside, outside; /* of the analyzed steps */
    int64_t exposed_ps;              /* of the copies inside */
    int64_t outside_exposed_ps;      /* of the others, in what counts of the device */
    double best_rate;                /* of a stretch in flight, bytes per second; 0 = none known */
};

struct copy_size {
    uint64_t count, bytes;
    int64_t total_ps;
};

/* A copy to the host, until a copy of the same size back. */
struct recent_copy {
    uint64_t bytes;
    int64_t end_ps;
    uint32_t step; /* TM_NONE = unused */
};

/* A stretch in which one copy or more of a direction is in flight. */
struct flight {
    int64_t start_ps, until_ps;
    uint64_t bytes;
};

/* One device of the current host. */
struct copy_lane {
    uint32_t number;          /* in the run */
    int64_t start_ps, end_ps; /* what counts of it */
    struct tm_sweep sweep;
    int64_t copies_until_ps;                     /* until when copies run */
    int64_t chosen_until_ps[TM_DIRECTION_COUNT]; /* the same of those in analyzed steps */
    struct flight flights[TM_DIRECTION_COUNT];   /* of copies of known size that count */
    struct copy_sum sums[TM_DIRECTION_COUNT];
    struct recent_copy recent[RECENT];
    uint32_t next_recent;
};

struct device_id {
    char id[192];
    uint32_t host; /* in the run */
};

/* The copies of one device and one direction. */
struct copy_pair {
    uint64_t number;    /* of the device */
    uint64_t direction; /* enum tm_direction */
    struct copy_sum sum;
};

struct large_copy {
    uint64_t bytes;
    int64_t start_ps, dur_ps;
    uint32_t number;    /* of the device */
    uint32_t direction; /* enum tm_direction */
};

/* Copies of one size and direction in one step. */
struct copy_repeat {
    struct tm_key key; /* high: direction in the 3 upper bits, bytes; low: host, step */
    uint64_t count;
    int64_t total_ps;
};

struct transfers {
    struct tm_run *run;
    const struct tm_trace *trace; /* of the current host */
    struct copy_lane *lanes;      /* of the current host, by the device's index; number TM_NONE = idle */
    uint32_t lane_count;
    struct tm_rows *ids;         /* struct device_id, by number */
    struct tm_rows *pairs;       /* struct copy_pair */
    struct tm_groups *repeats;   /* struct copy_repeat */
    struct tm_top_rows *largest; /* struct large_copy */
    struct copy_direction directions[TM_DIRECTION_COUNT];
    struct copy_size sizes[SIZE_ROWS];
    struct copy_sum pageable;
    struct copy_sum tpu_host[2];   /* to the device, from it */
    uint64_t copies_of_known_kind; /* the profile says whether they are pageable */
    uint64_t ping_pongs;
    uint64_t chosen_steps;
    bool has_accelerator, has_cpu;
};

/* Shares of the memory for the tables of this stage, in sixteenths; the lanes take what is left. */
enum { TRANSFERS_IDS = 2, TRANSFERS_PAIRS = 2, TRANSFERS_REPEATS = 4, TRANSFERS_TOP = 2 };

static inline size_t transfers_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_TRANSFERS, 16, (unsigned)parts);
}

/* Transfers in a partial.  Hosts and devices are renumbered by the reader. */

static const struct tm_row_field sum_fields[] = {
    TM_FIELD(struct copy_sum, count, COUNT, SUM),
    TM_FIELD(struct copy_sum, bytes, COUNT, SUM),
    TM_FIELD(struct copy_sum, unknown_count, COUNT, SUM),
    TM_FIELD(struct copy_sum, moved_bytes, COUNT, SUM),
    TM_FIELD(struct copy_sum, total_ps, TIME, SUM),
    TM_FIELD(struct copy_sum, moved_ps, TIME, SUM),
    TM_FIELDS_END,
};

static const struct tm_row_field direction_fields[] = {
    TM_FIELD_STRUCTS(struct copy_direction, inside, struct copy_sum, sum_fields),
    TM_FIELD_STRUCTS(struct copy_direction, outside, struct copy_sum, sum_fields),
    TM_FIELD(struct copy_direction, exposed_ps, TIME, SUM),
    TM_FIELD(struct copy_direction, outside_exposed_ps, TIME, SUM),
    TM_FIELD(struct copy_direction, best_rate, DOUBLE, MAX),
    TM_FIELDS_END,
};

static const struct tm_row_field size_fields[] = {
    TM_FIELD(struct copy_size, count, COUNT, SUM),
    TM_FIELD(struct copy_size, bytes, COUNT, SUM),
    TM_FIELD(struct copy_size, total_ps, TIME, SUM),
    TM_FIELDS_END,
};

static const struct tm_row_field run_fields[] = {
    TM_FIELD_STRUCTS(struct transfers, directions, struct copy_direction, direction_fields),
    TM_FIELD_STRUCTS(struct transfers, sizes, struct copy_size, size_fields),
    TM_FIELD_STRUCTS(struct transfers, pageable, struct copy_sum, sum_fields),
    TM_FIELD_STRUCTS(struct transfers, tpu_host, struct copy_sum, sum_fields),
    TM_FIELD(struct transfers, copies_of_known_kind, COUNT, SUM),
    TM_FIELD(struct transfers, ping_pongs, COUNT, SUM),
    TM_FIELD(struct transfers, chosen_steps, COUNT, SUM),
    TM_FIELD(struct transfers, has_accelerator, BOOL, ANY),
    TM_FIELD(struct transfers, has_cpu, BOOL, ANY),
    TM_FIELDS_END,
};

static const struct tm_row_field id_fields[] = {
    TM_FIELD_DEVICE_ID(struct device_id, id, host),
    TM_FIELDS_END,
};

static const struct tm_row_field pair_fields[] = {
    TM_FIELD(struct copy_pair, number, COUNT, KEEP),
    TM_FIELD_BELOW(struct copy_pair, direction, COUNT, KEEP, TM_DIRECTION_COUNT),
    TM_FIELD_STRUCTS(struct copy_pair, sum, struct copy_sum, sum_fields),
    TM_FIELDS_END,
};

static const struct tm_row_field repeat_fields[] = {
    TM_FIELD(struct copy_repeat, key, WORD, KEEP),
    TM_FIELD(struct copy_repeat, count, COUNT, KEEP), /* merge_repeats adds them */
    TM_FIELD(struct copy_repeat, total_ps, TIME, KEEP),
    TM_FIELDS_END,
};

static const struct tm_row_field large_fields[] = {
    TM_FIELD(struct large_copy, bytes, COUNT, KEEP),
    TM_FIELD(struct large_copy, start_ps, INSTANT, KEEP),
    TM_FIELD(struct large_copy, dur_ps, TIME, KEEP),
    TM_FIELD(struct large_copy, number, DEVICE, KEEP),
    TM_FIELD_BELOW(struct large_copy, direction, U32, KEEP, TM_DIRECTION_COUNT),
    TM_FIELDS_END,
};

/* --- saving --- */

static tm_status transfers_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct transfers *t = s->state;

    tm_fields_save(w, run_fields, t);
    tm_partial_put_u64(w, tm_rows_count(t->ids));
    tm_fields_save_rows(w, id_fields, t->ids, 0, tm_rows_count(t->ids));
    tm_partial_put_u64(w, tm_rows_count(t->pairs));
    tm_fields_save_rows(w, pair_fields, t->pairs, 0, tm_rows_count(t->pairs));
    tm_fields_save_groups(w, repeat_fields, t->repeats);
    tm_fields_save_top(w, large_fields, t->largest);
    return s->run->error.status;
}

/* --- loading --- */

static tm_status complete_pair(void *of, struct tm_partial_reader *r, void *row)
{
    const struct transfers *t = of;
    struct copy_pair *pair = row;
    const uint64_t first = tm_partial_first_device(r);

    if (pair->number >= tm_rows_count(t->ids) - first)
        return tm_partial_damaged(r, "a device that is not there");
    pair->number += first;
    return TM_OK;
}

static tm_status complete_repeat(void *of, struct tm_partial_reader *r, void *row)
{
    struct copy_repeat *repeat = row;

    (void)of;
    if (repeat->key.high >> 61 >= TM_DIRECTION_COUNT || repeat->key.low >> 32 >= tm_partial_host_count(r))
        return tm_partial_damaged(r, "a number is out of its range");
    repeat->key.low += (uint64_t)tm_partial_first_host(r) << 32;
    return TM_OK;
}

static tm_status transfers_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct transfers *t = s->state;
    const uint64_t first = tm_rows_count(t->ids);
    uint64_t devices;

    tm_fields_load_more(r, run_fields, t);
    devices = tm_partial_below_u64(r, TM_NONE - first);
    tm_partial_bind_devices(r, (uint32_t)first, (uint32_t)devices);
    tm_fields_load_rows(r, id_fields, t->ids, devices, NULL, NULL);
    tm_fields_load_rows(r, pair_fields, t->pairs, tm_partial_u64(r), complete_pair, t);
    tm_fields_load_groups(r, repeat_fields, t->repeats, complete_repeat, NULL);
    return tm_fields_load_top(r, large_fields, t->largest, LARGEST_ROWS);
}

/* Builds the section transfers from the sums. */

static const char no_size[] = "the profile does not record the size of these copies";

static const char not_timed[] = "the profile does not record how long they are in flight";

static const char none[] = "no copies in the analyzed steps";

static const char host_side[] = "host", elsewhere[] = "another device", somewhere[] = "unknown";

/* A repeated copy must occur in this percentage of the analyzed steps, and in at least 2 of them. */
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

static void add_direction(const struct transfers *t, enum tm_direction direction, struct tm_value *list)
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
    add_rate(to, "mean_bandwidth", sum->moved_ps > 0 ? (double)sum->moved_bytes * 1e12 / (double)sum->moved_ps : 0,
             sum);
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
static void add_pair(struct transfers *t, const struct copy_pair *pair, struct tm_value *list)
{
    const struct device_id *id = tm_rows_at(t->ids, pair->number);
    struct tm_value *to = tm_add_object(list, NULL);

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
}

static void add_pairs(struct transfers *t, uint64_t most, struct tm_value *transfers)
{
    struct tm_top_rows *top = tm_listed_rows_new(t->run, sizeof(struct copy_pair), most, longest_pair_first);
    struct tm_value *list = tm_add_array(transfers, "by_pair");

    if (!top)
        return;
    for (uint64_t i = 0; i < tm_rows_count(t->pairs); i++)
        tm_top_rows_add(top, tm_rows_at(t->pairs, i));
    tm_top_rows_sort(top);
    for (uint64_t i = 0; i < tm_top_rows_count(top); i++)
        add_pair(t, tm_top_rows_at(top, i), list);
    tm_top_rows_free(top);
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

static void add_largest(struct transfers *t, struct tm_value *transfers)
{
    struct tm_value *list = tm_add_array(transfers, "largest");

    tm_top_rows_sort(t->largest);
    for (uint64_t i = 0; i < tm_top_rows_count(t->largest); i++) {
        const struct large_copy *copy = tm_top_rows_at(t->largest, i);
        const struct device_id *id = tm_rows_at(t->ids, copy->number);
        struct tm_value *to = tm_add_object(list, NULL);

        tm_add_string(to, "device", id->id);
        tm_add_string(to, "direction", tm_direction_name[copy->direction]);
        tm_add_uint(to, "bytes", copy->bytes);
        tm_add_int(to, "begin_ps", copy->start_ps);
        tm_add_int(to, "dur_ps", copy->dur_ps);
    }
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

static void end_repeated(const struct transfers *t, struct tm_top_rows *top, const struct repeated *repeated)
{
    if (repeated->steps >= REPEATED_STEPS && repeated->steps >= (t->chosen_steps * REPEATED_PCT + 99) / 100)
        tm_top_rows_add(top, repeated);
}

/* The groups come in the order of direction, size, host and step, each step once. */
static void fold_repeats(struct transfers *t, struct tm_top_rows *top)
{
    struct repeated repeated = { .steps = 0 };

    tm_groups_finish(t->repeats);
    while (true) {
        const struct copy_repeat *const one = tm_groups_next(t->repeats);

        if (repeated.steps && (!one || one->key.high != repeated.key)) {
            end_repeated(t, top, &repeated);
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
}

static void add_repeated(struct transfers *t, uint64_t most, struct tm_value *transfers)
{
    struct tm_top_rows *top = tm_listed_rows_new(t->run, sizeof(struct repeated), most, longest_repeated_first);
    struct tm_value *list = tm_add_array(transfers, "repeated");

    if (!top)
        return;
    fold_repeats(t, top);
    tm_top_rows_sort(top);
    for (uint64_t i = 0; i < tm_top_rows_count(top); i++) {
        const struct repeated *row = tm_top_rows_at(top, i);
        struct tm_value *to = tm_add_object(list, NULL);

        tm_add_string(to, "direction", tm_direction_name[row->key >> 61]);
        tm_add_uint(to, "bytes", row->key & UINT64_MAX >> 3);
        tm_add_double(to, "per_step", (double)row->count / (double)t->chosen_steps);
        tm_add_uint(to, "count", row->count);
        tm_add_int(to, "total_ps", row->total_ps);
    }
    tm_top_rows_free(top);
}

/* --- the rest --- */

static void add_pageable(const struct transfers *t, uint64_t count, int64_t total_ps, struct tm_value *transfers)
{
    struct tm_value *to;

    if (count && !t->copies_of_known_kind) {
        tm_add_null(transfers, "pageable", "the profile does not record the kind of host memory");
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

static void add_section(struct transfers *t, uint64_t table_rows, struct tm_value *summary)
{
    struct tm_value *transfers = tm_add_object(summary, "transfers"), *list, *ping_pong;
    uint64_t count = 0;
    int64_t total_ps = 0;

    list = tm_add_array(transfers, "by_direction");
    for (int i = 0; i < TM_DIRECTION_COUNT; i++) {
        add_direction(t, (enum tm_direction)i, list);
        count += t->directions[i].inside.count;
        total_ps = tm_sum_times(total_ps, t->directions[i].inside.total_ps);
    }
    add_pairs(t, table_rows, transfers);
    add_sizes(t, transfers);
    add_pageable(t, count, total_ps, transfers);
    add_largest(t, transfers);
    add_repeated(t, table_rows, transfers);
    ping_pong = tm_add_object(transfers, "ping_pong");
    tm_add_uint(ping_pong, "count", t->ping_pongs);
    add_tpu_host(t, transfers);
}

static tm_status transfers_report(struct tm_stage *s, struct tm_value *summary)
{
    struct transfers *t = s->state;

    if (t->has_accelerator)
        add_section(t, s->settings->table_rows, summary);
    else
        tm_add_null(summary, "transfers",
                    t->has_cpu ? "the program ran on the CPU: nothing is copied to or from a device"
                               : "no device activity was recorded");
    return s->run->error.status;
}

/* --- opening --- */

static int largest_first(const void *a, const void *b)
{
    const struct large_copy *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->dur_ps != y->dur_ps)
        return x->dur_ps < y->dur_ps ? -1 : 1;
    return (x->direction > y->direction) - (x->direction < y->direction);
}

/* By hand instead of the field table: it runs for each copy. */
static void merge_repeats(void *into, const void *from)
{
    struct copy_repeat *a = into;
    const struct copy_repeat *b = from;

    a->count += b->count;
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
}

static tm_status open_stage(struct tm_stage *s)
{
    struct transfers *t = s->state;
    struct tm_run *run = s->run;

    t->run = run;
    t->ids = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct device_id), transfers_memory(run, TRANSFERS_IDS),
                               8 << 10);
    t->pairs = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct copy_pair),
                                 transfers_memory(run, TRANSFERS_PAIRS), 8 << 10);
    t->repeats = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct copy_repeat),
                               transfers_memory(run, TRANSFERS_REPEATS), merge_repeats);
    t->largest = tm_top_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct large_copy), LARGEST_ROWS,
                                 transfers_memory(run, TRANSFERS_TOP), largest_first);
    return t->ids && t->pairs && t->repeats && t->largest ? TM_OK : run->error.status;
}

/* --- a host starts --- */

static void give_lanes(struct transfers *t)
{
    tm_give(&t->run->budget, TM_ACCOUNT_TABLES, t->lanes, t->lane_count * sizeof(*t->lanes));
    t->lanes = NULL;
    t->lane_count = 0;
}

static void open_lane(struct transfers *t, const struct tm_device *device)
{
    struct copy_lane *lane = &t->lanes[device->index];
    struct device_id id;

    lane->number = (uint32_t)tm_rows_count(t->ids);
    lane->start_ps = device->chosen_begin_ps;
    lane->end_ps = device->chosen_end_ps;
    lane->copies_until_ps = INT64_MIN;
    for (int i = 0; i < TM_DIRECTION_COUNT; i++)
        lane->chosen_until_ps[i] = lane->flights[i].until_ps = INT64_MIN;
    for (int i = 0; i < RECENT; i++)
        lane->recent[i].step = TM_NONE;
    memcpy(id.id, device->id, sizeof(id.id));
    id.host = t->trace->host;
    if (device->kind == TM_DEVICE_CPU)
        t->has_cpu = true;
    else
        t->has_accelerator = true;
    tm_rows_append(t->ids, &id);
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct transfers *t = s->state;

    t->trace = trace;
    t->lanes = tm_take(&t->run->budget, TM_ACCOUNT_TABLES, trace->device_count * sizeof(*t->lanes), &t->run->error);
    if (!t->lanes)
        return t->run->error.status;
    t->lane_count = trace->device_count;
    for (uint32_t i = 0; i < t->lane_count; i++) {
        t->lanes[i].number = TM_NONE;
        if (trace->devices[i].activities && trace->devices[i].index == i)
            open_lane(t, &trace->devices[i]);
    }
    t->chosen_steps += trace->steps.chosen_end - trace->steps.chosen_begin;
    return s->run->error.status;
}

/* --- events --- */

/* On a TPU, the end of a flight may be recorded far too early: no copy of a device is faster than
 * its memory. */
static void end_flight(struct transfers *t, struct copy_lane *lane, uint32_t device, enum tm_direction which)
{
    struct flight *flight = &lane->flights[which];
    struct copy_direction *direction = &t->directions[which];
    const struct tm_device *of = &t->trace->devices[device];
    const double most = of->kind == TM_DEVICE_TPU ? (double)of->memory_bandwidth_bytes : 0;
    const int64_t dur_ps = flight->bytes ? flight->until_ps - flight->start_ps : 0;
    const double rate = dur_ps > 0 ? (double)flight->bytes * 1e12 / (double)dur_ps : 0;

    if (rate > direction->best_rate && (most <= 0 || rate <= most))
        direction->best_rate = rate;
    flight->bytes = 0;
}

/* Copies share the link: the time of several in flight at once counts once.  They come in the order
 * of their starts. */
static void add_flight(struct transfers *t, struct copy_lane *lane, enum tm_direction which,
                       const struct tm_event *event)
{
    struct copy_sum *sum = &t->directions[which].inside;
    struct flight *flight = &lane->flights[which];
    const int64_t start_ps = event->record.start_ps, end_ps = tm_sum_times(start_ps, event->record.dur_ps);

    if (start_ps >= flight->until_ps) {
        end_flight(t, lane, event->device, which);
        flight->start_ps = flight->until_ps = start_ps;
    }
    flight->bytes = tm_sum_counts(flight->bytes, event->config->copy_bytes);
    sum->moved_bytes = tm_sum_counts(sum->moved_bytes, event->config->copy_bytes);
    if (end_ps > flight->until_ps) {
        sum->moved_ps = tm_sum_times(sum->moved_ps, end_ps - flight->until_ps);
        flight->until_ps = end_ps;
    }
}

static void add_to_sum(struct copy_sum *sum, const struct tm_config *c, int64_t dur_ps)
{
    sum->total_ps = tm_sum_times(sum->total_ps, dur_ps);
    if (c->tpu_part == TM_TPU_START)
        return; /* counted where it is waited for */
    sum->count++;
    if (!c->has_copy_bytes)
        sum->unknown_count++;
    else
        sum->bytes = tm_sum_counts(sum->bytes, c->copy_bytes);
}

static void add_size(struct transfers *t, uint64_t bytes, int64_t dur_ps)
{
    struct copy_size *size = &t->sizes[bytes ? 63 - __builtin_clzll(bytes) : 0];

    size->count++;
    size->bytes = tm_sum_counts(size->bytes, bytes);
    size->total_ps = tm_sum_times(size->total_ps, dur_ps);
}

/* A copy back to the device, of the size of an earlier copy to the host in the same step. */
static void note_ping_pong(struct transfers *t, struct copy_lane *lane, const struct tm_event *event,
                           enum tm_direction which)
{
    const struct tm_record *r = &event->record;
    const uint64_t bytes = event->config->copy_bytes;

    if (event->step == TM_NONE)
        return;
    if (which == TM_D2H) {
        lane->recent[lane->next_recent] =
            (struct recent_copy){ bytes, tm_sum_times(r->start_ps, r->dur_ps), event->step };
        lane->next_recent = (lane->next_recent + 1) % RECENT;
        return;
    }
    for (int i = 0; i < RECENT && which == TM_H2D; i++) {
        struct recent_copy *recent = &lane->recent[i];

        if (recent->step == event->step && recent->bytes == bytes && recent->end_ps <= r->start_ps) {
            t->ping_pongs++;
            recent->step = TM_NONE;
            return;
        }
    }
}

/* A copy with known size and time in flight. */
static void note_large(struct transfers *t, struct copy_lane *lane, const struct tm_event *event,
                       enum tm_direction which)
{
    const struct large_copy large = { .bytes = event->config->copy_bytes,
                                      .start_ps = event->record.start_ps,
                                      .dur_ps = event->record.dur_ps,
                                      .number = lane->number,
                                      .direction = which };

    add_flight(t, lane, which, event);
    tm_top_rows_add(t->largest, &large);
}

/* Copies whose size is known. */
static void add_known(struct transfers *t, struct copy_lane *lane, const struct tm_event *event,
                      enum tm_direction which)
{
    const uint64_t bytes = event->config->copy_bytes, bytes_most = UINT64_MAX >> 3;
    const int64_t dur_ps = event->record.dur_ps;
    const struct copy_repeat repeat = {
        .key = { (uint64_t)which << 61 | (bytes < bytes_most ? bytes : bytes_most),
                 (uint64_t)t->trace->host << 32 | event->step },
        .count = 1,
        .total_ps = dur_ps,
    };

    add_size(t, bytes, dur_ps);
    note_ping_pong(t, lane, event, which);
    if (event->config->tpu_part == TM_TPU_PLAIN)
        note_large(t, lane, event, which);
    if (event->step != TM_NONE)
        tm_groups_add(t->repeats, &repeat);
}

static bool is_copy_level(unsigned level)
{
    return level >= TM_LEVEL_H2D && level <= TM_LEVEL_OTHER_COPY;
}

static_assert(TM_LEVEL_OTHER_COPY - TM_LEVEL_H2D == TM_OTHER_DIRECTION - TM_H2D,
              "levels of copies are in the order of directions");

static enum tm_direction direction_of(enum tm_level copy_level)
{
    return (enum tm_direction)(copy_level - TM_LEVEL_H2D + TM_H2D);
}

/* A copy, also one that works for a collective; on a TPU a copy op, the start of one, or the wait
 * for one that was started before. out: its direction */
static bool is_copy(const struct tm_event *event, enum tm_direction *direction)
{
    *direction = event->direction < TM_DIRECTION_COUNT ? (enum tm_direction)event->direction : TM_OTHER_DIRECTION;
    switch (event->record.class) {
    case TM_CLASS_COPY:
        return true;
    case TM_CLASS_COLLECTIVE:
        return event->config->has_copy;
    case TM_CLASS_TPU_OP:
        if (!is_copy_level(event->level))
            return false;
        *direction = direction_of((enum tm_level)event->level);
        return true;
    default:
        return false;
    }
}

TM_NOT_INLINE void take_copy(struct transfers *t, struct copy_lane *lane, const struct tm_event *event,
                             enum tm_direction which)
{
    const struct tm_config *c = event->config;
    struct copy_direction *direction = &t->directions[which];

    if (!event->chosen) {
        add_to_sum(&direction->outside, c, event->record.dur_ps);
        return;
    }
    add_to_sum(&direction->inside, c, event->record.dur_ps);
    add_to_sum(&lane->sums[which], c, event->record.dur_ps);
    if (c->pageable)
        add_to_sum(&t->pageable, c, event->record.dur_ps);
    t->copies_of_known_kind += c->pageable || (c->has_copy && c->direction != TM_OTHER_DIRECTION);
    if (c->has_copy_bytes && c->tpu_part != TM_TPU_START)
        add_known(t, lane, event, which);
}

struct told {
    struct transfers *t;
    const struct copy_lane *lane;
};

/* The part of a stretch in which a copy of an analyzed step runs is of these; of several that run at
 * once one is enough. */
static void add_exposed(struct told *told, enum tm_direction which, int64_t from_ps, int64_t to_ps)
{
    struct copy_direction *direction = &told->t->directions[which];
    const int64_t until_ps = told->lane->chosen_until_ps[which];
    const int64_t border_ps = until_ps < from_ps ? from_ps : until_ps < to_ps ? until_ps : to_ps;

    direction->exposed_ps = tm_sum_times(direction->exposed_ps, border_ps - from_ps);
    direction->outside_exposed_ps = tm_sum_times(direction->outside_exposed_ps, to_ps - border_ps);
}

static tm_status take_stretch(void *to, enum tm_level level, int64_t start_ps, int64_t end_ps)
{
    struct told *told = to;
    const int64_t from_ps = start_ps > told->lane->start_ps ? start_ps : told->lane->start_ps;
    const int64_t to_ps = end_ps < told->lane->end_ps ? end_ps : told->lane->end_ps;

    if (is_copy_level(level) && from_ps < to_ps)
        add_exposed(told, direction_of(level), from_ps, to_ps);
    return TM_OK;
}

TM_NOT_INLINE void sweep_copies_to(struct transfers *t, struct copy_lane *lane, int64_t to_ps)
{
    struct told told = { t, lane };

    tm_sweep_to(&lane->sweep, to_ps, take_stretch, &told); /* which never fails */
}

static void sweep_to(struct transfers *t, struct copy_lane *lane, int64_t to_ps)
{
    if (lane->copies_until_ps > lane->sweep.at_ps)
        sweep_copies_to(t, lane, to_ps);
    else
        tm_sweep_pass(&lane->sweep, to_ps); /* nothing that take_stretch needs */
}

static void add_activity(struct copy_lane *lane, const struct tm_event *event)
{
    const int64_t end_ps = event->record.start_ps + event->record.dur_ps;

    tm_sweep_add(&lane->sweep, (enum tm_level)event->level, event->record.start_ps, end_ps);
    if (!is_copy_level(event->level))
        return;
    if (end_ps > lane->copies_until_ps)
        lane->copies_until_ps = end_ps;
    if (event->chosen) {
        int64_t *until_ps = &lane->chosen_until_ps[direction_of((enum tm_level)event->level)];

        *until_ps = end_ps > *until_ps ? end_ps : *until_ps;
    }
}

/* TPU: the host records its transfers without device time.  The entire profile counts, because such events belong to no
 * step. */
TM_NOT_INLINE void take_tpu_host(struct transfers *t, const struct tm_event *event)
{
    struct copy_sum *sum = &t->tpu_host[tm_direction_of(event->traits) == TM_D2H ? 1 : 0];
    struct tm_number number = { .value = -1 };

    if (event->args && event->record.args_length == sizeof(number))
        memcpy(&number, event->args, sizeof(number));
    sum->count++;
    if (number.value >= 0)
        sum->bytes = tm_sum_counts(sum->bytes, (uint64_t)number.value);
    else
        sum->unknown_count++;
}

/* TPU: how long a copy is in flight, beside the ops that start it and wait for it.  Such stretches do not belong to a
 * step: those that start during the analyzed steps count. */
TM_NOT_INLINE void take_flight(struct transfers *t, struct copy_lane *lane, const struct tm_event *event)
{
    const struct tm_record *r = &event->record;
    const struct tm_config *c = event->config;
    enum tm_direction which;

    if (!is_copy_level(c->level) || !c->has_copy_bytes || r->start_ps < lane->start_ps || r->start_ps >= lane->end_ps)
        return;
    which = direction_of((enum tm_level)c->level);
    note_large(t, lane, event, which);
}

static bool is_on_tpu_host(const struct tm_event *event)
{
    return event->traits & TM_TRAIT_TPU_TRANSFER && event->device == TM_NONE;
}

static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    const struct transfers *t = s->state;
    enum tm_direction direction;

    if (is_on_tpu_host(event))
        return true;
    if (event->device >= t->lane_count || t->lanes[event->device].number == TM_NONE)
        return false;
    return event->record.class == TM_CLASS_TPU_ASYNC || event->level != TM_LEVEL_NONE || is_copy(event, &direction);
}

static inline void take_of_device(struct transfers *t, struct copy_lane *lane, const struct tm_event *event)
{
    enum tm_direction direction;

    if (event->record.class == TM_CLASS_TPU_ASYNC) {
        take_flight(t, lane, event);
        return;
    }
    if (event->level != TM_LEVEL_NONE) {
        sweep_to(t, lane, event->record.start_ps);
        add_activity(lane, event);
    }
    if (is_copy(event, &direction))
        take_copy(t, lane, event, direction);
}

/* A kernel while no copy runs, as nearly all activities: it only moves the sweep on, which takes half of the
 * instructions of take_of_device. */
static inline bool is_plain(const struct copy_lane *lane, const struct tm_event *event)
{
    return event->record.class == TM_CLASS_KERNEL && event->level == TM_LEVEL_COMPUTE && lane->sweep.has_begun &&
           lane->copies_until_ps <= lane->sweep.at_ps;
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    struct transfers *t = s->state;

    struct copy_lane *const lane = events->device != TM_NONE ? &t->lanes[events->device] : NULL;

    for (size_t i = 0; i < count; i++) {
        if (!tm_wants(s, &events[i]))
            continue;
        if (!lane) {
            take_tpu_host(t, &events[i]);
        } else if (is_plain(lane, &events[i])) {
            const struct tm_record *const r = &events[i].record;

            tm_sweep_pass(&lane->sweep, r->start_ps);
            tm_sweep_add(&lane->sweep, TM_LEVEL_COMPUTE, r->start_ps, r->start_ps + r->dur_ps);
        } else {
            take_of_device(t, lane, &events[i]);
        }
    }
}

/* --- a host ends --- */

static tm_status end_host(struct tm_stage *s)
{
    struct transfers *t = s->state;

    for (uint32_t i = 0; i < t->lane_count; i++) {
        struct copy_lane *lane = &t->lanes[i];

        if (lane->number == TM_NONE)
            continue;
        sweep_to(t, lane, tm_sweep_busy_until(&lane->sweep));
        for (unsigned k = 0; k < TM_DIRECTION_COUNT; k++)
            end_flight(t, lane, i, (enum tm_direction)k);
        for (unsigned k = 0; k < TM_DIRECTION_COUNT; k++) {
            const struct copy_pair pair = { lane->number, k, lane->sums[k] };

            if (pair.sum.count)
                tm_rows_append(t->pairs, &pair);
        }
    }
    give_lanes(t);
    t->trace = NULL;
    return s->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    struct transfers *t = s->state;

    if (!t->run)
        return;
    give_lanes(t);
    tm_rows_free(t->ids);
    tm_rows_free(t->pairs);
    tm_groups_free(t->repeats);
    tm_top_rows_free(t->largest);
}

const struct tm_stage_type tm_transfers_stage = {
    .name = "transfers",
    .summary = "copies by direction, size and device",
    .state_bytes = sizeof(struct transfers),
    .classes = TM_CLASSES_ALL,
    .open = open_stage,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .end_host = end_host,
    .report = transfers_report,
    .save = transfers_save,
    .load = transfers_load,
    .close = close_stage,
};
