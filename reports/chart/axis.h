/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_AXIS_H
#define TM_AXIS_H

#include <stdint.h>

#include "reports/chart/chart.h"

/* A scale with round steps, for picoseconds, bytes, numbers without a unit or percent. */
enum tm_axis_kind { TM_AXIS_TIME, TM_AXIS_BYTES, TM_AXIS_NUMBER, TM_AXIS_PCT };

struct tm_axis {
    enum tm_axis_kind kind;
    double from, to; /* the ends of the scale; both are ticks unless the scale is exact */
    double step;
    double at,
        length; /* where `from` lies on the page, and how far away `to` lies (negative: upwards) */
};

/* Choose the ends and the step.
 * in:     low, high  of the data, 0 <= low <= high
 *         ticks      about how many steps
 *         exact      the scale ends at low and high; ticks lie inside */
void tm_axis_choose(struct tm_axis *axis, enum tm_axis_kind kind, double low, double high,
                    int ticks, bool exact);

/* Where a value lies on the page. */
double tm_axis_place(const struct tm_axis *axis, double value);

/* Number of ticks, and the value and label of one: "0", "2 ms", "1.5 GiB". */
int tm_axis_ticks(const struct tm_axis *axis);
double tm_axis_tick(const struct tm_axis *axis, int index);
/* A value with as many decimals as the step of the axis needs. */
char *tm_axis_text(const struct tm_axis *axis, double value, char *out); /* out: TM_FORMAT_BYTES */
char *tm_axis_label(const struct tm_axis *axis, int index, char *out); /* out: TM_FORMAT_BYTES */

#endif
