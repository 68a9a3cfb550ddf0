/* SPDX-License-Identifier: Apache-2.0 */
/* From a record to an event.  No state but the tables of the survey: the same record gives the same event,
 * whenever it is asked for. */
#include "stages/resolve/resolver.h"

#include <stdio.h>

#include "stages/resolve/classes.h"

tm_status tm_cpu_device(struct tm_trace *trace, uint32_t ordinal, uint32_t *device)
{
    const int64_t wanted = ordinal == TM_NONE ? 0 : ordinal;
    struct tm_device *d;

    for (uint32_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].kind == TM_DEVICE_CPU && trace->devices[i].ordinal == wanted) {
            *device = i;
            return TM_OK;
        }
    if (trace->device_count == TM_DEVICES_MOST)
        return tm_fail(&trace->run->error, TM_ERR_LIMIT, -1, "the trace has more than %d devices", TM_DEVICES_MOST);
    d = &trace->devices[trace->device_count];
    *d = (struct tm_device){ .index = trace->device_count, .kind = TM_DEVICE_CPU, .ordinal = wanted };
    (void)snprintf(d->name, sizeof(d->name), "/host:CPU:%lld", (long long)wanted);
    (void)snprintf(d->id, sizeof(d->id), "%s/cpu:%lld", trace->host_name, (long long)wanted);
    *device = trace->device_count++;
    return TM_OK;
}

static tm_status contains(struct tm_index *set, uint64_t key, bool *found)
{
    const void *row = NULL;
    const tm_status st = set ? tm_index_get(set, key, &row) : TM_OK;

    *found = row != NULL;
    return st;
}

/* Whether an event lies inside an execution or a compilation of its thread: what has no class of its own there is
 * part of the runtime.  Needs the order of the stream; remembers one end per thread. */
static bool is_inside_runtime(struct tm_resolver *r, const struct tm_track *track, const struct tm_record *record)
{
    return r->inside_until_ps && track->thread < r->trace->thread_count &&
           record->start_ps < r->inside_until_ps[track->thread];
}

static void note_runtime(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw *raw)
{
    const int64_t end_ps = raw->record.start_ps + raw->record.dur_ps;
    const uint32_t opens =
        TM_TRAIT_EXECUTE_THUNKS | TM_TRAIT_COMPILE_WHOLE | TM_TRAIT_COMPILE_CLIENT | TM_TRAIT_COMPILE_XLA;

    if (raw->traits & opens && r->inside_until_ps && track->thread < r->trace->thread_count &&
        end_ps > r->inside_until_ps[track->thread])
        r->inside_until_ps[track->thread] = end_ps;
}

static tm_status decide_class(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw *raw,
                              struct tm_event *event)
{
    const struct tm_record *record = &raw->record;
    struct tm_class_question question = {
        .traits = raw->traits,
        .hlo_traits = event->config->hlo_traits,
        .flags = record->flags,
        .line = track->line,
        .side = track->side,
        .kind = record->kind,
        .given = record->class,
        .tpu_collective = event->config->level == TM_LEVEL_COLLECTIVE,
        .line_is_user = track->is_user,
        .inside_runtime = is_inside_runtime(r, track, record),
        .host_has_device = r->has_devices,
    };
    tm_status st = TM_OK;

    if (track->side == TM_SIDE_HOST && record->flags & TM_FLAG_CORRELATION &&
        !(raw->traits & (TM_TRAIT_LAUNCH | TM_TRAIT_SYNC)))
        st = contains(r->launched, record->correlation, &question.device_has_correlation);
    event->record.class = (uint8_t)tm_classify(&question);
    note_runtime(r, track, raw);
    return st;
}

/* The launch of an activity: by its own id, on a TPU by the execution that it lies in. */
static tm_status find_launch(struct tm_resolver *r, const struct tm_track *track, struct tm_event *event)
{
    uint64_t key = event->record.correlation;
    const struct tm_launch *launch;
    const void *row;
    tm_status st = TM_OK;

    if (track->line == TM_LINE_TPU_OPS) {
        const struct tm_span *program;

        st = tm_spans_find(r->programs, event->device, event->record.start_ps, &program);
        key = program ? program->value : 0;
    }
    if (st != TM_OK || !key)
        return st;
    st = tm_index_find(r->launches, key, &row, &event->launch);
    if (st != TM_OK || !row)
        return st;
    launch = row;
    event->launch_track = launch->track;
    event->launch_thread = launch->thread;
    event->launch_start_ps = launch->start_ps;
    event->launch_dur_ps = launch->dur_ps;
    if (event->record.class == TM_CLASS_COPY && event->direction == TM_OTHER_DIRECTION)
        event->direction = launch->direction;
    return TM_OK;
}

static tm_status find_step(struct tm_resolver *r, const struct tm_raw *raw, struct tm_event *event)
{
    const bool has_launch = event->launch_track != TM_NONE;
    const struct tm_steps *steps = &r->trace->steps;
    const struct tm_span *span = NULL;
    const void *row = NULL;
    tm_status st = TM_OK;

    switch (steps->source) {
    case TM_STEPS_HOST:
        st = tm_spans_find(r->steps, 0, has_launch ? event->launch_start_ps : event->record.start_ps, &span);
        break;
    case TM_STEPS_GROUP:
        if (raw->record.flags & TM_FLAG_GROUP && raw->record.args_length == sizeof(struct tm_number))
            st = tm_index_get(r->group_steps, (uint64_t)((const struct tm_number *)raw->args)->value, &row);
        if (row)
            event->step = (uint32_t)((const struct tm_group_step *)row)->ordinal;
        return st;
    case TM_STEPS_TPU:
    case TM_STEPS_MODULE:
        if (r->trace->devices[event->device].kind == TM_DEVICE_TPU)
            st = tm_spans_find(r->steps, event->device, event->record.start_ps, &span);
        else if (has_launch)
            st = tm_spans_find(r->steps, event->launch_track, event->launch_start_ps, &span);
        if (st == TM_OK && !span && r->trace->devices[event->device].kind == TM_DEVICE_GPU)
            st = tm_spans_find(r->steps, TM_NONE, has_launch ? event->launch_start_ps : event->record.start_ps, &span);
        break;
    case TM_STEPS_SESSION:
        event->step = 0;
        return TM_OK;
    }
    if (span)
        event->step = (uint32_t)span->ordinal;
    return st;
}

static uint64_t site_of(struct tm_resolver *r, const struct tm_event *event)
{
    const struct tm_record *record = &event->record;
    const struct tm_site site = {
        .name_and_config = (uint64_t)record->name << 32 | record->config,
        .rest = (uint64_t)event->device << 32 | (uint64_t)record->flags << 16 | (uint64_t)record->class << 8 |
                (uint64_t)event->level << 4 | event->direction,
    };

    return tm_sites_number(&r->sites, &site);
}

/* What only activities of a device have. */
static tm_status resolve_activity(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw *raw,
                                  struct tm_event *event)
{
    const enum tm_class class = (enum tm_class)event->record.class;
    const struct tm_steps *steps = &r->trace->steps;
    bool is_expanded = false;
    tm_status st = TM_OK;

    if (track->side == TM_SIDE_HOST)
        st = tm_cpu_device(r->trace, event->config->ordinal, &event->device);
    else
        event->device = track->device;
    event->direction = (uint8_t)tm_direction_of(raw->traits);
    if (event->direction == TM_OTHER_DIRECTION && event->config->has_copy)
        event->direction = event->config->direction;
    if (st == TM_OK && class == TM_CLASS_GRAPH)
        st = contains(r->expanded_graphs, event->record.correlation, &is_expanded);
    if (st == TM_OK && r->knows_launches)
        st = find_launch(r, track, event);
    if (!is_expanded)
        event->level = (uint8_t)tm_level_of(class, (enum tm_direction)event->direction, event->config);
    if (st == TM_OK && r->knows_steps)
        st = find_step(r, raw, event);
    if (st == TM_OK && r->sites.slots)
        event->site = site_of(r, event);
    event->chosen = steps->all || (event->step != TM_NONE && event->step >= steps->chosen_begin &&
                                   event->step < steps->chosen_end);
    return st;
}

static bool is_device_class(enum tm_class class)
{
    return class >= TM_CLASS_KERNEL && class <= TM_CLASS_CPU_OP && class != TM_CLASS_TPU_ASYNC;
}

tm_status tm_resolve(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw *raw,
                     struct tm_event *event)
{
    tm_status st;

    *event = (struct tm_event){
        .record = raw->record,
        .args = raw->args,
        .own = raw->own,
        .traits = raw->traits,
        .device = TM_NONE,
        .step = TM_NONE,
        .level = TM_LEVEL_NONE,
        .direction = TM_OTHER_DIRECTION,
        .thread = track->thread,
        .launch_track = TM_NONE,
        .launch_thread = TM_NONE,
    };
    event->config = tm_rows_at(r->trace->configs, raw->record.config);
    if (!event->config)
        return r->run->error.status;
    st = decide_class(r, track, raw, event);
    if (st != TM_OK)
        return st;
    if (event->record.class == TM_CLASS_TPU_ASYNC || event->record.class == TM_CLASS_MODULE)
        event->device = track->device;
    if (!is_device_class((enum tm_class)event->record.class))
        return TM_OK;
    if (track->side == TM_SIDE_HOST && r->has_devices)
        return TM_OK;
    return resolve_activity(r, track, raw, event);
}
