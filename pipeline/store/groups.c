/* SPDX-License-Identifier: Apache-2.0 */
/* Grouping: rows in a window, found through an open table of row numbers that is at most half full.  A slot has some
 * bits of the key's hash beside the number, so that a row is examined mostly when it is the right one.  When the window
 * is full, its rows are sorted by key in the memory of the table, and are written as a run.  Equal keys of different
 * runs are folded by the merge. */
#include "pipeline/store/groups.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "pipeline/store/hash.h"
#include "pipeline/store/sorter.h"

/* A table has 2 to 4 slots of 4 bytes per row; a sort needs two tags. */
enum { TABLE_BYTES_PER_ROW = 2 * sizeof(struct tm_tag), BITS_LEAST = 6 };

struct tm_groups {
    struct tm_run *run;
    enum tm_account account;
    size_t memory_bytes;
    tm_row_merge *merge;
    struct tm_window window;
    uint32_t *slots;     /* the lowest `bits` bits: row number + 1, 0 = empty; above them bits of the hash */
    uint32_t bits;       /* 1 << bits slots; 0 = none yet */
    struct tm_tag *tags; /* instead of slots while rows are returned in order */
    size_t tags_bytes;
    uint64_t seed;
    struct tm_runs *runs; /* NULL = everything is in the window */
    size_t next;
    bool is_finished;
};

struct tm_key tm_hash_key(const void *bytes, size_t length)
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, length);

    return (struct tm_key){ hash.high64, hash.low64 };
}

struct tm_key tm_hash_texts(const char *const text[], size_t count)
{
    XXH128_hash_t hash = { .low64 = 0, .high64 = 0 };

    for (size_t i = 0; i < count; i++) {
        const char *const at = text[i] ? text[i] : "";

        hash = XXH3_128bits_withSeed(at, strlen(at), hash.low64 ^ hash.high64);
    }
    return (struct tm_key){ hash.high64, hash.low64 };
}

struct tm_groups *tm_groups_new(struct tm_run *run, enum tm_account account, size_t row_bytes, size_t memory_bytes,
                                tm_row_merge *merge)
{
    assert(row_bytes >= sizeof(struct tm_key));
    struct tm_groups *groups = tm_take(&run->budget, account, sizeof(*groups), &run->error);

    if (!groups)
        return NULL;
    const size_t memory = memory_bytes - memory_bytes / 16;
    const size_t buffer = tm_runs_buffer_bytes(row_bytes, memory);

    groups->run = run;
    groups->account = account;
    groups->memory_bytes = memory;
    groups->merge = merge;
    groups->seed = tm_hash_seed(groups);
    tm_window_init(&groups->window, run, account, row_bytes, TABLE_BYTES_PER_ROW,
                   memory > buffer ? memory - buffer : 0);
    return groups;
}

static size_t slots_bytes(const struct tm_groups *groups)
{
    return groups->slots ? sizeof(uint32_t) << groups->bits : 0;
}

static void give_slots(struct tm_groups *groups)
{
    tm_give(&groups->run->budget, groups->account, groups->slots, slots_bytes(groups));
    groups->slots = NULL;
}

static void give_tags(struct tm_groups *groups)
{
    tm_give(&groups->run->budget, groups->account, groups->tags, groups->tags_bytes);
    groups->tags = NULL;
}

void tm_groups_free(struct tm_groups *groups)
{
    if (!groups)
        return;
    give_slots(groups);
    give_tags(groups);
    tm_runs_free(groups->runs);
    tm_window_close(&groups->window);
    tm_give(&groups->run->budget, groups->account, groups, sizeof(*groups));
}

size_t tm_groups_row_bytes(const struct tm_groups *groups)
{
    return groups->window.row_bytes;
}

static inline struct tm_key key_of(const void *row)
{
    struct tm_key key;

    memcpy(&key, row, sizeof(key));
    return key;
}

static int by_key(const void *a, const void *b)
{
    return tm_key_order(key_of(a), key_of(b));
}

static uint64_t prefix_of(const void *row)
{
    return key_of(row).high;
}

static inline uint64_t hash_of(const struct tm_groups *groups, struct tm_key key)
{
    return tm_hash_pair(key.high, key.low, groups->seed);
}

/* The slot of the key: its own, or the empty one where it belongs. */
static inline uint32_t *find_slot(const struct tm_groups *groups, struct tm_key key, uint64_t hash)
{
    const size_t mask = ((size_t)1 << groups->bits) - 1;

    for (size_t i = hash >> (64 - groups->bits);; i = (i + 1) & mask) {
        uint32_t *slot = &groups->slots[i];

        if (*slot == 0)
            return slot;
        if ((*slot ^ (uint32_t)hash) & ~(uint32_t)mask)
            continue;
        if (tm_is_same_key(key_of(tm_window_at(&groups->window, (*slot & mask) - 1)), key))
            return slot;
    }
}

/* Fill an empty slot with the number of a row. */
static inline void fill_slot(const struct tm_groups *groups, uint32_t *slot, uint64_t hash, size_t number)
{
    const uint32_t mask = (UINT32_C(1) << groups->bits) - 1;

    *slot = ((uint32_t)hash & ~mask) | (uint32_t)(number + 1);
}

/* A table for one row more than there are, filled with the rows; once rows were spilled, for a full window. */
static tm_status widen_slots(struct tm_groups *groups)
{
    struct tm_run *run = groups->run;
    const size_t rows = groups->runs ? groups->window.capacity : groups->window.count + 1;
    uint32_t bits = BITS_LEAST;

    while (((size_t)1 << bits) < 2 * rows)
        bits++;
    give_slots(groups);
    groups->slots = tm_take(&run->budget, groups->account, sizeof(uint32_t) << bits, &run->error);
    if (!groups->slots)
        return run->error.status;
    groups->bits = bits;
    for (size_t i = 0; i < groups->window.count; i++) {
        const struct tm_key key = key_of(tm_window_at(&groups->window, i));
        const uint64_t hash = hash_of(groups, key);

        fill_slot(groups, find_slot(groups, key, hash), hash, i);
    }
    return TM_OK;
}

/* Sort the rows, in the memory of the table. */
static tm_status sort_rows(struct tm_groups *groups)
{
    struct tm_run *run = groups->run;

    give_slots(groups);
    groups->tags_bytes = 2 * groups->window.count * sizeof(struct tm_tag);
    groups->tags = tm_take(&run->budget, groups->account, groups->tags_bytes, &run->error);
    if (!groups->tags)
        return run->error.status;
    tm_window_sort(&groups->window, groups->tags, by_key, prefix_of);
    return TM_OK;
}

static tm_status open_runs(struct tm_groups *groups)
{
    const struct tm_runs_setup setup = {
        .account = groups->account,
        .row_bytes = groups->window.row_bytes,
        .memory_bytes = groups->memory_bytes + groups->window.drawn_bytes,
        .order = by_key,
        .prefix = prefix_of,
        .merge = groups->merge,
    };

    groups->runs = tm_runs_new(groups->run, &setup);
    return groups->runs ? TM_OK : groups->run->error.status;
}

static tm_status spill_window(struct tm_groups *groups)
{
    tm_status status = groups->runs ? TM_OK : open_runs(groups);

    if (groups->window.count == 0)
        return status;
    if (status == TM_OK)
        status = sort_rows(groups);
    for (size_t i = 0; status == TM_OK && i < groups->window.count; i++)
        status = tm_runs_put(groups->runs, tm_window_at(&groups->window, groups->tags[i].number));
    give_tags(groups);
    if (status == TM_OK)
        status = tm_runs_end(groups->runs);
    groups->window.count = 0;
    if (status == TM_OK && tm_runs_need_merge(groups->runs)) {
        tm_window_release(&groups->window);
        status = tm_runs_merge(groups->runs);
    }
    return status;
}

/* Room for one row more, and for its slot. */
static tm_status make_room(struct tm_groups *groups)
{
    struct tm_window *window = &groups->window;
    tm_status status = groups->run->error.status;

    if (status == TM_OK && tm_window_is_full(window) && !tm_window_can_grow(window))
        status = spill_window(groups);
    if (status == TM_OK && tm_window_is_full(window))
        status = tm_window_grow(window);
    if (status == TM_OK && slots_bytes(groups) / sizeof(uint32_t) < 2 * (window->count + 1))
        status = widen_slots(groups);
    return status;
}

static tm_status add_new(struct tm_groups *groups, const void *row, uint64_t hash)
{
    struct tm_window *window = &groups->window;

    if (tm_window_is_full(window) || slots_bytes(groups) / sizeof(uint32_t) < 2 * (window->count + 1)) {
        const tm_status status = make_room(groups);

        if (status != TM_OK)
            return status;
    }
    memcpy(tm_window_at(window, window->count), row, window->row_bytes);
    fill_slot(groups, find_slot(groups, key_of(row), hash), hash, window->count);
    window->count++;
    return TM_OK;
}

void tm_groups_add(struct tm_groups *groups, const void *row)
{
    const struct tm_key key = key_of(row);
    const uint64_t hash = hash_of(groups, key);

    assert(!groups->is_finished);
    if (groups->slots) {
        const uint32_t slot = *find_slot(groups, key, hash);

        if (slot != 0) {
            groups->merge(tm_window_at(&groups->window, (slot & ((UINT32_C(1) << groups->bits) - 1)) - 1), row);
            return;
        }
    }
    (void)add_new(groups, row, hash);
}

static tm_status finish(struct tm_groups *groups)
{
    if (!groups->runs)
        return sort_rows(groups);
    tm_status status = spill_window(groups);

    give_slots(groups);
    tm_window_release(&groups->window);
    if (status == TM_OK)
        status = tm_runs_finish(groups->runs);
    return status;
}

void tm_groups_finish(struct tm_groups *groups)
{
    const bool is_again = groups->is_finished;

    groups->is_finished = true;
    if (tm_failed(groups->run))
        return;
    if (is_again)
        tm_groups_rewind(groups);
    else
        (void)finish(groups);
}

const void *tm_groups_next(struct tm_groups *groups)
{
    const void *row = NULL;

    assert(groups->is_finished);
    if (tm_failed(groups->run))
        return NULL;
    if (groups->runs)
        return tm_runs_next(groups->runs, &row) == TM_OK ? row : NULL;
    return groups->next < groups->window.count ? tm_window_at(&groups->window, groups->tags[groups->next++].number)
                                               : NULL;
}

void tm_groups_rewind(struct tm_groups *groups)
{
    groups->next = 0;
    if (groups->runs && !tm_failed(groups->run))
        tm_runs_rewind(groups->runs);
}
