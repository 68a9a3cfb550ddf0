/* SPDX-License-Identifier: Apache-2.0 */
/* What a collective is about.  The profile's own words come first: the message's arguments, then the HLO op, then the
 * kernel's name. */
#include "stages/figures/collective_facts.h"

#include <string.h>

#include "stages/resolve/classes.h"

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

/* Does the text begin with the word, if '_' and '-' inside of it are left out? */
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

enum { TEXT_MOST = 4096 }; /* bytes of a text that are looked at */

/* What a text of the names tells; *kind changes only where it tells something. */
static void ask(struct tm_names *names, tm_strid id, enum tm_collective_kind *kind)
{
    size_t length;
    const char *text;

    if (!id || *kind != TM_OTHER_COLLECTIVE)
        return;
    text = tm_names_text(names, id, TEXT_MOST, &length);
    *kind = tm_collective_kind_in(text, length);
}

/* The same of an op's HLO text: the opcode, else what an async op calls.  Operands tell nothing of it. */
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

/* What the program's HLO tells, where the event's message does not. */
static void add_hlo(const struct tm_hlo_op *op, struct tm_collective_facts *facts)
{
    if (!facts->message_bytes)
        facts->message_bytes = op->message_bytes;
    if (!facts->group_size)
        facts->group_size = op->group_size;
    facts->replica_groups = op->groups;
}

/* What the HLO line that a TPU op is named by tells, where nothing else does.  Not of a start and its wait: only one
 * of the two lines names the group, and they have to be one row. */
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

/* Devices of the node; 0 = not told. */
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
