/* SPDX-License-Identifier: Apache-2.0 */
/* Figures over nights and over the steps of a training run, and where their level changes. */
#include "reports/content/say.h"

static void say_changes(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Job", "job", TM_CELL_NAME },
        { "Figure", "title", TM_CELL_WORD },
        { "Night", "night", TM_CELL_WORD },
        { "Training step", "step", TM_CELL_COUNT | TM_GIVEN },
        { "Level before", "before_text", TM_CELL_WORD },
        { "Level after", "after_text", TM_CELL_WORD },
        { "Change", "change_text", TM_CELL_WORD },
        { "Direction", "state", TM_CELL_TERM },
        { "Revision", "revision", TM_CELL_NAME | TM_GIVEN },
        { "Revision before", "revision_before", TM_CELL_NAME | TM_GIVEN | TM_WIDE },
        { "Over", "axis", TM_CELL_TERM | TM_WIDE },
        { "First run", "id", TM_CELL_NAME | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "change-points",
                                              .caption = "Where the level of a figure changed",
                                              TM_COLUMNS(columns),
                                              .rows = tm_of(content, "change_points"),
                                              .paper_rows = 30 });
}

static void say_older(const struct tm_content *content)
{
    const long long older = (long long)tm_int(tm_path(content->summary, "counts.history_older_runs"));

    if (older > 0)
        tm_say(content, TM_TONE_PLAIN,
               "Figures are defined anew since version 2: trends, baselines and change points begin anew. %lld run%s "
               "of version 1 %s in history.db and %s never compared with newer ones.",
               older, tm_format_plural(older), older == 1 ? "stays" : "stay", older == 1 ? "is" : "are");
}

static void say_trends(const struct tm_content *content)
{
    const struct tm_value *left_out = tm_of(content, "left_out");
    const long long jobs = (long long)tm_int(tm_get(left_out, "jobs_without_trend")),
                    points = (long long)tm_int(tm_get(left_out, "change_points"));

    say_older(content);
    if (content->medium->has_charts)
        tm_say(content, TM_TONE_QUIET,
               "Of the jobs that matter most tonight. The shaded part is what is usual for the newest run, a cross is a run "
               "that failed, a line from top to bottom a change of the level, from the dashed line before it to the one "
               "behind it.");
    tm_say_charts(content, TM_CHART_TRENDS);
    if (jobs > 0 && content->medium->has_charts)
        tm_say(content, TM_TONE_QUIET, "%lld other job%s %s no chart here.", jobs, tm_format_plural(jobs),
               jobs == 1 ? "has" : "have");
    tm_say(content, TM_TONE_QUIET, "%s", tm_length(tm_of(content, "change_points")) > 0 ?
                                             "Changes of the level are told from 20 good runs on." :
                                             "No level changed, of figures with 20 good runs and more.");
    say_changes(content);
    if (points > 0)
        tm_say(content, TM_TONE_QUIET, "%lld more changes are not listed.", points);
}

static const char *nothing(const struct tm_value *night)
{
    return tm_int(tm_path(night, "counts.history_older_runs")) > 0
               ? "" : tm_if_none(night, "trends", "no job has two runs with figures");
}

const struct tm_section tm_night_trends_section = { "trends", "Trends", "trends", say_trends, nothing };
