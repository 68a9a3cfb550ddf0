/* SPDX-License-Identifier: Apache-2.0 */
/* The charts of steps: where the time of each step goes, and how long each step takes. */
#include "reports/chart/makers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/outliers.h"
#include "reports/chart/parts.h"
#include "reports/format/format.h"
#include "reports/format/shown_names.h"

/* Up to so many steps are rows with names; more are columns. */
enum { ROWS_MOST = 12, POINTS_MOST = 2000, DOTS_MOST = 200, STEPS_LEAST = 3 };

static bool is_drawn(const struct tm_value *step)
{
    return tm_is(tm_get(step, "chosen"));
}

/* Length of a step by the basis that the summary names.  out: below 0 where it has none */
static int64_t step_length(const struct tm_value *steps, const struct tm_value *step)
{
    const bool host = strcmp(tm_text(tm_get(steps, "basis")), "host_span") == 0;
    const struct tm_value *ps = tm_get(step, host ? "host_span_ps" : "period_ps");

    return tm_has(ps) ? tm_int(ps) : -1;
}

static bool has_parts(const struct tm_value *step)
{
    struct tm_parts parts;

    if (!is_drawn(step))
        return false;
    tm_parts_of_step(&parts, step);
    return parts.present && parts.total_ps > 0;
}

static size_t count_steps(const struct tm_value *summary, bool with_parts)
{
    const struct tm_value *steps = tm_get(summary, "steps");
    const struct tm_value *list = tm_get(steps, "list");
    size_t n = 0;

    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *step = tm_at(list, i);

        n += with_parts ? has_parts(step) : is_drawn(step) && step_length(steps, step) >= 0;
    }
    return n;
}

static bool has_several_hosts(const struct tm_value *summary)
{
    return tm_length(tm_path(summary, "input.hosts")) > 1;
}

/* "12", of several hosts "12 on vm1".  summary: NULL of one host */
static const char *name_step(char *out, size_t out_bytes, const struct tm_value *step, const struct tm_value *summary)
{
    const char *host = summary ? tm_shown_host(summary, tm_text(tm_get(step, "host"))) : "";
    char number[TM_FORMAT_BYTES];

    tm_format_count(number, tm_int(tm_get(step, "number")));
    (void)snprintf(out, out_bytes, "%s%s%.40s", number, summary ? " on " : "", host);
    return out;
}

/* No steps are marked: the whole session counts as one. */
static bool is_session(const struct tm_value *summary)
{
    return strcmp(tm_text(tm_path(summary, "steps.source")), "session") == 0;
}

/* Fill one bar per run of `each` steps with the slowest of the run.  out: number of bars */
static int fill_step_bars(struct tm_bar *bars, const struct tm_value *summary, size_t each)
{
    const struct tm_value *list = tm_path(summary, "steps.list");
    const struct tm_value *of_hosts = has_several_hosts(summary) ? summary : NULL;
    const bool names_device = tm_length(tm_get(summary, "devices")) > 1;
    size_t seen = 0;
    int count = 0;

    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *step = tm_at(list, i);
        struct tm_parts parts;
        char name[96], time[TM_FORMAT_BYTES];

        if (!has_parts(step))
            continue;
        tm_parts_of_step(&parts, step);
        if (seen++ % each == 0)
            bars[count++].parts.total_ps = -1;
        if (parts.total_ps <= bars[count - 1].parts.total_ps)
            continue;
        bars[count - 1].parts = parts;
        name_step(name, sizeof(name), step, of_hosts);
        if (is_session(summary)) /* "session", "session on vm1" */
            (void)snprintf(bars[count - 1].name, sizeof(bars[0].name), "session%s", name + strcspn(name, " "));
        else
            (void)snprintf(bars[count - 1].name, sizeof(bars[0].name), "step %.90s", name);
        (void)snprintf(bars[count - 1].label, sizeof(bars[0].label), "%.20s",
                       tm_format_count(name, tm_int(tm_get(step, "number"))));
        (void)snprintf(bars[count - 1].note, sizeof(bars[0].note), "%s%s%s%.40s", tm_format_time(time, parts.total_ps),
                       tm_is(tm_get(step, "compile")) ? ", compiles" : "", names_device ? ", " : "",
                       names_device ? tm_shown_device(summary, tm_text(tm_get(step, "device"))) : "");
    }
    return count;
}

static size_t count_chosen(const struct tm_value *list)
{
    size_t n = 0;

    for (size_t i = 0; i < tm_length(list); i++)
        n += is_drawn(tm_at(list, i));
    return n;
}

/* Say how many steps are not drawn, and why.  in: drawn  steps of the list that have what the chart
 * shows */
static void add_left_out(struct tm_chart *chart, const struct tm_value *steps, size_t drawn)
{
    const int64_t others = tm_int(tm_get(steps, "count")) - tm_int(tm_get(steps, "chosen"));
    const size_t without = count_chosen(tm_get(steps, "list")) - drawn;
    char number[TM_FORMAT_BYTES];

    if (others == 1)
        tm_chart_add_caption(
            chart, " One step of the profile (warm-up, incomplete or not selected) is not drawn.");
    else if (others > 1)
        tm_chart_add_caption(
            chart, " %s steps of the profile (warm-up, incomplete or not selected) are not drawn.",
            tm_format_count(number, others));
    if (without > 0)
        tm_chart_add_caption(chart, " Analyzed steps without a figure to draw: %s.",
                             tm_format_count(number, (int64_t)without));
}

size_t tm_count_steps(const struct tm_value *summary)
{
    return count_steps(summary, true) > 0;
}

void tm_draw_steps(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    const struct tm_value *steps = tm_get(summary, "steps");
    const size_t total = count_steps(summary, true);
    const size_t each = (total + TM_CHART_BARS_MOST - 1) / TM_CHART_BARS_MOST;
    struct tm_bar bars[TM_CHART_BARS_MOST];
    char number[TM_FORMAT_BYTES];
    const int count = each > 0 ? fill_step_bars(bars, summary, each) : 0;

    (void)index;

    (void)snprintf(chart->title, sizeof(chart->title), "%s",
                   is_session(summary) ? "Where the time goes" : "Where the time of each step goes");
    if (each > 1) /* The list has a row for each group of devices that run the step together. */
        (void)snprintf(chart->caption, sizeof(chart->caption),
                       (int64_t)total <= tm_int(tm_get(steps, "chosen")) ?
                           "Each bar is the slowest of %zu steps in a row, of %s listed steps." :
                           "Each bar is the longest of %zu in a row, of %s: one for each step and device group.",
                       each, tm_format_count(number, (int64_t)total));
    else
        (void)snprintf(chart->caption, sizeof(chart->caption),
                       is_session(summary) ?
                           "No steps are marked: the whole session, whose parts add up to its length." :
                           "One bar per step; its parts add up to its length.");
    if (tm_length(tm_get(summary, "devices")) > 1)
        tm_chart_add_caption(chart, " Of several devices the busiest one in the step is shown, and named.");
    add_left_out(chart, steps, total);
    if (count <= ROWS_MOST ? tm_parts_rows(chart, bars, count) : tm_parts_columns(chart, "step", bars, count))
        tm_chart_add_caption(chart, TM_CHART_CUT_BARS);
    tm_parts_table(chart, "step", bars, count);
}

/* What the scale holds: without the few steps that would hide the others. */
static void find_range(const struct tm_value *steps, double *low, double *high)
{
    const struct tm_value *list = tm_get(steps, "list");
    double lengths[POINTS_MOST];
    size_t count = 0;

    for (size_t i = 0; i < tm_length(list) && count < POINTS_MOST; i++) {
        const int64_t length = step_length(steps, tm_at(list, i));

        if (is_drawn(tm_at(list, i)) && length >= 0)
            lengths[count++] = (double)length;
    }
    *high = tm_without_outliers(lengths, count);
    *low = count ? lengths[0] : 0;
    if (*low < *high / 2)
        *low = 0;
}

/* Where the steps are drawn, and what of the axis below has labels already. */
struct step_points {
    const struct tm_value *summary;
    const struct tm_value *of_hosts; /* the summary of several hosts, else NULL */
    size_t total;
    double pitch, labelled, told;
};

static void draw_step_point(struct tm_chart *chart, const struct tm_plot *plot, struct step_points *p,
                            const struct tm_value *step, size_t n)
{
    enum { FEW = 12 }; /* labels say the host, too */
    const int64_t length = step_length(tm_get(p->summary, "steps"), step);
    const bool is_over = (double)length > plot->y.to;
    const struct tm_point at = { plot->left + p->pitch * ((double)n + 0.5),
                                 tm_axis_place(&plot->y, fmin((double)length, plot->y.to)) };
    char number[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], name[96];

    tm_format_count(number, tm_int(tm_get(step, "number")));
    tm_format_time(time, length);
    name_step(name, sizeof(name), step, p->of_hosts);
    if (p->total <= DOTS_MOST) {
        tm_chart_open(chart, "step %s: %s", name, time);
        tm_chart_dot(chart, is_over ? TM_ROLE_BAD : TM_ROLE_SERIES, at.x, at.y, 2.2);
        tm_chart_close(chart);
    }
    if (is_over)
        tm_chart_label(chart, at.x, at.y - 4, time, &p->told);
    tm_chart_label(chart, at.x, plot->bottom + TM_PLOT_LABELS_BELOW, p->total <= FEW ? name : number, &p->labelled);
    if (n < DOTS_MOST) {
        tm_chart_cell(chart, name);
        tm_chart_cell(chart, time);
    }
}

/* Draw the line, one per host, then the dots, and fill the table, which holds what is drawn. */
static void draw_step_points(struct tm_chart *chart, const struct tm_plot *plot, const struct tm_value *summary,
                             size_t total)
{
    const struct tm_value *steps = tm_get(summary, "steps"), *list = tm_get(steps, "list");
    struct step_points p = { .summary = summary,
                             .of_hosts = has_several_hosts(summary) ? summary : NULL,
                             .total = total,
                             .pitch = (plot->right - plot->left) / (double)total,
                             .labelled = plot->left - 8, /* the scale stands left of it */
                             .told = plot->left - 8 };

    for (int pass = 0; pass < 2; pass++) { /* the line below the dots */
        const char *host = NULL;
        size_t n = 0;

        for (size_t i = 0; i < tm_length(list) && n < total; i++) {
            const struct tm_value *step = tm_at(list, i);
            const double length = (double)step_length(steps, step);
            const char *its_host = tm_text(tm_get(step, "host"));

            if (!is_drawn(step) || length < 0)
                continue;
            if (pass == 0 && (!host || strcmp(host, its_host) != 0))
                tm_chart_path(chart, TM_MARK_POLYLINE, TM_ROLE_SERIES, total <= DOTS_MOST ? 1 : 0.8);
            host = its_host;
            if (pass == 0)
                tm_chart_point(chart, plot->left + p.pitch * ((double)n + 0.5),
                               tm_axis_place(&plot->y, fmin(length, plot->y.to)));
            else
                draw_step_point(chart, plot, &p, step, n);
            n++;
        }
    }
}

size_t tm_count_step_times(const struct tm_value *summary)
{
    return count_steps(summary, false) >= STEPS_LEAST;
}

void tm_draw_step_times(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    const struct tm_value *steps = tm_get(summary, "steps");
    const size_t all = count_steps(summary, false), total = all < POINTS_MOST ? all : POINTS_MOST;
    char p95[80], median[80], time[TM_FORMAT_BYTES];
    double low, high, lowest_label = 0;
    struct tm_plot plot;

    (void)index;
    (void)snprintf(p95, sizeof(p95), "p95 %s",
                   tm_format_time(time, tm_int(tm_get(steps, "p95_ps"))));
    (void)snprintf(median, sizeof(median), "median %s",
                   tm_format_time(time, tm_int(tm_get(steps, "median_ps"))));
    find_range(steps, &low, &high);
    tm_plot_begin(chart, &plot,
                  &(struct tm_plot_frame){
                      .kind = TM_AXIS_TIME,
                      .low = low,
                      .high = high,
                      .below = "step",
                      .right_room = 8 + fmax(tm_chart_text_width(p95, TM_TEXT_SMALL),
                                             tm_chart_text_width(median, TM_TEXT_SMALL)) });
    tm_chart_column(chart, "step", false);
    tm_chart_column(chart, "length", true);
    if (tm_has(tm_get(steps, "p95_ps")))
        tm_plot_level(chart, &plot, p95, tm_double(tm_get(steps, "p95_ps")), &lowest_label);
    if (tm_has(tm_get(steps, "median_ps")))
        tm_plot_level(chart, &plot, median, tm_double(tm_get(steps, "median_ps")), &lowest_label);
    draw_step_points(chart, &plot, summary, total);
    (void)snprintf(chart->title, sizeof(chart->title), "Step times");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "%s by step number, with median and 95th percentile.%s%s",
                   strcmp(tm_text(tm_get(steps, "basis")), "host_span") == 0
                       ? "Duration of the step on the host"
                       : "Step time, from the latest end of the step before on any device to that of this one,",
                   plot.y.from > 0 ? " The scale does not begin at 0." : "",
                   all > DOTS_MOST ? " The table holds the first 200." : "");
    if (tm_double(tm_get(steps, "max_ps")) > plot.y.to)
        tm_chart_add_caption(chart, " Steps longer than the scale stand at its top, with their length.");
    add_left_out(chart, steps, all);
}
