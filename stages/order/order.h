/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ORDER_H
#define TM_ORDER_H

#include "pipeline/source.h"

/* Receives one record of the ordered stream. track and raw are borrowed until it returns.  If a raw record has a
 * signature, only the fields that tm_fill_record needs are set, unless own arguments are requested. */
typedef tm_status tm_take_record(void *to, const struct tm_track *track, const struct tm_raw_record *raw);

/* A record is the next one of its track, so it comes soon: what it needs can be fetched.  As of tm_take_record; it has a
 * signature. */
typedef void tm_expect_record(void *to, const struct tm_track *track, const struct tm_raw_record *raw);

/* Receives records that have a number, in the same order.  They are borrowed until it returns. */
typedef tm_status tm_take_many(void *to, const struct tm_merged *merged);

/* Return all records of a scanned and surveyed source in order (start, longer first, ends of arrows after their
 * possible targets, track, input order).  Ordered tracks, which are nearly all, are merged as they are read, at most
 * 255 at a time; the others are sorted externally.
 * in:     gives_own  records include their arguments, if the trace keeps them
 *         take_many  gets those that have a number; NULL: `take` gets each of them
 * errors: of the input, of the spill files, and the status of `take`, which stops immediately */
tm_status tm_order(struct tm_source *source, bool gives_own, tm_take_record *take, tm_take_many *take_many, void *to);
/* The same, but device by device: a slice of the host's records (and of all records on no device), then those of each
 * device that start before the host's next one.  Records of the host, and of each device, are in the order of tm_order
 * among themselves, and when a record of a device comes, all records of the host that start before it have come.
 * Records come without their own arguments.
 * in:     slice      number of the host's records
 *         take_many  gets those that have a number, of a device or of the host; NULL: `take` gets each of them */
tm_status tm_order_by_device(struct tm_source *source, uint64_t slice, tm_take_record *take, tm_take_many *take_many,
                             void *to);
/* The same in parts: records that belong to a later part, and all that follow them on their track, wait until it starts.
 * Within a part, records are in the order of tm_order; tracks that are not in order follow time alone. */
struct tm_part_order {
    tm_expect_record *expect; /* NULL = not wanted */
    tm_take_record *take;
    /* in:     track  NULL = of a track that is not in order */
    bool (*is_later)(void *to, const struct tm_track *track, const struct tm_raw_record *raw);
    tm_status (*end_part)(void *to); /* all that is left is later */
    void *to;
};

tm_status tm_order_in_parts(struct tm_source *source, bool gives_own, const struct tm_part_order *parts);
/* The same of one track. */
tm_status tm_order_track(struct tm_source *source, uint64_t track, tm_take_record *take, void *to);

#endif
