/* SPDX-License-Identifier: Apache-2.0 */
/* Skew, the stage: keeps the begin of every collective in a chosen step, with the communicator that it belongs to.
 * What belongs together is found out at the end, when all hosts are read.  Memory: a table of fixed size remembers what
 * names and configurations tell; arrivals and communicators spill; fixed per device and host. */
#include <string.h>

#include "pipeline/hash.h"
#include "stages/diagnose/collectives/skew_private.h"

static int by_place(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    const int communicators = tm_key_order(x->communicator, y->communicator);

    if (communicators)
        return communicators;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->dur_ps != y->dur_ps)
        return x->dur_ps > y->dur_ps ? -1 : 1;
    return (x->is_start > y->is_start) - (x->is_start < y->is_start);
}

/* Hosts may differ in what their profiles tell of the same program. */
static void merge_communicators(void *into, const void *from)
{
    struct communicator *a = into;
    const struct communicator *b = from;

    if (b->replica_groups && (!a->replica_groups || tm_key_order(b->replica_hash, a->replica_hash) > 0)) {
        a->replica_groups = b->replica_groups;
        a->replica_hash = b->replica_hash;
    }
}

static tm_status open_stage(struct tm_stage *s)
{
    struct skew *k = s->state;

    k->run = s->run;
    k->front = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, SKEW_FRONT * sizeof(*k->front), &s->run->error);
    k->arrivals = tm_sorter_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct arrival),
                                skew_memory(s->run, SKEW_ARRIVALS), by_place);
    k->communicators = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct communicator),
                                     skew_memory(s->run, SKEW_COMMUNICATORS), merge_communicators);
    return k->front && k->arrivals && k->communicators ? TM_OK : s->run->error.status;
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

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct skew *k = s->state;
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
};
static_assert(sizeof(struct key_text) == 64, "hashed as bytes");

static tm_status hash_of(const struct skew *k, tm_strid id, struct tm_key *hash)
{
    struct tm_name info;
    const tm_status st = tm_names_info(k->names, id, &info);

    *hash = info.hash;
    return st;
}

/* PyTorch tells the group and the operation.  Ranks may send messages of different sizes in an all-to-all. */
static tm_status name_by_message(const struct skew *k, const struct tm_collective_facts *facts, struct key_text *text,
                                 struct communicator *c)
{
    tm_status st = hash_of(k, facts->operation, &text->name);

    if (st == TM_OK)
        st = hash_of(k, facts->group, &text->group);
    if (st == TM_OK)
        st = hash_of(k, facts->group_ranks, &text->ranks);
    text->message_bytes = facts->kind == TM_ALL_TO_ALL ? 0 : facts->message_bytes;
    c->name = facts->operation;
    c->group = facts->group_ranks ? facts->group_ranks : facts->group;
    return st;
}

/* XLA tells the program and its op. */
static tm_status name_by_op(const struct skew *k, const struct tm_event *event,
                            const struct tm_collective_facts *facts, struct key_text *text, struct communicator *c)
{
    tm_status st = hash_of(k, event->config->hlo_op, &text->name);

    if (st == TM_OK)
        st = hash_of(k, event->config->module, &text->group);
    if (st == TM_OK)
        st = hash_of(k, facts->replica_groups, &c->replica_hash);
    c->name = event->config->hlo_op;
    c->group = c->replica_groups = facts->replica_groups;
    return st;
}

/* in: front  its communicator is put among the others */
static tm_status fill_front(struct skew *k, const struct tm_event *event, struct skew_front *front)
{
    struct tm_collective_facts facts;
    struct key_text text = { .message_bytes = 0 };
    struct communicator c = { .name = 0 };
    tm_status st = tm_collective_facts(k->trace, event, &facts);

    if (st == TM_OK && facts.operation) {
        st = name_by_message(k, &facts, &text, &c);
    } else if (st == TM_OK && event->config->hlo_op) {
        st = name_by_op(k, event, &facts, &text, &c);
    } else if (st == TM_OK) {
        c.name = event->record.name;
        st = hash_of(k, c.name, &text.name);
    }
    if (st != TM_OK)
        return st;
    text.kind = facts.kind;
    c.key = tm_hash_key(&text, sizeof(text));
    c.kind = (uint8_t)facts.kind;
    *front = (struct skew_front){ .communicator = c.key,
                                  .name = event->record.name,
                                  .config = event->record.config,
                                  .is_used = true,
                                  .can_match = facts.kind != TM_SEND_RECV };
    return tm_groups_add(k->communicators, &c);
}

/* --- events --- */

static tm_status keep_arrival(struct skew *k, const struct tm_event *event, uint32_t member)
{
    const uint64_t mixed = tm_hash_mix((uint64_t)event->record.name << 32 | event->record.config, 0);
    struct skew_front *front = &k->front[mixed & (SKEW_FRONT - 1)];
    struct arrival arrival = { .start_ps = event->record.start_ps,
                               .dur_ps = event->record.dur_ps,
                               .member = member,
                               .is_start = event->config->tpu_part == TM_TPU_START };
    tm_status st = TM_OK;

    if (!front->is_used || front->name != event->record.name || front->config != event->record.config)
        st = fill_front(k, event, front);
    if (st == TM_OK)
        st = tm_step_number(k->trace, event->step, &arrival.step);
    if (st != TM_OK)
        return st;
    if (!front->can_match) {
        k->unmatchable = tm_sum_counts(k->unmatchable, 1);
        return TM_OK;
    }
    arrival.communicator = front->communicator;
    return tm_sorter_push(k->arrivals, &arrival);
}

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct skew *k = s->state;
    struct presence *presence;
    uint32_t member;

    if (!event->chosen || event->level != TM_LEVEL_COLLECTIVE || event->device >= k->trace->device_count)
        return TM_OK;
    member = k->members.by_device[event->device];
    if (member == TM_NONE)
        return TM_OK;
    presence = &k->presences[member];
    presence->count += event->config->tpu_part != TM_TPU_START;
    presence->collective_ps = tm_sum_times(presence->collective_ps, event->record.dur_ps);
    return event->config->tpu_part == TM_TPU_WAIT ? TM_OK : keep_arrival(k, event, member);
}

static tm_status end_host(struct tm_stage *s)
{
    struct skew *k = s->state;

    k->trace = NULL;
    return TM_OK;
}

static void close_stage(struct tm_stage *s)
{
    struct skew *k = s->state;

    if (!k->run)
        return;
    tm_give(&k->run->budget, TM_ACCOUNT_TABLES, k->front, k->front ? SKEW_FRONT * sizeof(*k->front) : 0);
    tm_give(&k->run->budget, TM_ACCOUNT_MODEL, k->presences, k->presence_most * sizeof(*k->presences));
    tm_give(&k->run->budget, TM_ACCOUNT_MODEL, k->clocks, k->clock_count * sizeof(*k->clocks));
    tm_members_free(&k->members, k->run);
    tm_sorter_free(k->arrivals);
    tm_groups_free(k->communicators);
}

const struct tm_stage_type tm_skew_stage = {
    .name = "skew",
    .summary = "late arrivals at collectives",
    .state_bytes = sizeof(struct skew),
    .classes = TM_CLASS_BIT(TM_CLASS_COLLECTIVE) | TM_CLASS_BIT(TM_CLASS_TPU_OP),
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = report_skew,
    .save = save_skew,
    .load = load_skew,
    .close = close_stage,
};
