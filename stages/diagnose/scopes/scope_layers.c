/* SPDX-License-Identifier: Apache-2.0 */
/* Layers: scopes that are numbered, with their passes side by side.  Those of one family have the same scopes around
 * them and names that differ only in the number; families of one are none.  Of families inside the layers of another
 * one only that is told.  Memory: groups that spill, and the families that take most time. */
#include "stages/diagnose/row_text.h"
#include "stages/diagnose/scopes/scopes_private.h"
#include "stages/diagnose/top_rows.h"

enum { FAMILIES_MOST = 64 };

/* Layers that differ only in their number. */
struct family {
    struct tm_key key, outer;
    uint64_t members;
    int64_t total_ps;
    uint32_t depth, unused; /* rows that spill have no holes */
};

/* A layer with the place of its family in the table. */
struct listed_layer {
    struct scope_layer layer;
    uint32_t place;
};

struct layer_report {
    struct scopes *scopes;
    struct tm_groups *layers;
    struct tm_top_rows *families;  /* struct family */
    bool is_told[FAMILIES_MOST], is_covered[FAMILIES_MOST];
    struct tm_top_rows *listed;    /* struct listed_layer */
    uint64_t rows;                 /* layers of the families that are told */
    int64_t total_ps, listed_ps;
};

/* --- folding --- */

static void merge_layers(void *into, const void *from)
{
    struct scope_layer *a = into;
    const struct scope_layer *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
    for (int i = 0; i < TM_PASS_COUNT; i++)
        a->pass_ps[i] = tm_sum_times(a->pass_ps[i], b->pass_ps[i]);
    if (tm_key_order(b->text, a->text) < 0) {
        a->text = b->text;
        a->path = b->path;
        a->depth = b->depth;
    }
}

static void merge_families(void *into, const void *from)
{
    struct family *a = into;
    const struct family *b = from;

    a->members = tm_sum_counts(a->members, b->members);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
}

struct tm_groups *tm_scope_layers_new(struct tm_run *run)
{
    return tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct scope_layer), scopes_memory(run, SCOPES_LAYERS),
                         merge_layers);
}

/* The key of the family: of the scopes around it, and of its name without the number. */
static struct tm_key family_of(struct tm_key outer, const char *name, size_t digits_at)
{
    struct tm_scope_path base = { .parts = { { 0, (uint32_t)digits_at } }, .depth = 1, .pass = TM_PASS_COUNT };
    struct tm_key keys[2];

    tm_scope_path_keys(name, &base, keys);
    return (struct tm_key){ outer.high ^ keys[1].high, outer.low + keys[1].low };
}

tm_status tm_scope_layers_add(struct tm_groups *layers, const char *text, const struct tm_scope_path *path,
                              const struct scope_op *op)
{
    struct tm_scope_path any = *path;
    struct tm_key keys[TM_SCOPE_DEPTH_MOST + 1], outer = { 0, 0 };
    tm_status st = TM_OK;

    any.pass = TM_PASS_OTHER; /* one key for all passes */
    tm_scope_path_keys(text, &any, keys);
    for (uint32_t i = 0; i < path->depth && st == TM_OK; i++) {
        const char *name = text + path->parts[i].at;
        struct scope_layer layer = { .key = keys[i + 1], .outer_family = outer, .text = op->key, .count = op->count,
                                     .total_ps = op->self_ps, .path = op->path, .depth = i + 1 };
        size_t digits_at;

        if (!tm_scope_is_layer(name, path->parts[i].length, &digits_at, &layer.number) || (!digits_at && !i))
            continue;
        layer.pass_ps[path->pass] = op->self_ps;
        outer = layer.family = family_of(keys[i], name, digits_at);
        st = tm_groups_add(layers, &layer);
    }
    return st;
}

/* --- which families are told --- */

static int family_order(const void *a, const void *b)
{
    const struct family *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static int layer_order(const void *a, const void *b)
{
    const struct listed_layer *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->layer.number != y->layer.number)
        return x->layer.number < y->layer.number ? -1 : 1;
    return tm_key_order(x->layer.key, y->layer.key);
}

/* The place of a family among those that take most; FAMILIES_MOST = it is not there. */
static uint32_t place_of(struct tm_top_rows *families, struct tm_key key)
{
    const uint32_t count = (uint32_t)tm_top_rows_count(families);

    for (uint32_t i = 0; i < count; i++)
        if (tm_is_same_key(((const struct family *)tm_top_rows_at(families, i))->key, key))
            return i;
    return FAMILIES_MOST;
}

/* What is around a family takes as much time and stands before it. */
static void decide_told(struct layer_report *r)
{
    for (uint32_t i = 0; i < tm_top_rows_count(r->families); i++) {
        const struct family *family = tm_top_rows_at(r->families, i);
        const uint32_t outer = place_of(r->families, family->outer);

        r->is_covered[i] = outer < i && (r->is_told[outer] || r->is_covered[outer]);
        r->is_told[i] = family->members > 1 && !r->is_covered[i];
    }
}

static tm_status count_families(struct layer_report *r, struct tm_groups *families)
{
    const void *row = NULL;
    tm_status st = tm_groups_finish(r->layers);

    while (st == TM_OK && (st = tm_groups_next(r->layers, &row)) == TM_OK && row) {
        const struct scope_layer *layer = row;
        const struct family family = { .key = layer->family, .outer = layer->outer_family, .members = 1,
                                       .total_ps = layer->total_ps, .depth = layer->depth };

        st = tm_groups_add(families, &family);
    }
    return st;
}

static tm_status find_families(struct layer_report *r)
{
    struct tm_run *run = r->scopes->run;
    struct tm_groups *families = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct family),
                                               scopes_memory(run, SCOPES_FAMILIES), merge_families);
    const void *row = NULL;
    tm_status st = families ? count_families(r, families) : run->error.status;

    if (st == TM_OK)
        st = tm_groups_finish(families);
    while (st == TM_OK && (st = tm_groups_next(families, &row)) == TM_OK && row)
        st = tm_top_rows_add(r->families, row);
    tm_groups_free(families);
    if (st != TM_OK)
        return st;
    tm_top_rows_sort(r->families);
    decide_told(r);
    return TM_OK;
}

static tm_status list_layers(struct layer_report *r)
{
    const void *row = NULL;
    tm_status st = tm_groups_rewind(r->layers);

    while (st == TM_OK && (st = tm_groups_next(r->layers, &row)) == TM_OK && row) {
        struct listed_layer listed = { .layer = *(const struct scope_layer *)row };

        listed.place = place_of(r->families, listed.layer.family);
        if (listed.place == FAMILIES_MOST || !r->is_told[listed.place])
            continue;
        r->rows++;
        r->total_ps = tm_sum_times(r->total_ps, listed.layer.total_ps);
        st = tm_top_rows_add(r->listed, &listed);
    }
    if (st == TM_OK)
        tm_top_rows_sort(r->listed);
    return st;
}

/* --- values --- */

static tm_status add_layer(struct layer_report *r, struct tm_value *list, const struct scope_layer *layer, size_t *room)
{
    char joined[TM_SCOPE_PATH_MOST];
    struct tm_scope_path path;
    struct tm_value *to;
    const char *text;
    size_t length, name_at, family_length;
    const tm_status st = tm_names_text(r->scopes->names, layer->path, TM_SCOPE_PATH_MOST + 1, &text, &length);

    if (st != TM_OK)
        return st;
    tm_scope_path_read(text, length, &path);
    length = tm_scope_path_join(text, &path, layer->depth, joined);
    name_at = layer->depth > 1 ? tm_scope_path_join(text, &path, layer->depth - 1, joined) + 1 : 0;
    for (family_length = length; joined[family_length - 1] >= '0' && joined[family_length - 1] <= '9';)
        family_length--;
    if (family_length == name_at) /* "layers/3" */
        name_at = layer->depth > 2 ? tm_scope_path_join(text, &path, layer->depth - 2, joined) + 1 : 0;
    (void)tm_scope_path_join(text, &path, layer->depth, joined);
    to = tm_add_object(list, NULL);
    tm_add_row_text(to, "layer", joined + name_at, length - name_at, room);
    tm_add_row_text(to, "path", joined, length, room);
    tm_add_row_text(to, "family", joined, family_length, room);
    tm_add_uint(to, "count", layer->count);
    tm_add_int(to, "forward_ps", layer->pass_ps[TM_PASS_FORWARD]);
    tm_add_int(to, "backward_ps", layer->pass_ps[TM_PASS_BACKWARD]);
    tm_add_int(to, "other_ps", layer->pass_ps[TM_PASS_OTHER]);
    tm_add_int(to, "total_ps", layer->total_ps);
    r->listed_ps = tm_sum_times(r->listed_ps, layer->total_ps);
    return TM_OK;
}

static tm_status write_layers(struct layer_report *r, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "layers"), *rest;
    const uint64_t count = tm_top_rows_count(r->listed);
    size_t room = count * TM_ROW_TEXT_ROOM;
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < count && st == TM_OK; i++)
        st = add_layer(r, list, &((const struct listed_layer *)tm_top_rows_at(r->listed, i))->layer, &room);
    rest = tm_add_object(to, "layers_rest");
    tm_add_uint(rest, "rows", r->rows - count);
    tm_add_int(rest, "total_ps", r->total_ps > r->listed_ps ? r->total_ps - r->listed_ps : 0);
    return st;
}

tm_status tm_scope_layers_report(struct scopes *scopes, struct tm_groups *layers, struct tm_value *to)
{
    struct tm_run *run = scopes->run;
    struct layer_report r = { .scopes = scopes, .layers = layers };
    tm_status st = TM_OK;

    r.families = tm_top_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct family), FAMILIES_MOST,
                                 scopes_memory(run, SCOPES_FAMILIES), family_order);
    r.listed = tm_listed_rows_new(run, sizeof(struct listed_layer), scopes->settings->table_rows, layer_order);
    if (!r.families || !r.listed)
        st = run->error.status;
    if (st == TM_OK)
        st = find_families(&r);
    if (st == TM_OK)
        st = list_layers(&r);
    if (st == TM_OK)
        st = write_layers(&r, to);
    tm_top_rows_free(r.families);
    tm_top_rows_free(r.listed);
    return st;
}
