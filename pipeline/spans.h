/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SPANS_H
#define TM_SPANS_H

#include "pipeline/store/rows.h"
#include "pipeline/store/sorter.h"

/* Stretches of time on lanes (a device, a thread), found again by time: step markers, executions of programs.
 * Put in in any order, then finished, then only read.  Spills. */
struct tm_span {
    uint64_t lane;
    int64_t start_ps, end_ps;
    uint64_t value;   /* the caller's */
    uint64_t ordinal; /* position on its lane, in the order of time; set by finish */
};

struct tm_spans;

struct tm_spans *tm_spans_new(struct tm_run *run, enum tm_account account, size_t memory_bytes) TM_MUST_USE;
void tm_spans_free(struct tm_spans *spans);
tm_status tm_spans_add(struct tm_spans *spans, const struct tm_span *span) TM_MUST_USE;
/* No more spans.  A span that lies inside the one before it on its lane is dropped. */
tm_status tm_spans_finish(struct tm_spans *spans) TM_MUST_USE;

uint64_t tm_spans_count(const struct tm_spans *spans);
/* The i-th in the order (lane, begin); NULL on failure.  Valid until the next call. */
const struct tm_span *tm_spans_at(struct tm_spans *spans, uint64_t index) TM_MUST_USE;
/* The most spans that one lane has. */
uint64_t tm_spans_longest_lane(const struct tm_spans *spans);
/* The span of a lane in which `at_ps` lies: the last that begins at or before it, if it has not ended.
 * out: *span NULL where there is none; valid until the next call */
tm_status tm_spans_find(struct tm_spans *spans, uint64_t lane, int64_t at_ps, const struct tm_span **span) TM_MUST_USE;

#endif
