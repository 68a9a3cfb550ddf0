/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_FLOWS_H
#define TM_CHROME_FLOWS_H

#include <stdint.h>

/* Which span began an arrow, by the arrow's number: a table of a fixed size, in which the number that was not used for
 * the longest time gives way.  An arrow whose begin was forgotten begins anew: between a launch and its work lie at
 * least TM_CHROME_FLOW_WAYS other launches, and about TM_CHROME_FLOW_SETS times as many. */
enum { TM_CHROME_FLOW_SETS = 8192, TM_CHROME_FLOW_WAYS = 4 };

struct tm_chrome_flow {
    uint64_t flow;   /* 0 = empty */
    uint64_t first;  /* the span that begins it: tm_chrome_flow_span */
    uint64_t id;     /* in the file */
};

struct tm_chrome_flows {
    uint64_t ids;    /* given out in this file */
    struct tm_chrome_flow sets[TM_CHROME_FLOW_SETS][TM_CHROME_FLOW_WAYS]; /* last used first */
};

/* What tells a span from the others of an arrow. */
uint64_t tm_chrome_flow_span(uint64_t row, int64_t begin_ps);
void tm_chrome_flows_clear(struct tm_chrome_flows *flows);
/* A span of an arrow begins. */
void tm_chrome_flows_begin(struct tm_chrome_flows *flows, uint64_t flow, uint64_t span);
/* out: NULL: forgotten */
const struct tm_chrome_flow *tm_chrome_flows_find(const struct tm_chrome_flows *flows, uint64_t flow);

#endif
