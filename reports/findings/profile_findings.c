/* SPDX-License-Identifier: Apache-2.0 */
/* Problems of the profile itself: no device activity, no steps, no host events, collapsed graphs, dropped or
 * capped events, damaged input.  Each finding says how to take a better one; each mark names the sections and key
 * figures that a loss affects.  Definitions of marks: docs/metrics.md, "Marks". */
#include <math.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/finding.h"
#include "reports/findings/findings.h"
#include "reports/findings/summary_query.h"
#include "reports/findings/thresholds.h"
#include "reports/format/format.h"

static int64_t sum_classes(const struct tm_findings *all, const char *const *classes, size_t count)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum = tm_sum_times(sum, tm_query_class_count(all->summary, classes[i]));
    return sum;
}

/* Only classes that the host tracer alone records count: driver calls come from the device tracer, and on a TPU module
 * events come from the device. */
bool tm_host_was_not_recorded(const struct tm_findings *all)
{
    static const char *const on_gpu[] = { "python",  "annotation", "step_marker", "module",
                                          "compile", "input",      "framework_op" };
    static const char *const on_tpu[] = { "python", "annotation", "step_marker", "runtime",     "launch",
                                          "sync",   "compile",    "input",       "framework_op" };

    if (!tm_has(tm_path(all->summary, "coverage.classes")))
        return false;
    if (all->audience & TM_FOR_OTHER) /* from other writers: driver calls are on the host */
        return sum_classes(all, on_tpu, sizeof(on_tpu) / sizeof(on_tpu[0])) == 0;
    if (tm_query_is_platform(all->summary, "gpu"))
        return sum_classes(all, on_gpu, sizeof(on_gpu) / sizeof(on_gpu[0])) == 0;
    if (tm_query_is_platform(all->summary, "tpu"))
        return sum_classes(all, on_tpu, sizeof(on_tpu) / sizeof(on_tpu[0])) == 0;
    return false;
}

static bool has_device_activity(const struct tm_findings *all)
{
    return tm_length(tm_get(all->summary, "devices")) > 0;
}

/* Events of devices that are not analyzed. */
static void find_unknown_device(struct tm_findings *all)
{
    char names[TM_SHORT_NAME_BYTES];
    struct tm_finding *f;
    int64_t events;

    if (!tm_query_unknown_devices(all->summary, names, sizeof(names), &events))
        return;
    f = tm_finding_of_fact(all, "unknown_device");
    if (has_device_activity(all))
        tm_finding_case(f, "beside_others");
    tm_finding_argument(f, "names", "%s", names);
    tm_finding_value(f, (double)events, "count");
    tm_finding_emit_with(f, "left_out", NULL, tm_given_int("events", events), tm_given_text("names", names),
                         tm_given_text("one", events == 1 ? "yes" : "no"));
}

/* Devices without recorded events. */
static size_t count_unused(const struct tm_findings *all)
{
    return tm_length(tm_get(all->summary, "unused"));
}

static void emit_unused(struct tm_findings *all, struct tm_finding *f)
{
    if (count_unused(all))
        tm_finding_emit_with(f, "unused", NULL, tm_given_int("unused_count", (int64_t)count_unused(all)));
}

/* Launches were recorded, but their kernels were not. */
static void find_lost_kernels(struct tm_findings *all)
{
    struct tm_query_kernels kernels;
    struct tm_finding *f;
    double lost_pct;

    if (!tm_query_lost_kernels(all->summary, &kernels))
        return;
    lost_pct = 100 * (double)(kernels.launches - kernels.recorded) / (double)kernels.launches;
    f = tm_finding_of_fact(all, "kernels_lost");
    if (kernels.recorded)
        tm_finding_case(f, "some");
    tm_finding_value(f, lost_pct, "%");
    tm_finding_emit_with(f, "launched", NULL, tm_given_int("launches", kernels.launches),
                         tm_given_int("recorded", kernels.recorded));
    if (kernels.recorded)
        tm_finding_emit_with(f, "missing", NULL, tm_given_double("lost_pct", lost_pct));
    emit_unused(all, f);
}

static void find_nothing_on_device(struct tm_findings *all)
{
    const size_t unused = count_unused(all);
    const bool on_cpu =
        !unused && all->audience & TM_FOR_TORCH && tm_query_class_count(all->summary, "framework_op") > 0;
    struct tm_finding *f;

    if (has_device_activity(all) || tm_is_reported(all, "no_device_activity"))
        return;
    f = tm_finding_of_fact(all, "no_device_activity");
    if (unused)
        tm_finding_case(f, "devices_unused");
    if (on_cpu)
        tm_finding_case(f, "on_cpu");
    tm_finding_emit(f, "all", NULL);
    emit_unused(all, f);
}

static void find_no_steps(struct tm_findings *all)
{
    const char *source = tm_text(tm_path(all->summary, "steps.source"));
    const bool is_session = tm_query_is_session(all->summary);
    const int64_t count = tm_int(tm_path(all->summary, "steps.count"));
    struct tm_finding *f;

    if (!is_session && strcmp(source, "module") != 0)
        return;
    f = tm_finding_of_fact(all, "no_steps");
    if (is_session)
        tm_finding_emit(f, "session", NULL);
    else
        tm_finding_emit_with(f, "program", NULL, tm_given_text("one", count == 1 ? "yes" : "no"));
}

static void find_one_step(struct tm_findings *all)
{
    struct tm_finding *f;

    if (tm_query_is_session(all->summary) || tm_int(tm_path(all->summary, "steps.chosen")) != 1)
        return;
    f = tm_finding_of_fact(all, "one_step");
    tm_finding_value(f, 1, "count");
    if (tm_int(tm_path(all->summary, "steps.count")) == 1)
        tm_finding_emit(f, "only", NULL);
    else
        tm_finding_emit(f, "one_of", NULL);
}

/* Analyzed steps without device activity.
 * out:    chosen  the number of analyzed steps; first  the first empty one */
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

/* On a CPU the launch of an operation is not known: it counts for the step that is marked while it runs. */
static void find_empty_steps(struct tm_findings *all)
{
    const struct tm_value *first;
    size_t chosen;
    const size_t empty = count_empty_steps(tm_path(all->summary, "steps.list"), &chosen, &first);
    struct tm_finding *f;

    if (!empty || !tm_query_is_platform(all->summary, "cpu") ||
        strcmp(tm_text(tm_path(all->summary, "steps.source")), "host") != 0)
        return;
    f = tm_finding_of_fact(all, "steps_without_activity");
    tm_finding_value(f, (double)empty, "count");
    tm_finding_emit_with(f, "empty", NULL, tm_given_int("empty", (int64_t)empty),
                         tm_given_int("chosen", (int64_t)chosen));
    tm_finding_emit(f, "first", first);
    tm_finding_where(f, tm_int(tm_get(first, "begin_ps")), tm_int(tm_get(first, "host_span_ps")),
                     tm_text(tm_get(first, "host")));
}

/* If the tracers took a large part of the main threads' time, steps are faster without them. */
static void find_profiling(struct tm_findings *all)
{
    const struct tm_value *const profiling = tm_path(all->summary, "host.profiling"), *tracers, *row;
    const double share = tm_double(tm_get(profiling, "share_pct")), limit = tm_limit_of(all, TM_LIMIT_WARNING_SHARE);
    struct tm_finding *f;

    if (share < limit)
        return;
    f = tm_finding_of_fact(all, "profiling_cost");
    tm_finding_value(f, share, "%");
    tm_finding_limit(f, limit);
    tm_finding_emit(f, "all", profiling);
    tracers = tm_get(profiling, "tracers");
    for (size_t i = 0; i < tm_length(tracers); i++) {
        row = tm_at(tracers, i);
        if (tm_double(tm_get(row, "share_pct")) < limit / 2)
            continue;
        tm_finding_emit(f, "tracer", row);
        if (!strcmp(tm_text(tm_get(row, "tracer")), "python"))
            tm_finding_case(f, "python");
    }
}

static void find_no_host(struct tm_findings *all)
{
    const int64_t idle_ps = tm_wait_left(all, TM_WAIT_UNRECORDED);
    const double share = tm_share_pct(idle_ps, all->window_ps);
    struct tm_finding *f;

    if (!has_device_activity(all) || !tm_host_was_not_recorded(all))
        return;
    f = tm_finding_of_fact(all, "no_host_events");
    if (share >= tm_limit_of(all, TM_LIMIT_WARNING_SHARE))
        tm_finding_case(f, "much_idle");
    tm_finding_value(f, share, "%");
    tm_finding_emit_with(f, "none", NULL, tm_given_text("jax", all->audience & TM_FOR_JAX ? "yes" : "no"));
    if (idle_ps > 0)
        tm_finding_emit_with(f, "unexplained", NULL, tm_given_int("idle_ps", idle_ps),
                             tm_given_double("share_pct", share));
}

static void find_collapsed_graphs(struct tm_findings *all)
{
    const struct tm_value *devices = tm_get(all->summary, "devices");
    int64_t marked = 0, graphs = 0, total_ps = 0;
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
    f = tm_finding_of_fact(all, "graphs_collapsed");
    tm_finding_value(f, (double)graphs, "count");
    tm_finding_emit_with(f, "all", NULL, tm_given_int("graphs", graphs), tm_given_int("marked", marked),
                         tm_given_int("total_ps", total_ps));
}

/* Does a warning of the profiler say that events were dropped? */
static bool says_dropped(const char *warning)
{
    return strcasestr(warning, "drop") || strcasestr(warning, "buffer is full");
}

static void find_warnings(struct tm_findings *all)
{
    const struct tm_value *warnings = tm_path(all->summary, "coverage.warnings");
    const size_t count = tm_length(warnings);
    bool is_dropped = false;
    char text[TM_EVIDENCE_BYTES - 4];
    struct tm_finding *f;

    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        is_dropped |= says_dropped(tm_text(tm_at(warnings, i)));
    f = tm_finding_of_fact(all, "profiler_warnings");
    if (is_dropped)
        tm_finding_case(f, "dropped");
    tm_finding_value(f, (double)count, "count");
    for (size_t i = 0; i < count && i < 5; i++) {
        (void)tm_format_visible(text, sizeof(text), tm_text(tm_at(warnings, i)), strlen(tm_text(tm_at(warnings, i))));
        tm_finding_emit_with(f, "warning", NULL, tm_given_text("text", text));
    }
}

static void find_json_copy(struct tm_findings *all)
{
    const char *note = tm_query_copy_note(all->summary, NULL);
    char text[TM_EVIDENCE_BYTES - 16];
    struct tm_finding *f;

    if (!note)
        return;
    f = tm_finding_of_fact(all, "json_copy");
    (void)tm_format_visible(text, sizeof(text), note, strlen(note));
    tm_finding_emit_with(f, "note", NULL, tm_given_text("text", text));
}

/* A host has exactly as many device events as JAX's profiler keeps: the rest is missing. */
static void find_device_cap(struct tm_findings *all)
{
    const struct tm_value *host = tm_query_capped_host(all->summary);
    const int64_t events = tm_int(tm_get(host, "device_events"));
    struct tm_finding *f;

    if (!host)
        return;
    f = tm_finding_of_fact(all, "events_capped");
    tm_finding_value(f, (double)events, "count");
    tm_finding_limit(f, (double)events);
    tm_finding_emit(f, "host", host);
}

/* Clocks that are synchronized differ by milliseconds. */
enum { CLOCKS_SHOWN = 4 };

static const int64_t clocks_agree_ps = INT64_C(100000000000);

/* According to its collectives, a host's clock is far off. */
static void find_host_clocks(struct tm_findings *all)
{
    const struct tm_value *const clock = tm_path(all->summary, "collectives.skew.clock");
    const struct tm_value *const list = tm_get(clock, "list");
    const char *const reference = tm_text(tm_get(tm_find(list, "method", "reference"), "host"));
    struct tm_finding *f = NULL;
    double worst_ps = 0;
    size_t shown = 0;

    if (!tm_is(tm_get(clock, "aligned")))
        return;
    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *const row = tm_at(list, i);
        const double difference_ps = (double)tm_int(tm_get(row, "difference_ps"));
        char text[TM_FORMAT_BYTES + 16], time[TM_FORMAT_BYTES];

        if (fabs(difference_ps) < (double)clocks_agree_ps)
            continue;
        f = f ? f : tm_finding_of_fact(all, "host_clocks");
        worst_ps = fmax(worst_ps, fabs(difference_ps));
        (void)snprintf(text, sizeof(text), "%s %s", tm_format_time(time, (int64_t)fabs(difference_ps)),
                       difference_ps < 0 ? "ahead" : "behind");
        if (shown++ < CLOCKS_SHOWN)
            tm_finding_emit_with(f, "clock", row, tm_given_text("error", text), tm_given_text("reference", reference));
    }
    if (f)
        tm_finding_value(f, worst_ps, "ps");
}

/* A JSON has exactly as many events as JAX writes at most. */
static void find_json_cap(struct tm_findings *all)
{
    const struct tm_value *files = tm_path(all->summary, "input.files");
    char problem[TM_EVIDENCE_BYTES / 2];
    struct tm_finding *f;

    if (!tm_has(tm_get(tm_path(all->summary, "coverage.tallies"), "event-cap")))
        return;
    f = tm_finding_of_fact(all, "json_capped");
    for (size_t i = 0; i < tm_length(files); i++) {
        const char *text = tm_text(tm_at(tm_get(tm_at(files, i), "problems"), 0));

        if (strstr(text, "where JAX stops writing")) {
            (void)tm_format_visible(problem, sizeof(problem), text, strlen(text));
            tm_finding_emit_with(f, "capped_file", tm_at(files, i), tm_given_text("problem", problem));
        }
    }
}

/* No kernel has a framework path. */
static void find_no_paths(struct tm_findings *all)
{
    const struct tm_value *rows = tm_path(all->summary, "kernels.rows");
    struct tm_finding *f;

    if (!(all->audience & TM_FOR_JAX) || !tm_query_is_platform(all->summary, "gpu") ||
        tm_query_copy_note(all->summary, NULL))
        return;
    for (size_t i = 0; i < tm_length(rows); i++)
        if (tm_has(tm_get(tm_at(rows, i), "op")))
            return;
    if (tm_length(rows) == 0)
        return;
    f = tm_finding_of_fact(all, "no_framework_paths");
    if (tm_has(tm_get(tm_path(all->summary, "coverage.tallies"), "damaged-program"))) {
        tm_finding_case(f, "programs_damaged");
        return;
    }
    tm_finding_emit(f, "none", NULL);
}

static void emit_problems(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *files = tm_path(all->summary, "input.files");

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *file = tm_at(files, i);

        if (tm_is(tm_get(file, "partial")) || tm_length(tm_get(file, "problems")) > 0)
            tm_finding_emit(f, "file", file);
    }
}

static void find_partial(struct tm_findings *all)
{
    struct tm_finding *f;

    if (!tm_is(tm_path(all->summary, "input.partial")))
        return;
    f = tm_finding_of_fact(all, "input_partial");
    tm_finding_emit(f, "read", NULL);
    emit_problems(all, f);
}

/* Events that were lost; bytes of truncated messages are not events. */
static void find_losses(struct tm_findings *all)
{
    const struct tm_value *tallies = tm_path(all->summary, "coverage.tallies");
    const double events_read = tm_double(tm_path(all->summary, "coverage.events_read"));
    double lost = 0, share;
    struct tm_finding *f;

    for (size_t i = 0; i < tm_length(tallies); i++) {
        const struct tm_value *tally = tm_value_at(tallies, i);

        if (strcmp(tm_text(tm_get(tally, "level")), "loss") == 0 && strcmp(tm_key_at(tallies, i), "cut-short") != 0)
            lost += tm_double(tm_get(tally, "count"));
    }
    share = events_read > 0 ? 100 * lost / events_read : 0;
    if (lost <= 0 || share < tm_limit_of(all, TM_LIMIT_LOST_EVENTS))
        return;
    f = tm_finding_of_fact(all, "events_lost");
    tm_finding_value(f, share > 100 ? 100 : share, "%");
    tm_finding_limit(f, tm_limit_of(all, TM_LIMIT_LOST_EVENTS));
    for (size_t i = 0; i < tm_length(tallies); i++) {
        const struct tm_value *tally = tm_value_at(tallies, i);

        if (strcmp(tm_text(tm_get(tally, "level")), "loss") == 0 && strcmp(tm_key_at(tallies, i), "cut-short") != 0)
            tm_finding_emit_with(f, "lost", tally,
                                 tm_given_double("share_pct", 100 * tm_double(tm_get(tally, "count")) / events_read));
    }
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
    find_profiling(all);
    find_collapsed_graphs(all);
    find_warnings(all);
    find_json_copy(all);
    find_device_cap(all);
    find_host_clocks(all);
    find_json_cap(all);
    find_no_paths(all);
    find_partial(all);
    find_losses(all);
}

/* --- marks ---
 * One table: a loss, how it shows in the summary, and the sections and key figures that may be wrong because of it. */

enum { MARK_BYTES = 400 };

/* What a loss affects, as bits. */
enum group {
    DEVICE = 1,  /* device activity and its times */
    GRAPHED = 2, /* data that would be reported about the kernels in a graph */
    HOST = 4,    /* host activity and its times */
    COMPILING = 8,
    MEMORY = 16,
    COSTS = 32,  /* facts about operations other than their time */
    CAUSES = 64, /* why devices were idle */
    ALL = DEVICE | HOST | COMPILING | MEMORY | COSTS | CAUSES,
};

/* In the order of the summary. */
static const struct {
    const char *name;
    unsigned groups;
} sections[] = {
    { "steps", DEVICE | HOST },
    { "devices", DEVICE | GRAPHED },
    { "total", DEVICE | GRAPHED },
    { "gaps", DEVICE | GRAPHED | HOST | CAUSES },
    { "critical_path", DEVICE | GRAPHED | HOST | CAUSES },
    { "kernels", DEVICE | GRAPHED },
    { "fusion", DEVICE | GRAPHED },
    { "occupancy", DEVICE | GRAPHED | COSTS },
    { "transfers", DEVICE | GRAPHED },
    { "ops", DEVICE | GRAPHED | COSTS },
    { "scopes", DEVICE | GRAPHED | HOST | COSTS },
    { "collectives", DEVICE | GRAPHED | COSTS },
    { "host", HOST | CAUSES },
    { "compile", COMPILING },
    { "memory", MEMORY },
    { "roofline", DEVICE | GRAPHED | COSTS },
    { "balance", DEVICE | GRAPHED },
    { "sharding", DEVICE | GRAPHED | COSTS },
    { "fallback", DEVICE | HOST },
};

static const unsigned kpi_groups[TM_KPI_COUNT] = {
    [TM_KPI_MODEL_FLOP_UTILIZATION] = DEVICE | GRAPHED | COSTS,
    [TM_KPI_DEVICE_UTILIZATION] = DEVICE | GRAPHED,
    [TM_KPI_KERNEL_DURATION] = DEVICE | GRAPHED,
    [TM_KPI_SMALL_KERNEL_SHARE] = DEVICE | GRAPHED,
    [TM_KPI_HOST_OVERHEAD] = DEVICE | GRAPHED | HOST | CAUSES,
    [TM_KPI_MEMORY_BANDWIDTH] = DEVICE | GRAPHED | COSTS,
    [TM_KPI_COMPILE_TIME] = COMPILING,
    [TM_KPI_UNEXPECTED_COMPILES] = COMPILING,
    [TM_KPI_PEAK_MEMORY] = MEMORY,
    [TM_KPI_OCCUPANCY] = DEVICE | GRAPHED | COSTS,
    [TM_KPI_TRANSFER_SHARE] = DEVICE | GRAPHED,
    [TM_KPI_TOP_OP_SHARE] = DEVICE | GRAPHED,
    [TM_KPI_EXPOSED_COLLECTIVE] = DEVICE | GRAPHED,
    [TM_KPI_IMBALANCE] = DEVICE | GRAPHED,
    [TM_KPI_STEP_TIME] = DEVICE | HOST,
};

/* --- how the summary reports a loss --- */

static int64_t tally_of(const struct tm_value *summary, const char *name)
{
    return tm_int(tm_get(tm_get(tm_path(summary, "coverage.tallies"), name), "count"));
}

static void describe_event_cap(const struct tm_value *summary, char text[MARK_BYTES])
{
    if (tally_of(summary, "event-cap") > 0)
        tm_format_append(text, MARK_BYTES,
                         "a JSON file has exactly as many events as its writer's limit: later events are missing");
}

static void describe_device_cap(const struct tm_value *summary, char text[MARK_BYTES])
{
    const struct tm_value *host = tm_query_capped_host(summary);
    char count[TM_FORMAT_BYTES], name[TM_SHORT_NAME_BYTES];

    if (host)
        tm_format_append(
            text, MARK_BYTES,
            "%s has exactly %s device events, the profiler's limit: later events are missing and look like idle time",
            tm_row_name(name, host, "host"), tm_row_count(count, host, "device_events"));
}

/* The first warning about dropped events, or the first other one. */
static void describe_warning(const struct tm_value *summary, bool of_drops, const char *words, char text[MARK_BYTES])
{
    const struct tm_value *warnings = tm_path(summary, "coverage.warnings");
    const char *first = NULL;
    char shown[TM_SHORT_NAME_BYTES];
    size_t count = 0;

    for (size_t i = 0; i < tm_length(warnings); i++) {
        const char *warning = tm_text(tm_at(warnings, i));

        if (says_dropped(warning) != of_drops)
            continue;
        first = first ? first : warning;
        count++;
    }
    if (!first)
        return;
    tm_format_append(text, MARK_BYTES, "%s: '%s'", words, tm_short_name(shown, first));
    if (count > 1)
        tm_format_append(text, MARK_BYTES, " (and %zu more)", count - 1);
}

static void describe_dropped(const struct tm_value *summary, char text[MARK_BYTES])
{
    describe_warning(summary, true, "the profiler dropped events", text);
}

static void describe_warned(const struct tm_value *summary, char text[MARK_BYTES])
{
    describe_warning(summary, false, "the profiler reported warnings", text);
}

static void describe_graphs(const struct tm_value *summary, char text[MARK_BYTES])
{
    const struct tm_value *devices = tm_get(summary, "devices");
    size_t count = 0;

    for (size_t i = 0; i < tm_length(devices); i++)
        count += !strcmp(tm_text(tm_get(tm_at(devices, i), "reliability")), "graph");
    if (count)
        tm_format_append(text, MARK_BYTES,
                         "graphs on %zu device%s were recorded as one event each: their kernels, and the pauses "
                         "between them, count as compute",
                         count, tm_format_plural(count));
}

/* A file that ends at the cap of its writer is partial, too, but has its own mark. */
static void describe_damage(const struct tm_value *summary, char text[MARK_BYTES])
{
    const struct tm_value *files = tm_path(summary, "input.files");
    int64_t damaged = -tally_of(summary, "event-cap");

    for (size_t i = 0; i < tm_length(files); i++) {
        const size_t problems = tm_length(tm_get(tm_at(files, i), "problems"));

        damaged += problems ? (int64_t)problems : tm_is(tm_get(tm_at(files, i), "partial"));
    }
    if (damaged > 0)
        tm_format_append(text, MARK_BYTES, "the input is damaged or truncated: the figures cover what could be read");
}

static void describe_copy(const struct tm_value *summary, char text[MARK_BYTES])
{
    bool is_converted;

    if (tm_query_copy_note(summary, &is_converted))
        tm_format_append(text, MARK_BYTES, "read from %s, an incomplete copy of the profile",
                         is_converted ? "a converted trace" : "JAX's JSON");
}

static bool is_loss_of_events(const struct tm_value *tallies, size_t at)
{
    static const char *const others[] = { "cut-short", "event-cap" }; /* separate marks */
    const char *name = tm_key_at(tallies, at);

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(others[i], name) == 0)
            return false;
    return strcmp(tm_text(tm_get(tm_value_at(tallies, at), "level")), "loss") == 0;
}

static void describe_losses(const struct tm_value *summary, char text[MARK_BYTES])
{
    const struct tm_value *tallies = tm_path(summary, "coverage.tallies");
    char count[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(tallies); i++)
        if (is_loss_of_events(tallies, i))
            tm_format_append(text, MARK_BYTES, "%s%s (%s)", text[0] ? ", " : "events with losses: ",
                             tm_row_count(count, tm_value_at(tallies, i), "count"), tm_key_at(tallies, i));
}

static void describe_nesting(const struct tm_value *summary, char text[MARK_BYTES])
{
    char count[TM_FORMAT_BYTES];

    if (tally_of(summary, "deep-nesting") > 0)
        tm_format_append(
            text, MARK_BYTES,
            "%s events were nested too deeply to follow: causes and self times may belong to the events around them",
            tm_format_count(count, tally_of(summary, "deep-nesting")));
}

/* --- the marks --- */

/* Appends the sentence if the loss is there. */
typedef void describe_fn(const struct tm_value *summary, char text[MARK_BYTES]);

static const struct {
    const char *id;
    unsigned groups;
    describe_fn *describe;
} marks[] = {
    { "damaged", ALL, describe_damage },
    { "event_cap", ALL, describe_event_cap },
    { "device_event_cap", DEVICE, describe_device_cap },
    { "events_dropped", DEVICE | HOST, describe_dropped },
    { "profiler_warning", DEVICE | HOST, describe_warned },
    { "graphs_collapsed", GRAPHED, describe_graphs },
    { "events_lost", ALL, describe_losses },
    { "lossy_copy", COSTS | MEMORY, describe_copy },
    { "deep_nesting", CAUSES, describe_nesting },
};

static void add_mark(struct tm_value *list, size_t at, const char *text)
{
    struct tm_value *to = tm_add_object(list, NULL), *names;

    tm_add_string(to, "id", marks[at].id);
    tm_add_text(to, "text", text, strlen(text));
    names = tm_add_array(to, "sections");
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        if (sections[i].groups & marks[at].groups)
            tm_add_string(names, NULL, sections[i].name);
    names = tm_add_array(to, "kpis");
    for (int i = 0; i < TM_KPI_COUNT; i++)
        if (kpi_groups[i] & marks[at].groups)
            tm_add_string(names, NULL, tm_kpi_id[i]);
}

tm_status tm_marks_add(struct tm_run *run, struct tm_value *summary)
{
    struct tm_value *list = tm_add_array(tm_member(summary, "coverage"), "marks");

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        char text[MARK_BYTES] = "";

        marks[i].describe(summary, text);
        if (text[0])
            add_mark(list, i, text);
    }
    return run->error.status;
}
