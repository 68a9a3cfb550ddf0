/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SPAN_ORDER_H
#define TM_SPAN_ORDER_H

#include "pipeline/source.h"

/* What the spans of one track are to each other, in the order of time: OVERLAPPING_SPAN and REPEATED_EVENT.  Threads
 * and streams alike; a viewer that stacks the spans of a track has trouble with both.  Not for asynchronous spans
 * (TM_CLASS_ASYNC), of which a track holds many that have nothing to do with each other. */
enum { TM_SPAN_ORDER_DEEPEST = 512 }; /* open at once; those further inside are not compared with the ones around */

/* Zeroed = before the first record. */
struct tm_span_order {
    int64_t ends[TM_SPAN_ORDER_DEEPEST]; /* of the spans that are open, the earliest last */
    uint32_t depth;
    bool has_before;
    int64_t start_ps, dur_ps; /* of the span before */
    tm_strid name;
};

/* The next record of the track in the order (start, longer first); what is no span is passed by.
 * errors: of the names, where one text may have several handles */
tm_status tm_span_order_take(struct tm_span_order *order, struct tm_trace *trace,
                             const struct tm_record *record) TM_MUST_USE;

#endif
