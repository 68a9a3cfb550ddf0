/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PAIRS_H
#define TM_PAIRS_H

#include "stages/input/record_store.h"

/* Joins what a Chrome trace gives in halves.  A track is put in the order of time (equal times in the order of the
 * file), and everything on it is looked at by the key in record.correlation, 0 on threads:
 * - TM_BEGIN and TM_END become spans: an end without a name closes the innermost open begin of its key, one with a
 *   name the innermost of that name; its correlation, flags, config and arguments are those of the begin.  A begin
 *   without an end becomes a span of length 0 with TM_FLAG_OPEN (UNMATCHED_BEGIN), an end without a begin is left
 *   out (UNMATCHED_END).
 * - TM_FLOW_BEGIN, _STEP and _END stay as they are; those without a partner, and begins under the id of a flow that
 *   has ended, are tallied.
 * Everything else of the track stays as it is.  Sorts and stacks spill.
 * source: Trace Event Format, "Duration Events", "Async Events", "Flow events" */
tm_status tm_pairs_join(struct tm_record_store *store, struct tm_trace *trace, uint64_t track) TM_MUST_USE;

#endif
