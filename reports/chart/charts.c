/* SPDX-License-Identifier: Apache-2.0 */
/* Which charts a summary gives.  Figures are taken from the summary as
 * they are; the only arithmetic here is that of places on the page.  What is drawn is capped, and
 * the caption says of how many. */
#include "reports/chart/chart.h"

#include <stdio.h>

#include "reports/chart/makers.h"

/* Indexed by enum tm_chart_kind. */
static const struct maker {
    const char *title;   /* NULL = the drawing has its own */
    const char *columns; /* of its table: tm_chart_columns; NULL = likewise */
    tm_chart_count *count;
    tm_chart_draw *draw; /* of the only one; else */
    tm_chart_draw_at *draw_at;
} makers[TM_CHART_KINDS] = {
    [TM_CHART_STEPS] = { NULL, NULL, tm_count_steps, .draw = tm_draw_steps },
    [TM_CHART_STEP_TIMES] = { "Step times", "step, #length", tm_count_step_times, .draw = tm_draw_step_times },
    [TM_CHART_DEVICES] = { "What each device did", NULL, tm_count_devices, .draw = tm_draw_devices },
    [TM_CHART_CAUSES] = { "Why devices were idle", "cause, #gaps, #time, #share of idle", tm_count_causes,
                          .draw = tm_draw_causes },
    [TM_CHART_GAPS] = { "Idle time by length of the gap", "length of gap, #gaps, #time", tm_count_gaps,
                        .draw = tm_draw_gaps },
    [TM_CHART_SCOPES] = { "Where device time comes from", "scope, pass, #time, #share", tm_count_scopes,
                          .draw = tm_draw_scopes },
    [TM_CHART_ROOFLINE] = { "Operations under the roof", "operation, #FLOP per byte, #rate, #of its roof, #self time",
                            tm_count_roofline, .draw = tm_draw_roofline },
    [TM_CHART_MEMORY] = { NULL, NULL, tm_count_memory, .draw_at = tm_draw_memory },
    [TM_CHART_UTILIZATION] = { NULL, "device, #busy, #least busy stretch, #longest time under 50 %",
                               tm_count_utilization, .draw = tm_draw_utilization },
    [TM_CHART_OCCUPANCY] = { "Occupancy of the kernels", "kernel, #occupancy, #mean time, #total time",
                             tm_count_occupancy, .draw = tm_draw_occupancy },
    [TM_CHART_COLLECTIVES] = { "What of the collectives is exposed", NULL, tm_count_collectives,
                               .draw = tm_draw_collectives },
    [TM_CHART_SKEW] = { "Who comes late to collectives",
                        "device, #late in all, #came last, #collectives, #others waited for it", tm_count_skew,
                        .draw = tm_draw_skew },
    [TM_CHART_BALANCE] = { "How long each device computes", "device, #compute, #beside the mean", tm_count_balance,
                           .draw = tm_draw_balance },
    [TM_CHART_TRANSFERS] = { "What of the copies is exposed", NULL, tm_count_transfers, .draw = tm_draw_transfers },
    [TM_CHART_SIDES] = { "Step times of each side", "side, #steps, #median", tm_count_sides, .draw = tm_draw_sides },
    [TM_CHART_WATERFALL] = { NULL, "part, #change, #then", tm_count_waterfalls, .draw_at = tm_draw_waterfall },
    [TM_CHART_SPEEDUP] = { NULL, NULL, tm_count_speedup, .draw = tm_draw_speedup },
    [TM_CHART_EFFICIENCY] = { NULL, NULL, tm_count_efficiency, .draw = tm_draw_efficiency },
    [TM_CHART_SCALED_STEP] = { "Parts of a step by devices", NULL, tm_count_scaled_step, .draw = tm_draw_scaled_step },
    [TM_CHART_NIGHT] = { "Step time against the seven good runs before", NULL, tm_count_night, .draw = tm_draw_night },
    [TM_CHART_TRENDS] = { NULL, NULL, tm_count_trends, .draw_at = tm_draw_trend },
};

size_t tm_charts_count(enum tm_chart_kind kind, const struct tm_value *summary)
{
    return makers[kind].count(summary);
}

void tm_charts_draw(struct tm_chart *chart, enum tm_chart_kind kind, size_t index, const struct tm_value *summary)
{
    const struct maker *const maker = &makers[kind];

    tm_chart_clear(chart);
    if (index >= maker->count(summary))
        return;
    if (maker->title)
        (void)snprintf(chart->title, sizeof(chart->title), "%s", maker->title);
    if (maker->columns)
        tm_chart_columns(chart, maker->columns);
    if (maker->draw)
        maker->draw(chart, summary);
    else
        maker->draw_at(chart, summary, index);
}
