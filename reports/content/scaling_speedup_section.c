/* SPDX-License-Identifier: Apache-2.0 */
/* Speed-up and efficiency by devices, as charts and as the table that is quoted. */
#include <string.h>

#include "reports/content/say.h"

/* What kind of scaling it is taken for, and why. */
static void say_mode(const struct tm_content *content)
{
    const char *mode = tm_text(tm_of(content, "mode"));
    const struct tm_value *total = tm_of(content, "work.total_change_pct"),
                          *each = tm_of(content, "work.device_change_pct");
    const long long within = (long long)tm_int(tm_of(content, "work.same_within_pct"));
    struct tm_cell cell[2] = { tm_cell_of_value(TM_CELL_PCT, total),
                               tm_cell_of_value(TM_CELL_PCT, each) };
    char text[2][TM_FORMAT_BYTES];

    cell[0].is_change = cell[1].is_change = true;
    if (!tm_has(total))
        tm_say(content, TM_TONE_PLAIN, "Whether the work grows with the devices is not known: %s.",
               tm_why(total));
    else if (strcmp(mode, "strong") == 0)
        tm_say(content, TM_TONE_PLAIN,
               "Strong scaling: the total compute time stays within %lld %% of that "
               "of the first point (%s at most).",
               within, tm_cell_shown(&cell[0], content->summary, text[0]));
    else if (strcmp(mode, "weak") == 0)
        tm_say(content, TM_TONE_PLAIN,
               "Weak scaling: the compute time of each device stays within %lld %% of that of the "
               "first point (%s at most), so the "
               "work grows with the devices. The speed-up is that of the work per time.",
               within, tm_cell_shown(&cell[1], content->summary, text[0]));
    else
        tm_say(content, TM_TONE_PLAIN,
               "Neither strong nor weak scaling: the total compute time changes by "
               "%s, that of each device by %s. "
               "Speed-up and efficiency are those of work that stays the same.",
               tm_cell_shown(&cell[0], content->summary, text[0]),
               tm_cell_shown(&cell[1], content->summary, text[1]));
}

static void say_quoted(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Devices", "devices", TM_CELL_COUNT },
        { "Step", "step_ps", TM_CELL_TIME },
        { "Speed-up", "speedup", TM_CELL_NUMBER },
        { "From", "speedup_low", TM_CELL_NUMBER },
        { "To", "speedup_high", TM_CELL_NUMBER },
        { "Efficiency", "efficiency_pct", TM_CELL_PCT },
        { "Communication", "shares.exposed_collective_pct", TM_CELL_PCT },
        { "Idle", "shares.idle_pct", TM_CELL_PCT },
        { "Imbalance", "imbalance_pct", TM_CELL_PCT },
    };

    tm_say_table(content, &(struct tm_table){ .id = "points",
                                              .caption = "Scaling",
                                              TM_COLUMNS(columns),
                                              .rows = tm_of(content, "points"),
                                              .paper_rows = 64 });
}

static void say_step_times(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Devices", "devices", TM_CELL_COUNT },
        { "Label", "label", TM_CELL_NAME | TM_WIDE },
        { "Hosts", "hosts", TM_CELL_COUNT | TM_WIDE },
        { "Steps", "samples", TM_CELL_COUNT },
        { "Step", "step_ps", TM_CELL_TIME },
        { "Step from", "low_ps", TM_CELL_TIME },
        { "Step to", "high_ps", TM_CELL_TIME },
        { "Mean", "mean_ps", TM_CELL_TIME | TM_WIDE },
        { "Standard deviation", "stddev_ps", TM_CELL_TIME | TM_WIDE },
        { "Variation", "cv_pct", TM_CELL_PCT },
        { "Measured", "measured_ps", TM_CELL_TIME | TM_GIVEN },
        { "Speed-up measured", "measured_speedup", TM_CELL_NUMBER | TM_GIVEN },
    };

    tm_say_table(content, &(struct tm_table){ .id = "step-times",
                                              .caption = "Step times",
                                              TM_COLUMNS(columns),
                                              .rows = tm_of(content, "points"),
                                              .paper_rows = 64 });
}

static void say_speedup(const struct tm_content *content)
{
    say_mode(content);
    tm_say_charts(content, TM_CHART_SPEEDUP);
    say_quoted(content);
    tm_say_charts(content, TM_CHART_EFFICIENCY);
    say_step_times(content);
}

const struct tm_section tm_speedup_section = { "speedup", "Speed-up", "points", say_speedup, NULL };
