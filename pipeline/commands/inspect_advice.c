/* SPDX-License-Identifier: Apache-2.0 */
/* What to change in the way of profiling, from what a trace holds and what it lacks. */
#include <stdio.h>
#include <string.h>

#include "pipeline/commands/inspect.h"
#include "reports/findings/ask.h"
#include "reports/findings/finding_texts.h"
#include "reports/format/format.h"

enum { TEXTS_MOST = 3 };

/* What is advised: texts may begin with the runs that they are for (reports/findings/finding_texts.h), and the first that
 * is for this run holds. */
struct advice {
    const char *id;
    const char *what[TEXTS_MOST];
    const char *fix[TEXTS_MOST];
};

static const char *first_for(unsigned audience, const char *const texts[TEXTS_MOST])
{
    for (int i = 0; i < TEXTS_MOST && texts[i]; i++) {
        const char *const fit = tm_text_for(audience, texts[i]);

        if (fit)
            return fit;
    }
    return "";
}

static void advise_that(const struct tm_value *found, struct tm_value *list, const struct advice *advice,
                        const char *what)
{
    struct tm_value *row = tm_add_object(list, NULL);

    tm_add_string(row, "id", advice->id);
    tm_add_string(row, "what", what);
    tm_add_string(row, "fix", first_for(tm_audience_of(found), advice->fix));
}

static void advise(const struct tm_value *found, struct tm_value *list, const struct advice *advice)
{
    advise_that(found, list, advice, first_for(tm_audience_of(found), advice->what));
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

static const struct advice no_events = {
    "no-events",
    { "nothing was recorded at all" },
    { "jax|run the program between jax.profiler.start_trace(logdir) and jax.profiler.stop_trace()",
      "torch|run the program inside of 'with torch.profiler.profile() as prof:'", "take the trace again" },
};

static const struct advice partial = {
    "partial",
    { "a file is damaged or cut short: only a part of it could be read" },
    { "jax|copy it again; a profile is whole once jax.profiler.stop_trace() has returned",
      "torch|copy it again; a profile is whole once prof.export_chrome_trace(path) has returned", "copy it again" },
};

static const struct advice idle_devices = {
    "no-device-activity",
    { "there are devices, but none of them did anything while it was recorded" },
    { "jax|wait for the device before the profile ends: call jax.block_until_ready(out) inside of it; and see that the"
      " device tracer may run (CUPTI of the right version, CAP_SYS_ADMIN in containers)",
      "torch|record the device: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]; and see that its tracer may"
      " run (CUPTI of the right version, CAP_SYS_ADMIN in containers)",
      "take the trace while the devices work, with their events" },
};

static const struct advice no_device = {
    "no-device-activity",
    { "jax|no device was recorded, and no operation of XLA on the CPU",
      "torch|the program ran on the CPU: nothing was launched on a device", "no device was recorded" },
    { "jax|call jax.block_until_ready(out) inside the profile, and see with jax.devices() where the program runs",
      "torch|record the device: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] in torch.profiler.profile();"
      " of a program on the CPU only the host can be told",
      "give a profile of JAX or PyTorch: of other traces only what the host did can be told" },
};

static const struct advice collapsed_graphs = {
    "graphs-collapsed",
    { "CUDA graphs were recorded as one event each: their kernels are not there" },
    { "jax|for one profile, run with XLA_FLAGS=--xla_gpu_enable_command_buffer=",
      "torch|for one profile, run without graphs: torch.compile without mode=\"reduce-overhead\"",
      "for one profile, run without graphs" },
};

static const struct advice capped = {
    "events-capped",
    { "the number of device events is exactly the profiler's limit: later ones were dropped" },
    { "profile fewer steps, or raise gpu_max_activity_api_events in ProfileOptions.advanced_configuration" },
};

static const struct advice no_host = {
    "no-host-events",
    { "jax|the host tracer was off: causes of idle time, compiles and steps do not show",
      "the host was not recorded: causes of idle time and steps do not show" },
    { "jax|set host_tracer_level = 2 in jax.profiler.ProfileOptions()",
      "torch|add ProfilerActivity.CPU to the activities of torch.profiler.profile()", "record the host's threads" },
};

static const struct advice no_python = {
    "no-python",
    { "Python calls were not recorded: what the host does has few names" },
    { "jax|set python_tracer_level = 1 in jax.profiler.ProfileOptions(), if its cost can be borne",
      "give with_stack=True to torch.profiler.profile(), if its cost can be borne" },
};

static const struct advice no_memory = {
    "no-memory-events",
    { "no allocator recorded anything: there are no memory figures" },
    { "jax|keep host_tracer_level = 2 and JAX's own allocator (no XLA_PYTHON_CLIENT_ALLOCATOR=platform)",
      "give profile_memory=True to torch.profiler.profile()" },
};

static const struct advice no_steps = {
    "no-steps",
    { "no steps are marked: the whole session counts as one" },
    { "jax|mark them: with jax.profiler.StepTraceAnnotation('train', step_num=i): state = step(state, batch)",
      "torch|mark them: call prof.step() at the end of each pass of the loop, with schedule=torch.profiler.schedule("
      "wait=1, warmup=2, active=10)",
      "give a profile of JAX or PyTorch whose steps are marked" },
};

static const struct advice steps_of_module = {
    "no-steps",
    { "no steps are marked: executions of the largest program count as steps" },
    { "mark them: with jax.profiler.StepTraceAnnotation('train', step_num=i): state = step(state, batch)" },
};

static const struct advice one_step = {
    "one-step",
    { "only one step is left after warm-up: nothing can be said of the spread" },
    { "torch|record 10 to 20 steps: schedule=torch.profiler.schedule(wait=1, warmup=2, active=10)",
      "profile 10 to 20 steps after two or three that are not profiled" },
};

static const struct advice json_copy = {
    "json-copy",
    { "the file is the JSON copy of a profile: memory, asynchronous TPU operations and more are not in it" },
    { "read the .xplane.pb file of the run" },
};

static const struct advice warned = {
    "profiler-warnings",
    { "the profiler left warnings: events may be missing" },
    { "profile fewer steps, and not the first ones" },
};

static const struct advice lost_kernels = {
    "kernels-lost",
    { NULL },
    { "jax|call jax.block_until_ready(out) inside the profile; profile fewer steps; and see that the device tracer may"
      " run (CUPTI of the right version, CAP_SYS_ADMIN in containers, no other profiler)",
      "torch|call torch.cuda.synchronize() before the profile ends; profile fewer steps; and see that its tracer may"
      " run (CUPTI of the right version, CAP_SYS_ADMIN in containers, no other profiler)",
      "take the trace again with the events of the device, and until its work has ended" },
};

static const struct advice unknown_device = {
    "unknown-device",
    { NULL },
    { "read the device's own time in a viewer or with the tools of its vendor; what the host did is analyzed" },
};

/* out: whether the host launched kernels that were not recorded */
static bool advise_lost(const struct tm_value *found, struct tm_value *list)
{
    char launches[TM_FORMAT_BYTES], recorded[TM_FORMAT_BYTES], what[160];
    struct tm_ask_kernels kernels;

    if (!tm_ask_lost_kernels(found, &kernels))
        return false;
    (void)snprintf(what, sizeof(what), "kernels were lost: %s calls that launch kernels were recorded, and %s kernel%s",
                   tm_format_count(launches, kernels.launches), tm_format_count(recorded, kernels.recorded),
                   tm_format_plural((size_t)kernels.recorded));
    advise_that(found, list, &lost_kernels, what);
    return true;
}

static bool advise_unknown(const struct tm_value *found, struct tm_value *list)
{
    char names[80], count[TM_FORMAT_BYTES], what[200];
    int64_t events;

    if (!tm_ask_unknown_devices(found, names, sizeof(names), &events))
        return false;
    (void)snprintf(what, sizeof(what), "device events of %s are not analyzed: %s were left out", names,
                   tm_format_count(count, events));
    advise_that(found, list, &unknown_device, what);
    return true;
}

static void advise_device(const struct tm_value *found, struct tm_value *list)
{
    const bool is_unknown = advise_unknown(found, list), is_lost = advise_lost(found, list);

    if (is_platform(found, "none") && !is_unknown && !is_lost)
        advise(found, list, tm_length(tm_get(found, "unused")) ? &idle_devices : &no_device);
    if (has_collapsed_graphs(found))
        advise(found, list, &collapsed_graphs);
    if (tm_ask_capped_host(found))
        advise(found, list, &capped);
}

static bool has_host_events(const struct tm_value *found)
{
    if (tm_audience_of(found) & TM_FOR_TORCH) /* calls of CUDA are recorded with the device */
        return COUNT(found, "python", "annotation", "step_marker", "framework_op", "input") > 0;
    if (is_platform(found, "gpu") && tm_audience_of(found) & TM_FOR_OTHER)
        return COUNT(found, "python", "annotation", "step_marker", "runtime", "launch", "sync", "input") > 0;
    if (is_platform(found, "gpu"))
        return COUNT(found, "python", "annotation", "step_marker", "module", "compile", "input") > 0;
    return COUNT(found, "python", "annotation", "step_marker", "runtime", "launch", "compile", "module", "input",
                 "cpu_op") > 0;
}

/* What a profiler could have recorded of the host; of other traces nobody knows. */
static void advise_host(const struct tm_value *found, struct tm_value *list)
{
    const bool is_json_copy = tm_audience_of(found) & TM_FOR_JAX && tm_ask_is_json(found);
    const bool has_host = has_host_events(found);

    if (!has_host)
        advise(found, list, &no_host);
    if (!has_host || tm_audience_of(found) & TM_FOR_OTHER)
        return;
    if (!COUNT(found, "python"))
        advise(found, list, &no_python);
    if ((is_platform(found, "gpu") || is_platform(found, "tpu")) && !is_json_copy && !COUNT(found, "alloc", "free"))
        advise(found, list, &no_memory);
}

static void advise_steps(const struct tm_value *found, struct tm_value *list)
{
    const struct tm_value *hosts = tm_get(found, "contents");
    int64_t most = 0;

    for (size_t i = 0; i < tm_length(hosts); i++) {
        const int64_t chosen = tm_int(tm_path(tm_at(hosts, i), "steps.chosen"));

        most = chosen > most ? chosen : most;
    }
    if (has_steps_from(found, "session"))
        advise(found, list, &no_steps);
    else if (has_steps_from(found, "module"))
        advise(found, list, &steps_of_module);
    else if (most == 1)
        advise(found, list, &one_step);
}

void tm_inspect_advise(struct tm_value *found)
{
    struct tm_value *list = tm_add_array(found, "advice");

    if (!tm_length(tm_get(found, "contents"))) /* no trace was given */
        return;
    if (!tm_int(tm_path(found, "coverage.events_read"))) {
        advise(found, list, &no_events);
        return;
    }
    if (tm_is(tm_get(found, "partial")))
        advise(found, list, &partial);
    advise_device(found, list);
    advise_host(found, list);
    advise_steps(found, list);
    if (tm_ask_copy_note(found))
        advise(found, list, &json_copy);
    if (tm_length(tm_get(found, "warnings")))
        advise(found, list, &warned);
}
