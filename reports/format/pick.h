/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PICK_H
#define TM_PICK_H

#include "pipeline/doc.h"

enum { TM_PICK_MOST = 512 };

/* The places of the rows with most of a figure, most first; of equals the first.
 * in:     list  rows of the summary
 *         key   of the figure, a whole number
 *         only  rows of which this is true; NULL = all
 *         most  of which there is room in `pick`, up to TM_PICK_MOST: each row is compared with all of them
 * out:    how many were put into `pick` */
size_t tm_pick_largest(const struct tm_value *list, const char *key, const char *only, size_t most, size_t *pick);

/* Bring picks into the order of the list.  Of a tree whose parents stand before their children and have no less than
 * they, what was picked is a tree again: each row has its parent with it. */
void tm_pick_in_order(size_t *pick, size_t count);

#endif
