/* SPDX-License-Identifier: Apache-2.0 */
/* Call sites: their numbers, and tables with a row for each.  Memory: a block for each table, of a size that its owner
 * chooses. */
#include "pipeline/front.h"

#include <assert.h>
#include <string.h>

#include "pipeline/run.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"

/* An open table, at most half full.  It grows with what is in it, so that few sites are in few pages. */

enum {
    LEAST_ROWS = 16,
    MOST_ROWS = 65536,
    MOST_DRAWN_ROWS = 16384, /* with the help of the pool; what has more sites than that sees most of them once */
    CACHE_LINE = 64
};

/* Rows up to a cache line long do not cross one: blocks of this size start at a page. */
static size_t round_up(size_t row_bytes)
{
    size_t bytes = 8;

    while (bytes < row_bytes && bytes < CACHE_LINE)
        bytes *= 2;
    return bytes < row_bytes ? (row_bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1) : bytes;
}

tm_status tm_site_rows_init(struct tm_site_rows *rows, struct tm_run *run, enum tm_account account, size_t row_bytes,
                            size_t memory_bytes)
{
    *rows = (struct tm_site_rows){ .run = run,
                                   .account = account,
                                   .row_bytes = round_up(row_bytes),
                                   .mask = LEAST_ROWS - 1,
                                   .memory_bytes = memory_bytes,
                                   .may_grow = true };
    rows->rows = tm_take(&run->budget, account, LEAST_ROWS * rows->row_bytes, &run->error);
    return rows->rows ? TM_OK : run->error.status;
}

void tm_site_rows_release(struct tm_site_rows *rows)
{
    if (!rows->run)
        return;
    tm_give(&rows->run->budget, rows->account, rows->rows, (rows->mask + 1) * rows->row_bytes);
    tm_budget_put_back(&rows->run->budget, rows->drawn_bytes);
    *rows = (struct tm_site_rows){ .run = NULL };
}

/* Whether there is memory for twice as many rows in addition to the existing ones. */
static bool draw_for_twice(struct tm_site_rows *rows)
{
    const uint64_t count = rows->mask + 1;
    const size_t needed = 3 * count * rows->row_bytes, have = rows->memory_bytes + rows->drawn_bytes;

    if (count >= MOST_ROWS)
        return false;
    if (needed <= have)
        return true;
    if (count >= MOST_DRAWN_ROWS || !tm_budget_draw(&rows->run->budget, needed - have))
        return false;
    rows->drawn_bytes += needed - have;
    return true;
}

/* Twice the rows.  Rows that did not collide still do not. */
static bool grow(struct tm_site_rows *rows)
{
    struct tm_run *run = rows->run;
    const uint64_t count = rows->mask + 1;
    uint8_t *const old = rows->rows;
    uint8_t *const larger = tm_take(&run->budget, rows->account, 2 * count * rows->row_bytes, &run->error);

    if (!larger)
        return false;
    rows->rows = larger;
    rows->mask = 2 * count - 1;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t site;

        memcpy(&site, old + i * rows->row_bytes, sizeof(site));
        if (site)
            memcpy(tm_site_rows_place(rows, site), old + i * rows->row_bytes, rows->row_bytes);
    }
    tm_give(&run->budget, rows->account, old, count * rows->row_bytes);
    return true;
}

void *tm_site_rows_make_room(struct tm_site_rows *rows, uint64_t site)
{
    uint64_t *row = tm_site_rows_place(rows, site);

    while (*row && rows->may_grow && rows->used > rows->mask / 2) {
        rows->may_grow = draw_for_twice(rows);
        if (rows->may_grow && !grow(rows))
            return NULL;
        row = tm_site_rows_place(rows, site);
    }
    rows->used += !*row;
    return row;
}

enum { LEAST_BITS = 8, MOST_BITS = 16 };

static size_t bytes_of(const struct tm_sites *sites)
{
    return sizeof(*sites->slots) << sites->bits;
}

tm_status tm_sites_init(struct tm_sites *sites, struct tm_run *run, enum tm_account account, size_t memory_bytes)
{
    *sites = (struct tm_sites){ .run = run, .account = account, .bits = LEAST_BITS, .memory_bytes = memory_bytes };
    sites->seed = tm_hash_seed(sites);
    sites->slots = tm_take(&run->budget, account, bytes_of(sites), &run->error);
    return sites->slots ? TM_OK : run->error.status;
}

void tm_sites_release(struct tm_sites *sites)
{
    if (!sites->run)
        return;
    tm_give(&sites->run->budget, sites->account, sites->slots, sites->slots ? bytes_of(sites) : 0);
    tm_budget_put_back(&sites->run->budget, sites->drawn_bytes);
    *sites = (struct tm_sites){ .run = NULL };
}

static inline struct tm_site site_of(const struct tm_sites_slot *slot)
{
    return (struct tm_site){ slot->name_and_config, slot->rest, slot->traits };
}

/* Whether there is memory for twice the slots in addition to the existing ones.  The pool is worth using: losing the
 * numbers loses the cached data of all stages, and a slot takes a tenth of that. */
static bool may_grow_sites(struct tm_sites *sites)
{
    const size_t needed = 3 * bytes_of(sites), have = sites->memory_bytes + sites->drawn_bytes;

    if (sites->bits == MOST_BITS)
        return false;
    if (needed <= have)
        return true;
    if (!tm_budget_draw(&sites->run->budget, needed - have))
        return false;
    sites->drawn_bytes += needed - have;
    return true;
}

/* Twice the slots. */
static bool grow_sites(struct tm_sites *sites)
{
    struct tm_sites_slot *const old = sites->slots;
    const size_t old_bytes = bytes_of(sites), count = (size_t)1 << sites->bits;
    struct tm_sites_slot *const larger =
        tm_take(&sites->run->budget, sites->account, 2 * old_bytes, &sites->run->error);

    if (!larger)
        return false;
    sites->slots = larger;
    sites->bits++;
    for (size_t i = 0; i < count; i++) {
        const struct tm_site site = site_of(&old[i]);

        if (old[i].number)
            *tm_sites_find(sites, &site) = old[i];
    }
    tm_give(&sites->run->budget, sites->account, old, old_bytes);
    return true;
}

struct tm_sites_slot *tm_sites_add(struct tm_sites *sites, const struct tm_site *site, struct tm_sites_slot *slot)
{
    if (2 * (uint64_t)sites->used >= (uint64_t)1 << sites->bits) {
        if (may_grow_sites(sites)) {
            if (!grow_sites(sites))
                return NULL;
        } else {
            memset(sites->slots, 0, bytes_of(sites));
            sites->used = 0;
        }
        slot = tm_sites_find(sites, site);
    }
    sites->used++;
    *slot = (struct tm_sites_slot){ .name_and_config = site->name_and_config,
                                    .rest = site->rest,
                                    .traits = site->traits,
                                    .number = ++sites->run->last_site };
    return slot;
}

tm_status tm_front_init(struct tm_front *front, struct tm_run *run, enum tm_account account, size_t row_bytes,
                        size_t memory_bytes, struct tm_groups *into)
{
    assert(row_bytes >= tm_groups_row_bytes(into));
    *front = (struct tm_front){ .run = run, .into = into };
    return tm_site_rows_init(&front->rows, run, account, sizeof(struct tm_front_row) + row_bytes, memory_bytes);
}

void tm_front_release(struct tm_front *front)
{
    tm_site_rows_release(&front->rows);
}

tm_status tm_front_hand_on(struct tm_front *front, void *row)
{
    if (front->taker)
        return front->taker(front->to, row);
    tm_groups_add(front->into, row);
    return front->rows.run->error.status;
}

void *tm_front_turn(struct tm_front *front, uint64_t site)
{
    struct tm_front_row *const row = tm_site_rows_make_room(&front->rows, site);

    if (!row || (row->site && tm_front_hand_on(front, row->row)))
        return NULL;
    memset(row, 0, front->rows.row_bytes);
    row->site = site;
    return row->row;
}

tm_status tm_front_flush(struct tm_front *front)
{
    const struct tm_run *const run = front->rows.run;

    for (uint64_t i = 0; i <= front->rows.mask && !tm_failed(run); i++) {
        struct tm_front_row *row = tm_site_rows_place(&front->rows, i);

        if (row->site)
            tm_front_hand_on(front, row->row);
        row->site = 0;
    }
    front->rows.used = 0;
    return run->error.status;
}
