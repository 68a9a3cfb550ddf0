/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MAKERS_H
#define TM_MAKERS_H

#include "pipeline/doc/doc.h"
#include "reports/chart/chart.h"

/* The makers behind tm_charts_draw, one family per file.  Each count tells how many drawings there
 * are; each maker takes a cleared chart and may be called only where its count is above 0. */
size_t tm_count_steps(const struct tm_value *summary);
size_t tm_count_step_times(const struct tm_value *summary);
size_t tm_count_devices(const struct tm_value *summary);
size_t tm_count_causes(const struct tm_value *summary);
size_t tm_count_gaps(const struct tm_value *summary);
size_t tm_count_scopes(const struct tm_value *summary);
size_t tm_count_roofline(const struct tm_value *summary);
size_t tm_count_memory(const struct tm_value *summary);
size_t tm_count_utilization(const struct tm_value *summary);
size_t tm_count_occupancy(const struct tm_value *summary);
size_t tm_count_collectives(const struct tm_value *summary);
size_t tm_count_skew(const struct tm_value *summary);
size_t tm_count_balance(const struct tm_value *summary);
size_t tm_count_transfers(const struct tm_value *summary);
size_t tm_count_sides(const struct tm_value *comparison);
size_t tm_count_waterfalls(const struct tm_value *comparison);
size_t tm_count_speedup(const struct tm_value *scaling);
size_t tm_count_efficiency(const struct tm_value *scaling);
size_t tm_count_scaled_step(const struct tm_value *scaling);
size_t tm_count_night(const struct tm_value *night);
size_t tm_count_trends(const struct tm_value *night);

void tm_draw_steps(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_step_times(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_devices(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_causes(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_gaps(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_scopes(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_roofline(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_memory(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_utilization(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_occupancy(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_collectives(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_skew(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_balance(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_transfers(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_sides(struct tm_chart *chart, const struct tm_value *comparison, size_t index);
void tm_draw_waterfall(struct tm_chart *chart, const struct tm_value *comparison, size_t index);
void tm_draw_speedup(struct tm_chart *chart, const struct tm_value *scaling, size_t index);
void tm_draw_efficiency(struct tm_chart *chart, const struct tm_value *scaling, size_t index);
void tm_draw_scaled_step(struct tm_chart *chart, const struct tm_value *scaling, size_t index);
void tm_draw_night(struct tm_chart *chart, const struct tm_value *night, size_t index);
void tm_draw_trend(struct tm_chart *chart, const struct tm_value *night, size_t index);

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
