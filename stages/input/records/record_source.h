/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RECORD_SOURCE_H
#define TM_RECORD_SOURCE_H

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

#endif
