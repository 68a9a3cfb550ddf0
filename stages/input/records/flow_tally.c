/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/records/flow_tally.h"

#include "pipeline/store/hash.h"
#include "pipeline/store/sorter.h"

/* All that decides whether a flow is whole. */
struct flow_end {
    uint64_t key;
    int64_t start_ps;
    uint8_t kind; /* enum tm_kind */
    bool is_chained;
};

/* A slot of the table, by a hash of its key: its ends in the order of the file. */
struct key_slot {
    uint64_t key;
    int64_t start_ps[2];
    uint8_t kind[2];
    bool is_chained[2];
    uint8_t count; /* 0 = no key; IS_SORTED = its ends are in the sort */
};

enum { FIRST_SLOT_BITS = 8, BITS_STEP = 2, IS_SORTED = 3, WAITING = 16 };

struct tm_flow_tally {
    struct tm_run *run;
    enum tm_account account;
    size_t sort_bytes;
    struct key_slot *slots;
    uint32_t bits, most_bits;
    uint64_t seed;
    uint64_t keys; /* in the table */
    uint64_t count;
    struct tm_sorter *sorted;         /* struct flow_end; NULL = none yet */
    struct flow_end waiting[WAITING]; /* the last ones, by their number: see tm_flow_tally_add */
};

/* --- the flows of a key --- */

void tm_key_flow_end(const struct tm_key_flow *flow, struct tm_run *run)
{
    if (flow->is_any && !flow->is_chained && !(flow->has_begun && flow->has_ended))
        tm_tally_add(&run->tallies, TM_TALLY_UNMATCHED_FLOW, 1);
}

enum tm_kind tm_key_flow_follow(struct tm_key_flow *flow, struct tm_run *run, enum tm_kind kind, bool is_chained)
{
    if (is_chained && (!flow->has_begun || flow->has_ended))
        kind = TM_FLOW_BEGIN;
    flow->is_chained = is_chained;
    if (kind == TM_FLOW_BEGIN && flow->has_begun) {
        flow->number++;
        if (flow->has_ended)
            tm_tally_add(&run->tallies, TM_TALLY_REUSED_FLOW_ID, 1);
        tm_key_flow_end(flow, run);
        flow->has_ended = false;
    }
    flow->is_any = true;
    flow->has_begun |= kind == TM_FLOW_BEGIN;
    flow->has_ended |= kind == TM_FLOW_END;
    return kind;
}

/* --- the table --- */

static size_t table_bytes(uint32_t bits)
{
    return sizeof(struct key_slot) << bits;
}

static struct key_slot *take_table(struct tm_flow_tally *tally, uint32_t bits)
{
    return tm_take(&tally->run->budget, tally->account, table_bytes(bits), &tally->run->error);
}

struct tm_flow_tally *tm_flow_tally_new(struct tm_run *run, enum tm_account account, size_t memory_bytes)
{
    struct tm_flow_tally *tally = tm_take(&run->budget, account, sizeof(*tally), &run->error);

    if (!tally)
        return NULL;
    *tally = (struct tm_flow_tally){ .run = run, .account = account, .sort_bytes = memory_bytes / 2 };
    tally->seed = tm_hash_seed(tally);
    tally->bits = tally->most_bits = FIRST_SLOT_BITS;
    /* two tables at a time while it grows */
    while (table_bytes(tally->most_bits + BITS_STEP) + table_bytes(tally->most_bits) <= memory_bytes / 2)
        tally->most_bits += BITS_STEP;
    tally->slots = take_table(tally, tally->bits);
    if (tally->slots)
        return tally;
    tm_flow_tally_free(tally);
    return NULL;
}

void tm_flow_tally_free(struct tm_flow_tally *tally)
{
    if (!tally)
        return;
    tm_sorter_free(tally->sorted);
    tm_give(&tally->run->budget, tally->account, tally->slots, tally->slots ? table_bytes(tally->bits) : 0);
    tm_give(&tally->run->budget, tally->account, tally, sizeof(*tally));
}

static uint64_t first_place(const struct tm_flow_tally *tally, uint64_t key)
{
    return tm_hash_mix(key, tally->seed) >> (64 - tally->bits);
}

/* The slot of a key, or a free one. */
static struct key_slot *find_slot(const struct tm_flow_tally *tally, uint64_t key)
{
    const uint64_t mask = (UINT64_C(1) << tally->bits) - 1;
    uint64_t at = first_place(tally, key);

    while (tally->slots[at].count && tally->slots[at].key != key)
        at = (at + 1) & mask;
    return &tally->slots[at];
}

/* Make room for another key.  false: there is none */
static bool make_room(struct tm_flow_tally *tally)
{
    const uint64_t slots = UINT64_C(1) << tally->bits;
    struct key_slot *const old = tally->slots;

    if (tally->keys < slots / 4 * 3)
        return true;
    if (tally->bits == tally->most_bits)
        return false;
    struct key_slot *const wider = take_table(tally, tally->bits + BITS_STEP);

    if (!wider)
        return false;
    tally->slots = wider;
    tally->bits += BITS_STEP;
    for (uint64_t i = 0; i < slots; i++)
        if (old[i].count)
            *find_slot(tally, old[i].key) = old[i];
    tm_give(&tally->run->budget, tally->account, old, slots * sizeof(*old));
    return true;
}

/* --- the sort --- */

static int compare_flow_ends(const void *a, const void *b)
{
    const struct flow_end *const x = a, *const y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

static uint64_t prefix_of_flow_ends(const void *row)
{
    return ((const struct flow_end *)row)->key;
}

static void sort_end(struct tm_flow_tally *tally, const struct flow_end *end)
{
    if (!tally->sorted) {
        tally->sorted = tm_sorter_new(tally->run, tally->account, sizeof(*end), tally->sort_bytes, compare_flow_ends);
        if (!tally->sorted)
            return;
        tm_sorter_set_prefix(tally->sorted, prefix_of_flow_ends);
    }
    tm_sorter_push(tally->sorted, end);
}

/* A key gets a third end. */
static void sort_key(struct tm_flow_tally *tally, struct key_slot *slot)
{
    for (uint8_t i = 0; i < slot->count; i++)
        sort_end(tally, &(struct flow_end){ slot->key, slot->start_ps[i], slot->kind[i], slot->is_chained[i] });
    slot->count = IS_SORTED;
}

/* --- all of them --- */

static void take_end(struct tm_flow_tally *tally, const struct flow_end *end)
{
    struct key_slot *slot = find_slot(tally, end->key);

    if (!slot->count && make_room(tally)) {
        slot = find_slot(tally, end->key);
        slot->key = end->key;
        tally->keys++;
    } else if (!slot->count || slot->count == IS_SORTED || slot->count == 2) {
        if (slot->count == 2)
            sort_key(tally, slot);
        sort_end(tally, end);
        return;
    }
    slot->start_ps[slot->count] = end->start_ps;
    slot->kind[slot->count] = end->kind;
    slot->is_chained[slot->count++] = end->is_chained;
}

/* Slots are at random places, for which a report of PyTorch's JSON waited 3% of its time: an end is put there only
 * after some others, when its slot has come from memory. */
void tm_flow_tally_add(struct tm_flow_tally *tally, uint64_t key, int64_t start_ps, enum tm_kind kind, bool is_chained)
{
    struct flow_end *const place = &tally->waiting[tally->count++ % WAITING];

    if (tally->count > WAITING)
        take_end(tally, place);
    *place = (struct flow_end){ key, start_ps, (uint8_t)kind, is_chained };
    __builtin_prefetch(&tally->slots[first_place(tally, key)], 1);
}

static void take_waiting(struct tm_flow_tally *tally)
{
    for (uint64_t i = tally->count > WAITING ? tally->count - WAITING : 0; i < tally->count; i++)
        take_end(tally, &tally->waiting[i % WAITING]);
}

static void tally_slot(struct tm_flow_tally *tally, const struct key_slot *slot)
{
    const uint8_t first = slot->count == 2 && slot->start_ps[1] < slot->start_ps[0];
    struct tm_key_flow flow = { .is_any = false };

    for (uint8_t i = 0; i < slot->count; i++)
        (void)tm_key_flow_follow(&flow, tally->run, (enum tm_kind)slot->kind[i ^ first], slot->is_chained[i ^ first]);
    tm_key_flow_end(&flow, tally->run);
}

static void tally_sorted(struct tm_flow_tally *tally)
{
    struct tm_key_flow flow = { .is_any = false };
    const struct flow_end *end;
    uint64_t key = 0;

    tm_sorter_finish(tally->sorted);
    while ((end = tm_sorter_next(tally->sorted))) {
        if (end->key != key) {
            tm_key_flow_end(&flow, tally->run);
            flow = (struct tm_key_flow){ .is_any = false };
        }
        key = end->key;
        (void)tm_key_flow_follow(&flow, tally->run, (enum tm_kind)end->kind, end->is_chained);
    }
    tm_key_flow_end(&flow, tally->run);
}

void tm_flow_tally_finish(struct tm_flow_tally *tally)
{
    take_waiting(tally);
    for (uint64_t i = 0; i < UINT64_C(1) << tally->bits; i++)
        if (tally->slots[i].count && tally->slots[i].count != IS_SORTED)
            tally_slot(tally, &tally->slots[i]);
    if (tally->sorted)
        tally_sorted(tally);
}

uint64_t tm_flow_tally_count(const struct tm_flow_tally *tally)
{
    return tally->count;
}
