/* SPDX-License-Identifier: Apache-2.0 */
/* The sections on what could be fused, on programs, and on occupancy. */
#include "reports/html/html_page.h"

static const struct tm_value *of(const struct tm_page *page, const char *path)
{
    return tm_path(page->summary, path);
}

static void write_counts(struct tm_page *page, const struct tm_value *fusion)
{
    tm_page_facts(page);
    tm_page_fact_value(page, "Kernels", TM_CELL_COUNT, tm_path(fusion, "kernels.count"));
    tm_page_fact_value(page, "Kernels per step and device", TM_CELL_NUMBER, tm_get(fusion, "per_step"));
    tm_page_fact_value(page, "Under 100 \xc2\xb5s", TM_CELL_COUNT, tm_path(fusion, "small.count"));
    tm_page_fact_value(page, "Their share of kernel time", TM_CELL_PCT, tm_path(fusion, "small.share_pct"));
    tm_page_fact_value(page, "Under 10 \xc2\xb5s", TM_CELL_COUNT, tm_path(fusion, "tiny.count"));
    tm_page_fact_value(page, "Their share of kernel time", TM_CELL_PCT, tm_path(fusion, "tiny.share_pct"));
    tm_page_fact_value(page, "Runs of small kernels", TM_CELL_COUNT, tm_path(fusion, "runs.count"));
    tm_page_fact_value(page, "Kernels in runs", TM_CELL_COUNT, tm_path(fusion, "runs.kernels"));
    tm_page_fact_value(page, "Pauses in runs", TM_CELL_TIME, tm_path(fusion, "runs.gap_ps"));
    tm_page_fact_value(page, "At stake in runs", TM_CELL_TIME, tm_path(fusion, "runs.at_stake_ps"));
    tm_page_fact_value(page, "Chains of pointwise kernels", TM_CELL_COUNT, tm_path(fusion, "eager_chains.count"));
    tm_page_fact_value(page, "Time in chains", TM_CELL_TIME, tm_path(fusion, "eager_chains.total_ps"));
    tm_page_fact_value(page, "Saved if each were one kernel", TM_CELL_TIME, tm_path(fusion, "eager_chains.saved_ps"));
    tm_page_fact_value(page, "Softmax between two products", TM_CELL_COUNT, tm_path(fusion, "attention_unfused.count"));
    tm_page_fact_value(page, "Layout copies", TM_CELL_PCT, tm_path(fusion, "layout_copies.share_pct"));
    tm_page_fact_value(page, "32-bit products beside matrix units", TM_CELL_TIME,
                       tm_path(fusion, "matrix.f32.total_ps"));
    tm_page_end_facts(page);
}

void tm_html_fusion(struct tm_page *page)
{
    static const struct tm_html_column runs[] = {
        { "Device", "device", TM_CELL_DEVICE },      { "Stream", "track", TM_CELL_NAME },
        { "Begin", "begin_ps", TM_CELL_MOMENT },   { "Length", "dur_ps", TM_CELL_TIME },
        { "Kernels", "kernels", TM_CELL_COUNT },   { "Work", "kernel_ps", TM_CELL_TIME },
        { "Pauses", "gap_ps", TM_CELL_TIME },      { "At stake", "at_stake_ps", TM_CELL_TIME },
        { "Step", "step", TM_CELL_WORD },          { "First kernel", "names[0]", TM_CELL_NAME },
    };
    static const struct tm_html_column repeated[] = {
        { "Kernel", "name", TM_CELL_NAME },       { "Op", "op", TM_CELL_NAME },
        { "Per step", "per_step", TM_CELL_NUMBER }, { "Count", "count", TM_CELL_COUNT },
        { "Total", "total_ps", TM_CELL_TIME },    { "Mean", "mean_ps", TM_CELL_TIME },
    };
    static const struct tm_html_column ops[] = {
        { "Kernel", "name", TM_CELL_NAME },
        { "Op", "op", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT },
        { "Total", "total_ps", TM_CELL_TIME },
    };
    const struct tm_value *fusion = of(page, "fusion");
    const struct tm_html_table tables[] = {
        { .caption = "The longest runs of small kernels on a stream", TM_TABLE_COLUMNS(runs),
          .rows = tm_path(fusion, "runs.longest"), .sortable = true },
        { .caption = "Small ops that come more than 10 times in a step", TM_TABLE_COLUMNS(repeated),
          .rows = tm_get(fusion, "repeated"), .sortable = true },
        { .caption = "Attention in pieces: what stands between the products", TM_TABLE_COLUMNS(ops),
          .rows = tm_path(fusion, "attention_unfused.rows"), .rest = tm_path(fusion, "attention_unfused.rest") },
        { .caption = "Copies and transposes that no operation asked for", TM_TABLE_COLUMNS(ops),
          .rows = tm_path(fusion, "layout_copies.rows"), .rest = tm_path(fusion, "layout_copies.rest") },
        { .caption = "32-bit products beside the matrix units", TM_TABLE_COLUMNS(ops),
          .rows = tm_path(fusion, "matrix.f32.rows"), .rest = tm_path(fusion, "matrix.f32.rest") },
    };

    write_counts(page, fusion);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        tm_page_table(page, &tables[i]);
}

void tm_html_programs(struct tm_page *page)
{
    static const struct tm_html_column pauses[] = {
        { "Device", "device", TM_CELL_DEVICE }, { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME }, { "Step", "step", TM_CELL_WORD },
        { "Before", "before", TM_CELL_NAME }, { "After", "after", TM_CELL_NAME },
    };
    const struct tm_value *programs = of(page, "programs");

    tm_page_facts(page);
    tm_page_fact_value(page, "Programs per step and device", TM_CELL_NUMBER, tm_get(programs, "per_step"));
    tm_page_fact_value(page, "Executions", TM_CELL_COUNT, tm_get(programs, "count"));
    tm_page_fact_value(page, "Operations", TM_CELL_COUNT, tm_get(programs, "operations"));
    tm_page_fact_value(page, "Pauses between programs", TM_CELL_COUNT, tm_path(programs, "pauses.count"));
    tm_page_fact_value(page, "Their time", TM_CELL_TIME, tm_path(programs, "pauses.total_ps"));
    tm_page_end_facts(page);
    tm_page_table(page, &(struct tm_html_table){ .caption = "The longest pauses between two programs",
                                                 TM_TABLE_COLUMNS(pauses),
                                                 .rows = tm_path(programs, "pauses.longest") });
}

static void write_limiters(struct tm_page *page, const struct tm_value *occupancy)
{
    static const struct {
        const char *key, *label;
    } limits[] = { { "registers", "Limited by registers" }, { "shared_memory", "Limited by shared memory" },
                   { "block_size", "Limited by the size of blocks" }, { "grid", "Limited by a small grid" },
                   { "none", "Limited by nothing" }, { "unknown", "Not known by what" } };
    const struct tm_value *limiters = tm_get(occupancy, "limiters");

    tm_page_facts(page);
    tm_page_fact_value(page, "Mean, weighted by time", TM_CELL_PCT, tm_get(occupancy, "mean_pct"));
    tm_page_fact_value(page, "Kernel time it is known of", TM_CELL_TIME, tm_get(occupancy, "known_ps"));
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (tm_int(tm_get(limiters, limits[i].key)) > 0)
            tm_page_fact_value(page, limits[i].label, TM_CELL_TIME, tm_get(limiters, limits[i].key));
    tm_page_fact_value(page, "Lost to last waves of blocks", TM_CELL_TIME, tm_path(occupancy, "tail.lost_ps"));
    tm_page_fact_value(page, "Multiprocessors without a block", TM_CELL_TIME,
                       tm_path(occupancy, "tail.idle_multiprocessors_ps"));
    tm_page_end_facts(page);
}

void tm_html_occupancy(struct tm_page *page)
{
    static const struct tm_html_column bins[] = {
        { "From", "from_pct", TM_CELL_PCT },
        { "To", "to_pct", TM_CELL_PCT },
        { "Kernels", "count", TM_CELL_COUNT },
        { "Total", "total_ps", TM_CELL_TIME },
    };
    static const struct tm_html_column kernels[] = {
        { "Kernel", "name", TM_CELL_NAME },          { "Op", "op", TM_CELL_NAME },
        { "Category", "category", TM_CELL_WORD },    { "Total", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },       { "Occupancy", "occupancy_pct", TM_CELL_PCT },
        { "Limited by", "limiter", TM_CELL_WORD },   { "Grid", "grid", TM_CELL_WORD },
        { "Block", "block", TM_CELL_WORD },          { "Registers", "registers", TM_CELL_COUNT },
        { "Shared memory", "shared_bytes", TM_CELL_BYTES }, { "Waves", "waves", TM_CELL_NUMBER },
        { "Lost", "tail_pct", TM_CELL_PCT },         { "Lost time", "lost_ps", TM_CELL_TIME },
    };
    const struct tm_value *occupancy = of(page, "occupancy");
    const struct tm_html_table tables[] = {
        { .caption = "Kernels by occupancy", TM_TABLE_COLUMNS(bins), .rows = tm_get(occupancy, "histogram") },
        { .caption = "Kernels under 50 % that take 1 % of the kernel time or more", TM_TABLE_COLUMNS(kernels),
          .rows = tm_get(occupancy, "low"), .sortable = true },
        { .caption = "Kernels whose last wave of blocks loses most", TM_TABLE_COLUMNS(kernels),
          .rows = tm_path(occupancy, "tail.rows"), .sortable = true },
    };

    write_limiters(page, occupancy);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        tm_page_table(page, &tables[i]);
}
