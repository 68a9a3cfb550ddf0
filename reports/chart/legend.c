/* SPDX-License-Identifier: Apache-2.0 */
/* Legends.  See legend.h. */
#include "reports/chart/legend.h"

static const double line_pitch = 15, swatch = 8, space = 14;

double tm_legend_draw(struct tm_chart *chart, const struct tm_legend_entry *entries, int count, double y)
{
    const double top = y;
    double x = 0;

    for (int i = 0; i < count; i++) {
        const double width = swatch + 4 + tm_chart_text_width(entries[i].label, TM_TEXT_SMALL);

        if (x > 0 && x + width > chart->width) {
            x = 0;
            y += line_pitch;
        }
        tm_chart_rect(chart, entries[i].role, x, y + 1, swatch, swatch);
        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, x + swatch + 4, y + swatch,
                        entries[i].label);
        x += width + space;
    }
    return y - top + line_pitch + 6;
}
