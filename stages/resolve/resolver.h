/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RESOLVER_H
#define TM_RESOLVER_H

#include "pipeline/index.h"
#include "pipeline/sites.h"
#include "pipeline/source.h"
#include "pipeline/spans.h"
#include "pipeline/stage.h"

/* From a record to an event: its class, its device, the call that launched it, the step it belongs to.  Rests on
 * what the survey found: launches by correlation id, markers, executions. */

/* A host call that may have launched device work, by correlation id or tm_run_key. */
struct tm_launch {
    uint64_t key;
    int64_t start_ps, dur_ps;
    uint32_t track, thread;
    uint8_t is_named;     /* its name says that it launches */
    uint8_t is_uncertain; /* only a device activity of the same id can tell */
    uint8_t direction;    /* enum tm_direction that its name tells */
};

/* A key alone: a set. */
struct tm_id {
    uint64_t key;
};

struct tm_resolver {
    struct tm_run *run;
    struct tm_trace *trace;
    struct tm_index *launches;        /* struct tm_launch */
    struct tm_index *launched;        /* struct tm_id: uncertain launches that a device activity bears the id of */
    struct tm_index *expanded_graphs; /* struct tm_id: correlation ids of graphs whose kernels were recorded */
    struct tm_spans *programs;        /* TPU: executions by device; value = tm_run_key */
    struct tm_spans *steps;           /* markers or executions; the lane is by the source of the steps: host 0,
                                         TPU the device, GPU executions the launching track,
                                         and TM_NONE for executions on any track */
    struct tm_index *group_steps;     /* struct tm_group_step; source group */
    int64_t *inside_until_ps;         /* by thread: the end of the last execution or compilation that began on it;
                                         NULL before the ordered reading */
    struct tm_sites sites;            /* empty before the ordered reading */
    bool knows_launches, knows_steps; /* what of it stands by now */
    bool has_devices;                 /* a GPU or TPU was active: cpu_op events are no activities */
};

/* Ordinal of a viewer's group. */
struct tm_group_step {
    uint64_t key; /* group_id */
    uint64_t ordinal;
};

/* Resolve one record.  Without `knows_launches` and `knows_steps` only class, device and level are decided.
 * in:     track  of the record
 * out:    event  record.class, device, level, direction, launch, step, chosen; config is valid until the next
 *                call */
tm_status tm_resolve(struct tm_resolver *resolver, const struct tm_track *track, const struct tm_raw *raw,
                     struct tm_event *event) TM_MUST_USE;

/* The device of CPU ops with an ordinal: made when it is first seen. */
tm_status tm_cpu_device(struct tm_trace *trace, uint32_t ordinal, uint32_t *device) TM_MUST_USE;

#endif
