/* SPDX-License-Identifier: Apache-2.0 */
/* What a step is made of by devices, and to what the efficiency is lost. */
#include "reports/content/say.h"

static void say_parts(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Devices", "devices", TM_CELL_COUNT },
        { "Computing", "parts.compute_ps", TM_CELL_TIME },
        { "Exposed collectives", "parts.exposed_collective_ps", TM_CELL_TIME },
        { "Exposed copies", "parts.exposed_copy_ps", TM_CELL_TIME },
        { "Idle", "parts.idle_ps", TM_CELL_TIME },
        { "All of it", "parts.total_ps", TM_CELL_TIME },
        { "Total compute time", "work_ps", TM_CELL_TIME },
    };

    tm_say_table(content, &(struct tm_table){ .id = "scaled-parts",
                                              .caption = "Per step and device",
                                              TM_COLUMNS(columns),
                                              .rows = tm_of(content, "points"),
                                              .paper_rows = 64 });
}

static void say_lost(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Devices", "devices", TM_CELL_COUNT },
        { "Efficiency", "efficiency_pct", TM_CELL_PCT },
        { "Lost to collectives", "lost.communication_pct", TM_CELL_PCT | TM_CHANGE },
        { "Lost to idle time", "lost.idle_pct", TM_CELL_PCT | TM_CHANGE },
        { "Lost to compute", "lost.compute_pct", TM_CELL_PCT | TM_CHANGE },
        { "Lost to copies", "lost.copies_pct", TM_CELL_PCT | TM_CHANGE },
        { "Share of collectives grew", "growth.exposed_collective_pct",
          TM_CELL_PCT | TM_CHANGE | TM_WIDE },
        { "Share of idle time grew", "growth.idle_pct", TM_CELL_PCT | TM_CHANGE | TM_WIDE },
        { "Share of compute grew", "growth.compute_pct", TM_CELL_PCT | TM_CHANGE | TM_WIDE },
        { "Share of copies grew", "growth.exposed_copy_pct", TM_CELL_PCT | TM_CHANGE | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "lost",
                                              .caption = "Where the efficiency is lost",
                                              TM_COLUMNS(columns),
                                              .rows = tm_of(content, "points"),
                                              .paper_rows = 64 });
    tm_say(content, TM_TONE_QUIET,
           "Efficiency and losses of a point add up to 100 %%. A loss below 0 is a gain: that part "
           "takes less than it would if "
           "it scaled.");
}

static void say_step(const struct tm_content *content)
{
    tm_say_charts(content, TM_CHART_SCALED_STEP);
    say_parts(content);
    say_lost(content);
}

static const char *nothing(const struct tm_value *scaling)
{
    const struct tm_value *points = tm_get(scaling, "points");

    for (size_t i = 0; i < tm_length(points); i++)
        if (tm_has(tm_path(tm_at(points, i), "parts.total_ps")))
            return "";
    return "the parts of the steps are not known";
}

const struct tm_section tm_scaled_step_section = { "step", "What a step is made of", "points",
                                                   say_step, nothing };
