/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LENGTH_GROUPS_H
#define TM_LENGTH_GROUPS_H

#include "pipeline/length_sort.h"
#include "pipeline/run.h"

/* Small numbers for the groups of lengths, which are numbers of 64 bits: in the order in which they
 * come.  Memory: 32 bytes a group; what does not fit into its part the pool may give. */
struct tm_length_groups {
    struct tm_run *run;
    enum tm_account account;
    size_t memory_bytes, drawn_bytes; /* its own, and from the pool */
    uint64_t *groups;                 /* by number */
    uint32_t *slots;                  /* two a group: number + 1; 0 = empty */
    uint32_t count, capacity;
    uint64_t seed;
};

/* A group and its number. */
struct tm_length_group {
    uint64_t group, number;
};

enum { TM_LENGTH_GROUPS_MOST = 1 << TM_LENGTH_GROUP_BITS, TM_LENGTH_GROUP_BYTES = 32 };

void tm_length_groups_init(struct tm_length_groups *groups, struct tm_run *run,
                           enum tm_account account, size_t memory_bytes);
void tm_length_groups_release(struct tm_length_groups *groups); /* tolerates a zeroed one */
/* None is known any more; the memory stays. */
void tm_length_groups_forget(struct tm_length_groups *groups);

/* The number of a group, which gets one if it has none.
 * out:    *number  TM_NONE where there is no room for one more
 * errors: of the ledger */
tm_status tm_length_groups_number(struct tm_length_groups *groups, uint64_t group,
                                  uint32_t *number) TM_MUST_USE;

/* All of them in the order of the groups.
 * owns:   the caller gives the block back with tm_length_groups_give_order
 * errors: NULL, of the ledger */
struct tm_length_group *tm_length_groups_order(struct tm_length_groups *groups) TM_MUST_USE;
void tm_length_groups_give_order(struct tm_length_groups *groups, struct tm_length_group *order);

#endif
