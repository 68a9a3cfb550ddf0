/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a job over its runs, and where they change: by time, and by the step of the training run that its newest run is of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/history/night.h"

/* Runs of a job in some order. */
struct axis {
    const char *name;     /* "time", "step" */
    const char *training; /* of steps */
    uint16_t place[NIGHT_POINTS];
    size_t count;
    uint64_t left_out; /* older ones */
};

size_t night_all_places(const struct night_history *history, uint16_t place[NIGHT_POINTS])
{
    size_t count = 0;

    for (size_t i = 0; i < history->count; i++)
        if (night_point_at(history, i)->is_current)
            place[count++] = (uint16_t)i;
    return count;
}

static int by_step(const void *a, const void *b, void *of)
{
    const uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;
    const int64_t x_step = night_point_at(of, x)->step, y_step = night_point_at(of, y)->step;

    return x_step != y_step ? (x_step < y_step ? -1 : 1) : (x > y) - (x < y);
}

static void take_training(struct axis *to, struct night_history *history, const char *training)
{
    *to = (struct axis){ .name = "step", .training = training };
    for (size_t i = 0; i < history->count; i++) {
        const struct night_point *point = night_point_at(history, i);

        if (point->is_current && point->step >= 0 && strcmp(point->training, training) == 0)
            to->place[to->count++] = (uint16_t)i;
    }
    qsort_r(to->place, to->count, sizeof(to->place[0]), by_step, history);
}

size_t night_find_changes(const struct night *night, size_t figure, const uint16_t *index, size_t count,
                          struct tm_change_point points[TM_CHANGE_POINTS_MOST])
{
    const struct tm_history_figure *kind = &tm_figure_table[figure];
    uint16_t place[NIGHT_POINTS] = { 0 };
    size_t values = 0, found;

    for (size_t i = 0; i < count; i++) {
        const struct night_point *point = night_point_at(night->history, index[i]);

        if (!night_is_good(point) || isnan(point->figure[figure]))
            continue;
        place[values] = (uint16_t)i;
        night->series[values++] = point->figure[figure];
    }
    found = tm_change_points((struct tm_sample){ night->series, values }, night_least_change(kind), night->scratch, points);
    for (size_t i = 0; i < found; i++)
        points[i].at = place[points[i].at];
    return found;
}

/* --- writing --- */

static const char *change_word(const struct tm_history_figure *figure, const struct tm_change_point *change)
{
    return figure->better == TM_BETTER_NEITHER                                                  ? "other" :
           (change->after > change->before) == (figure->better == TM_BETTER_LOWER) ? "worse" :
                                                                                     "better";
}

static void add_change(struct tm_value *to, const struct night *night, size_t figure, const struct axis *axis,
                       const struct tm_change_point *change)
{
    const struct tm_history_figure *kind = &tm_figure_table[figure];
    const struct night_point *point = night_point_at(night->history, axis->place[change->at]);

    tm_add_string(to, "state", change_word(kind, change));
    night_add_number(to, "before", change->before, "");
    night_add_number(to, "after", change->after, "");
    night_add_number(to, "change", night_change_of(kind, change->before, change->after), "it was 0");
    tm_add_double(to, "p", change->p);
    tm_add_string(to, "night", point->night);
    tm_add_int(to, "when_ns", point->when_ns);
    if (point->step >= 0)
        tm_add_int(to, "step", point->step);
    else
        tm_add_null(to, "step", "it is not of a training run");
    tm_add_string(to, "id", point->id);
    tm_add_known(to, "revision", point->revision, "it is not known");
    tm_add_known(to, "revision_before",
                   change->at > 0 ? night_point_at(night->history, axis->place[change->at - 1])->revision : "",
                   "it is not known");
}

static void add_place(struct tm_value *to, const struct night *night, size_t figure, const struct axis *axis)
{
    const struct tm_history_figure *kind = &tm_figure_table[figure];

    tm_add_text(to, "job", night->history->job, strlen(night->history->job));
    tm_add_string(to, "figure", kind->id);
    tm_add_string(to, "title", kind->title);
    tm_add_string(to, "unit", kind->unit);
    tm_add_string(to, "axis", axis->name);
    tm_add_known(to, "training", axis->training ? axis->training : "", "it is by time");
}

/* Changes as rows of their own list. */
static void tell_changes(struct night *night, size_t figure, const struct axis *axis, const struct tm_change_point *points,
                         size_t count)
{
    struct tm_value *list = tm_member(night->root, "change_points");
    const struct tm_history_figure *kind = &tm_figure_table[figure];
    char text[TM_FORMAT_BYTES];

    for (size_t i = count; i > 0; i--) {
        struct tm_value *to;

        if (tm_length(list) >= night->options->rows) {
            night->points_left_out++;
            continue;
        }
        to = tm_add_object(list, NULL);
        add_place(to, night, figure, axis);
        add_change(to, night, figure, axis, &points[i - 1]);
        tm_add_string(to, "before_text", night_value(text, points[i - 1].before, kind));
        tm_add_string(to, "after_text", night_value(text, points[i - 1].after, kind));
        tm_add_known(to, "change_text",
                       night_change(text, night_change_of(kind, points[i - 1].before, points[i - 1].after), kind), "it was 0");
    }
}

/* What the newest run is held against; of another axis, or of a failed run, nothing. */
static void add_usual(struct tm_value *to, const struct night_figure *judged, bool is_by_time)
{
    static const char why[] = "the newest run is not compared";

    tm_add_string(to, "state", night_state_words[is_by_time ? judged->state : NIGHT_YOUNG]);
    night_add_number(to, "before", is_by_time ? judged->before : NAN, why);
    night_add_number(to, "band", is_by_time ? judged->band : NAN, why);
    tm_add_uint(to, "runs", is_by_time ? judged->runs : 0);
}

static void draw(struct night *night, const struct night_figure *judged, size_t figure, const struct axis *axis,
                 const struct tm_change_point *points, size_t count)
{
    struct tm_value *to = tm_add_object(tm_member(night->root, "trends"), NULL), *list;

    add_place(to, night, figure, axis);
    add_usual(to, judged, !axis->training);
    list = tm_add_array(to, "points");
    for (size_t i = 0; i < axis->count; i++) {
        const struct night_point *point = night_point_at(night->history, axis->place[i]);
        struct tm_value *of = tm_add_object(list, NULL);

        tm_add_int(of, "at", axis->training ? point->step : point->when_ns);
        if (point->status <= TM_RESULT_PARTIAL)
            night_add_number(of, "value", point->figure[figure], "the run does not have it");
        else
            tm_add_null(of, "value", "the run failed");
        tm_add_string(of, "status", tm_result_status_words[point->status]);
    }
    list = tm_add_array(to, "changes");
    for (size_t i = 0; i < count; i++) {
        struct tm_value *of = tm_add_object(list, NULL);

        tm_add_uint(of, "at", points[i].at);
        add_change(of, night, figure, axis, &points[i]);
    }
    tm_add_uint(to, "left_out", axis->left_out);
    night->trends++;
}

/* --- choosing --- */

static size_t known(const struct night *night, size_t figure, const struct axis *axis)
{
    size_t count = 0;

    for (size_t i = 0; i < axis->count; i++)
        count += !isnan(night_point_at(night->history, axis->place[i])->figure[figure]);
    return count;
}

/* How much a figure has to tell: the one that tells how the job stands, the step time, what changed now, what changed before. */
static int interest(const struct night_judgement *judged, size_t figure, size_t changes)
{
    if (figure == judged->worst)
        return 4;
    if (figure == 0)
        return 3;
    if (judged->figure[figure].state == NIGHT_WORSE || judged->figure[figure].state == NIGHT_BETTER)
        return 2;
    return changes > 0;
}

static void add_axis(struct night *night, const struct night_judgement *judged, const struct axis *axis, bool is_drawn)
{
    struct tm_change_point points[TM_CHANGE_POINTS_MOST];
    int of[TM_FIGURES_MOST] = { 0 };
    size_t drawn = 0;

    for (size_t i = 0; i < tm_figure_count; i++) {
        size_t count;

        if (!tm_figure_table[i].has_trend || known(night, i, axis) < 2)
            continue;
        count = night_find_changes(night, i, axis->place, axis->count, points);
        tell_changes(night, i, axis, points, count);
        of[i] = interest(judged, i, count);
    }
    for (int wanted = 4; wanted > 0 && is_drawn; wanted--)
        for (size_t i = 0; i < tm_figure_count; i++) {
            if (of[i] != wanted || drawn == NIGHT_TRENDS_OF_JOB || night->trends == NIGHT_TRENDS)
                continue;
            draw(night, &judged->figure[i], i, axis, points, night_find_changes(night, i, axis->place, axis->count, points));
            drawn++;
        }
}

static bool has_nights(const struct night_history *history)
{
    return *history->nights[1] != 0;
}

void night_add_trends(struct night *night, const struct night_judgement *judged, bool is_drawn)
{
    struct night_history *history = night->history;
    struct axis axis = { .name = "time" };
    const char *training = judged->newest ? judged->newest->training : "";

    const size_t drawn = night->trends;

    axis.count = night_all_places(history, axis.place);
    axis.left_out = history->runs - axis.count;
    if (has_nights(history) || !*training)
        add_axis(night, judged, &axis, is_drawn);
    if (*training) {
        take_training(&axis, history, training);
        add_axis(night, judged, &axis, is_drawn);
    }
    night->jobs_drawn += night->trends > drawn;
}
