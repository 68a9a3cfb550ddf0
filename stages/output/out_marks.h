/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OUT_MARKS_H
#define TM_OUT_MARKS_H

#include "stages/output/trace_writer.h"

/* Marks of an event as arguments, the same in every format. */
#define TM_OUT_KEY_CUT "tracemill_cut"               /* tm_out_cut_text */
#define TM_OUT_KEY_BEGIN "tracemill_begin_ns"        /* of the whole, as the format counts time */
#define TM_OUT_KEY_DURATION "tracemill_dur_ns"       /* of the whole */
#define TM_OUT_KEY_UNFINISHED "tracemill_unfinished" /* true */

/* Which sides of a piece are cuts.  in: marks  one of TM_OUT_CUT_BEGIN and _END at least */
static inline const char *tm_out_cut_text(unsigned marks)
{
    if ((marks & TM_OUT_CUTS) == TM_OUT_CUTS)
        return "both";
    return marks & TM_OUT_CUT_BEGIN ? "begin" : "end";
}

/* The sides on which a piece is less than the whole. */
static inline uint8_t tm_out_cuts_of(const struct tm_out_event *event)
{
    return (uint8_t)((event->start_ps > event->whole_begin_ps ? TM_OUT_CUT_BEGIN : 0) |
                     (event->end_ps < event->whole_end_ps ? TM_OUT_CUT_END : 0));
}

#endif
