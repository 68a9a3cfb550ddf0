/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ORDER_H
#define TM_ORDER_H

#include "pipeline/source.h"

/* Takes one record of the ordered stream.  track and raw are borrowed until it returns.  Of a raw record that has a
 * signature only what tm_fill_record needs is there, unless own arguments are given. */
typedef tm_status tm_take_record(void *to, const struct tm_track *track, const struct tm_raw_record *raw);

/* Give out all records of a scanned and surveyed source in the order (start, longer first, ends of arrows after what
 * they may point to, track, input order).
 * Tracks that are in order, which is nearly all, are merged as they are read, 255 at most at a time; the others go
 * through an external sort.
 * in:     gives_own  records come with what they say of themselves, where the trace keeps it
 * errors: of the input, of the spill files, and whatever `take` returns, which stops at once */
tm_status tm_order(struct tm_source *source, bool gives_own, tm_take_record *take, void *to);
/* The same, but device by device: a slice of the host's records (and of all that is on no device), then those of each
 * device that start before the host's next one.  Records of the host, and of each device, are in the order of tm_order
 * among themselves, and when a record of a device comes, all of the host's that start before it have come.  Records come
 * without their own arguments.
 * in:     slice  of so many of the host's records */
tm_status tm_order_by_device(struct tm_source *source, uint64_t slice, tm_take_record *take, void *to);
/* The same of one track. */
tm_status tm_order_track(struct tm_source *source, uint64_t track, tm_take_record *take, void *to);

#endif
