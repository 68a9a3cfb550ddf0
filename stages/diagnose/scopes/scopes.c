/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes, the stage: folds device activities by framework path.  Which scopes a path tells is worked out in the
 * report, once per different path.  What counts is what the table of kernels counts, and copies that have a path.
 * Memory: groups spill; ops that lie in each other are kept while they are open. */
#include <string.h>

#include "stages/diagnose/scopes/scopes_private.h"

enum { OPEN_OPS = 1024 }; /* at once, on all lines of a host: a few per core or thread */

/* What goes along with an op until it has ended. */
struct open_op {
    tm_strid path;
};

static void merge_ops(void *into, const void *from)
{
    struct scope_op *a = into;
    const struct scope_op *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->self_ps = tm_sum_times(a->self_ps, b->self_ps);
}

/* --- adding --- */

static tm_status add_op(struct scopes *s, tm_strid path, int64_t self_ps)
{
    struct scope_op op = { .count = 1, .self_ps = self_ps, .path = path };
    struct tm_name name;
    tm_status st;

    if (!path) {
        s->unscoped_count++;
        s->unscoped_ps = tm_sum_times(s->unscoped_ps, self_ps);
        return TM_OK;
    }
    st = tm_names_info(s->names, path, &name);
    op.key = name.hash;
    return st == TM_OK ? tm_groups_add(s->ops, &op) : st;
}

static tm_status take_nested(void *to, const struct tm_nested *span)
{
    return add_op(to, ((const struct open_op *)span->payload)->path, span->self_ps);
}

/* --- stage --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct scopes *c = s->state;

    c->run = s->run;
    c->settings = s->settings;
    c->ops = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct scope_op), scopes_memory(s->run, SCOPES_OPS),
                           merge_ops);
    c->nesting = tm_nesting_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct open_op), OPEN_OPS, take_nested, c);
    c->annotations = tm_annotations_new(s->run);
    return c->ops && c->nesting && c->annotations ? TM_OK : s->run->error.status;
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

/* The path of an activity: its own, else what the HLO of its program tells. */
static tm_status find_path(struct scopes *c, const struct tm_config *config, tm_strid *path)
{
    const struct tm_hlo_op *op;
    tm_status st;

    *path = config->op;
    if (*path)
        return TM_OK;
    st = tm_trace_hlo(c->trace, config, &op);
    if (op)
        *path = op->path;
    return st;
}

/* As in kernels.c: a TPU op that waits for the host is no activity, but an op of its line. */
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

static tm_status take_activity(struct scopes *c, const struct tm_event *event)
{
    struct open_op op = { .path = 0 };
    tm_status st = find_path(c, event->config, &op.path);

    if (st != TM_OK || !counts(c, event, op.path != 0))
        return st;
    if (c->trace->devices[event->device].kind == TM_DEVICE_GPU)
        return add_op(c, op.path, event->record.dur_ps);
    return tm_nesting_take(c->nesting, event->record.track, event->record.start_ps, event->record.dur_ps, &op);
}

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct scopes *c = s->state;
    tm_status st = TM_OK;

    if (event->chosen && event->device < c->trace->device_count && c->trace->devices[event->device].activities)
        st = take_activity(c, event);
    return st == TM_OK ? tm_annotations_take(c->annotations, event) : st;
}

static tm_status end_host(struct tm_stage *s)
{
    struct scopes *c = s->state;
    const tm_status st = tm_nesting_end(c->nesting);

    return st == TM_OK ? tm_annotations_end(c->annotations) : st;
}

static void close_stage(struct tm_stage *s)
{
    struct scopes *c = s->state;

    tm_groups_free(c->ops);
    tm_nesting_free(c->nesting);
    tm_annotations_free(c->annotations);
}

const struct tm_stage_type tm_scopes_stage = {
    .name = "scopes",
    .summary = "device time by framework scope and by host annotation",
    .state_bytes = sizeof(struct scopes),
    .classes = TM_CLASSES_ALL,
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = tm_scopes_report,
    .save = tm_scopes_save,
    .load = tm_scopes_load,
    .close = close_stage,
};
