/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: what each one's time went to, what ran on it, what it waited for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/content/emit.h"
#include "reports/findings/query.h"
#include "reports/format/format.h"

/* Transfers: copies of the devices by direction, which of them come again, between whom, how large. */

static void emit_directions(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column columns[] = {
        { "Direction", "direction", TM_CELL_DIRECTION },
        { "Count", "count", TM_CELL_COUNT },
        { "Bytes", "bytes", TM_CELL_BYTES },
        { "Time", "total_ps", TM_CELL_TIME },
        { "Exposed", "exposed_ps", TM_CELL_TIME },
        { "Mean rate", "mean_bandwidth", TM_CELL_RATE },
        { "Best rate", "max_bandwidth", TM_CELL_RATE },
        { "Of unknown size", "unknown_bytes_count", TM_CELL_COUNT | TM_WIDE | TM_RARE },
        { "Outside steps", "outside.count", TM_CELL_COUNT | TM_WIDE | TM_RARE },
        { "Bytes outside", "outside.bytes", TM_CELL_BYTES | TM_WIDE | TM_RARE },
        { "Time outside", "outside.total_ps", TM_CELL_TIME | TM_WIDE | TM_RARE },
        { "Exposed outside", "outside.exposed_ps", TM_CELL_TIME | TM_RARE },
    };
    const struct tm_value *rows = tm_get(transfers, "by_direction");

    if (tm_emit_missing(content, rows, "Copies by direction"))
        return;
    tm_emit_table(content, &(struct tm_table){ .id = "transfer-directions",
                                               .caption = "Copies by direction",
                                               TM_COLUMNS(columns),
                                               .rows = rows });
}

static void emit_costly(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column facts[] = {
        { "Copies of pageable host memory", "pageable.count", TM_CELL_COUNT | TM_RARE },
        { "Their time", "pageable.total_ps", TM_CELL_TIME | TM_RARE },
        { "Share of copy time", "pageable.share_pct", TM_CELL_PCT | TM_RARE },
        { "Copies to the host and back", "ping_pong.count", TM_CELL_COUNT | TM_RARE },
    };

    if (tm_int(tm_path(transfers, "pageable.count")) > 0 || tm_int(tm_path(transfers, "ping_pong.count")) > 0)
        tm_emit_facts(content, "transfer-facts", TM_FACTS(facts), transfers);
}

static void emit_repeated(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column columns[] = {
        { "Direction", "direction", TM_CELL_DIRECTION }, { "Size of each", "bytes", TM_CELL_BYTES },
        { "Per step", "per_step", TM_CELL_NUMBER },      { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Time", "total_ps", TM_CELL_TIME | TM_SUMS },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "transfers-repeated",
                                               .caption = "Copies of one size in every step",
                                               TM_COLUMNS(columns),
                                               .rows = tm_get(transfers, "repeated"),
                                               .paper_rows = 8 });
}

static void emit_pairs(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column columns[] = {
        { "From", "from", TM_CELL_DEVICE },
        { "To", "to", TM_CELL_DEVICE },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Bytes", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Time", "total_ps", TM_CELL_TIME | TM_SUMS },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "transfer-pairs",
                                               .caption = "Copies by source and target",
                                               TM_COLUMNS(columns),
                                               .rows = tm_get(transfers, "by_pair") });
}

static void emit_largest(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column columns[] = {
        { "Device", "device", TM_CELL_DEVICE }, { "Direction", "direction", TM_CELL_DIRECTION },
        { "Bytes", "bytes", TM_CELL_BYTES },    { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "transfers-largest",
                                               .caption = "Largest copies",
                                               TM_COLUMNS(columns),
                                               .rows = tm_get(transfers, "largest"),
                                               .paper_rows = 5 });
}

static void emit_sizes(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column columns[] = {
        { "From size", "from_bytes", TM_CELL_BYTES },   { "To size", "to_bytes", TM_CELL_BYTES },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },  { "Bytes", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Time", "total_ps", TM_CELL_TIME | TM_SUMS },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "transfer-sizes",
                                               .caption = "Copies by size",
                                               TM_COLUMNS(columns),
                                               .rows = tm_get(transfers, "sizes"),
                                               .paper_rows = 24 });
}

/* TPU runs: what the host told of its transfers. */
static void emit_tpu_host(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column columns[] = {
        { "Direction", "direction", TM_CELL_DIRECTION },
        { "Count", "count", TM_CELL_COUNT },
        { "Bytes", "bytes", TM_CELL_BYTES },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "transfers-of-host",
                                               .caption = "Transfers that the host recorded",
                                               TM_COLUMNS(columns),
                                               .rows = tm_get(transfers, "tpu_host") });
    if (tm_length(tm_get(transfers, "tpu_host")) > 0)
        tm_emit(content, TM_TONE_QUIET, "The profile does not tell how long the device needed for them.");
}

/* One copy is told by its direction alone. */
static bool are_several(const struct tm_value *directions)
{
    bool is_any = false;

    for (size_t i = 0; i < tm_length(directions); i++) {
        const int64_t count = tm_int(tm_get(tm_at(directions, i), "count"));

        if (count > 1 || (count == 1 && is_any))
            return true;
        is_any |= count == 1;
    }
    return false;
}

static void emit_transfers(const struct tm_content *content)
{
    const struct tm_value *transfers = tm_of(content, "transfers");

    tm_emit_charts(content, TM_CHART_TRANSFERS);
    emit_directions(content, transfers);
    emit_costly(content, transfers);
    emit_repeated(content, transfers);
    if (content->medium->room.is_data || are_several(tm_get(transfers, "by_direction"))) {
        emit_pairs(content, transfers);
        emit_largest(content, transfers);
    }
    if (content->medium->room.is_data || tm_length(tm_get(transfers, "sizes")) > 1)
        emit_sizes(content, transfers);
    emit_tpu_host(content, transfers);
}

static const char *no_transfers(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "transfers.by_direction");
    const bool is_any = tm_length(rows) > 0 || tm_length(tm_path(summary, "transfers.tpu_host")) > 0;

    if (is_any)
        return "";
    return tm_has(rows) || !*tm_why(rows) ? "no copy on a device was recorded" : tm_why(rows);
}

const struct tm_section tm_transfers_section = { "transfers", "Transfers", "transfers", emit_transfers, no_transfers };

/* Collectives: which, how long, how much of them is exposed, and who comes late to them. */

static void emit_totals(const struct tm_content *content, const struct tm_value *collectives)
{
    const int64_t outside_ps = tm_int(tm_path(collectives, "outside.exposed_ps"));
    char time[TM_FORMAT_BYTES];
    static const struct tm_column facts[] = {
        { "Collectives", "total.count", TM_CELL_COUNT },
        { "Time in them", "total.total_ps", TM_CELL_TIME },
        { "Exposed time", "total.exposed_ps", TM_CELL_TIME },
        { "Exposed, waiting for late devices", "total.exposed_wait_ps", TM_CELL_TIME },
        { "Exposed, moving data", "total.exposed_move_ps", TM_CELL_TIME },
        { "Exposed, without a counterpart", "total.exposed_unmatched_ps", TM_CELL_TIME | TM_RARE },
        { "Overlapped with compute", "total.overlap_pct", TM_CELL_PCT },
        { "Data", "total.bytes", TM_CELL_BYTES },
        { "Of unknown size", "total.unknown_bytes_count", TM_CELL_COUNT | TM_WIDE | TM_RARE },
    };

    tm_emit_facts(content, "collective-facts", TM_FACTS(facts), collectives);
    if (outside_ps > 0)
        tm_emit(content, TM_TONE_QUIET,
                "Collectives of steps that do not count take %s more of the devices' exposed collective time.",
                tm_format_time(time, outside_ps));
}

static void emit_kinds(const struct tm_content *content, const struct tm_value *collectives)
{
    static const struct tm_column columns[] = {
        { "Kind", "kind", TM_CELL_WORD },
        { "Message", "message_bytes", TM_CELL_BYTES },
        { "Type", "data_type", TM_CELL_WORD },
        { "Devices", "group_size", TM_CELL_COUNT },
        { "Reach", "reach", TM_CELL_WORD | TM_WIDE },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Bytes", "bytes", TM_CELL_BYTES | TM_WIDE },
        { "Time", "total_ps", TM_CELL_TIME | TM_SUMS },
        { "Mean", "mean_ps", TM_CELL_TIME },
        { "Exposed", "exposed_ps", TM_CELL_TIME | TM_SUMS },
        { "Waiting", "exposed_wait_ps", TM_CELL_TIME | TM_SUMS },
        { "Moving", "exposed_move_ps", TM_CELL_TIME | TM_SUMS },
        { "No counterpart", "exposed_unmatched_ps", TM_CELL_TIME | TM_SUMS | TM_WIDE },
        { "Overlap", "overlap_pct", TM_CELL_PCT },
        { "Algorithm bandwidth", "algorithm_bandwidth", TM_CELL_RATE | TM_WIDE },
        { "Bus bandwidth", "bus_bandwidth", TM_CELL_RATE },
        { "Bandwidth over", "bandwidth_over", TM_CELL_WORD | TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "collectives",
                                               .caption = "Collectives by kind, size and group",
                                               TM_COLUMNS(columns),
                                               .rows = tm_get(collectives, "rows"),
                                               .rest = tm_get(collectives, "rest"),
                                               .total = tm_get(collectives, "total"),
                                               .total_title = "all collectives" });
}

/* What each device does in them: a device that comes late waits least. */
static void emit_collectives_of_devices(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Device", "id", TM_CELL_DEVICE },
        { "In collectives", "collective_ps", TM_CELL_TIME },
        { "Exposed", "exposed_collective_ps", TM_CELL_TIME },
        { "Waiting", "exposed_wait_ps", TM_CELL_TIME },
        { "Moving", "exposed_move_ps", TM_CELL_TIME },
        { "No counterpart", "exposed_unmatched_ps", TM_CELL_TIME | TM_RARE },
    };
    const struct tm_value *devices = tm_of(content, "devices");

    if (tm_length(devices) > 1 && tm_has(tm_path(content->summary, "collectives.total.exposed_wait_ps")))
        tm_emit_table(content, &(struct tm_table){ .id = "collective-devices",
                                                   .caption = "Collectives of each device",
                                                   TM_COLUMNS(columns),
                                                   .rows = devices,
                                                   .paper_rows = 32 });
}

/* --- late arrivals --- */

static void emit_clock(const struct tm_content *content, const struct tm_value *clock)
{
    const struct tm_value *aligned = tm_get(clock, "aligned");
    char pct[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];

    if (tm_int(tm_get(clock, "hosts")) < 2)
        return;
    if (!tm_has(aligned))
        tm_emit(content, TM_TONE_QUIET, "The clocks of the hosts are not compared (%s): only devices of one host are.",
                tm_why(aligned));
    else
        tm_emit(content, tm_is(aligned) ? TM_TONE_QUIET : TM_TONE_WARNING,
                "Of %s collectives of several hosts that have to overlap %s do: the clocks of the hosts %s.",
                tm_format_count(count, tm_int(tm_get(clock, "checked"))),
                tm_format_pct(pct, tm_double(tm_get(clock, "overlapping_pct"))),
                tm_is(aligned) ? "agree" : "do not agree, and only devices of one host are compared");
}

static void emit_members(const struct tm_content *content, const struct tm_value *skew)
{
    static const struct tm_column columns[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Matched", "count", TM_CELL_COUNT },
        { "Came last", "last_count", TM_CELL_COUNT },
        { "Late", "late_ps", TM_CELL_TIME },
        { "Late at most", "late_max_ps", TM_CELL_TIME },
        { "Waits for others", "wait_ps", TM_CELL_TIME },
        { "Causes waiting", "caused_ps", TM_CELL_TIME },
        { "Share", "caused_pct", TM_CELL_PCT },
        { "If it alone were in time", "alone_ps", TM_CELL_TIME | TM_WIDE },
        { "In collectives", "collective_ps", TM_CELL_TIME | TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "collective-members",
                                               .caption = "Who comes late, and who waits",
                                               TM_COLUMNS(columns),
                                               .rows = tm_get(skew, "members"),
                                               .paper_rows = 32 });
}

static void emit_worst(const struct tm_content *content, const struct tm_value *skew)
{
    static const struct tm_column columns[] = {
        { "Collective", "name", TM_CELL_NAME },
        { "Kind", "kind", TM_CELL_WORD | TM_WIDE },
        { "Group", "group", TM_CELL_NAME | TM_WIDE },
        { "Step", "step", TM_CELL_WORD },
        { "Number in the step", "ordinal", TM_CELL_COUNT | TM_WIDE },
        { "Late by", "skew_ps", TM_CELL_TIME },
        { "Last", "last", TM_CELL_DEVICE },
        { "Start of the last", "begin_ps", TM_CELL_MOMENT },
        { "First", "first", TM_CELL_DEVICE },
        { "Start of the first", "first_begin_ps", TM_CELL_MOMENT | TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "collectives-latest",
                                               .caption = "Latest arrivals",
                                               TM_COLUMNS(columns),
                                               .rows = tm_get(skew, "worst"),
                                               .paper_rows = 8 });
    if (tm_length(tm_get(skew, "worst")) > 0 && tm_has_hosts(content))
        tm_emit(content, TM_TONE_QUIET, "Times are those of the device's own host.");
}

static void emit_skew(const struct tm_content *content, const struct tm_value *skew)
{
    static const struct tm_column facts[] = {
        { "Mostly late", "straggler", TM_CELL_DEVICE },
        { "Last after first, median", "p50_ps", TM_CELL_TIME },
        { "Last after first, 95th percentile", "p95_ps", TM_CELL_TIME },
        { "Last after first, at most", "max_ps", TM_CELL_TIME },
        { "Waiting of all devices", "wait_ps", TM_CELL_TIME },
        { "Matched collectives", "matched", TM_CELL_COUNT },
        { "Without a counterpart", "unmatched", TM_CELL_COUNT | TM_RARE },
        { "With members not in the profile", "incomplete", TM_CELL_COUNT | TM_RARE },
    };

    tm_emit_subheading(content, "Late arrivals");
    if (tm_emit_missing(content, skew, "Who comes late"))
        return;
    emit_clock(content, tm_get(skew, "clock"));
    if (tm_emit_missing(content, tm_get(skew, "late_ps"), "Who comes late"))
        return;
    tm_emit_charts(content, TM_CHART_SKEW);
    tm_emit_facts(content, "collective-skew", TM_FACTS(facts), skew);
    emit_members(content, skew);
    emit_worst(content, skew);
}

static void emit_collectives(const struct tm_content *content)
{
    const struct tm_value *collectives = tm_of(content, "collectives");

    tm_emit_charts(content, TM_CHART_COLLECTIVES);
    emit_totals(content, collectives);
    emit_kinds(content, collectives);
    emit_collectives_of_devices(content);
    emit_skew(content, tm_get(collectives, "skew"));
}

static const char *no_collectives(const struct tm_value *summary)
{
    return tm_if_none(summary, "collectives.rows", "no collective ran in the analyzed steps");
}

const struct tm_section tm_collectives_section = { "collectives", "Collectives", "collectives", emit_collectives,
                                                   no_collectives };

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

static void emit_time(const struct tm_content *content, const struct tm_value *devices)
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

    tm_emit_table(content, &(struct tm_table){ .id = "devices",
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
        tm_emit(content, TM_TONE_WARNING,
                "Whole graphs are one event on %zu of %zu devices: pauses inside a graph are not seen, so that their "
                "busy time is too high and their idle time unreliable.",
                count, tm_length(devices));
}

static void emit_activities(const struct tm_content *content, const struct tm_value *devices)
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

    tm_emit_table(content, &(struct tm_table){ .id = "device-activities",
                                               .caption = "What ran on the devices",
                                               TM_COLUMNS(columns),
                                               .rows = devices,
                                               .screen_rows = rows_asked(content),
                                               .paper_rows = DEVICES_ON_PAPER });
}

/* TPUs record what they waited for and what was in flight; other devices do not. */
static void emit_waits(const struct tm_content *content, const struct tm_value *devices)
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
    tm_emit_table(content, &(struct tm_table){ .id = "device-waits",
                                               .caption = "Waits inside the busy time",
                                               TM_COLUMNS(columns),
                                               .rows = devices,
                                               .screen_rows = rows_asked(content),
                                               .paper_rows = DEVICES_ON_PAPER });
    tm_emit(content, TM_TONE_QUIET,
            "Utilization does not count these waits. In flight: copies and collectives that run beside the computing. "
            "Hidden: what of them ran while the device computed.");
}

static void emit_unused(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Device without activity", "name", TM_CELL_NAME },
        { "Host", "host", TM_CELL_HOST },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "devices-unused",
                                               .caption = "Devices that did nothing",
                                               TM_COLUMNS(columns),
                                               .rows = tm_of(content, "unused"),
                                               .screen_rows = rows_asked(content),
                                               .paper_rows = UNUSED_ON_PAPER });
}

static void emit_device_times(const struct tm_content *content)
{
    const struct tm_value *devices = tm_of(content, "devices");

    tm_emit_charts(content, TM_CHART_DEVICES);
    tm_emit_charts(content, TM_CHART_UTILIZATION);
    emit_time(content, devices);
    warn_of_graphs(content, devices);
    emit_activities(content, devices);
    emit_waits(content, devices);
    emit_unused(content);
}

static const char *no_devices(const struct tm_value *summary)
{
    const bool is_any = tm_length(tm_get(summary, "devices")) > 0 || tm_length(tm_get(summary, "unused")) > 0;

    return is_any ? "" : "the profile holds no activity of a device";
}

const struct tm_section tm_devices_section = { "devices", "Devices", "devices", emit_device_times, no_devices };

/* Balance: whether the devices of the run have the same to do. */

static void emit_balance_facts(const struct tm_content *content, const struct tm_value *balance)
{
    static const struct tm_column facts[] = {
        { "Imbalance of compute", "imbalance_pct", TM_CELL_PCT },
        { "Slowest device", "slowest", TM_CELL_DEVICE },
        { "By step, median", "steps.spread_median_pct", TM_CELL_PCT },
        { "By step, at most", "steps.spread_max_pct", TM_CELL_PCT },
        { "Most uneven step", "steps.worst_step", TM_CELL_WORD },
        { "Same work differs by", "same_work.spread_pct", TM_CELL_PCT },
        { "Slowest at the same work", "same_work.slowest", TM_CELL_DEVICE },
    };

    tm_emit_facts(content, "balance-facts", TM_FACTS(facts), balance);
}

static void emit_balance_of_devices(const struct tm_content *content, const struct tm_value *balance)
{
    const struct tm_column columns[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Busy", "busy_ps", TM_CELL_TIME },
        { "Compute", "compute_ps", TM_CELL_TIME },
        { "Exposed collectives", "exposed_collective_ps", TM_CELL_TIME | TM_RARE },
        { tm_is_for("gpu", content->summary) ? "Kernels" : "Operations", "kernels", TM_CELL_COUNT },
    };
    static const struct tm_column same[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Time", "total_ps", TM_CELL_TIME },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "balance-devices",
                                               .caption = "What each device does",
                                               TM_COLUMNS(columns),
                                               .rows = tm_get(balance, "busy"),
                                               .paper_rows = 32,
                                               .repeats_chart = true });
    tm_emit_table(content, &(struct tm_table){ .id = "balance-same-work",
                                               .caption = "Time of each device for the same work",
                                               TM_COLUMNS(same),
                                               .rows = tm_path(balance, "same_work.devices"),
                                               .paper_rows = 32 });
    if (tm_length(tm_path(balance, "same_work.devices")) > 0)
        tm_emit(content, TM_TONE_QUIET, "The same work: operations that all devices run equally often.");
}

static void emit_ops(const struct tm_content *content, const struct tm_value *balance)
{
    static const struct tm_column columns[] = {
        { "Operation", "name", TM_CELL_NAME },
        { "Module", "module", TM_CELL_NAME | TM_WIDE },
        { "Run by", "kind", TM_CELL_TERM },
        { "Devices", "devices", TM_CELL_COUNT | TM_WIDE },
        { "Count", "count", TM_CELL_COUNT | TM_WIDE },
        { "Least", "min_ps", TM_CELL_TIME },
        { "Mean", "mean_ps", TM_CELL_TIME },
        { "Most", "max_ps", TM_CELL_TIME },
        { "Spread", "spread_pct", TM_CELL_PCT },
        { "Slowest", "slowest", TM_CELL_DEVICE },
        { "Excess", "excess_ps", TM_CELL_TIME | TM_SUMS },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "balance-ops",
                                               .caption = "Operations that differ most between devices",
                                               TM_COLUMNS(columns),
                                               .rows = tm_get(balance, "ops"),
                                               .paper_rows = 12 });
    if (tm_length(tm_get(balance, "ops")) > 0)
        tm_emit(content, TM_TONE_QUIET, "Times are sums per device.");
}

static void emit_balance(const struct tm_content *content)
{
    const struct tm_value *balance = tm_of(content, "balance");

    tm_emit_charts(content, TM_CHART_BALANCE);
    emit_balance_facts(content, balance);
    emit_balance_of_devices(content, balance);
    emit_ops(content, balance);
}

/* One device has nothing to be compared with. */
static const char *no_balance(const struct tm_value *summary)
{
    const struct tm_value *imbalance = tm_path(summary, "balance.imbalance_pct");

    return tm_has(imbalance) ? "" : *tm_why(imbalance) ? tm_why(imbalance) : "not recorded";
}

const struct tm_section tm_balance_section = { "balance", "Balance", "balance", emit_balance, no_balance };

/* Memory: what the allocators handed out, what held it at the peak, what was kept, and device memory profiles. */

enum { PROFILES_MOST = 8, PAPER_PROFILES = 4, KEPT_MOST = 64, ID_BYTES = 40 };

enum {
    HOLDER_COLUMNS = 6,
    HOLDERS_EACH = 20, /* of an allocator; on paper they share the rows, and each has HOLDERS_LEAST at least */
    HOLDERS_LEAST = 2,
    HOLDERS_MOST = 320,
    PAPER_HOLDERS = 24,
};

/* --- allocators --- */

static void emit_allocators(const struct tm_content *content, const struct tm_value *allocators)
{
    static const struct tm_column columns[] = {
        { "Allocator", "name", TM_CELL_NAME },
        { "Host", "host", TM_CELL_HOST },
        { "Peak", "peak_bytes", TM_CELL_BYTES },
        { "Of capacity", "peak_pct", TM_CELL_PCT },
        { "Capacity", "capacity_bytes", TM_CELL_BYTES },
        { "Peak at", "peak_at_ps", TM_CELL_MOMENT },
        { "Lifetime peak", "lifetime_peak_bytes", TM_CELL_BYTES },
        { "Fragmentation", "fragmentation_pct", TM_CELL_PCT },
        { "Allocations", "allocations", TM_CELL_COUNT },
        { "Frees", "deallocations", TM_CELL_COUNT | TM_WIDE },
        { "Allocated in all", "allocated_bytes", TM_CELL_BYTES | TM_WIDE },
        { "Small allocations", "small_allocations", TM_CELL_COUNT | TM_WIDE },
        { "Allocations a second", "allocations_per_s", TM_CELL_NUMBER | TM_WIDE },
        { "Allocated a second", "allocated_bytes_per_s", TM_CELL_RATE | TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "memory-allocators",
                                               .caption = "Allocators",
                                               TM_COLUMNS(columns),
                                               .rows = allocators,
                                               .paper_rows = 24 });
}

static void emit_kept(const struct tm_content *content, const struct tm_value *allocators)
{
    static const struct tm_column columns[] = {
        { "Allocator", "name", TM_CELL_NAME },
        { "Host", "host", TM_CELL_HOST },
        { "Buffers", "kept.count", TM_CELL_COUNT },
        { "1st quarter", "kept.quarters_bytes[0]", TM_CELL_BYTES },
        { "2nd quarter", "kept.quarters_bytes[1]", TM_CELL_BYTES },
        { "3rd quarter", "kept.quarters_bytes[2]", TM_CELL_BYTES },
        { "4th quarter", "kept.quarters_bytes[3]", TM_CELL_BYTES },
        { "Largest", "kept.largest_bytes", TM_CELL_BYTES },
        { "Its op", "kept.op", TM_CELL_NAME },
        { "Its shape", "kept.shape", TM_CELL_NAME | TM_WIDE },
    };
    size_t pick[KEPT_MOST], n = 0;

    for (size_t i = 0; i < tm_length(allocators) && n < KEPT_MOST; i++)
        if (tm_int(tm_path(tm_at(allocators, i), "kept.count")) > 0)
            pick[n++] = i;
    tm_emit_table(content, &(struct tm_table){ .id = "memory-kept",
                                               .caption = "Buffers taken in the profile and not given back in it",
                                               TM_COLUMNS(columns),
                                               .rows = allocators,
                                               .pick = pick,
                                               .picks = n,
                                               .is_only_picked = true });
    if (n > 0)
        tm_emit(content, TM_TONE_QUIET,
                "By the quarter of the profile in which they were taken: bytes in every quarter are a sign of growth.");
}

struct holders {
    struct tm_cell cell[HOLDERS_MOST][HOLDER_COLUMNS];
    size_t count;
    bool are_named; /* the op or the shape of one is known */
};

static void add_holders(struct holders *holders, const struct tm_value *allocator, size_t most)
{
    const struct tm_value *rows = tm_get(allocator, "holders");

    for (size_t i = 0; i < tm_length(rows) && i < most && holders->count < HOLDERS_MOST; i++) {
        const struct tm_value *row = tm_at(rows, i);
        struct tm_cell *cell = holders->cell[holders->count++];

        cell[0] = tm_cell_of_value(TM_CELL_NAME, tm_get(allocator, "name"));
        cell[1] = tm_cell_of_value(TM_CELL_HOST, tm_get(allocator, "host"));
        cell[2] = tm_cell_of_value(TM_CELL_NAME, tm_get(row, "op"));
        cell[3] = tm_cell_of_value(TM_CELL_NAME, tm_get(row, "shape"));
        cell[4] = tm_cell_of_value(TM_CELL_BYTES, tm_get(row, "bytes"));
        cell[5] = tm_cell_of_value(TM_CELL_WORD, tm_get(row, "address"));
        holders->are_named |= !tm_cell_is_empty(&cell[2]) || !tm_cell_is_empty(&cell[3]);
    }
}

/* The largest few of each allocator; sizes alone are nothing for paper. */
static void emit_holders(const struct tm_content *content, const struct tm_value *allocators)
{
    static const struct tm_column columns[HOLDER_COLUMNS] = {
        { "Allocator", "name", TM_CELL_NAME }, { "Host", "host", TM_CELL_HOST },
        { "Op", "op", TM_CELL_NAME },          { "Shape", "shape", TM_CELL_NAME },
        { "Bytes", "bytes", TM_CELL_BYTES },   { "Address", "address", TM_CELL_WORD | TM_WIDE },
    };
    const size_t n = tm_length(allocators);
    const size_t share = content->medium->room.is_paper && n > 0 ? PAPER_HOLDERS / n : HOLDERS_EACH;
    static struct holders holders; /* too much for a small stack */

    holders.count = 0;
    holders.are_named = false;
    for (size_t i = 0; i < n; i++)
        add_holders(&holders, tm_at(allocators, i), share < HOLDERS_LEAST ? HOLDERS_LEAST : share);
    if (content->medium->room.is_paper && !holders.are_named)
        return;
    tm_emit_table(content, &(struct tm_table){ .id = "memory-holders",
                                               .caption = "Largest buffers at the peak of each allocator",
                                               TM_COLUMNS(columns),
                                               .cells = holders.cell[0],
                                               .cell_rows = holders.count,
                                               .paper_rows = PAPER_HOLDERS });
}

static void emit_of_allocators(const struct tm_content *content)
{
    const struct tm_value *allocators = tm_of(content, "memory.allocators");

    if (!tm_query_has_trace(content->summary) || tm_emit_missing(content, allocators, "Use of memory over time"))
        return;
    if (tm_length(allocators) == 0)
        tm_emit(content, TM_TONE_PLAIN, "No allocator recorded anything.");
    emit_allocators(content, allocators);
    tm_emit_charts(content, TM_CHART_MEMORY);
    emit_holders(content, allocators);
    emit_kept(content, allocators);
}

/* --- device memory profiles --- */

static void emit_shares(const struct tm_content *content, const struct tm_value *profile, size_t number)
{
    static const struct tm_column kinds[] = {
        { "Kind", "kind", TM_CELL_TERM },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Bytes", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    static const struct tm_column devices[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Bytes", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    char id[ID_BYTES];

    (void)snprintf(id, sizeof(id), "memory-kinds-%zu", number);
    tm_emit_table(content, &(struct tm_table){ .id = id,
                                               .caption = "Held memory by kind",
                                               TM_COLUMNS(kinds),
                                               .rows = tm_get(profile, "kinds"),
                                               .rest = tm_path(profile, "rest.kinds"),
                                               .paper_rows = 8 });
    (void)snprintf(id, sizeof(id), "memory-devices-%zu", number);
    tm_emit_table(content, &(struct tm_table){ .id = id,
                                               .caption = "Held memory by device",
                                               TM_COLUMNS(devices),
                                               .rows = tm_get(profile, "devices"),
                                               .rest = tm_path(profile, "rest.devices"),
                                               .paper_rows = 8 });
}

static void emit_code(const struct tm_content *content, const struct tm_value *profile, size_t number)
{
    static const struct tm_column sites[] = {
        { "Held by", "function", TM_CELL_NAME },
        { "Source", "source", TM_CELL_NAME },
        { "Kind", "kind", TM_CELL_TERM },
        { "Called there", "stack[0]", TM_CELL_NAME | TM_WIDE },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Bytes", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    static const struct tm_column functions[] = {
        { "Function", "function", TM_CELL_NAME },      { "File", "source", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS }, { "Bytes", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    char id[ID_BYTES];

    (void)snprintf(id, sizeof(id), "memory-sites-%zu", number);
    tm_emit_table(content, &(struct tm_table){ .id = id,
                                               .caption = "Held memory by place in the code",
                                               TM_COLUMNS(sites),
                                               .rows = tm_get(profile, "sites"),
                                               .rest = tm_path(profile, "rest.sites"),
                                               .paper_rows = 12 });
    (void)snprintf(id, sizeof(id), "memory-functions-%zu", number);
    tm_emit_table(content, &(struct tm_table){ .id = id,
                                               .caption = "Held memory by function",
                                               TM_COLUMNS(functions),
                                               .rows = tm_get(profile, "functions"),
                                               .rest = tm_path(profile, "rest.functions"),
                                               .paper_rows = 8 });
}

static void emit_profile(const struct tm_content *content, const struct tm_value *profile, size_t number)
{
    static const struct tm_column facts[] = {
        { "File", "file", TM_CELL_NAME },
        { "Held in all", "total_bytes", TM_CELL_BYTES },
        { "Buffers and programs", "total_count", TM_CELL_COUNT },
    };
    char id[ID_BYTES];

    tm_emit_subheading(content, "Device memory profile");
    (void)snprintf(id, sizeof(id), "memory-profile-%zu", number);
    tm_emit_facts(content, id, TM_FACTS(facts), profile);
    emit_shares(content, profile, number);
    emit_code(content, profile, number);
}

static void emit_memory(const struct tm_content *content)
{
    const struct tm_value *profiles = tm_of(content, "memory.device_profiles");
    const size_t n = tm_length(profiles), most = content->medium->room.is_paper ? PAPER_PROFILES : PROFILES_MOST;

    emit_of_allocators(content);
    for (size_t i = 0; i < n && i < most; i++)
        emit_profile(content, tm_at(profiles, i), i + 1);
    if (n > most)
        tm_emit(content, TM_TONE_QUIET, "%zu more device memory profiles are in summary.json.", n - most);
}

const struct tm_section tm_memory_section = { "memory", "Memory", "memory", emit_memory, NULL };
