/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RECORD_SOURCE_H
#define TM_RECORD_SOURCE_H

#include "stages/input/record_store.h"

/* The tracks of a store as a source of records.  The first reading of each track also counts what its order tells:
 * spans that overlap without nesting, and events that stand there twice. */

/* Completes a record that is given out: what was not known when it was put in.  to: as given below */
typedef void tm_finish_record(void *to, const struct tm_track *track, struct tm_raw *raw);

/* in:     store   its tracks are rows of trace->tracks, each in order
 * owns:   *source is the caller's, freed by (*source)->type->free; the store is then the source's
 * errors: of memory; the store stays the caller's */
tm_status tm_record_source_new(struct tm_trace *trace, struct tm_record_store *store, tm_finish_record *finish,
                               void *to, struct tm_source **source) TM_MUST_USE;

#endif
