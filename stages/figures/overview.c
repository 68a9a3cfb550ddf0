/* SPDX-License-Identifier: Apache-2.0 */
/* The overview: hosts, devices by model, events by class, tallies.  Memory: hosts, devices and unused planes spill; a
 * fixed table of models is made from the devices in the end, so that the result does not depend on how hosts were
 * grouped. */
#include "stages/figures/figure_stages.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/rows.h"
#include "pipeline/trace.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"
#include "stages/resolve/classes.h"

/* Whether a program computes gradients, which decides what advice applies: inference gets none about gradients or
 * optimizers. */
enum tm_backward {
    TM_BACKWARD_UNKNOWN, /* nothing in the trace could reveal it */
    TM_BACKWARD_NO,
    TM_BACKWARD_YES,
    TM_BACKWARD_COUNT
};

static void look_at(const struct tm_trace *trace, tm_strid path, enum tm_backward *backward)
{
    enum tm_backward told;

    if (!path)
        return;
    told = tm_names_info(trace->names, path).traits & TM_TRAIT_BACKWARD ? TM_BACKWARD_YES : TM_BACKWARD_NO;
    if (told > *backward)
        *backward = told;
}

/* Information from the framework paths of a host: those of its launch facts and of its programs' HLO.  JAX writes
 * `transpose(jvp(f))` around the backward pass.
 * out:    *backward  the larger of the old and the new value */
static void backward_in_paths(const struct tm_trace *trace, enum tm_backward *backward)
{
    for (uint64_t i = 1; i < tm_rows_count(trace->configs) && *backward != TM_BACKWARD_YES; i++) {
        const struct tm_config *config = tm_rows_at(trace->configs, i);

        if (config->hlo_op || config->has_kernel || config->category) /* of what a device runs */
            look_at(trace, config->op, backward);
    }
    for (uint64_t i = 1; i < tm_rows_count(trace->hlo_ops) && *backward != TM_BACKWARD_YES; i++) {
        const struct tm_hlo_op *op = tm_rows_at(trace->hlo_ops, i);

        look_at(trace, op->path, backward);
    }
}

enum {
    MODELS_MOST = 64, /* kinds of devices; the others share the last row */
    UNUSED_LISTED = 1000,
};

static const char *const kind_name[] = {
    [TM_DEVICE_GPU] = "gpu",
    [TM_DEVICE_TPU] = "tpu",
    [TM_DEVICE_CPU] = "cpu",
};

enum { KIND_COUNT = sizeof(kind_name) / sizeof(kind_name[0]) };

/* Reported properties of a device. */
struct device_row {
    char model[128], vendor[32];
    uint64_t core_count, memory_bytes, memory_bandwidth_bytes;
    double peak_tflops;
    uint8_t kind, is_used;
};

/* Devices with the same properties. */
struct model {
    struct device_row device; /* one of them */
    uint64_t count, used;
};

/* The times of a host's TPUs: see stages/input/records/device_clock.h. */
struct tpu_clocks {
    uint64_t devices; /* that were active */
    uint64_t own;     /* of them, those by their own clock */
    uint64_t jumps;   /* of the recorded times of these against it */
    int64_t largest_jump_ps;
};

struct host_row {
    char name[128];
    struct tm_environment environment;
    uint8_t origin;         /* enum tm_origin */
    uint8_t backward;       /* enum tm_backward */
    uint64_t device_events; /* of its devices' lines, without duplicates: what profilers cap */
    struct tpu_clocks clocks;
};

struct unused_row {
    uint32_t host;
    char name[128];
};

struct overview {
    struct tm_run *run;
    struct tm_rows *hosts;   /* struct host_row */
    struct tm_rows *unused;  /* struct unused_row */
    struct tm_rows *devices; /* struct device_row */
    struct model *models;
    uint32_t model_count;
    uint64_t used_devices[KIND_COUNT];
    uint64_t classes[TM_CLASS_COUNT];
    uint64_t used;
    uint64_t kernel_launches;                    /* calls of the host */
    uint64_t accelerators[TM_ACCELERATOR_COUNT]; /* events of unsupported devices */
    const struct tm_trace *trace;                /* of the current host */
    enum tm_backward backward;                   /* from its events */
    uint64_t operators_before;                   /* of the hosts before it */
    uint64_t device_events;                      /* of the current host */
};

static tm_status open_stage(struct tm_stage *s)
{
    struct overview *o = s->state;
    const size_t share = tm_budget_share(&s->run->budget, TM_ACCOUNT_MODEL);

    o->run = s->run;
    o->hosts = tm_rows_new(s->run, TM_ACCOUNT_MODEL, sizeof(struct host_row), share / 16);
    o->unused = tm_rows_new(s->run, TM_ACCOUNT_MODEL, sizeof(struct unused_row), share / 16);
    o->devices = tm_rows_new(s->run, TM_ACCOUNT_MODEL, sizeof(struct device_row), share / 16);
    o->models = tm_take(&s->run->budget, TM_ACCOUNT_MODEL, MODELS_MOST * sizeof(*o->models), &s->run->error);
    return o->hosts && o->unused && o->devices && o->models ? TM_OK : s->run->error.status;
}

static bool is_same_model(const struct device_row *a, const struct device_row *b)
{
    return a->kind == b->kind && !strcmp(a->model, b->model) && !strcmp(a->vendor, b->vendor) &&
           a->core_count == b->core_count && a->memory_bytes == b->memory_bytes &&
           a->memory_bandwidth_bytes == b->memory_bandwidth_bytes && a->peak_tflops == b->peak_tflops;
}

static void count_device(struct overview *o, const struct device_row *device)
{
    uint32_t at = 0;

    while (at < o->model_count && !is_same_model(&o->models[at].device, device))
        at++;
    if (at == MODELS_MOST)
        at = MODELS_MOST - 1;
    if (at == o->model_count)
        o->models[o->model_count++].device = *device;
    o->models[at].count++;
    o->models[at].used += device->is_used;
    o->used_devices[device->kind] += device->is_used;
}

static void keep_device(struct overview *o, const struct tm_device *device)
{
    struct device_row row = { .core_count = device->core_count,
                              .memory_bytes = device->memory_bytes,
                              .memory_bandwidth_bytes = device->memory_bandwidth_bytes,
                              .peak_tflops = device->peak_tflops,
                              .kind = device->kind,
                              .is_used = device->activities > 0 };

    memcpy(row.model, device->model, sizeof(row.model));
    memcpy(row.vendor, device->vendor, sizeof(row.vendor));
    tm_rows_append(o->devices, &row);
}

/* Counts the events of devices that were left out, as their tally does. */
static void count_accelerators(struct overview *o, const struct tm_trace *trace)
{
    for (uint64_t i = 0; i < tm_rows_count(trace->tracks); i++) {
        const struct tm_track *track = tm_rows_at(trace->tracks, i);

        if (track->accelerator)
            o->accelerators[track->accelerator] += track->events;
    }
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct overview *o = s->state;
    struct host_row host = { .environment = trace->environment, .origin = trace->origin };

    count_accelerators(o, trace);

    o->trace = trace;
    o->backward = TM_BACKWARD_UNKNOWN;
    o->operators_before = o->classes[TM_CLASS_FRAMEWORK_OP];
    memcpy(host.name, trace->host_name, sizeof(host.name));
    o->device_events = 0;
    tm_rows_append(o->hosts, &host);
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *device = &trace->devices[i];
        struct unused_row unused = { .host = (uint32_t)tm_rows_count(o->hosts) - 1 };

        /* A CPU is a device only where programs ran on it. */
        if (device->kind == TM_DEVICE_CPU && !device->activities)
            continue;
        keep_device(o, device);
        memcpy(unused.name, device->name, sizeof(unused.name));
        if (!device->activities)
            tm_rows_append(o->unused, &unused);
    }
    return s->run->error.status;
}

/* Whether events of a site are used, those with a length or those without one. */
static bool is_used(const struct tm_event *event, bool has_length)
{
    if (event->level != TM_LEVEL_NONE)
        return true;
    switch ((enum tm_class)event->record.class) {
    case TM_CLASS_TPU_ASYNC:
    case TM_CLASS_TPU_OP: /* waits for the host */
    case TM_CLASS_STEP_MARKER:
    case TM_CLASS_ALLOC:
    case TM_CLASS_FREE:
    case TM_CLASS_LAUNCH:
    case TM_CLASS_COMPILE:
    case TM_CLASS_MODULE:
        return true;
    case TM_CLASS_CPU_OP:
    case TM_CLASS_COLLECTIVE:
    case TM_CLASS_SYNC:
    case TM_CLASS_INPUT:
    case TM_CLASS_GC:
    case TM_CLASS_PROFILER:
    case TM_CLASS_PYTHON:
    case TM_CLASS_RUNTIME:
    case TM_CLASS_ANNOTATION:
    case TM_CLASS_FRAMEWORK_OP:
        /* The activity of a thread determines causes of idle time, if it launches or is the main one. */
        return event->thread != TM_NONE && has_length;
    default:
        return false;
    }
}

static bool is_device_event(uint8_t class)
{
    return class == TM_CLASS_DEVICE_OTHER || (class >= TM_CLASS_KERNEL && class <= TM_CLASS_GRAPH);
}

bool tm_overview_is_used(const struct tm_event *event)
{
    return is_used(event, event->record.dur_ps > 0);
}

static void take_site(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct overview *o = s->state;
    const uint8_t class = event->record.class;

    o->classes[class < TM_CLASS_COUNT ? class : TM_CLASS_OTHER] += sums->count;
    o->used += is_used(event, true) ? sums->count - sums->without_length : 0;
    o->used += is_used(event, false) ? sums->without_length : 0;
    if (event->traits & TM_TRAIT_BACKWARD)
        o->backward = TM_BACKWARD_YES;
    o->device_events += is_device_event(class) ? sums->count : 0;
    if (class == TM_CLASS_LAUNCH && event->traits & TM_TRAIT_KERNEL_LAUNCH)
        o->kernel_launches += sums->count;
}

static struct tpu_clocks clocks_of(const struct tm_trace *trace)
{
    struct tpu_clocks clocks = { .devices = 0 };

    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *const device = &trace->devices[i];

        if (device->kind != TM_DEVICE_TPU || !device->activities)
            continue;
        clocks.devices++;
        clocks.own += device->has_device_clock;
        clocks.jumps += device->clock_jumps;
        if (device->largest_clock_jump_ps > clocks.largest_jump_ps)
            clocks.largest_jump_ps = device->largest_clock_jump_ps;
    }
    return clocks;
}

static tm_status end_host(struct tm_stage *s)
{
    struct overview *o = s->state;
    struct host_row *host = tm_rows_change(o->hosts, tm_rows_count(o->hosts) - 1);
    /* PyTorch's profiler records operators and the autograd engine together. */
    const bool has_operators =
        o->trace->origin == TM_ORIGIN_PYTORCH && o->classes[TM_CLASS_FRAMEWORK_OP] > o->operators_before;

    enum tm_backward backward = o->backward == TM_BACKWARD_UNKNOWN && has_operators ? TM_BACKWARD_NO : o->backward;

    o->classes[TM_CLASS_FLOW] += o->trace->dropped_flows;

    backward_in_paths(o->trace, &backward);
    host->backward = (uint8_t)backward;
    host->device_events = o->device_events;
    host->clocks = clocks_of(o->trace);
    return s->run->error.status;
}

/* --- the sections --- */

static const char *const not_recorded = "not recorded";

static const char *const not_in_copy = "not in JSON traces; the run's .xplane.pb has it";

static void add_text_or(struct tm_value *to, const char *key, const char *text, const char *why)
{
    if (text[0])
        tm_add_text(to, key, text, strlen(text));
    else
        tm_add_null(to, key, why);
}

static void add_number_or(struct tm_value *to, const char *key, uint64_t value, const char *why)
{
    if (value)
        tm_add_uint(to, key, value);
    else
        tm_add_null(to, key, why);
}

static void add_rank_or(struct tm_value *to, const char *key, int64_t value)
{
    if (value >= 0)
        tm_add_int(to, key, value);
    else
        tm_add_null(to, key, "the profile records no distributed job");
}

static void add_clocks(struct tm_value *to, const struct tpu_clocks *clocks)
{
    struct tm_value *row;

    if (!clocks->devices) {
        tm_add_null(to, "tpu_clock", "no TPU was active");
        return;
    }
    row = tm_add_object(to, "tpu_clock");
    tm_add_uint(row, "devices", clocks->devices);
    tm_add_uint(row, "own", clocks->own);
    if (clocks->own) {
        tm_add_uint(row, "jumps", clocks->jumps);
        tm_add_int(row, "largest_jump_ps", clocks->largest_jump_ps);
    } else {
        tm_add_null(row, "jumps", "no times by the devices' own clocks are recorded");
        tm_add_null(row, "largest_jump_ps", "no times by the devices' own clocks are recorded");
    }
}

static void add_hosts(struct overview *o, struct tm_value *environment)
{
    struct tm_value *list = tm_add_array(environment, "hosts");

    for (uint64_t i = 0; i < tm_rows_count(o->hosts); i++) {
        const struct host_row *host = tm_rows_at(o->hosts, i);
        const struct tm_environment *e;
        const char *why;
        struct tm_value *to;

        e = &host->environment;
        why = host->origin == TM_ORIGIN_JSON_COPY ? not_in_copy : not_recorded;
        to = tm_add_object(list, NULL);
        tm_add_string(to, "host", host->name);
        add_text_or(to, "framework", e->framework, not_recorded);
        if (host->backward == TM_BACKWARD_UNKNOWN)
            tm_add_null(to, "backward", "the profile contains no framework paths and no operators");
        else
            tm_add_bool(to, "backward", host->backward == TM_BACKWARD_YES);
        add_rank_or(to, "rank", e->rank);
        add_rank_or(to, "world_size", e->world_size);
        add_text_or(to, "jax", e->jax, why);
        add_text_or(to, "jaxlib", e->jaxlib, why);
        add_text_or(to, "platform_version", e->platform_version, why);
        add_text_or(to, "cuda", e->cuda, why);
        add_text_or(to, "cuda_runtime", e->cuda_runtime, why);
        add_text_or(to, "driver", e->driver, why);
        add_text_or(to, "rocm", e->rocm, why);
        add_text_or(to, "libtpu", e->libtpu, why);
        if (e->process_id)
            tm_add_int(to, "process_id", e->process_id);
        else
            tm_add_null(to, "process_id", why);
        add_number_or(to, "begin_ns", e->begin_ns, why);
        add_number_or(to, "end_ns", e->end_ns, why);
        add_text_or(to, "profile_options", e->profile_options, why);
        tm_add_uint(to, "device_events", host->device_events);
        add_clocks(to, &host->clocks);
    }
}

static void add_devices(const struct overview *o, struct tm_value *environment)
{
    struct tm_value *list = tm_add_array(environment, "devices");

    for (uint32_t i = 0; i < o->model_count; i++) {
        const struct model *model = &o->models[i];
        const struct device_row *device = &model->device;
        struct tm_value *to = tm_add_object(list, NULL);

        add_text_or(to, "model", device->model, not_recorded);
        add_text_or(to, "vendor", device->vendor, not_recorded);
        tm_add_string(to, "kind", kind_name[device->kind]);
        tm_add_uint(to, "count", model->count);
        tm_add_uint(to, "used", model->used);
        add_number_or(to, "core_count", device->core_count, not_recorded);
        add_number_or(to, "memory_bytes", device->memory_bytes, not_recorded);
        add_number_or(to, "memory_bandwidth_bytes", device->memory_bandwidth_bytes, not_recorded);
        if (device->peak_tflops > 0)
            tm_add_double(to, "peak_tflops", device->peak_tflops);
        else
            tm_add_null(to, "peak_tflops", not_recorded);
    }
}

static const char *platform_of(const struct overview *o)
{
    static const enum tm_device_kind order[] = { TM_DEVICE_GPU, TM_DEVICE_TPU, TM_DEVICE_CPU };

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (o->used_devices[order[i]])
            return kind_name[order[i]];
    return "none";
}

static void add_coverage(const struct overview *o, struct tm_value *summary)
{
    struct tm_value *coverage = tm_add_object(summary, "coverage"), *classes, *tallies, *unknown;

    tm_add_uint(coverage, "events_read", o->run->events_read);
    tm_add_uint(coverage, "events_used", o->used);
    classes = tm_add_object(coverage, "classes");
    for (int i = 0; i < TM_CLASS_COUNT; i++)
        if (o->classes[i])
            tm_add_uint(classes, tm_class_name[i], o->classes[i]);
    tm_add_uint(coverage, "kernel_launches", o->kernel_launches);
    unknown = tm_add_array(coverage, "unknown_devices");
    for (int i = TM_ACCELERATOR_NONE + 1; i < TM_ACCELERATOR_COUNT; i++) {
        struct tm_value *to = o->accelerators[i] ? tm_add_object(unknown, NULL) : NULL;

        if (!to)
            continue;
        tm_add_string(to, "name", tm_accelerator_name[i]);
        tm_add_uint(to, "events", o->accelerators[i]);
    }
    tallies = tm_add_object(coverage, "tallies");
    for (int i = 0; i < TM_TALLY_COUNT; i++) {
        const struct tm_tally_info *info = &tm_tally_info[i];
        struct tm_value *to;

        if (!o->run->tallies.count[i])
            continue;
        to = tm_add_object(tallies, info->name);
        tm_add_uint(to, "count", o->run->tallies.count[i]);
        tm_add_string(to, "level", tm_tally_is_loss((enum tm_tally)i, TM_TALLY_FOR_FIGURES) ? "loss" : "note");
        tm_add_string(to, "help", info->help);
    }
}

static void add_unused(struct overview *o, struct tm_value *summary)
{
    struct tm_value *list = tm_add_array(summary, "unused");

    for (uint64_t i = 0; i < tm_rows_count(o->unused) && i < UNUSED_LISTED; i++) {
        const struct unused_row *unused = tm_rows_at(o->unused, i);
        const struct host_row *host = tm_rows_at(o->hosts, unused->host);
        struct tm_value *to = tm_add_object(list, NULL);

        tm_add_string(to, "host", host->name);
        tm_add_string(to, "name", unused->name);
    }
}

static void count_devices(struct overview *o)
{
    for (uint64_t i = 0; i < tm_rows_count(o->devices); i++)
        count_device(o, tm_rows_at(o->devices, i));
}

static tm_status report(struct tm_stage *s, struct tm_value *summary)
{
    struct overview *o = s->state;
    struct tm_value *environment = tm_add_object(summary, "environment");

    count_devices(o);
    tm_add_string(environment, "platform", platform_of(o));
    add_hosts(o, environment);
    add_devices(o, environment);
    add_coverage(o, summary);
    add_unused(o, summary);
    return s->run->error.status;
}

/* --- partials --- */

#define HOST(member, kind) TM_FIELD(struct host_row, member, kind, KEEP)

static const struct tm_row_field host_fields[] = {
    HOST(environment.host, TEXT),
    HOST(environment.framework, TEXT),
    HOST(environment.rank, INSTANT),
    HOST(environment.world_size, INSTANT),
    HOST(environment.jax, TEXT),
    HOST(environment.jaxlib, TEXT),
    HOST(environment.platform_version, TEXT),
    HOST(environment.cuda, TEXT),
    HOST(environment.cuda_runtime, TEXT),
    HOST(environment.driver, TEXT),
    HOST(environment.rocm, TEXT),
    HOST(environment.libtpu, TEXT),
    HOST(environment.process_id, INSTANT),
    HOST(environment.begin_ns, COUNT),
    HOST(environment.end_ns, COUNT),
    HOST(environment.profile_options, TEXT),
    TM_FIELD_BELOW(struct host_row, origin, U8, KEEP, TM_ORIGIN_COUNT),
    TM_FIELD_BELOW(struct host_row, backward, U8, KEEP, TM_BACKWARD_COUNT),
    HOST(device_events, COUNT),
    HOST(clocks.devices, COUNT),
    HOST(clocks.own, COUNT),
    HOST(clocks.jumps, COUNT),
    HOST(clocks.largest_jump_ps, TIME),
    TM_FIELDS_END,
};

#define DEVICE(member, kind) TM_FIELD(struct device_row, member, kind, KEEP)

static const struct tm_row_field device_fields[] = {
    DEVICE(model, TEXT),
    DEVICE(vendor, TEXT),
    DEVICE(core_count, COUNT),
    DEVICE(memory_bytes, COUNT),
    DEVICE(memory_bandwidth_bytes, COUNT),
    DEVICE(peak_tflops, DOUBLE),
    TM_FIELD_BELOW(struct device_row, kind, U8, KEEP, KIND_COUNT),
    DEVICE(is_used, BOOL),
    TM_FIELDS_END,
};

static const struct tm_row_field unused_fields[] = {
    TM_FIELD(struct unused_row, host, HOST, KEEP),
    TM_FIELD(struct unused_row, name, TEXT, KEEP),
    TM_FIELDS_END,
};

static const struct tm_row_field sum_fields[] = {
    TM_FIELD(struct overview, used, COUNT, SUM),
    TM_FIELD(struct overview, classes, COUNT, SUM),
    TM_FIELD(struct overview, kernel_launches, COUNT, SUM),
    TM_FIELD(struct overview, accelerators, COUNT, SUM),
    TM_FIELDS_END,
};

static tm_status save(struct tm_stage *s, struct tm_partial_writer *w)
{
    const struct overview *o = s->state;

    tm_fields_save(w, sum_fields, o);
    tm_fields_save_rows(w, host_fields, o->hosts, 0, tm_rows_count(o->hosts));
    tm_partial_put_u64(w, tm_rows_count(o->devices));
    tm_fields_save_rows(w, device_fields, o->devices, 0, tm_rows_count(o->devices));
    tm_partial_put_u64(w, tm_rows_count(o->unused));
    return tm_fields_save_rows(w, unused_fields, o->unused, 0, tm_rows_count(o->unused));
}

/* in: of  the number of the host in the partial, which becomes that of the next one */
static tm_status complete_host(void *of, struct tm_partial_reader *r, void *row)
{
    struct host_row *const host = row;

    tm_partial_copy_host(r, (*(uint32_t *)of)++, host->name, sizeof(host->name));
    return TM_OK;
}

static tm_status load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct overview *o = s->state;
    uint32_t number = 0;

    tm_fields_load_more(r, sum_fields, o);
    tm_fields_load_rows(r, host_fields, o->hosts, tm_partial_host_count(r), complete_host, &number);
    tm_fields_load_rows(r, device_fields, o->devices, tm_partial_u64(r), NULL, NULL);
    return tm_fields_load_rows(r, unused_fields, o->unused, tm_partial_u64(r), NULL, NULL);
}

static void close_stage(struct tm_stage *s)
{
    struct overview *o = s->state;

    tm_rows_free(o->hosts);
    tm_rows_free(o->unused);
    tm_rows_free(o->devices);
    tm_give(&s->run->budget, TM_ACCOUNT_MODEL, o->models, o->models ? MODELS_MOST * sizeof(*o->models) : 0);
}

const struct tm_stage_type tm_overview_stage = {
    .name = "overview",
    .summary = "environment and coverage of the trace",
    .state_bytes = sizeof(struct overview),
    .classes = TM_CLASSES_ALL,
    .open = open_stage,
    .begin_host = begin_host,
    .take_site = take_site,
    .end_host = end_host,
    .report = report,
    .save = save,
    .load = load,
    .close = close_stage,
};
