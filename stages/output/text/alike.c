/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping what was written of an event's arguments: see alike.h. */
#include "stages/output/text/alike.h"

void tm_alike_note(struct tm_alike *draft, const struct tm_argument *argument, const uint8_t *from, const uint8_t *rest,
                   const uint8_t *value, size_t value_bytes, size_t head_bytes, size_t values)
{
    const struct tm_alike_node *const before = &draft->nodes[draft->count];
    struct tm_alike_node node = { .type = argument->type, .values = (uint8_t)values, .key = tm_alike_key(argument) };
    const size_t node_bytes = (size_t)(rest - from);

    if (draft->count >= TM_ALIKE_NODES || node_bytes > TM_ALIKE_NODE_BYTES - (size_t)before->node_end ||
        value_bytes > TM_ALIKE_VALUE_BYTES - (size_t)before->value_end) {
        draft->count = TM_ALIKE_NODES + 1; /* it is not kept */
        return;
    }
    memcpy(draft->node_bytes + before->node_end, from, node_bytes);
    memcpy(draft->value_bytes + before->value_end, value, value_bytes);
    memset(draft->ended + before->node_end, draft->count, node_bytes);
    node.node_end = (uint16_t)(before->node_end + node_bytes);
    node.value_end = (uint16_t)(before->value_end + value_bytes);
    if (head_bytes) {
        node.key_bytes = 2;
        while (from[node.key_bytes - 2] & 0x80)
            node.key_bytes++;
        node.head_bytes = (uint16_t)head_bytes;
    }
    draft->nodes[++draft->count] = node;
    draft->ended[node.node_end] = draft->count;
}
