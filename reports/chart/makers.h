/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MAKERS_H
#define TM_MAKERS_H

#include "pipeline/doc/doc.h"
#include "reports/chart/chart.h"

/* A maker behind tm_charts_draw.  It takes a cleared chart, and is called only where its count is above 0. */
struct tm_chart_maker {
    enum tm_chart_kind kind;
    const char *title;   /* NULL = the drawing sets its own */
    const char *columns; /* of its table: tm_chart_columns; NULL = likewise */
    size_t (*count)(const struct tm_value *summary);
    void (*draw)(struct tm_chart *chart, const struct tm_value *summary); /* of the only one; else */
    void (*draw_at)(struct tm_chart *chart, const struct tm_value *summary, size_t index);
};

/* One family per file; the last row has no count. */
extern const struct tm_chart_maker tm_time_charts[], tm_device_charts[], tm_op_charts[], tm_study_charts[],
    tm_nightly_charts[];

/* Cut a name of the trace so that it fits beside a bar. */
enum { TM_CHART_NAME_CHARS = 32, TM_CHART_NAME_BYTES = 4 * TM_CHART_NAME_CHARS + 1 };
void tm_chart_cut_name(char *out, size_t out_bytes, const char *name);

/* Cut a text in its middle until it is at most `room` points wide; "" if fewer than five characters fit. */
void tm_chart_fit(char *text, size_t text_bytes, enum tm_text_size size, double room);

/* A label of a scale below or above data, in the middle of x, moved so that it is inside the drawing; omitted if it
 * would have to move too far or would touch the previous one.
 * in:     *until  where that one ends, 0 at first */
void tm_chart_label(struct tm_chart *chart, double x, double y, const char *text, double *until);

/* Labels at even distances: the least of 1, 2, 5, 10, 20, ... marks per label with which none touches the next.
 * in:  widest  label, in points
 *      pitch   distance between two marks, in points, > 0 */
int tm_chart_label_every(double widest, double pitch);

/* Distance between two bars in a column, and the free space above each. */
static const double tm_row_bar = 14;

static inline double tm_row_pitch(const struct tm_chart *chart)
{
    return chart->is_short ? 18 : 22;
}

static inline double tm_row_inset(const struct tm_chart *chart)
{
    return (tm_row_pitch(chart) - tm_row_bar) / 2;
}

/* A scale along rows of bars: a line for each tick from top to bottom, its label below. */
void tm_chart_scale_below(struct tm_chart *chart, const struct tm_axis *axis, double top, double bottom);

/* The devices that are drawn: of many, those with the lowest utilization.  in: has  whether one can be drawn
 * out:    found  of TM_CHART_DEVICES_MOST, in the order of the summary; *total  how many can be drawn */
int tm_chart_least_used(const struct tm_value *summary, bool (*has)(const struct tm_value *device),
                        const struct tm_value **found, size_t *total);

/* Add a sentence to the caption; start it with a space. */
void tm_chart_add_caption(struct tm_chart *chart, const char *format, ...) TM_PRINTF(2, 3);

#endif
