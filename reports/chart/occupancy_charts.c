/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy of kernels: a dot per kernel, right for long ones, large for those with much time. */
#include <math.h>
#include <stdio.h>

#include "reports/chart/makers.h"
#include "reports/chart/spots.h"
#include "reports/format/format.h"

enum { LOOKED_AT = 400, NAMED = 5, TABLE_ROWS = 60, PCT_STEP = 25 };
static const double dot_least = 2, dot_most = 9, plot_height = 190, top_room = 10, left_room = 42, below = 34;

struct scatter {
    double low, high; /* log10 of picoseconds; whole decades */
    double left, right, top, bottom;
    struct tm_spots spots;
    const struct tm_value *row[TM_SPOTS_MOST];
};

static bool is_drawn(const struct tm_value *row)
{
    return tm_has(tm_get(row, "occupancy_pct")) && tm_double(tm_get(row, "mean_ps")) >= 1;
}

size_t tm_count_occupancy(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "kernels.rows");

    for (size_t i = 0; i < tm_length(rows) && i < LOOKED_AT; i++)
        if (is_drawn(tm_at(rows, i)))
            return 1;
    return 0;
}

/* The rows that are drawn, and the decades that hold them. */
static void choose_rows(struct scatter *s, const struct tm_value *rows)
{
    s->low = INFINITY;
    s->high = -INFINITY;
    for (size_t i = 0; i < tm_length(rows) && i < LOOKED_AT && s->spots.dots < TM_SPOTS_MOST; i++) {
        const struct tm_value *row = tm_at(rows, i);
        const double at = log10(fmax(tm_double(tm_get(row, "mean_ps")), 1));

        if (!is_drawn(row))
            continue;
        s->row[s->spots.dots++] = row;
        s->low = fmin(s->low, floor(at));
        s->high = fmax(s->high, floor(at) + 1);
    }
}

static double x_of(const struct scatter *s, double log_ps)
{
    return s->left + (log_ps - s->low) / (s->high - s->low) * (s->right - s->left);
}

static double y_of(const struct scatter *s, double pct)
{
    return s->bottom - fmin(fmax(pct, 0), 100) / 100 * (s->bottom - s->top);
}

/* "10 µs" of a decade. */
static char *decade_label(char *out, double decade)
{
    const struct tm_axis axis = { .kind = TM_AXIS_TIME, .to = pow(10, decade) * 1.000001, .step = pow(10, decade) };

    return tm_axis_text(&axis, pow(10, decade), out);
}

static void draw_scales(struct tm_chart *chart, const struct scatter *s)
{
    static const char title[] = "mean time of one launch";
    char label[TM_FORMAT_BYTES];
    double until = 0;

    for (int pct = 0; pct <= 100; pct += PCT_STEP) {
        tm_chart_line(chart, TM_ROLE_GRID, s->left, y_of(s, pct), s->right, y_of(s, pct));
        (void)snprintf(label, sizeof(label), "%d %%", pct);
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, s->left - 6, y_of(s, pct) + 3, label);
    }
    for (int d = (int)s->low; d <= (int)s->high; d++) {
        tm_chart_line(chart, TM_ROLE_GRID, x_of(s, d), s->top, x_of(s, d), s->bottom);
        tm_chart_label(chart, x_of(s, d), s->bottom + 14, decade_label(label, d), &until);
    }
    tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, s->right, s->bottom + 28, title);
}

/* Where the figure of the run is judged good or bad. */
static void draw_limits(struct tm_chart *chart, struct scatter *s, const struct tm_value *summary)
{
    const struct tm_value *kpi = tm_path(summary, "kpis[occupancy]");
    static const struct {
        const char *key, *label;
    } limits[] = { { "good", "good from" }, { "bad", "bad below" } };
    double above = -INFINITY;

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        const struct tm_value *limit = tm_get(kpi, limits[i].key);
        const double pct = tm_double(limit);
        char text[TM_FORMAT_BYTES + 16], number[TM_FORMAT_BYTES];
        double y;

        if (!tm_has(limit) || !(pct > 0 && pct < 100))
            continue;
        y = fmax(y_of(s, pct) + 3, above + 10);
        above = y;
        tm_chart_dashed(chart, TM_ROLE_QUIET, s->left, y_of(s, pct), s->right, y_of(s, pct));
        (void)snprintf(text, sizeof(text), "%s %s", limits[i].label, tm_format_limit(number, pct, "%"));
        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, s->right + 5, y, text);
    }
}

static void draw_dot(struct tm_chart *chart, struct scatter *s, int i, double most_ps)
{
    const struct tm_value *row = s->row[i];
    const double total_ps = fmax(tm_double(tm_get(row, "total_ps")), 0);
    const struct tm_spot dot = { x_of(s, log10(fmax(tm_double(tm_get(row, "mean_ps")), 1))),
                                 y_of(s, tm_double(tm_get(row, "occupancy_pct"))),
                                 fmax(dot_least, dot_most * sqrt(most_ps > 0 ? fmin(total_ps / most_ps, 1) : 0)) };
    char name[TM_CHART_NAME_BYTES], pct[TM_FORMAT_BYTES], mean[TM_FORMAT_BYTES], total[TM_FORMAT_BYTES];

    tm_chart_cut_name(name, sizeof(name), tm_text(tm_get(row, "name")));
    tm_chart_open(chart, "%s: occupancy %s, %s each, %s in all", name,
                  tm_format_pct(pct, tm_double(tm_get(row, "occupancy_pct"))),
                  tm_format_time(mean, tm_int(tm_get(row, "mean_ps"))),
                  tm_format_time(total, tm_int(tm_get(row, "total_ps"))));
    tm_chart_dot(chart, TM_ROLE_SERIES, dot.x, dot.y, dot.width);
    tm_chart_close(chart);
    s->spots.dot[i] = dot;
    if (i >= TABLE_ROWS)
        return;
    tm_chart_cell(chart, name);
    tm_chart_cell(chart, pct);
    tm_chart_cell(chart, mean);
    tm_chart_cell(chart, total);
}

static void draw_dots(struct tm_chart *chart, struct scatter *s)
{
    double most_ps = 0;

    for (int i = 0; i < s->spots.dots; i++)
        most_ps = fmax(most_ps, tm_double(tm_get(s->row[i], "total_ps")));
    for (int i = 0; i < s->spots.dots; i++)
        draw_dot(chart, s, i, most_ps);
    s->spots.left = s->left;
    s->spots.right = s->right;
    for (int i = 0; i < s->spots.dots && i < NAMED; i++) { /* those that take most time */
        char name[TM_CHART_NAME_BYTES];

        tm_chart_cut_name(name, sizeof(name), tm_text(tm_get(s->row[i], "name")));
        tm_spots_name(chart, &s->spots, i, name);
    }
}

void tm_draw_occupancy(struct tm_chart *chart, const struct tm_value *summary, size_t index)
{
    struct scatter s = { .left = left_room,
                         .right = chart->width - tm_chart_text_width("good from 100 %", TM_TEXT_SMALL) - 8,
                         .top = top_room,
                         .bottom = top_room + plot_height };

    (void)index;
    choose_rows(&s, tm_path(summary, "kernels.rows"));
    tm_chart_column(chart, "kernel", false);
    tm_chart_column(chart, "occupancy", true);
    tm_chart_column(chart, "mean time", true);
    tm_chart_column(chart, "total time", true);
    draw_scales(chart, &s);
    draw_limits(chart, &s, summary);
    draw_dots(chart, &s);
    chart->height = s.bottom + below;
    (void)snprintf(chart->title, sizeof(chart->title), "Occupancy of the kernels");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "%d kernel%s with a recorded occupancy, larger dots for more time in all. Large dots that lie low "
                   "are worth a look. The dashed lines are the limits of the key figure.",
                   s.spots.dots, tm_format_plural(s.spots.dots));
}
