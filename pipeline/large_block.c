/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks begin at a multiple of the size of a huge page: only so can they be made of huge pages, and be moved with them
 * whole.  For that a piece of address space is asked for that is larger by one such page, and its ends are given back. */
#include "pipeline/large_block.h"

#include <stdint.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, PAGE = 4096 };

bool tm_is_large_block(size_t bytes)
{
#ifdef TM_HEAP_BLOCKS
    (void)bytes; /* sanitizers and valgrind watch the borders of what they gave themselves */
    return false;
#else
    return bytes >= HUGE_PAGE;
#endif
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* Address space without memory behind it.  NULL when there is none left. */
static uint8_t *reserve(size_t bytes)
{
    if (bytes > SIZE_MAX / 2 - HUGE_PAGE)
        return NULL;
    uint8_t *const begin =
        mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (begin == MAP_FAILED)
        return NULL;
    const size_t before = (HUGE_PAGE - (uintptr_t)begin % HUGE_PAGE) % HUGE_PAGE;

    if (before)
        (void)munmap(begin, before);
    (void)munmap(begin + before + bytes, HUGE_PAGE - before);
    return begin + before;
}

void *tm_large_block(size_t bytes)
{
    const size_t length = whole_pages(bytes);
    uint8_t *const block = length >= bytes ? reserve(length) : NULL;

    if (block)
        (void)madvise(block, length, MADV_HUGEPAGE);
    return block;
}

void *tm_large_block_resize(void *block, size_t old_bytes, size_t bytes)
{
    const size_t old_length = whole_pages(old_bytes), length = whole_pages(bytes);

    if (length <= old_length) {
        if (length < old_length)
            (void)munmap((uint8_t *)block + length, old_length - length);
        return block;
    }
    uint8_t *const to = reserve(length);

    if (!to)
        return NULL;
    void *const moved = mremap(block, old_length, length, MREMAP_MAYMOVE | MREMAP_FIXED, to);

    if (moved == MAP_FAILED) {
        (void)munmap(to, length);
        return NULL;
    }
    return moved;
}

void tm_large_block_free(void *block, size_t bytes)
{
    (void)munmap(block, whole_pages(bytes));
}
