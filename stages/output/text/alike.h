/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ALIKE_H
#define TM_ALIKE_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pipeline/arguments.h"

/* The arguments of the event before of the same name, node by node, as they were read and as they were written, in
 * whatever form.  Most events of a name differ in a number or two: what is the same is copied, a run of nodes at once,
 * and a whole number is put behind what stood before the last one.  Kept are lists in which no key comes twice, and
 * whose bytes depend on nothing but themselves.  Memory: fixed. */
enum {
    TM_ALIKE = 320,
    TM_ALIKE_NODES = 24,
    TM_ALIKE_NODE_BYTES = 240,
    TM_ALIKE_VALUE_BYTES = 1024,
    TM_ALIKE_COPIED = 32 /* bytes that are copied at once: the last time more than there are */
};

/* A node; the end of a node before the first one is 0. */
struct tm_alike_node {
    uint16_t node_end, value_end; /* in the bytes that were read and written */
    /* Of a value that is a whole number, or a name that was written by its number: how much was written before that
     * number, and the bytes of key and type; else 0. */
    uint16_t head_bytes;
    uint8_t key_bytes;
    uint8_t type;
    uint8_t values; /* arguments that were written up to it */
    tm_strid key;   /* UINT32_MAX: it is no argument */
};

struct tm_alike {
    tm_strid name;                                  /* 0 = none */
    uint32_t tables;                                /* what else the bytes depend on, as the writer counts it */
    uint8_t level;                                  /* enum tm_args_level */
    uint8_t count;                                  /* of nodes */
    struct tm_alike_node nodes[1 + TM_ALIKE_NODES]; /* from 1 on */
    uint8_t ended[TM_ALIKE_NODE_BYTES + 1];         /* how many nodes end with so many bytes, or before */
    uint8_t node_bytes[TM_ALIKE_NODE_BYTES], value_bytes[TM_ALIKE_VALUE_BYTES + TM_ALIKE_COPIED];
};

/* Keep a node in a draft, which begins with count 0; past TM_ALIKE_NODES it cannot be kept.
 * in: from        its bytes, up to rest
 *     value       value_bytes, what was written of it
 *     head_bytes  as of a node
 *     values      that were written up to it */
void tm_alike_note(struct tm_alike *draft, const struct tm_argument *argument, const uint8_t *from, const uint8_t *rest,
                   const uint8_t *value, size_t value_bytes, size_t head_bytes, size_t values);

static inline bool tm_alike_is_kept(const struct tm_alike *draft)
{
    return draft->count <= TM_ALIKE_NODES;
}

/* What tells a node from others: its key. */
static inline tm_strid tm_alike_key(const struct tm_argument *argument)
{
    return tm_argument_is_value(argument) ? argument->key : UINT32_MAX;
}

/* How many bytes at the front are the same. */
static inline size_t tm_alike_same(const uint8_t *a, const uint8_t *b, size_t most)
{
    size_t same = 0;
    uint64_t x, y;

    for (; same + 8 <= most; same += 8) {
        memcpy(&x, a + same, 8);
        memcpy(&y, b + same, 8);
        if (x != y)
            return same + (size_t)__builtin_ctzll(le64toh(x ^ y)) / 8;
    }
    if (same < most && most >= 8) { /* the last ones, with some of those that are the same */
        memcpy(&x, a + most - 8, 8);
        memcpy(&y, b + most - 8, 8);
        return x == y ? most : most - 8 + (size_t)__builtin_ctzll(le64toh(x ^ y)) / 8;
    }
    while (same < most && a[same] == b[same])
        same++;
    return same;
}

static inline uint8_t *tm_alike_copy(uint8_t *to, const uint8_t *from, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += TM_ALIKE_COPIED)
        memcpy(to + done, from + done, TM_ALIKE_COPIED);
    return to + bytes;
}

/* Copy the nodes at the front of a list that are the same as those that come next.
 * in:     *known   the node that came last
 *         to       room for TM_ALIKE_VALUE_BYTES and TM_ALIKE_COPIED
 * out:    *known, *list  behind the run; *values  grows
 *         *same    how many bytes of the next node are the same
 *         behind what was put in */
static inline uint8_t *tm_alike_run(const struct tm_alike *alike, const struct tm_alike_node **known,
                                    struct tm_arguments *list, uint8_t *to, size_t *values, size_t *same)
{
    const struct tm_alike_node *const from = *known;
    const size_t left = (size_t)(alike->nodes[alike->count].node_end - from->node_end);
    const size_t all =
        tm_alike_same(alike->node_bytes + from->node_end, list->bytes, list->length < left ? list->length : left);
    const struct tm_alike_node *const until = &alike->nodes[alike->ended[from->node_end + all]];
    const size_t bytes = (size_t)(until->node_end - from->node_end);

    *known = until;
    list->bytes += bytes;
    list->length -= bytes;
    *values += (size_t)(until->values - from->values);
    *same = all - bytes;
    return tm_alike_copy(to, alike->value_bytes + from->value_end, (size_t)(until->value_end - from->value_end));
}

/* The number of a list's first node, which differs from the known one behind its key and type only.
 * in:     same  bytes that are the same
 * out:    NULL: it is no such node; else behind it */
static inline const uint8_t *tm_alike_number(const struct tm_alike_node *known, struct tm_arguments list, size_t same,
                                             uint64_t *value)
{
    const uint8_t *at = list.bytes + known->key_bytes, *const end = list.bytes + list.length;
    uint64_t read = 0;

    if (!known->key_bytes || same < known->key_bytes)
        return NULL;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        const uint8_t byte = *at++;

        read |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *value = read;
            return at;
        }
    }
    return NULL;
}

/* What was written before the number of a node, again. */
static inline uint8_t *tm_alike_head(uint8_t *to, const struct tm_alike *alike, const struct tm_alike_node *node)
{
    return tm_alike_copy(to, alike->value_bytes + node[-1].value_end, node->head_bytes);
}

#endif
