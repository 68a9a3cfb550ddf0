/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BLOCK_DEFLATER_H
#define TM_BLOCK_DEFLATER_H

#include "pipeline/run.h"

/* Deflates whole blocks, fast: each becomes a stream of its own (RFC 1950).  What a block becomes depends on nothing but
 * its bytes and the library. */
struct tm_block_deflater;

/* One piece of memory, of the account `input`.
 * errors: NULL, with the error in run->error */
struct tm_block_deflater *tm_block_deflater_new(struct tm_run *run) TM_MUST_USE;
void tm_block_deflater_free(struct tm_block_deflater *d); /* tolerates NULL */
/* in:     length  less than 4 GiB, as room
 * out:    bytes in `to`; 0: they would be more than room */
size_t tm_block_deflate(struct tm_block_deflater *d, const uint8_t *from, size_t length, uint8_t *to, size_t room);

#endif
