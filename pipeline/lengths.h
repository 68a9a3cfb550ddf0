/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LENGTHS_H
#define TM_LENGTHS_H

#include "pipeline/groups.h"

/* How often each number was seen, by group: what exact quantiles are told from.  Most numbers
 * differ, so they are only written down as they come, 8 bytes each, and sorted and counted when the
 * memory is full and at the end.  Numbers of 40 bits and up to 65,536 groups go this way, which is
 * a second of picoseconds; what is beyond that is counted in a table. */
struct tm_lengths;

struct tm_length {
    uint64_t group, value;
    uint64_t count;
};

/* errors: NULL, with the error in run->error */
struct tm_lengths *tm_lengths_new(struct tm_run *run, enum tm_account account,
                                  size_t memory_bytes) TM_MUST_USE;
void tm_lengths_free(struct tm_lengths *lengths);

/* A place remembers what is known of a group, for a caller that keeps one for it.  0 = nothing yet.
 * A place may be lost at any time; then the group is looked up again. */
typedef uint64_t tm_length_place;

/* in: count  at least 1 */
tm_status tm_lengths_add(struct tm_lengths *lengths, uint64_t group, uint64_t value,
                         uint64_t count) TM_MUST_USE;
/* One number of a group with its place. */
tm_status tm_lengths_add_at(struct tm_lengths *lengths, tm_length_place *place, uint64_t group,
                            uint64_t value) TM_MUST_USE;
/* No more numbers.  Once finished, finishing again begins with the first one again. */
tm_status tm_lengths_finish(struct tm_lengths *lengths) TM_MUST_USE;
/* *length = the next in the order (group, value), each once; valid until the next call; NULL at the
 * end. */
tm_status tm_lengths_next(struct tm_lengths *lengths, const struct tm_length **length) TM_MUST_USE;

#endif
