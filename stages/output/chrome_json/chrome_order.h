/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_ORDER_H
#define TM_CHROME_ORDER_H

#include "stages/output/text/text_sink.h"
#include "stages/output/trace_writer.h"

/* Of spans of a row that are equal in the file, readers take the first one for the outer one.  Those that are equal to
 * the picosecond come so; of those that are equal only to the nanosecond an inner one may come first, because it ends
 * first.  So the lines of the spans that end in the present nanosecond are known, and stay in the sink: an outer one
 * goes before them.  Of more than TM_CHROME_ORDER_LINES that end together the rest stand as they came. */
enum { TM_CHROME_ORDER_LINES = 1024 };

struct tm_chrome_line {
    uint64_t row;
    int64_t begin_ns;
    int64_t whole_begin_ps, whole_end_ps;
    uint64_t at; /* position in the file */
};

struct tm_chrome_order {
    int64_t end_ns;
    size_t count;
    struct tm_chrome_line lines[TM_CHROME_ORDER_LINES];
};

void tm_chrome_order_clear(struct tm_chrome_order *order);
/* The line of a span was written at `at`: put it where it belongs. */
void tm_chrome_order_place(struct tm_chrome_order *order, struct tm_text_sink *sink, const struct tm_out_event *span,
                           uint64_t at);

#endif
