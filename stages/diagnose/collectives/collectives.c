/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives, the stage: folds them by kind, size of their message, data type and size of the
 * group, and keeps when each one starts on each device and where it is exposed: who waits for whom
 * is found out when all hosts are read. What counts is what the devices count as collectives.
 * Memory: a table of fixed size remembers what names and configurations tell; fixed per device what
 * runs on it; groups, starts and stretches spill. */
#include "stages/diagnose/collectives/collectives.h"

#include <string.h>

#include "pipeline/hash.h"
#include "stages/diagnose/collectives/collectives_private.h"
#include "stages/resolve/hlo_line.h"

enum { START_TEXT_MOST = 4096 }; /* bytes of an op's text that are looked at */

static int by_serial(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;

    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    if (x->serial != y->serial)
        return x->serial < y->serial ? -1 : 1;
    return (x->begin_ps > y->begin_ps) - (x->begin_ps < y->begin_ps);
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
    c->groups =
        tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct collective_row),
                      collectives_memory(s->run, COLLECTIVES_GROUPS), merge_collective_rows);
    c->stretches = tm_sorter_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct stretch),
                                 collectives_memory(s->run, COLLECTIVES_STRETCHES), by_serial);
    if (!c->front || !c->groups || !c->stretches)
        return s->run->error.status;
    tm_sorter_set_prefix(c->stretches, serial_prefix);
    return open_skew(&c->skew, s->run);
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct collectives *c = s->state;
    const tm_status st = begin_skew_host(&c->skew, trace);

    c->trace = trace;
    c->names = trace->names;
    memset(c->front, 0, COLLECTIVES_FRONT * sizeof(*c->front));
    if (st != TM_OK || !trace->device_count)
        return st;
    c->exposures = tm_take(&c->run->budget, TM_ACCOUNT_MODEL, trace->device_count * sizeof(*c->exposures),
                           &c->run->error);
    if (!c->exposures)
        return c->run->error.status;
    c->exposure_count = trace->device_count;
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        c->has_device |= device->activities != 0;
        init_exposure(&c->exposures[i], device->chosen_begin_ps, device->chosen_end_ps);
    }
    return TM_OK;
}

/* What the key of a row is made of; no gaps in it. */
struct key_text {
    struct tm_key data_type;
    uint64_t message_bytes;
    uint32_t group_size, kind;
};
static_assert(sizeof(struct key_text) == 32, "hashed as bytes");

/* The op that a text names: of an HLO line its own name, or of a wait that of its first operand; a
 * short name is what it is. */
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

/* What an asynchronous collective of a TPU is called where it starts, as its start and its wait
 * tell; 0 = not told. */
static tm_status find_start(struct collectives *c, const struct tm_event *event, uint64_t *name)
{
    const enum tm_tpu_part part = (enum tm_tpu_part)event->config->tpu_part;
    struct tm_text text, op;
    tm_status st;

    *name = 0;
    if (part != TM_TPU_START && part != TM_TPU_WAIT)
        return TM_OK;
    st = tm_names_text(c->names,
                       event->config->details ? event->config->details : event->record.name,
                       START_TEXT_MOST, &text.at, &text.length);
    if (st != TM_OK)
        return st;
    op = op_in(text, part == TM_TPU_WAIT);
    *name = op.length ? tm_hash_key(op.at, op.length).high | 1 : 0;
    return TM_OK;
}

static tm_status fill_front(struct collectives *c, const struct tm_event *event, struct collective_front *front)
{
    struct tm_collective_facts facts;
    struct key_text text;
    struct tm_name type;
    tm_status st = tm_collective_facts(c->trace, event, &facts);

    if (st == TM_OK)
        st = tm_names_info(c->names, facts.data_type, &type);
    if (st != TM_OK)
        return st;
    text = (struct key_text){ type.hash, facts.message_bytes, facts.group_size,
                              facts.kind | (uint32_t)facts.reach << 16 };
    *front = (struct collective_front){
        .row = { .key = tm_hash_key(&text, sizeof(text)),
                 .message_bytes = facts.message_bytes,
                 .group_size = facts.group_size,
                 .data_type = facts.data_type,
                 .kind = (uint8_t)facts.kind,
                 .reach = (uint8_t)facts.reach,
                 .is_told = true },
        .name = event->record.name,
        .config = event->record.config,
        .is_used = true,
    };
    return find_start(c, event, &front->start);
}

/* The row of an event without what it counts.
 * out: *start  as find_start gives it */
static tm_status find_row(struct collectives *c, const struct tm_event *event,
                          struct collective_row *row, uint64_t *start)
{
    const uint64_t mixed = tm_hash_mix((uint64_t)event->record.name << 32 | event->record.config, 0);
    struct collective_front *front = &c->front[mixed & (COLLECTIVES_FRONT - 1)];
    tm_status st = TM_OK;

    if (!front->is_used || front->name != event->record.name || front->config != event->record.config)
        st = fill_front(c, event, front);
    *row = front->row;
    *start = front->start;
    return st;
}

/* --- events --- */

/* A collective in a chosen step.  An asynchronous one of a TPU is counted where it is waited for, and its bytes move
 * while it is in flight. */
static tm_status count_collective(struct collectives *c, const struct tm_event *event, struct collective_row row)
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
    return tm_groups_add(c->groups, &row);
}

/* The number of a collective on its device: of a wait that of the collective which it waits for, as
 * far as that one is known. */
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

static tm_status take_collective(struct collectives *c, struct exposure *e, const struct tm_event *event)
{
    const struct tm_record *r = &event->record;
    struct collective_row row;
    uint64_t start;
    tm_status st = find_row(c, event, &row, &start);
    const struct stretch stretch = { .row = row.key,
                                     .serial = serial_of(e, event, start),
                                     .member = c->skew.members.by_device[event->device],
                                     .is_chosen = event->chosen };

    if (st == TM_OK)
        st = take_arrival(&c->skew, event, row.key, stretch.serial);
    if (st == TM_OK && stretch.member != TM_NONE)
        expose_collective(e, r->start_ps, r->start_ps + r->dur_ps, &stretch);
    return st == TM_OK && event->chosen ? count_collective(c, event, row) : st;
}

/* A stretch in flight belongs to no step: those count that start while the chosen steps run. */
static tm_status take_flight(struct collectives *c, const struct exposure *e,
                             const struct tm_event *event)
{
    struct collective_row row;
    uint64_t start;
    tm_status st;

    if (event->config->level != TM_LEVEL_COLLECTIVE || event->record.start_ps < e->begin_ps ||
        event->record.start_ps >= e->end_ps)
        return TM_OK;
    st = find_row(c, event, &row, &start);
    row.flight_count = 1;
    row.flight_ps = event->record.dur_ps;
    return st == TM_OK ? tm_groups_add(c->groups, &row) : st;
}

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct collectives *c = s->state;
    const struct tm_record *r = &event->record;
    struct exposure *e;
    tm_status st;

    if (event->device >= c->exposure_count)
        return TM_OK;
    e = &c->exposures[event->device];
    if (r->class == TM_CLASS_TPU_ASYNC)
        return take_flight(c, e, event);
    if (event->level != TM_LEVEL_COMPUTE && event->level != TM_LEVEL_COLLECTIVE)
        return TM_OK;
    st = expose_to(e, r->start_ps, c->stretches);
    if (st == TM_OK && event->level == TM_LEVEL_COLLECTIVE)
        return take_collective(c, e, event);
    expose_compute(e, r->start_ps + r->dur_ps);
    return st;
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
    tm_status st = TM_OK;

    for (uint32_t i = 0; i < c->exposure_count && st == TM_OK; i++)
        st = expose_to(&c->exposures[i], INT64_MAX, c->stretches);
    free_exposures(c);
    c->trace = c->skew.trace = NULL;
    return st;
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
    close_skew(&c->skew);
}

const struct tm_stage_type tm_collectives_stage = {
    .name = "collectives",
    .summary = "collectives by kind and size, and who waits in them",
    .state_bytes = sizeof(struct collectives),
    .classes = TM_CLASSES_ACTIVITY | TM_CLASS_BIT(TM_CLASS_TPU_ASYNC),
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = tm_collectives_report,
    .save = tm_collectives_save,
    .load = tm_collectives_load,
    .close = close_stage,
};
