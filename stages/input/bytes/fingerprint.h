/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FINGERPRINT_H
#define TM_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/run.h"

/* The fingerprint of an input's bytes, a hash tree of one level: the XXH3-64 of the input if it has at most
 * TM_PIECE_BYTES, else the XXH3-64 of the hashes of its pieces in order.  A piece has TM_PIECE_BYTES, the last one what
 * is left; its hash is its XXH3-64 in canonical form, 8 bytes in big-endian order.
 *
 * A file is decoded in another order than it is stored, and a piece is hashed when its bytes pass.  Within a piece, the
 * bytes must come in order: a piece that two regions of the file share has to be read in part again.  Smaller pieces
 * would be cheaper there; but profiles rarely exceed this size, and the fingerprint of one that does not is what
 * `xxhsum -H3` prints. */
enum { TM_PIECE_BYTES = 16 << 20 };

struct tm_fingerprint;

/* in:     bytes  size of the input, whose bytes then may come in any order; 0 = not known, they come in order
 * owns:   the caller; besides 16 bytes for each piece of a known size, in the account `input`, it takes two states of
 *         xxHash (576 bytes each)
 * errors: NULL, with the error in run->error */
struct tm_fingerprint *tm_fingerprint_new(struct tm_run *run, uint64_t bytes) TM_MUST_USE;
void tm_fingerprint_free(struct tm_fingerprint *f); /* tolerates NULL */

/* Hash those of these bytes that are not hashed yet and either continue the current piece, or start another one.  Takes
 * no memory and records no failure, so any thread may call it.
 * in: at  position of the first one */
void tm_fingerprint_note(struct tm_fingerprint *f, uint64_t at, const void *bytes, size_t length);

/* The bytes that have not been hashed. */
struct tm_gap {
    uint64_t begin, end; /* within one piece */
};

/* What to read in front of a place before reading on from there, so that its piece can be hashed at once: empty if
 * nothing is missing, or if it is more than what follows in the piece.  Only of a known size. */
struct tm_gap tm_fingerprint_gap_before(const struct tm_fingerprint *f, uint64_t at);
/* What to read next to complete the fingerprint; empty = it is complete.  Only of a known size. */
struct tm_gap tm_fingerprint_next_gap(const struct tm_fingerprint *f);
/* How many bytes have been hashed, of a known size. */
uint64_t tm_fingerprint_noted(const struct tm_fingerprint *f);

/* Of the bytes noted, from the first one on without a gap. */
uint64_t tm_fingerprint_value(const struct tm_fingerprint *f);

#endif
