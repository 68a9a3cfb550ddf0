/* SPDX-License-Identifier: Apache-2.0 */
/* The charts of a comparison: the step times of its sides, and the change of a step from old to new. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/chart/chart.h"
#include "reports/chart/makers.h"
#include "reports/format/format.h"

enum { SIDES_MOST = 16, SAMPLES_DRAWN = 400, PARTS_DRAWN = 24 };

static const double row_pitch = 22, row_bar = 14, axis_room = 22, least_sign = 1;

static void name_side(char *out, size_t out_bytes, const struct tm_value *side)
{
    tm_chart_cut_name(out, out_bytes, tm_text(tm_get(side, "label")));
}

/* --- rows with a scale below --- */

struct rows {
    struct tm_axis axis;
    double top, notes; /* where notes start */
};

/* Names on the left, notes on the right, the scale with its lines between them.
 * in: names, notes  the widest of them */
static void begin_rows(struct tm_chart *chart, struct rows *rows, size_t count, double names, double notes)
{
    const double bottom = rows->top + (double)count * row_pitch;

    names = fmin(names, chart->width * 0.45) + 8;
    notes = fmax(fmin(notes, chart->width * 0.3) + 8, 30);
    rows->axis.at = names;
    rows->axis.length = chart->width - names - notes;
    rows->notes = chart->width - notes + 8;
    tm_chart_scale_below(chart, &rows->axis, rows->top, bottom);
    chart->height = bottom + axis_room;
}

static void put_name(struct tm_chart *chart, const struct rows *rows, size_t row, const char *name, const char *note)
{
    const double y = rows->top + (double)row * row_pitch + row_pitch / 2 + 3.5;
    char text[TM_CHART_NAME_BYTES];

    (void)snprintf(text, sizeof(text), "%s", name);
    tm_chart_fit(text, sizeof(text), TM_TEXT_NORMAL, rows->axis.at - 8);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_NORMAL, TM_ANCHOR_END, rows->axis.at - 8, y, text);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, rows->notes, y, note);
}

/* --- the step times of the sides --- */

static size_t count_sides(const struct tm_value *comparison)
{
    const struct tm_value *sides = tm_get(comparison, "sides");

    for (size_t i = 0; i < tm_length(sides); i++)
        if (tm_length(tm_get(tm_at(sides, i), "samples_ps")) > 1)
            return 1;
    return 0;
}

static void find_range(const struct tm_value *sides, double *low, double *high)
{
    *low = INFINITY;
    *high = 0;
    for (size_t i = 0; i < tm_length(sides) && i < SIDES_MOST; i++) {
        const struct tm_value *samples = tm_get(tm_at(sides, i), "samples_ps");

        for (size_t k = 0; k < tm_length(samples); k++) {
            *low = fmin(*low, tm_double(tm_at(samples, k)));
            *high = fmax(*high, tm_double(tm_at(samples, k)));
        }
    }
    *low = fmin(*low, *high);
    if (*low < *high / 2)
        *low = 0;
}

/* A stroke for each step, so that it shows where they are dense, and the median across. */
static void draw_side(struct tm_chart *chart, const struct rows *rows, const struct tm_value *side, size_t row)
{
    const struct tm_value *samples = tm_get(side, "samples_ps"), *median = tm_get(side, "median_ps");
    const size_t count = tm_length(samples), each = count / SAMPLES_DRAWN + 1;
    const double top = rows->top + (double)row * row_pitch + (row_pitch - row_bar) / 2;
    char time[TM_FORMAT_BYTES];

    for (size_t k = 0; k < count; k += each) {
        const double x = tm_axis_place(&rows->axis, tm_double(tm_at(samples, k)));

        tm_chart_open(chart, "%s", tm_format_time(time, tm_int(tm_at(samples, k))));
        tm_chart_rect(chart, TM_ROLE_SERIES, x - 0.6, top + 2, 1.2, row_bar - 4);
        tm_chart_close(chart);
    }
    if (tm_has(median)) {
        const double x = tm_axis_place(&rows->axis, tm_double(median));

        tm_chart_open(chart, "median %s", tm_format_time(time, tm_int(median)));
        tm_chart_rect(chart, TM_ROLE_TEXT, x - 1.2, top - 2, 2.4, row_bar + 4);
        tm_chart_close(chart);
    }
}

static void draw_sides(struct tm_chart *chart, const struct tm_value *comparison)
{
    const struct tm_value *sides = tm_get(comparison, "sides");
    const size_t count = tm_length(sides) < SIDES_MOST ? tm_length(sides) : SIDES_MOST;
    struct rows rows = { .top = 4 };
    char name[TM_CHART_NAME_BYTES], time[TM_FORMAT_BYTES], count_text[TM_FORMAT_BYTES];
    double low, high, names = 0;

    find_range(sides, &low, &high);
    tm_axis_choose(&rows.axis, TM_AXIS_TIME, low, high, 5, false);
    for (size_t i = 0; i < count; i++) {
        name_side(name, sizeof(name), tm_at(sides, i));
        names = fmax(names, tm_chart_text_width(name, TM_TEXT_NORMAL));
    }
    begin_rows(chart, &rows, count, names, tm_chart_text_width("median 000 ms", TM_TEXT_SMALL));
    for (size_t i = 0; i < count; i++) {
        const struct tm_value *side = tm_at(sides, i), *median = tm_get(side, "median_ps");
        char note[TM_FORMAT_BYTES + 8] = "";

        name_side(name, sizeof(name), side);
        if (tm_has(median))
            (void)snprintf(note, sizeof(note), "median %s", tm_format_time(time, tm_int(median)));
        put_name(chart, &rows, i, name, note);
        draw_side(chart, &rows, side, i);
        tm_chart_cell(chart, name);
        tm_chart_cell(chart, tm_format_count(count_text, tm_int(tm_get(side, "samples"))));
        tm_chart_cell(chart, tm_has(median) ? tm_format_time(time, tm_int(median)) : "");
    }
    tm_chart_add_caption(chart, "One line per step, with the median across.%s",
                         rows.axis.from > 0 ? " The scale does not start at 0." : "");
}

/* --- from old to new --- */

static const struct tm_value *waterfall_at(const struct tm_value *comparison, size_t index)
{
    const struct tm_value *list = tm_get(comparison, "waterfalls");
    size_t seen = 0;

    for (size_t i = 0; i < tm_length(list); i++)
        if (tm_length(tm_get(tm_at(list, i), "parts")) > 0 && seen++ == index)
            return tm_at(list, i);
    return NULL;
}

static size_t count_waterfalls(const struct tm_value *comparison)
{
    size_t count = 0;

    while (waterfall_at(comparison, count))
        count++;
    return count;
}

/* The new side that it leads to. */
static const struct tm_value *side_of(const struct tm_value *comparison, const struct tm_value *waterfall)
{
    const struct tm_value *sides = tm_get(comparison, "sides");

    for (size_t i = 1; i < tm_length(sides); i++)
        if (strcmp(tm_text(tm_get(tm_at(sides, i), "id")), tm_text(tm_get(waterfall, "side"))) == 0)
            return tm_at(sides, i);
    return NULL;
}

/* The parts that are drawn: those that changed, in the order of the document, which starts with computing. */
struct way {
    const struct tm_value *part[PARTS_DRAWN];
    size_t parts;
    int64_t base_ps, new_ps, small_ps; /* small: the sum of the parts not drawn */
    double low, high;                  /* of all intermediate sums */
};

/* in: is_short  parts that are hardly visible next to the largest one share the last row */
static void follow(struct way *way, const struct tm_value *waterfall, bool is_short)
{
    const struct tm_value *parts = tm_get(waterfall, "parts");
    const double seen_least = 0.03;
    double sum, least = 0;

    *way =
        (struct way){ .base_ps = tm_int(tm_get(waterfall, "base_ps")), .new_ps = tm_int(tm_get(waterfall, "new_ps")) };
    sum = (double)way->base_ps;
    way->low = fmin(sum, (double)way->new_ps);
    way->high = fmax(sum, (double)way->new_ps);
    for (size_t i = 0; is_short && i < tm_length(parts); i++)
        least = fmax(least, seen_least * fabs((double)tm_int(tm_get(tm_at(parts, i), "change_ps"))));
    for (size_t i = 0; i < tm_length(parts) && way->parts < PARTS_DRAWN; i++) {
        const int64_t change = tm_int(tm_get(tm_at(parts, i), "change_ps"));

        if (change == 0)
            continue;
        if (fabs((double)change) < least) {
            way->small_ps += change;
            continue;
        }
        way->part[way->parts++] = tm_at(parts, i);
        sum += (double)change;
        way->low = fmin(way->low, sum);
        way->high = fmax(way->high, sum);
    }
}

static enum tm_role role_of(const struct tm_value *part)
{
    const struct tm_value *significant = tm_get(part, "significant");

    if (tm_has(significant) && !tm_is(significant))
        return TM_ROLE_UNKNOWN;
    return tm_int(tm_get(part, "change_ps")) > 0 ? TM_ROLE_BAD : TM_ROLE_GOOD;
}

static const char *signed_time(char *out, int64_t ps)
{
    char time[TM_FORMAT_BYTES];

    (void)snprintf(out, TM_FORMAT_BYTES, "%s%.40s", ps > 0 ? "+" : "", tm_format_time(time, ps));
    return out;
}

static void draw_span(struct tm_chart *chart, const struct rows *rows, size_t row, enum tm_role role, double from,
                      double to)
{
    const double x1 = tm_axis_place(&rows->axis, fmin(from, to)), x2 = tm_axis_place(&rows->axis, fmax(from, to));

    tm_chart_rect(chart, role, x1, rows->top + (double)row * row_pitch + (row_pitch - row_bar) / 2,
                  fmax(x2 - x1, least_sign), row_bar);
}

/* One of the two ends: from the left edge of the scale. */
static void draw_end(struct tm_chart *chart, const struct rows *rows, size_t row, const char *name, int64_t ps)
{
    char time[TM_FORMAT_BYTES];

    tm_format_time(time, ps);
    put_name(chart, rows, row, name, time);
    tm_chart_open(chart, "%s: %s", name, time);
    draw_span(chart, rows, row, TM_ROLE_SERIES, rows->axis.from, (double)ps);
    tm_chart_close(chart);
    tm_chart_cell(chart, name);
    tm_chart_cell(chart, "");
    tm_chart_cell(chart, time);
}

static double draw_part(struct tm_chart *chart, const struct rows *rows, size_t row, const char *title, int64_t change,
                        enum tm_role role, double from)
{
    const double to = from + (double)change, x = tm_axis_place(&rows->axis, from),
                 top = rows->top + (double)row * row_pitch;
    char text[TM_FORMAT_BYTES], sum[TM_FORMAT_BYTES];

    signed_time(text, change);
    put_name(chart, rows, row, title, text);
    tm_chart_line(chart, TM_ROLE_QUIET, x, top - (row_pitch - row_bar) / 2, x, top + (row_pitch - row_bar) / 2);
    tm_chart_open(chart, "%s: %s", title, text);
    draw_span(chart, rows, row, role, from, to);
    tm_chart_close(chart);
    tm_chart_cell(chart, title);
    tm_chart_cell(chart, text);
    tm_chart_cell(chart, tm_format_time(sum, tm_whole(to)));
    return to;
}

/* The start of the scale: 0 if a change is a large part of the step. */
static void choose_scale(struct rows *rows, const struct way *way)
{
    const double room = (way->high - way->low) * 0.6;
    const double low = way->low - room > way->low / 2 ? way->low - room : 0;

    tm_axis_choose(&rows->axis, TM_AXIS_TIME, low, way->high, 5, false);
}

static void draw_waterfall(struct tm_chart *chart, const struct tm_value *comparison, size_t index)
{
    const struct tm_value *waterfall = waterfall_at(comparison, index);
    char base[TM_CHART_NAME_BYTES], new[TM_CHART_NAME_BYTES], text[TM_FORMAT_BYTES];
    struct rows rows = { .top = 4 };
    struct way way;
    double names, notes = 0, sum;
    bool has_small;

    follow(&way, waterfall, chart->is_short);
    name_side(base, sizeof(base), tm_path(comparison, "sides[0]"));
    name_side(new, sizeof(new), side_of(comparison, waterfall));
    choose_scale(&rows, &way);
    names = fmax(tm_chart_text_width(base, TM_TEXT_NORMAL), tm_chart_text_width(new, TM_TEXT_NORMAL));
    for (size_t i = 0; i < way.parts; i++) {
        names = fmax(names, tm_chart_text_width(tm_text(tm_get(way.part[i], "title")), TM_TEXT_NORMAL));
        notes = fmax(notes,
                     tm_chart_text_width(signed_time(text, tm_int(tm_get(way.part[i], "change_ps"))), TM_TEXT_SMALL));
    }
    has_small = way.small_ps != 0;
    if (has_small)
        notes = fmax(notes, tm_chart_text_width(signed_time(text, way.small_ps), TM_TEXT_SMALL));
    begin_rows(chart, &rows, way.parts + has_small + 2, names, notes);
    draw_end(chart, &rows, 0, base, way.base_ps);
    sum = (double)way.base_ps;
    for (size_t i = 0; i < way.parts; i++)
        sum = draw_part(chart, &rows, i + 1, tm_text(tm_get(way.part[i], "title")),
                        tm_int(tm_get(way.part[i], "change_ps")), role_of(way.part[i]), sum);
    if (has_small)
        (void)draw_part(chart, &rows, way.parts + 1, "Other parts", way.small_ps, TM_ROLE_UNKNOWN, sum);
    draw_end(chart, &rows, way.parts + has_small + 1, new, way.new_ps);
    (void)snprintf(chart->title, sizeof(chart->title), "From %.60s to %.60s", base, new);
    tm_chart_add_caption(
        chart, "Mean time per step and device, and the increase or decrease of each part. Gray: within noise.%s",
        rows.axis.from > 0 ? " The scale does not start at 0." : "");
}

/* The charts of a scaling study (schemas/SCALING.md): speedup and efficiency over the number of
 * devices, which double from one place to the next, and the parts of a step. */

enum { POINTS_MOST = 64, ROWS_MOST = 16, CURVE_PIECES = 48 };

static const double figure_most = 1e12; /* drawn; no speedup is that large */

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

static const struct figure speedup = { "speedup", "speedup_low",  "speedup_high", "fitted_speedup", "Speedup",
                                       "speedup", TM_AXIS_NUMBER, ideal_speedup,  tm_format_number };

static const struct figure efficiency = {
    "efficiency_pct", "efficiency_low_pct", "efficiency_high_pct", "fitted_efficiency_pct", "Efficiency", "efficiency",
    TM_AXIS_PCT,      ideal_efficiency,     tm_format_pct
};

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

/* For values beyond the scale, at its end. */
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

            most = tm_has(value) && isfinite(tm_double(value)) ? fmax(most, tm_double(value)) : most;
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
                  &(struct tm_plot_frame){ .kind = figure->kind, .high = high, .right_room = 12, .below = "devices" });
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

/* A line through one figure of all points; points without it are skipped. */
static void draw_line(struct tm_chart *chart, const struct places *at, const struct tm_value *points, size_t count,
                      const char *key)
{
    for (size_t i = 0; i < count; i++) {
        const struct tm_value *value = tm_get(tm_at(points, i), key);

        if (tm_has(value))
            tm_chart_point(chart, x_of(at, devices_of(tm_at(points, i))), y_of(at, tm_double(value)));
    }
}

static void draw_point(struct tm_chart *chart, const struct places *at, const struct tm_value *point,
                       const struct figure *figure)
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
    tm_chart_open(chart, "%.0f device%s: %s %s%s%s%s%s", devices_of(point), devices_of(point) == 1 ? "" : "s",
                  figure->column, figure->format(text, tm_double(value)), has_interval ? ", " : "", from,
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

static void fill_table(struct tm_chart *chart, const struct tm_value *scaling, const struct figure *figure)
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

static void draw_figure(struct tm_chart *chart, const struct tm_value *scaling, const struct figure *figure)
{
    const struct tm_value *points = points_of(scaling);
    const bool has_fit = tm_has(tm_get(scaling, "fit"));
    const struct tm_legend_entry legend[] = { { TM_ROLE_SERIES, "measured, with its 95% interval" },
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
    (void)snprintf(chart->title, sizeof(chart->title), "%s by number of devices", figure->title);
    tm_chart_add_caption(chart, "Relative to the first point. The device axis is logarithmic.");
}

static size_t count_speedup(const struct tm_value *scaling)
{
    return can_draw(scaling, &speedup);
}

static size_t count_efficiency(const struct tm_value *scaling)
{
    return can_draw(scaling, &efficiency);
}

static void draw_speedup(struct tm_chart *chart, const struct tm_value *scaling)
{
    draw_figure(chart, scaling, &speedup);
    if (strcmp(tm_text(tm_get(scaling, "mode")), "weak") == 0)
        tm_chart_add_caption(chart, " Work per time: the work per step grows with the number of devices.");
}

static void draw_efficiency(struct tm_chart *chart, const struct tm_value *scaling)
{
    draw_figure(chart, scaling, &efficiency);
    tm_chart_add_caption(chart, " Efficiency is the speedup as a share of the ideal speedup.");
}

/* --- the parts of a step --- */

static size_t count_scaled_step(const struct tm_value *scaling)
{
    for (size_t i = 0; i < count_of(scaling); i++)
        if (tm_int(tm_path(tm_at(points_of(scaling), i), "parts.total_ps")) > 0)
            return 1;
    return 0;
}

static void draw_scaled_step(struct tm_chart *chart, const struct tm_value *scaling)
{
    struct tm_bar bars[POINTS_MOST] = { 0 };
    const int count = count_of(scaling) < TM_CHART_BARS_MOST ? (int)count_of(scaling) : TM_CHART_BARS_MOST;
    bool is_cut;

    for (int i = 0; i < count; i++) {
        const struct tm_value *point = tm_at(points_of(scaling), (size_t)i);
        char time[TM_FORMAT_BYTES];

        (void)snprintf(bars[i].name, sizeof(bars[i].name), "%.0f device%s", devices_of(point),
                       devices_of(point) == 1 ? "" : "s");
        (void)snprintf(bars[i].label, sizeof(bars[i].label), "%.0f", devices_of(point));
        tm_parts_of_step(&bars[i].parts, tm_get(point, "details"));
        (void)snprintf(bars[i].note, sizeof(bars[i].note), "%s", tm_format_time(time, bars[i].parts.total_ps));
    }
    is_cut = count <= ROWS_MOST ? tm_parts_rows(chart, bars, count) : tm_parts_columns(chart, "devices", bars, count);
    tm_parts_table(chart, "devices", bars, count);
    tm_chart_add_caption(chart, "Mean over the analyzed steps and the devices.%s", is_cut ? TM_CHART_CUT_BARS : "");
}

const struct tm_chart_maker tm_study_charts[] = {
    { TM_CHART_SIDES, "Step times by side", "side, #steps, #median", count_sides, .draw = draw_sides },
    { TM_CHART_WATERFALL, NULL, "part, #change, #afterwards", count_waterfalls, .draw_at = draw_waterfall },
    { TM_CHART_SPEEDUP, NULL, NULL, count_speedup, .draw = draw_speedup },
    { TM_CHART_EFFICIENCY, NULL, NULL, count_efficiency, .draw = draw_efficiency },
    { TM_CHART_SCALED_STEP, "Step breakdown by number of devices", NULL, count_scaled_step, .draw = draw_scaled_step },
    { .count = NULL },
};
