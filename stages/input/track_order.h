/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TRACK_ORDER_H
#define TM_TRACK_ORDER_H

#include "stages/input/record_store.h"

/* Puts a track of a store in order (start, longer first, order of the file), and joins what a Chrome trace gives in
 * halves.  Halves are told apart by the key in record.correlation, 0 on threads:
 * - TM_BEGIN and TM_END become spans: an end without a name closes the innermost open begin of its key, one with a
 *   name the innermost of that name (looked for among the 1,024 innermost); what it is and says is the begin's.
 *   A begin without an end is kept with length 0 and TM_FLAG_OPEN (UNMATCHED_BEGIN), an end without a begin is left
 *   out (UNMATCHED_END).
 * - Flows stay as they are.  A key without a begin or without an end is an UNMATCHED_FLOW, a begin after an end of
 *   its key a REUSED_FLOW_ID; several ends of one begin are usual.
 * Sorts and stacks spill.
 * source: Trace Event Format, "Duration Events", "Async Events", "Flow events" */

/* in: has_halves  the track may hold halves; else it is only put in order, if it is not */
tm_status tm_track_put_in_order(struct tm_record_store *store, struct tm_trace *trace, uint64_t track,
                                bool has_halves) TM_MUST_USE;

#endif
