/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RECORD_STORE_H
#define TM_RECORD_STORE_H

#include <stddef.h>
#include <string.h>

#include "pipeline/source.h"
#include "pipeline/store/groups.h"
#include "stages/input/records/device_clock.h"

/* Records by track, for formats that are read in one pass with the events of all tracks mixed: they are added as they
 * come, and read again track by track, in insertion order.  A chain of blocks per track, in pages that spill; most of
 * the share `input`, at least half of it.  Failures are recorded in run->error, and later calls do nothing: check
 * tm_failed once, at the end. */
struct tm_record_store;
union tm_packed;

/* in:     trace       its run and tracks; must outlive the store, as have signatures
 *         signatures  that the records' numbers are of; NULL = the store has its own
 * errors: NULL, with the error in run->error */
struct tm_record_store *tm_record_store_new(struct tm_trace *trace, struct tm_signatures *signatures) TM_MUST_USE;
void tm_record_store_free(struct tm_record_store *store); /* tolerates NULL */

/* Put a record at the end of its track (raw->record.track, a row of trace->tracks or one that will be). */
void tm_record_store_add(struct tm_record_store *store, const struct tm_raw_record *raw);

/* The same of a record that is known by its signature except for these.  false: it does not fit in a row of these
 * alone */
bool tm_record_store_add_known(struct tm_record_store *store, uint64_t track, uint32_t signature, int64_t start_ps,
                               int64_t dur_ps, uint64_t correlation);

/* The same of all records of a batch, of one track. */
void tm_record_store_add_batch(struct tm_record_store *store, uint64_t track, const struct tm_batch *batch);

/* The same for an op that has its own time, which its place returns beside the record. */
void tm_record_store_add_timed(struct tm_record_store *store, const struct tm_raw_record *raw,
                               const struct tm_device_times *times);

/* What is known of a track without reading it. */
enum tm_stored_trait {
    TM_STORED_HALVES = 1 << 0,   /* TM_BEGIN or TM_END */
    TM_STORED_FLOWS = 1 << 1,    /* TM_FLOW_BEGIN, _STEP or _END */
    TM_STORED_UNSORTED = 1 << 2, /* not in the order (start, longer first) */
    TM_STORED_BACK = 1 << 3,     /* some start is before the one before it: unsorted whatever the lengths are */
    TM_STORED_TIMED = 1 << 4,    /* ops that have their own time instead of an id */
};

struct tm_stored_track {
    uint64_t count;  /* records */
    uint32_t traits; /* enum tm_stored_trait */
};

/* For an empty or unknown track, all members are 0. */
struct tm_stored_track tm_record_store_track(const struct tm_record_store *store, uint64_t track);
/* The count of tm_record_store_track. */
uint64_t tm_record_store_count(const struct tm_record_store *store, uint64_t track);

/* Clear a track, so that it can be filled again.  Its blocks are reused; long arguments stay until the store is freed. 
 * Not while a place in it is open. */
void tm_record_store_clear(struct tm_record_store *store, uint64_t track);

/* Put the records of a track in the order (start, longer first; those at one time stay as they are), if they are a few
 * runs in that order, one behind the other: PyTorch writes the operators of a thread, then its memory events, then its
 * calls of the runtime.  Not while a place in it is open.  out: false: they are more runs, and nothing was done */
bool tm_record_store_merge(struct tm_record_store *store, uint64_t track);

/* A place in a track.  Records may be added to other tracks meanwhile.  It holds a copy of a block, so that many
 * places are cheap side by side however little memory the pages have. */
struct tm_record_place {
    struct tm_record_store *store;
    union tm_packed *rows; /* TM_RECORD_PLACE_BYTES of the account `input`; NULL = not started, or ended */
    uint32_t track;
    uint32_t at, count;         /* of rows */
    int64_t start_ps;           /* of the record returned last, or of the one before the block */
    uint64_t id;                /* of the last one of those that has any */
    uint64_t block, next_block; /* plus one; next_block 0 = these rows are the last */
    struct tm_kept_record row;  /* returned last; of a short record only its own_length is set */
    uint32_t signature; /* of the row returned last by tm_record_store_next_row, if it is known; 0 = look it up */
    struct tm_allocation args; /* of the record returned last, or what it has instead */
    struct tm_device_times times;
    bool has_times; /* of the record returned last */
    bool is_timed;  /* some records of the track may have */
    bool forgets;   /* set after the start: nothing reads the track again, so what was read need not be kept */
};

/* owns: every place that was started, even without success, is ended */
void tm_record_store_begin(struct tm_record_store *store, uint64_t track, struct tm_record_place *place);
/* raw->args points into the place.  out: false: that was the end, or the run has failed */
bool tm_record_store_next(struct tm_record_place *place, struct tm_raw_record *raw) TM_MUST_USE;
/* Fill an empty batch with the next records, without own times and own arguments. */
bool tm_record_store_next_batch(struct tm_record_place *place, struct tm_batch *batch) TM_MUST_USE;
/* The owner of the signature numbers in the records. */
struct tm_signatures *tm_record_store_signatures(struct tm_record_store *store);

/* The own arguments of the record returned last; raw->own is valid until the next call on any place of the store.
 * out:    *bytes  the same, for the caller to change in place */
tm_status tm_record_store_own(struct tm_record_place *place, struct tm_raw_record *raw, uint8_t **bytes) TM_MUST_USE;
void tm_record_store_end(struct tm_record_place *place); /* tolerates a zeroed one */

/* The same as rows: to take records out, and put them back in another order or changed, without examining their
 * arguments.
 * out: valid until the next call on the place; NULL at the end, and after a failure */
const struct tm_kept_record *tm_record_store_next_row(struct tm_record_place *place);
void tm_record_store_add_row(struct tm_record_store *store, const struct tm_kept_record *row);
/* Add the own arguments of one row to those of another: see tm_kept_args_join.  out: whether they were cut */
bool tm_record_store_join_own(struct tm_record_store *store, struct tm_kept_record *row,
                              const struct tm_kept_record *with);

struct tm_packed_small {
    uint32_t step_ps, dur_ps;
    uint16_t signature_and_form; /* the number of the signature << 1 | TM_PACKED_SMALL */
    uint16_t id_step;            /* tm_id_step */
};

union tm_packed {
    struct tm_packed_small small;
    uint32_t words[3]; /* aligned as the others are */
};

static_assert(sizeof(union tm_packed) == 12, "five to a cache line");

/* A source of records over a store that was filled while the file was read.  Its tracks must be in time order (ensured
 * by tm_pairs_join), except for flows that are not drawn.  The final pass also tallies OVERLAPPING_SPAN and
 * REPEATED_EVENT: it knows the order, and these tallies indicate untidy writers of JSON but are irrelevant in formats
 * whose lines come from the profiler's buffers.  Events were counted when the file was read. */

/* Fills fields that depend on data found late in a file, such as track names. raw->args may be changed to point
 * elsewhere, but must be valid until the next call. */
typedef void tm_finish_record(void *to, const struct tm_track *track, struct tm_raw_record *raw);

/* The same for the own arguments of a record: bytes may be changed in place. */
typedef tm_status tm_finish_own(void *to, const struct tm_record *record, uint8_t *bytes, size_t length);

struct tm_record_finish {
    tm_finish_record *record; /* called with every record that is returned; may be NULL */
    uint16_t flags;           /* not 0: only with those that have one of these; it may change their correlation */
    tm_finish_own *own;       /* called with own arguments that are returned; may be NULL */
    void *to;
};

/* in:     finish  copied
 * owns:   store, also where it fails; *source is the caller's, freed by (*source)->type->free; trace must outlive it
 * errors: TM_ERR_LIMIT */
tm_status tm_record_source_new(struct tm_trace *trace, struct tm_record_store *store,
                               const struct tm_record_finish *finish, struct tm_source **source) TM_MUST_USE;

/* How the spans of one track relate, in time order: OVERLAPPING_SPAN and REPEATED_EVENT.  Threads
 * and streams alike; a viewer that stacks the spans of a track has trouble with both.  Not for asynchronous spans
 * (TM_CLASS_ASYNC), of which a track has many unrelated ones. */
enum { TM_SPAN_ORDER_DEEPEST = 512 }; /* open at once; those further inside are not compared with the ones around */

struct tm_span_before {
    int64_t start_ps, dur_ps;
    tm_strid name;
    bool is_any;
};

/* Zeroed = before the first record. */
struct tm_span_order {
    int64_t ends[TM_SPAN_ORDER_DEEPEST]; /* of the spans that are open, the earliest last */
    uint32_t depth;
    struct tm_span_before before;
};

/* The next record of the track in the order (start, longer first); what is not a span is skipped. */
void tm_span_order_take(struct tm_span_order *order, struct tm_trace *trace, const struct tm_record *record);
/* The same for the records of a batch that have a number. */
void tm_span_order_take_batch(struct tm_span_order *order, struct tm_trace *trace,
                              const struct tm_signatures *signatures, const struct tm_batch *batch);

/* A source over another one that is expensive to read: the pass over a track that counts keeps its records in a record
 * store, and later passes read them from there, with their own arguments if the trace keeps them.
 *
 * in:     inner  its trace must outlive the result
 * owns:   inner, also if it fails; *source is the caller's, freed by (*source)->type->free
 * errors: TM_ERR_LIMIT */
tm_status tm_replay_source_new(struct tm_source *inner, struct tm_source **source);

/* Joins what a Chrome trace gives in halves.  A track is put in time order (equal times: longer first, then in
 * the order of the file), and everything on it is examined by its key: 0 for what says a launch's id or a run's
 * (TM_FLAG_CORRELATION, TM_FLAG_RUN_ID), else record.correlation, 0 on threads:
 * - TM_BEGIN and TM_END become spans: an end without a name closes the innermost open start of its key, one with a
 *   name the innermost of that name; its correlation, flags, config and arguments are those of the start, whose own
 *   arguments come before those of the end (what is longer than TM_ARGUMENTS_MOST: LONG_ARGUMENTS).  A start
 *   without an end becomes a span of length 0 with TM_FLAG_OPEN (UNMATCHED_BEGIN), an end without a start is left
 *   out (UNMATCHED_END).
 * - TM_FLOW_BEGIN, _STEP and _END stay as they are, except for correlation, which is another one for each flow of a
 *   key.  The records of a key, which has to be one of cat, name and id, are flows one after the other, and wrong
 *   ones are tallied, each once.  A start after an end starts the next flow, under a reused id (REUSED_FLOW_ID); a
 *   start after a start starts the next one, and the one before never ended (UNMATCHED_FLOW), as does the last one
 *   of the key without an end.  An end closes no more than necessary: one start may have several ends.  What comes
 *   before the first start of a key belongs to its first flow, since the clocks of host and device differ; it has
 *   TM_FLAG_OPEN, unless it is at the time of that start: then it comes after it.  A key without any start is one flow
 *   that never started (UNMATCHED_FLOW).  PyTorch has all of that but reused ids: several `f` to an `s`, `f` before
 *   `s`, and many `f` without `s`.  Where they are not drawn (trace.has_inert_flows), a track of flows alone is tallied
 *   and stays as it is.
 * Everything else of the track stays as it is.  A track of nothing else that is in order is not touched.  A track
 * that is sorted is tallied (UNSORTED_LINE) unless it has keys, and thus is not a line of the file.
 * Sorts and stacks spill; they have the share `sort`.
 * source: Trace Event Format, "Duration Events", "Async Events", "Flow events" */
void tm_pairs_join(struct tm_record_store *store, struct tm_trace *trace, uint64_t track);

/* The starts of one key that wait for their ends: a stack without a limit that spills, in which the innermost one of
 * a name is found without a walk. */
struct tm_open_begins;

/* A start that waits. */
struct tm_open_begin {
    struct tm_kept_record kept;
    uint64_t order;     /* its place in the file */
    struct tm_key name; /* what names are compared by */
};

/* errors: NULL, with the error in run->error */
struct tm_open_begins *tm_open_begins_new(struct tm_run *run, enum tm_account account, size_t memory_bytes) TM_MUST_USE;
void tm_open_begins_free(struct tm_open_begins *open); /* tolerates NULL */

void tm_open_begins_push(struct tm_open_begins *open, const struct tm_open_begin *begin);
/* Take the innermost one, or with a name the innermost one of that name.  false: there is none, or the run has
 * failed. */
bool tm_open_begins_pop(struct tm_open_begins *open, const struct tm_key *name, struct tm_open_begin *begin);

#endif
