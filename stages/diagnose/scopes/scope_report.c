/* SPDX-License-Identifier: Apache-2.0 */
/* The section scopes.  Each different path is read once: its ops' time goes to the scope that it names and to all
 * that are around it.  Of the tree the nodes that take most are listed, which never leaves a parent out. */
#include "stages/diagnose/row_text.h"
#include "stages/diagnose/scopes/scopes_private.h"
#include "stages/diagnose/top_rows.h"

static const char no_paths[] =
    "no framework paths are in this profile: its operations do not tell where in the program they come from";

struct scope_report {
    const char *why;         /* there are no scopes, if there are none */
    struct scopes *scopes;
    struct tm_run *run;
    struct tm_groups *nodes, *layers;
    struct tm_top_rows *top; /* struct scope_node */
    struct scope_sums sums;
    uint64_t distinct;
    int64_t listed_ps;
    size_t room;             /* for long texts */
};

/* --- from paths to nodes --- */

static void merge_nodes(void *into, const void *from)
{
    struct scope_node *a = into;
    const struct scope_node *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->self_ps = tm_sum_times(a->self_ps, b->self_ps);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
    if (tm_key_order(b->text, a->text) < 0) {
        a->text = b->text;
        a->path = b->path;
    }
}

static tm_status add_nodes(struct scope_report *r, const char *text, const struct tm_scope_path *path,
                           const struct scope_op *op)
{
    struct tm_key keys[TM_SCOPE_DEPTH_MOST + 1];
    tm_status st = TM_OK;

    tm_scope_path_keys(text, path, keys);
    for (uint32_t i = 1; i <= path->depth && st == TM_OK; i++) {
        const struct scope_node node = {
            .node = { keys[i], keys[i - 1] },
            .text = op->key,
            .count = op->count,
            .self_ps = i == path->depth ? op->self_ps : 0,
            .total_ps = op->self_ps,
            .path = op->path,
            .depth = i,
        };

        st = tm_groups_add(r->nodes, &node);
    }
    return st == TM_OK ? tm_scope_layers_add(r->layers, text, path, op) : st;
}

static tm_status read_op(struct scope_report *r, const struct scope_op *op)
{
    struct scope_sums *sums = &r->sums;
    struct tm_scope_path path;
    const char *text;
    size_t length;
    const tm_status st = tm_names_text(r->scopes->names, op->path, TM_SCOPE_PATH_MOST + 1, &text, &length);

    if (st != TM_OK)
        return st;
    tm_scope_path_read(text, length, &path);
    if (!path.depth) {
        sums->unscoped_count = tm_sum_counts(sums->unscoped_count, op->count);
        sums->unscoped_ps = tm_sum_times(sums->unscoped_ps, op->self_ps);
        return TM_OK;
    }
    sums->count = tm_sum_counts(sums->count, op->count);
    sums->self_ps = tm_sum_times(sums->self_ps, op->self_ps);
    sums->pass_ps[path.pass] = tm_sum_times(sums->pass_ps[path.pass], op->self_ps);
    if (path.is_recomputed) {
        sums->recomputed_count = tm_sum_counts(sums->recomputed_count, op->count);
        sums->recomputed_ps = tm_sum_times(sums->recomputed_ps, op->self_ps);
    }
    return add_nodes(r, text, &path, op);
}

static tm_status read_ops(struct scope_report *r)
{
    struct scopes *c = r->scopes;
    const void *row = NULL;
    tm_status st = tm_groups_finish(c->ops);

    r->sums.unscoped_count = c->unscoped_count;
    r->sums.unscoped_ps = c->unscoped_ps;
    while (st == TM_OK && (st = tm_groups_next(c->ops, &row)) == TM_OK && row)
        st = read_op(r, row);
    tm_groups_free(c->ops); /* its memory is for what comes now */
    c->ops = NULL;
    return st;
}

/* --- which nodes are listed --- */

static int longest_first(const void *a, const void *b)
{
    const struct scope_node *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return tm_key_order(x->node.key, y->node.key);
}

static bool is_root(const void *row)
{
    return ((const struct scope_node *)row)->depth == 1;
}

static tm_status choose_nodes(struct scope_report *r)
{
    const void *row = NULL;
    tm_status st = tm_groups_finish(r->nodes);

    while (st == TM_OK && (st = tm_groups_next(r->nodes, &row)) == TM_OK && row) {
        r->distinct++;
        st = tm_top_rows_add(r->top, row);
    }
    tm_groups_free(r->nodes);
    r->nodes = NULL;
    if (st == TM_OK)
        tm_top_rows_sort(r->top);
    return st;
}

/* --- values --- */

static double share_of(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Shares are of all device time that counts, with or without a scope. */
static int64_t whole_of(const struct scope_report *r)
{
    return tm_sum_times(r->sums.self_ps, r->sums.unscoped_ps);
}

static tm_status add_node(struct scope_report *r, struct tm_value *list, const struct scope_node *node)
{
    char joined[TM_SCOPE_PATH_MOST];
    struct tm_scope_path path;
    struct tm_value *to;
    const char *text;
    size_t length;
    const tm_status st = tm_names_text(r->scopes->names, node->path, TM_SCOPE_PATH_MOST + 1, &text, &length);

    if (st != TM_OK)
        return st;
    tm_scope_path_read(text, length, &path);
    length = tm_scope_path_join(text, &path, node->depth, joined);
    to = tm_add_object(list, NULL);
    tm_add_row_text(to, "path", joined, length, &r->room);
    tm_add_row_text(to, "name", text + path.parts[node->depth - 1].at, path.parts[node->depth - 1].length, &r->room);
    tm_add_uint(to, "depth", node->depth - 1);
    tm_add_string(to, "pass", tm_scope_pass_name[path.pass]);
    tm_add_uint(to, "count", node->count);
    tm_add_int(to, "self_ps", node->self_ps);
    tm_add_int(to, "total_ps", node->total_ps);
    tm_add_double(to, "share_pct", share_of(node->total_ps, whole_of(r)));
    r->listed_ps = tm_sum_times(r->listed_ps, node->self_ps);
    return TM_OK;
}

static tm_status add_rows(struct scope_report *r, struct tm_value *section)
{
    struct tm_value *list = tm_add_array(section, "rows"), *rest;
    const uint32_t count = (uint32_t)tm_top_rows_count(r->top);
    const size_t bytes = (count + 1) * sizeof(uint32_t);
    uint32_t *order = tm_take(&r->run->budget, TM_ACCOUNT_TABLES, bytes, &r->run->error);
    uint32_t listed = 0;
    tm_status st = r->run->error.status;

    r->room = count * TM_ROW_TEXT_ROOM;
    if (order)
        st = tm_tree_order(r->run, TM_ACCOUNT_TABLES, count ? tm_top_rows_at(r->top, 0) : NULL, count,
                           sizeof(struct scope_node), is_root, order, &listed);
    for (uint32_t i = 0; i < listed && st == TM_OK; i++)
        st = add_node(r, list, tm_top_rows_at(r->top, order[i]));
    tm_give(&r->run->budget, TM_ACCOUNT_TABLES, order, order ? bytes : 0);
    rest = tm_add_object(section, "rest");
    tm_add_uint(rest, "rows", r->distinct - listed);
    tm_add_int(rest, "self_ps", r->sums.self_ps > r->listed_ps ? r->sums.self_ps - r->listed_ps : 0);
    return st;
}

static void add_sums(const struct scope_report *r, struct tm_value *section)
{
    const struct scope_sums *sums = &r->sums;
    struct tm_value *to;

    if (sums->count)
        tm_add_int(section, "self_ps", sums->self_ps);
    else
        tm_add_null(section, "self_ps", r->why);
    to = tm_add_object(section, "unscoped");
    tm_add_uint(to, "count", sums->unscoped_count);
    tm_add_int(to, "self_ps", sums->unscoped_ps);
    tm_add_double(to, "share_pct", share_of(sums->unscoped_ps, whole_of(r)));
    if (!sums->count) {
        tm_add_null(section, "passes", r->why);
        tm_add_null(section, "recomputed", r->why);
        return;
    }
    to = tm_add_object(section, "passes");
    for (int i = 0; i < TM_PASS_COUNT; i++)
        tm_add_int(to, tm_scope_pass_name[i], sums->pass_ps[i]);
    to = tm_add_object(section, "recomputed");
    tm_add_uint(to, "count", sums->recomputed_count);
    tm_add_int(to, "self_ps", sums->recomputed_ps);
    tm_add_double(to, "share_pct", share_of(sums->recomputed_ps, whole_of(r)));
}

static tm_status write_scopes(struct scope_report *r, struct tm_value *section)
{
    tm_status st = read_ops(r);

    if (st == TM_OK)
        st = choose_nodes(r);
    if (st != TM_OK)
        return st;
    add_sums(r, section);
    if (!r->sums.count) {
        tm_add_null(section, "rows", r->why);
        tm_add_null(section, "rest", r->why);
        tm_add_null(section, "layers", r->why);
        tm_add_null(section, "layers_rest", r->why);
        return TM_OK;
    }
    st = add_rows(r, section);
    return st == TM_OK ? tm_scope_layers_report(r->scopes, r->layers, section) : st;
}

tm_status tm_scopes_report(struct tm_stage *s, struct tm_value *summary)
{
    struct scopes *c = s->state;
    struct scope_report r = { .why = c->has_device ? no_paths : "no device activity was recorded",
                              .scopes = c,
                              .run = s->run };
    struct tm_value *section = tm_add_object(summary, "scopes");
    tm_status st;

    tm_front_release(&c->front);
    r.nodes = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct scope_node), scopes_memory(s->run, SCOPES_NODES),
                            merge_nodes);
    r.layers = tm_scope_layers_new(s->run);
    r.top = tm_listed_rows_new(s->run, sizeof(struct scope_node), c->settings->table_rows, longest_first);
    if (r.nodes && r.layers && r.top)
        st = write_scopes(&r, section);
    else
        st = s->run->error.status;
    tm_groups_free(r.nodes);
    tm_groups_free(r.layers);
    tm_top_rows_free(r.top);
    return st == TM_OK ? tm_annotations_report(c->annotations, c->settings->table_rows, section) : st;
}
