/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SCOPES_PRIVATE_H
#define TM_SCOPES_PRIVATE_H

#include "pipeline/front.h"
#include "stages/diagnose/nesting.h"
#include "stages/diagnose/scopes/annotations.h"
#include "stages/diagnose/scopes/scope_path.h"
#include "stages/diagnose/scopes/scopes.h"
#include "stages/diagnose/scopes/tree_order.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"

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
    struct tm_key text;         /* hash of `path` */
    uint64_t count;             /* of it and of all that is in it */
    int64_t self_ps, total_ps;  /* self_ps: of ops that are in no scope of it */
    tm_strid path;              /* of an op that is in it; of several the one of the smallest hash */
    uint32_t depth;             /* its parts of that path: 1 ... */
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
    const struct tm_trace *trace; /* of the present host */
    struct tm_names *names;
    struct tm_groups *ops;        /* struct scope_op; NULL once the report has read them */
    struct tm_front front;        /* of ops, by the site of the event */
    struct tm_nesting *nesting;   /* of ops on a line of a TPU, or on a thread of a CPU */
    struct annotations *annotations;
    uint64_t unscoped_count;      /* of activities without any path */
    int64_t unscoped_ps;
    bool has_device;
};

/* Parts of what the tables of this stage may take, in sixteenths.  Those of the report come when the ops are read. */
enum { SCOPES_OPS = 4, SCOPES_FRONT = 2, SCOPES_NODES = 4, SCOPES_LAYERS = 3, SCOPES_FAMILIES = 2 };

static inline size_t scopes_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_SCOPES, 16, (unsigned)parts);
}

/* What the tables hold of the section, once the ops are read. */
struct scope_sums {
    uint64_t count, unscoped_count, recomputed_count;
    int64_t self_ps, unscoped_ps, recomputed_ps, pass_ps[TM_PASS_COUNT];
};

/* scope_report.c */
tm_status tm_scopes_report(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;

/* scope_layers.c.  Takes each path with the sums of its ops, then writes `layers` and `layers_rest`. */
struct tm_groups *tm_scope_layers_new(struct tm_run *run) TM_MUST_USE;
tm_status tm_scope_layers_add(struct tm_groups *layers, const char *text, const struct tm_scope_path *path,
                              const struct scope_op *op) TM_MUST_USE;
tm_status tm_scope_layers_report(struct scopes *scopes, struct tm_groups *layers, struct tm_value *to) TM_MUST_USE;

/* scope_partial.c */
tm_status tm_scopes_save(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_scopes_load(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
