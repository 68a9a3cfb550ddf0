/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FLOW_TALLY_H
#define TM_FLOW_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/record.h"
#include "pipeline/run.h"

/* The flows of one key, which come one after the other in time order: tm_pairs_join says what is a whole one.
 * Zeroed = none yet. */
struct tm_key_flow {
    bool is_any; /* the key has flows */
    bool has_begun;
    bool has_ended;
    bool is_chained; /* it needs no end */
    uint64_t number; /* flows of the key before it */
};

/* Take the next end of a flow; a start after another flow of the key tallies that one.
 * in:     is_chained  Perfetto's: any of them starts a flow, and none has to end it
 * out:    the kind that it is */
enum tm_kind tm_key_flow_follow(struct tm_key_flow *flow, struct tm_run *run, enum tm_kind kind, bool is_chained);
/* The key has no more: tally its last flow. */
void tm_key_flow_end(const struct tm_key_flow *flow, struct tm_run *run);

/* Tallies flows whose records are unused (UNMATCHED_FLOW, REUSED_FLOW_ID), with the result that a sort by key and time
 * would give.  PyTorch writes two ends of flows for each kernel, mostly with a key of their own: keys with one or two
 * ends are in a table; what does not fit in it, and keys with more, are sorted, and spill. */
struct tm_flow_tally;

/* in:     memory_bytes  for the table and the sort
 * errors: NULL, with the error in run->error */
struct tm_flow_tally *tm_flow_tally_new(struct tm_run *run, enum tm_account account, size_t memory_bytes) TM_MUST_USE;
void tm_flow_tally_free(struct tm_flow_tally *tally); /* tolerates NULL */

/* Failures are recorded in run->error, and later calls do nothing. */
void tm_flow_tally_add(struct tm_flow_tally *tally, uint64_t key, int64_t start_ps, enum tm_kind kind, bool is_chained);
/* No more: add to the tallies of the run. */
void tm_flow_tally_finish(struct tm_flow_tally *tally);
/* Ends that were added. */
uint64_t tm_flow_tally_count(const struct tm_flow_tally *tally);

#endif
