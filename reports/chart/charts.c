/* SPDX-License-Identifier: Apache-2.0 */
/* Which charts a summary has data for, by family of makers.  Figures are taken from the summary as they are; the only
 * arithmetic of makers is that of places on the page.  What is drawn is capped, and the caption says of how many. */
#include "reports/chart/chart.h"

#include <assert.h>
#include <stdio.h>

#include "reports/chart/makers.h"

static const struct tm_chart_maker *const families[] = {
    tm_time_charts, tm_device_charts, tm_op_charts, tm_study_charts, tm_nightly_charts,
};

static const struct tm_chart_maker *maker_of(enum tm_chart_kind kind)
{
    const struct tm_chart_maker *maker = NULL;

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        for (maker = families[i]; maker->count; maker++)
            if (maker->kind == kind)
                return maker;
    assert(!"each kind has a maker");
    return maker;
}

size_t tm_charts_count(enum tm_chart_kind kind, const struct tm_value *summary)
{
    return maker_of(kind)->count(summary);
}

void tm_charts_draw(struct tm_chart *chart, enum tm_chart_kind kind, size_t index, const struct tm_value *summary)
{
    const struct tm_chart_maker *const maker = maker_of(kind);

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
