/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of open spans are kept with the earliest on top: a span overlaps some open one if it ends after that. */
#include "stages/input/records/span_order.h"

/* Below all that end earlier; nearly always on top. */
static void put_end(struct tm_span_order *order, int64_t end_ps)
{
    uint32_t at = order->depth;

    if (at == TM_SPAN_ORDER_DEEPEST)
        return;
    for (; at && order->ends[at - 1] < end_ps; at--)
        order->ends[at] = order->ends[at - 1];
    order->ends[at] = end_ps;
    order->depth++;
}

static tm_status compare_before(struct tm_span_order *order, struct tm_trace *trace, const struct tm_record *r)
{
    bool same = false;
    tm_status st = TM_OK;

    if (order->has_before && r->start_ps == order->start_ps && r->dur_ps == order->dur_ps)
        st = tm_names_are_same(trace->names, r->name, order->name, &same);
    if (same)
        tm_tally_add(&trace->run->tallies, TM_TALLY_REPEATED_EVENT, 1);
    order->has_before = true;
    order->start_ps = r->start_ps;
    order->dur_ps = r->dur_ps;
    order->name = r->name;
    return st;
}

tm_status tm_span_order_take(struct tm_span_order *order, struct tm_trace *trace, const struct tm_record *record)
{
    int64_t end_ps;

    if (record->kind != TM_SPAN || record->class == TM_CLASS_ASYNC)
        return TM_OK;
    if (__builtin_add_overflow(record->start_ps, record->dur_ps, &end_ps))
        end_ps = INT64_MAX;
    while (order->depth && order->ends[order->depth - 1] <= record->start_ps)
        order->depth--;
    if (order->depth && end_ps > order->ends[order->depth - 1])
        tm_tally_add(&trace->run->tallies, TM_TALLY_OVERLAPPING_SPAN, 1);
    if (record->dur_ps > 0)
        put_end(order, end_ps);
    return compare_before(order, trace, record);
}
