/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LASTING_HASH_H
#define TM_LASTING_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A hash that files may hold: the same in every process, on every machine, and of every version (XXH3, 128 bits, whose
 * values its specification fixes).  hash.h has faster ones that must not leave a process. */
struct tm_lasting_hash {
    uint64_t high, low;
};

/* Of texts in this order; NULL = "".  The hash of those before it is the seed of each, so that texts that continue each
 * other differ from their concatenation. */
struct tm_lasting_hash tm_hash_texts(const char *const text[], size_t count);

#endif
