/* SPDX-License-Identifier: Apache-2.0 */
/* Operations, the stage: groups the call sites of devices by the program operation that they belong to.  On the lines
 * of TPUs and CPUs, operations nest (a loop contains its body) and count by self time.  Memory: what ran last on each
 * stream, and groups, which spill. */
#include "stages/figures/ops.h"

#include <string.h>

#include <xxhash.h>

#include "pipeline/front.h"
#include "pipeline/stage.h"
#include "pipeline/store/rows.h"
#include "stages/figures/device_limits.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/kernel_category.h"
#include "stages/figures/feed.h"
#include "stages/resolve/classes.h"

/* A call site: information from its strings. */
struct op_facts {
    struct op_row row;     /* except for what is summed */
    uint64_t flops, bytes; /* of one execution */
    bool has_flops, has_bytes, is_tensor_core;
    bool has_stats, has_hlo; /* where costs come from */
};

/* The cached data of a call site of kernels. */
struct op_site {
    uint64_t site;
    struct tm_key key; /* of its operation */
};

/* The operation that ran last on a stream. */
struct op_stream {
    struct tm_key key;
    tm_strid first;        /* what its execution started with */
    tm_strid first_kernel; /* the same without fills; 0 = there was none yet */
    uint32_t step;
};

enum { OPS_KERNELS = 1024 /* a power of two */ };

/* Operations in a partial: the entire table, in the order of its keys, and the devices.  The reader renumbers hosts and
 * devices. */

#define DEVICE(member, kind) TM_FIELD(struct op_device, member, kind, KEEP)

static const struct tm_row_field device_fields[] = {
    TM_FIELD_DEVICE_ID(struct op_device, id, host),
    DEVICE(model, TEXT),
    DEVICE(vendor, TEXT),
    TM_FIELD_BELOW(struct op_device, kind, U8, KEEP, TM_DEVICE_CPU + 1),
    DEVICE(capability_major, U32),
    DEVICE(capability_minor, U32),
    DEVICE(core_count, COUNT),
    DEVICE(clock_khz, COUNT),
    DEVICE(memory_bytes, COUNT),
    DEVICE(memory_bandwidth_bytes, COUNT),
    DEVICE(peak_tflops, DOUBLE),
    DEVICE(span_ps, TIME),
    DEVICE(busy_ps, TIME),
    DEVICE(flops, WIDE),
    DEVICE(bytes, WIDE),
    DEVICE(matrix_ps, TIME),
    TM_FIELDS_END,
};

static const struct tm_row_field precision_fields[] = {
    TM_FIELD(struct precision_sum, count, COUNT, SUM),
    TM_FIELD(struct precision_sum, total_ps, TIME, SUM),
    TM_FIELD(struct precision_sum, matrix_ps, TIME, SUM),
    TM_FIELD(struct precision_sum, tensor_core_ps, TIME, SUM),
    TM_FIELDS_END,
};

#define SUM(member, kind) TM_FIELD(struct ops, member, kind, SUM)
#define ANY(member, kind) TM_FIELD(struct ops, member, kind, ANY)

static const struct tm_row_field sum_fields[] = {
    SUM(count, COUNT),
    SUM(self_ps, TIME),
    SUM(total_ps, TIME),
    TM_FIELD_STRUCTS(struct ops, cost, struct op_cost, tm_op_cost_fields),
    SUM(compute_ps, TIME),
    TM_FIELD_STRUCTS(struct ops, precisions, struct precision_sum, precision_fields),
    ANY(hlo_why, NAME),
    ANY(has_hlo, BOOL),
    ANY(costs_of_stats, BOOL),
    ANY(costs_of_hlo, BOOL),
    TM_FIELDS_END,
};

static tm_status ops_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct ops *o = s->state;

    tm_partial_put_u32(w, o->active_devices);
    tm_fields_save_rows(w, device_fields, o->devices, 0, o->active_devices);
    tm_fields_save(w, sum_fields, o);
    return tm_fields_save_groups(w, tm_op_fields, o->groups);
}

static tm_status complete_row(void *of, struct tm_partial_reader *r, void *row)
{
    (void)of;
    return ((struct op_row *)row)->count ? TM_OK : tm_partial_damaged(r, "an operation that never ran");
}

static tm_status ops_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct ops *o = s->state;
    const uint32_t devices = tm_partial_below_u32(r, TM_NONE - (uint64_t)o->active_devices);

    tm_fields_load_rows(r, device_fields, o->devices, devices, NULL, NULL);
    o->names = tm_partial_names(r);
    tm_partial_bind_devices(r, o->active_devices, devices);
    o->active_devices += devices;
    tm_fields_load_more(r, sum_fields, o);
    return tm_fields_load_groups(r, tm_op_fields, o->groups, complete_row, NULL);
}

/* The properties of an operation by name and configuration: its name, the cost of one execution, and its type.  The
 * profile takes precedence over the program's HLO, and the HLO over hints in kernel names. */

enum { TEXT_MOST = 4096 }; /* bytes of a string that are examined */

/* The parts of the key of an operation; without padding. */
struct key_text {
    struct tm_key name, module;
    int64_t program_id; /* if the module is unknown */
    uint64_t kind;
};

static_assert(sizeof(struct key_text) == 48, "hashed as bytes");

static void find_key(struct ops *o, const struct tm_config *config, enum tm_device_kind kind, struct op_row *row)
{
    struct tm_key hashes[2];
    struct key_text text;

    tm_names_hashes(o->names, (const tm_strid[]){ row->name, row->module }, 2, hashes);
    text = (struct key_text){ hashes[0], hashes[1], row->module ? 0 : config->program_id, kind };
    row->key = tm_hash_key(&text, sizeof(text));
}

/* What decides between two events of one operation at one instant; none of it depends on handles. */
static void find_tie(struct ops *o, struct op_row *row)
{
    const tm_strid texts[] = { row->kernel, row->opcode, row->details, row->category, row->path, row->source };
    enum { COUNT = sizeof(texts) / sizeof(texts[0]) };
    uint64_t parts[COUNT + 1] = { (uint64_t)row->class << 8 | row->level };
    struct tm_key hashes[COUNT];

    tm_names_hashes(o->names, texts, COUNT, hashes);
    for (int i = 0; i < COUNT; i++)
        parts[i + 1] = hashes[i].low;
    row->first_tie = XXH3_64bits(parts, sizeof(parts));
}

/* --- types --- */

static enum tm_precision precision_called(const char *text)
{
    static const struct {
        const char *name;
        enum tm_precision precision;
    } words[] = {
        { "f64", TM_F64 }, { "f32", TM_F32 }, { "tf32", TM_TF32 }, { "bf16", TM_BF16 },
        { "f16", TM_F16 }, { "fp8", TM_F8 },  { "s8", TM_INT8 },   { "s4", TM_INT4 },
    };

    for (size_t i = 0; text && i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].name, text) == 0)
            return words[i].precision;
    return TM_PRECISION_UNKNOWN;
}

static bool is_of_matrices(enum tm_kernel_category category)
{
    return category == TM_CATEGORY_GEMM || category == TM_CATEGORY_CONVOLUTION || category == TM_CATEGORY_ATTENTION;
}

static void matrix_in(struct ops *o, tm_strid id, struct op_row *row)
{
    if (is_of_matrices(tm_category_of_text(o->names, id)))
        row->has_matrix = 1;
}

/* Information from the name of a kernel; valid until the next call.  Programs run a kernel for many operations. */
static const struct op_kernel *find_kernel(struct ops *o, tm_strid name)
{
    struct op_kernel *known = &o->kernels[name & (OPS_KERNELS - 1)];
    enum tm_kernel_category category;
    const char *text;
    size_t length;

    if (known->name == name && name)
        return known;
    category = tm_category_of_text(o->names, name);
    text = tm_names_text(o->names, name, TEXT_MOST, &length);
    *known = (struct op_kernel){ .name = name,
                                 .precision = (uint8_t)precision_called(tm_precision_in(text, length)),
                                 .is_tensor_core = tm_tensor_core_in(text, length) == 1,
                                 .has_matrix = is_of_matrices(category) };
    return known;
}

/* A kernel of a GPU by its name; products of f32 on tensor cores are tf32. */
static void ask_kernel(struct ops *o, struct op_facts *facts)
{
    struct op_row *row = &facts->row;
    const struct op_kernel *kernel;

    if (row->class == TM_CLASS_COPY || row->class == TM_CLASS_MEMSET)
        return;
    kernel = find_kernel(o, row->kernel);
    facts->is_tensor_core = kernel->is_tensor_core;
    row->has_matrix |= kernel->has_matrix;
    if (!row->precision || (row->precision == TM_F32 && kernel->precision == TM_TF32))
        row->precision = kernel->precision;
    if (row->precision == TM_F32 && facts->is_tensor_core && row->has_matrix)
        row->precision = TM_TF32;
}

/* An operation of a TPU or a CPU by its HLO line: the type of its result. */
static void ask_line(struct ops *o, struct op_row *row)
{
    const char *text;
    size_t length;

    if (!row->precision) {
        text = tm_names_text(o->names, row->details, TEXT_MOST, &length);
        row->precision = (uint8_t)precision_called(tm_precision_of_hlo(text, length));
    }
    if (row->category)
        matrix_in(o, row->category, row);
    else if (row->is_hlo)
        matrix_in(o, row->name, row);
}

/* --- costs --- */

/* Operations with separate costs: not those that contain other operations, nor the start of one that is counted where
 * it is waited for. */
static bool has_cost(const struct op_row *row, const struct tm_config *config)
{
    return row->level != TM_LEVEL_CONTAINER && config->tpu_part != TM_TPU_START;
}

/* Compilers record 0 of a custom call if they do not know it. */
static void take_stats(const struct tm_config *config, struct op_facts *facts)
{
    facts->has_flops = config->has_flops && (config->flops || !facts->row.is_opaque);
    facts->has_bytes = config->has_bytes_accessed && (config->bytes_accessed || !facts->row.is_opaque);
    facts->flops = facts->has_flops ? config->flops : 0;
    facts->bytes = facts->has_bytes ? config->bytes_accessed : 0;
    facts->has_stats = facts->has_flops || facts->has_bytes;
}

/* in: is_own  it has its own cost */
static void take_hlo(const struct tm_hlo_op *op, bool is_own, struct op_facts *facts)
{
    struct op_row *row = &facts->row;

    row->opcode = op->opcode;
    row->module = row->module ? row->module : op->module;
    row->path = row->path ? row->path : op->path;
    row->source = row->source ? row->source : op->source;
    row->precision = op->precision < TM_PRECISION_COUNT ? op->precision : TM_OTHER_PRECISION;
    row->has_matrix = op->has_matrix;
    row->is_opaque |= op->target != 0;
    if (!is_own || facts->has_stats || (op->target && !op->has_flops)) /* its operands are not all that it moves */
        return;
    facts->has_flops = op->has_flops;
    facts->has_bytes = op->has_bytes;
    facts->flops = op->has_flops ? op->flops : 0;
    facts->bytes = op->has_bytes ? op->bytes : 0;
    facts->has_hlo = facts->has_flops || facts->has_bytes;
}

/* Whether an operation is a custom call, by what the profile itself says. */
static void find_custom_call(struct ops *o, const struct tm_config *config, struct op_row *row)
{
    static const char custom_call[] = "custom-call";
    const char *text, *opcode = NULL;
    size_t length, opcode_length = 0;

    if (config->category) {
        text = tm_names_text(o->names, config->category, TEXT_MOST, &length);
        row->is_opaque = length == sizeof(custom_call) - 1 && !memcmp(text, custom_call, length);
    }
    if (row->is_opaque || !row->details)
        return;
    text = tm_names_text(o->names, row->details, TEXT_MOST, &length);
    tm_hlo_opcode(text, length, &opcode, &opcode_length);
    row->is_opaque = opcode_length == sizeof(custom_call) - 1 && !memcmp(opcode, custom_call, opcode_length);
}

/* The properties of a device op by name and configuration.
 * out:    *facts  without any event */
static void find_facts(struct ops *o, const struct tm_event *event, struct op_facts *facts)
{
    const struct op_lane *lane = &o->lanes[event->device];
    const enum tm_device_kind kind = (enum tm_device_kind)lane->device.kind;
    const struct tm_config *const config = event->config;
    const tm_strid name = event->record.name;
    struct op_row *row = &facts->row;
    const struct tm_hlo_op *op;

    *facts = (struct op_facts){
        .row = { .name = config->hlo_op && kind != TM_DEVICE_TPU ? config->hlo_op : name,
                 .module = config->module,
                 .kernel = name,
                 .details = kind == TM_DEVICE_GPU ? 0 : config->details,
                 .category = config->category,
                 .path = config->op,
                 .source = config->source,
                 .class = event->record.class,
                 .level = event->level,
                 .is_hlo = config->hlo_op || kind == TM_DEVICE_TPU,
                 .devices = tm_device_bit(lane->number),
                 .first_host = o->trace->host,
                 .first_device = lane->number },
    };
    row->is_wait = config->tpu_part == TM_TPU_WAIT;
    find_custom_call(o, config, row);
    if (has_cost(row, config))
        take_stats(config, facts);
    tm_trace_hlo(o->trace, config, &op);
    if (op)
        take_hlo(op, has_cost(row, config), facts);
    row->module = row->module ? row->module : tm_trace_program(o->trace, config->program_id);
    find_key(o, config, kind, row);
    row->family = tm_op_family_of(o, row);
    find_tie(o, row);
    if (kind == TM_DEVICE_GPU)
        ask_kernel(o, facts);
    else
        ask_line(o, row);
    if (kind == TM_DEVICE_TPU) /* its matmuls run on Tensor Cores or the MXU */
        facts->is_tensor_core = row->has_matrix;
}

enum { SMALL_PAGE_BYTES = 4096 };

/* --- folding --- */

static void merge_rows(void *into, const void *from)
{
    tm_op_merge(into, from);
}

/* --- one operation --- */

static struct tm_wide wide_product(uint64_t a, uint64_t b)
{
    return tm_sum_wide((struct tm_wide){ 0, 0 }, (unsigned __int128)a * b);
}

static void add_to_sums(struct ops *o, struct op_device *device, const struct op_facts *facts)
{
    const struct op_row *row = &facts->row;
    struct precision_sum *sum = &o->precisions[row->precision];

    o->count = tm_sum_counts(o->count, row->count);
    o->self_ps = tm_sum_times(o->self_ps, row->self_ps);
    o->total_ps = tm_sum_times(o->total_ps, row->total_ps);
    o->has_hlo |= row->is_hlo;
    o->costs_of_stats |= facts->has_stats;
    o->costs_of_hlo |= facts->has_hlo;
    device->flops = tm_sum_wide(device->flops, tm_wide_value(row->cost.flops));
    device->bytes = tm_sum_wide(device->bytes, tm_wide_value(row->cost.bytes));
    if (!op_computes(row->level))
        return;
    tm_fields_merge(tm_op_cost_fields, &o->cost, &row->cost);
    o->compute_ps = tm_sum_times(o->compute_ps, row->self_ps);
    sum->count = tm_sum_counts(sum->count, row->count);
    sum->total_ps = tm_sum_times(sum->total_ps, row->self_ps);
    if (row->has_matrix) {
        sum->matrix_ps = tm_sum_times(sum->matrix_ps, row->self_ps);
        device->matrix_ps[row->precision] = tm_sum_times(device->matrix_ps[row->precision], row->self_ps);
    }
    if (facts->is_tensor_core)
        sum->tensor_core_ps = tm_sum_times(sum->tensor_core_ps, row->self_ps);
}

/* --- executions on a GPU --- */

/* Whether the first kernel of the execution occurs again.  Memsets prepare for a kernel, and often occur several
 * times. */
static bool comes_again(const struct ops *o, const struct op_stream *stream, const struct tm_record *record)
{
    if (record->class != TM_CLASS_MEMSET)
        return tm_names_are_same(o->names, stream->first_kernel, record->name);
    return stream->first_kernel && tm_names_are_same(o->names, stream->first, record->name);
}

TM_NOT_INLINE void learn_site(struct ops *o, const struct tm_event *event, struct op_site *site)
{
    struct op_facts facts;

    find_facts(o, event, &facts);
    site->key = facts.row.key;
}

/* The key of the operation that a call site belongs to. */
static inline const struct op_site *find_site(struct ops *o, const struct tm_event *event)
{
    bool is_new;
    struct op_site *const site = tm_site_rows_at(&o->sites, event->site, &is_new);

    if (site && is_new)
        learn_site(o, event, site);
    return site;
}

/* The stream of a track, valid until the next one is requested: mostly it is the same as before. */
static inline struct op_stream *stream_of(struct ops *o, uint32_t track)
{
    if (o->near && o->near_track == track)
        return o->near;
    if (track >= tm_rows_count(o->streams))
        tm_rows_resize(o->streams, (uint64_t)track + 1);
    o->near = tm_rows_change(o->streams, track);
    o->near_track = track;
    return o->near;
}

/* An execution may be several kernels.  One starts where another operation ran on the stream before, or another step
 * has started, or what the execution started with recurs. */
static inline void follow_execution(struct ops *o, const struct tm_event *event)
{
    const struct op_site *const site = find_site(o, event);
    struct op_stream *stream;

    if (!site)
        return;
    stream = stream_of(o, event->record.track);
    if (!tm_is_same_key(stream->key, site->key) || stream->step != event->step ||
        comes_again(o, stream, &event->record))
        *stream = (struct op_stream){ .key = site->key, .first = event->record.name, .step = event->step };
    else
        tm_feed_continue(o->feed, event);
    if (!stream->first_kernel && event->record.class != TM_CLASS_MEMSET)
        stream->first_kernel = event->record.name;
}

/* --- events --- */

static inline bool is_op(const struct tm_event *event)
{
    switch ((enum tm_class)event->record.class) {
    case TM_CLASS_TPU_OP: /* also one that waits for the host, which is not an activity */
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

/* The union of a device's activities, which come in the order of their starts. */
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

static struct op_lane *lane_of(const struct ops *o, const struct tm_event *event)
{
    struct op_lane *const lane = event->chosen && event->device < o->lane_count ? &o->lanes[event->device] : NULL;

    return lane && lane->number != TM_NONE ? lane : NULL;
}

/* Whether an event of a GPU may be one of several kernels of an execution. */
static inline bool is_part(const struct tm_event *event)
{
    return event->config->hlo_op && is_op(event);
}

static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    const struct op_lane *const lane = lane_of(s->state, event);

    return lane && (event->level != TM_LEVEL_NONE || (lane->device.kind == TM_DEVICE_GPU && is_part(event)));
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    struct ops *o = s->state;
    struct op_lane *const lane = &o->lanes[events->device];
    const bool is_gpu = lane->device.kind == TM_DEVICE_GPU;

    for (size_t i = 0; i < count; i++) {
        const struct tm_event *const event = &events[i];

        if (!tm_wants(s, event))
            continue;
        if (event->level != TM_LEVEL_NONE)
            take_busy(lane, event->record.start_ps, event->record.dur_ps);
        if (is_gpu && is_part(event))
            follow_execution(o, event);
    }
}

static void take_self(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct ops *o = s->state;
    struct op_lane *const lane = lane_of(o, event);
    struct op_row *row;
    struct op_facts facts;

    if (!lane || !is_op(event))
        return;
    find_facts(o, event, &facts);
    row = &facts.row;
    row->count = sums->count;
    row->executions = sums->count - sums->continued;
    row->self_ps = sums->self_ps;
    row->self_squares = sums->self_squares;
    row->total_ps = sums->total_ps;
    row->min_ps = sums->min_ps;
    row->max_ps = sums->max_ps;
    row->first_ps = sums->first_ps;
    row->first_dur_ps = sums->first_dur_ps;
    row->first_order = sums->first_order;
    row->cost = (struct op_cost){
        .flops = wide_product(row->executions, facts.flops),
        .bytes = wide_product(row->executions, facts.bytes),
        .flops_ps = facts.has_flops ? row->self_ps : 0,
        .bytes_ps = facts.has_bytes ? row->self_ps : 0,
    };
    add_to_sums(o, &lane->device, &facts);
    tm_groups_add(o->groups, row);
}

/* --- opening, hosts, closing --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct ops *o = s->state;
    struct tm_run *run = s->run;

    o->run = run;
    o->settings = s->settings;
    o->groups = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct op_row), ops_memory(run, OPS_GROUPS), merge_rows);
    o->streams = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct op_stream), ops_memory(run, OPS_STREAMS),
                                   SMALL_PAGE_BYTES);
    o->devices = tm_rows_new_paged(run, TM_ACCOUNT_MODEL, sizeof(struct op_device),
                                   tm_budget_share(&run->budget, TM_ACCOUNT_MODEL) / 32, SMALL_PAGE_BYTES);
    o->kernels = tm_take(&run->budget, TM_ACCOUNT_TABLES, OPS_KERNELS * sizeof(*o->kernels), &run->error);
    if (!o->groups || !o->streams || !o->devices || !o->kernels)
        return run->error.status;
    o->feed = s->feed;
    return tm_site_rows_init(&o->sites, run, TM_ACCOUNT_TABLES, sizeof(struct op_site), ops_memory(run, OPS_SITES));
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
static void ask_programs(struct ops *o)
{
    struct tm_rows *modules = o->trace->hlo_modules;

    for (uint64_t i = 0; modules && !o->hlo_why && i < tm_rows_count(modules); i++) {
        const struct tm_hlo_module *module = tm_rows_at(modules, i);

        o->hlo_why = module->why;
    }
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct ops *o = s->state;
    const size_t bytes = trace->device_count * sizeof(*o->lanes);

    o->trace = trace;
    o->names = trace->names;
    memset(o->kernels, 0, OPS_KERNELS * sizeof(*o->kernels));
    ask_programs(o);
    tm_rows_resize(o->streams, 0);
    o->near = NULL;
    if (!bytes)
        return s->run->error.status;
    o->lanes = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, bytes, &s->run->error);
    if (!o->lanes)
        return s->run->error.status;
    o->lane_count = trace->device_count;
    for (uint32_t i = 0; i < o->lane_count; i++)
        open_lane(o, &o->lanes[i], &trace->devices[i]);
    return s->run->error.status;
}

static tm_status end_host(struct tm_stage *s)
{
    struct ops *o = s->state;

    for (uint32_t i = 0; i < o->lane_count; i++)
        if (o->lanes[i].number != TM_NONE)
            tm_rows_append(o->devices, &o->lanes[i].device);
    give_lanes(o);
    o->trace = NULL;
    return s->run->error.status;
}

static void end_events(struct ops *o)
{
    tm_site_rows_release(&o->sites);
    tm_give(&o->run->budget, TM_ACCOUNT_TABLES, o->kernels, o->kernels ? OPS_KERNELS * sizeof(*o->kernels) : 0);
    tm_rows_free(o->streams);
    o->kernels = NULL;
    o->streams = NULL;
}

static void close_stage(struct tm_stage *s)
{
    struct ops *o = s->state;

    if (!o->run)
        return;
    give_lanes(o);
    end_events(o);
    tm_groups_free(o->groups);
    tm_rows_free(o->devices);
}

static tm_status ops_report(struct tm_stage *s, struct tm_value *summary)
{
    end_events(s->state); /* their memory is for the report */
    return tm_ops_report(s, summary);
}

const struct tm_stage_type tm_ops_stage = {
    .name = "ops",
    .summary = "operations by self time, and the roofline",
    .state_bytes = sizeof(struct ops),
    .classes = TM_CLASSES_ACTIVITY,
    .open = open_stage,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .take_self = take_self,
    .end_host = end_host,
    .report = ops_report,
    .save = ops_save,
    .load = ops_load,
    .close = close_stage,
};
