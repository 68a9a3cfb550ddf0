/* SPDX-License-Identifier: Apache-2.0 */
/* Host: what it costs the devices, what it waits for, what its functions and threads do. */
#include "reports/content/say.h"

enum { OVERHEAD_FACTS = 2 };

static void say_facts(const struct tm_content *content, const struct tm_value *host)
{
    static const struct tm_column facts[] = {
        { "Host overhead", "overhead_pct", TM_CELL_PCT },
        { "Idle time attributed to the host", "overhead_ps", TM_CELL_TIME },
        { "Launches", "launches.count", TM_CELL_COUNT },
        { "Launches per step", "launches.per_step", TM_CELL_NUMBER },
        { "Activities without a known launch", "launches.unknown_count", TM_CELL_COUNT | TM_WIDE | TM_RARE },
        { "Launch to begin, median", "launch_delay.p50_ps", TM_CELL_TIME },
        { "Launch to begin, 95th percentile", "launch_delay.p95_ps", TM_CELL_TIME },
        { "Launch to begin, longest", "launch_delay.max_ps", TM_CELL_TIME },
        { "Begun before their launch (clock skew)", "launch_delay.negative", TM_CELL_COUNT | TM_WIDE | TM_RARE },
        { "Idle with nothing launched", "queue_empty.total_ps", TM_CELL_TIME },
        { "Idle with nothing launched, of the window", "queue_empty.share_pct", TM_CELL_PCT },
        { "Programs or launches per step and device", "eager.programs_per_step", TM_CELL_NUMBER },
        { "Of them with a single operation", "eager.single_op_programs_pct", TM_CELL_PCT },
        { "Pauses right before those", "eager.launch_gap_ps", TM_CELL_TIME | TM_RARE },
        { "Their operations under 100 \xc2\xb5s", "eager.small_kernel_ps", TM_CELL_TIME | TM_RARE },
        { "Calls of the host that start programs", "eager.host_ps", TM_CELL_TIME | TM_RARE },
        { "Waits for the device", "sync.count", TM_CELL_COUNT },
        { "Time in waits", "sync.total_ps", TM_CELL_TIME | TM_RARE },
    };
    static const char *const parts[][2] = { { "overhead_pct", "Host overhead" },
                                            { "launches", "Launches" },
                                            { "launch_delay", "Launch to begin" },
                                            { "queue_empty", "Idle with nothing launched" },
                                            { "sync", "Waits for the device" } };

    const size_t known = tm_has(tm_get(host, "overhead_pct")) ? 0 : OVERHEAD_FACTS;

    tm_say_facts(content, "host-facts", facts + known, sizeof(facts) / sizeof(facts[0]) - known, host);
    tm_say_nulls(content, host, parts, sizeof(parts) / sizeof(parts[0]));
}

static void say_waits(const struct tm_content *content, const struct tm_value *sync)
{
    static const struct tm_column columns[] = {
        { "Wait", "name", TM_CELL_NAME },
        { "In function", "caller", TM_CELL_NAME },
        { "In annotation", "annotation", TM_CELL_NAME | TM_WIDE },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Time", "total_ps", TM_CELL_TIME | TM_SUMS },
        { "Longest", "longest_ps", TM_CELL_TIME },
        { "At", "longest_begin_ps", TM_CELL_MOMENT },
        { "Host", "host", TM_CELL_HOST | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "host-waits",
                                              .caption = "Where the host waits for the device or for a result",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(sync, "rows"),
                                              .rest = tm_get(sync, "rest"),
                                              .total = sync,
                                              .total_title = "all waits",
                                              .paper_rows = 8 });
}

static void say_empty_queues(const struct tm_content *content, const struct tm_value *host)
{
    static const struct tm_column columns[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME },
    };

    tm_say_table(content, &(struct tm_table){ .id = "host-queue-empty",
                                              .caption = "Longest stretches with nothing launched",
                                              TM_COLUMNS(columns),
                                              .rows = tm_path(host, "queue_empty.longest"),
                                              .paper_rows = 5 });
}

static void say_calls(const struct tm_content *content, const struct tm_value *host)
{
    static const struct tm_column functions[] = {
        { "Function", "name", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Self", "self_ps", TM_CELL_TIME | TM_SUMS },
        { "Total", "total_ps", TM_CELL_TIME },
    };
    static const struct tm_column annotations[] = {
        { "Annotation", "name", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Self", "self_ps", TM_CELL_TIME | TM_SUMS },
        { "Total", "total_ps", TM_CELL_TIME },
    };

    tm_say_table(content, &(struct tm_table){ .id = "host-functions",
                                              .caption = "Python functions by self time",
                                              TM_COLUMNS(functions),
                                              .rows = tm_get(host, "python"),
                                              .rest = tm_get(host, "python_rest"),
                                              .paper_rows = 10 });
    tm_say_table(content, &(struct tm_table){ .id = "host-annotations",
                                              .caption = "Annotations by self time",
                                              TM_COLUMNS(annotations),
                                              .rows = tm_get(host, "annotations"),
                                              .rest = tm_get(host, "annotations_rest"),
                                              .paper_rows = 8 });
}

static void say_threads(const struct tm_content *content, const struct tm_value *host)
{
    static const struct tm_column columns[] = {
        { "Thread", "name", TM_CELL_NAME },
        { "Host", "host", TM_CELL_HOST },
        { "Main", "is_main", TM_CELL_WORD },
        { "Busy", "busy_ps", TM_CELL_TIME | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Events", "events", TM_CELL_COUNT | TM_SUMS },
        { "Ops", "ops", TM_CELL_COUNT | TM_RARE },
        { "In ops", "op_ps", TM_CELL_TIME | TM_RARE },
        { "First", "first_ps", TM_CELL_MOMENT | TM_WIDE },
        { "Last", "last_ps", TM_CELL_MOMENT | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "host-threads",
                                              .caption = "Threads by busy time",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(host, "threads"),
                                              .rest = tm_get(host, "threads_rest"),
                                              .paper_rows = 12 });
}

static void say_host(const struct tm_content *content)
{
    const struct tm_value *host = tm_of(content, "host");

    say_facts(content, host);
    say_waits(content, tm_get(host, "sync"));
    say_empty_queues(content, host);
    say_calls(content, host);
    say_threads(content, host);
}

const struct tm_section tm_host_section = { "host", "Host", "host", say_host, NULL };
