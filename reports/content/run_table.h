/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RUN_TABLE_H
#define TM_RUN_TABLE_H

#include "reports/content/content.h"

/* The table of the runs that a side of a comparison, or a point of a scaling study, is made of.
 * in: runs  schemas/COMPARISON.md */
void tm_say_runs(const struct tm_content *content, const char *id, const char *caption,
                 const struct tm_value *runs);

/* The same of sides, or points, with one run each: a row for each of them.  in: sides  with a
 * member `runs` */
void tm_say_single_runs(const struct tm_content *content, const char *id, const char *caption,
                        const struct tm_value *sides);

#endif
