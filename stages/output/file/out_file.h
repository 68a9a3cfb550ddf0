/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OUT_FILE_H
#define TM_OUT_FILE_H

#include "pipeline/atomic_file.h"
#include "pipeline/run.h"

/* A stream of bytes that becomes a file, plain or gzip, whole or not at all. */
struct tm_out_file;

/* in:     folder, name  as of tm_atomic_open
 *         is_gzip       one member, without a name and a time, so that the same bytes come out again
 * errors: NULL, with the error in run->error */
struct tm_out_file *tm_out_file_open(struct tm_run *run, const char *folder, const char *name,
                                     bool is_gzip) TM_MUST_USE;
tm_status tm_out_file_write(struct tm_out_file *file, const void *bytes, size_t length) TM_MUST_USE;

/* The file appears.
 * out: *written  bytes on disk; may be NULL */
tm_status tm_out_file_commit(struct tm_out_file *file, uint64_t *written) TM_MUST_USE;
void tm_out_file_free(struct tm_out_file *file); /* what was not committed goes away; tolerates NULL */

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
