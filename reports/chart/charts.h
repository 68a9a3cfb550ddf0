/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHARTS_H
#define TM_CHARTS_H

#include "pipeline/doc/doc.h"
#include "reports/chart/chart.h"

/* The charts of a report, drawn from the summary alone.  A chart without data is not drawn: its
 * count is 0. The usual way: for (size_t i = 0; i < tm_charts_count(TM_CHART_DEVICES, summary);
 * i++) { tm_charts_draw(&chart, TM_CHART_DEVICES, i, summary);
 *         ... hand &chart to the back end ...
 *     } */
enum tm_chart_kind {
    TM_CHART_STEPS,       /* parts of each step, stacked */
    TM_CHART_STEP_TIMES,  /* length of each step with median and p95 */
    TM_CHART_DEVICES,     /* parts of the time of each device */
    TM_CHART_CAUSES,      /* idle time by cause */
    TM_CHART_GAPS,        /* histogram of gaps */
    TM_CHART_SCOPES,      /* device time by scope, what is in it below it */
    TM_CHART_ROOFLINE,    /* what operations compute per second and per byte, under the peaks */
    TM_CHART_MEMORY,      /* bytes in use over time: one chart per allocator */
    TM_CHART_UTILIZATION, /* how busy each device is over time */
    TM_CHART_OCCUPANCY,   /* occupancy of kernels, by their length and time */
    TM_CHART_COLLECTIVES, /* exposed and hidden time by kind */
    TM_CHART_SKEW,        /* how late each device comes to collectives */
    TM_CHART_BALANCE,     /* what each device computes, beside their mean */
    TM_CHART_TRANSFERS,   /* exposed and hidden time of copies by direction */
    TM_CHART_SIDES,       /* of a comparison: the step times of each side */
    TM_CHART_WATERFALL,   /* of a comparison: how a step goes from old to new, one for each new side */
    TM_CHART_SPEEDUP,     /* of a scaling study: the speed-up by devices, beside the ideal and the fit */
    TM_CHART_EFFICIENCY,  /* of a scaling study: likewise */
    TM_CHART_SCALED_STEP, /* of a scaling study: parts of a step of one device, by devices */
    TM_CHART_NIGHT,       /* of a night: how the step time of each job changed */
    TM_CHART_TRENDS,      /* of a night: a figure of a job over its runs, one chart each */
    TM_CHART_KINDS
};

enum {
    TM_CHART_BARS_MOST = 60,       /* steps drawn; more are sampled and the caption says so */
    TM_CHART_DEVICES_MOST = 32,    /* devices drawn; the ones with the least use first chosen */
    TM_CHART_ALLOCATORS_MOST = 16, /* memory charts */
};

/* How many drawings of a kind the summary gives. */
size_t tm_charts_count(enum tm_chart_kind kind, const struct tm_value *summary);

/* Draw one of them.  The chart is cleared first.
 * in:     index  below tm_charts_count
 * errors: remembered in the chart: tm_chart_status */
void tm_charts_draw(struct tm_chart *chart, enum tm_chart_kind kind, size_t index, const struct tm_value *summary);

#endif
