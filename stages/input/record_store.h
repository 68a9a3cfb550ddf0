/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RECORD_STORE_H
#define TM_RECORD_STORE_H

#include "pipeline/kept_record.h"
#include "pipeline/source.h"

/* Records by track, for formats that are read in one go with the events of all tracks mixed: they are put in as
 * they come, and read again track by track, in the order in which they were put in.  A chain of blocks per track,
 * in pages that spill. */
struct tm_record_store;

/* in:     run, which must outlive the store
 * errors: NULL, with the error in run->error */
struct tm_record_store *tm_record_store_new(struct tm_run *run) TM_MUST_USE;
void tm_record_store_free(struct tm_record_store *store); /* tolerates NULL */

/* Put a record at the end of its track: raw->record.track, any number below TM_NONE. */
tm_status tm_record_store_add(struct tm_record_store *store, const struct tm_raw *raw) TM_MUST_USE;

/* out: count      records of a track
 *      is_sorted  they were put in in the order (start, longer first) */
tm_status tm_record_store_facts(struct tm_record_store *store, uint64_t track, uint64_t *count,
                                bool *is_sorted) TM_MUST_USE;

/* Forget what a track holds, so that it can be filled anew. */
tm_status tm_record_store_clear(struct tm_record_store *store, uint64_t track) TM_MUST_USE;

/* A place in a track; holds a copy of one block.  Records may be added to other tracks meanwhile. */
struct tm_record_place {
    struct tm_record_store *store;
    struct tm_record_block *block; /* the copy */
    uint32_t row;
    union { struct tm_allocation allocation; struct tm_number number; } args;
};
/* owns: tm_record_store_end releases what the place holds, also after a failure */
tm_status tm_record_store_begin(struct tm_record_store *store, uint64_t track,
                                struct tm_record_place *place) TM_MUST_USE;
/* raw->args points into the place. */
tm_status tm_record_store_next(struct tm_record_place *place, struct tm_raw *raw, bool *more) TM_MUST_USE;
void tm_record_store_end(struct tm_record_place *place); /* tolerates a zeroed one */

#endif
