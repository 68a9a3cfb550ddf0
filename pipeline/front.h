/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FRONT_H
#define TM_FRONT_H

#include <assert.h>

#include "pipeline/run.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"

/* Numbers for the properties that many events share: name, launch facts, device, class.  A program runs the same few
 * thousand kernels repeatedly, so results computed for one of them are stored under its number, and an event needs one
 * lookup for all stages.  Memory: a table.  When its share is full, it is emptied, and entries that occur again get a
 * new number.  A number is never reused in a run, so data stored under an old number is forgotten, but never wrong. */

/* All properties of a site; compared as a unit. */
struct tm_site {
    uint64_t name_and_config; /* name << 32 | config */
    uint64_t rest;   /* the owner's: flags, device ...  Sites that differ only in the lowest 8 bits are adjacent: for
                      * properties that are known late */
    uint32_t traits; /* of the name */
};

struct tm_sites_slot {
    uint64_t name_and_config, rest;
    uint32_t traits;
    uint32_t told;   /* the owner's cached data */
    uint64_t number; /* from 1 on; 0 = empty */
};

static_assert(sizeof(struct tm_sites_slot) == 32, "two to a cache line");

struct tm_sites {
    struct tm_run *run;
    enum tm_account account;
    struct tm_sites_slot *slots;
    uint32_t bits; /* 1 << bits slots */
    uint32_t used; /* of them */
    size_t memory_bytes,
        drawn_bytes; /* its own, for the old slots and the new ones while it grows, and from the pool */
    uint64_t seed;
};

/* owns:   the caller releases it with tm_sites_release (a zeroed one is tolerated)
 * errors: of the ledger */
tm_status tm_sites_init(struct tm_sites *sites, struct tm_run *run, enum tm_account account, size_t memory_bytes);
void tm_sites_release(struct tm_sites *sites);

/* A site that is not in the table; slot: where it belongs.  NULL: as in tm_sites_at */
struct tm_sites_slot *tm_sites_add(struct tm_sites *sites, const struct tm_site *site, struct tm_sites_slot *slot);

static inline uint64_t tm_sites_first(const struct tm_sites *sites, const struct tm_site *site)
{
    const uint64_t rest = site->rest >> 8 ^ (uint64_t)site->traits << 32;

    return tm_hash_pair(site->name_and_config, rest, sites->seed) >> (64 - sites->bits);
}

/* The site will be requested soon. */
static inline void tm_sites_expect(const struct tm_sites *sites, const struct tm_site *site)
{
    __builtin_prefetch(&sites->slots[tm_sites_first(sites, site)]);
}

static inline bool tm_sites_ends(const void *at, const void *wanted)
{
    const struct tm_sites_slot *const slot = at;
    const struct tm_site *const site = wanted;

    return !slot->number ||
           (slot->name_and_config == site->name_and_config && slot->rest == site->rest && slot->traits == site->traits);
}

/* The slot of a site, or the empty one where it belongs. */
static inline struct tm_sites_slot *tm_sites_find(const struct tm_sites *sites, const struct tm_site *site)
{
    return tm_probe(sites->slots, (size_t)1 << sites->bits, sizeof(*sites->slots), tm_sites_first(sites, site), site,
                    tm_sites_ends);
}

/* The slot of a site, valid until the next call.
 * out:    *is_new  it did not exist: `told` is 0
 * errors: NULL if there is no memory for a larger table */
static inline struct tm_sites_slot *tm_sites_at(struct tm_sites *sites, const struct tm_site *site, bool *is_new)
{
    struct tm_sites_slot *const slot = tm_sites_find(sites, site);

    *is_new = !slot->number;
    return *is_new ? tm_sites_add(sites, site, slot) : slot;
}

/* Cached data of sites: a row for each, until another one needs its place.  Site numbers are consecutive, so as many
 * sites as there are rows never collide, and because no number is reused, nothing must be cleared between two hosts.
 * Memory: few rows at first, doubled when two sites collide while most rows are in use; first within the caller's
 * limit, then from the pool. */
struct tm_site_rows {
    struct tm_run *run;
    enum tm_account account;
    uint8_t *rows;       /* each starts with the number of its site, a uint64_t; 0 = empty */
    size_t row_bytes;    /* of one of them: as the caller said, and room that keeps it in few cache lines */
    uint64_t mask;       /* number of rows - 1, a power of two */
    uint64_t used;       /* rows that are not empty */
    size_t memory_bytes; /* for the rows, and for the old ones beside them while they grow */
    size_t drawn_bytes;  /* from the pool, beyond that */
    bool may_grow;
};

/* in:     row_bytes     with the number of the site
 *         memory_bytes  for the rows; 16 of them take any
 * owns:   the caller releases it with tm_site_rows_release (a zeroed one is tolerated)
 * errors: of the ledger */
tm_status tm_site_rows_init(struct tm_site_rows *rows, struct tm_run *run, enum tm_account account, size_t row_bytes,
                            size_t memory_bytes);
void tm_site_rows_release(struct tm_site_rows *rows);

/* Where the row of a site is, which is not 0; another one's, if it starts with another number. */
static inline void *tm_site_rows_place(const struct tm_site_rows *rows, uint64_t site)
{
    return rows->rows + (site & rows->mask) * rows->row_bytes;
}

/* Where the row of a site that has none is to be: an empty place, or that of another site.  Rows may move.
 * errors: NULL, of the ledger */
void *tm_site_rows_make_room(struct tm_site_rows *rows, uint64_t site);

/* The row of a site, valid until the next call.
 * out:    *is_new  the data after its number belongs to another site, or is zero: the caller fills it again.  A caller
 *         that fails then ends
 * errors: NULL if there is no memory for more rows */
static inline void *tm_site_rows_at(struct tm_site_rows *rows, uint64_t site, bool *is_new)
{
    uint64_t *row = tm_site_rows_place(rows, site);

    *is_new = *row != site;
    if (!*is_new)
        return row;
    row = tm_site_rows_make_room(rows, site);
    if (row)
        *row = site;
    return row;
}

/* The number of a site that two numbers identify, such as a name and a config.  As many consecutive numbers of either
 * kind as there are rows have a row each, whatever the other one is.
 * in:     second  not UINT32_MAX */
static inline uint64_t tm_site_of_pair(uint32_t first, uint32_t second)
{
    return ((uint64_t)second << 32 | (first ^ second * UINT32_C(0x9e3779b1))) + 1; /* times an odd number: one to one */
}

/* Rows in front of a group table: one row per site (pipeline/front.h) is accumulated in place, and moves to the groups
 * when another site needs its place, or at the end of a host.  An event thus costs an index calculation and a few
 * additions, and the hash of the group's key is computed once per site.  A row may be longer than the group's: the part
 * after the group's row is kept for the site and not passed on.  The groups' merge folds the pieces, so the result is
 * the same for any number of rows. */

/* Receives a row that is evicted, instead of the groups, to add what can be computed once for all of its events.
 * in:     row  the caller's, which it may change */
typedef tm_status tm_front_taker(void *to, void *row);

struct tm_front {
    struct tm_run *run;
    struct tm_site_rows rows; /* struct tm_front_row */
    struct tm_groups *into;
    tm_front_taker *taker; /* NULL = rows are passed to the groups unchanged.  Set after tm_front_init */
    void *to;              /* for the taker */
};

struct tm_front_row {
    uint64_t site; /* 0 = empty */
    uint8_t row[]; /* aligned to 8 bytes */
};

/* in:     row_bytes     of the caller's row; starts with a row of `into`
 *         memory_bytes  for the rows, as in tm_site_rows_init
 * owns:   the caller releases it with tm_front_release (a zeroed one is tolerated), before the groups
 * errors: of the ledger */
tm_status tm_front_init(struct tm_front *front, struct tm_run *run, enum tm_account account, size_t row_bytes,
                        size_t memory_bytes, struct tm_groups *into);
void tm_front_release(struct tm_front *front);

/* Hand on all rows and forget the sites: at the end of each host. */
tm_status tm_front_flush(struct tm_front *front);

/* Makes room for a site without a row: passes on the row in its place, if there is one, and zeroes it. */
void *tm_front_turn(struct tm_front *front, uint64_t site);
/* Pass on one row, which remains and is filled again: accumulation over a time or a step ends. */
tm_status tm_front_hand_on(struct tm_front *front, void *row);

/* The row of a site that has one, valid until the next call; NULL = it has none. */
static inline void *tm_front_find(const struct tm_front *front, uint64_t site)
{
    struct tm_front_row *row = tm_site_rows_place(&front->rows, site);

    return row->site == site ? row->row : NULL;
}

/* The row of a site, which is not 0, to fold into; valid until the next call.
 * out:    *is_new  it is all zero: the caller fills it, with its key, before the next call.  A caller that fails then
 * ends
 * errors: NULL if a row could not be passed on */
static inline void *tm_front_at(struct tm_front *front, uint64_t site, bool *is_new)
{
    struct tm_front_row *row = tm_site_rows_place(&front->rows, site);

    *is_new = row->site != site;
    return *is_new ? tm_front_turn(front, site) : row->row;
}

#endif
