/* SPDX-License-Identifier: Apache-2.0 */
/* Operations: which ones device time goes to, and where in the program they come from. */
#include <string.h>

#include "reports/content/say.h"
#include "reports/format/platforms.h"

enum { OPS_ON_PAPER = 20, ORIGINS_MOST = 12 };

static void say_facts(const struct tm_content *content, const struct tm_value *ops)
{
    static const struct tm_column facts[] = {
        { "Operations", "distinct", TM_CELL_COUNT },
        { "Families of operations", "distinct_families", TM_CELL_COUNT },
        { "Total time", "self_ps", TM_CELL_TIME },
        { "Share of the longest one", "top_share_pct", TM_CELL_PCT },
        { "Operations covering 80 %", "rows_for_80_pct", TM_CELL_COUNT },
    };

    tm_say_facts(content, "op-facts", TM_FACTS(facts), ops);
    if (strcmp(tm_text(tm_get(ops, "basis")), "kernel") == 0)
        tm_say(content, TM_TONE_INFO,
               "The profile does not tell which operations its kernels are of: kernels stand for them.");
}

/* With GPUs it stands with the kernels. */
static void say_categories(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Category", "category", TM_CELL_WORD },
        { "Count", "count", TM_CELL_COUNT },
        { "Total", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
    };

    if (!tm_is_for("gpu", content->summary))
        tm_say_table(content, &(struct tm_table){ .id = "op-categories",
                                                  .caption = "Time by category",
                                                  TM_COLUMNS(columns),
                                                  .rows = tm_of(content, "kernels.by_category") });
}

/* Where each operation is a family of its own, the table of operations says it all. */
static void say_families(const struct tm_content *content, const struct tm_value *ops)
{
    static const struct tm_column columns[] = {
        { "Family", "family", TM_CELL_NAME },
        { "Operations", "members", TM_CELL_COUNT | TM_SUMS },
        { "Self time", "self_ps", TM_CELL_TIME | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Runs", "executions", TM_CELL_COUNT },
        { "Category", "category", TM_CELL_WORD },
        { "Bound by", "bound", TM_CELL_TERM },
        { "Of its roof", "roof_pct", TM_CELL_PCT },
        { "Cumulative", "cumulative_pct", TM_CELL_PCT },
        { "Type", "precision", TM_CELL_WORD | TM_WIDE },
        { "Mean", "mean_ps", TM_CELL_TIME | TM_WIDE },
        { "FLOP per byte", "intensity", TM_CELL_NUMBER | TM_WIDE },
        { "Computing", "flop_rate", TM_CELL_FLOP_RATE | TM_WIDE },
        { "Memory", "bandwidth", TM_CELL_RATE | TM_WIDE },
        { "Framework path", "op", TM_CELL_NAME | TM_WIDE },
        { "Longest operation", "longest", TM_CELL_NAME | TM_WIDE },
        { "Source", "source", TM_CELL_NAME | TM_WIDE },
        { "Events", "count", TM_CELL_COUNT | TM_WIDE | TM_SUMS },
        { "Devices", "device_count", TM_CELL_COUNT | TM_WIDE },
    };

    if (!content->medium->room.is_data &&
        tm_int(tm_get(ops, "distinct_families")) == tm_int(tm_get(ops, "distinct")))
        return;
    tm_say_table(content, &(struct tm_table){ .id = "op-families",
                                              .caption = "Families of operations by self time",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(ops, "families"),
                                              .rest = tm_get(ops, "families_rest"),
                                              .total = ops,
                                              .total_title = "all operations",
                                              .paper_rows = OPS_ON_PAPER });
    tm_say(content, TM_TONE_QUIET,
           "A family is all operations whose names are equal without numbers and whose framework paths are equal without "
           "layer numbers.");
}

static void say_op_table(const struct tm_content *content, const struct tm_value *ops)
{
    static const struct tm_column columns[] = {
        { "Operation", "name", TM_CELL_NAME },
        { "Self time", "self_ps", TM_CELL_TIME | TM_SUMS },
        { "Share", "self_share_pct", TM_CELL_PCT },
        { "Runs", "executions", TM_CELL_COUNT },
        { "Category", "category", TM_CELL_WORD },
        { "Bound by", "bound", TM_CELL_TERM },
        { "Of its roof", "roof_pct", TM_CELL_PCT },
        { "Cumulative", "cumulative_pct", TM_CELL_PCT },
        { "Type", "precision", TM_CELL_WORD | TM_WIDE },
        { "Mean", "mean_ps", TM_CELL_TIME | TM_WIDE },
        { "Shortest", "min_ps", TM_CELL_TIME | TM_WIDE },
        { "Longest", "max_ps", TM_CELL_TIME | TM_WIDE },
        { "FLOP per byte", "intensity", TM_CELL_NUMBER | TM_WIDE },
        { "Computing", "flop_rate", TM_CELL_FLOP_RATE | TM_WIDE },
        { "Memory", "bandwidth", TM_CELL_RATE | TM_WIDE },
        { "Framework path", "op", TM_CELL_NAME | TM_WIDE },
        { "Source", "source", TM_CELL_NAME | TM_WIDE },
        { "Program", "module", TM_CELL_NAME | TM_WIDE },
        { "Events", "count", TM_CELL_COUNT | TM_WIDE | TM_SUMS },
        { "Whole time", "total_ps", TM_CELL_TIME | TM_WIDE | TM_SUMS },
        { "Devices", "device_count", TM_CELL_COUNT | TM_WIDE },
        { "First at", "first.begin_ps", TM_CELL_MOMENT | TM_WIDE },
        { "On", "first.device", TM_CELL_DEVICE | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "ops",
                                              .caption = "Operations by self time",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(ops, "rows"),
                                              .rest = tm_get(ops, "rest"),
                                              .total = ops,
                                              .total_title = "all operations",
                                              .paper_rows = OPS_ON_PAPER });
}

/* Paper has no room for it in the table of the operations. */
static void say_origins(const struct tm_content *content, const struct tm_value *rows)
{
    static const struct tm_column columns[] = {
        { "Operation", "name", TM_CELL_NAME },
        { "Framework path", "op", TM_CELL_NAME },
        { "Source", "source", TM_CELL_NAME },
    };
    size_t pick[ORIGINS_MOST], n = 0;

    if (!content->medium->room.is_paper)
        return;
    for (size_t i = 0; i < tm_length(rows) && i < OPS_ON_PAPER && n < ORIGINS_MOST; i++)
        if (tm_has(tm_get(tm_at(rows, i), "op")) || tm_has(tm_get(tm_at(rows, i), "source")))
            pick[n++] = i;
    if (n == 0)
        return;
    tm_say_table(content, &(struct tm_table){ .id = "op-origins",
                                              .caption = "Where the longest operations come from",
                                              TM_COLUMNS(columns),
                                              .rows = rows,
                                              .pick = pick,
                                              .picks = n,
                                              .is_only_picked = true });
}

static void say_ops(const struct tm_content *content)
{
    const struct tm_value *ops = tm_of(content, "ops");

    say_facts(content, ops);
    say_categories(content);
    say_families(content, ops);
    say_op_table(content, ops);
    say_origins(content, tm_get(ops, "rows"));
}

static const char *nothing(const struct tm_value *summary)
{
    return tm_if_none(summary, "ops.rows", "no operation lies in the analyzed steps");
}

const struct tm_section tm_ops_section = { "ops", "Operations", "ops", say_ops, nothing };
