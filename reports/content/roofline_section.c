/* SPDX-License-Identifier: Apache-2.0 */
/* Roofline: how near the run comes to what its devices can compute and move. */
#include <string.h>

#include "reports/content/say.h"
#include "reports/format/pick.h"

enum { BOUNDS_MOST = 8, TYPES_MOST = 32, DEVICES_ON_PAPER = 16, FAR_ON_PAPER = 8 };

static void say_facts(const struct tm_content *content, const struct tm_value *roofline)
{
    static const struct tm_column facts[] = {
        { "Bound by", "bound", TM_CELL_TERM },
        { "Of the memory's peak", "memory_pct", TM_CELL_PCT },
        { "Of the computing peak", "flops_pct", TM_CELL_PCT },
        { "Model FLOP utilization", "mfu_pct", TM_CELL_PCT },
        { "Bytes known of computing time", "known_pct", TM_CELL_PCT },
        { "FLOPs known of computing time", "flops_known_pct", TM_CELL_PCT },
    };

    tm_say_facts(content, "roofline-facts", TM_FACTS(facts), roofline);
}

static void say_bounds(const struct tm_content *content, const struct tm_value *roofline)
{
    static const struct tm_column columns[] = {
        { "Bound by", "bound", TM_CELL_TERM },
        { "Time", "total_ps", TM_CELL_TIME },
    };
    const struct tm_value *bounds = tm_get(roofline, "bound_ps");
    struct tm_cell cell[BOUNDS_MOST][2];
    size_t n = 0;

    for (size_t i = 0; i < tm_length(bounds) && n < BOUNDS_MOST; i++) {
        if (tm_int(tm_value_at(bounds, i)) <= 0)
            continue;
        cell[n][0] = tm_cell_of_text(TM_CELL_TERM, tm_key_at(bounds, i));
        cell[n++][1] = tm_cell_of_value(TM_CELL_TIME, tm_value_at(bounds, i));
    }
    tm_say_table(content, &(struct tm_table){ .id = "roofline-bounds",
                                              .caption = "Computing time by what bounds it",
                                              TM_COLUMNS(columns),
                                              .cells = cell[0],
                                              .cell_rows = n });
}

/* Paper has no room for a column with it: each source is said once. */
static void say_sources(const struct tm_content *content, const struct tm_value *devices, const char *key,
                        const char *title)
{
    const char *said = "";

    for (size_t i = 0; i < tm_length(devices) && i < DEVICES_ON_PAPER; i++) {
        const char *source = tm_text(tm_get(tm_at(devices, i), key));

        if (*source && strcmp(source, said) != 0)
            tm_say(content, TM_TONE_QUIET, "%s: %s.", title, source);
        said = *source ? source : said;
    }
}

static void say_peaks(const struct tm_content *content, const struct tm_value *devices, bool has_costs)
{
    static const struct tm_column columns[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Memory", "bandwidth", TM_CELL_RATE },
        { "Of the memory's peak", "memory_pct", TM_CELL_PCT },
        { "Peak of memory", "peak_bandwidth", TM_CELL_RATE },
        { "Computing", "flop_rate", TM_CELL_FLOP_RATE },
        { "Of the computing peak", "flops_pct", TM_CELL_PCT },
        { "Peak of computing", "peak_flops", TM_CELL_FLOP_RATE },
        { "Type", "peak_precision", TM_CELL_TERM },
        { "Source of the memory's peak", "bandwidth_source", TM_CELL_PROSE | TM_WIDE },
        { "Source of the computing peak", "peak_source", TM_CELL_PROSE | TM_WIDE },
    };

    const char *caption = has_costs ? "What the devices did of what they can do" : "What the devices can do";

    tm_say_table(content, &(struct tm_table){ .id = "roofline-devices",
                                              .caption = caption,
                                              TM_COLUMNS(columns),
                                              .rows = devices,
                                              .paper_rows = DEVICES_ON_PAPER });
    if (!content->medium->room.is_paper)
        return;
    say_sources(content, devices, "peak_source", "Peak of computing");
    say_sources(content, devices, "bandwidth_source", "Peak of memory");
}

/* Shares past what can be: said where they are shown. */
static void warn_of_impossible(const struct tm_content *content)
{
    const struct tm_value *rows = tm_of(content, "ops.rows");
    size_t count = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        count += tm_double(tm_get(tm_at(rows, i), "roof_pct")) > 100;
    if (count)
        tm_say(content, TM_TONE_WARNING,
               "%zu operation%s 100 %% of %s roof, which cannot be: caches serve part of the bytes, or the cost is "
               "counted too high.",
               count, count == 1 ? " passes" : "s pass", count == 1 ? "its" : "their");
}

static void say_far(const struct tm_content *content, const struct tm_value *roofline)
{
    static const struct tm_column columns[] = {
        { "Operation", "name", TM_CELL_NAME },
        { "Self time", "self_ps", TM_CELL_TIME },
        { "Above its roof", "lost_ps", TM_CELL_TIME },
        { "Bound by", "bound", TM_CELL_TERM },
        { "Of its roof", "roof_pct", TM_CELL_PCT },
        { "FLOP per byte", "intensity", TM_CELL_NUMBER },
        { "Computing", "flop_rate", TM_CELL_FLOP_RATE },
        { "Memory", "bandwidth", TM_CELL_RATE },
        { "Type", "precision", TM_CELL_WORD | TM_WIDE },
        { "Framework path", "op", TM_CELL_NAME | TM_WIDE },
        { "Source", "source", TM_CELL_NAME | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "roofline-far",
                                              .caption = "Operations under half of their roof",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(roofline, "far"),
                                              .paper_rows = FAR_ON_PAPER });
}

static void say_types(const struct tm_content *content, const struct tm_value *roofline)
{
    static const struct tm_column columns[] = {
        { "Type", "precision", TM_CELL_WORD },
        { "Time", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Matrix products", "matrix_ps", TM_CELL_TIME },
        { "On matrix units", "tensor_core_ps", TM_CELL_TIME },
        { "Events", "count", TM_CELL_COUNT },
    };

    const struct tm_value *rows = tm_get(roofline, "precisions");
    size_t pick[TYPES_MOST];

    tm_say_table(content, &(struct tm_table){ .id = "types",
                                              .caption = "Computing time by type of number",
                                              TM_COLUMNS(columns),
                                              .rows = rows,
                                              .pick = pick,
                                              .picks = tm_pick_largest(rows, "total_ps", NULL, TYPES_MOST, pick) });
}

static void say_roofline(const struct tm_content *content)
{
    const struct tm_value *roofline = tm_of(content, "roofline");

    if (!tm_say_missing(content, tm_get(roofline, "source"), "What operations cost")) {
        say_facts(content, roofline);
        tm_say_charts(content, TM_CHART_ROOFLINE);
        warn_of_impossible(content);
        say_far(content, roofline);
        say_bounds(content, roofline);
    }
    say_peaks(content, tm_get(roofline, "devices"), tm_has(tm_get(roofline, "source")));
    say_types(content, roofline);
}

const struct tm_section tm_roofline_section = { "roofline", "Roofline", "roofline", say_roofline, NULL };
