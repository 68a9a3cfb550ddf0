/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PAIRS_H
#define TM_PAIRS_H

#include "pipeline/kept_record.h"
#include "pipeline/store/groups.h"
#include "stages/input/records/record_store.h"

/* Joins what a Chrome trace gives in halves.  A track is put in the order of time (equal times: longer first, then in
 * the order of the file), and everything on it is looked at by its key: 0 for what says a launch's id or a run's
 * (TM_FLAG_CORRELATION, TM_FLAG_RUN_ID), else record.correlation, 0 on threads:
 * - TM_BEGIN and TM_END become spans: an end without a name closes the innermost open begin of its key, one with a
 *   name the innermost of that name; its correlation, flags, config and arguments are those of the begin, whose own
 *   arguments come before those of the end (what is longer than TM_ARGUMENTS_MOST: LONG_ARGUMENTS).  A begin
 *   without an end becomes a span of length 0 with TM_FLAG_OPEN (UNMATCHED_BEGIN), an end without a begin is left
 *   out (UNMATCHED_END).
 * - TM_FLOW_BEGIN, _STEP and _END stay as they are, but for correlation, which is another one for each flow of a
 *   key.  The records of a key, which has to be one of cat, name and id, are flows one after the other, and wrong
 *   ones are tallied, each once.  A begin after an end starts the next flow, under a reused id (REUSED_FLOW_ID); a
 *   begin after a begin starts the next one, and the one before never ended (UNMATCHED_FLOW), as does the last one
 *   of the key without an end.  An end closes no more than it has to: one begin may have several ends.  What comes
 *   before the first begin of a key belongs to its first flow, since the clocks of host and device differ; it has
 *   TM_FLAG_OPEN.  A key without any begin is one flow that never began (UNMATCHED_FLOW).
 *   PyTorch has all of that but reused ids: several `f` to an `s`, `f` before `s`, and many `f` without `s`.
 * Everything else of the track stays as it is.  A track of nothing else that is in order is not touched.  A track
 * that is sorted is tallied (UNSORTED_LINE) unless it has keys, and thus is no line of the file.
 * Sorts and stacks spill; they have the share `sort`.
 * source: Trace Event Format, "Duration Events", "Async Events", "Flow events" */
tm_status tm_pairs_join(struct tm_record_store *store, struct tm_trace *trace, uint64_t track) TM_MUST_USE;

/* The begins of one key that wait for their ends: a stack without a limit that spills, in which the innermost one of
 * a name is found without a walk. */
struct tm_open_begins;

/* A begin that waits. */
struct tm_open_begin {
    struct tm_kept_record kept;
    uint64_t order;     /* its place in the file */
    struct tm_key name; /* what names are compared by */
};

/* errors: NULL, with the error in run->error */
struct tm_open_begins *tm_open_begins_new(struct tm_run *run, enum tm_account account, size_t memory_bytes) TM_MUST_USE;
void tm_open_begins_free(struct tm_open_begins *open); /* tolerates NULL */

tm_status tm_open_begins_push(struct tm_open_begins *open, const struct tm_open_begin *begin) TM_MUST_USE;
/* Take the innermost one, or with a name the innermost one of that name.  *found false: there is none. */
tm_status tm_open_begins_pop(struct tm_open_begins *open, const struct tm_key *name, struct tm_open_begin *begin,
                             bool *found) TM_MUST_USE;

#endif
