/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes, the stage: folds device activities by framework path.  Which scopes a path tells is worked out in the
 * report, once per different path.  What counts is what the table of kernels counts, and copies that have a path.
 * Memory: events gather by site in a table of fixed size; groups spill; ops that lie in each other are kept while they
 * are open. */
#include <string.h>

#include "stages/diagnose/scopes/scopes_private.h"

enum { OPEN_OPS = 1024 }; /* at once, on all lines of a host: a few per core or thread */

/* What goes along with an op until it has ended. */
struct open_op {
    uint64_t site;
    tm_strid path;
};

/* The activities of a site that gather. */
struct scope_front {
    struct scope_op op;
    bool counts;
};

static void merge_ops(void *into, const void *from)
{
    struct scope_op *a = into;
    const struct scope_op *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->self_ps = tm_sum_times(a->self_ps, b->self_ps);
}

/* --- adding --- */

static tm_status take_gathered(void *to, void *gathered)
{
    struct scopes *s = to;
    const struct scope_op *op = &((const struct scope_front *)gathered)->op;

    if (!op->count)
        return TM_OK;
    if (op->path)
        return tm_groups_add(s->ops, op);
    s->unscoped_count = tm_sum_counts(s->unscoped_count, op->count);
    s->unscoped_ps = tm_sum_times(s->unscoped_ps, op->self_ps);
    return TM_OK;
}

static tm_status set_path(struct scopes *s, struct scope_op *op, tm_strid path)
{
    struct tm_name name;
    const tm_status st = tm_names_info(s->names, path, &name);

    op->path = path;
    op->key = name.hash;
    return st;
}

static void add_time(struct scope_op *op, int64_t self_ps)
{
    op->count++;
    op->self_ps = tm_sum_times(op->self_ps, self_ps);
}

static tm_status take_nested(void *to, const struct tm_nested *span)
{
    struct scopes *s = to;
    const struct open_op *open = span->payload;
    bool is_new;
    struct scope_front *front = tm_front_at(&s->front, open->site, &is_new);
    tm_status st = front ? TM_OK : s->run->error.status;

    if (front && is_new) {
        front->counts = true;
        st = set_path(s, &front->op, open->path);
    }
    if (st == TM_OK)
        add_time(&front->op, span->self_ps);
    return st;
}

/* --- stage --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct scopes *c = s->state;
    tm_status st;

    c->run = s->run;
    c->settings = s->settings;
    c->ops = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct scope_op), scopes_memory(s->run, SCOPES_OPS),
                           merge_ops);
    c->nesting = tm_nesting_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct open_op), OPEN_OPS, take_nested, c);
    c->annotations = tm_annotations_new(s->run);
    if (!c->ops || !c->nesting || !c->annotations)
        return s->run->error.status;
    st = tm_front_init(&c->front, s->run, TM_ACCOUNT_TABLES, sizeof(struct scope_front),
                       scopes_memory(s->run, SCOPES_FRONT), c->ops);
    c->front.taker = take_gathered;
    c->front.to = c;
    return st;
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

static tm_status fill_front(struct scopes *c, const struct tm_event *event, struct scope_front *front)
{
    tm_strid path;
    const tm_status st = find_path(c, event->config, &path);

    front->counts = counts(c, event, path != 0);
    return st == TM_OK ? set_path(c, &front->op, path) : st;
}

static tm_status take_activity(struct scopes *c, const struct tm_event *event)
{
    bool is_new;
    struct scope_front *front = tm_front_at(&c->front, event->site, &is_new);
    struct open_op open = { .site = event->site };
    const tm_status st = !front ? c->run->error.status : is_new ? fill_front(c, event, front) : TM_OK;

    if (st != TM_OK || !front->counts)
        return st;
    if (c->trace->devices[event->device].kind == TM_DEVICE_GPU) {
        add_time(&front->op, event->record.dur_ps);
        return TM_OK;
    }
    open.path = front->op.path;
    return tm_nesting_take(c->nesting, event->record.track, event->record.start_ps, event->record.dur_ps, &open);
}

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct scopes *c = s->state;
    tm_status st = TM_OK;

    if (event->chosen && event->site && event->device < c->trace->device_count &&
        c->trace->devices[event->device].activities)
        st = take_activity(c, event);
    return st == TM_OK ? tm_annotations_take(c->annotations, event) : st;
}

static tm_status end_host(struct tm_stage *s)
{
    struct scopes *c = s->state;
    tm_status st = tm_nesting_end(c->nesting);

    if (st == TM_OK)
        st = tm_front_flush(&c->front);
    return st == TM_OK ? tm_annotations_end(c->annotations) : st;
}

static void close_stage(struct tm_stage *s)
{
    struct scopes *c = s->state;

    tm_front_release(&c->front);
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
