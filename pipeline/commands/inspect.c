/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the contents of a trace: files, hosts, devices, lines, classes, names, damage, and how to improve the
 * profiling.  Reads the inputs as `report` does up to the survey, which counts events by kind, so every record is read
 * once. */
#include "pipeline/commands/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/argument_templates.h"
#include "pipeline/arguments.h"
#include "pipeline/doc/doc.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/run.h"
#include "pipeline/store/hash.h"
#include "reports/findings/findings.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"
#include "stages/figures/figure_stages.h"
#include "stages/output/trace_writer.h"
#include "stages/resolve/classes.h"

/* How to improve the profiling, derived from the contents of a trace and from what it lacks. */

enum { TEXTS_MOST = 3 };

/* The advice: strings may start with the runs that they apply to (reports/findings/findings.h), and the first that
 * applies to this run is used. */
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

#define COUNT(found, ...)                                                                                              \
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
    { "nothing was recorded" },
    { "jax|run the program between jax.profiler.start_trace(logdir) and jax.profiler.stop_trace()",
      "torch|run the program inside 'with torch.profiler.profile() as prof:'", "record the trace again" },
};

static const struct advice partial = {
    "partial",
    { "a file is damaged or truncated: only part of it could be read" },
    { "jax|copy it again; a profile is complete once jax.profiler.stop_trace() has returned",
      "torch|copy it again; a profile is complete once prof.export_chrome_trace(path) has returned", "copy it again" },
};

static const struct advice idle_devices = {
    "no-device-activity",
    { "there are devices, but none of them was active during the recording" },
    { "jax|wait for the device before the profile ends: call jax.block_until_ready(out) inside it; and check that "
      "the device tracer can run (matching CUPTI version, CAP_SYS_ADMIN in containers)",
      "torch|record the device: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]; and check that its tracer "
      "can run (matching CUPTI version, CAP_SYS_ADMIN in containers)",
      "record the trace with device events while the devices work" },
};

static const struct advice no_device = {
    "no-device-activity",
    { "jax|no device was recorded, and no XLA operation on the CPU",
      "torch|the program ran on the CPU: nothing was launched on a device", "no device was recorded" },
    { "jax|call jax.block_until_ready(out) inside the profile, and check with jax.devices() where the program runs",
      "torch|record the device: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] in "
      "torch.profiler.profile(); for a program on the CPU, only host activity is analyzed",
      "use a JAX or PyTorch profile: from other traces, only host activity is analyzed" },
};

static const struct advice collapsed_graphs = {
    "graphs-collapsed",
    { "CUDA graphs were recorded as one event each: their kernels are missing" },
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
    { "jax|the host tracer was disabled: causes of idle time, compiles and steps are not visible",
      "the host was not recorded: causes of idle time and steps are not visible" },
    { "jax|set host_tracer_level = 2 in jax.profiler.ProfileOptions()",
      "torch|add ProfilerActivity.CPU to the activities of torch.profiler.profile()", "record the host threads" },
};

static const struct advice no_python = {
    "no-python",
    { "Python calls were not recorded: host activity has few names" },
    { "jax|set python_tracer_level = 1 in jax.profiler.ProfileOptions(), if its overhead is acceptable",
      "pass with_stack=True to torch.profiler.profile(), if its overhead is acceptable" },
};

static const struct advice no_memory = {
    "no-memory-events",
    { "no allocator events were recorded: there are no memory figures" },
    { "jax|keep host_tracer_level = 2 and JAX's own allocator (no XLA_PYTHON_CLIENT_ALLOCATOR=platform)",
      "pass profile_memory=True to torch.profiler.profile()" },
};

static const struct advice no_steps = {
    "no-steps",
    { "no steps are marked: the whole session counts as one" },
    { "jax|mark them: with jax.profiler.StepTraceAnnotation('train', step_num=i): state = step(state, batch)",
      "torch|mark them: call prof.step() at the end of each iteration, with schedule=torch.profiler.schedule(wait=1, "
      "warmup=2, active=10)",
      "use a JAX or PyTorch profile with marked steps" },
};

static const struct advice steps_of_module = {
    "no-steps",
    { "no steps are marked: executions of the largest program count as steps" },
    { "mark them: with jax.profiler.StepTraceAnnotation('train', step_num=i): state = step(state, batch)" },
};

static const struct advice one_step = {
    "one-step",
    { "only one step is left after warm-up: the variation between steps is unknown" },
    { "torch|record 10 to 20 steps: schedule=torch.profiler.schedule(wait=1, warmup=2, active=10)",
      "profile 10 to 20 steps after two or three warm-up steps" },
};

static const struct advice json_copy = {
    "json-copy",
    { "the file is the JSON copy of a profile, without memory, asynchronous TPU operations and more" },
    { "use the run's .xplane.pb file" },
};

static const struct advice warned = {
    "profiler-warnings",
    { "the profiler reported warnings: events may be missing" },
    { "profile fewer steps, and skip the first ones" },
};

static const struct advice lost_kernels = {
    "kernels-lost",
    { NULL },
    { "jax|call jax.block_until_ready(out) inside the profile; profile fewer steps; and check that the device tracer "
      "can run (matching CUPTI version, CAP_SYS_ADMIN in containers, no other profiler)",
      "torch|call torch.cuda.synchronize() before the profile ends; profile fewer steps; and check that its tracer "
      "can run (matching CUPTI version, CAP_SYS_ADMIN in containers, no other profiler)",
      "record the trace again with device events, and stop it only after the device has finished" },
};

static const struct advice unknown_device = {
    "unknown-device",
    { NULL },
    { "analyze the device's own time in a trace viewer or with your vendor's tools; host activity is analyzed here" },
};

/* out: whether the host launched kernels that were not recorded */
static bool advise_lost(const struct tm_value *found, struct tm_value *list)
{
    char launches[TM_FORMAT_BYTES], recorded[TM_FORMAT_BYTES], what[160];
    struct tm_query_kernels kernels;

    if (!tm_query_lost_kernels(found, &kernels))
        return false;
    (void)snprintf(what, sizeof(what),
                   "kernels are missing: %s calls that launch kernels were recorded, but only %s "
                   "kernel%s",
                   tm_format_count(launches, kernels.launches), tm_format_count(recorded, kernels.recorded),
                   tm_format_plural((size_t)kernels.recorded));
    advise_that(found, list, &lost_kernels, what);
    return true;
}

static bool advise_unknown(const struct tm_value *found, struct tm_value *list)
{
    char names[80], count[TM_FORMAT_BYTES], what[200];
    int64_t events;

    if (!tm_query_unknown_devices(found, names, sizeof(names), &events))
        return false;
    (void)snprintf(what, sizeof(what), "device events of %s are not analyzed: %s were skipped", names,
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
    if (tm_query_capped_host(found))
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

/* Host data that the profiler could have recorded; unknown for other traces. */
static void advise_host(const struct tm_value *found, struct tm_value *list)
{
    const bool is_json_copy = tm_audience_of(found) & TM_FOR_JAX && tm_query_is_json(found);
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
    if (tm_query_copy_note(found, NULL))
        advise(found, list, &json_copy);
    if (tm_length(tm_get(found, "warnings")))
        advise(found, list, &warned);
}

/* What `inspect` has found, for people.  Strings of the trace are made visible; they come last on their line, or are
 * cut, because their width on a terminal is not known. */

enum { VISIBLE_BYTES = 1024, PLANE_CHARS = 28, LINE_CHARS = 60, NAME_CHARS = 72, CUT_BYTES = 4 * NAME_CHARS + 8 };

/* A string of the trace, cut in the middle and filled up to `width` characters (0 = not filled). */
static void print_text(FILE *to, const char *text, size_t most, size_t width)
{
    char visible[VISIBLE_BYTES], cut[CUT_BYTES];
    size_t length;

    if (!text[0])
        text = "(no name)";
    (void)tm_format_visible(visible, sizeof(visible), text, strlen(text));
    (void)tm_format_middle(cut, sizeof(cut), visible, most);
    (void)fputs(cut, to);
    for (length = tm_format_length(cut); length < width; length++)
        (void)fputc(' ', to);
}

static void print_whole(FILE *to, const char *text)
{
    char visible[4 * VISIBLE_BYTES];

    (void)tm_format_visible(visible, sizeof(visible), text, strlen(text));
    (void)fputs(visible, to);
}

/* The micro sign takes two bytes: pad by characters. */
static void print_right(FILE *to, const char *text, size_t width)
{
    for (size_t length = tm_format_length(text); length < width; length++)
        (void)fputc(' ', to);
    (void)fputs(text, to);
}

static void print_list(FILE *to, const char *what, const struct tm_value *texts)
{
    for (size_t i = 0; i < tm_length(texts); i++) {
        (void)fprintf(to, "  %s: ", what);
        print_whole(to, tm_text(tm_at(texts, i)));
        (void)fputc('\n', to);
    }
}

/* The format of a file, and for Chrome JSON its writer. */
static const char *format_of(const struct tm_value *found, const struct tm_value *file)
{
    const struct tm_value *hosts = tm_path(found, "environment.hosts");

    if (!strcmp(tm_text(tm_get(file, "kind")), "pprof"))
        return "pprof";
    if (!strcmp(tm_text(tm_get(file, "kind")), "perfetto"))
        return "Perfetto trace";
    if (strcmp(tm_text(tm_get(file, "kind")), "chrome_json") != 0)
        return "XSpace";
    for (size_t i = 0; i < tm_length(hosts); i++) {
        const struct tm_value *host = tm_at(hosts, i);
        const char *framework = tm_text(tm_get(host, "framework"));

        if (strcmp(tm_text(tm_get(host, "host")), tm_text(tm_get(file, "host"))) != 0)
            continue;
        if (!strcmp(framework, "pytorch"))
            return "Chrome JSON (PyTorch)";
        if (!strcmp(framework, "tensorflow"))
            return "Chrome JSON (TensorFlow)";
        return !strcmp(framework, "jax") ? "Chrome JSON (JAX)" : "Chrome JSON";
    }
    return "Chrome JSON";
}

/* The content of one device memory profile. */
static void print_profile(FILE *to, const struct tm_value *profile)
{
    const struct tm_value *site = tm_at(tm_get(profile, "sites"), 0);
    char bytes[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES], share[TM_FORMAT_BYTES];

    (void)fprintf(to, "  device memory profile: %s in %s allocations\n",
                  tm_format_bytes(bytes, tm_double(tm_get(profile, "total_bytes"))),
                  tm_format_count(count, tm_int(tm_get(profile, "total_count"))));
    if (!tm_has(tm_get(site, "share_pct")))
        return;
    (void)fprintf(to, "  most is held by (%s, %s): ", tm_format_bytes(bytes, tm_double(tm_get(site, "bytes"))),
                  tm_format_pct(share, tm_double(tm_get(site, "share_pct"))));
    print_text(to, tm_text(tm_get(site, "function")), NAME_CHARS, 0);
    (void)fputs(" at ", to);
    print_whole(to, tm_text(tm_get(site, "source")));
    (void)fputc('\n', to);
}

/* The profile that a file is. */
static const struct tm_value *profile_of(const struct tm_value *found, const struct tm_value *file)
{
    const struct tm_value *profiles = tm_get(found, "device_profiles");

    for (size_t i = 0; i < tm_length(profiles); i++)
        if (!strcmp(tm_text(tm_get(tm_at(profiles, i), "file")), tm_text(tm_get(file, "path"))))
            return tm_at(profiles, i);
    return NULL;
}

static void print_file(FILE *to, const struct tm_value *found, const struct tm_value *file)
{
    const char *const wrapping = tm_text(tm_get(file, "wrapping"));
    char bytes[TM_FORMAT_BYTES], inflated[TM_FORMAT_BYTES], events[TM_FORMAT_BYTES];

    print_whole(to, tm_text(tm_get(file, "path")));
    (void)fprintf(to, "\n  %s, %s", format_of(found, file), tm_format_bytes(bytes, tm_double(tm_get(file, "bytes"))));
    if (strcmp(wrapping, "none") != 0)
        (void)fprintf(to, " (%s of %s)", wrapping,
                      tm_format_bytes(inflated, tm_double(tm_get(file, "inflated_bytes"))));
    if (tm_has(tm_get(file, "host"))) {
        (void)fprintf(to, ", %s events, host ", tm_format_count(events, tm_int(tm_get(file, "events"))));
        print_whole(to, tm_text(tm_get(file, "host")));
    }
    (void)fputs(tm_is(tm_get(file, "partial")) ? ", PARTIAL\n" : "\n", to);
    if (profile_of(found, file))
        print_profile(to, profile_of(found, file));
    print_list(to, "problem", tm_get(file, "problems"));
    print_list(to, "note", tm_get(file, "notes"));
}

/* What the host recorded about the software and the session. */
static void print_environment(FILE *to, const struct tm_value *e)
{
    static const struct {
        const char *key, *title;
    } facts[] = {
        { "framework", "framework" }, { "jax", "JAX" },
        { "jaxlib", "jaxlib" },       { "platform_version", "platform" },
        { "cuda", "CUDA" },           { "cuda_runtime", "CUDA runtime" },
        { "driver", "driver" },       { "rocm", "ROCm" },
        { "libtpu", "libtpu" },
    };
    const int64_t begin_ns = tm_int(tm_get(e, "begin_ns")), end_ns = tm_int(tm_get(e, "end_ns"));
    const char *comma = "  software: ";
    char text[TM_FORMAT_BYTES];

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (!tm_has(tm_get(e, facts[i].key)))
            continue;
        (void)fprintf(to, "%s%s ", comma, facts[i].title);
        print_text(to, tm_text(tm_get(e, facts[i].key)), NAME_CHARS, 0);
        comma = ", ";
    }
    if (comma[0] == ',')
        (void)fputc('\n', to);
    if (!tm_has(tm_get(e, "begin_ns")))
        return;
    (void)fprintf(to, "  recorded: %s", tm_format_date(text, begin_ns));
    if (end_ns > begin_ns && (end_ns - begin_ns) < INT64_MAX / 1000)
        (void)fprintf(to, ", for %s", tm_format_time(text, (end_ns - begin_ns) * 1000));
    (void)fputc('\n', to);
}

static void print_steps(FILE *to, const struct tm_value *steps)
{
    static const char *const words[][2] = {
        { "host", ", marked on the host" },
        { "group", ", from event groups that a viewer added to the file" },
        { "tpu", ", from the TPU's own step line" },
        { "module", ", not marked: executions of the largest program" },
        { "session", ", not marked: the whole session counts as one" },
    };

    (void)fprintf(to, "  steps: %lld%s", (long long)tm_int(tm_get(steps, "count")),
                  tm_format_word(TM_PAIRS(words), tm_text(tm_get(steps, "source")), ""));
    if (tm_int(tm_get(steps, "warmup")))
        (void)fprintf(to, "; %lld of them warm-up", (long long)tm_int(tm_get(steps, "warmup")));
    if (tm_int(tm_get(steps, "incomplete")))
        (void)fprintf(to, "; %lld incomplete", (long long)tm_int(tm_get(steps, "incomplete")));
    (void)fputc('\n', to);
}

static void print_devices(FILE *to, const struct tm_value *devices)
{
    char text[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(devices); i++) {
        const struct tm_value *device = tm_at(devices, i);

        (void)fputs("  device: ", to);
        print_text(to, tm_text(tm_get(device, "name")), PLANE_CHARS, 0);
        if (tm_has(tm_get(device, "model"))) {
            (void)fputs(", ", to);
            print_text(to, tm_text(tm_get(device, "model")), PLANE_CHARS, 0);
        }
        if (!tm_int(tm_get(device, "activities"))) {
            (void)fputs(", no activity\n", to);
            continue;
        }
        (void)fprintf(to, ", %s activities", tm_format_count(text, tm_int(tm_get(device, "activities"))));
        (void)fprintf(to, " from %s", tm_format_moment(text, tm_int(tm_get(device, "first_ps"))));
        (void)fprintf(to, " to %s", tm_format_moment(text, tm_int(tm_get(device, "last_ps"))));
        (void)fputs(tm_is(tm_get(device, "has_collapsed_graphs")) ? "; graphs without their kernels\n" : "\n", to);
    }
}

static void print_lines(FILE *to, const struct tm_value *host)
{
    const struct tm_value *lines = tm_get(host, "lines");
    const int64_t more = tm_int(tm_path(host, "more_lines.count")), empty = tm_int(tm_get(host, "empty_lines"));
    char text[TM_FORMAT_BYTES];

    if (tm_length(lines))
        (void)fprintf(to, "\n  %-28s  %12s  %16s  %16s  %-15s  %s\n", "PLANE", "EVENTS", "FIRST", "LAST", "KIND",
                      "LINE");
    for (size_t i = 0; i < tm_length(lines); i++) {
        const struct tm_value *line = tm_at(lines, i);
        const bool has_time = tm_has(tm_get(line, "first_ps"));

        (void)fputs("  ", to);
        print_text(to, tm_text(tm_get(line, "plane")), PLANE_CHARS, PLANE_CHARS);
        (void)fprintf(to, "  %12s", tm_format_count(text, tm_int(tm_get(line, "events"))));
        (void)fprintf(to, "  %16s", has_time ? tm_format_moment(text, tm_int(tm_get(line, "first_ps"))) : "-");
        (void)fprintf(to, "  %16s", has_time ? tm_format_moment(text, tm_int(tm_get(line, "last_ps"))) : "-");
        (void)fprintf(to, "  %-15s  ", tm_text(tm_get(line, "kind")));
        print_text(to, tm_text(tm_get(line, "line")), LINE_CHARS, 0);
        (void)fputc('\n', to);
    }
    if (more)
        (void)fprintf(to, "  and %lld more lines with %s events\n", (long long)more,
                      tm_format_count(text, tm_int(tm_path(host, "more_lines.events"))));
    if (empty)
        (void)fprintf(to, "  and %lld line%s without events\n", (long long)empty, tm_format_plural(empty));
}

static void print_names(FILE *to, const struct tm_value *host)
{
    const struct tm_value *names = tm_get(host, "names");
    char text[TM_FORMAT_BYTES];

    if (!tm_length(names))
        return;
    (void)fprintf(to, "\n  %12s  %10s  %-13s  MOST FREQUENT NAMES", "EVENTS", "TOTAL", "CLASS");
    (void)fprintf(to, " (of %s)\n", tm_format_count(text, tm_int(tm_get(host, "name_count"))));
    for (size_t i = 0; i < tm_length(names); i++) {
        const struct tm_value *name = tm_at(names, i);

        (void)fprintf(to, "  %12s  ", tm_format_count(text, tm_int(tm_get(name, "count"))));
        print_right(to, tm_format_time(text, tm_int(tm_get(name, "total_ps"))), 10);
        (void)fprintf(to, "  %-13s  ", tm_text(tm_get(name, "class")));
        print_text(to, tm_text(tm_get(name, "name")), NAME_CHARS, 0);
        (void)fputc('\n', to);
    }
}

static void print_host(FILE *to, const struct tm_value *found, size_t index)
{
    const struct tm_value *host = tm_at(tm_get(found, "contents"), index);

    (void)fputs("\nhost ", to);
    print_whole(to, tm_text(tm_get(host, "host")));
    (void)fputc('\n', to);
    print_environment(to, tm_at(tm_path(found, "environment.hosts"), index));
    print_steps(to, tm_get(host, "steps"));
    print_devices(to, tm_get(host, "devices"));
    print_lines(to, host);
    print_names(to, host);
}

static void print_coverage(FILE *to, const struct tm_value *coverage)
{
    const struct tm_value *classes = tm_get(coverage, "classes"), *tallies = tm_get(coverage, "tallies");
    char read[TM_FORMAT_BYTES], used[TM_FORMAT_BYTES];
    const char *comma = "  ";

    (void)fprintf(to, "\n%s events read, %s of them used\n",
                  tm_format_count(read, tm_int(tm_get(coverage, "events_read"))),
                  tm_format_count(used, tm_int(tm_get(coverage, "events_used"))));
    for (size_t i = 0; i < tm_length(classes); i++) {
        (void)fprintf(to, "%s%s %s", comma, tm_key_at(classes, i),
                      tm_format_count(read, tm_int(tm_value_at(classes, i))));
        comma = i % 6 == 5 ? ",\n  " : ", ";
    }
    if (tm_length(classes))
        (void)fputc('\n', to);
    for (size_t i = 0; i < tm_length(tallies); i++) {
        const struct tm_value *tally = tm_value_at(tallies, i);

        (void)fprintf(to, "  %s: %s (%s): %s\n", tm_text(tm_get(tally, "level")), tm_key_at(tallies, i),
                      tm_format_count(read, tm_int(tm_get(tally, "count"))), tm_text(tm_get(tally, "help")));
    }
}

/* How many passed; a failed one is a warning, too (tm_print_failed_checks). */
static void print_checks(FILE *to, const struct tm_value *checks)
{
    size_t held = 0, failed = 0;

    for (size_t i = 0; i < tm_length(checks); i++) {
        const struct tm_value *holds = tm_get(tm_at(checks, i), "holds");

        held += tm_has(holds) && tm_is(holds);
        failed += tm_has(holds) && !tm_is(holds);
    }
    if (held + failed)
        (void)fprintf(to, "  checks: %zu of %zu passed\n", held, held + failed);
}

static void print_arguments(FILE *to, const struct tm_value *arguments)
{
    const struct tm_value *const list = tm_get(arguments, "list");
    char count[TM_FORMAT_BYTES], bytes[TM_FORMAT_BYTES], share[TM_FORMAT_BYTES];

    if (!tm_has(arguments))
        return;
    (void)fprintf(to, "\n%s values of arguments, %s as text\n",
                  tm_format_count(count, tm_int(tm_get(arguments, "count"))),
                  tm_format_bytes(bytes, (double)tm_int(tm_get(arguments, "bytes"))));
    (void)fprintf(to, "  %14s  %10s  %7s  %-9s  ARGUMENT\n", "VALUES", "BYTES", "SHARE", "ESSENTIAL");
    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *const row = tm_at(list, i);

        (void)fprintf(to, "  %14s  ", tm_format_count(count, tm_int(tm_get(row, "count"))));
        print_right(to, tm_format_bytes(bytes, (double)tm_int(tm_get(row, "bytes"))), 10);
        (void)fprintf(to, "  %7s  %-9s  ", tm_format_pct(share, tm_double(tm_get(row, "share_pct"))),
                      tm_is(tm_get(row, "essential")) ? "yes" : "no");
        print_text(to, tm_text(tm_get(row, "name")), NAME_CHARS, 0);
        (void)fputc('\n', to);
    }
    if (tm_int(tm_path(arguments, "rest.names")))
        (void)fprintf(to, "  and %lld more arguments with %s\n", (long long)tm_int(tm_path(arguments, "rest.names")),
                      tm_format_bytes(bytes, (double)tm_int(tm_path(arguments, "rest.bytes"))));
}

void tm_inspect_print(const struct tm_value *found, FILE *to)
{
    const struct tm_value *files = tm_get(found, "files"), *warnings = tm_get(found, "warnings");
    const struct tm_value *advice = tm_get(found, "advice");
    const size_t more = (size_t)tm_int(tm_get(found, "file_count")) - tm_length(files);

    for (size_t i = 0; i < tm_length(files); i++)
        print_file(to, found, tm_at(files, i));
    if (more)
        (void)fprintf(to, "and %zu more file%s\n", more, tm_format_plural(more));
    for (size_t i = 0; i < tm_length(tm_get(found, "contents")); i++)
        print_host(to, found, i);
    print_arguments(to, tm_get(found, "arguments"));
    print_coverage(to, tm_get(found, "coverage"));
    for (size_t i = 0; i < tm_length(warnings); i++) {
        (void)fputs("  profiler message: ", to);
        print_whole(to, tm_text(tm_at(warnings, i)));
        (void)fputc('\n', to);
    }
    print_checks(to, tm_get(found, "checks"));
    if (!tm_length(tm_get(found, "contents")))
        return;
    (void)fputs(tm_length(advice) ? "\nhow to record a better profile\n"
                                  : "\nthe profile contains everything the figures need\n",
                to);
    for (size_t i = 0; i < tm_length(advice); i++)
        (void)fprintf(to, "  - %s\n    %s\n", tm_text(tm_get(tm_at(advice, i), "what")),
                      tm_text(tm_get(tm_at(advice, i), "fix")));
}

enum { WARNINGS_MOST = 100, FILES_LISTED = 1000 };

/* Bytes that the arguments of events take, by name: --arguments.  The table is fixed; names that do not fit share one
 * row. */
enum { ARGUMENT_SLOTS = 4096, ARGUMENTS_MOST = ARGUMENT_SLOTS / 4 * 3, ARGUMENTS_SHOWN = 40 };

struct argument_sum {
    uint64_t hash, count, bytes; /* count 0 = free */
    tm_strid key;
};

struct argument_sums {
    struct argument_sum slots[ARGUMENT_SLOTS], rest;
    size_t used;
    const struct tm_trace *trace; /* of the current host */
    uint8_t whole[TM_TEMPLATE_WHOLE_MOST], common[TM_ARGUMENTS_MOST];
};

static const struct tm_stage_type *const stage_types[] = { &tm_overview_stage, &tm_contents_stage };

enum { STAGES = sizeof(stage_types) / sizeof(stage_types[0]) };

struct inspection {
    struct tm_run *run;
    const struct tm_options *options;
    struct tm_inputs inputs;
    struct tm_names *names;
    struct tm_file_facts *file; /* that is being read */
    struct tm_device_profiles *profiles;
    struct tm_settings settings;
    struct tm_stage stages[STAGES];
    struct tm_value *root, *files, *warnings;
    struct argument_sums *arguments; /* NULL = not wanted */
    bool is_partial;
};

/* --- stages --- */

static void open_stages(struct inspection *n)
{
    for (size_t i = 0; i < STAGES && !tm_failed(n->run); i++) {
        struct tm_stage *stage = &n->stages[i];

        *stage = (struct tm_stage){ .type = stage_types[i], .run = n->run, .settings = &n->settings };
        stage->state = tm_take(&n->run->budget, TM_ACCOUNT_MODEL, stage->type->state_bytes, &n->run->error);
        if (stage->state)
            (void)stage->type->open(stage);
    }
}

static void close_stages(struct inspection *n)
{
    for (size_t i = 0; i < STAGES; i++) {
        struct tm_stage *stage = &n->stages[i];

        if (!stage->state)
            continue;
        stage->type->close(stage);
        tm_give(&n->run->budget, TM_ACCOUNT_MODEL, stage->state, stage->type->state_bytes);
    }
}

static void take_site(void *to, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct inspection *n = to;

    for (size_t i = 0; i < STAGES && !tm_failed(n->run); i++)
        n->stages[i].type->take_site(&n->stages[i], event, sums);
}

/* --- arguments --- */

static bool is_argument_of(const void *slot, const void *hash)
{
    const struct argument_sum *const sum = slot;

    return !sum->count || sum->hash == *(const uint64_t *)hash;
}

static uint64_t bytes_of_number(const struct tm_argument *argument)
{
    char text[32];

    if (argument->type == TM_ARGUMENT_INT)
        return (uint64_t)snprintf(text, sizeof(text), "%lld", (long long)argument->number);
    if (argument->type == TM_ARGUMENT_UINT)
        return (uint64_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)argument->value);
    return (uint64_t)snprintf(text, sizeof(text), "%.17g", argument->real);
}

/* As JSON, without blanks; of what is nested the values alone. */
static uint64_t bytes_of(struct inspection *n, const struct tm_argument *argument)
{
    struct tm_arguments inside = argument->inside;
    struct tm_argument part;
    uint64_t bytes = 2;

    switch ((enum tm_argument_type)argument->type) {
    case TM_ARGUMENT_INT:
    case TM_ARGUMENT_UINT:
    case TM_ARGUMENT_DOUBLE:
        return bytes_of_number(argument);
    case TM_ARGUMENT_NUMBER:
        return argument->length;
    case TM_ARGUMENT_TEXT:
        return argument->length + 2;
    case TM_ARGUMENT_NAME:
        return tm_names_info(n->names, (tm_strid)argument->value).length + 2;
    case TM_ARGUMENT_OBJECT:
    case TM_ARGUMENT_ARRAY:
        while (tm_arguments_next(&inside, argument->type == TM_ARGUMENT_OBJECT, &part))
            bytes += bytes_of(n, &part) + 1;
        return bytes;
    default:
        return 4;
    }
}

static void add_arguments(struct inspection *n, struct tm_arguments list)
{
    struct argument_sums *const a = n->arguments;
    struct tm_argument argument;

    while (tm_arguments_next(&list, true, &argument)) {
        if (!tm_argument_is_value(&argument))
            continue;
        const struct tm_name key = tm_names_info(n->names, argument.key);
        const uint64_t hash = key.hash.low;
        struct argument_sum *sum =
            tm_probe(a->slots, ARGUMENT_SLOTS, sizeof(*sum), hash & (ARGUMENT_SLOTS - 1), &hash, is_argument_of);

        if (!sum->count && a->used == ARGUMENTS_MOST) {
            sum = &a->rest;
        } else if (!sum->count) {
            a->used++;
            sum->hash = hash;
            sum->key = argument.key;
        }
        sum->count++;
        sum->bytes += bytes_of(n, &argument) + key.length + 4; /* "key":value, */
    }
}

static tm_status take_arguments(void *to, const struct tm_event *event)
{
    struct inspection *const n = to;
    struct argument_sums *const a = n->arguments;
    const struct tm_record *const record = &event->record;
    struct tm_arguments common;

    if (record->flags & TM_FLAG_TEMPLATE) {
        add_arguments(
            n, tm_arguments_whole(a->trace->templates, record->common, event->own, record->correlation, a->whole));
        return n->run->error.status;
    }
    add_arguments(n, event->own);
    if (record->common && tm_trace_common(a->trace, record->common, a->common, &common) == TM_OK)
        add_arguments(n, common);
    return n->run->error.status;
}

static int by_bytes(const void *a, const void *b)
{
    const struct argument_sum *const x = a, *const y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static void report_arguments(struct inspection *n)
{
    struct argument_sums *const a = n->arguments;
    struct tm_value *const to = tm_add_object(n->root, "arguments"), *list, *rest;
    uint64_t count = a->rest.count, bytes = a->rest.bytes, rest_bytes = a->rest.bytes;

    qsort(a->slots, ARGUMENT_SLOTS, sizeof(a->slots[0]), by_bytes);
    for (size_t i = 0; i < a->used; i++) {
        count += a->slots[i].count;
        bytes += a->slots[i].bytes;
        rest_bytes += i < ARGUMENTS_SHOWN ? 0 : a->slots[i].bytes;
    }
    tm_add_uint(to, "count", count);
    tm_add_uint(to, "bytes", bytes);
    list = tm_add_array(to, "list");
    for (size_t i = 0; i < a->used && i < ARGUMENTS_SHOWN; i++) {
        struct tm_value *const row = tm_add_object(list, NULL);
        size_t length;
        const char *const name = tm_names_text(n->names, a->slots[i].key, 1024, &length);

        tm_add_text(row, "name", name, length);
        tm_add_uint(row, "count", a->slots[i].count);
        tm_add_uint(row, "bytes", a->slots[i].bytes);
        tm_add_double(row, "share_pct", 100.0 * (double)a->slots[i].bytes / (double)bytes);
        tm_add_bool(row, "essential", tm_is_essential_argument(name, length));
    }
    rest = tm_add_object(to, "rest");
    tm_add_uint(rest, "names", a->used > ARGUMENTS_SHOWN ? a->used - ARGUMENTS_SHOWN : 0);
    tm_add_uint(rest, "bytes", rest_bytes);
}

/* The events of a host again, with their arguments: what was read before is counted already. */
static void read_arguments(struct inspection *n, const struct tm_found_file *found, uint32_t number)
{
    const struct tm_host_options options = { .keeps_arguments = true, .keeps_records = true };
    struct tm_run *const run = n->run;
    const struct tm_counts counts = tm_counts_now(run);
    struct tm_host_run host;

    tm_names_begin_host(n->names);
    tm_host_open(&host, run, n->names, found, number, &options);
    n->arguments->trace = &host.trace;
    if (!tm_failed(run))
        (void)tm_host_events(&host, take_arguments, n);
    tm_host_close(&host);
    tm_counts_restore(run, &counts);
}

/* --- files --- */

static void keep_warning(void *to, const char *text, size_t length)
{
    struct inspection *n = to;

    if (tm_length(n->warnings) < WARNINGS_MOST)
        tm_add_text(n->warnings, NULL, text, length < 512 ? length : 512);
}

static void add_file(struct inspection *n)
{
    n->is_partial |= n->file->is_partial;
    if (n->file->is_partial || tm_length(n->files) < FILES_LISTED)
        tm_file_facts_add(n->file, TM_FACTS_INSPECT, n->files);
}

static void read_memory_profile(struct inspection *n, const struct tm_found_file *found)
{
    if (!tm_memory_file_read(n->run, n->names, found, n->profiles, n->file))
        add_file(n);
}

static void read_host(struct inspection *n, const struct tm_found_file *found, uint32_t number)
{
    const struct tm_host_options options = { .counts = true, .has_inert_flows = true, .warn = keep_warning, .to = n };
    struct tm_host_run host;

    tm_host_open(&host, n->run, n->names, found, number, &options);
    for (size_t i = 0; i < STAGES && !tm_failed(n->run); i++)
        (void)n->stages[i].type->begin_host(&n->stages[i], &host.trace);
    if (!tm_failed(n->run))
        tm_host_counts(&host, take_site, n);
    for (size_t i = 0; i < STAGES && !tm_failed(n->run); i++)
        (void)n->stages[i].type->end_host(&n->stages[i]);
    if (!tm_failed(n->run)) {
        tm_file_facts_take(n->file, host.input, found, &host.trace, host.events);
        add_file(n);
    }
    tm_host_close(&host);
    if (n->arguments && !tm_failed(n->run))
        read_arguments(n, found, number);
}

/* --- the verb --- */

static void gather(struct inspection *n)
{
    struct tm_run *const run = n->run;

    if (tm_inputs_find(&n->inputs, run, n->options))
        return;
    n->names = tm_names_new(run, tm_budget_share(&run->budget, TM_ACCOUNT_NAMES), tm_traits_of);
    n->profiles = n->names ? tm_device_profiles_new(run, n->names) : NULL;
    n->file = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*n->file), &run->error);
    if (tm_failed(run))
        return;
    tm_add_string(n->root, "schema", "tracemill.inspect");
    tm_add_int(n->root, "schema_version", 1);
    tm_add_string(n->root, "version", TM_VERSION);
    tm_add_text(n->root, "run", n->inputs.run_name, strlen(n->inputs.run_name));
    tm_add_uint(n->root, "file_count", n->inputs.file_count);
    n->files = tm_add_array(n->root, "files");
    n->warnings = tm_add_array(n->root, "warnings");
    open_stages(n);
    if (n->options->arguments)
        n->arguments = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*n->arguments), &run->error);
    for (size_t i = 0; i < n->inputs.file_count && !tm_failed(run); i++) {
        if (n->inputs.parts[i].kind == TM_PART_MEMORY)
            read_memory_profile(n, n->inputs.files[i]);
        else
            read_host(n, n->inputs.files[i], n->inputs.parts[i].first_host);
    }
    for (size_t i = 0; i < STAGES && !tm_failed(run); i++)
        (void)n->stages[i].type->report(&n->stages[i], n->root);
    if (tm_failed(run))
        return;
    tm_device_profiles_report(n->profiles, n->root);
    if (n->arguments)
        report_arguments(n);
    tm_add_bool(n->root, "partial", n->is_partial);
    tm_check_inspection(n->root);
    tm_inspect_advise(n->root);
}

/* --strict: what was found is printed, and is an error nevertheless. */
static tm_status judge(const struct inspection *n)
{
    const uint64_t losses = tm_tally_losses(&n->run->tallies, n->run->tally_use);

    if (n->run->strict && (losses || n->is_partial))
        return tm_fail(&n->run->error, TM_ERR_INPUT, -1, "the input is incomplete: %llu losses%s",
                       (unsigned long long)losses, n->is_partial ? ", and it is partial" : "");
    tm_print_failed_checks(n->root);
    return n->is_partial || !tm_query_checks_hold(n->root) ? TM_PARTIAL : TM_OK;
}

static tm_status run_inspect(struct tm_run *run, const struct tm_options *options)
{
    struct tm_doc *doc = tm_doc_new(run);
    struct inspection n = { .run = run, .options = options, .root = doc ? tm_doc_root(doc) : NULL };

    if (doc)
        gather(&n);
    close_stages(&n);
    tm_give(&run->budget, TM_ACCOUNT_TABLES, n.arguments, n.arguments ? sizeof(*n.arguments) : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, n.file, n.file ? sizeof(*n.file) : 0);
    tm_device_profiles_free(n.profiles);
    tm_names_free(n.names);
    tm_inputs_free(&n.inputs);
    tm_progress_end(&run->progress);
    if (options->json && doc)
        tm_doc_print(doc, run, STDOUT_FILENO);
    else if (!tm_failed(run))
        tm_inspect_print(n.root, stdout);
    const tm_status st = tm_failed(run) ? run->error.status : judge(&n);

    tm_doc_free(doc);
    return st;
}

/* clang-format off */
const struct tm_verb tm_inspect_verb = {
    .name = "inspect",
    .summary = "show what a trace contains, and why a report may be empty",
    .usage = "INPUT... [OPTION...]",
    .description =
        "Prints the hosts, planes, lines and events of the inputs, what is damaged or missing, and how to record a "
        "better profile.",
    .examples =
        "tracemill inspect logdir --latest    the newest run of a log directory\n"
        "tracemill inspect host.xplane.pb     one file\n"
        "tracemill inspect host.xplane.pb --arguments    and what takes the space in a trace of it\n",
    .bit = TM_FOR_INSPECT,
    .flags = TM_VERB_SPILLS | TM_VERB_PRINTS,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_inspect,
};
/* clang-format on */
