/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHANGE_POINTS_H
#define TM_CHANGE_POINTS_H

#include "reports/statistics/tests.h"

/* Where a series of figures jumps: docs/night.md, "Changes of the level". */
enum { TM_CHANGE_POINTS_LEAST = 20 /* values */, TM_CHANGE_POINTS_MOST = 32 };

struct tm_change_point {
    size_t at;            /* the first value of the new level */
    double before, after; /* medians of the stretches around it, up to the next change points */
    double p;
};

struct tm_least_change {
    double share; /* of the level before: 0.02 */
    double amount;
};

/* in:     series   in order, without NaN
 *         least   a smaller change of the level is none
 *         scratch  3 * count + 1 doubles
 * out:    points   in order, at most TM_CHANGE_POINTS_MOST; their number is returned; 0 for fewer than
 *         TM_CHANGE_POINTS_LEAST values.  The same for the same series: what is drawn at random begins with a fixed seed */
size_t tm_change_points(struct tm_sample series, struct tm_least_change least, double *scratch,
                        struct tm_change_point points[TM_CHANGE_POINTS_MOST]);

#endif
