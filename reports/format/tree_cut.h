/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TREE_CUT_H
#define TM_TREE_CUT_H

#include "pipeline/doc.h"

/* Which rows of a tree fit into a short table: those that have most of a figure of which no child has more than its
 * parent.  A parent stands before its children, so that it is shown where they are. */
enum { TM_TREE_ROWS_MOST = 500 };

struct tm_tree_cut {
    const char *key;
    int64_t least; /* of the rows that are shown */
    size_t equal;  /* rows with exactly that much that still fit */
};

/* in: key  of the figure in each row; most  rows, up to TM_TREE_ROWS_MOST */
void tm_tree_cut_find(struct tm_tree_cut *cut, const struct tm_value *rows, const char *key, size_t most);
/* Whether this row is shown; to be asked once of each row, in order. */
bool tm_tree_cut_shows(struct tm_tree_cut *cut, const struct tm_value *row);

#endif
