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

tm_status tm_look_up_id(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw,
                        bool *is_known)
{
    const bool is_graph = track->side != TM_SIDE_HOST || raw->record.class == TM_CLASS_GRAPH;
    const bool has_some = is_graph ? r->has_expanded : r->has_launched;

    *is_known = false;
    return has_some ? contains(is_graph ? r->expanded_graphs : r->launched, raw->record.correlation, is_known) : TM_OK;
}

/* Whether an event lies inside an execution or a compilation of its thread: what has no class of its own there is
 * part of the runtime.  Needs the order of the stream; remembers one end per thread. */
static bool is_inside_runtime(struct tm_resolver *r, const struct tm_track *track, const struct tm_record *record)
{
    return r->inside_until_ps && track->thread < r->trace->thread_count &&
           record->start_ps < r->inside_until_ps[track->thread];
}

static void note_runtime(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw)
{
    const int64_t end_ps = raw->record.start_ps + raw->record.dur_ps;

    if (raw->traits & TM_TRAITS_RUNTIME && r->inside_until_ps && track->thread < r->trace->thread_count &&
        end_ps > r->inside_until_ps[track->thread])
        r->inside_until_ps[track->thread] = end_ps;
}

static bool is_device_class(enum tm_class class)
{
    return class >= TM_CLASS_KERNEL && class <= TM_CLASS_CPU_OP && class != TM_CLASS_TPU_ASYNC;
}

/* What only activities of a device have. */
static tm_status tell_activity(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw,
                               const struct tm_circumstances *around, const struct tm_config *config,
                               struct tm_told *told)
{
    const bool is_expanded = told->class == TM_CLASS_GRAPH && around->is_known;
    tm_status st = TM_OK;

    told->is_activity = true;
    told->device = track->device;
    told->direction = (uint8_t)tm_direction_of(raw->traits);
    if (told->direction == TM_OTHER_DIRECTION && config->has_copy)
        told->direction = config->direction;
    if (told->direction == TM_OTHER_DIRECTION && told->class == TM_CLASS_COPY)
        told->direction = around->direction;
    if (!is_expanded)
        told->level = (uint8_t)tm_level_of((enum tm_class)told->class, (enum tm_direction)told->direction, config);
    if (track->side == TM_SIDE_HOST)
        st = tm_cpu_device(r->trace, config->ordinal, &told->device);
    return st;
}

tm_status tm_tell(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw,
                  const struct tm_circumstances *around, struct tm_told *told)
{
    const struct tm_config *const config = tm_rows_at(r->trace->configs, raw->record.config);

    if (!config)
        return r->run->error.status;
    const struct tm_class_question question = {
        .traits = raw->traits,
        .hlo_traits = config->hlo_traits,
        .flags = raw->record.flags,
        .line = track->line,
        .side = track->side,
        .kind = raw->record.kind,
        .given = raw->record.class,
        .tpu_collective = config->level == TM_LEVEL_COLLECTIVE,
        .line_is_user = track->is_user,
        .device_has_correlation = around->is_known,
        .inside_runtime = around->is_inside,
        .host_has_device = r->has_devices,
    };

    *told = (struct tm_told){ .class = (uint8_t)tm_classify(&question),
                              .level = TM_LEVEL_NONE,
                              .direction = TM_OTHER_DIRECTION,
                              .device = TM_NONE };
    if (told->class == TM_CLASS_TPU_ASYNC || told->class == TM_CLASS_MODULE)
        told->device = track->device;
    if (!is_device_class((enum tm_class)told->class) || (track->side == TM_SIDE_HOST && r->has_devices))
        return TM_OK;
    return tell_activity(r, track, raw, around, config, told);
}

/* --- what was told is remembered by site --- */

enum {
    DEVICE_BITS = 11,
    NO_DEVICE = (1 << DEVICE_BITS) - 1,
    LEVEL_SHIFT = 8,
    DIRECTION_SHIFT = 16,
    ACTIVITY_SHIFT = 20,
    DEVICE_SHIFT = 21
};
static_assert((int)TM_DEVICES_MOST < (int)NO_DEVICE && DEVICE_SHIFT + DEVICE_BITS == 32,
              "what is told fits in 32 bits");

static inline uint32_t pack_device(uint32_t device)
{
    return device == TM_NONE ? NO_DEVICE : device;
}

static uint32_t pack(const struct tm_told *told)
{
    return told->class | (uint32_t)told->level << LEVEL_SHIFT | (uint32_t)told->direction << DIRECTION_SHIFT |
           (uint32_t)told->is_activity << ACTIVITY_SHIFT | pack_device(told->device) << DEVICE_SHIFT;
}

static inline struct tm_told unpack(uint32_t bits)
{
    const uint32_t device = bits >> DEVICE_SHIFT;

    return (struct tm_told){ .class = (uint8_t)bits,
                             .level = (uint8_t)(bits >> LEVEL_SHIFT),
                             .direction = bits >> DIRECTION_SHIFT & 0xf,
                             .is_activity = bits >> ACTIVITY_SHIFT & 1,
                             .device = device == NO_DEVICE ? (uint32_t)TM_NONE : device };
}

/* All that tm_tell looks at. */
static inline struct tm_site site_of(const struct tm_resolver *r, const struct tm_track *track,
                                     const struct tm_raw_record *raw, const struct tm_circumstances *around)
{
    const struct tm_record *record = &raw->record;
    const bool has_devices = track->side == TM_SIDE_HOST && r->has_devices;
    const unsigned bits = (unsigned)around->is_inside | (unsigned)around->is_known << 1 | (unsigned)has_devices << 2 |
                          (unsigned)track->is_user << 3 | (unsigned)around->direction << 4 |
                          (unsigned)record->kind << 8 | (unsigned)track->side << 12 | (unsigned)track->line << 16;

    return (struct tm_site){
        .name_and_config = (uint64_t)record->name << 32 | record->config,
        .rest = (uint64_t)pack_device(track->device) << 48 | (uint64_t)record->flags << 32 |
                (uint64_t)record->class << 24 | bits,
        .traits = raw->traits,
    };
}

void tm_expect(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw)
{
    const struct tm_circumstances any = { .direction =
                                              TM_OTHER_DIRECTION }; /* they do not matter to where a site lies */
    const struct tm_site site = site_of(r, track, raw, &any);

    tm_sites_expect(&r->sites, &site);
    if (track->side == TM_SIDE_DEVICE && raw->record.correlation)
        tm_launches_expect(r->launches, raw->record.correlation);
}

static inline tm_status find_told(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw,
                                  const struct tm_circumstances *around, struct tm_event *event, bool *is_activity)
{
    const struct tm_site site = site_of(r, track, raw, around);
    bool is_new;
    struct tm_sites_slot *const slot = tm_sites_at(&r->sites, &site, &is_new);
    struct tm_told told;

    if (!slot)
        return r->run->error.status;
    if (is_new) {
        const tm_status st = tm_tell(r, track, raw, around, &told);

        if (st != TM_OK)
            return st;
        slot->told = pack(&told);
    }
    told = unpack(slot->told);
    event->site = slot->number;
    event->record.class = told.class;
    event->level = told.level;
    event->direction = told.direction;
    event->device = told.device;
    *is_activity = told.is_activity;
    return TM_OK;
}

/* The launch of the execution that a TPU's op lies in. */
static tm_status find_run_launch(struct tm_resolver *r, const struct tm_event *event,
                                 const struct tm_run_launch **found)
{
    struct tm_run_launch *const last = &r->run_launches[event->device & (TM_RUN_LAUNCHES - 1)];
    const struct tm_span *program;
    tm_status st = tm_spans_find(r->programs, event->device, event->record.start_ps, &program);

    *found = NULL;
    if (st != TM_OK || !program || !program->value)
        return st;
    if (last->key != program->value) {
        last->key = program->value;
        st = tm_launches_find(r->launches, last->key, &last->launch, &last->number);
    }
    *found = last->number ? last : NULL;
    return st;
}

/* The launch of an activity: by its own id, on a TPU by the execution that it lies in.
 * out: *direction  that its name tells; as it was where no launch is known */
static tm_status find_launch(struct tm_resolver *r, const struct tm_track *track, struct tm_event *event,
                             uint8_t *direction)
{
    const uint64_t key = event->record.correlation;
    const struct tm_launch *launch;
    struct tm_launch own;
    tm_status st = TM_OK;

    if (track->line == TM_LINE_TPU_OPS) {
        const struct tm_run_launch *run;

        st = find_run_launch(r, event, &run);
        event->launch = run ? run->number : 0;
        launch = run ? &run->launch : NULL;
    } else {
        if (key)
            st = tm_launches_find(r->launches, key, &own, &event->launch);
        launch = &own;
    }
    if (st != TM_OK || !event->launch)
        return st;
    event->launch_track = launch->track;
    event->launch_thread = launch->thread;
    event->launch_start_ps = launch->start_ps;
    event->launch_dur_ps = launch->dur_ps;
    *direction = launch->direction;
    return TM_OK;
}

static tm_status find_step(struct tm_resolver *r, const struct tm_raw_record *raw, struct tm_event *event)
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

static tm_status resolve_activity(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw,
                                  struct tm_circumstances *around, struct tm_event *event)
{
    const struct tm_steps *steps = &r->trace->steps;
    const bool may_turn = event->record.class == TM_CLASS_COPY && event->direction == TM_OTHER_DIRECTION;
    bool is_activity;
    tm_status st = r->knows_launches ? find_launch(r, track, event, &around->direction) : TM_OK;

    if (st == TM_OK && may_turn && around->direction != TM_OTHER_DIRECTION)
        st = find_told(r, track, raw, around, event, &is_activity);
    if (st == TM_OK && r->knows_steps)
        st = find_step(r, raw, event);
    event->chosen =
        steps->all || (event->step != TM_NONE && event->step >= steps->chosen_begin && event->step < steps->chosen_end);
    return st;
}

/* All of an event but what find_told sets.  Field by field: an initializer would make it twice. */
static inline void set_record(struct tm_event *event, const struct tm_track *track, const struct tm_raw_record *raw)
{
    event->record = raw->record;
    event->args = raw->args;
    event->own = raw->own;
    event->traits = raw->traits;
    event->step = TM_NONE;
    event->chosen = false;
    event->thread = track->thread;
    event->launch = 0;
    event->launch_track = TM_NONE;
    event->launch_thread = TM_NONE;
    event->launch_start_ps = 0;
    event->launch_dur_ps = 0;
}

tm_status tm_resolve(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw,
                     struct tm_event *event)
{
    struct tm_circumstances around = { .is_inside = is_inside_runtime(r, track, &raw->record),
                                       .direction = TM_OTHER_DIRECTION };
    bool is_activity = false;
    tm_status st = TM_OK;

    set_record(event, track, raw);
    if (tm_id_tells(track, raw))
        st = tm_look_up_id(r, track, raw, &around.is_known);
    if (st == TM_OK)
        st = find_told(r, track, raw, &around, event, &is_activity);
    note_runtime(r, track, raw);
    event->config = tm_rows_at(r->trace->configs, raw->record.config);
    if (st != TM_OK || !event->config)
        return r->run->error.status;
    return is_activity ? resolve_activity(r, track, raw, &around, event) : TM_OK;
}
