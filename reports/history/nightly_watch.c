/* SPDX-License-Identifier: Apache-2.0 */
/* Regressions that are open: for each job and figure, tm_watch_series over its good runs on the hardware of its newest
 * one.  They follow from the rows of the history alone, so a late night is assessed in its place, and a merge that is
 * repeated finds the same. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare/compare.h"
#include "reports/format/format.h"
#include "reports/history/history.h"

enum { NAMED_MOST = 4, NAMES_BYTES = 1024 };

/* One that is open, by places in the history of its job. */
struct open_regression {
    size_t figure;
    const struct night_point *from, *opened, *good /* the run before it */, *last;
    size_t runs; /* at the new level */
    struct tm_regression of;
};

static bool is_good(const struct night_point *point)
{
    return point->is_current && point->status == TM_RESULT_DONE;
}

static const struct night_point *newest_good(const struct night_history *history)
{
    const struct night_point *newest = NULL;

    for (size_t i = 0; i < history->count; i++)
        if (is_good(tm_nightly_point_at(history, i)))
            newest = tm_nightly_point_at(history, i);
    return newest;
}

static bool find_open(const struct night *night, size_t figure, uint64_t hardware, struct open_regression *open)
{
    const struct night_history *history = night->history;
    const struct tm_run_figure *kind = &tm_figure_table[figure];
    const struct tm_watch_options options = { .least = tm_nightly_least_change(kind),
                                              .is_lower_better = kind->better == TM_BETTER_LOWER };
    struct tm_regression found[TM_REGRESSIONS_MOST];
    uint16_t place[NIGHT_POINTS];
    size_t values = 0, count;

    for (size_t i = 0; i < history->count; i++) {
        const struct night_point *point = tm_nightly_point_at(history, i);

        if (!is_good(point) || point->hardware != hardware || isnan(point->figure[figure]))
            continue;
        place[values] = (uint16_t)i;
        night->series[values++] = point->figure[figure];
    }
    count = tm_watch_series((struct tm_sample){ night->series, values }, &options, found);
    if (count == 0 || found[count - 1].end != TM_REGRESSION_OPEN)
        return false;
    open->figure = figure;
    open->of = found[count - 1];
    open->from = tm_nightly_point_at(history, place[open->of.from]);
    open->opened = tm_nightly_point_at(history, place[open->of.opened]);
    open->good = open->of.from > 0 ? tm_nightly_point_at(history, place[open->of.from - 1]) : NULL;
    open->last = tm_nightly_point_at(history, place[values - 1]);
    open->runs = values - open->of.from;
    return true;
}

static bool is_worth(const struct tm_run_figure *figure, double step_ps, const struct tm_regression *of)
{
    /* a part of a step that is a small share of it can double and not matter */
    return !tm_figure_is_of_parts(figure) || isnan(step_ps) || fabs(of->after - of->before) > 0.01 * fabs(step_ps);
}

static size_t find_all(const struct night *night, struct open_regression open[TM_FIGURES_MOST])
{
    const struct night_point *newest = newest_good(night->history);
    size_t count = 0;

    for (size_t i = 0; newest && i < tm_figure_count; i++)
        if (tm_nightly_counts(&tm_figure_table[i]) && find_open(night, i, newest->hardware, &open[count]) &&
            is_worth(&tm_figure_table[i], newest->figure[0], &open[count].of))
            count++;
    return count;
}

void tm_nightly_count_regressions(struct night *night, struct night_job *job)
{
    struct open_regression open[TM_FIGURES_MOST];
    const size_t count = find_all(night, open);

    job->open = count;
    job->opened = 0;
    for (size_t i = 0; i < count; i++)
        job->opened += open[i].opened->is_judged;
    night->open += count;
    night->opened += job->opened;
}

static void add_row(struct tm_value *list, const struct night *night, const struct open_regression *open)
{
    const struct tm_run_figure *figure = &tm_figure_table[open->figure];
    const double change = tm_nightly_change_of(figure, open->of.before, open->of.after);
    struct tm_value *to = tm_add_object(list, NULL);
    char text[TM_FORMAT_BYTES];

    tm_add_text(to, "job", night->history->job, strlen(night->history->job));
    tm_add_string(to, "figure", figure->id);
    tm_add_string(to, "title", figure->name);
    tm_add_string(to, "unit", tm_doc_unit(figure->kind));
    tm_add_string(to, "state", open->opened->is_judged ? "opened" : "open");
    tm_add_string(to, "kind", open->of.kind == TM_REGRESSION_DRIFT ? "drift" : "step");
    tm_nightly_add_number(to, "before", open->of.before, "");
    tm_nightly_add_number(to, "after", open->of.after, "");
    tm_nightly_add_number(to, "change", change, "it was 0");
    tm_add_string(to, "since", open->from->night);
    tm_add_string(to, "opened", open->opened->night);
    tm_add_uint(to, "runs", open->runs);
    tm_add_string(to, "id", open->from->id);
    tm_add_known(to, "good_id", open->good ? open->good->id : "", "no earlier run is in the history");
    tm_add_known(to, "revision", open->from->revision, "it is unknown");
    tm_add_known(to, "revision_before", open->good ? open->good->revision : "", "it is unknown");
    tm_add_known(to, "model", night->history->texts.model, "it is unknown");
    tm_add_string(to, "before_text", tm_nightly_value(text, open->of.before, figure));
    tm_add_string(to, "after_text", tm_nightly_value(text, open->of.after, figure));
    tm_add_known(to, "change_text", tm_nightly_change(text, change, figure), "it was 0");
}

/* For the job that was read last. */
void tm_nightly_add_regressions(struct night *night, bool is_opened)
{
    struct tm_value *list = tm_member(night->root, "regressions");
    struct open_regression open[TM_FIGURES_MOST];
    const size_t count = find_all(night, open);

    for (size_t i = 0; i < count; i++) {
        if (open[i].opened->is_judged != is_opened)
            continue;
        if (tm_length(list) < night->options->rows)
            add_row(list, night, &open[i]);
        else
            night->regressions_left_out++;
    }
}
