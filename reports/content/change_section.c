/* SPDX-License-Identifier: Apache-2.0 */
/* The step times of the sides, and whether they differ. */
#include <stdio.h>
#include <string.h>

#include "reports/content/say.h"
#include "reports/content/side_columns.h"

/* "new: median 12.9 ms, before 12.3 ms: +4.9 %, 95 % interval +3.1 % to +6.6 %. The steps differ (Mann-Whitney test,
 * p = 0.0003)." */
static void say_test(const struct tm_content *content, const struct tm_value *test, size_t side)
{
    const struct tm_value *sides = tm_of(content, "sides"), *base = tm_get(tm_at(sides, 0), "median_ps"),
                          *new = tm_get(tm_at(sides, side), "median_ps"), *changed = tm_get(test, "changed");
    const struct tm_value *names[] = { tm_get(test, "change_pct"), tm_get(test, "low_pct"), tm_get(test, "high_pct") };
    char text[3][TM_FORMAT_BYTES] = { "", "", "" }, from[TM_FORMAT_BYTES], to[TM_FORMAT_BYTES], label[TM_SIDE_TITLE_BYTES];
    const char *method = strcmp(tm_text(tm_get(test, "method")), "welch") == 0 ? "Welch's test of the runs" : "Mann-Whitney test";
    const char *why = tm_why(changed);

    if (!tm_has(base) || !tm_has(new))
        return;
    for (size_t i = 0; i < 3; i++)
        if (tm_has(names[i])) {
            struct tm_cell cell = tm_cell_of_value(TM_CELL_PCT, names[i]);

            cell.is_change = true;
            (void)snprintf(text[i], sizeof(text[i]), "%s", tm_cell_shown(&cell, content->summary, from));
        }
    tm_format_time(from, tm_int(base));
    tm_format_time(to, tm_int(new));
    tm_side_label(content->summary, side, label);
    if (!tm_has(changed))
        tm_say(content, TM_TONE_PLAIN, "%s: median %s, before %s (%s). Not tested%s%s.", label, to, from, text[0],
               *why ? ": " : "", why);
    else
        tm_say(content, TM_TONE_PLAIN, "%s: median %s, before %s: %s%s%s%s%s. %s (%s, p = %.2g).", label, to, from, text[0],
               *text[1] ? ", 95 % interval " : "", text[1], *text[1] ? " to " : "", text[2],
               tm_is(changed) ? "The steps differ" : "No difference that can be told from noise", method,
               tm_double(tm_get(test, "p")));
}

static void say_change(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Side", "label", TM_CELL_NAME },
        { "Samples", "samples", TM_CELL_COUNT },
        { "Median", "median_ps", TM_CELL_TIME },
        { "Mean", "mean_ps", TM_CELL_TIME },
        { "95th percentile", "p95_ps", TM_CELL_TIME },
        { "Shortest", "min_ps", TM_CELL_TIME | TM_WIDE },
        { "Longest", "max_ps", TM_CELL_TIME | TM_WIDE },
        { "Standard deviation", "stddev_ps", TM_CELL_TIME | TM_WIDE },
        { "Variation", "cv_pct", TM_CELL_PCT },
        { "Between runs", "between_runs_cv_pct", TM_CELL_PCT | TM_GIVEN },
        { "Measured by the benchmark", "measured_ps", TM_CELL_TIME | TM_GIVEN },
    };
    const struct tm_value *tests = tm_of(content, "tests"), *sides = tm_of(content, "sides");

    for (size_t i = 0; i < tm_length(tests); i++)
        say_test(content, tm_at(tests, i), i + 1);
    tm_say_charts(content, TM_CHART_SIDES);
    tm_say_table(content, &(struct tm_table){ .id = "sides",
                                              .caption = "Step times",
                                              TM_COLUMNS(columns),
                                              .rows = sides,
                                              .paper_rows = 16 });
    if (tm_has(tm_of(content, "geomean.ratios[0]"))) {
        struct tm_side_columns ratios = { .columns = 0 };

        tm_side_columns_add_sides(&ratios, content->summary, "geometric mean", "ratios", TM_CELL_NUMBER);
        tm_say_facts(content, "geomean", ratios.column, ratios.columns, tm_of(content, "geomean"));
        tm_say(content, TM_TONE_QUIET, "Geometric mean of the ratios to the base of the time of a step and of its parts: below 1 is faster.");
    }
}

const struct tm_section tm_change_section = { "change", "Step times", "tests", say_change, NULL };
