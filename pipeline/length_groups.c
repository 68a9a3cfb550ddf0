/* SPDX-License-Identifier: Apache-2.0 */
/* An open table of numbers, half full at the most.  The memory of a group: 8 bytes for itself, 8
 * for slots, 16 while they are put in order; the same covers the smaller tables that are held while
 * they move to larger ones. */
#include "pipeline/length_groups.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/hash.h"
#include "pipeline/record.h"

enum { FIRST_CAPACITY = 16 };

void tm_length_groups_init(struct tm_length_groups *groups, struct tm_run *run,
                           enum tm_account account, size_t memory_bytes)
{
    *groups = (struct tm_length_groups){
        .run = run, .account = account, .memory_bytes = memory_bytes, .seed = tm_hash_seed(groups)
    };
}

static void give_tables(struct tm_length_groups *groups)
{
    struct tm_budget *budget = &groups->run->budget;

    tm_give(budget, groups->account, groups->groups, groups->capacity * sizeof(*groups->groups));
    tm_give(budget, groups->account, groups->slots, 2 * groups->capacity * sizeof(*groups->slots));
    groups->groups = NULL;
    groups->slots = NULL;
}

void tm_length_groups_release(struct tm_length_groups *groups)
{
    if (!groups->run)
        return;
    give_tables(groups);
    tm_budget_put_back(&groups->run->budget, groups->drawn_bytes);
    *groups = (struct tm_length_groups){ .run = NULL };
}

void tm_length_groups_forget(struct tm_length_groups *groups)
{
    groups->count = 0;
    if (groups->slots)
        memset(groups->slots, 0, 2 * groups->capacity * sizeof(*groups->slots));
}

/* The slot of a group: its own, or the empty one where it belongs. */
static uint32_t *find_slot(const struct tm_length_groups *groups, uint64_t group)
{
    const uint32_t mask = 2 * groups->capacity - 1;

    for (uint32_t i = (uint32_t)tm_hash_mix(group, groups->seed) & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &groups->slots[i];

        if (!*slot || groups->groups[*slot - 1] == group)
            return slot;
    }
}

/* Whether there is memory for so many, within its own or because the pool gives the rest. */
static bool has_memory_for(struct tm_length_groups *groups, uint32_t capacity)
{
    const size_t needed = (size_t)capacity * TM_LENGTH_GROUP_BYTES;
    const size_t have = groups->memory_bytes + groups->drawn_bytes;

    if (capacity > TM_LENGTH_GROUPS_MOST)
        return false;
    if (capacity == FIRST_CAPACITY || needed <= have)
        return true;
    if (!tm_budget_draw(&groups->run->budget, needed - have))
        return false;
    groups->drawn_bytes += needed - have;
    return true;
}

static tm_status grow(struct tm_length_groups *groups, uint32_t capacity)
{
    struct tm_run *run = groups->run;
    struct tm_length_groups larger = *groups;

    larger.capacity = capacity;
    larger.groups =
        tm_take(&run->budget, groups->account, capacity * sizeof(*larger.groups), &run->error);
    larger.slots =
        tm_take(&run->budget, groups->account, 2 * capacity * sizeof(*larger.slots), &run->error);
    if (!larger.groups || !larger.slots) {
        give_tables(&larger);
        return run->error.status;
    }
    for (uint32_t i = 0; i < groups->count; i++) {
        larger.groups[i] = groups->groups[i];
        *find_slot(&larger, larger.groups[i]) = i + 1;
    }
    give_tables(groups);
    *groups = larger;
    return TM_OK;
}

tm_status tm_length_groups_number(struct tm_length_groups *groups, uint64_t group, uint32_t *number)
{
    uint32_t *slot = groups->slots ? find_slot(groups, group) : NULL;

    *number = TM_NONE;
    if (slot && *slot) {
        *number = *slot - 1;
        return TM_OK;
    }
    if (groups->count == groups->capacity) {
        const uint32_t capacity = groups->capacity ? 2 * groups->capacity : FIRST_CAPACITY;

        if (!has_memory_for(groups, capacity))
            return TM_OK;
        if (grow(groups, capacity) != TM_OK)
            return groups->run->error.status;
        slot = find_slot(groups, group);
    }
    *number = groups->count++;
    groups->groups[*number] = group;
    *slot = groups->count;
    return TM_OK;
}

static int by_group(const void *a, const void *b)
{
    const struct tm_length_group *x = a, *y = b;

    return (x->group > y->group) - (x->group < y->group);
}

struct tm_length_group *tm_length_groups_order(struct tm_length_groups *groups)
{
    struct tm_run *run = groups->run;
    struct tm_length_group *order =
        tm_take(&run->budget, groups->account, groups->count * sizeof(*order), &run->error);

    for (uint32_t i = 0; order && i < groups->count; i++)
        order[i] = (struct tm_length_group){ groups->groups[i], i };
    if (order)
        qsort(order, groups->count, sizeof(*order), by_group);
    return order;
}

void tm_length_groups_give_order(struct tm_length_groups *groups, struct tm_length_group *order)
{
    tm_give(&groups->run->budget, groups->account, order, groups->count * sizeof(*order));
}
