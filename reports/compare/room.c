/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of blocks.  Small requests share a block. */
#include "reports/compare/room.h"

#include <stdalign.h>

enum { BLOCK_BYTES = 64 * 1024 };

struct tm_room_block {
    struct tm_room_block *next;
    size_t bytes, used; /* the header's own ones included */
};

static size_t aligned(size_t bytes)
{
    const size_t unit = alignof(max_align_t);

    return (bytes + unit - 1) / unit * unit;
}

static bool add_block(struct tm_compare_blocks *room, size_t bytes)
{
    const size_t header = aligned(sizeof(struct tm_room_block));
    const size_t whole = bytes + header > BLOCK_BYTES ? bytes + header : BLOCK_BYTES;
    struct tm_room_block *block = tm_take(&room->run->budget, TM_ACCOUNT_MODEL, whole, &room->run->error);

    if (!block)
        return false;
    block->next = room->blocks;
    block->bytes = whole;
    block->used = header;
    room->blocks = block;
    return true;
}

void *tm_room_take(struct tm_compare_blocks *room, size_t count, size_t bytes)
{
    if (bytes && count > (SIZE_MAX / 2 - BLOCK_BYTES) / bytes) {
        (void)tm_fail(&room->run->error, TM_ERR_LIMIT, -1, "out of memory");
        return NULL;
    }
    const size_t bytes_all = count * bytes, wanted = aligned(bytes_all > 0 ? bytes_all : 1);

    if ((!room->blocks || room->blocks->bytes - room->blocks->used < wanted) && !add_block(room, wanted))
        return NULL;
    room->blocks->used += wanted;
    return (char *)room->blocks + (room->blocks->used - wanted);
}

void tm_room_free(struct tm_compare_blocks *room)
{
    while (room->blocks) {
        struct tm_room_block *next = room->blocks->next;

        tm_give(&room->run->budget, TM_ACCOUNT_MODEL, room->blocks, room->blocks->bytes);
        room->blocks = next;
    }
}
