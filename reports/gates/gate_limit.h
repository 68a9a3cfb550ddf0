/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_GATE_LIMIT_H
#define TM_GATE_LIMIT_H

#include "pipeline/quantity.h"

/* Limits as people write them: a number and the unit behind it. */
enum tm_limit_unit {
    TM_IN_NUMBER, /* a JSON number: in the unit of the figure, whatever that is */
    TM_IN_BARE,   /* a text without a unit */
    TM_IN_TIME,   /* ps */
    TM_IN_BYTES,
    TM_IN_PERCENT,
    TM_IN_BYTE_RATE, /* bytes/s */
    TM_IN_FLOP_RATE, /* FLOP/s */
    TM_IN_FACTOR,    /* "1.5x": of the baseline */
};

struct tm_gate_limit {
    double number;
    enum tm_limit_unit kind;
};

/* [+-]NUMBER[UNIT], as "150ms", "90%", "1.5GiB", "900 GB/s", "-0.5", "1.5x".
 * out: false, *wrong */
bool tm_gate_limit_read(const char *text, struct tm_gate_limit *limit, struct tm_wrong *wrong);

/* The limit in the unit of a figure, as the summary gives it beside the figure: "ps", "ms", "%",
 * "bytes", "count" ... out: false, *wrong where they do not go together */
bool tm_gate_limit_in_unit(struct tm_gate_limit limit, const char *unit, double *number,
                           struct tm_wrong *wrong);

#endif
