/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KEYED_HASH_H
#define TM_KEYED_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A hash that nobody can work out, forward or backward, who lacks the key, however many results he has seen: for what
 * leaves the program.  (Hashes for tables, as XXH3, give their seed away after a few results.)
 * source: J.-P. Aumasson, D. J. Bernstein: SipHash: a fast short-input PRF (2012); here SipHash-2-4 */
struct tm_secret_key {
    uint64_t low, high;
};

uint64_t tm_keyed_hash(struct tm_secret_key key, const void *bytes, size_t length);

/* A key out of something that is hard to guess, but not as hard as a key: each guess costs about ten milliseconds. */
struct tm_secret_key tm_stretch_key(struct tm_secret_key from);

#endif
