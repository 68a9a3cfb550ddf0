/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NESTING_H
#define TM_NESTING_H

#include "pipeline/run.h"

/* Self time of nested spans, such as calls: their duration without that of their children.  Spans come in stream order
 * (start, longer first); a lane is a thread, or a device's line of ops.  If spans overlap without nesting, each moment
 * is subtracted from one enclosing span, so the self times of a lane add up to the time in which any of its spans runs,
 * except where an inner span continues after an outer one. */
struct tm_nesting;

/* A span that has ended.  Children are reported before their parents; of equal spans the later one is the child. */
struct tm_nested {
    uint64_t lane;
    int64_t start_ps, dur_ps, self_ps; /* self_ps: 0 to dur_ps */
    uint32_t depth;                    /* spans around it */
    bool has_parent;                   /* some span was open when it started */
    const void *payload;               /* its payload; borrowed until the callback returns */
    const void *parent;                /* the payload of the innermost one around it that has some; NULL = none */
};
typedef void tm_nested_told(void *to, const struct tm_nested *span);

/* in:     payload_bytes  attached to each span
 *         most           spans that may be open at once, over all lanes, a power of two from 64 on: the same for every
 *         --memory, because results depend on it when it is exceeded.  Spans that do not fit are reported without
 *         children and tallied (deep-nesting).  Each takes payload_bytes plus 100 bytes; memory grows with the number
 *         of open spans
 *         told, to       called from tm_nesting_take and tm_nesting_end
 * owns:   the caller owns the result, tm_nesting_free releases it (NULL allowed)
 * errors: NULL, with the error in run->error, which also records later failures */
struct tm_nesting *tm_nesting_new(struct tm_run *run, enum tm_account account, size_t payload_bytes, uint32_t most,
                                  tm_nested_told *told, void *to) TM_MUST_USE;
void tm_nesting_free(struct tm_nesting *n);

/* The payload of the innermost span of a lane that has one and is open at a time, which is not before the last one
 * given; NULL = none.  Spans that have ended by then are reported.  Valid until the next call */
const void *tm_nesting_around(struct tm_nesting *n, uint64_t lane, int64_t at_ps);

/* in: dur_ps  not negative; an instant has no children and takes nothing from its parent */
void tm_nesting_take(struct tm_nesting *n, uint64_t lane, int64_t start_ps, int64_t dur_ps, const void *payload);
/* The same for a span whose payload depends on the one around it: its lane is searched once, and its payload is written
 * where it stays.
 * out: *around  as tm_nesting_around returns it
 *      its payload, not zeroed, to be filled in before the next call; NULL = there is no room: tm_nesting_take is to
 *      take it, with a payload made from *around */
void *tm_nesting_open(struct tm_nesting *n, uint64_t lane, int64_t start_ps, int64_t dur_ps,
                      const void **around) TM_MUST_USE;
/* The same for a span without a payload that is not reported: it only takes time from its parents.  Spans nested in it
 * belong to its parents. */
void tm_nesting_take_quiet(struct tm_nesting *n, uint64_t lane, int64_t start_ps, int64_t dur_ps);
/* No more spans, of a host: all that are open are reported.  Spans of the next one may follow. */
void tm_nesting_end(struct tm_nesting *n);

#endif
