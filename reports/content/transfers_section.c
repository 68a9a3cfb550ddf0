/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers: copies of the devices by direction, which of them come again, between whom, how large. */
#include "reports/content/say.h"

static void say_directions(const struct tm_content *content, const struct tm_value *transfers)
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

    if (tm_say_missing(content, rows, "Copies by direction"))
        return;
    tm_say_table(content, &(struct tm_table){ .id = "transfer-directions",
                                              .caption = "Copies by direction",
                                              TM_COLUMNS(columns),
                                              .rows = rows });
}

static void say_costly(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column facts[] = {
        { "Copies of pageable host memory", "pageable.count", TM_CELL_COUNT | TM_RARE },
        { "Their time", "pageable.total_ps", TM_CELL_TIME | TM_RARE },
        { "Share of copy time", "pageable.share_pct", TM_CELL_PCT | TM_RARE },
        { "Copies to the host and back", "ping_pong.count", TM_CELL_COUNT | TM_RARE },
    };

    if (tm_int(tm_path(transfers, "pageable.count")) > 0 || tm_int(tm_path(transfers, "ping_pong.count")) > 0)
        tm_say_facts(content, "transfer-facts", TM_FACTS(facts), transfers);
}

static void say_repeated(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column columns[] = {
        { "Direction", "direction", TM_CELL_DIRECTION },
        { "Size of each", "bytes", TM_CELL_BYTES },
        { "Per step", "per_step", TM_CELL_NUMBER },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Time", "total_ps", TM_CELL_TIME | TM_SUMS },
    };

    tm_say_table(content, &(struct tm_table){ .id = "transfers-repeated",
                                              .caption = "Copies of one size in every step",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(transfers, "repeated"),
                                              .paper_rows = 8 });
}

static void say_pairs(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column columns[] = {
        { "From", "from", TM_CELL_DEVICE },
        { "To", "to", TM_CELL_DEVICE },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Bytes", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Time", "total_ps", TM_CELL_TIME | TM_SUMS },
    };

    tm_say_table(content, &(struct tm_table){ .id = "transfer-pairs",
                                              .caption = "Copies by source and target",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(transfers, "by_pair") });
}

static void say_largest(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column columns[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Direction", "direction", TM_CELL_DIRECTION },
        { "Bytes", "bytes", TM_CELL_BYTES },
        { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME },
    };

    tm_say_table(content, &(struct tm_table){ .id = "transfers-largest",
                                              .caption = "Largest copies",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(transfers, "largest"),
                                              .paper_rows = 5 });
}

static void say_sizes(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column columns[] = {
        { "From size", "from_bytes", TM_CELL_BYTES },
        { "To size", "to_bytes", TM_CELL_BYTES },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Bytes", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Time", "total_ps", TM_CELL_TIME | TM_SUMS },
    };

    tm_say_table(content, &(struct tm_table){ .id = "transfer-sizes",
                                              .caption = "Copies by size",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(transfers, "sizes"),
                                              .paper_rows = 24 });
}

/* TPU runs: what the host told of its transfers. */
static void say_tpu_host(const struct tm_content *content, const struct tm_value *transfers)
{
    static const struct tm_column columns[] = {
        { "Direction", "direction", TM_CELL_DIRECTION },
        { "Count", "count", TM_CELL_COUNT },
        { "Bytes", "bytes", TM_CELL_BYTES },
    };

    tm_say_table(content, &(struct tm_table){ .id = "transfers-of-host",
                                              .caption = "Transfers that the host recorded",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(transfers, "tpu_host") });
    if (tm_length(tm_get(transfers, "tpu_host")) > 0)
        tm_say(content, TM_TONE_QUIET, "The profile does not tell how long the device needed for them.");
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

static void say_transfers(const struct tm_content *content)
{
    const struct tm_value *transfers = tm_of(content, "transfers");

    tm_say_charts(content, TM_CHART_TRANSFERS);
    say_directions(content, transfers);
    say_costly(content, transfers);
    say_repeated(content, transfers);
    if (content->medium->room.is_data || are_several(tm_get(transfers, "by_direction"))) {
        say_pairs(content, transfers);
        say_largest(content, transfers);
    }
    if (content->medium->room.is_data || tm_length(tm_get(transfers, "sizes")) > 1)
        say_sizes(content, transfers);
    say_tpu_host(content, transfers);
}

static const char *nothing(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "transfers.by_direction");
    const bool is_any = tm_length(rows) > 0 || tm_length(tm_path(summary, "transfers.tpu_host")) > 0;

    if (is_any)
        return "";
    return tm_has(rows) || !*tm_why(rows) ? "no copy on a device was recorded" : tm_why(rows);
}

const struct tm_section tm_transfers_section = { "transfers", "Transfers", "transfers", say_transfers, nothing };
