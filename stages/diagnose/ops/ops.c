/* SPDX-License-Identifier: Apache-2.0 */
/* Operations, the stage: folds the activities of devices by the operation of the program that they are of.  On the
 * lines of TPUs and CPUs operations lie in each other (a loop holds its body) and count by self time.  Memory: events
 * gather by site, with what is known of it, in a table of fixed size; groups spill. */
#include "stages/diagnose/ops/ops.h"

#include <string.h>

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
    if (a->first_tie != b->first_tie)
        return a->first_tie < b->first_tie;
    return a->first_order < b->first_order;
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
    a->first_order = b->first_order;
    a->family = b->family;
    a->kernel = b->kernel;
    a->opcode = b->opcode;
    a->details = b->details;
    a->category = b->category;
    a->path = b->path;
    a->source = b->source;
    a->class = b->class;
    a->level = b->level;
}

void tm_op_merge(struct op_row *a, const struct op_row *b)
{
    tm_op_add_cost(&a->cost, &b->cost);
    a->count = tm_sum_counts(a->count, b->count);
    a->executions = tm_sum_counts(a->executions, b->executions);
    a->self_ps = tm_sum_times(a->self_ps, b->self_ps);
    a->self_squares = tm_sum_wide(a->self_squares, tm_wide_value(b->self_squares));
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

static void merge_rows(void *into, const void *from)
{
    tm_op_merge(into, from);
}

/* --- one operation --- */

static struct tm_wide wide_product(uint64_t a, uint64_t b)
{
    return tm_sum_wide((struct tm_wide){ 0, 0 }, (unsigned __int128)a * b);
}

static void add_to_sums(struct ops *o, struct op_device *device, const struct op_front *front)
{
    const struct op_row *row = &front->row;
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

/* The events of a site that have gathered. */
static tm_status take_gathered(void *to, void *gathered)
{
    struct ops *o = to;
    struct op_front *front = gathered;
    struct op_row *row = &front->row;

    if (!row->count)
        return TM_OK;
    row->cost = (struct op_cost){
        .flops = wide_product(row->executions, front->flops),
        .bytes = wide_product(row->executions, front->bytes),
        .flops_ps = front->has_flops ? row->self_ps : 0,
        .bytes_ps = front->has_bytes ? row->self_ps : 0,
    };
    add_to_sums(o, &o->lanes[front->lane].device, front);
    return tm_groups_add(o->groups, row);
}

/* One event of an operation; is_execution: it begins one, which is what costs are of. */
static void add_op(struct ops *o, struct op_row *row, const struct tm_nested *span, bool is_execution)
{
    o->events++;
    if (!row->count || span->start_ps < row->first_ps) {
        row->first_ps = span->start_ps;
        row->first_dur_ps = span->dur_ps;
        row->first_order = o->events;
    }
    row->count++;
    row->executions += is_execution;
    row->self_ps = tm_sum_times(row->self_ps, span->self_ps);
    row->self_squares = tm_sum_squares(row->self_squares, span->self_ps);
    row->total_ps = tm_sum_times(row->total_ps, span->dur_ps);
    row->min_ps = span->dur_ps < row->min_ps ? span->dur_ps : row->min_ps;
    row->max_ps = span->dur_ps > row->max_ps ? span->dur_ps : row->max_ps;
}

static tm_status take_nested(void *to, const struct tm_nested *span)
{
    struct ops *o = to;
    const struct op_span *of = span->payload;
    bool is_new;
    struct op_front *front = tm_front_at(&o->front, of->site, &is_new);
    const struct tm_config *config;
    tm_status st = front ? TM_OK : o->run->error.status;

    if (front && is_new) {
        config = tm_rows_at(o->trace->configs, of->config);
        st = config ? tm_op_facts(o, of, config, front) : o->run->error.status;
    }
    if (st == TM_OK)
        add_op(o, &front->row, span, true);
    return st;
}

/* --- executions on a GPU --- */

/* Whether what the execution began with comes again.  Fills prepare for a kernel, and often come several times. */
static tm_status comes_again(const struct ops *o, const struct op_stream *stream, const struct tm_record *record,
                             bool *comes)
{
    *comes = false;
    if (record->class != TM_CLASS_MEMSET)
        return tm_names_are_same(o->names, stream->first_kernel, record->name, comes);
    return stream->first_kernel ? tm_names_are_same(o->names, stream->first, record->name, comes) : TM_OK;
}

/* Whether a kernel begins an execution of its operation: another operation ran on the stream before, or another step
 * has begun, or what the execution began with comes again. */
static tm_status begins_execution(struct ops *o, const struct tm_event *event, const struct op_row *row,
                                  bool *begins)
{
    const uint32_t track = event->record.track;
    struct op_stream *stream;
    tm_status st = TM_OK;

    *begins = true;
    if (!row->is_hlo)
        return TM_OK;
    if (track >= tm_rows_count(o->streams))
        st = tm_rows_resize(o->streams, (uint64_t)track + 1);
    if (st != TM_OK)
        return st;
    stream = tm_rows_change(o->streams, track);
    if (!stream)
        return o->run->error.status;
    if (tm_is_same_key(stream->key, row->key) && stream->step == event->step)
        st = comes_again(o, stream, &event->record, begins);
    if (*begins)
        *stream = (struct op_stream){ .key = row->key, .first = event->record.name, .step = event->step };
    if (!stream->first_kernel && event->record.class != TM_CLASS_MEMSET)
        stream->first_kernel = event->record.name;
    return st;
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

static struct op_span span_of(const struct tm_event *event)
{
    return (struct op_span){ .site = event->site,
                             .name = event->record.name,
                             .config = event->record.config,
                             .lane = event->device,
                             .class = event->record.class,
                             .level = event->level };
}

static tm_status take_line_op(struct ops *o, const struct tm_event *event, int64_t dur_ps)
{
    const struct op_span span = span_of(event);

    return tm_nesting_take(o->nesting, event->record.track, event->record.start_ps, dur_ps, &span);
}

static tm_status take_kernel(struct ops *o, const struct tm_event *event, int64_t dur_ps)
{
    const struct tm_nested flat = { .start_ps = event->record.start_ps, .dur_ps = dur_ps, .self_ps = dur_ps };
    bool is_new, begins;
    struct op_front *front = tm_front_at(&o->front, event->site, &is_new);
    tm_status st = front ? TM_OK : o->run->error.status;

    if (front && is_new) {
        const struct op_span span = span_of(event);

        st = tm_op_facts(o, &span, event->config, front);
    }
    if (st == TM_OK)
        st = begins_execution(o, event, &front->row, &begins);
    if (st == TM_OK)
        add_op(o, &front->row, &flat, begins);
    return st;
}

/* The union of a device's activities, which come in the order of their begins. */
static void take_busy(struct op_lane *lane, int64_t start_ps, int64_t dur_ps)
{
    const int64_t end_ps = tm_sum_times(start_ps, dur_ps);
    const int64_t from_ps = lane->has_any && lane->until_ps > start_ps ? lane->until_ps : start_ps;

    if (end_ps > from_ps)
        lane->device.busy_ps = tm_sum_times(lane->device.busy_ps, end_ps - from_ps);
    if (!lane->has_any || end_ps > lane->until_ps)
        lane->until_ps = end_ps;
    lane->has_any = true;
}

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct ops *o = s->state;
    const int64_t dur_ps = event->record.dur_ps > 0 ? event->record.dur_ps : 0;
    struct op_lane *lane;

    if (!event->chosen || event->device >= o->lane_count || o->lanes[event->device].number == TM_NONE)
        return TM_OK;
    lane = &o->lanes[event->device];
    if (event->level != TM_LEVEL_NONE)
        take_busy(lane, event->record.start_ps, dur_ps);
    if (!is_op(event))
        return TM_OK;
    return lane->device.kind == TM_DEVICE_GPU ? take_kernel(o, event, dur_ps) : take_line_op(o, event, dur_ps);
}

/* --- opening, hosts, closing --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct ops *o = s->state;
    struct tm_run *run = s->run;
    tm_status st;

    o->run = run;
    o->settings = s->settings;
    o->groups = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct op_row), ops_memory(run, OPS_GROUPS), merge_rows);
    o->streams = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct op_stream), ops_memory(run, OPS_STREAMS),
                                   SMALL_PAGE_BYTES);
    o->devices = tm_rows_new_paged(run, TM_ACCOUNT_MODEL, sizeof(struct op_device),
                                   tm_budget_share(&run->budget, TM_ACCOUNT_MODEL) / 32, SMALL_PAGE_BYTES);
    o->nesting = tm_nesting_new(run, TM_ACCOUNT_TABLES, sizeof(struct op_span), OPS_OPEN_MOST, take_nested, o);
    o->kernels = tm_take(&run->budget, TM_ACCOUNT_TABLES, OPS_KERNELS * sizeof(*o->kernels), &run->error);
    if (!o->groups || !o->streams || !o->devices || !o->nesting || !o->kernels)
        return run->error.status;
    st = tm_front_init(&o->front, run, TM_ACCOUNT_TABLES, sizeof(struct op_front), ops_memory(run, OPS_FRONT),
                       o->groups);
    o->front.taker = take_gathered;
    o->front.to = o;
    return st;
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
    memset(o->kernels, 0, OPS_KERNELS * sizeof(*o->kernels));
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

    if (st == TM_OK)
        st = tm_front_flush(&o->front);
    for (uint32_t i = 0; i < o->lane_count && st == TM_OK; i++)
        if (o->lanes[i].number != TM_NONE)
            st = tm_rows_append(o->devices, &o->lanes[i].device);
    give_lanes(o);
    o->trace = NULL;
    return st;
}

void tm_ops_end_events(struct ops *o)
{
    tm_front_release(&o->front);
    tm_give(&o->run->budget, TM_ACCOUNT_TABLES, o->kernels, o->kernels ? OPS_KERNELS * sizeof(*o->kernels) : 0);
    tm_rows_free(o->streams);
    tm_nesting_free(o->nesting);
    o->kernels = NULL;
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
