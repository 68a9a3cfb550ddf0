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

struct tm_lanes_options {
    enum tm_account account; /* which pays */
    size_t memory_bytes;     /* for all that is open, with what is held of it */
    bool holds;              /* arguments are kept until the end: where spans may be cut */
    bool outer_first;        /* of spans that begin and end together the outer one ends first, else the inner one:
                                readers of formats that write a span as one take the first of them for the outer one */
};

/* errors: NULL, with the error in run->error */
struct tm_lanes *tm_lanes_new(struct tm_run *run, const struct tm_lanes_options *options) TM_MUST_USE;
void tm_lanes_free(struct tm_lanes *lanes); /* tolerates NULL */

struct tm_lane_span {
    uint64_t track;            /* any number: spans of one number share lanes */
    uint64_t key;              /* of asynchronous spans; spans nest only in those of the same key */
    uint32_t lane;             /* out */
    struct tm_out_event event; /* row, of and trace are not kept: they are NULL when it is given back */
};

/* Which lane a span of event.start_ps and end_ps takes.  Everything that ended before it has been taken out.
 * out:    span->lane; false: TM_LANES_MOST are full (the caller tallies it) */
bool tm_lanes_choose(const struct tm_lanes *lanes, struct tm_lane_span *span);
/* Open it there.
 * errors: TM_ERR_LIMIT  more is open at once than memory_bytes can hold, with what to give */
tm_status tm_lanes_open(struct tm_lanes *lanes, const struct tm_lane_span *span) TM_MUST_USE;
/* The open span that ends first, if it ends at until_ps or before; inner ones before outer ones, but for outer_first.
 * out:    valid until the next call that changes something; NULL = none */
const struct tm_lane_span *tm_lanes_next_end(struct tm_lanes *lanes, int64_t until_ps);
/* The span of length 0 that is open on a track ends: the next one begins there.
 * out:    as above; NULL = there is none */
const struct tm_lane_span *tm_lanes_end_empty(struct tm_lanes *lanes, uint64_t track);
/* The lane of the span of a track that was opened last; UINT32_MAX = none is open. */
uint32_t tm_lanes_innermost(const struct tm_lanes *lanes, uint64_t track);

/* All open spans, outer ones before inner ones, in the order in which they were opened, or the other way round: to cut
 * them.  start_ps, marks and flow may be changed in place; then tm_lanes_changed has to follow.
 * in: *at  0 at first.  out: NULL at the end */
struct tm_lane_span *tm_lanes_each(struct tm_lanes *lanes, size_t *at);
struct tm_lane_span *tm_lanes_each_back(struct tm_lanes *lanes, size_t *at);
void tm_lanes_changed(struct tm_lanes *lanes);
size_t tm_lanes_count(const struct tm_lanes *lanes); /* open spans */

#endif
