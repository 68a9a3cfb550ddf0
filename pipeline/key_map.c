/* SPDX-License-Identifier: Apache-2.0 */
/* An open table in rows that page: at most half full, doubled by moving everything into one twice as large.  Keys of a
 * family lie side by side: where numbers that follow each other come one after the other, a page of a spilled table is
 * read and written once for dozens of them, not once for each. */
#include "pipeline/key_map.h"

#include <assert.h>

#include "pipeline/hash.h"
#include "pipeline/rows.h"

enum { FIRST_BITS = 8, PAGE_BYTES = 4 << 10 };

struct slot {
    struct tm_key family;
    uint64_t number; /* plus one; 0 = empty */
    uint32_t member;
};
static_assert(PAGE_BYTES % sizeof(struct slot) == 0, "pages of the table are whole blocks of the spill file");

struct tm_key_map {
    struct tm_run *run;
    enum tm_account account;
    size_t memory_bytes;
    struct tm_rows *slots; /* struct slot, 1 << bits of them */
    uint32_t bits;
    uint64_t count, seed;
};

static struct tm_rows *make_slots(struct tm_key_map *map, uint32_t bits)
{
    /* While one table is moved into the next there are two. */
    struct tm_rows *slots =
        tm_rows_new_paged(map->run, map->account, sizeof(struct slot), map->memory_bytes / 2, PAGE_BYTES);

    if (slots)
        tm_rows_expect_random(slots);
    if (slots && tm_rows_resize(slots, UINT64_C(1) << bits) == TM_OK)
        return slots;
    tm_rows_free(slots);
    return NULL;
}

struct tm_key_map *tm_key_map_new(struct tm_run *run, enum tm_account account, size_t memory_bytes)
{
    struct tm_key_map *map = tm_take(&run->budget, account, sizeof(*map), &run->error);

    if (!map)
        return NULL;
    *map = (struct tm_key_map){ .run = run, .account = account, .memory_bytes = memory_bytes, .bits = FIRST_BITS,
                                .seed = tm_hash_seed(map) };
    map->slots = make_slots(map, FIRST_BITS);
    if (map->slots)
        return map;
    tm_key_map_free(map);
    return NULL;
}

void tm_key_map_free(struct tm_key_map *map)
{
    if (!map)
        return;
    tm_rows_free(map->slots);
    tm_give(&map->run->budget, map->account, map, sizeof(*map));
}

/* The place of a key among 1 << bits slots: its own, or the empty one where it belongs.
 * errors: NULL where the spill file failed */
static const struct slot *find(const struct tm_key_map *map, struct tm_rows *slots, uint32_t bits,
                               struct tm_key family, uint32_t member, uint64_t *at)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;

    *at = (tm_hash_pair(family.high, family.low, map->seed) >> (64 - bits)) + member;
    for (;;) {
        const struct slot *slot;
        uint64_t count;

        *at &= mask;
        slot = tm_rows_span(slots, *at, &count);
        for (; slot && count; slot++, count--, ++*at) {
            if (!slot->number || (tm_is_same_key(slot->family, family) && slot->member == member))
                return slot;
        }
        if (!slot)
            return NULL;
    }
}

static tm_status put(const struct tm_key_map *map, struct tm_rows *slots, uint32_t bits, const struct slot *row)
{
    struct slot *slot;
    uint64_t at;

    if (!find(map, slots, bits, row->family, row->member, &at))
        return map->run->error.status;
    slot = tm_rows_change(slots, at);
    if (!slot)
        return map->run->error.status;
    *slot = *row;
    return TM_OK;
}

static tm_status grow(struct tm_key_map *map)
{
    const uint32_t bits = map->bits + 1;
    struct tm_rows *larger = make_slots(map, bits);
    tm_status st = larger ? TM_OK : map->run->error.status;

    for (uint64_t i = 0; i < UINT64_C(1) << map->bits && st == TM_OK; i++) {
        const struct slot *slot = tm_rows_at(map->slots, i);

        if (!slot)
            st = map->run->error.status;
        else if (slot->number)
            st = put(map, larger, bits,
                     &(struct slot){ .family = slot->family, .number = slot->number, .member = slot->member });
    }
    if (st != TM_OK) {
        tm_rows_free(larger);
        return st;
    }
    tm_rows_free(map->slots);
    map->slots = larger;
    map->bits = bits;
    return TM_OK;
}

tm_status tm_key_map_number(struct tm_key_map *map, struct tm_key family, uint32_t member, uint64_t *number)
{
    uint64_t at;
    const struct slot *slot = find(map, map->slots, map->bits, family, member, &at);
    tm_status st = TM_OK;

    assert(member < 1U << TM_KEY_MEMBER_BITS);
    if (!slot)
        return map->run->error.status;
    if (slot->number) {
        *number = slot->number - 1;
        return TM_OK;
    }
    if (2 * map->count >= UINT64_C(1) << map->bits)
        st = grow(map);
    if (st == TM_OK)
        st = put(map, map->slots, map->bits,
                 &(struct slot){ .family = family, .number = map->count + 1, .member = member });
    if (st == TM_OK)
        *number = map->count++;
    return st;
}
