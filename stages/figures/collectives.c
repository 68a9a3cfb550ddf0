/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives, the stage: groups them by kind, message size, data type, and group size, and records when each one
 * starts on each device and where it is exposed; the waits are determined after all hosts are read.  It covers what the
 * devices count as collectives.  Memory: a table of fixed size caches results by name and configuration; a fixed amount
 * per device for running activities; groups, starts, and periods spill. */
#include "stages/figures/figure_stages.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/skew.h"
#include "stages/resolve/classes.h"

/* Exposed time by what the device does in it: it waits until the last device arrives, then data moves.  Without a
 * counterpart, the two cannot be separated.  source: docs/metrics.md, "Waiting and moving" */
struct exposed_parts {
    int64_t wait_ps, move_ps, unmatched_ps;
    uint64_t matched; /* collectives with known counterparts, exposed or not */
};

/* Collectives of one kind with messages of one size, type and group. */
struct collective_row {
    struct tm_key key; /* of all that is not summed */
    uint64_t count;
    int64_t total_ps;
    struct exposed_parts exposed; /* only in the report */
    uint64_t plain_count, flight_count, moved_count;
    int64_t plain_ps, flight_ps; /* plain: that are one event; flight: of a TPU's asynchronous ones */
    int64_t moved_ps;            /* of plain ones that were matched, from the last start on; only in the report */
    uint64_t message_bytes;      /* 0 = not recorded */
    uint32_t group_size;         /* 0 = not recorded */
    tm_strid data_type;
    uint8_t kind;  /* enum tm_collective_kind */
    uint8_t reach; /* enum tm_collective_reach */
    bool is_told;  /* the source of the key is in this row; else it is in another row of the same key */
};

/* A lookup that many events share: a name and a configuration of the current host. */
struct collective_front {
    struct collective_row row; /* of one event, except for its length */
    uint64_t start;            /* hash of the op that starts an asynchronous one, of it and of its wait; 0 =
                       neither */
    tm_strid name;
    uint32_t config;
    bool is_used;
};

/* Time in which a collective of a device runs and nothing computes. */
struct stretch {
    struct tm_key row; /* of struct collective_row */
    uint64_t serial;   /* of the collective on its device; a wait has that of what it waits for */
    int64_t start_ps, end_ps;
    uint32_t member;
    uint32_t is_chosen;
};

/* A collective that runs on a device, and until when. */
struct exposed {
    struct stretch stretch; /* without times */
    int64_t end_ps;
    bool is_there;
};

/* Asynchronous collectives that started: their ops' names, and which ones they are. */
enum { STARTS_KEPT = 16 };

struct start {
    uint64_t name, serial;
};

/* The exposed time of a device. */
struct exposure {
    int64_t start_ps, end_ps; /* what counts of the device */
    int64_t at_ps;            /* everything before is shared out */
    int64_t computes_until_ps;
    struct exposed owner, next; /* next: of those that end after the owner the one with the latest end */
    struct stretch open;        /* not complete yet, it may continue; nothing where it has no duration */
    uint64_t serials;           /* of the device's collectives, from 1 */
    struct start starts[STARTS_KEPT];
    uint32_t next_start;
};

struct collectives {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the current host */
    struct tm_names *names;
    struct tm_groups *groups;    /* struct collective_row */
    struct tm_sorter *stretches; /* struct stretch, in the order (member, serial, begin) */
    struct collective_front *front;
    struct exposure *exposures; /* of the current host, by device */
    uint32_t exposure_count;
    struct skew skew;
    uint64_t count, bytes, sized_count; /* bytes: of the sized ones, whose messages' sizes are known */
    int64_t total_ps;
    bool has_device;
};

enum { COLLECTIVES_FRONT = 128 }; /* a power of two: a program has few of them */

/* Shares of the memory for the tables of collectives, in 32nds; what is left is for the fronts and for struct skew.
 * The last one is needed for the report only. */
enum { COLLECTIVES_GROUPS = 5, COLLECTIVES_STRETCHES = 4, COLLECTIVES_SUMS = 4 };

/* Totals of the exposed time of all collectives. */
struct exposed_sums {
    struct tm_groups *rows;        /* struct collective_row: those of the stage with what is known only now */
    struct exposed_parts *members; /* by member */
    struct exposed_parts total;    /* of the devices: members added up */
    struct exposed_parts chosen;   /* of the collectives that count: rows added up */
};

static inline int64_t exposed_of(const struct exposed_parts *parts)
{
    return tm_sum_times(tm_sum_times(parts->wait_ps, parts->move_ps), parts->unmatched_ps);
}

static inline void add_exposed_parts(struct exposed_parts *to, const struct exposed_parts *more)
{
    to->wait_ps = tm_sum_times(to->wait_ps, more->wait_ps);
    to->move_ps = tm_sum_times(to->move_ps, more->move_ps);
    to->unmatched_ps = tm_sum_times(to->unmatched_ps, more->unmatched_ps);
    to->matched = tm_sum_counts(to->matched, more->matched);
}

/* Collectives in a partial: the sums and all groups, in the order of their keys, what devices are
 * compared by, and all stretches in which collectives are exposed. */

#define ROW(member, kind, merge) TM_FIELD(struct collective_row, member, kind, merge)

/* Values that are not summed come from the first row that has them; merge_collective_rows adds up the rest. */
static const struct tm_row_field row_fields[] = {
    ROW(key, WORD, KEEP),
    ROW(count, COUNT, KEEP),
    ROW(total_ps, TIME, KEEP),
    ROW(plain_count, COUNT, KEEP),
    ROW(plain_ps, TIME, KEEP),
    ROW(flight_count, COUNT, KEEP),
    ROW(flight_ps, TIME, KEEP),
    TM_FIELD_LOCAL(struct collective_row, is_told, BOOL, FIRST),
    ROW(message_bytes, COUNT, FIRST),
    ROW(group_size, U32, FIRST),
    ROW(data_type, NAME, FIRST),
    TM_FIELD_BELOW(struct collective_row, kind, U8, FIRST, TM_COLLECTIVE_KIND_COUNT),
    TM_FIELD_BELOW(struct collective_row, reach, U8, FIRST, TM_REACH_COUNT),
    TM_FIELDS_END,
};

static const struct tm_row_field stage_fields[] = {
    TM_FIELD(struct collectives, count, COUNT, SUM),     TM_FIELD(struct collectives, sized_count, COUNT, SUM),
    TM_FIELD(struct collectives, bytes, COUNT, SUM),     TM_FIELD(struct collectives, total_ps, TIME, SUM),
    TM_FIELD(struct collectives, has_device, BOOL, ANY), TM_FIELDS_END,
};

/* It runs for each event: with the field table, the stage would take a fifth more instructions. */
static void merge_collective_rows(void *into, const void *from)
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
    if (!a->is_told && b->is_told)
        tm_fields_take_first(row_fields, a, b);
}

/* --- saving --- */

static tm_status collectives_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct collectives *c = s->state;
    const struct stretch *stretch;

    tm_fields_save(w, stage_fields, c);
    tm_fields_save_groups(w, row_fields, c->groups);
    tm_skew_save(&c->skew, w);
    tm_sorter_finish(c->stretches);
    tm_partial_put_u64(w, tm_sorter_count(c->stretches));
    while ((stretch = tm_sorter_next(c->stretches))) {
        tm_partial_put_words(w, &stretch->row, 2);
        tm_partial_put_u64(w, stretch->serial);
        tm_partial_put_i64(w, stretch->start_ps);
        tm_partial_put_i64(w, stretch->end_ps - stretch->start_ps);
        tm_partial_put_u32(w, stretch->member);
        tm_partial_put_u8(w, stretch->is_chosen);
    }
    return s->run->error.status;
}

/* --- loading --- */

static tm_status complete_row(void *of, struct tm_partial_reader *r, void *row)
{
    (void)of;
    (void)r;
    ((struct collective_row *)row)->is_told = true;
    return TM_OK;
}

static void load_stretches(struct collectives *c, struct tm_partial_reader *r)
{
    const uint64_t count = tm_partial_u64(r);

    for (uint64_t i = 0; i < count && !tm_failed(c->run); i++) {
        struct stretch stretch = { .serial = 0 };
        int64_t dur_ps;

        tm_partial_words(r, &stretch.row, 2);
        stretch.serial = tm_partial_u64(r);
        stretch.start_ps = tm_partial_i64(r);
        dur_ps = tm_partial_time(r);
        stretch.member = tm_partial_run_device(r);
        stretch.is_chosen = tm_partial_bool(r);
        if (tm_partial_is_ok(r) && !tm_time_fits(stretch.start_ps, dur_ps))
            (void)tm_partial_damaged(r, "a time is out of its range");
        if (!tm_partial_is_ok(r))
            break;
        stretch.end_ps = stretch.start_ps + dur_ps;
        tm_sorter_push(c->stretches, &stretch);
    }
}

static tm_status collectives_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct collectives *c = s->state;

    c->names = tm_partial_names(r);
    tm_fields_load_more(r, stage_fields, c);
    if (tm_partial_is_ok(r) && c->sized_count > c->count)
        return tm_partial_damaged(r, "a number is out of its range");
    tm_fields_load_groups(r, row_fields, c->groups, complete_row, NULL);
    tm_skew_load(&c->skew, r);
    load_stretches(c, r);
    return s->run->error.status;
}

/* Exposed time of collectives, split at the arrival of the last device: until then the device waits, then data moves.
 * Stretches and matched collectives are read in lockstep, in the order of devices and their collectives. Memory: fixed
 * per device; rows spill. */

struct splitting {
    struct collectives *c;
    struct tm_sorter *matched; /* NULL = nothing is */
    struct exposed_sums *sums;
    struct matched at; /* the next one, of a device and a collective not before the current stretch */
    bool has_at;
};

/* The data of a matched collective besides its exposed time. */
static void count_matched(struct splitting *s)
{
    const struct matched *m = &s->at;
    struct collective_row row = { .key = m->row, .exposed = { .matched = 1 } };

    s->sums->members[m->member].matched++;
    s->sums->total.matched++;
    if (!m->is_chosen)
        return;
    s->sums->chosen.matched++;
    if (!m->is_start) {
        row.moved_count = 1;
        row.moved_ps = m->end_ps > m->last_ps ? m->end_ps - m->last_ps : 0;
    }
    tm_groups_add(s->sums->rows, &row);
}

static void next_matched(struct splitting *s)
{
    const struct matched *row = s->matched ? tm_sorter_next(s->matched) : NULL;

    s->has_at = row != NULL;
    if (!row)
        return;
    s->at = *row;
    count_matched(s);
}

static bool is_before(const struct matched *m, const struct stretch *stretch)
{
    return m->member != stretch->member ? m->member < stretch->member : m->serial < stretch->serial;
}

static void add_stretch(struct splitting *s, const struct stretch *stretch)
{
    const int64_t exposed_ps = stretch->end_ps - stretch->start_ps;
    struct collective_row row = { .key = stretch->row };
    struct exposed_parts *parts = &row.exposed;

    if (s->has_at && s->at.member == stretch->member && s->at.serial == stretch->serial) {
        const int64_t last_ps = s->at.last_ps < stretch->end_ps ? s->at.last_ps : stretch->end_ps;

        parts->wait_ps = last_ps > stretch->start_ps ? last_ps - stretch->start_ps : 0;
        parts->move_ps = exposed_ps - parts->wait_ps;
    } else {
        parts->unmatched_ps = exposed_ps;
    }
    add_exposed_parts(&s->sums->members[stretch->member], parts);
    add_exposed_parts(&s->sums->total, parts);
    if (!stretch->is_chosen)
        return;
    add_exposed_parts(&s->sums->chosen, parts);
    tm_groups_add(s->sums->rows, &row);
}

static void split(struct splitting *s)
{
    struct collectives *c = s->c;
    const struct stretch *stretch;
    const void *row;

    tm_groups_finish(c->groups);
    while ((row = tm_groups_next(c->groups)))
        tm_groups_add(s->sums->rows, row);
    tm_sorter_finish(c->stretches);
    next_matched(s);
    while ((stretch = tm_sorter_next(c->stretches))) {
        while (s->has_at && is_before(&s->at, stretch))
            next_matched(s);
        add_stretch(s, stretch);
    }
    while (s->has_at)
        next_matched(s);
}

/* Split the exposed time of all devices.
 * in:     matched  struct matched in the order (member, serial); NULL = nothing is matched
 * owns:   the caller owns what is in *sums, also after a failure: free_exposed_sums */
static void split_exposed(struct collectives *c, struct tm_sorter *matched, struct exposed_sums *sums)
{
    struct tm_run *run = c->run;
    struct splitting s = { .c = c, .matched = matched, .sums = sums };
    const uint32_t members = c->skew.members.count;

    *sums = (struct exposed_sums){ .rows = NULL };
    sums->rows = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct collective_row),
                               collectives_memory(run, COLLECTIVES_SUMS), merge_collective_rows);
    sums->members = tm_take(&run->budget, TM_ACCOUNT_MODEL, members * sizeof(*sums->members), &run->error);
    if (sums->rows && sums->members)
        split(&s);
}

static void free_exposed_sums(struct collectives *c, struct exposed_sums *sums)
{
    const uint32_t members = c->skew.members.count;

    tm_groups_free(sums->rows);
    tm_give(&c->run->budget, TM_ACCOUNT_MODEL, sums->members, sums->members ? members * sizeof(*sums->members) : 0);
}

/* Builds the section collectives from the groups. */

static const char not_recorded[] = "the profile does not record the data of its collectives";

static const char no_counterpart[] = "none of these collectives has a counterpart on another device";

static const char not_timed[] = "the profile does not record how long they are in flight";

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

/* Messages and the time in which they move, without the devices' waits if these are known. */
struct movement {
    const char *over;
    uint64_t count;
    int64_t ps;
};

static struct movement movement_of(const struct collective_row *row)
{
    if (row->flight_count) /* asynchronous ones, and the others as well */
        return (struct movement){ "flight", tm_sum_counts(row->flight_count, row->plain_count),
                                  tm_sum_times(row->flight_ps, row->plain_ps) };
    if (row->moved_count)
        return (struct movement){ "moving", row->moved_count, row->moved_ps };
    return (struct movement){ "duration", row->plain_count, row->plain_ps };
}

static void add_bandwidths(const struct collective_row *row, struct tm_value *to)
{
    const struct movement movement = movement_of(row);
    const double bytes = (double)movement.count * (double)row->message_bytes, factor = bus_factor(row);
    const char *why = !row->message_bytes ? not_recorded : movement.count && movement.ps ? NULL : not_timed;
    const char *no_factor = row->kind == TM_OTHER_COLLECTIVE ? "unknown for this kind of collective"
                                                             : "the profile does not record the size of the group";
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

/* Its parts add up to the exposed time; if that is 0, both are 0. */
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

static void add_exposed(struct tm_value *to, const struct exposed_parts *parts, int64_t total_ps, const char *why)
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

/* State of the report. */
struct reporting {
    struct collectives *c;
    struct exposed_sums exposed;
    const char *why; /* nothing is matched; NULL = something is */
};

static void add_row(const struct reporting *r, const struct collective_row *row, struct tm_value *list)
{
    struct collectives *c = r->c;
    struct tm_value *to = tm_add_object(list, NULL);

    tm_add_string(to, "kind", tm_collective_kind_name[row->kind]);
    add_number(to, "message_bytes", row->message_bytes);
    tm_add_uint(to, "count", row->count);
    tm_add_int(to, "total_ps", row->total_ps);
    if (row->count)
        tm_add_int(to, "mean_ps", mean_of(row));
    else
        tm_add_null(to, "mean_ps", row->total_ps ? "started, but not waited for" : "none in the analyzed steps");
    add_number(to, "bytes", bytes_of(row));
    add_number(to, "group_size", row->group_size);
    if (row->reach == TM_REACH_UNKNOWN)
        tm_add_null(to, "reach", "the profile does not record which devices are in one node");
    else
        tm_add_string(to, "reach", row->reach == TM_REACH_NODE ? "node" : "nodes");
    if (row->data_type)
        tm_add_string(to, "data_type", tm_names_text(c->names, row->data_type, 0, NULL));
    else
        tm_add_null(to, "data_type", not_recorded);
    add_exposed(to, &row->exposed, row->total_ps, r->why ? r->why : no_counterpart);
    add_bandwidths(row, to);
}

/* Put the rows that take longest in order.  out: how many rows there are */
static uint64_t choose_rows(struct reporting *r, struct tm_top_rows *top)
{
    const void *row;
    uint64_t distinct = 0;

    tm_groups_finish(r->exposed.rows);
    for (; (row = tm_groups_next(r->exposed.rows)); distinct++)
        tm_top_rows_add(top, row);
    tm_top_rows_sort(top);
    return distinct;
}

static void add_rows(struct reporting *r, struct tm_value *section)
{
    struct collectives *c = r->c;
    struct tm_top_rows *top =
        tm_listed_rows_new(c->run, sizeof(struct collective_row), c->settings->table_rows, longest_first);
    struct tm_value *list = tm_add_array(section, "rows"), *rest;
    struct exposed_parts left = r->exposed.chosen;
    uint64_t distinct, listed = 0;
    int64_t listed_ps = 0;

    if (!top)
        return;
    distinct = choose_rows(r, top);
    for (uint64_t i = 0; i < tm_top_rows_count(top) && !tm_failed(c->run); i++) {
        const struct collective_row *row = tm_top_rows_at(top, i);

        listed = tm_sum_counts(listed, row->count);
        listed_ps = tm_sum_times(listed_ps, row->total_ps);
        left.wait_ps -= row->exposed.wait_ps;
        left.move_ps -= row->exposed.move_ps;
        left.unmatched_ps -= row->exposed.unmatched_ps;
        left.matched -= row->exposed.matched;
        add_row(r, row, list);
    }
    rest = tm_add_object(section, "rest");
    tm_add_uint(rest, "rows", distinct - tm_top_rows_count(top));
    tm_add_uint(rest, "count", c->count > listed ? c->count - listed : 0);
    tm_add_int(rest, "total_ps", c->total_ps > listed_ps ? c->total_ps - listed_ps : 0);
    tm_add_int(rest, "exposed_ps", exposed_of(&left));
    add_split(rest, &left, r->why ? r->why : no_counterpart);
    tm_top_rows_free(top);
}

/* The time that collectives of other steps take in the window: with the rows, it adds up to the devices' totals. */
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

/* Adds the split of exposed collectives to what the stage device-time wrote for each device and for the total. */
static void add_to_devices(const struct reporting *r, struct tm_value *summary)
{
    const struct tm_members *members = &r->c->skew.members;
    struct tm_value *devices = tm_member(summary, "devices"), *total = tm_member(summary, "total");
    const char *why = r->why ? r->why : no_counterpart;
    uint32_t at = 0;

    for (size_t i = 0; i < tm_length(devices) && members->count; i++) {
        struct tm_value *device = tm_element(devices, i);
        const char *id = tm_text(tm_get(device, "id"));

        for (uint32_t tries = 0; tries < members->count && strcmp(members->rows[at].device, id) != 0; tries++)
            at = (at + 1) % members->count;
        if (strcmp(members->rows[at].device, id) == 0)
            add_split_of(device, &r->exposed.members[at], why);
    }
    if (tm_type_of(total) == TM_OBJECT)
        add_split_of(total, &r->exposed.total, why);
}

static struct tm_value *add_section(struct reporting *r, struct tm_value *summary)
{
    struct collectives *c = r->c;
    struct tm_value *section = tm_add_object(summary, "collectives"), *total = tm_add_object(section, "total");

    tm_add_uint(total, "count", c->count);
    tm_add_int(total, "total_ps", c->total_ps);
    if (c->sized_count || !c->count)
        tm_add_uint(total, "bytes", c->bytes);
    else
        tm_add_null(total, "bytes", not_recorded);
    tm_add_uint(total, "unknown_bytes_count", c->count - c->sized_count);
    add_exposed(total, &r->exposed.chosen, c->total_ps, r->why ? r->why : no_counterpart);
    add_outside(r, section);
    add_to_devices(r, summary);
    add_rows(r, section);
    return section;
}

/* Why nothing can be compared; NULL = it can. */
static const char *why_no_skew(const struct skew *k)
{
    uint32_t devices = 0;

    for (uint32_t i = 0; i < k->members.count; i++)
        devices += k->presences[i].count != 0;
    if (!devices)
        return "no collectives in the analyzed steps";
    return devices == 1 ? "one device ran collectives" : NULL;
}

/* Matching comes first: without it, the waits of the devices are unknown. */
static void report_all(struct reporting *r, struct tm_value *summary)
{
    struct skew *k = &r->c->skew;
    const char *why = why_no_skew(k);
    struct skew_sums sums = { .members = NULL };
    struct matches m = { .joined = NULL };

    if (!why) {
        tm_skew_match_arrivals(k, &m);
        tm_skew_add_up(k, &m, &sums);
    }
    if (!tm_failed(k->run))
        split_exposed(r->c, sums.rows, &r->exposed);
    if (!tm_failed(k->run)) {
        struct tm_value *section;

        r->why = r->exposed.total.matched ? NULL : why ? why : tm_skew_why_not_matched(k, &sums);
        section = add_section(r, summary);
        if (why)
            tm_add_null(section, "skew", why);
        else
            tm_skew_report(k, &m, &sums, tm_path(summary, "input.hosts"), section);
    }
    if (!why) {
        tm_skew_free_sums(k, &sums);
        tm_skew_free_matches(&m);
    }
    free_exposed_sums(r->c, &r->exposed);
}

static tm_status collectives_report(struct tm_stage *s, struct tm_value *summary)
{
    struct collectives *c = s->state;
    struct reporting r = { .c = c };

    if (c->has_device)
        report_all(&r, summary);
    else
        tm_add_null(summary, "collectives", "no device activity was recorded");
    return s->run->error.status;
}

/* Assigns the time in which collectives run without compute to one of a device's collectives: the one that started
 * first keeps the time until it ends, then the one with the latest end takes over.  This needs a state of fixed size,
 * because every other running collective ends before that one does; and the times of the collectives add up to the
 * device's exposed_collective_ps.  The position of these times within a collective is kept, because the arrival of the
 * last device is not known yet. source: docs/metrics.md, "Collectives" */

static void init_exposure(struct exposure *e, int64_t start_ps, int64_t end_ps)
{
    *e =
        (struct exposure){ .start_ps = start_ps, .end_ps = end_ps, .at_ps = INT64_MIN, .computes_until_ps = INT64_MIN };
}

TM_NOT_INLINE void tell(struct exposure *e, struct tm_sorter *stretches)
{
    const struct stretch stretch = e->open;

    e->open.start_ps = e->open.end_ps;
    if (stretch.end_ps > stretch.start_ps)
        tm_sorter_push(stretches, &stretch);
}

/* The owner runs in [at, until). */
static void add_exposed_stretch(struct exposure *e, int64_t until_ps, struct tm_sorter *stretches)
{
    int64_t from_ps = e->at_ps > e->computes_until_ps ? e->at_ps : e->computes_until_ps;

    from_ps = from_ps > e->start_ps ? from_ps : e->start_ps;
    until_ps = until_ps < e->end_ps ? until_ps : e->end_ps;
    if (until_ps <= from_ps)
        return;
    if (e->open.end_ps > e->open.start_ps && e->open.end_ps == from_ps && e->open.serial == e->owner.stretch.serial &&
        e->open.is_chosen == e->owner.stretch.is_chosen && tm_is_same_key(e->open.row, e->owner.stretch.row)) {
        e->open.end_ps = until_ps;
        return;
    }
    tell(e, stretches);
    e->open = e->owner.stretch;
    e->open.start_ps = from_ps;
    e->open.end_ps = until_ps;
}

TM_NOT_INLINE void expose_owner_to(struct exposure *e, int64_t to_ps, struct tm_sorter *stretches)
{
    while (e->owner.is_there && e->at_ps < to_ps) {
        const int64_t end_ps = e->owner.end_ps, until_ps = end_ps < to_ps ? end_ps : to_ps;

        add_exposed_stretch(e, until_ps, stretches);
        e->at_ps = until_ps;
        if (end_ps > to_ps)
            break;
        e->owner = e->next;
        e->next.is_there = false;
    }
}

/* Advance it to a time: the start of the next activity, or INT64_MAX at the end.  Stretches that end until then are
 * reported. */
static void expose_to(struct exposure *e, int64_t to_ps, struct tm_sorter *stretches)
{
    if (e->owner.is_there)
        expose_owner_to(e, to_ps, stretches);
    if (to_ps > e->at_ps)
        e->at_ps = to_ps;
    if (to_ps == INT64_MAX)
        tell(e, stretches);
}

/* Activities in the order of their starts, each after expose_to(start). */
static void expose_compute(struct exposure *e, int64_t end_ps)
{
    if (end_ps > e->computes_until_ps)
        e->computes_until_ps = end_ps;
}

static void expose_collective(struct exposure *e, int64_t start_ps, int64_t end_ps, const struct stretch *stretch)
{
    const struct exposed it = { .stretch = *stretch, .end_ps = end_ps, .is_there = true };

    if (end_ps <= start_ps)
        return;
    if (!e->owner.is_there)
        e->owner = it;
    else if (end_ps > e->owner.end_ps && (!e->next.is_there || end_ps > e->next.end_ps))
        e->next = it;
}

enum { START_TEXT_MOST = 4096 }; /* bytes of an op's text that are examined */

static int by_serial(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;

    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    if (x->serial != y->serial)
        return x->serial < y->serial ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

static uint64_t serial_prefix(const void *row)
{
    const struct stretch *const x = row;

    return (uint64_t)x->member << 32 | (x->serial < UINT32_MAX ? x->serial : UINT32_MAX);
}

static tm_status open_stage(struct tm_stage *s)
{
    struct collectives *c = s->state;

    c->run = s->run;
    c->settings = s->settings;
    c->front = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, COLLECTIVES_FRONT * sizeof(*c->front), &s->run->error);
    c->groups = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct collective_row),
                              collectives_memory(s->run, COLLECTIVES_GROUPS), merge_collective_rows);
    c->stretches = tm_sorter_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct stretch),
                                 collectives_memory(s->run, COLLECTIVES_STRETCHES), by_serial);
    if (!c->front || !c->groups || !c->stretches)
        return s->run->error.status;
    tm_sorter_set_prefix(c->stretches, serial_prefix);
    tm_skew_open(&c->skew, s->run, s->settings);
    return s->run->error.status;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct collectives *c = s->state;

    tm_skew_begin_host(&c->skew, trace);

    c->trace = trace;
    c->names = trace->names;
    memset(c->front, 0, COLLECTIVES_FRONT * sizeof(*c->front));
    if (!trace->device_count)
        return s->run->error.status;
    c->exposures =
        tm_take(&c->run->budget, TM_ACCOUNT_MODEL, trace->device_count * sizeof(*c->exposures), &c->run->error);
    if (!c->exposures)
        return c->run->error.status;
    c->exposure_count = trace->device_count;
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        c->has_device |= device->activities != 0;
        init_exposure(&c->exposures[i], device->chosen_begin_ps, device->chosen_end_ps);
    }
    return s->run->error.status;
}

/* The parts of the key of a row; without padding. */
struct key_text {
    struct tm_key data_type;
    uint64_t message_bytes;
    uint32_t group_size, kind;
};

static_assert(sizeof(struct key_text) == 32, "hashed as bytes");

/* The op that a string names: for an HLO line its own name, or for a wait that of its first operand; a short name is
 * used unchanged. */
static struct tm_text op_in(struct tm_text text, bool is_wait)
{
    const struct tm_hlo_line line = tm_hlo_line_read(text);
    struct tm_text op = is_wait ? line.operands : line.opcode.length ? line.name : text;
    const char *at = is_wait && op.length ? memchr(op.at, '%', op.length) : op.at;
    size_t length = 0;

    if (!at)
        return (struct tm_text){ NULL, 0 };
    op.length -= (size_t)(at - op.at);
    op.at = at;
    if (op.length && *op.at == '%') {
        op.at++;
        op.length--;
    }
    while (length < op.length && !strchr(",) ", op.at[length]))
        length++;
    return (struct tm_text){ op.at, length };
}

/* The name of an asynchronous collective of a TPU at its start, as given by its start and its wait; 0 = not
 * recorded. */
static uint64_t find_start(struct collectives *c, const struct tm_event *event)
{
    const enum tm_tpu_part part = (enum tm_tpu_part)event->config->tpu_part;
    struct tm_text text, op;

    if (part != TM_TPU_START && part != TM_TPU_WAIT)
        return 0;
    text.at = tm_names_text(c->names, event->config->details ? event->config->details : event->record.name,
                            START_TEXT_MOST, &text.length);
    op = op_in(text, part == TM_TPU_WAIT);
    return op.length ? tm_hash_key(op.at, op.length).high | 1 : 0;
}

static void fill_front(struct collectives *c, const struct tm_event *event, struct collective_front *front)
{
    const struct tm_collective_facts facts = tm_collective_facts(c->trace, event);
    const struct key_text text = { tm_names_info(c->names, facts.data_type).hash, facts.message_bytes, facts.group_size,
                                   facts.kind | (uint32_t)facts.reach << 16 };

    *front = (struct collective_front){
        .row = { .key = tm_hash_key(&text, sizeof(text)),
                 .message_bytes = facts.message_bytes,
                 .group_size = facts.group_size,
                 .data_type = facts.data_type,
                 .kind = (uint8_t)facts.kind,
                 .reach = (uint8_t)facts.reach,
                 .is_told = true },
        .start = find_start(c, event),
        .name = event->record.name,
        .config = event->record.config,
        .is_used = true,
    };
}

/* The row of an event without what it counts, and its start. */
static const struct collective_front *find_front(struct collectives *c, const struct tm_event *event)
{
    const uint64_t mixed = tm_hash_mix((uint64_t)event->record.name << 32 | event->record.config, 0);
    struct collective_front *front = &c->front[mixed & (COLLECTIVES_FRONT - 1)];

    if (!front->is_used || front->name != event->record.name || front->config != event->record.config)
        fill_front(c, event, front);
    return front;
}

/* --- events --- */

/* A collective in an analyzed step.  An asynchronous one of a TPU is counted where it is waited for, and its bytes move
 * while it is in flight. */
static void count_collective(struct collectives *c, const struct tm_event *event, struct collective_row row)
{
    const enum tm_tpu_part part = (enum tm_tpu_part)event->config->tpu_part;

    row.count = part != TM_TPU_START;
    row.total_ps = event->record.dur_ps;
    if (part == TM_TPU_PLAIN) {
        row.plain_count = 1;
        row.plain_ps = row.total_ps;
    }
    c->count = tm_sum_counts(c->count, row.count);
    c->total_ps = tm_sum_times(c->total_ps, row.total_ps);
    if (row.message_bytes) {
        c->sized_count = tm_sum_counts(c->sized_count, row.count);
        c->bytes = tm_sum_counts(c->bytes, row.count * row.message_bytes);
    }
    tm_groups_add(c->groups, &row);
}

/* The number of a collective on its device: for a wait, that of the collective it waits for, if known. */
static uint64_t serial_of(struct exposure *e, const struct tm_event *event, uint64_t start)
{
    const uint64_t serial = ++e->serials;

    if (!start)
        return serial;
    if (event->config->tpu_part == TM_TPU_START) {
        e->starts[e->next_start] = (struct start){ start, serial };
        e->next_start = (e->next_start + 1) % STARTS_KEPT;
        return serial;
    }
    for (uint32_t i = 1; i <= STARTS_KEPT; i++) {
        struct start *kept = &e->starts[(e->next_start + STARTS_KEPT - i) % STARTS_KEPT];

        if (kept->name == start) {
            kept->name = 0; /* waited for once */
            return kept->serial;
        }
    }
    return serial;
}

static void take_collective(struct collectives *c, struct exposure *e, const struct tm_event *event)
{
    const struct tm_record *r = &event->record;
    const struct collective_front *front = find_front(c, event);
    const struct stretch stretch = { .row = front->row.key,
                                     .serial = serial_of(e, event, front->start),
                                     .member = c->skew.members.by_device[event->device],
                                     .is_chosen = event->chosen };

    tm_skew_take_arrival(&c->skew, event, stretch.row, stretch.serial);
    if (stretch.member != TM_NONE)
        expose_collective(e, r->start_ps, r->start_ps + r->dur_ps, &stretch);
    if (event->chosen)
        count_collective(c, event, front->row);
}

/* A stretch in flight belongs to no step: those that start during the analyzed steps count. */
static void take_flight(struct collectives *c, const struct exposure *e, const struct tm_event *event)
{
    struct collective_row row;

    if (event->config->level != TM_LEVEL_COLLECTIVE || event->record.start_ps < e->start_ps ||
        event->record.start_ps >= e->end_ps)
        return;
    row = find_front(c, event)->row;
    row.flight_count = 1;
    row.flight_ps = event->record.dur_ps;
    tm_groups_add(c->groups, &row);
}

static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    const struct collectives *c = s->state;
    const bool is_one = event->record.class == TM_CLASS_TPU_ASYNC || event->level == TM_LEVEL_COMPUTE ||
                        event->level == TM_LEVEL_COLLECTIVE;

    return is_one && event->device < c->exposure_count;
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    struct collectives *c = s->state;
    struct exposure *const e = &c->exposures[events->device];

    for (size_t i = 0; i < count; i++) {
        const struct tm_event *const event = &events[i];

        if (!tm_wants(s, event))
            continue;
        if (event->record.class == TM_CLASS_TPU_ASYNC) {
            take_flight(c, e, event);
            continue;
        }
        expose_to(e, event->record.start_ps, c->stretches);
        if (event->level == TM_LEVEL_COLLECTIVE)
            take_collective(c, e, event);
        else
            expose_compute(e, event->record.start_ps + event->record.dur_ps);
    }
}

static void free_exposures(struct collectives *c)
{
    tm_give(&c->run->budget, TM_ACCOUNT_MODEL, c->exposures, c->exposure_count * sizeof(*c->exposures));
    c->exposures = NULL;
    c->exposure_count = 0;
}

static tm_status end_host(struct tm_stage *s)
{
    struct collectives *c = s->state;

    for (uint32_t i = 0; i < c->exposure_count; i++)
        expose_to(&c->exposures[i], INT64_MAX, c->stretches);
    free_exposures(c);
    c->trace = c->skew.trace = NULL;
    return s->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    struct collectives *c = s->state;

    if (!c->run)
        return;
    tm_give(&c->run->budget, TM_ACCOUNT_TABLES, c->front, c->front ? COLLECTIVES_FRONT * sizeof(*c->front) : 0);
    tm_groups_free(c->groups);
    tm_sorter_free(c->stretches);
    free_exposures(c);
    tm_skew_close(&c->skew);
}

const struct tm_stage_type tm_collectives_stage = {
    .name = "collectives",
    .summary = "collectives by kind and size, and who waits in them",
    .state_bytes = sizeof(struct collectives),
    .classes = TM_CLASSES_ACTIVITY | TM_CLASS_BIT(TM_CLASS_TPU_ASYNC),
    .open = open_stage,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .end_host = end_host,
    .report = collectives_report,
    .save = collectives_save,
    .load = collectives_load,
    .close = close_stage,
};
