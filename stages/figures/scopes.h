/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SCOPES_H
#define TM_SCOPES_H

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"

/* Device time by framework scope and pass, and host annotations with the device time that they launched.  Writes the
 * section scopes.
 * source: docs/metrics.md, "Scopes" */
extern const struct tm_stage_type tm_scopes_stage;

/* How rows of a tree begin. */
struct tm_tree_node {
    struct tm_key key, outer; /* outer: the key of the node around it; of a root the key of none */
};

/* The order in which a tree is told: a node, then its children.  Nodes of one parent stay in the order that they have.
 * A node whose parent is not there is left out, and what is in it.
 * in:     rows   count rows of row_bytes, each of them beginning with struct tm_tree_node, all keys different
 *         is_root
 * out:    order  room for `count`: numbers of rows
 *         *listed how many of them there are
 * errors: TM_ERR_LIMIT */
typedef bool tm_tree_is_root(const void *row);

tm_status tm_tree_order(struct tm_run *run, enum tm_account account, const void *rows, uint32_t count, size_t row_bytes,
                        tm_tree_is_root *is_root, uint32_t *order, uint32_t *listed);

#endif
