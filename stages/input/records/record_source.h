/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RECORD_SOURCE_H
#define TM_RECORD_SOURCE_H

#include "pipeline/source.h"
#include "stages/input/records/record_store.h"

/* A source of records over a store that was filled while the file was read.  Its tracks have to be in the order of
 * time (tm_pairs_join sees to that): the reading that counts also tallies OVERLAPPING_SPAN and REPEATED_EVENT, which
 * is cheap where the order is known and only here can be, since these tallies tell of untidy writers of JSON and are
 * of no interest in formats whose lines are what the profiler's own buffers held.  Events read were counted when the
 * file was read. */

/* Fills what depends on things that come late in a file, as the names of its tracks.  raw->args may be changed to
 * point elsewhere, but must be valid until the next call. */
typedef void tm_finish_record(void *to, const struct tm_track *track, struct tm_raw_record *raw);

/* The same for the own arguments of a record: bytes may be changed in place. */
typedef tm_status tm_finish_own(void *to, const struct tm_record *record, uint8_t *bytes, size_t length);

struct tm_record_finish {
    tm_finish_record *record; /* called with every record that is given out; may be NULL */
    tm_finish_own *own;       /* called with own arguments that are given out; may be NULL */
    void *to;
};

/* in:     finish  copied
 * owns:   store, also where it fails; *source is the caller's, freed by (*source)->type->free; trace must outlive it
 * errors: TM_ERR_LIMIT */
tm_status tm_record_source_new(struct tm_trace *trace, struct tm_record_store *store,
                               const struct tm_record_finish *finish, struct tm_source **source) TM_MUST_USE;

/* What the spans of one track are to each other, in the order of time: OVERLAPPING_SPAN and REPEATED_EVENT.  Threads
 * and streams alike; a viewer that stacks the spans of a track has trouble with both.  Not for asynchronous spans
 * (TM_CLASS_ASYNC), of which a track holds many that have nothing to do with each other. */
enum { TM_SPAN_ORDER_DEEPEST = 512 }; /* open at once; those further inside are not compared with the ones around */

/* Zeroed = before the first record. */
struct tm_span_order {
    int64_t ends[TM_SPAN_ORDER_DEEPEST]; /* of the spans that are open, the earliest last */
    uint32_t depth;
    bool has_before;
    int64_t start_ps, dur_ps; /* of the span before */
    tm_strid name;
};

/* The next record of the track in the order (start, longer first); what is no span is passed by.
 * errors: of the names, where one text may have several handles */
tm_status tm_span_order_take(struct tm_span_order *order, struct tm_trace *trace,
                             const struct tm_record *record) TM_MUST_USE;

/* A source over another one that is dear to read: the reading of a track that counts keeps its records in a record store,
 * and later readings take them from there.  Not for records whose own arguments will be asked for: those are not kept.
 *
 * in:     inner  its trace must outlive the result
 * owns:   inner, also where it fails; *source is the caller's, freed by (*source)->type->free
 * errors: TM_ERR_LIMIT */
tm_status tm_replay_source_new(struct tm_source *inner, struct tm_source **source) TM_MUST_USE;

#endif
