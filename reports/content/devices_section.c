/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: what each one's time went to, what ran on it, what it waited for. */
#include <stdlib.h>
#include <string.h>

#include "reports/content/say.h"
#include "reports/format/platforms.h"

enum { DEVICES_ON_PAPER = 40, UNUSED_ON_PAPER = 8 };

/* The sum over devices, where there are several. */
static const struct tm_value *total_of(const struct tm_content *content, const struct tm_value *devices)
{
    return tm_length(devices) > 1 ? tm_of(content, "total") : NULL;
}

/* --rows: devices[] of the summary has all of them, since other figures tell of them. */
static size_t rows_asked(const struct tm_content *content)
{
    return (size_t)strtoull(tm_text(tm_get(tm_of(content, "settings"), "rows")), NULL, 10);
}

/* Devices of which whole graphs are one event. */
static size_t graph_devices(const struct tm_value *devices)
{
    size_t count = 0;

    for (size_t i = 0; i < tm_length(devices); i++)
        count += strcmp(tm_text(tm_get(tm_at(devices, i), "reliability")), "graph") == 0;
    return count;
}

static void say_time(const struct tm_content *content, const struct tm_value *devices)
{
    static const struct tm_column columns[] = {
        { "Device", "id", TM_CELL_DEVICE },
        { "Utilization", "utilization_pct", TM_CELL_PCT },
        { "Span", "span_ps", TM_CELL_TIME | TM_WIDE },
        { "Busy", "busy_ps", TM_CELL_TIME },
        { "Compute", "compute_ps", TM_CELL_TIME },
        { "Exposed collectives", "exposed_collective_ps", TM_CELL_TIME | TM_RARE },
        { "Exposed copies", "exposed_copy_ps", TM_CELL_TIME | TM_RARE },
        { "Idle", "idle_ps", TM_CELL_TIME },
        { "Idle before first activity", "lead_ps", TM_CELL_TIME | TM_WIDE | TM_RARE },
        { "Idle after last activity", "trail_ps", TM_CELL_TIME | TM_WIDE | TM_RARE },
        { "Seen as", "reliability", TM_CELL_TERM | TM_WIDE },
    };
    const size_t all = sizeof(columns) / sizeof(columns[0]);

    tm_say_table(content, &(struct tm_table){ .id = "devices",
                                              .caption = "Device time in the analyzed steps",
                                              .column = columns,
                                              .columns = graph_devices(devices) > 0 ? all : all - 1,
                                              .rows = devices,
                                              .total = total_of(content, devices),
                                              .total_title = "all devices",
                                              .screen_rows = rows_asked(content),
                                              .paper_rows = DEVICES_ON_PAPER });
}

/* Where whole graphs are one event, their pauses are not seen: the idle time is too low. */
static void warn_of_graphs(const struct tm_content *content, const struct tm_value *devices)
{
    const size_t count = graph_devices(devices);

    if (count)
        tm_say(content, TM_TONE_WARNING,
               "Whole graphs are one event on %zu of %zu devices: pauses inside a graph are not seen, so that their "
               "busy time is too high and their idle time unreliable.",
               count, tm_length(devices));
}

static void say_activities(const struct tm_content *content, const struct tm_value *devices)
{
    const struct tm_column columns[] = {
        { "Device", "id", TM_CELL_DEVICE },
        { "Activities", "activities", TM_CELL_COUNT },
        { tm_is_for("gpu", content->summary) ? "Kernels" : "Operations", "kernels.count", TM_CELL_COUNT },
        { "Graphs", "graphs.count", TM_CELL_COUNT | TM_WIDE | TM_RARE },
        { "Collectives", "collectives.count", TM_CELL_COUNT | TM_RARE },
        { "Copies", "copies.count", TM_CELL_COUNT | TM_RARE },
        { "Copied", "copies.bytes", TM_CELL_BYTES | TM_RARE },
        { "Memsets", "memsets.count", TM_CELL_COUNT | TM_WIDE | TM_RARE },
        { "Gaps", "gaps.count", TM_CELL_COUNT },
        { "Long gaps", "gaps.count_min", TM_CELL_COUNT },
        { "Longest gap", "gaps.longest[0].dur_ps", TM_CELL_TIME },
    };

    tm_say_table(content, &(struct tm_table){ .id = "device-activities",
                                              .caption = "What ran on the devices",
                                              TM_COLUMNS(columns),
                                              .rows = devices,
                                              .screen_rows = rows_asked(content),
                                              .paper_rows = DEVICES_ON_PAPER });
}

/* TPUs record what they waited for and what was in flight; other devices do not. */
static void say_waits(const struct tm_content *content, const struct tm_value *devices)
{
    static const struct tm_column columns[] = {
        { "Device", "id", TM_CELL_DEVICE },
        { "Waits", "wait_ps", TM_CELL_TIME },
        { "For copies", "wait_copy_ps", TM_CELL_TIME | TM_RARE },
        { "For collectives", "wait_collective_ps", TM_CELL_TIME | TM_RARE },
        { "For the host", "wait_host_ps", TM_CELL_TIME | TM_RARE },
        { "In flight", "in_flight_ps", TM_CELL_TIME },
        { "Hidden", "hidden_ps", TM_CELL_TIME },
    };
    bool is_any = false;

    for (size_t i = 0; i < tm_length(devices) && !is_any; i++)
        is_any = tm_has(tm_get(tm_at(devices, i), "wait_ps"));
    if (!is_any)
        return;
    tm_say_table(content, &(struct tm_table){ .id = "device-waits",
                                              .caption = "Waits inside the busy time",
                                              TM_COLUMNS(columns),
                                              .rows = devices,
                                              .screen_rows = rows_asked(content),
                                              .paper_rows = DEVICES_ON_PAPER });
    tm_say(content, TM_TONE_QUIET,
           "Utilization does not count these waits. In flight: copies and collectives that run beside the computing. "
           "Hidden: what of them ran while the device computed.");
}

static void say_unused(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Device without activity", "name", TM_CELL_NAME },
        { "Host", "host", TM_CELL_HOST },
    };

    tm_say_table(content, &(struct tm_table){ .id = "devices-unused",
                                              .caption = "Devices that did nothing",
                                              TM_COLUMNS(columns),
                                              .rows = tm_of(content, "unused"),
                                              .screen_rows = rows_asked(content),
                                              .paper_rows = UNUSED_ON_PAPER });
}

static void say_devices(const struct tm_content *content)
{
    const struct tm_value *devices = tm_of(content, "devices");

    tm_say_charts(content, TM_CHART_DEVICES);
    tm_say_charts(content, TM_CHART_UTILIZATION);
    say_time(content, devices);
    warn_of_graphs(content, devices);
    say_activities(content, devices);
    say_waits(content, devices);
    say_unused(content);
}

static const char *nothing(const struct tm_value *summary)
{
    const bool is_any = tm_length(tm_get(summary, "devices")) > 0 || tm_length(tm_get(summary, "unused")) > 0;

    return is_any ? "" : "the profile holds no activity of a device";
}

const struct tm_section tm_devices_section = { "devices", "Devices", "devices", say_devices, nothing };
