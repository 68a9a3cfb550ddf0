/* SPDX-License-Identifier: Apache-2.0 */
/* Which charts a summary gives.  Figures are taken from the summary as
 * they are; the only arithmetic here is that of places on the page.  What is drawn is capped, and
 * the caption says of how many. */
#include "reports/chart/chart.h"

#include "reports/chart/makers.h"

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
