/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: how many, how long, which. */
#include "reports/content/say.h"

static void say_categories(const struct tm_content *content, const struct tm_value *kernels)
{
    static const struct tm_column columns[] = {
        { "Category", "category", TM_CELL_WORD },
        { "Count", "count", TM_CELL_COUNT },
        { "Total", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
    };

    tm_say_table(content, &(struct tm_table){ .id = "kernel-categories",
                                              .caption = "Time by category",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(kernels, "by_category"),
                                              .total = kernels,
                                              .total_title = "all kernels" });
}

static void say_kernel_table(const struct tm_content *content, const struct tm_value *kernels)
{
    static const struct tm_column columns[] = {
        { "Kernel", "name", TM_CELL_NAME },
        { "Total", "total_ps", TM_CELL_TIME | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Mean", "mean_ps", TM_CELL_TIME },
        { "p95", "p95_ps", TM_CELL_TIME },
        { "Max", "max_ps", TM_CELL_TIME },
        { "Occupancy", "occupancy_pct", TM_CELL_PCT },
        { "Category", "category", TM_CELL_WORD | TM_WIDE },
        { "Class", "class", TM_CELL_TERM | TM_WIDE },
        { "Op", "op", TM_CELL_NAME | TM_WIDE },
        { "HLO op", "hlo_op", TM_CELL_NAME | TM_WIDE },
        { "Precision", "precision", TM_CELL_WORD | TM_WIDE },
        { "Grid", "grid", TM_CELL_WORD | TM_WIDE },
        { "Block", "block", TM_CELL_WORD | TM_WIDE },
        { "Registers", "registers", TM_CELL_COUNT | TM_WIDE },
        { "Shared memory", "shared_bytes", TM_CELL_BYTES | TM_WIDE },
        { "Min", "min_ps", TM_CELL_TIME | TM_WIDE },
        { "Median", "p50_ps", TM_CELL_TIME | TM_WIDE },
        { "Devices", "device_count", TM_CELL_COUNT | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "kernels",
                                              .caption = "Kernels by total time",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(kernels, "rows"),
                                              .rest = tm_get(kernels, "rest"),
                                              .total = kernels,
                                              .total_title = "all kernels",
                                              .paper_rows = 20 });
    if (tm_length(tm_get(kernels, "rows")) > 0)
        tm_say(content, TM_TONE_QUIET,
               "Launches with other grids, blocks, registers, memory or ops are rows of their own.");
}

static void say_kernels(const struct tm_content *content)
{
    static const struct tm_column facts[] = {
        { "Kernel launches", "count", TM_CELL_COUNT },
        { "Kernel time", "total_ps", TM_CELL_TIME },
        { "Different kernels", "distinct", TM_CELL_COUNT },
        { "Mean length", "mean_ps", TM_CELL_TIME },
        { "Mean length, weighted by time", "weighted_mean_ps", TM_CELL_TIME },
    };
    const struct tm_value *kernels = tm_of(content, "kernels");

    tm_say_facts(content, "kernel-facts", TM_FACTS(facts), kernels);
    say_categories(content, kernels);
    say_kernel_table(content, kernels);
}

static const char *nothing(const struct tm_value *summary)
{
    return tm_if_none(summary, "kernels.rows", "no kernel ran in the chosen steps");
}

const struct tm_section tm_kernels_section = { "kernels", "Kernels", "kernels", say_kernels, nothing };
