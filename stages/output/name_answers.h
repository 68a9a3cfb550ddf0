/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NAME_ANSWERS_H
#define TM_NAME_ANSWERS_H

#include <stdbool.h>

#include "pipeline/store/names.h"

/* What was found out of a name, yes or no, by its handle: a table of a fixed size in which a later name takes the place
 * of an earlier one, so that most events cost no look at a text.  Zeroed = nothing is known. */
struct tm_name_answer {
    tm_strid name;
    bool is_known, answer;
};

/* Where the answer about a name lies.
 * in:     table  count of them, a power of two
 * out:    of that name; is_known false: the caller finds the answer out and sets it */
static inline struct tm_name_answer *tm_name_answer(struct tm_name_answer *table, size_t count, tm_strid name)
{
    struct tm_name_answer *const known = &table[name & (count - 1)];

    if (known->name != name)
        *known = (struct tm_name_answer){ .name = name };
    return known;
}

#endif
