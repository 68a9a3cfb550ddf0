/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DEFLATER_H
#define TM_DEFLATER_H

#include <zlib.h>

#include "pipeline/fixed_pool.h"
#include "pipeline/run.h"

/* zlib's deflate, as all outputs use it, with the memory that it takes. */
enum {
    /* (1 << (window bits + 2)) + (1 << (memory level + 9)) and its state; some builds of zlib take half as much
     * again */
    TM_DEFLATER_BYTES = 448 << 10,
};

enum tm_deflate_wrapper {
    TM_DEFLATE_ZLIB, /* RFC 1950 */
    TM_DEFLATE_GZIP, /* RFC 1952, without a name and a time, so that the same bytes come out again */
};

struct tm_deflater {
    struct tm_run *run;
    z_stream zlib;
    struct tm_fixed_pool pool;
    uint8_t bytes[TM_DEFLATER_BYTES] __attribute__((aligned(16)));
};

/* One piece of memory, of the account `tables`.
 * errors: NULL, with the error in run->error */
struct tm_deflater *tm_deflater_new(struct tm_run *run, enum tm_deflate_wrapper wrapper) TM_MUST_USE;
void tm_deflater_free(struct tm_deflater *d); /* tolerates NULL */

#endif
