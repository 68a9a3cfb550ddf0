/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RECORD_STORE_H
#define TM_RECORD_STORE_H

#include "pipeline/kept_record.h"
#include "pipeline/source.h"

/* Records by track, for formats that are read in one go with the events of all tracks mixed: they are put in as
 * they come, and read again track by track, in the order in which they were put in.  A chain of blocks per track,
 * in pages that spill. */
struct tm_record_store;

/* in:     trace   its run and tracks; must outlive the store
 * errors: NULL, with the error in run->error */
struct tm_record_store *tm_record_store_new(struct tm_trace *trace) TM_MUST_USE;
void tm_record_store_free(struct tm_record_store *store); /* tolerates NULL */

/* Put a record at the end of its track (raw->record.track, a row of trace->tracks or one that will be). */
tm_status tm_record_store_add(struct tm_record_store *store, const struct tm_raw *raw) TM_MUST_USE;
uint64_t tm_record_store_count(const struct tm_record_store *store, uint64_t track);

/* Forget what a track holds, so that it can be filled anew. */
tm_status tm_record_store_clear(struct tm_record_store *store, uint64_t track) TM_MUST_USE;

/* A place in a track.  Records may be added to other tracks meanwhile. */
struct tm_record_place {
    struct tm_record_store *store;
    uint64_t block; /* plus one; 0 = at the end */
    uint32_t row;
    union { struct tm_allocation allocation; struct tm_number number; } args;
};
tm_status tm_record_store_begin(struct tm_record_store *store, uint64_t track,
                                struct tm_record_place *place) TM_MUST_USE;
/* raw->args points into the place. */
tm_status tm_record_store_next(struct tm_record_place *place, struct tm_raw *raw, bool *more) TM_MUST_USE;

#endif
