/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SCOPES_H
#define TM_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "stages/figures/figure_rows.h"

/* The scopes in a framework path: "jit(step)/transpose(jvp(layer_0))/mlp/dot_general" is the op dot_general in
 * step / layer_0 / mlp, of the backward pass.  Functions that were transformed keep their name; what only reflects
 * how a program was assembled (control flow, checkpoints, custom derivatives) is not a scope.
 * source: op_name as JAX 0.4 to 0.10 and TensorFlow 2 write it; docs/metrics.md, "Scopes" */

enum {
    TM_SCOPE_DEPTH_MOST = 32,  /* scopes of a path; what is deeper belongs to the last one */
    TM_SCOPE_PATH_MOST = 8192, /* bytes of a path that are examined */
};

enum tm_scope_pass { TM_PASS_FORWARD, TM_PASS_BACKWARD, TM_PASS_OTHER, TM_PASS_COUNT };
extern const char *const tm_scope_pass_name[TM_PASS_COUNT]; /* "forward", ... */

/* Whether an op belongs to a function with its own derivative rule. */
enum tm_custom_derivative { TM_CUSTOM_NONE, TM_CUSTOM_JVP, TM_CUSTOM_VJP, TM_CUSTOM_COUNT };
extern const char *const tm_custom_name[TM_CUSTOM_COUNT]; /* "", "custom_jvp", "custom_vjp" */

/* A stretch of the path's text. */
struct tm_scope_part {
    uint32_t at, length;
};

struct tm_scope_path {
    struct tm_scope_part parts[TM_SCOPE_DEPTH_MOST]; /* the outermost first */
    uint32_t depth;                                  /* parts; 0 = the path names only an op */
    enum tm_scope_pass pass;
    enum tm_custom_derivative custom; /* the innermost one */
    bool is_recomputed;               /* a forward computation repeated for the backward pass (jax.checkpoint) */
    bool is_cut;                      /* it was deeper, or longer than TM_SCOPE_PATH_MOST */
};

/* in: text  any bytes; what is past TM_SCOPE_PATH_MOST is not examined.  Never fails; linear in the length */
void tm_scope_path_read(const char *text, size_t length, struct tm_scope_path *path);

/* The key of the node for the first `depth` parts, in one pass: a hash of the names on the path to it.
 * in:     keys  room for depth + 1; keys[0] = of all roots */
void tm_scope_path_keys(const char *text, const struct tm_scope_path *path, struct tm_key *keys);

/* The names of the first `depth` parts with '/' between them.
 * in:     to  room for TM_SCOPE_PATH_MOST bytes, which is enough for any
 * out:    how many bytes */
size_t tm_scope_path_join(const char *text, const struct tm_scope_path *path, uint32_t depth, char *to);

/* A name with the number of one of many: "layer_3", "h.5", "block12", or "3" inside "layers".
 * out: *digits_at  bytes in front of the number; 0 = it is only a number */
bool tm_scope_is_layer(const char *name, size_t length, size_t *digits_at, uint64_t *number);

/* The first members of a row of a tree. */
struct tm_tree_node {
    struct tm_key key, outer; /* outer: the key of the node around it; of a root the key of none */
};

/* The order in which a tree is reported: a node, then its children.  Siblings keep their order.  A node without its
 * parent is dropped with everything below it.
 * in:     rows     count rows of row_bytes, each starting with struct tm_tree_node, with different keys
 *         is_root
 * out:    order    room for `count`: row numbers
 *         *listed  how many of them there are
 * errors: TM_ERR_LIMIT */
typedef bool tm_tree_is_root(const void *row);

tm_status tm_tree_order(struct tm_run *run, enum tm_account account, const void *rows, uint32_t count, size_t row_bytes,
                        tm_tree_is_root *is_root, uint32_t *order, uint32_t *listed);

/* The program's annotations on its host threads (jax.profiler.TraceAnnotation, torch.profiler.record_function), as a
 * tree of the enclosing names, over all threads: host time, and the time of the device activities that were launched
 * inside, on the same thread.  For the analyzed steps: annotations count with the part between the start of the first
 * analyzed step marker and the end of the last one, activities if their step is analyzed.  Memory: annotations are kept
 * until the host ends, the tree is grouped; both spill. errors of the following functions: of the tables; the status is
 * that of the run */
struct annotations;

struct annotations *tm_annotations_new(struct tm_run *run) TM_MUST_USE; /* NULL: error in run->error */
void tm_annotations_free(struct annotations *a);

tm_status tm_annotations_begin(struct annotations *a, const struct tm_trace *trace);
bool tm_annotations_want(const struct tm_event *event); /* of a call site: what tm_annotations_take is to get */
/* in: wanted  bit of struct tm_event.wanted: events without it are ignored */
void tm_annotations_take(struct annotations *a, const struct tm_event *events, size_t count, uint32_t wanted);
tm_status tm_annotations_end(struct annotations *a);

/* Writes `annotations` and `annotations_rest`.  in: most  rows */
tm_status tm_annotations_report(struct annotations *a, uint64_t most, struct tm_value *to);
tm_status tm_annotations_save(struct annotations *a, struct tm_partial_writer *w);
tm_status tm_annotations_load(struct annotations *a, struct tm_partial_reader *r);

enum { ANNOTATION_LAUNCHES = 64 /* a power of two */ };

/* Activities that were launched on a thread while the same annotations were open. */
struct launches {
    int64_t from_ps, until_ps; /* [from, until): they are open all the time, and no other one is */
    int64_t device_ps;
    uint64_t activities;
    uint32_t track;
    uint32_t span; /* number of the last one that had started; 0 = none */
};

struct annotations {
    struct tm_run *run;
    const struct tm_trace *trace; /* of the current host */
    struct tm_names *names;
    struct tm_rows *spans;   /* struct annotation_span, of the current host in the order of their starts */
    struct tm_rows *threads; /* of it: struct annotation_thread, by track */
    struct tm_sorter *leads; /* of it: annotations that are open when the analyzed steps start; NULL = they have
                              * started */
    struct tm_rows *early;   /* of it: struct launch, of activities that came before it */
    struct launches launches[ANNOTATION_LAUNCHES]; /* of it, by thread and device */
    struct tm_groups *rows;                        /* struct annotation_row */
    int64_t start_ps, end_ps;                      /* the analyzed part of the current host */
    uint64_t launched;                             /* activities whose launch is known */
    uint64_t inside;                               /* those whose launch is in an annotation */
    int64_t host_self_ps, inside_ps;
    bool has_host_events;
};

#endif
