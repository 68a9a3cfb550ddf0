/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ANNOTATIONS_H
#define TM_ANNOTATIONS_H

#include "pipeline/stage.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/figure_stages.h"

/* What the program annotated on its host threads (jax.profiler.TraceAnnotation, torch.profiler.record_function), as a
 * tree by the names that lie around it, all threads together: host time, and the time of the device activities whose
 * launch began inside, on the same thread.  Of the chosen steps: annotations count with the part of them that lies
 * between the first chosen step marker's begin and the last one's end, activities where their step is chosen.
 * Memory: annotations are kept until the host ends, the tree is grouped; both spill.
 * errors of all that follows: of the tables; the status is that of the run */
struct annotations;

struct annotations *tm_annotations_new(struct tm_run *run) TM_MUST_USE; /* NULL: error in run->error */
void tm_annotations_free(struct annotations *a);

tm_status tm_annotations_begin(struct annotations *a, const struct tm_trace *trace);
tm_status tm_annotations_take(struct annotations *a, const struct tm_event *event);
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
    uint32_t span; /* number of the last one that had begun; 0 = none */
};

struct annotations {
    struct tm_run *run;
    const struct tm_trace *trace; /* of the present host */
    struct tm_names *names;
    struct tm_rows *spans;   /* struct annotation_span, of the present host in the order of their begins */
    struct tm_rows *threads; /* of it: struct annotation_thread, by track */
    struct tm_sorter *leads; /* of it: what is open as the chosen steps begin; NULL = they have begun */
    struct tm_rows *early;   /* of it: struct launch, of activities that came before it */
    struct launches launches[ANNOTATION_LAUNCHES]; /* of it, by thread and device */
    struct tm_groups *rows;                        /* struct annotation_row */
    int64_t start_ps, end_ps;                      /* what counts of the present host */
    uint64_t launched;                             /* activities of which the launch is known */
    uint64_t inside;                               /* those whose launch lies in an annotation */
    int64_t host_self_ps, inside_ps;
    bool has_host_events;
};

#endif
