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
        { .key = "direction" },
        { .key = "count" },
        { .key = "bytes" },
        { .key = "total_ps" },
        { .key = "exposed_ps" },
        { .key = "mean_bandwidth" },
        { .key = "max_bandwidth" },
        { .key = "unknown_bytes_count", .shape = TM_WIDE | TM_RARE },
        { .key = "outside.count", .shape = TM_WIDE | TM_RARE },
        { .key = "outside.bytes", .shape = TM_WIDE | TM_RARE },
        { .key = "outside.total_ps", .shape = TM_WIDE | TM_RARE },
        { .key = "outside.exposed_ps", .shape = TM_RARE },
    };
    const struct tm_value *rows = tm_get(transfers, "by_direction");

    if (tm_emit_missing(content, rows, "Copies by direction"))
        return;
    tm_emit_table(content, &(struct tm_table){ .id = "transfer-directions",
                                               .caption = "Copies by direction",
                                               TM_COLUMNS(columns),
                                               .list = "transfers.by_direction" });
}

static void emit_costly(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column facts[] = {
        { .key = "pageable.count", .shape = TM_RARE },
        { .key = "pageable.total_ps", .shape = TM_RARE },
        { .key = "pageable.share_pct", .shape = TM_RARE },
        { .key = "ping_pong.count", .shape = TM_RARE },
    };

    if (tm_int(tm_path(transfers, "pageable.count")) > 0 || tm_int(tm_path(transfers, "ping_pong.count")) > 0)
        tm_emit_facts(content, "transfer-facts", TM_FACTS(facts), "transfers");
}

static void emit_repeated(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "direction" },
        { .key = "bytes" },
        { .key = "per_step" },
        { .key = "count", .shape = TM_SUMS },
        { .key = "total_ps", .shape = TM_SUMS },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "transfers-repeated",
                                               .caption = "Copies of one size in every step",
                                               TM_COLUMNS(columns),
                                               .list = "transfers.repeated",
                                               .paper_rows = 8 });
}

static void emit_pairs(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "from" },
        { .key = "to" },
        { .key = "count", .shape = TM_SUMS },
        { .key = "bytes", .shape = TM_SUMS },
        { .key = "total_ps", .shape = TM_SUMS },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "transfer-pairs",
                                               .caption = "Copies by source and target",
                                               TM_COLUMNS(columns),
                                               .list = "transfers.by_pair" });
}

static void emit_largest(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "device" }, { .key = "direction" }, { .key = "bytes" }, { .key = "begin_ps" }, { .key = "dur_ps" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "transfers-largest",
                                               .caption = "Largest copies",
                                               TM_COLUMNS(columns),
                                               .list = "transfers.largest",
                                               .paper_rows = 5 });
}

static void emit_sizes(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "from_bytes" },
        { .key = "to_bytes" },
        { .key = "count", .shape = TM_SUMS },
        { .key = "bytes", .shape = TM_SUMS },
        { .key = "total_ps", .shape = TM_SUMS },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "transfer-sizes",
                                               .caption = "Copies by size",
                                               TM_COLUMNS(columns),
                                               .list = "transfers.sizes",
                                               .paper_rows = 24 });
}

/* TPU runs: what the host told of its transfers. */
static void emit_tpu_host(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column columns[] = {
        { .key = "direction" },
        { .key = "count" },
        { .key = "bytes" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "transfers-of-host",
                                               .caption = "Transfers that the host recorded",
                                               TM_COLUMNS(columns),
                                               .list = "transfers.tpu_host" });
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
    emit_repeated(content);
    if (content->medium->room.is_data || are_several(tm_get(transfers, "by_direction"))) {
        emit_pairs(content);
        emit_largest(content);
    }
    if (content->medium->room.is_data || tm_length(tm_get(transfers, "sizes")) > 1)
        emit_sizes(content);
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

const struct tm_section tm_transfers_section = { .id = "transfers",
                                                 .title = "Transfers",
                                                 .key = "transfers",
                                                 .say = emit_transfers,
                                                 .nothing = no_transfers,
                                                 .platforms = "gpu,tpu" };

/* Collectives: which, how long, how much of them is exposed, and who comes late to them. */

static void emit_totals(const struct tm_content *content, const struct tm_value *collectives)
{
    const int64_t outside_ps = tm_int(tm_path(collectives, "outside.exposed_ps"));
    char time[TM_FORMAT_BYTES];
    static const struct tm_column facts[] = {
        { .key = "total.count" },
        { .key = "total.total_ps" },
        { .key = "total.exposed_ps" },
        { .key = "total.exposed_wait_ps" },
        { .key = "total.exposed_move_ps" },
        { .key = "total.exposed_unmatched_ps", .shape = TM_RARE },
        { .key = "total.overlap_pct" },
        { .key = "total.bytes" },
        { .key = "total.unknown_bytes_count", .shape = TM_WIDE | TM_RARE },
    };

    tm_emit_facts(content, "collective-facts", TM_FACTS(facts), "collectives");
    if (outside_ps > 0)
        tm_emit(content, TM_TONE_QUIET,
                "Collectives of steps that do not count take %s more of the devices' exposed collective time.",
                tm_format_time(time, outside_ps));
}

static void emit_kinds(const struct tm_content *content, const struct tm_value *collectives)
{
    static const struct tm_column columns[] = {
        { .key = "kind" },
        { .key = "message_bytes" },
        { .key = "data_type" },
        { .key = "group_size" },
        { .key = "reach", .shape = TM_WIDE },
        { .key = "count", .shape = TM_SUMS },
        { .key = "bytes", .shape = TM_WIDE },
        { .key = "total_ps", .shape = TM_SUMS },
        { .key = "mean_ps" },
        { .key = "exposed_ps", .shape = TM_SUMS },
        { .key = "exposed_wait_ps", .shape = TM_SUMS },
        { .key = "exposed_move_ps", .shape = TM_SUMS },
        { .key = "exposed_unmatched_ps", .shape = TM_SUMS | TM_WIDE },
        { .key = "overlap_pct" },
        { .key = "algorithm_bandwidth", .shape = TM_WIDE },
        { .key = "bus_bandwidth" },
        { .key = "bandwidth_over", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "collectives",
                                               .caption = "Collectives by kind, size and group",
                                               TM_COLUMNS(columns),
                                               .list = "collectives.rows",
                                               .rest = tm_get(collectives, "rest"),
                                               .total = tm_get(collectives, "total"),
                                               .total_title = "all collectives" });
}

/* What each device does in them: a device that comes late waits least. */
static void emit_collectives_of_devices(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "id" },
        { .key = "collective_ps" },
        { .title = "Exposed", .key = "exposed_collective_ps" },
        { .key = "exposed_wait_ps" },
        { .key = "exposed_move_ps" },
        { .key = "exposed_unmatched_ps", .shape = TM_RARE },
    };
    const struct tm_value *devices = tm_of(content, "devices");

    if (tm_length(devices) > 1 && tm_has(tm_path(content->summary, "collectives.total.exposed_wait_ps")))
        tm_emit_table(content, &(struct tm_table){ .id = "collective-devices",
                                                   .caption = "Collectives of each device",
                                                   TM_COLUMNS(columns),
                                                   .list = "devices",
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

static void emit_members(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "device" },
        { .key = "count" },
        { .key = "last_count" },
        { .key = "late_ps" },
        { .key = "late_max_ps" },
        { .key = "wait_ps" },
        { .key = "caused_ps" },
        { .key = "caused_pct" },
        { .key = "alone_ps", .shape = TM_WIDE },
        { .key = "collective_ps", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "collective-members",
                                               .caption = "Who comes late, and who waits",
                                               TM_COLUMNS(columns),
                                               .list = "collectives.skew.members",
                                               .paper_rows = 32 });
}

static void emit_worst(const struct tm_content *content, const struct tm_value *skew)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "kind", .shape = TM_WIDE },
        { .key = "group", .shape = TM_WIDE },
        { .key = "step" },
        { .key = "ordinal", .shape = TM_WIDE },
        { .key = "skew_ps" },
        { .key = "last" },
        { .key = "begin_ps" },
        { .key = "first" },
        { .key = "first_begin_ps", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "collectives-latest",
                                               .caption = "Latest arrivals",
                                               TM_COLUMNS(columns),
                                               .list = "collectives.skew.worst",
                                               .paper_rows = 8 });
    if (tm_length(tm_get(skew, "worst")) > 0 && tm_has_hosts(content))
        tm_emit(content, TM_TONE_QUIET, "Times are those of the device's own host.");
}

static void emit_skew(const struct tm_content *content, const struct tm_value *skew)
{
    static const struct tm_column facts[] = {
        { .key = "straggler" },
        { .key = "p50_ps" },
        { .key = "p95_ps" },
        { .key = "max_ps" },
        { .key = "wait_ps" },
        { .key = "matched" },
        { .key = "unmatched", .shape = TM_RARE },
        { .key = "incomplete", .shape = TM_RARE },
    };

    tm_emit_subheading(content, "Late arrivals");
    if (tm_emit_missing(content, skew, "Who comes late"))
        return;
    emit_clock(content, tm_get(skew, "clock"));
    if (tm_emit_missing(content, tm_get(skew, "late_ps"), "Who comes late"))
        return;
    tm_emit_charts(content, TM_CHART_SKEW);
    tm_emit_facts(content, "collective-skew", TM_FACTS(facts), "collectives.skew");
    emit_members(content);
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

const struct tm_section tm_collectives_section = { .id = "collectives",
                                                   .title = "Collectives",
                                                   .key = "collectives",
                                                   .say = emit_collectives,
                                                   .nothing = no_collectives };

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
        { .key = "id" },
        { .key = "utilization_pct" },
        { .key = "span_ps", .shape = TM_WIDE },
        { .key = "busy_ps" },
        { .key = "compute_ps" },
        { .key = "exposed_collective_ps", .shape = TM_RARE },
        { .key = "exposed_copy_ps", .shape = TM_RARE },
        { .key = "idle_ps" },
        { .key = "lead_ps", .shape = TM_WIDE | TM_RARE },
        { .key = "trail_ps", .shape = TM_WIDE | TM_RARE },
        { .key = "reliability", .shape = TM_WIDE },
    };
    const size_t all = sizeof(columns) / sizeof(columns[0]);

    tm_emit_table(content, &(struct tm_table){ .id = "devices",
                                               .caption = "Device time in the analyzed steps",
                                               .column = columns,
                                               .columns = graph_devices(devices) > 0 ? all : all - 1,
                                               .list = "devices",
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

static void emit_activities(const struct tm_content *content)
{
    const struct tm_column columns[] = {
        { .key = "id" },
        { .key = "activities" },
        { tm_is_for("gpu", content->summary) ? "Kernels" : "Operations", "kernels.count", TM_CELL_COUNT },
        { .title = "Graphs", .key = "graphs.count", .shape = TM_WIDE | TM_RARE },
        { .title = "Collectives", .key = "collectives.count", .shape = TM_RARE },
        { .title = "Copies", .key = "copies.count", .shape = TM_RARE },
        { .key = "copies.bytes", .shape = TM_RARE },
        { .title = "Memsets", .key = "memsets.count", .shape = TM_WIDE | TM_RARE },
        { .key = "gaps.count" },
        { .key = "gaps.count_min" },
        { .title = "Longest gap", .key = "gaps.longest[0].dur_ps" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "device-activities",
                                               .caption = "What ran on the devices",
                                               TM_COLUMNS(columns),
                                               .list = "devices",
                                               .screen_rows = rows_asked(content),
                                               .paper_rows = DEVICES_ON_PAPER });
}

/* TPUs record what they waited for and what was in flight; other devices do not. */
static void emit_waits(const struct tm_content *content, const struct tm_value *devices)
{
    static const struct tm_column columns[] = {
        { .key = "id" },
        { .key = "wait_ps" },
        { .key = "wait_copy_ps", .shape = TM_RARE },
        { .key = "wait_collective_ps", .shape = TM_RARE },
        { .key = "wait_host_ps", .shape = TM_RARE },
        { .key = "in_flight_ps" },
        { .key = "hidden_ps" },
    };
    bool is_any = false;

    for (size_t i = 0; i < tm_length(devices) && !is_any; i++)
        is_any = tm_has(tm_get(tm_at(devices, i), "wait_ps"));
    if (!is_any)
        return;
    tm_emit_table(content, &(struct tm_table){ .id = "device-waits",
                                               .caption = "Waits inside the busy time",
                                               TM_COLUMNS(columns),
                                               .list = "devices",
                                               .screen_rows = rows_asked(content),
                                               .paper_rows = DEVICES_ON_PAPER });
    tm_emit(content, TM_TONE_QUIET,
            "Utilization does not count these waits. In flight: copies and collectives that run beside the computing. "
            "Hidden: what of them ran while the device computed.");
}

static void emit_unused(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "host" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "devices-unused",
                                               .caption = "Devices that did nothing",
                                               TM_COLUMNS(columns),
                                               .list = "unused",
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
    emit_activities(content);
    emit_waits(content, devices);
    emit_unused(content);
}

static const char *no_devices(const struct tm_value *summary)
{
    const bool is_any = tm_length(tm_get(summary, "devices")) > 0 || tm_length(tm_get(summary, "unused")) > 0;

    return is_any ? "" : "the profile holds no activity of a device";
}

const struct tm_section tm_devices_section = {
    .id = "devices", .title = "Devices", .key = "devices", .say = emit_device_times, .nothing = no_devices
};

/* Balance: whether the devices of the run have the same to do. */

static void emit_balance_facts(const struct tm_content *content)
{
    static const struct tm_column facts[] = {
        { .key = "imbalance_pct" },        { .key = "slowest" },          { .key = "steps.spread_median_pct" },
        { .key = "steps.spread_max_pct" }, { .key = "steps.worst_step" }, { .key = "same_work.spread_pct" },
        { .key = "same_work.slowest" },
    };

    tm_emit_facts(content, "balance-facts", TM_FACTS(facts), "balance");
}

static void emit_balance_of_devices(const struct tm_content *content, const struct tm_value *balance)
{
    const struct tm_column columns[] = {
        { .key = "device" },
        { .key = "busy_ps" },
        { .key = "compute_ps" },
        { .key = "exposed_collective_ps", .shape = TM_RARE },
        { tm_is_for("gpu", content->summary) ? "Kernels" : "Operations", "kernels", TM_CELL_COUNT },
    };
    static const struct tm_column same[] = {
        { .key = "device" },
        { .key = "total_ps" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "balance-devices",
                                               .caption = "What each device does",
                                               TM_COLUMNS(columns),
                                               .list = "balance.busy",
                                               .paper_rows = 32,
                                               .repeats_chart = true });
    tm_emit_table(content, &(struct tm_table){ .id = "balance-same-work",
                                               .caption = "Time of each device for the same work",
                                               TM_COLUMNS(same),
                                               .list = "balance.same_work.devices",
                                               .paper_rows = 32 });
    if (tm_length(tm_path(balance, "same_work.devices")) > 0)
        tm_emit(content, TM_TONE_QUIET, "The same work: operations that all devices run equally often.");
}

static void emit_ops(const struct tm_content *content, const struct tm_value *balance)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "module", .shape = TM_WIDE },
        { .key = "kind" },
        { .key = "devices", .shape = TM_WIDE },
        { .key = "count", .shape = TM_WIDE },
        { .key = "min_ps" },
        { .key = "mean_ps" },
        { .key = "max_ps" },
        { .key = "spread_pct" },
        { .key = "slowest" },
        { .key = "excess_ps", .shape = TM_SUMS },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "balance-ops",
                                               .caption = "Operations that differ most between devices",
                                               TM_COLUMNS(columns),
                                               .list = "balance.ops",
                                               .paper_rows = 12 });
    if (tm_length(tm_get(balance, "ops")) > 0)
        tm_emit(content, TM_TONE_QUIET, "Times are sums per device.");
}

static void emit_balance(const struct tm_content *content)
{
    const struct tm_value *balance = tm_of(content, "balance");

    tm_emit_charts(content, TM_CHART_BALANCE);
    emit_balance_facts(content);
    emit_balance_of_devices(content, balance);
    emit_ops(content, balance);
}

/* One device has nothing to be compared with. */
static const char *no_balance(const struct tm_value *summary)
{
    const struct tm_value *imbalance = tm_path(summary, "balance.imbalance_pct");

    return tm_has(imbalance) ? "" : *tm_why(imbalance) ? tm_why(imbalance) : "not recorded";
}

const struct tm_section tm_balance_section = {
    .id = "balance", .title = "Balance", .key = "balance", .say = emit_balance, .nothing = no_balance
};

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

static void emit_allocators(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "host" },
        { .key = "peak_bytes" },
        { .key = "peak_pct" },
        { .key = "capacity_bytes" },
        { .key = "peak_at_ps" },
        { .key = "lifetime_peak_bytes" },
        { .key = "fragmentation_pct" },
        { .key = "allocations" },
        { .key = "deallocations", .shape = TM_WIDE },
        { .key = "allocated_bytes", .shape = TM_WIDE },
        { .key = "small_allocations", .shape = TM_WIDE },
        { .key = "allocations_per_s", .shape = TM_WIDE },
        { .key = "allocated_bytes_per_s", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "memory-allocators",
                                               .caption = "Allocators",
                                               TM_COLUMNS(columns),
                                               .list = "memory.allocators",
                                               .paper_rows = 24 });
}

static void emit_kept(const struct tm_content *content, const struct tm_value *allocators)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "host" },
        { .key = "kept.count" },
        { .title = "1st quarter", .key = "kept.quarters_bytes[0]" },
        { .title = "2nd quarter", .key = "kept.quarters_bytes[1]" },
        { .title = "3rd quarter", .key = "kept.quarters_bytes[2]" },
        { .title = "4th quarter", .key = "kept.quarters_bytes[3]" },
        { .key = "kept.largest_bytes" },
        { .key = "kept.op" },
        { .key = "kept.shape", .shape = TM_WIDE },
    };
    size_t pick[KEPT_MOST], n = 0;

    for (size_t i = 0; i < tm_length(allocators) && n < KEPT_MOST; i++)
        if (tm_int(tm_path(tm_at(allocators, i), "kept.count")) > 0)
            pick[n++] = i;
    tm_emit_table(content, &(struct tm_table){ .id = "memory-kept",
                                               .caption = "Buffers taken in the profile and not given back in it",
                                               TM_COLUMNS(columns),
                                               .list = "memory.allocators",
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
    emit_allocators(content);
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
                                               .list = "memory.device_profiles[*].kinds",
                                               .rows = tm_get(profile, "kinds"),
                                               .rest = tm_path(profile, "rest.kinds"),
                                               .paper_rows = 8 });
    (void)snprintf(id, sizeof(id), "memory-devices-%zu", number);
    tm_emit_table(content, &(struct tm_table){ .id = id,
                                               .caption = "Held memory by device",
                                               TM_COLUMNS(devices),
                                               .list = "memory.device_profiles[*].devices",
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
                                               .list = "memory.device_profiles[*].sites",
                                               .rows = tm_get(profile, "sites"),
                                               .rest = tm_path(profile, "rest.sites"),
                                               .paper_rows = 12 });
    (void)snprintf(id, sizeof(id), "memory-functions-%zu", number);
    tm_emit_table(content, &(struct tm_table){ .id = id,
                                               .caption = "Held memory by function",
                                               TM_COLUMNS(functions),
                                               .list = "memory.device_profiles[*].functions",
                                               .rows = tm_get(profile, "functions"),
                                               .rest = tm_path(profile, "rest.functions"),
                                               .paper_rows = 8 });
}

static void emit_profile(const struct tm_content *content, const struct tm_value *profile, size_t number)
{
    static const struct tm_column facts[] = {
        { .key = "file" },
        { .key = "total_bytes" },
        { .key = "total_count" },
    };
    char id[ID_BYTES], at[2 * ID_BYTES];

    tm_emit_subheading(content, "Device memory profile");
    (void)snprintf(id, sizeof(id), "memory-profile-%zu", number);
    (void)snprintf(at, sizeof(at), "memory.device_profiles[%zu]", number - 1);
    tm_emit_facts(content, id, TM_FACTS(facts), at);
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

const struct tm_section tm_memory_section = { .id = "memory", .title = "Memory", .key = "memory", .say = emit_memory };
