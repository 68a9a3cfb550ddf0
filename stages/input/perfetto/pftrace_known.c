/* SPDX-License-Identifier: Apache-2.0 */
/* Events seen before.  The first bytes and the length give the shapes to try, a hash under the mask of a shape the event.
 * The first bytes have the track and the name, so a program has as many shapes as call sites, but few masks: shapes
 * share them.  Hashes are seeded, so colliding events cannot be constructed. */
#include "stages/input/perfetto/pftrace_event.h"

#include <string.h>

#include "pipeline/run.h"
#include "pipeline/store/budget.h"
#include "pipeline/store/hash.h"

enum {
    SHAPE_WAYS = 8,
    EVENT_WAYS = 4,
    SHAPES_PER = 4,  /* places of events for each set of shapes */
    SETS_LEAST = 64, /* powers of two */
    SETS_MOST = 2048,
    MASKS_MOST = 512,
    MASK_SLOTS = 2 * MASKS_MOST,
    CREDIT_FIRST = 4096, /* an event that is found adds to it, one that is stored takes from it */
    CREDIT_MOST = 1 << 14,
    RARELY = 64, /* of this many events without credit, one is stored */
};

static_assert(TM_PFTRACE_KNOWN_BYTES <= UINT8_MAX && TM_PFTRACE_KNOWN_BYTES % 16 == 0, "a place in an event is a byte");

struct shape {
    uint64_t tag;  /* of the first bytes, the length and the state; 0 = none */
    uint64_t seed; /* of the hashes: of the tag and the mask */
    uint32_t mask;
};

struct tm_pftrace_known_events {
    struct tm_run *run;
    size_t taken, drawn; /* drawn: of it from the pool */
    uint64_t secret;
    uint32_t sets, next, credit, missed;
    bool was_tried;                 /* the event that was looked up last is not too long */
    struct shape *shapes;           /* sets * SHAPE_WAYS */
    uint64_t *keys;                 /* sets * SHAPES_PER * EVENT_WAYS; 0 = none */
    struct tm_pftrace_known *known; /* likewise */
    uint32_t mask_count;
    uint16_t mask_slots[MASK_SLOTS];                   /* by hash: the number of a mask, from 1 on; 0 = empty */
    uint8_t masks[MASKS_MOST][TM_PFTRACE_KNOWN_BYTES]; /* zeros from the length of the event on */
};

struct tm_pftrace_known_events *tm_pftrace_known_new(struct tm_run *run)
{
    const size_t events = (size_t)SHAPES_PER * EVENT_WAYS;
    const size_t one =
        SHAPE_WAYS * sizeof(struct shape) + events * (sizeof(uint64_t) + sizeof(struct tm_pftrace_known));
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_INPUT) / 8;
    struct tm_pftrace_known_events *k;
    uint32_t sets = SETS_LEAST;
    size_t taken, drawn = 0;

    while (sets < SETS_MOST && sets * 2 * one <= share)
        sets *= 2;
    while (sets < SETS_MOST && tm_budget_draw(&run->budget, sets * one)) {
        drawn += sets * one;
        sets *= 2;
    }
    taken = sizeof(*k) + sets * one;
    k = tm_take(&run->budget, TM_ACCOUNT_INPUT, taken, &run->error);
    if (!k) {
        tm_budget_put_back(&run->budget, drawn);
        return NULL;
    }
    k->run = run;
    k->taken = taken;
    k->drawn = drawn;
    k->secret = tm_hash_seed(k);
    k->sets = sets;
    k->credit = CREDIT_FIRST;
    k->shapes = (struct shape *)(k + 1);
    k->known = (struct tm_pftrace_known *)(k->shapes + (size_t)sets * SHAPE_WAYS);
    k->keys = (uint64_t *)(k->known + sets * events);
    return k;
}

void tm_pftrace_known_free(struct tm_pftrace_known_events *k)
{
    struct tm_budget *budget;
    size_t drawn;

    if (!k)
        return;
    budget = &k->run->budget;
    drawn = k->drawn;
    tm_give(budget, TM_ACCOUNT_INPUT, k, k->taken);
    tm_budget_put_back(budget, drawn);
}

static uint64_t tag_of(const struct tm_pftrace_known_events *k, uint64_t state, struct tm_wire event)
{
    const size_t length = (size_t)(event.end - event.at);
    const uint64_t first = tm_wire_fixed64(event.at), beyond = length < 8 ? 64 - 8 * length : 0;

    return tm_hash_pair(first << beyond, length << 48 ^ state, k->secret) | 1;
}

static struct shape *shapes_of(const struct tm_pftrace_known_events *k, uint64_t tag)
{
    return &k->shapes[(size_t)(tag >> 32 & (k->sets - 1)) * SHAPE_WAYS];
}

static size_t places_of(const struct tm_pftrace_known_events *k, uint64_t key)
{
    return (size_t)(key >> 32 & (k->sets * SHAPES_PER - 1)) * EVENT_WAYS;
}

/* The hash of an event under the mask of a shape. */
static uint64_t key_of(const struct tm_pftrace_known_events *k, const struct shape *shape, struct tm_wire event)
{
    const size_t length = (size_t)(event.end - event.at);
    const uint8_t *const mask = k->masks[shape->mask];
    uint64_t hash = shape->seed;

    for (size_t i = 0; i < length; i += 16) {
        const uint64_t one = tm_wire_fixed64(event.at + i) & tm_wire_fixed64(mask + i);
        const uint64_t two = i + 8 < length ? tm_wire_fixed64(event.at + i + 8) & tm_wire_fixed64(mask + i + 8) : 0;

        hash = tm_hash_fold(one ^ k->secret, two ^ hash);
    }
    return hash | 1;
}

const struct tm_pftrace_known *tm_pftrace_known_find(struct tm_pftrace_known_events *k, uint64_t state,
                                                     struct tm_wire event)
{
    const size_t length = (size_t)(event.end - event.at);
    const struct shape *shape;
    uint64_t tag;

    k->was_tried = length && length <= TM_PFTRACE_KNOWN_BYTES;
    if (!k->was_tried)
        return NULL;
    tag = tag_of(k, state, event);
    shape = shapes_of(k, tag);
    for (int way = 0; way < SHAPE_WAYS; way++, shape++) {
        const uint64_t key = shape->tag == tag ? key_of(k, shape, event) : 0;
        const size_t at = places_of(k, key);

        for (size_t i = at; key && i < at + EVENT_WAYS; i++)
            if (k->keys[i] == key) {
                k->credit += k->credit < CREDIT_MOST;
                return &k->known[i];
            }
    }
    k->missed += k->credit == 0;
    return NULL;
}

bool tm_pftrace_known_may_learn(const struct tm_pftrace_known_events *k)
{
    return k->was_tried && (k->credit || k->missed % RARELY == 0);
}

/* The number of a mask, a new one if necessary.  out: false: it is new, and there is no room */
static bool mask_of(struct tm_pftrace_known_events *k, const uint8_t mask[TM_PFTRACE_KNOWN_BYTES], uint64_t hash,
                    uint32_t *number)
{
    uint16_t *slot = &k->mask_slots[hash % MASK_SLOTS];

    while (*slot && memcmp(k->masks[*slot - 1], mask, TM_PFTRACE_KNOWN_BYTES) != 0)
        slot = slot == &k->mask_slots[MASK_SLOTS - 1] ? k->mask_slots : slot + 1;
    if (!*slot && k->mask_count == MASKS_MOST)
        return false;
    if (!*slot) {
        memcpy(k->masks[k->mask_count], mask, TM_PFTRACE_KNOWN_BYTES);
        *slot = (uint16_t)++k->mask_count;
    }
    *number = *slot - 1u;
    return true;
}

/* The shape with this tag and mask, which replaces another one if it is new. */
static const struct shape *shape_of(struct tm_pftrace_known_events *k, const struct shape *wanted)
{
    struct shape *const shapes = shapes_of(k, wanted->tag);
    int way = 0;

    while (way < SHAPE_WAYS && (shapes[way].tag != wanted->tag || shapes[way].mask != wanted->mask))
        way++;
    if (way < SHAPE_WAYS)
        return &shapes[way];
    for (way = 0; way < SHAPE_WAYS && shapes[way].tag;)
        way++;
    way = way < SHAPE_WAYS ? way : (int)(k->next++ % SHAPE_WAYS);
    shapes[way] = *wanted;
    return &shapes[way];
}

void tm_pftrace_known_learn(struct tm_pftrace_known_events *k, uint64_t state, struct tm_wire event,
                            const struct tm_pftrace_number *numbers, size_t count, const struct tm_pftrace_known *known)
{
    struct shape wanted = { .tag = tag_of(k, state, event) };
    const size_t length = (size_t)(event.end - event.at);
    uint8_t mask[TM_PFTRACE_KNOWN_BYTES] = { 0 };
    uint64_t key, hash;
    size_t at, i;

    memset(mask, 0xff, length);
    for (i = 0; i < count; i++) /* 0x80: whether the number continues */
        memset(mask + numbers[i].at, numbers[i].is_flow ? 0 : 0x80, numbers[i].bytes);
    hash = tm_hash_text((const char *)mask, sizeof(mask), k->secret);
    if (!mask_of(k, mask, hash, &wanted.mask))
        return;
    wanted.seed = hash ^ wanted.tag;
    key = key_of(k, shape_of(k, &wanted), event);
    at = places_of(k, key);
    for (i = at; i < at + EVENT_WAYS && k->keys[i] && k->keys[i] != key;)
        i++;
    if (i == at + EVENT_WAYS)
        i = at + k->next++ % EVENT_WAYS;
    k->credit -= k->credit > 0;
    k->keys[i] = key;
    k->known[i] = *known;
}
