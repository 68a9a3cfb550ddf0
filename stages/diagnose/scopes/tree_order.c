/* SPDX-License-Identifier: Apache-2.0 */
/* Puts rows into the order of their tree.  Memory: 20 bytes per row while it works. */
#include "stages/diagnose/scopes/tree_order.h"

#include <stdlib.h>

#include "pipeline/record.h"

/* Links of a row; TM_NONE = none. */
struct links {
    uint32_t outer, first, last, next; /* its parent, its first and last child, the next one of its parent */
};

struct tree {
    const uint8_t *rows;
    size_t row_bytes;
    uint32_t count;
    uint32_t *by_key; /* numbers of rows */
    struct links *links;
};

static const struct tm_tree_node *node_at(const struct tree *t, uint32_t number)
{
    return (const struct tm_tree_node *)(const void *)(t->rows + number * t->row_bytes);
}

static int by_key(const void *a, const void *b, void *tree)
{
    return tm_key_order(node_at(tree, *(const uint32_t *)a)->key, node_at(tree, *(const uint32_t *)b)->key);
}

static uint32_t find(const struct tree *t, struct tm_key key)
{
    uint32_t low = 0, high = t->count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (tm_key_order(node_at(t, t->by_key[middle])->key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->count && tm_is_same_key(node_at(t, t->by_key[low])->key, key) ? t->by_key[low] : TM_NONE;
}

/* Hang each row under its parent; *first_root begins the chain of the roots. */
static void link_rows(struct tree *t, tm_tree_is_root *is_root, uint32_t *first_root)
{
    uint32_t last_root = TM_NONE;

    *first_root = TM_NONE;
    for (uint32_t i = 0; i < t->count; i++)
        t->links[i] = (struct links){ TM_NONE, TM_NONE, TM_NONE, TM_NONE };
    for (uint32_t i = 0; i < t->count; i++) {
        const bool root = is_root(node_at(t, i));
        const uint32_t outer = root ? TM_NONE : find(t, node_at(t, i)->outer);
        uint32_t *last = root ? &last_root : outer != TM_NONE ? &t->links[outer].last : NULL;

        if (!last || outer == i)
            continue;
        t->links[i].outer = outer;
        if (*last != TM_NONE)
            t->links[*last].next = i;
        else if (root)
            *first_root = i;
        else
            t->links[outer].first = i;
        *last = i;
    }
}

/* The row after this one; going up, never down, ends at a root. */
static uint32_t next_row(const struct tree *t, uint32_t at)
{
    if (t->links[at].first != TM_NONE)
        return t->links[at].first;
    while (at != TM_NONE && t->links[at].next == TM_NONE)
        at = t->links[at].outer;
    return at == TM_NONE ? TM_NONE : t->links[at].next;
}

tm_status tm_tree_order(struct tm_run *run, enum tm_account account, const void *rows, uint32_t count,
                        size_t row_bytes, tm_tree_is_root *is_root, uint32_t *order, uint32_t *listed)
{
    struct tree t = { .rows = rows, .row_bytes = row_bytes, .count = count };
    const size_t key_bytes = count * sizeof(*t.by_key), link_bytes = count * sizeof(*t.links);
    uint32_t at;

    *listed = 0;
    if (!count)
        return TM_OK;
    t.by_key = tm_take(&run->budget, account, key_bytes, &run->error);
    t.links = t.by_key ? tm_take(&run->budget, account, link_bytes, &run->error) : NULL;
    if (t.links) {
        for (uint32_t i = 0; i < count; i++)
            t.by_key[i] = i;
        qsort_r(t.by_key, count, sizeof(*t.by_key), by_key, &t);
        link_rows(&t, is_root, &at);
        for (; at != TM_NONE; at = next_row(&t, at))
            order[(*listed)++] = at;
    }
    tm_give(&run->budget, account, t.links, t.links ? link_bytes : 0);
    tm_give(&run->budget, account, t.by_key, t.by_key ? key_bytes : 0);
    return t.links ? TM_OK : run->error.status;
}
