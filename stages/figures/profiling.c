/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of profiling, the stage: counts what each tracer recorded on the host's threads while the analyzed steps
 * ran.  Costs of one event were measured with JAX 0.10.2 and CPython 3.11 on an AMD EPYC, as the additional time of a
 * loop with the tracer on: docs/metrics.md, "Cost of profiling".  Memory: fixed. */
#include "stages/figures/figure_stages.h"

#include <stdbool.h>

#include "pipeline/stage.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"
#include "stages/resolve/classes.h"

enum tracer {
    TRACER_PYTHON, /* Python function calls */
    TRACER_HOST,   /* TraceMe: the runtime's spans and the user's annotations */
    TRACER_LAUNCH, /* calls of the GPU's driver, recorded by CUPTI or ROCTracer */
    TRACER_DEVICE, /* activities, recorded likewise, or by the TPU itself */
    TRACER_COUNT
};

static const struct {
    const char *name, *option, *why;
    uint32_t cost_ns; /* of one event, on its thread; 0 = not known: `why` */
} tracers[TRACER_COUNT] = {
    [TRACER_PYTHON] = { "python", "python_tracer_level = 0", "", 130 },
    [TRACER_HOST] = { "host", "host_tracer_level = 1", "", 60 },
    [TRACER_LAUNCH] = { "driver_calls", "gpu_max_callback_api_events",
                        "it depends on the driver; what it records of its "
                        "own cost is in recorded_ps",
                        0 },
    [TRACER_DEVICE] = { "device", "device_tracer_level = 0",
                        "it is recorded beside the threads, by the device or the "
                        "driver",
                        0 },
};

struct profiling {
    const struct tm_trace *trace; /* of the current host */
    struct tm_host_window window;
    uint64_t events[TRACER_COUNT], main_events[TRACER_COUNT]; /* main: of the hosts' main threads */
    int64_t recorded_ps;                                      /* the profiler's own records of its work */
    int64_t window_ps;                                        /* of all hosts */
    bool has_hosts, is_other;
    bool has_driver; /* the current host has GPUs */
};

static const struct tm_row_field sum_fields[] = {
    TM_FIELD(struct profiling, events, COUNT, SUM),
    TM_FIELD(struct profiling, main_events, COUNT, SUM),
    TM_FIELD(struct profiling, recorded_ps, TIME, SUM),
    TM_FIELD(struct profiling, window_ps, TIME, SUM),
    TM_FIELD(struct profiling, has_hosts, BOOL, ANY),
    TM_FIELD(struct profiling, is_other, BOOL, ANY),
    TM_FIELDS_END,
};

static tm_status save(struct tm_stage *s, struct tm_partial_writer *w)
{
    tm_fields_save(w, sum_fields, s->state);
    return s->run->error.status;
}

static tm_status load(struct tm_stage *s, struct tm_partial_reader *r)
{
    tm_fields_load_more(r, sum_fields, s->state);
    return s->run->error.status;
}

static tm_status open_stage(struct tm_stage *s)
{
    return s->run->error.status;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct profiling *const p = s->state;
    int64_t start_ps = trace->first_ps, end_ps = trace->last_ps;

    p->trace = trace;
    p->has_driver = false;
    for (uint32_t i = 0; i < trace->device_count; i++)
        p->has_driver |= trace->devices[i].kind == TM_DEVICE_GPU;
    p->is_other |= trace->origin != TM_ORIGIN_XSPACE && trace->origin != TM_ORIGIN_JSON_COPY;
    tm_find_host_window(trace, s->settings, &p->window);
    if (!tm_failed(s->run) && trace->main_track != TM_NONE && tm_cut_to_window(&p->window, &start_ps, &end_ps)) {
        p->has_hosts = true;
        p->window_ps = tm_sum_times(p->window_ps, end_ps - start_ps);
    }
    return s->run->error.status;
}

/* Of an event of the host. */
static enum tracer tracer_of(const struct profiling *p, const struct tm_event *event)
{
    if (event->record.class == TM_CLASS_PYTHON || event->traits & TM_TRAIT_PYTHON)
        return TRACER_PYTHON;
    return event->record.correlation && p->has_driver ? TRACER_LAUNCH : TRACER_HOST;
}

static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    const struct profiling *const p = s->state;

    return !tm_is_on_accelerator(p->trace, event) && event->record.kind == TM_SPAN;
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    struct profiling *const p = s->state;
    const struct tm_host_window window = p->window;
    const uint32_t main_track = p->trace->main_track;
    uint64_t seen[TRACER_COUNT] = { 0 }, seen_on_main[TRACER_COUNT] = { 0 };

    for (size_t i = 0; i < count; i++) {
        const struct tm_event *const event = &events[i];
        int64_t start_ps = event->record.start_ps, end_ps = tm_sum_times(start_ps, event->record.dur_ps);
        enum tracer tracer;

        if (!tm_wants(s, event))
            continue;
        if (start_ps < window.start_ps || start_ps >= window.end_ps)
            continue;
        tracer = tracer_of(p, event);
        seen[tracer]++;
        seen_on_main[tracer] += event->record.track == main_track;
        if (event->record.class == TM_CLASS_PROFILER && tm_cut_to_window(&window, &start_ps, &end_ps))
            p->recorded_ps = tm_sum_times(p->recorded_ps, end_ps - start_ps);
    }
    for (int i = 0; i < TRACER_COUNT; i++) {
        p->events[i] = tm_sum_counts(p->events[i], seen[i]);
        p->main_events[i] = tm_sum_counts(p->main_events[i], seen_on_main[i]);
    }
}

/* Activities of devices, which are counted whenever they were recorded. */
static void take_site(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct profiling *const p = s->state;

    if (event->level != TM_LEVEL_NONE && event->chosen && tm_is_on_accelerator(p->trace, event))
        p->events[TRACER_DEVICE] = tm_sum_counts(p->events[TRACER_DEVICE], sums->count);
}

static tm_status end_host(struct tm_stage *s)
{
    ((struct profiling *)s->state)->trace = NULL;
    return s->run->error.status;
}

static int64_t cost_ps(uint64_t events, uint32_t cost_ns)
{
    int64_t cost;

    return events > INT64_MAX || __builtin_mul_overflow((int64_t)events, (int64_t)cost_ns * 1000, &cost) ? INT64_MAX
                                                                                                         : cost;
}

/* Costs are estimates, and may exceed the window. */
static double share_of_window(const struct profiling *p, int64_t cost_ps)
{
    return tm_share_of(cost_ps < p->window_ps ? cost_ps : p->window_ps, p->window_ps);
}

static int64_t add_tracer(const struct profiling *p, enum tracer i, struct tm_value *list)
{
    const char *const why = tracers[i].why;
    const bool is_known = !*why;
    const int64_t main_ps = is_known ? cost_ps(p->main_events[i], tracers[i].cost_ns) : 0;
    struct tm_value *const to = tm_add_object(list, NULL);

    tm_add_string(to, "tracer", tracers[i].name);
    tm_add_uint(to, "events", p->events[i]);
    tm_add_uint(to, "main_events", p->main_events[i]);
    if (is_known) {
        tm_add_int(to, "event_ps", cost_ps(1, tracers[i].cost_ns));
        tm_add_int(to, "total_ps", cost_ps(p->events[i], tracers[i].cost_ns));
        tm_add_int(to, "main_ps", main_ps);
        tm_add_double(to, "share_pct", share_of_window(p, main_ps));
    } else {
        tm_add_null(to, "event_ps", why);
        tm_add_null(to, "total_ps", why);
        tm_add_null(to, "main_ps", why);
        tm_add_null(to, "share_pct", why);
    }
    tm_add_string(to, "option", tracers[i].option);
    return main_ps;
}

static tm_status report(struct tm_stage *s, struct tm_value *summary)
{
    const struct profiling *const p = s->state;
    struct tm_value *const host = tm_member(summary, "host");
    struct tm_value *section, *list;
    int64_t main_ps = 0;

    if (tm_type_of(host) != TM_OBJECT)
        return TM_OK;
    if (!p->has_hosts || p->is_other) {
        tm_add_null(host, "profiling",
                    p->is_other ? "its costs are known for JAX's profiler only" : "no host events were recorded");
        return s->run->error.status;
    }
    section = tm_add_object(host, "profiling");
    list = tm_add_array(section, "tracers");
    for (int i = 0; i < TRACER_COUNT; i++)
        if (p->events[i])
            main_ps = tm_sum_times(main_ps, add_tracer(p, (enum tracer)i, list));
    tm_add_int(section, "window_ps", p->window_ps);
    tm_add_int(section, "recorded_ps", p->recorded_ps);
    tm_add_int(section, "main_ps", main_ps);
    tm_add_double(section, "share_pct", share_of_window(p, main_ps));
    return s->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    (void)s;
}

const struct tm_stage_type tm_profiling_stage = {
    .name = "profiling",
    .summary = "what profiling itself costs",
    .state_bytes = sizeof(struct profiling),
    .classes = TM_CLASSES_ALL,
    .open = open_stage,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .take_site = take_site,
    .end_host = end_host,
    .report = report,
    .save = save,
    .load = load,
    .close = close_stage,
};
