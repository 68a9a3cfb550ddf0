/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MAKERS_H
#define TM_MAKERS_H

#include "pipeline/doc/doc.h"
#include "reports/chart/chart.h"

/* The makers behind tm_charts_draw, one family per file.  Each count tells how many drawings there
 * are; each maker takes a cleared chart and may be called only where its count is above 0. */
typedef size_t tm_chart_count(const struct tm_value *summary);
typedef void tm_chart_draw(struct tm_chart *chart, const struct tm_value *summary);
typedef void tm_chart_draw_at(struct tm_chart *chart, const struct tm_value *summary, size_t index);

extern tm_chart_count tm_count_steps, tm_count_step_times, tm_count_devices, tm_count_causes, tm_count_gaps,
    tm_count_scopes, tm_count_roofline, tm_count_memory, tm_count_utilization, tm_count_occupancy, tm_count_collectives,
    tm_count_skew, tm_count_balance, tm_count_transfers, tm_count_sides, tm_count_waterfalls, tm_count_speedup,
    tm_count_efficiency, tm_count_scaled_step, tm_count_night, tm_count_trends;
extern tm_chart_draw tm_draw_steps, tm_draw_step_times, tm_draw_devices, tm_draw_causes, tm_draw_gaps, tm_draw_scopes,
    tm_draw_roofline, tm_draw_utilization, tm_draw_occupancy, tm_draw_collectives, tm_draw_skew, tm_draw_balance,
    tm_draw_transfers, tm_draw_sides, tm_draw_speedup, tm_draw_efficiency, tm_draw_scaled_step, tm_draw_night;
extern tm_chart_draw_at tm_draw_memory, tm_draw_waterfall, tm_draw_trend;

/* Cut a name of the trace so that it fits beside a bar. */
enum { TM_CHART_NAME_CHARS = 32, TM_CHART_NAME_BYTES = 4 * TM_CHART_NAME_CHARS + 1 };
void tm_chart_cut_name(char *out, size_t out_bytes, const char *name);

/* Cut a text in its middle until it is at most `room` points wide; "" where not even five characters are. */
void tm_chart_fit(char *text, size_t text_bytes, enum tm_text_size size, double room);

/* A label of a scale below or above data, in the middle of x, moved so that it is inside the drawing; left out where
 * that is no longer at its place, or where it would touch the one before.
 * in:     *until  where that one ends, 0 at first */
void tm_chart_label(struct tm_chart *chart, double x, double y, const char *text, double *until);

/* A scale along rows of bars: a line for each tick from top to bottom, its label below. */
void tm_chart_scale_below(struct tm_chart *chart, const struct tm_axis *axis, double top, double bottom);

/* The devices that are drawn: of many those with the least utilization.  in: has  whether one can be drawn
 * out:    found  of TM_CHART_DEVICES_MOST, in the order of the summary; *total  how many can be drawn */
int tm_chart_least_used(const struct tm_value *summary, bool (*has)(const struct tm_value *device),
                        const struct tm_value **found, size_t *total);

/* Add a sentence to the caption; begin it with a space. */
void tm_chart_add_caption(struct tm_chart *chart, const char *format, ...) TM_PRINTF(2, 3);

#endif
