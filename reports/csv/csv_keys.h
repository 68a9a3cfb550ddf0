/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CSV_KEYS_H
#define TM_CSV_KEYS_H

#include "reports/content/table.h"

enum { TM_CSV_KEY_BYTES = 96 };

/* The heading of a column, as a data frame wants it: [a-z0-9_], unique in its table, with the unit.  It is the last
 * part of the column's path in the summary: "total_ps", "share_pct".  Where two columns have the same last part they
 * are told by their whole paths; a figure whose path does not say its unit gets it at the end: "compute" of times is
 * "compute_ps". */
void tm_csv_key(char out[TM_CSV_KEY_BYTES], const struct tm_table *table, size_t column);

#endif
