/* SPDX-License-Identifier: Apache-2.0 */
/* CPU fallback: what ran on the host that a device could have run, and data that went there and back. */
#include "reports/content/say.h"
#include "reports/findings/ask.h"

static void say_facts(const struct tm_content *content, const struct tm_value *fallback)
{
    static const struct tm_column facts[] = {
        { "Calls back to the host", "callbacks.count", TM_CELL_COUNT | TM_RARE },
        { "Time in calls back", "callbacks.total_ps", TM_CELL_TIME | TM_RARE },
        { "Operations run on the host", "cpu_ops.count", TM_CELL_COUNT | TM_RARE },
        { "Time in operations on the host", "cpu_ops.total_ps", TM_CELL_TIME | TM_RARE },
        { "Device operations that work with the host", "host_ops.count", TM_CELL_COUNT | TM_RARE },
        { "Time in operations with the host", "host_ops.total_ps", TM_CELL_TIME | TM_RARE },
        { "Round trips over the host", "round_trips.count", TM_CELL_COUNT | TM_RARE },
        { "Idle time in round trips", "round_trips.host_ps", TM_CELL_TIME | TM_RARE },
    };
    static const char *const parts[][2] = { { "cpu_ops", "Operations run on the host" },
                                            { "host_ops", "Device operations that work with the host" },
                                            { "round_trips", "Round trips over the host" } };

    tm_say_facts(content, "fallback-facts", TM_FACTS(facts), fallback);
    tm_say_nulls(content, fallback, parts, sizeof(parts) / sizeof(parts[0]));
}

static void say_callbacks(const struct tm_content *content, const struct tm_value *callbacks)
{
    static const struct tm_column columns[] = {
        { "Function", "name", TM_CELL_NAME },
        { "Kind", "kind", TM_CELL_WORD },
        { "Op", "op", TM_CELL_NAME | TM_WIDE },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Time", "total_ps", TM_CELL_TIME | TM_SUMS },
        { "Longest", "longest_ps", TM_CELL_TIME },
        { "At", "begin_ps", TM_CELL_MOMENT },
        { "Host", "host", TM_CELL_HOST | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "fallback-callbacks",
                                              .caption = "Calls of the program back to the host",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(callbacks, "rows"),
                                              .rest = tm_get(callbacks, "rest"),
                                              .total = callbacks,
                                              .total_title = "all calls back",
                                              .paper_rows = 8 });
}

static void say_operations(const struct tm_content *content, const struct tm_value *of, const char *id,
                           const char *caption)
{
    static const struct tm_column columns[] = {
        { "Operation", "name", TM_CELL_NAME },
        { "Op", "op", TM_CELL_NAME | TM_WIDE },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Time", "total_ps", TM_CELL_TIME | TM_SUMS },
        { "Longest", "longest_ps", TM_CELL_TIME },
        { "At", "begin_ps", TM_CELL_MOMENT },
        { "Host", "host", TM_CELL_HOST | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = id,
                                              .caption = caption,
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(of, "rows"),
                                              .rest = tm_get(of, "rest"),
                                              .total = of,
                                              .total_title = "all of them",
                                              .paper_rows = 8 });
}

static void say_trips(const struct tm_content *content, const struct tm_value *trips)
{
    static const struct tm_column columns[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME },
        { "Bytes", "bytes", TM_CELL_BYTES },
        { "On the host", "host_event", TM_CELL_NAME },
    };

    tm_say_table(content, &(struct tm_table){ .id = "fallback-round-trips",
                                              .caption = "Longest round trips over the host",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(trips, "longest"),
                                              .paper_rows = 5 });
}

static void say_fallback(const struct tm_content *content)
{
    const struct tm_value *fallback = tm_of(content, "fallback");

    say_facts(content, fallback);
    say_callbacks(content, tm_get(fallback, "callbacks"));
    say_operations(content, tm_get(fallback, "cpu_ops"), "fallback-cpu-ops", "Operations that ran on the host");
    say_operations(content, tm_get(fallback, "host_ops"), "fallback-host-ops",
                   "Operations of the device that work with the host");
    say_trips(content, tm_get(fallback, "round_trips"));
}

static const char *nothing(const struct tm_value *summary)
{
    static const char *const counts[] = { "fallback.callbacks.count", "fallback.cpu_ops.count",
                                          "fallback.host_ops.count", "fallback.round_trips.count" };

    if (tm_ask_is_without_fallback(summary))
        return TM_NO_FALLBACK;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (tm_int(tm_path(summary, counts[i])) > 0)
            return "";
    return "nothing of it was found, as far as the profile tells";
}

const struct tm_section tm_fallback_section = { "fallback", "CPU fallback", "fallback", say_fallback, nothing };
