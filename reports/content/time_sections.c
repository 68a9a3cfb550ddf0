/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: how long, what their time goes to, which are the slowest. */
#include <stdio.h>
#include <string.h>

#include "reports/chart/chart.h"
#include "reports/content/emit.h"
#include "reports/findings/query.h"
#include "reports/format/format.h"

/* Compilation: how much, in which steps, of what, and what was compiled again. */

enum { EVENTS_MOST = 500 };

static void emit_compile_facts(const struct tm_content *content)
{
    static const struct tm_column facts[] = {
        { .key = "count" },
        { .key = "total_ps" },
        { .key = "longest_ps" },
        { .title = "Inside analyzed steps", .key = "inside_steps.count" },
        { .title = "Time inside analyzed steps", .key = "inside_steps.total_ps" },
        { .key = "source", .shape = TM_WIDE },
    };

    tm_emit_facts(content, "compile-facts", TM_FACTS(facts), "compile");
}

static void emit_again(const struct tm_content *content)
{
    static const struct tm_column again[] = {
        { .key = "module" },
        { .key = "count", .shape = TM_SUMS },
    };
    static const struct tm_column programs[] = {
        { .key = "module" },
        { .key = "program_id" },
        { .key = "shapes" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "compile-again",
                                               .caption = "Modules compiled more than once",
                                               TM_COLUMNS(again),
                                               .list = "compile.recompiled",
                                               .paper_rows = 10 });
    tm_emit_table(content, &(struct tm_table){ .id = "compile-programs",
                                               .caption = "Modules with several programs",
                                               TM_COLUMNS(programs),
                                               .list = "compile.programs",
                                               .paper_rows = 10 });
}

static void emit_events(const struct tm_content *content, const struct tm_value *compile)
{
    static const struct tm_column columns[] = {
        { .key = "module" }, { .key = "host" },   { .key = "begin_ps" }, { .key = "dur_ps", .shape = TM_SUMS },
        { .key = "step" },   { .key = "shapes" },
    };
    const struct tm_value *events = tm_get(compile, "events");
    size_t pick[EVENTS_MOST];
    const size_t n = tm_pick_largest(events, "dur_ps", NULL, EVENTS_MOST, pick);

    tm_emit_table(content, &(struct tm_table){ .id = "compiles",
                                               .caption = "Compiles, longest first",
                                               TM_COLUMNS(columns),
                                               .list = "compile.events",
                                               .pick = pick,
                                               .picks = n });
}

static void emit_compile(const struct tm_content *content)
{
    const struct tm_value *compile = tm_of(content, "compile");

    emit_compile_facts(content);
    emit_again(content);
    emit_events(content, compile);
}

static const char *no_compilations(const struct tm_value *summary)
{
    return tm_if_none(summary, "compile.count", "nothing was compiled while the profile was taken");
}

const struct tm_section tm_compile_section = {
    .id = "compile", .title = "Compilation", .key = "compile", .say = emit_compile, .nothing = no_compilations
};

enum { FACTS_MOST = 16, PARTS_MOST = 32, SLOWEST_MOST = 100, SLOWEST_LEAST = 2 };

struct facts {
    struct tm_column column[FACTS_MOST];
    size_t count;
};

static void add_facts(struct facts *facts, const struct tm_column *columns, size_t count)
{
    for (size_t i = 0; i < count && facts->count < FACTS_MOST; i++)
        facts->column[facts->count++] = columns[i];
}

/* Of one step there is a length, of several a distribution. */
static void emit_step_facts(const struct tm_content *content, const struct tm_value *steps)
{
    static const struct tm_column first[] = {
        { "Steps are", "source", TM_CELL_SOURCE },
        { .key = "count" },
        { .key = "chosen" },
        { .key = "warmup", .shape = TM_RARE },
        { .key = "incomplete", .shape = TM_RARE },
    };
    static const struct tm_column module[] = { { .key = "module" } };
    static const struct tm_column one[] = { { .title = "Length", .key = "median_ps" } };
    static const struct tm_column several[] = {
        { .key = "median_ps" }, { .key = "mean_ps" }, { .key = "stddev_ps" }, { .key = "p90_ps" },
        { .key = "p95_ps" },    { .key = "min_ps" },  { .key = "max_ps" },
    };
    const bool is_data = content->medium->room.is_data;
    struct facts facts = { .count = 0 };

    add_facts(&facts, TM_FACTS(first));
    if (is_data || tm_has(tm_get(steps, "module")))
        add_facts(&facts, TM_FACTS(module));
    if (!is_data && tm_int(tm_get(steps, "chosen")) == 1)
        add_facts(&facts, TM_FACTS(one));
    else
        add_facts(&facts, TM_FACTS(several));
    tm_emit_facts(content, "step-facts", facts.column, facts.count, "steps");
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
    row[1] = tm_cell_of_value(TM_CELL_TIME, part);
    row[2] = tm_cell_of_share(part, parts->total);
}

static void emit_parts(const struct tm_content *content, const struct tm_value *steps)
{
    static const struct tm_column columns[] = {
        { "Part", "part", TM_CELL_WORD },
        { "Time", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    const struct tm_value *of = tm_get(steps, "parts"), *copies = tm_get(of, "exposed_copy_ps"),
                          *idle = tm_get(of, "idle_ps");
    struct parts parts = { .total = tm_get(of, "total_ps") };

    add_part(&parts, tm_cell_of_text(TM_CELL_WORD, "compute"), tm_get(of, "compute_ps"));
    add_part(&parts, tm_cell_of_text(TM_CELL_WORD, "exposed collectives"), tm_get(of, "exposed_collective_ps"));
    for (size_t i = 0; i < tm_length(copies); i++)
        add_part(&parts, tm_cell_of_text(TM_CELL_WORD, tm_palette[tm_role_of_direction(tm_key_at(copies, i))].label),
                 tm_value_at(copies, i));
    for (size_t i = 0; i < tm_length(idle); i++)
        add_part(&parts, tm_cell_of_text(TM_CELL_WORD, tm_palette[tm_role_of_cause(tm_key_at(idle, i))].label),
                 tm_value_at(idle, i));
    tm_emit_table(content, &(struct tm_table){ .id = "step-parts",
                                               .caption = "What the analyzed steps are made of, all devices",
                                               TM_COLUMNS(columns),
                                               .cells = parts.cell[0],
                                               .cell_rows = parts.count,
                                               .total = of,
                                               .total_title = "all analyzed steps, all devices",
                                               .paper_rows = PARTS_MOST });
}

/* --- the slowest --- */

static void emit_slowest(const struct tm_content *content, const struct tm_value *steps)
{
    static const struct tm_column columns[] = {
        { .key = "number" },
        { .key = "host" },
        { .key = "period_ps" },
        { .key = "busy_ps" },
        { .key = "compute_ps" },
        { .key = "exposed_collective_ps", .shape = TM_RARE },
        { .key = "host_span_ps" },
        { .key = "device_span_ps", .shape = TM_WIDE },
        { .key = "begin_ps", .shape = TM_WIDE },
        { .key = "launches", .shape = TM_WIDE },
        { .key = "compile", .shape = TM_RARE },
        { .key = "device", .shape = TM_WIDE },
    };
    const struct tm_value *list = tm_get(steps, "list");
    const bool by_host = strcmp(tm_text(tm_get(steps, "basis")), "host_span") == 0;
    size_t pick[SLOWEST_MOST];
    const size_t n = tm_pick_largest(list, by_host ? "host_span_ps" : "period_ps", "chosen", SLOWEST_MOST, pick);

    if (n >= SLOWEST_LEAST)
        tm_emit_table(content, &(struct tm_table){ .id = "steps-slowest",
                                                   .caption = "Slowest analyzed steps",
                                                   TM_COLUMNS(columns),
                                                   .list = "steps.list",
                                                   .pick = pick,
                                                   .picks = n,
                                                   .is_only_picked = true,
                                                   .paper_rows = 10 });
}

static void emit_steps(const struct tm_content *content)
{
    static const struct tm_column skipped[] = {
        { .key = "number" },
        { .key = "host" },
        { .key = "reason" },
    };
    const struct tm_value *steps = tm_of(content, "steps");

    tm_emit_charts(content, TM_CHART_STEPS);
    tm_emit_charts(content, TM_CHART_STEP_TIMES);
    emit_step_facts(content, steps);
    emit_parts(content, steps);
    emit_slowest(content, steps);
    tm_emit_table(content, &(struct tm_table){ .id = "steps-skipped",
                                               .caption = "Steps that are in no figure",
                                               TM_COLUMNS(skipped),
                                               .list = "steps.skipped" });
}

const struct tm_section tm_steps_section = { .id = "steps", .title = "Steps", .key = "steps", .say = emit_steps };

/* Idle gaps: what they are attributed to, how long they are, the longest ones. */

enum { CAUSES_MOST = 16, LONGEST_ON_PAPER = 12, BINS_ON_PAPER = 64, TITLE_BYTES = 64 };

/* Something is attributed to it. */
static bool is_cause(const struct tm_value *cause)
{
    return tm_int(tm_get(cause, "count")) != 0 || tm_int(tm_get(cause, "total_ps")) != 0;
}

static void emit_causes(const struct tm_content *content, const struct tm_value *gaps)
{
    static const struct tm_column columns[] = {
        { "Cause", "", TM_CELL_CAUSE },         { .key = "total_ps" }, { .key = "share_pct" }, { .key = "count" },
        { .key = "main_ps", .shape = TM_WIDE },
    };
    const struct tm_value *causes = tm_get(gaps, "by_cause");
    size_t pick[CAUSES_MOST], n = 0;

    for (size_t i = 0; i < tm_length(causes) && n < CAUSES_MOST; i++)
        if (is_cause(tm_value_at(causes, i)))
            pick[n++] = i;
    tm_emit_table(content, &(struct tm_table){ .id = "gap-causes",
                                               .caption = "Idle time by cause",
                                               TM_COLUMNS(columns),
                                               .list = "gaps.by_cause",
                                               .pick = pick,
                                               .picks = n,
                                               .is_only_picked = true,
                                               .total = gaps,
                                               .total_title = "all idle time",
                                               .repeats_chart = true });
    if (n > 0)
        tm_emit(content, TM_TONE_QUIET,
                "The time of a gap is split between its causes; the gap itself is counted with the largest of them.");
}

/* Gaps before the next operation or two: what eager dispatch is judged by. */
static void emit_short(const struct tm_content *content, const struct tm_value *shorter)
{
    static const struct tm_column columns[] = {
        { "Cause", "", TM_CELL_CAUSE },
        { .key = "total_ps" },
        { .key = "count" },
    };
    const struct tm_value *causes = tm_get(shorter, "by_cause");
    size_t pick[CAUSES_MOST], n = 0;
    char from[TM_FORMAT_BYTES], below[TM_FORMAT_BYTES], caption[2 * TM_FORMAT_BYTES + TITLE_BYTES];

    for (size_t i = 0; i < tm_length(causes) && n < CAUSES_MOST; i++)
        if (is_cause(tm_value_at(causes, i)))
            pick[n++] = i;
    if (!n)
        return;
    (void)snprintf(caption, sizeof(caption), "Gaps of %s to %s by cause",
                   tm_format_time(from, tm_int(tm_get(shorter, "from_ps"))),
                   tm_format_time(below, tm_int(tm_get(shorter, "below_ps"))));
    tm_emit_table(content, &(struct tm_table){ .id = "gap-short",
                                               .caption = caption,
                                               TM_COLUMNS(columns),
                                               .list = "gaps.short.by_cause",
                                               .pick = pick,
                                               .picks = n,
                                               .is_only_picked = true });
}

static void emit_gap_facts(const struct tm_content *content, const struct tm_value *gaps)
{
    const struct tm_value *least = tm_get(gaps, "gap_min_ps");
    char time[TM_FORMAT_BYTES], long_gaps[TITLE_BYTES];
    const struct tm_column facts[] = {
        { .key = "count" },           { .title = long_gaps, .key = "count_min" },
        { .key = "total_ps" },        { .key = "pauses.count" },
        { .key = "pauses.total_ps" },
    };

    (void)snprintf(long_gaps, sizeof(long_gaps), "Of %s or more",
                   tm_has(least) ? tm_format_time(time, tm_int(least)) : "the least length");
    tm_emit_facts(content, "gap-facts", TM_FACTS(facts), "gaps");
}

/* What is no wait: the short pauses of device_wait. */
static void emit_pauses(const struct tm_content *content, const struct tm_value *pauses)
{
    char below[TM_FORMAT_BYTES];

    if (tm_int(tm_get(pauses, "count")) > 0 && tm_has(tm_get(pauses, "below_ps")))
        tm_emit(content, TM_TONE_QUIET,
                "Pauses are the gaps under %s before a piece of work that had been launched already; they are part of "
                "the gaps.",
                tm_format_time(below, tm_int(tm_get(pauses, "below_ps"))));
}

static void emit_lengths(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "from_ps" },
        { .key = "to_ps" },
        { .key = "count" },
        { .key = "total_ps" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "gap-lengths",
                                               .caption = "Long gaps by length",
                                               TM_COLUMNS(columns),
                                               .list = "gaps.histogram",
                                               .paper_rows = BINS_ON_PAPER,
                                               .repeats_chart = true });
}

static void emit_longest(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "begin_ps" },
        { .key = "dur_ps" },
        { .key = "device" },
        { .key = "step" },
        { .key = "cause" },
        { .key = "host_event" },
        { .key = "host_thread", .shape = TM_WIDE },
        { .key = "calls.usual_ps", .shape = TM_WIDE },
        { .title = "Launch call", .key = "launch.dur_ps", .shape = TM_WIDE },
        { .key = "before", .shape = TM_WIDE },
        { .key = "after" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "gaps-longest",
                                               .caption = "Longest gaps and what the host did meanwhile",
                                               TM_COLUMNS(columns),
                                               .list = "gaps.longest",
                                               .paper_rows = LONGEST_ON_PAPER });
}

static void emit_gaps(const struct tm_content *content)
{
    const struct tm_value *gaps = tm_of(content, "gaps");

    tm_emit_charts(content, TM_CHART_CAUSES);
    emit_causes(content, gaps);
    emit_gap_facts(content, gaps);
    emit_pauses(content, tm_get(gaps, "pauses"));
    emit_short(content, tm_get(gaps, "short"));
    tm_emit_charts(content, TM_CHART_GAPS);
    emit_lengths(content);
    emit_longest(content);
}

static const char *no_gaps(const struct tm_value *summary)
{
    return tm_if_none(summary, "gaps.count", "there is no gap between the activities of a device");
}

const struct tm_section tm_gaps_section = {
    .id = "gaps", .title = "Idle gaps", .key = "gaps", .say = emit_gaps, .nothing = no_gaps
};

/* Host: what it costs the devices, what it waits for, what its functions and threads do. */

enum { OVERHEAD_FACTS = 2 };

static void emit_host_facts(const struct tm_content *content, const struct tm_value *host)
{
    static const struct tm_column facts[] = {
        { .key = "overhead_pct" },
        { .key = "overhead_ps" },
        { .key = "launches.count" },
        { .key = "launches.per_step" },
        { .key = "launches.unknown_count", .shape = TM_WIDE | TM_RARE },
        { .key = "launch_delay.p50_ps" },
        { .key = "launch_delay.p95_ps" },
        { .key = "launch_delay.max_ps" },
        { .key = "launch_delay.negative", .shape = TM_WIDE | TM_RARE },
        { .key = "queue_empty.total_ps" },
        { .key = "queue_empty.share_pct" },
        { .key = "eager.programs_per_step" },
        { .key = "eager.single_op_programs_pct" },
        { .key = "eager.launch_gap_ps", .shape = TM_RARE },
        { .key = "eager.small_kernel_ps", .shape = TM_RARE },
        { .key = "eager.host_ps", .shape = TM_RARE },
        { .key = "sync.count" },
        { .key = "sync.total_ps", .shape = TM_RARE },
    };
    static const char *const parts[][2] = { { "overhead_pct", "Host overhead" },
                                            { "launches", "Launches" },
                                            { "launch_delay", "Launch to begin" },
                                            { "queue_empty", "Idle with nothing launched" },
                                            { "sync", "Waits for the device" } };

    const size_t known = tm_has(tm_get(host, "overhead_pct")) ? 0 : OVERHEAD_FACTS;

    tm_emit_facts(content, "host-facts", facts + known, sizeof(facts) / sizeof(facts[0]) - known, "host");
    tm_emit_nulls(content, host, parts, sizeof(parts) / sizeof(parts[0]));
}

static void emit_waits(const struct tm_content *content, const struct tm_value *sync)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "caller" },
        { .key = "annotation", .shape = TM_WIDE },
        { .key = "count", .shape = TM_SUMS },
        { .key = "total_ps", .shape = TM_SUMS },
        { .key = "longest_ps" },
        { .key = "longest_begin_ps" },
        { .key = "host", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "host-waits",
                                               .caption = "Where the host waits for the device or for a result",
                                               TM_COLUMNS(columns),
                                               .list = "host.sync.rows",
                                               .rest = tm_get(sync, "rest"),
                                               .total = sync,
                                               .total_title = "all waits",
                                               .paper_rows = 8 });
}

static void emit_empty_queues(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "device" },
        { .key = "begin_ps" },
        { .key = "dur_ps" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "host-queue-empty",
                                               .caption = "Longest stretches with nothing launched",
                                               TM_COLUMNS(columns),
                                               .list = "host.queue_empty.longest",
                                               .paper_rows = 5 });
}

static void emit_calls(const struct tm_content *content, const struct tm_value *host)
{
    static const struct tm_column functions[] = {
        { .title = "Function", .key = "name" },
        { .key = "count", .shape = TM_SUMS },
        { .key = "self_ps", .shape = TM_SUMS },
        { .key = "total_ps" },
    };
    static const struct tm_column annotations[] = {
        { .title = "Annotation", .key = "name" },
        { .key = "count", .shape = TM_SUMS },
        { .key = "self_ps", .shape = TM_SUMS },
        { .key = "total_ps" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "host-functions",
                                               .caption = "Python functions by self time",
                                               TM_COLUMNS(functions),
                                               .list = "host.python",
                                               .rest = tm_get(host, "python_rest"),
                                               .paper_rows = 10 });
    tm_emit_table(content, &(struct tm_table){ .id = "host-annotations",
                                               .caption = "Annotations by self time",
                                               TM_COLUMNS(annotations),
                                               .list = "host.annotations",
                                               .rest = tm_get(host, "annotations_rest"),
                                               .paper_rows = 8 });
}

static void emit_threads(const struct tm_content *content, const struct tm_value *host)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "host" },
        { .key = "is_main" },
        { .key = "busy_ps", .shape = TM_SUMS },
        { .key = "share_pct" },
        { .key = "events", .shape = TM_SUMS },
        { .key = "ops", .shape = TM_RARE },
        { .key = "op_ps", .shape = TM_RARE },
        { .key = "first_ps", .shape = TM_WIDE },
        { .key = "last_ps", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "host-threads",
                                               .caption = "Threads by busy time",
                                               TM_COLUMNS(columns),
                                               .list = "host.threads",
                                               .rest = tm_get(host, "threads_rest"),
                                               .paper_rows = 12 });
}

static void emit_host(const struct tm_content *content)
{
    const struct tm_value *host = tm_of(content, "host");

    emit_host_facts(content, host);
    emit_waits(content, tm_get(host, "sync"));
    emit_empty_queues(content);
    emit_calls(content, host);
    emit_threads(content, host);
}

const struct tm_section tm_host_section = { .id = "host", .title = "Host", .key = "host", .say = emit_host };

/* CPU fallback: what ran on the host that a device could have run, and data that went there and back. */

static void emit_fallback_facts(const struct tm_content *content, const struct tm_value *fallback)
{
    static const struct tm_column facts[] = {
        { .title = "Calls back to the host", .key = "callbacks.count", .shape = TM_RARE },
        { .title = "Time in calls back", .key = "callbacks.total_ps", .shape = TM_RARE },
        { .title = "Operations run on the host", .key = "cpu_ops.count", .shape = TM_RARE },
        { .title = "Time in operations on the host", .key = "cpu_ops.total_ps", .shape = TM_RARE },
        { .title = "Device operations that work with the host", .key = "host_ops.count", .shape = TM_RARE },
        { .title = "Time in operations with the host", .key = "host_ops.total_ps", .shape = TM_RARE },
        { .key = "round_trips.count", .shape = TM_RARE },
        { .key = "round_trips.host_ps", .shape = TM_RARE },
    };
    static const char *const parts[][2] = { { "cpu_ops", "Operations run on the host" },
                                            { "host_ops", "Device operations that work with the host" },
                                            { "round_trips", "Round trips over the host" } };

    tm_emit_facts(content, "fallback-facts", TM_FACTS(facts), "fallback");
    tm_emit_nulls(content, fallback, parts, sizeof(parts) / sizeof(parts[0]));
}

static void emit_callbacks(const struct tm_content *content, const struct tm_value *callbacks)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "kind" },
        { .key = "op", .shape = TM_WIDE },
        { .key = "count", .shape = TM_SUMS },
        { .key = "total_ps", .shape = TM_SUMS },
        { .key = "longest_ps" },
        { .key = "begin_ps" },
        { .key = "host", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "fallback-callbacks",
                                               .caption = "Calls of the program back to the host",
                                               TM_COLUMNS(columns),
                                               .list = "fallback.callbacks.rows",
                                               .rest = tm_get(callbacks, "rest"),
                                               .total = callbacks,
                                               .total_title = "all calls back",
                                               .paper_rows = 8 });
}

static void emit_operations(const struct tm_content *content, const struct tm_value *of, const char *id,
                            const char *caption)
{
    static const struct tm_column columns[] = {
        { "Operation", "name", TM_CELL_NAME },         { "Op", "op", TM_CELL_NAME | TM_WIDE },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS }, { "Time", "total_ps", TM_CELL_TIME | TM_SUMS },
        { "Longest", "longest_ps", TM_CELL_TIME },     { "At", "begin_ps", TM_CELL_MOMENT },
        { "Host", "host", TM_CELL_HOST | TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = id,
                                               .caption = caption,
                                               TM_COLUMNS(columns),
                                               .rows = tm_get(of, "rows"),
                                               .rest = tm_get(of, "rest"),
                                               .total = of,
                                               .total_title = "all of them",
                                               .paper_rows = 8 });
}

static void emit_trips(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "device" }, { .key = "begin_ps" }, { .key = "dur_ps" }, { .key = "bytes" }, { .key = "host_event" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "fallback-round-trips",
                                               .caption = "Longest round trips over the host",
                                               TM_COLUMNS(columns),
                                               .list = "fallback.round_trips.longest",
                                               .paper_rows = 5 });
}

static void emit_fallback(const struct tm_content *content)
{
    const struct tm_value *fallback = tm_of(content, "fallback");

    emit_fallback_facts(content, fallback);
    emit_callbacks(content, tm_get(fallback, "callbacks"));
    emit_operations(content, tm_get(fallback, "cpu_ops"), "fallback-cpu-ops", "Operations that ran on the host");
    emit_operations(content, tm_get(fallback, "host_ops"), "fallback-host-ops",
                    "Operations of the device that work with the host");
    emit_trips(content);
}

static const char *no_fallback(const struct tm_value *summary)
{
    static const char *const counts[] = { "fallback.callbacks.count", "fallback.cpu_ops.count",
                                          "fallback.host_ops.count", "fallback.round_trips.count" };

    if (tm_query_is_without_fallback(summary))
        return TM_NO_FALLBACK;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (tm_int(tm_path(summary, counts[i])) > 0)
            return "";
    return "nothing of it was found, as far as the profile tells";
}

const struct tm_section tm_fallback_section = {
    .id = "fallback", .title = "CPU fallback", .key = "fallback", .say = emit_fallback, .nothing = no_fallback
};
