/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MUTATE_JSON_H
#define TM_MUTATE_JSON_H

#include "tests/support/mutate_dice.h"

/* Changes a trace in JSON by its values: members and events are dropped, repeated, swapped, put elsewhere, given values
 * of other kinds, extreme numbers, odd texts, keys that the program knows.  A text that is well-formed mostly stays so;
 * one that is damaged is taken as far as it goes.  The same seed gives the same bytes.  Nothing is kept between two calls.
 *
 * in:     data   size bytes, room for most
 * out:    how many bytes there are now, at most `most`; 0 = nothing could be done, and data is as it was */
size_t mutate_json(uint8_t *data, size_t size, size_t most, unsigned seed, mutate_bytes_fn *bytes);

/* The first text with a few values of the second.  out: as above, in `out` */
size_t mutate_json_cross(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out, size_t most,
                         unsigned seed);

#endif
