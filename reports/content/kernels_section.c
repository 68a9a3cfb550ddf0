/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: how many, how long, which. */
#include <string.h>

#include "reports/content/say.h"

enum { KERNELS_ON_PAPER = 20, NAMES_MOST = 100, VARIANTS_MOST = 512 };

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

static void say_names(const struct tm_content *content, const struct tm_value *kernels)
{
    static const struct tm_column columns[] = {
        { "Kernel", "name", TM_CELL_NAME },
        { "Total", "total_ps", TM_CELL_TIME | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Mean", "mean_ps", TM_CELL_TIME },
        { "p95", "p95_ps", TM_CELL_TIME },
        { "Max", "max_ps", TM_CELL_TIME },
        { "Category", "category", TM_CELL_WORD },
        { "Variants", "variants", TM_CELL_COUNT },
        { "Min", "min_ps", TM_CELL_TIME | TM_WIDE },
        { "Median", "p50_ps", TM_CELL_TIME | TM_WIDE },
        { "Devices", "device_count", TM_CELL_COUNT | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "kernel-names",
                                              .caption = "Kernels by total time",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(kernels, "by_name"),
                                              .rest = tm_get(kernels, "by_name_rest"),
                                              .total = kernels,
                                              .total_title = "all kernels",
                                              .paper_rows = KERNELS_ON_PAPER });
}

/* The variants of the names that take most time, those of a name together.
 * out: pick[VARIANTS_MOST]; returns how many */
static size_t pick_variants(const struct tm_value *names, const struct tm_value *rows, size_t pick[VARIANTS_MOST])
{
    size_t n = 0;

    for (size_t i = 0; i < tm_length(names) && i < NAMES_MOST; i++) {
        const char *name = tm_text(tm_get(tm_at(names, i), "name"));

        for (size_t k = 0; k < tm_length(rows) && n < VARIANTS_MOST; k++)
            if (strcmp(tm_text(tm_get(tm_at(rows, k), "name")), name) == 0)
                pick[n++] = k;
    }
    return n;
}

static void say_variants(const struct tm_content *content, const struct tm_value *kernels)
{
    static const struct tm_column columns[] = {
        { "Kernel", "name", TM_CELL_NAME },
        { "Grid", "grid", TM_CELL_WORD },
        { "Block", "block", TM_CELL_WORD },
        { "Total", "total_ps", TM_CELL_TIME | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Mean", "mean_ps", TM_CELL_TIME },
        { "Occupancy", "occupancy_pct", TM_CELL_PCT },
        { "Registers", "registers", TM_CELL_COUNT | TM_WIDE },
        { "Shared memory", "shared_bytes", TM_CELL_BYTES | TM_WIDE },
        { "Op", "op", TM_CELL_NAME | TM_WIDE },
        { "HLO op", "hlo_op", TM_CELL_NAME | TM_WIDE },
        { "Precision", "precision", TM_CELL_WORD | TM_WIDE },
        { "Category", "category", TM_CELL_WORD | TM_WIDE },
        { "Class", "class", TM_CELL_TERM | TM_WIDE },
        { "Min", "min_ps", TM_CELL_TIME | TM_WIDE },
        { "Median", "p50_ps", TM_CELL_TIME | TM_WIDE },
        { "p95", "p95_ps", TM_CELL_TIME | TM_WIDE },
        { "Max", "max_ps", TM_CELL_TIME | TM_WIDE },
        { "Devices", "device_count", TM_CELL_COUNT | TM_WIDE },
    };
    const struct tm_value *rows = tm_get(kernels, "rows");
    const bool is_data = content->medium->room.is_data; /* has all rows anyway */
    size_t pick[VARIANTS_MOST];
    const size_t picks = is_data ? 0 : pick_variants(tm_get(kernels, "by_name"), rows, pick);

    tm_say_table(content, &(struct tm_table){ .id = "kernels",
                                              .caption = "Variants of each kernel",
                                              TM_COLUMNS(columns),
                                              .rows = rows,
                                              .pick = picks ? pick : NULL,
                                              .picks = picks,
                                              .rest = tm_get(kernels, "rest"),
                                              .total = kernels,
                                              .total_title = "all kernels",
                                              .paper_rows = KERNELS_ON_PAPER });
    if (tm_length(rows) > 0)
        tm_say(content, TM_TONE_QUIET,
               "A variant is a kernel with one grid, block, number of registers, size of shared memory, and op.");
}

static void say_kernels(const struct tm_content *content)
{
    static const struct tm_column facts[] = {
        { "Kernel launches", "count", TM_CELL_COUNT },
        { "Kernel time", "total_ps", TM_CELL_TIME },
        { "Distinct kernels", "distinct_names", TM_CELL_COUNT },
        { "Variants", "distinct", TM_CELL_COUNT },
        { "Mean duration", "compute_mean_ps", TM_CELL_TIME },
        { "Mean duration, weighted by time", "weighted_mean_ps", TM_CELL_TIME },
    };
    const struct tm_value *kernels = tm_of(content, "kernels");

    tm_say_facts(content, "kernel-facts", TM_FACTS(facts), kernels);
    say_categories(content, kernels);
    say_names(content, kernels);
    say_variants(content, kernels);
}

static const char *nothing(const struct tm_value *summary)
{
    return tm_if_none(summary, "kernels.rows", "no kernel ran in the analyzed steps");
}

const struct tm_section tm_kernels_section = { "kernels", "Kernels", "kernels", say_kernels, nothing };
