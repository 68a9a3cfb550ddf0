/* SPDX-License-Identifier: Apache-2.0 */
/* Skew: keeps the start of every collective, with the communicator that it belongs to.  Those of
 * steps that are not chosen have to be known too: they may run in the window, and a device may wait
 * for them.  What belongs together is found out at the end, when all hosts are read.  Memory: a
 * table of fixed size remembers what names and configurations tell; arrivals and communicators
 * spill; fixed per device and host. */
#include <string.h>

#include "pipeline/hash.h"
#include "stages/diagnose/collectives/skew_private.h"

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

tm_status open_skew(struct skew *k, struct tm_run *run)
{
    k->run = run;
    k->front =
        tm_take(&run->budget, TM_ACCOUNT_TABLES, SKEW_FRONT * sizeof(*k->front), &run->error);
    k->arrivals = tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(struct arrival),
                                collectives_memory(run, SKEW_ARRIVALS), by_place);
    k->communicators =
        tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct communicator),
                      collectives_memory(run, SKEW_COMMUNICATORS), merge_communicators);
    return k->front && k->arrivals && k->communicators ? TM_OK : run->error.status;
}

/* --- a host begins --- */

tm_status grow_presences(struct skew *k)
{
    const size_t row = sizeof(*k->presences);
    struct presence *rows;

    if (k->members.count == k->presence_most)
        return TM_OK;
    rows = tm_retake(&k->run->budget, TM_ACCOUNT_MODEL, k->presences, k->presence_most * row, k->members.count * row,
                     &k->run->error);
    if (!rows)
        return k->run->error.status;
    memset(rows + k->presence_most, 0, (k->members.count - k->presence_most) * row);
    k->presences = rows;
    k->presence_most = k->members.count;
    return TM_OK;
}

tm_status add_clock(struct skew *k, struct host_clock clock)
{
    const size_t row = sizeof(*k->clocks);
    struct host_clock *clocks = tm_retake(&k->run->budget, TM_ACCOUNT_MODEL, k->clocks, k->clock_count * row,
                                          (k->clock_count + 1) * row, &k->run->error);

    if (!clocks)
        return k->run->error.status;
    k->clocks = clocks;
    k->clocks[k->clock_count++] = clock;
    return TM_OK;
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

tm_status begin_skew_host(struct skew *k, const struct tm_trace *trace)
{
    tm_status st = tm_members_begin_host(&k->members, k->run, trace);

    k->trace = trace;
    k->names = trace->names;
    memset(k->front, 0, SKEW_FRONT * sizeof(*k->front));
    if (st == TM_OK)
        st = grow_presences(k);
    return st == TM_OK ? add_clock(k, clock_of(trace)) : st;
}

/* --- what a collective belongs to --- */

/* What the key of a communicator is made of; no gaps in it. */
struct key_text {
    struct tm_key name, group, ranks;
    uint64_t message_bytes, kind;
    uint64_t is_numbered; /* its collectives have sequence numbers */
};
static_assert(sizeof(struct key_text) == 72, "hashed as bytes");

static tm_status hash_of(const struct skew *k, tm_strid id, struct tm_key *hash)
{
    struct tm_name info;
    const tm_status st = tm_names_info(k->names, id, &info);

    *hash = info.hash;
    return st;
}

/* PyTorch tells the group and the operation.  Ranks may send messages of different sizes in an
 * all-to-all, and a sequence number says which belong together whatever their sizes. */
static tm_status name_by_message(const struct skew *k, const struct tm_collective_facts *facts, struct key_text *text,
                                 struct communicator *c)
{
    tm_status st = hash_of(k, facts->operation, &text->name);

    if (st == TM_OK)
        st = hash_of(k, facts->group, &text->group);
    if (st == TM_OK)
        st = hash_of(k, facts->group_ranks, &text->ranks);
    text->message_bytes =
        facts->kind == TM_ALL_TO_ALL || text->is_numbered ? 0 : facts->message_bytes;
    c->name = facts->operation;
    c->group = facts->group_ranks ? facts->group_ranks : facts->group;
    return st;
}

/* XLA tells the program and its op; else there is the name only. */
static tm_status name_by_op(const struct skew *k, const struct tm_event *event,
                            const struct tm_collective_facts *facts, struct key_text *text, struct communicator *c)
{
    const tm_strid name = event->config->hlo_op ? event->config->hlo_op : event->record.name;
    tm_status st = hash_of(k, name, &text->name);

    if (st == TM_OK)
        st = hash_of(k, event->config->module, &text->group);
    if (st == TM_OK)
        st = hash_of(k, facts->replica_groups, &c->replica_hash);
    c->name = name;
    c->group = c->replica_groups = facts->replica_groups;
    return st;
}

/* The sequence number that the event has in its process group. */
static bool has_sequence(const struct tm_event *event, int64_t *sequence)
{
    struct tm_number number;

    if (event->record.class != TM_CLASS_COLLECTIVE || !event->args ||
        event->record.args_length != sizeof(number) || !event->config->message)
        return false;
    memcpy(&number, event->args, sizeof(number));
    *sequence = number.value;
    return number.value >= 0;
}

/* in: front  its communicator is put among the others */
static tm_status fill_front(struct skew *k, const struct tm_event *event, bool is_numbered,
                            struct skew_front *front)
{
    struct tm_collective_facts facts;
    struct key_text text = { .is_numbered = is_numbered };
    struct communicator c = { .name = 0 };
    tm_status st = tm_collective_facts(k->trace, event, &facts);

    if (st == TM_OK && facts.operation)
        st = name_by_message(k, &facts, &text, &c);
    else if (st == TM_OK)
        st = name_by_op(k, event, &facts, &text, &c);
    if (st != TM_OK)
        return st;
    text.kind = facts.kind;
    c.key = tm_hash_key(&text, sizeof(text));
    c.group_size = facts.group_size;
    c.kind = (uint8_t)facts.kind;
    *front = (struct skew_front){ .communicator = c.key,
                                  .name = event->record.name,
                                  .config = event->record.config,
                                  .is_used = true,
                                  .is_numbered = is_numbered,
                                  .can_match = facts.kind != TM_SEND_RECV };
    return tm_groups_add(k->communicators, &c);
}

/* --- events --- */

static tm_status keep_arrival(struct skew *k, const struct tm_event *event, struct arrival *arrival)
{
    const uint64_t mixed = tm_hash_mix((uint64_t)event->record.name << 32 | event->record.config, 0);
    struct skew_front *front = &k->front[mixed & (SKEW_FRONT - 1)];
    bool is_numbered;
    tm_status st = tm_step_number(k->trace, event->step, &arrival->step);

    arrival->place = arrival->step;
    is_numbered = has_sequence(event, &arrival->place);
    if (st == TM_OK && (!front->is_used || front->name != event->record.name ||
                        front->config != event->record.config || front->is_numbered != is_numbered))
        st = fill_front(k, event, is_numbered, front);
    if (st != TM_OK)
        return st;
    if (!front->can_match) {
        k->unmatchable = tm_sum_counts(k->unmatchable, event->chosen);
        return TM_OK;
    }
    arrival->communicator = front->communicator;
    return tm_sorter_push(k->arrivals, arrival);
}

/* Which events: those of CPUs are threads of one process, of which nothing tells who takes part. */
tm_status take_arrival(struct skew *k, const struct tm_event *event, struct tm_key row,
                       uint64_t serial)
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
        return TM_OK;
    if (event->chosen) {
        struct presence *presence = &k->presences[member];

        presence->count += event->config->tpu_part != TM_TPU_START;
        presence->collective_ps = tm_sum_times(presence->collective_ps, r->dur_ps);
    }
    return event->config->tpu_part == TM_TPU_WAIT ? TM_OK : keep_arrival(k, event, &arrival);
}

void close_skew(struct skew *k)
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
