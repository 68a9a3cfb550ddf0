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
    char note[2 * TM_FORMAT_BYTES], shown[TM_CHART_NAME_BYTES];

    tm_format_time(time, tm_int(tm_get(row, "total_ps")));
    tm_format_count(count, tm_int(tm_get(row, "count")));
    if (tm_has(share))
        tm_format_pct(pct, tm_double(share));
    (void)snprintf(note, sizeof(note), "%s%s%s", time, pct[0] ? ", " : "", pct);
    tm_chart_open(chart, "%s: %s", label, note);
    tm_chart_rect(chart, role, left, y, fmax(length, 0.5), row_bar);
    tm_chart_close(chart);
    tm_chart_cut_name(shown, sizeof(shown), label);
    tm_chart_fit(shown, sizeof(shown), TM_TEXT_NORMAL, left - 8);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_NORMAL, TM_ANCHOR_END, left - 8, y + row_bar - 3.5, shown);
    tm_chart_fit(note, sizeof(note), TM_TEXT_SMALL, chart->width - left - length - 6);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, left + length + 6, y + row_bar - 4, note);
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

/* "8.4 to 17 µs": the borders are powers of two, told with two digits. */
static void tell_bucket(const struct tm_value *row, char *out, size_t out_bytes)
{
    char from[TM_FORMAT_BYTES], to[TM_FORMAT_BYTES];
    const char *unit, *same;

    tm_format_time_roughly(from, tm_int(tm_get(row, "from_ps")));
    if (!tm_has(tm_get(row, "to_ps"))) {
        (void)snprintf(out, out_bytes, "%s and more", from);
        return;
    }
    tm_format_time_roughly(to, tm_int(tm_get(row, "to_ps")));
    unit = strchr(from, ' ');
    same = strchr(to, ' ');
    if (unit && same && strcmp(unit, same) == 0)
        from[unit - from] = 0;
    (void)snprintf(out, out_bytes, "%s to %s", from, to);
}

static void draw_bucket(struct tm_chart *chart, const struct tm_plot *plot, const struct tm_value *row, double x,
                        double width)
{
    const double y = tm_axis_place(&plot->y, tm_double(tm_get(row, "total_ps")));
    char time[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES], range[2 * TM_FORMAT_BYTES + 8];

    tell_bucket(row, range, sizeof(range));
    tm_format_time(time, tm_int(tm_get(row, "total_ps")));
    tm_format_count(count, tm_int(tm_get(row, "count")));
    tm_chart_open(chart, "%s: %s gaps, %s", range, count, time);
    tm_chart_rect(chart, TM_ROLE_SERIES, x + width * 0.06, y, width * 0.88, plot->bottom - y);
    tm_chart_close(chart);
    if (tm_int(tm_get(row, "count")) > 0 && tm_chart_text_width(count, TM_TEXT_SMALL) < width)
        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_MIDDLE, x + width / 2, y - 3, count);
    tm_chart_cell(chart, range);
    tm_chart_cell(chart, count);
    tm_chart_cell(chart, time);
}

/* A logarithmic scale of lengths below the buckets: round numbers, wherever they lie.
 * in:     first_ps  where the first bucket begins;  doublings  how many there are;  pitch  of one */
static void draw_lengths(struct tm_chart *chart, const struct tm_plot *plot, double first_ps, int doublings,
                         double pitch)
{
    enum { DECADES_FROM_ON = 10 /* doublings: fewer have ticks at 2 and 5, too */ };
    static const int digits[] = { 1, 2, 5 };
    const double last_ps = ldexp(first_ps, doublings);
    const int last_decade = (int)floor(log10(last_ps));
    double until = 0;

    for (int decade = (int)floor(log10(first_ps)); decade <= last_decade; decade++)
        for (int i = 0; i < (doublings >= DECADES_FROM_ON ? 1 : 3); i++) {
            const double at = pow(10, decade) * digits[i], x = plot->left + pitch * log2(at / first_ps);
            const struct tm_axis axis = { .kind = TM_AXIS_TIME, .to = at * (1 + 1e-9), .step = at };
            char label[TM_FORMAT_BYTES];

            if (at < first_ps || at > last_ps)
                continue;
            tm_chart_line(chart, TM_ROLE_QUIET, x, plot->bottom, x, plot->bottom + 4);
            tm_chart_label(chart, x, plot->bottom + TM_PLOT_LABELS_BELOW, tm_axis_text(&axis, at, label), &until);
        }
}

size_t tm_count_gaps(const struct tm_value *summary)
{
    return most_in(tm_path(summary, "gaps.histogram"), "total_ps") > 0;
}

void tm_draw_gaps(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    const struct tm_value *rows = tm_path(summary, "gaps.histogram");
    int place[BUCKETS_MOST] = { 0 };
    const int places = place_buckets(rows, place);
    const double first_ps = tm_double(tm_get(tm_at(rows, 0), "from_ps"));
    struct tm_plot plot;
    double pitch;

    (void)index;
    (void)snprintf(chart->title, sizeof(chart->title), "Idle time by length of the gap");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "Height: idle time in gaps of that length; each bar holds gaps from one length to twice that "
                   "length. Above each bar: how many gaps.");
    tm_chart_column(chart, "length of gap", false);
    tm_chart_column(chart, "gaps", true);
    tm_chart_column(chart, "time", true);
    tm_plot_begin(chart, &plot,
                  &(struct tm_plot_frame){ .kind = TM_AXIS_TIME,
                                           .high = most_in(rows, "total_ps") * 1.06,
                                           .right_room = 12 });
    pitch = fmin((plot.right - plot.left) / places, 90);
    for (size_t i = 0; i < tm_length(rows) && i < BUCKETS_MOST; i++)
        draw_bucket(chart, &plot, tm_at(rows, i), plot.left + pitch * place[i], pitch);
    if (first_ps >= 1 && first_ps < 9e18)
        draw_lengths(chart, &plot, first_ps, places, pitch);
}
