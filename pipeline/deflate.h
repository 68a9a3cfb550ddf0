/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DEFLATE_H
#define TM_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline/run.h"

enum tm_deflate_wrapper {
    TM_DEFLATE_ZLIB, /* RFC 1950 */
    TM_DEFLATE_GZIP, /* RFC 1952, without a name and a time, so that the same bytes come out again */
};

/* zlib's deflate, as all outputs use it, with the memory that it takes. */
struct tm_deflater;
struct z_stream_s; /* of zlib.h */

/* One piece of memory, of the account `tables`.
 * errors: NULL, with the error in run->error */
struct tm_deflater *tm_deflater_new(struct tm_run *run, enum tm_deflate_wrapper wrapper) TM_MUST_USE;
void tm_deflater_free(struct tm_deflater *d); /* tolerates NULL */
struct z_stream_s *tm_deflater_stream(struct tm_deflater *d);

/* Deflates blocks fast: each becomes a separate stream (RFC 1950).  The result depends only on the bytes of the block
 * and on the library. */
struct tm_block_deflater;

/* One piece of memory, of the account `input`.
 * errors: NULL, with the error in run->error */
struct tm_block_deflater *tm_block_deflater_new(struct tm_run *run) TM_MUST_USE;
void tm_block_deflater_free(struct tm_block_deflater *d); /* tolerates NULL */

/* in:     length  less than 4 GiB, as room
 * out:    bytes in `to`; 0: they would be more than room */
size_t tm_block_deflate(struct tm_block_deflater *d, const uint8_t *from, size_t length, uint8_t *to, size_t room);

/* The same with zstd: each block becomes a separate frame (RFC 8878). */
struct tm_block_zstd;

/* Two pieces of memory, of the account `input`.
 * errors: NULL, with the error in run->error */
struct tm_block_zstd *tm_block_zstd_new(struct tm_run *run) TM_MUST_USE;
void tm_block_zstd_free(struct tm_block_zstd *z); /* tolerates NULL */

/* As tm_block_deflate. */
size_t tm_block_zstd(struct tm_block_zstd *z, const uint8_t *from, size_t length, uint8_t *to, size_t room);

#endif
