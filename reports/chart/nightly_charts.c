/* SPDX-License-Identifier: Apache-2.0 */
/* The step time of each job and its usual variation (schemas/NIGHT.md): a row for each, the change as a dot, the
 * usual changes as a band around zero. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/chart.h"
#include "reports/chart/makers.h"
#include "reports/format/format.h"

/* A figure of a job over its runs (schemas/NIGHT.md): a line over time, or over the steps of a training run, the levels
 * between its changes, and marks where runs failed. */

enum { POINTS_MOST = 400, DOTTED_MOST = 60 /* the last ones */, TICKS_MOST = 8, ROWS_MOST = 60, CHANGES_MOST = 32 };

static const double figure_most = 1e30; /* drawn; no figure is that large */

static const double least_room = 24, most_room = 0.2 /* of the width */, small = 1.9, large = 3.2, line = 1.3,
                    level_line = 2.2, cross = 3.2, least_range = 0.08 /* of the values */;

struct trend {
    const struct tm_value *of, *points, *changes;
    size_t first, count; /* of the points, those that are drawn */
    const char *unit;
    bool is_steps;
    struct tm_plot plot;
    double from, to; /* of the axis below */
    bool is_cut;     /* some values are beyond the scale */
};

static const struct tm_value *point_at(const struct trend *t, size_t i)
{
    return tm_at(t->points, t->first + i);
}

static const struct tm_value *value_at(const struct trend *t, size_t i)
{
    return tm_get(point_at(t, i), "value");
}

static const char *status_at(const struct trend *t, size_t i)
{
    return tm_text(tm_get(point_at(t, i), "status"));
}

static bool is_known(const struct trend *t, size_t i)
{
    return tm_has(value_at(t, i)) && fabs(tm_double(value_at(t, i))) < figure_most;
}

static char *shown(const struct trend *t, char *out, double value)
{
    return tm_format_unit(out, value, *t->unit ? t->unit : "count");
}

/* "2026-11-21", "step 4,000" */
static char *place_text(const struct trend *t, char out[TM_FORMAT_BYTES], size_t i)
{
    const int64_t at = tm_int(tm_get(point_at(t, i), "at"));
    char number[TM_FORMAT_BYTES];

    if (t->is_steps)
        (void)snprintf(out, TM_FORMAT_BYTES, "step %.40s", tm_format_count(number, at));
    else
        (void)snprintf(out, TM_FORMAT_BYTES, "%.10s", tm_format_date(number, at));
    return out;
}

/* --- scales --- */

static enum tm_axis_kind kind_of(const char *unit)
{
    return strcmp(unit, "ps") == 0      ? TM_AXIS_TIME
           : strcmp(unit, "bytes") == 0 ? TM_AXIS_BYTES
           : strcmp(unit, "%") == 0     ? TM_AXIS_PCT
                                        : TM_AXIS_NUMBER;
}

/* The range of the values, at least a fraction of the values, so that noise does not look significant. */
static void range_of(struct trend *t, double *low, double *high)
{
    double value[POINTS_MOST], most;
    size_t known = 0;

    for (size_t i = 0; i < t->count; i++)
        if (is_known(t, i))
            value[known++] = tm_double(value_at(t, i));
    *low = *high = 0;
    if (known == 0)
        return;
    most = tm_without_outliers(value, known); /* sorts them */
    *low = value[0];
    t->is_cut = value[known - 1] > most;
    *high = most;
    if (*high - *low < least_range * fabs(*high)) {
        const double middle = (*high + *low) / 2, half = least_range * fabs(*high) / 2;

        *low = middle - half;
        *high = middle + half;
    }
    *low = *low < 0 || value[0] < 0 ? *low : fmax(*low, 0);
}

static double place_of(const struct trend *t, size_t i)
{
    const double at = t->to > t->from ? tm_double(tm_get(point_at(t, i), "at")) : (double)i;
    const double from = t->to > t->from ? t->from : 0, to = t->to > t->from ? t->to : (double)(t->count - 1);
    const double inset = 8, left = t->plot.left + inset, room = t->plot.right - t->plot.left - 2 * inset;

    return to > from ? left + room * (at - from) / (to - from) : left + room / 2;
}

static double height_of(const struct trend *t, double value)
{
    return tm_axis_place(&t->plot.y, fmin(fmax(value, t->plot.y.from), t->plot.y.to));
}

/* Some of the points, evenly spaced, including the last one. */
static void draw_places(struct tm_chart *chart, const struct trend *t)
{
    double until = 0;
    char label[TM_FORMAT_BYTES], last[TM_FORMAT_BYTES] = "";

    for (int i = 0; i < TICKS_MOST; i++) {
        const size_t at = (size_t)i * (t->count - 1) / (TICKS_MOST - 1);
        const double x = place_of(t, at);
        char *text = place_text(t, label, at);

        if (t->is_steps)
            text += strlen("step ");
        if (strcmp(text, last) == 0)
            continue;
        (void)snprintf(last, sizeof(last), "%s", text);
        tm_chart_line(chart, TM_ROLE_GRID, x, t->plot.bottom, x, t->plot.bottom + 3);
        tm_chart_label(chart, x, t->plot.bottom + TM_PLOT_LABELS_BELOW, text, &until);
    }
}

/* out: the value of the newest run, cut to its room; "" = it has none */
static const char *newest_text(const struct tm_chart *chart, const struct trend *t, char out[TM_FORMAT_BYTES])
{
    out[0] = 0;
    if (is_known(t, t->count - 1))
        tm_chart_fit(shown(t, out, tm_double(value_at(t, t->count - 1))), TM_FORMAT_BYTES, TM_TEXT_STRONG,
                     most_room * chart->width);
    return out;
}

static double room_for_newest(const struct tm_chart *chart, const struct trend *t)
{
    char text[TM_FORMAT_BYTES];

    return fmax(least_room, tm_chart_text_width(newest_text(chart, t, text), TM_TEXT_STRONG) + 6);
}

static void begin_plot(struct tm_chart *chart, struct trend *t)
{
    struct tm_plot_frame frame = { .kind = kind_of(t->unit), .right_room = room_for_newest(chart, t) };

    range_of(t, &frame.low, &frame.high);
    tm_plot_begin(chart, &t->plot, &frame);
    t->from = tm_double(tm_get(point_at(t, 0), "at"));
    t->to = tm_double(tm_get(point_at(t, t->count - 1), "at"));
    draw_places(chart, t);
}

/* --- data --- */

/* For a change, or for the newest run. */
static enum tm_role role_of(const struct tm_value *judged, enum tm_role other)
{
    const char *state = tm_text(tm_get(judged, "state"));

    return strcmp(state, "worse") == 0 ? TM_ROLE_BAD : strcmp(state, "better") == 0 ? TM_ROLE_GOOD : other;
}

/* The usual range, from the runs that the newest one is compared with to the newest one. */
static void draw_usual(struct tm_chart *chart, const struct trend *t)
{
    const double before = tm_double(tm_get(t->of, "before")), band = tm_double(tm_get(t->of, "band")),
                 low = height_of(t, before - band), high = height_of(t, before + band);
    const size_t runs = (size_t)tm_int(tm_get(t->of, "runs"));
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];
    double from;

    if (!tm_has(tm_get(t->of, "band")) || runs == 0)
        return;
    from = place_of(t, t->count > runs + 1 ? t->count - 1 - runs : 0);
    tm_chart_open(chart, "usual: %s to %s", shown(t, a, before - band), shown(t, b, before + band));
    tm_chart_rect(chart, TM_ROLE_AREA, from, high, t->plot.right - from, fmax(low - high, 1));
    tm_chart_close(chart);
}

/* The line ends where a run has no figure, and continues after it. */
static void draw_line(struct tm_chart *chart, const struct trend *t)
{
    bool is_open = false;

    for (size_t i = 0; i < t->count; i++) {
        if (!is_known(t, i)) {
            is_open = false;
            continue;
        }
        if (!is_open)
            tm_chart_path(chart, TM_MARK_POLYLINE, TM_ROLE_SERIES, line);
        is_open = true;
        tm_chart_point(chart, place_of(t, i), height_of(t, tm_double(value_at(t, i))));
    }
}

static void draw_cross(struct tm_chart *chart, const struct trend *t, size_t i)
{
    const double x = place_of(t, i), y = t->plot.bottom - 2 * cross;
    char place[TM_FORMAT_BYTES];

    tm_chart_open(chart, "%s: %s", place_text(t, place, i), status_at(t, i));
    for (int k = -1; k <= 1; k += 2) {
        tm_chart_path(chart, TM_MARK_POLYLINE, TM_ROLE_BAD, 1.6);
        tm_chart_point(chart, x - cross, y - k * cross);
        tm_chart_point(chart, x + cross, y + k * cross);
    }
    tm_chart_close(chart);
}

static void draw_dot(struct tm_chart *chart, const struct trend *t, size_t i, enum tm_role role, double radius)
{
    const double value = tm_double(value_at(t, i));
    char place[TM_FORMAT_BYTES], text[TM_FORMAT_BYTES];

    tm_chart_open(chart, "%s: %s%s%s", place_text(t, place, i), shown(t, text, value),
                  strcmp(status_at(t, i), "done") == 0 ? "" : ", ",
                  strcmp(status_at(t, i), "done") == 0 ? "" : status_at(t, i));
    tm_chart_dot(chart, role, place_of(t, i), height_of(t, value), radius);
    tm_chart_close(chart);
}

static bool failed(const struct trend *t, size_t i)
{
    return strcmp(status_at(t, i), "done") != 0 && strcmp(status_at(t, i), "partial") != 0;
}

static void draw_points(struct tm_chart *chart, const struct trend *t)
{
    for (size_t i = 0; i < t->count; i++) {
        if (failed(t, i))
            draw_cross(chart, t, i);
        else if (is_known(t, i) && strcmp(status_at(t, i), "done") != 0)
            draw_dot(chart, t, i, TM_ROLE_WARNING, small);
        else if (is_known(t, i) && i + DOTTED_MOST >= t->count)
            draw_dot(chart, t, i, TM_ROLE_SERIES, small);
    }
}

/* The newest one, larger and with its value. */
static void draw_newest(struct tm_chart *chart, const struct trend *t)
{
    char text[TM_FORMAT_BYTES];
    double y;

    if (t->count == 0 || !is_known(t, t->count - 1))
        return;
    y = height_of(t, tm_double(value_at(t, t->count - 1)));
    draw_dot(chart, t, t->count - 1, role_of(t->of, TM_ROLE_SERIES), large);
    tm_chart_string(chart, role_of(t->of, TM_ROLE_TEXT), TM_TEXT_STRONG, TM_ANCHOR_START, t->plot.right + 5,
                    fmin(fmax(y + 3, t->plot.top + 6), t->plot.bottom), newest_text(chart, t, text));
}

/* --- levels --- */

/* Where a change is drawn: between the run before it and its first one. */
static double border_of(const struct trend *t, const struct tm_value *change)
{
    const int64_t at = tm_int(tm_get(change, "at")) - (int64_t)t->first;

    if (at <= 0 || (size_t)at >= t->count)
        return NAN;
    return (place_of(t, (size_t)at - 1) + place_of(t, (size_t)at)) / 2;
}

static void draw_level(struct tm_chart *chart, const struct trend *t, double from, double to, double value)
{
    tm_chart_dashed_path(chart, TM_ROLE_QUIET, level_line / 2);
    tm_chart_point(chart, from, height_of(t, value));
    tm_chart_point(chart, to, height_of(t, value));
}

static void draw_changes(struct tm_chart *chart, const struct trend *t)
{
    const bool is_share = strcmp(t->unit, "%") == 0;
    double from = t->plot.left, until = from;

    for (size_t i = 0; i < tm_length(t->changes) && i < CHANGES_MOST; i++) {
        const struct tm_value *change = tm_at(t->changes, i), *size = tm_get(change, "change");
        const double x = border_of(t, change), before = tm_double(tm_get(change, "before")),
                     after = tm_double(tm_get(change, "after"));
        char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], text[TM_FORMAT_BYTES] = "";
        double half;

        if (isnan(x))
            continue;
        if (tm_has(size))
            tm_format_change(text, tm_double(size), is_share);
        draw_level(chart, t, from, x, before);
        tm_chart_open(chart, "%s: level %s \xe2\x86\x92 %s%s%s", tm_text(tm_get(change, "night")), shown(t, a, before),
                      shown(t, b, after), *text ? ", " : "", text);
        tm_chart_path(chart, TM_MARK_POLYLINE, role_of(change, TM_ROLE_QUIET), line);
        tm_chart_point(chart, x, t->plot.top);
        tm_chart_point(chart, x, t->plot.bottom);
        half = tm_chart_text_width(text, TM_TEXT_SMALL) / 2;
        if (fmax(x, half) - half > until && *text) {
            const double middle = fmin(fmax(x, half), chart->width - half);

            tm_chart_string(chart, role_of(change, TM_ROLE_QUIET), TM_TEXT_SMALL, TM_ANCHOR_MIDDLE, middle,
                            t->plot.top - 4, text);
            until = middle + half + 6;
        }
        tm_chart_close(chart);
        from = x;
        if (i + 1 == tm_length(t->changes) || i + 1 == CHANGES_MOST)
            draw_level(chart, t, from, t->plot.right, after);
    }
}

/* --- the chart --- */

static void fill_table(struct tm_chart *chart, const struct trend *t)
{
    const size_t from = t->count > ROWS_MOST ? t->count - ROWS_MOST : 0;
    char text[TM_FORMAT_BYTES];

    tm_chart_column(chart, t->is_steps ? "step" : "day", false);
    tm_chart_column(chart, tm_text(tm_get(t->of, "title")), true);
    tm_chart_column(chart, "status", false);
    for (size_t i = t->count; i > from; i--) {
        tm_chart_cell(chart, place_text(t, text, i - 1));
        tm_chart_cell(chart, is_known(t, i - 1) ? shown(t, text, tm_double(value_at(t, i - 1))) : "");
        tm_chart_cell(chart, status_at(t, i - 1));
    }
}

static void write_caption(struct tm_chart *chart, const struct trend *t)
{
    const size_t changes = tm_length(t->changes);
    char from[TM_FORMAT_BYTES], to[TM_FORMAT_BYTES];
    size_t bad = 0;

    for (size_t i = 0; i < t->count; i++)
        bad += failed(t, i);
    char training[TM_CHART_NAME_BYTES];

    tm_chart_cut_name(training, sizeof(training), tm_text(tm_get(t->of, "training")));
    tm_chart_add_caption(chart, "%zu runs%s%s, from %s to %s", t->count, t->is_steps ? " of the training run " : "",
                         t->is_steps ? training : "", place_text(t, from, 0), place_text(t, to, t->count - 1));
    if (tm_int(tm_get(t->of, "left_out")) > 0 || t->first > 0)
        tm_chart_add_caption(chart, ", the last ones of %lld",
                             (long long)tm_int(tm_get(t->of, "left_out")) + (long long)(t->first + t->count));
    tm_chart_add_caption(chart, ".");
    if (bad > 0)
        tm_chart_add_caption(chart, " %zu of them failed.", bad);
    if (changes > 0)
        tm_chart_add_caption(chart, " %zu change%s of level.", changes, tm_format_plural(changes));
    if (t->is_cut)
        tm_chart_add_caption(chart, " Dots at the top are beyond the scale.");
    if (t->count > ROWS_MOST)
        tm_chart_add_caption(chart, " The table has the last %d runs.", ROWS_MOST);
}

static size_t known_points(const struct tm_value *trend)
{
    const struct tm_value *points = tm_get(trend, "points");
    size_t known = 0;

    for (size_t i = 0; i < tm_length(points); i++)
        known += tm_has(tm_get(tm_at(points, i), "value"));
    return known;
}

/* Those with a value; the others would have no scale. */
static const struct tm_value *trend_at(const struct tm_value *night, size_t index)
{
    const struct tm_value *trends = tm_get(night, "trends");

    for (size_t i = 0; i < tm_length(trends); i++)
        if (known_points(tm_at(trends, i)) > 0 && index-- == 0)
            return tm_at(trends, i);
    return NULL;
}

static size_t count_trends(const struct tm_value *night)
{
    const struct tm_value *trends = tm_get(night, "trends");
    size_t count = 0;

    for (size_t i = 0; i < tm_length(trends); i++)
        count += known_points(tm_at(trends, i)) > 0;
    return count;
}

static void draw_trend(struct tm_chart *chart, const struct tm_value *night, size_t index)
{
    const struct tm_value *of = trend_at(night, index);
    struct trend t = { .of = of,
                       .points = tm_get(of, "points"),
                       .changes = tm_get(of, "changes"),
                       .unit = tm_text(tm_get(of, "unit")),
                       .is_steps = strcmp(tm_text(tm_get(of, "axis")), "step") == 0 };
    char job[TM_CHART_NAME_BYTES];

    t.count = tm_length(t.points) < POINTS_MOST ? tm_length(t.points) : POINTS_MOST;
    t.first = tm_length(t.points) - t.count;
    begin_plot(chart, &t);
    draw_usual(chart, &t);
    draw_changes(chart, &t);
    draw_line(chart, &t);
    draw_points(chart, &t);
    draw_newest(chart, &t);
    fill_table(chart, &t);
    tm_chart_cut_name(job, sizeof(job), tm_text(tm_get(of, "job")));
    (void)snprintf(chart->title, sizeof(chart->title), "%s", job);
    (void)snprintf(chart->title + strlen(chart->title), sizeof(chart->title) - strlen(chart->title), ": %.28s",
                   tm_text(tm_get(of, "title")));
    write_caption(chart, &t);
}

enum { JOBS_MOST = 16 };

static const double pitch = 17, thick = 9, dot = 3.6, top_room = 4, least_change_range = 5,
                    most_range = 100 /* percent */, most_told = 1e9, name_share = 0.38, note_share = 0.34;

enum { NOTE_BYTES = 160 };

struct job {
    const struct tm_value *row, *step;
    double change, usual; /* percent */
};

struct jobs {
    struct job job[JOBS_MOST];
    int count;
    size_t all;
};

static bool can_draw(const struct tm_value *row)
{
    const struct tm_value *step = tm_path(row, "figures.step_time_ps");

    return tm_has(tm_get(step, "change")) && tm_has(tm_get(step, "band")) && tm_double(tm_get(step, "before")) > 0;
}

static void find_jobs(struct jobs *jobs, const struct tm_value *night)
{
    const struct tm_value *rows = tm_get(night, "jobs");

    jobs->count = 0;
    jobs->all = 0;
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i), *step = tm_path(row, "figures.step_time_ps");

        if (!can_draw(row))
            continue;
        jobs->all++;
        if (jobs->count < JOBS_MOST)
            jobs->job[jobs->count++] =
                (struct job){ row, step, tm_double(tm_get(step, "change")),
                              100 * tm_double(tm_get(step, "band")) / tm_double(tm_get(step, "before")) };
    }
}

static size_t count_night(const struct tm_value *night)
{
    const struct tm_value *rows = tm_get(night, "jobs");
    size_t count = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        count += can_draw(tm_at(rows, i));
    return count > 0;
}

static void choose_scale(struct tm_axis *axis, const struct jobs *jobs)
{
    double low = -least_change_range, high = least_change_range;

    for (int i = 0; i < jobs->count; i++) {
        const struct job *job = &jobs->job[i];

        low = fmin(low, fmax(fmin(job->change, -job->usual), -most_range));
        high = fmax(high, fmin(fmax(job->change, job->usual), most_range));
    }
    tm_axis_choose(axis, TM_AXIS_PCT, low, high, 6, false);
}

static double within(const struct tm_axis *axis, double value)
{
    return tm_axis_place(axis, fmin(fmax(value, axis->from), axis->to));
}

static const char *name_of(char out[TM_CHART_NAME_BYTES], const struct job *job, double room)
{
    tm_chart_cut_name(out, TM_CHART_NAME_BYTES, tm_text(tm_get(job->row, "job")));
    tm_chart_fit(out, TM_CHART_NAME_BYTES, TM_TEXT_NORMAL, room);
    return out;
}

/* "152 ms -> 171 ms, +12.4 %"; "+12.4 %" if that is all that fits */
static const char *note_of(char out[NOTE_BYTES], const struct job *job, double room)
{
    char before[TM_FORMAT_BYTES], value[TM_FORMAT_BYTES];

    (void)snprintf(
        out, NOTE_BYTES, "%s \xe2\x86\x92 %s, %+.1f%%", tm_format_time(before, tm_int(tm_get(job->step, "before"))),
        tm_format_time(value, tm_int(tm_get(job->step, "value"))), fmin(fmax(job->change, -most_told), most_told));
    if (tm_chart_text_width(out, TM_TEXT_SMALL) > room)
        (void)snprintf(out, NOTE_BYTES, "%+.1f%%", fmin(fmax(job->change, -most_told), most_told));
    tm_chart_fit(out, NOTE_BYTES, TM_TEXT_SMALL, room);
    return out;
}

/* The width of the widest text of the jobs, cut at `most`. */
static double room_for(const struct jobs *jobs, const char *(*text_of)(char *out, const struct job *job, double room),
                       enum tm_text_size size, double most)
{
    char text[NOTE_BYTES];
    double room = 0;

    for (int i = 0; i < jobs->count; i++)
        room = fmax(room, tm_chart_text_width(text_of(text, &jobs->job[i], most), size));
    return room;
}

static void draw_job(struct tm_chart *chart, const struct tm_axis *axis, const struct job *job, double middle,
                     double name_room)
{
    const double zero = tm_axis_place(axis, 0), left = within(axis, -job->usual), right = within(axis, job->usual),
                 at = within(axis, job->change);
    char name[TM_CHART_NAME_BYTES], note[NOTE_BYTES], usual[TM_FORMAT_BYTES];

    (void)name_of(name, job, name_room);
    (void)note_of(note, job, note_share * chart->width);
    tm_chart_open(chart, "%s: median step time %s, usual up to %s", name, note, tm_format_pct(usual, job->usual));
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_NORMAL, TM_ANCHOR_END, name_room, middle + 3.2, name);
    tm_chart_rect(chart, TM_ROLE_AREA, left, middle - thick / 2, right - left, thick);
    tm_chart_rect(chart, role_of(job->step, TM_ROLE_QUIET), fmin(zero, at), middle - 1, fabs(at - zero), 2);
    tm_chart_dot(chart, role_of(job->step, TM_ROLE_QUIET), at, middle, dot);
    tm_chart_string(chart, role_of(job->step, TM_ROLE_QUIET) == TM_ROLE_QUIET ? TM_ROLE_QUIET : TM_ROLE_TEXT,
                    TM_TEXT_SMALL, TM_ANCHOR_START, axis->at + axis->length + 10, middle + 3, note);
    tm_chart_close(chart);
}

static void fill_job_table(struct tm_chart *chart, const struct jobs *jobs)
{
    static const char *const titles[] = { "job", "before", "now", "change", "usual" };
    char text[TM_FORMAT_BYTES];

    for (int i = 0; i < 5; i++)
        tm_chart_column(chart, titles[i], i > 0);
    for (int i = 0; i < jobs->count; i++) {
        const struct job *job = &jobs->job[i];

        tm_chart_cell(chart, tm_text(tm_get(job->row, "job")));
        tm_chart_cell(chart, tm_format_time(text, tm_int(tm_get(job->step, "before"))));
        tm_chart_cell(chart, tm_format_time(text, tm_int(tm_get(job->step, "value"))));
        tm_format_change(text, fmin(fmax(job->change, -most_told), most_told), false);
        tm_chart_cell(chart, text);
        tm_chart_cell(chart, tm_format_pct(text, job->usual));
    }
}

static void draw_night(struct tm_chart *chart, const struct tm_value *night)
{
    static const struct tm_legend_entry legend[] = { { TM_ROLE_BAD, "slower" },
                                                     { TM_ROLE_GOOD, "faster" },
                                                     { TM_ROLE_QUIET, "unchanged" },
                                                     { TM_ROLE_AREA, "usual range" } };
    struct tm_axis axis;
    struct jobs jobs;
    double name_room, top, bottom;

    find_jobs(&jobs, night);
    choose_scale(&axis, &jobs);
    name_room = room_for(&jobs, name_of, TM_TEXT_NORMAL, name_share * chart->width);
    axis.at = name_room + 12;
    axis.length = chart->width - axis.at - room_for(&jobs, note_of, TM_TEXT_SMALL, note_share * chart->width) - 12;
    top = tm_legend_draw(chart, legend, 4, 0) + top_room;
    bottom = top + jobs.count * pitch;
    tm_chart_scale_below(chart, &axis, top, bottom);
    for (int i = 0; i < jobs.count; i++)
        draw_job(chart, &axis, &jobs.job[i], top + (i + 0.5) * pitch, name_room);
    chart->height = bottom + 16;
    fill_job_table(chart, &jobs);
    tm_chart_add_caption(chart, "%d of %zu jobs with a median step time to compare, those that changed first.",
                         jobs.count, jobs.all);
}

const struct tm_chart_maker tm_nightly_charts[] = {
    { TM_CHART_NIGHT, "Median step time vs. the previous seven good runs", NULL, count_night, .draw = draw_night },
    { TM_CHART_TRENDS, NULL, NULL, count_trends, .draw_at = draw_trend },
    { .count = NULL },
};
