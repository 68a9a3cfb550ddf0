/* SPDX-License-Identifier: Apache-2.0 */
/* The order of lines of equal spans: see chrome_order.h. */
#include "stages/output/chrome_json/chrome_order.h"

void tm_chrome_order_clear(struct tm_chrome_order *order)
{
    order->end_ns = -1;
    order->count = 0;
}

/* Whether a span is around another one of its row, which came before it. */
static bool is_around(const struct tm_out_event *span, const struct tm_chrome_line *other)
{
    if (span->whole_begin_ps != other->whole_begin_ps)
        return span->whole_begin_ps < other->whole_begin_ps;
    return span->whole_end_ps > other->whole_end_ps;
}

/* Where the outermost line begins that goes after the span's own; `at` where there is none. */
static uint64_t find_place(const struct tm_chrome_order *order, const struct tm_text_sink *sink,
                           const struct tm_out_event *span, uint64_t at)
{
    const int64_t begin_ns = tm_out_ns(span->begin_ps);
    uint64_t place = at;

    for (size_t i = 0; i < order->count; i++) {
        const struct tm_chrome_line *const line = &order->lines[i];

        if (line->row == span->row->uuid && line->begin_ns == begin_ns && line->at >= sink->passed &&
            line->at < place && is_around(span, line))
            place = line->at;
    }
    return place;
}

static void make_way(struct tm_chrome_order *order, uint64_t place, uint64_t length)
{
    for (size_t i = 0; i < order->count; i++)
        if (order->lines[i].at >= place)
            order->lines[i].at += length;
}

void tm_chrome_order_place(struct tm_chrome_order *order, struct tm_text_sink *sink, const struct tm_out_event *span,
                           uint64_t at)
{
    const int64_t begin_ns = tm_out_ns(span->begin_ps), end_ns = tm_out_ns(span->end_ps);
    uint64_t place = at;

    /* Spans of length 0 do not lie in each other. */
    if (begin_ns == end_ns)
        return;
    if (end_ns != order->end_ns) {
        order->count = 0;
        order->end_ns = end_ns;
        sink->keep_from = at;
    } else {
        place = find_place(order, sink, span, at);
    }
    if (place != at && tm_sink_move(sink, at, place))
        make_way(order, place, tm_sink_position(sink) - at);
    else
        place = at;
    if (order->count == TM_CHROME_ORDER_LINES)
        return;
    order->lines[order->count++] = (struct tm_chrome_line){
        .row = span->row->uuid,
        .begin_ns = begin_ns,
        .whole_begin_ps = span->whole_begin_ps,
        .whole_end_ps = span->whole_end_ps,
        .at = place,
    };
}
