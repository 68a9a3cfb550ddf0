/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger behind --memory: accounts of memory use.  It does not refuse requests; a structure requests its share once
 * and stays within it, or within its grant from the pool, so behavior depends only on the limit and the input, not on
 * timing. */
#include "pipeline/store/budget.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pipeline/error.h"

/* Blocks start at a multiple of the huge page size: otherwise they cannot consist of huge pages, or be moved with them.
 *  For that, the requested address range is larger by one such page, and its ends are returned. */

enum { HUGE_PAGE = 2 << 20, PAGE = 4096 };

bool tm_is_large_block(size_t bytes)
{
#ifdef TM_HEAP_BLOCKS
    (void)bytes; /* sanitizers and valgrind check the bounds of blocks that they allocated themselves */
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

/* Percent of the limit.  They add up to 98: the rest covers the allocator's rounding. */

/* clang-format off */
enum { MODEL_LEAST_BYTES = 7 << 20 };

static const uint8_t share_pct[TM_ACCOUNT_COUNT] = {
    [TM_ACCOUNT_INPUT] = 12,   [TM_ACCOUNT_NAMES] = 8,   [TM_ACCOUNT_METADATA] = 16,
    [TM_ACCOUNT_LAUNCHES] = 10, [TM_ACCOUNT_STEPS] = 6,   [TM_ACCOUNT_SORT] = 12,
    [TM_ACCOUNT_TABLES] = 18,  [TM_ACCOUNT_THREADS] = 8, [TM_ACCOUNT_MODEL] = 8,
};

/* clang-format on */

/* clang-format off */
const char *const tm_account_name[TM_ACCOUNT_COUNT] = {
    [TM_ACCOUNT_INPUT] = "input",       [TM_ACCOUNT_NAMES] = "names",
    [TM_ACCOUNT_METADATA] = "metadata", [TM_ACCOUNT_LAUNCHES] = "launches",
    [TM_ACCOUNT_STEPS] = "steps",       [TM_ACCOUNT_SORT] = "sort",
    [TM_ACCOUNT_TABLES] = "tables",     [TM_ACCOUNT_THREADS] = "threads",
    [TM_ACCOUNT_MODEL] = "model",
};

/* clang-format on */

/* Quarters of an account's memory beyond the minimum that go into the pool.  Structures of these accounts spill, but
 * they also have caches and tables of fixed size.  The other accounts hold data that cannot be stored elsewhere, and
 * refuse when full: they keep all of their memory. */

/* clang-format off */
static const uint8_t pool_quarters[TM_ACCOUNT_COUNT] = {
    [TM_ACCOUNT_METADATA] = 3, [TM_ACCOUNT_LAUNCHES] = 3, [TM_ACCOUNT_STEPS] = 3,
    [TM_ACCOUNT_SORT] = 3,     [TM_ACCOUNT_TABLES] = 2,
};

/* clang-format on */

static size_t part_of(size_t limit_bytes, enum tm_account account)
{
    const size_t limit = limit_bytes / 100 * 100;
    /* The summary's tables are capped, and do not shrink with the limit: the other accounts cover what they lack. */
    const size_t quarter = limit / 4;
    const size_t least = quarter < MODEL_LEAST_BYTES ? quarter : MODEL_LEAST_BYTES;
    size_t model = limit / 100 * share_pct[TM_ACCOUNT_MODEL];

    if (model < least)
        model = least;
    if (account == TM_ACCOUNT_MODEL)
        return model;
    return (limit - model) / (100 - share_pct[TM_ACCOUNT_MODEL]) * share_pct[account];
}

size_t tm_budget_part(const struct tm_budget *budget, enum tm_account account)
{
    return part_of(budget->limit_bytes, account);
}

/* The part of an account that goes into the pool. */
static size_t pool_part(size_t limit_bytes, enum tm_account account)
{
    const size_t part = part_of(limit_bytes, account);
    const size_t least = part_of((size_t)TM_MEMORY_LEAST_MIB * TM_MIB, account);

    return part > least ? (part - least) / 4 * pool_quarters[account] : 0;
}

size_t tm_budget_share(const struct tm_budget *budget, enum tm_account account)
{
    if (budget->dedications > 0 && account == budget->dedicated)
        return budget->limit_bytes / 4 * 3;
    return part_of(budget->limit_bytes, account) - pool_part(budget->limit_bytes, account);
}

void tm_budget_init(struct tm_budget *budget, size_t limit_bytes)
{
    memset(budget, 0, sizeof(*budget));
    (void)tm_budget_set_limit(budget, limit_bytes);
}

bool tm_budget_set_limit(struct tm_budget *budget, size_t limit_bytes)
{
    const size_t drawn = budget->pool_whole_bytes - budget->pool_bytes;
    size_t whole = budget->spare_bytes;

    for (int i = 0; i < TM_ACCOUNT_COUNT; i++)
        whole += pool_part(limit_bytes, (enum tm_account)i);
    if (drawn > whole)
        return false;
    budget->limit_bytes = limit_bytes;
    budget->pool_whole_bytes = whole;
    budget->pool_bytes = whole - drawn;
    return true;
}

void tm_budget_dedicate(struct tm_budget *budget, enum tm_account account)
{
    assert(budget->dedications == 0 || budget->dedicated == account);
    budget->dedications++;
    budget->dedicated = account;
}

void tm_budget_end_dedication(struct tm_budget *budget)
{
    assert(budget->dedications > 0);
    budget->dedications--;
}

void tm_budget_add_spare(struct tm_budget *budget)
{
    budget->spare_bytes += (size_t)TM_SPARE_MIB * TM_MIB;
    (void)tm_budget_set_limit(budget, budget->limit_bytes);
}

bool tm_budget_draw(struct tm_budget *budget, size_t bytes)
{
    if (budget->dedications > 0 || bytes > budget->pool_bytes / 2)
        return false;
    budget->pool_bytes -= bytes;
    return true;
}

bool tm_budget_draw_spare(struct tm_budget *budget, size_t bytes)
{
    const size_t kept = budget->pool_whole_bytes / 4 * 3;

    return budget->pool_bytes > kept && bytes <= budget->pool_bytes - kept && tm_budget_draw(budget, bytes);
}

void tm_budget_put_back(struct tm_budget *budget, size_t bytes)
{
    budget->pool_bytes += bytes;
}

static void note_taken(struct tm_budget *budget, enum tm_account account, size_t bytes)
{
    budget->used_bytes[account] += bytes;
    if (budget->used_bytes[account] > budget->peak_bytes[account])
        budget->peak_bytes[account] = budget->used_bytes[account];
}

static void note_given(struct tm_budget *budget, enum tm_account account, size_t bytes)
{
    assert(budget->used_bytes[account] >= bytes);
    budget->used_bytes[account] -= bytes;
}

static void *refuse(enum tm_account account, size_t bytes, struct tm_error *error)
{
    (void)tm_fail(error, TM_ERR_LIMIT, -1, "cannot get %zu bytes of memory for the account '%s'", bytes,
                  tm_account_name[account]);
    tm_hint(error, "lower --memory, or increase the job's memory limit");
    return NULL;
}

/* For tests: is it the turn of the request that is to be refused? */
static bool is_to_be_refused(struct tm_budget *budget)
{
    return budget->refuse_in != 0 && --budget->refuse_in == 0;
}

static void *take(size_t bytes)
{
    return tm_is_large_block(bytes) ? tm_large_block(bytes) : calloc(1, bytes != 0 ? bytes : 1);
}

static void give(void *block, size_t bytes)
{
    if (tm_is_large_block(bytes))
        tm_large_block_free(block, bytes);
    else
        free(block);
}

void *tm_take(struct tm_budget *budget, enum tm_account account, size_t bytes, struct tm_error *error)
{
    void *block = is_to_be_refused(budget) ? NULL : take(bytes);

    if (!block)
        return refuse(account, bytes, error);
    note_taken(budget, account, bytes);
    return block;
}

/* From a small block to a large one, or the other way. */
static void *copy(void *block, size_t old_bytes, size_t new_bytes)
{
    void *moved = take(new_bytes);

    if (!moved || !block)
        return moved;
    memcpy(moved, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    give(block, old_bytes);
    return moved;
}

static void *retake(void *block, size_t old_bytes, size_t new_bytes)
{
    if (tm_is_large_block(old_bytes) != tm_is_large_block(new_bytes))
        return copy(block, old_bytes, new_bytes);
    if (tm_is_large_block(new_bytes))
        return block ? tm_large_block_resize(block, old_bytes, new_bytes) : tm_large_block(new_bytes);
    return realloc(block, new_bytes != 0 ? new_bytes : 1);
}

void *tm_retake(struct tm_budget *budget, enum tm_account account, void *block, size_t old_bytes, size_t new_bytes,
                struct tm_error *error)
{
    void *moved = is_to_be_refused(budget) ? NULL : retake(block, old_bytes, new_bytes);
    /* A large block is never held twice, others are for a moment while they move. */
    const bool is_held_once = tm_is_large_block(old_bytes) && tm_is_large_block(new_bytes);

    if (!moved)
        return refuse(account, new_bytes, error);
    if (is_held_once)
        note_given(budget, account, old_bytes);
    note_taken(budget, account, new_bytes);
    if (!is_held_once)
        note_given(budget, account, old_bytes);
    return moved;
}

void tm_give(struct tm_budget *budget, enum tm_account account, void *block, size_t bytes)
{
    if (!block)
        return;
    note_given(budget, account, bytes);
    give(block, bytes);
}

char *tm_take_text(struct tm_budget *budget, enum tm_account account, const char *text, struct tm_error *error)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = tm_take(budget, account, bytes, error);

    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

void tm_give_text(struct tm_budget *budget, enum tm_account account, const char *text)
{
    if (text)
        tm_give(budget, account, (void *)(uintptr_t)text, strlen(text) + 1);
}

/* A pool that only grows.  Holds no memory of its own. */

void *tm_fixed_pool_take(void *pool, unsigned items, unsigned item_bytes)
{
    struct tm_fixed_pool *const p = pool;
    const uint64_t bytes = ((uint64_t)items * item_bytes + 15) & ~(uint64_t)15;

    if (bytes > p->room - p->used)
        return NULL;
    p->used += (size_t)bytes;
    return p->bytes + p->used - bytes;
}

void tm_fixed_pool_give(void *pool, void *block)
{
    (void)pool;
    (void)block;
}
