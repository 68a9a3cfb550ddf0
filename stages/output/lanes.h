/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LANES_H
#define TM_LANES_H

#include "stages/output/trace_writer.h"

/* The spans that are open, in the order of time: where each of them goes so that the spans of a row nest, and when each
 * ends.  A span goes to the first lane of its track on which it lies inside the innermost open span (or none is open)
 * and fewer than TM_LANE_DEPTH are; of an asynchronous track only inside spans of the same key.  Viewers drop or bend
 * what does not nest: PERFETTO.md 2. */
enum { TM_LANE_DEPTH = 512, TM_LANES_MOST = 4096 /* of one track */ };

struct tm_lanes;

/* in:     memory_bytes  for all that is open, with what is held of it
 *         holds         keep arguments until the end: where spans may be cut, or are written when they end
 * errors: NULL, with the error in run->error */
struct tm_lanes *tm_lanes_new(struct tm_run *run, size_t memory_bytes, bool holds) TM_MUST_USE;
void tm_lanes_free(struct tm_lanes *lanes); /* tolerates NULL */

struct tm_lane_span {
    uint64_t track;      /* any number: spans of one number share lanes */
    uint64_t key;        /* of asynchronous spans; 0 = may nest in any other one with key 0 */
    uint32_t lane;       /* out */
    struct tm_out_event event; /* row: set by the caller once the lane is known; must outlive the span */
};

/* Which lane a span of event.begin_ps and end_ps takes.  Everything that ended before it has been taken out.
 * out:    span->lane; *found false: TM_LANES_MOST are full (the caller tallies it) */
tm_status tm_lanes_choose(struct tm_lanes *lanes, struct tm_lane_span *span, bool *found) TM_MUST_USE;
/* Open it there.
 * errors: TM_ERR_LIMIT  more is open at once than memory_bytes can hold, with what to give */
tm_status tm_lanes_open(struct tm_lanes *lanes, const struct tm_lane_span *span) TM_MUST_USE;
/* The open span that ends first, if it ends at until_ps or before; inner ones before outer ones.
 * out:    *span  valid until the next call; NULL = none */
tm_status tm_lanes_next_end(struct tm_lanes *lanes, int64_t until_ps, const struct tm_lane_span **span) TM_MUST_USE;
/* Whether a span is open on a lane of a track: an arrow can end there.
 * in: key  of asynchronous tracks
 * out: the lane of the span that was opened last; UINT32_MAX = none */
uint32_t tm_lanes_innermost(const struct tm_lanes *lanes, uint64_t track);

/* All open spans, outer ones before inner ones, in the order in which they were opened: to cut them.
 * in: *at  0 at first.  out: NULL at the end.  May be changed in place (marks, begin_ps) */
struct tm_lane_span *tm_lanes_each(struct tm_lanes *lanes, size_t *at);
size_t tm_lanes_count(const struct tm_lanes *lanes); /* open spans */

#endif
