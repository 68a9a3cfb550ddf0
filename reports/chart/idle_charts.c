/* SPDX-License-Identifier: Apache-2.0 */
/* The charts of idle time: by cause, and by the length of gaps. */
#include "reports/chart/makers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/format/format.h"

enum { BUCKETS_MOST = 64 };
static const double row_pitch = 22, row_bar = 14;

static double most_of(const struct tm_value *rows, const char *key)
{
    double most = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        most = fmax(most, tm_double(tm_get(tm_value_at(rows, i), key)));
    return most;
}

static void draw_cause(struct tm_chart *chart, const char *cause, const struct tm_value *row,
                       double y, double left, double length)
{
    const enum tm_role role = tm_role_of_cause(cause);
    const char *label = role == TM_ROLE_UNKNOWN ? cause : tm_palette[role].label + strlen("idle: ");
    const struct tm_value *share = tm_get(row, "share_pct");
    char time[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES] = "", count[TM_FORMAT_BYTES];
    char note[2 * TM_FORMAT_BYTES];

    tm_format_time(time, tm_int(tm_get(row, "total_ps")));
    tm_format_count(count, tm_int(tm_get(row, "count")));
    if (tm_has(share))
        tm_format_pct(pct, tm_double(share));
    (void)snprintf(note, sizeof(note), "%s%s%s", time, pct[0] ? ", " : "", pct);
    tm_chart_open(chart, "%s: %s", label, note);
    tm_chart_rect(chart, role, left, y, fmax(length, 0.5), row_bar);
    tm_chart_close(chart);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_NORMAL, TM_ANCHOR_END, left - 8, y + row_bar - 3.5,
                    label);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, left + length + 6,
                    y + row_bar - 4, note);
    tm_chart_cell(chart, label);
    tm_chart_cell(chart, count);
    tm_chart_cell(chart, time);
    tm_chart_cell(chart, pct);
}

size_t tm_count_causes(const struct tm_value *summary)
{
    return most_of(tm_path(summary, "gaps.by_cause"), "total_ps") > 0;
}

void tm_draw_causes(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    const struct tm_value *causes = tm_path(summary, "gaps.by_cause");
    const double most = most_of(causes, "total_ps"), left = 140, right = 110;
    double y = 0;

    (void)index;
    (void)snprintf(chart->title, sizeof(chart->title), "Why devices were idle");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "Idle time of all devices by cause, with the share of all idle time; every gap "
                   "counts, however short.");
    tm_chart_column(chart, "cause", false);
    tm_chart_column(chart, "gaps", true);
    tm_chart_column(chart, "time", true);
    tm_chart_column(chart, "share of idle", true);
    for (size_t i = 0; i < tm_length(causes); i++) {
        const struct tm_value *row = tm_value_at(causes, i);
        const double ps = tm_double(tm_get(row, "total_ps"));

        if (ps <= 0)
            continue;
        draw_cause(chart, tm_key_at(causes, i), row, y + (row_pitch - row_bar) / 2, left,
                   (chart->width - left - right) * ps / most);
        y += row_pitch;
    }
    chart->height = y + 2;
}

static double most_in(const struct tm_value *rows, const char *key)
{
    double most = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        most = fmax(most, tm_double(tm_get(tm_at(rows, i), key)));
    return most;
}

/* Buckets hold lengths from a power of two to the next; those without gaps are not in the summary,
 * but keep their place on the page. out:    place of each row, counted in buckets from the first;
 * number of places in all */
static int place_buckets(const struct tm_value *rows, int *place)
{
    const double first = tm_double(tm_get(tm_at(rows, 0), "from_ps"));
    const int count = (int)(tm_length(rows) < BUCKETS_MOST ? tm_length(rows) : BUCKETS_MOST);
    bool fits = first > 0;

    for (int i = 0; i < count; i++) {
        const double from = tm_double(tm_get(tm_at(rows, (size_t)i), "from_ps"));
        const double doublings = fits && from > 0 ? round(log2(from / first)) : -1;

        fits = doublings >= (i ? place[i - 1] + 1 : 0) && doublings < BUCKETS_MOST;
        place[i] = fits ? (int)doublings : 0;
    }
    for (int i = 0; i < count && !fits; i++)
        place[i] = i;
    return count > 0 ? place[count - 1] + 1 : 1;
}

static void draw_bucket(struct tm_chart *chart, const struct tm_plot *plot,
                        const struct tm_value *row, double x, double width)
{
    char from[TM_FORMAT_BYTES], to[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];
    char range[2 * TM_FORMAT_BYTES + 8];
    const double y = tm_axis_place(&plot->y, tm_double(tm_get(row, "total_ps")));

    tm_format_time(from, tm_int(tm_get(row, "from_ps")));
    tm_format_time(time, tm_int(tm_get(row, "total_ps")));
    tm_format_count(count, tm_int(tm_get(row, "count")));
    if (tm_has(tm_get(row, "to_ps")))
        (void)snprintf(range, sizeof(range), "%s to %s", from,
                       tm_format_time(to, tm_int(tm_get(row, "to_ps"))));
    else
        (void)snprintf(range, sizeof(range), "%s and more", from);
    tm_chart_open(chart, "%s: %s gaps, %s", range, count, time);
    tm_chart_rect(chart, TM_ROLE_SERIES, x + width * 0.1, y, width * 0.8, plot->bottom - y);
    tm_chart_close(chart);
    if (tm_int(tm_get(row, "count")) > 0 && tm_chart_text_width(count, TM_TEXT_SMALL) < width)
        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_MIDDLE, x + width / 2, y - 3,
                        count);
    tm_chart_cell(chart, range);
    tm_chart_cell(chart, count);
    tm_chart_cell(chart, time);
}

size_t tm_count_gaps(const struct tm_value *summary)
{
    return most_in(tm_path(summary, "gaps.histogram"), "total_ps") > 0;
}

void tm_draw_gaps(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    const struct tm_value *rows = tm_path(summary, "gaps.histogram");
    const double most = most_in(rows, "total_ps");
    int place[BUCKETS_MOST] = { 0 };
    const int places = place_buckets(rows, place);
    double pitch, labelled = 0;
    struct tm_plot plot;
    char text[TM_FORMAT_BYTES];

    (void)index;
    (void)snprintf(chart->title, sizeof(chart->title), "Gaps by length");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "Height: idle time in gaps of that length, from the label to twice as long. "
                   "Above each bar: how many gaps.");
    tm_chart_column(chart, "length of gap", false);
    tm_chart_column(chart, "gaps", true);
    tm_chart_column(chart, "time", true);
    tm_plot_begin(chart, &plot,
                  &(struct tm_plot_frame){ .kind = TM_AXIS_TIME, .high = most * 1.06 });
    pitch = fmin((plot.right - plot.left) / places, 90);
    for (size_t i = 0; i < tm_length(rows) && i < BUCKETS_MOST; i++) {
        const double x = plot.left + pitch * place[i];
        double width;

        draw_bucket(chart, &plot, tm_at(rows, i), x, pitch);
        tm_format_time(text, tm_int(tm_get(tm_at(rows, i), "from_ps")));
        width = tm_chart_text_width(text, TM_TEXT_SMALL);
        if (x < labelled || x + width > chart->width)
            continue;
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_START, x,
                        plot.bottom + TM_PLOT_LABELS_BELOW, text);
        labelled = x + width + 6;
    }
}
