/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PLOT_H
#define TM_PLOT_H

#include "reports/chart/axis.h"

/* A place for data with a scale on its left. */
struct tm_plot {
    struct tm_axis y;
    double left, right, top, bottom;
};

struct tm_plot_frame {
    enum tm_axis_kind kind;
    double low, high;  /* of the data */
    double right_room; /* for labels of levels */
    const char *below; /* what the labels below the plot are, or NULL */
};

/* Draw the scale and its lines, and set the height of the chart; what is left is the place for the
 * data. */
void tm_plot_begin(struct tm_chart *chart, struct tm_plot *plot, const struct tm_plot_frame *frame);

/* Draw a dashed line at a value and name it in the room at the right; of one above the scale only the name, at the top.
 * Each label moves down where it would cover the one above.
 * in:     lowest_label  0 before the first one, which is the highest; two at most */
void tm_plot_level(struct tm_chart *chart, const struct tm_plot *plot, const char *name,
                   double value, double *lowest_label);

/* Where the labels below a plot stand. */
enum { TM_PLOT_LABELS_BELOW = 15, TM_PLOT_ROOM_BELOW = 22 };

#endif
