/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SITE_ROWS_H
#define TM_SITE_ROWS_H

#include "pipeline/run.h"

/* What is remembered of sites (pipeline/sites.h): a row for each, as long as no other one needs its room.  Numbers of
 * sites go up one by one, so up to as many sites as there are rows never meet in one place, and as no number is given
 * twice, nothing has to be forgotten between two hosts.  Memory: few rows at first, and twice as many when two sites
 * meet while most rows are in use; first within what the caller has for them, then with what the pool gives. */
struct tm_site_rows {
    struct tm_run *run;
    enum tm_account account;
    uint8_t *rows;       /* each begins with the number of its site, a uint64_t; 0 = empty */
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
                            size_t memory_bytes) TM_MUST_USE;
void tm_site_rows_release(struct tm_site_rows *rows);

/* Where the row of a site is, which is not 0; another one's, if it begins with another number. */
static inline void *tm_site_rows_place(const struct tm_site_rows *rows, uint64_t site)
{
    return rows->rows + (site & rows->mask) * rows->row_bytes;
}

/* Where the row of a site that has none is to be: an empty place, or that of another site.  Rows may move.
 * errors: NULL, of the ledger */
void *tm_site_rows_make_room(struct tm_site_rows *rows, uint64_t site);

/* The row of a site, valid until the next call.
 * out:    *is_new  what lies behind its number is of another site, or zero: the caller fills it anew.  A caller that
 *                  fails then ends
 * errors: NULL where there is no memory for more rows */
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

#endif
