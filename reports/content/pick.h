/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PICK_H
#define TM_PICK_H

#include "pipeline/doc.h"

/* The places of the rows with most of a figure, most first; of equals the first.
 * in:     list  rows of the summary
 *         key   of the figure, a whole number
 *         only  rows of which this is true; NULL = all
 *         most  of which there is room in `pick`; a few hundred, as each row is compared with all of them
 * out:    how many were put into `pick` */
size_t tm_pick_largest(const struct tm_value *list, const char *key, const char *only, size_t most, size_t *pick);

#endif
