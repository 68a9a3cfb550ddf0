/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: how each one spent its time, what ran on it, and what it waited for. */
#include <stdio.h>
#include <string.h>

#include "reports/content/emit.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

/* Transfers: copies of the devices by direction, repetition, peers, and size. */

static const struct tm_table by_direction = {
    .id = "transfer-directions",
    .caption = "Copies by direction",
    .shows = "direction, count, bytes, total_ps, exposed_ps, mean_bandwidth, max_bandwidth, "
             "unknown_bytes_count wide rare, outside.count wide rare, outside.bytes wide rare, "
             "outside.total_ps wide rare, outside.exposed_ps rare",
    .list = "transfers.by_direction",
};

static const struct tm_table repeated = {
    .id = "transfers-repeated",
    .caption = "Repeated copies (same size every step)",
    .shows = "direction, bytes, per_step, count sums, total_ps sums",
    .list = "transfers.repeated",
    .paper_rows = 8,
    .is_detail = true,
};

static const struct tm_table pairs = {
    .id = "transfer-pairs",
    .caption = "Copies by source and destination",
    .shows = "from, to, count sums, bytes sums, total_ps sums",
    .list = "transfers.by_pair",
    .is_detail = true,
};

static const struct tm_table largest = {
    .id = "transfers-largest",
    .caption = "Largest copies",
    .shows = "device, direction, bytes, begin_ps, dur_ps",
    .list = "transfers.largest",
    .paper_rows = 5,
    .is_detail = true,
};

static const struct tm_table sizes = {
    .id = "transfer-sizes",
    .caption = "Copies by size",
    .shows = "from_bytes, to_bytes, count sums, bytes sums, total_ps sums",
    .list = "transfers.sizes",
    .paper_rows = 24,
    .is_detail = true,
};

/* TPU runs: transfers as recorded by the host. */
static const struct tm_table of_host = {
    .id = "transfers-of-host",
    .caption = "Transfers recorded on the host",
    .shows = "direction, count, bytes",
    .list = "transfers.tpu_host",
    .note = "The profile does not record how long the device took for them.",
    .is_detail = true,
};

/* One copy is identified by its direction alone. */
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

    tm_emit_detail_charts(content, TM_CHART_TRANSFERS);
    if (!tm_emit_missing(content, tm_get(transfers, "by_direction"), "Copies by direction"))
        tm_emit_table(content, &by_direction);
    if (tm_int(tm_path(transfers, "pageable.count")) > 0 || tm_int(tm_path(transfers, "ping_pong.count")) > 0)
        tm_emit_facts(content, "transfer-facts", "transfers",
                      "pageable.count rare, pageable.total_ps rare, pageable.share_pct rare, ping_pong.count rare");
    tm_emit_table(content, &repeated);
    if (content->medium->room.is_data || are_several(tm_get(transfers, "by_direction"))) {
        tm_emit_table(content, &pairs);
        tm_emit_table(content, &largest);
    }
    if (content->medium->room.is_data || tm_length(tm_get(transfers, "sizes")) > 1)
        tm_emit_table(content, &sizes);
    tm_emit_table(content, &of_host);
}

static const char *no_transfers(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "transfers.by_direction");
    const bool is_any = tm_length(rows) > 0 || tm_length(tm_path(summary, "transfers.tpu_host")) > 0;

    if (is_any)
        return "";
    return tm_has(rows) || !*tm_why(rows) ? "the profile contains no device copies" : tm_why(rows);
}

const struct tm_section tm_transfers_section = { .id = "transfers",
                                                 .title = "Transfers",
                                                 .key = "transfers",
                                                 .say = emit_transfers,
                                                 .nothing = no_transfers,
                                                 .platforms = "gpu,tpu",
                                                 .wants_enough = true };

/* Collectives: kinds, durations, exposed time, and late arrivals. */

static void emit_totals(const struct tm_content *content, const struct tm_value *collectives)
{
    const int64_t outside_ps = tm_int(tm_path(collectives, "outside.exposed_ps"));
    char time[TM_FORMAT_BYTES];

    tm_emit_facts(content, "collective-facts", "collectives",
                  "total.count, total.total_ps, total.exposed_ps, total.exposed_wait_ps, "
                  "total.exposed_move_ps, total.exposed_unmatched_ps rare, total.overlap_pct, total.bytes, "
                  "total.unknown_bytes_count wide rare");
    if (outside_ps > 0)
        tm_emit(content, TM_TONE_QUIET,
                "Collectives outside the analyzed steps add %s to the devices' exposed collective time.",
                tm_format_time(time, outside_ps));
}

static const struct tm_table kinds = {
    .id = "collectives",
    .caption = "Collectives by kind, size and group",
    .shows = "kind, message_bytes, data_type, group_size, reach wide, count sums, bytes wide, "
             "total_ps sums, mean_ps, exposed_ps sums, exposed_wait_ps sums, exposed_move_ps sums, "
             "exposed_unmatched_ps sums wide, overlap_pct, algorithm_bandwidth wide, bus_bandwidth, "
             "bandwidth_over wide",
    .list = "collectives.rows",
    .rest_at = "collectives.rest",
    .total_at = "collectives.total",
    .total_title = "all collectives",
    .brief_rows = 8,
};

/* The part of each device in them: a late device waits least. */
static const struct tm_table collectives_of_devices = {
    .id = "collective-devices",
    .caption = "Collectives by device",
    .shows = "id, collective_ps, exposed_collective_ps = Exposed, exposed_wait_ps, exposed_move_ps, "
             "exposed_unmatched_ps rare",
    .list = "devices",
    .paper_rows = 32,
    .is_detail = true,
};

/* --- late arrivals --- */

/* How the clocks of the hosts were aligned. */
static void emit_methods(const struct tm_content *content, const struct tm_value *list)
{
    size_t by_collectives = 0, confirmed = 0;
    int64_t most_ps = 0;
    char uncertainty[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *row = tm_at(list, i);
        const int64_t ps = tm_int(tm_get(row, "uncertainty_ps"));

        by_collectives += strcmp(tm_text(tm_get(row, "method")), "collectives") == 0;
        confirmed += strcmp(tm_text(tm_get(row, "method")), "confirmed") == 0;
        most_ps = ps > most_ps ? ps : most_ps;
    }
    tm_format_time(uncertainty, most_ps);
    if (by_collectives)
        tm_emit(content, TM_TONE_QUIET,
                "The hosts' clocks are aligned by the ends of matched collectives (uncertainty up to %s).",
                uncertainty);
    else if (confirmed)
        tm_emit(content, TM_TONE_QUIET,
                "The hosts' clocks are aligned by the recorded start of their profiles, which the ends of matched "
                "collectives confirm (uncertainty up to %s).",
                uncertainty);
    else
        tm_emit(content, TM_TONE_QUIET, "The hosts' clocks are aligned by the recorded start of their profiles.");
}

static void emit_clock(const struct tm_content *content, const struct tm_value *clock)
{
    const struct tm_value *aligned = tm_get(clock, "aligned");
    char pct[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];

    if (tm_int(tm_get(clock, "hosts")) < 2)
        return;
    if (!tm_has(aligned))
        tm_emit(content, TM_TONE_QUIET, "The hosts' clocks are not compared (%s): only devices of the same host are.",
                tm_why(aligned));
    else
        tm_emit(content, tm_is(aligned) ? TM_TONE_QUIET : TM_TONE_WARNING,
                "Of %s collectives across hosts that must overlap, %s do: the clocks of the hosts %s.",
                tm_format_count(count, tm_int(tm_get(clock, "checked"))),
                tm_format_pct(pct, tm_double(tm_get(clock, "overlapping_pct"))),
                tm_is(aligned) ? "agree" : "do not agree, so only devices of the same host are compared");
    if (tm_is(aligned))
        emit_methods(content, tm_get(clock, "list"));
}

static const struct tm_table host_clocks = {
    .id = "host-clocks",
    .caption = "Clocks of the hosts",
    .shows = "host, method, offset_ps, drift_ppm, uncertainty_ps, points, difference_ps",
    .list = "collectives.skew.clock.list",
    .paper_rows = 16,
    .is_detail = true,
};

static const struct tm_table members = {
    .id = "collective-members",
    .caption = "Stragglers and waiting devices",
    .shows = "device, count, last_count, late_ps, late_max_ps, wait_ps, caused_ps, caused_pct, "
             "alone_ps wide, collective_ps wide",
    .list = "collectives.skew.members",
    .paper_rows = 32,
    .is_detail = true,
};

static const struct tm_table worst = {
    .id = "collectives-latest",
    .caption = "Latest arrivals",
    .shows = "name, kind wide, group wide, step, ordinal wide, skew_ps, last, begin_ps, first, first_begin_ps wide",
    .list = "collectives.skew.worst",
    .paper_rows = 8,
    .is_detail = true,
};

static const struct tm_table path_devices = {
    .id = "collective-path-devices",
    .caption = "Devices on the path across hosts",
    .shows = "device, total_ps, share_pct",
    .list = "collectives.skew.critical_path.devices",
    .paper_rows = 16,
    .is_detail = true,
};

static void emit_skew(const struct tm_content *content, const struct tm_value *skew)
{
    tm_emit_subheading(content, "Late arrivals");
    if (tm_emit_missing(content, skew, "Stragglers"))
        return;
    emit_clock(content, tm_get(skew, "clock"));
    if (tm_length(tm_path(skew, "clock.list")))
        tm_emit_table(content, &host_clocks);
    if (tm_emit_missing(content, tm_get(skew, "late_ps"), "Stragglers"))
        return;
    tm_emit_detail_charts(content, TM_CHART_SKEW);
    tm_emit_facts(content, "collective-skew", "collectives.skew",
                  "straggler, p50_ps, p95_ps, max_ps, wait_ps, matched, unmatched rare, incomplete rare");
    tm_emit_table(content, &members);
    if (tm_has(tm_get(skew, "critical_path"))) {
        tm_emit_facts(content, "collective-path", "collectives.skew.critical_path",
                      "total_ps, move_ps, on_path, host_switches, stragglers_saved_ps, imbalance_saved_ps");
        tm_emit_table(content, &path_devices);
    }
    tm_emit_table(content, &worst);
    if (tm_length(tm_get(skew, "worst")) > 0 && tm_has_hosts(content))
        tm_emit(content, TM_TONE_QUIET, "Times are those of the device's own host.");
}

static void emit_collectives(const struct tm_content *content)
{
    const struct tm_value *collectives = tm_of(content, "collectives");

    tm_emit_charts(content, TM_CHART_COLLECTIVES);
    emit_totals(content, collectives);
    tm_emit_table(content, &kinds);
    if (tm_length(tm_of(content, "devices")) > 1 && tm_has(tm_path(collectives, "total.exposed_wait_ps")))
        tm_emit_table(content, &collectives_of_devices);
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
                                                   .nothing = no_collectives,
                                                   .wants_enough = true };

enum { COLUMNS_BYTES = 512 };

/* Devices whose graphs are each a single event. */
static size_t graph_devices(const struct tm_value *devices)
{
    size_t count = 0;

    for (size_t i = 0; i < tm_length(devices); i++)
        count += strcmp(tm_text(tm_get(tm_at(devices, i), "reliability")), "graph") == 0;
    return count;
}

static void emit_time(const struct tm_content *content, const struct tm_value *devices)
{
    char columns[COLUMNS_BYTES];

    (void)snprintf(columns, sizeof(columns),
                   "id, utilization_pct, span_ps wide, busy_ps, compute_ps, exposed_collective_ps rare, "
                   "exposed_copy_ps rare, idle_ps, lead_ps wide rare, trail_ps wide rare%s",
                   graph_devices(devices) > 0 ? ", reliability wide" : "");
    tm_emit_table(content, &(struct tm_table){ .id = "devices",
                                               .caption = "Device time in the analyzed steps",
                                               .shows = columns,
                                               .list = "devices",
                                               .total_at = tm_length(devices) > 1 ? "total" : NULL,
                                               .total_title = "all devices",
                                               .obeys_rows = true,
                                               .paper_rows = 40 });
}

/* If whole graphs are one event, pauses inside them are not visible, so the idle time is too low. */
static void warn_of_graphs(const struct tm_content *content, const struct tm_value *devices)
{
    const size_t count = graph_devices(devices);

    if (count)
        tm_emit(content, TM_TONE_WARNING,
                "On %zu of %zu devices, whole graphs are recorded as one event: pauses inside a graph are not "
                "visible, so busy time is overestimated and idle time is unreliable.",
                count, tm_length(devices));
}

static void emit_activities(const struct tm_content *content)
{
    char columns[COLUMNS_BYTES];

    (void)snprintf(columns, sizeof(columns),
                   "id, activities, kernels.count = %s, graphs.count wide rare = Graphs, "
                   "collectives.count rare = Collectives, copies.count rare = Copies, copies.bytes rare, "
                   "memsets.count wide rare = Memsets, gaps.count, gaps.count_min, "
                   "gaps.longest[0].dur_ps = Longest gap",
                   tm_is_for("gpu", content->summary) ? "Kernels" : "Operations");
    tm_emit_table(content, &(struct tm_table){ .id = "device-activities",
                                               .caption = "Device activities",
                                               .is_detail = true,
                                               .shows = columns,
                                               .list = "devices",
                                               .obeys_rows = true,
                                               .paper_rows = 40 });
}

/* TPUs record what they waited for and what was in flight; other devices do not. */
static const struct tm_table device_waits = {
    .id = "device-waits",
    .caption = "Waits within busy time",
    .shows = "id, wait_ps, wait_copy_ps rare, wait_collective_ps rare, wait_host_ps rare, in_flight_ps, hidden_ps",
    .list = "devices",
    .obeys_rows = true,
    .paper_rows = 40,
    .note = "Utilization excludes these waits. In flight: copies and collectives that run concurrently with the "
            "core. Hidden: the part of them that overlaps with compute.",
    .is_detail = true,
};

static bool has_waits(const struct tm_value *devices)
{
    for (size_t i = 0; i < tm_length(devices); i++)
        if (tm_has(tm_get(tm_at(devices, i), "wait_ps")))
            return true;
    return false;
}

static const struct tm_table unused = {
    .id = "devices-unused",
    .caption = "Devices without activity",
    .shows = "name, host",
    .list = "unused",
    .obeys_rows = true,
    .paper_rows = 8,
};

static void emit_device_times(const struct tm_content *content)
{
    const struct tm_value *devices = tm_of(content, "devices");

    tm_emit_charts(content, TM_CHART_DEVICES);
    tm_emit_detail_charts(content, TM_CHART_UTILIZATION);
    emit_time(content, devices);
    warn_of_graphs(content, devices);
    emit_activities(content);
    if (has_waits(devices))
        tm_emit_table(content, &device_waits);
    tm_emit_table(content, &unused);
}

static const char *no_devices(const struct tm_value *summary)
{
    const bool is_any = tm_length(tm_get(summary, "devices")) > 0 || tm_length(tm_get(summary, "unused")) > 0;

    return is_any ? "" : "the profile contains no device activity";
}

const struct tm_section tm_devices_section = {
    .id = "devices", .title = "Devices", .key = "devices", .say = emit_device_times, .nothing = no_devices
};

/* Balance: whether the devices of the run have equal work. */

static void emit_balance_of_devices(const struct tm_content *content)
{
    char columns[COLUMNS_BYTES];

    (void)snprintf(columns, sizeof(columns), "device, busy_ps, compute_ps, exposed_collective_ps rare, kernels = %s",
                   tm_is_for("gpu", content->summary) ? "Kernels" : "Operations");
    tm_emit_table(content, &(struct tm_table){ .id = "balance-devices",
                                               .caption = "Device comparison",
                                               .shows = columns,
                                               .list = "balance.busy",
                                               .paper_rows = 32,
                                               .repeats_chart = true,
                                               .is_detail = true });
}

static const struct tm_table same_work = {
    .id = "balance-same-work",
    .caption = "Time of each device for the same work",
    .shows = "device, total_ps",
    .list = "balance.same_work.devices",
    .paper_rows = 32,
    .note = "The same work: operations that all devices run equally often.",
    .is_detail = true,
};

static const struct tm_table different_ops = {
    .id = "balance-ops",
    .caption = "Operations with the largest differences between devices",
    .shows = "name, module wide, kind, devices wide, count wide, min_ps, mean_ps, max_ps, spread_pct, "
             "slowest, excess_ps sums",
    .list = "balance.ops",
    .paper_rows = 12,
    .note = "Times are sums per device.",
    .is_detail = true,
};

static void emit_balance(const struct tm_content *content)
{
    tm_emit_detail_charts(content, TM_CHART_BALANCE);
    tm_emit_facts(content, "balance-facts", "balance",
                  "imbalance_pct, slowest, steps.spread_median_pct, steps.spread_max_pct, steps.worst_step, "
                  "same_work.spread_pct, same_work.slowest");
    emit_balance_of_devices(content);
    tm_emit_table(content, &same_work);
    tm_emit_table(content, &different_ops);
}

/* Sharding: what programs repeat on several devices, and what they move between them. */

static const struct tm_table sharded_programs = {
    .id = "sharding-programs",
    .caption = "Programs on several devices",
    .shows = "module, devices, self_ps sums, repeated_ps sums, parameters wide, repeated_parameters, repeated_bytes, "
             "split_bytes",
    .list = "sharding.programs",
    .paper_rows = 8,
};

static const struct tm_table sharded_ops = {
    .id = "sharding-ops",
    .caption = "Operations by repeated time",
    .shows = "name, op, copies, devices, sharding rare, executions wide sums, self_ps sums, share_pct wide, "
             "repeated_ps sums, source wide",
    .list = "sharding.ops",
    .rest_at = "sharding.ops_rest",
    .paper_rows = 12,
};

static const struct tm_table sharding_moves = {
    .id = "sharding-moves",
    .caption = "Collectives by origin",
    .shows = "name, op, origin, executions sums, message_bytes, bytes sums, self_ps sums, source wide",
    .list = "sharding.moves",
    .rest_at = "sharding.moves_rest",
    .paper_rows = 12,
    .is_detail = true,
};

static void emit_sharding(const struct tm_content *content)
{
    tm_emit_facts(content, "sharding-facts", "sharding",
                  "repeated_ps, repeated_pct, known_ps, by_origin.reshards.bytes = Bytes moved to reshard, "
                  "by_origin.reshards.self_ps = Time in resharding, by_origin.sums.self_ps = Time in sums of parts, "
                  "by_origin.requested.self_ps = Time in requested collectives");
    tm_emit_table(content, &sharded_programs);
    tm_emit_table(content, &sharded_ops);
    tm_emit_table(content, &sharding_moves);
}

const struct tm_section tm_sharding_section = {
    .id = "sharding", .title = "Sharding", .key = "sharding", .say = emit_sharding, .wants_enough = true
};

/* A single device cannot be compared. */
static const char *no_balance(const struct tm_value *summary)
{
    const struct tm_value *imbalance = tm_path(summary, "balance.imbalance_pct");

    return tm_has(imbalance) ? "" : *tm_why(imbalance) ? tm_why(imbalance) : "not recorded";
}

const struct tm_section tm_balance_section = { .id = "balance",
                                               .title = "Balance",
                                               .key = "balance",
                                               .say = emit_balance,
                                               .nothing = no_balance,
                                               .wants_enough = true };

/* Memory: allocations, holders at the peak, kept buffers, and device memory profiles. */

enum { PROFILES_MOST = 8, PAPER_PROFILES = 4, ID_BYTES = 40 };

enum {
    HOLDER_COLUMNS = 6,
    HOLDERS_EACH = 20, /* of an allocator; on paper they share the rows, and each has HOLDERS_LEAST at least */
    HOLDERS_LEAST = 2,
    HOLDERS_MOST = 320,
    PAPER_HOLDERS = 24,
};

/* --- allocators --- */

static const struct tm_table allocator_table = {
    .id = "memory-allocators",
    .caption = "Allocators",
    .shows = "name, host, peak_bytes, peak_pct, capacity_bytes, peak_at_ps, lifetime_peak_bytes, "
             "fragmentation_pct, allocations, deallocations wide, allocated_bytes wide, "
             "small_allocations wide, allocations_per_s wide, allocated_bytes_per_s wide",
    .list = "memory.allocators",
    .paper_rows = 24,
};

static const struct tm_table kept = {
    .id = "memory-kept",
    .caption = "Buffers allocated but not freed",
    .shows = "name, host, kept.count, kept.quarters_bytes[0] = 1st quarter, "
             "kept.quarters_bytes[1] = 2nd quarter, kept.quarters_bytes[2] = 3rd quarter, "
             "kept.quarters_bytes[3] = 4th quarter, kept.largest_bytes, kept.op, kept.shape wide",
    .list = "memory.allocators",
    .where = "kept.count",
    .note = "By the quarter of the profile in which they were allocated: bytes in every quarter indicate growth.",
    .is_detail = true,
};

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

        cell[0] = tm_cell_of_value(TM_DOC_NAME, tm_get(allocator, "name"));
        cell[1] = tm_cell_of_value(TM_DOC_HOST, tm_get(allocator, "host"));
        cell[2] = tm_cell_of_value(TM_DOC_NAME, tm_get(row, "op"));
        cell[3] = tm_cell_of_value(TM_DOC_NAME, tm_get(row, "shape"));
        cell[4] = tm_cell_of_value(TM_DOC_BYTES, tm_get(row, "bytes"));
        cell[5] = tm_cell_of_value(TM_DOC_WORD, tm_get(row, "address"));
        holders->are_named |= !tm_cell_is_empty(&cell[2]) || !tm_cell_is_empty(&cell[3]);
    }
}

/* The largest few of each allocator; sizes alone are left out on paper. */
static void emit_holders(const struct tm_content *content, const struct tm_value *allocators)
{
    const size_t n = tm_length(allocators);
    const size_t share = content->medium->room.is_paper && n > 0 ? PAPER_HOLDERS / n : HOLDERS_EACH;
    struct holders *const holders = tm_content_take(content, sizeof(*holders));

    for (size_t i = 0; holders && i < n; i++)
        add_holders(holders, tm_at(allocators, i), share < HOLDERS_LEAST ? HOLDERS_LEAST : share);
    if (holders && (!content->medium->room.is_paper || holders->are_named))
        tm_emit_table(
            content,
            &(struct tm_table){ .id = "memory-holders",
                                .caption = "Largest buffers at the peak of each allocator",
                                .is_detail = true,
                                .shows = "name name = Allocator, host host = Host, op name = Op, shape name = Shape, "
                                         "bytes bytes = Bytes, address word wide = Address",
                                .cells = holders->cell[0],
                                .cell_rows = holders->count,
                                .paper_rows = PAPER_HOLDERS });
    tm_content_give(content, holders, sizeof(*holders));
}

static void emit_of_allocators(const struct tm_content *content)
{
    const struct tm_value *allocators = tm_of(content, "memory.allocators");

    if (!tm_query_has_trace(content->summary) || tm_emit_missing(content, allocators, "Memory use over time"))
        return;
    if (tm_length(allocators) == 0)
        tm_emit(content, TM_TONE_PLAIN, "No allocator events were recorded.");
    tm_emit_table(content, &allocator_table);
    tm_emit_detail_charts(content, TM_CHART_MEMORY);
    emit_holders(content, allocators);
    tm_emit_table(content, &kept);
}

/* Live memory by one of its properties.  in: by  "kinds", of the profile */
static void emit_held(const struct tm_content *content, size_t number, const char *by, struct tm_table table)
{
    char id[ID_BYTES], list[2 * ID_BYTES], rest[2 * ID_BYTES];

    (void)snprintf(id, sizeof(id), "memory-%s-%zu", by, number);
    (void)snprintf(list, sizeof(list), "memory.device_profiles[%zu].%s", number - 1, by);
    (void)snprintf(rest, sizeof(rest), "memory.device_profiles[%zu].rest.%s", number - 1, by);
    table.id = id;
    table.list = list;
    table.rest_at = rest;
    tm_emit_table(content, &table);
}

static void emit_profile(const struct tm_content *content, size_t number)
{
    static const struct tm_table kinds_held = { .caption = "Live memory by kind",
                                                .shows = "kind, count sums, bytes sums, share_pct",
                                                .paper_rows = 8 };
    static const struct tm_table devices = { .caption = "Live memory by device",
                                             .shows = "device, count sums, bytes sums, share_pct",
                                             .paper_rows = 8 };
    static const struct tm_table sites = { .caption = "Live memory by allocation site",
                                           .shows = "function = Held by, source, kind, stack[0] wide = Called from, "
                                                    "count sums, bytes sums, share_pct",
                                           .paper_rows = 12 };
    static const struct tm_table functions = { .caption = "Live memory by function",
                                               .shows = "function, source = File, count sums, bytes sums, share_pct",
                                               .paper_rows = 8 };
    char id[ID_BYTES], at[2 * ID_BYTES];

    tm_emit_subheading(content, "Device memory profile");
    (void)snprintf(id, sizeof(id), "memory-profile-%zu", number);
    (void)snprintf(at, sizeof(at), "memory.device_profiles[%zu]", number - 1);
    tm_emit_facts(content, id, at, "file, total_bytes, total_count");
    emit_held(content, number, "kinds", kinds_held);
    emit_held(content, number, "devices", devices);
    emit_held(content, number, "sites", sites);
    emit_held(content, number, "functions", functions);
}

static void emit_memory(const struct tm_content *content)
{
    const struct tm_value *profiles = tm_of(content, "memory.device_profiles");
    const size_t n = tm_length(profiles), most = content->medium->room.is_paper ? PAPER_PROFILES : PROFILES_MOST;

    emit_of_allocators(content);
    for (size_t i = 0; i < n && i < most; i++)
        emit_profile(content, i + 1);
    if (n > most)
        tm_emit(content, TM_TONE_QUIET, "%zu more device memory profiles are in summary.json.", n - most);
}

const struct tm_section tm_memory_section = { .id = "memory", .title = "Memory", .key = "memory", .say = emit_memory };
