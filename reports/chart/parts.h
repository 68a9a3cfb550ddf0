/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PARTS_H
#define TM_PARTS_H

#include "pipeline/doc.h"
#include "reports/chart/chart.h"

/* The parts of a stretch of device time, as a step or a device of the summary has them: what was
 * done, what was exposed, and why it was idle. */
enum { TM_PARTS_MOST = TM_ROLE_SERIES + 1 }; /* one per role that a bar may have */

struct tm_parts {
    int64_t ps[TM_PARTS_MOST]; /* by role */
    int64_t total_ps;
    bool present; /* the summary has them */
};

void tm_parts_of_step(struct tm_parts *parts, const struct tm_value *step);
void tm_parts_of_device(struct tm_parts *parts, const struct tm_value *device);

/* One stacked bar as it is to be drawn. */
struct tm_bar {
    char name[96];  /* beside the bar: "step 7", "vm/gpu:0" */
    char label[32]; /* below it, where it is a column: "7" */
    char note[96];  /* at its other end: "12.3 ms" */
    struct tm_parts parts;
};

/* Bars as rows, with a scale in time below and names on the left; good for few.  The bars go over the same scale,
 * but for those that are many times as long as the others: these are cut, with a mark.  out: true where one is */
bool tm_parts_rows(struct tm_chart *chart, const struct tm_bar *bars, int count);

/* Bars of one figure each, without a legend; a pointer shows name and note.  A dashed line with its name stands at
 * level; level_name NULL = none. */
void tm_plain_rows(struct tm_chart *chart, const struct tm_bar *bars, int count, double level, const char *level_name);

/* Bars as columns, with a scale in time on the left; axis names the columns: "step".  Cut as rows are. */
bool tm_parts_columns(struct tm_chart *chart, const char *axis_name, const struct tm_bar *bars, int count);
/* What the caption says where bars are cut. */
#define TM_CHART_CUT_BARS \
    " A bar with a break is longer than the scale: its length is written at it, and its parts keep their shares."

/* The figures of the bars as the chart's table; first names the column of bar names. */
void tm_parts_table(struct tm_chart *chart, const char *first, const struct tm_bar *bars,
                    int count);

#endif
