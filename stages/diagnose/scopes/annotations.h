/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ANNOTATIONS_H
#define TM_ANNOTATIONS_H

#include "pipeline/stage.h"

/* What the program annotated on its host threads (jax.profiler.TraceAnnotation, torch.profiler.record_function), as a
 * tree by the names that lie around it, all threads together: host time, and the time of the device activities whose
 * launch began inside, on the same thread.  Of the chosen steps: annotations count with the part of them that lies
 * between the first chosen step marker's begin and the last one's end, activities where their step is chosen.
 * Memory: annotations are kept until the host ends, the tree is grouped; both spill.
 * errors of all that follows: of the tables, in run->error */
struct annotations;

struct annotations *tm_annotations_new(struct tm_run *run) TM_MUST_USE; /* NULL: error in run->error */
void tm_annotations_free(struct annotations *a);

tm_status tm_annotations_begin(struct annotations *a, const struct tm_trace *trace) TM_MUST_USE;
tm_status tm_annotations_take(struct annotations *a, const struct tm_event *event) TM_MUST_USE;
tm_status tm_annotations_end(struct annotations *a) TM_MUST_USE;

/* Writes `annotations` and `annotations_rest`.  in: most  rows */
tm_status tm_annotations_report(struct annotations *a, uint64_t most, struct tm_value *to) TM_MUST_USE;
tm_status tm_annotations_save(struct annotations *a, struct tm_partial_writer *w) TM_MUST_USE;
tm_status tm_annotations_load(struct annotations *a, struct tm_partial_reader *r) TM_MUST_USE;

#endif
