/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of collectives, and the matching of collectives of several devices.  Keeps the start of every collective,
 * with its communicator.  Collectives of steps that are not analyzed are needed too: they may run in the window, and a
 * device may wait for them.  The matching is done at the end, when all hosts are read.  Memory: a table of fixed size
 * caches results by name and configuration; arrivals and communicators spill; fixed per device and host. */
#include "stages/figures/skew.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/resolve/classes.h"

/* Properties of a collective.  The profile's own data takes precedence: the message's arguments, then the HLO op, then
 * the kernel's name. */

/* clang-format off */
const char *const tm_collective_kind_name[TM_COLLECTIVE_KIND_COUNT] = {
    [TM_ALL_REDUCE] = "all-reduce",   [TM_ALL_GATHER] = "all-gather", [TM_REDUCE_SCATTER] = "reduce-scatter",
    [TM_ALL_TO_ALL] = "all-to-all",   [TM_BROADCAST] = "broadcast",   [TM_SEND_RECV] = "send-recv",
    [TM_PERMUTE] = "permute",         [TM_OTHER_COLLECTIVE] = "other",
};
/* clang-format on */

/* The first one that the text holds: a fused "all-reduce-scatter" is a reduce-scatter. */
static const struct {
    const char *word;
    enum tm_collective_kind kind;
} words[] = {
    { "reducescatter", TM_REDUCE_SCATTER },
    { "allreduce", TM_ALL_REDUCE },
    { "crossdevicereduce", TM_ALL_REDUCE },
    { "allgather", TM_ALL_GATHER },
    { "alltoall", TM_ALL_TO_ALL },
    { "all2all", TM_ALL_TO_ALL },
    { "permute", TM_PERMUTE },
    { "broadcast", TM_BROADCAST },
    { "bcast", TM_BROADCAST },
    { "sendrecv", TM_SEND_RECV },
    { "send", TM_SEND_RECV },
    { "recv", TM_SEND_RECV },
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether the text starts with the word, ignoring any '_' and '-' in it. */
static bool begins(const char *text, size_t length, const char *word)
{
    size_t n = 0;

    if (!length || lower(*text) != *word)
        return false;
    for (; *word; word++) {
        while (n < length && (text[n] == '_' || text[n] == '-'))
            n++;
        if (n == length || lower(text[n++]) != *word)
            return false;
    }
    return true;
}

enum tm_collective_kind tm_collective_kind_in(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        for (size_t at = 0; at < length; at++) {
            if (begins(text + at, length - at, words[i].word))
                return words[i].kind;
        }
    }
    return TM_OTHER_COLLECTIVE;
}

enum { TEXT_MOST = 4096 }; /* bytes of a string that are examined */

/* Information from a string of the names; *kind changes only if it is specific. */
static void ask(struct tm_names *names, tm_strid id, enum tm_collective_kind *kind)
{
    size_t length;
    const char *text;

    if (!id || *kind != TM_OTHER_COLLECTIVE)
        return;
    text = tm_names_text(names, id, TEXT_MOST, &length);
    *kind = tm_collective_kind_in(text, length);
}

/* The same of an op's HLO text: the opcode, else what an async op calls.  Operands say nothing about it. */
static void ask_hlo(struct tm_names *names, tm_strid id, enum tm_collective_kind *kind)
{
    const char *text, *opcode, *calls;
    size_t length, opcode_length;

    if (!id || *kind != TM_OTHER_COLLECTIVE)
        return;
    text = tm_names_text(names, id, TEXT_MOST, &length);
    tm_hlo_opcode(text, length, &opcode, &opcode_length);
    *kind = tm_collective_kind_in(opcode, opcode_length);
    calls = length ? memmem(text, length, "calls=", 6) : NULL;
    if (*kind == TM_OTHER_COLLECTIVE && calls)
        *kind = tm_collective_kind_in(calls, strcspn(calls, ", "));
}

static uint64_t message_bytes(const struct tm_message *message)
{
    const uint64_t elements =
        message->elements_in > message->elements_out ? message->elements_in : message->elements_out;
    uint64_t bytes;

    return __builtin_mul_overflow(elements, (uint64_t)message->element_bytes, &bytes) ? 0 : bytes;
}

static void find_kind(struct tm_names *names, const struct tm_event *event, struct tm_collective_facts *facts)
{
    const struct tm_config *config = event->config;

    ask(names, facts->operation, &facts->kind);
    ask(names, config->hlo_op, &facts->kind);
    ask_hlo(names, config->details, &facts->kind);
    ask(names, config->category, &facts->kind);
    ask(names, event->record.name, &facts->kind);
}

/* Information from the program's HLO that the event's message lacks. */
static void add_hlo(const struct tm_hlo_op *op, struct tm_collective_facts *facts)
{
    if (!facts->message_bytes)
        facts->message_bytes = op->message_bytes;
    if (!facts->group_size)
        facts->group_size = op->group_size;
    facts->replica_groups = op->groups;
}

/* Information from the HLO line that names a TPU op, if nothing else has it.  Not for a start and its wait: only one of
 * the two lines names the group, and they must be one row. */
static void add_line(struct tm_names *names, const struct tm_event *event, struct tm_collective_facts *facts)
{
    const tm_strid id = event->config->details ? event->config->details : event->record.name;
    struct tm_hlo_line line;
    struct tm_text text;

    if (event->config->tpu_part != TM_TPU_PLAIN || (facts->message_bytes && facts->group_size))
        return;
    text.at = tm_names_text(names, id, TEXT_MOST, &text.length);
    line = tm_hlo_line_read(text);
    if (!facts->group_size)
        facts->group_size = tm_hlo_line_group_size(&line);
    if (!facts->message_bytes)
        facts->message_bytes = tm_hlo_line_message_bytes(&line, facts->group_size);
}

enum tm_collective_reach tm_reach_of_ranks(const char *text, size_t length, uint32_t node_devices)
{
    const uint64_t none = UINT64_MAX;
    uint64_t node = none;
    bool is_told = false;

    if (!node_devices || memmem(text, length, "<=", 2)) /* iota of XLA: "[2,4]<=[8]" */
        return TM_REACH_UNKNOWN;
    for (size_t i = 0; i < length;) {
        uint64_t rank = 0;

        if (text[i] < '0' || text[i] > '9') {
            if (text[i] == '{' || text[i] == '[')
                node = none;
            i++;
            continue;
        }
        for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
            rank = rank < UINT32_MAX ? rank * 10 + (uint64_t)(text[i] - '0') : rank;
        if (node != none && rank / node_devices != node)
            return TM_REACH_NODES;
        node = rank / node_devices;
        is_told = true;
    }
    return is_told ? TM_REACH_NODE : TM_REACH_UNKNOWN;
}

/* Devices of the node; 0 = not recorded. */
static uint32_t node_devices_of(const struct tm_trace *trace)
{
    if (trace->origin != TM_ORIGIN_XSPACE || trace->device_count < 2 || trace->devices[0].kind == TM_DEVICE_CPU)
        return trace->environment.node_devices;
    return trace->device_count;
}

/* By the ranks of its group; else a job that fits into a node is inside it, and a group that does
 * not is not. */
static void find_reach(const struct tm_trace *trace, struct tm_collective_facts *facts)
{
    const uint32_t node_devices = node_devices_of(trace);
    const int64_t world = trace->environment.world_size;
    const tm_strid ranks = facts->group_ranks ? facts->group_ranks : facts->replica_groups;
    const char *text = "";
    size_t length = 0;

    if (!node_devices)
        return;
    if (ranks)
        text = tm_names_text(trace->names, ranks, TEXT_MOST, &length);
    facts->reach = tm_reach_of_ranks(text, length, node_devices);
    if (facts->reach == TM_REACH_UNKNOWN && facts->group_size > node_devices)
        facts->reach = TM_REACH_NODES;
    else if (facts->reach == TM_REACH_UNKNOWN && world > 0 && world <= node_devices)
        facts->reach = TM_REACH_NODE;
}

struct tm_collective_facts tm_collective_facts(const struct tm_trace *trace, const struct tm_event *event)
{
    struct tm_collective_facts facts = { .kind = TM_OTHER_COLLECTIVE };
    const struct tm_hlo_op *op;

    if (event->config->message) {
        const struct tm_message *message = tm_rows_at(trace->messages, event->config->message);

        facts.message_bytes = message_bytes(message);
        facts.group_size = message->group_size;
        facts.data_type = message->data_type;
        facts.operation = message->operation;
        facts.group = message->group;
        facts.group_ranks = message->group_ranks;
    }
    tm_trace_hlo(trace, event->config, &op);
    if (op)
        add_hlo(op, &facts);
    add_line(trace->names, event, &facts);
    find_reach(trace, &facts);
    find_kind(trace->names, event, &facts);
    return facts;
}

/* --- arrivals --- */

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

/* Collectives that are distinguished by their order only: those of the same key on several devices belong together, the
 * first to the first, and so on. */
struct communicator {
    struct tm_key key;
    tm_strid name;           /* an operation, an HLO op or a kernel */
    tm_strid group;          /* its ranks, else its name; 0 = not recorded */
    tm_strid replica_groups; /* "{{0,1},{2,3}}"; 0 = not recorded */
    struct tm_key replica_hash;
    uint32_t group_size; /* 0 = not recorded */
    uint8_t kind;        /* enum tm_collective_kind */
};

enum { SKEW_FRONT = 128 /* a power of two */, SKEW_ROWS_PAGE = 4 << 10 };

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

/* Hosts may differ in what their profiles record of the same program. */
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

void tm_skew_open(struct skew *k, struct tm_run *run, const struct tm_settings *settings)
{
    k->run = run;
    k->settings = settings;
    k->front = tm_take(&run->budget, TM_ACCOUNT_TABLES, SKEW_FRONT * sizeof(*k->front), &run->error);
    k->arrivals =
        tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(struct arrival), collectives_memory(run, SKEW_ARRIVALS), by_place);
    k->communicators = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct communicator),
                                     collectives_memory(run, SKEW_COMMUNICATORS), merge_communicators);
}

/* --- a host starts --- */

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

/* An XSpace records when it started; the files of a PyTorch job keep their clock; JAX's JSON counts from a start that
 * it does not record. */
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

/* The parts of the key of a communicator; without padding. */
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

/* PyTorch records the group and the operation.  Ranks may send messages of different sizes in an all-to-all, and a
 * sequence number matches them regardless of size. */
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

/* XLA records the program and its op; else there is only the name. */
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

/* Takes collectives of GPUs and TPUs; those of CPUs are threads of one process, whose participants are unknown. */
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

/* The number at *at, which then points after it; TM_NONE if it is too large. */
static uint32_t read_number(const char **at)
{
    uint32_t number = 0;

    for (; **at >= '0' && **at <= '9'; ++*at) {
        const uint32_t digit = (uint32_t)(**at - '0');

        number = number >= TM_NONE / 10 - 1 ? TM_NONE / 10 - 1 : number * 10 + digit;
    }
    return number;
}

/* out: *numbers  how many there are, *groups  how many groups have one; false if the text is of another form */
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

/* A string with one group covers all devices, regardless of their numbers: those of the trace are in it. */
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

/* Matches the collectives of several devices.  Arrivals are read twice in the order of communicator, place, device, and
 * start; a place is a recorded sequence number, or a step if there is none.  First, the devices that ran a
 * communicator's collectives equally often in a place are determined; of several such sets, the largest.  Then the
 * arrivals of these devices get their ordinals, and are sorted by them.  The others are unmatched: if the numbers
 * differ, the missing one cannot be identified.  Memory: fixed per device; runs of arrivals, blocks, and joined
 * arrivals spill. */

static int by_ordinal(const void *a, const void *b)
{
    const struct joined *x = a, *y = b;
    const int order = tm_skew_order(x->block, y->block, x->subgroup, y->subgroup, x->ordinal, y->ordinal);

    return order ? order : (x->member > y->member) - (x->member < y->member);
}

struct matching {
    struct skew *k;
    struct matches *m;
    struct tm_rows *runs;      /* uint8_t, of each device in each block: does it take part? */
    uint64_t *counts, *sorted; /* of the current block, by the order of its devices */
    uint32_t *subgroups;       /* of the current communicator, by member */
    uint32_t devices;          /* of the current block */
    uint64_t run, block;       /* second reading: the next ones */
    uint64_t ordinal;
    bool takes_part;
    bool is_counted; /* the current communicator */
};

static bool is_same_block(const struct arrival *a, const struct arrival *b)
{
    return tm_is_same_key(a->communicator, b->communicator) && a->place == b->place;
}

/* --- first reading: the participants --- */

static int by_count(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The number that most devices have, the larger one of several; 0 if no two devices have the same. */
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
