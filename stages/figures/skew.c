/* SPDX-License-Identifier: Apache-2.0 */
/* Skew: keeps the start of every collective, with the communicator that it belongs to.  Those of
 * steps that are not chosen have to be known too: they may run in the window, and a device may wait
 * for them.  What belongs together is found out at the end, when all hosts are read.  Memory: a
 * table of fixed size remembers what names and configurations tell; arrivals and communicators
 * spill; fixed per device and host. */
#include "stages/figures/skew.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"

/* One collective of one device. */
struct arrival {
    struct tm_key communicator;
    struct tm_key row;        /* of struct collective_row */
    int64_t place;            /* its recorded sequence number, else its step */
    int64_t step;             /* as its marker says; TM_NO_STEP = in none */
    int64_t start_ps, dur_ps; /* in the time of its host */
    uint64_t serial;          /* among the collectives of its device */
    uint32_t member;
    uint8_t is_start; /* starts an asynchronous one: its end is not the collective's */
    uint8_t is_chosen;
};

/* Collectives that are told apart by their order only: those of the same key on several devices belong together, the
 * first to the first, and so on. */
struct communicator {
    struct tm_key key;
    tm_strid name;           /* an operation, an HLO op or a kernel */
    tm_strid group;          /* its ranks, else its name; 0 = not told */
    tm_strid replica_groups; /* "{{0,1},{2,3}}"; 0 = not told */
    struct tm_key replica_hash;
    uint32_t group_size; /* 0 = not told */
    uint8_t kind;        /* enum tm_collective_kind */
};

/* What the times of a host count from. */
enum clock_base {
    CLOCK_UNKNOWN,
    CLOCK_EPOCH, /* at: ns since 1970 */
    CLOCK_FILE,  /* at: us of the files' clock */
    CLOCK_BASE_COUNT
};

enum { SKEW_FRONT = 128 /* a power of two */, SKEW_ROWS_PAGE = 4 << 10 };

/* Parts of what the tables of collectives may take, in 32nds.  All but the first two are needed for
 * the report only. */
enum { SKEW_ARRIVALS = 5, SKEW_COMMUNICATORS = 2, SKEW_JOINED = 3, SKEW_LENGTHS = 1, SKEW_ROWS = 1, SKEW_MATCHED = 3 };

/* All collectives of a communicator in one place: with one sequence number, or in one step. */
struct block {
    tm_strid name, group;
    int64_t step; /* of the first device */
    uint32_t group_size;
    uint8_t kind;
};

/* An arrival that has its place: (block, subgroup, ordinal) is one collective of several devices. */
struct joined {
    uint64_t block, ordinal;
    uint32_t subgroup, member;
    int64_t start_ps, end_ps;
    struct tm_key row;
    uint64_t serial;
    uint8_t is_start, is_chosen;
};

/* One of the collectives with the latest arrivals. */
struct late_row {
    int64_t skew_ps, start_ps, first_begin_ps; /* begins of the last and the first device, in their hosts' times */
    uint64_t block, ordinal;
    uint32_t subgroup, last, first;
};

enum { SKEW_WORST = 20, SKEW_OVERLAP_PCT = 90 /* of those that have to, from which they are believed */ };

static inline bool is_believed(const struct overlap *o)
{
    return o->overlapping * 100 >= o->checked * SKEW_OVERLAP_PCT;
}

static int by_place(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    const int communicators = tm_key_order(x->communicator, y->communicator);

    if (communicators)
        return communicators;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->dur_ps != y->dur_ps)
        return x->dur_ps > y->dur_ps ? -1 : 1;
    if (x->is_start != y->is_start)
        return x->is_start < y->is_start ? -1 : 1;
    return (x->serial > y->serial) - (x->serial < y->serial);
}

/* Hosts may differ in what their profiles tell of the same program. */
static void merge_communicators(void *into, const void *from)
{
    struct communicator *a = into;
    const struct communicator *b = from;

    a->group_size = b->group_size > a->group_size ? b->group_size : a->group_size;
    if (b->replica_groups && (!a->replica_groups || tm_key_order(b->replica_hash, a->replica_hash) > 0)) {
        a->replica_groups = b->replica_groups;
        a->replica_hash = b->replica_hash;
    }
}

void tm_skew_open(struct skew *k, struct tm_run *run)
{
    k->run = run;
    k->front = tm_take(&run->budget, TM_ACCOUNT_TABLES, SKEW_FRONT * sizeof(*k->front), &run->error);
    k->arrivals =
        tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(struct arrival), collectives_memory(run, SKEW_ARRIVALS), by_place);
    k->communicators = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct communicator),
                                     collectives_memory(run, SKEW_COMMUNICATORS), merge_communicators);
}

/* --- a host begins --- */

/* as many as there are members */
static void grow_presences(struct skew *k)
{
    const size_t row = sizeof(*k->presences);
    struct presence *rows;

    if (k->members.count == k->presence_most)
        return;
    rows = tm_retake(&k->run->budget, TM_ACCOUNT_MODEL, k->presences, k->presence_most * row, k->members.count * row,
                     &k->run->error);
    if (!rows)
        return;
    memset(rows + k->presence_most, 0, (k->members.count - k->presence_most) * row);
    k->presences = rows;
    k->presence_most = k->members.count;
}

static void add_clock(struct skew *k, struct host_clock clock)
{
    const size_t row = sizeof(*k->clocks);
    struct host_clock *clocks = tm_retake(&k->run->budget, TM_ACCOUNT_MODEL, k->clocks, k->clock_count * row,
                                          (k->clock_count + 1) * row, &k->run->error);

    if (!clocks)
        return;
    k->clocks = clocks;
    k->clocks[k->clock_count++] = clock;
}

/* An XSpace tells when it began; the files of a PyTorch job keep their clock; JAX's JSON counts from a begin that it
 * does not tell. */
static struct host_clock clock_of(const struct tm_trace *trace)
{
    const uint64_t begin_ns = trace->environment.begin_ns;

    if (trace->origin == TM_ORIGIN_XSPACE && begin_ns && begin_ns <= INT64_MAX)
        return (struct host_clock){ (int64_t)begin_ns, CLOCK_EPOCH };
    if (trace->origin == TM_ORIGIN_PYTORCH)
        return (struct host_clock){ trace->origin_us, CLOCK_FILE };
    return (struct host_clock){ 0, CLOCK_UNKNOWN };
}

void tm_skew_begin_host(struct skew *k, const struct tm_trace *trace)
{
    tm_members_begin_host(&k->members, k->run, trace);
    k->trace = trace;
    k->names = trace->names;
    memset(k->front, 0, SKEW_FRONT * sizeof(*k->front));
    grow_presences(k);
    add_clock(k, clock_of(trace));
}

/* --- what a collective belongs to --- */

/* What the key of a communicator is made of; no gaps in it. */
struct key_text {
    struct tm_key name, group, ranks;
    uint64_t message_bytes, kind;
    uint64_t is_numbered; /* its collectives have sequence numbers */
};

static_assert(sizeof(struct key_text) == 72, "hashed as bytes");

static struct tm_key hash_of(const struct skew *k, tm_strid id)
{
    return tm_names_info(k->names, id).hash;
}

/* PyTorch tells the group and the operation.  Ranks may send messages of different sizes in an
 * all-to-all, and a sequence number says which belong together whatever their sizes. */
static void name_by_message(const struct skew *k, const struct tm_collective_facts *facts, struct key_text *text,
                            struct communicator *c)
{
    text->name = hash_of(k, facts->operation);
    text->group = hash_of(k, facts->group);
    text->ranks = hash_of(k, facts->group_ranks);
    text->message_bytes = facts->kind == TM_ALL_TO_ALL || text->is_numbered ? 0 : facts->message_bytes;
    c->name = facts->operation;
    c->group = facts->group_ranks ? facts->group_ranks : facts->group;
}

/* XLA tells the program and its op; else there is the name only. */
static void name_by_op(const struct skew *k, const struct tm_event *event, const struct tm_collective_facts *facts,
                       struct key_text *text, struct communicator *c)
{
    c->name = event->config->hlo_op ? event->config->hlo_op : event->record.name;
    c->group = c->replica_groups = facts->replica_groups;
    c->replica_hash = hash_of(k, facts->replica_groups);
    text->name = hash_of(k, c->name);
    text->group = hash_of(k, event->config->module);
}

/* The sequence number that the event has in its process group. */
static bool has_sequence(const struct tm_event *event, int64_t *sequence)
{
    struct tm_number number;

    if (event->record.class != TM_CLASS_COLLECTIVE || !event->args || event->record.args_length != sizeof(number) ||
        !event->config->message)
        return false;
    memcpy(&number, event->args, sizeof(number));
    *sequence = number.value;
    return number.value >= 0;
}

/* in: front  its communicator is put among the others */
static void fill_front(struct skew *k, const struct tm_event *event, bool is_numbered, struct skew_front *front)
{
    const struct tm_collective_facts facts = tm_collective_facts(k->trace, event);
    struct key_text text = { .kind = facts.kind, .is_numbered = is_numbered };
    struct communicator c = { .group_size = facts.group_size, .kind = (uint8_t)facts.kind };

    if (facts.operation)
        name_by_message(k, &facts, &text, &c);
    else
        name_by_op(k, event, &facts, &text, &c);
    c.key = tm_hash_key(&text, sizeof(text));
    *front = (struct skew_front){ .communicator = c.key,
                                  .name = event->record.name,
                                  .config = event->record.config,
                                  .is_used = true,
                                  .is_numbered = is_numbered,
                                  .can_match = facts.kind != TM_SEND_RECV };
    tm_groups_add(k->communicators, &c);
}

/* --- events --- */

static void keep_arrival(struct skew *k, const struct tm_event *event, struct arrival *arrival)
{
    const uint64_t mixed = tm_hash_mix((uint64_t)event->record.name << 32 | event->record.config, 0);
    struct skew_front *front = &k->front[mixed & (SKEW_FRONT - 1)];
    bool is_numbered;

    arrival->place = arrival->step = tm_step_number(k->trace, event->step);
    is_numbered = has_sequence(event, &arrival->place);
    if (!front->is_used || front->name != event->record.name || front->config != event->record.config ||
        front->is_numbered != is_numbered)
        fill_front(k, event, is_numbered, front);
    if (!front->can_match) {
        k->unmatchable = tm_sum_counts(k->unmatchable, event->chosen);
        return;
    }
    arrival->communicator = front->communicator;
    tm_sorter_push(k->arrivals, arrival);
}

/* Which events: those of CPUs are threads of one process, of which nothing tells who takes part. */
void tm_skew_take_arrival(struct skew *k, const struct tm_event *event, struct tm_key row, uint64_t serial)
{
    const struct tm_record *r = &event->record;
    const uint32_t member = k->members.by_device[event->device];
    struct arrival arrival = { .row = row,
                               .serial = serial,
                               .start_ps = r->start_ps,
                               .dur_ps = r->dur_ps,
                               .member = member,
                               .is_start = event->config->tpu_part == TM_TPU_START,
                               .is_chosen = event->chosen };

    if (member == TM_NONE || (r->class != TM_CLASS_COLLECTIVE && r->class != TM_CLASS_TPU_OP))
        return;
    if (event->chosen) {
        struct presence *presence = &k->presences[member];

        presence->count += event->config->tpu_part != TM_TPU_START;
        presence->collective_ps = tm_sum_times(presence->collective_ps, r->dur_ps);
    }
    if (event->config->tpu_part != TM_TPU_WAIT)
        keep_arrival(k, event, &arrival);
}

void tm_skew_close(struct skew *k)
{
    if (!k->run)
        return;
    tm_give(&k->run->budget, TM_ACCOUNT_TABLES, k->front, k->front ? SKEW_FRONT * sizeof(*k->front) : 0);
    tm_give(&k->run->budget, TM_ACCOUNT_MODEL, k->presences, k->presence_most * sizeof(*k->presences));
    tm_give(&k->run->budget, TM_ACCOUNT_MODEL, k->clocks, k->clock_count * sizeof(*k->clocks));
    tm_members_free(&k->members, k->run);
    tm_sorter_free(k->arrivals);
    tm_groups_free(k->communicators);
}

/* The replica groups of an HLO collective, as XLA prints them: "{{0,1},{2,3}}"; "{}" and "" are one group of all.
 * source: https://openxla.org/xla/operation_semantics#allreduce */

static void fill(uint32_t *groups, uint32_t count, uint32_t group)
{
    for (uint32_t i = 0; i < count; i++)
        groups[i] = group;
}

/* The number at *at, which is left behind it; TM_NONE where it is too large. */
static uint32_t read_number(const char **at)
{
    uint32_t number = 0;

    for (; **at >= '0' && **at <= '9'; ++*at) {
        const uint32_t digit = (uint32_t)(**at - '0');

        number = number >= TM_NONE / 10 - 1 ? TM_NONE / 10 - 1 : number * 10 + digit;
    }
    return number;
}

/* out: *numbers  how many there are, *groups  how many groups have one; false where the text is of another form */
static bool put_groups(const char *text, uint32_t *groups, uint32_t count, uint32_t *numbers, uint32_t *group_count)
{
    uint32_t depth = 0;

    *numbers = *group_count = 0;
    for (const char *at = text; *at;) {
        if (*at >= '0' && *at <= '9') {
            const uint32_t number = read_number(&at);

            if (depth != 2 || number >= count || groups[number] != TM_NONE)
                return false;
            groups[number] = *group_count - 1;
            ++*numbers;
            continue;
        }
        depth += *at == '{';
        *group_count += *at == '{' && depth == 2;
        if (depth > 2 || (*at == '}' && depth-- == 0) || (*at != '{' && *at != '}' && *at != ',' && *at != ' '))
            return false;
        at++;
    }
    return depth == 0;
}

/* A text of one group is about all devices, whatever their numbers: those that are here are in it. */
static bool is_one_group(const char *text)
{
    uint32_t opened = 0;

    for (; *text; text++)
        opened += *text == '{';
    return opened <= 2;
}

void tm_skew_find_subgroups(const char *text, uint32_t *groups, uint32_t count)
{
    uint32_t numbers, group_count;

    if (is_one_group(text) && *text != '[') {
        fill(groups, count, 0);
        return;
    }
    fill(groups, count, TM_NONE);
    if (!put_groups(text, groups, count, &numbers, &group_count) || numbers != count)
        fill(groups, count, TM_NONE);
}

/* Which collectives of several devices are one.  Arrivals are read twice in the order of
 * communicator, place, device and start; a place is a recorded sequence number, or a step where
 * there is none.  First the devices that ran a communicator's collectives equally often in a place
 * are found: of several such sets the largest one.  Then these devices' arrivals get their
 * ordinals, and are sorted by them.  What stays alone is unmatched: where the numbers differ nobody
 * can say which one is missing. Memory: fixed per device; runs of arrivals, blocks and joined
 * arrivals spill. */

static int by_ordinal(const void *a, const void *b)
{
    const struct joined *x = a, *y = b;

    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->subgroup != y->subgroup)
        return x->subgroup < y->subgroup ? -1 : 1;
    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

struct matching {
    struct skew *k;
    struct matches *m;
    struct tm_rows *runs;      /* uint8_t, of each device in each block: does it take part? */
    uint64_t *counts, *sorted; /* of the present block, by the order of its devices */
    uint32_t *subgroups;       /* of the present communicator, by member */
    uint32_t devices;          /* of the present block */
    uint64_t run, block;       /* second reading: the next ones */
    uint64_t ordinal;
    bool takes_part;
    bool is_counted; /* the present communicator */
};

static bool is_same_block(const struct arrival *a, const struct arrival *b)
{
    return tm_is_same_key(a->communicator, b->communicator) && a->place == b->place;
}

/* --- first reading: who takes part --- */

static int by_count(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The number that most devices have, the larger one of several; 0 where no two devices have the same. */
static uint64_t most_frequent(struct matching *g)
{
    uint64_t chosen = 0;
    uint32_t most = 1;

    memcpy(g->sorted, g->counts, g->devices * sizeof(*g->sorted));
    qsort(g->sorted, g->devices, sizeof(*g->sorted), by_count);
    for (uint32_t i = 0, same; i < g->devices; i += same) {
        for (same = 1; i + same < g->devices && g->sorted[i + same] == g->sorted[i]; same++)
            ;
        if (same > 1 && same >= most) {
            most = same;
            chosen = g->sorted[i];
        }
    }
    return chosen;
}

static void end_block(struct matching *g)
{
    const uint64_t chosen = most_frequent(g);

    for (uint32_t i = 0; i < g->devices; i++) {
        const uint8_t takes_part = g->counts[i] == chosen;

        tm_rows_append(g->runs, &takes_part);
    }
    g->devices = 0;
}

static void find_parts(struct matching *g)
{
    struct arrival last = { .member = TM_NONE };
    const struct arrival *arrival;

    while ((arrival = tm_sorter_next(g->k->arrivals))) {
        const bool is_new_block = last.member == TM_NONE || !is_same_block(&last, arrival);

        if (is_new_block && g->devices)
            end_block(g);
        if (is_new_block || last.member != arrival->member)
            g->counts[g->devices++] = 0;
        g->counts[g->devices - 1]++;
        last = *arrival;
    }
    if (g->devices)
        end_block(g);
}

/* --- second reading: ordinals --- */

/* The communicator of the arrivals that come now; there is one for each, in the same order. */
static void next_communicator(struct matching *g, const struct tm_key *key, struct communicator *c)
{
    const struct communicator *row;

    g->is_counted = false;
    do {
        row = tm_groups_next(g->k->communicators);
    } while (row && !tm_is_same_key(row->key, *key));
    /* NULL: only in a damaged partial */
    *c = row ? *row : (struct communicator){ .key = *key, .kind = TM_OTHER_COLLECTIVE };
    tm_skew_find_subgroups(c->replica_groups ? tm_names_text(g->k->names, c->replica_groups, 0, NULL) : "",
                           g->subgroups, g->k->members.count);
}

static void begin_run(struct matching *g)
{
    g->takes_part = *(const uint8_t *)tm_rows_at(g->runs, g->run++);
    g->m->communicators += g->takes_part && !g->is_counted;
    g->is_counted |= g->takes_part;
    g->ordinal = 0;
}

static void begin_block(struct matching *g, const struct communicator *c, int64_t step)
{
    const struct block block = { c->name, c->group, step, c->group_size, c->kind };

    g->block++;
    tm_rows_append(g->m->blocks, &block);
}

static void join(struct matching *g, const struct arrival *arrival)
{
    const struct joined joined = { .block = g->block - 1,
                                   .ordinal = g->ordinal++,
                                   .subgroup = g->subgroups[arrival->member],
                                   .member = arrival->member,
                                   .start_ps = arrival->start_ps,
                                   .end_ps = arrival->start_ps + arrival->dur_ps,
                                   .row = arrival->row,
                                   .serial = arrival->serial,
                                   .is_start = arrival->is_start,
                                   .is_chosen = arrival->is_chosen };

    if (g->takes_part && joined.subgroup != TM_NONE)
        tm_sorter_push(g->m->joined, &joined);
    else
        g->m->unmatched = tm_sum_counts(g->m->unmatched, arrival->is_chosen);
}

static void give_ordinals(struct matching *g)
{
    struct arrival last = { .member = TM_NONE };
    struct communicator c = { .name = 0 };
    const struct arrival *arrival;

    tm_groups_finish(g->k->communicators);
    while ((arrival = tm_sorter_next(g->k->arrivals))) {
        const bool is_first = last.member == TM_NONE;
        const bool is_new_block = is_first || !is_same_block(&last, arrival);

        if (is_first || !tm_is_same_key(c.key, arrival->communicator))
            next_communicator(g, &arrival->communicator, &c);
        if (is_new_block)
            begin_block(g, &c, arrival->step);
        if (is_new_block || last.member != arrival->member)
            begin_run(g);
        join(g, arrival);
        last = *arrival;
    }
}

/* --- all of it --- */

static void read_twice(struct matching *g)
{
    tm_sorter_finish(g->k->arrivals);
    find_parts(g);
    tm_sorter_rewind(g->k->arrivals);
    give_ordinals(g);
    tm_sorter_finish(g->m->joined);
}

void tm_skew_match_arrivals(struct skew *k, struct matches *m)
{
    struct tm_run *run = k->run;
    const size_t counts_bytes = (size_t)k->members.count * 2 * sizeof(uint64_t);
    const size_t subgroups_bytes = (size_t)k->members.count * sizeof(uint32_t);
    struct matching g = { .k = k, .m = m };

    *m = (struct matches){ .unmatched = k->unmatchable };
    m->joined =
        tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(struct joined), collectives_memory(run, SKEW_JOINED), by_ordinal);
    m->blocks = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct block), collectives_memory(run, SKEW_ROWS),
                                  SKEW_ROWS_PAGE);
    g.runs =
        tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(uint8_t), collectives_memory(run, SKEW_ROWS), SKEW_ROWS_PAGE);
    g.counts = tm_take(&run->budget, TM_ACCOUNT_MODEL, counts_bytes, &run->error);
    g.sorted = g.counts ? g.counts + k->members.count : NULL;
    g.subgroups = tm_take(&run->budget, TM_ACCOUNT_MODEL, subgroups_bytes, &run->error);
    if (!tm_failed(run))
        read_twice(&g);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, g.counts, g.counts ? counts_bytes : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, g.subgroups, g.subgroups ? subgroups_bytes : 0);
    tm_rows_free(g.runs);
}

void tm_skew_free_matches(struct matches *m)
{
    tm_sorter_free(m->joined);
    tm_rows_free(m->blocks);
    *m = (struct matches){ .joined = NULL };
}

/* Late arrivals in a partial: devices, clocks, communicators, and all arrivals in order. */

static const struct tm_row_field presence_fields[] = {
    TM_FIELD(struct presence, count, COUNT, KEEP),
    TM_FIELD(struct presence, collective_ps, TIME, KEEP),
    TM_FIELDS_END,
};

static const struct tm_row_field clock_fields[] = {
    TM_FIELD(struct host_clock, at, INSTANT, KEEP),
    TM_FIELD_BELOW(struct host_clock, base, U8, KEEP, CLOCK_BASE_COUNT),
    TM_FIELDS_END,
};

static const struct tm_row_field communicator_fields[] = {
    TM_FIELD(struct communicator, key, WORD, KEEP),
    TM_FIELD(struct communicator, name, NAME, KEEP),
    TM_FIELD(struct communicator, group, NAME, KEEP),
    TM_FIELD(struct communicator, replica_groups, NAME, KEEP),
    TM_FIELD(struct communicator, replica_hash, WORD, KEEP),
    TM_FIELD(struct communicator, group_size, U32, KEEP),
    TM_FIELD_BELOW(struct communicator, kind, U8, KEEP, TM_COLLECTIVE_KIND_COUNT),
    TM_FIELDS_END,
};

#define ARRIVAL(member, kind) TM_FIELD(struct arrival, member, kind, KEEP)

static const struct tm_row_field arrival_fields[] = {
    ARRIVAL(communicator, WORD), ARRIVAL(row, WORD),       ARRIVAL(place, INSTANT), ARRIVAL(step, INSTANT),
    ARRIVAL(start_ps, INSTANT),  ARRIVAL(dur_ps, TIME),    ARRIVAL(serial, COUNT),  ARRIVAL(member, DEVICE),
    ARRIVAL(is_start, BOOL),     ARRIVAL(is_chosen, BOOL), TM_FIELDS_END,
};

void tm_skew_save(struct skew *k, struct tm_partial_writer *w)
{
    tm_members_save(&k->members, w);
    for (uint32_t i = 0; i < k->members.count; i++)
        tm_fields_save(w, presence_fields, &k->presences[i]);
    for (uint32_t i = 0; i < k->clock_count; i++)
        tm_fields_save(w, clock_fields, &k->clocks[i]);
    tm_partial_put_u64(w, k->unmatchable);
    tm_fields_save_groups(w, communicator_fields, k->communicators);
    tm_fields_save_sorter(w, arrival_fields, k->arrivals);
}

/* out: the number of the partial's first device */
static uint32_t load_devices(struct skew *k, struct tm_partial_reader *r)
{
    const uint32_t first = tm_members_load(&k->members, k->run, r);

    grow_presences(k);
    for (uint32_t i = first; i < k->presence_most; i++)
        tm_fields_load(r, presence_fields, &k->presences[i]);
    for (uint32_t i = 0; i < tm_partial_host_count(r) && !tm_failed(k->run); i++) {
        struct host_clock clock = { .at = 0 };

        tm_fields_load(r, clock_fields, &clock);
        add_clock(k, clock);
    }
    return first;
}

static tm_status complete_arrival(void *of, struct tm_partial_reader *r, void *row)
{
    const struct arrival *const arrival = row;

    (void)of;
    return tm_time_fits(arrival->start_ps, arrival->dur_ps) ? TM_OK
                                                            : tm_partial_damaged(r, "a time is out of its range");
}

void tm_skew_load(struct skew *k, struct tm_partial_reader *r)
{
    const uint32_t first = load_devices(k, r);

    k->names = tm_partial_names(r);
    tm_partial_bind_devices(r, first, k->members.count - first);
    k->unmatchable = tm_sum_counts(k->unmatchable, tm_partial_u64(r));
    tm_fields_load_groups(r, communicator_fields, k->communicators, NULL, NULL);
    tm_fields_load_sorter(r, arrival_fields, k->arrivals, complete_arrival, NULL);
}

/* Late arrivals out of the collectives that were matched.  Nobody can leave an all-reduce before the last one has
 * come: collectives of this sort that do not overlap on all their devices are not the same one, or the clocks differ.
 * By that the clocks of several hosts are checked first; where they do not agree, only devices of one host are
 * compared.  Where these do not overlap either, nothing is said of them. */

#define DAY_US ((int64_t)86400 * 1000000)

/* All devices of one collective. */
struct instance {
    struct joined *rows; /* in the order of the members; room for all there are */
    uint32_t count;
};

struct coming;

struct adding {
    struct skew *k;
    struct matches *m;
    struct skew_sums *sums;
    struct instance instance;
    struct coming *order; /* of the instance, in which they came */
    uint32_t group_size;  /* of the instance, 0 = not told */
    struct joined next;   /* the first row of the next instance */
    bool has_next;
};

/* --- clocks --- */

/* out: why they cannot be compared; NULL = offsets_ps are set */
static const char *find_offsets(const struct skew *k, int64_t *offsets_ps)
{
    const struct host_clock *clocks = k->clocks;
    int64_t first = INT64_MAX;

    for (uint32_t i = 0; i < k->clock_count; i++) {
        if (clocks[i].base == CLOCK_UNKNOWN || clocks[i].base != clocks[0].base)
            return "the profiles do not tell by one clock when they began";
        first = clocks[i].at < first ? clocks[i].at : first;
    }
    for (uint32_t i = 0; i < k->clock_count; i++) {
        const int64_t unit_ps = clocks[i].base == CLOCK_EPOCH ? 1000 : 1000000;
        int64_t apart;

        if (__builtin_sub_overflow(clocks[i].at, first, &apart) || apart > DAY_US * (1000000 / unit_ps))
            return "the profiles begin more than a day apart";
        offsets_ps[i] = apart * unit_ps;
    }
    return NULL;
}

/* --- instances --- */

static bool is_same(const struct joined *a, const struct joined *b)
{
    return a->block == b->block && a->subgroup == b->subgroup && a->ordinal == b->ordinal;
}

/* Does anything of it count? */
static bool has_chosen(const struct instance *it)
{
    for (uint32_t i = 0; i < it->count; i++)
        if (it->rows[i].is_chosen)
            return true;
    return false;
}

static uint32_t host_of(const struct adding *a, const struct joined *row)
{
    return a->k->members.rows[row->member].host;
}

static void read_joined(struct adding *a)
{
    const struct joined *row = tm_sorter_next(a->m->joined);

    a->has_next = row != NULL;
    if (row)
        a->next = *row;
}

static void rewind_instances(struct adding *a)
{
    tm_sorter_rewind(a->m->joined);
    read_joined(a);
}

/* in:     is_across  devices of several hosts are one instance
 * out:    false at the end */
static bool next_instance(struct adding *a, bool is_across)
{
    struct instance *it = &a->instance;

    for (it->count = 0; a->has_next; read_joined(a)) {
        if (it->count && (!is_same(&a->next, it->rows) || (!is_across && host_of(a, &a->next) != host_of(a, it->rows))))
            break;
        it->rows[it->count++] = a->next;
    }
    return it->count != 0;
}

/* A time as all hosts count it. */
static int64_t shared(const struct adding *a, const struct joined *row, int64_t time_ps)
{
    return time_ps + a->sums->offsets_ps[host_of(a, row)];
}

/* Is it a collective in which all have to be at once, and are they?  The others tell nothing: the
 * root of a broadcast may leave early, and of an asynchronous one only the start is known. out:
 * fits  there are not more devices than its group has: nobody knows which ones belong together else
 */
static void look_at_overlap(struct adding *a, bool *has_to, bool *does, bool *fits)
{
    const struct instance *it = &a->instance;
    const struct block *block = tm_rows_at(a->m->blocks, it->rows[0].block);
    int64_t latest_start_ps = INT64_MIN, first_end_ps = INT64_MAX;

    a->group_size = block->group_size;
    *fits = !block->group_size || it->count <= block->group_size;
    *has_to = block->kind == TM_ALL_REDUCE || block->kind == TM_ALL_GATHER || block->kind == TM_REDUCE_SCATTER ||
              block->kind == TM_ALL_TO_ALL;
    for (uint32_t i = 0; i < it->count; i++) {
        const int64_t start_ps = shared(a, &it->rows[i], it->rows[i].start_ps);
        const int64_t stop_ps = shared(a, &it->rows[i], it->rows[i].end_ps);

        *has_to &= !it->rows[i].is_start && stop_ps > start_ps;
        latest_start_ps = start_ps > latest_start_ps ? start_ps : latest_start_ps;
        first_end_ps = stop_ps < first_end_ps ? stop_ps : first_end_ps;
    }
    *does = latest_start_ps < first_end_ps;
}

/* in:     is_across   devices of several hosts are one instance
 *         only_hosts  count only those */
static void count_overlap(struct adding *a, bool is_across, bool only_hosts, struct overlap *overlap)
{
    rewind_instances(a);
    while (next_instance(a, is_across)) {
        const struct instance *it = &a->instance;
        const bool has_hosts = host_of(a, &it->rows[0]) != host_of(a, &it->rows[it->count - 1]);
        bool has_to, does, fits;

        if (it->count == 1 || (only_hosts && !has_hosts) || !has_chosen(it))
            continue;
        look_at_overlap(a, &has_to, &does, &fits);
        if (has_to && fits) {
            overlap->checked++;
            overlap->overlapping += does;
        }
    }
}

/* --- sums --- */

/* One device of an instance, in the order in which they came; those with the smaller number first
 * where two came at once. */
struct coming {
    int64_t start_ps; /* as all hosts count it */
    const struct joined *row;
};

static int by_start(const void *a, const void *b)
{
    const struct coming *x = a, *y = b;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return (x->row->member > y->row->member) - (x->row->member < y->row->member);
}

/* The last one is the first by number of those that came last. */
static const struct coming *put_in_order(struct adding *a)
{
    const struct instance *it = &a->instance;
    uint32_t last = it->count - 1;

    for (uint32_t i = 0; i < it->count; i++)
        a->order[i] = (struct coming){ shared(a, &it->rows[i], it->rows[i].start_ps), &it->rows[i] };
    qsort(a->order, it->count, sizeof(*a->order), by_start);
    while (last && a->order[last - 1].start_ps == a->order[last].start_ps)
        last--;
    return &a->order[last];
}

static void add_members(struct adding *a, int64_t last_ps)
{
    struct skew_sums *sums = a->sums;

    for (uint32_t i = 0; i < a->instance.count; i++) {
        const struct joined *row = a->order[i].row;
        struct member_sums *member = &sums->members[row->member];
        const int64_t late_ps = a->order[i].start_ps - a->order[0].start_ps, wait_ps = last_ps - a->order[i].start_ps;
        const struct matched matched = { .serial = row->serial,
                                         .last_ps = tm_sum_times(row->start_ps, wait_ps),
                                         .end_ps = row->end_ps,
                                         .row = row->row,
                                         .member = row->member,
                                         .is_start = row->is_start,
                                         .is_chosen = row->is_chosen };

        tm_sorter_push(sums->rows, &matched);
        if (!row->is_chosen)
            continue;
        member->count++;
        member->late_ps = tm_sum_times(member->late_ps, late_ps);
        member->late_max_ps = late_ps > member->late_max_ps ? late_ps : member->late_max_ps;
        member->wait_ps = tm_sum_times(member->wait_ps, wait_ps);
        sums->wait_ps = tm_sum_times(sums->wait_ps, wait_ps);
    }
}

/* While some wait, those that have not come yet cause it, in equal parts: what several late devices
 * cause adds up to what the others wait.  What does not divide evenly is the last one's. */
static void add_causes(struct adding *a, const struct coming *last)
{
    const uint32_t count = a->instance.count;
    struct member_sums *members = a->sums->members;
    uint64_t waiting = 0;
    int64_t caused_ps = 0, rest_ps = 0;

    for (uint32_t i = 1; i < count; i++) {
        const int64_t gap_ps = a->order[i].start_ps - a->order[i - 1].start_ps;
        int64_t wait_ps;

        waiting += a->order[i - 1].row->is_chosen;
        if (__builtin_mul_overflow(gap_ps, (int64_t)waiting, &wait_ps))
            wait_ps = INT64_MAX;
        caused_ps = tm_sum_times(caused_ps, wait_ps / (count - i));
        rest_ps = tm_sum_times(rest_ps, wait_ps % (count - i));
        members[a->order[i].row->member].caused_ps =
            tm_sum_times(members[a->order[i].row->member].caused_ps, caused_ps);
    }
    members[last->row->member].caused_ps = tm_sum_times(members[last->row->member].caused_ps, rest_ps);
}

/* Where two came last, neither is the only cause. */
static void add_last(struct adding *a, const struct coming *last)
{
    const uint32_t count = a->instance.count;
    struct member_sums *sums = &a->sums->members[last->row->member];
    int64_t alone_ps;

    if (__builtin_mul_overflow(a->order[count - 1].start_ps - a->order[count - 2].start_ps, (int64_t)count - 1,
                               &alone_ps))
        alone_ps = INT64_MAX;
    sums->last_count++;
    sums->alone_ps = tm_sum_times(sums->alone_ps, alone_ps);
}

static void add_instance(struct adding *a)
{
    struct skew_sums *sums = a->sums;
    const struct coming *last = put_in_order(a), *first = a->order;
    const int64_t skew_ps = last->start_ps - first->start_ps;
    const struct late_row row = { .skew_ps = skew_ps,
                                  .start_ps = last->row->start_ps,
                                  .first_begin_ps = first->row->start_ps,
                                  .block = last->row->block,
                                  .ordinal = last->row->ordinal,
                                  .subgroup = last->row->subgroup,
                                  .last = last->row->member,
                                  .first = first->row->member };

    add_members(a, last->start_ps);
    if (!has_chosen(&a->instance))
        return;
    sums->matched++;
    sums->incomplete += a->group_size > a->instance.count;
    sums->late_ps = tm_sum_times(sums->late_ps, skew_ps);
    sums->max_ps = skew_ps > sums->max_ps ? skew_ps : sums->max_ps;
    tm_sorter_push(sums->lengths, &skew_ps);
    if (!skew_ps)
        return;
    add_causes(a, last);
    add_last(a, last);
    tm_top_rows_add(sums->worst, &row);
}

static void leave_unmatched(struct adding *a)
{
    for (uint32_t i = 0; i < a->instance.count; i++)
        a->sums->unmatched = tm_sum_counts(a->sums->unmatched, a->instance.rows[i].is_chosen);
}

static void add_instances(struct adding *a)
{
    rewind_instances(a);
    while (next_instance(a, a->sums->clock.is_aligned)) {
        bool has_to = false, does = false, fits = true;

        if (a->instance.count > 1)
            look_at_overlap(a, &has_to, &does, &fits);
        if (a->instance.count > 1 && fits && (does || !has_to))
            add_instance(a);
        else
            leave_unmatched(a);
    }
    tm_sorter_finish(a->sums->lengths);
    tm_top_rows_sort(a->sums->worst);
}

/* --- all of it --- */

static int latest_first(const void *a, const void *b)
{
    const struct late_row *x = a, *y = b;

    if (x->skew_ps != y->skew_ps)
        return x->skew_ps > y->skew_ps ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->subgroup != y->subgroup)
        return x->subgroup < y->subgroup ? -1 : 1;
    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    return (x->last > y->last) - (x->last < y->last);
}

static int by_serial(const void *a, const void *b)
{
    const struct matched *x = a, *y = b;

    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    return (x->serial > y->serial) - (x->serial < y->serial);
}

static int by_length(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static uint32_t hosts_of(const struct skew *k)
{
    uint32_t hosts = 0;

    for (uint32_t i = 0, last = TM_NONE; i < k->members.count; i++) {
        if (!k->presences[i].count || k->members.rows[i].host == last)
            continue;
        last = k->members.rows[i].host;
        hosts++;
    }
    return hosts;
}

static void check_clocks(struct adding *a)
{
    struct clock_check *clock = &a->sums->clock;

    clock->hosts = hosts_of(a->k);
    clock->why = clock->hosts < 2 ? "one host" : find_offsets(a->k, a->sums->offsets_ps);
    if (clock->why) {
        memset(a->sums->offsets_ps, 0, a->k->clock_count * sizeof(*a->sums->offsets_ps));
        return;
    }
    count_overlap(a, true, true, &clock->overlap);
    clock->is_aligned = clock->overlap.checked && is_believed(&clock->overlap);
    if (!clock->overlap.checked)
        clock->why = "no collective in which devices of several hosts have to be at once";
}

static void read_matches(struct adding *a)
{
    struct skew_sums *sums = a->sums;

    check_clocks(a);
    count_overlap(a, sums->clock.is_aligned, false, &sums->overlap);
    if (is_believed(&sums->overlap)) {
        add_instances(a);
        return;
    }
    rewind_instances(a);
    while (next_instance(a, false))
        leave_unmatched(a);
}

void tm_skew_add_up(struct skew *k, struct matches *m, struct skew_sums *sums)
{
    struct tm_run *run = k->run;
    struct adding a = { .k = k, .m = m, .sums = sums };
    const size_t rows_bytes = k->members.count * sizeof(*a.instance.rows);
    const size_t order_bytes = k->members.count * sizeof(*a.order);

    *sums = (struct skew_sums){ .unmatched = m->unmatched };
    sums->members = tm_take(&run->budget, TM_ACCOUNT_MODEL, k->members.count * sizeof(*sums->members), &run->error);
    sums->lengths =
        tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(int64_t), collectives_memory(run, SKEW_LENGTHS), by_length);
    sums->rows =
        tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(struct matched), collectives_memory(run, SKEW_MATCHED), by_serial);
    sums->worst = tm_top_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct late_row), SKEW_WORST,
                                  collectives_memory(run, SKEW_ROWS), latest_first);
    a.instance.rows = tm_take(&run->budget, TM_ACCOUNT_MODEL, rows_bytes, &run->error);
    sums->offsets_ps = tm_take(&run->budget, TM_ACCOUNT_MODEL, k->clock_count * sizeof(*sums->offsets_ps), &run->error);
    a.order = tm_take(&run->budget, TM_ACCOUNT_MODEL, order_bytes, &run->error);
    if (!tm_failed(run)) {
        read_matches(&a);
        tm_sorter_finish(sums->rows);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a.instance.rows, a.instance.rows ? rows_bytes : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a.order, a.order ? order_bytes : 0);
}

void tm_skew_free_sums(struct skew *k, struct skew_sums *sums)
{
    tm_give(&k->run->budget, TM_ACCOUNT_MODEL, sums->members,
            sums->members ? k->members.count * sizeof(*sums->members) : 0);
    tm_give(&k->run->budget, TM_ACCOUNT_MODEL, sums->offsets_ps,
            sums->offsets_ps ? k->clock_count * sizeof(*sums->offsets_ps) : 0);
    tm_sorter_free(sums->lengths);
    tm_sorter_free(sums->rows);
    tm_top_rows_free(sums->worst);
}

/* collectives.skew out of the arrivals. */

/* A device stands out that comes this many times as late as the mean of the others, and is the last one more often than
 * if they took turns. */
enum { STANDS_OUT = 2 };

const char *tm_skew_why_none(const struct skew *k)
{
    uint32_t devices = 0;

    for (uint32_t i = 0; i < k->members.count; i++)
        devices += k->presences[i].count != 0;
    if (!devices)
        return "no collectives in the analyzed steps";
    return devices == 1 ? "one device ran collectives" : NULL;
}

const char *tm_skew_why_not_matched(const struct skew *k, const struct skew_sums *sums)
{
    const struct clock_check *clock = &sums->clock;

    if (!tm_sorter_count(k->arrivals))
        return "sends and receives do not tell who takes part";
    if (!is_believed(&sums->overlap))
        return "what the devices ran at the same place does not overlap: it is not the same collective";
    if (clock->hosts > 1 && clock->overlap.checked && !clock->is_aligned)
        return "the clocks of the hosts do not agree: collectives of several hosts do not overlap";
    if (clock->hosts > 1 && clock->why && !clock->overlap.checked)
        return clock->why;
    return "no collective of one device has its counterpart on another";
}

static void add_overlap(const struct overlap *overlap, const char *why, struct tm_value *to)
{
    tm_add_uint(to, "checked", overlap->checked);
    if (overlap->checked)
        tm_add_double(to, "overlapping_pct", 100.0 * (double)overlap->overlapping / (double)overlap->checked);
    else
        tm_add_null(to, "overlapping_pct", why);
}

static void add_clock_check(const struct skew *k, const struct skew_sums *sums, struct tm_value *skew)
{
    const struct clock_check *clock = &sums->clock;
    struct tm_value *to = tm_add_object(skew, "clock"), *offsets;

    tm_add_uint(to, "hosts", clock->hosts);
    if (clock->overlap.checked)
        tm_add_bool(to, "aligned", clock->is_aligned);
    else
        tm_add_null(to, "aligned", clock->why);
    add_overlap(&clock->overlap, clock->why, to);
    if (!clock->is_aligned) {
        tm_add_null(to, "offsets_ps", clock->why ? clock->why : "the clocks of the hosts do not agree");
        return;
    }
    offsets = tm_add_array(to, "offsets_ps");
    for (uint32_t i = 0; i < k->clock_count; i++)
        tm_add_int(offsets, NULL, sums->offsets_ps[i]);
}

/* The member that stands out; TM_NONE = none does. */
static uint32_t find_straggler(const struct skew *k, const struct skew_sums *sums)
{
    const struct member_sums *m = sums->members;
    unsigned __int128 others_ps = 0;
    uint32_t latest = TM_NONE, others = 0;

    for (uint32_t i = 0; i < k->members.count; i++) {
        if (!m[i].count)
            continue;
        if (latest == TM_NONE || m[i].late_ps > m[latest].late_ps)
            latest = i;
        others_ps += (uint64_t)m[i].late_ps;
        others++;
    }
    if (others < 2 || !m[latest].late_ps || m[latest].last_count <= m[latest].count / others)
        return TM_NONE;
    others_ps -= (uint64_t)m[latest].late_ps;
    others--;
    return (unsigned __int128)(uint64_t)m[latest].late_ps * others >= STANDS_OUT * others_ps ? latest : TM_NONE;
}

static void add_skew_members(const struct skew *k, const struct skew_sums *sums, struct tm_value *skew)
{
    struct tm_value *list = tm_add_array(skew, "members");

    for (uint32_t i = 0; i < k->members.count; i++) {
        const struct member_sums *m = &sums->members[i];
        struct tm_value *to;

        if (!k->presences[i].count)
            continue;
        to = tm_add_object(list, NULL);
        tm_add_string(to, "device", k->members.rows[i].device);
        tm_add_uint(to, "count", m->count);
        tm_add_uint(to, "last_count", m->last_count);
        tm_add_int(to, "late_ps", m->late_ps);
        tm_add_int(to, "late_max_ps", m->late_max_ps);
        tm_add_int(to, "wait_ps", m->wait_ps);
        tm_add_int(to, "caused_ps", m->caused_ps);
        if (sums->wait_ps > 0)
            tm_add_double(to, "caused_pct", 100.0 * (double)m->caused_ps / (double)sums->wait_ps);
        else
            tm_add_null(to, "caused_pct", "no device waits for another");
        tm_add_int(to, "alone_ps", m->alone_ps);
        tm_add_int(to, "collective_ps", k->presences[i].collective_ps);
    }
}

static void add_name(const struct skew *k, struct tm_value *to, const char *key, tm_strid id)
{
    tm_add_name_cut(to, key, k->names, id, 0, "not recorded");
}

static void add_worst_row(const struct skew *k, struct matches *m, const struct late_row *row, struct tm_value *list)
{
    const struct block block = *(const struct block *)tm_rows_at(m->blocks, row->block);
    struct tm_value *to = tm_add_object(list, NULL);

    tm_add_string(to, "kind", tm_collective_kind_name[block.kind]);
    add_name(k, to, "name", block.name);
    add_name(k, to, "group", block.group);
    if (block.step == TM_NO_STEP)
        tm_add_null(to, "step", "in no step");
    else
        tm_add_int(to, "step", block.step);
    tm_add_uint(to, "ordinal", row->ordinal + 1);
    tm_add_int(to, "skew_ps", row->skew_ps);
    tm_add_string(to, "last", k->members.rows[row->last].device);
    tm_add_int(to, "begin_ps", row->start_ps);
    tm_add_string(to, "first", k->members.rows[row->first].device);
    tm_add_int(to, "first_begin_ps", row->first_begin_ps);
}

/* The smallest length that at least `pct` percent do not pass (nearest rank), for two percentages in order. */
static void add_percentiles(struct skew_sums *sums, struct tm_value *skew)
{
    static const struct {
        const char *key;
        unsigned pct;
    } rows[] = { { "p50_ps", 50 }, { "p95_ps", 95 } };
    const int64_t *length = NULL;
    uint64_t seen = 0;
    int64_t value = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint64_t n = sums->matched, rank = n / 100 * rows[i].pct + (n % 100 * rows[i].pct + 99) / 100;

        for (; seen < rank && (length = tm_sorter_next(sums->lengths)); seen++)
            value = *length;
        tm_add_int(skew, rows[i].key, value);
    }
}

static void add_figures(const struct skew *k, struct matches *m, struct skew_sums *sums, struct tm_value *skew)
{
    const uint32_t straggler = find_straggler(k, sums);
    struct tm_value *list;

    tm_add_int(skew, "late_ps", sums->late_ps);
    tm_add_int(skew, "wait_ps", sums->wait_ps);
    add_percentiles(sums, skew);
    tm_add_int(skew, "max_ps", sums->max_ps);
    add_clock_check(k, sums, skew);
    if (straggler == TM_NONE)
        tm_add_null(skew, "straggler", "no device stands out");
    else
        tm_add_string(skew, "straggler", k->members.rows[straggler].device);
    add_skew_members(k, sums, skew);
    list = tm_add_array(skew, "worst");
    for (uint64_t i = 0; i < tm_top_rows_count(sums->worst); i++)
        add_worst_row(k, m, tm_top_rows_at(sums->worst, i), list);
}

static void add_nothing(const struct skew *k, const struct skew_sums *sums, struct tm_value *skew)
{
    static const char *const figures[] = { "late_ps", "wait_ps", "p50_ps", "p95_ps", "max_ps" };
    const char *why = tm_skew_why_not_matched(k, sums);

    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        tm_add_null(skew, figures[i], why);
    add_clock_check(k, sums, skew);
    tm_add_null(skew, "straggler", why);
    add_skew_members(k, sums, skew);
    (void)tm_add_array(skew, "worst");
}

void tm_skew_report(struct skew *k, struct matches *m, struct skew_sums *sums, struct tm_value *section)
{
    struct tm_value *skew = tm_add_object(section, "skew");

    tm_add_uint(skew, "communicators", m->communicators);
    tm_add_uint(skew, "matched", sums->matched);
    tm_add_uint(skew, "unmatched", sums->unmatched);
    tm_add_uint(skew, "incomplete", sums->incomplete);
    add_overlap(&sums->overlap, "no collective in which all devices have to be at once", skew);
    if (sums->matched)
        add_figures(k, m, sums, skew);
    else
        add_nothing(k, sums, skew);
}
