/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SPOTS_H
#define TM_SPOTS_H

#include "reports/chart/chart.h"

/* Dots of a plot, and the names that were put beside some of them where there was room. */
enum { TM_SPOTS_MOST = 200, TM_SPOT_NAMES_MOST = 16 };

/* A dot, with its radius as width, or a text from x on with its baseline at y. */
struct tm_spot {
    double x, y, width;
};

struct tm_spots {
    struct tm_spot dot[TM_SPOTS_MOST], label[TM_SPOT_NAMES_MOST];
    int dots, labels;
    double left, right; /* of the plot: names are inside */
};

/* Room that is taken already, by a text of the plot itself. */
void tm_spots_block(struct tm_spots *spots, struct tm_spot text);

/* Write a name beside a dot, where it covers nothing; left out where there is no such place. */
void tm_spots_name(struct tm_chart *chart, struct tm_spots *spots, int dot, const char *name);

#endif
