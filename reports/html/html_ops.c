/* SPDX-License-Identifier: Apache-2.0 */
/* The sections on operations and the roofline. */
#include <string.h>

#include "reports/format/platforms.h"
#include "reports/html/html_page.h"

void tm_html_ops(struct tm_page *page)
{
    static const struct tm_html_column columns[] = {
        { "Operation", "name", TM_CELL_NAME },
        { "Program", "module", TM_CELL_NAME },
        { "Category", "category", TM_CELL_WORD },
        { "Self time", "self_ps", TM_CELL_TIME },
        { "Share", "self_share_pct", TM_CELL_PCT },
        { "Sum", "cumulative_pct", TM_CELL_PCT },
        { "Runs", "executions", TM_CELL_COUNT },
        { "Events", "count", TM_CELL_COUNT },
        { "Mean", "mean_ps", TM_CELL_TIME },
        { "Shortest", "min_ps", TM_CELL_TIME },
        { "Longest", "max_ps", TM_CELL_TIME },
        { "Whole time", "total_ps", TM_CELL_TIME },
        { "Type", "precision", TM_CELL_WORD },
        { "Bound by", "bound", TM_CELL_WORD },
        { "Of its roof", "roof_pct", TM_CELL_PCT },
        { "FLOP per byte", "intensity", TM_CELL_NUMBER },
        { "Computing", "flop_rate", TM_CELL_FLOP_RATE },
        { "Memory", "bandwidth", TM_CELL_RATE },
        { "Devices", "device_count", TM_CELL_COUNT },
        { "Framework path", "op", TM_CELL_NAME },
        { "Source", "source", TM_CELL_NAME },
    };
    const struct tm_value *ops = tm_get(page->summary, "ops");

    tm_page_facts(page);
    tm_page_fact_value(page, "Operations", TM_CELL_COUNT, tm_get(ops, "distinct"));
    tm_page_fact_value(page, "Their time", TM_CELL_TIME, tm_get(ops, "self_ps"));
    tm_page_fact_value(page, "Longest one, of it", TM_CELL_PCT, tm_get(ops, "top_share_pct"));
    tm_page_fact_value(page, "Make up 80 % of it", TM_CELL_COUNT, tm_get(ops, "rows_for_80_pct"));
    tm_page_end_facts(page);
    if (!tm_is_for("gpu", page->summary)) /* else it stands with the kernels */
        tm_page_categories(page);
    if (strcmp(tm_text(tm_get(ops, "basis")), "kernel") == 0)
        tm_page_note(page, "The profile does not tell which operations its kernels are of: kernels stand for them.");
    tm_page_table(page, &(struct tm_html_table){ .caption = "Operations by self time",
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = tm_get(ops, "rows"),
                                                 .rest = tm_get(ops, "rest"),
                                                 .sortable = true,
                                                 .filterable = true });
}

static void write_rates(struct tm_page *page, const struct tm_value *roofline)
{
    tm_page_facts(page);
    tm_page_fact_value(page, "Memory, of the peak", TM_CELL_PCT, tm_get(roofline, "memory_pct"));
    tm_page_fact_value(page, "Computing, of the peak", TM_CELL_PCT, tm_get(roofline, "flops_pct"));
    tm_page_fact_value(page, "Model FLOP utilization", TM_CELL_PCT, tm_get(roofline, "mfu_pct"));
    tm_page_fact_value(page, "Bytes known of computing time", TM_CELL_PCT, tm_get(roofline, "known_pct"));
    tm_page_fact_value(page, "FLOPs known of computing time", TM_CELL_PCT, tm_get(roofline, "flops_known_pct"));
    tm_page_fact_value(page, "Bound by computing", TM_CELL_TIME, tm_path(roofline, "bound_ps.compute"));
    tm_page_fact_value(page, "Bound by memory", TM_CELL_TIME, tm_path(roofline, "bound_ps.memory"));
    tm_page_fact_value(page, "Bound by neither", TM_CELL_TIME, tm_path(roofline, "bound_ps.none"));
    tm_page_fact_value(page, "Not known", TM_CELL_TIME, tm_path(roofline, "bound_ps.unknown"));
    tm_page_end_facts(page);
}

static void write_devices(struct tm_page *page, const struct tm_value *roofline)
{
    static const struct tm_html_column columns[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Computing", "flop_rate", TM_CELL_FLOP_RATE },
        { "Peak", "peak_flops", TM_CELL_FLOP_RATE },
        { "Type", "peak_precision", TM_CELL_WORD },
        { "Of it", "flops_pct", TM_CELL_PCT },
        { "Memory", "bandwidth", TM_CELL_RATE },
        { "Peak of memory", "peak_bandwidth", TM_CELL_RATE },
        { "Share", "memory_pct", TM_CELL_PCT },
        { "Peak is from", "peak_source", TM_CELL_PROSE },
        { "Peak of memory is from", "bandwidth_source", TM_CELL_PROSE },
    };

    tm_page_subheading(page, "Devices against their peaks");
    tm_page_table(page, &(struct tm_html_table){ .caption = "What the devices did of what they can do",
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = tm_get(roofline, "devices"),
                                                 .most = 64 });
}

static void write_far(struct tm_page *page, const struct tm_value *roofline)
{
    static const struct tm_html_column columns[] = {
        { "Operation", "name", TM_CELL_NAME },
        { "Self time", "self_ps", TM_CELL_TIME },
        { "Above its roof", "lost_ps", TM_CELL_TIME },
        { "Bound by", "bound", TM_CELL_WORD },
        { "Of its roof", "roof_pct", TM_CELL_PCT },
        { "FLOP per byte", "intensity", TM_CELL_NUMBER },
        { "Computing", "flop_rate", TM_CELL_FLOP_RATE },
        { "Memory", "bandwidth", TM_CELL_RATE },
        { "Type", "precision", TM_CELL_WORD },
        { "Framework path", "op", TM_CELL_NAME },
        { "Source", "source", TM_CELL_NAME },
    };

    if (tm_length(tm_get(roofline, "far")) == 0)
        return;
    tm_page_subheading(page, "Under half of their roof");
    tm_page_table(page, &(struct tm_html_table){ .caption = "Operations that could be much faster by their cost",
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = tm_get(roofline, "far"),
                                                 .sortable = true });
}

void tm_html_roofline(struct tm_page *page)
{
    static const struct tm_html_column types[] = {
        { "Type", "precision", TM_CELL_WORD },
        { "Time", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Matrix products", "matrix_ps", TM_CELL_TIME },
        { "On matrix units", "tensor_core_ps", TM_CELL_TIME },
        { "Events", "count", TM_CELL_COUNT },
    };
    const struct tm_value *roofline = tm_get(page->summary, "roofline"), *source = tm_get(roofline, "source");

    if (tm_has(source))
        write_rates(page, roofline);
    else
        tm_page_not_recorded(page, tm_why(source));
    tm_page_charts(page, TM_CHART_ROOFLINE);
    write_devices(page, roofline);
    write_far(page, roofline);
    if (tm_length(tm_get(roofline, "precisions")) == 0)
        return;
    tm_page_subheading(page, "Time by type");
    tm_page_table(page, &(struct tm_html_table){ .caption = "Computing time by type",
                                                 TM_TABLE_COLUMNS(types),
                                                 .rows = tm_get(roofline, "precisions"),
                                                 .sortable = true });
}
