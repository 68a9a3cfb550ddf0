/* SPDX-License-Identifier: Apache-2.0 */
/* Did a job get worse?  Its newest run of the page against the median of its last good runs before: docs/night.md.  A change is
 * told where it is larger than what the figure asks for, than three times the spread of those runs, and than three times the
 * spread of the steps from each run to the next, of which more are looked at: seven runs alone often lie close together by
 * chance. */
#include <math.h>
#include <string.h>

#include "reports/history/night.h"

static const double deviations = 3 * 1.4826, part_least = 0.01 /* of a step */;

const char *const night_state_words[] = {
    [NIGHT_FAILED] = "failed", [NIGHT_WORSE] = "worse", [NIGHT_ABSENT] = "absent",   [NIGHT_PARTIAL] = "partial",
    [NIGHT_BETTER] = "better", [NIGHT_NEW] = "new",     [NIGHT_YOUNG] = "not_judged", [NIGHT_SAME] = "same",
    [NIGHT_GONE] = "gone",
};

bool night_counts(const struct tm_history_figure *figure)
{
    return figure->has_trend && figure->better != TM_BETTER_NEITHER;
}

/* The figure of the good runs before a place, newest first. */
static size_t values_before(const struct night_history *history, size_t newest, size_t figure, double value[NIGHT_SPREAD])
{
    size_t count = 0;

    for (size_t i = newest; i > 0 && count < NIGHT_SPREAD; i--) {
        const struct night_point *point = night_point_at(history, i - 1);

        if (night_is_good(point) && !isnan(point->figure[figure]))
            value[count++] = point->figure[figure];
    }
    return count;
}

static double median_of(const double *value, size_t count)
{
    double room[NIGHT_SPREAD];

    memcpy(room, value, count * sizeof(*value));
    return tm_sample_select_median(room, count);
}

static double spread_of(const double *value, size_t count, double level)
{
    double off[NIGHT_BEFORE];

    for (size_t i = 0; i < count; i++)
        off[i] = fabs(value[i] - level);
    return tm_sample_select_median(off, count);
}

/* Of the steps from one run to the next, as the spread of the runs that would make them. */
static double spread_of_steps(const double *value, size_t count)
{
    double step[NIGHT_SPREAD];

    for (size_t i = 0; i + 1 < count; i++)
        step[i] = fabs(value[i + 1] - value[i]);
    return tm_sample_select_median(step, count - 1) / sqrt(2);
}

static bool is_share(const struct tm_history_figure *figure)
{
    return strcmp(figure->unit, "%") == 0;
}

struct tm_least_change night_least_change(const struct tm_history_figure *figure)
{
    struct tm_least_change least = { .share = 0 };

    if (is_share(figure))
        least.amount = figure->least_change;
    else
        least.share = figure->least_change / 100;
    return least;
}

double night_change_of(const struct tm_history_figure *figure, double before, double after)
{
    return is_share(figure) ? after - before : before != 0 ? 100 * (after - before) / fabs(before) : NAN;
}

static void judge_figure(struct night_figure *to, const struct tm_history_figure *figure, const double *value, size_t count,
                         double step_before)
{
    const size_t recent = count < NIGHT_BEFORE ? count : NIGHT_BEFORE;
    const struct tm_least_change least = night_least_change(figure);
    double change;

    to->runs = recent;
    if (count < NIGHT_BEFORE_LEAST || isnan(to->value))
        return;
    to->before = median_of(value, recent);
    to->band = fmax(fmax(least.share * fabs(to->before), least.amount),
                    deviations * fmax(spread_of(value, recent, to->before), spread_of_steps(value, count)));
    if (figure->parts && !isnan(step_before))
        to->band = fmax(to->band, part_least * fabs(step_before));
    change = to->value - to->before;
    to->change = night_change_of(figure, to->before, to->value);
    to->weight = figure->parts && step_before > 0 ? fabs(change) / step_before :
                 !isnan(to->change)               ? fabs(to->change) / 100 :
                                                    1; /* of nothing */
    to->state = !(fabs(change) > to->band) || figure->better == TM_BETTER_NEITHER ? NIGHT_SAME :
                (change > 0) == (figure->better == TM_BETTER_LOWER)             ? NIGHT_WORSE :
                                                                                  NIGHT_BETTER;
}

/* The step time tells, if it changed; else what changed for the worse, the most; else for the better. */
static void judge_job(struct night_judgement *to)
{
    size_t judged = 0;

    to->state = NIGHT_SAME;
    for (size_t i = 0; i < tm_figure_count; i++) {
        const struct night_figure *figure = &to->figure[i];
        const bool is_step = i == 0, is_first = to->worst == tm_figure_count;

        judged += night_counts(&tm_figure_table[i]) && figure->state != NIGHT_YOUNG;
        if (!night_counts(&tm_figure_table[i]) || (figure->state != NIGHT_WORSE && figure->state != NIGHT_BETTER))
            continue;
        if (!is_first && (to->worst == 0 || figure->state > to->state ||
                          (figure->state == to->state && figure->weight <= to->weight)))
            continue;
        to->state = figure->state;
        to->worst = i;
        to->weight = figure->weight + (is_step ? 1000 : 0); /* changes of the step time come first */
    }
    if (judged == 0)
        to->state = NIGHT_YOUNG;
}

/* The place behind the newest run that is judged; 0 = there is none. */
static size_t find_newest(const struct night_history *history)
{
    size_t at = history->count;

    while (at > 0 && !night_point_at(history, at - 1)->is_judged)
        at--;
    return at;
}

static bool ran_before(const struct night_history *history)
{
    return history->runs > history->count || !night_point_at(history, 0)->is_judged;
}

void night_judge(struct night_judgement *to, const struct night_history *history)
{
    const size_t newest = find_newest(history);
    double value[NIGHT_SPREAD];

    *to = (struct night_judgement){ .state = NIGHT_GONE, .worst = tm_figure_count };
    if (history->count == 0)
        return;
    to->newest = night_point_at(history, newest > 0 ? newest - 1 : history->count - 1);
    for (size_t i = 0; i < tm_figure_count; i++)
        to->figure[i] = (struct night_figure){ to->newest->figure[i], NAN, NAN, NAN, 0, NIGHT_YOUNG, 0 };
    if (newest == 0)
        return;
    if (!night_is_good(to->newest)) {
        to->state = to->newest->status == TM_RESULT_PARTIAL ? NIGHT_PARTIAL : NIGHT_FAILED;
        return;
    }
    for (size_t i = 0; i < tm_figure_count; i++) {
        const size_t count = values_before(history, newest - 1, i, value);

        judge_figure(&to->figure[i], &tm_figure_table[i], value, count, to->figure[0].before);
    }
    judge_job(to);
    if (to->state == NIGHT_YOUNG && !ran_before(history))
        to->state = NIGHT_NEW;
}
