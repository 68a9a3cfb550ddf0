/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of charts with a scale on the left: its lines, its labels, its levels. */
#include "reports/chart/plot.h"

#include <math.h>

#include "reports/format/format.h"

static const double plot_height = 150;

void tm_plot_begin(struct tm_chart *chart, struct tm_plot *plot, const struct tm_plot_frame *frame)
{
    char label[TM_FORMAT_BYTES];
    double room = frame->below ? tm_chart_text_width(frame->below, TM_TEXT_SMALL) : 0;

    tm_axis_choose(&plot->y, frame->kind, frame->low, frame->high, 4, false);
    plot->top = 14; /* a label above what is higher than the scale */
    plot->bottom = plot->top + plot_height;
    plot->y.at = plot->bottom;
    plot->y.length = -plot_height;
    for (int i = 0; i < tm_axis_ticks(&plot->y); i++)
        room = fmax(room, tm_chart_text_width(tm_axis_label(&plot->y, i, label), TM_TEXT_SMALL));
    plot->left = room + 6;
    plot->right = chart->width - frame->right_room;
    for (int i = 0; i < tm_axis_ticks(&plot->y); i++) {
        const double y = tm_axis_place(&plot->y, tm_axis_tick(&plot->y, i));

        tm_chart_line(chart, TM_ROLE_GRID, plot->left, y, plot->right, y);
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, plot->left - 5, y + 3,
                        tm_axis_label(&plot->y, i, label));
    }
    if (frame->below)
        tm_chart_string(chart, TM_ROLE_QUIET, TM_TEXT_SMALL, TM_ANCHOR_END, plot->left - 5,
                        plot->bottom + TM_PLOT_LABELS_BELOW, frame->below);
    chart->height = plot->bottom + TM_PLOT_ROOM_BELOW;
}

void tm_plot_level(struct tm_chart *chart, const struct tm_plot *plot, const char *name,
                   double value, double *lowest_label)
{
    const double y = fmax(tm_axis_place(&plot->y, value), plot->top);
    const double room = *lowest_label > 0 ? 0 : 10; /* for a second one above the labels of the scale */
    double label_y = fmin(y + 3, plot->bottom + 3 - room);

    if (label_y < *lowest_label + 10)
        label_y = *lowest_label + 10;
    *lowest_label = label_y;
    if (value <= plot->y.to)
        tm_chart_dashed(chart, TM_ROLE_QUIET, plot->left, y, plot->right, y);
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, plot->right + 5, label_y,
                    name);
}
