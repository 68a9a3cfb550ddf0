/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FRONT_H
#define TM_FRONT_H

#include "pipeline/sites.h"
#include "pipeline/store/groups.h"

/* Rows that gather before a group table: one row per site (pipeline/sites.h) is folded in place, and goes to the groups
 * when another site needs its room, or at the end of a host.  So an event costs an index calculation and a few additions,
 * and the hash of the group's key is worked out once per site.  A row may be longer than the group's: what follows the
 * group's row is remembered for the site and not handed on.
 * The groups' merge folds what was handed on in pieces, so the result is the same for any number of rows. */

/* Takes a row that leaves, instead of the groups: what can be worked out once for all of its events is added to it here.
 * in: row  the caller's, which it may change */
typedef tm_status tm_front_taker(void *to, void *row);

struct tm_front {
    struct tm_run *run;
    struct tm_site_rows rows; /* struct tm_front_row */
    struct tm_groups *into;
    tm_front_taker *taker; /* NULL = rows go to the groups as they are.  Set after tm_front_init */
    void *to;              /* for the taker */
};

struct tm_front_row {
    uint64_t site; /* 0 = empty */
    uint8_t row[]; /* aligned to 8 bytes */
};

/* in:     row_bytes     of the caller's row; begins with a row of `into`
 *         memory_bytes  for the rows, as of tm_site_rows_init
 * owns:   the caller releases it with tm_front_release (a zeroed one is tolerated), before the groups
 * errors: of the ledger */
tm_status tm_front_init(struct tm_front *front, struct tm_run *run, enum tm_account account, size_t row_bytes,
                        size_t memory_bytes, struct tm_groups *into) TM_MUST_USE;
void tm_front_release(struct tm_front *front);

/* Hand on all rows and forget the sites: at the end of each host. */
tm_status tm_front_flush(struct tm_front *front) TM_MUST_USE;

/* Makes room for a site that has no row: hands on the one that is in the way, if there is one, and zeroes it. */
void *tm_front_turn(struct tm_front *front, uint64_t site);
/* Hand on one row, which stays and is to be filled anew: where it gathers for a time, a step, that is over. */
tm_status tm_front_hand_on(struct tm_front *front, void *row) TM_MUST_USE;

/* The row of a site that has one, valid until the next call; NULL = it has none. */
static inline void *tm_front_find(const struct tm_front *front, uint64_t site)
{
    struct tm_front_row *row = tm_site_rows_place(&front->rows, site);

    return row->site == site ? row->row : NULL;
}

/* The row of a site, which is not 0, to fold into; valid until the next call.
 * out:    *is_new  it is all zero: the caller fills it, with its key, before the next call.  A caller that fails then ends
 * errors: NULL where a row could not be handed on */
static inline void *tm_front_at(struct tm_front *front, uint64_t site, bool *is_new)
{
    struct tm_front_row *row = tm_site_rows_place(&front->rows, site);

    *is_new = row->site != site;
    return *is_new ? tm_front_turn(front, site) : row->row;
}

#endif
