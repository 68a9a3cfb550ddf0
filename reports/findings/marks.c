/* SPDX-License-Identifier: Apache-2.0 */
/* What the losses of an input touch.  One table: a loss, how the summary tells it, and the sections and key figures
 * that may be wrong for it.  Definitions: docs/metrics.md, "Marks". */
#include "reports/findings/findings.h"

#include <stdio.h>
#include <string.h>

#include "reports/findings/ask.h"
#include "reports/findings/thresholds.h"
#include "reports/format/format.h"

enum { TEXT_BYTES = 400 };

/* What a loss touches, in bits of `groups`. */
enum group {
    DEVICE = 1,      /* what devices did, and when */
    GRAPHED = 2,     /* what would be told of the kernels in a graph */
    HOST = 4,        /* what the host did, and when */
    COMPILING = 8,
    MEMORY = 16,
    COSTS = 32,      /* what is known of operations beside their time */
    CAUSES = 64,     /* why devices were idle */
    ALL = DEVICE | HOST | COMPILING | MEMORY | COSTS | CAUSES,
};

/* In the order of the summary, and of the KPI table. */
static const struct {
    const char *name;
    unsigned groups;
} sections[] = {
    { "steps", DEVICE | HOST },
    { "devices", DEVICE | GRAPHED },
    { "total", DEVICE | GRAPHED },
    { "gaps", DEVICE | GRAPHED | HOST | CAUSES },
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

/* --- how the summary tells a loss --- */

static int64_t tally_of(const struct tm_value *summary, const char *name)
{
    return tm_int(tm_get(tm_get(tm_path(summary, "coverage.tallies"), name), "count"));
}

static void tell_event_cap(const struct tm_value *summary, char text[TEXT_BYTES])
{
    if (tally_of(summary, "event-cap") > 0)
        tm_format_append(text, TEXT_BYTES,
                         "a JSON file holds exactly as many events as its writer stops at: what came later is missing");
}

static void tell_device_cap(const struct tm_value *summary, char text[TEXT_BYTES])
{
    const struct tm_value *host = tm_ask_capped_host(summary);
    char count[TM_FORMAT_BYTES], name[TM_SHORT_NAME_BYTES];

    if (host)
        tm_format_append(text, TEXT_BYTES,
                         "%s has exactly %s device events, where the profiler stops: what came later is missing and looks "
                     "idle",
               tm_short_name(name, tm_text(tm_get(host, "host"))),
               tm_format_count(count, tm_int(tm_get(host, "device_events"))));
}

/* The first warning that is of events dropped, or that is not. */
static void tell_warning(const struct tm_value *summary, bool of_drops, const char *words, char text[TEXT_BYTES])
{
    const struct tm_value *warnings = tm_path(summary, "coverage.warnings");
    const char *first = NULL;
    char shown[TM_SHORT_NAME_BYTES];
    size_t count = 0;

    for (size_t i = 0; i < tm_length(warnings); i++) {
        const char *warning = tm_text(tm_at(warnings, i));

        if (tm_ask_says_dropped(warning) != of_drops)
            continue;
        first = first ? first : warning;
        count++;
    }
    if (!first)
        return;
    tm_format_append(text, TEXT_BYTES, "%s: '%s'", words, tm_short_name(shown, first));
    if (count > 1)
        tm_format_append(text, TEXT_BYTES, " (and %zu more)", count - 1);
}

static void tell_dropped(const struct tm_value *summary, char text[TEXT_BYTES])
{
    tell_warning(summary, true, "the profiler dropped events", text);
}

static void tell_warned(const struct tm_value *summary, char text[TEXT_BYTES])
{
    tell_warning(summary, false, "the profiler left a warning", text);
}

static void tell_graphs(const struct tm_value *summary, char text[TEXT_BYTES])
{
    const struct tm_value *devices = tm_get(summary, "devices");
    size_t count = 0;

    for (size_t i = 0; i < tm_length(devices); i++)
        count += !strcmp(tm_text(tm_get(tm_at(devices, i), "reliability")), "graph");
    if (count)
        tm_format_append(text, TEXT_BYTES,
                         "graphs on %zu device%s were recorded as one event each: their kernels, and the pauses between "
                     "them, count as computing",
               count, tm_format_plural(count));
}

/* A file that its writer's cap ended is partial too, and has a mark of its own. */
static void tell_damage(const struct tm_value *summary, char text[TEXT_BYTES])
{
    const struct tm_value *files = tm_path(summary, "input.files");
    int64_t damaged = -tally_of(summary, "event-cap");

    for (size_t i = 0; i < tm_length(files); i++) {
        const size_t problems = tm_length(tm_get(tm_at(files, i), "problems"));

        damaged += problems ? (int64_t)problems : tm_is(tm_get(tm_at(files, i), "partial"));
    }
    if (damaged > 0)
        tm_format_append(text, TEXT_BYTES, "the input is damaged or cut short: this is of what could be read");
}

static void tell_copy(const struct tm_value *summary, char text[TEXT_BYTES])
{
    if (tm_ask_copy_note(summary))
        tm_format_append(text, TEXT_BYTES, "read from JAX's JSON, a copy of the profile that lacks a part of it");
}

static bool is_loss_of_events(const struct tm_value *tallies, size_t at)
{
    static const char *const others[] = { "cut-short", "event-cap" }; /* marks of their own */
    const char *name = tm_key_at(tallies, at);

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(others[i], name) == 0)
            return false;
    return strcmp(tm_text(tm_get(tm_value_at(tallies, at), "level")), "loss") == 0;
}

static void tell_losses(const struct tm_value *summary, char text[TEXT_BYTES])
{
    const struct tm_value *tallies = tm_path(summary, "coverage.tallies");
    char count[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(tallies); i++)
        if (is_loss_of_events(tallies, i))
            tm_format_append(text, TEXT_BYTES, "%s%s (%s)", text[0] ? ", " : "events with losses: ",
                   tm_format_count(count, tm_int(tm_get(tm_value_at(tallies, i), "count"))), tm_key_at(tallies, i));
}

static void tell_nesting(const struct tm_value *summary, char text[TEXT_BYTES])
{
    char count[TM_FORMAT_BYTES];

    if (tally_of(summary, "deep-nesting") > 0)
        tm_format_append(text, TEXT_BYTES,
                         "%s spans lay too deep in others to be followed: causes and self times may be of those around "
                     "them",
               tm_format_count(count, tally_of(summary, "deep-nesting")));
}

/* --- the marks --- */

/* Appends the sentence, where there is something to tell. */
typedef void tell_fn(const struct tm_value *summary, char text[TEXT_BYTES]);

static const struct {
    const char *id;
    unsigned groups;
    tell_fn *tell;
} marks[] = {
    { "damaged", ALL, tell_damage },
    { "event_cap", ALL, tell_event_cap },
    { "device_event_cap", DEVICE, tell_device_cap },
    { "events_dropped", DEVICE | HOST, tell_dropped },
    { "profiler_warning", DEVICE | HOST, tell_warned },
    { "graphs_collapsed", GRAPHED, tell_graphs },
    { "events_lost", ALL, tell_losses },
    { "lossy_copy", COSTS | MEMORY, tell_copy },
    { "deep_nesting", CAUSES, tell_nesting },
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
        char text[TEXT_BYTES] = "";

        marks[i].tell(summary, text);
        if (text[0])
            add_mark(list, i, text);
    }
    return run->error.status;
}
