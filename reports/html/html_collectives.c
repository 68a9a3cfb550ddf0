/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives with who comes late to them, and balance. */
#include "reports/html/html_collectives.h"

#include "reports/format/format.h"

static void write_rows(struct tm_page *page, const struct tm_value *rows)
{
    static const struct tm_html_column columns[] = {
        { "Kind", "kind", TM_CELL_WORD },
        { "Message", "message_bytes", TM_CELL_BYTES },
        { "Type", "data_type", TM_CELL_WORD },
        { "Devices", "group_size", TM_CELL_COUNT },
        { "Count", "count", TM_CELL_COUNT },
        { "Bytes", "bytes", TM_CELL_BYTES },
        { "Time", "total_ps", TM_CELL_TIME },
        { "Mean", "mean_ps", TM_CELL_TIME },
        { "Exposed", "exposed_ps", TM_CELL_TIME },
        { "Overlap", "overlap_pct", TM_CELL_PCT },
        { "Algorithm bandwidth", "algorithm_bandwidth", TM_CELL_RATE },
        { "Bus bandwidth", "bus_bandwidth", TM_CELL_RATE },
    };

    tm_page_table(page, &(struct tm_html_table){ .caption = "Collectives by kind, size and group",
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = rows,
                                                 .most = 100,
                                                 .sortable = true });
}

static void write_members(struct tm_page *page, const struct tm_value *skew)
{
    static const struct tm_html_column columns[] = {
        { "Device", "device", TM_CELL_DEVICE },        { "Matched", "count", TM_CELL_COUNT },
        { "Came last", "last_count", TM_CELL_COUNT }, { "Late", "late_ps", TM_CELL_TIME },
        { "Late at most", "late_max_ps", TM_CELL_TIME }, { "Waits for others", "wait_ps", TM_CELL_TIME },
        { "Others wait for it", "caused_ps", TM_CELL_TIME }, { "In collectives", "collective_ps", TM_CELL_TIME },
    };

    tm_page_table(page, &(struct tm_html_table){ .caption = "Who comes late to collectives, and who waits",
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = tm_get(skew, "members"),
                                                 .sortable = true });
}

static void write_worst(struct tm_page *page, const struct tm_value *skew)
{
    static const struct tm_html_column columns[] = {
        { "Collective", "name", TM_CELL_NAME },   { "Kind", "kind", TM_CELL_WORD },
        { "Group", "group", TM_CELL_NAME },       { "Step", "step", TM_CELL_WORD },
        { "Number in it", "ordinal", TM_CELL_COUNT }, { "Late by", "skew_ps", TM_CELL_TIME },
        { "Last", "last", TM_CELL_DEVICE },         { "Begins at", "begin_ps", TM_CELL_MOMENT },
        { "First", "first", TM_CELL_DEVICE },       { "Begins at", "first_begin_ps", TM_CELL_MOMENT },
    };

    tm_page_table(page, &(struct tm_html_table){ .caption = "The latest arrivals, each in the time of its host",
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = tm_get(skew, "worst") });
}

static void write_clock(struct tm_page *page, const struct tm_value *clock)
{
    const struct tm_value *aligned = tm_get(clock, "aligned");
    char pct[TM_FORMAT_BYTES];

    if (tm_int(tm_get(clock, "hosts")) < 2)
        return;
    if (!tm_has(aligned))
        tm_page_note(page, "The clocks of the hosts are not compared (%s): only devices of one host are.",
                     tm_why(aligned));
    else
        tm_page_note(page, "%s of the collectives that have to overlap on several hosts do: their clocks %s.",
                     tm_format_pct(pct, tm_double(tm_get(clock, "overlapping_pct"))),
                     tm_is(aligned) ? "agree" : "do not agree, and only devices of one host are compared");
}

static void write_skew(struct tm_page *page, const struct tm_value *skew)
{
    tm_page_subheading(page, "Late arrivals");
    if (!tm_has(skew)) {
        tm_page_not_recorded(page, tm_why(skew));
        return;
    }
    write_clock(page, tm_get(skew, "clock"));
    if (!tm_has(tm_get(skew, "late_ps"))) {
        tm_page_not_recorded(page, tm_why(tm_get(skew, "late_ps")));
        return;
    }
    tm_page_facts(page);
    tm_page_fact_value(page, "Matched collectives", TM_CELL_COUNT, tm_get(skew, "matched"));
    tm_page_fact_value(page, "Without a counterpart", TM_CELL_COUNT, tm_get(skew, "unmatched"));
    tm_page_fact_value(page, "Last after first, median", TM_CELL_TIME, tm_get(skew, "p50_ps"));
    tm_page_fact_value(page, "95th percentile", TM_CELL_TIME, tm_get(skew, "p95_ps"));
    tm_page_fact_value(page, "At most", TM_CELL_TIME, tm_get(skew, "max_ps"));
    tm_page_fact_value(page, "The others wait for", TM_CELL_DEVICE, tm_get(skew, "straggler"));
    tm_page_end_facts(page);
    write_members(page, skew);
    write_worst(page, skew);
}

void tm_html_collectives(struct tm_page *page)
{
    const struct tm_value *collectives = tm_get(page->summary, "collectives");

    if (tm_length(tm_get(collectives, "rows")) == 0) {
        tm_page_note(page, "No collective ran in the chosen steps.");
        return;
    }
    write_rows(page, tm_get(collectives, "rows"));
    write_skew(page, tm_get(collectives, "skew"));
}

static void write_busy(struct tm_page *page, const struct tm_value *balance)
{
    static const struct tm_html_column columns[] = {
        { "Device", "device", TM_CELL_DEVICE },   { "Busy", "busy_ps", TM_CELL_TIME },
        { "Compute", "compute_ps", TM_CELL_TIME }, { "Exposed collectives", "exposed_collective_ps", TM_CELL_TIME },
        { "Kernels", "kernels", TM_CELL_COUNT },
    };
    static const struct tm_html_column same[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Time", "total_ps", TM_CELL_TIME },
    };

    tm_page_table(page, &(struct tm_html_table){ .caption = "What each device does",
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = tm_get(balance, "busy"),
                                                 .sortable = true });
    tm_page_table(page, &(struct tm_html_table){ .caption = "The same work: ops that all devices run equally often",
                                                 TM_TABLE_COLUMNS(same),
                                                 .rows = tm_path(balance, "same_work.devices"),
                                                 .sortable = true });
}

static void write_shared_ops(struct tm_page *page, const struct tm_value *balance)
{
    static const struct tm_html_column columns[] = {
        { "Op", "name", TM_CELL_NAME },        { "Module", "module", TM_CELL_NAME },
        { "Run by", "kind", TM_CELL_WORD },    { "Devices", "devices", TM_CELL_COUNT },
        { "Count", "count", TM_CELL_COUNT },   { "Least", "min_ps", TM_CELL_TIME },
        { "Mean", "mean_ps", TM_CELL_TIME },   { "Most", "max_ps", TM_CELL_TIME },
        { "Spread", "spread_pct", TM_CELL_PCT }, { "Slowest", "slowest", TM_CELL_DEVICE },
        { "Excess", "excess_ps", TM_CELL_TIME },
    };

    tm_page_table(page, &(struct tm_html_table){ .caption = "Ops that differ most between devices, time per device",
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = tm_get(balance, "ops"),
                                                 .sortable = true });
}

void tm_html_balance(struct tm_page *page)
{
    const struct tm_value *balance = tm_get(page->summary, "balance");

    if (!tm_has(tm_get(balance, "imbalance_pct"))) {
        tm_page_not_recorded(page, tm_why(tm_get(balance, "imbalance_pct")));
        return;
    }
    tm_page_facts(page);
    tm_page_fact_value(page, "Imbalance of compute", TM_CELL_PCT, tm_get(balance, "imbalance_pct"));
    tm_page_fact_value(page, "Slowest device", TM_CELL_DEVICE, tm_get(balance, "slowest"));
    tm_page_fact_value(page, "By step, median", TM_CELL_PCT, tm_path(balance, "steps.spread_median_pct"));
    tm_page_fact_value(page, "At most", TM_CELL_PCT, tm_path(balance, "steps.spread_max_pct"));
    tm_page_fact_value(page, "in step", TM_CELL_WORD, tm_path(balance, "steps.worst_step"));
    tm_page_end_facts(page);
    write_busy(page, balance);
    write_shared_ops(page, balance);
}
