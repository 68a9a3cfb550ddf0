/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LEGEND_H
#define TM_LEGEND_H

#include "reports/chart/chart.h"

struct tm_legend_entry {
    enum tm_role role;
    const char *label;
};

/* Swatches with what they mean, in as many lines as they need, from y on.  out: the height they took */
double tm_legend_draw(struct tm_chart *chart, const struct tm_legend_entry *entries, int count, double y);

#endif
