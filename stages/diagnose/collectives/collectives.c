/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives, the stage: folds them by kind, size of their message, data type and size of the group.  What counts is
 * what the devices count as collectives.  Memory: a table of fixed size remembers what names and configurations tell;
 * fixed per device what runs on it; groups spill. */
#include "stages/diagnose/collectives/collectives.h"

#include <string.h>

#include "pipeline/hash.h"
#include "stages/diagnose/collectives/collectives_private.h"

static void merge_rows(void *into, const void *from)
{
    struct collective_row *a = into;
    const struct collective_row *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
    a->exposed_ps = tm_sum_times(a->exposed_ps, b->exposed_ps);
    a->moved_count = tm_sum_counts(a->moved_count, b->moved_count);
    a->moved_ps = tm_sum_times(a->moved_ps, b->moved_ps);
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
    if (!trace->device_count)
        return TM_OK;
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
    text = (struct key_text){ type.hash, facts.message_bytes, facts.group_size, facts.kind };
    *front = (struct collective_front){
        .row = { .key = tm_hash_key(&text, sizeof(text)),
                 .message_bytes = facts.message_bytes,
                 .group_size = facts.group_size,
                 .data_type = facts.data_type,
                 .kind = (uint8_t)facts.kind },
        .name = event->record.name,
        .config = event->record.config,
        .is_used = true,
    };
    return TM_OK;
}

/* The row of an event without what it counts. */
static tm_status find_row(struct collectives *c, const struct tm_event *event, struct collective_row *row)
{
    const uint64_t mixed = tm_hash_mix((uint64_t)event->record.name << 32 | event->record.config, 0);
    struct collective_front *front = &c->front[mixed & (COLLECTIVES_FRONT - 1)];
    tm_status st = TM_OK;

    if (!front->is_used || front->name != event->record.name || front->config != event->record.config)
        st = fill_front(c, event, front);
    *row = front->row;
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
        row.moved_count = 1;
        row.moved_ps = row.total_ps;
    }
    c->count = tm_sum_counts(c->count, row.count);
    c->total_ps = tm_sum_times(c->total_ps, row.total_ps);
    if (row.message_bytes) {
        c->sized_count = tm_sum_counts(c->sized_count, row.count);
        c->bytes = tm_sum_counts(c->bytes, row.count * row.message_bytes);
    }
    return tm_groups_add(c->groups, &row);
}

static tm_status take_collective(struct collectives *c, struct exposure *e, const struct tm_event *event)
{
    const struct tm_record *r = &event->record;
    struct collective_row row;
    tm_status st = find_row(c, event, &row);

    if (st == TM_OK)
        expose_collective(e, r->start_ps, r->start_ps + r->dur_ps, &row);
    return st == TM_OK && event->chosen ? count_collective(c, event, row) : st;
}

static tm_status take_flight(struct collectives *c, const struct tm_event *event)
{
    struct collective_row row;
    const tm_status st = find_row(c, event, &row);

    row.moved_count = 1;
    row.moved_ps = event->record.dur_ps;
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
    if (r->class == TM_CLASS_TPU_ASYNC)
        return event->config->level == TM_LEVEL_COLLECTIVE && (event->chosen || c->trace->steps.all)
                   ? take_flight(c, event)
                   : TM_OK;
    if (event->level != TM_LEVEL_COMPUTE && event->level != TM_LEVEL_COLLECTIVE)
        return TM_OK;
    e = &c->exposures[event->device];
    st = expose_to(e, r->start_ps, c->groups);
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
        st = expose_to(&c->exposures[i], INT64_MAX, c->groups);
    free_exposures(c);
    c->trace = NULL;
    return st;
}

static void close_stage(struct tm_stage *s)
{
    struct collectives *c = s->state;

    if (!c->run)
        return;
    tm_give(&c->run->budget, TM_ACCOUNT_TABLES, c->front, c->front ? COLLECTIVES_FRONT * sizeof(*c->front) : 0);
    tm_groups_free(c->groups);
    free_exposures(c);
}

const struct tm_stage_type tm_collectives_stage = {
    .name = "collectives",
    .summary = "collectives by kind and size",
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
