/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PERFETTO_ALIKE_H
#define TM_PERFETTO_ALIKE_H

#include "pipeline/arguments.h"

/* The arguments of the event before of the same name, node by node, as they were read and as they were written.  Most
 * events of a name differ in a number or two: what is the same is copied, a run of nodes at once.  Kept are lists in
 * which no key comes twice, and whose texts all stand in tables or in place.  Memory: fixed. */
enum {
    TM_ALIKE = 256, TM_ALIKE_NODES = 24, TM_ALIKE_NODE_BYTES = 240, TM_ALIKE_VALUE_BYTES = 400,
    TM_ALIKE_HEAD = 8 /* most bytes of a head that is copied */
};

struct tm_alike {
    tm_strid name;       /* 0 = none */
    uint32_t tables;     /* which tables of names it was written with */
    uint8_t level;       /* enum tm_args_level */
    uint8_t count;       /* of nodes */
    /* Where a node ends, and what was written of it; how many values there are up to it; its key, 0 of no value. */
    uint16_t node_end[TM_ALIKE_NODES], value_end[TM_ALIKE_NODES];
    uint8_t values[TM_ALIKE_NODES];
    tm_strid key[TM_ALIKE_NODES];
    /* Of a whole number or a name that was written by its number: how much of the value stands before that; else 0. */
    uint8_t type[TM_ALIKE_NODES], head_bytes[TM_ALIKE_NODES];
    uint8_t node_bytes[TM_ALIKE_NODE_BYTES], value_bytes[TM_ALIKE_VALUE_BYTES + TM_ALIKE_HEAD];
};

/* How many nodes of a list, from node `first` of the event before on, are the same. */
static inline size_t tm_alike_run(const struct tm_alike *alike, size_t first, struct tm_arguments list)
{
    const size_t begin = first ? alike->node_end[first - 1] : 0;
    const uint8_t *const nodes = alike->node_bytes + begin;
    const size_t all = alike->count ? alike->node_end[alike->count - 1] - begin : 0;
    const size_t most = list.length < all ? list.length : all;
    size_t same = 0;

    for (; same + 8 <= most; same += 8) {
        uint64_t a, b;

        __builtin_memcpy(&a, nodes + same, 8);
        __builtin_memcpy(&b, list.bytes + same, 8);
        if (a != b)
            break;
    }
    while (same < most && nodes[same] == list.bytes[same])
        same++;
    size_t count = 0;

    while (first + count < alike->count && alike->node_end[first + count] - begin <= same)
        count++;
    return count;
}

#endif
