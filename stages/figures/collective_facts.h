/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COLLECTIVE_FACTS_H
#define TM_COLLECTIVE_FACTS_H

#include <stddef.h>

#include "pipeline/stage.h"

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

/* Where the devices of a collective are. */
enum tm_collective_reach { TM_REACH_UNKNOWN, TM_REACH_NODE, TM_REACH_NODES, TM_REACH_COUNT };

/* What a collective is about, as its event, its message and its program's HLO tell.  0 = not told. */
struct tm_collective_facts {
    uint64_t message_bytes; /* the most that a rank sends or receives: an all-gather's output, a reduce-scatter's
                                input */
    uint32_t group_size;
    enum tm_collective_kind kind;
    enum tm_collective_reach reach;
    tm_strid data_type;
    tm_strid operation, group, group_ranks; /* of its message */
    tm_strid replica_groups;                /* of its HLO instruction: "{{0,1},{2,3}}" */
};

/* in:     event  a collective of a device, or a stretch in which one is in flight */
struct tm_collective_facts tm_collective_facts(const struct tm_trace *trace, const struct tm_event *event);

/* Whether each group of ranks in a text lies in one node: "[0, 1, 2, 3]", "{{0,1},{2,3}}".  Ranks
 * are numbered node by node, as launchers do. */
enum tm_collective_reach tm_reach_of_ranks(const char *text, size_t length, uint32_t node_devices);

#endif
