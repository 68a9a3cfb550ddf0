/* SPDX-License-Identifier: Apache-2.0 */
/* Correlation ids count up while a run goes on, and the lines of a trace are read one after the other: each of them has
 * ids that go up with gaps, which the next ones fill.  So rows lie by key from the start, the block grows at either end,
 * and a look-up is one access.  Keys of executions are hashes: the second one tells that they are sparse. */
#include "stages/resolve/launches.h"

#include <assert.h>
#include <string.h>

#include "pipeline/store/budget.h"

enum {
    ROWS_PER_KEY = 8, /* that the dense form may have at most, and some more: */
    ROWS_SPARE = 16 << 10,
    ROWS_ALIGNED = 1 << 10, /* the first key is rounded down: those of other lines may begin a little before */
    LARGE_BYTES = 2 << 20,
    WIDE_PAGE_BYTES = 16 << 10,
    ROW_BYTES = sizeof(struct tm_short_launch),
};
static_assert(TM_THREADS_MOST - 1 <= 0xfff && TM_DIRECTION_COUNT - 1 <= TM_LAUNCH_DIRECTION_MASK, "bits of `rest`");

struct tm_sparse_launch {
    uint64_t key;
    struct tm_short_launch row;
};

/* What a short row has no room for. */
struct tm_wide_launch {
    int64_t dur_ps;
    uint32_t track, thread;
};

struct tm_launches *tm_launches_new(struct tm_run *run, size_t memory_bytes)
{
    struct tm_launches *l = tm_take(&run->budget, TM_ACCOUNT_LAUNCHES, sizeof(*l), &run->error);

    if (!l)
        return NULL;
    l->run = run;
    l->memory_bytes = memory_bytes > sizeof(*l) ? memory_bytes - sizeof(*l) : 0;
    return l;
}

static void release_rows(struct tm_launches *l)
{
    tm_give(&l->run->budget, TM_ACCOUNT_LAUNCHES, l->rows, l->capacity * ROW_BYTES);
    tm_budget_put_back(&l->run->budget, l->drawn_bytes);
    l->rows = NULL;
    l->capacity = l->used = l->drawn_bytes = 0;
}

void tm_launches_free(struct tm_launches *l)
{
    if (!l)
        return;
    release_rows(l);
    tm_index_free(l->sparse);
    tm_rows_free(l->wide);
    tm_give(&l->run->budget, TM_ACCOUNT_LAUNCHES, l, sizeof(*l));
}

/* Shares of the memory: an eighth for wide rows, a quarter for dense ones, the rest for sparse ones. */
static size_t dense_bytes(const struct tm_launches *l)
{
    return l->memory_bytes / 4;
}

static bool replaces_row(const struct tm_short_launch *old, const struct tm_short_launch *new)
{
    const bool is_named = (new->rest &TM_LAUNCH_NAMED) != 0;

    if (((old->rest & TM_LAUNCH_NAMED) != 0) != is_named)
        return is_named;
    return new->start_ps < old->start_ps;
}

static bool replaces_sparse(const void *a, const void *b)
{
    return replaces_row(&((const struct tm_sparse_launch *)a)->row, &((const struct tm_sparse_launch *)b)->row);
}

static tm_status put_wide(struct tm_launches *l, const struct tm_launch *launch, uint64_t *number)
{
    const struct tm_wide_launch wide = { launch->dur_ps, launch->track, launch->thread };

    if (!l->wide)
        l->wide = tm_rows_new_paged(l->run, TM_ACCOUNT_LAUNCHES, sizeof(wide), l->memory_bytes / 8, WIDE_PAGE_BYTES);
    if (!l->wide)
        return l->run->error.status;
    *number = tm_rows_count(l->wide);
    return tm_rows_append(l->wide, &wide);
}

tm_status tm_launches_widen(struct tm_launches *l, struct tm_launch *launch)
{
    const struct tm_wide_launch *wide = tm_rows_at(l->wide, (uint64_t)launch->dur_ps);

    if (!wide)
        return l->run->error.status;
    launch->dur_ps = wide->dur_ps;
    launch->track = wide->track;
    launch->thread = wide->thread;
    return TM_OK;
}

static tm_status pack(struct tm_launches *l, const struct tm_launch *launch, struct tm_short_launch *row)
{
    const bool fits = (uint64_t)launch->dur_ps >> (64 - TM_LAUNCH_DUR_SHIFT) == 0 && launch->thread < TM_THREADS_MOST;
    const uint32_t thread = fits ? launch->thread : 0;
    uint64_t dur_bits = (uint64_t)launch->dur_ps;
    tm_status st = TM_OK;

    if (fits)
        l->tracks[thread] = launch->track;
    else
        st = put_wide(l, launch, &dur_bits);
    row->start_ps = launch->start_ps;
    row->rest = TM_LAUNCH_THERE | (launch->is_named ? TM_LAUNCH_NAMED : 0) |
                (launch->is_uncertain ? TM_LAUNCH_UNCERTAIN : 0) | (fits ? 0 : TM_LAUNCH_WIDE) |
                (uint64_t)launch->direction << TM_LAUNCH_DIRECTION_SHIFT | (uint64_t)thread << TM_LAUNCH_THREAD_SHIFT |
                dur_bits << TM_LAUNCH_DUR_SHIFT;
    return st;
}

static tm_status put_sparse(struct tm_launches *l, uint64_t key, struct tm_short_launch row)
{
    return tm_index_put(l->sparse, &(struct tm_sparse_launch){ key, row });
}

/* From now on all of them are in `sparse`.  For a moment both are held, each within its own share. */
static tm_status become_sparse(struct tm_launches *l)
{
    const size_t bytes = l->memory_bytes - dense_bytes(l) - l->memory_bytes / 8;
    tm_status st = TM_OK;

    l->sparse = tm_index_new(l->run, TM_ACCOUNT_LAUNCHES, sizeof(struct tm_sparse_launch), bytes, TM_INDEX_ASK,
                             replaces_sparse);
    if (!l->sparse)
        return l->run->error.status;
    for (size_t i = 0; i < l->used && st == TM_OK; i++) {
        if (l->rows[i].rest != 0)
            st = put_sparse(l, l->least_key + i, l->rows[i]);
    }
    release_rows(l);
    return st;
}

/* How many rows the block has next, so that `needed` fit: twice as many while it is small, then a quarter more. */
static size_t next_capacity(const struct tm_launches *l, size_t needed)
{
    const size_t bytes = needed * ROW_BYTES;
    const size_t more = l->capacity * ROW_BYTES < LARGE_BYTES ? l->capacity * 2 : l->capacity / 4 * 5;
    const size_t wanted = needed > more ? needed : more;

    if (bytes < LARGE_BYTES)
        return (wanted + ROWS_ALIGNED - 1) / ROWS_ALIGNED * ROWS_ALIGNED;
    return (wanted * ROW_BYTES + LARGE_BYTES - 1) / LARGE_BYTES * (LARGE_BYTES / ROW_BYTES);
}

/* A small block is held twice while it moves. */
static bool may_have(struct tm_launches *l, size_t capacity)
{
    const size_t old_bytes = l->capacity * ROW_BYTES;
    const size_t bytes = capacity * ROW_BYTES + (tm_is_large_block(old_bytes) ? 0 : old_bytes);
    const size_t sure = dense_bytes(l) + l->drawn_bytes;

    if (bytes <= sure)
        return true;
    if (!tm_budget_draw(&l->run->budget, bytes - sure))
        return false;
    l->drawn_bytes += bytes - sure;
    return true;
}

static tm_status resize(struct tm_launches *l, size_t capacity)
{
    struct tm_run *run = l->run;
    struct tm_short_launch *rows = tm_retake(&run->budget, TM_ACCOUNT_LAUNCHES, l->rows, l->capacity * ROW_BYTES,
                                             capacity * ROW_BYTES, &run->error);

    if (!rows)
        return run->error.status;
    if (capacity > l->capacity && !tm_is_large_block(capacity * ROW_BYTES)) /* a large block is zero already */
        memset(rows + l->capacity, 0, (capacity - l->capacity) * ROW_BYTES);
    l->rows = rows;
    l->capacity = capacity;
    return TM_OK;
}

static void shift_up(struct tm_launches *l, size_t rows)
{
    memmove(l->rows + rows, l->rows, l->used * ROW_BYTES);
    memset(l->rows, 0, (rows < l->used ? rows : l->used) * ROW_BYTES);
    l->least_key -= rows;
    l->used += rows;
}

/* How many rows the block has to begin earlier for a key: none if it lies behind the first one.  Of a block that has to
 * move a fourth more, so that keys that go down do not move it each time. */
static uint64_t rows_before(const struct tm_launches *l, uint64_t key)
{
    const uint64_t before = l->least_key - key;

    if (key - l->least_key < before)
        return 0;
    return before + l->used / 4;
}

/* Make room for a key that lies outside the block, or become sparse. */
static tm_status make_room(struct tm_launches *l, uint64_t key)
{
    if (l->capacity == 0)
        l->least_key = key - key % ROWS_ALIGNED;
    const uint64_t before = l->used ? rows_before(l, key) : 0;
    const uint64_t behind = before ? l->used : key - l->least_key + 1;
    const uint64_t most = ROWS_PER_KEY * (uint64_t)l->count + ROWS_SPARE;

    if (before > most || behind > most - before)
        return become_sparse(l);
    const size_t needed = (size_t)(before + behind);
    tm_status st = TM_OK;

    if (needed > l->capacity) {
        const size_t capacity = next_capacity(l, needed);

        if (!may_have(l, capacity))
            return become_sparse(l);
        st = resize(l, capacity);
    }
    if (st == TM_OK && before)
        shift_up(l, (size_t)before);
    return st;
}

tm_status tm_launches_put(struct tm_launches *l, const struct tm_launch *launch)
{
    struct tm_short_launch row;
    tm_status st = pack(l, launch, &row);

    if (st == TM_OK && !l->sparse && launch->key - l->least_key >= l->capacity)
        st = make_room(l, launch->key);
    if (st != TM_OK)
        return st;
    if (l->sparse)
        return put_sparse(l, launch->key, row);
    const size_t at = (size_t)(launch->key - l->least_key);
    struct tm_short_launch *const old = &l->rows[at];

    if (old->rest && !replaces_row(old, &row))
        return TM_OK;
    l->count += !old->rest;
    l->used = at < l->used ? l->used : at + 1;
    *old = row;
    return TM_OK;
}

/* Give back what the block did not come to use. */
static tm_status trim(struct tm_launches *l)
{
    if (!tm_is_large_block(l->used * ROW_BYTES))
        return TM_OK;
    const tm_status st = resize(l, l->used);
    const size_t bytes = l->capacity * ROW_BYTES, sure = dense_bytes(l);
    const size_t drawn = bytes > sure ? bytes - sure : 0;

    if (st == TM_OK && drawn < l->drawn_bytes) {
        tm_budget_put_back(&l->run->budget, l->drawn_bytes - drawn);
        l->drawn_bytes = drawn;
    }
    return st;
}

tm_status tm_launches_finish(struct tm_launches *l)
{
    return l->sparse ? tm_index_finish(l->sparse) : trim(l);
}

uint64_t tm_launches_most_number(const struct tm_launches *l)
{
    return l->sparse ? tm_index_most_number(l->sparse) : l->used;
}

tm_status tm_launches_find_sparse(struct tm_launches *l, uint64_t key, struct tm_launch *launch, uint64_t *number)
{
    const void *row;
    const tm_status st = tm_index_find(l->sparse, key, &row, number);

    if (st != TM_OK || !row)
        return st;
    return tm_launches_unpack(l, key, ((const struct tm_sparse_launch *)row)->row, launch);
}
