/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_INDEX_H
#define TM_INDEX_H

#include "pipeline/store/sorter.h"

/* A map from a 64-bit key to a fixed-size row, built once and then only read.  While it fits in its share
 * it is a table in memory (dense where the keys are, else open addressing); past it, sorted rows in a spill
 * file with a sparse index and a cache of blocks, so that look-ups near each other are cheap.
 * Rows begin with their key: the first 8 bytes of a row are a uint64_t. */
struct tm_index;

/* Which of two rows of the same key stays. */
enum tm_index_duplicates { TM_INDEX_FIRST, TM_INDEX_LAST, TM_INDEX_ASK };
/* With TM_INDEX_ASK: true if `b`, put in later, replaces `a`. */
typedef bool tm_index_replaces(const void *a, const void *b);

struct tm_index *tm_index_new(struct tm_run *run, enum tm_account account, size_t row_bytes, size_t memory_bytes,
                              enum tm_index_duplicates duplicates, tm_index_replaces *replaces) TM_MUST_USE;
void tm_index_free(struct tm_index *index);

tm_status tm_index_put(struct tm_index *index, const void *row) TM_MUST_USE;
/* No more rows.  Then look-ups are allowed. */
tm_status tm_index_finish(struct tm_index *index) TM_MUST_USE;
/* *row = the row, valid until the next call on this index; NULL if there is none. */
tm_status tm_index_get(struct tm_index *index, uint64_t key, const void **row) TM_MUST_USE;
/* The same, with the number of the row, from 1 on: the same number whenever the same row is found.
 * out: *number  0 if there is none */
tm_status tm_index_find(struct tm_index *index, uint64_t key, const void **row, uint64_t *number) TM_MUST_USE;
/* The key will be looked up soon: fetch its row into the cache where that is cheap. */
void tm_index_expect(const struct tm_index *index, uint64_t key);
/* After finish: no row has a larger number. */
uint64_t tm_index_most_number(const struct tm_index *index);
uint64_t tm_index_count(const struct tm_index *index);           /* after finish: different keys */
uint64_t tm_index_duplicate_count(const struct tm_index *index); /* rows that gave way to another one of
                                                                the same key */

#endif
