/* SPDX-License-Identifier: Apache-2.0 */
/* Stacked bars of device time, for steps and for devices.  The order of the parts is the order of
 * the roles, so every bar and legend of a report stacks the same way.  Only parts that occur are in
 * the legend and the table. */
#include "reports/chart/parts.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/axis.h"
#include "reports/chart/legend.h"
#include "reports/chart/makers.h"
#include "reports/chart/outliers.h"
#include "reports/format/format.h"

/* Points. */
static const double row_pitch = 22, row_bar = 14, column_height = 190, axis_room = 22, seam = 0.6;
static const double break_at = 0.82; /* of the length of a bar that is cut */
enum { BARS_MOST = 64 };
static_assert((int)TM_CHART_BARS_MOST <= (int)BARS_MOST && (int)TM_CHART_DEVICES_MOST <= (int)BARS_MOST, "any chart");

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
}

static void find_used(const struct tm_bar *bars, int count, bool *used)
{
    memset(used, 0, TM_PARTS_MOST * sizeof(*used));
    for (int i = 0; i < count; i++)
        for (int role = 0; role < TM_PARTS_MOST; role++)
            used[role] |= bars[i].parts.ps[role] > 0;
}

/* The legend of the roles in use.  out: the height it took */
static double draw_legend(struct tm_chart *chart, const bool *used)
{
    struct tm_legend_entry entries[TM_PARTS_MOST];
    int count = 0;

    for (int role = 0; role < TM_PARTS_MOST; role++)
        if (used[role])
            entries[count++] = (struct tm_legend_entry){ (enum tm_role)role, tm_palette[role].label };
    return tm_legend_draw(chart, entries, count, 0);
}

/* How far the scale goes, and whether bars are longer than that. */
static double scale_end(const struct tm_bar *bars, int count, bool *is_cut)
{
    double totals[BARS_MOST], most = 0, end;

    for (int i = 0; i < count; i++) {
        totals[i] = (double)bars[i].parts.total_ps;
        most = fmax(most, totals[i]);
    }
    end = tm_without_outliers(totals, (size_t)count);
    *is_cut = end < most;
    return *is_cut ? end * 1.3 : most;
}

/* Two strokes of paper across a bar that is longer than the scale. */
static void draw_break(struct tm_chart *chart, bool upwards, struct tm_point at, double thick)
{
    static const double lean = 3, stroke = 2.4, apart = 4.5, over = 1;

    for (int i = 0; i < 2; i++) {
        const double along = i * apart;

        tm_chart_path(chart, TM_MARK_POLYGON, TM_ROLE_PAPER, 0);
        for (int corner = 0; corner < 4; corner++) {
            const bool is_far = corner == 1 || corner == 2;
            const double a = along + (corner >= 2 ? stroke : 0) + (is_far ? lean : 0);
            const double across = is_far ? thick + over : -over;

            tm_chart_point(chart, upwards ? at.x + across : at.x + a, upwards ? at.y - a : at.y + across);
        }
    }
}

/* Where a bar lies on the page. */
struct place {
    double across, thick; /* across the scale */
    bool is_plain;        /* of one figure */
    double note;          /* where the note begins; 0: behind the bar */
};

static void tell_part(struct tm_chart *chart, const struct tm_bar *bar, int role, bool is_plain)
{
    char part[TM_FORMAT_BYTES], total[TM_FORMAT_BYTES];

    if (is_plain)
        tm_chart_open(chart, "%s: %s", bar->name, bar->note);
    else
        tm_chart_open(chart, "%s, %s: %s of %s", bar->name, tm_palette[role].label,
                      tm_format_time(part, bar->parts.ps[role]), tm_format_time(total, bar->parts.total_ps));
}

/* Draw the parts of one bar along its scale.  The parts of one that is cut keep their shares.  out: where it ends */
static double draw_bar(struct tm_chart *chart, const struct tm_axis *axis, const struct tm_bar *bar,
                       const struct place *place)
{
    const bool upwards = axis->length < 0;
    const double total = (double)bar->parts.total_ps, shown = fmin(total, axis->to);
    const double end = tm_axis_place(axis, shown), start = tm_axis_place(axis, 0);
    double done = 0;

    for (int role = 0; role < TM_PARTS_MOST; role++) {
        const double ps = (double)bar->parts.ps[role];
        const double from = start + (end - start) * done / total, to = start + (end - start) * (done + ps) / total;
        double length = fabs(to - from);

        if (ps <= 0)
            continue;
        done += ps;
        if (length < 0.02)
            continue; /* not visible at any zoom of a page */
        if (length > 4 * seam)
            length -= seam; /* paper between neighbours: parts are told apart without their hue */
        tell_part(chart, bar, role, place->is_plain);
        if (upwards)
            tm_chart_rect(chart, (enum tm_role)role, place->across, from - length, place->thick, length);
        else
            tm_chart_rect(chart, (enum tm_role)role, from, place->across, length, place->thick);
        tm_chart_close(chart);
    }
    if (shown < total)
        draw_break(chart, upwards,
                   upwards ? (struct tm_point){ place->across, start + (end - start) * break_at }
                           : (struct tm_point){ start + (end - start) * break_at, place->across },
                   place->thick);
    return end;
}

/* Room for names on the left and notes on the right; a scale between them with its lines and labels. */
static void begin_rows(struct tm_chart *chart, struct tm_axis *axis, const struct tm_bar *bars, int count, double top)
{
    const double bottom = top + count * row_pitch;
    double names = 0, notes = 0;

    for (int i = 0; i < count; i++) {
        names = fmax(names, tm_chart_text_width(bars[i].name, TM_TEXT_NORMAL));
        notes = fmax(notes, tm_chart_text_width(bars[i].note, TM_TEXT_SMALL));
    }
    names = fmin(names, chart->width * 0.35) + 8;
    notes = fmax(fmin(notes, chart->width * 0.35) + 8, 30); /* half a label of the scale */
    axis->at = names;
    axis->length = chart->width - names - notes;
    tm_chart_scale_below(chart, axis, top, bottom);
    chart->height = bottom + axis_room;
}

static void draw_row(struct tm_chart *chart, const struct tm_axis *axis, const struct tm_bar *bar,
                     const struct place *place)
{
    const double end = draw_bar(chart, axis, bar, place), note = place->note > 0 ? place->note : end + 6;
    char text[sizeof(bar->name)];

    (void)snprintf(text, sizeof(text), "%s", bar->name);
    tm_chart_fit(text, sizeof(text), TM_TEXT_NORMAL, axis->at - 8);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_NORMAL, TM_ANCHOR_END, axis->at - 8, place->across + row_bar - 3.5,
                    text);
    (void)snprintf(text, sizeof(text), "%s", bar->note);
    tm_chart_fit(text, sizeof(text), TM_TEXT_SMALL, chart->width - note);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, note, place->across + row_bar - 4, text);
}

/* in:     place  its thickness and what else is the same of all bars */
static void draw_rows(struct tm_chart *chart, const struct tm_axis *axis, const struct tm_bar *bars, int count,
                      struct place place)
{
    for (int i = 0; i < count; i++) {
        draw_row(chart, axis, &bars[i], &place);
        place.across += row_pitch;
    }
}

bool tm_parts_rows(struct tm_chart *chart, const struct tm_bar *bars, int count)
{
    bool used[TM_PARTS_MOST], is_cut;
    struct tm_axis axis;
    double top;

    find_used(bars, count, used);
    top = draw_legend(chart, used);
    tm_axis_choose(&axis, TM_AXIS_TIME, 0, scale_end(bars, count, &is_cut), 5, true);
    begin_rows(chart, &axis, bars, count, top);
    draw_rows(chart, &axis, bars, count,
              (struct place){ .across = top + (row_pitch - row_bar) / 2, .thick = row_bar });
    return is_cut;
}

void tm_plain_rows(struct tm_chart *chart, const struct tm_bar *bars, int count, double level, const char *level_name)
{
    const double top = level_name ? 14 : 2;
    struct place place = { .across = top + (row_pitch - row_bar) / 2, .thick = row_bar, .is_plain = true };
    double most = level_name ? level : 0, x, half;
    struct tm_axis axis;

    for (int i = 0; i < count; i++)
        most = fmax(most, (double)bars[i].parts.total_ps);
    tm_axis_choose(&axis, TM_AXIS_TIME, 0, most, 5, true);
    begin_rows(chart, &axis, bars, count, top);
    if (level_name)
        place.note = axis.at + axis.length + 6; /* where no line goes through it */
    draw_rows(chart, &axis, bars, count, place);
    if (!level_name)
        return;
    x = tm_axis_place(&axis, level);
    half = tm_chart_text_width(level_name, TM_TEXT_SMALL) / 2;
    tm_chart_dashed(chart, TM_ROLE_TEXT, x, top, x, top + count * row_pitch);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_MIDDLE, fmin(fmax(x, half), chart->width - half),
                    top - 4, level_name);
}

/* The scale of columns on the left, and what the columns are.  out: where they begin */
static double begin_columns(struct tm_chart *chart, const struct tm_axis *axis, const char *axis_name)
{
    double left = tm_chart_text_width(axis_name, TM_TEXT_SMALL);
    char label[TM_FORMAT_BYTES];

    for (int i = 0; i < tm_axis_ticks(axis); i++)
        left = fmax(left, tm_chart_text_width(tm_axis_label(axis, i, label), TM_TEXT_SMALL));
    left += 6;
    for (int i = 0; i < tm_axis_ticks(axis); i++) {
        const double y = tm_axis_place(axis, tm_axis_tick(axis, i));

        tm_chart_line(chart, TM_ROLE_GRID, left, y, chart->width, y);
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, left - 5, y + 3,
                        tm_axis_label(axis, i, label));
    }
    tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, left - 5, axis->at + 15, axis_name);
    return left;
}

bool tm_parts_columns(struct tm_chart *chart, const char *axis_name, const struct tm_bar *bars, int count)
{
    static const double bar_part = 0.76;
    bool used[TM_PARTS_MOST], is_cut;
    struct tm_axis axis;
    double left, pitch, labelled, told;

    find_used(bars, count, used);
    tm_axis_choose(&axis, TM_AXIS_TIME, 0, scale_end(bars, count, &is_cut), 4, false);
    axis.at = draw_legend(chart, used) + 8 + column_height;
    axis.length = -column_height;
    left = begin_columns(chart, &axis, axis_name);
    labelled = told = left - 8; /* the scale stands left of it */
    pitch = (chart->width - left) / count;
    for (int i = 0; i < count; i++) {
        const struct place place = { .across = left + pitch * (i + (1 - bar_part) / 2),
                                     .thick = pitch * bar_part };
        const double middle = left + pitch * (i + 0.5), end = draw_bar(chart, &axis, &bars[i], &place);

        tm_chart_label(chart, middle, axis.at + 15, bars[i].label, &labelled);
        if ((double)bars[i].parts.total_ps > axis.to)
            tm_chart_label(chart, middle, end - 3, bars[i].note, &told);
    }
    chart->height = axis.at + axis_room;
    return is_cut;
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
