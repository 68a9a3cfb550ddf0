/* SPDX-License-Identifier: Apache-2.0 */
/* The charts of a scaling study (schemas/SCALING.md): speed-up and efficiency over the number of
 * devices, which double from one place to the next, and what a step is made of. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/legend.h"
#include "reports/chart/makers.h"
#include "reports/chart/parts.h"
#include "reports/format/format.h"

enum { POINTS_MOST = 64, ROWS_MOST = 16, CURVE_PIECES = 48 };

static const double figure_most = 1e12; /* drawn; no speed-up is so large */
static const double dot = 3.2, bar = 1.2, cap = 4, line = 1.4, thin = 1;

static const struct tm_value *points_of(const struct tm_value *scaling)
{
    return tm_get(scaling, "points");
}

static size_t count_of(const struct tm_value *scaling)
{
    const size_t count = tm_length(points_of(scaling));

    return count < POINTS_MOST ? count : POINTS_MOST;
}

static double devices_of(const struct tm_value *point)
{
    return tm_double(tm_get(point, "devices"));
}

/* What a chart draws of a point, and of the ideal and the fit. */
struct figure {
    const char *value, *low, *high, *fitted;
    const char *title, *column;
    enum tm_axis_kind kind;
    double (*ideal)(double devices, double first); /* for the curve between the points */
    char *(*format)(char *out, double value);
};

static double ideal_speedup(double devices, double first)
{
    return devices / first;
}

static double ideal_efficiency(double devices, double first)
{
    (void)devices;
    (void)first;
    return 100;
}

static const struct figure speedup = { "speedup",        "speedup_low", "speedup_high",
                                       "fitted_speedup", "Speed-up",    "speed-up",
                                       TM_AXIS_NUMBER,   ideal_speedup, tm_format_number };
static const struct figure efficiency = { "efficiency_pct",      "efficiency_low_pct",
                                          "efficiency_high_pct", "fitted_efficiency_pct",
                                          "Efficiency",          "efficiency",
                                          TM_AXIS_PCT,           ideal_efficiency,
                                          tm_format_pct };

/* Two points with a value, on growing numbers of devices. */
static bool can_draw(const struct tm_value *scaling, const struct figure *figure)
{
    size_t known = 0;
    double before = 0;

    for (size_t i = 0; i < count_of(scaling); i++) {
        const struct tm_value *point = tm_at(points_of(scaling), i);

        if (!(devices_of(point) > before) || isinf(devices_of(point)))
            return false;
        before = devices_of(point);
        known += tm_has(tm_get(point, figure->value));
    }
    return known > 1;
}

/* --- the plot --- */

struct places {
    struct tm_plot plot;
    double first, last; /* devices */
    double from, length;
};

static double x_of(const struct places *at, double devices)
{
    return at->from + at->length * log2(devices / at->first) / log2(at->last / at->first);
}

/* Of what is beyond the scale, at its end. */
static double y_of(const struct places *at, double value)
{
    return tm_axis_place(&at->plot.y, fmin(fmax(value, at->plot.y.from), at->plot.y.to));
}

static double highest(const struct tm_value *scaling, const struct figure *figure)
{
    const char *const keys[] = { figure->value, figure->high, figure->fitted };
    double most = 0;

    for (size_t i = 0; i < count_of(scaling); i++)
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            const struct tm_value *value = tm_get(tm_at(points_of(scaling), i), keys[k]);

            most =
                tm_has(value) && isfinite(tm_double(value)) ? fmax(most, tm_double(value)) : most;
        }
    return fmin(most, figure_most);
}

static void begin_plot(struct tm_chart *chart, struct places *at, const struct tm_value *scaling,
                       const struct figure *figure)
{
    static const double inset = 22;
    const struct tm_value *points = points_of(scaling);
    char label[TM_FORMAT_BYTES];
    double until = 0, high;

    at->first = devices_of(tm_at(points, 0));
    at->last = devices_of(tm_at(points, count_of(scaling) - 1));
    high = fmax(highest(scaling, figure), fmin(figure->ideal(at->last, at->first), figure_most));
    tm_plot_begin(chart, &at->plot,
                  &(struct tm_plot_frame){
                      .kind = figure->kind, .high = high, .right_room = 12, .below = "devices" });
    at->from = at->plot.left + inset;
    at->length = at->plot.right - at->plot.left - 2 * inset;
    for (size_t i = 0; i < count_of(scaling); i++) {
        const double devices = devices_of(tm_at(points, i)), x = x_of(at, devices);

        (void)snprintf(label, sizeof(label), "%.0f", devices);
        tm_chart_line(chart, TM_ROLE_GRID, x, at->plot.bottom, x, at->plot.bottom + 3);
        tm_chart_label(chart, x, at->plot.bottom + TM_PLOT_LABELS_BELOW, label, &until);
    }
}

static void draw_ideal(struct tm_chart *chart, const struct places *at, const struct figure *figure)
{
    tm_chart_open(chart, "ideal");
    tm_chart_dashed_path(chart, TM_ROLE_QUIET, thin);
    for (int i = 0; i <= CURVE_PIECES; i++) {
        const double devices = at->first * exp2(log2(at->last / at->first) * i / CURVE_PIECES);

        tm_chart_point(chart, x_of(at, devices), y_of(at, figure->ideal(devices, at->first)));
    }
    tm_chart_close(chart);
}

/* A line through one figure of all points; of those that lack it, the line goes past. */
static void draw_line(struct tm_chart *chart, const struct places *at,
                      const struct tm_value *points, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        const struct tm_value *value = tm_get(tm_at(points, i), key);

        if (tm_has(value))
            tm_chart_point(chart, x_of(at, devices_of(tm_at(points, i))),
                           y_of(at, tm_double(value)));
    }
}

static void draw_point(struct tm_chart *chart, const struct places *at,
                       const struct tm_value *point, const struct figure *figure)
{
    const struct tm_value *value = tm_get(point, figure->value), *low = tm_get(point, figure->low),
                          *high = tm_get(point, figure->high);
    const double x = x_of(at, devices_of(point));
    const bool has_interval = tm_has(low) && tm_has(high);
    char text[TM_FORMAT_BYTES], from[TM_FORMAT_BYTES] = "", to[TM_FORMAT_BYTES] = "";

    if (!tm_has(value))
        return;
    if (has_interval) {
        figure->format(from, tm_double(low));
        figure->format(to, tm_double(high));
    }
    tm_chart_open(chart, "%.0f device%s: %s %s%s%s%s%s", devices_of(point),
                  devices_of(point) == 1 ? "" : "s", figure->column,
                  figure->format(text, tm_double(value)), has_interval ? ", " : "", from,
                  has_interval ? " to " : "", to);
    tm_chart_dot(chart, TM_ROLE_SERIES, x, y_of(at, tm_double(value)), dot);
    if (has_interval) {
        const double top = y_of(at, tm_double(high)), bottom = y_of(at, tm_double(low));

        tm_chart_rect(chart, TM_ROLE_TEXT, x - bar / 2, top, bar, fmax(bottom - top, bar));
        tm_chart_rect(chart, TM_ROLE_TEXT, x - cap, top - bar / 2, 2 * cap, bar);
        tm_chart_rect(chart, TM_ROLE_TEXT, x - cap, bottom - bar / 2, 2 * cap, bar);
    }
    tm_chart_close(chart);
}

static void fill_table(struct tm_chart *chart, const struct tm_value *scaling,
                       const struct figure *figure)
{
    const char *const keys[] = { figure->value, figure->low, figure->high, figure->fitted };
    char text[TM_FORMAT_BYTES];

    tm_chart_column(chart, "devices", true);
    tm_chart_column(chart, figure->column, true);
    tm_chart_column(chart, "from", true);
    tm_chart_column(chart, "to", true);
    tm_chart_column(chart, "fitted", true);
    for (size_t i = 0; i < count_of(scaling); i++) {
        const struct tm_value *point = tm_at(points_of(scaling), i);

        tm_chart_cell(chart, tm_format_count(text, tm_int(tm_get(point, "devices"))));
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            const struct tm_value *value = tm_get(point, keys[k]);

            tm_chart_cell(chart, tm_has(value) ? figure->format(text, tm_double(value)) : "");
        }
    }
}

static void draw_figure(struct tm_chart *chart, const struct tm_value *scaling,
                        const struct figure *figure)
{
    const struct tm_value *points = points_of(scaling);
    const bool has_fit = tm_has(tm_get(scaling, "fit"));
    const struct tm_legend_entry legend[] = { { TM_ROLE_SERIES,
                                                "measured, with its 95 % interval" },
                                              { TM_ROLE_QUIET, "ideal" },
                                              { TM_ROLE_WARNING, "fitted" } };
    struct places at;

    begin_plot(chart, &at, scaling, figure);
    draw_ideal(chart, &at, figure);
    if (has_fit) {
        tm_chart_path(chart, TM_MARK_POLYLINE, TM_ROLE_WARNING, thin);
        draw_line(chart, &at, points, count_of(scaling), figure->fitted);
    }
    tm_chart_path(chart, TM_MARK_POLYLINE, TM_ROLE_SERIES, line);
    draw_line(chart, &at, points, count_of(scaling), figure->value);
    for (size_t i = 0; i < count_of(scaling); i++)
        draw_point(chart, &at, tm_at(points, i), figure);
    chart->height += 6;
    chart->height += tm_legend_draw(chart, legend, has_fit ? 3 : 2, chart->height);
    fill_table(chart, scaling, figure);
    (void)snprintf(chart->title, sizeof(chart->title), "%s by devices", figure->title);
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "Against the first point. Equal distances are equal multiples of devices.");
}

size_t tm_count_speedup(const struct tm_value *scaling)
{
    return can_draw(scaling, &speedup);
}

size_t tm_count_efficiency(const struct tm_value *scaling)
{
    return can_draw(scaling, &efficiency);
}

void tm_draw_speedup(struct tm_chart *chart, const struct tm_value *scaling, size_t index)
{
    (void)index;
    draw_figure(chart, scaling, &speedup);
    if (strcmp(tm_text(tm_get(scaling, "mode")), "weak") == 0)
        tm_chart_add_caption(
            chart, " Work per time: each step does as many times the work as there are devices.");
}

void tm_draw_efficiency(struct tm_chart *chart, const struct tm_value *scaling, size_t index)
{
    (void)index;
    draw_figure(chart, scaling, &efficiency);
    tm_chart_add_caption(chart, " Efficiency is the speed-up as a share of the ideal one.");
}

/* --- what a step is made of --- */

size_t tm_count_scaled_step(const struct tm_value *scaling)
{
    for (size_t i = 0; i < count_of(scaling); i++)
        if (tm_int(tm_path(tm_at(points_of(scaling), i), "parts.total_ps")) > 0)
            return 1;
    return 0;
}

void tm_draw_scaled_step(struct tm_chart *chart, const struct tm_value *scaling, size_t index)
{
    struct tm_bar bars[POINTS_MOST] = { 0 };
    const int count =
        count_of(scaling) < TM_CHART_BARS_MOST ? (int)count_of(scaling) : TM_CHART_BARS_MOST;
    bool is_cut;

    (void)index;
    for (int i = 0; i < count; i++) {
        const struct tm_value *point = tm_at(points_of(scaling), (size_t)i);
        char time[TM_FORMAT_BYTES];

        (void)snprintf(bars[i].name, sizeof(bars[i].name), "%.0f device%s", devices_of(point),
                       devices_of(point) == 1 ? "" : "s");
        (void)snprintf(bars[i].label, sizeof(bars[i].label), "%.0f", devices_of(point));
        tm_parts_of_step(&bars[i].parts, tm_get(point, "details"));
        (void)snprintf(bars[i].note, sizeof(bars[i].note), "%s",
                       tm_format_time(time, bars[i].parts.total_ps));
    }
    is_cut = count <= ROWS_MOST ? tm_parts_rows(chart, bars, count)
                                : tm_parts_columns(chart, "devices", bars, count);
    tm_parts_table(chart, "devices", bars, count);
    (void)snprintf(chart->title, sizeof(chart->title), "Parts of a step by devices");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "Mean of the analyzed steps and the devices.%s", is_cut ? TM_CHART_CUT_BARS : "");
}
