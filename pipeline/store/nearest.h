/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NEAREST_H
#define TM_NEAREST_H

#include <stddef.h>

/* How many single acts (put in, take out, change, swap two neighbours) make `b` of `a`; any case.
 * Words of more than 63 bytes are compared by their first 63. */
size_t tm_word_distance(const char *a, const char *b);

/* The search for the known word that a mistyped one was meant to be.  Zeroed = nothing offered. */
struct tm_nearest {
    const char *word; /* the best so far; NULL where none is near enough to suggest */
    size_t distance;
};

/* Offer one known word.  A word that begins with all of `typed`, of 2 bytes or more, counts as
 * near; otherwise at most every third byte may be wrong.  Of equally near words the first one
 * stays. */
void tm_nearest_offer(struct tm_nearest *nearest, const char *typed, const char *known);

#endif
