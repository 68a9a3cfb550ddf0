/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BUDGET_H
#define TM_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/error.h"

/* The ledger behind --memory.  Every structure that can grow gets a share from its account when it is created, which is
 * guaranteed.  The rest of the limit is one pool.  A structure that can spill draws from the pool when its share is
 * used up, and spills when the pool refuses, so memory that one part of a job does not need serves the others.  Shares
 * are parts of the limit, and the pool depends only on earlier draws, so the same limit gives the same behavior; the
 * sum of shares and pool stays under the limit. */
enum tm_account {
    TM_ACCOUNT_INPUT,    /* read buffers, windows of inflating and deflating, line cursors */
    TM_ACCOUNT_NAMES,    /* strings of names */
    TM_ACCOUNT_METADATA, /* metadata tables, configs, tracks */
    TM_ACCOUNT_LAUNCHES, /* launches by correlation id */
    TM_ACCOUNT_STEPS,    /* step markers and step rows */
    TM_ACCOUNT_SORT,     /* sort windows and merge buffers */
    TM_ACCOUNT_TABLES,   /* tables by name: kernels, transfers, compiles */
    TM_ACCOUNT_THREADS,  /* what host threads did: open spans, causes of gaps */
    TM_ACCOUNT_MODEL,    /* the summary and the reports */
    TM_ACCOUNT_COUNT
};

enum {
    TM_MIB = 1 << 20,
    TM_MEMORY_DEFAULT_MIB = 256,
    TM_MEMORY_LEAST_MIB = 32,
    TM_SPARE_MIB = 8,
};

struct tm_budget {
    size_t limit_bytes;
    size_t pool_bytes;                    /* what is left of the pool */
    size_t pool_whole_bytes, spare_bytes; /* spare: of the whole pool, see tm_budget_add_spare */
    size_t used_bytes[TM_ACCOUNT_COUNT];
    size_t peak_bytes[TM_ACCOUNT_COUNT];
    size_t spilled_bytes; /* written to spill files in total */
    uint32_t dedications; /* nested calls of tm_budget_dedicate; 0 = none */
    enum tm_account dedicated;
    uint64_t refuse_in; /* for tests: the request that many from now is refused; 0 = none */
};

extern const char *const tm_account_name[TM_ACCOUNT_COUNT];

/* Start a ledger.  limit_bytes: --memory, at least TM_MEMORY_LEAST_MIB MiB. */
void tm_budget_init(struct tm_budget *budget, size_t limit_bytes);

/* For its own process.  Its resident memory may pass the limit by 16 MiB for code and libraries, which take less than
 * half of that: the pool gets the other half.  At the least limit it has nothing else. */
void tm_budget_add_spare(struct tm_budget *budget);

/* Change the limit while parts of it are in use: other processes use the rest of it for a while.  Shares are parts of the
 * new limit from here on; what was drawn from the pool stays drawn.
 * out: false: more is drawn than the new pool has, and the limit stays */
bool tm_budget_set_limit(struct tm_budget *budget, size_t limit_bytes);

/* The guaranteed bytes of an account: a fixed part of the limit (the parts and the pool add up to less than the
 * limit). */
size_t tm_budget_share(const struct tm_budget *budget, enum tm_account account);

/* Its share and its contribution to the pool: for few and small objects that determine what is read, such as the
 * longest name; what they take beyond the share comes from the undivided part of the limit. */
size_t tm_budget_part(const struct tm_budget *budget, enum tm_account account);

/* From here on, this part of a job uses almost only one account: its share is three quarters of the limit, and the pool
 * refuses all requests, until each call has its counterpart.  All concurrent calls are for one account. */
void tm_budget_dedicate(struct tm_budget *budget, enum tm_account account);
void tm_budget_end_dedication(struct tm_budget *budget);

/* Request N bytes from the pool on top of a share, before they are taken from the account.  It grants at most half of
 * its remainder, and growing structures request parts of their size, so a structure that could use everything leaves
 * room for others.  A structure that is refused spills. */
bool tm_budget_draw(struct tm_budget *budget, size_t bytes);
/* The same for what is mostly read in sequence, where spilling costs little: only while most of the pool is left. */
bool tm_budget_draw_spare(struct tm_budget *budget, size_t bytes);
/* Return what was drawn from the pool, after the memory itself. */
void tm_budget_put_back(struct tm_budget *budget, size_t bytes);

/* Memory drawn from an account.  Sizes are given back by the caller, as in sized deallocation.
 * owns:   the caller owns the block
 * errors: NULL and TM_ERR_LIMIT when the system has none left; never when a share is passed: staying
 *         within its share is the responsibility of each structure, and tests check the peaks */
void *tm_take(struct tm_budget *budget, enum tm_account account, size_t bytes,
              struct tm_error *error) TM_MUST_USE; /* zeroed */
void *tm_retake(struct tm_budget *budget, enum tm_account account, void *block, size_t old_bytes, size_t new_bytes,
                struct tm_error *error) TM_MUST_USE; /* new part not zeroed */
void tm_give(struct tm_budget *budget, enum tm_account account, void *block, size_t bytes);
/* A copy of a string, and its end, which tolerates NULL. */
char *tm_take_text(struct tm_budget *budget, enum tm_account account, const char *text,
                   struct tm_error *error) TM_MUST_USE;
void tm_give_text(struct tm_budget *budget, enum tm_account account, const char *text);

/* Blocks of memory directly from the system: zeroed without being touched, in huge pages if the system has them, moved
 * by their page tables alone when they grow, and removed from resident memory as soon as they are freed.  An allocator
 * would copy them and keep freed memory for a while. */

/* True if a block of N bytes is one of these. */
bool tm_is_large_block(size_t bytes);

/* owns:   the caller gives it back with its size
 * errors: NULL when the system is out of memory */
void *tm_large_block(size_t bytes);

/* As large as `bytes`, which is a large block, too; its address may change.  Added bytes are zero.  errors: NULL, and
 * the block stays */
void *tm_large_block_resize(void *block, size_t old_bytes, size_t bytes);
void tm_large_block_free(void *block, size_t bytes);

/* Memory for a library that allocates, out of a piece of known size, so nothing is outside the ledger.  Memory is not
 * reclaimed before the entire piece is freed, so this suits callers that allocate once, during setup. */
struct tm_fixed_pool {
    uint8_t *bytes; /* room bytes, aligned to 16 */
    size_t room, used;
};

/* For zlib: zalloc and zfree; pool is the struct.  out: aligned to 16; NULL if the rest is too small */
void *tm_fixed_pool_take(void *pool, unsigned items, unsigned item_bytes);
void tm_fixed_pool_give(void *pool, void *block);

#endif
