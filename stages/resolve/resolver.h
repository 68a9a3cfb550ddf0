/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RESOLVER_H
#define TM_RESOLVER_H

#include "pipeline/index.h"
#include "pipeline/sites.h"
#include "pipeline/source.h"
#include "pipeline/spans.h"
#include "pipeline/stage.h"
#include "stages/resolve/classes.h"
#include "stages/resolve/launches.h"

/* From a record to an event: its class, its device, the call that launched it, the step it belongs to.  Rests on
 * what the survey found: launches by correlation id, markers, executions. */

/* A key alone: a set. */
struct tm_id {
    uint64_t key;
};

/* The launch of a TPU's execution, which all ops in it share. */
struct tm_run_launch {
    uint64_t key;    /* 0 = none yet */
    uint64_t number; /* 0 = nobody launched it */
    struct tm_launch launch;
};
enum { TM_RUN_LAUNCHES = 16 /* a power of two */ };

struct tm_resolver {
    struct tm_run *run;
    struct tm_trace *trace;
    struct tm_launches *launches;
    struct tm_index *launched;        /* struct tm_id: uncertain launches that a device activity bears the id of */
    struct tm_index *expanded_graphs; /* struct tm_id: correlation ids of graphs whose kernels were recorded */
    struct tm_spans *programs;        /* TPU: executions by device; value = tm_run_key */
    struct tm_run_launch
        run_launches[TM_RUN_LAUNCHES]; /* looked up last: of devices by the lowest bits of their number */
    struct tm_spans *steps;            /* markers or executions; the lane is by the source of the steps: host 0,
                                         TPU the device, GPU executions the launching track,
                                         and TM_NONE for executions on any track */
    struct tm_index *group_steps;      /* struct tm_group_step; source group */
    int64_t *inside_until_ps;          /* by thread: the end of the last execution or compilation that began on it;
                                         NULL before the ordered reading */
    struct tm_sites sites;             /* `told`: a struct tm_told in 32 bits */
    bool knows_launches, knows_steps;  /* what of it stands by now */
    bool has_launched, has_expanded;   /* there are some in `launched` and `expanded_graphs`, which are finished */
    bool has_devices;                  /* a GPU or TPU was active: cpu_op events are no activities */
};

/* Ordinal of a viewer's group. */
struct tm_group_step {
    uint64_t key; /* group_id */
    uint64_t ordinal;
};

/* What may differ from one event to the next of the same name, line, flags and launch facts. */
struct tm_circumstances {
    bool is_inside;    /* it lies inside an execution or a compilation of its thread */
    bool is_known;     /* of a host call: an activity bears its id; of a graph: its kernels were recorded */
    uint8_t direction; /* enum tm_direction that the name of its launch tells */
};

/* What follows for the event; the same for all of a site. */
struct tm_told {
    uint8_t class, level, direction;
    bool is_activity; /* of a device: it may have a launch and a step */
    uint32_t device;
};

/* Tell an event's class and what goes with it, whenever it happens. */
tm_status tm_tell(struct tm_resolver *resolver, const struct tm_track *track, const struct tm_raw_record *raw,
                  const struct tm_circumstances *around, struct tm_told *told) TM_MUST_USE;

/* Whether circumstances.is_known has to be looked up: of a call that launches, if an activity bears its id; of a graph
 * as a whole. */
static inline bool tm_id_tells(const struct tm_track *track, const struct tm_raw_record *raw)
{
    const uint32_t details = TM_FLAG_KERNEL_DETAILS | TM_FLAG_COPY_DETAILS | TM_FLAG_MEMSET_DETAILS;
    const struct tm_record *r = &raw->record;

    if (r->class == TM_CLASS_GRAPH)
        return true;
    if (track->side == TM_SIDE_HOST)
        return r->flags & TM_FLAG_CORRELATION && !(raw->traits & (TM_TRAIT_LAUNCH | TM_TRAIT_SYNC));
    return !(r->flags & details) && (r->flags & TM_FLAG_GRAPH_EXEC || raw->traits & TM_TRAIT_GRAPH_NAME);
}
tm_status tm_look_up_id(struct tm_resolver *resolver, const struct tm_track *track, const struct tm_raw_record *raw,
                        bool *is_known) TM_MUST_USE;

/* Names of executions and compilations: what has no class of its own inside one is part of the runtime. */
enum {
    TM_TRAITS_RUNTIME =
        TM_TRAIT_EXECUTE_THUNKS | TM_TRAIT_COMPILE_WHOLE | TM_TRAIT_COMPILE_CLIENT | TM_TRAIT_COMPILE_XLA
};

/* Resolve one record.  Without `knows_launches` and `knows_steps` only class, device and level are decided.
 * in:     track  of the record
 * out:    event  record.class, device, level, direction, launch, step, chosen; config is valid until the next
 *                call */
tm_status tm_resolve(struct tm_resolver *resolver, const struct tm_track *track, const struct tm_raw_record *raw,
                     struct tm_event *event) TM_MUST_USE;

/* A record will be resolved soon. */
void tm_expect(struct tm_resolver *resolver, const struct tm_track *track, const struct tm_raw_record *raw);

/* The device of CPU ops with an ordinal: made when it is first seen. */
tm_status tm_cpu_device(struct tm_trace *trace, uint32_t ordinal, uint32_t *device) TM_MUST_USE;

#endif
