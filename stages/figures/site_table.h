/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SITE_TABLE_H
#define TM_SITE_TABLE_H

#include "pipeline/front.h"
#include "pipeline/stage.h"
#include "stages/figures/nesting.h"

/* One accumulator for each call site: count, sum, squares, least and most, and where its lengths go for quantiles.  Each
 * event is added once, whatever the number of stages that count it; they get what a site comes to when another one needs
 * its row or the host ends (take_site, take_self), and group it as they like: kernels, operations, occupancy, scopes.
 *
 *     event ──► row of its site ──► when the site leaves ──► take_site of kernels, occupancy, balance, device time ...
 *                    │
 *                    └─ if it lies in others (TPU, CPU): open until it ends ──► row of ended ones ──► take_self of ops, scopes
 *
 * Of a kernel an event touches one cache line here, where nine stages had a row of 64 to 256 bytes each.
 * Memory: rows of 192 bytes, as many as its share of TM_ACCOUNT_TABLES and the pool give; the result does not depend on
 * their number. */
struct tm_site_table {
    struct tm_run *run;
    struct tm_stage *stages; /* that are fed */
    size_t stage_count;
    struct tm_rows *configs;      /* of the present host: struct tm_config */
    const struct tm_trace *trace; /* of the present host */
    struct tm_site_rows rows;     /* struct site_row, by call site, chosen or not */
    struct tm_site_rows ended;    /* the same of those that lay in each other, by call site */
    struct tm_nesting *nesting;   /* NULL = the host has no device on which they do */
    struct tm_lengths *lengths;   /* of the stage that keeps them; NULL = none does */
    uint64_t order;               /* events of the host so far */
};

/* in:     stages  opened, `count` of them; stay until the release
 * owns:   tm_site_table_release (a zeroed one is tolerated)
 * errors: of the ledger */
tm_status tm_site_table_init(struct tm_site_table *table, struct tm_run *run, struct tm_stage *stages, size_t count);
void tm_site_table_release(struct tm_site_table *table);

void tm_site_table_begin_host(struct tm_site_table *table, const struct tm_trace *trace, struct tm_rows *configs);
/* Hands all on: before the stages end the host. */
void tm_site_table_end_host(struct tm_site_table *table);

/* Failures are remembered in run->error. */
void tm_site_table_add(struct tm_site_table *table, const struct tm_event *event);
/* An event that was just added goes on with the execution of the one before it: counted in sums.continued. */
void tm_site_table_continue(struct tm_site_table *table, const struct tm_event *event);

#endif
