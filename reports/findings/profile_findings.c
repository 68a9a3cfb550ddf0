/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with the profile itself: nothing on the device, no steps, no host events, collapsed
 * graphs, dropped or capped events, damaged input.  Each tells how to take a better one. */
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "reports/findings/idle.h"

static const char *const mark_steps[TM_FIXES_OFFERED] = {
    "jax|Mark the steps: `for i, batch in enumerate(data): with "
    "jax.profiler.StepTraceAnnotation('step', step_num=i): out = step(state, batch)`.",
    "torch|Mark the steps: `with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, "
    "warmup=2, active=10), on_trace_ready=...) as prof:`, and `prof.step()` at the end of each "
    "pass of the loop.",
    "other|Where the program is one of JAX or PyTorch, mark its steps with that one's profiler; "
    "marks of other programs are not known.",
};

static int64_t sum_classes(const struct tm_findings *all, const char *const *classes, size_t count)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum = tm_sum_times(sum, tm_ask_class_count(all->summary, classes[i]));
    return sum;
}

/* Only what the host tracer alone records counts: driver calls come from the device tracer, and on
 * a TPU module events come from the device. */
bool tm_host_was_not_recorded(const struct tm_findings *all)
{
    static const char *const on_gpu[] = { "python",  "annotation", "step_marker", "module",
                                          "compile", "input",      "framework_op" };
    static const char *const on_tpu[] = { "python",  "annotation", "step_marker",
                                          "runtime", "launch",     "sync",
                                          "compile", "input",      "framework_op" };

    if (!tm_has(tm_path(all->summary, "coverage.classes")))
        return false;
    if (all->audience & TM_FOR_OTHER) /* of other writers: calls of the driver are of the host */
        return sum_classes(all, on_tpu, sizeof(on_tpu) / sizeof(on_tpu[0])) == 0;
    if (tm_ask_is_platform(all->summary, "gpu"))
        return sum_classes(all, on_gpu, sizeof(on_gpu) / sizeof(on_gpu[0])) == 0;
    if (tm_ask_is_platform(all->summary, "tpu"))
        return sum_classes(all, on_tpu, sizeof(on_tpu) / sizeof(on_tpu[0])) == 0;
    return false;
}

static bool has_device_activity(const struct tm_findings *all)
{
    return tm_length(tm_get(all->summary, "devices")) > 0;
}

/* What was recorded of devices that have no figures here. */
static void find_unknown_device(struct tm_findings *all)
{
    char names[TM_SHORT_NAME_BYTES], count[TM_FORMAT_BYTES];
    struct tm_finding *f;
    int64_t events;

    if (!tm_ask_unknown_devices(all->summary, names, sizeof(names), &events))
        return;
    f = tm_finding_of_profile(all, "unknown_device", has_device_activity(all) ? TM_INFO : TM_WARNING);
    tm_finding_title(f, "Device events of %s are not analyzed", names);
    tm_finding_value(f, (double)events, "count");
    tm_finding_cause(f, "Device figures are made for GPUs and TPUs. Of other accelerators the events are counted and "
                        "left out; the figures of the host hold.");
    tm_finding_say(f, events == 1 ? "%s event of %s was left out." : "%s events of %s were left out.",
                   tm_format_count(count, events), names);
    tm_finding_fix(f, "Read the device's own time in a viewer or with the tools of its vendor.");
}

static const char *const keep_kernels[TM_FIXES_OFFERED] = {
    "jax|Wait for the device before the profile ends: `with jax.profiler.trace(logdir): out = step(state, batch); "
    "jax.block_until_ready(out)`.",
    "torch|Wait for the device before the profile ends: `torch.cuda.synchronize()`; and profile fewer steps.",
    "jax,torch|On NVIDIA GPUs the profiler needs CUPTI of the CUDA version in use and the right to use it (in "
    "containers CAP_SYS_ADMIN, or NVreg_RestrictProfilingToAdminUsers=0), and no other profiler may hold it (Nsight, DCGM: "
    "`dcgmi dmon` with profiling fields). The program's log says when it fails.",
    "jax|Give the profiler more room: `options.advanced_configuration = {'gpu_max_activity_api_events': 8388608, "
    "'gpu_max_callback_api_events': 8388608}`.",
    "other|Take the trace again with the events of the device, and until its work has ended.",
};

/* Calls of the host that launch kernels were recorded, and their kernels were not. */
static void find_lost_kernels(struct tm_findings *all)
{
    const size_t unused = tm_length(tm_get(all->summary, "unused"));
    char launches[TM_FORMAT_BYTES], recorded[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES], name[TM_SHORT_NAME_BYTES];
    struct tm_ask_kernels kernels;
    struct tm_finding *f;
    double lost_pct;

    if (!tm_ask_lost_kernels(all->summary, &kernels))
        return;
    lost_pct = 100 * (double)(kernels.launches - kernels.recorded) / (double)kernels.launches;
    f = tm_finding_of_profile(all, "kernels_lost", kernels.recorded ? TM_WARNING : TM_CRITICAL);
    tm_finding_title(f, kernels.recorded ? "Some kernels were lost" : "The kernels were lost");
    tm_finding_value(f, lost_pct, "%");
    tm_finding_cause(f, "The program launched kernels, and the profiler did not record them: its buffers were full, "
                        "the profile ended before the device had worked, or the profiler had no right to trace the device. "
                        "What is missing looks like idle time.");
    tm_finding_say(f, "%s calls that launch kernels were recorded, and %s kernel%s.",
                   tm_format_count(launches, kernels.launches), tm_format_count(recorded, kernels.recorded),
                   tm_format_plural((size_t)kernels.recorded));
    if (kernels.recorded)
        tm_finding_say(f, "Each of them starts one kernel or more: %s or more of the kernels are missing.",
                       tm_format_pct(pct, lost_pct));
    if (unused)
        tm_finding_say(f, "%zu device%s without any activity, the first is '%s'.", unused, tm_format_plural(unused),
                       tm_short_name(name, tm_text(tm_get(tm_at(tm_get(all->summary, "unused"), 0), "name"))));
    tm_finding_fixes(f, keep_kernels);
}

static const char *const record_device[TM_FIXES_OFFERED] = {
    "jax|Wait for the device before the profile ends: `with jax.profiler.trace(logdir): out = "
    "step(state, batch); jax.block_until_ready(out)`.",
    "jax|See that JAX uses the device: `print(jax.devices())`.",
    "torch|Record the device: `torch.profiler.profile(activities=[ProfilerActivity.CPU, "
    "ProfilerActivity.CUDA])`, and call `torch.cuda.synchronize()` before the profile ends.",
    "torch|See that the program uses the device: `torch.cuda.is_available()`, "
    "`next(model.parameters()).device`.",
    "jax,torch|On NVIDIA GPUs the profiler needs CUPTI of the CUDA version in use and the right to "
    "use it (in containers CAP_SYS_ADMIN, or NVreg_RestrictProfilingToAdminUsers=0); the program's "
    "log says when it fails.",
    "other|Give a profile of JAX (the .xplane.pb file of the run) or of PyTorch "
    "(`prof.export_chrome_trace`): of other traces only what the host did can be told.",
};

static void find_nothing_on_device(struct tm_findings *all)
{
    const size_t unused = tm_length(tm_get(all->summary, "unused"));
    const bool on_cpu = !unused && all->audience & TM_FOR_TORCH && tm_ask_class_count(all->summary, "framework_op") > 0;
    char name[TM_SHORT_NAME_BYTES], events[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (has_device_activity(all) || tm_is_found(all, "kernels_lost") || tm_is_found(all, "unknown_device"))
        return;
    f = tm_finding_of_profile(all, "no_device_activity", unused ? TM_CRITICAL : TM_WARNING);
    tm_finding_title(f, on_cpu ? "The program ran on the CPU" : "No device activity was recorded");
    if (on_cpu)
        tm_finding_cause(f, "Nothing was launched on a device. The operators ran on the CPU, or the profile was taken "
                            "without the device's activities.");
    tm_finding_cause(f, "jax|JAX returns before the device has worked: a profile that is stopped at "
                        "once holds launches only. Or the program ran elsewhere, or the device "
                        "tracer could not start.");
    tm_finding_cause(f, "torch|The program ran on the CPU, or the profile was taken without the "
                        "device's activities, or the device tracer could not start.");
    tm_finding_cause(f, "The trace is one of the host alone, or of a program whose device events "
                        "are not known here.");
    tm_finding_say(
        f, "%s events were read; none of them is a kernel, a copy or an operation of a device, and none launches one.",
        tm_format_count(events, tm_int(tm_path(all->summary, "coverage.events_read"))));
    if (unused)
        tm_finding_say(
            f, "%zu device%s without any activity, the first is '%s'.", unused,
            tm_format_plural(unused),
            tm_short_name(name, tm_text(tm_get(tm_at(tm_get(all->summary, "unused"), 0), "name"))));
    tm_finding_fixes(f, record_device);
}

static void find_no_steps(struct tm_findings *all)
{
    const char *source = tm_text(tm_path(all->summary, "steps.source"));
    const bool is_session = tm_ask_is_session(all->summary);
    const int64_t count = tm_int(tm_path(all->summary, "steps.count"));
    char name[TM_SHORT_NAME_BYTES];
    struct tm_finding *f;

    if (!is_session && strcmp(source, "module") != 0)
        return;
    f = tm_finding_of_profile(all, "no_steps", TM_INFO);
    tm_finding_title(f, "No steps are marked");
    tm_finding_cause(f, "Without step markers the profiler cannot tell one step of the loop from the next.");
    if (is_session)
        tm_finding_say(
            f, "The profile has no step markers and no program that runs twice; the whole session "
               "counts as one step, so that there are no step times, no warm-up and no unexpected "
               "compiles.");
    else
        tm_finding_say(f,
                       count == 1 ? "The %lld execution of '%s', the program with the most device time, counts as "
                                    "a step."
                                  : "Each of the %lld executions of '%s', the program with the most device "
                                    "time, counts as a step.",
                       (long long)count,
                       tm_short_name(name, tm_text(tm_path(all->summary, "steps.module"))));
    tm_finding_fixes(f, mark_steps);
}

static void find_one_step(struct tm_findings *all)
{
    struct tm_finding *f;

    if (tm_ask_is_session(all->summary) || tm_int(tm_path(all->summary, "steps.chosen")) != 1)
        return;
    f = tm_finding_of_profile(all, "one_step", TM_INFO);
    tm_finding_title(f, "The figures rest on a single step");
    tm_finding_value(f, 1, "count");
    tm_finding_cause(f, "One step says nothing about the spread, and may be the one in which something "
               "unusual happened.");
    if (tm_int(tm_path(all->summary, "steps.count")) == 1)
        tm_finding_say(f, "The profile has one step.");
    else
        tm_finding_say(f, "1 of %lld steps is analyzed; %lld count as warm-up, %lld are incomplete.",
                       (long long)tm_int(tm_path(all->summary, "steps.count")),
                       (long long)tm_int(tm_path(all->summary, "steps.warmup")),
                       (long long)tm_int(tm_path(all->summary, "steps.incomplete")));
    tm_finding_fix(f, "Profile 10 to 20 steps after two or three that are not profiled.");
    tm_finding_fix(f, "torch|In numbers: `schedule=torch.profiler.schedule(wait=1, warmup=2, "
                      "active=10)`.");
}

/* Chosen steps of the list in which no device did anything.  out: first  one of them */
static size_t count_empty_steps(const struct tm_value *list, size_t *chosen, const struct tm_value **first)
{
    size_t empty = 0;

    *chosen = 0;
    *first = NULL;
    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *step = tm_at(list, i);

        if (!tm_is(tm_get(step, "chosen")))
            continue;
        *chosen += 1;
        if (tm_has(tm_get(step, "device_span_ps")))
            continue;
        empty++;
        *first = *first ? *first : step;
    }
    return empty;
}

/* On a CPU nothing tells which call launched an operation: it counts for the step that is marked when it runs. */
static void find_empty_steps(struct tm_findings *all)
{
    const struct tm_value *first;
    size_t chosen;
    const size_t empty = count_empty_steps(tm_path(all->summary, "steps.list"), &chosen, &first);
    char span[TM_FORMAT_BYTES], begin[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!empty || !tm_ask_is_platform(all->summary, "cpu") ||
        strcmp(tm_text(tm_path(all->summary, "steps.source")), "host") != 0)
        return;
    f = tm_finding_of_profile(all, "steps_without_activity", TM_INFO);
    tm_finding_title(f, "In some analyzed steps nothing runs");
    tm_finding_value(f, (double)empty, "count");
    tm_finding_cause(f, "jax|JAX returns from a call before a CPU has run it, and the profile does not tell which call "
                        "an operation belongs to: it counts for the step that is marked when it runs. Steps that end "
                        "before their work begins are empty, and the others have more than their own.");
    tm_finding_cause(f, "The profile does not tell which call an operation belongs to: it counts for the step that is "
                        "marked when it runs. Steps that end before their work begins are empty.");
    tm_finding_say(f, "%zu of %zu analyzed steps have no operation; they have no parts, and no bar in the chart.", empty,
                   chosen);
    tm_finding_say(f, "The first of them, step %lld, lasts %s at %s.", (long long)tm_int(tm_get(first, "number")),
                   tm_format_time(span, tm_int(tm_get(first, "host_span_ps"))),
                   tm_format_moment(begin, tm_int(tm_get(first, "begin_ps"))));
    tm_finding_fix(f, "jax|Wait at the end of each step while profiling: `jax.block_until_ready(out)` inside `with "
                      "jax.profiler.StepTraceAnnotation(...)`.");
    tm_finding_fix(f, "jax|Or, before anything runs: `jax.config.update('jax_cpu_enable_async_dispatch', False)`.");
    tm_finding_fix(f, "torch,other|Wait for the results of a step before its mark ends.");
    tm_finding_where(f, tm_int(tm_get(first, "begin_ps")), tm_int(tm_get(first, "host_span_ps")),
                     tm_text(tm_get(first, "host")));
}

static void find_no_host(struct tm_findings *all)
{
    const int64_t idle_ps = tm_wait_left(all, TM_WAIT_UNRECORDED);
    const double share = tm_share_pct(idle_ps, all->window_ps);
    char time[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!has_device_activity(all) || !tm_host_was_not_recorded(all))
        return;
    f = tm_finding_of_profile(all, "no_host_events", share >= tm_limit_of(all, TM_LIMIT_WARNING_SHARE)
                                                         ? TM_WARNING : TM_INFO);
    tm_finding_value(f, share, "%");
    tm_finding_title(f, "The host was not recorded");
    tm_finding_cause(f, "The profile was taken with the host tracer off, so that idle time has no cause, "
               "and compiles, steps and input do not show.");
    tm_finding_say(f,
                   "There are device events, but no Python, %sruntime or annotation events of the "
                   "host.",
                   all->audience & TM_FOR_JAX ? "XLA " : "");
    if (idle_ps > 0)
        tm_finding_say(f, "%s of idle device time (%s of the window) has no recorded reason.",
                       tm_format_time(time, idle_ps), tm_format_pct(pct, share));
    tm_finding_fix(
        f, "jax|Switch it on: `options = jax.profiler.ProfileOptions(); options.host_tracer_level = "
           "2; options.python_tracer_level = 1; jax.profiler.start_trace(logdir, "
           "profiler_options=options)`.");
    tm_finding_fix(f, "torch|Switch it on: `torch.profiler.profile(activities="
                      "[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True)`.");
    tm_finding_fix(f, "other|Record the host's threads in the next profile.");
}

static void find_collapsed_graphs(struct tm_findings *all)
{
    const struct tm_value *devices = tm_get(all->summary, "devices");
    int64_t marked = 0, graphs = 0, total_ps = 0;
    char count[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES];
    struct tm_finding *f;

    for (size_t i = 0; i < tm_length(devices); i++) {
        const struct tm_value *d = tm_at(devices, i);

        if (strcmp(tm_text(tm_get(d, "reliability")), "graph") != 0)
            continue;
        marked++;
        graphs = tm_sum_times(graphs, tm_int(tm_path(d, "graphs.count")));
        total_ps = tm_sum_times(total_ps, tm_int(tm_path(d, "graphs.total_ps")));
    }
    if (marked == 0)
        return;
    f = tm_finding_of_profile(all, "graphs_collapsed", TM_INFO);
    tm_finding_title(f, "CUDA graphs hide their kernels");
    tm_finding_value(f, (double)graphs, "count");
    tm_finding_cause(f, "The profiler recorded graphs as one event each. What runs inside, kernels, "
               "copies, collectives and pauses, counts as compute.");
    tm_finding_say(f, "%s graph launches on %lld device%s take %s.", tm_format_count(count, graphs),
                   (long long)marked, tm_format_plural(marked), tm_format_time(time, total_ps));
    tm_finding_fix(
        f,
        "jax|For one profile, run without graphs: `XLA_FLAGS=--xla_gpu_enable_command_buffer=`.");
    tm_finding_fix(f, "torch|For one profile, run without graphs: `torch.compile(model)` without "
                      "`mode=\"reduce-overhead\"`.");
    tm_finding_fix(f, "other|For one profile, run without graphs.");
    tm_finding_fix(f, "jax|Or let the profiler record the nodes: `options.advanced_configuration = "
                      "{'gpu_enable_cupti_activity_graph_trace': False}`.");
}

static void find_warnings(struct tm_findings *all)
{
    const struct tm_value *warnings = tm_path(all->summary, "coverage.warnings");
    const size_t count = tm_length(warnings);
    bool is_dropped = false;
    char text[4 * TM_SHORT_NAME_BYTES];
    struct tm_finding *f;

    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        is_dropped |= tm_ask_says_dropped(tm_text(tm_at(warnings, i)));
    f = tm_finding_of_profile(all, "profiler_warnings", is_dropped ? TM_WARNING : TM_INFO);
    tm_finding_title(f, is_dropped ? "The profiler dropped events" : "The profiler left warnings");
    tm_finding_value(f, (double)count, "count");
    tm_finding_cause(f, is_dropped
                   ? "Its buffers were full. What is missing looks like idle time, and counts are "
                     "too small."
                   : "The profiler noted something while it recorded; figures may be incomplete.");
    for (size_t i = 0; i < count && i < 5; i++) {
        (void)tm_format_visible(text, TM_EVIDENCE_BYTES - 4, tm_text(tm_at(warnings, i)),
                                strlen(tm_text(tm_at(warnings, i))));
        tm_finding_say(f, "'%.*s'", TM_EVIDENCE_BYTES - 4, text);
    }
    tm_finding_fix(f, "Profile fewer steps, and not the first ones.");
    if (is_dropped)
        tm_finding_fix(
            f,
            "jax|Give the profiler more room: `options.advanced_configuration = "
            "{'gpu_max_activity_api_events': 8388608, 'gpu_max_callback_api_events': 8388608}`.");
}

static void find_json_copy(struct tm_findings *all)
{
    const char *note = tm_ask_copy_note(all->summary);
    char text[TM_EVIDENCE_BYTES - 16];
    struct tm_finding *f;

    if (!note)
        return;
    f = tm_finding_of_profile(all, "json_copy", TM_INFO);
    tm_finding_title(f, "The input is a copy that lacks parts of the profile");
    tm_finding_cause(f, "JAX writes the whole profile as XSpace (.xplane.pb), and beside it a copy "
                        "as JSON for viewers.");
    (void)tm_format_visible(text, sizeof(text), note, strlen(note));
    tm_finding_say(f, "On reading: %s.", text);
    tm_finding_fix(f, "Give the .xplane.pb file of the run, or its folder, instead of the JSON.");
}

static const char *const raise_limit[TM_FIXES_OFFERED] = {
    "Profile fewer steps, and not the first ones.",
    "jax|Raise the limit: `options.advanced_configuration = {'gpu_max_activity_api_events': 8388608, "
    "'gpu_max_callback_api_events': 8388608}`.",
};

/* Exactly as many device events as JAX's profiler keeps, per host: the rest is missing. */
static void find_device_cap(struct tm_findings *all)
{
    const struct tm_value *host = tm_ask_capped_host(all->summary);
    const int64_t events = tm_int(tm_get(host, "device_events"));
    char count[TM_FORMAT_BYTES], name[TM_SHORT_NAME_BYTES];
    struct tm_finding *f;

    if (!host)
        return;
    f = tm_finding_of_profile(all, "events_capped", TM_WARNING);
    tm_finding_title(f, "The profile ends where the profiler's limit was reached");
    tm_finding_value(f, (double)events, "count");
    tm_finding_limit(f, (double)events);
    tm_finding_cause(f, "The profiler keeps that many device events by default and drops the rest. What "
               "comes later in time is missing and looks like idle time.");
    tm_finding_say(f, "Host '%s' has exactly %s device events, which is a default limit of the profiler.",
                   tm_short_name(name, tm_text(tm_get(host, "host"))), tm_format_count(count, events));
    tm_finding_fixes(f, raise_limit);
}

/* Exactly as many events as JAX writes into a JSON. */
static void find_json_cap(struct tm_findings *all)
{
    const struct tm_value *files = tm_path(all->summary, "input.files");
    char name[TM_SHORT_NAME_BYTES], problem[TM_EVIDENCE_BYTES / 2];
    struct tm_finding *f;

    if (!tm_has(tm_get(tm_path(all->summary, "coverage.tallies"), "event-cap")))
        return;
    f = tm_finding_of_profile(all, "json_capped", TM_WARNING);
    tm_finding_title(f, "The JSON ends where its writer's limit was reached");
    tm_finding_cause(f, "JAX writes at most 1,000,000 events (with a changed setting 5,000,000) into a JSON; the "
                        "profile itself, the .xplane.pb file of the run, holds all of them.");
    for (size_t i = 0; i < tm_length(files); i++) {
        const char *text = tm_text(tm_at(tm_get(tm_at(files, i), "problems"), 0));

        if (strstr(text, "where JAX stops writing")) {
            (void)tm_format_visible(problem, sizeof(problem), text, strlen(text));
            tm_finding_say(f, "'%s': %s.", tm_short_name(name, tm_text(tm_get(tm_at(files, i), "path"))), problem);
        }
    }
    tm_finding_fix(f, "Give the .xplane.pb file of the run, or its folder, instead of the JSON.");
    tm_finding_fix(f, "Profile fewer steps.");
}

/* No kernel knows which line of the program it is of. */
static void find_no_paths(struct tm_findings *all)
{
    const struct tm_value *rows = tm_path(all->summary, "kernels.rows");
    char count[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!(all->audience & TM_FOR_JAX) || !tm_ask_is_platform(all->summary, "gpu") || tm_ask_copy_note(all->summary))
        return;
    for (size_t i = 0; i < tm_length(rows); i++)
        if (tm_has(tm_get(tm_at(rows, i), "op")))
            return;
    if (tm_length(rows) == 0)
        return;
    f = tm_finding_of_profile(all, "no_framework_paths", TM_INFO);
    tm_finding_title(f, "Kernels cannot be attributed to framework operations");
    if (tm_has(tm_get(tm_path(all->summary, "coverage.tallies"), "damaged-program"))) {
        tm_finding_cause(f, "The profiler kept the programs, but their HLO, which has the framework paths of the kernels, "
                            "is damaged, so that there are no scopes, no layers and no costs.");
        tm_finding_fix(f, "Copy the profile from where it was written once more, or take it again.");
        return;
    }
    tm_finding_cause(
        f, "The profile holds neither framework paths of the kernels nor the HLO that has them, so that there are "
           "no scopes, no layers and no costs.");
    tm_finding_say(f, "None of %s distinct kernels has a path.",
                   tm_format_count(count, tm_int(tm_path(all->summary, "kernels.distinct"))));
    tm_finding_fix(f, "Let the profiler keep the programs: `options.enable_hlo_proto = True`, which is the default of "
                      "jax.profiler.ProfileOptions().");
    tm_finding_fix(f, "Name the parts of the model: `with jax.named_scope('attention'):`.");
}

static void say_problems(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *files = tm_path(all->summary, "input.files");
    char name[TM_SHORT_NAME_BYTES], problem[TM_SHORT_NAME_BYTES];

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *file = tm_at(files, i), *problems = tm_get(file, "problems");

        if (!tm_is(tm_get(file, "partial")) && tm_length(problems) == 0)
            continue;
        tm_finding_say(f, "'%s': %s.", tm_short_name(name, tm_text(tm_get(file, "path"))),
                       tm_length(problems) ? tm_short_name(problem, tm_text(tm_at(problems, 0)))
                                           : "only a part of it could be read");
    }
}

static void find_partial(struct tm_findings *all)
{
    char events[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!tm_is(tm_path(all->summary, "input.partial")))
        return;
    f = tm_finding_of_profile(all, "input_partial", TM_WARNING);
    tm_finding_title(f, "The input is damaged or incomplete");
    tm_finding_cause(f, "The profiler or a copy of the file ended early. All figures are of what could be read.");
    tm_finding_say(f, "%s events were read.",
                   tm_format_count(events, tm_int(tm_path(all->summary, "coverage.events_read"))));
    say_problems(all, f);
    tm_finding_fix(f, "jax|Copy the file again, and compare sizes; a profile is whole once "
                      "`jax.profiler.stop_trace()` has returned.");
    tm_finding_fix(f, "jax|Let the program end the profile also when it fails: `with "
                      "jax.profiler.trace(logdir):`.");
    tm_finding_fix(f, "torch|Copy the file again, and compare sizes; a profile is whole once "
                      "`prof.export_chrome_trace(path)`, or the handler given as `on_trace_ready`, "
                      "has returned.");
    tm_finding_fix(f, "other|Copy the file again, and compare sizes.");
}

/* Losses that were counted: bytes of cut messages are no events. */
static void find_losses(struct tm_findings *all)
{
    const struct tm_value *tallies = tm_path(all->summary, "coverage.tallies");
    const double events_read = tm_double(tm_path(all->summary, "coverage.events_read"));
    char count[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES];
    double lost = 0, share;
    struct tm_finding *f;

    for (size_t i = 0; i < tm_length(tallies); i++) {
        const struct tm_value *tally = tm_value_at(tallies, i);

        if (strcmp(tm_text(tm_get(tally, "level")), "loss") == 0 &&
            strcmp(tm_key_at(tallies, i), "cut-short") != 0)
            lost += tm_double(tm_get(tally, "count"));
    }
    share = events_read > 0 ? 100 * lost / events_read : 0;
    if (lost <= 0 || share < tm_limit_of(all, TM_LIMIT_LOST_EVENTS))
        return;
    f = tm_finding_of_profile(all, "events_lost", TM_WARNING);
    tm_finding_title(f, "Some events are missing in the figures");
    tm_finding_value(f, share > 100 ? 100 : share, "%");
    tm_finding_limit(f, tm_limit_of(all, TM_LIMIT_LOST_EVENTS));
    tm_finding_cause(f, "They were read but could not be used; the reasons are in the evidence.");
    for (size_t i = 0; i < tm_length(tallies); i++) {
        const struct tm_value *tally = tm_value_at(tallies, i);

        if (strcmp(tm_text(tm_get(tally, "level")), "loss") == 0 &&
            strcmp(tm_key_at(tallies, i), "cut-short") != 0)
            tm_finding_say(
                f, "%s (%s of the events): %s",
                tm_format_count(count, tm_int(tm_get(tally, "count"))),
                tm_format_pct(pct, 100 * tm_double(tm_get(tally, "count")) / events_read),
                tm_text(tm_get(tally, "help")));
    }
    tm_finding_fix(f, "jax|Take the profile again with the current jaxlib; if they stay, the file is "
                      "of a kind that is not read in full yet.");
    tm_finding_fix(f, "torch|Take the profile again with the current PyTorch; if they stay, the file "
                      "is of a kind that is not read in full yet.");
    tm_finding_fix(f, "other|Take the trace again; if they stay, the file is of a kind that is not "
                      "read in full.");
}

void tm_find_profile(struct tm_findings *all)
{
    find_unknown_device(all);
    find_lost_kernels(all);
    find_nothing_on_device(all);
    find_no_steps(all);
    find_one_step(all);
    find_empty_steps(all);
    find_no_host(all);
    find_collapsed_graphs(all);
    find_warnings(all);
    find_json_copy(all);
    find_device_cap(all);
    find_json_cap(all);
    find_no_paths(all);
    find_partial(all);
    find_losses(all);
}
