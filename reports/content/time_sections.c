/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: how long they take, what they spend time on, which are the slowest. */
#include <stdio.h>
#include <string.h>

#include "reports/chart/chart.h"
#include "reports/content/emit.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

/* Compilation: how much, in which steps, of which modules, and what was recompiled. */

static const struct tm_table again = {
    .id = "compile-again",
    .caption = "Modules compiled repeatedly",
    .shows = "module, count sums",
    .list = "compile.recompiled",
    .paper_rows = 10,
};

static const struct tm_table several_programs = {
    .id = "compile-programs",
    .caption = "Modules with several programs",
    .shows = "module, program_id, shapes",
    .list = "compile.programs",
    .paper_rows = 10,
    .is_detail = true,
};

static const struct tm_table compiles = {
    .id = "compiles",
    .caption = "Compiles, longest first",
    .shows = "module, host, begin_ps, dur_ps sums, step, shapes",
    .list = "compile.events",
    .by = "dur_ps",
};

static void emit_compile(const struct tm_content *content)
{
    tm_emit_facts(content, "compile-facts", "compile",
                  "count, total_ps, longest_ps, inside_steps.count = During analyzed steps, inside_steps.total_ps = "
                  "Time during analyzed steps, source wide");
    tm_emit_table(content, &again);
    tm_emit_table(content, &several_programs);
    tm_emit_table(content, &compiles);
}

static const char *no_compilations(const struct tm_value *summary)
{
    return tm_if_none(summary, "compile.count", "nothing was compiled during the profile");
}

const struct tm_section tm_compile_section = {
    .id = "compile", .title = "Compilation", .key = "compile", .say = emit_compile, .nothing = no_compilations
};

enum { FACTS_BYTES = 256, PARTS_MOST = 32, SLOWEST_MOST = 100, SLOWEST_LEAST = 2 };

/* A single step has a duration, several have a distribution. */
static void emit_step_facts(const struct tm_content *content, const struct tm_value *steps)
{
    const bool is_data = content->medium->room.is_data;
    char facts[FACTS_BYTES];

    (void)snprintf(facts, sizeof(facts),
                   "source source = Step source, count, chosen, warmup rare, incomplete "
                   "rare%s%s",
                   is_data || tm_has(tm_get(steps, "module")) ? ", module" : "",
                   !is_data && tm_int(tm_get(steps, "chosen")) == 1
                       ? ", median_ps = Length"
                       : ", median_ps, mean_ps, stddev_ps, p90_ps, p95_ps, min_ps, max_ps");
    tm_emit_facts(content, "step-facts", "steps", facts);
}

/* --- parts --- */

struct parts {
    struct tm_cell cell[PARTS_MOST][3];
    size_t count;
    const struct tm_value *total;
};

static void add_part(struct parts *parts, struct tm_cell title, const struct tm_value *part)
{
    struct tm_cell *row;

    if (!tm_has(part) || tm_int(part) == 0 || parts->count == PARTS_MOST)
        return;
    row = parts->cell[parts->count++];
    row[0] = title;
    row[1] = tm_cell_of_value(TM_DOC_TIME, part);
    row[2] = tm_cell_of_share(part, parts->total);
}

static void emit_parts(const struct tm_content *content, const struct tm_value *steps)
{
    const struct tm_value *of = tm_get(steps, "parts"), *copies = tm_get(of, "exposed_copy_ps"),
                          *idle = tm_get(of, "idle_ps");
    struct parts parts = { .total = tm_get(of, "total_ps") };

    add_part(&parts, tm_cell_of_text(TM_DOC_WORD, "compute"), tm_get(of, "compute_ps"));
    add_part(&parts, tm_cell_of_text(TM_DOC_WORD, "exposed collectives"), tm_get(of, "exposed_collective_ps"));
    for (size_t i = 0; i < tm_length(copies); i++)
        add_part(&parts, tm_cell_of_text(TM_DOC_WORD, tm_palette[tm_role_of_direction(tm_key_at(copies, i))].label),
                 tm_value_at(copies, i));
    for (size_t i = 0; i < tm_length(idle); i++)
        add_part(&parts, tm_cell_of_text(TM_DOC_WORD, tm_palette[tm_role_of_cause(tm_key_at(idle, i))].label),
                 tm_value_at(idle, i));
    tm_emit_table(content, &(struct tm_table){ .id = "step-parts",
                                               .caption = "Breakdown of the analyzed steps, all devices",
                                               .shows = "part word = Part, total_ps time = Time, share_pct pct = Share",
                                               .cells = parts.cell[0],
                                               .cell_rows = parts.count,
                                               .total = of,
                                               .total_title = "all analyzed steps, all devices",
                                               .paper_rows = PARTS_MOST });
}

/* --- the slowest --- */

static void emit_slowest(const struct tm_content *content, const struct tm_value *steps)
{
    const struct tm_value *list = tm_get(steps, "list");
    const bool by_host = strcmp(tm_text(tm_get(steps, "basis")), "host_span") == 0;
    size_t pick[SLOWEST_MOST];
    const size_t n = tm_pick_largest(list, by_host ? "host_span_ps" : "period_ps", "chosen", SLOWEST_MOST, pick);

    if (n >= SLOWEST_LEAST)
        tm_emit_table(
            content,
            &(struct tm_table){
                .id = "steps-slowest",
                .caption = "Slowest analyzed steps",
                .shows = "number, host, period_ps, busy_ps, compute_ps, exposed_collective_ps rare, host_span_ps, "
                         "device_span_ps wide, begin_ps wide, end_ps wide, launches wide, compile rare, device wide",
                .list = "steps.list",
                .pick = pick,
                .picks = n,
                .is_only_picked = true,
                .is_detail = true,
                .paper_rows = 10 });
}

static const struct tm_table skipped = {
    .id = "steps-skipped",
    .caption = "Steps excluded from figures",
    .shows = "number, host, reason",
    .list = "steps.skipped",
};

static void emit_steps(const struct tm_content *content)
{
    const struct tm_value *steps = tm_of(content, "steps");

    /* the chart of the devices shows a session */
    const bool is_told = content->medium->room.is_short && strcmp(tm_text(tm_get(steps, "source")), "session") == 0;

    if (!is_told)
        tm_emit_charts(content, TM_CHART_STEPS);
    tm_emit_detail_charts(content, TM_CHART_STEP_TIMES);
    emit_step_facts(content, steps);
    if (!is_told)
        emit_parts(content, steps);
    emit_slowest(content, steps);
    tm_emit_table(content, &skipped);
}

const struct tm_section tm_steps_section = { .id = "steps", .title = "Steps", .key = "steps", .say = emit_steps };

/* Idle gaps: their causes, their lengths, the longest ones. */

enum { TITLE_BYTES = 64, GAP_FACTS_BYTES = 256 };

static const struct tm_table causes = {
    .id = "gap-causes",
    .caption = "Idle time by cause",
    .shows = "@ cause = Cause, total_ps, share_pct, count, main_ps wide",
    .list = "gaps.by_cause",
    .where = "count|total_ps",
    .total_at = "gaps",
    .total_title = "all idle time",
    .repeats_chart = true,
    .note = "The time of a gap is divided among its causes; the gap itself is counted with the largest of them.",
};

/* Gaps before the next operation or two, which indicate eager dispatch. */
static void emit_short(const struct tm_content *content, const struct tm_value *shorter)
{
    char from[TM_FORMAT_BYTES], below[TM_FORMAT_BYTES], caption[2 * TM_FORMAT_BYTES + TITLE_BYTES];

    (void)snprintf(caption, sizeof(caption), "Gaps of %s to %s by cause",
                   tm_format_time(from, tm_int(tm_get(shorter, "from_ps"))),
                   tm_format_time(below, tm_int(tm_get(shorter, "below_ps"))));
    tm_emit_table(content, &(struct tm_table){ .id = "gap-short",
                                               .caption = caption,
                                               .is_detail = true,
                                               .shows = "@ cause = Cause, total_ps, count",
                                               .list = "gaps.short.by_cause",
                                               .where = "count|total_ps" });
}

static void emit_gap_facts(const struct tm_content *content, const struct tm_value *gaps)
{
    const struct tm_value *least = tm_get(gaps, "gap_min_ps");
    char time[TM_FORMAT_BYTES], facts[GAP_FACTS_BYTES];

    (void)snprintf(facts, sizeof(facts), "count, count_min = Of %s or more, total_ps, pauses.count, pauses.total_ps",
                   tm_has(least) ? tm_format_time(time, tm_int(least)) : "the minimum duration");
    tm_emit_facts(content, "gap-facts", "gaps", facts);
}

/* The short pauses in device_wait, which are not waits. */
static void emit_pauses(const struct tm_content *content, const struct tm_value *pauses)
{
    char below[TM_FORMAT_BYTES];

    if (tm_int(tm_get(pauses, "count")) > 0 && tm_has(tm_get(pauses, "below_ps")))
        tm_emit(content, TM_TONE_QUIET,
                "Pauses are gaps under %s before work that had already been launched; they are included in the gaps.",
                tm_format_time(below, tm_int(tm_get(pauses, "below_ps"))));
}

/* Why the list of the longest gaps is empty, and the trace has none. */
static void emit_none_listed(const struct tm_content *content, const struct tm_value *gaps)
{
    char least[TM_FORMAT_BYTES];

    if (tm_int(tm_get(gaps, "count")) > 0 && tm_int(tm_get(gaps, "count_min")) == 0)
        tm_emit(content, TM_TONE_QUIET,
                "All gaps are under %s, so none is listed or shown in the trace; --gap-min lowers this limit.",
                tm_format_time(least, tm_int(tm_get(gaps, "gap_min_ps"))));
}

static const struct tm_table lengths = {
    .id = "gap-lengths",
    .caption = "Long gaps by duration",
    .shows = "from_ps, to_ps, count, total_ps",
    .list = "gaps.histogram",
    .paper_rows = 64,
    .repeats_chart = true,
    .is_detail = true,
};

static const struct tm_table longest = {
    .id = "gaps-longest",
    .caption = "Longest gaps and the host activity during them",
    .shows = "begin_ps, dur_ps, device, step, cause, host_event, host_thread wide, calls.usual_ps wide, "
             "launch.dur_ps wide = Launch call, before wide, after",
    .list = "gaps.longest",
    .paper_rows = 12,
    .is_detail = true,
};

static void emit_gaps(const struct tm_content *content)
{
    const struct tm_value *gaps = tm_of(content, "gaps");

    tm_emit_detail_charts(content, TM_CHART_CAUSES);
    tm_emit_table(content, &causes);
    emit_gap_facts(content, gaps);
    emit_pauses(content, tm_get(gaps, "pauses"));
    emit_none_listed(content, gaps);
    emit_short(content, tm_get(gaps, "short"));
    tm_emit_detail_charts(content, TM_CHART_GAPS);
    tm_emit_table(content, &lengths);
    tm_emit_table(content, &longest);
}

static const char *no_gaps(const struct tm_value *summary)
{
    return tm_if_none(summary, "gaps.count", "there is no gap between device activities");
}

const struct tm_section tm_gaps_section = {
    .id = "gaps", .title = "Idle gaps", .key = "gaps", .say = emit_gaps, .nothing = no_gaps, .wants_enough = true
};

/* The critical path: what determines the length of a step. */

static const struct tm_table path_kinds = {
    .id = "critical-path",
    .caption = "Critical path of the analyzed steps",
    .shows = "@ cause = Kind, total_ps, share_pct, steps",
    .list = "critical_path.by_kind",
    .where = "total_ps",
    .total_at = "critical_path",
    .total_title = "all analyzed steps",
    .paper_rows = PARTS_MOST,
    .note =
        "Only what is on the path makes a step longer: work off the path costs nothing until the path gets shorter.",
};

static const struct tm_table path_sites = {
    .id = "critical-path-contributors",
    .caption = "Largest contributors to the critical path",
    .shows = "kind, name, op wide, source wide, count sums, total_ps sums, share_pct",
    .list = "critical_path.contributors",
    .rest_at = "critical_path.contributors_rest",
    .screen_rows = 100, /* of hundreds, few take more than 0.1% */
    .paper_rows = 10,
    .is_detail = true,
};

static const struct tm_table path_devices = {
    .id = "critical-path-devices",
    .caption = "Devices on the critical path",
    .shows = "device, total_ps sums, share_pct",
    .list = "critical_path.devices",
    .by = "total_ps",
    .paper_rows = 8,
    .is_detail = true,
};

static const struct tm_table path_steps = {
    .id = "critical-path-steps",
    .caption = "Critical path by step",
    .shows =
        "number, host, total_ps sums, bound_by, compute_ps, collective_ps rare, copy_ps rare, device_wait_ps rare, "
        "launch_ps rare, compile_ps rare, input_ps rare, sync_ps rare, gc_ps rare, profiler_ps rare, host_ps rare, "
        "unrecorded_ps rare, begin_ps wide, activities wide, on_path wide, switches wide rare",
    .list = "critical_path.rows",
    .rest_at = "critical_path.rest",
    .paper_rows = 10,
    .is_detail = true,
};

static const struct tm_table path_replays = {
    .id = "critical-path-replays",
    .caption = "Step time without a part of the work",
    .shows = "without, path_ps, saved_ps, saved_pct",
    .list = "critical_path.replay.rows",
    .where = "path_ps|saved_ps",
    .paper_rows = PARTS_MOST,
    .note = "Host time whose content is not recorded may be a wait for a device: savings of device work may exceed its "
            "time on the path.",
    .is_detail = true,
};

static void emit_path(const struct tm_content *content)
{
    tm_emit_table(content, &path_kinds);
    tm_emit_table(content, &path_sites);
    if (tm_length(tm_of(content, "critical_path.devices")) > 1)
        tm_emit_table(content, &path_devices);
    tm_emit_table(content, &path_replays);
    tm_emit_table(content, &path_steps);
}

static const char *no_path(const struct tm_value *summary)
{
    return tm_if_none(summary, "critical_path.steps", "no device activity in the analyzed steps");
}

const struct tm_section tm_path_section = { .id = "critical-path",
                                            .title = "Critical path",
                                            .key = "critical_path",
                                            .say = emit_path,
                                            .nothing = no_path,
                                            .wants_enough = true };

/* Host: idle time that it causes on the devices, its waits, its functions and threads. */

static void emit_host_facts(const struct tm_content *content, const struct tm_value *host)
{
    static const char overhead[] = "overhead_pct, overhead_ps, ";
    static const char facts[] = "launches.count, launches.per_step, launches.unknown_count wide rare, "
                                "launch_delay.p50_ps, launch_delay.p95_ps, launch_delay.max_ps, "
                                "launch_delay.negative wide rare, queue_empty.total_ps, queue_empty.share_pct, "
                                "eager.programs_per_step, eager.single_op_programs_pct, eager.launch_gap_ps rare, "
                                "eager.small_kernel_ps rare, eager.host_ps rare, sync.count, sync.total_ps rare";
    static const char *const parts[][2] = { { "overhead_pct", "Host overhead" },
                                            { "launches", "Launches" },
                                            { "launch_delay", "Launch latency" },
                                            { "queue_empty", "Empty launch queue" },
                                            { "sync", "Host sync" } };
    char all[sizeof(overhead) + sizeof(facts)];

    (void)snprintf(all, sizeof(all), "%s%s", tm_has(tm_get(host, "overhead_pct")) ? overhead : "", facts);
    tm_emit_facts(content, "host-facts", "host", all);
    tm_emit_nulls(content, host, parts, sizeof(parts) / sizeof(parts[0]));
}

static const struct tm_table waits = {
    .id = "host-waits",
    .caption = "Host sync calls",
    .shows = "name, caller, annotation wide, count sums, total_ps sums, longest_ps, longest_begin_ps, host wide",
    .list = "host.sync.rows",
    .rest_at = "host.sync.rest",
    .total_at = "host.sync",
    .total_title = "all sync calls",
    .paper_rows = 8,
    .is_detail = true,
};

static const struct tm_table empty_queues = {
    .id = "host-queue-empty",
    .caption = "Longest intervals with an empty launch queue",
    .shows = "device, begin_ps, dur_ps",
    .list = "host.queue_empty.longest",
    .paper_rows = 5,
    .is_detail = true,
};

static const struct tm_table python = {
    .id = "host-functions",
    .caption = "Python functions by self time",
    .shows = "name = Function, count sums, self_ps sums, total_ps",
    .list = "host.python",
    .rest_at = "host.python_rest",
    .paper_rows = 10,
    .is_detail = true,
};

static const struct tm_table annotations = {
    .id = "host-annotations",
    .caption = "Annotations by self time",
    .shows = "name = Annotation, count sums, self_ps sums, total_ps",
    .list = "host.annotations",
    .rest_at = "host.annotations_rest",
    .paper_rows = 8,
    .is_detail = true,
};

static const struct tm_table threads = {
    .id = "host-threads",
    .caption = "Threads by busy time",
    .shows = "name, host, is_main, busy_ps sums, share_pct, events sums, ops rare, op_ps rare, "
             "first_ps wide, last_ps wide",
    .list = "host.threads",
    .rest_at = "host.threads_rest",
    .paper_rows = 12,
    .is_detail = true,
};

enum { PROFILING_LEAST_PCT = 1 }; /* of the host's time: less is not shown */

static const struct tm_table tracers = {
    .id = "host-profiling",
    .caption = "Cost of profiling by tracer",
    .shows = "tracer, events sums, main_events sums, event_ps, total_ps sums, main_ps sums, share_pct, option",
    .list = "host.profiling.tracers",
    .note = "Events times the cost of one, measured with JAX 0.10.2.",
    .paper_rows = 4,
    .is_detail = true,
};

static void emit_host(const struct tm_content *content)
{
    emit_host_facts(content, tm_of(content, "host"));
    tm_emit_table(content, &waits);
    tm_emit_table(content, &empty_queues);
    tm_emit_table(content, &python);
    tm_emit_table(content, &annotations);
    tm_emit_table(content, &threads);
    if (tm_double(tm_of(content, "host.profiling.share_pct")) >= PROFILING_LEAST_PCT)
        tm_emit_table(content, &tracers);
}

const struct tm_section tm_host_section = {
    .id = "host", .title = "Host", .key = "host", .say = emit_host, .wants_enough = true
};

/* CPU fallback: what ran on the host that a device could have run, and data that went there and back. */

static void emit_fallback_facts(const struct tm_content *content, const struct tm_value *fallback)
{
    static const char *const parts[][2] = { { "cpu_ops", "Operations run on the host" },
                                            { "host_ops", "Device operations that involve the host" },
                                            { "round_trips", "Host round trips" } };

    tm_emit_facts(content, "fallback-facts", "fallback",
                  "callbacks.count rare = Host callbacks, callbacks.total_ps rare = Time in host callbacks, "
                  "cpu_ops.count rare = Operations run on the host, cpu_ops.total_ps rare = Time in operations on "
                  "the host, host_ops.count rare = Device operations that involve the host, host_ops.total_ps rare = "
                  "Time in operations with the host, round_trips.count rare, round_trips.host_ps rare");
    tm_emit_nulls(content, fallback, parts, sizeof(parts) / sizeof(parts[0]));
}

static const struct tm_table callbacks = {
    .id = "fallback-callbacks",
    .caption = "Host callbacks",
    .shows = "name, kind, op wide, count sums, total_ps sums, longest_ps, begin_ps, host wide",
    .list = "fallback.callbacks.rows",
    .rest_at = "fallback.callbacks.rest",
    .total_at = "fallback.callbacks",
    .total_title = "all host callbacks",
    .paper_rows = 8,
};

static void emit_operations(const struct tm_content *content, struct tm_table operations)
{
    operations.shows = "name = Operation, op wide, count sums, total_ps sums, longest_ps, begin_ps, host wide";
    operations.total_title = "all rows";
    operations.paper_rows = 8;
    tm_emit_table(content, &operations);
}

static const struct tm_table trips = {
    .id = "fallback-round-trips",
    .caption = "Longest host round trips",
    .shows = "device, begin_ps, dur_ps, bytes, host_event",
    .list = "fallback.round_trips.longest",
    .paper_rows = 5,
    .is_detail = true,
};

static const struct tm_table placement = {
    .id = "fallback-placement",
    .caption = "Operations by where they ran",
    .shows = "name, op, ran_on, cause, device_count, device_ps sums, host_count, host_ps sums",
    .list = "fallback.placement.rows",
    .rest_at = "fallback.placement.rest",
    .paper_rows = 12,
};

static void emit_fallback(const struct tm_content *content)
{
    const struct tm_value *fallback = tm_of(content, "fallback");

    emit_fallback_facts(content, fallback);
    tm_emit_table(content, &placement);
    tm_emit_table(content, &callbacks);
    emit_operations(content, (struct tm_table){ .id = "fallback-cpu-ops",
                                                .caption = "Operations that ran on the host",
                                                .list = "fallback.cpu_ops.rows",
                                                .rest_at = "fallback.cpu_ops.rest",
                                                .total_at = "fallback.cpu_ops" });
    emit_operations(content, (struct tm_table){ .id = "fallback-host-ops",
                                                .caption = "Device operations that involve the host",
                                                .list = "fallback.host_ops.rows",
                                                .rest_at = "fallback.host_ops.rest",
                                                .total_at = "fallback.host_ops" });
    tm_emit_table(content, &trips);
}

/* Everything that could run on a host instead of a device was searched for, and nothing did. */
static bool is_without_fallback(const struct tm_value *summary)
{
    static const char *const sorts[] = { "callbacks", "cpu_ops", "host_ops", "round_trips" };
    const struct tm_value *fallback = tm_get(summary, "fallback");

    for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
        const struct tm_value *count = tm_get(tm_get(fallback, sorts[i]), "count");

        if (!tm_has(count) || tm_int(count) != 0)
            return false;
    }
    return true;
}

static const char *no_fallback(const struct tm_value *summary)
{
    static const char *const counts[] = { "fallback.callbacks.count", "fallback.cpu_ops.count",
                                          "fallback.host_ops.count", "fallback.round_trips.count" };

    if (is_without_fallback(summary))
        return TM_NO_FALLBACK;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (tm_int(tm_path(summary, counts[i])) > 0)
            return "";
    return "nothing was found in this profile";
}

const struct tm_section tm_fallback_section = { .id = "fallback",
                                                .title = "CPU fallback",
                                                .key = "fallback",
                                                .say = emit_fallback,
                                                .nothing = no_fallback,
                                                .wants_enough = true };
