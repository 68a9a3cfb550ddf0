/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_INFLATE_H
#define TM_INFLATE_H

#include "stages/input/bytes/decoder.h"

/* Inflate of gzip.  Several members follow one another; zero bytes after the last one are padding; a member whose
 * check fails is given out as it is, and the next one is read.  Both engines give the same bytes of sound data;
 * where the data of a member are damaged or end too early, the fast one may stop a few symbols sooner or later than
 * zlib, and says so (`doubtful`), as it does of a member without data, which has no check to speak of: whoever must have
 * the same result everywhere reads such a file with zlib. */
enum tm_inflate_engine {
    TM_INFLATE_DEFAULT, /* ISA-L where it was built in, else zlib */
    TM_INFLATE_ZLIB,
    TM_INFLATE_ISAL,
};

bool tm_inflate_has(enum tm_inflate_engine engine);

/* A decoder of 0.2 MiB, of the account `input`.
 * in:     engine  one that was built in
 * errors: NULL, with the error in run->error */
struct tm_decoder *tm_inflate_new(struct tm_run *run, enum tm_inflate_engine engine) TM_MUST_USE;

#endif
