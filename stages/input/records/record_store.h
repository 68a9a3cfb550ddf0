/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RECORD_STORE_H
#define TM_RECORD_STORE_H

#include <stddef.h>
#include <string.h>

#include "pipeline/kept_record.h"
#include "stages/input/records/device_clock.h"

/* Records by track, for formats that are read in one go with the events of all tracks mixed: they are put in as
 * they come, and read again track by track, in the order in which they were put in.  A chain of blocks per track,
 * in pages that spill; most of the share `input`, at the least half of it. */
struct tm_record_store;
union tm_packed;

/* in:     trace   its run and tracks; must outlive the store
 * errors: NULL, with the error in run->error */
struct tm_record_store *tm_record_store_new(struct tm_trace *trace) TM_MUST_USE;
void tm_record_store_free(struct tm_record_store *store); /* tolerates NULL */

/* Put a record at the end of its track (raw->record.track, a row of trace->tracks or one that will be). */
tm_status tm_record_store_add(struct tm_record_store *store, const struct tm_raw_record *raw) TM_MUST_USE;

/* The same of an op that has a time of its own, which its place gives out beside the record. */
tm_status tm_record_store_add_timed(struct tm_record_store *store, const struct tm_raw_record *raw,
                                    const struct tm_device_times *times) TM_MUST_USE;

/* What is known of a track without reading it. */
enum tm_stored_trait {
    TM_STORED_HALVES = 1 << 0,   /* TM_BEGIN or TM_END */
    TM_STORED_FLOWS = 1 << 1,    /* TM_FLOW_BEGIN, _STEP or _END */
    TM_STORED_UNSORTED = 1 << 2, /* not in the order (start, longer first) */
    TM_STORED_BACK = 1 << 3,     /* some start lies before the one before it: unsorted whatever the lengths are */
};

struct tm_stored_track {
    uint64_t count;  /* records */
    uint32_t traits; /* enum tm_stored_trait */
};

/* A track that holds nothing, or that was never heard of, is all 0. */
tm_status tm_record_store_track(const struct tm_record_store *store, uint64_t track,
                                struct tm_stored_track *known) TM_MUST_USE;
/* Of tm_record_store_track the count; 0 with the error in run->error where the spill file fails. */
uint64_t tm_record_store_count(const struct tm_record_store *store, uint64_t track);

/* Forget what a track holds, so that it can be filled anew.  Its blocks go to whoever needs one next; long arguments
 * stay until the store is freed.  Not while a place in it is open. */
tm_status tm_record_store_clear(struct tm_record_store *store, uint64_t track) TM_MUST_USE;

/* A place in a track.  Records may be added to other tracks meanwhile.  It holds a copy of a block, so that many
 * places are cheap side by side however little memory the pages have. */
struct tm_record_place {
    struct tm_record_store *store;
    union tm_packed *rows; /* TM_RECORD_PLACE_BYTES of the account `input`; NULL = not begun, or ended */
    uint32_t track;
    uint32_t at, count;        /* of rows */
    int64_t start_ps;          /* of the record given out last, or of the one before the block */
    uint64_t id;               /* of the last one of those that has any */
    uint64_t next_block;       /* plus one; 0 = these rows are the last */
    struct tm_kept_record row; /* given out last; of a short record only its own_length is set */
    struct tm_allocation args; /* of the record given out last, or what it has instead */
    struct tm_device_times times;
    bool has_times; /* of the record given out last */
};

/* owns: every place that was begun, even in vain, is ended */
tm_status tm_record_store_begin(struct tm_record_store *store, uint64_t track,
                                struct tm_record_place *place) TM_MUST_USE;
/* raw->args points into the place. */
tm_status tm_record_store_next(struct tm_record_place *place, struct tm_raw_record *raw, bool *more) TM_MUST_USE;

/* The own arguments of the record given out last; raw->own is valid until the next call on any place of the store.
 * out: *bytes  the same, for the caller to change in place */
tm_status tm_record_store_own(struct tm_record_place *place, struct tm_raw_record *raw, uint8_t **bytes) TM_MUST_USE;
void tm_record_store_end(struct tm_record_place *place); /* tolerates a zeroed one */

/* The same as rows: to take records out, and put them back in another order or changed, without a look at their
 * arguments.  *row is valid until the next call on the place; NULL at the end. */
tm_status tm_record_store_next_row(struct tm_record_place *place, const struct tm_kept_record **row) TM_MUST_USE;
tm_status tm_record_store_add_row(struct tm_record_store *store, const struct tm_kept_record *row) TM_MUST_USE;
/* Add the own arguments of one row to those of another: see tm_kept_args_join. */
tm_status tm_record_store_join_own(struct tm_record_store *store, struct tm_kept_record *row,
                                   const struct tm_kept_record *with, bool *is_cut) TM_MUST_USE;

struct tm_packed_small {
    uint32_t step_ps, dur_ps;
    uint16_t shape_and_form; /* the number of the shape << 2 | enum tm_packed_form */
    uint16_t id_step;        /* tm_id_step */
};

union tm_packed {
    struct tm_packed_small small;
    uint32_t words[3]; /* aligned as the others are */
};

static_assert(sizeof(union tm_packed) == 12, "five to a cache line");

#endif
