/* SPDX-License-Identifier: Apache-2.0 */
/* Which charts a summary gives, and what their makers share.  Figures are taken from the summary as
 * they are; the only arithmetic here is that of places on the page.  What is drawn is capped, and
 * the caption says of how many. */
#include "reports/chart/chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/makers.h"
#include "reports/format/format.h"

void tm_chart_cut_name(char *out, size_t out_bytes, const char *name)
{
    char seen[512];

    (void)tm_format_visible(seen, sizeof(seen), name, strlen(name));
    (void)tm_format_middle(out, out_bytes, seen, TM_CHART_NAME_CHARS);
}

void tm_chart_fit(char *text, size_t text_bytes, enum tm_text_size size, double room)
{
    enum { CHARS_LEAST = 5 };
    static const double inexact = 0.01; /* of sums: a text fits its own width */
    char whole[512];

    (void)snprintf(whole, sizeof(whole), "%s", text);
    for (size_t chars = tm_format_length(whole); tm_chart_text_width(text, size) > room + inexact; chars--) {
        if (chars <= CHARS_LEAST) {
            text[0] = 0;
            return;
        }
        if (text_bytes > 4 * chars)
            (void)tm_format_middle(text, text_bytes, whole, chars - 1);
    }
}

void tm_chart_label(struct tm_chart *chart, double x, double y, const char *text, double *until)
{
    static const double space = 8;
    const double half = tm_chart_text_width(text, TM_TEXT_SMALL) / 2;
    const double middle = fmax(fmin(x, chart->width - half), half);

    if ((*until > 0 && middle - half < *until + space) || fabs(middle - x) > half)
        return;
    tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_MIDDLE, middle, y, text);
    *until = middle + half;
}

void tm_chart_scale_below(struct tm_chart *chart, const struct tm_axis *axis, double top, double bottom)
{
    char label[TM_FORMAT_BYTES];
    double until = 0;

    for (int i = 0; i < tm_axis_ticks(axis); i++) {
        const double x = tm_axis_place(axis, tm_axis_tick(axis, i));

        tm_chart_line(chart, TM_ROLE_GRID, x, top, x, bottom);
        tm_chart_label(chart, x, bottom + 11, tm_axis_label(axis, i, label), &until);
    }
}

void tm_chart_add_caption(struct tm_chart *chart, const char *format, ...)
{
    const size_t used = strlen(chart->caption);
    va_list list;

    va_start(list, format);
    (void)vsnprintf(chart->caption + used, sizeof(chart->caption) - used, format, list);
    va_end(list);
}

/* Indexed by enum tm_chart_kind. */
static const struct maker {
    size_t (*count)(const struct tm_value *summary);
    void (*draw)(struct tm_chart *chart, const struct tm_value *summary, size_t index);
} makers[TM_CHART_KINDS] = {
    [TM_CHART_STEPS] = { tm_count_steps, tm_draw_steps },
    [TM_CHART_STEP_TIMES] = { tm_count_step_times, tm_draw_step_times },
    [TM_CHART_DEVICES] = { tm_count_devices, tm_draw_devices },
    [TM_CHART_CAUSES] = { tm_count_causes, tm_draw_causes },
    [TM_CHART_GAPS] = { tm_count_gaps, tm_draw_gaps },
    [TM_CHART_SCOPES] = { tm_count_scopes, tm_draw_scopes },
    [TM_CHART_ROOFLINE] = { tm_count_roofline, tm_draw_roofline },
    [TM_CHART_MEMORY] = { tm_count_memory, tm_draw_memory },
    [TM_CHART_UTILIZATION] = { tm_count_utilization, tm_draw_utilization },
    [TM_CHART_OCCUPANCY] = { tm_count_occupancy, tm_draw_occupancy },
    [TM_CHART_COLLECTIVES] = { tm_count_collectives, tm_draw_collectives },
    [TM_CHART_SKEW] = { tm_count_skew, tm_draw_skew },
    [TM_CHART_BALANCE] = { tm_count_balance, tm_draw_balance },
    [TM_CHART_TRANSFERS] = { tm_count_transfers, tm_draw_transfers },
    [TM_CHART_SIDES] = { tm_count_sides, tm_draw_sides },
    [TM_CHART_WATERFALL] = { tm_count_waterfalls, tm_draw_waterfall },
    [TM_CHART_SPEEDUP] = { tm_count_speedup, tm_draw_speedup },
    [TM_CHART_EFFICIENCY] = { tm_count_efficiency, tm_draw_efficiency },
    [TM_CHART_SCALED_STEP] = { tm_count_scaled_step, tm_draw_scaled_step },
    [TM_CHART_NIGHT] = { tm_count_night, tm_draw_night },
    [TM_CHART_TRENDS] = { tm_count_trends, tm_draw_trend },
};

size_t tm_charts_count(enum tm_chart_kind kind, const struct tm_value *summary)
{
    return makers[kind].count(summary);
}

void tm_charts_draw(struct tm_chart *chart, enum tm_chart_kind kind, size_t index, const struct tm_value *summary)
{
    tm_chart_clear(chart);
    if (index < makers[kind].count(summary))
        makers[kind].draw(chart, summary, index);
}
