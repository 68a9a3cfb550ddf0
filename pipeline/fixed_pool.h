/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FIXED_POOL_H
#define TM_FIXED_POOL_H

#include <stddef.h>
#include <stdint.h>

/* Memory for a library that allocates by itself, out of a piece whose size is known, so that none is outside the
 * ledger.  Nothing is taken back before the whole piece goes: it serves who allocates when it is set up, and once. */
struct tm_fixed_pool {
    uint8_t *bytes; /* room bytes, aligned to 16 */
    size_t room, used;
};

/* As zlib wants them: zalloc and zfree; pool is the struct.  out: aligned to 16; NULL where the rest is too small */
void *tm_fixed_pool_take(void *pool, unsigned items, unsigned item_bytes);
void tm_fixed_pool_give(void *pool, void *block);

#endif
