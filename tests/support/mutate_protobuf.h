/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MUTATE_PROTOBUF_H
#define TM_MUTATE_PROTOBUF_H

#include "tests/support/mutate_dice.h"

/* Changes a message of protobuf where it is deep: it is read as a tree of fields (what can be read as a message is taken
 * for one), one to four changes are made to it, and it is written with lengths that fit again, but for those that are
 * to lie.  The same seed gives the same bytes.  Nothing is kept between two calls.
 *
 * in:     data   size bytes, room for most
 * out:    how many bytes there are now, at most `most`; 0 = nothing could be done, and data is as it was */
size_t mutate_protobuf(uint8_t *data, size_t size, size_t most, unsigned seed, mutate_bytes_fn *bytes);

/* The first message with a few fields of the second: added, or in the place of others.  out: as above, in `out` */
size_t mutate_protobuf_cross(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                             size_t most, unsigned seed);

#endif
