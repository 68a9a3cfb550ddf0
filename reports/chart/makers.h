/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MAKERS_H
#define TM_MAKERS_H

#include "pipeline/doc.h"
#include "reports/chart/charts.h"
#include "reports/chart/plot.h"

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

void tm_draw_steps(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_step_times(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_devices(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_causes(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_gaps(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_scopes(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_roofline(struct tm_chart *chart, const struct tm_value *summary, size_t index);
void tm_draw_memory(struct tm_chart *chart, const struct tm_value *summary, size_t index);

/* Cut a name of the trace so that it fits beside a bar. */
enum { TM_CHART_NAME_CHARS = 32, TM_CHART_NAME_BYTES = 4 * TM_CHART_NAME_CHARS + 1 };
void tm_chart_cut_name(char *out, size_t out_bytes, const char *name);

/* Add a sentence to the caption; begin it with a space. */
void tm_chart_add_caption(struct tm_chart *chart, const char *format, ...) TM_PRINTF(2, 3);

#endif
