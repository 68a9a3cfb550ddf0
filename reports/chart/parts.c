/* SPDX-License-Identifier: Apache-2.0 */
/* Stacked bars of device time, for steps and for devices.  The order of the parts is the order of
 * the roles, so every bar and legend of a report stacks the same way.  Only parts that occur are in
 * the legend and the table. */
#include "reports/chart/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/axis.h"
#include "reports/format/format.h"

/* Points. */
static const double row_pitch = 22, row_bar = 14, column_height = 190, legend_pitch = 15,
                    axis_room = 22, swatch = 8, seam = 0.6;

static void add_part(struct tm_parts *parts, enum tm_role role, const struct tm_value *ps)
{
    const int64_t value = tm_int(ps);

    if (!tm_has(ps) || value <= 0 || value > INT64_MAX - parts->total_ps)
        return;
    parts->ps[role] += value;
    parts->total_ps += value;
}

static void add_directions(struct tm_parts *parts, const struct tm_value *copies)
{
    if (tm_type_of(copies) != TM_OBJECT) {
        add_part(parts, TM_ROLE_COPY_OTHER, copies);
        return;
    }
    for (size_t i = 0; i < tm_length(copies); i++) {
        const enum tm_role role = tm_role_of_direction(tm_key_at(copies, i));

        add_part(parts, role == TM_ROLE_UNKNOWN ? TM_ROLE_COPY_OTHER : role,
                 tm_value_at(copies, i));
    }
}

/* Idle time by cause: {cause: ps} or {cause: {"total_ps": ps}}.  What the causes leave over stays
 * plain idle. */
static void add_idle(struct tm_parts *parts, const struct tm_value *causes,
                     const struct tm_value *idle)
{
    const int64_t before = parts->total_ps;

    for (size_t i = 0; i < tm_length(causes); i++) {
        const struct tm_value *ps = tm_value_at(causes, i);
        const enum tm_role role = tm_role_of_cause(tm_key_at(causes, i));

        if (tm_type_of(ps) == TM_OBJECT)
            ps = tm_get(ps, "total_ps");
        add_part(parts, role == TM_ROLE_UNKNOWN ? TM_ROLE_IDLE : role, ps);
    }
    if (tm_has(idle) && tm_int(idle) > parts->total_ps - before) {
        const int64_t rest = tm_int(idle) - (parts->total_ps - before);

        if (rest <= INT64_MAX - parts->total_ps) {
            parts->ps[TM_ROLE_IDLE] += rest;
            parts->total_ps += rest;
        }
    }
}

void tm_parts_of_step(struct tm_parts *parts, const struct tm_value *step)
{
    const struct tm_value *idle = tm_get(step, "idle_ps");
    const bool split = tm_type_of(idle) == TM_OBJECT;

    memset(parts, 0, sizeof(*parts));
    parts->present = tm_has(tm_get(step, "compute_ps")) || tm_has(idle);
    add_part(parts, TM_ROLE_COMPUTE, tm_get(step, "compute_ps"));
    add_part(parts, TM_ROLE_COLLECTIVE, tm_get(step, "exposed_collective_ps"));
    add_directions(parts, tm_get(step, "exposed_copy_ps"));
    add_idle(parts, split ? idle : NULL, split ? NULL : idle);
}

void tm_parts_of_device(struct tm_parts *parts, const struct tm_value *device)
{
    const struct tm_value *directions = tm_get(device, "exposed_by_direction_ps");

    memset(parts, 0, sizeof(*parts));
    parts->present = tm_has(tm_get(device, "compute_ps")) || tm_has(tm_get(device, "idle_ps"));
    add_part(parts, TM_ROLE_COMPUTE, tm_get(device, "compute_ps"));
    add_part(parts, TM_ROLE_COLLECTIVE, tm_get(device, "exposed_collective_ps"));
    add_directions(parts, tm_has(directions) ? directions : tm_get(device, "exposed_copy_ps"));
    add_idle(parts, tm_path(device, "gaps.by_cause"), tm_get(device, "idle_ps"));
    add_part(parts, TM_ROLE_IDLE_OUTSIDE, tm_get(device, "lead_idle_ps"));
    add_part(parts, TM_ROLE_IDLE_OUTSIDE, tm_get(device, "trail_idle_ps"));
}

static void find_used(const struct tm_bar *bars, int count, bool *used)
{
    memset(used, 0, TM_PARTS_MOST * sizeof(*used));
    for (int i = 0; i < count; i++)
        for (int role = 0; role < TM_PARTS_MOST; role++)
            used[role] |= bars[i].parts.ps[role] > 0;
}

/* Draw swatches and labels in lines from the top.  out: the height they took */
static double draw_legend(struct tm_chart *chart, const bool *used)
{
    double x = 0, y = 0;

    for (int role = 0; role < TM_PARTS_MOST; role++) {
        const char *label = tm_palette[role].label;
        const double width = swatch + 4 + tm_chart_text_width(label, TM_TEXT_SMALL) + 14;

        if (!used[role])
            continue;
        if (x > 0 && x + width > chart->width) {
            x = 0;
            y += legend_pitch;
        }
        tm_chart_rect(chart, (enum tm_role)role, x, y + 1, swatch, swatch);
        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, x + swatch + 4,
                        y + swatch, label);
        x += width;
    }
    return y + legend_pitch + 6;
}

static double longest(const struct tm_bar *bars, int count)
{
    int64_t most = 0;

    for (int i = 0; i < count; i++)
        if (bars[i].parts.total_ps > most)
            most = bars[i].parts.total_ps;
    return (double)most;
}

/* Draw the parts of one bar along its scale.
 * in:     across, thick  where the bar lies across the scale */
static void draw_bar(struct tm_chart *chart, const struct tm_axis *axis, const struct tm_bar *bar,
                     double across, double thick)
{
    char part_text[TM_FORMAT_BYTES], total_text[TM_FORMAT_BYTES];
    const bool upwards = axis->length < 0;
    double done = 0;

    tm_format_time(total_text, bar->parts.total_ps);
    for (int role = 0; role < TM_PARTS_MOST; role++) {
        const double ps = (double)bar->parts.ps[role];
        const double from = tm_axis_place(axis, done), to = tm_axis_place(axis, done + ps);
        double length = fabs(to - from);

        if (ps <= 0)
            continue;
        done += ps;
        if (length < 0.02)
            continue; /* not visible at any zoom of a page */
        if (length > 4 * seam)
            length -= seam; /* paper between neighbours: parts are told apart without their hue */
        tm_chart_open(chart, "%s, %s: %s of %s", bar->name, tm_palette[role].label,
                      tm_format_time(part_text, bar->parts.ps[role]), total_text);
        if (upwards)
            tm_chart_rect(chart, (enum tm_role)role, across, from - length, thick, length);
        else
            tm_chart_rect(chart, (enum tm_role)role, from, across, length, thick);
        tm_chart_close(chart);
    }
}

void tm_parts_rows(struct tm_chart *chart, const struct tm_bar *bars, int count)
{
    struct tm_axis axis;
    bool used[TM_PARTS_MOST];
    char label[TM_FORMAT_BYTES];
    double names = 0, notes = 0, top;

    find_used(bars, count, used);
    for (int i = 0; i < count; i++) {
        names = fmax(names, tm_chart_text_width(bars[i].name, TM_TEXT_NORMAL));
        notes = fmax(notes, tm_chart_text_width(bars[i].note, TM_TEXT_SMALL));
    }
    names = fmin(names, chart->width * 0.35) + 8;
    notes = fmin(notes, chart->width * 0.3) + 8;
    top = draw_legend(chart, used);
    tm_axis_choose(&axis, TM_AXIS_TIME, 0, longest(bars, count), 5, true);
    axis.at = names;
    axis.length = chart->width - names - notes;
    for (int i = 0; i < tm_axis_ticks(&axis); i++) {
        const double x = tm_axis_place(&axis, tm_axis_tick(&axis, i));

        tm_chart_line(chart, TM_ROLE_GRID, x, top, x, top + count * row_pitch);
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, i ? TM_ANCHOR_MIDDLE : TM_ANCHOR_START,
                        x, top + count * row_pitch + 11, tm_axis_label(&axis, i, label));
    }
    for (int i = 0; i < count; i++) {
        const double y = top + i * row_pitch + (row_pitch - row_bar) / 2;
        const double end = tm_axis_place(&axis, (double)bars[i].parts.total_ps);

        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_NORMAL, TM_ANCHOR_END, names - 8,
                        y + row_bar - 3.5, bars[i].name);
        draw_bar(chart, &axis, &bars[i], y, row_bar);
        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, end + 6,
                        y + row_bar - 4, bars[i].note);
    }
    chart->height = top + count * row_pitch + axis_room;
}

void tm_parts_columns(struct tm_chart *chart, const char *axis_name, const struct tm_bar *bars,
                      int count)
{
    struct tm_axis axis;
    bool used[TM_PARTS_MOST];
    char label[TM_FORMAT_BYTES];
    double top, left = 0, pitch, labelled = 0;

    find_used(bars, count, used);
    top = draw_legend(chart, used) + 4;
    tm_axis_choose(&axis, TM_AXIS_TIME, 0, longest(bars, count), 4, false);
    axis.at = top + column_height;
    axis.length = -column_height;
    for (int i = 0; i < tm_axis_ticks(&axis); i++)
        left = fmax(left, tm_chart_text_width(tm_axis_label(&axis, i, label), TM_TEXT_SMALL));
    left = fmax(left, tm_chart_text_width(axis_name, TM_TEXT_SMALL)) + 6;
    for (int i = 0; i < tm_axis_ticks(&axis); i++) {
        const double y = tm_axis_place(&axis, tm_axis_tick(&axis, i));

        tm_chart_line(chart, TM_ROLE_GRID, left, y, chart->width, y);
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, left - 5, y + 3,
                        tm_axis_label(&axis, i, label));
    }
    tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, left - 5, axis.at + 15,
                    axis_name);
    pitch = (chart->width - left) / count;
    for (int i = 0; i < count; i++) {
        const double x = left + pitch * i + pitch * 0.12, middle = left + pitch * (i + 0.5);
        const double half = tm_chart_text_width(bars[i].label, TM_TEXT_SMALL) / 2;

        draw_bar(chart, &axis, &bars[i], x, pitch * 0.76);
        if ((i > 0 && middle - half < labelled) || middle + half > chart->width)
            continue; /* no room beside the label before */
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_MIDDLE, middle, axis.at + 15,
                        bars[i].label);
        labelled = middle + half + 8;
    }
    chart->height = axis.at + axis_room;
}

void tm_parts_table(struct tm_chart *chart, const char *first, const struct tm_bar *bars, int count)
{
    bool used[TM_PARTS_MOST];
    char text[TM_FORMAT_BYTES];

    find_used(bars, count, used);
    tm_chart_column(chart, first, false);
    tm_chart_column(chart, "all", true);
    for (int role = 0; role < TM_PARTS_MOST; role++)
        if (used[role])
            tm_chart_column(chart, tm_palette[role].label, true);
    for (int i = 0; i < count; i++) {
        tm_chart_cell(chart, bars[i].name);
        tm_chart_cell(chart, tm_format_time(text, bars[i].parts.total_ps));
        for (int role = 0; role < TM_PARTS_MOST; role++)
            if (used[role])
                tm_chart_cell(chart, tm_format_time(text, bars[i].parts.ps[role]));
    }
}
