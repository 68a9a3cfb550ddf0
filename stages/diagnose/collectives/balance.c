/* SPDX-License-Identifier: Apache-2.0 */
/* Balance, the stage: folds what the devices compute by op and device, and by step and device.  Memory: events
 * gather by site in a table of fixed size; fixed per device what runs on it; groups spill. */
#include "stages/diagnose/collectives/balance_private.h"

static void merge_ops(void *into, const void *from)
{
    struct op_row *a = into;
    const struct op_row *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
}

static void merge_steps(void *into, const void *from)
{
    struct step_row *a = into;
    const struct step_row *b = from;

    a->compute_ps = tm_sum_times(a->compute_ps, b->compute_ps);
}

static tm_status open_stage(struct tm_stage *s)
{
    struct balance *b = s->state;

    b->run = s->run;
    b->ops = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct op_row), balance_memory(s->run, BALANCE_OPS),
                           merge_ops);
    b->steps = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct step_row),
                             balance_memory(s->run, BALANCE_STEPS), merge_steps);
    if (!b->ops || !b->steps)
        return s->run->error.status;
    return tm_front_init(&b->front, s->run, TM_ACCOUNT_TABLES, sizeof(struct op_row),
                         balance_memory(s->run, BALANCE_FRONT), b->ops);
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct balance *b = s->state;
    const tm_status st = tm_members_begin_host(&b->members, b->run, trace);

    b->trace = trace;
    b->names = trace->names;
    if (st != TM_OK || !trace->device_count)
        return st;
    b->loads = tm_take(&b->run->budget, TM_ACCOUNT_MODEL, trace->device_count * sizeof(*b->loads), &b->run->error);
    if (!b->loads)
        return b->run->error.status;
    b->load_count = trace->device_count;
    for (uint32_t i = 0; i < b->load_count; i++)
        b->loads[i] = (struct load){ .until_ps = INT64_MIN, .number = TM_NO_STEP, .step = TM_NONE };
    return TM_OK;
}

/* --- ops --- */

/* What the events of a site count for: an HLO op of its program where that is told, else what the kernel is called. */
static tm_status find_op(struct balance *b, const struct tm_event *event, uint32_t member, struct op_row *row)
{
    const struct tm_config *config = event->config;
    const tm_strid name = config->hlo_op ? config->hlo_op : event->record.name;
    const tm_strid module = config->hlo_op ? config->module : 0;
    struct tm_key text[2], key;
    const tm_status st = tm_names_hashes(b->names, (const tm_strid[]){ name, module }, 2, text);

    if (st != TM_OK)
        return st;
    key = tm_hash_key(text, sizeof(text));
    row->key = (struct tm_key){ key.high, (key.low & ~(uint64_t)UINT32_MAX) | member };
    row->name = name;
    row->module = module;
    return TM_OK;
}

static tm_status add_op(struct balance *b, const struct tm_event *event, uint32_t member)
{
    bool is_new;
    struct op_row *row = tm_front_at(&b->front, event->site, &is_new);
    const tm_status st = !row ? b->run->error.status : is_new ? find_op(b, event, member, row) : TM_OK;

    if (st != TM_OK)
        return st;
    row->count++;
    row->total_ps = tm_sum_times(row->total_ps, event->record.dur_ps);
    return TM_OK;
}

/* --- steps --- */

static tm_status put_load(struct balance *b, struct load *load, uint32_t member)
{
    const struct step_row row = { { key_of_step(load->number), member }, load->compute_ps };

    if (!load->compute_ps || load->number == TM_NO_STEP)
        return TM_OK;
    load->compute_ps = 0;
    return tm_groups_add(b->steps, &row);
}

static tm_status add_load(struct balance *b, const struct tm_event *event, uint32_t member)
{
    const int64_t end_ps = event->record.start_ps + event->record.dur_ps;
    struct load *load = &b->loads[event->device];
    tm_status st = TM_OK;

    if (event->step != load->step) {
        st = put_load(b, load, member);
        load->step = event->step;
        load->compute_ps = 0;
        if (st == TM_OK)
            st = tm_step_number(b->trace, event->step, &load->number);
    }
    if (end_ps > load->until_ps) {
        const int64_t from_ps = event->record.start_ps > load->until_ps ? event->record.start_ps : load->until_ps;

        load->compute_ps = tm_sum_times(load->compute_ps, end_ps - from_ps);
        load->until_ps = end_ps;
    }
    return st;
}

/* --- events --- */

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct balance *b = s->state;
    uint32_t member;
    tm_status st;

    if (!event->chosen || event->device >= b->load_count ||
        (event->level != TM_LEVEL_COMPUTE && event->level != TM_LEVEL_CONTAINER))
        return TM_OK;
    member = b->members.by_device[event->device];
    if (member == TM_NONE)
        return TM_OK;
    st = add_load(b, event, member);
    if (st != TM_OK || event->level == TM_LEVEL_CONTAINER)
        return st;
    switch ((enum tm_class)event->record.class) {
    case TM_CLASS_KERNEL:
    case TM_CLASS_TPU_OP:
    case TM_CLASS_CPU_OP:
        return add_op(b, event, member);
    default:
        return TM_OK;
    }
}

static void free_loads(struct balance *b)
{
    tm_give(&b->run->budget, TM_ACCOUNT_MODEL, b->loads, b->load_count * sizeof(*b->loads));
    b->loads = NULL;
    b->load_count = 0;
}

static tm_status end_host(struct tm_stage *s)
{
    struct balance *b = s->state;
    tm_status st = tm_front_flush(&b->front);

    for (uint32_t i = 0; i < b->load_count && st == TM_OK; i++)
        st = put_load(b, &b->loads[i], b->members.by_device[i]);
    free_loads(b);
    b->trace = NULL;
    return st;
}

static void close_stage(struct tm_stage *s)
{
    struct balance *b = s->state;

    if (!b->run)
        return;
    tm_front_release(&b->front);
    tm_groups_free(b->ops);
    tm_groups_free(b->steps);
    tm_members_free(&b->members, b->run);
    free_loads(b);
}

const struct tm_stage_type tm_balance_stage = {
    .name = "balance",
    .summary = "the same work on several devices",
    .state_bytes = sizeof(struct balance),
    .classes = TM_CLASSES_ACTIVITY,
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = report_balance,
    .save = save_balance,
    .load = load_balance,
    .close = close_stage,
};
