/* SPDX-License-Identifier: Apache-2.0 */
/* What to change in the way of profiling, from what a trace holds and what it lacks. */
#include <string.h>

#include "pipeline/commands/inspect.h"

enum { CUPTI_EVENTS_MOST = 2097152 }; /* the profiler keeps that many device events per host by default */

static void advise(struct tm_value *list, const char *id, const char *what, const char *fix)
{
    struct tm_value *row = tm_add_object(list, NULL);

    tm_add_string(row, "id", id);
    tm_add_string(row, "what", what);
    tm_add_string(row, "fix", fix);
}

static int64_t count_of(const struct tm_value *found, const char *const *classes, size_t count)
{
    const struct tm_value *all = tm_path(found, "coverage.classes");
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += tm_int(tm_get(all, classes[i]));
    return sum;
}

#define COUNT(found, ...) \
    count_of(found, (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static bool is_platform(const struct tm_value *found, const char *name)
{
    return !strcmp(tm_text(tm_path(found, "environment.platform")), name);
}

static bool has_steps_from(const struct tm_value *found, const char *source)
{
    const struct tm_value *hosts = tm_get(found, "contents");

    for (size_t i = 0; i < tm_length(hosts); i++)
        if (!strcmp(tm_text(tm_path(tm_at(hosts, i), "steps.source")), source))
            return true;
    return false;
}

static bool has_collapsed_graphs(const struct tm_value *found)
{
    const struct tm_value *hosts = tm_get(found, "contents");

    for (size_t i = 0; i < tm_length(hosts); i++) {
        const struct tm_value *devices = tm_get(tm_at(hosts, i), "devices");

        for (size_t k = 0; k < tm_length(devices); k++)
            if (tm_is(tm_get(tm_at(devices, k), "has_collapsed_graphs")))
                return true;
    }
    return false;
}

static void advise_device(const struct tm_value *found, struct tm_value *list)
{
    if (tm_length(tm_get(found, "unused")) && is_platform(found, "none"))
        advise(list, "no-device-activity", "there are devices, but none of them did anything while it was recorded",
               "wait for the device before the profile ends: call jax.block_until_ready(out) inside of it; and see"
               " that the device tracer may run (CUPTI of the right version, CAP_SYS_ADMIN in containers)");
    else if (is_platform(found, "none"))
        advise(list, "no-device-activity", "no device was recorded, and no operation of XLA on the CPU",
               "call jax.block_until_ready(out) inside the profile, and see with jax.devices() where the program"
               " runs");
    if (has_collapsed_graphs(found))
        advise(list, "graphs-collapsed", "CUDA graphs were recorded as one event each: their kernels are not there",
               "for one profile, run with XLA_FLAGS=--xla_gpu_enable_command_buffer=");
    if (is_platform(found, "gpu")) {
        const int64_t events = COUNT(found, "kernel", "collective", "copy", "memset", "graph", "device_other");

        if (events && events % CUPTI_EVENTS_MOST == 0)
            advise(list, "events-capped", "the number of device events is exactly the profiler's limit: later ones"
                   " were dropped",
                   "profile fewer steps, or raise gpu_max_activity_api_events in"
                   " ProfileOptions.advanced_configuration");
    }
}

static void advise_host(const struct tm_value *found, struct tm_value *list)
{
    const bool has_host = is_platform(found, "gpu")
                              ? COUNT(found, "python", "annotation", "step_marker", "module", "compile", "input")
                              : COUNT(found, "python", "annotation", "step_marker", "runtime", "launch", "compile",
                                      "module", "input", "cpu_op");

    if (!has_host) {
        advise(list, "no-host-events", "the host tracer was off: causes of idle time, compiles and steps do not show",
               "set host_tracer_level = 2 in jax.profiler.ProfileOptions()");
    } else if (!COUNT(found, "python")) {
        advise(list, "no-python", "Python calls were not recorded: what the host does has few names",
               "set python_tracer_level = 1 in jax.profiler.ProfileOptions(), if its cost can be borne");
    }
    if ((is_platform(found, "gpu") || is_platform(found, "tpu")) && has_host && !COUNT(found, "alloc", "free"))
        advise(list, "no-memory-events", "no allocator recorded anything: there are no memory figures",
               "keep host_tracer_level = 2 and JAX's own allocator (no XLA_PYTHON_CLIENT_ALLOCATOR=platform)");
}

static void advise_steps(const struct tm_value *found, struct tm_value *list)
{
    static const char *const mark = "mark them: with jax.profiler.StepTraceAnnotation('train', step_num=i): state ="
                                    " step(state, batch)";
    const struct tm_value *hosts = tm_get(found, "contents");
    int64_t most = 0;

    for (size_t i = 0; i < tm_length(hosts); i++) {
        const int64_t chosen = tm_int(tm_path(tm_at(hosts, i), "steps.chosen"));

        most = chosen > most ? chosen : most;
    }
    if (has_steps_from(found, "session"))
        advise(list, "no-steps", "no steps are marked: the whole session counts as one", mark);
    else if (has_steps_from(found, "module"))
        advise(list, "no-steps", "no steps are marked: executions of the largest program count as steps", mark);
    else if (most == 1)
        advise(list, "one-step", "only one step is left after warm-up: nothing can be said of the spread",
               "profile 10 to 20 steps after two or three that are not profiled");
}

void tm_inspect_advise(struct tm_value *found)
{
    struct tm_value *list = tm_add_array(found, "advice");

    if (!tm_int(tm_path(found, "coverage.events_read"))) {
        advise(list, "no-events", "nothing was recorded at all",
               "run the program between jax.profiler.start_trace(logdir) and jax.profiler.stop_trace()");
        return;
    }
    if (tm_is(tm_get(found, "partial")))
        advise(list, "partial", "a file is damaged or cut short: only a part of it could be read",
               "copy it again; a profile is whole once jax.profiler.stop_trace() has returned");
    advise_device(found, list);
    advise_host(found, list);
    advise_steps(found, list);
    if (tm_length(tm_get(found, "warnings")))
        advise(list, "profiler-warnings", "the profiler left warnings: events may be missing",
               "profile fewer steps, and not the first ones");
}
