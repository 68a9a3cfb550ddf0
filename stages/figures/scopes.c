/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes, the stage: folds device activities by framework path.  Which scopes a path contains is computed in the
 * report, once per different path.  What counts is what the table of kernels counts, and copies that have a path.
 * Memory: groups, which spill. */
#include "stages/figures/figure_stages.h"

#include <string.h>

#include "stages/figures/scopes.h"
#include "pipeline/record.h"
#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"

/* Activities of one framework path, the op's name included. */
struct scope_op {
    struct tm_key key; /* hash of the path's text */
    uint64_t count;
    int64_t self_ps;
    tm_strid path;
};

/* A scope in one pass. */
struct scope_node {
    struct tm_tree_node node;
    struct tm_key text;        /* hash of `path` */
    uint64_t count;            /* of it and of all that is in it */
    int64_t self_ps, total_ps; /* self_ps: of ops that are in no scope of it */
    tm_strid path;             /* of an op that is in it; of several the one of the smallest hash */
    uint32_t depth;            /* its parts of that path: 1 ... */
    uint32_t customs;          /* of ops that are in no scope of it: bits of enum tm_custom_derivative */
};

/* One of several numbered scopes, all passes together. */
struct scope_layer {
    struct tm_key key;          /* of the names on the way to it */
    struct tm_key family;       /* the same without its number */
    struct tm_key outer_family; /* of the innermost numbered scope around it; 0 = none */
    struct tm_key text;         /* hash of `path` */
    uint64_t count, number;
    int64_t pass_ps[TM_PASS_COUNT], total_ps;
    tm_strid path;
    uint32_t depth;
};

struct scopes {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the current host */
    struct tm_names *names;
    struct tm_groups *ops; /* struct scope_op; NULL once the report has read them */
    struct annotations *annotations;
    uint64_t unscoped_count; /* of activities without any path */
    int64_t unscoped_ps;
    bool has_device;
};

/* Shares of the memory for the tables of this stage, in thirteenths.  Those of the report come when the ops are
 * read. */
enum { SCOPES_OPS = 4, SCOPES_NODES = 4, SCOPES_LAYERS = 3, SCOPES_FAMILIES = 2 };

static inline size_t scopes_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_SCOPES, 13, (unsigned)parts);
}

/* The sums of the section in the tables, once the ops are read. */
struct scope_sums {
    uint64_t count, unscoped_count, recomputed_count;
    int64_t self_ps, unscoped_ps, recomputed_ps, pass_ps[TM_PASS_COUNT];
    uint64_t custom_count[TM_CUSTOM_COUNT];
    int64_t custom_ps[TM_CUSTOM_COUNT][TM_PASS_COUNT];
};

/* Layers: scopes that are numbered, with their passes side by side.  Those of one family have the same scopes around
 * them and names that differ only in the number; a family has at least two.  Of nested families, only the outer one is
 * reported.  Memory: groups that spill, and the families that take most time. */

enum { FAMILIES_MOST = 64 };

/* Layers that differ only in their number. */
struct family {
    struct tm_key key, outer;
    uint64_t members;
    int64_t total_ps;
    uint32_t depth, unused; /* spilled rows have no padding */
};

/* A layer with the place of its family in the table. */
struct listed_layer {
    struct scope_layer layer;
    uint32_t place;
};

struct layer_report {
    struct scopes *scopes;
    struct tm_groups *layers;
    struct tm_top_rows *families; /* struct family */
    bool is_told[FAMILIES_MOST], is_covered[FAMILIES_MOST];
    struct tm_top_rows *listed; /* struct listed_layer */
    uint64_t rows;              /* layers of the listed families */
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

/* scopes.c.  Takes each path with the sums of its ops, then writes `layers` and `layers_rest`. */
static struct tm_groups *scope_layers_new(struct tm_run *run)
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

static void scope_layers_add(struct tm_groups *layers, const char *text, const struct tm_scope_path *path,
                             const struct scope_op *op)
{
    struct tm_scope_path any = *path;
    struct tm_key keys[TM_SCOPE_DEPTH_MOST + 1], outer = { 0, 0 };

    any.pass = TM_PASS_OTHER; /* one key for all passes */
    tm_scope_path_keys(text, &any, keys);
    for (uint32_t i = 0; i < path->depth; i++) {
        const char *name = text + path->parts[i].at;
        struct scope_layer layer = { .key = keys[i + 1],
                                     .outer_family = outer,
                                     .text = op->key,
                                     .count = op->count,
                                     .total_ps = op->self_ps,
                                     .path = op->path,
                                     .depth = i + 1 };
        size_t digits_at;

        if (!tm_scope_is_layer(name, path->parts[i].length, &digits_at, &layer.number) || (!digits_at && !i))
            continue;
        layer.pass_ps[path->pass] = op->self_ps;
        outer = layer.family = family_of(keys[i], name, digits_at);
        tm_groups_add(layers, &layer);
    }
}

/* --- which families are listed --- */

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

/* The place of a family among those that take most; FAMILIES_MOST = it does not exist. */
static uint32_t place_of(struct tm_top_rows *families, struct tm_key key)
{
    const uint32_t count = (uint32_t)tm_top_rows_count(families);

    for (uint32_t i = 0; i < count; i++)
        if (tm_is_same_key(((const struct family *)tm_top_rows_at(families, i))->key, key))
            return i;
    return FAMILIES_MOST;
}

/* What encloses a family takes at least as much time, and precedes it. */
static void decide_told(struct layer_report *r)
{
    for (uint32_t i = 0; i < tm_top_rows_count(r->families); i++) {
        const struct family *family = tm_top_rows_at(r->families, i);
        const uint32_t outer = place_of(r->families, family->outer);

        r->is_covered[i] = outer < i && (r->is_told[outer] || r->is_covered[outer]);
        r->is_told[i] = family->members > 1 && !r->is_covered[i];
    }
}

static void count_families(struct layer_report *r, struct tm_groups *families)
{
    const struct scope_layer *layer;

    tm_groups_finish(r->layers);
    while ((layer = tm_groups_next(r->layers))) {
        const struct family family = { .key = layer->family,
                                       .outer = layer->outer_family,
                                       .members = 1,
                                       .total_ps = layer->total_ps,
                                       .depth = layer->depth };

        tm_groups_add(families, &family);
    }
}

static void find_families(struct layer_report *r)
{
    struct tm_run *run = r->scopes->run;
    struct tm_groups *families = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct family),
                                               scopes_memory(run, SCOPES_FAMILIES), merge_families);
    const void *row;

    if (!families)
        return;
    count_families(r, families);
    tm_groups_finish(families);
    while ((row = tm_groups_next(families)))
        tm_top_rows_add(r->families, row);
    tm_groups_free(families);
    tm_top_rows_sort(r->families);
    decide_told(r);
}

static void list_layers(struct layer_report *r)
{
    const void *row;

    tm_groups_rewind(r->layers);
    while ((row = tm_groups_next(r->layers))) {
        struct listed_layer listed = { .layer = *(const struct scope_layer *)row };

        listed.place = place_of(r->families, listed.layer.family);
        if (listed.place == FAMILIES_MOST || !r->is_told[listed.place])
            continue;
        r->rows++;
        r->total_ps = tm_sum_times(r->total_ps, listed.layer.total_ps);
        tm_top_rows_add(r->listed, &listed);
    }
    tm_top_rows_sort(r->listed);
}

/* --- values --- */

static void add_layer(struct layer_report *r, struct tm_value *list, const struct scope_layer *layer, size_t *room)
{
    char joined[TM_SCOPE_PATH_MOST];
    struct tm_scope_path path;
    struct tm_value *to;
    const char *text;
    size_t length, name_at, family_length;

    text = tm_names_text(r->scopes->names, layer->path, TM_SCOPE_PATH_MOST + 1, &length);
    if (tm_failed(r->scopes->run)) /* a path that could not be read is not as deep as the layer */
        return;
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
}

static void write_layers(struct layer_report *r, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "layers"), *rest;
    const uint64_t count = tm_top_rows_count(r->listed);
    size_t room = count * TM_ROW_TEXT_ROOM;

    for (uint64_t i = 0; i < count; i++)
        add_layer(r, list, &((const struct listed_layer *)tm_top_rows_at(r->listed, i))->layer, &room);
    rest = tm_add_object(to, "layers_rest");
    tm_add_uint(rest, "rows", r->rows - count);
    tm_add_int(rest, "total_ps", r->total_ps > r->listed_ps ? r->total_ps - r->listed_ps : 0);
}

static void scope_layers_report(struct scopes *scopes, struct tm_groups *layers, struct tm_value *to)
{
    struct tm_run *run = scopes->run;
    struct layer_report r = { .scopes = scopes, .layers = layers };

    r.families = tm_top_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct family), FAMILIES_MOST,
                                 scopes_memory(run, SCOPES_FAMILIES), family_order);
    r.listed = tm_listed_rows_new(run, sizeof(struct listed_layer), scopes->settings->table_rows, layer_order);
    if (r.families && r.listed)
        find_families(&r);
    if (!tm_failed(run)) {
        list_layers(&r);
        write_layers(&r, to);
    }
    tm_top_rows_free(r.families);
    tm_top_rows_free(r.listed);
}

/* Scopes in a partial: all framework paths with their sums, in the order of their keys, and the annotations. */

static const struct tm_row_field op_fields[] = {
    TM_FIELD(struct scope_op, path, NAME, KEEP),
    TM_FIELD(struct scope_op, count, COUNT, SUM),
    TM_FIELD(struct scope_op, self_ps, TIME, SUM),
    TM_FIELDS_END,
};

static const struct tm_row_field sum_fields[] = {
    TM_FIELD(struct scopes, unscoped_count, COUNT, SUM),
    TM_FIELD(struct scopes, unscoped_ps, TIME, SUM),
    TM_FIELD(struct scopes, has_device, BOOL, ANY),
    TM_FIELDS_END,
};

static tm_status scopes_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct scopes *c = s->state;

    tm_fields_save(w, sum_fields, c);
    tm_fields_save_groups(w, op_fields, c->ops);
    return tm_failed(c->run) ? c->run->error.status : tm_annotations_save(c->annotations, w);
}

static void set_path(struct scopes *s, struct scope_op *op, tm_strid path)
{
    op->path = path;
    op->key = tm_names_info(s->names, path).hash;
}

static tm_status complete_op(void *of, struct tm_partial_reader *r, void *row)
{
    struct scope_op *op = row;

    (void)r;
    set_path(of, op, op->path);
    return TM_OK;
}

static tm_status scopes_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct scopes *c = s->state;

    c->names = tm_partial_names(r);
    tm_fields_load_more(r, sum_fields, c);
    tm_fields_load_groups(r, op_fields, c->ops, complete_op, c);
    return tm_failed(c->run) ? c->run->error.status : tm_annotations_load(c->annotations, r);
}

static tm_status scopes_report(struct tm_stage *s, struct tm_value *summary);

static void merge_ops(void *into, const void *from)
{
    tm_fields_merge(op_fields, into, from);
}

/* --- stage --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct scopes *c = s->state;

    c->run = s->run;
    c->settings = s->settings;
    c->ops =
        tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct scope_op), scopes_memory(s->run, SCOPES_OPS), merge_ops);
    c->annotations = tm_annotations_new(s->run);
    return s->run->error.status;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct scopes *c = s->state;

    c->trace = trace;
    c->names = trace->names;
    for (uint32_t i = 0; i < trace->device_count; i++)
        c->has_device |= trace->devices[i].activities != 0;
    return tm_annotations_begin(c->annotations, trace);
}

/* The path of an activity: its own, else that of its program's HLO. */
static tm_strid path_of(struct scopes *c, const struct tm_config *config)
{
    const struct tm_hlo_op *op;

    if (config->op)
        return config->op;
    tm_trace_hlo(c->trace, config, &op);
    return op ? op->path : 0;
}

/* As in kernels.c: a TPU op that waits for the host is not an activity, but an op of its line. */
static bool counts(const struct scopes *c, const struct tm_event *event, bool has_path)
{
    switch (event->record.class) {
    case TM_CLASS_TPU_OP:
        return true;
    case TM_CLASS_CPU_OP:
        return event->level != TM_LEVEL_NONE;
    case TM_CLASS_COPY:
    case TM_CLASS_MEMSET:
        if (has_path && event->level != TM_LEVEL_NONE)
            return true;
        break;
    case TM_CLASS_KERNEL:
    case TM_CLASS_COLLECTIVE:
        break;
    default:
        return false;
    }
    if (event->level == TM_LEVEL_NONE)
        return false;
    if (c->trace->has_kernel_details)
        return (event->record.flags & TM_FLAG_KERNEL_DETAILS) != 0;
    return event->record.class == TM_CLASS_KERNEL || event->record.class == TM_CLASS_COLLECTIVE;
}

static void take_self(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct scopes *c = s->state;
    struct scope_op op = { .count = sums->count, .self_ps = sums->self_ps };
    tm_strid path;

    if (event->device >= c->trace->device_count || !c->trace->devices[event->device].activities)
        return;
    path = path_of(c, event->config);
    if (!counts(c, event, path != 0))
        return;
    if (path) {
        set_path(c, &op, path);
        tm_groups_add(c->ops, &op);
        return;
    }
    c->unscoped_count = tm_sum_counts(c->unscoped_count, op.count);
    c->unscoped_ps = tm_sum_times(c->unscoped_ps, op.self_ps);
}

static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    (void)s;
    return tm_annotations_want(event);
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    const struct scopes *c = s->state;

    tm_annotations_take(c->annotations, events, count, s->bit);
}

static tm_status end_host(struct tm_stage *s)
{
    struct scopes *c = s->state;

    return tm_annotations_end(c->annotations);
}

static void close_stage(struct tm_stage *s)
{
    struct scopes *c = s->state;

    tm_groups_free(c->ops);
    tm_annotations_free(c->annotations);
}

const struct tm_stage_type tm_scopes_stage = {
    .name = "scopes",
    .summary = "device time by framework scope and by host annotation",
    .state_bytes = sizeof(struct scopes),
    .classes = TM_CLASSES_ALL,
    .open = open_stage,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .take_self = take_self,
    .end_host = end_host,
    .report = scopes_report,
    .save = scopes_save,
    .load = scopes_load,
    .close = close_stage,
};

/* The section scopes.  Each different path is read once: the time of its ops is added to its scope and to all
 * enclosing ones.  The nodes of the tree that take most time are listed, which never omits a parent. */

static const char no_paths[] = "the profile contains no framework paths that link operations to the program";

struct scope_report {
    const char *why; /* why there are no scopes, if there are none */
    struct scopes *scopes;
    struct tm_run *run;
    struct tm_groups *nodes, *layers;
    struct tm_top_rows *top; /* struct scope_node */
    struct scope_sums sums;
    uint64_t distinct;
    int64_t listed_ps;
    size_t room; /* for long strings */
};

/* --- from paths to nodes --- */

static void merge_nodes(void *into, const void *from)
{
    struct scope_node *a = into;
    const struct scope_node *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->self_ps = tm_sum_times(a->self_ps, b->self_ps);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
    a->customs |= b->customs;
    if (tm_key_order(b->text, a->text) < 0) {
        a->text = b->text;
        a->path = b->path;
    }
}

static void add_nodes(struct scope_report *r, const char *text, const struct tm_scope_path *path,
                      const struct scope_op *op)
{
    struct tm_key keys[TM_SCOPE_DEPTH_MOST + 1];

    tm_scope_path_keys(text, path, keys);
    for (uint32_t i = 1; i <= path->depth; i++) {
        const struct scope_node node = {
            .node = { keys[i], keys[i - 1] },
            .text = op->key,
            .count = op->count,
            .self_ps = i == path->depth ? op->self_ps : 0,
            .total_ps = op->self_ps,
            .path = op->path,
            .depth = i,
            .customs = i == path->depth ? 1u << path->custom : 0,
        };

        tm_groups_add(r->nodes, &node);
    }
    scope_layers_add(r->layers, text, path, op);
}

static void read_op(struct scope_report *r, const struct scope_op *op)
{
    struct scope_sums *sums = &r->sums;
    struct tm_scope_path path;
    size_t length;
    const char *text = tm_names_text(r->scopes->names, op->path, TM_SCOPE_PATH_MOST + 1, &length);

    tm_scope_path_read(text, length, &path);
    sums->custom_count[path.custom] = tm_sum_counts(sums->custom_count[path.custom], op->count);
    sums->custom_ps[path.custom][path.pass] = tm_sum_times(sums->custom_ps[path.custom][path.pass], op->self_ps);
    if (!path.depth) {
        sums->unscoped_count = tm_sum_counts(sums->unscoped_count, op->count);
        sums->unscoped_ps = tm_sum_times(sums->unscoped_ps, op->self_ps);
        return;
    }
    sums->count = tm_sum_counts(sums->count, op->count);
    sums->self_ps = tm_sum_times(sums->self_ps, op->self_ps);
    sums->pass_ps[path.pass] = tm_sum_times(sums->pass_ps[path.pass], op->self_ps);
    if (path.is_recomputed) {
        sums->recomputed_count = tm_sum_counts(sums->recomputed_count, op->count);
        sums->recomputed_ps = tm_sum_times(sums->recomputed_ps, op->self_ps);
    }
    add_nodes(r, text, &path, op);
}

static void read_ops(struct scope_report *r)
{
    struct scopes *c = r->scopes;
    const void *row;

    tm_groups_finish(c->ops);
    r->sums.unscoped_count = c->unscoped_count;
    r->sums.unscoped_ps = c->unscoped_ps;
    while ((row = tm_groups_next(c->ops)))
        read_op(r, row);
    tm_groups_free(c->ops); /* frees its memory for what follows */
    c->ops = NULL;
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

static bool is_root_scope(const void *row)
{
    return ((const struct scope_node *)row)->depth == 1;
}

static void choose_nodes(struct scope_report *r)
{
    const void *row;

    tm_groups_finish(r->nodes);
    while ((row = tm_groups_next(r->nodes))) {
        r->distinct++;
        tm_top_rows_add(r->top, row);
    }
    tm_groups_free(r->nodes);
    r->nodes = NULL;
    tm_top_rows_sort(r->top);
}

/* --- values --- */

/* Shares are of all device time that counts, with or without a scope. */
static int64_t whole_of(const struct scope_report *r)
{
    return tm_sum_times(r->sums.self_ps, r->sums.unscoped_ps);
}

static void add_node(struct scope_report *r, struct tm_value *list, const struct scope_node *node)
{
    char joined[TM_SCOPE_PATH_MOST];
    struct tm_scope_path path;
    struct tm_value *to;
    size_t length;
    const char *text = tm_names_text(r->scopes->names, node->path, TM_SCOPE_PATH_MOST + 1, &length);

    if (tm_failed(r->run)) /* a path that could not be read is not as deep as the node */
        return;
    tm_scope_path_read(text, length, &path);
    length = tm_scope_path_join(text, &path, node->depth, joined);
    to = tm_add_object(list, NULL);
    tm_add_row_text(to, "path", joined, length, &r->room);
    tm_add_row_text(to, "name", text + path.parts[node->depth - 1].at, path.parts[node->depth - 1].length, &r->room);
    tm_add_uint(to, "depth", node->depth - 1);
    tm_add_string(to, "pass", tm_scope_pass_name[path.pass]);
    if (node->customs & ~1u)
        tm_add_string(to, "custom_derivative", tm_custom_name[31 - __builtin_clz(node->customs)]);
    tm_add_uint(to, "count", node->count);
    tm_add_int(to, "self_ps", node->self_ps);
    tm_add_int(to, "total_ps", node->total_ps);
    tm_add_double(to, "share_pct", tm_share_of(node->total_ps, whole_of(r)));
    r->listed_ps = tm_sum_times(r->listed_ps, node->self_ps);
}

static void add_rows(struct scope_report *r, struct tm_value *section)
{
    struct tm_value *list = tm_add_array(section, "rows"), *rest;
    const uint32_t count = (uint32_t)tm_top_rows_count(r->top);
    const size_t bytes = (count + 1) * sizeof(uint32_t);
    uint32_t *order = tm_take(&r->run->budget, TM_ACCOUNT_TABLES, bytes, &r->run->error);
    uint32_t listed = 0;

    r->room = count * TM_ROW_TEXT_ROOM;
    if (order)
        tm_tree_order(r->run, TM_ACCOUNT_TABLES, count ? tm_top_rows_at(r->top, 0) : NULL, count,
                      sizeof(struct scope_node), is_root_scope, order, &listed);
    for (uint32_t i = 0; i < listed; i++)
        add_node(r, list, tm_top_rows_at(r->top, order[i]));
    tm_give(&r->run->budget, TM_ACCOUNT_TABLES, order, order ? bytes : 0);
    rest = tm_add_object(section, "rest");
    tm_add_uint(rest, "rows", r->distinct - listed);
    tm_add_int(rest, "self_ps", r->sums.self_ps > r->listed_ps ? r->sums.self_ps - r->listed_ps : 0);
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
    tm_add_double(to, "share_pct", tm_share_of(sums->unscoped_ps, whole_of(r)));
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
    tm_add_double(to, "share_pct", tm_share_of(sums->recomputed_ps, whole_of(r)));
}

static const char no_custom[] = "no framework path names a custom derivative rule; JAX rarely records them";

static void add_customs(const struct scope_report *r, struct tm_value *section)
{
    const struct scope_sums *sums = &r->sums;
    struct tm_value *list;

    if (!sums->custom_count[TM_CUSTOM_JVP] && !sums->custom_count[TM_CUSTOM_VJP]) {
        tm_add_null(section, "custom_derivatives", sums->count ? no_custom : r->why);
        return;
    }
    list = tm_add_array(section, "custom_derivatives");
    for (int i = TM_CUSTOM_JVP; i < TM_CUSTOM_COUNT; i++) {
        struct tm_value *const to = sums->custom_count[i] ? tm_add_object(list, NULL) : NULL;

        if (!to)
            continue;
        tm_add_string(to, "kind", tm_custom_name[i]);
        tm_add_uint(to, "count", sums->custom_count[i]);
        tm_add_int(to, "forward_ps", sums->custom_ps[i][TM_PASS_FORWARD]);
        tm_add_int(to, "backward_ps", sums->custom_ps[i][TM_PASS_BACKWARD]);
        tm_add_int(to, "other_ps", sums->custom_ps[i][TM_PASS_OTHER]);
    }
}

static void write_scopes(struct scope_report *r, struct tm_value *section)
{
    read_ops(r);
    choose_nodes(r);
    add_sums(r, section);
    add_customs(r, section);
    if (!r->sums.count) {
        tm_add_null(section, "rows", r->why);
        tm_add_null(section, "rest", r->why);
        tm_add_null(section, "layers", r->why);
        tm_add_null(section, "layers_rest", r->why);
        return;
    }
    add_rows(r, section);
    scope_layers_report(r->scopes, r->layers, section);
}

static tm_status scopes_report(struct tm_stage *s, struct tm_value *summary)
{
    struct scopes *c = s->state;
    struct scope_report r = { .why = c->has_device ? no_paths : "no device activity was recorded",
                              .scopes = c,
                              .run = s->run };
    struct tm_value *section = tm_add_object(summary, "scopes");

    r.nodes = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct scope_node), scopes_memory(s->run, SCOPES_NODES),
                            merge_nodes);
    r.layers = scope_layers_new(s->run);
    r.top = tm_listed_rows_new(s->run, sizeof(struct scope_node), c->settings->table_rows, longest_first);
    if (r.nodes && r.layers && r.top)
        write_scopes(&r, section);
    tm_groups_free(r.nodes);
    tm_groups_free(r.layers);
    tm_top_rows_free(r.top);
    if (tm_failed(s->run))
        return s->run->error.status;
    return tm_annotations_report(c->annotations, c->settings->table_rows, section);
}
