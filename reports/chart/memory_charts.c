/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in use over time, one chart per allocator. */
#include "reports/chart/makers.h"

#include <math.h>
#include <stdio.h>

#include "reports/format/format.h"

enum { POINTS_MOST = 2000 };

static const struct tm_value *drawn_allocator(const struct tm_value *summary, size_t index)
{
    const struct tm_value *allocators = tm_path(summary, "memory.allocators");

    for (size_t i = 0; i < tm_length(allocators); i++)
        if (tm_length(tm_get(tm_at(allocators, i), "timeline")) >= 2 && index-- == 0)
            return tm_at(allocators, i);
    return NULL;
}

size_t tm_count_memory(const struct tm_value *summary)
{
    size_t n = 0;

    while (n < TM_CHART_ALLOCATORS_MOST && drawn_allocator(summary, n))
        n++;
    return n;
}

static double point_ps(const struct tm_value *timeline, size_t i)
{
    return tm_double(tm_at(tm_at(timeline, i), 0));
}

static double point_bytes(const struct tm_value *timeline, size_t i)
{
    return tm_double(tm_at(tm_at(timeline, i), 1));
}

/* Times of a damaged summary may be in any order. */
static double place_inside(const struct tm_plot *plot, const struct tm_axis *x, double ps)
{
    return fmin(fmax(tm_axis_place(x, ps), plot->left), plot->right);
}

/* Bytes in use hold until the next event: a line of steps. */
static void put_stairs(struct tm_chart *chart, const struct tm_plot *plot, const struct tm_axis *x,
                       const struct tm_value *timeline)
{
    const size_t count = tm_length(timeline) < POINTS_MOST ? tm_length(timeline) : POINTS_MOST;

    for (size_t i = 0; i < count; i++) {
        const double at = place_inside(plot, x, point_ps(timeline, i));

        if (i > 0)
            tm_chart_point(chart, at, tm_axis_place(&plot->y, point_bytes(timeline, i - 1)));
        tm_chart_point(chart, at, tm_axis_place(&plot->y, point_bytes(timeline, i)));
    }
}

static void draw_time_axis(struct tm_chart *chart, const struct tm_plot *plot,
                           const struct tm_axis *x)
{
    char label[TM_FORMAT_BYTES];
    double until = 0;

    for (int i = 0; i < tm_axis_ticks(x); i++) {
        const double at = tm_axis_place(x, tm_axis_tick(x, i));

        tm_chart_line(chart, TM_ROLE_GRID, at, plot->bottom, at, plot->bottom + 3);
        tm_chart_label(chart, at, plot->bottom + TM_PLOT_LABELS_BELOW, tm_axis_label(x, i, label), &until);
    }
}

static void fill_memory_table(struct tm_chart *chart, const struct tm_value *timeline)
{
    enum { ROWS = 200 };
    const size_t count = tm_length(timeline), each = (count + ROWS - 1) / ROWS;
    char text[TM_FORMAT_BYTES];

    tm_chart_column(chart, "time", true);
    tm_chart_column(chart, "in use", true);
    tm_chart_column(chart, "free", true);
    for (size_t i = 0; i < count; i += each) {
        size_t top = i;

        for (size_t j = i; j < i + each && j < count; j++)
            if (point_bytes(timeline, j) > point_bytes(timeline, top))
                top = j;
        tm_chart_cell(chart, tm_format_moment(text, tm_int(tm_at(tm_at(timeline, top), 0))));
        tm_chart_cell(chart, tm_format_bytes(text, point_bytes(timeline, top)));
        tm_chart_cell(chart, tm_has(tm_at(tm_at(timeline, top), 2))
                                 ? tm_format_bytes(text, tm_double(tm_at(tm_at(timeline, top), 2)))
                                 : "");
    }
}

static void draw_peak(struct tm_chart *chart, const struct tm_plot *plot, const struct tm_axis *x,
                      const struct tm_value *allocator)
{
    const struct tm_value *peak = tm_get(allocator, "peak_bytes"),
                          *at = tm_get(allocator, "peak_at_ps");
    const double ps = tm_double(at), where = tm_axis_place(x, ps);
    char bytes[TM_FORMAT_BYTES], text[TM_FORMAT_BYTES + 16];

    if (!tm_has(peak) || !tm_has(at) || ps < x->from || ps > x->to)
        return;
    (void)snprintf(text, sizeof(text), "peak %s", tm_format_bytes(bytes, tm_double(peak)));
    tm_chart_dot(chart, TM_ROLE_BAD, where, tm_axis_place(&plot->y, tm_double(peak)), 2.6);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL,
                    where > chart->width / 2 ? TM_ANCHOR_END : TM_ANCHOR_START,
                    where + (where > chart->width / 2 ? -5 : 5),
                    tm_axis_place(&plot->y, tm_double(peak)) - 4, text);
}

/* The area of what is in use, and its upper border. */
static void draw_curve(struct tm_chart *chart, const struct tm_plot *plot, const struct tm_axis *x,
                       const struct tm_value *timeline)
{
    const double end = point_ps(timeline, tm_length(timeline) - 1);

    tm_chart_path(chart, TM_MARK_POLYGON, TM_ROLE_AREA, 0);
    tm_chart_point(chart, plot->left, plot->bottom);
    put_stairs(chart, plot, x, timeline);
    tm_chart_point(chart, place_inside(plot, x, end), plot->bottom);
    tm_chart_path(chart, TM_MARK_POLYLINE, TM_ROLE_SERIES, 1.2);
    put_stairs(chart, plot, x, timeline);
}

void tm_draw_memory(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    const struct tm_value *allocator = drawn_allocator(summary, index),
                          *timeline = tm_get(allocator, "timeline");
    const double capacity = tm_double(tm_get(allocator, "capacity_bytes"));
    double most = tm_double(tm_get(allocator, "peak_bytes")), lowest_label = 0;
    const size_t last = tm_length(timeline) - 1;
    char name[TM_CHART_NAME_BYTES], capacity_text[TM_FORMAT_BYTES], label[TM_FORMAT_BYTES + 16];
    struct tm_axis x;
    struct tm_plot plot;
    bool capacity_fits;

    for (size_t i = 0; i <= last; i++)
        most = fmax(most, point_bytes(timeline, i));
    capacity_fits = capacity >= most && capacity <= most * 4; /* a curve at the very bottom shows nothing */
    (void)snprintf(label, sizeof(label), "capacity %s", tm_format_bytes(capacity_text, capacity));
    tm_plot_begin(
        chart, &plot,
        &(struct tm_plot_frame){
            .kind = TM_AXIS_BYTES,
            .high = capacity_fits ? capacity : most * 1.05,
            .right_room = capacity_fits ? tm_chart_text_width(label, TM_TEXT_SMALL) + 8 : 12 });
    tm_axis_choose(&x, TM_AXIS_TIME, point_ps(timeline, 0), point_ps(timeline, last), 6, true);
    x.at = plot.left;
    x.length = plot.right - plot.left;
    draw_curve(chart, &plot, &x, timeline);
    draw_time_axis(chart, &plot, &x);
    if (capacity_fits)
        tm_plot_level(chart, &plot, label, capacity, &lowest_label);
    draw_peak(chart, &plot, &x, allocator);
    tm_chart_cut_name(name, sizeof(name), tm_text(tm_get(allocator, "name")));
    (void)snprintf(chart->title, sizeof(chart->title), "Memory in use: %s", name);
    (void)snprintf(
        chart->caption, sizeof(chart->caption),
        "Bytes in use over the time of the profile, %zu points that keep the highest values.%s%s%s",
        last + 1, capacity > 0 && !capacity_fits ? " The capacity of " : "",
        capacity > 0 && !capacity_fits ? capacity_text : "",
        capacity > 0 && !capacity_fits ? " lies above the drawing." : "");
    fill_memory_table(chart, timeline);
}
