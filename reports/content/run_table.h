/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RUN_TABLE_H
#define TM_RUN_TABLE_H

#include "reports/content/content.h"

/* The table of the runs that a side of a comparison, or a point of a scaling study, is made of.
 * in: runs  schemas/COMPARISON.md */
void tm_emit_runs(const struct tm_content *content, const char *id, const char *caption, const struct tm_value *runs);

/* The same of sides, or points, with one run each: a row for each of them.  in: sides  with a
 * member `runs` */
void tm_emit_single_runs(const struct tm_content *content, const char *id, const char *caption,
                         const struct tm_value *sides);

/* Columns of a table that has one for each side of a comparison (schemas/COMPARISON.md), or one for each but the base. */
enum { TM_SIDE_TITLE_BYTES = 128, TM_SIDE_KEY_BYTES = 64 };

struct tm_side_columns {
    struct tm_column column[TM_TABLE_COLUMNS_MOST];
    char title[TM_TABLE_COLUMNS_MOST][TM_SIDE_TITLE_BYTES];
    char key[TM_TABLE_COLUMNS_MOST][TM_SIDE_KEY_BYTES];
    size_t columns;
};

void tm_side_columns_add(struct tm_side_columns *to, const char *title, const char *key, unsigned shape);

/* "LABEL" or "LABEL, what" for each side: the elements of the list `key` of a row.  in: what  "" = the label alone */
void tm_side_columns_add_sides(struct tm_side_columns *to, const struct tm_value *comparison, const char *what,
                               const char *key, unsigned shape);

/* "title" where there is one new side, else "LABEL, title", for each of them.
 * in: key  of an element of `changes` */
void tm_side_columns_add_changes(struct tm_side_columns *to, const struct tm_value *comparison, const char *title,
                                 const char *key, unsigned shape);

/* The label of a side as it is shown, cut in its middle.  out: TM_SIDE_TITLE_BYTES, returned */
const char *tm_side_label(const struct tm_value *comparison, size_t side, char *out);
size_t tm_side_count(const struct tm_value *comparison);

#endif
