/* SPDX-License-Identifier: Apache-2.0 */
/* The sections with the figures, in the order of the page.  Mostly lists of columns: which values
 * of the summary are shown, under which name and in which form. */
#include <stdio.h>
#include <string.h>

#include "reports/findings/ask.h"
#include "reports/format/format.h"
#include "reports/format/platforms.h"
#include "reports/html/html_collectives.h"
#include "reports/html/html_page.h"

static const struct tm_value *of(const struct tm_page *page, const char *path)
{
    return tm_path(page->summary, path);
}

/* --- steps --- */

static const char *source_text(const char *source)
{
    static const char *const texts[][2] = {
        { "host", "step markers on the host" },
        { "group", "group ids of the events" },
        { "tpu", "the Steps line of the TPU" },
        { "module", "executions of the module with the most device time" },
        { "session", "none marked: the whole session is one step" },
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(texts[i][0], source) == 0)
            return texts[i][1];
    return source;
}

static void write_step_facts(struct tm_page *page, const struct tm_value *steps)
{
    tm_page_facts(page);
    tm_page_fact(page, "Steps are", source_text(tm_text(tm_get(steps, "source"))));
    if (tm_has(tm_get(steps, "module")))
        tm_page_fact(page, "Module", tm_text(tm_get(steps, "module")));
    tm_page_fact_value(page, "Steps in the profile", TM_CELL_COUNT, tm_get(steps, "count"));
    tm_page_fact_value(page, "Chosen for the figures", TM_CELL_COUNT, tm_get(steps, "chosen"));
    tm_page_fact_value(page, "Median", TM_CELL_TIME, tm_get(steps, "median_ps"));
    tm_page_fact_value(page, "Mean", TM_CELL_TIME, tm_get(steps, "mean_ps"));
    tm_page_fact_value(page, "Standard deviation", TM_CELL_TIME, tm_get(steps, "stddev_ps"));
    tm_page_fact_value(page, "90th percentile", TM_CELL_TIME, tm_get(steps, "p90_ps"));
    tm_page_fact_value(page, "95th percentile", TM_CELL_TIME, tm_get(steps, "p95_ps"));
    tm_page_fact_value(page, "Shortest", TM_CELL_TIME, tm_get(steps, "min_ps"));
    tm_page_fact_value(page, "Longest", TM_CELL_TIME, tm_get(steps, "max_ps"));
    tm_page_end_facts(page);
}

static void write_steps(struct tm_page *page)
{
    static const struct tm_html_column skipped[] = {
        { "Step", "number", TM_CELL_WORD },
        { "Host", "host", TM_CELL_HOST },
        { "Left out because", "reason", TM_CELL_PROSE },
    };
    const struct tm_value *steps = of(page, "steps");

    tm_page_charts(page, TM_CHART_STEPS);
    tm_page_charts(page, TM_CHART_STEP_TIMES);
    write_step_facts(page, steps);
    if (tm_length(tm_get(steps, "skipped")) > 0) {
        tm_page_subheading(page, "Steps left out");
        tm_page_table(page, &(struct tm_html_table){ .caption = "Steps that are in no figure",
                                                     TM_TABLE_COLUMNS(skipped),
                                                     .rows = tm_get(steps, "skipped"),
                                                     .most = 100 });
    }
}

/* --- devices --- */

static void write_device_table(struct tm_page *page)
{
    static const struct tm_html_column columns[] = {
        { "Device", "id", TM_CELL_DEVICE },
        { "Utilization", "utilization_pct", TM_CELL_PCT },
        { "Span", "span_ps", TM_CELL_TIME },
        { "Busy", "busy_ps", TM_CELL_TIME },
        { "Compute", "compute_ps", TM_CELL_TIME },
        { "Exposed collectives", "exposed_collective_ps", TM_CELL_TIME },
        { "Exposed copies", "exposed_copy_ps", TM_CELL_TIME },
        { "Idle", "idle_ps", TM_CELL_TIME },
        { "Waits (TPU)", "wait_ps", TM_CELL_TIME },
        { "Hidden (TPU)", "hidden_ps", TM_CELL_TIME },
        { "Gaps", "gaps.count", TM_CELL_COUNT },
        { "Activities", "activities", TM_CELL_COUNT },
        { "Rests on", "reliability", TM_CELL_WORD },
    };

    tm_page_table(page, &(struct tm_html_table){ .caption = "Device time in the chosen steps",
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = of(page, "devices"),
                                                 .sortable = true });
}

static void write_devices(struct tm_page *page)
{
    static const struct tm_html_column unused[] = {
        { "Host", "host", TM_CELL_HOST },
        { "Device without activity", "name", TM_CELL_NAME },
    };
    const struct tm_value *devices = of(page, "devices");

    if (tm_length(devices) == 0)
        tm_page_note(page, "The profile holds no activity of a device.");
    tm_page_charts(page, TM_CHART_DEVICES);
    write_device_table(page);
    if (tm_length(of(page, "unused")) > 0)
        tm_page_table(page, &(struct tm_html_table){ .caption = "Devices that did nothing",
                                                     TM_TABLE_COLUMNS(unused),
                                                     .rows = of(page, "unused"),
                                                     .most = 64 });
}

/* --- kernels --- */

static void write_kernel_table(struct tm_page *page, const struct tm_value *kernels)
{
    static const struct tm_html_column columns[] = {
        { "Kernel", "name", TM_CELL_NAME },
        { "Class", "class", TM_CELL_WORD },
        { "Total", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Count", "count", TM_CELL_COUNT },
        { "Mean", "mean_ps", TM_CELL_TIME },
        { "Min", "min_ps", TM_CELL_TIME },
        { "Median", "p50_ps", TM_CELL_TIME },
        { "p95", "p95_ps", TM_CELL_TIME },
        { "Max", "max_ps", TM_CELL_TIME },
        { "Category", "category", TM_CELL_WORD },
        { "Op", "op", TM_CELL_NAME },
        { "HLO op", "hlo_op", TM_CELL_NAME },
        { "Precision", "precision", TM_CELL_WORD },
        { "Occupancy", "occupancy_pct", TM_CELL_PCT },
        { "Grid", "grid", TM_CELL_WORD },
        { "Block", "block", TM_CELL_WORD },
        { "Registers", "registers", TM_CELL_COUNT },
        { "Shared memory", "shared_bytes", TM_CELL_BYTES },
        { "Devices", "device_count", TM_CELL_COUNT },
    };
    const struct tm_value *rows = tm_get(kernels, "rows");

    tm_page_table(page, &(struct tm_html_table){
                            .caption = "Kernels by total time; launches with other grids, blocks, "
                                       "registers, memory or ops are rows of their own",
                            TM_TABLE_COLUMNS(columns),
                            .rows = rows,
                            .rest = tm_get(kernels, "rest"),
                            .sortable = true,
                            .filterable = tm_length(rows) > 10 });
}

void tm_page_categories(struct tm_page *page)
{
    static const struct tm_html_column by_category[] = {
        { "Category", "category", TM_CELL_WORD },
        { "Total", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Count", "count", TM_CELL_COUNT },
    };
    const struct tm_value *rows = tm_get(of(page, "kernels"), "by_category");

    if (tm_length(rows) == 0)
        return;
    tm_page_subheading(page, "By category");
    tm_page_table(page, &(struct tm_html_table){ .caption = "Time by category",
                                                 TM_TABLE_COLUMNS(by_category),
                                                 .rows = rows,
                                                 .sortable = true });
}

static void write_kernels(struct tm_page *page)
{
    const struct tm_value *kernels = of(page, "kernels");

    tm_page_facts(page);
    tm_page_fact_value(page, "Kernel launches", TM_CELL_COUNT, tm_get(kernels, "count"));
    tm_page_fact_value(page, "Kernel time", TM_CELL_TIME, tm_get(kernels, "total_ps"));
    tm_page_fact_value(page, "Different kernels", TM_CELL_COUNT, tm_get(kernels, "distinct"));
    tm_page_fact_value(page, "Mean length", TM_CELL_TIME, tm_get(kernels, "mean_ps"));
    tm_page_fact_value(page, "Mean length, weighted by time", TM_CELL_TIME,
                       tm_get(kernels, "weighted_mean_ps"));
    tm_page_end_facts(page);
    tm_page_categories(page);
    if (tm_length(tm_get(kernels, "rows")) == 0)
        return;
    tm_page_subheading(page, "All kernels");
    write_kernel_table(page, kernels);
}

/* --- gaps --- */

static void write_gaps(struct tm_page *page)
{
    static const struct tm_html_column columns[] = {
        { "Device", "device", TM_CELL_DEVICE }, { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME }, { "Step", "step", TM_CELL_COUNT },
        { "Cause", "cause", TM_CELL_CAUSE },   { "On the host", "host_event", TM_CELL_NAME },
        { "Before", "before", TM_CELL_NAME }, { "After", "after", TM_CELL_NAME },
    };
    const struct tm_value *gaps = of(page, "gaps");
    char least[TM_FORMAT_BYTES], text[TM_FORMAT_BYTES];

    tm_page_facts(page);
    tm_page_fact_value(page, "Gaps", TM_CELL_COUNT, tm_get(gaps, "count"));
    (void)snprintf(text, sizeof(text), "Of %.24s or more",
                   tm_has(tm_get(gaps, "gap_min_ps"))
                       ? tm_format_time(least, tm_int(tm_get(gaps, "gap_min_ps")))
                       : "the least length");
    tm_page_fact_value(page, text, TM_CELL_COUNT, tm_get(gaps, "count_min"));
    tm_page_fact_value(page, "Idle time in gaps", TM_CELL_TIME, tm_get(gaps, "total_ps"));
    tm_page_fact_value(page, "Pauses between launched work", TM_CELL_COUNT, tm_path(gaps, "pauses.count"));
    tm_page_fact_value(page, "Time in pauses", TM_CELL_TIME, tm_path(gaps, "pauses.total_ps"));
    tm_page_end_facts(page);
    tm_page_charts(page, TM_CHART_CAUSES);
    tm_page_charts(page, TM_CHART_GAPS);
    if (tm_length(tm_get(gaps, "longest")) == 0)
        return;
    tm_page_subheading(page, "Longest gaps");
    tm_page_table(page, &(struct tm_html_table){
                            .caption = "The longest gaps and what the host did meanwhile",
                            TM_TABLE_COLUMNS(columns),
                            .rows = tm_get(gaps, "longest"),
                            .most = 50,
                            .sortable = true });
}

/* --- transfers --- */

static void write_directions(struct tm_page *page, const struct tm_value *transfers)
{
    static const struct tm_html_column columns[] = {
        { "Direction", "direction", TM_CELL_WORD },
        { "Count", "count", TM_CELL_COUNT },
        { "Bytes", "bytes", TM_CELL_BYTES },
        { "Time", "total_ps", TM_CELL_TIME },
        { "Exposed", "exposed_ps", TM_CELL_TIME },
        { "Mean rate", "mean_bandwidth", TM_CELL_RATE },
        { "Best rate", "max_bandwidth", TM_CELL_RATE },
        { "Of unknown size", "unknown_bytes_count", TM_CELL_COUNT },
        { "Outside steps", "outside.count", TM_CELL_COUNT },
        { "Time outside", "outside.total_ps", TM_CELL_TIME },
    };

    tm_page_table(
        page, &(struct tm_html_table){
                  .caption = "Copies on devices by direction: h2d to the device, d2h to the host, "
                             "p2p between devices, d2d on one device",
                  TM_TABLE_COLUMNS(columns),
                  .rows = tm_get(transfers, "by_direction") });
}

static void write_transfer_lists(struct tm_page *page, const struct tm_value *transfers)
{
    static const struct tm_html_column pairs[] = {
        { "From", "from", TM_CELL_DEVICE },     { "To", "to", TM_CELL_DEVICE },
        { "Count", "count", TM_CELL_COUNT },  { "Bytes", "bytes", TM_CELL_BYTES },
        { "Time", "total_ps", TM_CELL_TIME },
    };
    static const struct tm_html_column sizes[] = {
        { "From", "from_bytes", TM_CELL_BYTES }, { "To", "to_bytes", TM_CELL_BYTES },
        { "Count", "count", TM_CELL_COUNT },     { "Bytes", "bytes", TM_CELL_BYTES },
        { "Time", "total_ps", TM_CELL_TIME },
    };
    static const struct tm_html_column largest[] = {
        { "Device", "device", TM_CELL_DEVICE }, { "Direction", "direction", TM_CELL_WORD },
        { "Bytes", "bytes", TM_CELL_BYTES },  { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME },
    };
    static const struct tm_html_column repeated[] = {
        { "Direction", "direction", TM_CELL_WORD }, { "Bytes", "bytes", TM_CELL_BYTES },
        { "Per step", "per_step", TM_CELL_NUMBER }, { "Count", "count", TM_CELL_COUNT },
        { "Time", "total_ps", TM_CELL_TIME },
    };
    static const struct tm_html_column tpu[] = {
        { "Direction", "direction", TM_CELL_WORD },
        { "Count", "count", TM_CELL_COUNT },
        { "Bytes", "bytes", TM_CELL_BYTES },
    };
    const struct tm_html_table tables[] = {
        { .caption = "Copies by pair of devices",
          TM_TABLE_COLUMNS(pairs),
          .rows = tm_get(transfers, "by_pair"),
          .most = 100 },
        { .caption = "Copies of one size that repeat in every step",
          TM_TABLE_COLUMNS(repeated),
          .rows = tm_get(transfers, "repeated"),
          .most = 100 },
        { .caption = "Copies by size",
          TM_TABLE_COLUMNS(sizes),
          .rows = tm_get(transfers, "sizes"),
          .most = 64 },
        { .caption = "The largest copies",
          TM_TABLE_COLUMNS(largest),
          .rows = tm_get(transfers, "largest"),
          .most = 20,
          .sortable = true },
        { .caption = "Transfers that the host recorded, without device time",
          TM_TABLE_COLUMNS(tpu),
          .rows = tm_get(transfers, "tpu_host") },
    };

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        tm_page_table(page, &tables[i]);
}

static void write_transfers(struct tm_page *page)
{
    const struct tm_value *transfers = of(page, "transfers");
    const struct tm_value *pageable = tm_get(transfers, "pageable");

    if (tm_length(tm_get(transfers, "by_direction")) == 0)
        tm_page_note(page, "No copy on a device was recorded.");
    write_directions(page, transfers);
    if (tm_int(tm_get(pageable, "count")) > 0 ||
        tm_int(tm_path(transfers, "ping_pong.count")) > 0) {
        tm_page_facts(page);
        tm_page_fact_value(page, "Copies of pageable host memory", TM_CELL_COUNT,
                           tm_get(pageable, "count"));
        tm_page_fact_value(page, "Their time", TM_CELL_TIME, tm_get(pageable, "total_ps"));
        tm_page_fact_value(page, "Share of copy time", TM_CELL_PCT, tm_get(pageable, "share_pct"));
        tm_page_fact_value(page, "Copies to the host and back", TM_CELL_COUNT,
                           tm_path(transfers, "ping_pong.count"));
        tm_page_end_facts(page);
    }
    write_transfer_lists(page, transfers);
}

/* --- compilation --- */

static void write_compile(struct tm_page *page)
{
    static const struct tm_html_column events[] = {
        { "Module", "module", TM_CELL_NAME },    { "Host", "host", TM_CELL_HOST },
        { "Begin", "begin_ps", TM_CELL_MOMENT }, { "Length", "dur_ps", TM_CELL_TIME },
        { "Step", "step", TM_CELL_COUNT },       { "Shapes", "shapes", TM_CELL_NAME },
    };
    static const struct tm_html_column again[] = {
        { "Module compiled again", "module", TM_CELL_NAME },
        { "Times", "count", TM_CELL_COUNT },
    };
    const struct tm_value *compile = of(page, "compile");

    tm_page_facts(page);
    tm_page_fact_value(page, "Compiles", TM_CELL_COUNT, tm_get(compile, "count"));
    tm_page_fact_value(page, "Time", TM_CELL_TIME, tm_get(compile, "total_ps"));
    tm_page_fact_value(page, "Longest", TM_CELL_TIME, tm_get(compile, "longest_ps"));
    tm_page_fact_value(page, "Inside chosen steps", TM_CELL_COUNT,
                       tm_path(compile, "inside_steps.count"));
    tm_page_fact_value(page, "Time inside chosen steps", TM_CELL_TIME,
                       tm_path(compile, "inside_steps.total_ps"));
    tm_page_fact_value(page, "Counted by the events of", TM_CELL_WORD, tm_get(compile, "source"));
    tm_page_end_facts(page);
    tm_page_table(page, &(struct tm_html_table){ .caption = "Modules compiled more than once",
                                                 TM_TABLE_COLUMNS(again),
                                                 .rows = tm_get(compile, "recompiled"),
                                                 .most = 100 });
    tm_page_table(page, &(struct tm_html_table){ .caption = "Compiles in the order of time",
                                                 TM_TABLE_COLUMNS(events),
                                                 .rows = tm_get(compile, "events"),
                                                 .sortable = true });
}

/* --- memory --- */

static void write_holders(struct tm_page *page, const struct tm_value *allocator)
{
    static const struct tm_html_column columns[] = {
        { "Op", "op", TM_CELL_NAME },
        { "Shape", "shape", TM_CELL_NAME },
        { "Bytes", "bytes", TM_CELL_BYTES },
    };
    char seen[256], name[4 * 40 + 1], caption[256];

    (void)tm_format_visible(seen, sizeof(seen), tm_text(tm_get(allocator, "name")),
                            strlen(tm_text(tm_get(allocator, "name"))));
    (void)tm_format_middle(name, sizeof(name), seen, 40);
    (void)snprintf(caption, sizeof(caption), "Largest buffers alive at the peak of %s", name);
    tm_page_table(page, &(struct tm_html_table){ .caption = caption,
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = tm_get(allocator, "holders"),
                                                 .most = 20 });
}

static void write_kept(struct tm_page *page, const struct tm_value *allocators)
{
    static const struct tm_html_column columns[] = {
        { "Allocator", "name", TM_CELL_NAME },
        { "Host", "host", TM_CELL_HOST },
        { "Buffers", "kept.count", TM_CELL_COUNT },
        { "1st quarter", "kept.quarters_bytes[0]", TM_CELL_BYTES },
        { "2nd quarter", "kept.quarters_bytes[1]", TM_CELL_BYTES },
        { "3rd quarter", "kept.quarters_bytes[2]", TM_CELL_BYTES },
        { "4th quarter", "kept.quarters_bytes[3]", TM_CELL_BYTES },
        { "Largest", "kept.largest_bytes", TM_CELL_BYTES },
        { "Its op", "kept.op", TM_CELL_NAME },
        { "Its shape", "kept.shape", TM_CELL_NAME },
    };
    bool is_any = false;

    for (size_t i = 0; i < tm_length(allocators) && !is_any; i++)
        is_any = tm_int(tm_path(tm_at(allocators, i), "kept.count")) > 0;
    if (is_any)
        tm_page_table(page,
                      &(struct tm_html_table){ .caption = "Buffers taken in the profile and not given back in it",
                                               TM_TABLE_COLUMNS(columns),
                                               .rows = allocators,
                                               .most = 64 });
}

/* Who holds what of one device memory profile. */
static void write_profile(struct tm_page *page, const struct tm_value *profile)
{
    static const struct tm_html_column labels[] = {
        { "Kind", "kind", TM_CELL_WORD },
        { "Count", "count", TM_CELL_COUNT },
        { "Bytes", "bytes", TM_CELL_BYTES },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    static const struct tm_html_column devices[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Count", "count", TM_CELL_COUNT },
        { "Bytes", "bytes", TM_CELL_BYTES },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    static const struct tm_html_column sites[] = {
        { "Held by", "function", TM_CELL_NAME }, { "Source", "source", TM_CELL_NAME },
        { "Kind", "kind", TM_CELL_WORD },        { "Called there", "stack[0]", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT },     { "Bytes", "bytes", TM_CELL_BYTES },
        { "Share", "share_pct", TM_CELL_PCT },
    };

    tm_page_subheading(page, "Device memory profile");
    tm_page_facts(page);
    tm_page_fact_value(page, "File", TM_CELL_NAME, tm_get(profile, "file"));
    tm_page_fact_value(page, "Held in all", TM_CELL_BYTES, tm_get(profile, "total_bytes"));
    tm_page_fact_value(page, "Allocations", TM_CELL_COUNT, tm_get(profile, "total_count"));
    tm_page_end_facts(page);
    tm_page_table(page, &(struct tm_html_table){ .caption = "By kind",
                                                 TM_TABLE_COLUMNS(labels),
                                                 .rows = tm_get(profile, "kinds") });
    tm_page_table(page, &(struct tm_html_table){ .caption = "By device",
                                                 TM_TABLE_COLUMNS(devices),
                                                 .rows = tm_get(profile, "devices") });
    tm_page_table(page, &(struct tm_html_table){ .caption = "By place of the code",
                                                 TM_TABLE_COLUMNS(sites),
                                                 .rows = tm_get(profile, "sites"),
                                                 .sortable = true,
                                                 .filterable = true });
}

static void write_memory(struct tm_page *page)
{
    static const struct tm_html_column columns[] = {
        { "Allocator", "name", TM_CELL_NAME },
        { "Host", "host", TM_CELL_HOST },
        { "Peak", "peak_bytes", TM_CELL_BYTES },
        { "Of capacity", "peak_pct", TM_CELL_PCT },
        { "Capacity", "capacity_bytes", TM_CELL_BYTES },
        { "Peak at", "peak_at_ps", TM_CELL_MOMENT },
        { "Lifetime peak", "lifetime_peak_bytes", TM_CELL_BYTES },
        { "Fragmentation", "fragmentation_pct", TM_CELL_PCT },
        { "Allocations", "allocations", TM_CELL_COUNT },
        { "Frees", "deallocations", TM_CELL_COUNT },
        { "Allocated in all", "allocated_bytes", TM_CELL_BYTES },
        { "Small allocations", "small_allocations", TM_CELL_COUNT },
        { "Allocations a second", "allocations_per_s", TM_CELL_NUMBER },
        { "Allocated a second", "allocated_bytes_per_s", TM_CELL_RATE },
    };
    enum { HOLDER_TABLES = 16, PROFILE_TABLES = 8 };
    const struct tm_value *allocators = of(page, "memory.allocators");

    const struct tm_value *profiles = of(page, "memory.device_profiles");

    if (!tm_has(allocators))
        tm_page_not_recorded(page, tm_why(allocators));
    else if (tm_length(allocators) == 0)
        tm_page_note(page, "No allocator recorded anything.");
    tm_page_charts(page, TM_CHART_MEMORY);
    tm_page_table(page, &(struct tm_html_table){ .caption = "Allocators",
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = allocators,
                                                 .most = 64,
                                                 .sortable = true });
    write_kept(page, allocators);
    for (size_t i = 0; i < tm_length(allocators) && i < HOLDER_TABLES; i++)
        write_holders(page, tm_at(allocators, i));
    for (size_t i = 0; i < tm_length(profiles) && i < PROFILE_TABLES; i++)
        write_profile(page, tm_at(profiles, i));
}

/* --- environment --- */

static void write_environment(struct tm_page *page)
{
    static const struct tm_html_column others[] = {
        { "Host", "host", TM_CELL_HOST },
        { "Framework", "framework", TM_CELL_WORD },
        { "Rank", "rank", TM_CELL_WORD },
        { "Ranks", "world_size", TM_CELL_WORD },
        { "CUDA runtime", "cuda_runtime", TM_CELL_WORD },
        { "Driver", "driver", TM_CELL_WORD },
        { "ROCm", "rocm", TM_CELL_WORD },
    };
    static const struct tm_html_column hosts[] = {
        { "Host", "host", TM_CELL_HOST },
        { "JAX", "jax", TM_CELL_WORD },
        { "jaxlib", "jaxlib", TM_CELL_WORD },
        { "Platform version", "platform_version", TM_CELL_NAME },
        { "CUDA", "cuda", TM_CELL_WORD },
        { "CUDA runtime", "cuda_runtime", TM_CELL_WORD },
        { "Driver", "driver", TM_CELL_WORD },
        { "ROCm", "rocm", TM_CELL_WORD },
        { "libtpu", "libtpu", TM_CELL_WORD },
        { "Process", "process_id", TM_CELL_WORD },
    };
    static const struct tm_html_column devices[] = {
        { "Device model", "model", TM_CELL_NAME },
        { "Vendor", "vendor", TM_CELL_WORD },
        { "Kind", "kind", TM_CELL_WORD },
        { "Count", "count", TM_CELL_COUNT },
        { "Used", "used", TM_CELL_COUNT },
        { "Cores", "core_count", TM_CELL_COUNT },
        { "Memory", "memory_bytes", TM_CELL_BYTES },
        { "Memory bandwidth", "memory_bandwidth_bytes", TM_CELL_RATE },
        { "Peak TFLOP/s", "peak_tflops", TM_CELL_NUMBER },
    };
    const struct tm_value *environment = of(page, "environment");

    if (tm_length(tm_get(environment, "hosts")) == 0 &&
        tm_length(tm_get(environment, "devices")) == 0)
        tm_page_note(page, "The profile says nothing about its hosts and devices.");
    if (strcmp(tm_ask_framework(page->summary), "jax") == 0)
        tm_page_table(page, &(struct tm_html_table){ .caption = "Hosts and versions",
                                                     TM_TABLE_COLUMNS(hosts),
                                                     .rows = tm_get(environment, "hosts") });
    else
        tm_page_table(page, &(struct tm_html_table){ .caption = "Hosts",
                                                     TM_TABLE_COLUMNS(others),
                                                     .rows = tm_get(environment, "hosts") });
    tm_page_table(page, &(struct tm_html_table){ .caption = "Devices",
                                                 TM_TABLE_COLUMNS(devices),
                                                 .rows = tm_get(environment, "devices") });
}

const struct tm_html_section tm_html_sections[] = {
    { "figures", "Figures", "kpis", tm_html_figures },
    { "steps", "Steps", "steps", write_steps },
    { "devices", "Devices", "devices", write_devices },
    { "findings", "Findings", "findings", tm_html_findings },
    { "gaps", "Idle gaps", "gaps", write_gaps },
    { "ops", "Operations", "ops", tm_html_ops },
    { "scopes", "Scopes", "scopes", tm_html_scopes },
    { "kernels", "Kernels", "kernels", write_kernels },
    { "fusion", "Fusion", "fusion", tm_html_fusion },
    { "programs", "Programs", "programs", tm_html_programs },
    { "occupancy", "Occupancy", "occupancy", tm_html_occupancy },
    { "roofline", "Roofline", "roofline", tm_html_roofline },
    { "transfers", "Transfers", "transfers", write_transfers },
    { "collectives", "Collectives", "collectives", tm_html_collectives },
    { "balance", "Balance", "balance", tm_html_balance },
    { "host", "Host", "host", tm_html_host },
    { "fallback", "CPU fallback", "fallback", tm_html_fallback },
    { "compile", "Compilation", "compile", write_compile },
    { "memory", "Memory", "memory", write_memory },
    { "environment", "Environment", "environment", write_environment },
    { "coverage", "Data quality", "coverage", tm_html_coverage },
    { "missing", "Not recorded", NULL, tm_html_missing },
    { "definitions", "Definitions", NULL, tm_html_definitions },
};
const size_t tm_html_section_count = sizeof(tm_html_sections) / sizeof(tm_html_sections[0]);

bool tm_html_is_written(const struct tm_page *page, const struct tm_html_section *section)
{
    return !section->key || (tm_section_is_for_run(section->key, page->summary) &&
                             tm_has(tm_get(page->summary, section->key)));
}
