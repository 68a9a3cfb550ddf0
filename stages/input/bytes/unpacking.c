/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/bytes/unpacking.h"

#include <stdlib.h>

static void *allocate(void *of, size_t bytes)
{
    struct tm_unpacking *const unpacking = of;
    void *const block = malloc(bytes);

    unpacking->memory_ended |= !block;
    return block;
}

static void release(void *of, void *block)
{
    (void)of;
    free(block);
}

ProtobufCAllocator *tm_unpacking_begin(struct tm_unpacking *unpacking)
{
    *unpacking = (struct tm_unpacking){
        .allocator = { .alloc = allocate, .free = release, .allocator_data = unpacking },
    };
    return &unpacking->allocator;
}

tm_status tm_unpacking_refused(const struct tm_unpacking *unpacking, struct tm_run *run)
{
    if (unpacking->memory_ended)
        return tm_fail(&run->error, TM_ERR_LIMIT, -1, "no memory is left for a message of the profile");
    tm_tally_add(&run->tallies, TM_TALLY_BAD_FIELD, 1);
    return TM_OK;
}
