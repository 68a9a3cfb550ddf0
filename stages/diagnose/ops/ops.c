/* SPDX-License-Identifier: Apache-2.0 */
/* Operations, the stage: folds the activities of devices by the operation of the program that they are of.  On the
 * lines of TPUs and CPUs operations lie in each other (a loop holds its body) and count by self time.  Memory: a table
 * of fixed size remembers what names and configurations tell; groups spill. */
#include "stages/diagnose/ops/ops.h"

#include <string.h>

#include "pipeline/hash.h"
#include "stages/diagnose/ops/ops_private.h"

enum { SMALL_PAGE_BYTES = 4096 };

/* --- folding --- */

/* What an operation is, is told by its kernels, not by the fills that prepare for them. */
static bool is_earlier(const struct op_row *a, const struct op_row *b)
{
    const bool a_fills = a->class == TM_CLASS_MEMSET, b_fills = b->class == TM_CLASS_MEMSET;

    if (a_fills != b_fills)
        return b_fills;
    if (a->first_host != b->first_host)
        return a->first_host < b->first_host;
    if (a->first_ps != b->first_ps)
        return a->first_ps < b->first_ps;
    if (a->first_device != b->first_device)
        return a->first_device < b->first_device;
    return a->first_tie < b->first_tie;
}

/* The widest type that is known: which of several comes first does not matter. */
static uint8_t wider(uint8_t a, uint8_t b)
{
    if (!a || !b)
        return a ? a : b;
    return a < b ? a : b;
}

static void take_first(struct op_row *a, const struct op_row *b)
{
    a->first_ps = b->first_ps;
    a->first_dur_ps = b->first_dur_ps;
    a->first_host = b->first_host;
    a->first_device = b->first_device;
    a->first_tie = b->first_tie;
    a->kernel = b->kernel;
    a->opcode = b->opcode;
    a->details = b->details;
    a->category = b->category;
    a->path = b->path;
    a->source = b->source;
    a->class = b->class;
    a->level = b->level;
}

static void merge_rows(void *into, const void *from)
{
    struct op_row *a = into;
    const struct op_row *b = from;

    tm_op_add_cost(&a->cost, &b->cost);
    a->count = tm_sum_counts(a->count, b->count);
    a->executions = tm_sum_counts(a->executions, b->executions);
    a->self_ps = tm_sum_times(a->self_ps, b->self_ps);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
    a->min_ps = b->min_ps < a->min_ps ? b->min_ps : a->min_ps;
    a->max_ps = b->max_ps > a->max_ps ? b->max_ps : a->max_ps;
    a->devices |= b->devices;
    a->precision = wider(a->precision, b->precision);
    a->has_matrix |= b->has_matrix;
    a->is_hlo |= b->is_hlo;
    a->is_opaque |= b->is_opaque;
    a->is_wait |= b->is_wait;
    if (is_earlier(b, a))
        take_first(a, b);
}

/* --- one operation --- */

static struct tm_wide wide_of(uint64_t number)
{
    return (struct tm_wide){ 0, number };
}

static void add_to_sums(struct ops *o, struct op_device *device, const struct op_front *front,
                        const struct op_row *row)
{
    struct precision_sum *sum = &o->precisions[row->precision];

    o->count = tm_sum_counts(o->count, row->count);
    o->self_ps = tm_sum_times(o->self_ps, row->self_ps);
    o->total_ps = tm_sum_times(o->total_ps, row->total_ps);
    o->has_hlo |= row->is_hlo;
    o->costs_of_stats |= front->has_stats;
    o->costs_of_hlo |= front->has_hlo;
    device->flops = tm_sum_wide(device->flops, tm_wide_value(row->cost.flops));
    device->bytes = tm_sum_wide(device->bytes, tm_wide_value(row->cost.bytes));
    if (!op_computes(row->level))
        return;
    tm_op_add_cost(&o->cost, &row->cost);
    o->compute_ps = tm_sum_times(o->compute_ps, row->self_ps);
    sum->count = tm_sum_counts(sum->count, row->count);
    sum->total_ps = tm_sum_times(sum->total_ps, row->self_ps);
    if (row->has_matrix) {
        sum->matrix_ps = tm_sum_times(sum->matrix_ps, row->self_ps);
        device->matrix_ps[row->precision] = tm_sum_times(device->matrix_ps[row->precision], row->self_ps);
    }
    if (front->is_tensor_core)
        sum->tensor_core_ps = tm_sum_times(sum->tensor_core_ps, row->self_ps);
}

/* One event of an operation; is_execution: it begins one, which is what costs are of. */
static tm_status add_op(struct ops *o, const struct op_front *front, const struct tm_nested *span, bool is_execution)
{
    const struct op_span *of = span->payload;
    struct op_lane *lane = &o->lanes[of->lane];
    struct op_row row = front->row;

    row.count = 1;
    row.executions = is_execution;
    row.self_ps = span->self_ps;
    row.total_ps = row.min_ps = row.max_ps = span->dur_ps;
    row.first_ps = span->start_ps;
    row.first_dur_ps = span->dur_ps;
    row.first_host = o->trace->host;
    row.first_device = lane->number;
    row.devices = tm_device_bit(lane->number);
    row.cost = (struct op_cost){
        .flops = wide_of(is_execution ? front->flops : 0),
        .bytes = wide_of(is_execution ? front->bytes : 0),
        .flops_ps = front->has_flops ? span->self_ps : 0,
        .bytes_ps = front->has_bytes ? span->self_ps : 0,
    };
    add_to_sums(o, &lane->device, front, &row);
    return tm_groups_add(o->groups, &row);
}

/* in: config  what span->config is the number of; NULL = to be looked up if it has to be known */
static tm_status find_front(struct ops *o, const struct op_span *span, const struct tm_config *config,
                            struct op_front **found)
{
    const enum tm_device_kind kind = (enum tm_device_kind)o->lanes[span->lane].device.kind;
    const uint64_t mixed = tm_hash_mix((uint64_t)span->name << 32 | span->config, 0);
    struct op_front *front = &o->front[mixed & (o->front_count - 1)];

    *found = front;
    if (front->is_used && front->name == span->name && front->config == span->config)
        return TM_OK;
    if (!config)
        config = tm_rows_at(o->trace->configs, span->config);
    return config ? tm_op_facts(o, span, config, kind, front) : o->run->error.status;
}

static tm_status take_nested(void *to, const struct tm_nested *span)
{
    struct ops *o = to;
    struct op_front *front;
    const tm_status st = find_front(o, span->payload, NULL, &front);

    return st == TM_OK ? add_op(o, front, span, true) : st;
}

/* --- executions on a GPU --- */

/* Whether what the execution began with comes again.  Fills prepare for a kernel, and often come several times. */
static bool comes_again(const struct op_stream *stream, const struct tm_record *record)
{
    if (record->class == TM_CLASS_MEMSET)
        return stream->first_kernel && stream->first == record->name;
    return stream->first_kernel == record->name;
}

/* Whether a kernel begins an execution of its operation: another operation ran on the stream before, or another step
 * has begun, or what the execution began with comes again. */
static tm_status begins_execution(struct ops *o, const struct tm_event *event, const struct op_front *front,
                                  bool *begins)
{
    const uint32_t track = event->record.track;
    struct op_stream *stream;

    *begins = true;
    if (!front->row.is_hlo)
        return TM_OK;
    if (track >= tm_rows_count(o->streams)) {
        const tm_status st = tm_rows_resize(o->streams, (uint64_t)track + 1);

        if (st != TM_OK)
            return st;
    }
    stream = tm_rows_change(o->streams, track);
    if (!stream)
        return o->run->error.status;
    *begins = !tm_is_same_key(stream->key, front->row.key) || stream->step != event->step ||
              comes_again(stream, &event->record);
    if (*begins)
        *stream = (struct op_stream){ .key = front->row.key, .first = event->record.name, .step = event->step };
    if (!stream->first_kernel && event->record.class != TM_CLASS_MEMSET)
        stream->first_kernel = event->record.name;
    return TM_OK;
}

/* --- events --- */

static bool is_op(const struct tm_event *event)
{
    switch ((enum tm_class)event->record.class) {
    case TM_CLASS_TPU_OP: /* also one that waits for the host, which is no activity */
        return true;
    case TM_CLASS_KERNEL:
    case TM_CLASS_COLLECTIVE:
    case TM_CLASS_CPU_OP:
        return event->level != TM_LEVEL_NONE;
    case TM_CLASS_COPY:
    case TM_CLASS_MEMSET:
        return event->level != TM_LEVEL_NONE && event->config->hlo_op;
    default:
        return false;
    }
}

static tm_status take_op(struct ops *o, const struct tm_event *event)
{
    const struct op_span span = { .name = event->record.name,
                                  .config = event->record.config,
                                  .lane = event->device,
                                  .class = event->record.class,
                                  .level = event->level };
    const int64_t dur_ps = event->record.dur_ps > 0 ? event->record.dur_ps : 0;
    const struct tm_nested flat = { .start_ps = event->record.start_ps, .dur_ps = dur_ps, .self_ps = dur_ps,
                                    .payload = &span };
    struct op_front *front;
    bool begins;
    tm_status st = find_front(o, &span, event->config, &front);

    if (st != TM_OK)
        return st;
    if (o->lanes[event->device].device.kind != TM_DEVICE_GPU)
        return tm_nesting_take(o->nesting, event->record.track, event->record.start_ps, dur_ps, &span);
    st = begins_execution(o, event, front, &begins);
    return st == TM_OK ? add_op(o, front, &flat, begins) : st;
}

/* The union of a device's activities, which come in the order of their begins. */
static void take_busy(struct op_lane *lane, const struct tm_record *record)
{
    const int64_t end_ps = tm_sum_times(record->start_ps, record->dur_ps > 0 ? record->dur_ps : 0);
    const int64_t from_ps = lane->has_any && lane->until_ps > record->start_ps ? lane->until_ps : record->start_ps;

    if (end_ps > from_ps)
        lane->device.busy_ps = tm_sum_times(lane->device.busy_ps, end_ps - from_ps);
    if (!lane->has_any || end_ps > lane->until_ps)
        lane->until_ps = end_ps;
    lane->has_any = true;
}

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct ops *o = s->state;

    if (!event->chosen || event->device >= o->lane_count || o->lanes[event->device].number == TM_NONE)
        return TM_OK;
    if (event->level != TM_LEVEL_NONE)
        take_busy(&o->lanes[event->device], &event->record);
    return is_op(event) ? take_op(o, event) : TM_OK;
}

/* --- opening, hosts, closing --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct ops *o = s->state;
    struct tm_run *run = s->run;
    const size_t front = ops_memory(run, OPS_FRONT);

    o->run = run;
    o->settings = s->settings;
    o->front_count = 64;
    while (o->front_count < 1u << 16 && 2 * o->front_count * sizeof(*o->front) <= front)
        o->front_count *= 2;
    o->front = tm_take(&run->budget, TM_ACCOUNT_TABLES, o->front_count * sizeof(*o->front), &run->error);
    o->groups = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct op_row), ops_memory(run, OPS_GROUPS), merge_rows);
    o->streams = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct op_stream), ops_memory(run, OPS_STREAMS),
                                   SMALL_PAGE_BYTES);
    o->devices = tm_rows_new_paged(run, TM_ACCOUNT_MODEL, sizeof(struct op_device),
                                   tm_budget_share(&run->budget, TM_ACCOUNT_MODEL) / 32, SMALL_PAGE_BYTES);
    o->nesting = tm_nesting_new(run, TM_ACCOUNT_TABLES, sizeof(struct op_span), OPS_OPEN_MOST, take_nested, o);
    return o->front && o->groups && o->streams && o->devices && o->nesting ? TM_OK : run->error.status;
}

static void give_lanes(struct ops *o)
{
    tm_give(&o->run->budget, TM_ACCOUNT_TABLES, o->lanes, o->lanes ? o->lane_count * sizeof(*o->lanes) : 0);
    o->lanes = NULL;
    o->lane_count = 0;
}

static void open_lane(struct ops *o, struct op_lane *lane, const struct tm_device *device)
{
    lane->number = device->activities ? o->active_devices++ : TM_NONE;
    lane->device = (struct op_device){
        .host = o->trace->host,
        .kind = device->kind,
        .capability_major = device->capability_major,
        .capability_minor = device->capability_minor,
        .core_count = device->core_count,
        .clock_khz = device->clock_khz,
        .memory_bytes = device->memory_bytes,
        .memory_bandwidth_bytes = device->memory_bandwidth_bytes,
        .peak_tflops = device->peak_tflops,
        .span_ps = device->chosen_end_ps - device->chosen_begin_ps,
    };
    memcpy(lane->device.id, device->id, sizeof(device->id));
    memcpy(lane->device.model, device->model, sizeof(device->model));
    memcpy(lane->device.vendor, device->vendor, sizeof(device->vendor));
}

/* Remember why a program has no costs: the first one's reason. */
static tm_status ask_programs(struct ops *o)
{
    struct tm_rows *modules = o->trace->hlo_modules;

    for (uint64_t i = 0; modules && !o->hlo_why && i < tm_rows_count(modules); i++) {
        const struct tm_hlo_module *module = tm_rows_at(modules, i);

        if (!module)
            return o->run->error.status;
        o->hlo_why = module->why;
    }
    return TM_OK;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct ops *o = s->state;
    const size_t bytes = trace->device_count * sizeof(*o->lanes);
    tm_status st;

    o->trace = trace;
    o->names = trace->names;
    memset(o->front, 0, o->front_count * sizeof(*o->front));
    st = ask_programs(o);
    if (st == TM_OK)
        st = tm_rows_resize(o->streams, 0);
    if (st != TM_OK || !bytes)
        return st;
    o->lanes = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, bytes, &s->run->error);
    if (!o->lanes)
        return s->run->error.status;
    o->lane_count = trace->device_count;
    for (uint32_t i = 0; i < o->lane_count; i++)
        open_lane(o, &o->lanes[i], &trace->devices[i]);
    return TM_OK;
}

static tm_status end_host(struct tm_stage *s)
{
    struct ops *o = s->state;
    tm_status st = tm_nesting_end(o->nesting);

    for (uint32_t i = 0; i < o->lane_count && st == TM_OK; i++)
        if (o->lanes[i].number != TM_NONE)
            st = tm_rows_append(o->devices, &o->lanes[i].device);
    give_lanes(o);
    o->trace = NULL;
    return st;
}

void tm_ops_end_events(struct ops *o)
{
    tm_give(&o->run->budget, TM_ACCOUNT_TABLES, o->front, o->front ? o->front_count * sizeof(*o->front) : 0);
    tm_rows_free(o->streams);
    tm_nesting_free(o->nesting);
    o->front = NULL;
    o->streams = NULL;
    o->nesting = NULL;
}

static void close_stage(struct tm_stage *s)
{
    struct ops *o = s->state;

    if (!o->run)
        return;
    give_lanes(o);
    tm_ops_end_events(o);
    tm_groups_free(o->groups);
    tm_rows_free(o->devices);
}

const struct tm_stage_type tm_ops_stage = {
    .name = "ops",
    .summary = "operations by self time, and the roofline",
    .state_bytes = sizeof(struct ops),
    .classes = TM_CLASSES_ACTIVITY,
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = tm_ops_report,
    .save = tm_ops_save,
    .load = tm_ops_load,
    .close = close_stage,
};
