/* SPDX-License-Identifier: Apache-2.0 */
/* Grouping: rows in a window, found through an open table of row numbers that is at most half full.
 * When the window is full, the table's memory serves to sort the rows by key, and they go out as a
 * run.  Equal keys of different runs are folded by the merge. */
#include "pipeline/groups.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "pipeline/hash.h"
#include "pipeline/runs.h"
#include "pipeline/window.h"

/* A table has 2 to 4 slots of 4 bytes per row, and once more while it grows from an eighth. */
enum { SLOT_BYTES_PER_ROW = 18 };

struct tm_groups {
    struct tm_run *run;
    enum tm_account account;
    size_t memory_bytes;
    tm_row_merge *merge;
    struct tm_window window;
    uint32_t *slots; /* row number + 1, 0 = empty; once sorted: the row numbers in order */
    uint32_t bits;   /* 1 << bits slots; 0 = none yet */
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

struct tm_groups *tm_groups_new(struct tm_run *run, enum tm_account account, size_t row_bytes,
                                size_t memory_bytes, tm_row_merge *merge)
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
    tm_window_init(&groups->window, run, account, row_bytes, SLOT_BYTES_PER_ROW,
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

void tm_groups_free(struct tm_groups *groups)
{
    if (!groups)
        return;
    give_slots(groups);
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

static inline size_t first_slot(const struct tm_groups *groups, struct tm_key key)
{
    return tm_hash_mix(key.low ^ (key.high << 29 | key.high >> 35), groups->seed) >>
           (64 - groups->bits);
}

/* The slot of the key: its own, or the empty one where it belongs. */
static inline uint32_t *find_slot(const struct tm_groups *groups, struct tm_key key)
{
    const size_t mask = ((size_t)1 << groups->bits) - 1;

    for (size_t i = first_slot(groups, key);; i = (i + 1) & mask) {
        uint32_t *slot = &groups->slots[i];

        if (*slot == 0)
            return slot;
        const struct tm_key other = key_of(tm_window_at(&groups->window, *slot - 1));

        if (tm_is_same_key(other, key))
            return slot;
    }
}

/* A table for the present capacity of the window, filled with its rows. */
static tm_status build_slots(struct tm_groups *groups)
{
    struct tm_run *run = groups->run;
    uint32_t bits = 4;

    while (((size_t)1 << bits) < 2 * groups->window.capacity)
        bits++;
    give_slots(groups);
    groups->slots = tm_take(&run->budget, groups->account, sizeof(uint32_t) << bits, &run->error);
    if (!groups->slots)
        return run->error.status;
    groups->bits = bits;
    for (size_t i = 0; i < groups->window.count; i++)
        *find_slot(groups, key_of(tm_window_at(&groups->window, i))) = (uint32_t)i + 1;
    return TM_OK;
}

/* Sort the rows; the table becomes the list of their numbers. */
static void sort_rows(struct tm_groups *groups)
{
    const size_t n = groups->window.count;

    for (size_t i = 0; i < n; i++)
        groups->slots[i] = (uint32_t)i;
    if (n > 1) /* a table has at least two slots per row: the second half is scratch */
        tm_window_sort(&groups->window, groups->slots, groups->slots + n, n, by_key);
}

static tm_status open_runs(struct tm_groups *groups)
{
    const struct tm_runs_setup setup = {
        .account = groups->account,
        .row_bytes = groups->window.row_bytes,
        .memory_bytes = groups->memory_bytes + groups->window.drawn_bytes,
        .order = by_key,
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
    sort_rows(groups);
    for (size_t i = 0; status == TM_OK && i < groups->window.count; i++)
        status = tm_runs_put(groups->runs, tm_window_at(&groups->window, groups->slots[i]));
    if (status == TM_OK)
        status = tm_runs_end(groups->runs);
    groups->window.count = 0;
    memset(groups->slots, 0, slots_bytes(groups));
    if (status == TM_OK && tm_runs_need_merge(groups->runs)) {
        give_slots(groups);
        tm_window_release(&groups->window);
        status = tm_runs_merge(groups->runs);
    }
    return status;
}

static tm_status make_room(struct tm_groups *groups)
{
    tm_status status = TM_OK;

    if (!tm_window_can_grow(&groups->window))
        status = spill_window(groups);
    if (status != TM_OK || !tm_window_is_full(&groups->window))
        return status;
    status = tm_window_grow(&groups->window);
    return status == TM_OK ? build_slots(groups) : status;
}

tm_status tm_groups_add(struct tm_groups *groups, const void *row)
{
    struct tm_window *window = &groups->window;

    assert(!groups->is_finished);
    if (window->capacity != 0) {
        uint32_t *slot = find_slot(groups, key_of(row));

        if (*slot != 0) {
            groups->merge(tm_window_at(window, *slot - 1), row);
            return TM_OK;
        }
    }
    if (tm_window_is_full(window)) {
        const tm_status status = make_room(groups);

        if (status != TM_OK)
            return status;
    }
    memcpy(tm_window_at(window, window->count), row, window->row_bytes);
    *find_slot(groups, key_of(row)) = (uint32_t)++window->count;
    return TM_OK;
}

tm_status tm_groups_finish(struct tm_groups *groups)
{
    if (groups->is_finished)
        return tm_groups_rewind(groups);
    groups->is_finished = true;
    if (!groups->runs) {
        sort_rows(groups);
        return TM_OK;
    }
    tm_status status = spill_window(groups);

    give_slots(groups);
    tm_window_release(&groups->window);
    if (status == TM_OK)
        status = tm_runs_finish(groups->runs);
    return status;
}

tm_status tm_groups_next(struct tm_groups *groups, const void **row)
{
    assert(groups->is_finished);
    if (groups->runs)
        return tm_runs_next(groups->runs, row);
    *row = groups->next < groups->window.count
               ? tm_window_at(&groups->window, groups->slots[groups->next++])
               : NULL;
    return TM_OK;
}

tm_status tm_groups_rewind(struct tm_groups *groups)
{
    groups->next = 0;
    return groups->runs ? tm_runs_rewind(groups->runs) : TM_OK;
}
