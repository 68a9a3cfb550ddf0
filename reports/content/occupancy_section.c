/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy: how full the kernels keep the devices, and what limits them. */
#include "reports/content/say.h"

enum { BINS_MOST = 32, LIMITERS_MOST = 8, LOW_ON_PAPER = 10, TAIL_ON_PAPER = 5 };

static void say_facts(const struct tm_content *content, const struct tm_value *occupancy)
{
    static const struct tm_column facts[] = {
        { "Mean, weighted by time", "mean_pct", TM_CELL_PCT },
        { "Kernel time it is known of", "known_ps", TM_CELL_TIME },
        { "Kernel time it is not known of", "unknown_ps", TM_CELL_TIME },
        { "Lost to last waves of blocks", "tail.lost_ps", TM_CELL_TIME },
        { "Multiprocessors without a block", "tail.idle_multiprocessors_ps", TM_CELL_TIME },
    };

    tm_say_facts(content, "occupancy-facts", TM_FACTS(facts), occupancy);
}

static void say_limiters(const struct tm_content *content, const struct tm_value *occupancy)
{
    static const struct tm_column columns[] = {
        { "Limited by", "limiter", TM_CELL_TERM },
        { "Kernel time", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    const struct tm_value *limiters = tm_get(occupancy, "limiters");
    struct tm_cell cell[LIMITERS_MOST][3];
    size_t n = 0;

    for (size_t i = 0; i < tm_length(limiters) && n < LIMITERS_MOST; i++) {
        const struct tm_value *time = tm_value_at(limiters, i);

        if (tm_int(time) <= 0)
            continue;
        cell[n][0] = tm_cell_of_text(TM_CELL_TERM, tm_key_at(limiters, i));
        cell[n][1] = tm_cell_of_value(TM_CELL_TIME, time);
        cell[n++][2] = tm_cell_of_share(time, tm_get(occupancy, "known_ps"));
    }
    tm_say_table(content, &(struct tm_table){ .id = "occupancy-limiters",
                                              .caption = "Kernel time by what limits the occupancy",
                                              TM_COLUMNS(columns),
                                              .cells = cell[0],
                                              .cell_rows = n });
}

static void say_histogram(const struct tm_content *content, const struct tm_value *occupancy)
{
    static const struct tm_column columns[] = {
        { "From", "from_pct", TM_CELL_PCT },
        { "To", "to_pct", TM_CELL_PCT },
        { "Kernels", "count", TM_CELL_COUNT },
        { "Total", "total_ps", TM_CELL_TIME },
    };

    const struct tm_value *rows = tm_get(occupancy, "histogram");
    size_t pick[BINS_MOST], n = 0;

    for (size_t i = 0; i < tm_length(rows) && n < BINS_MOST; i++)
        if (tm_int(tm_get(tm_at(rows, i), "count")) > 0)
            pick[n++] = i;
    tm_say_table(content, &(struct tm_table){ .id = "occupancy-histogram",
                                              .caption = "Kernels by occupancy",
                                              TM_COLUMNS(columns),
                                              .rows = rows,
                                              .pick = pick,
                                              .picks = n,
                                              .is_only_picked = true });
}

static void say_low(const struct tm_content *content, const struct tm_value *occupancy)
{
    static const struct tm_column columns[] = {
        { "Kernel", "name", TM_CELL_NAME },
        { "Total", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Occupancy", "occupancy_pct", TM_CELL_PCT },
        { "Limited by", "limiter", TM_CELL_TERM },
        { "Grid", "grid", TM_CELL_WORD },
        { "Block", "block", TM_CELL_WORD },
        { "Registers", "registers", TM_CELL_COUNT | TM_WIDE },
        { "Shared memory", "shared_bytes", TM_CELL_BYTES | TM_WIDE },
        { "Waves", "waves", TM_CELL_NUMBER | TM_WIDE },
        { "Lost", "tail_pct", TM_CELL_PCT | TM_WIDE },
        { "Lost time", "lost_ps", TM_CELL_TIME | TM_WIDE },
        { "Count", "count", TM_CELL_COUNT | TM_WIDE },
        { "Variants", "variants", TM_CELL_COUNT | TM_WIDE },
        { "Category", "category", TM_CELL_WORD | TM_WIDE },
        { "Op", "op", TM_CELL_NAME | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "occupancy-low",
                                              .caption = "Kernels under 50 % occupancy, of 1 % of the kernel time "
                                                         "or more",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(occupancy, "low"),
                                              .paper_rows = LOW_ON_PAPER });
}

static void say_tail(const struct tm_content *content, const struct tm_value *occupancy)
{
    static const struct tm_column columns[] = {
        { "Kernel", "name", TM_CELL_NAME },
        { "Lost time", "lost_ps", TM_CELL_TIME },
        { "Lost", "tail_pct", TM_CELL_PCT },
        { "Total", "total_ps", TM_CELL_TIME },
        { "Waves", "waves", TM_CELL_NUMBER },
        { "Grid", "grid", TM_CELL_WORD },
        { "Block", "block", TM_CELL_WORD },
        { "Share", "share_pct", TM_CELL_PCT | TM_WIDE },
        { "Occupancy", "occupancy_pct", TM_CELL_PCT | TM_WIDE },
        { "Limited by", "limiter", TM_CELL_TERM | TM_WIDE },
        { "Registers", "registers", TM_CELL_COUNT | TM_WIDE },
        { "Shared memory", "shared_bytes", TM_CELL_BYTES | TM_WIDE },
        { "Count", "count", TM_CELL_COUNT | TM_WIDE },
        { "Variants", "variants", TM_CELL_COUNT | TM_WIDE },
        { "Category", "category", TM_CELL_WORD | TM_WIDE },
        { "Op", "op", TM_CELL_NAME | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "occupancy-tail",
                                              .caption = "Kernels whose last wave of blocks loses most",
                                              TM_COLUMNS(columns),
                                              .rows = tm_path(occupancy, "tail.rows"),
                                              .paper_rows = TAIL_ON_PAPER });
}

static void say_occupancy(const struct tm_content *content)
{
    const struct tm_value *occupancy = tm_of(content, "occupancy");

    say_facts(content, occupancy);
    tm_say_charts(content, TM_CHART_OCCUPANCY);
    say_low(content, occupancy);
    say_limiters(content, occupancy);
    say_tail(content, occupancy);
    say_histogram(content, occupancy);
}

const struct tm_section tm_occupancy_section = { "occupancy", "Occupancy", "occupancy", say_occupancy, NULL };
