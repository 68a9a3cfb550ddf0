/* SPDX-License-Identifier: Apache-2.0 */
/* The step times of the sides, and whether they differ. */
#include <stdio.h>
#include <string.h>

#include "reports/content/say.h"
#include "reports/content/side_columns.h"

enum { MIDDLE_BYTES = 300 };

/* "mean 12.3 ms to 18.7 ms (+51.8 %, 95 % interval +3.1 % to +90.2 %), permutation test, p = 0.01" */
static void tell_middle(const struct tm_content *content, const struct tm_value *test, size_t side, const char *name,
                        char out[MIDDLE_BYTES])
{
    static const struct {
        const char *id, *words;
    } methods[] = { { "permutation", "permutation test" }, { "mann_whitney", "Mann-Whitney test" },
                    { "welch_effective", "t test of the effective samples" },
                    { "rank_effective", "rank test of the effective samples" },
                    { "welch", "Welch's test of the runs" } };
    const struct tm_value *sides = tm_of(content, "sides"), *of = tm_get(test, name);
    const struct tm_value *figures[] = { tm_get(of, "change_pct"), tm_get(of, "low_pct"), tm_get(of, "high_pct") };
    const char *method = "", *key = strcmp(name, "mean") == 0 ? "mean_ps" : "median_ps";
    char text[3][TM_FORMAT_BYTES] = { "", "", "" }, shown[TM_FORMAT_BYTES], from[TM_FORMAT_BYTES], to[TM_FORMAT_BYTES],
        p[48] = "";

    for (size_t i = 0; i < 3; i++)
        if (tm_has(figures[i])) {
            struct tm_cell cell = tm_cell_of_value(TM_CELL_PCT, figures[i]);

            cell.is_change = true;
            (void)snprintf(text[i], sizeof(text[i]), "%s", tm_cell_shown(&cell, content->summary, shown));
        }
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (strcmp(tm_text(tm_get(of, "method")), methods[i].id) == 0)
            method = methods[i].words;
    if (tm_has(tm_get(of, "p")))
        (void)snprintf(p, sizeof(p), ", p = %.2g", tm_double(tm_get(of, "p")));
    tm_format_time(from, tm_int(tm_get(tm_at(sides, 0), key)));
    tm_format_time(to, tm_int(tm_get(tm_at(sides, side), key)));
    (void)snprintf(out, MIDDLE_BYTES, "%s %s to %s (%s%s%s%s%s)%s%s%s", name, from, to, text[0],
                   *text[1] ? ", 95 % interval " : "", text[1], *text[1] ? " to " : "", text[2], *p ? ", " : "",
                       *p ? method : "", p);
}

/* "B: mean ...; median ... Regression between these two runs." */
static void say_test(const struct tm_content *content, const struct tm_value *test, size_t side)
{
    static const struct {
        const char *id, *words;
    } verdicts[] = { { "regression", "Regression" }, { "improvement", "Improvement" },
                     { "no_change", "No significant change" },
                     { "inconclusive", "Inconclusive" } };
    const struct tm_value *sides = tm_of(content, "sides"), *worth = tm_get(test, "effective_samples");
    const struct tm_value *compiling = tm_get(test, "compiling_steps"), *reason = tm_get(test, "reason");
    char label[TM_SIDE_TITLE_BYTES], mean[MIDDLE_BYTES], median[MIDDLE_BYTES];
    const char *verdict = "";

    if (!tm_has(tm_path(test, "mean.change_pct")))
        return;
    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
        if (strcmp(tm_text(tm_get(test, "verdict")), verdicts[i].id) == 0)
            verdict = verdicts[i].words;
    tell_middle(content, test, side, "mean", mean);
    tell_middle(content, test, side, "median", median);
    tm_say(content, TM_TONE_PLAIN, "%s: %s; %s. %s%s%s.", tm_side_label(content->summary, side, label), mean, median,
           verdict,
           tm_has(reason) ? ": " : "", tm_has(reason) ? tm_text(reason) : "");
    if (tm_has(tm_at(worth, 0)) && tm_double(tm_at(worth, 0)) < tm_double(tm_get(tm_at(sides, 0), "samples")))
        tm_say(content, TM_TONE_QUIET,
               "Consecutive steps resemble each other (lag-1 autocorrelation %.2f): the tests count %.1f and %.1f independent steps.",
               tm_double(tm_get(test, "lag1")), tm_double(tm_at(worth, 0)), tm_double(tm_at(worth, 1)));
    if (tm_is(tm_get(test, "recorded")))
        tm_say(content, TM_TONE_QUIET,
               "Compilations are recorded in %.0f steps, before %.0f. What they add to the mean is not left to a test: they are events, not chance.",
               tm_double(tm_at(compiling, 1)), tm_double(tm_at(compiling, 0)));
    if (tm_is(tm_get(test, "within_run_spread")))
        tm_say(content, TM_TONE_QUIET, "The change is within the run-to-run variation of %.1f %%.",
               tm_double(tm_get(test, "run_spread_pct")));
}

static void say_change(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Side", "label", TM_CELL_NAME },
        { "Samples", "samples", TM_CELL_COUNT },
        { "Mean", "mean_ps", TM_CELL_TIME },
        { "Median", "median_ps", TM_CELL_TIME },
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
