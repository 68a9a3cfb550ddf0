/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_GROUPS_H
#define TM_GROUPS_H

#include "pipeline/store/sorter.h"

/* GROUP BY in bounded memory: rows of the same 128-bit key are folded into one.  A hash table within the
 * share; when it is full, its rows are spilled as a run sorted by key, and equal keys are folded in the
 * final merge.  The result comes in order of the key, exactly the same for every share.
 * Rows start with their key: struct tm_key. */
struct tm_key {
    uint64_t high, low; /* XXH3-128 of what the group is about: the same in every process, so files may hold it */
};

/* Below, equal to or above 0, as a is before b, the same, or after it. */
static inline int tm_key_order(struct tm_key a, struct tm_key b)
{
    if (a.high != b.high)
        return a.high < b.high ? -1 : 1;
    return (a.low > b.low) - (a.low < b.low);
}

/* The key of N bytes. */
struct tm_key tm_hash_key(const void *bytes, size_t length);
/* The key of texts in this order; NULL = "".  The hash of those before it is the seed of each, so that texts that continue
 * each other differ from their concatenation. */
struct tm_key tm_hash_texts(const char *const text[], size_t count);

static inline bool tm_is_same_key(struct tm_key a, struct tm_key b)
{
    return a.high == b.high && a.low == b.low;
}

struct tm_groups;

/* Fold `from` into `into`; both rows of one key.  Must be associative and commutative except for ties that the
 * rows themselves decide, or the result would depend on the memory. */
typedef void tm_row_merge(void *into, const void *from);

struct tm_groups *tm_groups_new(struct tm_run *run, enum tm_account account, size_t row_bytes, size_t memory_bytes,
                                tm_row_merge *merge) TM_MUST_USE;
void tm_groups_free(struct tm_groups *groups);
size_t tm_groups_row_bytes(const struct tm_groups *groups);

/* Failures are remembered in run->error, and what follows one does nothing: check tm_failed once, at the end.
 * Fold one row in (it is copied). */
void tm_groups_add(struct tm_groups *groups, const void *row);
/* No more rows.  Once finished, finishing again starts with the first group again. */
void tm_groups_finish(struct tm_groups *groups);
/* The next group in the order of the key, valid until the next call; NULL at the end, and after a failure. */
const void *tm_groups_next(struct tm_groups *groups);
void tm_groups_rewind(struct tm_groups *groups);

#endif
