/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KNOWN_NAMES_H
#define TM_KNOWN_NAMES_H

#include <stdbool.h>

#include "pipeline/names.h"

/* What was found out of a name, yes or no, by its handle: a table of a fixed size in which a later name takes the place
 * of an earlier one, so that most events cost no look at a text.  Zeroed = nothing is known. */
struct tm_known_name {
    tm_strid name;
    bool is_known, answer;
};

/* Where the answer about a name lies.
 * in:     table  count of them, a power of two
 * out:    of that name; is_known false: the caller finds the answer out and sets it */
static inline struct tm_known_name *tm_known_name(struct tm_known_name *table, size_t count, tm_strid name)
{
    struct tm_known_name *const known = &table[name & (count - 1)];

    if (known->name != name)
        *known = (struct tm_known_name){ .name = name };
    return known;
}

#endif
