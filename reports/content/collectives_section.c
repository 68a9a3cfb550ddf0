/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: which, how long, how much of them is exposed, and who comes late to them. */
#include "reports/content/say.h"

static void say_totals(const struct tm_content *content, const struct tm_value *collectives)
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

    tm_say_facts(content, "collective-facts", TM_FACTS(facts), collectives);
    if (outside_ps > 0)
        tm_say(content, TM_TONE_QUIET,
               "Collectives of steps that do not count take %s more of the devices' exposed collective time.",
               tm_format_time(time, outside_ps));
}

static void say_kinds(const struct tm_content *content, const struct tm_value *collectives)
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

    tm_say_table(content, &(struct tm_table){ .id = "collectives",
                                              .caption = "Collectives by kind, size and group",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(collectives, "rows"),
                                              .rest = tm_get(collectives, "rest"),
                                              .total = tm_get(collectives, "total"),
                                              .total_title = "all collectives" });
}

/* What each device does in them: a device that comes late waits least. */
static void say_devices(const struct tm_content *content)
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
        tm_say_table(content, &(struct tm_table){ .id = "collective-devices",
                                                  .caption = "Collectives of each device",
                                                  TM_COLUMNS(columns),
                                                  .rows = devices,
                                                  .paper_rows = 32 });
}

/* --- late arrivals --- */

static void say_clock(const struct tm_content *content, const struct tm_value *clock)
{
    const struct tm_value *aligned = tm_get(clock, "aligned");
    char pct[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];

    if (tm_int(tm_get(clock, "hosts")) < 2)
        return;
    if (!tm_has(aligned))
        tm_say(content, TM_TONE_QUIET, "The clocks of the hosts are not compared (%s): only devices of one host are.",
               tm_why(aligned));
    else
        tm_say(content, tm_is(aligned) ? TM_TONE_QUIET : TM_TONE_WARNING,
               "Of %s collectives of several hosts that have to overlap %s do: the clocks of the hosts %s.",
               tm_format_count(count, tm_int(tm_get(clock, "checked"))),
               tm_format_pct(pct, tm_double(tm_get(clock, "overlapping_pct"))),
               tm_is(aligned) ? "agree" : "do not agree, and only devices of one host are compared");
}

static void say_members(const struct tm_content *content, const struct tm_value *skew)
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

    tm_say_table(content, &(struct tm_table){ .id = "collective-members",
                                              .caption = "Who comes late, and who waits",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(skew, "members"),
                                              .paper_rows = 32 });
}

static void say_worst(const struct tm_content *content, const struct tm_value *skew)
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

    tm_say_table(content, &(struct tm_table){ .id = "collectives-latest",
                                              .caption = "Latest arrivals",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(skew, "worst"),
                                              .paper_rows = 8 });
    if (tm_length(tm_get(skew, "worst")) > 0 && tm_has_hosts(content))
        tm_say(content, TM_TONE_QUIET, "Times are those of the device's own host.");
}

static void say_skew(const struct tm_content *content, const struct tm_value *skew)
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

    tm_say_subheading(content, "Late arrivals");
    if (tm_say_missing(content, skew, "Who comes late"))
        return;
    say_clock(content, tm_get(skew, "clock"));
    if (tm_say_missing(content, tm_get(skew, "late_ps"), "Who comes late"))
        return;
    tm_say_charts(content, TM_CHART_SKEW);
    tm_say_facts(content, "collective-skew", TM_FACTS(facts), skew);
    say_members(content, skew);
    say_worst(content, skew);
}

static void say_collectives(const struct tm_content *content)
{
    const struct tm_value *collectives = tm_of(content, "collectives");

    tm_say_charts(content, TM_CHART_COLLECTIVES);
    say_totals(content, collectives);
    say_kinds(content, collectives);
    say_devices(content);
    say_skew(content, tm_get(collectives, "skew"));
}

static const char *nothing(const struct tm_value *summary)
{
    return tm_if_none(summary, "collectives.rows", "no collective ran in the analyzed steps");
}

const struct tm_section tm_collectives_section = { "collectives", "Collectives", "collectives", say_collectives,
                                                   nothing };
