/* SPDX-License-Identifier: Apache-2.0 */
/* How the time of a step goes from the old to the new: parts that add up. */
#include <stdio.h>

#include "reports/content/say.h"
#include "reports/content/side_columns.h"

enum { PARTS_MOST = 32 };

/* Parts of which one side has anything, in their order.  out: pick  PARTS_MOST; returns their number */
static size_t pick_parts(size_t *pick, const struct tm_value *parts)
{
    size_t picks = 0;

    for (size_t i = 0; i < tm_length(parts) && picks < PARTS_MOST; i++)
        if (tm_int(tm_get(tm_at(parts, i), "base_ps")) != 0 || tm_int(tm_get(tm_at(parts, i), "new_ps")) != 0)
            pick[picks++] = i;
    return picks;
}

static void say_waterfall(const struct tm_content *content, const struct tm_value *waterfall, size_t side)
{
    static const struct tm_column columns[] = {
        { "Part", "title", TM_CELL_WORD },
        { "Before", "base_ps", TM_CELL_TIME },
        { "After", "new_ps", TM_CELL_TIME },
        { "Change", "change_ps", TM_CELL_TIME | TM_CHANGE },
        { "Of the step", "share_pct", TM_CELL_PCT | TM_CHANGE },
        { "p", "p", TM_CELL_NUMBER | TM_WIDE },
        { "Told from noise", "significant", TM_CELL_WORD },
    };
    char id[32], caption[TM_SIDE_TITLE_BYTES + 64], label[TM_SIDE_TITLE_BYTES];
    size_t pick[PARTS_MOST];
    const size_t picks = pick_parts(pick, tm_get(waterfall, "parts"));

    (void)snprintf(id, sizeof(id), "waterfall-%zu", side);
    (void)snprintf(caption, sizeof(caption), "Parts of a step: %s", tm_side_label(content->summary, side, label));
    tm_say_table(content, &(struct tm_table){ .id = id,
                                              .caption = caption,
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(waterfall, "parts"),
                                              .pick = pick,
                                              .picks = picks,
                                              .is_only_picked = true,
                                              .total = waterfall,
                                              .total_title = "the whole step",
                                              .paper_rows = 24 });
}

static void say_waterfalls(const struct tm_content *content)
{
    const struct tm_value *waterfalls = tm_of(content, "waterfalls");

    tm_say(content, TM_TONE_QUIET,
           "Mean time of a step and device. Every moment of it is of one part, so the changes of the parts add up to that "
           "of the step.");
    tm_say_charts(content, TM_CHART_WATERFALL);
    for (size_t i = 0; i < tm_length(waterfalls); i++)
        say_waterfall(content, tm_at(waterfalls, i), i + 1);
}

const struct tm_section tm_waterfall_section = { "waterfall", "From old to new", "waterfalls", say_waterfalls, NULL };
