/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LARGE_BLOCK_H
#define TM_LARGE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

/* Blocks of memory that come from the system by themselves: zeroed without being touched, in huge pages where the
 * system has them, moved by their page tables alone when they grow, and gone from resident memory as soon as they are
 * given back.  An allocator would copy them, and keep what is free for a while. */

/* True if a block of so many bytes is one of these. */
bool tm_is_large_block(size_t bytes);
/* owns:   the caller gives it back with its size
 * errors: NULL when the system has none left */
void *tm_large_block(size_t bytes);
/* As large as `bytes`, which is a large block, too; its address may change.  Added bytes are zero.  errors: NULL, and the
 * block stays */
void *tm_large_block_resize(void *block, size_t old_bytes, size_t bytes);
void tm_large_block_free(void *block, size_t bytes);

#endif
