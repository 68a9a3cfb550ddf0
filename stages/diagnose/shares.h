/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SHARES_H
#define TM_SHARES_H

#include "pipeline/run.h"

/* How the stages divide the account of tables, in 64ths: all of them together are at most 64.  Each divides its own
 * part among its tables. */
enum tm_tables_part {
    TM_TABLES_KERNELS = 17,
    TM_TABLES_TRANSFERS = 6,
    TM_TABLES_COLLECTIVES = 7,
    TM_TABLES_COMPILE = 5,
    TM_TABLES_BALANCE = 3,
    TM_TABLES_FUSION = 5,
    TM_TABLES_OCCUPANCY = 2,
    TM_TABLES_OPS = 7,
    TM_TABLES_SCOPES = 5,
    TM_TABLES_HOST = 4,
    TM_TABLES_FALLBACK = 2,
    TM_TABLES_PROFILES = 1,
};

/* in:     part   what the stage has
 *         of     into how many equal shares it divides it, and
 *         shares how many of them a table gets
 * out:    bytes */
static inline size_t tm_tables_memory(const struct tm_run *run, enum tm_tables_part part, unsigned of, unsigned shares)
{
    return tm_budget_share(&run->budget, TM_ACCOUNT_TABLES) / 64 * (size_t)part / of * shares;
}

/* Rows of a cache that nothing depends on: a power of two that fits, from 64 to 16384. */
static inline uint32_t tm_cache_rows(size_t memory_bytes, size_t row_bytes)
{
    uint32_t rows = 64;

    while (rows < 16384 && 2 * rows * row_bytes <= memory_bytes)
        rows *= 2;
    return rows;
}

#endif
