/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COLLECTIVE_KIND_H
#define TM_COLLECTIVE_KIND_H

#include <stddef.h>

/* What a collective does. */
enum tm_collective_kind {
    TM_ALL_REDUCE,
    TM_ALL_GATHER,
    TM_REDUCE_SCATTER,
    TM_ALL_TO_ALL,
    TM_BROADCAST,
    TM_SEND_RECV,
    TM_PERMUTE,
    TM_OTHER_COLLECTIVE, /* reduce, gather, scatter, barrier, and what nothing tells */
    TM_COLLECTIVE_KIND_COUNT
};
extern const char *const tm_collective_kind_name[TM_COLLECTIVE_KIND_COUNT]; /* "all-reduce", ... */

/* What a text tells: the operation of a message ("_allgather_base"), an HLO op or opcode ("all-reduce-start.1"), a
 * kernel's name ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"); any case, with or without '_' and '-' between the
 * words.  TM_OTHER_COLLECTIVE = nothing. */
enum tm_collective_kind tm_collective_kind_in(const char *text, size_t length);

#endif
