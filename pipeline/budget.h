/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BUDGET_H
#define TM_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline/error.h"

/* The ledger behind --memory.  Every structure that can grow asks its account for a share when it is
 * made, and spills when the share is used up.  Shares are parts of the limit, so the same limit gives
 * the same behaviour, and the sum of all shares stays under it. */
enum tm_account {
    TM_ACCOUNT_INPUT,    /* read buffers, inflate windows, line cursors */
    TM_ACCOUNT_NAMES,    /* texts of names */
    TM_ACCOUNT_METADATA, /* metadata tables, configs, tracks */
    TM_ACCOUNT_LAUNCHES, /* launches by correlation id */
    TM_ACCOUNT_STEPS,    /* step markers and step rows */
    TM_ACCOUNT_SORT,     /* sort windows and merge buffers */
    TM_ACCOUNT_TABLES,   /* tables by name: kernels, transfers, compiles */
    TM_ACCOUNT_THREADS,  /* what host threads did: open spans, causes of gaps */
    TM_ACCOUNT_MODEL,    /* the summary and the reports */
    TM_ACCOUNT_COUNT
};

enum { TM_MIB = 1 << 20, TM_MEMORY_DEFAULT_MIB = 256, TM_MEMORY_LEAST_MIB = 32 };

struct tm_budget {
    size_t limit_bytes;
    size_t used_bytes[TM_ACCOUNT_COUNT];
    size_t peak_bytes[TM_ACCOUNT_COUNT];
    size_t spilled_bytes; /* written to spill files, all told */
    uint64_t refuse_in;   /* for tests: the request that many from now is refused; 0 = none */
};

extern const char *const tm_account_name[TM_ACCOUNT_COUNT];

/* Start a ledger.  limit_bytes: --memory, at least TM_MEMORY_LEAST_MIB MiB. */
void tm_budget_init(struct tm_budget *budget, size_t limit_bytes);

/* What one account may hold at most, in bytes: a fixed part of the limit (the parts add up to under
 * the limit). */
size_t tm_budget_share(const struct tm_budget *budget, enum tm_account account);

/* Memory drawn from an account.  Sizes are given back by the caller, as in sized deallocation.
 * owns:   the caller owns the block
 * errors: NULL and TM_ERR_LIMIT when the system has none left; never when a share is passed: staying
 *         within its share is the duty of each structure, and tests assert the peaks */
void *tm_take(struct tm_budget *budget, enum tm_account account, size_t bytes, struct tm_error *error)
    TM_MUST_USE;                                     /* zeroed */
void *tm_retake(struct tm_budget *budget, enum tm_account account, void *block, size_t old_bytes,
                size_t new_bytes, struct tm_error *error) TM_MUST_USE; /* new part not zeroed */
void tm_give(struct tm_budget *budget, enum tm_account account, void *block, size_t bytes);

#endif
