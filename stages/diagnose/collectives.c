/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives, the stage: folds them by kind, size of their message, data type and size of the group.  What counts is
 * what the devices count as collectives.  Memory: a table of fixed size remembers what names and configurations tell;
 * groups spill. */
#include "stages/diagnose/collectives.h"

#include <string.h>
#include <xxhash.h>

#include "pipeline/hash.h"
#include "stages/diagnose/collectives_private.h"
#include "stages/resolve/classes.h"

enum { TEXT_MOST = 4096 }; /* bytes of a text that are looked at */

static void merge_rows(void *into, const void *from)
{
    struct collective_row *a = into;
    const struct collective_row *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
}

static tm_status open_stage(struct tm_stage *s)
{
    struct collectives *c = s->state;

    c->run = s->run;
    c->settings = s->settings;
    c->front = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, COLLECTIVES_FRONT * sizeof(*c->front), &s->run->error);
    c->groups = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct collective_row),
                              collectives_memory(s->run, COLLECTIVES_GROUPS), merge_rows);
    return c->front && c->groups ? TM_OK : s->run->error.status;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct collectives *c = s->state;

    c->trace = trace;
    c->names = trace->names;
    memset(c->front, 0, COLLECTIVES_FRONT * sizeof(*c->front));
    for (uint32_t i = 0; i < trace->device_count; i++)
        c->has_device |= trace->devices[i].activities != 0;
    return TM_OK;
}

/* --- what an event is about --- */

/* What a text of the names tells; *kind changes only where it tells something. */
static tm_status ask(struct tm_names *names, tm_strid id, enum tm_collective_kind *kind)
{
    const char *text;
    size_t length;
    tm_status st;

    if (!id || *kind != TM_OTHER_COLLECTIVE)
        return TM_OK;
    st = tm_names_text(names, id, TEXT_MOST, &text, &length);
    if (st == TM_OK)
        *kind = tm_collective_kind_in(text, length);
    return st;
}

/* The same of an op's HLO text: the opcode, else what an async op calls.  Operands tell nothing of it. */
static tm_status ask_hlo(struct tm_names *names, tm_strid id, enum tm_collective_kind *kind)
{
    const char *text, *opcode, *calls;
    size_t length, opcode_length;
    tm_status st;

    if (!id || *kind != TM_OTHER_COLLECTIVE)
        return TM_OK;
    st = tm_names_text(names, id, TEXT_MOST, &text, &length);
    if (st != TM_OK)
        return st;
    tm_hlo_opcode(text, length, &opcode, &opcode_length);
    *kind = tm_collective_kind_in(opcode, opcode_length);
    calls = length ? memmem(text, length, "calls=", 6) : NULL;
    if (*kind == TM_OTHER_COLLECTIVE && calls)
        *kind = tm_collective_kind_in(calls, strcspn(calls, ", "));
    return TM_OK;
}

/* The most that a rank sends or receives: an all-gather's output, a reduce-scatter's input. */
static uint64_t bytes_of(const struct tm_message *message)
{
    const uint64_t elements =
        message->elements_in > message->elements_out ? message->elements_in : message->elements_out;
    uint64_t bytes;

    return __builtin_mul_overflow(elements, (uint64_t)message->element_bytes, &bytes) ? 0 : bytes;
}

static tm_status find_kind(struct collectives *c, const struct tm_event *event, const struct tm_message *message,
                           enum tm_collective_kind *kind)
{
    const struct tm_config *config = event->config;
    tm_status st = ask(c->names, message->operation, kind);

    if (st == TM_OK)
        st = ask(c->names, config->hlo_op, kind);
    if (st == TM_OK)
        st = ask_hlo(c->names, config->details, kind);
    if (st == TM_OK)
        st = ask(c->names, config->category, kind);
    return st == TM_OK ? ask(c->names, event->record.name, kind) : st;
}

/* What the key of a row is made of; no gaps in it. */
struct key_text {
    struct tm_key data_type;
    uint64_t message_bytes;
    uint32_t group_size, kind;
};
static_assert(sizeof(struct key_text) == 32, "hashed as bytes");

static tm_status fill_front(struct collectives *c, const struct tm_event *event, struct collective_front *front)
{
    const uint32_t number = event->config->message;
    struct tm_message message = { .group_size = 0 };
    enum tm_collective_kind kind = TM_OTHER_COLLECTIVE;
    struct key_text text;
    struct tm_name type;
    XXH128_hash_t hash;
    tm_status st;

    if (number) {
        const struct tm_message *row = tm_rows_at(c->trace->messages, number);

        if (!row)
            return c->run->error.status;
        message = *row;
    }
    st = find_kind(c, event, &message, &kind);
    if (st == TM_OK)
        st = tm_names_info(c->names, message.data_type, &type);
    if (st != TM_OK)
        return st;
    text = (struct key_text){ type.hash, bytes_of(&message), message.group_size, kind };
    hash = XXH3_128bits(&text, sizeof(text));
    *front = (struct collective_front){
        .row = { .key = { hash.high64, hash.low64 },
                 .count = event->config->tpu_part != TM_TPU_START, /* one that is waited for is counted there */
                 .message_bytes = text.message_bytes,
                 .group_size = message.group_size,
                 .data_type = message.data_type,
                 .kind = (uint8_t)kind },
        .name = event->record.name,
        .config = event->record.config,
        .is_used = true,
    };
    return TM_OK;
}

/* --- events --- */

static tm_status take_collective(struct collectives *c, const struct tm_event *event)
{
    const uint64_t mixed = tm_hash_mix((uint64_t)event->record.name << 32 | event->record.config, 0);
    struct collective_front *front = &c->front[mixed & (COLLECTIVES_FRONT - 1)];
    struct collective_row row;

    if (!front->is_used || front->name != event->record.name || front->config != event->record.config) {
        const tm_status st = fill_front(c, event, front);

        if (st != TM_OK)
            return st;
    }
    row = front->row;
    row.total_ps = event->record.dur_ps;
    c->count = tm_sum_counts(c->count, row.count);
    c->total_ps = tm_sum_times(c->total_ps, row.total_ps);
    if (row.message_bytes) {
        c->sized_count = tm_sum_counts(c->sized_count, row.count);
        c->bytes = tm_sum_counts(c->bytes, row.count * row.message_bytes);
    }
    return tm_groups_add(c->groups, &row);
}

static tm_status take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    struct collectives *c = s->state;
    tm_status st = TM_OK;

    for (size_t i = 0; i < count && st == TM_OK; i++) {
        if (events[i].chosen && events[i].level == TM_LEVEL_COLLECTIVE && events[i].device < c->trace->device_count)
            st = take_collective(c, &events[i]);
    }
    return st;
}

static tm_status end_host(struct tm_stage *s)
{
    struct collectives *c = s->state;

    c->trace = NULL;
    return TM_OK;
}

static void close_stage(struct tm_stage *s)
{
    struct collectives *c = s->state;

    if (!c->run)
        return;
    tm_give(&c->run->budget, TM_ACCOUNT_TABLES, c->front, c->front ? COLLECTIVES_FRONT * sizeof(*c->front) : 0);
    tm_groups_free(c->groups);
}

const struct tm_stage_type tm_collectives_stage = {
    .name = "collectives",
    .summary = "collectives by kind and size",
    .state_bytes = sizeof(struct collectives),
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = tm_collectives_report,
    .save = tm_collectives_save,
    .load = tm_collectives_load,
    .close = close_stage,
};
